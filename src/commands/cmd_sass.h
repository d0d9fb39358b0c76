/* The machine code that the session keeps. */
#ifndef CMD_SASS_H
#define CMD_SASS_H

#include <stdbool.h>

#include "base/precision.h"

struct err;
struct kernel;
struct session;

/* Keep the code of one kernel, of the function that the traced launch runs if the kernel is the traced one. */
bool sass_begin(struct session *s, const struct kernel *k, enum precision real, struct err *e);
/* Is the code of this kernel kept? */
bool sass_keeps(const struct session *s, const struct kernel *k);
void sass_drop(struct session *s);

#endif
