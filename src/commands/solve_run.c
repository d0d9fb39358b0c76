/* Runs the session's solve slice by slice; between two slices, the screen is drawn and the keyboard is read. */
#include "solve_run.h"
#include "advice/solve_trust.h"
#include "base/err.h"
#include "base/watch.h"
#include "race.h"
#include "report/output_solve.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solve_watch.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

/* ---- which solve ---- */

void solve_is_newest(struct session *s)
{
    s->direct_is_newer = false;
    if (s->race) s->race->solve_is_newer = true;
}

struct solve *solve_waiting(struct session *s, struct err *e)
{
    bool there = s->solve && s->solve->reason == RUNNING;
    if (there) return solve_is_newest(s), s->solve;
    if (s->race && !s->race->solve_is_newer)
        fail(e, E_USAGE,
             "the race on %s is over, and no solve is paused; `view race` shows the race, `race` starts a new one",
             s->race->matrix->name);
    else
        fail(e, E_USAGE, "no solve is paused; `solve SOLVER step` starts a paused solve%s",
             s->solve && solve_has_x(s->solve) ? ", and `change` continues the solve that has ended" : "");
    return NULL;
}

/* ---- running ---- */

static const double SLICE_US = 8000; /* time to work between two checks of the keyboard: half a frame of the screen */

bool solve_waits_for_command(const struct session *s)
{
    return s->solve->paused && !(s->interactive && s->front && s->front->live && s->front->covered);
}

/* Update the screen and read the keyboard. */
static enum turn serve_screen(struct session *s)
{
    struct solve *v = s->solve;
    if (s->front && s->front->live) return s->front->live(s, "solve");
    return watch_tick(&s->watch, v->solver->name, v->iterations, v->set.maxit, NULL) ? TURN_ON : TURN_STOP;
}

bool solve_run(struct session *s, struct solve_watch *w, enum turn *turn, struct err *e)
{
    struct solve *v = s->solve;
    *turn = TURN_ON;
    while (v->reason == RUNNING && *turn == TURN_ON && !solve_waits_for_command(s) && !solve_watch_ends(w, v)) {
        if (!(v->paused ? solve_drain(v, e) : solve_slice(v, SLICE_US, e))) {
            session_drop_solve(s);
            return false;
        }
        if (v->reason == RUNNING && !solve_waits_for_command(s)) *turn = serve_screen(s);
    }
    if (*turn != TURN_ON && *turn != TURN_STOP && !solve_drain(v, e)) {
        session_drop_solve(s);
        return false;
    }
    return true;
}

static bool end_once(struct solve *v, enum turn turn, struct err *e)
{
    return turn == TURN_STOP ? solve_end_soon(v, SOLVE_SOON_US, e) : solve_end(v, e);
}

/* Go on with a scaled system until A x = b meets tol. */
static bool tighten(struct session *s, struct solve_watch *w, enum turn *turn, struct err *e)
{
    struct solve *v = s->solve;
    for (int i = 0; i < TIGHTEN_MAX && *turn == TURN_ON && solve_tighten(v); i++) {
        if (!solve_run(s, w, turn, e)) return false;
        bool ended = *turn == TURN_STOP || (w && (w->late || w->missed));
        if (v->reason == RUNNING && !ended) return true;
        if (!end_once(v, *turn, e)) return false;
    }
    return true;
}

bool solve_conclude(struct session *s, struct solve_watch *w, enum turn turn, struct err *e)
{
    return end_once(s->solve, turn, e) && tighten(s, w, &turn, e);
}

/* ---- the end ---- */

bool solve_counts_as_done(struct session *s, enum turn turn, struct err *e)
{
    const struct solve *v = s->solve;
    if (turn != TURN_STOP || s->interactive) return true;
    return fail(e, E_CANCELLED, "%s: cancelled at iteration %lld; x is kept", v->solver->name,
                (long long)v->iterations);
}

void solve_note_paused(struct session *s)
{
    out_note(s->out, "paused at iteration %lld: `step 5`, `back`, `change`, `continue`, `view solve` or `stop`",
             (long long)s->solve->iterations);
}

bool solve_report(struct session *s, bool ended)
{
    if (!ended) {
        session_drop_solve(s);
        return false;
    }
    solve_find_trust(s, s->solve, true);
    if (s->front && s->front->calm) s->front->calm(s); /* the result is printed at the prompt, not on the full screen */
    out_solve(s->out, s->solve);
    return true;
}

bool solve_finish(struct session *s, struct err *e)
{
    return solve_report(s, solve_end(s->solve, e));
}

bool solve_drive(struct session *s, struct err *e)
{
    enum turn turn;
    if (!solve_run(s, NULL, &turn, e)) return false;
    bool running = s->solve->reason == RUNNING;
    if (turn == TURN_LEAVE && running) solve_note_paused(s);
    if (running && turn != TURN_STOP) return true;
    return solve_report(s, solve_conclude(s, NULL, turn, e)) && solve_counts_as_done(s, turn, e);
}
