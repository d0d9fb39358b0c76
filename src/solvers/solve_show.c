/* Changes of single fields of a solve that views read: made under the screen lock. */
#include "base/screen_lock.h"
#include "solve.h"
#include "solve_state.h"

void solve_pause(struct solve *v, bool paused)
{
    SCREEN_EDIT;
    v->paused = paused;
}

void solve_set_reason(struct solve *v, enum reason reason)
{
    SCREEN_EDIT;
    v->reason = reason;
}

void solve_set_iterations(struct solve *v, int64_t iterations)
{
    SCREEN_EDIT;
    v->iterations = iterations;
}

void solve_set_base(struct solve *v)
{
    SCREEN_EDIT;
    v->base = v->iterations;
}

void solve_set_x(struct solve *v, double *x)
{
    SCREEN_EDIT;
    v->result.x = x;
}

void solve_set_later(struct solve *v, bool later)
{
    SCREEN_EDIT;
    v->result.later = later;
}

void solve_set_true(struct solve *v, double residual, double error)
{
    SCREEN_EDIT;
    v->result.residual_true = residual;
    if (v->result.known) v->result.error_known = error;
}
