/* Symmetrization: both methods and cuSPARSE's csr2csc + csrgeam2 in one run, on four kinds of matrices. Matrices that
   the fingerprint finds symmetric are symmetrized anyway. Every result is compared with the other results before its
   time is printed. Usage: bench_symmetrize [PART], for matrices of 1/PART of the default size. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "machine/device.h"
#include "machine/symmetrize.h"
#include "matrix/gen.h"

#include <stdlib.h>

enum { REPS = 21 };

static const struct {
    const char *generator;
    int64_t p[2];
    bool log; /* the generator's first parameter is log2 of the size */
} problems[] = {
    {"poisson2d", {1000, 1000}, false},
    {"poisson3d", {128, 0}, false},
    {"rmat", {20, 16}, true},
    {"circuit", {1000000, 4}, false},
};

/* Time each run separately, from its first launch to its last: the median and half the interquartile range, in us. */
static bool median(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                   double *spread, struct err *e)
{
    double t[REPS];
    for (int i = d->kind == DEV_CUDA ? -2 : 0; i < reps; i++)
        if (!d->ops->time(d, go, ctx, 1, &t[i < 0 ? 0 : i], e)) return false;
    *us = times_median(reps, t, spread);
    return true;
}

static bool go_sym(void *ctx, struct err *e)
{
    return sym_run(ctx, e);
}

static void print_line(const char *name, const char *device, double us, double spread, double peer)
{
    printf("    %-22s %-7s %10.3f ms +- %-8.3f", name, device, us / 1e3, spread / 1e3);
    if (peer > 0) printf(" %6.2f times faster than cuSPARSE", peer / us);
    printf("\n");
    fflush(stdout);
}

/* Time one method in mode sum, which csrgeam2 computes. The first result is stored in an empty *want; later results
   must equal it. */
static bool bench_method(const struct csr *A, const struct sym_method *m, bool whole, struct device *d,
                         struct csr *want, double peer, struct err *e)
{
    struct sym *v;
    struct csr S;
    double us, spread;
    struct sym_options o = {.method = m, .dev = d, .mode = SYM_SUM, .whole = whole};
    if (!sym_begin(&v, A, &o, e)) return false;
    if (!whole && (v->copied || !v->pattern_symmetric)) return sym_free(v), true; /* the method has no work to time */
    bool ok =
        median(d, go_sym, v, d->kind == DEV_CUDA ? REPS : 3, &us, &spread, e) && sym_sample(v, e) && sym_get(v, &S, e);
    if (ok) {
        if (!want->rowptr) {
            *want = S;
            S = (struct csr){0};
        } else if (!csr_equal(&S, want))
            ok = fail(e, E_NUMERIC, "%s on %s: not the same result", m->name, d->name);
        csr_free(&S);
    }
    if (ok) {
        us += whole ? 0 : v->fingerprint_us;
        print_line(whole ? m->name : "sym and fingerprint", d->name, us, spread, peer);
        printf("        ");
        for (int i = 0; i < SYM_STEPS; i++) printf("%s %.3f  ", sym_step_name[i], v->step_us[i] / 1e3);
        printf("ms, waited for one by one; fingerprint %.3f ms: %s\n", v->fingerprint_us / 1e3,
               v->value_symmetric     ? "symmetric"
               : v->pattern_symmetric ? "symmetric but for values"
                                      : "not symmetric");
    }
    sym_free(v);
    return ok;
}

/* Returns the time of cuSPARSE. If cuSPARSE fails, prints a line with the reason and returns 0. */
static double bench_peer(const struct csr *A, struct device *d, const struct csr *want)
{
    const struct sym_peer_ops *ops = sym_peer_of(d);
    struct sym_peer *p = NULL;
    struct err e = {0};
    struct csr S = {0};
    double us = 0, spread;
    if (!ops) return 0;
    bool ok = ops->begin(&p, A, d, &e) && median(d, ops->run, p, REPS, &us, &spread, &e) && ops->get(p, &S, &e);
    if (ok && !csr_equal(&S, want)) ok = fail(&e, E_NUMERIC, "its sum is not ours");
    if (ok)
        print_line("csr2csc + csrgeam2", d->name, us, spread, 0);
    else
        printf("    skip cuSPARSE: %s\n", e.text);
    ops->free(p);
    csr_free(&S);
    return ok ? us : 0;
}

static bool bench_problem(int i, int64_t part, struct device *cpu, struct device *gpu, struct err *e)
{
    struct csr A = {0}, want = {0};
    int64_t p[PARAMS_MAX] = {problems[i].p[0], problems[i].p[1]};
    if (problems[i].log)
        for (int64_t k = part; k > 1; k /= 2) p[0]--;
    else
        p[0] = p[0] / part > 0 ? p[0] / part : 1;
    if (!strcmp(problems[i].generator, "poisson3d")) p[1] = p[2] = p[0];
    if (!generator_find(problems[i].generator)->make(p, 1, NULL, &A, e)) return false;
    printf("%s %lld %lld: %lld rows, %lld nonzeros\n", problems[i].generator, (long long)p[0], (long long)p[1],
           (long long)A.rows, (long long)A.nnz);
    bool ok = bench_method(&A, sym_methods[0], true, cpu, &want, 0, e);
    double peer = ok && gpu ? bench_peer(&A, gpu, &want) : 0;
    for (int m = 0; ok && gpu && sym_methods[m]; m++) ok = bench_method(&A, sym_methods[m], true, gpu, &want, peer, e);
    ok = ok && (!gpu || bench_method(&A, sym_methods[0], false, gpu, &want, peer, e));
    if (ok) printf("    %lld entries added\n", (long long)(want.nnz - A.nnz));
    csr_free(&A);
    csr_free(&want);
    return ok;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    int64_t part = argc > 1 ? atoll(argv[1]) : 1;
    struct device *cpu = device_open("cpu", &e), *gpu = device_count(DEV_CUDA) ? device_open("cuda:0", &e) : NULL;
    bool ok = cpu != NULL && part > 0;
    if (ok) {
        printf("symmetrize: A + A', medians of %d runs on a GPU, 3 on cpu, without copies to and from it\n", REPS);
        printf("cpu: %s\n", cpu->about);
        if (gpu) {
            const char *version = sym_peer_of(gpu) ? sym_peer_of(gpu)->version() : NULL;
            printf("%s: %s; peer: %s\n", gpu->name, gpu->about, version ? version : "not opened");
        } else
            printf("skip cuda: there is no GPU\n");
    }
    for (int i = 0; ok && i < COUNT(problems); i++) ok = bench_problem(i, part, cpu, gpu, &e);
    if (!ok) fprintf(stderr, "bench_symmetrize: %s\n", e.text);
    devices_close();
    return !ok;
}
