/* Compare what `explain` claims with experiments that remove one cause of a kernel's lost time (kits/experiments.h):
   the time that is gained on a GPU, and the time that the model predicts to be gained. For each kernel and cause of at
   least 5 %, a line has the claim, both gains, and the claim / the gain. Claims without a clean experiment are listed
   with the reason, and are not judged.

   Usage: bench_explain [predicted [profile FILE]] [MATRIX [KERNEL]]
   `predicted` compares the claims with predicted gains only, which needs no GPU and shows whether explain agrees with
   the model; the gains are predicted for the GPU of the profile, or for an H200. At the end: the share of claims within
   25 % of the gain, and the share of pairs of causes of one kernel that are ranked as the gains are. Pairs are left out
   if their gains differ by less than TIE of the kernel's time. */
#include <stdio.h>

#include "base/array.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "kits/experiments.h"
#include "kits/problems.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/gpu_profile.h"

#include <math.h>
#include <string.h>

enum { KERNELS = 16, WITHIN = 25 };
static const double TIE = 0.02;

static const char *const matrices[] = {"5-point 1000 x 999",    "27-point 36^3",
                                       "R-MAT 2^17 x 12",       "circuit 10^5, 4 dense",
                                       "broken diagonals 100k", "random 300k x 10",
                                       "band 100k, half 20",    "27-point 24^3",
                                       "5-point 64^2",          "20000 x 300k, 120",
                                       "9-point 150^2 x 2",     "band 300k, half 6, 50%",
                                       "broken diagonals 400k", NULL};
static const char *const names[] = {"csr-scalar", "csr-stream", "csr-vector", "csr-cusp",   "csr-light-vector",
                                    "csr-ends",   "coo-atomic", "csc-atomic", "csc-vector", "ell-padded",
                                    "ell",        "sell",       NULL};

/* How well claims agree with one kind of gain. */
struct score {
    int claims, within, pairs, ranked;
};

struct bench {
    struct device *gpu; /* NULL: gains are predicted only */
    struct machine g;
    const char *matrix;
    struct {
        const struct kernel *kernel;
        struct trial_us us;
    } launch[KERNELS]; /* measured */
    int nlaunches;
    struct score predicted, measured;
    int unjudged, unsure;
};

/* A claim, and what an experiment says about it. */
struct judged {
    double claim, predicted, measured; /* NaN: no experiment, or the measurement cannot tell */
};

/* The measured time of the launches of a kernel. */
static bool launch_us(struct bench *b, const struct trial *of, struct trial_us *out, struct err *e)
{
    struct trial t;
    for (int i = 0; i < b->nlaunches; i++)
        if (b->launch[i].kernel == of->kernel) return *out = b->launch[i].us, true;
    bool ok = trial_of_launches(of, &t, e) && trial_watch(&t, &b->g, e) && trial_time(&t, b->gpu, out, e);
    trial_free(&t);
    if (ok && b->nlaunches < KERNELS) {
        b->launch[b->nlaunches].kernel = of->kernel;
        b->launch[b->nlaunches++].us = *out;
    }
    return ok;
}

static bool predicted_gain(const struct bench *b, const struct experiment *x, const struct trial *with,
                           const struct trial *without, double *us, struct err *e)
{
    double launch = with->k->time.launch_us;
    struct gained t = {with, without, with->k->time.us, 0, launch, launch, experiment_removed(x, with, without)};
    if (!x->rest) {
        t.without_us = without->k->time.us;
        t.without_launch_us = without->k->time.launch_us;
    } else {
        struct trial_us left;
        if (!x->rest(with, &b->g, NULL, &left, e)) return false;
        t.without_us = left.us + launch;
    }
    *us = x->gain(&t);
    return true;
}

/* The measured times of an experiment: with and without the cause, and of the launches of both kernels. */
enum { WITH, WITHOUT, LAUNCH, OTHER_LAUNCH, MEASURED };

static double gain_of(const struct experiment *x, const struct trial *with, const struct trial *without,
                      const double us[MEASURED])
{
    struct gained t = {
        with, without, us[WITH], us[WITHOUT], us[LAUNCH], us[LAUNCH], experiment_removed(x, with, without)};
    if (!x->rest && without->kernel != with->kernel) t.without_launch_us = us[OTHER_LAUNCH];
    if (x->rest) t.without_us += us[LAUNCH];
    return x->gain(&t);
}

/* The gain, and its error from those of the times. */
static bool measured_gain(struct bench *b, const struct experiment *x, const struct trial *with,
                          const struct trial *without, struct trial_us with_us, struct trial_us *out, struct err *e)
{
    struct trial_us each[MEASURED] = {[WITH] = with_us};
    double us[MEASURED];
    if (!launch_us(b, with, &each[LAUNCH], e)) return false;
    bool ok = x->rest ? x->rest(with, &b->g, b->gpu, &each[WITHOUT], e)
                      : launch_us(b, without, &each[OTHER_LAUNCH], e) && trial_time(without, b->gpu, &each[WITHOUT], e);
    if (!ok) return false;
    for (int k = 0; k < MEASURED; k++) us[k] = each[k].us;
    *out = (struct trial_us){gain_of(x, with, without, us), 0};
    for (int k = 0; k < MEASURED; k++) {
        us[k] += each[k].error;
        out->error = hypot(out->error, gain_of(x, with, without, us) - out->us);
        us[k] = each[k].us;
    }
    return true;
}

/* Can the measurement tell whether the claim is within WITHIN of the gain? */
static bool is_sure(double claim, const struct trial_us *gain, struct err *e)
{
    return gain->error <= WITHIN / 100.0 * fmax(claim, gain->us) ||
           fail(e, E_UNSUPPORTED, "measured %.2f, to within %.2f", gain->us, gain->error);
}

static void print_us(double us)
{
    isnan(us) ? printf(" %9s", "-") : printf(" %9.2f", us);
}

static void print_gain(double claim, double us)
{
    print_us(us);
    isnan(us) ? printf(" %6s", "-") : printf(" %6.2f", claim / us);
}

/* Test one claim; with_us: the measured time of the kernel. */
static bool judge(struct bench *b, const struct trial *with, struct trial_us with_us, const struct finding *f,
                  struct judged *out)
{
    struct trial without = {0};
    struct trial_us gain = {NAN, 0};
    struct err e = {0};
    *out = (struct judged){f->us, NAN, NAN};
    const struct experiment *x = experiment_find(f, with, &b->g, &without, &e);
    bool ok = x && predicted_gain(b, x, with, &without, &out->predicted, &e) &&
              (!b->gpu || measured_gain(b, x, with, &without, with_us, &gain, &e));
    bool sure = !ok || !b->gpu || is_sure(f->us, &gain, &e);
    if (ok && sure) out->measured = gain.us;
    printf("%-22s %-16s", b->matrix, with->kernel->name);
    print_us(with->k->time.us);
    print_us(with_us.us);
    printf(" %-17s", f->cause);
    print_us(f->us);
    print_gain(f->us, out->predicted);
    print_gain(f->us, out->measured);
    printf("  %s\n", e.text);
    fflush(stdout);
    trial_free(&without);
    b->unjudged += !ok;
    b->unsure += !sure;
    return ok || err_is_refusal(&e);
}

static void add_score(struct score *s, const double *claim, const double *gain, int n, double us)
{
    for (int i = 0; i < n; i++) {
        if (isnan(gain[i])) continue;
        s->claims++;
        s->within += fabs(claim[i] - gain[i]) <= WITHIN / 100.0 * gain[i];
        for (int j = 0; j < i; j++) {
            if (isnan(gain[j]) || fabs(gain[i] - gain[j]) < TIE * us) continue;
            s->pairs++;
            s->ranked += (claim[i] < claim[j]) == (gain[i] < gain[j]);
        }
    }
}

/* Test all claims about a kernel. */
static bool explain(struct bench *b, const struct trial *with)
{
    struct finding f[FINDINGS_MAX];
    struct judged each;
    double claim[FINDINGS_MAX], predicted[FINDINGS_MAX], measured[FINDINGS_MAX];
    struct trial_us with_us = {NAN, 0};
    struct err e = {0};
    int n = findings_of(with->k, &with->A, f);
    if (b->gpu && !trial_time(with, b->gpu, &with_us, &e))
        return printf("# %s, %s: %s\n", b->matrix, with->kernel->name, e.text), err_is_refusal(&e);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        ok &= judge(b, with, with_us, &f[i], &each);
        claim[i] = each.claim, predicted[i] = each.predicted, measured[i] = each.measured;
    }
    add_score(&b->predicted, claim, predicted, n, with->k->time.us);
    add_score(&b->measured, claim, measured, n, with_us.us);
    return ok;
}

static bool one_kernel(struct bench *b, const struct csr *A, const struct kernel *k)
{
    struct err e = {0};
    struct trial t = {.kernel = k, .real = P_F64};
    bool ok = csr_copy(&t.A, A, &e) && trial_watch(&t, &b->g, &e);
    if (!ok && !err_is_refusal(&e)) printf("# %s, %s: %s\n", b->matrix, k->name, e.text);
    bool good = ok ? explain(b, &t) : err_is_refusal(&e);
    trial_free(&t);
    return good;
}

static bool one_matrix(struct bench *b, const struct problem *p, const char *kernel)
{
    struct err e = {0};
    struct csr A;
    bool ok = true;
    if (!problem_make(p, &A, &e)) return printf("# %s: %s\n", p->name, e.text), false;
    b->matrix = p->name;
    for (int i = 0; names[i]; i++)
        if (!kernel || !strcmp(kernel, names[i])) ok &= one_kernel(b, &A, kernel_find(names[i]));
    csr_free(&A);
    return ok;
}

static bool is_listed(const char *name)
{
    for (int i = 0; matrices[i]; i++)
        if (!strcmp(matrices[i], name)) return true;
    return false;
}

static bool all_matrices(struct bench *b, const char *only, const char *kernel)
{
    const struct problem *const lists[] = {problems, more_problems};
    bool ok = true;
    for (int l = 0; l < COUNT(lists); l++)
        for (const struct problem *p = lists[l]; p->name; p++)
            if (only ? !strcmp(only, p->name) : is_listed(p->name)) ok &= one_matrix(b, p, kernel);
    return ok;
}

static void print_score(const char *what, const struct score *s)
{
    if (!s->claims) return;
    printf("# %s: %d of %d claims within %d%% (%.0f%%); %d of %d pairs of causes in the same order (%.0f%%)\n", what,
           s->within, s->claims, WITHIN, 100.0 * s->within / s->claims, s->ranked, s->pairs,
           100.0 * s->ranked / (s->pairs ? s->pairs : 1));
}

int main(int argc, char **argv)
{
    struct err e = {0};
    static struct bench b;
    bool predicted = argc > 1 && !strcmp(argv[1], "predicted");
    argc -= predicted, argv += predicted;
    const char *profile = predicted && argc > 2 && !strcmp(argv[1], "profile") ? argv[2] : NULL;
    if (profile) argc -= 2, argv += 2;
    double start = now_us();
    if (!predicted && device_count(DEV_CUDA) == 0)
        return printf("# claims of explain against experiments: skipped, there is no GPU; `bench_explain predicted` "
                      "compares them with the model\n"),
               0;
    if (!predicted && (!(b.gpu = device_open("cuda:0", &e)) || !device_ceilings(b.gpu, NULL, &e)))
        return printf("# %s\n", e.text), 1;
    b.g = machine_of(b.gpu);
    if (profile && !profile_load(profile, &b.g, &e)) return printf("# %s\n", e.text), 1;
    printf("# %s: times in us, fp64%s\n", b.g.name, b.gpu ? "" : "; gains are predicted, not measured");
    printf("%-22s %-16s %9s %9s %-17s %9s %9s %6s %9s %6s\n", "matrix", "kernel", "model", "measured", "cause",
           "claimed", "predicted", "ratio", "gained", "ratio");
    bool ok = all_matrices(&b, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL);
    print_score("predicted gains", &b.predicted);
    print_score("measured gains", &b.measured);
    printf("# not judged: %d claims without a clean experiment, and %d whose gain the rounds disagree on; %.0f s\n",
           b.unjudged, b.unsure, (now_us() - start) / 1e6);
    devices_close();
    return !ok;
}
