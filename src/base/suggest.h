/* Text for error messages about a wrong word: the nearest valid word, and a list of valid words. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

#include "base.h"
#include "err.h"
#include "registry.h"

struct suggest {
    const char *word; /* the word that the user typed */
    char best[64];    /* the nearest name offered so far, or empty */
    int distance;     /* edits from word to best */
};
struct suggest suggest_for(const char *word);
give_fn suggest_offer; /* `user` points to a struct suggest */

/* Counts the words that begin with `typed`. If there is exactly one such word, `typed` is its abbreviation. */
struct abbreviation {
    const char *typed;
    const char *word; /* the last of these words that was offered */
    int n;            /* number of these words */
};
/* `user` points to a struct abbreviation. The offered words must last as long as that struct. */
give_fn abbreviation_offer;

/* Passes only the words that begin with `typed` on to `give`. */
struct begins {
    const char *typed;
    give_fn *give;
    void *user;
};
give_fn give_beginning; /* `user` points to a struct begins */

/* The text of an error message while it is composed; text that does not fit is cut off. */
struct message {
    char text[sizeof((struct err *)0)->text];
    size_t n;
    int items; /* number of names listed so far */
    int of;    /* total number of names, if known */
    int most;  /* message_choice and message_item add "..." after this many names; 0: they add all names */
};
void message_add(struct message *t, const char *fmt, ...) PRINTF(2, 3);
void message_quote(struct message *t,
                   const char *text); /* adds `text` in backquotes, made safe; for NULL adds "the end" */
void message_near(struct message *t, const struct suggest *s); /* adds "(did you mean `best`?)" unless best is empty */
enum { LIST_MAX = 8 };
give_fn message_list; /* adds a name to the list, or "..." after LIST_MAX names; `user` points to a struct message */

/* Add the separator before the next of `of` names: a comma or `or`. Returns false if the list ends before that name. */
bool message_next(struct message *t);
give_fn message_choice; /* adds one of `of` names to a list like "a, b or c"; `user` points to a struct message */
give_fn message_item;   /* adds one of `of` names to a list like "`a`, `b` or `c`"; `user` points to a struct message */

#endif
