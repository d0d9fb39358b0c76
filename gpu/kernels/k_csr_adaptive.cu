/* CSR-Adaptive, a matrix-vector product for CSR (Greathouse and Daga 2014; Daga and Greathouse 2015): a block has the
   rows that begin in its share of the entries. Several short rows are summed in shared memory, a long one by all
   threads. */
#include "formats/fmt_csr.h"
#include "gpu/dialect.h"
#include "matrix/csr.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256, WARPS = BLOCK / WARP };

/* The rows of a block, in `cut`. */
enum {
    CUT_ROW,   /* the first row that begins in the share */
    CUT_BEGIN, /* where it begins */
    CUT_LAST,  /* where the last row of the share begins */
    CUT = 4    /* numbers per block, so that they are one load */
};

/* Entries in the share of a block. With few entries, small shares spread the reads of x over all multiprocessors. The
   borders were measured on an H200, on 44 real matrices. */
enum { SMALL_NNZ = 5 << 15, MEDIUM_NNZ = 1 << 19, LONG_ROW = 1 << 12 };
static int64_t share_of(int64_t nnz)
{
    return BLOCK * (nnz <= SMALL_NNZ ? 1 : nnz <= MEDIUM_NNZ ? 2 : 4);
}

/* The number of blocks; at least one. Empty rows after the last entry belong to the last block. */
static int64_t blocks_of(const struct stored *S)
{
    int64_t share = share_of(S->nnz);
    return S->nnz ? (S->nnz + share - 1) / share : 1;
}

/* ---- preparation ---- */

/* The first row that begins at entry k or later. The first share begins with row 0, and `rows` ends the last one. */
static __device__ int row_at(int64_t b, int64_t blocks, int64_t share, int rows, GPTR(const int) ptr)
{
    int low = 0, high = rows;
    if (b == 0) return 0;
    if (b >= blocks) return rows;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (ptr[mid] < b * share)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* One share per thread, and the end of the last one. */
static __global__ void adaptive_cut(int64_t blocks, int64_t share, int rows, GPTR(const int) ptr, GPTR(int) cut)
{
    int64_t b = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (b > blocks) return;
    int row = row_at(b, blocks, share, rows, ptr), next = row_at(b + 1, blocks, share, rows, ptr);
    cut[CUT * b + CUT_ROW] = row;
    cut[CUT * b + CUT_BEGIN] = ptr[row];
    cut[CUT * b + CUT_LAST] = next > row ? ptr[next - 1] : ptr[row];
    cut[CUT * b + CUT_LAST + 1] = 0;
}

/* ---- the product ---- */

/* The number of threads per row, a power of 2: as many as a warp or the block has for each of n rows. */
static __device__ int threads_for(int n)
{
    int threads = WARP;
    while (threads > 1 && n > BLOCK / threads) threads /= 2;
    return threads;
}

/* The rows of a block that several threads each sum: n rows from `first` on, whose entries begin at `begin`. */
struct adaptive_rows {
    int first, n, begin;
    int threads; /* per row */

    __device__ int at_once() const { return BLOCK / threads; }
};

/* A row's entries, relative to the block's first. */
struct row_range {
    int from, to;
};

static __device__ row_range range_of(const adaptive_rows &r, int i, GPTR(const int) ptr)
{
    row_range range = {0, 0};
    if (i < r.n) range = {ptr[r.first + i] - r.begin, ptr[r.first + i + 1] - r.begin};
    reconverge();
    return range;
}

/* Sum the products of the rows. `range` is that of the thread's first row. Participants: the whole block. */
template <typename T, typename S>
__device__ void sum_rows(const adaptive_rows &r, row_range range, GPTR(const int) ptr, S product, T alpha, T beta,
                         GPTR(T) y)
{
    int lane = (int)threadIdx.x % r.threads, i = (int)threadIdx.x / r.threads;
    UNROLL(1)
    for (int from = 0; from < r.n; from += r.at_once(), i += r.at_once()) {
        if (from > 0) range = range_of(r, i, ptr);
        T sum = 0;
        AHEAD(UNROLL_AUTO)
        for (int k = range.from + lane; k < range.to; k += r.threads) sum += product[k];
        reconverge();
        for (int d = r.threads / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d, r.threads);
        if (i < r.n && lane == 0) store(y, r.first + i, alpha, sum, beta);
        reconverge();
    }
}

/* The sum of this thread's products among the next AT_ONCE * BLOCK entries from `from` on, before `end`. Their loads
   are under way at the same time. */
enum { AT_ONCE = 8 };
template <typename T, typename U>
__device__ T sum_part(int from, int end, GPTR(const int) col, GPTR(const U) val, FRESH(const T) x)
{
    int c[AT_ONCE];
    U v[AT_ONCE];
    UNROLL_WHOLE
    for (int j = 0; j < AT_ONCE; j++) {
        int64_t k = (int64_t)from + j * +BLOCK + (int)threadIdx.x;
        c[j] = k < end ? once(col, k) : 0;
        v[j] = k < end ? once(val, k) : U{};
        reconverge();
    }
    T sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < AT_ONCE; j++) {
        int64_t k = (int64_t)from + j * +BLOCK + (int)threadIdx.x;
        if (k < end) sum += (T)v[j] * x[c[j]];
        reconverge();
    }
    return sum;
}

/* The sum over all threads of the block, to the first one. Participants: the whole block. */
template <typename T, typename S> __device__ T sum_of_block(T sum, S part)
{
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    if (threadIdx.x % WARP == 0) part[threadIdx.x / WARP] = sum;
    __syncthreads(); /* all threads of the block: the sums of the warps are complete */
    sum = 0;
    for (int w = 0; w < WARPS && threadIdx.x == 0; w++) sum += part[w];
    return sum;
}

/* One block per share. The first EACH + 1 entries of a thread are loaded before x is read. If the rows of the share
   have more entries than these, the last row is long: its products are not stored. */
template <typename T, typename U, int EACH>
__global__ void csr_adaptive(GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val, T alpha,
                             FRESH(const T) x, T beta, GPTR(T) y)
{
    enum { STAGED = EACH + 1 };
    SHARED(T, product, STAGED * +BLOCK);
    SHARED(T, part, WARPS);
    begin_next();
    auto mine = together<CUT>(cut, CUT * (int64_t)blockIdx.x),
         next = together<CUT>(cut, CUT * (int64_t)(blockIdx.x + 1));
    int first = mine.of[CUT_ROW], rows = next.of[CUT_ROW] - first, begin = mine.of[CUT_BEGIN];
    int n = next.of[CUT_BEGIN] - begin; /* entries of the rows */
    bool longer = n > STAGED * +BLOCK;
    int kept = longer ? mine.of[CUT_LAST] - begin : n; /* entries whose products are stored */
    int c[STAGED];
    U v[STAGED];
    UNROLL_WHOLE
    for (int j = 0; j < STAGED; j++) {
        int i = j * +BLOCK + (int)threadIdx.x;
        c[j] = i < n ? once(col, begin + i) : 0;
        v[j] = i < n ? once(val, begin + i) : U{};
        reconverge();
    }
    adaptive_rows several = {first, rows - longer, begin, threads_for(rows - longer)};
    row_range range = range_of(several, (int)threadIdx.x / several.threads, ptr);
    await_previous();
    T sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < STAGED; j++) {
        int i = j * +BLOCK + (int)threadIdx.x;
        T p = i < n ? (T)v[j] * x[c[j]] : T(0);
        if (i < kept)
            product[i] = p;
        else
            sum += p;
        reconverge();
    }
    for (int k = STAGED * +BLOCK; longer && k < n; k += AT_ONCE * +BLOCK)
        sum += sum_part<T>(begin + k, begin + n, col, val, x);
    __syncthreads(); /* all threads of the block: the products are complete */
    sum_rows(several, range, ptr, product, alpha, beta, y);
    if (!longer) return; /* the whole block returns */
    sum = sum_of_block(sum, part);
    if (threadIdx.x == 0) store(y, first + rows - 1, alpha, sum, beta);
}

/* ---- on the host ---- */

/* Measured on an H200, on 44 real matrices with fewer entries: alone, the kernel takes 0.9 times as long as csr-ends,
   and in a chain 0.7 times; csr-stream takes 1.2 and 1.6 times as long where rows are short. A long row takes one block
   too long. */
static bool few_entries(const struct csr *A)
{
    return A->nnz <= MEDIUM_NNZ && !csr_has_row_above(A, LONG_ROW);
}

#define CUTS(L, ...) VECTOR("cut", ROLE_WORK, (L)->scratch, CUT *(blocks_of((L)->A->of) + 1), __VA_ARGS__)

static int64_t cut_bytes(const struct mat *M)
{
    return CUT * (blocks_of(M->of) + 1) * (int64_t)sizeof(int);
}

static bool prepare(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    int64_t blocks = blocks_of(S);
    LAUNCH(L->A->dev, blocks_for(blocks + 1, BLOCK), BLOCK, adaptive_cut)
    (blocks, share_of(S->nnz), (int)S->rows, ARRAY(L, CSR_PTR, int), CUTS(L, int));
    return true;
}

template <typename T, typename U, int EACH> static void launch(const struct launch *L)
{
    const struct stored *S = L->A->of;
    FOLLOW(L->A->dev, (unsigned)blocks_of(S), BLOCK, csr_adaptive<T, U, EACH>)
    (CUTS(L, const int), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, U), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

template <typename T, typename U = T> static bool adaptive(const struct launch *L, struct err *)
{
    switch (share_of(L->A->of->nnz) / BLOCK) {
    case 1:
        launch<T, U, 1>(L);
        break;
    case 2:
        launch<T, U, 2>(L);
        break;
    default:
        launch<T, U, 4>(L);
    }
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_adaptive) = {
    .name = "csr-adaptive",
    .about = "the rows that begin in equal shares of the entries: short rows in shared memory, a long one by a block",
    .format = &format_csr,
    .source = "Greathouse and Daga 2014; Daga and Greathouse 2015",
    .work = "every 256th entry of the block's rows, then a part of a row's sum",
    .lesson = "A block has the rows that begin in its share of 256, 512 or 1024 entries (more if the matrix has\n"
              "more). Its threads read these entries by coalesced loads and store the products in shared memory;\n"
              "then 1 to 32 threads sum each row, as many as there are for the rows of the block. On the 4x4\n"
              "example with shares of 4 entries:\n"
              "    product  1  7  2  8 | 5  3  9  6  4     rows 2 and 3 begin in the second share, none in the last\n"
              "If the last row of a share ends far behind the share, all threads of the block add its products\n"
              "without storing them. A row of some thousand entries therefore costs one block: no atomics, and no\n"
              "pieces of the row in several blocks, as in csr-ends. A row of 100000 entries keeps its block busy\n"
              "long after the others have finished: use csr-ends. The preparation finds the first row of each\n"
              "share.\n",
    .functions = {{"csr_adaptive", BLOCK}},
    .deterministic = true,
    .follows = true,
    .best = few_entries,
    .scratch = cut_bytes,
    .prepare = prepare,
    .product = {VALUE_TYPES(adaptive), NARROW_TYPES(adaptive)},
};
