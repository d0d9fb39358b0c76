/* The kinds of rows that `count` prints. */
#ifndef COUNT_ROWS_H
#define COUNT_ROWS_H

struct row_kind;

extern const struct row_kind *const count_row_kinds[]; /* terminated by NULL */

#endif
