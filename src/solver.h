/* Solvers: one file, slv_NAME.c, and one line in solvers.def each; a solve is a state one can step. */
#ifndef SOLVER_H
#define SOLVER_H

#include "session.h"

struct precond; /* precond.h */

/* enum reason, how a solve ended, is in device.h: the device decides it. */
const char *reason_name(enum reason r); /* "converged", "broke-down", ... */
const char *reason_text(enum reason r); /* a sentence with advice */

enum { SOLVE_VECTORS = 16, SOLVE_PHASES = 8, PRE_PARTS = 12, CHECKPOINTS = 16 };

/* Where the time goes: measured in one iteration of each slice, by waiting for the device before and after each
   phase. On a GPU that adds the cost of a wait to each, some microseconds; all other iterations run unwatched. */
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
    int64_t window;           /* iterations without a gain of 1% that make it stagnate */
    double tol;               /* on ||r|| / ||b|| */
    double eps;               /* on max |x' - x|; 0 = not asked for */
    double omega;             /* relaxation, of a solver that has it */
    int64_t m, cycle_from;    /* of a solver that restarts: iterations a cycle; v->queued where the first began */
    /* On the device: v[0] = x, v[1] = b; the others are the solver's, but for the last ones. A solve of A M^-1 u = r0 has u
       for x and r0 for b, and keeps x0 apart. */
    void *v[SOLVE_VECTORS];
    int64_t v_bytes[SOLVE_VECTORS];
    const struct vec_ops *ops;
    const struct cg_ops *cg;
    const struct bicg_ops *bicg;
    const struct gmres_ops *gmres;
    double *s;                /* device scalars and work space, VEC_WORK of them */
    double *hist;             /* host: ||r|| / ||b|| by iteration, iterations + 1 of them */
    /* host, as long as hist: the coefficients alpha and beta of that iteration (cg: x += alpha p, p = r + beta p; 0 of
       solvers that have none, and of iteration 0), and when its record was written, in us since the first. */
    double *alpha, *beta, *stamp;
    /* The residual b - A x as computed now and then from x, in the precision of the solve, relative to ||b||. */
    struct truth { int64_t iteration; double residual; } *truth;
    int64_t ntruth;
    int64_t parted;           /* iteration where the two residuals were first seen to part; 0, or up to base: they did not */
    int64_t iterations;       /* done and known to the host */
    int64_t queued, lost;     /* since base; of these, found it converged and did nothing, but it was not */
    double b_norm;
    double residual, residual_true, max_diff; /* recursive and b - A x in double, relative to ||b|| */
    enum reason reason;
    char why[400];            /* after solve_end: the reason as a sentence, with its numbers and advice */
    const struct precond *pre; /* NULL: none */
    int64_t pre_block;
    void *pre_part[PRE_PARTS]; /* on the device, what the preconditioner keeps */
    int64_t pre_note[PRE_PARTS]; /* numbers to go with them: lengths, levels */
    void *pre_host;           /* on the host; for drop */
    double pre_us, pre_bytes; /* time that making it took; bytes that an application moves, from then on */
    void *own;                /* host: what the solver keeps there; freed with its vectors */
    bool modified;            /* gmres: modified Gram-Schmidt instead of classical twice */
    bool sums_host;           /* gmres: sums of blocks added up by the host, as the thesis did */
    int64_t base;             /* the iteration at which the vectors were last begun anew: 0, or where something changed */
    bool keeps;               /* makes checkpoints, so that one can go back quickly */
    bool paused;
    int64_t steps_left;       /* when stepping: pause after so many; 0 = run on */
    double us, base_us;       /* time spent iterating; until base */
    double us_iteration;      /* of one iteration, queued without waiting where there were such */
    struct phase phase[SOLVE_PHASES];
    int nphases;
    double *x;                /* host copy of the solution, after finish */
    double error_known;       /* relative error against the known solution (b = A*ones), NaN when there is none */
    bool known;
    /* what solver.c keeps from slice to slice */
    double *b, *mirror;       /* host: the right side; the scalars as last read */
    volatile double *live;    /* the live record, as the host sees it */
    void *live_there;         /* and as launches do */
    int64_t hist_room, truth_room, free_n, batch, probed, slices;
    double rate_us, free_us, phase_from, left_us, clock0;
    struct phase *in_phase;   /* of the iteration being sampled */
    bool sampling, ahead;     /* launches may still run on the device */
    void *graph;              /* of graph_n iterations */
    int64_t graph_n;
    bool no_graph;
    struct checkpoint { int64_t iterations, queued, cycle_from; void *data; } checkpoint[CHECKPOINTS];
    int ncheckpoints;
    double checkpoint_us, checkpoint_at;
    bool force, pre_made;
    struct err trouble;       /* met while sampling */
};
/* The last of the vectors: x0 and M^-1 times a vector of a preconditioned solve, A x while the true residual is probed. */
enum { AT_PROBE = SOLVE_VECTORS - 3, AT_Z, AT_START };

struct solver {
    const char *name, *about, *source;
    const char *needs;        /* "a square matrix with no zero on the diagonal" */
    const char *advice;       /* when it diverges or stands still */
    const char *cost, *when;  /* what an iteration does and how many vectors that takes; when to take it: for `help` */
    int vectors;              /* device vectors besides x and b */
    /* It has stagnated after so many iterations without a gain of 1%: window, for a matrix of many rows more, namely
       rows * window_a_row up to window_most. */
    int window, window_a_row, window_most;
    bool symmetric;           /* is only right for a symmetric matrix */
    bool diff;                /* measures max |x' - x|, so that eps can be its stop rule */
    double omega;             /* the usual relaxation; 0: it has none */
    bool restarts;            /* every m iterations */
    bool turns;               /* two vectors take turns: its launches repeat after two iterations */
    bool own_precond;         /* applies the preconditioner by itself, which must be symmetric */
    bool no_precond;          /* can take none */
    bool probes;              /* v[0] is the x of the last record, so that b - A x can be looked at between */
    /* Products with A in an iteration, each with M^-1 as well where there is a preconditioner; one that restarts has one
       more in a cycle. */
    int products;
    double (*bytes)(const struct csr *A, size_t real, int64_t m); /* no iteration can move fewer (solvers.md) */
    int64_t (*held)(const struct solve *v); /* bytes on its device besides v->v[]; NULL: none */
    bool (*init)(struct solve *v, struct err *e);  /* checks, first residual */
    bool (*step)(struct solve *v, struct err *e);  /* queue one iteration */
    /* Told that it converged: compute the true residual, or go on (s[S_DONE] = 0); NULL: what it records is sure. */
    bool (*settle)(struct solve *v, struct err *e);
    bool (*finish)(struct solve *v, struct err *e); /* leave x in v[0]; may be NULL */
    /* What broke down, in words; NULL for a solver that cannot. */
    void (*explain)(const struct solve *v, char *out, size_t size);
};
extern const struct solver *const solvers[]; /* ended by NULL */
const struct solver *solver_find(const char *name);

struct solve_options {
    const struct solver *solver;
    const struct format *format; /* NULL: csr */
    const struct kernel *kernel; /* NULL: the usual one */
    struct device *dev;
    enum type real;
    double tol, eps;
    double omega;                /* 0: the solver's usual one */
    int64_t m;                   /* 0: as the solver estimates */
    int64_t maxit;
    const struct precond *pre;   /* NULL: none */
    int64_t pre_block;           /* rows of a block, of a preconditioner that has blocks; 0: the usual */
    bool modified, sums_host;    /* gmres: see struct solve */
    bool keeps;                  /* make checkpoints on the way */
    const double *b, *x0;        /* host, n values; x0 NULL = 0 */
    bool known_ones;             /* b = A * ones: the solution is known */
    bool force;                  /* take NaN and inf, go on through divergence and stagnation */
};
bool solve_begin(struct solve **v, struct session *s, struct matrix *m, const struct solve_options *o, struct err *e);
/* One slice, about `us` of work: queue iterations, read the record. RUNNING in v->reason means more to do. */
bool solve_slice(struct solve *v, double us, struct err *e);
/* Wait for what is still under way on the device, and take it over. */
bool solve_drain(struct solve *v, struct err *e);
/* True residual, x to the host, v->why; a solve still running is STOPPED. Gives the device's memory back. */
bool solve_end(struct solve *v, struct err *e);
void solve_free(struct solve *v);
/* Back by n iterations, 0 at the least: the nearest checkpoint before, and forward from there; the same bits where the
   kernel is deterministic. The solve is RUNNING and paused then. */
bool solve_back(struct solve *v, int64_t n, struct err *e);
/* Change what is given and go on from the x that is reached: tol and maxit in place, the others by beginning anew at this
   x, with the iterations counted on. Checkpoints of before are gone. */
struct solve_change {
    double tol, omega;           /* NaN: as it is */
    int64_t m, maxit;            /* -1: as it is */
    const struct precond *pre;   /* where change_pre is set; NULL: none from now on */
    bool change_pre;
    int64_t pre_block;
};
bool solve_change(struct solve *v, const struct solve_change *c, struct err *e);
/* The same, of a solve that may have ended: it goes on from its x, paused. A failure leaves it ended as it was. */
bool solve_again(struct solve *v, const struct solve_change *c, struct err *e);
/* Bytes that no iteration can do without, on average over a cycle; those of its preconditioner's applications too. NaN: it
   has one that is not made yet. */
double solve_bytes(const struct solve *v);
/* The time of an iteration since the solve was begun or begun anew: queued behind each other, where there were such. Of
   one that restarts it is the mean, since iterations of a cycle differ. NaN: there was none. */
double solve_each_us(const struct solve *v);
/* Bytes that the solve holds on its device: vectors, matrix, preconditioner, work space. */
int64_t solve_memory(const struct solve *v);
/* gmres: H, m + 1 rows of a column one after another, k = *columns of them, of the cycle under way (or of the last one);
   to[(m + 1) * m]. false: this solver has none. Waits for the device. */
bool solve_hessenberg(struct solve *v, double *to, int64_t *columns, struct err *e);
/* Give back what it holds on its device; the history and x stay. */
void solve_release(struct solve *v);

/* What no solver can take, said before anything is allocated: solve_check.c. */
bool solve_check(const struct csr *A, const struct solve_options *o, struct err *e);
/* ||x||_2 without overflow. */
double norm2(int64_t n, const double *x);

/* A vector of the solve on its device, in v->v[i]. */
bool solve_alloc(struct solve *v, int i, int64_t bytes, const char *what, struct err *e);
void solve_dealloc(struct solve *v, int i);

/* Between the files of a solve. solve_live.c: the live record. take: the records up to number `known`, which are complete. */
bool live_new(struct solve *v, struct err *e); /* and the scalars, which point to it */
bool live_take(struct solve *v, int64_t known, struct err *e);
bool live_read(struct solve *v, struct err *e);     /* wait for the device; take all, and its scalars */
bool live_poll(struct solve *v, int64_t until, struct err *e); /* until the records up to that one are there */
bool live_probe(struct solve *v, struct err *e);    /* queue a look at the true residual, now and then */
/* Note in v->parted that the residuals of iteration `at` are not the same any more, if they are not and were before. */
void live_compare(struct solve *v, int64_t at, double truth, double recursive);
void live_free(struct solve *v);
/* solver.c: put x0 (NULL: 0) and the scalars, begin the solver from there, record number v->base again. */
bool solve_start(struct solve *v, const double *x0, struct err *e);
bool solve_settle(struct solve *v, struct err *e);
/* s[i] = value, once the launches before are done. */
bool solve_set(struct solve *v, int i, double value, struct err *e);
/* solve_end.c: x as it is now, of the system that was given, in v->v[0]; and give back the vectors and the graph. */
bool solve_x(struct solve *v, struct err *e);
void solve_forget(struct solve *v);
void precond_drop(struct solve *v);
/* solve_check.c: do omega, m, the preconditioner and the like go with the solver? */
bool solve_check_numbers(const struct solve_options *o, struct err *e);
/* solve_back.c: make a checkpoint if it is time for one; forget them all. */
bool checkpoint_maybe(struct solve *v, struct err *e);
void checkpoints_free(struct solve *v);

/* For slv_*.c: the phases of an iteration. q = A p by the chosen kernel, or A M^-1 p. */
bool solve_spmv(struct solve *v, const void *p, void *q, struct err *e);
void phase_begin(struct solve *v, const char *name); /* ends the one before; NULL ends the last */
/* The bytes of a matrix as CSR. */
double csr_bytes(const struct csr *A, size_t real);
/* What bicgstab and qmrcgstab share (slv_bicgstab.c): q = A p and r -= alpha q; t = A r and omega; the explanation. */
bool bicg_half_step(struct solve *v, const void *p, void *q, const void *shadow, void *r, struct err *e);
bool bicg_second_product(struct solve *v, const void *r, void *t, struct err *e);
void bicg_explain(const struct solve *v, char *out, size_t size);
/* n doubles of the host to and from a device vector of v->real. */
bool solve_put(struct solve *v, void *to, const double *from, struct err *e);
bool solve_get(struct solve *v, double *to, const void *from, struct err *e);

#endif
