/* SpMV kernels (matrix-vector products) for CSR: one row per thread, per warp, or per 2 to 32 threads. */
#include "csr_rows.h"
#include "vec.h"

#include <type_traits>

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread. Neighbouring threads read elements of col and val that lie a row length apart, so a warp's
   request touches up to 32 sectors. The threads access neighbouring elements of ptr and y. */
template <typename T, typename U>
__global__ void csr_scalar(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val, T alpha,
                           GPTR(const T) x, T beta, GPTR(T) y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = ptr[row + 1];
    T sum = 0;
    UNROLL(1)
    for (int k = ptr[row]; k < end; k++) sum += (T)val[k] * x[col[k]];
    store(y, row, alpha, sum, beta);
}

/* One row per warp. The 32 lanes read 32 neighbouring elements, then shuffles add their sums; lane 0 writes y. */
template <typename T, typename U>
__global__ void csr_vector(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val, T alpha,
                           GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % WARP;
    int row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (row >= rows) return; /* the whole warp: all lanes share the row */
    int end = ptr[row + 1];
    T sum = 0;
    UNROLL(1)
    for (int k = ptr[row] + lane; k < end; k += WARP) sum += (T)val[k] * x[col[k]];
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    if (lane == 0) store(y, row, alpha, sum, beta);
}

/* One row per vector of V neighbouring threads, V a power of two near the mean row length (vector_choice): a warp reads
   several short rows at a time. With V = 32, the reads of a long row are aligned to 32 elements. */
template <typename T, typename U, int V>
__global__ void csr_cusp(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val, T alpha,
                         GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    int row = blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (row >= rows) return; /* the whole vector: its threads share the row */
    int begin = ptr[row], end = ptr[row + 1];
    T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
    if (lane == 0) store(y, row, alpha, sum, beta);
}

/* The same for few rows: the columns and values of a thread's first FIRST entries are loaded before it uses the first
   of them, while the previous launch may still write x. If there are many rows, other threads hide these latencies, and
   the instructions for entries that a row does not have cost time. */
enum { FIRST = 3, FEW_THREADS = 2048 /* per multiprocessor */ };

template <typename T, typename U, int V>
__global__ void csr_cusp_ahead(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val, T alpha,
                               FRESH(const T) x, T beta, GPTR(T) y)
{
    begin_next();
    int lane = threadIdx.x % V;
    int row = blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (row >= rows) return; /* the whole vector: its threads share the row */
    int begin = ptr[row], end = ptr[row + 1], k = begin + lane, c[FIRST];
    if (V == WARP && end - begin > WARP) k -= begin % WARP; /* align; lanes before `begin` skip one step */
    U v[FIRST];
    T sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < FIRST; j++) {
        bool is = k + j * V >= begin && k + j * V < end;
        c[j] = is ? col[k + j * V] : -1;
        v[j] = is ? val[k + j * V] : U{};
        reconverge();
    }
    await_previous();
    UNROLL_WHOLE
    for (int j = 0; j < FIRST; j++) {
        if (c[j] >= 0) sum += (T)v[j] * x[c[j]];
        reconverge();
    }
    UNROLL(1)
    for (k += FIRST * V; k < end; k += V) sum += (T)val[k] * x[col[k]];
    sum = vector_joined<V>(sum);
    if (lane == 0) store(y, row, alpha, sum, beta);
}

template <typename T, typename U>
using csr_kernel = void(int, GPTR(const int), GPTR(const int), GPTR(const U), T, GPTR(const T), T, GPTR(T));

template <typename T, typename U>
static bool launch_csr(const struct launch *L, KERNEL_POINTER(csr_kernel<T, U>) kernel, int rows_per_block)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, rows_per_block), BLOCK, kernel)
    ((int)S->rows, ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, U), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

template <typename T, typename U = T> static bool scalar(const struct launch *L, struct err *)
{
    return launch_csr<T, U>(L, KERNEL(csr_scalar<T, U>), BLOCK);
}

template <typename T, typename U = T> static bool vector(const struct launch *L, struct err *)
{
    return launch_csr<T, U>(L, KERNEL(csr_vector<T, U>), BLOCK / WARP);
}

template <typename T, typename U> static bool cusp_ahead(const struct launch *L, int k)
{
    static KERNEL_POINTER(csr_kernel<T, U>) const kernel[] = {
        KERNEL(csr_cusp_ahead<T, U, 2>), KERNEL(csr_cusp_ahead<T, U, 4>), KERNEL(csr_cusp_ahead<T, U, 8>),
        KERNEL(csr_cusp_ahead<T, U, 16>), KERNEL(csr_cusp_ahead<T, U, 32>)};
    const struct stored *S = L->A->of;
    FOLLOW(L->A->dev, blocks_for(S->rows, BLOCK / (2 << k)), BLOCK, kernel[k])
    ((int)S->rows, ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, U), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

template <typename T, typename U = T> static bool cusp(const struct launch *L, struct err *)
{
    static KERNEL_POINTER(csr_kernel<T, U>)
        const kernel[] = {KERNEL(csr_cusp<T, U, 2>), KERNEL(csr_cusp<T, U, 4>), KERNEL(csr_cusp<T, U, 8>),
                          KERNEL(csr_cusp<T, U, 16>), KERNEL(csr_cusp<T, U, 32>)};
    int k = vector_choice(L->A->of->rows, L->A->of->nnz);
    if (L->A->of->rows * (2 << k) <= L->A->dev->units * (int64_t)FEW_THREADS) return cusp_ahead<T, U>(L, k);
    return launch_csr<T, U>(L, kernel[k], BLOCK / (2 << k));
}

/* The best kernel if no row is much longer than the mean; otherwise csr-ends is best. */
static bool even_rows(const struct csr *A)
{
    return !csr_has_row_above(A, 32 + 8 * (A->nnz / (A->rows ? A->rows : 1)));
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_scalar) = {
    .name = "csr-scalar",
    .about = "the simplest CSR kernel: its reads are uncoalesced unless rows have a single element",
    .format = &format_csr,
    .source = "NOTES; THESIS, sec. 2.1.2",
    .work = "one row per thread",
    .lesson = "Thread t walks along row t. On the 4x4 example:\n"
              "    val     1  7 | 2  8 | 5  3  9 | 6  4\n"
              "    step    1  2   1  2   1  2  3   1  2\n"
              "    thread  0  0   1  1   2  2  2   3  3\n"
              "In one step, the lanes read values that lie a row length apart: a request touches up to 32 sectors,\n"
              "while 8 sectors would hold 32 doubles. With short rows, the cache compensates for this, because the\n"
              "next steps use the rest of the same sectors. A warp runs until its longest row ends; lanes with\n"
              "shorter rows wait.\n"
              "On an H200, csr-scalar is close to the fastest kernel for rows of up to about 16 entries (poisson2d\n"
              "1000 999: 28 us, csr-stream 24, csr-cusp 37 with V = 4). It is the slowest kernel if one row is\n"
              "long (circuit 100000 4: 2369 us, csr-merge 12.7).\n"
              "For longer rows of similar length, use csr-cusp, ell or sell; for uneven rows, use csr-ends.\n",
    .functions = {{"csr_scalar", BLOCK}},
    .deterministic = true,
    .product = {VALUE_TYPES(scalar), NARROW_TYPES(scalar)},
};

KERNEL_ENTRY(csr_vector) = {
    .name = "csr-vector",
    .about = "coalesced along the row; lanes idle in rows with fewer than 32 entries",
    .format = &format_csr,
    .source = "NOTES; THESIS, sec. 2.1.2",
    .work = "one row per warp, shuffle reduction",
    .lesson = "A warp takes a row; lane l reads its elements l, l + 32, l + 64 and so on. On the 4x4 example:\n"
              "    row 0   1  7          row 2   5  3  9\n"
              "    lane    0  1          lane    0  1  2     and 29 lanes have nothing to do\n"
              "The lanes read neighbouring elements: a full step reads 8 sectors of fp64 values and 4 of columns.\n"
              "Then five shuffle steps add the 32 sums, and lane 0 writes y: 4 or 8 bytes of a 32-byte sector.\n"
              "Rows of 100 or more entries keep the lanes busy. Rows of 5 entries leave 27 of 32 lanes idle and\n"
              "still need five shuffles: use csr-scalar, or csr-cusp, which gives a row only as many lanes as it\n"
              "needs. A single very long row keeps one warp busy after the rest of the device has finished: use\n"
              "csr-ends.\n"
              "THESIS and NOTES: coalesced, unlike csr-scalar, but short rows leave lanes idle.\n",
    .functions = {{"csr_vector", BLOCK}},
    .deterministic = true,
    .product = {VALUE_TYPES(vector), NARROW_TYPES(vector)},
};

KERNEL_ENTRY(csr_cusp) = {
    .name = "csr-cusp",
    .about = "threads per row chosen from the mean row length: good if rows are of similar length",
    .format = &format_csr,
    .source = "NOTES (CUSP)",
    .work = "one row per 2, 4, 8, 16 or 32 neighbouring threads",
    .lesson = "A vector of V threads takes a row; V is the first of 2, 4, 8, 16 and 32 that is at least the mean\n"
              "row length, rounded down. The 4x4 example has 9 / 4 = 2 entries per row, so V = 2:\n"
              "    val   1  7 | 2  8 | 5  3  9 | 6  4\n"
              "    lane  0  1   2  3   4  5  4   6  7     row 2 takes a second step, in which lane 5 is idle\n"
              "The rows of a warp are contiguous in val, so its requests still cover a few neighbouring sectors.\n"
              "log2(V) shuffle steps add the sums, and the first lane of each vector writes y. With V = 32, the\n"
              "reads of a long row start at a multiple of 32, so that no request touches more sectors than it must.\n"
              "The kernel suits rows of similar length above 16 entries. A row 1000 times as long as the mean\n"
              "keeps its V threads busy after all other threads are done: with V = 4, circuit 100000 4 took 761\n"
              "us on an H200, but 13 us with csr-merge.\n"
              "NOTES: the kernel is about as fast as merge-path on rows of similar length, and sometimes faster. It\n"
              "needs no preparation, so its total time was the lowest.\n",
    .functions = {{"csr_cusp", BLOCK}, {"csr_cusp_ahead", BLOCK}},
    .deterministic = true,
    .follows = true,
    .best = even_rows,
    .product = {VALUE_TYPES(cusp), NARROW_TYPES(cusp)},
};

#ifndef __CUDACC__
/* A row on the host, for the product that also computes the sums of CG. The products of a row are added in fp64,
   whatever the type of y: in fp32, cg would take more iterations. */
template <typename T, typename U> struct csr_host_rows : on_host<T> {
    enum { WIDE = 1 };
    const int *ptr, *col;
    const U *val;

    double row(int64_t i, const T *x) const
    {
        double sum = 0;
        for (int k = ptr[i]; k < ptr[i + 1]; k++) sum += (double)(T)val[k] * (double)x[col[k]];
        return sum;
    }
};

/* The sums do not depend on the number of threads. */
template <typename T, typename U, bool DIAGONAL> static void csr_host_product(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    double *part = L->s + S_SUMS;
    pass_cg_product<csr_host_rows<T, U>, DIAGONAL> pass = {
        {{}, (const int *)L->A->ptr[CSR_PTR], (const int *)L->A->ptr[CSR_COL], (const U *)L->A->ptr[CSR_VAL]},
        (const T *)L->x,
        (const T *)L->r,
        (const T *)L->dinv,
        (T *)L->y,
        false};
    if (L->s[S_DONE] != 0) return;
    int k = host::stretches(S->rows);
    host::checks check(S->nnz);
    pass.begin(L->s);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) if (threads > 1 && S->rows > host::ALONE)
    for (int j = 0; j < k; j++)
        if (check.goes(j)) host::sum_stretch(pass, S->rows, j, part);
    if (check.complete())
        pass.end(L->s,
                 {host::total(part, k), host::total(part + VEC_BLOCKS, k), host::total(part + 2 * VEC_BLOCKS, k)});
}

template <typename T, typename U = T> static void csr_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    if constexpr (std::is_same_v<T, float>)
        if (L->s) return (L->dinv ? csr_host_product<T, U, true> : csr_host_product<T, U, false>)(L, threads);
    const int *ptr = (const int *)L->A->ptr[CSR_PTR], *col = (const int *)L->A->ptr[CSR_COL];
    const U *val = (const U *)L->A->ptr[CSR_VAL];
    const T *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    host_shares(L, threads, S->rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) {
            T sum = 0;
            for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += (T)val[k] * x[col[k]];
            store(y, row, alpha, sum, beta);
        }
    });
}

HOST_NARROW_ENTRIES(
    csr, "csr", csr_host, "the serial host loop: the baseline of every speed-up", "THESIS, sec. 4.2.1",
    "1024 rows at a time",
    "Reads col and val from front to back and keeps the sum of a row in a register: 12 bytes per entry in\n"
    "fp64, plus x, which comes from the cache if columns lie close together. This loop is the baseline of\n"
    "every speed-up. A thread that is free takes the next 1024 rows; one thread processes a whole row,\n"
    "however long.\n",
    .host_sums = true);
#endif
