/* `solve` without a method: chooses one as `advise solver` does, and solves by it. */
#include "solve_choice.h"
#include "advice/solver_advice.h"
#include "base/clock.h"
#include "base/err.h"
#include "cmd_advise_solver.h"
#include "cmd_direct.h"
#include "language/args.h"
#include "report/output.h"
#include "save_solution.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solve_alone.h"
#include "solve_line.h"
#include "solve_sides.h"

#include <math.h>

/* Say which method `advise solver` would take, and why. */
static void note_choice(const struct solve_line *l, const struct solver_advice *advice)
{
    out_note(l->s->out, "`solve %s`: %s; %s", trial_words(&advice->at[0], l->m->name, &l->o).text, advice->kind,
             advice->because);
}

/* steady_us at the end of `within`. */
static double until_of(const struct args *a)
{
    return arg(a, "within") ? steady_us() + 1e6 * arg_real(a, "within", 0) : INFINITY;
}

/* Run the method that was chosen. A solve of several right sides or in steps is not watched. */
static bool solve_as_advised(struct solve_line *l, const struct solver_advice *advice, double until_us, struct err *e)
{
    bool step = arg_flag(l->a, "step");
    l->o.solver = advice->at[0].solver;
    l->o.pre = advice->at[0].pre;
    note_choice(l, advice);
    if (!save_allowed(l->a, e)) return false;
    if (arg(l->a, "within") && (l->right.several || step))
        return fail(e, E_USAGE, "`within` is for a solve with one right side, without `step`");
    if (!l->right.several && !step) return solve_alone(l, advice, until_us, e);
    if (advice->at[0].pre_block) l->o.pre_block = advice->at[0].pre_block;
    return l->o.solver ? solve_sides(l, e) : solve_direct(l, e);
}

bool solve_by_choice(struct solve_line *l, struct err *e)
{
    struct solver_advice advice = {0};
    double until_us = until_of(l->a);
    bool direct = direct_may_be_chosen(l->s, l->a);
    bool ok = solver_scales(l->s, l->m, &l->o, e) && solver_for_line(l, direct, until_us - steady_us(), &advice, e) &&
              solve_as_advised(l, &advice, until_us, e);
    solver_advice_free(&advice);
    return ok;
}
