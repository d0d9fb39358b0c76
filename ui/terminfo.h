/* The current terminfo entry. */
#ifndef TERMINFO_H
#define TERMINFO_H

#include <stdbool.h>
#include <stddef.h>

#include "canvas.h"

/* Fill `out` with the bytes of n capabilities; a capability may be NULL. */
void terminfo_bytes(char *out, size_t size, int n, const char *const *parts);
/* Find the terminfo entry of the same terminal with direct colours, such as xterm-direct for xterm-256color. Returns
   false if there is no such entry, or if the current entry has direct colours already. */
bool terminfo_direct(char *name, size_t size);
enum colours terminfo_colours(enum colours wanted); /* `wanted`, reduced to the colours that the terminal supports */

bool terminfo_copies(void); /* does the entry have a sequence that copies to the clipboard? */

#endif
