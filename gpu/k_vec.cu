/* Vector operations of the solvers: sums in a fixed order, fused updates, and the record that ends an iteration.
   Each thread strides through the vectors with neighbours side by side; a sum leaves one value a block, which the
   last block to arrive adds up in the order of the blocks. */
#include "vec.h"

namespace KERNEL_SPACE
{

template <typename T> __global__ void vec_copy(int64_t n, GPTR(const T) x, GPTR(T) y)
{
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) y[i] = x[i];
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

template <typename T>
__global__ void vec_dot(int64_t n, GPTR(double) s, GPTR(unsigned) ticket, GPTR(const T) x, GPTR(const T) y, int to)
{
    if (s[S_DONE] != 0) return;
    double sum = 0;
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) sum += (double)x[i] * (double)y[i];
    sum = vec_over_block<false>(sum);
    if (threadIdx.x == 0) s[S_SUMS + blockIdx.x] = sum;
    if (!vec_last_block(ticket)) return;
    sum = vec_over_grid<false>(s, S_SUMS);
    if (threadIdx.x == 0) s[to] = sum;
}

__global__ void vec_div(GPTR(double) s, int to, int a, int b)
{
    if (s[S_DONE] == 0) s[to] = s[a] / s[b];
}

__global__ void vec_record(GPTR(double) s)
{
    if (s[S_DONE] == 0) vec_note(s, s[S_RR], s[S_MAXDIFF]);
}

template <typename T>
__global__ void vec_jacobi(int64_t n, GPTR(double) s, GPTR(unsigned) ticket, GPTR(const T) b, GPTR(const T) q,
                           GPTR(const T) dinv, GPTR(const T) x, GPTR(T) next)
{
    if (s[S_DONE] != 0) return;
    double sum = 0, most = 0;
#pragma unroll 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) {
        T r = b[i] - q[i], change = dinv[i] * r;
        next[i] = x[i] + change;
        sum += (double)r * (double)r;
        most = vec_join<true>(most, fabs((double)change));
    }
    sum = vec_over_block<false>(sum);
    most = vec_over_block<true>(most);
    if (threadIdx.x == 0) {
        s[S_SUMS + blockIdx.x] = sum;
        s[S_MOSTS + blockIdx.x] = most;
    }
    if (!vec_last_block(ticket)) return;
    sum = vec_over_grid<false>(s, S_SUMS);
    most = vec_over_grid<true>(s, S_MOSTS);
    if (threadIdx.x == 0) vec_note_step(s, sum, most);
}

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

/* ---- the launches ---- */

#define IN(x) VECTOR(#x, x, n, const T)
#define OUT(y) VECTOR(#y, y, n, T)

template <typename T> static void copy(struct device *d, int64_t n, const void *x, void *y)
{
    LAUNCH(d, vec_grid(n), VEC_BLOCK, vec_copy<T>)(n, IN(x), OUT(y));
}

template <typename T>
static void axpy(struct device *d, int64_t n, double *s, int a, double sign, const void *x, void *y)
{
    LAUNCH(d, vec_grid(n), VEC_BLOCK, vec_axpy<T>)(n, SCALARS_OF(s), a, (T)sign, IN(x), OUT(y));
}

template <typename T> static void xpby(struct device *d, int64_t n, double *s, const void *x, int b, void *y)
{
    LAUNCH(d, vec_grid(n), VEC_BLOCK, vec_xpby<T>)(n, SCALARS_OF(s), IN(x), b, OUT(y));
}

template <typename T> static void mul(struct device *d, int64_t n, double *s, const void *a, const void *x, void *y)
{
    LAUNCH(d, vec_grid(n), VEC_BLOCK, vec_mul<T>)(n, SCALARS_OF(s), IN(a), IN(x), OUT(y));
}

template <typename T> static void dot(struct device *d, int64_t n, double *s, const void *x, const void *y, int to)
{
    LAUNCH(d, vec_grid(n), VEC_BLOCK, vec_dot<T>)(n, SCALARS_OF(s), TICKET_OF(s), IN(x), IN(y), to);
}

static void divide(struct device *d, double *s, int to, int a, int b)
{
    LAUNCH(d, 1, 1, vec_div)(SCALARS_OF(s), to, a, b);
}

static void record(struct device *d, double *s)
{
    LAUNCH(d, 1, 1, vec_record)(SCALARS_OF(s));
}

template <typename T>
static void jacobi(struct device *d, int64_t n, double *s, const void *b, const void *q, const void *dinv,
                   const void *x, void *next)
{
    LAUNCH(d, vec_grid(n), VEC_BLOCK, vec_jacobi<T>)
    (n, SCALARS_OF(s), TICKET_OF(s), IN(b), IN(q), IN(dinv), IN(x), OUT(next));
}

template <typename AT> static void probe(struct device *d, int64_t n, double *s, const void *b, const void *q)
{
    AT::run(d, n, s, pass_probe<AT>{PASS_IN(b), PASS_IN(q)});
}

/* ---- the same on the host ---- */

#ifndef __CUDACC__
namespace host
{

static double largest(const double *part, int k)
{
    double most = 0;
    for (int i = 0; i < k; i++) most = vec_join<true>(most, part[i]);
    return most;
}

template <typename T> static void copy(struct device *, int64_t n, const void *x, void *y)
{
    memcpy(y, x, (size_t)n * sizeof(T));
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

template <typename T> static void xpby(struct device *, int64_t n, double *s, const void *x, int b, void *y)
{
    if (s[S_DONE] != 0) return;
    const T *from = (const T *)x, scale = (T)s[b];
    T *to = (T *)y;
#pragma omp parallel for simd if (n > ALONE)
    for (int64_t i = 0; i < n; i++) to[i] = from[i] + scale * to[i];
}

template <typename T> static void mul(struct device *, int64_t n, double *s, const void *a, const void *x, void *y)
{
    if (s[S_DONE] != 0) return;
    const T *scale = (const T *)a, *from = (const T *)x;
    T *to = (T *)y;
#pragma omp parallel for simd if (n > ALONE)
    for (int64_t i = 0; i < n; i++) to[i] = scale[i] * from[i];
}

template <typename T> static void dot(struct device *, int64_t n, double *s, const void *x, const void *y, int to)
{
    if (s[S_DONE] != 0) return;
    const T *a = (const T *)x, *b = (const T *)y;
#pragma omp parallel for if (n > ALONE)
    for (int k = 0; k < stretches(n); k++) {
        double sum = 0;
        int64_t end = start(n, k + 1);
#pragma omp simd reduction(+ : sum)
        for (int64_t i = start(n, k); i < end; i++) sum += (double)a[i] * (double)b[i];
        s[S_SUMS + k] = sum;
    }
    s[to] = total(s + S_SUMS, stretches(n));
}

static void divide(struct device *, double *s, int to, int a, int b)
{
    if (s[S_DONE] == 0) s[to] = s[a] / s[b];
}

static void record(struct device *, double *s)
{
    if (s[S_DONE] == 0) vec_note(s, s[S_RR], s[S_MAXDIFF]);
}

template <typename T>
static void jacobi(struct device *, int64_t n, double *s, const void *b, const void *q, const void *dinv, const void *x,
                   void *next)
{
    if (s[S_DONE] != 0) return;
    const T *right = (const T *)b, *product = (const T *)q, *inverse = (const T *)dinv, *from = (const T *)x;
    T *to = (T *)next;
#pragma omp parallel for if (n > ALONE)
    for (int k = 0; k < stretches(n); k++) {
        double sum = 0, most = 0;
        int64_t end = start(n, k + 1);
#pragma omp simd reduction(+ : sum) reduction(max : most)
        for (int64_t i = start(n, k); i < end; i++) {
            T r = right[i] - product[i], change = inverse[i] * r;
            to[i] = from[i] + change;
            sum += (double)r * (double)r;
            most = std::max(most, std::fabs((double)change));
        }
        s[S_SUMS + k] = sum;
        s[S_MOSTS + k] = most;
    }
    vec_note_step(s, total(s + S_SUMS, stretches(n)), largest(s + S_MOSTS, stretches(n)));
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

/* One table from the functions of a namespace. */
#define VEC_TABLE(space, AT, T)                                                                                       \
    {                                                                                                             \
        .copy = space::copy<T>, .axpy = space::axpy<T>, .xpby = space::xpby<T>, .mul = space::mul<T>,             \
        .dot = space::dot<T>, .div = space::divide, .jacobi = space::jacobi<T>,                                   \
        .probe = KERNEL_SPACE::probe<KERNEL_SPACE::AT<T>>, .record = space::record                                \
    }
#define VEC_ENTRY(id, space, AT, T)         \
    extern "C" const struct vec_ops id; \
    const struct vec_ops id = VEC_TABLE(space, AT, T)

VEC_ENTRY(VEC_SYMBOL(f32), KERNEL_SPACE, on_gpu, float);
VEC_ENTRY(VEC_SYMBOL(f64), KERNEL_SPACE, on_gpu, double);
#ifndef __CUDACC__
VEC_ENTRY(cpu_vec_f32, KERNEL_SPACE::host, on_host, float);
VEC_ENTRY(cpu_vec_f64, KERNEL_SPACE::host, on_host, double);
#endif
