/* CSR to DIA on a device: occupied diagonals are marked and numbered, then each row is laid on them. */
#include "pack.h"

namespace KERNEL_SPACE
{

/* Entries of a tile across the threads mark their diagonal. Most find it marked: looking comes first, as reads are
   served by the multiprocessor's cache and writes of all to a few places are not. */
__global__ void dia_mark(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, int64_t rows,
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

/* A row per thread: what neighbours write to a diagonal lies side by side. */
template <typename T>
__global__ void dia_pack(int64_t rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                         GPTR(const int64_t) at, GPTR(T) data)
{
    int64_t row = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (row >= rows) return;
    for (int64_t k = ptr[row], end = ptr[row + 1]; k < end; k++) data[at[col[k] - row + rows] * rows + row] = val[k];
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t span = p->rows + p->cols, diagonals = 0;
    if (!cut_rows(p, e) || !packing_room(p, ROOM_AT, span + 1, sizeof(int64_t), e)) return false;
    launch_zero<int64_t>(p->dev, p->room[ROOM_AT].p, span + 1);
    LAUNCH_TILES(p, dia_mark)(PACK_TILES(p), p->rows, PACK_ROOM(p, ROOM_AT, span + 1, int64_t));
    if (!packing_add_up(p, ROOM_AT, span, &diagonals, e)) return false;
    dia_sizes(&p->S, diagonals);
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int64_t span = p->rows + p->cols;
    auto at = PACK_ROOM(p, ROOM_AT, span + 1, const int64_t);
    (void)e;
    launch_offsets(p, DIA_OFFSETS);
    launch_zero<T>(p->dev, p->out[DIA_DATA], p->S.a[DIA_DATA].n);
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, dia_pack<T>)
    (p->rows, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), at, PACK_OUT(p, DIA_DATA, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(dia) = {
    .format = "dia",
    .about = "diagonals marked by tiles of entries and numbered by a prefix sum; a row per thread laid on them",
    .plan = KERNEL_SPACE::plan,
    .f32 = KERNEL_SPACE::pack<float>,
    .f64 = KERNEL_SPACE::pack<double>,
};
