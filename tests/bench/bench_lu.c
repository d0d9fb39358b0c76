/* Dense LU: the time of every method by size and precision, compared with cuSOLVER, and the time of each part of our
   method. Usage: bench_lu [MAX [MIN]] measures sizes from MIN (64) to MAX (16384 with a GPU, else 1024). bench_lu
   tune [MAX [MIN]] measures our method with every panel width, with 1, 4 and 16 blocks per panel, with and without
   look-ahead. */
#include <stdio.h>

#include "base/err.h"
#include "base/precision.h"
#include "lu/lu.h"
#include "machine/device.h"
#include "matrix/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum precision reals[] = {P_F64, P_F32};

/* The maximum number of rows to measure: the method takes minutes for a larger matrix. */
static int64_t most_rows(const struct lu_method *m)
{
    if (!strcmp(m->name, "lu-serial")) return 2048;
    return m->host ? 4096 : !strcmp(m->name, "lu-paper") ? 8192 : INT64_MAX;
}

struct line {
    double us, spread, backward;
    struct lu sum; /* `sum` is a copy whose pointers are no longer valid */
};

static bool measure(const struct csr *A, const struct lu_options *o, bool parts, struct line *out, struct err *e)
{
    struct lu *v = NULL;
    if (!lu_begin(&v, A, o, e)) return false;
    bool ok = lu_time(v, 0, &out->us, &out->spread, e) && (!parts || lu_sample(v, e)) && lu_measure(v, e);
    out->sum = *v;
    out->backward = v->backward;
    double eps = o->real == P_F64 ? 0x1p-52 : 0x1p-23;
    if (ok && !(v->backward <= 50 * eps * v->growth))
        ok = fail(e, E_NUMERIC, "%s on %s, n = %lld: backward error %g", v->method->name, v->dev->name, (long long)v->n,
                  v->backward);
    lu_free(v);
    return ok;
}

static void print_parts(const struct lu *v)
{
    double all = 0;
    printf("        %s, waited for part by part:", v->method->name);
    for (int i = 0; i < LU_PARTS; i++) {
        all += v->part_us[i];
        printf(" %s %.3f", lu_part_name[i], v->part_us[i] / 1e3);
    }
    printf(" of %.3f ms; substitution %.3f ms\n", all / 1e3, v->solve_us / 1e3);
}

/* Measure one size and precision, and print one line per method. */
static bool bench_size(const struct csr *A, struct device *cpu, struct device *gpu, enum precision real, struct err *e)
{
    double serial = NAN, ours = NAN, peer = NAN;
    for (int i = 0; lu_methods[i]; i++) {
        const struct lu_method *m = lu_methods[i];
        struct line l;
        struct lu_options o = {.method = m, .dev = m->host ? cpu : gpu, .real = real};
        struct err why = {0};
        if (!o.dev || A->rows > most_rows(m)) continue;
        bool is_ours = !strcmp(m->name, "lu");
        if (!measure(A, &o, is_ours, &l, &why)) {
            printf("%7lld %s %-12s %s\n", (long long)A->rows, precisions[real].name, m->name, why.text);
            if (o.dev->lost || why.code == E_NUMERIC) return fail(e, why.code, "%s", why.text);
            continue;
        }
        if (!strcmp(m->name, "lu-serial")) serial = l.us;
        if (is_ours) ours = l.us;
        if (m->vendor) peer = l.us;
        printf("%7lld %s %-12s %-7s b %-4d %12.3f %9.3f %10.1f %9.1f %10.1e %8.3g\n", (long long)A->rows,
               precisions[real].name, m->name, o.dev->name, l.sum.b, l.us / 1e3, l.spread / 1e3,
               lu_flops(A->rows) / l.us * 1e-3, serial / l.us, l.backward, l.sum.growth);
        if (is_ours && gpu) print_parts(&l.sum);
        fflush(stdout);
    }
    if (isfinite(peer)) printf("        lu takes %.2f times cuSOLVER's time\n", ours / peer);
    return true;
}

static bool tune_size(const struct csr *A, struct device *d, enum precision real, struct err *e)
{
    for (int b = 16; b <= LU_OUTERMOST; b *= 2)
        for (int blocks = 1; blocks <= 16; blocks *= 4)
            for (int ahead = -1; ahead <= 1; ahead += 2) {
                struct line l;
                struct lu_options o = {.method = lu_find("lu"), .dev = d, .real = real, .b = b};
                lu_hook = (struct lu_hook){.ahead = ahead, .blocks = blocks};
                if (!measure(A, &o, false, &l, e)) return false;
                printf("%7lld %s b %-4d blocks %-3d %-6s %12.3f ms +- %.3f\n", (long long)A->rows,
                       precisions[real].name, b, blocks, ahead > 0 ? "ahead" : "", l.us / 1e3, l.spread / 1e3);
                fflush(stdout);
            }
    lu_hook = (struct lu_hook){0};
    return true;
}

static bool bench_all(struct device *cpu, struct device *gpu, bool tune, int64_t least, int64_t most, struct err *e)
{
    for (int64_t n = 64; n <= most; n *= 2) {
        struct csr A = {0};
        int64_t p[PARAMS_MAX] = {n};
        bool ok = true;
        if (n < least) continue;
        if (!generator_find("dense")->make(p, 1, NULL, &A, e)) return false;
        for (int r = 0; ok && r < COUNT(reals); r++)
            ok = tune ? tune_size(&A, gpu, reals[r], e) : bench_size(&A, cpu, gpu, reals[r], e);
        csr_free(&A);
        if (!ok) return false;
    }
    return true;
}

static const char *or_none(const char *text)
{
    return text ? text : "not opened";
}

int main(int argc, char **argv)
{
    struct err e = {0};
    bool tune = argc > 1 && !strcmp(argv[1], "tune");
    struct device *cpu = device_open("cpu", &e), *gpu = device_count(DEV_CUDA) ? device_open("cuda:0", &e) : NULL;
    int64_t most = argc > 1 + tune ? atoll(argv[1 + tune]) : gpu ? 16384 : 1024;
    int64_t least = argc > 2 + tune ? atoll(argv[2 + tune]) : 64;
    bool ok = cpu && (gpu || !tune);
    if (ok) {
        printf("cpu: %s\n", cpu->about);
        if (gpu) printf("%s: %s; peer: %s\n", gpu->name, gpu->about, or_none(lu_version(lu_find("lu-cusolver"))));
        if (!tune)
            printf("%7s %s %-12s %-7s %-6s %12s %9s %10s %9s %10s %8s\n", "n", "type", "method", "device", "", "ms",
                   "+-", "GFLOP/s", "speed-up", "backward", "growth");
        ok = bench_all(cpu, gpu, tune, least, most, &e);
        if (gpu) printf("products by %s\n", or_none(lu_vendor_cuda.blas_version()));
    }
    if (!ok) fprintf(stderr, "bench_lu: %s\n", e.text[0] ? e.text : "tune needs a GPU");
    devices_close();
    return !ok;
}
