/* Sorts rows by window and length, and finds the widths of the slices: steps of the packers for SELL-C-sigma and for
   sliced blocks. */
#include "pack.h"

namespace KERNEL_SPACE
{

/* Thread i: the key of row i is its window in the upper bits and (longest row - its length) in the lower bits; the
   payload is i. */
__global__ void slices_keys(int64_t rows, int64_t sigma, int64_t longest, int bits, GPTR(const int) ptr,
                            GPTR(uint64_t) key, GPTR(int64_t) with)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i >= rows) return;
    key[i] = (uint64_t)(i / sigma) << bits | (uint64_t)(longest - (ptr[i + 1] - ptr[i]));
    with[i] = i;
}

/* One warp per slice: at[s] = `unit` times the length of the longest row of slice s. No lane returns early, because the
   shuffles need the whole warp. */
__global__ void slices_widths(int64_t rows, int64_t C, int64_t slices, int64_t unit, GPTR(const int) ptr,
                              GPTR(const int64_t) sorted, GPTR(int64_t) at)
{
    int64_t s = ((int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x) / WARP;
    int width = 0;
    for (int64_t k = s * C + threadIdx.x % WARP; s < slices && k < min((s + 1) * C, rows); k += WARP)
        width = max(width, ptr[sorted[k] + 1] - ptr[sorted[k]]);
    for (int d = WARP / 2; d > 0; d /= 2) width = max(width, __shfl_down_sync(FULL_MASK, width, d));
    if (s < slices && threadIdx.x % WARP == 0) at[s] = unit * width;
}

enum room order_of(const struct packing *p)
{
    return p->sorted ? ROOM_PAYLOAD2 : ROOM_PAYLOAD;
}

/* With windows of one row, there is nothing to sort. */
bool sort_by_length(struct packing *p, const void *ptr, int64_t rows, int64_t sigma, struct err *e)
{
    int64_t longest = 0;
    if (!longest_between(p, ptr, rows, &longest, e) || !packing_pairs(p, rows, e)) return false;
    int bits = bits_of(longest + 1), windows = bits_of((rows + sigma - 1) / sigma);
    LAUNCH(p->dev, blocks_for(rows, PACK_BLOCK), PACK_BLOCK, slices_keys)
    (rows, sigma, longest, bits, VECTOR("ptr", ROLE_POINTERS, ptr, rows + 1, const int),
     PACK_ROOM(p, ROOM_KEY, rows, uint64_t), PACK_ROOM(p, ROOM_PAYLOAD, rows, int64_t));
    p->sorted = 0;
    return sigma == 1 || packing_sort(p, rows, 0, windows + bits, e);
}

bool sum_widths(struct packing *p, const void *ptr, int64_t rows, int64_t C, int64_t unit, int64_t *sum, struct err *e)
{
    int64_t slices = (rows + C - 1) / C;
    if (!packing_room(p, ROOM_AT, slices + 1, sizeof(int64_t), e)) return false;
    LAUNCH(p->dev, blocks_for(slices * WARP, PACK_BLOCK), PACK_BLOCK, slices_widths)
    (rows, C, slices, unit, VECTOR("ptr", ROLE_POINTERS, ptr, rows + 1, const int),
     PACK_ROOM(p, order_of(p), rows, const int64_t), PACK_ROOM(p, ROOM_AT, slices + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_AT, slices, sum, e);
}

} // namespace KERNEL_SPACE
