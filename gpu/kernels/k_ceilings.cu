/* Measures the limits of a device: bandwidth of reading, copying and gathering, and the time of an empty launch. A GPU
   runs kernels; the host runs loops. */
#include "base/loop.h"
#include "gpu/dev.h"
#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 256 };

/* Two values that one lane reads with one 16-byte load. */
struct alignas(16) pair {
    double a, b;
};

__device__ int64_t thread_of_grid()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ int64_t threads_of_grid()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* A hash of i: scattered positions for the gather. */
__device__ uint64_t scatter(uint64_t i)
{
    i *= 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 32) * 0xd6e8feb86659fd93u;
    return i ^ i >> 32;
}

__global__ void fill_kernel(int64_t n, double value, GPTR(double) x)
{
    for (int64_t i = thread_of_grid(); i < n; i += threads_of_grid()) x[i] = value;
}

/* Thread t reads the pairs t, t + threads, ...; a warp's request covers 512 contiguous bytes, and eight requests are in
   flight together. The length is a power of two and the number of threads is not, so in each pass a multiprocessor
   reads different pairs and finds none of them in its own cache. */
__global__ void read_kernel(int64_t mask, int64_t total, GPTR(const pair) x, GPTR(double) sums)
{
    double sum = 0;
#pragma unroll 8
    for (int64_t i = thread_of_grid(); i < total; i += threads_of_grid()) {
        pair p = x[i & mask];
        sum += p.a + p.b;
    }
    sums[thread_of_grid()] = sum;
}

__global__ void copy_kernel(int64_t n, GPTR(const pair) x, GPTR(pair) y)
{
#pragma unroll 4
    for (int64_t i = thread_of_grid(); i < n; i += threads_of_grid()) y[i] = x[i];
}

__global__ void gather_kernel(int64_t mask, int64_t total, GPTR(const double) x, GPTR(double) sums)
{
    double sum = 0;
#pragma unroll 8
    for (int64_t i = thread_of_grid(); i < total; i += threads_of_grid()) sum += x[scatter(i) & mask];
    sums[thread_of_grid()] = sum;
}

__global__ void empty_kernel() {}

/* Each block reads the same pairs in every pass, so after the first pass they come from its L1. A pass begins at
   another pair than the previous one; otherwise the compiler would read each pair only once. mask: the number of pairs,
   a power of two and a multiple of the block, minus 1. */
__global__ void reread_kernel(int mask, int passes, GPTR(const pair) x, GPTR(double) sums)
{
    double sum = 0;
    for (int pass = 0; pass < passes; pass++)
#pragma unroll 8
        for (int i = threadIdx.x; i <= mask; i += BLOCK) {
            pair p = x[(i + WARP * pass) & mask];
            sum += p.a + p.b;
        }
    sums[thread_of_grid()] = sum;
}

enum { CHAINS = 8, STEPS = 4096 };

/* CHAINS independent sums per thread hide the latency of the operations. a and b are arguments, so the compiler cannot
   compute the sums itself. */
template <typename T> __global__ void multiply_add_kernel(T a, T b, GPTR(double) sums)
{
    T v[CHAINS];
    UNROLL_WHOLE
    for (int k = 0; k < CHAINS; k++) v[k] = (T)(threadIdx.x + k);
    UNROLL(4)
    for (int step = 0; step < STEPS; step++) {
        UNROLL_WHOLE
        for (int k = 0; k < CHAINS; k++) v[k] = v[k] * a + b;
    }
    T sum = 0;
    UNROLL_WHOLE
    for (int k = 0; k < CHAINS; k++) sum += v[k];
    sums[thread_of_grid()] = (double)sum;
}

static unsigned enough_blocks(const struct device *d, int64_t n)
{
    int64_t most = (int64_t)d->units * 2048;
    return blocks_for(n < most ? n : most, BLOCK);
}

static void launch_fill(struct device *d, int64_t n, double value, double *x)
{
    LAUNCH(d, enough_blocks(d, n), BLOCK, fill_kernel)(n, value, VECTOR("x", ROLE_WORK, (void *)x, n, double));
}

static void launch_read(struct device *d, int64_t n, int64_t passes, const double *x, int64_t lanes, double *sums)
{
    LAUNCH(d, (unsigned)(lanes / BLOCK), BLOCK, read_kernel)
    (n / 2 - 1, n / 2 * passes, VECTOR("x", ROLE_WORK, (const void *)x, n / 2, const pair),
     VECTOR("sums", ROLE_WORK, (void *)sums, lanes, double));
}

static void launch_copy(struct device *d, int64_t n, const double *x, double *y)
{
    LAUNCH(d, enough_blocks(d, n / 2), BLOCK, copy_kernel)
    (n / 2, VECTOR("x", ROLE_WORK, (const void *)x, n / 2, const pair), VECTOR("y", ROLE_WORK, (void *)y, n / 2, pair));
}

static void launch_gather(struct device *d, int64_t n, int64_t total, const double *x, int64_t lanes, double *sums)
{
    LAUNCH(d, (unsigned)(lanes / BLOCK), BLOCK, gather_kernel)
    (n - 1, total, VECTOR("x", ROLE_WORK, (const void *)x, n, const double),
     VECTOR("sums", ROLE_WORK, (void *)sums, lanes, double));
}

static void launch_empty(struct device *d)
{
    LAUNCH(d, 1, WARP, empty_kernel)();
}

static void launch_reread(struct device *d, int64_t n, int64_t passes, const double *x, int64_t lanes, double *sums,
                          double *bytes)
{
    LAUNCH(d, (unsigned)(lanes / BLOCK), BLOCK, reread_kernel)
    ((int)(n / 2 - 1), (int)passes, VECTOR("x", ROLE_WORK, (const void *)x, n / 2, const pair),
     VECTOR("sums", ROLE_WORK, (void *)sums, lanes, double));
    *bytes = 8.0 * (double)n * (double)passes * (double)(lanes / BLOCK);
}

template <typename T> static void launch_chains(struct device *d, int64_t lanes, double *sums)
{
    LAUNCH(d, (unsigned)(lanes / BLOCK), BLOCK, multiply_add_kernel<T>)
    ((T)0.999, (T)0.001, VECTOR("sums", ROLE_WORK, (void *)sums, lanes, double));
}

static void launch_multiply_add(struct device *d, bool fp32, int64_t lanes, double *sums, double *flops)
{
    (fp32 ? launch_chains<float> : launch_chains<double>)(d, lanes, sums);
    *flops = 2.0 * (CHAINS * STEPS) * (double)lanes;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

extern "C" const struct ceiling_ops KERNEL_SYMBOL(ceilings) = {
    .fill = launch_fill,
    .read = launch_read,
    .copy = launch_copy,
    .gather = launch_gather,
    .empty = launch_empty,
    .reread = launch_reread,
    .multiply_add = launch_multiply_add,
};

#ifndef __CUDACC__
enum : int64_t { PIECE = 1 << 17 }; /* elements between two checks of the user's Ctrl-C: 1 MB */

/* The share of host thread t of `lanes` threads: elements [from, to) of n. */
struct share {
    int64_t from, to;
};

static struct share share_of(int64_t n, int64_t t, int64_t lanes)
{
    return {n * t / lanes, n * (t + 1) / lanes};
}

static void host_fill(struct device *, int64_t n, double value, double *x)
{
    struct loop l = loop_of("measuring", n);
#pragma omp parallel for
    for (int64_t from = 0; from < n; from += PIECE)
        if (loop_check(&l, from))
            for (int64_t i = from; i < std::min(n, from + PIECE); i++) x[i] = value;
}

/* Four vector sums of four values each, so that memory, not the latency of additions, limits the speed. */
static double sum_of(const double *x, struct share s)
{
    typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
    four a = {}, b = {}, c = {}, d = {};
    double sum = 0;
    int64_t i = s.from;
    for (; i + 16 <= s.to; i += 16) {
        const four *p = (const four *)(x + i);
        a += p[0];
        b += p[1];
        c += p[2];
        d += p[3];
    }
    for (; i < s.to; i++) sum += x[i];
    a += b + c + d;
    return sum + a[0] + a[1] + a[2] + a[3];
}

static void host_read(struct device *, int64_t n, int64_t passes, const double *x, int64_t lanes, double *sums)
{
    struct loop l = loop_of("measuring", n);
#pragma omp parallel for num_threads((int)lanes)
    for (int64_t t = 0; t < lanes; t++) {
        sums[t] = 0;
        struct share all = share_of(n, t, lanes);
        for (int64_t pass = 0; pass < passes; pass++)
            for (int64_t from = all.from; from < all.to && loop_check(&l, from); from += PIECE)
                sums[t] += sum_of(x, {from, std::min(all.to, from + PIECE)});
    }
}

static void host_copy(struct device *, int64_t n, const double *x, double *y)
{
    struct loop l = loop_of("measuring", n);
#pragma omp parallel for
    for (int64_t from = 0; from < n; from += PIECE)
        if (loop_check(&l, from))
            for (int64_t i = from; i < std::min(n, from + PIECE); i++) y[i] = x[i];
}

static void host_gather(struct device *, int64_t n, int64_t total, const double *x, int64_t lanes, double *sums)
{
    struct loop l = loop_of("measuring", total);
#pragma omp parallel for num_threads((int)lanes)
    for (int64_t t = 0; t < lanes; t++) {
        struct share s = share_of(total, t, lanes);
        double sum = 0;
        for (int64_t i = s.from; i < s.to && (i % PIECE || loop_check(&l, i)); i++)
            sum += x[scatter((uint64_t)i) & (uint64_t)(n - 1)];
        sums[t] = sum;
    }
}

static void host_empty(struct device *)
{
#pragma omp parallel
    asm volatile("");
}

extern "C" const struct ceiling_ops host_ceilings = {
    .fill = host_fill,
    .read = host_read,
    .copy = host_copy,
    .gather = host_gather,
    .empty = host_empty,
};
#endif
