/* The rank of a column of a table. */
#ifndef COLUMN_RANK_H
#define COLUMN_RANK_H

/* Which columns stay if the terminal is too narrow. */
enum column_rank {
    COLUMN_DETAIL = -1, /* hidden first */
    COLUMN_NORMAL,
    COLUMN_ANSWER /* contains the result that the command was run for; never hidden */
};

#endif
