/* Prints direct solves. */
#include "output_direct.h"
#include "base/array.h"
#include "base/shared.h"
#include "base/text.h"
#include "direct/direct.h"
#include "fields.h"
#include "matrix/csr.h"
#include "matrix/reference.h"
#include "output.h"
#include "output_trust.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The nonzeros of A that the factors replace: with symmetry, those of one triangle. */
static double replaced(const struct direct_answer *a)
{
    double nnz = (double)a->A->nnz;
    return a->plan.triangle ? (nnz + (double)a->A->rows) / 2 : nnz;
}

static const char *status_of(const struct direct_answer *a)
{
    if (a->planned) return "planned";
    if (*a->factors.unusable) return "singular";
    if (!a->accurate) return "inaccurate";
    if (!isnan(a->normal)) return "least-squares";
    return a->met ? "solved" : "rounding";
}

/* ", 3 times those of A", or nothing if A has no nonzeros. */
struct fill {
    char text[60];
};
static struct fill fill_of(const struct direct_answer *a, double nnz)
{
    struct fill f = {""};
    const char *triangle = a->plan.triangle ? "'s triangle" : "";
    if (replaced(a) > 0) snprintf(f.text, sizeof f.text, ", %.3g times those of A%s", nnz / replaced(a), triangle);
    return f;
}

static void out_planned(struct out *o, const struct direct_answer *a)
{
    char text[200], bytes[32];
    const struct direct_plan *p = &a->plan;
    out_str(o, "ordering", "ordering", p->ordering);
    out_num(o, "planned_nnz", NULL, p->nnz, "%.0f");
    out_num(o, "planned_flops", NULL, p->flops, NULL);
    out_num(o, "planned_bytes", NULL, p->bytes, "%.0f");
    out_bool(o, "planned_bound", NULL, p->bound);
    out_num(o, "planned_fill", NULL, p->nnz / replaced(a), NULL);
    snprintf(text, sizeof text, "%s%.4g nonzeros%s; %.3g operations; %s", p->bound ? "at most " : "", p->nnz,
             fill_of(a, p->nnz).text, p->flops, show_bytes(p->bytes, bytes, sizeof bytes));
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "planned", isnan(p->nnz) ? "no estimate" : text);
}

static void out_found(struct out *o, const struct direct_answer *a)
{
    char text[200], bytes[32];
    const struct direct_factors *f = &a->factors;
    double rate = f->flops / a->factor_us * 1e-3;
    int n = snprintf(text, sizeof text, "%s", f->kind ? f->kind : "");
    if (!isnan(f->nnz))
        n += snprintf(text + n, sizeof text - (size_t)n, ": %.4g nonzeros%s", f->nnz, fill_of(a, f->nnz).text);
    if (!isnan(f->flops)) n += snprintf(text + n, sizeof text - (size_t)n, "; %.3g operations", f->flops);
    if (!isnan(f->bytes))
        snprintf(text + n, sizeof text - (size_t)n, "; %s", show_bytes(f->bytes, bytes, sizeof bytes));
    out_str(o, "factors", NULL, f->kind);
    if (f->kind && out_mode(o) == OUT_TEXT) out_str(o, NULL, "factors", text);
    out_num(o, "nnz", NULL, f->nnz, "%.0f");
    out_num(o, "fill", NULL, f->nnz / replaced(a), NULL);
    out_num(o, "flops", NULL, f->flops, NULL);
    out_num(o, "bytes", NULL, f->bytes, "%.0f");
    out_num(o, "gflops", NULL, rate, NULL);
}

/* Do rounding errors leave the rank and the signs of the pivots as they are? */
static bool is_certain(const struct direct_answer *a)
{
    static const double MARGIN = 0.1;
    return !(a->condition * DBL_EPSILON > MARGIN);
}

/* The signs of the pivots are those of the eigenvalues only if the factors are nearly those of A. */
static void out_pivots(struct out *o, const struct direct_answer *a)
{
    char text[160];
    const struct direct_factors *f = &a->factors;
    int64_t zero = f->rank - f->positive - f->negative;
    bool certain = is_certain(a), counted = f->positive >= 0, inertia = counted && certain && a->accurate;
    bool shows = out_mode(o) == OUT_TEXT;
    out_int_if(o, "rank", NULL, certain && f->rank >= 0, f->rank);
    out_int_if(o, "positive", NULL, inertia, f->positive);
    out_int_if(o, "negative", NULL, inertia, f->negative);
    out_int_if(o, "off_diagonal", NULL, f->off_diagonal >= 0, f->off_diagonal);
    out_num(o, "pivot_least", NULL, f->pivot_least, NULL);
    out_num(o, "pivot_most", NULL, f->pivot_most, NULL);
    if (!shows) return;
    if (f->rank >= 0) {
        int n = snprintf(text, sizeof text, "%lld", (long long)f->rank);
        if (f->rank < a->A->cols || f->rank < a->A->rows)
            snprintf(text + n, sizeof text - (size_t)n, "%s of the %lld x %lld matrix",
                     f->rank < a->A->cols && f->rank < a->A->rows ? " to fp64" : "", (long long)a->A->rows,
                     (long long)a->A->cols);
        out_str(o, NULL, "rank", certain ? text : "not known: A is nearly singular to fp64");
    }
    if (inertia) {
        snprintf(text, sizeof text, "%lld positive, %lld negative, %lld zero%s", (long long)f->positive,
                 (long long)f->negative, (long long)zero,
                 zero           ? ""
                 : !f->negative ? ": positive definite"
                 : !f->positive ? ": negative definite"
                                : ": indefinite");
        out_str(o, NULL, "eigenvalues", text);
    }
    if (counted && !inertia) out_str(o, NULL, "eigenvalues", "not known: the signs of the pivots are not reliable");
    if (!isnan(f->pivot_least)) {
        int n = snprintf(text, sizeof text, "%.3g to %.3g in size%s", f->pivot_least, f->pivot_most,
                         f->scaled ? " after scaling of the rows" : "");
        if (f->off_diagonal >= 0)
            snprintf(text + n, sizeof text - (size_t)n, ", %lld off the diagonal", (long long)f->off_diagonal);
        out_str(o, NULL, "pivots", text);
    }
}

static void out_errors(struct out *o, const struct direct_answer *a)
{
    bool has_x = a->x;
    char refined[120] = "%.3e";
    if (a->refinements)
        snprintf(refined, sizeof refined, "%%.3e before %s", how_many(a->refinements, "refinement").text);
    out_num(o, "condition", isnan(a->condition) ? NULL : "condition", a->condition, "at least %.2e, 1-norm");
    (has_x ? out_value : out_num)(o, "residual", has_x ? "residual" : NULL, a->residual, refined);
    out_int_if(o, "refinements", NULL, has_x, a->refinements);
    out_num(o, "correction", isnan(a->correction) ? NULL : "last correction", a->correction, "%.3e of x");
    (has_x ? out_value : out_num)(o, "residual_true", has_x ? "true residual" : NULL, a->residual_true, "%.3e");
    (has_x ? out_value : out_num)(o, "backward_error", has_x ? "backward error" : NULL, a->backward, "%.3e");
    out_num(o, "normal_error", isnan(a->normal) ? NULL : "A' r", a->normal, "%.3e of ||A|| ||r||");
    out_error_in_x(o, !isnan(a->error_known), a->error_known, &a->trust);
}

/* Append "NAME 1.2 ms" to text, which has room for `size` bytes, unless the call was not made. */
static void add_time(char *text, size_t size, const char *name, double us)
{
    char time[32];
    size_t n = strlen(text);
    if (!isnan(us)) snprintf(text + n, size - n, "%s%s %s", n ? ", " : "", name, show_us(us, time, sizeof time));
}

/* The last iterative solve, if it solved the same system and its x is on the host: its error against this x. */
static void out_before(struct out *o, const struct direct_answer *a, const struct solve *v)
{
    char heading[80];
    bool same = v && a->x && a->accurate && a->unique && v->matrix.csr == a->A && v->reason != RUNNING && v->result.x &&
                !memcmp(v->b, a->b, (size_t)a->b_numbers * sizeof *a->b);
    double error = same ? verdict_of(a->x_numbers, v->result.x, a->x, NULL).relative : NAN;
    if (same) snprintf(heading, sizeof heading, "error of %s", v->solver->name);
    out_str(o, "before", NULL, same ? v->solver->name : NULL);
    out_num(o, "before_error", same ? heading : NULL, error, "%.3e");
}

static void out_times(struct out *o, const struct direct_answer *a)
{
    char text[200] = "";
    if (a->again) snprintf(text, sizeof text, "analysis kept");
    add_time(text, sizeof text, "analysis", a->analyse_us);
    add_time(text, sizeof text, "factorisation", a->factor_us);
    add_time(text, sizeof text, "substitution", a->solve_us);
    add_time(text, sizeof text, "condition", a->condition_us);
    out_time(o, "analysis_us", NULL, a->analyse_us);
    out_time(o, "factor_us", NULL, a->factor_us);
    out_time(o, "solve_us", NULL, a->solve_us);
    out_time(o, "condition_us", NULL, a->condition_us);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "spent on", text);
    out_num(o, "time_ms", NULL, a->us / 1000, NULL);
    out_time(o, NULL, "time", a->us);
}

void out_direct(struct out *o, const struct direct_answer *a, const struct solve *before)
{
    char library[80];
    snprintf(library, sizeof library, "%s, by %s", a->method->name, a->method->library->file);
    out_record(o);
    out_str(o, "matrix", "matrix", a->name);
    out_str(o, "solver", "solver", "direct");
    out_str(o, "device", a->method->device ? "device" : NULL, direct_device(a->method));
    out_str(o, "method", NULL, a->method->name);
    out_str(o, "library", NULL, a->method->library->file);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "method", library);
    out_str(o, "tried", *a->tried ? "tried before" : NULL, *a->tried ? a->tried : NULL);
    out_str(o, "precision", "precision", type_name(type_of_numbers(T_F64, a->A->imag != NULL)));
    out_str(o, "b", *a->b_name ? "right side" : NULL, *a->b_name ? a->b_name : NULL);
    out_planned(o, a);
    out_found(o, a);
    out_bool(o, "converged", a->planned ? NULL : "solved", a->met);
    out_str(o, "status", NULL, status_of(a));
    out_str(o, "reason", "because", a->why);
    out_pivots(o, a);
    out_errors(o, a);
    if (!a->planned || out_mode(o) != OUT_TEXT) out_trust(o, &a->trust, a->met);
    out_before(o, a, before);
    out_times(o, a);
}

void out_direct_column(struct out *o, const struct direct_answer *a, const char *b, int64_t column)
{
    out_row(o);
    out_str(o, "matrix", NULL, a->name);
    out_str(o, "solver", NULL, "direct");
    out_str(o, "device", NULL, direct_device(a->method));
    out_str(o, "method", NULL, a->method->name);
    out_str(o, "b", NULL, b);
    out_int(o, "column", "column", column);
    out_bool(o, "converged", NULL, a->met);
    out_str(o, "status", "status", status_of(a));
    out_int(o, "refinements", "refinements", a->refinements);
    out_value(o, "residual", "residual", a->residual, "%.3e");
    out_value(o, "residual_true", "true residual", a->residual_true, "%.3e");
    out_value(o, "backward_error", "backward error", a->backward, "%.3e");
    out_num(o, "normal_error", isnan(a->normal) ? NULL : "A' r", a->normal, "%.3e");
    out_num(o, "error_known", a->known ? "error in x" : NULL, a->error_known, "%.3e");
    out_int_if(o, "digits", "digits of x", a->trust.digits >= 0, a->trust.digits);
    out_str(o, "digits_from", NULL, a->trust.from);
    out_num(o, "condition", NULL, a->condition, NULL);
    out_num(o, "factor_us", NULL, a->factor_us, NULL);
    out_num(o, "time_ms", "ms", a->us / 1000, "%.3f");
    out_str(o, "reason", NULL, a->why);
}

/* ---- the keys of the rows ---- */

static const struct field solve_direct_column_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "a factorisation, which serves all columns", .words = "direct"},
    {"device", F_TEXT, "the host, or the GPU on which cudss runs", .words = "cpu, cuda:0"},
    {"method", F_TEXT, "direct solver", .entries = &direct_registry},
    {"b", F_TEXT, "the right sides: given (in the file of the matrix) or a file"},
    {"column", F_COUNT, "the column of b, counted from 0"},
    {"converged", F_BOOLEAN, "whether x satisfies tol, or solves the least-squares problem"},
    {"status", F_TEXT, "how the solve ended", .words = "solved, least-squares, inaccurate, rounding"},
    {"refinements", F_COUNT, "steps of iterative refinement"},
    {"residual", F_AMOUNT | OR_NAN, "||b - A x|| / ||b|| before refinement"},
    {"residual_true", F_AMOUNT | OR_NAN, "||b - A x|| / ||b|| after refinement, in double with compensated sums"},
    {"backward_error", F_AMOUNT | OR_NAN, "||b - A x|| / (||A|| ||x|| + ||b||), infinity norms"},
    {"normal_error", F_AMOUNT | OR_NULL,
     "||A' r|| / (||A|| ||r||) of a least-squares solution; null: x solves A x = b"},
    {"error_known", F_AMOUNT | OR_NAN | OR_NULL, "relative error of x; null: the solution is not known or not unique"},
    {"digits", F_COUNT | OR_NULL,
     "decimal digits of x that are correct, relative to its largest elements; null: not known", .max = 15},
    {"digits_from", F_TEXT | OR_NULL,
     "what the digits are based on: a known x; the x of a direct solver; another step of refinement; a bound by "
     "backward error and condition; null: not known",
     .words = "known, direct, refinement, condition"},
    {"condition", F_AMOUNT | OR_NAN | OR_NULL,
     "lower bound of the condition number in the 1-norm; null: A has no full rank"},
    {"factor_us", F_AMOUNT, "time of the one factorisation, in us"},
    {"time_ms", F_AMOUNT, "time of this column, in ms; of column 0: with the analysis and the factorisation"},
    {"reason", F_TEXT, "how the solve ended, as a sentence"},
    {0},
};
const struct row_kind row_solve_direct_column = {"direct_column", "one of several right sides of a direct solve",
                                                 solve_direct_column_fields};

static const struct field solve_direct_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "a factorisation, no iterations", .words = "direct"},
    {"device", F_TEXT, "the host, or the GPU on which cudss runs", .words = "cpu, cuda:0"},
    {"method", F_TEXT, "direct solver", .entries = &direct_registry},
    {"library", F_TEXT, "file name of the library"},
    {"tried", F_TEXT | OR_NULL, "the direct solvers that were tried before, and why they were left; null: none"},
    {.include = &row_precision},
    {"b", F_TEXT | OR_NULL, "the file of the right side; null: not from a file"},
    {"ordering", F_TEXT, "ordering that keeps the factors sparse"},
    {"planned_nnz", F_AMOUNT, "nonzeros of the factors, predicted by the analysis"},
    {"planned_flops", F_AMOUNT, "operations of the factorisation, predicted by the analysis"},
    {"planned_bytes", F_AMOUNT, "memory of the factorisation in bytes, predicted by the analysis"},
    {"planned_bound", F_BOOLEAN, "whether the predictions are upper bounds for all choices of pivots"},
    {"planned_fill", F_AMOUNT, "planned_nnz divided by the nonzeros of A or, for cholmod, of one triangle of A"},
    {"factors", F_TEXT | OR_NULL, "the factors; null: nothing was factored", .words = "L L', -L L', L D L', L U, Q R"},
    {"nnz", F_AMOUNT | OR_NULL,
     "nonzeros of the factors; null: nothing was factored, A is singular, or the library does not count them"},
    {"fill", F_AMOUNT | OR_NULL,
     "nnz divided by the nonzeros of A or, for cholmod, of one triangle of A; null like nnz"},
    {"flops", F_AMOUNT | OR_NULL, "operations of the factorisation; null: nothing was factored, or A is singular"},
    {"bytes", F_AMOUNT | OR_NULL, "memory that the library used at its peak; null: nothing was factored"},
    {"gflops", F_AMOUNT | OR_NULL, "flops / factor_us, in 1e9 operations per second; null like flops"},
    {"converged", F_BOOLEAN, "whether x solves the system, or the least-squares problem, up to rounding"},
    {"status", F_TEXT, "how the solve ended",
     .words = "planned, solved, least-squares, singular, inaccurate, rounding"},
    {"reason", F_TEXT, "the same as a sentence, with numbers and advice"},
    {"rank", F_COUNT | OR_NULL, "rank that the factorisation found; null: unknown"},
    {"positive", F_COUNT | OR_NULL,
     "positive eigenvalues, counted from the pivots; null: not symmetric, not factored by cholmod, or the factors are "
     "not accurate"},
    {"negative", F_COUNT | OR_NULL, "negative eigenvalues; null like positive"},
    {"off_diagonal", F_COUNT | OR_NULL, "pivots that are not on the diagonal of the ordered matrix; null: not counted"},
    {"pivot_least", F_AMOUNT | OR_NULL,
     "smallest pivot in size, after a scaling of the rows by klu and umfpack; null: unknown"},
    {"pivot_most", F_AMOUNT | OR_NULL, "largest pivot in size; null: unknown"},
    {"condition", F_AMOUNT | OR_NAN | OR_NULL,
     "lower bound of the condition number in the 1-norm; null: A is not square or has no full rank"},
    {"residual", F_AMOUNT | OR_NAN | OR_NULL, "||b - A x|| / ||b|| before refinement; null: there is no x"},
    {"refinements", F_COUNT | OR_NULL, "steps of iterative refinement; null: there is no x"},
    {"correction", F_AMOUNT | OR_NULL,
     "size of the last correction relative to x, which estimates the error of x; null: not refined"},
    {"residual_true", F_AMOUNT | OR_NAN | OR_NULL,
     "||b - A x|| / ||b|| after refinement, in double with compensated sums; null: there is no x"},
    {"backward_error", F_AMOUNT | OR_NAN | OR_NULL,
     "||b - A x|| / (||A|| ||x|| + ||b||), infinity norms; null: there is no x"},
    {"normal_error", F_AMOUNT | OR_NULL,
     "||A' r|| / (||A|| ||r||) of a least-squares solution; null: x solves A x = b, or there is no x"},
    {"error_known", F_AMOUNT | OR_NAN | OR_NULL, "relative error of x; null: the solution is not known or not unique"},
    {"digits", F_COUNT | OR_NULL,
     "decimal digits of x that are correct, relative to its largest elements; null: not known", .max = 15},
    {"digits_from", F_TEXT | OR_NULL,
     "what the digits are based on: a known x; the x of a direct solver; another step of refinement; a bound by "
     "backward error and condition; null: not known",
     .words = "known, direct, refinement, condition"},
    {"digits_error", F_AMOUNT | OR_NULL,
     "||x - x*|| / ||x*||, measured, estimated or bounded; null: not known or infinite"},
    {"digits_because", F_TEXT, "what the digits are based on, or why they are not known, as a sentence"},
    {"before", F_TEXT | OR_NULL, "solver of the last iterative solve, if it solved the same system; null: it did not"},
    {"before_error", F_AMOUNT | OR_NULL, "relative error of its x against this x; null like before"},
    {"analysis_us", F_AMOUNT | OR_NULL, "time of the analysis, in us; null: it was kept from an earlier solve"},
    {"factor_us", F_AMOUNT | OR_NULL, "time of the factorisation, in us; null: nothing was factored"},
    {"solve_us", F_AMOUNT | OR_NULL, "time of the substitutions, refinement included, in us; null: there is no x"},
    {"condition_us", F_AMOUNT | OR_NULL, "time of the condition estimate, in us; null like condition"},
    {"time_ms", F_AMOUNT,
     "all of it: opening the library, copying, the direct solvers that were tried, and the checks, in ms"},
    {0},
};
const struct row_kind row_solve_direct = {"direct", "a direct solve", solve_direct_fields};
