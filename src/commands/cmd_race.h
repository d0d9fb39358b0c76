/* The session's race: `race` begins it, other commands continue or stop it, and its table is printed at the end. */
#ifndef CMD_RACE_H
#define CMD_RACE_H

#include <stdbool.h>

struct err;
struct out;
struct race;
struct session;

/* Whether `continue` and `stop` mean the race: it is paused, and no solve was begun or stepped since then. */
bool race_waits(const struct session *s);
/* Resume the race, or end it; both print its table at the end. */
bool race_continue(struct session *s, struct err *e);
bool race_stop(struct session *s, struct err *e);
/* The table of a race that has ended. */
void out_race(struct out *o, const struct race *r);

#endif
