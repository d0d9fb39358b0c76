/* Kernels over DIA-Adaptive: those of the format that was chosen, whose arrays it has. */
#include "diagonal_rows.h"
#include "formats/fmt_dia_adaptive.h"

namespace KERNEL_SPACE
{

/* One row per thread; threads and accesses as in the kernel of the choice. */
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
    .about = "the kernel dia, brcsd1 or brcsd2, as the format has chosen",
    .format = &format_dia_adaptive,
    .source = "Gao et al.; Wang et al. 2024, sec. 3.3",
    .work = "one row per thread",
    .lesson = "The format has chosen one of three ways to store the diagonals, by the padding they would have:\n"
              "    DIA       below 10 % of the nonzeros: full diagonals only           see dia\n"
              "    BRCSD-I   below 25 %: cut where diagonals enter and leave           see brcsd1\n"
              "    BRCSD-II  else: cut every 32 rows                                   see brcsd2\n"
              "The kernel is that of the choice: one row per thread; a warp reads 32 neighbouring values and x, 8\n"
              "sectors each in fp64, and no columns. `help` of that kernel tells the rest.\n"
              "The thresholds look at the padding alone, not at how even the work is. Scattered matrices suit none\n"
              "of the three: use csr.\n"
              "DRM: against its own format it had 66.7 times the variance of work in the mean, and took 2.26 times\n"
              "as long, 4.07 times at most, in fp64.\n",
    .deterministic = true,
    .f32 = as_chosen<float>,
    .f64 = as_chosen<double>,
};

#ifndef __CUDACC__
template <typename T> static void host_as_chosen(const struct launch *L, int threads)
{
    static void (*const host[])(const struct launch *, int) = {nullptr, host_dia<T>, host_brcsd1<T>, host_brcsd2<T>};
    host[L->A->of->param[ADAPTIVE_AS]](L, threads);
}

HOST_ENTRIES(dia_adaptive, "dia-adaptive", host_as_chosen, "the serial host loop of the format that was chosen",
             "[ours]", "some pieces of rows at a time",
             "The loop of dia, brcsd1 or brcsd2, as the format has chosen: along the diagonals, with neighbouring\n"
             "values and x, and no column.\n");
#endif
