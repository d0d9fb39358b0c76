/* Prints solves by iteration: the state of one that runs, and the result of one that has ended. */
#include "output_solve.h"
#include "base/array.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/sum_tree.h"
#include "matrix/csr.h"
#include "matrix/reorder.h"
#include "output.h"
#include "output_solve_costs.h"
#include "output_trust.h"
#include "solvers/precond.h"
#include "solvers/ritz.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>

/* ---- the state of a running solve ---- */

void out_reached(struct out *o, const struct solve *v)
{
    out_int(o, "iteration", "iteration", v->iterations);
    out_num(o, "residual", "residual", v->residual, "%.6e");
    out_num(o, "normal", v->solver->least_squares ? "||A' r|| / (||A|| ||r||)" : NULL,
            solve_least_at(v, v->iterations).normal, "%.6e");
}

void out_iterate(struct out *o, const struct solve *v)
{
    out_row(o);
    out_reached(o, v);
}

void out_iteration(struct out *o, const struct solve *v, double us)
{
    bool diff = v->solver->diff, timed = v->dev->kind != DEV_EMU;
    out_iterate(o, v);
    out_num(o, "time_us", timed ? "us" : NULL, timed ? us : NAN, "%.2f");
    out_num(o, "max_diff", diff ? "max |x' - x|" : NULL, diff ? v->max_diff : NAN, "%.6e");
}

/* ---- the system and the method ---- */

const char *solve_right_text(const struct solve_right *r, char *out, size_t size)
{
    int n = snprintf(out, size, "%s%s", r->name,
                     r->given           ? ", from the file of the matrix"
                     : r->replaces_ones ? ": A times a varied x, because A * ones is 0 or nearly a multiple of ones"
                                        : "");
    if (r->columns > 1)
        snprintf(out + n, size - (size_t)n, ", column %lld of %lld (counted from 0)", (long long)r->column,
                 (long long)r->columns);
    return out;
}

/* The right side; text mode shows it if it comes from a file, or is not the one that users expect. */
static void out_right_side(struct out *o, const struct solve *v)
{
    char text[240];
    const struct solve_right *r = &v->right;
    out_str(o, "b", NULL, r->name[0] ? r->name : NULL);
    out_int_if(o, "column", NULL, r->columns > 1, r->column);
    solve_right_text(r, text, sizeof text);
    if ((r->from_file || r->replaces_ones) && out_mode(o) == OUT_TEXT) out_str(o, NULL, "right side", text);
}

/* Another program that iterated. */
static void out_engine(struct out *o, const struct solve *v)
{
    bool on = v->engine.runs != NULL;
    out_int_if(o, "ranks", NULL, on, v->engine.ranks);
    out_str(o, "engine", on ? "iterated by" : NULL, on ? v->engine.about : NULL);
    out_str(o, "engine_options", on ? "options" : NULL, on ? v->engine.options : NULL);
    out_str(o, "residual_is", NULL, on ? v->engine.residual : "||r|| / ||b||");
    if (on && out_mode(o) == OUT_TEXT) out_str(o, NULL, "residual is", v->engine.residual);
}

/* The kernel of the iterations. A launch that does many iterations multiplies without a kernel. */
static void out_kernel(struct out *o, const struct solve *v)
{
    const struct kernel *k = cluster_used(v) ? NULL : v->matrix.kernel;
    out_str(o, "kernel", v->engine.runs || cluster_used(v) ? NULL : "kernel", k ? k->name : NULL);
}

/* A' on the device, for a solver that multiplies by it. */
static void out_transposed(struct out *o, const struct solve *v)
{
    const struct mat *M = v->matrix.transposed;
    const struct kernel *k = v->matrix.transposed_kernel;
    char text[160], bytes[32];
    out_num(o, "transposed_bytes", NULL, M ? (double)stored_bytes(M->of) : NAN, "%.0f");
    if (!M || out_mode(o) != OUT_TEXT) return;
    snprintf(text, sizeof text, "%s, with A' in %s, %s", k->name, M->of->format->name,
             show_bytes((double)stored_bytes(M->of), bytes, sizeof bytes));
    out_str(o, NULL, "A' times", text);
}

static const char *kind_of_null_space(const struct null_space *s)
{
    if (!s->constant) return "";
    bool several = s->right.count > 1;
    if (!s->alone) return several ? ": constants of components" : ": constants";
    if (s->alone == s->right.count) return several ? ": of rows without entries" : ": of a row without entries";
    return ": constants of components, and of rows without entries";
}

/* What was projected out of a singular system, and the part of b for which there is no x. */
static void out_null_space(struct out *o, const struct solve *v)
{
    static const double ROUNDING = 1e-12;
    const struct solve_null *s = &v->null;
    const struct null_basis *left = null_space_left(&s->of);
    int64_t count = s->of.right.count;
    char text[240];
    out_str(o, "null_space", NULL, !count ? NULL : s->of.constant ? "constant" : "given");
    out_int_if(o, "null_vectors", NULL, count > 0, count);
    out_num(o, "b_in_null_space", NULL, left ? s->share : NAN, NULL);
    if (!count || out_mode(o) != OUT_TEXT) return;
    snprintf(text, sizeof text, "%s%s, projected out of %sx", how_many(count, "vector").text,
             kind_of_null_space(&s->of),
             !left         ? ""
             : s->iterated ? "b, the residuals and "
                           : "b and ");
    out_str(o, NULL, "null space", text);
    if (!left)
        out_str(o, NULL, "b", "its part for which there is no x is not known: A is not symmetric");
    else if (s->share > ROUNDING) {
        snprintf(text, sizeof text, "has a part of %.1e in the null space%s: no x solves it; the solve is for the rest",
                 s->share, s->of.same ? "" : " of A'");
        out_str(o, NULL, "b", text);
    }
}

/* The powers of 2 by which A and b are divided while the solver iterates. */
static void out_scaled(struct out *o, const struct solve *v)
{
    struct solve_exponents by = v->matrix.exponents;
    char text[160] = "";
    out_int(o, "matrix_exponent", NULL, by.a);
    out_int(o, "b_exponent", NULL, by.b);
    if (by.a) text_append(text, sizeof text, "A times 2^%d", -by.a);
    if (by.b) text_append(text, sizeof text, "%sb times 2^%d", by.a ? ", " : "", -by.b);
    text_append(text, sizeof text, " while iterating; x and the residuals are those of the system given");
    if ((by.a || by.b) && out_mode(o) == OUT_TEXT) out_str(o, NULL, "scaled", text);
}

/* The smallest and the largest exponent. */
struct scales {
    int low, high;
};
static struct scales scales_of(const int *by, int64_t n)
{
    struct scales s = {n ? by[0] : 0, n ? by[0] : 0};
    for (int64_t i = 1; i < n; i++) {
        s.low = by[i] < s.low ? by[i] : s.low;
        s.high = by[i] > s.high ? by[i] : s.high;
    }
    return s;
}

/* The order in which the solve iterated, if it was not that of the matrix. */
static void out_reordered(struct out *o, const struct solve *v)
{
    const struct ordering *order = v->scaling.order;
    out_str(o, "reordered", NULL, order ? order->name : NULL);
    if (!order || out_mode(o) != OUT_TEXT) return;
    char text[160];
    snprintf(text, sizeof text, "%s; x and true residual are those of A x = b, in its own order", order->name);
    out_str(o, NULL, "rows ordered by", text);
}

/* Did the solve equilibrate, and by how much? */
static void out_scaling(struct out *o, const struct solve *v)
{
    const struct solve_scaling *by = &v->scaling;
    char text[200];
    out_bool(o, "scaled", NULL, by->row != NULL);
    if (!by->row || out_mode(o) != OUT_TEXT) return;
    struct scales rows = scales_of(by->row, by->of->rows), cols = scales_of(by->col, by->of->cols);
    snprintf(text, sizeof text,
             "rows by 2^%d to 2^%d, columns by 2^%d to 2^%d; x and true residual are those of A x = b", rows.low,
             rows.high, cols.low, cols.high);
    out_str(o, NULL, "scaled", text);
}

/* In the matrix form, the residual is computed from the change of x. */
static void out_form(struct out *o, const struct solve *v)
{
    bool has = v->solver->form_bytes, matrix = v->set.form_matrix;
    out_str(o, "form", NULL, !has ? NULL : matrix ? "matrix" : "update");
    if (matrix && out_mode(o) == OUT_TEXT)
        out_str(o, NULL, "form",
                v->solver->omega > 0
                    ? "x' = B x + f; the residual is D (x' - x) / omega, which is b - A x up to rounding"
                    : "x' = B x + f; the residual is D (x' - x), which is b - A x up to rounding");
}

/* Where inner products and norms are added up, and by how many thread blocks if the host adds the sums of blocks. */
static void out_sums(struct out *o, const struct solve *v)
{
    bool host = v->set.sums_host;
    struct sum_tree tree = sum_tree_of(v->n);
    char text[240];
    out_str(o, "sums", NULL, host ? "host" : "device");
    out_num(o, "sum_blocks", NULL, host ? tree.blocks : NAN, "%.0f");
    out_num(o, "sum_threads", NULL, host ? tree.threads : NAN, "%.0f");
    out_num(o, "sum_elements", NULL, host ? (double)tree.each : NAN, "%.0f");
    snprintf(text, sizeof text, "added on the host: %s of %d threads, %s per block",
             how_many(tree.blocks, "block").text, tree.threads, how_many(tree.each, "element").text);
    if (host && out_mode(o) == OUT_TEXT) out_str(o, NULL, "sums", text);
}

/* Where the least-squares problem of a cycle is solved. */
static void out_where_least(struct out *o, const struct solve *v)
{
    bool host = v->set.least_host;
    out_str(o, "least", NULL, !v->solver->arnoldi || v->engine.runs ? NULL : host ? "host" : "device");
    if (host && out_mode(o) == OUT_TEXT) out_str(o, NULL, "least squares", "on the host, once per cycle");
}

/* The estimate of m; null if the user gave m, or the solver does not restart. */
static void out_estimate(struct out *o, const struct solve *v)
{
    const struct restart_estimate *m = &v->estimate;
    char text[160];
    out_num(o, "m_tau", NULL, m->made ? m->tau : NAN, "%.6g");
    out_num(o, "m_delta", NULL, m->made ? m->delta : NAN, "%.6g");
    out_num(o, "m_estimate", NULL, m->made && isfinite(m->m) ? m->m : NAN, "%.6g");
    if (!m->made || out_mode(o) != OUT_TEXT) return;
    if (isfinite(m->m))
        snprintf(text, sizeof text, "(1 + delta) (log tol / log tau - 1) - 3 - delta = %.1f: tau %.3g, delta %.3g",
                 m->m, m->tau, m->delta);
    else
        snprintf(text, sizeof text, "none: the first cycle did not reduce the residual");
    out_str(o, NULL, "estimate", text);
}

/* Does each launch do many iterations? On cpu, there are no launches. */
static void out_launches(struct out *o, const struct solve *v)
{
    const struct cluster_plan *p = &v->schedule.cluster;
    bool one = cluster_used(v);
    char text[200], bytes[32];
    out_str(o, "launches", NULL, one ? "one" : v->dev->kind == DEV_CPU || v->engine.runs ? NULL : "many");
    if (!one || out_mode(o) != OUT_TEXT) return;
    snprintf(text, sizeof text,
             "one for many iterations, with products of its own: %s of %d threads %s A and the vectors, %s each",
             how_many(p->blocks, "thread block").text, p->threads, p->blocks > 1 ? "hold" : "holds",
             show_bytes((double)p->bytes, bytes, sizeof bytes));
    out_str(o, NULL, "launches", text);
}

/* ---- how it went ---- */

/* NaN is the residual of an x that is not finite; otherwise, the residual was not computed. */
static void out_true_residual(struct out *o, const struct solve *v)
{
    bool value = v->reason == NOT_A_NUMBER && v->result.x;
    (value ? out_value : out_num)(o, "residual_true", "true residual", v->result.residual_true, "%.3e");
}

/* The residuals of the normal equations, of a solver of least squares. */
static void out_least(struct out *o, const struct solve *v)
{
    bool on = v->solver->least_squares;
    const struct least last = solve_least_at(v, v->iterations), *end = &v->result.least;
    out_num(o, "normal", on ? "normal" : NULL, last.normal, "%.3e");
    out_num(o, "normal_true", on ? "true normal" : NULL, end->normal, "%.3e");
    out_num(o, "backward_true", NULL, end->backward, "%.3e");
    if (on && out_mode(o) == OUT_TEXT)
        out_str(o, NULL, "normal is",
                v->pre.method ? "||D^-1 A' r|| / (||A D^-1|| ||r||), D = diag(||a_j||)" : "||A' r|| / (||A|| ||r||)");
}

static void out_next(struct out *o, const struct solve *v)
{
    char text[sizeof v->next + 120];
    bool some = v->next[0];
    snprintf(text, sizeof text, "`%s`%s%s", v->next, v->next_why ? ": " : "", v->next_why ? v->next_why : "");
    out_str(o, "try", NULL, some ? v->next : NULL);
    if (some && out_mode(o) == OUT_TEXT) out_str(o, NULL, "try", text);
}

/* Ignore a gap between the recursive and the true residual that opened before the last restart, because the restart
   computed the residual from x. */
static void out_separation(struct out *o, const struct solve *v)
{
    bool separated = v->history.separated_at > v->base;
    out_num(o, "parted", NULL, separated ? (double)v->history.separated_at : NAN, "%.0f");
    if (separated)
        out_note(o,
                 "warning: at iteration %lld, the true residual exceeded 10 times the recursive residual; at "
                 "the end, they are %.2e and %.2e",
                 (long long)v->history.separated_at, v->result.residual_true, v->residual);
}

/* cg on a matrix with a negative diagonal, and restarts after breakdowns. */
static void out_recoveries(struct out *o, const struct solve *v)
{
    char text[160];
    const struct solve_recoveries *r = &v->recoveries;
    out_bool(o, "negated", NULL, v->negated);
    if (v->negated && out_mode(o) == OUT_TEXT)
        out_str(o, NULL, "system", "-A x = -b, because the diagonal of A is negative; its x is the x of A x = b");
    out_num(o, "breakdowns", NULL, v->solver->recover ? (double)r->n : NAN, "%.0f");
    if (!r->n || out_mode(o) != OUT_TEXT) return;
    snprintf(text, sizeof text, "%s, because %s was 0 up to rounding errors, most recently at iteration %lld",
             how_many(r->n, "time").text, v->solver->divisor(r->what), (long long)r->at);
    out_str(o, NULL, "restarted", text);
}

/* Iterative refinement: the inner and the outer residual, and the bytes beside those of fp64. */
static void out_refine(struct out *o, const struct solve *v)
{
    char text[240];
    bool on = v->refine.on, timed = on && v->dev->kind != DEV_EMU;
    const struct refine_state *now = &v->refine.now;
    double bytes = solve_bytes(v), fp64 = solve_bytes_fp64(v), each = solve_refine_bytes(v);
    out_str(o, "refine", NULL, on ? type_name(precisions[v->precision].stored) : NULL);
    out_int_if(o, "refinements", NULL, on, now->n);
    out_num(o, "residual_outer", NULL, on ? now->residual : NAN, NULL);
    out_time(o, "refine_us", NULL, timed ? v->refine.us : NAN);
    out_num(o, "bytes_double", NULL, on ? fp64 : NAN, "%.0f");
    out_num(o, "bytes_per_refinement", NULL, on ? each : NAN, "%.0f");
    if (!on || out_mode(o) != OUT_TEXT) return;
    snprintf(text, sizeof text, "%s in fp64, to a residual of %.2e; iterated with values in %s",
             how_many(now->n, "time").text, now->residual, type_name(precisions[v->precision].stored));
    out_str(o, NULL, "refined", text);
    out_time(o, NULL, "refined in", timed ? v->refine.us : NAN);
    bool counted = isfinite(bytes) && fp64 > 0;
    if (counted)
        snprintf(text, sizeof text, "%.4g MB per iteration, %.0f%% of those in fp64; %.4g MB per refinement",
                 bytes / 1e6, 100 * bytes / fp64, each / 1e6);
    if (counted) out_str(o, NULL, "bytes", text);
}

/* What a cycle of m iterations launched; null if the solver does not restart, or if no cycle was complete. */
static void out_cycle(struct out *o, const struct solve *v)
{
    const int64_t *c = v->work.cycle;
    bool some = c[OP_PASS] > 0;
    char text[400];
    for (enum solve_operation op = 0; op < OPERATIONS_OF_CYCLE; op++) {
        bool known = some && (op != OP_LEAST_OPERATIONS || v->set.least_host);
        out_num(o, operation_key(op), NULL, known ? (double)c[op] : NAN, "%.0f");
    }
    snprintf(text, sizeof text, "%s: %s, %s and norms, %s", how_many(c[OP_PASS], "pass").text,
             how_many(c[OP_SPMV], "SpMV").text, how_many(c[OP_DOT] + c[OP_NORM], "inner product").text,
             how_many(c[OP_UPDATE] + c[OP_SCALE], "vector update").text);
    if (some && out_mode(o) == OUT_TEXT) out_str(o, NULL, "a cycle", text);
}

/* Print the keys ritz_min, ritz_max and condition, which are null if the solver gives no Ritz values. */
static void out_ritz(struct out *o, const struct solve *v)
{
    char text[120];
    struct ritz r = {0};
    ritz_of(&r, v, 0);
    double condition = r.rows ? r.high / r.low : NAN;
    out_num(o, "ritz_min", NULL, r.low, NULL);
    out_num(o, "ritz_max", NULL, r.high, NULL);
    out_num(o, "condition", NULL, condition, NULL);
    snprintf(text, sizeof text, "%.4g to %.4g of %s, condition at least %.4g", r.low, r.high, ritz_matrix(v),
             condition);
    if (r.rows && out_mode(o) == OUT_TEXT) out_str(o, NULL, "Ritz values", text);
}

/* The known solution with which x was compared. */
static void out_against(struct out *o, const struct solve *v)
{
    const struct solve_result *r = &v->result;
    bool projected = v->null.of.right.count > 0 && r->known, text = out_mode(o) == OUT_TEXT;
    char without[120];
    out_str(o, "error_against", r->truth && !r->up_to_constant && !projected ? "against" : NULL,
            r->truth   ? r->truth_from
            : r->known ? "ones"
                       : NULL);
    if (r->up_to_constant && text)
        out_str(o, NULL, "against", "varied, up to a constant: constants are in the null space of A");
    snprintf(without, sizeof without, "%s, without its part in the null space of A", projected ? r->truth_from : "");
    if (projected && text) out_str(o, NULL, "against", without);
}

/* ---- the whole ---- */

void out_solve(struct out *o, const struct solve *v)
{
    bool pairs = v->matrix.csr->imag;
    out_record(o);
    out_str(o, "matrix", "matrix", v->matrix.name);
    out_str(o, "solver", "solver", v->solver->name);
    out_str(o, "device", "device", v->dev->name);
    out_engine(o, v);
    out_kernel(o, v);
    out_transposed(o, v);
    out_str(o, "precision", "precision", type_name(type_of_numbers(v->real, pairs)));
    if (pairs && !solve_complex_steps(v) && out_mode(o) == OUT_TEXT)
        out_str(o, NULL, "unknowns", "the real and imaginary parts of x, in the equivalent real system");
    bool restarts = v->solver->restarts, weighs = v->solver->omega > 0;
    out_num(o, "m", restarts ? "restarts after" : NULL, restarts ? (double)v->set.m : NAN, "%.0f");
    out_estimate(o, v);
    out_num(o, "omega", weighs ? "omega" : NULL, weighs ? v->set.omega : NAN, "%.4g");
    out_right_side(o, v);
    out_null_space(o, v);
    out_scaled(o, v);
    out_form(o, v);
    out_sums(o, v);
    out_where_least(o, v);
    out_solve_precond(o, v);
    out_launches(o, v);
    out_scaling(o, v);
    out_reordered(o, v);
    out_num(o, "tol", NULL, v->scaling.of ? v->scaling.tol : v->set.tol, NULL);
    out_int(o, "maxit", NULL, v->set.maxit);
    out_bool(o, "converged", "converged", v->reason == CONVERGED);
    out_str(o, "status", NULL, reason_name(v->reason));
    out_str(o, "reason", "because", v->why + v->why_detail);
    out_next(o, v);
    out_int(o, "iterations", "iterations", v->iterations);
    out_value(o, "residual_recursive", "residual", v->residual, "%.3e");
    out_true_residual(o, v);
    out_least(o, v);
    out_error_in_x(o, v->result.known, v->result.error_known, &v->result.trust);
    out_against(o, v);
    out_trust(o, &v->result.trust, v->reason == CONVERGED);
    out_refine(o, v);
    out_recoveries(o, v);
    out_cycle(o, v);
    out_ritz(o, v);
    out_solve_costs(o, v);
    out_values(o, "history", v->iterations + 1, v->history.residual);
    out_separation(o, v);
}

void out_solved_column(struct out *o, const struct solve *v)
{
    bool timed = v->dev->kind != DEV_EMU;
    out_row(o);
    out_str(o, "matrix", NULL, v->matrix.name);
    out_str(o, "solver", NULL, v->solver->name);
    out_str(o, "device", NULL, v->dev->name);
    out_str(o, "b", NULL, v->right.name);
    out_int(o, "column", "column", v->right.column);
    out_bool(o, "converged", NULL, v->reason == CONVERGED);
    out_str(o, "status", "status", reason_name(v->reason));
    out_int(o, "iterations", "iterations", v->iterations);
    out_value(o, "residual_recursive", "residual", v->residual, "%.3e");
    out_true_residual(o, v);
    out_num(o, "error_known", v->result.known ? "error in x" : NULL, v->result.known ? v->result.error_known : NAN,
            "%.3e");
    out_int_if(o, "digits", "digits of x", v->result.trust.digits >= 0, v->result.trust.digits);
    out_str(o, "digits_from", NULL, v->result.trust.from);
    out_num(o, "time_ms", "ms", timed ? v->time.us / 1000 : NAN, "%.3f");
    out_str(o, "reason", NULL, v->why + v->why_detail);
}
