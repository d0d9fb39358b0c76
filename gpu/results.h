/* Results that blocks pass to blocks of the same launch. */
#ifndef RESULTS_H
#define RESULTS_H

#include "gpu/dialect.h"
#include "machine/level_ops.h"

#ifndef __CUDACC__
namespace simt
{
/* The running lane waits for a result of a block that began before its own (gpu/emu/simt.cc). */
void wait_for_blocks(source at);
} // namespace simt
#endif

/* An element without a result holds the mark, a NaN all of whose
   bits are 1, which arithmetic does not give. publish(p, i, v) is p[i] = v; peek(p, i) is p[i], which is_missing tells
   from the mark. A number has words of 8 bytes (a float: 4), which are read and written one by one. A loop that waits
   until a result is there calls wait_for_blocks. A block may wait only for blocks that began before it: a kernel gets
   the order in which blocks begin by counting them with an atomic. */
template <typename T> struct words_of {
    enum { N = sizeof(T) > 8 ? (int)sizeof(T) / 8 : 1 };
    typedef std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> word;
    word of[N];
};
template <typename T> __device__ bool is_missing(T v)
{
    words_of<T> w;
    bool any = false;
    memcpy(&w, &v, sizeof w);
    for (int k = 0; k < words_of<T>::N; k++) any = any || w.of[k] == (typename words_of<T>::word) - 1;
    return any;
}
template <typename T> __device__ T missing()
{
    T v;
    memset(&v, MISSING_BYTE, sizeof v);
    return v;
}
/* v, or another NaN if v looks like the mark. */
template <typename T> __device__ words_of<T> to_publish(T v)
{
    words_of<T> w;
    memcpy(&w, &v, sizeof w);
    for (int k = 0; k < words_of<T>::N; k++)
        if (w.of[k] == (typename words_of<T>::word) - 1) w.of[k] >>= 1;
    return w;
}
#ifdef __CUDACC__
static __device__ __forceinline__ uint32_t peek_word(const uint32_t *p)
{
    uint32_t v;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
static __device__ __forceinline__ uint64_t peek_word(const uint64_t *p)
{
    uint64_t v;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
static __device__ __forceinline__ void publish_word(uint32_t *p, uint32_t v)
{
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
static __device__ __forceinline__ void publish_word(uint64_t *p, uint64_t v)
{
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}
template <typename T> __device__ T peek(const T *p, int64_t i)
{
    words_of<T> w;
    T v;
    for (int k = 0; k < words_of<T>::N; k++) w.of[k] = peek_word((const typename words_of<T>::word *)(p + i) + k);
    memcpy(&v, &w, sizeof v);
    return v;
}
template <typename T> __device__ void publish(T *p, int64_t i, T v)
{
    words_of<T> w = to_publish(v);
    for (int k = 0; k < words_of<T>::N; k++) publish_word((typename words_of<T>::word *)(p + i) + k, w.of[k]);
}
static __device__ __forceinline__ void wait_for_blocks() {}
#else
template <typename T> T peek(simt::array<T> p, INDEX i)
{
    words_of<std::remove_const_t<T>> w;
    T v, *from = p.slot(i.i, i.at);
    p.note(ACCESS_ATOMIC, from, i.at);
    for (int k = 0; k < words_of<T>::N; k++)
        w.of[k] = __atomic_load_n((const typename words_of<T>::word *)from + k, __ATOMIC_RELAXED);
    memcpy(&v, &w, sizeof v);
    return v;
}
template <typename T> void publish(simt::array<T> p, INDEX i, T v)
{
    words_of<T> w = to_publish(v);
    T *to = p.slot(i.i, i.at);
    p.note(ACCESS_ATOMIC, to, i.at);
    for (int k = 0; k < words_of<T>::N; k++)
        __atomic_store_n((typename words_of<T>::word *)to + k, w.of[k], __ATOMIC_RELAXED);
}
inline void wait_for_blocks(simt::source at = HERE)
{
    simt::wait_for_blocks(at);
}
#endif

#endif
