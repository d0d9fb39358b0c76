/* CSR to ELL on a device; also the ELL part of HYB. */
#include "formats/fmt_ell.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* ELL_EACH: minimum number of slots per thread. ELL_CHUNKS: maximum height of the grid. */
enum { ELL_EACH = 32, ELL_CHUNKS = 65535 };

/* A thread writes `each` slots of a row. Neighbouring threads write neighbouring slots; the entries that a block reads
   stay in the L1 cache from one slot to the next. */
template <typename T>
__global__ void ell_pack(int64_t rows, int64_t width, int64_t each, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const T) val, GPTR(int) out_col, GPTR(T) out_val)
{
    int64_t row = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (row >= rows) return;
    int64_t first = ptr[row], n = ptr[row + 1] - first, k = blockIdx.y * each, end = min(k + each, width);
    for (; k < end; k++) {
        bool has = k < n;
        out_col[k * rows + row] = has ? col[first + k] : -1;
        out_val[k * rows + row] = has ? val[first + k] : T(0);
    }
}

template <typename T> void launch_ell_pack(struct packing *p, int64_t width, int k_col, int k_val)
{
    int64_t each = (width + ELL_CHUNKS - 1) / ELL_CHUNKS;
    if (each < ELL_EACH) each = ELL_EACH;
    LAUNCH(p->dev, dim3(blocks_for(p->rows, PACK_BLOCK), (unsigned)((width + each - 1) / each)), PACK_BLOCK,
           ell_pack<T>)
    (p->rows, width, each, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), PACK_OUT(p, k_col, int), PACK_OUT(p, k_val, T));
}

INSTANTIATE(launch_ell_pack, struct packing *p, int64_t width, int k_col, int k_val);

static bool plan(struct packing *p, struct err *e)
{
    int64_t longest;
    return longest_of(p, &longest, e) && ell_sizes(&p->S, longest, e);
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    (void)e;
    launch_ell_pack<T>(p, p->S.param[0], ELL_COL, ELL_VAL);
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(ell) = {
    .format = &format_ell,
    .about = "each thread writes several slots of one row; neighbouring threads write neighbouring slots",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack), BITS_16(KERNEL_SPACE::pack)},
};
