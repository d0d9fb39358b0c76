/* Begins, runs and saves the solve of a line of `solve` with one right side. */
#include "solve_line.h"
#include "base/err.h"
#include "base/mem.h"
#include "language/args.h"
#include "language/requests.h"
#include "report/output_solve.h"
#include "save_solution.h"
#include "session/equilibrated.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solve_run.h"
#include "solvers/solve.h"

bool solve_line_begin(struct solve_line *l, int64_t i, struct err *e)
{
    struct solve_options *o = &l->o;
    struct solve_same same = solve_same_of(l->a, o);
    double *x0 = guess_of(l->m, l->a, i, e);
    if (!x0) return false;
    solve_take_right(o, &l->right.all, l->m, i);
    session_solve_truth(l->s, l->m, o);
    o->x0 = x0;
    o->same = &same;
    struct matrix *solved = session_iterated(l->s, l->m, o, e);
    if (o->scaling.of && solved) scaling_map_x(&o->scaling, l->m->csr.imag != NULL, true, x0);
    struct solve *v = NULL;
    bool ok = solved && session_solve(&v, l->s, solved, o, e);
    if (ok) session_swap_solve(l->s, v);
    o->x0 = NULL;
    o->same = NULL;
    mem_free(x0);
    return ok;
}

bool solve_line_show(const struct solve_line *l, struct err *e)
{
    struct session *s = l->s;
    solve_is_newest(s);
    return !view_is_asked(s, l->a) || s->front->show(s, "solve", true, e);
}

bool solve_line_run(const struct solve_line *l, struct err *e)
{
    struct session *s = l->s;
    solve_pause(s->solve, arg_flag(l->a, "step") && s->solve->reason == RUNNING);
    if (!solve_line_show(l, e)) return false;
    if (solve_waits_for_command(s)) {
        out_iterate(s->out, s->solve);
        if (s->interactive) out_text(s->out, "paused: `step 5`, `continue`, `view solve` or `stop`");
    }
    return solve_drive(s, e) && solve_line_save(l, e);
}

bool solve_line_save(const struct solve_line *l, struct err *e)
{
    struct solve *v = l->s->solve;
    const struct csr *A = &l->m->csr;
    if (!arg(l->a, "save")) return true;
    if (!solve_has_x(v)) return fail(e, E_USAGE, "the solve is paused: there is no x to save yet");
    if (!solve_fetch_x(v, e)) return false;
    struct mtx_columns x = {v->result.x, A->cols, 1, A->imag != NULL};
    return save_solution(l->s, l->a, &x, e);
}
