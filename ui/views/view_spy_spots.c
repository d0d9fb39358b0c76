/* The characters of the picture: which dots are set, and how dense each character is. */
#include "view_spy.h"
#include "base/mem.h"

#include <math.h>

const char spy_sign[SIGNS + 1] = ".:-=+*#%@";

/* The cell that a dot of an axis belongs to. Most pictures have one dot per cell and need no division. */
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

/* The elements that character (x, y) covers. The elements of repeated cells are summed dot by dot, like their
   nonzeros. */
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

/* The character (x, y) with its dots as braille, still without a colour. */
static struct spot spot_at(const struct picture *p, const struct grid *g, int x, int y)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    double nonzeros = 0, share = 1.0 / (p->down.repeat * p->across.repeat);
    struct spot s = {0, {0x2800, ST_PLAIN}};
    for (int i = 0; i < p->dy; i++) {
        int row = cell_of_dot(&p->down, y * p->dy + i);
        if (row >= g->h) break;
        const uint32_t *n = g->n + (int64_t)row * g->w;
        for (int j = 0; j < p->dx; j++) {
            int col = cell_of_dot(&p->across, x * p->dx + j);
            if (col >= g->w || !n[col]) continue;
            s.look.glyph |= bit[i][j];
            nonzeros += share * n[col];
        }
    }
    if (nonzeros > 0) s.density = nonzeros / elements_at(p, x, y);
    return s;
}

static struct shades range_of(const struct spot *spot, int n)
{
    struct shades r = {1, 0, 64};
    for (int i = 0; i < n; i++) {
        if (!(spot[i].density > 0)) continue;
        if (spot[i].density < r.low) r.low = spot[i].density;
        if (spot[i].density > r.high) r.high = spot[i].density;
    }
    if (r.high > r.low * r.span) r.span = r.high / r.low;
    return r;
}

int spy_shade(const struct shades *r, double density, int steps)
{
    double t = 1 - log(r->high / density) / log(r->span);
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
    return same_axis(&a->down, &b->down) && same_axis(&a->across, &b->across) && a->dx == b->dx && a->dy == b->dy;
}

bool spy_make_spots(struct spy_state *spy, const struct picture *p, struct err *e)
{
    struct spots *o = &spy->spots;
    int n = p->w * p->h;
    if (o->spot && spy->grid.shown && same_picture(&o->of, p)) return true;
    spy_spots_free(o);
    if (!(o->spot = mem_new(n, sizeof *o->spot, "the picture", e))) return false;
    o->of = *p;
    for (int y = 0; y < p->h; y++)
        for (int x = 0; x < p->w; x++) o->spot[y * p->w + x] = spot_at(p, &spy->grid, x, y);
    o->range = range_of(o->spot, n);
    for (int i = 0; i < n; i++) {
        struct spot *s = &o->spot[i];
        if (!(s->density > 0)) continue;
        s->look.style = (uint8_t)(ST_RAMP + spy_shade(&o->range, s->density, RAMP_STEPS));
        if (p->dy == 1) s->look.glyph = (uint32_t)spy_sign[spy_shade(&o->range, s->density, SIGNS)];
    }
    return spy->grid.shown = true;
}

void spy_spots_free(struct spots *o)
{
    mem_free(o->spot);
    *o = (struct spots){0};
}
