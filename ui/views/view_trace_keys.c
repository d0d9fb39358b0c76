/* The keys of the trace view. */
#include "advice/traced.h"
#include "base/err.h"
#include "base/registry.h"
#include "base/text.h"
#include "commands/cmd_sass.h"
#include "formats/format.h"
#include "lu/lu.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/tracing.h"
#include "session/product.h"
#include "ui/explore.h"
#include "ui/screen.h"
#include "ui/screen_thread.h"
#include "ui/term.h"
#include "view_state.h"
#include "view_trace.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT_LIMIT = 1000000, LARGE = 1 << 20 };

static bool take_count(struct view_state *st, int k)
{
    if (k < '0' || k > '9' || st->count > COUNT_LIMIT / 10) return false;
    st->count = 10 * st->count + k - '0';
    snprintf(st->message, sizeof st->message,
             "%lld: s goes that many steps forward, b back; d, u, z or w repeats that many times",
             (long long)st->count);
    return true;
}

static bool say(struct view_state *st, const char *text)
{
    snprintf(st->message, sizeof st->message, "%.119s", text);
    return true;
}

/* Go to the n-th step that has the mark, forwards (by = 1) or backwards (by = -1). */
static void find_step(struct tracing *v, struct view_state *st, enum trace_mark mark, int by, int64_t n)
{
    static const char *const what[] = {"with divergent lanes", "that fetches more sectors than it needs",
                                       "that touches padding"};
    int64_t at = v->at;
    for (int64_t i = 0; i < n && at >= 0; i++) at = tracing_find(v, at, by, mark);
    if (at >= 0)
        tracing_go(v, at);
    else
        snprintf(st->message, sizeof st->message, "there is no %s step %s", by > 0 ? "later" : "earlier", what[mark]);
}

/* A request for the matrix, kernel, format, precision and warp of this trace. */
static struct trace_request same_of(const struct tracing *v)
{
    return (struct trace_request){.matrix = v->matrix,
                                  .kernel = v->kernel,
                                  .real = v->real,
                                  .param = v->product ? v->product->requested : NULL,
                                  .launch = v->t.launch,
                                  .block = v->t.block,
                                  .warp = v->t.warp,
                                  .lu = v->lu};
}

/* Tracing a large matrix may be slow, so show a message meanwhile. */
static bool begin(struct session *s, struct view_state *st, const struct trace_request *w)
{
    struct err e = {0};
    if (screen_thread_serves()) return say(st, "a command runs and may use the emulator, too; Ctrl-C stops it"), false;
    if (w->matrix->csr.nnz > LARGE && term_is_open()) {
        snprintf(st->message, sizeof st->message, "tracing %s ... Ctrl-C stops it",
                 w->kernel ? w->kernel->name : w->lu.method->name);
        screen_redraw(s);
    }
    st->message[0] = 0;
    session_take_interrupt();
    bool ok = tracing_begin(s, w, &e);
    session_take_interrupt();
    return ok || (say(st, e.text), false);
}

/* Go n warps forward, or back if n < 0; the warps of all blocks form one sequence. */
static void go_warp(struct session *s, struct view_state *st, int64_t n, const char *what)
{
    const struct tracing *v = s->trace;
    int64_t all = v->t.scope.launch[v->t.launch].blocks * v->t.warps, at = v->t.block * v->t.warps + v->t.warp + n;
    struct trace_request w = same_of(v);
    if (at < 0 || at >= all) {
        snprintf(st->message, sizeof st->message, n < 0 ? "there is no earlier %s" : "there is no further %s", what);
        return;
    }
    w.block = at / v->t.warps;
    w.warp = (int)(at % v->t.warps);
    begin(s, st, &w);
}

bool trace_view_warp(struct session *s, struct view_state *st, int64_t warp)
{
    struct trace_request w = same_of(s->trace);
    struct err e = {0};
    w.block = warp / s->trace->t.warps;
    w.warp = (int)(warp % s->trace->t.warps);
    return tracing_begin(s, &w, &e) || (say(st, e.text), false);
}

/* Go to the first launch of the next column, or, if by < 0, to the last launch of the previous column. */
static void go_column(struct session *s, struct view_state *st, struct trace_request *w, int by)
{
    const struct tracing *v = s->trace;
    int64_t last = v->matrix->csr.rows - 1;
    w->lu.column += by;
    if (w->lu.column < 0 || w->lu.column > last) {
        snprintf(st->message, sizeof st->message, by < 0 ? "column 0 is the first" : "column %lld is the last",
                 (long long)last);
        return;
    }
    w->launch = 0;
    if (!begin(s, st, w) || by > 0) return;
    w->launch = s->trace->t.scope.nlaunches - 1;
    begin(s, st, w);
}

static void go_launch(struct session *s, struct view_state *st, int64_t n)
{
    const struct tracing *v = s->trace;
    struct trace_request w = same_of(v);
    int64_t at = w.launch + n;
    w.launch = (int)at;
    w.block = w.warp = 0;
    if (at >= 0 && at < v->t.scope.nlaunches)
        begin(s, st, &w);
    else if (!v->kernel)
        go_column(s, st, &w, n > 0 ? 1 : -1);
    else
        snprintf(st->message, sizeof st->message, "%s consists of %s", v->name,
                 how_many(v->t.scope.nlaunches, "launch").text);
}

/* Trace kernel k, or, if k is NULL, the LU method. */
static bool go_kernel(struct session *s, struct view_state *st, const struct kernel *k, const struct lu_method *lu)
{
    struct trace_request w = same_of(s->trace);
    if (!k || !w.kernel || k->param || k->format != w.kernel->format) w.param = NULL;
    w.kernel = k;
    w.lu = (struct traced_lu){.method = k ? NULL : lu, .column = -1};
    w.launch = -1;
    w.block = w.warp = 0;
    return begin(s, st, &w);
}

/* Trace the next kernel of the format that can be traced. */
static void next_kernel(struct session *s, struct view_state *st)
{
    const struct kernel *was = s->trace->kernel;
    const struct device *emu = device_open("emu", NULL);
    int at = 0, n = registry_count(&kernel_registry);
    if (!was) {
        snprintf(st->message, sizeof st->message, "%s has no other kernel here; K asks for a kernel of any format",
                 s->trace->name);
        return;
    }
    while (kernels[at] != was) at++;
    for (int i = 1; emu && i < n; i++) {
        const struct kernel *k = kernels[(at + i) % n];
        if (k->format == was->format && kernel_runs_on(k, emu) && go_kernel(s, st, k, NULL)) {
            st->message[0] = 0;
            return;
        }
    }
    if (!st->message[0])
        snprintf(st->message, sizeof st->message, "%s has no other kernel here; K asks for a kernel of any format",
                 was->format->name);
}

static void choose_lane(struct tracing *v, int64_t n)
{
    v->lane = (int)(((v->lane + n) % LANES + LANES) % LANES);
}

/* The keys that move by a number of steps, lanes, warps, blocks or launches. trace_view_key handles the other keys. */
enum move { MOVE_STEP, MOVE_LANE, MOVE_DIVERGED, MOVE_UNCOALESCED, MOVE_PADDING, MOVE_WARP, MOVE_BLOCK, MOVE_LAUNCH };
static const struct {
    int key;
    enum move move;
    int by;
} moves[] = {
    {'s', MOVE_STEP, 1},       {UI_DOWN, MOVE_STEP, 1},    {UI_ENTER, MOVE_STEP, 1},    {'b', MOVE_STEP, -1},
    {UI_UP, MOVE_STEP, -1},    {'n', MOVE_STEP, 10},       {UI_PGDN, MOVE_STEP, 10},    {'B', MOVE_STEP, -10},
    {UI_PGUP, MOVE_STEP, -10}, {UI_RIGHT, MOVE_LANE, 1},   {UI_LEFT, MOVE_LANE, -1},    {'d', MOVE_DIVERGED, 1},
    {'D', MOVE_DIVERGED, -1},  {'u', MOVE_UNCOALESCED, 1}, {'U', MOVE_UNCOALESCED, -1}, {'z', MOVE_PADDING, 1},
    {'Z', MOVE_PADDING, -1},   {'w', MOVE_WARP, 1},        {'W', MOVE_WARP, -1},        {']', MOVE_BLOCK, 1},
    {'[', MOVE_BLOCK, -1},     {'l', MOVE_LAUNCH, 1},      {'L', MOVE_LAUNCH, -1},
};

static void move(struct session *s, struct view_state *st, enum move m, int by, int64_t n)
{
    struct tracing *v = s->trace;
    if (m == MOVE_STEP) tracing_go(v, n ? v->at + (by > 0 ? n : -n) : v->at + by);
    if (!n) n = 1;
    if (m == MOVE_LANE) choose_lane(v, by * n);
    if (m == MOVE_WARP) go_warp(s, st, by * n, "warp");
    if (m == MOVE_BLOCK) go_warp(s, st, by * n * v->t.warps, "block");
    if (m == MOVE_LAUNCH) go_launch(s, st, by * n);
    if (m >= MOVE_DIVERGED && m <= MOVE_PADDING && v->t.nsteps)
        find_step(v, st, (enum trace_mark)(m - MOVE_DIVERGED), by, n);
}

/* Turn to the machine code of the traced function, at the line of the current step. */
static void show_code(struct session *s, struct view_state *st)
{
    const struct kernel *k = s->trace->kernel;
    if (!k || !k->functions[0].name)
        snprintf(st->message, sizeof st->message, "the machine code of this method is not known");
    else if (!st->pane)
        snprintf(st->message, sizeof st->message, "`sass %.60s` shows the machine code", k->name);
    else if (!sass_keeps(s, k) && screen_thread_serves())
        snprintf(st->message, sizeof st->message, "a command runs; the machine code is read when it has ended");
    else {
        if (!sass_keeps(s, k)) sass_drop(s);
        explore_turn_to(s, view_find("sass"));
    }
}

bool trace_view_key(struct session *s, struct view_state *st, int k)
{
    struct tracing *v = s->trace;
    if (!v) return false;
    if (take_count(st, k)) return true;
    int64_t n = st->count;
    if (k >= 0) st->count = 0;
    for (int i = 0; i < COUNT(moves); i++)
        if (moves[i].key == k) return move(s, st, moves[i].move, moves[i].by, n), true;
    if (k == UI_HOME || k == 'g') tracing_go(v, 0);
    if (k == UI_END || k == 'G') tracing_go(v, v->t.nsteps - 1);
    if (k == 'k') next_kernel(s, st);
    if (k == 'K') return view_ask(st, k, "kernel: ");
    if (k == 'i') show_code(s, st);
    if (k == 'r') return view_ask(st, k, "on to line: ");
    if (k == 'R') return view_ask(st, k, "back to line: ");
    return true;
}

static void go_line(struct tracing *v, struct view_state *st, int by)
{
    long line = strtol(st->typed, NULL, 10);
    int64_t at = line > 0 && line < INT32_MAX ? tracing_line(v, v->at, by, (int)line) : -1;
    if (at >= 0)
        tracing_go(v, at);
    else
        snprintf(st->message, sizeof st->message, "no %s step is on line %.20s", by > 0 ? "later" : "earlier",
                 st->typed);
}

void trace_view_answer(struct session *s, struct view_state *st)
{
    const struct kernel *k = kernel_find(st->typed);
    const struct lu_method *lu = lu_find(st->typed);
    if (!s->trace) return;
    if (st->question_key != 'K')
        go_line(s->trace, st, st->question_key == 'r' ? 1 : -1);
    else if (k || (lu && lu->step))
        go_kernel(s, st, k, lu);
    else
        snprintf(st->message, sizeof st->message, "there is no kernel `%.40s`; `kernels` lists them", st->typed);
}
