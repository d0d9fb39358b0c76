/* Undo: the changes that recent commands made to a session. */
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
    char command[80];       /* the command as typed, safe to print */
    int64_t first;          /* the command made the matrices with this serial number or a higher number */
    struct matrix *dropped; /* matrices that the command dropped, in reverse order; owned */
    struct matrix *current; /* the current matrix before the command */
    struct device *dev;     /* the device before the command */
    bool chose;             /* the command chose the device */
    bool gone;              /* the dropped matrices were freed because memory was needed */
};
enum { UNDO_MAX = 16 };
struct undo {
    struct change level[UNDO_MAX]; /* changes by finished commands, the oldest first */
    struct change now;             /* changes by the running command */
    int n;
    bool open;       /* a command is running */
    bool held;       /* changes are not kept, because the running command reverts them itself */
    bool given;      /* levels were freed because memory was needed */
    int64_t numbers; /* matrices added so far */
    int64_t bytes;   /* size of the dropped matrices that are kept */
};

/* Call undo_begin before a command and undo_end after it. The changes of the command become a level of s->undo. A
   command that another command runs gets its own level. */
void undo_begin(struct session *s, const char *command);
void undo_end(struct session *s);
/* Keep m, which has no stored forms and was at `index` in the list, so that undo can restore it. If this returns false,
   the caller must free m. */
bool undo_keep(struct session *s, struct matrix *m, int index);
/* Take the last change, to be undone: the caller brings back its dropped matrices. Fails with E_USAGE if there is
   none. */
bool undo_take(struct session *s, struct change *out, struct err *e);
/* Bring the next matrix that the change dropped back into the list of matrices; NULL: all are back. */
struct matrix *undo_bring_back(struct session *s, struct change *c);
/* Free all kept changes. */
void undo_forget(struct session *s);

#endif
