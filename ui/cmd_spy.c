/* spy: the positions of the nonzeros, as a picture or as counts. */
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "cmd_view.h"
#include "language/args.h"
#include "report/fields.h"
#include "screen.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/views/view_spy.h"
#include "ui/views/view_state.h"
#include "ui/views/views.h"
#include "view.h"

/* The smallest picture has room for the longest row number. In JSON and CSV, the number of cells is not limited. */
enum { WIDTH_MIN = 25, HEIGHT_MIN = 7, SIDE_MAX = 4096 };

static bool size_arg(const struct args *a, const char *key, const char *unit, int least, int *v, struct err *e)
{
    int64_t n = arg_int(a, key, *v);
    *v = (int)n;
    if (n >= least && n <= SIDE_MAX) return true;
    return fail(e, E_USAGE, "%s %lld: a picture has %d to %d %s", key, (long long)n, least, SIDE_MAX, unit);
}

/* Entries of A in h x w cells; cell row y begins at matrix row first_of(A->rows, h, y). */
struct cells {
    const struct csr *A;
    int h, w;
    uint32_t *n;
    enum spy_by by;
    struct cell_values values; /* not used if `by` is SPY_COUNT */
};

static int64_t first_of(int64_t all, int cells, int k)
{
    return (k * all + cells - 1) / cells;
}

/* Print the values of a row of cells: the signs, one character per cell (+ - * 0, or a blank if the cell is empty), or
   the largest |a| of each cell. line and signs have room for a row of cells. */
static void say_values(struct out *o, const struct cells *c, int y, double *line, char *signs)
{
    for (int x = 0; x < c->w; x++) {
        int64_t i = (int64_t)y * c->w + x;
        line[x] = cell_largest(&c->values, i);
        uint8_t seen = c->values.signs[i];
        signs[x] = !seen ? ' ' : c->by == SPY_OWNER ? spy_owners_letter(seen) : spy_signs_letter(seen);
    }
    signs[c->w] = 0;
    if (c->by == SPY_SIGN) out_str(o, "signs", NULL, signs);
    if (c->by == SPY_OWNER) out_str(o, "owners", NULL, signs);
    if (c->by == SPY_MAGNITUDE) out_nums(o, "largest", c->w, line);
}

/* In JSON, print one line per row of cells. */
static bool say_lines(struct out *o, const struct cells *c, struct err *e)
{
    double *line = mem_new(c->w, sizeof *line, "a line of the picture", e);
    char *signs = line ? mem_new(c->w + 1, 1, "a line of the picture", e) : NULL;
    if (!signs) {
        mem_free(line);
        return false;
    }
    for (int y = 0; y < c->h; y++) {
        for (int x = 0; x < c->w; x++) line[x] = c->n[y * c->w + x];
        out_row(o);
        out_int(o, "y", NULL, y);
        out_int(o, "row_begin", NULL, first_of(c->A->rows, c->h, y));
        out_int(o, "row_end", NULL, first_of(c->A->rows, c->h, y + 1));
        out_int(o, "cols", NULL, c->A->cols);
        out_nums(o, "counts", c->w, line);
        if (c->by != SPY_COUNT) say_values(o, c, y, line, signs);
    }
    mem_free(line);
    mem_free(signs);
    return true;
}

/* In CSV, print one line per cell that contains a nonzero. */
static bool say_cells(struct out *o, const struct cells *c, struct err *e)
{
    for (int i = 0; i < c->h * c->w; i++) {
        int y = i / c->w, x = i % c->w;
        if (!c->n[i]) continue;
        out_row(o);
        out_int(o, "row_begin", NULL, first_of(c->A->rows, c->h, y));
        out_int(o, "row_end", NULL, first_of(c->A->rows, c->h, y + 1));
        out_int(o, "col_begin", NULL, first_of(c->A->cols, c->w, x));
        out_int(o, "col_end", NULL, first_of(c->A->cols, c->w, x + 1));
        out_int(o, "count", NULL, c->n[i]);
        if (c->by == SPY_SIGN) out_str(o, "sign", NULL, spy_signs_name(c->values.signs[i]));
        if (c->by == SPY_MAGNITUDE) out_num(o, "largest", NULL, cell_largest(&c->values, i), NULL);
        if (c->by == SPY_OWNER) out_str(o, "owner", NULL, (char[]){spy_owners_letter(c->values.signs[i]), 0});
    }
    return true;
}

/* A line of text before the picture, for readers who cannot see it. */
static void say_density(struct out *o, const struct csr *A)
{
    double all = (double)A->rows * (double)A->cols;
    out_text(o, "%lld x %lld, %s, %.3g%% of all elements", (long long)A->rows, (long long)A->cols,
             how_many(A->nnz, "nonzero").text, all > 0 ? 100 * (double)A->nnz / all : 0);
}

/* Count the nonzeros in h x w cells and print the counts. If the matrix is smaller than h x w, each element has its own
   cell. */
static bool spy_data(struct session *s, const struct matrix *m, int h, int w, enum spy_by by,
                     bool (*say)(struct out *o, const struct cells *c, struct err *e), struct err *e)
{
    const struct csr *A = &m->csr;
    struct cells c = {.A = A, .h = h < A->rows ? h : (int)A->rows, .w = w < A->cols ? w : (int)A->cols, .by = by};
    struct window all = {0, A->rows, 0, A->cols};
    c.n = mem_zero((int64_t)c.h * c.w, sizeof *c.n, "the picture", e);
    bool ok = c.n && density_of(A, all, c.h, c.w, c.n, &s->watch, e);
    ok = ok && (by == SPY_COUNT || cell_values_new(&c.values, c.h, c.w, e));
    c.values.marker = spy_marker(m, by);
    if (by != SPY_COUNT) ok = ok && cell_values_of(A, all, &c.values, &s->watch, e);
    ok = ok && say(s->out, &c, e);
    cell_values_free(&c.values);
    mem_free(c.n);
    return ok;
}

/* *by receives the choice that follows the word `by`, and the view keeps this choice. If the word `by` is missing, *by
   receives the choice of the view (SPY_COUNT without a view). */
static bool choose_by(const struct args *a, const struct matrix *m, struct view_state *st, enum spy_by *by,
                      struct err *e)
{
    SCREEN_EDIT;
    struct spy_state *spy = st ? st->own : NULL;
    *by = spy ? spy_by_of(m, spy) : SPY_COUNT;
    if (!arg(a, "by")) return true;
    if (!spy_by_find(arg(a, "by"), by) || !spy_by_fits(m, *by, e)) return false;
    if (!spy) return true;
    view_reset(st, m); /* the view may have shown another matrix, for which the choice would be forgotten */
    spy->by = *by;
    return true;
}

static void set_size(struct view_state *st, int w, int h)
{
    SCREEN_EDIT;
    st->w = w;
    st->h = h;
}

static bool run_spy(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    bool text = out_mode(s->out) == OUT_TEXT;
    int w = 80, h = 24;
    if (!size_arg(a, "width", "columns", text ? WIDTH_MIN : 1, &w, e)) return false;
    if (!size_arg(a, "height", "rows", text ? HEIGHT_MIN : 1, &h, e)) return false;
    struct view_state *st = s->front ? screen_view_state(s, &view_spy) : NULL;
    enum spy_by by;
    if (!choose_by(a, m, st, &by, e)) return false;
    if (out_mode(s->out) == OUT_JSON) return spy_data(s, m, h, w, by, say_lines, e);
    if (out_mode(s->out) == OUT_CSV) return spy_data(s, m, h, w, by, say_cells, e);
    if (s->plain) say_density(s->out, &m->csr);
    if (st) set_size(st, arg(a, "width") ? w : 0, arg(a, "height") ? h : 0);
    return show_view_of(s, m, view_spy.name, false, e);
}

/* ---- the keys of the rows ---- */

static const struct field spy_cells_fields[] = {
    {"y", F_COUNT, "number of the row of cells, from 0"},
    {"row_begin", F_COUNT, "first row of the matrix in this row of cells"},
    {"row_end", F_COUNT, "row after the last"},
    {"cols", F_COUNT, "columns of the matrix, divided evenly among the counts"},
    {"counts", F_LIST, "entries in each cell", .item = F_INTEGER},
    {0},
};
const struct row_kind row_spy_cells = {"cells", "a row of cells of the picture", spy_cells_fields};

static const struct field spy_signs_fields[] = {
    {.include = &row_spy_cells},
    {"signs", F_TEXT,
     "a character for each cell: + or - if all its entries have this sign, * for both signs, 0 for zeros, blank if the "
     "cell is empty",
     .pattern = "^[-+*0 ]*$"},
    {0},
};
static const struct row_kind row_spy_signs = {"signs", "a row of cells, by sign", spy_signs_fields};

static const struct field spy_owners_fields[] = {
    {.include = &row_spy_cells},
    {"owners", F_TEXT,
     "a character for each cell: the number of the part modulo 7, + for several parts, * if other parts own all its "
     "columns, blank if the cell is empty",
     .pattern = "^[0-6+* ]*$"},
    {0},
};
static const struct row_kind row_spy_owners = {"owners", "a row of cells, by owner", spy_owners_fields};

static const struct field spy_magnitudes_fields[] = {
    {.include = &row_spy_cells},
    {"largest", F_LIST, "the largest absolute value in each cell; 0 if the cell is empty", .item = F_AMOUNT},
    {0},
};
static const struct row_kind row_spy_magnitudes = {"magnitudes", "a row of cells, by magnitude", spy_magnitudes_fields};

const struct command command_spy = {
    .name = "spy",
    .grammar = "[MATRIX] [by count|sign|magnitude|owner] [width N] [height N]",
    .about = "draw the positions of the nonzeros",
    .help =
        "Each braille dot stands for a block of elements that contains a nonzero; colours show density. `view\n"
        "spy` shows the picture full screen, where you can move and zoom in to single elements. For a large\n"
        "matrix, the view first shows a sample, and counts all entries while no key is pressed. The views rows\n"
        "and layout share the cursor of this view. `by sign` colours each cell by its signs, `by magnitude` by\n"
        "its largest |a|, and `by count` by its density again. After `partition`, `by owner` gives the nonzeros in\n"
        "columns of their own part the colour of the part; parts whose numbers differ by 7 share a colour.\n"
        "    spy\n"
        "    spy by sign\n"
        "    spy A width 120 height 40",
    .rows =
        (const struct row_kind *const[]){&row_spy_cells, &row_spy_signs, &row_spy_magnitudes, &row_spy_owners, NULL},
    .run = run_spy,
    .large = true,
    .rows_only_in_json = true,
};
