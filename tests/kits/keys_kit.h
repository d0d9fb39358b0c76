/* Random keys for the explorer: runs that a seed repeats. */
#ifndef KEYS_KIT_H
#define KEYS_KIT_H

#include <stdint.h>

/* Press so many keys, type commands and change the size of the window, as the seed has it, in a session of its own.
   Ends the program by abort where a view's state is out of its bounds. */
void random_keys(uint64_t seed, int64_t keys);
/* A folder to run in, so that no command that comes about can hurt: what is read there are links to here. Also the
   clock, history and options are not the user's. Once, before the first run. */
void random_keys_begin(void);
void random_keys_end(void);
/* To stderr: the seed of this run and its last keys, as `keys` takes them. Safe when the program dies. */
void random_keys_tell(void);
extern int64_t keys_pressed; /* of this run so far */

#endif
