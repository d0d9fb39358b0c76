/* Preconditioners on any device; for test_precond.c and gpu_precond.c. */
#ifndef PRECOND_KIT_H
#define PRECOND_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "solve_kit.h"

struct bed;
struct csr;
struct err;
struct solve;

#define DENSE(n, ...)               \
    {                               \
        n, n, .a = (const double[]) \
        {                           \
            __VA_ARGS__             \
        }                           \
    }

/* A session with a matrix of one's own, which it takes over. */
void bed_take(struct bed *bed, struct csr *A);
/* Begin a solve of its matrix, with a preconditioner to apply; false: refused. */
bool bed_begin(struct bed *bed, const char *precond, int64_t block, const char *device, enum type real, struct err *e);
/* z = M^-1 r */
void bed_apply(struct solve *v, const double *r, double *z);
/* n numbers between -1 and 1 that are floats, always the same; free them. */
double *random_vector(int64_t n);

/* What is applied, against a dense computation from the definition; at most 120 rows. */
void check_applied(struct bed *bed, const char *precond, int64_t block, const char *device, enum type real);
/* The same of all preconditioners and several matrices. */
void check_preconds_applied(const char *device, enum type real);
/* Wide stages, narrow ones and both; long runs; large matrices: against the host's loops. */
void check_preconds_launches(const char *device, enum type real);
void check_preconds_long_runs(const char *device);
void check_preconds_large(const char *device);
/* Nothing is written once a solve is done. */
void check_preconds_guard(const char *device);
/* Every solver that takes one converges in fewer iterations with a factorisation, and no later with the others. */
void check_preconds_gain(const char *device);

#endif
