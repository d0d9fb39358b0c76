/* Conversions from CSR on the host and on cuda:0, in fp64: their cost in SpMVs with CSR, and after how many SpMVs each
   conversion has paid off. Every result of a device is compared with the result of the host before its time is printed.
   Usage: bench_pack [PART], for matrices of 1/PART of the default size. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/packer.h"
#include "matrix/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPS = 7 };

static const struct {
    const char *generator;
    int64_t p[3];
    bool log; /* the generator's first parameter is log2 of the size */
} problems[] = {
    {"poisson2d", {1000, 999}, false},
    {"poisson3d", {128, 128, 128}, false},
    {"random", {1000000, 10}, false},
    {"rmat", {20, 16}, true},
};

/* A matrix in the format csr on the device, and one SpMV with it. */
struct base {
    const struct csr *A;
    struct stored S;
    struct mat M;
    double put_us, spmv_us;
};

/* The time of one SpMV with the default kernel for the format of M; NaN if there is no such kernel or if it fails. */
static double spmv_us(const struct csr *A, const struct mat *M)
{
    struct run r;
    struct err e = {0};
    const struct kernel *k = kernel_default(M->of->format, A, M->dev);
    if (k && bench_kernel(k, A, M, 0, NULL, &r, &e)) return r.us;
    printf("    # %s: %s\n", M->of->format->name, k ? e.text : "no kernel");
    return NAN;
}

static bool same(const struct stored *S, const struct stored *T)
{
    bool ok = S->narrays == T->narrays;
    for (int k = 0; ok && k < S->narrays; k++)
        ok = S->a[k].n == T->a[k].n && !memcmp(S->a[k].data, T->a[k].data, (size_t)S->a[k].n * type_size(S->a[k].type));
    return ok;
}

static const char *count(double n, char out[24])
{
    if (isinf(n))
        snprintf(out, 24, "never");
    else
        snprintf(out, 24, "%.0f", n);
    return out;
}

static void print_line(const char *name, const char *how, double pack_us, double first_us, double put_us, double own_us,
                       double csr_us)
{
    char pays[24], first[24] = "-";
    double all = pack_us + put_us;
    if (first_us > 0) snprintf(first, sizeof first, "%.2f", first_us / 1e3);
    printf("    %-8s %-7s %10.3f %10s %10.3f %10.1f %10.1f %10.1f %10s\n", name, how, pack_us / 1e3, first,
           put_us / 1e3, own_us, csr_us, conversion_spmvs(all, csr_us),
           count(conversion_pays_after(all, csr_us, own_us), pays));
    fflush(stdout);
}

/* Pack on the host and copy to the device. *S is the result. */
static bool bench_host(const struct base *c, const struct format *f, struct stored *S, double *own_us, struct err *e)
{
    struct mat M;
    double start = now_us();
    if (!format_pack(c->A, f, NULL, P_F64, false, S, e)) return false;
    double pack_us = now_us() - start;
    start = now_us();
    if (!mat_put(&M, S, c->M.dev, e)) return stored_free(S), false;
    double put_us = now_us() - start;
    *own_us = spmv_us(c->A, &M);
    mat_free(&M);
    print_line(f->name, "host", pack_us, 0, put_us, *own_us, c->spmv_us);
    return true;
}

/* Pack on the device, from the CSR that is already on the device. */
static bool bench_device(const struct base *c, const struct format *f, const struct stored *want, double own_us,
                         struct err *e)
{
    struct packing *p;
    struct stored S = {0};
    struct mat M = {0};
    double start = now_us(), us = 0;
    if (!packing_begin(&p, f, &c->M, NULL, false, e)) return false;
    double first_us = now_us() - start;
    bool ok = packing_time(p, REPS, &us, e) && packing_take(p, &S, &M, e);
    packing_free(p);
    ok = ok && mat_get(&M, &S, e) && (same(&S, want) || fail(e, E_NUMERIC, "%s: not as on the host", f->name));
    if (ok) print_line(f->name, c->M.dev->name, us, first_us, 0, own_us, c->spmv_us);
    mat_free(&M);
    stored_free(&S);
    return ok;
}

static bool bench_formats(const struct base *c, struct err *e)
{
    for (int i = 0; formats[i]; i++) {
        struct err why = {0};
        struct stored S;
        double own_us;
        if (!packer_find(formats[i], c->M.dev)) continue;
        if (!bench_host(c, formats[i], &S, &own_us, &why)) {
            printf("    # %s\n", why.text);
            continue;
        }
        bool ok = bench_device(c, formats[i], &S, own_us, e);
        stored_free(&S);
        if (!ok) return false;
    }
    return true;
}

static bool bench_matrix(const struct csr *A, struct device *d, struct err *e)
{
    struct base c = {.A = A};
    if (!format_pack(A, format_find("csr"), NULL, P_F64, true, &c.S, e)) return false;
    double start = now_us();
    bool ok = mat_put(&c.M, &c.S, d, e);
    c.put_us = now_us() - start;
    if (ok) {
        c.spmv_us = spmv_us(A, &c.M);
        printf("    csr copied there in %.3f ms; %s takes %.1f us\n", c.put_us / 1e3,
               kernel_default(c.S.format, A, d)->name, c.spmv_us);
        ok = bench_formats(&c, e);
        mat_free(&c.M);
    }
    stored_free(&c.S);
    return ok;
}

static bool bench_problem(int i, int64_t part, struct device *d, struct err *e)
{
    struct csr A = {0};
    int64_t p[PARAMS_MAX] = {problems[i].p[0], problems[i].p[1], problems[i].p[2]};
    if (problems[i].log)
        for (int64_t k = part; k > 1; k /= 2) p[0]--;
    else
        p[0] = p[0] / part > 0 ? p[0] / part : 1;
    if (!generator_find(problems[i].generator)->make(p, 1, NULL, &A, e)) return false;
    printf("%s %lld %lld: %lld rows, %lld nonzeros\n", problems[i].generator, (long long)p[0], (long long)p[1],
           (long long)A.rows, (long long)A.nnz);
    bool ok = bench_matrix(&A, d, e);
    csr_free(&A);
    return ok;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    int64_t part = argc > 1 ? atoll(argv[1]) : 1;
    if (!device_count(DEV_CUDA)) {
        printf("skip conversions: there is no GPU\n");
        return 0;
    }
    struct device *d = device_open("cuda:0", &e);
    bool ok = d && part > 0;
    if (ok) {
        printf("conversions from CSR, fp64; %s: %s\n", d->name, d->about);
        printf("first: with allocation and loading of kernels; pack: the median of %d runs after it; own, csr: one "
               "product\n",
               REPS);
        printf("    %-8s %-7s %10s %10s %10s %10s %10s %10s %10s\n", "format", "where", "pack ms", "first ms",
               "copy ms", "own us", "csr us", "in csr's", "pays after");
    }
    for (int i = 0; ok && i < COUNT(problems); i++) ok = bench_problem(i, part, d, &e);
    if (!ok) fprintf(stderr, "bench_pack: %s\n", e.text);
    devices_close();
    return !ok;
}
