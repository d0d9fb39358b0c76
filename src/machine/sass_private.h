/* Declarations shared by the files that read machine code. */
#ifndef SASS_PRIVATE_H
#define SASS_PRIVATE_H

#include "sass.h"

C_BEGIN

/* Edges between blocks: those of block b are to[first[b] .. first[b + 1] - 1]. */
struct sass_flow {
    int *first, *to, n;
};

/* ---- sass_words.c ---- */

/* Set kind, space, bytes, cache, used and set from the texts of the instruction. */
void sass_decode(struct sass_instruction *i);
/* The predicates P0 to P6 that the instruction may write, as bits. */
unsigned sass_predicates_set(const struct sass_instruction *i);
bool sass_ends_path(const struct sass_instruction *i); /* what follows is reached only if a predicate is false */
bool sass_is(const struct sass_instruction *i, const char *opcodes); /* is the opcode among the words? */
bool sass_loads(const struct sass_instruction *i);                   /* from global memory or through a texture */

/* ---- sass_flow.c ---- */

/* targets: (instruction, target) pairs. Find the blocks, and the loops with headers, extents and nesting. */
struct sass_targets {
    int n, (*at)[2];
};
bool sass_find_loops(struct sass *s, const struct sass_targets *t, struct err *e);
/* Edges for liveness: calls lead to the function and their end back, and diverged warps go their own way. The caller
   frees f->first. */
bool sass_all_edges(const struct sass *s, const struct sass_targets *t, struct sass_flow *f, struct err *e);

/* ---- sass_live.c ---- */

bool sass_find_live(struct sass *s, const struct sass_targets *t, struct err *e);

/* ---- sass_parameter.c ---- */

bool sass_find_parameters(struct sass *s, const struct sass_targets *t, struct err *e);

/* ---- sass_facts.c ---- */

bool sass_find_facts(struct sass *s, struct err *e);

C_END
#endif
