/* why stagnates: shows what was found about a solve that did not converge: Ritz values, a near-null vector, independent
   blocks, an inconsistent right-hand side, ... */
#include "cmd_why_stagnates.h"
#include "advice/stagnation.h"
#include "base/err.h"
#include "direct/direct.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>

static const double LIMIT_US = 1e6; /* for each direct solve */

/* The last solve, if it iterated and ended without convergence. */
static const struct solve *failed_solve(const struct session *s, struct err *e)
{
    const struct solve *v = s->solve;
    if (s->direct_is_newer && s->direct)
        fail(e, E_USAGE, "the last solve was direct: %s does not iterate, so it cannot stagnate; its result: %s",
             s->direct->method->name, s->direct->why);
    else if (!v)
        fail(e, E_USAGE,
             "there is no solve to explain; `solve cg` solves A x = b, and `advise solver` chooses a solver");
    else if (v->reason == RUNNING)
        fail(e, E_USAGE, "the solve is still paused; `stop` ends it, then `why stagnates` explains it");
    else if (v->reason == CONVERGED)
        fail(e, E_USAGE, "the last solve, %s, converged: %s", v->solver->name, v->why + v->why_detail);
    else if (v->solver->least_squares)
        fail(e, E_UNSUPPORTED, "`why stagnates` explains solvers of square systems; %s minimises ||b - A x||: %s",
             v->solver->name, v->why);
    else
        return v;
    return NULL;
}

static void out_evidence(struct out *o, const struct solve *v, const struct matrix *m, const struct evidence *x)
{
    double rows[EVIDENCE_ROWS];
    for (int i = 0; i < x->rows; i++) rows[i] = (double)x->row[i];
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "solver", NULL, v->solver->name);
    out_str(o, "precond", NULL, v->pre.method ? v->pre.method->name : NULL);
    out_str(o, "status", NULL, reason_name(v->reason));
    out_str(o, "cause", NULL, x->cause);
    out_str(o, "text", NULL, x->text);
    out_num(o, "value", NULL, x->value, NULL);
    out_nums(o, "rows", x->rows, rows);
    out_str(o, "try", NULL, *x->next ? x->next : NULL);
}

static void say_evidence(struct out *o, const struct evidence *x)
{
    out_text(o, "%-12s  %s%s%s%s", x->cause, x->text, *x->next ? ": `" : "", x->next, *x->next ? "`" : "");
}

bool run_why_stagnates(struct session *s, struct err *e)
{
    struct stagnation found;
    const struct solve *v = failed_solve(s, e);
    struct matrix *m = v ? session_matrix_of(s, v->matrix.csr) : NULL;
    if (!v) return false;
    if (!m) return fail(e, E_USAGE, "the matrix of the last solve is no longer loaded");
    if (!in_parts_refused(m, "`why stagnates` needs", e)) return false;
    bool ok = stagnation_of(s, m, v, LIMIT_US, &found, e);
    struct out *o = s->out;
    out_text(o, "%s%s%s on %s: %s", v->solver->name, v->pre.method ? ", " : "",
             v->pre.method ? v->pre.method->name : "", m->name, v->why);
    for (int i = 0; i < found.n; i++)
        if (out_mode(o) == OUT_TEXT)
            say_evidence(o, &found.at[i]);
        else
            out_evidence(o, v, m, &found.at[i]);
    if (ok && *found.next)
        out_text(o, "Try `%s`%s%s, or `advise solver %s`.", found.next, found.next_why ? ": " : "",
                 found.next_why ? found.next_why : "", m->name);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field why_evidence_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "the solver that did not converge"},
    {"precond", F_TEXT | OR_NULL, "its preconditioner; null: none"},
    {"status", F_TEXT, "how the solve ended"},
    {"cause", F_TEXT, "what the finding is about", .word_at = stagnation_cause},
    {"text", F_TEXT, "what was found, with figures"},
    {"value", F_NUMBER | OR_NULL, "the figure that decides, such as a ratio of scales or a least residual; null: none"},
    {"rows", F_LIST, "up to 8 rows that matter, counted from 0, the most important first", .item = F_COUNT},
    {"try", F_TEXT | OR_NULL, "a command that shows more or may help; null: none"},
    {0},
};
const struct row_kind row_why_evidence = {"evidence", "a cause why the solve did not converge", why_evidence_fields};
