/* A painter that writes SVG. All rectangles of a colour are one path. Text is written as text, so that it can be
   searched. */
#include "base/text.h"
#include "paint.h"

#include <math.h>
#include <string.h>

enum { CELL_W = 8, CELL_H = 16 };

void put_escaped(FILE *f, const char *text)
{
    char piece[1024];
    for (size_t n = strlen(text), at = 0; at < n;) {
        size_t step = n - at < 200 ? n - at : 200;
        while (step && at + step < n && ((uint8_t)text[at + step] & 0xc0) == 0x80) step--; /* whole letters */
        if (!step) step = n - at < 200 ? n - at : 200;
        text_html(f, print_safe(text + at, step, step, piece, sizeof piece));
        at += step;
    }
}

static void svg_done(struct painter *p)
{
    struct svg *s = (struct svg *)p;
    if (s->open) fputs("\"/>\n", s->f);
    s->open = false;
}

static void svg_fill(struct painter *p, uint32_t rgb)
{
    struct svg *s = (struct svg *)p;
    fprintf(s->f, "<path fill=\"#%06x\" d=\"", rgb);
    s->open = true;
}

static void svg_rect(struct painter *p, int x, int y, int w, int h)
{
    fprintf(((struct svg *)p)->f, "M%d %dh%dv%dh%dz", x, y, w, h, -w);
}

/* Write a number with at most two decimals. */
static void put_place(FILE *f, char letter, double v)
{
    fprintf(f, "%c%.6g", letter, round(v * 100) / 100);
}

static void svg_line(struct painter *p, uint32_t rgb, double width, int n, const double *xy)
{
    FILE *f = ((struct svg *)p)->f;
    fprintf(f,
            "<path fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.3g\" stroke-linejoin=\"round\" "
            "shape-rendering=\"geometricPrecision\" d=\"",
            rgb, width);
    for (int k = 0; k < n; k++) {
        put_place(f, k == 0 ? 'M' : 'L', xy[2 * k]);
        put_place(f, ' ', xy[2 * k + 1]);
    }
    fputs("\"/>\n", f);
}

/* textLength keeps columns aligned in any font. */
static void svg_text(struct painter *p, int x, int y, uint32_t rgb, bool bold, const char *text, int cells)
{
    FILE *f = ((struct svg *)p)->f;
    fprintf(f, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s>", x, y + 12, cells * CELL_W, rgb,
            bold ? " font-weight=\"bold\"" : "");
    put_escaped(f, text);
    fputs("</text>\n", f);
}

void svg_begin(struct svg *s, FILE *f, int w, int h, bool light, const char *title)
{
    w *= CELL_W;
    h *= CELL_H;
    *s = (struct svg){{CELL_W, CELL_H, svg_fill, svg_rect, svg_done, svg_line, svg_text}, f, false};
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" "
            "font-family=\"monospace\" font-size=\"13\" xml:space=\"preserve\">\n<title>",
            w, h, w, h);
    put_escaped(f, title);
    fprintf(f, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n<g shape-rendering=\"crispEdges\">\n", w,
            h, paint_ground(light));
}

void svg_end(struct svg *s)
{
    fputs("</g>\n</svg>\n", s->f);
}
