/* Runs the session's solve: what `solve`, `step`, `continue`, `stop`, `change` and the view of a solve share. */
#ifndef SOLVE_RUN_H
#define SOLVE_RUN_H

#include <stdbool.h>

#include "session/front.h"

struct err;
struct session;
struct solve;
struct solve_watch;

/* Run the solve until it ends, is paused or the user leaves it. If it has ended or was stopped, print its result: a
   stopped solve keeps its x. Drops the solve on failure. */
bool solve_drive(struct session *s, struct err *e);
/* End the solve if it still runs, compute its true residual, and print the result. */
bool solve_finish(struct session *s, struct err *e);
/* The paused solve that waits for a command; NULL with an error that says what to do if there is none. */
struct solve *solve_waiting(struct session *s, struct err *e);
/* From now on, `continue`, `stop` and the vectors x, b and r mean the solve, not a race or a direct solve. */
void solve_is_newest(struct session *s);

/* The parts of solve_drive. */

/* Run the solve until it ends, is paused, the user leaves it, or the watch (NULL: none) ends it. *turn: what the user
   wants. Drops the solve on failure. */
bool solve_run(struct session *s, struct solve_watch *w, enum turn *turn, struct err *e);
/* End the solve, which has ended by itself or was stopped, and compute its true residual. If the system is scaled, and
   A x = b does not meet tol yet, go on with it. */
bool solve_conclude(struct session *s, struct solve_watch *w, enum turn turn, struct err *e);
/* Print the result of the solve. `ended`: whether ending it succeeded; otherwise, drop it and return false. */
bool solve_report(struct session *s, bool ended);
/* In a script, a solve that Ctrl-C stopped counts as a failure. */
bool solve_counts_as_done(struct session *s, enum turn turn, struct err *e);
/* Is the solve paused, and no full screen shows it, so that control returns to the prompt or the script? */
bool solve_waits_for_command(const struct session *s);
void solve_note_paused(struct session *s);

#endif
