/* Pictures of pixels between the text of a terminal, by sixel or kitty graphics. */
#ifndef PIXELS_H
#define PIXELS_H

#include <stdbool.h>
#include <stdint.h>

#include "split.h"

struct err;
struct figure;
struct painter;

enum pixel_way { PIXELS_OFF, PIXELS_SIXEL, PIXELS_KITTY };
/* The kind of pixels that a terminal can show; a cell has cw x ch pixels. */
struct pixel_terminal {
    enum pixel_way way;
    int cw, ch;
};

/* A picture on the screen. Text in its cells is drawn over the picture. */
struct image {
    struct rect at; /* cells; w 0: there is no picture */
    int id;         /* above 0; no two images on the screen have the same id */
    uint64_t hash;  /* images with the same hash look the same */
    struct pixel_terminal on;
    uint32_t *pixel; /* 0xrrggbb, or CLEAR_PIXEL where the background shows; owned */
    int w, h;        /* in pixels */
    char *bytes;     /* the bytes that the terminal receives at the first cell; owned */
    int64_t n;
};
enum { CLEAR_PIXEL = -1, IMAGES_MAX = 8 };

/* Paint the shapes of f, whose origin is at cell (0, 0) of a pane of w x h cells; im->at becomes the smallest rectangle
   of cells that contains the shapes. Nothing is painted if the image shows the same already. */
bool image_make(struct image *im, const struct figure *f, int w, int h, struct pixel_terminal on, struct err *e);
void image_free(struct image *im);
/* Paint the image at its cells, with as many pixels per cell as the painter has. */
void image_paint(const struct image *im, struct painter *p);

/* ---- sixel.c ---- */

extern const char *sixel_library_name; /* tests set a name that does not exist */
/* Set im->bytes. Fails if libsixel is not installed. */
bool sixel_encode_image(struct image *im, struct err *e);

#endif
