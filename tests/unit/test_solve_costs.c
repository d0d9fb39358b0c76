/* The reported costs of a solve: the bytes per iteration are compared with counts made by hand, and the memory with the
   device's allocations. After a change, the times are those of the new method. Other tests check messages about paused
   work. */
#include "base/precision.h"
#include "commands/race.h"
#include "kits/amg_kit.h"
#include "kits/dev_fake.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/vec_ops.h"
#include "session/front.h"
#include "session/session_solve.h"
#include "solvers/amg.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

/* ---- bytes ---- */

/* A grid of 4 x 3: 12 rows, 12 + 2 (3 * 3 + 4 * 2) = 46 nonzeros. A as CSR takes 46 * 12 + 12 * 4 = 600 bytes, and a
   vector takes 96 bytes. cg reads the diagonal of jacobi in both of its passes. Other solvers apply jacobi separately,
   which reads the diagonal and r and writes z, 288 bytes in all. bjacobi with blocks
   of 4 rows reads 4 values per row: 576 bytes in all. */
static const struct tally {
    const char *solver, *precond;
    double bytes;
} counted[] = {
    {"cg", "none", 600 + 9 * 96},
    {"cg", "jacobi", 600 + 9 * 96 + 2 * 96},
    {"cg", "bjacobi", 600 + 9 * 96 + 576},
    {"minres", "none", 600 + 12 * 96},
    {"minres", "jacobi", 600 + 12 * 96 + 288},
    {"bicgstab", "none", 2 * 600 + 19 * 96},
    {"bicgstab", "jacobi", 2 * 600 + 19 * 96 + 2 * 288},
    {"bicgstab", "bjacobi", 2 * 600 + 19 * 96 + 2 * 576},
    {"qmrcgstab", "jacobi", 2 * 600 + 25 * 96 + 2 * 288},
    {"qmrcgstab", "bjacobi", 2 * 600 + 25 * 96 + 2 * 576},
    /* a cycle of 5 iterations takes 6 SpMVs with A, 6 products with M^-1, and 2 * 5 + 13 + 13 / 5 vectors */
    {"gmres", "jacobi", 720 + 25.6 * 96 + 1.2 * 288},
    {"gmres", "bjacobi", 720 + 25.6 * 96 + 1.2 * 576},
    {"jacobi", "none", 600 + 3 * 96},
    {"gs", "none", 2 * 600 + 5 * 96},
};

/* The bytes per iteration that JSON reports after the end of the solve, when the preconditioner has been freed. */
static double bytes_reported(struct talk *t, const char *solver, const char *precond, const char *more)
{
    char line[200];
    snprintf(line, sizeof line, "solve %s on cpu %s %s%s %s", solver, strcmp(precond, "none") ? "precond" : "",
             strcmp(precond, "none") ? precond : "", strcmp(solver, "gmres") ? "" : " m 5", more);
    talk_says(t, line, "\"bytes_per_iteration\":");
    return strtod(strstr(t->out, "\"bytes_per_iteration\":") + 22, NULL);
}

TEST(test_bytes)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 4 3"));
    for (int i = 0; i < COUNT(counted); i++) {
        const struct tally *c = &counted[i];
        double reported = bytes_reported(&t, c->solver, c->precond, strcmp(c->precond, "bjacobi") ? "" : "block 4");
        if (fabs(reported - c->bytes) > 0.5)
            fail_msg("%s with %s: expected %.1f bytes, found %.1f", c->solver, c->precond, c->bytes, reported);
    }
    talk_close(&t);
}

/* A grid of 60 x 50: 3000 rows, 3000 + 2 * 5890 = 14780 nonzeros, 5890 in each triangle. Applying ilu0 reads the
   entries of both triangles (2 * 5890 * 12), their row bounds and row numbers (2 * 2 * 3000 * 4), the positions of the
   second triangle's right-hand sides (3000 * 4), and the inverted pivots (of both triangles for ic0). Applying ilu0
   also writes and reads the results of the first triangle, reads r and writes z (4 vectors). The arrays begin at
   multiples of 256 bytes. */
TEST(test_bytes_of_triangles)
{
    double A = 14780 * 12 + 3000 * 4, n8 = 3000 * 8;
    double ilu0 = 2 * 5890 * 12 + 5 * 3000 * 4 + n8 + 4 * n8, ic0 = ilu0 + n8, padding = 16 * 512;
    const struct {
        const char *solver, *precond;
        double least, applications;
    } cases[] = {
        {"cg", "ic0", A + 9 * n8 + ic0, 1},
        {"cg", "ilu0", A + 9 * n8 + ilu0, 1},
        {"bicgstab", "ilu0", 2 * A + 19 * n8 + 2 * ilu0, 2},
        {"bicgstab", "ic0", 2 * A + 19 * n8 + 2 * ic0, 2},
        {"qmrcgstab", "ilu0", 2 * A + 25 * n8 + 2 * ilu0, 2},
        {"gmres", "ilu0", 1.2 * A + 25.6 * n8 + 1.2 * ilu0, 1.2},
    };
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 60 50"));
    for (int i = 0; i < COUNT(cases); i++) {
        double reported = bytes_reported(&t, cases[i].solver, cases[i].precond, "");
        if (reported < cases[i].least - 0.5 || reported > cases[i].least + cases[i].applications * padding)
            fail_msg("%s with %s: expected %.0f bytes, found %.0f", cases[i].solver, cases[i].precond, cases[i].least,
                     reported);
    }
    talk_close(&t);
}

/* ---- memory ---- */

static void check_memory(struct fake *f, const struct solver *s, const struct precond *pre, enum precision real)
{
    static double b[12 * 11];
    struct bed bed;
    struct err e = {0};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {12, 11}});
    b[5] = 1;
    struct solve_options o = {.solver = s,
                              .dev = &f->dev,
                              .real = real,
                              .tol = 1e-3,
                              .maxit = 100,
                              .m = s->restarts ? 7 : 0,
                              .pre = pre,
                              .b = b};
    if (!session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, &e)) fail_msg("%s: %s", s->name, e.text);
    int64_t live = LIVE_SIZE * (int64_t)sizeof(double); /* host memory that the fake device counts as device memory */
    if (solve_memory(bed.s.solve) != f->used - live)
        fail_msg("%s with %s: holds %lld bytes, says %lld", s->name, pre ? pre->name : "none",
                 (long long)(f->used - live), (long long)solve_memory(bed.s.solve));
    bed_free(&bed);
    assert_int_equal(f->used, 0);
}

TEST(test_memory)
{
    static struct fake f;
    struct err e = {0};
    assert_true(fake_open(&f, "counting", "emu", 1 << 24, &e));
    for (int i = 0; solvers[i]; i++)
        for (enum precision real = P_F32; real <= P_F64; real++) {
            check_memory(&f, solvers[i], NULL, real);
            for (int k = 0; preconds[k]; k++)
                if (takes_definite(solvers[i], preconds[k])) check_memory(&f, solvers[i], preconds[k], real);
        }
}

/* ---- times after a change ---- */

static const struct phase *phase_of(const struct solve *v, enum solve_phase id)
{
    for (int i = 0; i < v->time.nphases; i++)
        if (v->time.phase[i].id == id) return &v->time.phase[i];
    return NULL;
}

/* The phases of a launch of many iterations are not those of the passes that it replaces. */
TEST(phases_of_one_launch)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 12"));
    talk_says(&t, "solve cg launches one on emu", "\"phases\":[\"spmv\",\"sums\",\"update\"]");
    talk_says(&t, "solve cg launches many on emu", "\"phases\":[\"spmv\",\"step\"]");
    talk_close(&t);
}

TEST(test_phases)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30; solve cg precond bjacobi on cpu step; step 9"));
    const struct solve *v = t.s.solve;
    assert_true(phase_of(v, PHASE_PRECOND) && phase_of(v, PHASE_SPMV)->n == 9);
    /* a new tolerance does not change the method */
    assert_true(talk_line(&t, "change tol 1e-9; step 2"));
    assert_int_equal(phase_of(v, PHASE_SPMV)->n, 11);
    assert_true(talk_line(&t, "change precond none"));
    assert_int_equal(v->time.nphases, 0);
    assert_true(isnan(solve_each_us(v)));
    assert_true(talk_line(&t, "step 3"));
    assert_true(!phase_of(v, PHASE_PRECOND) && phase_of(v, PHASE_SPMV)->n == 3 && solve_each_us(v) > 0);
    assert_true(talk_line(&t, "solve gmres m 5 on cpu step; step 7; change m 4; step 2"));
    v = t.s.solve;
    assert_int_equal(phase_of(v, PHASE_SPMV)->n, 2);
    assert_true(fabs(solve_each_us(v) - (v->time.us - v->time.base_us) / 2) < 1e-9 && v->time.base_us > 0);
    talk_close(&t);
}

/* ---- paused work, which ends when its matrix is dropped ---- */

TEST(test_drop)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 9 as A; gen poisson2d 8 as B; solve cg A on cpu step; drop B"));
    assert_null(strstr(t.err, "ends"));
    assert_true(talk_line(&t, "drop A"));
    assert_non_null(strstr(t.err, "the paused solve of A ends"));
    assert_true(talk_line(&t, "gen poisson2d 9 as A; solve cg A on cpu; drop A"));
    assert_null(strstr(t.err, "ends"));
    assert_true(talk_line(&t, "gen poisson2d 9 as A; solve cg A on cpu step; drop all"));
    assert_non_null(strstr(t.err, "the paused solve of A ends"));
    talk_close(&t);
}

/* The number of redraws after which the screen is left. */
static int looks;

static enum turn look(struct session *s, const char *name)
{
    if (strcmp(name, "race")) return TURN_ON; /* only the screen of the race is left */
    return looks-- > 0 ? TURN_ON : TURN_LEAVE;
}

static void open_watched(struct talk *t, struct front *front)
{
    talk_open(t, OUT_TEXT);
    *front = (struct front){.live = look, .width = 80, .height = 24};
    t->s.interactive = true;
    t->s.front = front;
}

TEST(test_race_waits)
{
    static const char race[] = "race jacobi wjacobi on cpu tol 0 maxit 100000000 force";
    struct talk t;
    struct front front;
    open_watched(&t, &front);
    assert_true(talk_line(&t, "gen poisson2d 150 as A"));
    looks = 5;
    talk_forget(&t);
    assert_true(talk_line(&t, race));
    assert_true(strstr(t.err, "paused after ") && t.s.race->paused && t.s.race->running && !*t.out);
    int64_t done = race_done(t.s.race);
    looks = 5;
    assert_true(talk_line(&t, "continue"));
    assert_true(t.s.race->paused && race_done(t.s.race) > done);
    /* the work started last comes first */
    looks = 0;
    t.s.interactive = false;
    assert_true(talk_line(&t, "solve cg on cpu step"));
    t.s.interactive = true;
    assert_true(talk_line(&t, "stop"));
    assert_true(strstr(t.out, "true residual") && t.s.race->paused);
    looks = 1;
    assert_true(talk_line(&t, "continue"));
    assert_true(t.s.race->paused && talk_line(&t, "change maxit 1000 tol 1e-30 precond jacobi"));
    int64_t iterations = t.s.solve->iterations;
    assert_true(talk_line(&t, "continue"));
    assert_true(t.s.solve->iterations > iterations && t.s.solve->reason != RUNNING && t.s.race->paused);
    talk_forget(&t);
    assert_true(talk_line(&t, race));
    assert_non_null(strstr(t.err, "the paused race on A ends"));
    talk_says(&t, "stop", "#  solver");
    assert_false(t.s.race->paused || t.s.race->running);
    talk_refuses(&t, "continue", "no solve is paused");
    assert_true(talk_line(&t, race) && talk_line(&t, "drop A"));
    assert_true(strstr(t.err, "the paused race on A ends") && !t.s.race);
    talk_close(&t);
}

TEST(test_race_of_kernels_waits)
{
    struct talk t;
    struct front front;
    open_watched(&t, &front);
    looks = 1;
    assert_true(talk_line(&t, "gen poisson2d 150 as A; race csr-serial coo-serial on cpu reps 100000"));
    assert_non_null(strstr(t.err, " SpMVs (all kernels together): `continue`"));
    talk_says(&t, "stop", "products/s");
    looks = 1;
    assert_true(talk_line(&t, "race csr-serial on cpu reps 100000"));
    talk_close(&t);
}

/* Paused work on a device ends when the device is lost. */
TEST(test_race_loses_its_device)
{
    static struct fake f;
    struct talk t;
    struct front front;
    struct err e = {0};
    assert_true(fake_open(&f, "losing", "cpu", 1 << 27, &e));
    open_watched(&t, &front);
    looks = 3;
    assert_true(talk_line(&t, "gen poisson2d 150 as A; race jacobi wjacobi on losing tol 0 maxit 100000000 force"));
    assert_true(t.s.race && t.s.race->paused);
    f.sticky = true;
    f.fail_in[FAKE_PUT] = 1;
    assert_false(talk_line(&t, "spmv on losing f32"));
    assert_null(t.s.race);
    assert_false(talk_line(&t, "continue"));
    talk_close(&t);
}

SUITE(.setup = amg_of_few_rows);
