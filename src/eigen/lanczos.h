/* Krylov subspaces with restarts for an operator on a device, with full reorthogonalisation: thick-restart Lanczos for
   a symmetric or hermitian operator (Wu and Simon 2000), Krylov-Schur for a general real one (Stewart 2001). */
#ifndef LANCZOS_H
#define LANCZOS_H

#include <stdbool.h>
#include <stdint.h>

#include "eigen.h"
#include "wanted.h"

struct device;
struct err;
struct watch;

struct lanczos_options {
    struct device *dev;
    enum eigen_kind kind;
    int64_t n;           /* rows of the operator, at least 1; elements of hermitian vectors are pairs */
    int wanted, columns; /* eigenpairs to find; vectors of the basis: wanted < columns, or columns = n */
    struct wanted order;
    double tol; /* on the residual of a Ritz pair, relative to its value */
    uint64_t seed;
    bool (*multiply)(void *user, const void *x, void *y, struct err *e); /* y = B x, both on the device, fp64 */
    void *user;
    struct watch *watch;
};

enum { LANCZOS_COLUMNS_MAX = EIGEN_COLUMNS_MAX };

/* The process: B V = V T + beta v e', where V has `size` orthonormal columns, v is the next vector, and e is the last
   unit vector. The eigenpairs of T give the Ritz pairs of B. After a restart, V has Ritz vectors or, if B is general,
   Schur vectors: those columns of T are a diagonal or a quasi-triangular matrix, and an additional row. */
struct lanczos {
    struct lanczos_options o;
    int size;       /* columns of V */
    double beta;    /* 0: V spans an invariant subspace */
    double largest; /* |Ritz value|, the largest so far: an estimate of the norm of B from below */
    int64_t products, restarts;
    /* The Ritz pairs of the last cycle, [size], the wanted ones first. `estimate` is the norm of the residual. */
    double *value, *imag, *estimate;
    double *share; /* general, and V spans the whole space: 1 / condition of each eigenvalue */
    int found;     /* Ritz pairs that lanczos_vectors can copy */

    /* private */
    /* [columns * columns], column by column; T: upper triangle only, if B is not general. S: the Schur form of T, Y:
       its eigenvectors, `mix`: those of the last lanczos_form. */
    double *T, *coefficient, *S, *Y, *mix;
    double *mixed; /* [columns] `imag` of the last lanczos_form */
    int mix_rows;
    int *order;
    int64_t numbers;       /* of a vector */
    const double *vectors; /* on the device: the first `found` Ritz or Schur vectors */
    double *random;        /* [n], host: a start vector */
    uint64_t state;
    double *basis, *kept, *q, *zero, *scalars, *work; /* on the device */
    int kept_most;
};

bool lanczos_begin(struct lanczos **v, const struct lanczos_options *o, struct err *e);
/* Extend the basis to all its columns, and compute the Ritz values. */
bool lanczos_cycle(struct lanczos *v, struct err *e);
/* Compute the Ritz or Schur vectors that the next restart keeps, at least the wanted ones. */
bool lanczos_form(struct lanczos *v, struct err *e);
/* Continue from the Ritz vectors. With `fresh`, keep only the wanted ones and continue with a random vector instead of
   the residual of the last cycle. Do this only after all wanted pairs have converged. */
bool lanczos_restart(struct lanczos *v, bool fresh, struct err *e);
/* Has Ritz pair i converged? Its residual is at most tol times its value, or as small as rounding errors of B. */
bool lanczos_converged(const struct lanczos *v, int i);
/* The position of Ritz value i in the wanted order: smaller is better. */
double lanczos_rank(const struct lanczos *v, int i);
/* Copy the vectors of the first k <= found Ritz pairs, of which the last may be half of a conjugate pair, to the host.
   `pairs`: the elements are pairs of a real and an imaginary part; needed if any of the values is complex. */
bool lanczos_vectors(struct lanczos *v, int k, bool pairs, double *to, struct err *e);
/* Does V span the whole space? */
bool lanczos_is_complete(const struct lanczos *v);
void lanczos_free(struct lanczos *v);

#endif
