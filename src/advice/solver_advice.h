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

/* What a trial promises: between low and high. high is INFINITY if the trial does not show it. */
struct span {
    double low, high;
};

/* A method: a solver with a preconditioner, or a direct solver. */
struct trial {
    int order;                   /* in the list of candidates: decides between equally good ones */
    const struct solver *solver; /* NULL: direct */
    const struct precond *pre;   /* NULL: none */
    int64_t pre_block;           /* the block that the candidate sets; 0: none */
    const char *method;          /* direct: the library's method; NULL: not known */
    enum trial_state state;
    int64_t m; /* iterations per cycle; 0: the solver does not restart */
    int64_t iterations;
    double residual;          /* relative: the recursive residual; direct: the true residual */
    double residual_true;     /* NaN unless the method converged or ended */
    double rate;              /* see struct forecast; NaN: direct */
    struct span needs;        /* iterations; low is NaN: direct, or not tried */
    struct span us;           /* set-up and iterations, or the direct solve; low is NaN: not tried */
    double setup_us, each_us; /* set-up; an iteration. NaN: not measured */
    double setup_ended_us;    /* the set-up was ended after this time, and needs more; NaN: it was not */
    double spent_us;          /* the last trial */
    double slowest_us;        /* the longest of the trials that converged; 0: none did */
    /* If the residual keeps falling at its rate; the measured time if the method converged. They decide which
       candidates get more time, and promise nothing. INFINITY: no sign of convergence. */
    double guess_iterations, guess_us;
    /* A time that is computed from bytes and operations alone, so it is the same in every run: decides between methods
       that take about as long. NaN: not known. */
    double work_setup_us, work_each_us;
    double planned_nnz, planned_flops; /* direct: of the factors; NaN: not known */
    bool accurate;                     /* direct: x is as good as fp64 allows, but its residual exceeds tol */
    bool least_squares;                /* direct: x does not solve A x = b, but the least-squares problem */
    bool drops;                        /* no longer a candidate */
    char why[400];                     /* the reason of TRIAL_ENDED and TRIAL_REFUSED; direct: the result */
};

/* Did the method converge, or does its trial show how long it takes? */
bool trial_is_known(const struct trial *t);
/* Was the trial too short to judge the solver, because the set-up or an iteration takes long? */
bool trial_is_unjudged(const struct trial *t);
/* Can the method be chosen: did it converge, or does its residual fall? */
bool trial_is_hopeful(const struct trial *t);
/* Has nothing shown that the method does not converge? */
bool trial_may_go_on(const struct trial *t);

struct solver_question {
    struct matrix *matrix;        /* the equilibrated one, if options.scaling is set; b is that of A x = b */
    struct solve_options options; /* solver and, unless pre_is_given, pre are chosen */
    bool pre_is_given;
    bool direct;     /* a direct solver may be chosen */
    double limit_us; /* for all trials together, by trial_clock_us */
    /* On cpu, where limit_us counts processor time, the trials end after this time in any case. 0: five times limit_us.
     */
    double wait_us;
};

struct solver_advice {
    struct card card; /* with the lines for solvers */
    const struct device *dev;
    int n, taken;     /* taken: index in at[], or -1: no method is known to solve the system, or `trivial` */
    struct trial *at; /* the best first */
    double us;        /* the time that all of it took */
    double worked_us; /* the same by trial_clock_us */
    bool late;        /* the limit ended the trials */
    bool delayed;     /* it was the limit of the time that passes: other programs had the processor */
    bool stopped;     /* Ctrl-C ended the trials; those before it count */
    bool zero;        /* b = 0 */
    bool trivial;     /* b = 0, or x0 solves the system: nothing was compared, and at[0] converged in 0 iterations */
    char kind[200];   /* what is known about A */
    char because[400];
};
/* The time for all trials if the user gives no limit. */
extern const double solver_advice_limit_us;
/* The clock, in us, that limits trials and the turns of `solve` on d, and that times trials: on cpu processor time
   (base/clock.h), so that other programs change no choice; on other devices the time that passes. */
double trial_clock_us(const struct device *d);
/* Try the methods and choose one. Returns false after an error that ends the command; Ctrl-C only sets `stopped`. The
   caller must call solver_advice_free even if the result is false. */
bool solver_advise(struct solver_advice *out, struct session *s, const struct solver_question *q, struct err *e);
void solver_advice_free(struct solver_advice *a);
/* For tests: a function that changes what the trials found, before one is chosen; NULL: none. */
void solver_advice_hook(void (*change)(struct solver_advice *a));
/* Sort the candidates, the best first, and set a->taken. The choice between methods that take about as long, by their
   times, is made by their work, and by their order in the registries: the same in every run. Part of solver_advise. */
void solver_choose(struct solver_advice *a);
/* The candidate that solver_choose would put first, without sorting; NULL: none. */
const struct trial *solver_best(const struct solver_advice *a);
/* The time of t for its iterations, or the guessed ones, from bytes and operations alone. */
double trial_work_us(const struct trial *t);
/* What candidates are compared by before one is chosen: on cpu, for which the work was fitted to measured times, the
   work, so that noise does not decide who gets more time; on other devices, the time. INFINITY: no sign of convergence.
 */
double trial_cost_us(const struct solver_advice *a, const struct trial *t);
/* The name of a method: "cg", "cg, ic0", "direct (umfpack)". */
struct trial_name {
    char text[80];
};
struct trial_name trial_name(const struct trial *t);
/* The words of `solve` that select a method: "cg A precond ic0", "direct A", with `scaled` and `reorder` as in *o. */
struct trial_words {
    char text[500];
};
struct trial_words trial_words(const struct trial *t, const char *matrix, const struct solve_options *o);
/* "1,040 to 2,900" iterations and "1.2 to 3.4 s", or "not yet known"; "-": not tried. */
struct span_text {
    char text[120];
};
struct span_text needs_text(const struct trial *t);
struct span_text time_text(const struct trial *t);
/* Set a->because, after solver_choose. Part of solver_advise. */
void solver_explain(struct solver_advice *a);

#endif
