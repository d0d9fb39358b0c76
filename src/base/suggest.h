/* The parts of errors about a wrong word: the nearest right one, and a list of choices. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

#include "base.h"
#include "err.h"
#include "registry.h"

struct suggest {
    const char *word; /* what was typed */
    char best[64];    /* the nearest of those offered, or empty */
    int distance;
};
struct suggest suggest_for(const char *word);
give_fn suggest_offer; /* user: the struct suggest */

/* The text of an error in the making; what does not fit is cut off. */
struct message {
    char text[sizeof((struct err *)0)->text];
    size_t n;
    int items, of; /* listed so far, and in all where that is known */
};
void message_add(struct message *t, const char *fmt, ...) PRINTF(2, 3);
void message_quote(struct message *t, const char *text);       /* `text`, made safe; NULL: the end */
void message_near(struct message *t, const struct suggest *s); /* did you mean */
give_fn message_list;                                          /* user: the struct message; a few, then ... */

#endif
