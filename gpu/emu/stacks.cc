/* The stacks of the emulator's lanes. */
#include "machine/remote.h"
#include "simt_runner.h"

#include <sys/mman.h>

namespace simt
{

#ifdef __SANITIZE_ADDRESS__
enum { STACK = 256 * 1024 };
#else
enum { STACK = 32 * 1024 };
#endif
/* Guarded stacks, for kernels of users: the lowest GUARD bytes of each stack fault. */
enum { GUARDED_STACK = 256 * 1024, GUARD = 64 * 1024 };
static size_t stack_bytes = STACK;

static bool guarded()
{
    return stack_bytes != STACK;
}

char *stacks_new(struct err *e)
{
    if (!guarded()) return static_cast<char *>(mem_new(BLOCK_MAX, STACK, "the emulator's stacks", e));
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *p = mmap(nullptr, BLOCK_MAX * stack_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    bool ok = p != MAP_FAILED;
    for (size_t k = 0; ok && k < BLOCK_MAX; k++)
        ok = !mprotect(static_cast<char *>(p) + k * stack_bytes, GUARD, PROT_NONE);
    if (ok) return static_cast<char *>(p);
    if (p != MAP_FAILED) munmap(p, BLOCK_MAX * stack_bytes);
    fail(e, E_MEMORY, "not enough memory for the emulator's stacks");
    return nullptr;
}

void stacks_free(char *stacks)
{
    if (guarded() && stacks) munmap(stacks, BLOCK_MAX * stack_bytes);
    if (!guarded()) mem_free(stacks);
}

char *stack_of(char *stacks, unsigned number, size_t *bytes)
{
    size_t guard = guarded() ? +GUARD : 0;
    *bytes = stack_bytes - guard;
    return stacks + number * stack_bytes + guard;
}

bool in_guard(const char *stacks, const void *address)
{
    const char *p = static_cast<const char *>(address);
    if (!guarded() || !stacks || p < stacks || p >= stacks + BLOCK_MAX * stack_bytes) return false;
    return static_cast<size_t>(p - stacks) % stack_bytes < GUARD;
}

} // namespace simt

void emu_guard_stacks(void)
{
    simt::stack_bytes = simt::GUARDED_STACK + simt::GUARD;
}
