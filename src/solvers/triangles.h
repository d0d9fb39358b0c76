/* A preconditioner M = L U that consists of two sparse triangles on a device; ilu0, ic0 and ilut share it. */
#ifndef TRIANGLES_H
#define TRIANGLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "level_schedule.h"
#include "matrix/csr.h"

struct err;
struct solve;
struct watch;

/* Indices in v->pre.note[]: numbers that describe a factorisation. */
enum {
    TRI_LEVELS_LOWER,
    TRI_LEVELS_UPPER,
    TRI_SHIFT,      /* the relative increase of the diagonal, or the size of replaced pivots, in millionths */
    TRI_WAY,        /* enum triangle_way; TRIANGLES_AUTO: row by row, on the device cpu */
    TRI_LEVELS_US,  /* predicted time of an application on a GPU, level by level, in us; 0: not predicted */
    TRI_FREE_US,    /* the same, sync-free */
    TRI_NATURAL_US, /* the same in the order of A, if the rows were ordered by colours for this reason; else 0 */
    TRI_REPLACED,   /* pivots that were too small, and replaced */
    TRI_TURNED,     /* pivots whose sign was changed, because the solver needs a positive definite M */
    TRI_FILL        /* ilut: entries of L + U, in millionths of those of A; else 0 */
};

/* Write the index of the diagonal entry of each row of A to diag[A->rows]. Fails if a row has no diagonal entry; `who`
   is the name of the method in the error. */
bool diagonal_places(const struct csr *A, const char *who, int *diag, struct err *e);
/* Choose v->pre.order, the order of the rows of the factors of A. *names receives, for each of these rows, the row of A
   that it is, or NULL if the rows keep their order; the caller frees it. `symmetric`: the pattern of A is known to be.
 */
bool triangles_order(struct solve *v, const struct csr *A, const int *diag, bool symmetric, int **names, struct err *e);
/* The same, if only the order that the user named is possible: fill makes colours useless. */
bool triangles_named_order(struct solve *v, const struct csr *A, int **names, struct err *e);

/* The factors L and U without their diagonals. lower_inverse and upper_inverse hold the inverses of the diagonals of L
   and U; NULL: all ones. If A is complex, all values are pairs. If upper.val is NULL, U is the conjugate transpose
   of L. */
struct factors {
    int64_t n;
    struct entries lower, upper;
    const double *lower_inverse, *upper_inverse;
    const int *names; /* as above */
};
/* Copy the factors to v->dev, sorted by level. ilu0 and ic0 assign the other triangles_ functions to the members of
   struct precond. */
bool triangles_make(struct solve *v, const struct factors *f, struct err *e);
bool triangles_apply(struct solve *v, const void *r, void *z, struct err *e);
bool triangles_restore(struct solve *v, struct err *e);
void triangles_drop(struct solve *v);
double triangles_bytes(const struct solve *v);
void triangles_note(const struct solve *v, char *out, size_t size);
void triangles_how(const struct solve *v, char *out, size_t size);

/* The order in which a factorisation eliminates n rows, whose entries to the left of the diagonal are L: by the levels
   of L, or, if levels have few rows, one row after another in a single level. Free *o with order_free. */
bool elimination_order(const struct entries *L, int64_t n, struct order *o, struct err *e);
/* Call row(ctx, i) for every row, for the rows of a level on all threads. A row that fails spoils only later rows that
   depend on it: *first receives the first row that failed, or the number of rows. Returns false if the user
   cancelled. */
bool eliminate_rows(const struct order *o, struct watch *w, const char *what, bool (*row)(void *ctx, int64_t i),
                    void *ctx, int64_t *first, struct err *e);

/* Two rows, whose entries are a .. a_end-1 and b .. b_end-1 in ascending columns. */
struct row_pair {
    const int *col;
    int a, a_end, b, b_end;
    int64_t steps; /* comparisons so far */
};
/* Go on to the next column that both rows have, from entries a and b on; false: there is none. What the other row lacks
   is skipped, as one of them may be full. Called once per entry: without always_inline, a factorisation takes 1.4 times
   as long. */
static inline __attribute__((always_inline)) bool rows_meet(struct row_pair *p)
{
    while (p->a < p->a_end && p->b < p->b_end) {
        int i = p->col[p->a], j = p->col[p->b];
        p->steps++;
        if (i == j) return true;
        if (i < j)
            p->a = (int)column_next(p->col, p->a + 1, p->a_end, j);
        else
            p->b = (int)column_next(p->col, p->b + 1, p->b_end, i);
    }
    return false;
}

/* pre_ilu0.c: subtract `factor` times the entries l .. l_end-1, which belong to one row of A, from the entries m ..
   end-1 of another row, wherever both rows have an entry. val: for each entry of A. Returns the number of comparisons.
 */
int64_t subtract_complex_row(const struct csr *A, double _Complex *val, int m, int end, int l, int l_end,
                             double _Complex factor);

/* pre_ic0.c: relative increases of the diagonal, tried in turn until all pivots are positive. The first IC0_SMALL leave
   M near a positive definite A. */
enum { IC0_SHIFTS = 9, IC0_SMALL = 6 };
extern const double ic0_shifts[IC0_SHIFTS];

/* *inverse = 1 / *pivot; fails if the pivot is 0, not finite, or too small to divide by. If `type` is complex, the
   pivot and its inverse are pairs. */
bool invert_pivot(const double *pivot, enum type type, const char *who, int64_t row, double *inverse, struct err *e);

/* What ilut drops, relative to the 2-norm of a row, and the entries that it adds to a row of L or U, unless the user
   gives others. */
extern const double ilut_drop;
extern const int64_t ilut_fill;

#endif
