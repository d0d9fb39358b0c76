/* Shows running work. A solve is shown as a line of progress or in its view; other work is shown in its view. */
#include "base/clock.h"
#include "base/screen_lock.h"
#include "paged.h"
#include "screen.h"
#include "screen_private.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "term.h"
#include "ui/views/view_solve.h"

#include <math.h>

/* Time between two lines of progress, in us; a view is redrawn three times as often. */
static const double REDRAW_US = 0.1e6;

/* Open the full screen for running work; it stays open until live_calm closes it. */
bool live_open(struct session *s, const struct view *v, struct err *e)
{
    SCREEN_EDIT;
    if (screen_explorer(s)->on)
        explorer_show(screen_explorer(s), v);
    else
        screen_explorer(s)->pane = v;
    screen_view_state(s, v)->message[0] = 0; /* an old message */
    if (!screen_explorer(s)->on) {
        enum served before = screen_thread_serve(s, SERVED_NOTHING);
        paged_show(s);
        if (!term_open(e)) return screen_thread_serve(s, before), false;
        screen_of(s)->served_before = before;
        screen_thread_serve(s, SERVED_SCREEN);
    }
    if (screen_thread_serves()) explore_revalidate(s, v);
    screen_of(s)->running_view = v;
    s->front->covered = true;
    return screen_view_state(s, v)->full = true;
}

/* The solve is the only work that continues while its view is shown (`drive`); it is paused and published below. */
static bool shows_solve(const struct view *v)
{
    return v->drive;
}

static void live_line(struct session *s)
{
    const struct solve *v = s->solve;
    struct screen *sc = screen_of(s);
    char text[256], rate[32] = "", left[48] = "";
    if (!(s->terminal || s->served) || v->time.us < QUIET_US || now_us() - sc->drawn_us < REDRAW_US) return;
    double per_step = solve_rate(v), steps = residuals_separated(v) ? NAN : solve_left(v);
    if (per_step > 0) snprintf(rate, sizeof rate, ", rate %.4f", per_step);
    if (isfinite(steps)) snprintf(left, sizeof left, ", %.1f s left", steps * v->time.us / (double)v->iterations / 1e6);
    snprintf(text, sizeof text, "%s: iteration %lld, residual %.2e%s%s", v->solver->name, (long long)v->iterations,
             v->residual, rate, left);
    out_progress(s->out, text);
    sc->drawn_us = now_us();
}

static void leave_screen(struct session *s)
{
    struct screen *sc = screen_of(s);
    sc->running_view = NULL;
    if (sc->explorer.on) return;
    s->front->covered = false;
    screen_thread_serve(s, SERVED_NOTHING);
    while (work_key_next() >= 0) continue; /* the prompt follows */
    term_close();
    screen_thread_serve(s, sc->served_before);
}

/* Handle a key while work runs. Returns false if the key leaves the view; the explorer then handles the key. */
static bool live_key(struct session *s, const struct view *v, int key)
{
    struct explorer *x = screen_explorer(s);
    bool claimed = v->claims && v->claims(s, key);
    if (key == 'm' && x->on && !explore_takes(s, key) && !screen_view_state(s, v)->typing && !claimed)
        return explore_key(s, key);
    bool handled = !explore_takes(s, key) && view_key(s, v, key);
    if (!handled && x->on) x->pending = key;
    return handled;
}

/* Pause the work and return to the prompt. */
static enum turn leave_work(struct session *s, const struct view *v)
{
    leave_screen(s);
    if (shows_solve(v)) s->solve->paused = true, s->solve->steps_left = 0;
    return TURN_LEAVE;
}

/* The key x stops the work, unless it closes the help or is part of an answer. */
static bool stops(struct session *s, const struct view *v, int key)
{
    const struct view_state *st = screen_view_state(s, v);
    return key == UI_INTERRUPT || (key == 'x' && !st->help && !st->typing);
}

/* Draw a solve that is on the screen, and handle its keys. */
static enum turn live_screen(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    bool due = now_us() - sc->drawn_us > REDRAW_US / 3;
    do {
        if (due || s->solve->paused) {
            if (!screen_draw(s, v, NULL)) return TURN_STOP;
            sc->drawn_us = now_us();
        }
        int key = screen_key(s, s->solve->paused ? -1 : 0);
        if (stops(s, v, key)) return TURN_STOP;
        if (!live_key(s, v, key)) return leave_work(s, v);
        due = key >= 0 && !s->solve->paused; /* show the effect of the key before the solve continues */
        if (due && !screen_draw(s, v, NULL)) return TURN_STOP;
    } while (s->solve->paused && s->solve->reason == RUNNING);
    return TURN_ON;
}

static bool waits(const struct session *s, const struct view *v)
{
    return v->is_paused && v->is_paused(s) && v->is_running(s);
}

/* The screen thread draws and handles most keys; handle the keys that act on the work. */
static enum turn live_beside(struct session *s, const struct view *v)
{
    const struct explorer *x = screen_explorer(s);
    for (;;) {
        if (work_interrupted()) return TURN_STOP;
        for (int key; (key = work_key_next()) >= 0;) {
            if (stops(s, v, key)) return TURN_STOP;
            if (!view_key(s, v, key)) return leave_work(s, v);
        }
        if (x->on && x->pending) return leave_work(s, v);
        if (x->on && shows_solve(v) && (waits(s, v) || typed_ahead_count())) return leave_screen(s), TURN_YIELD;
        if (!waits(s, v)) return TURN_ON;
        if (shows_solve(v)) solve_publish(s->solve);
        screen_thread_wait();
    }
}

static enum turn live_solve(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    if (!sc->running_view && s->solve->paused && !live_open(s, v, NULL)) return TURN_LEAVE;
    if (!sc->running_view && sc->explorer.on && now_us() - s->began_us > QUIET_US && !live_open(s, v, NULL))
        return TURN_STOP;
    if (sc->running_view) return screen_thread_serves() == SERVED_SCREEN ? live_beside(s, v) : live_screen(s, v);
    if (!sc->explorer.on) live_line(s);
    return work_interrupted() ? TURN_STOP : TURN_ON;
}

/* For work other than a solve, open the screen once the work has run for QUIET_US, then draw the work and handle
   keys. */
static enum turn live_other(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    if (!sc->running_view && now_us() - s->began_us < QUIET_US)
        return TURN_ON; /* the caller prints a line of progress */
    if (!sc->running_view) {
        view_reset(screen_view_state(s, v), s->current);
        if (!live_open(s, v, NULL)) return TURN_STOP;
    }
    if (screen_thread_serves() == SERVED_SCREEN) return live_beside(s, v);
    if (now_us() - sc->drawn_us > REDRAW_US / 3) {
        if (!screen_draw(s, v, NULL)) return TURN_STOP;
        sc->drawn_us = now_us();
    }
    int key = screen_key(s, 0);
    if (stops(s, v, key)) return TURN_STOP;
    return key < 0 || live_key(s, v, key) ? TURN_ON : leave_work(s, v);
}

enum turn live_view(struct session *s, const char *name)
{
    const struct view *v = view_find(name);
    SCREEN_EDIT;
    return shows_solve(v) ? live_solve(s, v) : live_other(s, v);
}

/* Close the screen of running work before the command prints its output. */
void live_calm(struct session *s)
{
    struct screen *sc = screen_of(s);
    SCREEN_EDIT;
    const struct view *v = sc->running_view;
    if (!v) return;
    if (!sc->explorer.on) screen_thread_serve(s, SERVED_NOTHING); /* from here on, this thread handles the keys */
    if (v->has_ended && v->has_ended(s) && !sc->explorer.on)
        while (screen_draw(s, v, NULL) && view_key(s, v, term_key(-1))) continue;
    leave_screen(s);
}
