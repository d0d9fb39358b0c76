/* The keys of the rows of `bench`. */
#ifndef CMD_BENCH_H
#define CMD_BENCH_H

struct row_kind;

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_bench_timed;

#endif
