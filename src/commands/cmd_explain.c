/* explain: the causes of a kernel's time, the most expensive first, with remedies. */
#include "session/command.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "base/mem.h"
#include "base/registry.h"
#include "microscope/modeled.h"
#include "session/output_candidates.h"
#include "session/predicted.h"
#include "session/session.h"
#include "base/text.h"

#include <stdlib.h>

static void out_finding(struct out *o, const struct modeled *k, const struct finding *f, int rank)
{
    char us[32], of[32];
    if (out_mode(o) == OUT_TEXT) {
        out_text(o, "%d. %s, %s of %s: %s.", rank, f->cause, show_us(f->us, us, sizeof us),
                 show_us(k->time.us, of, sizeof of), f->text);
        if (*f->remedy) out_text(o, "   Remedy: %s.", f->remedy);
        return;
    }
    out_row(o);
    out_str(o, "kind", NULL, "finding");
    out_str(o, "kernel", NULL, k->kernel->name);
    out_int(o, "rank", NULL, rank);
    out_str(o, "cause", NULL, f->cause);
    out_num(o, "us", NULL, f->us, NULL);
    out_num(o, "of_us", NULL, k->time.us, NULL);
    out_str(o, "text", NULL, f->text);
    out_str(o, "remedy", NULL, *f->remedy ? f->remedy : NULL);
}

static bool named(const struct finding *f, int n, const char *kernel)
{
    for (int i = 0; i < n; i++)
        if (finding_names(&f[i], kernel)) return true;
    return false;
}

static int faster(const void *a, const void *b)
{
    double x = ((const struct modeled *)a)->time.us, y = ((const struct modeled *)b)->time.us;
    return (x > y) - (x < y);
}

/* Predict the times of the kernels that the remedies name, on the same matrix, and add the faster kernels to the
   remedies. Kernels that cannot be predicted are left out. */
static bool finish(struct session *s, const struct matrix *m, const struct modeled *k, struct finding *f, int n,
                   struct err *e)
{
    int all = registry_count(&kernel_registry), watched = 0;
    struct packed last = {0};
    struct err why = {0};
    struct modeled *other = mem_new(all, sizeof *other, "the predictions", e);
    for (int i = 0; other && i < all && why.code != E_CANCELLED; i++)
        if (kernels[i] != k->kernel && named(f, n, kernels[i]->name))
            watched += modeled_csr(&m->csr, kernels[i], NULL, k->real, &k->on, &s->watch, &last, &other[watched], &why);
    if (other) qsort(other, (size_t)watched, sizeof *other, faster);
    for (int i = 0; other && i < n; i++) finding_finish(&f[i], k, other, watched);
    packed_free(&last);
    mem_free(other);
    return other && (why.code != E_CANCELLED || fail(e, why.code, "%s", why.text));
}

static bool say(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e)
{
    struct finding f[FINDINGS_MOST];
    int n = findings_of(k, &m->csr, f);
    char us[32];
    struct candidates others;
    if (!candidates_of(&m->csr, &k->plan.shape, &others, e) || !finish(s, m, k, f, n, e)) return false;
    if (out_mode(s->out) == OUT_TEXT)
        out_text(s->out, "%s on %s, %s: %s predicted, bound by %s", k->kernel->name, m->name,
                 precision_of(&m->csr, k->real), show_us(k->time.us, us, sizeof us), bound_names[k->time.bound]);
    else {
        out_row(s->out);
        out_str(s->out, "kind", NULL, "prediction");
        out_modeled(s, m, k);
        out_candidates(s->out, &others);
    }
    say_candidates(s->out, &k->plan.shape, &others);
    for (int i = 0; i < n; i++) out_finding(s->out, k, &f[i], i + 1);
    out_text(s->out, "Each time shows how much the predicted time drops without that cause; causes overlap.");
    modeled_remarks(s, &k->on, k->work.sampled);
    return true;
}

static bool run_explain(struct session *s, const struct args *a, struct err *e)
{
    return modeled_command(s, a, say, e);
}

const struct command command_explain = {
    .name = "explain",
    .grammar = "MODEL_KERNEL [PARAMS] [[of] MATRIX] [f32|f64|[precision] PRECISION]",
    .about = "what slows a kernel down, in words and numbers, and what would help",
    .help = "The emulator runs the kernel, and the model predicts its GPU time with and without each cause: padding,\n"
            "long rows, uneven blocks, idle lanes, uncoalesced loads, the gather of x, atomics, bank conflicts,\n"
            "launches, chains of dependent loads, bytes. Causes of 3% or more are shown, the most expensive first. A\n"
            "remedy names other kernels only if they are predicted to be faster. PARAMS are the parameters of the\n"
            "kernel's format.\n"
            "    explain csr-scalar; explain ell of A f32",
    .run = run_explain,
};
