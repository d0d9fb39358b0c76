/* Saddle points: their rows are found wherever they are, and `precond schur` is what its definition says: M^-1 r was
   computed by numpy with dense matrices, and with exact blocks minres needs three iterations and gmres two (Murphy,
   Golub and Wathen 2000). */
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "kits/dev_fake.h"
#include "kits/mtx_kit.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/facts.h"
#include "matrix/saddle.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solve_state.h"
#include "solvers/solver.h"

#include <math.h>
#include <string.h>

/* [F B'; B 0], [F G; B 0] and [-F B'; B 0] in the order 5 0 1 6 2 3 7 4: F = tridiag(-1, 2, -1) of 5 rows, and the rows
   of B are e0 + e2, e1 - e4 and e3 */
#define SYMMETRIC                                                                                                      \
    DENSE(8, 0, 1, 0, 0, 1, 0, 0, 0, 1, 2, -1, 0, 0, 0, 0, 0, 0, -1, 2, 1, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 1, 0, \
          -1, 0, 2, -1, 0, 0, 0, 0, 0, 0, -1, 2, 1, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, -1, 0, 2)
#define GENERAL                                                                                                       \
    DENSE(8, 0, 1, 0, 0, 1, 0, 0, 0, 2, 2, -0.5, 0, 0, 0, 0, 0, 0, -1, 2, 1, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 1, \
          0, -1, 0, 2, -1, 1, 0, 0, 0, 0, 0, -2, 2, 1, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, -1, 0, 2)
#define NEGATIVE                                                                                                      \
    DENSE(8, 0, 1, 0, 0, 1, 0, 0, 0, 1, -2, 1, 0, 0, 0, 0, 0, 0, 1, -2, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 1, 0, \
          1, 0, -2, 1, 0, 0, 0, 0, 0, 0, 1, -2, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 1, 0, -2)
/* [F B'; B -C] in the same order, with C = [1 -0.5 0; -0.5 2 0; 0 0 4], and its negative */
#define SIGNS                                                                                                        \
    DENSE(8, -1, 1, 0, .5, 1, 0, 0, 0, 1, 2, -1, 0, 0, 0, 0, 0, 0, -1, 2, 1, -1, 0, 0, 0, .5, 0, 1, -2, 0, 0, 0, -1, \
          1, 0, -1, 0, 2, -1, 0, 0, 0, 0, 0, 0, -1, 2, 1, -1, 0, 0, 0, 0, 0, 1, -4, 0, 0, 0, 0, -1, 0, -1, 0, 2)
#define OTHER_SIGNS                                                                                                  \
    DENSE(8, 1, -1, 0, -.5, -1, 0, 0, 0, -1, -2, 1, 0, 0, 0, 0, 0, 0, 1, -2, -1, 1, 0, 0, 0, -.5, 0, -1, 2, 0, 0, 0, \
          1, -1, 0, 1, 0, -2, 1, 0, 0, 0, 0, 0, 0, 1, -2, -1, 1, 0, 0, 0, 0, 0, -1, 4, 0, 0, 0, 0, 1, 0, 1, 0, -2)

static const char *const devices[] = {"cpu", "emu"};

/* ---- M^-1 r ---- */

static const struct applied {
    struct problem of;
    const char *solver, *inner, *complement;
    double z[8];
} cases[] = {
    {SYMMETRIC, "minres", "jacobi", "jacobi", {1, -1, 1.5, -4, 2.5, -3, 14, -4}},
    {SYMMETRIC, "minres", "amg", "amg", {1, -0.5, 1, -4, -0.5, -7, 14, -7.5}},
    {SYMMETRIC, "gmres", "jacobi", "jacobi", {-1, -0.5, -0.5, 4, 3, 4, -14, -2}},
    {SYMMETRIC, "fgmres", "jacobi", "jacobi", {-1, -0.5, -0.5, 4, 3, 4, -14, -2}},
    {NEGATIVE, "gmres", "amg", "amg", {1, 4.5, 6, -4, 14.5, 27, 14, 19.5}},
    {NEGATIVE, "gmres", "amg", "ic0", {1, 4.5, 6, -4, 14.5, 27, 14, 19.5}},
    {NEGATIVE, "minres", "jacobi", "amg", {1, -1, 1.5, -4, 2.5, -3, 14, -4}},
    {SIGNS, "minres", "jacobi", "jacobi", {.5, -1, 1.5, -4 / 3., 2.5, -3, 14 / 9., -4}},
    {SIGNS,
     "minres",
     "amg",
     "amg",
     {0.17391304347826086, -0.5, 1, -1.3043478260869565, -0.5, -7, 1.5555555555555556, -7.5}},
    {SIGNS,
     "gmres",
     "amg",
     "amg",
     {-0.17391304347826086, -0.40177133655394603, 1.0225442834138472, 1.3043478260869565, 0.7512077294685969,
      -4.694041867954914, -1.5555555555555556, -5.694847020933978}},
    {OTHER_SIGNS,
     "gmres",
     "amg",
     "amg",
     {0.17391304347826086, 0.40177133655394603, -1.0225442834138472, -1.3043478260869565, -0.7512077294685969,
      4.694041867954914, 1.5555555555555556, 5.694847020933978}},
    {GENERAL,
     "bicgstab",
     "jacobi",
     "jacobi",
     {-0.66666666666666674, -0.33333333333333331, -0.5, 4, 9.8333333333333339, 4, -14, -2}},
};

static bool begin(struct bed *bed, const struct applied *k, const struct precond *pre, const char *device,
                  struct device *d, struct err *e)
{
    static const double b[8] = {1, -2, 3, -4, 5, -6, 7, -8};
    struct solve_options o = {.solver = solver_find(k->solver), .pre = pre, .real = P_F64, .b = b, .tol = 1e-9};
    o.maxit = 50;
    o.dev = d ? d : device_open(device, e);
    o.schur = (struct schur_settings){precond_find(k->inner), precond_find(k->complement), NULL};
    solve_free(bed->s.solve);
    bed->s.solve = NULL;
    return session_solve(&bed->s.solve, &bed->s, bed->s.current, &o, e);
}

TEST(schur_is_as_defined)
{
    static const double r[8] = {1, -2, 3, -4, 5, -6, 7, -8};
    for (int i = 0; i < 2 * COUNT(cases); i++) {
        const struct applied *k = &cases[i / 2];
        struct bed bed;
        struct err e = {0};
        double z[8];
        bed_make(&bed, &k->of);
        if (!begin(&bed, k, precond_find("schur"), devices[i % 2], NULL, &e)) fail_msg("case %d: %s", i / 2, e.text);
        bed_apply(bed.s.solve, r, z);
        for (int j = 0; j < 8; j++)
            if (!(fabs(z[j] - k->z[j]) <= 1e-12 * (1 + fabs(k->z[j]))))
                fail_msg("case %d on %s: z[%d] is %.17g, not %.17g", i / 2, devices[i % 2], j, z[j], k->z[j]);
        bed_free(&bed);
    }
}

/* Nothing is written after the solve is done. */
TEST(schur_obeys_the_end)
{
    for (int d = 0; d < COUNT(devices); d++) {
        struct bed bed;
        struct err e = {0};
        double done = CONVERGED, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, z[8];
        bed_make(&bed, &cases[0].of);
        assert_true(begin(&bed, &cases[0], precond_find("schur"), devices[d], NULL, &e));
        struct solve *v = bed.s.solve;
        assert_true(v->dev->ops->put(v->dev, v->scalars + S_DONE, &done, sizeof done, &e));
        assert_true(solve_put(v, v->vec[2], ones, &e) && solve_put(v, v->vec[3], ones, &e));
        assert_true(v->pre.method->apply(v, v->vec[2], v->vec[3], &e) && v->dev->ops->sync(v->dev, &e));
        assert_true(solve_get(v, z, v->vec[3], &e));
        for (int k = 0; k < 8; k++) assert_true(z[k] == 1);
        bed_free(&bed);
    }
}

/* ---- iterations ---- */

static struct talk t;

static int64_t iterations_of(const char *line)
{
    if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
    if (t.s.solve->reason != CONVERGED) fail_msg("%s: %s", line, t.s.solve->why);
    assert_true(t.s.solve->result.residual_true <= 2e-8);
    return t.s.solve->iterations;
}

/* `load` of a matrix that is given as text. */
static void load(const char *name, const char *text)
{
    char line[300], file[40];
    snprintf(file, sizeof file, "%s.mtx", name);
    snprintf(line, sizeof line, "load %s as %s", write_file(file, text, strlen(text)), name);
    if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
}

/* The lower triangle of [F B'; B 0] for F = diag(1, .., n) and m rows of B of two entries each. place(i): the row of
   row i. */
static void load_diagonal_kkt(const char *name, int n, int m, int step)
{
    static char text[20000];
    int size = n + m,
        used = snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", size, size,
                        n + 2 * m);
    for (int i = 0; i < n; i++) {
        int row = i * step % size + 1;
        used += snprintf(text + used, sizeof text - (size_t)used, "%d %d %d\n", row, row, i + 1);
    }
    for (int i = 0; i < m; i++)
        for (int k = 0; k < 2; k++) {
            int row = (n + i) * step % size + 1, col = (2 * i + k) * step % size + 1;
            used += snprintf(text + used, sizeof text - (size_t)used, "%d %d %d\n", row > col ? row : col,
                             row > col ? col : row, k ? -2 : 3 + i % 4);
        }
    load(name, text);
}

/* jacobi is F, and amg inverts the Schur complement of 40 rows, or jacobi does, because it is diagonal. */
TEST(exact_blocks_need_three_iterations)
{
    char line[200];
    talk_open(&t, OUT_TEXT);
    load_diagonal_kkt("K", 101, 40, 1);
    load_diagonal_kkt("L", 101, 40, 25); /* 25 and 141 have no common factor */
    for (int i = 0; i < 8; i++) {
        const char *matrix = i & 1 ? "L" : "K", *device = devices[i >> 1 & 1], *method = i & 4 ? "amg" : "jacobi";
        snprintf(line, sizeof line, "solve minres %s precond schur inner jacobi complement %s b random on %s", matrix,
                 method, device);
        assert_int_equal(iterations_of(line), 3);
        snprintf(line, sizeof line, "solve gmres %s precond schur inner jacobi complement %s b random on %s", matrix,
                 method, device);
        assert_int_equal(iterations_of(line), 2);
        snprintf(line, sizeof line, "solve fgmres %s precond schur b random on %s", matrix, device);
        assert_int_equal(iterations_of(line), 2);
    }
    assert_true(iterations_of("solve minres K b random on cpu") > 50);
    talk_close(&t);
}

/* The Schur complement of the matrix SYMMETRIC, exactly: B F^-1 B' is this / 6. With it, or with twice of it, M has as
   few eigenvalues. */
TEST(a_mass_matrix_replaces_the_complement)
{
    static const char mass[] = "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 3.3333333333333335\n"
                               "2 1 1\n3 1 1.3333333333333333\n2 2 1.5\n3 3 1.3333333333333333\n";
    static const char small[] = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 1\n";
    static const char text[] =
        "%%MatrixMarket matrix coordinate real symmetric\n8 8 14\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n4 3 -1\n4 4 2\n"
        "5 4 -1\n5 5 2\n6 1 1\n6 3 1\n7 2 1\n7 5 -1\n8 4 1\n";
    char line[400], path[200];
    talk_open(&t, OUT_TEXT);
    load("K", text);
    snprintf(path, sizeof path, "%s", write_file("mass.mtx", mass, sizeof mass - 1));
    snprintf(line, sizeof line, "solve minres K precond schur inner amg mass %s b random tol 1e-9 on cpu", path);
    assert_int_equal(iterations_of(line), 3);
    snprintf(line, sizeof line, "solve gmres K precond schur inner amg mass %s b random tol 1e-9 on emu", path);
    assert_int_equal(iterations_of(line), 2);
    assert_true(iterations_of("solve minres K precond schur inner amg b random tol 1e-9 on cpu") > 3);
    snprintf(line, sizeof line, "solve minres K precond schur mass %s",
             write_file("small.mtx", small, sizeof small - 1));
    talk_refuses(&t, line, "the mass matrix is 2 x 2, but 3 rows have a zero diagonal");
    snprintf(line, sizeof line, "solve minres K precond schur mass %s scaled", path);
    talk_refuses(&t, line, "`mass` belongs to the matrix as it is; leave out `scaled` or `reorder`");
    snprintf(line, sizeof line, "solve minres K precond schur inner jacobi mass %s b random step on cpu", path);
    assert_true(talk_line(&t, line) && talk_line(&t, "step 2; change precond schur inner amg; continue"));
    assert_int_equal(t.s.solve->reason, CONVERGED);
    assert_true(t.s.solve->iterations <= 2 + 3);
    assert_non_null(strstr(t.out, "for the mass matrix"));
    talk_close(&t);
}

/* A step back and forth gives the same numbers, bit for bit. */
TEST(schur_goes_back)
{
    static const char *const solver[] = {"minres", "gmres", "fgmres", "bicgstab"};
    char line[200];
    for (int i = 0; i < 2 * COUNT(solver); i++) {
        double x[141];
        talk_open(&t, OUT_TEXT);
        load_diagonal_kkt("K", 101, 40, 25);
        snprintf(line, sizeof line, "solve %s K precond schur inner ilu0 complement bjacobi b random tol 0 on %s step",
                 solver[i / 2], devices[i % 2]);
        assert_true(talk_line(&t, line));
        if (!talk_line(&t, "step 2")) fail_msg("%s: %s", line, t.err);
        double residual = t.s.solve->residual;
        assert_true(solve_read_x(t.s.solve, x, NULL) || t.s.solve->solver->restarts);
        assert_true(talk_line(&t, "back 2; step 2"));
        assert_true(t.s.solve->residual == residual);
        talk_close(&t);
    }
}

/* A pressure that nothing determines: b = A x has 0 there, and x stays 0. */
TEST(an_empty_row_does_no_harm)
{
    static const char text[] =
        "%%MatrixMarket matrix coordinate real symmetric\n7 7 10\n1 1 2\n2 2 3\n3 3 4\n4 4 5\n5 1 1\n5 2 1\n5 3 -1\n"
        "5 4 2\n6 2 1\n6 4 -1\n";
    talk_open(&t, OUT_TEXT);
    load("E", text);
    for (int i = 0; i < 4; i++) {
        char line[100];
        snprintf(line, sizeof line, "solve %s E b aones precond schur on %s", i & 1 ? "gmres" : "minres",
                 devices[i >> 1]);
        assert_true(iterations_of(line) <= 3);
        assert_true(t.s.solve->result.x[6] == 0 && fabs(t.s.solve->result.x[4] - 1) < 1e-8);
        /* no x solves the equation of the empty row, so the solve is for the others */
        snprintf(line, sizeof line, "solve %s E b ones precond schur on %s", i & 1 ? "gmres" : "minres",
                 devices[i >> 1]);
        talk_forget(&t);
        assert_true(iterations_of(line) <= 3);
        assert_true(t.s.solve->result.x[6] == 0 && fabs(t.s.solve->null.share - 1 / sqrt(7)) < 1e-15);
        assert_non_null(strstr(t.out, "1 vector: of a row without entries, projected out of b"));
        assert_non_null(strstr(t.out, "has a part of 3.8e-01 in the null space: no x solves it"));
    }
    talk_close(&t);
}

TEST(schur_races)
{
    talk_open(&t, OUT_TEXT);
    load_diagonal_kkt("K", 101, 40, 25);
    talk_says(&t, "race minres gmres bicgstab K precond schur inner jacobi complement amg on cpu", "minres");
    assert_null(strstr(t.out, "refused"));
    talk_close(&t);
}

/* ---- refusals ---- */

TEST(schur_is_refused)
{
    static const struct {
        const char *matrix, *line, *part;
    } refusals[] = {
        {"gen poisson2d 5", "solve minres precond schur", "with both signs on the diagonal; use ilu0 or amg"},
        {"let Z = 0*I + P - P", "solve minres precond schur b random",
         "9 rows without a nonzero entry, so the matrix is singular"},
        {"gen poisson2d 5", "solve minres precond amg inner ic0", "are for a preconditioner for saddle points"},
        {"gen poisson2d 5", "solve minres precond schur inner schur", "a block needs another preconditioner"},
        {"gen poisson2d 5", "solve minres precond schur inner ilut", "needs a symmetric preconditioner, but ilut"},
    };
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 3 as P"));
    for (int i = 0; i < COUNT(refusals); i++) {
        if (!talk_line(&t, refusals[i].matrix)) fail_msg("%s: %s", refusals[i].matrix, t.err);
        talk_refuses(&t, refusals[i].line, refusals[i].part);
    }
    load("S", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 1\n");
    talk_refuses(&t, "solve cg S precond schur", "cg needs a definite matrix, but schur is for saddle points");
    load("M", "%%MatrixMarket matrix coordinate real general\n4 4 6\n1 1 1\n2 3 1\n3 2 1\n4 1 1\n1 4 1\n1 2 1\n");
    talk_refuses(&t, "solve gmres M precond schur",
                 "no entries among themselves, but 2 of the 3 rows with a zero diagonal have some");
    load("H", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 1\n3 1 1\n");
    talk_refuses(&t, "solve gmres H precond schur", "2 of 3 rows have a zero diagonal, more than half");
    load("C", "%%MatrixMarket matrix coordinate complex general\n2 2 3\n1 1 1 0\n2 1 1 0\n1 2 1 0\n");
    talk_refuses(&t, "solve gmres C precond schur", "the preconditioner schur takes real matrices only");
    talk_close(&t);
}

/* ---- failures ---- */

static bool solve_some(struct bed *bed, struct device *d, struct err *e)
{
    bool ok = begin(bed, &cases[3], precond_find("schur"), NULL, d, e);
    while (ok && bed->s.solve->reason == RUNNING) ok = solve_slice(bed->s.solve, 1e9, e);
    return ok && solve_end(bed->s.solve, e);
}

TEST(failing_allocations)
{
    for (int d = 0; d < COUNT(devices); d++)
        for (int64_t nth = 1, done = 0; !done; nth++) {
            struct bed bed;
            struct err e = {0};
            bed_make(&bed, &cases[3].of);
            struct device *dev = device_open(devices[d], &e);
            mem_fail_at(nth);
            done = solve_some(&bed, dev, &e);
            mem_fail_at(0);
            if (!done) assert_int_equal(e.code, E_MEMORY);
            bed_free(&bed);
        }
}

TEST(failing_device)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC};
    static struct fake f;
    struct err e = {0};
    if (!fake_open(&f, "fake", "emu", 1 << 20, &e)) fail_msg("%s", e.text);
    for (int i = 0; i < COUNT(calls); i++)
        for (int64_t nth = 1, done = 0; !done; nth++) {
            struct bed bed;
            bed_make(&bed, &cases[3].of);
            f.fail_in[calls[i]] = nth;
            err_clear(&e);
            done = solve_some(&bed, &f.dev, &e);
            f.fail_in[calls[i]] = 0;
            bed_free(&bed);
            assert_int_equal(f.nblocks, 0);
            assert_true(done || (*e.text && (e.code == E_DEVICE || e.code == E_MEMORY)));
        }
}

/* ---- what `check` finds ---- */

static const struct {
    struct problem of;
    int64_t zero, mixed;
    bool saddle;
} found[] = {
    {SYMMETRIC, 3, 0, true},
    {GENERAL, 3, 0, true},
    {{.generator = "poisson2d", .p = {4, 4}}, 0, 0, false},
    {DENSE(3, 1, 1, 1, 1, 0, 2, 1, 2, 0), 2, 2, false},
    {DENSE(3, 1, 1, 1, 1, 0, 2, 1, 0, 0), 2, 1, false},
    {DENSE(2, 0, 1, 1, 0), 2, 2, false},
    {DENSE(4, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5), 2, 0, false}, /* one of both is empty */
    {DENSE(3, 1, 0, 0, 0, 0, 0, 0, 0, 2), 1, 0, false},                      /* empty */
};

static const struct {
    struct problem of;
    int64_t second;
} signs[] = {{SIGNS, 3}, {OTHER_SIGNS, 3}, {{.generator = "poisson2d", .p = {4, 4}}, 0}};

/* Rows whose diagonal has the other sign make a saddle point only if A is symmetric. */
TEST(signs_are_found)
{
    for (int i = 0; i < COUNT(signs); i++) {
        struct bed bed;
        struct err e = {0};
        struct saddle s;
        unsigned char is_second[16];
        bed_make(&bed, &signs[i].of);
        const struct csr *A = &bed.s.current->csr;
        assert_true(saddle_of(A, false, &s, is_second, &e) && !is_saddle(&s, A->rows));
        assert_true(saddle_of(A, true, &s, is_second, &e));
        assert_true(s.second == signs[i].second && s.by_sign == is_saddle(&s, A->rows) && s.by_sign == (s.second > 0));
        for (int k = 0; s.by_sign && k < 8; k++) assert_int_equal(is_second[k], k % 3 == 0);
        bed_free(&bed);
    }
}

TEST(saddle_points_are_found)
{
    for (int i = 0; i < COUNT(found); i++) {
        struct bed bed;
        struct err e = {0};
        struct saddle s;
        bed_make(&bed, &found[i].of);
        const struct csr *A = &bed.s.current->csr;
        assert_true(saddle_of(A, false, &s, NULL, &e));
        if (s.zero != found[i].zero || s.mixed != found[i].mixed || is_saddle(&s, A->rows) != found[i].saddle)
            fail_msg("%d: %d rows, %d mixed", i, (int)s.zero, (int)s.mixed);
        bed_free(&bed);
    }
    talk_open(&t, OUT_TEXT);
    load("N", "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 2 1\n3 1 1\n3 3 -2\n");
    talk_says(&t, "check N", "saddle     1 of 3 rows: a diagonal of the other sign\n");
    talk_says(&t, "advise solver N", "saddle point with 1 row whose diagonal has the other sign");
    load_diagonal_kkt("K", 101, 40, 25);
    talk_says(&t, "check K", "saddle     40 of 141 rows: zero diagonal, no entries among themselves\n");
    talk_close(&t);
}

SUITE();
