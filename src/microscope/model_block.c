/* Blocks in the cost model: blocks that share a multiprocessor share its L1 cache. */
#include "base/mem.h"
#include "machine/kernel.h"
#include "model_watch.h"

#include <math.h>
#include <string.h>

static void slowest(const struct warp_state *s, int nwarps, int span, double *wait)
{
    double most = -1;
    int at = 0;
    for (int k = 0; k < nwarps; k++)
        if (span < s[k].spans && model_cost(s[k].wait[span]) > most) most = model_cost(s[k].wait[span]), at = k;
    for (int k = 0; most >= 0 && k < WAITS; k++) wait[k] += s[at].wait[span][k];
}

static void add_block(struct watching *v, const struct block_log *b, const struct warp_state *s)
{
    struct work *w = &v->out->launch[v->launch];
    double wait[WAITS] = {0};
    bool shares = v->out->kernel->shares;
    int64_t warps = (v->scope->launch[v->launch].threads + LANES - 1) / LANES;
    int spans = 0;
    for (int k = 0; k < b->nwarps; k++) spans = s[k].spans > spans ? s[k].spans : spans;
    for (int span = 0; span < spans && !shares; span++) slowest(s, b->nwarps, span, wait);
    for (int k = 0; k < b->nwarps && shares; k++)
        for (int q = 0; q < WAITS; q++) wait[q] += s[k].wait[0][q] / (double)warps;
    for (int k = 0; k < WAITS; k++) w->wait[k] += b->weight * wait[k];
    for (int k = 0; k < b->nwarps; k++) {
        w->warp_steps += b->weight * s[k].steps;
        w->longest_steps = fmax(w->longest_steps, b->longer * s[k].steps);
    }
    for (int k = 0; k < WAITS; k++) wait[k] *= b->longer;
    if (shares || model_cost(wait) <= v->longest_cost) return;
    v->longest_cost = model_cost(wait);
    memcpy(w->longest, wait, sizeof wait);
    w->longest_block = b->block;
    w->longest_row = b->row;
}

/* The registers that hold what a request loads. */
static double registers_for(const struct watching *v, const struct asked *r)
{
    const struct access_site *p = &v->scope->site[r->site];
    bool load = p->kind == ACCESS_LOAD || p->kind == ACCESS_TEXTURE;
    return load ? ceil((double)(p->elements * v->scope->array[p->array].size) / 4) : 0;
}

/* Set the batches of the requests from `from` on, which are in loops that are unrolled completely. The iterations of
   such a loop, as many as its sites have requests, are divided into equal batches of at most UNROLLED_WHOLE, and as
   many as the registers hold. If several such loops follow one another, the requests end where the first of them begins
   again, in the next iteration of a loop around them. Returns the end. */
static int64_t set_batches(const struct watching *v, const struct warp_log *g, int64_t from)
{
    int count[SCOPE_SITES] = {0};
    bool ended[SCOPE_SITES] = {false}, repeats = false; /* the loop of the site has ended; a site of the loop repeats */
    double loaded = 0, room = v->registers > OTHER_REGISTERS ? (double)(v->registers - OTHER_REGISTERS) : INFINITY;
    int64_t end = from;
    for (; end < g->n && g->r[end].unroll == 0 && !ended[g->r[end].site]; end++) {
        int site = g->r[end].site;
        if (!count[site] && repeats) {
            for (int k = 0; k < SCOPE_SITES; k++) ended[k] = count[k] > 0;
            repeats = false;
        }
        repeats |= count[site]++ > 0;
        loaded += registers_for(v, &g->r[end]);
    }
    for (int64_t k = from; k < end; k++) {
        double n = count[g->r[k].site];
        g->r[k].unroll = fmax(1, n / ceil(fmax(n / UNROLLED_WHOLE, loaded / room)));
    }
    return end;
}

static void set_unrolls(const struct watching *v, const struct warp_log *g)
{
    for (int64_t k = 0; k < g->n;) k = g->r[k].unroll == 0 ? set_batches(v, g, k) : k + 1;
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

static bool is_recorded(const struct watching *v, const struct queue *q)
{
    const struct scope_launch *l = &v->scope->launch[v->launch];
    return v->tape && q == &v->queue[l->seen < l->blocks ? 0 : v->tape->sm];
}

static int spans_of(const struct watching *v, const struct warp_log *g)
{
    int n = 1;
    for (int64_t k = 0; k < g->n && n < SPANS_MAX; k++) n += v->scope->site[g->r[k].site].kind == ACCESS_BARRIER;
    return n;
}

/* The warps of the blocks of q before their first request; *waits receives the memory of their waits. */
static struct warp_state *warps_new(struct watching *v, const struct queue *q, int nwarps, double (**waits)[WAITS])
{
    int k = 0;
    int64_t spans = 0;
    struct warp_state *state = mem_zero(nwarps, sizeof *state, "the warps of blocks", &v->err);
    for (int b = 0; state && b < q->n; b++)
        for (int i = 0; i < q->block[b].nwarps; i++, k++) {
            state[k] = (struct warp_state){.pending = -1, .values = -1, .unroll = 1, .weight = q->block[b].weight};
            spans += state[k].spans = spans_of(v, &q->block[b].warp[i]);
        }
    *waits = state ? mem_zero(spans, sizeof **waits, "the warps of blocks", &v->err) : NULL;
    if (!*waits) return mem_free(state), NULL;
    spans = 0;
    for (k = 0; k < nwarps; spans += state[k++].spans) state[k].wait = *waits + spans;
    return state;
}

/* Evaluate the blocks that share a multiprocessor. */
static void queue_run(struct watching *v, struct queue *q)
{
    int nwarps = 0, k = 0;
    double(*waits)[WAITS] = NULL;
    for (int b = 0; b < q->n; b++) nwarps += q->block[b].nwarps;
    if (!q->cache)
        q->cache = mem_zero(1, sizeof(struct cache) + (size_t)v->lines * sizeof(struct line), "a cache", &v->err);
    struct warp_state *state = q->cache ? warps_new(v, q, nwarps, &waits) : NULL;
    v->run_filled = v->filled;
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
    mem_free(waits);
    mem_free(state);
}

static struct queue *queue_of(struct watching *v, int64_t block)
{
    const struct scope_launch *l = &v->scope->launch[v->launch];
    struct queue *q = &v->queue[l->seen < l->blocks ? 0 : block % v->sms];
    if (!q->block) q->block = mem_zero(BLOCKS_MAX, sizeof *q->block, "the blocks at once", &v->err);
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
        for (int k = 0; k < v->nwarps; k++) set_unrolls(v, &kept[k]);
        q->block[q->n++] = (struct block_log){block, v->row, v->row_length, s->weight, s->longer, v->nwarps, kept};
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
