/* Precisions by name: the type of the stored values, and the type of x, y and the sums. */
#ifndef PRECISION_H
#define PRECISION_H

#include "array.h"
#include "base.h"

#include <stdbool.h>

C_BEGIN

struct registry;

struct precision {
    const char *name, *about;
    const char *aliases;
    enum type type; /* as requests, plans and stored matrices name the precision */
};
extern const struct precision precisions[]; /* terminated by a NULL name */
extern const struct registry precision_registry;
const struct precision *precision_find(const char *name);

/* Are values stored in a smaller type than that of x, y and the sums? */
bool type_is_narrow(enum type precision);
/* The type in which the values of a precision are stored; t itself if t is not narrow. The type of x, y and the sums is
   type_of_parts(precision), or precision itself if it is complex. */
enum type type_of_stored(enum type t);
double type_most(enum type t);              /* the largest finite number of a real type of array elements */
double type_rounded(enum type t, double v); /* v as an array of this type stores it */

C_END
#endif
