/* One command of a line, cut into words. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { LINE_LIMIT = 16384, WORDS_MAX = 256 };

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

#endif
