/* Races: the order of turns, the marks of each racer, and the ranking at the end. */
#include "race.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "machine/device.h"
#include "solvers/solve.h"

#include <math.h>
#include <string.h>

static const double TURN_US = RACE_TURN_US; /* length of a turn */
static const double KERNEL_US = 200000;     /* total time that each kernel runs */
enum { TOGETHER = 64 };                     /* maximum number of SpMVs that are timed together */

bool race_timed(const struct race *r)
{
    return r->dev->kind != DEV_EMU;
}

bool race_mark(struct racer *x, double us, int64_t iteration, struct err *e)
{
    SCREEN_EDIT;
    if (x->nmarks == x->room) {
        int64_t room = x->room ? 2 * x->room : 256;
        struct mark *grown = mem_resize(x->mark, room, sizeof *grown, "the times of a race", e);
        if (!grown) return false;
        x->mark = grown;
        x->room = room;
    }
    x->mark[x->nmarks++] = (struct mark){us, iteration};
    return true;
}

/* ---- turns ---- */

static bool runs(const struct race *r, const struct racer *x)
{
    if (!r->kernels) return x->v && x->v->reason == RUNNING;
    return x->M && (r->reps ? x->nmarks < r->reps : x->us < KERNEL_US);
}

/* The racer with the least progress has the next turn. Progress is the time used so far; on the emulator, it is the
   number of iterations. */
static double progress_of(const struct race *r, const struct racer *x)
{
    return race_timed(r) ? x->us : (double)x->v->iterations;
}

static struct racer *next_of(struct race *r)
{
    struct racer *next = NULL;
    for (int i = 0; i < r->n; i++) {
        struct racer *x = &r->racer[i];
        if (runs(r, x) && (!next || progress_of(r, x) < progress_of(r, next))) next = x;
    }
    return next;
}

/* Returns the time from the start of the last turn to the iteration that ended the solve, computed from the time stamps
   of the iterations. Iterations that were queued after that iteration had no effect, so their time does not count. */
static double until_end(const struct solve *v, int64_t before, double us)
{
    int64_t done = v->iterations - before;
    if (v->reason == RUNNING || done < 2) return us;
    double most = (v->history.stamp[v->iterations] - v->history.stamp[before + 1]) * (double)done / (double)(done - 1);
    return most < us ? most : us;
}

static void add_time(struct racer *x, double us)
{
    SCREEN_EDIT;
    x->us += us;
}

/* Wait for all launches of this racer before the next racer has its turn; the waiting time is charged to
   this racer. */
static bool solver_turn(struct race *r, struct racer *x, struct err *e)
{
    double start = now_us();
    int64_t before = x->v->iterations;
    if (!solve_slice(x->v, race_timed(r) ? TURN_US : 0, e) || !solve_drain(x->v, e)) return false;
    if (x->v->cut.now) return true;
    add_time(x, until_end(x->v, before, now_us() - start));
    return race_mark(x, x->us, x->v->iterations, e);
}

struct product_run {
    const struct kernel *kernel;
    struct launch launch;
};

static bool multiply(void *ctx, struct err *e)
{
    const struct product_run *p = ctx;
    return kernel_launch(p->kernel, &p->launch, e);
}

/* The number of SpMVs that fit in a turn, estimated from the mean time of the SpMVs so far. */
static int products_of(const struct race *r, const struct racer *x)
{
    double each = x->nmarks ? x->us / (double)x->nmarks : TURN_US, fit = TURN_US / (each + 0.1);
    int n = fit < 1 ? 1 : fit > TOGETHER ? TOGETHER : (int)fit;
    return r->reps && n > r->reps - x->nmarks ? (int)(r->reps - x->nmarks) : n;
}

static bool kernel_turn(struct race *r, struct racer *x, struct err *e)
{
    double us[TOGETHER];
    int n = products_of(r, x);
    struct product_run p = {x->kernel, {.A = x->M, .alpha = 1, .beta = 0, .x = r->x, .y = r->y}};
    struct err why = {0};
    if (!r->dev->ops->time(r->dev, multiply, &p, n, us, &why))
        return why.code == E_CANCELLED || fail_at(e, why.code, why.where, "%s", why.text); /* earlier times count */
    for (int i = 0; i < n; i++) {
        add_time(x, us[i]);
        if (!race_mark(x, us[i], x->nmarks + 1, e)) return false;
    }
    return true;
}

void race_set_running(struct race *r, bool running)
{
    SCREEN_EDIT;
    r->running = running;
}

bool race_turn(struct race *r, struct err *e)
{
    struct racer *x = r->running ? next_of(r) : NULL;
    if (x && !(r->kernels ? kernel_turn : solver_turn)(r, x, e)) return false;
    race_set_running(r, next_of(r) != NULL);
    return true;
}

int64_t race_done(const struct race *r)
{
    int64_t done = 0;
    for (int i = 0; i < r->n; i++) {
        const struct racer *x = &r->racer[i];
        done += r->kernels ? x->nmarks : x->v ? x->v->iterations : 0;
    }
    return done;
}

double race_iteration_at(const struct racer *x, double us)
{
    int64_t low = 0, high = x->nmarks - 1;
    if (high < 0 || us > x->mark[high].us) return -1;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        *(x->mark[middle].us > us ? &high : &low) = middle;
    }
    const struct mark *a = &x->mark[low], *b = &x->mark[high];
    double share = b->us > a->us ? (us - a->us) / (b->us - a->us) : 1;
    return (double)a->iteration + share * (double)(b->iteration - a->iteration);
}

/* ---- the end ---- */

static bool end_kernel(const struct race *r, struct racer *x, struct err *e)
{
    int64_t n = x->nmarks;
    x->M = NULL;
    if (!n) return true;
    double *us = mem_new(n, sizeof *us, "the times of a race", e);
    if (!us) return false;
    for (int64_t i = 0; i < n; i++) us[i] = x->mark[i].us;
    SCREEN_EDIT;
    x->run.reps = (int)n;
    x->run.us = times_median(n, us, &x->run.spread_us);
    x->best_us = us[0]; /* sorted now */
    run_rates(&x->run, &r->dev->ceilings);
    mem_free(us);
    return true;
}

/* The true residual; the recursive residual if the true residual is unknown. */
static double residual_of(const struct solve *v)
{
    return isnan(v->result.residual_true) ? v->residual : v->result.residual_true;
}

/* Does racer a rank before racer b? Converged solvers come first, by time; then all other solvers, by residual; then
   refused racers. */
static bool before(const struct race *r, const struct racer *a, const struct racer *b)
{
    if (*a->why || *b->why) return !*a->why;
    if (r->kernels) return a->run.us < b->run.us;
    bool first = a->v->reason == CONVERGED, second = b->v->reason == CONVERGED;
    if (first != second) return first;
    if (first) return progress_of(r, a) < progress_of(r, b);
    return residual_of(a->v) < residual_of(b->v) || (isnan(residual_of(b->v)) && !isnan(residual_of(a->v)));
}

/* Insertion sort: equal racers stay in the order in which they were named. */
static void rank_racers(struct race *r)
{
    SCREEN_EDIT;
    for (int i = 0; i < r->n; i++) {
        int at = i;
        for (; at > 0 && before(r, &r->racer[i], &r->racer[r->ranking[at - 1]]); at--)
            r->ranking[at] = r->ranking[at - 1];
        r->ranking[at] = i;
    }
}

static void release_vectors(struct race *r)
{
    if (r->x) r->dev->ops->free(r->dev, r->x);
    if (r->y) r->dev->ops->free(r->dev, r->y);
    r->x = r->y = NULL;
}

/* A race needs the x of a solver only for the true residual. */
static bool end_solver(const struct race *r, struct solve *v, bool soon, struct err *e)
{
    bool ok = soon ? solve_end_soon(v, (double)SOLVE_SOON_US / r->n, e) : solve_end(v, e);
    solve_release(v);
    return ok;
}

bool race_end(struct race *r, bool soon, struct err *e)
{
    race_set_running(r, false);
    for (int i = 0; i < r->n; i++) {
        struct racer *x = &r->racer[i];
        if (x->v && !end_solver(r, x->v, soon, e)) return false;
        if (x->kernel && !end_kernel(r, x, e)) return false;
    }
    release_vectors(r);
    rank_racers(r);
    return true;
}

void race_free(struct race *r)
{
    if (!r) return;
    release_vectors(r);
    for (int i = 0; i < r->n; i++) {
        solve_free(r->racer[i].v);
        mem_free(r->racer[i].mark);
    }
    mem_free(r);
}

/* ---- for the session ---- */

bool race_uses(const struct race *r, const struct mat *M)
{
    for (int i = 0; r && i < r->n; i++) {
        const struct racer *x = &r->racer[i];
        if (x->M == M || (x->v && x->v->reason == RUNNING && solve_uses(x->v, M))) return true;
    }
    return false;
}

void race_moved(struct race *r, const struct mat *from, struct mat *to)
{
    for (int i = 0; r && i < r->n; i++) {
        struct racer *x = &r->racer[i];
        if (x->M == from) x->M = to;
        if (x->v) solve_moved(x->v, from, to);
    }
}
