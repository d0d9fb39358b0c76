/* Corrects the lines that a compiler gave to accesses, by the arrays that they access. */
#ifndef LAB_ARRAYS_H
#define LAB_ARRAYS_H

#include "lab_apart.h"
#include "lab_code.h"

struct sass;
struct source;

/* nvcc gives one line to loads that it merged from several places or moved. If a load of function number i does not
   access the array that its line names, move it to the first line of the same loop that names the array. */
void arrays_correct(const struct lab_code *c, int i, const struct source *source, struct sass *s,
                    const struct apart *a);
/* The bytes of an element of each array that the line accesses; 0: not known. Returns the number of arrays, 0: none is
   a parameter of f. */
int arrays_sizes(const struct function *f, const struct apart *a, int line, int size[4]);
/* Are the outermost accesses of both lines the same text, such as x[col[k]]? */
bool arrays_same_access(const struct function *f, const struct apart *a, int line, int other);

#endif
