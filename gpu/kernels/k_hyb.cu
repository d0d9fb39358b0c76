/* SpMV kernels (matrix-vector products) for HYB: a first launch multiplies the ELL part and writes every y; a second
   launch multiplies the COO part and adds to y. */
#include "parts.h"
#include "formats/fmt_hyb.h"

namespace KERNEL_SPACE
{

static const struct ell_part bulk = {HYB_ELL_COL, HYB_ELL_VAL};
static const struct coo_part overflow = {HYB_ROW, HYB_COL, HYB_VAL};

/* The second launch starts after the first has finished, so only the COO part needs atomics. */
template <typename T> static bool ell_then_coo(const struct launch *L, struct err *)
{
    launch_ell<T>(L, bulk);
    launch_coo<T>(L, overflow);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(hyb) = {
    .name = "hyb",
    .about = "ELL for the first elements of each row, atomics only for the overflow of long rows",
    .format = &format_hyb,
    .source = "NOTES, THESIS",
    .work = "one row per thread, then one overflowing nonzero per thread",
    .lesson = "Two launches. The first w elements of each row form an ELL matrix, with one thread per row; all\n"
              "other elements are in a COO list, which warps sum by row and add to y with atomics. The 4x4 example\n"
              "with w = 2:\n"
              "    ELL  1  2  5  6 | 7  8  3  4      thread t has row t, as in ell\n"
              "    COO  (2, 3) 9                     as in coo-segmented\n"
              "w is the largest width that at least a third of the rows fill: most of the matrix is read as in\n"
              "ell, 4 sectors of columns and 8 of fp64 values per step, and a few long rows add no padding.\n"
              "y is written once and then added to, in no fixed order: the last bits may differ between runs. For\n"
              "matrices without long rows, the second launch is wasted: use ell or sell. If most of the nonzeros\n"
              "overflow, as in power-law graphs, csr-merge is better.\n",
    .skips_padding = true,
    .f32 = ell_then_coo<float>,
    .f64 = ell_then_coo<double>,
};

#ifndef __CUDACC__
template <typename T> static void hyb_host(const struct launch *L, int threads)
{
    host_ell<T>(L, bulk, threads);
    host_coo<T>(L, overflow, threads);
}

HOST_ENTRIES(hyb, "hyb", hyb_host, "the serial host loops over both parts", "THESIS",
             "1024 rows at a time, then a share of the COO part,",
             "The loop of ell over the ELL part, then the loop of coo over the COO part. Each thread's share of\n"
             "the COO part begins where a row begins, so that no atomics are needed.\n",
             .skips_padding = true);
#endif
