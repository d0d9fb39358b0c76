/* The communication matrix as a heat map: how many items of x each part receives from each other part. When there are
   more parts than cells, a cell stands for several parts on each side. */
#include "base/mem.h"
#include "base/text.h"
#include "report/fields.h"
#include "session/matrix.h"
#include "session/parting.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_spy.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

/* A cell has at least GLYPHS columns and one line, and at most CELL_W and CELL_H. */
enum { TOP = 4, GLYPHS = 2, LEGEND = 2, STATUS = 1, CELL_W = 10, CELL_H = 3 };

/* The cells of the last picture, kept while only the cursor moves. */
struct halo_state {
    double *items; /* [n * n]: items that the parts of cell row y receive from those of cell column x; owned */
    int n;         /* cells in each direction */
    int w, h;      /* of a cell, in characters */
    const struct parting *of;
};

static const struct parting *parting_of(const struct session *s)
{
    return s->current ? s->current->parting : NULL;
}

static bool exists(const struct session *s)
{
    return parting_of(s) != NULL;
}

static const char *nothing(const struct session *s)
{
    return exists(s) ? NULL : parting_missing;
}

static void state_free(void *own)
{
    struct halo_state *h = own;
    mem_free(h->items);
    *h = (struct halo_state){0};
}

/* ---- cells ---- */

static int cell_of(const struct halo_state *h, int parts, int part)
{
    return (int)((int64_t)part * h->n / parts);
}

/* The first part of a cell; the part after the last cell's for cell n. */
static int first_of(const struct halo_state *h, int parts, int cell)
{
    return (int)(((int64_t)cell * parts + h->n - 1) / h->n);
}

static bool fill(struct halo_state *h, const struct parting *p, int n)
{
    if (h->items && h->of == p && h->n == n) return true;
    state_free(h);
    h->items = mem_zero((int64_t)n * n, sizeof *h->items, "the picture", NULL);
    if (!h->items) return false;
    h->n = n;
    h->of = p;
    for (int to = 0; to < p->x.parts; to++)
        for (int64_t k = p->x.first[to]; k < p->x.first[to + 1]; k++)
            h->items[(int64_t)cell_of(h, p->x.parts, to) * n + cell_of(h, p->x.parts, p->x.from[k])] +=
                (double)p->x.items[k];
    return true;
}

static struct shades range_of(const struct halo_state *h)
{
    struct shades r = {INFINITY, 0, 16};
    for (int64_t i = 0; i < (int64_t)h->n * h->n; i++) {
        if (h->items[i] > 0 && h->items[i] < r.low) r.low = h->items[i];
        if (h->items[i] > r.high) r.high = h->items[i];
    }
    if (r.high > r.low * r.span) r.span = r.high / r.low;
    return r;
}

/* ---- drawing ---- */

/* The characters left of the picture: the widest number of a part, and a blank. */
static int left_of(const struct parting *p)
{
    char text[32];
    return text_width(show_count(p->x.parts - 1, text, sizeof text)) + 2;
}

static int lines_of(const struct canvas *c, bool full)
{
    return c->h - TOP - LEGEND - (full ? STATUS + 1 : 0);
}

static int cells_that_fit(const struct canvas *c, const struct parting *p, bool full)
{
    int w = (c->w - left_of(p) - 1) / GLYPHS, h = lines_of(c, full);
    int n = w < h ? w : h;
    return n < p->x.parts ? n : p->x.parts;
}

static int within_range(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* Cells use the room that they have, and stay about square. */
static void size_cells(struct halo_state *h, const struct canvas *c, const struct parting *p, bool full)
{
    h->w = within_range((c->w - left_of(p) - 1) / h->n, GLYPHS, CELL_W);
    h->h = within_range(lines_of(c, full) / h->n, 1, within_range(h->w / 2, 1, CELL_H));
}

static int width_of(double items)
{
    char text[32];
    return text_width(show_count((int64_t)items, text, sizeof text));
}

/* Do all numbers fit, so that the colours of their cells remain visible around them? */
static bool has_numbers(const struct halo_state *h, const struct shades *r)
{
    return width_of(r->high) + (h->h > 1 ? 2 : 4) <= h->w;
}

/* Write the number of items into the middle of its cell. */
static void draw_number(struct canvas *c, const struct halo_state *h, int x, int y, double items)
{
    char text[32];
    show_count((int64_t)items, text, sizeof text);
    canvas_text(c, x + (h->w - width_of(items) - 1) / 2, y + h->h / 2, ST_PLAIN, " %s ", text);
}

static void draw_cells(struct canvas *c, const struct halo_state *h, const struct parting *p, const struct shades *r)
{
    bool letters = c->colours == COLOURS_NONE || c->ascii;
    int left = left_of(p);
    for (int y = 0; y < h->n; y++)
        for (int x = 0; x < h->n; x++) {
            double items = h->items[(int64_t)y * h->n + x];
            int at = left + h->w * x, top = TOP + h->h * y;
            if (!(items > 0)) {
                canvas_put(c, at + (h->w - 1) / 2, top + h->h / 2, ST_PAD, x == y ? '\\' : 0xb7);
                continue;
            }
            for (int i = 0; i < h->h; i++)
                draw_fill(c, at, top + i, h->w, ST_RAMP + (unsigned)spy_shade(r, items, RAMP_STEPS),
                          letters ? (uint32_t)spy_sign[spy_shade(r, items, SIGNS)] : 0x2588);
            if (has_numbers(h, r)) draw_number(c, h, at, top, items);
        }
}

/* The first part of every cell, or, if cells are small, of some of them. */
static void draw_labels(struct canvas *c, const struct halo_state *h, const struct parting *p)
{
    char text[32];
    int left = left_of(p), last = 0, below = -1, parts = p->x.parts;
    canvas_text(c, 1, TOP - 2, ST_DIM, "from part (across) to part (down)");
    for (int k = 0; k < h->n; k++) {
        int n = text_width(show_count(first_of(h, parts, k), text, sizeof text));
        int x = left + h->w * k + (h->w > n ? (h->w - n) / 2 : 0), y = TOP + h->h * k + h->h / 2;
        bool end = k == h->n - 1 || left + h->w * (h->n - 1) > x + n;
        if (x > last && end && x + n <= c->w) last = canvas_text(c, x, TOP - 1, ST_AXIS, "%s", text);
        if (h->h > 1 || h->n <= 8 || k == 0 || k == h->n - 1 || (k >= below + 4 && k + 2 < h->n))
            draw_right(c, left - 1, y, ST_AXIS, text), below = k;
    }
}

static void draw_legend(struct canvas *c, const struct halo_state *h, const struct parting *p, const struct shades *r)
{
    char low[32], high[32];
    int y = TOP + h->h * h->n + 1, x = 1;
    bool letters = c->colours == COLOURS_NONE || c->ascii;
    if (h->n < p->x.parts)
        x = canvas_text(c, 1, y, ST_DIM, "1 cell = %d x %d parts; ", (p->x.parts + h->n - 1) / h->n,
                        (p->x.parts + h->n - 1) / h->n);
    if (!(r->high > 0)) {
        canvas_text(c, x, y, ST_DIM, "no part needs items of another part");
        return;
    }
    show_count((int64_t)r->low, low, sizeof low);
    show_count((int64_t)r->high, high, sizeof high);
    x = canvas_text(c, x, y, ST_DIM, "items of x %s ", low);
    if (r->low == r->high) return;
    for (int k = spy_shade(r, r->low, SIGNS); k < SIGNS; k++)
        canvas_put(c, x++, y, ST_RAMP + (unsigned)(k * (RAMP_STEPS - 1) / (SIGNS - 1)),
                   letters ? (uint32_t)spy_sign[k] : 0x2588);
    canvas_text(c, x, y, ST_DIM, " %s (log)", high);
}

/* "parts 0..3 receive 160 items, 1.28 kB, from parts 4..7" */
static void draw_status(struct canvas *c, const struct matrix *m, const struct halo_state *h, const struct parting *p,
                        int y, int x)
{
    char items[32], bytes[32], to[64], from[64];
    int parts = p->x.parts, to0 = first_of(h, parts, y), to1 = first_of(h, parts, y + 1) - 1;
    int from0 = first_of(h, parts, x), from1 = first_of(h, parts, x + 1) - 1;
    double n = h->items[(int64_t)y * h->n + x];
    if (to0 == to1 && from0 == to0 && from1 == to0) {
        canvas_text(c, 1, c->h - 2, ST_PLAIN, "part %d does not send its items to itself", to0);
        return;
    }
    snprintf(to, sizeof to, to0 == to1 ? "part %d receives" : "parts %d..%d receive", to0, to1);
    snprintf(from, sizeof from, from0 == from1 ? "part %d" : "parts %d..%d", from0, from1);
    canvas_text(c, 1, c->h - 2, ST_PLAIN, "%s %s items, %s, from %s", to, show_count((int64_t)n, items, sizeof items),
                show_bytes(n * parting_item_bytes(m), bytes, sizeof bytes), from);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct parting *p = parting_of(s);
    struct halo_state *h = st->own;
    draw_title(c, "halo", s->current, "%s%s%s", p ? how_many(p->x.parts, "part").text : "", p ? " by " : "",
               p ? p->P.way->name : "");
    int n = p ? cells_that_fit(c, p, st->full) : 0;
    if (n < 1 || !fill(h, p, n)) {
        draw_wrapped(c, 1, 1, 3, ST_DIM, p ? "too small for a picture" : parting_missing);
        return;
    }
    struct shades r = range_of(h);
    size_cells(h, c, p, st->full);
    draw_labels(c, h, p);
    draw_cells(c, h, p, &r);
    draw_legend(c, h, p, &r);
    if (!st->full) return;
    st->item = st->item < n ? st->item : n - 1;
    st->scroll = st->scroll < n ? st->scroll : n - 1;
    for (int i = 0; i < h->w * h->h; i++)
        canvas_style(c, left_of(p) + h->w * (int)st->scroll + i % h->w, TOP + h->h * (int)st->item + i / h->w,
                     ST_CURSOR);
    draw_status(c, s->current, h, p, (int)st->item, (int)st->scroll);
}

/* ---- keys and numbers ---- */

static int64_t within(int64_t v, int64_t n)
{
    return v < 0 ? 0 : v < n ? v : n - 1;
}

/* st->item is the cell's row, and st->scroll its column. */
static bool key(struct session *s, struct view_state *st, int k)
{
    const struct halo_state *h = st->own;
    if (!parting_of(s) || h->n < 1) return false;
    st->item = within(st->item + (k == UI_DOWN) - (k == UI_UP), h->n);
    st->scroll = within(st->scroll + (k == UI_RIGHT) - (k == UI_LEFT), h->n);
    if (k == 'g' || k == UI_HOME) st->item = st->scroll = 0;
    if (k == UI_END) st->item = st->scroll = h->n - 1;
    return true;
}

static bool click(struct session *s, struct view_state *st, int x, int y)
{
    const struct halo_state *h = st->own;
    const struct parting *p = parting_of(s);
    if (!p || h->n < 1) return false;
    int column = (x - left_of(p)) / h->w, row = (y - TOP) / h->h;
    if (x < left_of(p) || column >= h->n || y < TOP || row >= h->n) return false;
    st->item = row;
    st->scroll = column;
    return true;
}

/* One row per pair of parts that exchange items. */
static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct parting *p = parting_of(s);
    for (int to = 0; to < p->x.parts; to++)
        for (int64_t k = p->x.first[to]; k < p->x.first[to + 1]; k++) {
            out_row(s->out);
            out_str(s->out, "matrix", NULL, s->current->name);
            out_str(s->out, "way", NULL, p->P.way->name);
            out_int(s->out, "to", "to", to);
            out_int(s->out, "from", "from", p->x.from[k]);
            out_int(s->out, "items", "items", p->x.items[k]);
            out_int(s->out, "bytes", "bytes", (int64_t)((double)p->x.items[k] * parting_item_bytes(s->current)));
        }
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field halo_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"way", F_TEXT, "how the rows were divided: rows, nnz, metis, scotch"},
    {"to", F_COUNT, "part that receives, from 0"},
    {"from", F_COUNT, "part that sends, from 0"},
    {"items", F_COUNT, "items of x that it sends in a product"},
    {"bytes", F_COUNT, "bytes of these items in fp64"},
    {0},
};
static const struct row_kind row_halo = {"halo", "what a part receives from another part", halo_fields};

const struct view view_halo = {
    .name = "halo",
    .about = "the communication matrix of the parts that `partition` made: how many items of x each part (down) "
             "receives from each other part (across) in a product",
    .keys = "? help  q leave  arrows move  g first  End last",
    .rows = (const struct row_kind *const[]){&row_halo, NULL},
    .large = true,
    .state_size = sizeof(struct halo_state),
    .state_free = state_free,
    .exists = exists,
    .draw = draw,
    .key = key,
    .click = click,
    .nothing = nothing,
    .numbers = numbers,
};
