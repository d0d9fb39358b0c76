/* A matrix of the session stored in a format, and its copies on devices. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/stored.h"
#include "machine/mat.h"

struct err;

struct product {
    struct stored S;                /* packed by a device, S may lack arrays on the host: see product_complete */
    const struct csr *csr;          /* the matrix that is stored */
    int64_t requested[PARAMS_MAX];  /* the parameters before they were resolved */
    double prep_us;                 /* time to pack S, in us */
    const struct device *packed_on; /* NULL: the host */
    struct mat mat[4];              /* copies on devices */
    double put_us[4];               /* time to make each copy, in us */
    int nmats;
    /* A stored form of A that also serves as a stored form of A^T lends its arrays, here and on devices. */
    struct product *lender;   /* owns the arrays; NULL: this product does */
    struct product *borrower; /* uses the arrays of this product; NULL: none */
    struct product *next;
};

struct matrix;

/* Add p to the stored forms of m, which owns it from now on. Returns p. */
struct product *product_keep(struct matrix *m, struct product *p);
/* Does the host have all arrays? */
bool product_is_complete(const struct product *p);
/* Copy the arrays that only a device has to the host, or pack them again if the device has lost them. session_product
   does this; a command that multiplies on that device alone does not need them. */
bool product_complete(struct product *p, struct err *e);
void product_free(struct product *p);
/* Free mat i of p, but not the arrays that the lender of p owns. */
void product_free_mat(struct product *p, int i);

#endif
