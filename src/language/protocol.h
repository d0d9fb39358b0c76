/* `warpspy --serve`: requests are JSON lines on standard input, replies are JSON lines on standard output.
   protocol_help describes both. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stdbool.h>
#include <stdio.h>

struct err;
struct registry;
struct session;

enum { PROTOCOL_VERSION = 1 };
extern const char *const protocol_help; /* a few paragraphs, as `help serve` shows them */

/* Listen at the Unix socket `path` or, if it is NULL, take over standard input and output: from now on, descriptor 0
   reads nothing and descriptor 1 writes to standard error, so that neither a library nor a shell command can disturb
   the protocol. There is one protocol per process. */
bool protocol_open(const char *path, struct err *e);
/* The streams for session_new. What is written to them becomes replies to the current request; before the first
   request, the id of the replies is null. */
FILE *protocol_data(void);
FILE *protocol_messages(void);
/* Prepare the new session s, and send the first reply, which lists the keys of numbers that may be words, also of the
   views (struct view_entry), although s->front does not exist yet. With a
   socket, this waits for the first client. Returns false if no client can come. */
bool protocol_begin(struct session *s, const struct registry *views);
/* Answer requests until the input ends, a request quits, or nobody reads the replies. Returns false if not all replies
   could be written. */
bool protocol_run(struct session *s);
void protocol_close(void); /* after session_free, which still uses the streams */

#endif
