/* CSR-Adaptive, a matrix-vector product for CSR (Greathouse and Daga 2014; Daga and Greathouse 2015): a block has the
   rows that begin in its share of the entries. Several short rows are summed in shared memory, a long one by all
   threads. */
#include "formats/fmt_csr.h"
#include "matrix/csr.h"
#include "vec.h"

namespace KERNEL_SPACE
{

enum { BLOCK = VEC_BLOCK, WARPS = BLOCK / WARP };

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

/* Sum the products of the rows, and put the sums. `range` is that of the thread's first row. Participants: the whole
   block. */
template <typename T, typename S, typename PUT>
__device__ void sum_rows(const adaptive_rows &r, row_range range, GPTR(const int) ptr, S product, PUT &out)
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
        if (i < r.n && lane == 0) out.put(r.first + i, sum);
        reconverge();
    }
}

/* The sum of this thread's products among the next AT_ONCE * BLOCK entries from `from` on, before `end`. Their loads
   are under way at the same time. */
enum { AT_ONCE = 8 };
template <typename T, typename U, typename X>
__device__ T sum_part(int from, int end, GPTR(const int) col, GPTR(const U) val, FRESH(const X) x)
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
        if (k < end) sum += (T)v[j] * (T)x[c[j]];
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

/* The rows of share b, by one block. The first EACH + 1 entries of a thread are loaded before x is read. If the rows of
   the share have more entries than these, the last row is long: its products are not stored. Sums are of type T.
   Returns false, to all threads, if `out` does not begin. Participants: the whole block. */
template <typename T, int EACH, typename U, typename X, typename PUT>
__device__ bool put_share(int64_t b, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val,
                          FRESH(const X) x, PUT &out)
{
    enum { STAGED = EACH + 1 };
    SHARED(T, product, STAGED * +BLOCK);
    SHARED(T, part, WARPS);
    auto mine = together<CUT>(cut, CUT * b), next = together<CUT>(cut, CUT * (b + 1));
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
    if (!out.begin()) return false;
    T sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < STAGED; j++) {
        int i = j * +BLOCK + (int)threadIdx.x;
        T p = i < n ? (T)v[j] * (T)x[c[j]] : T(0);
        if (i < kept)
            product[i] = p;
        else
            sum += p;
        reconverge();
    }
    for (int k = STAGED * +BLOCK; longer && k < n; k += AT_ONCE * +BLOCK)
        sum += sum_part<T>(begin + k, begin + n, col, val, x);
    __syncthreads(); /* all threads of the block: the products are complete */
    sum_rows<T>(several, range, ptr, product, out);
    if (!longer) return true; /* the whole block returns */
    sum = sum_of_block(sum, part);
    if (threadIdx.x == 0) out.put(first + rows - 1, sum);
    return true;
}

template <typename T> struct adaptive_result {
    T alpha, beta;
    GPTR(T) y;

    __device__ bool begin() const { return true; }
    __device__ void put(int64_t row, T sum) const { store(y, row, alpha, sum, beta); }
};

/* One block per share. */
template <typename T, typename U, int EACH>
__global__ void csr_adaptive(GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col, GPTR(const U) val,
                             FRESH(const T) x, adaptive_result<T> out)
{
    begin_next();
    put_share<T, EACH>(blockIdx.x, cut, ptr, col, val, x, out);
}

/* The product of conjugate gradients and the terms of its sums. The last block that finishes stores them. */
template <typename T, bool DIAGONAL> struct adaptive_terms {
    enum { SUMS = 3 };
    FRESH(double) s;
    FRESH(const T) x;
    FRESH(const T) r;
    GPTR(const T) dinv;
    GPTR(T) y;
    bool begun, careful;
    vec_sums t;

    __device__ bool begin()
    {
        if (begun) return true;
        begun = true;
        careful = s[S_CAREFUL] != 0;
        return s[S_DONE] == 0;
    }
    __device__ void put(int64_t row, double q)
    {
        y[row] = (T)q;
        t = vec_joined<adaptive_terms>(t, cg_terms<DIAGONAL>(row, x, q, r, dinv, careful));
    }
    __device__ void end(GPTR(double) sums, vec_sums all) const { cg_keep(sums, all); }
};

/* The products of a row are added in fp64, whatever the type of y: in fp32, cg would take more iterations. */
template <typename T, typename U, int EACH, bool DIAGONAL>
__global__ void csr_adaptive_sums(int64_t shares, GPTR(unsigned) ticket, GPTR(const int) cut, GPTR(const int) ptr,
                                  GPTR(const int) col, GPTR(const U) val, adaptive_terms<T, DIAGONAL> out)
{
    begin_next();
    for (int64_t b = blockIdx.x; b < shares; b += gridDim.x) {
        if (!put_share<double, EACH>(b, cut, ptr, col, val, out.x, out)) return; /* all threads of the grid */
        __syncthreads(); /* all threads of the block: the products may be overwritten */
    }
    vec_finish(out.s, ticket, out, out.t);
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

#define OF_CSR(L, U) CUTS(L, const int), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, U)

template <typename T, typename U> struct adaptive_launch {
    const struct launch *L;

    template <int EACH> void run() const
    {
        const struct stored *S = L->A->of;
        FOLLOW(L->A->dev, (unsigned)blocks_of(S), BLOCK, csr_adaptive<T, U, EACH>)
        (OF_CSR(L, U), VECTOR("x", ROLE_X, L->x, S->cols, const T),
         adaptive_result<T>{(T)L->alpha, (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T)});
    }
};

template <typename T, typename U, bool DIAGONAL> struct adaptive_sums_launch {
    const struct launch *L;

    template <int EACH> void run() const
    {
        const struct stored *S = L->A->of;
        int64_t shares = blocks_of(S);
        double *s = L->s;
        unsigned most = vec_grid(L->A->dev, 1 << 30), blocks = shares < most ? (unsigned)shares : most;
        adaptive_terms<T, DIAGONAL> out = {SCALARS_OF(s),
                                           VECTOR("x", ROLE_X, L->x, S->rows, const T),
                                           VECTOR("r", ROLE_WORK, L->r, S->rows, const T),
                                           VECTOR("dinv", ROLE_WORK, L->dinv, S->rows, const T),
                                           VECTOR("y", ROLE_Y, L->y, S->rows, T),
                                           false,
                                           false,
                                           {0, 0, 0}};
        vec_launch(L->A->dev, blocks, csr_adaptive_sums<T, U, EACH, DIAGONAL>)(shares, TICKET_OF(s), OF_CSR(L, U), out);
    }
};

template <typename LAUNCHES> static bool run_for(const struct stored *S, LAUNCHES launches)
{
    switch (share_of(S->nnz) / BLOCK) {
    case 1:
        launches.template run<1>();
        break;
    case 2:
        launches.template run<2>();
        break;
    default:
        launches.template run<4>();
    }
    return true;
}

template <typename T, typename U = T> static bool adaptive(const struct launch *L, struct err *)
{
    return run_for(L->A->of, adaptive_launch<T, U>{L});
}

template <typename T, typename U = T> static bool sums(const struct launch *L, struct err *)
{
    return L->dinv ? run_for(L->A->of, adaptive_sums_launch<T, U, true>{L})
                   : run_for(L->A->of, adaptive_sums_launch<T, U, false>{L});
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
    .sums = {REALS(sums), NO_PAIRS, NARROW_TYPES(sums)},
};
