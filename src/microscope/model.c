/* How long a kernel takes on a GPU, from what its launches do and what the GPU was measured to do.

   At the same time go on: the chains of waits of its warps, as many at once as the multiprocessors hold, until the
   longest block has ended; bytes from memory and from the L2 cache, lookups in L1, instructions, atomics, of which the
   slowest counts; and the queue at the address that has most atomics. They hinder each other: a launch takes longer
   than the longest of the three, and less than their sum. */
#include <stdio.h>

#include "model.h"
#include "machine/kernel.h"

#include <math.h>
#include <string.h>

const char *const bound_names[BOUNDS + 1] = {"latency",    "longest block", "memory bandwidth", "L2 bandwidth",
                                             "L1 lookups", "instructions",  "atomics",          "atomics in one sector",
                                             "launch"};

/* Fitted to all kernels and two thirds of 24 matrices at once, in fp64 on an H200 of 1.98 GHz;
   tests/bench/bench_model.c tells the errors. Beside each what it stands for. */
static const struct {
    double again_us;    /* each launch: to start, fill and drain the multiprocessors */
    double first_us;    /* and what the first takes beyond the ceiling of an empty launch; it overlaps with that */
    double wait[WAITS]; /* ns, see enum wait. Published microbenchmarks have some 35 clocks (20 ns) for a load from
                           L1, 270 (140 ns) from L2; here with the arithmetic that needs it. A barrier: as long as warps
                           are apart */
    double memory_ns;   /* WAIT_FIRST more where L2 did not keep the sector: some 800 clocks in all, under load */
    double block_ns;    /* to start a block and end it */
    double tail;        /* of the last wave, shares of a mean block */
    double l2_share;    /* of the ceiling of cache reads that sectors reach: that is of whole lines in order */
    double dram_share;  /* of the ceiling of streaming reads */
    double cached;      /* bytes that L2 keeps from launch to launch: less than half of the 60 MB it has, as what the
                           multiprocessors of both halves read is kept twice */
    double lookups;     /* lines that an L1 looks up in a ns */
    double steps;       /* requests with their arithmetic, about 6 instructions, that a multiprocessor issues in a ns */
    double atomics;     /* atomics in a ns, all over L2 */
    double deep;        /* additions in a ns of lanes that are at one address with others of their warp */
    double hot_ns, hot_int_ns; /* an addition in a sector that others add to: of a real, of an integer */
    double together; /* p of the norm by which what goes on at once adds up: 1 the sum, infinite the longest */
} H = {
    .again_us = 2.17,
    .first_us = -0.95,
    .wait = {3.4, 41.2, 130, 157, 10.3, 6.9, 198},
    .memory_ns = 257,
    .block_ns = 153,
    .tail = 0.74,
    .l2_share = 0.648,
    .dram_share = 0.734,
    .cached = 26.9e6,
    .lookups = 2.9,
    .steps = 0.67,
    .atomics = 149,
    .deep = 42.1,
    .hot_ns = 1.93,
    .hot_int_ns = 0.753,
    .together = 1.83,
};

struct machine machine_of(const struct device *d)
{
    struct machine g = {
        .name = "NVIDIA H200",
        .sms = 132,
        .c = {.read_gbs = 4367, .copy_gbs = 3891, .cache_gbs = 9128, .gather_gps = 40.7, .launch_us = 3.1}};
    if (!d || d->kind != DEV_CUDA || !d->ceilings.measured) return g;
    g.here = true;
    g.sms = d->units;
    g.c = d->ceilings;
    snprintf(g.name, sizeof g.name, "%s", d->name);
    return g;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* us that a block of these waits lives; missed: the share of first touches that L2 did not keep. */
static double life(const double *wait, double missed)
{
    double ns = wait[WAIT_FIRST] * missed * H.memory_ns;
    for (int k = 0; k < WAITS; k++) ns += wait[k] * H.wait[k];
    return ns / 1000;
}

/* Threads that a multiprocessor of compute capability 7.0 to 9.0 holds, but for 7.5; and blocks. */
static double at_once(const struct machine *g, const struct work *w)
{
    double blocks = floor(2048.0 / (double)(w->threads > 0 ? w->threads : 1));
    return g->sms * (blocks < 1 ? 1 : blocks > 32 ? 32 : blocks);
}

static double chains(const struct work *w, const struct machine *g, double missed, bool shares)
{
    double slots = at_once(g, w), all = life(w->wait, missed) + (double)w->blocks * H.block_ns / 1000;
    if (shares) return all / slots;
    if ((double)w->blocks <= slots) return 0; /* the longest block decides */
    return all / slots + H.tail * all / (double)w->blocks;
}

/* What of each launch's first touches, in a row of products, comes from memory again. */
static double share_missed(const struct workload *w)
{
    return w->footprint > H.cached ? 1 - H.cached / w->footprint : 0;
}

static void bounds_of(const struct work *w, const struct machine *g, double missed, bool shares, double *us)
{
    double longest = life(w->longest, missed), mean = life(w->wait, missed) / (double)w->blocks;
    bool alone = longest > 2 * mean; /* else it is one like the others */
    us[BOUND_LATENCY] = most(chains(w, g, missed, shares), alone ? 0 : longest);
    us[BOUND_LONGEST] = alone ? longest : 0;
    us[BOUND_DRAM] = missed * w->footprint / (H.dram_share * g->c.read_gbs) / 1000;
    us[BOUND_L2] = (w->l2_loads + w->l2_stores) * SECTOR / (H.l2_share * g->c.cache_gbs) / 1000;
    us[BOUND_L1] = w->lines / (g->sms * H.lookups) / 1000;
    us[BOUND_ISSUE] = w->steps / (g->sms * H.steps) / 1000;
    us[BOUND_ATOMICS] = most(w->atomics / H.atomics, w->deep / H.deep) / 1000;
    us[BOUND_HOT] = w->hot * (shares ? H.hot_int_ns : H.hot_ns) / 1000;
}

static enum bound largest(const double *us)
{
    int best = 0;
    for (int k = 1; k < BOUNDS; k++)
        if (us[k] > us[best]) best = k;
    return (enum bound)best;
}

struct prediction model_predict(const struct workload *w, const struct machine *g)
{
    struct prediction p = {0};
    double missed = share_missed(w), by[BOUNDS] = {0}, work = 0;
    for (int l = 0; l < w->n; l++) {
        double us[BOUNDS];
        if (w->launch[l].blocks == 0) continue;
        bounds_of(&w->launch[l], g, missed, w->kernel->shares, us);
        double waits = most(us[BOUND_LATENCY], us[BOUND_LONGEST]), rate = 0;
        for (int k = BOUND_DRAM; k <= BOUND_ATOMICS; k++) rate = most(rate, us[k]);
        double p_norm =
            pow(pow(waits, H.together) + pow(rate, H.together) + pow(us[BOUND_HOT], H.together), 1 / H.together);
        by[largest(us)] += p_norm;
        work += p_norm;
        p.launch_us += H.again_us;
        p.dram_bytes += missed * w->launch[l].footprint;
        p.l2_bytes += (w->launch[l].l2_loads + w->launch[l].l2_stores) * SECTOR;
        for (int k = 0; k < BOUNDS; k++) p.bound_us[k] += us[k];
    }
    if (p.launch_us > 0) p.launch_us = most(p.launch_us + g->c.launch_us + H.first_us, 0);
    p.us = p.launch_us + work;
    p.bound = p.launch_us > work ? BOUND_LAUNCH : largest(by);
    return p;
}
