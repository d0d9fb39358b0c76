/* Kernels over HYB: the ELL part first, which writes every y, then the COO part, which adds to it. */
#include "parts.h"
#include "formats/fmt_hyb.h"

namespace KERNEL_SPACE
{

static const struct ell_part bulk = {HYB_ELL_COL, HYB_ELL_VAL};
static const struct coo_part overflow = {HYB_ROW, HYB_COL, HYB_VAL};

/* Launches on one stream follow one another, so that only the COO part needs atomics. */
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
    .about = "ELL for what most rows have, atomics only for what overflows it",
    .format = &format_hyb,
    .source = "NOTES, THESIS",
    .work = "one row per thread, then one overflowing nonzero per thread",
    .lesson = "Two launches. The first w elements of each row are an ELL matrix, one thread a row; what overflows\n"
              "w is a COO list, which warps add up by row and add to y by atomics. The 4x4 example with w = 2:\n"
              "    ELL  1  2  5  6 | 7  8  3  4      thread t has row t, as in ell\n"
              "    COO  (2, 3) 9                     as in coo-segmented\n"
              "w is the largest width that a third of the rows still fill: most of the matrix is read as in ell, 4\n"
              "sectors of columns and 8 of fp64 values a step, and a few long rows cannot blow up the padding.\n"
              "y is written once and then added to, in an order that is open: the last bits may differ between\n"
              "runs. Matrices without long rows pay for a second launch and gain nothing: use ell or sell. Where\n"
              "most of the nonzeros overflow, as in power-law graphs, csr-merge is the better choice.\n",
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
             "1024 rows at a time, then a share of the overflow,",
             "The loops of ell, then of coo: first the slots that most rows fill, then the overflow, cut between\n"
             "threads where a row begins, so that no atomics are needed.\n",
             .skips_padding = true);
#endif
