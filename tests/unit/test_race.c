/* Races: equal time slices, ranks, messages about racers that cannot take part, and clean-up after a failure. */
#include "base/mem.h"
#include "commands/race.h"
#include "commands/race_begin.h"
#include "kits/dev_fake.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "session/matrix.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <cjson/cJSON.h>
#include <math.h>

/* ---- helpers ---- */

static void open_with(struct talk *t, enum out_mode mode, const char *setup)
{
    talk_open(t, mode);
    assert_true(talk_line(t, setup));
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("expected `%s` in: %s", part, text);
}

/* The nth row of the output. */
static cJSON *row(const struct talk *t, int nth)
{
    const char *at = t->out;
    for (int i = 0; i < nth; i++) at += strcspn(at, "\n") + 1;
    cJSON *j = cJSON_Parse(at);
    if (!j) fail_msg("no row %d in: %s", nth, t->out);
    return j;
}

static double number(const struct talk *t, int nth, const char *key)
{
    cJSON *j = row(t, nth);
    const cJSON *v = cJSON_GetObjectItem(j, key);
    if (!v) fail_msg("no %s in: %s", key, t->out);
    double value = cJSON_IsNull(v) ? NAN : cJSON_IsBool(v) ? cJSON_IsTrue(v) : v->valuedouble;
    cJSON_Delete(j);
    return value;
}

static void assert_word(const struct talk *t, int nth, const char *key, const char *word)
{
    cJSON *j = row(t, nth);
    const cJSON *v = cJSON_GetObjectItem(j, key);
    if (!v || !cJSON_IsString(v)) fail_msg("no %s in: %s", key, t->out);
    assert_string_equal(v->valuestring, word);
    cJSON_Delete(j);
}

/* A session with a race of these solvers that has begun and ends only at its limit. */
static struct race *begun(struct talk *t, const char *const *names, int n, const char *device)
{
    struct err e = {0};
    struct race *r = mem_zero(1, sizeof *r, "a race", &e);
    assert_non_null(r);
    t->s.race = r;
    *r = (struct race){.matrix = t->s.current, .dev = device_open(device, &e), .real = P_F64, .n = n};
    for (int i = 0; i < n; i++) {
        r->racer[i].solver = solver_find(names[i]);
        snprintf(r->racer[i].name, sizeof r->racer[i].name, "%s", names[i]);
    }
    double *b = mem_new(r->matrix->csr.rows, sizeof *b, "b", &e);
    assert_non_null(b);
    for (int64_t i = 0; i < r->matrix->csr.rows; i++) b[i] = (double)(i % 7) - 2;
    struct solve_options o = {.dev = r->dev, .real = P_F64, .maxit = 100000, .b = b, .force = true};
    assert_true(race_solvers(&t->s, r, &o, &e));
    mem_free(b);
    return r;
}

/* ---- turns ---- */

/* The racer with the least time runs next, so no racer is ahead by more than the longest slice. */
TEST(all_racers_get_equal_time)
{
    static const char *const names[] = {"jacobi", "bicgstab", "gmres"};
    struct talk t;
    double longest = 0;
    open_with(&t, OUT_TEXT, "gen poisson2d 40");
    struct race *r = begun(&t, names, 3, "cpu");
    for (int turn = 0; turn < 40 && r->running; turn++) {
        double before[3], least = INFINITY, most = 0;
        for (int i = 0; i < 3; i++) before[i] = r->racer[i].us;
        assert_true(race_turn(r, NULL));
        for (int i = 0; i < 3; i++) {
            longest = fmax(longest, r->racer[i].us - before[i]);
            least = fmin(least, r->racer[i].us);
            most = fmax(most, r->racer[i].us);
        }
        if (!r->running) break;
        for (int i = 0; i < 3; i++)
            if (r->racer[i].v->reason != RUNNING) return talk_close(&t);
        assert_true(most - least <= longest);
    }
    for (int i = 0; i < 3; i++) assert_true(r->racer[i].nmarks > 3);
    talk_close(&t);
}

TEST(the_emulator_takes_turns_by_iterations)
{
    static const char *const names[] = {"jacobi", "cg"};
    struct talk t;
    open_with(&t, OUT_TEXT, "gen poisson2d 8");
    struct race *r = begun(&t, names, 2, "emu");
    for (int turn = 0; turn < 10; turn++) {
        assert_true(race_turn(r, NULL));
        int64_t ahead = r->racer[0].v->iterations - r->racer[1].v->iterations;
        assert_true(ahead == 0 || ahead == 1);
    }
    assert_int_equal(r->racer[0].v->iterations, 5);
    talk_close(&t);
}

TEST(iterations_are_known_at_any_time)
{
    struct mark mark[] = {{0, 0}, {10, 1}, {30, 11}, {40, 11}};
    struct racer x = {.mark = mark, .nmarks = COUNT(mark)};
    static const struct {
        double us, iteration;
    } at[] = {{0, 0}, {5, 0.5}, {10, 1}, {20, 6}, {30, 11}, {35, 11}, {40, 11}, {41, -1}};
    for (int i = 0; i < COUNT(at); i++) assert_float_equal(race_iteration_at(&x, at[i].us), at[i].iteration, 1e-12);
    x.nmarks = 0;
    assert_float_equal(race_iteration_at(&x, 0), -1, 0);
}

/* ---- tables ---- */

TEST(converged_racers_rank_first)
{
    struct talk t;
    open_with(&t, OUT_JSON, "gen poisson2d 40");
    assert_true(talk_line(&t, "race jacobi wjacobi 0.5 cg gmres 7 bicgstab on cpu maxit 400"));
    for (int i = 0; i < 5; i++) {
        assert_float_equal(number(&t, i, "place"), i + 1, 0);
        bool converged = number(&t, i, "converged") > 0;
        if (i && converged) assert_true(number(&t, i - 1, "converged") > 0);
        if (i && converged) assert_true(number(&t, i - 1, "time_us") <= number(&t, i, "time_us"));
        if (i && !converged && !(number(&t, i - 1, "converged") > 0))
            assert_true(number(&t, i - 1, "residual_true") <= number(&t, i, "residual_true"));
        assert_true(number(&t, i, "iterations") > 0 && number(&t, i, "us_per_iteration") > 0);
        assert_true(number(&t, i, "error_known") < 1);
    }
    assert_word(&t, 4, "solver", "wjacobi");
    assert_float_equal(number(&t, 4, "omega"), 0.5, 0);
    assert_word(&t, 4, "status", "iteration-limit");
    assert_word(&t, 3, "solver", "jacobi");
    talk_close(&t);
}

/* The result of a racer equals the result of the same solve alone. */
TEST(a_race_solves_as_solve_does)
{
    static const char *const lines[] = {"race gmres 7 cg on cpu b random seed 5",
                                        "solve gmres m 7 on cpu b random seed 5"};
    struct talk t;
    double iterations[2];
    open_with(&t, OUT_JSON, "gen poisson2d 30");
    for (int i = 0; i < 2; i++) {
        assert_true(talk_line(&t, lines[i]));
        int nth = 0;
        cJSON *j = row(&t, 0);
        if (strcmp(cJSON_GetObjectItem(j, "solver")->valuestring, "gmres")) nth = 1;
        cJSON_Delete(j);
        assert_float_equal(number(&t, nth, "m"), 7, 0);
        iterations[i] = number(&t, nth, "iterations");
    }
    assert_float_equal(iterations[0], iterations[1], 0);
    assert_true(talk_line(&t, "race cg bicgstab jacobi on cpu precond jacobi maxit 90"));
    for (int i = 0; i < 2; i++) assert_word(&t, i, "precond", "jacobi");
    talk_close(&t);
}

TEST(kernels_repeat_in_turn)
{
    struct talk t;
    open_with(&t, OUT_JSON, "gen poisson2d 30");
    assert_true(talk_line(&t, "race csr-serial ell-serial csr-openmp on cpu reps 5 f32"));
    for (int i = 0; i < 3; i++) {
        assert_float_equal(number(&t, i, "products"), 5, 0);
        assert_true(number(&t, i, "best_us") <= number(&t, i, "time_us"));
        assert_true(number(&t, i, "spread_us") >= 0 && number(&t, i, "gbs") > 0);
        if (i) assert_true(number(&t, i - 1, "time_us") <= number(&t, i, "time_us"));
    }
    assert_int_equal(t.s.nruns, 3);
    assert_true(t.s.runs[0].us <= t.s.runs[2].us && t.s.runs[0].real == P_F32);
    assert_true(talk_line(&t, "race csr-vector ell on emu"));
    for (int i = 0; i < 2; i++) assert_true(isnan(number(&t, i, "time_us")) && number(&t, i, "error") < 1e-12);
    talk_close(&t);
}

TEST(the_table_explains_failures)
{
    struct talk t;
    open_with(&t, OUT_TEXT, "gen poisson2d 20");
    assert_true(talk_line(&t, "race gmres cg wjacobi 0.9 on cpu maxit 30"));
    assert_says(t.out, "gmres (");
    assert_says(t.out, "wjacobi 0.9: stopped at the limit of 30 iterations");
    assert_true(talk_line(&t, "race cg jacobi on emu maxit 9"));
    assert_says(t.out, "the solver with the fewest iterations comes first");
    assert_true(talk_line(&t, "race csr-serial csr-vector on cpu"));
    assert_says(t.out, "\ncsr-vector: does not run on cpu");
    talk_close(&t);
}

/* ---- solvers that cannot take part ---- */

TEST(a_refusing_solver_does_not_take_part)
{
    struct talk t;
    open_with(&t, OUT_JSON, "load samples/mesh3em5.mtx; gen random 50 3 as R");
    assert_true(talk_line(&t, "race jacobi gmres 10 of R on cpu maxit 20"));
    assert_word(&t, 1, "solver", "jacobi");
    assert_word(&t, 1, "status", "refused");
    assert_says(t.out, "diagonal");
    assert_false(talk_line(&t, "race jacobi wjacobi of R on cpu"));
    assert_null(t.s.race);
    talk_close(&t);
}

static const struct {
    const char *line, *says;
} mistakes[] = {
    {"race", "a solver, a kernel"},
    {"race cg gmrs", "did you mean `gmres`?"},
    {"race 30 cg", "the number 30 must follow a solver"},
    {"race cg 30", "cg 30: this solver takes no number"},
    {"race gmres 2.5", "2.5 after gmres is not a number of iterations"},
    {"race gmres 0", "0 after gmres"},
    {"race gmres 30 40", "the number 40 must follow"},
    {"race gmres 501", "takes 1 to 500"},
    {"race wjacobi 2.5", "below 2"},
    {"race wjacobi -1", "its omega must be above 0"},
    {"race cg csr-serial", "this race is between solvers: the kernel csr-serial"},
    {"race csr-serial cg", "this race is between kernels: the solver cg"},
    {"race csr-serial 3", "the number 3 must follow"},
    {"race cg cg cg cg cg cg cg cg cg", "at most 8"},
    {"race cg reps 3", "`reps` does not apply to a race of solvers"},
    {"race csr-serial tol 1e-3", "`tol` does not apply to a race of kernels"},
    {"race csr-serial reps -1", "`reps -1` is outside"},
    {"race cg of nothing", "is not a matrix"},
    {"race cg tol -1", "must not be negative"},
    {"race cg b nowhere.mtx", "nowhere.mtx"},
    {"race cg jacobi of wide on cpu", "square"},
    {"race csr-vector on cpu", "does not run on cpu"},
};

TEST(mistakes_are_named)
{
    struct talk t;
    open_with(&t, OUT_TEXT, "gen random 6 2 9 as wide; gen poisson2d 5");
    for (int i = 0; i < COUNT(mistakes); i++) {
        if (talk_line(&t, mistakes[i].line)) fail_msg("%s is no mistake", mistakes[i].line);
        assert_says(t.err, mistakes[i].says);
        assert_null(t.s.race);
    }
    talk_close(&t);
}

/* ---- stopping, and cleaning up ---- */

static int ticks_left;

static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    ticks_left -= !strncmp(what, "race", 4);
    return ticks_left >= 0;
}

TEST(a_stopped_race_reports_its_results)
{
    struct talk t;
    open_with(&t, OUT_JSON, "gen poisson2d 60");
    t.s.watch.tick = tick;
    ticks_left = 8;
    assert_false(talk_line(&t, "race jacobi wjacobi on cpu tol 1e-14 maxit 10000000 force"));
    assert_says(t.out, "\"status\":\"stopped\"");
    assert_says(t.out, "cancelled");
    assert_true(number(&t, 0, "residual_true") < 1);
    t.s.watch.tick = NULL;
    t.s.quit = false;
    assert_true(t.s.race && t.s.race->stopped);
    assert_true(talk_line(&t, "drop poisson2d"));
    assert_null(t.s.race);
    talk_close(&t);
}

static void keep(void *user, const char *word)
{
    size_t n = strlen(user);
    snprintf((char *)user + n, 4096 - n, "%s ", word);
}

TEST(words_are_completed)
{
    struct talk t;
    char words[4096] = "";
    open_with(&t, OUT_TEXT, "version");
    complete(&t.s, "race cg gm", 10, keep, words);
    assert_string_equal(words, "gmres ");
    words[0] = 0;
    complete(&t.s, "race cg ", 8, keep, words);
    assert_says(words, "gmres ");
    assert_says(words, "maxit ");
    assert_null(strstr(words, "csr-serial"));
    words[0] = 0;
    complete(&t.s, "race csr-serial ", 16, keep, words);
    assert_says(words, "ell-serial ");
    assert_null(strstr(words, "gmres"));
    talk_close(&t);
}

static struct fake fake;

TEST(memory_is_held_at_once)
{
    struct talk t;
    open_with(&t, OUT_TEXT, "gen poisson2d 20; device fake");
    fake.budget = fake.used;
    do fake.budget += 20000; /* the loop ends when the memory suffices for a race of one solver */
    while (!talk_line(&t, "race cg maxit 20"));
    assert_false(talk_line(&t, "race cg gmres 30 bicgstab maxit 20"));
    assert_says(t.err, "keeps all its 3 racers in memory at the same time");
    assert_null(t.s.race);
    fake.budget = 1 << 26;
    assert_true(talk_line(&t, "race cg gmres 30 maxit 20"));
    talk_close(&t);
}

/* Whichever call fails, the race ends and the session continues; afterwards everything works. */
TEST(every_call_may_fail)
{
    static const char *const lines[] = {"race cg gmres 3 maxit 5", "race csr-vector ell"};
    fake.budget = 1 << 26;
    for (int l = 0; l < COUNT(lines); l++) {
        for (int call = 0; call < FAKE_CALLS; call++) {
            bool ok = false;
            for (int n = 1; !ok && n < 500; n++) {
                struct talk t;
                open_with(&t, OUT_TEXT, "gen poisson2d 6; device fake");
                fake.sticky = n % 2;
                fake.fail_in[call] = n;
                ok = talk_line(&t, lines[l]);
                ok &= fake.fail_in[call] > 0;
                fake.fail_in[call] = 0;
                fake.sticky = false;
                assert_true(ok || strstr(t.err, "fails, as the test requested") ||
                            strstr(t.out, "fails, as the test requested"));
                assert_true(talk_line(&t, "device fake; race cg maxit 2"));
                talk_close(&t);
            }
            assert_true(ok);
        }
    }
    assert_int_equal(fake.nblocks, 0);
}

TEST(every_allocation_may_fail)
{
    static const char *const lines[] = {"race cg gmres 3 maxit 5 on cpu", "race csr-serial ell-serial on cpu reps 300"};
    for (int l = 0; l < COUNT(lines); l++) {
        bool ok = false;
        for (int64_t n = 1; !ok && n < 3000; n++) {
            struct talk t;
            open_with(&t, OUT_TEXT, "gen poisson2d 6");
            mem_fail_at(n);
            ok = talk_line(&t, lines[l]);
            mem_fail_at(0);
            assert_true(ok || strstr(t.err, "memory"));
            assert_true(talk_line(&t, "race cg maxit 2 on cpu"));
            talk_close(&t);
        }
        assert_true(ok);
    }
}

static int setup(void **state)
{
    return fake_open(&fake, "fake", "emu", 1 << 26, NULL) ? 0 : -1;
}

static int teardown(void **state)
{
    devices_close();
    return 0;
}

SUITE(.setup = setup, .teardown = teardown);
