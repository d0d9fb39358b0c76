/* eigs: some eigenvalues and eigenvectors of a real or hermitian matrix. */
#include "base/err.h"
#include "base/precision.h"
#include "base/text.h"
#include "eigen/eigen.h"
#include "files/matrix_market.h"
#include "formats/format.h"
#include "language/args.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "report/fields.h"
#include "report/output.h"
#include "save_solution.h"
#include "session/command.h"
#include "session/holding.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/solve.h"
#include "symmetry_needed.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { DEFAULT_PAIRS = 6, DEFAULT_RESTARTS = 1000 };
static const double default_tol = 1e-8;

/* ---- options ---- */

/* Of a general matrix, `largest` and `smallest` are meant by modulus; the smallest are those nearest to 0. */
static enum eigen_part part_of(const struct args *a, bool general)
{
    if (arg(a, "near") || (general && arg_flag(a, "smallest"))) return EIGEN_NEAR;
    if (arg_flag(a, "smallest") || arg_flag(a, "leftmost")) return EIGEN_SMALLEST;
    return general && !arg_flag(a, "rightmost") ? EIGEN_FARTHEST : EIGEN_LARGEST;
}

static bool options_of(struct session *s, const struct args *a, enum eigen_kind kind, struct eigen_options *o,
                       struct err *e)
{
    *o = (struct eigen_options){.part = part_of(a, kind == EIGEN_GENERAL),
                                .shift = arg_real(a, "near", 0),
                                .pairs = arg_int(a, "n", DEFAULT_PAIRS),
                                .columns = arg_int(a, "m", 0),
                                .tol = arg_real(a, "tol", default_tol),
                                .seed = (uint64_t)arg_int(a, "seed", 1),
                                .verify = arg_flag(a, "verify"),
                                .condition = arg_flag(a, "condition"),
                                .quick = arg_flag(a, "quick"),
                                .force = arg_flag(a, "force"),
                                .watch = &s->watch};
    if (!(o->tol > 0 && o->tol < 1)) return fail(e, E_USAGE, "tol is %g; it must be between 0 and 1", o->tol);
    if (o->part == EIGEN_NEAR && (arg(a, "using") || arg(a, "kernel")))
        return fail(e, E_USAGE,
                    "%s multiplies by the factors of A - S I on the host, so it takes no format and no "
                    "kernel",
                    arg(a, "near") ? "`near`" : "`smallest` of a matrix that is not symmetric");
    return arg_within(a, "maxit", DEFAULT_RESTARTS, 0, INT64_MAX, &o->restarts, e);
}

/* If fewer pairs exist than the default asks for, all are found. */
static void fit_default(const struct args *a, const struct matrix *m, struct eigen_options *o)
{
    if (!arg(a, "n") && o->pairs > m->csr.rows && m->csr.rows > 0) o->pairs = m->csr.rows;
}

/* Store the matrix for the kernel; `near` only needs the matrix on the host. */
static bool put_matrix(struct session *s, struct matrix *m, const struct args *a, const struct eigen_options *o,
                       struct eigen_matrix *A, struct err *e)
{
    struct solve_options how = {.format = arg(a, "using") ? format_find(arg(a, "using")) : NULL,
                                .kernel = arg(a, "kernel") ? kernel_find(arg(a, "kernel")) : NULL,
                                .dev = A->dev,
                                .real = P_F64,
                                .force = o->force};
    struct solve_matrix stored = {.csr = &m->csr};
    if (o->part == EIGEN_NEAR) return true;
    if (!session_put_matrix(s, m, &how, &stored, e)) return false;
    A->mat = stored.mat;
    A->kernel = stored.kernel;
    return true;
}

/* ---- output ---- */

static int64_t open_pairs(const struct eigen *v)
{
    int64_t open = 0;
    for (int64_t i = 0; i < v->found; i++) open += v->pair[i].status == EIGEN_OPEN;
    return open;
}

/* The word of the line that chooses the eigenvalues. */
static const char *part_name(const struct eigen *v)
{
    static const char *const names[][2] = {[EIGEN_LARGEST] = {"largest", "rightmost"},
                                           [EIGEN_SMALLEST] = {"smallest", "leftmost"},
                                           [EIGEN_NEAR] = {"near", "near"},
                                           [EIGEN_FARTHEST] = {"largest", "largest"}};
    return names[v->o.part][v->kind == EIGEN_GENERAL];
}

static const char *method_title(const struct eigen *v)
{
    return v->kind == EIGEN_GENERAL ? "Krylov-Schur" : "thick-restart Lanczos";
}

/* A sentence, which a terminal wraps. */
PRINTF(2, 3) static void say(struct out *o, const char *fmt, ...)
{
    char text[400];
    va_list list;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    out_prose(o, text);
}

static void out_title(struct out *o, const struct eigen *v)
{
    char all[40] = "eigenvalue";
    bool one = v->o.pairs == 1;
    const char *by_modulus = v->o.part == EIGEN_FARTHEST ? " by modulus" : "";
    if (!one) snprintf(all, sizeof all, "%lld eigenvalues", (long long)v->o.pairs);
    if (v->o.part == EIGEN_NEAR && !v->factored_by)
        say(o, "%s: the %s nearest to %.15g, by %s with a basis of the whole space on %s", v->name, all, v->asked,
            v->kind == EIGEN_GENERAL ? "Arnoldi" : "Lanczos", v->dev->name);
    else if (v->o.part == EIGEN_NEAR)
        say(o, "%s: the %s nearest to %.15g, by %sshift and invert with the factors of %s, vectors on %s", v->name, all,
            v->asked, v->kind == EIGEN_GENERAL ? "Krylov-Schur, " : "", v->factored_by, v->dev->name);
    else if (one)
        say(o, "%s: the %s eigenvalue%s, by %s with %s on %s", v->name, part_name(v), by_modulus, method_title(v),
            v->kernel->name, v->dev->name);
    else
        say(o, "%s: the %lld %s eigenvalues%s, by %s with %s on %s", v->name, (long long)v->o.pairs, part_name(v),
            by_modulus, method_title(v), v->kernel->name, v->dev->name);
}

/* A number beyond the end of the spectrum, as far as the outermost pair shows: for `near`, in place of that end. */
static double beside(const struct eigen *v)
{
    const struct eigen_pair *p = &v->pair[0];
    return v->o.part == EIGEN_LARGEST ? p->value + p->residual : p->value - p->residual;
}

static long long larger_basis(const struct eigen *v)
{
    long long m = 2 * v->columns, most = v->A->rows < EIGEN_COLUMNS_MAX ? v->A->rows : EIGEN_COLUMNS_MAX;
    return m < most ? m : most;
}

/* The value of the first open pair; NaN: none, or it is complex. */
static double first_open(const struct eigen *v)
{
    int64_t i = 0;
    while (i < v->found && v->pair[i].status != EIGEN_OPEN) i++;
    return i < v->found && v->pair[i].imag == 0 ? v->pair[i].value : NAN;
}

/* Have the factors moved away from this number? Then they would again. */
static bool is_same_shift(const struct eigen *v, double shift)
{
    double aside = fabs(v->shift - v->o.shift), rounding = 128 * DBL_EPSILON * v->norm;
    return v->o.part == EIGEN_NEAR && fabs(shift - v->o.shift) <= fmax(aside, rounding);
}

/* The command to try if pairs are open; otherwise "". */
static void next_command(const struct eigen *v, char *out, size_t size)
{
    out[0] = 0;
    if (!open_pairs(v) || v->cancelled) return;
    if (v->sure < v->found || (v->restarts < v->o.restarts && is_same_shift(v, first_open(v)))) return;
    if (v->restarts < v->o.restarts && isnan(first_open(v))) return;
    if (v->restarts < v->o.restarts)
        snprintf(out, size, "eigs %lld near %.9g", (long long)v->o.pairs, first_open(v));
    else if (v->kind == EIGEN_GENERAL && v->o.part != EIGEN_NEAR)
        snprintf(out, size, "eigs %lld %s maxit %lld m %lld", (long long)v->o.pairs, part_name(v),
                 (long long)(4 * (v->restarts + 1)), larger_basis(v));
    else if (v->o.part == EIGEN_NEAR || !isfinite(beside(v)))
        snprintf(out, size, "eigs %lld near %.6g maxit %lld m %lld", (long long)v->o.pairs, v->o.shift,
                 (long long)(4 * (v->restarts + 1)), larger_basis(v));
    else
        snprintf(out, size, "eigs %lld near %.6g", (long long)v->o.pairs, beside(v));
}

/* What all pairs share. */
static void out_search(struct out *o, const struct eigen *v)
{
    char next[120];
    next_command(v, next, sizeof next);
    bool near = v->o.part == EIGEN_NEAR, timed = v->dev->kind != DEV_EMU;
    out_str(o, "matrix", NULL, v->name);
    out_str(o, "part", NULL, part_name(v));
    out_num(o, "near", NULL, near ? v->asked : NAN, NULL);
    out_num(o, "shift", NULL, near ? v->shift : NAN, NULL);
    out_str(o, "method", NULL, v->factored_by ? "shift-invert" : v->kind == EIGEN_GENERAL ? "krylov-schur" : "lanczos");
    out_str(o, "factored_by", NULL, v->factored_by);
    out_str(o, "device", NULL, v->dev->name);
    out_str(o, "kernel", NULL, v->kernel ? v->kernel->name : NULL);
    out_num(o, "tol", NULL, v->o.tol, NULL);
    out_int(o, "columns", NULL, v->columns);
    out_int(o, "products", NULL, v->products);
    out_int(o, "restarts", NULL, v->restarts);
    out_num(o, "norm", NULL, v->norm, NULL);
    out_int_if(o, "below", NULL, v->below >= 0, v->below);
    out_num(o, "orthogonality", NULL, v->orthogonality, NULL);
    out_int(o, "sure", NULL, v->sure);
    out_bool(o, "complete", NULL, v->complete);
    out_bool(o, "checked", NULL, v->checked);
    out_int(o, "more_copies", NULL, v->more);
    out_int_if(o, "verified", NULL, v->verified >= 0, v->verified);
    out_int_if(o, "counted", NULL, v->counted >= 0, v->counted);
    out_bool(o, "cancelled", NULL, v->cancelled);
    out_str(o, "try", NULL, *next ? next : NULL);
    out_num(o, "factor_ms", NULL, v->factor_us / 1000, NULL);
    out_num(o, "time_ms", NULL, timed ? v->us / 1000 : NAN, NULL);
}

static bool has_imag(const struct eigen *v)
{
    for (int64_t i = 0; i < v->found; i++)
        if (v->pair[i].imag != 0) return true;
    return false;
}

static bool has_conditions(const struct eigen *v)
{
    for (int64_t i = 0; i < v->found; i++)
        if (!isnan(v->pair[i].condition)) return true;
    return false;
}

static void out_pair(struct out *o, const struct eigen *v, int64_t i)
{
    const struct eigen_pair *p = &v->pair[i];
    double size = hypot(p->value, p->imag);
    bool general = v->kind == EIGEN_GENERAL;
    out_row(o);
    out_int(o, "pair", "pair", i + 1);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "value", "value", p->value, "%.15g");
    out_num(o, "imag", has_imag(v) ? "imag" : NULL, p->imag, p->imag != 0 ? "%+.15gi" : "%.0f");
    out_num(o, "residual", "residual", p->residual, "%.1e");
    out_rank(o, COLUMN_NORMAL);
    out_num(o, "residual_of_value", "/ |value|", size > 0 ? p->residual / size : NAN, "%.1e");
    out_num(o, "residual_of_norm", "/ ||A||", v->norm > 0 ? p->residual / v->norm : 0, "%.1e");
    out_num(o, "condition", general && has_conditions(v) ? "condition" : NULL, p->condition, "%.1e");
    out_num(o, "estimate", isnan(p->residual) ? "estimate" : NULL, p->estimate, "%.1e");
    out_bool(o, "converged", NULL, p->status != EIGEN_OPEN);
    out_str(o, "status", "status", eigen_status_name(p->status));
    out_search(o, v);
}

static void out_costs(struct out *o, const struct eigen *v)
{
    char time[32], text[240];
    int n = snprintf(text, sizeof text, "%s%s, %s, a basis of %s", how_many(v->products, "product").text,
                     v->factored_by ? " with the inverse" : "", how_many(v->restarts, "restart").text,
                     how_many(v->columns, "vector").text);
    if (v->dev->kind != DEV_EMU)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %s", show_us(v->us, time, sizeof time));
    if (v->orthogonality > 0) snprintf(text + n, sizeof text - (size_t)n, "; |v_i' v_j| <= %.0e", v->orthogonality);
    out_prose(o, text);
}

static void out_shift(struct out *o, const struct eigen *v)
{
    if (v->o.part != EIGEN_NEAR) return;
    if (v->asked != v->o.shift)
        say(o, "All eigenvalues are at most ||A|| = %.6g in size: those nearest to %.15g are those nearest to %.15g.",
            v->norm, v->asked, v->o.shift);
    if (v->shift != v->o.shift)
        say(o, "A - S I is singular or nearly so at S = %.15g: the factors are those at S = %.15g.", v->o.shift,
            v->shift);
    if (v->below >= 0)
        say(o, "%s of A %s below %.15g, by the signs of the pivots.", how_many(v->below, "eigenvalue").text,
            v->below == 1 ? "is" : "are", v->shift);
}

/* The pairs that may not be the nearest to S, because the factors are those of another shift. */
static void out_unsure(struct out *o, const struct eigen *v)
{
    if (v->sure >= v->found || v->cancelled) return;
    say(o,
        "Eigenvalues nearer to %.15g may be missing from pair %lld on: the search saw all those near %.15g. More pairs "
        "reach farther: `eigs %lld near %.15g`.",
        v->o.shift, (long long)v->sure + 1, v->shift, 2 * (long long)v->o.pairs, v->o.shift);
}

/* The range in which the eigenvalues were counted. */
static void range_text(const struct eigen *v, char *out, size_t size)
{
    if (isfinite(v->from) && isfinite(v->to))
        snprintf(out, size, "between %.9g and %.9g", v->from, v->to);
    else if (isfinite(v->from))
        snprintf(out, size, "above %.9g", v->from);
    else
        snprintf(out, size, "below %.9g", v->to);
}

static void out_verified(struct out *o, const struct eigen *v)
{
    char range[80];
    range_text(v, range, sizeof range);
    if (v->verified < 0 && v->o.verify) say(o, "Not verified: %s.", v->unverified);
    if (v->verified < 0) return;
    say(o, "The signs of the pivots count %s %s, where %lld of the pairs lie: %s.",
        how_many(v->counted, "eigenvalue").text, range, (long long)v->verified,
        v->counted == v->verified ? "none was missed there"
                                  : "some were missed; try another `seed`, or a larger `m` without `quick`");
}

/* A residual of a symmetric matrix bounds the error of the value; of a general one, only up to its condition. */
static void out_meaning(struct out *o, const struct eigen *v)
{
    const char *complete = v->complete ? " The basis spans the whole space: no eigenvalue is missing." : "";
    if (v->kind != EIGEN_GENERAL) {
        say(o, "Within its residual of each value, A has an eigenvalue.%s", complete);
        return;
    }
    say(o, "Each value is an eigenvalue of A + E with ||E|| = its residual; %s%s",
        has_conditions(v) ? "to first order, its error is at most condition x residual."
        : v->left_products
            ? "its error may be larger by the condition of the value, which is not known: the left "
              "eigenvectors that a second search found with A' cannot be assigned to these values one by one."
            : "its error may be larger by the condition of the value, which was not computed: "
              "`condition` searches for the left eigenvectors, too.",
        complete);
    if (v->left_products && has_conditions(v))
        say(o, "The conditions are those of the left eigenvectors, which a second search found with A' on cpu, in %s.",
            how_many(v->left_products, "product").text);
}

/* What the residuals prove, and what they do not. */
static void out_proof(struct out *o, const struct eigen *v)
{
    out_meaning(o, v);
    if (v->complete) return;
    out_verified(o, v);
    if (v->verified >= 0) return;
    if (v->checked)
        say(o, "A second start vector, orthogonal to these pairs, found none that should be among them. This makes "
               "it unlikely, but does not prove, that one was missed.");
    else if (v->o.quick)
        say(o, "One start vector finds one copy of a multiple eigenvalue: others may be missing. Without `quick`, a "
               "second start vector looks for them.");
    else
        say(o, "The search ended before a second start vector could look for further copies of multiple eigenvalues: "
               "some may be missing.");
}

/* How many pairs have the value of the last one, up to tol? */
static int64_t copies_of_last(const struct eigen *v)
{
    static const double SAME = 1e-6;
    int64_t copies = 0;
    const struct eigen_pair *last = &v->pair[v->found - 1];
    for (int64_t i = 0; i < v->found; i++)
        copies += hypot(v->pair[i].value - last->value, v->pair[i].imag - last->imag) <=
                  SAME * hypot(last->value, last->imag);
    return copies;
}

/* The words of the line that choose the eigenvalues: "near 4". */
static void part_words(const struct eigen *v, char *out, size_t size)
{
    if (v->o.part == EIGEN_NEAR)
        snprintf(out, size, "near %.15g", v->o.shift);
    else
        snprintf(out, size, "%s", part_name(v));
}

/* The number of pairs cuts through a conjugate pair. */
static void out_conjugate(struct out *o, const struct eigen *v)
{
    const struct eigen_pair *p = v->found ? &v->pair[v->found - 1] : NULL;
    if (!p || p->imag == 0) return;
    for (int64_t i = 0; i < v->found - 1; i++)
        if (v->pair[i].value == p->value && v->pair[i].imag == -p->imag) return;
    say(o, "The conjugate of the last value, %.9g %+.9gi, is an eigenvalue, too.", p->value, -p->imag);
}

/* The number of pairs cuts through the copies of an eigenvalue. */
static void out_more(struct out *o, const struct eigen *v)
{
    char part[48], value[64];
    if (!v->more || !v->found) return;
    int64_t copies = copies_of_last(v), all = copies + v->more;
    part_words(v, part, sizeof part);
    const struct eigen_pair *last = &v->pair[v->found - 1];
    int length = snprintf(value, sizeof value, "%.9g", last->value);
    if (last->imag != 0) snprintf(value + length, sizeof value - (size_t)length, " %+.9gi", last->imag);
    say(o, "%s is a multiple eigenvalue: %lld of at least %lld copies %s among these pairs; `eigs %lld %s` finds more.",
        value, (long long)copies, (long long)all, copies == 1 ? "is" : "are", (long long)(v->found + v->more + 1),
        part);
}

static void out_advice(struct out *o, const struct eigen *v)
{
    char next[120];
    int64_t open = open_pairs(v);
    next_command(v, next, sizeof next);
    if (!*next && open && !v->cancelled && v->sure >= v->found)
        say(o,
            "%s a residual above tol, although the search has reached the accuracy of the factors, which is low next "
            "to an eigenvalue. Choose a number farther from it, or a larger tol.",
            open == 1 ? "1 pair has" : "Some pairs have");
    if (!*next) return;
    if (v->restarts < v->o.restarts) {
        say(o,
            "%s a residual above tol, although the search has reached the accuracy of its products. `%s` has a shift "
            "nearer to %s.",
            open == 1 ? "1 pair has" : "Some pairs have", next, open == 1 ? "it" : "them");
        return;
    }
    say(o, "%s not converged after %s. `maxit %lld` allows more restarts, and `m %lld` makes a larger basis.",
        open == 1 ? "1 pair has" : "Some pairs have", how_many(v->restarts, "restart").text,
        (long long)(4 * (v->restarts + 1)), larger_basis(v));
    if (v->o.part != EIGEN_NEAR && v->kind != EIGEN_GENERAL)
        say(o,
            "`%s` needs few products, if the factors fit in memory; the signs of the pivots then count the "
            "eigenvalues beyond that number.",
            next);
}

static void out_eigs(struct out *o, const struct eigen *v)
{
    out_title(o, v);
    for (int64_t i = 0; i < v->found; i++) out_pair(o, v, i);
    out_costs(o, v);
    out_shift(o, v);
    out_proof(o, v);
    out_unsure(o, v);
    out_conjugate(o, v);
    out_more(o, v);
    out_advice(o, v);
    if (v->dev->kind == DEV_EMU)
        out_text(o, "The emulator models accesses, not time: results are checked, but nothing is timed.");
}

/* ---- running ---- */

static void drop_eigs(struct session *s)
{
    eigen_free(s->eigen);
    s->eigen = NULL;
}

static bool save_vectors(struct session *s, const struct eigen *v, const char *file, bool force, struct err *e)
{
    struct mtx_columns x = {v->vector, v->A->rows, v->found, v->complex_vectors};
    if (!v->vector) return fail(e, E_USAGE, "there are no vectors to save: they could not be copied after Ctrl-C");
    if (!mtx_save_columns(file, force, &x, "eigenvectors, one per column", &s->watch, e)) return false;
    out_text(s->out, "the vectors were written to %s, one per column", file);
    return true;
}

/* In a script, a search that Ctrl-C ended counts as a failure. */
static bool find(struct session *s, const struct eigen_matrix *A, const struct eigen_options *o, struct err *e)
{
    struct eigen *found = NULL;
    bool ok = eigen_find(&found, A, o, e);
    if (!ok) return false;
    drop_eigs(s);
    s->eigen = found;
    out_eigs(s->out, found);
    if (!found->cancelled) return true;
    char text[160];
    snprintf(text, sizeof text, "cancelled at restart %lld; %lld of %lld pairs have converged, and all are kept",
             (long long)found->restarts, (long long)(found->found - open_pairs(found)), (long long)found->o.pairs);
    if (!s->interactive) return fail(e, E_CANCELLED, "%s", text);
    out_note(s->out, "%s", text);
    return true;
}

static bool run_eigs(struct session *s, const struct args *a, struct err *e)
{
    struct eigen_options o;
    bool symmetric = false;
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !matrix_is_hermitian(s, m, &symmetric, e)) return false;
    enum eigen_kind kind = !symmetric ? EIGEN_GENERAL : m->csr.imag ? EIGEN_HERMITIAN : EIGEN_SYMMETRIC;
    if (!options_of(s, a, kind, &o, e)) return false;
    fit_default(a, m, &o);
    struct eigen_matrix A = {.name = m->name, .csr = &m->csr, .kind = kind, .dev = session_device(s, arg(a, "on"), e)};
    if (!A.dev || !eigen_check(&A, &o, symmetric, e)) return false;
    if (!save_allowed(a, e)) return false;
    note_rounding(s, m, "eigs multiplies by it as it is");
    if (!put_matrix(s, m, a, &o, &A, e) || !find(s, &A, &o, e)) return false;
    return !arg(a, "save") || save_vectors(s, s->eigen, arg(a, "save"), o.force, e);
}

/* ---- the keys of the rows ---- */

static const struct field eigs_fields[] = {
    {"pair", F_COUNT, "number of the pair, in the order that `part` asks for", .min = 1},
    {"value", F_NUMBER, "eigenvalue, or its real part"},
    {"imag", F_NUMBER, "imaginary part of the eigenvalue; 0 of symmetric and hermitian matrices"},
    {"residual", F_AMOUNT | OR_NULL,
     "||A v - value v|| for ||v|| = 1, with compensated sums; null: not measured, after Ctrl-C", .on = "terminal"},
    {"residual_of_value", F_AMOUNT | OR_NULL, "residual / |value|; null: not measured, or the value is 0",
     .on = "terminal"},
    {"residual_of_norm", F_AMOUNT | OR_NULL, "residual / `norm`; null: not measured", .on = "terminal"},
    {"condition", F_AMOUNT | OR_NULL,
     "1 / |y'v| for the left eigenvector y, ||y|| = 1: a small change E of A changes the eigenvalue by at most "
     "condition "
     "||E||; 1 of symmetric and hermitian matrices; null: not computed"},
    {"estimate", F_AMOUNT,
     "the residual by the Krylov process; for near, that of the inverse, relative to its eigenvalue"},
    {"converged", F_BOOLEAN, "whether the status is converged or rounding"},
    {"status", F_TEXT,
     "converged: residual <= 2 tol |value|; rounding: larger, but as small as rounding errors of ||A|| allow; open: "
     "neither",
     .words = "open, rounding, converged"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"part", F_TEXT, "the eigenvalues that were looked for", .words = "largest, smallest, near, rightmost, leftmost"},
    {"near", F_NUMBER | OR_NULL, "the number S of `near S`; null: another part"},
    {"shift", F_NUMBER | OR_NULL,
     "S of the factors of A - S I, which is not `near` if that is an eigenvalue; null: another part"},
    {"method", F_TEXT,
     "thick-restart Lanczos on A; Krylov-Schur on a matrix that is not symmetric; either on the inverse of A - S I",
     .words = "lanczos, krylov-schur, shift-invert"},
    {"factored_by", F_TEXT | OR_NULL, "direct solver that factored A - S I; null: another part"},
    {"device", F_TEXT, "device of the basis and of the products with A"},
    {"kernel", F_TEXT | OR_NULL, "kernel; null: products with the inverse"},
    {"tol", F_AMOUNT, "tolerance on residual / |value|"},
    {"columns", F_COUNT, "vectors of the basis", .min = 1},
    {"products", F_COUNT, "products with A, or with the inverse"},
    {"restarts", F_COUNT, "restarts"},
    {"norm", F_AMOUNT, "largest sum of |a| of a row: ||A||_inf, of a symmetric or hermitian matrix also ||A||_1"},
    {"below", F_COUNT | OR_NULL, "eigenvalues of A below `shift`, by the signs of the pivots; null: not known"},
    {"orthogonality", F_AMOUNT | OR_NULL,
     "largest |v_i' v_j| of two vectors; null: not measured, or the matrix is not symmetric", .on = "terminal"},
    {"sure", F_COUNT,
     "pairs, from the first on, of which it is known that no other eigenvalue is nearer to S; all pairs of another "
     "part"},
    {"complete", F_BOOLEAN, "whether the basis spans the whole space, so that no eigenvalue is missed"},
    {"checked", F_BOOLEAN, "whether a second start vector found no further copies of multiple eigenvalues"},
    {"more_copies", F_COUNT,
     "further copies of the last eigenvalue that the search saw beyond the wanted pairs, at least"},
    {"verified", F_COUNT | OR_NULL, "with verify: pairs before the last gap between the values; null: not counted",
     .min = 1},
    {"counted", F_COUNT | OR_NULL,
     "eigenvalues of A in that range, by the signs of pivots: if equal to `verified`, none was missed; null: not "
     "counted"},
    {"cancelled", F_BOOLEAN, "whether Ctrl-C ended the search"},
    {"try", F_TEXT | OR_NULL, "the command to try next; null: no pair is open, or Ctrl-C ended the search"},
    {"factor_ms", F_AMOUNT | OR_NULL, "time of the factorisation, in ms; null: another part"},
    {"time_ms", F_AMOUNT | OR_NULL, "time of the search, in ms; null: on emu"},
    {0},
};
static const struct row_kind row_eigs = {"eigs", "eigenvalues of a real or hermitian matrix", eigs_fields};

const struct command command_eigs = {
    .name = "eigs",
    .aliases = "eigenvalues eig",
    .grammar = "[N] [largest|smallest|rightmost|leftmost|near R] [MATRIX] [on DEVICE] [[using] FORMAT] [[kernel] "
               "KERNEL] [tol R] [m N] "
               "[maxit N] [seed N] [quick] [verify] [condition] [save FILE] [force]",
    .about = "some eigenvalues and eigenvectors of a matrix",
    .help =
        "Finds N eigenvalues (6 unless given) of a real symmetric or hermitian matrix: the algebraically largest (the\n"
        "default), the algebraically smallest, or those nearest to a number S. The method is thick-restart Lanczos\n"
        "(Wu and Simon 2000) with full reorthogonalisation, in fp64, with a basis of m vectors and at most maxit\n"
        "restarts. Of a real matrix that is not symmetric, Krylov-Schur (Stewart 2001) finds the largest eigenvalues\n"
        "by modulus (the default), the smallest by modulus (which is `near 0`), the rightmost, the leftmost, or those\n"
        "nearest to a real S. Each is an eigenvalue of A + E, where ||E|| is its residual; the condition of a value "
        "is\n"
        "the factor by which its error may be larger. It needs the left eigenvectors: the basis of the whole space "
        "has\n"
        "them, or a second search, with A' on the host, finds them if it is short, or if `condition` is given.\n"
        "`near S` inverts A - S I by the factors of a direct solver on the host (cholmod, klu or umfpack), so that\n"
        "few products are enough; `near 0` finds the smallest eigenvalues of a positive definite matrix much sooner\n"
        "than `smallest`, if the factors fit in memory. If S is an eigenvalue, the shift moves by 1e-8 to\n"
        "1e-5 ||A||, as stable factors need, and by less if eigenvalues nearer to S could be missed. If the factors\n"
        "are poor, or N is half the rows or more, a small matrix gets a basis of the whole space and no factors.\n"
        "A pair has converged when ||A v - value v|| <= tol |value| (tol is 1e-8 unless given). `rounding` marks a\n"
        "pair whose residual is larger but as small as rounding errors of ||A|| allow, as at an eigenvalue 0. The\n"
        "residuals are measured at the end, in double with compensated sums: A has an eigenvalue within the residual\n"
        "of each value. They do not prove that no eigenvalue was missed: one start vector sees one copy of a\n"
        "multiple eigenvalue. Therefore, a second start vector looks for further copies; `quick` omits it.\n"
        "`verify` counts the eigenvalues before the last gap between the values found, by the signs of the pivots of\n"
        "one or two factorisations L D L' (cholmod; Sylvester's law of inertia): equal counts prove that none is\n"
        "missing there.\n"
        "After Ctrl-C, the pairs of the last restart are kept. `print vector 2` prints the second vector; save\n"
        "writes all of them as the columns of a Matrix Market file, which `load` and `spy by sign` show. `reorder\n"
        "fiedler` orders by an eigenvector of the graph.\n"
        "    eigs; eigs 4 smallest; eigs 10 near 0 tol 1e-10 verify; eigs 6 largest A on emu using sell",
    .rows = (const struct row_kind *const[]){&row_eigs, NULL},
    .run = run_eigs,
    .sweeps = true,
};

/* ---- what the session keeps ---- */

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->eigen && s->eigen->A == &m->csr;
}

const struct holding holding_eigs = {.drop = drop_eigs, .belongs_to = is_of};
