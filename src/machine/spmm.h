/* SpMM kernels and their launches: Y = A X for several vectors at a time. Implemented by gpu/spmm.c; the kernels are in
   gpu/kernels/k_spmm.cu. */
#ifndef SPMM_H
#define SPMM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"
#include "matrix/reference.h"

C_BEGIN

struct csr;
struct device;
struct err;
struct format;
struct mat;
struct registry;
struct stored;
struct watch;

enum { SPMM_VECTORS_MAX = 64 };

/* One SpMM to launch: Y = A X. X has cols x vectors values, and Y has rows x vectors values, both on the device, of the
   type A->of->real, and row-major: the values of one row of X, one for each vector, are neighbours. Asynchronous on
   cuda. */
struct spmm {
    const struct mat *A;
    int vectors; /* 1 .. SPMM_VECTORS_MAX */
    const void *x;
    void *y;
    void *state; /* returned by `begin` of the kernel; NULL: the kernel has no `begin` */
};

/* A kernel consists of an entry at the end of k_spmm.cu and one line in gpu/kernels/spmm.def. */
struct spmm_kernel {
    const char *name, *about;
    const struct format *format;
    const char *work;   /* the work of one thread */
    bool deterministic; /* every run gives a bit-identical result */
    bool host;          /* plain loops for the device cpu; if false, a kernel for cuda and emu */
    bool vendor;        /* a library's kernel, for cuda only */
    int least;          /* the fewest vectors that it multiplies; 0: one */
    bool (*fits)(const struct stored *S, struct err *e); /* NULL: always */
    /* Make and free the work memory of the launches with one A, X and Y. NULL: nothing. */
    bool (*begin)(const struct spmm *L, void **state, struct err *e);
    void (*end)(struct device *d, void *state);
    /* the launch for each precision; NULL: the kernel does not multiply in it */
    bool (*product[PRECISIONS])(const struct spmm *L, struct err *e);
};

extern const struct spmm_kernel *const spmm_kernels[]; /* terminated by NULL, in the order of spmm.def */
extern const struct registry spmm_registry;
bool spmm_runs_on(const struct spmm_kernel *k, const struct device *d);
/* The kernel for products with matrices in f on d: the last of the table that is no library's. NULL: there is none. */
const struct spmm_kernel *spmm_default(const struct format *f, const struct device *d);
/* Set and free L->state, for any number of launches with the same A, X and Y. */
bool spmm_begin(const struct spmm_kernel *k, struct spmm *L, struct err *e);
void spmm_end(const struct spmm_kernel *k, struct spmm *L);
bool spmm_launch(const struct spmm_kernel *k, const struct spmm *L, struct err *e);

/* The result of checking and timing one kernel. */
struct spmm_run {
    double us, spread_us; /* median time of one SpMM, and half the interquartile range; NaN on emu */
    int reps;             /* 0 on emu */
    int64_t bytes;        /* minimum traffic: the arrays of A, X and Y once each */
    struct verdict error; /* of the vector with the largest error relative to its rounding-error bound */
};
/* Check all vectors of A X, for a random X, against the reference of A, then time the kernel. reps 0: as many as take
   about 0.2 s. A wrong result fails with E_NUMERIC. Complex matrices fail with E_UNSUPPORTED. y: NULL, or receives Y as
   rows x vectors doubles. */
bool spmm_measure(const struct spmm_kernel *k, const struct csr *A, const struct mat *M, int vectors, int reps,
                  struct watch *w, double *y, struct spmm_run *out, struct err *e);
/* The random value of X in this row and vector, as spmm_measure rounds it to this type. */
double spmm_x(int64_t row, int vector, enum type type);

C_END
#endif
