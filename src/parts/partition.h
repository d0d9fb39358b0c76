/* Partitions: which part owns which rows of a matrix, and which items of x and y. */
#ifndef PARTITION_H
#define PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct csr;
struct err;
struct partition;
struct watch;

enum { PARTS_MAX = 1 << 20 };

/* A way to divide a matrix. `divide` gets a partition with its sizes set and `first` all 0. It fills either `first`, or
   owner[rows], the part of each row, if the way has `by_owner`. */
struct way {
    const char *name, *about, *source;
    const char *aliases; /* other names, separated by blanks; NULL: none */
    bool by_owner;
    bool (*divide)(struct partition *P, const struct csr *A, int *owner, struct watch *w, struct err *e);
};
extern const struct way *const ways[]; /* terminated by NULL */
extern const struct registry way_registry;
const struct way *way_find(const char *name);

/* Rows are sorted by part, and ascend within each part. The place of a row in that sequence is its position: part p
   owns the rows at the positions first[p] .. first[p+1]-1. A part may be empty.
   Part p owns the items of y at the same positions. If the matrix is square, it owns the items of x there, too. If the
   matrix is rectangular, the items of x are divided into contiguous shares of equal size, whatever the rows' way, and
   the partition is contiguous. */
struct partition {
    const struct way *way; /* NULL: made by partition_shares or partition_of_owners */
    int parts;
    int64_t rows, cols;
    int64_t *first;     /* [parts+1] */
    int64_t *first_col; /* [parts+1]; the same array as `first` if the matrix is square */
    int *order;         /* [rows]: the row at each position; NULL: contiguous, every position is its row */
    int *position;      /* [rows]: the position of each row, and of each column; NULL: contiguous */
};

/* Divide A, which may be any size if the way is contiguous, into `parts` parts. Fails with E_USAGE if parts is not
   within 1 .. PARTS_MAX. After a failure, P is empty. partition_free accepts an empty partition. */
bool partition_new(struct partition *P, const struct way *way, const struct csr *A, int parts, struct watch *w,
                   struct err *e);
/* Contiguous parts with equal numbers of rows; with equal numbers of nonzeros. */
bool partition_rows(struct partition *P, const struct csr *A, int parts, struct err *e);
bool partition_nnz(struct partition *P, const struct csr *A, int parts, struct err *e);
/* Contiguous parts whose nonzeros are in proportion to share[parts], which are >= 0 and not all 0. */
bool partition_shares(struct partition *P, const struct csr *A, int parts, const double *share, struct err *e);
/* The partition of a square matrix from the part of each row. Fails with E_INTERNAL if an owner is outside 0 ..
   parts-1. */
bool partition_of_owners(struct partition *P, int64_t rows, int parts, const int *owner, struct err *e);
void partition_free(struct partition *P);
bool partition_copy(struct partition *out, const struct partition *P, struct err *e);
/* The partition of P A P', whose rows are sorted by part: contiguous, with the same parts. */
bool partition_sorted(struct partition *out, const struct partition *P, struct err *e);
/* Estimate of the bytes that partition_new and exchange_of (exchange.h) need for A and this number of parts. */
int64_t partition_needs(const struct way *way, const struct csr *A, int parts);
/* Bytes of the arrays of a partition. */
int64_t partition_memory(int64_t rows, int parts, bool contiguous);

/* The row or column at a position, and the position of a row or column. */
static inline int64_t partition_row(const struct partition *P, int64_t position)
{
    return P->order ? P->order[position] : position;
}
static inline int64_t partition_position(const struct partition *P, int64_t row)
{
    return P->position ? P->position[row] : row;
}
static inline int64_t partition_rows_of(const struct partition *P, int part)
{
    return P->first[part + 1] - P->first[part];
}
static inline int64_t partition_cols_of(const struct partition *P, int part)
{
    return P->first_col[part + 1] - P->first_col[part];
}
/* The part that owns a row of the matrix, and item j of x. */
int partition_owner(const struct partition *P, int64_t row);
int partition_col_owner(const struct partition *P, int64_t col);
/* The part that owns the item of x at a position. */
int partition_owner_at(const struct partition *P, int64_t col_position);

C_END
#endif
