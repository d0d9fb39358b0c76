/* CSR to CSR with 64-bit row pointers on a device: the row pointers are widened, the other arrays copied. */
#include "formats/fmt_csr64.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* One thread per element of the longer of ptr and val. */
template <typename T>
__global__ void csr64_pack(int64_t rows, int64_t nnz, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           GPTR(int64_t) out_ptr, GPTR(int) out_col, GPTR(T) out_val)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= rows) out_ptr[i] = ptr[i];
    if (i >= nnz) return;
    out_col[i] = col[i];
    out_val[i] = val[i];
}

template <typename T> static bool pack(struct packing *p, struct err *)
{
    int64_t n = p->rows + 1 > p->nnz ? p->rows + 1 : p->nnz;
    LAUNCH(p->dev, blocks_for(n, PACK_BLOCK), PACK_BLOCK, csr64_pack<T>)
    (p->rows, p->nnz, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), PACK_OUT(p, CSR64_PTR, int64_t),
     PACK_OUT(p, CSR64_COL, int), PACK_OUT(p, CSR64_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(csr64) = {
    .format = &format_csr64,
    .about = "the row pointers are widened, columns and values copied",
    .plan = KERNEL_SPACE::plan_by_shape,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
