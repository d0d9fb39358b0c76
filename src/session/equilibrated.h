/* The equilibrated form of a matrix of the session, for `solve scaled`, and the reordered form, for `solve reorder`. */
#ifndef EQUILIBRATED_H
#define EQUILIBRATED_H

#include <stdbool.h>

struct err;
struct matrix;
struct ordering;
struct solve_scaling;
struct watch;

/* What a matrix keeps of its equilibrated or reordered form; matrix.c frees it with the matrix. */
struct equilibrated {
    struct matrix *m;             /* R A C, or P A P', in no list */
    int *row, *col;               /* the exponents of R and C; NULL: not equilibrated */
    int *swap;                    /* P as exchanges (matrix/reorder.h); NULL: not reordered */
    const struct ordering *order; /* gave P */
};

/* R A C for the matrix m = A (matrix/equilibrate.h). It is owned by m, has its name, and is in no list. *by receives
   the scales, which m owns too. */
struct matrix *session_equilibrated(struct matrix *m, struct solve_scaling *by, struct err *e);
/* The same for P A P', in the order by o. m keeps the last one only: no solve may use another one. */
struct matrix *session_reordered(struct matrix *m, const struct ordering *o, struct watch *w, struct solve_scaling *by,
                                 struct err *e);
/* Do the largest |a| of rows or columns of m differ so much that a solve should scale? *ratio: by how much. */
bool session_wants_scaling(const struct matrix *m, bool *wants, double *ratio, struct err *e);

#endif
