/* Random input: keys, typed commands, mouse clicks and new window sizes, in a session with a simulated clock. */
#include "keys_kit.h"
#include "base/clock.h"
#include "base/err.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "matrix/random.h"
#include "session/front.h"
#include "session/session.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/stage.h"
#include "ui/term.h"
#include "ui/view.h"
#include "ui/views/view_state.h"

#include <locale.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES = 16384, TYPED = 256 };

int64_t keys_pressed;
static struct {
    uint64_t seed, random;
    int64_t left;
    struct session *session;
    struct stage stage;
    char typed[TYPED]; /* the text being typed; the part that begins at `next` has not been typed yet */
    size_t next;
    char names[NAMES]; /* names of the most recent keys, each followed by a blank */
    size_t nnames;     /* bytes used */
} run;

static uint64_t below(uint64_t n)
{
    return random_next(&run.random) % n;
}

/* ---- choosing random keys ---- */

static const char *const commands_typed[] = {
    "gen poisson2d 9",
    "gen poisson2d 40",
    "gen rmat 8 6 seed 3",
    "gen band 300 4 1",
    "gen dense 12",
    "gen dense 70",
    "gen random 40 20 300",
    "gen random 1 1 1",
    "gen poisson2d 1",
    "gen poisson3d 6",
    "gen poisson2d 120",
    "load samples/thesis4.mtx",
    "load tests/golden/complex.mtx",
    "load tests/golden/empty.mtx",
    "load tests/golden/nan.mtx",
    "load tests/golden/singular.mtx",
    "load nowhere",
    "drop all",
    "drop thesis4",
    "undo",
    "use thesis4",
    "transpose",
    "reorder rcm",
    "scale",
    "symmetrize",
    "diff thesis4",
    "solve cg",
    "solve cg step",
    "solve cg precond jacobi step",
    "solve gmres m 5 step",
    "solve gmres m 5 precond ilu0",
    "solve jacobi maxit 30 force",
    "solve jacobi tol 0 maxit 3000 force",
    "solve bicgstab on emu step force",
    "solve gs maxit 40 force view",
    "step 3",
    "step",
    "back 2",
    "back",
    "continue",
    "stop",
    "change tol 1e-3",
    "change precond none",
    "race cg jacobi maxit 20 force",
    "race cg jacobi gs tol 0 maxit 900 force",
    "race csr-serial ell-serial reps 4",
    "lu",
    "lu step",
    "lu step force",
    "spmv csr-serial reps 2",
    "spmv ell-serial reps 2",
    "layout ell",
    "layout sell C 2 sigma 4 view",
    "layout bsr block 2",
    "layout dia",
    "layout dense view",
    "spy",
    "rows",
    "spy width 30 height 9",
    "view rows",
    "view lu",
    "view all",
    "view solve",
    "view spy,rows,layout",
    "last",
    "last size 60x20",
    "screendump",
    "screendump a.ansi force",
    "screendump a.svg force light",
    "export spy b.txt force",
    "export rows b.csv force",
    "export layout b.svg force size 40x10",
    "stats",
    "check",
    "formats",
    "help",
    "help view",
    "list",
    "list all",
    "set colours 8",
    "set colours auto",
    "set ascii on",
    "set ascii off",
    "set mouse off",
    "set",
    "keys j j",
    "5",
    "12 7",
    "99999999999999999999",
    "nonsense",
    "",
    "version",
    "convert ell",
    "kernels",
    "solvers",
    "report c.html force",
    "drop all; gen poisson2d 9; lu step",
    "quit",
};
static const char view_keys[] = "?/?/++++--=ggffaattnnssbbBpPomMqx0123456789jjkkhlGuUdD  \t|_X<>[]F{}_cCrR|VwWXFzZ()";
static const int named[] = {UI_UP,    UI_DOWN, UI_LEFT, UI_RIGHT, UI_UP,   UI_DOWN,     UI_LEFT,
                            UI_RIGHT, UI_HOME, UI_END,  UI_PGUP,  UI_PGDN, UI_TAB,      UI_BACKTAB,
                            UI_ENTER, UI_ESC,  UI_TAB,  0x7f,     UI_WAIT, UI_INTERRUPT};

/* Most lines are typed unchanged. In the other lines, up to three characters are replaced: by printable characters,
   control keys, Tab (which completes a word) or bytes that are not ASCII. No line begins with `!`, which would run a
   shell command. */
static void type_command(void)
{
    const char *c = commands_typed[below(COUNT(commands_typed))];
    snprintf(run.typed, sizeof run.typed, ":%s", c);
    size_t n = strlen(run.typed);
    for (uint64_t k = below(4) ? 0 : 1 + below(3); k && n > 2; k--) {
        char *at = run.typed + 1 + below(n - 1);
        int what = (int)below(4);
        if (what == 0) *at = (char)(' ' + below(95));
        if (what == 1) *at = (char)(1 + below(26));
        if (what == 2) *at = '\t';
        if (what == 3) *at = (char)(0x80 + below(128));
    }
    for (char *p = run.typed; *p; p++)
        if (strchr("!|>\n\r", *p)) *p = '0';
    if (below(8)) snprintf(run.typed + n, sizeof run.typed - n, "\n");
    run.next = 0;
}

static struct press anywhere(int key)
{
    int w = run.stage.w, h = run.stage.h;
    return (struct press){key, (int)below((uint64_t)w + 3), (int)below((uint64_t)h + 3)};
}

static struct press new_size(void)
{
    bool small = below(3) == 0;
    return (struct press){UI_RESIZE, 1 + (int)below(small ? 24 : 220), 1 + (int)below(small ? 8 : 70)};
}

static struct press random_press(void)
{
    uint64_t what = below(100);
    if (what < 8) type_command();
    if (what < 8) return (struct press){(unsigned char)run.typed[run.next++], 0, 0};
    if (what < 45) return (struct press){view_keys[below(sizeof view_keys - 1)], 0, 0};
    if (what < 85) return (struct press){named[below(COUNT(named))], 0, 0};
    if (what < 89) return new_size();
    if (what < 95) return anywhere(UI_CLICK + (int)below(3));
    if (what < 97) return (struct press){1 + (int)below(31), 0, 0};
    int key = ' ' + (int)below(224);
    return (struct press){strchr("!|>", key) ? ' ' : key, 0, 0};
}

/* ---- the keys pressed so far ---- */

static void note_key(struct press p)
{
    char name[48];
    if (p.key == '\n' || p.key == '\r') p.key = UI_ENTER;
    press_name(p, name, sizeof name);
    size_t n = strlen(name);
    if (run.nnames + n + 2 > NAMES) {
        memmove(run.names, run.names + NAMES / 2, run.nnames - NAMES / 2);
        run.nnames -= NAMES / 2;
    }
    memcpy(run.names + run.nnames, name, n);
    run.names[run.nnames + n] = ' ';
    run.nnames += n + 1;
}

static void put(const char *text, size_t n)
{
    if (write(STDERR_FILENO, text, n) < 0) return;
}

void random_keys_print(void)
{
    char head[160];
    int n = snprintf(head, sizeof head, "\nseed %llu, after %lld keys; fuzz_keys seed %llu plays it again:\n",
                     (unsigned long long)run.seed, (long long)keys_pressed, (unsigned long long)run.seed);
    put(head, (size_t)n);
    put(run.names, run.nnames);
    put("\n", 1);
}

/* ---- a run ---- */

static void check_state(struct session *s, const struct view *v)
{
    const struct view_state *st = screen_view_state(s, v);
    if (st->of != s->current || !s->current) return;
    const char *wrong = st->win.row0 < 0 || st->win.row0 > st->win.row1 || st->win.row1 > st->rows ? "window of rows"
                        : st->win.col0 < 0 || st->win.col0 > st->win.col1 || st->win.col1 > st->cols
                            ? "window of columns"
                        : st->row < 0 || (st->row && st->row >= st->rows) ? "row"
                        : st->col < 0 || (st->col && st->col >= st->cols) ? "column"
                        : st->scroll < 0 || st->item < 0                  ? "place in a list"
                                                                          : NULL;
    if (!wrong) return;
    fprintf(stderr, "%s: the %s is out of bounds\n", v->name, wrong);
    abort();
}

static bool next(void *user, struct press *p)
{
    struct session *s = user;
    for (int i = 0; views[i]; i++) check_state(s, views[i]);
    if (run.left-- <= 0) return false;
    if (run.typed[run.next])
        *p = (struct press){(unsigned char)run.typed[run.next++], 0, 0};
    else
        *p = random_press();
    if (p->key == 22) p->key = 1; /* readline leaks 12 bytes when Escape follows C-v */
    keys_pressed++;
    note_key(*p);
    if (p->key == '\n' || p->key == '\r') p->key = UI_ENTER;
    if (p->key == '\t') p->key = UI_TAB;
    if (p->key == 3) p->key = UI_INTERRUPT;
    if (p->key == 27) p->key = UI_ESC;
    return true;
}

static double clock_us;

static double ticking(void)
{
    return clock_us += 100;
}

static void play(struct session *s)
{
    static const enum colours palette[] = {COLOURS_NONE, COLOURS_8, COLOURS_16, COLOURS_256, COLOURS_24BIT};
    struct err e = {0};
    int nviews = 0;
    while (views[nviews]) nviews++;
    run.stage =
        (struct stage){.next = next, .user = s, .eager = below(2) == 0, .colours = palette[below(COUNT(palette))]};
    struct press size = new_size();
    run.stage.w = size.x;
    run.stage.h = size.y;
    s->front->ascii = below(3) == 0;
    stage_begin(&run.stage);
    if (!explore(s, views[below((uint64_t)nviews)]->name, &e)) explore(s, "solve", &e);
    stage_end();
}

void random_keys(uint64_t seed, int64_t keys)
{
    struct session s;
    struct err e = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    memset(&run, 0, sizeof run);
    run.seed = run.random = seed;
    run.left = keys;
    run.session = &s;
    keys_pressed = 0;
    clock_us = 0;
    now_replace(ticking);
    colours_choose(-1);
    if (!nowhere || !session_new(&s, nowhere, nowhere, OUT_TEXT, &e) || !ui_attach(&s, &e)) abort();
    s.dev = device_open("cpu", NULL);
    if (below(5)) run_line(&s, commands_typed[below(16)]);
    while (run.left > 0 && !s.quit) play(&s);
    ui_detach(&s);
    session_free(&s);
    now_replace(NULL);
    fclose(nowhere);
}

static char folder[] = "/tmp/warpspy-keys-XXXXXX";

static void link_here(const char *name)
{
    char from[4200];
    if (!getcwd(from, 4096)) abort();
    snprintf(from + strlen(from), 100, "/%s", name);
    char to[100];
    snprintf(to, sizeof to, "%s/%s", folder, name);
    if (symlink(from, to)) abort();
}

void random_keys_begin(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    omp_set_num_threads(1);
    session_catch_interrupt(false);
    if (!mkdtemp(folder)) abort();
    link_here("samples");
    link_here("tests");
    if (chdir(folder)) abort();
    setenv("XDG_STATE_HOME", folder, 1);
    setenv("XDG_CONFIG_HOME", folder, 1);
    setenv("HOME", folder, 1);
    setenv("INPUTRC", "/dev/null", 1);
}

void random_keys_end(void)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) perror(command);
}
