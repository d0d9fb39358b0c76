/* The options that `set` saves: a table of the options, and their values in a session. The file also holds the aliases.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/registry.h"
#include "session/session.h"

struct args;
struct device;
struct err;

struct setting {
    const char *name, *about, *default_value;
    const char *values[8]; /* choices, terminated by NULL; if there are none, `list` offers the choices */
    void (*list)(const struct session *s, const struct args *a, give_fn *give, void *user);
    bool (*check)(
        const char *value); /* checks a value faster than a search of the list; NULL: any listed value is valid */
    bool (*apply)(struct session *s, const char *value, struct err *e);
    const char *aliases; /* other names, separated by blanks; NULL: none */
};
/* The indices of options[]. */
enum option_id {
    OPTION_DEVICE,
    OPTION_PRECISION,
    OPTION_COLOURS,
    OPTION_THEME,
    OPTION_ASCII,
    OPTION_MOUSE,
    OPTION_PIXELS,
    OPTION_PAGER,
    OPTION_PROMPT,
    OPTION_TITLE,
    OPTION_LINKS,
    OPTION_CLIPBOARD,
    OPTION_NOTIFY,
    OPTION_PINNED,
    OPTION_GPU,
    OPTION_EXCHANGE,
    OPTION_PARTS,
    OPTION_LAUNCHER,
    OPTION_CUSPARSE,
    OPTION_NVCC,
    OPTIONS
};
extern const struct setting options[]; /* at most OPTIONS_MAX entries; the last entry has a NULL name */
extern const struct registry option_registry;
const struct setting *option_find(const char *name);
void option_list(const struct session *s, const struct setting *o, give_fn *give, void *user);
/* Check a value and apply it; the error message lists the valid values. */
bool option_set(struct session *s, const struct setting *o, const char *value, struct err *e);
const char *option_value(const struct session *s, enum option_id o);
/* Apply the options in the file. A missing or faulty file is not a failure: `warned` names the lines that were
   skipped. */
void options_load(struct session *s, char *warned, size_t size);
/* Write the value of an option to the file. */
bool options_keep(const struct setting *o, const char *value, struct err *e);
/* Write the line "KEY VALUE" in place of the lines that begin with the words of the key; NULL removes these lines. */
bool options_keep_line(const char *key, const char *value, struct err *e);
/* The options as they are, to restore them when a lesson ends. */
struct kept_options {
    char option[OPTIONS_MAX][OPTION_MAX];
    struct device *dev;
};
void options_remember(const struct session *s, struct kept_options *k);
void options_restore(struct session *s, const struct kept_options *k);
/* The path of the file, safe to print. */
const char *options_place(char *out, size_t size);

#endif
