/* Symmetrization: computes a matrix whose pattern is the union of the patterns of A and its transpose, by one of
   several methods, on cuda, emu or cpu. Also computes the transpose alone. gpu/ implements sym_ops_of (gpu/sym.c,
   gpu/kernels/k_sym.cu) and sym_peer_of (gpu/cuda/vendor_sym.cu); symmetrize.c, sym_host.c and sym_step.c implement all
   other functions. */
#ifndef SYMMETRIZE_H
#define SYMMETRIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/registry.h"
#include "matrix/csr.h"

struct device;
struct err;
struct watch;

#include <math.h>
#include <string.h>

C_BEGIN

/* How the value at (p, q) of the result is computed from a_pq and a_qp. A missing entry is ignored; it does not count
   as 0. */
enum sym_mode { SYM_UNION, SYM_AVERAGE, SYM_SUM, SYM_MAX, SYM_MODES };
extern const struct named sym_modes[SYM_MODES + 1];
extern const struct registry sym_mode_registry;
/* The index of the mode in sym_modes, or -1. */
int sym_mode_find(const char *name);

/* Steps that are timed separately. If a method does not have a step, the time of that step is 0. */
enum sym_step { SYM_EXPAND, SYM_SORT, SYM_TRANSPOSE, SYM_COUNT, SYM_FILL, SYM_STEPS };
extern const char *const sym_step_name[SYM_STEPS];

struct sym;
struct sym_method {
    const char *name, *about, *source;
    /* limit on nnz, because work items have 32-bit counts; 0: no limit */
    int64_t nnz_most;
    /* device memory needed in addition to A: work areas and the result */
    int64_t (*bytes)(int64_t rows, int64_t nnz);
    bool (*plan)(struct sym *v, struct err *e);    /* cuda, emu: allocate the work areas */
    bool (*kernels)(struct sym *v, struct err *e); /* cuda, emu: queue all launches */
    bool (*loops)(struct sym *v, struct err *e);   /* cpu: compute v->result */
    bool has_steps;                                /* keeps the arrays of sym_options.steps */
};
extern const struct sym_method *const sym_methods[]; /* terminated by NULL; the first is the default */
extern const struct registry sym_registry;
const struct sym_method *sym_find(const char *name);

/* The arrays of the patent's method after each of its steps, copied from the device for `symmetrize step`. Triples are
   stored as keys p << 32 | q with a value each. T1 is the first half of T2. */
enum sym_array { SYM_T2, SYM_T3, SYM_T4, SYM_ARRAYS };
struct sym_steps {
    int64_t n[SYM_ARRAYS];     /* triples of T2, T3 and T4 */
    uint64_t *key[SYM_ARRAYS]; /* owned */
    double *value[SYM_ARRAYS]; /* owned */
    int64_t *first;            /* n[SYM_T3] flags, owned: 1 - F, as the kernel writes them */
    struct csr result;         /* owned */
};
/* Run method sym-paper's kernels on d, cuda or emu, and keep the arrays of each step. Fails with E_UNSUPPORTED on cpu,
   where one loop does the steps F, T4 and CSR. */
bool sym_steps_take(struct sym_steps *out, const struct csr *A, enum sym_mode mode, struct device *d,
                    struct watch *watch, struct err *e);
void sym_steps_free(struct sym_steps *t);

struct sym_options {
    const struct sym_method *method; /* NULL: the default */
    struct device *dev;
    enum sym_mode mode;
    bool whole; /* run the method even if A is already symmetric, for benches and tests */
    struct watch *watch;
    struct sym_steps *steps; /* copy the arrays of sym-paper after each step; NULL: do not */
};

enum { SYM_ALLOCATIONS = 12 }; /* blocks of device memory */
struct sym {
    struct sym_options o;
    const struct csr *of;
    const struct sym_ops *ops; /* NULL on cpu */
    const struct tools *tools; /* NULL on cpu */
    int64_t rows, cols, nnz, tiles;

    /* on the device: A, then the work areas */
    int *ptr, *col;
    double *val;
    uint64_t *key[2]; /* row << 32 | column of each entry of the transpose (sym) or of both matrices (sym-paper) */
    /* the entries' values. One array of each pair has the data; the other is work memory for a sort */
    double *payload[2];
    int *transposed_ptr, *transposed_col;
    double *transposed_val; /* the transpose */
    int *cut;               /* row and entry of A at which each tile of the merge begins */
    /* first the count of entries per tile, later the index at which each tile's entries begin; the last element is the
       total */
    int64_t *at;
    uint64_t *sums;   /* the two sums of the fingerprint */
    uint64_t *packed; /* sym-paper: the keys without duplicates */
    int64_t found;    /* number of entries of the result; -1: it must still be read from `at` */
    void *temp;
    int64_t temp_bytes;
    int *out_ptr, *out_col;
    double *out_val;
    void *allocated[SYM_ALLOCATIONS];
    int nallocated;

    struct csr result; /* on the host: computed there (cpu), or copied from the device */
    bool sampling;     /* wait after each step and add its time to step_us */
    int step;          /* the step being timed, or -1 */
    double from;       /* time at which this step began, in us */

    bool pattern_symmetric, value_symmetric; /* the answer of the fingerprint */
    bool copied;                             /* the result is a copy of A, and no method runs */
    double put_us, fingerprint_us, step_us[SYM_STEPS];
};

/* Check A (square, real) and the memory of host and device, copy A to the device and compute its fingerprint. A must
   outlive v. Fails with E_UNSUPPORTED, E_LIMIT or E_MEMORY. */
bool sym_begin(struct sym **v, const struct csr *A, const struct sym_options *o, struct err *e);
/* Queue one whole symmetrization; may be called repeatedly. For the method `sym`, the launches on cuda
   are asynchronous. */
bool sym_run(struct sym *v, struct err *e);
/* Run once with a wait after each step; v->step_us receives the times. */
bool sym_sample(struct sym *v, struct err *e);
/* Get the result, whose columns ascend in each row. The caller frees the result with csr_free. Call this function once,
   after a run. */
bool sym_get(struct sym *v, struct csr *out, struct err *e);
void sym_free(struct sym *v);
/* sym_begin, sym_run, sym_get and sym_free in one call. */
bool symmetrize(struct csr *out, const struct csr *A, const struct sym_options *o, struct err *e);
/* Compute A^T on d: by kernels on cuda and emu, by all threads on cpu. Complex matrices are transposed by one host
   thread. *us receives the time without copies to and from the device; us may be NULL. */
bool sym_transpose(struct csr *out, const struct csr *A, struct device *d, double *us, struct err *e);

/* ---- the kernels (gpu/kernels/k_sym.cu) ---- */

/* These launches work on the arrays of v. The launches are asynchronous on cuda. */
struct sym_ops {
    /* cut the rows of A into tiles; if `both` is set, cut the rows of A and of its transpose */
    void (*cut)(struct sym *v, bool both);
    void (*fingerprint)(struct sym *v);       /* after cut(v, false): add the fingerprint's sums to v->sums */
    void (*expand)(struct sym *v, bool both); /* after cut(v, false): write v->key[0] and v->payload[0] */
    /* Split n sorted keys: low receives the lower halves of the keys; ptr[i] receives the index of the first key whose
       upper half is i. */
    void (*unpack)(struct sym *v, const uint64_t *key, int64_t n, int64_t rows, int *ptr, int *low);
    /* after cut(v, true): count the entries of the result that each tile yields, and write the counts to v->at */
    void (*count)(struct sym *v);
    void (*fill)(struct sym *v); /* write the result, given the prefix sums of v->at */
    /* for a symmetric pattern: compute v->out_val from v->val and v->transposed_val */
    void (*pair)(struct sym *v);
    /* v->at[i] = 1 if key[k][i] differs from key[k][i-1], else 0; then append a 0 */
    void (*flag)(struct sym *v, int k);
    void (*compact)(struct sym *v, int k); /* write each distinct key to v->packed, and its value to v->out_val */
};
const struct sym_ops *sym_ops_of(const struct device *d); /* gpu/sym.c */

/* A + A^T by a library, for comparison in the bench. */
struct sym_peer;
struct sym_peer_ops {
    /* Copy A to the device and allocate all memory, including memory for the largest possible result. */
    bool (*begin)(struct sym_peer **p, const struct csr *A, struct device *d, struct err *e);
    bool (*run)(void *p, struct err *e);
    bool (*get)(struct sym_peer *p, struct csr *out, struct err *e);
    void (*free)(struct sym_peer *p);
    const char *(*version)(void); /* NULL if the library cannot be opened */
};
const struct sym_peer_ops *sym_peer_of(const struct device *d); /* NULL if d has no such library */

/* ---- sym_host.c: loops on the host, by all threads ---- */

void sym_host_fingerprint(const struct csr *A, uint64_t sums[2]);
bool sym_host_transpose(struct csr *out, const struct csr *A, struct err *e);
bool sym_host_sym(struct sym *v, struct err *e);
bool sym_host_paper(struct sym *v, struct err *e);

/* ---- sym_step.c ---- */

/* For methods: end the previous step and begin this step. The value SYM_STEPS only ends the previous step. */
bool sym_begin_step(struct sym *v, enum sym_step step, struct err *e);

/* ---- arithmetic that host and device share, so that results are bit-identical ---- */

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

/* Replace any NaN by one fixed NaN, because the bits of a computed NaN differ between processors. */
SYM_BOTH double sym_one_nan(double v)
{
    const uint64_t bits = 0x7ff8000000000000ull;
    if (v != v) memcpy(&v, &bits, sizeof v);
    return v;
}

/* (a + b) / 2. If the sum overflows, half of a and half of b are added instead; the halves of such large numbers are
   exact. */
SYM_BOTH double sym_half(double a, double b)
{
    double sum = a + b;
    return sum - sum == 0 ? sum * 0.5 : 0.5 * a + 0.5 * b;
}

/* The larger of a and b. -0 counts as smaller than 0; if a or b is NaN, the result is NaN. */
SYM_BOTH double sym_most(double a, double b)
{
    return a > b ? a : b > a ? b : a == 0 ? a + b : a == b ? a : a + b;
}

/* The value at (p, q) if A has both a_pq and a_qp. */
SYM_BOTH double sym_join(int mode, double a_pq, double a_qp)
{
    if (mode == SYM_UNION) return a_pq;
    return sym_one_nan(mode == SYM_AVERAGE ? sym_half(a_pq, a_qp)
                       : mode == SYM_SUM   ? a_pq + a_qp
                                           : sym_most(a_pq, a_qp));
}

/* The value at (p, q) if A has only one of a_pq and a_qp, whose value is v. */
SYM_BOTH double sym_alone(int mode, double v)
{
    return mode == SYM_UNION ? v : sym_one_nan(mode == SYM_AVERAGE ? 0.5 * v : v);
}

SYM_BOTH uint64_t sym_key(int64_t row, int64_t col)
{
    return (uint64_t)row << 32 | (uint64_t)col;
}

/* A hash in which every bit of x affects every bit of the result: the final steps of splitmix64. */
SYM_BOTH uint64_t sym_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* Add the contribution of entry (i, j) to the fingerprint. Over all entries, *pattern sums to 0 if the pattern is
   symmetric, and *values also sums to 0 if the values are symmetric. */
SYM_BOTH void sym_hash(int64_t i, int64_t j, double v, uint64_t *pattern, uint64_t *values)
{
    uint64_t here = sym_mix(sym_key(i, j)), there = sym_mix(sym_key(j, i)), bits = sym_bits(v);
    *pattern += here - there;
    *values += sym_mix(here ^ bits) - sym_mix(there ^ bits);
}

C_END
#endif
