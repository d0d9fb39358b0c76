/* Devices, kernels and vectors on devices, as the host sees them; no CUDA here. */
#ifndef DEVICE_H
#define DEVICE_H

#include "format.h"
#include "registry.h"
#include "warpspy.h"

#ifdef __cplusplus
extern "C" {
#endif

enum device_kind { DEV_CPU, DEV_EMU, DEV_CUDA };

/* Measured once per device by device_ceilings; 0 = not measured. */
struct ceilings {
    bool measured;
    double read_gbs, copy_gbs; /* streaming, far above the cache */
    double cache_gbs;          /* reading what fits the last-level cache */
    double gather_gps;         /* 10^9 random 8-byte gathers a second from a vector beyond the cache */
    double launch_us;          /* one empty launch */
};

struct device;
struct device_ops {
    /* Device memory, 256-byte aligned. Copies are complete on return. */
    void *(*alloc)(struct device *d, int64_t bytes, const char *what, struct err *e);
    void (*free)(struct device *d, void *p);
    bool (*put)(struct device *d, void *to, const void *from, int64_t bytes, struct err *e);
    bool (*get)(struct device *d, void *to, const void *from, int64_t bytes, struct err *e);
    /* Wait for all launches; reports what went wrong in them (a CUDA error, an emulator finding). */
    bool (*sync)(struct device *d, struct err *e);
    /* us[0..reps-1] = time of each go(ctx), by device events where there are some. */
    bool (*time)(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                 struct err *e);
    /* bytes of memory free now and in all */
    bool (*memory)(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e);
    bool (*reset)(struct device *d, struct err *e); /* after loss; all device memory is gone */
    /* Memory of the host, all zeros, that launches write to, at *on_device for them. What a launch wrote is there for
       the host once a later one of the same stream has written. */
    void *(*share)(struct device *d, int64_t bytes, const char *what, void **on_device, struct err *e);
    void (*unshare)(struct device *d, void *host);
    bool (*idle)(struct device *d); /* are all launches done? does not wait. NULL: each is done when it returns */
    /* The launches of go(ctx) as a graph, instead of running them: replay runs them all for less than they cost one by
       one. NULL: this device has no graphs. capture gives NULL where it did not work, with no harm done. */
    void *(*capture)(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx);
    bool (*replay)(struct device *d, void *graph, struct err *e);
    void (*forget)(struct device *d, void *graph);
    void (*close)(struct device *d);
};

struct device {
    char name[16];   /* cpu, emu, cuda:0 */
    char about[160]; /* model, multiprocessors or threads, memory, driver */
    enum device_kind kind;
    const struct device_ops *ops;
    int units; /* multiprocessors, or threads */
    bool lost; /* a sticky error happened; reset or go on with another */
    struct ceilings ceilings;
    void *impl;
    void *stream; /* cudaStream_t, or NULL */
};

/* The device called `name` ("cpu", "emu", "cuda:N", "cuda" = cuda:0), opened at first use; NULL and an error
   that lists what exists. Devices live until devices_close. */
struct device *device_open(const char *name, struct err *e);
struct device *device_default(void);     /* cuda:0 if there is one, else cpu; cheap until first use */
int device_count(enum device_kind kind); /* without initialising CUDA more than needed */
void devices_close(void);
bool device_ceilings(struct device *d, struct watch *w, struct err *e);
/* Tests: register a device under its name (dev_fake.c). */
bool device_register(struct device *d);

/* What kernels keep on a device beside a stored matrix, made at their first launch: counters, tile starts. */
struct scratch {
    const struct kernel *kernel;
    void *p;
    uint64_t note; /* a number to go with it: the handle of a texture, the size of a block */
    double us;     /* it took to make */
    struct scratch *next;
};

/* A stored matrix on a device. */
struct mat {
    const struct stored *of;
    struct device *dev;
    void *ptr[ARRAYS_MAX];
    struct scratch **scratch; /* the head of a list that launches add to */
};
bool mat_put(struct mat *M, const struct stored *S, struct device *d, struct err *e);
void mat_free(struct mat *M);

/* One multiplication to launch: y = alpha A x + beta y. x: cols values, y: rows values, of S->real.
   beta == 0 means y is not read (it may hold NaN). Asynchronous on cuda. */
struct launch {
    const struct mat *A;
    double alpha, beta;
    const void *x;
    void *y;
    int threads; /* host kernels: OpenMP threads, 0 = all */
    /* Not NULL: as in cg_ops.dots, also x.y, y.y and perhaps r.y, with alpha 1 and beta 0; for kernels with `sums`. */
    double *s;
    const void *r;
    /* filled in by kernel_launch, for kernels that keep some */
    void *scratch;
    uint64_t *note; /* written by prepare */
};

/* A kernel is an entry at the end of k_FORMAT.cu and one line in kernels.def. */
struct kernel {
    const char *name, *about, *format, *source;
    const char *work;   /* what one thread does */
    const char *lesson; /* how the threads lie over the matrix, what they ask of memory, where that goes wrong; lines
                           of at most 100 columns, divided by \n */
    bool deterministic; /* bitwise the same every run */
    bool host;          /* plain loops for the cpu device; else a SIMT kernel for cuda and emu */
    bool vendor;        /* a library's, for cuda alone */
    bool together;      /* its blocks share out the work or one launch reads what another wrote: none can be left out */
    bool host_part;     /* a part of its work is done on the host, where the emulator does not see it */
    bool shares;        /* its blocks take work as they come to it: which of them does what is chance */
    int64_t (*reads)(const struct stored *S); /* bytes of the arrays that it must read; NULL: of all of them */
    bool skips_padding;                       /* stops where a row's padding begins: it need not be read */
    const int64_t *param;                     /* the format's parameters it is measured with; NULL: the usual ones */
    bool (*fits)(const struct stored *S, struct err *e); /* NULL: always */
    bool (*best)(const struct csr *A); /* the one of its format to take for A, if none is named; NULL: never */
    /* Bytes the kernel keeps on the device beside the matrix; what fills them, and the note, once; what releases the
       thing that the note names. Each may be NULL. */
    int64_t (*scratch)(const struct mat *M);
    bool (*prepare)(const struct launch *L, struct err *e);
    void (*release)(struct device *d, uint64_t note);
    bool (*f32)(const struct launch *L, struct err *e);
    bool (*f64)(const struct launch *L, struct err *e);
    bool (*sums_f32)(const struct launch *L, struct err *e); /* the same with the sums of a launch; NULL: it cannot */
    bool (*sums_f64)(const struct launch *L, struct err *e);
};

extern const struct kernel *const kernels[]; /* ended by NULL, in the order of kernels.def */
extern const struct registry kernel_registry;
const struct kernel *kernel_find(const char *name);
bool kernel_runs_on(const struct kernel *k, const struct device *d);
/* The kernel used when none is named: of the format's own ones that run on d, the first that says it is best for A,
   else the last. A may be NULL. */
const struct kernel *kernel_usual(const struct format *f, const struct csr *A, const struct device *d);
bool kernel_launch(const struct kernel *k, const struct launch *L, struct err *e);
/* Microseconds that the preparation of k on M took: tile starts and the like; 0 if it has none or did not run yet. */
double kernel_prepared_us(const struct kernel *k, const struct mat *M);
/* For mat_free. */
void scratch_free(struct mat *M);

/* One measured multiplication (bench.c). */
struct run {
    const struct kernel *kernel;
    const struct device *dev;
    const struct stored *of;
    enum type real;
    double us, spread_us; /* median, and half the distance between the quartiles */
    double first_us;      /* the first launch, cold */
    int reps;
    double prep_us, put_us;         /* packing and ready_us; copying to the device, 0 where it was packed there */
    const struct device *packed_on; /* NULL: the host */
    double ready_us;      /* what the kernel prepares on the device beside the matrix, once: tile starts and the like */
    int64_t bytes;        /* that must move at least: arrays used, x once, y once (twice if beta != 0) */
    double gbs, gflops;   /* bytes / us; 2 nnz / us */
    double share;         /* gbs / the measured read ceiling, 0 = ceilings not measured */
    struct verdict error; /* against the reference, from a run with random x, y, alpha, beta */
};

/* What follows from the time and the bytes of a run: gbs, gflops, share. */
void run_rates(struct run *r, const struct ceilings *c);
/* Check k on M against the reference of A (random x and y by seed), then time it. reps 0 = chosen so
   that it takes about 0.2 s. A wrong result is E_NUMERIC and no time is given. */
bool bench_kernel(const struct kernel *k, const struct csr *A, const struct mat *M, int reps, struct watch *w,
                  struct run *out, struct err *e);
/* The check alone; y (rows doubles) may be NULL. */
bool bench_check(const struct kernel *k, const struct csr *A, const struct mat *M, double alpha, double beta,
                 uint64_t seed, double *y, struct verdict *out, struct err *e);
/* Bytes that k must move at least: the arrays, less padding that it need not read, x once, y once or twice. */
int64_t kernel_bytes(const struct kernel *k, const struct stored *S, double beta);

/* ---- vectors on a device, for solvers (k_vec.cu) ----
   Scalars live on the device in double s[VEC_WORK]; every operation is a launch that does nothing once
   s[S_DONE] is not 0, so that an iteration freezes exactly where it converged while more are queued.
   Reductions sum in double and in a fixed order: the same result every run. All asynchronous on cuda. */

/* How an iteration ended: what s[S_DONE] holds. The last is found on the host only. */
enum reason {
    RUNNING,
    CONVERGED,
    MAX_ITERATIONS,
    DIVERGED,
    BROKE_DOWN,
    NOT_A_NUMBER,
    STAGNATED,
    STOPPED,
    DRIFTED /* the recursive residual met the tolerance, the true one did not */
};

enum {
    S_DONE,
    S_ITER,
    S_RR,
    S_TOL2,
    S_MAXDIFF,
    S_PQ,
    S_ALPHA,
    S_BETA,
    S_ONE,       /* 1 */
    S_LIMIT2,    /* before the first record: how much r.r may grow; then the limit itself */
    S_EPS,       /* converged when max |x' - x| is below; 0 = no such rule */
    S_NEXT_DIFF, /* of the step under way; s[S_MAXDIFF] belongs to the recorded residual */
    S_BEST,      /* the least r.r but for 1%; infinite before the first record */
    S_BEST_AT,
    S_WINDOW, /* stagnated when no gain of 1% over s[S_BEST] came for so many records */
    S_TICKET, /* blocks that have arrived: an unsigned, kept in the place of a double */
    S_OMEGA,
    S_RHO,
    S_HALF,
    S_SHADOW, /* bicgstab, qmrcgstab: half-step residual, squared; norm of r0 */
    S_TAU,
    S_MIX,
    S_FIRST,
    S_SECOND,
    S_ETA1,
    S_ETA2, /* qmrcgstab: see qmr_scalars in k_bicgstab.cu */
    S_COLUMNS,
    S_SCALE, /* gmres: columns of the cycle under way; 1 / the length of the vector that comes next */
    S_WHAT,  /* which number broke down: its value is in S_PQ */
    S_LIVE,  /* the address of the live record, in the place of a double; 0: none is kept */
    S_TRUE,  /* r.r of b - A x as last probed */
    S_RQ,
    S_QQ,      /* cg: r.q and q.q, beside s[S_PQ] */
    S_CAREFUL, /* cg: r.q is needed, and not p.q in its place; set by a step, for good */
    S_FREE,
    SCALARS = 64,
    S_SUMS = SCALARS,
    VEC_BLOCKS = 1024,
    VEC_WORK = S_SUMS + 3 * VEC_BLOCKS /* three sums of each block */
};

/* The live record, in memory that the host can read while launches run: doubles of which the first LIVE_KNOWN say how
   many records are complete, and record k has a slot of its own until RECORDS later ones were written. */
enum {
    LIVE_KNOWN,
    LIVE_DONE, /* s[S_DONE] */
    LIVE_TRUE,
    LIVE_TRUE_AT, /* s[S_TRUE], and of which record's x */
    LIVE_RING = 8,
    LIVE_SLOT = 4, /* slot k % RECORDS holds: */
    LIVE_RR = 0,
    LIVE_ALPHA,
    LIVE_BETA,
    LIVE_STAMP, /* r.r, s[S_ALPHA], s[S_BETA], the device's clock in us */
    RECORDS = 4096,
    LIVE_SIZE = LIVE_RING + RECORDS * LIVE_SLOT
};

struct vec_ops {
    void (*copy)(struct device *d, int64_t n, const void *x, void *y); /* y = x */
    void (*axpy)(struct device *d, int64_t n, double *s, int a, double sign, const void *x,
                 void *y);                                                                      /* y += sign s[a] x */
    void (*xpby)(struct device *d, int64_t n, double *s, const void *x, int b, void *y);        /* y = x + s[b] y */
    void (*mul)(struct device *d, int64_t n, double *s, const void *a, const void *x, void *y); /* y_i = a_i x_i */
    void (*dot)(struct device *d, int64_t n, double *s, const void *x, const void *y, int to);  /* s[to] = x . y */
    void (*div)(struct device *d, double *s, int to, int a, int b); /* s[to] = s[a] / s[b] */
    /* fused: r = b - q; next = x + dinv r; s[S_RR] = r.r; s[S_NEXT_DIFF] = max |dinv r|; record. x is kept, so
       that the solution with the recorded residual is still there when the record ends the iteration. */
    void (*jacobi)(struct device *d, int64_t n, double *s, const void *b, const void *q, const void *dinv,
                   const void *x, void *next);
    /* s[S_TRUE] = r.r of r = b - q, where q = A x: a look at the true residual. */
    void (*probe)(struct device *d, int64_t n, double *s, const void *b, const void *q);
    /* The residual of record number s[S_ITER], from 0: kept in the live record, s[S_ITER] += 1, and s[S_DONE] = the
       reason if s[S_RR] <= s[S_TOL2], s[S_MAXDIFF] < s[S_EPS], it grew past the limit, stood still or is NaN. */
    void (*record)(struct device *d, double *s);
};

/* The fused passes of cg (k_cg.cu). The step is BROKE_DOWN unless s[S_PQ] > 0. */
struct cg_ops {
    /* s[S_PQ] = p.q, s[S_QQ] = q.q, and if s[S_CAREFUL] s[S_RQ] = r.q */
    void (*dots)(struct device *d, int64_t n, double *s, const void *p, const void *q, const void *r);
    /* alpha = rr / pq; x += alpha p; r -= alpha q; p = r + beta p, with the beta that the sums foretell, so that one
       pass does; s[S_RR] = r.r as it came out, s[S_CAREFUL] = 1 if that is not what they foretold; record */
    void (*step)(struct device *d, int64_t n, double *s, const void *q, void *r, void *p, void *x);
    /* With a preconditioner, alpha = s[S_RHO] / pq: x += alpha p; r -= alpha q; s[S_RR] = r.r */
    void (*update)(struct device *d, int64_t n, double *s, const void *p, const void *q, void *r, void *x);
    /* beta = r.z / s[S_RHO], then s[S_RHO] = r.z; record */
    void (*rho)(struct device *d, int64_t n, double *s, const void *r, const void *z);
    void (*direction)(struct device *d, int64_t n, double *s, const void *z, void *p); /* p = z + beta p */
};

/* The fused passes of bicgstab and qmrcgstab (k_bicgstab.cu). Where a number that they divide by is 0 but for rounding,
   s[S_DONE] = BROKE_DOWN, and s[S_WHAT] tells which. */
enum { BROKE_RHO = 1, BROKE_ALPHA, BROKE_OMEGA };
struct bicg_ops {
    /* s[S_RHO] = s[S_SHADOW] = s[S_RR] = r.r, with r = b - q and copies of it in shadow and p; no record */
    void (*begin)(struct device *d, int64_t n, double *s, const void *b, const void *q, void *r, void *shadow, void *p);
    void (*alpha)(struct device *d, int64_t n, double *s, const void *shadow, const void *v); /* rho / shadow.v */
    void (*half)(struct device *d, int64_t n, double *s, const void *v, void *r); /* r -= alpha v; s[S_HALF] = r.r */
    void (*omega)(struct device *d, int64_t n, double *s, const void *t, const void *r); /* t.r / t.t */
    /* x += alpha p + omega r; r -= omega t; s[S_RR] = r.r; the next rho and beta; record */
    void (*update)(struct device *d, int64_t n, double *s, const void *p, const void *t, const void *shadow, void *r,
                   void *x);
    void (*direction)(struct device *d, int64_t n, double *s, const void *r, const void *v,
                      void *p); /* p = r + beta (p - omega v) */
    /* qmrcgstab: rest = r, d = ad = 0, where rest is the residual of its x, and ad = A d */
    void (*qmr_begin)(struct device *d, int64_t n, double *s, const void *r, void *rest, void *dir, void *adir);
    /* r -= omega t, and the scalars of both quasi-minimisations */
    void (*qmr_residual)(struct device *d, int64_t n, double *s, const void *t, const void *shadow, void *r);
    /* Both steps of x, with their directions; rest likewise; p as in direction; record of rest.rest */
    void (*qmr_update)(struct device *d, int64_t n, double *s, const void *r, const void *v, const void *t, void *p,
                       void *dir, void *adir, void *x, void *rest);
};

/* GMRES(m) (k_gmres.cu). V: m vectors, one after another; q: A times the last. w: GMRES_WORK(m) doubles on the device,
   rows of m + 1 (see GM_*), then the partial sums. */
enum {
    GM_H,
    GM_H2,
    GM_G,
    GM_COS,
    GM_SIN,
    GM_Y,
    GM_R, /* R's column c is row GM_R + c; H's, as it was, GM_R + m + c */
    GM_BLOCKS = 512,
    GM_MOST = 500
};
#define GMRES_WORK(m) (((int64_t)GM_R + 2 * (m) + GM_BLOCKS) * ((m) + 1))
#define GMRES_PARTS(m) (((int64_t)GM_R + 2 * (m)) * ((m) + 1)) /* where the partial sums of column 0 begin */
struct gmres_ops {
    /* row = V'q for the columns from .. to-1. `parts`: only the sums of the blocks, blocks(d, n) of them for each
       column at GMRES_PARTS(m), GM_BLOCKS apart; the row is left to who adds them up. */
    void (*dots)(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, bool parts,
                 const void *V, const void *q);
    int (*blocks)(const struct device *d, int64_t n);
    /* q -= V row for the same columns; s[S_PQ] = q.q */
    void (*subtract)(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, const void *V,
                     void *q);
    /* Column k of H, from row GM_H, or from GM_H and GM_H2 where q was made orthogonal twice, and s[S_PQ], rotated into
       R; the residual that is left; record. BROKE_DOWN if R is singular with it: then the column is not taken. */
    void (*column)(struct device *d, double *s, double *w, int m, int k, bool twice);
    void (*solve)(struct device *d, double *s, double *w, int m); /* R y = g, for s[S_COLUMNS] columns */
    void (*add)(struct device *d, int64_t n, double *s, double *w, int m, const void *V, void *x); /* x += V y */
    /* q = b - q, the true residual, from which a cycle begins; it replaces the last record, and may end the solve. */
    void (*residual)(struct device *d, int64_t n, double *s, double *w, int m, const void *b, void *q);
    void (*scale)(struct device *d, int64_t n, double *s, const void *q, void *v); /* v = s[S_SCALE] q */
};

/* real: T_F32 or T_F64 */
const struct gmres_ops *gmres_ops_of(const struct device *d, enum type real);
const struct cg_ops *cg_ops_of(const struct device *d, enum type real);
const struct bicg_ops *bicg_ops_of(const struct device *d, enum type real);
const struct vec_ops *vec_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
