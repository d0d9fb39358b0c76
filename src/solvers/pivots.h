/* Pivots of incomplete LU factors: what becomes of those by which a row cannot be divided, and of those whose sign does
   not suit the solver. ilu0 and ilut share it. */
#ifndef PIVOTS_H
#define PIVOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct csr;
struct err;
struct factors;
struct given;
struct solve;

/* A pivot is small if its size is below `size` times the largest entry of its row of A; its sign, or angle, is kept
   when it is replaced by one of that size (Saad 2003, 10.3.2 and 10.4). */
struct pivots {
    const char *who;     /* the method, in errors */
    enum type type;      /* of the numbers on the device */
    const struct csr *A; /* the rows that are factored */
    double most;         /* at least the largest |a| of A */
    double size;         /* 0: small pivots are refused */
    double least;        /* if they are refused: the size from which a pivot is accepted */
    int64_t replaced;    /* counted by all threads */
};

/* The sizes to try in turn: one if the user gave a shift, else first none, and then a geometric row. */
enum { PIVOT_SIZES = 5 };
int pivots_tries(const struct given *shift);
struct pivots pivots_try(int k, const struct given *shift, const struct csr *A, enum type type, const char *who);

/* Replace *pivot, of row i of A, if it is small; *inverse = 1 / *pivot. Fails if the program cannot divide by it; `row`
   is the row in the error. If the type is complex, the pivot and its inverse are pairs. */
bool pivot_invert(struct pivots *p, int64_t i, int64_t row, double *pivot, double *inverse, struct err *e);
/* After pivots were replaced: does M^-1 times ones stay small enough for M = L U to be of use (Chow and Saad 1997)? */
bool pivots_are_stable(const struct pivots *p, const struct factors *f);
/* After the last try: note what became of the pivots in v->pre.note. If the solver of v needs a positive definite M,
   and the user did not say `shift 0`, U becomes |D| L' in place of D L' (Gill, Murray, Ponceleon and Saunders 1992):
   the entries of each row of U with a negative pivot change their signs, in val and inverse, which are those of f. */
void pivots_note(struct solve *v, const struct pivots *p, const struct factors *f, double *val, double *inverse);

#endif
