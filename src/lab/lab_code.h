/* What nvcc makes of a user's kernel for one architecture: registers and memory from the cubin, loops and accesses from
   its machine code, and what this means for the emulator's counts. */
#ifndef LAB_CODE_H
#define LAB_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/precision.h"
#include "machine/as_compiled.h"
#include "machine/cubin.h"

struct lab_kernel;
struct watch;

/* A __global__ function of the file. */
struct code_function {
    char name[64];
    int templates;    /* parameters of its template: g++ does not tell the accesses of an instance apart */
    char symbol[512]; /* "": the file has no such instance */
    struct cubin_function made;
    /* from the machine code, if it was read: */
    int instructions, loops;
    int spill_loads, spill_stores;
    int unrolled; /* copies of the source in the loop with most loads; 0: there is no such loop */
};

/* Accesses to global memory in the machine code that come from one part of the source. */
struct code_access {
    int function, line; /* line: of the text that was taken apart */
    struct text_part part;
    enum access_kind kind;
    int bytes;
    int copies, depth; /* instructions, and the most loops around one of them */
    int loop, here;    /* the loop of the last one, and how many of them it has so far */
    int unrolled;      /* the most in one loop; 0: none is in a loop */
};
enum { CODE_ACCESSES = 256 };

struct lab_code {
    uint64_t key;      /* of the text, the compiler, the architecture and the precision */
    char failed[640];  /* why there is nothing else; "": there is */
    char compiler[48]; /* "nvcc 13.0.88" */
    int capability;
    int nfunctions;
    struct code_function function[COMPILED_FUNCTIONS];
    bool listed;         /* the machine code was read */
    char as_source[240]; /* why accesses are counted as in the source; "": they are not */
    int naccesses;
    struct code_access access[CODE_ACCESSES];
    struct as_compiled as; /* n is 0 if accesses are counted as in the source */
};

/* What nvcc (NULL: the one that is used) makes of the kernel for GPUs of this compute capability. The result is kept,
   and valid until the next call. NULL: nvcc is not there (E_UNSUPPORTED) or refuses the file, or the user cancelled. */
const struct lab_code *lab_code_for(const struct lab_kernel *l, const char *nvcc, int capability, enum precision real,
                                    struct watch *w, struct err *e);
/* The same if it is known already; otherwise NULL. */
const struct lab_code *lab_code_known(const struct lab_kernel *l, const char *nvcc, int capability,
                                      enum precision real);
void lab_code_close(void);
/* The release of an nvcc: "nvcc 13.0.88". */
bool lab_nvcc_version(const char *nvcc, char *out, size_t size, struct watch *w, struct err *e);
/* The symbol, of n, of the instance of a function for this precision: of both types of a template with two, of the
   first one, or any; NULL: none. */
const char *code_instance(int n, const char *const *symbol, const char *function, enum precision real);
/* The function of the code that a launch runs; NULL: none. */
const struct code_function *code_function_of(const struct lab_code *c, const char *launched);

#endif
