/* The emulator's findings: the first one ends the launch and stays in the runner until the device's sync reports it. */
#include "simt_runner.h"

namespace simt
{

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

void found_by(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(at, fmt, ap);
    va_end(ap);
}

void found_by_scheduler(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    now.self = nullptr;
    record(at, fmt, ap);
    va_end(ap);
}

} // namespace simt
