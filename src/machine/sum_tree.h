/* How an inner product or a norm is divided among thread blocks if the host adds the block sums (THESIS 3.3.2, figure
   3.4). */
#ifndef SUM_TREE_H
#define SUM_TREE_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

enum { SUM_BLOCKS = 512, SUM_THREADS_MIN = 128, SUM_THREADS_MAX = 512 };

/* Block k reduces the elements k * each .. (k + 1) * each - 1. */
struct sum_tree {
    int threads, blocks;
    int64_t each;
};

/* The division of a vector of n elements. There are at most SUM_BLOCKS blocks. From 512 * 512 elements on, 512 blocks
   of 512 threads reduce more than one element per thread [THESIS]. A shorter vector has one element per thread, and
   the blocks have 128, 256 or 512 threads: as few as SUM_BLOCKS blocks allow [ours; the text gives 128 as an example,
   and the figure's other numbers are not in the text]. */
struct sum_tree sum_tree_of(int64_t n);

C_END
#endif
