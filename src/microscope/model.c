/* Predicts how long a kernel takes on a GPU, from the work of its launches and the measured ceilings of the GPU.

   A launch has three parts, which overlap. The first part is the time that warps spend waiting, divided by the number
   of blocks that run concurrently; it is at least as long as the longest block. The second part is the slowest of
   memory traffic, L2 traffic, L1 lookups, instructions and atomics. The third part is the queue at the address with the
   most atomics. A launch takes longer than the longest of these parts, and less than their sum. */

#include "model.h"
#include "base/base.h"
#include "machine/kernel.h"

#include <math.h>
#include <string.h>

const char *const bound_names[BOUNDS + 1] = {
    "latency",      "longest block", "memory bandwidth", "L2 bandwidth",          "L1 lookups",
    "instructions", "arithmetic",    "atomics",          "atomics in one sector", "launch"};

/* These constants and those of model_fits.def were fitted by tests/bench/fit_model.py to the times of all kernels on
   two thirds of 91 matrices, on H200s and an H100, in fp64 and fp32. tests/bench/bench_model.c reports the errors. */
static const struct {
    double again_us;     /* time per launch to start, fill and drain the multiprocessors */
    double first_us;     /* added for the first launch, with launch_share of the measured time of an empty launch */
    double launch_share; /* an empty launch ends later than the launch of a kernel begins its work */
    double wait[WAITS];  /* ns, see enum wait; the values include the dependent arithmetic. The wait at a barrier
                            includes the time from the arrival of the first warp to that of the last */
    double memory_ns;    /* added to WAIT_FIRST if L2 did not keep the sector */
    double single;       /* the waits of a kernel in fp32 / in fp64 */
    double block_ns;     /* time to start and end a block */
    double start_ns;     /* between the starts of two blocks of a launch, on all multiprocessors */
    double tail;         /* time of the last wave of blocks / time of an average block */
    double alone;        /* the waits of the longest block, while others have ended, / those while they run */
    double l2_share;     /* bandwidth of sectors, without the lookup of their lines / the ceiling for cache reads */
    double l2_line;      /* the lookup of a line takes as long as this number of sectors */
    double l2_own;       /* what a multiprocessor alone can take of L2's bandwidth, in shares of an equal division */
    double dram_share;   /* bandwidth of reads from memory / the ceiling for streaming reads */
    double x_share;      /* the part of L2 that elements of x keep while the matrix streams by */
    double full_first,
        full_last;  /* the size of the data / that of L2 when the first, and the last part of L2 is full */
    double random;  /* sectors read once: a cache of this share of L2 that replaces at random misses as many, */
    double stays;   /* but at least this share of L2 stays */
    double uneven;  /* how much more data than its share a part of L2 gets */
    double lookups; /* lines that an L1 looks up per ns */
    double steps;   /* requests that a multiprocessor issues per ns, with about 6 arithmetic instructions per request */
    double atomics; /* sectors that all of L2 updates per ns */
    double hot_ns, hot_int_ns; /* ns per floating-point addition, and per integer addition, in a contended sector */
    double together;           /* p of the p-norm that combines concurrent times: 1 is the sum, infinity the longest */
} H = {
    .again_us = 2.22,
    .first_us = -0.798,
    .launch_share = 0.728,
    .wait = {5.3, 16.7, 90.3, 90.3, 1.3, 2.03, 280, 2.07e+03},
    .memory_ns = 103,
    .single = 0.964,
    .block_ns = 3.8,
    .start_ns = 0.6,
    .tail = 1.72,
    .alone = 1.64,
    .l2_share = 1.2,
    .l2_line = 0.711,
    .l2_own = 1.45,
    .dram_share = 1.05,
    .x_share = 0.5,
    .full_first = 0.7,
    .full_last = 0.92,
    .random = 0.56,
    .stays = 0.28,
    .uneven = 0.3,
    .lookups = 3.05,
    .steps = 0.655,
    .atomics = 56.4,
    .hot_ns = 1.05,
    .hot_int_ns = 0.701,
    .together = 1.33,
};

/* What the constants leave out differs from kernel to kernel: the instructions between two requests, and how many loads
   are in flight. A kernel that is not in model_fits.def has factors of 1. */
static const struct kernel_fit {
    const char *kernel;
    double chain;  /* the waits of a warp, and the instructions, as a factor */
    double alone;  /* the additional factor for the waits of the longest block */
    double rates;  /* the time of L2 traffic, lookups, instructions and atomics, as a factor */
    double memory; /* the time of memory traffic, as a factor */
    double single; /* the additional factor for waits in fp32 */
    double us;     /* added to the launch */
} fits[] = {
#define KERNEL_FIT(kernel, chain, alone, rates, memory, single, us) {kernel, chain, alone, rates, memory, single, us},
#include "model_fits.def"
    /* Not fitted. The factors of csr-cusp, whose loop it has, but the chain of csc-vector and 0.25 us, so that no
       advice prefers a guess to the csr of the same rows, which needs no index. On an H200, predicted and measured
       times are 58 and 61 us on poisson3d 100, 41 and 43 on poisson2d 1000, 198 and 388 on random 1000000 16, 16519 and
       2118 on rmat 20 8. */
    KERNEL_FIT("csc-ordered", 1.718, 0.834, 0.978, 1.355, 1.047, 0.250)
#undef KERNEL_FIT
};

/* The factors for a workload. */
struct factors {
    double chain, alone, rates, memory, us;
};

static struct factors factors_of(const struct workload *w)
{
    struct factors f = {.chain = w->single ? H.single : 1, .alone = H.alone, .rates = 1, .memory = 1};
    for (int i = 0; i < COUNT(fits) && !w->plain; i++)
        if (!strcmp(fits[i].kernel, w->kernel->name)) {
            f.chain *= fits[i].chain * (w->single ? fits[i].single : 1);
            f.alone *= fits[i].alone;
            f.rates = fits[i].rates;
            f.memory = fits[i].memory;
            f.us = fits[i].us;
        }
    return f;
}

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
static double life(const struct machine *g, const struct factors *f, const double *wait, double missed)
{
    double ns = 0;
    for (int k = 0; k < WAITS; k++) ns += wait[k] * H.wait[k];
    return (f->chain * ns + wait[WAIT_FIRST] * missed * H.memory_ns) / clock_ratio(g) / 1000;
}

enum { AMPERE = 80 }; /* its compute capability */
const char *const residency_limit_names[RESIDENCY_LIMITS] = {"blocks", "threads", "shared memory", "registers"};

/* The number of blocks of `warps` warps for which there are registers. Each quarter of a multiprocessor has a quarter
   of the registers for its warps; a warp takes 256 registers or a multiple. */
static double fit_in_registers(const struct machine *g, int64_t registers, int64_t warps)
{
    enum { QUARTERS = 4, UNIT = 256 };
    int64_t of_warp = (registers * LANES + UNIT - 1) / UNIT * UNIT;
    if (!of_warp) return INFINITY;
    return (double)(g->is.registers / QUARTERS / of_warp * QUARTERS / warps);
}

/* The number of blocks for which there is shared memory, which a block takes in units. Since Ampere, the system takes
   1 KB of each block's; a profile states what one block can use, which is less than all by that. */
static double fit_in_shared(const struct machine *g, int64_t bytes)
{
    bool since_ampere = g->is.capability >= AMPERE;
    int64_t unit = since_ampere ? 128 : 256, of_system = since_ampere ? 1024 : 0;
    int64_t of_block = (bytes + of_system + unit - 1) / unit * unit;
    return of_block ? floor((g->is.shared_kb * 1024 + (double)of_system) / (double)of_block) : INFINITY;
}

struct residency model_residency(const struct machine *g, const struct work *w)
{
    int64_t threads = w->threads < 1 ? 1 : w->threads > g->is.threads ? g->is.threads : w->threads;
    int64_t warps = (threads + LANES - 1) / LANES, slots = g->is.threads / LANES;
    double fit[RESIDENCY_LIMITS] = {[LIMITED_BY_BLOCKS] = g->is.blocks,
                                    [LIMITED_BY_THREADS] = (double)(slots / warps),
                                    [LIMITED_BY_SHARED] = fit_in_shared(g, w->shared_bytes),
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

/* The time in us of all atomics. L2 updates a sector for all lanes with different addresses in it at once. */
static double atomics_us(const struct work *w, const struct machine *g, const struct factors *f)
{
    return f->rates * w->atomic_sectors / (H.atomics * atomic_ratio(g)) / 1000;
}

static double chains(const struct work *w, const struct machine *g, const struct factors *f, double missed, bool shares)
{
    double slots = g->sms * model_resident(g, w);
    double all = life(g, f, w->wait, missed) + (double)w->blocks * H.block_ns / clock_ratio(g) / 1000;
    if (shares) return all / slots;
    if ((double)w->blocks <= slots)
        return 0; /* all blocks run at the same time, so the longest block determines the time */
    return all / slots + H.tail * all / (double)w->blocks;
}

/* The fraction of first accesses that come from memory, not from L2, when SpMVs are repeated and the data are `times`
   as large as a cache that replaces sectors at random: of n sectors read again and again, a sector survives the m n
   misses until it is read again in a cache of c sectors with probability (1 - 1/c)^(m n) = exp(-m n/c). So 1 - m =
   exp(-m n/c), whose solution is m = 0 if the data fit, and else found by repetition. */
static double missed_at(double times)
{
    enum { ROUNDS = 60 };
    double hit = exp(-times);
    for (int i = 0; i < ROUNDS; i++) hit = exp(-times * (1 - hit));
    return 1 - hit;
}

double model_lost(const struct machine *g, double bytes)
{
    double size = bytes / (1e6 * g->is.l2_mb);
    return fmin(1, most(0, (size - H.full_first) / (H.full_last - H.full_first)));
}

/* L2 keeps what was read last. Data that are read in the same order again and again are then either kept or, if they
   are larger than L2, always evicted just before they are read again. The parts of L2 do not get equal shares, so that
   some parts are full before the others. Sectors that a kernel marks as read once are replaced first: they replace one
   another, and a part of them stays. */
static double share_missed(const struct workload *w, const struct machine *g)
{
    double size = w->in_lines / (1e6 * g->is.l2_mb);
    double once = missed_at(size / H.random) * 0.5 + missed_at(size / H.random * (1 + H.uneven)) * 0.25 +
                  missed_at(size / H.random / (1 + H.uneven)) * 0.25;
    once = most(0, fmin(once, 1 - H.stays / size));
    return w->once * once + (1 - w->once) * model_lost(g, w->in_lines);
}

double model_x_sectors(const struct machine *g)
{
    return H.x_share * 1e6 * g->is.l2_mb / SECTOR;
}

double model_stream_gbs(const struct machine *g)
{
    return H.dram_share * g->c.read_gbs;
}

/* The bytes of memory bandwidth that a sector takes which is read alone. */
static double alone_bytes(const struct machine *g)
{
    return g->c.read_gbs / g->c.gather_gps;
}

/* The sectors of x that launch l reads from memory again. */
static double again_in(const struct workload *w, int l)
{
    double gathered = 0, of = w->launch[l].gathered;
    for (int k = 0; k < w->n; k++) gathered += w->launch[k].gathered;
    return gathered > 0 ? w->again * of / gathered : 0;
}

/* Does one block of the launch take much longer than the others? */
static bool is_alone(const struct work *w, const struct machine *g, const struct factors *f, double missed)
{
    return f->alone * life(g, f, w->longest, missed) > 2 * life(g, f, w->wait, missed) / (double)w->blocks;
}

struct latencies model_latencies(const struct machine *g)
{
    double clock = clock_ratio(g);
    return (struct latencies){H.wait[WAIT_L1] / clock, H.wait[WAIT_L2] / clock,
                              (H.wait[WAIT_FIRST] + H.memory_ns) / clock};
}

struct sm_costs model_sm_costs(const struct workload *w, const struct machine *g)
{
    struct factors f = factors_of(w);
    double missed = share_missed(w, g), clock = clock_ratio(g);
    if (is_alone(workload_busiest(w), g, &f, missed)) f.chain *= f.alone;
    struct sm_costs c = {.issue = f.chain / (H.steps * clock),
                         .block = H.block_ns / clock,
                         .l2_sector = SECTOR * g->sms / (H.l2_share * g->c.cache_gbs),
                         .memory_sector = missed * SECTOR * g->sms / model_stream_gbs(g)};
    for (int k = 0; k < WAITS; k++) c.wait[k] = f.chain * H.wait[k] / clock;
    c.wait[WAIT_FIRST] += missed * H.memory_ns / clock;
    return c;
}

/* The time in us of `moved` bytes from memory, which use as much bandwidth as `bytes` that are read in a row. The fit
   would make some kernels faster than the memory can be. */
static double memory_us(const struct machine *g, const struct factors *f, double moved, double bytes)
{
    return most(f->memory * bytes / model_stream_gbs(g), moved / g->is.memory_gbs) / 1000;
}

static void bounds_of(const struct work *w, const struct machine *g, const struct factors *f, double missed,
                      bool shares, double *us)
{
    double longest = f->alone * life(g, f, w->longest, missed), clock = clock_ratio(g);
    bool alone = is_alone(w, g, f, missed);
    us[BOUND_LATENCY] = most(chains(w, g, f, missed, shares), alone ? 0 : longest);
    us[BOUND_LONGEST] = alone ? longest : 0;
    us[BOUND_L2] = f->rates * l2_us(w, g);
    us[BOUND_L1] = f->rates * w->lines / (busy_sms(g, w) * H.lookups * clock) / 1000;
    us[BOUND_ISSUE] = f->rates * f->chain * w->steps / (busy_sms(g, w) * H.steps * clock) / 1000;
    us[BOUND_ATOMICS] = atomics_us(w, g, f);
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

/* The cost of launching n launches. */
static double launching_us(const struct factors *f, int n, const struct machine *g)
{
    return n ? most(model_launches_us(n, g) + f->us, 0) : 0;
}

double model_launches_us(int64_t n, const struct machine *g)
{
    return n ? most((double)n * H.again_us + H.launch_share * g->c.launch_us + H.first_us, 0) : 0;
}

void model_terms(const struct workload *w, const struct machine *g, struct terms *out)
{
    struct factors f = factors_of(w);
    double missed = share_missed(w, g);
    *out = (struct terms){.n = w->n};
    for (int l = 0; l < w->n; l++) {
        if (w->launch[l].blocks == 0) continue;
        double bytes = missed * w->launch[l].footprint, again = again_in(w, l) + missed * w->launch[l].lost;
        bounds_of(&w->launch[l], g, &f, missed, w->kernel->shares, out->us[l]);
        out->us[l][BOUND_DRAM] = memory_us(g, &f, bytes + again * SECTOR, bytes + again * alone_bytes(g));
        out->us[l][BOUND_FLOPS] = flops_us(w, &w->launch[l], g);
        out->launches++;
        out->dram_bytes += bytes + again * SECTOR;
        out->l2_bytes += (w->launch[l].l2_loads + w->launch[l].l2_stores) * SECTOR;
    }
    out->launch_us = launching_us(&f, out->launches, g);
}

/* The least time in us of a warp that gathers x for n entries, one per lane. */
static double warp_least_us(const struct factors *f, int64_t n, const struct machine *g)
{
    double steps = (double)n / LANES;
    return fmin(1, f->alone) * f->chain * H.wait[WAIT_STEP] * steps / clock_ratio(g) / 1000;
}

double model_least_us(const struct kernel *k, int64_t bytes, int64_t row, bool single, const struct machine *g)
{
    struct workload w = {.kernel = k, .single = single, .in_lines = (double)bytes, .once = 1};
    struct work one = {.blocks = g->sms, .l2_loads = (double)bytes / SECTOR, .l2_lines = (double)bytes / LINE};
    struct factors f = factors_of(&w);
    double moved = fmin(share_missed(&w, g), model_lost(g, w.in_lines)) * (double)bytes;
    double rate = most(f.rates * l2_us(&one, g), memory_us(g, &f, moved, moved));
    return launching_us(&f, 1, g) + most(rate, warp_least_us(&f, row, g));
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

/* ---- without a cause ---- */

/* How often the blocks of a launch fill the multiprocessors. */
static double waves_of(const struct work *w, const struct machine *g)
{
    return most(1, (double)w->blocks / (g->sms * model_resident(g, w)));
}

/* The time of a launch up to a factor. Blocks that start together wait together and then use the same part of their
   multiprocessor, so that in one wave, waits and work follow each other. The blocks of many waves are out of step: one
   waits while another works, so that the shorter time is hidden, except in one wave, at the start and at the end. The
   queue at one sector is not hidden. The blocks of a launch start one after another, which the fitted waits and
   instructions of kernels with many small blocks include; but that time is hidden by nothing else, and hides both. */
static double in_step(const double *us, double starts, double waves)
{
    double waits = most(us[BOUND_LATENCY], us[BOUND_LONGEST]), rate = starts;
    for (int k = BOUND_DRAM; k <= BOUND_ATOMICS; k++) rate = most(rate, us[k]);
    return most(waits, rate) + fmin(waits, rate) / waves + us[BOUND_HOT];
}

double model_without(const struct workload *w, const struct workload *without, const struct machine *g)
{
    struct terms t, u;
    model_terms(w, g, &t);
    model_terms(without, g, &u);
    double us = u.launch_us, start = H.start_ns / clock_ratio(g) / 1000;
    for (int l = 0; l < t.n; l++) {
        const struct work *a = &w->launch[l], *b = &without->launch[l];
        double waves = a->blocks ? waves_of(a, g) : 1, all = in_step(t.us[l], (double)a->blocks * start, waves);
        if (all > 0) us += overlapped(t.us[l]) * in_step(u.us[l], (double)b->blocks * start, waves) / all;
    }
    return us;
}

/* In a graph, a product of one launch takes the time of its work and this much more. AFTER_US was fitted to
   csr-adaptive, csr-ends, csr-cusp and csr-stream on 44 real matrices on an H200 (median error 11 %, mean 16 %).
   Without overlap of the launches, the best kernels took 0.5 us more there. */
static const double AFTER_US = 0.6, AFTER_ALONE_US = 1.1;
enum { OVERLAPS_FROM = 90 }; /* the compute capability of Hopper */

static double chain_us(const struct workload *w, const struct machine *g, const struct terms *t)
{
    if (t->launches != 1 || g->is.capability < OVERLAPS_FROM) return NAN;
    return terms_us(t) - t->launch_us + (w->kernel->follows ? AFTER_US : AFTER_ALONE_US);
}

struct prediction model_predict(const struct workload *w, const struct machine *g)
{
    struct terms t;
    double by[BOUNDS] = {0};
    model_terms(w, g, &t);
    struct prediction p = {.us = terms_us(&t),
                           .launch_us = t.launch_us,
                           .chain_us = chain_us(w, g, &t),
                           .dram_bytes = t.dram_bytes,
                           .l2_bytes = t.l2_bytes};
    for (int l = 0; l < t.n; l++) {
        by[largest(t.us[l])] += overlapped(t.us[l]);
        for (int k = 0; k < BOUNDS; k++) p.bound_us[k] += t.us[l][k];
    }
    p.bound = p.launch_us > p.us - p.launch_us ? BOUND_LAUNCH : largest(by);
    return p;
}
