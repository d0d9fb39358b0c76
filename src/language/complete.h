/* The completion of typed lines. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <stddef.h>

struct session;

/* Call `give` with each completion of the word that ends at `line[pos]`. */
void complete(struct session *s, const char *line, size_t pos, void (*give)(void *user, const char *word), void *user);

#endif
