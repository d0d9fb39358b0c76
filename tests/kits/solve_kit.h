/* Solves with known results, and checks of any solve on any device; for test_solve.c and gpu_solve.c. */
#ifndef SOLVE_KIT_H
#define SOLVE_KIT_H

#include "base/err.h"
#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "formats/stored.h"
#include "machine/reason.h"
#include "session/session.h"

struct solve_options;

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A matrix: dense values row by row (0 = no entry), or a generator with its parameters. */
struct problem {
    int rows, cols;
    const double *a;
    const char *generator;
    int64_t p[PARAMS_MAX];
    int upwind[2]; /* convection and diffusion on a grid */
};

struct precond;
struct solver;

struct known_end {
    const char *name, *solver;
    struct problem problem;
    const double *b; /* NULL: A * ones */
    double tol, eps; /* tol 0 means 1e-9, or 1e-5 in f32 */
    double omega;
    const char *precond; /* NULL: no preconditioner */
    bool no_shift;       /* pivots stay as they are */
    bool projects;       /* the null space is projected out */
    int64_t m, block;
    int64_t maxit; /* 0 means 5000 */
    bool force;
    enum reason reason;
    int64_t iterations; /* -1: any */
    const char *why;    /* text that the reason contains */
    const char *error;  /* text that the refusal contains, if the solve must be refused */
    bool f64_only;
};
extern const struct known_end known_ends[]; /* terminated by an entry whose name is NULL */

/* Does the solver take this preconditioner, and the preconditioner a symmetric positive definite matrix? */
bool takes_definite(const struct solver *s, const struct precond *pre);

struct bed { /* a session with one matrix */
    struct session s;
    FILE *data, *messages;
};
void bed_make(struct bed *bed, const struct problem *p);
void bed_free(struct bed *bed);

/* Run all cases on a device in one precision. */
void check_known_ends(const char *device, enum precision real);
/* Run the solve in bed->s.solve to its end, in slices of `us` microseconds. If the device in the options is NULL, the
   device is opened by name. */
void bed_solve(struct bed *bed, struct solve_options o, const char *device, double us);
/* Run the same solve several times: one iteration at a time, in large batches, and in short time slices. Check that the
   number of iterations, the residuals and x are equal bit for bit. */
void check_frozen(const char *device, enum precision real);
/* Check a solve in every format that has a kernel on the device. */
void check_formats(const char *device, enum precision real);
/* Solve by gmres with every kernel of the device. */
void check_kernels(const char *device, enum precision real);
/* Check that x agrees between two devices. */
void check_agreement(const char *one, const char *other, enum precision real);
/* For solvers that can form an iteration matrix: check that both forms have the same iterates up to rounding, on
   several matrices, in every format that has a kernel on the device, and that a zero on the diagonal is refused. */
void check_forms(const char *device, enum precision real);
/* Check that every solver has the same iterates up to rounding if the host adds the sums of thread blocks. */
void check_host_sums(const char *device, enum precision real);
/* For solvers with launches of many iterations: check that these launches have the iterates of the other launches up to
   rounding, however many iterations a launch does, and that impossible launches are refused. */
void check_clusters(const char *device, enum precision real);
/* Compare the vector operations with plain loops, for lengths near multiples of the block size. */
void check_vectors(const char *device, enum precision real);
/* Check the sums of cg that some kernels compute together with their product. */
void check_cg_sums(const char *device, enum precision real);

#endif
