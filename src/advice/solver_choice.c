/* Chooses one of the candidates of `advise solver` after their trials. Measured times decide between methods whose
   times differ by more than noise; between the others, figures decide that are the same in every run. */
#include "base/base.h"
#include "machine/device.h"
#include "solver_advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Methods are equally fast if their times differ by less than this factor or these microseconds: on a machine that
   others use too, a time may be several times as long in the next run. The work was fitted to times on cpu, so it
   decides more there. */
static const double TIE = 3, TIE_US = 1000, TIE_CPU = 8, TIE_CPU_US = 5e4;
/* Work within this factor of the least is equal, and the order of the candidates decides. */
static const double SAME_WORK = 1.1;

bool trial_is_known(const struct trial *t)
{
    return isfinite(t->us.high);
}

bool trial_is_hopeful(const struct trial *t)
{
    if (t->state == TRIAL_CONVERGED || t->state == TRIAL_PLANNED || t->accurate) return true;
    return t->state == TRIAL_OPEN && isfinite(t->guess_us);
}

bool trial_may_go_on(const struct trial *t)
{
    return trial_is_hopeful(t) || t->state == TRIAL_OPEN || t->state == TRIAL_NONE;
}

double trial_work_us(const struct trial *t)
{
    double us = t->work_setup_us;
    if (t->solver) us += t->work_each_us * t->guess_iterations;
    return isnan(us) ? INFINITY : us;
}

double trial_cost_us(const struct solver_advice *a, const struct trial *t)
{
    return a->dev && a->dev->kind == DEV_CPU && isfinite(t->guess_us) ? trial_work_us(t) : t->guess_us;
}

/* Ended and refused candidates come last. */
static int rank_of(const struct trial *t)
{
    static const int rank[] = {[TRIAL_CONVERGED] = 0, [TRIAL_OPEN] = 4,  [TRIAL_PLANNED] = 4,
                               [TRIAL_NONE] = 5,      [TRIAL_ENDED] = 6, [TRIAL_REFUSED] = 7};
    bool open = t->state == TRIAL_OPEN || t->state == TRIAL_PLANNED;
    if (t->accurate) return 1;
    if (open && trial_is_hopeful(t)) return trial_is_known(t) ? 2 : 3;
    return rank[t->state];
}

static int by_number(double a, double b)
{
    a = isnan(a) ? INFINITY : a;
    b = isnan(b) ? INFINITY : b;
    return (a > b) - (a < b);
}

static int by_merit(const void *p, const void *q)
{
    const struct trial *a = p, *b = q;
    int d = rank_of(a) - rank_of(b);
    if (!d) d = by_number(a->guess_us, b->guess_us);
    if (!d) d = by_number(a->residual, b->residual);
    return d ? d : a->order - b->order;
}

/* Of two methods that are about as fast: does t come before best? The work of a method that has not converged is not
   known. */
static bool precedes(const struct trial *t, const struct trial *best)
{
    double work = trial_work_us(t), least = trial_work_us(best);
    if (t->state != TRIAL_CONVERGED || (work <= SAME_WORK * least && least <= SAME_WORK * work))
        return t->order < best->order;
    return work < least;
}

static const struct trial *first_by_merit(const struct solver_advice *a)
{
    const struct trial *first = a->n ? a->at : NULL;
    for (int i = 1; i < a->n; i++)
        if (by_merit(&a->at[i], first) < 0) first = &a->at[i];
    return first;
}

const struct trial *solver_best(const struct solver_advice *a)
{
    const struct trial *first = first_by_merit(a), *best = first;
    bool cpu = a->dev && a->dev->kind == DEV_CPU;
    double tie = cpu ? TIE_CPU : TIE, tie_us = cpu ? TIE_CPU_US : TIE_US;
    for (int i = 0; first && i < a->n; i++) {
        const struct trial *t = &a->at[i];
        bool tied =
            rank_of(t) == rank_of(first) && t->guess_us <= fmax(tie * first->guess_us, first->guess_us + tie_us);
        if (tied && precedes(t, best)) best = t;
    }
    return best;
}

/* A plan foretells the time of a direct solver better than the first iterations foretell the time of the others. */
static bool prefers_direct(const struct trial *best, const struct trial *direct)
{
    return best->solver && rank_of(best) > 1 && direct->state == TRIAL_PLANNED && direct->guess_us <= best->us.high;
}

/* Move candidate i to the front. */
static void put_first(struct solver_advice *a, ptrdiff_t i)
{
    struct trial t = a->at[i];
    memmove(a->at + 1, a->at, (size_t)i * sizeof *a->at);
    a->at[0] = t;
}

void solver_choose(struct solver_advice *a)
{
    if (!a->n) return;
    qsort(a->at, (size_t)a->n, sizeof *a->at, by_merit);
    put_first(a, solver_best(a) - a->at);
    for (int i = 1; i < a->n; i++)
        if (!a->at[i].solver && prefers_direct(a->at, &a->at[i])) {
            put_first(a, i);
            break;
        }
    a->taken = trial_is_hopeful(a->at) && !a->trivial ? 0 : -1;
}
