/* What `help` says about the compiled functions of a kernel. */
#ifndef HELP_COMPILED_H
#define HELP_COMPILED_H

struct kernel;
struct session;

/* Print the registers, shared memory, occupancy and instructions of the functions that k launches on a GPU: in text
   those for fp64, in JSON those for each precision. */
void out_compiled(struct session *s, const struct kernel *k);

#endif
