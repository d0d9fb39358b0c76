/* Use of the cost model: watch a kernel on the emulator and predict its time on a GPU. */
#ifndef MODELED_H
#define MODELED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/precision.h"
#include "formats/format.h"
#include "formats/stored.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "model.h"
#include "reuse.h"

struct csr;
struct watch;

/* Approximate number of lane accesses to watch per kernel at first, and if the error of that sample is too large.
   Watching MODELED_ACCESSES accesses takes 0.02 s on one core. */
enum { MODELED_FIRST = 60 * 1000, MODELED_ACCESSES = 250 * 1000 };

struct modeled {
    const struct kernel *kernel;
    struct plan plan;
    enum precision real;
    int64_t bytes;        /* the minimum traffic, computed by kernel_bytes */
    double prep_us;       /* time of packing on the host */
    bool first_look_only; /* it was not watched more closely, because it is slow */
    struct machine on;
    struct workload work;
    struct counts counts; /* counts.scope.of is NULL */
    struct prediction time;
};

/* What the predictions of several kernels of A share: the most recent packing, for the next kernel of the same format,
   and the sectors of x that are read again. All 0: nothing yet. `slower_than`: kernels that a first look predicts to
   take longer than this are not watched more closely; 0: all kernels are watched closely, if they need it. */
struct packed {
    struct stored S;
    struct mat M;
    enum precision real;
    int64_t param[PARAMS_MAX]; /* as requested; param[0] == -1: the defaults */
    double us;                 /* time of packing */
    struct reuse x;
    double slower_than; /* us */
};
void packed_free(struct packed *p);
/* Watch k on A, which must be on the emulator as M, and predict its time on g. The emulation takes about 0.1 s; a large
   matrix is sampled. packed_us: the time of packing. Fails with E_UNSUPPORTED and the reason if k cannot be watched, or
   with E_CANCELLED. */
bool modeled_mat(const struct csr *A, const struct mat *M, const struct kernel *k, double packed_us,
                 const struct machine *g, struct watch *w, struct modeled *out, struct err *e);
/* The accesses of k to watch for its blocks in detail, as model_watch takes them. Fails with E_UNSUPPORTED if all
   blocks would have to be watched, but are too many. */
bool modeled_accesses(const struct kernel *k, const struct mat *M, int64_t *accesses, struct err *e);
/* Can k run on A on the emulator and be watched? If not, E_UNSUPPORTED. */
bool modeled_can(const struct kernel *k, const struct csr *A, struct err *e);
/* Pack A, unless `last` holds the packing already, and call modeled_mat. */
bool modeled_csr(const struct csr *A, const struct kernel *k, const int64_t *param, enum precision real,
                 const struct machine *g, struct watch *w, struct packed *last, struct modeled *out, struct err *e);
/* For qsort of struct modeled: the fastest first. */
int modeled_by_time(const void *a, const void *b);

/* ---- findings.c: the causes of a kernel's time, and their remedies ---- */

enum { FINDINGS_MAX = 16, INSTEAD_MAX = 5 };
struct finding {
    const char *cause;           /* name in the table of causes, such as "padding" */
    double us;                   /* the predicted time minus the time predicted without the cause */
    char text[400], remedy[300]; /* "": no remedy is known */
    const char *const *instead;  /* kernels that apply the remedy: INSTEAD_MAX names, or fewer followed by NULL */
};
/* The causes, the most expensive first. Returns the number of causes. A is the matrix. */
int findings_of(const struct modeled *k, const struct csr *A, struct finding out[FINDINGS_MAX]);

/* The name of cause i, in the order of the table of causes; NULL: there are only i causes. */
const char *finding_cause(int i);

bool finding_names(const struct finding *f, const char *kernel);
/* Append to the remedy the names of the kernels that apply the remedy and are predicted to be faster than k. `other`: n
   kernels predicted for the same matrix, the fastest first. If no kernel that applies the remedy is faster, remove the
   remedy. */
void finding_finish(struct finding *f, const struct modeled *k, const struct modeled *other, int n);

#endif
