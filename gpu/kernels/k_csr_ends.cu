/* SpMV kernel (matrix-vector product) for CSR: every thread takes the same number of entries, whatever the row lengths,
   and one bit per entry says where the rows end. One launch, deterministic.

   The entries of the matrix are cut into tiles of equal size, one per block, and the tiles into chunks of 128 entries,
   `each` chunks per warp. Neither ptr nor row numbers are read: the preparation stores two words for every 32 entries,
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
#include "gpu/dialect.h"
#include "base/precision.h"
#include "formats/fmt_csr.h"
#include "tiles.h"

namespace KERNEL_SPACE
{

enum {
    BLOCK = 256,
    WARPS = BLOCK / WARP,
    EACH = 4,            /* entries of a chunk that a lane takes */
    CHUNK = WARP * EACH, /* entries of a chunk */
    WORD = 32,           /* entries per word of end bits */
    BACK = 4 * BLOCK,    /* a tile's block reads fewer than so many entries before the tile again */
    AT_ONCE = 660,       /* blocks that run at the same time on an H200: five per multiprocessor */
    CHUNKS_MOST = 12     /* chunks per warp */
};

/* How the matrix is cut. It depends on nothing but the number of entries: all devices give the same bits. */
struct ends_cut {
    int64_t nnz, tiles;
    int each;      /* chunks per warp */
    int tile;      /* entries per tile */
    int64_t ranks; /* rows that have entries */
    int64_t rows;
};

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

/* The part of a chunk that a lane takes: EACH neighbouring entries. */
template <typename U> struct ends_chunk {
    int col[EACH];
    U val[EACH];
    unsigned ends; /* one bit for each of the EACH entries */
    int rank;      /* of the first row that ends in them */
};

/* to[0 .. EACH-1] = p[k .. k+EACH-1], by loads of 16 bytes. */
template <typename T, typename P> __device__ void load_each(P p, INDEX k, T *to)
{
    enum { N = 16 / sizeof(T) < EACH ? 16 / sizeof(T) : +EACH };
    UNROLL_WHOLE
    for (int j = 0; j < EACH; j += N) {
        auto some = once<N>(p + j, k);
        for (int i = 0; i < N; i++) to[j + i] = some.of[i];
    }
}

/* Load the lane's part of the chunk that begins with entry `first`. Entries after the last have value 0; no row ends
   there, so their products are never used. */
template <typename U>
__device__ ends_chunk<U> load_chunk(int64_t first, int64_t nnz, GPTR(const unsigned) marks, GPTR(const int) col,
                                    GPTR(const U) val)
{
    ends_chunk<U> c;
    int64_t k = first + threadIdx.x % WARP * EACH;
    if (k + EACH <= nnz) {
        load_each<int>(col, k, c.col);
        load_each<U>(val, k, c.val);
    } else {
        for (int j = 0; j < EACH; j++) {
            c.col[j] = k + j < nnz ? col[k + j] : 0;
            c.val[j] = k + j < nnz ? val[k + j] : U{};
        }
    }
    auto mark = once<2>(marks, k / WORD * 2);
    unsigned below = (1u << k % WORD) - 1;
    c.ends = mark.of[0] >> k % WORD & ((1u << EACH) - 1);
    c.rank = (int)mark.of[1] + __popc(mark.of[0] & below);
    return c;
}

/* The sum of the last `n` entries before the tile, added up per warp. */
template <typename T, typename U>
__device__ T early_sum(int64_t tile, int n, GPTR(const int) col, GPTR(const U) val, GPTR(const T) x)
{
    T sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < BACK / BLOCK; j++) {
        int64_t k = tile - n + j * BLOCK + threadIdx.x;
        if (k < tile) sum += (T)val[k] * x[col[k]];
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
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, done = 0;
    T sum = 0, first_sum = 0;
    UNROLL_WHOLE
    for (int j = 0; j < EACH; j++) {
        sum += product[j];
        if (!(c.ends >> j & 1)) continue;
        if (done == 0)
            first_sum = sum;
        else
            out.put(c.rank + done, sum);
        done++;
        sum = 0;
    }
    unsigned ends = __ballot_sync(FULL_MASK, done > 0), below = (1u << lane) - 1;
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
    if (done > 0 && !(ends & below) && !run->ended) {
        head[warp] = before + first_sum;
        first[warp] = c.rank;
    } else if (done > 0) {
        out.put(c.rank, before + first_sum);
    }
    run->carry = ends ? last : run->carry + last;
    run->ended |= ends != 0;
}

/* What the warps before this one, and the entries before the tile, contribute to the row in which this warp begins.
   first[w] < 0: no row ends in warp w. *open: none of these warps has the end of a row. */
template <typename T, typename R, typename S> __device__ T sum_of_warps(int warp, R first, S tail, S early, bool *open)
{
    int w = warp;
    while (w > 0 && first[w - 1] < 0) w--;
    *open = w == 0;
    T sum = 0;
    for (int k = max(w - 1, 0); k < warp; k++) sum += tail[k];
    for (int k = 0; k < WARPS && w == 0; k++) sum += early[k];
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

/* One tile per block, `each` chunks per warp, EACH neighbouring entries of a chunk per lane, so that a request of a
   warp for col or val covers neighbouring sectors. The loads of the next chunk are under way while a chunk is summed.
   Blocks after the tiles write the empty rows, one per thread. */
template <typename T, typename U>
__global__ void __launch_bounds__(BLOCK, sizeof(T) > sizeof(double) ? 2 : 5)
    ends_tile(struct ends_cut cut, GPTR(const unsigned) marks, GPTR(const int) borders, GPTR(const int) col,
              GPTR(const U) val, GPTR(const T) x, ends_result<T> out, GPTR(T) part, GPTR(unsigned) count)
{
    SHARED(T, head, WARPS);    /* the sum of the first row that ends in a warp */
    SHARED(T, tail, WARPS);    /* the sum after the last row that ends in a warp */
    SHARED(T, early, WARPS);   /* sums of the entries before the tile */
    SHARED(int, first, WARPS); /* the rank of the first row that ends in a warp; -1: none ends */
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t b = blockIdx.x, tile = b * cut.tile;
    if (b >= cut.tiles) {
        int64_t empty = cut.ranks + (b - cut.tiles) * BLOCK + threadIdx.x;
        if (empty < cut.rows) out.put(empty, T(0));
        return; /* the whole block returns */
    }
    int64_t begin = tile + (int64_t)warp * cut.each * CHUNK;
    ends_chunk<U> coming = load_chunk<U>(begin, cut.nnz, marks, col, val);
    auto border = together<BORDER>(borders, b * BORDER), next = together<BORDER>(borders, (b + 1) * BORDER);
    bool far = border.of[BORDER_BEFORE] == BACK, open;
    T sum = far ? T(0) : early_sum<T>(tile, border.of[BORDER_BEFORE], col, val, x);
    if (lane == 0) {
        early[warp] = sum;
        first[warp] = -1;
    }
    __syncwarp(); /* the whole warp: first[warp] may be overwritten */
    ends_run<T> run = {T(0), false};
    UNROLL(1)
    for (int i = 0; i < cut.each; i++) {
        ends_chunk<U> c = coming;
        T product[EACH];
        if (i + 1 < cut.each) coming = load_chunk<U>(begin + (i + 1) * CHUNK, cut.nnz, marks, col, val);
        UNROLL_WHOLE
        for (int j = 0; j < EACH; j++) product[j] = (T)c.val[j] * x[c.col[j]];
        sum_chunk<T>(c, product, out, head, first, &run);
    }
    if (lane == 0) tail[warp] = run.carry;
    __syncthreads(); /* all threads of the block: the warps' sums are complete */

    sum = sum_of_warps<T>(warp, first, tail, early, &open);
    if (lane == 0 && run.ended && !(open && far)) out.put(first[warp], sum + head[warp]);
    if (run.ended && open && far) put_piece<T>(out, border, part, count, 2 * b, sum + head[warp]);
    if (warp != WARPS - 1 || next.of[BORDER_BEFORE] < BACK) return; /* the whole warp returns */
    sum = sum_of_warps<T>(WARPS, first, tail, early, &open);
    put_piece<T>(out, next, part, count, 2 * b + 1, sum);
}

/* ---- preparation: ranks ---- */

/* Neighbouring rows of a thread, and of a block. */
enum { ROWS_EACH = 8, ROWS_BLOCK = TILE_BLOCK * ROWS_EACH };

/* The rows with entries among the ROWS_EACH rows from `first` on, one bit each. */
template <typename P> __device__ unsigned rows_with_entries(int64_t first, int64_t rows, P ptr)
{
    unsigned bits = 0;
    UNROLL_WHOLE
    for (int j = 0; j < ROWS_EACH; j++) {
        if (first + j < rows && ptr[first + j + 1] > ptr[first + j]) bits |= 1u << j;
        reconverge();
    }
    return bits;
}

/* at[b] = the number of rows with entries among the rows of block b. */
static __global__ void ends_count(int64_t rows, GPTR(const int) ptr, GPTR(int) at)
{
    SHARED(int, part, TILE_WARPS);
    int64_t first = (int64_t)blockIdx.x * ROWS_BLOCK + threadIdx.x * ROWS_EACH;
    int all;
    sum_before(__popc(rows_with_entries(first, rows, ptr)), part, &all);
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

/* order[rank] = row; the empty rows follow. */
static __global__ void ends_order(int64_t rows, int64_t blocks, GPTR(const int) ptr, GPTR(const int) at,
                                  GPTR(int) order)
{
    SHARED(int, part, TILE_WARPS);
    int64_t first = (int64_t)blockIdx.x * ROWS_BLOCK + threadIdx.x * ROWS_EACH;
    int all, ranks = at[blocks];
    unsigned bits = rows_with_entries(first, rows, ptr);
    int64_t rank = at[blockIdx.x] + sum_before(__popc(bits), part, &all);
    for (int j = 0; j < ROWS_EACH && first + j < rows; j++) {
        bool entries = bits >> j & 1;
        order[entries ? rank : ranks + first + j - rank] = (int)(first + j);
        rank += entries;
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
    int64_t w = (int64_t)blockIdx.x * BLOCK + threadIdx.x, k = w * WORD;
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
    int64_t b = (int64_t)blockIdx.x * BLOCK + threadIdx.x, k = b * cut.tile;
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

/* As few rounds of AT_ONCE blocks as the largest tiles allow, and each round full. */
static struct ends_cut cut_of(const struct stored *S)
{
    int64_t least = (S->nnz + WARPS * CHUNK - 1) / (WARPS * CHUNK); /* tiles of one chunk per warp */
    int64_t rounds = (least + AT_ONCE * CHUNKS_MOST - 1) / (AT_ONCE * CHUNKS_MOST);
    int each = least > AT_ONCE ? (int)((least + AT_ONCE * rounds - 1) / (AT_ONCE * rounds)) : 1;
    return {S->nnz, (least + each - 1) / each, each, each * WARPS * CHUNK, 0, S->rows};
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

static int64_t words_of(const struct ends_cut *cut)
{
    return cut->tiles * (cut->tile / WORD);
}

static int64_t ends_bytes(const struct mat *M)
{
    struct ends_cut cut = cut_of(M->of);
    int64_t ints = BORDER * (cut.tiles + 1) + 2 * words_of(&cut) + cut.tiles + blocks_for(cut.rows, ROWS_BLOCK) + 1;
    return cut.tiles * 2 * PIECE_BYTES + (ints + cut.rows) * (int64_t)sizeof(int);
}

static struct ends_parts parts_of(const struct launch *L, const struct ends_cut *cut)
{
    struct ends_parts p = {words_of(cut), blocks_for(cut->rows, ROWS_BLOCK), L->scratch, 0, 0, 0, 0, 0};
    p.borders = (int *)((char *)L->scratch + cut->tiles * 2 * PIECE_BYTES);
    p.marks = (unsigned *)(p.borders + BORDER * (cut->tiles + 1));
    p.count = p.marks + 2 * p.words;
    p.at = (int *)(p.count + cut->tiles);
    p.order = p.at + p.blocks + 1;
    return p;
}

static int64_t ends_reads(const struct stored *S)
{
    struct ends_cut cut = cut_of(S);
    return S->nnz * (int64_t)(sizeof(int) + type_size(type_of_stored(S->real))) +
           2 * words_of(&cut) * (int64_t)sizeof(unsigned);
}

#define ENDS_MARKS(p, ...) VECTOR("marks", ROLE_WORK, (p).marks, 2 * (p).words, __VA_ARGS__)
#define ENDS_BORDERS(p, cut, ...) VECTOR("borders", ROLE_WORK, (p).borders, BORDER *((cut).tiles + 1), __VA_ARGS__)
#define ENDS_COUNT(p, cut) VECTOR("count", ROLE_WORK, (p).count, (cut).tiles, unsigned)
#define ENDS_AT(p, ...) VECTOR("at", ROLE_WORK, (p).at, (p).blocks + 1, __VA_ARGS__)
#define ENDS_ROWS(p, cut)                                                                           \
    {                                                                                               \
        VECTOR("order", ROLE_ROW_ORDER, (p).order, (cut).rows, const int), (cut).ranks < (cut).rows \
    }

/* Count the rows that have entries, and list them if there are others. */
static bool rank_rows(const struct launch *L, const struct ends_parts &p, struct ends_cut *cut, struct err *e)
{
    struct device *d = L->A->dev;
    int ranks = 0;
    LAUNCH(d, (unsigned)p.blocks, TILE_BLOCK, ends_count)(cut->rows, ARRAY(L, CSR_PTR, int), ENDS_AT(p, int));
    LAUNCH(d, 1, TILE_BLOCK, ends_add)(p.blocks, ENDS_AT(p, int));
    if (!d->ops->get(d, &ranks, p.at + p.blocks, sizeof ranks, e)) return false;
    cut->ranks = ranks;
    if (cut->ranks < cut->rows) LAUNCH(d, (unsigned)p.blocks, TILE_BLOCK, ends_order)
    (cut->rows, p.blocks, ARRAY(L, CSR_PTR, int), ENDS_AT(p, const int),
     VECTOR("order", ROLE_WORK, p.order, cut->rows, int));
    return true;
}

/* Sets the launch's note to the number of rows that have entries. */
static bool find_ends(const struct launch *L, struct err *e)
{
    struct device *d = L->A->dev;
    struct ends_cut cut = cut_of(L->A->of);
    struct ends_parts p = parts_of(L, &cut);
    if (!rank_rows(L, p, &cut, e)) return false;
    struct ends_rows rows = ENDS_ROWS(p, cut);
    LAUNCH(d, blocks_for(p.words, BLOCK), BLOCK, ends_mark)
    (cut, p.words, rows, ARRAY(L, CSR_PTR, int), ENDS_MARKS(p, unsigned));
    LAUNCH(d, blocks_for(cut.tiles + 1, BLOCK), BLOCK, ends_border)
    (cut, rows, ARRAY(L, CSR_PTR, int), ENDS_BORDERS(p, cut, int), ENDS_COUNT(p, cut));
    *L->note = (uint64_t)cut.ranks;
    return true;
}

template <typename T, typename U = T> static bool ends(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    struct ends_cut cut = cut_of(S);
    struct ends_parts p = parts_of(L, &cut);
    cut.ranks = (int64_t)*L->note;
    struct ends_result<T> out = {
        VECTOR("y", ROLE_Y, L->y, S->rows, T), ENDS_ROWS(p, cut), (T)L->alpha, (T)L->beta
    };
    LAUNCH(L->A->dev, (unsigned)cut.tiles + blocks_for(cut.rows - cut.ranks, BLOCK), BLOCK, ends_tile<T, U>)
    (cut, ENDS_MARKS(p, const unsigned), ENDS_BORDERS(p, cut, const int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, U),
     VECTOR("x", ROLE_X, L->x, S->cols, const T), out, VECTOR("part", ROLE_WORK, p.part, 2 * cut.tiles, T),
     ENDS_COUNT(p, cut));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_ends) = {
    .name = "csr-ends",
    .about = "equal shares of the entries, and a bit per entry for the ends of rows: fast whatever the row lengths",
    .format = &format_csr,
    .source = "[ours]; end bits: Yan et al. 2014, Liu and Vinter 2015",
    .work = "4 neighbouring entries of each chunk of 128",
    .lesson = "Every lane takes 4 neighbouring entries, wherever rows begin and end. A bit per entry marks the last\n"
              "entry of each row. On the 4x4 example:\n"
              "    val   1  7  2  8 | 5  3  9  6 | 4         lanes 0, 1 and 2\n"
              "    end   0  1  0  1 | 0  0  1  0 | 1\n"
              "Lane 0 finishes rows 0 and 1, lane 1 finishes row 2. Its last sum, 6, goes to lane 2 in a scan over\n"
              "the lanes (5 shuffle steps), to which every row is equally expensive. A second word per 32 entries\n"
              "counts the rows before them, so that a lane knows where in y its sums belong: the kernel does not\n"
              "read ptr, and the loads of the matrix begin at once. The next 128 entries are loaded while 128 are\n"
              "summed. A lane's entries are loaded 16 bytes at a time.\n"
              "The sums of the warps meet in shared memory. A row that crosses the border of two blocks is finished\n"
              "by the second block, which reads the entries before the border again, if they are fewer than 1024.\n"
              "The blocks of a longer row write their pieces, and the last one to arrive adds them in the order of\n"
              "the blocks: one launch, and the same bits in every run.\n",
    .deterministic = true,
    .together = true,
    .reads = ends_reads,
    .scratch = ends_bytes,
    .prepare = find_ends,
    VALUE_TYPES(ends),
    NARROW_TYPES_OF(ends),
};
