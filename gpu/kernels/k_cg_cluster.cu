/* Conjugate gradients for small systems: one launch does many iterations, with the matrix and the vectors in the shared
   memory of one cluster of thread blocks. An iteration has two barriers of the cluster: one after the sums, and one
   after the new p. As in k_cg.cu, the sums predict the next residual (Meurant 1987), so that one reduction per
   iteration suffices. The residual itself is added up together with the next sums. */
#include "cluster.h"

#include "cg.h"

namespace KERNEL_SPACE
{

/* The sums of an iteration; the last one only with a preconditioner. */
enum { SUM_PQ, SUM_RQ, SUM_QQ, SUM_RR, SUM_RHO, CG_SUMS };

/* Thread 0 of each block: judge the residual that the previous step led to. */
template <bool DIAGONAL, typename P> __device__ void cg_cluster_judge(P s, P total)
{
    vec_judge(s, total[SUM_RR], s[S_MAXDIFF]);
    if (!DIAGONAL) return;
    s[S_RHO] = total[SUM_RHO];
    cg_check_rho(s, total[SUM_RHO]);
}

/* Thread 0 of each block: alpha and beta from the sums. */
template <bool DIAGONAL, typename P> __device__ void cg_cluster_coefficients(P s, P total)
{
    cg_keep(s, vec_sums{total[SUM_PQ], total[SUM_RQ], total[SUM_QQ]});
    if (cg_broken(s)) return cg_break(s);
    double rho = s[DIAGONAL ? S_RHO : S_RR], alpha = rho / s[S_PQ];
    double next = rho - 2 * alpha * s[S_RQ] + alpha * alpha * s[S_QQ];
    s[S_ALPHA] = alpha;
    s[S_BETA] = next > 0 ? next / rho : 0;
}

/* The block's parts of the vectors, in shared memory. */
template <typename P> struct cg_vectors {
    P x, r, p, q, dinv;
};

/* q = A p in the rows of the block; the thread adds its share of the sums. */
template <typename T, bool DIAGONAL, typename ROWS, typename P>
__device__ void cg_cluster_products(const ROWS &A, const cg_vectors<P> &own, double (&t)[CG_SUMS])
{
    A.multiply(own.p, [&](int i, T sum) {
        double product = (double)sum, weighted = DIAGONAL ? (double)own.dinv[i] * product : product;
        own.q[i] = sum;
        t[SUM_PQ] += (double)own.p[i] * product;
        t[SUM_RQ] += (double)own.r[i] * weighted;
        t[SUM_QQ] += product * weighted;
    });
}

/* The new x, r and p in the rows of the block; the thread adds its share of r'r and, with a preconditioner, of r'z. */
template <typename T, bool DIAGONAL, typename P>
__device__ void cg_cluster_step(int rows, T alpha, T beta, const cg_vectors<P> &own, double &rr, double &rho)
{
    for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) {
        T direction = own.p[i], residual = own.r[i] - alpha * own.q[i], z = residual;
        if (DIAGONAL) z = own.dinv[i] * residual;
        own.x[i] = own.x[i] + alpha * direction;
        own.r[i] = residual;
        own.p[i] = z + beta * direction;
        rr += (double)residual * (double)residual;
        if (DIAGONAL) rho += (double)residual * (double)z;
    }
}

template <typename T, bool DIAGONAL>
__global__ void __launch_bounds__(CLUSTER_THREADS, 1)
    cg_cluster(int64_t n, struct cluster_plan plan, int64_t iterations, GPTR(double) scalars, GPTR(const int) ptr,
               GPTR(const int) cols, GPTR(const T) vals, GPTR(const T) dinv, GPTR(T) x, GPTR(T) r, GPTR(T) p)
{
    if (scalars[S_DONE] != 0) return;
    int share = plan.rows, bytes = share * (int)sizeof(T);
    SHARED_GIVEN_AT(T, own_x, 0, share);
    SHARED_GIVEN_AT(T, own_r, bytes, share);
    SHARED_GIVEN_AT(T, own_p, 2 * bytes, share);
    SHARED_GIVEN_AT(T, q, 3 * bytes, share);
    SHARED_GIVEN_AT(T, own_dinv, 4 * bytes, DIAGONAL ? share : 0);
    auto A = cluster_rows_of<T>(n, plan, (4 + DIAGONAL) * bytes);
    auto of = cluster_scalars_of<CG_SUMS>(scalars);
    auto s = of.s;
    cg_vectors<decltype(own_x)> own = {own_x, own_r, own_p, q, own_dinv};
    A.template load<false>(ptr, cols, vals, dinv);
    A.take(x, own_x);
    A.take(r, own_r);
    A.take(p, own_p);
    if (DIAGONAL) A.take(dinv, own_dinv);
    cluster_sync(); /* all threads of the cluster: the matrix and the vectors are in shared memory */

    double rr = 0, rho = 0, from = clock_us();
    for (int64_t k = 0;; k++) {
        double t[CG_SUMS] = {0, 0, 0, rr, rho};
        bool last = k == iterations; /* only the record of the last step is missing */
        if (!last) cg_cluster_products<T, DIAGONAL>(A, own, t);
        cluster_time(s, S_SPMV_US, from);
        cluster_sums<DIAGONAL ? +CG_SUMS : +SUM_RHO>(t, of, 0);
        cluster_record record = {0, 0, 0, false};
        if (threadIdx.x == 0) {
            if (k > 0) record = cluster_record_of(s);
            if (k > 0) cg_cluster_judge<DIAGONAL>(s, of.total);
            if (!last && s[S_DONE] == 0) cg_cluster_coefficients<DIAGONAL>(s, of.total);
        }
        __syncthreads(); /* all threads of the block: thread 0 has computed the scalars */
        cluster_write(s, record, k == 1);
        cluster_time(s, S_DOTS_US, from);
        if (last || s[S_DONE] != 0) break;
        rr = rho = 0;
        cg_cluster_step<T, DIAGONAL>(A.rows, (T)s[S_ALPHA], (T)s[S_BETA], own, rr, rho);
        cluster_sync(); /* all threads of the cluster: every block has its new p, and has read its sums */
        cluster_time(s, S_STEP_US, from);
    }
    A.save(own_x, x);
    A.save(own_r, r);
    A.save(own_p, p);
    cluster_save_scalars(s, scalars);
}

/* ---- the launches ---- Their vectors are x, r and p. */

template <typename T, bool DIAGONAL>
static void launch(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c,
                   int64_t iterations)
{
    struct launch of = {.A = c->A}, *L = &of;
    int64_t n = c->A->of->rows;
    double *s = c->s;
    LAUNCH_CLUSTER(d, (unsigned)plan->blocks, (unsigned)plan->threads, (unsigned)plan->bytes, cg_cluster<T, DIAGONAL>)
    (n, *plan, iterations, SCALARS_OF(s), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T),
     VECTOR("dinv", ROLE_WORK, c->dinv, n, const T), VECTOR("x", ROLE_WORK, c->vec[0], n, T),
     VECTOR("r", ROLE_WORK, c->vec[1], n, T), VECTOR("p", ROLE_WORK, c->vec[2], n, T));
}

template <typename T>
static void cg(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c, int64_t n)
{
    (c->dinv ? launch<T, true> : launch<T, false>)(d, plan, c, n);
}

} // namespace KERNEL_SPACE

CLUSTER_ENTRY(cg) = {REALS(KERNEL_SPACE::cg)};
