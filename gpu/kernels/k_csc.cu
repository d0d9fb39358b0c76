/* SpMV kernels (matrix-vector products) for CSC: one column per thread or per vector of threads, with atomic additions
   to a scattered y; or one row per vector of threads, which finds the entries of its row through an index. The CSR
   arrays of A are the CSC arrays of A^T, so these kernels also compute A^T x without storing A^T. */
#include "base/loop.h"
#include "base/mem.h"
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

/* One row per vector of V neighbouring threads, V a power of two near the mean row length. Entry k of the rows, in the
   order of the columns within a row, is entry from[k] of the columns. The threads read neighbouring elements of from
   and col; those of val and x are gathered. */
template <typename T, int V>
__global__ void csc_ordered(int rows, GPTR(const int) first, GPTR(const int) from, GPTR(const int) col,
                            GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    int row = blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (row >= rows) return; /* the whole vector: its threads share the row */
    int end = first[row + 1];
    T sum = 0;
    UNROLL(1)
    for (int k = first[row] + lane; k < end; k += V) {
        sum += val[from[k]] * x[col[k]];
        reconverge();
    }
    sum = vector_joined<V>(sum);
    if (lane == 0) store(y, row, alpha, sum, beta);
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

/* ---- the index of csc_ordered: the first entry of each row, their numbers, and their columns ---- */

struct csc_index {
    int *first, *from, *col;
};

static int64_t index_bytes(const struct mat *M)
{
    int64_t ints = (int64_t)sizeof(int);
    return device_rounded((M->of->rows + 1) * ints) + 2 * device_rounded(M->of->nnz * ints);
}

static struct csc_index index_at(const struct stored *S, void *at)
{
    char *from = (char *)at + device_rounded((S->rows + 1) * (int64_t)sizeof(int));
    return {(int *)at, (int *)from, (int *)(from + device_rounded(S->nnz * (int64_t)sizeof(int)))};
}

/* `from` and the columns replace the rows of the entries and the pointers of the columns. */
static int64_t ordered_reads(const struct stored *S)
{
    return (S->rows + 1 + 2 * S->nnz) * (int64_t)sizeof(int) + S->nnz * (int64_t)type_size(S->a[CSC_VAL].type);
}

/* Sort the entries by row; the columns of a row stay in order. out.first is zero. */
static bool sort_by_row(const struct stored *S, const int *ptr, const int *row, struct csc_index out, struct err *e)
{
    int *first = out.first;
    struct loop l = loop_of("sorting by row", 2 * S->nnz + S->rows);
    for (int64_t k = 0; k < S->nnz && loop_goes(&l, k); k++) first[row[k] + 1]++;
    for (int64_t i = 0; i < S->rows && loop_goes(&l, S->nnz + i); i++) first[i + 1] += first[i];
    for (int64_t j = 0; j < S->cols && loop_goes(&l, S->nnz + S->rows + ptr[j]); j++)
        for (int k = ptr[j]; k < ptr[j + 1]; k++) {
            int at = first[row[k]]++;
            out.from[at] = k;
            out.col[at] = (int)j;
        }
    memmove(first + 1, first, (size_t)S->rows * sizeof *first); /* each is now where the next row begins */
    first[0] = 0;
    return loop_end(&l, e);
}

/* The host sorts the entries, once per matrix. */
static bool make_index(const struct launch *L, struct err *e)
{
    const struct stored *S = L->A->of;
    struct device *d = L->A->dev;
    int *ptr = (int *)mem_new(S->cols + 1, sizeof *ptr, "the columns of a matrix", e);
    int *row = ptr ? (int *)mem_new(S->nnz, sizeof *row, "the rows of its entries", e) : NULL;
    void *index = row ? mem_zero(index_bytes(L->A), 1, "an index by rows", e) : NULL;
    bool ok = index && d->ops->get(d, ptr, L->A->ptr[CSC_PTR], (S->cols + 1) * (int64_t)sizeof *ptr, e) &&
              d->ops->get(d, row, L->A->ptr[CSC_ROW], S->nnz * (int64_t)sizeof *row, e) &&
              sort_by_row(S, ptr, row, index_at(S, index), e) &&
              d->ops->put(d, L->scratch, index, index_bytes(L->A), e);
    mem_free(index);
    mem_free(row);
    mem_free(ptr);
    return ok;
}

template <typename T>
using ordered_kernel = void(int, GPTR(const int), GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T), T,
                            GPTR(T));

template <typename T> static bool ordered(const struct launch *L, struct err *)
{
    static KERNEL_POINTER(ordered_kernel<T>)
        const kernel[] = {KERNEL(csc_ordered<T, 2>), KERNEL(csc_ordered<T, 4>), KERNEL(csc_ordered<T, 8>),
                          KERNEL(csc_ordered<T, 16>), KERNEL(csc_ordered<T, 32>)};
    const struct stored *S = L->A->of;
    int k = vector_choice(S->rows, S->nnz);
    struct csc_index at = index_at(S, L->scratch);
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK / (2 << k)), BLOCK, kernel[k])
    ((int)S->rows, VECTOR("first", ROLE_WORK, at.first, S->rows + 1, const int),
     VECTOR("from", ROLE_WORK, at.from, S->nnz, const int), VECTOR("col", ROLE_WORK, at.col, S->nnz, const int),
     ARRAY(L, CSC_VAL, T), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
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

KERNEL_ENTRY(csc_ordered) = {
    .name = "csc-ordered",
    .about = "rows instead of columns, through an index of the entries by row: no atomics, the same bits in every run",
    .format = &format_csc,
    .source = "[ours]",
    .work = "every 2nd, 4th, 8th, 16th or 32nd entry of one row, found through an index",
    .lesson = "Before the first product, the host sorts the numbers of the entries by row, and keeps the column\n"
              "of each. A vector of V threads takes a row; the mean row length gives V. On the 4x4 example:\n"
              "    val    1  5  7  2  6  8  3  9  4     entries 0 to 8, by columns\n"
              "    first  0     2     4        7    9\n"
              "    from   0  2  3  5  1  6  7  4  8     row 0 has the entries 0 and 2, row 1 the entries 3 and 5\n"
              "    col    0  1  1  2  0  2  3  1  3\n"
              "The sum of a row stays in its threads, which add it in a fixed order: no atomics, and every run\n"
              "gives the same bits, so this is the default of csc. But val is gathered like x, and the index takes\n"
              "8 bytes per nonzero, on the device and in every product. csr stores val in this order and needs no\n"
              "index: convert to csr. csc-vector needs none either, but adds by atomics, in any order.\n",
    .functions = {{"csc_ordered", BLOCK}},
    .deterministic = true,
    .reads = ordered_reads,
    .scratch = index_bytes,
    .prepare = make_index,
    .product = {VALUE_TYPES(ordered)},
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
