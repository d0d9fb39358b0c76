/* Kernels over COO: one nonzero per thread, added to y by atomics; a stretch per warp, added up by rows first. */
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128, STRETCH = 16 * WARP };

/* One row per thread. y is not read where beta is 0. */
template <typename T> __global__ void scale(unsigned rows, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) y[row] = beta == 0 ? 0 : beta * y[row];
}

/* One nonzero per thread. row, col and val are read side by side; lanes in the same row add to the same y. */
template <typename T>
__global__ void coo_atomic(unsigned nnz, GPTR(const int) row, GPTR(const int) col, GPTR(const T) val, T alpha,
                           GPTR(const T) x, GPTR(T) y)
{
    unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= nnz) return;
    T product = alpha * val[k] * x[col[k]];
    atomicAdd(y + row[k], product);
}

/* Sums over the lanes up to the caller's of neighbours in the same row. Participants: the whole warp. */
template <typename T> __device__ T scan_by_row(int lane, int row, T sum)
{
    for (int d = 1; d < WARP; d *= 2) {
        int other = __shfl_up_sync(FULL_MASK, row, d);
        T below = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane >= d && other == row) sum += below;
    }
    return sum;
}

/* A stretch of neighbouring nonzeros per warp, 32 at a time: products are added up over lanes in the same row, and
   only the last lane of a row adds to y. What lane 31 holds goes on into the next 32. */
template <typename T>
__global__ void coo_segmented(unsigned nnz, GPTR(const int) row, GPTR(const int) col, GPTR(const T) val, T alpha,
                              GPTR(const T) x, GPTR(T) y)
{
    int lane = threadIdx.x % WARP, carried = -1;
    unsigned first = (blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP) * STRETCH;
    T carry = 0;
    for (unsigned at = first; at < first + STRETCH && at < nnz; at += WARP) { /* the same for all lanes */
        unsigned k = at + lane;
        int r = k < nnz ? row[k] : -1;
        T sum = k < nnz ? val[k] * x[col[k]] : 0;
        if (lane == 0 && carried == r) sum += carry;
        if (lane == 0 && carried != r && carried >= 0) atomicAdd(y + carried, alpha * carry);
        sum = scan_by_row(lane, r, sum);
        int next = __shfl_down_sync(FULL_MASK, r, 1);
        if (lane < WARP - 1 && next != r && r >= 0) atomicAdd(y + r, alpha * sum);
        carried = __shfl_sync(FULL_MASK, r, WARP - 1);
        carry = __shfl_sync(FULL_MASK, sum, WARP - 1);
    }
    if (lane == 0 && carried >= 0) atomicAdd(y + carried, alpha * carry);
}

template <typename T> void launch_scale(const struct launch *L)
{
    int64_t rows = L->A->of->rows;
    LAUNCH(L->A->dev, blocks_for(rows, BLOCK), BLOCK, scale<T>)
    ((unsigned)rows, (T)L->beta, VECTOR("y", L->y, rows, T));
}

template <typename T>
using coo_kernel = void(unsigned, GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T), GPTR(T));

template <typename T>
static void add_coo(const struct launch *L, struct coo_part p, coo_kernel<T> *kernel, int nonzeros_a_block)
{
    const struct stored *S = L->A->of;
    int64_t nnz = S->a[p.val].n;
    LAUNCH(L->A->dev, blocks_for(nnz, nonzeros_a_block), BLOCK, kernel)
    ((unsigned)nnz, ARRAY(L, p.row, int), ARRAY(L, p.col, int), ARRAY(L, p.val, T), (T)L->alpha,
     VECTOR("x", L->x, S->cols, const T), VECTOR("y", L->y, S->rows, T));
}

template <typename T> void launch_coo(const struct launch *L, struct coo_part p)
{
    add_coo<T>(L, p, coo_segmented<T>, BLOCK / WARP * STRETCH);
}

template void launch_scale<float>(const struct launch *);
template void launch_scale<double>(const struct launch *);
template void launch_coo<float>(const struct launch *, struct coo_part);
template void launch_coo<double>(const struct launch *, struct coo_part);

static const struct coo_part whole = {COO_ROW, COO_COL, COO_VAL};

template <typename T> static bool atomic(const struct launch *L, struct err *)
{
    launch_scale<T>(L);
    add_coo<T>(L, whole, coo_atomic<T>, BLOCK);
    return true;
}

template <typename T> static bool segmented(const struct launch *L, struct err *)
{
    launch_scale<T>(L);
    launch_coo<T>(L, whole);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(coo_atomic) = {
    .name = "coo-atomic",
    .format = "coo",
    .about = "perfect balance and coalesced reads, paid for with an atomic addition a nonzero",
    .source = "NOTES, THESIS",
    .work = "one nonzero per thread, atomicAdd to y",
    .deterministic = false,
    .host = false,
    .fits = nullptr,
    .f32 = atomic<float>,
    .f64 = atomic<double>,
};

KERNEL_ENTRY(coo_segmented) = {
    .name = "coo-segmented",
    .format = "coo",
    .about = "products are added up by row within the warp first: one atomic addition a row and warp, not a nonzero",
    .source = "[ours]",
    .work = "16 nonzeros per thread, 32 side by side at a time",
    .deterministic = false,
    .f32 = segmented<float>,
    .f64 = segmented<double>,
};

#ifndef __CUDACC__
namespace KERNEL_SPACE
{

template <typename T> void host_scale(const struct launch *L, int threads)
{
    T *y = (T *)L->y, beta = (T)L->beta;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t row = 0; row < L->A->of->rows; row++) y[row] = beta == 0 ? 0 : beta * y[row];
}

/* The first of the n nonzeros at or after i that begins a row. */
static int64_t row_start(const int *row, int64_t n, int64_t i)
{
    while (i > 0 && i < n && row[i] == row[i - 1]) i++;
    return i;
}

/* The nonzeros in equal shares, cut where a row begins: no two threads add to the same y. */
template <typename T> void host_coo(const struct launch *L, struct coo_part p, int threads)
{
    const int *row = (const int *)L->A->ptr[p.row], *col = (const int *)L->A->ptr[p.col];
    const T *val = (const T *)L->A->ptr[p.val], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha;
    int64_t n = L->A->of->a[p.val].n;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int64_t end = row_start(row, n, n * (t + 1) / threads);
        for (int64_t k = row_start(row, n, n * t / threads); k < end; k++) y[row[k]] += alpha * val[k] * x[col[k]];
    }
}

template void host_scale<float>(const struct launch *, int);
template void host_scale<double>(const struct launch *, int);
template void host_coo<float>(const struct launch *, struct coo_part, int);
template void host_coo<double>(const struct launch *, struct coo_part, int);

} // namespace KERNEL_SPACE

template <typename T> static bool coo_host(const struct launch *L, int threads)
{
    host_scale<T>(L, threads);
    host_coo<T>(L, whole, threads);
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return coo_host<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return coo_host<T>(L, host_threads(L));
}

KERNEL_ENTRY(coo_serial) = {
    .name = "coo-serial",
    .format = "coo",
    .about = "the serial host loop over the nonzeros",
    .source = "THESIS",
    .work = "all nonzeros in one thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(coo_openmp) = {
    .name = "coo-openmp",
    .format = "coo",
    .about = "the host loop on all cores, without atomics: shares are cut where a row begins",
    .source = "[ours]",
    .work = "an equal share of the nonzeros per host thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
