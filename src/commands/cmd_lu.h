/* The factorisation that the session steps through. */
#ifndef CMD_LU_H
#define CMD_LU_H

#include <stdbool.h>

struct err;
struct matrix;
struct session;

/* Create s->lu, which steps through the LU factorisation of m. The first step has not been done yet. */
bool lu_steps_begin(struct session *s, struct matrix *m, bool force, struct err *e);

#endif
