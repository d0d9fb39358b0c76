/* CSR to DIA on a device: diagonals with entries are marked and numbered, then one thread per row writes its entries.
 */
#include "formats/fmt_dia.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* One thread per row: neighbouring threads write neighbouring slots of a diagonal. */
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
    int64_t diagonals = 0;
    if (!number_diagonals(p, &diagonals, e)) return false;
    dia_sizes(&p->S, diagonals);
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    auto at = PACK_ROOM(p, ROOM_AT, p->rows + p->cols + 1, const int64_t);
    (void)e;
    launch_offsets(p, DIA_OFFSETS);
    launch_zero<T>(p->dev, p->out[DIA_DATA], p->S.a[DIA_DATA].n);
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, dia_pack<T>)
    (p->rows, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), at, PACK_OUT(p, DIA_DATA, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(dia) = {
    .format = &format_dia,
    .about = "tiles of entries mark the diagonals, and a prefix sum numbers them; then each thread writes one row",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack), BITS_16(KERNEL_SPACE::pack)},
};
