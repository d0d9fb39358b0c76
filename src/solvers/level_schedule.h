/* Level schedules: the rows of a sparse matrix sorted into levels, so that the rows of one level are independent and
   run in parallel. For Gauss-Seidel, a level is a colour; for a triangular solve, it is a level of the dependency
   graph. */
#ifndef LEVEL_SCHEDULE_H
#define LEVEL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "machine/level_ops.h"

struct device;
struct err;

C_BEGIN

/* The rows 0 .. n-1 sorted by level; the arrays are owned. */
struct order {
    int64_t n;
    int nlevels;
    int *start, *row; /* as in struct level_schedule */
    int *position;    /* [n]: the position of each row in row[] */
    int *step;        /* [n]: as in struct level_schedule, for a sync-free solve; else NULL */
    int lanes;        /* as in struct level_schedule */
    double us;        /* predicted time of a sync-free solve on a GPU */
};
/* Sort the rows by level[n], whose elements are in 0 .. nlevels-1. Within a level the rows ascend, or descend if `down`
   is set. */
bool order_by(struct order *o, int64_t n, const int *level, int nlevels, bool down, struct err *e);
/* Assign all rows to one level, for the host, which processes the rows one by one. */
bool order_plain(struct order *o, int64_t n, bool down, struct err *e);
void order_free(struct order *o);

/* A part of each row of a matrix. The part of row i consists of the entries begin[i] + skip .. end[i] - 1. */
struct entries {
    const int *begin, *end;
    int skip;
    const int *col;
    const double
        *val; /* pairs of a real and an imaginary part for a schedule of complex values; NULL: only a pattern */
};
/* level_of[n] receives the level of each row of a triangle: one more than the highest level of the rows on which the
   row depends. A row depends on rows before it, or on rows after it if `down` is set. Returns the number of levels. */
int levels_of(const struct entries *t, int64_t n, bool down, int *level_of);

/* How many times one block waits for memory to solve a level of `rows` rows, the longest of which has `longest`
   entries, with the best number of threads per row. */
int64_t level_steps(int64_t rows, int64_t longest);
/* Does one block finish such a level sooner than a separate launch? */
bool level_is_narrow(int64_t rows, int64_t longest);

/* The matrix of a schedule. Rows and columns are numbered as in the matrix, not by position. */
struct level_source {
    struct entries entries;
    const struct entries *mirror; /* if entries.val is NULL, entry (i, j) is the conjugate of entry (j, i) here */
    const int *position;          /* col holds position[column]; NULL: the column */
    const int *at;                /* [n]; as in struct level_schedule; NULL: the row's own number */
    const double *dinv;           /* [n], like the values; NULL: all 1 */
    const int *names; /* [n] the schedule's row[] and at[] hold names[row] in place of the row; NULL: the row */
};
/* Make a schedule on the device d with values of type `real` (T_F32, T_F64, T_C32 or T_C64). piece[0] and piece[1]
   receive the schedule's allocations on the device, which the caller frees, even after a failure. Free the struct
   itself with mem_free. */
struct level_schedule *level_schedule_make(struct device *d, enum type real, const struct order *o,
                                           const struct level_source *f, void **piece, struct err *e);
/* For tests: set the maximum number of rows of a narrow level, 0 .. LEVEL_NARROW; -1: the default. */
void level_schedule_hook(int rows);

C_END
#endif
