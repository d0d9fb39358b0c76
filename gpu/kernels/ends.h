/* Shared by the CSR kernels in which every thread takes the same number of entries, whatever the row lengths, and one
   bit per entry says where the rows end. One launch, deterministic.

   The entries of the matrix are cut into tiles of equal size, one per block, and the tiles into chunks of 128 entries,
   which the warps share. Neither ptr nor row numbers are read: the preparation stores two words for every 32 entries,
       marks[2 w]      bit i is set if entry 32 w + i is the last of its row
       marks[2 w + 1]  the number of rows that end before entry 32 w
   A rank counts the rows that have entries. If there are empty rows, order[rank] is the row, and the empty rows follow.

   Three things complete a row that does not lie in one lane's entries:
   - within a warp, a scan of the lanes' last sums; from chunk to chunk, a carry;
   - within a block, sums in shared memory;
   - from tile to tile: if the row lies in two tiles, with fewer than BACK entries in the first of them, the second
     tile's block reads these entries again. Otherwise each block writes its piece of the row, and the last block to
     arrive adds the pieces. The preparation stores which of these it is for each border between two tiles.
 */
#ifndef ENDS_H
#define ENDS_H

#include "base/precision.h"
#include "formats/fmt_csr.h"
#include "gpu/dialect.h"
#include "tiles.h"

namespace KERNEL_SPACE
{

enum {
    EACH = 4,            /* entries of a chunk that a lane takes */
    CHUNK = WARP * EACH, /* entries of a chunk */
    WORD = 32,           /* entries per word of end bits */
    BACK = 1024          /* a tile's block reads fewer than this number of entries before the tile again */
};

/* How a kernel cuts matrices. */
struct ends_shape {
    int warps;       /* per block */
    int at_once;     /* blocks that run at the same time on an H200 */
    int chunks_most; /* per warp */
};

/* Blocks UNITS apart run on the same multiprocessor of an H200 if all run at once. TURN: see tile_of. */
enum { UNITS = 132, TURN = UNITS / 4 };

/* How the matrix is cut. It depends on nothing but the kernel and the number of entries: all devices give the same
   bits. */
struct ends_cut {
    int64_t nnz, tiles;
    int chunks;    /* chunks per tile */
    int tile;      /* entries per tile */
    int64_t ranks; /* rows that have entries */
    int64_t rows;
    int stay; /* the first tiles, whose entries stay in the cache until the next product */
};

/* The tile of a block. Tiles with part of a long row gather more of x than others. So that long rows at equal distances
   do not meet on the same multiprocessors, each round of UNITS blocks begins TURN tiles further on than the last. */
static __device__ int tile_of(const ends_cut &cut, int block)
{
    int round = block / UNITS, first = round * UNITS, tiles = min(+UNITS, (int)cut.tiles - first);
    return first + (block - first + round * TURN) % tiles;
}

/* The row of each rank. */
struct ends_rows {
    GPTR(const int) order;
    bool gaps; /* are there empty rows? */

    __device__ int of(int64_t rank) const { return gaps ? order[rank] : (int)rank; }
};

/* Where the sums go. */
template <typename T> struct ends_result {
    GPTR(T) y;
    ends_rows rows;
    T alpha, beta;

    __device__ void put(int64_t rank, T sum) const { store<T>(y, rows.of(rank), alpha, sum, beta); }
};

/* The border before a tile, and the row that lies on both sides of it, if there is one. */
enum {
    BORDER_BEFORE, /* the entries of the row before the border, if the tile's block reads them again; 0: there is no
                      such row; BACK: the row is added up from pieces */
    BORDER_FROM,   /* the first tile with entries of the row */
    BORDER_TO,     /* the last one */
    BORDER_RANK,   /* the row's rank */
    BORDER
};

/* Where x is: in global memory. A kernel may keep a part of x elsewhere. */
template <typename T> struct ends_x {
    FRESH(const T) x;

    __device__ void ready() const {} /* called by all threads of the block before they read x */
    __device__ T of(int col) const { return x[col]; }
};

/* The part of a chunk that a lane takes: EACH neighbouring entries. */
template <typename U> struct ends_chunk {
    int col[EACH];
    U val[EACH];
    several<unsigned, 2> mark; /* of the word with these entries; not looked at before it is needed */
};

/* to[0 .. EACH-1] = p[k .. k+EACH-1], by loads of 16 bytes. */
template <typename T, typename P> __device__ void load_each(P p, INDEX k, bool stays, T *to)
{
    enum { N = 16 / sizeof(T) < EACH ? 16 / sizeof(T) : +EACH };
    UNROLL_WHOLE
    for (int j = 0; j < EACH; j += N) {
        auto some = once<N>(p + j, k, stays);
        for (int i = 0; i < N; i++) to[j + i] = some.of[i];
    }
}

/* Load the lane's part of chunk c, which stays in the cache if `stays`. Entries after the last have value 0; no row
   ends there, so their products are never used. */
template <typename U>
__device__ ends_chunk<U> load_chunk(int c, int64_t nnz, bool stays, GPTR(const unsigned) marks, GPTR(const int) col,
                                    GPTR(const U) val)
{
    ends_chunk<U> chunk;
    unsigned in = threadIdx.x % WARP * EACH;
    int64_t k = (int64_t)c * CHUNK + in;
    if (k + EACH <= nnz) {
        load_each<int>(col, k, stays, chunk.col);
        load_each<U>(val, k, stays, chunk.val);
    } else {
        for (int j = 0; j < EACH; j++) {
            chunk.col[j] = k + j < nnz ? col[k + j] : 0;
            chunk.val[j] = k + j < nnz ? val[k + j] : U{};
        }
    }
    chunk.mark = once<2>(marks, 2 * ((int64_t)c * (CHUNK / WORD) + in / WORD), stays);
    return chunk;
}

/* The elements of x that a chunk's entries are multiplied with. */
template <typename T, typename U, typename X>
__device__ void gather_chunk(const ends_chunk<U> &c, const X &x, T *gathered)
{
    UNROLL_WHOLE
    for (int j = 0; j < EACH; j++) {
        gathered[j] = x.of(c.col[j]);
        reconverge();
    }
}

/* The sum of the last `n` entries before the tile, added up per warp. */
template <int block, typename T, typename U, typename X>
__device__ T early_sum(int64_t tile, int n, GPTR(const int) col, GPTR(const U) val, const X &x)
{
    T sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < BACK / block; j++) {
        int64_t k = tile - n + j * block + threadIdx.x;
        if (k < tile) sum += (T)val[k] * x.of(col[k]);
        reconverge();
    }
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    return sum;
}

/* The warp's sums so far. */
template <typename T> struct ends_run {
    T carry;    /* the sum since the last row that ended */
    bool ended; /* has a row ended in the warp? */
};

/* Add the products of a chunk row by row. The first row that ends in the warp may have begun in another warp: its sum
   goes to `head` and its rank to `first`, the other sums to y. Participants: the whole warp. */
template <typename T, typename U, typename S, typename R>
__device__ void sum_chunk(const ends_chunk<U> &c, const T *product, const ends_result<T> &out, S head, R first,
                          ends_run<T> *run)
{
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned bit = lane * EACH % WORD, mine = c.mark.of[0] >> bit & ((1u << EACH) - 1);
    int rank = (int)c.mark.of[1] + __popc(c.mark.of[0] & ((1u << bit) - 1)); /* of the first row that ends in them */
    T sum = 0, first_sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < EACH; j++) {
        unsigned upto = mine & ((2u << j) - 1), here = 1u << j; /* the ends up to entry j, and an end at entry j */
        sum += product[j];
        if (upto > here) out.put(rank + __popc(upto) - 1, sum);
        if (upto == here) first_sum = sum;
        if (upto >= here) sum = 0;
        reconverge();
    }
    unsigned ends = __ballot_sync(FULL_MASK, mine != 0), below = (1u << lane) - 1;
    unsigned upto = ends & (below | 1u << lane);
    int begin = upto ? 31 - __clz((int)upto) : 0; /* the lane with the begin of the row in which this lane ends */
    unsigned none = ~ends;                        /* the lanes with which d lanes without an end begin */
    UNROLL_WHOLE
    for (int d = 1; d < WARP; d *= 2) {
        if (none == 0) break; /* the whole warp leaves the loop: no row reaches d lanes back */
        T other = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane - d >= begin) sum += other;
        none &= none >> d;
    }
    T before = __shfl_up_sync(FULL_MASK, sum, 1), last = __shfl_sync(FULL_MASK, sum, WARP - 1);
    if (lane == 0) before = 0;
    if (!(ends & below)) before += run->carry;
    if (mine && !(ends & below) && !run->ended) {
        head[warp] = before + first_sum;
        first[warp] = rank;
    } else if (mine) {
        out.put(rank, before + first_sum);
    }
    run->carry = ends ? last : run->carry + last;
    run->ended |= ends != 0;
}

/* What the warps before this one, and the entries before the tile, contribute to the row in which this warp begins.
   first[w] < 0: no row ends in warp w. *open: none of these warps has the end of a row. */
template <int warps, typename T, typename R, typename S>
__device__ T sum_of_warps(int warp, R first, S tail, S early, bool *open)
{
    int w = warp;
    while (w > 0 && first[w - 1] < 0) w--;
    *open = w == 0;
    T sum = 0;
    for (int k = max(w - 1, 0); k < warp; k++) sum += tail[k];
    for (int k = 0; k < warps && w == 0; k++) sum += early[k];
    return sum;
}

/* Write a tile's piece of the row at a border to part[slot]. The last of the row's tiles to arrive adds all pieces, in
   the order of the tiles: which tile is last does not change the result. Participants: the whole warp; lane 0 has the
   sum. */
template <typename T>
__device__ void put_piece(const ends_result<T> &out, const several<int, BORDER> &border, GPTR(T) part,
                          GPTR(unsigned) count, int64_t slot, T sum)
{
    int lane = threadIdx.x % WARP, from = border.of[BORDER_FROM], to = border.of[BORDER_TO];
    unsigned before = 0;
    if (lane == 0) {
        part[slot] = sum;
        before = arrive(count + from);
    }
    before = __shfl_sync(FULL_MASK, before, 0);
    if (before < (unsigned)(to - from)) return; /* the whole warp returns */
    __threadfence();
    __syncwarp(); /* the whole warp: lane 0 has written its piece */
    sum = 0;
    UNROLL(1)
    for (int64_t k = from + lane; k <= to; k += WARP) sum += part[2 * k + (k < to)];
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    if (lane != 0) return;
    out.put(border.of[BORDER_RANK], sum);
    count[from] = 0; /* for the next launch */
}

/* Thread i of as many as there are empty rows: row i of them becomes 0. */
template <typename T> __device__ void put_empty(const ends_cut &cut, const ends_result<T> &out, int64_t i)
{
    if (cut.ranks + i < cut.rows) out.put(cut.ranks + i, T(0));
}

/* One tile per block, neighbouring chunks per warp, EACH neighbouring entries of a chunk per lane, so that a request of
   a warp for col or val covers neighbouring sectors. The loads of the next chunk are under way while a chunk is summed.
   STAY: the first cut.stay tiles stay in the cache. AHEAD: x is gathered for a chunk before the entries before the tile
   are added up, and then at the end of the turn before; the kernels choose what is faster on an H200. Participants: all
   threads of the block. */
template <int warps, bool STAY, bool AHEAD
, typename T, typename U,
    typename X > __device__ void sum_tile(const ends_cut &cut, GPTR(const unsigned) marks, GPTR(const int) borders,
                                          GPTR(const int) col, GPTR(const U) val, const X &x, const ends_result<T> &out,
                                          GPTR(T) part, GPTR(unsigned) count)
{
    enum { BLOCK = warps * WARP };
    SHARED(T, head, warps);    /* the sum of the first row that ends in a warp */
    SHARED(T, tail, warps);    /* the sum after the last row that ends in a warp */
    SHARED(T, early, warps);   /* sums of the entries before the tile */
    SHARED(int, first, warps); /* the rank of the first row that ends in a warp; -1: none ends */
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t b = tile_of(cut, (int)blockIdx.x), tile = b * cut.tile;
    int at = (int)b * cut.chunks + warp * cut.chunks / warps,
        end = (int)b * cut.chunks + (warp + 1) * cut.chunks / warps;
    bool stays = STAY && b < cut.stay, open;
    ends_chunk<U> coming = load_chunk<U>(at, cut.nnz, stays, marks, col, val);
    auto border = together<BORDER>(borders, b * BORDER), next = together<BORDER>(borders, (b + 1) * BORDER);
    T gathered[EACH];
    await_previous();
    x.ready();
    if (AHEAD) gather_chunk(coming, x, gathered);
    bool far = border.of[BORDER_BEFORE] == BACK;
    T sum = far ? T(0) : early_sum<BLOCK, T>(tile, border.of[BORDER_BEFORE], col, val, x);
    if (lane == 0) {
        early[warp] = sum;
        first[warp] = -1;
    }
    __syncwarp(); /* the whole warp: first[warp] may be overwritten */
    ends_run<T> run = {T(0), false};
    UNROLL(1)
    for (; at < end; at++) {
        ends_chunk<U> c = coming;
        T product[EACH];
        if (at + 1 < end) coming = load_chunk<U>(at + 1, cut.nnz, stays, marks, col, val);
        if (!AHEAD) gather_chunk(c, x, gathered);
        UNROLL_WHOLE
        for (int j = 0; j < EACH; j++) product[j] = (T)c.val[j] * gathered[j];
        sum_chunk<T>(c, product, out, head, first, &run);
        if (AHEAD && at + 1 < end) gather_chunk(coming, x, gathered);
    }
    if (lane == 0) tail[warp] = run.carry;
    __syncthreads(); /* all threads of the block: the warps' sums are complete */

    sum = sum_of_warps<warps, T>(warp, first, tail, early, &open);
    if (lane == 0 && run.ended && !(open && far)) out.put(first[warp], sum + head[warp]);
    if (run.ended && open && far) put_piece<T>(out, border, part, count, 2 * b, sum + head[warp]);
    if (warp != warps - 1 || next.of[BORDER_BEFORE] < BACK) return; /* the whole warp returns */
    sum = sum_of_warps<warps, T>(warps, first, tail, early, &open);
    put_piece<T>(out, next, part, count, 2 * b + 1, sum);
}

/* ---- preparation: ranks ---- */

/* Neighbouring items of a thread, and of a block: rows, or columns. */
enum { RANKED_EACH = 8, RANKED_BLOCK = TILE_BLOCK * RANKED_EACH };

/* Which rows have ranks: those that have entries. */
struct has_entries {
    GPTR(const int) ptr;

    __device__ bool of(int64_t row) const { return ptr[row + 1] > ptr[row]; }
};

/* The items that have ranks among the RANKED_EACH items from `first` on, one bit each. */
template <typename F> __device__ unsigned ranked_items(int64_t first, int64_t n, const F &has_rank)
{
    unsigned bits = 0;
    UNROLL_WHOLE
    for (int j = 0; j < RANKED_EACH; j++) {
        if (first + j < n && has_rank.of(first + j)) bits |= 1u << j;
        reconverge();
    }
    return bits;
}

/* at[b] = the number of items that have ranks among those of block b. */
template <typename F> __global__ void ends_count(int64_t n, F has_rank, GPTR(int) at)
{
    SHARED(int, part, TILE_WARPS);
    int64_t first = (int64_t)blockIdx.x * RANKED_BLOCK + threadIdx.x * RANKED_EACH;
    int all;
    sum_before(__popc(ranked_items(first, n, has_rank)), part, &all);
    if (threadIdx.x == 0) at[blockIdx.x] = all;
}

/* In one block: each of the n counts becomes the sum of the counts before it; at[n] becomes their total. */
static __global__ void ends_add(int64_t n, GPTR(int) at)
{
    SHARED(int, part, TILE_WARPS);
    int all, before = 0;
    for (int64_t i = threadIdx.x; i - threadIdx.x < n; i += TILE_BLOCK) {
        int count = i < n ? at[i] : 0;
        int sum = before + sum_before(count, part, &all);
        if (i < n) at[i] = sum;
        before += all;
        __syncthreads(); /* all threads of the block: `part` has been read */
    }
    if (threadIdx.x == 0) at[n] = before;
}

/* order[rank] = item; the items without ranks follow. */
template <typename F>
__global__ void ends_order(int64_t n, int64_t blocks, F has_rank, GPTR(const int) at, GPTR(int) order)
{
    SHARED(int, part, TILE_WARPS);
    int64_t first = (int64_t)blockIdx.x * RANKED_BLOCK + threadIdx.x * RANKED_EACH;
    int all, ranks = at[blocks];
    unsigned bits = ranked_items(first, n, has_rank);
    int64_t rank = at[blockIdx.x] + sum_before(__popc(bits), part, &all);
    for (int j = 0; j < RANKED_EACH && first + j < n; j++) {
        bool ranked = bits >> j & 1;
        order[ranked ? rank : ranks + first + j - rank] = (int)(first + j);
        rank += ranked;
    }
}

/* ---- preparation: the ends of rows ---- */

/* The rank of the row with entry k: the first row that ends after it; `ranks` if there is none. */
template <typename P> __device__ int64_t rank_of(int64_t k, int64_t ranks, ends_rows rows, P ptr)
{
    int64_t low = 0, high = ranks;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (ptr[rows.of(mid) + 1] <= k)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* One word per thread: find the first row that ends in it or after it, and walk along the rows that end in it. */
static __global__ void ends_mark(struct ends_cut cut, int64_t words, ends_rows rows, GPTR(const int) ptr,
                                 GPTR(unsigned) marks)
{
    int64_t w = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x, k = w * WORD;
    if (w >= words) return;
    int64_t first = rank_of(k, cut.ranks, rows, ptr);
    unsigned bits = 0;
    UNROLL(1)
    for (int64_t rank = first; rank < cut.ranks; rank++) {
        int64_t last = ptr[rows.of(rank) + 1] - 1;
        if (last >= k + WORD) break;
        bits |= 1u << (last - k);
    }
    marks[2 * w] = bits;
    marks[2 * w + 1] = (unsigned)first;
}

/* One border per thread, those before the first and after the last tile among them. */
static __global__ void ends_border(struct ends_cut cut, ends_rows rows, GPTR(const int) ptr, GPTR(int) borders,
                                   GPTR(unsigned) count)
{
    int64_t b = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x, k = b * cut.tile;
    if (b > cut.tiles) return;
    int64_t before = 0, from = 0, to = 0, rank = 0;
    if (b > 0 && b < cut.tiles) {
        rank = rank_of(k, cut.ranks, rows, ptr);
        int64_t begin = ptr[rows.of(rank)], end = ptr[rows.of(rank) + 1];
        from = begin / cut.tile;
        to = (end - 1) / cut.tile;
        before = begin >= k ? 0 : to - from == 1 && k - begin < BACK ? k - begin : +BACK;
    }
    borders[b * BORDER + BORDER_BEFORE] = (int)before;
    borders[b * BORDER + BORDER_FROM] = (int)from;
    borders[b * BORDER + BORDER_TO] = (int)to;
    borders[b * BORDER + BORDER_RANK] = (int)rank;
    if (b < cut.tiles) count[b] = 0;
}

/* ---- on the host: scratch memory and launches ---- */

enum { PIECE_BYTES = sizeof(cplx<double>) }; /* the largest type of values */

/* As few rounds of blocks as the largest tiles allow, and each round full. Every warp has a chunk or more. */
static inline struct ends_cut cut_of(const struct stored *S, const struct ends_shape *shape)
{
    int64_t chunks = (S->nnz + CHUNK - 1) / CHUNK, round = (int64_t)shape->at_once * shape->warps * shape->chunks_most;
    int64_t tiles = (chunks + round - 1) / round * shape->at_once, each = tiles ? (chunks + tiles - 1) / tiles : 0;
    if (each < shape->warps) each = shape->warps;
    return {S->nnz, (chunks + each - 1) / each, (int)each, (int)(each * CHUNK), 0, S->rows, 0};
}

/* The arrays in a launch's scratch memory. Every tile has all its words. */
struct ends_parts {
    int64_t words, blocks;
    void *part;      /* [2 tiles]: the tile's piece of the row that goes on in it, and of the row that it begins */
    int *borders;    /* [BORDER (tiles + 1)] */
    unsigned *marks; /* [2 words] */
    unsigned *count; /* [tiles]: pieces that have arrived, of the row whose first piece is in the tile */
    int *at;         /* [blocks + 1]: rows with entries, before each block of rows */
    int *order;      /* [rows] */
};

static inline int64_t words_of(const struct ends_cut *cut)
{
    return cut->tiles * (cut->tile / WORD);
}

static inline int64_t ends_bytes(const struct ends_cut *cut)
{
    int64_t ints = BORDER * (cut->tiles + 1) + 2 * words_of(cut) + cut->tiles + blocks_for(cut->rows, RANKED_BLOCK) + 1;
    return cut->tiles * 2 * PIECE_BYTES + (ints + cut->rows) * (int64_t)sizeof(int);
}

/* The arrays at `room`, which has ends_bytes bytes. */
static inline struct ends_parts parts_of(void *room, const struct ends_cut *cut)
{
    struct ends_parts p = {words_of(cut), blocks_for(cut->rows, RANKED_BLOCK), room, 0, 0, 0, 0, 0};
    p.borders = (int *)((char *)room + cut->tiles * 2 * PIECE_BYTES);
    p.marks = (unsigned *)(p.borders + BORDER * (cut->tiles + 1));
    p.count = p.marks + 2 * p.words;
    p.at = (int *)(p.count + cut->tiles);
    p.order = p.at + p.blocks + 1;
    return p;
}

/* The bytes that a kernel reads of the matrix, if it has columns of 4 bytes. */
static inline int64_t ends_bytes_read(const struct stored *S, const struct ends_shape *shape)
{
    struct ends_cut cut = cut_of(S, shape);
    return S->nnz * (int64_t)(sizeof(int) + type_size(precisions[S->real].stored)) +
           2 * words_of(&cut) * (int64_t)sizeof(unsigned);
}

#define ENDS_MARKS(p, ...) VECTOR("marks", ROLE_WORK, (p).marks, 2 * (p).words, __VA_ARGS__)
#define ENDS_BORDERS(p, cut, ...) VECTOR("borders", ROLE_WORK, (p).borders, BORDER *((cut).tiles + 1), __VA_ARGS__)
#define ENDS_COUNT(p, cut) VECTOR("count", ROLE_WORK, (p).count, (cut).tiles, unsigned)
#define ENDS_ROWS(p, cut)                                                                           \
    {                                                                                               \
        VECTOR("order", ROLE_ROW_ORDER, (p).order, (cut).rows, const int), (cut).ranks < (cut).rows \
    }

/* Rank the n items: at[blocks] becomes the number of ranks, which is also copied to *ranks. */
template <typename F>
static bool count_ranks(struct device *d, int64_t n, int64_t blocks, const F &has_rank, int *at, int64_t *ranks,
                        struct err *e)
{
    int number = 0;
    LAUNCH(d, (unsigned)blocks, TILE_BLOCK, ends_count<F>)
    (n, has_rank, VECTOR("at", ROLE_WORK, at, blocks + 1, int));
    LAUNCH(d, 1, TILE_BLOCK, ends_add)(blocks, VECTOR("at", ROLE_WORK, at, blocks + 1, int));
    if (!d->ops->get(d, &number, at + blocks, sizeof number, e)) return false;
    *ranks = number;
    return true;
}

template <typename F>
static void order_by_rank(struct device *d, int64_t n, int64_t blocks, const F &has_rank, const int *at, int *order)
{
    LAUNCH(d, (unsigned)blocks, TILE_BLOCK, ends_order<F>)
    (n, blocks, has_rank, VECTOR("at", ROLE_WORK, at, blocks + 1, const int),
     VECTOR("order", ROLE_WORK, order, n, int));
}

/* Fill the arrays. cut->ranks becomes the number of rows that have entries. */
static inline bool find_ends(const struct launch *L, const struct ends_parts &p, struct ends_cut *cut, struct err *e)
{
    struct device *d = L->A->dev;
    struct has_entries entries = {ARRAY(L, CSR_PTR, int)};
    if (!count_ranks(d, cut->rows, p.blocks, entries, p.at, &cut->ranks, e)) return false;
    if (cut->ranks < cut->rows) order_by_rank(d, cut->rows, p.blocks, entries, p.at, p.order);
    struct ends_rows rows = ENDS_ROWS(p, *cut);
    LAUNCH(d, blocks_for(p.words, TILE_BLOCK), TILE_BLOCK, ends_mark)
    (*cut, p.words, rows, ARRAY(L, CSR_PTR, int), ENDS_MARKS(p, unsigned));
    LAUNCH(d, blocks_for(cut->tiles + 1, TILE_BLOCK), TILE_BLOCK, ends_border)
    (*cut, rows, ARRAY(L, CSR_PTR, int), ENDS_BORDERS(p, *cut, int), ENDS_COUNT(p, *cut));
    return true;
}

} // namespace KERNEL_SPACE

#endif
