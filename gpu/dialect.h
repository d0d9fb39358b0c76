/* The kernel dialect: C with templates for the value type, compiled by nvcc for the GPU and by g++ against
   simt.h for the emulator. A kernel's file, k_FORMAT.cu, includes this and nothing else of either machine.

   template <typename T>
   __global__ void csr_scalar(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                              GPTR(const T) x, T beta, GPTR(T) y)
   {
       int row = blockIdx.x * blockDim.x + threadIdx.x;
       if (row >= rows) return;
       ...  sum += val[k] * x[col[k]];
   }

   Rules: global memory only through GPTR (one load is one p[i]); atomics as atomicAdd(p + i, v); shared memory
   by SHARED(T, name, n); shuffle masks name exactly the lanes that are there; lockstep is never relied on. */
#ifndef DIALECT_H
#define DIALECT_H

#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"

#define WARP 32
#define FULL_MASK 0xffffffffu

#ifdef __CUDACC__
#define KERNEL_SPACE cuda_
#define KERNEL_SYMBOL(id) cuda_kernel_##id
#define VEC_SYMBOL(id) cuda_vec_##id
/* A kernel parameter: a global array of T; and what a function that is handed one reads it at. */
#define GPTR(...) __VA_ARGS__ *__restrict__
#define INDEX int64_t
/* Marks the end of a loop iteration in which some lanes may make no access: the lanes of a warp wait for one another
   there. The compiler does so by itself; the emulator needs the mark. */
static __device__ __forceinline__ void reconverge() {}
/* Array k of the launched matrix as T; a vector of n T and its role (role.h), by which the microscope knows x and y.
   For the arguments of a launch. */
#define ARRAY(L, k, ...) (static_cast<const __VA_ARGS__ *>((L)->A->ptr[k]))
#define VECTOR(name, role, p, n, ...) (static_cast<__VA_ARGS__ *>(p))
#define SHARED(T, name, n) __shared__ T name[n]
/* Before a loop: unroll it n times, or as a whole. Before a loop or a statement, AHEAD: nvcc by itself has the loads of
   n turns under way at once. The emulator notes both with each access, for the cost model. */
#define UNROLL(n) UNROLL_PRAGMA(unroll n)
#define UNROLL_WHOLE UNROLL_PRAGMA(unroll)
#define AHEAD(n)
#define UNROLL_PRAGMA(text) _Pragma(#text)
/* A kernel handed to a function that launches it: the emulator has its name with it. */
#define KERNEL_POINTER(...) __VA_ARGS__ *
#define KERNEL(...) __VA_ARGS__
/* LAUNCH(device, grid, block, kernel<T>)(arguments); an empty grid launches nothing. It has an else of its own, so that
   one which follows belongs to the if before it. */
#define LAUNCH(d, grid, block, ...) \
    if (!launchable(grid)) {        \
    } else                          \
        __VA_ARGS__<<<(grid), (block), 0, static_cast<cudaStream_t>((d)->stream)>>>
static inline bool launchable(dim3 grid)
{
    return grid.x && grid.y && grid.z;
}
/* FOLLOW is LAUNCH for a kernel that calls follow() before it touches memory: on GPUs since Hopper its blocks may take
   their places while the launch before it is still at work, and wait there; else a row of short kernels is mostly the
   time between them. Not for a grid of as many blocks as run at once: they would not spread evenly any more. */
#define FOLLOW(d, grid, block, ...) (follower_of((d), (grid), (block), __VA_ARGS__))
static inline bool launches_early(void)
{
    int number, major;
    return cudaGetDevice(&number) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number) == cudaSuccess && major >= 9;
}
template <typename... P> struct follower {
    cudaStream_t stream;
    dim3 grid, block;
    void (*kernel)(P...);

    void operator()(P... p) const
    {
        if (!launchable(grid)) return;
        cudaLaunchConfig_t config = {};
        cudaLaunchAttribute early = {};
        early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        early.val.programmaticStreamSerializationAllowed = 1;
        config.gridDim = grid;
        config.blockDim = block;
        config.stream = stream;
        config.attrs = &early;
        config.numAttrs = launches_early();
        cudaLaunchKernelEx(&config, kernel, p...);
    }
};
template <typename... P>
static follower<P...> follower_of(const struct device *d, dim3 grid, dim3 block, void (*kernel)(P...))
{
    return {static_cast<cudaStream_t>(d->stream), grid, block, kernel};
}
#else
#define KERNEL_SPACE emu_
#define KERNEL_SYMBOL(id) emu_kernel_##id
#define VEC_SYMBOL(id) emu_vec_##id
#include "base/clock.h"
#include "base/threads.h"
#include "gpu/emu/simt.h"
#include <omp.h>
#define INDEX simt::index
#define FOLLOW LAUNCH
/* Threads of a host kernel: all, or one where the work is less than what waking the others costs. */
static inline int host_threads(const struct launch *L)
{
    if (L->threads) return L->threads;
    return stored_slots(L->A->of) < THREADS_FROM ? 1 : omp_get_max_threads();
}
#endif

/* p[i], and p[i] = v, of what is not read again before much else was: it need not push that out of the cache. */
#ifdef __CUDACC__
template <typename P> __device__ auto once(P p, int64_t i)
{
    return __ldcs(p + i);
}
template <typename P, typename T> __device__ void put_once(P p, int64_t i, T v)
{
    __stcs(p + i, v);
}
#else
template <typename P> auto once(P p, INDEX i)
{
    if constexpr (std::is_pointer_v<P>)
        return p[i.i];
    else
        return p[i];
}
template <typename P, typename T> void put_once(P p, INDEX i, T v)
{
    if constexpr (std::is_pointer_v<P>)
        p[i.i] = v;
    else
        p[i] = v;
}
#endif

/* All threads: the launches before this one are done; those after it may take their places. See FOLLOW. */
static __device__ void follow()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* The clock of whoever runs, in microseconds since some past moment. */
static __device__ double clock_us()
{
#ifdef __CUDACC__
    unsigned long long ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return (double)(ns % 1000000000000000ull) * 1e-3; /* of 2^53 the nanoseconds fit */
#else
    return now_us();
#endif
}

/* The entry that ends a kernel's file: KERNEL_ENTRY(csr_scalar) = {.name = "csr-scalar", ...}; */
#define KERNEL_ENTRY(id)                              \
    extern "C" const struct kernel KERNEL_SYMBOL(id); \
    const struct kernel KERNEL_SYMBOL(id)

/* Blocks of `block` threads for `items` threads. */
static inline unsigned blocks_for(int64_t items, int block)
{
    return (unsigned)((items + block - 1) / block);
}

namespace KERNEL_SPACE
{

/* The result of a row; y is not read where beta is 0, and may hold NaN then. */
template <typename T> __device__ void store(GPTR(T) y, INDEX row, T alpha, T sum, T beta)
{
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

#ifndef __CUDACC__
/* The same in a host loop. */
template <typename T> void store(T *y, int64_t row, T alpha, T sum, T beta)
{
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

/* A host loop as a launch: by one thread, or by all there are. */
template <void (*LOOP)(const struct launch *, int threads)> bool on_one(const struct launch *L, struct err *)
{
    LOOP(L, 1);
    return true;
}
template <void (*LOOP)(const struct launch *, int threads)> bool on_all(const struct launch *L, struct err *)
{
    LOOP(L, host_threads(L));
    return true;
}
#endif

} // namespace KERNEL_SPACE

#ifndef __CUDACC__
/* The two entries of a host loop: HOST_ENTRIES(ell, "ell", ell_host, ...) are ell-serial and ell-openmp of the
   format ell, which run ell_host<T>(launch, threads). What is said of the first: about, source; of the second: share,
   what a thread takes at a time; of both: lesson, and after it, if need be, .fits = ... */
#define HOST_ENTRIES(id, name_, loop, about_, source_, share, lesson_, ...) \
    KERNEL_ENTRY(id##_serial) = {                                           \
        .name = name_ "-serial",                                            \
        .about = about_,                                                    \
        .format = &format_##id,                                             \
        .source = source_,                                                  \
        .work = "the whole product, in one thread",                         \
        .lesson = lesson_,                                                  \
        .deterministic = true,                                              \
        .host = true,                                                       \
        __VA_OPT__(__VA_ARGS__, ).f32 = on_one<loop<float>>,                \
        .f64 = on_one<loop<double>>,                                        \
    };                                                                      \
    KERNEL_ENTRY(id##_openmp) = {                                           \
        .name = name_ "-openmp",                                            \
        .about = "the host loop on all cores",                              \
        .format = &format_##id,                                             \
        .source = "[ours]",                                                 \
        .work = share " per host thread",                                   \
        .lesson = lesson_,                                                  \
        .deterministic = true,                                              \
        .host = true,                                                       \
        __VA_OPT__(__VA_ARGS__, ).f32 = on_all<loop<float>>,                \
        .f64 = on_all<loop<double>>,                                        \
    }
#endif

#endif
