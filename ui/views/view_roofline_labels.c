/* The kernels of a roofline: a mark for each, and names beside the marks where there is room. */
#include "base/mem.h"
#include "machine/kernel.h"
#include "ui/canvas.h"
#include "ui/figure.h"
#include "view_roofline.h"

#include <math.h>
#include <string.h>

/* The cells in which marks and names are. */
struct taken {
    const struct roof_plot *p;
    bool *cell; /* w * h */
};

static bool is_free(const struct taken *t, int x, int y, int n)
{
    const struct roof_plot *p = t->p;
    if (x < p->x || y < p->y || x + n > p->x + p->w || y >= p->y + p->h) return false;
    for (int i = 0; i < n; i++)
        if (t->cell[(y - p->y) * p->w + x - p->x + i]) return false;
    return true;
}

/* Is the cell free, or outside the plot? */
static bool is_blank(const struct taken *t, int x, int y)
{
    bool inside = x >= t->p->x && x < t->p->x + t->p->w;
    return !inside || is_free(t, x, y, 1);
}

static void take(struct taken *t, int x, int y, int n)
{
    for (int i = x; i < x + n; i++)
        if (is_free(t, i, y, 1)) t->cell[(y - t->p->y) * t->p->w + i - t->p->x] = true;
}

/* Find room for a name of n characters beside the mark at (x, y); a blank separates the two. */
static bool find_room(const struct taken *t, int x, int y, int n, int *at_x, int *at_y)
{
    const struct {
        int x, y;
    } places[] = {{x + 2, y},         {x - n - 1, y},     {x + 2, y - 1},     {x + 2, y + 1},
                  {x - n - 1, y - 1}, {x - n - 1, y + 1}, {x - n / 2, y - 1}, {x - n / 2, y + 1}};
    for (int i = 0; i < COUNT(places); i++) {
        *at_x = places[i].x;
        *at_y = places[i].y;
        if (is_free(t, *at_x, *at_y, n) && is_blank(t, *at_x - 1, *at_y) && is_blank(t, *at_x + n, *at_y)) return true;
    }
    return false;
}

static void draw_mark(struct canvas *c, const struct roof_plot *p, const struct roof_point *at, int x, int y,
                      bool chosen)
{
    bool measured = !isnan(at->measured_us);
    enum style st = chosen ? ST_CURSOR : measured ? ST_PLOT_B : ST_PLOT_A;
    if (!c->figure) {
        canvas_put(c, x, y, st, measured ? 'X' : 'o');
        return;
    }
    double column = roof_column(p, point_intensity(at, p->by)), row = roof_row(p, point_gflops(at));
    st = measured ? ST_PLOT_B : ST_PLOT_A;
    if (measured)
        figure_rect(c->figure, st, 1, column - 0.4, row - 0.2, 0.8, 0.4);
    else
        figure_circle(c->figure, st, column, row, 0.4);
}

static void draw_name(struct canvas *c, const char *name, int x, int y, bool chosen)
{
    if (c->figure)
        figure_words(c->figure, ST_PLAIN, SIDE_LEFT, x, y, name);
    else
        canvas_text(c, x, y, chosen ? ST_BOLD : ST_DIM, "%s", name);
}

static void draw_marks(struct canvas *c, struct taken *t, const struct roofline *r, int chosen, int *inside)
{
    int x, y;
    *inside = 0;
    for (int i = r->n; i-- > 0;) { /* the fastest last, on top */
        if (!roof_cell(t->p, &r->point[i], &x, &y)) continue;
        ++*inside;
        take(t, x, y, 1);
        draw_mark(c, t->p, &r->point[i], x, y, false);
    }
    if (chosen >= 0 && roof_cell(t->p, &r->point[chosen], &x, &y)) draw_mark(c, t->p, &r->point[chosen], x, y, true);
}

static int draw_names(struct canvas *c, struct taken *t, const struct roofline *r, int chosen)
{
    int n = 0;
    for (int i = -1; i < r->n; i++) {
        int k = i < 0 ? chosen : i, x, y, to_x, to_y;
        if (k < 0 || (i >= 0 && i == chosen) || !roof_cell(t->p, &r->point[k], &x, &y)) continue;
        const char *name = r->point[k].kernel->name;
        if (!find_room(t, x, y, (int)strlen(name), &to_x, &to_y)) continue;
        take(t, to_x, to_y, (int)strlen(name));
        draw_name(c, name, to_x, to_y, k == chosen);
        n++;
    }
    return n;
}

/* The names of roofs are on the canvas already; curves of dots may be covered. */
static void take_words(struct taken *t, const struct canvas *c)
{
    const struct roof_plot *p = t->p;
    for (int y = p->y; y < p->y + p->h; y++)
        for (int x = p->x; x < p->x + p->w; x++) {
            uint32_t g = c->cell[y * c->w + x].glyph;
            if (g > ' ' && g < 0x7f && g != '.') take(t, x, y, 1);
        }
}

int roof_draw_points(struct canvas *c, const struct roof_plot *p, const struct roofline *r, int chosen, int *inside)
{
    struct taken t = {p, mem_zero((int64_t)p->w * p->h, sizeof *t.cell, "a picture", NULL)};
    *inside = 0;
    if (!t.cell) return 0;
    take_words(&t, c);
    draw_marks(c, &t, r, chosen, inside);
    int n = draw_names(c, &t, r, chosen);
    mem_free(t.cell);
    return n;
}
