/* The session's race: begun by `race`, continued or stopped by other commands, and printed. */
#ifndef CMD_RACE_H
#define CMD_RACE_H

#include <stdbool.h>

struct err;
struct out;
struct race;
struct session;

/* Is there a race that waits, and no solve that was begun or stepped since it was left? */
bool race_waits(const struct session *s);
/* Let it run on; end it, with its table. */
bool race_continue(struct session *s, struct err *e);
bool race_stop(struct session *s, struct err *e);
/* The table of a race that has ended. */
void out_race(struct out *o, const struct race *r);

#endif
