/* Predicts how long a kernel takes on a GPU, from the work of its launches and the measured ceilings of the GPU.

   A launch has three parts, which overlap. The first part is the time that warps spend waiting, divided by the number
   of blocks that run concurrently; it is at least as long as the longest block. The second part is the slowest of
   memory traffic, L2 traffic, L1 lookups, instructions and atomics. The third part is the queue at the address with the
   most atomics. A launch takes longer than the longest of these parts, and less than their sum. */
#include <stdio.h>

#include "model.h"
#include "machine/kernel.h"

#include <math.h>

const char *const bound_names[BOUNDS + 1] = {
    "latency",      "longest block", "memory bandwidth", "L2 bandwidth",          "L1 lookups",
    "instructions", "arithmetic",    "atomics",          "atomics in one sector", "launch"};

/* These constants were fitted to the times of all kernels on 42 of 65 matrices, in fp64 on an H200 at 1.98 GHz, by
   tests/bench/fit_model.py; tests/bench/bench_model.c reports the errors. */
static const struct {
    double again_us;    /* time per launch to start, fill and drain the multiprocessors */
    double first_us;    /* added to the measured time of an empty launch, for the first launch; the two overlap, so the
                           value is negative */
    double wait[WAITS]; /* ns, see enum wait. Published microbenchmarks give about 35 clocks (20 ns) for a load from
                           L1 and about 270 clocks (140 ns) for a load from L2; the values here include the dependent
                           arithmetic. The wait at a barrier includes the time from the arrival of the first warp to
                           that of the last */
    double memory_ns;   /* added to WAIT_FIRST if L2 did not keep the sector */
    double block_ns;    /* time to start and end a block */
    double tail;        /* time of the last wave of blocks / time of an average block */
    double l2_share;    /* bandwidth of sectors, without the lookup of their lines / the ceiling for cache reads */
    double l2_line;     /* the lookup of a line takes as long as this number of sectors */
    double l2_own;      /* what a multiprocessor alone can take of L2's bandwidth, in shares of an equal division */
    double dram_share;  /* bandwidth of reads from memory / the ceiling for streaming reads */
    double cached; /* bytes of a kernel's data of which L2 keeps half between launches: less than a quarter of the 60 MB
                      of the L2, because data that the multiprocessors of both halves read is stored twice */
    double lookups; /* lines that an L1 looks up per ns */
    double steps;   /* requests that a multiprocessor issues per ns, with about 6 arithmetic instructions per request */
    double atomics; /* atomics per ns, in all of L2 */
    double deep;    /* additions per ns by lanes of one warp at one address */
    double hot_ns, hot_int_ns; /* ns per floating-point addition, and per integer addition, in a contended sector */
    double together;           /* p of the p-norm that combines concurrent times: 1 is the sum, infinity the longest */
} H = {
    .again_us = 1.71,
    .first_us = -0.684,
    .wait = {11.5, 18.9, 149, 124, 0.575, 0.193, 177, 3459},
    .memory_ns = 27.3,
    .block_ns = 3.45,
    .tail = 0.41,
    .l2_share = 1.16,
    .l2_line = 0.922,
    .l2_own = 2.51,
    .dram_share = 1.02,
    .cached = 13.6e6,
    .lookups = 9.65,
    .steps = 0.662,
    .atomics = 151,
    .deep = 34.4,
    .hot_ns = 2.42,
    .hot_int_ns = 0.664,
    .together = 1.2,
};

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* How much faster the clock of g is than that of the GPU of the fit. Latencies are assumed to take as many clocks as on
   that GPU. */
static double clock_ratio(const struct machine *g)
{
    return g->is.clock_ghz / machine_reference().is.clock_ghz;
}

/* The time in us of a block with these waits. `missed` is the fraction of first accesses to a sector for which L2 no
   longer held the sector. */
static double life(const struct machine *g, const double *wait, double missed)
{
    double ns = wait[WAIT_FIRST] * missed * H.memory_ns;
    for (int k = 0; k < WAITS; k++) ns += wait[k] * H.wait[k];
    return ns / clock_ratio(g) / 1000;
}

const char *const residency_limit_names[RESIDENCY_LIMITS] = {"blocks", "threads", "shared memory", "registers"};

/* The number of blocks of so many warps for which there are registers. Each quarter of a multiprocessor has a quarter
   of the registers for its warps; a warp takes 256 registers or a multiple. */
static double fit_in_registers(const struct machine *g, int64_t registers, int64_t warps)
{
    enum { QUARTERS = 4, UNIT = 256 };
    int64_t of_warp = (registers * LANES + UNIT - 1) / UNIT * UNIT;
    if (!of_warp) return INFINITY;
    return (double)(g->is.registers / QUARTERS / of_warp * QUARTERS / warps);
}

struct residency model_residency(const struct machine *g, const struct work *w)
{
    int64_t threads = w->threads < 1 ? 1 : w->threads > g->is.threads ? g->is.threads : w->threads;
    int64_t warps = (threads + LANES - 1) / LANES, slots = g->is.threads / LANES;
    /* a block needs 1 kB of shared memory for itself */
    double fit[RESIDENCY_LIMITS] = {[LIMITED_BY_BLOCKS] = g->is.blocks,
                                    [LIMITED_BY_THREADS] = (double)(slots / warps),
                                    [LIMITED_BY_SHARED] =
                                        floor(g->is.shared_kb * 1024 / ((double)w->shared_bytes + 1024)),
                                    [LIMITED_BY_REGISTERS] = fit_in_registers(g, w->registers, warps)};
    struct residency r = {.by = LIMITED_BY_THREADS};
    for (int k = 0; k < RESIDENCY_LIMITS; k++)
        if (fit[k] < fit[r.by]) r.by = (enum residency_limit)k;
    r.blocks = most(1, fit[r.by]);
    r.share = fmin(1, r.blocks * (double)warps / (double)slots);
    return r;
}

const struct work *workload_busiest(const struct workload *w)
{
    const struct work *most = w->launch;
    for (int l = 1; l < w->n; l++)
        if (w->launch[l].steps > most->steps) most = &w->launch[l];
    return most;
}

double model_resident(const struct machine *g, const struct work *w)
{
    return model_residency(g, w).blocks;
}

/* The number of multiprocessors that are busy all the time: if one has two blocks and the others have one, half of
   them. */
static double busy_sms(const struct machine *g, const struct work *w)
{
    return (double)w->blocks / ceil((double)w->blocks / g->sms);
}

/* The time in us that L2 takes to deliver and receive the sectors. Few multiprocessors do not reach its bandwidth. */
static double l2_us(const struct work *w, const struct machine *g)
{
    double sectors = w->l2_loads + w->l2_stores + H.l2_line * w->l2_lines;
    double few = most(1, g->sms / (busy_sms(g, w) * H.l2_own));
    return few * sectors * SECTOR / (H.l2_share * g->c.cache_gbs) / 1000;
}

/* Atomics are done by L2, so their rate grows with what L2 delivers. */
static double atomic_ratio(const struct machine *g)
{
    return g->c.cache_gbs / machine_reference().c.cache_gbs;
}

static double chains(const struct work *w, const struct machine *g, double missed, bool shares)
{
    double slots = g->sms * model_resident(g, w);
    double all = life(g, w->wait, missed) + (double)w->blocks * H.block_ns / clock_ratio(g) / 1000;
    if (shares) return all / slots;
    if ((double)w->blocks <= slots)
        return 0; /* all blocks run at the same time, so the longest block determines the time */
    return all / slots + H.tail * all / (double)w->blocks;
}

/* The fraction of a launch's first accesses that come from memory, not from L2, when SpMVs are repeated. L2 does not
   keep all data up to a limit, because it replaces lines in no particular order. */
static double share_missed(const struct workload *w, const struct machine *g)
{
    struct gpu_facts fitted = machine_reference().is;
    double cached = H.cached * (g->is.l2_mb / g->is.l2_copies) / (fitted.l2_mb / fitted.l2_copies);
    double times = w->footprint / cached;
    return times * times / (1 + times * times);
}

struct sm_costs model_sm_costs(const struct workload *w, const struct machine *g)
{
    double missed = share_missed(w, g), clock = clock_ratio(g);
    struct sm_costs c = {.issue = 1 / (H.steps * clock),
                         .block = H.block_ns / clock,
                         .l2_sector = SECTOR * g->sms / (H.l2_share * g->c.cache_gbs),
                         .memory_sector = missed * SECTOR * g->sms / (H.dram_share * g->c.read_gbs)};
    for (int k = 0; k < WAITS; k++) c.wait[k] = H.wait[k] / clock;
    c.wait[WAIT_FIRST] += missed * H.memory_ns / clock;
    return c;
}

static void bounds_of(const struct work *w, const struct machine *g, double missed, bool shares, double *us)
{
    double longest = life(g, w->longest, missed), mean = life(g, w->wait, missed) / (double)w->blocks;
    double clock = clock_ratio(g);
    bool alone = longest > 2 * mean; /* one block takes much longer than the other blocks */
    us[BOUND_LATENCY] = most(chains(w, g, missed, shares), alone ? 0 : longest);
    us[BOUND_LONGEST] = alone ? longest : 0;
    us[BOUND_DRAM] = missed * w->footprint / (H.dram_share * g->c.read_gbs) / 1000;
    us[BOUND_L2] = l2_us(w, g);
    us[BOUND_L1] = w->lines / (busy_sms(g, w) * H.lookups * clock) / 1000;
    us[BOUND_ISSUE] = w->steps / (busy_sms(g, w) * H.steps * clock) / 1000;
    us[BOUND_ATOMICS] = most(w->atomics / H.atomics, w->deep / H.deep) / atomic_ratio(g) / 1000;
    us[BOUND_HOT] = w->hot * (shares ? H.hot_int_ns : H.hot_ns) / clock / 1000;
}

static enum bound largest(const double *us)
{
    int best = 0;
    for (int k = 1; k < BOUNDS; k++)
        if (us[k] > us[best]) best = k;
    return (enum bound)best;
}

/* The time in us of the arithmetic of a launch, which does a part of the workload's arithmetic in proportion to its
   requests. */
static double flops_us(const struct workload *w, const struct work *launch, const struct machine *g)
{
    double steps = 0, gflops = w->single ? g->is.fp32_gflops : g->is.fp64_gflops;
    for (int l = 0; l < w->n; l++) steps += w->launch[l].steps;
    return steps > 0 ? w->flops * launch->steps / steps / gflops / 1000 : 0;
}

void model_terms(const struct workload *w, const struct machine *g, struct terms *out)
{
    double missed = share_missed(w, g);
    *out = (struct terms){.n = w->n};
    for (int l = 0; l < w->n; l++) {
        if (w->launch[l].blocks == 0) continue;
        bounds_of(&w->launch[l], g, missed, w->kernel->shares, out->us[l]);
        out->us[l][BOUND_FLOPS] = flops_us(w, &w->launch[l], g);
        out->launch_us += H.again_us;
        out->dram_bytes += missed * w->launch[l].footprint;
        out->l2_bytes += (w->launch[l].l2_loads + w->launch[l].l2_stores) * SECTOR;
    }
    if (out->launch_us > 0) out->launch_us = most(out->launch_us + g->c.launch_us + H.first_us, 0);
}

/* The time in us of a launch with these bounds, without the cost of launching. */
static double overlapped(const double *us)
{
    double waits = most(us[BOUND_LATENCY], us[BOUND_LONGEST]), rate = 0, p = H.together;
    for (int k = BOUND_DRAM; k <= BOUND_ATOMICS; k++) rate = most(rate, us[k]);
    return pow(pow(waits, p) + pow(rate, p) + pow(us[BOUND_HOT], p), 1 / p);
}

double terms_us(const struct terms *t)
{
    double us = t->launch_us;
    for (int l = 0; l < t->n; l++) us += overlapped(t->us[l]);
    return us;
}

struct prediction model_predict(const struct workload *w, const struct machine *g)
{
    struct terms t;
    double by[BOUNDS] = {0};
    model_terms(w, g, &t);
    struct prediction p = {
        .us = terms_us(&t), .launch_us = t.launch_us, .dram_bytes = t.dram_bytes, .l2_bytes = t.l2_bytes};
    for (int l = 0; l < t.n; l++) {
        by[largest(t.us[l])] += overlapped(t.us[l]);
        for (int k = 0; k < BOUNDS; k++) p.bound_us[k] += t.us[l][k];
    }
    p.bound = p.launch_us > p.us - p.launch_us ? BOUND_LAUNCH : largest(by);
    return p;
}
