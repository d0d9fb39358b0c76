/* What commands leave in the session for later ones: a solve, a race, LU steps, a trace. */
#ifndef HOLDING_H
#define HOLDING_H

#include <stdbool.h>

struct device;
struct mat;
struct matrix;
struct session;

/* A holding is an entry at the end of the file that makes it and one line in holdings.def. The session has at most one
   of each, or none; the functions below see to that. Those that may be NULL say so. */
struct holding {
    void (*drop)(struct session *s);                                     /* free it */
    bool (*belongs_to)(const struct session *s, const struct matrix *m); /* it is dropped with m */
    const char *pauses; /* in the note that it ends: "the paused solve of"; NULL: it never waits for a command */
    bool (*is_paused)(const struct session *s);  /* NULL where `pauses` is */
    bool (*is_running)(const struct session *s); /* a command works on it, so it is not dropped; NULL: never */
    bool (*is_on)(const struct session *s, const struct device *d); /* NULL: it is on no device */
    bool (*uses)(const struct session *s, const struct mat *M);     /* NULL: it refers to no stored matrix */
    void (*moved)(struct session *s, const struct mat *from,
                  struct mat *to); /* refer to `to` instead; NULL as `uses` */
};

void holdings_drop_all(struct session *s);
/* Drop those of matrix m, with a note where one was paused. */
void holdings_drop_of(struct session *s, const struct matrix *m);
/* Drop those that are on device d, or use M, unless they are running. */
void holdings_drop_on(struct session *s, const struct device *d);
void holdings_drop_using(struct session *s, const struct mat *M);
/* Is M used by any? */
bool holdings_use(const struct session *s, const struct mat *M);
void holdings_moved(struct session *s, const struct mat *from, struct mat *to);

#endif
