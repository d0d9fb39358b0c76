/* Errors: one line with the place of the fault, the fault, and the cure. */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void record(struct err *e, enum code code, const char *where, const char *fmt, va_list ap)
{
    if (!e || e->code) return;
    e->code = code;
    snprintf(e->where, sizeof e->where, "%s", where);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
}

bool fail(struct err *e, enum code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(e, code, "", fmt, ap);
    va_end(ap);
    return false;
}

bool fail_at(struct err *e, enum code code, const char *where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(e, code, where, fmt, ap);
    va_end(ap);
    return false;
}

void err_advise(struct err *e, const char *fmt, ...)
{
    if (!e || !e->code) return;
    if (!e->advice) {
        size_t used = strlen(e->text);
        snprintf(e->text + used, sizeof e->text - used, "; ");
        e->advice = (int)strlen(e->text);
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text + e->advice, sizeof e->text - (size_t)e->advice, fmt, ap);
    va_end(ap);
}

bool err_is_refusal(const struct err *e)
{
    return e->code == E_LIMIT || e->code == E_UNSUPPORTED || e->code == E_MEMORY || e->code == E_NUMERIC;
}

const char *err_kind(enum code code)
{
    static const char *const names[] = {"",        "usage",  "input",     "io",      "memory", "limit", "unsupported",
                                        "numeric", "device", "cancelled", "internal"};
    return names[code];
}

void err_clear(struct err *e)
{
    memset(e, 0, sizeof *e);
}
