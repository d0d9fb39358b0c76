/* The loop over diagonals as the papers print it, for the kernels whose names end in -paper. */
#ifndef DIAGONALS_PAPER_H
#define DIAGONALS_PAPER_H

#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

/* The sum of value * x over the n diagonals of a row, one diagonal after another: its offset, its value at
   data[d * height], then x. The next diagonal's loads wait until this product is added. For columns outside the matrix,
   the value is read, but x is not. Threads with neighbouring rows read the same offset, neighbouring values and
   neighbouring elements of x. */
template <typename T>
__device__ T diagonals_one_by_one(unsigned row, unsigned cols, int n, GPTR(const int) offsets, GPTR(const T) data,
                                  int64_t height, GPTR(const T) x)
{
    T sum = 0;
    UNROLL(1)
    for (int d = 0; d < n; d++) {
        unsigned column = row + (unsigned)offsets[d]; /* left of column 0: at least 2^31 */
        T value = data[d * height];
        if (column < cols) sum += value * x[column];
        reconverge();
    }
    return sum;
}

/* y = alpha A x + beta y of a DIA matrix; also for HDC, whose first two arrays are those of a DIA matrix. */
template <typename T> void launch_dia_paper(const struct launch *L);

} // namespace KERNEL_SPACE

#endif
