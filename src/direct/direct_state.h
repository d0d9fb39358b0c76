/* A factorisation in progress, for the files of the methods and for callers that keep a factorisation. */
#ifndef DIRECT_STATE_H
#define DIRECT_STATE_H

#include <stddef.h>

#include "base/base.h"
#include "direct.h"

/* The columns of a matrix. The values of a complex matrix are pairs of a real and an imaginary part. */
struct direct_matrix {
    int64_t rows, cols;
    int64_t *start, *row;
    double *val;
    bool pairs;
};

struct direct {
    const struct direct_method *method;
    /* A copy of the matrix, because the worker thread may outlive the command; the conjugate transpose of the matrix if
       `wide` is set. */
    struct direct_matrix A;
    int exponent;   /* the values in A are those of the matrix times 2^-exponent, so that their squares stay in range */
    bool wide;      /* the matrix has fewer rows than columns, and the method is for any shape */
    bool symmetric; /* the matrix is symmetric or, if complex, hermitian */
    bool choosing;  /* another method follows if this one does not suit the values of the matrix */
    void *state;    /* the method's own; mem_free frees it after method->drop */
    struct direct_plan plan;
    struct direct_factors factors;
    double condition; /* after direct_call_condition */
    double *weights;  /* owned: one per row of a square matrix, for direct_call_weighted; NULL: none */
    double weighted;  /* after direct_call_weighted */

    /* the call that runs on the worker thread */
    bool (*call)(struct direct *v, struct err *e);
    double *from, *to; /* operands of method->solve; owned */
    bool ok;
    double us;
    struct err error;
};

/* Allocates the state. Returns NULL with an error if memory runs out. */
void *direct_state_new(struct direct *v, size_t size, struct err *e);
/* Copy the matrix for the method. */
bool direct_begin(struct direct **v, const struct direct_method *m, const struct csr *A, struct err *e);
/* Replace the values of v->A, which was analysed, by those of A. Fails if the pattern of A is another. */
bool direct_renew(struct direct *v, const struct csr *A, struct err *e);
/* Replace v->A by its conjugate transpose, which changes v->wide. */
bool direct_turn(struct direct *v, struct err *e);
/* Run a call on a worker thread; the calls for a small matrix run at once. v->us is the time of the call. After Ctrl-C,
 *v is NULL, and the worker thread frees the factorisation once the library returns. */
bool direct_run(struct direct **v, bool (*call)(struct direct *v, struct err *e), const char *what, struct watch *w,
                struct err *e);
bool direct_call_analyse(struct direct *v, struct err *e);
bool direct_call_factor(struct direct *v, struct err *e);
bool direct_call_renew(struct direct *v, struct err *e);     /* factors the new values */
bool direct_call_solve(struct direct *v, struct err *e);     /* v->to = A^-1 v->from */
bool direct_call_condition(struct direct *v, struct err *e); /* fills v->condition */
bool direct_call_weighted(struct direct *v, struct err *e); /* v->weighted: about || |A^-1| weights ||, infinity norm */
/* The memory in bytes that is available for the factors of a method; NULL: the host's. */
int64_t direct_memory(const struct direct_method *m);
/* Note in v->factors.unusable why the factors cannot be used. */
void direct_unusable(struct direct *v, const char *fmt, ...) PRINTF(2, 3);
/* Widen the range pivot_least .. pivot_most. */
void direct_pivot(struct direct_factors *f, double pivot);

#endif
