/* What `help` says about the keywords of commands: `help refine`, `help advise solver`. */
#ifndef HELP_WORDS_H
#define HELP_WORDS_H

#include <stdbool.h>

struct command;
struct err;
struct out;
struct row_kind;

/* Explain the keyword in all commands that have it; briefly, if they are many. */
void help_word(struct out *o, const char *word);
/* Explain the keyword of command c. Returns false if c does not have the keyword. */
bool help_word_of(struct out *o, const struct command *c, const char *word);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_help_word;

#endif
