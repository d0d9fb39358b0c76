/* Shared libraries that the program can do without; they are opened at their first use. */
#ifndef SHARED_H
#define SHARED_H

struct err;

/* Open the first installed library of the n libraries. NULL without an error: no library is installed. NULL with an
   error: a library is installed but cannot be opened, because memory is short or the library is damaged. The caller
   closes the library with dlclose. */
void *shared_open(int n, const char *const *names, struct err *e);

#endif
