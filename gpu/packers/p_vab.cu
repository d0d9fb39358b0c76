/* CSR to VAB on a device: pieces are counted per row, then the pieces are written, one thread per piece. */
#include "formats/fmt_vab.h"
#include "pack.h"

namespace KERNEL_SPACE
{

__global__ void vab_pieces(int64_t rows, GPTR(const int) ptr, GPTR(int64_t) at)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i < rows) at[i] = (ptr[i + 1] - ptr[i] + VAB_PIECE - 1) / VAB_PIECE;
}

/* Thread blocks and threads take the same pieces as in the SpMV: neighbouring threads write neighbouring slots and read
   neighbouring entries. */
template <typename T>
__global__ void vab_pack(int64_t rows, int64_t pieces, int64_t block, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const T) val, GPTR(const int) row_piece, GPTR(int) out_col, GPTR(T) out_val)
{
    SHARED(int, ends, 2);
    int64_t first = blockIdx.x * block, piece = first + threadIdx.x, slot = first * VAB_PIECE + threadIdx.x;
    if (threadIdx.x < 2)
        ends[threadIdx.x] =
            (int)last_not_above(row_piece, 0, rows, threadIdx.x ? min(first + block, pieces) - 1 : first);
    __syncthreads(); /* all threads of the block: `ends` is complete */
    int64_t row = piece < pieces ? last_not_above(row_piece, ends[0], ends[1], piece) : -1;
    int64_t from = row < 0 ? 0 : ptr[row], end = row < 0 ? 0 : ptr[row + 1];
    int64_t k = row < 0 ? 0 : from + (piece - row_piece[row]) * VAB_PIECE;
    for (int e = 0; e < VAB_PIECE; e++, k++, slot += block) {
        out_col[slot] = row < 0 ? 0 : col[min(k, end - 1)];
        out_val[slot] = k < end ? val[k] : T(0);
    }
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t pieces = 0;
    if (!packing_room(p, ROOM_AT, p->rows + 1, sizeof(int64_t), e)) return false;
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, vab_pieces)
    (p->rows, PACK_PTR(p), PACK_ROOM(p, ROOM_AT, p->rows + 1, int64_t));
    if (!packing_exclusive_scan(p, ROOM_AT, p->rows, &pieces, e)) return false;
    p->found = pieces;
    return vab_sizes(&p->S, pieces, e);
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int64_t block = p->S.param[0];
    (void)e;
    launch_pointers(p, ROOM_AT, p->rows, p->out[VAB_ROW_PIECE]);
    LAUNCH(p->dev, blocks_for(p->found, (int)block), (unsigned)block, vab_pack<T>)
    (p->rows, p->found, block, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), PACK_OUT(p, VAB_ROW_PIECE, const int),
     PACK_OUT(p, VAB_COL, int), PACK_OUT(p, VAB_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(vab) = {
    .format = &format_vab,
    .about = "a prefix sum over the pieces per row; one thread per piece, in the same blocks as the SpMV",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
