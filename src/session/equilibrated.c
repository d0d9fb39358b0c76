/* The scaled and reordered forms of a matrix of the session, for `solve scaled` and `solve reorder`. */
#include "equilibrated.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "in_parts.h"
#include "large_matrix.h"
#include "matrix.h"
#include "matrix/equilibrate.h"
#include "matrix/reorder.h"
#include "session.h"
#include "solvers/solve.h"

#include <math.h>

/* An empty matrix with the name of m. */
static struct matrix *named_like(const struct matrix *m, struct err *e)
{
    struct matrix *to = mem_zero(1, sizeof *to, "a matrix of the same system", e);
    if (!to) return NULL;
    snprintf(to->name, sizeof to->name, "%s", m->name);
    to->info = m->info;
    to->lesson = m->lesson;
    return to;
}

static bool make(struct matrix *m, struct equilibrated *q, struct err *e)
{
    q->row = mem_new(m->csr.rows, sizeof *q->row, "the scales of rows", e);
    q->col = q->row ? mem_new(m->csr.cols, sizeof *q->col, "the scales of columns", e) : NULL;
    q->m = q->col ? named_like(m, e) : NULL;
    return q->m && csr_equilibrate(&q->m->csr, &m->csr, q->row, q->col, e);
}

static struct matrix *equilibrated(struct matrix *m, struct solve_scaling *by, struct err *e)
{
    if (!m->equilibrated) {
        if (!in_parts_refused(m, "`scaled` needs", e) || !large_allowed(m, false, "scaled", e)) return NULL;
        struct equilibrated *q = mem_zero(1, sizeof *q, "a scaled matrix", e);
        if (!q) return NULL;
        if (!make(m, q, e)) return equilibrated_free(q), NULL;
        SCREEN_EDIT;
        m->equilibrated = q;
    }
    *by = (struct solve_scaling){.of = &m->csr, .row = m->equilibrated->row, .col = m->equilibrated->col};
    return m->equilibrated->m;
}

/* S = R A C. The exponents are those of the order, if it has some; otherwise those that equilibrate. */
static bool scale(struct csr *S, struct equilibrated *q, const struct csr *A, struct moves *by, struct err *e)
{
    q->row = by->row_exponent ? by->row_exponent : mem_new(A->rows, sizeof *q->row, "the scales of rows", e);
    q->col = by->col_exponent ? by->col_exponent : mem_new(A->cols, sizeof *q->col, "the scales of columns", e);
    bool own = by->row_exponent;
    by->row_exponent = by->col_exponent = NULL;
    if (!q->row || !q->col) return false;
    return own ? csr_copy(S, A, e) && csr_scale_by_powers(S, q->row, q->col, e)
               : csr_equilibrate(S, A, q->row, q->col, e);
}

static bool exchanges(struct equilibrated *q, const struct moves *by, struct err *e)
{
    q->row_swap = mem_new(by->n, sizeof *q->row_swap, "an ordering", e);
    if (!q->row_swap || !reorder_swaps(by->rows, by->n, q->row_swap, e)) return false;
    if (by->cols == by->rows) return (q->col_swap = q->row_swap);
    q->col_swap = mem_new(by->n, sizeof *q->col_swap, "an ordering", e);
    return q->col_swap && reorder_swaps(by->cols, by->n, q->col_swap, e);
}

static bool make_reordered(struct matrix *m, struct equilibrated *q, bool scaled, struct watch *w, struct err *e)
{
    struct moves by = {0};
    struct csr S = {0};
    q->m = named_like(m, e);
    bool ok = q->m && reorder_moves(q->order, &m->csr, &by, w, e) && exchanges(q, &by, e) &&
              (!scaled || scale(&S, q, &m->csr, &by, e)) &&
              reorder_apply_moves(&q->m->csr, scaled ? &S : &m->csr, by.rows, by.cols, w, e);
    csr_free(&S);
    moves_free(&by);
    return ok;
}

/* Does the solve of the session iterate on it? */
static bool is_used(const struct session *s, const struct equilibrated *q)
{
    return q && s->solve && s->solve->scaling.scaled == &q->m->csr;
}

static struct matrix *reordered(struct session *s, struct matrix *m, bool scaled, const struct ordering *o,
                                struct solve_scaling *by, struct err *e)
{
    if (!m->reordered || m->reordered->order != o || scaled != (m->reordered->row != NULL)) {
        if (!in_parts_refused(m, "`reorder` needs", e) || !large_allowed(m, false, "reorder", e)) return NULL;
        struct equilibrated *q = mem_zero(1, sizeof *q, "a reordered matrix", e), *before = m->reordered;
        if (!q) return NULL;
        q->order = o;
        if (!make_reordered(m, q, scaled, &s->watch, e)) return equilibrated_free(q), NULL;
        bool used = is_used(s, before);
        SCREEN_EDIT;
        m->reordered = q;
        q->before = used ? before : NULL;
        if (!used) equilibrated_free(before);
    }
    const struct equilibrated *q = m->reordered;
    *by = (struct solve_scaling){
        .of = &m->csr, .row = q->row, .col = q->col, .row_swap = q->row_swap, .col_swap = q->col_swap, .order = o};
    return q->m;
}

struct matrix *session_iterated(struct session *s, struct matrix *m, struct solve_options *o, struct err *e)
{
    if (o->reorder) return reordered(s, m, o->scaled, o->reorder, &o->scaling, e);
    return o->scaled ? equilibrated(m, &o->scaling, e) : m;
}

bool session_wants_scaling(const struct matrix *m, bool *wants, double *ratio, struct err *e)
{
    static const double much = 1e4;
    struct imbalance by = {1, 1};
    bool ok = csr_imbalance(&m->csr, &by, e);
    *ratio = fmax(by.rows, by.cols);
    *wants = *ratio > much;
    return ok;
}
