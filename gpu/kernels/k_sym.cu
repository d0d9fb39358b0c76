/* Symmetrization on a GPU: expanding rows to keys, the fingerprint, and the merge of the rows of A with the rows of its
   transpose; the merge is split into tiles of equal work, whatever the row lengths. */
#include "tiles.h"

#include "machine/symmetrize.h"

namespace KERNEL_SPACE
{

/* ---- the fingerprint ---- */

static __device__ uint64_t sym_add_warp(uint64_t v)
{
    for (int d = WARP / 2; d > 0; d /= 2) v += __shfl_down_sync(FULL_MASK, v, d);
    return v;
}

/* One block per tile of entries of A; neighbouring threads read neighbouring entries. Integer sums do not depend on the
   order. */
__global__ void sym_fingerprint(int64_t steps, GPTR(const int) ptr, GPTR(const int) col, GPTR(const double) val,
                                GPTR(const int) cut, GPTR(unsigned long long) sums)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    SHARED(uint64_t, part, 2 * TILE_WARPS);
    row_tile t = tile_of<false>(steps, cut);
    uint64_t pattern = 0, values = 0;
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK)
        sym_hash(t.row + row_of[k], col[t.from + k], val[t.from + k], &pattern, &values);
    pattern = sym_add_warp(pattern);
    values = sym_add_warp(values);
    if (threadIdx.x % WARP == 0) {
        part[threadIdx.x / WARP] = pattern;
        part[TILE_WARPS + threadIdx.x / WARP] = values;
    }
    __syncthreads(); /* all threads of the block: `part` is complete */
    if (threadIdx.x >= 2) return;
    unsigned long long sum = 0;
    for (int w = 0; w < TILE_WARPS; w++) sum += part[threadIdx.x * TILE_WARPS + w];
    atomicAdd(sums + threadIdx.x, sum);
}

/* ---- keys ---- */

/* One block per tile of entries: write key (q, p) of the transpose. BOTH: write (p, q), and (q, p) nnz positions later,
   so that a stable sort keeps the stored entry before the mirrored entry. */
template <bool BOTH>
__global__ void sym_expand(int64_t steps, int64_t nnz, GPTR(const int) ptr, GPTR(const int) col, GPTR(const double) val,
                           GPTR(const int) cut, GPTR(uint64_t) key, GPTR(double) with)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t i = t.row + row_of[k], j = col[t.from + k], at = t.from + k;
        double v = val[at];
        key[at] = BOTH ? sym_key(i, j) : sym_key(j, i);
        with[at] = v;
        if (BOTH) {
            key[nnz + at] = sym_key(j, i);
            with[nnz + at] = v;
        }
    }
}

/* Thread k writes the lower half of key k. It also writes k as the start of each row after the row of key k-1, up to
   the row of key k: if these rows are few, thread k writes all of them; if they are many, the whole warp does. Thread n
   writes the ends of the last rows. */
__global__ void sym_unpack(int64_t n, int64_t rows, GPTR(const uint64_t) key, GPTR(int) ptr, GPTR(int) low)
{
    int64_t k = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x;
    int lane = (int)(threadIdx.x % WARP), here = -1, before = -1;
    if (k <= n) {
        uint64_t mine = k < n ? key[k] : 0;
        before = k > 0 ? (int)(key[k - 1] >> 32) : -1;
        here = k < n ? (int)(mine >> 32) : (int)rows;
        if (k < n) low[k] = (int)(uint32_t)mine;
    }
    bool many = here - before > WARP;
    for (int r = before + 1; !many && r <= here; r++) ptr[r] = (int)k;
    for (unsigned left = __ballot_sync(FULL_MASK, many); left; left &= left - 1) {
        int from = __ffs((int)left) - 1;
        int first = __shfl_sync(FULL_MASK, before, from) + 1, last = __shfl_sync(FULL_MASK, here, from);
        int at = __shfl_sync(FULL_MASK, (int)k, from);
        for (int64_t r = first + lane; r <= last; r += WARP) ptr[r] = at;
    }
}

/* ---- sym-paper: marking and compacting ---- */

__global__ void sym_flag(int64_t n, GPTR(const uint64_t) key, GPTR(int64_t) at)
{
    int64_t k = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x;
    if (k > n) return;
    at[k] = k < n && (k == 0 || key[k] != key[k - 1]);
}

/* Write the first entry of each key to its position; a second entry of the same key is the mirrored value. */
__global__ void sym_compact(int64_t n, int mode, GPTR(const uint64_t) key, GPTR(const double) with,
                            GPTR(const int64_t) at, GPTR(uint64_t) packed, GPTR(double) val)
{
    int64_t k = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x;
    if (k >= n) return;
    int64_t to = at[k];
    if (at[k + 1] == to) return;
    bool twice = k + 1 < n && at[k + 1] == at[min(k + 2, n)];
    packed[to] = key[k];
    val[to] = twice ? sym_join(mode, with[k], with[k + 1]) : sym_alone(mode, with[k]);
}

/* ---- sym ---- */

/* If the pattern is symmetric, entry k of the transpose has the position of entry k of A. */
__global__ void sym_pair(int64_t n, int mode, GPTR(const double) val, GPTR(const double) tval, GPTR(double) out)
{
    int64_t k = (int64_t)blockIdx.x * TILE_BLOCK + threadIdx.x;
    if (k < n) out[k] = sym_join(mode, val[k], tval[k]);
}

/* The position of a thread in the merge of a tile: row i, the next entry of each list, and the end of the row in each
   list. */
struct sym_place {
    int i, a, t, a_end, t_end,
        t_match; /* before t_match, an entry of the transpose may equal an entry of A in this row */
};

template <typename S> __device__ void sym_row_ends(const row_tile &t, S start, S first, bool more, sym_place &p)
{
    bool last = p.i >= t.rows;
    p.a_end = last ? t.n : first[p.i + 1];
    p.t_end = last ? t.tn : start[p.i + 1] - (p.i + 1) - first[p.i + 1];
    p.t_match = last && more ? p.t_end + 1 : p.t_end;
}

/* The position after `step` steps of the tile. start[i]: the steps of the tile before row i; first[i]: the entries of A
   before row i. */
template <typename S>
__device__ sym_place sym_place_at(const row_tile &t, S start, S first, S col, S tcol, bool more, int step)
{
    sym_place p;
    p.i = row_at(start, t.rows, step);
    int a = max((int)first[p.i], 0), b = max(start[p.i] - p.i - first[p.i], 0);
    sym_row_ends(t, start, first, more, p);
    int within = step - p.i - a - b;
    p.a = a + (int)of_first(col + a, p.a_end - a, tcol + b, p.t_end - b, within);
    p.t = step - p.i - p.a;
    return p;
}

static_assert(TILE < 1 << 12, "the index of an entry in the tile fits in 12 bits");
enum { SYM_NO_A = 1 << 12, SYM_BITS = 13, SYM_LOW = (1 << SYM_BITS) - 1, SYM_NO_T = SYM_LOW };

/* Returns the number of entries that `steps` steps from p produce. FILL: also write the ends of rows, and write the
   source of each entry to from[slot ..]: an entry of A (or SYM_NO_A) and, shifted, an entry of the transpose (or
   SYM_NO_T). before: the last entry of A before the tile, if it is in the tile's first row, else -1. */
template <bool FILL, typename S, typename O>
__device__ int sym_walk_on(const row_tile &t, S start, S first, S col, S tcol, int before, bool more, sym_place p,
                           int steps, int64_t base, S from, int slot, O ptr)
{
    int n = 0;
    for (int j = 0; j < steps; j++) {
        bool has_a = p.a < p.a_end, has_t = p.t < p.t_end;
        if (has_a && (!has_t || col[p.a] <= tcol[p.t])) {
            bool both = p.t < p.t_match && tcol[p.t] == col[p.a];
            if (FILL) from[slot + n] = p.a | (both ? p.t : +SYM_NO_T) << SYM_BITS;
            n++;
            p.a++;
        } else if (has_t) {
            int last = p.a > max((int)first[p.i], 0) ? col[p.a - 1] : p.i == 0 && p.a == 0 ? before : -1;
            if (last != tcol[p.t]) {
                if (FILL) from[slot + n] = SYM_NO_A | p.t << SYM_BITS;
                n++;
            }
            p.t++;
        } else {
            p.i++;
            if (FILL) ptr[t.row + p.i] = (int)(base + slot + n);
            sym_row_ends(t, start, first, more, p);
        }
    }
    return n;
}

/* One block per tile: it loads columns and row starts into shared memory, then each thread merges TILE_EACH steps.
   FILL: the source of each entry goes to shared memory first, so that the entries are then written contiguously. */
template <bool FILL>
__global__ void __launch_bounds__(TILE_BLOCK)
    sym_merge(int64_t steps, int64_t rows, int mode, GPTR(const int) ptr, GPTR(const int) col, GPTR(const double) val,
              GPTR(const int) tptr, GPTR(const int) tcol, GPTR(const double) tval, GPTR(const int) cut,
              GPTR(int64_t) at, GPTR(int) out_ptr, GPTR(int) out_col, GPTR(double) out_val)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, first, TILE + 1);
    SHARED(int, cols, TILE + 1);
    SHARED(int, from, FILL ? +TILE : 1);
    SHARED(int, part, TILE_WARPS);
    row_tile t = tile_of<true>(steps, cut);
    for (int i = threadIdx.x; i <= t.rows; i += TILE_BLOCK) {
        int a = (int)(ptr[t.row + i] - t.from), b = (int)(tptr[t.row + i] - t.tfrom);
        first[i] = a;
        start[i] = i + a + b;
    }
    int64_t last = t.row + t.rows;
    bool more = last < rows && t.tfrom + t.tn < tptr[min(last + 1, rows)];
    int before = t.from > ptr[t.row] ? col[t.from - 1] : -1;
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) cols[k] = col[t.from + k];
    for (int k = threadIdx.x; k < t.tn + more; k += TILE_BLOCK) cols[t.n + k] = tcol[t.tfrom + k];
    __syncthreads(); /* all threads of the block: the tile is in shared memory */
    int step = (int)threadIdx.x * TILE_EACH, go = min(+TILE_EACH, t.rows + t.n + t.tn - step), n = 0, all;
    sym_place p = {};
    if (go > 0) {
        p = sym_place_at(t, start, first, cols, cols + t.n, more, step);
        n = sym_walk_on<false>(t, start, first, cols, cols + t.n, before, more, p, go, 0, from, 0, out_ptr);
    }
    int slot = sum_before(n, part, &all);
    if (!FILL) {
        if (threadIdx.x == 0) at[blockIdx.x] = all;
        return;
    }
    int64_t base = at[blockIdx.x];
    if (go > 0) sym_walk_on<true>(t, start, first, cols, cols + t.n, before, more, p, go, base, from, slot, out_ptr);
    if (blockIdx.x == 0 && threadIdx.x == 0) out_ptr[0] = 0;
    __syncthreads(); /* all threads of the block: `from` is complete */
    for (int k = threadIdx.x; k < all; k += TILE_BLOCK) {
        int a = from[k] & SYM_LOW, b = from[k] >> SYM_BITS;
        bool own = a != SYM_NO_A, other = b != SYM_NO_T;
        double x = own ? val[t.from + a] : 0, y = other && !(own && mode == SYM_UNION) ? tval[t.tfrom + b] : 0;
        out_col[base + k] = own ? cols[a] : cols[t.n + b];
        out_val[base + k] = own && other ? sym_join(mode, x, y) : sym_alone(mode, own ? x : y);
    }
}

/* ---- the launches ---- */

#define SYM_A(v)                                                  \
    VECTOR("ptr", ROLE_WORK, (v)->ptr, (v)->rows + 1, const int), \
        VECTOR("col", ROLE_WORK, (v)->col, (v)->nnz, const int)
#define SYM_VAL(v) VECTOR("val", ROLE_WORK, (v)->val, (v)->nnz, const double)
#define SYM_T(v)                                                                        \
    VECTOR("transposed_ptr", ROLE_WORK, (v)->transposed_ptr, (v)->cols + 1, const int), \
        VECTOR("transposed_col", ROLE_WORK, (v)->transposed_col, (v)->nnz, const int)
#define SYM_CUT(v) VECTOR("cut", ROLE_WORK, (v)->cut, 2 * ((v)->tiles + 1), const int)

static int64_t steps_of(const struct sym *v, bool both)
{
    return v->rows + (both ? 2 : 1) * v->nnz;
}

static void cut(struct sym *v, bool both)
{
    v->tiles = tiles_for(steps_of(v, both));
    auto to = VECTOR("cut", ROLE_WORK, v->cut, 2 * (v->tiles + 1), int);
    unsigned blocks = blocks_for(v->tiles + 1, TILE_BLOCK);
    if (both) LAUNCH(v->o.dev, blocks, TILE_BLOCK, tile_cut<true>)
    (v->rows, steps_of(v, true), v->tiles, SYM_A(v), SYM_T(v), to);
    else LAUNCH(v->o.dev, blocks, TILE_BLOCK, tile_cut<false>)(v->rows, steps_of(v, false), v->tiles, SYM_A(v),
                                                               SYM_A(v), to);
}

static void fingerprint(struct sym *v)
{
    LAUNCH(v->o.dev, (unsigned)v->tiles, TILE_BLOCK, sym_fingerprint)
    (steps_of(v, false), SYM_A(v), SYM_VAL(v), SYM_CUT(v),
     VECTOR("sums", ROLE_WORK, (void *)v->sums, 2, unsigned long long));
}

static void expand(struct sym *v, bool both)
{
    auto key = VECTOR("key", ROLE_WORK, v->key[0], (both ? 2 : 1) * v->nnz, uint64_t);
    auto with = VECTOR("with", ROLE_WORK, v->payload[0], (both ? 2 : 1) * v->nnz, double);
    if (both) LAUNCH(v->o.dev, (unsigned)v->tiles, TILE_BLOCK, sym_expand<true>)
    (steps_of(v, false), v->nnz, SYM_A(v), SYM_VAL(v), SYM_CUT(v), key, with);
    else LAUNCH(v->o.dev, (unsigned)v->tiles, TILE_BLOCK, sym_expand<false>)(steps_of(v, false), v->nnz, SYM_A(v),
                                                                             SYM_VAL(v), SYM_CUT(v), key, with);
}

void launch_unpack(struct device *d, const uint64_t *key, int64_t n, int64_t rows, int *ptr, int *low)
{
    LAUNCH(d, blocks_for(n + 1, TILE_BLOCK), TILE_BLOCK, sym_unpack)
    (n, rows, VECTOR("key", ROLE_WORK, key, n, const uint64_t), VECTOR("ptr", ROLE_WORK, ptr, rows + 1, int),
     VECTOR("low", ROLE_WORK, low, n, int));
}

static void unpack(struct sym *v, const uint64_t *key, int64_t n, int64_t rows, int *ptr, int *low)
{
    launch_unpack(v->o.dev, key, n, rows, ptr, low);
}

template <bool FILL> static void merge(struct sym *v)
{
    LAUNCH(v->o.dev, (unsigned)v->tiles, TILE_BLOCK, sym_merge<FILL>)
    (steps_of(v, true), v->rows, (int)v->o.mode, SYM_A(v), SYM_VAL(v), SYM_T(v),
     VECTOR("transposed_val", ROLE_WORK, v->transposed_val, v->nnz, const double), SYM_CUT(v),
     VECTOR("at", ROLE_WORK, v->at, v->tiles + 1, int64_t), VECTOR("out_ptr", ROLE_WORK, v->out_ptr, v->rows + 1, int),
     VECTOR("out_col", ROLE_WORK, v->out_col, 2 * v->nnz, int),
     VECTOR("out_val", ROLE_WORK, v->out_val, 2 * v->nnz, double));
}

static void pair(struct sym *v)
{
    LAUNCH(v->o.dev, blocks_for(v->nnz, TILE_BLOCK), TILE_BLOCK, sym_pair)
    (v->nnz, (int)v->o.mode, SYM_VAL(v), VECTOR("transposed_val", ROLE_WORK, v->transposed_val, v->nnz, const double),
     VECTOR("out_val", ROLE_WORK, v->out_val, v->nnz, double));
}

static void flag(struct sym *v, int k)
{
    int64_t n = 2 * v->nnz;
    LAUNCH(v->o.dev, blocks_for(n + 1, TILE_BLOCK), TILE_BLOCK, sym_flag)
    (n, VECTOR("key", ROLE_WORK, v->key[k], n, const uint64_t), VECTOR("at", ROLE_WORK, v->at, n + 1, int64_t));
}

static void compact(struct sym *v, int k)
{
    int64_t n = 2 * v->nnz;
    LAUNCH(v->o.dev, blocks_for(n, TILE_BLOCK), TILE_BLOCK, sym_compact)
    (n, (int)v->o.mode, VECTOR("key", ROLE_WORK, v->key[k], n, const uint64_t),
     VECTOR("with", ROLE_WORK, v->payload[k], n, const double), VECTOR("at", ROLE_WORK, v->at, n + 1, const int64_t),
     VECTOR("packed", ROLE_WORK, v->packed, n, uint64_t), VECTOR("out_val", ROLE_WORK, v->out_val, n, double));
}

} // namespace KERNEL_SPACE

extern "C" const struct sym_ops VEC_SYMBOL(sym);
const struct sym_ops VEC_SYMBOL(sym) = {
    .cut = KERNEL_SPACE::cut,
    .fingerprint = KERNEL_SPACE::fingerprint,
    .expand = KERNEL_SPACE::expand,
    .unpack = KERNEL_SPACE::unpack,
    .count = KERNEL_SPACE::merge<false>,
    .fill = KERNEL_SPACE::merge<true>,
    .pair = KERNEL_SPACE::pair,
    .flag = KERNEL_SPACE::flag,
    .compact = KERNEL_SPACE::compact,
};
