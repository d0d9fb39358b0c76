/* The keys of the solve view. The keys act on a running solve by setting its fields; solve_drive does the steps. */
#include "base/numeral.h"
#include "base/screen_lock.h"
#include "session/session.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "ui/term.h"
#include "view_solve.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum { COUNT_MAX = 100000000 };

/* Digits typed before a key form its count. */
static bool take_count(struct view_state *st, int k)
{
    if (k < '0' || k > '9' || st->count > COUNT_MAX / 10) return false;
    st->count = 10 * st->count + k - '0';
    snprintf(st->message, sizeof st->message, "%lld: s does that many steps, b goes back that many",
             (long long)st->count);
    return true;
}

/* These calls may be slow, and change the data that views read under the lock themselves. */
static bool back_beside_screen(struct solve *v, int64_t n, struct err *e)
{
    bool gave = screen_lock_give();
    bool ok = solve_back(v, n, e);
    screen_lock_back(gave);
    return ok;
}

static bool change_beside_screen(struct solve *v, const struct solve_change *c, struct err *e)
{
    bool gave = screen_lock_give();
    bool ok = solve_change(v, c, e);
    screen_lock_back(gave);
    return ok;
}

static bool end_beside_screen(struct solve *v, struct err *e)
{
    bool gave = screen_lock_give();
    bool ok = solve_end(v, e);
    screen_lock_back(gave);
    return ok;
}

static void go_back(struct solve *v, struct view_state *st, int64_t n)
{
    struct err e = {0};
    if (v->iterations <= v->base)
        snprintf(st->message, sizeof st->message, "there is nothing before iteration %lld to go back to",
                 (long long)v->base);
    else if (!back_beside_screen(v, n, &e))
        snprintf(st->message, sizeof st->message, "%.119s", e.text);
}

/* End a paused solve. A solve that runs is stopped by the loop that does its iterations. */
static void stop(struct solve *v, struct view_state *st)
{
    struct err e = {0};
    if (!end_beside_screen(v, &e)) snprintf(st->message, sizeof st->message, "%.119s", e.text);
}

/* Ask only for settings that the solver accepts. */
static bool ask_if(struct view_state *st, bool has, int k, const char *question, const struct solve *v,
                   const char *what)
{
    if (has) return view_ask(st, k, question);
    snprintf(st->message, sizeof st->message, "%s %s", v->solver->name, what);
    return true;
}

static bool ask_precond(struct view_state *st)
{
    char text[sizeof st->question] = "preconditioner (none";
    for (int i = 0; preconds[i] && strlen(text) + strlen(preconds[i]->name) + 6 < sizeof text; i++)
        strcat(strcat(text, ", "), preconds[i]->name);
    return view_ask(st, 'p', strcat(text, "): "));
}

/* The other keys only ask questions. */
bool solve_view_changes(const struct session *s, int k)
{
    return k == UI_ENTER || k == 'x' || (k > 0 && k < 0x7f && strchr(" GsnbB", k));
}

bool solve_view_key(struct session *s, struct view_state *st, int k)
{
    struct solve *v = s->solve;
    bool any = k > 0 && k < 0x7f && strchr(" GsnbBToMp", k);
    if (v && v->reason != RUNNING && any)
        snprintf(st->message, sizeof st->message, "%s",
                 v->engine.runs ? "this solve has ended"
                                : "this solve has ended; type `change tol 1e-12; continue` to continue it");
    if (!v || v->reason != RUNNING) return false;
    if (take_count(st, k)) return true;
    int64_t n = st->count;
    if (k >= 0) st->count = 0;
    if (k == ' ') v->paused = !v->paused, v->steps_left = 0;
    if (k == 'G' || k == UI_END) v->paused = false, v->steps_left = 0;
    if (k == 'x') stop(v, st);
    if (k == 's' || k == UI_ENTER) v->paused = false, v->steps_left = n ? n : 1;
    if (k == 'n') v->paused = false, v->steps_left = n ? n : 10;
    if (k == 'b') go_back(v, st, n ? n : 1);
    if (k == 'B') go_back(v, st, n ? n : 10);
    if (k == 'T') return view_ask(st, k, "new tolerance for ||r|| / ||b||: ");
    if (k == 'o') return ask_if(st, v->solver->omega > 0, k, "omega, between 0 and 2: ", v, "has no omega");
    if (k == 'M')
        return ask_if(st, v->solver->restarts, k, "restart after how many iterations: ", v, "does not restart");
    if (k == 'p' && v->solver->no_precond) return ask_if(st, false, k, NULL, v, "takes no preconditioner");
    if (k == 'p') return ask_precond(st);
    return true;
}

static bool change_of(const struct view_state *st, struct solve_change *c, struct err *e)
{
    const char *text = st->typed;
    double number = 0;
    *c = (struct solve_change){.tol = NAN, .omega = NAN, .m = -1, .maxit = -1};
    if (st->question_key == 'p') {
        c->change_pre = true;
        return precond_typed(text, &c->pre) || fail(e, E_USAGE, "there is no preconditioner `%s`", text);
    }
    if (!is_real(text, &number)) return fail(e, E_USAGE, "`%s` is not a number", text);
    if (st->question_key == 'T') c->tol = number;
    if (st->question_key == 'o') c->omega = number;
    if (st->question_key == 'M' && (number < 1 || number > 1e9 || number != floor(number)))
        return fail(e, E_USAGE, "`%s` is not a number of iterations", text);
    if (st->question_key == 'M') c->m = (int64_t)number;
    return true;
}

void solve_view_answer(struct session *s, struct view_state *st)
{
    struct solve *v = s->solve;
    struct solve_change c;
    struct err e = {0};
    if (!v || v->reason != RUNNING) return;
    if (!change_of(st, &c, &e) || !change_beside_screen(v, &c, &e))
        snprintf(st->message, sizeof st->message, "%.119s", e.text);
    else if (isnan(c.tol))
        snprintf(st->message, sizeof st->message, "restarted from x at iteration %lld", (long long)v->base);
    else
        snprintf(st->message, sizeof st->message, "tol is %g now", v->set.tol);
}
