/* The emulator, which models enough of a GPU to run the kernels unchanged on the host: g++ compiles the same source.
   Each thread of a block is a fiber. A fiber runs until it returns or must wait for other threads at a shuffle, a vote
   or a barrier. The blocks of a grid run one after another, or, if the kernel's result does not depend on their order,
   in parallel on the host's threads. Errors that a GPU would not report are findings here: an index outside its array,
   a barrier that not all threads of the block reach at the same line, a shuffle whose mask names a lane that does not
   call it. The first finding ends the launch; the device's sync reports it. When a launch is watched (scope.h), each
   lane also notes its accesses; other launches do not pay for that. The emulator models what is accessed and in which
   order, not how long it takes. */
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

/* A line of a kernel. HERE as a default argument gives the line of the caller. */
using source = std::source_location;
#define HERE (std::source_location::current())

using std::max;
using std::min;

enum wait : unsigned char { RUNS, AT_BARRIER, AT_CLUSTER_BARRIER, AT_COLLECTIVE, AT_ATOMIC, LOG_FULL, RETURNED };

/* Warp collectives: operations that the lanes of a warp do together. */
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

/* The bytes of a value that a shuffle moves. */
struct shuffled {
    uint64_t word[2];
};

/* One lane's call of a warp collective: its arguments, then its result. */
struct collective_call {
    unsigned mask;
    source at;
    int from;             /* the lane whose value this lane reads; -1: a vote */
    bool vote;            /* the vote of this lane */
    shuffled value;       /* this lane's value, then the value read */
    unsigned ballot;      /* the votes of all lanes of the mask, one bit each */
    enum collective what; /* all lanes of the mask must call the same collective */
};

struct lane {
    dim3 tid, block;
    unsigned number; /* number of the thread in its block, or in its cluster */
    unsigned member; /* number of the block in its cluster */
    char *shared;    /* the shared memory of its block */
    enum wait wait;
    source at;  /* the source line at which the lane waits */
    int unroll; /* unroll factor of the enclosing loop, 1 outside of loops; or enum unroll_count */
    collective_call x;
};

struct machine {
    lane *self = nullptr; /* the running lane */
    dim3 block, block_dim, grid_dim;
    char *shared = nullptr;
    unsigned given = 0;   /* bytes of shared memory that the launch gives to SHARED_GIVEN */
    bool watched = false; /* lanes note their accesses, or the race check is on */
    unsigned left = 0;    /* accesses until the running lane yields, counted down; 0 stands for 2^32 */
};
extern constinit thread_local machine now; /* each host thread runs one block at a time */

enum { SHARED_MAX = SHARED_PLAIN + SHARED_GIVEN_MAX, BLOCK_MAX = 1024 };

/* Record a finding and leave the launch; never returns to the kernel. */
[[noreturn]] void found(source at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void barrier(enum wait what, source at);
void join_collective();
/* The place in shared memory of an array of this many bytes. `declaration` is the same whenever the block reaches the
   same declaration in the same instance of a function, which therefore has one array. */
unsigned shared_bytes(unsigned bytes, const void *declaration, const char *name, source at);
unsigned given_bytes(unsigned bytes, const char *name, source at);
/* Before an atomic in a watched launch: wait until all other lanes of the block wait too. The result of an atomic
   depends on the order of the lanes, and on a GPU the lanes of a warp reach it together. */
void wait_before_atomic();
/* The running lane accesses `elements` elements, from element k, of the array of n elements at base. once: as data that
   is not accessed again soon. Called only in a watched launch. */
void note_access(enum access_kind what, const void *base, int64_t k, int64_t n, unsigned size, int elements,
                 bool integral, bool once, const char *name, enum role role, source at);
/* Let the scheduler check whether the user has cancelled the launch. */
void rest();
/* The running lane is at the end of a loop iteration. Called only in a watched launch. */
void reconverge(source at);
/* Run body(ctx) for every thread of the grid. `kernel` is the text of the launch in the source, `function` is the name
   of the kernel that the launch runs, and `code` is its address. */
struct geometry {
    dim3 grid, block;
    unsigned given; /* bytes of shared memory for SHARED_GIVEN */
    /* number of blocks in a cluster; the blocks of a cluster run at the same time. If it is not 1, the grid is one
       cluster. */
    unsigned cluster = 1;
};
void launch(const char *kernel, const char *function, const void *code, geometry g, void (*body)(void *), void *ctx);

/* An index with the source line that it was written on, so that kernels can write p[i]. */
struct index {
    int64_t i;
    source at;
    template <typename I> index(I value, source here = HERE) : i(static_cast<int64_t>(value)), at(here) {}
};

template <typename T> struct cell;

/* N elements that a lane loads at once. */
template <typename T, int N> struct alignas(N * sizeof(T)) several {
    T of[N];
};

/* A bounds-checked array in global or shared memory. p[i] of a constant array is a value; p[i] of any other array is
   a cell, which distinguishes reads from writes. */
template <typename T> struct array {
    T *base;
    int64_t n, offset;
    const char *name;
    enum role role;

    T *slot(int64_t i, source at) const
    {
        int64_t k = offset + i;
        if (static_cast<uint64_t>(k) >= static_cast<uint64_t>(n))
            found(at, "index %lld of %s is outside the array, which has %lld elements", static_cast<long long>(k), name,
                  static_cast<long long>(n));
        return base + k;
    }
    void note(enum access_kind what, T *p, source at, int elements = 1, bool once = false) const
    {
        if (--now.left == 0) rest();
        if (now.watched)
            note_access(what, base, p - base, n, sizeof(T), elements, std::is_integral_v<T>, once, name, role, at);
    }
    T load(int64_t i, source at, enum access_kind what = ACCESS_LOAD, bool once = false) const
    {
        T *p = slot(i, at);
        note(what, p, at, 1, once);
        return *p;
    }
    /* elements i .. i+N-1 in one access; i is a multiple of N */
    template <int N> several<std::remove_const_t<T>, N> load_several(int64_t i, source at, bool once = false) const
    {
        several<std::remove_const_t<T>, N> v;
        T *p = slot(i, at);
        (void)slot(i + N - 1, at);
        if ((offset + i) % N)
            found(at, "a load of %d elements at %s[%lld], which is not aligned to them", N, name,
                  static_cast<long long>(offset + i));
        note(ACCESS_LOAD, p, at, N, once);
        memcpy(&v, p, sizeof v);
        return v;
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
        of.note(ACCESS_LOAD, p, at);
        return *p;
    }
    T operator=(T v) const
    {
        of.note(ACCESS_STORE, p, at);
        return *p = v;
    }
    T operator=(const cell &from) const { return *this = static_cast<T>(from); }
    T operator+=(T v) const { return *this = static_cast<T>(*this) + v; }
    T operator-=(T v) const { return *this = static_cast<T>(*this) - v; }
    T operator/=(T v) const { return *this = static_cast<T>(*this) / v; }
    T operator*=(T v) const { return *this = static_cast<T>(*this) * v; }
    T operator|=(T v) const { return *this = static_cast<T>(*this) | v; }
    T operator&=(T v) const { return *this = static_cast<T>(*this) & v; }
    T operator^=(T v) const { return *this = static_cast<T>(*this) ^ v; }
    T operator++() const { return *this += 1; }
    T operator--() const { return *this -= 1; }
    T operator++(int) const { return (*this += 1) - 1; }
    T operator--(int) const { return (*this -= 1) + 1; }
};

template <typename T> array<T> shared(int64_t n, const void *declaration, const char *name, source here)
{
    unsigned at = shared_bytes(static_cast<unsigned>(n * static_cast<int64_t>(sizeof(T))), declaration, name, here);
    return {reinterpret_cast<T *>(now.self->shared + at), n, 0, name, ROLE_WORK};
}
template <typename T> array<T> shared_given(int64_t from, int64_t n, const char *name, source here)
{
    unsigned at = given_bytes(static_cast<unsigned>(from + n * static_cast<int64_t>(sizeof(T))), name, here);
    return {reinterpret_cast<T *>(now.self->shared + at + from), n, 0, name, ROLE_WORK};
}

/* While an object of this type exists, the running lane records `factor` as the unroll factor of each of its accesses.
 */
struct unrolled {
    int outer;
    bool first = true;

    explicit unrolled(int factor) : outer(now.self->unroll) { now.self->unroll = factor; }
    ~unrolled() { now.self->unroll = outer; }
    bool once() { return std::exchange(first, false); }
};

/* A kernel passed to the function that launches it, with its name in the source. */
template <typename F> struct named_kernel {
    F *kernel;
    const char *name;
};
template <typename F> named_kernel<F> named(const char *name, F *kernel)
{
    return {kernel, name};
}

/* LAUNCH(...)(arguments): LAUNCH makes a launcher, which stores the kernel; a call of the launcher runs the kernel. */
template <typename... P> struct launcher {
    const char *name, *function;
    geometry g;
    void (*kernel)(P...);

    void operator()(std::type_identity_t<P>... args) const
    {
        std::tuple<launcher, P...> call(*this, args...);
        launch(
            name, function, reinterpret_cast<const void *>(kernel), g,
            [](void *ctx) {
                std::apply([](const launcher &l, const P &...a) { l.kernel(a...); },
                           *static_cast<std::tuple<launcher, P...> *>(ctx));
            },
            &call);
    }
};

template <typename... P>
launcher<P...> prepare(const struct device *, const char *name, geometry g, void (*kernel)(P...))
{
    return {name, name, g, kernel};
}
template <typename... P>
launcher<P...> prepare(const struct device *, const char *name, geometry g, named_kernel<void(P...)> k)
{
    return {name, k.name, g, k.kernel};
}

/* The running lane's call, for which the caller sets `from` and `vote`. The members are set one by one: assigning a
   temporary struct would write it in small pieces and read it back in large ones, and the processor waits for that. */
inline collective_call &call_collective(enum collective what, unsigned mask, source at)
{
    collective_call &x = now.self->x;
    x.mask = mask;
    x.at = at;
    x.what = what;
    return x;
}

template <typename T> T read_lane(enum collective what, unsigned mask, T value, int from, source at)
{
    static_assert(sizeof(T) <= sizeof(shuffled), "a shuffle moves at most a complex number in fp64");
    collective_call &x = call_collective(what, mask, at);
    x.from = from;
    x.vote = false;
    memcpy(&x.value, &value, sizeof value);
    join_collective();
    memcpy(&value, &x.value, sizeof value);
    return value;
}

inline unsigned vote(enum collective what, unsigned mask, bool predicate, source at)
{
    collective_call &x = call_collective(what, mask, at);
    x.from = -1;
    x.vote = predicate;
    join_collective();
    return x.ballot;
}

inline int lane_of_warp()
{
    return static_cast<int>(now.self->number % WARP);
}

} // namespace simt

#define threadIdx (simt::now.self->tid)
#define blockIdx (simt::now.self->block)
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
#define UNROLL_WHOLE UNROLL(UNROLL_ALL)
#define AHEAD(n) UNROLL(n)
#define SHARED(T, name, n) simt::array<T> name = simt::shared<T>(n, DECLARATION, #name, HERE)
/* An address that each instance of the enclosing function has for itself. */
#define DECLARATION                 \
    [] {                            \
        static const char here = 0; \
        return &here;               \
    }()
#define SHARED_GIVEN(T, name, n) SHARED_GIVEN_AT(T, name, 0, n)
#define SHARED_GIVEN_AT(T, name, from, n) simt::array<T> name = simt::shared_given<T>((from), (n), #name, HERE)
#define LAUNCH(d, grid, block, ...) simt::prepare((d), #__VA_ARGS__, simt::geometry{(grid), (block), 0}, __VA_ARGS__)
#define LAUNCH_GIVEN(d, grid, block, bytes, ...) \
    simt::prepare((d), #__VA_ARGS__, simt::geometry{(grid), (block), static_cast<unsigned>(bytes)}, __VA_ARGS__)
#define LAUNCH_CLUSTER(d, blocks, block, bytes, ...)                                                            \
    simt::prepare((d), #__VA_ARGS__, simt::geometry{(blocks), (block), static_cast<unsigned>(bytes), (blocks)}, \
                  __VA_ARGS__)

/* ---- the built-in functions of the dialect; `at` is filled in by the compiler ---- */

inline void __syncthreads(simt::source at = HERE)
{
    simt::barrier(simt::AT_BARRIER, at);
}
/* With blocks of 256 threads, the emulator runs 4 of them together. */
inline int cluster_blocks(void)
{
    return simt::BLOCK_MAX / 256;
}
inline void cluster_sync(simt::source at = HERE)
{
    simt::barrier(simt::AT_CLUSTER_BARRIER, at);
}
/* The shared memory of block number `block` of the cluster. */
template <typename T> simt::array<T> in_block(simt::array<T> p, unsigned block, simt::source at = HERE)
{
    if (block >= gridDim.x) simt::found(at, "block %u is outside the cluster, which has %u blocks", block, gridDim.x);
    const simt::lane *l = simt::now.self;
    char *own = reinterpret_cast<char *>(p.base), *of_first = own - static_cast<size_t>(l->member) * simt::SHARED_MAX;
    return {reinterpret_cast<T *>(of_first + static_cast<size_t>(block) * simt::SHARED_MAX), p.n, p.offset, p.name,
            p.role};
}
inline void __threadfence()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void __syncwarp(unsigned mask = FULL_MASK, simt::source at = HERE)
{
    simt::vote(simt::SYNC_WARP, mask, true, at);
}
inline unsigned __ballot_sync(unsigned mask, bool predicate, simt::source at = HERE)
{
    return simt::vote(simt::BALLOT, mask, predicate, at);
}
inline bool __any_sync(unsigned mask, bool predicate, simt::source at = HERE)
{
    return simt::vote(simt::VOTE_ANY, mask, predicate, at) != 0;
}
inline bool __all_sync(unsigned mask, bool predicate, simt::source at = HERE)
{
    return simt::vote(simt::VOTE_ALL, mask, predicate, at) == mask;
}

/* Shuffles work within groups of `width` lanes, a power of two; a lane that would read past the end of its group reads
   its own value. */
template <typename T> T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = (me & (width - 1)) + static_cast<int>(delta) < width ? me + static_cast<int>(delta) : me;
    return simt::read_lane(simt::SHUFFLE_DOWN, mask, v, from, at);
}
template <typename T> T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = (me & (width - 1)) >= static_cast<int>(delta) ? me - static_cast<int>(delta) : me;
    return simt::read_lane(simt::SHUFFLE_UP, mask, v, from, at);
}
template <typename T> T __shfl_xor_sync(unsigned mask, T v, int flip, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    int from = ((me ^ flip) & -width) <= (me & -width) ? me ^ flip : me;
    return simt::read_lane(simt::SHUFFLE_XOR, mask, v, from, at);
}
template <typename T> T __shfl_sync(unsigned mask, T v, int from, int width = WARP, simt::source at = HERE)
{
    int me = simt::lane_of_warp();
    return simt::read_lane(simt::SHUFFLE, mask, v, (me & -width) + (from & (width - 1)), at);
}

template <typename T> T __ldg(simt::array<const T> p, simt::source at = HERE)
{
    return p.load(0, at);
}

/* These functions use the host's atomics, because blocks may run in parallel. */
template <typename T> std::atomic_ref<T> atomic_slot(simt::array<T> p, simt::source at)
{
    T *slot = p.slot(0, at);
    if (simt::now.watched) simt::wait_before_atomic();
    p.note(ACCESS_ATOMIC, slot, at);
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
/* The end of a loop iteration in which some lanes may have made no access: on a GPU, such lanes wait there for the
   other lanes of their warp. */
inline void reconverge(simt::source at = HERE)
{
    if (simt::now.watched) simt::reconverge(at);
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
