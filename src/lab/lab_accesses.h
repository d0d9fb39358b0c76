/* From machine code to what the emulator leaves out. */
#ifndef LAB_ACCESSES_H
#define LAB_ACCESSES_H

#include "lab_apart.h"
#include "lab_code.h"

struct sass;

/* Add the accesses of function number i of c to c->access, and to c->as those that the code does less often than the
   source says. With more than CODE_ACCESSES, c->as_source says so. */
void accesses_find(struct lab_code *c, int i, const struct sass *s, const struct apart *a);

#endif
