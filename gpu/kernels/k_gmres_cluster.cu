/* GMRES(m) for small systems: one launch does the iterations of a cycle, with the matrix and the newest basis vector in
   the shared memory of one cluster of thread blocks. The basis stays in global memory: a block reads only its own rows
   of it, mostly from L1. An iteration has three barriers of the cluster: one in each of its two reductions, and one
   after the new basis vector. The second pass of classical Gram-Schmidt reduces q.q together with the coefficients c of
   that pass, so that the norm of the remainder, q.q - c.c, needs no reduction of its own (Bielich, Langou, Thomas,
   Swirydowicz, Yamazaki and Boman 2022). The restart after m iterations has launches of its own. */
#include "cluster.h"

#include "gmres.h"

namespace KERNEL_SPACE
{

static_assert(+GM_CLUSTER_BLOCKS == +CLUSTER_BLOCKS, "each block of a cluster has a slot for its sums");

/* The numbers of a cycle, in shared memory: the coefficients of both passes, the column of R, the rotations, the
   rotated right-hand side, and the slots of the sums of either pass. */
template <typename P> struct gm_cycle {
    P first, second, col, cosine, sine, g, slots[2];
};

static __device__ auto gm_cycle_of(int m)
{
    int size = m + 2, bytes = size * (int)sizeof(double);
    SHARED_GIVEN_AT(double, first, 0, size);
    SHARED_GIVEN_AT(double, second, bytes, size);
    SHARED_GIVEN_AT(double, col, 2 * bytes, size);
    SHARED_GIVEN_AT(double, cosine, 3 * bytes, size);
    SHARED_GIVEN_AT(double, sine, 4 * bytes, size);
    SHARED_GIVEN_AT(double, g, 5 * bytes, size);
    SHARED_GIVEN_AT(double, slot1, 6 * bytes, size * (int)CLUSTER_BLOCKS);
    SHARED_GIVEN_AT(double, slot2, (6 + (int)CLUSTER_BLOCKS) * bytes, size * (int)CLUSTER_BLOCKS);
    return gm_cycle<decltype(first)>{first, second, col, cosine, sine, g, {slot1, slot2}};
}

/* The inner products of q with the columns [0, columns) of V and, with NORM, q.q as the last of them; to[] receives
   them in every block. A warp has a column at a time; its lanes read neighbouring elements. Participants: all threads
   of the cluster. */
template <bool NORM, typename ROWS, typename V, typename Q, typename P>
__device__ void gm_cluster_dots(const ROWS &A, int64_t pitch, int columns, V basis, Q q, P slot, P to)
{
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP), warps = (int)(blockDim.x / WARP);
    for (int j = warp; j < columns + NORM; j += warps) {
        bool norm = NORM && j == columns;
        double sum = 0;
        UNROLL(4)
        for (int i = lane; i < A.rows; i += WARP) {
            double value = (double)q[i];
            sum += (norm ? value : (double)basis[j * pitch + A.first + i]) * value;
        }
        cluster_send(slot, j, cluster_over_warp(sum, false));
    }
    cluster_sync(); /* all threads of the cluster: `slot` is complete in every block */
    for (int j = warp; j < columns + NORM; j += warps) {
        double sum = cluster_received(slot, j, false);
        if (lane == 0) to[j] = sum;
    }
    __syncthreads(); /* all threads of the block: `to` is complete */
}

/* What is left of element i of q without its parts along the columns of V. */
template <typename T, typename ROWS, typename V, typename P>
__device__ T gm_cluster_left(const ROWS &A, int64_t pitch, int columns, V basis, P part, int i, T value)
{
    UNROLL(4)
    for (int j = 0; j < columns; j++) value -= (T)part[j] * (T)basis[j * pitch + A.first + i];
    return value;
}

/* Column k of H, which block 0 also writes to w. */
template <typename P> __device__ void gm_cluster_column(const gm_cycle<P> &c, int m, int k, GPTR(double) w)
{
    for (int j = (int)threadIdx.x; j <= k; j += (int)blockDim.x) {
        double sum = c.first[j] + c.second[j];
        c.col[j] = sum;
        if (blockIdx.x == 0) w[gm_row(m, GM_R + m + k) + j] = sum;
    }
}

/* Thread 0 of each block: rotate column k, and judge the new residual. */
template <typename P, typename S>
__device__ cluster_record gm_cluster_judge(const gm_cycle<P> &c, S s, int k, double tiny)
{
    cluster_record record = {0, 0, 0, false};
    double left = c.second[k + 1], rr = 0;
    for (int j = 0; j <= k; j++) left -= c.second[j] * c.second[j];
    s[S_PQ] = left != left || left > 0 ? left : 0;
    if (!gm_rotate<double>(s, c.g, 0, c.col, c.cosine, c.sine, k, tiny, rr)) return record;
    record = cluster_record_of(s);
    vec_judge(s, rr, s[S_MAXDIFF]);
    return record;
}

/* Block 0: write column k of R and what its rotation has changed. */
template <typename P, typename S>
__device__ void gm_cluster_save(const gm_cycle<P> &c, S s, int m, int k, GPTR(double) w)
{
    if (blockIdx.x > 0) return;
    for (int j = (int)threadIdx.x; j <= k; j += (int)blockDim.x) w[gm_row(m, GM_R + k) + j] = c.col[j];
    if (threadIdx.x > 0) return;
    w[gm_row(m, GM_R + m + k) + k + 1] = sqrt((double)s[S_PQ]);
    w[gm_row(m, GM_COS) + k] = c.cosine[k];
    w[gm_row(m, GM_SIN) + k] = c.sine[k];
    w[gm_row(m, GM_G) + k] = c.g[k];
    w[gm_row(m, GM_G) + k + 1] = c.g[k + 1];
}

/* The iterations begin with the column of the cycle that the scalars say, and end with the cycle at the latest. SCALED:
   the preconditioner is the diagonal dinv, applied from the right: the block holds its rows of A D^-1. */
template <typename T, bool SCALED>
__global__ void __launch_bounds__(CLUSTER_THREADS, 1)
    gmres_cluster(int64_t n, int64_t pitch, struct cluster_plan plan, int64_t iterations, int m, double tiny,
                  GPTR(double) scalars, GPTR(double) w, GPTR(const int) ptr, GPTR(const int) cols, GPTR(const T) vals,
                  GPTR(const T) dinv, GPTR(T) basis)
{
    if (scalars[S_DONE] != 0) return;
    int share = plan.rows, at = (int)GMRES_CLUSTER(m), bytes = share * (int)sizeof(T);
    auto c = gm_cycle_of(m);
    SHARED_GIVEN_AT(T, newest, at, share);
    SHARED_GIVEN_AT(T, q, at + bytes, share);
    auto A = cluster_rows_of<T>(n, plan, at + 2 * bytes);
    auto s = cluster_scalars_of<1>(scalars).s;
    int begin = (int)scalars[S_COLUMNS], end = (int)min((int64_t)m, begin + iterations);
    A.template load<SCALED>(ptr, cols, vals, dinv);
    for (int i = (int)threadIdx.x; i < A.rows; i += (int)blockDim.x) newest[i] = basis[begin * pitch + A.first + i];
    for (int j = (int)threadIdx.x; j < begin; j += (int)blockDim.x) {
        c.cosine[j] = w[gm_row(m, GM_COS) + j];
        c.sine[j] = w[gm_row(m, GM_SIN) + j];
    }
    if (threadIdx.x == 0) c.g[begin] = w[gm_row(m, GM_G) + begin];
    cluster_sync(); /* all threads of the cluster: the matrix and the newest vector are in shared memory */

    double from = clock_us();
    for (int k = begin; k < end; k++) {
        A.multiply(newest, [&](int i, T sum) { q[i] = sum; });
        __syncthreads(); /* all threads of the block: q is complete */
        cluster_time(s, S_SPMV_US, from);
        gm_cluster_dots<false>(A, pitch, k + 1, basis, q, c.slots[0], c.first);
        for (int i = (int)threadIdx.x; i < A.rows; i += (int)blockDim.x)
            q[i] = gm_cluster_left<T>(A, pitch, k + 1, basis, c.first, i, q[i]);
        __syncthreads(); /* all threads of the block: the first pass is complete */
        gm_cluster_dots<true>(A, pitch, k + 1, basis, q, c.slots[1], c.second);
        gm_cluster_column(c, m, k, w);
        __syncthreads(); /* all threads of the block: `col` is complete */
        cluster_record record = {0, 0, 0, false};
        if (threadIdx.x == 0) record = gm_cluster_judge(c, s, k, tiny);
        __syncthreads(); /* all threads of the block: thread 0 has rotated the column */
        cluster_write(s, record, k == begin);
        gm_cluster_save(c, s, m, k, w);
        cluster_time(s, S_DOTS_US, from);
        if (s[S_DONE] != 0 || k + 1 == m) break;
        T scale = (T)s[S_SCALE];
        for (int i = (int)threadIdx.x; i < A.rows; i += (int)blockDim.x) {
            T next = scale * gm_cluster_left<T>(A, pitch, k + 1, basis, c.second, i, q[i]);
            newest[i] = next;
            basis[(k + 1) * pitch + A.first + i] = next;
        }
        cluster_sync(); /* all threads of the cluster: every block has its part of the new vector */
        cluster_time(s, S_STEP_US, from);
    }
    cluster_save_scalars(s, scalars);
}

/* ---- the launches ---- Their vectors are the basis and the system of gmres. */

template <typename T, bool SCALED>
static void launch(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c,
                   int64_t iterations)
{
    struct launch of = {.A = c->A}, *L = &of;
    int64_t n = c->A->of->rows, m = c->m;
    double *s = c->s;
    LAUNCH_CLUSTER(d, (unsigned)plan->blocks, (unsigned)plan->threads, (unsigned)plan->bytes, gmres_cluster<T, SCALED>)
    (n, vector_stride(n, sizeof(T)), *plan, iterations, (int)m, gm_tiny<T>(), SCALARS_OF(s),
     VECTOR("w", ROLE_WORK, c->vec[1], GMRES_WORK(m), double), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int),
     ARRAY(L, CSR_VAL, T), VECTOR("dinv", ROLE_WORK, c->dinv, n, const T),
     VECTOR("V", ROLE_WORK, c->vec[0], vectors_extent(m, n, sizeof(T)), T));
}

template <typename T>
static void gmres(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c, int64_t n)
{
    (c->dinv ? launch<T, true> : launch<T, false>)(d, plan, c, n);
}

} // namespace KERNEL_SPACE

CLUSTER_ENTRY(gmres) = {REALS(KERNEL_SPACE::gmres)};
