/* Merge-path over CSR: the list of row ends ptr[1..m] and the list of nonzeros 0..z-1 are merged, and the merge of
   m+z items is cut in equal pieces, per block (a tile) and per thread, whatever the lengths of the rows.

   Where a tile begins is found by binary search on its diagonal: at diagonal d, `row` row ends and d - row nonzeros
   have been consumed. A row cut by a tile's border leaves a carry; carries are added up afterwards by row, in the
   order of the tiles, so that the result is the same every run. */
#include "csr_rows.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128, ITEMS = 7, TILE = BLOCK * ITEMS };

/* How many of the row ends, which `end` gives for 0 .. rows-1, come before diagonal d in the merge. */
template <typename P> __device__ int merge_search(P end, int rows, int64_t nnz, int64_t d)
{
    int64_t low = d > nnz ? d - nnz : 0, high = d < rows ? d : rows;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (end[middle] <= d - 1 - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return (int)low;
}

/* One tile border per thread. */
static __global__ void merge_starts(int tiles, int rows, int64_t nnz, GPTR(const int) ptr, GPTR(int) start)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t > tiles) return;
    int64_t d = (int64_t)t * TILE, items = rows + nnz;
    start[t] = merge_search(ptr + 1, rows, nnz, d < items ? d : items);
}

/* Inclusive sums over the threads of a block, of neighbours with equal keys. Participants: the whole block. */
template <typename T, typename K, typename V> __device__ void scan_by_key(K key, V sum)
{
    int t = threadIdx.x;
    for (int d = 1; d < BLOCK; d *= 2) {
        __syncthreads();
        T add = t >= d && key[t - d] == key[t] ? sum[t - d] : 0;
        __syncthreads();
        sum[t] += add;
    }
    __syncthreads();
}

/* One tile per block, ITEMS items of the merge per thread. Products and row ends of the tile are read side by side
   into shared memory; each thread then walks its own stretch there. */
template <typename T>
__global__ void merge_tile(int rows, int64_t nnz, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                           GPTR(const T) x, T beta, GPTR(T) y, GPTR(const int) start, GPTR(int) carry_row,
                           GPTR(T) carry)
{
    SHARED(T, product, TILE);
    SHARED(int, end, TILE);
    SHARED(T, sum, BLOCK);
    SHARED(int, key, BLOCK);
    int tile = blockIdx.x, t = threadIdx.x;
    int row0 = start[tile], row1 = start[tile + 1];
    int64_t d = (int64_t)tile * TILE, last = d + TILE < rows + nnz ? d + TILE : rows + nnz;
    int64_t k0 = d - row0;
    int n = row1 - row0, z = (int)(last - row1 - k0), items = n + z;
    for (int i = t; i < n; i += BLOCK) end[i] = (int)(ptr[row0 + 1 + i] - k0);
    for (int i = t; i < z; i += BLOCK) product[i] = val[k0 + i] * x[col[k0 + i]];
    __syncthreads(); /* all: the tile is in shared memory */

    int from = t * ITEMS < items ? t * ITEMS : items, to = from + ITEMS < items ? from + ITEMS : items;
    int row = merge_search(end, n, z, from), k = from - row, first = row;
    T run = 0, head = 0; /* the running sum; the sum of the first row that ends here, which may have begun before */
    for (int i = from; i < to; i++) {
        if (row < n && end[row] <= k) {
            if (row == first)
                head = run;
            else
                y[row0 + row] = beta == 0 ? alpha * run : combine(alpha, run, beta, y[row0 + row]);
            run = 0;
            row++;
        } else {
            run += product[k++];
        }
    }
    key[t] = row;
    sum[t] = run;
    scan_by_key<T>(key, sum); /* what row `key` has gathered up to and including this thread */
    if (row > first) {
        T whole = t > 0 ? sum[t - 1] + head : head;
        y[row0 + first] = beta == 0 ? alpha * whole : combine(alpha, whole, beta, y[row0 + first]);
    }
    if (t == BLOCK - 1) {
        carry_row[tile] = row1;
        carry[tile] = sum[t];
    }
}

/* Where the tiles that carry into row r end: carry_row ascends. */
static __device__ int carries_end(GPTR(const int) carry_row, int tiles, int i, int r)
{
    int low = i, high = tiles;
    while (low < high) {
        int middle = (low + high) / 2;
        if (carry_row[middle] <= r)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One tile per warp; the warp of the first tile that carries into a row adds all that do, 32 at a time. */
template <typename T>
__global__ void merge_carries(int tiles, int rows, GPTR(const int) carry_row, GPTR(const T) carry, T alpha, GPTR(T) y)
{
    int lane = threadIdx.x % WARP;
    int i = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (i >= tiles) return; /* the whole warp */
    int row = carry_row[i];
    if (row >= rows || (i > 0 && carry_row[i - 1] == row)) return; /* the whole warp */
    int end = carries_end(carry_row, tiles, i, row);
    T sum = 0;
    for (int k = i + lane; k < end; k += WARP) sum += carry[k];
    for (int s = WARP / 2; s > 0; s /= 2) sum += __shfl_down_sync(FULL_MASK, sum, s);
    if (lane == 0) y[row] += alpha * sum;
}

/* ---- on the host: what is kept, and the launches ---- */

static int64_t tiles_of(const struct stored *S)
{
    return (S->rows + S->nnz + TILE - 1) / TILE;
}

/* carry (tiles values, at most 8 bytes each), then start (tiles + 1), then carry_row (tiles). */
static int64_t merge_bytes(const struct mat *M)
{
    int64_t tiles = tiles_of(M->of);
    return tiles * 8 + (2 * tiles + 1) * (int64_t)sizeof(int);
}

static int *starts_in(const struct launch *L)
{
    return (int *)((char *)L->scratch + tiles_of(L->A->of) * 8);
}

static bool find_starts(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    int64_t tiles = tiles_of(S);
    LAUNCH(L->A->dev, blocks_for(tiles + 1, BLOCK), BLOCK, merge_starts)
    ((int)tiles, (int)S->rows, S->nnz, ARRAY(L, CSR_PTR, int), VECTOR("start", starts_in(L), tiles + 1, int));
    return true;
}

template <typename T> static bool merge(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    int64_t tiles = tiles_of(S);
    int *start = starts_in(L), *carry_row = start + tiles + 1;
    LAUNCH(L->A->dev, (unsigned)tiles, BLOCK, merge_tile<T>)
    ((int)S->rows, S->nnz, ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T), (T)L->alpha,
     VECTOR("x", L->x, S->cols, const T), (T)L->beta, VECTOR("y", L->y, S->rows, T),
     VECTOR("start", start, tiles + 1, const int), VECTOR("carry_row", carry_row, tiles, int),
     VECTOR("carry", L->scratch, tiles, T));
    LAUNCH(L->A->dev, blocks_for(tiles, BLOCK / WARP), BLOCK, merge_carries<T>)
    ((int)tiles, (int)S->rows, VECTOR("carry_row", carry_row, tiles, const int),
     VECTOR("carry", L->scratch, tiles, const T), (T)L->alpha, VECTOR("y", L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_merge) = {
    .name = "csr-merge",
    .format = "csr",
    .about = "row ends and nonzeros merged and cut in equal pieces: no row is too long and none too short",
    .source = "NOTES (Merrill and Garland)",
    .work = "7 items of the merge of row ends and nonzeros",
    .deterministic = true,
    .scratch = merge_bytes,
    .prepare = find_starts,
    .f32 = merge<float>,
    .f64 = merge<double>,
};
