/* Measures how fast the screen is. This benchmark runs the program in a pseudo terminal. It measures the time to start,
   the time from a key to its frame, the load while idle and during a solve, the time to draw large matrices, and the
   bytes per frame. Usage, in the top folder: bench_screen [NONZEROS] measures all this with matrices of up to NONZEROS
   nonzeros (default 100 million). bench_screen keys [PANE] measures only the time from keys to frames. bench_screen
   start measures only the time from start to prompt. The machine's load affects every figure and is printed with the
   figures. */
#include "base/clock.h"
#include "base/err.h"
#include "kits/drive.h"
#include "language/run_lines.h"
#include "matrix/gen.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/explorer.h"
#include "ui/run.h"
#include "ui/screen.h"
#include "ui/term.h"
#include "ui/views/view_spy.h"
#include "ui/views/view_state.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 200, HEIGHT = 60, ROUNDS = 7, STARTS = 200, KEYS = 300, MOVES = 15, SOLVES = 5, BYTES_A_NONZERO = 60 };
enum { IDLE_S = 5, CALM_MS = 20, PATIENCE_MS = 3000, LOST_MAX = 3, MARK = '\a' };

static FILE *report;
static atomic_llong taken; /* bytes that the terminal received */
static atomic_llong marks; /* number of MARK bytes that the terminal received */

/* ---- figures ---- */

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

/* The given percentile of v. This function sorts v. */
static double quantile(double *v, int n, int percent)
{
    qsort(v, (size_t)n, sizeof *v, by_size);
    int at = (n * percent + 99) / 100 - 1;
    return n < 1 ? 0 : v[at < 0 ? 0 : at];
}

static double median(double *v, int n)
{
    return quantile(v, n, 50);
}

static void put_line(const char *what, const char *target, const char *fmt, ...) PRINTF(3, 4);
static void put_line(const char *what, const char *target, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(report, "  %-40s  %-48s  %s\n", what, text, target);
    fflush(report);
}

static void put_load(const char *when)
{
    double load[3] = {0};
    if (getloadavg(load, 3) < 1) return;
    fprintf(report, "load %s: %.2f %.2f %.2f\n", when, load[0], load[1], load[2]);
}

/* With SCHED_RR, take a processor as soon as a frame arrives, so that delays of this program do not count as delays of
   the screen. The programs that this program starts get the default policy. Only the superuser may choose SCHED_RR. */
static void take_precedence(int policy)
{
    struct sched_param first = {.sched_priority = sched_get_priority_min(policy)};
    if (sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &first))
        fprintf(report, "the delays of this program are included: only the superuser can exclude them\n");
}

static void put_machine(void)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    fprintf(report, "screen: %ld processors", sysconf(_SC_NPROCESSORS_ONLN));
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "model name", 10)) {
            fprintf(report, ", %s", strchr(line, ':') ? strchr(line, ':') + 2 : "\n");
            break;
        }
    if (f) fclose(f);
    put_load("at the start");
}

/* ---- the program in a terminal ---- */

static char program[1024], home[64] = "/tmp/bench_screen.XXXXXX";
static struct driven driven;

/* Start the program with this file, or without a file if `file` is NULL. */
static bool start(const char *file)
{
    char *argv[] = {program, (char *)file, NULL};
    return drive_start(&driven, argv, WIDTH, HEIGHT, home) && drive_until(&driven, "> ", PATIENCE_MS);
}

static void bench_start(const char *what, const char *file)
{
    double ms[STARTS];
    int n = 0;
    for (int i = 0; i < STARTS; i++) {
        double from = now_us();
        if (start(file)) ms[n++] = (driven.came_us - from) / 1e3;
        drive_end(&driven);
    }
    put_line(what, "p95 < 10 ms", "p50 %.1f ms, p95 %.1f ms of %d", quantile(ms, n, 50), quantile(ms, n, 95), n);
}

static void bench_starts(void)
{
    bench_start("start to prompt", NULL);
    bench_start("start to prompt, a file of 9 nonzeros", "samples/thesis4.mtx");
}

/* Time from a key to the end of its frame, in ms; negative if no frame came. */
static double key_ms(const char *key, const char *brings)
{
    double from = now_us();
    drive_key(&driven, key);
    return drive_until(&driven, brings, PATIENCE_MS) ? (driven.came_us - from) / 1e3 : -1;
}

/* While the output of a command covers the pane, the list of keys on the screen contains this text. */
#define OUTPUT_KEYS "q close"

/* Send keys one after another. Between two keys, wait until the output pauses. If the screen never stops redrawing,
   wait for pause_ms instead. */
static void bench_keys(const char *what, const char *const (*key)[2], int nkeys, int times, int pause_ms)
{
    double ms[KEYS], cpu = drive_cpu_us(&driven);
    int n = 0, lost = 0;
    for (int i = 0; i < times && lost < LOST_MAX; i++) {
        double took = key_ms(key[i % nkeys][0], key[i % nkeys][1]);
        if (took < 0) lost++;
        if (took >= 0) ms[n++] = took;
        if (pause_ms)
            drive_until(&driven, "never", pause_ms);
        else
            drive_settle(&driven, CALM_MS);
        if (strstr(driven.seen, OUTPUT_KEYS)) break; /* the command has ended and shows its output */
    }
    cpu = (drive_cpu_us(&driven) - cpu) / 1e3 / (n + lost);
    put_line(what, "1 ms, 5 ms", "p50 %.2f ms, p99 %.2f ms of %d%s; processor %.2f ms", quantile(ms, n, 50),
             quantile(ms, n, 99), n, lost ? ", some never came" : "", cpu);
}

#define FRAME_END "\033[?2026l"

static void bench_idle(const char *what)
{
    drive_settle(&driven, 500);
    long long bytes = driven.bytes;
    double cpu = drive_cpu_us(&driven);
    drive_until(&driven, "never", IDLE_S * 1000);
    put_line(what, "0 bytes, 0 ms", "%lld bytes, %.0f ms of processor in %d s", driven.bytes - bytes,
             (drive_cpu_us(&driven) - cpu) / 1e3, IDLE_S);
}

#define LEFT "\033[D"
#define RIGHT "\033[C"
#define UP "\033[A"
#define DOWN "\033[B"

/* The command `open` and the keys `before` prepare the pane. Each key that is timed changes the frame, because a key
   that changes nothing produces no frame. */
static const struct {
    const char *what, *open, *before, *key[8];
} panes[] = {
    {"spy, cursor", "view spy", "g", {RIGHT, DOWN, RIGHT, LEFT, UP, LEFT}},
    {"spy, zoom", "view spy", "g", {"+", "-", "+", "+", "-", "-"}},
    {"spy, both", "view spy", "g", {RIGHT, DOWN, "+", LEFT, "-", UP}},
    {"spy, screens up and down", "view spy", "g+++", {"\033[6~", "\033[6~", "\033[5~", "\033[5~"}},
    {"rows, bins and their rows", "view rows", "g", {DOWN, RIGHT, LEFT, DOWN, UP, UP}},
    {"rows, pictures", "view rows", "", {"t"}},
    {"layout, slots", "view layout", "", {RIGHT, DOWN, DOWN, LEFT, UP, UP}},
    {"layout, screens", "view layout", "", {"\033[6~", "\033[6~", "\033[5~", "\033[5~"}},
    {"trace, steps", "trace csr-vector view", "", {"s", "s", "s", "b", "b", "b"}},
    {"trace, warps", "view trace", "", {"w", "w", "w", "W", "W", "W"}},
    {"spy, rows, layout by turns", "view spy", "g", {"2", "3", "1"}},
    {"four panes, spy moves", "view all", "1g", {RIGHT, DOWN, RIGHT, LEFT, UP, LEFT}},
    {"four panes, spy zooms", "view all", "1g", {"+", "-", "+", "+", "-", "-"}},
    {"four panes, rows moves", "view all", "1g2g", {DOWN, RIGHT, LEFT, DOWN, UP, UP}},
    {"four panes, layout moves", "view all", "1g3g", {RIGHT, DOWN, DOWN, LEFT, UP, UP}},
    {"four panes, trace steps", "view all", "1g\033[Z", {"s", "s", "s", "b", "b", "b"}},
    {"four panes, focus", "view all", "1g", {"\t"}},
    {"four panes, sizes", "view all", "1g", {">", "}", "<", "{"}},
    {"solve, help", "solve bicgstab maxit 60 on cpu force; view solve", "", {"?"}},
};

static bool is_wanted(const char *what, const char *which)
{
    return !strncmp(what, which, strlen(which));
}

static void bench_panes(const char *which)
{
    for (int i = 0; i < COUNT(panes); i++) {
        const char *key[COUNT(panes[i].key)][2];
        int n = 0;
        if (!is_wanted(panes[i].what, which)) continue;
        for (; panes[i].key[n]; n++) key[n][0] = panes[i].key[n], key[n][1] = FRAME_END;
        drive_key(&driven, ":");
        drive_key(&driven, panes[i].open);
        drive_key(&driven, "\r");
        drive_settle(&driven, 1000);
        drive_key(&driven, panes[i].before);
        drive_settle(&driven, 300);
        bench_keys(panes[i].what, key, n, KEYS, 0);
    }
}

/* Another process that uses a processor all the time, as another user's program may do. */
static pid_t busy_start(void)
{
    pid_t child = fork();
    for (volatile unsigned n = 0; child == 0;) n++;
    return child;
}

static void bench_panes_busy(const char *which)
{
    if (!is_wanted("four panes", which)) return;
    pid_t busy = busy_start();
    if (busy < 0) return;
    fprintf(report, "  with a busy loop beside it:\n");
    bench_panes("four panes");
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
}

static void bench_keys_in_solve(const char *which)
{
    static const char what[] = "help, while a solve runs";
    static const char *const help[][2] = {{"?", "any key to return"}, {"?", "log scale"}};
    if (!is_wanted(what, which)) return;
    drive_key(&driven, ":view spy\r");
    drive_settle(&driven, 300);
    drive_key(&driven, ":use grid\r");
    drive_settle(&driven, 300);
    drive_key(&driven, ":solve cg tol 1e-100 maxit 10000000 on cpu\r");
    if (!drive_until(&driven, "iteration", PATIENCE_MS)) fprintf(report, "the solve is not shown\n");
    drive_until(&driven, "never", 1000);
    bench_keys(what, help, COUNT(help), KEYS, 37);
}

/* Keys in the spy pane while these commands run on 10^7 nonzeros. `to_spy` returns to that pane from the pane that
   shows the work. The keys open and close the help screen: the text of the help distinguishes the frames that
   answer a key from the frames that only show progress. The program is restarted for each command. */
static const struct {
    const char *command, *to_spy;
} long_commands[] = {
    {"check all", ""},
    {"solve jacobi tol 1e-100 maxit 1000000 force on cpu", "\t"},
    {"solve gmres m 400 tol 1e-100 force on cpu", "\t"},
    {"bench on cpu", ""},
    {"spmv kernel csr-vector on emu", ""},
    {"race jacobi wjacobi tol 1e-100 force", "1"},
    {"convert bsr 4 force", ""},
    {"symmetrize mode average", ""},
    {"transpose", ""},
    {"reorder rcm", ""},
    {"advise", ""},
    {"lesson samples/lessons/which-kernel.txt", ""},
    {"save /dev/shm/bench_screen.mtx.gz force", ""},
};

/* The least time from a key to its frame on this machine: cat returns each key, beside the same work. */
static void bench_echo(void)
{
    char *argv[] = {"/bin/sh", "-c", "stty raw -echo; echo ready; exec cat", NULL};
    static struct driven cat;
    double ms[KEYS / 3];
    int n = 0;
    if (!drive_start(&cat, argv, WIDTH, HEIGHT, home)) return;
    drive_until(&cat, "ready", PATIENCE_MS);
    for (int i = 0; i < COUNT(ms); i++) {
        double from = now_us();
        drive_key(&cat, "?");
        if (drive_until(&cat, "?", PATIENCE_MS)) ms[n++] = (cat.came_us - from) / 1e3;
        drive_until(&cat, "never", 37);
    }
    drive_end(&cat);
    put_line("  cat beside it", "", "p50 %.2f ms, p99 %.2f ms of %d", quantile(ms, n, 50), quantile(ms, n, 99), n);
}

static void bench_keys_beside(const char *which)
{
    static const char *const help[][2] = {{"?", "any key to return"}, {"?", "dot"}};
    for (int i = 0; is_wanted("beside", which) && i < COUNT(long_commands); i++) {
        bool ok = start(NULL);
        drive_key(&driven, "gen poisson2d 1450; view spy\r");
        if (!ok || !drive_until(&driven, "leave", 60 * 1000)) fprintf(report, "the spy pane did not appear\n");
        drive_settle(&driven, 1000);
        drive_key(&driven, ":");
        drive_key(&driven, long_commands[i].command);
        drive_key(&driven, "\r");
        drive_until(&driven, "never", 1000);
        drive_key(&driven, long_commands[i].to_spy);
        drive_until(&driven, "never", 200);
        bench_keys(long_commands[i].command, help, COUNT(help), KEYS / 3, 37);
        bench_echo();
        drive_end(&driven);
    }
    remove("/dev/shm/bench_screen.mtx.gz");
}

/* Run the measurements whose names begin with `which`. */
static void bench_program(const char *which)
{
    bool ok = start(NULL);
    drive_key(&driven, "gen rmat 19 20 as m; gen poisson2d 700 as grid; use m; view spy\r");
    ok = ok && drive_until(&driven, "leave", 60 * 1000);
    drive_settle(&driven, 300);
    if (!ok) fprintf(report, "the program did not come as far as its views\n");
    if (ok && !*which) bench_idle("idle in spy, 10^7 nonzeros");
    if (ok) bench_panes(which);
    if (ok) bench_panes_busy(which);
    if (ok) bench_keys_in_solve(which);
    drive_end(&driven);
    bench_keys_beside(which);
}

/* ---- a terminal that only counts bytes ---- */

static void *take(void *user)
{
    char buffer[1 << 16];
    for (ssize_t n; (n = read(*(int *)user, buffer, sizeof buffer)) > 0; taken += n)
        for (const char *p = buffer; (p = memchr(p, MARK, (size_t)(buffer + n - p))); p++) marks++;
    return NULL;
}

static bool open_terminal(void)
{
    static int master;
    struct winsize size = {.ws_row = HEIGHT, .ws_col = WIDTH};
    pthread_t thread;
    master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) || unlockpt(master)) return false;
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size)) return false;
    if (dup2(slave, STDIN_FILENO) < 0 || dup2(slave, STDOUT_FILENO) < 0) return false;
    setenv("TERM", "xterm-256color", 1);
    unsetenv("NO_COLOR");
    unsetenv("COLORTERM");
    return !pthread_create(&thread, NULL, take, &master) && !pthread_detach(thread);
}

/* The number of bytes since the last call. The function sends MARK after these bytes and waits until MARK arrives. */
static long long bytes(void)
{
    static long long before;
    long long here = marks, now;
    putchar(MARK);
    fflush(stdout);
    while (marks == here) usleep(100);
    usleep(1000);
    now = taken - marks; /* do not count the MARK bytes */
    here = now - before;
    before = now;
    return here;
}

/* ---- views ---- */

struct shown {
    struct session s;
    struct canvas c;
    const struct view *v;
    struct view_state *st;
};

static void draw(struct shown *x)
{
    canvas_clear(&x->c);
    view_draw(x->v, &x->c, &x->s, x->st);
    term_draw(&x->c);
}

/* Time from the command to the first frame of the whole matrix, in us; nothing is cached from the previous run. */
static double open_view(struct shown *x, const char *name)
{
    struct err e = {0};
    double from = now_us();
    x->v = view_find(name);
    x->st = screen_view_state(&x->s, x->v);
    view_reset(x->st, NULL);
    view_reset(x->st, x->s.current);
    x->st->full = true;
    if (x->v->prepare && x->s.current && !x->v->prepare(&x->s, x->st, &e)) fprintf(report, "%s: %s\n", name, e.text);
    draw(x);
    return now_us() - from;
}

/* Time from the first frame to the frame of exact counts, and the longest interval between two checks of the
   keyboard. */
static double count_all(struct shown *x, double *longest)
{
    double from = now_us(), exact = from;
    enum work done = WORK_ON;
    for (double was = from, now; done != WORK_NONE; was = now) {
        const struct grid *g = &((struct spy_state *)x->st->own)->grid;
        bool guessed = g->guessed;
        done = x->v->work(&x->s, x->st);
        if (done == WORK_DRAW) draw(x);
        now = now_us();
        if (guessed && !g->guessed) exact = now;
        if (now - was > *longest) *longest = now - was;
    }
    return exact - from;
}

/* ---- large matrices ---- */

/* Time to read the columns once, with all processors, in ms: a lower bound for any count. Returns the shortest time of
   several runs. */
static double read_ms(const struct csr *A)
{
    double best = INFINITY;
    int64_t sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double from = now_us();
#pragma omp parallel for reduction(+ : sum) schedule(static)
        for (int64_t k = 0; k < A->nnz; k++) sum += A->col[k];
        best = fmin(best, now_us() - from);
    }
    return sum < 0 ? 0 : best / 1e3;
}

static void bench_spy(struct shown *x, const char *name)
{
    double first[ROUNDS], exact[ROUNDS], longest = 0, floor = read_ms(&x->s.current->csr);
    char what[80];
    for (int i = 0; i < ROUNDS; i++) {
        first[i] = open_view(x, "spy") / 1e3;
        exact[i] = first[i] + count_all(x, &longest) / 1e3;
    }
    double middle = median(exact, ROUNDS);
    snprintf(what, sizeof what, "spy of %s, %.3g nonzeros", name, (double)x->s.current->csr.nnz);
    put_line(what, "30 ms, 100 ms", "first %.1f, exact %.1f (least %.1f) ms, slice %.1f ms", median(first, ROUNDS),
             middle, exact[0], longest / 1e3);
    put_line("", "", "columns are read in %.1f ms, %.0f GB/s; exact takes %.1f times that", floor,
             4e-6 * (double)x->s.current->csr.nnz / floor, exact[0] / floor);
}

/* The key c colours the picture by sign: time from this key to the first picture, and to the picture of all values. */
static void bench_values(struct shown *x)
{
    double first[ROUNDS], all[ROUNDS], longest = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double ignored = 0;
        open_view(x, "spy");
        count_all(x, &ignored);
        double from = now_us();
        view_key(&x->s, x->v, 'c');
        draw(x);
        first[i] = (now_us() - from) / 1e3;
        count_all(x, &longest);
        all[i] = (now_us() - from) / 1e3;
        view_key(&x->s, x->v, 'c'); /* by magnitude */
        view_key(&x->s, x->v, 'c'); /* by count */
    }
    double middle = median(all, ROUNDS);
    put_line("  by sign", "30 ms, 100 ms", "first %.1f, exact %.1f (least %.1f) ms, slice %.1f ms",
             median(first, ROUNDS), middle, all[0], longest / 1e3);
}

static bool make(struct shown *x, const char *generator, const int64_t *p, struct err *e)
{
    struct csr A = {0};
    struct load_info info = {.file = "made"};
    return generator_find(generator)->make(p, 1, NULL, &A, e) && session_add(&x->s, generator, &A, &info, e);
}

/* Is there enough memory to generate a matrix of this many nonzeros? */
static bool has_room(double nonzeros)
{
    return nonzeros * BYTES_A_NONZERO < (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static const struct {
    double nonzeros;
    const char *generator;
    int64_t p[PARAMS_MAX];
} matrices[] = {
    {1e6, "poisson2d", {448}},      {1e6, "band", {60000, 8, 100}},   {1e6, "random", {100000, 10}},
    {1e6, "rmat", {16, 16}},        {1e7, "poisson2d", {1415}},       {1e7, "band", {600000, 8, 100}},
    {1e7, "random", {1000000, 10}}, {1e7, "rmat", {19, 20}},          {1e7, "dense", {3163, 3163}},
    {1e8, "poisson2d", {4473}},     {1e8, "band", {6000000, 8, 100}}, {1e8, "random", {10000000, 10}},
    {1e8, "rmat", {22, 24}},        {1e8, "dense", {10000, 10000}},
};

static bool bench_matrices(struct shown *x, double most, struct err *e)
{
    for (int i = 0; i < COUNT(matrices); i++) {
        if (matrices[i].nonzeros > most) continue;
        if (!has_room(matrices[i].nonzeros)) {
            put_line(matrices[i].generator, "", "left out: %.0e nonzeros take up to %.1f GB of free memory",
                     matrices[i].nonzeros, matrices[i].nonzeros * BYTES_A_NONZERO / 1e9);
            continue;
        }
        if (!make(x, matrices[i].generator, matrices[i].p, e)) return false;
        bench_spy(x, matrices[i].generator);
        bench_values(x);
        session_drop(&x->s, x->s.current);
    }
    return true;
}

/* ---- bytes of frames ---- */

static bool sized(struct shown *x, int w, int h, enum colours colours, struct err *e)
{
    canvas_free(&x->c);
    if (!canvas_new(&x->c, w, h, false, e)) return false;
    x->c.colours = colours;
    return true;
}

/* *whole receives the bytes of a frame on an empty screen; *moved receives the median bytes of a frame after a key. */
static void count_bytes(struct shown *x, const char *name, const char *keys, long long *whole, double *moved)
{
    double sent[MOVES];
    double ignored = 0;
    open_view(x, name);
    if (x->v->work && x->s.current) count_all(x, &ignored);
    for (; *keys; keys++) view_key(&x->s, x->v, *keys);
    canvas_clear(&x->c);
    term_draw(&x->c);
    bytes();
    draw(x);
    *whole = bytes();
    for (int i = 0; i < MOVES; i++) {
        view_key(&x->s, x->v, i % 2 ? UI_UP : UI_DOWN);
        draw(x);
        sent[i] = (double)bytes();
    }
    *moved = median(sent, MOVES);
}

static bool bench_bytes(struct shown *x, struct err *e)
{
    static const struct {
        const char *name, *keys;
    } table[] = {{"spy", ""},     {"spy", "++++"}, {"rows", ""},  {"rows", "t"}, {"layout", ""},
                 {"layout", "?"}, {"bench", ""},   {"solve", ""}, {"race", ""},  {"lu", ""}};
    static const struct {
        int w, h;
        enum colours colours;
    } sizes[] = {{80, 24, COLOURS_256}, {200, 60, COLOURS_256}, {200, 60, COLOURS_24BIT}};
    if (!make(x, "rmat", (int64_t[PARAMS_MAX]){16, 16}, e)) return false;
    run_line(&x->s, "spmv on cpu reps 1; solve bicgstab maxit 60 on cpu force");
    fprintf(report, "  %-40s  %-16s%-16s%s\n", "bytes of a frame whole, of one after a key", "80x24, 256",
            "200x60, 256", "200x60, true colour");
    for (int i = 0; i < COUNT(table); i++) {
        fprintf(report, "  %-8s%-32s", table[i].name, table[i].keys);
        for (int k = 0; k < COUNT(sizes); k++) {
            long long whole;
            double moved;
            if (!sized(x, sizes[k].w, sizes[k].h, sizes[k].colours, e)) return false;
            count_bytes(x, table[i].name, table[i].keys, &whole, &moved);
            fprintf(report, "  %6lld %5.0f  ", whole, moved);
        }
        fputs("\n", report);
    }
    session_drop(&x->s, x->s.current);
    return true;
}

/* ---- the cost of a view during a solve ---- */

static double solve_s(struct shown *x, int64_t iterations)
{
    char line[120];
    snprintf(line, sizeof line, "solve cg tol 1e-100 maxit %lld on cpu", (long long)iterations);
    double from = now_us();
    if (!run_line(&x->s, line)) fprintf(report, "`%s` was refused\n", line);
    return (now_us() - from) / 1e6;
}

/* Processor time of all threads, in s. On a busy machine, processor time is more reliable than elapsed time. */
static double processor_s(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Run the same iterations in pairs, with and without the explorer's view of the solve. The order within a pair
   alternates. */
static bool bench_live(struct shown *x, struct err *e)
{
    enum turn (*live)(struct session *, const char *) = x->s.front->live;
    double took[2][SOLVES], used[2][SOLVES], share[SOLVES];
    if (!make(x, "poisson2d", (int64_t[PARAMS_MAX]){500}, e)) return false;
    x->s.interactive = screen_explorer(&x->s)->on = true;
    x->s.front->live = NULL;
    solve_s(x, 300);
    int64_t iterations = (int64_t)(300 * 2.3 / solve_s(x, 300));
    if (iterations < 1) iterations = 1;
    long long before = taken - marks;
    for (int i = 0; i < SOLVES; i++) {
        for (int k = 0; k < 2; k++) {
            int seen = (i + k) % 2;
            double from = processor_s();
            x->s.front->live = seen ? live : NULL;
            took[seen][i] = solve_s(x, iterations);
            used[seen][i] = processor_s() - from;
        }
        share[i] = 100 * (took[1][i] / took[0][i] - 1);
    }
    x->s.front->live = live;
    double blind = median(took[0], SOLVES), seen = median(took[1], SOLVES);
    put_line("live view of a solve", "< 2 %", "%+.1f %% (median of %d), least against least %+.1f %%",
             median(share, SOLVES), SOLVES, 100 * (took[1][0] / took[0][0] - 1));
    put_line("", "", "%lld iterations in %.2f s, with it %.2f s; %.1f kB/s", (long long)iterations, blind, seen,
             (double)(taken - marks - before) / 1e3 / SOLVES / seen);
    put_line("", "", "of processors %.2f s, with it %.2f s", median(used[0], SOLVES), median(used[1], SOLVES));
    x->s.interactive = screen_explorer(&x->s)->on = false;
    return session_drop(&x->s, x->s.current);
}

/* ---- all measurements ---- */

static bool bench_inside(double most)
{
    struct shown x = {0};
    struct err e = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere || !open_terminal()) return fprintf(stderr, "bench_screen: no pseudo-terminal\n"), false;
    bool ok = session_new(&x.s, nowhere, nowhere, OUT_TEXT, &e) && ui_attach(&x.s, &e) && term_open(&e) &&
              sized(&x, WIDTH, HEIGHT, COLOURS_256, &e);
    ok = ok && bench_matrices(&x, most, &e) && bench_bytes(&x, &e) && sized(&x, WIDTH, HEIGHT, COLOURS_256, &e) &&
         bench_live(&x, &e);
    if (!ok) fprintf(stderr, "bench_screen: %s\n", e.text);
    term_close();
    canvas_free(&x.c);
    ui_detach(&x.s);
    session_free(&x.s);
    fclose(nowhere);
    return ok;
}

int main(int argc, char **argv)
{
    const char *end = strrchr(argv[0], '/');
    snprintf(program, sizeof program, "%.*s/../../warpspy", end ? (int)(end - argv[0]) : 1, end ? argv[0] : ".");
    setlocale(LC_CTYPE, "C.UTF-8");
    report = fdopen(dup(STDOUT_FILENO), "w");
    if (!report || !mkdtemp(home)) return fprintf(stderr, "bench_screen: no output, or no folder in /tmp\n"), 1;
    bool keys = argc > 1 && !strcmp(argv[1], "keys"), ok = true;
    bool starts = argc > 1 && !strcmp(argv[1], "start");
    put_machine();
    take_precedence(SCHED_RR);
    if (!keys) bench_starts();
    if (!starts) bench_program(keys && argc > 2 ? argv[2] : "");
    take_precedence(SCHED_OTHER);
    if (!keys && !starts) ok = bench_inside(argc > 1 ? atof(argv[1]) : 1e8);
    put_load("at the end");
    char clean[100];
    snprintf(clean, sizeof clean, "rm -r %s", home);
    if (system(clean)) fprintf(report, "%s is left behind\n", home);
    fclose(report);
    return !ok;
}
