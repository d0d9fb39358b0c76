/* Requests that several commands read from their arguments. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "base/param.h"

#include <stdbool.h>
#include <stdint.h>

struct args;
struct err;
struct kernel;
struct matrix;
struct modeled;
struct session;
struct spmv_operation;
struct spmv_request;

/* Read the matrix, whether it is transposed, precision, reps, force, alpha, beta and y0 of a command. out->operation is
   o; the caller frees it with spmv_operation_free, and sets out->dev. */
bool spmv_request_of(struct session *s, const struct args *a, struct spmv_operation *o, struct spmv_request *out,
                     struct err *e);
/* The same, with the device, the kernel and the parameters of its format, which are read into param, to which
   out->param then points. out->kernel is NULL if A' x is to be computed in two ways, as no kernel and no format is
   named. */
bool spmv_with_kernel_of(struct session *s, const struct args *a, struct spmv_operation *o, int64_t param[PARAMS_MAX],
                         struct spmv_request *out, struct err *e);
/* Does the line end with `view`, in a session that has a screen? */
bool view_is_asked(const struct session *s, const struct args *a);
/* The kernel that the line names. If it names none: the kernel of the emulator that is predicted to be the fastest,
   which a note names. NULL: none can be predicted. */
const struct kernel *kernel_meant(struct session *s, const struct args *a, struct matrix *m, struct err *e);
/* Make the prediction that a command with the grammar [KERNEL] [PARAMS] [of MATRIX] [f32|f64] requests, and print it
   with `say`. */
bool modeled_command(struct session *s, const struct args *a,
                     bool (*say)(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e),
                     struct err *e);

#endif
