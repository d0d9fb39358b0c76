/* Building blocks that the kernels of several formats share: sums by row within a warp, the scaling of y, and the
   products with an ELL part and with a COO part (HYB uses all of them). */
#ifndef PARTS_H
#define PARTS_H

#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

/* A segmented inclusive scan: the sum over this lane and the lanes before it that hold the same row. Lanes with the
   same row must be neighbours. Participants: the whole warp. */
template <typename T> __device__ T scan_by_row(int lane, int row, T sum)
{
    for (int d = 1; d < WARP; d *= 2) {
        int other = __shfl_up_sync(FULL_MASK, row, d);
        T below = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane >= d && other == row) sum += below;
    }
    return sum;
}

/* The arrays of a part, as indices into the matrix's list of arrays. */
struct ell_part {
    int col, val;
};
struct coo_part {
    int row, col, val;
};

/* y = beta y; if beta is 0, y = 0 even if it held NaN. */
template <typename T> void launch_scale(const struct launch *L);
/* y = alpha A x + beta y */
template <typename T> void launch_ell(const struct launch *L, struct ell_part p);
/* y += alpha A x; the order of the additions is not fixed */
template <typename T> void launch_coo(const struct launch *L, struct coo_part p);

#ifndef __CUDACC__
/* The host versions of the three functions above. The order in which a row is summed does not depend on the number of
   threads. */
template <typename T> void host_scale(const struct launch *L, int threads);
template <typename T> void host_ell(const struct launch *L, struct ell_part p, int threads);
template <typename T> void host_coo(const struct launch *L, struct coo_part p, int threads);
#endif

} // namespace KERNEL_SPACE

#endif
