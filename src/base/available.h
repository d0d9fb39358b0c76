/* How much memory this process can still get. */
#ifndef AVAILABLE_H
#define AVAILABLE_H

#include <stdint.h>

/* An estimate in bytes: the smallest of the machine's available memory, the memory that the process may still allocate
   under RLIMIT_AS and RLIMIT_DATA, and the memory that its control group and the parent groups (cgroup v1 or v2) still
   allow. `root` is empty except in tests, which pass a folder that contains `proc` and `sys`. */
int64_t memory_available(const char *root);
/* For tests: the result of memory_available is at most this; 0: no bound. */
void memory_pretend(int64_t bytes);

#endif
