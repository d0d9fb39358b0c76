/* SpMV kernels (matrix-vector products) for CSR with 64-bit row pointers. The indices of entries and rows have 64 bits,
   too, because a matrix may have more than 2^31-1 of both. */
#include "csr_rows.h"

#include "formats/fmt_csr64.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256, PRODUCTS = 2048 /* that a block holds in shared memory at a time */ };

/* One row per vector of V neighbouring threads, which read neighbouring entries. */
template <typename T, int V>
__global__ void csr64_vector(int64_t rows, GPTR(const int64_t) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                             GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    int64_t row = (int64_t)blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (row >= rows) return; /* the whole vector: its threads share the row */
    int64_t end = ptr[row + 1];
    T sum = 0;
    UNROLL(1)
    for (int64_t k = ptr[row] + lane; k < end; k += V) sum += val[k] * x[col[k]];
    sum = vector_joined<V>(sum);
    if (lane == 0) store(y, row, alpha, sum, beta);
}

/* A block has BLOCK neighbouring rows. Its threads read the entries of all these rows by coalesced loads, PRODUCTS at a
   time, and store the products in shared memory; then each thread adds the products of its own row. Only the first
   entry of a piece has an index of 64 bits: within a piece, indices have 32. */
template <typename T>
__global__ void csr64_stream(int64_t rows, GPTR(const int64_t) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                             GPTR(const T) x, T beta, GPTR(T) y)
{
    SHARED(T, product, PRODUCTS);
    int64_t first = (int64_t)blockIdx.x * BLOCK, row = first + threadIdx.x;
    int64_t from = ptr[first], to = ptr[min(first + BLOCK, rows)];
    int64_t begin = row < rows ? ptr[row] : to, end = row < rows ? ptr[row + 1] : to;
    T sum = 0;
    for (int64_t piece = from; piece < to; piece += PRODUCTS) {
        int n = (int)min(to - piece, (int64_t)PRODUCTS);
        UNROLL(4)
        for (int k = (int)threadIdx.x; k < n; k += BLOCK) product[k] = once(val, piece + k) * x[once(col, piece + k)];
        __syncthreads(); /* all threads of the block: `product` is complete */
        int own = (int)max(begin - piece, (int64_t)0), own_end = (int)min(end - piece, (int64_t)n);
        AHEAD(UNROLL_AUTO)
        for (int k = own; k < own_end; k++) sum += product[k];
        __syncthreads(); /* all threads of the block: `product` may be overwritten */
    }
    if (row < rows) store(y, row, alpha, sum, beta);
}

template <typename T>
using csr64_kernel = void(int64_t, GPTR(const int64_t), GPTR(const int), GPTR(const T), T, GPTR(const T), T, GPTR(T));

template <typename T>
static bool launch_csr64(const struct launch *L, KERNEL_POINTER(csr64_kernel<T>) kernel, int rows_per_block)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, rows_per_block), BLOCK, kernel)
    (S->rows, ARRAY(L, CSR64_PTR, int64_t), ARRAY(L, CSR64_COL, int), ARRAY(L, CSR64_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

/* V is the first of 2, 4, 8, 16 and 32 that leaves each thread at most four entries of a row of mean length. */
template <typename T> static bool vector64(const struct launch *L, struct err *)
{
    static KERNEL_POINTER(csr64_kernel<T>)
        const kernel[] = {KERNEL(csr64_vector<T, 2>), KERNEL(csr64_vector<T, 4>), KERNEL(csr64_vector<T, 8>),
                          KERNEL(csr64_vector<T, 16>), KERNEL(csr64_vector<T, 32>)};
    const struct stored *S = L->A->of;
    int64_t mean = S->rows ? S->nnz / S->rows : 0;
    int k = 0;
    while (k < 4 && 4 * (2 << k) < mean) k++;
    return launch_csr64<T>(L, kernel[k], BLOCK / (2 << k));
}

template <typename T> static bool stream64(const struct launch *L, struct err *)
{
    return launch_csr64<T>(L, KERNEL(csr64_stream<T>), BLOCK);
}

/* In csr64-stream, one thread adds a row. */
static bool long_rows(const struct csr *A)
{
    return csr_has_row_above(A, PRODUCTS / 4);
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr64_vector) = {
    .name = "csr64-vector",
    .about = "several threads per row, entries counted in 64 bits: for matrices with long rows",
    .format = &format_csr64,
    .source = "[ours], after CUSP's CSR kernel",
    .work = "one row per 2, 4, 8, 16 or 32 neighbouring threads",
    .lesson = "A vector of V threads takes a row, as in csr-cusp; V leaves each thread at most four entries of a\n"
              "row of mean length. The 4x4 example has two entries per row, so V = 2:\n"
              "    val   1  7 | 2  8 | 5  3  9 | 6  4\n"
              "    lane  0  1   2  3   4  5  4   6  7     row 2 takes a second step, in which lane 5 is idle\n"
              "Columns have 32 bits, as in csr. An entry takes 12 bytes in fp64; only a row costs 4 bytes more.\n"
              "On an H200 with 2.5e9 entries, V = 32 reads 3552 GB/s if rows have 125 entries, but V = 8 only 2895\n"
              "GB/s if rows have 27: neighbouring vectors share the sectors at the ends of their rows. For rows of\n"
              "up to 512 entries, use csr64-stream.\n",
    .functions = {{"csr64_vector", BLOCK}},
    .deterministic = true,
    .best = long_rows,
    .product = {VALUE_TYPES(vector64)},
};

KERNEL_ENTRY(csr64_stream) = {
    .name = "csr64-stream",
    .about = "csr-stream with entries counted in 64 bits: values and columns read coalesced",
    .format = &format_csr64,
    .source = "Greathouse and Daga 2014",
    .work = "one row per thread for the sum; every 256th entry of the block's 256 rows for the products",
    .lesson = "A block has 256 neighbouring rows, whose entries are one stretch of val and col. Its threads read\n"
              "the stretch by coalesced loads, 2048 entries at a time, and store the products in shared memory.\n"
              "Then thread t adds the products of row t. On the 4x4 example with blocks of 4 threads:\n"
              "    product  1  7  2  8 | 5  3  9  6 | 4     read by threads 0 1 2 3 | 0 1 2 3 | 0\n"
              "    sum      thread 0: 1 7   thread 1: 2 8   thread 2: 5 3 9   thread 3: 6 4\n"
              "Only ptr and the start of a piece have 64 bits; within a piece, an index of 32 bits is enough. With\n"
              "2.5e9 entries nothing but x fits in a cache: val and col are read once, by streaming loads.\n"
              "On an H200, 2.5e9 entries take 8.9 ms with 27 entries per row (3617 GB/s), 8.2 ms with 125 (3714\n"
              "GB/s) and 12.5 ms with 5 (3372 GB/s, of which a third is ptr, x and y).\n",
    .functions = {{"csr64_stream", BLOCK}},
    .deterministic = true,
    .product = {VALUE_TYPES(stream64)},
};

#ifndef __CUDACC__
template <typename T> static void csr64_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    const int64_t *ptr = (const int64_t *)L->A->ptr[CSR64_PTR];
    const int *col = (const int *)L->A->ptr[CSR64_COL];
    const T *val = (const T *)L->A->ptr[CSR64_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    host_shares(L, threads, S->rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) {
            T sum = 0;
            for (int64_t k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
            store(y, row, alpha, sum, beta);
        }
    });
}

HOST_ENTRIES(csr64, "csr64", csr64_host, "the serial host loop of csr, with entries counted in 64 bits", "[ours]",
             "1024 rows at a time",
             "Reads col and val from front to back, like csr-serial. Each row costs 4 bytes more than in csr: 8\n"
             "bytes of ptr instead of 4.\n");
#endif
