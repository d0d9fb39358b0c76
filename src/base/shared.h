/* Shared libraries that the program can do without; they are opened at their first use. */
#ifndef SHARED_H
#define SHARED_H

struct err;

/* Open the first of the n libraries that is installed. NULL without an error: none is installed. NULL with an error:
   one is installed but cannot be opened, for want of memory or because it is damaged. The caller closes it with
   dlclose. */
void *shared_open(int n, const char *const *names, struct err *e);

#endif
