/* Declarations shared by the files that find machine code. */
#ifndef MACHINE_CODE_PRIVATE_H
#define MACHINE_CODE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct kernel;
struct watch;

/* A file in memory. */
struct image {
    void *bytes;
    size_t n;
};

/* ---- machine_code_compile.c ---- */

/* Are nvcc and the source of the kernel here? */
bool machine_code_can_compile(const struct kernel *k);
/* Compile it; the caller frees out->bytes with mem_free. */
bool machine_code_compile(const struct kernel *k, const char *architecture, struct image *out, struct watch *w,
                          struct err *e);

#endif
