/* The emulator's fibers: one stack per thread of a block, and the switches between them. */
#include "simt_runner.h"

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt
{

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

void switch_stack(context *from, context *to)
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

#ifdef __SANITIZE_ADDRESS__
enum { STACK = 256 * 1024 };
#else
enum { STACK = 32 * 1024 };
#endif

void note_launch_stack(context *c)
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
static_assert(offsetof(fiber, l) == 0, "a lane is the first member of its fiber");

static void set_up(fiber *f, unsigned number);

fiber *next_runnable()
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

/* Switch directly to the next lane that can run, or to the scheduler if no lane can run. Direct
   switches between lanes halve the number of switches. */
void give_way()
{
    fiber *me = fiber_of(now.self), *next = m->broken ? nullptr : next_runnable();
    if (next) now.self = &next->l;
    switch_stack(&me->c, next ? &next->c : &m->scheduler);
}

/* Suspend the running lane, so that the scheduler can check for cancellation: the check needs a larger stack than a
   lane has. The scheduler then resumes this lane first. The device cpu uses the same arrays but has no lanes, so on cpu
   this function does nothing. */
void rest()
{
    if (!now.self) return;
    m->resumes = 0u - 1;
    switch_stack(&fiber_of(now.self)->c, &m->scheduler);
}

/* The body of every fiber. It runs one kernel after another, so a stack is set up only once. */
static void thread_loop()
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fiber_of(now.self)->c.fake, nullptr, nullptr);
#endif
    for (;;) {
        m->body(m->ctx);
        lane *l = now.self;
        l->wait = RETURNED;
        m->warps[l->number / WARP].gone |= 1u << in_warp(l);
        give_way();
    }
}

/* The stacks start at different offsets: with equal offsets, their tops would all fall into the same cache sets. */
static void set_up(fiber *f, unsigned number)
{
    char *bottom = m->stacks + static_cast<size_t>(number) * STACK;
    size_t size = STACK - number % 32 * 192;
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(bottom, STACK); /* frames left by a kernel that was cut short */
#endif
    f->c.bottom = bottom;
    f->c.size = size; /* f->c.fake stays: a fiber that was cut short uses the same fake stack again */
    f->ready = true;
#ifdef OWN_SWITCH
    void **top = reinterpret_cast<void **>(bottom + size - 16);
    *--top = nullptr; /* the return address of thread_loop, which never returns; aligns the stack as a call does */
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

static void make_shared()
{
    if (m->shared && m->blocks <= m->shared_blocks) return;
    mem_free(m->shared);
    m->shared = static_cast<char *>(mem_new(m->blocks, SHARED_MOST, "the emulator's shared memory", &m->err));
    m->shared_blocks = m->shared ? m->blocks : 0;
}

bool make_fibers()
{
    if (!m->f) {
        m->f = static_cast<fiber *>(mem_zero(BLOCK_MOST, sizeof(fiber), "the emulator's threads", &m->err));
        m->stacks = static_cast<char *>(mem_new(BLOCK_MOST, STACK, "the emulator's stacks", &m->err));
    }
    make_shared();
    now.shared = m->shared;
    if (m->f && m->stacks && m->shared) return true;
    runner_free(m);
    return false;
}

} // namespace simt
