/* The role of an array in the SpMV y = A x, or in dense LU. Formats state the role of each array that they store;
   kernels state the role of each vector that their launches receive. The microscope and the cost model recognise an
   array by its role, never by its name. */
#ifndef ROLE_H
#define ROLE_H

enum role {
    ROLE_WORK, /* a kernel's work memory: partial sums, counters, partition bounds, shared memory */
    ROLE_X,
    ROLE_Y,
    ROLE_SQUARE, /* a dense square matrix that is factored in place, column by column */
    /* roles in a stored matrix: */
    ROLE_VALUES,
    ROLE_COLUMNS,
    ROLE_ROWS,      /* the row of each entry */
    ROLE_POINTERS,  /* offset of the first entry of each row, slice, block row or column */
    ROLE_ROW_ORDER, /* the row at each position, if the format sorts its rows */
    ROLE_DIAGONALS, /* offsets of diagonals */
    ROLE_LAYOUT,    /* any other array that locates entries, private to a format */
    ROLE_BITS       /* like ROLE_LAYOUT, but each element is a mask of 32 bits, shown in hexadecimal */
};

#endif
