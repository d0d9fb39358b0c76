/* CSR to CSC on a device: a stable sort of the entries by column, so that the rows of a column stay in order. */
#include "formats/fmt_csc.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* The sort moves payloads of 8 bytes: the value, of which a float fills the first 4 bytes, or the number of the entry
   if the value is larger. */
template <typename T> constexpr bool CSC_FITS = sizeof(T) <= sizeof(double);
template <typename T> using csc_payload = std::conditional_t<CSC_FITS<T>, T, int64_t>;
template <typename T> constexpr int CSC_APART = sizeof(double) / sizeof(csc_payload<T>);

/* One thread per entry of a tile: the key is column << 32 | row. */
template <typename T>
__global__ void csc_expand(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                           GPTR(const T) val, GPTR(uint64_t) key, GPTR(csc_payload<T>) with)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t at = t.from + k;
        key[at] = (uint64_t)col[at] << 32 | (uint64_t)(t.row + row_of[k]);
        if constexpr (CSC_FITS<T>)
            with[at * CSC_APART<T>] = val[at];
        else
            with[at] = at;
    }
}

template <typename T>
__global__ void csc_values(int64_t n, GPTR(const csc_payload<T>) with, GPTR(const T) from, GPTR(T) val)
{
    int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (k >= n) return;
    if constexpr (CSC_FITS<T>)
        val[k] = with[k * CSC_APART<T>];
    else
        val[k] = from[with[k]];
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int64_t n = p->nnz;
    if (!cut_rows(p, e) || !packing_pairs(p, n, e)) return false;
    LAUNCH_TILES(p, csc_expand<T>)
    (PACK_TILES(p), PACK_VAL(p, T), PACK_ROOM(p, ROOM_KEY, n, uint64_t),
     PACK_ROOM(p, ROOM_PAYLOAD, n * CSC_APART<T>, csc_payload<T>));
    if (!packing_sort(p, n, 32, 32 + bits_of(p->cols), e)) return false;
    enum room key = p->sorted ? ROOM_KEY2 : ROOM_KEY, with = p->sorted ? ROOM_PAYLOAD2 : ROOM_PAYLOAD;
    launch_unpack(p->dev, static_cast<const uint64_t *>(p->room[key].p), n, p->cols,
                  static_cast<int *>(p->out[CSC_PTR]), static_cast<int *>(p->out[CSC_ROW]));
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, csc_values<T>)
    (n, PACK_ROOM(p, with, n * CSC_APART<T>, const csc_payload<T>), PACK_VAL(p, T), PACK_OUT(p, CSC_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(csc) = {
    .format = &format_csc,
    .about = "a stable radix sort by column; a column begins where the column index of the sorted entries changes",
    .plan = KERNEL_SPACE::plan_by_shape,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
