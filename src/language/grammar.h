/* Grammars: how the words of a line become the arguments of a command. */
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include <stdbool.h>

#include "base/registry.h"
#include "base/words.h"

struct args;
struct session;

enum { ITEMS_MAX = 64 };

enum item_type { ITEM_VALUE, ITEM_WORD, ITEM_PAIR, ITEM_FLAG };
struct item {
    enum item_type type;
    bool optional, repeated;
    bool bare;                /* for PAIR: the value may be given without the keyword */
    int group;                /* alternatives [a|b] form a group: only one may be given */
    char word[16];            /* the keyword */
    char key[24];             /* key by which arg() returns the value */
    const struct kind *value; /* kind of the value, for VALUE and PAIR */
    const char *words;        /* for [key a|b]: the words that may be the value, words_length characters long */
    int words_length;
};
/* The value that the command gets if the user types `text` for the item; NULL: the text is not a valid value. */
const char *item_value(const struct item *it, const struct session *s, const char *text);
/* item_list offers the values to choose from. item_has_list: are the values few enough to be listed? */
void item_list(const struct item *it, const struct session *s, const struct args *a, give_fn *give, void *user);
bool item_has_list(const struct item *it);
/* The properties that a keyword has in all grammars. */
struct keyword {
    const char *word;
    const char *aliases; /* other words for the keyword, separated by blanks */
    /* No abbreviation: the word discards data, so a typing error must not select it, or it begins with an English word.
     */
    bool in_full;
};
const struct keyword *keyword_find(const char *word); /* NULL if the word has no such properties */
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
/* Is the word an option of the program's command line, such as --json? refuse_option says where such options go. */
bool is_option(const char *word);
bool refuse_option(const char *word, struct err *e);
/* What may come next of an item: its keyword, its value, or its value without the keyword that may precede it. */
enum next { NEXT_KEYWORD, NEXT_VALUE, NEXT_BARE_VALUE };
typedef void visit_fn(void *user, const struct item *it, enum next next); /* called with an item that may come next */
/* Visit the items that may come after w[1..n-1]. Values are not checked, because the function is used for
   completion. */
void args_expected(struct args *a, struct session *s, const struct command *c, struct words *w, int n, visit_fn *visit,
                   void *user);

#endif
