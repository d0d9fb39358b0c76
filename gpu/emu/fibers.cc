/* The emulator's fibers: one per thread of a block, each with a stack, and the switches between them. */
#include "machine/remote.h"
#include "simt_runner.h"

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt
{

#ifdef OWN_SWITCH
/* Ends with `ret`, not with a jump: the processor predicts where functions return from the calls that it has seen, and
   the next lane mostly waits at the same place, called through the same functions. */
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

void note_launch_stack(context *c)
{
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

/* The next lane that can run, searched for from the first lane of the pass if no lane is left in this pass. NULL: no
   lane can run, or it is time for the scheduler to check for cancellation. */
static fiber *next_of_pass()
{
    if (m->broken) return nullptr;
    fiber *next = next_runnable();
    if (next || (m->resumes + 1) % RESUMES_PER_CHECK == 0) return next;
    m->resumes++;
    m->at = m->from;
    return next_runnable();
}

/* Switch directly to the next lane that can run, or to the scheduler: direct switches between lanes halve the number of
   switches. Always inlined: a lane that has returned then switches from as deep in the stack as it was started, and the
   processor's prediction of returns stays in step with the lane that goes on. */
static inline __attribute__((always_inline)) void switch_to_next()
{
    fiber *me = fiber_of(now.self), *next = next_of_pass();
    if (next) now.self = &next->l;
    switch_stack(&me->c, next ? &next->c : &m->scheduler);
}

void give_way()
{
    switch_to_next();
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
        switch_to_next();
    }
}

/* The stacks start at different offsets: with equal offsets, their tops would all fall into the same cache sets. */
static void set_up(fiber *f, unsigned number)
{
    size_t room;
    char *bottom = stack_of(m->stacks, number, &room);
    size_t size = room - number % 32 * 192;
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(bottom, room); /* frames left by a kernel that was cut short */
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
    m->shared = static_cast<char *>(mem_new(m->blocks, SHARED_MAX, "the emulator's shared memory", &m->err));
    m->shared_blocks = m->shared ? m->blocks : 0;
}

bool make_fibers()
{
    if (!m->f) {
        m->f = static_cast<fiber *>(mem_zero(BLOCK_MAX, sizeof(fiber), "the emulator's threads", &m->err));
        m->stacks = stacks_new(&m->err);
    }
    make_shared();
    now.shared = m->shared;
    if (m->f && m->stacks && m->shared) return true;
    runner_free(m);
    return false;
}

} // namespace simt

using simt::m;

bool emu_in_guard(const void *address)
{
    return simt::in_guard(m->stacks, address);
}

const void *emu_stack_end(void)
{
    const simt::lane *l = simt::now.self;
    if (!l) return nullptr;
    const simt::context &c = m->f[l->number].c;
    return static_cast<const char *>(c.bottom) + c.size;
}
