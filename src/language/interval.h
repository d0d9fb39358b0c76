/* Ranges of indices as users type them: 5, 3:7 (both ends included), 3: and :7. */
#ifndef INTERVAL_H
#define INTERVAL_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct interval {
    int64_t first, last; /* both included */
};
/* Does the text have the form of a range? The range may still lie outside the matrix. */
bool is_interval(const char *text);
/* Read a range of the indices 0 .. n-1 of n things called `noun`, such as "row". If text is NULL, the range is all n
   indices. */
bool interval_read(const char *text, const char *noun, int64_t n, struct interval *out, struct err *e);
int64_t interval_size(struct interval r);

#endif
