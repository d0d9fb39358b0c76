/* Direct solution of sparse systems A x = b, on the host by the libraries of SuiteSparse, on a GPU by cuDSS.
   The libraries are loaded at their first use. */
#ifndef DIRECT_H
#define DIRECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "solvers/peers.h"
#include "solvers/trust.h"

struct csr;
struct direct;
struct registry;
struct shared_library;
struct watch;

/* What the symbolic analysis predicts, before memory for the factors is allocated. NaN: the library gives no value. */
struct direct_plan {
    double nnz;    /* nonzeros of all factors */
    double flops;  /* of the factorisation */
    double bytes;  /* memory of the factors and of the work arrays */
    bool bound;    /* the numbers are upper bounds for all choices of pivots */
    bool triangle; /* the factors have the nonzeros of one triangle */
    const char *ordering;
};

/* What the factorisation found. NaN or -1: the library gives no value. */
struct direct_factors {
    const char *kind; /* "L L'", "-L L'", "L D L'", "L U", "Q R" */
    double nnz, flops, bytes;
    int64_t rank;
    int64_t positive, negative; /* inertia: the signs of the eigenvalues of A, equal to the signs of the pivots in D */
    bool scaled;                /* the rows were scaled before pivots were chosen */
    int64_t off_diagonal;       /* pivots that are not on the diagonal of the ordered matrix */
    double pivot_least, pivot_most; /* |pivot|; for L L' the squares of the diagonal of L */
    /* Empty if systems can be solved with the factors; otherwise the reason why not. */
    char unusable[160];
};

struct direct_method {
    const char *name, *about, *source;
    const char *needs; /* "a square matrix" */
    const char *when;  /* when to choose this method */
    const char *title; /* of the library: "UMFPACK" */
    struct shared_library *library;
    struct shared_library *also; /* a second library that the method calls; NULL: none */
    bool hermitian;              /* needs a symmetric or, if A is complex, a hermitian matrix, and uses one triangle */
    const char *device;          /* that it runs on: "cuda:0"; NULL: cpu, the host */
    bool asked;                  /* used only if the user names it */
    bool rectangular;            /* takes matrices of any shape, and finds a least-squares or least-norm solution */
    /* The functions below run on a worker thread and use only v->A and v->state. They fail with E_MEMORY, or with
       E_LIMIT if the factors have more nonzeros than the library can count. */
    bool (*analyse)(struct direct *v, struct err *e); /* fills v->plan */
    bool (*factor)(struct direct *v, struct err *e);  /* fills v->factors; a singular matrix is not an error */
    /* v->A has new values, which `factor` will factor by the analysis that was made; NULL: nothing to do before. */
    bool (*renew)(struct direct *v, struct err *e);
    /* x = A^-1 b, or x = A^-H b if `conjugate` is set */
    bool (*solve)(struct direct *v, bool conjugate, const double *b, double *x, struct err *e);
    void (*drop)(struct direct *v); /* free what v->state refers to */
    /* After the analysis: is this method a better choice than the methods below it in directs.def? NULL: yes. */
    bool (*pays)(const struct direct *v);
    /* The memory that is available for the factors, in bytes; NULL: that of the host. */
    int64_t (*memory)(void);
    struct peers peers; /* its names in other libraries */
};
extern const struct direct_method *const directs[]; /* terminated by NULL, in the order of directs.def */
extern const struct registry direct_registry;
const struct direct_method *direct_find(const char *name);
const char *direct_device(const struct direct_method *m); /* "cpu" or "cuda:0" */
const struct direct_method *direct_rectangular(void); /* the first one that takes matrices of any shape; NULL: none */
/* The word `direct`, which a user types in place of the name of an iterative solver. */
extern const struct registry direct_word_registry;

/* A solved system. */
struct direct_answer {
    const struct direct_method *method;
    const char *name; /* of the matrix; like A, it must outlive the answer */
    const struct csr *A;
    int64_t b_numbers, x_numbers; /* the rows or columns of A; twice as many if A is complex */
    double *b, *x;                /* x is NULL if only a plan was made, or if A is singular */
    bool planned;                 /* only the plan was made */
    bool again;                   /* the analysis was kept from an earlier solve */
    struct direct_plan plan;
    struct direct_factors factors;
    bool symmetric;       /* A is symmetric or hermitian */
    bool unique;          /* no other x has the same residual */
    int refinements;      /* steps of iterative refinement */
    double correction;    /* size of the last correction relative to x: an estimate of the error of x; NaN: none */
    double residual;      /* ||b - A x|| / ||b|| of the library's x */
    double residual_true; /* the same after refinement, in double with compensated sums */
    double backward;      /* ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms */
    double normal;        /* least squares: ||A' r|| / (||A|| ||r||), Frobenius norm of A, 2-norms; NaN: not computed */
    double condition;     /* 1-norm, a lower bound (Hager and Higham); NaN: not estimated */
    double first;         /* size of the first correction relative to x; NaN: none */
    /* If the options ask for it, of a unique x of a square system; NaN: not estimated. */
    double omega;   /* componentwise backward error: the largest |b - A x|_i / (|A| |x| + |b|)_i (Oettli and Prager) */
    double skeel;   /* condition of x: || |A^-1| (|A| |x| + |b|) || / ||x||, infinity norms; about (Skeel) */
    double forward; /* ||A^-1 (b - A x)|| / ||x||, by the factors */
    struct trust trust; /* how many digits of x are correct */
    bool known;         /* the solution is known, as the options say */
    double error_known; /* relative error of x if the solution is known and x is unique; NaN: unknown */
    char b_name[240];   /* set by the caller: which b this is; empty: b is not from a file */
    /* Set by the caller if several b were solved: those whose x is accurate and unique, b_numbers and x_numbers each;
       owned. b and x above are those of the last one. */
    int64_t columns;
    double *columns_b, *columns_x;
    double columns_error; /* the largest error of these x, as far as it is known; NaN: not known of all */
    bool accurate;        /* x solves the system, or the least-squares problem, up to rounding */
    double tol;           /* on residual_true; a residual of at most twice tol meets it */
    bool met;             /* accurate, and the residual meets tol or is the least one of a rectangular system */
    double analyse_us, factor_us, solve_us, condition_us; /* of the library calls; NaN: not done */
    double us;                                            /* all of it, with the methods tried before */
    char why[400];                                        /* the result as a sentence */
    char tried[400]; /* the methods that were tried before this one, and why they were left; empty: none */
};

struct direct_options {
    const struct direct_method *method; /* NULL: chosen from the matrix */
    const double *b;
    bool known_ones;        /* b = A * ones */
    const double *truth;    /* if known_ones is not set: the solution; NULL: not known */
    const char *truth_from; /* what gives the truth: "file", "varied" */
    bool trust;             /* find out how many digits of x are correct */
    bool symmetric;         /* A is symmetric or, if complex, hermitian */
    double tol;             /* see struct direct_answer; 0: 1e-8 */
    bool plan_only;
    bool force; /* factor even if memory does not seem to suffice */
    /* If not NULL, *keep receives the factorisation, which the caller frees with direct_free. If *keep is one that was
       kept before, of a matrix with the same pattern, its method and analysis are used; after Ctrl-C, *keep is NULL. */
    struct direct **keep;
    bool regular; /* try only methods for regular matrices, and do not estimate the condition */
    struct watch *watch;
};
/* Analyse, factor and solve. With plan_only, only analyse. Without a method, each method that suits the matrix is tried
   in turn, until x is accurate. Refuses, before the factorisation, if memory does not suffice. */
bool direct_solve(struct direct_answer **out, const struct csr *A, const struct direct_options *o, struct err *e);
/* Solve with another right side, o->b, by the factorisation that direct_solve has kept for this answer: b, x, its
   errors, its times and the sentence are replaced. After Ctrl-C, *v is NULL. */
bool direct_solve_again(struct direct **v, struct direct_answer *a, const struct direct_options *o, struct err *e);
void direct_answer_free(struct direct_answer *a);
void direct_free(struct direct *v);
const struct direct_method *direct_method_of(const struct direct *v);

/* For tests: the memory that is available, in place of mem_available; 0: mem_available. */
void direct_memory_hook(int64_t bytes);

#endif
