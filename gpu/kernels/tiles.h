/* Splits the rows of a CSR matrix, or of a matrix and its transpose together, into tiles of equal work, whatever the
   row lengths. The functions compute the start of each tile and the row of each entry of a tile. */
#ifndef TILES_H
#define TILES_H

#include "gpu/dialect.h"

#include "machine/tools.h"

namespace KERNEL_SPACE
{

/* A tile is TILE steps along the rows: one step per entry and one per row end. A block has TILE_BLOCK threads, and each
   thread takes TILE_EACH steps. */
enum { TILE_BLOCK = 256, TILE_EACH = TILE / TILE_BLOCK, TILE_WARPS = TILE_BLOCK / WARP };

/* The number of tiles for this many steps; at least one. */
static inline int64_t tiles_for(int64_t steps)
{
    return steps / TILE + 1;
}

/* ---- the start of each tile ---- */

/* Merge two ascending lists a[0..na-1] and b[0..nb-1]; if two elements are equal, the element of a comes first. Returns
   how many of the first `step` elements of the merged list come from a. */
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

/* One tile per thread: writes cut[2 b] = the row in which tile b begins and cut[2 b + 1] = the number of entries of A
   before it. With BOTH, a row has the entries of A and of the transpose (tptr, tcol), merged by column. */
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

/* A tile. The tile may contain only a part of its last row. */
struct row_tile {
    int64_t row;         /* the first row */
    int64_t from, tfrom; /* first entry of the tile in A, and in the transpose */
    int rows;            /* number of rows */
    int n, tn;           /* number of entries of the tile in A, and in the transpose */
};

template <bool BOTH, typename P> __device__ row_tile tile_of(int64_t steps, P cut)
{
    int64_t b = blockIdx.x, first = b * TILE, end = min(first + TILE, steps);
    int row = cut[2 * b], from = cut[2 * b + 1], row_end = cut[2 * b + 2], to = cut[2 * b + 3];
    int64_t tfrom = BOTH ? first - row - from : 0, tto = BOTH ? end - row_end - to : 0;
    return {row, from, tfrom, row_end - row, to - from, (int)(tto - tfrom)};
}

/* The last i in 0 .. rows with start[i] <= step. Requires start[0] <= step. */
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

/* Fills row_of[k] with the row of the tile's entry k, counted from the tile's first row. Each thread walks TILE_EACH
   steps. Participants: all threads of the block. */
template <typename P, typename S> __device__ void rows_of(row_tile t, P ptr, S start, S row_of)
{
    for (int i = threadIdx.x; i <= t.rows; i += TILE_BLOCK) start[i] = (int)(i + (ptr[t.row + i] - t.from));
    __syncthreads(); /* all threads of the block: `start` is complete */
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
    __syncthreads(); /* all threads of the block: `row_of` is complete */
}

/* An exclusive scan over the block: returns the sum of v over the threads before this one, and stores the sum over
   the block in *all. `part` has TILE_WARPS slots. Participants: all threads of the block. */
template <typename S> __device__ int sum_before(int v, S part, int *all)
{
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP), sum = v;
    for (int d = 1; d < WARP; d *= 2) {
        int other = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == WARP - 1) part[warp] = sum;
    __syncthreads(); /* all threads of the block: `part` is complete */
    int warps_before = 0, block_sum = 0;
    for (int w = 0; w < TILE_WARPS; w++) {
        if (w < warp) warps_before += part[w];
        block_sum += part[w];
    }
    *all = block_sum;
    return warps_before + sum - v;
}

/* Unpack n sorted keys (row << 32 | column): write the columns to `low`, and the row pointers 0 .. rows to `ptr`. */
void launch_unpack(struct device *d, const uint64_t *key, int64_t n, int64_t rows, int *ptr, int *low);

} // namespace KERNEL_SPACE

#endif
