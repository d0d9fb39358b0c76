/* SpMV kernels (matrix-vector products) for HYB. hyb: a first launch multiplies the ELL part and writes every y; a
   second launch multiplies the COO part and adds to y. hyb-atomic: one kernel multiplies both parts and adds to y. */
#include "formats/fmt_hyb.h"
#include "parts.h"

namespace KERNEL_SPACE
{

static const struct ell_part bulk = {HYB_ELL_COL, HYB_ELL_VAL};
static const struct coo_part overflow = {HYB_ROW, HYB_COL, HYB_VAL};

enum { BLOCK = 128 };

/* Thread t multiplies all slots of row t of the ELL part, padding included, then nonzero t of the COO part, then
   nonzero t + threads and so on. Neighbouring lanes read neighbouring slots of both parts. Both parts add to y by
   atomics, because the additions to one y may come from different blocks. */
template <typename T>
__global__ void hyb_atomic(unsigned rows, int64_t slots, unsigned spilled, GPTR(const int) ell_col,
                           GPTR(const T) ell_val, GPTR(const int) row, GPTR(const int) col, GPTR(const T) val, T alpha,
                           GPTR(const T) x, GPTR(T) y)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    if (t < rows) {
        T sum = padded_row(t, rows, slots, ell_col, ell_val, x);
        atomicAdd(y + t, alpha * sum);
    }
    UNROLL(1)
    for (int64_t k = t; k < spilled; k += threads) {
        T product = alpha * val[k] * x[col[k]];
        atomicAdd(y + row[k], product);
    }
}

template <typename T> static bool both_at_once(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    launch_scale<T>(L);
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, hyb_atomic<T>)
    ((unsigned)S->rows, padded_slots(S, HYB_ELL_VAL), (unsigned)S->a[HYB_VAL].n, ARRAY(L, HYB_ELL_COL, int),
     ARRAY(L, HYB_ELL_VAL, T), ARRAY(L, HYB_ROW, int), ARRAY(L, HYB_COL, int), ARRAY(L, HYB_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

/* The second launch starts after the first has finished, so only the COO part needs atomics. */
template <typename T> static bool ell_then_coo(const struct launch *L, struct err *)
{
    launch_ell<T>(L, bulk);
    launch_coo<T>(L, overflow);
    return true;
}

static int64_t ordered_bytes(const struct mat *M)
{
    return coo_ordered_bytes(M->of, overflow);
}

static bool prepare_ordered(const struct launch *L, struct err *)
{
    coo_ordered_prepare(L, overflow);
    return true;
}

template <typename T> static bool ell_then_ordered_coo(const struct launch *L, struct err *)
{
    launch_ell<T>(L, bulk);
    launch_coo_ordered<T>(L, overflow);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(hyb_ordered) = {
    .name = "hyb-ordered",
    .about = "hyb without atomics: a last launch adds the sums of overflowing rows that warps share, in order",
    .format = &format_hyb,
    .source = "NOTES; overflow without atomics [ours]",
    .work = "one row per thread, then 16 overflowing nonzeros per thread, summed by row in a warp",
    .lesson = "Three launches. The first w elements of each row form an ELL matrix, with one thread per row; all\n"
              "other elements are in a COO list, whose rows warps sum. The 4x4 example with w = 2:\n"
              "    ELL  1  2  5  6 | 7  8  3  4      thread t has row t, as in ell\n"
              "    COO  (2, 3) 9                     as in coo-ordered\n"
              "The sums of the first and of the last row of a warp's 512 nonzeros go to memory; the last launch\n"
              "adds those of a row in order. So every run gives the same bits, and this is the default of hyb.\n"
              "The kernels hyb and hyb-atomic add by atomics instead, in any order.\n"
              "For matrices without long rows, the last two launches are wasted: use ell or sell.\n",
    .functions = {{"ell", BLOCK}, {"coo_ordered", BLOCK}, {"merge_carries", BLOCK}},
    .deterministic = true,
    .together = true,
    .separable = true,
    .skips_padding = true,
    .scratch = ordered_bytes,
    .prepare = prepare_ordered,
    .product = {VALUE_TYPES(ell_then_ordered_coo)},
};

KERNEL_ENTRY(hyb_atomic) = {
    .name = "hyb-atomic",
    .about =
        "hyb as in the notes: one kernel for both parts, with an atomic addition per row and per overflowing nonzero",
    .format = &format_hyb,
    .source = "NOTES",
    .work = "one row, padding included, then one overflowing nonzero at a time",
    .lesson = "One kernel for both parts. Thread t multiplies all slots of row t of the ELL part, then nonzero t of\n"
              "the COO part, then nonzero t + threads and so on. The 4x4 example with w = 2:\n"
              "    ELL  1  2  5  6 | 7  8  3  4      thread t has row t: one atomicAdd to y[t]\n"
              "    COO  (2, 3) 9                     thread 0: one atomicAdd to y[2]\n"
              "Threads 0 and 2 both add to y[2], in any order, so both parts need atomics, and an earlier launch\n"
              "must scale y by beta. The ELL part of hyb needs neither: the second launch of hyb starts when the\n"
              "first has written every y. hyb also stops a row at its padding, and its warps sum the overflow by\n"
              "row: hyb has one atomic per row and warp, this kernel one per nonzero. The last bits of y may differ\n"
              "between runs.\n"
              "NOTES: a row may have elements in both parts, so every update of y is atomic. Use this kernel only\n"
              "to compare it with hyb.\n",
    .functions = {{"scale", BLOCK}, {"hyb_atomic", BLOCK}},
    .product = {VALUE_TYPES(both_at_once)},
};

KERNEL_ENTRY(hyb) = {
    .name = "hyb",
    .about = "ELL for the first elements of each row; warps sum the overflow by row before they add it by atomics",
    .format = &format_hyb,
    .source = "NOTES; two launches, overflow summed by warps [ours]",
    .work = "one row per thread, then 16 overflowing nonzeros per thread, summed by row in a warp",
    .lesson = "Two launches. The first w elements of each row form an ELL matrix, with one thread per row; all\n"
              "other elements are in a COO list, which warps sum by row and add to y with atomics. The 4x4 example\n"
              "with w = 2:\n"
              "    ELL  1  2  5  6 | 7  8  3  4      thread t has row t, as in ell\n"
              "    COO  (2, 3) 9                     as in coo-segmented\n"
              "w is the largest width that at least a third of the rows fill: most of the matrix is read as in\n"
              "ell, 4 sectors of columns and 8 of fp64 values per step, and a few long rows add no padding.\n"
              "y is written once and then added to, in no fixed order: the last bits may differ between runs. For\n"
              "matrices without long rows, the second launch is wasted: use ell or sell. If most of the nonzeros\n"
              "overflow, as in power-law graphs, csr-ends is better.\n",
    .functions = {{"ell", BLOCK}, {"coo_segmented", BLOCK}},
    .skips_padding = true,
    .product = {VALUE_TYPES(ell_then_coo)},
};

#ifndef __CUDACC__
template <typename T> static void hyb_host(const struct launch *L, int threads)
{
    host_ell<T>(L, bulk, threads);
    host_coo<T>(L, overflow, threads);
}

HOST_ENTRIES(hyb, "hyb", hyb_host, "the serial host loops over both parts", "[ours]",
             "1024 rows at a time, then a share of the COO part,",
             "The loop of ell over the ELL part, then the loop of coo over the COO part. Each thread's share of\n"
             "the COO part begins where a row begins, so that no atomics are needed.\n",
             .skips_padding = true);
#endif
