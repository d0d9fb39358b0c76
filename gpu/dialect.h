/* The kernel dialect: CUDA C with templates for the value type, plus the macros below. Each kernel file is compiled
   twice from one source: by nvcc for the GPU, and by g++ with gpu/emu/simt.h for the emulator. A kernel file includes
   this header and neither CUDA's headers nor the emulator's.

   A kernel file has three parts, shown here for csr-scalar. First comes the kernel, in namespace KERNEL_SPACE:

       template <typename T>
       __global__ void csr_scalar(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                                  GPTR(const T) x, T beta, GPTR(T) y)
       {
           int row = blockIdx.x * blockDim.x + threadIdx.x;
           if (row >= rows) return;
           int end = ptr[row + 1];
           T sum = 0;
           UNROLL(1)
           for (int k = ptr[row]; k < end; k++) sum += val[k] * x[col[k]];
           store(y, row, alpha, sum, beta);
       }

   Second comes the launch, a host function with the arguments that struct kernel expects:

       template <typename T> bool csr_scalar_go(const struct launch *L, struct err *)
       {
           const struct stored *S = L->A->of;
           LAUNCH(L->A->dev, blocks_for(S->rows, 256), 256, csr_scalar<T>)
           ((int)S->rows, ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T), (T)L->alpha,
            VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
           return true;
       }

   Third comes the table entry, after the namespace; its fields are explained in machine/kernel.h:

       KERNEL_ENTRY(csr_scalar) = {.name = "csr-scalar", ..., .product = {VALUE_TYPES(csr_scalar_go)}};

   and KERNEL(csr_scalar) in gpu/kernels/kernels.def. VALUE_TYPES names the launch for each type of values: T is float,
   double, cplx<float> or cplx<double> (gpu/complex.h). A kernel that also takes values stored in a smaller type U has
   template <typename T, typename U = T>, GPTR(const U) val and (T)val[k], and its entry NARROW_TYPES
   (gpu/half.h).

   Rules:
   - Global memory is accessed only through GPTR parameters; one p[i] is one load or store. A kernel that
     uses a value twice keeps the value in a local variable.
   - Atomics are written atomicAdd(p + i, v). Shared memory is declared by SHARED(T, name, n). A block that needs more
     than 48 KB, or a size that the launch chooses, declares one SHARED_GIVEN(T, name, n) and is launched by
     LAUNCH_GIVEN. SHARED_GIVEN_AT(T, name, from, n) declares another array `from` bytes after the first.
   - The mask of a shuffle or vote contains exactly the lanes that execute it. Never rely on lockstep: after a write to
     shared memory that other lanes read, use __syncwarp or __syncthreads.
   - If a pointer argument of a function may be a GPTR, its type is a template parameter or GPTR, and the index into it
     is an INDEX.
   - A loop that nvcc unrolls is preceded by UNROLL or AHEAD, so that the cost model takes the unrolling into account;
     in a loop in which lanes may skip all accesses, the last statement is reconverge(). */
#ifndef DIALECT_H
#define DIALECT_H

#include "base/precision.h"
#include "gpu/dev.h"
#include "gpu/member_place.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"

#define WARP 32
#define FULL_MASK 0xffffffffu

/* Bytes of shared memory per block: SHARED arrays have at most SHARED_PLAIN bytes together, and a launch gives at most
   SHARED_GIVEN_MAX bytes for SHARED_GIVEN. A block of an H100 or H200 may have 227 KB, one of an A100 163 KB. */
enum { SHARED_PLAIN = 48 * 1024, SHARED_GIVEN_MAX = 224 * 1024 };
/* The maximum number of blocks in a cluster, on devices that have clusters. */
enum { CLUSTER_BLOCKS = 16 };

#ifdef __CUDACC__
#define KERNEL_SPACE cuda_
#define KERNEL_SYMBOL(id) cuda_kernel_##id
#define VEC_SYMBOL(id) cuda_vec_##id
/* GPTR(T): a kernel parameter that points to an array of T in global memory. INDEX: the type of an index into such an
   array, in functions that kernels call. */
#define GPTR(...) __VA_ARGS__ *__restrict__
#define INDEX int64_t
/* FRESH(T): a GPTR to data that the previous launch may still be writing when a kernel launched by FOLLOW begins.
   Without __restrict__, nvcc does not read it by loads that may miss these writes (ld.global.nc). */
#define FRESH(...) __VA_ARGS__ *
/* Does code before await_previous() run earlier than code after it? Where it does not, loads that nvcc issues together
   may stand in one loop, for which the cost model counts one wait. */
enum { AWAITS = 1 };
/* Called at the end of a loop body in which a lane may skip all accesses: the lanes reconverge here, as they do on a
   GPU. Only the emulator needs the call. */
static __device__ __forceinline__ void reconverge() {}
/* Arguments of a launch. ARRAY(L, k, T): array k of the launched matrix, with elements T. VECTOR(name, role, p, n, T):
   n elements T at p; the microscope shows the name, and recognises x and y by the role (base/role.h). */
#define ARRAY(L, k, ...) (static_cast<const __VA_ARGS__ *>((L)->A->ptr[k]))
#define VECTOR(name, role, p, n, ...) (static_cast<__VA_ARGS__ *>(p))
#define SHARED(T, name, n) __shared__ T name[n]
#define SHARED_GIVEN(T, name, n) SHARED_GIVEN_AT(T, name, 0, n)
#define SHARED_GIVEN_AT(T, name, from, n)                  \
    extern __shared__ __align__(16) unsigned char given[]; \
    T *name = reinterpret_cast<T *>(given + (from))
/* UNROLL(n) before a loop unrolls the loop n times; UNROLL_WHOLE unrolls the loop completely. AHEAD(n) before a loop
   or a statement states that nvcc, without being told, issues the loads of n iterations together. The emulator records
   these numbers with each access, for the cost model. */
#define UNROLL(n) UNROLL_PRAGMA(unroll n)
#define UNROLL_WHOLE UNROLL_PRAGMA(unroll)
#define AHEAD(n)
#define UNROLL_PRAGMA(text) _Pragma(#text)
/* For functions that launch a kernel given as an argument: KERNEL_POINTER is the type of a pointer to a kernel, and
   KERNEL makes such a pointer. In the emulator, the pointer carries the kernel's name. */
#define KERNEL_POINTER(...) __VA_ARGS__ *
#define KERNEL(...) __VA_ARGS__
/* LAUNCH(device, grid, block, kernel<T>)(arguments). An empty grid launches nothing. The macro contains its own else,
   so that an else after the macro belongs to the if before the macro. */
#define LAUNCH(d, grid, block, ...) \
    if (!launchable(grid)) {        \
    } else                          \
        __VA_ARGS__<<<(grid), (block), 0, static_cast<cudaStream_t>((d)->stream)>>>
static inline bool launchable(dim3 grid)
{
    return grid.x && grid.y && grid.z;
}
/* LAUNCH_GIVEN(device, grid, block, bytes, kernel<T>)(arguments) is LAUNCH with this many bytes for the array that the
   kernel declares by SHARED_GIVEN. */
#define LAUNCH_GIVEN(d, grid, block, bytes, ...) (launcher_of((d), (grid), (block), (bytes), false, 1, __VA_ARGS__))
/* LAUNCH_CLUSTER(device, blocks, block, bytes, kernel<T>)(arguments) launches one cluster of this number of blocks,
   which run at the same time and can read and write the shared memory of one another. See cluster_blocks, cluster_sync,
   in_block. */
#define LAUNCH_CLUSTER(d, blocks, block, bytes, ...) \
    (launcher_of((d), (blocks), (block), (bytes), false, (blocks), __VA_ARGS__))
/* FOLLOW is LAUNCH for a kernel that calls await_previous() before it reads what an earlier launch may write, and
   before its first store. On Hopper and newer GPUs, its blocks may become resident while the previous launch is still
   running; this hides the launch latency of short kernels, and the latency of loads before await_previous(). Such
   loads may read only arrays that were complete when the device was last synchronized. (CUDA calls this programmatic
   dependent launches.) Do not use FOLLOW for a grid that exactly fills the GPU, because the
   blocks would be distributed unevenly. */
#define FOLLOW(d, grid, block, ...) (launcher_of((d), (grid), (block), 0, may_follow(d), 1, __VA_ARGS__))
/* Blocks that wait for an earlier launch must not fill a GPU on which that launch waits for another member. */
static inline bool may_follow(const struct device *d)
{
    return !d->seat || d->seat->apart;
}
/* The major number of the compute capability of the current GPU; 0: unknown. HOPPER: the first GPUs with clusters. */
enum { HOPPER = 9 };
static inline int compute_major(void)
{
    int number, major;
    bool known = cudaGetDevice(&number) == cudaSuccess &&
                 cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, number) == cudaSuccess;
    return known ? major : 0;
}
template <typename... P> struct launcher {
    cudaStream_t stream;
    dim3 grid, block;
    unsigned given;   /* bytes of shared memory */
    bool early;       /* before the previous launch ends */
    unsigned cluster; /* number of blocks in a cluster */
    void (*kernel)(P...);

    void operator()(P... p) const
    {
        if (!launchable(grid)) return;
        cudaLaunchConfig_t config = {};
        cudaLaunchAttribute attribute = {};
        config.gridDim = grid;
        config.blockDim = block;
        config.dynamicSmemBytes = given;
        config.stream = stream;
        config.attrs = &attribute;
        if (early) {
            config.numAttrs = 1;
            attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attribute.val.programmaticStreamSerializationAllowed = 1;
        }
        if (cluster > 1) {
            config.numAttrs = 1;
            attribute.id = cudaLaunchAttributeClusterDimension;
            attribute.val.clusterDim = {cluster, 1, 1};
            cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        }
        if (given > 0) /* the kernel's other shared arrays count too: even a small array may exceed the default limit */
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(given));
        cudaLaunchKernelEx(&config, kernel, p...);
    }
};
template <typename... P>
static launcher<P...> launcher_of(const struct device *d, dim3 grid, dim3 block, unsigned given, bool early,
                                  unsigned cluster, void (*kernel)(P...))
{
    early = early && d->facts.capability >= 10 * HOPPER;
    return {static_cast<cudaStream_t>(d->stream), grid, block, given, early, cluster, kernel};
}
/* The maximum number of blocks in a cluster; 1: the GPU has no clusters. */
static inline int cluster_blocks(void)
{
    return compute_major() >= HOPPER ? +CLUSTER_BLOCKS : 1;
}
/* For all threads of a cluster: wait for one another, and see what all of them wrote to shared memory before. */
static __device__ __forceinline__ void cluster_sync()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/* in_block(p, b): the array that block b of the cluster has at p, an address in shared memory. */
template <typename T> static __device__ __forceinline__ T *in_block(T *p, unsigned block)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    return static_cast<T *>(__cluster_map_shared_rank(p, block));
#else
    (void)block;
    return p;
#endif
}
#else
#define KERNEL_SPACE emu_
#define KERNEL_SYMBOL(id) emu_kernel_##id
#define VEC_SYMBOL(id) emu_vec_##id
#include "base/clock.h"
#include "base/loop.h"
#include "base/threads.h"
#include "gpu/emu/simt.h"
#include <omp.h>
#define INDEX simt::index
#define FRESH GPTR
enum { AWAITS = 0 };
#define FOLLOW LAUNCH
/* The number of threads of a host kernel. A thread gets at least THREAD_SLOTS slots, about 10 us of work: threads take
   some us to begin and to meet at the end, and much longer if other programs use the processors. */
enum { THREAD_SLOTS = 1 << 15 };
static inline int host_threads(const struct launch *L)
{
    if (L->threads) return L->threads;
    int64_t worth = stored_slots(L->A->of) / THREAD_SLOTS, most = omp_get_max_threads();
    return worth < 1 ? 1 : worth < most ? (int)worth : (int)most;
}
#endif

#include "gpu/complex.h"
#include "gpu/half.h"

/* A function for each precision, in the order of enum precision: {VALUE_TYPES(go), NARROW_TYPES(go)} names go<float>,
   go<double>, go<cplx<float>>, go<cplx<double>>, and go<T, U> for each precision that stores values in a smaller type U
   than T, the type of x, y and the sums; the other template arguments have U = T by default. {REALS(go)}: for real
   values only; {REALS(go), NO_PAIRS, NARROW_TYPES(go)}: not for complex values. INSTANTIATE(f, parameter types) makes
   the function template f available to other files for all types of VALUE_TYPES. */
#define REALS(go) go<float>, go<double>
#define VALUE_TYPES(go) REALS(go), go<cplx<float>>, go<cplx<double>>
#define NO_PAIRS nullptr, nullptr
#define NARROW_TYPES(go) go<double, float>, go<float, fp16>, go<float, bf16>, go<double, fp16>, go<double, bf16>
#define INSTANTIATE(f, ...)                    \
    template void f<float>(__VA_ARGS__);       \
    template void f<double>(__VA_ARGS__);      \
    template void f<cplx<float>>(__VA_ARGS__); \
    template void f<cplx<double>>(__VA_ARGS__)

/* once(p, i) is p[i] and put_once(p, i, v) is p[i] = v, for data that is not accessed again soon: on a GPU, these
   functions use streaming loads and stores, which do not displace other data from the cache. together<N>(p, i) is one
   load of the elements p[i] .. p[i+N-1], the array `of` of its result; i is a multiple of N, and N elements have 1, 2,
   4, 8 or 16 bytes. once<N>(p, i) is the same as a streaming load. once(p, i, stays) and once<N>(p, i, stays) are plain
   loads if `stays`, for data that should stay in the cache until the next product (see staying). */
#ifdef __CUDACC__
template <typename T, int N> struct alignas(N * sizeof(T)) several {
    T of[N];
};
/* The type of a load of BYTES bytes. */
template <int BYTES> struct word_of;
template <> struct word_of<1> {
    typedef unsigned char type;
};
template <> struct word_of<2> {
    typedef unsigned short type;
};
template <> struct word_of<4> {
    typedef unsigned type;
};
template <> struct word_of<8> {
    typedef uint2 type;
};
template <> struct word_of<16> {
    typedef uint4 type;
};
template <int N, typename T> using several_word = typename word_of<N *(int)sizeof(T)>::type;
template <int N, typename T> __device__ several<T, N> together(const T *p, int64_t i)
{
    several_word<N, T> w = __ldg(reinterpret_cast<const several_word<N, T> *>(p + i));
    several<T, N> v;
    memcpy(&v, &w, sizeof v);
    return v;
}
template <int N, typename T> __device__ several<T, N> once(const T *p, int64_t i)
{
    several_word<N, T> w = __ldcs(reinterpret_cast<const several_word<N, T> *>(p + i));
    several<T, N> v;
    memcpy(&v, &w, sizeof v);
    return v;
}
template <int N, typename T> __device__ several<T, N> once(const T *p, int64_t i, bool stays)
{
    return stays ? together<N>(p, i) : once<N>(p, i);
}
template <typename P> __device__ auto once(P p, int64_t i)
{
    return __ldcs(p + i);
}
template <typename P> __device__ auto once(P p, int64_t i, bool stays)
{
    return stays ? __ldg(p + i) : __ldcs(p + i);
}
template <typename P, typename T> __device__ void put_once(P p, int64_t i, T v)
{
    __stcs(p + i, v);
}
#else
using simt::several;
template <int N, typename T> several<T, N> together(simt::array<const T> p, INDEX i)
{
    return p.template load_several<N>(i.i, i.at);
}
template <int N, typename T> several<T, N> once(simt::array<const T> p, INDEX i)
{
    return p.template load_several<N>(i.i, i.at, true);
}
template <typename P> auto once(P p, INDEX i)
{
    if constexpr (std::is_pointer_v<P>)
        return p[i.i];
    else
        return p.load(i.i, i.at, ACCESS_LOAD, true);
}
template <int N, typename T> several<T, N> once(simt::array<const T> p, INDEX i, bool)
{
    return once<N>(p, i);
}
template <typename P> auto once(P p, INDEX i, bool)
{
    return once(p, i);
}
template <typename P, typename T> void put_once(P p, INDEX i, T v)
{
    if constexpr (std::is_pointer_v<P>)
        p[i.i] = v;
    else
        p[i] = v;
}
#endif

/* For all threads of a kernel launched by FOLLOW: wait until the previous launches are done, so that all that they
   wrote is there. A kernel may call it again; the later calls do not wait. */
static __device__ void await_previous()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/* Allow the next launch to become resident, as soon as all blocks of this launch have called this. */
static __device__ void begin_next()
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}
static __device__ void follow()
{
    await_previous();
    begin_next();
}

/* Adds 1 to p[0] and returns the old value. A thread that finds the new value, and then calls __threadfence, sees what
   this thread wrote before. Unlike a __threadfence before an atomicAdd, this leaves the L1 cache as it is. */
#ifdef __CUDACC__
static __device__ __forceinline__ unsigned arrive(unsigned *p)
{
    unsigned before;
    asm volatile("atom.add.release.gpu.u32 %0, [%1], 1;" : "=r"(before) : "l"(p) : "memory");
    return before;
}
#else
inline unsigned arrive(simt::array<unsigned> p, simt::source at = HERE)
{
    __threadfence();
    return atomicAdd(p, 1u, at);
}
#endif

/* The device's clock, in microseconds since an arbitrary moment. */
static __device__ double clock_us()
{
#ifdef __CUDACC__
    unsigned long long ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return (double)(ns % 1000000000000000ull) * 1e-3; /* below 2^53 ns, so the double is exact */
#else
    return now_us();
#endif
}

/* Of n equal parts of a matrix, such as slices or diagonals, the first staying(L, n) are read by plain loads and stay
   in the cache until the next product; the others are read by streaming loads. Nothing stays of a matrix that has more
   than `most_times` the size that can stay. */
static inline int staying(const struct launch *L, int64_t n, int most_times = 2)
{
    return (int)(share_staying(L->A, most_times) * (double)n);
}

/* The entry that ends a kernel's file: KERNEL_ENTRY(csr_scalar) = {.name = "csr-scalar", ...}; */
#define KERNEL_ENTRY(id)                              \
    extern "C" const struct kernel KERNEL_SYMBOL(id); \
    const struct kernel KERNEL_SYMBOL(id)

/* The number of blocks of `block` threads that gives at least `items` threads. */
static inline unsigned blocks_for(int64_t items, int block)
{
    return (unsigned)((items + block - 1) / block);
}

namespace KERNEL_SPACE
{

/* y[row] = alpha sum + beta y[row]. If beta is 0, y is not read and may hold NaN. */
template <typename T> __device__ void store(GPTR(T) y, INDEX row, T alpha, T sum, T beta)
{
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

/* The same by a streaming store: on a GPU, y does not displace x and the matrix from the cache. */
template <typename T> __device__ void store_once(GPTR(T) y, INDEX row, T alpha, T sum, T beta)
{
    put_once(y, row, beta == 0 ? alpha * sum : alpha * sum + beta * y[row]);
}

#ifndef __CUDACC__
/* Like the function `store` above, but for a host loop. */
template <typename T> void store(T *y, int64_t row, T alpha, T sum, T beta)
{
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

/* Call part(from, to) for shares of the items 0 .. n-1; a thread that is free takes the next share. Ctrl-C stops a
   long SpMV between two shares: y is then incomplete. */
template <typename PART>
static inline void host_shares(const struct launch *L, int threads, int64_t n, int64_t share, PART part)
{
    bool checked = loop_worth(stored_slots(L->A->of));
    struct loop l = loop_of("", n);
    if (threads <= 1) { /* a parallel region costs a microsecond, even with one thread */
        for (int64_t from = 0; from < n; from += share)
            if (!checked || loop_check(&l, from)) part(from, from + share < n ? from + share : n);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t from = 0; from < n; from += share)
        if (!checked || loop_check(&l, from)) part(from, from + share < n ? from + share : n);
}

/* Wrap a host loop as a kernel's launch function: on_one runs the loop on one thread, and on_all runs it on all
   threads. If Ctrl-C ended the loop, the launch fails. */
template <void (*LOOP)(const struct launch *, int threads)> bool on_one(const struct launch *L, struct err *e)
{
    LOOP(L, 1);
    return loop_unbroken("the product", e);
}
template <void (*LOOP)(const struct launch *, int threads)> bool on_all(const struct launch *L, struct err *e)
{
    LOOP(L, host_threads(L));
    return loop_unbroken("the product", e);
}
#endif

} // namespace KERNEL_SPACE

#ifndef __CUDACC__
/* The two entries of a host loop: HOST_ENTRIES(ell, "ell", ell_host, ...) defines ell-serial and ell-openmp of the
   format ell, which run ell_host<T>(launch, threads). The arguments about_ and source_ describe ell-serial; `share` is
   the unit of work of a thread of ell-openmp; lesson_ describes both kernels. Further fields such as .fits = ... may
   follow lesson_. */
#define HOST_ENTRIES(...) HOST_ENTRIES_FOR(HOST_TYPES, __VA_ARGS__)
/* The same for a loop<T, U> that also takes values stored in a smaller type U. */
#define HOST_NARROW_ENTRIES(...) HOST_ENTRIES_FOR(HOST_NARROW_TYPES, __VA_ARGS__)
#define HOST_TYPES(run, loop) run<loop<float>>, run<loop<double>>, run<loop<cplx<float>>>, run<loop<cplx<double>>>
#define HOST_NARROW_TYPES(run, loop)                                                                 \
    HOST_TYPES(run, loop), run<loop<double, float>>, run<loop<float, fp16>>, run<loop<float, bf16>>, \
        run<loop<double, fp16>>, run<loop<double, bf16>>
#define HOST_ENTRIES_FOR(types, id, name_, loop, about_, source_, share, lesson_, ...) \
    KERNEL_ENTRY(id##_serial) = {                                                      \
        .name = name_ "-serial",                                                       \
        .about = about_,                                                               \
        .format = &format_##id,                                                        \
        .source = source_,                                                             \
        .work = "the whole SpMV, in one thread",                                       \
        .lesson = lesson_,                                                             \
        .deterministic = true,                                                         \
        .host = true,                                                                  \
        __VA_OPT__(__VA_ARGS__, ).product = {types(on_one, loop)},                     \
    };                                                                                 \
    KERNEL_ENTRY(id##_openmp) = {                                                      \
        .name = name_ "-openmp",                                                       \
        .about = "the host loop on all cores",                                         \
        .format = &format_##id,                                                        \
        .source = "[ours]",                                                            \
        .work = share " per host thread",                                              \
        .lesson = lesson_,                                                             \
        .deterministic = true,                                                         \
        .host = true,                                                                  \
        __VA_OPT__(__VA_ARGS__, ).product = {types(on_all, loop)},                     \
    }
#endif

/* A line for `try` in a user's file: the format of the kernel, and its grid, block and bytes of shared memory. */
#define TRY(...) static_assert(true, "")

#endif
