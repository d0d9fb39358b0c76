/* Errors: one line that states the fault and its place. */
#ifndef ERR_H
#define ERR_H

#include "base.h"

#include <stdbool.h>

C_BEGIN

enum code {
    E_NONE,
    E_USAGE,
    E_INPUT,
    E_IO,
    E_MEMORY,
    E_LIMIT,
    E_UNSUPPORTED,
    E_NUMERIC,
    E_DEVICE,
    E_CANCELLED,
    E_INTERNAL
};

struct err {
    enum code code;
    char where[256]; /* "file:line", or empty */
    char text[512];  /* the fault, then the cure */
    int advice;      /* offset in text at which the advice added by err_advise begins; 0: no advice */
};

/* Record the first failure in e (later failures are ignored; e may be NULL) and return false. */
bool fail(struct err *e, enum code code, const char *fmt, ...) PRINTF(3, 4);
bool fail_at(struct err *e, enum code code, const char *where, const char *fmt, ...) PRINTF(4, 5);
/* Does the failure concern only the format, kernel or the like that was tried, so that another may succeed? */
bool err_is_refusal(const struct err *e);
void err_clear(struct err *e);
/* One lower-case word for a code, for programs that read errors. */
const char *err_kind(enum code code);
/* Append advice to e after a semicolon, replacing any earlier advice. e may be NULL. */
void err_advise(struct err *e, const char *fmt, ...) PRINTF(2, 3);

C_END
#endif
