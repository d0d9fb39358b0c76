/* The operator (A - shift I)^-1 for shift and invert (Ericsson and Ruhe 1980), by the factors of a direct solver. */
#ifndef INVERSE_H
#define INVERSE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct device;
struct direct;
struct err;
struct watch;

struct inverse {
    struct direct *factors;
    struct device *dev;
    struct watch *watch;
    int64_t n; /* numbers in a vector, two for each row of a complex matrix */
    bool hermitian;
    double shift;       /* the shift that was used */
    const char *method; /* name of the direct method */
    int64_t below;      /* eigenvalues of A below the shift; -1: unknown */
    bool stable;        /* the factors are those of A - shift I up to rounding */
    double factor_us;
};

struct inverse_matrix {
    const struct csr *csr;
    double norm;    /* an upper bound on the size of every eigenvalue */
    bool hermitian; /* or symmetric */
    bool force;     /* factor even if memory does not seem to suffice */
};

/* Factor A - shift I. If it is singular, or nearly so, the shift moves by 1e-8 norm or, for stable factors, by up to
   1e-5 norm, downwards or else upwards. inverse_free takes an empty struct. */
bool inverse_new(struct inverse *v, const struct inverse_matrix *A, double shift, struct device *d, struct watch *w,
                 struct err *e);
/* The same at shift - away or, if that is not possible, at shift + away. */
bool inverse_beside(struct inverse *v, const struct inverse_matrix *A, double shift, double away, struct device *d,
                    struct watch *w, struct err *e);
/* y = scale (A - shift I)^-1 x, for vectors on the device. */
bool inverse_multiply(struct inverse *v, double scale, const void *x, void *y, struct err *e);
/* The same for vectors on the host. */
bool inverse_apply(struct inverse *v, const double *x, double *y, struct err *e);
void inverse_free(struct inverse *v);
/* *below = the number of eigenvalues of A below `at`: the negative pivots of L D L' = A - at I (Sylvester's law of
   inertia). Fails with E_UNSUPPORTED if the factors are not accurate, as they may be without row exchanges. */
bool inverse_count(const struct csr *A, double at, bool force, struct watch *w, int64_t *below, struct err *e);

#endif
