/* Precisions: the type of the stored values, and the type of x, y and the sums. */
#ifndef PRECISION_H
#define PRECISION_H

#include "array.h"
#include "base.h"

#include <stdbool.h>

C_BEGIN

struct registry;

/* The index of a precision in the table below. The first four store values in the type of x, y and the sums; the index
   is then that type (enum type). From P_NARROW on, values are stored in a smaller type, and no format stores complex
   values. */
enum precision {
    P_F32,
    P_F64,
    P_C32,
    P_C64,
    P_NARROW,
    P_F32_F64 = P_NARROW,
    P_F16_F32,
    P_BF16_F32,
    P_F16_F64,
    P_BF16_F64,
    PRECISIONS
};

struct precision_entry {
    const char *name;
    const char *about, *aliases; /* NULL: users do not name the precision; a complex matrix has it */
    enum precision index;        /* of this entry */
    enum type stored;            /* of an element of the values */
    enum type vector;            /* of an element of x and y, and of the sums */
    enum type part;              /* of a real number in `vector`: T_F32 or T_F64 */
    bool is_complex;
    bool narrow; /* is `stored` smaller than `vector`? */
};
extern const struct precision_entry precisions[PRECISIONS];
/* The precisions that users name, in the order of lists; terminated by NULL. */
extern const struct precision_entry *const named_precisions[];
extern const struct registry precision_registry;
const struct precision_entry *precision_find(const char *name);
/* The precision of a matrix with or without complex values that the user wants in precision p, or that has another
   matrix in precision p: P_F64 and P_C64 mean the same. A narrow precision remains as it is. */
enum precision precision_of_values(enum precision p, bool complex_values);
/* The precision whose values, x, y and sums have this type. */
enum precision precision_of_type(enum type t);

double type_most(enum type t);              /* the largest finite number of a real type of array elements */
double type_rounded(enum type t, double v); /* v as an array of this type stores it */

C_END
#endif
