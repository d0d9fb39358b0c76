/* The emulator's launches: blocks on the threads of the host, the scheduler of a block, findings. */
#include "simt_runner.h"
#include "matrix/random.h"
#include "races.h"

#include <cstdio>
#include <unistd.h>

namespace simt
{

constinit thread_local machine now = {};

orders given;
static runner *runners[RUNNERS]; /* by number of the host's thread; the first is that of whoever launches */
static runner first_runner;
constinit thread_local runner *m = &first_runner;
std::atomic<bool> halt;

/* ---- findings ---- */

static void record(source at, const char *fmt, va_list ap)
{
    char where[sizeof m->err.where], text[400];
    snprintf(where, sizeof where, "%s:%u", scope_file_name(at.file_name()), at.line());
    vsnprintf(text, sizeof text, fmt, ap);
    if (now.self)
        fail_at(&m->err, E_DEVICE, where, "%s: block %u, thread %u: %s", m->kernel, now.block.x, now.self->number,
                text);
    else
        fail_at(&m->err, E_DEVICE, where, "%s: block %u: %s", m->kernel, now.block.x, text);
    m->broken = true;
}

void found(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(at, fmt, ap);
    va_end(ap);
    give_way();
    __builtin_trap(); /* a lane of a broken launch is never resumed */
}

/* Of the lane now.self, which does not run now. */
void found_by(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    record(at, fmt, ap);
    va_end(ap);
}

/* The scheduler's own findings: no lane runs. */
void found_by_scheduler(source at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    now.self = nullptr;
    record(at, fmt, ap);
    va_end(ap);
}

/* ---- the scheduler ---- */

/* The thread that launched asks now and then whether to go on, and tells all others. */
void tick()
{
    int64_t blocks = static_cast<int64_t>(now.grid_dim.x) * now.grid_dim.y * now.grid_dim.z;
    if (m == &first_runner && given.scope && !m->broken && !scope_tick(given.scope, m->block, blocks, &m->err))
        halt = true;
    if (halt) m->broken = true;
}

enum { TURNS_A_TICK = 1024 }; /* of the lanes of a warp: well below a millisecond together */

/* One turn for every lane of order[from] .. order[upto - 1] that can run; false when none could. */
static bool turn_of(unsigned from)
{
    m->at = from;
    fiber *f = next_runnable();
    if (!f) return false;
    now.self = &f->l;
    leave_for(&m->scheduler, &f->c);
    if (++m->turns % TURNS_A_TICK == 0) tick();
    return true;
}

/* Let lanes run until all wait or have returned, a warp after the other: its stacks then stay in the cache. Where turns
   are dealt by a seed, all of the block together. false when none could run. */
static bool pass()
{
    unsigned stride = given.seed ? m->threads : WARP;
    bool any = false;
    for (unsigned from = 0; from < m->threads && !m->broken; from += stride) {
        m->upto = min(from + stride, m->threads);
        while (!m->broken && turn_of(from)) any = true;
    }
    return any;
}

static unsigned count(enum wait w)
{
    unsigned n = 0;
    for (unsigned k = 0; k < m->threads; k++) n += m->f[k].l.wait == w;
    return n;
}

static const lane *first(enum wait w)
{
    for (unsigned k = 0; k < m->threads; k++)
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
        found_by_scheduler(l->at, "%s waits for ever: lane %u of warp %u is here with mask %08x, the others are not",
                           collective_names[l->x.what], in_warp(l), l->number / WARP, l->x.mask);
}

/* Everybody waits: let a complete barrier go, or say why nobody ever will. */
static void open_barrier()
{
    const lane *b = first(AT_BARRIER), *x = first(AT_EXCHANGE);
    if (x) {
        never_complete(x);
        return;
    }
    if (count(RETURNED)) {
        found_by_scheduler(b->at, "__syncthreads: thread %u waits here, but thread %u has returned", b->number,
                           first(RETURNED)->number);
        return;
    }
    for (unsigned k = 0; k < m->threads; k++) {
        lane &o = m->f[k].l;
        if (!same_place(o.at, b->at)) {
            found_by_scheduler(b->at, "__syncthreads: thread %u waits here, thread %u at line %u", b->number, o.number,
                               o.at.line());
            return;
        }
        o.wait = RUNS;
    }
    if (given.races) races_barrier();
}

static void start_lanes()
{
    m->shared_used = 0;
    for (unsigned w = 0; w * WARP < m->threads; w++) m->warps[w].gone = m->warps[w].used = 0;
    if (m->threads % WARP) m->warps[m->threads / WARP].gone = ~0u << m->threads % WARP;
    for (unsigned k = 0; k < m->threads; k++) {
        lane &l = m->f[k].l;
        l.number = k;
        l.tid =
            dim3(k % now.block_dim.x, k / now.block_dim.x % now.block_dim.y, k / (now.block_dim.x * now.block_dim.y));
        l.wait = RUNS;
        l.shared_at = 0;
        l.unroll = 1;
    }
}

static void run_block()
{
    start_lanes();
    while (!m->broken) {
        if (pass() || make_room() || let_atomics()) continue;
        if (tell_race() || count(RETURNED) == m->threads) break;
        open_barrier();
    }
    tell_race(); /* before what it may have led to */
    if (m->watch) end_watch();
}

/* The order in which lanes get their turn: as numbered, or dealt by the seed. */
static void deal_order()
{
    uint64_t state = given.seed;
    for (unsigned k = 0; k < m->threads; k++) m->order[k] = k;
    for (unsigned k = m->threads; given.seed && k > 1; k--)
        std::swap(m->order[k - 1], m->order[random_next(&state) % k]);
}

static bool begin(const char *kernel, dim3 grid, dim3 block)
{
    m->kernel = given.name ? given.name : kernel;
    now.self = nullptr, now.block = dim3(0, 0, 0), now.block_dim = block, now.grid_dim = grid, now.watched = false;
    m->threads = block.x * block.y * block.z;
    if (!make_fibers()) return m->broken = true, false;
    if (m->threads == 0 || m->threads > BLOCK_MOST) {
        m->threads = 0;
        fail(&m->err, E_DEVICE, "%s: a block has 1 to %d threads, this one %u x %u x %u", m->kernel, +BLOCK_MOST,
             block.x, block.y, block.z);
        return m->broken = true, false;
    }
    deal_order();
    own_stack(&m->scheduler);
    return true;
}

/* Block number b of the grid, which is watched by `watch` if that is not NULL. */
static void one_block(int64_t b, dim3 grid, scope_run *watch, int thread)
{
    enum scope_block what = watch ? scope_block(watch, b) : SCOPE_RUN;
    if (what == SCOPE_SKIP || m->broken) return;
    m->block = b;
    tick();
    if (m->broken) return;
    m->watch = what == SCOPE_WATCH ? scope_thread_of(watch, thread) : nullptr;
    if (what == SCOPE_WATCH && (!m->watch || !make_notes())) {
        if (!m->err.code) fail(&m->err, E_MEMORY, "%s: no memory to watch it", m->kernel);
        m->broken = true;
        return;
    }
    for (unsigned k = 0; m->watch && k < (m->threads + WARP - 1) / WARP * WARP; k++)
        m->log[k].n = m->log[k].next = 0; /* a block that was cut short leaves notes */
    now.watched = m->watch || given.races;
    forget_race();
    if (given.races) races_block(m->threads);
    int64_t row = b / grid.x;
    now.block = dim3(static_cast<unsigned>(b % grid.x), static_cast<unsigned>(row % grid.y),
                     static_cast<unsigned>(row / grid.y));
    run_block();
}

/* How many of so many threads there are runners for. */
static int make_runners(int threads)
{
    for (int t = 1; t < threads; t++) {
        if (!runners[t])
            runners[t] = static_cast<runner *>(mem_zero(1, sizeof(runner), "a thread of the emulator", nullptr));
        if (!runners[t]) return t;
    }
    return threads;
}

static void forget_stacks(runner *r)
{
    for (int k = 0; r->f && k < BLOCK_MOST; k++) r->f[k].ready = false; /* kernels cut short left their stacks */
}

/* What other threads found goes to the first one: that of the lowest block, as if they had come in order. */
static void gather_findings()
{
    for (int t = 1; t < RUNNERS; t++) {
        runner *r = runners[t];
        if (!r || !r->broken) continue;
        if (!halt && (!m->broken || r->block < m->block)) m->err = r->err, m->block = r->block;
        m->broken = true;
        r->broken = false;
        err_clear(&r->err);
        forget_stacks(r);
    }
}

/* Blocks for which it does not pay to wake other threads. */
enum { THREADS_ALONE = 1 << 12 };

static int host_threads_for(int64_t blocks, const scope_run *watch)
{
    bool alone = !given.side_by_side || given.seed || given.races || (watch && scope_alone(watch)) || omp_in_parallel();
    if (alone || blocks < 2 || blocks * m->threads < THREADS_ALONE) return 1;
    return min(omp_get_max_threads(), +RUNNERS);
}

static void run_grid(const char *kernel, dim3 grid, dim3 block, void (*body)(void *), void *ctx, scope_run *watch)
{
    int64_t blocks = static_cast<int64_t>(grid.x) * grid.y * grid.z;
    int threads = make_runners(host_threads_for(blocks, watch));
    std::atomic<bool> broken(false);
    std::atomic<int> at_work(0);
    halt = false;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        int t = threads > 1 ? omp_get_thread_num() : 0;
        if (t > 0) m = runners[t], begin(kernel, grid, block);
        m->body = body, m->ctx = ctx;
#pragma omp single
        at_work = omp_get_num_threads();
#pragma omp for schedule(dynamic, 1) nowait
        for (int64_t b = 0; b < blocks; b++) {
            if (!broken) one_block(b, grid, watch, t);
            if (m->broken) broken = true;
        }
        at_work--;
        while (t == 0 && watch && at_work && !halt) { /* the others are not done */
            usleep(2000);
            tick();
        }
        now.self = nullptr;
        now.watched = false;
    }
    if (threads > 1) gather_findings();
}

void launch(const char *kernel, const char *function, dim3 grid, dim3 block, void (*body)(void *), void *ctx)
{
    int64_t blocks = static_cast<int64_t>(grid.x) * grid.y * grid.z;
    if (m->broken || !begin(kernel, grid, block)) return;
    bool watched = given.scope && given.scope_kernel && scope_begin(given.scope, kernel, function, blocks, m->threads);
    run_grid(kernel, grid, block, body, ctx, watched ? given.scope : nullptr);
}

} // namespace simt

/* ---- for the device ---- */

using simt::given;
using simt::m;

bool emu_sync(struct err *e)
{
    if (!m->broken) return true;
    if (e && !e->code) *e = m->err;
    err_clear(&m->err);
    m->broken = false;
    simt::forget_stacks(m);
    return false;
}

void emu_order(uint64_t seed)
{
    given.seed = seed;
}

void emu_name(const char *kernel)
{
    given.name = kernel;
}

void emu_side_by_side(bool on)
{
    given.side_by_side = on;
}

void emu_scope(struct scope_run *run)
{
    given.scope = run;
    given.scope_kernel = false;
}

void emu_scope_kernel(bool on)
{
    given.scope_kernel = on;
}

void emu_races(bool on)
{
    given.races = on;
}

void emu_close(void)
{
    races_close();
    simt::runner_free(m);
    for (auto *&r : simt::runners) {
        if (r) simt::runner_free(r);
        mem_free(r);
        r = nullptr;
    }
    simt::now.shared = nullptr;
}
