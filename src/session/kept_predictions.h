/* The predictions that a matrix keeps, by GPU and precision. */
#ifndef KEPT_PREDICTIONS_H
#define KEPT_PREDICTIONS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/precision.h"
#include "microscope/gpu_profile.h"

struct kernel;
struct matrix;
struct modeled;
struct orders_tried;

/* The predictions of kernels that can be emulated, the fastest first; the kernels that need not be predicted, because a
   lower bound of their time is longer than the times of the fastest; and the reason why each other kernel has none. */
struct predictions {
    enum precision real; /* of the stored matrix */
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

/* Empty, with room for all kernels that exist now. */
bool predictions_new(struct predictions *p, struct err *e);
void predictions_free(struct predictions *p);
struct modeled *predictions_find(const struct predictions *p, const struct kernel *k); /* NULL: not predicted */
bool predictions_refused(const struct predictions *p, const struct kernel *k);         /* is k in p->no? */
/* Add the prediction of a kernel, or replace it; it has no lower bound then. */
void predictions_put(struct predictions *p, const struct modeled *k);
void predictions_put_slow(struct predictions *p, const struct kernel *k, double least_us);

/* An entry of the list of a matrix. */
struct kept_predictions {
    struct machine on;
    enum precision real;
    struct predictions p;
    struct orders_tried *orders; /* what `advise` found of other orders (advice/orders.h), a block of memory; or NULL */
    struct kept_predictions *next; /* used longer ago */
};
/* The predictions of m for this GPU and precision, made if there are none; NULL: there is no memory for them. */
struct kept_predictions *kept_predictions_for(struct matrix *m, enum precision real, const struct machine *g,
                                              struct err *e);
/* Free all predictions of a matrix. */
void kept_predictions_free(struct kept_predictions *p);
/* Users' kernels may change, and are not kept. */
bool prediction_can_be_kept(const struct kernel *k);
/* The prediction of one kernel that is kept with m, or NULL. */
const struct modeled *prediction_kept(const struct matrix *m, const struct kernel *k, enum precision real,
                                      const struct machine *g);
/* Keep a prediction with m. Without memory for it, nothing is kept. */
void prediction_keep(struct matrix *m, const struct modeled *k, enum precision real, const struct machine *g);

#endif
