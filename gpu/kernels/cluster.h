/* What the kernels share that do many iterations of a solve in one launch, by one cluster of thread blocks. Each block
   holds a share of the rows: its part of the matrix and of each vector stays in shared memory for the whole launch. A
   block reads the elements of a vector that it needs from the shared memory of the block that holds them.

   The scalars of the solve are copied to the shared memory of each block. Thread 0 of each block computes them from the
   same sums, so that all blocks decide alike when the solve ends; block 0 writes them back. */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "vec.h"

#include "formats/fmt_csr.h"
#include "machine/cluster_ops.h"

namespace KERNEL_SPACE
{

enum {
    CLUSTER_THREADS = 512,
    CLUSTER_WARPS = CLUSTER_THREADS / WARP,
    OWNER_SHIFT = 16,  /* a column is stored as the number of its block, shifted, plus its number in the block */
    LONG_ENTRIES = 32, /* a row is long if each thread of a group would add up more entries */
    PIECE = 256,       /* entries of a piece of a long row, which a warp adds up */
    PIECES = 32        /* of the long rows of a block, at most; further long rows are added up like short ones */
};

/* ---- scalars and sums ---- */

/* In the shared memory of a block: the scalars of the solve; `total`, the sums over the cluster; `part` and `slot`, the
   sums of the warps of this block and of the blocks of the cluster. */
template <typename P> struct cluster_scalars {
    P s, part, slot, total;
};

/* Room for up to K sums. Participants: all threads of the block. */
template <int K> __device__ auto cluster_scalars_of(GPTR(const double) scalars)
{
    SHARED(double, s, SCALARS);
    SHARED(double, part, K *(int)CLUSTER_WARPS);
    SHARED(double, slot, 2 * K * (int)CLUSTER_BLOCKS);
    SHARED(double, total, K);
    for (int i = (int)threadIdx.x; i < SCALARS; i += (int)blockDim.x) s[i] = scalars[i];
    return cluster_scalars<decltype(s + 0)>{s, part, slot, total};
}

/* Block 0 writes the scalars back. Participants: all threads of the cluster. */
template <typename P> __device__ void cluster_save_scalars(P s, GPTR(double) scalars)
{
    __syncthreads(); /* all threads of the block: thread 0 has written its last scalar */
    for (int i = (int)threadIdx.x; blockIdx.x == 0 && i < SCALARS; i += (int)blockDim.x) scalars[i] = s[i];
}

static __device__ double cluster_join(double a, double b, bool most)
{
    return most ? vec_join<true>(a, b) : a + b;
}

/* The sum (or the maximum) of v over the warp, valid in lane 0. Participants: all threads of the warp. */
static __device__ double cluster_over_warp(double v, bool most)
{
    for (int d = WARP / 2; d > 0; d /= 2) v = cluster_join(v, __shfl_down_sync(FULL_MASK, v, d), most);
    return v;
}

/* One warp: send sum number k of this block, which is valid in lane 0, to all blocks of the cluster. */
template <typename P> __device__ void cluster_send(P slot, int k, double sum)
{
    int lane = (int)(threadIdx.x % WARP);
    sum = __shfl_sync(FULL_MASK, sum, 0);
    if (lane < (int)gridDim.x) in_block(slot, (unsigned)lane)[k * CLUSTER_BLOCKS + (int)blockIdx.x] = sum;
}

/* One warp, after a cluster_sync: the sum (or the maximum) number k over the blocks of the cluster, valid in lane 0. */
template <typename P> __device__ double cluster_received(P slot, int k, bool most)
{
    int lane = (int)(threadIdx.x % WARP);
    return cluster_over_warp(lane < (int)gridDim.x ? (double)slot[k * CLUSTER_BLOCKS + lane] : 0, most);
}

/* The sums t[0] .. t[K-1] over all threads of the cluster, in a fixed order; of.total[] receives them in every block.
   MAX: the last sum is a maximum instead. `turn` is 0 or 1: a cluster_sync must separate two calls with the same turn,
   and each call has one. Participants: all threads of the cluster. */
template <int K, bool MAX = false, typename S> __device__ void cluster_sums(double *t, const S &of, int turn)
{
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP), warps = (int)(blockDim.x / WARP);
    for (int d = WARP / 2; d > 0; d /= 2) /* the K sums of a step do not wait for one another */
        for (int k = 0; k < K; k++) t[k] = cluster_join(t[k], __shfl_down_sync(FULL_MASK, t[k], d), MAX && k == K - 1);
    for (int k = 0; k < K && lane == 0; k++) of.part[k * CLUSTER_WARPS + warp] = t[k];
    __syncthreads(); /* all threads of the block: `part` is complete */
    for (int k = warp; k < K; k += warps) {
        double sum = lane < warps ? (double)of.part[k * CLUSTER_WARPS + lane] : 0;
        cluster_send(of.slot, turn * K + k, cluster_over_warp(sum, MAX && k == K - 1));
    }
    cluster_sync(); /* all threads of the cluster: `slot` is complete in every block */
    for (int k = warp; k < K; k += warps) {
        double sum = cluster_received(of.slot, turn * K + k, MAX && k == K - 1);
        if (lane == 0) of.total[k] = sum;
    }
    __syncthreads(); /* all threads of the block: `total` is complete */
}

/* The time since `from`, added to s[to]; `from` becomes the present. Only thread 0 of block 0 measures. */
template <typename P> __device__ void cluster_time(P s, int to, double &from)
{
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    double now = clock_us();
    s[to] = s[to] + (now - from);
    from = now;
}

/* ---- the record ---- */

/* The record of an iteration, which thread 0 of block 0 writes while the other threads do the next one. */
struct cluster_record {
    double k, alpha, beta;
    bool due;
};

/* Thread 0 of each block, before it judges a residual. */
template <typename P> __device__ cluster_record cluster_record_of(P s)
{
    return {s[S_ITER], s[S_ALPHA], s[S_BETA], blockIdx.x == 0 && s[S_LIVE] != 0};
}

/* `first`: the first record of this launch, so that earlier launches have written all records before it. */
template <typename P> __device__ void cluster_write(P s, const cluster_record &record, bool first)
{
    if (!record.due) return;
    auto live = vec_live(s);
    vec_slot(live, record.k, s[S_RR], record.alpha, record.beta);
    if (first) live[LIVE_KNOWN] = record.k;
    if (s[S_DONE] != 0) live[LIVE_DONE] = s[S_DONE];
}

/* ---- matrix and vectors ---- */

/* Entries number * PIECE .. (number + 1) * PIECE - 1 of a long row, and their sum. */
template <typename ROWS, typename SUMS> struct cluster_pieces {
    ROWS row, number;
    SUMS sum;
    ROWS n; /* [2]: the number of pieces, and the row of the last piece */
};

/* The rows of this block, from row `first` on, and the part of the matrix that belongs to them: entry k of the block
   has the value val[k] and the column col[k]; row i has the entries begin[i] .. begin[i+1] - 1. `share`: the rows of a
   block that is not the last. */
template <typename T, typename VALS, typename INTS> struct cluster_rows {
    int64_t first;
    int rows, share, lanes;
    VALS val;
    INTS col, begin;
    cluster_pieces<INTS, VALS> pieces;

    /* SCALED: store the entries of A D^-1 instead. Participants: all threads of the block. The caller synchronises the
       block before the rows are used. */
    template <bool SCALED>
    __device__ void load(GPTR(const int) ptr, GPTR(const int) cols, GPTR(const T) vals, GPTR(const T) dinv) const
    {
        int from = ptr[first], end = ptr[first + rows];
        for (int i = (int)threadIdx.x; i <= rows; i += (int)blockDim.x) begin[i] = ptr[first + i] - from;
        for (int k = (int)threadIdx.x; k < end - from; k += (int)blockDim.x) {
            int c = cols[from + k], owner = c / share;
            T value = vals[from + k];
            col[k] = (owner << OWNER_SHIFT) + (c - owner * share);
            val[k] = SCALED ? value * dinv[c] : value;
        }
        __syncthreads(); /* all threads of the block: `begin` is complete */
        if (threadIdx.x < WARP) list_pieces();
    }

    __device__ int length(int i) const { return begin[i + 1] - begin[i]; }

    /* List the pieces of the long rows. Participants: the first warp. */
    __device__ void list_pieces() const
    {
        int lane = (int)threadIdx.x, n = 0, last = -1;
        for (int base = 0; base < rows; base += WARP) {
            bool is_long = base + lane < rows && length(base + lane) > LONG_ENTRIES * lanes;
            for (unsigned left = __ballot_sync(FULL_MASK, is_long); left; left &= left - 1) {
                int row = base + __ffs((int)left) - 1, more = (length(row) + PIECE - 1) / PIECE;
                if (n + more > PIECES) {
                    base = rows; /* the list is full */
                    break;
                }
                if (lane < more) {
                    pieces.row[n + lane] = row;
                    pieces.number[n + lane] = lane;
                }
                n += more;
                last = row;
            }
        }
        if (lane > 0) return;
        pieces.n[0] = n;
        pieces.n[1] = last;
    }

    /* Copies between the rows of this block in global memory and in shared memory. */
    template <typename P, typename Q> __device__ void take(P from, Q to) const
    {
        for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) to[i] = from[first + i];
    }
    template <typename P, typename Q> __device__ void save(P from, Q to) const
    {
        for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) to[first + i] = from[i];
    }

    /* A p in the rows of this block: the threads form groups of `lanes`, and a group computes row after row. The first
       thread of the group calls use(i, element i). Warps compute the pieces of long rows. p: the share of each block.
       Participants: all threads of the block. A cluster_sync separates two calls. */
    template <typename P, typename USE> __device__ void multiply(P p, USE use) const
    {
        int last = pieces.n[1];
        for (int base = 0; base < rows; base += (int)blockDim.x / lanes) {
            int i = base + (int)threadIdx.x / lanes, lane = (int)threadIdx.x % lanes;
            bool mine = i < rows && (i > last || length(i) <= LONG_ENTRIES * lanes);
            T sum = mine ? product(begin[i] + lane, begin[i + 1], lanes, p) : (T)0;
            for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, (unsigned)d, lanes);
            if (mine && lane == 0) use(i, sum);
        }
        if (last >= 0) multiply_long(p, use);
    }

    /* The sums of the pieces, and the first thread of each long row adds them up. Participants: all threads of the
       block. */
    template <typename P, typename USE> __device__ void multiply_long(P p, USE use) const
    {
        int n = pieces.n[0], lane = (int)threadIdx.x % WARP;
        for (int k = (int)threadIdx.x / WARP; k < n; k += (int)blockDim.x / WARP) {
            int row = pieces.row[k], from = begin[row] + pieces.number[k] * PIECE;
            T sum = product(from + lane, min(from + PIECE, (int)begin[row + 1]), WARP, p);
            for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
            if (lane == 0) pieces.sum[k] = sum;
        }
        __syncthreads(); /* all threads of the block: the sums of the pieces are complete */
        int mine = (int)threadIdx.x;
        if (mine >= n || pieces.number[mine] > 0) return;
        T sum = pieces.sum[mine];
        for (int k = mine + 1; k < n && pieces.number[k] > 0; k++) sum += pieces.sum[k];
        use(pieces.row[mine], sum);
    }

    /* The sum of entries k, k + step, ... before `end`, each times its element of p. */
    template <typename P> __device__ T product(int k, int end, int step, P p) const
    {
        T sum = 0;
        UNROLL(4)
        for (; k < end; k += step) {
            int where = col[k];
            sum += (T)val[k] * (T)in_block(p, (unsigned)where >> OWNER_SHIFT)[where & ((1 << OWNER_SHIFT) - 1)];
        }
        return sum;
    }
};

/* The rows of this block. The matrix lies in shared memory from byte `at` on, after the vectors. */
template <typename T> __device__ auto cluster_rows_of(int64_t n, const cluster_plan &plan, int at)
{
    int share = plan.rows, entries = plan.entries;
    SHARED_GIVEN_AT(T, val, at, entries);
    SHARED_GIVEN_AT(int, col, at + entries * (int)sizeof(T), entries);
    SHARED_GIVEN_AT(int, begin, at + entries * (int)(sizeof(T) + sizeof(int)), share + 1);
    SHARED(int, piece_row, PIECES);
    SHARED(int, piece_number, PIECES);
    SHARED(T, piece_sum, PIECES);
    SHARED(int, piece_count, 2);
    int64_t first = min((int64_t)blockIdx.x * share, n);
    int rows = (int)min((int64_t)share, n - first);
    return cluster_rows<T, decltype(val), decltype(col)>{
        first, rows, share, plan.lanes, val, col, begin, {piece_row, piece_number, piece_sum, piece_count}};
}

/* The entry of a kernel: CLUSTER_ENTRY(cg) = {REALS(KERNEL_SPACE::cg)} */
#define CLUSTER_ENTRY(id)                                            \
    extern "C" const struct cluster_kernel VEC_SYMBOL(cluster_##id); \
    const struct cluster_kernel VEC_SYMBOL(cluster_##id)

} // namespace KERNEL_SPACE

#endif
