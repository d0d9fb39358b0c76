/* The emulator's findings. The first finding ends the launch and stays in the runner until the sync of the device. */
#include "machine/remote.h"
#include "simt_runner.h"

#include <cstdio>

namespace simt
{

static void name_thread(const lane *l, char *out, size_t size)
{
    snprintf(out, size, "block %u, thread %u", l->block.x, l->number % (m->threads / m->blocks));
}

/* missing: the change that would have prevented the fault, as the end of a sentence; NULL: nothing to add. */
static void record(source at, const char *missing, const char *fmt, va_list ap)
{
    if (m->err.code) return;
    struct emu_finding *f = &m->finding;
    char where[sizeof m->err.where];
    snprintf(where, sizeof where, "%s:%u", scope_file_name(at.file_name()), at.line());
    if (now.self)
        name_thread(now.self, f->thread, sizeof f->thread);
    else
        snprintf(f->thread, sizeof f->thread, "block %u", now.block.x);
    vsnprintf(f->what, sizeof f->what, fmt, ap);
    f->line = static_cast<int>(at.line());
    f->missing = missing;
    fail_at(&m->err, E_DEVICE, where, "%s: %s: %s%s%s", m->kernel, f->thread, f->what, missing ? ", with " : "",
            missing ? missing : "");
    m->broken = true;
}

void found(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(at, nullptr, fmt, ap);
    va_end(ap);
    give_way();
    __builtin_trap(); /* a lane of a broken launch is never resumed */
}

void found_by(source at, const char *missing, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(at, missing, fmt, ap);
    va_end(ap);
}

void found_by_scheduler(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    now.self = nullptr;
    record(at, nullptr, fmt, ap);
    va_end(ap);
}

} // namespace simt

bool emu_running(char *out, unsigned size)
{
    if (!simt::now.self) return false;
    simt::name_thread(simt::now.self, out, size);
    return true;
}
