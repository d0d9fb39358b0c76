/* Library kernels as black boxes: their source is closed, so the emulator cannot run them, and their time is a fit to
   measurements instead of a prediction of the cost model. */
#ifndef BLACK_BOX_H
#define BLACK_BOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/param.h"

struct csr;
struct err;
struct format;

/* The GPU on which the times were measured, in fp64; and the number of consecutive entries within which a sector of x
   counts once (csr_gathers_in_runs). */
#define BLACK_BOX_GPU "NVIDIA H200"
enum { BLACK_BOX_RUN = 2048 };

/* time = launch_us + bytes / gbs + gathers / gather_gps. The bytes are those of the format's arrays, x and y. */
struct black_box {
    const char *name; /* of the kernel, which only builds with CUDA have */
    const struct format *format;
    const int64_t *param; /* parameters of the format; NULL: the defaults */
    double launch_us, gbs, gather_gps;
    int matrices;      /* to which the time was fitted */
    int longest;       /* their longest row; a fit says nothing about longer rows */
    int error_percent; /* mean error if each of these matrices is predicted from a fit to the others */
};
extern const struct black_box black_boxes[]; /* terminated by an entry without a name */

double black_box_us(const struct black_box *b, int64_t bytes, int64_t gathers);
/* Fit the time of b on A. *gathers: the gathers of A, counted if the value is 0. Fails with E_UNSUPPORTED or E_LIMIT if
   A is complex or cannot be stored in the format, and with the errors of csr_gathers_in_runs. */
bool black_box_fit(const struct black_box *b, const struct csr *A, enum type real, int64_t *gathers, double *us,
                   struct err *e);

#endif
