/* Solvers: one file, slv_NAME.c, and one line in solvers.def each; a solve is a state one can step. */
#ifndef SOLVER_H
#define SOLVER_H

#include "session.h"

enum reason { RUNNING, CONVERGED, MAX_ITERATIONS, DIVERGED, BROKE_DOWN, NOT_A_NUMBER, STAGNATED, STOPPED };
const char *reason_text(enum reason r); /* a sentence with advice */

enum { SOLVE_VECTORS = 8, SOLVE_PHASES = 8 };

/* Where the time goes: measured by waiting around each phase of a sampled iteration. */
struct phase { const char *name; double us; int64_t n; };

struct solve {
    const struct solver *solver;
    struct session *session;
    struct matrix *matrix;
    struct product *product;
    const struct kernel *kernel;
    struct device *dev;
    struct mat *A;
    enum type real;
    int64_t n, maxit;
    double tol;               /* on ||r|| / ||b|| */
    void *v[SOLVE_VECTORS];   /* on the device; v[0] = x, v[1] = b; the others are the solver's */
    double *s;                /* device scalars, SCALARS of them */
    double *hist_dev;         /* device, rr of each iteration, maxit + 1 */
    double *hist;             /* host: ||r|| / ||b|| by iteration, iterations + 1 of them */
    int64_t iterations;       /* done and known to the host */
    int64_t queued;
    double b_norm, r0;
    double residual, residual_true, max_diff; /* recursive and b - A x in double, relative to ||b|| */
    enum reason reason;
    bool paused;
    int64_t steps_left;       /* when stepping: pause after so many; 0 = run on */
    double us;                /* time spent iterating */
    struct phase phase[SOLVE_PHASES];
    int nphases;
    double *x;                /* host copy of the solution, after finish */
    double error_known;       /* relative error against the known solution (b = A*ones), NaN when there is none */
    bool known;
};

struct solver {
    const char *name, *about, *source;
    const char *needs;        /* "a square matrix with no zero on the diagonal" */
    int vectors;              /* device vectors besides x and b */
    double (*bytes)(const struct csr *A, size_t real); /* no iteration can move fewer (solvers.md) */
    bool (*init)(struct solve *v, struct err *e);  /* checks, first residual */
    bool (*step)(struct solve *v, struct err *e);  /* queue one iteration */
    bool (*finish)(struct solve *v, struct err *e); /* may be NULL */
};
extern const struct solver *const solvers[]; /* ended by NULL */
const struct solver *solver_find(const char *name);

struct solve_options {
    const struct solver *solver;
    const struct format *format; /* NULL: csr */
    const struct kernel *kernel; /* NULL: the usual one */
    struct device *dev;
    enum type real;
    double tol;
    int64_t maxit;
    const double *b, *x0;        /* host, n values; x0 NULL = 0 */
    bool known_ones;             /* b = A * ones: the solution is known */
    bool force;
};
bool solve_begin(struct solve **v, struct session *s, struct matrix *m, const struct solve_options *o, struct err *e);
/* One slice, about `us` of work: queue iterations, read the record. RUNNING in v->reason means more to do. */
bool solve_slice(struct solve *v, double us, struct err *e);
bool solve_end(struct solve *v, struct err *e); /* true residual, x to the host */
void solve_free(struct solve *v);

/* For slv_*.c: the phases of an iteration. q = A p by the chosen kernel. */
bool solve_spmv(struct solve *v, const void *p, void *q, struct err *e);
void phase_begin(struct solve *v, const char *name); /* ends the one before; NULL ends the last */

#endif
