/* For paper_value.c: what an iteration of a solver, and a factorisation by lu-paper, would take on a GPU that is not
   here. */
#include "paper_predicted.h"
#include "advice/predicted.h"
#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/fmt_vab.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/emulated.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "microscope/scaling.h"
#include "paper_times.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The small grid on which launches are counted, and the iterations counted of a solver that does not restart. */
enum { GRID = 32, CYCLE = 10 };
/* Unknowns that a launch of the substitution computes. */
enum { SUBSTITUTED = 32 };

/* ---- a small solve on the emulator ---- */

/* What an iteration does besides reading A, the same for all matrices. */
struct iteration {
    double products, launches, vectors; /* products; launches; vectors read or written */
};

/* Solve with at most maxit iterations: *launches and *iterations receive what was done, and *vectors what an iteration
   reads or writes. */
static bool small_solve(const struct solve_matrix *A, struct solve_options *o, int64_t maxit, double *launches,
                        double *iterations, double *vectors, struct err *e)
{
    struct solve *v;
    o->maxit = maxit;
    if (!solve_begin(&v, A, o, e)) return false;
    int64_t before = emu_launches();
    bool ok = true;
    while (ok && v->reason == RUNNING) ok = solve_slice(v, 1e6, e);
    ok = ok && solve_drain(v, e);
    *launches = (double)(emu_launches() - before);
    *iterations = (double)v->iterations;
    double value = (double)type_size(v->real), matrix = csr_bytes(A->csr, type_size(v->real));
    if (o->form_matrix) matrix -= (value + 4) * (double)A->csr->rows; /* that of B, without the diagonal */
    double products = o->solver->products + (o->solver->restarts ? 1 / (double)v->set.m : 0);
    *vectors = (solve_bytes(v) - products * matrix) / (value * (double)A->csr->rows);
    solve_free(v);
    return ok;
}

/* The launches of the iterations after the first cycle; what a solve launches once cancels out. The first solve
   prepares the kernel. */
static bool count_iteration(const struct solve_matrix *A, struct solve_options *o, struct iteration *out, struct err *e)
{
    int64_t cycle = o->solver->restarts ? o->m : CYCLE;
    double short_launches, short_iterations, launches, iterations;
    if (!small_solve(A, o, cycle, &short_launches, &short_iterations, &out->vectors, e) ||
        !small_solve(A, o, cycle, &short_launches, &short_iterations, &out->vectors, e) ||
        !small_solve(A, o, 2 * cycle, &launches, &iterations, &out->vectors, e))
        return false;
    out->products = o->solver->products + (o->solver->restarts ? 1 / (double)cycle : 0);
    if (iterations <= short_iterations)
        return fail(e, E_UNSUPPORTED, "%s ends too early to count its launches", o->solver->name);
    out->launches = (launches - short_launches) / (iterations - short_iterations);
    return true;
}

/* Take the products' launches away. */
static bool less_products(const struct csr *A, const struct kernel *k, enum precision real, const struct machine *g,
                          struct watch *w, struct iteration *out, struct err *e)
{
    struct packed packed = {0};
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    bool ok = t && modeled_csr(A, k, NULL, real, g, w, &packed, t, e);
    if (ok) out->launches = fmax(out->launches - out->products * t->work.n, 0);
    packed_free(&packed);
    mem_free(t);
    return ok;
}

static bool solve_grid(struct session *s, const struct csr *A, const struct kernel *k, struct solve_options *o,
                       struct iteration *out, struct err *e)
{
    struct stored S = {0};
    struct mat M = {0};
    struct solve_matrix with = {.name = "grid", .csr = A, .kernel = k, .watch = &s->watch};
    double *b = mem_new(A->rows, sizeof *b, "the right side", e);
    bool ok = b && format_pack(A, k->format, NULL, o->real, true, &S, e) && mat_put(&M, &S, o->dev, e);
    if (ok) random_fill(b, A->rows, 1);
    if (!o->form_matrix) with.mat = &M;
    o->b = b;
    ok = ok && count_iteration(&with, o, out, e);
    if (M.dev) mat_free(&M);
    stored_free(&S);
    mem_free(b);
    return ok;
}

static bool iteration_of(struct session *s, const struct kernel *k, struct solve_options *o, const struct machine *g,
                         struct iteration *out, struct err *e)
{
    struct csr A = {0};
    int64_t param[PARAMS_MAX] = {GRID, GRID};
    bool ok = generator_find("poisson2d")->make(param, 1, &s->watch, &A, e) && solve_grid(s, &A, k, o, out, e) &&
              less_products(&A, k, o->real, g, &s->watch, out, e);
    csr_free(&A);
    return ok;
}

/* ---- the product ---- */

/* The pattern of A without its diagonal, with any values. */
static bool without_diagonal(const struct csr *A, struct csr *B, struct err *e)
{
    int n = 0;
    if (!csr_new(B, A->rows, A->cols, A->nnz, false, e)) return false;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (A->col[k] != i) B->val[n] = 1, B->col[n++] = A->col[k];
        B->rowptr[i + 1] = n;
    }
    B->nnz = n;
    return true;
}

/* Predict the product with A, or with the iteration matrix of A, which lacks the diagonal. */
static bool product_of(struct session *s, struct matrix *m, const struct kernel *k, const struct solve_options *o,
                       const struct machine *g, struct modeled *t, struct err *e)
{
    struct csr B = {0};
    struct packed packed = {0};
    if (!o->form_matrix) return modeled_kernel(s, m, k, NULL, o->real, g, t, e);
    bool ok = without_diagonal(&m->csr, &B, e) && modeled_csr(&B, k, NULL, o->real, g, &s->watch, &packed, t, e);
    packed_free(&packed);
    csr_free(&B);
    return ok;
}

/* In a graph, launches follow one another without a gap. If the host adds the sums, no graph is possible. */
static double iteration_us(const struct iteration *i, const struct modeled *t, const struct solve_options *o,
                           double rows, const struct machine *g)
{
    double bytes = i->vectors * (double)type_size(precisions[o->real].vector) * rows;
    double product = !o->sums_host && isfinite(t->time.chain_us) ? t->time.chain_us : t->time.us;
    double more = o->sums_host ? i->launches * g->c.launch_us - scaling_passes_us(g, 0, i->launches) : 0;
    return i->products * product + scaling_passes_us(g, bytes, i->launches) + fmax(more, 0);
}

static void predicted(struct paper_time *t, double us, const struct machine *g)
{
    *t = (struct paper_time){.us = us, .spread = NAN, .predicted = true};
    snprintf(t->gpu, sizeof t->gpu, "%s", g->name);
}

/* Does the solver take A? */
static bool can_solve(const struct csr *A, struct solve_options *o, struct err *e)
{
    double *b = mem_new(A->rows, sizeof *b, "the right side", e);
    if (b) random_fill(b, A->rows, 1);
    o->b = b;
    bool ok = b && solve_check(A, o, e);
    mem_free(b);
    return ok;
}

bool predicted_solver(struct session *s, struct matrix *m, const struct machine *g, enum precision real, const char *of,
                      struct paper_time *out, struct err *e)
{
    struct solve_options o = {.real = real, .force = true, .launches = LAUNCHES_MANY};
    struct iteration i = {0};
    if (!paper_read_solver(of, &o, e) || !(o.dev = device_open("emu", e))) return false;
    const struct format *f = o.form_matrix ? &format_vab : format_native(&m->csr);
    o.kernel = kernel_default(f, &m->csr, o.dev);
    struct err why = {0};
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    if (!t) return false;
    bool ok = can_solve(&m->csr, &o, &why) && product_of(s, m, o.kernel, &o, g, t, &why) &&
              iteration_of(s, o.kernel, &o, g, &i, &why);
    if (!ok) paper_refused(&why, e);
    if (ok) predicted(&out[PAPER_DEVICE], iteration_us(&i, t, &o, (double)m->csr.rows, g), g);
    mem_free(t);
    return ok;
}

/* ---- dense LU ---- */

/* The time to read or write `bytes` of a matrix that has `all` bytes, in this number of launches. */
static double lu_us(double bytes, double all, int64_t launches, const struct machine *g)
{
    double kept = bytes * fmin(1, scaling_kept(g, all) / all);
    return model_launches_us(launches, g) + (bytes - kept) / (g->c.copy_gbs * 1e3) + kept / (g->c.cache_gbs * 1e3);
}

/* Step k of lu-paper has three launches: the pivot reads a column, the second exchanges two rows and divides a column,
   the third reads and writes the remaining matrix. */
static double paper_lu_us(int64_t n, double value, const struct machine *g)
{
    double values = 0;
    for (int64_t k = 0; k < n; k++) {
        double left = (double)(n - k - 1);
        values += left + 4 * (double)n + 2 * left + 2 * left * left;
    }
    return lu_us(value * values, value * (double)n * (double)n, 3 * n, g);
}

/* The substitutions read the factors once, 32 unknowns per launch (lu_launch_solve). */
static double substitution_us(int64_t n, double value, const struct machine *g)
{
    double all = value * (double)n * (double)n;
    return lu_us(all, all, 2 * ((n + SUBSTITUTED - 1) / SUBSTITUTED), g);
}

bool predicted_factor(struct matrix *m, const struct machine *g, enum precision real, const char *of,
                      struct paper_time *out, struct err *e)
{
    double value = (double)type_size(precisions[real].vector);
    if (strcmp(of, "lu-paper"))
        return fail(e, E_UNSUPPORTED, "%s needs a GPU: of the LU methods for GPUs, only lu-paper is predicted", of);
    double us = paper_lu_us(m->csr.rows, value, g);
    predicted(&out[PAPER_FACTOR], us, g);
    predicted(&out[PAPER_SOLVE], us + substitution_us(m->csr.rows, value, g), g);
    return true;
}
