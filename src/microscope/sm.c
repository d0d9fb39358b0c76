/* Simulates one multiprocessor: an event is the end of what a warp does. A request needs its turn to issue, its sectors
   share the bandwidth of L2 and of memory, and a warp waits for the latencies that the cost model has fitted. */
#include "sm.h"
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "model.h"
#include "tape.h"

#include <math.h>

enum { TICK_EVERY = 4096 };

struct sim_warp {
    const struct warp_tape *tape; /* NULL: the slot has no block, or the warp has nothing to do */
    int64_t next;
    enum sm_state state;
    double since;   /* when the state began, in ns */
    double until;   /* when it ends; infinite for READY, BARRIER, FINISHED and EMPTY */
    double data_at; /* when the sectors that the warp has requested are there */
};

struct sim {
    const struct sm_costs *c;
    const struct block_tape *block[TAPE_BLOCKS];
    int nblocks, started, per_block, at_once;
    struct sim_warp warp[SM_WARPS];
    double
        start_at[SM_WARPS]; /* per slot of a block: when its next block starts; infinite: it has one, or none follows */
    double now, last_start, issue_free, l2_free, memory_free;
    int turn;      /* the slot that has issued last */
    double length; /* ns of the whole simulation; 0: not known, in the first run */
    struct sm_life *out;
    double sum[SM_STATES], any_ready; /* ns of warps, and ns */
};

/* ---- bins ---- */

static void add_to_bins(struct sim *s, int slot, enum sm_state state, double from, double to)
{
    double width = s->length / SM_BINS;
    float *bin = s->out->bin + (ptrdiff_t)slot * SM_BINS * SM_STATES;
    for (int b = (int)(from / width); b < SM_BINS && b * width < to; b++) {
        double part = fmin(to, (b + 1) * width) - fmax(from, b * width);
        if (part > 0) bin[b * SM_STATES + state] += (float)(part / width);
    }
}

static void set_state(struct sim *s, struct sim_warp *w, enum sm_state state, double until)
{
    if (s->length > 0) add_to_bins(s, (int)(w - s->warp), w->state, w->since, s->now);
    w->state = state;
    w->since = s->now;
    w->until = until;
}

/* Attribute the time until `to` to what the warps do now. */
static void pass(struct sim *s, double to)
{
    int n[SM_STATES] = {0}, stalled;
    double ns = to - s->now;
    int slots = s->at_once * s->per_block;
    for (int i = 0; i < slots; i++) n[s->warp[i].state]++;
    for (int k = 0; k < SM_STATES; k++) s->sum[k] += n[k] * ns;
    stalled = n[SM_WORKING] + n[SM_MEMORY] + n[SM_BARRIER];
    if (n[SM_READY]) s->any_ready += ns;
    for (int k = SM_WORKING; k <= SM_BARRIER && !n[SM_READY] && stalled; k++) s->out->idle[k] += ns * n[k] / stalled;
    if (!n[SM_READY] && !stalled) s->out->idle[SM_EMPTY] += ns;
    s->now = to;
}

/* ---- warps ---- */

static struct sim_warp *block_of(struct sim *s, int i)
{
    return &s->warp[i / s->per_block * s->per_block];
}

/* The warps of a block go on when all that have not returned are at the barrier. */
static void try_barrier(struct sim *s, struct sim_warp *first)
{
    bool waits = false;
    for (int k = 0; k < s->per_block; k++) {
        if (first[k].state != SM_BARRIER && first[k].state != SM_FINISHED) return;
        waits |= first[k].state == SM_BARRIER;
    }
    for (int k = 0; k < s->per_block && waits; k++)
        if (first[k].state == SM_BARRIER) set_state(s, &first[k], SM_WORKING, s->now + s->c->wait[WAIT_STEP]);
}

/* If all warps of the block have returned, its slots are free for the next block. */
static void try_end(struct sim *s, struct sim_warp *first)
{
    int b = (int)(first - s->warp) / s->per_block;
    for (int k = 0; k < s->per_block; k++)
        if (first[k].state != SM_FINISHED) return;
    for (int k = 0; k < s->per_block; k++) set_state(s, &first[k], SM_EMPTY, INFINITY);
    if (s->started == s->nblocks) return;
    s->started++;
    s->last_start = s->start_at[b] = fmax(s->now, s->last_start) + s->c->block;
}

static bool is_memory(int wait)
{
    return wait == WAIT_L1 || wait == WAIT_L2 || wait == WAIT_FIRST || wait == WAIT_ARRIVAL;
}

/* The warp begins what comes next. */
static void go_on(struct sim *s, int i)
{
    struct sim_warp *w = &s->warp[i];
    if (!w->tape || w->next == w->tape->n) {
        set_state(s, w, SM_FINISHED, INFINITY);
        try_barrier(s, block_of(s, i));
        try_end(s, block_of(s, i));
        return;
    }
    const struct moment *m = &w->tape->moment[w->next];
    if (m->wait == WAIT_STEP) {
        set_state(s, w, SM_READY, INFINITY); /* issue_next moves on */
        return;
    }
    w->next++;
    double end = s->now + (double)m->n * s->c->wait[m->wait];
    if (m->wait == WAIT_BARRIER) {
        set_state(s, w, SM_BARRIER, INFINITY);
        try_barrier(s, block_of(s, i));
    } else if (is_memory(m->wait)) {
        set_state(s, w, SM_MEMORY, fmax(end, w->data_at));
    } else {
        set_state(s, w, SM_WORKING, end);
    }
}

static void issue(struct sim *s, struct sim_warp *w)
{
    const struct moment *m = &w->tape->moment[w->next++];
    s->issue_free = s->now + s->c->issue;
    if (m->l2 > 0) s->l2_free = fmax(s->l2_free, s->now) + (double)m->l2 * s->c->l2_sector;
    if (m->first > 0) s->memory_free = fmax(s->memory_free, s->now) + (double)m->first * s->c->memory_sector;
    if (m->l2 > 0) w->data_at = fmax(s->l2_free, m->first > 0 ? s->memory_free : 0);
    set_state(s, w, SM_WORKING, s->now + s->c->wait[WAIT_STEP]);
}

/* The ready warp after the one that issued last; -1: none. */
static int next_ready(const struct sim *s)
{
    int slots = s->at_once * s->per_block;
    for (int k = 1; k <= slots; k++)
        if (s->warp[(s->turn + k) % slots].state == SM_READY) return (s->turn + k) % slots;
    return -1;
}

static void start_block(struct sim *s, int b, const struct block_tape *t)
{
    struct sim_warp *first = &s->warp[b * s->per_block];
    s->start_at[b] = INFINITY;
    for (int k = 0; k < s->per_block; k++) {
        first[k].tape = k < t->nwarps ? &t->warp[k] : NULL;
        first[k].next = 0;
        first[k].data_at = 0;
        set_state(s, &first[k], SM_WORKING, s->now);
    }
}

/* ---- the simulation ---- */

static double next_time(const struct sim *s, int ready)
{
    double t = ready >= 0 ? fmax(s->now, s->issue_free) : INFINITY;
    for (int i = 0; i < s->at_once * s->per_block; i++) t = fmin(t, s->warp[i].until);
    for (int b = 0; b < s->at_once; b++) t = fmin(t, s->start_at[b]);
    return t;
}

static bool run(struct sim *s, struct err *e)
{
    int64_t events = 0;
    int first = 0, ready;
    for (double t; (t = next_time(s, ready = next_ready(s))) < INFINITY; events++) {
        if (events % TICK_EVERY == 0 && !loop_tick("simulating", first, s->nblocks, e)) return false;
        pass(s, t);
        if (ready >= 0 && s->issue_free <= t) issue(s, &s->warp[s->turn = ready]);
        for (int b = 0; b < s->at_once; b++)
            if (s->start_at[b] <= t) start_block(s, b, s->block[first++]);
        for (int i = 0; i < s->at_once * s->per_block; i++)
            if (s->warp[i].until <= t) go_on(s, i);
    }
    for (int i = 0; i < s->at_once * s->per_block; i++) set_state(s, &s->warp[i], SM_EMPTY, INFINITY);
    return true;
}

static void begin(struct sim *s, double length)
{
    s->length = length;
    s->now = s->issue_free = s->l2_free = s->memory_free = s->any_ready = 0;
    s->started = 0;
    s->turn = s->at_once * s->per_block - 1; /* slot 0 is the first */
    for (int k = 0; k < SM_STATES; k++) s->sum[k] = s->out->idle[k] = 0;
    for (int i = 0; i < SM_WARPS; i++) {
        s->warp[i] = (struct sim_warp){.state = SM_EMPTY, .until = INFINITY};
        s->start_at[i] = INFINITY;
    }
    for (int b = 0; b < s->at_once && s->started < s->nblocks; b++) s->start_at[b] = ++s->started * s->c->block;
    s->last_start = s->at_once * s->c->block;
}

static void finish(const struct sim *s, struct sm_life *out)
{
    double all = s->length;
    out->us = all / 1000;
    out->ready = s->any_ready / all;
    for (int k = 0; k < SM_STATES; k++) out->idle[k] /= all;
    out->mean_ready = s->sum[SM_READY] / all;
    out->mean_resident = (s->sum[SM_READY] + s->sum[SM_WORKING] + s->sum[SM_MEMORY] + s->sum[SM_BARRIER]) / all;
}

/* Choose at most `blocks` of the recorded blocks of a launch: see sm_simulate. */
static void choose_blocks(struct sim *s, const struct tape *t, int launch, int blocks)
{
    int n = 0, must = -1;
    for (int b = 0; b < t->n; b++) {
        if (t->block[b].launch != launch) continue;
        if (t->block[b].block == t->must_show) must = n;
        n++;
    }
    int from = must < blocks ? 0 : must < n - blocks ? must : n - blocks, k = 0;
    for (int b = 0; b < t->n && s->nblocks < blocks; b++)
        if (t->block[b].launch == launch && k++ >= from) s->block[s->nblocks++] = &t->block[b];
    s->out->shows = must >= 0;
}

bool sm_simulate(const struct tape *t, int launch, int64_t threads, int blocks, const struct sm_costs *c,
                 struct sm_life *out, struct err *e)
{
    int per_block = (int)((threads + LANES - 1) / LANES);
    *out = (struct sm_life){.at_once = t->at_once, .warps_per_block = per_block};
    struct sim *s = mem_zero(1, sizeof *s, "a simulation", e);
    if (!s) return false;
    *s = (struct sim){.c = c, .per_block = per_block, .at_once = t->at_once, .out = out};
    choose_blocks(s, t, launch, blocks);
    if (s->at_once > s->nblocks) s->at_once = s->nblocks;
    out->at_once = s->at_once;
    out->slots = s->at_once * per_block;
    out->blocks = s->nblocks;
    bool ok = s->nblocks > 0 && out->slots <= SM_WARPS;
    if (!ok) fail(e, E_UNSUPPORTED, "the multiprocessor has no warps to show");
    out->bin = ok ? mem_zero((int64_t)out->slots * SM_BINS * SM_STATES, sizeof *out->bin, "a simulation", e) : NULL;
    ok = out->bin;
    for (int round = 0; round < 2 && ok; round++) { /* the first run finds the length, the second fills the bins */
        begin(s, round ? s->now : 0);
        ok = run(s, e);
    }
    if (ok) finish(s, out);
    mem_free(s);
    return ok;
}

void sm_free(struct sm_life *l)
{
    mem_free(l->bin);
    *l = (struct sm_life){0};
}

/* ---- for pictures ---- */

static double in_part(const struct sm_life *l, int slot, enum sm_state state, double from, double to)
{
    const float *bin = l->bin + (ptrdiff_t)slot * SM_BINS * SM_STATES;
    double sum = 0;
    for (int b = (int)(from * SM_BINS); b < SM_BINS && b < to * SM_BINS; b++)
        sum += (double)bin[b * SM_STATES + state] * (fmin(to * SM_BINS, b + 1) - fmax(from * SM_BINS, b));
    return sum;
}

enum sm_state sm_at(const struct sm_life *l, int slot, int slot_end, double from, double to)
{
    double sum[SM_STATES] = {0};
    int best = SM_EMPTY;
    for (int i = slot; i < slot_end && i < l->slots; i++)
        for (int k = 0; k < SM_STATES; k++) sum[k] += in_part(l, i, (enum sm_state)k, from, to);
    for (int k = 0; k < SM_STATES; k++)
        if (sum[k] > sum[best]) best = k;
    return (enum sm_state)best;
}

double sm_warps(const struct sm_life *l, enum sm_state state, double from, double to)
{
    double sum = 0;
    for (int i = 0; i < l->slots; i++) sum += in_part(l, i, state, from, to);
    return sum / ((to - from) * SM_BINS);
}
