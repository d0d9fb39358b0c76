/* Preconditioners. Each preconditioner has one source file, pre_NAME.c, and one line in preconds.def. M approximates A,
   and systems with M are easy to solve. A solver computes z = M^-1 r. cg needs a symmetric positive definite M.
   bicgstab, qmrcgstab and gmres solve A M^-1 u = b - A x0 and then set x = x0 + M^-1 u, so that their residual is the
   residual of A x = b. */
#ifndef PRECOND_H
#define PRECOND_H

#include <stdbool.h>
#include <stddef.h>

#include "peers.h"
#include <stdint.h>

struct csr;
struct err;
struct solve;
struct solver;

struct precond {
    const char *name, *about, *source, *needs;
    const char
        *uses; /* "factors the mean of A and A'": what M is made of if A is symmetric only up to rounding; NULL: A */
    const char *aliases; /* other names, separated by blanks; NULL: none */
    bool symmetric;      /* M is symmetric if A is symmetric, so cg accepts M */
    bool least_squares;  /* M'M approximates A'A: for solvers of least squares, which take no other M */
    bool blocks;         /* M has blocks, whose size the user can choose */
    bool near;           /* M has near-null vectors, which the user can choose; its blocks are nodes */
    bool triangles;      /* M consists of two sparse triangles (struct triangle_settings) */
    bool saddle;         /* only for matrices whose diagonal has zeros */
    bool drops;          /* M drops entries of its triangles: `drop` and `fill` say which */
    bool long_apply;     /* on the host, applying M takes longer than the rest of an iteration */
    bool by_products;    /* M is applied by SpMV kernels, whose order of additions depends on the device */
    bool inexact;        /* M^-1 is applied in fp32 if the solver allows it, so that a flexible solver gains time */
    bool diagonal;       /* M^-1 is the diagonal v->pre.part[0], which solvers may apply in their own passes */
    double making; /* the time to make M on one core, in times that it takes to read the parts once: a typical value */
    bool takes_complex; /* can precondition a complex matrix, whose vectors hold pairs (see solve_numbers) */
    /* Factorise on the host and copy the parts to v->dev; v->pre.part[] receives them. The error message names the row
       at fault. v->pre.block is the number of rows per block, if M has blocks; 0: the default. After a failure `drop`
       frees the parts. */
    bool (*make)(struct solve *v, struct err *e);
    /* z = M^-1 r, for vectors of v->n values. The launches are queued on the device and have no effect once s[S_DONE]
       is not 0. z and r are different vectors. */
    bool (*apply)(struct solve *v, const void *r, void *z, struct err *e);
    /* Called after Ctrl-C has ended the launches of `apply`: make the parts what they were before. NULL: `apply`
       changes no parts. */
    bool (*restore)(struct solve *v, struct err *e);
    void (*drop)(struct solve *v); /* NULL: freeing v->pre.part[] is enough */
    /* Minimum number of bytes moved each time M is applied: the parts of M once, r and z. */
    double (*bytes)(const struct solve *v);
    /* Bytes of the parts on the device; NULL: bytes() without r and z. */
    int64_t (*held)(const struct solve *v);
    /* Describe the parts in words, such as "blocks of 8 rows", from v->pre.note[]; NULL: nothing to describe. */
    void (*note)(const struct solve *v, char *out, size_t size);
    /* Describe in words how M is applied, if there is a choice, with the predicted times; NULL: no choice. */
    void (*how)(const struct solve *v, char *out, size_t size);
    struct peers peers; /* its names in other libraries */
};
extern const struct precond *const preconds[]; /* terminated by NULL, in the order of preconds.def */
extern const struct registry precond_registry;
extern const struct precond precond_columns; /* the one for least squares */
const struct precond *precond_find(const char *name);
/* *out receives the preconditioner with this name, or NULL for `none`. Returns false if there is no such
   preconditioner. */
bool precond_typed(const char *text, const struct precond **out);
extern const char precond_none[]; /* the word that stands for no preconditioner */

/* The diagonal of M^-1 on the device, if v has a preconditioner that is a real diagonal; else NULL. */
const void *precond_diagonal(const struct solve *v);

/* In pre_jacobi.c, for pre_*.c with the trait `diagonal`: put dinv[v->n], the diagonal of M^-1, on the device as
   v->pre.part[0]; `what` names it in errors. In a solve of several columns, dinv has the diagonal of one column, and
   room for all. diagonal_apply and diagonal_bytes are their `apply` and `bytes`. */
bool diagonal_put(struct solve *v, double *dinv, const char *what, struct err *e);
bool diagonal_apply(struct solve *v, const void *r, void *z, struct err *e);
double diagonal_bytes(const struct solve *v);

/* For slv_*.c and pre_*.c. The numbers of a complex A are pairs of a real and an imaginary part.
   diagonal_of: write the diagonal of A to diag[solve_numbers(A)]. Fails if an entry is missing or 0; `who` is the name
   of the method in the error. diagonal_inverse: likewise, diag_i = scale / a_ii. values_of: write the values of A to
   val[nnz], or to val[2 nnz] if A is complex. Ctrl-C ends all three. */
bool diagonal_of(const struct csr *A, const char *who, double *diag, struct err *e);
/* Does every row have a nonzero diagonal entry, as most preconditioners require? */
bool diagonal_is_full(const struct csr *A);
bool diagonal_inverse(const struct csr *A, const char *who, double scale, double *diag, struct err *e);
bool diagonal_is_negative(const struct csr *A); /* all entries: A may be negative definite, but not positive definite */
bool values_of(const struct csr *A, double *val, struct err *e);
/* -1 if M must approximate -A: a solver for symmetric matrices needs a positive definite M, even if A may be negative
   definite. Otherwise 1. */
double precond_sign(const struct solve *v);
/* Bytes that the parts of the preconditioner of v take on the device; 0: none has been made. */
int64_t precond_held(const struct solve *v);

#endif
