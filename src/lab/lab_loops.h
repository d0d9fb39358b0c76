/* From machine code to the stages in which it goes through the rounds of a loop of the source. */
#ifndef LAB_LOOPS_H
#define LAB_LOOPS_H

#include "lab_apart.h"
#include "lab_code.h"

struct sass;

/* Add the loops of function number i of c, and of those that it may call, to c->as. Mark the loads there that the code
   does in no round, and add those that it does once for several places. With more than COMPILED_LOOPS, their number
   becomes -1. */
void loops_find(struct lab_code *c, int i, const struct function *f, const struct sass *s, const struct apart *a);
/* The most rounds in a stage of this function's loops; 0: none is unrolled. */
int loops_unrolled(const struct as_compiled *as, int function);

#endif
