/* A painter that writes PNG with cairo, which also provides the fonts. The library is opened at its first use, so that
   the program starts without it. */
#include "base/err.h"
#include "base/shared.h"
#include "base/text.h"
#include "paint.h"

#include <dlfcn.h>
#include <string.h>

/* The functions of cairo that this file uses; cairo has had all these functions since version 1.2. */
enum {
    CAIRO_RGB24 = 1,
    CAIRO_NORMAL = 0,
    CAIRO_BOLD = 1,
    CAIRO_SMOOTH = 0,
    CAIRO_NO_ANTIALIAS = 1,
    CAIRO_ROUND = 1,
    CAIRO_NO_MEMORY = 1,
    CAIRO_WRITE = 11
};
struct extents {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
};
typedef int write_fn(void *user, const unsigned char *data, unsigned n);
static struct {
    void *library;
    const char *opened;
    void *(*image_surface_create)(int format, int w, int h);
    int (*surface_write_to_png_stream)(void *surface, write_fn *write, void *user);
    int (*surface_status)(void *surface);
    void (*surface_destroy)(void *surface);
    void *(*create)(void *surface);
    int (*status)(void *cr);
    void (*destroy)(void *cr);
    void (*translate)(void *cr, double x, double y);
    void (*surface_flush)(void *surface);
    unsigned char *(*image_surface_get_data)(void *surface);
    int (*image_surface_get_stride)(void *surface);
    void (*set_source_rgb)(void *cr, double r, double g, double b);
    void (*set_antialias)(void *cr, int how);
    void (*paint)(void *cr);
    void (*rectangle)(void *cr, double x, double y, double w, double h);
    void (*fill)(void *cr);
    void (*move_to)(void *cr, double x, double y);
    void (*line_to)(void *cr, double x, double y);
    void (*set_line_width)(void *cr, double width);
    void (*set_line_join)(void *cr, int join);
    void (*stroke)(void *cr);
    void (*show_text)(void *cr, const char *text);
    void (*select_font_face)(void *cr, const char *family, int slant, int weight);
    void (*set_font_size)(void *cr, double size);
    void (*text_extents)(void *cr, const char *text, struct extents *out);
} cairo;

const char *png_cairo_name = "libcairo.so.2";
enum { CELL_W = 10, CELL_H = 20, SIDE_LIMIT = 32767 };

static bool symbols(void)
{
    const struct {
        void *to;
        const char *name;
    } all[] = {
        {&cairo.image_surface_create, "cairo_image_surface_create"},
        {&cairo.surface_write_to_png_stream, "cairo_surface_write_to_png_stream"},
        {&cairo.surface_status, "cairo_surface_status"},
        {&cairo.surface_destroy, "cairo_surface_destroy"},
        {&cairo.create, "cairo_create"},
        {&cairo.status, "cairo_status"},
        {&cairo.destroy, "cairo_destroy"},
        {&cairo.translate, "cairo_translate"},
        {&cairo.surface_flush, "cairo_surface_flush"},
        {&cairo.image_surface_get_data, "cairo_image_surface_get_data"},
        {&cairo.image_surface_get_stride, "cairo_image_surface_get_stride"},
        {&cairo.set_source_rgb, "cairo_set_source_rgb"},
        {&cairo.set_antialias, "cairo_set_antialias"},
        {&cairo.paint, "cairo_paint"},
        {&cairo.rectangle, "cairo_rectangle"},
        {&cairo.fill, "cairo_fill"},
        {&cairo.move_to, "cairo_move_to"},
        {&cairo.line_to, "cairo_line_to"},
        {&cairo.set_line_width, "cairo_set_line_width"},
        {&cairo.set_line_join, "cairo_set_line_join"},
        {&cairo.stroke, "cairo_stroke"},
        {&cairo.show_text, "cairo_show_text"},
        {&cairo.select_font_face, "cairo_select_font_face"},
        {&cairo.set_font_size, "cairo_set_font_size"},
        {&cairo.text_extents, "cairo_text_extents"},
    };
    for (int i = 0; i < COUNT(all); i++) {
        void *at = dlsym(cairo.library, all[i].name);
        if (!at) return false;
        memcpy(all[i].to, &at, sizeof at);
    }
    return true;
}

static bool open_library(struct err *e)
{
    if (cairo.opened != png_cairo_name) {
        struct err why = {0};
        cairo.library = shared_open(1, &png_cairo_name, &why);
        if (why.code) return fail(e, why.code, "%s", why.text);
        cairo.opened = png_cairo_name;
        if (cairo.library && !symbols()) cairo.library = NULL;
    }
    if (cairo.library) return true;
    return fail(e, E_UNSUPPORTED,
                "PNG needs cairo (%s), which is not installed here; install libcairo2, or export to .svg",
                png_cairo_name);
}

static void colour(void *cr, uint32_t rgb)
{
    cairo.set_source_rgb(cr, (double)(rgb >> 16) / 255, (double)(rgb >> 8 & 255) / 255, (double)(rgb & 255) / 255);
}

static void png_fill(struct painter *p, uint32_t rgb)
{
    colour(((struct png *)p)->context, rgb);
}

static void png_rect(struct painter *p, int x, int y, int w, int h)
{
    cairo.rectangle(((struct png *)p)->context, x, y, w, h);
}

static void png_done(struct painter *p)
{
    cairo.fill(((struct png *)p)->context);
}

/* Pixels at the edge of the line are blended with the background. */
static void png_line(struct painter *p, uint32_t rgb, double width, int n, const double *xy)
{
    void *cr = ((struct png *)p)->context;
    colour(cr, rgb);
    cairo.set_antialias(cr, CAIRO_SMOOTH);
    cairo.set_line_width(cr, width);
    cairo.set_line_join(cr, CAIRO_ROUND);
    cairo.move_to(cr, xy[0], xy[1]);
    for (int k = 1; k < n; k++) cairo.line_to(cr, xy[2 * k], xy[2 * k + 1]);
    cairo.stroke(cr);
    cairo.set_antialias(cr, CAIRO_NO_ANTIALIAS);
}

/* Draw the text letter by letter, so that each letter is in its column. */
static void png_text(struct painter *p, int x, int y, uint32_t rgb, bool bold, const char *text, int cells)
{
    void *cr = ((struct png *)p)->context;
    cairo.select_font_face(cr, "monospace", CAIRO_NORMAL, bold ? CAIRO_BOLD : CAIRO_NORMAL);
    colour(cr, rgb);
    for (size_t n = strlen(text), at = 0; at < n;) {
        char glyph[8] = "";
        uint32_t point;
        int len = utf8_decode(text + at, n - at, &point);
        if (len <= 0) return;
        memcpy(glyph, text + at, (size_t)len);
        if (point != ' ') cairo.move_to(cr, x, y + p->ch * 3 / 4.0), cairo.show_text(cr, glyph);
        x += p->cw * text_width(glyph);
        at += (size_t)len;
    }
}

/* Find the font size at which a letter is as wide as a cell. */
static void fit_font(void *cr, int cw, int ch)
{
    struct extents m = {0};
    cairo.select_font_face(cr, "monospace", CAIRO_NORMAL, CAIRO_NORMAL);
    cairo.set_font_size(cr, 100);
    cairo.text_extents(cr, "M", &m);
    double size = m.x_advance > 1 ? 100 * cw / m.x_advance : ch * 0.8;
    cairo.set_font_size(cr, size < ch * 0.9 ? size : ch * 0.9);
}

bool png_begin(struct png *g, int w, int h, bool light, struct err *e)
{
    return png_begin_sized(g, w, h, CELL_W, CELL_H, light, e);
}

void png_shift(struct png *g, int x, int y)
{
    cairo.translate(g->context, x, y);
}

const unsigned char *png_pixels(struct png *g, int *stride)
{
    cairo.surface_flush(g->surface);
    *stride = cairo.image_surface_get_stride(g->surface);
    return cairo.image_surface_get_data(g->surface);
}

bool png_begin_sized(struct png *g, int w, int h, int cw, int ch, bool light, struct err *e)
{
    w *= cw;
    h *= ch;
    *g = (struct png){{cw, ch, png_fill, png_rect, png_done, png_line, png_text}, NULL, NULL};
    if (!open_library(e)) return false;
    if (w < 1 || h < 1 || w > SIDE_LIMIT || h > SIDE_LIMIT)
        return fail(e, E_LIMIT, "a picture of %d x %d pixels is too large; the limit is %d x %d", w, h, +SIDE_LIMIT,
                    +SIDE_LIMIT);
    g->surface = cairo.image_surface_create(CAIRO_RGB24, w, h);
    g->context = cairo.create(g->surface);
    if (cairo.surface_status(g->surface) || cairo.status(g->context))
        return fail(e, E_MEMORY, "not enough memory for a picture of %d x %d pixels", w, h);
    cairo.set_antialias(g->context, CAIRO_NO_ANTIALIAS);
    colour(g->context, paint_ground(light));
    cairo.paint(g->context);
    fit_font(g->context, cw, ch);
    return true;
}

static int to_file(void *user, const unsigned char *data, unsigned n)
{
    return fwrite(data, 1, n, user) == n ? 0 : CAIRO_WRITE;
}

bool png_end(struct png *g, FILE *f, bool ok, struct err *e)
{
    int status = 0;
    if (ok) status = cairo.status(g->context);
    if (ok && !status) status = cairo.surface_write_to_png_stream(g->surface, to_file, f);
    if (g->context) cairo.destroy(g->context);
    if (g->surface) cairo.surface_destroy(g->surface);
    g->context = g->surface = NULL;
    if (!status) return ok;
    if (status == CAIRO_NO_MEMORY || status == CAIRO_WRITE)
        return fail(e, E_MEMORY, "not enough memory for the picture");
    return fail(e, E_INTERNAL, "cairo could not make the picture (its status is %d)", status);
}
