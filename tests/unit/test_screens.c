/* The full screen: every view, in the states that a table lists. Each state is drawn in three sizes, in UTF-8 and
   ASCII, and with 256 colours, with 8 colours and without colours. The screens are compared with
   tests/golden/screens/STATE.SIZE.txt. Such a file holds each layer of characters, and each layer of styles, once,
   under the names of all screens that share it. tests/golden/screens/palettes.txt lists the letters of styles and their
   escape sequences in each palette. The output to a terminal is compared with these escape sequences. */
#include "kits/golden_kit.h"
#include "kits/test.h"
#include "language/args.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "session/front.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/stage.h"
#include "ui/view.h"

/* The session in which a view is shown; a view without a line here is shown with a small matrix. */
struct state {
    const char *name; /* name of the view, optionally followed by _MORE */
    const char *setup, *keys;
    enum { NO_RUNS, RUNS } runs;
    void (*fix)(struct solve *v);
    const char *views; /* several views in panes, shown in the sizes of pane_sizes; NULL: one view */
};
static const struct state states[] = {
    {.name = "spy", .setup = "gen poisson2d 20", .keys = "Right Down"},
    {.name = "spy_zoom", .setup = "gen rmat 12 8 seed 3", .keys = "+ Right"},
    {.name = "spy_values", .setup = "gen poisson2d 20", .keys = "+ + + + + + + Down"},
    {.name = "spy_counted", .setup = "gen poisson2d 600", .keys = ""},
    {.name = "rows", .setup = "gen rmat 12 8 seed 3", .keys = "Down Down Down Right"},
    {.name = "rows_cumulative", .setup = "gen rmat 12 8 seed 3", .keys = "t Down Down"},
    {.name = "rows_sorted", .setup = "gen rmat 12 8 seed 3", .keys = "t t Right Right Right Right Right"},
    {.name = "rows_warps", .setup = "gen rmat 12 8 seed 3", .keys = "t t t Down Down Right"},
    {.name = "rows_help", .setup = "gen poisson2d 20", .keys = "?"},
    {.name = "layout", .setup = "load samples/thesis4.mtx", .keys = "Down Right Right"},
    {.name = "layout_ell", .setup = "load samples/thesis4.mtx", .keys = "f f f Down Right"},
    {.name = "layout_line", .setup = "load samples/thesis4.mtx", .keys = "':gen pois' Tab Tab"},
    {.name = "bench", .setup = "gen poisson2d 20", .keys = "Down Down", .runs = RUNS},
    {.name = "bench_said", .setup = "gen poisson2d 20", .keys = "':help solve' Enter Down", .runs = RUNS},
    {.name = "solve",
     .setup = "gen poisson2d 20; solve cg precond jacobi step on cpu; step 24",
     .keys = "",
     .fix = make_bound},
    {.name = "solve_separated",
     .setup = "gen poisson2d 20; solve cg tol 1e-12 step on cpu; step 40",
     .keys = "",
     .fix = make_parted},
    {.name = "race", .setup = "gen poisson2d 20; race cg gs jacobi on cpu", .keys = "t"},
    {.name = "parts", .setup = "gen poisson2d 40; partition 12 rows", .keys = "Down Down"},
    {.name = "halo", .setup = "gen circuit 3000 2; partition 40", .keys = "Right Down Down"},
    {.name = "speedup", .setup = "gen poisson2d 60; whatif parts 1 2 4 8 64 link nccl", .keys = "Right"},
    {.name = "spy_by_owner", .setup = "gen circuit 400 2; partition 5; spy by owner", .keys = "Right Down"},
    {.name = "lu", .setup = "gen dense 16", .keys = "s s s s s"},
    {.name = "timeline", .setup = "gen poisson2d 20; timeline on emu*3", .keys = "Down"},
    {.name = "spy_lit", .setup = "load samples/thesis4.mtx; trace csr-scalar step 5", .keys = ""},
    {.name = "spy_lit_dots", .setup = "gen poisson2d 20; trace csr-scalar block 1 step 5", .keys = ""},
    {.name = "spy_follows", .setup = "load samples/thesis4.mtx; trace csr-scalar", .keys = "7 5 s Right Tab"},
    {.name = "layout_lit", .setup = "load samples/thesis4.mtx; trace csr-scalar step 5", .keys = "Down"},
    {.name = "trace", .setup = "load samples/thesis4.mtx; trace csr-scalar", .keys = "5 s Right"},
    {.name = "trace_padding", .setup = "gen rmat 7 8 seed 3; trace ell", .keys = "7 z Right Right"},
    {.name = "trace_banks", .setup = "gen rmat 9 8 seed 3; trace csr-merge", .keys = "4 2 s"},
    {.name = "trace_atomic", .setup = "gen rmat 9 8 seed 3; trace coo-atomic block 1 f32", .keys = "End Left"},
    {.name = "trace_lu", .setup = "gen dense 12; trace lu-paper column 3 launch 2 b 4", .keys = "7 s Right Right"},
    {.name = "trace_asks", .setup = "gen poisson2d 20; trace csr-vector", .keys = "d r 3 6"},
    {.name = "roofline", .setup = "gen poisson2d 20; device cpu; roofline", .keys = "Down Down"},
    {.name = "roofline_l2", .setup = "gen poisson2d 20; device cpu; roofline", .keys = "t + + Down"},
    {.name = "sm", .setup = "gen poisson2d 200; device cpu; sm csr-stream", .keys = ""},
    {.name = "sm_few", .setup = "gen poisson2d 200; device cpu; sm csr-stream", .keys = "("},
    {.name = "sass", .setup = "sass csr-vector for sm_75", .keys = "s s"},
    {.name = "sass_two", .setup = "sass csr-light-vector csr-vector for sm_75", .keys = "k l u"},
    {.name = "sass_follows",
     .setup = "gen poisson2d 20; trace csr-light-vector step 4; sass csr-light-vector for sm_75",
     .keys = ""},
    {.name = "trace_help", .setup = "gen poisson2d 20; trace csr-vector", .keys = "?"},
};

/* States that are also shown in the sizes of pane_sizes. */
static const char *const wide[] = {"roofline", "sm", "trace", "bench", "sass", "sass_two"};

/* Divided screens; panes_small is shown where there is no room for panes. */
static const struct state pane_states[] = {
    {.name = "panes_all", .setup = "gen poisson2d 20", .keys = "Down Right Down", .views = "all"},
    {.name = "panes_solve",
     .setup = "gen poisson2d 20; solve cg precond jacobi step on cpu; step 24",
     .keys = "Tab Down Tab",
     .fix = make_bound,
     .views = "all"},
    {.name = "panes_trace",
     .setup = "gen rmat 8 6 seed 3; trace csr-scalar",
     .keys = "Tab Tab s s s s Right Right",
     .views = "spy,layout,trace"},
    {.name = "panes_keys", .setup = "load samples/thesis4.mtx", .keys = "'|' _ > > } 2 Tab ? Tab", .views = "spy"},
    {.name = "panes_alone", .setup = "load samples/thesis4.mtx", .keys = "'|' F Down Tab Right", .views = "spy"},
};
static const struct state small_states[] = {
    {.name = "panes_small", .setup = "gen poisson2d 20", .keys = "Right '|'", .views = "all"},
};

struct size {
    int w, h;
};
static const struct size sizes[] = {{80, 24}, {120, 40}, {40, 10}}, pane_sizes[] = {{160, 50}, {200, 60}},
                         small_sizes[] = {{80, 24}, {80, 50}};
static const char *const charsets[] = {"utf-8", "ascii"};
static const struct {
    const char *name;
    enum colours colours;
} palettes[] = {{"256", COLOURS_256}, {"8", COLOURS_8}, {"mono", COLOURS_NONE}};
enum { CHARSETS = 2, PALETTES = 3, SCREENS = CHARSETS * PALETTES };

/* Indexed by enum style. */
static const char letters[] = " .*T+~!p#-=AB01234567abcdefgh";
_Static_assert(sizeof letters == ST_COUNT + 1, "each style has a letter");

/* ---- interpreting escape sequences like a terminal ---- */

static void escape_of(enum style st, enum colours colours, char out[40])
{
    style_escape(st, colours, out, 40);
}

/* The terminal's current attributes; `colour` holds the parameters of the sequence that set the colour. */
struct on {
    bool bold, reverse;
    char colour[20];
};

/* Apply a sequence ESC [ ... m; returns the text after it. */
static const char *turn(struct on *on, const char *t)
{
    for (t += 2; t[-1] != 'm'; t += strcspn(t, ";m") + 1) {
        size_t n = strcspn(t, ";m");
        if (n == 0 || (n == 1 && *t == '0')) *on = (struct on){0};
        if (n == 1 && *t == '1') on->bold = true;
        if (n == 1 && *t == '7') on->reverse = true;
        if (n < 2) continue;
        if (!strncmp(t, "38;", 3)) n = strcspn(t, "m"); /* this parameter is the last parameter */
        snprintf(on->colour, sizeof on->colour, "%.*s", (int)n, t);
        if (t[2] == ';') t += n - strcspn(t, ";m");
    }
    return t;
}

/* Check that the coloured text has each glyph at its position on the canvas, with the attributes of its style. */
static void check_ansi(const struct canvas *c)
{
    char *text = NULL, escape[40], glyph[5];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    canvas_print_ansi(c, f, c->colours);
    fclose(f);
    const char *t = text;
    struct on now = {0}, want;
    for (int y = 0; *t; y++, t++) {
        for (int x = 0; *t != '\n'; x++) {
            while (x < c->w && !c->cell[y * c->w + x].glyph) x++;
            while (*t == '\033') t = turn(&now, t);
            if (*t == '\n') break;
            assert_true(x < c->w && y < c->h);
            const struct cell *k = &c->cell[y * c->w + x];
            int length = glyph_utf8(k->glyph, glyph);
            escape_of(k->style, c->colours, escape);
            turn(&want, escape);
            bool alike = now.bold == want.bold && now.reverse == want.reverse && !strcmp(now.colour, want.colour);
            if (strncmp(t, glyph, (size_t)length) || (k->glyph != ' ' && !alike))
                fail_msg("column %d, row %d: %.*s, bold %d, reverse %d, colour %s for %s%s", x, y, length, t, now.bold,
                         now.reverse, now.colour, escape + 1, glyph);
            t += length;
        }
        assert_false(now.bold || now.reverse || *now.colour);
    }
    free(text);
}

/* ---- layers ---- */

struct layers {
    char *glyphs, *styles;
};

static char *glyphs_of(const struct canvas *c)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    canvas_print(c, f, COLOURS_NONE);
    fclose(f);
    return text;
}

/* The picture with each character replaced by the letter of its style; a blank has no style unless it is the cursor. */
static char *styles_of(const struct canvas *c)
{
    struct canvas s;
    assert_true(canvas_new(&s, c->w, c->h, true, NULL));
    for (int i = 0; i < c->w * c->h; i++) {
        struct cell k = c->cell[i];
        assert_true(k.style < ST_COUNT);
        if (k.glyph != ' ' || k.style == ST_CURSOR) s.cell[i].glyph = (unsigned char)letters[k.style];
    }
    char *text = glyphs_of(&s);
    canvas_free(&s);
    return text;
}

static bool play(struct session *s, const char *view, const struct state *k, struct stage *g)
{
    struct presses keys = {0};
    struct err e = {0};
    assert_true(presses_add(&keys, k->keys, &e));
    g->next = presses_next;
    g->user = &keys;
    stage_begin(g);
    bool ok = explore(s, k->views ? k->views : view, &e);
    stage_end();
    presses_free(&keys);
    if (!ok) print_message("%s: %s\n", k->name, e.text);
    return ok;
}

static struct layers layers_of(const char *view, const struct state *k, struct stage g, bool ascii)
{
    struct session s;
    struct err e = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    golden_clock(true);
    assert_true(nowhere && session_new(&s, nowhere, nowhere, OUT_TEXT, &e) && ui_attach(&s, &e));
    golden_views(&s, view);
    s.front->ascii = ascii;
    assert_true(run_line(&s, k->setup));
    if (k->runs) make_runs(&s, true);
    if (k->fix) k->fix(s.solve);
    assert_true(play(&s, view, k, &g));
    const struct canvas *c = screen_canvas(&s);
    assert_true(c && c->w == g.w && c->h == g.h);
    check_ansi(c);
    struct layers l = {glyphs_of(c), styles_of(c)};
    if (k->fix) s.solve->dev->ceilings = (struct ceilings){0};
    ui_detach(&s);
    session_free(&s);
    golden_clock(false);
    fclose(nowhere);
    return l;
}

static int lines_of(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* Print the lines of text that differ from the corresponding lines of `like`, which has the same number of lines; if f
   is NULL, only count these lines. */
static int put_unlike(FILE *f, const char *text, const char *like)
{
    int n = 0;
    for (int y = 0; *text; y++) {
        int length = (int)strcspn(text, "\n"), other = (int)strcspn(like, "\n");
        bool same = length == other && !strncmp(text, like, (size_t)length);
        if (!same && f) fprintf(f, "%d| %.*s\n", y, length, text);
        n += !same;
        text += length + 1;
        like += other + 1;
    }
    return n;
}

/* Print each different layer once, with the names of its screens. If a layer is similar to the first layer of its
   charset, print only the lines that differ, with their numbers. */
static void put_layers(FILE *f, const char *what, char *const layer[SCREENS])
{
    for (int i = 0; i < SCREENS; i++) {
        bool had = false;
        const char *like = layer[i / PALETTES * PALETTES];
        for (int k = 0; k < i; k++) had |= !strcmp(layer[i], layer[k]);
        if (had) continue;
        bool few = like != layer[i] && lines_of(like) == lines_of(layer[i]) &&
                   2 * put_unlike(NULL, layer[i], like) < lines_of(like);
        fprintf(f, "== %s:", what);
        for (int k = i; k < SCREENS; k++)
            if (!strcmp(layer[i], layer[k])) fprintf(f, " %s/%s", charsets[k / PALETTES], palettes[k % PALETTES].name);
        if (few) fprintf(f, ", as %s/%s but for", charsets[i / PALETTES], palettes[0].name);
        fputs("\n", f);
        if (few)
            put_unlike(f, layer[i], like);
        else
            fputs(layer[i], f);
    }
}

/* ---- tests ---- */

struct screen {
    const char *view;
    struct state state;
    int w, h;
    char name[64];
};

static void screen(void **arg)
{
    const struct screen *x = *arg;
    char path[128], *glyphs[SCREENS], *styles[SCREENS], *text = NULL;
    size_t n = 0;
    for (int i = 0; i < SCREENS; i++) {
        struct stage g = {.w = x->w, .h = x->h, .colours = palettes[i % PALETTES].colours};
        struct layers l = layers_of(x->view, &x->state, g, i / PALETTES == 1);
        glyphs[i] = l.glyphs;
        styles[i] = l.styles;
    }
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    fprintf(f, "%s of %s, keys: %s\n", x->view ? x->view : x->state.views, x->state.setup,
            *x->state.keys ? x->state.keys : "none");
    put_layers(f, "glyphs", glyphs);
    put_layers(f, "styles", styles);
    fclose(f);
    for (int i = 0; i < SCREENS; i++) free(glyphs[i]), free(styles[i]);
    snprintf(path, sizeof path, "tests/golden/screens/%s.txt", x->name);
    bool same = golden_same(path, text);
    free(text);
    assert_true(same);
}

static void the_palettes(void **arg)
{
    static const struct {
        const char *name;
        enum colours colours;
    } all[] = {{"256", COLOURS_256}, {"16", COLOURS_16}, {"8", COLOURS_8}, {"mono", COLOURS_NONE}};
    static const char *const names[] = {"plain", "dim",    "bold", "title", "good",   "warn",  "bad",
                                        "pad",   "cursor", "axis", "bar",   "plot A", "plot B"};
    char *text = NULL, escape[40];
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    fprintf(f, "%-8s letter", "style");
    for (int k = 0; k < COUNT(all); k++) fprintf(f, k + 1 < COUNT(all) ? "  %-14s" : "  %s", all[k].name);
    for (int st = 0; st < ST_COUNT; st++) {
        if (st < ST_RAMP)
            fprintf(f, "\n%-8s %c     ", names[st], letters[st]);
        else
            fprintf(f, "\n%-6s %d %c     ", st < ST_ROW ? "ramp" : "row", st < ST_ROW ? st - ST_RAMP : st - ST_ROW,
                    letters[st]);
        for (int k = 0; k < COUNT(all); k++) {
            escape_of((enum style)st, all[k].colours, escape);
            fprintf(f, k + 1 < COUNT(all) ? "  %-14s" : "  %s", escape + 1);
        }
    }
    fputs("\n", f);
    fclose(f);
    bool same = golden_same("tests/golden/screens/palettes.txt", text);
    free(text);
    assert_true(same);
}

/* The view whose name is the longest prefix of the state's name. */
static const char *view_of(const char *name)
{
    const char *best = NULL;
    for (int i = 0; views[i]; i++) {
        size_t n = strlen(views[i]->name);
        if (!strncmp(name, views[i]->name, n) && (!name[n] || name[n] == '_') && (!best || n > strlen(best)))
            best = views[i]->name;
    }
    return best;
}

static bool is_covered(const char *view)
{
    for (int k = 0; k < COUNT(states); k++)
        if (!strcmp(view, view_of(states[k].name))) return true;
    return false;
}

enum {
    SCREENS_MAX = (COUNT(states) + VIEWS_MAX) * COUNT(sizes) + (COUNT(pane_states) + COUNT(wide)) * COUNT(pane_sizes) +
                  COUNT(small_states) * COUNT(small_sizes)
};
static struct screen all[SCREENS_MAX];
static struct CMUnitTest tests[SCREENS_MAX + 1];
static int ntests;

static void add(const char *view, struct state k, const struct size *size, int nsizes)
{
    for (int i = 0; i < nsizes; i++) {
        struct screen *x = &all[ntests];
        *x = (struct screen){view, k, size[i].w, size[i].h, ""};
        snprintf(x->name, sizeof x->name, "%s.%dx%d", k.name, x->w, x->h);
        tests[ntests++] = (struct CMUnitTest){x->name, screen, NULL, NULL, x};
    }
}

static bool is_wide(const char *name)
{
    for (int k = 0; k < COUNT(wide); k++)
        if (!strcmp(name, wide[k])) return true;
    return false;
}

/* The screens depend on the registry of views. */
static int run(void)
{
    for (int k = 0; k < COUNT(states); k++) add(view_of(states[k].name), states[k], sizes, COUNT(sizes));
    for (int k = 0; k < COUNT(states); k++)
        if (is_wide(states[k].name)) add(view_of(states[k].name), states[k], pane_sizes, COUNT(pane_sizes));
    for (int k = 0; k < COUNT(pane_states); k++) add(NULL, pane_states[k], pane_sizes, COUNT(pane_sizes));
    for (int k = 0; k < COUNT(small_states); k++) add(NULL, small_states[k], small_sizes, COUNT(small_sizes));
    for (int i = 0; views[i]; i++)
        if (!is_covered(views[i]->name))
            add(views[i]->name, (struct state){.name = views[i]->name, .setup = "gen poisson2d 20", .keys = ""}, sizes,
                COUNT(sizes));
    tests[ntests++] = (struct CMUnitTest)cmocka_unit_test(the_palettes);
    return _cmocka_run_group_tests("screens", tests, (size_t)ntests, golden_begin, golden_end);
}

SUITE(.run = run);
