/* The equilibrated and the reordered form of a matrix of the session, for `solve scaled` and `solve reorder`. */
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

struct matrix *session_equilibrated(struct matrix *m, struct solve_scaling *by, struct err *e)
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

static bool make_reordered(struct matrix *m, struct equilibrated *q, struct watch *w, struct err *e)
{
    int64_t n = m->csr.rows;
    int *perm = mem_new(n, sizeof *perm, "an ordering", e);
    q->swap = perm ? mem_new(n, sizeof *q->swap, "an ordering", e) : NULL;
    q->m = q->swap ? named_like(m, e) : NULL;
    bool ok = q->m && reorder_find(q->order, &m->csr, perm, w, e) && reorder_apply(&q->m->csr, &m->csr, perm, w, e) &&
              reorder_swaps(perm, n, q->swap, e);
    mem_free(perm);
    return ok;
}

struct matrix *session_reordered(struct matrix *m, const struct ordering *o, struct watch *w, struct solve_scaling *by,
                                 struct err *e)
{
    if (!m->reordered || m->reordered->order != o) {
        if (!in_parts_refused(m, "`reorder` needs", e) || !large_allowed(m, false, "reorder", e)) return NULL;
        struct equilibrated *q = mem_zero(1, sizeof *q, "a reordered matrix", e), *before = m->reordered;
        if (!q) return NULL;
        q->order = o;
        if (!make_reordered(m, q, w, e)) return equilibrated_free(q), NULL;
        SCREEN_EDIT;
        m->reordered = q;
        equilibrated_free(before);
    }
    *by = (struct solve_scaling){.of = &m->csr, .swap = m->reordered->swap, .order = o};
    return m->reordered->m;
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
