/* The command sweep: values, the line of each value, the numbers, and the session afterwards; charts. */
#include "base/loop.h"
#include "commands/sweep.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/progress.h"
#include "solvers/solve.h"
#include "ui/chart.h"

#include <math.h>

/* ---- values and lines ---- */

static struct sweep_value room[SWEEP_VALUES];

static struct sweep read_values(const char *span, double step, double times)
{
    struct sweep v = {.value = room};
    struct err e = {0};
    if (!sweep_read_values(&v, span, step, times, &e)) fail_msg("%s: %s", span, e.text);
    return v;
}

static void check_values(const char *span, double step, double times, const char *expected, bool log)
{
    char text[1024] = "";
    struct sweep v = read_values(span, step, times);
    for (int i = 0; i < v.planned; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", v.value[i].text);
    assert_string_equal(text, expected);
    assert_int_equal(v.log, log);
}

TEST(ranges_and_lists)
{
    check_values("1..4", NAN, NAN, "1 2 3 4", false);
    check_values("4..1", NAN, NAN, "4 3 2 1", false);
    check_values("1..64", NAN, 4, "1 4 16 64", true);
    check_values("64..10", NAN, 0.5, "64 32 16", true);
    check_values("1..1.3", 0.1, NAN, "1 1.1 1.2 1.3", false);
    check_values("8,16,32", NAN, NAN, "8 16 32", true);
    check_values("10,20,30,40", NAN, NAN, "10 20 30 40", false);
    check_values("ell", NAN, NAN, "ell", false);
    check_values("-1..1", 1, NAN, "-1 0 1", false);
    check_values("0.001..0.0001", NAN, 0.1, "0.001 0.0001", true);
    assert_true(isnan(read_values("1,x", NAN, NAN).value[1].number));
    assert_false(read_values("1,x", NAN, NAN).numbers);
}

TEST(wrong_ranges)
{
    static const struct {
        const char *span;
        double step, times;
        const char *says;
    } wrong[] = {
        {"1..x", NAN, NAN, "not a range"}, {"1..9", -1, NAN, "does not lead"}, {"1..9", NAN, 0.5, "does not lead"},
        {"0..9", NAN, 2, "above 0"},       {"1..9", 1, 2, "not both"},         {"1..999", NAN, NAN, "256 values"},
        {"1,,2", NAN, NAN, "is empty"},    {"1,2", 1, NAN, "no `step`"},       {"1..9", 0, NAN, "does not lead"},
        {"1..9", NAN, 1, "does not lead"},
    };
    for (int i = 0; i < COUNT(wrong); i++) {
        struct sweep v = {.value = room};
        struct err e = {0};
        assert_false(sweep_read_values(&v, wrong[i].span, wrong[i].step, wrong[i].times, &e));
        if (!strstr(e.text, wrong[i].says)) fail_msg("%s: %s", wrong[i].span, e.text);
    }
}

TEST(lines)
{
    char line[SWEEP_LINE];
    struct sweep v = {.parameter = "n", .line = "gen poisson2d n n; predict n-csr nn"};
    struct err e = {0};
    assert_true(sweep_put(&v, PLACE_WORD, "8", line, &e));
    assert_string_equal(line, "gen poisson2d 8 8; predict n-csr nn");
    assert_true(sweep_put(&v, PLACE_KEYWORD, "8", line, &e));
    assert_string_equal(line, "gen poisson2d n 8 n 8; predict n-csr nn");
    assert_true(sweep_put(&v, PLACE_END, "8", line, &e));
    assert_string_equal(line, "gen poisson2d n n; predict n-csr nn n 8");
    memset(v.line, 'x', sizeof v.line - 1);
    assert_false(sweep_put(&v, PLACE_END, "8", line, &e));
}

/* ---- numbers ---- */

/* The number of the measure with this key, of value i and series k of the last sweep. */
static double number(const struct talk *t, const char *key, int i, int k)
{
    const struct sweep *v = t->s.sweep;
    for (int m = 0; m < v->nmeasures; m++)
        if (!strcmp(v->measure[m].key, key)) return *sweep_cell(v, i, k, m);
    fail_msg("no measure %s", key);
    return NAN;
}

TEST(numbers_are_those_of_the_command)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen band 100 1", "band");
    /* dia of a tridiagonal matrix: 300 slots and 3 offsets; segments of 8 rows in drm: 13 * 8 * 3 slots */
    talk_says(&t, "sweep nrows 8..64 times 2 of convert drm", "nrows");
    const struct sweep *v = t.s.sweep;
    assert_int_equal(v->n, 4);
    assert_true(v->log && v->nseries == 1);
    for (int m = 0; m < v->nmeasures; m++) assert_string_not_equal(v->measure[m].key, "bytes"); /* of one array */
    assert_true(number(&t, "padding", 0, 0) == 13 * 8 * 3 - 298);
    assert_true(number(&t, "padding", 3, 0) == 2 * 64 * 3 - 298);
    talk_says(&t, "sweep K in csr-vector,drm of predict K", "predicted (");
    v = t.s.sweep;
    assert_false(v->numbers);
    assert_int_equal(v->measure[0].how, SWEEP_PREDICTED);
    assert_string_equal(v->measure[0].key, "predicted_us");
    talk_says(&t, "sweep n 4..8 times 2 of gen poisson2d n n", "64");
    talk_close(&t);
}

TEST(rows_of_several_kernels_are_series)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 9; sweep k in 2,3 show bytes of bench csr on cpu reps k", "csr-openmp");
    const struct sweep *v = t.s.sweep;
    assert_string_equal(v->label, "kernel");
    assert_int_equal(v->nseries, 2);
    assert_true(number(&t, "bytes", 0, 0) == number(&t, "bytes", 1, 1));
    talk_close(&t);
}

TEST(keywords_stay)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen dense 8; sweep b in 8,16 show b of lu lu-paper on emu b", "16");
    assert_true(number(&t, "b", 1, 0) == 16);
    talk_says(&t, "sweep b in 8,16 show b of lu lu-paper on emu", "16");
    assert_true(number(&t, "b", 1, 0) == 16);
    talk_says(&t, "gen poisson2d 9; sweep parts in 1,2,4 of whatif parts", "spmv gain");
    assert_true(number(&t, "spmv_gain", 0, 0) == 1);
    talk_close(&t);
}

TEST(failures)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 9; sweep block in 2,99 of convert bsr", "block = 99: `99` is not a value");
    assert_true(isnan(number(&t, "padding", 1, 0)) && !isnan(number(&t, "padding", 0, 0)));
    talk_refuses(&t, "sweep block in 99,2 of convert bsr", "`99` is not a value");
    talk_refuses(&t, "sweep x 1..2 of drop", "cannot run `drop`");
    talk_refuses(&t, "sweep x 1..2 of 'stats; use x'", "cannot run `use`");
    talk_refuses(&t, "sweep x 1..2 of '!ls'", "shell");
    talk_refuses(&t, "sweep x 1..2 of 'stats > /tmp/x'", "redirect");
    talk_refuses(&t, "sweep x 1..2 of 'sweep y 1..2 of stats'", "cannot run `sweep`");
    talk_refuses(&t, "sweep nrows in 8 show nothing of convert drm", "no number `nothing`; its numbers are");
    talk_refuses(&t, "sweep x 1..2", "`of` is missing");
    assert_int_equal(t.s.sweep->n, 2); /* the last that succeeded */
    talk_close(&t);
}

/* ---- the session afterwards ---- */

static int products_of(const struct matrix *m)
{
    int n = 0;
    for (const struct product *p = m->products; p; p = p->next) n++;
    return n;
}

TEST(the_session_is_as_before)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen band 50 as A; gen poisson2d 9 as B; convert ell; solve cg on cpu; spmv on cpu reps 2", "csr");
    const struct matrix *B = t.s.current;
    const struct solve *solve = t.s.solve;
    const struct run *runs = t.s.runs;
    int levels = t.s.undo.n, n = products_of(B);
    talk_says(&t, "sweep nrows 1..9 of convert drm; sweep s in cg,minres of solve s on cpu", "minres");
    talk_says(&t, "sweep n 2..40 of gen poisson2d n n as C; sweep k 2..3 of spmv transposed on cpu reps k", "k");
    talk_says(&t, "sweep s in scaled,f64 of solve gmres on cpu s", "gmres");
    assert_ptr_equal(t.s.current, B);
    assert_ptr_equal(t.s.solve, solve);
    assert_ptr_equal(t.s.runs, runs);
    assert_int_equal(products_of(B), n);
    assert_null(B->transposed);
    assert_int_equal(t.s.undo.n, levels);
    assert_null(t.s.aside);
    assert_null(B->next);
    talk_says(&t, "print x 0", "cg");
    talk_says(&t, "undo", "B was removed");
    talk_says(&t, "undo", "A was removed");
    talk_close(&t);
}

/* Ctrl-C after some ticks. */
static int ticks;

static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    if (--ticks == 0) session_interrupt();
    return ticks > 0;
}

TEST(ctrl_c_keeps_the_values_so_far)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 20", "400");
    t.s.watch.tick = tick;
    loop_check_all(true);
    bool kept = false;
    for (int after = 1; after < 1000000 && !kept; after += 1 + after / 2) {
        ticks = after;
        talk_forget(&t);
        assert_false(talk_line(&t, "sweep nrows 1..200 of convert drm"));
        session_take_interrupt();
        t.s.quit = false; /* a session without a terminal ends at Ctrl-C */
        assert_null(t.s.aside);
        kept = t.s.sweep;
    }
    loop_check_all(false);
    assert_true(kept);
    assert_in_range(t.s.sweep->n, 1, 199);
    assert_non_null(strstr(t.err, "cancelled after"));
    assert_non_null(strstr(t.out, "nrows"));
    talk_close(&t);
}

/* ---- completion ---- */

static void take_word(void *user, const char *word)
{
    char *all = user;
    snprintf(all + strlen(all), 4000 - strlen(all), " %s", word);
}

TEST(the_command_is_completed)
{
    struct talk t;
    char all[4000] = "";
    talk_open(&t, OUT_TEXT);
    static const char first[] = "sweep n 1..9 of pred", second[] = "sweep n 1..9 of convert dr",
                      third[] = "sweep n 1..9 o";
    complete(&t.s, first, strlen(first), take_word, all);
    complete(&t.s, second, strlen(second), take_word, all);
    complete(&t.s, third, strlen(third), take_word, all);
    assert_string_equal(all, " predict drm of");
    talk_close(&t);
}

/* ---- charts ---- */

static char *screen(const struct canvas *c)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    canvas_print(c, f, COLOURS_NONE);
    fclose(f);
    return text;
}

TEST(bars_and_curves)
{
    static struct chart g = {.n = 3, .nseries = 2, .x_name = "n", .chosen = -1};
    struct canvas c = {0};
    struct err e = {0};
    for (int i = 0; i < 3; i++) {
        g.x[i] = i + 1;
        g.series[0].y[i] = i ? 10 * i : NAN;
        g.series[1].y[i] = i ? 5 : NAN;
        snprintf(g.label[i], sizeof g.label[i], "row%d", i);
    }
    snprintf(g.series[0].name, sizeof g.series[0].name, "first");
    snprintf(g.series[0].after, sizeof g.series[0].after, "paper");
    assert_int_equal(chart_bar_lines(&g), 5);
    assert_true(canvas_new(&c, 60, 14, false, &e));
    assert_int_equal(chart_bars(&c, &g, 0, 0, 10, "us"), 5);
    char *text = screen(&c);
    assert_non_null(strstr(text, "row0   no number"));
    assert_non_null(strstr(text, " 20 paper"));
    free(text);
    canvas_clear(&c);
    assert_int_equal(chart_bars(&c, &g, 0, 3, 10, "us"), 2); /* scrolled: the bars of the last row */
    text = screen(&c);
    assert_null(strstr(text, "row1"));
    assert_non_null(strstr(text, "row2"));
    free(text);
    canvas_clear(&c);
    chart_curves(&c, &g, 1, 13, "us");
    text = screen(&c);
    assert_non_null(strstr(text, "us\n"));
    assert_non_null(strstr(text, "row2"));
    free(text);
    canvas_free(&c);
}
