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
    ret
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
    unsigned threads; /* of the block that runs */
    unsigned order[BLOCK_MOST];
    uint64_t seed;
    const char *file, *kernel, *name;
    void (*body)(void *);
    void *ctx;
    unsigned shared_used;
    bool broken;
    struct err err;
} m;

static fiber *fiber_of(lane *l)
{
    return reinterpret_cast<fiber *>(l);
}
static_assert(offsetof(fiber, l) == 0, "a lane is the head of its fiber");

static void to_scheduler()
{
    leave_for(&fiber_of(now.self)->c, &m.scheduler);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void record(int line, const char *fmt, va_list ap)
{
    char where[sizeof m.err.where], text[400];
    snprintf(where, sizeof where, "%s:%d", base_name(m.file), line);
    vsnprintf(text, sizeof text, fmt, ap);
    if (now.self)
        fail_at(&m.err, E_DEVICE, where, "%s: block %u, thread %u: %s", m.kernel, now.block.x, now.self->number, text);
    else
        fail_at(&m.err, E_DEVICE, where, "%s: block %u: %s", m.kernel, now.block.x, text);
    m.broken = true;
}

void found(int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(line, fmt, ap);
    va_end(ap);
    to_scheduler();
    __builtin_trap(); /* a lane of a broken launch is never resumed */
}

/* The scheduler's own findings: no lane runs. */
static void found_by_scheduler(int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    now.self = nullptr;
    record(line, fmt, ap);
    va_end(ap);
}

/* Where every fiber lives: one kernel after another, so that a stack is set up only once. */
static void thread_loop()
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &m.scheduler.bottom, &m.scheduler.size);
#endif
    for (;;) {
        m.body(m.ctx);
        now.self->wait = RETURNED;
        to_scheduler();
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

unsigned shared_bytes(unsigned bytes, const char *name, int line)
{
    lane *l = now.self;
    unsigned at = l->shared_at, end = at + (bytes + 15) / 16 * 16;
    if (end > SHARED_MOST)
        found(line, "%s takes the block's shared memory to %u bytes; at most %d are there", name, end, +SHARED_MOST);
    l->shared_at = end;
    if (end > m.shared_used) { /* the block's first thread here: what nobody wrote must not look like zero */
        memset(now.shared + m.shared_used, 0xff, end - m.shared_used);
        m.shared_used = end;
    }
    return at;
}

/* ---- barriers and exchanges ---- */

void barrier(int line)
{
    now.self->wait = AT_BARRIER;
    now.self->line = line;
    to_scheduler();
}

static unsigned warp_start(const lane *l)
{
    return l->number / WARP * WARP;
}

/* A lane of the mask that can never come: outside the block, or already returned; -1 if none. */
static int missing_lane(const lane *l, unsigned mask)
{
    unsigned start = warp_start(l);
    for (unsigned k = 0; k < WARP; k++)
        if (mask >> k & 1 && (start + k >= m.threads || m.f[start + k].l.wait == RETURNED)) return static_cast<int>(k);
    return -1;
}

static const char *why_missing(const lane *l, int k)
{
    return warp_start(l) + static_cast<unsigned>(k) >= m.threads ? "the block does not have" : "has returned";
}

static void check_mask(lane *l, int line)
{
    const exchange &x = l->x;
    if (!(x.mask >> (l->number % WARP) & 1))
        found(line, "%s: the mask %08x does not name the calling lane %u", x.what, x.mask, l->number % WARP);
    if (x.from >= 0 && !(x.mask >> x.from & 1))
        found(line, "%s: lane %u reads lane %d, which the mask %08x does not name", x.what, l->number % WARP, x.from,
              x.mask);
    int k = missing_lane(l, x.mask);
    if (k >= 0) found(line, "%s: the mask %08x names lane %d, which %s", x.what, x.mask, k, why_missing(l, k));
}

/* All lanes of the mask wait here for the same thing. */
static bool complete(const lane *l)
{
    unsigned start = warp_start(l);
    for (unsigned k = 0; k < WARP; k++) {
        if (!(l->x.mask >> k & 1)) continue;
        const lane &o = m.f[start + k].l;
        if (o.wait != AT_EXCHANGE || o.x.mask != l->x.mask || o.x.line != l->x.line || o.x.what != l->x.what)
            return false;
    }
    return true;
}

static void give_out(const lane *l)
{
    unsigned start = warp_start(l), ballot = 0, mask = l->x.mask;
    uint64_t value[WARP];
    for (unsigned k = 0; k < WARP; k++) {
        if (!(mask >> k & 1)) continue;
        const exchange &x = m.f[start + k].l.x;
        value[k] = x.value;
        if (x.says) ballot |= 1u << k;
    }
    for (unsigned k = 0; k < WARP; k++) {
        if (!(mask >> k & 1)) continue;
        lane &o = m.f[start + k].l;
        o.x.ballot = ballot;
        if (o.x.from >= 0) o.x.value = value[o.x.from];
        o.wait = RUNS;
    }
}

void exchange_with_warp(int line)
{
    lane *l = now.self;
    check_mask(l, line);
    l->wait = AT_EXCHANGE;
    l->line = line;
    if (complete(l))
        give_out(l);
    else
        to_scheduler();
}

/* ---- the scheduler ---- */

static void run_lane(fiber *f, unsigned number)
{
    if (!f->ready) set_up(f, number);
    now.self = &f->l;
    leave_for(&m.scheduler, &f->c);
}

/* Run every lane that can; the number that did. */
static unsigned pass()
{
    unsigned ran = 0;
    for (unsigned k = 0; k < m.threads && !m.broken; k++) {
        fiber *f = &m.f[m.order[k]];
        if (f->l.wait == RUNS) run_lane(f, m.order[k]), ran++;
    }
    return ran;
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
    int k = missing_lane(l, l->x.mask);
    if (k >= 0)
        found_by_scheduler(l->line, "%s: lane %u waits with the mask %08x, which names lane %d, which %s", l->x.what,
                           l->number % WARP, l->x.mask, k, why_missing(l, k));
    else
        found_by_scheduler(l->line, "%s waits for ever: lane %u of warp %u is here with mask %08x, the others are not",
                           l->x.what, l->number % WARP, l->number / WARP, l->x.mask);
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
        found_by_scheduler(b->line, "__syncthreads: thread %u waits here, but thread %u has returned", b->number,
                           first(RETURNED)->number);
        return;
    }
    for (unsigned k = 0; k < m.threads; k++) {
        lane &o = m.f[k].l;
        if (o.line != b->line) {
            found_by_scheduler(b->line, "__syncthreads: thread %u waits here, thread %u at line %d", b->number,
                               o.number, o.line);
            return;
        }
        o.wait = RUNS;
    }
}

static void start_lanes()
{
    m.shared_used = 0;
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

static bool begin(const char *file, const char *kernel, dim3 grid, dim3 block)
{
    m.file = file, m.kernel = m.name ? m.name : kernel;
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

void launch(const char *file, const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *ctx)
{
    if (m.broken || !begin(file, kernel, grid, block)) return;
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
