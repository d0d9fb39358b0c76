/* The trailing update by our own matrix product, used if no library is available. */
#include "lu_kernels.h"

namespace KERNEL_SPACE
{

/* A block of 16 x 16 threads computes a tile of 64 x 64 elements, and each thread computes 4 x 4 of these elements. The
   block holds 8 columns of L and 8 rows of U at a time in shared memory. */
enum { TILE = 64, TILE_K = 8, THREAD_TILE = 4, TILE_THREADS = TILE / THREAD_TILE };

template <typename T>
__global__ void lu_gemm(int64_t n, int64_t j, int w, int64_t below, int64_t from, int64_t to, GPTR(T) a)
{
    SHARED(T, l, TILE_K * TILE);
    SHARED(T, u, TILE_K * TILE);
    int me = threadIdx.x, x = me % TILE_THREADS, y = me / TILE_THREADS;
    int64_t row = j + w + (int64_t)blockIdx.x * TILE, col = from + (int64_t)blockIdx.y * TILE;
    T sum[THREAD_TILE][THREAD_TILE];
    for (int p = 0; p < THREAD_TILE; p++)
        for (int q = 0; q < THREAD_TILE; q++) sum[p][q] = 0;
    for (int k = 0; k < w; k += TILE_K) {
        for (int t = me; t < TILE_K * TILE; t += TILE_THREADS * TILE_THREADS) {
            int64_t i = row + t % TILE, c = col + t / TILE_K;
            int deep = k + t / TILE, down = k + t % TILE_K;
            l[t] = i < below && deep < w ? a[(j + deep) * n + i] : (T)0;
            u[t % TILE_K * TILE + t / TILE_K] = c < to && down < w ? a[c * n + j + down] : (T)0;
        }
        __syncthreads(); /* all threads of the block: L and U are in shared memory */
        for (int d = 0; d < TILE_K; d++)
            for (int p = 0; p < THREAD_TILE; p++)
                for (int q = 0; q < THREAD_TILE; q++)
                    sum[p][q] += l[d * TILE + x + p * TILE_THREADS] * u[d * TILE + y + q * TILE_THREADS];
        __syncthreads(); /* all threads of the block: L and U have been used */
    }
    for (int q = 0; q < THREAD_TILE; q++)
        for (int p = 0; p < THREAD_TILE; p++) {
            int64_t i = row + x + p * TILE_THREADS, c = col + y + q * TILE_THREADS;
            if (i < below && c < to) a[c * n + i] -= sum[p][q];
        }
}

/* ---- the launches ---- */

template <typename T>
void lu_launch_gemm(struct device *d, struct lu_at A, int64_t j, int w, int64_t below, int64_t from, int64_t to)
{
    if (from >= to || j + w >= below) return;
    LAUNCH(d, dim3(blocks_for(below - j - w, TILE), blocks_for(to - from, TILE)), TILE_THREADS * TILE_THREADS,
           lu_gemm<T>)
    (A.n, j, w, below, from, to, MATRIX(A));
}

INSTANTIATE(lu_launch_gemm, struct device *, struct lu_at, int64_t, int, int64_t, int64_t, int64_t);

} // namespace KERNEL_SPACE
