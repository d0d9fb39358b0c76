/* The role of an array in a product y = A x: formats state it for the arrays that they store, kernels for the vectors
   that they are launched with. The microscope and the cost model go by it, never by an array's name. */
#ifndef ROLE_H
#define ROLE_H

enum role {
    ROLE_WORK, /* what a kernel keeps beside the matrix: partial sums, counters, cuts, shared memory */
    ROLE_X,
    ROLE_Y,
    /* Of a stored matrix: */
    ROLE_VALUES,
    ROLE_COLUMNS,
    ROLE_ROWS,      /* the row of each entry */
    ROLE_POINTERS,  /* where the entries of each row, slice, block row or column begin */
    ROLE_ROW_ORDER, /* the row at each position, where a format sorts its rows */
    ROLE_DIAGONALS, /* offsets of diagonals */
    ROLE_LAYOUT     /* any other array that says where entries lie: a format's own */
};

#endif
