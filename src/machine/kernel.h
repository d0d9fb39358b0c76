/* Kernels and their launches: y = alpha A x + beta y. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct csr;
struct device;
struct err;
struct format;
struct mat;
struct registry;
struct stored;

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
    const char *name, *about;
    const struct format *format;
    const char *source;
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
    const int64_t *param;                     /* the format's parameters it is measured with; NULL: the defaults */
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
const struct kernel *kernel_default(const struct format *f, const struct csr *A, const struct device *d);
bool kernel_launch(const struct kernel *k, const struct launch *L, struct err *e);
/* Microseconds that the preparation of k on M took: tile starts and the like; 0 if it has none or did not run yet. */
double kernel_prepared_us(const struct kernel *k, const struct mat *M);

#ifdef __cplusplus
}
#endif
#endif
