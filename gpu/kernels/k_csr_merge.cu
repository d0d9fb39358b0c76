/* Merge-path SpMV (matrix-vector product) for CSR: the list of row ends ptr[1..m] and the list of nonzeros 0..z-1 are
   merged, and the m+z items of the merge are split into equal pieces: one tile per block, ITEMS items per thread.

   A binary search along a diagonal finds the start of a tile: at diagonal d, `row` row ends and d - row nonzeros come
   before the tile. If the border falls into a short row, it is moved back to the start of that row. A longer row is
   split; the tile's partial sum of that row becomes a carry. Carries are added afterwards by row, in the order of the
   tiles, so that the result is the same in every run. */
#include "carries.h"
#include "formats/fmt_csr.h"
#include "parts.h"

namespace KERNEL_SPACE
{

/* Tiles are STEP items apart. A tile has up to SHORT more items, because its first border may have been moved back. */
enum { BLOCK = 128, WARPS = BLOCK / WARP, ITEMS = 7, TILE = BLOCK * ITEMS, SHORT = 64, STEP = TILE - SHORT };

/* The number of row ends among end[0 .. rows-1] that come before diagonal d in the merge. */
template <typename I, typename P> __device__ I merge_search(P end, I rows, I nnz, I d)
{
    I low = d > nnz ? d - nnz : 0, high = d < rows ? d : rows;
    while (low < high) {
        I middle = (low + high) / 2;
        if (end[middle] <= d - 1 - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One tile border per thread: the numbers of row ends and of nonzeros that come before it. */
static __global__ void merge_starts(int tiles, int64_t rows, int64_t nnz, GPTR(const int) ptr, GPTR(int) start_row,
                                    GPTR(int) start_k)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t > tiles) return;
    int64_t d = min((int64_t)t * STEP, rows + nnz), row = merge_search(ptr + 1, rows, nnz, d), k = d - row;
    if (row < rows) {
        int begin = ptr[row];
        if (ptr[row + 1] - begin <= SHORT) k = begin;
    }
    start_row[t] = (int)row;
    start_k[t] = (int)k;
}

/* Compute the products t, t + BLOCK, ... of the tile's n products. All loads of col and val are issued before the first
   result is needed, then all loads of x. */
template <typename T>
__device__ void merge_products(int t, int n, GPTR(const int) col, GPTR(const T) val, GPTR(const T) x, T *products)
{
    int c[ITEMS];
    UNROLL_WHOLE
    for (int j = 0; j < ITEMS; j++) c[j] = t + j * BLOCK < n ? col[t + j * BLOCK] : 0;
    UNROLL_WHOLE
    for (int j = 0; j < ITEMS; j++) products[j] = t + j * BLOCK < n ? val[t + j * BLOCK] : 0;
    UNROLL_WHOLE
    for (int j = 0; j < ITEMS; j++)
        if (t + j * BLOCK < n) products[j] *= x[c[j]];
}

/* The sum that earlier warps contribute to the row in which this warp begins. Warp w ended in row warp_row[w], and its
   partial sum of that row is warp_sum[w]. */
template <typename T, typename K, typename V> __device__ T merge_carried(int warp, K warp_row, V warp_sum)
{
    T sum = 0;
    for (int w = 0; w < warp; w++)
        if (warp_row[w] == warp_row[warp - 1]) sum += warp_sum[w];
    return sum;
}

/* One tile per block, ITEMS items of the merge per thread. Coalesced reads bring the tile's products and row ends into
   shared memory. Each thread then walks its own stretch of the tile and stores the sums of its rows in the second part
   of `product`. Coalesced writes copy the sums to y. */
template <typename T>
__global__ void __launch_bounds__(BLOCK)
    merge_tile(GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y,
               GPTR(const int) start_row, GPTR(const int) start_k, GPTR(int) carry_row, GPTR(T) carry)
{
    SHARED(T, product, TILE);
    SHARED(int, end, TILE);
    SHARED(T, warp_sum, WARPS);
    SHARED(int, warp_row, WARPS);
    int tile = blockIdx.x, t = threadIdx.x, lane = t % WARP, warp = t / WARP;
    int row0 = start_row[tile], k0 = start_k[tile];
    int n = start_row[tile + 1] - row0, z = start_k[tile + 1] - k0;
    T products[ITEMS];
    merge_products<T>(t, z, col + k0, val + k0, x, products);
    AHEAD(UNROLL_AUTO)
    for (int i = t; i < n; i += BLOCK) end[i] = ptr[row0 + 1 + i] - k0;
    __syncthreads(); /* all threads of the block: `end` is complete; the loads of the products may still be in flight */

    int from = min(t * ITEMS, n + z), to = min(from + ITEMS, n + z);
    int row = merge_search(end, n, z, from), k = from - row, first = row;
    UNROLL_WHOLE
    for (int j = 0; j < ITEMS; j++)
        if (t + j * BLOCK < z) product[t + j * BLOCK] = products[j];
    __syncthreads(); /* all threads of the block: `product` is complete */

    T run = 0, head = 0; /* the running sum; this thread's part of the sum of the first row that ends here */
    for (int i = from; i < to; i++) {
        bool ends = false;
        AHEAD(UNROLL_ALL) /* the cost model was calibrated with eight of these loads in flight together */
        ends = row < n && end[row] <= k;
        if (ends) {
            if (row == first)
                head = run;
            else
                product[z + row] = run;
            run = 0;
            row++;
        } else {
            run += product[k++];
        }
    }
    T upto = scan_by_row<T>(lane, row, run), before = __shfl_up_sync(FULL_MASK, upto, 1);
    if (lane == WARP - 1) {
        warp_row[warp] = row;
        warp_sum[warp] = upto;
    }
    __syncthreads(); /* all threads of the block: warp_row and warp_sum are complete */
    T carried = merge_carried<T>(warp, warp_row, warp_sum);
    bool row_continues = warp > 0 && first == warp_row[warp - 1]; /* no row of this warp ended before this thread */
    if (row > first) product[z + first] = (lane > 0 ? before : 0) + (row_continues ? carried : 0) + head;
    if (t == BLOCK - 1) {
        carry_row[tile] = row0 + row;
        carry[tile] = row == first && row_continues ? upto + carried : upto;
    }
    __syncthreads(); /* all threads of the block: the sums of rows that end in the tile are in `product` */
    AHEAD(UNROLL_AUTO)
    for (int i = t; i < n; i += BLOCK) store<T>(y, row0 + i, alpha, product[z + i], beta);
}

/* ---- on the host: scratch memory and launches ---- */

/* The arrays in a launch's scratch memory: one carry per tile, CARRY_BYTES each, then the three integer arrays. */
struct merge_parts {
    int64_t tiles;
    void *carry;
    int *carry_row; /* [tiles] */
    int *start_row; /* [tiles + 1] */
    int *start_k;   /* [tiles + 1] */
};

static int64_t tiles_of(const struct stored *S)
{
    return (S->rows + S->nnz + STEP - 1) / STEP;
}

static int64_t merge_bytes(const struct mat *M)
{
    int64_t tiles = tiles_of(M->of);
    return tiles * CARRY_BYTES + (3 * tiles + 2) * (int64_t)sizeof(int);
}

static struct merge_parts parts_of(const struct launch *L)
{
    int64_t tiles = tiles_of(L->A->of);
    int *carry_row = (int *)((char *)L->scratch + tiles * CARRY_BYTES), *start_row = carry_row + tiles;
    return {tiles, L->scratch, carry_row, start_row, start_row + tiles + 1};
}

/* May any row be so long that a tile border splits it? If not, there are no carries. */
static bool any_long(const struct stored *S)
{
    const int *ptr = (const int *)S->a[CSR_PTR].data;
    if (!ptr) return true; /* the arrays are only on the device */
    for (int64_t row = 0; row < S->rows; row++)
        if (ptr[row + 1] - ptr[row] > SHORT) return true;
    return false;
}

/* Finds the tile starts, and sets the launch's note to 1 if there may be carries to add, else to 0. */
static bool find_starts(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    struct merge_parts p = parts_of(L);
    *L->note = any_long(S);
    LAUNCH(L->A->dev, blocks_for(p.tiles + 1, BLOCK), BLOCK, merge_starts)
    ((int)p.tiles, S->rows, S->nnz, ARRAY(L, CSR_PTR, int),
     VECTOR("start_row", ROLE_WORK, p.start_row, p.tiles + 1, int),
     VECTOR("start_k", ROLE_WORK, p.start_k, p.tiles + 1, int));
    if (L->A->dev->kind == DEV_EMU) /* no carries yet, so that a sample of the tiles may run without the others */
        for (int64_t t = 0; t < p.tiles; t++) p.carry_row[t] = (int)S->rows;
    return true;
}

template <typename T> static void launch_tiles(const struct launch *L, const struct merge_parts &p)
{
    LAUNCH(L->A->dev, (unsigned)p.tiles, BLOCK, merge_tile<T>)
    (ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, L->A->of->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, L->A->of->rows, T),
     VECTOR("start_row", ROLE_WORK, p.start_row, p.tiles + 1, const int),
     VECTOR("start_k", ROLE_WORK, p.start_k, p.tiles + 1, const int),
     VECTOR("carry_row", ROLE_WORK, p.carry_row, p.tiles, int), VECTOR("carry", ROLE_WORK, p.carry, p.tiles, T));
}

template <typename T> static void launch_carries(const struct launch *L, const struct merge_parts &p)
{
    int64_t rows = L->A->of->rows;
    LAUNCH(L->A->dev, blocks_for(p.tiles, BLOCK / WARP), BLOCK, merge_carries<T>)
    ((int)p.tiles, (int)rows, VECTOR("carry_row", ROLE_WORK, p.carry_row, p.tiles, const int),
     VECTOR("carry", ROLE_WORK, p.carry, p.tiles, const T), (T)L->alpha, VECTOR("y", ROLE_Y, L->y, rows, T));
}

template <typename T> static bool merge(const struct launch *L, struct err *)
{
    struct merge_parts p = parts_of(L);
    launch_tiles<T>(L, p);
    if (*L->note) launch_carries<T>(L, p);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_merge) = {
    .name = "csr-merge",
    .about = "row ends and nonzeros merged and split into equal pieces: balanced whatever the row lengths",
    .format = &format_csr,
    .source = "NOTES (Merrill and Garland)",
    .work = "7 items of the merge of row ends and nonzeros",
    .lesson = "Row ends and nonzeros are merged into one list, which is split into equal pieces, one per thread.\n"
              "On the 4x4 example, with | for a row's end, / between threads and 5 items per thread:\n"
              "    1 7 | 2 8   / | 5 3 9 | /   6 4 |     thread 0 stops before row 1 ends: its sum goes to thread 1\n"
              "Every thread has the same amount of work, whatever the row lengths; empty rows count as work too. A\n"
              "block reads the contiguous col and val of its piece, stores the products in shared memory, sums\n"
              "them there, adds sums across threads by shuffles, and writes y coalesced. Rows of more than 64\n"
              "entries may cross the border of a block; the partial sums become carries, which a second small\n"
              "launch adds in order, so all runs give the same bits.\n"
              "On an H200 in fp64, csr-merge and cusparse-csr1-prep take 83 and 87 us for poisson3d 128, and 18 and\n"
              "19 us for fem 200.\n"
              "The kernel needs four barriers and a second pass, over the products in shared memory, so csr-scalar\n"
              "is faster for rows of up to 16 entries.\n"
              "NOTES: the kernel is good on every matrix. It is slightly slower than cuSPARSE's product alone, and\n"
              "much faster if the preparation is included.\n",
    .functions = {{"merge_tile", BLOCK}, {"merge_carries", BLOCK}},
    .deterministic = true,
    .together = true,
    .separable = true,
    .scratch = merge_bytes,
    .prepare = find_starts,
    .product = {VALUE_TYPES(merge)},
};
