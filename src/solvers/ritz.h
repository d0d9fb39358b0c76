/* Ritz values: estimates of the eigenvalues of a matrix from the coefficients of a Krylov solver. */
#ifndef RITZ_H
#define RITZ_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Where an extreme eigenvalue lies: at inner or beyond it, and not yet at outer.x. */
struct ritz_probe {
    double x;     /* 0: none */
    double ratio; /* what the recurrence carries to the next row */
    int64_t row;  /* rows of T that x was compared with */
};
struct ritz_edge {
    double inner, reach;
    struct ritz_probe outer, next;
};

/* The extreme eigenvalues of the tridiagonal T of conjugate gradients, which grows by a row an iteration:
       T_jj = 1 / alpha_j + beta_j-1 / alpha_j-1,  T_j,j+1 = sqrt(beta_j) / alpha_j   (Saad 2003, 6.7.3).
   They lie among those of A (or of M^-1 A) and come near its own extreme ones from inside. Zero is a fresh one. */
struct ritz {
    int64_t rows;     /* of T */
    double low, high; /* to 7 digits once settled; NaN: T has no row yet */
    bool settled;
    double first, last; /* coefficients: others mean another solve, or one that went back: start again */
    struct ritz_edge edge[2];
};
/* alpha, beta: of k iterations in turn. Rows end before an alpha that is not positive or a beta that is negative, or
   where one is no number. At most `budget` rows are looked at, about 5 ns each; call again to settle. <= 0: all. */
void ritz_grow(struct ritz *r, const double *alpha, const double *beta, int64_t k, int64_t budget);
/* The same for the coefficients of a solve since its last restart; no rows where its solver is not of the kind of cg
   (solver->lanczos). */
struct solve;
void ritz_of(struct ritz *r, const struct solve *v, int64_t budget);

/* The eigenvalues of the k x k upper Hessenberg matrix whose column j begins at H[j * ld], in no order: re[k], im[k].
   k^3 * 10 operations. H is only read. false: no memory, a number in it is not finite, or no convergence. */
bool ritz_hessenberg(const double *H, int64_t ld, int64_t k, double *re, double *im, struct err *e);
/* The largest singular value of the (k + 1) x k Hessenberg matrix over its smallest, an estimate from below; infinity
   where the matrix is singular. */
bool ritz_condition(const double *H, int64_t ld, int64_t k, double *condition, struct err *e);

#endif
