/* The loops of the kernel tests: for each stored matrix, every kernel that accepts it, and each check. */
#include "kernel_loops.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/half.h"
#include "base/mem.h"
#include "base/precision.h"
#include "collection.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "formats/fmt_dia_adaptive.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/compiled.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "microscope/gpu_profile.h"
#include "shapes.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

/* Parameters in addition to each format's defaults: some divide the warp evenly, some do not, and some are larger than
   the warp. */
static const struct variant {
    const char *format;
    int64_t param[PARAMS_MAX];
} variants[] = {
    {"coo", {0}},
    {"csr", {0}},
    {"csr64", {0}},
    {"csc", {0}},
    {"ell", {0}},
    {"sell", {32, 1024}},
    {"sell", {32, 1}},
    {"sell", {1, 1}},
    {"sell", {7, 20}},
    {"sell", {64, 64}},
    {"packed", {0, 0}},
    {"packed", {1, 1}},
    {"packed", {2, 64}},
    {"packed", {8, 1024}},
    {"packed", {32, 1}},
    {"hyb", {0}},
    {"hyb", {1}},
    {"hyb", {9}},
    {"dia", {0}},
    {"bsr", {1}},
    {"bsr", {2}},
    {"bsr", {3}},
    {"bsr", {4}},
    {"bsr", {5}},
    {"bsr", {6}},
    {"bsr", {8}},
    {"bsr", {16}},
    {"bsr", {31}},
    {"bsr", {32}},
    {"bsell", {0, 32, 1024}},
    {"bsell", {1, 32, 1}},
    {"bsell", {2, 32, 1}},
    {"bsell", {3, 32, 64}},
    {"bsell", {3, 7, 20}},
    {"bsell", {4, 32, 1024}},
    {"bsell", {4, 1, 1}},
    {"strips", {0}},
    {"strips", {1}},
    {"strips", {3}},
    {"strips", {64}},
    {"strips", {1000}},
    {"dense", {0}},
    {"sc-csr", {0}},
    {"sc-csr", {1}},
    {"sc-csr", {2560}},
    {"vab", {64}},
    {"vab", {128}},
    {"hdia", {1}},
    {"hdia", {7}},
    {"hdia", {32}},
    {"brcsd1", {1, 64}},
    {"brcsd1", {64, 64}},
    {"brcsd1", {1, 7}},
    {"brcsd1", {32, 128}},
    {"brcsd1", {64, 1024}},
    {"brcsd2", {3}},
    {"brcsd2", {32}},
    {"dia-adaptive", {32, 64, 10, 190, ADAPTIVE_DIA}},
    {"dia-adaptive", {32, 8, 10, 190, ADAPTIVE_BRCSD1}},
    {"dia-adaptive", {5, 64, 10, 190, ADAPTIVE_BRCSD2}},
    {"hdc", {1}},
    {"hdc", {50}},
    {"hdc", {100}},
    {"drm", {1}},
    {"drm", {7}},
    {"drm", {32}},
    {"drm", {1024}},
};

static const enum precision reals[] = {P_F32, P_F64};

/* Can a matrix with the values of A be multiplied in this precision by a kernel for format f on d? */
static bool some_kernel_takes(const struct csr *A, const struct format *f, enum precision real, const struct device *d)
{
    for (int i = 0; kernels[i] && !A->imag; i++)
        if (kernels[i]->format == f && kernel_runs_on(kernels[i], d) && kernel_takes(kernels[i], real, NULL))
            return true;
    return false;
}

static const struct {
    double alpha, beta;
} factors[] = {{1.5, -0.5}, {1, 0}, {0, 2}};

/* A stored matrix with its vectors on a device, and its name in messages. */
struct subject {
    const struct csr *A;
    struct stored S;
    struct mat M;
    char name[160];
};

/* A loop over the kernels of device d. The loop skips stored matrices of more than `slots` slots, and calls `go` for
   every kernel that accepts a stored matrix. */
struct loop {
    struct device *d;
    int64_t slots;
    void (*go)(struct subject *s, const struct kernel *k);
};

/* Returns false if the stored matrix is too large for the loop, or the format refuses the matrix. */
static bool subject_new(struct subject *s, const char *name, const struct csr *A, const struct variant *v,
                        enum precision real, const struct loop *l)
{
    struct err e = {0};
    struct plan p;
    const struct format *f = format_find(v->format);
    *s = (struct subject){.A = A};
    if (!format_plan(A, f, v->param, real, &p, &e)) fail_msg("%s as %s: %s", name, v->format, e.text);
    if (p.slots > l->slots) return false;
    if (!format_pack(A, f, v->param, real, false, &s->S, &e)) {
        if (e.code != E_LIMIT) fail_msg("%s as %s: %s", name, v->format, e.text);
        return false;
    }
    snprintf(s->name, sizeof s->name, "%s, %s %lld %lld, %s", name, v->format, (long long)s->S.param[0],
             (long long)s->S.param[1], precisions[s->S.real].name);
    if (!mat_put(&s->M, &s->S, l->d, &e)) fail_msg("%s: %s", s->name, e.text);
    return true;
}

/* WARPSPY_NO_VENDOR skips the libraries: a race checker reports accesses that the kernels of the libraries make on
   purpose. */
static bool takes(const struct kernel *k, const struct subject *s, const struct loop *l)
{
    if (k->vendor && getenv("WARPSPY_NO_VENDOR")) return false;
    return kernel_runs_on(k, l->d) && k->format == s->S.format && kernel_takes(k, s->S.real, NULL) &&
           (!k->fits || k->fits(&s->S, NULL));
}

static void each_kernel(const char *name, const struct csr *A, const struct variant *v, enum precision real,
                        const struct loop *l)
{
    struct subject s;
    if (!subject_new(&s, name, A, v, real, l)) return;
    for (int i = 0; kernels[i]; i++)
        if (takes(kernels[i], &s, l)) l->go(&s, kernels[i]);
    mat_free(&s.M);
    stored_free(&s.S);
}

/* The first parameters of a format are checked in all precisions, the others in one narrow precision each. */
static bool is_checked(const struct csr *A, int v, enum precision real, const struct device *d)
{
    bool first = v == 0 || strcmp(variants[v].format, variants[v - 1].format) != 0;
    if (!precisions[real].narrow) return true;
    return (first || v % (PRECISIONS - P_NARROW) == (int)(real - P_NARROW)) &&
           some_kernel_takes(A, format_find(variants[v].format), real, d);
}

static void each_variant(const char *name, const struct csr *A, const struct loop *l)
{
    for (int v = 0; v < COUNT(variants); v++)
        for (const struct precision_entry *const *p = named_precisions; *p; p++)
            if (is_checked(A, v, (*p)->index, l->d)) each_kernel(name, A, &variants[v], (*p)->index, l);
}

static const struct shape more_shapes[] = {
    {.name = "1000 rows", .rows = 1000, .cols = 1000, .entries = 3000, .long_row = -1},
    {.name = "8 x 8, full", .rows = 8, .cols = 8, .entries = 1500, .long_row = -1},
    {.name = "last row and column", .rows = 65, .cols = 97, .entries = 30, .long_row = 64},
    {0},
};

/* Set every third value to an explicit zero. */
static void with_zeros(const struct loop *l)
{
    struct csr A = shape_csr(&more_shapes[2], 12);
    for (int64_t k = 0; k < A.nnz; k += 3) A.val[k] = 0;
    each_variant("explicit zeros", &A, l);
    csr_free(&A);
}

static void each_shape(const struct shape *list, const struct loop *l)
{
    for (const struct shape *s = list; s->name; s++) {
        struct csr A = shape_csr(s, 11), Z = shape_csr_complex(s, 11);
        if (!s->complex_values) each_variant(s->name, &A, l);
        each_variant(s->name, &Z, l);
        csr_free(&A);
        csr_free(&Z);
    }
}

/* Square matrices that consist of diagonals: the rows `first` to `last` - 1 have an entry at each offset from `from` to
   `to`. Mirror images have equal values. */
static const struct banded {
    const char *name;
    int64_t rows;
    struct {
        int64_t first, last, from, to;
    } part[4];
} bands[] = {
    {"rows of four lengths", 125, {{0, 30, 0, 2}, {30, 60, -5, 4}, {60, 90, -30, -11}, {90, 121, -60, -21}}},
    {"diagonals that end", 200, {{0, 200, 0, 0}, {0, 130, 70, 70}, {130, 200, -130, -130}, {0, 150, 1, 1}}},
    {"one heavy segment", 3000, {{0, 32, 0, 79}, {32, 3000, 0, 0}, {1000, 1500, -1000, -1000}}},
    {"symmetric, diagonals far apart", 3000, {{0, 3000, 0, 0}, {0, 2700, 300, 300}, {300, 3000, -300, -300}}},
};

static struct csr banded_csr(const struct banded *b, bool complex_values)
{
    enum { MAX = 8400 };
    static int row[MAX], col[MAX];
    static double val[MAX], imag[MAX];
    struct err e = {0};
    struct csr A;
    int n = 0;
    for (int p = 0; p < COUNT(b->part); p++)
        for (int64_t i = b->part[p].first; i < b->part[p].last; i++)
            for (int64_t off = b->part[p].from; off <= b->part[p].to; off++) {
                assert_true(n < MAX);
                row[n] = (int)i;
                col[n] = (int)(i + off);
                val[n] = ((row[n] + col[n]) % 127 - 63.5) / 4;
                imag[n] = ((row[n] + col[n]) % 61 - 30) / 8.0;
                n++;
            }
    if (!csr_from_triplets(&A, b->rows, b->rows, n, row, col, val, complex_values ? imag : NULL, NULL, &e))
        fail_msg("%s: %s", b->name, e.text);
    return A;
}

static void each_band(const struct loop *l)
{
    for (int k = 0; k < 2 * COUNT(bands); k++) {
        struct csr A = banded_csr(&bands[k / 2], k % 2);
        each_variant(bands[k / 2].name, &A, l);
        csr_free(&A);
    }
}

static void all_shapes(const struct loop *l)
{
    each_shape(shapes, l);
    each_shape(more_shapes, l);
    each_band(l);
    with_zeros(l);
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

void check_shapes(struct device *d, int64_t slots)
{
    all_shapes(&(struct loop){d, slots, hold_to_reference});
}

/* With these factors, a kernel reads and writes all that it accesses with any others. */
static void run_with_all_operands(struct subject *s, const struct kernel *k)
{
    answer(s, k, 0, 100, NULL);
}

void check_races(struct device *d, int64_t slots)
{
    all_shapes(&(struct loop){d, slots, run_with_all_operands});
}

/* ---- what nvcc made of the functions ---- */

enum { KERNELS_MAX = 256 };
static bool launched[KERNELS_MAX][KERNEL_FUNCTIONS];

/* The functions that k launches on a GPU with this number of multiprocessors (0: the usual one) are in the table and in
   k's entry, which states their threads. */
static void hold_launches_to_table(struct subject *s, const struct kernel *k, int multiprocessors)
{
    static struct counts c;
    struct err e = {0};
    int number = 0;
    s->M.units = multiprocessors;
    if (!count_kernel(k, &s->M, 1, NULL, NULL, &c, &e)) fail_msg("%s, %s: %s", k->name, s->name, e.text);
    while (kernels[number] != k) number++;
    for (int l = 0; l < c.scope.nlaunches; l++) {
        const struct scope_launch *at = &c.scope.launch[l];
        const struct compiled *code =
            compiled_find(compiled_column(machine_reference().is.capability, &e), at->instance);
        int f = 0;
        if (!code)
            fail_msg("%s launches %s, which samples/compiled.txt lacks: run `make compiled-table`", k->name,
                     *at->instance ? at->instance : at->function);
        while (f < KERNEL_FUNCTIONS && !(k->functions[f].name && compiled_matches(code, k->functions[f].name))) f++;
        if (f == KERNEL_FUNCTIONS) fail_msg("%s launches %s: its entry lacks it in .functions", k->name, code->name);
        if (k->functions[f].threads && k->functions[f].threads != at->threads)
            fail_msg("%s launches %s with %lld threads per block, not the %d of its entry", k->name, code->name,
                     (long long)at->threads, k->functions[f].threads);
        launched[number][f] = true;
    }
}

/* A matrix is large for one multiprocessor. */
static void hold_to_table(struct subject *s, const struct kernel *k)
{
    hold_launches_to_table(s, k, 0);
    hold_launches_to_table(s, k, 1);
}

void check_compiled(struct device *d, int64_t slots)
{
    all_shapes(&(struct loop){d, slots, hold_to_table});
    for (int i = 0; kernels[i]; i++)
        for (int f = 0; f < KERNEL_FUNCTIONS && kernel_runs_on(kernels[i], d); f++)
            if (kernels[i]->functions[f].name && !launched[i][f])
                fail_msg("%s never launched %s, which its entry names", kernels[i]->name,
                         kernels[i]->functions[f].name);
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

/* The product with x at number `first` of an allocated vector must have the bits of `ref`. */
static void multiply_exactly(struct subject *s, const struct kernel *k, int64_t first, const double *ref)
{
    struct err e = {0};
    struct device *d = s->M.dev;
    int64_t parts = type_parts(precisions[s->S.real].vector), m = parts * s->A->rows, n = parts * s->A->cols;
    double *x = mem_zero(first + n, sizeof *x, "x after other values", NULL);
    double *values = small_integers(n, 7), *y = small_integers(m, 5);
    for (int64_t i = 0; i < n; i++) x[first + i] = values[i];
    void *dx = put_double(d, x, first + n), *dy = put_double(d, y, m);
    struct launch L = {.A = &s->M, .alpha = 2, .beta = -1, .threads = 3, .x = (double *)dx + first, .y = dy};
    if (!kernel_launch(k, &L, &e) || !d->ops->sync(d, &e) || !d->ops->get(d, y, dy, m * 8, &e))
        fail_msg("%s on %s, %s: %s %s", k->name, d->name, s->name, e.where, e.text);
    for (int64_t i = 0; i < m; i++)
        if (y[i] != ref[i])
            fail_msg("%s on %s, %s: y[%lld] is %.17g, not %.17g", k->name, d->name, s->name, (long long)i, y[i],
                     ref[i]);
    d->ops->free(d, dx);
    d->ops->free(d, dy);
    mem_free(x);
    mem_free(values);
    mem_free(y);
}

/* Are the values of A numbers of the type in which they are stored? */
static bool stores_exactly(const struct subject *s)
{
    enum type stored = precisions[s->S.real].stored;
    for (int64_t k = 0; k < s->A->nnz; k++)
        if (type_rounded(type_of_parts(stored), s->A->val[k]) != s->A->val[k]) return false;
    return true;
}

/* The values are multiples of 1/8, and x and y are small integers: no sum is rounded, whatever the order of its
   additions. The second x begins 16 bytes after an allocation, like a column of a basis. */
static void hold_to_bits(struct subject *s, const struct kernel *k)
{
    int64_t parts = type_parts(precisions[s->S.real].vector);
    if (precisions[s->S.real].part != T_F64 || !stores_exactly(s)) return;
    double *x = small_integers(parts * s->A->cols, 7), *ref = small_integers(parts * s->A->rows, 5);
    reference_spmv(s->A, 2, x, -1, ref, P_F64, NULL);
    multiply_exactly(s, k, 0, ref);
    multiply_exactly(s, k, 2, ref);
    mem_free(x);
    mem_free(ref);
}

void check_exact(struct device *d, int64_t slots)
{
    all_shapes(&(struct loop){d, slots, hold_to_bits});
}

/* ---- values stored in smaller types ---- */

/* y = A x in the precision of the stored matrix. x and y are numbers of the type of the sums. */
static void multiply_plainly(struct subject *s, const struct kernel *k, const double *x, double *y)
{
    struct err e = {0};
    struct device *d = s->M.dev;
    enum type type = precisions[s->S.real].part;
    int64_t size = (int64_t)type_size(type), m = s->A->rows, n = s->A->cols;
    struct array vx = {.type = type, .n = n, .data = mem_new(n, sizeof(double), "x", NULL)};
    struct array vy = {.type = type, .n = m, .data = mem_new(m, sizeof(double), "y", NULL)};
    put_reals(&vx, x);
    void *dx = d->ops->alloc(d, n * size, "x", &e), *dy = d->ops->alloc(d, m * size, "y", &e);
    struct launch L = {.A = &s->M, .alpha = 1, .x = dx, .y = dy};
    if (!d->ops->put(d, dx, vx.data, n * size, &e) || !kernel_launch(k, &L, &e) || !d->ops->sync(d, &e) ||
        !d->ops->get(d, vy.data, dy, m * size, &e))
        fail_msg("%s on %s, %s: %s", k->name, d->name, s->name, e.text);
    for (int64_t i = 0; i < m; i++) y[i] = array_real(&vy, i);
    d->ops->free(d, dx);
    d->ops->free(d, dy);
    mem_free(vx.data);
    mem_free(vy.data);
}

/* Row by row: the stored values differ from A's by at most the unit roundoff of their type, and a sum of n products
   has the error bound of its type. */
static void hold_to_roundoff(struct subject *s, const struct kernel *k)
{
    enum type stored = precisions[s->S.real].stored;
    double unit = stored == T_F16 ? 0x1p-11 : stored == T_BF16 ? 0x1p-8 : 0x1p-24;
    double eps = precisions[s->S.real].part == T_F32 ? 0x1p-23 : 0x1p-52;
    double *x = mem_new(s->A->cols, sizeof *x, "x", NULL), *y = mem_new(s->A->rows, sizeof *y, "y", NULL);
    for (int64_t i = 0; i < s->A->cols; i++) x[i] = (double)(i * 7919 % 1009 - 504) / 512;
    multiply_plainly(s, k, x, y);
    for (int64_t row = 0; row < s->A->rows; row++) {
        double sum = 0, size = 0;
        int64_t n = csr_row_length(s->A, row);
        for (int64_t e = s->A->rowptr[row]; e < s->A->rowptr[row + 1]; e++) {
            sum += s->A->val[e] * x[s->A->col[e]];
            size += fabs(s->A->val[e] * x[s->A->col[e]]);
        }
        double bound = (unit + (double)(n + 2) * (eps + 0x1p-52)) * size * (1 + unit);
        if (!(fabs(y[row] - sum) <= bound))
            fail_msg("%s on %s, %s: y[%lld] is %.17g, not %.17g; bound %.3g", k->name, s->M.dev->name, s->name,
                     (long long)row, y[row], sum, bound);
    }
    mem_free(x);
    mem_free(y);
    answer(s, k, 0, 9, NULL);
}

/* Every kernel x narrow precision, with the default parameters of the format. */
static void each_narrow(const char *name, const struct csr *A, enum precision only, const struct loop *l)
{
    int checked = 0;
    for (int f = 0; formats[f]; f++)
        for (const struct precision_entry *const *p = named_precisions; *p; p++) {
            if (!(*p)->narrow || (only && (*p)->index != only)) continue;
            if (!some_kernel_takes(A, formats[f], (*p)->index, l->d)) continue;
            struct variant defaults = {.format = formats[f]->name};
            for (int i = 0; formats[f]->params[i].name; i++) defaults.param[i] = formats[f]->params[i].default_value;
            each_kernel(name, A, &defaults, (*p)->index, l);
            checked++;
        }
    assert_true(checked >= 5); /* csr, ell, sell, packed and dia */
}

/* Values between 1/64 and 64 in magnitude that are not numbers of the smaller types. */
static void scatter_values(struct csr *A)
{
    uint64_t state = 7;
    for (int64_t k = 0; k < A->nnz; k++) A->val[k] = ldexp(1.0 + fabs(random_unit(&state)), (int)(k % 12) - 6);
    for (int64_t k = 0; k < A->nnz; k += 3) A->val[k] = -A->val[k];
}

/* The matrix diag(v) for the number v of each 16-bit code, and twice itself as the product. */
static void hold_to_codes(struct subject *s, const struct kernel *k)
{
    double *x = mem_new(s->A->cols, sizeof *x, "x", NULL), *y = mem_new(s->A->rows, sizeof *y, "y", NULL);
    for (int64_t i = 0; i < s->A->cols; i++) x[i] = -2;
    multiply_plainly(s, k, x, y);
    for (int64_t i = 0; i < s->A->rows; i++)
        if (isnan(s->A->val[i]) ? !isnan(y[i]) : y[i] != -2 * s->A->val[i])
            fail_msg("%s on %s, %s: code %llx gives %.17g, not %.17g", k->name, s->M.dev->name, s->name,
                     (unsigned long long)i, y[i], -2 * s->A->val[i]);
    mem_free(x);
    mem_free(y);
}

static void check_codes(struct device *d, enum precision real)
{
    enum { CODES = 1 << 16 };
    struct csr A;
    int *at = mem_new(CODES, sizeof *at, "rows", NULL);
    double *v = mem_new(CODES, sizeof *v, "numbers", NULL);
    for (int i = 0; i < CODES; i++) {
        at[i] = i;
        v[i] = (double)(precisions[real].stored == T_F16 ? fp16_value((uint16_t)i) : bf16_value((uint16_t)i));
    }
    assert_true(csr_from_triplets(&A, CODES, CODES, CODES, at, at, v, NULL, NULL, NULL));
    each_narrow("all codes", &A, real, &(struct loop){d, 2 * CODES, hold_to_codes});
    mem_free(at);
    mem_free(v);
    csr_free(&A);
}

void check_narrow(struct device *d, int64_t slots)
{
    static const struct {
        const char *generator;
        int64_t param[PARAMS_MAX];
    } made[] = {{"poisson2d", {30, 31}}, {"band", {400, 9}}, {"random", {300, 9, 50}}, {"circuit", {500, 1}}};
    for (int k = 0; k < COUNT(made); k++) {
        struct err e = {0};
        struct csr A;
        if (!generator_find(made[k].generator)->make(made[k].param, 1, NULL, &A, &e)) fail_msg("%s", e.text);
        scatter_values(&A);
        each_narrow(made[k].generator, &A, 0, &(struct loop){d, slots, hold_to_roundoff});
        csr_free(&A);
    }
    check_codes(d, P_F16_F64);
    check_codes(d, P_BF16_F64);
    check_codes(d, P_F16_F32);
}

/* ---- deterministic results ---- */

static void (*between)(int round);
/* Launches of each kernel: `rounds`, or FEW if more take longer than LONG_US, since each is compared with a reference.
 */
static int rounds;
enum { FEW = 3, LONG_US = 250000 };

static void hold_to_itself(struct subject *s, const struct kernel *k)
{
    if (!k->deterministic) return;
    int64_t n = s->A->rows * type_parts(precisions[s->S.real].vector);
    size_t bytes = (size_t)n * sizeof(double);
    double *first = mem_new(n, sizeof *first, "a result", NULL);
    double *next = mem_new(n, sizeof *next, "another", NULL);
    double start = now_us();
    for (int round = 0; round < rounds && (round < FEW || now_us() - start < LONG_US); round++) {
        if (between) between(round);
        answer(s, k, 0, 5, round ? next : first);
        if (round && memcmp(first, next, bytes))
            fail_msg("%s on %s, %s: not the same twice", k->name, s->M.dev->name, s->name);
    }
    if (between) between(0);
    mem_free(first);
    mem_free(next);
}

void check_deterministic(struct device *d, int64_t slots, void (*disturb)(int round))
{
    between = disturb;
    rounds = FEW;
    all_shapes(&(struct loop){d, slots, hold_to_itself});
}

/* Check all formats with their default parameters, alternating the precision. */
static void each_format(const char *name, const struct csr *A, int turn, const struct loop *l)
{
    for (int f = 0; formats[f]; f++) {
        struct variant defaults = {.format = formats[f]->name};
        for (int i = 0; formats[f]->params[i].name; i++) defaults.param[i] = formats[f]->params[i].default_value;
        each_kernel(name, A, &defaults, reals[(turn + f) % COUNT(reals)], l);
    }
}

/* ---- larger matrices ---- */

struct problem {
    const char *generator;
    int64_t param[PARAMS_MAX];
};

static struct csr made(const struct problem *p)
{
    struct err e = {0};
    struct csr A;
    if (!generator_find(p->generator)->make(p->param, 1, NULL, &A, &e)) fail_msg("%s", e.text);
    return A;
}

void check_uneven(struct device *d)
{
    static const struct problem problems[] = {{"circuit", {180000, 3}}, {"rmat", {16, 14}}};
    static const struct variant csr = {.format = "csr"};
    between = NULL;
    rounds = FEW;
    for (int k = 0; k < COUNT(problems); k++) {
        struct csr A = made(&problems[k]);
        each_kernel(problems[k].generator, &A, &csr, P_F64, &(struct loop){d, A.nnz, hold_to_itself});
        csr_free(&A);
    }
}

void check_repeats(struct device *d, int launches)
{
    enum { SLOTS_PER_NONZERO = 4 };
    static const struct problem problems[] = {{"circuit", {180000, 3}},        {"rmat", {16, 14}},
                                              {"random", {300, 2600, 110000}}, {"band", {20000, 20, 80}},
                                              {"brokendiag", {20000, 20}},     {"stencil", {27, 16, 0, 0, 3}}};
    between = NULL;
    rounds = launches;
    for (int k = 0; k < COUNT(problems); k++) {
        struct csr A = made(&problems[k]);
        for (int turn = 0; turn < COUNT(reals); turn++)
            each_format(problems[k].generator, &A, turn, &(struct loop){d, SLOTS_PER_NONZERO * A.nnz, hold_to_itself});
        csr_free(&A);
    }
}

/* ---- chains of products ---- */

static int chain_launches;

/* A kernel whose launches cannot be recorded as a graph is passed over. */
static void hold_chain(struct subject *s, const struct kernel *k)
{
    struct err e = {0};
    int64_t n = s->A->rows * type_parts(precisions[s->S.real].vector);
    double us, *first = mem_new(n, sizeof *first, "a result", NULL), *next = mem_new(n, sizeof *next, "another", NULL);
    for (int round = 0; round < rounds; round++) {
        if (!bench_chain(NULL, k, s->A, &s->M, 1, chain_launches, NULL, &us, round ? next : first, &e)) {
            if (e.code != E_UNSUPPORTED) fail_msg("%s, %s: %s", k->name, s->name, e.text);
            print_message("%s, %s: %s\n", k->name, s->name, e.text);
            break;
        }
        if (round && k->deterministic && memcmp(first, next, (size_t)n * sizeof *first))
            fail_msg("%s on %s, %s: a chain is not the same twice", k->name, s->M.dev->name, s->name);
    }
    mem_free(first);
    mem_free(next);
}

void check_chains(struct device *d, int64_t slots, int times, int launches)
{
    static const struct problem problems[] = {{"circuit", {300, 3}}, {"rmat", {6, 4}}, {"stencil", {27, 4, 0, 0, 3}}};
    rounds = times;
    chain_launches = launches;
    for (int k = 0; k < COUNT(problems); k++) {
        struct csr A = made(&problems[k]);
        each_format(problems[k].generator, &A, k, &(struct loop){d, slots, hold_chain});
        csr_free(&A);
    }
}

/* ---- real matrices ---- */

static void hold_file(struct subject *s, const struct kernel *k)
{
    answer(s, k, 0, 3, NULL);
}

static int complex_taken; /* complex matrices that were checked */

/* Returns true if the matrix was checked, that is, if it has at most `most` nonzeros. */
static bool check_file(const char *dir, const char *name, int64_t most, int turn, const struct loop *l)
{
    struct csr A = {0};
    struct load_info info;
    struct err e = {0};
    struct stat st;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (stat(path, &st) || st.st_size / 16 > most) return false; /* a compressed entry takes less than 16 bytes */
    if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", e.where, e.text);
    bool taken = A.nnz <= most;
    complex_taken += taken && A.imag;
    if (taken) each_format(name, &A, turn, l);
    csr_free(&A);
    return taken;
}

void check_files(struct device *d, int64_t most, int64_t slots)
{
    const char *dir = collection_folder("the kernels on the collection");
    if (!dir) return;
    struct loop l = {d, slots, hold_file};
    DIR *list = opendir(dir);
    int taken = 0;
    complex_taken = 0;
    for (struct dirent *f; list && (f = readdir(list));)
        if (strstr(f->d_name, ".mtx")) taken += check_file(dir, f->d_name, most, taken, &l);
    if (list) closedir(list);
    assert_true(taken > 0 && complex_taken > 0);
    print_message("%d matrices on %s, %d of them complex\n", taken, d->name, complex_taken);
}

struct device *open_or_fail(const char *name)
{
    struct err e = {0};
    struct device *d = device_open(name, &e);
    if (!d) fail_msg("%s", e.text);
    return d;
}

int close_devices(void **state)
{
    devices_close();
    return 0;
}
