/* Pointers that views keep into matrices, their stored forms and their parts: are they stale? */
#ifndef STALE_H
#define STALE_H

#include <stdint.h>

/* Views must not use pointers that they kept when stale_count had another value. */
int64_t stale_count(void);
void stale_all(void); /* something that views may point to is freed or replaced */

#endif
