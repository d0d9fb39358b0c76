/* Solves with known ends, and what must hold of any solve on any device; for test_solve.c and gpu_solve.c. */
#ifndef SOLVE_KIT_H
#define SOLVE_KIT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/array.h"
#include "machine/reason.h"
#include "session/session.h"
#include "formats/stored.h"

struct solve_options;

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A matrix: dense numbers row by row (0 = no entry), or a generator with its parameters. */
struct problem {
    int rows, cols;
    const double *a;
    const char *generator;
    int64_t p[PARAMS_MAX];
    int upwind[2]; /* convection and diffusion on a grid */
};

struct known_end {
    const char *name, *solver;
    struct problem problem;
    const double *b; /* NULL: A * ones */
    double tol, eps; /* tol 0: 1e-9, in f32 1e-5 */
    double omega;
    const char *precond; /* NULL: none */
    int64_t m, block;
    int64_t maxit; /* 0: 5000 */
    bool force;
    enum reason reason;
    int64_t iterations; /* -1: any */
    const char *why;    /* part of the reason */
    const char *error;  /* part of the refusal, instead of all that */
    bool f64_only;
};
extern const struct known_end known_ends[]; /* ended by a NULL name */

struct bed { /* a session with one matrix */
    struct session s;
    FILE *data, *messages;
};
void bed_make(struct bed *bed, const struct problem *p);
void bed_free(struct bed *bed);

/* All cases on a device in one precision. */
void check_known_ends(const char *device, enum type real);
/* Run to the end in slices of `us`; the solve stays in bed->s.solve. NULL options' device: by name. */
void bed_solve(struct bed *bed, struct solve_options o, const char *device, double us);
/* Iterations, reason and all bits of x are the same one by one, in large batches, and again. */
void check_frozen(const char *device, enum type real);
/* Every format that has a kernel on the device solves. */
void check_formats(const char *device, enum type real);
/* x agrees between two devices. */
void check_agreement(const char *one, const char *other, enum type real);
/* The vector operations against plain loops, for lengths around the blocks. */
void check_vectors(const char *device, enum type real);
/* The sums of cg that some kernels leave beside their product. */
void check_cg_sums(const char *device, enum type real);

#endif
