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
#ifndef KERNEL_H
#define KERNEL_H

#include "../src/device.h"

#define WARP 32
#define FULL_MASK 0xffffffffu

#ifdef __CUDACC__
#define KERNEL_SPACE cuda_
#define KERNEL_SYMBOL(id) cuda_kernel_##id
#define VEC_SYMBOL(id) cuda_vec_##id
/* A kernel parameter: a global array of T. */
#define GPTR(...) __VA_ARGS__ *__restrict__
/* Array k of the launched matrix as T; a vector of n T. For the arguments of a launch. */
#define ARRAY(L, k, ...) (static_cast<const __VA_ARGS__ *>((L)->A->ptr[k]))
#define VECTOR(name, p, n, ...) (static_cast<__VA_ARGS__ *>(p))
#define SHARED(T, name, n) __shared__ T name[n]
/* LAUNCH(device, grid, block, kernel<T>)(arguments); an empty grid launches nothing. */
#define LAUNCH(d, grid, block, ...) \
    if (launchable(grid)) __VA_ARGS__<<<(grid), (block), 0, static_cast<cudaStream_t>((d)->stream)>>>
static inline bool launchable(dim3 grid)
{
    return grid.x && grid.y && grid.z;
}
#else
#define KERNEL_SPACE emu_
#define KERNEL_SYMBOL(id) emu_kernel_##id
#define VEC_SYMBOL(id) emu_vec_##id
#include "simt.h"
#include <omp.h>
/* Threads of a host kernel: all, or one where the work is less than what waking the others costs. */
static inline int host_threads(const struct launch *L)
{
    if (L->threads) return L->threads;
    return stored_slots(L->A->of) < THREADS_FROM ? 1 : omp_get_max_threads();
}
#endif

/* The entry that ends a kernel's file: KERNEL_ENTRY(csr_scalar) = {.name = "csr-scalar", ...}; */
#define KERNEL_ENTRY(id)                              \
    extern "C" const struct kernel KERNEL_SYMBOL(id); \
    const struct kernel KERNEL_SYMBOL(id)

/* Blocks of `block` threads for `items` threads. */
static inline unsigned blocks_for(int64_t items, int block)
{
    return (unsigned)((items + block - 1) / block);
}

#endif
