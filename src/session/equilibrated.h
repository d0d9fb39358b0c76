/* The equilibrated form of a matrix of the session, for `solve scaled`, and the reordered form, for `solve reorder`. */
#ifndef EQUILIBRATED_H
#define EQUILIBRATED_H

#include <stdbool.h>

struct err;
struct matrix;
struct ordering;
struct session;
struct solve_options;

/* What a matrix keeps of its equilibrated or reordered form; matrix.c frees it with the matrix. */
struct equilibrated {
    struct matrix *m;         /* R A C, P A Q', or P R A C Q', in no list */
    int *row, *col;           /* the exponents of R and C; NULL: not scaled */
    int *row_swap, *col_swap; /* P and Q as exchanges (matrix/reorder.h), maybe the same array; NULL: not reordered */
    const struct ordering *order; /* gave P and Q */
    struct equilibrated *before;  /* the one that this one replaced, if a solve still uses it */
};

/* The matrix that a solve of A x = b with these options iterates on, for the matrix m = A: m itself; with o->scaled,
   the equilibrated R A C (matrix/equilibrate.h); with o->reorder, the reordered one; with both, the reordered one with
   the scales of the order, or, if it has none, equilibrated. Unless it is m, it is owned by m, has its name, and is in
   no list; and o->scaling receives the scales and exchanges, which m owns too. m keeps the last reordered one, and the
   one that the solve of the session uses. */
struct matrix *session_iterated(struct session *s, struct matrix *m, struct solve_options *o, struct err *e);
/* Do the largest |a| of rows or columns of m differ so much that a solve should scale? *ratio: by how much. */
bool session_wants_scaling(const struct matrix *m, bool *wants, double *ratio, struct err *e);

#endif
