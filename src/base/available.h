/* How much memory this process can still get. */
#ifndef AVAILABLE_H
#define AVAILABLE_H

#include <stdint.h>

/* Estimate of the bytes: the least of what the machine has available, what the limits of the process (RLIMIT_AS and
   RLIMIT_DATA) leave, and what its control group and the groups around it (cgroup v1 or v2) leave. root: empty; tests
   name a folder that holds `proc` and `sys`. */
int64_t memory_available(const char *root);

#endif
