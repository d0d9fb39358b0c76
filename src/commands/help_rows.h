/* The kinds of rows that `help` prints. */
#ifndef HELP_ROWS_H
#define HELP_ROWS_H

struct row_kind;

extern const struct row_kind *const help_row_kinds[]; /* terminated by NULL */

#endif
