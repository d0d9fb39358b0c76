/* Golden screens: made-up measurements, a simulated clock, and comparison with files. */
#include <stdio.h>

#include "advice/memories.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/registry.h"
#include "card/card.h"
#include "golden_kit.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "session/front.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "ui/view.h"

#include <locale.h>
#include <math.h>
#include <unistd.h>

static double ticks;

static double fixed_clock(void)
{
    return ticks += 100;
}

void golden_clock(bool fixed)
{
    ticks = 0;
    now_replace(fixed ? fixed_clock : NULL);
}

/* The views that golden screens show in their list of panes. */
static const char *const listed[] = {"spy",   "rows", "layout",  "bench",    "solve",    "race", "trace", "lu",
                                     "parts", "halo", "speedup", "timeline", "roofline", "sm",   "sass"};

static bool is_listed(const struct view *v, const char *shown)
{
    bool found = shown && !strcmp(v->name, shown);
    for (int i = 0; i < COUNT(listed); i++) found |= !strcmp(v->name, listed[i]);
    return found;
}

void golden_views(struct session *s, const char *shown)
{
    static const struct view *list[VIEWS_MAX + 1];
    static const struct registry registry = {.entries = list};
    int n = 0;
    for (int i = 0; views[i]; i++)
        if (is_listed(views[i], shown)) list[n++] = views[i];
    list[n] = NULL;
    s->front->views = &registry;
}

void make_runs(struct session *s, bool timed)
{
    static const char *const names[] = {"csr-vector", "sell", "csr-scalar", "csr-openmp", "coo-atomic", "csr-serial"};
    s->runs = mem_zero(COUNT(names), sizeof *s->runs, "runs", NULL);
    assert_non_null(s->runs);
    s->runs_of = s->current;
    for (int i = 0; i < COUNT(names); i++) {
        double us = timed ? 2.5 * (1 << 2 * i) : NAN;
        s->runs[i] = (struct run){.kernel = kernel_find(names[i]),
                                  .dev = device_open("cpu", NULL),
                                  .real = i % 2 ? P_F32 : P_F64,
                                  .us = us,
                                  .spread_us = us / 50,
                                  .gbs = 100 / us,
                                  .gflops = 10 / us,
                                  .share = i ? 0.4 / us : 0};
        assert_non_null(s->runs[i].kernel);
    }
    s->nruns = COUNT(names);
}

void make_bound(struct solve *v)
{
    v->dev->ceilings = (struct ceilings){.measured = true, .read_gbs = 1234};
    v->time.us_iteration = (v->solver->bytes(v->matrix.csr, 8, 0) + v->pre.method->bytes(v)) / (1234e3 / 3);
}

void make_parted(struct solve *v)
{
    for (int64_t i = 0; i < v->history.ntruth; i++)
        v->history.truth[i].residual = fmax(v->history.truth[i].residual, 2e-5);
    v->history.separated_at = 33;
}

/* ---- files ---- */

static char *read_all(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) return NULL;
    char *text = NULL, buffer[4096];
    size_t size = 0, n;
    FILE *to = open_memstream(&text, &size);
    while (to && (n = fread(buffer, 1, sizeof buffer, f))) fwrite(buffer, 1, n, to);
    fclose(f);
    if (to) fclose(to);
    return text;
}

static int line_of(const char **text, const char **line)
{
    *line = *text;
    int n = (int)strcspn(*text, "\n");
    *text += n + ((*text)[n] == '\n');
    return n;
}

static void print_difference(const char *name, const char *expected, const char *found)
{
    for (int y = 1; *expected || *found; y++) {
        const char *a, *b;
        int n = line_of(&expected, &a), m = line_of(&found, &b);
        if (n == m && !strncmp(a, b, (size_t)n)) continue;
        print_message("%s:%d: -%.*s\n%s:%d: +%.*s\n", name, y, n, a, name, y, m, b);
    }
}

static void write_golden(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

bool golden_same(const char *path, const char *found)
{
    const char *mode = getenv("WARPSPY_GOLDEN"), *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (mode && !strcmp(mode, "write")) write_golden(path, found);
    char *expected = read_all(path);
    bool same = expected && !strcmp(expected, found);
    if (!expected)
        print_message("%s is missing; WARPSPY_GOLDEN=write makes it\n", path);
    else if (!same)
        print_difference(name, expected, found);
    free(expected);
    return same;
}

static char state_folder[] = "/tmp/warpspy-golden-XXXXXX";

int golden_begin(void **state)
{
    static const struct host_memories host = {
        .threads = 16, .l1 = 49152, .l2 = 1 << 20, .l3 = 1 << 25, .memory = (double)(1ll << 36)};
    memories_replace_host(&host);
    setenv("INPUTRC", "/dev/null", 1);
    card_limit_us = 0; /* screens must not depend on the speed of the machine */
    return mkdtemp(state_folder) ? setenv("XDG_STATE_HOME", state_folder, 1) : -1;
}

int golden_end(void **state)
{
    memories_replace_host(NULL);
    static const char *const made[] = {"/warpspy/history", "/warpspy", ""};
    for (int i = 0; i < COUNT(made); i++) {
        char path[80];
        snprintf(path, sizeof path, "%s%s", state_folder, made[i]);
        remove(path);
    }
    return 0;
}
