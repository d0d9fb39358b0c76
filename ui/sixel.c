/* Sixel: pixels as text with control sequences, encoded by libsixel, which is opened at its first use. */
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/shared.h"
#include "pixels.h"

#include <string.h>

/* The functions and constants of libsixel that this file uses; sixel.h is not needed to build. */
enum { SIXEL_PAL8 = 0x83, SIXEL_FALSE = 0x1000, COLOURS = 255, CLEAR_INDEX = 255, DEPTH = 8 };
typedef int write_fn(char *data, int size, void *user);
static int (*output_new)(void **output, write_fn *write, void *user, void *allocator);
static void (*output_unref)(void *output);
static int (*dither_new)(void **dither, int colours, void *allocator);
static void (*dither_unref)(void *dither);
static void (*set_palette)(void *dither, unsigned char *palette);
static void (*set_pixelformat)(void *dither, int format);
static int (*encode)(unsigned char *pixels, int w, int h, int depth, void *dither, void *output);

const char *sixel_library_name = "libsixel.so.1";
static const struct shared_function functions[] = {
    {"sixel_output_new", &output_new},
    {"sixel_output_unref", &output_unref},
    {"sixel_dither_new", &dither_new},
    {"sixel_dither_unref", &dither_unref},
    {"sixel_dither_set_palette", &set_palette},
    {"sixel_dither_set_pixelformat", &set_pixelformat},
    {"sixel_encode", &encode},
    {NULL, NULL},
};

/* ---- colours ---- */

struct palette {
    unsigned char rgb[3 * 256];
    uint32_t colour[COLOURS];
    int n;
};

/* The most similar colour of a full palette. */
static int nearest(const struct palette *p, uint32_t rgb)
{
    int best = 0, least = 1 << 30;
    for (int i = 0; i < p->n; i++) {
        int far = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            int d = (int)(rgb >> shift & 255) - (int)(p->colour[i] >> shift & 255);
            far += d * d;
        }
        if (far < least) least = far, best = i;
    }
    return best;
}

/* The index of a colour, which is added to the palette while there is room. */
static int index_of(struct palette *p, uint32_t rgb)
{
    for (int i = 0; i < p->n; i++)
        if (p->colour[i] == rgb) return i;
    if (p->n == COLOURS) return nearest(p, rgb);
    for (int k = 0; k < 3; k++) p->rgb[3 * p->n + k] = (unsigned char)(rgb >> (16 - 8 * k));
    p->colour[p->n] = rgb;
    return p->n++;
}

static void fill_indices(const struct image *im, struct palette *p, unsigned char *index)
{
    uint32_t was = 0;
    int at = CLEAR_INDEX;
    for (int i = 0; i < im->w * im->h; i++) {
        uint32_t rgb = im->pixel[i];
        if (i == 0 || rgb != was) at = rgb == (uint32_t)CLEAR_PIXEL ? CLEAR_INDEX : index_of(p, rgb);
        index[i] = (unsigned char)at;
        was = rgb;
    }
}

/* ---- bytes ---- */

static bool add_bytes(struct image *im, const char *data, int size)
{
    char *more = mem_resize(im->bytes, im->n + size, 1, "a picture", NULL);
    if (!more) return false;
    memcpy(more + im->n, data, (size_t)size);
    im->bytes = more;
    im->n += size;
    return true;
}

/* libsixel 1.10 leaves out column k of every line if colour k is transparent, so no colour is. Instead, clear pixels
   have an index beyond the palette, which libsixel does not draw, and the introducer is replaced by one that keeps the
   background of such pixels. */
static int take_bytes(char *data, int size, void *user)
{
    static const char plain[] = "\033Pq", keeps[] = "\033P0;1q";
    struct image *im = user;
    int skip = im->n == 0 && !strncmp(data, plain, strlen(plain)) ? (int)strlen(plain) : 0;
    bool ok = (!skip || add_bytes(im, keeps, (int)strlen(keeps))) && add_bytes(im, data + skip, size - skip);
    return ok ? size : -1;
}

static bool encode_indices(struct image *im, struct palette *p, unsigned char *index)
{
    void *output = NULL, *dither = NULL;
    bool ok = output_new(&output, take_bytes, im, NULL) < SIXEL_FALSE &&
              dither_new(&dither, p->n ? p->n : 1, NULL) < SIXEL_FALSE;
    if (ok) {
        set_palette(dither, p->rgb);
        set_pixelformat(dither, SIXEL_PAL8);
        ok = encode(index, im->w, im->h, DEPTH, dither, output) < SIXEL_FALSE;
    }
    if (dither) dither_unref(dither);
    if (output) output_unref(output);
    return ok;
}

bool sixel_encode_image(struct image *im, struct err *e)
{
    static struct shared_library library = {.package = "libsixel1", .functions = functions};
    library.file = sixel_library_name;
    if (!shared_load(&library, "a sixel picture", e)) return false;
    struct palette p = {.n = 0};
    unsigned char *index = mem_new((int64_t)im->w * im->h, 1, "a picture", e);
    if (!index) return false;
    fill_indices(im, &p, index);
    bool ok = encode_indices(im, &p, index) || fail(e, E_MEMORY, "libsixel could not encode the picture");
    mem_free(index);
    return ok;
}
