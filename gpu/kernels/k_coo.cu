/* SpMV kernels (matrix-vector products) for COO: each thread takes one nonzero and adds it to y atomically, or each
   warp takes a stretch of nonzeros and first sums them by row, with atomic additions or with carries. */
#include "carries.h"
#include "formats/fmt_coo.h"
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128, STRETCH = 16 * WARP };

/* One row per thread. y is not read if beta is 0. */
template <typename T> __global__ void scale(unsigned rows, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) y[row] = beta == 0 ? 0 : beta * y[row];
}

/* One nonzero per thread. Neighbouring lanes read neighbouring elements of row, col and val; lanes in the same row add
   to the same element of y. */
template <typename T>
__global__ void coo_atomic(unsigned nnz, GPTR(const int) row, GPTR(const int) col, GPTR(const T) val, T alpha,
                           GPTR(const T) x, GPTR(T) y)
{
    unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= nnz) return;
    T product = alpha * val[k] * x[col[k]];
    atomicAdd(y + row[k], product);
}

/* A stretch of neighbouring nonzeros per warp, 32 at a time: products are summed over the lanes in the same row, and
   only the last lane of a row adds to y. The sum in lane 31 is carried into the next 32 nonzeros. */
template <typename T>
__global__ void coo_segmented(unsigned nnz, GPTR(const int) row, GPTR(const int) col, GPTR(const T) val, T alpha,
                              GPTR(const T) x, GPTR(T) y)
{
    int lane = threadIdx.x % WARP, carried = -1;
    unsigned first = (blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP) * STRETCH;
    T carry = 0;
    for (unsigned at = first; at < first + STRETCH && at < nnz; at += WARP) { /* `at` is the same for all lanes */
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

/* Store the sum of row r, which warp w has completed: as a carry if it is the warp's first or last row. */
template <typename T>
__device__ void coo_finish(int r, T sum, int opens, int closes, int w, T alpha, GPTR(T) y, GPTR(T) carries)
{
    if (r == opens)
        carries[2 * w] = sum;
    else if (r == closes)
        carries[2 * w + 1] = sum;
    else
        y[r] += alpha * sum;
}

/* The same stretches, without atomics. Rows inside a stretch have all their nonzeros there, and their sums are added to
   y at once. The sums of the first and of the last row of warp w, which other warps may share, become carries 2w and
   2w + 1; merge_carries adds them. If both are one row, the second is 0. */
template <typename T>
__global__ void coo_ordered(unsigned nnz, GPTR(const int) row, GPTR(const int) col, GPTR(const T) val, T alpha,
                            GPTR(const T) x, GPTR(T) y, GPTR(int) carry_row, GPTR(T) carries)
{
    int lane = threadIdx.x % WARP, carried = -1, w = (int)(blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP);
    unsigned first = (unsigned)w * STRETCH;
    if (first >= nnz) return; /* the whole warp returns */
    unsigned end = min(first + STRETCH, nnz);
    int opens = row[first], closes = row[end - 1];
    if (lane == 0) {
        carry_row[2 * w] = opens;
        carry_row[2 * w + 1] = closes;
        if (opens == closes) carries[2 * w + 1] = 0;
    }
    T carry = 0;
    for (unsigned at = first; at < end; at += WARP) { /* `at` is the same for all lanes */
        unsigned k = at + lane;
        int r = k < nnz ? row[k] : -1;
        T sum = k < nnz ? val[k] * x[col[k]] : 0;
        if (lane == 0 && carried == r) sum += carry;
        if (lane == 0 && carried != r && carried >= 0) coo_finish(carried, carry, opens, closes, w, alpha, y, carries);
        sum = scan_by_row(lane, r, sum);
        int next = __shfl_down_sync(FULL_MASK, r, 1);
        if (lane < WARP - 1 && next != r && r >= 0) coo_finish(r, sum, opens, closes, w, alpha, y, carries);
        carried = __shfl_sync(FULL_MASK, r, WARP - 1);
        carry = __shfl_sync(FULL_MASK, sum, WARP - 1);
    }
    if (lane == 0 && carried >= 0) coo_finish(carried, carry, opens, closes, w, alpha, y, carries);
}

template <typename T> void launch_scale(const struct launch *L)
{
    int64_t rows = L->A->of->rows;
    LAUNCH(L->A->dev, blocks_for(rows, BLOCK), BLOCK, scale<T>)
    ((unsigned)rows, (T)L->beta, VECTOR("y", ROLE_Y, L->y, rows, T));
}

template <typename T>
using coo_kernel = void(unsigned, GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T), GPTR(T));

template <typename T>
static void add_coo(const struct launch *L, struct coo_part p, KERNEL_POINTER(coo_kernel<T>) kernel,
                    int nonzeros_per_block)
{
    const struct stored *S = L->A->of;
    int64_t nnz = S->a[p.val].n;
    LAUNCH(L->A->dev, blocks_for(nnz, nonzeros_per_block), BLOCK, kernel)
    ((unsigned)nnz, ARRAY(L, p.row, int), ARRAY(L, p.col, int), ARRAY(L, p.val, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

template <typename T> void launch_coo(const struct launch *L, struct coo_part p)
{
    add_coo<T>(L, p, KERNEL(coo_segmented<T>), BLOCK / WARP * STRETCH);
}

/* ---- the scratch memory of coo_ordered: two carries per warp, CARRY_BYTES each, then their rows ---- */

static int64_t carries_of(const struct stored *S, struct coo_part p)
{
    return 2 * ((S->a[p.val].n + STRETCH - 1) / STRETCH);
}

int64_t coo_ordered_bytes(const struct stored *S, struct coo_part p)
{
    int64_t carries = carries_of(S, p);
    return (carries ? carries : 1) * (CARRY_BYTES + (int64_t)sizeof(int));
}

static int *carry_rows(const struct launch *L, struct coo_part p)
{
    return (int *)((char *)L->scratch + carries_of(L->A->of, p) * CARRY_BYTES);
}

/* No carries yet, so that a sample of the warps may run without the others. */
void coo_ordered_prepare(const struct launch *L, struct coo_part p)
{
    for (int64_t i = 0; L->A->dev->kind == DEV_EMU && i < carries_of(L->A->of, p); i++)
        carry_rows(L, p)[i] = (int)L->A->of->rows;
}

template <typename T> void launch_coo_ordered(const struct launch *L, struct coo_part p)
{
    const struct stored *S = L->A->of;
    int64_t nnz = S->a[p.val].n, carries = carries_of(S, p);
    LAUNCH(L->A->dev, blocks_for(nnz, BLOCK / WARP * STRETCH), BLOCK, coo_ordered<T>)
    ((unsigned)nnz, ARRAY(L, p.row, int), ARRAY(L, p.col, int), ARRAY(L, p.val, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), VECTOR("y", ROLE_Y, L->y, S->rows, T),
     VECTOR("carry_row", ROLE_WORK, carry_rows(L, p), carries, int),
     VECTOR("carry", ROLE_WORK, L->scratch, carries, T));
    LAUNCH(L->A->dev, blocks_for(carries, BLOCK / WARP), BLOCK, merge_carries<T>)
    ((int)carries, (int)S->rows, VECTOR("carry_row", ROLE_WORK, carry_rows(L, p), carries, const int),
     VECTOR("carry", ROLE_WORK, L->scratch, carries, const T), (T)L->alpha, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

INSTANTIATE(launch_scale, const struct launch *);
INSTANTIATE(launch_coo, const struct launch *, struct coo_part);
INSTANTIATE(launch_coo_ordered, const struct launch *, struct coo_part);

static const struct coo_part whole = {COO_ROW, COO_COL, COO_VAL};

template <typename T> static bool atomic(const struct launch *L, struct err *)
{
    launch_scale<T>(L);
    add_coo<T>(L, whole, KERNEL(coo_atomic<T>), BLOCK);
    return true;
}

template <typename T> static bool segmented(const struct launch *L, struct err *)
{
    launch_scale<T>(L);
    launch_coo<T>(L, whole);
    return true;
}

static int64_t ordered_bytes(const struct mat *M)
{
    return coo_ordered_bytes(M->of, whole);
}

static bool prepare_ordered(const struct launch *L, struct err *)
{
    coo_ordered_prepare(L, whole);
    return true;
}

template <typename T> static bool ordered(const struct launch *L, struct err *)
{
    launch_scale<T>(L);
    launch_coo_ordered<T>(L, whole);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(coo_ordered) = {
    .name = "coo-ordered",
    .about = "like coo-segmented, without atomics: a second launch adds the sums of rows that warps share, in order",
    .format = &format_coo,
    .source = "[ours]",
    .work = "16 nonzeros per thread; then a warp per row that several warps share",
    .lesson = "A warp takes 512 nonzeros and sums them by row, as coo-segmented does. On the 4x4 example, with\n"
              "stretches of 5 nonzeros instead of 512 and products a to i:\n"
              "    warp 0   a+b   c+d | e         row 1 is inside: its sum is stored\n"
              "    warp 1   f+g | h+i             rows 2 and 3 are its first and its last row: carries\n"
              "    carries  a+b, e, f+g, h+i      of the rows 0, 2, 2, 3: row 2 gets e + (f+g)\n"
              "Only the first and the last row of a stretch can have nonzeros in another one. Their sums go to\n"
              "memory, and a second launch adds those of a row in the order of the stretches. No atomics are\n"
              "needed, and every run gives the same bits, so this is the default of coo. All reads except x are\n"
              "contiguous. coo-segmented saves the second launch, but adds by atomics, in any order.\n",
    .functions = {{"scale", BLOCK}, {"coo_ordered", BLOCK}, {"merge_carries", BLOCK}},
    .deterministic = true,
    .together = true,
    .separable = true,
    .scratch = ordered_bytes,
    .prepare = prepare_ordered,
    .product = {VALUE_TYPES(ordered)},
};

KERNEL_ENTRY(coo_atomic) = {
    .name = "coo-atomic",
    .about = "perfect balance and coalesced reads, at the cost of one atomic addition per nonzero",
    .format = &format_coo,
    .source = "NOTES",
    .work = "one nonzero per thread, atomicAdd to y",
    .lesson = "Thread k takes nonzero k of the list, whatever its row. On the 4x4 example:\n"
              "    row     0  0  1  1  2  2  2  3  3\n"
              "    col     0  1  1  2  0  2  3  1  3\n"
              "    val     1  7  2  8  5  3  9  6  4\n"
              "    thread  0  1  2  3  4  5  6  7  8\n"
              "A warp reads 32 neighbouring rows, columns and values: 4, 4 and 8 sectors of 32 bytes in fp64, none\n"
              "of them wasted. x is gathered. Every thread has the same amount of work.\n"
              "The cost is one atomic addition per nonzero. Threads 4, 5 and 6 all add to y[2], one after another,\n"
              "in no fixed order: the last bits of y may differ from run to run. Long rows are the worst case.\n"
              "NOTES: the load is fairly balanced, but the atomics slow the updates of y a lot. Use coo-segmented\n"
              "or any CSR kernel.\n",
    .functions = {{"scale", BLOCK}, {"coo_atomic", BLOCK}},
    .product = {VALUE_TYPES(atomic)},
};

KERNEL_ENTRY(coo_segmented) = {
    .name = "coo-segmented",
    .about = "a warp first sums its products by row: one atomic addition per row and warp, not per nonzero",
    .format = &format_coo,
    .source = "[ours]",
    .work = "16 nonzeros per thread; a warp reads 32 neighbouring nonzeros at a time",
    .lesson = "A warp takes 512 nonzeros of the list, 32 neighbouring nonzeros at a time, and sums the products of\n"
              "each row before it adds to y. On the 4x4 example, with products a to i:\n"
              "    row      0   0   1   1   2   2     2   3   3\n"
              "    product  a   b   c   d   e   f     g   h   i\n"
              "    sums     a  a+b  c  c+d  e  e+f  e+f+g h  h+i\n"
              "Five shuffle steps compute the sums; the last lane of each row adds to y: 4 atomics here instead of\n"
              "9. The sum in lane 31 is carried into the next 32 nonzeros, so a long row costs one atomic per 512\n"
              "nonzeros. All reads except x are contiguous, as in coo-atomic.\n"
              "The order of the atomics is still not fixed, so the last bits may differ between runs. For rows of\n"
              "one or two entries this saves little; csr-ends has the same balance without atomics.\n",
    .functions = {{"scale", BLOCK}, {"coo_segmented", BLOCK}},
    .product = {VALUE_TYPES(segmented)},
};

#ifndef __CUDACC__
namespace KERNEL_SPACE
{

template <typename T> void host_scale(const struct launch *L, int threads)
{
    T *y = (T *)L->y, beta = (T)L->beta;
    host_shares(L, threads, L->A->of->rows, 4096, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) y[row] = beta == 0 ? 0 : beta * y[row];
    });
}

/* The first nonzero at or after i that begins a row; n if there is no such nonzero. */
static int64_t row_start(const int *row, int64_t n, int64_t i)
{
    while (i > 0 && i < n && row[i] == row[i - 1]) i++;
    return i;
}

/* The nonzeros are divided into nearly equal shares that begin at the start of a row, so that no two threads add to the
 * same y. Ctrl-C stops a long SpMV. */
template <typename T> void host_coo(const struct launch *L, struct coo_part p, int threads)
{
    const int *row = (const int *)L->A->ptr[p.row], *col = (const int *)L->A->ptr[p.col];
    const T *val = (const T *)L->A->ptr[p.val], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha;
    int64_t n = L->A->of->a[p.val].n;
    bool checked = loop_worth(n);
    struct loop l = loop_of("", n);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int t = 0; t < threads; t++) {
        int64_t end = row_start(row, n, n * (t + 1) / threads);
        int64_t k = row_start(row, n, n * t / threads);
        while (k < end && (!checked || loop_check(&l, k)))
            for (int64_t to = min(k + 4096, end); k < to; k++) y[row[k]] += alpha * val[k] * x[col[k]];
    }
}

INSTANTIATE(host_scale, const struct launch *, int);
INSTANTIATE(host_coo, const struct launch *, struct coo_part, int);

} // namespace KERNEL_SPACE

template <typename T> static void coo_host(const struct launch *L, int threads)
{
    host_scale<T>(L, threads);
    host_coo<T>(L, whole, threads);
}

HOST_ENTRIES(coo, "coo", coo_host, "the serial host loop over the nonzeros", "[ours]", "an equal share of the nonzeros",
             "Reads the three arrays from front to back, so the CPU prefetches them. The columns of the nonzeros\n"
             "determine the accesses to x, and their rows determine the accesses to y. With several threads, the\n"
             "list is cut where a row begins: no two threads write the same y, and no atomics are needed. A\n"
             "long row is processed by a single thread.\n");
#endif
