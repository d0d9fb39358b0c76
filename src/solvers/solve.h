/* A solve of A x = b: its state is on a device, and solve_slice advances it slice by slice. This header is for
   commands, races, views and tests; the solvers themselves use solve_state.h. */
#ifndef SOLVE_H
#define SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "base/precision.h"
#include "formats/stored.h"
#include "machine/cluster_ops.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "machine/passes.h"
#include "machine/reason.h"
#include "machine/spmm.h"
#include "matrix/csr.h"
#include "matrix/facts.h"
#include "matrix/norms.h"
#include "matrix/null_space.h"
#include "same_system.h"
#include "trust.h"

struct ordering; /* matrix/reorder.h */
struct precond;  /* precond.h */

/* enum reason, which states why a solve ended, is in machine/reason.h, because the device sets it. */
const char *reason_name(enum reason r); /* "converged", "broke-down", ... */
const char *reason_at(int i);           /* the name of the i-th reason, or NULL past the last */
const char *reason_text(enum reason r); /* a sentence with advice */

enum { SOLVE_VECTORS = 20, SOLVE_PHASES = 8, PRE_PARTS = 12, CHECKPOINTS = 16 };

/* The vectors of a solve on its device: first x and b, then the solver's own vectors (from VEC_OWN on), then seven more
   vectors at the end. If a preconditioner is applied from the right, the system is A M^-1 u = b - A x0; VEC_X then
   holds u, and VEC_B holds b - A x0. */
enum solve_vector {
    VEC_X,
    VEC_B,
    VEC_OWN,
    VEC_FINE_X = SOLVE_VECTORS - 7, /* refinement, in fp64: x, b, A x, and the next x */
    VEC_FINE_B,
    VEC_FINE_Q,
    VEC_FINE_NEXT,
    VEC_PROBE = SOLVE_VECTORS - 3, /* A x, while the true residual is computed between iterations */
    VEC_Z,                         /* M^-1 times a vector */
    VEC_X0                         /* x0, if VEC_X holds u */
};

/* The solver iterates on 2^-a A and 2^-b b, whose x is 2^(a-b) times that of A x = b. Powers of 2 change no digit. 0:
   the largest number of A, or of b, is in a range in which no square of a product overflows or underflows. */
struct solve_exponents {
    int a, b;
};
/* The exponents for a solve with vectors of type `real`. */
struct solve_exponents solve_exponents_of(const struct csr *A, const double *b, enum type real);

/* The matrix as its owner passes it to the solve; all members must outlive the solve. */
struct solve_matrix {
    const char *name;
    const struct csr *csr;
    struct solve_exponents exponents;
    /* in the format of the kernel, on the device of the solve; may be NULL only if b = 0, if the solver forms an
       iteration matrix, or if exponents.a is not 0: the solve then stores its matrix in the format of the kernel */
    struct mat *mat;
    struct mat *fine; /* for a solve that refines: the matrix in fp64, in the format of mat; otherwise NULL */
    const struct kernel *kernel; /* multiplies by mat, or by the iteration matrix */
    /* For a solver with transposed_products: A' on the host, A' in the format of mat, on the device of the solve (NULL
       as `mat` is), and the kernel that multiplies by it. Otherwise NULL. */
    const struct csr *transposed_csr;
    struct mat *transposed;
    const struct kernel *transposed_kernel;
    struct facts *facts; /* what is known of csr; the solve adds to it. NULL: the solve has facts of its own */
    struct watch *watch; /* shows progress and checks for Ctrl-C during long work on the host; may be NULL */
};

/* The phases of an iteration; each solver has some of these. */
enum solve_phase {
    PHASE_PRECOND,
    PHASE_SPMV,
    PHASE_SPMV_TRANSPOSED,
    PHASE_DOT,
    PHASE_DOTS,
    PHASE_SUMS,
    PHASE_UPDATE,
    PHASE_STEP,
    PHASE_DIRECTION,
    PHASE_SMOOTH,
    PHASE_SWEEP,
    PHASE_RESIDUAL,
    PHASE_SUBTRACT,
    PHASE_ROTATE,
    PHASE_SCALE,
    PHASE_RESTART,
    PHASES
};
const char *phase_name(enum solve_phase phase); /* "spmv", "dot", ... */

/* The time of a phase, measured in one iteration of a slice by waiting for the device before and after each phase. On a
   GPU, each wait adds some microseconds; all other iterations run without waits. */
struct phase {
    enum solve_phase id;
    double us; /* summed over n samples */
    int64_t n;
};

/* Does a launch do a part of an iteration, or many iterations of a small system? AUTO: many iterations, if the system
   is small enough, if launches take time on the device, and if the user chose no kernel. */
enum solve_launches { LAUNCHES_AUTO, LAUNCHES_ONE, LAUNCHES_MANY };

/* What is projected out of a solve with a singular A: constants that A maps to 0, if there are any; these, or an error;
   given vectors; nothing. */
enum solve_null_choice { NULL_FOUND, NULL_CONSTANTS, NULL_GIVEN, NULL_NOTHING };
/* The null space of A, which is projected out of b once, out of A p and M^-1 r in each iteration, and out of x at the
   end. A solve without one has of.right.count = 0. */
struct solve_null {
    enum solve_null_choice choice;
    struct null_space of; /* in the vectors of A x = b */
    double share;         /* the part of b in the left null space, relative to ||b||: no x solves it */
    bool iterated;        /* the iteration projects; otherwise, only b and x are projected */
    int64_t on_device;    /* vectors in `right` and in `left`; 0: none */
    void *right, *left;   /* left: the same as `right`, or NULL if the left vectors are not known */
};
enum { NULL_ON_DEVICE = 16 }; /* the most vectors on the device */

/* The settings of a solve, with defaults filled in. */
struct solve_settings {
    double tol;    /* limit for ||r|| / ||b|| */
    double eps;    /* limit for max |x' - x|; 0: no limit */
    double conlim; /* least squares: limit for the estimate of the condition of A */
    double omega;  /* relaxation factor, for solvers that use a relaxation factor */
    int64_t m;     /* iterations per cycle, for solvers that restart */
    int64_t maxit;
    int64_t window;   /* the solve has stagnated after this many iterations without a gain of 1% */
    bool modified;    /* gmres: modified Gram-Schmidt instead of two passes of classical Gram-Schmidt */
    bool sums_host;   /* the host adds the sums of the thread blocks, as in the thesis */
    bool least_host;  /* gmres: the host solves the least-squares problem of a cycle, as in the thesis */
    bool form_matrix; /* jacobi, wjacobi: form B and f once, and iterate x' = B x + f */
    bool force;       /* accept NaN and inf, and continue in spite of divergence, stagnation and breakdown */
    enum solve_launches launches;
    bool kernel_chosen; /* the user chose the kernel, so each iteration launches it */
};

/* Host arrays indexed by iteration, v->iterations + 1 entries each; owned. */
struct solve_history {
    double *residual; /* ||r|| / ||b|| of the recursive residual */
    /* cg: the coefficients in x += alpha p and p = r + beta p. minres: the last row of the tridiagonal matrix of
       Lanczos. Solvers of least squares: see solve_least_at. Meaningful only for these, bicgstab and qmrcgstab. */
    double *alpha, *beta;
    double *stamp; /* time at which the record was written, in us since the first record */
    double stamp0; /* the device's clock at the first record, in us */
    int64_t room;  /* entries allocated in each array */
    /* True residuals: ||b - A x|| / ||b||, computed from x every few hundred iterations, in the precision of the
       solve. */
    struct truth {
        int64_t iteration;
        double residual;
    } * truth;
    int64_t ntruth, truth_room;
    /* the first iteration at which the true residual was far above the recursive residual; if separated_at is v->base
       or less, the two residuals agree */
    int64_t separated_at;
};

/* The iterations queued on the device, and how many to queue next. */
struct solve_schedule {
    int64_t queued; /* iterations since v->base */
    /* number of queued iterations that had no effect, because they came after a convergence that the true residual
       refuted */
    int64_t lost;
    int64_t cycle_from; /* value of `queued` when the first cycle of a solver that restarts began */
    int64_t probed_at;  /* value of `queued` when the true residual was last computed */
    int64_t batch;      /* number of iterations queued by the last slice */
    int64_t slices;
    bool ahead;  /* launches may still be running on the device */
    void *graph; /* recorded launches of graph_n iterations; NULL: none */
    int64_t graph_n;
    bool no_graph; /* launches cannot be recorded, or recording them saves no time */
    /* if it has blocks: a launch does many iterations (see cluster_used) */
    struct cluster_plan cluster;
};

/* Restarts after breakdowns, for solvers with `recover`. A breakdown ends the solve if it comes before the first
   iteration after a restart. */
struct solve_recoveries {
    int64_t n;
    int64_t at; /* the iteration of the last restart, or v->base */
    int what;   /* S_WHAT of the last breakdown (reason.h) */
};

/* Iterative refinement: the solver iterates in fp32 on A d = r, where r = b - A x is computed in fp64. When d is
   accurate enough, x += d, and the solver starts again with the new r. Meanwhile VEC_X holds d, and VEC_B holds r. */
struct solve_refine {
    bool on;
    double us; /* time of all refinements */
    struct refine_state {
        int64_t n;       /* refinements so far */
        int64_t at;      /* the iteration of the last refinement, or v->base */
        int64_t from;    /* the iteration at which the solver last started again, or v->base */
        double residual; /* ||b - A x|| / ||b|| in fp64 after the last refinement */
        double gain;     /* the factor by which the last refinement reduced it; NaN: none was made */
        double aim;      /* the factor by which the inner solve is to reduce it before the next refinement */
        bool over;       /* x is accurate enough, or further refinements are useless */
        bool useless;
    } now;
};

struct solve_time {
    double us, base_us;  /* time spent on iterations: in total, and up to iteration v->base */
    double us_iteration; /* time per iteration; iterations that ran with waits count only if there are no others */
    double rate_us;      /* time per iteration, computed from the last records; determines the size of the next batch */
    double free_us;      /* time of the free_n iterations that ran without waits */
    int64_t free_n;
    struct copied copied; /* vectors copied to the device and back; 0 if the device works in host memory */
    double returned_at;   /* now_us at the end of the last slice */
    struct phase phase[SOLVE_PHASES];
    int nphases;
    struct phase *in_phase; /* current phase of the iteration being sampled */
    double phase_from;      /* now_us when that phase began */
    bool sampling;
    struct err error; /* the first error while sampling */
};

/* The operations of a cycle of a solver that restarts, as THESIS table 3.1 lists them. A pass of the device may do
   several of them: one pass subtracts all columns of the basis from a vector. */
enum solve_operation {
    OP_SPMV,
    OP_DOT,
    OP_NORM,
    OP_UPDATE, /* y += a x, or y = b - y */
    OP_SCALE,
    OP_BASIS, /* V y, for the basis V */
    OP_LEAST_SQUARES,
    OP_LEAST_OPERATIONS, /* additions, multiplications, divisions and roots of a least-squares problem on the host */
    OP_PASS,             /* calls that launch work on the device, SpMVs included */
    OPERATIONS_OF_CYCLE
};
/* The estimate of m from a short cycle, if the user gave no m (THESIS 3.3.3). */
struct restart_estimate {
    bool made;
    double tau;   /* the factor by which the cycle reduced the residual */
    double delta; /* mean number of entries per row */
    double m;     /* by the formula, before it is kept within bounds; infinite if the residual did not fall */
};
struct solve_work {
    int64_t now[OPERATIONS_OF_CYCLE];   /* since the last restart */
    int64_t cycle[OPERATIONS_OF_CYCLE]; /* in the last cycle of m iterations; all 0: there was none */
    bool repeated; /* iterations of this cycle were undone or repeated, so the cycle will not be reported */
};

/* How a preconditioner that consists of two sparse triangles is made and applied. */
enum triangle_way {
    TRIANGLES_AUTO,      /* by levels or sync-free, as predicted to be faster */
    TRIANGLES_LEVELS,    /* a launch per level, or per run of narrow levels */
    TRIANGLES_SYNC_FREE, /* one launch per triangle */
    TRIANGLES_SWEEPS     /* approximately, by sweeps of Jacobi's method */
};
enum { SWEEPS_MAX = 1000 };
/* A number that the user may give; otherwise the default. */
struct given {
    bool set;
    double value;
};
struct triangle_settings {
    enum triangle_way way;
    int64_t sweeps;               /* for TRIANGLES_SWEEPS */
    const struct ordering *order; /* of the rows before they are factorised; NULL: the order of A */
    /* keep the order of A. Otherwise, if `way` is TRIANGLES_AUTO and `order` is NULL, the rows of a large matrix are
       ordered by colours if this is predicted to be faster. */
    bool natural;
    struct given shift; /* of small pivots; see pivots.h. 0: pivots stay as they are */
    struct given drop;  /* ilut: what is dropped, relative to the 2-norm of the row of A */
    struct given fill;  /* ilut: entries that a row of L, or of U, may have in addition to those of A */
};

/* The near-null vectors of multigrid: vectors x for which A x is almost 0, which the coarse levels must represent. */
enum near_kind {
    NEAR_DEFAULT,  /* NEAR_CONSTANT if blocks are chosen; otherwise ones */
    NEAR_CONSTANT, /* for each unknown of a node: 1 for this unknown of all nodes, 0 for the others */
    NEAR_RIGID,    /* rigid-body modes: 3 in 2 dimensions, 6 in 3 */
    NEAR_ADAPTIVE  /* what is left of random vectors after sweeps of relaxation on A x = 0 */
};
enum { NEAR_VECTORS = 12, NEAR_ADAPTIVE_DEFAULT = 4 }; /* most vectors */
struct near_settings {
    enum near_kind kind;
    int64_t vectors;      /* of NEAR_ADAPTIVE; 0: the default */
    double *coordinates;  /* of NEAR_RIGID: [axes * points], one axis after another */
    int64_t points, axes; /* axes: 2 or 3 */
    char from[80];        /* the file of the coordinates */
};

/* How a preconditioner for saddle points is made (pre_schur.c). */
struct schur_settings {
    const struct precond *inner;      /* for the block with a diagonal; NULL: chosen by what A is */
    const struct precond *complement; /* for the Schur complement of the zero block; NULL: as `inner` */
    const struct csr *mass;           /* in place of that complement; NULL: it is computed */
};

struct solve_precond {
    const struct precond *method; /* NULL: none */
    int64_t block;                /* rows per block; 0: the default */
    struct near_settings near;    /* its coordinates are owned by the solve */
    struct triangle_settings triangles;
    struct schur_settings schur;  /* its mass matrix is owned, and stays when the preconditioner changes */
    const struct ordering *order; /* the order of the rows of the triangles; NULL: the order of A */
    void *part[PRE_PARTS];        /* on the device */
    int64_t note[PRE_PARTS];      /* numbers that describe the parts, such as lengths and levels */
    void *host;                   /* the method's data on the host; method->drop frees it */
    double us;                    /* time to make the preconditioner */
    int64_t held;                 /* bytes of the parts on the device */
    double bytes;                 /* bytes moved each time the preconditioner is applied */
    bool made;
};

/* gmres: its Hessenberg matrix for a view, copied by the thread that iterates. */
struct solve_krylov {
    bool wanted;         /* by a view */
    bool fresh;          /* the view has not seen this copy */
    double *H;           /* owned; see solve_hessenberg; NULL: none yet */
    int64_t columns, ld; /* of H; ld is m + 1 */
    int64_t iterations;  /* the iteration and the residual of the solve at the time of the copy */
    double residual;
};

struct solve_checkpoints {
    bool wanted; /* make checkpoints, so that the solve can go back */
    int n;
    struct checkpoint {
        int64_t iterations, queued, cycle_from;
        struct solve_recoveries recoveries;
        struct refine_state refine;
        void *data;
    } at[CHECKPOINTS];
    double us;      /* time that the last checkpoint took */
    double made_at; /* now_us when the last checkpoint was made */
};

/* How Ctrl-C ends an iteration on a device that finishes each launch before the call returns. Until an iteration calls
   cut_hold, it has changed only vectors that the iteration computes again when it is repeated. */
enum { CUT_VECTORS = 8 };
struct solve_cut {
    bool now;     /* Ctrl-C ended the last slice */
    int stage;    /* the part of the iteration that comes next; 0 unless Ctrl-C ended the iteration between two parts */
    bool holding; /* true from cut_hold to cut_release, while launches change vectors */
    bool copied;  /* `part` holds the vectors at cut_hold; otherwise the iteration cannot end before cut_release */
    struct watch *watch; /* if `copied` is false: this thread's watch, which is off from cut_hold to cut_release */
    int n;
    struct {
        int vec;     /* the index of the vector; -1: the scalars */
        void *saved; /* the copy, on the device; NULL: none */
        int64_t bytes, room;
    } part[CUT_VECTORS];
    double known; /* the live record at cut_hold */
};

/* Where b comes from, for the report. */
struct solve_right {
    char name[160]; /* as in `solve cg b NAME`; "": not known */
    bool from_file;
    bool given;              /* the file is that of the matrix */
    bool is_product;         /* b is A times a known x, so it is in the range of A */
    bool replaces_ones;      /* b is not A * ones, because that tests nothing */
    int64_t column, columns; /* b is this column, counted from 0, of `columns` */
};

/* A solve of another system with the same solution: of the equilibrated system R A C y = R b, with R_ii = 2^row[i],
   C_jj = 2^col[j] and x = C y; or of the reordered system P A Q' y = P b, with x = Q' y; or of both, P R A C Q'. While
   the solve is `inside`, its matrix, b and x are those of the other system; otherwise those of A x = b. */
struct solve_scaling {
    const struct csr *of;           /* A; NULL: the solve is of A x = b itself */
    const int *row, *col;           /* of of->rows and of->cols; lent, like A; NULL: the system is not equilibrated */
    const int *row_swap, *col_swap; /* P and Q as exchanges (reorder_swaps), lent; NULL: the order stays */
    const struct ordering *order;   /* gave P and Q */
    const struct csr *scaled;       /* P R A C Q' */
    bool inside;
    double tol; /* on the residual of A x = b; that of the other system is set.tol */
};

/* How well x solves a least-squares problem. With the preconditioner `columns`, D = diag(||a_j||), all three are those
   of A D^-1 and D x. `norm` is the Frobenius norm of A; a solver estimates it from below (Paige and Saunders 1982). */
struct least {
    double normal;   /* ||A' r|| / (||A|| ||r||): 0 for the least-squares solution */
    double backward; /* ||r|| / (||A|| ||x|| + ||b||): 0 for a solution of A x = b */
    double norm;
};
/* The first two after iteration k, as the solver has them; NaN if the solver does not measure them. */
struct least solve_least_at(const struct solve *v, int64_t k);

struct solve_result {
    double *x;              /* the solution on the host, after solve_end; NULL if `later` is set */
    bool later;             /* x is computed when solve_fetch_x is called; until then, memory on the device is kept */
    double residual_true;   /* b - A x in double, relative to ||b|| */
    struct least least;     /* of a solver of least squares; NaN: not known */
    bool known;             /* the solution is known: `truth`, or all ones (b = A * ones) if `truth` is NULL */
    double *truth;          /* owned; an accurate solution, as from a direct solver; v->n numbers */
    const char *truth_from; /* "direct", "file" or "varied"; a static string; NULL if `truth` is NULL */
    bool up_to_constant;    /* truth + c solves the system, too: the error leaves the mean of x - truth out */
    double error_known;     /* the relative error of x with respect to the known solution; NaN: unknown */
    double truth_error;     /* see struct solve_options */
    struct trust trust;     /* set by the caller of solve_end: how many digits of x are correct */
};

struct solve;
/* The system that the solver iterates on: that of the user, times the powers of 2 in v->matrix.exponents. */
struct solve_system {
    const struct csr *A; /* v->matrix.csr, or `scaled` */
    const double *b;     /* v->b, or `scaled_b` */
    double b_norm;
    struct csr scaled; /* its values are owned; its pattern is that of v->matrix.csr */
    double *scaled_b;
    struct csr scaled_transposed; /* likewise, for a solver with transposed_products */
    struct solve_stored {
        struct stored S;
        struct mat M;
    } stored[3]; /* `scaled` on the device: v->matrix.mat, v->matrix.fine and v->matrix.transposed */
};

/* Another program that iterates in place of the device, such as PETSc on several processes (src/ranks). */
struct solve_engine {
    /* Take the iterations that were done meanwhile, for about `us` microseconds; obey v->paused and v->steps_left.
       While steps are left, return when they are done. */
    bool (*slice)(struct solve *v, double us, struct err *e);
    /* Stop if v->reason is RUNNING, which then becomes STOPPED, and fetch v->result.x. After Ctrl-C (soon), fail rather
       than take long. */
    bool (*end)(struct solve *v, bool soon, struct err *e);
    /* Write the reason for the end to out. Returns the index of the text after "converged: ", or 0. */
    int (*explain)(const struct solve *v, char *out, size_t size);
    void (*drop)(struct solve *v); /* stop, and free v->engine.data */
};

/* A solve of several columns at a time (batch.h): v->n and v->n_b count the numbers of all columns, and the vectors on
   the device hold them row by row (machine/vec_ops.h). It has no history, and its products are those of an SpMM. */
struct solve_columns {
    int n;                            /* columns; 0: a solve of one right side */
    const struct spmm_kernel *kernel; /* multiplies by v->matrix.mat */
    struct spmm launch;               /* without x and y */
    const double *b_norm;             /* ||b|| of each column; lent */
};

struct solve {
    const struct solver *solver;
    struct solve_matrix matrix;
    struct solve_columns columns;
    struct device *dev;
    enum type real;           /* of the numbers in vectors: T_F32 or T_F64 */
    enum precision precision; /* of a real A in the solver; narrow only if the solve refines */
    int64_t n;                /* numbers in x: the columns of A, or twice as many if A is complex (see solve_numbers) */
    int64_t n_b;              /* numbers in b and in a residual: of the rows */
    double *b, b_norm;        /* the right-hand side on the host, and its 2-norm */
    struct solve_system system;
    struct solve_right right;
    struct solve_settings set;
    struct restart_estimate estimate;

    /* progress */
    enum reason reason;     /* RUNNING until the solve ends */
    char why[400];          /* after solve_end: the reason as a sentence, with figures and advice */
    char next[400];         /* after solve_end: the command to try next; "" if the solve converged or was stopped */
    const char *next_why;   /* why that command may help; NULL: the command says so itself */
    struct solve_same same; /* see struct solve_options */
    struct facts own_facts; /* if the owner of the matrix keeps none */
    int why_detail;         /* index in `why` of the text after "converged: "; else 0 */
    int64_t iterations;     /* iterations done, according to the records that the host has read */
    /* the iteration at which the solver last started: 0, or the iteration at which a setting was changed */
    int64_t base;
    double residual; /* the recursive residual, relative to ||b|| */
    bool negated;    /* cg: the diagonal of A is negative, so cg solves -A x = -b, which has the same x */
    double max_diff; /* max |x' - x| of the last iteration */
    bool from_zero;  /* x0 = 0, so that a solver of least squares finds the x of least norm */
    bool paused;
    int64_t steps_left; /* pause after this many iterations; 0: do not pause */
    int64_t memory;     /* see solve_memory */
    struct solve_krylov krylov;

    /* on the device */
    void *vec[SOLVE_VECTORS]; /* indexed by enum solve_vector; a solver's file has an enum for its own vectors */
    int64_t vec_bytes[SOLVE_VECTORS];
    size_t vec_numbers[SOLVE_VECTORS]; /* bytes of a number of vec[i]; 0: vec[i] holds no vectors */
    double *scalars;                   /* VEC_WORK doubles: the scalars (enum in machine/vec_ops.h) and work memory */
    double *host_scalars;              /* as last read */
    struct {
        const struct vec_ops *vec;
        const struct passes *passes; /* in place of those that PASS names, for tests; NULL: none */
        enum type type;              /* of an element, for the passes */
        enum pass_sums sums;
    } ops;
    struct {
        volatile double *record;
        void *on_device;
    } live;            /* the live record: its addresses on the host and on the device */
    void *solver_data; /* the solver's data on the host, which are freed with its vectors */

    struct {
        const struct solve_engine *runs; /* NULL: the solver iterates on the device */
        void *data;
        int ranks;            /* processes */
        bool factors;         /* the preconditioner is a factorisation of A, and solves the system */
        double set_up_us;     /* time before the first iteration, with the preconditioner */
        const char *residual; /* what the history holds: "||r|| / ||b||" */
        char about[160];      /* who iterates: "PETSc 3.18.5 on 4 ranks" */
        char options[400];    /* as the engine got them */
    } engine;
    bool holds_sums; /* the solve uses the block sums of its device */
    struct solve_precond pre;
    struct solve_history history;
    struct solve_schedule schedule;
    struct solve_recoveries recoveries;
    struct solve_refine refine;
    struct solve_time time;
    struct solve_work work;
    struct solve_checkpoints checkpoints;
    struct solve_cut cut;
    struct solve_scaling scaling;
    struct solve_null null;
    struct solve_result result;
};

struct solve_options {
    const struct solver *solver;
    const struct format *format; /* used to choose the kernel; NULL: csr */
    const struct kernel *kernel; /* NULL: the default kernel of the format */
    struct device *dev;
    enum precision real;
    double tol, eps;
    double conlim; /* 0: the default, a tenth of 1 / the unit roundoff */
    double omega;  /* 0: the solver's default */
    int64_t m;     /* 0: the solver estimates m */
    int64_t maxit;
    const struct precond *pre;            /* NULL: none */
    int64_t pre_block;                    /* rows per block, if the preconditioner has blocks; 0: the default */
    struct near_settings near;            /* if the preconditioner has near-null vectors; the solve copies them */
    struct triangle_settings triangles;   /* if the preconditioner has triangles */
    struct schur_settings schur;          /* if it is for saddle points; the mass matrix is copied */
    bool modified, sums_host, least_host; /* see struct solve_settings */
    bool form_matrix; /* see struct solve_settings; the format is then that of the iteration matrix */
    enum solve_launches launches;
    bool refine;                   /* see struct solve_refine; `real` is then P_F32 */
    enum precision stored;         /* if `refine` is set: that of A in the solver, P_F32, P_F16_F32 or P_BF16_F32 */
    bool keeps;                    /* make checkpoints */
    const double *b, *x0;          /* on the host, solve_numbers each; x0 NULL: start from 0 */
    bool known_ones;               /* b = A * ones: the solution is known */
    const struct solve_same *same; /* the words of the line that repeat b, tol and device; NULL: none */
    const double *truth;           /* if known_ones is not set: an accurate solution, solve_numbers; NULL: none */
    const char *truth_from;        /* see struct solve_result */
    double truth_error;            /* of the truth itself, relative; 0: it is exact, NaN: not known */
    bool up_to_constant;           /* truth + c solves the system, too, for any constant c */
    struct solve_right right;
    bool force;                     /* see struct solve_settings */
    bool scaled;                    /* wanted by the user; the caller then sets `scaling` */
    const struct ordering *reorder; /* the same; NULL: not wanted */
    /* If `of` is set, the matrix of the solve is scaling.scaled; b and truth are those of A x = b, and x0 was mapped by
       scaling_map_x. */
    struct solve_scaling scaling;
    enum solve_null_choice null;
    double *null_vectors; /* for NULL_GIVEN: null_columns vectors, one after another, which `null_from` names */
    int64_t null_columns;
    const char *null_from;
};
/* From the vectors of the other system to those of A x = b: multiply x by C Q', b by R^-1 P'. `back`: the inverse. */
void scaling_map_x(const struct solve_scaling *by, bool pairs, bool back, double *x);
void scaling_map_b(const struct solve_scaling *by, bool pairs, bool back, double *b);
/* The numbers in the x of a solve with A. If A is complex, an element of a vector is a pair of a real and an
   imaginary part. cg, minres and qmrcgstab treat the parts as separate unknowns: they solve the real system that is
   equivalent to A x = b, and only the products with A and M^-1 are complex. The other solvers compute with complex
   numbers. For a hermitian A, the iterates of cg and minres are those of the complex methods, because all their inner
   products are real. qmrcgstab, and gmres with `sums host`, may need more iterations than with complex coefficients. */
int64_t solve_numbers(const struct csr *A);
int64_t solve_numbers_of_b(const struct csr *A); /* in b and in a residual */
bool solve_complex_steps(const struct solve *v); /* does v compute with complex coefficients? */
enum type solve_type(const struct solve *v);     /* the type of the elements of A: v->real, or pairs of v->real */
/* Check the matrix, the options and the values. Call this function before anything is allocated or packed. */
bool solve_check(const struct csr *A, const struct solve_options *o, struct err *e);
/* Check the options and begin to solve with a matrix on o->dev. If b = 0, A->mat and A->kernel may be NULL. */
bool solve_begin(struct solve **v, const struct solve_matrix *A, const struct solve_options *o, struct err *e);
/* Begin a solve that another program will iterate: the caller, which has checked the options, sets v->engine. If b = 0,
   the solve has ended already. */
bool solve_begin_engine(struct solve **v, const struct solve_matrix *A, const struct solve_options *o, struct err *e);
/* Run one slice, which is about `us` microseconds of work: queue iterations and read their records. Call again while
   v->reason is RUNNING. If Ctrl-C ends an iteration, v->cut.now is set, and v holds the state after the previous
   iteration; the next slice repeats the iteration that was ended. */
bool solve_slice(struct solve *v, double us, struct err *e);
/* For an engine: append iteration n, which ended `us` microseconds after the start of the iterations. */
bool solve_record(struct solve *v, int64_t n, double residual, double us, struct err *e);
/* Wait for the launches that are still running on the device, and read their records. */
bool solve_drain(struct solve *v, struct err *e);
/* Stop the solve if it is running; copy x to the host, compute the true residual, and fill in v->why. Frees the memory
   on the device. */
bool solve_end(struct solve *v, struct err *e);
/* Like solve_end, but after Ctrl-C, so that the prompt returns soon: x is left for solve_fetch_x if it takes long to
   compute, and the true residual stays unknown if it takes longer than `us` microseconds. */
enum { SOLVE_SOON_US = 12000 };
bool solve_end_soon(struct solve *v, double us, struct err *e);
/* Has the solve ended with an x? */
bool solve_has_x(const struct solve *v);
/* Compute v->result.x now, unless it is already there. Ctrl-C ends the computation, which can then be repeated. */
bool solve_fetch_x(struct solve *v, struct err *e);
/* The limit of iterations to try next: larger than the one before, and enough at the rate so far. solve_may_go_on: is
   that limit in proportion to the size of the system? */
int64_t solve_larger_limit(const struct solve *v);
bool solve_may_go_on(const struct solve *v);
void solve_free(struct solve *v);
/* Go back by n iterations, but not before v->base: restore the last checkpoint before that iteration and iterate from
   there; the results are bit-identical if the kernel is deterministic. Afterwards, the solve is RUNNING and paused. */
bool solve_back(struct solve *v, int64_t n, struct err *e);
/* Change settings and continue from the current x: a change of tol or maxit takes effect without a restart; a change of
   any other setting restarts the solver from this x. The iteration count continues. A restart drops the earlier
   checkpoints. */
struct solve_change {
    double tol, omega;         /* NaN: unchanged */
    int64_t m, maxit;          /* -1: unchanged */
    const struct precond *pre; /* the new preconditioner, if change_pre is set; NULL: remove the preconditioner */
    bool change_pre;
    int64_t pre_block;
    struct near_settings near; /* solve_change copies it */
    struct triangle_settings triangles;
    struct schur_settings schur; /* without a mass matrix: that of the solve stays */
};
bool solve_change(struct solve *v, const struct solve_change *c, struct err *e);
/* Like solve_change, but also for a solve that has ended. The solve continues from its x and is paused. If this
   function fails, the solve remains ended. */
bool solve_again(struct solve *v, const struct solve_change *c, struct err *e);
/* A solve of a scaled system ended because its residual met tol, but that of A x = b did not, because its norm weighs
   rows otherwise: let it go on from this x with a smaller tol. Returns false, and the solve remains ended, if it ended
   for another reason, or if tol cannot be smaller. */
enum { TIGHTEN_MAX = 4 }; /* times */
bool solve_tighten(struct solve *v);
/* The minimum number of bytes moved per iteration, including the preconditioner. For a solver that restarts, this is
   the mean over a cycle. NaN if the preconditioner has not been made yet. */
double solve_bytes(const struct solve *v);
/* The same for vectors and values in fp64. */
double solve_bytes_fp64(const struct solve *v);
/* The bytes that a refinement moves: one product, and the vectors. */
double solve_refine_bytes(const struct solve *v);
/* Does each launch do many iterations of a small system? */
bool cluster_used(const struct solve *v);
/* The iteration after which the recurrences of the solver have not been restarted, by a change or by a refinement. */
int64_t solve_started_at(const struct solve *v);
/* The precision in which tol must be within reach: fp64 for a solve that refines. */
enum type solve_reach(const struct solve *v);
/* The time per iteration since the solver last started, in us. If iterations were queued without waits between them,
   only these iterations count. For a solver that restarts, the result is the mean of all iterations, since the
   iterations of a cycle differ. NaN if no iteration was done. */
double solve_each_us(const struct solve *v);
/* Bytes allocated on the device after the last slice: vectors, matrix, preconditioner, work memory. */
int64_t solve_memory(const struct solve *v);
/* gmres: fill to[(m + 1) * m] with the Hessenberg matrix of the current cycle or, at a restart, of the last cycle. The
   matrix has *columns columns of m + 1 rows each. Returns false if this solver has no Hessenberg matrix. Waits for the
   device. */
bool solve_hessenberg(struct solve *v, double *to, int64_t *columns, struct err *e);
/* Copy that matrix to v->krylov; not if there is none. Like solve_slice, only for the thread that iterates. */
void solve_copy_hessenberg(struct solve *v);
/* Copy what a view has asked for, such as that matrix. solve_slice does this. */
void solve_publish(struct solve *v);
/* Set v->paused, which the screen thread reads. */
void solve_pause(struct solve *v, bool paused);
/* Free all memory on the device, but keep the history and x. */
void solve_release(struct solve *v);

const char *operation_key(enum solve_operation op); /* its key in JSON: "cycle_spmvs", ... */

/* Can the x of a paused solve be read between iterations, without changing the solve? */
bool solve_shows_x(const struct solve *v);
/* Copy the x of the paused solve to x[n] on the host. Waits for the device. */
bool solve_read_x(struct solve *v, double *x, struct err *e);

/* For a solver of least squares with a known solution y: ||A z|| / (||A||_F ||z||), z = x - y. If it is almost 0, so is
   a singular value of A, and x is not unique up to that. NaN: not known. */
double least_dependence(const struct solve *v);

/* Does the solve multiply by M? solve_moved: M is now at `to`. */
bool solve_uses(const struct solve *v, const struct mat *M);
void solve_moved(struct solve *v, const struct mat *from, struct mat *to);

/* The number of bytes of a matrix in CSR form. */
double csr_bytes(const struct csr *A, size_t real);

#endif
