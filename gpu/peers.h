/* Between devices: loads and stores of another device's memory, and flags. Flag i of p is set by flag_set after
   everything that the calling thread, and the threads that it has synchronised with, have written to memory; a thread
   that reads the new value by flag_of sees all of it. */
#ifndef GPU_PEERS_H
#define GPU_PEERS_H

#include "gpu/dialect.h"
#include "member_place.h"

enum { FLAG_LOOKS = 64 }; /* looks at a flag between two readings of the clock */

/* How long a launch waits for a flag of another device, in us. The members of the emulator run one after another, so a
   flag that is not there never comes. */
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
static __device__ __forceinline__ float fresh(const float *p, int64_t i)
{
    float v;
    asm volatile("ld.relaxed.sys.f32 %0, [%1];" : "=f"(v) : "l"(p + i) : "memory");
    return v;
}
template <typename R> static __device__ __forceinline__ cplx<R> fresh(const cplx<R> *p, int64_t i)
{
    const R *parts = reinterpret_cast<const R *>(p);
    return {fresh(parts, 2 * i), fresh(parts, 2 * i + 1)};
}
static __device__ __forceinline__ unsigned long long fresh(const unsigned long long *p, int64_t i)
{
    unsigned long long v;
    asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(v) : "l"(p + i) : "memory");
    return v;
}
/* Store a word as a whole, in no order with other stores. */
static __device__ __forceinline__ void word_set(unsigned long long *p, int64_t i, unsigned long long v)
{
    asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(p + i), "l"(v) : "memory");
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
template <typename T> auto fresh(simt::array<T> p, INDEX i)
{
    return p.load(i.i, i.at);
}
inline unsigned long long fresh(simt::array<unsigned long long> p, INDEX i)
{
    unsigned long long *from = p.slot(i.i, i.at);
    p.note(ACCESS_ATOMIC, from, i.at);
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}
inline void word_set(simt::array<unsigned long long> p, INDEX i, unsigned long long v)
{
    unsigned long long *to = p.slot(i.i, i.at);
    p.note(ACCESS_ATOMIC, to, i.at);
    __atomic_store_n(to, v, __ATOMIC_RELAXED);
}
/* The same for members whose memory is host memory. */
inline unsigned long long fresh(const unsigned long long *p, int64_t i)
{
    return __atomic_load_n(p + i, __ATOMIC_RELAXED);
}
inline void word_set(unsigned long long *p, int64_t i, unsigned long long v)
{
    __atomic_store_n(p + i, v, __ATOMIC_RELAXED);
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

/* How long a thread has waited for another device. */
struct flag_wait {
    int looks;
    double from;
};
/* After a look that found nothing. Reading the clock takes longer than a look. */
static __device__ bool flag_wait_ends(struct flag_wait &w)
{
    if (w.looks++ % FLAG_LOOKS) return false;
    if (w.looks == 1) w.from = clock_us();
    return clock_us() - w.from > FLAG_WAIT_US;
}

/* One thread: wait until flag i has at least the value `epoch`. false: it did not come in time. */
template <typename P> __device__ bool flag_arrives(P flag, int i, unsigned epoch)
{
    struct flag_wait w = {0, 0};
    while ((int)(flag_of(flag, i) - epoch) < 0)
        if (flag_wait_ends(w)) return false;
    return true;
}

/* Send v as sum i of a mailbox (gpu/member_place.h). */
template <typename P> __device__ void mail_put(P box, int64_t i, double v, unsigned epoch)
{
    unsigned long long bits, number = (unsigned long long)epoch << 32;
    memcpy(&bits, &v, sizeof bits);
    word_set(box, MAIL_WORDS * i, number | (bits & 0xffffffffu));
    word_set(box, MAIL_WORDS * i + 1, number | bits >> 32);
}

/* One look at N sums from sum i on. false: not all have arrived. All words are read before the first is judged, so that
   the loads overlap. */
template <int N, typename P> __device__ bool mail_look(P box, int64_t i, unsigned epoch, double *v)
{
    unsigned long long word[MAIL_WORDS * N];
    bool here = true;
    for (int k = 0; k < MAIL_WORDS * N; k++) word[k] = fresh(box, MAIL_WORDS * i + k);
    for (int k = 0; k < N; k++) {
        unsigned long long low = word[MAIL_WORDS * k], high = word[MAIL_WORDS * k + 1];
        unsigned long long bits = high << 32 | (low & 0xffffffffu);
        here = here && low >> 32 == epoch && high >> 32 == epoch;
        memcpy(&v[k], &bits, sizeof bits);
    }
    return here;
}

/* One thread: wait for N sums. false: they did not come in time. */
template <int N, typename P> __device__ bool mail_take(P box, int64_t i, unsigned epoch, double *v)
{
    struct flag_wait w = {0, 0};
    while (!mail_look<N>(box, i, epoch, v))
        if (flag_wait_ends(w)) return false;
    return true;
}

} // namespace KERNEL_SPACE

#endif
