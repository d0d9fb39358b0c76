/* Typed arrays: element types, and an array with its name, type and length. */
#ifndef ARRAY_H
#define ARRAY_H

#include "base.h"
#include "role.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

C_BEGIN

/* T_C32 and T_C64 are complex numbers: pairs of a real and an imaginary part in fp32 or fp64. T_U8 and T_U16 are
   unsigned. From T_NARROW on: precisions that store values in the first type and have x, y and sums in the second; as
   the type of an element, such a precision is that of x and y (see precision.h). */
enum type {
    T_I32,
    T_I64,
    T_F32,
    T_F64,
    T_C32,
    T_C64,
    T_U8,
    T_U16,
    T_F16,
    T_BF16,
    T_NARROW,
    T_F32_F64 = T_NARROW,
    T_F16_F32,
    T_BF16_F32,
    T_F16_F64,
    T_BF16_F64,
    TYPES,
    NARROW_TYPES = TYPES - T_NARROW
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
/* The type of values in a precision (T_F32, T_F64 or a narrow one; T_C32 and T_C64 mean the same as T_F32 and T_F64). A
   narrow precision remains as it is: no format stores complex values in it. */
enum type type_of_values(enum type precision, bool complex_values);
bool type_is_complex(enum type t);
bool type_is_integer(enum type t);
/* T_F64 for T_C64, the type of x and y for a narrow precision, otherwise t itself */
enum type type_of_parts(enum type t);
int64_t type_parts(enum type t); /* numbers per element: 2 if t is complex, else 1 */
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
