/* From machine code to what the emulator leaves out. */
#ifndef LAB_ACCESSES_H
#define LAB_ACCESSES_H

#include "lab_apart.h"
#include "lab_code.h"

struct sass;
struct sass_instruction;

/* The number of loops of the code around the instruction. */
int access_depth(const struct sass *s, const struct sass_instruction *in);
/* Does it access global memory, and how? */
bool access_kind_of(const struct sass_instruction *in, enum access_kind *kind);

/* Add the accesses of function number i of c to c->access, and to c->as those that the code does less often than the
   source says. With more than CODE_ACCESSES, c->as_source says so. */
void accesses_find(struct lab_code *c, int i, const struct function *f, const struct sass *s, const struct apart *a);
/* The access on this line of the text that was taken apart; bytes 0: of any number of bytes. NULL: none. */
struct code_access *access_at(struct lab_code *c, int function, int line, enum access_kind kind, int bytes);

#endif
