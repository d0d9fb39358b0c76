/* The cost model at work: kernels watched on the emulator, and their time on a GPU. */
#ifndef MODELED_H
#define MODELED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "formats/format.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "model.h"
#include "formats/stored.h"

struct csr;
struct watch;

/* Accesses of lanes that are watched of a kernel, about: 0.1 s on a core. */
enum { MODELED_ACCESSES = 250 * 1000 };

struct modeled {
    const struct kernel *kernel;
    struct plan plan;
    enum type real;
    int64_t bytes;  /* that it must move at least; kernel_bytes */
    double prep_us; /* packing on the host */
    struct machine on;
    struct workload work;
    struct counts counts; /* its scope.of is NULL */
    struct prediction time;
};

/* A as it was packed last, for the next kernel of its format. */
struct packed {
    struct stored S;
    struct mat M;
    enum type real;
    int64_t param[PARAMS_MAX]; /* as asked for; -1 first: the defaults */
    double us;                 /* packing took */
};
void packed_free(struct packed *p);
/* Watch k on A, which lies on the emulator as M, and predict its time on g, from about a tenth of a second of
   emulation: a large matrix is sampled. packed_us: packing took. Errors: E_UNSUPPORTED, it cannot be watched, and why;
   cancelled. */
bool modeled_mat(const struct csr *A, const struct mat *M, const struct kernel *k, double packed_us,
                 const struct machine *g, struct watch *w, struct modeled *out, struct err *e);
/* Can k be watched on A? Else E_UNSUPPORTED. */
bool modeled_can(const struct kernel *k, const struct csr *A, struct err *e);
/* param; where it is NULL the parameters of k, or those that suit g, in own. NULL: the default ones. */
const int64_t *modeled_params(const struct kernel *k, const int64_t *param, const struct machine *g,
                              int64_t own[PARAMS_MAX]);
/* modeled_mat of A, packed unless `last` holds it already. */
bool modeled_csr(const struct csr *A, const struct kernel *k, const int64_t *param, enum type real,
                 const struct machine *g, struct watch *w, struct packed *last, struct modeled *out, struct err *e);
/* ---- findings.c: what costs a kernel time, and what would help ---- */

enum { FINDINGS_MOST = 16, INSTEAD_MOST = 5 };
struct finding {
    const char *cause;           /* of the table: "padding" */
    double us;                   /* less that the model predicts without it */
    char text[400], remedy[300]; /* "": nothing is known that helps */
    const char *const *instead;  /* names of kernels that do what the remedy says; INSTEAD_MOST, or fewer and NULL */
};
/* The causes that cost most, first; how many. A is the matrix. */
int findings_of(const struct modeled *k, const struct csr *A, struct finding out[FINDINGS_MOST]);

bool finding_names(const struct finding *f, const char *kernel);
/* Adds to the remedy those of its kernels, among n others watched on the same matrix, the fastest first, that are
   predicted to be faster than k; where none is there is no remedy. */
void finding_finish(struct finding *f, const struct modeled *k, const struct modeled *other, int n);

#endif
