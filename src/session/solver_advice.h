/* Which solver suits a system A x = b: the methods of the registries that A allows are tried for a short time each, and
   the time that each needs is measured, or estimated from what it reached. */
#ifndef SOLVER_ADVICE_H
#define SOLVER_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "card/card.h"
#include "solvers/solve.h"

struct err;
struct matrix;
struct session;

enum trial_state {
    TRIAL_NONE,      /* was not tried */
    TRIAL_CONVERGED, /* met tol, and the true residual confirms it */
    TRIAL_OPEN,      /* its time was over before it converged */
    TRIAL_PLANNED,   /* a direct solver: only the symbolic analysis was done */
    TRIAL_ENDED,     /* broke down, diverged, stagnated, ...; a direct solver: A is singular */
    TRIAL_REFUSED    /* the method does not take this matrix or these options */
};

/* A method: a solver with a preconditioner, or a direct solver. */
struct trial {
    const struct solver *solver; /* NULL: direct */
    const struct precond *pre;   /* NULL: none */
    const char *method;          /* direct: the library's method; NULL: not known */
    enum trial_state state;
    int64_t m; /* iterations per cycle; 0: the solver does not restart */
    int64_t iterations;
    double residual;                   /* relative: the recursive residual; direct: the true residual */
    double residual_true;              /* NaN unless the method converged or ended */
    double rate;                       /* see struct forecast; NaN: direct */
    double expected_iterations;        /* INFINITY: no sign of convergence; NaN: direct, or not tried */
    double setup_us, each_us;          /* set-up; an iteration. NaN: not measured */
    double spent_us;                   /* the longest trial */
    double expected_us;                /* set-up and iterations, or the direct solve; INFINITY: not known */
    double planned_nnz, planned_flops; /* direct: of the factors; NaN: not known */
    bool accurate;                     /* direct: x is as good as fp64 allows, but its residual exceeds tol */
    bool least_squares;                /* and x solves the least-squares problem */
    bool drops;                        /* no longer a candidate */
    char why[400];                     /* the reason of TRIAL_ENDED and TRIAL_REFUSED; direct: the result */
};

/* Has the trial done less than an eighth of the iterations that it is expected to need? */
bool trial_is_guess(const struct trial *t);
/* Was the trial too short to judge the solver, because the set-up or an iteration takes long? */
bool trial_is_unjudged(const struct trial *t);

struct solver_question {
    struct matrix *matrix;
    struct solve_options options; /* solver and, unless pre_is_given, pre are chosen */
    bool pre_is_given;
    bool direct;     /* a direct solver may be chosen */
    double limit_us; /* for all trials together */
};

struct solver_advice {
    struct card card; /* with the lines for solvers */
    const struct device *dev;
    int n, taken;     /* taken: index in at[], or -1: no method is known to solve the system */
    struct trial *at; /* the best first */
    double us;        /* the time that all of it took */
    bool late;        /* the limit ended the trials */
    bool stopped;     /* Ctrl-C ended the trials; those before it count */
    char kind[200];   /* what is known about A */
    char because[400];
};
/* The time for all trials if the user gives no limit. */
extern const double solver_advice_limit_us;
/* Try the methods and choose one. Returns false after an error that ends the command; Ctrl-C only sets `stopped`. The
   caller must call solver_advice_free even if the result is false. */
bool solver_advise(struct solver_advice *out, struct session *s, const struct solver_question *q, struct err *e);
void solver_advice_free(struct solver_advice *a);
/* The name of a method: "cg", "cg, ic0", "direct (umfpack)". */
struct trial_name {
    char text[80];
};
struct trial_name trial_name(const struct trial *t);
/* The words of `solve` that select a method: "cg A precond ic0", "direct A". */
struct trial_words {
    char text[200];
};
struct trial_words trial_words(const struct trial *t, const char *matrix);

#endif
