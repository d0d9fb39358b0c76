/* What the ELF file that nvcc writes for a GPU (a cubin) says of its functions, without any tool. */
#ifndef LAB_CUBIN_H
#define LAB_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

struct err;

enum { CUBIN_FUNCTIONS = 64 };
struct cubin_function {
    char symbol[512];
    int registers;    /* of a thread */
    int shared_bytes; /* of a block, without those that a launch gives */
    int local_bytes;  /* of a thread, for values that have no registers */
    int code_bytes;
};
struct cubin {
    int capability; /* 10 * major + minor */
    int n;          /* the first CUBIN_FUNCTIONS functions */
    struct cubin_function of[CUBIN_FUNCTIONS];
};

/* Read the n bytes of a cubin. E_INPUT: they are not one. */
bool cubin_read(const char *bytes, int64_t n, struct cubin *out, struct err *e);

#endif
