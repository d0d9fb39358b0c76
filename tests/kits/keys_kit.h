/* Random keys for the explorer, reproducible by seed. */
#ifndef KEYS_KIT_H
#define KEYS_KIT_H

#include <stdint.h>

/* Press `keys` random keys, including typed commands and changes of the window's size, in a new session. Aborts the
   program if the state of a view is out of bounds. */
void random_keys(uint64_t seed, int64_t keys);
/* Enter a scratch folder, so that no random command can do damage. The scratch folder has links to the files to read.
   Also replaces the clock, and the user's history and options. Call this function once, before the first run. */
void random_keys_begin(void);
void random_keys_end(void);
/* Print the seed of this run and its last keys to stderr, in the syntax of `keys`. This function may be called in a
   signal handler. */
void random_keys_print(void);
extern int64_t keys_pressed; /* number of keys pressed in this run so far */

#endif
