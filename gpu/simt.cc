/* The emulator's machine: fibers, the scheduler of a block, exchanges within a warp, findings. */
#include "kernel.h"
#include "emu.h"

#include <cstdarg>

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

machine now;

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

static struct {
    fiber *f; /* BLOCK_MOST of them, made at the first launch */
    char *stacks;
    context scheduler;
    unsigned threads;               /* of the block that runs */
    unsigned order[BLOCK_MOST], at; /* the order of turns, and whose is next */
    uint64_t seed;
    const char *kernel, *name;
    void (*body)(void *);
    void *ctx;
    unsigned shared_used;
    bool broken;
    struct err err;
} m;

/* Lanes of a warp that mean the same exchange, as they come in; up to one meeting a lane can be under way. */
struct meeting {
    exchange x; /* mask, line and what are the same for all of them */
    unsigned arrived;
};
static struct {
    unsigned gone; /* lanes that can never come: returned, or beyond the block */
    unsigned used; /* which meetings are under way */
    meeting open[WARP];
} warps[BLOCK_MOST / WARP];

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

/* The next lane in order that can run, from m.at on; NULL when all wait or have returned. */
static fiber *next_runnable()
{
    while (m.at < m.threads) {
        unsigned number = m.order[m.at++];
        fiber *f = &m.f[number];
        if (f->l.wait != RUNS) continue;
        if (!f->ready) set_up(f, number);
        return f;
    }
    return nullptr;
}

/* Leave the lane that runs: straight to the next one, which saves half of the switches, or to the scheduler. */
static void give_way()
{
    fiber *me = fiber_of(now.self), *next = m.broken ? nullptr : next_runnable();
    if (next) now.self = &next->l;
    leave_for(&me->c, next ? &next->c : &m.scheduler);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void record(source at, const char *fmt, va_list ap)
{
    char where[sizeof m.err.where], text[400];
    snprintf(where, sizeof where, "%s:%u", base_name(at.file_name()), at.line());
    vsnprintf(text, sizeof text, fmt, ap);
    if (now.self)
        fail_at(&m.err, E_DEVICE, where, "%s: block %u, thread %u: %s", m.kernel, now.block.x, now.self->number, text);
    else
        fail_at(&m.err, E_DEVICE, where, "%s: block %u: %s", m.kernel, now.block.x, text);
    m.broken = true;
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
        m.body(m.ctx);
        lane *l = now.self;
        l->wait = RETURNED;
        warps[l->number / WARP].gone |= 1u << in_warp(l);
        give_way();
    }
}

/* Stacks are staggered: at equal distances their tops would all fall in the same cache sets. */
static void set_up(fiber *f, unsigned number)
{
    char *bottom = m.stacks + static_cast<size_t>(number) * STACK;
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

static bool make_fibers()
{
    if (m.f) return true;
    m.f = static_cast<fiber *>(mem_zero(BLOCK_MOST, sizeof(fiber), "the emulator's threads", &m.err));
    m.stacks = static_cast<char *>(mem_new(BLOCK_MOST, STACK, "the emulator's stacks", &m.err));
    now.shared = static_cast<char *>(mem_new(SHARED_MOST, 1, "the emulator's shared memory", &m.err));
    if (m.f && m.stacks && now.shared) return true;
    emu_close();
    return false;
}

/* ---- shared memory ---- */

unsigned shared_bytes(unsigned bytes, const char *name, source here)
{
    lane *l = now.self;
    unsigned at = l->shared_at, end = at + (bytes + 15) / 16 * 16;
    if (end > SHARED_MOST)
        found(here, "%s takes the block's shared memory to %u bytes; at most %d are there", name, end, +SHARED_MOST);
    l->shared_at = end;
    if (end > m.shared_used) { /* the block's first thread here: what nobody wrote must not look like zero */
        memset(now.shared + m.shared_used, 0xff, end - m.shared_used);
        m.shared_used = end;
    }
    return at;
}

/* ---- barriers and exchanges ---- */

void barrier(source at)
{
    now.self->wait = AT_BARRIER;
    now.self->at = at;
    give_way();
}

static const char *why_gone(const lane *l, int k)
{
    return warp_start(l) + static_cast<unsigned>(k) >= m.threads ? "the block does not have" : "has returned";
}

static void check_mask(lane *l, source at)
{
    const exchange &x = l->x;
    unsigned gone = x.mask & warps[l->number / WARP].gone;
    if (!(x.mask >> in_warp(l) & 1))
        found(at, "%s: the mask %08x does not name the calling lane %u", x.what, x.mask, in_warp(l));
    if (x.from >= 0 && !(x.mask >> x.from & 1))
        found(at, "%s: lane %u reads lane %d, which the mask %08x does not name", x.what, in_warp(l), x.from, x.mask);
    if (gone)
        found(at, "%s: the mask %08x names lane %d, which %s", x.what, x.mask, __builtin_ctz(gone),
              why_gone(l, __builtin_ctz(gone)));
}

static bool same_place(source a, source b)
{
    return a.line() == b.line() && !strcmp(a.file_name(), b.file_name());
}

/* The number of the meeting that l comes to: one under way, or a new one. Each has a lane that waits in it alone, so
   that there is always room. */
static int meeting_of(const lane *l)
{
    auto &w = warps[l->number / WARP];
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
        const exchange &x = m.f[start + static_cast<unsigned>(k)].l.x;
        value[k] = x.value;
        if (x.says) ballot |= 1u << k;
    }
    for (unsigned left = l->x.mask; left; left &= left - 1) {
        lane &o = m.f[start + static_cast<unsigned>(__builtin_ctz(left))].l;
        o.x.ballot = ballot;
        if (o.x.from >= 0) o.x.value = value[o.x.from];
        o.wait = RUNS;
    }
}

void exchange_with_warp(source at)
{
    lane *l = now.self;
    check_mask(l, at);
    int k = meeting_of(l);
    meeting &o = warps[l->number / WARP].open[k];
    o.arrived |= 1u << in_warp(l);
    l->wait = AT_EXCHANGE;
    l->at = at;
    if (o.arrived != l->x.mask) return give_way();
    warps[l->number / WARP].used &= ~(1u << k);
    give_out(l);
}

/* ---- the scheduler ---- */

/* One turn for every lane that can run; false when none could. */
static bool pass()
{
    m.at = 0;
    fiber *f = next_runnable();
    if (!f) return false;
    now.self = &f->l;
    leave_for(&m.scheduler, &f->c);
    return true;
}

static unsigned count(enum wait w)
{
    unsigned n = 0;
    for (unsigned k = 0; k < m.threads; k++) n += m.f[k].l.wait == w;
    return n;
}

static const lane *first(enum wait w)
{
    for (unsigned k = 0; k < m.threads; k++)
        if (m.f[k].l.wait == w) return &m.f[k].l;
    return nullptr;
}

static void never_complete(const lane *l)
{
    unsigned gone = l->x.mask & warps[l->number / WARP].gone;
    if (gone)
        found_by_scheduler(l->at, "%s: lane %u waits with the mask %08x, which names lane %d, which %s", l->x.what,
                           in_warp(l), l->x.mask, __builtin_ctz(gone), why_gone(l, __builtin_ctz(gone)));
    else
        found_by_scheduler(l->at, "%s waits for ever: lane %u of warp %u is here with mask %08x, the others are not",
                           l->x.what, in_warp(l), l->number / WARP, l->x.mask);
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
    for (unsigned k = 0; k < m.threads; k++) {
        lane &o = m.f[k].l;
        if (!same_place(o.at, b->at)) {
            found_by_scheduler(b->at, "__syncthreads: thread %u waits here, thread %u at line %u", b->number, o.number,
                               o.at.line());
            return;
        }
        o.wait = RUNS;
    }
}

static void start_lanes()
{
    m.shared_used = 0;
    for (unsigned w = 0; w * WARP < m.threads; w++) warps[w].gone = warps[w].used = 0;
    if (m.threads % WARP) warps[m.threads / WARP].gone = ~0u << m.threads % WARP;
    for (unsigned k = 0; k < m.threads; k++) {
        lane &l = m.f[k].l;
        l.number = k;
        l.tid =
            dim3(k % now.block_dim.x, k / now.block_dim.x % now.block_dim.y, k / (now.block_dim.x * now.block_dim.y));
        l.wait = RUNS;
        l.shared_at = 0;
    }
}

static void run_block()
{
    start_lanes();
    while (!m.broken) {
        if (pass()) continue;
        if (count(RETURNED) == m.threads) return;
        open_barrier();
    }
}

/* The order in which lanes get their turn: as numbered, or dealt by the seed. */
static void deal_order()
{
    uint64_t state = m.seed;
    for (unsigned k = 0; k < m.threads; k++) m.order[k] = k;
    for (unsigned k = m.threads; m.seed && k > 1; k--) std::swap(m.order[k - 1], m.order[random_next(&state) % k]);
}

static bool begin(const char *kernel, dim3 grid, dim3 block)
{
    m.kernel = m.name ? m.name : kernel;
    now.self = nullptr, now.block = dim3(0, 0, 0), now.block_dim = block, now.grid_dim = grid;
    m.threads = block.x * block.y * block.z;
    if (!make_fibers()) return m.broken = true, false;
    if (m.threads == 0 || m.threads > BLOCK_MOST) {
        m.threads = 0;
        fail(&m.err, E_DEVICE, "%s: a block has 1 to %d threads, this one %u x %u x %u", m.kernel, +BLOCK_MOST, block.x,
             block.y, block.z);
        return m.broken = true, false;
    }
    deal_order();
    return true;
}

void launch(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *ctx)
{
    if (m.broken || !begin(kernel, grid, block)) return;
    own_stack(&m.scheduler);
    m.body = body, m.ctx = ctx;
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x && !m.broken; x++) {
                now.block = dim3(x, y, z);
                run_block();
            }
    now.self = nullptr;
}

} // namespace simt

/* ---- for the device ---- */

using simt::m;

bool emu_sync(struct err *e)
{
    if (!m.broken) return true;
    if (e && !e->code) *e = m.err;
    err_clear(&m.err);
    m.broken = false;
    for (int k = 0; m.f && k < simt::BLOCK_MOST; k++) m.f[k].ready = false; /* kernels cut short left their stacks */
    return false;
}

void emu_order(uint64_t seed)
{
    m.seed = seed;
}

void emu_name(const char *kernel)
{
    m.name = kernel;
}

void emu_close(void)
{
    mem_free(m.f);
    mem_free(m.stacks);
    mem_free(simt::now.shared);
    m.f = nullptr, m.stacks = nullptr, simt::now.shared = nullptr;
}
