/* The characters of the picture: which dots are set, and the density or the values of each character. */
#include "base/mem.h"
#include "view_spy.h"

#include <math.h>
#include <string.h>

const char spy_sign[SIGNS + 1] = ".:-=+*#%@";

/* The cell of a dot on an axis. Most pictures have one dot per cell and need no division. */
static int cell_of_dot(const struct axis *a, int dot)
{
    return a->repeat == 1 ? dot : dot / a->repeat;
}

static int64_t elements_of(const struct axis *a, int first, int end)
{
    return spy_cell_begin(a, end < a->cells ? end : a->cells) - spy_cell_begin(a, first);
}

static double elements_of_dot(const struct axis *a, int dot)
{
    int cell = cell_of_dot(a, dot);
    return cell < a->cells ? (double)elements_of(a, cell, cell + 1) / a->repeat : 0;
}

/* The number of elements that character (x, y) covers. If a cell has several dots, each dot counts for its share of the
   cell's elements. */
static double elements_at(const struct picture *p, int x, int y)
{
    int x0 = x * p->dx, x1 = x0 + p->dx, y0 = y * p->dy, y1 = y0 + p->dy;
    double n = 0;
    if (p->down.repeat == 1 && p->across.repeat == 1)
        return (double)elements_of(&p->down, y0, y1) * (double)elements_of(&p->across, x0, x1);
    for (int i = y0; i < y1; i++)
        for (int j = x0; j < x1; j++) n += elements_of_dot(&p->down, i) * elements_of_dot(&p->across, j);
    return n;
}

static void add_values(struct spot *s, const struct cell_values *v, int64_t cell)
{
    if (!v->signs) return;
    s->signs |= v->signs[cell];
    s->largest = fmax(s->largest, cell_largest(v, cell));
}

/* The character (x, y) with its dots as braille. Its colour is set later. */
static struct spot spot_at(const struct picture *p, const struct grid *g, int x, int y)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    double nonzeros = 0, share = 1.0 / (p->down.repeat * p->across.repeat);
    struct spot s = {.look = {0x2800, ST_PLAIN}};
    for (int i = 0; i < p->dy; i++) {
        int row = cell_of_dot(&p->down, y * p->dy + i);
        if (row >= g->h) break;
        const uint32_t *n = g->n + (int64_t)row * g->w;
        for (int j = 0; j < p->dx; j++) {
            int col = cell_of_dot(&p->across, x * p->dx + j);
            if (col >= g->w || !n[col]) continue;
            if (!p->pixels) s.look.glyph |= bit[i][j];
            nonzeros += share * n[col];
            add_values(&s, &g->values, (int64_t)row * g->w + col);
        }
    }
    if (nonzeros > 0) s.density = nonzeros / elements_at(p, x, y);
    return s;
}

/* The quantity that the shade of a character shows. */
static double tone_of(const struct spot *s, enum spy_by by)
{
    return by == SPY_MAGNITUDE ? s->largest : s->density;
}

static struct shades range_of(const struct spot *spot, int n, enum spy_by by)
{
    struct shades r = {INFINITY, 0, by == SPY_MAGNITUDE ? 16 : 64};
    for (int i = 0; i < n; i++) {
        double tone = tone_of(&spot[i], by);
        if (!(tone > 0) || isinf(tone)) continue;
        if (tone < r.low) r.low = tone;
        if (tone > r.high) r.high = tone;
    }
    if (r.high > r.low * r.span) r.span = r.high / r.low;
    return r;
}

int spy_shade(const struct shades *r, double tone, int steps)
{
    double t = 1 - log(r->high / tone) / log(r->span);
    int k = (int)(t * steps);
    return k < 0 ? 0 : k < steps ? k : steps - 1;
}

static bool same_axis(const struct axis *a, const struct axis *b)
{
    return a->from == b->from && a->n == b->n && a->span == b->span && a->each == b->each && a->cells == b->cells &&
           a->repeat == b->repeat;
}

static bool same_picture(const struct picture *a, const struct picture *b)
{
    return same_axis(&a->down, &b->down) && same_axis(&a->across, &b->across) && a->dx == b->dx && a->dy == b->dy &&
           a->pixels == b->pixels;
}

/* Show signs by colours or letters. Without colours, a character with both signs keeps its dots. */
static void show_signs(struct spot *s, bool dots, bool letters)
{
    s->look.style = (uint8_t)spy_signs_style(s->signs);
    bool keeps = dots && (!letters || !s->signs || (s->signs & SIGN_PLUS && s->signs & SIGN_MINUS));
    if (!keeps) s->look.glyph = (uint32_t)(s->signs ? spy_signs_letter(s->signs) : '.');
}

/* Show owners by colours or letters; a character with entries of several parts keeps its dots. */
static void show_owners(struct spot *s, bool dots, bool letters)
{
    s->look.style = (uint8_t)(s->signs ? spy_owners_style(s->signs) : ST_DIM);
    bool keeps = dots && (!letters || !s->signs || spy_owners_letter(s->signs) == '+');
    if (!keeps) s->look.glyph = (uint32_t)(s->signs ? spy_owners_letter(s->signs) : '.');
}

static void show_shade(struct spot *s, const struct shades *r, double tone, bool letter)
{
    if (!(tone > 0)) { /* only zeros, or nothing is known yet */
        s->look.style = ST_DIM;
        if (letter) s->look.glyph = s->signs ? '0' : '.';
        return;
    }
    s->look.style = (uint8_t)(ST_RAMP + spy_shade(r, tone, RAMP_STEPS));
    if (letter) s->look.glyph = (uint32_t)spy_sign[spy_shade(r, tone, SIGNS)];
}

/* ---- pixels ---- */

/* The tone of the cell at (row, col) of the grid: the share of nonzeros, or the largest |a|; 0: the cell is empty. */
static double tone_at(const struct picture *p, const struct grid *g, enum spy_by by, int row, int col)
{
    int64_t i = (int64_t)row * g->w + col;
    if (!g->n[i]) return 0;
    if (by == SPY_MAGNITUDE) return cell_largest(&g->values, i);
    return g->n[i] / ((double)elements_of(&p->down, row, row + 1) * (double)elements_of(&p->across, col, col + 1));
}

static struct shades range_of_cells(const struct picture *p, const struct grid *g, enum spy_by by)
{
    struct shades r = {INFINITY, 0, by == SPY_MAGNITUDE ? 16 : 64};
    for (int row = 0; row < g->h; row++)
        for (int col = 0; col < g->w; col++) {
            double tone = tone_at(p, g, by, row, col);
            if (tone > 0 && !isinf(tone)) r.low = fmin(r.low, tone), r.high = fmax(r.high, tone);
        }
    if (r.high > r.low * r.span) r.span = r.high / r.low;
    return r;
}

static uint8_t style_at(const struct spots *o, const struct grid *g, int row, int col)
{
    int64_t i = (int64_t)row * g->w + col;
    if (!g->n[i]) return ST_COUNT;
    if (o->by == SPY_SIGN) return (uint8_t)spy_signs_style(g->values.signs[i]);
    double tone = tone_at(&o->of, g, o->by, row, col);
    return (uint8_t)(tone > 0 ? ST_RAMP + spy_shade(&o->range, tone, RAMP_STEPS) : ST_DIM);
}

/* Choose the style of each dot from the cell of the grid that it shows. */
static bool make_styles(struct spots *o, const struct grid *g, struct err *e)
{
    const struct picture *p = &o->of;
    static int64_t versions; /* counted over all pictures */
    int w = p->w * p->dx, h = p->h * p->dy;
    o->version = ++versions;
    o->style = mem_new((int64_t)w * h, 1, "the picture", e);
    if (!o->style) return false;
    memset(o->style, ST_COUNT, (size_t)w * (size_t)h);
    if (o->by != SPY_SIGN) o->range = range_of_cells(p, g, o->by);
    for (int row = 0; row < g->h; row++)
        for (int col = 0; col < g->w; col++) {
            uint8_t style = style_at(o, g, row, col);
            for (int i = 0; style != ST_COUNT && i < p->down.repeat; i++)
                memset(o->style + (int64_t)(row * p->down.repeat + i) * w + col * p->across.repeat, style,
                       (size_t)p->across.repeat);
        }
    return true;
}

bool spy_make_spots(struct spy_state *spy, const struct picture *p, enum spy_by by, bool letters, struct err *e)
{
    struct spots *o = &spy->spots;
    int n = p->w * p->h;
    if (o->spot && spy->grid.shown && o->by == by && o->letters == letters && same_picture(&o->of, p)) return true;
    spy_spots_free(o);
    if (!(o->spot = mem_new(n, sizeof *o->spot, "the picture", e))) return false;
    o->of = *p;
    o->by = by;
    o->letters = letters;
    for (int y = 0; y < p->h; y++)
        for (int x = 0; x < p->w; x++) o->spot[y * p->w + x] = spot_at(p, &spy->grid, x, y);
    o->range = range_of(o->spot, n, by);
    for (int i = 0; i < n; i++) {
        struct spot *s = &o->spot[i];
        if (!(s->density > 0)) continue;
        if (by == SPY_OWNER)
            o->sets |= s->signs;
        else if (s->signs)
            o->sets |= 1U << spy_signed(s->signs);
        if (by == SPY_OWNER)
            show_owners(s, p->dy > 1, letters);
        else if (by == SPY_SIGN)
            show_signs(s, p->dy > 1, letters);
        else
            show_shade(s, &o->range, tone_of(s, by), p->dy == 1 || (by == SPY_MAGNITUDE && letters));
    }
    if (p->pixels && !make_styles(o, &spy->grid, e)) return false;
    return spy->grid.shown = true;
}

void spy_spots_free(struct spots *o)
{
    mem_free(o->spot);
    mem_free(o->style);
    *o = (struct spots){0};
}
