/* The emulator: enough of a GPU for the kernel dialect to run, unchanged, on the host under g++.
   One fiber per thread of a block. A fiber runs until it must wait for others (a shuffle, a vote, a barrier) or
   returns; the blocks of a grid go one after another. What a GPU would let pass in silence is a finding here:
   an index outside its array, a barrier that not all threads of the block reach at the same line, a shuffle whose
   mask names a lane that is not there. The first finding ends the launch and is reported by the device's sync.
   It models what is accessed and in which order it may happen, not how long it takes. */
#ifndef SIMT_H
#define SIMT_H

#include <algorithm>
#include <cmath>
#include <cstring>
#include <source_location>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__ inline
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace simt
{

/* A line of a kernel. As a default argument HERE is the caller's. */
using source = std::source_location;
#define HERE (std::source_location::current())

using std::max;
using std::min;

enum wait : unsigned char { RUNS, AT_BARRIER, AT_EXCHANGE, RETURNED };

/* What a lane brings to an exchange with the lanes of its warp, and what it takes away. */
struct exchange {
    unsigned mask;
    source at;
    int from;         /* the lane it reads, or -1: a vote */
    bool says;        /* its vote */
    uint64_t value;   /* its own value, then the value read */
    unsigned ballot;  /* the votes of all lanes of the mask */
    const char *what; /* "__shfl_down_sync": lanes that meet must mean the same */
};

struct lane {
    dim3 tid;
    unsigned number; /* in its block */
    enum wait wait;
    source at;          /* where it waits */
    unsigned shared_at; /* bytes of shared memory it has declared so far */
    exchange x;
};

struct machine {
    lane *self; /* the lane that runs now */
    dim3 block, block_dim, grid_dim;
    char *shared;
};
extern machine now;

enum { SHARED_MOST = 48 * 1024, BLOCK_MOST = 1024 };

/* Record a finding and leave the launch; never returns to the kernel. */
[[noreturn]] void found(source at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void barrier(source at);
void exchange_with_warp(source at);
unsigned shared_bytes(unsigned bytes, const char *name, source at);
/* body(ctx) for every thread of the grid. kernel is for messages. */
void launch(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *ctx);

/* An index that knows the source line it was written on, so that p[i] still reads as p[i]. */
struct index {
    int64_t i;
    source at;
    template <typename I> index(I value, source here = HERE) : i(static_cast<int64_t>(value)), at(here) {}
};

/* A bounds-checked array: global memory, or (kind "shared") a block's own. */
template <typename T> struct array {
    T *base;
    int64_t n, offset;
    const char *name;

    T *slot(int64_t i, source at) const
    {
        int64_t k = offset + i;
        if (static_cast<uint64_t>(k) >= static_cast<uint64_t>(n))
            found(at, "index %lld of %s is outside it: it has %lld elements", static_cast<long long>(k), name,
                  static_cast<long long>(n));
        return base + k;
    }
    T &operator[](index i) const { return *slot(i.i, i.at); }
    array operator+(int64_t k) const { return {base, n, offset + k, name}; }
    operator array<const T>() const { return {base, n, offset, name}; }
};

template <typename T> array<T> shared(int64_t n, const char *name, source here)
{
    unsigned at = shared_bytes(static_cast<unsigned>(n * static_cast<int64_t>(sizeof(T))), name, here);
    return {reinterpret_cast<T *>(now.shared + at), n, 0, name};
}

/* LAUNCH(...)(arguments): holds the kernel until its arguments come. */
template <typename... P> struct launcher {
    const char *name;
    dim3 grid, block;
    void (*kernel)(P...);

    void operator()(std::type_identity_t<P>... args) const
    {
        std::tuple<launcher, P...> call(*this, args...);
        launch(
            name, grid, block,
            [](void *ctx) {
                std::apply([](const launcher &l, const P &...a) { l.kernel(a...); },
                           *static_cast<std::tuple<launcher, P...> *>(ctx));
            },
            &call);
    }
};

template <typename... P>
launcher<P...> prepare(const struct device *, const char *name, dim3 grid, dim3 block, void (*kernel)(P...))
{
    return {name, grid, block, kernel};
}

template <typename T> T read_lane(const char *what, unsigned mask, T value, int from, source at)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    exchange &x = now.self->x;
    x = {mask, at, from, false, 0, 0, what};
    memcpy(&x.value, &value, sizeof value);
    exchange_with_warp(at);
    memcpy(&value, &x.value, sizeof value);
    return value;
}

inline unsigned vote(const char *what, unsigned mask, bool says, source at)
{
    exchange &x = now.self->x;
    x = {mask, at, -1, says, 0, 0, what};
    exchange_with_warp(at);
    return x.ballot;
}

inline int lane_of_warp()
{
    return static_cast<int>(now.self->number % WARP);
}

} // namespace simt

#define threadIdx (simt::now.self->tid)
#define blockIdx (simt::now.block)
#define blockDim (simt::now.block_dim)
#define gridDim (simt::now.grid_dim)

#define GPTR(...) simt::array<__VA_ARGS__>
#define ARRAY(L, k, ...)                                                                                     \
    (simt::array<const __VA_ARGS__>{static_cast<const __VA_ARGS__ *>((L)->A->ptr[k]), (L)->A->of->a[k].n, 0, \
                                    (L)->A->of->a[k].name})
#define VECTOR(name, p, n, ...) (simt::array<__VA_ARGS__>{static_cast<__VA_ARGS__ *>(p), (n), 0, name})
#define SHARED(T, name, n) simt::array<T> name = simt::shared<T>(n, #name, HERE)
#define LAUNCH(d, grid, block, ...) simt::prepare((d), #__VA_ARGS__, grid, block, __VA_ARGS__)

/* ---- the built-in functions of the dialect; `at` is filled in by the compiler ---- */

inline void __syncthreads(simt::source at = HERE)
{
    simt::barrier(at);
}
inline void __threadfence() {}
inline void __syncwarp(unsigned mask = FULL_MASK, simt::source at = HERE)
{
    simt::vote("__syncwarp", mask, true, at);
}
inline unsigned __ballot_sync(unsigned mask, bool says, simt::source at = HERE)
{
    return simt::vote("__ballot_sync", mask, says, at);
}
inline bool __any_sync(unsigned mask, bool says, simt::source at = HERE)
{
    return simt::vote("__any_sync", mask, says, at) != 0;
}
inline bool __all_sync(unsigned mask, bool says, simt::source at = HERE)
{
    return simt::vote("__all_sync", mask, says, at) == mask;
}

/* In groups of `width` lanes; a lane that would read past its group reads itself. */
template <typename T> T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = me % width + static_cast<int>(delta) < width ? me + static_cast<int>(delta) : me;
    return simt::read_lane("__shfl_down_sync", mask, v, from, at);
}
template <typename T> T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = me % width >= static_cast<int>(delta) ? me - static_cast<int>(delta) : me;
    return simt::read_lane("__shfl_up_sync", mask, v, from, at);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T v, int flip, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = (me ^ flip) / width <= me / width ? me ^ flip : me;
    return simt::read_lane("__shfl_xor_sync", mask, v, from, at);
}
template <typename T> T __shfl_sync(unsigned mask, T v, int from, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    return simt::read_lane("__shfl_sync", mask, v, me / width * width + (from & (width - 1)), at);
}

template <typename T> T __ldg(simt::array<const T> p, simt::source at = HERE)
{
    return *p.slot(0, at);
}
template <typename T, typename V> T atomicAdd(simt::array<T> p, V v, simt::source at = HERE)
{
    T *slot = p.slot(0, at), old = *slot;
    *slot = old + static_cast<T>(v);
    return old;
}
template <typename T, typename V> T atomicMax(simt::array<T> p, V v, simt::source at = HERE)
{
    T *slot = p.slot(0, at), old = *slot;
    *slot = std::max(old, static_cast<T>(v));
    return old;
}
template <typename T, typename V> T atomicExch(simt::array<T> p, V v, simt::source at = HERE)
{
    T *slot = p.slot(0, at), old = *slot;
    *slot = static_cast<T>(v);
    return old;
}
template <typename T, typename V> T atomicCAS(simt::array<T> p, V expected, V v, simt::source at = HERE)
{
    T *slot = p.slot(0, at), old = *slot;
    if (old == static_cast<T>(expected)) *slot = static_cast<T>(v);
    return old;
}
inline int __popc(unsigned v)
{
    return __builtin_popcount(v);
}
inline int __clz(int v)
{
    return v ? __builtin_clz(static_cast<unsigned>(v)) : 32;
}
inline int __ffs(int v)
{
    return __builtin_ffs(v);
}
using std::max;
using std::min;

#endif
