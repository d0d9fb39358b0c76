/* Predictions for the commands: the matrices of the session, and the GPU that it predicts for. */
#ifndef PREDICTED_H
#define PREDICTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"

struct args;
struct err;
struct kernel;
struct machine;
struct matrix;
struct modeled;
struct out;
struct session;

/* The GPU that predictions are for: the session's device, its ceilings measured now if they were not; else the built-in
   one. false: the device failed. */
bool modeled_machine(struct session *s, struct machine *g, struct err *e);
/* Errors: E_UNSUPPORTED, m is complex or has no entries, so that there is nothing to predict of any kernel. */
bool modeled_matrix(const struct matrix *m, struct err *e);
/* Watch k on m and predict its time on g, from about a tenth of a second of emulation: a large matrix is sampled. The
   product is kept in the session. param NULL: those that suit g. Errors: E_UNSUPPORTED, nothing can be watched, and
   why; what session_product refuses; cancelled. */
bool modeled_kernel(struct session *s, struct matrix *m, const struct kernel *k, const int64_t *param, enum type real,
                    const struct machine *g, struct modeled *out, struct err *e);
/* What a command with the grammar KERNEL [PARAMS] [of MATRIX] [f32|f64] asks for: that, and `say` of it. */
bool modeled_command(struct session *s, const struct args *a,
                     bool (*say)(struct session *s, const struct matrix *m, const struct modeled *k, struct err *e),
                     struct err *e);
/* What the session measured of k on m on a GPU last; NULL: nothing. */
const struct run *modeled_run(const struct session *s, const struct matrix *m, const struct kernel *k, enum type real);
/* why without the "NAME: " that it may begin with. */
const char *reason_without_name(const char *name, const char *why);
/* A refusal of format_allow tells to type `force`, which is convert's alone: name that. first: a product that the
   session has is used then, so that it is the remedy. */
void refusal_without_force(struct err *e, const char *format, enum type real, bool first);
/* In text: for which GPU, how wrong the model is, and whether blocks were sampled. */
void modeled_remarks(struct out *o, const struct machine *g, bool sampled);

/* The keys of a prediction: kernel .. measured_us; in text as lines of a record. */
void out_modeled(struct session *s, const struct matrix *m, const struct modeled *k);

/* ---- cmd_advise.c ---- */

/* All kernels that can be watched, the fastest prediction first; those that cannot, and why. */
struct advice {
    int n, nno;
    struct modeled *k;
    struct not_advised {
        const struct kernel *kernel;
        char why[sizeof((struct err *)0)->text];
    } * no;
};
/* format NULL: of all formats. What concerns one kernel alone is noted; false: cancelled, or worse. */
bool advice_of(struct session *s, struct matrix *m, const char *format, enum type real, const struct machine *g,
               struct advice *out, struct err *e);
void advice_free(struct advice *a);

#endif
