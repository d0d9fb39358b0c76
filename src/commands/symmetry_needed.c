/* Methods that need a symmetric matrix: is the matrix symmetric, and what does the user have to know? */
#include "symmetry_needed.h"
#include "matrix/row_source.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <stdio.h>

bool matrix_is_hermitian(struct session *s, struct matrix *m, bool *is, struct err *e)
{
    const struct stats *stats;
    *is = false;
    if (m->csr.rows != m->csr.cols) return true;
    if (!(stats = session_stats(s, m, e))) return false;
    *is = stats->symmetry.rounding;
    return true;
}

void note_rounding(struct session *s, const struct matrix *m, const char *uses)
{
    const struct symmetry *of = &m->stats.symmetry;
    if (m->has_stats && of->rounding && !of->hermitian)
        out_note(s->out, "%s is %s to rounding, |a_ij - %s| at most %.1e max |a|: %s", m->name, symmetry_word(&m->csr),
                 m->csr.imag ? "conj(a_ji)" : "a_ji", of->gap, uses);
}

bool solve_warn(struct session *s, struct matrix *m, const struct solver *solver, const struct precond *pre,
                struct err *e)
{
    char uses[96];
    if (!solver->symmetric || m->csr.rows != m->csr.cols) return true;
    if (matrix_in_parts(m)) {
        if (!m->csr.source->symmetric)
            out_note(s->out, "warning: %s may not be symmetric, and %s needs %s", m->name, solver->name, solver->needs);
        return true;
    }
    const struct stats *stats = session_stats(s, m, e);
    if (!stats) return false;
    if (!stats->symmetry.rounding)
        out_note(s->out, "warning: %s is not %s, and %s needs %s", m->name, symmetry_word(&m->csr), solver->name,
                 solver->needs);
    snprintf(uses, sizeof uses, "%s applies%s%s%s%s", solver->name, pre && pre->uses ? "; " : "",
             pre && pre->uses ? pre->name : "", pre && pre->uses ? " " : "", pre && pre->uses ? pre->uses : "");
    note_rounding(s, m, uses);
    return true;
}
