/* Declarations shared by the files of the layout view. */
#ifndef VIEW_LAYOUT_H
#define VIEW_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/precision.h"
#include "formats/stored.h"
#include "machine/microscope.h"

struct canvas;

enum { SAMPLE = 1024, LABEL_MIN = 8, LABEL_MAX = 24, LAYOUT_TOP = 2 };

/* Arrays drawn together: as a strip of slots with one line per array, or as grids with one line per matrix row. */
struct block {
    int first, count; /* arrays first .. first+count-1, each with n slots */
    int64_t n, lines;
    bool grid;
    int width;           /* characters per slot */
    int64_t per_line;    /* strip: slots per line; grid: columns of each array */
    int64_t from, shown; /* grid: the columns that fit */
};

/* A search for the slot of an entry that continues while no key comes. */
struct slot_search {
    bool on;
    int first, arrays; /* the first array, and the number of arrays that were searched */
    int64_t at;        /* the next slot */
    int64_t row, col;  /* column -1: any entry of the row */
};

struct layout_state {
    const struct format *format; /* NULL: csr in fp64 */
    enum precision real;
    int64_t param[PARAMS_MAX];
    bool param_set;
    struct product *product; /* set by prepare; owned by the session */
    int array;               /* the array of the chosen slot */
    /* The properties of the product's blocks that depend neither on the screen nor on the cursor; nblocks 0: not yet
       computed. */
    struct block block[ARRAYS_MAX];
    int blocks;
    struct slot_search search;
};

struct page {
    const struct session *s;
    const struct stored *S;
    const struct view_state *st;
    const struct layout_state *own;
    struct block block[ARRAYS_MAX];
    int n;
    int label;               /* columns for the names at the left */
    struct place chosen;     /* the place of the slot under the cursor */
    struct place lit[LANES]; /* the elements that the lanes of the traced warp process */
    int nlit;
};

/* ---- view_layout_page.c ---- */

/* The arrays that the view shows; NULL: none. */
const struct stored *layout_shown(struct session *s, const struct view_state *st);
/* The entry, padding or pointer in slot i of array k. */
struct place layout_slot(const struct stored *S, int k, int64_t i);
/* The text of slot i of array k; p is the place of that slot. */
char *layout_slot_text(const struct stored *S, int k, int64_t i, struct place p, char *out, size_t size);
int64_t layout_chunk_lines(const struct block *b);
int layout_label_width(const struct stored *S);
struct page layout_page(const struct session *s, const struct stored *S, const struct view_state *st, int w);

/* ---- view_layout_find.c ---- */

bool layout_go(struct session *s, struct view_state *st, int64_t row, int64_t col);
enum work layout_work(struct session *s, struct view_state *st);

/* ---- view_layout_draw.c ---- */

/* Draw line `line` of a block at line y of the canvas. */
void layout_draw_line(struct canvas *c, const struct page *g, const struct block *b, int64_t line, int y);

#endif
