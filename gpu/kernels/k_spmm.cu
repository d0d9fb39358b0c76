/* SpMM kernels: Y = A X for several vectors. X and Y are row-major, so the values of a row of X, one for each vector,
   are neighbours: an entry of A multiplies one contiguous piece of X, and A is read once for all vectors. */
#include "gpu/dialect.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/fmt_bsr.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_sell.h"
#include "machine/spmm.h"

#ifdef __CUDACC__
#define SPMM_SYMBOL(id) cuda_spmm_##id
#else
#define SPMM_SYMBOL(id) emu_spmm_##id
#endif
#define SPMM_ENTRY(id)                                   \
    extern "C" const struct spmm_kernel SPMM_SYMBOL(id); \
    const struct spmm_kernel SPMM_SYMBOL(id)

namespace KERNEL_SPACE
{

enum { BLOCK = 128, SPMM_HELD = 8 }; /* SPMM_HELD: the sums that a thread of spmm_sell holds in registers */

/* Two neighbouring vectors, which one load reads together: aligned to its size, as complex numbers are. */
template <typename T> using two = cplx<T>;

/* a times one vector, or times each of two vectors */
template <typename T> __device__ T scaled(T a, T x)
{
    return a * x;
}
template <typename T> __device__ two<T> scaled(T a, two<T> x)
{
    return {a * x.re, a * x.im};
}

/* The lanes of a warp that work side by side on the vectors of one entry: the smallest power of two that is at least
   the number of elements that an entry multiplies, at most 32. */
static int lanes_across(int elements)
{
    int across = 1;
    while (across < elements && across < WARP) across *= 2;
    return across;
}

/* ---- csr ---- */

/* One row per across * along neighbouring threads: `across` lanes take the elements of a row of X, and `along` such
   groups of lanes take every along-th entry of the row of A. An element V is one vector or, if their number is even,
   two. With 8 vectors as 4 elements and along = 2, the lanes of a row are

       lane    0 .. 3    entry 0, vectors 0 .. 7      4 .. 7    entry 1, vectors 0 .. 7
                then     entry 2                      then      entry 3

   Row i has the entries from[i] .. to[i] - 1. Rows of more than `most` entries are left out, because they would keep
   their lanes busy long after the others; the pieces of such rows are rows of a second launch.
   The lanes of a group read the same element of col and val, and neighbouring elements of X. Shuffles add the groups.
   Participants in the shuffles: the whole warp, also lanes without a row or an element. */
template <typename T, typename V>
__global__ void spmm_csr(int64_t rows, int elements, int across, int along, int most, GPTR(const int) from,
                         GPTR(const int) to, GPTR(const int) col, GPTR(const T) val, GPTR(const V) x, GPTR(V) y)
{
    int lane = threadIdx.x % WARP, at = lane / across % along;
    int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / (across * along);
    int begin = 0, end = 0;
    bool mine = row < rows;
    if (mine) {
        begin = from[row];
        end = to[row];
        mine = end - begin <= most;
        if (!mine) end = begin;
    }
    UNROLL(1)
    for (int v = lane % across; v - lane % across < elements; v += across) {
        V sum = 0;
        UNROLL(4)
        for (int k = begin + at; k < end; k += along) {
            if (v < elements) sum += scaled<T>(val[k], x[(int64_t)col[k] * elements + v]);
            reconverge();
        }
        for (int d = along / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d * across);
        if (mine && at == 0 && v < elements) y[row * elements + v] = sum;
    }
}

/* One long row per warp: adds the sums of its pieces, in the same order in every run, with the lanes of spmm_csr. */
template <typename V>
__global__ void spmm_join(int64_t rows, int elements, int across, GPTR(const int) row_of, GPTR(const int) first,
                          GPTR(const V) part, GPTR(V) y)
{
    int lane = threadIdx.x % WARP, at = lane / across;
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    if (i >= rows) return; /* the whole warp: all lanes share the row */
    int64_t row = row_of[i];
    int begin = first[i], end = first[i + 1];
    UNROLL(1)
    for (int v = lane % across; v - lane % across < elements; v += across) {
        V sum = 0;
        UNROLL(4)
        for (int k = begin + at; k < end; k += WARP / across) {
            if (v < elements) sum += part[(int64_t)k * elements + v];
            reconverge();
        }
        for (int d = WARP / across / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d * across);
        if (at == 0 && v < elements) y[row * elements + v] = sum;
    }
}

/* The rows of more than LONG entries, cut into pieces of at most LONG entries. All arrays are on the device. */
enum { LONG = 256 };
struct long_rows {
    int64_t rows, pieces;
    int *cut;   /* where each piece begins, then where each piece ends */
    int *row;   /* the rows, then the first piece of each row, and the number of pieces */
    void *part; /* the sums of the pieces: one element of Y for each piece and vector */
};

/* Count the long rows and their pieces; list them if the arrays are given. */
static void list_long(const struct stored *S, struct long_rows *to, int *cut, int *row)
{
    const int *ptr = (const int *)S->a[CSR_PTR].data;
    int64_t pieces = to->pieces, rows = to->rows;
    to->rows = to->pieces = 0;
    for (int64_t i = 0; i < S->rows; i++) {
        if (ptr[i + 1] - ptr[i] <= LONG) continue;
        if (row) {
            row[to->rows] = (int)i;
            row[rows + to->rows] = (int)to->pieces;
            row[rows + to->rows + 1] = (int)pieces; /* overwritten by the next row */
        }
        for (int from = ptr[i]; from < ptr[i + 1]; from += LONG, to->pieces++)
            if (cut) {
                cut[to->pieces] = from;
                cut[pieces + to->pieces] = ptr[i + 1] - from > LONG ? from + LONG : ptr[i + 1];
            }
        to->rows++;
    }
}

static void long_rows_end(struct device *d, void *state)
{
    struct long_rows *l = (struct long_rows *)state;
    if (l->cut) d->ops->free(d, l->cut);
    if (l->row) d->ops->free(d, l->row);
    if (l->part) d->ops->free(d, l->part);
    mem_free(l);
}

static bool put_long(const struct spmm *L, struct long_rows *l, int *cut, int *row, struct err *e)
{
    const struct stored *S = L->A->of;
    struct device *d = L->A->dev;
    int64_t cut_bytes = 2 * l->pieces * (int64_t)sizeof *cut, row_bytes = (2 * l->rows + 1) * (int64_t)sizeof *row;
    list_long(S, l, cut, row);
    l->cut = (int *)d->ops->alloc(d, cut_bytes, "the pieces of long rows", e);
    l->row = l->cut ? (int *)d->ops->alloc(d, row_bytes, "the long rows", e) : NULL;
    l->part = l->row ? d->ops->alloc(d, l->pieces * L->vectors * (int64_t)type_size(precisions[S->real].vector),
                                     "their sums", e)
                     : NULL;
    return l->part && d->ops->put(d, l->cut, cut, cut_bytes, e) && d->ops->put(d, l->row, row, row_bytes, e);
}

/* No long rows: no state. */
static bool long_rows_begin(const struct spmm *L, void **state, struct err *e)
{
    struct long_rows found = {};
    list_long(L->A->of, &found, NULL, NULL);
    if (!found.rows) return true;
    struct long_rows *l = (struct long_rows *)mem_zero(1, sizeof *l, "the long rows", e);
    if (!l) return false;
    *state = l;
    *l = found;
    int *cut = (int *)mem_new(2 * l->pieces, sizeof *cut, "the pieces of long rows", e);
    int *row = cut ? (int *)mem_new(2 * l->rows + 1, sizeof *row, "the long rows", e) : NULL;
    bool ok = row && put_long(L, l, cut, row, e);
    mem_free(cut);
    mem_free(row);
    return ok;
}

/* Most rows take one group of lanes, so that several rows share a warp. Long rows take more groups, of which each gets
   32 entries or more. */
static int lanes_along(const struct stored *S, int across)
{
    int64_t mean = S->rows ? S->nnz / S->rows : 0;
    int along = 1;
    while (2 * along * across <= WARP && 2 * along * 32 <= mean) along *= 2;
    return along;
}

/* The sums of all pieces of long rows, each by a warp, then the sums of their rows. */
template <typename T, typename V>
static void launch_long(const struct spmm *L, const struct long_rows *l, int elements, int across)
{
    auto cut = VECTOR("cut", ROLE_WORK, l->cut, 2 * l->pieces, const int);
    auto row = VECTOR("row", ROLE_WORK, l->row, 2 * l->rows + 1, const int);
    LAUNCH(L->A->dev, blocks_for(l->pieces, BLOCK / WARP), BLOCK, spmm_csr<T, V>)
    (l->pieces, elements, across, WARP / across, LONG, cut, cut + l->pieces, ARRAY(L, CSR_COL, int),
     ARRAY(L, CSR_VAL, T), VECTOR("x", ROLE_X, L->x, L->A->of->cols * elements, const V),
     VECTOR("part", ROLE_WORK, l->part, l->pieces * elements, V));
    LAUNCH(L->A->dev, blocks_for(l->rows, BLOCK / WARP), BLOCK, spmm_join<V>)
    (l->rows, elements, across, row, row + l->rows, VECTOR("part", ROLE_WORK, l->part, l->pieces * elements, const V),
     VECTOR("y", ROLE_Y, L->y, L->A->of->rows * elements, V));
}

template <typename T, typename V> static bool csr_by(const struct spmm *L)
{
    const struct stored *S = L->A->of;
    int elements = L->vectors * (int)sizeof(T) / (int)sizeof(V);
    int across = lanes_across(elements), along = lanes_along(S, across);
    auto ptr = ARRAY(L, CSR_PTR, int);
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK / (across * along)), BLOCK, spmm_csr<T, V>)
    (S->rows, elements, across, along, LONG, ptr, ptr + 1, ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T),
     VECTOR("x", ROLE_X, L->x, S->cols * elements, const V), VECTOR("y", ROLE_Y, L->y, S->rows * elements, V));
    if (L->state) launch_long<T, V>(L, (const struct long_rows *)L->state, elements, across);
    return true;
}

/* On an H200 with 8 vectors in fp64, loading two vectors at a time takes 71 us instead of 96 for 5 entries per row,
   and 240 instead of 308 for 80. */
template <typename T> static bool csr_go(const struct spmm *L, struct err *)
{
    return L->vectors % 2 ? csr_by<T, T>(L) : csr_by<T, two<T>>(L);
}

/* ---- sell ---- */

/* One stored row per thread, for H of the vectors, whose sums the thread holds in registers. As in the kernel sell,
   neighbouring threads read neighbouring slots of col and val; each thread reads H neighbouring elements of X. */
template <typename T, int H>
__global__ void spmm_sell(unsigned stored_rows, int C, int vectors, int first, GPTR(const int) perm,
                          GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, GPTR(const T) x, GPTR(T) y)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= stored_rows) return;
    int row = perm[at];
    if (row < 0) return; /* padding of the last slice */
    unsigned slice = at / C;
    int64_t end = ptr[slice + 1];
    T sum[H] = {};
    UNROLL(1)
    for (int64_t k = ptr[slice] + (int64_t)(at % C); k < end; k += C) {
        int c = col[k];
        if (c < 0) break;
        T a = val[k];
        UNROLL_WHOLE
        for (int h = 0; h < H; h++) sum[h] += a * x[(int64_t)c * vectors + first + h];
    }
    UNROLL_WHOLE
    for (int h = 0; h < H; h++) y[(int64_t)row * vectors + first + h] = sum[h];
}

template <typename T, int H> static void sell_pass(const struct spmm *L, int first)
{
    const struct stored *S = L->A->of;
    int64_t n = S->a[SELL_PERM].n;
    LAUNCH(L->A->dev, blocks_for(n, BLOCK), BLOCK, spmm_sell<T, H>)
    ((unsigned)n, (int)S->param[0], L->vectors, first, ARRAY(L, SELL_PERM, int), ARRAY(L, SELL_PTR, int),
     ARRAY(L, SELL_COL, int), ARRAY(L, SELL_VAL, T), VECTOR("x", ROLE_X, L->x, S->cols * L->vectors, const T),
     VECTOR("y", ROLE_Y, L->y, S->rows * L->vectors, T));
}

/* One launch for every 8 vectors, then one each for 4, 2 and 1 of the others; A is read once per launch. */
template <typename T> static bool sell_go(const struct spmm *L, struct err *)
{
    int first = 0, left = L->vectors;
    for (; left >= SPMM_HELD; left -= SPMM_HELD, first += SPMM_HELD) sell_pass<T, SPMM_HELD>(L, first);
    if (left & 4) sell_pass<T, 4>(L, first), first += 4;
    if (left & 2) sell_pass<T, 2>(L, first), first += 2;
    if (left & 1) sell_pass<T, 1>(L, first);
    return true;
}

/* ---- bsr ---- */

/* One row per `across` neighbouring threads, which take the vectors. A row of a block multiplies b neighbouring rows of
   X, which its lanes read as one contiguous piece; a block has a single column index. */
template <typename T>
__global__ void spmm_bsr(int64_t rows, int64_t cols, int b, int vectors, int across, GPTR(const int) ptr,
                         GPTR(const int) col, GPTR(const T) val, GPTR(const T) x, GPTR(T) y)
{
    int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / across;
    if (row >= rows) return;
    int64_t block_row = row / b, r = row % b;
    int end = ptr[block_row + 1];
    UNROLL(1)
    for (int v = threadIdx.x % across; v < vectors; v += across) {
        T sum = 0;
        UNROLL(1)
        for (int64_t k = ptr[block_row]; k < end; k++) {
            int64_t j = (int64_t)col[k] * b;
            UNROLL(1)
            for (int c = 0; c < b && j + c < cols; c++) sum += val[(k * b + r) * b + c] * x[(j + c) * vectors + v];
        }
        y[row * vectors + v] = sum;
    }
}

template <typename T> static bool bsr_go(const struct spmm *L, struct err *)
{
    const struct stored *S = L->A->of;
    int across = lanes_across(L->vectors);
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK / across), BLOCK, spmm_bsr<T>)
    (S->rows, S->cols, (int)S->param[0], L->vectors, across, ARRAY(L, BSR_PTR, int), ARRAY(L, BSR_COL, int),
     ARRAY(L, BSR_VAL, T), VECTOR("x", ROLE_X, L->x, S->cols * L->vectors, const T),
     VECTOR("y", ROLE_Y, L->y, S->rows * L->vectors, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

SPMM_ENTRY(csr) = {
    .name = "spmm-csr",
    .about = "lanes over the vectors and over the entries of a row; A is read once",
    .format = &format_csr,
    .work = "one row, or 256 entries of a long row, per group of lanes: a lane per two vectors",
    .deterministic = true,
    .begin = long_rows_begin,
    .end = long_rows_end,
    .product = {REALS(csr_go)},
};

SPMM_ENTRY(sell) = {
    .name = "spmm-sell",
    .about = "the sums of 8 vectors in the registers of a thread; A is read once per 8 vectors",
    .format = &format_sell,
    .work = "one row per thread, 8 vectors at a time",
    .deterministic = true,
    .product = {REALS(sell_go)},
};

SPMM_ENTRY(bsr) = {
    .name = "spmm-bsr",
    .about = "lanes over the vectors; a block multiplies one contiguous piece of X",
    .format = &format_bsr,
    .work = "one row per group of lanes: a lane per vector, block after block",
    .deterministic = true,
    .product = {REALS(bsr_go)},
};

#ifndef __CUDACC__
/* Row `row` times H of the vectors, whose sums stay in registers while the entries of the row pass by. */
template <typename T, int H> static void host_sums(const struct spmm *L, int64_t row, int first)
{
    const int *ptr = (const int *)L->A->ptr[CSR_PTR], *col = (const int *)L->A->ptr[CSR_COL];
    const T *val = (const T *)L->A->ptr[CSR_VAL], *x = (const T *)L->x + first;
    T sum[H] = {}, *y = (T *)L->y + row * L->vectors + first;
    for (int k = ptr[row]; k < ptr[row + 1]; k++) {
        const T *piece = x + (int64_t)col[k] * L->vectors, a = val[k];
#pragma GCC unroll 8
        for (int h = 0; h < H; h++) sum[h] += a * piece[h];
    }
    for (int h = 0; h < H; h++) y[h] = sum[h];
}

template <typename T> static void host_row(const struct spmm *L, int64_t row)
{
    int first = 0;
    for (; first + SPMM_HELD <= L->vectors; first += SPMM_HELD) host_sums<T, SPMM_HELD>(L, row, first);
    if (L->vectors & 4) host_sums<T, 4>(L, row, first), first += 4;
    if (L->vectors & 2) host_sums<T, 2>(L, row, first), first += 2;
    if (L->vectors & 1) host_sums<T, 1>(L, row, first);
}

template <typename T> static bool host_go(const struct spmm *L, int threads, struct err *e)
{
    struct launch shared = {.A = L->A};
    host_shares(&shared, threads ? threads : host_threads(&shared), L->A->of->rows, 256, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) host_row<T>(L, row);
    });
    return loop_unbroken("the product", e);
}

template <typename T> static bool on_one_thread(const struct spmm *L, struct err *e)
{
    return host_go<T>(L, 1, e);
}

template <typename T> static bool on_all_threads(const struct spmm *L, struct err *e)
{
    return host_go<T>(L, 0, e);
}

SPMM_ENTRY(csr_serial) = {
    .name = "spmm-csr-serial",
    .about = "the serial host loop: the sums of 8 vectors in registers",
    .format = &format_csr,
    .work = "the whole SpMM, in one thread",
    .deterministic = true,
    .host = true,
    .product = {REALS(on_one_thread)},
};

SPMM_ENTRY(csr_openmp) = {
    .name = "spmm-csr-openmp",
    .about = "the host loop on all cores",
    .format = &format_csr,
    .work = "256 rows at a time per host thread",
    .deterministic = true,
    .host = true,
    .product = {REALS(on_all_threads)},
};
#endif
