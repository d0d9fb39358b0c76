/* Algebraic multigrid by smoothed aggregation: a hierarchy of ever smaller matrices, made on the host. pre_amg.c
   applies it on a device. */
#ifndef AMG_H
#define AMG_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix/csr.h"

struct err;

enum {
    AMG_LEVELS = 20, /* most levels */
    AMG_DEGREE = 2,  /* products with A in each smoother */
    AMG_ALONE = -1   /* in place of an aggregate: the row has no strong entry, so the smoother alone solves it */
};

/* The matrix of a level, and the steps between this level and the next, coarser level. P has one column per row of the
   next level; P and R are empty in the coarsest level. All arrays are owned. */
struct amg_level {
    const struct csr *A;
    struct csr own;  /* the matrix of every level but the first, whose matrix belongs to the caller */
    double *dinv;    /* [rows] 1 / a_ii */
    double bound;    /* an upper bound on the eigenvalues of D^-1 A, estimated */
    struct csr P, R; /* R is the transpose of P */
};

/* Several near-null vectors, on the rows of a level, and the nodes of that level: rows that belong to one point, such
   as the displacements of a node of linear elasticity, and are in one aggregate. All arrays are owned. */
struct amg_near {
    int64_t vectors; /* 0: there is one, and each row is a node */
    double *value;   /* [rows * vectors], row by row; if there is one: [rows], or NULL for ones */
    int64_t nodes;
    int *node; /* [rows] the node of each row */
};
void amg_near_free(struct amg_near *b);

struct amg {
    int n; /* levels */
    struct amg_level level[AMG_LEVELS];
    double sign;     /* of the diagonal: 1, or -1 if A may be negative definite */
    double *inverse; /* [rows * rows] of sign times the coarsest matrix, symmetric; NULL: that level is only smoothed */
    int64_t dropped; /* pivots of the coarsest level that were 0, so that `inverse` is a generalised inverse */
    struct amg_near several; /* while levels are added, of the last level */
    int64_t fewest;          /* near-null vectors on any level, if there are several */
    double *near;            /* while levels are added: [rows of the last level] a vector x for which A x is almost 0 */
};

/* Make the hierarchy of A, which must be real, symmetric and outlive it. The diagonal of A must be positive, or
   negative in every row. Ctrl-C ends this function. */
bool amg_make(struct amg *g, const struct csr *A, struct err *e);
/* The same with other near-null vectors; *near is emptied, also if this fails. */
bool amg_make_near(struct amg *g, const struct csr *A, struct amg_near *near, struct err *e);
void amg_free(struct amg *g);
/* A matrix of at most this many rows is inverted. amg_hook is for tests, which make the coarsest matrix small; 0
   restores the default. */
int64_t amg_inverted_rows(void);
void amg_hook(int64_t rows);

/* The k-th step of the smoother, Chebyshev's method of the fourth kind for eigenvalues in (0, bound]:
   z_k = (2k - 3) / (2k + 1) z_k-1 + (8k - 4) / (2k + 1) / bound D^-1 r_k-1, x_k = x_k-1 + z_k (Lottes 2023). */
static inline double amg_weight_of_z(int k)
{
    return (2. * k - 3) / (2. * k + 1);
}
static inline double amg_weight_of_r(int k, double bound)
{
    return (8. * k - 4) / (2. * k + 1) / bound;
}

/* The norms of the residuals on each level during one cycle, relative to the norm of the right-hand side of the level.
   NaN: the level has no such part. */
struct amg_trial {
    double smoothed, corrected, after; /* before the restriction, after the prolongation, at the end */
};
/* amg_trial.c: run one cycle on the host, for a random right-hand side. Ctrl-C ends this function. */
bool amg_try(const struct amg *g, struct amg_trial trial[AMG_LEVELS], struct err *e);
/* Bytes of the matrices of level k on the host: A, P and R. */
int64_t amg_level_bytes(const struct amg *g, int k);

/* The entries of all levels, divided by those of the first; amg_rows_ratio does the same with rows. */
double amg_entries_ratio(const struct amg *g);
double amg_rows_ratio(const struct amg *g);

/* ---- the steps of amg_make ---- */

/* The threshold of strong entries on a level, which is halved from level to level, because the entries of coarse
   matrices spread over more neighbours (Vanek, Mandel and Brezina 1996). */
static inline double amg_threshold(int level)
{
    return 0.08 / (double)(1 << level);
}
/* Is the next level small enough to be worth its work? */
static inline bool amg_worthwhile(int64_t aggregates, int64_t rows)
{
    return aggregates > 0 && (double)aggregates < 0.8 * (double)rows;
}
/* amg_damping: omega times the bound on the eigenvalues, the best factor for a smooth P. amg_margin: the bound divided
   by the largest of ten Ritz values, which lies a few percent below the largest eigenvalue. amg_dominant: if no sum of
   |a_ij / a_ii| over a row is larger, the largest sum is bound enough, and no Ritz values are computed. */
static const double amg_damping = 4. / 3, amg_margin = 1.1, amg_dominant = 2.001;

/* The strong entries of a matrix, and the aggregate of each row. The entry a_ij is strong if a_ij^2 > theta^2 a_ii a_jj
   and its sign is not that of the diagonal: where x is almost constant, such entries cancel the diagonal in A x, and
   others, for example between the unknowns of a node, do not. */
struct amg_aggregates {
    int64_t n;             /* aggregates */
    unsigned char *strong; /* [nnz] 1: off the diagonal, and strong */
    int *of;               /* [rows] the aggregate of each row, or AMG_ALONE */
};
/* amg_aggregate.c: form aggregates around rows that are at least three strong entries apart (a maximal independent set
   of distance 2; Bell, Dalton and Olson 2012). The result does not depend on the number of threads. */
bool amg_aggregate(struct amg_aggregates *g, const struct csr *A, const double *dinv, double theta, struct err *e);
void amg_aggregates_free(struct amg_aggregates *g);

/* amg_prolong.c: P = (I - omega D^-1 F) T (Vanek, Mandel and Brezina 1996), where T_ij = near_i / |near over j| if row
   i is in aggregate j, and F is A with its weak entries added to the diagonal so that F near = A near. *coarse receives
   the norms of `near` over the aggregates; the caller frees it. */
bool amg_prolong(struct csr *P, const struct csr *A, const struct amg_aggregates *g, const double *near, double omega,
                 double **coarse, struct err *e);

/* amg_nodes.c: the steps with several near-null vectors. amg_nodes_matrix: the Frobenius norms of the blocks of A, with
   a minus off the diagonal, so that amg_aggregate takes large blocks for strong entries; the columns do not ascend.
   *dinv receives the inverse of its diagonal, which the caller frees. */
bool amg_nodes_matrix(struct csr *out, double **dinv, const struct csr *A, const struct amg_near *near, struct err *e);
/* P = (I - omega D^-1 A) T, where the columns of T on each aggregate are an orthonormal basis of what the near-null
   vectors are there (Vanek, Mandel and Brezina 1996). `g` has an aggregate for each node. *coarse receives the vectors
   of the next level, T' times those of this level, and the aggregates as its nodes. */
bool amg_prolong_near(struct csr *P, struct amg_near *coarse, const struct csr *A, const double *dinv,
                      const struct amg_aggregates *g, const struct amg_near *near, double omega, struct err *e);

/* Keep the first `vectors` vectors on `rows` rows. */
void amg_near_keep(struct amg_near *near, int64_t rows, int64_t vectors);

/* amg_near.c: the nodes of A. `block`: the B rows of each supervariable (matrix/reorder.h), if A has them; otherwise B
   rows, one after another or as matrix/nodes.h finds them. Fails if the rows of A are not a multiple of B. */
bool amg_nodes(struct amg_near *near, const struct csr *A, int64_t block, struct err *e);
/* The vectors, for near->node. Row i is unknown u of its node if u rows of this node come before it. Constants of the
   unknowns; rigid-body modes, for points[axes * near->nodes], one axis after another; `vectors` random vectors after
   sweeps of the smoother on A x = 0. */
bool amg_constants(struct amg_near *near, const struct csr *A, struct err *e);
bool amg_rigid(struct amg_near *near, const struct csr *A, int64_t axes, const double *points, struct err *e);
bool amg_adaptive(struct amg_near *near, const struct csr *A, int64_t vectors, struct err *e);
/* Does A map x[rows] closer to 0 than ones: is x' A x / x' x nearer to 0? */
bool amg_is_nearer(const struct csr *A, const double *x, bool *nearer, struct err *e);
/* Multiply row i of the vectors by x[i]. */
bool amg_weigh(struct amg_near *near, int64_t rows, const double *x, struct err *e);

/* amg_bound.c: y = alpha A x + beta y, and x.y, which does not depend on the number of threads. */
bool amg_multiply(const struct csr *A, double alpha, const double *x, double beta, double *y, struct err *e);
double amg_dot(int64_t n, const double *x, const double *y, const double *weight); /* weight NULL: ones */
/* An upper bound on the eigenvalues of D^-1 A. Conjugate gradients with a random right-hand side give Ritz
   values, the largest of which, increased by a tenth, is the estimate; Gershgorin's theorem gives a bound that holds.
 */
bool amg_bound(const struct csr *A, const double *dinv, double *bound, struct err *e);

/* amg_coarse.c: the inverse of sign * A, by Cholesky's method, as a full matrix. *dropped receives the number of pivots
   that are 0 up to rounding; their rows and columns of the inverse are 0. Fails if a pivot is negative. */
bool amg_invert(const struct csr *A, double sign, double **inverse, int64_t *dropped, struct err *e);

#endif
