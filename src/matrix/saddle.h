/* Saddle points: matrices with rows whose diagonal is 0 and that have no entries among themselves, or symmetric
   matrices with some rows whose diagonal has the other sign, as stabilised discretisations give them. */
#ifndef SADDLE_H
#define SADDLE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* In an order of the rows, A is [F G; B 0], and the diagonal of F is full; or [F B'; B -C], where the diagonal of F is
   positive and that of C is, too, or both are negative. The rows of B are the second block. */
struct saddle {
    int64_t second; /* rows of the second block */
    bool by_sign;   /* whose diagonal has the other sign; otherwise it is 0 or missing */
    int64_t zero;   /* rows whose diagonal entry is 0 or missing */
    int64_t mixed;  /* of these, rows with a nonzero entry in the column of one of these */
    int64_t empty;  /* of these, rows without a nonzero entry */
};
/* Look at a square matrix with arrays, which may be real and symmetric. is_second[rows] receives 1 for the rows of the
   second block, otherwise 0; it may be NULL. Ctrl-C ends this function. */
bool saddle_of(const struct csr *A, bool symmetric, struct saddle *s, unsigned char *is_second, struct err *e);
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
