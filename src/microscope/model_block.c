/* Blocks in the cost model: blocks that share a multiprocessor share its L1 cache. */
#include "machine/kernel.h"
#include "base/mem.h"
#include "model_watch.h"

#include <math.h>
#include <string.h>

static void slowest(const struct warp_state *s, int nwarps, int span, double *wait)
{
    double most = -1;
    int at = 0;
    for (int k = 0; k < nwarps; k++)
        if (model_cost(s[k].wait[span]) > most) most = model_cost(s[k].wait[span]), at = k;
    for (int k = 0; nwarps && k < WAITS; k++) wait[k] += s[at].wait[span][k];
}

static void add_block(struct watching *v, const struct block_log *b, const struct warp_state *s)
{
    struct work *w = &v->out->launch[v->launch];
    double wait[WAITS] = {0};
    bool shares = v->out->kernel->shares;
    int64_t warps = (v->scope->launch[v->launch].threads + LANES - 1) / LANES;
    for (int span = 0; span < SPANS_MOST && !shares; span++) slowest(s, b->nwarps, span, wait);
    for (int k = 0; k < b->nwarps && shares; k++)
        for (int q = 0; q < WAITS; q++) wait[q] += s[k].wait[0][q] / (double)warps;
    for (int k = 0; k < WAITS; k++) w->wait[k] += b->weight * wait[k];
    for (int k = 0; k < b->nwarps; k++) {
        w->warp_steps += b->weight * s[k].steps;
        if (s[k].steps > w->longest_steps) w->longest_steps = s[k].steps;
    }
    if (shares || model_cost(wait) <= v->longest_cost) return;
    v->longest_cost = model_cost(wait);
    memcpy(w->longest, wait, sizeof wait);
    w->longest_block = b->block;
    w->longest_row = b->row;
}

/* Set the batches of the requests from .. end-1 of a loop that is unrolled completely: its iterations, as many as its
   sites have requests, are divided into equal batches of at most UNROLLED_WHOLE. */
static void set_batches(struct asked *r, int64_t from, int64_t end)
{
    int count[SCOPE_SITES] = {0};
    for (int64_t k = from; k < end; k++) count[r[k].site]++;
    for (int64_t k = from; k < end; k++)
        r[k].unroll = count[r[k].site] / ceil(count[r[k].site] / (double)UNROLLED_WHOLE);
}

static void set_unrolls(struct warp_log *g)
{
    for (int64_t k = 0, end; k < g->n; k = end) {
        for (end = k; end < g->n && g->r[end].unroll == 0;) end++;
        if (end > k) set_batches(g->r, k, end);
        if (end == k) end++;
    }
}

/* Replay the requests of a warp up to its next wait, where other warps take over. */
static void warp_turn(struct watching *v, const struct warp_log *g, struct warp_state *state, struct cache *cache)
{
    while (state->next < g->n && state->stalled < 1 && !v->err.code) {
        const struct asked *r = &g->r[state->next++];
        warp_request(v, state, r, g->sector + r->first, cache);
    }
    state->stalled = 0;
}

/* Give each warp of the blocks of q a turn. Returns false if no requests were left. */
static bool one_turn(struct watching *v, const struct queue *q, struct warp_state *state)
{
    bool more = false;
    for (int b = 0; b < q->n; b++)
        for (int k = 0; k < q->block[b].nwarps; k++, state++) {
            const struct warp_log *g = &q->block[b].warp[k];
            if (state->next == g->n || v->err.code) continue;
            warp_turn(v, g, state, q->cache);
            more = true;
        }
    return more;
}

void block_log_free(struct block_log *b)
{
    for (int k = 0; k < b->nwarps; k++) {
        mem_free(b->warp[k].r);
        mem_free(b->warp[k].sector);
    }
    mem_free(b->warp);
    b->nwarps = 0;
}

static bool is_recorded(const struct watching *v, const struct queue *q)
{
    const struct scope_launch *l = &v->scope->launch[v->launch];
    return v->tape && q == &v->queue[l->seen < l->blocks ? 0 : v->tape->sm];
}

/* Evaluate the blocks that share a multiprocessor. */
static void queue_run(struct watching *v, struct queue *q)
{
    int nwarps = 0, k = 0;
    for (int b = 0; b < q->n; b++) nwarps += q->block[b].nwarps;
    if (!q->cache)
        q->cache = mem_zero(1, sizeof(struct cache) + (size_t)v->lines * sizeof(struct line), "a cache", &v->err);
    struct warp_state *state = q->cache ? mem_zero(nwarps, sizeof *state, "the warps of blocks", &v->err) : NULL;
    for (int b = 0; state && b < q->n; b++)
        for (int i = 0; i < q->block[b].nwarps; i++, k++)
            state[k] = (struct warp_state){.pending = -1, .values = -1, .unroll = 1, .weight = q->block[b].weight};
    k = 0;
    if (state && is_recorded(v, q)) tape_begin(v, q, state);
    while (state && one_turn(v, q, state)) {
    }
    for (int i = 0; state && i < nwarps; i++) warp_wait(v, &state[i], false);
    for (int b = 0; b < q->n; b++) {
        if (state) add_block(v, &q->block[b], &state[k]);
        k += q->block[b].nwarps;
        block_log_free(&q->block[b]);
    }
    q->n = 0;
    mem_free(state);
}

static struct queue *queue_of(struct watching *v, int64_t block)
{
    const struct scope_launch *l = &v->scope->launch[v->launch];
    struct queue *q = &v->queue[l->seen < l->blocks ? 0 : block % v->sms];
    if (!q->block) q->block = mem_zero(BLOCKS_MOST, sizeof *q->block, "the blocks at once", &v->err);
    return q->block ? q : NULL;
}

void model_block_end(void *user, const struct scope *s, int launch, int64_t block)
{
    struct watching *v = user;
    if (v->launch != launch && !v->err.code) model_launch_begin(v, s);
    struct queue *q = v->err.code ? NULL : queue_of(v, block);
    struct warp_log *kept = q ? mem_new(v->nwarps, sizeof *kept, "the requests of a block", &v->err) : NULL;
    if (kept) {
        memcpy(kept, v->warp, (size_t)v->nwarps * sizeof *kept);
        memset(v->warp, 0, (size_t)v->nwarps * sizeof *kept);
        for (int k = 0; k < v->nwarps; k++) set_unrolls(&kept[k]);
        q->block[q->n++] = (struct block_log){block, v->row, v->row_length, s->weight, v->nwarps, kept};
        if (q->n == v->at_once) queue_run(v, q);
    }
    v->nwarps = 0;
    v->row = -1;
    v->row_length = -1;
    double at_once = (double)v->at_once * v->sms;
    if (!v->err.code && (v->windows += s->weight) >= at_once) model_window_end(v);
    if (++v->ended == s->launch[launch].seen)
        model_launch_end(v); /* read the sites now: they are renumbered after the last launch */
}

/* The end of the shared array that ends last. */
static int64_t shared_bytes(const struct scope *s, int launch)
{
    int64_t most = 0;
    for (int k = 0; k < s->nsites; k++) {
        const struct scope_array *a = s->site[k].array < 0 ? NULL : &s->array[s->site[k].array];
        if (!a || !a->shared || s->site[k].launch != launch) continue;
        int64_t end = (int64_t)a->base + a->n * a->size;
        if (end > most) most = end;
    }
    return most;
}

void model_launch_end(struct watching *v)
{
    for (int k = 0; k < v->sms && v->launch >= 0; k++)
        if (v->queue[k].n) queue_run(v, &v->queue[k]);
    if (v->launch >= 0) {
        v->out->launch[v->launch].shared_bytes = shared_bytes(v->scope, v->launch);
        model_window_end(v);
        v->stored[v->launch] = v->stores.n > v->pointers.n / 4 ? v->stores : v->pointers;
        v->stored[v->launch].loose = v->stores.n <= v->pointers.n / 4;
    }
}
