/* Ctrl-C and the progress of long commands. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/watch.h"

struct session;

enum { QUIET_US = 300000 }; /* commands that take less time than this show no progress */

/* The latest progress report of long work. */
struct progress {
    char what[64];
    int64_t done, total; /* total 0: unknown */
    int64_t done_before; /* the value of `done` when work on `what` began */
    double command_us;   /* when the command began; all times here are from steady_us */
    double began_us;     /* when work on `what` began */
    double reported_us;  /* when progress was last reported */
    double shown_us;     /* when progress was last shown */
};

void progress_begin(struct progress *p); /* of a command */
/* The watch of a session: stores the progress, shows it on a terminal if the command has run for a while, and cancels
   after Ctrl-C. */
struct watch session_watch(struct session *s);
/* The last progress report of the running command, for example "spmv 43 %, 2.1 s left"; "" before its first report. */
void session_progress(const struct session *s, char *out, size_t size);
/* Ctrl-C sets a flag that the session's tick reads. If `once` is set, a second Ctrl-C ends the program. */
void session_catch_interrupt(bool once);
bool session_take_interrupt(void); /* clears the flag; returns true if it was set */
bool session_interrupted(void);    /* true if the flag is set */
void session_interrupt(void);      /* set the flag, as Ctrl-C does; any thread may call this */

#endif
