/* SpMV kernels (matrix-vector products) for DIA-Adaptive, which stores the matrix as DIA, BRCSD-I or BRCSD-II: each
   kernel here calls the kernel of the chosen format. */
#include "diagonal_rows.h"
#include "formats/fmt_dia_adaptive.h"

namespace KERNEL_SPACE
{

/* One row per thread. The kernel of the chosen format determines the accesses. */
template <typename T> static bool as_chosen(const struct launch *L, struct err *)
{
    static void (*const kernel[])(const struct launch *) = {nullptr, launch_dia<T>, launch_brcsd1<T>, launch_brcsd2<T>};
    kernel[L->A->of->param[ADAPTIVE_AS]](L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dia_adaptive) = {
    .name = "dia-adaptive",
    .about = "runs dia, brcsd1 or brcsd2, whichever format was chosen",
    .format = &format_dia_adaptive,
    .source = "Gao et al.; DRM, sec. 3.3",
    .work = "one row per thread",
    .lesson = "The format chooses one of three ways to store the diagonals, by the padding of each way:\n"
              "    DIA       if its padding is below 10 % of the nonzeros: full diagonals only         see dia\n"
              "    BRCSD-I   cut where diagonals enter and leave, pieces of at most 64 rows            see brcsd1\n"
              "    BRCSD-II  if BRCSD-I has more than 190 % of its padding: cut every 32 rows          see brcsd2\n"
              "`convert dia-adaptive` shows what each of the three would have padded. The kernel of the chosen\n"
              "format runs: one row per thread; a warp reads 32 neighbouring values and 32 neighbouring elements of\n"
              "x, 8 sectors each in fp64, and no columns. For more, see the `help` of that kernel.\n"
              "The thresholds are ours. They consider only the padding, not how even the work is. Scattered\n"
              "matrices suit none of the three: use csr.\n"
              "DRM paper, fp64: compared with DRM, the variance of work was 66.7 times as large on average. SpMV\n"
              "took 2.26 times as long on average, and 4.07 times as long at worst.\n",
    .functions = {{"dia"}, {"dia_by_groups"}, {"brcsd1"}, {"brcsd2"}},
    .deterministic = true,
    .product = {VALUE_TYPES(as_chosen)},
};

#ifndef __CUDACC__
template <typename T> static void host_as_chosen(const struct launch *L, int threads)
{
    static void (*const host[])(const struct launch *, int) = {nullptr, host_dia<T>, host_brcsd1<T>, host_brcsd2<T>};
    host[L->A->of->param[ADAPTIVE_AS]](L, threads);
}

HOST_ENTRIES(dia_adaptive, "dia-adaptive", host_as_chosen, "the serial host loop of the chosen format", "[ours]",
             "several pieces of rows at a time",
             "The loop of dia, brcsd1 or brcsd2, whichever format was chosen: it runs along the diagonals and\n"
             "reads neighbouring values, neighbouring elements of x, and no column indices.\n");
#endif
