/* What the lines of a script, a lesson, a recording or `keys` may do only if the user allows it. */
#ifndef ALLOW_H
#define ALLOW_H

#include <stdbool.h>

#include "base/registry.h"

struct args;
struct err;
struct session;

/* The origin of the lines that are being run. */
struct lines {
    const char *from; /* "a script", "a lesson", ...; NULL: the user typed them */
    bool shell;       /* lines that the user did not type may run shell commands */
};

/* The permissions that `allow` can give. */
extern const struct registry permission_registry;

/* From now on, lines come from `from`. `a` holds the arguments of the command that runs the lines, with the grammar
   [allow PERMISSION]. Pass *outer to lines_end. */
bool lines_begin(struct session *s, const char *from, const struct args *a, struct lines *outer, struct err *e);
void lines_end(struct session *s, const struct lines *outer);
/* May the line being run use the shell? */
bool shell_is_allowed(const struct session *s, struct err *e);
/* May the line being run send output to this file? */
bool file_is_allowed(const struct session *s, const char *path, struct err *e);
/* Allow all lines of this session to use the shell. Fails if the user did not type the current line. */
bool shell_allow(struct session *s, struct err *e);

#endif
