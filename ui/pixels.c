/* Pictures of pixels: a figure is painted with cairo and encoded for the terminal. */
#include "pixels.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/mem.h"
#include "figure.h"
#include "paint.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

/* Kitty accepts the data in parts of at most this many bytes. */
enum { KITTY_PART = 4096 };

/* ---- the cells of a figure ---- */

struct box {
    double x0, y0, x1, y1;
};

static void extend(struct box *b, double x0, double y0, double x1, double y1)
{
    b->x0 = fmin(b->x0, x0);
    b->y0 = fmin(b->y0, y0);
    b->x1 = fmax(b->x1, x1);
    b->y1 = fmax(b->y1, y1);
}

static struct rect cells_of(const struct figure *f, int w, int h)
{
    struct box b = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < f->nshapes; i++) {
        const struct shape *s = &f->shape[i];
        if (s->kind != SHAPE_LINE) extend(&b, s->x, s->y, s->x + s->w, s->y + s->h);
        for (int64_t k = 0; s->kind == SHAPE_LINE && k < s->n; k++) {
            const double *xy = &f->point[2 * (s->from + k)];
            extend(&b, xy[0], xy[1], xy[0], xy[1]);
        }
    }
    int x0 = (int)fmax(floor(b.x0), 0), y0 = (int)fmax(floor(b.y0), 0);
    int x1 = (int)fmin(ceil(b.x1), w), y1 = (int)fmin(ceil(b.y1), h);
    if (!(b.x0 <= b.x1) || x0 >= x1 || y0 >= y1) return (struct rect){0, 0, 0, 0};
    return (struct rect){x0, y0, x1 - x0, y1 - y0};
}

/* ---- has the picture changed? ---- */

static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

static uint64_t hash_of(const struct figure *f, struct rect at, struct pixel_terminal on)
{
    uint64_t hash = 0xcbf29ce484222325;
    const int size[] = {at.x, at.y, at.w, at.h, on.way, on.cw, on.ch, theme_is_light()};
    hash = mix(hash, size, sizeof size);
    for (int64_t i = 0; i < f->nshapes; i++) {
        const struct shape *s = &f->shape[i];
        const double place[] = {s->x, s->y, s->w, s->h, s->width, s->strength};
        const int64_t number[] = {s->kind, s->style, s->n, s->raster.w, s->raster.h, s->raster.version};
        hash = mix(mix(hash, place, sizeof place), number, sizeof number);
    }
    if (f->npoints) hash = mix(hash, f->point, 2 * (size_t)f->npoints * sizeof *f->point);
    return f->nbytes ? mix(hash, f->text, (size_t)f->nbytes) : hash;
}

/* ---- kitty ---- */

static bool put(struct image *im, int64_t *room, const char *bytes, int64_t n)
{
    if (im->n + n > *room) {
        int64_t want = 2 * (im->n + n);
        char *more = mem_resize(im->bytes, want, 1, "a picture", NULL);
        if (!more) return false;
        im->bytes = more;
        *room = want;
    }
    memcpy(im->bytes + im->n, bytes, (size_t)n);
    im->n += n;
    return true;
}

/* The pixels as bytes R, G, B, A. */
static unsigned char *rgba_of(const struct image *im, struct err *e)
{
    int64_t n = (int64_t)im->w * im->h;
    unsigned char *all = mem_new(n, 4, "a picture", e);
    for (int64_t i = 0; all && i < n; i++) {
        uint32_t rgb = im->pixel[i];
        bool clear = rgb == (uint32_t)CLEAR_PIXEL;
        for (int k = 0; k < 3; k++) all[4 * i + k] = clear ? 0 : (unsigned char)(rgb >> (16 - 8 * k));
        all[4 * i + 3] = clear ? 0 : 255;
    }
    return all;
}

/* Write the compressed data in parts; only the first part has the keys that describe the picture. */
static bool put_parts(struct image *im, const char *data, int64_t n)
{
    char head[160];
    int64_t room = 0;
    bool ok = true;
    for (int64_t at = 0; ok && at < n; at += KITTY_PART) {
        int64_t part = n - at < KITTY_PART ? n - at : KITTY_PART;
        int more = at + part < n, length = 0;
        if (at == 0)
            length = snprintf(head, sizeof head, "\033_Ga=T,f=32,o=z,s=%d,v=%d,i=%d,p=1,c=%d,r=%d,z=-1,C=1,q=2,m=%d;",
                              im->w, im->h, im->id, im->at.w, im->at.h, more);
        else
            length = snprintf(head, sizeof head, "\033_Gm=%d;", more);
        ok = put(im, &room, head, length) && put(im, &room, data + at, part) && put(im, &room, "\033\\", 2);
    }
    return ok;
}

static bool kitty_encode_image(struct image *im, struct err *e)
{
    int64_t n = 4 * (int64_t)im->w * im->h;
    unsigned char *rgba = rgba_of(im, e);
    uLongf packed = compressBound((uLong)n);
    unsigned char *small = rgba ? mem_new((int64_t)packed, 1, "a picture", e) : NULL;
    char *text = NULL;
    bool ok = small && compress2(small, &packed, rgba, (uLong)n, Z_BEST_SPEED) == Z_OK;
    if (ok) text = mem_new((int64_t)(packed + 2) / 3 * 4 + 1, 1, "a picture", e);
    if (text) base64(small, packed, text);
    ok = text && put_parts(im, text, (int64_t)strlen(text));
    mem_free(rgba);
    mem_free(small);
    mem_free(text);
    return ok || (e && e->code) || fail(e, E_MEMORY, "not enough memory for the picture");
}

/* ---- painting ---- */

/* Copy the pixels that cairo painted; pixels in the colour of the background become clear. */
static bool take_pixels(struct image *im, struct png *g, struct err *e)
{
    int stride;
    const unsigned char *data = png_pixels(g, &stride);
    uint32_t ground = paint_ground(theme_is_light());
    im->pixel = mem_new((int64_t)im->w * im->h, sizeof *im->pixel, "a picture", e);
    if (!im->pixel) return false;
    for (int y = 0; y < im->h; y++)
        for (int x = 0; x < im->w; x++) {
            uint32_t rgb;
            memcpy(&rgb, data + (size_t)y * (size_t)stride + 4 * (size_t)x, sizeof rgb);
            rgb &= 0xffffff;
            im->pixel[y * im->w + x] = rgb == ground ? (uint32_t)CLEAR_PIXEL : rgb;
        }
    return true;
}

static bool paint(struct image *im, const struct figure *f, struct err *e)
{
    struct png g;
    bool ok = png_begin_sized(&g, im->at.w, im->at.h, im->on.cw, im->on.ch, theme_is_light(), e);
    if (ok) {
        png_shift(&g, -im->at.x * im->on.cw, -im->at.y * im->on.ch);
        figure_paint(f, &g.p, theme_is_light());
        ok = take_pixels(im, &g, e);
    }
    png_end(&g, NULL, false, NULL);
    return ok;
}

void image_free(struct image *im)
{
    mem_free(im->pixel);
    mem_free(im->bytes);
    *im = (struct image){.id = im->id};
}

/* Paint the n pixels of one colour that begin at (x, y) of the image. */
static void paint_run(const struct image *im, struct painter *p, int x, int y, int n)
{
    int left = im->at.x * p->cw + x * p->cw / im->on.cw, right = im->at.x * p->cw + (x + n) * p->cw / im->on.cw;
    int top = im->at.y * p->ch + y * p->ch / im->on.ch, bottom = im->at.y * p->ch + (y + 1) * p->ch / im->on.ch;
    p->fill(p, im->pixel[y * im->w + x]);
    p->rect(p, left, top, right - left, bottom - top);
    p->done(p);
}

void image_paint(const struct image *im, struct painter *p)
{
    for (int y = 0; y < im->h; y++)
        for (int x = 0, n; x < im->w; x += n) {
            const uint32_t *at = &im->pixel[y * im->w + x];
            for (n = 1; x + n < im->w && at[n] == *at;) n++;
            if (*at != (uint32_t)CLEAR_PIXEL) paint_run(im, p, x, y, n);
        }
}

bool image_make(struct image *im, const struct figure *f, int w, int h, struct pixel_terminal on, struct err *e)
{
    struct rect at = cells_of(f, w, h);
    uint64_t hash = hash_of(f, at, on);
    if (f->failed) return fail(e, E_MEMORY, "not enough memory for the picture");
    if (im->bytes && at.w && im->hash == hash) return true;
    image_free(im);
    if (!at.w) return true;
    im->at = at;
    im->hash = hash;
    im->on = on;
    im->w = at.w * on.cw;
    im->h = at.h * on.ch;
    bool ok = paint(im, f, e) && (on.way == PIXELS_SIXEL ? sixel_encode_image : kitty_encode_image)(im, e);
    if (!ok) image_free(im);
    return ok;
}
