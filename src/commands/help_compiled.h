/* What `help` says about the compiled functions of a kernel. */
#ifndef HELP_COMPILED_H
#define HELP_COMPILED_H

struct kernel;
struct session;

/* The registers, shared memory, occupancy and instructions of the functions that k launches on a GPU: keys of the row
   for each precision, and, after the row, lines of text for fp64. */
void out_compiled(struct session *s, const struct kernel *k);
void say_compiled(struct session *s, const struct kernel *k);

#endif
