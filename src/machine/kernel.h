/* SpMV kernels and their launches: y = alpha A x + beta y. Implemented by gpu/kernels/kernels.c; the kernels are
   gpu/kernels/k_FORMAT.cu. */
#ifndef KERNEL_H
#define KERNEL_H

#include "base/base.h"
#include "base/param.h"
#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

C_BEGIN

struct csr;
struct device;
struct err;
struct format;
struct mat;
struct registry;
struct remote;
struct stored;

/* One SpMV to launch: y = alpha A x + beta y. x: cols values, y: rows values, both on the device, of the type
   `vector` of the precision A->of->real. alpha and beta are real. If beta is 0, y is not read (it may be NaN).
   Asynchronous on cuda. */
struct launch {
    const struct mat *A;
    double alpha, beta;
    const void *x;
    void *y;
    int threads; /* host kernels: OpenMP threads, 0 = all */
    /* If s is not NULL, also compute the inner products x.y, y.M^-1 y and, if s[S_CAREFUL] is set, r.M^-1 y, like
       the pass dots of cg. dinv is the diagonal of M^-1; NULL: M = I. Allowed only if alpha is 1 and beta is 0, and
       only if the kernel has such sums (see kernel_sums). */
    double *s;
    const void *r, *dinv;
    /* kernel_launch fills in these members for kernels that have `scratch` */
    void *scratch;  /* work memory of the kernel on the device */
    uint64_t *note; /* a value that `prepare` writes */
};

/* What a kernel's entry names: it launches the kernel for one precision. */
typedef bool launch_fn(const struct launch *L, struct err *e);

/* A function that a kernel for GPUs launches for its product. */
struct kernel_function {
    /* the name in the source, "csr_scalar"; or a pattern for its template arguments, in which each * stands for any
       text: "csr_stream<*stream_plain>" */
    const char *name;
    int threads; /* of a block; 0: the launch decides */
    bool given;  /* the launch decides how much shared memory a block has (LAUNCH_GIVEN) */
};
enum { KERNEL_FUNCTIONS = 4 };

/* A kernel consists of an entry at the end of k_FORMAT.cu and one line in kernels.def. */
struct kernel {
    const char *name, *about;
    const struct format *format;
    const char *source;
    const char *work;   /* the work of one thread */
    const char *lesson; /* how threads map to the matrix, the memory accesses that result, and when they are slow; lines
                           of at most 100 columns, separated by \n */
    struct kernel_function functions[KERNEL_FUNCTIONS];
    bool deterministic; /* every run gives a bit-identical result */
    bool host;          /* plain loops for the device cpu; if false, a SIMT kernel for cuda and emu */
    bool vendor;        /* a library's kernel, for cuda only */
    const char *(*library)(uint64_t note); /* then: the library and its version with which it was prepared */
    bool together; /* its blocks depend on one another or on an earlier launch, so all blocks must be emulated */
    /* `together`, but only to add a few partial sums: a sample of the blocks may run without the others, and leaves out
       their part of the result */
    bool separable;
    bool host_part;     /* part of the work is done on the host, where the emulator does not see it */
    bool host_sums;     /* its launches for fp32 vectors also compute the inner products, if launch.s is set */
    bool shares;        /* its blocks get work dynamically, so the work of a block depends on timing */
    bool follows;       /* on Hopper and newer GPUs, its launch begins while the one before it still runs (FOLLOW) */
    bool product_only;  /* y = A x: launches with alpha other than 1 or beta other than 0 are refused */
    bool emulated_only; /* there is no code for a GPU */
    /* NULL: the kernel runs in this process. Otherwise a user's kernel, which these functions run in another process;
       it is never a default kernel. */
    const struct remote *remote;
    int64_t (*reads)(const struct stored *S); /* bytes of the arrays that the kernel must read; NULL: all arrays */
    bool skips_padding;                       /* stops where a row's padding begins, so it does not read the padding */
    /* the format's parameters with which this kernel is measured; NULL: the defaults */
    const int64_t *param;
    bool (*fits)(const struct stored *S, struct err *e); /* NULL: always */
    bool fits_values;                                    /* `fits` reads values, which the host must therefore have */
    /* is this the best kernel of its format for A? (see kernel_default) NULL: never */
    bool (*best)(const struct csr *A);
    /* bytes of memory that the kernel keeps on the device in addition to the matrix; may be NULL */
    int64_t (*scratch)(const struct mat *M);
    /* fills the work memory and sets the value of `note`, once per matrix; may be NULL */
    bool (*prepare)(const struct launch *L, struct err *e);
    /* frees the memory to which the value of `note` refers; may be NULL */
    void (*release)(struct device *d, uint64_t note);
    /* bytes on the device of the memory to which that value refers; NULL: none but `scratch` */
    int64_t (*workspace)(uint64_t note);
    /* the launch for each precision; NULL: the kernel does not multiply in it */
    launch_fn *product[PRECISIONS];
    /* variants of the kernel that also compute the inner products described in struct launch; NULL: not available. They
       add the products of a row in fp64, whatever the type of y. */
    launch_fn *sums[PRECISIONS];
};

extern const struct kernel *kernels[]; /* terminated by NULL: kernels.def in its order, then those of kernel_add */
extern const struct registry kernel_registry;
const struct kernel *kernel_find(const char *name);
/* Does this build lack the library kernel of this name, because it was built without CUDA? */
bool kernel_needs_cuda(const char *name);
/* Add a kernel, which must live until the program ends or kernel_remove removes it. on_gpu: its entry for GPUs; NULL: k
   itself. Fails with E_LIMIT if there are too many. */
bool kernel_add(const struct kernel *k, const struct kernel *on_gpu, struct err *e);
void kernel_remove(const struct kernel *k);
bool kernel_runs_on(const struct kernel *k, const struct device *d);
/* The default kernel: among the kernels of f that run on d, except vendor kernels, the first kernel whose `best`
   accepts A. If no `best` accepts A, the default is the last of these kernels. A may be NULL. */
const struct kernel *kernel_default(const struct format *f, const struct csr *A, const struct device *d);
/* The parameters to pack A with for k: param if it is not NULL; otherwise those that k states; otherwise those that
   suit A and a GPU with this number of multiprocessors, which are written to `own`. NULL: the defaults. */
const int64_t *kernel_params(const struct kernel *k, const int64_t *param, const struct csr *A, enum precision real,
                             int multiprocessors, int64_t own[PARAMS_MAX]);
/* Does k multiply matrices of this precision (the member `real` of a stored matrix)? If not, *e names the kernels for
   the same kind of device that do. */
bool kernel_takes(const struct kernel *k, enum precision real, struct err *e);
/* Does k also compute inner products when it multiplies matrices of this precision? */
bool kernel_sums(const struct kernel *k, enum precision real);
bool kernel_launch(const struct kernel *k, const struct launch *L, struct err *e);
/* Microseconds that k's preparation on M took (tile starts and the like); 0 if k has no preparation or has not run
   yet. */
double kernel_prepared_us(const struct kernel *k, const struct mat *M);
/* Bytes of memory on the device that k keeps for M in addition to the matrix; 0 before its preparation. */
int64_t kernel_prepared_bytes(const struct kernel *k, const struct mat *M);

/* The library with which k was prepared for M, such as "cuSPARSE 12.9.4"; NULL: k is not a library's kernel, or was not
   prepared. */
const char *kernel_library(const struct kernel *k, const struct mat *M);

C_END
#endif
