/* BiCGStab for small systems: one launch does many iterations, with the matrix and the vectors in the shared memory of
   one cluster of thread blocks. An iteration has four barriers of the cluster: one in each of its two reductions, one
   after the residual of the half step, and one after the new p. The second reduction predicts the next rho, as in the
   merged forms of Jacques, Nicolas and Vollaire (1999) and of Yang and Brent (2002), so that beta needs no reduction of
   its own; rho itself and the residual are added up together with the sums of the next iteration. */
#include "cluster.h"

#include "bicg.h"

namespace KERNEL_SPACE
{

/* The sums of the first reduction; the last two are of the residual that the previous iteration led to. */
enum { SUM_SHADOW_V, SUM_VV, SUM_RR, SUM_RHO, FIRST_SUMS };
/* The sums of the second reduction, where r is the residual after the half step. */
enum { SUM_TR, SUM_TT, SUM_HALF, SUM_SHADOW_R, SUM_SHADOW_T, SECOND_SUMS };

/* The block's parts of the vectors, in shared memory. */
template <typename P> struct bicg_vectors {
    P x, r, shadow, p, v, t;
};

/* v = A p in the rows of the block; the thread adds its share of the sums. */
template <typename T, typename ROWS, typename P>
__device__ void bicg_cluster_first(const ROWS &A, const bicg_vectors<P> &own, double (&t)[FIRST_SUMS])
{
    A.multiply(own.p, [&](int i, T sum) {
        double v = (double)sum;
        own.v[i] = sum;
        t[SUM_SHADOW_V] += (double)own.shadow[i] * v;
        t[SUM_VV] += v * v;
    });
}

/* t = A r */
template <typename T, typename ROWS, typename P>
__device__ void bicg_cluster_second(const ROWS &A, const bicg_vectors<P> &own, double (&t)[SECOND_SUMS])
{
    A.multiply(own.r, [&](int i, T sum) {
        double product = (double)sum, r = (double)own.r[i], shadow = (double)own.shadow[i];
        own.t[i] = sum;
        t[SUM_TR] += product * r;
        t[SUM_TT] += product * product;
        t[SUM_HALF] += r * r;
        t[SUM_SHADOW_R] += shadow * r;
        t[SUM_SHADOW_T] += shadow * product;
    });
}

/* r -= alpha v */
template <typename T, typename P> __device__ void bicg_cluster_half(int rows, T alpha, const bicg_vectors<P> &own)
{
    for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) own.r[i] = own.r[i] - alpha * own.v[i];
}

/* The new x, r and p; the thread adds its share of r.r and of shadow.r. */
template <typename T, typename P>
__device__ void bicg_cluster_step(int rows, T alpha, T omega, T beta, const bicg_vectors<P> &own, double &rr,
                                  double &rho)
{
    for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) {
        T half = own.r[i], direction = own.p[i], next = half - omega * own.t[i];
        own.x[i] = own.x[i] + (alpha * direction + omega * half);
        own.r[i] = next;
        own.p[i] = next + beta * (direction - omega * own.v[i]);
        rr += (double)next * (double)next;
        rho += (double)own.shadow[i] * (double)next;
    }
}

/* Thread 0 of each block: judge the residual that the previous iteration led to. */
template <typename T, typename P> __device__ void bicg_cluster_judge(P s, P total)
{
    vec_judge(s, total[SUM_RR], s[S_MAXDIFF]);
    s[S_RHO] = total[SUM_RHO];
    bicg_check<T>(s, total[SUM_RR]);
}

/* Thread 0 of each block: omega, beta and the predicted rho. */
template <typename T, typename P> __device__ void bicg_cluster_coefficients(P s, P total)
{
    s[S_HALF] = total[SUM_HALF];
    bicg_omega<T>(s, total[SUM_TR], total[SUM_TT]);
    if (s[S_DONE] == 0) bicg_next<T>(s, total[SUM_SHADOW_R] - s[S_OMEGA] * total[SUM_SHADOW_T]);
}

/* SCALED: the preconditioner is the diagonal dinv, applied from the right: the block holds its rows of A D^-1. */
template <typename T, bool SCALED>
__global__ void __launch_bounds__(CLUSTER_THREADS, 1)
    bicgstab_cluster(int64_t n, struct cluster_plan plan, int64_t iterations, GPTR(double) scalars, GPTR(const int) ptr,
                     GPTR(const int) cols, GPTR(const T) vals, GPTR(const T) dinv, GPTR(T) x, GPTR(T) r, GPTR(T) p,
                     GPTR(const T) shadow)
{
    if (scalars[S_DONE] != 0) return;
    int share = plan.rows, bytes = share * (int)sizeof(T);
    SHARED_GIVEN_AT(T, own_x, 0, share);
    SHARED_GIVEN_AT(T, own_r, bytes, share);
    SHARED_GIVEN_AT(T, own_shadow, 2 * bytes, share);
    SHARED_GIVEN_AT(T, own_p, 3 * bytes, share);
    SHARED_GIVEN_AT(T, v, 4 * bytes, share);
    SHARED_GIVEN_AT(T, t, 5 * bytes, share);
    auto A = cluster_rows_of<T>(n, plan, 6 * bytes);
    auto of = cluster_scalars_of<SECOND_SUMS>(scalars);
    auto s = of.s;
    bicg_vectors<decltype(own_x)> own = {own_x, own_r, own_shadow, own_p, v, t};
    A.template load<SCALED>(ptr, cols, vals, dinv);
    A.take(x, own_x);
    A.take(r, own_r);
    A.take(shadow, own_shadow);
    A.take(p, own_p);
    cluster_sync(); /* all threads of the cluster: the matrix and the vectors are in shared memory */

    double rr = 0, rho = 0, from = clock_us();
    for (int64_t k = 0;; k++) {
        double first[FIRST_SUMS] = {0, 0, rr, rho}, second[SECOND_SUMS] = {0, 0, 0, 0, 0};
        bool last = k == iterations; /* only the record of the last iteration is missing */
        if (!last) bicg_cluster_first<T>(A, own, first);
        cluster_time(s, S_SPMV_US, from);
        cluster_sums<FIRST_SUMS>(first, of, 0);
        cluster_record record = {0, 0, 0, false};
        if (threadIdx.x == 0) {
            if (k > 0) record = cluster_record_of(s);
            if (k > 0) bicg_cluster_judge<T>(s, of.total);
            if (!last && s[S_DONE] == 0) bicg_alpha<T>(s, of.total[SUM_SHADOW_V], of.total[SUM_VV]);
        }
        __syncthreads(); /* all threads of the block: thread 0 has computed alpha */
        cluster_write(s, record, k == 1);
        cluster_time(s, S_DOTS_US, from);
        if (last || s[S_DONE] != 0) break;
        bicg_cluster_half(A.rows, (T)s[S_ALPHA], own);
        cluster_sync(); /* all threads of the cluster: every block has its new r, and has read its sums */
        cluster_time(s, S_STEP_US, from);
        bicg_cluster_second<T>(A, own, second);
        cluster_time(s, S_SPMV_US, from);
        cluster_sums<SECOND_SUMS>(second, of, 0);
        if (threadIdx.x == 0) bicg_cluster_coefficients<T>(s, of.total);
        __syncthreads(); /* all threads of the block: thread 0 has computed omega and beta */
        cluster_time(s, S_DOTS_US, from);
        if (s[S_DONE] != 0) break;
        rr = rho = 0;
        bicg_cluster_step(A.rows, (T)s[S_ALPHA], (T)s[S_OMEGA], (T)s[S_BETA], own, rr, rho);
        cluster_sync(); /* all threads of the cluster: every block has its new p, and has read its sums */
        cluster_time(s, S_STEP_US, from);
    }
    A.save(own_x, x);
    A.save(own_r, r);
    A.save(own_p, p);
    cluster_save_scalars(s, scalars);
}

/* ---- the launches ---- Their vectors are x, r, p and the shadow residual. */

template <typename T, bool SCALED>
static void launch(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c,
                   int64_t iterations)
{
    struct launch of = {.A = c->A}, *L = &of;
    int64_t n = c->A->of->rows;
    double *s = c->s;
    LAUNCH_CLUSTER(d, (unsigned)plan->blocks, (unsigned)plan->threads, (unsigned)plan->bytes,
                   bicgstab_cluster<T, SCALED>)
    (n, *plan, iterations, SCALARS_OF(s), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T),
     VECTOR("dinv", ROLE_WORK, c->dinv, n, const T), VECTOR("x", ROLE_WORK, c->vec[0], n, T),
     VECTOR("r", ROLE_WORK, c->vec[1], n, T), VECTOR("p", ROLE_WORK, c->vec[2], n, T),
     VECTOR("shadow", ROLE_WORK, c->vec[3], n, const T));
}

template <typename T>
static void bicgstab(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c, int64_t n)
{
    (c->dinv ? launch<T, true> : launch<T, false>)(d, plan, c, n);
}

} // namespace KERNEL_SPACE

CLUSTER_ENTRY(bicgstab) = {REALS(KERNEL_SPACE::bicgstab)};
