/* The commands that look: spy, rows and layout as text or data, and view for the whole screen. */
#include "cmd_view.h"
#include "explorer.h"
#include "front.h"
#include "view.h"
#include "ui/views/view_layout.h"
#include "ui/views/view_state.h"
#include "session/args.h"
#include "session/command.h"
#include "base/err.h"
#include "formats/format.h"
#include "machine/front_ops.h"
#include "session/matrix.h"
#include "base/mem.h"
#include "session/product.h"
#include "matrix/rows.h"
#include "session/session.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static bool show(struct session *s, const char *view, bool full, struct err *e)
{
    if (!s->front || !s->front->show)
        return fail(e, E_UNSUPPORTED, "there is no screen to draw `%s` on; use --json for its data", view);
    return s->front->show(s, view, full, e);
}

static bool is_loaded(const struct session *s, const struct matrix *m)
{
    const struct matrix *have = s->matrices;
    while (have && have != m) have = have->next;
    return have;
}

/* Show a view of m, which need not be the current matrix. The explorer's panes are of one matrix: there it becomes the
   current one; and its commands may choose another one, or drop that of before. */
static bool show_of(struct session *s, struct matrix *m, const char *view, bool full, struct err *e)
{
    struct matrix *current = s->current;
    bool stays = s->front && front_explorer(s)->on;
    if (m) s->current = m;
    bool ok = show(s, view, full, e);
    if (!stays && m && s->current == m && is_loaded(s, current)) s->current = current;
    return ok;
}

/* ---- spy ---- */

/* The least picture has room for the longest row number; data may have any number of cells. */
enum { WIDTH_LEAST = 25, HEIGHT_LEAST = 7, SIDE_MOST = 4096 };

static bool size_arg(const struct args *a, const char *key, const char *unit, int least, int *v, struct err *e)
{
    int64_t n = arg_int(a, key, *v);
    *v = (int)n;
    if (n >= least && n <= SIDE_MOST) return true;
    return fail(e, E_USAGE, "expected %d to %d %s after `%s`, found %lld", least, SIDE_MOST, unit, key, (long long)n);
}

/* Entries of A in h x w cells; cell row y begins at matrix row first_of(A->rows, h, y). */
struct cells {
    const struct csr *A;
    int h, w;
    uint32_t *n;
};

static int64_t first_of(int64_t all, int cells, int k)
{
    return (k * all + cells - 1) / cells;
}

/* JSON: a line for each row of cells. */
static bool say_lines(struct out *o, const struct cells *c, struct err *e)
{
    double *line = mem_new(c->w, sizeof *line, "a line of the picture", e);
    for (int y = 0; line && y < c->h; y++) {
        for (int x = 0; x < c->w; x++) line[x] = c->n[y * c->w + x];
        out_row(o);
        out_int(o, "y", NULL, y);
        out_int(o, "row_begin", NULL, first_of(c->A->rows, c->h, y));
        out_int(o, "row_end", NULL, first_of(c->A->rows, c->h, y + 1));
        out_int(o, "cols", NULL, c->A->cols);
        out_nums(o, "counts", c->w, line);
    }
    mem_free(line);
    return line;
}

/* CSV: a line for each cell with something in it. */
static bool say_cells(struct out *o, const struct cells *c, struct err *e)
{
    (void)e;
    for (int i = 0; i < c->h * c->w; i++) {
        int y = i / c->w, x = i % c->w;
        if (!c->n[i]) continue;
        out_row(o);
        out_int(o, "row_begin", NULL, first_of(c->A->rows, c->h, y));
        out_int(o, "row_end", NULL, first_of(c->A->rows, c->h, y + 1));
        out_int(o, "col_begin", NULL, first_of(c->A->cols, c->w, x));
        out_int(o, "col_end", NULL, first_of(c->A->cols, c->w, x + 1));
        out_int(o, "count", NULL, c->n[i]);
    }
    return true;
}

/* Before the picture, for readers who cannot see it. */
static void say_density(struct out *o, const struct csr *A)
{
    double all = (double)A->rows * (double)A->cols;
    out_text(o, "%lld x %lld, %s, %.3g%% of all elements", (long long)A->rows, (long long)A->cols,
             how_many(A->nnz, "nonzero").text, all > 0 ? 100 * (double)A->nnz / all : 0);
}

/* Count in h x w cells, or one for each element of a smaller matrix, and print the counts. */
static bool spy_data(struct session *s, const struct csr *A, int h, int w,
                     bool (*say)(struct out *o, const struct cells *c, struct err *e), struct err *e)
{
    struct cells c = {A, h < A->rows ? h : (int)A->rows, w < A->cols ? w : (int)A->cols, NULL};
    c.n = mem_zero((int64_t)c.h * c.w, sizeof *c.n, "the picture", e);
    bool ok = c.n && density_of(A, (struct window){0, A->rows, 0, A->cols}, c.h, c.w, c.n, &s->watch, e) &&
              say(s->out, &c, e);
    mem_free(c.n);
    return ok;
}

static bool run_spy(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    bool text = out_mode(s->out) == OUT_TEXT;
    int w = 80, h = 24;
    if (!size_arg(a, "width", "columns", text ? WIDTH_LEAST : 1, &w, e)) return false;
    if (!size_arg(a, "height", "rows", text ? HEIGHT_LEAST : 1, &h, e)) return false;
    if (out_mode(s->out) == OUT_JSON) return spy_data(s, &m->csr, h, w, say_lines, e);
    if (out_mode(s->out) == OUT_CSV) return spy_data(s, &m->csr, h, w, say_cells, e);
    if (s->plain) say_density(s->out, &m->csr);
    struct view_state *st = s->front ? front_state(s, &view_spy) : NULL;
    if (st) {
        st->w = arg(a, "width") ? w : 0;
        st->h = arg(a, "height") ? h : 0;
    }
    return show_of(s, m, view_spy.name, false, e);
}

/* ---- rows ---- */

/* That share of the rows is no longer. */
static void say_quantiles(struct out *o, const struct row_lengths *l)
{
    static const int percent[] = {1, 5, 25, 50, 75, 95, 99};
    int64_t rows = l->A->rows;
    for (int i = 0; i < COUNT(percent) && rows; i++) {
        out_row(o);
        out_str(o, "kind", NULL, "quantile");
        out_num(o, "share", NULL, percent[i] / 100.0, NULL);
        out_int(o, "length", "length", row_length_at(l, (rows - 1) * percent[i] / 100));
    }
}

/* What a warp of 32 rows costs one-thread-per-row kernels, times what its entries would. */
static void say_warps(struct out *o, const struct csr *A)
{
    struct warps w;
    warps_of(A, &w);
    out_row(o);
    out_str(o, "kind", NULL, "warps");
    out_int(o, "warps", NULL, w.n);
    out_int(o, "idle", NULL, w.idle);
    out_num(o, "cost", NULL, w.whole, NULL);
    out_num(o, "cost_mean", NULL, w.mean, NULL);
    out_num(o, "cost_worst", NULL, w.worst, NULL);
    out_num(o, "row", NULL, w.worst > 0 ? (double)w.worst_row : NAN, NULL);
    for (int k = 0; k < w.costs.n; k++) {
        out_row(o);
        out_str(o, "kind", NULL, "warp_bin");
        out_num(o, "cost", NULL, (double)w.costs.from[k] / HUNDREDTHS, NULL);
        out_num(o, "cost_end", NULL, (double)w.costs.from[k + 1] / HUNDREDTHS, NULL);
        out_int(o, "warps", NULL, w.costs.count[k]);
    }
}

static bool rows_data(struct session *s, struct matrix *m, struct err *e)
{
    const struct stats *t = session_stats(s, m, e);
    struct histogram g;
    struct row_lengths lengths;
    if (!t || !row_lengths_of(&m->csr, &lengths, e)) return false;
    histogram_from(&lengths, 64, &g);
    for (int k = 0; k < g.n; k++) {
        out_row(s->out);
        out_str(s->out, "kind", NULL, "bin");
        out_int(s->out, "length", "length", g.from[k]);
        out_int(s->out, "length_end", NULL, g.from[k + 1]);
        out_int(s->out, "rows", "rows", g.count[k]);
    }
    for (int i = 0; i < t->nlongest; i++) {
        out_row(s->out);
        out_str(s->out, "kind", NULL, "longest");
        out_int(s->out, "row", NULL, t->longest[i]);
        out_int(s->out, "length", "length", csr_row_length(&m->csr, t->longest[i]));
    }
    say_quantiles(s->out, &lengths);
    say_warps(s->out, &m->csr);
    row_lengths_free(&lengths);
    return true;
}

static bool run_rows(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    if (out_mode(s->out) != OUT_TEXT) return rows_data(s, m, e);
    return show_of(s, m, view_rows.name, false, e);
}

/* ---- layout ---- */

enum { SLOTS_MOST = 100000 };

/* An array: its values, and for each slot the row it belongs to, -1 for padding and for what has none. */
static void say_array(struct out *o, const struct stored *S, int k, double *value, double *row)
{
    const struct array *x = &S->a[k];
    int64_t n = x->n < SLOTS_MOST ? x->n : SLOTS_MOST, padding = 0;
    for (int64_t i = 0; i < n; i++) {
        struct place p = S->format->where(S, k, i);
        value[i] = array_real(x, i);
        row[i] = p.kind == SLOT_PADDING ? -1 : (double)p.row;
        padding += p.kind == SLOT_PADDING;
    }
    out_row(o);
    out_str(o, "format", NULL, S->format->name);
    out_str(o, "array", "array", x->name);
    out_str(o, "type", "type", type_name(x->type));
    out_int(o, "slots", "slots", x->n);
    out_int(o, "shown", NULL, n);
    out_int(o, "padding", "padding", padding);
    out_nums(o, "values", n, value);
    out_nums(o, "rows", n, row);
}

/* CSV: a line for each slot. */
static void say_slots(struct out *o, const struct stored *S, int k)
{
    static const char *const kind[] = {[SLOT_ENTRY] = "entry", [SLOT_PADDING] = "padding", [SLOT_POINTER] = "pointer"};
    for (int64_t i = 0; i < S->a[k].n && i < SLOTS_MOST; i++) {
        struct place p = S->format->where(S, k, i);
        out_row(o);
        out_str(o, "array", NULL, S->a[k].name);
        out_int(o, "slot", NULL, i);
        out_num(o, "value", NULL, array_real(&S->a[k], i), "%.17g");
        out_str(o, "kind", NULL, kind[p.kind]);
        out_int(o, "row", NULL, p.row);
        out_int(o, "col", NULL, p.col);
    }
}

static bool layout_data(struct session *s, const struct stored *S, struct err *e)
{
    if (out_mode(s->out) == OUT_CSV) {
        for (int k = 0; k < S->narrays; k++) say_slots(s->out, S, k);
        return true;
    }
    double *value = mem_new(SLOTS_MOST, sizeof *value, "slots", e);
    double *row = mem_new(SLOTS_MOST, sizeof *row, "rows of slots", e);
    for (int k = 0; value && row && k < S->narrays; k++) say_array(s->out, S, k, value, row);
    bool ok = value && row;
    mem_free(value);
    mem_free(row);
    return ok;
}

static bool run_layout(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    const struct format *f = format_find(arg(a, "format") ? arg(a, "format") : "csr");
    int64_t param[PARAMS_MAX];
    if (!m || !arg_params(a, f->params, param, e)) return false;
    struct product *p = session_product(s, m, f, param, arg_precision(a), false, e);
    if (!p) return false;
    if (out_mode(s->out) != OUT_TEXT) return layout_data(s, &p->S, e);
    if (s->front) {
        struct view_state *st = front_state(s, &view_layout);
        struct layout_state *own = st->own;
        view_reset(st, m);
        own->format = f;
        own->real = arg_precision(a);
        own->param_set = true;
        memcpy(own->param, param, sizeof param);
    }
    return show_of(s, m, view_layout.name, arg_flag(a, "view"), e);
}

/* ---- view ---- */

static bool run_view(struct session *s, const struct args *a, struct err *e)
{
    const struct view *v = arg(a, "view") ? view_find(arg(a, "view")) : views[0];
    struct matrix *m = arg(a, "matrix") ? session_matrix(s, arg(a, "matrix"), e) : NULL;
    if (arg(a, "matrix") && !m) return false;
    const char *name = v ? v->name : arg(a, "view");
    bool drives = v && v->drive && s->front && s->front->show;
    return drives ? explore(s, name, e) : show_of(s, m, name, true, e);
}

const struct command command_spy = {
    .name = "spy",
    .grammar = "[MATRIX] [width N] [height N]",
    .about = "draw where the nonzeros are",
    .help = "Each dot of the braille letters is a block of elements with a nonzero in it; colours show density.\n"
            "`view spy` is the same full screen, to move about and zoom in to single elements; it shows a sample of a\n"
            "large matrix at once and counts all of it while no key comes. Its place is that of rows and layout too.\n"
            "    spy\n"
            "    spy A width 120 height 40",
    .run = run_spy,
};

const struct command command_rows = {
    .name = "rows",
    .grammar = "[MATRIX]",
    .about = "draw how long the rows are",
    .help = "A histogram of row lengths, their quantiles, the longest rows by number, and what a warp costs: 32\n"
            "neighbouring rows, a thread each, against the same entries shared out evenly. `view rows` names the rows\n"
            "of each length; its key t turns to the cumulative histogram, to the rows by length, and to the warps.\n"
            "    rows",
    .run = run_rows,
};

const struct command command_layout = {
    .name = "layout",
    .grammar = "[FORMAT] [PARAMS] [of MATRIX] [f32|f64] [view]",
    .about = "draw the arrays of a storage format slot by slot",
    .help = "Slots that belong to one row have one colour; * is padding. With `view`, full screen: arrows choose a\n"
            "slot, f goes to the next format.\n"
            "    layout ell\n"
            "    layout bsr block 2",
    .run = run_layout,
};

const struct command command_view = {
    .name = "view",
    .grammar = "[VIEW] [MATRIX]",
    .about = "show a view full screen, with keys",
    .help = "Tab or a digit goes to another one, ? lists the keys, : takes a command, q leaves. The mouse clicks and\n"
            "zooms; m switches it off. race and lu are there when there is one.\n"
            "    view spy",
    .run = run_view,
};
