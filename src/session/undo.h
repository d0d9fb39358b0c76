/* The changes that commands made to a session, to be taken back. */
#ifndef UNDO_H
#define UNDO_H

#include <stdbool.h>
#include <stdint.h>

struct device;
struct err;
struct matrix;
struct session;

/* What one command changed. */
struct change {
    char command[80];       /* as it was typed, safe to print */
    int64_t first;          /* it made the matrices of this number and above */
    struct matrix *dropped; /* by it, the last one first */
    struct matrix *current; /* before it, and the device */
    struct device *dev;
    bool chose; /* it chose the device */
    bool gone;  /* what it dropped was freed, because memory was needed */
};
enum { UNDO_MOST = 16 };
struct undo {
    struct change level[UNDO_MOST], now; /* the oldest first; and that of the command that runs */
    int n;
    bool open;       /* a command runs */
    bool given;      /* levels were lost for want of memory */
    int64_t numbers; /* matrices added so far */
    int64_t bytes;   /* of what was dropped and is kept */
};

/* A command begins or has ended: what it changed becomes a level of s->undo. Commands that run within another are
   changes of their own. */
void undo_begin(struct session *s, const char *command);
void undo_end(struct session *s);
/* Take over m, which was at `index` in the list, so that it can come back; false where it is to be freed. */
bool undo_keep(struct session *s, struct matrix *m, int index);
/* Take back the last change that is kept, and print what that changes. */
bool undo_last(struct session *s, struct err *e);
/* Free all that is kept. */
void undo_forget(struct session *s);

#endif
