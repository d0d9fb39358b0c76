/* The predicted times of all kernels for a matrix, which are kept with the matrix: every command that predicts reads
   them here, and watches only those kernels that no command has watched before. */
#ifndef PREDICTIONS_H
#define PREDICTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"

struct format;
struct kernel;
struct kept_predictions;
struct machine;
struct matrix;
struct modeled;
struct session;

/* The predictions of kernels that can be emulated, the fastest first; the kernels that need not be predicted, because a
   lower bound of their time is longer than the times of the fastest; and the reason why each other kernel has none. */
struct predictions {
    enum type real; /* of the stored matrix */
    int n, nslow, nno;
    struct modeled *k;
    struct slow_kernel {
        const struct kernel *kernel;
        double least_us;
    } * slow;
    struct not_predicted {
        const struct kernel *kernel;
        char why[sizeof((struct err *)0)->text];
    } * no;
};

/* Predict the times on g of all kernels, or of those kernels of the format f that may be the fastest of f. products 0: kernels are compared by the time of one SpMV; otherwise by that of their conversion and as many
   SpMVs. A failure of a single kernel is recorded in out->no. Returns false if the user cancelled, or after an error
   that ends the command; *out then holds the kernels predicted so far. The caller must call predictions_free even if
   the result is false. */
bool predictions_of(struct session *s, struct matrix *m, const struct format *f, int64_t products, enum type real,
                    const struct machine *g, struct predictions *out, struct err *e);
/* Replace the predictions of the kernels of f by those with other parameters of f, which are not kept. */
bool predictions_with(struct session *s, struct matrix *m, const struct format *f, const int64_t *param, enum type real,
                      const struct machine *g, struct predictions *p, struct err *e);
void predictions_free(struct predictions *p);

/* The prediction of one kernel that is kept with m, or NULL. */
const struct modeled *prediction_kept(const struct matrix *m, const struct kernel *k, enum type real,
                                      const struct machine *g);
/* Keep a prediction with m. Without memory for it, nothing is kept. */
void prediction_keep(struct matrix *m, const struct modeled *k, enum type real, const struct machine *g);
/* Free all predictions of a matrix. */
void kept_predictions_free(struct kept_predictions *p);

#endif
