/* SC-CSR: the table entry, the arrays, and the layout of the segments. */
#ifndef FMT_SCCSR_H
#define FMT_SCCSR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_sccsr;

enum { SCCSR_LENGTH, SCCSR_ROW_INDEX, SCCSR_VAL, SCCSR_COL_IND, SCCSR_ROW_PTR, SCCSR_SEGMENT }; /* param 0: nw */
enum { SCCSR_SEGMENTS = 4 }; /* as in the paper; in segment g, an SC-row consists of 32 >> g rows */

struct sccsr_segment {
    int64_t c;     /* rows folded into one SC-row */
    int64_t rows;  /* number of rows in the segment */
    int64_t first; /* position of the segment's first row in sorted order */
    int64_t n;     /* number of SC-rows in the segment */
    int64_t sc;    /* index of the segment's first SC-row */
    int64_t place; /* position of the segment's first row in row_index */
};
struct sccsr_layout {
    struct sccsr_segment segment[SCCSR_SEGMENTS];
    int64_t places; /* number of rows including fillers */
    int64_t n;      /* number of SC-rows */
};
/* On entry, rows[] contains the number of rows that each segment gets if rows are assigned to segments by length alone.
   Segments that are too small are then merged into the next segment, and rows[] receives the new numbers. */
void sccsr_lay(int64_t rows[SCCSR_SEGMENTS], int64_t nw, struct sccsr_layout *L);
/* slots: total number over all segments */
bool sccsr_sizes(struct stored *S, const struct sccsr_layout *L, int64_t slots, struct err *e);

C_END
#endif
