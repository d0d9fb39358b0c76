/* The emulator's launches: blocks on the threads of the host, and the scheduler of a block. */
#include "machine/remote.h"
#include "matrix/random.h"
#include "races.h"
#include "simt_runner.h"

#include <cstdio>
#include <sched.h>
#include <unistd.h>

namespace simt
{

/* ---- the scheduler ---- */

/* Run the lanes of order[from] .. order[upto - 1] that can run, each until it waits; false: no lane could run. */
static bool run_lanes(unsigned from)
{
    m->from = m->at = from;
    fiber *f = next_runnable();
    if (!f) return false;
    now.self = &f->l;
    switch_stack(&m->scheduler, &f->c);
    if (++m->resumes % RESUMES_PER_CHECK == 0) check_cancel();
    return true;
}

/* The warp of the running block that is traced, and runs first; -1: none. */
static int first_warp()
{
    return m->watch && !settings.seed ? scope_first_warp(settings.scope) : -1;
}

static bool first_returned()
{
    int w = first_warp();
    return w >= 0 && m->warps[w].gone == ~0u;
}

/* Run the lanes of one warp until all wait or have returned; with a seed, all lanes of the block in the shuffled order.
   false: no lane could run. */
static bool run_warp(unsigned from, unsigned stride)
{
    bool any = false;
    m->upto = min(from + stride, m->threads);
    while (!m->broken && run_lanes(from)) any = true;
    return any;
}

/* Has the running block been watched long enough? */
static bool leaves_block()
{
    return m->watch && scope_leaves(m->watch);
}

/* Run lanes until all wait or have returned, one warp after another, so that the stacks of a warp stay in the cache.
   A traced warp runs first: if it waits for no other warp, these need not run. false: no lane could run. */
static bool run_all()
{
    unsigned stride = settings.seed ? m->threads : WARP;
    int traced = first_warp();
    bool any = false;
    for (bool more = traced >= 0; more && !m->broken; more = make_room())
        any |= run_warp(static_cast<unsigned>(traced) * WARP, WARP);
    for (unsigned from = 0; from < m->threads && !m->broken && !first_returned() && !leaves_block(); from += stride)
        any |= run_warp(from, stride);
    return any;
}

/* Lanes number from .. end - 1: of a block, or of all blocks of a cluster. */
struct lanes {
    unsigned from, end;
};

static lanes all_lanes()
{
    return {0, m->threads};
}

static lanes lanes_of(unsigned block)
{
    unsigned each = m->threads / m->blocks;
    return {block * each, (block + 1) * each};
}

static const lane *first(enum wait w, lanes of)
{
    for (unsigned k = of.from; k < of.end; k++)
        if (m->f[k].l.wait == w) return &m->f[k].l;
    return nullptr;
}

static void never_complete(const lane *l)
{
    unsigned gone = l->x.mask & m->warps[l->number / WARP].gone;
    if (gone)
        found_by_scheduler(l->at, "%s: lane %u waits with the mask %08x, which names lane %d, which %s",
                           collective_names[l->x.what], in_warp(l), l->x.mask, __builtin_ctz(gone),
                           why_gone(l, __builtin_ctz(gone)));
    else
        found_by_scheduler(
            l->at,
            "%s never completes: lane %u of warp %u waits with mask %08x, but other lanes of the mask are elsewhere",
            collective_names[l->x.what], in_warp(l), l->number / WARP, l->x.mask);
}

/* Open the barrier of these lanes if one of them waits there; a finding if not all of them wait there. false: none of
   them waits at such a barrier. */
static bool open_barrier(const char *name, enum wait w, lanes of)
{
    const lane *b = first(w, of), *gone = first(RETURNED, of);
    if (!b) return false;
    if (gone) {
        found_by_scheduler(b->at, "%s: thread %u waits here, but thread %u has returned", name, b->number,
                           gone->number);
        return true;
    }
    for (unsigned k = of.from; k < of.end; k++) {
        lane &o = m->f[k].l;
        if (o.wait != w || !same_line(o.at, b->at)) {
            found_by_scheduler(b->at, "%s: thread %u waits here, and thread %u waits at line %u", name, b->number,
                               o.number, o.at.line());
            return true;
        }
    }
    for (unsigned k = of.from; k < of.end; k++) m->f[k].l.wait = RUNS;
    if (settings.races && w == AT_CLUSTER_BARRIER) races_cluster_barrier();
    if (settings.races && w == AT_BARRIER) races_barrier(m->f[of.from].l.member);
    return true;
}

/* All lanes wait or have returned: open the barriers of the blocks whose lanes are all there, else that of the cluster,
   or report why no lane can ever continue. */
static void open_barriers()
{
    const lane *x = first(AT_COLLECTIVE, all_lanes());
    bool any = false;
    if (x) {
        never_complete(x);
        return;
    }
    for (unsigned b = 0; b < m->blocks && !m->broken; b++)
        any |= open_barrier("__syncthreads", AT_BARRIER, lanes_of(b));
    if (!any) open_barrier("cluster_sync", AT_CLUSTER_BARRIER, all_lanes());
}

static bool all_returned()
{
    for (unsigned k = 0; k < m->threads; k++)
        if (m->f[k].l.wait != RETURNED) return false;
    return true;
}

/* threadIdx of the thread after `tid`: x is the fastest. */
static dim3 next_thread(dim3 tid)
{
    if (++tid.x < now.block_dim.x) return tid;
    if (++tid.y < now.block_dim.y) return dim3(0, tid.y, tid.z);
    return dim3(0, 0, tid.z + 1);
}

static void start_lanes()
{
    unsigned each = m->threads / m->blocks, member = 0, left = each; /* threads of this member not started yet */
    dim3 tid(0, 0, 0);
    for (declared_arrays &d : m->declared) d.n = d.used = d.given = 0;
    for (unsigned w = 0; w * WARP < m->threads; w++) m->warps[w].gone = m->warps[w].used = 0;
    if (m->threads % WARP) m->warps[m->threads / WARP].gone = ~0u << m->threads % WARP;
    for (unsigned k = 0; k < m->threads; k++) {
        lane &l = m->f[k].l;
        l.number = k;
        l.member = member;
        l.block = m->blocks > 1 ? dim3(l.member) : now.block;
        l.shared = m->shared + static_cast<size_t>(l.member) * SHARED_MAX;
        l.tid = tid;
        l.wait = RUNS;
        l.unroll = 1;
        tid = --left ? next_thread(tid) : dim3(0, 0, 0);
        if (!left) member++, left = each;
    }
}

static void run_block()
{
    start_lanes();
    bool left = false;
    while (!m->broken && !left) {
        bool more = run_all() || make_room() || let_atomics();
        left = leaves_block();
        if (more || left) continue;
        if (report_race() || first_returned() || all_returned()) break;
        open_barriers();
    }
    report_race(); /* report a race before any other finding, because the race may be the cause */
    if (m->watch) end_of_notes();
    if (left) discard_stacks(m); /* its lanes have not returned */
    if (m->watch && scope_traced(settings.scope))
        check_cancel(); /* leave the launch, with lanes that have not returned */
}

/* The order in which lanes run: by number, or shuffled with the seed. */
static void choose_order()
{
    uint64_t state = settings.seed;
    for (unsigned k = 0; k < m->threads; k++) m->order[k] = k;
    for (unsigned k = m->threads; settings.seed && k > 1; k--)
        std::swap(m->order[k - 1], m->order[random_next(&state) % k]);
}

static bool begin(const char *kernel, geometry g)
{
    dim3 block = g.block;
    m->kernel = settings.name ? settings.name : kernel;
    now.self = nullptr, now.block = dim3(0, 0, 0), now.block_dim = block, now.grid_dim = g.grid;
    now.given = g.given, now.watched = false;
    m->blocks = g.cluster;
    m->threads = block.x * block.y * block.z * g.cluster;
    if (g.cluster < 1 || g.cluster > CLUSTER_BLOCKS || (g.cluster > 1 && m->threads / g.cluster % WARP)) {
        m->blocks = 1;
        m->threads = 0;
    }
    if (!make_fibers()) return m->broken = true, false;
    if (m->threads == 0 || m->threads > BLOCK_MAX) {
        m->threads = 0;
        fail(&m->err, E_DEVICE, "%s: a block of %u x %u x %u threads cannot be launched; it must have 1 to %d threads",
             m->kernel, block.x, block.y, block.z, +BLOCK_MAX);
        return m->broken = true, false;
    }
    choose_order();
    note_launch_stack(&m->scheduler);
    return true;
}

/* Run block number b of the grid. `watch` decides whether the block runs and is watched; `watch` may be NULL. */
static void one_block(int64_t b, dim3 grid, scope_run *watch, int thread)
{
    enum scope_block what = watch ? scope_block(watch, b) : SCOPE_RUN;
    if (what == SCOPE_SKIP || m->broken) return;
    m->block = b;
    check_cancel();
    if (m->broken) return;
    m->watch = what == SCOPE_WATCH ? scope_block_begin(watch, b, thread) : nullptr;
    if (what == SCOPE_WATCH && (!m->watch || !make_notes())) {
        if (!m->err.code) fail(&m->err, E_MEMORY, "%s: not enough memory to watch the kernel", m->kernel);
        m->broken = true;
        return;
    }
    if (m->watch && scope_traces(watch) && !scope_follow(watch, &m->err)) {
        m->broken = true;
        return;
    }
    for (unsigned k = 0; m->watch && k < (m->threads + WARP - 1) / WARP * WARP; k++)
        m->log[k].n = m->log[k].next = 0; /* a block that was cut short may have left notes */
    now.watched = m->watch || settings.races;
    forget_race();
    if (settings.races) races_begin(m->blocks, m->threads / m->blocks);
    int64_t row = b / grid.x;
    now.block = dim3(static_cast<unsigned>(b % grid.x), static_cast<unsigned>(row % grid.y),
                     static_cast<unsigned>(row / grid.y));
    run_block();
}

/* Below this many GPU threads, waking other host threads costs more than it gains. */
enum { PARALLEL_FROM = 1 << 12, NAP_US = 500 };
static const double SPIN_US = 200;

static int host_threads_for(int64_t blocks, const scope_run *watch)
{
    bool alone =
        !settings.side_by_side || settings.seed || settings.races || (watch && scope_alone(watch)) || omp_in_parallel();
    if (alone || blocks < 2 || blocks * m->threads < PARALLEL_FROM) return 1;
    return min(omp_get_max_threads(), +RUNNERS);
}

static std::atomic<int> at_work; /* host threads that still run blocks of the launch */

/* Blocks begin in order, so a lane waits only for blocks that have begun. If no other host thread runs a block, and did
   not when this host thread called this function before, the result never comes. */
void wait_for_blocks(source at)
{
    if (at_work == 1 && m->last) found(at, "waits for a result that no block before this block has published");
    m->last = at_work == 1;
    sched_yield();
    rest();
}

static void run_grid(const char *kernel, geometry g, void (*body)(void *), void *ctx, scope_run *watch)
{
    dim3 grid = g.grid;
    int64_t blocks = m->blocks > 1 ? 1 : static_cast<int64_t>(grid.x) * grid.y * grid.z;
    int threads = make_runners(host_threads_for(blocks, watch));
    std::atomic<bool> broken(false);
    cancelled = false;
    watch_grid(blocks);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int t = threads > 1 ? omp_get_thread_num() : 0;
        use_runner(t);
        if (t > 0) begin(kernel, g);
        m->body = body, m->ctx = ctx, m->last = false;
#pragma omp single
        at_work = omp_get_num_threads();
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t b = 0; b < blocks; b++) {
            if (!broken) one_block(b, grid, watch, t);
            if (m->broken) broken = true;
        }
        at_work--;
        double idle_from = now_us();
        while (t == 0 && at_work && !cancelled) { /* other host threads still run blocks */
            if (now_us() - idle_from > SPIN_US) usleep(NAP_US);
            check_cancel();
        }
        now.self = nullptr;
        now.watched = false;
    }
    if (threads > 1) gather_findings();
}

void launch(const char *kernel, const char *function, const void *code, geometry g, void (*body)(void *), void *ctx)
{
    char instance[sizeof scope_launch::instance] = "";
    int64_t blocks = static_cast<int64_t>(g.grid.x) * g.grid.y * g.grid.z;
    if (m->broken || !begin(kernel, g)) return;
    settings.launches++;
    bool watched = settings.scope && m->blocks == 1 && settings.scope_kernel;
    if (watched) instance_of(code, function, instance, sizeof instance);
    watched = watched && scope_begin(settings.scope, kernel, function, instance, blocks, m->threads);
    run_grid(kernel, g, body, ctx, watched ? settings.scope : nullptr);
}

} // namespace simt

/* ---- for the device ---- */

using simt::m;
using simt::settings;

void emu_last_finding(struct emu_finding *out)
{
    *out = m->broken ? m->finding : emu_finding{};
}

bool emu_sync(struct err *e)
{
    if (!m->broken) return true;
    if (e && !e->code) *e = m->err;
    err_clear(&m->err);
    m->broken = false;
    simt::discard_stacks(m);
    return false;
}

bool emu_traces(void)
{
    return settings.scope && scope_traces(settings.scope);
}

bool emu_skips(void)
{
    return settings.scope && scope_skips(settings.scope);
}

bool emu_left_early(void)
{
    return m->broken;
}

int64_t emu_launches(void)
{
    return settings.launches;
}

void emu_order(uint64_t seed)
{
    settings.seed = seed;
}

void emu_name(const char *kernel)
{
    settings.name = kernel;
}

void emu_side_by_side(bool on)
{
    settings.side_by_side = on;
}

void emu_scope(struct scope_run *run)
{
    settings.scope = run;
    settings.scope_kernel = false;
}

void emu_scope_kernel(bool on)
{
    settings.scope_kernel = on;
}

void emu_races(bool on)
{
    settings.races = on;
}

void emu_look_for_races(bool on)
{
    emu_races(on);
}

void emu_close(void)
{
    races_close();
    simt::free_runners();
}
