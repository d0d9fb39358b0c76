/* The template of `set prompt`: text with fields such as {matrix}. */
#ifndef PROMPT_TEMPLATE_H
#define PROMPT_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct session;

enum { PROMPT_PIECE = 128 };
enum prompt_part { PART_TEXT, PART_MATRIX, PART_FIELD };
/* A field with its value, or text between two fields; safe to print. */
struct prompt_piece {
    enum prompt_part part;
    char text[PROMPT_PIECE];
};
/* The next piece of the template at *at, which moves past it. Returns false at the end. */
bool prompt_piece_next(const struct session *s, const char **at, struct prompt_piece *out);
/* Are all fields known? */
bool prompt_template_check(const char *text, struct err *e);
extern const char prompt_default[]; /* the template of `set prompt default` */

#endif
