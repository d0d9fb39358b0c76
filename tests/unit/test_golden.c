/* Golden screens of many cases. Each case runs commands of the real command table or sends keys to the real views. The
   screen of a case, of at most 80x24 characters, is compared with tests/golden/NAME.txt. test_screens.c tests every
   view in every size, charset and palette. */
#include "kits/golden_kit.h"
#include "kits/test.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "session/front.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "ui/explorer.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

enum { WIDTH = 80, HEIGHT = 24 };

struct screen_case {
    const char *name;
    const char *setup;                         /* commands whose output is ignored */
    const char *script;                        /* commands whose output is the screen; NULL: the screen shows a view */
    const char *view, *keys;                   /* a view shown full screen, and the keys pressed in it (see key_of) */
    enum { NO_RUNS, RUNS, UNTIMED_RUNS } runs; /* made-up measurements, with or without times */
    int w, h;                                  /* size of the screen; 0: the default */
    bool ascii, plain;
    bool explore; /* draw the whole explorer, not only the view */
    enum colours colours;
    void (*fix)(struct solve *v); /* replaces values that depend on timing or rounding */
};

/* A verdict of four lines, as of a refinement that has stagnated. */
static void make_long_verdict(struct solve *v)
{
    snprintf(
        v->why, sizeof v->why,
        "stagnated: the inner solves with values in bf16 no longer correct x: the last one multiplied the residual "
        "in fp64 by 1.5; it is now 7.14e-04; the condition of A is probably above 1e+02, too large for bf16: refine "
        "from fp32, or solve in f64");
}

static const struct screen_case cases[] = {
    {.name = "spy_thesis4", .setup = "load samples/thesis4.mtx", .script = "spy"},
    {.name = "spy_poisson2d", .setup = "gen poisson2d 20", .script = "spy"},
    {.name = "spy_band", .setup = "gen band 2000 6 1", .script = "spy"},
    {.name = "spy_rmat", .setup = "gen rmat 10 8 seed 3", .script = "spy"},
    {.name = "spy_rmat_ascii", .setup = "gen rmat 10 8 seed 3", .script = "spy", .ascii = true},
    {.name = "spy_wide", .setup = "gen random 40 20 4000", .script = "spy"},
    {.name = "spy_size", .setup = "gen poisson2d 20", .script = "spy width 40 height 12"},
    {.name = "spy_plain", .setup = "gen poisson2d 20", .script = "spy", .plain = true, .ascii = true},
    {.name = "spy_by_sign", .setup = "gen poisson2d 20", .script = "spy by sign"},
    {.name = "spy_by_sign_ascii", .setup = "gen poisson2d 20", .script = "spy by sign", .ascii = true},
    {.name = "spy_by_sign_values", .setup = "load samples/thesis4.mtx", .script = "spy by sign"},
    {.name = "spy_by_magnitude", .setup = "gen fem 12", .script = "spy by magnitude"},
    {.name = "spy_by_magnitude_complex", .setup = "load tests/golden/complex.mtx", .script = "spy by magnitude"},
    {.name = "spy_by_count", .setup = "gen poisson2d 20", .script = "spy by sign; spy by count; spy height 9"},
    {.name = "spy_by_nothing", .setup = "load tests/golden/complex.mtx", .script = "spy by sign"},
    {.name = "spy_full_sign", .setup = "gen fem 12", .view = "spy", .keys = "c"},
    {.name = "spy_full_sign_colours", .setup = "gen fem 12", .view = "spy", .keys = "c", .colours = COLOURS_16},
    {.name = "spy_full_sign_blocks", .setup = "gen poisson2d 60", .view = "spy", .keys = "c+++++++"},
    {.name = "spy_full_magnitude", .setup = "gen fem 12", .view = "spy", .keys = "ccr", .colours = COLOURS_16},
    {.name = "spy_full_magnitude_ascii", .setup = "gen fem 12", .view = "spy", .keys = "cc+", .ascii = true},
    {.name = "spy_full_magnitude_small", .setup = "gen fem 12", .view = "spy", .keys = "cc", .w = 40, .h = 12},
    {.name = "spy_full_round", .setup = "gen poisson2d 20", .view = "spy", .keys = "ccc"},
    {.name = "spy_full_no_sign", .setup = "load tests/golden/complex.mtx", .view = "spy", .keys = "c"},
    {.name = "rows_poisson2d", .setup = "gen poisson2d 20", .script = "rows"},
    {.name = "rows_rmat", .setup = "gen rmat 12 8 seed 3", .script = "rows"},
    {.name = "rows_rmat_ascii", .setup = "gen rmat 12 8 seed 3", .script = "rows", .ascii = true},
    {.name = "layout_csr", .setup = "load samples/thesis4.mtx", .script = "layout"},
    {.name = "layout_coo", .setup = "load samples/thesis4.mtx", .script = "layout coo"},
    {.name = "layout_csc", .setup = "load samples/thesis4.mtx", .script = "layout csc"},
    {.name = "layout_ell", .setup = "load samples/thesis4.mtx", .script = "layout ell"},
    {.name = "layout_sell", .setup = "load samples/thesis4.mtx", .script = "layout sell C 2 sigma 4"},
    {.name = "layout_hyb", .setup = "load samples/thesis4.mtx", .script = "layout hyb"},
    {.name = "layout_dia", .setup = "load samples/thesis4.mtx", .script = "layout dia"},
    {.name = "layout_bsr", .setup = "load samples/thesis4.mtx", .script = "layout bsr block 2"},
    {.name = "layout_bsell", .setup = "load samples/thesis4.mtx", .script = "layout bsell block 2 C 2"},
    {.name = "layout_strips", .setup = "load samples/thesis4.mtx", .script = "layout strips width 2"},
    {.name = "layout_dense", .setup = "load samples/thesis4.mtx", .script = "layout dense"},
    {.name = "layout_ell_ascii", .setup = "load samples/thesis4.mtx", .script = "layout ell", .ascii = true},
    {.name = "layout_large", .setup = "gen poisson2d 20", .script = "layout"},
    {.name = "layout_large_ell", .setup = "gen poisson2d 20", .script = "layout ell"},
    {.name = "no_matrix", .setup = "", .script = "rows"},
    {.name = "spy_empty", .setup = "load tests/golden/empty.mtx", .script = "spy"},
    {.name = "rows_empty", .setup = "load tests/golden/empty.mtx", .script = "rows"},
    {.name = "layout_empty", .setup = "load tests/golden/empty.mtx", .script = "layout ell; layout"},
    {.name = "spy_full", .setup = "gen poisson2d 20", .view = "spy", .keys = "rrdd"},
    {.name = "spy_full_zoom", .setup = "gen poisson2d 20", .view = "spy", .keys = "ddddrrrr+++"},
    {.name = "spy_full_elements", .setup = "gen poisson2d 20", .view = "spy", .keys = "+++++d"},
    {.name = "spy_full_values", .setup = "gen poisson2d 20", .view = "spy", .keys = "+++++++d"},
    {.name = "spy_full_back", .setup = "gen poisson2d 20", .view = "spy", .keys = "+++++dddd----g"},
    {.name = "spy_full_ascii", .setup = "gen rmat 10 8 seed 3", .view = "spy", .keys = "+r", .ascii = true},
    {.name = "spy_full_colours", .setup = "gen poisson2d 20", .view = "spy", .keys = "", .colours = COLOURS_16},
    {.name = "spy_help", .setup = "gen poisson2d 20", .view = "spy", .keys = "?"},
    {.name = "spy_full_go", .setup = "gen poisson2d 20", .view = "spy", .keys = "+++++++/200 220\n"},
    {.name = "spy_full_asks", .setup = "gen poisson2d 20", .view = "spy", .keys = "/39"},
    {.name = "spy_full_beyond", .setup = "gen poisson2d 20", .view = "spy", .keys = "/400\n"},
    {.name = "spy_full_squares", .setup = "gen poisson2d 60", .view = "spy", .keys = "+++++++"},
    {.name = "spy_full_low", .setup = "gen poisson2d 60", .view = "spy", .keys = "+++++++++++++", .h = 14},
    {.name = "explore_tiny",
     .setup = "gen poisson2d 20",
     .view = "spy",
     .keys = "\t\t\t",
     .explore = true,
     .w = 19,
     .h = 5},
    {.name = "explore_least",
     .setup = "gen poisson2d 20",
     .view = "spy",
     .keys = "\t\t\t:help\n",
     .explore = true,
     .w = 20,
     .h = 5},
    {.name = "explore_back",
     .setup = "load samples/thesis4.mtx",
     .view = "spy",
     .keys = "r\t\t\t\t\t\t",
     .explore = true},
    {.name = "explore_digit", .setup = "load samples/thesis4.mtx", .view = "spy", .keys = "3ff2", .explore = true},
    {.name = "explore_digit_small",
     .setup = "load samples/thesis4.mtx",
     .view = "spy",
     .keys = "3ff",
     .explore = true,
     .w = 40,
     .h = 10},
    {.name = "explore_race",
     .setup = "gen poisson2d 20; race cg gs jacobi on cpu",
     .view = "race",
     .keys = "t\t",
     .explore = true,
     .w = 60},
    {.name = "explore_help", .setup = "load samples/thesis4.mtx", .view = "layout", .keys = "?", .explore = true},
    {.name = "explore_ascii",
     .setup = "gen poisson2d 20",
     .view = "rows",
     .keys = ":stats\n",
     .explore = true,
     .ascii = true},
    {.name = "explore_colours",
     .setup = "gen poisson2d 20",
     .view = "rows",
     .keys = ":list",
     .explore = true,
     .colours = COLOURS_16},
    {.name = "explore_line_small",
     .setup = "load samples/thesis4.mtx",
     .view = "spy",
     .keys = ":help of a command whose name is long\001x",
     .explore = true,
     .w = 40,
     .h = 10},
    {.name = "explore_said", .setup = "load samples/thesis4.mtx", .view = "spy", .keys = ":stats\n", .explore = true},
    {.name = "explore_error",
     .setup = "load samples/thesis4.mtx",
     .view = "spy",
     .keys = ":nonsense\n",
     .explore = true},
    {.name = "explore_new",
     .setup = "load samples/thesis4.mtx",
     .view = "spy",
     .keys = "r:gen poisson2d 5\n",
     .explore = true},
    {.name = "explore_dropped",
     .setup = "load samples/thesis4.mtx",
     .view = "layout",
     .keys = "r:drop all\n",
     .explore = true},
    {.name = "explore_go", .setup = "gen poisson2d 20", .view = "rows", .keys = ":111\n", .explore = true},
    {.name = "explore_solve",
     .setup = "gen poisson2d 20",
     .view = "spy",
     .keys = ":solve cg on cpu\nx5",
     .explore = true},
    {.name = "spy_complex", .setup = "load tests/golden/complex.mtx", .script = "spy"},
    {.name = "spy_colours", .setup = "gen band 2000 6 1", .view = "spy", .keys = "+++", .colours = COLOURS_16},
    {.name = "spy_small", .setup = "gen poisson2d 60", .script = "spy width 25 height 7"},
    {.name = "spy_tiny", .setup = "gen poisson2d 20", .view = "spy", .keys = "", .w = 20, .h = 6},
    {.name = "spy_help_small", .setup = "gen poisson2d 20", .view = "spy", .keys = "?", .w = 40, .h = 10},
    {.name = "rows_small", .setup = "gen rmat 12 8 seed 3", .script = "rows", .w = 40, .h = 9},
    {.name = "rows_full_go", .setup = "gen rmat 12 8 seed 3", .view = "rows", .keys = "/111\n"},
    {.name = "spy_sampled", .setup = "gen poisson2d 600", .view = "spy", .keys = ""},
    {.name = "spy_sampled_ascii", .setup = "gen poisson2d 600", .view = "spy", .keys = "", .ascii = true},
    {.name = "layout_dia_adaptive", .setup = "load samples/thesis4.mtx", .script = "layout dia-adaptive"},
    {.name = "layout_drm", .setup = "load samples/thesis4.mtx", .script = "layout drm"},
    {.name = "layout_full_go", .setup = "gen poisson2d 20", .view = "layout", .keys = "/200 220\n"},
    {.name = "layout_full_small", .setup = "gen poisson2d 20", .view = "layout", .keys = "", .w = 40, .h = 10},
    {.name = "lu_start", .setup = "gen dense 6", .view = "lu", .keys = ""},
    {.name = "lu_numbers", .setup = "gen dense 6", .view = "lu", .keys = "sss"},
    {.name = "lu_back", .setup = "gen dense 6", .view = "lu", .keys = "sssb"},
    {.name = "lu_done", .setup = "gen dense 6", .view = "lu", .keys = "ssssssss"},
    {.name = "lu_singular", .setup = "load tests/golden/singular.mtx", .view = "lu", .keys = "sss"},
    {.name = "lu_blocks", .setup = "gen dense 60", .view = "lu", .keys = "sssssssssssssssssssss"},
    {.name = "lu_lit",
     .setup = "gen dense 6; trace lu-paper column 2 launch 2 b 2 block 1 step 7",
     .view = "lu",
     .keys = "ss"},
    {.name = "lu_small", .setup = "gen dense 16", .view = "lu", .keys = "sss", .w = 40, .h = 10},
    {.name = "lu_steps", .setup = "load tests/golden/singular.mtx", .script = "lu step"},
    {.name = "solve_direct",
     .setup = "load samples/thesis4.mtx; gen poisson2d 20",
     .script = "solve direct plan; solve direct; solve direct thesis4"},
    {.name = "check_poisson2d", .setup = "gen poisson2d 20", .script = "check"},
    {.name = "check_rmat", .setup = "gen rmat 10 8 seed 3", .script = "check"},
    {.name = "check_large", .setup = "gen poisson3d 30", .script = "check"},
    {.name = "check_complex", .setup = "load tests/golden/complex.mtx", .script = "check"},
    {.name = "check_empty", .setup = "load tests/golden/empty.mtx", .script = "check"},
    {.name = "check_predicted", .setup = "gen poisson2d 20", .script = "check all"},
    {.name = "solve_small",
     .setup = "gen poisson2d 20; solve cg on cpu",
     .view = "solve",
     .keys = "",
     .w = 40,
     .h = 10},
    {.name = "rows_full", .setup = "gen rmat 12 8 seed 3", .view = "rows", .keys = "dddr"},
    {.name = "layout_full_tab",
     .setup = "load samples/thesis4.mtx",
     .view = "layout",
     .keys = "fffdr",
     .colours = COLOURS_16},
    {.name = "layout_full_scroll", .setup = "gen poisson2d 20", .view = "layout", .keys = "aaNNrr"},
    {.name = "parts_wide",
     .setup = "gen poisson2d 40; partition 12 rows",
     .view = "parts",
     .keys = "dd",
     .w = 160,
     .h = 50},
    {.name = "halo_wide", .setup = "gen circuit 3000 2; partition 40", .view = "halo", .keys = "dr", .w = 160, .h = 50},
    {.name = "halo_many", .setup = "gen poisson2d 60; partition 1000", .view = "halo", .keys = "ddr"},
    {.name = "spy_by_owner", .setup = "gen circuit 400 2; partition 5", .script = "spy by owner"},
    {.name = "bench_none", .setup = "", .view = "bench", .keys = ""},
    {.name = "bench_small", .setup = "gen poisson2d 20", .view = "bench", .keys = "", .runs = RUNS, .w = 40, .h = 10},
    {.name = "bench_untimed", .setup = "gen poisson2d 20", .view = "bench", .keys = "", .runs = UNTIMED_RUNS},
    {.name = "bench_help", .setup = "gen poisson2d 20", .view = "bench", .keys = "?"},
    {.name = "solve_none", .setup = "", .view = "solve", .keys = ""},
    {.name = "solve_cg", .setup = "gen poisson2d 20; solve cg on cpu", .view = "solve", .keys = ""},
    {.name = "solve_cg_ascii",
     .setup = "gen poisson2d 20; solve cg on cpu",
     .view = "solve",
     .keys = "",
     .ascii = true},
    {.name = "solve_cg_colours",
     .setup = "gen poisson2d 20; solve cg on cpu",
     .view = "solve",
     .keys = "",
     .colours = COLOURS_16},
    {.name = "race_none", .setup = "", .view = "race", .keys = ""},
    {.name = "race_time", .setup = "gen poisson2d 20; race cg gs jacobi on cpu", .view = "race", .keys = ""},
    {.name = "race_iterations", .setup = "gen poisson2d 20; race cg gs jacobi on cpu", .view = "race", .keys = "t"},
    {.name = "race_colours",
     .setup = "gen poisson2d 20; race cg gs jacobi on cpu",
     .view = "race",
     .keys = "",
     .colours = COLOURS_16},
    {.name = "race_small",
     .setup = "gen poisson2d 20; race cg gs jacobi on cpu",
     .view = "race",
     .keys = "",
     .w = 40,
     .h = 10},
    {.name = "race_emu", .setup = "gen poisson2d 6; race gs jacobi wjacobi 0.5 on emu", .view = "race", .keys = "t"},
    {.name = "race_kernels",
     .setup = "gen poisson2d 20; race csr-serial ell-serial csr-vector on cpu reps 64",
     .view = "race",
     .keys = ""},
    {.name = "race_kernels_small",
     .setup = "gen poisson2d 20; race csr-serial ell-serial csr-vector on cpu reps 64",
     .view = "race",
     .keys = "",
     .w = 40,
     .h = 10},
    {.name = "race_kernels_emu", .setup = "gen poisson2d 6; race csr-vector ell on emu", .view = "race", .keys = ""},
    {.name = "race_help", .setup = "gen poisson2d 20", .view = "race", .keys = "?"},
    {.name = "solve_step", .setup = "gen poisson2d 20; solve jacobi step on cpu; step 3", .view = "solve", .keys = ""},
    {.name = "solve_paused", .setup = "gen poisson2d 20; solve cg step on cpu; step 24", .view = "solve", .keys = ""},
    {.name = "solve_paused_wide",
     .setup = "gen poisson2d 20; solve cg precond jacobi step on cpu; step 24",
     .view = "solve",
     .keys = "",
     .w = 120,
     .h = 40},
    {.name = "solve_paused_small",
     .setup = "gen poisson2d 20; solve cg step on cpu; step 24",
     .view = "solve",
     .keys = "",
     .w = 40,
     .h = 10,
     .ascii = true},
    {.name = "solve_running", .setup = "gen poisson2d 20; solve cg step on cpu; step 24", .view = "solve", .keys = " "},
    {.name = "solve_gmres",
     .setup = "gen poisson2d 20; solve gmres m 12 precond jacobi step on cpu; step 17",
     .view = "solve",
     .keys = ""},
    {.name = "solve_emu",
     .setup = "gen poisson2d 8; solve bicgstab kernel csr-vector step on emu; step 5",
     .view = "solve",
     .keys = ""},
    {.name = "solve_least",
     .setup = "gen random 90 4 40; solve lsqr b ones step on cpu; step 40",
     .view = "solve",
     .keys = ""},
    {.name = "residuals_separated",
     .setup = "gen poisson2d 20; solve cg tol 1e-12 step on cpu; step 40",
     .view = "solve",
     .keys = "",
     .ascii = true,
     .fix = make_parted},
    {.name = "solve_back", .setup = "gen poisson2d 20; solve cg step on cpu; step 24", .view = "solve", .keys = "b2bB"},
    {.name = "solve_asks",
     .setup = "gen poisson2d 20; solve cg step on cpu; step 24",
     .view = "solve",
     .keys = "T1e-1x"},
    {.name = "solve_changed",
     .setup = "gen poisson2d 20; solve cg step on cpu; step 24",
     .view = "solve",
     .keys = "T1e-12\npjacobi\n"},
    {.name = "solve_refused", .setup = "gen poisson2d 20; solve cg step on cpu; step 24", .view = "solve", .keys = "o"},
    {.name = "solve_count", .setup = "gen poisson2d 20; solve cg step on cpu; step 24", .view = "solve", .keys = "250"},
    {.name = "solve_long_verdict",
     .setup = "gen poisson2d 20; solve cg maxit 9 on cpu",
     .view = "solve",
     .keys = "",
     .fix = make_long_verdict},
    {.name = "solve_help", .setup = "", .view = "solve", .keys = "?"},
    {.name = "lesson_told", .setup = "load samples/thesis4.mtx as four", .script = "lesson tests/golden/short.lesson"},
    {.name = "lesson_told_ascii",
     .setup = "load samples/thesis4.mtx as four",
     .script = "lesson tests/golden/short.lesson",
     .ascii = true},
    {.name = "lesson_wrong", .setup = "load samples/thesis4.mtx as four", .script = "lesson tests/golden/wrong.lesson"},
    {.name = "solve_help_small", .setup = "", .view = "solve", .keys = "?", .w = 40, .h = 10},
};

/* ---- drawing a case ---- */

static int key_of(char letter)
{
    static const struct {
        char letter;
        int key;
    } table[] = {
        {'u', UI_UP},   {'d', UI_DOWN}, {'l', UI_LEFT}, {'r', UI_RIGHT},  {'\t', UI_TAB},
        {'N', UI_PGDN}, {'P', UI_PGUP}, {'E', UI_END},  {'\n', UI_ENTER},
    };
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].letter == letter) return table[i].key;
    return letter;
}

/* Send keys to the explorer. On the command line of the explorer, each character is sent unchanged; elsewhere, key_of
   translates it to a key. */
static void explore_full(struct session *s, const struct screen_case *k, const struct view *v, struct canvas *c)
{
    struct explorer *x = screen_explorer(s);
    struct err e = {0};
    assert_true(explore_enter(s, v, &e));
    x->on = true;
    explore_draw(c, s);
    for (const char *key = k->keys; *key; key++) {
        assert_true(explore_key(s, x->typing ? *key : key_of(*key)));
        canvas_clear(c);
        explore_draw(c, s);
    }
    x->on = false;
    explore_end(s);
}

static void draw_full(struct session *s, const struct screen_case *k, FILE *f)
{
    const struct view *v = view_find(k->view);
    struct view_state *st = screen_view_state(s, v);
    struct canvas c;
    struct err e = {0};
    assert_true(canvas_new(&c, s->front->width, s->front->height, k->ascii, NULL));
    c.colours = k->colours;
    if (k->explore) {
        explore_full(s, k, v, &c);
        canvas_print(&c, f, k->colours);
        canvas_free(&c);
        return;
    }
    view_reset(st, s->current);
    st->full = true;
    if (v->prepare) assert_true(v->prepare(s, st, &e));
    view_draw(v, &c, s, st);
    for (const char *key = k->keys; *key; key++) {
        assert_true(view_key(s, v, key_of(*key)));
        canvas_clear(&c);
        view_draw(v, &c, s, st);
    }
    canvas_print(&c, f, k->colours);
    canvas_free(&c);
}

/* The screen of the case; the caller frees it. */
static char *drawn(const struct screen_case *k)
{
    struct session s;
    struct err e = {0};
    char *text = NULL;
    size_t size = 0, before;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    golden_clock(true);
    assert_true(session_new(&s, f, f, OUT_TEXT, &e));
    s.plain = k->plain;
    assert_true(ui_attach(&s, &e));
    golden_views(&s, k->view);
    s.front->ascii = k->ascii;
    s.front->width = k->w ? k->w : WIDTH;
    s.front->height = k->h ? k->h : HEIGHT;
    run_line(&s, k->setup);
    if (k->runs) make_runs(&s, k->runs == RUNS);
    if (k->fix) k->fix(s.solve);
    fflush(f);
    before = size;
    if (k->script) run_line(&s, k->script);
    if (k->view) draw_full(&s, k, f);
    if (k->fix) s.solve->dev->ceilings = (struct ceilings){0};
    ui_detach(&s);
    session_free(&s);
    golden_clock(false);
    fclose(f);
    memmove(text, text + before, size - before + 1);
    return text;
}

TEST_OF_EACH(screen, cases)
{
    const struct screen_case *k = *state;
    char path[256];
    snprintf(path, sizeof path, "tests/golden/%s.txt", k->name);
    char *found = drawn(k);
    bool same = golden_same(path, found);
    free(found);
    assert_true(same);
}

SUITE(.setup = golden_begin, .teardown = golden_end);
