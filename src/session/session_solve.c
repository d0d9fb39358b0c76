/* Begins a solve on a matrix of the session. */
#include "session_solve.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "direct/direct.h"
#include "formats/fmt_vab.h"
#include "formats/format.h"
#include "holding.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/member_rows.h"
#include "matrix.h"
#include "matrix/norms.h"
#include "product.h"
#include "right_side.h"
#include "session.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "spmv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* May k be chosen for a matrix in format f on d, if the user names none? */
static bool is_choice(const struct kernel *k, const struct format *f, const struct device *d)
{
    return k->format == f && !k->vendor && !k->remote && kernel_runs_on(k, d);
}

/* The first kernel of f that multiplies by values in this precision; NULL: none. */
static const struct kernel *kernel_for(const struct format *f, const struct device *d, enum precision precision)
{
    for (int i = 0; kernels[i]; i++)
        if (is_choice(kernels[i], f, d) && kernel_takes(kernels[i], precision, NULL)) return kernels[i];
    return NULL;
}

/* The first kernel of f that is the best for A, and computes the inner products that the solver uses; NULL: none. */
static const struct kernel *summing_kernel(const struct csr *A, const struct solve_options *o, const struct format *f)
{
    if (!o->solver || !o->solver->product_sums || o->sums_host || A->imag) return NULL;
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (is_choice(k, f, o->dev) && kernel_sums(k, o->real) && k->best && k->best(A)) return k;
    }
    return NULL;
}

static const struct kernel *default_kernel(const struct csr *A, const struct solve_options *o, const struct format *f)
{
    const struct kernel *k = summing_kernel(A, o, f);
    return k ? k : kernel_default(f, A, o->dev);
}

/* The named kernel, or the default kernel of the format. */
static const struct kernel *choose_kernel(const struct csr *A, const struct solve_options *o, const struct format *f,
                                          struct err *e)
{
    const struct kernel *k = o->kernel ? o->kernel : default_kernel(A, o, f);
    if (!o->kernel && o->refine && k && !kernel_takes(k, precision_of_values(o->stored, A->imag != NULL), NULL))
        k = kernel_for(f, o->dev, o->stored);
    if (!k)
        fail(e, E_UNSUPPORTED, "no kernel multiplies by a %s matrix on %s; `kernels` lists the kernels of each device",
             f->name, o->dev->name);
    else if (k->format != f)
        fail(e, E_USAGE, "kernel %s works on format %s, not on %s", k->name, k->format->name, f->name);
    else if (!kernel_runs_on(k, o->dev))
        fail(e, E_UNSUPPORTED, "kernel %s does not run on %s; `kernels` shows where kernels run", k->name,
             o->dev->name);
    else
        return k;
    return NULL;
}

/* THESIS 3.2 stores the iteration matrix in VAB. */
static const struct format *format_of(const struct solve_options *o, const struct csr *A)
{
    if (o->format) return o->format;
    return o->kernel ? o->kernel->format : o->form_matrix ? &format_vab : format_native(A);
}

/* The matrix on the device, with its values in this precision. */
static struct mat *mat_in(struct session *s, struct matrix *m, const struct solve_options *o, const struct format *f,
                          enum precision precision, struct err *e)
{
    struct form w = form_of(m, f, NULL, precision);
    w.force = o->force;
    struct product *p = session_product(s, w, e);
    return p ? session_mat(s, p, o->dev, e) : NULL;
}

/* A solve with a wrong kernel of the user would fail for a reason that says nothing about the kernel. */
static bool multiplies_right(const struct solve_matrix *A, const struct solve_options *o, struct err *e)
{
    struct verdict v;
    char what[80];
    if (!A->kernel->remote || o->force) return true;
    if (!bench_result(A->kernel, A->csr, A->mat, &operation_product, 1, NULL, &v, e)) return false;
    snprintf(what, sizeof what, "the kernel %s", A->kernel->name);
    if (product_is_right(&v, what, e)) return true;
    err_advise(e, "`try` says more, and `force` solves with this kernel");
    return false;
}

/* If the solver forms an iteration matrix or scales A, only that matrix is copied to the device, and the solver does
   that. */
bool session_put_matrix(struct session *s, struct matrix *m, const struct solve_options *o, struct solve_matrix *A,
                        struct err *e)
{
    const struct format *f = format_of(o, A->csr);
    A->kernel = choose_kernel(A->csr, o, f, e);
    if (o->form_matrix) return A->kernel != NULL;
    if (!A->kernel || (o->refine && !kernel_takes(A->kernel, precision_of_values(o->stored, m->csr.imag), e)))
        return false;
    if (A->exponents.a) return true;
    A->mat = mat_in(s, m, o, f, o->refine ? o->stored : o->real, e);
    if (A->mat && o->refine) A->fine = mat_in(s, m, o, f, P_F64, e);
    return A->mat && (A->fine || !o->refine) && multiplies_right(A, o, e);
}

/* Does the host have room for A', which the check of x needs there? */
static bool transposed_fits(const struct matrix *m, struct err *e)
{
    const struct csr *A = &m->csr;
    double bytes = csr_bytes(A, sizeof *A->val) + 4 * (double)(A->cols - A->rows);
    char need[32], have[32];
    if (m->transposed || bytes <= (double)mem_available()) return true;
    return fail(e, E_LIMIT, "products with A' need A' in memory, which takes %s, but %s are available",
                show_bytes(bytes, need, sizeof need), show_bytes((double)mem_available(), have, sizeof have));
}

/* A', in the same format as A, on the device. */
static bool put_transposed(struct session *s, struct matrix *m, const struct solve_options *o, struct solve_matrix *A,
                           struct err *e)
{
    if (!o->solver->transposed_products) return true;
    struct matrix *t = transposed_fits(m, e) ? session_transposed(m, o->dev, e) : NULL;
    if (!t) return false;
    A->transposed_csr = &t->csr;
    A->transposed_kernel = choose_kernel(&t->csr, o, A->kernel->format, e);
    if (!A->transposed_kernel || A->exponents.a) return A->transposed_kernel != NULL;
    A->transposed = mat_in(s, t, o, A->kernel->format, o->real, e);
    return A->transposed != NULL;
}

/* b of the equilibrated system has other sizes than that of A x = b. */
static bool exponents_of(const struct csr *A, const struct solve_options *o, struct solve_exponents *out, struct err *e)
{
    int64_t n = solve_numbers_of_b(A);
    double *b = o->scaling.of ? mem_new(n, sizeof *b, "the right-hand side", e) : NULL;
    if (o->scaling.of && !b) return false;
    if (b) {
        memcpy(b, o->b, (size_t)n * sizeof *b);
        scaling_map_b(&o->scaling, A->imag != NULL, true, b);
    }
    *out = solve_exponents_of(A, b ? b : o->b, precisions[o->real].vector);
    mem_free(b);
    return true;
}

bool session_solve_matrix(struct session *s, struct matrix *m, const struct solve_options *o, struct solve_matrix *A,
                          struct err *e)
{
    *A = (struct solve_matrix){.name = m->name, .csr = &m->csr, .facts = &m->facts, .watch = &s->watch};
    if (!solve_check(&m->csr, o, e)) return false;
    if (!exponents_of(&m->csr, o, &A->exponents, e)) return false;
    if (norm2(solve_numbers_of_b(&m->csr), o->b) == 0) return true;
    return session_put_matrix(s, m, o, A, e) && put_transposed(s, m, o, A, e);
}

void session_solve_truth(const struct session *s, const struct matrix *m, struct solve_options *o)
{
    const struct direct_answer *a = s->direct;
    if (!a || !a->x || a->A != &m->csr) return;
    size_t bytes = (size_t)a->b_numbers * sizeof *o->b;
    const double *x = NULL;
    bool least = o->solver && o->solver->least_squares;
    if (a->accurate && a->unique && (least || isnan(a->normal)) && !memcmp(a->b, o->b, bytes)) x = a->x;
    for (int64_t i = 0; i < a->columns && !x; i++)
        if (!memcmp(a->columns_b + i * a->b_numbers, o->b, bytes)) x = a->columns_x + i * a->x_numbers;
    if (!x) return;
    o->truth = x;
    o->truth_from = "direct";
    o->truth_error = x == a->x ? a->trust.error : a->columns_error;
    o->up_to_constant = false;
}

struct solve *session_swap_solve(struct session *s, struct solve *v)
{
    struct solve *before = s->solve;
    SCREEN_EDIT;
    s->solve = v;
    return before;
}

void session_drop_solve(struct session *s)
{
    solve_free(session_swap_solve(s, NULL));
}

bool session_solve(struct solve **v, struct session *s, struct matrix *m, const struct solve_options *o, struct err *e)
{
    struct solve_matrix A;
    struct solve *begun = NULL;
    if (!session_solve_matrix(s, m, o, &A, e)) return false;
    if (!solve_begin(&begun, &A, o, e)) return false;
    *v = begun;
    if (A.exponents.a) session_say_vanishing(s, m->name, begun->system.A, o->refine ? o->stored : o->real);
    return true;
}

/* ---- what the session keeps ---- */

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->solve && (s->solve->matrix.csr == &m->csr || s->solve->scaling.of == &m->csr);
}

static bool is_paused(const struct session *s)
{
    return s->solve->reason == RUNNING;
}

static bool is_on(const struct session *s, const struct device *d)
{
    return s->solve && device_has(s->solve->dev, d);
}

static bool uses(const struct session *s, const struct mat *M)
{
    return s->solve && solve_uses(s->solve, M);
}

static void moved(struct session *s, const struct mat *from, struct mat *to)
{
    if (uses(s, from)) solve_moved(s->solve, from, to);
}

const struct holding holding_solve = {
    .drop = session_drop_solve,
    .belongs_to = is_of,
    .pauses = "the paused solve of",
    .is_paused = is_paused,
    .is_on = is_on,
    .uses = uses,
    .moved = moved,
};

/* ---- right sides ---- */

struct solve_right solve_right_of(const struct right_sides *r, int64_t i)
{
    struct solve_right to = {.from_file = r->from_file,
                             .given = !r->own,
                             .is_product = r->known_ones || r->own_x,
                             .replaces_ones = r->replaces_ones,
                             .column = i,
                             .columns = r->n};
    snprintf(to.name, sizeof to.name, "%s", r->name);
    return to;
}

/* Let *o refer to right side i, and to its solution if the file of the matrix holds it. */
void solve_take_right(struct solve_options *o, const struct right_sides *r, const struct matrix *m, int64_t i)
{
    o->b = r->b + i * r->each;
    /* With fewer rows than columns, many x solve A x = b. Otherwise, least_dependence checks that only one does. */
    o->known_ones = r->known_ones && m->csr.rows >= m->csr.cols;
    o->truth = r->x && m->csr.rows >= m->csr.cols ? r->x + i * r->x_each : NULL;
    o->truth_from = o->truth ? r->x_from : NULL;
    o->truth_error = 0;
    o->up_to_constant = r->up_to_constant;
    o->right = solve_right_of(r, i);
}
