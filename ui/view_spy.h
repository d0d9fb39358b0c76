/* What the files of the spy view share. */
#ifndef VIEW_SPY_H
#define VIEW_SPY_H

#include "draw.h"
#include "term.h"
#include "view.h"
#include "../src/density.h"

/* Counts of the visible cells, kept so that moving a cursor counts nothing again. On a whole screen those of a large
   matrix are guessed first and counted while no key comes: in `counting`, or from sums for pictures of any part. */
struct grid {
    struct window win;
    int h, w;
    uint32_t *n;
    bool guessed;
    uint32_t *counting;  /* NULL: not begun */
    struct density rest; /* of the counting */
    struct sums sums;
    bool no_room; /* for what would make it exact */
};

struct spy_state {
    struct grid grid;
    int drawn_w, drawn_h; /* room of the picture as drawn last, and its letters */
    bool drawn_ascii;
};

#endif
