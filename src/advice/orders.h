/* The orders of the rows of a matrix, by the predicted time of its fastest kernel in each. */
#ifndef ORDERS_H
#define ORDERS_H

#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "matrix/csr.h"

struct format;
struct kernel;
struct machine;
struct matrix;
struct ordering;
struct out;
struct predictions;
struct row_kind;
struct session;

/* An order that was tried, or that could not be tried. */
struct order_tried {
    const struct ordering *order; /* NULL: the order that the matrix has */
    const struct order_tried *as; /* gives the same order as this one, whose prediction it has; NULL: a new order */
    double order_us, move_us;     /* measured on this host: finding the order, and moving the entries; else 0 */
    const struct kernel *kernel;  /* the fastest in this order; NULL: not known */
    const struct format *format;
    char params[160]; /* of the format, as resolved; "": none */
    double us;        /* predicted time of one SpMV; NaN: not known */
    double prep_us;   /* time of the conversion to the format, measured on this host; 0 for csr */
    bool sampled;
    char why[sizeof((struct err *)0)->text]; /* why the order, or its time, is not known; "": it is known */
};
enum { ORDERS_MAX = 8 };
struct orders_tried {
    int n;
    struct order_tried at[ORDERS_MAX]; /* first the order that the matrix has */
    const struct order_tried *best;    /* the fastest by more than the error of the model; otherwise the first */
    int *perm[ORDERS_MAX];             /* of each; NULL: the order that the matrix has, or as->perm */
    struct csr moved;                  /* the matrix in the order `best`; empty if it has this order already */
};

/* Try the orders that can bring the elements of x that a row reads closer together (struct ordering, .local); if
   `quick`, only those that take time in proportion to the entries. f: the only format of the kernels; NULL: all.
   An order that refuses the matrix is listed with the reason. The caller must call orders_free even if the result is
   false. */
bool orders_try(struct session *s, struct matrix *m, const struct format *f, enum precision real,
                const struct machine *g, bool quick, struct orders_tried *out, struct err *e);
/* The orders that are quickly found, tried now or by an earlier call: the matrix keeps the result, without the orders
   themselves. NULL: failed. */
const struct orders_tried *orders_quick(struct session *s, struct matrix *m, enum precision real,
                                        const struct machine *g, struct err *e);
void orders_free(struct orders_tried *t);
/* The order of rows of t->best; NULL: that of the matrix. */
const int *orders_best_perm(const struct orders_tried *t);
/* The time by which the best order shortens one SpMV, divided by what the change costs: the number of SpMVs after which
   `t` has overtaken `now`, each with its conversion; infinite: never. */
double orders_pay_after(const struct order_tried *now, const struct order_tried *t);
/* Can an order of the rows make products faster by more than the factor `gain` than us, which the fastest kernel takes
   now? The values, x once and y must be moved in any case. */
bool orders_may_gain(const struct csr *A, const struct kernel *k, enum precision real, double us, double gain,
                     const struct machine *g);

/* Print an order that was tried; `now` is the order that the matrix has. */
void out_order_tried(struct out *o, const struct matrix *m, enum precision real, const struct machine *g,
                     const struct orders_tried *all, const struct order_tried *t);
/* Print all of them, and in text what they mean. */
void out_orders_tried(struct session *s, const struct matrix *m, enum precision real, const struct machine *g,
                      const struct orders_tried *all);
/* The keys of such a row (report/fields.h). */
extern const struct row_kind row_order_tried;

#endif
