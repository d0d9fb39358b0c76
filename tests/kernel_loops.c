/* The loops of the kernel tests: one product after the other, each kernel that takes it, each check. */
#include "kernel_loops.h"
#include "shapes.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

/* Besides the usual parameters of each format: what tiles the warp, what does not, what exceeds it. */
static const struct variant {
    const char *format;
    int64_t param[PARAMS_MAX];
} variants[] = {
    {"coo", {0}},      {"csr", {0}},       {"csc", {0}},  {"ell", {0}},  {"sell", {32, 1024}}, {"sell", {1, 1}},
    {"sell", {7, 20}}, {"sell", {64, 64}}, {"hyb", {0}},  {"hyb", {1}},  {"hyb", {9}},         {"dia", {0}},
    {"bsr", {1}},      {"bsr", {2}},       {"bsr", {3}},  {"bsr", {4}},  {"bsr", {5}},         {"bsr", {6}},
    {"bsr", {8}},      {"bsr", {16}},      {"bsr", {31}}, {"bsr", {32}}, {"dense", {0}},
};

static const enum type reals[] = {T_F32, T_F64};

static const struct {
    double alpha, beta;
} factors[] = {{1.5, -0.5}, {1, 0}, {0, 0}, {0, 2}, {-3, 1}};

/* A product on a device, and the name it has in messages. */
struct subject {
    const struct csr *A;
    struct stored S;
    struct mat M;
    char name[160];
};

/* False where the format refuses the matrix: too much padding, or another limit. */
static bool subject_new(struct subject *s, const char *name, const struct csr *A, const struct variant *v,
                        enum type real, struct device *d)
{
    struct err e = {0};
    *s = (struct subject){.A = A};
    if (!format_pack(A, format_find(v->format), v->param, real, false, &s->S, &e)) {
        if (e.code != E_LIMIT) fail_msg("%s as %s: %s", name, v->format, e.text);
        return false;
    }
    snprintf(s->name, sizeof s->name, "%s, %s %lld %lld, %s", name, v->format, (long long)s->S.param[0],
             (long long)s->S.param[1], type_name(real));
    if (!mat_put(&s->M, &s->S, d, &e)) fail_msg("%s: %s", s->name, e.text);
    return true;
}

static void subject_free(struct subject *s)
{
    mat_free(&s->M);
    stored_free(&s->S);
}

typedef void check(struct subject *s, const struct kernel *k);

static void each_kernel(struct subject *s, check *go)
{
    for (int i = 0; kernels[i]; i++)
        if (kernel_runs_on(kernels[i], s->M.dev) && !strcmp(kernels[i]->format, s->S.format->name)) go(s, kernels[i]);
}

static void each_variant(const char *name, const struct csr *A, struct device *d, check *go)
{
    for (int v = 0; v < COUNT(variants); v++)
        for (int r = 0; r < COUNT(reals); r++) {
            struct subject s;
            if (!subject_new(&s, name, A, &variants[v], reals[r], d)) continue;
            each_kernel(&s, go);
            subject_free(&s);
        }
}

/* Every third value becomes an explicit zero. */
static void strew_zeros(struct csr *A)
{
    for (int64_t k = 0; k < A->nnz; k += 3) A->val[k] = 0;
}

static const struct shape more_shapes[] = {
    {.name = "1000 rows", .rows = 1000, .cols = 1000, .entries = 9000, .long_row = -1},
    {.name = "8 x 8, full", .rows = 8, .cols = 8, .entries = 1500, .long_row = -1},
    {.name = "last row and column", .rows = 65, .cols = 97, .entries = 30, .long_row = 64},
    {0},
};

static void each_shape(const struct shape *list, int64_t most, struct device *d, check *go)
{
    for (const struct shape *s = list; s->name; s++) {
        if (s->complex_values || s->entries > most) continue;
        struct csr A = shape_csr(s, 11);
        each_variant(s->name, &A, d, go);
        strew_zeros(&A);
        each_variant("the same with explicit zeros", &A, d, go);
        csr_free(&A);
    }
}

static void all_shapes(int64_t most, struct device *d, check *go)
{
    each_shape(shapes, most, d, go);
    each_shape(more_shapes, most, d, go);
}

static void answer(struct subject *s, const struct kernel *k, int f, uint64_t seed, double *y)
{
    struct err e = {0};
    struct verdict v;
    if (!bench_check(k, s->A, &s->M, factors[f].alpha, factors[f].beta, seed, y, &v, &e))
        fail_msg("%s on %s, %s: %s %s", k->name, s->M.dev->name, s->name, e.where, e.text);
    if (!v.ok)
        fail_msg("%s on %s, %s, alpha %g, beta %g: row %lld is off by %g times its bound", k->name, s->M.dev->name,
                 s->name, factors[f].alpha, factors[f].beta, (long long)v.row, v.worst);
}

static void hold_to_reference(struct subject *s, const struct kernel *k)
{
    for (int f = 0; f < COUNT(factors); f++) answer(s, k, f, 100 + (uint64_t)f, NULL);
}

void check_shapes(struct device *d)
{
    all_shapes(INT64_MAX, d, hold_to_reference);
}

/* ---- exact arithmetic ---- */

static void *put_double(struct device *d, const double *v, int64_t n)
{
    struct err e = {0};
    void *p = d->ops->alloc(d, n * 8, "a vector", &e);
    if (!p || !d->ops->put(d, p, v, n * 8, &e)) fail_msg("%s", e.text);
    return p;
}

static double *small_integers(int64_t n, int64_t step)
{
    double *v = mem_new(n, sizeof *v, "small integers", NULL);
    for (int64_t i = 0; i < n; i++) v[i] = (double)(i * step % 17 - 8);
    return v;
}

/* The values are multiples of 1/8, x and y small integers: no sum is ever rounded, in whatever order it is made. */
static void hold_to_bits(struct subject *s, const struct kernel *k)
{
    struct err e = {0};
    struct device *d = s->M.dev;
    int64_t m = s->A->rows;
    if (s->S.real != T_F64) return;
    double *x = small_integers(s->A->cols, 7), *y = small_integers(m, 5), *ref = small_integers(m, 5);
    struct launch L = {.A = &s->M, .alpha = 2, .beta = -1, .threads = 3};
    void *dx = put_double(d, x, s->A->cols), *dy = put_double(d, y, m);
    L.x = dx;
    L.y = dy;
    reference_spmv(s->A, L.alpha, x, L.beta, ref, T_F64, NULL);
    if (!kernel_launch(k, &L, &e) || !d->ops->sync(d, &e) || !d->ops->get(d, y, dy, m * 8, &e))
        fail_msg("%s on %s, %s: %s %s", k->name, d->name, s->name, e.where, e.text);
    for (int64_t i = 0; i < m; i++)
        if (y[i] != ref[i])
            fail_msg("%s on %s, %s: y[%lld] is %.17g, not %.17g", k->name, d->name, s->name, (long long)i, y[i],
                     ref[i]);
    d->ops->free(d, dx);
    d->ops->free(d, dy);
    mem_free(x);
    mem_free(y);
    mem_free(ref);
}

void check_exact(struct device *d)
{
    all_shapes(INT64_MAX, d, hold_to_bits);
}

/* ---- the same every time ---- */

static void (*between)(int round);

static void hold_to_itself(struct subject *s, const struct kernel *k)
{
    enum { ROUNDS = 3 };
    if (!k->deterministic) return;
    size_t bytes = (size_t)s->A->rows * sizeof(double);
    double *first = mem_new(s->A->rows, sizeof *first, "a result", NULL);
    double *next = mem_new(s->A->rows, sizeof *next, "another", NULL);
    for (int round = 0; round < ROUNDS; round++) {
        if (between) between(round);
        answer(s, k, 0, 5, round ? next : first);
        if (round && memcmp(first, next, bytes))
            fail_msg("%s on %s, %s: not the same twice", k->name, s->M.dev->name, s->name);
    }
    if (between) between(0);
    mem_free(first);
    mem_free(next);
}

void check_deterministic(struct device *d, void (*disturb)(int round))
{
    between = disturb;
    all_shapes(10000, d, hold_to_itself);
}

/* ---- real matrices ---- */

static void hold_file(struct subject *s, const struct kernel *k)
{
    answer(s, k, 0, 3, NULL);
}

static void check_product(const char *name, const struct csr *A, const struct format *f, enum type real, int64_t slots,
                          struct device *d)
{
    struct plan p;
    struct err e = {0};
    struct subject s;
    struct variant usual = {.format = f->name};
    for (int i = 0; f->params[i].name; i++) usual.param[i] = f->params[i].usual;
    if (!format_plan(A, f, NULL, real, &p, &e)) fail_msg("%s as %s: %s", name, f->name, e.text);
    if (p.slots > slots || !subject_new(&s, name, A, &usual, real, d)) return;
    each_kernel(&s, hold_file);
    subject_free(&s);
}

/* 1 if the matrix was taken. */
static int check_file(const char *dir, const char *name, int64_t most, int64_t slots, struct device *d)
{
    struct csr A = {0};
    struct load_info info;
    struct err e = {0};
    struct stat st;
    char path[1024];
    int taken = 0;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (stat(path, &st) || st.st_size / 16 > most) return 0; /* an entry takes less than 16 bytes packed */
    if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", e.where, e.text);
    if (!A.imag && A.nnz <= most) {
        for (int f = 0; formats[f]; f++)
            for (int r = 0; r < COUNT(reals); r++) check_product(name, &A, formats[f], reals[r], slots, d);
        taken = 1;
    }
    csr_free(&A);
    return taken;
}

void check_files(struct device *d, int64_t most, int64_t slots)
{
    const char *dir = getenv("WARPSPY_MATRICES");
    if (!dir) dir = "../shared/matrices";
    DIR *list = opendir(dir);
    int taken = 0;
    for (struct dirent *f; list && (f = readdir(list));)
        if (strstr(f->d_name, ".mtx")) taken += check_file(dir, f->d_name, most, slots, d);
    if (list) closedir(list);
    if (taken)
        print_message("%d matrices on %s\n", taken, d->name);
    else
        printf("skip: no matrices in %s\n", dir);
}
