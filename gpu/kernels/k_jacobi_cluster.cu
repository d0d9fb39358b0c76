/* Jacobi's method for small systems: one launch does many iterations, with the matrix and the vectors in the shared
   memory of one cluster of thread blocks. As in the launches of one iteration, an iteration records the residual of x
   and writes the next x to a second vector. It has one barrier of the cluster, in the reduction: after the barrier, the
   next x is complete, and no thread still reads x. */
#include "cluster.h"

namespace KERNEL_SPACE
{

enum { SUM_RR, MAX_CHANGE, JACOBI_SUMS };

/* The block's parts of the vectors that do not change, in shared memory. */
template <typename P> struct jacobi_vectors {
    P b, dinv;
};

/* next = x + dinv (b - A x) in the rows of the block; the thread adds its share of the sums. */
template <typename T, typename ROWS, typename P>
__device__ void jacobi_cluster_sweep(const ROWS &A, const jacobi_vectors<P> &own, P x, P next, double (&t)[JACOBI_SUMS])
{
    A.multiply(x, [&](int i, T sum) {
        T residual = own.b[i] - sum, change = own.dinv[i] * residual;
        next[i] = x[i] + change;
        t[SUM_RR] += (double)residual * (double)residual;
        t[MAX_CHANGE] = vec_join<true>(t[MAX_CHANGE], fabs((double)change));
    });
}

/* `x` is the x of the first record that this launch adds, and `next` that of the second record; afterwards, they
   alternate. */
template <typename T>
__global__ void __launch_bounds__(CLUSTER_THREADS, 1)
    jacobi_cluster(int64_t n, struct cluster_plan plan, int64_t iterations, GPTR(double) scalars, GPTR(const int) ptr,
                   GPTR(const int) cols, GPTR(const T) vals, GPTR(T) x, GPTR(T) next, GPTR(const T) b,
                   GPTR(const T) dinv)
{
    if (scalars[S_DONE] != 0) return;
    int share = plan.rows, bytes = share * (int)sizeof(T);
    SHARED_GIVEN_AT(T, even, 0, share);
    SHARED_GIVEN_AT(T, odd, bytes, share);
    SHARED_GIVEN_AT(T, own_b, 2 * bytes, share);
    SHARED_GIVEN_AT(T, own_dinv, 3 * bytes, share);
    auto A = cluster_rows_of<T>(n, plan, 4 * bytes);
    auto of = cluster_scalars_of<JACOBI_SUMS>(scalars);
    auto s = of.s;
    jacobi_vectors<decltype(even + 0)> own = {own_b, own_dinv};
    A.template load<false>(ptr, cols, vals, dinv);
    A.take(x, even);
    A.take(next, odd);
    A.take(b, own_b);
    A.take(dinv, own_dinv);
    cluster_sync(); /* all threads of the cluster: the matrix and the vectors are in shared memory */

    double from = clock_us();
    for (int64_t k = 0; k < iterations && s[S_DONE] == 0; k++) {
        double t[JACOBI_SUMS] = {0, 0};
        int turn = (int)(k % 2);
        jacobi_cluster_sweep<T>(A, own, turn ? odd : even, turn ? even : odd, t);
        cluster_time(s, S_SPMV_US, from);
        cluster_sums<JACOBI_SUMS, true>(t, of, turn);
        cluster_record record = {0, 0, 0, false};
        if (threadIdx.x == 0) {
            record = cluster_record_of(s);
            vec_judge(s, of.total[SUM_RR], s[S_NEXT_DIFF]);
            s[S_NEXT_DIFF] = of.total[MAX_CHANGE];
        }
        __syncthreads(); /* all threads of the block: thread 0 has judged the residual */
        cluster_write(s, record, k == 0);
        cluster_time(s, S_DOTS_US, from);
    }
    A.save(even, x);
    A.save(odd, next);
    cluster_save_scalars(s, scalars);
}

/* ---- the launches ---- Their vectors are x, the next x, b and dinv. */

template <typename T>
static void jacobi(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c,
                   int64_t iterations)
{
    struct launch of = {.A = c->A}, *L = &of;
    int64_t n = c->A->of->rows;
    double *s = c->s;
    LAUNCH_CLUSTER(d, (unsigned)plan->blocks, (unsigned)plan->threads, (unsigned)plan->bytes, jacobi_cluster<T>)
    (n, *plan, iterations, SCALARS_OF(s), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T),
     VECTOR("x", ROLE_WORK, c->vec[0], n, T), VECTOR("next", ROLE_WORK, c->vec[1], n, T),
     VECTOR("b", ROLE_WORK, c->vec[2], n, const T), VECTOR("dinv", ROLE_WORK, c->vec[3], n, const T));
}

} // namespace KERNEL_SPACE

CLUSTER_ENTRY(jacobi) = {REALS(KERNEL_SPACE::jacobi)};
