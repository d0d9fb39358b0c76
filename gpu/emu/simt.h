/* The emulator: enough of a GPU for the kernel dialect to run, unchanged, on the host under g++.
   One fiber per thread of a block. A fiber runs until it must wait for others (a shuffle, a vote, a barrier) or
   returns; the blocks of a grid go one after another, or, where the kernel's result does not depend on their order,
   side by side on the host's threads. What a GPU would let pass in silence is a finding here: an index outside its
   array, a barrier that not all threads of the block reach at the same line, a shuffle whose mask names a lane that is
   not there. The first finding ends the launch and is reported by the device's sync. Where a launch is watched
   (scope.h), each lane also notes what it touches; that costs nothing where none is. It models what is accessed and in
   which order it may happen, not how long it takes. */
#ifndef SIMT_H
#define SIMT_H

#include "machine/microscope.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

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

enum wait : unsigned char { RUNS, AT_BARRIER, AT_EXCHANGE, AT_ATOMIC, LOG_FULL, RETURNED };

/* What the lanes of a warp do together. */
enum collective : unsigned char {
    SYNC_WARP,
    BALLOT,
    VOTE_ANY,
    VOTE_ALL,
    SHUFFLE_DOWN,
    SHUFFLE_UP,
    SHUFFLE_XOR,
    SHUFFLE,
    COLLECTIVES
};
extern const char *const collective_names[COLLECTIVES]; /* "__syncwarp", "__ballot_sync", ... */

/* What a lane brings to an exchange with the lanes of its warp, and what it takes away. */
struct exchange {
    unsigned mask;
    source at;
    int from;             /* the lane it reads, or -1: a vote */
    bool says;            /* its vote */
    uint64_t value;       /* its own value, then the value read */
    unsigned ballot;      /* the votes of all lanes of the mask */
    enum collective what; /* lanes that meet must mean the same */
};

struct lane {
    dim3 tid;
    unsigned number; /* in its block */
    enum wait wait;
    source at;          /* where it waits */
    unsigned shared_at; /* bytes of shared memory it has declared so far */
    int unroll;         /* turns that go together of the loop that it is in */
    exchange x;
};

struct machine {
    lane *self = nullptr; /* the lane that runs now */
    dim3 block, block_dim, grid_dim;
    char *shared = nullptr;
    bool watched = false; /* lanes note what they touch */
};
extern constinit thread_local machine now; /* a host thread runs a block at a time */

enum { SHARED_MOST = 48 * 1024, BLOCK_MOST = 1024 };

/* Record a finding and leave the launch; never returns to the kernel. */
[[noreturn]] void found(source at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void barrier(source at);
void exchange_with_warp(source at);
unsigned shared_bytes(unsigned bytes, const char *name, source at);
/* Before an atomic in a launch that is watched: wait until all lanes of the block do, as what an atomic gives depends
   on who comes first, and lanes of a warp come together. */
void await_others();
/* The lane that runs touches element k of the array of n elements at base, in a launch that is watched. */
void touch(enum touch what, const void *base, int64_t k, int64_t n, unsigned size, bool integral, const char *name,
           enum role role, source at);
/* The lane that runs comes to the end of a turn of a loop, in a launch that is watched. */
void rejoin(source at);
/* body(ctx) for every thread of the grid. kernel is the launch as the source has it, function what it runs; both are
   for messages. */
void launch(const char *kernel, const char *function, dim3 grid, dim3 block, void (*body)(void *), void *ctx);

/* An index that knows the source line it was written on, so that p[i] still reads as p[i]. */
struct index {
    int64_t i;
    source at;
    template <typename I> index(I value, source here = HERE) : i(static_cast<int64_t>(value)), at(here) {}
};

template <typename T> struct cell;

/* A bounds-checked array: global memory, or (kind "shared") a block's own. Reading a constant one gives the value;
   other ones give a cell, which knows whether it is read or written. */
template <typename T> struct array {
    T *base;
    int64_t n, offset;
    const char *name;
    enum role role;

    T *slot(int64_t i, source at) const
    {
        int64_t k = offset + i;
        if (static_cast<uint64_t>(k) >= static_cast<uint64_t>(n))
            found(at, "index %lld of %s is outside it: it has %lld elements", static_cast<long long>(k), name,
                  static_cast<long long>(n));
        return base + k;
    }
    /* Element p is touched. */
    void see(enum touch what, T *p, source at) const
    {
        if (now.watched) touch(what, base, p - base, n, sizeof(T), std::is_integral_v<T>, name, role, at);
    }
    T load(int64_t i, source at, enum touch what = TOUCH_LOAD) const
    {
        T *p = slot(i, at);
        see(what, p, at);
        return *p;
    }
    auto operator[](index i) const
    {
        if constexpr (std::is_const_v<T>)
            return static_cast<std::remove_const_t<T>>(load(i.i, i.at));
        else
            return cell<T>{*this, slot(i.i, i.at), i.at};
    }
    array operator+(int64_t k) const { return {base, n, offset + k, name, role}; }
    operator array<const T>() const { return {base, n, offset, name, role}; }
};

/* An element that may be read or written. */
template <typename T> struct cell {
    array<T> of;
    T *p;
    source at;

    operator T() const
    {
        of.see(TOUCH_LOAD, p, at);
        return *p;
    }
    T operator=(T v) const
    {
        of.see(TOUCH_STORE, p, at);
        return *p = v;
    }
    T operator=(const cell &from) const { return *this = static_cast<T>(from); }
    T operator+=(T v) const { return *this = static_cast<T>(*this) + v; }
    T operator-=(T v) const { return *this = static_cast<T>(*this) - v; }
    T operator/=(T v) const { return *this = static_cast<T>(*this) / v; }
    T operator*=(T v) const { return *this = static_cast<T>(*this) * v; }
};

template <typename T> array<T> shared(int64_t n, const char *name, source here)
{
    unsigned at = shared_bytes(static_cast<unsigned>(n * static_cast<int64_t>(sizeof(T))), name, here);
    return {reinterpret_cast<T *>(now.shared + at), n, 0, name, ROLE_WORK};
}

/* The loop that follows goes n turns at a time; its lane notes that with each access. */
struct unrolled {
    int outer;
    bool first = true;

    explicit unrolled(int turns) : outer(now.self->unroll) { now.self->unroll = turns; }
    ~unrolled() { now.self->unroll = outer; }
    bool once() { return std::exchange(first, false); }
};

/* A kernel that is handed on to be launched, and its name in the source. */
template <typename F> struct named_kernel {
    F *kernel;
    const char *name;
};
template <typename F> named_kernel<F> named(const char *name, F *kernel)
{
    return {kernel, name};
}

/* LAUNCH(...)(arguments): holds the kernel until its arguments come. */
template <typename... P> struct launcher {
    const char *name, *function;
    dim3 grid, block;
    void (*kernel)(P...);

    void operator()(std::type_identity_t<P>... args) const
    {
        std::tuple<launcher, P...> call(*this, args...);
        launch(
            name, function, grid, block,
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
    return {name, name, grid, block, kernel};
}
template <typename... P>
launcher<P...> prepare(const struct device *, const char *name, dim3 grid, dim3 block, named_kernel<void(P...)> k)
{
    return {name, k.name, grid, block, k.kernel};
}

template <typename T> T read_lane(enum collective what, unsigned mask, T value, int from, source at)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    exchange &x = now.self->x;
    x = {mask, at, from, false, 0, 0, what};
    memcpy(&x.value, &value, sizeof value);
    exchange_with_warp(at);
    memcpy(&value, &x.value, sizeof value);
    return value;
}

inline unsigned vote(enum collective what, unsigned mask, bool says, source at)
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
                                    (L)->A->of->a[k].name, (L)->A->of->a[k].role})
#define VECTOR(name, role, p, n, ...) (simt::array<__VA_ARGS__>{static_cast<__VA_ARGS__ *>(p), (n), 0, name, role})
#define KERNEL_POINTER(...) simt::named_kernel<__VA_ARGS__>
#define KERNEL(...) simt::named(#__VA_ARGS__, __VA_ARGS__)
#define UNROLL_NAME(line) UNROLL_PASTE(line)
#define UNROLL_PASTE(line) unrolled_##line
#define UNROLL(n) for (simt::unrolled UNROLL_NAME(__LINE__)(n); UNROLL_NAME(__LINE__).once();)
#define UNROLL_WHOLE UNROLL(TURNS_WHOLE)
#define AHEAD(n) UNROLL(n)
#define SHARED(T, name, n) simt::array<T> name = simt::shared<T>(n, #name, HERE)
#define LAUNCH(d, grid, block, ...) simt::prepare((d), #__VA_ARGS__, grid, block, __VA_ARGS__)

/* ---- the built-in functions of the dialect; `at` is filled in by the compiler ---- */

inline void __syncthreads(simt::source at = HERE)
{
    simt::barrier(at);
}
inline void __threadfence()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void __syncwarp(unsigned mask = FULL_MASK, simt::source at = HERE)
{
    simt::vote(simt::SYNC_WARP, mask, true, at);
}
inline unsigned __ballot_sync(unsigned mask, bool says, simt::source at = HERE)
{
    return simt::vote(simt::BALLOT, mask, says, at);
}
inline bool __any_sync(unsigned mask, bool says, simt::source at = HERE)
{
    return simt::vote(simt::VOTE_ANY, mask, says, at) != 0;
}
inline bool __all_sync(unsigned mask, bool says, simt::source at = HERE)
{
    return simt::vote(simt::VOTE_ALL, mask, says, at) == mask;
}

/* In groups of `width` lanes; a lane that would read past its group reads itself. */
template <typename T> T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = me % width + static_cast<int>(delta) < width ? me + static_cast<int>(delta) : me;
    return simt::read_lane(simt::SHUFFLE_DOWN, mask, v, from, at);
}
template <typename T> T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = me % width >= static_cast<int>(delta) ? me - static_cast<int>(delta) : me;
    return simt::read_lane(simt::SHUFFLE_UP, mask, v, from, at);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T v, int flip, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = (me ^ flip) / width <= me / width ? me ^ flip : me;
    return simt::read_lane(simt::SHUFFLE_XOR, mask, v, from, at);
}
template <typename T> T __shfl_sync(unsigned mask, T v, int from, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    return simt::read_lane(simt::SHUFFLE, mask, v, me / width * width + (from & (width - 1)), at);
}

template <typename T> T __ldg(simt::array<const T> p, simt::source at = HERE)
{
    return p.load(0, at);
}

/* Atomics are the host's own: blocks may go side by side. */
template <typename T> std::atomic_ref<T> atomic_slot(simt::array<T> p, simt::source at)
{
    T *slot = p.slot(0, at);
    if (simt::now.watched) simt::await_others();
    p.see(TOUCH_ATOMIC, slot, at);
    return std::atomic_ref<T>(*slot);
}
template <typename T, typename V> T atomicAdd(simt::array<T> p, V v, simt::source at = HERE)
{
    return atomic_slot(p, at).fetch_add(static_cast<T>(v));
}
template <typename T, typename V> T atomicMax(simt::array<T> p, V v, simt::source at = HERE)
{
    auto slot = atomic_slot(p, at);
    T old = slot.load();
    while (!slot.compare_exchange_weak(old, std::max(old, static_cast<T>(v)))) {
    }
    return old;
}
template <typename T, typename V> T atomicExch(simt::array<T> p, V v, simt::source at = HERE)
{
    return atomic_slot(p, at).exchange(static_cast<T>(v));
}
template <typename T, typename V> T atomicCAS(simt::array<T> p, V expected, V v, simt::source at = HERE)
{
    T old = static_cast<T>(expected);
    atomic_slot(p, at).compare_exchange_strong(old, static_cast<T>(v));
    return old;
}
/* The end of a turn of a loop in which lanes may have skipped all accesses: on a GPU they wait for the others. */
inline void rejoin(simt::source at = HERE)
{
    if (simt::now.watched) simt::rejoin(at);
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
