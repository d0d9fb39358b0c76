/* Dense LU with partial pivoting: the tables of launches for each device, and the loops of the host. */
#include "base/watch.h"
#include "lu_kernels.h"

namespace KERNEL_SPACE
{

__global__ void lu_begin(GPTR(int) info)
{
    info[0] = -1;
}

static void begin(struct device *d, struct lu_at A)
{
    LAUNCH(d, 1, 1, lu_begin)(INFO(A));
}

/* ---- the same operations on the host ---- */

#ifndef __CUDACC__
namespace host
{

enum {
    ALONE = 1 << 14
}; /* one thread does an update of at most this many elements, because waking other threads would take longer */

template <typename T> static int64_t pivot_row(int64_t n, int64_t k, const T *column)
{
    lu_size<T> best = -1;
    int64_t at = k;
    for (int64_t i = k; i < n; i++) {
        if (!(lu_abs(column[i]) > best)) continue;
        best = lu_abs(column[i]);
        at = i;
    }
    return at;
}

/* Swap the pivot of column k to the diagonal and divide the column by the pivot. Returns false if the pivot is 0. */
template <typename T> static bool column(struct lu_at A, int64_t k)
{
    T *c = (T *)A.a + k * A.n;
    int64_t p = pivot_row(A.n, k, c);
    A.piv[k] = (int)p;
    std::swap(c[k], c[p]);
    if (c[k] == 0) {
        if (A.info[0] < 0) A.info[0] = (int)k;
        return false;
    }
    for (int64_t i = k + 1; i < A.n; i++) c[i] /= c[k];
    return true;
}

/* Apply step k to column j: swap two elements; if column j is to the right of column k, also update the column. */
template <typename T> static void update(struct lu_at A, int64_t k, int64_t j)
{
    T *c = (T *)A.a + j * A.n;
    const T *l = (const T *)A.a + k * A.n;
    std::swap(c[k], c[A.piv[k]]);
    if (j < k) return;
    T u = c[k];
#pragma omp simd
    for (int64_t i = k + 1; i < A.n; i++) c[i] -= l[i] * u;
}

template <typename T> static bool factor(struct lu_at A, int threads, struct watch *w, struct err *e)
{
    A.info[0] = -1;
    for (int64_t k = 0; k < A.n; k++) {
        if (!watch_tick(w, "lu", k, A.n, e)) return false;
        column<T>(A, k); /* if the pivot is 0, everything below it is 0 too, and the update changes nothing */
        int team = (A.n - k) * (A.n - k) < ALONE ? 1 : threads;
#pragma omp parallel for num_threads(team) schedule(static)
        for (int64_t j = 0; j < A.n; j++)
            if (j != k) update<T>(A, k, j);
    }
    return true;
}

template <typename T> static bool serial(struct lu_at A, struct watch *w, struct err *e)
{
    return factor<T>(A, 1, w, e);
}

template <typename T> static bool openmp(struct lu_at A, struct watch *w, struct err *e)
{
    return factor<T>(A, omp_get_max_threads(), w, e);
}

template <typename T> static void solve(struct device *, struct lu_at A, void *b, void *)
{
    const T *a = (const T *)A.a;
    T *x = (T *)b;
    for (int64_t k = 0; k < A.n; k++)
        for (int64_t i = k + 1; i < A.n; i++) x[i] -= a[k * A.n + i] * x[k];
    for (int64_t k = A.n - 1; k >= 0; k--) {
        x[k] /= a[k * A.n + k];
        for (int64_t i = 0; i < k; i++) x[i] -= a[k * A.n + i] * x[k];
    }
}

template <typename T> static void measure(struct device *, struct lu_at A, double *out)
{
    const T *a = (const T *)A.a;
#pragma omp parallel for if (A.n > 256)
    for (int64_t j = 0; j < A.n; j++) {
        lu_size<T> most = -1;
        for (int64_t i = 0; i <= j; i++) most = std::max(most, lu_abs(a[j * A.n + i]));
        out[j] = (double)most;
        out[A.n + j] = lu_diagonal(a[j * A.n + j]);
    }
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

#define LU_KERNELS(id, space, T)                        \
    extern "C" const struct lu_ops id;                  \
    const struct lu_ops id = {                          \
        .begin = space::begin,                          \
        .paper = space::lu_launch_paper<T>,             \
        .panel_width = space::lu_launch_panel_width<T>, \
        .panel = space::lu_launch_panel<T>,             \
        .column = space::lu_launch_column<T>,           \
        .inner = space::lu_launch_inner<T>,             \
        .swap = space::lu_launch_swap<T>,               \
        .gemm = space::lu_launch_gemm<T>,               \
        .solve = space::lu_launch_solve<T>,             \
        .measure = space::lu_launch_measure<T>,         \
    }
#define LU_LOOPS(id, space, T)         \
    extern "C" const struct lu_ops id; \
    const struct lu_ops id = {         \
        .serial = space::serial<T>,    \
        .openmp = space::openmp<T>,    \
        .solve = space::solve<T>,      \
        .measure = space::measure<T>,  \
    }

LU_KERNELS(VEC_SYMBOL(lu_f32), KERNEL_SPACE, float);
LU_KERNELS(VEC_SYMBOL(lu_f64), KERNEL_SPACE, double);
LU_KERNELS(VEC_SYMBOL(lu_c32), KERNEL_SPACE, cplx<float>);
LU_KERNELS(VEC_SYMBOL(lu_c64), KERNEL_SPACE, cplx<double>);
#ifndef __CUDACC__
LU_LOOPS(cpu_vec_lu_f32, KERNEL_SPACE::host, float);
LU_LOOPS(cpu_vec_lu_f64, KERNEL_SPACE::host, double);
LU_LOOPS(cpu_vec_lu_c32, KERNEL_SPACE::host, cplx<float>);
LU_LOOPS(cpu_vec_lu_c64, KERNEL_SPACE::host, cplx<double>);
#endif
