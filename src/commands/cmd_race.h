/* The session's race: Functions that begin, continue and end a race and print its table; the commands `race`,
   `continue` and `stop` share them. */
#ifndef CMD_RACE_H
#define CMD_RACE_H

#include <stdbool.h>

struct err;
struct out;
struct race;
struct row_kind;
struct session;

/* Whether `continue` and `stop` refer to the race: the race is paused, and no solve has been begun or stepped since the
   pause. */
bool race_waits(const struct session *s);
/* Resume the race, or end it; both functions print its table at the end. */
bool race_continue(struct session *s, struct err *e);
bool race_stop(struct session *s, struct err *e);
/* Print the table of a race that has ended. */
void out_race(struct out *o, const struct race *r);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_raced_solver, row_raced_kernel;

#endif
