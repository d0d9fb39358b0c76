/* The emulator's machine: fibers, the scheduler of a block, exchanges within a warp, findings. */
#include "dialect.h"
#include "emu.h"
#include "../src/random.h"
#include "scope.h"
#include "races.h"

#include <cstdarg>
#include <unistd.h>

#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
#define OWN_SWITCH
#else
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt
{

constinit thread_local machine now = {};

const char *const collective_names[COLLECTIVES] = {"__syncwarp",      "__ballot_sync",    "__any_sync",
                                                   "__all_sync",      "__shfl_down_sync", "__shfl_up_sync",
                                                   "__shfl_xor_sync", "__shfl_sync"};

/* ---- switching stacks ---- */

/* A stack and where it stopped. x86-64 saves what a call must preserve and swaps the stack pointer: no system call. */
struct context {
#ifdef OWN_SWITCH
    void *sp;
#else
    ucontext_t uc;
#endif
    const void *bottom; /* for the sanitizer, which must know the stacks */
    size_t size;
    void *fake;
};

#ifdef OWN_SWITCH
extern "C" void warpspy_swap(void **save, void *load);
asm(R"(
.text
.globl warpspy_swap
.type warpspy_swap, @function
warpspy_swap:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    pop %rcx
    jmp *%rcx
.size warpspy_swap, .-warpspy_swap
)");
#endif

static void leave_for(context *from, context *to)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->size);
#endif
#ifdef OWN_SWITCH
    warpspy_swap(&from->sp, to->sp);
#else
    swapcontext(&from->uc, &to->uc);
#endif
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#endif
}

/* ---- the machine ---- */

#ifdef __SANITIZE_ADDRESS__
enum { STACK = 256 * 1024 };
#else
enum { STACK = 32 * 1024 };
#endif

struct fiber {
    lane l;
    context c;
    bool ready; /* its stack stands in `thread_loop`, or in a kernel that is under way */
};

/* Lanes of a warp that mean the same exchange, as they come in; up to one meeting a lane can be under way. */
struct meeting {
    exchange x; /* mask, line and what are the same for all of them */
    unsigned arrived;
};
struct warp {
    unsigned gone; /* lanes that can never come: returned, or beyond the block */
    unsigned used; /* which meetings are under way */
    meeting open[WARP];
};

/* What every launch is given. */
struct orders {
    uint64_t seed;
    const char *name;
    bool side_by_side, races;
    scope_run *scope;
    bool scope_kernel;
};
static orders given;

/* What a host thread runs blocks with. */
struct runner {
    fiber *f; /* BLOCK_MOST of them, made at the first launch */
    char *stacks, *shared;
    scope_record *notes; /* of all lanes; made when first watched */
    scope_log log[BLOCK_MOST];
    context scheduler;
    unsigned threads;                     /* of the block that runs */
    unsigned order[BLOCK_MOST], at, upto; /* the order of turns, whose is next, and where those end that may run now */
    unsigned turns;
    const char *kernel;
    void (*body)(void *);
    void *ctx;
    unsigned shared_used;
    scope_thread *watch; /* NULL: the block is not watched */
    bool broken;
    int64_t block; /* number of the block that broke */
    struct err err;
    warp warps[BLOCK_MOST / WARP];
};
enum { RUNNERS = 64 };
static runner *runners[RUNNERS]; /* by number of the host's thread; the first is that of whoever launches */
static runner first_runner;
static thread_local runner *m = &first_runner;
static std::atomic<bool> halt; /* the user cancels: what goes on ends */

static unsigned warp_start(const lane *l)
{
    return l->number / WARP * WARP;
}
static unsigned in_warp(const lane *l)
{
    return l->number % WARP;
}

/* The stack that launch was called on, which only the sanitizer wants to know. */
static void own_stack(context *c)
{
    (void)c;
#ifdef __SANITIZE_ADDRESS__
    pthread_attr_t attr;
    void *bottom;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &bottom, &c->size);
    pthread_attr_destroy(&attr);
    c->bottom = bottom;
#endif
}

static fiber *fiber_of(lane *l)
{
    return reinterpret_cast<fiber *>(l);
}
static_assert(offsetof(fiber, l) == 0, "a lane is the head of its fiber");

static void set_up(fiber *f, unsigned number);

/* The next lane in order that can run, from m->at to m->upto; NULL when all of these wait or have returned. */
static fiber *next_runnable()
{
    while (m->at < m->upto) {
        unsigned number = m->order[m->at++];
        fiber *f = &m->f[number];
        if (f->l.wait != RUNS) continue;
        if (!f->ready) set_up(f, number);
        return f;
    }
    return nullptr;
}

/* Leave the lane that runs: straight to the next one, which saves half of the switches, or to the scheduler. */
static void give_way()
{
    fiber *me = fiber_of(now.self), *next = m->broken ? nullptr : next_runnable();
    if (next) now.self = &next->l;
    leave_for(&me->c, next ? &next->c : &m->scheduler);
}

static void record(source at, const char *fmt, va_list ap)
{
    char where[sizeof m->err.where], text[400];
    snprintf(where, sizeof where, "%s:%u", scope_file_name(at.file_name()), at.line());
    vsnprintf(text, sizeof text, fmt, ap);
    if (now.self)
        fail_at(&m->err, E_DEVICE, where, "%s: block %u, thread %u: %s", m->kernel, now.block.x, now.self->number,
                text);
    else
        fail_at(&m->err, E_DEVICE, where, "%s: block %u: %s", m->kernel, now.block.x, text);
    m->broken = true;
}

void found(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(at, fmt, ap);
    va_end(ap);
    give_way();
    __builtin_trap(); /* a lane of a broken launch is never resumed */
}

/* Of the lane now.self, which does not run now. */
static void found_by(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(at, fmt, ap);
    va_end(ap);
}

/* The scheduler's own findings: no lane runs. */
static void found_by_scheduler(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    now.self = nullptr;
    record(at, fmt, ap);
    va_end(ap);
}

/* Where every fiber lives: one kernel after another, so that a stack is set up only once. */
static void thread_loop()
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    for (;;) {
        m->body(m->ctx);
        lane *l = now.self;
        l->wait = RETURNED;
        m->warps[l->number / WARP].gone |= 1u << in_warp(l);
        give_way();
    }
}

/* Stacks are staggered: at equal distances their tops would all fall in the same cache sets. */
static void set_up(fiber *f, unsigned number)
{
    char *bottom = m->stacks + static_cast<size_t>(number) * STACK;
    size_t size = STACK - number % 32 * 192;
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(bottom, STACK); /* frames of a kernel that was cut short */
#endif
    f->c.bottom = bottom;
    f->c.size = size;
    f->c.fake = nullptr;
    f->ready = true;
#ifdef OWN_SWITCH
    void **top = reinterpret_cast<void **>(bottom + size - 16);
    *--top = nullptr; /* thread_loop has no caller; the stack is aligned as after a call */
    *--top = reinterpret_cast<void *>(thread_loop);
    for (int saved = 0; saved < 6; saved++) *--top = nullptr;
    f->c.sp = top;
#else
    getcontext(&f->c.uc);
    f->c.uc.uc_stack.ss_sp = bottom;
    f->c.uc.uc_stack.ss_size = size;
    f->c.uc.uc_link = nullptr;
    makecontext(&f->c.uc, thread_loop, 0);
#endif
}

static void runner_free(runner *r)
{
    mem_free(r->f);
    mem_free(r->stacks);
    mem_free(r->shared);
    mem_free(r->notes);
    r->f = nullptr, r->stacks = r->shared = nullptr, r->notes = nullptr;
}

static bool make_fibers()
{
    if (!m->f) {
        m->f = static_cast<fiber *>(mem_zero(BLOCK_MOST, sizeof(fiber), "the emulator's threads", &m->err));
        m->stacks = static_cast<char *>(mem_new(BLOCK_MOST, STACK, "the emulator's stacks", &m->err));
        m->shared = static_cast<char *>(mem_new(SHARED_MOST, 1, "the emulator's shared memory", &m->err));
    }
    now.shared = m->shared;
    if (m->f && m->stacks && m->shared) return true;
    runner_free(m);
    return false;
}

/* Room for what lanes note, where the launch is watched. */
static bool make_notes()
{
    if (m->notes) return true;
    m->notes = static_cast<scope_record *>(
        mem_new(static_cast<int64_t>(BLOCK_MOST) * SCOPE_LOG, sizeof *m->notes, "the notes of lanes", &m->err));
    for (int k = 0; m->notes && k < BLOCK_MOST; k++) m->log[k].r = m->notes + static_cast<int64_t>(k) * SCOPE_LOG;
    return m->notes != nullptr;
}

/* ---- what lanes note of a watched launch ---- */

static void note(scope_touch t, int64_t at, source from)
{
    lane *l = now.self;
    if (!m->watch || !scope_wants_warp(given.scope, static_cast<int>(l->number / WARP))) return;
    scope_log &log = m->log[l->number];
    if (log.n == SCOPE_LOG) {
        l->wait = LOG_FULL;
        give_way();
    }
    t.file = from.file_name();
    t.unroll = l->unroll;
    t.line = static_cast<int>(from.line());
    t.column = static_cast<int>(from.column());
    log.r[log.n++] = {scope_place_of(m->watch, &t), at};
}

/* What lanes do to each other, not to memory. */
static void note_meeting(enum touch what, const char *name, unsigned mask, source from)
{
    scope_touch t = {};
    t.touch = what;
    t.name = name;
    note(t, mask, from);
}

/* The race of the block that is told once all its threads wait or are done: one between warps rather than one within a
   warp, which a __syncwarp would seem to mend. */
struct race_told {
    bool any, across, update; /* update: the reader goes on to write what another read and wrote at that line */
    race_seen of;             /* the earlier touch */
    enum race_kind kind;
    uint64_t address;
    int64_t k;
    const char *name;
    lane *by;
    source at;
};
static race_told told;

static bool at_line_of(const race_seen &o, source at)
{
    return o.line == static_cast<int>(at.line()) && !strcmp(o.file, at.file_name());
}

/* Is there an earlier touch of the element by another thread of the block that nothing orders before this one? */
static void look_for_race(enum touch what, const void *base, int64_t k, unsigned size, const char *name, source at)
{
    uint64_t address = reinterpret_cast<uint64_t>(base) + static_cast<uint64_t>(k) * size;
    enum race_kind kind = what == TOUCH_STORE ? RACE_WRITE : what == TOUCH_ATOMIC ? RACE_ATOMIC : RACE_READ;
    race_seen o;
    if (told.any && told.by == now.self && told.address == address && told.kind == RACE_READ && kind == RACE_WRITE)
        told.update |= told.of.kind == RACE_WRITE && at_line_of(told.of, at) && told.at.line() == at.line();
    enum race_answer answer =
        races_touch(address, now.self->number, kind, at.file_name(), static_cast<int>(at.line()), &o);
    if (answer == RACE_NONE) return;
    if (answer == RACE_NO_MEMORY) found(at, "no memory to look for races");
    bool across = o.thread / WARP != now.self->number / WARP;
    if (told.any && (told.across || !across)) return;
    told = {true, across, false, o, kind, address, k, name, now.self, at};
}

/* What orders the two of a race, or would. */
static const char *missing_of(const race_told &t)
{
    if (t.update) return "no atomic: each reads it and then writes it, an atomicAdd or the like is missing";
    if (t.kind == RACE_WRITE && t.of.kind == RACE_WRITE && at_line_of(t.of, t.at))
        return "no barrier between: whose value stays is chance";
    return t.across ? "no barrier between: __syncthreads() is missing"
                    : "no barrier between: lockstep is relied on, __syncwarp() is missing";
}

/* True: there was a race, and the block ends. */
static bool tell_race()
{
    static const char *const does[] = {"reads", "writes", "changes"}, *const did[] = {"read", "wrote", "changed"};
    const race_seen &o = told.of;
    if (!told.any || halt) return false;
    bool elsewhere = strcmp(o.file, told.at.file_name()) != 0;
    told.any = false;
    now.self = told.by;
    found_by(told.at, "%s %s[%lld], which thread %u %s at %s%s%d, with %s", does[told.kind], told.name,
             static_cast<long long>(told.k), o.thread, did[o.kind], elsewhere ? scope_file_name(o.file) : "",
             elsewhere ? ":" : "line ", o.line, missing_of(told));
    return true;
}

void await_others()
{
    if (!m->watch) return;
    now.self->wait = AT_ATOMIC;
    give_way();
}

void touch(enum touch what, const void *base, int64_t k, int64_t n, unsigned size, bool integral, const char *name,
           enum role role, source at)
{
    static const enum touch in_shared[] = {TOUCH_SHARED_LOAD, TOUCH_SHARED_STORE, TOUCH_SHARED_ATOMIC};
    if (given.races) look_for_race(what, base, k, size, name, at);
    const char *p = static_cast<const char *>(base);
    bool shared = p >= now.shared && p < now.shared + SHARED_MOST;
    scope_touch t = {};
    t.touch = shared ? in_shared[what] : what;
    t.shared = shared;
    t.integral = integral;
    t.size = static_cast<int>(size);
    t.base = shared ? static_cast<uint64_t>(p - now.shared) : reinterpret_cast<uint64_t>(base);
    t.n = n;
    t.name = name;
    t.role = role;
    note(t, k, at);
}

void rejoin(source at)
{
    note_meeting(TOUCH_REJOIN, nullptr, 0, at);
}

/* Put the notes of a warp together, as far as may be, and make room for more. */
static void merge_warp(unsigned w)
{
    scope_log *log = &m->log[w * WARP];
    for (unsigned k = 0; k < WARP; k++) {
        unsigned number = w * WARP + k;
        log[k].more = number < m->threads && m->f[number].l.wait == LOG_FULL;
    }
    scope_merge(m->watch, m->block, static_cast<int>(w), log);
    for (unsigned k = 0; k < WARP; k++) {
        scope_log &g = log[k];
        memmove(g.r, g.r + g.next, static_cast<size_t>(g.n - g.next) * sizeof *g.r);
        g.n -= g.next;
        g.next = 0;
        if (g.more && g.n < SCOPE_LOG) m->f[w * WARP + k].l.wait = RUNS;
    }
}

/* The thread that launched asks now and then whether to go on, and tells all others. */
static void tick()
{
    int64_t blocks = static_cast<int64_t>(now.grid_dim.x) * now.grid_dim.y * now.grid_dim.z;
    if (m == &first_runner && given.scope && !m->broken && !scope_tick(given.scope, m->block, blocks, &m->err))
        halt = true;
    if (halt) m->broken = true;
}

/* Lanes whose notes are full go on once these were put together; false: there are none. */
static bool make_room()
{
    bool any = false;
    for (unsigned k = 0; k < m->threads && m->watch && !m->broken; k++)
        if (m->f[k].l.wait == LOG_FULL) {
            merge_warp(k / WARP);
            tick();
            any = true;
        }
    return any;
}

/* All lanes that can run have: those that wait with an atomic do it, in their order. */
static bool let_atomics()
{
    bool any = false;
    for (unsigned k = 0; k < m->threads && m->watch; k++)
        if (m->f[k].l.wait == AT_ATOMIC) {
            m->f[k].l.wait = RUNS;
            any = true;
        }
    return any;
}

static void end_watch()
{
    unsigned warps = (m->threads + WARP - 1) / WARP;
    for (unsigned w = 0; w < warps && !m->broken; w++)
        if (scope_wants_warp(given.scope, static_cast<int>(w))) {
            merge_warp(w);
            tick();
        }
    if (!m->broken) scope_block_end(m->watch, m->block, static_cast<int>(warps));
}

/* ---- shared memory ---- */

unsigned shared_bytes(unsigned bytes, const char *name, source here)
{
    lane *l = now.self;
    unsigned at = l->shared_at, end = at + (bytes + 15) / 16 * 16;
    if (end > SHARED_MOST)
        found(here, "%s takes the block's shared memory to %u bytes; at most %d are there", name, end, +SHARED_MOST);
    l->shared_at = end;
    if (end > m->shared_used) { /* the block's first thread here: what nobody wrote must not look like zero */
        memset(now.shared + m->shared_used, 0xff, end - m->shared_used);
        m->shared_used = end;
    }
    return at;
}

/* ---- barriers and exchanges ---- */

void barrier(source at)
{
    if (now.watched) note_meeting(TOUCH_BARRIER, nullptr, 0, at);
    now.self->wait = AT_BARRIER;
    now.self->at = at;
    give_way();
}

static const char *why_gone(const lane *l, int k)
{
    return warp_start(l) + static_cast<unsigned>(k) >= m->threads ? "the block does not have" : "has returned";
}

static void check_mask(lane *l, source at)
{
    const exchange &x = l->x;
    const char *name = collective_names[x.what];
    unsigned gone = x.mask & m->warps[l->number / WARP].gone;
    if (!(x.mask >> in_warp(l) & 1))
        found(at, "%s: the mask %08x does not name the calling lane %u", name, x.mask, in_warp(l));
    if (x.from >= 0 && !(x.mask >> x.from & 1))
        found(at, "%s: lane %u reads lane %d, which the mask %08x does not name", name, in_warp(l), x.from, x.mask);
    if (gone)
        found(at, "%s: the mask %08x names lane %d, which %s", name, x.mask, __builtin_ctz(gone),
              why_gone(l, __builtin_ctz(gone)));
}

static bool same_place(source a, source b)
{
    return a.line() == b.line() && (a.file_name() == b.file_name() || !strcmp(a.file_name(), b.file_name()));
}

/* The number of the meeting that l comes to: one under way, or a new one. Each has a lane that waits in it alone, so
   that there is always room. */
static int meeting_of(const lane *l)
{
    auto &w = m->warps[l->number / WARP];
    for (unsigned left = w.used; left; left &= left - 1) {
        const exchange &x = w.open[__builtin_ctz(left)].x;
        if (x.mask == l->x.mask && same_place(x.at, l->x.at) && x.what == l->x.what) return __builtin_ctz(left);
    }
    int k = __builtin_ctz(~w.used);
    w.used |= 1u << k;
    w.open[k] = {l->x, 0};
    return k;
}

static void give_out(const lane *l)
{
    unsigned start = warp_start(l), ballot = 0;
    uint64_t value[WARP];
    for (unsigned left = l->x.mask; left; left &= left - 1) {
        int k = __builtin_ctz(left);
        const exchange &x = m->f[start + static_cast<unsigned>(k)].l.x;
        value[k] = x.value;
        if (x.says) ballot |= 1u << k;
    }
    for (unsigned left = l->x.mask; left; left &= left - 1) {
        lane &o = m->f[start + static_cast<unsigned>(__builtin_ctz(left))].l;
        o.x.ballot = ballot;
        if (o.x.from >= 0) o.x.value = value[o.x.from];
        o.wait = RUNS;
    }
    if (given.races) races_meet(l->number / WARP, l->x.mask, l->x.what == SYNC_WARP);
}

void exchange_with_warp(source at)
{
    lane *l = now.self;
    check_mask(l, at);
    if (now.watched) note_meeting(TOUCH_EXCHANGE, collective_names[l->x.what], l->x.mask, at);
    int k = meeting_of(l);
    meeting &o = m->warps[l->number / WARP].open[k];
    o.arrived |= 1u << in_warp(l);
    l->wait = AT_EXCHANGE;
    l->at = at;
    if (o.arrived != l->x.mask) return give_way();
    m->warps[l->number / WARP].used &= ~(1u << k);
    give_out(l);
}

/* ---- the scheduler ---- */

enum { TURNS_A_TICK = 1024 }; /* of the lanes of a warp: well below a millisecond together */

/* One turn for every lane of order[from] .. order[upto - 1] that can run; false when none could. */
static bool turn_of(unsigned from)
{
    m->at = from;
    fiber *f = next_runnable();
    if (!f) return false;
    now.self = &f->l;
    leave_for(&m->scheduler, &f->c);
    if (++m->turns % TURNS_A_TICK == 0) tick();
    return true;
}

/* Let lanes run until all wait or have returned, a warp after the other: its stacks then stay in the cache. Where turns
   are dealt by a seed, all of the block together. false when none could run. */
static bool pass()
{
    unsigned stride = given.seed ? m->threads : WARP;
    bool any = false;
    for (unsigned from = 0; from < m->threads && !m->broken; from += stride) {
        m->upto = min(from + stride, m->threads);
        while (!m->broken && turn_of(from)) any = true;
    }
    return any;
}

static unsigned count(enum wait w)
{
    unsigned n = 0;
    for (unsigned k = 0; k < m->threads; k++) n += m->f[k].l.wait == w;
    return n;
}

static const lane *first(enum wait w)
{
    for (unsigned k = 0; k < m->threads; k++)
        if (m->f[k].l.wait == w) return &m->f[k].l;
    return nullptr;
}

static void never_complete(const lane *l)
{
    unsigned gone = l->x.mask & m->warps[l->number / WARP].gone;
    if (gone)
        found_by_scheduler(l->at, "%s: lane %u waits with the mask %08x, which names lane %d, which %s",
                           collective_names[l->x.what], in_warp(l), l->x.mask, __builtin_ctz(gone),
                           why_gone(l, __builtin_ctz(gone)));
    else
        found_by_scheduler(l->at, "%s waits for ever: lane %u of warp %u is here with mask %08x, the others are not",
                           collective_names[l->x.what], in_warp(l), l->number / WARP, l->x.mask);
}

/* Everybody waits: let a complete barrier go, or say why nobody ever will. */
static void open_barrier()
{
    const lane *b = first(AT_BARRIER), *x = first(AT_EXCHANGE);
    if (x) {
        never_complete(x);
        return;
    }
    if (count(RETURNED)) {
        found_by_scheduler(b->at, "__syncthreads: thread %u waits here, but thread %u has returned", b->number,
                           first(RETURNED)->number);
        return;
    }
    for (unsigned k = 0; k < m->threads; k++) {
        lane &o = m->f[k].l;
        if (!same_place(o.at, b->at)) {
            found_by_scheduler(b->at, "__syncthreads: thread %u waits here, thread %u at line %u", b->number, o.number,
                               o.at.line());
            return;
        }
        o.wait = RUNS;
    }
    if (given.races) races_barrier();
}

static void start_lanes()
{
    m->shared_used = 0;
    for (unsigned w = 0; w * WARP < m->threads; w++) m->warps[w].gone = m->warps[w].used = 0;
    if (m->threads % WARP) m->warps[m->threads / WARP].gone = ~0u << m->threads % WARP;
    for (unsigned k = 0; k < m->threads; k++) {
        lane &l = m->f[k].l;
        l.number = k;
        l.tid =
            dim3(k % now.block_dim.x, k / now.block_dim.x % now.block_dim.y, k / (now.block_dim.x * now.block_dim.y));
        l.wait = RUNS;
        l.shared_at = 0;
        l.unroll = 1;
    }
}

static void run_block()
{
    start_lanes();
    while (!m->broken) {
        if (pass() || make_room() || let_atomics()) continue;
        if (tell_race() || count(RETURNED) == m->threads) break;
        open_barrier();
    }
    tell_race(); /* before what it may have led to */
    if (m->watch) end_watch();
}

/* The order in which lanes get their turn: as numbered, or dealt by the seed. */
static void deal_order()
{
    uint64_t state = given.seed;
    for (unsigned k = 0; k < m->threads; k++) m->order[k] = k;
    for (unsigned k = m->threads; given.seed && k > 1; k--)
        std::swap(m->order[k - 1], m->order[random_next(&state) % k]);
}

static bool begin(const char *kernel, dim3 grid, dim3 block)
{
    m->kernel = given.name ? given.name : kernel;
    now.self = nullptr, now.block = dim3(0, 0, 0), now.block_dim = block, now.grid_dim = grid, now.watched = false;
    m->threads = block.x * block.y * block.z;
    if (!make_fibers()) return m->broken = true, false;
    if (m->threads == 0 || m->threads > BLOCK_MOST) {
        m->threads = 0;
        fail(&m->err, E_DEVICE, "%s: a block has 1 to %d threads, this one %u x %u x %u", m->kernel, +BLOCK_MOST,
             block.x, block.y, block.z);
        return m->broken = true, false;
    }
    deal_order();
    own_stack(&m->scheduler);
    return true;
}

/* Block number b of the grid, which is watched by `watch` if that is not NULL. */
static void one_block(int64_t b, dim3 grid, scope_run *watch, int thread)
{
    enum scope_block what = watch ? scope_block(watch, b) : SCOPE_RUN;
    if (what == SCOPE_SKIP || m->broken) return;
    m->block = b;
    tick();
    if (m->broken) return;
    m->watch = what == SCOPE_WATCH ? scope_thread_of(watch, thread) : nullptr;
    if (what == SCOPE_WATCH && (!m->watch || !make_notes())) {
        if (!m->err.code) fail(&m->err, E_MEMORY, "%s: no memory to watch it", m->kernel);
        m->broken = true;
        return;
    }
    for (unsigned k = 0; m->watch && k < (m->threads + WARP - 1) / WARP * WARP; k++)
        m->log[k].n = m->log[k].next = 0; /* a block that was cut short leaves notes */
    now.watched = m->watch || given.races;
    told.any = false;
    if (given.races) races_block(m->threads);
    int64_t row = b / grid.x;
    now.block = dim3(static_cast<unsigned>(b % grid.x), static_cast<unsigned>(row % grid.y),
                     static_cast<unsigned>(row / grid.y));
    run_block();
}

/* How many of so many threads there are runners for. */
static int make_runners(int threads)
{
    for (int t = 1; t < threads; t++) {
        if (!runners[t])
            runners[t] = static_cast<runner *>(mem_zero(1, sizeof(runner), "a thread of the emulator", nullptr));
        if (!runners[t]) return t;
    }
    return threads;
}

static void forget_stacks(runner *r)
{
    for (int k = 0; r->f && k < BLOCK_MOST; k++) r->f[k].ready = false; /* kernels cut short left their stacks */
}

/* What other threads found goes to the first one: that of the lowest block, as if they had come in order. */
static void gather_findings()
{
    for (int t = 1; t < RUNNERS; t++) {
        runner *r = runners[t];
        if (!r || !r->broken) continue;
        if (!halt && (!m->broken || r->block < m->block)) m->err = r->err, m->block = r->block;
        m->broken = true;
        r->broken = false;
        err_clear(&r->err);
        forget_stacks(r);
    }
}

/* Blocks for which it does not pay to wake other threads. */
enum { THREADS_ALONE = 1 << 12 };

static int host_threads_for(int64_t blocks, const scope_run *watch)
{
    bool alone = !given.side_by_side || given.seed || given.races || (watch && scope_alone(watch)) || omp_in_parallel();
    if (alone || blocks < 2 || blocks * m->threads < THREADS_ALONE) return 1;
    return min(omp_get_max_threads(), +RUNNERS);
}

static void run_grid(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *ctx, scope_run *watch)
{
    int64_t blocks = static_cast<int64_t>(grid.x) * grid.y * grid.z;
    int threads = make_runners(host_threads_for(blocks, watch));
    std::atomic<bool> broken(false);
    std::atomic<int> at_work(0);
    halt = false;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int t = threads > 1 ? omp_get_thread_num() : 0;
        if (t > 0) m = runners[t], begin(kernel, grid, block);
        m->body = body, m->ctx = ctx;
#pragma omp single
        at_work = omp_get_num_threads();
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t b = 0; b < blocks; b++) {
            if (!broken) one_block(b, grid, watch, t);
            if (m->broken) broken = true;
        }
        at_work--;
        while (t == 0 && watch && at_work && !halt) { /* the others are not done */
            usleep(2000);
            tick();
        }
        now.self = nullptr;
        now.watched = false;
    }
    if (threads > 1) gather_findings();
}

void launch(const char *kernel, const char *function, dim3 grid, dim3 block, void (*body)(void *), void *ctx)
{
    int64_t blocks = static_cast<int64_t>(grid.x) * grid.y * grid.z;
    if (m->broken || !begin(kernel, grid, block)) return;
    bool watched = given.scope && given.scope_kernel && scope_begin(given.scope, kernel, function, blocks, m->threads);
    run_grid(kernel, grid, block, body, ctx, watched ? given.scope : nullptr);
}

} // namespace simt

/* ---- for the device ---- */

using simt::given;
using simt::m;

bool emu_sync(struct err *e)
{
    if (!m->broken) return true;
    if (e && !e->code) *e = m->err;
    err_clear(&m->err);
    m->broken = false;
    simt::forget_stacks(m);
    return false;
}

void emu_order(uint64_t seed)
{
    given.seed = seed;
}

void emu_name(const char *kernel)
{
    given.name = kernel;
}

void emu_side_by_side(bool on)
{
    given.side_by_side = on;
}

void emu_scope(struct scope_run *run)
{
    given.scope = run;
    given.scope_kernel = false;
}

void emu_scope_kernel(bool on)
{
    given.scope_kernel = on;
}

void emu_races(bool on)
{
    given.races = on;
}

void emu_close(void)
{
    races_close();
    simt::runner_free(m);
    for (auto *&r : simt::runners) {
        if (r) simt::runner_free(r);
        mem_free(r);
        r = nullptr;
    }
    simt::now.shared = nullptr;
}
