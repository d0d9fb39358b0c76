/* What the files of the rows view share. */
#ifndef VIEW_ROWS_H
#define VIEW_ROWS_H

#include "plot.h"
#include "term.h"
#include "view.h"
#include "../src/rows.h"

/* What the key t goes through. */
enum rows_mode { HISTOGRAM, CUMULATIVE, SORTED, WARPS, MODES };

struct rows_state {
    enum rows_mode mode;
    int bins;                   /* asked of the histogram, as drawn last */
    int64_t rank;               /* of the row by length */
    struct row_lengths lengths; /* made by prepare, as are stats and warps */
    struct stats stats;
    struct warps warps;
};

#endif
