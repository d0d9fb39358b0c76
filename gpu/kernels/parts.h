/* Parts that several formats' kernels are made of: sums by row within a warp; scaling y, an ELL part, a COO part, of
   which HYB has all three. */
#ifndef PARTS_H
#define PARTS_H

#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

/* Sums over the lanes up to the caller's of neighbours in the same row. Participants: the whole warp. */
template <typename T> __device__ T scan_by_row(int lane, int row, T sum)
{
    for (int d = 1; d < WARP; d *= 2) {
        int other = __shfl_up_sync(FULL_MASK, row, d);
        T below = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane >= d && other == row) sum += below;
    }
    return sum;
}

/* Which arrays of the launched matrix a part is made of. */
struct ell_part {
    int col, val;
};
struct coo_part {
    int row, col, val;
};

/* y = beta y; where beta is 0, y = 0 whatever it held. */
template <typename T> void launch_scale(const struct launch *L);
/* y = alpha A x + beta y */
template <typename T> void launch_ell(const struct launch *L, struct ell_part p);
/* y += alpha A x, in no fixed order */
template <typename T> void launch_coo(const struct launch *L, struct coo_part p);

#ifndef __CUDACC__
/* The same on the host; every row is added up in its own order, whatever the number of threads. */
template <typename T> void host_scale(const struct launch *L, int threads);
template <typename T> void host_ell(const struct launch *L, struct ell_part p, int threads);
template <typename T> void host_coo(const struct launch *L, struct coo_part p, int threads);
#endif

} // namespace KERNEL_SPACE

#endif
