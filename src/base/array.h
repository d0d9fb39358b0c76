/* Typed arrays: element types, and an array with its name, type and length. */
#ifndef ARRAY_H
#define ARRAY_H

#include "base.h"
#include "role.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

C_BEGIN

/* The type of an element; precision.h has the types of a product. First come the types in which solvers compute, then
   those in which values are only stored, so that tables for these NUMBER_TYPES or STORED_TYPES are indexed by the type.
   T_C32 and T_C64 are complex numbers: pairs of a real and an imaginary part in fp32 or fp64. T_U8 and T_U16 are
   unsigned. */
enum type {
    T_F32,
    T_F64,
    T_C32,
    T_C64,
    NUMBER_TYPES,
    T_F16 = NUMBER_TYPES,
    T_BF16,
    STORED_TYPES,
    T_I32 = STORED_TYPES,
    T_I64,
    T_U8,
    T_U16,
    TYPES
};

struct array {
    const char *name;
    enum role role;
    enum type type;
    int64_t n; /* elements */
    void *data;
    bool lent; /* `data` belongs to the matrix that was stored, which must outlive the array */
};

size_t type_size(enum type t);
const char *type_name(enum type t); /* "int32", "fp64", "complex fp64", ... */
bool type_is_complex(enum type t);
bool type_is_integer(enum type t);
/* T_F32 for T_C32, T_F64 for T_C64, otherwise t itself */
enum type type_of_parts(enum type t);
enum type type_of_numbers(enum type part, bool complex_values); /* numbers whose parts have the type T_F32 or T_F64 */
int64_t type_parts(enum type t);                                /* numbers per element: 2 if t is complex, else 1 */
/* flops of one multiplication and one addition: 2, or 8 in complex arithmetic (4 multiplications, 4 additions) */
double type_flops(enum type t);
double array_real(const struct array *a, int64_t i); /* (the real part of) element i, converted to double */
double array_imag(const struct array *a, int64_t i); /* the imaginary part of element i; 0 if a is not complex */
struct array array_parts(const struct array *a);     /* the same data as real numbers: re, im, re, im, ... */
/* Write v to element i of an array of real numbers, converted to the array's type; write all a->n numbers. */
void put_real(struct array *a, int64_t i, double v);
void put_reals(struct array *a, const double *v);
void put_ints(struct array *a, const int *v); /* like put_reals, for T_I32 */

C_END
#endif
