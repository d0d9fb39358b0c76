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

/* The record of a step, which thread 0 of block 0 writes while the other threads do the next step. */
struct cg_record {
    double k, alpha, beta;
    bool due;
};

/* Thread 0 of each block: judge the residual that the previous step led to. */
template <bool DIAGONAL, typename P> __device__ void cg_cluster_judge(P s, P total, cg_record &record)
{
    record = {s[S_ITER], s[S_ALPHA], s[S_BETA], blockIdx.x == 0 && s[S_LIVE] != 0};
    vec_judge(s, total[SUM_RR], s[S_MAXDIFF]);
    if (!DIAGONAL) return;
    s[S_RHO] = total[SUM_RHO];
    cg_check_rho(s, total[SUM_RHO]);
}

/* `first`: the first record of this launch, so that earlier launches have written all records before it. */
template <typename P> __device__ void cg_cluster_write(P s, const cg_record &record, bool first)
{
    auto live = vec_live(s);
    vec_slot(live, record.k, s[S_RR], record.alpha, record.beta);
    if (first) live[LIVE_KNOWN] = record.k;
    if (s[S_DONE] != 0) live[LIVE_DONE] = s[S_DONE];
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
    int groups = (int)blockDim.x / A.lanes, group = (int)threadIdx.x / A.lanes;
    for (int base = 0; base < A.rows; base += groups) {
        int i = base + group;
        T sum = A.product(i, own.p);
        if (i >= A.rows || (int)threadIdx.x % A.lanes > 0) continue;
        double product = (double)sum, weighted = DIAGONAL ? (double)own.dinv[i] * product : product;
        own.q[i] = sum;
        t[SUM_PQ] += (double)own.p[i] * product;
        t[SUM_RQ] += (double)own.r[i] * weighted;
        t[SUM_QQ] += product * weighted;
    }
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
    int share = plan.rows, at_val = (4 + DIAGONAL) * share, at_int = (at_val + plan.entries) * (int)sizeof(T);
    SHARED_GIVEN_AT(T, own_x, 0, share);
    SHARED_GIVEN_AT(T, own_r, share * (int)sizeof(T), share);
    SHARED_GIVEN_AT(T, own_p, 2 * share * (int)sizeof(T), share);
    SHARED_GIVEN_AT(T, q, 3 * share * (int)sizeof(T), share);
    SHARED_GIVEN_AT(T, own_dinv, 4 * share * (int)sizeof(T), DIAGONAL ? share : 0);
    SHARED_GIVEN_AT(T, val, at_val * (int)sizeof(T), plan.entries);
    SHARED_GIVEN_AT(int, col, at_int, plan.entries);
    SHARED_GIVEN_AT(int, begin, at_int + plan.entries * (int)sizeof(int), share + 1);
    SHARED(double, s, SCALARS);
    SHARED(double, part, (int)CG_SUMS *(int)CLUSTER_WARPS);
    SHARED(double, slot, (int)CG_SUMS *(int)CLUSTER_BLOCKS);
    SHARED(double, total, CG_SUMS);
    int64_t first = min((int64_t)blockIdx.x * share, n);
    int rows = (int)min((int64_t)share, n - first);
    cluster_rows<T, decltype(val), decltype(col)> A = {rows, plan.lanes, val, col, begin};
    cg_vectors<decltype(own_x)> own = {own_x, own_r, own_p, q, own_dinv};
    for (int i = (int)threadIdx.x; i < SCALARS; i += (int)blockDim.x) s[i] = scalars[i];
    A.load(first, share, ptr, cols, vals);
    cluster_load(rows, first, x, own_x);
    cluster_load(rows, first, r, own_r);
    cluster_load(rows, first, p, own_p);
    if (DIAGONAL) cluster_load(rows, first, dinv, own_dinv);
    cluster_sync(); /* all threads of the cluster: the matrix and the vectors are in shared memory */

    double rr = 0, rho = 0, from = clock_us();
    for (int64_t k = 0;; k++) {
        double t[CG_SUMS] = {0, 0, 0, rr, rho};
        bool last = k == iterations; /* only the record of the last step is missing */
        if (!last) cg_cluster_products<T, DIAGONAL>(A, own, t);
        cluster_time(s, S_SPMV_US, from);
        cluster_sums<DIAGONAL ? +CG_SUMS : +SUM_RHO>(t, part, slot, total);
        cg_record record = {0, 0, 0, false};
        if (threadIdx.x == 0) {
            if (k > 0) cg_cluster_judge<DIAGONAL>(s, total, record);
            if (!last && s[S_DONE] == 0) cg_cluster_coefficients<DIAGONAL>(s, total);
        }
        __syncthreads(); /* all threads of the block: thread 0 has computed the scalars */
        if (record.due) cg_cluster_write(s, record, k == 1);
        cluster_time(s, S_DOTS_US, from);
        if (last || s[S_DONE] != 0) break;
        rr = rho = 0;
        cg_cluster_step<T, DIAGONAL>(rows, (T)s[S_ALPHA], (T)s[S_BETA], own, rr, rho);
        cluster_sync(); /* all threads of the cluster: every block has its new p, and has read its sums */
        cluster_time(s, S_STEP_US, from);
    }
    cluster_save(rows, first, own_x, x);
    cluster_save(rows, first, own_r, r);
    cluster_save(rows, first, own_p, p);
    for (int i = (int)threadIdx.x; blockIdx.x == 0 && i < SCALARS; i += (int)blockDim.x) scalars[i] = s[i];
}

/* ---- the launches ---- */

template <typename T, bool DIAGONAL>
static void launch(struct device *d, const struct cluster_plan *plan, const struct cluster_cg *c, int64_t iterations)
{
    struct launch of = {.A = c->A}, *L = &of;
    int64_t n = c->A->of->rows;
    double *s = c->s;
    LAUNCH_CLUSTER(d, (unsigned)plan->blocks, (unsigned)plan->threads, (unsigned)plan->bytes, cg_cluster<T, DIAGONAL>)
    (n, *plan, iterations, SCALARS_OF(s), ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T),
     VECTOR("dinv", ROLE_WORK, c->dinv, n, const T), VECTOR("x", ROLE_WORK, c->x, n, T),
     VECTOR("r", ROLE_WORK, c->r, n, T), VECTOR("p", ROLE_WORK, c->p, n, T));
}

template <typename T>
static void cg(struct device *d, const struct cluster_plan *plan, const struct cluster_cg *c, int64_t n)
{
    (c->dinv ? launch<T, true> : launch<T, false>)(d, plan, c, n);
}

#ifdef __CUDACC__
/* Can the GPU run a cluster of this many blocks with all their shared memory? */
static bool runs(int blocks)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    int clusters = 0;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {(unsigned)blocks, 1, 1};
    config.gridDim = (unsigned)blocks;
    config.blockDim = CLUSTER_THREADS;
    config.dynamicSmemBytes = SHARED_GIVEN_MOST;
    config.attrs = &attribute;
    config.numAttrs = 1;
    auto *kernel = cg_cluster<double, true>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_GIVEN_MOST);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    bool known = cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess;
    cudaGetLastError();
    return known && clusters > 0;
}

static int blocks(struct device *)
{
    int most = cluster_blocks() > 1 ? cluster_blocks() : 0;
    while (most > 0 && !runs(most)) most /= 2;
    return most;
}
enum { THREADS = CLUSTER_THREADS };
#else
static int blocks(struct device *)
{
    return cluster_blocks();
}
enum { THREADS = 256 };
#endif

} // namespace KERNEL_SPACE

#define CLUSTER_ENTRY(id, T)                                         \
    extern "C" const struct cluster_ops id;                          \
    const struct cluster_ops id = {.blocks = KERNEL_SPACE::blocks,   \
                                   .threads = KERNEL_SPACE::THREADS, \
                                   .bytes = SHARED_GIVEN_MOST,       \
                                   .cg = KERNEL_SPACE::cg<T>}

CLUSTER_ENTRY(VEC_SYMBOL(cluster_f32), float);
CLUSTER_ENTRY(VEC_SYMBOL(cluster_f64), double);
