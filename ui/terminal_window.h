/* The terminal's window: its title (OSC 2), the clipboard (OSC 52), files as links (OSC 8), and a notification when
   long work ends while the window is away (focus reports; OSC 9 or 777, and the bell). Nothing is sent unless input and
   output are a terminal that reads such sequences, and `set` switches each off. */
#ifndef TERMINAL_WINDOW_H
#define TERMINAL_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct session;
struct table_links;

void window_restyle(const struct session *s); /* apply the options */
void window_title(const struct session *s);   /* the name of the current matrix, sent if it has changed */
/* While work runs, the terminal reports whether the window has the focus. Work begins when a key was pressed, so that
   the window has the focus then. */
void window_watch(bool on);
/* The work `what` has ended after us microseconds: notify if it was long and the window is away. */
void window_work_ended(const char *what, double us);
/* Copy text to the clipboard; at most COPY_MAX bytes. */
enum { COPY_MAX = 74994 };
bool window_copy(const char *text, size_t n, struct err *e);

extern const struct table_links window_links; /* for out_links_by; the option may switch them off */

/* Leave the window as it was, before the program is stopped or dies; async-signal-safe. window_return undoes it. */
void window_leave(void);
void window_return(void);
void window_end(void); /* for good */

#endif
