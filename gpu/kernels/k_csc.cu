/* SpMV kernels (matrix-vector products) for CSC: one column per thread or per vector of threads, with atomic additions
   to a scattered y. The CSR arrays of A are the CSC arrays of A^T, so these kernels also compute A^T x without storing
   A^T. */
#include "csr_rows.h"
#include "formats/fmt_csc.h"
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One column per thread. Each element of x is read once, and neighbouring threads read neighbouring elements of x. The
   elements of row and val that the threads read lie a column length apart, and the elements of y are scattered. */
template <typename T>
__global__ void csc_atomic(unsigned cols, GPTR(const int) ptr, GPTR(const int) row, GPTR(const T) val, T alpha,
                           GPTR(const T) x, GPTR(T) y)
{
    unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    int end = ptr[col + 1];
    T scaled = alpha * x[col];
    UNROLL(1)
    for (int k = ptr[col]; k < end; k++) {
        T product = val[k] * scaled;
        atomicAdd(y + row[k], product);
    }
}

/* One column per vector of V neighbouring threads, V a power of two near the mean column length: the threads read
   neighbouring elements of row and val. The atomic additions of a vector go to the rows of one column. */
template <typename T, int V>
__global__ void csc_vector(unsigned cols, GPTR(const int) ptr, GPTR(const int) row, GPTR(const T) val, T alpha,
                           GPTR(const T) x, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    unsigned col = blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (col >= cols) return;
    int end = ptr[col + 1];
    T scaled = alpha * x[col];
    UNROLL(1)
    for (int k = ptr[col] + lane; k < end; k += V) {
        T product = val[k] * scaled;
        atomicAdd(y + row[k], product);
    }
}

template <typename T>
using csc_kernel = void(unsigned, GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T), GPTR(T));

template <typename T>
static bool launch_csc(const struct launch *L, KERNEL_POINTER(csc_kernel<T>) kernel, int columns_per_block)
{
    const struct stored *S = L->A->of;
    launch_scale<T>(L);
    LAUNCH(L->A->dev, blocks_for(S->cols, columns_per_block), BLOCK, kernel)
    ((unsigned)S->cols, ARRAY(L, CSC_PTR, int), ARRAY(L, CSC_ROW, int), ARRAY(L, CSC_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

template <typename T> static bool atomic(const struct launch *L, struct err *)
{
    return launch_csc<T>(L, KERNEL(csc_atomic<T>), BLOCK);
}

template <typename T> static bool by_vector(const struct launch *L, struct err *)
{
    static KERNEL_POINTER(csc_kernel<T>)
        const kernel[] = {KERNEL(csc_vector<T, 2>), KERNEL(csc_vector<T, 4>), KERNEL(csc_vector<T, 8>),
                          KERNEL(csc_vector<T, 16>), KERNEL(csc_vector<T, 32>)};
    int k = vector_choice(L->A->of->cols, L->A->of->nnz);
    return launch_csc<T>(L, kernel[k], BLOCK / (2 << k));
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csc_atomic) = {
    .name = "csc-atomic",
    .about = "reads x once, but adds to a scattered y with one atomic addition per nonzero",
    .format = &format_csc,
    .source = "[ours]",
    .work = "one column per thread, atomicAdd to y",
    .lesson = "Thread t walks down column t and adds each product to y in the row of the entry. The 4x4 example:\n"
              "    val     1  5 | 7  2  6 | 8  3 | 9  4\n"
              "    row     0  2   0  1  3   1  2   2  3\n"
              "    thread  0  0   1  1  1   2  2   3  3\n"
              "A warp reads 32 neighbouring elements of x once: 8 sectors in fp64. But the elements of val\n"
              "and row that its lanes read lie a column length apart, as in csr-scalar. Every product is an atomic\n"
              "addition to a scattered y, in no fixed order.\n"
              "The kernel is slow for y = A x on every matrix, and slowest if a row is long, because then many\n"
              "threads add to the same y. It shows the cost of a format that is made for the transpose;\n"
              "convert to csr instead. CSC is meant for A^T x: each column of A is a row of A^T, so no atomics are\n"
              "needed. For the same reason, this kernel computes A^T x from the csr of A: see spmv transposed.\n",
    .functions = {{"scale", BLOCK}, {"csc_atomic", BLOCK}},
    .product = {VALUE_TYPES(atomic)},
};

KERNEL_ENTRY(csc_vector) = {
    .name = "csc-vector",
    .about = "like csc-atomic, but coalesced along the column; also computes A' x from the csr of A",
    .format = &format_csc,
    .source = "[ours]",
    .work = "one column per 2, 4, 8, 16 or 32 neighbouring threads, atomicAdd to y",
    .lesson = "A vector of V threads takes a column; the mean column length gives V, as in csr-cusp. The 4x4\n"
              "example has 9 / 4 = 2 entries per column, so V = 2:\n"
              "    val     1  5 | 7  2  6 | 8  3 | 9  4\n"
              "    row     0  2   0  1  3   1  2   2  3\n"
              "    thread  0  1   2  3  2   4  5   6  7     column 1 takes a second step\n"
              "The columns of a warp are contiguous in val and row, so its requests cover neighbouring sectors.\n"
              "The vector reads one element of x. Each product is an atomic addition to a scattered y, in no fixed\n"
              "order: the last bits of y may differ between runs.\n"
              "The csc of A^T is the csr of A: `spmv transposed` computes A^T x with this kernel without storing\n"
              "A^T. Additions to the same element wait for one another, so the kernel is slow if a row of A^T is\n"
              "long. For many products with one matrix, transpose the matrix once and use a kernel of csr.\n",
    .functions = {{"scale", BLOCK}, {"csc_vector", BLOCK}},
    .product = {VALUE_TYPES(by_vector)},
};

#ifndef __CUDACC__
/* The index of the first element that is >= `least` in the ascending row[from..to-1]; `to` if there is no such element.
 */
static int first_from(const int *row, int from, int to, int64_t least)
{
    while (from < to) {
        int middle = from + (to - from) / 2;
        if (row[middle] < least)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Goes through the columns first .. last-1 and adds the products of the rows top .. bottom-1 to y. */
template <typename T>
static void add_to_rows(const struct launch *L, int64_t first, int64_t last, int64_t top, int64_t bottom)
{
    const int *ptr = (const int *)L->A->ptr[CSC_PTR], *row = (const int *)L->A->ptr[CSC_ROW];
    const T *val = (const T *)L->A->ptr[CSC_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y;
    for (int64_t col = first; col < last; col++) {
        T scaled = (T)L->alpha * x[col];
        int end = ptr[col + 1];
        for (int k = first_from(row, ptr[col], end, top); k < end && row[k] < bottom; k++) y[row[k]] += val[k] * scaled;
    }
}

/* Each thread goes through all columns, but only for its share of the rows: no atomics, and additions in a fixed order.
   Ctrl-C stops a long SpMV. */
template <typename T> static void csc_host(const struct launch *L, int threads)
{
    int64_t rows = L->A->of->rows, cols = L->A->of->cols;
    bool checked = loop_worth(L->A->of->nnz);
    host_scale<T>(L, threads);
    struct loop l = loop_of("", cols);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++)
        for (int64_t col = 0; col < cols && (!checked || loop_check(&l, col)); col += 1024)
            add_to_rows<T>(L, col, min(col + 1024, cols), rows * t / threads, rows * (t + 1) / threads);
}

HOST_ENTRIES(csc, "csc", csc_host, "the serial host loop over the columns", "[ours]", "an equal share of the rows",
             "Goes down the columns: x is read once and in order; y is scattered and is read and written for every\n"
             "entry. With several threads, each thread searches all columns for the rows of its share: there are\n"
             "no atomics, and all runs give the same bits, but more threads spend more time searching.\n");
#endif
