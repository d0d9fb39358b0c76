/* `symmetrize step`: the arrays after each step of the patent's method. */
#ifndef SYM_STEPS_H
#define SYM_STEPS_H

#include <stdbool.h>

#include "machine/symmetrize.h"

struct device;
struct err;
struct matrix;
struct row_kind;
struct session;

/* Print T1, T2, T3, F, T4 and the rebuilt CSR of a small matrix. */
bool sym_steps_print(struct session *s, const struct matrix *m, enum sym_mode mode, struct device *d, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_symmetrize_step;

#endif
