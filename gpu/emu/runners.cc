/* The runners, one per host thread, and the launch settings that they share. */
#include "base/loop.h"
#include "simt_runner.h"

namespace simt
{

constinit thread_local machine now = {};

launch_settings settings;
/* One entry per host thread; runners[0] is NULL, because the launching thread has first_runner. */
static runner *runners[RUNNERS];
static runner first_runner;
constinit thread_local runner *m = &first_runner;
std::atomic<bool> cancelled;

static struct loop grid; /* the loop over the blocks of the launch */

void watch_grid(int64_t blocks)
{
    grid = loop_of(m->kernel, blocks);
}

static bool goes_on()
{
    if (settings.scope && scope_traced(settings.scope)) return false;
    if (settings.scope) return scope_tick(settings.scope, m->block, grid.total, &m->err);
    return loop_check(&grid, m->block) || loop_end(&grid, &m->err);
}

/* The launching thread calls the user's watch function, which returns whether to continue; the other threads read the
   stored answer. */
void check_cancel()
{
    now.left = ACCESSES_PER_CHECK;
    if (m == &first_runner && !m->broken && !goes_on()) cancelled = true;
    if (cancelled) m->broken = true;
}

int make_runners(int threads)
{
    for (int t = 1; t < threads; t++) {
        if (!runners[t])
            runners[t] = static_cast<runner *>(mem_zero(1, sizeof(runner), "a thread of the emulator", nullptr));
        if (!runners[t]) return t;
    }
    return threads;
}

void use_runner(int thread)
{
    if (thread > 0) m = runners[thread];
}

void discard_stacks(runner *r)
{
    for (int k = 0; r->f && k < BLOCK_MAX; k++) r->f[k].ready = false;
}

void gather_findings()
{
    for (int t = 1; t < RUNNERS; t++) {
        runner *r = runners[t];
        if (!r || !r->broken) continue;
        if (!cancelled && (!m->broken || r->block < m->block))
            m->err = r->err, m->finding = r->finding, m->block = r->block;
        m->broken = true;
        r->broken = false;
        err_clear(&r->err);
        discard_stacks(r);
    }
}

void runner_free(runner *r)
{
    mem_free(r->f);
    stacks_free(r->stacks);
    mem_free(r->shared);
    mem_free(r->notes);
    r->f = nullptr, r->stacks = r->shared = nullptr, r->notes = nullptr;
}

void free_runners()
{
    runner_free(m);
    for (auto *&r : runners) {
        if (r) runner_free(r);
        mem_free(r);
        r = nullptr;
    }
    now.shared = nullptr;
}

} // namespace simt
