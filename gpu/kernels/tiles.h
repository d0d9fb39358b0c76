/* Going along the rows of a CSR matrix, or of two at once, in tiles of equal work however long a row is: where tiles
   begin, and which row each entry of one belongs to. */
#ifndef TILES_H
#define TILES_H

#include "gpu/dialect.h"

#include "machine/tools.h"

namespace KERNEL_SPACE
{

/* A tile is so many steps along the rows: each entry is one, and the end of each row. */
enum { TILE_BLOCK = 256, TILE_EACH = TILE / TILE_BLOCK, TILE_WARPS = TILE_BLOCK / WARP };

/* Tiles of so many steps; there is always one. */
static inline int64_t tiles_for(int64_t steps)
{
    return steps / TILE + 1;
}

/* ---- cutting ---- */

/* How many of the first `step` entries of the two lists a[0..na-1] and b[0..nb-1], merged, a's first among equals, are
   a's. */
template <typename A, typename B> __device__ int64_t of_first(A a, int64_t na, B b, int64_t nb, int64_t step)
{
    int64_t low = step > nb ? step - nb : 0, high = step < na ? step : na;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (a[mid] <= b[step - 1 - mid])
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Thread b: where tile b begins, as the row and how many entries of A come before. Of two matrices, with BOTH. */
template <bool BOTH>
__global__ void tile_cut(int64_t rows, int64_t steps, int64_t tiles, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const int) tptr, GPTR(const int) tcol, GPTR(int) cut)
{
    int64_t b = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x, low = 0, high = rows;
    if (b > tiles) return;
    int64_t step = min(b * TILE, steps);
    while (low < high) {
        int64_t mid = (low + high + 1) / 2;
        int64_t before = mid + ptr[mid] + (BOTH ? tptr[mid] : 0);
        if (before <= step)
            low = mid;
        else
            high = mid - 1;
    }
    int64_t from = ptr[low], tfrom = BOTH ? tptr[low] : 0, within = step - low - from - tfrom;
    if (BOTH && low < rows)
        within = of_first(col + from, ptr[low + 1] - from, tcol + tfrom, tptr[low + 1] - tfrom, within);
    cut[2 * b] = (int)low;
    cut[2 * b + 1] = (int)(from + within);
}

/* A tile's rows, the last perhaps only in part, and its entries of A and, where it has two, of the transpose. */
struct row_tile {
    int64_t row, from, tfrom;
    int rows, n, tn; /* how far it goes from there */
};

template <bool BOTH, typename P> __device__ row_tile tile_of(int64_t steps, P cut)
{
    int64_t b = blockIdx.x, first = b * TILE, end = min(first + TILE, steps);
    int row = cut[2 * b], from = cut[2 * b + 1], row_end = cut[2 * b + 2], to = cut[2 * b + 3];
    int64_t tfrom = BOTH ? first - row - from : 0, tto = BOTH ? end - row_end - to : 0;
    return {row, from, tfrom, row_end - row, to - from, (int)(tto - tfrom)};
}

/* The last i of 0 .. rows with start[i] <= step; start[0] is. */
template <typename S> __device__ int row_at(S start, int rows, int step)
{
    int low = 0, high = rows;
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (start[mid] <= step)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* row_of[k] = the row, from the tile's first, of its entry k. A thread walks TILE_EACH steps; all of the block. */
template <typename P, typename S> __device__ void rows_of(row_tile t, P ptr, S start, S row_of)
{
    for (int i = threadIdx.x; i <= t.rows; i += TILE_BLOCK) start[i] = (int)(i + (ptr[t.row + i] - t.from));
    __syncthreads(); /* all of the block: start is complete */
    int step = (int)threadIdx.x * TILE_EACH, end = min(step + TILE_EACH, t.rows + t.n);
    if (step < end) {
        int i = row_at(start, t.rows, step);
        for (; step < end; step++) {
            if (i < t.rows && step + 1 == start[i + 1])
                i++;
            else
                row_of[step - i] = i;
        }
    }
    __syncthreads(); /* all of the block: row_of is complete */
}

/* The sum of v over the threads before this one; *all: over the block. All of the block; part: TILE_WARPS slots. */
template <typename S> __device__ int sum_before(int v, S part, int *all)
{
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP), sum = v;
    for (int d = 1; d < WARP; d *= 2) {
        int other = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == WARP - 1) part[warp] = sum;
    __syncthreads(); /* all of the block: part is complete */
    int ahead = 0, whole = 0;
    for (int w = 0; w < TILE_WARPS; w++) {
        if (w < warp) ahead += part[w];
        whole += part[w];
    }
    *all = whole;
    return ahead + sum - v;
}

/* Of n keys in order, row << 32 | column, the columns, and where the rows 0 .. rows begin. */
void launch_unpack(struct device *d, const uint64_t *key, int64_t n, int64_t rows, int *ptr, int *low);

} // namespace KERNEL_SPACE

#endif
