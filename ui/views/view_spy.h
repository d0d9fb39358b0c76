/* Declarations shared by the files of the spy view. */
#ifndef VIEW_SPY_H
#define VIEW_SPY_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix/cell_values.h"
#include "matrix/density.h"
#include "matrix/window.h"
#include "ui/canvas.h"
#include "ui/view.h"

struct csr;
struct matrix;
struct painter;
struct watch;

/* The meaning of the colour of a cell: the share of nonzeros, the signs, the largest |a|, or the parts that own its
   rows (session/parting.h). */
enum spy_by { SPY_COUNT, SPY_SIGN, SPY_MAGNITUDE, SPY_OWNER, SPY_BYS };
/* The marks of an entry by owner: one bit for the colour of its part, or SPY_OUTSIDE if another part owns its column.
 */
enum { SPY_OWNERS = 7, SPY_OUTSIDE = 1 << SPY_OWNERS };

/* The counts of the visible cells, kept so that moving the cursor needs no counting. On the full screen, counts of a
   large matrix are first estimated from a sample, and then computed while no key comes. The exact counts are computed
   in `counting`, or from `sums`, which give the counts of any window. */
struct grid {
    struct window win;
    int h, w;
    uint32_t *n;
    bool shown; /* the spots were made from these counts */
    bool guessed;
    uint32_t *counting;       /* exact counts in progress; NULL: not started */
    struct density uncounted; /* the entries still to be counted */
    struct sums sums;
    bool no_room; /* there is not enough memory for exact counts */
    /* The values in the same cells, if the picture shows them; first from a sample, like the counts. */
    struct cell_values values, surveyed;
    struct survey unseen;
    bool values_guessed;
};

enum { VALUE_WIDTH = 8, COMPLEX_WIDTH = 16, BLOCK_WIDTH = 2, THINNEST = 16, ZOOMED_MIN = 2, SIGNS = 9 };
/* The smallest picture with its frame and title; pictures of 7 or more lines have a legend. */
enum { MIN_WIDTH = 10, MIN_HEIGHT = 6 };
enum { DOTS_MAX = 1 << 20 }; /* a picture with more pixels has one dot per 2 x 2 pixels */
enum { QUICK = 1 << 19 };    /* this many entries can be counted within one frame */

/* One direction of the picture: n elements from `from`, counted in `cells` cells, each `repeat` dots long. Cell k
   begins at element ceil(k * span / cells); span may be larger than n, so that all cells but the last have the same
   length. */
struct axis {
    int64_t from, n, span,
        each; /* each: elements per cell if all cells have the same number of elements, otherwise 0; saves divisions */
    int cells, repeat;
};

/* Dots of a character: 2 x 4 in braille, 1 x 1 in ASCII; on a terminal that shows pixels, one per pixel, or, in a large
   picture, one per 2 x 2 pixels. */
struct dots {
    int x, y;
    bool pixels;
};

struct picture {
    struct axis down, across;
    int dx, dy;  /* number of dots per character */
    bool pixels; /* the dots are shown by a raster, not by characters */
    bool values; /* elements are written as numbers, `value` characters wide */
    int value;
    bool exact;     /* no cell has more than one element */
    int x, y, w, h; /* position on the canvas, without the frame */
};

/* The range of densities or of largest |a| in the picture. A narrow range is widened, so that random variation does not
 * show. */
struct shades {
    double low, high, span;
};

/* One character of the picture: the share of nonzeros among its elements (0: it is blank), the values in its cells, and
   its glyph and colour. */
struct spot {
    double density, largest;
    uint8_t signs; /* signs, or marks by owner; 0: unknown */
    struct cell look;
};

/* The characters of the picture, kept so that a frame that only moves the cursor need not compute them. */
struct spots {
    struct spot *spot; /* of.w * of.h; owned */
    struct picture of;
    enum spy_by by;
    uint8_t *style;  /* if the picture has pixels: the style of each dot, ST_COUNT if it is blank; owned */
    int64_t version; /* no two rasters have the same version */
    bool letters;    /* characters instead of colours show the signs or magnitudes */
    struct shades range;
    unsigned sets; /* which sets of signs occur in the picture: bit 1 << (the set without SIGN_NONE) */
};

struct spy_state {
    enum spy_by by; /* the user's choice */
    struct grid grid;
    struct spots spots;
    int drawn_w, drawn_h; /* size of the picture when it was last drawn, in characters */
    struct dots drawn_dots;
};

/* ---- view_spy_by.c ---- */

/* The names that users type: count, sign, magnitude, owner; terminated by NULL. */
extern const char *const spy_by_names[SPY_BYS + 1];
bool spy_by_find(const char *name, enum spy_by *out);
/* Can the picture show `by` for this matrix? Pattern matrices and complex matrices have no signs; the error gives this
   reason. */
bool spy_by_fits(const struct matrix *m, enum spy_by by, struct err *e);
/* The user's choice, or the count if the choice does not fit the matrix. */
enum spy_by spy_by_of(const struct matrix *m, const struct spy_state *spy);
/* Choose the next colouring that fits the matrix. */
void spy_by_next(const struct matrix *m, struct view_state *st);
/* The set of signs without SIGN_NONE: 0 to 3. */
uint8_t spy_signed(uint8_t signs);
/* The names of sets of signs: "positive", "negative", "mixed" or "none", and a character for each. */
const char *spy_signs_name(uint8_t signs);
char spy_signs_letter(uint8_t signs);
enum style spy_signs_style(uint8_t signs);
/* How marks by owner are shown, and the marks of the entries of a matrix that was divided. */
enum style spy_owners_style(uint8_t marks);
char spy_owners_letter(uint8_t marks);
/* Begins the legend of owners. With more parts than colours, numbers repeat, and the title says so; it stays valid
   until the next call. */
const char *spy_owners_title(const struct matrix *m);
struct cell_marker spy_marker(const struct matrix *m, enum spy_by by);

/* ---- view_spy_fit.c ---- */

/* The first element of cell k. */
int64_t spy_cell_begin(const struct axis *a, int64_t k);
/* The cell of element i. */
int spy_cell_of(const struct axis *a, int64_t i);
/* The first element of character k of the picture. dots: dots per character along this axis. */
int64_t spy_element_at(const struct axis *a, int dots, int k);
/* The character of element i. */
int spy_character_of(const struct axis *a, int dots, int64_t i);
/* Choose how to draw a window in w x h characters: as values, as blocks, or as dots. */
struct picture spy_picture(const struct csr *A, const struct sums *sums, struct window win, int w, int h,
                           struct dots dots, int value);
/* Widen a window of a part of a matrix until it fills the screen. If the elements can be shown as values, show as many
   values as fit. */
void spy_fill_screen(struct window *win, const struct csr *A, int w, int h, struct dots dots, int value);

/* ---- view_spy_count.c ---- */

void spy_grid_free(struct grid *g);
/* Make the counts that the picture needs, and the values unless `by` is SPY_COUNT. */
bool spy_count(struct view_state *st, const struct matrix *m, const struct picture *p, enum spy_by by, struct err *e);
/* Continue the counting for about a millisecond. */
enum work spy_work(struct session *s, struct view_state *st);
/* Start computing the sums of a large matrix if the picture can be zoomed. */
void spy_want_sums(struct grid *g, const struct csr *A, bool full);

/* ---- view_spy_spots.c ---- */

extern const char spy_sign[SIGNS + 1]; /* shows shades without braille or colours */
/* Make the characters of the picture from the counts, unless the characters have been made already. letters: show signs
   and magnitudes by characters, because there are no colours. */
bool spy_make_spots(struct spy_state *spy, const struct picture *p, enum spy_by by, bool letters, struct err *e);
void spy_spots_free(struct spots *o);
/* The step of a density or magnitude, 0 .. steps-1, on a log scale. */
int spy_shade(const struct shades *r, double tone, int steps);

/* ---- view_spy_paint.c ---- */

/* Draw a window of a matrix with title, axes and legend in at most w x h pixels, from (0, 0). A pixel or square shows
   the density, the signs or the largest |a| of its elements; every stored element is visible. */
bool spy_paint(struct painter *p, const struct matrix *m, struct window win, enum spy_by by, int w, int h, bool light,
               struct watch *watch, struct err *e);

/* ---- view_spy_draw.c ---- */

void spy_draw_picture(struct canvas *c, const struct session *s, struct view_state *st, const struct picture *p);

#endif
