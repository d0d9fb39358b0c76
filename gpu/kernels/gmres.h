/* Shared by the passes of GMRES(m) in real and in complex arithmetic: the number of partial sums of an inner product.
 */
#ifndef GMRES_H
#define GMRES_H

#include "vec.h"

#include "machine/gmres_ops.h"

namespace KERNEL_SPACE
{

/* The number of blocks for the inner products of vectors of n elements: the work memory has room for the partial sums
   of GM_BLOCKS blocks. */
static inline unsigned gm_blocks(const struct device *d, int64_t n)
{
    unsigned blocks = vec_grid(d, n);
    return blocks < GM_BLOCKS ? blocks : (unsigned)GM_BLOCKS;
}

#ifndef __CUDACC__
namespace host
{

/* The number of segments, for the same reason. */
static inline int gm_pieces(int64_t n)
{
    int pieces = stretches(n);
    return pieces < GM_BLOCKS ? pieces : (int)GM_BLOCKS;
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

#endif
