/* Measures the links between the members of a device: copies of several sizes, and a flag there and back. */
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/watch.h"
#include "multi.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 7, BOUNCES = 1000, WARM_BOUNCES = 10 };
static const int64_t MIB = 1 << 20, FAR = (int64_t)256 << 20;

/* Two members, and memory on each. */
struct pair {
    struct device *a, *b; /* copies go from a to b */
    char *from, *to;
    unsigned *flag_a, *flag_b; /* one unsigned each, and then an int that reports a flag that does not arrive */
    unsigned epoch;
};

static void pair_free(struct pair *p)
{
    if (p->from) p->a->ops->free(p->a, p->from);
    if (p->to) p->b->ops->free(p->b, p->to);
    if (p->flag_a) p->a->ops->free(p->a, p->flag_a);
    if (p->flag_b) p->b->ops->free(p->b, p->flag_b);
}

static bool pair_new(struct pair *p, struct device *a, struct device *b, struct err *e)
{
    static const char what[] = "memory to measure a link with";
    const unsigned zero[2] = {0};
    *p = (struct pair){.a = a, .b = b};
    p->from = a->ops->alloc(a, FAR, what, e);
    p->to = p->from ? b->ops->alloc(b, FAR, what, e) : NULL;
    p->flag_a = p->to ? a->ops->alloc(a, sizeof zero, what, e) : NULL;
    p->flag_b = p->flag_a ? b->ops->alloc(b, sizeof zero, what, e) : NULL;
    return p->flag_b && a->ops->put(a, p->flag_a, zero, sizeof zero, e) &&
           b->ops->put(b, p->flag_b, zero, sizeof zero, e);
}

static bool both_done(const struct pair *p, struct err *e)
{
    return p->a->ops->sync(p->a, e) && p->b->ops->sync(p->b, e);
}

/* The time of one of `reps` copies, each after the one before it, by events of the receiver. */
static bool time_copies(const struct pair *p, int64_t bytes, int reps, double *us, struct err *e)
{
    if (!both_done(p, e) || !p->b->ops->mark(p->b, 0, e)) return false;
    for (int i = 0; i < reps; i++)
        if (!p->b->ops->carry(p->b, p->to, p->a, p->from, bytes, e)) return false;
    if (!p->b->ops->mark(p->b, 1, e) || !both_done(p, e)) return false;
    *us = p->b->ops->between(p->b, 0, 1) / reps;
    return true;
}

static bool launch_bounce(struct device *d, struct flag_bounce *b, struct err *e)
{
    return multi_select(d, e) && (halo_ops_of(d, T_F64)->bounce(d, b), true);
}

/* The time of one of `rounds` ways there and back, by events of a, whose launch begins the first one. */
static bool time_flags(struct pair *p, int rounds, double *us, struct err *e)
{
    struct flag_bounce there = {.rounds = rounds, .epoch = p->epoch, .own = p->flag_b, .theirs = p->flag_a};
    struct flag_bounce here = {.first = true, .rounds = rounds, .epoch = p->epoch, .own = p->flag_a};
    int late[2] = {0};
    here.theirs = p->flag_b;
    here.late = (int *)(p->flag_a + 1);
    there.late = (int *)(p->flag_b + 1);
    p->epoch += (unsigned)rounds;
    if (!both_done(p, e) || !launch_bounce(p->b, &there, e) || !p->a->ops->mark(p->a, 0, e) ||
        !launch_bounce(p->a, &here, e) || !p->a->ops->mark(p->a, 1, e) || !both_done(p, e))
        return false;
    if (!p->a->ops->get(p->a, &late[0], here.late, sizeof *late, e) ||
        !p->b->ops->get(p->b, &late[1], there.late, sizeof *late, e))
        return false;
    *us = p->a->ops->between(p->a, 0, 1) / rounds;
    return !(late[0] || late[1]) || fail(e, E_DEVICE, "a flag that %s set in the memory of %s did not arrive",
                                         late[0] ? p->b->name : p->a->name, late[0] ? p->a->name : p->b->name);
}

/* *us becomes the time of the fastest of several rounds, because a ceiling is the best that was reached. */
static bool fastest_copy(const struct pair *p, int64_t bytes, int reps, double *us, struct err *e)
{
    *us = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        double one;
        if (!loop_tick("measuring copies", i, ROUNDS, e) || !time_copies(p, bytes, reps, &one, e)) return false;
        *us = fmin(*us, one);
    }
    return true;
}

static bool fastest_flag(struct pair *p, double *us, struct err *e)
{
    *us = NAN;
    if (!p->a->ops->reach(p->a, p->b) || !p->b->ops->reach(p->b, p->a)) return true;
    if (!time_flags(p, WARM_BOUNCES, us, e)) return false;
    for (int i = 0; i < ROUNDS; i++) {
        double one;
        if (!loop_tick("measuring flags", i, ROUNDS, e) || !time_flags(p, BOUNCES, &one, e)) return false;
        *us = i ? fmin(*us, one) : one;
    }
    return true;
}

static bool measure(struct pair *p, struct link_ceilings *out, struct err *e)
{
    double mb_us, far_us;
    *out = (struct link_ceilings){.measured = true, .one_gpu = multi_one_memory(p->a, p->b)};
    if (!fastest_copy(p, 8, 50, &out->copy_us, e) || !fastest_copy(p, MIB, 20, &mb_us, e) ||
        !fastest_copy(p, FAR, 2, &far_us, e) || !fastest_flag(p, &out->flag_us, e))
        return false;
    out->mb_gbs = (double)MIB / mb_us / 1000;
    out->far_gbs = (double)FAR / far_us / 1000;
    return true;
}

/* Keep the slower one of two links in each respect. */
static void slower(struct link_ceilings *to, const struct link_ceilings *other)
{
    to->one_gpu |= other->one_gpu;
    to->copy_us = fmax(to->copy_us, other->copy_us);
    to->mb_gbs = fmin(to->mb_gbs, other->mb_gbs);
    to->far_gbs = fmin(to->far_gbs, other->far_gbs);
    to->flag_us = isnan(other->flag_us) || other->flag_us > to->flag_us ? other->flag_us : to->flag_us;
}

static bool all_gpus(const struct device *d)
{
    for (int k = 0; k < d->members; k++)
        if (d->member[k]->kind != DEV_CUDA) return false;
    return d->members > 1;
}

bool device_links(struct device *d, struct watch *w, struct err *e)
{
    struct link_ceilings found = {0};
    if (!all_gpus(d)) return true;
    for (int k = 1; k < d->members; k++) {
        struct link_ceilings one;
        struct pair p = {0};
        bool ok = watch_tick(w, "measuring links", k - 1, d->members - 1, e) &&
                  pair_new(&p, d->member[0], d->member[k], e) && measure(&p, &one, e);
        pair_free(&p);
        if (!ok) return false;
        if (k > 1) slower(&one, &found);
        found = one;
    }
    d->link = found;
    return true;
}
