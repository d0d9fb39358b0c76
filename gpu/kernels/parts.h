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

/* The sum of val * x over all slots of a row of an ELL part, padding included. Padding has value 0 and column -1; the
   column is taken as 0, so that the product reads x[0], which exists: an infinite or NaN x[0] makes the sum NaN. */
template <typename T>
__device__ T padded_row(unsigned row, unsigned rows, int64_t slots, GPTR(const int) col, GPTR(const T) val,
                        GPTR(const T) x)
{
    T sum = 0;
    UNROLL(1)
    for (int64_t k = row; k < slots; k += rows) {
        int c = col[k];
        sum += val[k] * x[c < 0 ? 0 : c];
    }
    return sum;
}

/* The slots of an ELL part to multiply with padding: none if x is empty, because all slots are then padding. */
static inline int64_t padded_slots(const struct stored *S, int val)
{
    return S->cols ? S->a[val].n : 0;
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
/* The same in a fixed order. The kernel's scratch memory has coo_ordered_bytes and begins at L->scratch; its prepare
   calls coo_ordered_prepare. */
template <typename T> void launch_coo_ordered(const struct launch *L, struct coo_part p);
int64_t coo_ordered_bytes(const struct stored *S, struct coo_part p);
void coo_ordered_prepare(const struct launch *L, struct coo_part p);

#ifndef __CUDACC__
/* The host versions of the three functions above. The order in which a row is summed does not depend on the number of
   threads. */
template <typename T> void host_scale(const struct launch *L, int threads);
template <typename T> void host_ell(const struct launch *L, struct ell_part p, int threads);
template <typename T> void host_coo(const struct launch *L, struct coo_part p, int threads);
#endif

} // namespace KERNEL_SPACE

#endif
