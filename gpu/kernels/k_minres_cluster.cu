/* MINRES without a preconditioner, for small systems: one launch does many iterations, with the matrix and the vectors
   in the shared memory of one cluster of thread blocks. An iteration has two barriers of the cluster, one in each of
   its two reductions; after the second one, the next Lanczos vector is complete. The work per element is that of the
   passes in minres.h. */
#include "cluster.h"

#include "minres.h"

namespace KERNEL_SPACE
{

enum { SUM_PQ, PRODUCT_SUMS };
enum { SUM_NEXT, SUM_UU, LANCZOS_SUMS };

/* q = A r in the rows of the block; the thread adds its share of r.q. */
template <typename T, typename ROWS, typename P> __device__ double minres_cluster_product(const ROWS &A, P r, P q)
{
    double pq = 0;
    A.multiply(r, [&](int i, T sum) {
        q[i] = sum;
        pq += (double)r[i] * (double)sum;
    });
    return pq;
}

/* Thread 0 of each block, after the step: the scalars of the next iteration, and the record. */
template <typename PASS, typename P> __device__ cluster_record minres_cluster_judge(const PASS &step, P s)
{
    cluster_record record = {0, 0, 0, false};
    if (step.broken) {
        step.to.stop(s);
        return record;
    }
    step.to.keep(s);
    record = cluster_record_of(s);
    vec_judge(s, s[S_PHIBAR] * s[S_PHIBAR], s[S_MAXDIFF]);
    return record;
}

/* r and u are the newer vectors of their pairs before the first iteration; each iteration swaps the two of a pair. */
template <typename T>
__global__ void __launch_bounds__(CLUSTER_THREADS, 1)
    minres_cluster(int64_t n, struct cluster_plan plan, int64_t iterations, GPTR(double) scalars, GPTR(const int) ptr,
                   GPTR(const int) cols, GPTR(const T) vals, GPTR(T) x, GPTR(T) r, GPTR(T) old, GPTR(T) u,
                   GPTR(T) u_old)
{
    if (scalars[S_DONE] != 0) return;
    int share = plan.rows, bytes = share * (int)sizeof(T);
    SHARED_GIVEN_AT(T, own_x, 0, share);
    SHARED_GIVEN_AT(T, r_even, bytes, share);
    SHARED_GIVEN_AT(T, r_odd, 2 * bytes, share);
    SHARED_GIVEN_AT(T, u_even, 3 * bytes, share);
    SHARED_GIVEN_AT(T, u_odd, 4 * bytes, share);
    SHARED_GIVEN_AT(T, q, 5 * bytes, share);
    auto A = cluster_rows_of<T>(n, plan, 6 * bytes);
    auto of = cluster_scalars_of<LANCZOS_SUMS>(scalars);
    auto s = of.s;
    A.template load<false>(ptr, cols, vals, vals);
    A.take(x, own_x);
    A.take(r, r_even);
    A.take(old, r_odd);
    A.take(u, u_even);
    A.take(u_old, u_odd);
    cluster_sync(); /* all threads of the cluster: the matrix and the vectors are in shared memory */

    double from = clock_us();
    for (int64_t k = 0; k < iterations && s[S_DONE] == 0; k++) {
        bool odd = k % 2;
        auto now = odd ? r_odd : r_even, next = odd ? r_even : r_odd;
        auto way = odd ? u_odd : u_even, next_way = odd ? u_even : u_odd;
        double product[PRODUCT_SUMS] = {minres_cluster_product<T>(A, now, q)}, t[LANCZOS_SUMS] = {0, 0};
        cluster_time(s, S_SPMV_US, from);
        cluster_sums<PRODUCT_SUMS>(product, of, 0);
        if (threadIdx.x == 0) s[S_PQ] = of.total[SUM_PQ];
        __syncthreads(); /* all threads of the block: thread 0 has stored r.q */

        pass_minres_lanczos<on_gpu<T>> lanczos = {q, now, now, next, way, next_way, 0, false, 0, 0, 0, 0, 0};
        lanczos.begin(s);
        for (int i = (int)threadIdx.x; i < A.rows; i += (int)blockDim.x) {
            vec_sums more = lanczos.at(i);
            t[SUM_NEXT] += more.a;
            t[SUM_UU] += more.b;
        }
        cluster_sums<LANCZOS_SUMS>(t, of, 1); /* every block has its part of the next Lanczos vector */
        if (threadIdx.x == 0) lanczos.end(s, {of.total[SUM_NEXT], of.total[SUM_UU], 0});
        __syncthreads(); /* all threads of the block: thread 0 has stored the sums */
        cluster_time(s, S_DOTS_US, from);
        if (s[S_DONE] != 0) break;

        pass_minres_step<on_gpu<T>> step = {next_way, own_x, {}, false};
        step.begin(s);
        for (int i = (int)threadIdx.x; i < A.rows; i += (int)blockDim.x) step.at(i);
        __syncthreads(); /* all threads of the block: every thread has read the scalars */
        cluster_record record = {0, 0, 0, false};
        if (threadIdx.x == 0) record = minres_cluster_judge(step, s);
        __syncthreads(); /* all threads of the block: thread 0 has judged the residual */
        cluster_write(s, record, k == 0);
        cluster_time(s, S_STEP_US, from);
    }
    A.save(own_x, x);
    A.save(r_even, r);
    A.save(r_odd, old);
    A.save(u_even, u);
    A.save(u_odd, u_old);
    cluster_save_scalars(s, scalars);
}

/* ---- the launches ---- Their vectors are x, and the newer and the older one of r and of u. */

template <typename T>
static void minres(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c,
                   int64_t iterations)
{
    struct launch of = {.A = c->A}, *L = &of;
    int64_t n = c->A->of->rows;
    double *s = c->s;
    LAUNCH_CLUSTER(d, (unsigned)plan->blocks, (unsigned)plan->threads, (unsigned)plan->bytes, minres_cluster<T>)
    (n, *plan, iterations, SCALARS_OF(s), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T),
     VECTOR("x", ROLE_WORK, c->vec[0], n, T), VECTOR("r", ROLE_WORK, c->vec[1], n, T),
     VECTOR("old", ROLE_WORK, c->vec[2], n, T), VECTOR("u", ROLE_WORK, c->vec[3], n, T),
     VECTOR("u_old", ROLE_WORK, c->vec[4], n, T));
}

} // namespace KERNEL_SPACE

CLUSTER_ENTRY(minres) = {REALS(KERNEL_SPACE::minres)};
