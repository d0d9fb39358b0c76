/* Typed arrays: element types, and an array with its name, type and length. */
#ifndef ARRAY_H
#define ARRAY_H

#include "role.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum type { T_I32, T_I64, T_F32, T_F64 };

struct array {
    const char *name;
    enum role role;
    enum type type;
    int64_t n; /* elements */
    void *data;
};

size_t type_size(enum type t);
const char *type_name(enum type t);                  /* "int32", "fp64", ... */
double array_real(const struct array *a, int64_t i); /* element i, converted to double */

#ifdef __cplusplus
}
#endif
#endif
