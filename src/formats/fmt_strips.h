/* Column strips: the table entry, the arrays, and the sizes. */
#ifndef FMT_STRIPS_H
#define FMT_STRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_strips;

enum {
    STRIPS_PTR,
    STRIPS_COL,
    STRIPS_VAL,
    STRIPS_ENDS,
    STRIPS_BEFORE,
    STRIPS_ROW,
    STRIPS_GROUP,
    STRIPS_RUN
}; /* param 0: columns per strip */
enum {
    STRIPS_CHUNK = 128,          /* entries that a warp multiplies at a time */
    STRIPS_WORDS = 4,            /* words of 32 end bits per chunk, and entries per lane */
    STRIPS_GROUP_ROWS = 32,      /* rows whose partial sums a warp adds */
    STRIPS_X_BYTES = 192 * 1024, /* shared memory for the elements of x of a strip, unless the user asks for more */
    STRIPS_X_MAX = 224 * 1024    /* a block may have 227 KB, but then 28 KB of L1 cache are left for loads */
};

/* The partial sums of a matrix, as a plan or a packer counts them. */
struct strips_count {
    int64_t chunks, sums, runs;
};

int64_t strips_width_most(enum precision real); /* the columns of the widest strip */
/* Resolve the width of the strips. Fails if the width is too large for the type of the values. */
bool strips_width(struct stored *S, struct err *e);
/* S has the final width. */
void strips_sizes(struct stored *S, const struct strips_count *n);
/* The number of strips. */
int64_t strips_number(const struct stored *S);
/* The slot of entry i of the matrix in strip order, where the entries of each chunk lie transposed: lane l of a warp
   multiplies the entries 4l .. 4l+3 of a chunk, and reads entry 4l + k at slot 32k + l. */
static inline int64_t strips_slot(int64_t i)
{
    int64_t at = i % STRIPS_CHUNK;
    return i - at + at % STRIPS_WORDS * (STRIPS_CHUNK / STRIPS_WORDS) + at / STRIPS_WORDS;
}

C_END
#endif
