/* Checks before a solve: Is the matrix square? Do the solver and the preconditioner take its values? Do the options
 * suit the solver? Are the values finite? */
#include "base/precision.h"
#include "base/registry.h"
#include "base/text.h"
#include "batch.h"
#include "machine/device.h"
#include "machine/gmres_work.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <float.h>
#include <limits.h>

/* ---- the names of the solvers and preconditioners that have a trait ---- */

#define TRAIT(kind, name, test)         \
    static bool name(const void *entry) \
    {                                   \
        const struct kind *x = entry;   \
        return test;                    \
    }
TRAIT(solver, takes_complex, x->products_only || x->complex_steps)
TRAIT(solver, takes_precond, !x->no_precond)
TRAIT(solver, has_basis, x->arnoldi)
TRAIT(solver, forms_matrix, x->form_bytes)
TRAIT(solver, refines, x->refines)
TRAIT(solver, runs_on_several, x->several)
TRAIT(solver, steps_columns, x->columns)
TRAIT(solver, takes_any_shape, x->least_squares)
TRAIT(precond, pre_takes_complex, x->takes_complex)
TRAIT(precond, pre_has_blocks, x->blocks)
TRAIT(precond, pre_has_near, x->near)
TRAIT(precond, pre_has_triangles, x->triangles)
TRAIT(precond, pre_drops, x->drops)
TRAIT(precond, pre_is_for_saddles, x->saddle)
TRAIT(precond, pre_is_diagonal, x->diagonal)
TRAIT(precond, pre_for_least_squares, x->least_squares)

static struct name_list solvers_that(bool (*has)(const void *entry))
{
    return registry_names(&solver_registry, has, NULL);
}

static struct name_list preconds_that(bool (*has)(const void *entry))
{
    return registry_names(&precond_registry, has, NULL);
}

/* "`precond ilu0` or `precond ic0`" */
static struct name_list words_for(bool (*has)(const void *entry))
{
    return registry_names(&precond_registry, has, "precond");
}

int64_t solve_numbers(const struct csr *A)
{
    return A->imag ? 2 * A->cols : A->cols;
}

int64_t solve_numbers_of_b(const struct csr *A)
{
    return A->imag ? 2 * A->rows : A->rows;
}

bool precond_takes(const struct precond *pre, const struct csr *A, struct err *e)
{
    if (!pre || !A->imag || pre->takes_complex) return true;
    return fail(e, E_UNSUPPORTED,
                "the matrix is complex, but the preconditioner %s takes real matrices only; %s take complex matrices",
                pre->name, preconds_that(pre_takes_complex).text);
}

static bool check_complex(const struct csr *A, const struct solve_options *o, struct err *e)
{
    if (!A->imag) return true;
    if (!o->solver->products_only && !o->solver->complex_steps)
        return fail(e, E_UNSUPPORTED,
                    "the matrix is complex, but %s takes real matrices only; %s take complex matrices", o->solver->name,
                    solvers_that(takes_complex).text);
    return precond_takes(o->pre, A, e);
}

static bool check_shape(const struct csr *A, const struct solver *s, struct err *e)
{
    if (A->rows == A->cols || s->least_squares) return true;
    return fail(
        e, E_UNSUPPORTED,
        "%s needs a square matrix, but this matrix has %s and %s; %s find a least-squares solution, and so does "
        "`solve direct`",
        s->name, how_many(A->rows, "row").text, how_many(A->cols, "column").text, solvers_that(takes_any_shape).text);
}

/* n: the numbers in x */
static bool check_vector(const char *name, const struct csr *A, int64_t n, const double *x, struct err *e)
{
    int64_t i = x ? first_not_finite(n, x) : n;
    if (i == n) return true;
    return fail(e, E_NUMERIC, "%s has %g in row %lld (counted from 0); add `force` to the command to solve anyway",
                name, x[i], (long long)(A->imag ? i / 2 : i));
}

double solve_rounding(enum type real)
{
    return real == T_F32 ? FLT_EPSILON : DBL_EPSILON;
}

/* The device compares the square of the residual with that of tol ||b||. The solve scales b, so only a tol that no
   precision can reach makes this square 0. */
static bool check_tol(double tol, enum precision real, struct err *e)
{
    static const double MIN = 1e-120;
    if (tol == 0 || tol > MIN) return true;
    return fail(e, E_USAGE, "tol %.3g is below what %s can reach, a relative residual of about %.1e; give a larger tol",
                tol, precisions[real].name, solve_rounding(precisions[real].vector));
}

static bool check_omega(const struct solve_options *o, struct err *e)
{
    if (o->omega == 0) return true;
    if (o->solver->omega == 0)
        return fail(e, E_USAGE, "%s has no omega; `help solve` lists the solvers that have an omega", o->solver->name);
    if (o->omega > 0 && o->omega < 2) return true;
    return fail(e, E_USAGE, "omega is %g, but %s needs a number above 0 and below 2", o->omega, o->solver->name);
}

static bool check_m(const struct solve_options *o, struct err *e)
{
    if (o->m == 0) return true;
    if (!o->solver->restarts) return fail(e, E_USAGE, "%s does not restart, so it has no m", o->solver->name);
    if (o->m > 0 && o->m <= GM_MAX) return true;
    return fail(e, E_USAGE, "m is %lld, but %s takes 1 to %d", (long long)o->m, o->solver->name, GM_MAX);
}

/* `block` needs a preconditioner that has blocks. */
static bool check_block(const struct solve_options *o, struct err *e)
{
    if (!o->pre_block || (o->pre && o->pre->blocks)) return true;
    struct name_list with = preconds_that(pre_has_blocks);
    if (o->pre)
        return fail(e, E_USAGE, "%s has no blocks, so `block` cannot be set; %s %s blocks", o->pre->name, with.text,
                    with.n == 1 ? "has" : "have");
    return fail(
        e, E_USAGE,
        "`block` sets the block size of a preconditioner, but there is no preconditioner; add %s to the command",
        words_for(pre_has_blocks).text);
}

/* `triangles`, `sweeps` and `order` need a preconditioner that has triangles. */
static bool check_triangles(const struct solve_options *o, struct err *e)
{
    const struct triangle_settings *t = &o->triangles;
    if (t->way == TRIANGLES_SWEEPS && (t->sweeps < 1 || t->sweeps > SWEEPS_MAX))
        return fail(e, E_USAGE, "sweeps is %lld: give 1 to %d", (long long)t->sweeps, SWEEPS_MAX);
    if (t->way != TRIANGLES_SWEEPS && t->sweeps)
        return fail(e, E_USAGE,
                    "`triangles` chooses how to solve with the triangles exactly, and `sweeps` solves approximately; "
                    "leave out one of them");
    if ((t->way == TRIANGLES_AUTO && !t->order && !t->shift.set) || (o->pre && o->pre->triangles)) return true;
    struct name_list with = preconds_that(pre_has_triangles);
    if (o->pre)
        return fail(
            e, E_USAGE,
            "%s has no triangles, so `triangles`, `sweeps`, `order` and `shift` cannot be set; %s have triangles",
            o->pre->name, with.text);
    return fail(e, E_USAGE,
                "`triangles`, `sweeps`, `order` and `shift` are for a preconditioner with triangles, but there is no "
                "preconditioner; add %s to the command",
                words_for(pre_has_triangles).text);
}

static bool check_near(const struct solve_options *o, struct err *e)
{
    if (o->near.kind == NEAR_DEFAULT || (o->pre && o->pre->near)) return true;
    return fail(e, E_USAGE, "`near` is for a preconditioner with near-null vectors; add %s to the command",
                words_for(pre_has_near).text);
}

/* `shift`, `drop` and `fill`: numbers of at least 0, and of 0 .. INT_MAX. */
static bool check_factors(const struct solve_options *o, struct err *e)
{
    const struct triangle_settings *t = &o->triangles;
    if (t->shift.set && !(t->shift.value >= 0 && t->shift.value <= 1e6))
        return fail(e, E_USAGE, "shift is %g: give 0, so that pivots stay as they are, or more, such as 1e-2",
                    t->shift.value);
    if (t->drop.set && !(t->drop.value >= 0)) return fail(e, E_USAGE, "drop is %g: give 0 or more", t->drop.value);
    if (t->fill.set && !(t->fill.value >= 0 && t->fill.value <= INT_MAX))
        return fail(e, E_USAGE, "fill is %g: give 0 or more entries per row", t->fill.value);
    if ((!t->drop.set && !t->fill.set) || (o->pre && o->pre->drops)) return true;
    return fail(e, E_USAGE, "`drop` and `fill` are for a preconditioner that drops entries; add %s to the command",
                words_for(pre_drops).text);
}

/* The preconditioner of a block must suit the solver, as if it were that of the whole matrix. */
static bool check_inner(const struct solve_options *o, const struct precond *inner, const char *word, struct err *e)
{
    if (!inner) return true;
    if (inner->saddle)
        return fail(e, E_USAGE, "%s %s: a block needs another preconditioner, such as amg, ic0 or jacobi", word,
                    inner->name);
    if (solver_takes(o->solver, inner)) return true;
    return fail(e, E_USAGE, "%s %s: %s needs a symmetric preconditioner, but %s is not symmetric", word, inner->name,
                o->solver->name, inner->name);
}

/* `inner`, `complement` and `mass` need a preconditioner for saddle points. */
static bool check_schur(const struct solve_options *o, struct err *e)
{
    const struct schur_settings *s = &o->schur;
    if (!s->inner && !s->complement && !s->mass) return true;
    if (!o->pre || !o->pre->saddle)
        return fail(e, E_USAGE, "`inner`, `complement` and `mass` are for a preconditioner for saddle points; add %s",
                    words_for(pre_is_for_saddles).text);
    if (s->mass && (o->scaled || o->scaling.of || o->reorder))
        return fail(e, E_USAGE, "`mass` belongs to the matrix as it is; leave out `scaled` or `reorder`");
    return check_inner(o, s->inner, "inner", e) && check_inner(o, s->complement, "complement", e);
}

static bool check_precond(const struct solve_options *o, struct err *e)
{
    if (!check_block(o, e) || !check_near(o, e) || !check_triangles(o, e) || !check_factors(o, e) || !check_schur(o, e))
        return false;
    if (!o->pre) return true;
    if (o->solver->no_precond)
        return fail(e, E_USAGE, "%s takes no preconditioner; %s take one", o->solver->name,
                    solvers_that(takes_precond).text);
    if (o->solver->least_squares && !o->pre->least_squares)
        return fail(e, E_USAGE, "%s minimises ||b - A x||, and %s is for square systems; %s is for least squares",
                    o->solver->name, o->pre->name, words_for(pre_for_least_squares).text);
    if (o->pre->saddle && o->solver->definite)
        return fail(e, E_USAGE,
                    "%s needs a definite matrix, but %s is for saddle points, which are not definite; use minres",
                    o->solver->name, o->pre->name);
    if (o->solver->own_precond && !o->pre->symmetric)
        return fail(e, E_USAGE, "%s needs a symmetric preconditioner, but %s is not symmetric", o->solver->name,
                    o->pre->name);
    return true;
}

static bool check_gmres(const struct solve_options *o, struct err *e)
{
    if (o->solver->arnoldi || (!o->modified && !o->least_host)) return true;
    return fail(e, E_USAGE, "%s: `%s` is for %s", o->solver->name, o->modified ? "orth modified" : "least host",
                solvers_that(has_basis).text);
}

static bool check_form(const struct solve_options *o, struct err *e)
{
    if (!o->form_matrix || o->solver->form_bytes) return true;
    return fail(e, E_USAGE, "%s forms no iteration matrix: `form matrix` is for %s", o->solver->name,
                solvers_that(forms_matrix).text);
}

static bool check_refine(const struct csr *A, const struct solve_options *o, struct err *e)
{
    if (!o->refine) return true;
    if (!o->solver->refines)
        return fail(e, E_USAGE, "%s does not refine: `refine` is for %s", o->solver->name, solvers_that(refines).text);
    if (!A->imag || o->stored == P_F32) return true;
    return fail(e, E_UNSUPPORTED, "the matrix is complex, and complex values are not stored in %s; use `refine fp32`",
                type_name(precisions[o->stored].stored));
}

/* Another x minimises the residual if the rows have other weights. */
static bool check_weights(const struct solve_options *o, struct err *e)
{
    if (!o->solver->least_squares || !o->scaling.row) return true;
    return fail(e, E_USAGE,
                "%s minimises ||b - A x||, and `scaled` gives the rows other weights; %s scales the columns only",
                o->solver->name, words_for(pre_for_least_squares).text);
}

/* A device with members takes what works row by row: solvers that say so, and a preconditioner that is a diagonal. */
static bool check_members(const struct solve_options *o, struct err *e)
{
    const struct device *d = o->dev;
    if (!d || !d->members) return true;
    if (!o->solver->several)
        return fail(e, E_UNSUPPORTED, "%s does not run on %s, which has %d members; %s do", o->solver->name, d->name,
                    d->members, solvers_that(runs_on_several).text);
    if (o->pre && !o->pre->diagonal)
        return fail(e, E_UNSUPPORTED, "%s does not run on %s, which has %d members; %s does", o->pre->name, d->name,
                    d->members, words_for(pre_is_diagonal).text);
    if (o->sums_host)
        return fail(e, E_UNSUPPORTED, "%s: `sums host` is for one device; members send their sums to each other",
                    d->name);
    if (o->least_host) return fail(e, E_UNSUPPORTED, "%s: `least host` is for one device; leave it out", d->name);
    if (o->form_matrix) return fail(e, E_UNSUPPORTED, "%s: `form matrix` is for one device; leave it out", d->name);
    return true;
}

bool solve_check_numbers(const struct solve_options *o, struct err *e)
{
    return check_members(o, e) && check_omega(o, e) && check_m(o, e) && check_precond(o, e) && check_gmres(o, e) &&
           check_form(o, e);
}

static bool check_rules(const struct solve_options *o, struct err *e)
{
    if (!(o->tol >= 0)) return fail(e, E_USAGE, "tol is %g; it must not be negative", o->tol);
    if (o->conlim != 0 && !(o->conlim >= 1)) return fail(e, E_USAGE, "conlim is %g; it must be 1 or more", o->conlim);
    if (o->conlim != 0 && !o->solver->least_squares)
        return fail(e, E_USAGE, "%s estimates no condition, so it has no conlim; %s do", o->solver->name,
                    solvers_that(takes_any_shape).text);
    if (!(o->eps >= 0)) return fail(e, E_USAGE, "eps is %g; it must not be negative", o->eps);
    if (o->maxit < 0) return fail(e, E_USAGE, "maxit is %lld; it must not be negative", (long long)o->maxit);
    if (o->eps == 0 || o->solver->diff) return true;
    return fail(e, E_USAGE, "%s does not measure max |x' - x|, so eps cannot stop it; use tol instead",
                o->solver->name);
}

bool solve_check_vectors(const struct csr *A, const struct solve_options *o, struct err *e)
{
    return check_vector("b", A, solve_numbers_of_b(A), o->b, e) && check_vector("x0", A, solve_numbers(A), o->x0, e);
}

bool solve_check(const struct csr *A, const struct solve_options *o, struct err *e)
{
    if (!check_shape(A, o->solver, e) || !check_complex(A, o, e) || !check_refine(A, o, e)) return false;
    if (!check_weights(o, e)) return false;
    if (!check_rules(o, e) || !solve_check_numbers(o, e) || !check_tol(o->tol, o->real, e)) return false;
    return o->force || (csr_finite(A, "solve", e) && solve_check_vectors(A, o, e));
}

bool batch_check(const struct csr *A, const struct solve_options *o, struct err *e)
{
    if (A->imag)
        return fail(
            e, E_UNSUPPORTED,
            "the matrix is complex, but a batch takes real matrices only; `solve` takes one column after another");
    if (!o->solver->columns)
        return fail(e, E_UNSUPPORTED, "%s does not advance several columns at a time; %s do", o->solver->name,
                    solvers_that(steps_columns).text);
    if (o->pre && !o->pre->diagonal)
        return fail(
            e, E_UNSUPPORTED,
            "%s is applied to one column at a time; in a batch, use %s or none, or `solve` for one column after "
            "another",
            o->pre->name, words_for(pre_is_diagonal).text);
    return check_shape(A, o->solver, e);
}
