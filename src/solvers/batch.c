/* Solves several right sides of one matrix at the same time. The vectors of all columns are those of one solve, row by
   row, and its solver steps as for one column: products are SpMMs, and passes go by column (struct solve_columns). */
#include "batch.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"
#include "precond.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>

_Static_assert((int)COLUMNS_MAX <= (int)SPMM_VECTORS_MAX, "a kernel multiplies all columns");

/* A slice has at most GROWTH times the iterations of the one before. */
enum { GROWTH = 4 };

/* The true residual may be up to `drift` times tol, because rounding errors separate it from the recursive residual. */
static const double drift = 2;

enum { WIDTH_CPU = 8 };

int batch_width(const struct device *d)
{
    return d->kind == DEV_CPU ? WIDTH_CPU : COLUMNS_MAX;
}

/* ---- columns one after another, and row by row ---- */

/* wide[i * columns + c] = column[c * rows + i], or back. */
static bool interleave(const struct batch *t, const double *column, double *wide, struct err *e)
{
    struct loop l = loop_of("columns", t->rows);
    for (int64_t i = 0; i < t->rows && loop_goes(&l, i); i++)
        for (int c = 0; c < t->columns; c++) wide[i * t->columns + c] = column[c * t->rows + i];
    return loop_end(&l, e);
}

static bool separate(const struct batch *t, const double *wide, double *column, struct err *e)
{
    struct loop l = loop_of("columns", t->rows);
    for (int64_t i = 0; i < t->rows && loop_goes(&l, i); i++)
        for (int c = 0; c < t->columns; c++) column[c * t->rows + i] = wide[i * t->columns + c];
    return loop_end(&l, e);
}

static double *wide_new(const struct batch *t, const char *what, struct err *e)
{
    return mem_new(t->columns * t->rows, sizeof(double), what, e);
}

/* ---- the beginning ---- */

static bool check_column(const struct batch *t, int c, const struct csr *A, const struct solve_options *o,
                         struct err *e)
{
    enum type real = precisions[o->real].vector;
    if (!(c == 0 ? solve_check(A, o, e) : o->force || solve_check_vectors(A, o, e))) return false;
    char what[32] = "A";
    if (c > 0 || !solve_exponents_of(A, o->b, real).a) {
        if (!solve_exponent_of_b(t->rows, o->b, real)) return true;
        snprintf(what, sizeof what, "column %d of b", c);
    }
    return fail(
        e, E_UNSUPPORTED,
        "the numbers of %s are so large or small that their squares leave the range of %s; `solve` scales them, "
        "one column after another",
        what, type_name(real));
}

static bool check_values(const struct batch *t, const struct csr *A, const struct solve_options *o, const double *x0,
                         struct err *e)
{
    struct solve_options one = *o;
    bool ok = true;
    for (int c = 0; ok && c < t->columns; c++) {
        one.b = t->b + c * t->rows;
        one.x0 = x0 + c * t->rows;
        ok = check_column(t, c, A, &one, e) && loop_tick("columns", c, t->columns, e);
    }
    return ok;
}

/* The solution of a column with b = 0 is 0, whatever its x0. */
static void clear_empty(const struct batch *t, double *x0)
{
    for (int c = 0; c < t->columns; c++)
        for (int64_t i = 0; t->b_norm[c] == 0 && i < t->rows; i++) x0[i * t->columns + c] = 0;
}

static bool begin(struct batch *t, const struct solve_matrix *A, const struct spmm_kernel *kernel,
                  const struct solve_options *o, double *b, double *x0, struct err *e)
{
    struct solve_columns c = {.n = t->columns, .kernel = kernel, .b_norm = t->b_norm};
    struct solve_options wide = *o;
    clear_empty(t, x0);
    wide.b = b;
    wide.x0 = x0;
    wide.launches = LAUNCHES_MANY;
    wide.truth = NULL;
    wide.keeps = false;
    return solve_begin_columns(&t->solve, A, &c, &wide, e);
}

/* ---- the state of the columns ---- */

static struct batch_column column_of(const struct batch *t, const double *s, double b_norm)
{
    struct batch_column c = {(enum reason)s[S_DONE], (int64_t)s[S_ITER] - 1, sqrt(s[S_RR]), NAN};
    if (b_norm > 0) c.residual /= b_norm;
    if (c.reason == RUNNING && c.iterations >= t->solve->set.maxit) c.reason = MAX_ITERATIONS;
    return c;
}

/* Wait for the device, and read the scalars of all columns. */
static bool read_columns(struct batch *t, struct err *e)
{
    const struct solve *v = t->solve;
    double s[COLUMNS_MAX * SCALARS];
    int64_t bytes = t->columns * SCALARS * (int64_t)sizeof *s;
    if (!v->dev->ops->get(v->dev, s, v->scalars, bytes, e) || !v->dev->ops->sync(v->dev, e)) return false;
    t->running = 0;
    t->iterations = 0;
    for (int c = 0; c < t->columns; c++) {
        t->column[c] = column_of(t, s + c * SCALARS, t->b_norm[c]);
        t->running += t->column[c].reason == RUNNING;
        if (t->column[c].iterations > t->iterations) t->iterations = t->column[c].iterations;
    }
    return true;
}

bool batch_begin(struct batch *t, const struct solve_matrix *A, const struct spmm_kernel *kernel,
                 const struct solve_options *o, int columns, const double *b, const double *x0, struct err *e)
{
    *t = (struct batch){.columns = columns, .rows = A->csr->rows, .b = b};
    if (!check_values(t, A->csr, o, x0, e)) return false;
    for (int c = 0; c < columns; c++) {
        t->b_norm[c] = norm2(t->rows, b + c * t->rows);
        if (!loop_tick("columns", c, columns, e)) return false;
    }
    double *wide_b = wide_new(t, "the right sides", e), *wide_x = wide_b ? wide_new(t, "x0 of a batch", e) : NULL;
    bool ok = wide_x && interleave(t, b, wide_b, e) && interleave(t, x0, wide_x, e) &&
              begin(t, A, kernel, o, wide_b, wide_x, e) && read_columns(t, e);
    mem_free(wide_b);
    mem_free(wide_x);
    return ok;
}

/* ---- iterations ---- */

/* A device that queues launches runs on while the host does not read the scalars; any other reads them each time. */
static int64_t iterations_within(const struct batch *t, double us)
{
    const struct solve *v = t->solve;
    int64_t most = v->dev->ops->idle ? GROWTH * t->queued : 1, left = v->set.maxit - v->schedule.queued;
    double fit = t->rate_us > 0 ? us / t->rate_us : 1;
    int64_t n = fit < (double)most ? (int64_t)fit : most;
    if (n < 1) n = 1;
    return n < left ? n : left;
}

static bool step_all(struct batch *t, int64_t n, struct err *e)
{
    struct solve *v = t->solve;
    for (int64_t i = 0; i < n; i++, v->schedule.queued++)
        if (!v->solver->step(v, e) || !cut_release(v, 0, e) || !loop_unbroken(v->solver->name, e)) return false;
    return true;
}

bool batch_slice(struct batch *t, double us, struct err *e)
{
    double start = now_us();
    t->queued = iterations_within(t, us);
    if (!step_all(t, t->queued, e) || !read_columns(t, e)) {
        t->solve->dev->ops->sync(t->solve->dev,
                                 NULL); /* what Ctrl-C left on the device does not fail a later command */
        return false;
    }
    double took = now_us() - start;
    t->us += took;
    if (t->queued) t->rate_us = took / (double)t->queued;
    return true;
}

/* ---- the end ---- */

static bool fetch_x(struct batch *t, struct err *e)
{
    struct solve *v = t->solve;
    double *wide = wide_new(t, "the solutions", e);
    t->x = wide ? wide_new(t, "the solutions", e) : NULL;
    bool ok = t->x && solve_x(v, e) && solve_get(v, wide, v->vec[VEC_X], e) && separate(t, wide, t->x, e);
    mem_free(wide);
    return ok;
}

/* The true residual of column c; r has room for it. */
static bool measure(struct batch *t, int c, double *r, struct err *e)
{
    const double *b = t->b + c * t->rows;
    if (!reference_product(t->solve->matrix.csr, 1, t->x + c * t->rows, 0, r, P_F64, NULL, e)) return false;
    for (int64_t i = 0; i < t->rows; i++) r[i] = b[i] - r[i];
    t->column[c].residual_true = norm2(t->rows, r) / (t->b_norm[c] > 0 ? t->b_norm[c] : 1);
    return loop_tick("the true residual", c, t->columns, e);
}

/* Convergence counts only if the true residual shows it. */
static void judge(const struct batch *t, struct batch_column *c, const double *x)
{
    if (c->reason != CONVERGED) return;
    if (first_not_finite(t->rows, x) < t->rows)
        c->reason = NOT_A_NUMBER;
    else if (!(c->residual_true <= drift * t->solve->set.tol))
        c->reason = DRIFTED;
}

bool batch_end(struct batch *t, struct err *e)
{
    double *r = mem_new(t->rows, sizeof *r, "the true residual", e);
    bool ok = r && fetch_x(t, e);
    for (int c = 0; ok && c < t->columns; c++) {
        ok = measure(t, c, r, e);
        judge(t, &t->column[c], t->x + c * t->rows);
    }
    mem_free(r);
    if (ok) solve_release(t->solve);
    return ok;
}

void batch_free(struct batch *t)
{
    solve_free(t->solve);
    mem_free(t->x);
    t->solve = NULL;
    t->x = NULL;
}

/* ---- bytes ---- */

double batch_bytes_alone(const struct batch *t)
{
    const struct solve *v = t->solve;
    double size = (double)type_size(v->real), n = (double)t->rows;
    double each = v->solver->bytes(v->matrix.csr, type_size(v->real), 0);
    if (v->pre.method)
        each +=
            v->solver->diagonal_vectors ? v->solver->diagonal_vectors * size * n : v->solver->products * 3 * size * n;
    return t->columns * each;
}

double batch_bytes(const struct batch *t)
{
    const struct solve *v = t->solve;
    double A = v->solver->products * csr_bytes(v->matrix.csr, type_size(v->real));
    return batch_bytes_alone(t) - (t->columns - 1) * A;
}
