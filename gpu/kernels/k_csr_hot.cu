/* SpMV kernel (matrix-vector product) for CSR: like csr-ends, but the elements of x of the columns with most entries
   lie in shared memory. */
#include "base/base.h"
#include "ends.h"

namespace KERNEL_SPACE
{

enum {
    BLOCK = 1024,
    WARPS = BLOCK / WARP,
    HOT_BYTES = 192 * 1024, /* shared memory for x; the rest of 256 KB is the L1 cache, which the loads need */
    LEVELS = 4096,          /* columns with LEVELS - 1 entries or more are counted together */
    COPIED = 256            /* threads per block of hot_copy */
};
static const struct ends_shape shape = {WARPS, 132, 128}; /* one block per multiprocessor */

/* ---- products ---- */

/* hot_x[i] = the element of x of hot column i. */
template <typename T> __global__ void hot_copy(int n, GPTR(const int) order, GPTR(const T) x, GPTR(T) hot_x)
{
    int i = (int)(blockIdx.x * COPIED + threadIdx.x);
    if (i < n) hot_x[i] = x[order[i]];
}

/* x, of which n elements lie in shared memory: those of the hot columns. Hot column i is stored as ~i. */
template <typename T, typename S> struct split_x {
    GPTR(const T) x;
    GPTR(const T) hot_x;
    S hot;
    int n;

    __device__ void ready() const
    {
        UNROLL(8)
        for (int first = 0; first < n; first += BLOCK) {
            int i = first + (int)threadIdx.x;
            if (i < n) hot[i] = hot_x[i];
            reconverge();
        }
        __syncthreads(); /* all threads of the block: `hot` is complete */
    }
    __device__ T of(int col) const
    {
        if (col < 0) return hot[~col];
        return x[col];
    }
};

/* One tile per block: see ends.h. All blocks then share the empty rows; if there are many, there are more blocks than
   tiles. */
template <typename T, typename U>
__global__ void __launch_bounds__(BLOCK, 1)
    hot_tile(struct ends_cut cut, int n, GPTR(const unsigned) marks, GPTR(const int) borders, GPTR(const int) col,
             GPTR(const U) val, GPTR(const T) x, GPTR(const T) hot_x, ends_result<T> out, GPTR(T) part,
             GPTR(unsigned) count)
{
    SHARED_GIVEN(T, hot, n);
    if (blockIdx.x < cut.tiles)
        sum_tile<WARPS, false, true, T>(cut, marks, borders, col, val, split_x<T, decltype(hot)>{x, hot_x, hot, n}, out,
                                        part, count);
    int64_t all = (int64_t)gridDim.x * BLOCK;
    UNROLL(1)
    for (int64_t first = (int64_t)blockIdx.x * BLOCK; cut.ranks + first < cut.rows; first += all) {
        put_empty(cut, out, first + threadIdx.x);
        reconverge();
    }
}

/* ---- preparation ---- */

static __global__ void hot_clear(int64_t n, GPTR(int) count)
{
    UNROLL(1)
    for (int64_t i = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x; i < n; i += (int64_t)gridDim.x * TILE_BLOCK)
        count[i] = 0;
}

/* One entry per thread: count the entries of each column. */
static __global__ void hot_count(int64_t nnz, GPTR(const int) col, GPTR(int) count)
{
    int64_t k = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x;
    if (k < nnz) atomicAdd(count + col[k], 1);
}

/* number[i] += the columns that have i entries; a block first counts in shared memory. */
static __global__ void hot_levels(int64_t cols, GPTR(const int) count, GPTR(int) number)
{
    SHARED(int, level, LEVELS);
    for (int i = threadIdx.x; i < LEVELS; i += TILE_BLOCK) level[i] = 0;
    __syncthreads(); /* all threads of the block: `level` is cleared */
    for (int64_t i = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x; i < cols; i += (int64_t)gridDim.x * TILE_BLOCK)
        atomicAdd(level + min(count[i], LEVELS - 1), 1);
    __syncthreads(); /* all threads of the block: `level` is complete */
    for (int i = threadIdx.x; i < LEVELS; i += TILE_BLOCK) {
        int n = level[i];
        if (n) atomicAdd(number + i, n);
        reconverge();
    }
}

/* Which columns have ranks: those with `least` entries or more. */
struct has_many {
    GPTR(const int) count;
    int least;

    __device__ bool of(int64_t column) const { return count[column] >= least; }
};

/* code[order[i]] = ~i for the n hot columns; the other columns keep their numbers. */
static __global__ void hot_code(int64_t cols, int n, GPTR(const int) order, GPTR(int) code)
{
    int64_t i = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x;
    if (i >= cols) return;
    int column = order[i];
    code[column] = i < n ? ~(int)i : column;
}

static __global__ void hot_recode(int64_t nnz, GPTR(const int) code, GPTR(const int) col, GPTR(int) out)
{
    int64_t k = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x;
    if (k < nnz) out[k] = code[once(col, k)];
}

/* ---- on the host ---- */

/* The arrays in a launch's scratch memory. */
struct hot_parts {
    int n; /* hot columns */
    int64_t blocks;
    void *hot_x;   /* [n] */
    int *col;      /* [nnz] */
    int *order;    /* [cols]: the hot columns, then the others */
    int *code;     /* [cols]: first the entries of each column */
    int *number;   /* [LEVELS] */
    int *at;       /* [blocks + 1] */
    void *of_ends; /* those of ends.h */
};

/* The arrays at `room`, and in *bytes their size. */
static struct hot_parts hot_parts_of(const struct stored *S, void *room, int64_t *bytes)
{
    struct ends_cut cut = cut_of(S, &shape);
    int64_t n = HOT_BYTES / (int64_t)type_size(precisions[S->real].vector), blocks = blocks_for(S->cols, RANKED_BLOCK);
    if (n > S->cols) n = S->cols;
    const int64_t size[] = {HOT_BYTES,  S->nnz * 4,       S->cols * 4,     S->cols * 4,
                            LEVELS * 4, (blocks + 1) * 4, ends_bytes(&cut)};
    char *at[COUNT(size)], *next = (char *)room;
    for (int k = 0; k < COUNT(size); k++) {
        at[k] = next;
        next += device_rounded(size[k]);
    }
    *bytes = next - (char *)room;
    return {(int)n, blocks, at[0], (int *)at[1], (int *)at[2], (int *)at[3], (int *)at[4], (int *)at[5], at[6]};
}

static int64_t scratch_bytes(const struct mat *M)
{
    int64_t bytes;
    hot_parts_of(M->of, NULL, &bytes);
    return bytes;
}

static int64_t bytes_read(const struct stored *S)
{
    return ends_bytes_read(S, &shape);
}

#define HOT_ORDER(p, cols, ...) VECTOR("hot", ROLE_WORK, (p).order, cols, __VA_ARGS__)
#define HOT_CODE(p, cols, ...) VECTOR("code", ROLE_WORK, (p).code, cols, __VA_ARGS__)
#define HOT_COL(p, nnz, ...) VECTOR("hot col", ROLE_WORK, (p).col, nnz, __VA_ARGS__)

/* The least number of entries with which at most n columns have as many. */
static bool least_of(struct device *d, const struct hot_parts &p, int64_t cols, int *least, struct err *e)
{
    int number[LEVELS];
    int64_t columns = 0;
    LAUNCH(d, 1, TILE_BLOCK, hot_clear)
    (LEVELS, VECTOR("number", ROLE_WORK, p.number, LEVELS, int));
    unsigned blocks = blocks_for(cols, TILE_BLOCK), most = 2 * (unsigned)d->units;
    LAUNCH(d, blocks < most ? blocks : most, TILE_BLOCK, hot_levels)
    (cols, HOT_CODE(p, cols, const int), VECTOR("number", ROLE_WORK, p.number, LEVELS, int));
    if (!d->ops->get(d, number, p.number, sizeof number, e)) return false;
    *least = LEVELS - 1;
    for (columns = number[LEVELS - 1]; *least > 1; --*least)
        if ((columns += number[*least - 1]) > p.n) break;
    return true;
}

/* Find the hot columns, and store all columns with them as ~i. */
static bool find_hot(const struct launch *L, const struct hot_parts &p, struct err *e)
{
    struct device *d = L->A->dev;
    int64_t cols = L->A->of->cols, nnz = L->A->of->nnz, ranks;
    int least;
    LAUNCH(d, blocks_for(cols, TILE_BLOCK), TILE_BLOCK, hot_clear)(cols, HOT_CODE(p, cols, int));
    LAUNCH(d, blocks_for(nnz, TILE_BLOCK), TILE_BLOCK, hot_count)
    (nnz, ARRAY(L, CSR_COL, int), HOT_CODE(p, cols, int));
    if (!least_of(d, p, cols, &least, e)) return false;
    struct has_many many = {HOT_CODE(p, cols, const int), least};
    if (!count_ranks(d, cols, p.blocks, many, p.at, &ranks, e)) return false;
    order_by_rank(d, cols, p.blocks, many, p.at, p.order);
    LAUNCH(d, blocks_for(cols, TILE_BLOCK), TILE_BLOCK, hot_code)
    (cols, p.n, HOT_ORDER(p, cols, const int), HOT_CODE(p, cols, int));
    LAUNCH(d, blocks_for(nnz, TILE_BLOCK), TILE_BLOCK, hot_recode)
    (nnz, HOT_CODE(p, cols, const int), ARRAY(L, CSR_COL, int), HOT_COL(p, nnz, int));
    return true;
}

/* Sets the launch's note to the number of rows that have entries. */
static bool prepare(const struct launch *L, struct err *e)
{
    int64_t bytes;
    struct hot_parts p = hot_parts_of(L->A->of, L->scratch, &bytes);
    struct ends_cut cut = cut_of(L->A->of, &shape);
    if (!find_hot(L, p, e) || !find_ends(L, parts_of(p.of_ends, &cut), &cut, e)) return false;
    *L->note = (uint64_t)cut.ranks;
    return true;
}

template <typename T, typename U = T> static bool hot(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    int64_t bytes;
    struct hot_parts h = hot_parts_of(S, L->scratch, &bytes);
    struct ends_cut cut = cut_of(S, &shape);
    struct ends_parts p = parts_of(h.of_ends, &cut);
    cut.ranks = (int64_t)*L->note;
    struct ends_result<T> out = {
        VECTOR("y", ROLE_Y, L->y, S->rows, T), ENDS_ROWS(p, cut), (T)L->alpha, (T)L->beta
    };
    int64_t shares = blocks_for(cut.rows - cut.ranks, BLOCK);
    if (shares > shape.at_once) shares = shape.at_once;
    LAUNCH(L->A->dev, blocks_for(h.n, COPIED), COPIED, hot_copy<T>)
    (h.n, HOT_ORDER(h, S->cols, const int), VECTOR("x", ROLE_X, L->x, S->cols, const T),
     VECTOR("hot x", ROLE_WORK, h.hot_x, h.n, T));
    LAUNCH_GIVEN(L->A->dev, (unsigned)(cut.tiles > shares ? cut.tiles : shares), BLOCK, h.n * sizeof(T), hot_tile<T, U>)
    (cut, h.n, ENDS_MARKS(p, const unsigned), ENDS_BORDERS(p, cut, const int), HOT_COL(h, S->nnz, const int),
     ARRAY(L, CSR_VAL, U), VECTOR("x", ROLE_X, L->x, S->cols, const T),
     VECTOR("hot x", ROLE_WORK, h.hot_x, h.n, const T), out, VECTOR("part", ROLE_WORK, p.part, 2 * cut.tiles, T),
     ENDS_COUNT(p, cut));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_hot) = {
    .name = "csr-hot",
    .about = "like csr-ends, with the elements of x that are used most in shared memory: for power-law graphs",
    .format = &format_csr,
    .source = "[ours]",
    .work = "4 neighbouring entries of each chunk of 128",
    .lesson = "The entries are shared out as in csr-ends. In a power-law graph, few columns have most of the\n"
              "entries: 2 % of the columns of `gen rmat 20 16` have about two thirds. Their elements of x should be\n"
              "close at hand, but the L1 cache keeps whole lines of 128 bytes, of which one element may be hot,\n"
              "and it keeps what was read last.\n"
              "The preparation counts the entries of each column and takes the 24576 columns (fp64) with most\n"
              "entries. It stores the columns again: hot column i becomes ~i, a negative number. On the 4x4 example\n"
              "with one hot column, number 1 (three entries):\n"
              "    col   0  1  1  2  0  2  3  1  3\n"
              "    new   0 ~0 ~0  2  0  2  3 ~0  3\n"
              "A first launch copies the hot elements of x side by side. Then one block of 1024 threads per\n"
              "multiprocessor copies these 192 KB to shared memory, and gathers from there or from the cache. If\n"
              "all columns have equally many entries, 192 KB of L1 cache would serve better: use csr-ends.\n",
    .functions = {{"hot_copy", COPIED}, {"hot_tile", BLOCK, true}},
    .deterministic = true,
    .together = true,
    .separable = true,
    .reads = bytes_read,
    .scratch = scratch_bytes,
    .prepare = prepare,
    .product = {VALUE_TYPES(hot), NARROW_TYPES(hot)},
};
