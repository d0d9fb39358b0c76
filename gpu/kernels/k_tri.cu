/* Parts of preconditioners: triangular solves over rows by level, and the inverted diagonal blocks.
 */
#include "csr_rows.h"
#include "machine/level_ops.h"
#include "vec.h"

namespace KERNEL_SPACE
{

/* TRI_RING_BYTES: shared memory for the latest results. TRI_FAR: levels of look-ahead. */
enum { TRI_RING_BYTES = 32768, TRI_FAR = 8 };

/* The number of results kept in shared memory, a power of 2. */
template <typename T> constexpr int tri_ring = TRI_RING_BYTES / (int)(sizeof(T) < 8 ? 8 : sizeof(T));

/* The operands of a launch. y holds the right-hand sides before the launch and the results after it; y is read and
   written through one pointer. */
template <typename T> struct tri {
    GPTR(const int) start;
    GPTR(const int) ptr;
    GPTR(const int) col;
    GPTR(const T) val;
    GPTR(const T) dinv;
    GPTR(T) y;
    int n;
    bool scaled; /* multiply by dinv */
};

/* Permute right-hand sides to the order of the rows by level, and results back. Both permutations run on all
   multiprocessors, so that the single block that goes through many levels accesses contiguous memory. */
template <typename T>
__global__ void tri_gather(int n, GPTR(const double) s, GPTR(const int) at, GPTR(const T) r, GPTR(T) y)
{
    int k = (int)(blockIdx.x * LEVEL_BLOCK + threadIdx.x);
    if (s[S_DONE] == 0 && k < n) y[k] = r[at[k]];
}

template <typename T>
__global__ void tri_scatter(int n, GPTR(const double) s, GPTR(const int) row, GPTR(const T) y, GPTR(T) z)
{
    int k = (int)(blockIdx.x * LEVEL_BLOCK + threadIdx.x);
    if (s[S_DONE] == 0 && k < n) z[row[k]] = y[k];
}

/* One level, by many blocks. V lanes per row read neighbouring entries. */
template <typename T, int V> __global__ void tri_wide(int from, int end, GPTR(const double) s, tri<T> t)
{
    if (s[S_DONE] != 0) return;
    int lane = (int)(threadIdx.x % V), k = from + (int)(blockIdx.x * (LEVEL_BLOCK / V) + threadIdx.x / V);
    if (k >= end) return; /* all V lanes: they share the row */
    int last = t.ptr[k + 1];
    T sum = lane == 0 ? t.y[k] : (T)0;
#pragma unroll 4
    for (int j = t.ptr[k] + lane; j < last; j += V) sum -= t.val[j] * t.y[t.col[j]];
    sum = vector_joined<V>(sum);
    if (lane == 0) t.y[k] = t.scaled ? sum * t.dinv[k] : sum;
}

/* ---- a run of narrow levels in one block, V lanes per row ----
   A narrow level spends nearly all of its time waiting for the barrier and for memory. Entries of a row are therefore
   loaded one level ahead, and pointers two levels ahead; later levels are prefetched into the L2 cache. Results
   of the latest levels, which most rows need, stay in a ring in shared memory. */

/* The range of the entries of a row. */
struct tri_lead {
    int begin, end;
};

/* What a lane loads of a row ahead of its level. */
template <typename T> struct tri_row {
    tri_lead lead;
    int col[LEVEL_EARLY];
    T val[LEVEL_EARLY], sum, inverse;
};

template <typename T> __device__ tri_lead tri_find(const tri<T> &t, int k, int end)
{
    tri_lead lead = {0, 0};
    if (k >= end) return lead;
    lead.begin = t.ptr[k];
    lead.end = t.ptr[k + 1];
    return lead;
}

/* Loads the lane's entries of the row at position k. If the lane has fewer than LEVEL_EARLY entries, the missing
   columns are -1. */
template <typename T, int V> __device__ tri_row<T> tri_fetch(const tri<T> &t, int k, int end, tri_lead lead, int lane)
{
    tri_row<T> row;
    row.lead = lead;
    row.sum = 0;
    row.inverse = 1;
#pragma unroll
    for (int e = 0; e < LEVEL_EARLY; e++) {
        int j = lead.begin + e * V + lane;
        bool there = j < lead.end;
        row.col[e] = there ? t.col[j] : -1;
        row.val[e] = there ? t.val[j] : (T)0;
    }
    if (k >= end || lane != 0) return row;
    row.sum = t.y[k];
    if (t.scaled) row.inverse = t.dinv[k];
    return row;
}

/* Prefetch the data of the row that is `ahead` positions later into the L2 cache. The position of its entries is
   extrapolated from the length of row k. The threads share the arrays: half of the threads take val, the largest array.
 */
template <typename T> __device__ void tri_foresee(const tri<T> &t, int k, int ahead, int last, tri_lead lead)
{
#ifdef __CUDACC__
    int64_t position = (int64_t)k + ahead, entry = lead.begin + (int64_t)(lead.end - lead.begin) * ahead;
    if (position >= t.n || entry >= last) return;
    int lane = (int)(threadIdx.x % 8);
    const void *what = lane % 2 == 1           ? (const void *)(t.val + entry)
                       : lane == 0             ? (const void *)(t.ptr + position)
                       : lane == 4 && t.scaled ? (const void *)(t.dinv + position)
                                               : (const void *)(t.col + entry);
    asm volatile("prefetch.global.L2 [%0];" ::"l"(what));
#else
    (void)t, (void)k, (void)ahead, (void)last, (void)lead;
#endif
}

/* Result number p: it is in the ring if p is at least `low`, and in y otherwise. */
template <typename T, typename R> __device__ T tri_result(const tri<T> &t, R ring, int low, int p)
{
    return p >= low ? ring[p & (tri_ring<T> - 1)] : t.y[p];
}

template <typename T, int V, typename R>
__device__ void tri_finish(const tri<T> &t, R ring, int low, int k, const tri_row<T> &row, int lane)
{
    T sum = row.sum;
#pragma unroll
    for (int e = 0; e < LEVEL_EARLY; e++)
        if (row.col[e] >= 0) sum -= row.val[e] * tri_result(t, ring, low, row.col[e]);
#pragma unroll 4
    for (int j = row.lead.begin + LEVEL_EARLY * V + lane; j < row.lead.end; j += V)
        sum -= t.val[j] * tri_result(t, ring, low, t.col[j]);
    sum = vector_joined<V>(sum);
    if (lane != 0) return;
    sum *= row.inverse;
    ring[k & (tri_ring<T> - 1)] = sum;
    t.y[k] = sum;
}

/* The block loads the first rows of a level ahead, as many as it has threads for. edge0 .. edge3 bound three levels. */
template <typename T, int V>
__global__ void __launch_bounds__(LEVEL_THREADS) tri_narrow(int from, int to, GPTR(const double) s, tri<T> t)
{
    if (s[S_DONE] != 0) return;
    SHARED(T, ring, tri_ring<T>);
    int me = (int)threadIdx.x / V, lane = (int)threadIdx.x % V, each = (int)blockDim.x / V;
    int first = t.start[from], last = t.ptr[t.n];
    int edge0 = first, edge1 = t.start[from + 1], edge2 = t.start[min(from + 2, to)],
        edge3 = t.start[min(from + 3, to)];
    tri_row<T> now = tri_fetch<T, V>(t, edge0 + me, edge1, tri_find(t, edge0 + me, edge1), lane);
    tri_lead lead = tri_find(t, edge1 + me, edge2);
    for (int level = from; level < to; level++) {
        int edge4 = t.start[min(level + 4, to)], low = max(first, edge1 - tri_ring<T>);
        tri_row<T> next = tri_fetch<T, V>(t, edge1 + me, edge2, lead, lane);
        lead = tri_find(t, edge2 + me, edge3);
        if (edge0 + me < edge1) {
            tri_foresee(t, edge0 + me, TRI_FAR * (edge1 - edge0), last, now.lead);
            tri_finish<T, V>(t, ring, low, edge0 + me, now, lane);
        }
        for (int k = edge0 + me + each; k < edge1; k += each)
            tri_finish<T, V>(t, ring, low, k, tri_fetch<T, V>(t, k, edge1, tri_find(t, k, edge1), lane), lane);
        now = next;
        edge0 = edge1;
        edge1 = edge2;
        edge2 = edge3;
        edge3 = edge4;
        __syncthreads(); /* all threads of the block: the level is complete */
    }
}

/* One thread per row; neighbouring threads read neighbouring elements of column j of their blocks, and share r. */
template <typename T>
__global__ void pre_blocks(int64_t n, int size, GPTR(const double) s, GPTR(const T) inverse, GPTR(const T) r, GPTR(T) z)
{
    if (s[S_DONE] != 0) return;
    int64_t row = (int64_t)blockIdx.x * LEVEL_BLOCK + threadIdx.x;
    if (row >= n) return;
    int64_t first = row / size * size;
    int columns = first + size < n ? size : (int)(n - first);
    T sum = 0;
#pragma unroll 4
    for (int j = 0; j < columns; j++) sum += inverse[j * n + row] * r[first + j];
    z[row] = sum;
}

/* ---- the launches ---- */

#define LEVEL_ARRAY(p, n, T) VECTOR(#p, ROLE_WORK, (void *)S->p, n, const T)

template <typename T> static tri<T> tri_of(const struct level_schedule *S)
{
    int64_t n = S->n;
    return {LEVEL_ARRAY(start, S->nlevels + 1, int),
            LEVEL_ARRAY(ptr, n + 1, int),
            LEVEL_ARRAY(col, S->nnz, int),
            LEVEL_ARRAY(val, S->nnz, T),
            LEVEL_ARRAY(dinv, S->dinv ? n : 0, T),
            VECTOR("y", ROLE_WORK, S->y, n, T),
            (int)n,
            S->dinv != NULL};
}

template <typename T, int V>
static void solve_run(struct device *d, const struct level_schedule *S, const struct level_run *run, double *s)
{
    tri<T> t = tri_of<T>(S);
    auto *wide = tri_wide<T, V>;
    auto *narrow = tri_narrow<T, V>;
    if (run->wide) {
        LAUNCH(d, run->blocks, LEVEL_BLOCK, wide)(run->first, run->end, SCALARS_OF(s), t);
    } else {
        LAUNCH(d, 1, run->threads, narrow)(run->from, run->to, SCALARS_OF(s), t);
    }
}

template <typename T>
static void solve_any(struct device *d, const struct level_schedule *S, const struct level_run *run, double *s)
{
    auto *go = run->lanes == 1   ? solve_run<T, 1>
               : run->lanes == 4 ? solve_run<T, 4>
               : run->lanes == 8 ? solve_run<T, 8>
                                 : solve_run<T, WARP>;
    go(d, S, run, s);
}

template <typename T>
static void solve(struct device *d, const struct level_schedule *S, double *s, const void *r, void *z)
{
    int64_t n = S->n;
    LAUNCH(d, blocks_for(n, LEVEL_BLOCK), LEVEL_BLOCK, tri_gather<T>)
    ((int)n, SCALARS_OF(s), LEVEL_ARRAY(at, n, int), VECTOR("r", ROLE_WORK, r, n, const T),
     VECTOR("y", ROLE_WORK, S->y, n, T));
    for (int k = 0; k < S->nruns; k++) solve_any<T>(d, S, &S->run[k], s);
    if (!z) return;
    LAUNCH(d, blocks_for(n, LEVEL_BLOCK), LEVEL_BLOCK, tri_scatter<T>)
    ((int)n, SCALARS_OF(s), LEVEL_ARRAY(row, n, int), LEVEL_ARRAY(y, n, T), VECTOR("z", ROLE_WORK, z, n, T));
}

template <typename T>
static void blocks(struct device *d, int64_t n, int size, double *s, const void *inverse, const void *r, void *z)
{
    LAUNCH(d, blocks_for(n, LEVEL_BLOCK), LEVEL_BLOCK, pre_blocks<T>)
    (n, size, SCALARS_OF(s), VECTOR("inverse", ROLE_WORK, inverse, n * size, const T),
     VECTOR("r", ROLE_WORK, r, n, const T), VECTOR("z", ROLE_WORK, z, n, T));
}

/* ---- the same operations on the host ---- */

#ifndef __CUDACC__
namespace host
{

/* Solves one row after another. */
template <typename T>
static void solve(struct device *, const struct level_schedule *S, double *s, const void *r, void *z)
{
    if (s[S_DONE] != 0) return;
    const T *val = (const T *)S->val, *dinv = (const T *)S->dinv, *right = (const T *)r;
    T *y = (T *)S->y, *to = (T *)z;
    struct loop l = loop_of("", S->n);
    bool checked = loop_worth(S->nnz);
    for (int64_t k = 0; k < S->n; k++) {
        if (checked && k % LOOP_SHARE == 0 && !loop_check(&l, k)) return;
        T sum = right[S->at[k]];
        for (int j = S->ptr[k]; j < S->ptr[k + 1]; j++) sum -= val[j] * y[S->col[j]];
        y[k] = dinv ? sum * dinv[k] : sum;
        if (to) to[S->row[k]] = y[k];
    }
}

template <typename T>
static void blocks(struct device *, int64_t n, int size, double *s, const void *inverse, const void *r, void *z)
{
    if (s[S_DONE] != 0) return;
    const T *inv = (const T *)inverse, *from = (const T *)r;
    T *to = (T *)z;
    struct loop l = loop_of("", n);
    bool checked = loop_worth(n * size);
#pragma omp parallel for if (n > ALONE)
    for (int64_t row = 0; row < n; row++) {
        if (checked && !loop_goes(&l, row)) continue;
        int64_t first = row / size * size, columns = first + size < n ? size : n - first;
        T sum = 0;
        for (int64_t j = 0; j < columns; j++) sum += inv[j * n + row] * from[first + j];
        to[row] = sum;
    }
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

#define PRE_ENTRY(id, space, T)         \
    extern "C" const struct pre_ops id; \
    const struct pre_ops id = {.solve = space::solve<T>, .blocks = space::blocks<T>}

PRE_ENTRY(VEC_SYMBOL(pre_f32), KERNEL_SPACE, float);
PRE_ENTRY(VEC_SYMBOL(pre_f64), KERNEL_SPACE, double);
PRE_ENTRY(VEC_SYMBOL(pre_c32), KERNEL_SPACE, cplx<float>);
PRE_ENTRY(VEC_SYMBOL(pre_c64), KERNEL_SPACE, cplx<double>);
#ifndef __CUDACC__
PRE_ENTRY(cpu_vec_pre_f32, KERNEL_SPACE::host, float);
PRE_ENTRY(cpu_vec_pre_f64, KERNEL_SPACE::host, double);
PRE_ENTRY(cpu_vec_pre_c32, KERNEL_SPACE::host, cplx<float>);
PRE_ENTRY(cpu_vec_pre_c64, KERNEL_SPACE::host, cplx<double>);
#endif
