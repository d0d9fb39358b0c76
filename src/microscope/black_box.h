/* Library kernels as black boxes: their source is closed, so the emulator cannot run them, and their time is a fit to
   measurements instead of a prediction of the cost model. */
#ifndef BLACK_BOX_H
#define BLACK_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/param.h"
#include "base/precision.h"

struct csr;
struct err;
struct format;

/* The GPU on which the times were measured, in fp64; and the number of consecutive entries within which a sector of x
   counts once (csr_gathers_in_runs). */
#define BLACK_BOX_GPU "NVIDIA H200"
enum { BLACK_BOX_RUN = 2048 };

/* time = launch_us + bytes / gbs + gathers / gather_gps + longest * entry_ns. The bytes are those of the format's
   arrays, x and y; longest is the length of the longest row. */
struct black_box {
    const char *name; /* of the kernel, which only builds with CUDA have */
    const struct format *format;
    const int64_t *param; /* parameters of the format; NULL: the defaults */
    double launch_us, gbs, gather_gps;
    double entry_ns;   /* 0: several threads share a row, so no row alone determines the time */
    int matrices;      /* to which the time was fitted */
    int longest;       /* the longest row that was measured; a fit says nothing about longer rows */
    int error_percent; /* mean error on other matrices, which were held out of the fit */
};
extern const struct black_box black_boxes[]; /* terminated by an entry without a name */

/* What the time of a black box on a matrix is computed from. */
struct black_box_terms {
    int64_t bytes, gathers, longest;
};
double black_box_us(const struct black_box *b, const struct black_box_terms *t);
/* Compute the terms of b on A. t->gathers, the gathers of A, are counted if the value is 0. Fails with E_UNSUPPORTED or
   E_LIMIT if A is complex, has longer rows than the matrices of the fit, or cannot be stored in the format, and with
   the errors of csr_gathers_in_runs. */
bool black_box_terms_of(const struct black_box *b, const struct csr *A, enum precision real, struct black_box_terms *t,
                        struct err *e);

#endif
