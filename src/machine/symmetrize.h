/* Symmetrization: the union of the patterns of A and its transpose, by a table of methods on cuda, emu and cpu; and the
   transpose as a matrix of its own. */
#ifndef SYMMETRIZE_H
#define SYMMETRIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix/csr.h"
#include "base/registry.h"

struct err;

#include <math.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The value at (p, q) of the result, where A has a_pq, a_qp or both; a missing entry is not a 0. */
enum sym_mode { SYM_UNION, SYM_AVERAGE, SYM_SUM, SYM_MAX, SYM_MODES };
extern const struct named sym_modes[SYM_MODES + 1];
extern const struct registry sym_mode_registry;
/* Its place in sym_modes, or -1. */
int sym_mode_find(const char *name);

/* Steps that are timed separately; 0 where the method has no such step. */
enum sym_step { SYM_EXPAND, SYM_SORT, SYM_TURN, SYM_COUNT, SYM_FILL, SYM_STEPS };
extern const char *const sym_step_name[SYM_STEPS];

struct sym;
struct sym_method {
    const char *name, *about, *source;
    int64_t nnz_most;                              /* entries that its 32-bit counts of work items allow; 0: any */
    int64_t (*bytes)(int64_t rows, int64_t nnz);   /* on the device beside A: the work and the result */
    bool (*plan)(struct sym *v, struct err *e);    /* cuda, emu: take the memory of the work */
    bool (*kernels)(struct sym *v, struct err *e); /* cuda, emu: queue it all */
    bool (*loops)(struct sym *v, struct err *e);   /* cpu: v->result */
};
extern const struct sym_method *const sym_methods[]; /* ended by NULL; the first is the default */
extern const struct registry sym_registry;
const struct sym_method *sym_find(const char *name);

struct sym_options {
    const struct sym_method *method; /* NULL: the default */
    struct device *dev;
    enum sym_mode mode;
    bool whole; /* run the method even if A is symmetric already: for benches and tests */
    struct watch *watch;
};

enum { SYM_TAKEN = 12 }; /* blocks of device memory */
struct sym {
    struct sym_options o;
    const struct csr *of;
    const struct sym_ops *ops; /* NULL on cpu */
    const struct tools *tools; /* NULL on cpu */
    int64_t rows, cols, nnz, tiles;

    /* on the device: A, then the work */
    int *ptr, *col;
    double *val;
    uint64_t *key[2]; /* a row and a column, row << 32 | column, of the transpose (sym) or of both (sym-paper) */
    double *with[2];  /* its value; one of the two of each is in use, the other is room for a sort */
    int *turned_ptr, *turned_col;
    double *turned_val; /* the transpose */
    int *cut;           /* where the tiles of the merge begin: row and entry of A */
    int64_t *at;        /* counts, then where each tile's entries begin; the last is their number */
    uint64_t *sums;     /* the two of the fingerprint */
    uint64_t *packed;   /* sym-paper: keys without those that are there twice */
    int64_t found;      /* entries of the result, where the method knows them */
    void *temp;
    int64_t temp_bytes;
    int *out_ptr, *out_col;
    double *out_val;
    void *taken[SYM_TAKEN];
    int ntaken;

    struct csr result; /* on the host: cpu's, or fetched */
    bool sampling;     /* wait for each step, and add up what it took */
    int step;
    double from;

    bool pattern_symmetric, value_symmetric; /* by the fingerprint */
    bool copied;                             /* as it was symmetric, no method was needed */
    double put_us, fingerprint_us, step_us[SYM_STEPS];
};

/* Check A (square, real) and the memory of host and device, bring A there, take its fingerprint. A must outlive v.
   Fails with E_UNSUPPORTED, E_LIMIT or E_MEMORY. */
bool sym_begin(struct sym **v, const struct csr *A, const struct sym_options *o, struct err *e);
/* Queue the whole of it once; may be called again. Asynchronous on cuda for `sym`. */
bool sym_run(struct sym *v, struct err *e);
/* Run with a wait after each step: v->step_us. */
bool sym_sample(struct sym *v, struct err *e);
/* The result, with columns ascending, to be freed by csr_free. Call it once, after a run. */
bool sym_get(struct sym *v, struct csr *out, struct err *e);
void sym_free(struct sym *v);
/* All at once. */
bool symmetrize(struct csr *out, const struct csr *A, const struct sym_options *o, struct err *e);
/* A^T on d: by kernels on cuda and emu, by all threads on cpu. Real matrices; others by one thread of the host.
 *us: without copies; may be NULL. */
bool sym_transpose(struct csr *out, const struct csr *A, struct device *d, double *us, struct err *e);

/* ---- the kernels (gpu/k_sym.cu) ---- */

/* Work on the arrays of v; asynchronous on cuda. */
struct sym_ops {
    void (*cut)(struct sym *v, bool both);    /* tiles of A's rows alone, or of the rows of A and its transpose */
    void (*fingerprint)(struct sym *v);       /* after cut(v, false): adds to v->sums */
    void (*expand)(struct sym *v, bool both); /* after cut(v, false): v->key[0], v->with[0] */
    /* Of n sorted keys the lower halves, and where the upper ones 0 .. rows begin. */
    void (*unpack)(struct sym *v, const uint64_t *key, int64_t n, int64_t rows, int *ptr, int *low);
    void (*count)(struct sym *v);          /* after cut(v, true): v->at */
    void (*fill)(struct sym *v);           /* the result, from v->at added up */
    void (*pair)(struct sym *v);           /* of a symmetric pattern: v->out_val from v->val and v->turned_val */
    void (*flag)(struct sym *v, int k);    /* v->at[i] = 1 where key[k][i] is not the one before; one 0 more */
    void (*compact)(struct sym *v, int k); /* v->packed, v->out_val */
};
const struct sym_ops *sym_ops_of(const struct device *d); /* gpu/sym.c */

/* The same by a library, A + A^T, for the bench to compare with. */
struct sym_peer;
struct sym_peer_ops {
    /* Bring A there and take all memory, that of the largest result included. */
    bool (*begin)(struct sym_peer **p, const struct csr *A, struct device *d, struct err *e);
    bool (*run)(void *p, struct err *e);
    bool (*get)(struct sym_peer *p, struct csr *out, struct err *e);
    void (*free)(struct sym_peer *p);
    const char *(*version)(void); /* NULL: it cannot be opened */
};
const struct sym_peer_ops *sym_peer_of(const struct device *d); /* NULL: none for d */

/* ---- sym_host.c: loops of the host, by all threads ---- */

void sym_host_fingerprint(const struct csr *A, uint64_t sums[2]);
bool sym_host_transpose(struct csr *out, const struct csr *A, struct err *e);
bool sym_host_sym(struct sym *v, struct err *e);
bool sym_host_paper(struct sym *v, struct err *e);

/* For methods: a step begins, and ends the one before; SYM_STEPS ends the last. */
bool sym_begin_step(struct sym *v, enum sym_step step, struct err *e);

/* ---- what both sides compute, to the bit ---- */

#ifdef __CUDACC__
#define SYM_BOTH static __host__ __device__ inline
#else
#define SYM_BOTH static inline
#endif

SYM_BOTH uint64_t sym_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Which NaN an operation makes differs between processors. */
SYM_BOTH double sym_one_nan(double v)
{
    const uint64_t bits = 0x7ff8000000000000ull;
    if (v != v) memcpy(&v, &bits, sizeof v);
    return v;
}

/* a + b halved; a sum that is beyond all numbers is halved first, and then nothing is lost by that. */
SYM_BOTH double sym_half(double a, double b)
{
    double sum = a + b;
    return sum - sum == 0 ? sum * 0.5 : 0.5 * a + 0.5 * b;
}

/* -0 is below 0; with NaN it is NaN. */
SYM_BOTH double sym_most(double a, double b)
{
    return a > b ? a : b > a ? b : a == 0 ? a + b : a == b ? a : a + b;
}

/* own: a_pq, other: a_qp, both there. */
SYM_BOTH double sym_join(int mode, double own, double other)
{
    if (mode == SYM_UNION) return own;
    return sym_one_nan(mode == SYM_AVERAGE ? sym_half(own, other)
                       : mode == SYM_SUM   ? own + other
                                           : sym_most(own, other));
}

/* Only one of the two is there. */
SYM_BOTH double sym_alone(int mode, double v)
{
    return mode == SYM_UNION ? v : sym_one_nan(mode == SYM_AVERAGE ? 0.5 * v : v);
}

SYM_BOTH uint64_t sym_key(int64_t row, int64_t col)
{
    return (uint64_t)row << 32 | (uint64_t)col;
}

/* All bits of x, each in all of the result: splitmix64's last steps. */
SYM_BOTH uint64_t sym_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* What entry (i, j) adds to the sums: 0 in all if for each (i, j) there is (j, i), and with the same value. */
SYM_BOTH void sym_hash(int64_t i, int64_t j, double v, uint64_t *pattern, uint64_t *values)
{
    uint64_t here = sym_mix(sym_key(i, j)), there = sym_mix(sym_key(j, i)), bits = sym_bits(v);
    *pattern += here - there;
    *values += sym_mix(here ^ bits) - sym_mix(there ^ bits);
}

#ifdef __cplusplus
}
#endif
#endif
