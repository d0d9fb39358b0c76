/* Steps that several packers share: tiles, the longest row, zeros, pointers. */
#include "formats/format.h"
#include "pack.h"

#include "matrix/csr.h"

namespace KERNEL_SPACE
{

bool plan_by_shape(struct packing *p, struct err *e)
{
    const struct csr sizes = {.rows = p->rows, .cols = p->cols, .nnz = p->nnz};
    return p->S.format->plan(&sizes, &p->S, e);
}

bool cut_rows(struct packing *p, struct err *e)
{
    int64_t steps = p->rows + p->nnz;
    p->tiles = tiles_for(steps);
    if (!packing_room(p, ROOM_CUT, 2 * (p->tiles + 1), sizeof(int), e)) return false;
    LAUNCH(p->dev, blocks_for(p->tiles + 1, TILE_BLOCK), TILE_BLOCK, tile_cut<false>)
    (p->rows, steps, p->tiles, PACK_PTR(p), PACK_COL(p), PACK_PTR(p), PACK_COL(p),
     PACK_ROOM(p, ROOM_CUT, 2 * (p->tiles + 1), int));
    return true;
}

/* ---- the longest row ---- */

/* Threads loop over the rows; each warp does one atomicMax on the common maximum. */
__global__ void pack_longest(int64_t rows, GPTR(const int) ptr, GPTR(int) found)
{
    int longest = 0;
    for (int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x; i < rows; i += (int64_t)gridDim.x * PACK_BLOCK)
        longest = max(longest, ptr[i + 1] - ptr[i]);
    for (int d = WARP / 2; d > 0; d /= 2) longest = max(longest, __shfl_down_sync(FULL_MASK, longest, d));
    if (threadIdx.x % WARP == 0 && longest > 0) atomicMax(found + 0, longest);
}

bool longest_between(struct packing *p, const void *ptr, int64_t rows, int64_t *longest, struct err *e)
{
    enum { BLOCKS = 1024 };
    unsigned blocks = blocks_for(rows, PACK_BLOCK);
    int most = 0;
    if (!packing_room(p, ROOM_FOUND, 2, sizeof(int64_t), e)) return false;
    launch_zero<int>(p->dev, p->room[ROOM_FOUND].p, 1);
    LAUNCH(p->dev, blocks < BLOCKS ? blocks : +BLOCKS, PACK_BLOCK, pack_longest)
    (rows, VECTOR("ptr", ROLE_POINTERS, ptr, rows + 1, const int), PACK_ROOM(p, ROOM_FOUND, 1, int));
    if (!packing_read(p, &most, p->room[ROOM_FOUND].p, sizeof most, e)) return false;
    *longest = most;
    return true;
}

bool longest_of(struct packing *p, int64_t *longest, struct err *e)
{
    return longest_between(p, p->A->ptr[CSR_PTR], p->rows, longest, e);
}

/* ---- zeros and pointers ---- */

template <typename T> __global__ void pack_zero(int64_t n, GPTR(T) to)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < n) to[i] = 0;
}

template <typename T> void launch_zero(struct device *d, void *to, int64_t n)
{
    LAUNCH(d, blocks_for(n, PACK_BLOCK), PACK_BLOCK, pack_zero<T>)(n, VECTOR("zeros", ROLE_WORK, to, n, T));
}

template void launch_zero<int>(struct device *d, void *to, int64_t n);
template void launch_zero<int64_t>(struct device *d, void *to, int64_t n);
template void launch_zero<uint16_t>(struct device *d, void *to, int64_t n);
INSTANTIATE(launch_zero, struct device *d, void *to, int64_t n);

__global__ void pack_pointers(int64_t n, GPTR(const int64_t) at, GPTR(int) ptr)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < n) ptr[i] = (int)at[i];
}

void launch_pointers(struct packing *p, enum room at, int64_t n, void *ptr)
{
    LAUNCH(p->dev, blocks_for(n + 1, PACK_BLOCK), PACK_BLOCK, pack_pointers)
    (n + 1, PACK_ROOM(p, at, n + 1, const int64_t), VECTOR("pointers", ROLE_WORK, ptr, n + 1, int));
}

/* Thread b: start[b] = at[k] for the first entry k of band b. */
__global__ void pack_band_starts(int64_t rows, int64_t bands, int64_t height, GPTR(const int) ptr,
                                 GPTR(const int64_t) at, GPTR(int) start)
{
    int64_t b = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (b <= bands) start[b] = (int)at[ptr[min(b * height, rows)]];
}

void launch_band_starts(struct packing *p, enum room at, int64_t bands, int64_t height, void *start)
{
    LAUNCH(p->dev, blocks_for(bands + 1, PACK_BLOCK), PACK_BLOCK, pack_band_starts)
    (p->rows, bands, height, PACK_PTR(p), PACK_ROOM(p, at, p->nnz + 1, const int64_t),
     VECTOR("starts", ROLE_WORK, start, bands + 1, int));
}

__global__ void pack_copy(int64_t n, GPTR(const int) from, GPTR(int) to)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < n) to[i] = from[i];
}

void launch_copy(struct packing *p, enum room from, int64_t n, void *to)
{
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, pack_copy)
    (n, PACK_ROOM(p, from, n, const int), VECTOR("copy", ROLE_WORK, to, n, int));
}

/* Thread d: the diagonal with offset d - rows has an entry if the prefix sums of the marks increase at d. */
__global__ void pack_offsets(int64_t rows, int64_t span, GPTR(const int64_t) at, GPTR(int) offsets)
{
    int64_t d = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (d < span && at[d + 1] > at[d]) offsets[at[d]] = (int)(d - rows);
}

/* One thread per entry of a tile marks the entry's diagonal. The thread reads the mark first, because most diagonals
   are marked already, reads hit the L1 cache, and writes of many threads to few addresses are slow. */
__global__ void pack_mark(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, int64_t rows,
                          GPTR(int64_t) at)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t d = col[t.from + k] - (t.row + row_of[k]) + rows;
        if (!at[d]) at[d] = 1;
    }
}

bool number_diagonals(struct packing *p, int64_t *diagonals, struct err *e)
{
    int64_t span = p->rows + p->cols;
    if (!cut_rows(p, e) || !packing_room(p, ROOM_AT, span + 1, sizeof(int64_t), e)) return false;
    launch_zero<int64_t>(p->dev, p->room[ROOM_AT].p, span + 1);
    LAUNCH_TILES(p, pack_mark)(PACK_TILES(p), p->rows, PACK_ROOM(p, ROOM_AT, span + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_AT, span, diagonals, e);
}

void launch_offsets(struct packing *p, int k)
{
    int64_t span = p->rows + p->cols;
    LAUNCH(p->dev, blocks_for(span, PACK_BLOCK), PACK_BLOCK, pack_offsets)
    (p->rows, span, PACK_ROOM(p, ROOM_AT, span + 1, const int64_t), PACK_OUT(p, k, int));
}

} // namespace KERNEL_SPACE
