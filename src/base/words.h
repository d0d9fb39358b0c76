/* One command of a line, cut into words. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { LINE_LIMIT = 16384, WORDS_MAX = 256 };

struct word {
    char *text;
    bool quoted; /* part of the word was quoted, so the word is never a keyword */
    bool arrow;  /* the word is an unquoted > or >>, which redirects the output or, in a condition, compares */
};
struct words {
    int n;        /* words */
    char open;    /* the quote that is not closed, or 0 */
    bool ended;   /* a blank follows the last word */
    bool more;    /* a `;` ended the command */
    bool comment; /* a comment follows the last word */
    char *pipe;   /* the shell command after |, as it was typed; NULL: none */
    bool formula; /* ' is a character like any other */
    struct word w[WORDS_MAX];
    size_t used;
    char text[2 * LINE_LIMIT]; /* twice LINE_LIMIT, since replacing a leading ~ makes a word longer */
};
/* Split the command at *line, which ends at a `;` or at the end of the line, and move *line past it. "..." and '...'
   quote; a backslash outside '...' makes the next character literal; # at the start of a word begins a comment. > or >>
   at the start of a word is a word of its own; | at the start of a word begins a shell command, up to the next `;`. */
bool words_split(struct words *w, const char **line, struct err *e);
/* Like words_split, but ' does not quote: in a formula, ' stands for the transpose. */
bool words_split_formula(struct words *w, const char **line, struct err *e);
/* Write `text` as a user could type it as one word, with quotes only where they are needed. Returns out. */
const char *word_join(const char *text, char *out, size_t size);
/* Write the command as a user could type it, with quotes only where they are needed. Returns its length; a length below
   `size` means that the whole command was written. */
size_t words_join(const struct words *w, char *out, size_t size);

#endif
