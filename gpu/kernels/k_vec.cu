/* Vector operations of the solvers: sums in a fixed order, fused updates, and the record of each iteration.
   Neighbouring threads access neighbouring elements, with a grid stride. Each block writes its part of a sum; the
   last block to arrive adds the parts in the order of the blocks. */
#include "columns.h"

namespace KERNEL_SPACE
{

template <typename T> __global__ void vec_copy(int64_t n, GPTR(const T) x, GPTR(T) y)
{
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) y[i] = x[i];
}

template <typename T> __global__ void vec_zero(int64_t n, GPTR(T) x)
{
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) x[i] = 0;
}

template <typename T>
__global__ void vec_axpy(int64_t n, GPTR(const double) s, int a, T sign, GPTR(const T) x, GPTR(T) y)
{
    if (s[S_DONE] != 0) return;
    T scale = sign * (T)s[a];
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) y[i] += scale * x[i];
}

template <typename T> __global__ void vec_xpby(int64_t n, GPTR(const double) s, GPTR(const T) x, int b, GPTR(T) y)
{
    if (s[S_DONE] != 0) return;
    T scale = (T)s[b];
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) y[i] = x[i] + scale * y[i];
}

template <typename T>
__global__ void vec_mul(int64_t n, GPTR(const double) s, GPTR(const T) a, GPTR(const T) x, GPTR(T) y)
{
    if (s[S_DONE] != 0) return;
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) y[i] = a[i] * x[i];
}

/* x in fp64 plus a correction in fp32 */
__global__ void vec_widen(int64_t n, GPTR(const double) x, GPTR(const float) d, GPTR(double) next)
{
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) next[i] = x[i] + d[i];
}

/* The difference of two vectors in fp64, rounded to fp32 */
__global__ void vec_narrow(int64_t n, GPTR(const double) b, GPTR(const double) q, GPTR(float) r)
{
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) r[i] = (float)(b[i] - q[i]);
}

__global__ void vec_div(GPTR(double) s, int to, int a, int b)
{
    if (s[S_DONE] == 0) s[to] = s[a] / s[b];
}

__global__ void vec_record(GPTR(double) s)
{
    if (s[S_DONE] == 0) vec_note(s, s[S_RR], s[S_MAXDIFF]);
}

template <typename AT> struct pass_dot {
    enum { SUMS = 1 };
    typename AT::in x, y;
    int to;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const { return {(double)x[i] * (double)y[i], 0, 0}; }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[to] = t.a; }
};

template <typename AT> struct pass_jacobi {
    enum { SUMS = 3, MAX = 1 };
    typename AT::in b, q, dinv, x;
    typename AT::out next;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real r = b[i] - q[i], change = dinv[i] * r;
        next[i] = x[i] + change;
        return {vec_square(r), 0, vec_abs(change)};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { vec_note_step(s, t.a, t.c); }
};

template <typename AT> struct pass_affine {
    enum { SUMS = 3, MAX = 1 };
    typename AT::in q, f, diagonal, x;
    typename AT::out next;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real to = q[i] + f[i], change = to - x[i], r = diagonal[i] * change;
        next[i] = to;
        return {vec_square(r), 0, vec_abs(change)};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { vec_note_step(s, t.a, t.c); }
};

template <typename AT> struct pass_probe {
    enum { SUMS = 1 };
    typename AT::in b, q;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        double r = (double)b[i] - (double)q[i];
        return {r * r, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[S_TRUE] = t.a;
        if (s[S_LIVE] == 0) return;
        auto live = vec_live(s);
        live[LIVE_TRUE] = t.a;
        live[LIVE_TRUE_AT] = s[S_ITER] - 1;
    }
};

/* ---- passes of several columns at a time, in place of the kernels above ---- */

template <typename AT> struct pass_axpy {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in x;
    typename AT::out y;
    int a;
    T sign, scale;

    __device__ void begin(typename AT::scalars s) { scale = sign * (T)s[a]; }
    __device__ vec_sums at(int64_t i) const
    {
        y[i] += scale * x[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_xpby {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in x;
    typename AT::out y;
    int b;
    T scale;

    __device__ void begin(typename AT::scalars s) { scale = (T)s[b]; }
    __device__ vec_sums at(int64_t i) const
    {
        y[i] = x[i] + scale * y[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

template <typename AT> struct pass_mul {
    enum { SUMS = 0 };
    typename AT::in a, x;
    typename AT::out y;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        y[i] = a[i] * x[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* Passes without elements, of which each column has the end. */
template <typename AT> struct pass_div {
    enum { SUMS = 1 };
    int to, a, b;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t) const { return {0, 0, 0}; }
    __device__ void end(typename AT::scalars s, vec_sums) const { s[to] = s[a] / s[b]; }
};

template <typename AT> struct pass_record {
    enum { SUMS = 1 };

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t) const { return {0, 0, 0}; }
    __device__ void end(typename AT::scalars s, vec_sums) const { vec_note(s, s[S_RR], s[S_MAXDIFF]); }
};

/* ---- the launches ---- */

/* The elements of a vector that consists of this number of real numbers. */
template <typename T> constexpr int vec_numbers = 1;
template <typename R> constexpr int vec_numbers<cplx<R>> = 2;
template <typename T> static int64_t vec_elements(int64_t numbers)
{
    return numbers / vec_numbers<T>;
}

#define IN(x) VECTOR(#x, ROLE_WORK, x, n, const T)
#define OUT(y) VECTOR(#y, ROLE_WORK, y, n, T)

template <typename T> static void copy(struct device *d, int64_t n, const void *x, void *y)
{
    LAUNCH(d, vec_grid(d, n), VEC_BLOCK, vec_copy<T>)(n, IN(x), OUT(y));
}

template <typename T> static void zero(struct device *d, int64_t n, void *x)
{
    LAUNCH(d, vec_grid(d, n), VEC_BLOCK, vec_zero<T>)(n, OUT(x));
}

template <typename T>
static void axpy(struct device *d, int64_t n, double *s, int a, double sign, const void *x, void *y)
{
    LAUNCH(d, vec_grid(d, n), VEC_BLOCK, vec_axpy<T>)(n, SCALARS_OF(s), a, (T)sign, IN(x), OUT(y));
}

static void widen(struct device *d, int64_t n, const double *x, const float *correction, double *next)
{
    LAUNCH(d, vec_grid(d, n), VEC_BLOCK, vec_widen)
    (n, VECTOR("x", ROLE_WORK, x, n, const double), VECTOR("d", ROLE_WORK, correction, n, const float),
     VECTOR("next", ROLE_WORK, next, n, double));
}

static void narrow(struct device *d, int64_t n, const double *b, const double *q, float *r)
{
    LAUNCH(d, vec_grid(d, n), VEC_BLOCK, vec_narrow)
    (n, VECTOR("b", ROLE_WORK, b, n, const double), VECTOR("q", ROLE_WORK, q, n, const double),
     VECTOR("r", ROLE_WORK, r, n, float));
}

template <typename T> static void xpby(struct device *d, int64_t n, double *s, const void *x, int b, void *y)
{
    LAUNCH(d, vec_grid(d, n), VEC_BLOCK, vec_xpby<T>)(n, SCALARS_OF(s), IN(x), b, OUT(y));
}

template <typename T>
static void mul(struct device *d, int64_t numbers, double *s, const void *a, const void *x, void *y)
{
    int64_t n = vec_elements<T>(numbers);
    LAUNCH(d, vec_grid(d, n), VEC_BLOCK, vec_mul<T>)(n, SCALARS_OF(s), IN(a), IN(x), OUT(y));
}

template <typename AT> static void dot(struct device *d, int64_t n, double *s, const void *x, const void *y, int to)
{
    AT::run(d, n, s, pass_dot<AT>{PASS_IN(x), PASS_IN(y), to});
}

static void divide(struct device *d, double *s, int to, int a, int b)
{
    LAUNCH(d, 1, 1, vec_div)(SCALARS_OF(s), to, a, b);
}

static void record(struct device *d, double *s)
{
    LAUNCH(d, 1, 1, vec_record)(SCALARS_OF(s));
}

template <typename AT>
static void jacobi(struct device *d, int64_t numbers, double *s, const void *b, const void *q, const void *dinv,
                   const void *x, void *next)
{
    int64_t n = vec_elements<typename AT::real>(numbers);
    AT::run(d, n, s, pass_jacobi<AT>{PASS_IN(b), PASS_IN(q), PASS_IN(dinv), PASS_IN(x), PASS_OUT(next)});
}

template <typename AT>
static void affine(struct device *d, int64_t numbers, double *s, const void *q, const void *f, const void *diagonal,
                   const void *x, void *next)
{
    int64_t n = vec_elements<typename AT::real>(numbers);
    AT::run(d, n, s, pass_affine<AT>{PASS_IN(q), PASS_IN(f), PASS_IN(diagonal), PASS_IN(x), PASS_OUT(next)});
}

template <typename AT> static void probe(struct device *d, int64_t n, double *s, const void *b, const void *q)
{
    AT::run(d, n, s, pass_probe<AT>{PASS_IN(b), PASS_IN(q)});
}

/* ---- several columns at a time ---- */

namespace columns
{

template <typename AT>
static void axpy(struct device *d, int64_t n, double *s, int a, double sign, const void *x, void *y)
{
    AT::run(d, n, s, pass_axpy<AT>{PASS_IN(x), PASS_OUT(y), a, (typename AT::real)sign, 0});
}

template <typename AT> static void xpby(struct device *d, int64_t n, double *s, const void *x, int b, void *y)
{
    AT::run(d, n, s, pass_xpby<AT>{PASS_IN(x), PASS_OUT(y), b, 0});
}

template <typename AT> static void mul(struct device *d, int64_t n, double *s, const void *a, const void *x, void *y)
{
    AT::run(d, n, s, pass_mul<AT>{PASS_IN(a), PASS_IN(x), PASS_OUT(y)});
}

template <typename AT> static void divide(struct device *d, double *s, int to, int a, int b)
{
    AT::run(d, 0, s, pass_div<AT>{to, a, b});
}

template <typename AT> static void record(struct device *d, double *s)
{
    AT::run(d, 0, s, pass_record<AT>{});
}

} // namespace columns

/* ---- the same operations on the host ---- */

#ifndef __CUDACC__
namespace host
{

template <typename T> static void copy(struct device *, int64_t n, const void *x, void *y)
{
    memcpy(y, x, (size_t)n * sizeof(T));
}

template <typename T> static void zero(struct device *, int64_t n, void *x)
{
    int k = stretches(n);
    checks check(n);
#pragma omp parallel for if (n > ALONE)
    for (int j = 0; j < k; j++)
        if (check.goes(j)) memset((T *)x + start(n, j), 0, (size_t)(start(n, j + 1) - start(n, j)) * sizeof(T));
}

template <typename T>
static void axpy(struct device *, int64_t n, double *s, int a, double sign, const void *x, void *y)
{
    if (s[S_DONE] != 0) return;
    const T *from = (const T *)x, scale = (T)sign * (T)s[a];
    T *to = (T *)y;
#pragma omp parallel for simd if (n > ALONE)
    for (int64_t i = 0; i < n; i++) to[i] += scale * from[i];
}

static void widen(struct device *, int64_t n, const double *x, const float *correction, double *next)
{
#pragma omp parallel for simd if (n > ALONE)
    for (int64_t i = 0; i < n; i++) next[i] = x[i] + correction[i];
}

static void narrow(struct device *, int64_t n, const double *b, const double *q, float *r)
{
#pragma omp parallel for simd if (n > ALONE)
    for (int64_t i = 0; i < n; i++) r[i] = (float)(b[i] - q[i]);
}

template <typename T> static void xpby(struct device *, int64_t n, double *s, const void *x, int b, void *y)
{
    if (s[S_DONE] != 0) return;
    const T *from = (const T *)x, scale = (T)s[b];
    T *to = (T *)y;
#pragma omp parallel for simd if (n > ALONE)
    for (int64_t i = 0; i < n; i++) to[i] = from[i] + scale * to[i];
}

template <typename T>
static void mul(struct device *, int64_t numbers, double *s, const void *a, const void *x, void *y)
{
    if (s[S_DONE] != 0) return;
    int64_t n = vec_elements<T>(numbers);
    const T *scale = (const T *)a, *from = (const T *)x;
    T *to = (T *)y;
#pragma omp parallel for simd if (n > ALONE)
    for (int64_t i = 0; i < n; i++) to[i] = scale[i] * from[i];
}

static void divide(struct device *, double *s, int to, int a, int b)
{
    if (s[S_DONE] == 0) s[to] = s[a] / s[b];
}

static void record(struct device *, double *s)
{
    if (s[S_DONE] == 0) vec_note(s, s[S_RR], s[S_MAXDIFF]);
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

/* Makes one table from the functions of a namespace. T is the type of the numbers; E is the type of the elements, T or
   cplx<T>, for the operations that multiply elements of two vectors. */
#define VEC_TABLE(space, AT, T, E)                                                                                \
    {                                                                                                             \
        .copy = space::copy<T>, .zero = space::zero<T>, .axpy = space::axpy<T>, .xpby = space::xpby<T>,           \
        .mul = space::mul<E>, .dot = KERNEL_SPACE::dot<KERNEL_SPACE::AT<T>>, .div = space::divide,                \
        .jacobi = KERNEL_SPACE::jacobi<KERNEL_SPACE::AT<E>>, .affine = KERNEL_SPACE::affine<KERNEL_SPACE::AT<E>>, \
        .probe = KERNEL_SPACE::probe<KERNEL_SPACE::AT<T>>, .widen = space::widen, .narrow = space::narrow,        \
        .record = space::record                                                                                   \
    }
#define VEC_ENTRY(id, space, AT, T, E)  \
    extern "C" const struct vec_ops id; \
    const struct vec_ops id = VEC_TABLE(space, AT, T, E)

/* The same for several columns at a time. */
#define COLUMN_ENTRY(id, space, COLUMN_AT, T)                                \
    extern "C" const struct vec_ops id;                                      \
    const struct vec_ops id = {                                              \
        .copy = space::copy<T>,                                              \
        .zero = space::zero<T>,                                              \
        .axpy = KERNEL_SPACE::columns::axpy<KERNEL_SPACE::COLUMN_AT<T>>,     \
        .xpby = KERNEL_SPACE::columns::xpby<KERNEL_SPACE::COLUMN_AT<T>>,     \
        .mul = KERNEL_SPACE::columns::mul<KERNEL_SPACE::COLUMN_AT<T>>,       \
        .dot = KERNEL_SPACE::dot<KERNEL_SPACE::COLUMN_AT<T>>,                \
        .div = KERNEL_SPACE::columns::divide<KERNEL_SPACE::COLUMN_AT<T>>,    \
        .jacobi = KERNEL_SPACE::jacobi<KERNEL_SPACE::COLUMN_AT<T>>,          \
        .affine = KERNEL_SPACE::affine<KERNEL_SPACE::COLUMN_AT<T>>,          \
        .probe = KERNEL_SPACE::probe<KERNEL_SPACE::COLUMN_AT<T>>,            \
        .widen = space::widen,                                               \
        .narrow = space::narrow,                                             \
        .record = KERNEL_SPACE::columns::record<KERNEL_SPACE::COLUMN_AT<T>>, \
    }

VEC_ENTRY(VEC_SYMBOL(f32), KERNEL_SPACE, on_gpu, float, float);
VEC_ENTRY(VEC_SYMBOL(f64), KERNEL_SPACE, on_gpu, double, double);
VEC_ENTRY(VEC_SYMBOL(c32), KERNEL_SPACE, on_gpu, float, cplx<float>);
VEC_ENTRY(VEC_SYMBOL(c64), KERNEL_SPACE, on_gpu, double, cplx<double>);
VEC_ENTRY(VEC_SYMBOL(parts_f32), KERNEL_SPACE, gpu_then_host, float, float);
VEC_ENTRY(VEC_SYMBOL(parts_f64), KERNEL_SPACE, gpu_then_host, double, double);
VEC_ENTRY(VEC_SYMBOL(parts_c32), KERNEL_SPACE, gpu_then_host, float, cplx<float>);
VEC_ENTRY(VEC_SYMBOL(parts_c64), KERNEL_SPACE, gpu_then_host, double, cplx<double>);
COLUMN_ENTRY(VEC_SYMBOL(columns_f32), KERNEL_SPACE, columns_on_gpu, float);
COLUMN_ENTRY(VEC_SYMBOL(columns_f64), KERNEL_SPACE, columns_on_gpu, double);
#ifndef __CUDACC__
VEC_ENTRY(cpu_vec_f32, KERNEL_SPACE::host, on_host, float, float);
VEC_ENTRY(cpu_vec_f64, KERNEL_SPACE::host, on_host, double, double);
VEC_ENTRY(cpu_vec_c32, KERNEL_SPACE::host, on_host, float, cplx<float>);
VEC_ENTRY(cpu_vec_c64, KERNEL_SPACE::host, on_host, double, cplx<double>);
VEC_ENTRY(cpu_vec_parts_f32, KERNEL_SPACE::host, host_then_host, float, float);
VEC_ENTRY(cpu_vec_parts_f64, KERNEL_SPACE::host, host_then_host, double, double);
VEC_ENTRY(cpu_vec_parts_c32, KERNEL_SPACE::host, host_then_host, float, cplx<float>);
VEC_ENTRY(cpu_vec_parts_c64, KERNEL_SPACE::host, host_then_host, double, cplx<double>);
COLUMN_ENTRY(cpu_vec_columns_f32, KERNEL_SPACE::host, columns_on_host, float);
COLUMN_ENTRY(cpu_vec_columns_f64, KERNEL_SPACE::host, columns_on_host, double);
#endif
