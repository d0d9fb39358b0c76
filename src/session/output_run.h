/* Print runs of kernels. */
#ifndef OUTPUT_RUN_H
#define OUTPUT_RUN_H

#include <stdbool.h>

struct busy;
struct matrix;
struct measures;
struct out;
struct row_kind;
struct run;

/* Time of preparation on the device plus the time of one SpMV. */
double total_us(const struct run *r);
/* Two readings of eq. 18 of Wang et al. 2024: 2 * operands / time, and (2 * operands - rows) / time, which does not
   count an addition for the first product of a row. NaN if the format stores no diagonals. */
double padded_gflops(const struct run *r);
double padded_gflops_less_rows(const struct run *r);

/* Print the keys operands, pieces and variance, which text does not show; null if m is NULL. */
void out_measures(struct out *o, const struct measures *m);
/* Print operands, pieces, variance and padding as columns of a text table. */
void out_measures_text(struct out *o, const struct measures *m);
/* Print a text table of the runs with diagonal formats below the table of n runs, if there are any. */
void out_diagonals(struct out *o, const struct run *r, int n);
/* The same for the runs whose kernels prepare data on the device. */
void out_prepared(struct out *o, const struct run *r, int n);
/* Print a text table of the matrices that were copied to a device with memory of its own, if there are any. */
void out_copied(struct out *o, const struct run *r, int n);

/* If m is a transpose, print below the table of n runs what it takes to store m, in text only. */
void out_transposing(struct out *o, const struct matrix *m, const struct run *r, int n);

/* What text shows of a run: the row of a table of kernels; a record, with the values that do not fit in a table; or the
   row of a table of precisions. */
enum run_form { RUN_ROW, RUN_RECORD, RUN_BY_PRECISION };
/* Print the keys of a run of m, or of the matrix whose transpose m is. */
void out_run(struct out *o, const struct matrix *m, const struct run *r, enum run_form form);
/* Print the keys fits and reason of a row of `bench`; why_not NULL: the format fits. */
void out_fitting(struct out *o, const char *why_not);
/* Print remarks on n runs, in text only. */
void out_remarks(struct out *o, const struct run *r, int n);
/* In text, print a warning if other programs have kept the machine busy since `from`, and what that means. */
void out_busy(struct out *o, const struct busy *from, const char *means);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_run, row_diagonals;

#endif
