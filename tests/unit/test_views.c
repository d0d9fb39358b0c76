/* Every view is drawn for matrices of odd shapes, on screens of odd sizes, and after every key. The view stays inside
   its canvas, and each nonzero of a matrix is under some dot of the picture. */
#include "base/mem.h"
#include "files/load_info.h"
#include "kits/golden_kit.h"
#include "kits/test.h"
#include "language/run_lines.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/parting.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_rows.h"
#include "ui/views/view_solve.h"
#include "ui/views/view_spy.h"
#include "ui/views/view_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start(struct session *s, FILE *f)
{
    struct err e = {0};
    assert_true(session_new(s, f, f, OUT_TEXT, &e));
    assert_true(ui_attach(s, &e));
}

static void stop(struct session *s)
{
    ui_detach(s);
    session_free(s);
}

/* A rows x cols matrix with an entry (i, j) if i * cols + j is a multiple of `every`; if `every` is 0, there is no
   entry. */
static void add_matrix(struct session *s, int rows, int cols, int every)
{
    struct err e = {0};
    struct csr A = {0};
    struct load_info info = {.file = "made"};
    int n = 0, *row = mem_new((int64_t)rows * cols, sizeof *row, "rows", &e);
    int *col = mem_new((int64_t)rows * cols, sizeof *col, "columns", &e);
    double *val = mem_new((int64_t)rows * cols, sizeof *val, "values", &e);
    assert_true(row && col && val);
    for (int k = 0; every && k < rows * cols; k += every) {
        row[n] = k / cols;
        col[n] = k % cols;
        val[n++] = -1.0 / (k + 3);
    }
    assert_true(csr_from_triplets(&A, rows, cols, n, row, col, val, NULL, NULL, &e));
    assert_true(session_add(s, "made", &A, &info, &e));
    mem_free(row);
    mem_free(col);
    mem_free(val);
}

static const struct {
    int rows, cols, every;
} shapes[] = {
    {0, 0, 0},    {0, 5, 0},   {1, 1, 1},     {1, 1, 0},    {1, 3000, 7},
    {3000, 1, 7}, {33, 31, 2}, {200, 200, 1}, {7, 900, 13}, {500, 3, 0},
};
static const struct {
    int w, h;
} sizes[] = {{1, 1}, {3, 2}, {20, 5}, {41, 9}, {80, 24}, {211, 67}};
static const int keys[] = {UI_DOWN, UI_RIGHT, '+',     '+',     '+',   UI_PGDN, UI_END, '-',     UI_UP,
                           UI_LEFT, '=',      '+',     '+',     '+',   'a',     'g',    UI_PGDN, UI_DOWN,
                           UI_TAB,  UI_RIGHT, UI_PGUP, 'n',     ' ',   's',     UI_TAB, UI_DOWN, '-',
                           '-',     '-',      '-',     UI_HOME, UI_UP, UI_LEFT, UI_TAB, UI_ESC};

static void press_all(struct session *s, const struct view *v, struct canvas *c)
{
    struct view_state *st = screen_view_state(s, v);
    struct err e = {0};
    view_reset(st, s->current);
    st->full = true;
    if (v->prepare && !v->prepare(s, st, &e)) return;
    view_draw(v, c, s, st);
    for (int i = 0; i < COUNT(keys); i++) {
        view_key(s, v, keys[i]);
        canvas_clear(c);
        view_draw(v, c, s, st);
        assert_in_range(st->win.row0, 0, st->win.row1);
        assert_in_range(st->win.row1, 0, st->rows);
        assert_in_range(st->win.col1, 0, st->cols);
        assert_true(st->row == 0 || st->row < st->rows);
        assert_true(st->scroll >= 0 && st->item >= 0);
    }
}

TEST(every_key_everywhere)
{
    FILE *f = fopen("/dev/null", "w");
    for (int i = 0; i < COUNT(shapes); i++) {
        struct session s;
        start(&s, f);
        add_matrix(&s, shapes[i].rows, shapes[i].cols, shapes[i].every);
        for (int k = 0; k < COUNT(sizes) * 2; k++) {
            struct canvas c;
            assert_true(canvas_new(&c, sizes[k / 2].w, sizes[k / 2].h, k % 2, NULL));
            for (int v = 0; views[v]; v++) press_all(&s, views[v], &c);
            canvas_free(&c);
        }
        stop(&s);
    }
    fclose(f);
}

static int grid_length(int row)
{
    int at_edge = (row / 12 == 0 || row / 12 == 11) + (row % 12 == 0 || row % 12 == 11);
    return 5 - at_edge;
}

/* The line below the rows sorted by length, for each row of the 12 x 12 grid: its place, and the share of the rows up
   to that place. */
TEST(places_of_rows_by_length)
{
    const struct view *v = view_find("rows");
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    struct canvas c;
    struct err e = {0};
    start(&s, f);
    assert_true(run_line(&s, "gen poisson2d 12") && canvas_new(&c, 80, 24, false, NULL));
    struct view_state *st = screen_view_state(&s, v);
    view_reset(st, s.current);
    st->full = true;
    assert_true(!v->prepare || v->prepare(&s, st, &e));
    view_key(&s, v, 't');
    view_key(&s, v, 't');
    view_key(&s, v, UI_HOME);
    for (int place = 0, length = 3, row = 0; place < 144; place++, row++) {
        char shown[400] = "", wanted[80];
        while (row >= 144 || grid_length(row) != length)
            if (++row >= 144) row = 0, length++;
        canvas_clear(&c);
        view_draw(v, &c, &s, st);
        FILE *to = fmemopen(shown, sizeof shown, "w");
        canvas_print_line(&c, c.h - 2, to, COLOURS_NONE);
        fclose(to);
        snprintf(wanted, sizeof wanted, " row %d: %d entries; place %d of 144 by length (%.1f%%)", row, length, place,
                 (place + 1) / 1.44);
        assert_string_equal(shown, wanted);
        view_key(&s, v, UI_UP);
    }
    canvas_free(&c);
    stop(&s);
    fclose(f);
}

/* The keys of a paused solve, including answers to its questions, on screens of any size. */
TEST(solve_everywhere)
{
    static const char *const solves[] = {"gen poisson2d 9; solve cg step", "gen poisson2d 9; solve gmres m 5 step",
                                         "gen poisson2d 9; solve wjacobi step on emu",
                                         "gen poisson2d 9; solve cg f32 step"};
    static const char typed[] =
        "?s ?q3s12sbBT1e-3\nT-1\nTx\nT\no1\no9\nM3\nM0\nMx\npjacobi\npwhat\npnone\n5bT1e\x1b 9999999999b  G";
    const struct view *v = view_find("solve");
    FILE *f = fopen("/dev/null", "w");
    for (int i = 0; i < COUNT(solves) * COUNT(sizes) * 2; i++) {
        struct session s;
        struct canvas c;
        struct err e = {0};
        start(&s, f);
        run_line(&s, solves[i % COUNT(solves)]);
        assert_true(canvas_new(&c, sizes[i / 2 % COUNT(sizes)].w, sizes[i / 2 % COUNT(sizes)].h, i % 2, NULL));
        view_reset(screen_view_state(&s, v), s.current);
        screen_view_state(&s, v)->full = true;
        for (const char *k = typed; *k && s.solve->reason == RUNNING; k++) {
            view_key(&s, v, *k == '\n' ? UI_ENTER : *k == '\x1b' ? UI_ESC : *k);
            for (int n = 0; n < 20 && !s.solve->paused && s.solve->reason == RUNNING; n++)
                if (!solve_slice(s.solve, 0, &e)) fail_msg("%s", e.text);
            canvas_clear(&c);
            view_draw(v, &c, &s, screen_view_state(&s, v));
        }
        canvas_free(&c);
        stop(&s);
    }
    fclose(f);
}

/* The remaining iterations of a solve are predicted only while its residual decreases. */
TEST(remaining_iterations)
{
    double hist[201];
    struct solve v = {.solver = solver_find("cg"), .history.residual = hist, .iterations = 100, .set.tol = 1e-10};
    for (int i = 0; i <= 200; i++)
        hist[i] = pow(10, -i / 20.0) * (1 + (i % 3) / 2.0); /* the residual is 1e-5 at iteration 100 and oscillates */
    assert_true(fabs(solve_left(&v) - 100) <= 3);
    v.iterations = 3;
    assert_true(isnan(solve_left(&v)));
    v.iterations = 200;
    v.set.tol = 0;
    assert_true(isnan(solve_left(&v)));
    v.set.tol = 1e-12;
    for (int i = 0; i <= 200; i++) hist[i] = 1;
    assert_true(isnan(solve_left(&v)));
    for (int i = 0; i <= 200; i++) hist[i] = exp(i);
    assert_true(isnan(solve_left(&v)));
    for (int i = 0; i <= 200; i++) hist[i] = i % 2 ? NAN : 0;
    assert_true(isnan(solve_left(&v)));
}

/* Of a long solve, only the last iterations count: its residual falls 10 times as fast in the last 1000 of 100,000. */
TEST(the_recent_rate_counts)
{
    enum { N = 100000, FAST = 1000 };
    double *hist = malloc((N + 1) * sizeof *hist);
    struct solve v = {.solver = solver_find("cg"), .history.residual = hist, .iterations = N};
    assert_non_null(hist);
    for (int i = 0; i <= N; i++) hist[i] = exp(-1e-4 * (i < N - FAST ? i : N - FAST + 10 * (i - N + FAST)));
    v.set.tol = hist[N] * exp(-1e-3 * 2500);
    assert_true(fabs(solve_left(&v) - 2500) <= 1);
    free(hist);
}

/* The text of the view on a screen of 100 x 40; the caller frees it. */
static char *drawn(struct session *s, const struct view *v)
{
    struct canvas c;
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    assert_true(canvas_new(&c, 100, 40, false, NULL));
    view_draw(v, &c, s, screen_view_state(s, v));
    canvas_print(&c, out, COLOURS_NONE);
    fclose(out);
    canvas_free(&c);
    return text;
}

/* The view of a solve that would end in this time. */
TEST(the_time_left_has_a_unit)
{
    static const struct {
        double us;
        const char *says;
    } cases[] = {{400, "left 400 us "}, {4e4, "left 40 ms "},  {7e6, "left 7 s "},
                 {5.9e7, "left 59 s "}, {9e8, "left 15 min "}, {7.2e9, "left 2.0 h "}};
    const struct view *v = view_find("solve");
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    start(&s, f);
    s.dev = device_open("cpu", NULL);
    run_line(&s, "gen poisson2d 20; solve cg step; step 24");
    double left = solve_left(s.solve);
    assert_true(left > 0);
    screen_view_state(&s, v)->full = true;
    for (int i = 0; i < COUNT(cases); i++) {
        s.solve->time.us = cases[i].us / left * (double)s.solve->iterations;
        char *text = drawn(&s, v);
        if (!strstr(text, cases[i].says)) fail_msg("not %s in\n%s", cases[i].says, text);
        free(text);
    }
    stop(&s);
    fclose(f);
}

/* The time left is shown as long as the solve is expected to reach tol within maxit iterations. */
TEST(a_solve_that_maxit_ends_first_says_so)
{
    const struct view *v = view_find("solve");
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    start(&s, f);
    s.dev = device_open("cpu", NULL);
    run_line(&s, "gen poisson2d 20; solve cg step; step 24");
    double left = solve_left(s.solve);
    int64_t end = s.solve->iterations + (int64_t)left;
    assert_true(left > 1 && left < 100);
    screen_view_state(&s, v)->full = true;
    s.solve->time.us = 4e4 / left * (double)s.solve->iterations;
    const struct {
        int64_t maxit;
        bool beyond;
    } cases[] = {{end - 1, true}, {end, false}, {end + 1, false}, {s.solve->iterations, true}, {100000, false}};
    for (int i = 0; i < COUNT(cases); i++) {
        s.solve->set.maxit = cases[i].maxit;
        char *text = drawn(&s, v);
        if (!strstr(text, cases[i].beyond ? "left beyond maxit" : "left 40 ms "))
            fail_msg("maxit %d of %d iterations:\n%s", (int)cases[i].maxit, (int)end, text);
        free(text);
    }
    stop(&s);
    fclose(f);
}

/* Draw the view of bench with the list of runs in `room` lines; the chosen run is marked in it. Returns the first run
   of the list. */
static int64_t first_run_drawn(struct session *s, const struct view *v, int room)
{
    enum { TOP = 3, BELOW = 3 }; /* lines above and below the list on a full screen */
    struct view_state *st = screen_view_state(s, v);
    struct canvas c;
    assert_true(canvas_new(&c, 100, TOP + room + BELOW, true, NULL));
    view_draw(v, &c, s, st);
    int y = TOP + (int)(st->item - st->scroll), marked = 0;
    for (int x = 0; x < c.w; x++) marked += c.cell[y * c.w + x].style == ST_CURSOR;
    if (y >= TOP + room || !marked) fail_msg("%d lines: run %d is not marked in line %d", room, (int)st->item, y);
    canvas_free(&c);
    return st->scroll;
}

/* The chosen run of bench is on the screen, whatever its height, and the list moves no farther than it must. */
TEST(the_chosen_run_is_shown)
{
    const struct view *v = view_find("bench");
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    start(&s, f);
    run_line(&s, "gen poisson2d 20");
    make_runs(&s, true);
    struct view_state *st = screen_view_state(&s, v);
    for (int room = 1; room <= s.nruns + 1; room++) {
        int64_t first = 0;
        view_reset(st, s.current);
        st->full = true;
        for (int i = 0; i < 2 * s.nruns - 1; i++) { /* down to the last run, and up to the first */
            int64_t item = i < s.nruns ? i : 2 * s.nruns - 2 - i;
            first = item < first ? item : item > first + room - 1 ? item - room + 1 : first;
            assert_int_equal(first_run_drawn(&s, v, room), first);
            assert_int_equal(st->item, item);
            view_key(&s, v, i < s.nruns - 1 ? UI_DOWN : UI_UP);
        }
    }
    stop(&s);
    fclose(f);
}

/* A single nonzero anywhere leaves a mark, at any size of the matrix and the picture. */
TEST(every_nonzero_is_drawn)
{
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    start(&s, f);
    uint64_t seed = 1;
    for (int t = 0; t < 60; t++) {
        int n = 1 << (t % 21), row = (int)(random_next(&seed) % (uint64_t)n),
            col = (int)(random_next(&seed) % (uint64_t)n);
        struct csr A = {0};
        struct load_info info = {.file = "one"};
        struct err e = {0};
        double one = 1;
        assert_true(csr_from_triplets(&A, n, n, 1, &row, &col, &one, NULL, NULL, &e));
        assert_true(session_add(&s, "one", &A, &info, &e));
        struct canvas c;
        assert_true(canvas_new(&c, 30 + t, 10 + t % 30, t % 2, NULL));
        const struct view *v = view_find("spy");
        view_reset(screen_view_state(&s, v), s.current);
        view_draw(v, &c, &s, screen_view_state(&s, v));
        int marks = 0;
        for (int i = 3 * c.w; i < c.w * (c.h - 1); i++) /* without the legend */
            marks += c.cell[i].style >= ST_RAMP && c.cell[i].style < ST_RAMP + RAMP_STEPS;
        if (n <= 10) marks = 1; /* drawn as values */
        if (!marks) {
            canvas_print(&c, stdout, COLOURS_NONE);
            fail_msg("%d x %d: nothing at row %d, column %d on %d x %d cells", n, n, row, col, c.w, c.h);
        }
        canvas_free(&c);
        session_drop(&s, s.current);
    }
    stop(&s);
    fclose(f);
}

/* The picture of a full matrix has one colour, whatever the ratio of the sizes of matrix and picture. */
TEST(uniform_looks_uniform)
{
    FILE *f = fopen("/dev/null", "w");
    for (int n = 40; n < 400; n += 37) {
        struct session s;
        struct canvas c;
        start(&s, f);
        add_matrix(&s, n, n, 1);
        assert_true(canvas_new(&c, 80, 24, false, NULL));
        const struct view *v = view_find("spy");
        view_reset(screen_view_state(&s, v), s.current);
        view_draw(v, &c, &s, screen_view_state(&s, v));
        for (int i = 0; i < c.w * c.h; i++) {
            int style = c.cell[i].style;
            if (c.cell[i].glyph > 0x2800 && c.cell[i].glyph <= 0x28ff)
                assert_int_equal(style, ST_RAMP + RAMP_STEPS - 1);
        }
        canvas_free(&c);
        stop(&s);
    }
    fclose(f);
}

/* If an allocation inside a view fails, either the view is still shown, or the error code is E_MEMORY. */
TEST(without_memory)
{
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    start(&s, f);
    add_matrix(&s, 33, 31, 2);
    for (int nth = 1; nth < 12; nth++)
        for (int i = 0; views[i]; i++) {
            struct err e = {0};
            mem_fail_at(nth);
            bool ok = s.front->show(&s, views[i]->name, false, &e);
            mem_fail_at(0);
            assert_true(ok || e.code == E_MEMORY);
        }
    stop(&s);
    fclose(f);
}

TEST(unknown_view)
{
    FILE *f = fopen("/dev/null", "w");
    struct session s;
    struct err e = {0};
    start(&s, f);
    assert_false(s.front->show(&s, "sky", false, &e));
    assert_int_equal(e.code, E_USAGE);
    err_clear(&e);
    assert_false(s.front->show(&s, "spy", false, &e));
    assert_non_null(strstr(e.text, "no matrix"));
    stop(&s);
    fclose(f);
}

/* The output of a command in a session with one matrix; the caller frees it. */
static char *output_of(const char *line)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct session s;
    assert_non_null(f);
    start(&s, f);
    add_matrix(&s, 200, 200, 3);
    run_line(&s, line);
    stop(&s);
    fclose(f);
    return text;
}

TEST(sizes_of_spy)
{
    static const struct {
        const char *line, *expected;
    } table[] = {
        {"spy width -3", "width -3: a picture has 25 to 4096 columns"},
        {"spy width 0", "width 0: a picture"},
        {"spy width 24", "width 24: a picture"},
        {"spy width 25", "1 dot = "},
        {"spy width 4097", "width 4097: a picture"},
        {"spy height 3", "height 3: a picture has 7 to 4096 rows"},
        {"spy height 7", "elements"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        char *text = output_of(table[i].line);
        if (!strstr(text, table[i].expected))
            fail_msg("%s: expected `%s`, found:\n%s", table[i].line, table[i].expected, text);
        free(text);
    }
}

/* Seven parts have a colour each; with more, parts share colours. */
TEST(colours_of_parts_are_titled)
{
    struct parting p = {.P.parts = 7};
    struct matrix m = {.parting = &p};
    assert_string_equal(spy_owners_title(&m), "parts ");
    p.P.parts = 8;
    assert_string_equal(spy_owners_title(&m), "parts modulo 7: ");
    m.parting = NULL;
    assert_string_equal(spy_owners_title(&m), "parts ");
}

/* A warp has 32 rows, counted from 0, and the last one those that are left. */
TEST(warps_are_named_by_their_rows)
{
    static const struct {
        int64_t row;
        const char *name;
    } cases[] = {{0, "0-31 ("}, {32, "32-63 ("}, {64, "64-95 ("}, {96, "96-99 ("}};
    struct csr A;
    struct err e = {0};
    int64_t params[PARAMS_MAX] = {10, 10};
    assert_true(generator_find("poisson2d")->make(params, 1, NULL, &A, &e));
    struct rows_state rows = {.mode = WARPS, .lengths.A = &A};
    struct view_state st = {.own = &rows, .rows = 100};
    for (int i = 0; i < COUNT(cases); i++) {
        char name[64];
        rows_member_name(&st, cases[i].row, name, sizeof name);
        if (strncmp(name, cases[i].name, strlen(cases[i].name)) != 0) fail_msg("row %d: %s", (int)cases[i].row, name);
    }
    csr_free(&A);
}
