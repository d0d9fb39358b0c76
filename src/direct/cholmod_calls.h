/* CHOLMOD, which two methods use: `cholmod`, and `spqr` for its matrices and vectors. */
#ifndef CHOLMOD_CALLS_H
#define CHOLMOD_CALLS_H

#include <suitesparse/cholmod.h>

#include "base/shared.h"
#include "direct_state.h"

/* The functions of libcholmod, after cholmod_library was loaded; indices have 64 bits. */
struct cholmod_calls {
    int (*start)(cholmod_common *);
    int (*finish)(cholmod_common *);
    int (*version)(int version[3]);
    cholmod_factor *(*analyze)(cholmod_sparse *, cholmod_common *);
    int (*factorize)(cholmod_sparse *, cholmod_factor *, cholmod_common *);
    cholmod_dense *(*solve)(int, cholmod_factor *, cholmod_dense *, cholmod_common *);
    int (*free_factor)(cholmod_factor **, cholmod_common *);
    int (*free_dense)(cholmod_dense **, cholmod_common *);
};
extern struct cholmod_calls cholmod_calls;
extern struct shared_library cholmod_library;

/* The matrix and a vector as CHOLMOD's structs, which borrow the arrays. */
cholmod_sparse cholmod_matrix(const struct direct_matrix *M, int stype);
cholmod_dense cholmod_vector(int64_t n, bool pairs, const double *x);
/* The failure that common->status states; `title` is the library. */
bool cholmod_failed(const cholmod_common *common, const char *title, struct err *e);
/* Copy the vector X to x and free X; fails if X is NULL. */
bool cholmod_take(cholmod_common *common, const char *title, cholmod_dense *X, bool pairs, double *x, struct err *e);
const char *cholmod_ordering(int ordering); /* the name of an ordering CHOLMOD_AMD, ... */

#endif
