/* When to try again what does not work on each batch of rows: after each failure, twice as many batches pass before the
   next try. */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <stdbool.h>

enum { PATIENCE_MAX = 64 }; /* the most batches between two tries */

struct patience { /* all 0: try on the first batch */
    int wait, left;
};

/* Should this batch be tried? Called once per batch. */
static inline bool patience_tries(struct patience *p)
{
    return p->left-- <= 0;
}

static inline void patience_learns(struct patience *p, bool worked)
{
    p->wait = worked ? 0 : p->wait == 0 ? 1 : p->wait < PATIENCE_MAX ? 2 * p->wait : p->wait;
    p->left = p->wait;
}

#endif
