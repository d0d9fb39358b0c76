/* Export of several views as one page: the panes of a split, each drawn as the export of its view. */
#include "base/err.h"
#include "explorer.h"
#include "export.h"
#include "figure.h"
#include "paint.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/views/view_state.h"

#include <string.h>

struct page {
    struct canvas c;
    struct figure figure;
    struct split split;
    struct view_state state[PANES_MAX]; /* rasters of the figure belong to the states */
    int states;
};

/* The pixels of a cell in pictures, for rasters. */
enum { CELL_W = 10, CELL_H = 20 };

/* Draw one view on a canvas of its own, and copy it to its place. */
static bool draw_pane(struct session *s, const struct export *x, struct page *g, const struct split_node *k,
                      struct err *e)
{
    struct export one = *x;
    struct view_state *st = &g->state[g->states++];
    struct figure figure = {.cw = CELL_W, .ch = CELL_H};
    struct canvas c = {0};
    bool text = x->kind == EXPORT_TXT;
    one.view = k->view;
    bool ok = export_state(s, &one, st, e) && canvas_new(&c, k->at.w, k->at.h - 1, g->c.ascii, e);
    if (ok) {
        c.colours = g->c.colours;
        c.figure = text ? NULL : &figure;
        view_draw(k->view, &c, s, st);
        for (int y = 0; y < c.h; y++)
            memcpy(&g->c.cell[(k->at.y + 1 + y) * g->c.w + k->at.x], &c.cell[y * c.w], (size_t)c.w * sizeof *c.cell);
        figure_add(&g->figure, &figure, k->at.x, k->at.y + 1);
    }
    canvas_free(&c);
    figure_free(&figure);
    return ok;
}

static bool draw_page(struct session *s, const struct export *x, struct page *g, struct err *e)
{
    int pane[PANES_MAX];
    struct rect area = {0, 0, x->w, x->h};
    bool text = x->kind == EXPORT_TXT, ascii = text && s->front && s->front->ascii;
    if (!explorer_arrange(s, x->views, area, &g->split, e) || !canvas_new(&g->c, x->w, x->h, ascii, e)) return false;
    g->c.colours = text ? COLOURS_NONE : COLOURS_24BIT;
    int n = split_panes(&g->split, pane);
    explorer_draw_borders(&g->c, &g->split);
    for (int i = 0; i < n; i++) {
        const struct split_node *k = &g->split.node[pane[i]];
        if (!view_has_something(k->view, s, e) || !draw_pane(s, x, g, k, e)) return false;
        explorer_draw_name(&g->c, k->at, k->view, i + 1, false);
    }
    return !g->figure.failed || fail(e, E_MEMORY, "not enough memory for the picture");
}

static void paint_page(struct painter *p, const struct page *g, bool light)
{
    paint_canvas(p, &g->c, light);
    figure_paint(&g->figure, p, light);
}

static bool write_page(const struct export *x, const struct page *g, FILE *f, struct err *e)
{
    struct svg svg;
    struct png png;
    if (x->kind == EXPORT_TXT) return canvas_print(&g->c, f, COLOURS_NONE), true;
    if (x->kind == EXPORT_PNG) {
        bool ok = png_begin(&png, x->w, x->h, x->light, e);
        if (ok) paint_page(&png.p, g, x->light);
        return png_end(&png, f, ok, e);
    }
    svg_begin(&svg, f, x->w, x->h, x->light, "several views of warpspy");
    paint_page(&svg.p, g, x->light);
    svg_end(&svg);
    return true;
}

bool export_views(struct session *s, const struct export *x, FILE *f, struct err *e)
{
    struct page g = {0};
    if (x->kind == EXPORT_JSON || x->kind == EXPORT_CSV)
        return fail(e, E_UNSUPPORTED, "the numbers of several views do not fit into one file; export each view");
    bool ok = draw_page(s, x, &g, e) && write_page(x, &g, f, e);
    for (int i = 0; i < g.states; i++) view_state_free(&g.state[i]);
    canvas_free(&g.c);
    figure_free(&g.figure);
    return ok;
}
