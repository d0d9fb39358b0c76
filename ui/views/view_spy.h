/* What the files of the spy view share. */
#ifndef VIEW_SPY_H
#define VIEW_SPY_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/view.h"
#include "matrix/density.h"
#include "matrix/window.h"

struct csr;

/* Counts of the visible cells, kept so that moving a cursor counts nothing again. On a whole screen those of a large
   matrix are guessed first and counted while no key comes: in `counting`, or from sums for pictures of any part. */
struct grid {
    struct window win;
    int h, w;
    uint32_t *n;
    bool guessed;
    uint32_t *counting;  /* NULL: not started */
    struct density rest; /* of the counting */
    struct sums sums;
    bool no_room; /* for what would make it exact */
};

struct spy_state {
    struct grid grid;
    int drawn_w, drawn_h; /* room of the picture as drawn last */
    bool drawn_ascii;
};

enum { VALUE_WIDTH = 8, COMPLEX_WIDTH = 16, BLOCK_WIDTH = 2, THINNEST = 16, ZOOMED_LEAST = 2, SIGNS = 9 };
/* Beside the picture: its frame and the title; above 7 lines one is for the legend. */
enum { LEAST_WIDTH = 10, LEAST_HEIGHT = 6 };
enum { QUICK = 1 << 20 }; /* entries that are counted before a frame is missed */

/* One direction of the picture: n elements from `from`, counted in `cells` cells, each `repeat` dots long. Cell k
   begins at element ceil(k * span / cells); span may pass n, so that every cell but the last is as long as the others.
 */
struct axis {
    int64_t from, n, span, each; /* each: elements in a cell where all hold as many, else 0; spares divisions */
    int cells, repeat;
};

struct picture {
    struct axis down, across;
    int dx, dy;  /* dots in a character: 2 x 4 of braille, or 1 x 1 */
    bool values; /* elements are written as numbers, `value` characters wide */
    int value;
    bool exact;     /* a cell is one element at most */
    int x, y, w, h; /* where it is on the canvas, without its frame */
};

/* ---- view_spy_fit.c ---- */

/* The first element of cell k. */
int64_t spy_cell_begin(const struct axis *a, int64_t k);
/* The cell of element i. */
int spy_cell_of(const struct axis *a, int64_t i);
/* The element at which character k of the picture begins; `dots` to a character. */
int64_t spy_element_at(const struct axis *a, int dots, int k);
/* The character of element i. */
int spy_character_of(const struct axis *a, int dots, int64_t i);
/* Choose how to draw a window in w x h characters: as values, as blocks, or as dots. */
struct picture spy_picture(const struct csr *A, const struct sums *sums, struct window win, int w, int h, bool ascii,
                           int value);
/* Show part of a matrix as wide and high as the screen is; where values fit, as many as fit. */
void spy_fill_screen(struct window *win, const struct csr *A, int w, int h, bool ascii, int value);

/* ---- view_spy_count.c ---- */

void spy_grid_free(struct grid *g);
/* Make the counts that the picture needs. */
bool spy_count(struct view_state *st, const struct csr *A, const struct picture *p, struct err *e);
/* A slice of the counting that is left. */
enum work spy_work(struct session *s, struct view_state *st);
/* Begin the sums of a large matrix that can be zoomed. */
void spy_want_sums(struct grid *g, const struct csr *A, bool full);

/* ---- view_spy_draw.c ---- */

void spy_draw_picture(struct canvas *c, const struct session *s, struct view_state *st, const struct picture *p);

#endif
