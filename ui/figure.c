/* Shapes finer than cells, kept in the order in which they were drawn. */
#include "figure.h"
#include "base/mem.h"
#include "base/text.h"
#include "paint.h"

#include <math.h>
#include <string.h>

void figure_free(struct figure *f)
{
    mem_free(f->shape);
    mem_free(f->point);
    mem_free(f->text);
    *f = (struct figure){0};
}

/* Make room for n more items in `items`, an array of the figure whose capacity is f->room[array]. Returns the array,
   which may have moved, or NULL. */
static void *grown(struct figure *f, int array, void *items, int64_t used, int64_t n, size_t size)
{
    int64_t *room = &f->room[array], want = 2 * (used + n);
    if (used + n <= *room) return items;
    void *larger =
        items ? mem_resize(items, want, size, "the picture", NULL) : mem_new(want, size, "the picture", NULL);
    if (larger) *room = want;
    f->failed |= !larger;
    return larger;
}

static struct shape *new_shape(struct figure *f, struct shape made)
{
    struct shape *all = grown(f, 0, f->shape, f->nshapes, 1, sizeof *all);
    if (!all) return NULL;
    f->shape = all;
    all[f->nshapes] = made;
    f->bottom = fmax(f->bottom, made.y + made.h);
    return &all[f->nshapes++];
}

void figure_rect(struct figure *f, enum style st, double strength, double x, double y, double w, double h)
{
    if (w > 0 && h > 0)
        new_shape(
            f, (struct shape){.kind = SHAPE_RECT, .style = st, .strength = strength, .x = x, .y = y, .w = w, .h = h});
}

void figure_line(struct figure *f, enum style st, double strength, double width)
{
    new_shape(
        f, (struct shape){.kind = SHAPE_LINE, .style = st, .strength = strength, .width = width, .from = f->npoints});
}

void figure_point(struct figure *f, double x, double y)
{
    double *all = f->nshapes ? grown(f, 1, f->point, 2 * f->npoints, 2, sizeof *all) : NULL;
    if (!all) return;
    f->point = all;
    all[2 * f->npoints] = x;
    all[2 * f->npoints + 1] = y;
    f->npoints++;
    f->shape[f->nshapes - 1].n++;
    f->bottom = fmax(f->bottom, y);
}

void figure_stroke(struct figure *f, enum style st, double strength, double x0, double y0, double x1, double y1)
{
    figure_line(f, st, strength, 1);
    figure_point(f, x0, y0);
    figure_point(f, x1, y1);
}

/* A cell is twice as high as wide. */
void figure_circle(struct figure *f, enum style st, double x, double y, double r)
{
    enum { CORNERS = 16 };
    figure_line(f, st, 1, 1.5);
    for (int k = 0; k <= CORNERS; k++)
        figure_point(f, x + r * cos(2 * M_PI * k / CORNERS), y + r / 2 * sin(2 * M_PI * k / CORNERS));
}

void figure_words(struct figure *f, enum style st, enum side side, double x, double y, const char *text)
{
    int64_t n = (int64_t)strlen(text) + 1;
    double w = text_width(text);
    char *all = grown(f, 2, f->text, f->nbytes, n, 1);
    if (!all) return;
    f->text = all;
    memcpy(all + f->nbytes, text, (size_t)n);
    x -= side == SIDE_RIGHT ? w : side == SIDE_MIDDLE ? w / 2 : 0;
    new_shape(f, (struct shape){.kind = SHAPE_WORDS,
                                .style = st,
                                .strength = 1,
                                .x = x,
                                .y = y,
                                .w = w,
                                .h = 1,
                                .from = f->nbytes,
                                .n = n});
    f->nbytes += n;
}

void figure_raster(struct figure *f, double x, double y, double w, double h, struct raster raster)
{
    new_shape(f, (struct shape){.kind = SHAPE_RASTER, .strength = 1, .x = x, .y = y, .w = w, .h = h, .raster = raster});
}

void figure_add(struct figure *f, const struct figure *from, double x, double y)
{
    for (int64_t i = 0; i < from->nshapes; i++) {
        struct shape s = from->shape[i];
        s.x += x;
        s.y += y;
        if (s.kind == SHAPE_WORDS) {
            figure_words(f, s.style, SIDE_LEFT, s.x, s.y, from->text + s.from);
            continue;
        }
        int64_t n = s.kind == SHAPE_LINE ? s.n : 0, first = s.from;
        s.from = f->npoints;
        s.n = 0;
        new_shape(f, s);
        for (int64_t k = first; k < first + n; k++) figure_point(f, from->point[2 * k] + x, from->point[2 * k + 1] + y);
    }
    f->failed |= from->failed;
}

void figure_clear(struct figure *f)
{
    f->nshapes = f->npoints = f->nbytes = 0;
    f->bottom = 0;
    f->failed = false;
}

/* ---- painting ---- */

static uint32_t blend(uint32_t from, uint32_t to, double share)
{
    uint32_t rgb = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        double a = from >> shift & 255, b = to >> shift & 255;
        rgb |= (uint32_t)lround(a + (b - a) * share) << shift;
    }
    return rgb;
}

/* A line straight across or straight down fills whole pixels, so that it is sharp. */
static void sharpen(const struct shape *s, double *xy)
{
    if (s->n != 2) return;
    if (xy[0] == xy[2]) xy[0] = xy[2] = floor(xy[0] + 1e-6) + 0.5;
    if (xy[1] == xy[3]) xy[1] = xy[3] = floor(xy[1] + 1e-6) + 0.5;
}

static void paint_line(const struct figure *f, const struct shape *s, struct painter *p, uint32_t rgb)
{
    double part[2 * LINE_POINTS];
    for (int64_t at = 0; at + 1 < s->n; at += LINE_POINTS - 1) {
        int n = s->n - at < LINE_POINTS ? (int)(s->n - at) : LINE_POINTS;
        for (int k = 0; k < n; k++) {
            part[2 * k] = f->point[2 * (s->from + at + k)] * p->cw;
            part[2 * k + 1] = f->point[2 * (s->from + at + k) + 1] * p->ch;
        }
        sharpen(s, part);
        p->line(p, rgb, s->width > 1 ? s->width * p->cw / 8 : 1, n, part);
    }
}

static void paint_rect(const struct shape *s, struct painter *p, uint32_t rgb)
{
    int x0 = (int)lround(s->x * p->cw), x1 = (int)lround((s->x + s->w) * p->cw);
    int y0 = (int)lround(s->y * p->ch), y1 = (int)lround((s->y + s->h) * p->ch);
    p->fill(p, rgb);
    p->rect(p, x0, y0, x1 > x0 ? x1 - x0 : 1, y1 > y0 ? y1 - y0 : 1);
    p->done(p);
}

/* Paint the dots of each style; adjacent dots in a line become one rectangle. */
static void paint_raster(const struct shape *s, struct painter *p, bool light)
{
    const struct raster *r = &s->raster;
    double dx = s->w * p->cw / r->w, dy = s->h * p->ch / r->h, x0 = s->x * p->cw, y0 = s->y * p->ch;
    for (int st = 0; st < ST_COUNT; st++) {
        if (!memchr(r->style, st, (size_t)r->w * (size_t)r->h)) continue;
        p->fill(p, paint_colour((enum style)st, light));
        for (int y = 0; y < r->h; y++)
            for (int x = 0, from; x < r->w; x++) {
                for (from = x; x < r->w && r->style[y * r->w + x] == st;) x++;
                int left = (int)lround(x0 + from * dx), right = (int)lround(x0 + x * dx);
                int top = (int)lround(y0 + y * dy), bottom = (int)lround(y0 + (y + 1) * dy);
                if (x > from) p->rect(p, left, top, right > left ? right - left : 1, bottom > top ? bottom - top : 1);
            }
        p->done(p);
    }
}

void figure_paint(const struct figure *f, struct painter *p, bool light)
{
    for (int64_t i = 0; i < f->nshapes; i++) {
        const struct shape *s = &f->shape[i];
        uint32_t rgb = blend(paint_ground(light), paint_colour(s->style, light), s->strength);
        if (s->kind == SHAPE_LINE) paint_line(f, s, p, rgb);
        if (s->kind == SHAPE_RECT) paint_rect(s, p, rgb);
        if (s->kind == SHAPE_RASTER) paint_raster(s, p, light);
        if (s->kind == SHAPE_WORDS)
            p->text(p, (int)lround(s->x * p->cw), (int)lround(s->y * p->ch), rgb, style_bold(s->style),
                    f->text + s->from, (int)s->w);
    }
}
