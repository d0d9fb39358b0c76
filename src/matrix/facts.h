/* The known facts of a matrix. A fact is found out once, by whoever needs it first: a command, the report card, a
   solve. The facts are kept with the matrix (session/matrix.h), whose entries never change. */
#ifndef FACTS_H
#define FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "dominance.h"
#include "saddle.h"
#include "symmetry.h"

struct err;

enum fact { FACT_UNKNOWN, FACT_NO, FACT_YES };

/* The proved fact about the eigenvalues of a symmetric or hermitian matrix.
   NOT: it is not positive definite, and not known to be negative definite or positive semidefinite.
   UNDECIDED: no eigenvalue of A, or of -A if the diagonal is negative, is below 0 by more than rounding errors; whether
   one is 0 or below cannot be decided in fp64.
   SEMI: no eigenvalue is below 0, and one is 0. */
enum definiteness {
    DEFINITE_UNKNOWN,
    DEFINITE_NOT,
    DEFINITE_UNDECIDED,
    DEFINITE_SEMI,
    DEFINITE_POSITIVE,
    DEFINITE_NEGATIVE
};

/* All 0: nothing is known. */
struct facts {
    bool not_finite; /* A has NaN or inf */
    bool no_values;  /* the file is a pattern: the values of A are ones */
    bool has_symmetry, has_skew, has_dominance;
    struct symmetry symmetry;
    double skew;             /* ||A - A'||_F / ||A||_F, A' conjugated; NaN if A has NaN or inf */
    enum dominant dominance; /* of the rows */
    bool strict;             /* strictly dominant in all rows or in all columns */
    enum definiteness definite;
    bool positive_discs, negative_discs; /* all Gershgorin discs lie to the right, or to the left, of 0 */
    bool singular, regular;              /* proved */
    const char *proof;                   /* of `singular` or `regular`, in a few words; NULL: not stated */
    int64_t no_diagonal;                 /* diagonal entries that are missing or 0 */
    bool has_saddle;
    struct saddle saddle;
    int64_t systems;  /* weakly connected components; 0: not known */
    double row_ratio; /* largest row maximum of |a| divided by the smallest; 0: not known */
    double condition; /* estimated from below; INFINITY: LU has no pivot, or beyond the range of fp64; 0: not known */
    double equilibrated; /* the same of the equilibrated matrix (equilibrate.h) */
    enum fact ilu0;     /* do incomplete factors exist, without a pivot that is 0 but for rounding? (solvers/suits.h) */
    enum fact ic0;      /* and with positive pivots, of A or -A */
    enum fact fillable; /* does an order of the rows put a nonzero entry on each place of the diagonal? (matching.h) */
    bool looked_for_definite; /* facts_definite has looked */
    int64_t block;            /* see facts_block; 0: not known */
    bool looked_for_null;     /* facts_null_constants has looked */
    int64_t null_constants;   /* components on which constants are mapped to 0 (null_space.h) */
    int64_t null_rows;        /* of these, components of one empty row */
};

/* Is A symmetric (if complex: hermitian) up to rounding, as far as it is known? */
enum fact fact_symmetric(const struct facts *f);
/* The same, found out if it is not known and needs some 100 ms at most; false if it needs longer. */
bool facts_symmetric(struct facts *f, const struct csr *A);
/* Can an order of the rows fill the diagonal, and is A not symmetric? Found out if it needs some 100 ms at most. */
bool facts_fillable(struct facts *f, const struct csr *A);
/* The definiteness of a real A, symmetric up to rounding. If it is not known, it is found out by dominance, or by
   Cholesky factors in the envelope of a reordered A, if that needs some 100 ms at most. */
enum definiteness facts_definite(struct facts *f, const struct csr *A);
/* *count = the components on which constants are mapped to 0, found out if it is not known. */
bool facts_null_constants(struct facts *f, const struct csr *A, int64_t *count, struct err *e);
/* The unknowns per node: the rows of each supervariable of A (reorder.h), if all have the same number, from 2 to
   BLOCK_MOST (nodes.h); or 2 or 3, if A maps the constants of so many unknowns to 0 (nodes.h); otherwise 1. Found out
   if it is not known. */
int64_t facts_block(struct facts *f, const struct csr *A);

/* Is a square A a saddle point (saddle.h)? The same; false if it needs longer. */
bool facts_saddle(struct facts *f, const struct csr *A);

/* The number of decimal digits that a solve with this condition number loses; at most DIGITS_F64, the number of digits
   of fp64. If a solve loses DIGITS_F64 digits, A is singular up to the rounding errors of fp64. If it loses
   DIGITS_F32 or more digits, a solve in fp32 has no correct digit. */
enum { DIGITS_F64 = 16, DIGITS_F32 = 7 };
int digits_lost(double condition);

bool is_definite(enum definiteness d);     /* positive or negative */
bool is_semidefinite(enum definiteness d); /* up to rounding errors: singular, with all eigenvalues on one side of 0 */
bool is_one_sided(enum definiteness d);    /* one of both */

#endif
