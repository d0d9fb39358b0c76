/* batch: solves A x = b for several right sides at the same time. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "cmd_direct.h"
#include "language/args.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "report/fields.h"
#include "report/output_batch.h"
#include "save_solution.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_batch.h"
#include "session/session_solve.h"
#include "solve_line.h"
#include "solve_run.h"
#include "solvers/batch.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "symmetry_needed.h"

#include <math.h>
#include <string.h>

static const double SLICE_US = 8000; /* time to work between two looks at the keyboard */

enum { RANDOM_MAX = 4096 }; /* right sides of `b random k N` */

struct row {
    struct batch_column column;
    double error;
    struct batch_alone alone;
};

struct task {
    struct solve_line line;
    int width; /* columns in a group, which advance together */
    struct batch_totals totals;
    struct row *row;
    double *x; /* all solutions, one after another; NULL: they are not saved */
};

/* ---- right sides ---- */

/* k random right sides: that of number i is `b random seed S + i`. */
static bool make_random(const struct solve_line *l, int64_t k, struct right_sides *all, struct err *e)
{
    int64_t n = l->m->csr.rows;
    double *b = mem_new(k * n, sizeof *b, "the right sides", e);
    struct right_sides one = {0};
    bool ok = b != NULL;
    for (int64_t i = 0; ok && i < k; i++) {
        right_sides_free(&one);
        ok = right_sides_make(l->m, "random", (uint64_t)(arg_int(l->a, "seed", 1) + i), &one, e);
        if (ok) memcpy(b + i * n, one.b, (size_t)n * sizeof *b);
    }
    *all = one;
    right_sides_free(&one);
    all->n = k;
    all->b = all->own = b;
    all->own_x = NULL;
    if (!ok) right_sides_free(all);
    return ok;
}

static bool take_sides(struct solve_line *l, struct err *e)
{
    int64_t k;
    if (!arg(l->a, "k")) return sides_request_of(l->m, l->a, &l->right, e);
    if (!arg(l->a, "b") || strcmp(arg(l->a, "b"), "random") != 0)
        return fail(e, E_USAGE, "`k` is the number of random right sides: `b random k 8`");
    return arg_within(l->a, "k", 1, 1, RANDOM_MAX, &k, e) && make_random(l, k, &l->right.all, e);
}

static bool take_width(struct task *t, struct err *e)
{
    int64_t width;
    if (!arg_within(t->line.a, "width", batch_width(t->line.o.dev), 1, COLUMNS_MAX, &width, e)) return false;
    t->width = (int)width;
    return true;
}

/* The starting guesses of `columns` right sides from `first` on. */
static double *guesses(const struct solve_line *l, int64_t first, int columns, struct err *e)
{
    int64_t n = l->m->csr.cols;
    double *x0 = mem_zero(columns * n, sizeof *x0, "the starting guesses", e);
    for (int c = 0; x0 && arg(l->a, "x0") && c < columns; c++) {
        double *one = guess_of(l->m, l->a, first + c, e);
        if (!one) return mem_free(x0), NULL;
        memcpy(x0 + c * n, one, (size_t)n * sizeof *x0);
        mem_free(one);
    }
    return x0;
}

/* ---- one group of columns ---- */

/* The relative error of the x of column i. */
static double error_of(const struct task *t, int64_t i, const double *x)
{
    const struct right_sides *r = &t->line.right.all;
    double error = 0, size = 0;
    if (!t->totals.known) return NAN;
    for (int64_t k = 0; k < r->x_each; k++) {
        double truth = r->known_ones ? 1 : r->x[i * r->x_each + k];
        error += (x[k] - truth) * (x[k] - truth);
        size += truth * truth;
    }
    return sqrt(size > 0 ? error / size : error);
}

static bool keep(struct task *t, const struct batch *g, int64_t first, struct err *e)
{
    struct batch_totals *total = &t->totals;
    total->kernel = g->solve->columns.kernel;
    total->iterations += g->iterations;
    total->us += g->us;
    if (!first) {
        total->bytes = batch_bytes(g);
        total->bytes_alone = batch_bytes_alone(g);
    }
    for (int c = 0; c < g->columns; c++) {
        t->row[first + c] = (struct row){.column = g->column[c], .error = error_of(t, first + c, g->x + c * g->rows)};
        total->converged += g->column[c].reason == CONVERGED;
        total->column_iterations += g->column[c].iterations;
        if (t->x) memcpy(t->x + (first + c) * g->rows, g->x + c * g->rows, (size_t)g->rows * sizeof *t->x);
        if (!loop_tick("columns", c, g->columns, e)) return false;
    }
    return true;
}

static bool iterate(const struct task *t, struct batch *g, struct err *e)
{
    const struct solve_options *o = &t->line.o;
    while (g->running)
        if (!watch_tick(&t->line.s->watch, o->solver->name, g->iterations, o->maxit, e) || !batch_slice(g, SLICE_US, e))
            return false;
    return batch_end(g, e);
}

/* Ctrl-C drops the whole batch. */
static bool failed(const struct batch *g, const struct err *why, struct err *e)
{
    if (why->code != E_CANCELLED) return fail_at(e, why->code, why->where, "%s", why->text);
    return fail(e, E_CANCELLED, "batch: cancelled at iteration %lld, with %d of %d columns done; no x is kept",
                (long long)g->iterations, g->columns - g->running, g->columns);
}

/* The solve of column i alone, as `solve` does it. */
static bool solve_alone_of(struct task *t, int64_t i, const double *x, struct err *e)
{
    struct session *s = t->line.s;
    struct row *r = &t->row[i];
    enum turn turn;
    session_drop_solve(s);
    if (!solve_line_begin(&t->line, i, e) || !solve_run(s, NULL, &turn, e)) return false;
    if (turn != TURN_ON) return session_drop_solve(s), fail(e, E_CANCELLED, "batch: cancelled while comparing");
    if (!solve_conclude(s, NULL, turn, e) || !solve_fetch_x(s->solve, e)) return false;
    double most = 0, differs = 0;
    for (int64_t k = 0; k < s->solve->n; k++) {
        most = fmax(most, fabs(s->solve->result.x[k]));
        differs = fmax(differs, fabs(x[k] - s->solve->result.x[k]));
    }
    r->alone = (struct batch_alone){s->solve->iterations, most > 0 ? differs / most : differs};
    t->totals.us_alone += s->solve->time.us;
    t->totals.difference = fmax(t->totals.difference, r->alone.difference);
    return true;
}

static bool compare(struct task *t, const struct batch *g, int64_t first, struct err *e)
{
    bool ok = true;
    for (int c = 0; ok && t->totals.compared && c < g->columns; c++)
        ok = solve_alone_of(t, first + c, g->x + c * g->rows, e);
    if (t->totals.compared) session_drop_solve(t->line.s);
    return ok;
}

static bool solve_group(struct task *t, int64_t first, int columns, struct err *e)
{
    struct solve_line *l = &t->line;
    const struct right_sides *r = &l->right.all;
    struct batch g = {0};
    struct err why = {0};
    double *x0 = guesses(l, first, columns, e);
    if (!x0) return false;
    bool ok = session_batch(&g, l->s, l->m, &l->o, columns, r->b + first * r->each, x0, &why) && iterate(t, &g, &why);
    mem_free(x0);
    ok = ok || failed(&g, &why, e);
    ok = ok && keep(t, &g, first, e) && compare(t, &g, first, e);
    batch_free(&g);
    return ok;
}

/* ---- the command ---- */

static bool solve_groups(struct task *t, struct err *e)
{
    int64_t n = t->totals.columns;
    bool ok = true;
    for (int64_t first = 0; ok && first < n; first += t->width)
        ok = solve_group(t, first, n - first < t->width ? (int)(n - first) : t->width, e);
    return ok;
}

static void print(const struct task *t)
{
    struct out *o = t->line.s->out;
    for (int64_t i = 0; i < t->totals.columns; i++)
        out_batch_column(o, &t->totals, i, &t->row[i].column, t->row[i].error,
                         t->totals.compared ? &t->row[i].alone : NULL);
    out_batch(o, &t->totals);
}

static bool run(struct task *t, struct err *e)
{
    struct solve_line *l = &t->line;
    const struct right_sides *r = &l->right.all;
    t->totals = (struct batch_totals){.matrix = l->m->name,
                                      .b = r->name,
                                      .solver = l->o.solver,
                                      .pre = l->o.pre,
                                      .dev = l->o.dev,
                                      .real = l->o.real,
                                      .columns = r->n,
                                      .width = r->n < t->width ? r->n : t->width,
                                      .compared = arg_flag(l->a, "compare"),
                                      .known = (r->known_ones || r->x) && !r->up_to_constant};
    t->row = mem_zero(r->n, sizeof *t->row, "the results", e);
    if (!t->row || (arg(l->a, "save") && !(t->x = mem_new(r->n * r->x_each, sizeof *t->x, "the solutions", e))))
        return false;
    if (!solve_groups(t, e)) return false;
    print(t);
    struct mtx_columns x = {t->x, l->m->csr.cols, r->n, false};
    return save_solution(l->s, l->a, &x, e);
}

static bool run_batch(struct session *s, const struct args *a, struct err *e)
{
    struct task t = {.line = {.s = s, .a = a, .m = session_matrix(s, arg(a, "matrix"), e)}};
    struct solve_line *l = &t.line;
    if (direct_was_typed(a))
        return fail(e, E_USAGE, "a batch iterates; `solve direct b FILE` solves for several right sides at once");
    if (!l->m || !solve_options_of(s, l->m, a, &l->o, e)) return false;
    bool ok = take_width(&t, e) && save_allowed(a, e) && batch_check(&l->m->csr, &l->o, e) && take_sides(l, e) &&
              solve_warn(s, l->m, l->o.solver, l->o.pre, e) && run(&t, e);
    right_sides_free(&l->right.all);
    solve_options_free(&l->o);
    mem_free(t.row);
    mem_free(t.x);
    return ok;
}

const struct command command_batch = {
    .name = "batch",
    .grammar = "SOLVER [MATRIX] [on DEVICE] [[using] FORMAT] [[precond] PRECOND] [b RIGHT_SIDE] [k N] [x0 GUESS] "
               "[width N] [seed N] [tol R] [maxit N] [save FILE] [compare] [force] [f32|f64]",
    .about = "solve A x = b for several right sides at the same time",
    .help =
        "Columns of b advance in lock step: an iteration multiplies A by the vectors of several columns at once (as\n"
        "`spmm` does), so that A is read once for all of them. Each column has its own coefficients, stops when its\n"
        "own ||r|| / ||b|| <= tol, and then waits for the others; its x is that of `solve`, up to rounding. width is\n"
        "the number of columns that advance together: at most 64, which is the default, and 8 on cpu.\n"
        "b is as in `solve`: columns in the file of the matrix or of its own; `b random k N` makes N columns, and\n"
        "number i is that of `solve b random seed S` with S = seed + i. compare also solves the columns one after\n"
        "another, and shows the time of both and the largest difference of x. cg, minres, bicgstab and qmrcgstab\n"
        "advance columns, with precond jacobi, columns or none; A is real. Ctrl-C drops the batch.\n"
        "    batch cg b random k 8 compare; batch cg b sides.npy precond jacobi tol 1e-10 save x.mtx\n"
        "    batch bicgstab A b B.mtx width 16 on emu f32",
    .rows = (const struct row_kind *const[]){&row_batch_column, &row_batch, NULL},
    .run = run_batch,
    .sweeps = true,
};
