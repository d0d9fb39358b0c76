/* The table of all kernels: a few generated matrices x formats x precisions, on the cpu and, if there is a GPU, on
   cuda:0. Every result is checked against the reference before it is timed. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/gen.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *generator;
    int64_t param[PARAMS_MAX];
} problems[] = {
    {"poisson2d", {1000, 1000}}, {"fem", {400, 400}},         {"rmat", {17, 12}},
    {"circuit", {300000, 20}},   {"band", {200000, 10, 100}},
};

static const enum precision reals[] = {P_F64, P_F32};

static bool complain(const char *what, const struct err *e)
{
    printf("# %s: %s\n", what, e->text);
    return false;
}

static void print_run(const char *matrix, const struct run *r)
{
    char share[16] = "-";
    if (r->share > 0) snprintf(share, sizeof share, "%.0f%%", 100 * r->share);
    printf("%-10s %-6s %-13s %-7s %-5s %10.1f %8.1f %9.0f %9.0f %8.1f %6s %8.2f %9.1e\n", matrix, r->of->format->name,
           r->kernel->name, r->dev->name, precisions[r->real].name, r->us, r->spread_us, r->prep_us, r->put_us, r->gbs,
           share, r->gflops, r->error.relative);
}

/* Time all kernels for one stored matrix on d. prep_us is the packing time. */
static bool bench_product(const char *name, const struct csr *A, const struct stored *S, double prep_us,
                          struct device *d)
{
    struct err e = {0};
    struct mat M;
    bool ok = true;
    double start = now_us();
    if (!mat_put(&M, S, d, &e)) return complain(name, &e);
    double put_us = now_us() - start;
    for (int i = 0; kernels[i]; i++) {
        struct run r;
        if (!kernel_runs_on(kernels[i], d) || kernels[i]->format != S->format) continue;
        err_clear(&e);
        if (!bench_kernel(kernels[i], A, &M, 0, NULL, &r, &e)) {
            ok = complain(kernels[i]->name, &e);
            continue;
        }
        r.prep_us = prep_us;
        r.put_us = put_us;
        print_run(name, &r);
    }
    mat_free(&M);
    return ok;
}

static bool bench_matrix(const char *name, const struct csr *A, struct device *const *devices)
{
    bool ok = true;
    for (int f = 0; formats[f]; f++)
        for (int r = 0; r < COUNT(reals); r++) {
            struct err e = {0};
            struct stored S;
            double start = now_us();
            if (!format_pack(A, formats[f], NULL, reals[r], false, &S, &e)) {
                complain(name, &e);
                break;
            }
            double prep_us = now_us() - start;
            for (struct device *const *d = devices; *d; d++) ok &= bench_product(name, A, &S, prep_us, *d);
            stored_free(&S);
        }
    return ok;
}

static bool bench_problem(int i, struct device *const *devices)
{
    struct err e = {0};
    struct csr A;
    const char *name = problems[i].generator;
    if (!generator_find(name)->make(problems[i].param, 1, NULL, &A, &e)) return complain(name, &e);
    printf("# %s: %lld x %lld, %lld nonzeros\n", name, (long long)A.rows, (long long)A.cols, (long long)A.nnz);
    bool ok = bench_matrix(name, &A, devices);
    csr_free(&A);
    return ok;
}

/* Open the cpu, and cuda:0 if possible; measure and print their ceilings. */
static bool open_all(struct device **devices)
{
    struct err e = {0};
    int n = 0;
    devices[n++] = device_open("cpu", &e);
    if (device_count(DEV_CUDA) > 0) devices[n++] = device_open("cuda:0", &e);
    for (int i = 0; i < n; i++) {
        if (!devices[i] || !device_ceilings(devices[i], NULL, &e)) return complain("devices", &e);
        const struct ceilings *c = &devices[i]->ceilings;
        printf("# %s: %s\n#   read %.1f, copy %.1f, cache %.1f GB/s; %.2f G gathers/s; launch %.2f us\n",
               devices[i]->name, devices[i]->about, c->read_gbs, c->copy_gbs, c->cache_gbs, c->gather_gps,
               c->launch_us);
    }
    return true;
}

int main(void)
{
    struct device *devices[3] = {NULL};
    bool ok = open_all(devices);
    if (ok)
        printf("%-10s %-6s %-13s %-7s %-5s %10s %8s %9s %9s %8s %6s %8s %9s\n", "matrix", "format", "kernel", "device",
               "type", "median us", "+- us", "prep us", "put us", "GB/s", "share", "GFLOP/s", "error");
    for (int i = 0; ok && i < COUNT(problems); i++) ok = bench_problem(i, devices);
    devices_close();
    return !ok;
}
