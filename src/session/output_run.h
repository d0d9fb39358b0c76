/* Print runs of kernels. */
#ifndef OUTPUT_RUN_H
#define OUTPUT_RUN_H

#include <stdbool.h>

struct matrix;
struct measures;
struct out;
struct run;

/* Time of preparation on the device and of one SpMV. */
double total_us(const struct run *r);
/* 2 operands / time, as Wang et al. 2024 count; NaN where the format stores no diagonals. */
double padded_gflops(const struct run *r);

/* The keys operands, pieces and variance, not in text; null if m is NULL. */
void out_measures(struct out *o, const struct measures *m);
/* The same and the padding, as columns of a text table. */
void out_measures_text(struct out *o, const struct measures *m);
/* Text tables below that of n runs: diagonal formats, and kernels that prepare something on the device, if any. */
void out_diagonals(struct out *o, const struct run *r, int n);
void out_prepared(struct out *o, const struct run *r, int n);

/* The keys of a run; long_form also shows in text what a table has no room for. */
void out_run(struct out *o, const struct matrix *m, const struct run *r, bool long_form);
/* The keys fits and reason of a row of `bench`; NULL: it fits. */
void out_fitting(struct out *o, const char *why_not);
/* Remarks on n runs, in text. */
void out_remarks(struct out *o, const struct run *r, int n);

#endif
