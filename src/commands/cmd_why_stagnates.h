/* `why stagnates`: the evidence after a solve that did not converge. */
#ifndef CMD_WHY_STAGNATES_H
#define CMD_WHY_STAGNATES_H

#include <stdbool.h>

struct err;
struct row_kind;
struct session;

bool run_why_stagnates(struct session *s, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_why_evidence;

#endif
