/* How products and solvers scale with the GPUs of a machine: us, speed-up, halo, waiting, the predicted time, and
   whether every run gives the same bits. Without a GPU, emulated devices stand in, which have no clock: then only bits
   and residuals are checked. Exits 1 if a product is wrong, if bits differ, or if the first residuals of cg on a
   symmetric matrix differ by more than 1e-12 from those on one GPU.

   bench_multi [counts 1,2,4] [kernels NAME,NAME] [only spmv,cg] [nopredict] [save FILE] ["GENERATOR PARAMS"...]
   measures spmv, cg and gmres, or only the named ones. `kernels` names the rivals of csr's default kernel; the fastest
   of these on one GPU is measured, too, if it is faster than the default kernel. `kernels none` measures the default
   kernel alone. `save` writes what was measured of the GPU and its link to a new file, a profile for predictions.

   bench_multi predict [profile FILE] [counts 1,2,4] [kernels NAME,NAME] ["GENERATOR PARAMS"...] predicts only, for the
   named kernels, on a machine with or without a GPU: matrices that take long to predict are left out otherwise.

   bench_multi [counts 2,4] large ["GENERATOR PARAMS"] makes a matrix in parts that needs more memory than one GPU has,
   checks a product, and times cg. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "gpu/multi/multi.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "matrix/row_source.h"
#include "matrix/stats.h"
#include "microscope/gpu_profile.h"
#include "microscope/link.h"
#include "microscope/scaling.h"
#include "parts/partition.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTS_MAX = 4, FIRST = 20, RUNS = 5, CYCLE = 30, TIMELINES = 5, LARGE_ITERATIONS = 50, PREDICT_MAX = 20000000 };
static const double SOLVE_US = 300000, SLICE_US = 20000, ALIKE = 1e-12;

static const char *const usual[] = {"poisson3d 128", "poisson3d 256", "poisson3d 512",
                                    "rmat 22 16",    "rmat 24 16",    "circuit 20000000 8"};
static const char *const small[] = {"poisson3d 20", "rmat 10 8", "circuit 2000 4"};
static const char usual_rivals[] = "csr-stream,csr-vector,dia,packed,sell", small_rivals[] = "dia";

struct bench {
    bool gpu, predicts, measures, wrong;
    int n, count[COUNTS_MAX];
    struct device *dev[COUNTS_MAX];
    struct machine on;  /* the GPU of the predictions */
    const char *rivals; /* names of kernels, with commas */
    const char *only;   /* names of what is measured, with commas; NULL: all */
    enum transport second;
};

static void stage(const char *what, double from)
{
    fprintf(stderr, "  %s: %.1f s\n", what, (now_us() - from) / 1e6);
}

/* A number, or a dash for what was not measured. */
static const char *num(double v, const char *format, char *out, size_t size)
{
    if (isnan(v))
        snprintf(out, size, "-");
    else
        snprintf(out, size, format, v);
    return out;
}

/* ---- matrices ---- */

/* Read "poisson3d 128" or "rmat 22 16"; parameters that are not given have their defaults. */
static const struct generator *read_spec(const char *spec, int64_t *param, struct err *e)
{
    char name[32] = "";
    int used = 0, i = 0;
    sscanf(spec, "%31s%n", name, &used);
    const struct generator *g = generator_find(name);
    if (!g) return fail(e, E_USAGE, "%s: there is no generator '%s'", spec, name), NULL;
    for (int k = 0; k < PARAMS_MAX; k++) param[k] = 0;
    for (; g->params[i].name; i++) {
        long long value = g->params[i].default_value;
        int more = 0;
        if (sscanf(spec + used, "%lld%n", &value, &more) == 1) used += more;
        param[i] = value;
    }
    if (spec[used + (int)strspn(spec + used, " ")])
        return fail(e, E_USAGE, "%s: %s takes %d numbers", spec, g->name, i), NULL;
    return g;
}

/* A matrix, a vector that serves as x and as b, and the reference of A x. */
struct system {
    char name[48];
    struct csr A;
    bool judged; /* symmetric, and diagonally dominant as all are: cg does not amplify rounding errors */
    double *x, *ref, *bound, *y, *again;
};

/* Is every diagonal entry at least the sum of the absolute values beside it, up to rounding? */
static bool dominant(const struct csr *A)
{
    int64_t weak = 0;
#pragma omp parallel for reduction(+ : weak)
    for (int64_t i = 0; i < A->rows; i++) {
        double rest = 0, diagonal = 0;
        for (int64_t k = csr_start(A, i), end = csr_start(A, i + 1); k < end; k++)
            *(A->col[k] == i ? &diagonal : &rest) += A->col[k] == i ? A->val[k] : fabs(A->val[k]);
        weak += !(rest <= diagonal * (1 + ALIKE));
    }
    return weak == 0;
}

/* Replace the diagonal by the sum of the absolute values in row and column i, plus 1: then x'Ax > 0 for every x, so cg
   does not end at its first iteration. */
static bool put_diagonal(struct csr *A, struct err *e)
{
    struct csr B = {0};
    double *sum = mem_zero(A->rows, sizeof *sum, "sums of rows and columns", e);
    bool ok = sum && csr_new_any(&B, A->rows, A->cols, A->nnz + A->rows, false, e);
    for (int64_t i = 0; ok && i < A->rows; i++) {
        int64_t begin = csr_start(A, i), end = csr_start(A, i + 1);
        for (int64_t k = begin; k < end; k++) sum[i] += fabs(A->val[k]), sum[A->col[k]] += fabs(A->val[k]);
        csr_set_start(&B, i + 1, csr_start(&B, i) + end - begin + (csr_find(A, i, i) < 0));
    }
#pragma omp parallel for schedule(dynamic, 4096)
    for (int64_t i = 0; i < (ok ? A->rows : 0); i++) {
        int64_t k = csr_start(A, i), end = csr_start(A, i + 1), at = csr_start(&B, i);
        for (; k < end && A->col[k] < i; k++, at++) B.col[at] = A->col[k], B.val[at] = A->val[k];
        B.col[at] = (int)i;
        B.val[at++] = 1 + sum[i];
        for (k += k < end && A->col[k] == i; k < end; k++, at++) B.col[at] = A->col[k], B.val[at] = A->val[k];
    }
    mem_free(sum);
    if (!ok) return false;
    B.nnz = csr_start(&B, B.rows);
    csr_free(A);
    *A = B;
    return true;
}

static bool system_vectors(struct system *y, struct err *e)
{
    int64_t n = y->A.rows;
    double **all[] = {&y->x, &y->ref, &y->bound, &y->y, &y->again};
    for (int i = 0; i < COUNT(all); i++)
        if (!(*all[i] = mem_new(n, sizeof(double), "a vector", e))) return false;
    random_fill(y->x, n, 1);
    return reference_product(&y->A, 1, y->x, 0, y->ref, P_F64, y->bound, e);
}

/* vectors: not only the matrix. */
static bool system_new(struct system *y, const char *spec, bool vectors, struct err *e)
{
    int64_t param[PARAMS_MAX];
    struct symmetry symmetry = {0};
    double from = now_us();
    *y = (struct system){0};
    const struct generator *g = read_spec(spec, param, e);
    if (!g || !g->make(param, 1, NULL, &y->A, e)) return false;
    if (y->A.rows != y->A.cols) return fail(e, E_USAGE, "%s is not square", spec);
    if (csr_is_large(&y->A)) return fail(e, E_LIMIT, "%s is too large for csr; use `large`", spec);
    bool weak = !dominant(&y->A);
    snprintf(y->name, sizeof y->name, "%s%s", spec, weak ? " +D" : "");
    if (weak && !put_diagonal(&y->A, e)) return false;
    stage(y->name, from);
    if (!vectors) return true;
    if (!symmetry_of(&y->A, NULL, &symmetry, e) || !system_vectors(y, e)) return false;
    y->judged = symmetry.values;
    stage("the reference", from);
    return true;
}

static void system_free(struct system *y)
{
    csr_free(&y->A);
    mem_free(y->x);
    mem_free(y->ref);
    mem_free(y->bound);
    mem_free(y->y);
    mem_free(y->again);
}

/* ---- one matrix on one device ---- */

enum what { SPMV, CG, GMRES, WHATS };
static const char *const what_names[WHATS] = {"spmv", "cg", "gmres"};

struct placed {
    const struct system *of;
    struct mat M;
    const struct kernel *kernel;
    struct launch L;
};

struct result {
    double us, spread;
    bool same;                  /* two runs gave the same bits */
    double apart;               /* the largest relative difference of the first residuals from one GPU's */
    int64_t n;                  /* iterations */
    double residual[FIRST + 1]; /* of a solve */
};

static bool go(void *ctx, struct err *e)
{
    struct placed *p = ctx;
    return kernel_launch(p->kernel, &p->L, e);
}

/* y begins as NaN, so that a row that is not written is wrong. */
static bool multiply(struct placed *p, double *y, struct err *e)
{
    struct device *d = p->M.dev;
    int64_t bytes = p->of->A.rows * (int64_t)sizeof *y;
    memset(y, 0xff, (size_t)bytes);
    return d->ops->put(d, p->L.y, y, bytes, e) && d->ops->put(d, (void *)p->L.x, p->of->x, bytes, e) &&
           kernel_launch(p->kernel, &p->L, e) && d->ops->sync(d, e) && d->ops->get(d, y, p->L.y, bytes, e);
}

static bool check_product(const struct placed *p, struct err *e)
{
    const struct system *y = p->of;
    struct verdict v = verdict_of(y->A.rows, y->y, y->ref, y->bound);
    return v.ok || fail(e, E_NUMERIC, "%s with %s on %s: row %lld is wrong by %g bounds", y->name, p->kernel->name,
                        p->M.dev->name, (long long)v.row, v.worst);
}

static bool vectors_new(struct placed *p, struct err *e)
{
    void *x = mat_col_vectors(&p->M, 1, sizeof(double), "the vector x", e);
    void *y = x ? mat_row_vectors(&p->M, 1, sizeof(double), "the vector y", e) : NULL;
    p->L = (struct launch){.A = &p->M, .alpha = 1, .x = x, .y = y};
    return y != NULL;
}

static void vectors_free(struct placed *p)
{
    struct device *d = p->M.dev;
    if (p->L.x) d->ops->free(d, (void *)p->L.x);
    if (p->L.y) d->ops->free(d, p->L.y);
    p->L = (struct launch){0};
}

/* The emulator has no clock. */
static bool time_launches(struct device *d, const char *name, bool (*launch)(void *, struct err *), void *ctx,
                          double *us, double *spread, struct err *e)
{
    struct timed t = {.dev = d, .name = name, .go = launch, .ctx = ctx};
    int reps = 0;
    *us = *spread = NAN;
    return d->kind == DEV_EMU || bench_times(&t, &reps, NULL, us, spread, e);
}

static bool measure_product(struct placed *p, struct result *r, struct err *e)
{
    const struct system *y = p->of;
    *r = (struct result){.apart = NAN};
    bool ok = vectors_new(p, e) && multiply(p, y->y, e) && check_product(p, e) && multiply(p, y->again, e);
    r->same = ok && !memcmp(y->y, y->again, (size_t)y->A.rows * sizeof *y->y);
    ok = ok && time_launches(p->M.dev, p->kernel->name, go, p, &r->us, &r->spread, e);
    vectors_free(p);
    return ok;
}

/* ---- solves ---- */

static bool iterate(struct placed *p, const struct csr *A, const double *b, enum what what, int64_t n,
                    struct solve **out, struct err *e)
{
    struct solve_matrix M = {.name = what_names[what], .csr = A, .mat = &p->M, .kernel = p->kernel};
    struct solve_options o = {.solver = solver_find(what_names[what]),
                              .kernel = p->kernel,
                              .dev = p->M.dev,
                              .real = P_F64,
                              .tol = 1e-30,
                              .m = what == GMRES ? CYCLE : 0,
                              .maxit = n,
                              .b = b,
                              .force = true};
    if (!solve_begin(out, &M, &o, e)) return false;
    while ((*out)->reason == RUNNING)
        if (!solve_slice(*out, SLICE_US, e)) return false;
    return true;
}

static bool same_bits(const struct solve *a, const struct solve *b, int64_t rows)
{
    return a->iterations == b->iterations &&
           !memcmp(a->history.residual, b->history.residual, (size_t)(a->iterations + 1) * sizeof(double)) &&
           !memcmp(a->result.x, b->result.x, (size_t)rows * sizeof(double));
}

/* Two solves of a few iterations; *us: the time of one iteration, for the choice of their number. */
static bool solve_twice(struct placed *p, enum what what, struct result *r, double *us, struct err *e)
{
    struct solve *v[2] = {NULL, NULL};
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        ok = iterate(p, &p->of->A, p->of->x, what, FIRST, &v[i], e);
        if (ok) *us = solve_each_us(v[i]);
        ok = ok && solve_end(v[i], e) && solve_fetch_x(v[i], e);
    }
    if (ok) {
        r->same = same_bits(v[0], v[1], p->of->A.rows);
        if (v[0]->iterations < FIRST)
            printf("# %s, %s on %s ends after %lld iterations: %s\n", p->of->name, what_names[what], p->M.dev->name,
                   (long long)v[0]->iterations, v[0]->why);
        r->n = v[0]->iterations < FIRST ? v[0]->iterations : FIRST;
        memcpy(r->residual, v[0]->history.residual, (size_t)(r->n + 1) * sizeof *r->residual);
    }
    solve_free(v[0]);
    solve_free(v[1]);
    return ok;
}

/* Whole cycles of gmres, and about SOLVE_US of work. */
static int64_t iterations_of(double us)
{
    double n = SOLVE_US / RUNS / (us > 0 ? us : 1);
    int64_t cycles = n < 2 * CYCLE ? 2 : n > 10 * CYCLE ? 10 : (int64_t)(n / CYCLE);
    return cycles * CYCLE;
}

static bool time_solves(struct placed *p, enum what what, int64_t n, struct result *r, struct err *e)
{
    double us[RUNS];
    for (int i = 0; i < RUNS; i++) {
        struct solve *v = NULL;
        bool ok = iterate(p, &p->of->A, p->of->x, what, n, &v, e);
        if (ok) us[i] = solve_each_us(v);
        solve_free(v);
        if (!ok) return false;
    }
    r->us = times_median(RUNS, us, &r->spread);
    return true;
}

static bool measure_solver(struct placed *p, enum what what, struct result *r, struct err *e)
{
    double us;
    *r = (struct result){.us = NAN, .spread = NAN, .apart = NAN};
    return solve_twice(p, what, r, &us, e) &&
           (p->M.dev->kind == DEV_EMU || time_solves(p, what, iterations_of(us), r, e));
}

/* A different number of iterations counts as infinitely far apart. */
static double apart(const struct result *many, const struct result *one)
{
    double most = 0;
    if (many->n != one->n) return INFINITY;
    for (int64_t i = 0; i <= one->n; i++) {
        double by = fabs(many->residual[i] - one->residual[i]) / fabs(one->residual[i]);
        if (!(by <= most) && many->residual[i] != one->residual[i]) most = by;
    }
    return most;
}

/* ---- waiting ---- */

/* The share of a product that each member waits, in percent: the median of some timelines. */
static bool waits_of(const struct placed *p, char *out, size_t size, struct err *e)
{
    double share[SPLIT_MAX][TIMELINES];
    size_t at = 0;
    snprintf(out, size, "-");
    if (p->M.dev->kind == DEV_EMU || !p->M.dev->members) return true;
    struct timeline *t = mem_new(1, sizeof *t, "a timeline", e);
    bool ok = t != NULL;
    for (int i = 0; ok && i < TIMELINES; i++) {
        ok = timeline_of(&p->M, p->kernel, t, NULL, e);
        for (int k = 0; ok && k < t->members; k++) {
            const struct timeline_cell *c = t->cell[k];
            share[k][i] = (c[SPLIT_WAIT].to - c[SPLIT_WAIT].from) / (c[SPLIT_OUTSIDE].to - c[SPLIT_PUSH].from);
        }
    }
    for (int k = 0; ok && k < p->M.dev->members && at < size; k++)
        at += (size_t)snprintf(out + at, size - at, "%s%.0f", k ? "/" : "",
                               100 * times_median(TIMELINES, share[k], NULL));
    mem_free(t);
    return ok;
}

/* ---- predictions ---- */

/* us by the cost model, for each count: with the measured link, and with the table's numbers of NCCL. */
struct predicted {
    double us[COUNTS_MAX][2][WHATS];
};

static void take_point(const struct scaling *c, double us[WHATS])
{
    const struct scaling_point *p = &c->point[c->n - 1];
    us[SPMV] = p->spmv_us;
    us[CG] = p->cg_us;
    us[GMRES] = NAN; /* the model has no gmres */
}

/* The same point with another link: the exchange and the all-reduces change. */
static void take_other(const struct scaling *c, const struct link *other, const struct machine *on, double us[WHATS])
{
    struct scaling_point p = c->point[c->n - 1];
    const struct link *l = c->link;
    double bytes = p.wire_us * link_items_gbs(l) * 1e3;
    p.wire_us = bytes / (link_items_gbs(other) * 1e3);
    p.exchange_us = p.exchange_us > 0 ? on->c.launch_us + link_exchange_us(other, bytes) + p.memory_us : 0;
    us[SPMV] = scaling_product_us(other, &p);
    us[CG] = us[SPMV] + p.vectors_us + p.reduce_us / link_reduce_us(l, p.parts) * link_reduce_us(other, p.parts);
}

/* The link of the device, or that of the profile, or that of the table. */
static const struct link *peer_link(const struct bench *b, const struct device *d, struct measured_link *own)
{
    if (!d->link.measured && !b->on.link.measured) return link_find("nvlink");
    if (d->link.measured)
        link_of_device(d, own);
    else
        link_of_profile(&b->on, own);
    return &own->link;
}

static bool predict(const struct bench *b, const struct system *y, const struct kernel *k, struct predicted *out,
                    struct err *e)
{
    double from = now_us();
    for (int i = 0; i < COUNTS_MAX * 2 * WHATS; i++) (&out->us[0][0][0])[i] = NAN;
    if (!b->predicts) return true;
    if (b->measures && y->A.nnz > PREDICT_MAX)
        return printf("# %s is not predicted, because that takes long; `predict` does it\n", y->name) > 0;
    struct scaling *c = mem_zero(1, sizeof *c, "the predictions", e);
    if (!c) return false;
    c->way = way_find("bytes"); /* as devices divide rows by default */
    c->kernel = k;
    c->real = P_F64;
    c->link = link_find("nvlink");
    bool ok = scaling_begin(c, &y->A, &b->on, NULL, e);
    for (int i = 0; ok && i < b->n; i++) {
        c->link = peer_link(b, b->dev[i], &c->own);
        ok = scaling_add(c, &y->A, b->count[i], &b->on, NULL, e);
        if (ok) take_point(c, out->us[i][0]);
        if (ok && b->count[i] > 1) take_other(c, link_find("nccl"), &b->on, out->us[i][1]);
    }
    mem_free(c);
    stage("predictions", from);
    return ok;
}

/* ---- the table ---- */

static void print_head(void)
{
    printf("%-18s %10s %-11s %-4s %-5s %4s %10s %8s %6s %5s %10s %-15s %10s %6s %4s %8s\n", "matrix", "nonzeros",
           "kernel", "way", "what", "GPUs", "us", "+-", "gain", "used%", "halo bytes", "waits %", "model us", "error%",
           "bits", "apart");
}

static void print_line(const struct placed *p, enum what what, int count, const struct result *r, double one_us,
                       const char *waits, double predicted)
{
    char text[8][24];
    double gain = one_us / r->us;
    const struct device *d = p->M.dev;
    printf("%-18s %10lld %-11s %-4s %-5s %4d %10s %8s %6s %5s %10lld %-15s %10s %6s %4s %8s%s\n", p->of->name,
           (long long)p->of->A.nnz, p->kernel->name, d->members ? transport_name(transport_of(d)) : "-",
           what_names[what], count, num(r->us, "%.2f", text[0], 24), num(r->spread, "%.2f", text[1], 24),
           num(gain, "%.2f", text[2], 24), num(100 * gain / count, "%.0f", text[3], 24),
           (long long)mat_halo_bytes(&p->M), waits, num(predicted, "%.2f", text[4], 24),
           num(100 * (predicted / r->us - 1), "%+.1f", text[5], 24), r->same ? "same" : "DIFF",
           num(r->apart, "%.1e", text[6], 24), what == CG && r->apart > ALIKE && !p->of->judged ? " *" : "");
    fflush(stdout);
}

/* cg with peer exchange must agree with one GPU. */
static void judge(struct bench *b, const struct placed *p, enum what what, const struct result *r)
{
    bool far = p->of->judged && what == CG && p->M.dev->members && transport_of(p->M.dev) == TRANSPORT_PEER &&
               !(r->apart <= ALIKE);
    if (far) printf("# %s on %s: residuals of cg differ by %g\n", p->of->name, p->M.dev->name, r->apart);
    if (!r->same) printf("# %s on %s: two runs of %s differ\n", p->of->name, p->M.dev->name, what_names[what]);
    b->wrong |= far || !r->same;
}

/* ---- one kernel on every count ---- */

static bool measure_all(struct bench *b, struct placed *p, int i, const double predicted[WHATS],
                        struct result one[WHATS], struct err *e)
{
    for (enum what w = 0; w < WHATS; w++) {
        struct result r;
        struct err why = {0};
        if (b->only && !strstr(b->only, what_names[w])) continue;
        char waits[80] = "-";
        bool ok = w == SPMV ? measure_product(p, &r, &why) && waits_of(p, waits, sizeof waits, &why)
                            : measure_solver(p, w, &r, &why);
        if (!ok && err_is_refusal(&why) && why.code != E_NUMERIC && !p->M.dev->lost) {
            printf("# %s, %s on %s: %s\n", p->of->name, what_names[w], p->M.dev->name, why.text);
            continue;
        }
        if (!ok) return fail_at(e, why.code, why.where, "%s", why.text);
        if (i == 0 && !p->M.dev->members) one[w] = r;
        if (w != SPMV) r.apart = apart(&r, &one[w]);
        print_line(p, w, b->count[i], &r, one[w].us, waits, predicted[w]);
        judge(b, p, w, &r);
    }
    return true;
}

/* Can the members of d use the second way to exchange? Then it is chosen. */
static bool choose_second(const struct bench *b, const struct device *d)
{
    struct err why = {0};
    bool ok = d->members && (b->second != TRANSPORT_NCCL || multi_nccl_found(&why));
    if (ok) transport_choose(b->second);
    if (ok && transport_of(d) == b->second) return true;
    transport_choose(TRANSPORT_AUTO);
    if (d->members) printf("# %s on %s: not available; %s\n", transport_name(b->second), d->name, why.text);
    return false;
}

static bool bench_count(struct bench *b, struct placed *p, const struct stored *S, int i,
                        const struct predicted *predicted, struct result one[WHATS], struct err *e)
{
    static const double none[WHATS] = {NAN, NAN, NAN};
    double from = now_us();
    if (!mat_put(&p->M, S, b->dev[i], e)) return false;
    stage(b->dev[i]->name, from);
    bool ok = measure_all(b, p, i, predicted->us[i][0], one, e);
    if (ok && choose_second(b, b->dev[i])) {
        ok = measure_all(b, p, i, b->gpu ? predicted->us[i][1] : none, one, e);
        transport_choose(TRANSPORT_AUTO);
    }
    mat_free(&p->M);
    return ok;
}

static const int64_t *params_for(const struct kernel *k, const struct csr *A, const struct device *d, int64_t *own)
{
    if (k->param) return k->param;
    return d->kind == DEV_CUDA ? format_suit(k->format, A, P_F64, d->units, own) : NULL;
}

/* Pack with the parameters of the kernel. */
static bool pack(const struct system *y, const struct kernel *k, const struct device *d, struct stored *S,
                 struct err *e)
{
    int64_t own[PARAMS_MAX];
    if (!kernel_takes(k, P_F64, e) || !format_pack(&y->A, k->format, params_for(k, &y->A, d, own), P_F64, false, S, e))
        return false;
    if (!k->fits || k->fits(S, e)) return true;
    stored_free(S);
    return false;
}

static void print_predicted(const struct bench *b, const struct system *y, const struct kernel *k,
                            const struct predicted *p)
{
    for (int i = 0; i < b->n; i++)
        for (int way = 0; way < (b->count[i] > 1 ? 2 : 1); way++)
            for (enum what w = 0; w < GMRES; w++)
                printf("%-18s %10lld %-11s %-4s %-5s %4d model %.2f us, gain %.2f\n", y->name, (long long)y->A.nnz,
                       k->name,
                       b->count[i] == 1 ? "-"
                       : way            ? "nccl"
                                        : "peer",
                       what_names[w], b->count[i], p->us[i][way][w], p->us[0][0][w] / p->us[i][way][w]);
    fflush(stdout);
}

/* If a count fails for lack of memory, the other counts go on. */
static bool bench_kernel_on_all(struct bench *b, const struct system *y, const struct kernel *k, struct err *e)
{
    struct placed p = {.of = y, .kernel = k};
    struct predicted predicted;
    struct result one[WHATS];
    struct stored S;
    for (int w = 0; w < WHATS; w++) one[w] = (struct result){.us = NAN, .n = -1};
    if (!predict(b, y, k, &predicted, e)) return false;
    if (!b->measures) return print_predicted(b, y, k, &predicted), true;
    if (!pack(y, k, b->dev[0], &S, e)) return false;
    bool ok = true;
    for (int i = 0; ok && i < b->n; i++) {
        struct err why = {0};
        ok = bench_count(b, &p, &S, i, &predicted, one, &why);
        if (ok) continue;
        printf("# %s on %s: %s\n", y->name, b->dev[i]->name, why.text);
        ok = why.code == E_MEMORY && !b->dev[i]->lost;
        if (!ok) fail_at(e, why.code, why.where, "%s", why.text);
    }
    stored_free(&S);
    return ok;
}

/* ---- the best rival of csr's default kernel ---- */

/* The time of a product on one GPU; NaN if k does not take the matrix. On the emulator, 0. */
static double time_alone(const struct bench *b, const struct system *y, const struct kernel *k)
{
    struct placed p = {.of = y, .kernel = k};
    struct err why = {0};
    struct stored S;
    double us = NAN, spread;
    if (!kernel_runs_on(k, b->dev[0]) || !pack(y, k, b->dev[0], &S, &why)) return NAN;
    bool ok = mat_put(&p.M, &S, b->dev[0], &why) && vectors_new(&p, &why) &&
              time_launches(b->dev[0], k->name, go, &p, &us, &spread, &why);
    if (p.L.x) vectors_free(&p);
    if (p.M.dev) mat_free(&p.M);
    stored_free(&S);
    return !ok ? NAN : b->gpu ? us : 0;
}

static const struct kernel *best_rival(const struct bench *b, const struct system *y, const struct kernel *first)
{
    const struct kernel *best = first;
    double least = time_alone(b, y, first), from = now_us();
    char names[256];
    char text[24];
    printf("# %s on %s: %s %s us", y->name, b->dev[0]->name, first->name,
           num(b->gpu ? least : NAN, "%.2f", text, sizeof text));
    snprintf(names, sizeof names, "%s", b->rivals);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        const struct kernel *k = kernel_find(name);
        if (!k || k == first) continue;
        double us = time_alone(b, y, k);
        printf(", %s %s us", name, num(b->gpu ? us : NAN, "%.2f", text, sizeof text));
        if (us < least || (!b->gpu && !isnan(us))) best = k, least = us;
    }
    printf("\n");
    stage("the choice of a kernel", from);
    return best;
}

static bool predict_rivals(struct bench *b, const struct system *y, struct err *e)
{
    char names[256];
    snprintf(names, sizeof names, "%s", b->rivals);
    bool ok = true;
    for (char *name = strtok(names, ","); ok && name; name = strtok(NULL, ",")) {
        struct err why = {0};
        const struct kernel *k = kernel_find(name);
        if (!k || bench_kernel_on_all(b, y, k, &why)) continue;
        printf("# %s with %s: %s\n", y->name, name, why.text);
        ok = err_is_refusal(&why) || fail_at(e, why.code, why.where, "%s", why.text);
    }
    return ok;
}

static bool bench_system(struct bench *b, const char *spec, struct err *e)
{
    struct system y;
    bool ok = system_new(&y, spec, b->measures, e);
    if (ok && !b->measures) ok = predict_rivals(b, &y, e), system_free(&y);
    if (!b->measures) return ok;
    if (ok) {
        const struct kernel *first = kernel_default(format_find("csr"), &y.A, b->dev[0]);
        const struct kernel *best = best_rival(b, &y, first);
        ok = bench_kernel_on_all(b, &y, first, e) && (best == first || bench_kernel_on_all(b, &y, best, e));
    }
    system_free(&y);
    return ok;
}

/* ---- what the constants of the model should be ---- */

struct inner_product {
    struct device *d;
    int64_t n;
    double *s;
    const void *x;
};

static bool launch_dot(void *ctx, struct err *e)
{
    struct inner_product *q = ctx;
    vec_ops_of(q->d, T_F64)->dot(q->d, q->n, q->s, q->x, q->x, S_RR);
    return true;
}

/* A product and an inner product that are too small to take longer than launches and messages. */
static bool time_small(struct device *d, const struct stored *S, const struct kernel *k, double *spmv, double *dot,
                       struct err *e)
{
    struct placed p = {.kernel = k};
    double spread, scalars[SCALARS] = {[S_ONE] = 1};
    struct inner_product q = {.d = d, .n = S->rows};
    bool ok = mat_put(&p.M, S, d, e) && vectors_new(&p, e) &&
              (q.s = d->ops->alloc(d, VEC_WORK * (int64_t)sizeof *q.s, "scalars", e)) &&
              d->ops->put(d, q.s, scalars, sizeof scalars, e);
    q.x = p.L.x;
    if (ok) vec_ops_of(d, T_F64)->zero(d, q.n, (void *)q.x);
    ok = ok && time_launches(d, k->name, go, &p, spmv, &spread, e) &&
         time_launches(d, "dot", launch_dot, &q, dot, &spread, e);
    if (q.s) d->ops->free(d, q.s);
    if (p.L.x) vectors_free(&p);
    if (p.M.dev) mat_free(&p.M);
    return ok;
}

static void print_small(const struct device *d, const char *way, double spmv, double dot)
{
    printf("# %s, %s: a product of poisson2d 40 takes %.2f us, an inner product of 1600 elements %.2f us\n", d->name,
           way, spmv, dot);
}

static bool measure_link(const struct bench *b, struct device *d, const struct stored *S, const struct kernel *k,
                         struct err *e)
{
    const struct link_ceilings *c = &d->link;
    double spmv, dot;
    if (!device_links(d, NULL, e) || !time_small(d, S, k, &spmv, &dot, e)) return false;
    if (d->members)
        printf("# %s: a copy of 8 B takes %.2f us, of 1 MiB runs at %.1f GB/s, of 256 MiB at %.1f GB/s; a flag there "
               "and back %.2f us\n",
               d->name, c->copy_us, c->mb_gbs, c->far_gbs, c->flag_us);
    print_small(d, d->members ? transport_name(transport_of(d)) : "alone", spmv, dot);
    if (!d->members || !choose_second(b, d)) return true;
    bool ok = time_small(d, S, k, &spmv, &dot, e);
    if (ok) print_small(d, transport_name(b->second), spmv, dot);
    transport_choose(TRANSPORT_AUTO);
    return ok;
}

static bool measure_links(struct bench *b, struct err *e)
{
    int64_t param[PARAMS_MAX];
    struct csr A = {0};
    struct stored S;
    const struct generator *g = read_spec("poisson2d 40", param, e);
    if (!b->gpu) return true;
    if (!g || !g->make(param, 1, NULL, &A, e)) return false;
    bool ok = format_pack(&A, format_find("csr"), NULL, P_F64, true, &S, e);
    const struct kernel *k = kernel_default(format_find("csr"), &A, b->dev[0]);
    for (int i = 0; ok && i < b->n; i++) ok = measure_link(b, b->dev[i], &S, k, e);
    csr_free(&A);
    if (ok) stored_free(&S);
    return ok;
}

/* ---- a matrix that one GPU cannot hold ---- */

/* Bytes per row of a 7-point grid in csr64, and of the vectors of cg: x, b, its own, and one for the true residual. */
static double row_bytes(void)
{
    return 7 * (sizeof(int) + sizeof(double)) + sizeof(int64_t);
}

static double vector_bytes(void)
{
    return (double)(3 + solver_find("cg")->vectors) * sizeof(double);
}

/* 1.3 times the free memory of one member, unless the matrix and the vectors of cg would fill all members. */
static bool choose_large(const struct bench *b, struct device *d, char *out, size_t size, struct err *e)
{
    int64_t one, all, total;
    if (!b->gpu) return snprintf(out, size, "poisson3d 12") > 0;
    if (!d->member[0]->ops->memory(d->member[0], &one, &total, e) || !d->ops->memory(d, &all, &total, e)) return false;
    double rows = fmin(1.3 * (double)one / row_bytes(), 0.93 * (double)all / (row_bytes() + vector_bytes()));
    int side = (int)cbrt(fmin(rows, INT32_MAX));
    printf("# %s: %.1f GB are free on %s, %.1f GB on all; poisson3d %d takes %.2f times what one has free\n", d->name,
           (double)one / 1e9, d->member[0]->name, (double)all / 1e9, side, pow(side, 3) * row_bytes() / (double)one);
    snprintf(out, size, "poisson3d %d", side);
    return true;
}

static void print_members(const struct mat *M)
{
    struct split_member part[SPLIT_MAX];
    int n = mat_split(M, part);
    for (int k = 0; k < n; k++)
        printf("#   %-8s %11lld rows, %12lld inner entries%s, %10lld outer ones, halo %9lld, %6.1f GB\n",
               part[k].dev->name, (long long)part[k].rows, (long long)part[k].nnz,
               part[k].nnz > INT32_MAX ? " (more than 2^31-1)" : "", (long long)part[k].outside,
               (long long)part[k].halo, (double)part[k].bytes / 1e9);
}

/* 50 iterations of cg, twice: their time, and whether all residuals have the same bits. */
static bool large_cg(struct bench *b, struct placed *p, const struct csr *A, struct err *e)
{
    struct solve *v[2] = {NULL, NULL};
    double *rhs = mem_new(A->rows, sizeof *rhs, "b", e), us[2] = {NAN, NAN};
    bool ok = rhs != NULL;
    if (ok) random_fill(rhs, A->rows, 1);
    double residual[2][LARGE_ITERATIONS + 1] = {{0}};
    char text[2][24];
    for (int i = 0; ok && i < 2; i++) {
        ok = iterate(p, A, rhs, CG, LARGE_ITERATIONS, &v[i], e);
        if (ok) us[i] = solve_each_us(v[i]);
        for (int64_t k = 0; ok && k <= v[i]->iterations; k++) residual[i][k] = v[i]->history.residual[k];
        solve_free(v[i]);
    }
    mem_free(rhs);
    if (!ok) return false;
    bool same = !memcmp(residual[0], residual[1], sizeof residual[0]);
    if (p->M.dev->kind == DEV_EMU) us[0] = us[1] = NAN;
    printf("# %s: cg takes %s and %s us per iteration in two runs of %d; the residual falls to %.3e; bits %s\n",
           p->M.dev->name, num(us[0], "%.2f", text[0], 24), num(us[1], "%.2f", text[1], 24), LARGE_ITERATIONS,
           residual[0][LARGE_ITERATIONS], same ? "same" : "DIFF");
    b->wrong |= !same;
    return true;
}

static bool large_product(struct placed *p, const struct csr *A, struct err *e)
{
    struct verdict v;
    double from = now_us(), us, spread;
    char text[2][24];
    if (!bench_result(p->kernel, A, &p->M, &operation_product, 1, NULL, &v, e)) return false;
    if (!v.ok) return fail(e, E_NUMERIC, "row %lld is wrong by %g bounds", (long long)v.row, v.worst);
    stage("the check of the product", from);
    bool ok = vectors_new(p, e);
    if (ok) vec_ops_of(p->M.dev, T_F64)->zero(p->M.dev, A->cols, (void *)p->L.x);
    ok = ok && time_launches(p->M.dev, p->kernel->name, go, p, &us, &spread, e);
    vectors_free(p);
    if (ok)
        printf("# %s: a product by %s agrees with the rows (%.2g of the rounding-error bound), and takes %s us +- "
               "%s; %lld bytes of halo\n",
               p->M.dev->name, p->kernel->name, v.worst, num(us, "%.2f", text[0], 24), num(spread, "%.2f", text[1], 24),
               (long long)mat_halo_bytes(&p->M));
    return ok;
}

static bool put_large(struct bench *b, struct csr *A, const char *spec, struct device *d, struct err *e)
{
    struct plan plan;
    struct placed p = {.kernel = kernel_default(format_native(A), A, d)};
    if (!format_plan(A, format_native(A), NULL, P_F64, &plan, e)) return false;
    plan.shape.made = A;
    double from = now_us();
    if (!mat_put(&p.M, &plan.shape, d, e)) return false;
    printf("# %s on %s: %lld rows, %lld nonzeros, %.1f GB as %s, made in parts in %.1f s\n", spec, d->name,
           (long long)A->rows, (long long)A->nnz, (double)plan.bytes / 1e9, plan.shape.format->name,
           (now_us() - from) / 1e6);
    print_members(&p.M);
    fflush(stdout);
    bool ok = large_product(&p, A, e);
    fflush(stdout);
    ok = ok && large_cg(b, &p, A, e);
    mat_free(&p.M);
    return ok;
}

static bool bench_large(struct bench *b, const char *given, struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < b->n; i++) {
        int64_t param[PARAMS_MAX];
        char spec[64];
        if (!b->dev[i]->members) continue;
        if (!given && !choose_large(b, b->dev[i], spec, sizeof spec, e)) return false;
        const struct generator *g = read_spec(given ? given : spec, param, e);
        if (!g) return false;
        if (!g->rows) return fail(e, E_UNSUPPORTED, "%s does not make matrices in parts", g->name);
        struct row_source *rows = g->rows(param, 1, e);
        if (!rows) return false;
        struct csr A = csr_of_source(rows);
        ok = put_large(b, &A, given ? given : spec, b->dev[i], e);
        csr_free(&A);
    }
    return ok;
}

/* ---- the devices and the arguments ---- */

static bool open_count(struct bench *b, int count, struct err *e)
{
    char name[64];
    size_t at = (size_t)snprintf(name, sizeof name, b->gpu ? "cuda:0" : "emu");
    if (b->n == COUNTS_MAX) return fail(e, E_USAGE, "more than %d counts", COUNTS_MAX);
    for (int k = 1; b->gpu && k < count; k++) at += (size_t)snprintf(name + at, sizeof name - at, "+%d", k);
    if (!b->gpu && count > 1) snprintf(name, sizeof name, "emu*%d", count);
    b->count[b->n] = count;
    b->dev[b->n] = device_open(name, e);
    return b->dev[b->n++] != NULL;
}

/* One GPU comes first, whether it is listed or not, because the others are compared with it. */
static bool open_devices(struct bench *b, const char *counts, const char *profile, struct err *e)
{
    int most = b->gpu ? device_count(DEV_CUDA) : SPLIT_MAX;
    char *end = (char *)counts;
    if (!open_count(b, 1, e)) return false;
    for (const char *at = counts; *at; at = *end ? end + 1 : end) {
        long n = strtol(at, &end, 10);
        if (end == at || n < 1) return fail(e, E_USAGE, "counts %s: give numbers such as 1,2,4", counts);
        if (n > most) printf("# this machine has %d GPUs: %ld are not measured\n", most, n);
        if (n > 1 && n <= most && !open_count(b, (int)n, e)) return false;
    }
    if (b->gpu && !device_ceilings(b->dev[0], NULL, e)) return false;
    b->on = machine_of(b->gpu ? b->dev[0] : NULL);
    return !profile || profile_load(profile, &b->on, e);
}

static void print_devices(const struct bench *b)
{
    for (int i = 0; i < b->n; i++) printf("# %s: %s\n", b->dev[i]->name, b->dev[i]->about);
    printf("# predictions are for %s%s\n", b->on.name, b->predicts ? "" : ", and are left out");
    if (!b->gpu) printf("# there is no GPU: times are not modelled; bits and residuals are checked\n");
    printf(
        "# gain: us on one GPU / us. used: gain / GPUs. waits: share of a product that each GPU waits. bits: of two\n"
        "# runs. apart: largest relative difference of the first %d residuals from one GPU's; *: not judged, because\n"
        "# cg is for symmetric matrices, and amplifies rounding errors on others. +D: the diagonal was replaced by\n"
        "# the absolute sums of row and column, plus 1, so that x'Ax > 0\n",
        FIRST);
}

/* The profile has the link of the largest count. */
static bool save(struct bench *b, const char *path, struct err *e)
{
    struct machine on = b->on;
    if (!path) return true;
    on.link = b->dev[b->n - 1]->link;
    on.linked = on.link.measured ? b->count[b->n - 1] : 0;
    return profile_save(path, &on, true, e);
}

static bool run_all(struct bench *b, char **spec, int n, bool large, const char *path, struct err *e)
{
    const char *const *list = b->gpu ? usual : small;
    int usual_n = b->gpu ? COUNT(usual) : COUNT(small);
    print_devices(b);
    if (large) return bench_large(b, n ? spec[0] : NULL, e);
    if (b->measures && (!measure_links(b, e) || !save(b, path, e))) return false;
    if (b->measures) print_head();
    for (int i = 0; i < (n ? n : usual_n); i++)
        if (!bench_system(b, n ? spec[i] : list[i], e)) return false;
    return true;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    struct bench b = {.gpu = device_count(DEV_CUDA) > 0, .predicts = true, .measures = true};
    const char *counts = b.gpu ? "1,2,4,8" : "1,2,4", *profile = NULL, *path = NULL;
    bool large = false;
    int n = 0;
    b.rivals = b.gpu ? usual_rivals : small_rivals;
    b.second = b.gpu ? TRANSPORT_NCCL : TRANSPORT_HOST;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (!strcmp(argv[i], "counts") && more)
            counts = argv[++i];
        else if (!strcmp(argv[i], "kernels") && more)
            b.rivals = argv[++i];
        else if (!strcmp(argv[i], "only") && more)
            b.only = argv[++i];
        else if (!strcmp(argv[i], "profile") && more)
            profile = argv[++i];
        else if (!strcmp(argv[i], "save") && more)
            path = argv[++i];
        else if (!strcmp(argv[i], "predict"))
            b.measures = false;
        else if (!strcmp(argv[i], "nopredict"))
            b.predicts = false;
        else if (!strcmp(argv[i], "large"))
            large = true;
        else
            argv[n++] = argv[i];
    }
    bool ok = open_devices(&b, counts, profile, &e) && run_all(&b, argv, n, large, path, &e);
    if (!ok) fprintf(stderr, "bench_multi: %s\n", e.text);
    devices_close();
    return !ok || b.wrong;
}
