/* Ritz values: estimates of the eigenvalues of a matrix from the coefficients of a Krylov solver. */
#ifndef RITZ_H
#define RITZ_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* A value that is compared with the spectrum of T, row by row. */
struct ritz_probe {
    double x;     /* 0: no value is being compared */
    double ratio; /* state of the recurrence between rows */
    int64_t row;  /* number of rows of T that have been compared with x */
};
/* An interval around an extreme eigenvalue. The eigenvalue lies between inner and outer.x, or beyond inner while
   outer.x is 0. */
struct ritz_edge {
    double inner, reach;
    struct ritz_probe outer, next;
};

/* The extreme eigenvalues of the tridiagonal matrix T of conjugate gradients. T grows by one row per iteration:
       T_jj = 1 / alpha_j + beta_j-1 / alpha_j-1,  T_j,j+1 = sqrt(beta_j) / alpha_j   (Saad 2003, 6.7.3).
   The eigenvalues of T lie within the spectrum of A (or of M^-1 A) and approach its ends from inside. Start with a
   zeroed struct. */
struct ritz {
    int64_t rows;     /* of T */
    double low, high; /* extreme eigenvalues, to 7 digits once settled; NaN while T has no rows */
    bool settled;
    /* The first and the last alpha. If one of them changes, the coefficients come from a different solve, or the solve
       went back: start again. */
    double first, last;
    struct ritz_edge edge[2];
};
/* alpha, beta: the coefficients of k successive iterations. T ends before the first alpha that is not positive, the
   first beta that is negative, or the first NaN, whichever comes first. At most `budget` rows are processed, at about 5
   ns each; call again until r->settled. budget <= 0: no limit. */
void ritz_grow(struct ritz *r, const double *alpha, const double *beta, int64_t k, int64_t budget);
/* Call ritz_grow with the coefficients that a solve has recorded since its last restart. T has no rows unless
   solver->lanczos is set. If A is known not to be symmetric, T has no rows either, because its eigenvalues would not be
   Ritz values of A. */
struct solve;
void ritz_of(struct ritz *r, const struct solve *v, int64_t budget);
/* The matrix whose Ritz values those are, such as "M^-1 A"; cg may solve -A x = -b. */
const char *ritz_matrix(const struct solve *v);

/* The eigenvalues of the k x k upper Hessenberg matrix whose column j begins at H[j * ld], in any order: re[k], im[k].
   Takes about 10 k^3 operations. Fails if memory runs out, an element of H is not finite, or QR does not converge. */
bool ritz_hessenberg(const double *H, int64_t ld, int64_t k, double *re, double *im, struct err *e);
/* *condition receives the largest singular value of the (k + 1) x k Hessenberg matrix divided by its smallest singular
   value. The estimate is a lower bound; it is infinite if the matrix is singular. */
bool ritz_condition(const double *H, int64_t ld, int64_t k, double *condition, struct err *e);

#endif
