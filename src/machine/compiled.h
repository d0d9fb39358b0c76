/* The code that nvcc made of the functions that kernels launch on a GPU: registers, shared memory, instructions. They
   are data, samples/compiled.txt, which `make compiled-table` writes for each architecture, so that a build without
   CUDA knows them, too. */
#ifndef COMPILED_H
#define COMPILED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct err;

C_BEGIN

/* The classes of machine instructions, in the order of the columns of the table. */
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
    INSTRUCTION_OTHER, /* moves, selections, constants, waiting */
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

/* What nvcc made of all functions for one architecture, in the order of their names. */
struct compiled_column {
    int architecture; /* 10 * major + minor: 90 for sm_90 */
    int n;
    const struct compiled *functions;
};

/* The column for GPUs of a compute capability (10 * major + minor): that of the newest architecture that is not newer,
   or of the oldest one, if all are newer. The table is read when it is first needed, and kept. Returns NULL if there is
   no table (E_IO), if it is damaged (E_INPUT, with its line), or without memory for it (E_MEMORY). */
const struct compiled_column *compiled_column(int capability, struct err *e);
/* The function of this name; NULL: it is not in the column, as that of a user's kernel, or c is NULL. */
const struct compiled *compiled_find(const struct compiled_column *c, const char *name);
/* The compiler, "nvcc 13.0.88"; "" without a table. */
const char *compiled_by(void);
/* Write a sentence if the registers of kernels on GPUs of this compute capability are those of another architecture or
   not known; otherwise write "". */
void compiled_remark(int capability, char *out, size_t size);

/* Does the name match? A pattern is the name of a function, "csr_scalar", which stands for all of its instances, or a
   whole name, in which each * stands for any text. */
bool compiled_matches(const struct compiled *c, const char *pattern);
/* Does an instance compute in fp64, with values stored in fp64? So do functions that have no values. */
bool compiled_in_fp64(const struct compiled *c);
int compiled_instructions(const struct compiled *c); /* of all classes */

/* ---- the table (compiled_table.c) ---- */

enum { COMPILED_COLUMNS = 32 };
struct compiled_table {
    char *text; /* of the file; the names point into it */
    char compiler[32];
    int n; /* columns, the oldest architecture first */
    struct compiled_column column[COMPILED_COLUMNS];
};

/* Read the text of a table, n bytes and a 0 after them, which the table owns from now on, also on failure. `shown`
   names the file in errors. */
bool compiled_table_parse(char *text, int64_t n, const char *shown, struct compiled_table *out, struct err *e);
void compiled_table_free(struct compiled_table *t);

C_END
#endif
