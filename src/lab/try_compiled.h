/* The part of `try` that shows what nvcc made of the kernel, and how other compilers differ. */
#ifndef TRY_COMPILED_H
#define TRY_COMPILED_H

#include "lab.h"

struct err;
struct machine;
struct mat;
struct matrix;
struct session;

/* A kernel that was tried. */
struct tried {
    const struct matrix *matrix;
    const struct mat *M; /* on the emulator */
    const struct kernel *kernel;
    const struct lab_report *report;
};

/* Compile the kernel for g by nvcc, count it as compiled, and print both. Without nvcc, say so. */
bool try_out_compiled(struct session *s, const struct tried *t, const struct machine *g, struct err *e);
/* Compile the kernel by the nvcc that is used and by each of the n that `paths` names (NULL: none), and print a table
   of the differences. */
bool try_out_compilers(struct session *s, const struct tried *t, const struct machine *g, const char *const *paths,
                       int n, struct err *e);

extern const struct row_kind row_try_compiled, row_try_compiler;

#endif
