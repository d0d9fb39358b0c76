/* The commands keys, screendump and last, which use the full screen without a terminal; also a burst of random keys. */
#include "kits/keys_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/random.h"
#include "solvers/solve.h"
#include "ui/explorer.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/stage.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char *content(const char *path)
{
    static char text[200000];
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s is not there", path);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

/* Keys go to the pane that was used last; screendump shows the resulting screen. */
static void shows(struct talk *t, const char *line, const char *part)
{
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    talk_says(t, "screendump", part);
}

TEST(keys_are_pressed)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20");
    shows(&t, "keys \"Right + +\"", "[1 spy]");
    shows(&t, "keys Tab", "[2 rows]");
    shows(&t, "keys 3 Down", "[3 layout]");
    shows(&t, "keys j view rows", "[2 rows]");
    shows(&t, "keys Click:12,0 size 80x24", "[2 rows]");
    shows(&t, "keys \"':stats' Enter\" size 100x40", "diagonally dominant rows  400");
    shows(&t, "keys \":hel Tab lay\"", ":help lay");
    shows(&t, "keys \"Size:19x4\"", "too small");
    shows(&t, "keys \"/ 3 0 Enter\" view rows", "row");
    shows(&t, "keys \"/ Quote 9\"", "row [column], counted from 0: 9_");
    shows(&t, "keys C-c", "[2 rows]");
    shows(&t, "keys \"? j\" size 40x10 ascii", "Tab pane");
    talk_close_screen(&t);
}

/* The menu lists all views with fixed numbers, and shows the chosen one or says what it lacks. */
TEST(the_menu_shows_a_view)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20");
    shows(&t, "keys v view spy", " views ");
    shows(&t, "keys v view spy", " 3 layout      the arrays of a storage format");
    shows(&t, "keys v view spy", " 6 race        no race yet");
    shows(&t, "keys v", "Enter show  up/down");
    shows(&t, "keys \"v r Enter\" view spy", "[2 rows]");
    shows(&t, "keys \"v r r Enter\" view spy", "6 race: no race yet");
    shows(&t, "keys \"v 1 2 Enter\" view spy", "12 timeline: ");
    shows(&t, "keys \"v 4 3 Enter\" view spy", "[3 layout]"); /* there is no view 43 */
    shows(&t, "keys \"v Down Down Up Enter\" view spy", "[2 rows]");
    shows(&t, "keys \"v Home Up j k l Esc\" view spy", "[1 spy]");
    shows(&t, "keys \"v Click:5,20\" view spy size 80x24", "[1 spy]");
    shows(&t, "keys 7 view spy", "7 trace: ");
    assert_true(talk_line(&t, "trace csr-scalar"));
    shows(&t, "keys 7 view spy", "[7 trace]"); /* race is not listed, but trace keeps its number */
    shows(&t, "keys \"v t Enter\" view spy", "[7 trace]");
    talk_close_screen(&t);
}

/* If not all names fit, the bar shows those beside the active one. */
TEST(the_bar_shows_the_names_beside_the_active_view)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 6; trace csr-scalar; race cg gmres");
    shows(&t, "keys Tab view spy size 56x20", " 1 spy [2 rows] 3 layout  4 bench  ..           v views");
    shows(&t, "keys 7 view spy size 56x20", "..  4 bench  5 solve  6 race [7 trace]");
    shows(&t, "keys \"7 Click:1,0\" view spy size 56x20", "[3 layout]");
    shows(&t, "keys \"Click:36,0\" view spy size 56x20", "[5 solve]");
    shows(&t, "keys \"Click:52,0\" view spy size 56x20", " views ");
    talk_close_screen(&t);
}

/* The choice after `by` holds for the matrix of the line, even if the view has shown another one. */
TEST(spy_by_shows_another_matrix)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20 as A; gen rmat 7 4 seed 1 as B; spy A");
    talk_says(&t, "spy B by sign", "+ positive");
    talk_says(&t, "spy A by magnitude", "largest |a|");
    talk_close_screen(&t);
}

/* Large cells contain their numbers, and a click anywhere in a cell chooses it. */
TEST(cells_of_halo_contain_numbers)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 60; partition 6");
    shows(&t, "keys g view halo size 80x24", "\u2588 60 \u2588\u2588\u2588");
    shows(&t, "keys Click:42,9 view halo size 80x24", "part 2 receives 60 items, 480 B, from part 3");
    shows(&t, "keys Click:32,12 view halo size 80x24", "part 3 receives 60 items, 480 B, from part 2");
    shows(&t, "keys Down view halo size 80x24", "part 4 receives 0 items");
    talk_close_screen(&t);
}

/* The roofline shows the kernels; - shows the flat roof, too. */
TEST(the_roofline_begins_at_the_kernels)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 300; roofline");
    shows(&t, "keys g view roofline size 80x24", "fp64 34 TFLOP/s ^");
    shows(&t, "keys g view roofline size 80x24", "  1,000\u2502");
    shows(&t, "keys - view roofline size 80x24", " 10,000\u2502");
    talk_close_screen(&t);
}

/* A racer that takes much longer than all others is cut, and the view says where it ends. */
TEST(a_slow_racer_does_not_squeeze_the_others)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20; race jacobi cg on cpu");
    shows(&t, "keys t view race size 80x24", "log scale; t: by time; ");
    shows(&t, "keys g view race size 80x24", " goes on to 1,");
    talk_line(&t, "race gmres cg on cpu");
    assert_true(talk_line(&t, "keys g view race size 80x24"));
    talk_line(&t, "screendump");
    assert_null(strstr(t.out, "goes on"));
    talk_close_screen(&t);
}

/* A line of numbers moves the cursor, also to row 0. */
TEST(a_line_of_numbers_is_a_place)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20");
    const struct view_state *st = screen_view_state(&t.s, view_find("spy"));
    assert_true(talk_line(&t, "keys \"':300 20' Enter\" view spy"));
    assert_true(st->row == 300 && st->col == 20);
    assert_true(talk_line(&t, "keys \"':0 7' Enter\" view spy"));
    assert_true(st->row == 0 && st->col == 7);
    talk_close_screen(&t);
}

/* Backspace leaves an empty line only: at the start of a line with text, it does nothing. */
TEST(backspace_leaves_an_empty_line)
{
    struct talk t;
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 20");
    shows(&t, "keys \": a b C-a Backspace x\"", ":xab");
    shows(&t, "keys \": a Backspace Backspace j\" view rows", "? help");
    talk_close_screen(&t);
}

/* Leave the line while a command waits for its byte: nothing leaks (make asan), and the next line is typed as usual. */
TEST(a_line_is_left_at_any_key)
{
    static const char *const left[] = {"C-q Esc", "C-v C-c", "C-q Backspace"};
    char line[100];
    for (int i = 0; i < COUNT(left); i++) {
        struct talk t;
        talk_open_screen(&t);
        talk_line(&t, "gen poisson2d 20");
        for (int k = 0; k < 3; k++) {
            snprintf(line, sizeof line, "keys \": %s\"", left[i]);
            if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        }
        shows(&t, "keys \": t s C-a C-d C-e C-u s t a t s Enter\"", "diagonally dominant rows  400");
        talk_close_screen(&t);
    }
}

TEST(unknown_keys_are_refused)
{
    struct talk t;
    talk_open_screen(&t);
    talk_refuses(&t, "keys j", "there is no matrix to show");
    talk_refuses(&t, "keys j view nowhere", "is not a view");
    talk_line(&t, "gen poisson2d 5");
    talk_refuses(&t, "keys Pgdn", "did you mean `PgDn`? To enter it as text, write 'Pgdn'");
    talk_refuses(&t, "keys j Xyzzy", "there is no key `Xyzzy`");
    talk_refuses(&t, "keys C-z", "there is no key `C-z`");
    talk_refuses(&t, "keys Size:0x5", "there is no key");
    talk_refuses(&t, "keys j size 0x3", "1x1 to 1000x1000");
    talk_refuses(&t, "keys j size 2000x3", "1x1 to 1000x1000");
    talk_refuses(&t, "keys j colours 7", "none, 8, 16, 256 or true");
    talk_refuses(&t, "keys", "a word is missing after `keys`");
    shows(&t, "keys \"':keys j' Enter\" size 120x30", "keys: a full screen is already open");
    shows(&t, "keys \"'Pgdn ' 'a'\" view rows", "[2 rows]");
    talk_close_screen(&t);
}

TEST(the_session_goes_on)
{
    struct talk t;
    talk_open_screen(&t);
    t.s.dev = device_open("cpu", NULL);
    talk_line(&t, "gen poisson2d 20");
    assert_true(talk_line(&t, "keys \"':solve cg step' Enter s s\""));
    assert_true(t.s.solve && t.s.solve->reason == RUNNING && t.s.solve->paused);
    assert_int_equal(t.s.solve->iterations, 2);
    assert_true(talk_line(&t, "keys \"':change tol 1e-3' Enter j G\" view solve"));
    assert_int_equal(t.s.solve->reason, CONVERGED);
    /* After `Wait`, the key x comes too late to stop the solve. Without `Wait`, the key x stops the solve. */
    assert_true(talk_line(&t, "keys \"':solve jacobi tol 0 maxit 20000 force' Enter Wait x\""));
    assert_int_not_equal(t.s.solve->reason, STOPPED);
    assert_true(talk_line(&t, "gen poisson2d 100; keys \"':solve jacobi tol 0 maxit 100000000 force' Enter x\""));
    assert_int_equal(t.s.solve->reason, STOPPED);
    assert_false(t.s.quit);
    talk_line(&t, "keys \"':quit' Enter\"");
    assert_true(t.s.quit);
    talk_close_screen(&t);
}

/* Of 8000 sorted rows on 76 columns, Left and Right move by 8000 / 76 = 105 rows, and PgUp and PgDn ten times as far.
 */
TEST(pages_of_sorted_rows_are_ten_columns)
{
    struct talk t;
    talk_open_screen(&t);
    assert_true(talk_line(&t, "gen poisson2d 100 80"));
    shows(&t, "keys \"t t Home Right\" view rows size 80x24", "place 105 of 8,000");
    shows(&t, "keys PgDn size 80x24", "place 1,155 of 8,000");
    shows(&t, "keys \"PgDn PgDn PgUp\" size 80x24", "place 2,205 of 8,000");
    shows(&t, "keys \"Up Left\" size 80x24", "place 2,101 of 8,000");
    shows(&t, "keys \"End PgUp Down\" size 80x24", "place 6,948 of 8,000");
    shows(&t, "keys End size 80x24", "place 7,999 of 8,000 by length (100.0%)");
    shows(&t, "keys Home size 80x24", "place 0 of 8,000 by length (0.0%)");
    talk_close_screen(&t);
}

/* A count typed before the screen is left does not multiply a later step. */
TEST(a_count_ends_with_its_screen)
{
    struct talk t;
    talk_open_screen(&t);
    t.s.dev = device_open("cpu", NULL);
    assert_true(talk_line(&t, "gen poisson2d 20; solve cg step"));
    assert_true(talk_line(&t, "keys 3 s view solve"));
    assert_int_equal(t.s.solve->iterations, 3);
    assert_true(talk_line(&t, "keys 7 view solve"));
    assert_true(talk_line(&t, "keys s view solve"));
    assert_int_equal(t.s.solve->iterations, 4);
    assert_true(talk_line(&t, "keys \"7 ':stats' Enter Esc s\" view solve"));
    assert_int_equal(t.s.solve->iterations, 5);
    talk_close_screen(&t);
}

TEST(typed_lines_are_not_in_the_history)
{
    struct talk t;
    char path[4200];
    talk_open_screen(&t);
    talk_line(&t, "gen poisson2d 5");
    shows(&t, "keys \"':stats # not kept' Enter q : Up\"", ":stats # not kept");
    talk_close_screen(&t);
    snprintf(path, sizeof path, "%s/warpspy/history", getenv("XDG_STATE_HOME"));
    assert_null(strstr(content(path), "not kept"));
}

TEST(screens_become_files)
{
    struct talk t;
    talk_open_screen(&t);
    talk_refuses(&t, "screendump", "nothing has been drawn yet");
    talk_line(&t, "gen poisson2d 20; rows");
    talk_refuses(&t, "screendump a.pdf",
                 "the name `a.pdf` does not show the kind of file; end the name in .txt, .ansi, .svg or .png");
    talk_refuses(&t, "screendump nowhere/a.txt", "nowhere");
    talk_says(&t, "screendump a.txt", "a.txt");
    assert_non_null(strstr(content("a.txt"), "rows counted from 0"));
    assert_null(strchr(content("a.txt"), '\033'));
    talk_refuses(&t, "screendump a.txt", "`force` to the command");
    talk_says(&t, "keys ? size 60x20 colours 8 view rows; screendump a.ansi", "a.ansi");
    assert_non_null(strstr(content("a.ansi"), ";36m[2 rows]"));
    talk_says(&t, "keys ? colours none view rows; screendump a.ansi force", "a.ansi");
    assert_non_null(strstr(content("a.ansi"), "\033[1m"));
    assert_null(strstr(content("a.ansi"), "3"
                                          "8;"));
    talk_says(&t, "screendump a.svg light", "a.svg");
    assert_non_null(strstr(content("a.svg"), "<svg"));
    void *cairo = dlopen("libcairo.so.2", RTLD_LAZY);
    if (cairo) talk_says(&t, "screendump a.png", "a.png");
    if (cairo) assert_memory_equal(content("a.png"), "\x89PNG", 4);
    if (cairo) dlclose(cairo);
    /* A dump made in the explorer shows the pane, not the command line. */
    talk_line(&t, "keys \"':screendump b.txt' Enter\" view spy");
    assert_non_null(strstr(content("b.txt"), "[1 spy]"));
    assert_null(strstr(content("b.txt"), "screendump"));
    /* An earlier command removed the matrix that the pane showed. */
    assert_true(talk_line(&t, "keys \"3 ':drop all; screendump c.txt' Enter\" view layout"));
    assert_non_null(strstr(content("c.txt"), "there is no matrix to show"));
    talk_close_screen(&t);
}

TEST(a_view_is_drawn_again)
{
    struct talk t;
    talk_open_screen(&t);
    talk_refuses(&t, "last", "nothing has been drawn yet");
    talk_line(&t, "load samples/thesis4.mtx as four; gen poisson2d 20; spy width 30 height 9; layout ell of four");
    talk_says(&t, "last size 100x30", "four  4 x 4");
    talk_refuses(&t, "last size 10x3", "40x10 to 400x400");
    talk_line(&t, "spy");
    talk_forget(&t);
    assert_true(talk_line(&t, "last size 60x14"));
    int lines = 0;
    for (const char *p = t.out; *p; p++) lines += *p == '\n';
    assert_in_range(lines, 8, 14);
    talk_line(&t, "keys \"+ + + + +\"; last size 120x40");
    assert_null(strstr(t.out, "q leave"));
    assert_null(strstr(t.out, "[1 spy]"));
    talk_line(&t, "drop poisson2d");
    talk_refuses(&t, "last", "no longer loaded");
    talk_close_screen(&t);
    talk_open(&t, OUT_JSON);
    struct err e = {0};
    assert_true(ui_attach(&t.s, &e));
    talk_line(&t, "load samples/thesis4.mtx; keys j view rows");
    talk_says(&t, "last", "\"kind\":\"bin\"");
    assert_false(talk_line(&t, "screendump"));
    assert_non_null(strstr(t.out, "a screen has no data to print"));
    talk_close_screen(&t);
}

/* Without a matrix, there is nothing to draw. */
TEST(no_picture_without_a_matrix)
{
    struct talk t;
    talk_open_screen(&t);
    talk_refuses(&t, "export rows x.svg", "there is no matrix to show");
    talk_refuses(&t, "export layout x.png", "there is no matrix to show");
    talk_close_screen(&t);
}

/* ---- 10,000 sizes, a key at each ---- */

enum { STORM = 10000 };

struct storm {
    struct session *s;
    uint64_t random;
    int sizes;
    bool key; /* the next frame has the new size */
    const char *typed;
};

/* Every entry that begins a command or a search also ends it. The only command that these keys run is stats. */
static const char *const storm_keys[] = {
    "\t", "?", "+", "-", "g", ":hel\t\t\x15\x7f", "t", "f", "a", "/3\x7f\n", "n", "m", ":stats\n", "1", "3", "6"};
static const int storm_named[] = {UI_BACKTAB, UI_RIGHT, UI_DOWN, UI_PGDN, UI_END, UI_UP};

static bool storm_next(void *user, struct press *p)
{
    struct storm *x = user;
    const struct stage *g = stage_now();
    const struct explorer *e = screen_explorer(x->s);
    if (e->w != g->w || e->h != g->h) fail_msg("drawn at %dx%d, the size is %dx%d", e->w, e->h, g->w, g->h);
    if (x->sizes == STORM && !*x->typed) return false;
    bool named = random_next(&x->random) % 3 == 0;
    uint64_t size = random_next(&x->random) % 20, most = size < 6 ? 25 : size < 19 ? 110 : 300;
    if (x->typed[0]) {
        *p = (struct press){*x->typed == '\n' ? UI_ENTER : *x->typed == '\t' ? UI_TAB : *x->typed, 0, 0};
        x->typed++;
    } else if ((x->key = !x->key)) {
        x->sizes++;
        *p = (struct press){UI_RESIZE, 1 + (int)(random_next(&x->random) % most),
                            1 + (int)(random_next(&x->random) % (most * 2 / 5))};
    } else if (named) {
        *p = (struct press){storm_named[random_next(&x->random) % COUNT(storm_named)], 0, 0};
    } else {
        x->typed = storm_keys[random_next(&x->random) % COUNT(storm_keys)];
        return storm_next(user, p);
    }
    return true;
}

TEST(a_storm_of_sizes)
{
    struct talk t;
    struct err e = {0};
    talk_open_screen(&t);
    talk_line(&t, "gen rmat 12 8 seed 3; race cg jacobi maxit 20 force on cpu");
    struct storm x = {.s = &t.s, .random = 6, .typed = ""};
    struct stage g = {.w = 80, .h = 24, .colours = COLOURS_256, .next = storm_next, .user = &x};
    stage_begin(&g);
    while (x.sizes < STORM) assert_true(explore(&t.s, "spy", &e));
    stage_end();
    talk_close_screen(&t);
}

/* ---- random keys ---- */

static void on_death(int sig)
{
    random_keys_print();
    signal(sig, SIG_DFL);
    raise(sig);
}

TEST(random_keys_break_nothing)
{
    signal(SIGALRM, on_death);
    signal(SIGABRT, on_death);
    alarm(120);
    for (uint64_t seed = 1; seed <= 30; seed++) random_keys(seed, 400);
    alarm(0);
}

/* A run depends only on its seed: two runs press the same keys. */
TEST(a_seed_reproduces_its_run)
{
    random_keys(77, 200);
    int64_t first = keys_pressed;
    random_keys(77, 200);
    assert_int_equal(first, keys_pressed);
}

static int begin(void **state)
{
    random_keys_begin();
    return 0;
}

static int end(void **state)
{
    random_keys_end();
    return 0;
}

SUITE(.setup = begin, .teardown = end);
