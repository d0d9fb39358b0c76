/* whatif parts: the predicted time on several GPUs. */
#ifndef CMD_WHATIF_PARTS_H
#define CMD_WHATIF_PARTS_H

#include <stdbool.h>

struct args;
struct err;
struct row_kind;
struct session;

bool run_whatif_parts(struct session *s, const struct args *a, struct err *e);

/* The keys of rows (report/fields.h). The view speedup prints row_speedup, which row_whatif_parts includes. */
extern const struct row_kind row_speedup, row_whatif_parts;

#endif
