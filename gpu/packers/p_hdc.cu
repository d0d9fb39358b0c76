/* CSR to HDC on a device: counts the entries per diagonal, numbers the diagonals that are full enough, and writes all
   other entries in their original order. */
#include "formats/fmt_hdc.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* One thread per entry of a tile: count entries per diagonal. No lane returns early, because count_keys needs the
   whole warp. */
__global__ void hdc_count(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, int64_t rows,
                          GPTR(unsigned long long) at)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int base = 0; base < t.n; base += TILE_BLOCK) {
        int k = base + (int)threadIdx.x;
        count_keys(at, k < t.n ? col[t.from + k] - (t.row + row_of[k]) + rows : -1);
    }
}

/* Thread d: replace the count of diagonal d by 1 if the diagonal is stored whole, else by 0. */
__global__ void hdc_choose(int64_t span, int64_t least, GPTR(int64_t) at)
{
    int64_t d = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (d < span) at[d] = at[d] > 0 && at[d] >= least;
}

/* One thread per entry of a tile: rest[k] = 1 if entry k is on no stored diagonal. */
__global__ void hdc_mark(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, int64_t rows,
                         GPTR(const int64_t) at, GPTR(int64_t) rest)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t d = col[t.from + k] - (t.row + row_of[k]) + rows;
        rest[t.from + k] = at[d + 1] == at[d];
    }
}

/* One thread per entry of a tile: write the entry to its diagonal, or else to the compressed rows at the prefix sum
   rest[k]. */
template <typename T>
__global__ void hdc_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const T) val, int64_t rows, GPTR(const int64_t) at, GPTR(const int64_t) rest,
                         GPTR(T) data, GPTR(int) out_col, GPTR(T) out_val)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t here = t.from + k, row = t.row + row_of[k], d = col[here] - row + rows;
        if (at[d + 1] > at[d]) {
            data[at[d] * rows + row] = val[here];
            continue;
        }
        out_col[rest[here]] = col[here];
        out_val[rest[here]] = val[here];
    }
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t span = p->rows + p->cols, diagonals = 0, rest = 0;
    if (!cut_rows(p, e) || !packing_room(p, ROOM_AT, span + 1, sizeof(int64_t), e) ||
        !packing_room(p, ROOM_MORE, p->nnz + 1, sizeof(int64_t), e))
        return false;
    launch_zero<int64_t>(p->dev, p->room[ROOM_AT].p, span + 1);
    LAUNCH_TILES(p, hdc_count)(PACK_TILES(p), p->rows, PACK_ROOM(p, ROOM_AT, span + 1, unsigned long long));
    LAUNCH(p->dev, blocks_for(span, PACK_BLOCK), PACK_BLOCK, hdc_choose)
    (span, hdc_least(&p->S), PACK_ROOM(p, ROOM_AT, span + 1, int64_t));
    if (!packing_exclusive_scan(p, ROOM_AT, span, &diagonals, e)) return false;
    LAUNCH_TILES(p, hdc_mark)
    (PACK_TILES(p), p->rows, PACK_ROOM(p, ROOM_AT, span + 1, const int64_t),
     PACK_ROOM(p, ROOM_MORE, p->nnz + 1, int64_t));
    if (!packing_exclusive_scan(p, ROOM_MORE, p->nnz, &rest, e)) return false;
    hdc_sizes(&p->S, diagonals, rest);
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    auto at = PACK_ROOM(p, ROOM_AT, p->rows + p->cols + 1, const int64_t);
    (void)e;
    launch_offsets(p, HDC_OFFSETS);
    launch_zero<T>(p->dev, p->out[HDC_DATA], p->S.a[HDC_DATA].n);
    launch_band_starts(p, ROOM_MORE, p->rows, 1, p->out[HDC_PTR]);
    LAUNCH_TILES(p, hdc_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), p->rows, at, PACK_ROOM(p, ROOM_MORE, p->nnz + 1, const int64_t),
     PACK_OUT(p, HDC_DATA, T), PACK_OUT(p, HDC_COL, int), PACK_OUT(p, HDC_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(hdc) = {
    .format = &format_hdc,
    .about =
        "warps count entries per diagonal; one prefix sum numbers the diagonals, another numbers the other entries",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
