/* Thick-restart Lanczos for a symmetric operator on a device (Wu and Simon 2000), with full reorthogonalisation. */
#ifndef LANCZOS_H
#define LANCZOS_H

#include <stdbool.h>
#include <stdint.h>

#include "eigen.h"

struct device;
struct err;
struct watch;

/* FARTHEST: largest in absolute value; NEAREST: to `target` */
enum lanczos_end { LANCZOS_LARGEST, LANCZOS_SMALLEST, LANCZOS_FARTHEST, LANCZOS_NEAREST };

struct lanczos_options {
    struct device *dev;
    int64_t n;           /* rows of the operator, at least 1 */
    int wanted, columns; /* eigenpairs to find; vectors of the basis: wanted < columns, or columns = n */
    enum lanczos_end end;
    double target;
    double tol; /* on the residual of a Ritz pair, relative to its value */
    uint64_t seed;
    bool (*multiply)(void *user, const void *x, void *y, struct err *e); /* y = B x, both on the device, fp64 */
    void *user;
    struct watch *watch;
};

enum { LANCZOS_COLUMNS_MAX = EIGEN_COLUMNS_MAX };

/* The process: B V = V T + beta v e', where V has `size` orthonormal columns, v is the next vector, and e is the last
   unit vector. The eigenpairs of T give the Ritz pairs of B. */
struct lanczos {
    struct lanczos_options o;
    int size;       /* columns of V */
    double beta;    /* 0: V spans an invariant subspace */
    double largest; /* |Ritz value|, the largest so far: an estimate of the norm of B from below */
    int64_t products, restarts;
    /* The Ritz pairs of the last cycle, [size], the wanted ones first. `estimate` is the norm of the residual. */
    double *value, *estimate;
    /* On the device: the vectors of the first `found` Ritz pairs, each of n doubles. */
    const double *vectors;
    int found;

    /* private */
    double *T, *coefficient; /* [columns * columns], column by column; T: upper triangle only */
    int *order;
    double *random; /* [n], host: a start vector */
    uint64_t state;
    double *basis, *kept, *q, *zero, *scalars, *work; /* on the device */
    int kept_most;
};

bool lanczos_begin(struct lanczos **v, const struct lanczos_options *o, struct err *e);
/* Extend the basis to all its columns, and compute the Ritz values. */
bool lanczos_cycle(struct lanczos *v, struct err *e);
/* Compute the Ritz vectors that the next restart keeps, at least the wanted ones. */
bool lanczos_form(struct lanczos *v, struct err *e);
/* Continue from the Ritz vectors. With `fresh`, keep only the wanted ones and continue with a random vector instead of
   the residual of the last cycle. Do this only after all wanted pairs have converged. */
bool lanczos_restart(struct lanczos *v, bool fresh, struct err *e);
/* Has Ritz pair i converged? Its residual is at most tol times its value, or as small as rounding errors of B. */
bool lanczos_converged(const struct lanczos *v, int i);
/* The position of a Ritz value in the wanted order: smaller is better. */
double lanczos_rank(const struct lanczos *v, double value);
/* Does V span the whole space? */
bool lanczos_is_complete(const struct lanczos *v);
void lanczos_free(struct lanczos *v);

#endif
