/* Kernels that break a rule on purpose, each beside a right one: for the emulator to find, and for students. */
#ifndef WRONG_H
#define WRONG_H

#include <stdbool.h>

struct err;

#ifdef __cplusplus
extern "C" {
#endif

struct wrong_rule {
    const char *name;          /* "barrier" */
    const char *rule;          /* what must be done, in one line */
    const char *task;          /* what both kernels are for */
    const char *why;           /* what a GPU may do with the wrong one; lines divided by \n */
    const char *wrong, *right; /* the names of the kernels in k_wrong.cu */
};
extern const struct wrong_rule wrong_rules[]; /* ended by a NULL name */
extern const struct registry wrong_registry;
const struct wrong_rule *wrong_find(const char *name);

/* Run the wrong or the right kernel of a rule on the emulator, races looked for. false: e is what the emulator found,
   E_DEVICE, or that there is no memory. *result: whether what came out is what was to be computed. */
bool wrong_run(const struct wrong_rule *rule, bool wrong, bool *result, struct err *e);
/* The first and last line of a kernel in k_wrong.cu; false: there is none. */
bool wrong_lines(const char *kernel, int *first, int *last);

#ifdef __cplusplus
}
#endif
#endif
