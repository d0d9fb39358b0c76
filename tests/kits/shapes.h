/* Small matrices of every awkward shape, for tests of code that takes a CSR matrix. */
#ifndef SHAPES_H
#define SHAPES_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct shape {
    const char *name;
    int64_t rows, cols, entries;   /* random entries; duplicates are summed */
    int64_t long_row;              /* index of a full row, or -1 */
    bool complex_values, mirrored; /* mirrored: (j, i) has the value of (i, j) */
};
extern const struct shape shapes[]; /* terminated by an entry whose name is NULL */

struct triplets {
    int64_t n;
    int *row, *col;
    double *val, *imag; /* imag is NULL for a real matrix; values are multiples of 1/8, so sums are exact */
};
struct triplets shape_triplets(const struct shape *s, uint64_t seed);
void triplets_free(struct triplets *t);
/* The same for a shape of real values: the entries have imaginary parts, too. */
struct csr shape_csr_complex(const struct shape *s, uint64_t seed);
struct csr shape_csr(const struct shape *s, uint64_t seed);

/* Run `go` with the 1st, 2nd, ... allocation failing, until it succeeds; each failure must be E_MEMORY. Returns the
   number of failures. */
int fail_each(bool (*go)(const void *user, struct err *e), const void *user);

#endif
