/* The ranks of a session. */
#ifndef SESSION_RANKS_H
#define SESSION_RANKS_H

#include <stdbool.h>

struct err;
struct matrix;
struct ranks;
struct session;

/* The ranks that `ranks N` started, when they are ready, and holding m unless it is NULL. NULL with an error if there
   are none, if a solve on them is paused, or if they have ended; in the last case, the session forgets them. */
struct ranks *session_ranks(struct session *s, struct matrix *m, struct err *e);
/* After a failure on the ranks: if they have ended, forget them and a solve that they ran. Returns false. */
bool session_ranks_failed(struct session *s);
/* r become the session's ranks; NULL: there are none. Returns those before, which the caller owns from now on. */
struct ranks *session_swap_ranks(struct session *s, struct ranks *r);
/* End the ranks, if there are any. A paused solve on them ends. */
void session_end_ranks(struct session *s);

#endif
