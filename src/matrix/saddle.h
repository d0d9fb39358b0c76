/* Saddle points: matrices with rows whose diagonal is 0 and that have no entries among themselves. */
#ifndef SADDLE_H
#define SADDLE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* In an order of the rows, A is [F G; B 0], and the diagonal of F is full. */
struct saddle {
    int64_t zero;  /* rows whose diagonal entry is 0 or missing */
    int64_t mixed; /* of these, rows with a nonzero entry in the column of one of these */
    int64_t empty; /* of these, rows without a nonzero entry */
};
/* Look at a square matrix with arrays. is_zero[rows] receives 1 for the rows with a zero diagonal, otherwise 0; it may
   be NULL. Ctrl-C ends this function. */
bool saddle_of(const struct csr *A, struct saddle *s, unsigned char *is_zero, struct err *e);
/* Why A is no saddle point. Discretisations of Stokes' equations may have a few empty rows, which make A singular. */
enum saddle_lack {
    SADDLE_LACKS_NOTHING, /* A is one */
    SADDLE_MIXED,         /* zero rows have entries among themselves */
    SADDLE_FULL,          /* there are no zero rows */
    SADDLE_EMPTY,         /* half of the zero rows or more are empty */
    SADDLE_MANY           /* more than half of the rows are zero rows, so A is singular */
};
enum saddle_lack saddle_lack(const struct saddle *s, int64_t rows);
bool is_saddle(const struct saddle *s, int64_t rows);

#endif
