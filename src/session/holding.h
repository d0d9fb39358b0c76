/* Holdings: results that a command leaves in the session for later commands, such as a solve, a race, LU steps or a
   trace. */
#ifndef HOLDING_H
#define HOLDING_H

#include <stdbool.h>

struct device;
struct mat;
struct matrix;
struct session;

/* The functions of one kind of holding. Each kind has one `struct holding`, at the end of the file that makes such
   holdings, and one line in holdings.def. The session has at most one holding of each kind. A member may be NULL only
   if its comment says so. */
struct holding {
    void (*drop)(struct session *s); /* free it */
    bool (*belongs_to)(const struct session *s,
                       const struct matrix *m); /* is the holding dropped with m? NULL if it is `apart` */
    const char *pauses; /* words for the message that the holding has ended: "the paused solve of"; NULL: the holding is
                           never paused */
    bool (*is_paused)(const struct session *s); /* NULL if `pauses` is NULL */
    bool (*is_running)(
        const struct session *s); /* a command is using the holding, so the holding is not dropped; NULL: never */
    bool (*is_on)(const struct session *s, const struct device *d); /* NULL: the holding uses no device */
    bool (*uses)(const struct session *s, const struct mat *M);     /* NULL: the holding refers to no stored matrix */
    bool apart; /* the holding refers to no matrix, and stays when all matrices are dropped */
    void (*moved)(struct session *s, const struct mat *from,
                  struct mat *to); /* refer to `to` instead of `from`; NULL if `uses` is NULL */
};

void holdings_drop_all(struct session *s);
/* Drop the holdings that refer to matrices. */
void holdings_drop_results(struct session *s);
/* Drop the holdings of matrix m, with a note for each paused holding. */
void holdings_drop_of(struct session *s, const struct matrix *m);
/* Drop the holdings that are on device d, or that use M, unless they are running. */
void holdings_drop_on(struct session *s, const struct device *d);
void holdings_drop_using(struct session *s, const struct mat *M);
/* Whether any holding uses M. */
bool holdings_use(struct session *s, const struct mat *M);
/* Make all holdings refer to `to` instead of `from`. */
void holdings_moved(struct session *s, const struct mat *from, struct mat *to);

#endif
