/* Shared by the kernels of GMRES(m): the work memory, the rotations of a column in real arithmetic, the number of
   partial sums of an inner product. */
#ifndef GMRES_H
#define GMRES_H

#include "vec.h"

#include "machine/gmres_ops.h"

namespace KERNEL_SPACE
{

/* The index at which row r of the work space begins, and the index at which the partial sums begin. */
static __device__ int64_t gm_row(int m, int r)
{
    return (int64_t)r * (m + 1);
}

static __device__ int64_t gm_parts(int m)
{
    return GMRES_PARTS(m);
}

/* A remainder counts as 0 if its norm is below this fraction of the norm of its column. */
template <typename T> static double gm_tiny()
{
    return 8 * (sizeof(T) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON);
}

/* One thread: col holds the k + 1 inner products of column k; s[S_PQ] is the squared norm of the column's remainder. If
   the remainder is 0, the Krylov space contains the solution, unless R is singular: then the solve ends, and the result
   is false. Otherwise, rr is the square of the new residual. */
template <typename S, typename G, typename C>
__device__ bool gm_rotate(S s, G g, int64_t g0, C col, C cosine, C sine, int k, double tiny, double &rr)
{
    double left = s[S_PQ], all = left;
    for (int j = 0; j <= k; j++) all += col[j] * col[j];
    for (int j = 0; j < k; j++) {
        double a = col[j], b = col[j + 1];
        col[j] = cosine[j] * a + sine[j] * b;
        col[j + 1] = cosine[j] * b - sine[j] * a;
    }
    if (left <= tiny * tiny * all) left = 0;
    double a = col[k], r = sqrt(a * a + left), last = g[g0 + k];
    if (!(r > tiny * sqrt(all))) {
        s[S_DONE] = r != r ? NOT_A_NUMBER : BROKE_DOWN;
        return false;
    }
    double c = a / r, t = sqrt(left) / r;
    col[k] = r;
    cosine[k] = c;
    sine[k] = t;
    g[g0 + k] = c * last;
    g[g0 + k + 1] = -t * last;
    s[S_COLUMNS] = k + 1;
    s[S_SCALE] = left > 0 ? 1 / sqrt(left) : 0;
    rr = t * last * (t * last);
    return true;
}

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
