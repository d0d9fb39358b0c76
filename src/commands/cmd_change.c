/* The commands back and change, for a paused solve. */
#include "base/mem.h"
#include "base/text.h"
#include "language/args.h"
#include "language/solve_request.h"
#include "report/fields.h"
#include "report/output_solve.h"
#include "session/command.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solve_run.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>

/* ---- back ---- */

/* The solve is still intact if the request was refused or if Ctrl-C ended the iterations. After any other failure, the
   solve is unusable and is freed. */
static bool give_up(struct session *s, const struct err *e)
{
    bool intact = e->code == E_USAGE || e->code == E_UNSUPPORTED || s->solve->cut.now;
    if (!intact) session_drop_solve(s);
    return false;
}

static bool run_back(struct session *s, const struct args *a, struct err *e)
{
    struct solve *v = solve_waiting(s, e);
    int64_t n = arg_int(a, "n", 1);
    if (!v) return false;
    if (n < 1) return fail(e, E_USAGE, "cannot go back by %lld iterations: give 1 or more", (long long)n);
    if (v->iterations <= v->base)
        return fail(e, E_USAGE, "cannot go back: there is nothing before iteration %lld", (long long)v->base);
    int64_t from = v->iterations;
    if (!solve_back(v, n, e)) return give_up(s, e);
    out_iterate(s->out, v);
    if (from - v->iterations < n)
        out_note(s->out, "went back by %s, not %lld: the solve %s iteration %lld",
                 how_many(from - v->iterations, "iteration").text, (long long)n,
                 v->base ? "was restarted by `change` at" : "begins at", (long long)v->base);
    return true;
}

/* ---- change ---- */

static bool check_integers(const struct solve *v, const struct args *a, struct err *e)
{
    int64_t m = arg_int(a, "m", 0), maxit = arg_int(a, "maxit", 0);
    if (m < 0) return fail(e, E_USAGE, "m is %lld: give 1 or more, or 0 to let the solver estimate it", (long long)m);
    if (arg(a, "m") && !v->solver->restarts)
        return fail(e, E_USAGE, "%s does not restart, so it has no m", v->solver->name);
    if (maxit < 0) return fail(e, E_USAGE, "maxit is %lld: give 0 or more", (long long)maxit);
    return true;
}

/* If the user gives a block size but no preconditioner, the block size applies to the current preconditioner. */
static bool precond_of(const struct solve *v, const struct args *a, struct solve_change *c, struct err *e)
{
    bool triangles = arg(a, "triangles") || arg(a, "sweeps") || arg(a, "order") || arg(a, "shift") || arg(a, "drop") ||
                     arg(a, "fill");
    c->schur = schur_settings_of(a);
    c->change_pre =
        arg(a, "precond") || arg(a, "block") || arg(a, "near") || triangles || c->schur.inner || c->schur.complement;
    c->pre = arg(a, "precond") ? precond_find(arg(a, "precond")) : v->pre.method;
    c->pre_block = arg_int(a, "block", 0);
    c->triangles = triangle_settings_of(a);
    if (!arg(a, "block") || (c->pre && c->pre_block >= 0)) return near_settings_of(a, &c->near, e);
    if (c->pre_block < 0) return fail(e, E_USAGE, "block is negative: give 1 or more rows, or 0 for the default");
    return fail(e, E_USAGE,
                "block sets the block size of a preconditioner, but this solve has no preconditioner: name one after "
                "`precond`");
}

static bool names_a_setting(const struct args *a, struct err *e)
{
    static const char *const keys[] = {"tol",    "maxit", "omega", "m",    "precond", "block", "near",      "triangles",
                                       "sweeps", "order", "shift", "drop", "fill",    "inner", "complement"};
    return arg_any(a, keys, COUNT(keys)) || fail(e, E_USAGE,
                                                 "change what? tol, maxit, omega, m, precond, block, near, triangles, "
                                                 "sweeps, order, shift, drop or fill, for example `change "
                                                 "tol 1e-12`");
}

/* The paused solve, or an ended solve that kept its x. */
static struct solve *changeable(struct session *s, struct err *e)
{
    if (s->solve && solve_has_x(s->solve)) return s->solve;
    return solve_waiting(s, e);
}

/* Text shows only the changed settings; JSON and CSV show all settings. */
static void out_change(struct out *o, const struct args *a, const struct solve *v, bool restarted)
{
    const char *pre = v->pre.method ? v->pre.method->name : NULL;
    out_record(o);
    out_reached(o, v);
    out_bool(o, "anew", NULL, restarted);
    out_num(o, "tol", arg(a, "tol") ? "tol" : NULL, v->set.tol, "%g");
    out_int(o, "maxit", arg(a, "maxit") ? "maxit" : NULL, v->set.maxit);
    out_num(o, "omega", arg(a, "omega") ? "omega" : NULL, v->solver->omega > 0 ? v->set.omega : NAN, "%g");
    out_num(o, "m", arg(a, "m") ? "restarts after" : NULL, v->solver->restarts ? (double)v->set.m : NAN, "%.0f");
    out_str(o, "precond", arg(a, "precond") ? "preconditioner" : NULL,
            pre || out_mode(o) != OUT_TEXT ? pre : precond_none);
    out_num(o, "block", arg(a, "block") ? "block" : NULL,
            v->pre.method && v->pre.method->blocks ? (double)v->pre.block : NAN, "%.0f");
    if (restarted) out_text(o, "restarted from x at iteration %lld; the iteration count continues", (long long)v->base);
}

/* End a solve that could not restart, so that its x is kept. */
static void end_without_restart(struct session *s, bool cancelled)
{
    struct solve *v = s->solve;
    if (!(cancelled ? solve_end_soon(v, SOLVE_SOON_US, NULL) : solve_end(v, NULL))) return;
    out_note(s->out, "the solve has ended at iteration %lld; x is kept, and `change` continues from it",
             (long long)v->iterations);
}

static bool run_change(struct session *s, const struct args *a, struct err *e)
{
    struct solve *v = changeable(s, e);
    struct solve_change c = {.tol = arg_real(a, "tol", NAN),
                             .omega = arg_real(a, "omega", NAN),
                             .m = arg_int(a, "m", -1),
                             .maxit = arg_int(a, "maxit", -1)};
    if (!v || !names_a_setting(a, e) || !check_integers(v, a, e) || !precond_of(v, a, &c, e)) return false;
    bool ended = v->reason != RUNNING, ok = solve_again(v, &c, e);
    mem_free(c.near.coordinates);
    if (!ok) {
        if (!ended && v->reason != RUNNING) end_without_restart(s, e->code == E_CANCELLED);
        return false;
    }
    solve_is_newest(s);
    out_change(s->out, a, v, ended || c.change_pre || arg(a, "omega") || arg(a, "m"));
    if (v->reason != RUNNING) return solve_finish(s, e);
    if (ended) out_text(s->out, "`continue` resumes it");
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field change_fields[] = {
    {.include = &row_iterate},
    {"anew", F_BOOLEAN, "whether the solver restarts from this x"},
    {"tol", F_AMOUNT, "tolerance on ||r|| / ||b||"},
    {"maxit", F_COUNT, "limit of iterations"},
    {"omega", F_AMOUNT | OR_NULL, "relaxation factor; null: the solver has none"},
    {"m", F_COUNT | OR_NULL, "iterations between restarts; null: the solver does not restart"},
    {"precond", F_TEXT | OR_NULL, "preconditioner; null: none"},
    {"block", F_COUNT | OR_NULL, "rows per block of the preconditioner; 0: the default; null: it has no blocks"},
    {0},
};
static const struct row_kind row_change = {"change", "what the solve now has", change_fields};

const struct command command_back = {
    .name = "back",
    .aliases = "b",
    .grammar = "[N]",
    .about = "undo iterations of a paused solve",
    .help =
        "Restores an earlier checkpoint and iterates forward from there; the numbers are bit-identical if the kernel\n"
        "adds in a fixed order. You cannot go back past a restart made by `change`.\n"
        "    solve cg step; step 5; back 2; continue",
    .rows = (const struct row_kind *const[]){&row_iterate, NULL},
    .run = run_back,
};

const struct command command_change = {
    .name = "change",
    .grammar = "[tol R] [maxit N] [omega R] [m N] [[precond] PRECOND] [block N] "
               "[near constant|rigid|adaptive] [coordinates FILE] [vectors N] [triangles levels|sync-free] "
               "[sweeps N] [order ORDER] [shift R] [drop R] [fill N] [inner PRECOND] [complement PRECOND]",
    .about = "change the settings of a solve, and continue from its x",
    .help = "A change of tol or maxit needs no restart. A change of omega, m, the preconditioner, its block size or\n"
            "near restarts the solve from the current x, and the iteration count continues. precond none removes the\n"
            "preconditioner.\n"
            "A solve that has ended can be changed too; the solve is then paused.\n"
            "    solve cg tol 1e-4; change tol 1e-12; continue\n"
            "    solve cg step; step 20; change precond jacobi tol 1e-12; continue",
    .rows = (const struct row_kind *const[]){&row_change, &row_solved, NULL},
    .run = run_change,
};
