/* Programs for GPUs (cubins) inside a file that nvcc made: an object, or a program such as this one. */
#ifndef CUBIN_H
#define CUBIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

C_BEGIN

/* An ELF file for GPUs, in memory that it does not own. */
struct cubin {
    const unsigned char *bytes;
    size_t n;
};
/* Find the next cubin of data[0..n-1] at or after *at, which moves past its beginning. False: there is none. Cubins
   that are compressed are not found. */
bool cubin_next(const void *data, size_t n, size_t *at, struct cubin *out);
void cubin_architecture(const struct cubin *c, char out[16]); /* "sm_90" */

/* The symbol of the next function, and the bytes of its code; *section, 0 at first, moves past it. NULL: there are no
   more. */
const char *cubin_symbol(const struct cubin *c, int *section, size_t *size);

struct cubin_function {
    int index; /* of the symbol, as `nvdisasm -fun` counts; -1: the cubin does not name it */
    int registers, shared_bytes, local_bytes;
};
struct cubin_function cubin_function_of(const struct cubin *c, const char *symbol);

/* ---- symbol_name.cc ---- */

/* The name of a kernel's function as compiled.h has it: "csr_scalar<double, double>" of its symbol. False: the symbol
   is not that of a function in gpu/kernels. */
bool symbol_instance(const char *symbol, char *out, size_t size);

C_END
#endif
