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
   - from tile to tile: if fewer than BACK entries of the row lie before the tile in which it ends, that tile's block
     reads them again. Otherwise each block writes its piece of the row, and the last block to arrive adds the pieces.
 */
#include "gpu/dialect.h"
#include "formats/fmt_csr.h"
#include "machine/tools.h"

namespace KERNEL_SPACE
{

enum {
    BLOCK = 256,
    WARPS = BLOCK / WARP,
    EACH = 4,            /* entries of a chunk that a lane takes */
    CHUNK = WARP * EACH, /* entries of a chunk */
    WORD = 32,           /* entries per word of end bits */
    BACK = WARP * WORD,  /* so many entries before a tile are looked at: one word per lane */
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

/* Where the sums go. */
template <typename T> struct ends_result {
    GPTR(T) y;
    GPTR(const int) order;
    bool gaps; /* are there empty rows? */
    T alpha, beta;

    __device__ int row(int64_t rank) const { return gaps ? order[rank] : (int)rank; }
    __device__ void put(int64_t rank, T sum) const { store<T>(y, row(rank), alpha, sum, beta); }
};

/* The part of a chunk that a lane takes: EACH neighbouring entries. */
template <typename T> struct ends_chunk {
    int col[EACH];
    T val[EACH];
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
template <typename T>
__device__ ends_chunk<T> load_chunk(int64_t first, int64_t nnz, GPTR(const unsigned) marks, GPTR(const int) col,
                                    GPTR(const T) val)
{
    ends_chunk<T> c;
    int64_t k = first + threadIdx.x % WARP * EACH;
    if (k + EACH <= nnz) {
        load_each<int>(col, k, c.col);
        load_each<T>(val, k, c.val);
    } else {
        for (int j = 0; j < EACH; j++) {
            c.col[j] = k + j < nnz ? col[k + j] : 0;
            c.val[j] = k + j < nnz ? val[k + j] : T(0);
        }
    }
    auto mark = once<2>(marks, k / WORD * 2);
    unsigned below = (1u << k % WORD) - 1;
    c.ends = mark.of[0] >> k % WORD & ((1u << EACH) - 1);
    c.rank = (int)mark.of[1] + __popc(mark.of[0] & below);
    return c;
}

/* The sum of the entries before the tile of the row that goes on in the tile, added up per warp. *far: BACK or more
   entries of the row lie before the tile; the sum is then 0. Participants: all threads of the block. */
template <typename T>
__device__ T sum_before(int64_t tile, GPTR(const unsigned) marks, GPTR(const int) col, GPTR(const T) val,
                        GPTR(const T) x, bool *far)
{
    int64_t word = tile / WORD - WARP + threadIdx.x % WARP;
    unsigned ends = word < 0 ? 1u << 31 : marks[2 * word], with = __ballot_sync(FULL_MASK, ends != 0);
    *far = with == 0;
    if (with == 0) return T(0); /* the whole block returns: all its warps look at the same words */
    int last = 31 - __clz((int)with);
    ends = __shfl_sync(FULL_MASK, ends, last);
    int64_t begin = tile - BACK + (last + 1) * WORD - __clz((int)ends);
    T sum = 0;
    UNROLL(1)
    for (int64_t k = begin + threadIdx.x; k < tile; k += BLOCK) sum += val[k] * x[col[k]];
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
template <typename T, typename S, typename R>
__device__ void sum_chunk(const ends_chunk<T> &c, const T *product, const ends_result<T> &out, S head, R first,
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
    for (int d = 1; d < WARP; d *= 2) {
        T other = __shfl_up_sync(FULL_MASK, sum, d);
        if (lane - d >= begin) sum += other;
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

/* Write a tile's piece of a long row to part[slot]. The last of the row's tiles to arrive adds all pieces, in the order
   of the tiles: which tile is last does not change the result. Participants: the whole warp; lane 0 has the sum. */
template <typename T>
__device__ void put_piece(const ends_cut &cut, const ends_result<T> &out, GPTR(const int) ptr, GPTR(T) part,
                          GPTR(unsigned) count, int64_t rank, int64_t slot, T sum)
{
    int lane = threadIdx.x % WARP, row = out.row(rank);
    int64_t from = (ptr[row] + (BACK - 1)) / cut.tile, to = (ptr[row + 1] - 1) / cut.tile;
    unsigned before = 0;
    if (lane == 0) {
        part[slot] = sum;
        before = arrive(count + from);
    }
    before = __shfl_sync(FULL_MASK, before, 0);
    if (before < to - from) return; /* the whole warp returns */
    __threadfence();
    __syncwarp(); /* the whole warp: lane 0 has written its piece */
    sum = 0;
    UNROLL(1)
    for (int64_t k = from + lane; k <= to; k += WARP) sum += part[2 * k + (k < to)];
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    if (lane != 0) return;
    out.put(rank, sum);
    count[from] = 0; /* for the next launch */
}

/* One tile per block, `each` chunks per warp, EACH neighbouring entries of a chunk per lane, so that a request of a
   warp for col or val covers neighbouring sectors. The loads of the next chunk are under way while a chunk is summed.
   Blocks after the tiles write the empty rows, one per thread. */
template <typename T>
__global__ void __launch_bounds__(BLOCK, sizeof(T) > sizeof(double) ? 2 : 5)
    ends_tile(struct ends_cut cut, GPTR(const unsigned) marks, GPTR(const int) ptr, GPTR(const int) col,
              GPTR(const T) val, GPTR(const T) x, ends_result<T> out, GPTR(T) part, GPTR(unsigned) count)
{
    SHARED(T, head, WARPS);    /* the sum of the first row that ends in a warp */
    SHARED(T, tail, WARPS);    /* the sum after the last row that ends in a warp */
    SHARED(T, early, WARPS);   /* sums of the entries before the tile */
    SHARED(int, first, WARPS); /* the rank of the first row that ends in a warp; -1: none ends */
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t b = blockIdx.x, tile = b * cut.tile, next = tile + cut.tile;
    if (b >= cut.tiles) {
        int64_t empty = cut.ranks + (b - cut.tiles) * BLOCK + threadIdx.x;
        if (empty < cut.rows) out.put(empty, T(0));
        return; /* the whole block returns */
    }
    int64_t begin = tile + (int64_t)warp * cut.each * CHUNK;
    ends_chunk<T> coming = load_chunk<T>(begin, cut.nnz, marks, col, val);
    bool far, open;
    T sum = sum_before<T>(tile, marks, col, val, x, &far);
    if (lane == 0) {
        early[warp] = sum;
        first[warp] = -1;
    }
    __syncwarp(); /* the whole warp: first[warp] may be overwritten */
    ends_run<T> run = {T(0), false};
    UNROLL(1)
    for (int i = 0; i < cut.each; i++) {
        ends_chunk<T> c = coming;
        T product[EACH];
        if (i + 1 < cut.each) coming = load_chunk<T>(begin + (i + 1) * CHUNK, cut.nnz, marks, col, val);
        UNROLL_WHOLE
        for (int j = 0; j < EACH; j++) product[j] = c.val[j] * x[c.col[j]];
        sum_chunk<T>(c, product, out, head, first, &run);
    }
    if (lane == 0) tail[warp] = run.carry;
    __syncthreads(); /* all threads of the block: the warps' sums are complete */

    sum = sum_of_warps<T>(warp, first, tail, early, &open);
    if (lane == 0 && run.ended && !(open && far)) out.put(first[warp], sum + head[warp]);
    if (run.ended && open && far) put_piece<T>(cut, out, ptr, part, count, first[warp], 2 * b, sum + head[warp]);
    if (warp != WARPS - 1 || next >= cut.nnz) return; /* the whole warp returns */
    int64_t word = next / WORD - WARP + lane;
    if (__any_sync(FULL_MASK, word < 0 || marks[2 * word] != 0)) return; /* the next tile reads the row's begin again */
    sum = sum_of_warps<T>(WARPS, first, tail, early, &open);
    put_piece<T>(cut, out, ptr, part, count, (int64_t)marks[next / WORD * 2 + 1], 2 * b + 1, sum);
}

/* ---- preparation ---- */

static __global__ void ends_clear(int64_t n, GPTR(unsigned) words)
{
    int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) words[i] = 0;
}

/* One row per thread: set the bit of the row's last entry. No two rows have the same bit, so adding it sets it. */
static __global__ void ends_mark(int64_t rows, GPTR(const int) ptr, GPTR(unsigned) marks)
{
    int64_t row = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows) return;
    int begin = ptr[row], last = ptr[row + 1] - 1;
    if (last >= begin) atomicAdd(marks + (int64_t)(last / WORD) * 2, 1u << last % WORD);
}

/* One word per thread: the number of rows that end in it. */
static __global__ void ends_count(int64_t words, GPTR(const unsigned) marks, GPTR(int64_t) at)
{
    int64_t w = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (w < words) at[w] = __popc(marks[2 * w]);
}

static __global__ void ends_number(int64_t words, GPTR(const int64_t) at, GPTR(unsigned) marks)
{
    int64_t w = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (w < words) marks[2 * w + 1] = (unsigned)at[w];
}

/* One row per thread: its place in `order`. The number of rows with entries before a row is the number of rows that end
   before its first entry. */
static __global__ void ends_order(int64_t rows, int64_t ranks, GPTR(const int) ptr, GPTR(const unsigned) marks,
                                  GPTR(const int64_t) at, GPTR(int) order)
{
    int64_t row = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows) return;
    int begin = ptr[row], end = ptr[row + 1];
    unsigned below = (1u << begin % WORD) - 1;
    int64_t rank = at[begin / WORD] + (below ? __popc(marks[(int64_t)(begin / WORD) * 2] & below) : 0);
    order[end > begin ? rank : ranks + row - rank] = (int)row;
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
    int64_t words;
    void *part;      /* [2 tiles]: the tile's piece of the row that goes on in it, and of the row that it begins */
    unsigned *marks; /* [2 words] */
    unsigned *count; /* [tiles]: pieces that have arrived, of the row whose first piece is in the tile */
    int *order;      /* [rows] */
};

static int64_t words_of(const struct ends_cut *cut)
{
    return cut->tiles * (cut->tile / WORD);
}

static int64_t ends_bytes(const struct mat *M)
{
    struct ends_cut cut = cut_of(M->of);
    return cut.tiles * (2 * PIECE_BYTES + (int64_t)sizeof(unsigned)) +
           (2 * words_of(&cut) + cut.rows) * (int64_t)sizeof(int);
}

static struct ends_parts parts_of(const struct launch *L, const struct ends_cut *cut)
{
    int64_t words = words_of(cut);
    unsigned *marks = (unsigned *)((char *)L->scratch + cut->tiles * 2 * PIECE_BYTES), *count = marks + 2 * words;
    return {words, L->scratch, marks, count, (int *)(count + cut->tiles)};
}

static int64_t ends_reads(const struct stored *S)
{
    struct ends_cut cut = cut_of(S);
    return S->nnz * (int64_t)(sizeof(int) + type_size(S->real)) + 2 * words_of(&cut) * (int64_t)sizeof(unsigned);
}

#define ENDS_MARKS(p, ...) VECTOR("marks", ROLE_WORK, (p).marks, 2 * (p).words, __VA_ARGS__)
#define ENDS_AT(p, at, ...) VECTOR("at", ROLE_WORK, at, (p).words + 1, __VA_ARGS__)

/* Number the rows by their ends. `at` has words + 1 counts; *ranks: the number of rows that have entries. */
static bool number_rows(const struct launch *L, const struct ends_parts &p, int64_t *at, void *temp, int64_t bytes,
                        int64_t *ranks, struct err *e)
{
    struct device *d = L->A->dev;
    int64_t rows = L->A->of->rows;
    LAUNCH(d, blocks_for(p.words, BLOCK), BLOCK, ends_count)
    (p.words, ENDS_MARKS(p, const unsigned), ENDS_AT(p, at, int64_t));
    if (!tools_of(d)->exclusive_scan(d, at, p.words + 1, temp, bytes, e) ||
        !d->ops->get(d, ranks, at + p.words, sizeof *ranks, e))
        return false;
    LAUNCH(d, blocks_for(p.words, BLOCK), BLOCK, ends_number)
    (p.words, ENDS_AT(p, at, const int64_t), ENDS_MARKS(p, unsigned));
    if (*ranks < rows) LAUNCH(d, blocks_for(rows, BLOCK), BLOCK, ends_order)
    (rows, *ranks, ARRAY(L, CSR_PTR, int), ENDS_MARKS(p, const unsigned), ENDS_AT(p, at, const int64_t),
     VECTOR("order", ROLE_WORK, p.order, rows, int));
    return d->ops->sync(d, e);
}

/* Sets the launch's note to the number of rows that have entries. */
static bool find_ends(const struct launch *L, struct err *e)
{
    struct device *d = L->A->dev;
    struct ends_cut cut = cut_of(L->A->of);
    struct ends_parts p = parts_of(L, &cut);
    int64_t rows = cut.rows, n = 2 * p.words + cut.tiles, ranks = 0, bytes = tools_of(d)->bytes(d, 0, p.words + 1, e);
    int64_t *at =
        bytes < 0 ? NULL : (int64_t *)d->ops->alloc(d, (p.words + 32) * 8 + bytes, "the counts of row ends", e);
    if (!at) return false;
    LAUNCH(d, blocks_for(n, BLOCK), BLOCK, ends_clear)(n, VECTOR("marks", ROLE_WORK, p.marks, n, unsigned));
    LAUNCH(d, blocks_for(rows, BLOCK), BLOCK, ends_mark)(rows, ARRAY(L, CSR_PTR, int), ENDS_MARKS(p, unsigned));
    bool ok = number_rows(L, p, at, at + (p.words / 32 + 1) * 32, bytes, &ranks, e);
    *L->note = (uint64_t)ranks;
    d->ops->free(d, at);
    return ok;
}

template <typename T> static bool ends(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    struct ends_cut cut = cut_of(S);
    struct ends_parts p = parts_of(L, &cut);
    cut.ranks = (int64_t)*L->note;
    struct ends_result<T> out = {
        VECTOR("y", ROLE_Y, L->y, S->rows, T),
            VECTOR("order", ROLE_ROW_ORDER, p.order, S->rows, const int), cut.ranks < cut.rows, (T)L->alpha, (T)L->beta
    };
    LAUNCH(L->A->dev, (unsigned)cut.tiles + blocks_for(cut.rows - cut.ranks, BLOCK), BLOCK, ends_tile<T>)
    (cut, ENDS_MARKS(p, const unsigned), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T),
     VECTOR("x", ROLE_X, L->x, S->cols, const T), out, VECTOR("part", ROLE_WORK, p.part, 2 * cut.tiles, T),
     VECTOR("count", ROLE_WORK, p.count, cut.tiles, unsigned));
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
              "by the block in which it ends, which reads the entries before the border again, if they are fewer\n"
              "than 1024. The blocks of a longer row write their pieces, and the last one to arrive adds them in\n"
              "the order of the blocks: one launch, and the same bits in every run.\n",
    .deterministic = true,
    .together = true,
    .reads = ends_reads,
    .scratch = ends_bytes,
    .prepare = find_ends,
    VALUE_TYPES(ends),
};
