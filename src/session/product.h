/* A matrix of the session stored in a format, and its copies on devices. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <stdint.h>

#include "machine/mat.h"
#include "formats/stored.h"

struct product {
    struct stored S;
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

#endif
