/* The commands that look: spy, rows and layout as text or data, and view for the whole screen. */
#include "ui.h"

#include <string.h>

static bool show(struct session *s, const char *view, bool full, struct err *e)
{
    if (!s->front || !s->front->show)
        return fail(e, E_UNSUPPORTED, "there is no screen to draw `%s` on; use --json for its data", view);
    return s->front->show(s, view, full, e);
}

/* Show a view of m, which need not be the current matrix. */
static bool show_of(struct session *s, struct matrix *m, const char *view, bool full, struct err *e)
{
    struct matrix *current = s->current;
    if (m) s->current = m;
    bool ok = show(s, view, full, e);
    s->current = current;
    return ok;
}

/* ---- spy ---- */

static int size_arg(const struct args *a, const char *key, int otherwise)
{
    int64_t v = arg_int(a, key, otherwise);
    return v < 1 ? 1 : v > 4096 ? 4096 : (int)v;
}

static void say_counts(struct out *o, const struct csr *A, const uint32_t *cells, double *line, int h, int w)
{
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) line[x] = cells[y * w + x];
        out_row(o);
        out_int(o, "y", NULL, y);
        out_int(o, "row_begin", "from row", (y * A->rows + h - 1) / h);
        out_int(o, "row_end", "to row", ((y + 1) * A->rows + h - 1) / h);
        out_int(o, "columns", NULL, A->cols);
        out_nums(o, "counts", w, line);
    }
}

/* One row of cell counts per line; a matrix smaller than the grid gives one cell per element. */
static bool spy_data(struct session *s, const struct csr *A, int h, int w, struct err *e)
{
    if (h > A->rows) h = (int)A->rows;
    if (w > A->cols) w = (int)A->cols;
    uint32_t *cells = mem_zero((int64_t)h * w, sizeof *cells, "the picture", e);
    double *line = mem_new(w, sizeof *line, "a line of the picture", e);
    bool ok = cells && line && density_of(A, (struct window){0, A->rows, 0, A->cols}, h, w, cells, &s->watch, e);
    if (ok) say_counts(s->out, A, cells, line, h, w);
    mem_free(cells);
    mem_free(line);
    return ok;
}

static bool run_spy(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    int w = size_arg(a, "width", 0 + (s->front ? s->front->width : 80)),
        h = size_arg(a, "height", s->front ? s->front->height : 24);
    if (out_mode(s->out) != OUT_TEXT) return spy_data(s, &m->csr, h, w, e);
    struct view_state *st = s->front ? front_state(s, view_find("spy")) : NULL;
    if (st) {
        st->w = arg(a, "width") ? w : 0;
        st->h = arg(a, "height") ? h : 0;
    }
    return show_of(s, m, "spy", false, e);
}

/* ---- rows ---- */

static bool rows_data(struct session *s, struct matrix *m, struct err *e)
{
    const struct stats *t = session_stats(s, m, e);
    struct histogram g;
    if (!t) return false;
    histogram_of(&m->csr, 64, &g);
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
    return true;
}

static bool run_rows(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    if (out_mode(s->out) != OUT_TEXT) return rows_data(s, m, e);
    return show_of(s, m, "rows", false, e);
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

static bool layout_data(struct session *s, const struct stored *S, struct err *e)
{
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
        struct view_state *st = front_state(s, view_find("layout"));
        view_reset(st, m);
        st->format = f;
        st->real = arg_precision(a);
        st->param_set = true;
        memcpy(st->param, param, sizeof param);
    }
    return show_of(s, m, "layout", arg_flag(a, "view"), e);
}

/* ---- view ---- */

static bool run_view(struct session *s, const struct args *a, struct err *e)
{
    const char *view = arg(a, "view") ? arg(a, "view") : "spy";
    struct matrix *m = arg(a, "matrix") ? session_matrix(s, arg(a, "matrix"), e) : NULL;
    if (arg(a, "matrix") && !m) return false;
    return show_of(s, m, view, true, e);
}

const struct command command_spy = {
    .name = "spy",
    .grammar = "[MATRIX] [width N] [height N]",
    .about = "draw where the nonzeros are",
    .help = "Each dot of the braille letters is a block of elements with a nonzero in it; colours show density.\n"
            "`view spy` is the same full screen, to move about and zoom in to single elements.\n"
            "    spy\n"
            "    spy A width 120 height 40",
    .run = run_spy,
};

const struct command command_rows = {
    .name = "rows",
    .grammar = "[MATRIX]",
    .about = "draw how long the rows are",
    .help = "A histogram of row lengths and the longest rows by number. `view rows` names the rows of each length.\n"
            "    rows",
    .run = run_rows,
};

const struct command command_layout = {
    .name = "layout",
    .grammar = "[FORMAT] [PARAMS] [of MATRIX] [f32|f64] [view]",
    .about = "draw the arrays of a storage format slot by slot",
    .help = "Slots that belong to one row have one colour; * is padding. With `view`, full screen: arrows choose a\n"
            "slot, Tab goes to the next format.\n"
            "    layout ell\n"
            "    layout bsr block 2",
    .run = run_layout,
};

const struct command command_view = {
    .name = "view",
    .grammar = "[VIEW] [MATRIX]",
    .about = "show a view full screen, with keys",
    .help = "spy, rows, layout, bench, solve; ? in a view tells its keys, q leaves it.\n"
            "    view spy",
    .run = run_view,
};
