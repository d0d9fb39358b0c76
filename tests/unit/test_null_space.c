/* Null spaces: found by row sums, given, and projected out of solves. The x of a Neumann Laplacian on a grid is known
   in closed form: its eigenvectors are products of cosines. */
#include "base/mem.h"
#include "base/precision.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/null_space.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <unistd.h>

static const char *const devices[] = {"cpu", "emu"};

/* ---- matrices ---- */

/* The Laplacian of a grid of n x m points without boundary values: row sums are 0. Row i is divided by scale[i], if it
   is not NULL. */
static void neumann(struct csr *A, int n, int m, const double *scale)
{
    int *row = mem_new(5 * n * m, sizeof *row, "t", NULL), *col = mem_new(5 * n * m, sizeof *col, "t", NULL), at = 0;
    double *val = mem_new(5 * n * m, sizeof *val, "t", NULL);
    static const int step[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    struct err e = {0};
    for (int i = 0; i < n * m; i++) {
        int x = i % n, y = i / n, near = 0;
        double by = scale ? scale[i] : 1;
        for (int k = 0; k < 4; k++) {
            int p = x + step[k][0], q = y + step[k][1];
            if (p < 0 || q < 0 || p >= n || q >= m) continue;
            near++;
            row[at] = i, col[at] = q * n + p, val[at++] = -1 / by;
        }
        row[at] = col[at] = i, val[at++] = near / by;
    }
    if (!csr_from_triplets(A, n * m, n * m, at, row, col, val, NULL, NULL, &e)) fail_msg("%s", e.text);
    mem_free(row);
    mem_free(col);
    mem_free(val);
}

/* The solution of least norm, and *mean the mean of b: the sum of (v'b / lambda) v over the eigenvectors v whose
   lambda is not 0. */
static void solve_neumann(int n, int m, const double *b, double *x, double *mean)
{
    for (int i = 0; i < n * m; i++) x[i] = 0;
    *mean = 0;
    for (int i = 0; i < n * m; i++) *mean += b[i] / (n * m);
    for (int p = 0; p < n; p++)
        for (int q = 0; q < m; q++) {
            double lambda = 4 - 2 * cos(M_PI * p / n) - 2 * cos(M_PI * q / m), dot = 0, size = 0;
            for (int i = 0; p + q && i < n * m; i++) {
                double v = cos(M_PI * p * (i % n + .5) / n) * cos(M_PI * q * (i / n + .5) / m);
                dot += v * b[i];
                size += v * v;
            }
            for (int i = 0; p + q && i < n * m; i++)
                x[i] += dot / size / lambda * cos(M_PI * p * (i % n + .5) / n) * cos(M_PI * q * (i / n + .5) / m);
        }
}

/* ---- finding ---- */

/* The dense matrix a[n * n], without its zeros except those on the diagonal. */
static void from_dense(struct csr *A, int n, const double *a)
{
    int row[64], col[64], at = 0;
    double val[64];
    struct err e = {0};
    for (int i = 0; i < n * n; i++)
        if (a[i] != 0) row[at] = i / n, col[at] = i % n, val[at++] = a[i];
    assert_true(csr_from_triplets(A, n, n, at, row, col, val, NULL, NULL, &e));
}

static const struct found {
    const char *name;
    int n;
    double a[36];
    int count;
    bool symmetric, has_left;
    int of[6];
    double left[6]; /* times any factor per component */
} found[] = {
    {"path", 3, {1, -1, 0, -1, 2, -1, 0, -1, 1}, 1, true, false, {0, 0, 0}, {0}},
    {"two paths", 4, {1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 2, -2, 0, 0, -2, 2}, 2, true, false, {0, 0, 1, 1}, {0}},
    {"interleaved", 4, {1, 0, -1, 0, 0, 1, 0, -1, -1, 0, 1, 0, 0, -1, 0, 1}, 2, true, false, {0, 1, 0, 1}, {0}},
    {"one of two", 4, {1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 2, -1, 0, 0, -1, 2}, 1, true, false, {0, 0, -1, -1}, {0}},
    {"regular", 2, {2, -1, -1, 2}, 0, true, false, {0}, {0}},
    {"empty row and column", 3, {1, -1, 0, -1, 1, 0, 0, 0, 0}, 2, true, false, {0, 0, 1}, {0}},
    {"only an empty row and column", 3, {0, 0, 0, 0, 2, -1, 0, -1, 2}, 1, true, false, {0, -1, -1}, {0}},
    {"empty row, not symmetric", 3, {2, 1, 0, 0, 2, 0, 0, 0, 0}, 1, false, true, {-1, -1, 0}, {0, 0, 1}},
    {"empty row whose column is not", 2, {1, -2, 0, 0}, 0, true, false, {0}, {0}},
    {"row of a sum of 0, the others not", 3, {1, -1, 0, -1, 2, -1, 0, -1, 2}, 0, true, false, {0}, {0}},
    {"rows divided by 1, 2, 4", 3, {1, -1, 0, -.5, 1, -.5, 0, -.25, .25}, 1, false, true, {0, 0, 0}, {1, 2, 4}},
    {"a cycle one way", 3, {1, -1, 0, 0, 1, -1, -1, 0, 1}, 1, false, false, {0, 0, 0}, {0}},
    {"upwind, not symmetrisable", 3, {3, -2, -1, -1, 3, -2, -2, -2, 4}, 1, false, false, {0, 0, 0}, {0}},
    {"inexact sums", 2, {.3, -.1 - .2, -.1 - .2, .3}, 1, true, false, {0, 0}, {0}},
};

/* The rows without entries in them and in their columns. */
static int rows_alone(const struct found *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        bool empty = true;
        for (int j = 0; j < f->n; j++) empty = empty && f->a[i * f->n + j] == 0 && f->a[j * f->n + i] == 0;
        n += empty;
    }
    return n;
}

static void check_found(const struct found *f)
{
    struct csr A;
    struct null_space s;
    struct err e = {0};
    int64_t count, alone;
    from_dense(&A, f->n, f->a);
    assert_true(null_constants_count(&A, &count, &alone, &e) && null_constants(&s, &A, f->symmetric, &e));
    if (count != f->count || s.right.count != f->count) fail_msg("%s: %d of %d", f->name, (int)count, f->count);
    assert_true(alone == rows_alone(f) && s.alone == (count ? alone : 0));
    double size[6] = {0}, left[6] = {0};
    for (int i = 0; count && i < f->n; i++) assert_int_equal(s.right.of[i], f->of[i]);
    for (int i = 0; count && i < f->n; i++)
        if (f->of[i] >= 0) size[f->of[i]]++, left[f->of[i]] += f->left[i] * f->left[i];
    for (int i = 0; count && i < f->n; i++)
        if (f->of[i] >= 0) assert_true(fabs(s.right.value[i] - 1 / sqrt(size[f->of[i]])) < 1e-15);
    if (s.has_left != f->has_left) fail_msg("%s: left", f->name);
    for (int i = 0; f->has_left && i < f->n; i++)
        assert_true(fabs(s.left.value[i] - (f->of[i] < 0 ? 0 : f->left[i] / sqrt(left[f->of[i]]))) < 1e-14);
    null_space_free(&s);
    csr_free(&A);
}

TEST(test_found)
{
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) check_found(&found[i]);
}

TEST(test_projection)
{
    struct csr A;
    struct null_space s;
    struct err e = {0};
    double x[] = {3, 5, 10, 4}, part;
    from_dense(&A, 4, found[2].a);
    assert_true(null_constants(&s, &A, true, &e) && null_basis_project(&s.right, x, &part, &e));
    /* rows 0 and 2, with mean 6.5; rows 1 and 3, with mean 4.5 */
    static const double rest[] = {-3.5, .5, 3.5, -.5};
    for (int i = 0; i < 4; i++) assert_true(fabs(x[i] - rest[i]) < 1e-14);
    assert_true(fabs(part - sqrt(2 * 6.5 * 6.5 + 2 * 4.5 * 4.5)) < 1e-13);
    null_space_free(&s);
    csr_free(&A);
}

TEST(test_given)
{
    struct csr A;
    struct null_space s;
    struct err e = {0};
    from_dense(&A, 4, found[1].a);
    assert_true(null_given(&s, &A, true, (const double[]){1, 1, 3, 3, 1, 1, -1, -1}, 2, "N", &e));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double dot = 0;
            for (int k = 0; k < 4; k++) dot += s.right.full[4 * i + k] * s.right.full[4 * j + k];
            assert_true(fabs(dot - (i == j)) < 1e-15);
        }
    assert_true(s.same);
    null_space_free(&s);
    assert_false(null_given(&s, &A, true, (const double[]){1, 1, 0, 0, 1, 2, 0, 0}, 2, "N", &e));
    assert_non_null(strstr(e.text, "column 1 of N is not in the null space"));
    e = (struct err){0};
    assert_false(null_given(&s, &A, true, (const double[]){1, 1, 2, 2, 2, 2, 4, 4}, 2, "N", &e));
    assert_non_null(strstr(e.text, "depends on the columns before it"));
    csr_free(&A);
}

/* ---- solves ---- */

enum { WIDE = 9, HIGH = 7, ROWS = WIDE * HIGH };

static const struct method {
    const char *solver, *pre;
    enum precision real;
    bool refine;
} methods[] = {
    {"cg", NULL, P_F64, false},       {"cg", "jacobi", P_F64, false},
    {"cg", "ic0", P_F64, false},      {"cg", "amg", P_F64, false},
    {"minres", NULL, P_F64, false},   {"minres", "jacobi", P_F64, false},
    {"gmres", NULL, P_F64, false},    {"gmres", "ilu0", P_F64, false},
    {"gmres", "amg", P_F64, false},   {"fgmres", NULL, P_F64, false},
    {"fgmres", "ilu0", P_F64, false}, {"fgmres", "amg", P_F64, false},
    {"bicgstab", NULL, P_F64, false}, {"qmrcgstab", "bjacobi", P_F64, false},
    {"gs", NULL, P_F64, false},       {"cg", NULL, P_F32, false},
    {"cg", NULL, P_F32, true},        {"minres", NULL, P_F32, true},
};

static void random_b(double *b)
{
    uint64_t state = 5;
    for (int i = 0; i < ROWS; i++) b[i] = random_unit(&state);
}

/* b has a mean, so that no x solves A x = b; x must be the solution for the rest, of least norm. */
static void check_solve(struct bed *bed, const struct method *m, const char *device)
{
    double b[ROWS], x[ROWS], mean, norm = 0, error = 0, size = 0;
    random_b(b);
    solve_neumann(WIDE, HIGH, b, x, &mean);
    struct solve_options o = {.solver = solver_find(m->solver), .real = m->real, .maxit = 5000, .b = b};
    o.tol = m->real == P_F32 && !m->refine ? 1e-5 : 1e-10;
    o.refine = m->refine;
    o.stored = P_F32;
    o.pre = m->pre ? precond_find(m->pre) : NULL;
    bed_solve(bed, o, device, 1e5);
    const struct solve *v = bed->s.solve;
    if (v->reason != CONVERGED) fail_msg("%s %s on %s: %s", m->solver, m->pre ? m->pre : "", device, v->why);
    for (int i = 0; i < ROWS; i++) {
        norm += b[i] * b[i];
        error += (v->result.x[i] - x[i]) * (v->result.x[i] - x[i]);
        size += x[i] * x[i];
    }
    double most = m->real == P_F32 && !m->refine ? 1e-3 : 1e-8;
    if (!(sqrt(error / size) < most)) fail_msg("%s on %s: error %.1e", m->solver, device, sqrt(error / size));
    assert_true(fabs(v->null.share - fabs(mean) * sqrt(ROWS / norm)) < 1e-14);
}

TEST(test_solves)
{
    struct csr A;
    struct bed bed;
    neumann(&A, WIDE, HIGH, NULL);
    bed_take(&bed, &A);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        for (int d = 0; d < 2; d++) check_solve(&bed, &methods[i], devices[d]);
    bed_free(&bed);
}

/* D^-1 A x = D^-1 b: the part of D^-1 b in the null space of (D^-1 A)' = A D^-1, which D * ones spans, is measured; if
   b has no mean, x is that of A x = b. */
TEST(test_scaled_rows)
{
    double b[ROWS], c[ROWS], x[ROWS], scale[ROWS], mean;
    uint64_t seed = 8;
    struct csr A;
    struct bed bed;
    random_b(b);
    solve_neumann(WIDE, HIGH, b, x, &mean);
    for (int i = 0; i < ROWS; i++) scale[i] = 2 + random_unit(&seed), c[i] = (b[i] - mean) / scale[i];
    neumann(&A, WIDE, HIGH, scale);
    bed_take(&bed, &A);
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 2; k++) {
            struct solve_options o = {.real = P_F64, .maxit = 5000, .tol = 1e-11, .b = c};
            o.solver = solver_find(k ? "bicgstab" : "gmres");
            o.pre = k ? precond_find("ilu0") : NULL;
            bed_solve(&bed, o, devices[d], 1e5);
            const struct solve *v = bed.s.solve;
            assert_int_equal(v->reason, CONVERGED);
            assert_true(v->null.of.has_left && v->null.share < 1e-14);
            for (int i = 0; i < ROWS; i++) assert_true(fabs(v->result.x[i] - x[i]) < 1e-7);
        }
    bed_free(&bed);
}

/* ---- lines ---- */

static void write_neumann(const char *path, int n, int m)
{
    struct csr A;
    neumann(&A, n, m, NULL);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n * m, n * m, (int)A.nnz);
    for (int64_t i = 0; i < A.rows; i++)
        for (int k = A.rowptr[i]; k < A.rowptr[i + 1]; k++)
            fprintf(f, "%d %d %.17g\n", (int)i + 1, A.col[k] + 1, A.val[k]);
    fclose(f);
    csr_free(&A);
}

static const struct line {
    const char *line, *part;
} lines[] = {
    {"solve cg b random on cpu", "1 vector: constants, projected out of b, the residuals and x"},
    {"solve cg b random on cpu", "in the null space: no x solves it; the solve is for the rest"},
    {"solve cg b random on cpu nullspace constant", "converged      yes"},
    {"solve cg b random on cpu nullspace none", "converged      no"},
    {"solve cg b ones on cpu", "b lies in the null space, and the x for the rest of it is 0"},
    {"solve cg on cpu", "varied, without its part in the null space of A"},
    {"solve cg b random on cpu scaled", "converged      yes"},
    {"solve cg b random on emu reorder rcm", "converged        yes"},
    {"solve cg b random on cpu nullspace ones.mtx", "1 vector, projected out of b, the residuals and x"},
    {"solve cg b random on cpu nullspace wrong.mtx", "column 0 of wrong.mtx is not in the null space"},
    {"solve cg b random on cpu nullspace N.mtx", "a null space of N needs 63 rows and 1 to 16 columns"},
    {"solve direct nullspace none", "iterat"},
    {"check", "cg: constants, which A maps to 0, are projected out"},
    {"solve b random", "no x solves it; the solve is for the rest\nconverged"},
    {"gen poisson2d 5", ""},
    {"solve cg poisson2d nullspace constant", "does not map constants to 0"},
};

static void write_ones(const char *path, int first)
{
    FILE *f = fopen(path, "w");
    fprintf(f, "%%%%MatrixMarket matrix array real general\n%d 1\n%d\n", ROWS, first);
    for (int i = 1; i < ROWS; i++) fprintf(f, "1\n");
    fclose(f);
}

TEST(test_lines)
{
    char folder[] = "/tmp/warpspy-null-XXXXXX", before[4096];
    struct talk t;
    assert_true(getcwd(before, sizeof before) && mkdtemp(folder) && !chdir(folder));
    write_neumann("N.mtx", WIDE, HIGH);
    write_ones("ones.mtx", 1);
    write_ones("wrong.mtx", 2);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load N.mtx"));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        talk_forget(&t);
        talk_line(&t, lines[i].line);
        if (!strstr(t.out, lines[i].part) && !strstr(t.err, lines[i].part))
            fail_msg("%s: %s%s", lines[i].line, t.out, t.err);
    }
    talk_close(&t);
    assert_true(!unlink("N.mtx") && !unlink("ones.mtx") && !unlink("wrong.mtx") && !chdir(before) && !rmdir(folder));
}

/* A solve in steps goes back, changes its preconditioner and continues with the null space projected out. */
TEST(test_steps)
{
    char folder[] = "/tmp/warpspy-null-XXXXXX", path[64], line[80];
    struct talk t;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/N.mtx", folder);
    write_neumann(path, 30, 20);
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s", path);
    assert_true(talk_line(&t, line));
    for (int d = 0; d < 2; d++) {
        snprintf(line, sizeof line, "solve cg b random step on %s", devices[d]);
        assert_true(talk_line(&t, line) && talk_line(&t, "step 20") && talk_line(&t, "back 5"));
        assert_true(talk_line(&t, "change precond jacobi"));
        talk_says(&t, "continue", "converged       yes");
        assert_true(talk_line(&t, "change tol 1e-11"));
        talk_says(&t, "continue", "projected out of b, the residuals and x");
        assert_int_equal(t.s.solve->reason, CONVERGED);
        double sum = 0, most = 0;
        for (int i = 0; i < 600; i++) sum += t.s.solve->result.x[i], most = fmax(most, fabs(t.s.solve->result.x[i]));
        assert_true(fabs(sum) < 1e-11 * most);
    }
    talk_close(&t);
    assert_true(!unlink(path) && !rmdir(folder));
}
