/* A matrix of the session: its values, where they came from, its statistics and its stored forms. */
#ifndef MATRIX_H
#define MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/precision.h"
#include "files/load_info.h"
#include "files/sides.h"
#include "matrix/csr.h"
#include "matrix/facts.h"
#include "matrix/gathers.h"
#include "matrix/stats.h"

struct device;
struct equilibrated;
struct kept_predictions;
struct parting;
struct scaling;
struct product;

struct matrix {
    char name[64];
    struct csr csr;
    struct load_info info;
    struct sides sides; /* the right sides and solutions of the file */
    struct stats stats;
    bool has_stats;
    struct facts facts;              /* what is known of csr */
    int64_t gathers[SECTOR / 4 + 1]; /* by elements per sector: csr_gathers, if it was counted; otherwise 0 */
    bool lesson;                     /* a lesson made this matrix, so the next lesson drops it */
    int64_t number;                  /* serial number of the matrix in the session, counted from 1 */
    int index;                       /* position in the list before the matrix was dropped; for undo */
    struct product *products;
    const struct format *converted; /* the format of the last `convert`; NULL: none */
    const struct device *parts_on;  /* `gen ... on` made it in parts for this device; NULL: the host has its entries */
    struct kept_predictions *predictions; /* owned (kept_predictions.h) */
    struct scaling *scaling;              /* the last `whatif parts`, owned; NULL: none */
    struct parting *parting;              /* its parts, owned (parting.h); NULL: it was not divided */
    struct matrix *transposed;            /* A^T, owned (session_transposed); NULL: no command needed it yet */
    const struct matrix *transpose_of;  /* this is `transposed` of that matrix, and in no list; NULL: it is in a list */
    double transpose_us;                /* if transpose_of is not NULL: time to transpose that matrix */
    const struct device *transposed_on; /* and the device that transposed it */
    struct equilibrated *equilibrated;  /* owned (equilibrated.h); NULL: no solve needed it yet */
    struct equilibrated *reordered;     /* the same in another order of the rows; NULL: no solve needed it yet */
    struct matrix *next;
};

/* The name of the values of A in a precision, P_F32 or P_F64: "fp64", or "complex fp64" if A is complex. The
   precisions of stored matrices, P_C32 and P_C64, give the same names. */
const char *precision_of(const struct csr *A, enum precision precision);
/* Free the stored forms of m, its transpose and its equilibrated and reordered forms. matrix_free also frees m itself;
   m must not be in a list. */
void products_free(struct matrix *m);
void matrix_free(struct matrix *m);
/* Free the equilibrated or the reordered form of a matrix. NULL is none. */
void equilibrated_free(struct equilibrated *q);
int64_t matrix_bytes(const struct matrix *m); /* of the entries, right sides and solutions */

#endif
