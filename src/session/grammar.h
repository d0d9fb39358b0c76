/* Grammars: how the words of a line become the arguments of a command. */
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include <stdbool.h>

#include "base/words.h"

enum { ITEMS_MAX = 24 };

enum item_type { ITEM_VALUE, ITEM_WORD, ITEM_PAIR, ITEM_FLAG };
struct item {
    enum item_type type;
    bool optional, repeated;
    int group;                /* alternatives [a|b] form a group: only one may be given */
    char word[16];            /* the keyword */
    char key[24];             /* key by which arg() returns the value */
    const struct kind *value; /* kind of the value, for VALUE and PAIR */
};
struct grammar {
    int n;
    struct item item[ITEMS_MAX];
};
struct args {
    struct session *session;
    const struct command *command;
    struct grammar grammar;
    int n;
    struct {
        const char *key, *value;
    } v[WORDS_MAX];
};
/* Returns false if the grammar string is malformed. A test checks that the grammars of all commands are well formed. */
bool grammar_parse(const char *text, struct grammar *g);
/* Match words w[1..] against the grammar of c. */
bool args_match(struct args *a, struct session *s, const struct command *c, struct words *w, struct err *e);
/* Called with an item that may come next. If `value` is set, the item's value may come next; otherwise, the item's
   keyword may come next. */
typedef void visit_fn(void *user, const struct item *it, bool value);
/* Visit the items that may come after w[1..n-1]. Values are not checked, because the function is used for
   completion. */
void args_expected(struct args *a, struct session *s, const struct command *c, struct words *w, int n, visit_fn *visit,
                   void *user);

#endif
