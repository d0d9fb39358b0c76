/* Preconditioners on any device; for test_precond.c and gpu_precond.c. */
#ifndef PRECOND_KIT_H
#define PRECOND_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/precision.h"
#include "solve_kit.h"
#include "solvers/solve.h"

struct bed;
struct csr;
struct precond;
struct err;
struct solve;

#define DENSE(n, ...)               \
    {                               \
        n, n, .a = (const double[]) \
        {                           \
            __VA_ARGS__             \
        }                           \
    }

/* A session with the given matrix, which the session then owns. */
void bed_take(struct bed *bed, struct csr *A);
/* Begin a preconditioned solve of the session's matrix. Returns false if the solve is refused. */
bool bed_begin(struct bed *bed, const char *precond, int64_t block, const char *device, enum precision real,
               struct err *e);
/* A solver that takes this preconditioner, for a symmetric matrix that is definite, unless M is for saddle points. */
const char *solver_taking(const struct precond *pre);
/* The solver of bed_begin; NULL: bicgstab. */
extern const char *bed_solver;
/* How bed_begin makes and applies preconditioners with triangles. */
extern struct triangle_settings bed_triangles;
/* z = M^-1 r */
void bed_apply(struct solve *v, const double *r, double *z);
/* n reproducible numbers in (-1, 1), exact as floats; the caller frees them. */
double *random_vector(int64_t n);

/* Apply the preconditioner and compare with a dense computation from the definition; at most 120 rows. */
void check_applied(struct bed *bed, const char *precond, int64_t block, const char *device, enum precision real);
/* Call check_applied for all preconditioners and several matrices. */
void check_preconds_applied(const char *device, enum precision real);
/* Compare wide levels, narrow levels, mixtures, long runs and large matrices with the host's loops. */
void check_preconds_launches(const char *device, enum precision real);
void check_preconds_long_runs(const char *device);
void check_preconds_large(const char *device);
/* Compare sync-free solves, sweeps and other orders of the rows with the host's loops. Many sweeps are exact. */
void check_preconds_triangles(const char *device, enum precision real);
/* Check that nothing is written after a solve is done. */
void check_preconds_guard(const char *device);
/* Check that every preconditioned solver needs fewer iterations with a factorisation, and no more iterations with the
   other preconditioners. */
void check_preconds_gain(const char *device);
/* Check that every solver has the same iterates, up to rounding, with jacobi and with bjacobi and blocks of one row. A
   solver may apply jacobi in its own passes; it applies bjacobi in launches of its own. */
void check_preconds_diagonal(const char *device, enum precision real);

#endif
