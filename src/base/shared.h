/* Shared libraries that the program can do without; they are opened at their first use. */
#ifndef SHARED_H
#define SHARED_H

#include "base.h"

#include <stdbool.h>
#include <stddef.h>

C_BEGIN

struct err;

/* Open the first installed library of the n libraries. NULL without an error: no library is installed. NULL with an
   error: a library is installed but cannot be opened, because memory is short or the library is damaged. The caller
   closes the library with dlclose. */
void *shared_open(int n, const char *const *names, struct err *e);

/* Call `give` with the paths at which a library of CUDA may be: its name alone, for the loader's search path, and the
   files with that name below CUDA_HOME, CUDA_PATH, /usr/local/cuda, and the nvidia folders of a Python environment.
   Ends when `give` returns true. */
void shared_cuda_paths(const char *file, bool (*give)(const char *path, void *user), void *user);

/* Find a program of CUDA, such as "nvdisasm": in PATH, then in the folders of programs beside those of libraries. */
bool shared_cuda_program(const char *name, char *path, size_t size);

/* A function of a library, and the function pointer that receives its address. */
struct shared_function {
    const char *name;
    void *to;
};
/* A library, and the functions of the library that the program calls. */
struct shared_library {
    const char *file;                        /* "libumfpack.so.5"; tests may change it */
    const char *package;                     /* the Debian package that contains the library */
    const struct shared_function *functions; /* terminated by a NULL name */
    bool of_cuda;                            /* also searched for where shared_cuda_paths says */
    bool (*is_compatible)(void);             /* called once all functions were found; NULL: always */
    void *handle;                            /* NULL: not open */
    const char *tried;                       /* the value of `file` for which `handle` is the result */
};
/* Open the library and find its functions, unless that was done before. If the library is missing or not compatible,
   the error names `user`, which needs the library, and the package to install. */
bool shared_load(struct shared_library *l, const char *user, struct err *e);

C_END
#endif
