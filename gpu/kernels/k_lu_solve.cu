/* After the factorisation: forward and back substitution, and the largest elements of U. */
#include "lu_kernels.h"

namespace KERNEL_SPACE
{

enum { LU_UNKNOWNS = 32 }; /* unknowns per launch */

/* Unknowns [first, first+w): the first warp of each block computes them, lane by lane; then all threads subtract
   their contribution from the remaining rows, one row per thread. Only the first block stores the unknowns. */
template <typename T, bool UPPER>
__global__ void lu_substitute(int64_t n, int64_t first, int w, GPTR(const T) a, GPTR(T) b, GPTR(T) x)
{
    SHARED(T, found, LU_UNKNOWNS);
    int me = threadIdx.x;
    int64_t at = first * n + first;
    if (me < WARP) {
        T v = me < w ? b[first + me] : (T)0;
        for (int s = 0; s < w; s++) {
            int k = UPPER ? w - 1 - s : s;
            if (UPPER && me == k) v /= a[at + k * n + k];
            T known = __shfl_sync(FULL_MASK, v, k);
            if (me < w && (UPPER ? me < k : me > k)) v -= a[at + k * n + me] * known;
        }
        if (me < w) found[me] = v;
        if (me < w && blockIdx.x == 0) x[first + me] = v;
    }
    __syncthreads(); /* all threads of the block: the unknowns are in shared memory */
    int64_t i = (int64_t)blockIdx.x * LU_BLOCK + me + (UPPER ? 0 : first + w);
    if (i >= (UPPER ? first : n)) return;
    T sum = b[i];
#pragma unroll 8
    for (int k = 0; k < w; k++) sum -= a[(first + k) * n + i] * found[k];
    b[i] = sum;
}

/* One block per column finds the largest element of U in the column, and the diagonal element. */
template <typename T> __global__ void lu_measure(int64_t n, GPTR(const T) a, GPTR(double) out)
{
    SHARED(lu_size<T>, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    int64_t j = blockIdx.x;
    lu_size<T> best = 0;
    int at = 0;
    for (int64_t i = threadIdx.x; i <= j; i += LU_BLOCK) lu_larger(best, at, lu_abs<T>(a[j * n + i]), 0);
    lu_block_argmax(best, at, high, where);
    if (threadIdx.x != 0) return;
    out[j] = (double)best;
    out[n + j] = lu_diagonal<T>(a[j * n + j]);
}

/* ---- the launches ---- */

#define UNKNOWNS(name, p) VECTOR(name, ROLE_WORK, p, n, T)

/* Solve L y = b and store y in `room`; then solve U x = y and store x in b. */
template <typename T> void lu_launch_solve(struct device *d, struct lu_at A, void *b, void *room)
{
    int64_t n = A.n, last = (n - 1) / LU_UNKNOWNS * LU_UNKNOWNS;
    for (int64_t k = 0; k < n; k += LU_UNKNOWNS) {
        int w = (int)(n - k < LU_UNKNOWNS ? n - k : +LU_UNKNOWNS);
        unsigned blocks = blocks_for(n - k - w, LU_BLOCK);
        LAUNCH(d, blocks ? blocks : 1, LU_BLOCK, lu_substitute<T, false>)
        (n, k, w, READ_MATRIX(A), UNKNOWNS("b", b), UNKNOWNS("y", room));
    }
    for (int64_t k = last; k >= 0; k -= LU_UNKNOWNS) {
        int w = (int)(n - k < LU_UNKNOWNS ? n - k : +LU_UNKNOWNS);
        unsigned blocks = blocks_for(k, LU_BLOCK);
        LAUNCH(d, blocks ? blocks : 1, LU_BLOCK, lu_substitute<T, true>)
        (n, k, w, READ_MATRIX(A), UNKNOWNS("y", room), UNKNOWNS("x", b));
    }
}

template <typename T> void lu_launch_measure(struct device *d, struct lu_at A, double *out)
{
    LAUNCH(d, (unsigned)A.n, LU_BLOCK, lu_measure<T>)
    (A.n, READ_MATRIX(A), VECTOR("out", ROLE_WORK, out, 2 * A.n, double));
}

INSTANTIATE(lu_launch_solve, struct device *, struct lu_at, void *, void *);
INSTANTIATE(lu_launch_measure, struct device *, struct lu_at, double *);

} // namespace KERNEL_SPACE
