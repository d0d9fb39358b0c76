/* How much memory this process can still get. */
#ifndef AVAILABLE_H
#define AVAILABLE_H

#include <stdint.h>

/* Estimate, in bytes: the smallest of what the machine has available, what the limits of the process (RLIMIT_AS and
   RLIMIT_DATA) leave, and what its control group and the parent groups (cgroup v1 or v2) leave. root is empty except in
   tests, which pass a folder that contains `proc` and `sys`. */
int64_t memory_available(const char *root);

#endif
