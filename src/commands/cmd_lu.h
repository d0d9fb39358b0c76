/* The factorisation that the session steps through. */
#ifndef CMD_LU_H
#define CMD_LU_H

#include <stdbool.h>

struct err;
struct matrix;
struct session;

/* Create s->lu for stepping through the LU factorisation of m, before the first column. */
bool lu_steps_begin(struct session *s, struct matrix *m, bool force, struct err *e);

#endif
