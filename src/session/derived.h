/* Matrices that commands derive from other matrices. */
#ifndef DERIVED_H
#define DERIVED_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct matrix;
struct session;

/* How the right sides b and the solutions x of A x = b become those of a matrix B that was derived from A: row i of B
   is row p = rows[i] of A, its b is b[p] / row_divisor[p], and element j of its x is x[q] * col_divisor[q] with q =
   cols[j]. A NULL pointer stands for the identity. */
struct carried {
    const int *rows, *cols;
    int64_t row0; /* if `rows` is NULL: row i of B is row row0 + i of A */
    const double *row_divisor, *col_divisor;
    bool drops_x;     /* b stays, but x does not solve the new system */
    const char *says; /* a note, after "b of A"; NULL: none */
};

/* Take ownership of A, which was derived from `of` in `us` microseconds. A gets this name, or, if `name` is NULL,
   the name OF-ENDING. `list` shows `of` as the origin of A. A gets the right sides and solutions of `of` by c. If c is
   NULL, they do not belong to A, and a note says that they were left out. */
bool session_add_derived(struct session *s, const char *name, const struct matrix *of, const char *ending,
                         struct csr *A, const struct carried *c, double us, struct err *e);
/* The part of session_add_derived for the right sides; the new matrix is the current one. */
bool session_carry_sides(struct session *s, const struct matrix *of, const struct carried *c, struct err *e);

#endif
