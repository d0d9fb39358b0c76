/* The division of a vector among thread blocks whose sums the host adds. */
#include "sum_tree.h"

struct sum_tree sum_tree_of(int64_t n)
{
    struct sum_tree t = {.threads = SUM_THREADS_MIN};
    while (t.threads < SUM_THREADS_MAX && n > (int64_t)t.threads * SUM_BLOCKS) t.threads *= 2;
    t.each = (n + SUM_BLOCKS - 1) / SUM_BLOCKS;
    if (t.each < t.threads) t.each = t.threads;
    t.blocks = n > 0 ? (int)((n + t.each - 1) / t.each) : 1;
    return t;
}
