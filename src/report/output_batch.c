/* Prints batches: a row for each column, then the totals. */
#include "output_batch.h"
#include "fields.h"
#include "machine/device.h"
#include "machine/spmm.h"
#include "output.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>

/* What both kinds of rows begin with; text shows it once, in the totals. */
static void out_method(struct out *o, const struct batch_totals *t, bool shown)
{
    out_str(o, "matrix", shown ? "matrix" : NULL, t->matrix);
    out_str(o, "solver", shown ? "solver" : NULL, t->solver->name);
    out_str(o, "precond", shown && t->pre ? "precond" : NULL, t->pre ? t->pre->name : NULL);
    out_str(o, "device", shown ? "device" : NULL, t->dev->name);
    out_str(o, "precision", shown ? "precision" : NULL, precisions[t->real].name);
    out_str(o, "b", NULL, t->b);
}

void out_batch_column(struct out *o, const struct batch_totals *t, int64_t i, const struct batch_column *c,
                      double error, const struct batch_alone *alone)
{
    out_row(o);
    out_method(o, t, false);
    out_int(o, "column", "column", i);
    out_bool(o, "converged", NULL, c->reason == CONVERGED);
    out_str(o, "status", "status", reason_name(c->reason));
    out_int(o, "iterations", "iterations", c->iterations);
    out_value(o, "residual_recursive", "residual", c->residual, "%.3e");
    out_value(o, "residual_true", "true residual", c->residual_true, "%.3e");
    out_num(o, "error_known", t->known ? "error in x" : NULL, error, "%.3e");
    out_int_if(o, "iterations_alone", t->compared ? "iterations alone" : NULL, alone != NULL,
               alone ? alone->iterations : 0);
    out_num(o, "difference", t->compared ? "x differs by" : NULL, alone ? alone->difference : NAN, "%.1e");
}

/* In text, the bytes of both ways in one line. */
static void out_bytes_moved(struct out *o, const struct batch_totals *t)
{
    char text[120];
    out_num(o, "bytes_per_iteration", NULL, t->bytes, "%.0f");
    out_num(o, "bytes_alone", NULL, t->bytes_alone, "%.0f");
    snprintf(text, sizeof text, "%.4g MB per iteration, %.0f%% of those of the columns one by one", t->bytes / 1e6,
             100 * t->bytes / t->bytes_alone);
    if (out_mode(o) == OUT_TEXT && t->bytes_alone > 0) out_str(o, NULL, "bytes", text);
}

void out_batch(struct out *o, const struct batch_totals *t)
{
    bool timed = t->dev->kind != DEV_EMU, compared = t->compared && timed;
    out_record(o);
    out_method(o, t, true);
    out_str(o, "kernel", "kernel", t->kernel->name);
    out_int(o, "columns", "columns", t->columns);
    out_int(o, "width", "together", t->width);
    out_int(o, "columns_converged", "converged", t->converged);
    out_int(o, "iterations", "iterations in lock step", t->iterations);
    out_int(o, "column_iterations", "column iterations", t->column_iterations);
    out_bytes_moved(o, t);
    out_time(o, "time_us", timed ? "time" : NULL, timed ? t->us : NAN);
    out_time(o, "time_alone_us", compared ? "one by one" : NULL, compared ? t->us_alone : NAN);
    out_num(o, "speedup", compared ? "times faster" : NULL, compared && t->us > 0 ? t->us_alone / t->us : NAN, "%.2f");
    out_num(o, "difference", t->compared ? "x differs by" : NULL, t->compared ? t->difference : NAN, "%.1e");
}

/* ---- the keys of the rows ---- */

static const struct field method_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "solver"},
    {"precond", F_TEXT | OR_NULL, "preconditioner; null: none"},
    {"device", F_TEXT, "device"},
    {.include = &row_precision},
    {"b", F_TEXT, "the right sides: given (in the file of the matrix), random, ... or a file"},
    {0},
};
static const struct row_kind row_method = {"method", "how a batch solved", method_fields};

static const struct field column_fields[] = {
    {.include = &row_method},
    {"column", F_COUNT, "the column of b, counted from 0"},
    {"converged", F_BOOLEAN, "whether x satisfies tol"},
    {"status", F_TEXT, "how the column ended", .word_at = reason_at},
    {"iterations", F_COUNT, "iterations until the column was done"},
    {"residual_recursive", F_AMOUNT | OR_NAN, "relative residual that the solver computed; a word if it is not finite"},
    {"residual_true", F_AMOUNT | OR_NAN, "relative residual b - A x in double; a word if it is not finite"},
    {"error_known", F_AMOUNT | OR_NULL, "relative error of x; null: the solution is not known"},
    {"iterations_alone", F_COUNT | OR_NULL, "iterations of a solve of this column alone; null without compare"},
    {"difference", F_AMOUNT | OR_NULL,
     "largest difference from the x of that solve, relative to its largest element; null without compare"},
    {0},
};
const struct row_kind row_batch_column = {"column", "one of several right sides", column_fields};

static const struct field batch_fields[] = {
    {.include = &row_method},
    {"kernel", F_TEXT, "kernel of the products with several vectors"},
    {"columns", F_COUNT, "right sides", .min = 1},
    {"width", F_COUNT, "columns of a group, which advance together", .min = 1, .max = COLUMNS_MAX},
    {"columns_converged", F_COUNT, "columns whose x satisfies tol"},
    {"iterations", F_COUNT, "iterations in lock step, added up over the groups"},
    {"column_iterations", F_COUNT, "the iterations of all columns, added up"},
    {"bytes_per_iteration", F_AMOUNT, "minimum number of bytes that an iteration of the first group moves"},
    {"bytes_alone", F_AMOUNT, "the same if each of its columns reads A for itself"},
    {"time_us", F_AMOUNT | OR_NULL, "time of the iterations, in us; null on emu"},
    {"time_alone_us", F_AMOUNT | OR_NULL,
     "time of the iterations of the columns one after another, in us; null on emu and without compare"},
    {"speedup", F_AMOUNT | OR_NULL, "time_alone_us / time_us; null on emu and without compare"},
    {"difference", F_AMOUNT | OR_NULL, "the largest difference of a column; null without compare"},
    {0},
};
const struct row_kind row_batch = {"batch", "all columns together", batch_fields};
