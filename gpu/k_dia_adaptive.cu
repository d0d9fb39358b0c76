/* Kernels over DIA-Adaptive: those of the format that was chosen, whose arrays it has. */
#include "diagonal_rows.h"

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
    .format = "dia-adaptive",
    .about = "the kernel dia, brcsd1 or brcsd2, as the format has chosen",
    .source = "Gao et al.; Wang et al. 2024, sec. 3.3",
    .work = "one row per thread",
    .deterministic = true,
    .f32 = as_chosen<float>,
    .f64 = as_chosen<double>,
};

#ifndef __CUDACC__
template <typename T> static bool host_as_chosen(const struct launch *L, int threads)
{
    static void (*const host[])(const struct launch *, int) = {nullptr, host_dia<T>, host_brcsd1<T>, host_brcsd2<T>};
    host[L->A->of->param[ADAPTIVE_AS]](L, threads);
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return host_as_chosen<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return host_as_chosen<T>(L, host_threads(L));
}

KERNEL_ENTRY(dia_adaptive_serial) = {
    .name = "dia-adaptive-serial",
    .format = "dia-adaptive",
    .about = "the serial host loop of the format that was chosen",
    .source = "[ours]",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(dia_adaptive_openmp) = {
    .name = "dia-adaptive-openmp",
    .format = "dia-adaptive",
    .about = "the host loop on all cores",
    .source = "[ours]",
    .work = "some pieces of rows at a time per host thread",
    .deterministic = true,
    .host = true,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
