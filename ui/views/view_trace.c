/* One warp under the microscope: the accesses of its lanes over time, the source of the current step, the elements that
   the warp works on, and the sectors that it requests, divided into useful bytes, padding and waste. */
#include "view_trace.h"
#include "advice/traced.h"
#include "base/err.h"
#include "base/text.h"
#include "machine/kernel.h"
#include "microscope/tracing.h"
#include "ui/draw.h"
#include "ui/view.h"
#include "view_state.h"

#include <string.h>

/* ---- room ---- */

static void columns_of(struct frame *f)
{
    int rest = f->w - CELLS - 1;
    f->label = rest < LABEL_MIN ? 0 : clamp(rest - 2 * LANE_WIDTH - 1, LABEL_MIN, LABEL_MAX);
    f->tables = clamp((rest - f->label - 1) / LANE_WIDTH, 0, 4);
}

/* On a small screen, a part other than the grid has at most one line; the least informative parts are left out first.
 */
static void lines_of_small(struct frame *f, int room)
{
    f->request = 1;
    f->grid = room - f->request;
    int *const part[] = {&f->source, &f->totals, &f->sectors};
    for (int i = 0; i < COUNT(part) && f->grid > 2; i++) *part[i] = 1, f->grid--;
    if (f->grid < 0) f->grid = 0;
}

/* Lines that the grid and the table of lanes do not need go first to the source, then to the sectors. */
static void lines_of_whole(struct frame *f, int room, int totals)
{
    f->head = f->request = 1;
    f->legend = LEGENDS;
    f->totals = totals;
    f->sectors = room < 24 ? 2 : room < 34 ? 3 : 5;
    f->source = room < 24 ? 3 : room < 32 ? 5 : 7;
    f->grid = room - f->head - f->request - f->legend - f->totals - f->sectors - f->source;
    int64_t use = f->tables ? LANES / f->tables : 1;
    if (use < f->v->t.nsteps) use = f->v->t.nsteps;
    int spare = f->grid > use ? f->grid - (int)use : 0, more = clamp(spare, 0, SOURCE_MAX - f->source);
    f->grid -= spare;
    f->source += more;
    f->sectors += clamp(spare - more, 0, SECTORS_MAX - f->sectors);
}

/* Divide the `room` lines below the title among the parts. */
static struct frame frame_of(const struct tracing *v, int w, int room)
{
    struct canvas none = {.w = w};
    struct frame f = {.v = v, .w = w};
    columns_of(&f);
    if (room < WHOLE_FROM)
        lines_of_small(&f, room);
    else
        lines_of_whole(&f, room, trace_view_totals(&none, &v->step[v->t.nsteps - 1].sums, 0, TOTALS_MAX));
    f.from = v->at - f.grid / 2;
    if (f.from > v->t.nsteps - f.grid) f.from = v->t.nsteps - f.grid;
    if (f.from < 0) f.from = 0;
    return f;
}

/* ---- the view ---- */

static const char nothing_text[] = "nothing has been traced yet; `trace csr-scalar` does";

/* The title, for example "step 5 of 0..11 block 2 of 0..3 ...", counted from 0 as in the grid; if `brief` is set, "step
   5 block 2 ...". */
static void say_where(const struct tracing *v, bool brief, char *out, size_t size)
{
    const struct scope *s = &v->t.scope;
    const struct {
        const char *what;
        int64_t k, n;
    } parts[] = {{"step", v->at, v->t.nsteps},
                 {"block", v->t.block, s->launch[v->t.launch].blocks},
                 {"warp", v->t.warp, v->t.warps},
                 {"launch", v->t.launch, s->nlaunches},
                 {"column", v->lu.column, v->kernel ? 0 : v->matrix->csr.rows}};
    size_t n = 0;
    for (int i = 0; i < COUNT(parts) && n < size; i++) {
        if (i >= 3 && parts[i].n < 2) continue;
        n += (size_t)snprintf(out + n, size - n, "%s%s %lld", i ? " " : "", parts[i].what, (long long)parts[i].k);
        if (!brief && parts[i].n > 1 && n < size)
            n += (size_t)snprintf(out + n, size - n, " of 0..%lld%s", (long long)parts[i].n - 1,
                                  i == 0 && v->t.cut ? "+" : "");
    }
    if (!brief && n < size) snprintf(out + n, size - n, " %s", precision_of(&v->matrix->csr, v->real));
}

/* Parts that do not fit are left out: first the size of the matrix, then its name, the totals, the kernel. */
static void title(struct canvas *c, const struct tracing *v)
{
    char where[160], brief[160], name[256], size[128], rows[32], cols[32], nnz[32];
    const struct csr *A = &v->matrix->csr;
    say_where(v, false, where, sizeof where);
    say_where(v, true, brief, sizeof brief);
    show_safe(v->matrix->name, name, sizeof name);
    snprintf(size, sizeof size, "%s x %s, %s nnz  ", show_count(A->rows, rows, sizeof rows),
             show_count(A->cols, cols, sizeof cols), show_count(A->nnz, nnz, sizeof nnz));
    int room = c->w - 1, kernel = (int)strlen(v->name) + 2, matrix = text_width(name) + 2;
    bool whole = kernel + text_width(where) <= room;
    const char *place_text = whole ? where : brief;
    room -= text_width(place_text);
    int x = 1;
    if (kernel <= room) x = canvas_text(c, x, 0, ST_TITLE, "%s  ", v->name);
    if (kernel + matrix <= room) x = canvas_text(c, x, 0, ST_BOLD, "%s  ", name);
    if (kernel + matrix + text_width(size) <= room) x = canvas_text(c, x, 0, ST_PLAIN, "%s", size);
    canvas_text(c, x, 0, ST_DIM, "%s", place_text);
}

static int room_of(int h, bool full)
{
    return h - 2 - full; /* lines for the title, the chosen lane and, on a screen, the keys */
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct tracing *v = s->trace;
    struct request_facts facts;
    if (!v) {
        draw_title(c, "trace", NULL, "%s", "");
        draw_wrapped(c, 1, 2, 4, ST_PLAIN, st->message[0] ? st->message : nothing_text);
        return;
    }
    title(c, v);
    if (!v->t.nsteps) {
        draw_wrapped(c, 1, 2, 4, ST_PLAIN, "this warp has nothing to do: none of its lanes accesses memory");
        return;
    }
    struct frame f = frame_of(v, c->w, room_of(c->h, st->full));
    struct trace_state *own = st->own;
    own->drawn_w = c->w;
    own->drawn_h = c->h;
    facts_of(&v->t.scope, &v->t.step[v->at], &facts);
    int y = trace_view_source(c, &f, trace_view_grid(c, &f, 1));
    y = trace_view_sectors(c, &f, &facts, trace_view_request(c, v, &facts, y));
    y = trace_view_legend(c, &f, y);
    if (f.totals) y = trace_view_totals(c, &v->step[v->at].sums, y, f.totals);
    trace_view_lane(c, v, st->full ? c->h - 2 : c->h - 1);
}

/* If nothing has been traced yet, trace the simplest kernel on the current matrix; if that fails, `draw` shows why. */
static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    struct err why = {0};
    struct trace_request w = {
        .matrix = s->current, .kernel = kernel_find("csr-scalar"), .real = s->single ? P_F32 : P_F64, .launch = -1};
    if (s->trace || !s->current || tracing_begin(s, &w, &why)) return true;
    snprintf(st->message, sizeof st->message, "%.119s", why.text);
    return why.code != E_MEMORY || fail_at(e, why.code, why.where, "%s", why.text);
}

static bool prepares_soon(struct session *s, const struct view_state *st)
{
    return s->trace || !s->current;
}

/* A click chooses the step and the lane of a cell. */
static bool click(struct session *s, struct view_state *st, int x, int y)
{
    struct tracing *v = s->trace;
    const struct trace_state *own = st->own;
    if (!v || !v->t.nsteps || own->drawn_w < 1) return false;
    struct frame f = frame_of(v, own->drawn_w, room_of(own->drawn_h, st->full));
    int line = y - 1 - f.head;
    if (line < 0 || line >= f.grid || f.from + line >= v->t.nsteps || x >= CELLS) return false;
    if (x >= NUMBER) v->lane = x - NUMBER;
    tracing_go(v, f.from + line);
    return true;
}

/* ---- the cursor shared with the other views ---- */

static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    const struct tracing *v = s->trace;
    if (!v || v->matrix != s->current || !v->t.nsteps || !v->kernel) return false;
    struct lane_at l = tracing_lane(v, v->at, v->lane);
    *row = l.row;
    *col = l.padding ? -1 : l.col;
    return l.row >= 0 && l.row < v->matrix->csr.rows;
}

static const char *nothing(const struct session *s)
{
    return s->trace || s->current ? NULL : nothing_text;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    if (!s->trace) return fail(e, E_USAGE, "%s", nothing_text);
    out_trace(s->out, s->trace);
    return true;
}

static bool exists(const struct session *s)
{
    return s->trace;
}

/* Digits enter a count. */
static bool claims(const struct session *s, int k)
{
    return s->trace && k >= '0' && k <= '9';
}

const struct view view_trace = {
    .name = "trace",
    .about = "one warp of a kernel step by step: lanes, elements, source, sectors",
    .keys = "? help  q leave  s/b step, back  d/D divergence  u/U uncoalesced  z/Z padding  w/W warp  ]/[ block  "
            "k/K kernel, which  r/R to a line  l/L launch  n/B ten on, back  g/G first, last step  Left/Right lane  "
            "i machine code  0-9 a count before a key  / go to a row",
    .rows = (const struct row_kind *const[]){&row_trace_step, &row_trace_totals, NULL},
    .any = true,
    .state_size = sizeof(struct trace_state),
    .exists = exists,
    .claims = claims,
    .prepare = prepare,
    .prepares_soon = prepares_soon,
    .overview = 4,
    .draw = draw,
    .key = trace_view_key,
    .go = trace_view_go,
    .at = at,
    .click = click,
    .work = trace_view_work,
    .answer = trace_view_answer,
    .nothing = nothing,
    .numbers = numbers,
};
