/* The code that nvcc made of the functions that kernels launch on a GPU: registers, shared memory, instructions.
   Implemented by gpu/kernels/compiled.c, from the table gpu/kernels/compiled.def, so that a build without CUDA knows
   it, too. */
#ifndef COMPILED_H
#define COMPILED_H

#include <stdbool.h>

#include "base/base.h"

C_BEGIN

/* The classes of machine instructions, in the order of the columns of compiled.def. */
enum instruction_class {
    INSTRUCTION_LOAD, /* from global memory, as are the stores and atomics */
    INSTRUCTION_TEXTURE,
    INSTRUCTION_STORE,
    INSTRUCTION_ATOMIC,
    INSTRUCTION_SHARED,
    INSTRUCTION_LOCAL,
    INSTRUCTION_FP64,
    INSTRUCTION_FP32,
    INSTRUCTION_COLLECTIVE, /* shuffles, votes and the like */
    INSTRUCTION_BARRIER,
    INSTRUCTION_CONVERSION,
    INSTRUCTION_INTEGER,
    INSTRUCTION_BRANCH,
    INSTRUCTION_OTHER, /* moves, selections, constants */
    INSTRUCTION_CLASSES
};
struct instruction_word {
    const char *key;  /* of JSON: "texture_loads" */
    const char *word; /* "texture load" */
    bool counted;     /* the word has a plural */
};
extern const struct instruction_word instruction_words[INSTRUCTION_CLASSES];

/* A function, or one instance of a function template. */
struct compiled {
    const char *name; /* "csr_scalar<double, float>" */
    int registers;    /* per thread */
    int shared_bytes; /* per block, without the memory that a launch gives */
    int local_bytes;  /* per thread, for values that have no registers */
    int instructions[INSTRUCTION_CLASSES];
};

/* Line i of the table, or NULL after the last line. */
const struct compiled *compiled_at(int i);
/* The line of this name; NULL: the function is not in the table, as that of a user's kernel. */
const struct compiled *compiled_find(const char *name);
/* Does the name match? A pattern is the name of a function, "csr_scalar", which stands for all of its instances, or a
   whole name, in which each * stands for any text. */
bool compiled_matches(const struct compiled *c, const char *pattern);
/* Does an instance compute in fp64, with values stored in fp64? So do functions that have no values. */
bool compiled_in_fp64(const struct compiled *c);
int compiled_instructions(const struct compiled *c); /* of all classes */
/* The compiler, "nvcc 13.0", and the architecture, "sm_90". */
const char *compiled_by(void);
const char *compiled_for(void);

C_END
#endif
