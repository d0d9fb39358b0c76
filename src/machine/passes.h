/* The passes of a solver: operations on its vectors that it fuses for itself, so that each vector is read and written
   once. Their kernels and the comments on their formulas are in gpu/kernels/k_NAME.cu, which ends in
   PASSES(NAME, ...); passes.def lists the solvers. Implemented by gpu/passes.c. */
#ifndef PASSES_H
#define PASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "device.h"

C_BEGIN

enum { PASS_VECTORS_MAX = 10 };

/* Who adds the sums of a pass. BY_COLUMN: the device, for several columns at a time (vec_ops.h). */
enum pass_sums { SUMS_BY_DEVICE, SUMS_BY_HOST, SUMS_BY_COLUMN, PASS_SUMS };

/* A call of a pass: where it runs, and its arguments in the order of its parameters. The pass has no effect once
   s[S_DONE] is not 0, or none on a column that is done; its launches may still be running when the call returns. */
struct pass_call {
    struct device *d;
    enum type type; /* of an element: T_F32, T_F64, T_C32 or T_C64 */
    enum pass_sums sums;
    int64_t n; /* numbers in a vector, two for each complex element */
    double *s; /* the solver's scalars (vec_ops.h) */
    int vectors, numbers;
    const void *const *vec; /* at most PASS_VECTORS_MAX vectors, and other memory on the device */
    const int *number;
};
#ifndef __cplusplus
/* The arguments, in an initialiser: {.d = d, ..., VECTORS(b, q, r), NUMBERS(again)}. They live as long as the block
   that contains the initialiser. */
#define VECTORS(...)                                                                           \
    .vectors = sizeof((const void *[]){__VA_ARGS__}) / sizeof(void *), .vec = (const void *[]) \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define NUMBERS(...)                                                         \
    .numbers = sizeof((int[]){__VA_ARGS__}) / sizeof(int), .number = (int[]) \
    {                                                                        \
        __VA_ARGS__                                                          \
    }
#endif

struct pass {
    const char *name;
    int vectors, numbers; /* of its parameters */
    void (*run)(const struct pass_call *c);
};

/* The passes of one solver on one kind of device, by the type of an element. Each table ends with a NULL name; NULL:
   the passes do not exist for this type. */
struct pass_tables {
    const struct pass *by[PASS_SUMS][NUMBER_TYPES];
};

struct passes {
    const char *name;                        /* of the solver */
    const struct pass_tables *on[DEV_RANKS]; /* by kind of device; NULL: the program was built without it */
};
#define PASSES(id) extern const struct passes passes_##id;
#include "passes.def"
#undef PASSES

/* Run the pass `name` of p. Fails with E_INTERNAL if the device has no such pass for this type, or if the pass has
   other numbers of arguments. */
bool pass_run(const struct passes *p, const char *name, const struct pass_call *c, struct err *e);
/* That pass on an ordinary device, or NULL. */
const struct pass *pass_find(const struct passes *p, const struct device *d, enum type type, enum pass_sums sums,
                             const char *name);

C_END
#endif
