/* SpMV kernel (matrix-vector product) for column strips. The first launch multiplies: x is gathered from shared memory,
   and each row of a strip gives partial sums. The second launch adds the partial sums of each row. */
#include "base/search.h"
#include "formats/fmt_strips.h"
#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 1024 };
/* A group of rows with more runs per warp than this waits until all warps of the block add it. */
enum { LONG = 64 };

/* ---- products ---- */

/* The inclusive sums of `tail` over the lanes: each lane adds the lanes before it, back to the last lane that ends a
   partial sum; that lane's tail comes after this end. ends: the lanes that end a partial sum. */
template <typename T> __device__ T scan_tails(int lane, unsigned ends, T tail)
{
    unsigned mine = ends & (FULL_MASK >> (WARP - 1 - lane));
    int from = mine ? WARP - 1 - __clz((int)mine) : 0;
    UNROLL_WHOLE
    for (int d = 1; d < WARP; d *= 2) {
        T below = __shfl_up_sync(FULL_MASK, tail, d);
        if (lane - d >= from) tail += below;
    }
    return tail;
}

/* A chunk of 128 entries per warp, four consecutive ones per lane. A request reads 32 neighbouring columns or values;
   x is gathered from shared memory. The lanes store their partial sums side by side. */
template <typename T, typename X>
__device__ void chunk_sums(int64_t c, int lane, X strip_x, GPTR(const uint16_t) col, GPTR(const T) val,
                           GPTR(const int) ends, GPTR(const int) before, GPTR(T) part)
{
    T product[STRIPS_WORDS], tail = 0;
    unsigned any = 0, below = (1u << lane) - 1;
    several<int, STRIPS_WORDS> word = once<STRIPS_WORDS>(ends, c * STRIPS_WORDS);
    int at = before[c];
    UNROLL_WHOLE
    for (int k = 0; k < STRIPS_WORDS; k++) {
        int64_t slot = c * STRIPS_CHUNK + k * WARP + lane;
        T v = once(val, slot);
        product[k] = v * strip_x[once(col, slot)];
        unsigned end = (unsigned)word.of[k];
        any |= end;
        at += __popc(end & below);
        tail = end >> lane & 1 ? T(0) : tail + product[k];
    }
    T sum = __shfl_up_sync(FULL_MASK, scan_tails(lane, any, tail), 1);
    if (lane == 0) sum = 0;
    UNROLL_WHOLE
    for (int k = 0; k < STRIPS_WORDS; k++) {
        sum += product[k];
        if ((unsigned)word.of[k] >> lane & 1) {
            part[at++] = sum;
            sum = 0;
        }
        reconverge();
    }
}

/* A strip, and a chunk of this strip or the one after its last chunk. */
struct position {
    int strip, chunk;
};

/* The chunk after `work` units of work: a chunk is one unit, and copying x of a strip is `copy` units. */
template <typename P> __device__ position position_after(P ptr, int strips, int copy, int64_t work)
{
    int low = 0, high = strips - 1;
    while (low < high) {
        int mid = (low + high + 1) / 2;
        if (ptr[mid] + (int64_t)mid * copy <= work)
            low = mid;
        else
            high = mid - 1;
    }
    int64_t chunk = work - (int64_t)(low + 1) * copy;
    int first = ptr[low], end = ptr[low + 1];
    return {low, chunk < first ? first : chunk < end ? (int)chunk : end};
}

/* An equal share of the work per block. For each strip of the share, the block copies the strip's elements of x to
   shared memory; then each warp takes every 32nd chunk. */
template <typename T>
__global__ void __launch_bounds__(BLOCK, 1)
    strips_products(int width, int cols, int strips, int chunks, int copy, GPTR(const int) ptr,
                    GPTR(const uint16_t) col, GPTR(const T) val, GPTR(const int) ends, GPTR(const int) before,
                    GPTR(const T) x, GPTR(T) part)
{
    SHARED_GIVEN(T, strip_x, min(width, cols));
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t work = chunks + (int64_t)strips * copy;
    position at = position_after(ptr, strips, copy, work * blockIdx.x / gridDim.x);
    int last = position_after(ptr, strips, copy, work * (blockIdx.x + 1) / gridDim.x).chunk;
    for (; at.chunk < last; at.strip++) {
        int end = min(last, ptr[at.strip + 1]), first = at.strip * width, n = min(width, cols - first);
        if (at.chunk == end) continue;
        __syncthreads(); /* all threads of the block: the previous strip is done */
        UNROLL(7)
        for (int i = threadIdx.x; i < n; i += BLOCK) strip_x[i] = x[first + i];
        __syncthreads(); /* all threads of the block: strip_x is complete */
        for (int64_t c = at.chunk + warp; c < end; c += BLOCK / WARP)
            chunk_sums(c, lane, strip_x, col, val, ends, before, part);
        at.chunk = end;
    }
}

/* ---- sums of rows ---- */

/* Part `turn` of `parts` equal parts of the n runs from `first` on, one row per lane. A run has at most one partial sum
   of each row, side by side: a bit of its mask says whether the lane's row has one. */
template <typename T, int parts>
__device__ T add_runs(int lane, int first, int n, int turn, GPTR(const int) run, GPTR(const T) part)
{
    T sum = 0;
    int64_t end = first + (int64_t)n * (turn + 1) / parts;
    UNROLL(8)
    for (int64_t k = first + (int64_t)n * turn / parts; k < end; k++) {
        several<int, 2> r = together<2>(run, 2 * k);
        unsigned mask = (unsigned)r.of[0];
        if (mask >> lane & 1) sum += once(part, r.of[1] + __popc(mask & ((1u << lane) - 1)));
        reconverge();
    }
    return sum;
}

/* Add the sums of n warps in order, and store the row of group g. sums: those of the first of these warps. */
template <typename T, int n, typename SUMS>
__device__ void store_row(int lane, SUMS sums, unsigned g, unsigned rows, T alpha, T beta, GPTR(T) y)
{
    T sum = sums[lane];
    UNROLL_WHOLE
    for (int w = 1; w < n; w++) sum += sums[w * WARP + lane];
    if (g * WARP + lane < rows) store(y, g * WARP + lane, alpha, sum, beta);
}

/* `share` warps per group of 32 rows, a row per lane; each warp adds an equal part of the group's runs. A group with
   many runs, because its rows are long, waits until all warps of the block add it together. */
template <typename T, int warps, int share>
__global__ void __launch_bounds__(warps *WARP)
    strips_rows(unsigned rows, unsigned groups, GPTR(const int) group, GPTR(const int) run, GPTR(const T) part, T alpha,
                T beta, GPTR(T) y)
{
    SHARED(T, sums, warps * WARP);
    SHARED(int, waits, warps);
    follow();
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, turn = warp % share;
    unsigned first_group = blockIdx.x * (warps / share), g = first_group + warp / share;
    int first = g < groups ? group[g] : 0, n = g < groups ? group[g + 1] - first : 0;
    bool later = share < warps && n > LONG * share;
    sums[threadIdx.x] = later ? T(0) : add_runs<T, share>(lane, first, n, turn, run, part);
    if (lane == 0) waits[warp] = later && turn == 0;
    __syncthreads(); /* all threads of the block: `sums` and `waits` are complete */
    if (turn == 0 && !later) store_row<T, share>(lane, sums + warp * WARP, g, rows, alpha, beta, y);
    unsigned left = __ballot_sync(FULL_MASK, lane < warps && waits[lane % warps]);
    for (; left; left &= left - 1) {
        g = first_group + (__ffs((int)left) - 1) / share;
        first = group[g];
        __syncthreads(); /* all threads of the block: `sums` has been read */
        sums[threadIdx.x] = add_runs<T, warps>(lane, first, group[g + 1] - first, warp, run, part);
        __syncthreads(); /* all threads of the block: `sums` is complete */
        if (warp == 0) store_row<T, warps>(lane, sums, g, rows, alpha, beta, y);
    }
}

/* ---- on the host ---- */

static int64_t sums_of(const struct stored *S)
{
    return S->a[STRIPS_ROW].n;
}

static int64_t sums_bytes(const struct mat *M)
{
    return sums_of(M->of) * (int64_t)type_size(precisions[M->of->real].vector);
}

/* The rows of the partial sums are not read. */
static int64_t bytes_read(const struct stored *S)
{
    return stored_bytes(S) - sums_of(S) * (int64_t)sizeof(int);
}

/* As many blocks as the multiprocessors hold: one each, or two if two strips fit in shared memory. */
template <typename T> static void launch_products(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int width = (int)S->param[0], chunks = (int)(S->a[STRIPS_BEFORE].n - 1);
    int64_t given = min(S->param[0], S->cols) * (int64_t)sizeof(T);
    int copy = (int)(given / (STRIPS_CHUNK * (int64_t)(sizeof(T) + sizeof(uint16_t)))); /* chunks of as many bytes */
    unsigned most = (unsigned)L->A->dev->units * (2 * given <= SHARED_GIVEN_MAX ? 2 : 1);
    unsigned needed = blocks_for(chunks, BLOCK / WARP);
    LAUNCH_GIVEN(L->A->dev, needed < most ? needed : most, BLOCK, (unsigned)given, strips_products<T>)
    (width, (int)S->cols, (int)strips_number(S), chunks, copy, ARRAY(L, STRIPS_PTR, int),
     ARRAY(L, STRIPS_COL, uint16_t), ARRAY(L, STRIPS_VAL, T), ARRAY(L, STRIPS_ENDS, int), ARRAY(L, STRIPS_BEFORE, int),
     VECTOR("x", ROLE_X, L->x, S->cols, const T), VECTOR("part", ROLE_WORK, L->scratch, sums_of(S), T));
}

template <typename T, int warps, int share> static void launch_rows(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int64_t groups = S->a[STRIPS_GROUP].n - 1;
    FOLLOW(L->A->dev, blocks_for(groups, warps / share), warps * WARP, strips_rows<T, warps, share>)
    ((unsigned)S->rows, (unsigned)groups, ARRAY(L, STRIPS_GROUP, int), ARRAY(L, STRIPS_RUN, int),
     VECTOR("part", ROLE_WORK, L->scratch, sums_of(S), const T), (T)L->alpha, (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* Four warps per group of rows; or a block of 32 warps, if there are so few groups that 32 warps each fit on the
   device. The order of the additions is fixed by the matrix and the number of multiprocessors. */
template <typename T> static bool go(const struct launch *L, struct err *)
{
    launch_products<T>(L);
    if (L->A->of->a[STRIPS_GROUP].n > 4 * (int64_t)L->A->dev->units)
        launch_rows<T, 8, 4>(L);
    else
        launch_rows<T, 32, 32>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(strips) = {
    .name = "strips",
    .about = "x of a strip of columns in shared memory: no gather leaves the multiprocessor",
    .format = &format_strips,
    .source = "[ours]",
    .work = "four entries per lane, 128 per warp at a time; then a row per lane adds its partial sums",
    .lesson = "The columns are cut into strips so narrow that x of a strip fits in shared memory: 24576 elements in\n"
              "fp64, copied once per block. Entries lie strip by strip, row by row. The 4x4 example, strips of 2:\n"
              "    1 7 0 0     strip 0   col  0 1 | 1 | 0 | 1     `|` ends a partial sum\n"
              "    0 2 8 0               val  1 7 | 2 | 5 | 6     partial sums 0 to 3: rows 0 1 2 3\n"
              "    5 0 3 9     strip 1   col  0 | 0 1 | 1\n"
              "    0 6 0 4               val  8 | 3 9 | 4         partial sums 4 to 6: rows 1 2 3\n"
              "A warp multiplies 128 entries at a time, four per lane, with columns of 2 bytes. One scan carries\n"
              "what a lane leaves unfinished to the lane that ends the partial sum.\n"
              "A second launch adds the partial sums, a row per lane, in the order of the strips. Each group of 32\n"
              "rows has a list of runs: a mask of the rows, and where their partial sums begin: read side by side.\n"
              "The format pays if x is too large for the cache and a row has several entries per strip: wide\n"
              "matrices of long rows, and power-law graphs. Rows with one entry per strip gain nothing: a partial\n"
              "sum per entry is written and read again. Use sell or csr-merge for them.\n",
    .functions = {{"strips_products", BLOCK, true}, {"strips_rows"}},
    .deterministic = true,
    .reads = bytes_read,
    .scratch = sums_bytes,
    .product = {VALUE_TYPES(go)},
};

#ifndef __CUDACC__
/* The partial sums of chunk c, the entries of each in order. */
template <typename T> static void host_chunk(const struct launch *L, int64_t c, const T *x, T *part)
{
    const uint16_t *col = (const uint16_t *)L->A->ptr[STRIPS_COL];
    const uint32_t *ends = (const uint32_t *)L->A->ptr[STRIPS_ENDS] + c * STRIPS_WORDS;
    const T *val = (const T *)L->A->ptr[STRIPS_VAL];
    const int *before = (const int *)L->A->ptr[STRIPS_BEFORE];
    T sum = 0;
    int64_t p = before[c];
    for (int64_t i = 0; p < before[c + 1]; i++) {
        int64_t slot = strips_slot(c * STRIPS_CHUNK + i);
        sum += val[slot] * x[col[slot]];
        if (!(ends[i % STRIPS_WORDS] >> i / STRIPS_WORDS & 1)) continue;
        part[p++] = sum;
        sum = 0;
    }
}

template <typename T> static void host_products(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    const int *ptr = (const int *)L->A->ptr[STRIPS_PTR];
    const T *x = (const T *)L->x;
    T *part = (T *)L->scratch;
    host_shares(L, threads, S->a[STRIPS_BEFORE].n - 1, 256, [=](int64_t from, int64_t to) {
        int64_t strip = span_of(ptr, strips_number(S), from);
        for (int64_t c = from; c < to; c++) {
            while (ptr[strip + 1] <= c) strip++;
            host_chunk<T>(L, c, x + strip * S->param[0], part);
        }
    });
}

/* The rows of group g. */
template <typename T> static void host_group(const struct launch *L, int64_t g)
{
    const int *group = (const int *)L->A->ptr[STRIPS_GROUP], *run = (const int *)L->A->ptr[STRIPS_RUN];
    const T *part = (const T *)L->scratch;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta, sum[STRIPS_GROUP_ROWS] = {};
    int64_t first = g * STRIPS_GROUP_ROWS;
    for (int64_t k = group[g]; k < group[g + 1]; k++) {
        int64_t p = run[2 * k + 1];
        for (uint32_t left = (uint32_t)run[2 * k]; left; left &= left - 1) sum[__builtin_ctz(left)] += part[p++];
    }
    for (int64_t r = 0; r < STRIPS_GROUP_ROWS && first + r < L->A->of->rows; r++)
        store(y, first + r, alpha, sum[r], beta);
}

template <typename T> static void strips_host(const struct launch *L, int threads)
{
    host_products<T>(L, threads);
    host_shares(L, threads, L->A->of->a[STRIPS_GROUP].n - 1, 64, [=](int64_t from, int64_t to) {
        for (int64_t g = from; g < to; g++) host_group<T>(L, g);
    });
}

HOST_ENTRIES(strips, "strips", strips_host, "the serial host loop, strip by strip", "[ours]",
             "256 chunks of 128 entries at a time, then 64 groups of 32 rows",
             "The elements of x of a strip stay in a core's cache while the strip is multiplied. The price is a\n"
             "partial sum per row and strip, written and read again.\n",
             .scratch = sums_bytes);
#endif
