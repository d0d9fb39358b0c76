/* The preconditioners: M^-1 r against dense computations from their definitions, on cpu and emu; what they refuse;
   levels and launches; failing allocations and devices; fewer iterations of every solver that takes them. */
#include "../src/precond.h"
#include "../src/staged.h"
#include "../src/triangles.h"
#include "dev_fake.h"
#include "solve_kit.h"

enum { DENSE_MOST = 120 }; /* rows of a matrix that is looked at as a dense one */

static const char *const devices[] = {"cpu", "emu"};
static const enum type reals[] = {T_F64, T_F32};

#define DENSE(n, ...)               \
    {                               \
        n, n, .a = (const double[]) \
        {                           \
            __VA_ARGS__             \
        }                           \
    }

/* ---- a solve that is begun, so that its preconditioner can be applied ---- */

static bool begin(struct bed *bed, const char *precond, int64_t block, const char *device, enum type real,
                  struct err *e)
{
    const struct csr *A = &bed->s.current->csr;
    double *b = mem_new(A->rows, sizeof *b, "b", NULL);
    for (int64_t i = 0; i < A->rows; i++) b[i] = 1;
    struct solve_options o = {.solver = solver_find("bicgstab"), .real = real, .b = b, .maxit = 9, .force = true};
    o.pre = precond_find(precond);
    o.pre_block = block;
    assert_non_null(o.pre);
    if (!(o.dev = device_open(device, e))) fail_msg("%s", e->text);
    solve_free(bed->s.solve);
    bed->s.solve = NULL;
    bool ok = solve_begin(&bed->s.solve, &bed->s, bed->s.current, &o, e);
    mem_free(b);
    return ok;
}

/* z = M^-1 r */
static void apply(struct solve *v, const double *r, double *z)
{
    struct err e = {0};
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    void *from = v->dev->ops->alloc(v->dev, bytes, "r", &e), *to = v->dev->ops->alloc(v->dev, bytes, "z", &e);
    assert_true(solve_thaw(v, &e) && solve_put(v, from, r, &e) && v->pre->apply(v, from, to, &e));
    if (!v->dev->ops->sync(v->dev, &e)) fail_msg("%s: %s", v->pre->name, e.text);
    assert_true(solve_get(v, z, to, &e));
    v->dev->ops->free(v->dev, from);
    v->dev->ops->free(v->dev, to);
}

static double *random_vector(int64_t n)
{
    uint64_t seed = 11;
    double *r = mem_new(n, sizeof *r, "r", NULL);
    for (int64_t i = 0; i < n; i++) r[i] = (double)(float)random_unit(&seed);
    return r;
}

static void bed_take(struct bed *bed, struct csr *A)
{
    struct err e = {0};
    struct load_info info = {.file = "case"};
    bed->data = tmpfile();
    bed->messages = tmpfile();
    assert_true(session_new(&bed->s, bed->data, bed->messages, OUT_TEXT, &e));
    assert_true(session_add(&bed->s, NULL, A, &info, &e));
}

/* ---- dense matrices of n rows, one after another ---- */

typedef double dense[DENSE_MOST * DENSE_MOST];
static dense A_, M_, L_, U_;
static bool there[DENSE_MOST * DENSE_MOST];

static int spread(const struct csr *A)
{
    int n = (int)A->rows;
    assert_true(n <= DENSE_MOST);
    memset(there, 0, sizeof there);
    memset(A_, 0, sizeof A_);
    for (int i = 0; i < n; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            A_[i * n + A->col[k]] = A->val[k];
            there[i * n + A->col[k]] = true;
        }
    return n;
}

static void multiply(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

/* M z = r by Gaussian elimination; M is overwritten. */
static void solve_dense(int n, double *m, const double *r, double *z)
{
    memcpy(z, r, (size_t)n * sizeof *z);
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i * n + k]) > fabs(m[best * n + k])) best = i;
        for (int j = 0; j < n; j++) {
            double t = m[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = t;
        }
        double t = z[k];
        z[k] = z[best], z[best] = t;
        for (int i = k + 1; i < n; i++) {
            double f = m[i * n + k] / m[k * n + k];
            for (int j = k; j < n; j++) m[i * n + j] -= f * m[k * n + j];
            z[i] -= f * z[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) z[k] -= m[k * n + j] * z[j];
        z[k] /= m[k * n + k];
    }
}

/* The definitions: L U = A where A has entries, L and U have none elsewhere. */
static void dense_ilu0(int n)
{
    double *a = M_;
    memcpy(a, A_, sizeof A_);
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++) {
            if (!there[i * n + k]) continue;
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                if (there[i * n + j]) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            L_[i * n + j] = j < i ? a[i * n + j] : i == j;
            U_[i * n + j] = j < i ? 0 : a[i * n + j];
        }
    multiply(n, L_, U_, M_);
}

static void dense_ic0(int n)
{
    memset(L_, 0, sizeof L_);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A_[i * n + j];
            if (!there[i * n + j]) continue;
            for (int k = 0; k < j; k++) sum -= L_[i * n + k] * L_[j * n + k];
            L_[i * n + j] = i == j ? sqrt(sum) : sum / L_[j * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) U_[i * n + j] = L_[j * n + i];
    multiply(n, L_, U_, M_);
}

static void dense_blocks(int n, int size)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) M_[i * n + j] = i / size == j / size ? A_[i * n + j] : 0;
}

static void check_product_on_pattern(int n)
{
    for (int i = 0; i < n * n; i++)
        if (there[i]) assert_true(fabs(M_[i] - A_[i]) <= 1e-12 * (1 + fabs(A_[i])));
}

static void define(const char *precond, int n, int64_t block)
{
    if (!strcmp(precond, "jacobi")) dense_blocks(n, 1);
    if (!strcmp(precond, "bjacobi")) dense_blocks(n, block ? (int)block : 8);
    if (!strcmp(precond, "ilu0")) dense_ilu0(n);
    if (!strcmp(precond, "ic0")) dense_ic0(n);
    if (precond[0] == 'i') check_product_on_pattern(n);
}

static void check_applied(struct bed *bed, const char *precond, int64_t block, const char *device, enum type real)
{
    struct err e = {0};
    if (!begin(bed, precond, block, device, real, &e)) fail_msg("%s: %s", precond, e.text);
    struct solve *v = bed->s.solve;
    double *r = random_vector(v->n), z[DENSE_MOST], expected[DENSE_MOST], size = 0;
    int n = spread(&bed->s.current->csr);
    define(precond, n, block);
    solve_dense(n, M_, r, expected);
    apply(v, r, z);
    for (int i = 0; i < n; i++) size = fmax(size, fabs(expected[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(z[i] - expected[i]) <= size * (real == T_F32 ? 1e-5 : 1e-13)))
            fail_msg("%s of %d rows on %s: z[%d] is %.17g, not %.17g", precond, n, device, i, z[i], expected[i]);
    mem_free(r);
}

static const struct problem problems[] = {
    {.generator = "poisson2d", .p = {10, 9}},
    {.generator = "poisson3d", .p = {4, 3, 5}},
    {.generator = "poisson2d", .p = {33, 1}},
    {.generator = "poisson2d", .p = {1, 1}},
    {.upwind = {11, 8}},
    DENSE(4, 4, -1, 0, 2, -1, 5, 1, 0, 0, 1, 3, -1, 2, 0, -1, 6),
    DENSE(3, 2, 1, 0, 0, -4, 1, 1, 0, 8),
};
enum { SYMMETRIC_ONES = 4 }; /* the first so many, and the last but one */

static bool definite(int i)
{
    return i < SYMMETRIC_ONES || i == COUNT(problems) - 2;
}

static void test_applied(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(problems); i++) {
        struct bed bed;
        bed_make(&bed, &problems[i]);
        for (int k = 0; k < 4; k++) {
            const char *device = devices[k & 1];
            enum type real = reals[k >> 1];
            check_applied(&bed, "jacobi", 0, device, real);
            check_applied(&bed, "bjacobi", 0, device, real);
            check_applied(&bed, "bjacobi", 3, device, real);
            check_applied(&bed, "bjacobi", 32, device, real);
            check_applied(&bed, "ilu0", 0, device, real);
            if (definite(i)) check_applied(&bed, "ic0", 0, device, real);
        }
        bed_free(&bed);
    }
}

/* Of a tridiagonal matrix there is no fill: M = A, and one step does. */
static void test_exact(void **state)
{
    (void)state;
    static const struct problem line = {.generator = "poisson2d", .p = {50, 1}};
    static const char *const names[] = {"ilu0", "ic0"};
    for (int i = 0; i < 4; i++) {
        struct bed bed;
        struct solve_options o = {.solver = solver_find("cg"), .real = T_F64, .tol = 1e-10, .maxit = 9};
        o.pre = precond_find(names[i & 1]);
        bed_make(&bed, &line);
        bed_solve(&bed, o, devices[i >> 1], 1e9);
        assert_int_equal(bed.s.solve->reason, CONVERGED);
        assert_int_equal(bed.s.solve->iterations, 1);
        bed_free(&bed);
    }
}

/* ---- levels and launches ---- */

static void check_levels(const struct problem *p, const char *device, int64_t levels)
{
    struct bed bed;
    struct err e = {0};
    bed_make(&bed, p);
    assert_true(begin(&bed, "ilu0", 0, device, T_F64, &e));
    assert_int_equal(bed.s.solve->pre_note[TRI_LEVELS_LOWER], levels);
    assert_int_equal(bed.s.solve->pre_note[TRI_LEVELS_UPPER], levels);
    bed_free(&bed);
}

static void test_levels(void **state)
{
    (void)state;
    check_levels(&(struct problem){.generator = "poisson2d", .p = {13, 9}}, "emu", 13 + 9 - 1);
    check_levels(&(struct problem){.generator = "poisson3d", .p = {5, 4, 3}}, "emu", 5 + 4 + 3 - 2);
    check_levels(&(struct problem){.generator = "poisson2d", .p = {40, 1}}, "emu", 40);
    check_levels(&(struct problem)DENSE(3, 1, 0, 0, 0, 2, 0, 0, 0, 3), "emu", 1);
    check_levels(&(struct problem){.generator = "poisson2d", .p = {13, 9}}, "cpu", 1);
}

static double *applied(struct bed *bed, const char *precond, const char *device, enum type real)
{
    struct err e = {0};
    if (!begin(bed, precond, 0, device, real, &e)) fail_msg("%s: %s", precond, e.text);
    double *r = random_vector(bed->s.solve->n), *z = mem_new(bed->s.solve->n, sizeof *z, "z", NULL);
    apply(bed->s.solve, r, z);
    mem_free(r);
    return z;
}

static void check_close(int64_t n, const double *a, const double *b, double eps)
{
    double size = 0;
    for (int64_t i = 0; i < n; i++) size = fmax(size, fabs(a[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= eps * size)) fail_msg("%lld: %.17g, not %.17g", (long long)i, b[i], a[i]);
}

/* Wide levels, narrow ones and both give what the host's plain loop gives. */
static void check_launches(struct bed *bed, const char *precond, enum type real)
{
    static const int narrow[] = {-1, 0, 7};
    double eps = real == T_F32 ? 1e-5 : 1e-13, *host = applied(bed, precond, "cpu", real);
    for (int k = 0; k < COUNT(narrow); k++) {
        staged_hook(narrow[k]);
        double *z = applied(bed, precond, "emu", real);
        check_close(bed->s.current->csr.rows, host, z, eps);
        mem_free(z);
    }
    staged_hook(-1);
    mem_free(host);
}

static void test_launches(void **state)
{
    (void)state;
    static const struct problem some[] = {
        {.generator = "poisson2d", .p = {47, 31}}, {.generator = "poisson3d", .p = {13, 12, 14}}, {.upwind = {14, 12}}};
    for (int i = 0; i < COUNT(some); i++) {
        struct bed bed;
        bed_make(&bed, &some[i]);
        for (int k = 0; k < COUNT(reals); k++) {
            check_launches(&bed, "ilu0", reals[k]);
            if (i < 2) check_launches(&bed, "ic0", reals[k]);
        }
        bed_free(&bed);
    }
}

/* Every row needs the one before it and, among others, rows far back; `reach` > 16 makes rows long. Symmetric,
 * dominant. */
static void make_comb(int n, int reach, struct csr *A)
{
    int *row = mem_new((int64_t)n * 2 * (reach + 2), sizeof *row, "rows", NULL), count = 0;
    int *col = mem_new((int64_t)n * 2 * (reach + 2), sizeof *col, "cols", NULL);
    double *val = mem_new((int64_t)n * 2 * (reach + 2), sizeof *val, "values", NULL);
    for (int i = 0; i < n; i++) {
        row[count] = col[count] = i;
        val[count++] = i ? 4 : 4 + n;
        for (int k = 0; k <= reach; k++) {
            int j = k == reach ? 0 : i - 1 - 3 * k; /* the last of them: the first row */
            if (j < 0 || (k == reach && i <= 3 * reach)) continue;
            row[count] = col[count + 1] = i;
            col[count] = row[count + 1] = j;
            val[count] = val[count + 1] = -1. / (1 + k);
            count += 2;
        }
    }
    assert_true(csr_from_triplets(A, n, n, count, row, col, val, NULL, NULL, NULL));
    mem_free(row);
    mem_free(col);
    mem_free(val);
}

/* Longer than the results that stay near; and rows that a warp takes. */
static void test_long_runs(void **state)
{
    (void)state;
    static const int combs[][2] = {{9000, 1}, {5000, 5}, {300, 30}};
    for (int i = 0; i < COUNT(combs); i++) {
        struct csr A;
        struct bed bed;
        make_comb(combs[i][0], combs[i][1], &A);
        bed_take(&bed, &A);
        double *host = applied(&bed, "ilu0", "cpu", T_F64), *z = applied(&bed, "ilu0", "emu", T_F64);
        check_close(combs[i][0], host, z, 1e-13);
        assert_int_equal(bed.s.solve->pre_note[TRI_LEVELS_LOWER], combs[i][0]);
        mem_free(host);
        mem_free(z);
        bed_free(&bed);
    }
}

/* Nothing is done once the solve is. */
static void test_guard(void **state)
{
    (void)state;
    for (int i = 0; preconds[i]; i++)
        for (int d = 0; d < COUNT(devices); d++) {
            struct bed bed;
            struct err e = {0};
            double done = CONVERGED, ones[6] = {1, 1, 1, 1, 1, 1}, z[6];
            bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {3, 2}});
            assert_true(begin(&bed, preconds[i]->name, 0, devices[d], T_F64, &e));
            struct solve *v = bed.s.solve;
            assert_true(v->dev->ops->put(v->dev, v->s + S_DONE, &done, sizeof done, &e));
            assert_true(solve_put(v, v->v[2], ones, &e) && solve_put(v, v->v[3], ones, &e));
            assert_true(v->pre->apply(v, v->v[2], v->v[3], &e) && v->dev->ops->sync(v->dev, &e));
            assert_true(solve_get(v, z, v->v[3], &e));
            for (int k = 0; k < 6; k++) assert_true(z[k] == 1);
            bed_free(&bed);
        }
}

/* ---- refusals ---- */

static const struct refusal {
    const char *precond;
    struct problem problem;
    const char *error;
    int64_t block;
    bool f32, usage;
} refusals[] = {
    {.precond = "ilu0", .problem = DENSE(2, 1, 1, 1, 1), .error = "ilu0: zero pivot in row 1 (counted from 0)"},
    {.precond = "ilu0",
     .problem = DENSE(3, 1, 1, 0, 1, 0, 2, 0, 1, 0),
     .error = "needs an entry on the diagonal of every row, and row 1 (counted from 0) has none; 2 such rows"},
    {.precond = "ilu0", .problem = DENSE(2, 1, 2, 3, NAN), .error = "the pivot of row 1 (counted from 0) is nan"},
    {.precond = "ilu0", .problem = DENSE(2, 1, NAN, 3, 4), .error = "the pivot of row 1 (counted from 0) is nan"},
    {.precond = "ilu0", .problem = DENSE(1, INFINITY), .error = "the pivot of row 0 (counted from 0) is inf"},
    {.precond = "ilu0", .problem = DENSE(1, 1e-60), .error = "is 1e-60, too small to divide by in fp32", .f32 = true},
    {.precond = "ic0", .problem = DENSE(1, 1e-90), .error = "too small to divide by in fp32", .f32 = true},
    {.precond = "ic0",
     .problem = DENSE(2, 1, 2, 2, 1),
     .error = "the pivot of row 1 (counted from 0) is -3, not positive, and adding up to"},
    {.precond = "ic0", .problem = DENSE(2, 1, 0, 0, -1), .error = "the pivot of row 1 (counted from 0) is -1"},
    {.precond = "ic0",
     .problem = DENSE(2, 4, 1, 0, 4),
     .error = "symmetric matrix: entry (0, 1), counted from 0, is 1 and (1, 0) is 0"},
    {.precond = "ic0",
     .problem = DENSE(2, 4, 0, 1, 4),
     .error = "symmetric matrix: entry (1, 0), counted from 0, is 1 and (0, 1) is 0"},
    {.precond = "ic0",
     .problem = DENSE(2, 4, 1, 2, 4),
     .error = "symmetric matrix: entry (1, 0), counted from 0, is 2 and (0, 1) is 1"},
    {.precond = "ic0", .problem = DENSE(3, 4, 1, 0, 0, 4, 1, 1, 0, 4), .error = "needs a symmetric matrix"},
    {.precond = "ic0",
     .problem = DENSE(2, 1, 0, 0, 0),
     .error = "needs an entry on the diagonal of every row, and row 1"},
    {.precond = "ic0", .problem = DENSE(2, NAN, 0, 0, 1), .error = "the pivot of row 0 (counted from 0) is nan"},
    {.precond = "bjacobi",
     .problem = DENSE(3, 1, 0, 0, 0, 1, 2, 0, 2, 4),
     .error = "rows 0 to 2 (counted from 0) is singular"},
    {.precond = "bjacobi", .problem = DENSE(2, 1, 2, 2, 0), .error = "rows 1 to 1", .block = 1},
    {.precond = "bjacobi", .problem = DENSE(3, 1, 0, 0, 0, .1, .3, 0, .2, .6), .error = "rows 0 to 2", .block = 3},
    {.precond = "bjacobi", .problem = DENSE(2, 1, NAN, 0, 1), .error = "rows 0 to 1 (counted from 0) is singular"},
    {.precond = "bjacobi",
     .problem = DENSE(1, 1e-60),
     .error = "rows 0 to 0 (counted from 0) is singular, or nearly so",
     .f32 = true},
    {.precond = "bjacobi",
     .problem = DENSE(1, 1),
     .error = "expected a block of 1 to 32 rows, found 33",
     .block = 33,
     .usage = true},
    {.precond = "bjacobi",
     .problem = DENSE(1, 1),
     .error = "expected a block of 1 to 32 rows, found -2",
     .block = -2,
     .usage = true},
};

static void test_refusals(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * COUNT(refusals); i++) {
        const struct refusal *k = &refusals[i / 2];
        struct bed bed;
        struct err e = {0};
        bed_make(&bed, &k->problem);
        if (begin(&bed, k->precond, k->block, devices[i % 2], k->f32 ? T_F32 : T_F64, &e))
            fail_msg("%s: not refused: %s", k->precond, k->error);
        if (!strstr(e.text, k->error)) fail_msg("%s: %s", k->error, e.text);
        assert_int_equal(e.code, k->usage ? E_USAGE : E_NUMERIC);
        bed_free(&bed);
    }
}

static const struct problem pivoted[] = {DENSE(2, 0, 2, 3, 0), DENSE(3, 0, 0, 4, 1, 0, 0, 0, 2, 1),
                                         DENSE(2, 1e-20, 0, 0, 1), DENSE(2, 1e9, 1, 1, 1)};

/* Blocks that need their rows exchanged, or whose rows differ in size without being singular. */
static void test_pivoted_blocks(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(pivoted); i++) {
        struct bed bed;
        bed_make(&bed, &pivoted[i]);
        check_applied(&bed, "bjacobi", 0, "emu", T_F64);
        bed_free(&bed);
    }
}

static const struct problem kershaw = DENSE(4, 3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3);

/* A positive definite matrix whose incomplete factor has a negative pivot (Kershaw 1978): the diagonal is made heavier.
 */
static void test_shift(void **state)
{
    (void)state;
    struct bed bed;
    struct err e = {0};
    bed_make(&bed, &kershaw);
    if (!begin(&bed, "ic0", 0, "cpu", T_F64, &e)) fail_msg("%s", e.text);
    assert_int_equal(bed.s.solve->pre_note[TRI_SHIFT], 300000);
    bed_free(&bed);
    bed_make(&bed, &problems[0]);
    assert_true(begin(&bed, "ic0", 0, "cpu", T_F64, &e));
    assert_int_equal(bed.s.solve->pre_note[TRI_SHIFT], 0);
    bed_free(&bed);
}

/* No rows: nothing to make, and nothing goes wrong. */
static void test_empty(void **state)
{
    (void)state;
    for (int i = 0; preconds[i]; i++) {
        struct bed bed;
        struct solve_options o = {.solver = solver_find("cg"), .real = T_F64, .tol = 1e-9, .maxit = 9};
        o.pre = preconds[i];
        bed_make(&bed, &(struct problem)DENSE(0, 0));
        bed_solve(&bed, o, "emu", 1e9);
        assert_int_equal(bed.s.solve->reason, CONVERGED);
        bed_free(&bed);
    }
}

/* ---- failures ---- */

static bool solve_some(struct bed *bed, const struct precond *pre, struct device *d, struct err *e)
{
    double b[20] = {1};
    struct solve_options o = {.solver = solver_find("cg"), .real = T_F32, .tol = 1e-3, .maxit = 50, .b = b};
    o.dev = d;
    o.pre = pre;
    bool ok = solve_begin(&bed->s.solve, &bed->s, bed->s.current, &o, e);
    while (ok && bed->s.solve->reason == RUNNING) ok = solve_slice(bed->s.solve, 1e9, e);
    return ok && solve_end(bed->s.solve, e);
}

static void test_failing_allocations(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        bool done = false;
        for (int64_t nth = 1; !done; nth++) {
            struct bed bed;
            struct err e = {0};
            bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {5, 4}});
            struct device *d = device_open(devices[i & 1], &e);
            mem_fail_at(nth);
            done = solve_some(&bed, preconds[i >> 1], d, &e);
            mem_fail_at(0);
            if (!done) assert_int_equal(e.code, E_MEMORY);
            bed_free(&bed);
        }
    }
}

static bool solve_on_fake(struct fake *f, const struct precond *pre, enum fake_call call, int64_t nth, struct err *e)
{
    struct bed bed;
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {5, 4}});
    f->fail_in[call] = nth;
    bool ok = solve_some(&bed, pre, &f->dev, e);
    f->fail_in[call] = 0;
    bed_free(&bed);
    assert_int_equal(f->nblocks, 0);
    return ok;
}

static void test_failing_device(void **state)
{
    (void)state;
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC};
    static struct fake f;
    struct err e = {0};
    if (!fake_open(&f, "fake", "emu", 1 << 20, &e)) fail_msg("%s", e.text);
    for (int p = 0; preconds[p]; p++)
        for (int i = 0; i < COUNT(calls); i++)
            for (int64_t nth = 1; !solve_on_fake(&f, preconds[p], calls[i], nth, &e); nth++) {
                assert_true(*e.text && (e.code == E_DEVICE || e.code == E_MEMORY));
                err_clear(&e);
            }
}

static bool never(struct watch *w, const char *what, int64_t done, int64_t total)
{
    (void)w, (void)done, (void)total;
    return strcmp(what, "ilu0") != 0 && strcmp(what, "ic0") != 0;
}

static void test_cancelled(void **state)
{
    (void)state;
    static const char *const names[] = {"ilu0", "ic0"};
    for (int i = 0; i < COUNT(names); i++) {
        struct bed bed;
        struct err e = {0};
        bed_make(&bed, &problems[0]);
        bed.s.watch.tick = never;
        assert_false(begin(&bed, names[i], 0, "cpu", T_F64, &e));
        assert_int_equal(e.code, E_CANCELLED);
        bed_free(&bed);
    }
}

/* ---- what they are for ---- */

static int64_t iterations(struct bed *bed, const char *solver, const struct precond *pre, const char *device)
{
    struct solve_options o = {.solver = solver_find(solver), .real = T_F64, .tol = 1e-8, .maxit = 2000, .m = 20};
    if (!o.solver->restarts) o.m = 0;
    o.pre = pre;
    bed_solve(bed, o, device, 1e5);
    const struct solve *v = bed->s.solve;
    if (v->reason != CONVERGED) fail_msg("%s with %s on %s: %s", solver, pre ? pre->name : "none", device, v->why);
    assert_true(v->residual_true <= 2e-8 && v->error_known < 1e-5);
    return v->iterations;
}

/* Fewer with a factorisation than without; the diagonal of these is constant, and does neither good nor harm. */
static void check_gain(const struct problem *p, bool symmetric, const char *device)
{
    static const char *const solvers_that[] = {"cg", "bicgstab", "qmrcgstab", "gmres"};
    struct bed bed;
    bed_make(&bed, p);
    for (int i = symmetric ? 0 : 1; i < COUNT(solvers_that); i++) {
        int64_t plain = iterations(&bed, solvers_that[i], NULL, device);
        for (int k = 0; preconds[k]; k++) {
            bool factored = preconds[k]->name[0] == 'i';
            if (!symmetric && !strcmp(preconds[k]->name, "ic0")) continue;
            int64_t with = iterations(&bed, solvers_that[i], preconds[k], device);
            if (!(factored ? with < 0.7 * (double)plain : with <= plain + plain / 4))
                fail_msg("%s on %s: %lld iterations with %s, %lld without", solvers_that[i], device, (long long)with,
                         preconds[k]->name, (long long)plain);
        }
    }
    bed_free(&bed);
}

static void test_gain(void **state)
{
    (void)state;
    static const struct problem grid = {.generator = "poisson2d", .p = {40, 40}}, wind = {.upwind = {14, 12}};
    for (int d = 0; d < COUNT(devices); d++) {
        check_gain(&grid, true, devices[d]);
        check_gain(&wind, false, devices[d]);
    }
}

/* ---- the collection ---- */

enum { ROWS_MOST = 2000, ROWS_EMULATED = 700 };

static int64_t longest(const struct csr *A)
{
    int64_t most = 0;
    for (int64_t i = 0; i < A->rows; i++) most = csr_row_length(A, i) > most ? csr_row_length(A, i) : most;
    return most;
}

/* Rows that a thread takes are summed as the host sums them: bit for bit. */
static void check_same(struct bed *bed, const char *precond, const char *name)
{
    struct err e = {0};
    const struct csr *A = &bed->s.current->csr;
    double *r = random_vector(A->rows), *host = mem_new(A->rows, sizeof *host, "z", NULL);
    double *emu = mem_new(A->rows, sizeof *emu, "z", NULL);
    apply(bed->s.solve, r, host);
    assert_true(begin(bed, precond, 0, "emu", T_F64, &e));
    apply(bed->s.solve, r, emu);
    if (longest(A) <= STAGED_LONG && memcmp(host, emu, (size_t)A->rows * sizeof *emu))
        fail_msg("%s of %s: cpu and emu differ", precond, name);
    mem_free(r);
    mem_free(host);
    mem_free(emu);
}

/* Returns how many were made. */
static int check_all(struct csr *A, const char *name)
{
    struct bed bed;
    int made = 0;
    bed_take(&bed, A);
    for (int i = 0; preconds[i]; i++) {
        struct err e = {0};
        if (begin(&bed, preconds[i]->name, 0, "cpu", T_F64, &e)) {
            made++;
            if (bed.s.current->csr.rows <= ROWS_EMULATED) check_same(&bed, preconds[i]->name, name);
        } else if (e.code != E_NUMERIC || !*e.text)
            fail_msg("%s of %s: %s", preconds[i]->name, name, e.text);
    }
    bed_free(&bed);
    return made;
}

static void test_collection(void **state)
{
    (void)state;
    const char *set = getenv("WARPSPY_MATRICES"), *folder = set ? set : "../shared/matrices";
    char path[1024], line[4096];
    struct load_info info;
    int matrices = 0, made = 0;
    snprintf(path, sizeof path, "%s/INDEX.tsv", folder);
    FILE *index = fopen(path, "r");
    if (!index) {
        print_message("skip the preconditioners on the collection: no %s\n", path);
        return;
    }
    for (bool heading = true; fgets(line, sizeof line, index); heading = false) {
        struct csr A;
        struct err e = {0};
        line[strcspn(line, "\t\n")] = 0;
        snprintf(path, sizeof path, "%s/%.200s.mtx.gz", folder, line);
        if (heading) continue;
        if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", path, e.text);
        if (A.imag || A.rows != A.cols || A.rows > ROWS_MOST)
            csr_free(&A);
        else
            made += check_all(&A, line), matrices++;
    }
    fclose(index);
    print_message("%d preconditioners made for %d matrices\n", made, matrices);
    assert_true(made > matrices);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applied),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_long_runs),
        cmocka_unit_test(test_guard),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_pivoted_blocks),
        cmocka_unit_test(test_shift),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_failing_device),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_gain),
        cmocka_unit_test(test_collection),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
