/* The keywords in the grammars of all commands, such as `tol` and `refine`, for `help` and completion. */
#ifndef OPTION_WORDS_H
#define OPTION_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/registry.h"

struct command;

/* The part of the command's grammar that has the keyword, such as "[refine fp32|fp16|bf16]": *n characters. NULL: the
   command does not have the keyword. */
const char *option_word_in(const struct command *c, const char *word, size_t *n);
bool is_option_word(const char *word); /* does a command have the keyword? */
/* Offer the keywords of c; NULL: of all commands, each keyword once. */
void option_words_list(const struct command *c, give_fn *give, void *user);

#endif
