/* How a line becomes the arguments of a command: words, kinds of values, grammars. For command.c, complete.c. */
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include "numeral.h"
#include "session.h"

enum { LINE_LIMIT = 16384, WORDS_MAX = 256, ITEMS_MAX = 24, SOURCE_DEPTH = 16 };

/* ---- words.c: one command of a line, cut into words ---- */

struct word {
    char *text;
    bool quoted; /* any part was: then it is never a keyword */
};
struct words {
    int n;
    char open;  /* the quote that is not closed, or 0 */
    bool ended; /* a blank follows the last word */
    bool more;  /* a `;` ended the command */
    struct word w[WORDS_MAX];
    size_t used;
    char text[2 * LINE_LIMIT]; /* a leading ~ may make a word longer than it was */
};
/* Cut the command at *line up to its `;` or the end of the line, and move *line behind it. "..." and '...' quote,
   a backslash outside '...' takes the next character as it is, # at the start of a word begins a comment. */
bool words_split(struct words *w, const char **line, struct err *e);
/* The command as it could be typed, quoted where it must be; its length, which is below `size` if all of it fits. */
size_t words_join(const struct words *w, char *out, size_t size);

/* ---- suggest.c: what errors are made of ---- */

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

/* ---- kinds.c: what may stand for MATRIX, DEVICE, ... in a grammar ---- */

struct kind {
    const char *name;          /* as in a grammar: DEVICE */
    const char *key;           /* what arg() calls it: device */
    const char *what;          /* in messages: "a device" */
    const char *none;          /* said when `list` offers nothing; may be NULL */
    const struct registry *of; /* the values are the names of its entries, where check and list say nothing else */
    bool (*check)(const struct session *s, const char *text);
    /* Offer the values there are to choose from; without `of` NULL: too many to list. */
    void (*list)(const struct session *s, const struct args *a, give_fn *give, void *user);
};
extern const struct kind kinds[]; /* ended by a NULL name */
const struct kind *kind_find(const char *name, size_t n);
bool kind_accepts(const struct kind *k, const struct session *s, const char *text);
bool kind_has_list(const struct kind *k);
void kind_list(const struct kind *k, const struct session *s, const struct args *a, give_fn *give, void *user);
/* "; one of cpu, emu", or what is said when there are none. */
void message_choices(struct message *t, const struct session *s, const struct args *a, const struct kind *k);
/* Is text a value of that kind? If not, the error says "expected a device after `on`, found ..." */
bool kind_check(const char *kind, const struct session *s, const char *after, const char *text, struct err *e);
/* The parameters that the words after the FORMAT or GENERATOR may set; NULL when neither was given. */
const struct param *params_of(const struct args *a);
/* The place of a parameter in its list, or -1. */
int param_index(const struct param *list, const char *name);

/* ---- grammar.c and match.c ---- */

enum item_type { ITEM_VALUE, ITEM_WORD, ITEM_PAIR, ITEM_FLAG };
struct item {
    enum item_type type;
    bool optional, repeated;
    int group;                /* of [a|b]: only one of a group may be given */
    char word[16];            /* the keyword */
    char key[24];             /* what arg() finds the value by */
    const struct kind *value; /* VALUE and PAIR */
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
/* false: the grammar string is malformed, which the tests see to. */
bool grammar_parse(const char *text, struct grammar *g);
/* Match words w[1..] against the grammar of c. */
bool args_match(struct args *a, struct session *s, const struct command *c, struct words *w, struct err *e);
/* An item that may come next: its value, or else its keyword. */
typedef void visit_fn(void *user, const struct item *it, bool value);
/* Visit what may come after w[1..n-1]. For completion: values are not checked. */
void args_expected(struct args *a, struct session *s, const struct command *c, struct words *w, int n, visit_fn *visit,
                   void *user);

/* ---- command.c ---- */

/* The sorts of devices there can be, for `help`; ended by a NULL name. cmd_help.c. */
extern const struct named device_sorts[];
extern const struct registry device_sort_registry;
/* The title of the group that a command stands in, for `help`. */
const char *command_group(const struct command *c);
/* The next line of f without its end, in line[LINE_LIMIT + 2]. One that is too long or has a NUL byte is read to its
   end and refused. */
enum got { GOT_LINE, GOT_END, GOT_BAD };
enum got line_next(FILE *f, char *line, struct err *e);
/* Run the lines of f, called `name` in messages; `stop` at the first that fails. */
bool run_stream(struct session *s, FILE *f, const char *name, bool stop);
/* Run a command whose words are known, such as load and a file name; nothing in them is special. */
bool run_words(struct session *s, int n, const char *const *word);

#endif
