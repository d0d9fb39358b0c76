/* LU, one column at a time: L and U fill in from the upper left; a frame at the lower right encloses the part that is
   still to be eliminated. */
#include "advice/traced.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "commands/cmd_lu.h"
#include "lu/lu.h"
#include "report/fields.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>

enum { TOP = 4, LABEL = 6, NUMBER = 9, FOOT = 3 };

/* The layout on the canvas. A cell is a number or a shade; it stands for one element or for `each` x `each`
   elements. */
struct lu_plan {
    const struct lu_steps *v;
    int64_t each, cells;
    int width;   /* screen columns per cell */
    int64_t cut; /* rows and columns of cells that are done */
    bool numbers;
    double most;             /* the largest absolute value, for shades */
    struct place lit[LANES]; /* the elements that the lanes access in the step of `trace`, if it traces this column */
    int nlit;
};

static int64_t cells_at(int64_t n, int64_t each)
{
    return (n + each - 1) / each;
}

static struct lu_plan plan_for(const struct canvas *c, const struct lu_steps *v)
{
    int64_t wide = c->w - LABEL - 3, high = c->h - TOP - FOOT - 1;
    struct lu_plan p = {.v = v, .each = 1, .width = NUMBER};
    if (wide < 1) wide = 1;
    if (high < 1) high = 1;
    p.numbers = v->n * NUMBER <= wide && v->n <= high;
    if (!p.numbers) p.width = c->figure ? 2 : wide >= 2 * (v->n < high ? v->n : high) ? 2 : 1;
    while (!p.numbers && (cells_at(v->n, p.each) * p.width > wide || cells_at(v->n, p.each) > high)) p.each++;
    p.cells = cells_at(v->n, p.each);
    p.cut = cells_at(v->k, p.each);
    for (int64_t k = 0; k < v->n * v->n; k++) p.most = fmax(p.most, fabs(v->a[k]));
    return p;
}

/* Is there a frame? There is a frame if some columns, but not all, are done. */
static bool is_cut(const struct lu_plan *p)
{
    return p->cut > 0 && p->cut < p->cells;
}

static int x_of(const struct lu_plan *p, int64_t cell)
{
    return LABEL + (int)cell * p->width + (is_cut(p) && cell >= p->cut ? 2 : 0);
}

static int y_of(const struct lu_plan *p, int64_t cell)
{
    return TOP + (int)cell + (is_cut(p) && cell >= p->cut);
}

/* Styles of the pivot, the newest multipliers, L, U, and the part still to be eliminated. */
static enum style style_of(const struct lu_steps *v, int64_t i, int64_t j)
{
    if (i == v->k - 1 && j == v->k - 1) return ST_CURSOR;
    if (j == v->k - 1 && i >= v->k) return ST_WARN;
    if (j < v->k && i > j) return ST_ROW + 2;
    return i < v->k ? ST_ROW + 4 : ST_PLAIN;
}

static double largest_in(const struct lu_plan *p, int64_t y, int64_t x)
{
    double most = 0;
    for (int64_t j = x * p->each; j < (x + 1) * p->each && j < p->v->n; j++)
        for (int64_t i = y * p->each; i < (y + 1) * p->each && i < p->v->n; i++)
            most = fmax(most, fabs(p->v->a[j * p->v->n + i]));
    return most;
}

static uint32_t glyph_of(const struct lu_plan *p, int64_t y, int64_t x, bool ascii)
{
    static const uint32_t blocks[] = {0x2591, 0x2592, 0x2593, 0x2588}, letters[] = {'-', '+', '*', '#'};
    const uint32_t *shade = ascii ? letters : blocks;
    double size = largest_in(p, y, x);
    int64_t last = p->v->k - 1;
    if (p->v->k && y == last / p->each && x == last / p->each) return 'P';
    if (!(size > 0) || !(p->most > 0)) return ascii ? '.' : 0xb7;
    int at = (int)(COUNT(blocks) * size / p->most);
    return shade[at < COUNT(blocks) ? at : COUNT(blocks) - 1];
}

/* In a picture in a file, a cell is a square; the larger its values, the stronger its colour. */
static void figure_cell(struct figure *f, const struct lu_plan *p, int64_t y, int64_t x, enum style st)
{
    double size = largest_in(p, y, x), share = p->most > 0 ? size / p->most : 0;
    if (size > 0) figure_rect(f, st, 0.15 + 0.85 * share, x_of(p, x), y_of(p, y), p->width, 1);
}

static void mark_pivot(struct figure *f, const struct lu_plan *p)
{
    int64_t cell = (p->v->k - 1) / p->each;
    if (p->v->k) figure_circle(f, ST_BAD, x_of(p, cell) + p->width / 2.0, y_of(p, cell) + 0.5, 0.7);
}

/* Draw the numbers of the columns, but only for every few cells if there is not enough room. */
static void draw_columns(struct figure *f, const struct lu_plan *p)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)p->v->n);
    int64_t every = (text_width(text) + 2 + p->width - 1) / p->width;
    for (int64_t x = 0; x < p->cells; x += every) {
        snprintf(text, sizeof text, "%lld", (long long)(x * p->each));
        figure_words(f, ST_DIM, SIDE_MIDDLE, x_of(p, x) + p->width / 2.0, TOP - 1, text);
    }
}

/* Mark the elements that the traced warp accesses. */
static void draw_lit(struct canvas *c, const struct lu_plan *p)
{
    for (int k = 0; k < p->nlit; k++) {
        int x = x_of(p, p->lit[k].col / p->each), y = y_of(p, p->lit[k].row / p->each);
        for (int i = 0; i < p->width; i++) canvas_style(c, x + i, y, ST_BAD);
        if (!p->numbers || c->cell[y * c->w + x].glyph == ' ')
            draw_fill(c, x, y, p->numbers ? 1 : p->width, ST_BAD, '>');
    }
}

static void draw_cell(struct canvas *c, const struct lu_plan *p, int64_t y, int64_t x)
{
    enum style st = style_of(p->v, y * p->each, x * p->each);
    if (c->figure && !p->numbers) {
        figure_cell(c->figure, p, y, x, st);
        return;
    }
    if (p->numbers)
        canvas_text(c, x_of(p, x), y_of(p, y), st, "%*.4g", NUMBER - 1, p->v->a[x * p->v->n + y]);
    else
        draw_fill(c, x_of(p, x), y_of(p, y), p->width, st, glyph_of(p, y, x, c->ascii));
}

/* Draw the row's number in A, and a mark if the last step exchanged the row. */
static void draw_label(struct canvas *c, const struct lu_plan *p, int64_t y)
{
    const struct lu_steps *v = p->v;
    int64_t k = v->k - 1, end = x_of(p, p->cells - 1) + p->width;
    bool swapped = v->k && v->pivot != k && (y == k / p->each || y == v->pivot / p->each);
    canvas_text(c, 0, y_of(p, y), swapped ? ST_WARN : ST_DIM, "%5d", v->row[y * p->each]);
    if (swapped) canvas_text(c, (int)end + 1, y_of(p, y), ST_WARN, "<");
}

static void draw_cut(struct canvas *c, const struct lu_plan *p)
{
    int x = x_of(p, p->cut) - 1, y = y_of(p, p->cut) - 1, end = x_of(p, p->cells - 1) + p->width;
    if (!is_cut(p)) return;
    draw_fill(c, x, y, end - x, ST_AXIS, 0x2500);
    for (int i = y; i <= y_of(p, p->cells - 1); i++) canvas_put(c, x, i, ST_AXIS, i == y ? 0x250c : 0x2502);
}

static void draw_step(struct canvas *c, const struct lu_steps *v)
{
    char text[256];
    long long k = (long long)v->k - 1;
    double pivot = v->k ? v->a[k * v->n + k] : 0;
    if (!v->k)
        snprintf(text, sizeof text, "before the first column: the matrix itself");
    else if (pivot == 0)
        snprintf(text, sizeof text, "column %lld: all entries from the diagonal down are 0: singular to fp64", k);
    else if (v->pivot == k)
        snprintf(text, sizeof text, "column %lld: pivot %.4g, already in place", k, pivot);
    else
        snprintf(text, sizeof text, "column %lld: pivot %.4g; rows %lld and %lld are exchanged (<)", k, pivot, k,
                 (long long)v->pivot);
    draw_wrapped(c, 1, 1, 2, !v->k || pivot != 0 ? ST_PLAIN : ST_BAD, text);
    if (v->k == v->n && text_width(text) < c->w - 2)
        canvas_text(c, 1, 2, ST_GOOD, "done: L, with ones on its diagonal, below; U on and above the diagonal");
}

static void draw_foot(struct canvas *c, const struct lu_plan *p, bool full)
{
    char text[256];
    int y = c->h - FOOT + !full;
    snprintf(text, sizeof text, "%s%s",
             p->numbers  ? ""
             : c->figure ? "Circle: pivot, shades by size. "
                         : "P: pivot, shades by size. ",
             "Lower left: L (last column = newest multipliers). Above: U. Frame: still to be eliminated. "
             "Textbook algorithm on a host copy");
    draw_wrapped(c, 1, y, 2, ST_DIM, text);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct lu_steps *v = s->lu;
    if (!v || !s->current || v->of != &s->current->csr) {
        draw_title(c, "lu", s->current, "%s", "");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN,
                     "only real square matrices of 1 to 512 rows are stepped through; `lu` factors larger matrices");
        return;
    }
    struct lu_plan p = plan_for(c, v);
    p.nlit = traced_lu_elements(s, s->current, v->k, p.lit);
    draw_title(c, "lu", s->current, "%s%lld of %lld columns are done", p.nlit ? "> at work in trace  " : "",
               (long long)v->k, (long long)v->n);
    draw_step(c, v);
    for (int64_t y = 0; y < p.cells; y++) {
        draw_label(c, &p, y);
        for (int64_t x = 0; x < p.cells; x++) draw_cell(c, &p, y, x);
    }
    if (c->figure) draw_columns(c->figure, &p);
    if (c->figure && !p.numbers) mark_pivot(c->figure, &p);
    if (!c->figure) draw_lit(c, &p);
    draw_cut(c, &p);
    draw_foot(c, &p, st->full);
}

/* Start again if the current matrix has changed. */
static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    if (!s->current || (s->lu && s->lu->of == &s->current->csr)) return true;
    struct err why = {0};
    if (lu_steps_begin(s, s->current, false, &why) || why.code != E_MEMORY)
        return true; /* `draw` explains why LU cannot step through this matrix */
    return fail_at(e, why.code, why.where, "%s", why.text);
}

static bool prepares_soon(struct session *s, const struct view_state *st)
{
    return !s->current || (s->lu && s->lu->of == &s->current->csr);
}

/* All keys step through the factorisation. */
static bool changes(const struct session *s, int k)
{
    return s->lu;
}

static bool key(struct session *s, struct view_state *st, int k)
{
    struct lu_steps *v = s->lu;
    if (!v) return false;
    if (k == 's' || k == UI_RIGHT || k == UI_DOWN) lu_steps_to(v, v->k + 1);
    if (k == 'b' || k == UI_LEFT || k == UI_UP) lu_steps_to(v, v->k - 1);
    if (k == 'n' || k == UI_PGDN) lu_steps_to(v, v->k + 10);
    if (k == 'B' || k == UI_PGUP) lu_steps_to(v, v->k - 10);
    if (k == 'g' || k == UI_HOME) lu_steps_to(v, 0);
    if (k == 'G' || k == UI_END) lu_steps_to(v, v->n);
    return true;
}

/* The partly factored matrix: L below the diagonal, U on and above the diagonal. */
static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct lu_steps *v = s->lu;
    if (!v)
        return fail(e, E_USAGE,
                    "nothing has been factored yet; the view lu accepts real square matrices of up to 512 rows");
    double *line = mem_new(v->n, sizeof *line, "a row of the factors", e);
    for (int64_t i = 0; line && i < v->n; i++) {
        for (int64_t j = 0; j < v->n; j++) line[j] = v->a[j * v->n + i];
        if (out_mode(s->out) == OUT_JSON) {
            out_row(s->out);
            out_int(s->out, "columns_done", NULL, v->k);
            out_int(s->out, "row", NULL, v->row[i]);
            out_values(s->out, "values", v->n, line);
            continue;
        }
        for (int64_t j = 0; j < v->n; j++) {
            out_row(s->out);
            out_int(s->out, "columns_done", NULL, v->k);
            out_int(s->out, "row", NULL, v->row[i]);
            out_int(s->out, "column", NULL, j);
            out_num(s->out, "value", NULL, line[j], NULL);
        }
    }
    mem_free(line);
    return line;
}

static bool exists(const struct session *s)
{
    return s->lu;
}

/* ---- the keys of the rows ---- */

static const struct field lu_factors_fields[] = {
    {"columns_done", F_COUNT, "columns that are eliminated"},
    {"row", F_COUNT, "row, from 0"},
    {"values", F_LIST, "L and U so far and the part still to be eliminated, in this row", .item = F_NUMBER | OR_NAN},
    {0},
};
static const struct row_kind row_lu_factors = {"factors", "a row of the factors", lu_factors_fields};

const struct view view_lu = {
    .name = "lu",
    .about = "LU of a small matrix, one column at a time: pivots, multipliers, and the part still to be eliminated",
    .keys = "? help  q leave  s step  b back  n ten  B ten back  g first column  G last column",
    .rows = (const struct row_kind *const[]){&row_lu_factors, NULL},
    .exists = exists,
    .prepare = prepare,
    .prepares_soon = prepares_soon,
    .draw = draw,
    .key = key,
    .changes = changes,
    .numbers = numbers,
};
