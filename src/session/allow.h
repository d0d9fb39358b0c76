/* What the lines of a script, a lesson, a recording, `keys` or a client of --serve may do only if the user allows it.
 */
#ifndef ALLOW_H
#define ALLOW_H

#include <stdbool.h>

#include "base/registry.h"

struct err;
struct session;
struct target;

/* The permissions that `allow` can give, by their places in permission_registry. */
enum permission { ALLOW_SHELL, ALLOW_FILES, PERMISSIONS };
extern const struct registry permission_registry;
enum permission permission_find(const char *name); /* PERMISSIONS: there is no such permission */

/* The origin of the lines that are being run. */
struct lines {
    const char *from;         /* "a script", "a lesson", ...; NULL: the user typed them */
    bool allows[PERMISSIONS]; /* what these lines may do, even if the session does not allow it */
};

/* From now on, lines come from `from`, and files that they write must be allowed by file_may_be_written. `allow`
   names the permission that the user gives to these lines; NULL: none. Pass *outer to lines_end. */
bool lines_begin(struct session *s, const char *from, const char *allow, struct lines *outer, struct err *e);
void lines_end(struct session *s, const struct lines *outer);
/* From now on, lines come from the user; pass the result to lines_end. */
struct lines lines_of_user(struct session *s);
/* Does the user, or a permission, allow this to the line that is being run? */
bool is_allowed(const struct session *s, enum permission p);
/* May the line being run use the shell? */
bool shell_is_allowed(const struct session *s, struct err *e);
/* May the line being run write this file? Lines that the user did not type may write new files in the working folder,
   and files that such lines wrote in this session, if nothing has changed them since. */
bool file_may_be_written(const struct session *s, const struct target *t, struct err *e);
/* Allow this to all lines of the session. Fails if the user did not type the current line. */
bool allow(struct session *s, enum permission p, struct err *e);
/* Withdraw a permission. The shell can write any file, so that files stay allowed while the shell is allowed. */
bool disallow(struct session *s, enum permission p, struct err *e);

#endif
