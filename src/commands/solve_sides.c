/* Solves with the right side of a line of `solve`, or with each of several. */
#include "solve_sides.h"
#include "advice/solve_trust.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "language/args.h"
#include "machine/device.h"
#include "report/output_solve.h"
#include "save_solution.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solve_line.h"
#include "solve_run.h"
#include "solvers/solve.h"
#include "symmetry_needed.h"

/* The sums over all right sides. */
struct columns {
    int64_t done, converged, iterations;
    double us;
    double *x; /* [n * numbers]: the solutions, one after another; NULL: they are not saved */
};

static bool keep_column(struct columns *c, struct solve *v, struct err *e)
{
    c->done++;
    c->converged += v->reason == CONVERGED;
    c->iterations += v->iterations;
    c->us += v->time.us;
    if (!c->x) return true;
    return solve_fetch_x(v, e) &&
           loop_copy(c->x + v->right.column * v->n, v->result.x, v->n * (int64_t)sizeof *c->x, "copying x", e);
}

static void say_columns(struct session *s, const struct columns *c, int64_t n)
{
    char time[32];
    bool timed = s->solve && s->solve->dev->kind != DEV_EMU;
    out_text(s->out, "%lld of %lld right sides converged, one after another: %s%s%s", (long long)c->converged,
             (long long)n, how_many(c->iterations, "iteration").text, timed ? ", " : "",
             timed ? show_us(c->us, time, sizeof time) : "");
}

/* Solve with right side i and print its row. *turn: whether the user stopped or left the solve. */
static bool solve_column(struct solve_line *l, int64_t i, struct columns *c, enum turn *turn, struct err *e)
{
    struct session *s = l->s;
    session_drop_solve(s);
    if (!solve_line_begin(l, i, e)) return false;
    solve_is_newest(s);
    if (!solve_run(s, NULL, turn, e)) return false;
    struct solve *v = s->solve;
    if (v->reason == RUNNING && *turn != TURN_STOP) {
        solve_note_paused(s);
        out_note(s->out, "column %lld is paused; the columns after it were not solved", (long long)i);
        return true;
    }
    if (!solve_conclude(s, NULL, *turn, e)) {
        session_drop_solve(s);
        return false;
    }
    solve_find_trust(s, v, false);
    out_solved_column(s->out, v);
    return keep_column(c, v, e);
}

static bool solve_columns(struct solve_line *l, struct err *e)
{
    struct columns c = {0};
    enum turn turn = TURN_ON;
    const struct right_sides *r = &l->right.all;
    if (arg_flag(l->a, "step") || arg_flag(l->a, "view"))
        return fail(e, E_USAGE, "`%s` shows one solve, but b has %lld columns; add `column 0`",
                    arg_flag(l->a, "step") ? "step" : "view", (long long)r->n);
    if (arg(l->a, "save") && !(c.x = mem_zero(r->n * r->x_each, sizeof *c.x, "the solutions", e))) return false;
    struct mtx_columns x = {c.x, l->m->csr.cols, r->n, l->m->csr.imag != NULL};
    bool ok = true;
    for (int64_t i = 0; ok && i < r->n && turn == TURN_ON; i++) ok = solve_column(l, i, &c, &turn, e);
    if (l->s->front && l->s->front->calm) l->s->front->calm(l->s);
    if (ok) say_columns(l->s, &c, r->n);
    ok = ok && solve_counts_as_done(l->s, turn, e) && (c.done < r->n || save_solution(l->s, l->a, &x, e));
    mem_free(c.x);
    return ok;
}

bool solve_sides(struct solve_line *l, struct err *e)
{
    if (!solve_warn(l->s, l->m, l->o.solver, l->o.pre, e)) return false;
    session_drop_solve(l->s);
    if (l->right.several) return solve_columns(l, e);
    return solve_line_begin(l, l->right.column, e) && solve_line_run(l, e);
}
