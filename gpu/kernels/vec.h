/* What all vector operations of the solvers share: sums in a fixed order, the record of each iteration, and
   passes, which are written once for the GPU and for the host. */
#ifndef VEC_H
#define VEC_H

#include "gpu/dialect.h"
#include "gpu/member_place.h"
#include "gpu/peers.h"

#include "machine/reason.h"
#include "machine/sum_tree.h"
#include "machine/vec_ops.h"

#include <cfloat>
#include <cmath>

namespace KERNEL_SPACE
{

/* Four elements per thread, so that several loads are in flight at the same time. */
enum { VEC_BLOCK = 256, VEC_EACH = 4, BLOCKS_PER_SM = 4, GATHER_BLOCKS_PER_SM = 6 };

template <bool MAX> __device__ double vec_join(double a, double b)
{
    return MAX ? (b > a ? b : a) : a + b;
}

/* |v| and |v|^2 of a real or a complex number, in double precision. */
template <typename T> __device__ double vec_abs(T v)
{
    return fabs((double)v);
}
template <typename R> __device__ double vec_abs(cplx<R> v)
{
    return hypot((double)v.re, (double)v.im);
}
template <typename T> __device__ double vec_square(T v)
{
    return (double)v * (double)v;
}
template <typename R> __device__ double vec_square(cplx<R> v)
{
    return (double)v.re * (double)v.re + (double)v.im * (double)v.im;
}

/* The sum (or the maximum) of v over the block, valid in thread 0. All threads of the block take part. */
template <bool MAX> __device__ double vec_over_block(double v)
{
    SHARED(double, part, VEC_BLOCK / WARP);
    for (int d = WARP / 2; d > 0; d /= 2) v = vec_join<MAX>(v, __shfl_down_sync(FULL_MASK, v, d));
    __syncthreads(); /* all threads of the block: reads of `part` by the previous call are done */
    if (threadIdx.x % WARP == 0) part[threadIdx.x / WARP] = v;
    __syncthreads(); /* all threads of the block: `part` is complete */
    if (threadIdx.x == 0)
        for (int w = 1; w < VEC_BLOCK / WARP; w++) v = vec_join<MAX>(v, part[w]);
    return v;
}

/* True in the last block to arrive, which then sees what thread 0 of every block wrote. By then, every thread of the
   grid has read the scalars, so the last block may change them. */
static __device__ bool vec_last_block(GPTR(unsigned) ticket)
{
    SHARED(int, last, 1);
    __syncthreads(); /* all threads of the block: every thread has arrived */
    if (threadIdx.x == 0) {
        __threadfence();
        last[0] = atomicAdd(ticket + 0, 1u) == gridDim.x - 1;
        if (last[0]) ticket[0] = 0;
        __threadfence();
    }
    __syncthreads(); /* all threads of the block: last[0] is in shared memory */
    return last[0] != 0;
}

/* The live record, whose address is in s[S_LIVE]; NULL: none. */
template <typename P> __device__ auto vec_live(P s)
{
    double bits = s[S_LIVE], *live;
    memcpy(&live, &bits, sizeof live);
    return VECTOR("live", ROLE_WORK, live, live ? LIVE_SIZE : 0, double);
}

/* One thread: the slot of record k. */
template <typename P> __device__ void vec_slot(P live, double k, double rr, double alpha, double beta)
{
    int64_t slot = LIVE_RING + (int64_t)k % RECORDS * LIVE_SLOT;
    live[slot + LIVE_RR] = rr;
    live[slot + LIVE_ALPHA] = alpha;
    live[slot + LIVE_BETA] = beta;
    live[slot + LIVE_STAMP] = clock_us();
}

/* One thread: record k. The k records before it are complete, since earlier kernels wrote them. */
template <typename P> __device__ void vec_show(P s, double k, double rr, double done)
{
    if (s[S_LIVE] == 0) return;
    auto live = vec_live(s);
    vec_slot(live, k, rr, s[S_ALPHA], s[S_BETA]);
    live[LIVE_KNOWN] = k;
    live[LIVE_DONE] = done;
}

/* One thread: rr becomes the residual of record number s[S_ITER]; diff is the change of x that led to rr. Sets
   s[S_DONE]. A residual that is 1% smaller has a square that is smaller by the factor 0.99^2. All reads come before the
   first write, so that the reads overlap. */
template <typename P> __device__ void vec_judge(P s, double rr, double diff)
{
    double k = s[S_ITER], tol2 = s[S_TOL2], eps = s[S_EPS], limit2 = s[S_LIMIT2], window = s[S_WINDOW];
    double best = s[S_BEST], best_at = s[S_BEST_AT];
    if (best == HUGE_VAL) limit2 = min(limit2 * rr, DBL_MAX);
    if (best == HUGE_VAL || rr <= 0.99 * 0.99 * best) {
        best = rr;
        best_at = k;
    }
    bool small = rr <= tol2 || diff < eps;
    int going = rr > limit2 ? DIVERGED : k - best_at >= window ? STAGNATED : RUNNING;
    double done = rr != rr ? NOT_A_NUMBER : small ? CONVERGED : going;
    s[S_DONE] = done;
    s[S_ITER] = k + 1;
    s[S_RR] = rr;
    s[S_MAXDIFF] = diff;
    s[S_LIMIT2] = limit2;
    s[S_BEST] = best;
    s[S_BEST_AT] = best_at;
}

/* One thread: add record number s[S_ITER]. */
template <typename P> __device__ void vec_note(P s, double rr, double diff)
{
    vec_judge(s, rr, diff);
    vec_show(s, s[S_ITER] - 1, rr, s[S_DONE]);
}

struct vec_sums {
    double a, b, c;
};

/* One thread: store the three sums of conjugate gradients (see cg_terms). */
template <typename P, typename S> __device__ void cg_keep(P s, S t)
{
    s[S_PQ] = t.a;
    s[S_RQ] = t.b;
    s[S_QQ] = t.c;
}

/* The terms of element i in the sums p.q, r.M^-1 q (0 unless `careful`) and q.M^-1 q. M^-1 is the diagonal dinv if
   DIAGONAL, else I; q is element i of A p. */
template <bool DIAGONAL, typename V> __device__ vec_sums cg_terms(int64_t i, V p, double q, V r, V dinv, bool careful)
{
    double weighted = DIAGONAL ? (double)dinv[i] * q : q;
    return {(double)p[i] * q, careful ? (double)r[i] * weighted : 0, q * weighted};
}

/* The previous step measured the change of x that led to the residual recorded now. */
template <typename P> __device__ void vec_note_step(P s, double rr, double diff)
{
    double before = s[S_NEXT_DIFF];
    vec_note(s, rr, before);
    s[S_NEXT_DIFF] = diff;
}

static __device__ int64_t vec_first()
{
    return (int64_t)blockIdx.x * VEC_BLOCK + threadIdx.x;
}

static __device__ int64_t vec_stride()
{
    return (int64_t)gridDim.x * VEC_BLOCK;
}

/* ---- passes ---- A pass goes once over its vectors. For each element, the pass does its work and returns the terms of
   SUMS sums; after the last element, one thread computes scalars from the sums. A pass is a struct PASS<AT>, where AT
   is on_gpu<T> or, on the device cpu, on_host<T>. The vectors of a pass have the types AT::in and AT::out. The other
   members of a pass:

   - enum { SUMS = n }: the number of sums, 0 to 3.
   - enum { MAX = 1 }: the third sum is a maximum instead.
   - enum { GATHERS = 1 }: the reads of the pass are scattered, so more blocks per multiprocessor hide the latency.
   - enum { WIDE = 1 }: an element takes many reads, so a thread processes one element at a time.
   - begin(s): reads the scalars that the pass needs.
   - at(i): processes element i.
   - end(s, t): one thread computes scalars from the sums t, after all elements.

   begin, at and end are functions. GATHERS, MAX and WIDE may be absent. */

template <typename PASS> constexpr bool vec_most = requires
{
    PASS::MAX;
};
template <typename PASS> constexpr bool vec_gathers = requires
{
    PASS::GATHERS;
};
template <typename PASS> constexpr bool vec_wide = requires
{
    PASS::WIDE;
};
template <typename PASS> constexpr int vec_blocks_per_sm = vec_gathers<PASS> ? +GATHER_BLOCKS_PER_SM : +BLOCKS_PER_SM;

template <typename PASS> __device__ vec_sums vec_joined(vec_sums t, vec_sums more)
{
    return {t.a + more.a, t.b + more.b, vec_join<vec_most<PASS>>(t.c, more.c)};
}

/* Add the sums of the lane whose number is higher by d. All lanes of the warp take part. */
template <typename PASS> __device__ vec_sums vec_from_lane(vec_sums t, int d)
{
    vec_sums more = {__shfl_down_sync(FULL_MASK, t.a, d), 0, 0};
    if (PASS::SUMS > 1) more.b = __shfl_down_sync(FULL_MASK, t.b, d);
    if (PASS::SUMS > 2) more.c = __shfl_down_sync(FULL_MASK, t.c, d);
    return vec_joined<PASS>(t, more);
}

/* The sums of the block, valid in thread 0. All threads of the block take part: VEC_BLOCK threads, or any number up to
   THREADS. No thread may still be reading `part` when this function is called. */
template <typename PASS, int THREADS = VEC_BLOCK> __device__ vec_sums vec_block_sums(vec_sums t)
{
    enum { WARPS = THREADS / WARP };
    SHARED(double, part, 3 * WARPS);
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP);
    int warps = THREADS == VEC_BLOCK ? +WARPS : (int)(blockDim.x / WARP);
    for (int d = WARP / 2; d > 0; d /= 2) t = vec_from_lane<PASS>(t, d);
    if (lane == 0) {
        part[warp] = t.a;
        part[WARPS + warp] = t.b;
        part[2 * WARPS + warp] = t.c;
    }
    __syncthreads(); /* all threads of the block: `part` is complete */
    if (warp > 0) return t;
    t = {0, 0, 0};
    if (lane < warps) t = {part[lane], part[WARPS + lane], part[2 * WARPS + lane]};
    for (int d = WARPS / 2; d > 0; d /= 2) t = vec_from_lane<PASS>(t, d);
    return t;
}

/* Add the sums t of the threads of each block, and store the sum of the block. */
template <typename PASS, typename P> __device__ void vec_keep_sums(P s, vec_sums t)
{
    t = vec_block_sums<PASS>(t);
    if (threadIdx.x != 0) return;
    s[S_SUMS + blockIdx.x] = t.a;
    if (PASS::SUMS > 1) s[S_SUMS + VEC_BLOCKS + blockIdx.x] = t.b;
    if (PASS::SUMS > 2) s[S_SUMS + 2 * VEC_BLOCKS + blockIdx.x] = t.c;
}

/* The end of a pass: add the sums of the threads of each block, then the sums of the blocks, in a fixed order. */
template <typename PASS> __device__ void vec_finish(GPTR(double) s, GPTR(unsigned) ticket, PASS &pass, vec_sums t)
{
    vec_keep_sums<PASS>(s, t);
    if (!vec_last_block(ticket)) return;
    t = {0, 0, 0};
    for (unsigned k = threadIdx.x; k < gridDim.x; k += VEC_BLOCK) {
        vec_sums more = {s[S_SUMS + k], 0, 0};
        if (PASS::SUMS > 1) more.b = s[S_SUMS + VEC_BLOCKS + k];
        if (PASS::SUMS > 2) more.c = s[S_SUMS + 2 * VEC_BLOCKS + k];
        t = vec_joined<PASS>(t, more);
    }
    t = vec_block_sums<PASS>(t);
    if (threadIdx.x == 0) pass.end(s, t);
}

/* The elements of one thread, with a grid stride. */
template <typename PASS> __device__ vec_sums vec_elements(int64_t n, PASS &pass)
{
    vec_sums t = {0, 0, 0};
#pragma unroll vec_gathers < PASS> || vec_wide < PASS> ? 1 : 4
    for (int64_t i = vec_first(); i < n; i += vec_stride()) t = vec_joined<PASS>(t, pass.at(i));
    return t;
}

template <typename PASS>
__global__ void __launch_bounds__(VEC_BLOCK, vec_blocks_per_sm<PASS>)
    vec_pass(int64_t n, FRESH(double) s, GPTR(unsigned) ticket, PASS pass)
{
    follow();
    if (s[S_DONE] != 0) return;
    pass.begin(s);
    vec_sums t = vec_elements(n, pass);
    if (PASS::SUMS > 0) vec_finish(s, ticket, pass, t);
}

/* ---- sums that the host adds (THESIS 3.3.2) ---- */

/* Each block writes its sums of the elements [blockIdx.x * each, ...) to `part`, which is host memory. */
template <typename PASS>
__global__ void __launch_bounds__(SUM_THREADS_MAX)
    vec_parts(int64_t n, int64_t each, GPTR(double) s, GPTR(double) part, PASS pass)
{
    if (s[S_DONE] != 0) return;
    pass.begin(s);
    vec_sums t = {0, 0, 0};
    int64_t from = blockIdx.x * each, end = from + each < n ? from + each : n;
    for (int64_t i = from + threadIdx.x; i < end; i += blockDim.x) t = vec_joined<PASS>(t, pass.at(i));
    t = vec_block_sums<PASS, SUM_THREADS_MAX>(t);
    if (threadIdx.x != 0) return;
    part[blockIdx.x] = t.a;
    if (PASS::SUMS > 1) part[SUM_BLOCKS + blockIdx.x] = t.b;
    if (PASS::SUMS > 2) part[2 * SUM_BLOCKS + blockIdx.x] = t.c;
}

/* Where a member sends its sums: to the mailbox of each target. */
struct mail_targets {
    int n, rank, members;
    struct exchange number;
    GPTR(mail_word) to[MEMBERS_MAX];
};

/* All threads of one block, one warp per column: the sums of `blocks` thread blocks, in a fixed order, go to every
   target. Column c begins at part[c * apart], and column 2 is a maximum if `most` is set. Returns the number of the
   exchange. */
template <typename P, typename TARGETS>
__device__ unsigned mail_send_sums(P part, int apart, int blocks, int columns, bool most, const TARGETS &t)
{
    unsigned epoch = exchange_next(t.number);
    int64_t at = mail_slot(t.members, epoch, t.rank);
    int lane = (int)(threadIdx.x % WARP);
    for (int c = (int)(threadIdx.x / WARP); c < columns; c += (int)blockDim.x / WARP) {
        double sum = 0;
        bool largest = most && c == 2;
        for (int b = lane; b < blocks; b += WARP) {
            double more = part[(int64_t)c * apart + b];
            sum = largest ? vec_join<true>(sum, more) : sum + more;
        }
        for (int d = WARP / 2; d > 0; d /= 2) {
            double more = __shfl_down_sync(FULL_MASK, sum, d);
            sum = largest ? vec_join<true>(sum, more) : sum + more;
        }
        sum = __shfl_sync(FULL_MASK, sum, 0);
        if (lane < t.n) mail_put(t.to[lane], at + c, sum, epoch);
    }
    __syncthreads(); /* all threads of the block: the number has been read */
    if (threadIdx.x == 0 && t.number.counted) t.number.count[0] = epoch;
    return epoch;
}

/* The sums that end a pass: t, which the host has added; or, if there are members, the sums in the mailbox of this
   member, which hold the parts of all members of a device. */
struct vec_mail {
    vec_sums t;
    int members;
    struct exchange number;
    GPTR(mail_word) box;
    GPTR(int) late;
};

/* One warp: wait for the sums of all members, and add them in the order of the ranks; valid in all lanes. false: those
   of some member did not come, which `late` reports. */
template <typename PASS, typename MAIL> __device__ bool mail_sums(const MAIL &mail, unsigned epoch, vec_sums &t)
{
    enum { N = PASS::SUMS };
    int lane = (int)(threadIdx.x % WARP);
    double v[3] = {0, 0, 0};
    bool here = lane >= mail.members || mail_take<N>(mail.box, mail_slot(mail.members, epoch, lane), epoch, v);
    if (!here) mail.late[LATE_SUMS] = lane + 1;
    if (!__all_sync(FULL_MASK, here)) return false;
    t = {0, 0, 0};
    for (int r = 0; r < mail.members; r++) {
        vec_sums more = {__shfl_sync(FULL_MASK, v[0], r), 0, 0};
        if (N > 1) more.b = __shfl_sync(FULL_MASK, v[1], r);
        if (N > 2) more.c = __shfl_sync(FULL_MASK, v[2], r);
        t = vec_joined<PASS>(t, more);
    }
    return true;
}

/* One warp: the sums of all members arrive, and its first thread ends a pass that has begun. */
template <typename P, typename PASS, typename MAIL>
__device__ void mail_end(P s, PASS &pass, const MAIL &mail, unsigned epoch)
{
    vec_sums t;
    if (mail_sums<PASS>(mail, epoch, t) && threadIdx.x == 0) pass.end(s, t);
}

/* Like vec_pass, but the last block to arrive sends the sums. If `ends` is set, this block also ends the pass; the
   launches of the other members must run at the same time. */
template <typename PASS>
__global__ void __launch_bounds__(VEC_BLOCK, vec_blocks_per_sm<PASS>)
    vec_pass_send(int64_t n, GPTR(double) s, GPTR(unsigned) ticket, PASS pass, struct mail_targets t, bool ends,
                  struct vec_mail mail)
{
    follow();
    if (s[S_DONE] != 0) return;
    pass.begin(s);
    vec_keep_sums<PASS>(s, vec_elements(n, pass));
    if (!vec_last_block(ticket)) return;
    unsigned epoch = mail_send_sums(s + S_SUMS, VEC_BLOCKS, (int)gridDim.x, PASS::SUMS, vec_most<PASS>, t);
    if (ends && threadIdx.x < WARP) mail_end(s, pass, mail, epoch);
}

/* The end of a pass: one warp if there are members, else one thread. */
template <typename PASS> __global__ void vec_end(GPTR(double) s, struct vec_mail mail, PASS pass)
{
    if (s[S_DONE] != 0) return;
    pass.begin(s);
    if (mail.members > 0)
        mail_end(s, pass, mail, exchange_now(mail.number));
    else
        pass.end(s, mail.t);
}

template <typename PASS> static vec_sums vec_add_parts(const double *part, int blocks)
{
    vec_sums t = {0, 0, 0};
    for (int k = 0; k < blocks; k++) {
        vec_sums more = {part[k], 0, 0};
        if (PASS::SUMS > 1) more.b = part[SUM_BLOCKS + k];
        if (PASS::SUMS > 2) more.c = part[2 * SUM_BLOCKS + k];
        t.a += more.a;
        t.b += more.b;
        t.c = vec_most<PASS> && more.c < t.c ? t.c : vec_most<PASS> ? more.c : t.c + more.c;
    }
    return t;
}

/* ---- a member of a device with several members (gpu/member_place.h) ---- */

/* Is it the turn of a pass without sums? */
static inline bool vec_turn(struct device *d)
{
    return !d->seat || d->seat->stage == d->seat->at++;
}

/* A mailbox as launches see it; NULL: none. */
static inline auto mail_box_of(mail_word *box, int members)
{
    (void)members;
    return VECTOR("box", ROLE_WORK, box, box ? MAIL_WORDS * 2 * (int64_t)members * MAIL_MAX : 0, mail_word);
}

static inline struct mail_targets mail_targets_of(const struct seat *seat, unsigned epoch)
{
    struct mail_targets t;
    t.n = seat->targets, t.rank = seat->rank, t.members = seat->members;
    t.number = EXCHANGE(seat->peers ? seat->count : nullptr, epoch);
    for (int k = 0; k < MEMBERS_MAX; k++) t.to[k] = mail_box_of(k < t.n ? seat->to[k] : nullptr, seat->members);
    return t;
}

static inline struct vec_mail vec_mail_of(const struct seat *t, unsigned epoch)
{
    return {{0, 0, 0},
            t->members,
            EXCHANGE(t->peers ? t->count : nullptr, epoch),
            mail_box_of(t->box, t->members),
            VECTOR("late", ROLE_WORK, t->late, LATES, int)};
}

static inline struct vec_mail vec_mail_with(vec_sums t)
{
    return {t, 0, EXCHANGE((unsigned *)nullptr, 0), mail_box_of(nullptr, 0),
            VECTOR("late", ROLE_WORK, nullptr, 0, int)};
}

/* Wait until the host can read what launches wrote to d->sums. An error stays on the device until its next sync. */
static inline bool vec_sums_arrived(struct device *d)
{
    return !d->ops->idle || d->ops->sync(d, nullptr);
}

/* ---- the launches ---- */

/* The number of blocks: as many as the elements need, but at most as many as can run at the same time, and at least
   one, which writes the sum 0 of an empty vector. */
static inline unsigned vec_grid(const struct device *d, int64_t n, int blocks_per_sm = BLOCKS_PER_SM)
{
    unsigned blocks = blocks_for(n, VEC_BLOCK * VEC_EACH), most = VEC_BLOCKS;
    if (d->kind == DEV_CUDA && (unsigned)(d->units * blocks_per_sm) < most) most = (unsigned)(d->units * blocks_per_sm);
    return blocks < 1 ? 1 : blocks > most ? most : blocks;
}
/* FOLLOW if the blocks leave room for others, or LAUNCH. */
#ifdef __CUDACC__
template <typename... P> static launcher<P...> vec_launch(const struct device *d, unsigned grid, void (*kernel)(P...))
{
    bool follows = may_follow(d) && grid < (unsigned)(d->units * BLOCKS_PER_SM);
    return launcher_of(d, grid, VEC_BLOCK, 0, follows, 1, kernel);
}
#else
#define vec_launch(d, grid, ...) LAUNCH(d, grid, VEC_BLOCK, __VA_ARGS__)
#endif
#define SCALARS_OF(s) VECTOR("s", ROLE_WORK, s, VEC_WORK, double)
#define TICKET_OF(s) VECTOR("ticket", ROLE_WORK, (void *)(s + S_TICKET), 1, unsigned)

template <typename T> struct on_gpu {
    typedef T real;
    typedef GPTR(const T) in;
    typedef GPTR(T) out;
    typedef GPTR(double) scalars;
    /* elements of a warp's access, which should not begin within a line; 0: passes go forwards */
    enum { ALIGNED = WARP };

    static auto from(const char *name, const void *p, int64_t n)
    {
        return (void)name, (void)n, VECTOR(name, ROLE_WORK, p, n, const T);
    }
    static auto to(const char *name, void *p, int64_t n)
    {
        return (void)name, (void)n, VECTOR(name, ROLE_WORK, p, n, T);
    }
    template <typename PASS> static void run(struct device *d, int64_t n, double *s, PASS pass)
    {
        vec_launch(d, vec_grid(d, n, vec_blocks_per_sm<PASS>), vec_pass<PASS>)(n, SCALARS_OF(s), TICKET_OF(s), pass);
    }
};

/* Like on_gpu, but the host adds the sums of the blocks; for a member of a device, launches of the members do. */
template <typename T> struct gpu_then_host : on_gpu<T> {
    template <typename PASS> static void run(struct device *d, int64_t n, double *s, PASS pass)
    {
        if constexpr (PASS::SUMS == 0) {
            if (vec_turn(d)) on_gpu<T>::run(d, n, s, pass);
        } else if (d->seat) {
            run_seated(d, n, s, pass);
        } else {
            struct sum_tree tree = sum_tree_of(n);
            LAUNCH(d, (unsigned)tree.blocks, (unsigned)tree.threads, vec_parts<PASS>)
            (n, tree.each, SCALARS_OF(s), VECTOR("part", ROLE_WORK, d->sums.on_device, 3 * SUM_BLOCKS, double), pass);
            if (!vec_sums_arrived(d)) return;
            LAUNCH(d, 1, 1, vec_end<PASS>)
            (SCALARS_OF(s), vec_mail_with(vec_add_parts<PASS>(d->sums.host, tree.blocks)), pass);
        }
    }

    template <typename PASS> static void run_seated(struct device *d, int64_t n, double *s, PASS pass)
    {
        struct seat *t = d->seat;
        unsigned epoch = t->epoch + (unsigned)++t->sums;
        int stage = t->stage - t->at;
        t->at += t->concurrent ? 1 : 2;
        if (stage == 0)
            vec_launch(d, vec_grid(d, n, vec_blocks_per_sm<PASS>), vec_pass_send<PASS>)(
                n, SCALARS_OF(s), TICKET_OF(s), pass, mail_targets_of(t, epoch), t->concurrent, vec_mail_of(t, epoch));
        if (stage == 1 && !t->concurrent) LAUNCH(d, 1, WARP, vec_end<PASS>)(SCALARS_OF(s), vec_mail_of(t, epoch), pass);
    }
};

/* An SpMV y = A x that also computes the three sums of conjugate gradients; row(i, x) is the work of one row. */
template <typename ROWS, bool DIAGONAL> struct pass_cg_product : ROWS {
    enum { SUMS = 3 };
    typename ROWS::in x, r, dinv;
    typename ROWS::out y;
    bool careful;

    __device__ void begin(typename ROWS::scalars s) { careful = s[S_CAREFUL] != 0; }
    __device__ vec_sums at(int64_t i) const
    {
        double q = this->row(i, x);
        y[i] = (typename ROWS::real)q;
        return cg_terms<DIAGONAL>(i, x, q, r, dinv, careful);
    }
    __device__ void end(typename ROWS::scalars s, vec_sums t) const { cg_keep(s, t); }
};

/* The vectors of a pass, each with the name of its argument. */
#define PASS_IN(x) AT::from(#x, x, n)
#define PASS_OUT(x) AT::to(#x, x, n)

/* ---- the same operations on the host ---- */

#ifndef __CUDACC__
namespace host
{

enum { ALONE = 1 << 14, STRETCH = 1024, STRETCHES_PER_CHECK = 8 };

/* Ctrl-C ends a long pass if the thread has a watch (base/watch.h). The result of such a pass must not be used. */
struct checks {
    struct loop l;
    bool on;

    explicit checks(int64_t n) : l(loop_of("", n)), on(loop_worth(n)) {}
    bool goes(int64_t k)
    {
        return !on || (k % STRETCHES_PER_CHECK ? !__atomic_load_n(&l.stopped, __ATOMIC_RELAXED) : loop_check(&l, k));
    }
    bool complete() const { return !on || loop_end(&l, nullptr); }
};

/* A vector is summed in segments, and the number of segments depends only on n. The result therefore does not depend on
   the number of threads. */
static inline int stretches(int64_t n)
{
    int64_t k = (n + STRETCH - 1) / STRETCH;
    return k > VEC_BLOCKS ? (int)VEC_BLOCKS : (int)k;
}

static inline int64_t start(int64_t n, int k)
{
    return n * k / stretches(n);
}

static inline double total(const double *part, int k)
{
    double sum = 0;
    for (int i = 0; i < k; i++) sum += part[i];
    return sum;
}

/* The sums of a pass over the elements [from, end). */
template <typename PASS> static vec_sums stretch_sums(PASS &pass, int64_t from, int64_t end)
{
    double a = 0, b = 0, c = 0;
    if constexpr (vec_most<PASS>) {
#pragma omp simd reduction(+ : a, b) reduction(max : c)
        for (int64_t i = from; i < end; i++) {
            vec_sums more = pass.at(i);
            a += more.a, b += more.b, c = std::max(c, more.c);
        }
    } else {
#pragma omp simd reduction(+ : a, b, c)
        for (int64_t i = from; i < end; i++) {
            vec_sums more = pass.at(i);
            a += more.a, b += more.b, c += more.c;
        }
    }
    return {a, b, c};
}

/* The sums of segment j, which go to part[j] and so on. */
template <typename PASS> static void sum_stretch(PASS &pass, int64_t n, int j, double *part)
{
    vec_sums t = stretch_sums(pass, start(n, j), start(n, j + 1));
    part[j] = t.a, part[VEC_BLOCKS + j] = t.b, part[2 * VEC_BLOCKS + j] = t.c;
}

/* Send sums from this member, whose memory is host memory. epoch: the number of the exchange, if the host counts. */
static inline void mail_post(const struct seat *t, unsigned epoch, const double *sum, int n)
{
    if (t->peers) epoch = ++*t->count;
    for (int k = 0; k < t->targets; k++)
        for (int i = 0; i < n; i++) mail_put(t->to[k], mail_slot(t->members, epoch, t->rank) + i, sum[i], epoch);
}

/* Sum i of all members, added in the order of the ranks, or their maximum; false: the sum of some member is not there,
   which `late` reports. */
static inline bool mail_total(const struct seat *t, unsigned epoch, int i, bool most, double *total)
{
    if (t->peers) epoch = *t->count;
    *total = 0;
    for (int r = 0; r < t->members; r++) {
        double more;
        if (!mail_look<1>(t->box, mail_slot(t->members, epoch, r) + i, epoch, &more))
            return t->late[LATE_SUMS] = r + 1, false;
        *total = most ? vec_join<true>(*total, more) : *total + more;
    }
    return true;
}

} // namespace host

template <typename T> struct on_host {
    typedef T real;
    typedef const T *in;
    typedef T *out;
    typedef double *scalars;
    enum { ALIGNED = 1 };

    static in from(const char *, const void *p, int64_t) { return (in)p; }
    static out to(const char *, void *p, int64_t) { return (out)p; }
    template <typename PASS> static void run(struct device *, int64_t n, double *s, PASS pass)
    {
        if (s[S_DONE] != 0) return;
        int k = host::stretches(n);
        double *part = s + S_SUMS;
        vec_sums t = {0, 0, 0};
        pass.begin(s);
        host::checks check(n);
        if (n <= host::ALONE) { /* a parallel region costs a microsecond, even with one thread */
            for (int j = 0; j < k; j++) host::sum_stretch(pass, n, j, part);
        } else {
#pragma omp parallel for
            for (int j = 0; j < k; j++)
                if (check.goes(j)) host::sum_stretch(pass, n, j, part);
        }
        if (!check.complete()) return;
        for (int j = 0; j < k; j++) t = vec_joined<PASS>(t, {part[j], part[VEC_BLOCKS + j], part[2 * VEC_BLOCKS + j]});
        if (PASS::SUMS > 0) pass.end(s, t);
    }
};

/* Like on_host, but with the segments and the order of gpu_then_host. */
template <typename T> struct host_then_host : on_host<T> {
    template <typename PASS> static void run(struct device *d, int64_t n, double *s, PASS pass)
    {
        if (PASS::SUMS == 0) {
            if (vec_turn(d)) on_host<T>::run(d, n, s, pass);
            return;
        }
        vec_sums t;
        if (d->seat) return run_seated(d, n, s, pass);
        if (s[S_DONE] == 0 && sums_of(n, s, d->sums.host, pass, &t)) pass.end(s, t);
    }

    template <typename PASS> static void run_seated(struct device *d, int64_t n, double *s, PASS pass)
    {
        struct seat *seat = d->seat;
        unsigned epoch = seat->epoch + (unsigned)++seat->sums;
        int stage = seat->stage - seat->at;
        vec_sums t;
        seat->at += 2;
        if (s[S_DONE] != 0) return;
        if (stage == 0 && sums_of(n, s, seat->part, pass, &t)) host::mail_post(seat, epoch, &t.a, PASS::SUMS);
        if (stage != 1) return;
        double total[3] = {0, 0, 0};
        for (int i = 0; i < PASS::SUMS; i++)
            if (!host::mail_total(seat, epoch, i, vec_most<PASS> && i == 2, &total[i])) return;
        pass.begin(s);
        pass.end(s, {total[0], total[1], total[2]});
    }

    template <typename PASS> static bool sums_of(int64_t n, double *s, double *part, PASS &pass, vec_sums *out)
    {
        struct sum_tree tree = sum_tree_of(n);
        pass.begin(s);
        host::checks check(n);
#pragma omp parallel for if (n > host::ALONE)
        for (int k = 0; k < tree.blocks; k++) {
            if (!check.goes(k)) continue;
            int64_t from = k * tree.each, end = from + tree.each < n ? from + tree.each : n;
            vec_sums t = host::stretch_sums(pass, from, end);
            part[k] = t.a, part[SUM_BLOCKS + k] = t.b, part[2 * SUM_BLOCKS + k] = t.c;
        }
        *out = vec_add_parts<PASS>(part, tree.blocks);
        return check.complete();
    }
};
#endif

} // namespace KERNEL_SPACE

#endif
