/* The kinds of values in a grammar (MATRIX, DEVICE, ...) and the words that each kind accepts. */
#ifndef KINDS_H
#define KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/registry.h"

struct args;
struct err;
struct message;
struct session;

/* What the grammar does with a value of a kind, beyond checking it. */
enum kind_role {
    KIND_PLAIN,
    KIND_PARAMS, /* parameters of the format or generator that precedes them */
    KIND_DIRECT, /* offered only after the solver `direct` */
    KIND_LEAD,   /* usually comes first: until then, values whose keyword may be left out are not offered */
    KIND_FILE,   /* completed with the names of files */
    KIND_REST    /* takes the rest of the line, which is completed as a command */
};

struct kind {
    const char *name;          /* name in a grammar: DEVICE */
    const char *key;           /* key for arg(): device */
    const char *what;          /* in messages: "a device" */
    const char *none;          /* message if there is nothing to choose from; may be NULL */
    const struct registry *of; /* the values are the names of this registry, unless value or list is set */
    /* The value that the command gets if the user types `text`: `text` itself or the name that it stands for. NULL:
       `text` is not a value of this kind. */
    const char *(*value)(const struct session *s, const char *text);
    /* Offer the values to choose from. If `list` and `of` are NULL, there are too many values to list. */
    void (*list)(const struct session *s, const struct args *a, give_fn *give, void *user);
    enum kind_role role;
    const char *lister; /* the command that shows all values, for messages that list only some of them; may be NULL */
    /* Why a text is not a value although it looks like one, such as "is a number in expressions; choose another name".
       Returns NULL if there is no special reason. `refuses` may be NULL. */
    const char *(*refuses)(const char *text);
};
extern const struct kind kinds[]; /* the last entry has a NULL name */
const struct kind *kind_find(const char *name, size_t n);
/* The value that a command gets if the user types `text` for a value of this kind: for the text "gauss-seidel", the
   value is "gs". NULL: the text is not valid. */
const char *kind_value(const struct kind *k, const struct session *s, const char *text);
bool kind_has_list(const struct kind *k);
void kind_list(const struct kind *k, const struct session *s, const struct args *a, give_fn *give, void *user);
/* What a topic of `help` is, in one sentence; NULL: nothing but `help` itself says it. */
const char *topic_about(const struct session *s, const char *name);
/* Append the choices, for example "; one of cpu, emu", or the message that there are no choices. */
void message_choices(struct message *t, const struct session *s, const struct args *a, const struct kind *k);
/* Is text a value of that kind? If not, the error message is "`x` after `on` is not a device; one of ..." */
bool kind_check(const char *kind, const struct session *s, const char *after, const char *text, struct err *e);

#endif
