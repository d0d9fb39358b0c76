/* LightSpMV, a matrix-vector product for CSR: rows are not assigned in advance but taken from a counter, so that a
   vector that had a short row takes another row while its neighbour still works on a long row. */
#include "csr_rows.h"
#include "formats/fmt_csr.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256, BLOCKS_PER_UNIT = 8 };

static __global__ void reset_counter(GPTR(int) counter)
{
    counter[0] = 0;
}

/* One row at a time per vector of V threads; its first lane takes the row's number and broadcasts it. */
template <typename T, int V>
__global__ void light_vector(int rows, GPTR(int) counter, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                             T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    for (;;) {
        int row = lane == 0 ? atomicAdd(counter + 0, 1) : 0;
        row = __shfl_sync(vector_mask<V>(), row, 0, V);
        if (row >= rows) return; /* the whole vector returns */
        int begin = ptr[row], end = ptr[row + 1];
        T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
        if (lane == 0) store(y, row, alpha, sum, beta);
    }
}

/* 32/V rows at a time per warp, one for each of its vectors; one atomic addition takes all these rows. */
template <typename T, int V>
__global__ void light_warp(int rows, GPTR(int) counter, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val,
                           T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int in_warp = threadIdx.x % WARP, lane = threadIdx.x % V;
    for (;;) {
        int first = in_warp == 0 ? atomicAdd(counter + 0, WARP / V) : 0;
        first = __shfl_sync(FULL_MASK, first, 0);
        if (first >= rows) return; /* the whole warp returns */
        int row = first + in_warp / V;
        if (row < rows) { /* `row` is the same for a whole vector */
            int begin = ptr[row], end = ptr[row + 1];
            T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
            if (lane == 0) store(y, row, alpha, sum, beta);
        }
        __syncwarp();
    }
}

template <typename T>
using light_kernel = void(int, GPTR(int), GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T), T,
                          GPTR(T));

static int64_t counter_bytes(const struct mat *)
{
    return sizeof(int);
}

/* Enough blocks to fill the device, but no more than the rows need. */
static unsigned light_grid(const struct mat *M, int rows_per_block)
{
    unsigned most = (unsigned)M->dev->units * BLOCKS_PER_UNIT, needed = blocks_for(M->of->rows, rows_per_block);
    return needed < most ? needed : most;
}

template <typename T> static bool launch_light(const struct launch *L, light_kernel<T> *const *kernels_by_choice)
{
    const struct stored *S = L->A->of;
    int k = vector_choice(S->rows, S->nnz);
    LAUNCH(L->A->dev, 1, 1, reset_counter)(VECTOR("counter", ROLE_WORK, L->scratch, 1, int));
    LAUNCH(L->A->dev, light_grid(L->A, BLOCK / (2 << k)), BLOCK, kernels_by_choice[k])
    ((int)S->rows, VECTOR("counter", ROLE_WORK, L->scratch, 1, int), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int),
     ARRAY(L, CSR_VAL, T), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

template <typename T> static bool by_vector(const struct launch *L, struct err *)
{
    static light_kernel<T> *const kernel[] = {light_vector<T, 2>, light_vector<T, 4>, light_vector<T, 8>,
                                              light_vector<T, 16>, light_vector<T, 32>};
    return launch_light<T>(L, kernel);
}

template <typename T> static bool by_warp(const struct launch *L, struct err *)
{
    static light_kernel<T> *const kernel[] = {light_warp<T, 2>, light_warp<T, 4>, light_warp<T, 8>, light_warp<T, 16>,
                                              light_warp<T, 32>};
    return launch_light<T>(L, kernel);
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_light_vector) = {
    .name = "csr-light-vector",
    .about = "like csr-cusp, but every vector takes its next row from a counter: balances uneven rows",
    .format = &format_csr,
    .source = "NOTES (LightSpMV)",
    .work = "one row at a time per 2 to 32 threads, taken by atomicAdd",
    .lesson = "Like csr-cusp, but rows are not assigned to vectors in advance: the first lane of a vector takes the\n"
              "number of the next row from a counter by atomicAdd and broadcasts it, until no rows are left.\n"
              "    counter  0 1 2 3 4 5 ...     a vector with a long row takes few numbers, other vectors take more\n"
              "Memory is read as in csr-cusp. Which vector takes which row changes from run to run, but the sum\n"
              "of a row does not depend on that: the result has the same bits every time.\n"
              "The counter is the bottleneck: an H200 performs about one addition per nanosecond at one address,\n"
              "whatever the number of threads. A million short rows take 213 us (csr-cusp: 54 us), and a row of\n"
              "100000 entries is still one vector's work (use csr-merge).\n"
              "NOTES: both LightSpMV kernels were the slowest on all eight matrices, with similar times.\n",
    .deterministic = true,
    .together = true,
    .shares = true,
    .scratch = counter_bytes,
    .f32 = by_vector<float>,
    .f64 = by_vector<double>,
};

KERNEL_ENTRY(csr_light_warp) = {
    .name = "csr-light-warp",
    .about = "like csr-light-vector, but a warp takes the rows of all its vectors with one atomic addition",
    .format = &format_csr,
    .source = "NOTES (LightSpMV)",
    .work = "32/T rows at a time per warp, one per T = 2 to 32 threads",
    .lesson = "Like csr-light-vector, but lane 0 takes 32/V rows with one atomicAdd, one row for each vector:\n"
              "    V = 8    counter += 4    rows r, r+1, r+2, r+3 for lanes 0-7, 8-15, 16-23, 24-31\n"
              "Memory is read as in csr-cusp. The vectors of a warp wait for the longest of their rows before\n"
              "they take the next rows, so the balance is a little coarser.\n"
              "The purpose of this kernel is fewer atomics. On an H200, it takes as long as csr-light-vector, most\n"
              "likely because the hardware combines a warp's additions to one address anyway. About one addition\n"
              "per nanosecond for the whole device is too slow for short rows (poisson2d 1000 999: 213 us, csr-cusp\n"
              "54 us).\n"
              "Use csr-cusp for rows of similar length, and csr-merge for uneven rows.\n",
    .deterministic = true,
    .together = true,
    .shares = true,
    .scratch = counter_bytes,
    .f32 = by_warp<float>,
    .f64 = by_warp<double>,
};
