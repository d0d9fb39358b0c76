/* How fast large matrices come to the screen: spy's first frame, its exact counts, a frame after a key, and the bytes a
   frame sends, on a pseudo-terminal of 200 x 60 in 256 colours.
   bench_screen [NONZEROS]: of up to so many nonzeros, 100 million unless said. */
#include "../ui/ui.h"

#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH = 200, HEIGHT = 60, ROUNDS = 7, MOVES = 41, BYTES_A_NONZERO = 60 };

static FILE *report;
static atomic_llong taken; /* bytes that the terminal took */

/* ---- a terminal that only counts ---- */

static void *take(void *user)
{
    char buffer[1 << 16];
    for (ssize_t n; (n = read(*(int *)user, buffer, sizeof buffer)) > 0;) taken += n;
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
    report = fdopen(dup(STDOUT_FILENO), "w");
    if (!report || dup2(slave, STDIN_FILENO) < 0 || dup2(slave, STDOUT_FILENO) < 0) return false;
    setenv("TERM", "xterm-256color", 1);
    unsetenv("NO_COLOR");
    unsetenv("COLORTERM");
    return !pthread_create(&thread, NULL, take, &master) && !pthread_detach(thread);
}

/* Bytes since the last call, once no more come. */
static long long bytes(void)
{
    static long long before;
    long long now = taken, seen;
    do {
        seen = now;
        usleep(5000);
        now = taken;
    } while (now != seen);
    seen = now - before;
    before = now;
    return seen;
}

/* ---- times ---- */

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}

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

/* From the command to the first frame, in us. */
static double open_view(struct shown *x, const char *name)
{
    struct err e = {0};
    double start = now_us();
    x->v = view_find(name);
    x->st = front_state(&x->s, x->v);
    view_reset(x->st, x->s.current);
    x->st->full = true;
    if (x->v->prepare && !x->v->prepare(&x->s, x->st, &e)) fprintf(report, "    %s: %s\n", name, e.text);
    draw(x);
    return now_us() - start;
}

/* From there to the frame of exact counts; the longest time without a look at the keys. */
static double count_all(struct shown *x, double *longest)
{
    double start = now_us(), exact = start;
    enum work done = WORK_ON;
    for (double was = start, now; done != WORK_NONE; was = now) {
        bool guessed = x->st->grid.guessed;
        done = x->v->work(&x->s, x->st);
        if (done == WORK_DRAW) draw(x);
        now = now_us();
        if (guessed && !x->st->grid.guessed) exact = now;
        if (now - was > *longest) *longest = now - was;
    }
    return exact - start;
}

static double press(struct shown *x, int key)
{
    double start = now_us();
    view_key(&x->s, x->v, key);
    draw(x);
    return now_us() - start;
}

/* ---- one matrix ---- */

static void bench_spy(struct shown *x)
{
    double first[ROUNDS], exact[ROUNDS], zoom[ROUNDS], longest = 0;
    long long whole = 0, zoomed = 0;
    for (int i = 0; i < ROUNDS; i++) {
        first[i] = open_view(x, "spy");
        exact[i] = first[i] + count_all(x, &longest);
        if (i == 0) whole = bytes();
        bytes();
        zoom[i] = press(x, '+');
        zoomed = bytes();
    }
    fprintf(report,
            "    spy: first frame %.1f ms, exact %.1f ms, longest slice %.1f ms, zoomed %.1f ms; %lld and %lld bytes\n",
            median(first, ROUNDS) / 1e3, median(exact, ROUNDS) / 1e3, longest / 1e3, median(zoom, ROUNDS) / 1e3, whole,
            zoomed);
}

static void bench_moves(struct shown *x, int key)
{
    double us[MOVES], sent[MOVES];
    double opened = open_view(x, x->v->name);
    while (x->v->work && x->v->work(&x->s, x->st) != WORK_NONE) continue;
    draw(x);
    bytes();
    for (int i = 0; i < MOVES; i++) {
        us[i] = press(x, key);
        sent[i] = (double)bytes();
    }
    double middle = median(us, MOVES);
    fprintf(report, "    %s: opened %.1f ms, key to frame %.2f ms (slowest %.2f ms), %.0f bytes a frame\n", x->v->name,
            opened / 1e3, middle / 1e3, us[MOVES - 1] / 1e3, median(sent, MOVES));
}

static bool bench_matrix(struct shown *x, const char *generator, const int64_t *p, struct err *e)
{
    struct csr A = {0};
    struct load_info info = {.file = "made"};
    if (!generator_find(generator)->make(p, 1, NULL, &A, e) || !session_add(&x->s, generator, &A, &info, e))
        return false;
    const struct csr *made = &x->s.current->csr;
    fprintf(report, "%s %lld %lld: %lld rows, %lld nonzeros\n", generator, (long long)p[0], (long long)p[1],
            (long long)made->rows, (long long)made->nnz);
    bench_spy(x);
    bench_moves(x, UI_DOWN);
    open_view(x, "rows");
    bench_moves(x, UI_RIGHT);
    fflush(report);
    return session_drop(&x->s, x->s.current);
}

/* Is there memory to make a matrix of so many nonzeros? */
static bool has_room(double nonzeros)
{
    return nonzeros * BYTES_A_NONZERO < (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

static const struct {
    double nonzeros;
    const char *generator;
    int64_t p[PARAMS_MAX];
} matrices[] = {
    {1e6, "poisson2d", {448}},    {1e6, "random", {100000, 10}},  {1e6, "rmat", {16, 16}},
    {1e7, "poisson2d", {1415}},   {1e7, "random", {1000000, 10}}, {1e7, "rmat", {19, 20}},
    {1e7, "dense", {3163, 3163}}, {1e8, "poisson2d", {4473}},     {1e8, "random", {10000000, 10}},
    {1e8, "rmat", {22, 24}},      {1e8, "dense", {10000, 10000}},
};

static bool bench_all(struct shown *x, double most, struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < COUNT(matrices); i++) {
        if (matrices[i].nonzeros > most) continue;
        if (has_room(matrices[i].nonzeros))
            ok = bench_matrix(x, matrices[i].generator, matrices[i].p, e);
        else
            fprintf(report, "%s of %.0e nonzeros: left out, it takes up to %.1f GB of free memory\n",
                    matrices[i].generator, matrices[i].nonzeros, matrices[i].nonzeros * BYTES_A_NONZERO / 1e9);
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct shown x = {0};
    struct err e = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!nowhere || !open_terminal()) return fprintf(stderr, "bench_screen: no pseudo-terminal\n"), 1;
    bool ok = session_new(&x.s, nowhere, nowhere, OUT_TEXT, &e) && ui_attach(&x.s, &e) && term_open(&e) &&
              canvas_new(&x.c, WIDTH, HEIGHT, false, &e);
    x.c.colours = COLOURS_256;
    fprintf(report, "screen: %d x %d, 256 colours; medians of %d openings and %d keys, %ld processors\n", WIDTH, HEIGHT,
            ROUNDS, MOVES, sysconf(_SC_NPROCESSORS_ONLN));
    ok = ok && bench_all(&x, argc > 1 ? atof(argv[1]) : 1e8, &e);
    if (!ok) fprintf(stderr, "bench_screen: %s\n", e.text);
    term_close();
    canvas_free(&x.c);
    ui_detach(&x.s);
    session_free(&x.s);
    fclose(nowhere);
    return !ok;
}
