/* Measures the ceilings of a device: the best rates that the device reaches. Kernels are then compared with these
   rates. */
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/screen_lock.h"
#include "base/watch.h"
#include "dev.h"

/* FAR: the size of a vector, as a multiple of the size of the cache. HOST_FAR: the multiple for the host; it is smaller
 * than FAR because other programs share the host's memory. */
enum { REPS = 10, LAUNCHES = 50, LANES_A_UNIT = 2048, FAR = 16, HOST_FAR = 4 };
/* A vector of this many doubles, 16 kB, fits into an L1 cache; reading it REREADS times takes about 0.3 ms. */
enum { IN_L1 = 2048, REREADS = 512 };
static const int64_t MAX = (int64_t)1 << 29; /* maximum size, in bytes, of a vector larger than the cache */

struct probe {
    struct device *dev;
    const struct ceiling_ops *ops;
    int64_t n;      /* doubles in a vector that is larger than the cache */
    int64_t copied; /* doubles of x that are copied to y; on the host, y is the second half of x */
    int64_t small;  /* doubles in a vector that is much smaller than the cache */
    int64_t passes; /* passes over the small vector */
    int64_t lanes;  /* threads */
    double *x, *y, *sums;
    double *amount; /* receives what the last launch has read or computed */
};

static bool read_far(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->read(p->dev, p->n, 1, p->x, p->lanes, p->sums);
    return true;
}

static bool copy_far(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->copy(p->dev, p->copied, p->x, p->y);
    return true;
}

static bool read_near(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->read(p->dev, p->small, p->passes, p->x, p->lanes, p->sums);
    return true;
}

static bool gather_far(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->gather(p->dev, p->n, p->n / 4, p->x, p->lanes, p->sums);
    return true;
}

static bool gather_near(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->gather(p->dev, p->small, p->n / 4, p->x, p->lanes, p->sums);
    return true;
}

static bool read_again(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->reread(p->dev, IN_L1, REREADS, p->x, p->lanes, p->sums, p->amount);
    return true;
}

static bool compute_fp64(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->multiply_add(p->dev, false, p->lanes, p->sums, p->amount);
    return true;
}

static bool compute_fp32(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->multiply_add(p->dev, true, p->lanes, p->sums, p->amount);
    return true;
}

static bool launch_nothing(void *ctx, struct err *e)
{
    const struct probe *p = ctx;
    p->ops->empty(p->dev);
    return true;
}

/* *us receives the time of the fastest of several runs, because a ceiling is the best rate ever reached. */
static bool fastest(const struct probe *p, bool (*go)(void *, struct err *), double *us, struct err *e)
{
    double each[REPS];
    const struct device_ops *ops = p->dev->ops;
    if (!ops->time(p->dev, go, (void *)p, 2, each, e)) return false;
    for (int i = 0; i < REPS; i++)
        if (!loop_tick("measuring", i, REPS, e) || !ops->time(p->dev, go, (void *)p, 1, &each[i], e)) return false;
    *us = each[0];
    for (int i = 1; i < REPS; i++)
        if (each[i] < *us) *us = each[i];
    return loop_tick("measuring", REPS, REPS, e);
}

/* *us receives the median time of an empty launch, timed like the launches of a bench: a GPU has other launches queued,
   so that the time is that of the device and not of the host. */
static bool time_launch(const struct probe *p, double *us, struct err *e)
{
    double each[LAUNCHES];
    if (!p->dev->ops->time(p->dev, launch_nothing, (void *)p, LAUNCHES, each, e)) return false;
    *us = times_median(LAUNCHES, each, NULL);
    return loop_tick("measuring", REPS, REPS, e);
}

static int64_t power_of_two_below(int64_t n)
{
    int64_t power = 1;
    while (power <= n / 2) power *= 2;
    return power;
}

static bool plan(struct probe *p, struct err *e)
{
    const struct device_maker *m = device_maker_of(p->dev);
    bool host = p->dev->kind == DEV_CPU;
    int64_t left, total;
    if (!m->start(p->dev, e) || !p->dev->ops->memory(p->dev, &left, &total, e)) return false;
    int64_t cache = m->cache(p->dev), far = cache * (host ? HOST_FAR : FAR), bytes = far < MAX ? far : MAX;
    p->n = power_of_two_below((bytes < left / 8 ? bytes : left / 8) / 8);
    p->copied = host ? p->n / 2 : p->n;
    p->small = power_of_two_below(cache / 2 / 8);
    if (p->small > p->n) p->small = p->n;
    p->passes = p->n / p->small < 16 ? p->n / p->small : 16;
    p->lanes = host ? p->dev->units : (int64_t)p->dev->units * LANES_A_UNIT;
    return true;
}

static bool prepare(struct probe *p, struct err *e)
{
    struct device *d = p->dev;
    p->x = d->ops->alloc(d, p->n * 8, "a vector to measure with", e);
    p->sums = d->ops->alloc(d, p->lanes * 8, "the sums of a measurement", e);
    if (!p->x || !p->sums) return false;
    p->y = p->copied < p->n ? p->x + p->copied : d->ops->alloc(d, p->n * 8, "a vector to measure with", e);
    if (!p->y) return false;
    p->ops->fill(d, p->n, 1.0, p->x);
    p->ops->fill(d, p->copied, 2.0, p->y);
    return loop_tick("measuring", 0, 0, e) && d->ops->sync(d, e);
}

/* The rates of the multiprocessors themselves, which only GPUs have. */
static bool measure_cores(const struct probe *p, struct watch *w, struct ceilings *out, struct err *e)
{
    const struct {
        const char *what;
        bool (*go)(void *, struct err *);
        double *rate;
    } steps[] = {
        {"reading from L1", read_again, &out->l1_gbs},
        {"computing in fp64", compute_fp64, &out->fp64_gflops},
        {"computing in fp32", compute_fp32, &out->fp32_gflops},
    };
    double us, amount = 0;
    struct probe own = *p;
    own.amount = &amount;
    for (int i = 0; i < COUNT(steps) && p->ops->reread; i++) {
        if (!watch_tick(w, steps[i].what, i, COUNT(steps), e) || !fastest(&own, steps[i].go, &us, e)) return false;
        *steps[i].rate = amount / us / 1000;
    }
    return true;
}

static bool measure(const struct probe *p, struct watch *w, struct ceilings *out, struct err *e)
{
    const struct {
        const char *what;
        bool (*go)(void *, struct err *);
        double amount; /* bytes, or gathers */
        double *rate;
    } steps[] = {
        {"reading", read_far, 8.0 * (double)p->n, &out->read_gbs},
        {"copying", copy_far, 16.0 * (double)p->copied, &out->copy_gbs},
        {"reading from the cache", read_near, 8.0 * (double)(p->small * p->passes), &out->cache_gbs},
        {"gathering", gather_far, (double)(p->n / 4), &out->gather_gps},
        {"gathering from the cache", gather_near, (double)(p->n / 4), &out->gather_cache_gps},
    };
    double us;
    for (int i = 0; i < COUNT(steps); i++) {
        if (!watch_tick(w, steps[i].what, i, COUNT(steps) + 1, e) || !fastest(p, steps[i].go, &us, e)) return false;
        *steps[i].rate = steps[i].amount / us / 1000;
    }
    return watch_tick(w, "launching", COUNT(steps), COUNT(steps) + 1, e) && time_launch(p, &out->launch_us, e);
}

/* Together, members of different memories have the sum of their rates. */
static void add_ceilings(struct ceilings *to, const struct ceilings *c)
{
    to->read_gbs += c->read_gbs;
    to->copy_gbs += c->copy_gbs;
    to->cache_gbs += c->cache_gbs;
    to->cache_bytes += c->cache_bytes;
    to->gather_gps += c->gather_gps;
    to->gather_cache_gps += c->gather_cache_gps;
    if (c->launch_us > to->launch_us) to->launch_us = c->launch_us;
}

/* Two members on one GPU share its rates. */
static bool is_counted(const struct device *d, int k)
{
    const struct device *of = d->member[k];
    for (int j = 0; j < k; j++)
        if (d->member[j]->kind == of->kind && d->member[j]->number == of->number) return true;
    return false;
}

/* Views show the share of the bandwidth. */
static void keep(struct device *d, const struct ceilings *c)
{
    SCREEN_EDIT;
    d->ceilings = *c;
}

static bool ceilings_of_members(struct device *d, struct watch *w, struct err *e)
{
    struct ceilings sum = {.measured = true};
    for (int k = 0; k < d->members; k++) {
        struct device *m = d->member[k];
        if (!m->ceilings.measured && !device_ceilings(m, w, e)) return false;
        if (!is_counted(d, k)) add_ceilings(&sum, &m->ceilings);
    }
    keep(d, &sum);
    return true;
}

bool device_ceilings(struct device *d, struct watch *w, struct err *e)
{
    if (d->members) return ceilings_of_members(d, w, e);
    struct probe p = {.dev = d, .ops = device_maker_of(d)->ceilings};
    struct ceilings found = {.measured = true};
    if (!p.ops)
        return fail(e, E_UNSUPPORTED, "%s: the emulator models accesses, not time; measure cpu or cuda:0", d->name);
    bool ok = plan(&p, e) && prepare(&p, e) && measure(&p, w, &found, e) && measure_cores(&p, w, &found, e);
    if (ok) {
        found.cache_bytes = device_maker_of(d)->cache(d);
        keep(d, &found);
    }
    d->ops->free(d, p.x);
    if (p.copied == p.n) d->ops->free(d, p.y);
    d->ops->free(d, p.sums);
    return ok;
}
