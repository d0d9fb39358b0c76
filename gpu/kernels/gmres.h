/* Shared by the kernels of GMRES(m): the work memory, the rotations of a column, the number of partial sums of an inner
   product. T is the type of an element, and W = wide<T>, double or cplx<double>, that of the work memory. */
#ifndef GMRES_H
#define GMRES_H

#include "wide.h"

#include "machine/gmres_work.h"
#include "machine/vector_pitch.h"

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
    return 8 * (sizeof(part_of<T>) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON);
}

/* The rotation that turns the end of a column, (a, sqrt(left)), to (diagonal, 0). In complex arithmetic, c is real, and
   the diagonal keeps the phase of a. length: sqrt(|a|^2 + left). */
template <typename W> struct gm_rotation {
    W diagonal, c, s;
};

static __device__ double gm_length(double a, double left)
{
    return sqrt(a * a + left);
}
static __device__ double gm_length(cplx<double> a, double left)
{
    double size = sqrt(vec_square(a));
    return sqrt(size * size + left);
}

static __device__ gm_rotation<double> gm_rotation_of(double a, double left, double length)
{
    return {length, a / length, sqrt(left) / length};
}
static __device__ gm_rotation<cplx<double>> gm_rotation_of(cplx<double> a, double left, double length)
{
    double size = sqrt(vec_square(a));
    cplx<double> phase = size > 0 ? cplx<double>(a.re / size, a.im / size) : cplx<double>(1);
    return {phase * cplx<double>(length), size / length, phase * cplx<double>(sqrt(left) / length)};
}

/* One thread: col holds the k + 1 inner products of column k; s[S_PQ] is the squared norm of the column's remainder. If
   the remainder is 0, the Krylov space contains the solution, unless R is singular: then the solve ends, and the result
   is false. Otherwise, rr is the square of the new residual. */
template <typename W, typename S, typename G, typename C>
__device__ bool gm_rotate(S s, G g, int64_t g0, C col, C cosine, C sine, int k, double tiny, double &rr)
{
    double left = s[S_PQ], all = left;
    for (int j = 0; j <= k; j++) all += vec_square<>((W)col[j]);
    for (int j = 0; j < k; j++) {
        W a = col[j], b = col[j + 1], c = cosine[j], t = sine[j];
        col[j] = c * a + t * b;
        col[j + 1] = c * b - conjugate(t) * a;
    }
    if (left <= tiny * tiny * all) left = 0;
    W a = col[k], last = g[g0 + k];
    double length = gm_length(a, left);
    if (!(length > tiny * sqrt(all))) {
        s[S_DONE] = length != length ? NOT_A_NUMBER : BROKE_DOWN;
        return false;
    }
    gm_rotation<W> turn = gm_rotation_of(a, left, length);
    W rest = -(conjugate(turn.s) * last);
    col[k] = turn.diagonal;
    cosine[k] = turn.c;
    sine[k] = turn.s;
    g[g0 + k] = turn.c * last;
    g[g0 + k + 1] = rest;
    s[S_COLUMNS] = k + 1;
    s[S_SCALE] = left > 0 ? 1 / sqrt(left) : 0;
    rr = vec_square(rest);
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

/* The inner product of elements from .. end - 1. */
template <typename T> static wide<T> gm_piece(int64_t from, int64_t end, const T *a, const T *b)
{
    double re = 0;
    if constexpr (is_pair<T>) {
        double im = 0;
#pragma omp simd reduction(+ : re, im)
        for (int64_t i = from; i < end; i++) {
            wide<T> product = wide_product<T>(a[i], b[i]);
            re += product.re;
            im += product.im;
        }
        return {re, im};
    } else {
#pragma omp simd reduction(+ : re)
        for (int64_t i = from; i < end; i++) re += (double)a[i] * (double)b[i];
        return re;
    }
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

#endif
