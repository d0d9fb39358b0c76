/* Between devices: loads and stores of another device's memory, and flags. Flag i of p is set by flag_set after
   everything that the calling thread, and the threads that it has synchronised with, have written to memory; a thread
   that reads the new value by flag_of sees all of it. */
#ifndef GPU_PEERS_H
#define GPU_PEERS_H

#include "gpu/dialect.h"

/* How long a launch waits for a flag of another device, in us. The members of the emulator run one after another, so a
   flag that is not there never comes. */
enum { FLAG_LOOKS = 64 };
#ifdef __CUDACC__
#define FLAG_WAIT_US 2e7
static __device__ __forceinline__ void flag_set(unsigned *p, int64_t i, unsigned v)
{
    asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(p + i), "r"(v) : "memory");
}
static __device__ __forceinline__ unsigned flag_of(const unsigned *p, int64_t i)
{
    unsigned v;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(v) : "l"(p + i) : "memory");
    return v;
}
/* p[i], which another device may have written since the launch began. */
static __device__ __forceinline__ double fresh(const double *p, int64_t i)
{
    double v;
    asm volatile("ld.relaxed.sys.f64 %0, [%1];" : "=d"(v) : "l"(p + i) : "memory");
    return v;
}
static __device__ __forceinline__ void fence_system()
{
    __threadfence_system();
}
#else
#define FLAG_WAIT_US (-1.0)
inline void flag_set(simt::array<unsigned> p, INDEX i, unsigned v)
{
    unsigned *to = p.slot(i.i, i.at);
    p.note(ACCESS_ATOMIC, to, i.at);
    __atomic_store_n(to, v, __ATOMIC_RELEASE);
}
inline unsigned flag_of(simt::array<unsigned> p, INDEX i)
{
    unsigned *from = p.slot(i.i, i.at);
    p.note(ACCESS_ATOMIC, from, i.at);
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
inline double fresh(simt::array<double> p, INDEX i)
{
    return p.load(i.i, i.at);
}
inline void fence_system()
{
    __threadfence();
}
#endif

namespace KERNEL_SPACE
{

/* The number of an exchange between members of a device. With flags, the launches of each member count its exchanges;
   otherwise the host does. */
struct exchange {
    bool counted;
    unsigned number;      /* not counted: the number */
    GPTR(unsigned) count; /* counted: the number of the last exchange that this member began */
};
/* The exchange that this launch begins; the launch then stores its number in `count`. */
template <typename X> __device__ unsigned exchange_next(const X &x)
{
    return x.counted ? x.count[0] + 1 : x.number;
}
/* The exchange that an earlier launch began. */
template <typename X> __device__ unsigned exchange_now(const X &x)
{
    return x.counted ? +x.count[0] : x.number;
}
#define EXCHANGE(of, n)                                                                      \
    {                                                                                        \
        (of) != nullptr, n, VECTOR("count", ROLE_WORK, (void *)(of), (of) ? 1 : 0, unsigned) \
    }

/* One thread: wait until flag i has at least the value `epoch`. false: it did not come in time. */
template <typename P> __device__ bool flag_arrives(P flag, int i, unsigned epoch)
{
    double from = 0;
    for (int looks = 0;; looks++) {
        if ((int)(flag_of(flag, i) - epoch) >= 0) return true;
        if (looks % FLAG_LOOKS) continue; /* reading the clock takes longer than reading the flag */
        if (looks == 0) from = clock_us();
        if (clock_us() - from > FLAG_WAIT_US) return false;
    }
}

} // namespace KERNEL_SPACE

#endif
