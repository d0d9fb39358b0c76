/* The factorisation that the session steps through. */
#ifndef CMD_LU_H
#define CMD_LU_H

#include <stdbool.h>

struct err;
struct matrix;
struct session;

/* Begin to step through LU of m: s->lu before its first column. */
bool lu_steps_begin(struct session *s, struct matrix *m, bool force, struct err *e);

#endif
