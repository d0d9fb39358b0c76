/* The passes of multigrid: the steps of Chebyshev's method, with and without the product with the matrix of a level.
   Every vector is read once; neighbouring threads access neighbouring elements. */
#include "csr_rows.h"
#include "stream.h"

#include "machine/amg_ops.h"
#include "machine/amg_setup_ops.h"

namespace KERNEL_SPACE
{

/* FROM, TO: on_gpu<double> or on_host<double> where a vector of the solve has another type than the cycle. */
template <typename AT, typename FROM = AT> struct pass_amg_begin {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename FROM::in b;
    typename AT::in dinv;
    typename AT::out r, z, x;
    T scale, c;
    bool copies;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T residual = scale * (T)b[i], change = c * dinv[i] * residual;
        if (copies) r[i] = residual;
        z[i] = change;
        x[i] = change;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_amg_smooth {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in r, dinv;
    typename AT::out z, x;
    T a, c;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T change = a * z[i] + c * dinv[i] * r[i];
        z[i] = change;
        x[i] += change;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_amg_correct {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in r, dinv;
    typename AT::out z, x;
    T c;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T change = c * dinv[i] * r[i];
        x[i] += z[i] + change;
        z[i] = change;
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_amg_scale {
    enum { SUMS = 0 };
    typename AT::in x;
    typename AT::out y;
    typename AT::real factor;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        y[i] = factor * x[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- a step with its product ---- */

/* The step of row i, given q = (A z)_i. */
template <typename AT, typename TO> struct amg_step {
    typedef typename AT::real T;
    typename AT::in z, dinv;
    typename AT::out r, x, next;
    typename TO::out result;
    T a, c;
    bool corrects, goes_on, returns;

    __device__ void row(int64_t i, T q) const
    {
        T residual = r[i] - q, before = z[i], change = c * dinv[i] * residual;
        if (!corrects) change += a * before;
        T value = x[i] + (corrects ? before + change : change);
        if (goes_on) {
            r[i] = residual;
            next[i] = change;
        }
        if (returns)
            result[i] = value;
        else
            x[i] = value;
    }
};

/* y = alpha A x + beta y, given q = (A x)_i. */
template <typename AT> struct amg_product {
    typedef typename AT::real T;
    typename AT::out y;
    T alpha, beta;

    __device__ void row(int64_t i, T q) const { y[i] = beta == 0 ? alpha * q : alpha * q + beta * y[i]; }
};

/* The column to which columns of type C are relative. */
template <typename C> __device__ int amg_base_of(int64_t row, double slope)
{
    return sizeof(C) == sizeof(int) ? 0 : amg_base(row, slope);
}

/* One row per thread; the products are read coalesced (stream.h). */
template <typename T, typename C, typename STEP>
__global__ void amg_stream(int64_t rows, double slope, GPTR(const double) s, GPTR(const int) ptr, GPTR(const C) col,
                           GPTR(const T) val, GPTR(const T) x, STEP step)
{
    if (s[S_DONE] != 0) return;
    int64_t first = (int64_t)blockIdx.x * VEC_BLOCK, row = first + threadIdx.x;
    T q = stream_row<T, stream_plain>(first, rows, ptr, col, val, x, amg_base_of<C>(first, slope));
    if (row < rows) step.row(row, q);
}

/* V lanes per row. The loads of a lane are unrolled, so that several are in flight. */
template <typename T, typename C, int V, typename STEP>
__global__ void amg_vector(int64_t rows, double slope, GPTR(const double) s, GPTR(const int) ptr, GPTR(const C) col,
                           GPTR(const T) val, GPTR(const T) x, STEP step)
{
    if (s[S_DONE] != 0) return;
    int64_t row = ((int64_t)blockIdx.x * VEC_BLOCK + threadIdx.x) / V;
    int lane = (int)(threadIdx.x % V);
    if (row >= rows) return; /* all lanes of the vector */
    int end = ptr[row + 1], base = amg_base_of<C>(row, slope);
    T q = 0;
    UNROLL(4)
    for (int k = ptr[row] + lane; k < end; k += V) {
        q += val[k] * x[base + (int)col[k]];
        reconverge();
    }
    q = vector_joined<V>(q);
    if (lane == 0) step.row(row, q);
}

template <typename T, typename C, int V, typename STEP> static auto kernel_of_rows()
{
    if constexpr (V == 1)
        return KERNEL(amg_stream<T, C, STEP>);
    else
        return KERNEL(amg_vector<T, C, V, STEP>);
}

/* V: lanes per row; 1: amg_stream */
template <typename T, typename C, int V, typename STEP>
static void launch_rows(struct device *d, const struct amg_csr *A, double *s, const void *columns, const void *x,
                        STEP step)
{
    double slope = A->rows ? (double)A->cols / (double)A->rows : 0;
    auto go = kernel_of_rows<T, C, V, STEP>();
    LAUNCH(d, blocks_for(A->rows * V, VEC_BLOCK), VEC_BLOCK, go)
    (A->rows, slope, VECTOR("s", ROLE_WORK, s, VEC_WORK, const double),
     VECTOR("ptr", ROLE_WORK, A->ptr, A->rows + 1, const int),
     VECTOR("col", ROLE_WORK, (void *)columns, A->nnz, const C), VECTOR("val", ROLE_WORK, A->val, A->nnz, const T),
     VECTOR("x", ROLE_WORK, (void *)x, A->cols, const T), step);
}

/* The lanes of a row depend on the mean length of the rows. */
template <typename T, typename C, typename STEP>
static void launch_with(struct device *d, const struct amg_csr *A, double *s, const void *columns, const void *x,
                        STEP step)
{
    int64_t mean = A->rows ? A->nnz / A->rows : 0;
    if (mean > 40)
        launch_rows<T, C, WARP>(d, A, s, columns, x, step);
    else if (mean > 16)
        launch_rows<T, C, 16>(d, A, s, columns, x, step);
    else
        launch_rows<T, C, 1>(d, A, s, columns, x, step);
}

template <typename T, typename STEP>
static void each_row(on_gpu<T>, struct device *d, const struct amg_csr *A, double *s, const void *x, STEP step)
{
    if (A->near)
        launch_with<T, unsigned short>(d, A, s, A->near, x, step);
    else
        launch_with<T, int>(d, A, s, A->col, x, step);
}

#ifndef __CUDACC__
template <typename T, typename STEP> struct pass_amg_row {
    enum { SUMS = 0 };
    const int *ptr, *col;
    const T *val, *x;
    STEP step;

    void begin(double *) {}
    vec_sums at(int64_t i) const
    {
        T q = 0;
        for (int k = ptr[i]; k < ptr[i + 1]; k++) q += val[k] * x[col[k]];
        step.row(i, q);
        return {0, 0, 0};
    }
    void end(double *, vec_sums) const {}
};

template <typename T, typename STEP>
static void each_row(on_host<T>, struct device *d, const struct amg_csr *A, double *s, const void *x, STEP step)
{
    on_host<T>::run(d, A->rows, s, pass_amg_row<T, STEP>{A->ptr, A->col, (const T *)A->val, (const T *)x, step});
}
#endif

/* ---- conjugate gradients for a bound ---- */

template <typename AT> struct pass_krylov_start {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in dinv, r;
    typename AT::out p;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T residual = r[i], z = dinv[i] * residual;
        p[i] = z;
        return {(double)residual * (double)z, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_RHO] = t.a; }
};

template <typename AT> struct pass_krylov_alpha {
    enum { SUMS = 1 };
    typename AT::in p, q;
    int k;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const { return {(double)p[i] * (double)q[i], 0, 0}; }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[AMG_ALPHAS + k] = s[S_RHO] / t.a; }
};

template <typename AT> struct pass_krylov_beta {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in q, dinv;
    typename AT::out r;
    int k;
    T alpha;

    __device__ void begin(typename AT::scalars s) { alpha = (T)s[AMG_ALPHAS + k]; }
    __device__ vec_sums at(int64_t i) const
    {
        T residual = r[i] - alpha * q[i], z = dinv[i] * residual;
        r[i] = residual;
        return {(double)residual * (double)z, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[AMG_BETAS + k] = t.a / s[S_RHO];
        s[S_RHO] = t.a;
    }
};

template <typename AT> struct pass_krylov_turn {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in dinv, r;
    typename AT::out p;
    int k;
    T beta;

    __device__ void begin(typename AT::scalars s) { beta = (T)s[AMG_BETAS + k]; }
    __device__ vec_sums at(int64_t i) const
    {
        p[i] = dinv[i] * r[i] + beta * p[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- the launches ---- */

template <typename AT, typename FROM>
static void begin(struct device *d, int64_t n, double *s, double scale, double c, const void *b, const void *dinv,
                  void *r, void *z, void *x)
{
    typedef typename AT::real T;
    bool copies = r != nullptr;
    void *to = copies ? r : x;
    AT::run(d, n, s,
            pass_amg_begin<AT, FROM>{FROM::from("b", b, n), PASS_IN(dinv), AT::to("r", to, n), PASS_OUT(z), PASS_OUT(x),
                                     (T)scale, (T)c, copies});
}

template <typename AT>
static void smooth(struct device *d, int64_t n, double *s, double a, double c, const void *r, const void *dinv, void *z,
                   void *x)
{
    typedef typename AT::real T;
    AT::run(d, n, s, pass_amg_smooth<AT>{PASS_IN(r), PASS_IN(dinv), PASS_OUT(z), PASS_OUT(x), (T)a, (T)c});
}

template <typename AT>
static void correct(struct device *d, int64_t n, double *s, double c, const void *r, const void *dinv, void *z, void *x)
{
    typedef typename AT::real T;
    AT::run(d, n, s, pass_amg_correct<AT>{PASS_IN(r), PASS_IN(dinv), PASS_OUT(z), PASS_OUT(x), (T)c});
}

template <typename AT, typename TO>
static void relax(struct device *d, const struct amg_csr *A, double *s, const struct amg_relaxed *v)
{
    typedef typename AT::real T;
    int64_t n = A->rows;
    void *next = v->next ? v->next : v->r, *result = v->result ? v->result : v->x;
    amg_step<AT, TO> step = {AT::from("z", v->z, n),
                             AT::from("dinv", v->dinv, n),
                             AT::to("r", v->r, n),
                             AT::to("x", v->x, n),
                             AT::to("next", next, n),
                             TO::to("result", result, v->result ? n : 0),
                             (T)v->a,
                             (T)v->c,
                             v->corrects,
                             v->next != nullptr,
                             v->result != nullptr};
    each_row(AT{}, d, A, s, v->z, step);
}

template <typename AT>
static void multiply(struct device *d, const struct amg_csr *A, double *s, double alpha, const void *x, double beta,
                     void *y)
{
    typedef typename AT::real T;
    each_row(AT{}, d, A, s, x, amg_product<AT>{AT::to("y", y, A->rows), (T)alpha, (T)beta});
}

template <typename AT>
static void krylov_start(struct device *d, int64_t n, double *s, const void *dinv, const void *r, void *p)
{
    AT::run(d, n, s, pass_krylov_start<AT>{PASS_IN(dinv), PASS_IN(r), PASS_OUT(p)});
}

template <typename AT>
static void krylov_alpha(struct device *d, int64_t n, double *s, int k, const void *p, const void *q)
{
    AT::run(d, n, s, pass_krylov_alpha<AT>{PASS_IN(p), PASS_IN(q), k});
}

template <typename AT>
static void krylov_beta(struct device *d, int64_t n, double *s, int k, const void *q, const void *dinv, void *r)
{
    AT::run(d, n, s, pass_krylov_beta<AT>{PASS_IN(q), PASS_IN(dinv), PASS_OUT(r), k, 0});
}

template <typename AT>
static void krylov_turn(struct device *d, int64_t n, double *s, int k, const void *dinv, const void *r, void *p)
{
    AT::run(d, n, s, pass_krylov_turn<AT>{PASS_IN(dinv), PASS_IN(r), PASS_OUT(p), k, 0});
}

template <typename AT> static void scale(struct device *d, int64_t n, double *s, double factor, const void *x, void *y)
{
    AT::run(d, n, s, pass_amg_scale<AT>{PASS_IN(x), PASS_OUT(y), (typename AT::real)factor});
}

} // namespace KERNEL_SPACE

#define AMG_ENTRY(id, AT, WIDE)                                                                         \
    extern "C" const struct amg_ops id;                                                                 \
    const struct amg_ops id = {.begin = KERNEL_SPACE::begin<KERNEL_SPACE::AT, KERNEL_SPACE::AT>,        \
                               .begin_wide = KERNEL_SPACE::begin<KERNEL_SPACE::AT, KERNEL_SPACE::WIDE>, \
                               .smooth = KERNEL_SPACE::smooth<KERNEL_SPACE::AT>,                        \
                               .correct = KERNEL_SPACE::correct<KERNEL_SPACE::AT>,                      \
                               .relax = KERNEL_SPACE::relax<KERNEL_SPACE::AT, KERNEL_SPACE::AT>,        \
                               .relax_wide = KERNEL_SPACE::relax<KERNEL_SPACE::AT, KERNEL_SPACE::WIDE>, \
                               .multiply = KERNEL_SPACE::multiply<KERNEL_SPACE::AT>,                    \
                               .krylov_start = KERNEL_SPACE::krylov_start<KERNEL_SPACE::AT>,            \
                               .krylov_alpha = KERNEL_SPACE::krylov_alpha<KERNEL_SPACE::AT>,            \
                               .krylov_beta = KERNEL_SPACE::krylov_beta<KERNEL_SPACE::AT>,              \
                               .krylov_turn = KERNEL_SPACE::krylov_turn<KERNEL_SPACE::AT>,              \
                               .scale = KERNEL_SPACE::scale<KERNEL_SPACE::AT>}

AMG_ENTRY(VEC_SYMBOL(amg_f32), on_gpu<float>, on_gpu<double>);
AMG_ENTRY(VEC_SYMBOL(amg_f64), on_gpu<double>, on_gpu<double>);
#ifndef __CUDACC__
AMG_ENTRY(cpu_vec_amg_f32, on_host<float>, on_host<double>);
AMG_ENTRY(cpu_vec_amg_f64, on_host<double>, on_host<double>);
#endif
