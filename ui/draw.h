/* Functions that views draw with. Each function leaves the rest of the canvas unchanged. */
#ifndef DRAW_H
#define DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "canvas.h"

struct matrix;

/* Draw line 0: the title `what`, the name and size of the matrix (if m is not NULL), and the formatted text. */
int draw_title(struct canvas *c, const char *what, const struct matrix *m, const char *fmt, ...) PRINTF(4, 5);
/* Draw the last line: as many of "key what  key what  ..." as fit. draw_keys_at draws them on line y, from column x. */
void draw_keys(struct canvas *c, const char *keys);
void draw_keys_at(struct canvas *c, int x, int y, const char *keys);
/* Draw a message on the line above line `end`, or on as many lines as its words need. */
void draw_message(struct canvas *c, int end, enum style st, const char *text);
void draw_fill(struct canvas *c, int x, int y, int n, enum style st, uint32_t glyph);
void draw_bar(struct canvas *c, int x, int y, int width, double share,
              enum style st); /* draws with a resolution of an eighth of a cell */
void draw_right(struct canvas *c, int x, int y, enum style st, const char *text); /* the text ends before column x */
void draw_wrapped(struct canvas *c, int x, int y, int lines, enum style st,
                  const char *text);                                /* breaks lines between words */
int wrapped_lines(const struct canvas *c, int x, const char *text); /* the lines that draw_wrapped needs */
/* The position of the next item: to the right of the previous one, or, if there is not enough room, on the next line.
 */
struct pen {
    int x, y;
};
void draw_item(struct canvas *c, struct pen *at, const char *name, const char *value);
char *show_safe(const char *text, char *out, size_t size); /* a name, made safe to print by print_safe */

#endif
