/* The equilibrated form of a matrix of the session, for `solve scaled`. */
#include "equilibrated.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "in_parts.h"
#include "large_matrix.h"
#include "matrix.h"
#include "matrix/equilibrate.h"
#include "session.h"
#include "solvers/solve.h"

#include <math.h>

/* What was made so far, before m owns it. */
static void discard(struct equilibrated *q)
{
    mem_free(q->m);
    mem_free(q->row);
    mem_free(q->col);
    mem_free(q);
}

static bool make(struct matrix *m, struct equilibrated *q, struct err *e)
{
    q->row = mem_new(m->csr.rows, sizeof *q->row, "the scales of rows", e);
    q->col = q->row ? mem_new(m->csr.cols, sizeof *q->col, "the scales of columns", e) : NULL;
    q->m = q->col ? mem_zero(1, sizeof *q->m, "a scaled matrix", e) : NULL;
    if (!q->m) return false;
    snprintf(q->m->name, sizeof q->m->name, "%s", m->name);
    q->m->info = m->info;
    q->m->lesson = m->lesson;
    return csr_equilibrate(&q->m->csr, &m->csr, q->row, q->col, e);
}

struct matrix *session_equilibrated(struct matrix *m, struct solve_scaling *by, struct err *e)
{
    if (!m->equilibrated) {
        if (!in_parts_refused(m, "`scaled` needs", e) || !large_allowed(m, false, "scaled", e)) return NULL;
        struct equilibrated *q = mem_zero(1, sizeof *q, "a scaled matrix", e);
        if (!q) return NULL;
        if (!make(m, q, e)) return discard(q), NULL;
        SCREEN_EDIT;
        m->equilibrated = q;
    }
    *by = (struct solve_scaling){.of = &m->csr, .row = m->equilibrated->row, .col = m->equilibrated->col};
    return m->equilibrated->m;
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
