/* Output by pages: text that a command prints at the prompt goes to the terminal as it comes, until it has filled a
   page at once. The rest is held, and when the command has ended, the pager shows all of it. Text that comes slowly is
   never held for longer than a moment, and the output of scripts and lessons is not held. */
#ifndef PAGED_H
#define PAGED_H

#include <stdbool.h>

struct session;

/* From now on, the output of the line that runs is shown by pages. */
void paged_begin(struct session *s);
/* Show text that is held, and end showing by pages. */
void paged_end(struct session *s);
/* Show text that is held, because something else uses the terminal next. */
void paged_show(struct session *s);
/* Has text been held for too long? paged_release prints it. The screen thread calls both while a command runs. */
bool paged_is_late(void);
void paged_release(void);

#endif
