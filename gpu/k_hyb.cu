/* Kernels over HYB: the ELL part first, which writes every y, then the COO part, which adds to it. */
#include "parts.h"

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
    .format = "hyb",
    .about = "ELL for what most rows have, atomics only for what overflows it",
    .source = "NOTES, THESIS",
    .work = "one row per thread, then one overflowing nonzero per thread",
    .deterministic = false,
    .host = false,
    .fits = nullptr,
    .f32 = ell_then_coo<float>,
    .f64 = ell_then_coo<double>,
};

#ifndef __CUDACC__
template <typename T> static bool hyb_host(const struct launch *L, int threads)
{
    host_ell<T>(L, bulk, threads);
    host_coo<T>(L, overflow, threads);
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return hyb_host<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return hyb_host<T>(L, host_threads(L));
}

KERNEL_ENTRY(hyb_serial) = {
    .name = "hyb-serial",
    .format = "hyb",
    .about = "the serial host loops over both parts",
    .source = "THESIS",
    .work = "all rows, then all overflowing nonzeros, in one thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(hyb_openmp) = {
    .name = "hyb-openmp",
    .format = "hyb",
    .about = "the host loops over both parts on all cores",
    .source = "[ours]",
    .work = "1024 rows at a time, then a share of the overflow, per host thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
