/* CSR to HYB on a device: a histogram of row lengths gives the width; one thread per row writes the ELL part, and tiles
   of entries write the overflow. */
#include "formats/fmt_hyb.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* One thread per row: at[n] += 1 for a row of n entries. No lane returns early, because count_keys needs the whole
   warp. */
__global__ void hyb_lengths(int64_t rows, GPTR(const int) ptr, GPTR(unsigned long long) at)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    count_keys(at, i < rows ? ptr[min(i + 1, rows)] - ptr[i] : -1);
}

/* One thread: the largest width w such that at least a third of the rows have w or more entries. at[w]: the number of
   rows shorter than w. */
__global__ void hyb_width(int64_t rows, int64_t longest, GPTR(const int64_t) at, GPTR(int64_t) found)
{
    int64_t low = 0, high = longest;
    while (low < high) {
        int64_t mid = (low + high + 1) / 2;
        if (3 * (rows - at[mid]) >= rows)
            low = mid;
        else
            high = mid - 1;
    }
    found[0] = low;
}

__global__ void hyb_over(int64_t rows, int64_t width, GPTR(const int) ptr, GPTR(int64_t) at)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < rows) at[i] = max(ptr[i + 1] - ptr[i] - width, (int64_t)0);
}

/* One thread per entry of a tile: an entry beyond the width goes to the COO part, after the overflow of earlier rows.
 */
template <typename T>
__global__ void hyb_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const T) val, int64_t width, GPTR(const int64_t) at, GPTR(int) out_row, GPTR(int) out_col,
                         GPTR(T) out_val)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t row = t.row + row_of[k], beyond = t.from + k - ptr[row] - width;
        if (beyond < 0) continue;
        int64_t to = at[row] + beyond;
        out_row[to] = (int)row;
        out_col[to] = col[t.from + k];
        out_val[to] = val[t.from + k];
    }
}

static bool choose_width(struct packing *p, int64_t *width, struct err *e)
{
    int64_t longest = 0;
    *width = 0;
    if (!longest_of(p, &longest, e) || !packing_room(p, ROOM_AT, longest + 2, sizeof(int64_t), e)) return false;
    launch_zero<int64_t>(p->dev, p->room[ROOM_AT].p, longest + 2);
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, hyb_lengths)
    (p->rows, PACK_PTR(p), PACK_ROOM(p, ROOM_AT, longest + 2, unsigned long long));
    if (!packing_exclusive_scan(p, ROOM_AT, longest + 1, NULL, e)) return false;
    LAUNCH(p->dev, 1, 1, hyb_width)
    (p->rows, longest, PACK_ROOM(p, ROOM_AT, longest + 2, const int64_t), PACK_ROOM(p, ROOM_FOUND, 1, int64_t));
    return packing_read(p, width, p->room[ROOM_FOUND].p, sizeof *width, e);
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t over = 0;
    if (p->S.param[0] == 0 && !choose_width(p, &p->S.param[0], e)) return false;
    if (!packing_room(p, ROOM_AT, p->rows + 1, sizeof(int64_t), e)) return false;
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, hyb_over)
    (p->rows, p->S.param[0], PACK_PTR(p), PACK_ROOM(p, ROOM_AT, p->rows + 1, int64_t));
    if (!packing_exclusive_scan(p, ROOM_AT, p->rows, &over, e)) return false;
    hyb_sizes(&p->S, over);
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    launch_ell_pack<T>(p, p->S.param[0], HYB_ELL_COL, HYB_ELL_VAL);
    if (p->S.a[HYB_VAL].n == 0) return true;
    if (!cut_rows(p, e)) return false;
    LAUNCH_TILES(p, hyb_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), p->S.param[0], PACK_ROOM(p, ROOM_AT, p->rows + 1, const int64_t),
     PACK_OUT(p, HYB_ROW, int), PACK_OUT(p, HYB_COL, int), PACK_OUT(p, HYB_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(hyb) = {
    .format = &format_hyb,
    .about =
        "warps count row lengths, and bisection finds the width; threads write rows, then tiles write the overflow",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
