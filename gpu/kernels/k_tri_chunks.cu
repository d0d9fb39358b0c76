/* Triangular solves of preconditioners without a launch per level: a sync-free solve, in which blocks wait for single
   results of other blocks, and sweeps of Jacobi's method, which approximate a solve. */
#include "gpu/results.h"
#include "machine/level_ops.h"
#include "vec.h"

namespace KERNEL_SPACE
{

/* CHUNK_EACH: entries of a row that a lane loads at a time. CHUNK_AHEAD: a row's results from other blocks are loaded
   this many steps before the row is solved, so that the load takes no time if the results are there by then. */
enum { CHUNK_EACH = 4, CHUNK_AHEAD = 4 };

/* The operands of a launch. */
template <typename T> struct tri_chunks {
    GPTR(const int) step;
    GPTR(const int) row;
    GPTR(const int) at;
    GPTR(const int) ptr;
    GPTR(const int) col;
    GPTR(const T) val;
    GPTR(const T) dinv;
    GPTR(const T) r;
    GPTR(T) y;
    GPTR(T) z;
    GPTR(T) cleared; /* the results of the other triangle: the right-hand side if `takes`; made missing again */
    GPTR(unsigned) ticket;
    GPTR(unsigned) ticket_cleared;
    int n;
    bool scaled, takes, scatters;
};

/* Up to CHUNK_EACH entries of a row, with the results that they are multiplied by. An entry is multiplied by a result
   of its own chunk, number near[e], or by a result of an earlier chunk, number far[e]. If an entry is not near, near[e]
   is the number of an element that is 0; if it is not far, far[e] is -1 and v[e] is 0. */
template <typename T> struct tri_part {
    int near[CHUNK_EACH], far[CHUNK_EACH];
    T a[CHUNK_EACH], v[CHUNK_EACH];
    bool any_far;
};

/* The entries j, j + V, ... of a row, multiplied by `scale`. The chunk has `rows` rows and begins at `first`. */
template <typename T, int V>
__device__ tri_part<T> tri_load(const tri_chunks<T> &t, int j, int end, T scale, int first, int rows)
{
    tri_part<T> p;
    p.any_far = false;
#pragma unroll
    for (int e = 0; e < CHUNK_EACH; e++) {
        bool there = j + e * V < end;
        int c = there ? t.col[j + e * V] : -1;
        p.a[e] = there ? scale * t.val[j + e * V] : (T)0;
        p.near[e] = c >= first ? c - first : rows;
        p.far[e] = c >= first ? -1 : c;
        p.v[e] = p.far[e] < 0 ? (T)0 : missing<T>();
        p.any_far = p.any_far || p.far[e] >= 0;
    }
    return p;
}

/* Load the results of earlier chunks, without waiting. */
template <typename T> __device__ void tri_peek(const tri_chunks<T> &t, tri_part<T> &p)
{
#pragma unroll
    for (int e = 0; e < CHUNK_EACH; e++)
        if (p.far[e] >= 0) p.v[e] = peek(t.y, p.far[e]);
}

/* The sum of the entries times the results of earlier chunks; waits for these results. */
template <typename T> __device__ T tri_far(const tri_chunks<T> &t, tri_part<T> &p)
{
    T sum = 0;
    for (bool waits = true; waits;) {
        waits = false;
#pragma unroll
        for (int e = 0; e < CHUNK_EACH; e++)
            if (is_missing(p.v[e])) p.v[e] = peek(t.y, p.far[e]);
#pragma unroll
        for (int e = 0; e < CHUNK_EACH; e++) waits = waits || is_missing(p.v[e]);
        if (waits) wait_for_blocks();
    }
#pragma unroll
    for (int e = 0; e < CHUNK_EACH; e++) sum += p.a[e] * p.v[e];
    return sum;
}

/* The sum of the entries times the results of this chunk. All loads come first, because steps follow each other as fast
   as this sum. */
template <typename T, typename R> __device__ T tri_near(const tri_part<T> &p, R result)
{
    T v[CHUNK_EACH];
#pragma unroll
    for (int e = 0; e < CHUNK_EACH; e++) v[e] = result[p.near[e]];
    return (p.a[0] * v[0] + p.a[1] * v[1]) + (p.a[2] * v[2] + p.a[3] * v[3]);
}

/* A block solves a chunk of rows, V lanes per row, neighbouring lanes reading neighbouring entries. The rows of a step
   do not depend on each other, and there is a barrier after each step. Chunks are handed out in the order in which
   blocks begin, so a block waits only for blocks that have begun, and the launch ends whatever the order of the blocks.
   Each row adds in a fixed order. */
template <typename T, int V>
__global__ void __launch_bounds__(CHUNK_THREADS) tri_chunk(GPTR(const double) s, tri_chunks<T> t)
{
    enum { ROWS = CHUNK_THREADS / V };
    if (s[S_DONE] != 0) return;
    SHARED(T, result, ROWS + 1);
    SHARED(int, number, 1);
    int me = (int)threadIdx.x, lane = me % V;
    if (me == 0) {
        number[0] = (int)atomicAdd(t.ticket, 1u);
        if (number[0] == 0) t.ticket_cleared[0] = 0;
        result[ROWS] = 0;
    }
    __syncthreads(); /* all threads of the block: the number of the chunk is known */
    int first = number[0] * ROWS, k = first + me / V, steps = t.step[min(t.n, first + ROWS) - 1] + 1;
    int own = -1, j = 0, end = 0, early = -1;
    T sum = 0, scale = 1;
    if (k < t.n) {
        int from = t.at[k];
        own = t.step[k];
        j = t.ptr[k] + lane;
        end = t.ptr[k + 1];
        if (t.scaled) scale = t.dinv[k];
        if (lane == 0) {
            sum = scale * (t.takes ? t.cleared[from] : t.r[from]);
            t.cleared[from] = missing<T>();
        }
    }
    tri_part<T> p = tri_load<T, V>(t, j, end, scale, first, ROWS);
    if (p.any_far) early = max(0, own - CHUNK_AHEAD);
    for (int now = 0; now < steps; now++) {
        if (now == early) tri_peek(t, p);
        if (now == own) {
            if (p.any_far) sum -= tri_far(t, p);
            sum -= tri_near(p, result);
            for (j += CHUNK_EACH * V; j < end; j += CHUNK_EACH * V) { /* only in long rows */
                p = tri_load<T, V>(t, j, end, scale, first, ROWS);
                sum -= tri_far(t, p);
                sum -= tri_near(p, result);
            }
            unsigned lanes = V == WARP ? FULL_MASK : ((1u << V % WARP) - 1) << (me % WARP - lane);
            for (int d = V / 2; d > 0; d /= 2) sum += __shfl_xor_sync(lanes, sum, d);
            if (lane == 0) {
                result[k - first] = sum;
                publish(t.y, k, sum);
                if (t.scatters) t.z[t.row[k]] = sum;
            }
        }
        __syncthreads(); /* all threads of the block: the results of the step are complete */
    }
}

/* One sweep of Jacobi's method: x' = dinv (r - (entries times x)), V lanes per row. In the first sweep, x is dinv r. */
template <typename T, int V>
__global__ void tri_sweep(GPTR(const double) s, tri_chunks<T> t, GPTR(const T) x, bool begins)
{
    if (s[S_DONE] != 0) return;
    int lane = (int)(threadIdx.x % V), k = (int)(blockIdx.x * (LEVEL_BLOCK / V) + threadIdx.x / V);
    if (k >= t.n) return; /* all V lanes: they share the row */
    int last = t.ptr[k + 1];
    T sum = lane == 0 ? t.r[t.at[k]] : (T)0;
#pragma unroll 4
    for (int j = t.ptr[k] + lane; j < last; j += V) {
        int c = t.col[j];
        T from = begins ? t.r[t.at[c]] : x[c];
        if (begins && t.scaled) from = t.dinv[c] * from;
        sum -= t.val[j] * from;
    }
    for (int d = V / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    if (lane != 0) return;
    if (t.scaled) sum = t.dinv[k] * sum;
    t.z[t.scatters ? t.row[k] : k] = sum;
}

/* ---- the launches ---- */

#define TRI_ARRAY(p, n, T) VECTOR(#p, ROLE_WORK, (void *)S->p, n, const T)

template <typename T> static tri_chunks<T> chunks_of(const struct level_schedule *S, const void *r, void *z)
{
    int64_t n = S->n;
    return {.step = TRI_ARRAY(step, S->step ? n : 0, int),
            .row = TRI_ARRAY(row, n, int),
            .at = TRI_ARRAY(at, n, int),
            .ptr = TRI_ARRAY(ptr, n + 1, int),
            .col = TRI_ARRAY(col, S->nnz, int),
            .val = TRI_ARRAY(val, S->nnz, T),
            .dinv = TRI_ARRAY(dinv, S->dinv ? n : 0, T),
            .r = VECTOR("r", ROLE_WORK, (void *)r, n, const T),
            .y = VECTOR("y", ROLE_WORK, S->y, n, T),
            .z = VECTOR("z", ROLE_WORK, z, z ? n : 0, T),
            .cleared = VECTOR("cleared", ROLE_WORK, NULL, 0, T),
            .ticket = VECTOR("ticket", ROLE_WORK, S->ticket, 1, unsigned),
            .ticket_cleared = VECTOR("ticket_cleared", ROLE_WORK, NULL, 0, unsigned),
            .n = (int)n,
            .scaled = S->dinv != NULL,
            .takes = false,
            .scatters = z != NULL};
}

template <typename T>
static void chunks(struct device *d, const struct level_schedule *S, const struct level_schedule *other, double *s,
                   const void *r, void *z)
{
    tri_chunks<T> t = chunks_of<T>(S, r, z);
    t.cleared = VECTOR("cleared", ROLE_WORK, other->y, other->n, T);
    t.ticket_cleared = VECTOR("ticket_cleared", ROLE_WORK, other->ticket, 1, unsigned);
    t.takes = r == other->y;
    auto *kernel = S->lanes == WARP ? tri_chunk<T, WARP> : S->lanes == 4 ? tri_chunk<T, 4> : tri_chunk<T, 1>;
    LAUNCH(d, blocks_for(S->n * S->lanes, CHUNK_THREADS), CHUNK_THREADS, kernel)(SCALARS_OF(s), t);
}

template <typename T>
static void sweep(struct device *d, const struct level_schedule *S, double *s, const void *r, const void *x, void *to,
                  bool scatters)
{
    tri_chunks<T> t = chunks_of<T>(S, r, to);
    t.scatters = scatters;
    auto *kernel = S->lanes == WARP ? tri_sweep<T, WARP> : tri_sweep<T, 1>;
    LAUNCH(d, blocks_for(S->n * S->lanes, LEVEL_BLOCK), LEVEL_BLOCK, kernel)
    (SCALARS_OF(s), t, VECTOR("x", ROLE_WORK, (void *)x, x ? S->n : 0, const T), x == NULL);
}

/* ---- the same operations on the host ---- */

#ifndef __CUDACC__
namespace host
{

template <typename T>
static void sweep(struct device *, const struct level_schedule *S, double *s, const void *r, const void *x, void *to,
                  bool scatters)
{
    if (s[S_DONE] != 0) return;
    const T *val = (const T *)S->val, *dinv = (const T *)S->dinv, *right = (const T *)r, *from = (const T *)x;
    T *out = (T *)to;
    struct loop l = loop_of("", S->n);
    bool checked = loop_worth(S->nnz);
#pragma omp parallel for schedule(static) if (S->nnz > ALONE)
    for (int64_t k = 0; k < S->n; k++) {
        if (checked && !loop_goes(&l, k)) continue;
        T sum = right[S->at[k]];
        for (int j = S->ptr[k]; j < S->ptr[k + 1]; j++) {
            int c = S->col[j];
            T v = from ? from[c] : dinv ? dinv[c] * right[S->at[c]] : right[S->at[c]];
            sum -= val[j] * v;
        }
        out[scatters ? S->row[k] : k] = dinv ? dinv[k] * sum : sum;
    }
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

#define TRI_ENTRY(id, chunks_, sweep_)  \
    extern "C" const struct tri_ops id; \
    const struct tri_ops id = {.chunks = chunks_, .sweep = sweep_}

#define TRI_GPU_ENTRY(id, T) TRI_ENTRY(id, KERNEL_SPACE::chunks<T>, KERNEL_SPACE::sweep<T>)

TRI_GPU_ENTRY(VEC_SYMBOL(tri_f32), float);
TRI_GPU_ENTRY(VEC_SYMBOL(tri_f64), double);
TRI_GPU_ENTRY(VEC_SYMBOL(tri_c32), cplx<float>);
TRI_GPU_ENTRY(VEC_SYMBOL(tri_c64), cplx<double>);
#ifndef __CUDACC__
TRI_ENTRY(cpu_vec_tri_f32, nullptr, KERNEL_SPACE::host::sweep<float>);
TRI_ENTRY(cpu_vec_tri_f64, nullptr, KERNEL_SPACE::host::sweep<double>);
TRI_ENTRY(cpu_vec_tri_c32, nullptr, KERNEL_SPACE::host::sweep<cplx<float>>);
TRI_ENTRY(cpu_vec_tri_c64, nullptr, KERNEL_SPACE::host::sweep<cplx<double>>);
#endif
