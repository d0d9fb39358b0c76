/* The picture on the canvas: frame, axes, dots or elements, legend, cursor and status. */
#include "advice/traced.h"
#include "base/text.h"
#include "report/listing.h"
#include "session/matrix.h"
#include "session/parting.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "view_spy.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

static void draw_frame(struct canvas *c, const struct picture *p)
{
    int x0 = p->x - 1, y0 = p->y - 1, x1 = p->x + p->w, y1 = p->y + p->h;
    draw_fill(c, p->x, y0, p->w, ST_AXIS, 0x2500);
    draw_fill(c, p->x, y1, p->w, ST_AXIS, 0x2500);
    for (int y = p->y; y < y1; y++) {
        canvas_put(c, x0, y, ST_AXIS, 0x2502);
        canvas_put(c, x1, y, ST_AXIS, 0x2502);
    }
    canvas_put(c, x0, y0, ST_AXIS, 0x250c);
    canvas_put(c, x1, y0, ST_AXIS, 0x2510);
    canvas_put(c, x0, y1, ST_AXIS, 0x2514);
    canvas_put(c, x1, y1, ST_AXIS, 0x2518);
}

static void draw_axes(struct canvas *c, const struct picture *p)
{
    char text[32];
    int middle = p->h / 2;
    int64_t last_row = p->down.from + p->down.n - 1, last_col = p->across.from + p->across.n - 1;
    draw_right(c, p->x - 1, p->y, ST_AXIS, show_count(p->down.from, text, sizeof text));
    if (p->h > 8)
        draw_right(c, p->x - 1, p->y + middle, ST_AXIS,
                   show_count(spy_element_at(&p->down, p->dy, middle), text, sizeof text));
    if (p->h > 1) draw_right(c, p->x - 1, p->y + p->h - 1, ST_AXIS, show_count(last_row, text, sizeof text));
    int end = canvas_text(c, p->x, p->y - 2, ST_AXIS, "%s", show_count(p->across.from, text, sizeof text));
    show_count(last_col, text, sizeof text);
    int x = p->x + p->w - text_width(text);
    if (p->across.n > 1) canvas_text(c, x > end + 1 ? x : end + 2, p->y - 2, ST_AXIS, "%s", text);
}

/* Draw entry k with as many digits as fit in `width` characters, including one blank. */
static void draw_value(struct canvas *c, int x, int y, const struct csr *A, int64_t k, int width, enum style st)
{
    char text[64];
    for (int digits = 4; digits > 0; digits--) {
        int n = A->imag ? snprintf(text, sizeof text, "%.*g%+.*gi", digits, A->val[k], digits, A->imag[k])
                        : snprintf(text, sizeof text, "%.*g", digits, A->val[k]);
        if (n < width) break;
    }
    draw_right(c, x + width - 1, y, st, text);
}

/* How the block or the number of one element is drawn. The picture must have one cell per element. */
static struct cell element_look(const struct canvas *c, const struct grid *g, const struct spots *o, int64_t cell)
{
    bool letters = c->ascii || o->letters;
    struct cell look = {0x2588, ST_RAMP + 5};
    if (o->by == SPY_COUNT) return look;
    uint8_t signs = g->values.signs[cell];
    double largest = cell_largest(&g->values, cell);
    bool shaded = o->by == SPY_MAGNITUDE && largest > 0;
    if (o->by == SPY_OWNER) {
        look.style = (uint8_t)spy_owners_style(signs);
        if (letters) look.glyph = (uint32_t)spy_owners_letter(signs);
        return look;
    }
    look.style = (uint8_t)(shaded              ? ST_RAMP + (unsigned)spy_shade(&o->range, largest, RAMP_STEPS)
                           : o->by == SPY_SIGN ? spy_signs_style(signs)
                                               : ST_DIM);
    if (letters)
        look.glyph = (uint32_t)(shaded              ? spy_sign[spy_shade(&o->range, largest, SIGNS)]
                                : o->by == SPY_SIGN ? spy_signs_letter(signs)
                                                    : '0');
    return look;
}

static void draw_element(struct canvas *c, const struct csr *A, const struct picture *p, const struct spy_state *spy,
                         int i, int j)
{
    int64_t k = csr_find(A, p->down.from + i, p->across.from + j);
    int x = p->x + j * p->across.repeat, y = p->y + i * p->down.repeat;
    if (p->values && k < 0) canvas_put(c, x + p->value - 2, y, ST_PAD, 0xb7);
    if (k < 0) return;
    struct cell look = element_look(c, &spy->grid, &spy->spots, (int64_t)i * spy->grid.w + j);
    if (p->values) draw_value(c, x, y, A, k, p->value, spy->spots.by == SPY_COUNT ? ST_PLAIN : look.style);
    for (int line = 0; !p->values && line < p->down.repeat; line++)
        draw_fill(c, x, y + line, p->across.repeat, look.style, look.glyph);
}

static void draw_elements(struct canvas *c, const struct csr *A, const struct picture *p, const struct spy_state *spy)
{
    for (int i = 0; i < p->down.cells; i++)
        for (int j = 0; j < p->across.cells; j++) draw_element(c, A, p, spy, i, j);
}

static void draw_spots(struct canvas *c, const struct picture *p, const struct spots *o)
{
    for (int i = 0; i < p->w * p->h; i++) {
        struct cell look = o->spot[i].look;
        if (o->spot[i].density > 0) canvas_put(c, p->x + i % p->w, p->y + i / p->w, look.style, look.glyph);
    }
}

/* "0.12%", "34%" */
static char *show_percent(double share, char *out, size_t size)
{
    snprintf(out, size, share < 0.1 ? "%.2g%%" : "%.0f%%", 100 * share);
    return out;
}

/* "0.12%" of the elements, or a magnitude, "1.5e-05" */
static char *show_tone(double tone, enum spy_by by, char *out, size_t size)
{
    if (by != SPY_MAGNITUDE) return show_percent(tone, out, size);
    snprintf(out, size, "%.3g", tone);
    return out;
}

/* Draw the legend of shades, from the least to the greatest. Braille without colours cannot show the shades of
   densities; magnitudes are then shown by characters. */
static void draw_shades(struct canvas *c, const struct picture *p, const struct spots *o, int x, int y)
{
    static const char *const whats[SPY_BYS][2] = {
        [SPY_COUNT] = {"; density of a cell", "; density"}, [SPY_MAGNITUDE] = {"; largest |a| of a cell", "; |a|"}};
    char low[32], high[32];
    const struct shades *r = &o->range;
    const char *what = o->by == SPY_COUNT && p->dy == 1 ? "; its density" : whats[o->by][p->exact];
    int first = spy_shade(r, r->low, SIGNS);
    bool letters = p->dy == 1 || (o->by == SPY_MAGNITUDE && o->letters);
    if (x <= 1) what += 2; /* nothing comes before the "; " */
    show_tone(r->low, o->by, low, sizeof low);
    show_tone(r->high, o->by, high, sizeof high);
    int scale_end = x + text_width(low) + text_width(high) + SIGNS - first + 9;
    if (scale_end + text_width(what) > c->w) what = whats[o->by][1] + (x <= 1 ? 2 : 0);
    if (scale_end + text_width(what) > c->w) return;
    x = canvas_text(c, x, y, ST_DIM, "%s %s", what, low);
    if (!strcmp(low, high)) return;
    if (!c->colours && !letters) {
        canvas_text(c, x, y, ST_DIM, " to %s", high);
        return;
    }
    x++;
    for (int k = first; k < SIGNS; k++)
        canvas_put(c, x++, y, ST_RAMP + (unsigned)(k * (RAMP_STEPS - 1) / (SIGNS - 1)),
                   letters ? (uint32_t)spy_sign[k] : 0x2588);
    canvas_text(c, x, y, ST_DIM, " %s (log)", high);
}

/* Draw the legend of signs, "; + positive  - negative", with the signs that occur in the picture. */
static void draw_signs(struct canvas *c, const struct picture *p, const struct spots *o, int x, int y)
{
    static const uint8_t kinds[] = {SIGN_PLUS, SIGN_MINUS, SIGN_PLUS | SIGN_MINUS, 0};
    bool letters = p->dy == 1 || o->letters;
    x = canvas_text(c, x, y, ST_DIM, x > 1 ? "; " : "");
    for (int i = 0; i < COUNT(kinds); i++) {
        const char *name = !kinds[i] ? "0" : spy_signs_name(kinds[i]);
        bool mixed = i == 2;
        if (!(o->sets & 1U << kinds[i]) || x + text_width(name) + 2 >= c->w) continue;
        uint32_t glyph = !letters ? 0x2588 : mixed && p->dy > 1 ? 0x283f : (uint32_t)spy_signs_letter(kinds[i]);
        canvas_put(c, x, y, spy_signs_style(kinds[i]), glyph);
        x = canvas_text(c, x + 2, y, ST_DIM, "%s", name) + 2;
    }
}

/* Draw the legend of owners: "parts 0 1 2 ... , + several, * outside: others own the column". */
static void draw_owners(struct canvas *c, const struct picture *p, const struct matrix *m, const struct spots *o, int x,
                        int y)
{
    bool letters = p->dy == 1 || o->letters;
    x = canvas_text(c, x, y, ST_DIM, "%s%s", x > 1 ? "; " : "", spy_owners_title(m));
    for (int k = 0; k < SPY_OWNERS; k++) {
        if (!(o->sets & 1U << k)) continue;
        canvas_put(c, x, y, spy_owners_style((uint8_t)(1 << k)), letters ? (uint32_t)('0' + k) : 0x2588);
        x = canvas_text(c, x + 1, y, ST_DIM, letters ? " " : "%d ", k);
    }
    if (o->sets & SPY_OUTSIDE && x + 9 < c->w) {
        canvas_put(c, x, y, ST_BOLD, letters ? '*' : 0x2588);
        canvas_text(c, x + 1, y, ST_DIM, x + 32 < c->w ? " column of another part" : " outside");
    }
}

/* The number of elements per cell, as text: "15", "15-16" if cells differ in length, or "1,500" if the difference is
   negligible. */
static char *show_length(const struct axis *a, char *out, size_t size)
{
    int64_t n = a->span / a->cells;
    if (a->span % a->cells && n < 100)
        snprintf(out, size, "%lld-%lld", (long long)n, (long long)n + 1);
    else
        show_count(n, out, size);
    return out;
}

/* Draw the legend, for example "1 dot = 6 x 6 elements; density of a cell 0.1% ████████ 4.4% (log)". */
static void draw_legend(struct canvas *c, const struct picture *p, const struct matrix *m, const struct spots *o, int y)
{
    char rows[48], cols[48];
    int x = 1;
    if (p->values && o->by == SPY_COUNT) return;
    show_length(&p->down, rows, sizeof rows);
    show_length(&p->across, cols, sizeof cols);
    const char *thing = p->dy > 1 ? "dot" : o->by == SPY_COUNT ? "sign" : "character";
    if (p->exact && !p->values)
        x = canvas_text(c, 1, y, ST_DIM, "1 %s = 1 nonzero", p->dy > 1 && p->down.repeat == 1 ? "dot" : "block");
    else if (!p->exact)
        x = canvas_text(c, 1, y, ST_DIM, "1 %s = %s x %s%s", thing, rows, cols, c->w < 40 ? "" : " elements");
    if (o->by == SPY_SIGN)
        draw_signs(c, p, o, x, y);
    else if (o->by == SPY_OWNER)
        draw_owners(c, p, m, o, x, y);
    else if (o->range.high > 0 && (o->by == SPY_MAGNITUDE || !p->exact))
        draw_shades(c, p, o, x, y);
}

/* The elements under the cursor. */
struct under {
    int64_t row0, row1, col0, col1;
};

static struct under under_cursor(const struct picture *p, const struct view_state *st)
{
    struct under u = {st->row, st->row + 1, st->col, st->col + 1};
    if (p->exact) return u;
    int y = spy_character_of(&p->down, p->dy, st->row), x = spy_character_of(&p->across, p->dx, st->col);
    u = (struct under){spy_element_at(&p->down, p->dy, y), spy_element_at(&p->down, p->dy, y + 1),
                       spy_element_at(&p->across, p->dx, x), spy_element_at(&p->across, p->dx, x + 1)};
    if (u.row1 == u.row0) u.row1++; /* an element is larger than a character */
    if (u.col1 == u.col0) u.col1++;
    return u;
}

/* With pixels, the cursor is marked on the frame, because a mark in the picture would have to be sent with the whole
   picture. */
static void draw_cursor_marks(struct canvas *c, const struct picture *p, int x, int y)
{
    canvas_style(c, x, p->y - 1, ST_CURSOR);
    canvas_style(c, x, p->y + p->h, ST_CURSOR);
    canvas_style(c, p->x - 1, y, ST_CURSOR);
    canvas_style(c, p->x + p->w, y, ST_CURSOR);
}

static void draw_cursor(struct canvas *c, const struct picture *p, const struct view_state *st)
{
    int y = p->y + spy_character_of(&p->down, p->dy, st->row), x = p->x + spy_character_of(&p->across, p->dx, st->col);
    int w = p->dx == 1 ? p->across.repeat : 1, h = p->dy == 1 ? p->down.repeat : 1;
    if (p->pixels) {
        draw_cursor_marks(c, p, x, y);
        return;
    }
    for (int i = 0; i < w * h; i++) canvas_style(c, x + i % w, y + i / w, ST_CURSOR);
}

/* Mark the elements that the lanes of the traced warp process. The mark is in front of the digits of a value; if no
   values are shown, it fills the whole cell. */
static void draw_lit(struct canvas *c, const struct session *s, const struct picture *p)
{
    struct place lit[LANES];
    for (int n = traced_elements(s, s->current, lit), k = 0; k < n; k++) {
        int64_t row = lit[k].row - p->down.from, col = lit[k].col - p->across.from;
        if (row < 0 || row >= p->down.n || col < 0 || col >= p->across.n) continue;
        int y = p->y + spy_character_of(&p->down, p->dy, lit[k].row),
            x = p->x + spy_character_of(&p->across, p->dx, lit[k].col);
        int w = p->dx == 1 ? p->across.repeat : 1, h = p->dy == 1 ? p->down.repeat : 1;
        for (int i = 0; i < w * h; i++) canvas_style(c, x + i % w, y + i / w, ST_BAD);
        for (int i = 0; i < (p->values ? 1 : w * h); i++)
            if (!p->values || c->cell[y * c->w + x].glyph == ' ') canvas_put(c, x + i % w, y + i / w, ST_BAD, '>');
    }
}

/* The same with pixels: an element is a square of one dot, but of at least a quarter of a character. */
static void figure_lit(struct canvas *c, const struct session *s, const struct picture *p)
{
    struct place lit[LANES];
    double w = fmax((double)p->across.repeat / p->dx, 0.5), h = fmax((double)p->down.repeat / p->dy, 0.25);
    for (int n = traced_elements(s, s->current, lit), k = 0; k < n; k++) {
        int64_t row = lit[k].row - p->down.from, col = lit[k].col - p->across.from;
        if (row < 0 || row >= p->down.n || col < 0 || col >= p->across.n) continue;
        double y = (double)(spy_cell_of(&p->down, lit[k].row) * p->down.repeat) / p->dy,
               x = (double)(spy_cell_of(&p->across, lit[k].col) * p->across.repeat) / p->dx;
        figure_rect(c->figure, ST_BAD, 1, p->x + x, p->y + y, fmin(w, p->w - x), fmin(h, p->h - y));
    }
}

/* The nonzeros in the cells under the cursor. */
static int64_t counted(const struct picture *p, const struct grid *g, struct under u)
{
    int64_t n = 0;
    int y1 = spy_cell_of(&p->down, u.row1 - 1), x1 = spy_cell_of(&p->across, u.col1 - 1);
    for (int y = spy_cell_of(&p->down, u.row0); y <= y1; y++)
        for (int x = spy_cell_of(&p->across, u.col0); x <= x1; x++) n += g->n[(int64_t)y * g->w + x];
    return n;
}

/* ", rows of part 3" or ", rows of parts 3 to 5, columns of parts 0 to 8" */
static void draw_parts_under(struct canvas *c, int x, int y, const struct matrix *m, struct under u)
{
    const struct partition *P = &m->parting->P;
    if (P->order && (u.row1 - u.row0 > 1 || u.col1 - u.col0 > 1)) return;
    int row0 = partition_owner(P, u.row0), row1 = partition_owner(P, u.row1 - 1);
    int col0 = partition_col_owner(P, u.col0), col1 = partition_col_owner(P, u.col1 - 1);
    x = row0 == row1 ? canvas_text(c, x, y, ST_PLAIN, ", row of part %d", row0)
                     : canvas_text(c, x, y, ST_PLAIN, ", rows of parts %d..%d", row0, row1);
    if (col0 == col1)
        canvas_text(c, x, y, ST_PLAIN, ", column of part %d", col0);
    else
        canvas_text(c, x, y, ST_PLAIN, ", columns of parts %d..%d", col0, col1);
}

/* Draw the values in the cells under the cursor: ", largest |a| 4" or ", signs mixed". */
static void draw_under(struct canvas *c, int x, int y, const struct picture *p, const struct spots *o,
                       const struct view_state *st)
{
    int row = spy_character_of(&p->down, p->dy, st->row), col = spy_character_of(&p->across, p->dx, st->col);
    const struct spot *s = &o->spot[row * p->w + col];
    if (o->by == SPY_COUNT || o->by == SPY_OWNER || !s->signs) return;
    if (o->by == SPY_MAGNITUDE)
        canvas_text(c, x, y, ST_PLAIN, ", largest |a| %.6g", s->largest);
    else
        canvas_text(c, x, y, ST_PLAIN, ", sign: %s", spy_signs_name(s->signs));
}

static void draw_status(struct canvas *c, const struct matrix *m, const struct picture *p, const struct spy_state *spy,
                        const struct view_state *st, struct under u, int y)
{
    const struct csr *A = &m->csr;
    bool owners = spy->spots.by == SPY_OWNER && m->parting;
    char a[32], b[32], d[32], f[32], value[NUMBER_TEXT];
    const struct grid *g = &spy->grid;
    if (u.row1 - u.row0 > 1 || u.col1 - u.col0 > 1) {
        int end = canvas_text(c, 1, y, ST_PLAIN, "rows %s..%s, columns %s..%s: %s%s", show_count(u.row0, a, sizeof a),
                              show_count(u.row1 - 1, b, sizeof b), show_count(u.col0, d, sizeof d),
                              show_count(u.col1 - 1, f, sizeof f), g->guessed ? "about " : "",
                              how_many(counted(p, g, u), "nonzero").text);
        draw_under(c, end, y, p, &spy->spots, st);
        if (owners) draw_parts_under(c, end, y, m, u);
        return;
    }
    int64_t k = csr_find(A, u.row0, u.col0);
    int x = canvas_text(c, 1, y, ST_PLAIN, "row %s, column %s: ", show_count(u.row0, a, sizeof a),
                        show_count(u.col0, b, sizeof b));
    if (k < 0)
        x = canvas_text(c, x, y, ST_DIM, "no entry");
    else
        x = canvas_text(c, x, y, ST_BOLD, "%s", number_digits(A->val[k], A->imag ? A->imag[k] : 0, 17, value));
    if (owners) draw_parts_under(c, x, y, m, u);
}

void spy_draw_picture(struct canvas *c, const struct session *s, struct view_state *st, const struct picture *p)
{
    const struct csr *A = &s->current->csr;
    const struct spy_state *spy = st->own;
    int below = st->full ? 3 : 1;
    draw_frame(c, p);
    draw_axes(c, p);
    if (p->exact && p->dy == 1)
        draw_elements(c, A, p, spy);
    else if (p->pixels)
        figure_raster(c->figure, p->x, p->y, p->w, p->h,
                      (struct raster){p->w * p->dx, p->h * p->dy, spy->spots.style, spy->spots.version});
    else
        draw_spots(c, p, &spy->spots);
    (p->pixels ? figure_lit : draw_lit)(c, s, p);
    if (A->nnz) draw_legend(c, p, s->current, &spy->spots, st->full ? c->h - below : p->y + p->h + 1);
    struct under u = under_cursor(p, st);
    st->row_step = u.row1 - u.row0;
    st->col_step = u.col1 - u.col0;
    if (!st->full) return;
    draw_cursor(c, p, st);
    draw_status(c, s->current, p, spy, st, u, c->h - 2);
}
