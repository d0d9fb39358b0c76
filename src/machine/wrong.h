/* Kernels that break a rule on purpose, each with a correct version. The kernels serve students as examples, and they
   test the emulator. Implemented by gpu/kernels/k_wrong.cu. */
#ifndef WRONG_H
#define WRONG_H

#include <stdbool.h>

#include "base/base.h"

struct err;

C_BEGIN

struct wrong_rule {
    const char *name;          /* "barrier" */
    const char *rule;          /* the rule to follow, in one line */
    const char *task;          /* the formula of both kernels */
    const char *why;           /* the effect that the wrong kernel may have on a GPU; lines separated by \n */
    const char *wrong, *right; /* the names of the kernels in k_wrong.cu */
};
extern const struct wrong_rule wrong_rules[]; /* terminated by an entry whose name is NULL */
extern const struct registry wrong_registry;
const struct wrong_rule *wrong_find(const char *name);

/* The parts of the emulator's error message. */
struct emu_finding {
    int line;            /* line in the kernel's file, counted from 1 */
    char thread[48];     /* "block 0, thread 32" */
    char what[320];      /* "writes s[32], which thread 31 read at line 20" */
    const char *missing; /* "no barrier in between: ..."; NULL: `what` is the whole message */
};

/* Run the wrong or the right kernel of a rule on the emulator, with the check for races enabled. Fails with E_MEMORY,
   or with E_DEVICE if the emulator finds an error. If finding is not NULL, *finding receives that error. *result is set
   to true if the kernel's result is correct, else to false. */
bool wrong_run(const struct wrong_rule *rule, bool wrong, bool *result, struct emu_finding *finding, struct err *e);
/* The first and last line of a kernel in k_wrong.cu. Returns false if that file has no kernel of that name. */
bool wrong_lines(const char *kernel, int *first, int *last);

C_END
#endif
