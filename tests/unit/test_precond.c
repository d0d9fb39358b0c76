/* The preconditioners: on cpu and emu, M^-1 r is compared with a dense computation from the definition, and every
   preconditioned solver needs fewer iterations. Other tests check refusals, levels and launches, failing allocations,
   and failing devices. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "files/matrix_market.h"
#include "gpu/emu/emu.h"
#include "kits/amg_kit.h"
#include "kits/collection.h"
#include "kits/complex_kit.h"
#include "kits/dev_fake.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/reorder.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solvers/amg.h"
#include "solvers/chunk_order.h"
#include "solvers/level_schedule.h"
#include "solvers/precond.h"
#include "solvers/ritz.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "solvers/triangles.h"

#include <math.h>
#include <omp.h>

static const char *const devices[] = {"cpu", "emu"};
static const enum precision reals[] = {P_F64, P_F32};

static void everywhere(void (*check)(const char *device, enum precision real))
{
    for (int d = 0; d < COUNT(devices); d++)
        for (int r = 0; r < COUNT(reals); r++) check(devices[d], reals[r]);
}

TEST(test_applied)
{
    everywhere(check_preconds_applied);
}

/* A tridiagonal matrix has no fill: M = A, and one iteration suffices. */
TEST(test_exact)
{
    static const struct problem line = {.generator = "poisson2d", .p = {50, 1}};
    static const char *const names[] = {"ilu0", "ic0"};
    for (int i = 0; i < 4; i++) {
        struct bed bed;
        struct solve_options o = {.solver = solver_find("cg"), .real = P_F64, .tol = 1e-10, .maxit = 9};
        o.pre = precond_find(names[i & 1]);
        bed_make(&bed, &line);
        bed_solve(&bed, o, devices[i >> 1], 1e9);
        assert_int_equal(bed.s.solve->reason, CONVERGED);
        assert_int_equal(bed.s.solve->iterations, 1);
        bed_free(&bed);
    }
}

/* M must be positive definite for A and for -A, and then cg and minres need the same number of iterations for both. */
static void check_negated(const struct precond *pre, const char *solver, const char *device)
{
    struct bed bed;
    struct solve_options o = {.solver = solver_find(solver), .real = P_F64, .tol = 1e-10, .maxit = 500, .pre = pre};
    int64_t iterations[2];
    struct ritz r[2] = {{0}};
    for (int negated = 0; negated < 2; negated++) {
        bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {20, 19}});
        struct csr *A = &bed.s.current->csr;
        for (int64_t k = 0; negated && k < A->nnz; k++) A->val[k] = -A->val[k];
        bed_solve(&bed, o, device, 1e9);
        if (bed.s.solve->reason != CONVERGED)
            fail_msg("%s with %s on %s: %s", solver, pre->name, device, bed.s.solve->why);
        iterations[negated] = bed.s.solve->iterations;
        ritz_of(&r[negated], bed.s.solve, 0);
        bed_free(&bed);
    }
    assert_int_equal(iterations[0], iterations[1]);
    assert_int_equal(r[0].rows, r[1].rows);
    if (!r[0].rows) return;
    assert_true(fabs(r[1].low / r[0].low - 1) < 1e-6 && fabs(r[1].high / r[0].high - 1) < 1e-6);
}

TEST(test_negative_definite)
{
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; preconds[i]; i++) {
            if (!preconds[i]->symmetric || preconds[i]->saddle) continue;
            check_negated(preconds[i], "cg", devices[d]);
            check_negated(preconds[i], "minres", devices[d]);
        }
}

/* The same for hermitian matrices. These are tridiagonal, so ilu0 and ic0 are exact. */
TEST(test_negative_definite_complex)
{
    struct talk t;
    char line[200];
    int tried = 0;
    talk_open(&t, OUT_TEXT);
    complex_add(&t, true, "H");
    assert_true(talk_line(&t, "let N = -1*H"));
    for (int i = 0; preconds[i]; i++)
        for (int k = 0; k < 4 && preconds[i]->symmetric && preconds[i]->takes_complex; k++, tried++) {
            int64_t iterations[2];
            for (int negated = 0; negated < 2; negated++) {
                snprintf(line, sizeof line, "solve %s %c precond %s on %s", k & 1 ? "minres" : "cg", "HN"[negated],
                         preconds[i] -> name, devices[k >> 1]);
                solve_complex(&t, line, 1e-8);
                iterations[negated] = t.s.solve->iterations;
            }
            if (iterations[0] != iterations[1] || (preconds[i]->triangles && iterations[0] > 1))
                fail_msg("%s: %d iterations, %d with H", line, (int)iterations[1], (int)iterations[0]);
        }
    assert_true(tried >= 4 * 4);
    talk_close(&t);
}

/* ---- levels and launches ---- */

static void check_levels(const struct problem *p, const char *device, int64_t levels)
{
    struct bed bed;
    struct err e = {0};
    bed_make(&bed, p);
    assert_true(bed_begin(&bed, "ilu0", 0, device, P_F64, &e));
    assert_int_equal(bed.s.solve->pre.note[TRI_LEVELS_LOWER], levels);
    assert_int_equal(bed.s.solve->pre.note[TRI_LEVELS_UPPER], levels);
    bed_free(&bed);
}

TEST(test_levels)
{
    check_levels(&(struct problem){.generator = "poisson2d", .p = {13, 9}}, "emu", 13 + 9 - 1);
    check_levels(&(struct problem){.generator = "poisson3d", .p = {5, 4, 3}}, "emu", 5 + 4 + 3 - 2);
    check_levels(&(struct problem){.generator = "poisson2d", .p = {40, 1}}, "emu", 40);
    check_levels(&(struct problem)DENSE(3, 1, 0, 0, 0, 2, 0, 0, 0, 3), "emu", 1);
    check_levels(&(struct problem){.generator = "poisson2d", .p = {13, 9}}, "cpu", 1);
}

/* Colours are chosen where many short levels follow each other, but not for factors that are nearly complete, nor on
   cpu, nor against the user's word. */
TEST(test_order_chosen)
{
    static const struct {
        struct problem of;
        const char *device;
        bool natural, colours;
    } cases[] = {{{.generator = "fem", .p = {30, 30}}, "emu", false, true},
                 {{.generator = "fem", .p = {30, 30}}, "emu", true, false},
                 {{.generator = "fem", .p = {30, 30}}, "cpu", false, false},
                 {{.generator = "poisson2d", .p = {13, 9}}, "emu", false, false},
                 {{.generator = "poisson2d", .p = {3000, 1}}, "emu", false, false}};
    for (int i = 0; i < COUNT(cases); i++)
        for (int k = 0; preconds[k]; k++) {
            struct bed bed;
            struct err e = {0};
            if (!preconds[k]->triangles) continue;
            bed_make(&bed, &cases[i].of);
            bed_triangles.natural = cases[i].natural;
            assert_true(bed_begin(&bed, preconds[k]->name, 0, cases[i].device, P_F64, &e));
            bool colours = cases[i].colours && !strcmp(preconds[k]->name, "ic0"); /* ilu0: of large matrices only */
            if ((bed.s.solve->pre.order == ordering_find("colours")) != colours) fail_msg("case %d", i);
            bed_triangles.natural = false;
            bed_free(&bed);
        }
}

/* Also with threads in another order, and with the check for races. */
TEST(test_triangles)
{
    everywhere(check_preconds_triangles);
    emu_order(17);
    check_preconds_triangles("emu", P_F64);
    emu_order(0);
}

TEST(test_launches)
{
    everywhere(check_preconds_launches);
    emu_order(17);
    check_preconds_launches("emu", P_F64);
    emu_order(0);
}

TEST(test_long_runs)
{
    check_preconds_long_runs("emu");
}

TEST(test_guard)
{
    check_preconds_guard("cpu");
    check_preconds_guard("emu");
}

/* ---- refusals ---- */

static const struct refusal {
    const char *precond;
    struct problem problem;
    const char *error;
    int64_t block;
    bool f32, usage;
    struct given shift;
} refusals[] = {
    {.precond = "ilu0",
     .problem = DENSE(2, 1, 1, 1, 1),
     .error = "ilu0: zero pivot in row 1 (counted from 0)",
     .shift = {true, 0}},
    {.precond = "ilut",
     .problem = DENSE(2, 1, 1, 1, 1),
     .error = "ilut: zero pivot in row 1 (counted from 0)",
     .shift = {true, 0}},
    {.precond = "ilut",
     .problem = DENSE(3, 1, 0, 2, 0, 0, 3, 0, 4, 5),
     .error = "ilut: row 1 (counted from 0) has no entry on the diagonal, and fill makes none; `reorder matching`"},
    {.precond = "ilut", .problem = DENSE(2, 1, 2, 3, NAN), .error = "the pivot of row 1 (counted from 0) is nan"},
    {.precond = "ilut", .problem = DENSE(2, 0, 0, 0, 1), .error = "ilut: row 0 (counted from 0) has no entry"},
    {.precond = "ilu0",
     .problem = DENSE(1, 2),
     .error = "shift is -1: give 0, so that pivots stay as they are, or more",
     .shift = {true, -1},
     .usage = true},
    {.precond = "ic0",
     .problem = DENSE(2, 1, 2, 2, 1),
     .error =
         "row 1 (counted from 0) is -1.17, not positive, and increasing the diagonal by 0.5 of itself does not help",
     .shift = {true, 0.5}},
    {.precond = "ilu0",
     .problem = DENSE(3, 1, 1, 0, 1, 0, 2, 0, 1, 0),
     .error = "needs an entry on the diagonal of every row, but row 1 (counted from 0) has none (2 such rows)"},
    {.precond = "ilu0", .problem = DENSE(2, 1, 2, 3, NAN), .error = "the pivot of row 1 (counted from 0) is nan"},
    {.precond = "ilu0", .problem = DENSE(2, 1, NAN, 3, 4), .error = "the pivot of row 1 (counted from 0) is nan"},
    {.precond = "ilu0", .problem = DENSE(1, INFINITY), .error = "the pivot of row 0 (counted from 0) is inf"},
    {.precond = "ilu0",
     .problem = DENSE(2, 1, 0, 0, 1e-60),
     .error = "is 1e-60, too small to divide by in fp32",
     .f32 = true},
    {.precond = "ic0", .problem = DENSE(2, 1, 0, 0, 1e-90), .error = "too small to divide by in fp32", .f32 = true},
    {.precond = "ic0",
     .problem = DENSE(2, 1, 2, 2, 1),
     .error = "the pivot of row 1 (counted from 0) is -3, not positive, and increasing the diagonal by 0 of itself",
     .shift = {true, 0}},
    {.precond = "ic0", .problem = DENSE(2, 1, 0, 0, -1), .error = "the pivot of row 1 (counted from 0) is -1"},
    {.precond = "ic0",
     .problem = DENSE(2, 4, 1, 0, 4),
     .error = "symmetric matrix: entry (0, 1), counted from 0, is 1 and (1, 0) is 0"},
    {.precond = "ic0",
     .problem = DENSE(2, 4, 0, 1, 4),
     .error = "symmetric matrix: entry (1, 0), counted from 0, is 1 and (0, 1) is 0"},
    {.precond = "ic0",
     .problem = DENSE(2, 4, 1, 2, 4),
     .error = "symmetric matrix: entry (0, 1), counted from 0, is 1 and (1, 0) is 2"},
    {.precond = "ic0", .problem = DENSE(3, 4, 1, 0, 0, 4, 1, 1, 0, 4), .error = "needs a symmetric matrix"},
    {.precond = "ic0",
     .problem = DENSE(3, 4, 1, 1, 0, 4, 0, 1, 0, 4),
     .error = "entry (0, 1), counted from 0, is 1 and (1, 0) is 0"},
    {.precond = "ic0",
     .problem = DENSE(2, 1, 0, 0, 0),
     .error = "needs an entry on the diagonal of every row, but row 1"},
    {.precond = "ic0",
     .problem = DENSE(2, NAN, 0, 0, 1),
     .error = "needs finite values, but entry (0, 0), counted from 0, is nan"},
    {.precond = "bjacobi",
     .problem = DENSE(3, 1, 0, 0, 0, 1, 2, 0, 2, 4),
     .error = "rows 0 to 2 (counted from 0) is singular"},
    {.precond = "bjacobi", .problem = DENSE(2, 1, 2, 2, 0), .error = "rows 1 to 1", .block = 1},
    {.precond = "bjacobi", .problem = DENSE(3, 1, 0, 0, 0, .1, .3, 0, .2, .6), .error = "rows 0 to 2", .block = 3},
    {.precond = "bjacobi", .problem = DENSE(2, 1, NAN, 0, 1), .error = "rows 0 to 1 (counted from 0) is singular"},
    {.precond = "bjacobi",
     .problem = DENSE(2, 1, 0, 0, 1e-60),
     .error = "rows 0 to 1 (counted from 0) is singular, or nearly so",
     .f32 = true},
    {.precond = "bjacobi",
     .problem = DENSE(1, 1),
     .error = "block is 33, but blocks must have 1 to 32 rows",
     .block = 33,
     .usage = true},
    {.precond = "bjacobi",
     .problem = DENSE(1, 1),
     .error = "block is -2, but blocks must have 1 to 32 rows",
     .block = -2,
     .usage = true},
};

TEST(test_refusals)
{
    for (int i = 0; i < 2 * COUNT(refusals); i++) {
        const struct refusal *k = &refusals[i / 2];
        struct bed bed;
        struct err e = {0};
        bed_make(&bed, &k->problem);
        bed_triangles.shift = k->shift;
        if (bed_begin(&bed, k->precond, k->block, devices[i % 2], k->f32 ? P_F32 : P_F64, &e))
            fail_msg("%s: not refused: %s", k->precond, k->error);
        if (!strstr(e.text, k->error)) fail_msg("%s: %s", k->error, e.text);
        assert_int_equal(e.code, k->usage ? E_USAGE : E_NUMERIC);
        bed_triangles.shift = (struct given){0};
        bed_free(&bed);
    }
}

static const struct problem pivoted[] = {DENSE(2, 0, 2, 3, 0), DENSE(3, 0, 0, 4, 1, 0, 0, 0, 2, 1),
                                         DENSE(2, 1e-20, 0, 0, 1), DENSE(2, 1e9, 1, 1, 1)};

/* Blocks that need row exchanges, and blocks whose rows differ greatly in magnitude. None of these blocks is singular.
 */
TEST(test_pivoted_blocks)
{
    for (int i = 0; i < COUNT(pivoted); i++) {
        struct bed bed;
        bed_make(&bed, &pivoted[i]);
        check_applied(&bed, "bjacobi", 0, "emu", P_F64);
        bed_free(&bed);
    }
}

static const struct problem grid = {.generator = "poisson2d", .p = {10, 9}};
static const struct problem kershaw = DENSE(4, 3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3);

/* A chain of rows, each of which needs the row before it. The first block begins after 0.9 us, a step takes 0.22 us,
   the next block sees a result after 1.15 us, and the launch takes 3.5 us. */
TEST(test_time_of_a_chain)
{
    enum { N = 3 * CHUNK_THREADS };
    static int begin[N], end[N], col[N], level[N];
    for (int chunks = 1; chunks <= 3; chunks++) {
        int n = chunks * CHUNK_THREADS;
        struct order o = {0};
        struct entries t = {begin, end, 0, col, NULL};
        for (int i = 0; i < n; i++) begin[i] = i, end[i] = i + (i > 0), col[i] = i - 1, level[i] = i;
        assert_true(order_chunks(&o, &t, n, level, n, false, NULL));
        assert_int_equal(o.lanes, 1);
        double us = 3.5 + 0.9 + 0.22 * n + 1.15 * (chunks - 1);
        if (fabs(o.us / us - 1) > 1e-4) fail_msg("%d chunks: %g us, not %g", chunks, o.us, us);
        order_free(&o);
    }
}

/* With off-diagonal entries of 1.85 in place of 2, the last pivot is -0.53 for 3 % more on the diagonal, and 0.35 for
   10 %. */
static const struct problem milder =
    DENSE(4, 3, -1.85, 0, 1.85, -1.85, 3, -1.85, 0, 0, -1.85, 3, -1.85, 1.85, 0, -1.85, 3);

TEST(test_shift_is_the_least)
{
    struct bed bed;
    struct err e = {0};
    char note[120];
    bed_make(&bed, &milder);
    assert_true(bed_begin(&bed, "ic0", 0, "cpu", P_F64, &e));
    bed.s.solve->pre.method->note(bed.s.solve, note, sizeof note);
    assert_string_equal(note, "diagonal increased by 10%");
    bed_free(&bed);
}

/* A positive definite matrix whose incomplete factor has a negative pivot (Kershaw 1978): the diagonal is increased. */
TEST(test_shift)
{
    struct bed bed;
    struct err e = {0};
    bed_make(&bed, &kershaw);
    if (!bed_begin(&bed, "ic0", 0, "cpu", P_F64, &e)) fail_msg("%s", e.text);
    assert_int_equal(bed.s.solve->pre.note[TRI_SHIFT], 300000);
    bed_free(&bed);
    bed_make(&bed, &grid);
    assert_true(bed_begin(&bed, "ic0", 0, "cpu", P_F64, &e));
    assert_int_equal(bed.s.solve->pre.note[TRI_SHIFT], 0);
    bed_free(&bed);
}

/* A matrix without rows causes no error. */
TEST(test_empty)
{
    for (int i = 0; preconds[i]; i++) {
        struct bed bed;
        struct solve_options o = {.real = P_F64, .tol = 1e-9, .maxit = 9, .pre = preconds[i]};
        o.solver = solver_find(solver_taking(preconds[i]));
        bed_make(&bed, &(struct problem)DENSE(0, 0));
        bed_solve(&bed, o, "emu", 1e9);
        assert_int_equal(bed.s.solve->reason, CONVERGED);
        bed_free(&bed);
    }
}

/* What `solve` reports about preconditioners. */
TEST(test_notes)
{
    static const struct {
        const char *line, *part;
    } lines[] = {
        {"solve cg precond ilu0 on emu", "preconditioner  ilu0\nstructure of M  18 levels down, 18 up\n"},
        {"solve cg precond ic0 on cpu", "preconditioner  ic0\nmade in"},
        {"solve cg precond bjacobi block 5 on cpu", "structure of M  blocks of 5 rows\n"},
        {"solve cg precond bjacobi on cpu", "structure of M  blocks of 8 rows\n"},
        {"solve bicgstab precond bjacobi block 40 on cpu", "block is 40, but blocks must have 1 to 32 rows"},
        {"solve cg precond ilu0 on emu", "applied         sync-free, predicted for an H200: "},
        {"solve cg precond ilu0 triangles levels on emu", "applied         by levels, predicted for an H200: "},
        {"solve cg precond ic0 sweeps 3 on cpu", "applied         approximately, 3 sweeps with each triangle\n"},
        {"solve cg precond ic0 order colours on emu",
         "structure of M  2 levels down, 2 up\napplied         rows ordered by colours; "},
        {"solve cg precond ic0 on cpu", "\nmemory of M     "},
        {"solve cg precond ic0 order natural on cpu", "preconditioner  ic0\nmade in"},
        {"solve cg precond ic0 sweeps 0 on cpu", "sweeps is 0: give 1 to 1000"},
        {"solve cg precond ic0 sweeps 3 triangles levels on cpu", "leave out one of them"},
        {"solve cg precond ic0 on cpu step; change sweeps 3 triangles levels", "leave out one of them"},
        {"race cg precond ic0 sweeps 3 triangles sync-free on cpu", "leave out one of them"},
        {"solve cg precond jacobi sweeps 2 on cpu",
         "jacobi has no triangles, so `triangles`, `sweeps`, `order` and `shift`"},
        {"solve cg order rcm on cpu",
         "but there is no preconditioner; add `precond ilu0`, `precond ic0` or `precond ilut`"},
        {"solve cg precond ic0 on cpu step; change sweeps 2; continue", "applied         approximately, 2 sweeps"},
        {"solve cg precond ic0 on emu step; change order colours; continue",
         "applied         rows ordered by colours; "},
        {"race cg gs precond ic0 triangles levels maxit 5 on cpu", "gs      limit"},
        {"solve cg precond ilu0 block 4 on cpu",
         "ilu0 has no blocks, so `block` cannot be set; bjacobi and amg have blocks"},
        {"solve cg block 4 on cpu", "but there is no preconditioner; add `precond bjacobi`"},
        {"race cg gs block 4 on cpu", "but there is no preconditioner; add `precond bjacobi`"},
        {"race cg gs precond bjacobi block 4 maxit 5 on cpu", "gs      limit"},
        {"solve cg precond foo on cpu", "is not a preconditioner; one of jacobi, bjacobi, ilu0, ic0, ilut, amg, "
                                        "columns, schur, ...; `solvers` shows all\n"},
        {"load tests/files/diagonal.mtx; solve bicgstab precond ic0 on cpu",
         "the diagonal entry (1, 1), counted from 0, is 2+0.5i, which is not real; use ilu0"},
        {"help ilu0", "preconditioner  ilu0\nabout           incomplete LU"},
        {"help jacobi", "preconditioner           jacobi\nabout                    the diagonal"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 9"));
    for (int i = 0; i < COUNT(lines); i++) {
        talk_line(&t, lines[i].line);
        if (!strstr(t.out, lines[i].part) && !strstr(t.err, lines[i].part))
            fail_msg("%s: %s%s", lines[i].line, t.out, t.err);
    }
    talk_close(&t);
}

TEST(test_shift_note)
{
    struct bed bed;
    struct err e = {0};
    char note[120];
    bed_make(&bed, &kershaw);
    assert_true(bed_begin(&bed, "ic0", 0, "cpu", P_F64, &e));
    bed.s.solve->pre.method->note(bed.s.solve, note, sizeof note);
    assert_string_equal(note, "diagonal increased by 30%");
    assert_true(bed_begin(&bed, "ic0", 0, "emu", P_F64, &e));
    bed.s.solve->pre.method->note(bed.s.solve, note, sizeof note);
    assert_string_equal(note, "4 levels down, 4 up, diagonal increased by 30%");
    bed_free(&bed);
}

/* ---- failures ---- */

static bool solve_some(struct bed *bed, const struct precond *pre, struct device *d, struct err *e)
{
    double b[20] = {1};
    struct solve_options o = {.real = P_F32, .tol = 1e-3, .maxit = 50, .b = b};
    o.solver = solver_find(solver_taking(pre));
    o.dev = d;
    o.pre = pre;
    bool ok = session_solve(&bed->s.solve, &bed->s, bed->s.current, &o, e);
    while (ok && bed->s.solve->reason == RUNNING) ok = solve_slice(bed->s.solve, 1e9, e);
    return ok && solve_end(bed->s.solve, e);
}

TEST(test_failing_allocations)
{
    for (int i = 0; preconds[i >> 1]; i++) {
        bool done = preconds[i >> 1]->saddle;
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

TEST(test_failing_device)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC};
    static struct fake f;
    struct err e = {0};
    if (!fake_open(&f, "fake", "emu", 1 << 20, &e)) fail_msg("%s", e.text);
    for (int p = 0; preconds[p]; p++)
        for (int i = 0; i < COUNT(calls) && !preconds[p]->saddle; i++)
            for (int64_t nth = 1; !solve_on_fake(&f, preconds[p], calls[i], nth, &e); nth++) {
                assert_true(*e.text && (e.code == E_DEVICE || e.code == E_MEMORY));
                err_clear(&e);
            }
}

/* Rows of a colour are eliminated at the same time, rows of many short levels one after another: the number of threads
   changes nothing. */
TEST(test_threads)
{
    static const char *const names[] = {"ic0", "ilu0"};
    int before = omp_get_max_threads();
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 90 as A"));
    for (int i = 0; i < COUNT(names); i++)
        for (int natural = 0; natural < 2; natural++) {
            double *x[2] = {NULL, NULL};
            char line[100];
            snprintf(line, sizeof line, "solve cg A precond %s order %s on cpu", names[i],
                     natural ? "natural" : "colours");
            for (int k = 0; k < 2; k++) {
                omp_set_num_threads(k ? 4 : 1);
                if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
                assert_int_equal(t.s.solve->reason, CONVERGED);
                x[k] = mem_new(t.s.solve->n, sizeof **x, "x", NULL);
                memcpy(x[k], t.s.solve->result.x, (size_t)t.s.solve->n * sizeof **x);
            }
            assert_memory_equal(x[0], x[1], (size_t)t.s.solve->n * sizeof **x);
            for (int k = 0; k < 2; k++) mem_free(x[k]);
        }
    omp_set_num_threads(before);
    talk_close(&t);
}

static bool never(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return strcmp(what, "ilu0") != 0 && strcmp(what, "ic0") != 0 && strcmp(what, "ilut") != 0;
}

TEST(test_cancelled)
{
    static const char *const names[] = {"ilu0", "ic0"};
    for (int i = 0; i < COUNT(names); i++) {
        struct bed bed;
        struct err e = {0};
        bed_make(&bed, &grid);
        bed.s.watch.tick = never;
        assert_false(bed_begin(&bed, names[i], 0, "cpu", P_F64, &e));
        assert_int_equal(e.code, E_CANCELLED);
        bed_free(&bed);
    }
}

/* While a preconditioner is being made, watch_tick may redraw the screen, which shows the memory of the solve. */
static bool shows_memory(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct session *s = w->user;
    if (s->solve && s->solve->pre.method) assert_true(solve_memory(s->solve) > 0);
    return true;
}

TEST(test_shown_while_made)
{
    loop_check_all(true);
    for (int i = 0; preconds[i]; i++) {
        if (preconds[i]->saddle) continue;
        struct bed bed;
        struct err e = {0};
        bed_make(&bed, &grid);
        struct solve_change c = {
            .tol = NAN, .omega = NAN, .m = -1, .maxit = -1, .pre = preconds[i], .change_pre = true};
        assert_true(bed_begin(&bed, "jacobi", 0, "emu", P_F64, &e));
        bed.s.watch = (struct watch){shows_memory, &bed.s};
        struct watch *before = loop_enter(&bed.s.watch);
        if (!solve_change(bed.s.solve, &c, &e)) fail_msg("%s: %s", preconds[i]->name, e.text);
        loop_enter(before);
        bed_free(&bed);
    }
    loop_check_all(false);
}

TEST(test_gain)
{
    check_preconds_gain("cpu");
    check_preconds_gain("emu");
}

TEST(test_diagonal)
{
    everywhere(check_preconds_diagonal);
}

/* ---- the collection ---- */

enum { ROWS_MAX = 2000, ROWS_EMULATED = 700 };

static int64_t longest(const struct csr *A)
{
    int64_t most = 0;
    for (int64_t i = 0; i < A->rows; i++) most = csr_row_length(A, i) > most ? csr_row_length(A, i) : most;
    return most;
}

/* If one thread processes a row in a solve by levels, it adds the terms in the host's order, so its result equals the
   host's result bit for bit. */
static void check_same(struct bed *bed, const char *precond, const char *name)
{
    struct err e = {0};
    const struct csr *A = &bed->s.current->csr;
    double *r = random_vector(A->rows), *host = mem_new(A->rows, sizeof *host, "z", NULL);
    double *emu = mem_new(A->rows, sizeof *emu, "z", NULL);
    bed_apply(bed->s.solve, r, host);
    bed_triangles.way = TRIANGLES_LEVELS;
    assert_true(bed_begin(bed, precond, 0, "emu", P_F64, &e));
    bed_triangles.way = TRIANGLES_AUTO;
    bed_apply(bed->s.solve, r, emu);
    if (longest(A) <= LEVEL_EARLY + 1 && !bed->s.solve->pre.method->by_products &&
        memcmp(host, emu, (size_t)A->rows * sizeof *emu))
        fail_msg("%s of %s: cpu and emu differ", precond, name);
    mem_free(r);
    mem_free(host);
    mem_free(emu);
}

/* Returns how many preconditioners were made. */
static int check_all(struct csr *A, const char *name)
{
    struct bed bed;
    int made = 0;
    bed_take(&bed, A);
    for (int i = 0; preconds[i]; i++) {
        struct err e = {0};
        if (bed_begin(&bed, preconds[i]->name, 0, "cpu", P_F64, &e)) {
            made++;
            if (bed.s.current->csr.rows <= ROWS_EMULATED) check_same(&bed, preconds[i]->name, name);
        } else if (e.code != E_NUMERIC || !*e.text)
            fail_msg("%s of %s: %s", preconds[i]->name, name, e.text);
    }
    bed_free(&bed);
    return made;
}

TEST(test_collection)
{
    const char *folder;
    char path[1024], line[4096];
    struct load_info info;
    int matrices = 0, made = 0;
    FILE *index = collection_index("the preconditioners on the collection", &folder);
    if (!index) return;
    for (bool heading = true; fgets(line, sizeof line, index); heading = false) {
        struct csr A;
        struct err e = {0};
        line[strcspn(line, "\t\n")] = 0;
        snprintf(path, sizeof path, "%s/%.200s.mtx.gz", folder, line);
        if (heading) continue;
        if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", path, e.text);
        if (A.imag || A.rows != A.cols || A.rows > ROWS_MAX)
            csr_free(&A);
        else
            made += check_all(&A, line), matrices++;
    }
    fclose(index);
    print_message("%d preconditioners made for %d matrices\n", made, matrices);
    assert_true(made > matrices);
}

SUITE(.setup = amg_of_few_rows);
