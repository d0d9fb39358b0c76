/* Output page by page: text that a command prints at the prompt goes directly to the terminal, until it has filled a
   page without a pause. The rest is held back, and when the command has ended, the pager shows the whole text. Text
   that comes slowly is never held back for longer than a moment, and the output of scripts and lessons is not held
   back. */
#ifndef PAGED_H
#define PAGED_H

#include <stdbool.h>
#include <stddef.h>

struct session;

/* Show the output of the running line page by page, until paged_end. `before_output` is called before each part.
   `has_typed`: has the user begun to type a line? */
void paged_begin(struct session *s, void (*before_output)(void), bool (*has_typed)(void));
/* Show the text that is held back, and stop showing output page by page. */
void paged_end(struct session *s);
/* The output of the line before, without colours; n is 0 if there is none. The output of this line is not kept. */
const char *paged_last(size_t *n);
/* Show the text that is held back, because something else uses the terminal next. */
void paged_show(struct session *s);
/* Has text been held back for too long? paged_release prints it. The screen thread calls both functions while a command
   runs. */
bool paged_is_late(void);
void paged_release(void);

#endif
