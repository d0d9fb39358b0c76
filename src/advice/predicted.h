/* Predictions for the matrices of the session, on the session's GPU or the built-in GPU. */
#ifndef PREDICTED_H
#define PREDICTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/precision.h"

struct err;
struct kernel;
struct machine;
struct matrix;
struct modeled;
struct out;
struct row_kind;
struct session;

/* The GPU that predictions are for: that of `set gpu`; otherwise the session's device if it is a GPU, whose ceilings
   are measured now if necessary; otherwise the reference. Returns false if the device failed. */
bool modeled_machine(struct session *s, struct machine *g, struct err *e);
/* Check that kernels can be predicted for m. Fails with E_UNSUPPORTED if m has no entries. */
bool modeled_matrix(const struct matrix *m, struct err *e);
/* Predict the time of k on g: a prediction that is kept with m, or k is emulated for about a tenth of a second, with a
   sample of the blocks of a large matrix; the stored matrix then stays in the session. param NULL: parameters that suit
   g, with which the prediction is kept. Fails with E_UNSUPPORTED if the emulator
   cannot run k. It also fails with the errors of session_product, or if the user cancels. */
bool modeled_kernel(struct session *s, struct matrix *m, const struct kernel *k, const int64_t *param,
                    enum precision real, const struct machine *g, struct modeled *out, struct err *e);
/* The session's last measurement of k for m on a GPU; NULL: none, or `set gpu` chose another GPU. */
const struct run *modeled_run(const struct session *s, const struct matrix *m, const struct kernel *k,
                              enum precision real);
/* The text of `why`, without "NAME: " at its beginning. */
const char *reason_without_name(const char *name, const char *why);
/* The error message of format_allow recommends `force`, which the current command does not accept. Recommend `convert
   FORMAT force` instead; if `first` is set, tell the user to run it first, because the current command then uses the
   stored product. */
void refusal_without_force(struct err *e, const char *format, enum precision real, bool first);
/* Print, in text only, which GPU the prediction is for, the model's error, and whether blocks were sampled. The full
   text appears once in a session, and always in files and reports; otherwise a short mark appears. */
void modeled_remarks(struct session *s, const struct machine *g, bool sampled);

/* Print the keys of the GPU that a prediction is for (row_machine). */
void out_machine(struct out *o, const struct machine *g);
/* Print the keys of a prediction, from kernel to measured_us. */
void out_modeled(struct session *s, const struct matrix *m, const struct modeled *k);
/* In text: whether the registers of the busiest launch limit the number of blocks that a multiprocessor holds. */
void say_registers(struct out *o, const struct modeled *k);
/* How a user's kernel was counted: as compiled, or as in the source; nothing for other kernels. */
void say_counted_as(struct out *o, const struct kernel *k);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_occupancy, row_machine, row_prediction;

#endif
