/* What a kernel's launches do, for the cost model: each block's requests through a small cache, and the waits of its
   warps added up.

   Blocks are dealt to multiprocessors in turns. Those that are on one at the same time go through its cache together,
   their warps taking turns, and find it as those before them left it. A sample is taken as what one of them gets. */
#include "model.h"

#include <math.h>
#include <string.h>

enum {
    LINE = 128,
    WAYS = 4,
    L1_BYTES = 192 << 10, /* of the 256 kB that an H100 or H200 has, what is left beside shared memory */
    BLOCKS_MOST = 32,
    THREADS_MOST = 2048, /* of a multiprocessor of compute capability 8.0 and 9.0 */
    WARPS_MOST = 1024 / LANES,
    SPANS_MOST = 64,
    UNROLLED = 4,      /* turns of a loop, as nvcc does it by itself */
    UNROLLED_WHOLE = 8 /* where all turns are asked for: their number is not in that line */
};

/* ---- a cache of 128-byte lines, of which 32-byte sectors are filled one by one ---- */

struct line {
    uint64_t tag;
    uint32_t age;
    uint32_t sectors;
};
struct cache {
    uint32_t now;
    struct line line[];
};

/* Is the sector there? It is afterwards. */
static bool cache_look(struct cache *c, int sets, uint64_t sector)
{
    uint64_t tag = sector / (LINE / SECTOR);
    uint32_t bit = 1u << (sector % (LINE / SECTOR));
    struct line *set = &c->line[(tag * 0x9E3779B97F4A7C15u >> 40) % (uint64_t)sets * WAYS], *old = set;
    c->now++;
    for (int k = 0; k < WAYS; k++) {
        if (set[k].tag == tag && set[k].sectors) {
            bool there = set[k].sectors & bit;
            set[k].sectors |= bit;
            set[k].age = c->now;
            return there;
        }
        if (set[k].age < old->age) old = &set[k];
    }
    *old = (struct line){tag, c->now, bit};
    return false;
}

/* ---- the requests of the block under way ---- */

struct asked {
    int place;
    int first, n; /* sectors, in `sector` */
    int turns, lanes, unroll;
};

struct warp_log {
    int64_t n, room;
    struct asked *r;
    int64_t nsectors, sectors_room;
    uint64_t *sector;
};

/* A block that has run, and waits for those that are on its multiprocessor at the same time. */
struct block_log {
    int64_t block, row, row_length;
    int nwarps;
    struct warp_log *warp;
};

/* Of a multiprocessor. */
struct queue {
    int n;
    struct block_log *block; /* room for BLOCKS_MOST */
    struct cache *cache;
};

/* A warp as its requests go by. */
struct warp_state {
    int64_t next;
    int pending, values; /* the slowest load that it has not waited for: enum wait, or -1; of values of the matrix */
    int unroll;
    uint64_t places[(SCOPE_PLACES + 63) / 64]; /* that have loads among those */
    bool indices;                              /* one was of integers, which say where to go on */
    bool gathers;                              /* one was of x: a product comes next, which needs all of them */
    bool pointers;                             /* one was of a pointer */
    int pointer_array;
    int span; /* barriers passed */
    double wait[SPANS_MOST][WAITS], mark[WAITS];
    double steps;
};

struct spotted {
    uint64_t *asked;   /* bit map of the array's sectors, of this launch */
    uint32_t *atomics; /* of each element */
    uint64_t *any;     /* of all launches */
};

struct watching {
    const struct mat *M;
    int sms;
    struct workload *out;
    int launch;
    int sets;
    int nwarps;
    struct warp_log warp[WARPS_MOST]; /* of the block that runs */
    struct queue *queue;
    int at_once;   /* blocks on a multiprocessor */
    int64_t ended; /* blocks of the launch */
    struct spotted array[SCOPE_ARRAYS];
    double distinct[SCOPE_LAUNCHES][SCOPE_ARRAYS], all[SCOPE_ARRAYS], scale[SCOPE_LAUNCHES];
    double longest_cost;
    const struct scope *scope;
    const struct csr *A;
    int *position;                       /* of each row, where the format sorts them; else NULL */
    int64_t row, row_length;             /* of the block under way: the longest that it writes */
    int64_t longest_row, longest_length; /* of the matrix */
    int64_t longest_together;            /* the most entries of rows whose y are in one sector */
    struct stores {
        double n, row[3], warp[3]; /* the first, one between, the last */
        bool loose;                /* the rows may be one too many: a row's end is the next one's pointer */
    } stores, pointers;            /* of y; loads of the pointers to rows */
    struct stores
        stored[SCOPE_LAUNCHES]; /* of y, in a launch: which warp, counted through the grid, stores which row */
    int window, windows;        /* blocks watched that run at the same time; how many of those have */
    double hottest;             /* atomics in one sector, by them */
    struct err err;
};

/* Rough weights, to tell the slowest warp of a block, in ns. */
static const double weight[WAITS] = {5, 20, 160, 160, 15, 12, 15};

static double cost_of(const double *wait)
{
    double sum = 0;
    for (int k = 0; k < WAITS; k++) sum += weight[k] * wait[k];
    return sum;
}

static bool test_set(uint64_t *map, uint64_t i)
{
    bool was = map[i / 64] >> (i % 64) & 1;
    map[i / 64] |= (uint64_t)1 << (i % 64);
    return was;
}

/* How many turns of its loop wait for their loads together. */
static int unroll_of(const struct scope_place *p)
{
    return p->unroll == TURNS_WHOLE ? UNROLLED_WHOLE : p->unroll == TURNS_AUTO ? UNROLLED : p->unroll;
}

static void *room_for(void *p, int64_t n, int64_t *room, size_t size, struct err *e)
{
    if (n <= *room) return p;
    int64_t more = *room ? 2 * *room : 64;
    while (more < n) more *= 2;
    void *bigger =
        p ? mem_resize(p, more, size, "the requests of a block", e) : mem_new(more, size, "the requests of a block", e);
    if (bigger) *room = more;
    return bigger;
}

static int resident(int64_t threads)
{
    int64_t n = THREADS_MOST / (threads > 0 ? threads : 1);
    return n < 1 ? 1 : n > BLOCKS_MOST ? BLOCKS_MOST : (int)n;
}

static void launch_end(struct watching *v);

/* The first request of a launch. */
static void launch_begin(struct watching *v, const struct scope *s)
{
    const struct scope_launch *l = &s->launch[s->nlaunches - 1];
    struct work *w = &v->out->launch[s->nlaunches - 1];
    int64_t at_once = (l->blocks + v->sms - 1) / v->sms;
    if (at_once > resident(l->threads)) at_once = resident(l->threads);
    v->launch = s->nlaunches - 1;
    v->sets = L1_BYTES / LINE / WAYS;
    v->at_once = at_once > 0 ? (int)at_once : 1;
    v->longest_cost = -1;
    v->stores = v->pointers = (struct stores){0};
    v->windows = 0;
    v->hottest = 0;
    v->ended = 0;
    v->scope = s;
    w->longest_block = w->longest_row = -1;
    v->scale[v->launch] = l->seen ? (double)l->blocks / (double)l->seen : 0;
    for (int k = 0; k < v->sms; k++)
        if (v->queue[k].cache)
            memset(v->queue[k].cache, 0, sizeof(struct cache) + L1_BYTES / LINE * sizeof(struct line));
    for (int a = 0; a < SCOPE_ARRAYS; a++) {
        mem_free(v->array[a].asked);
        mem_free(v->array[a].atomics);
        v->array[a].asked = NULL;
        v->array[a].atomics = NULL;
    }
}

static bool map_of(struct watching *v, int a)
{
    const struct scope_array *array = &v->scope->array[a];
    int64_t words = array->n * array->size / SECTOR / 64 + 2;
    if (!v->array[a].asked) v->array[a].asked = mem_zero(words, 8, "the sectors of an array", &v->err);
    if (!v->array[a].any) v->array[a].any = mem_zero(words, 8, "the sectors of an array", &v->err);
    return v->array[a].asked && v->array[a].any;
}

/* The most lanes of a request that are at one element. */
static int at_one_address(const struct request *r)
{
    int most = 0;
    for (uint32_t left = r->mask; left;) {
        int64_t i = r->at[__builtin_ctz(left)];
        int n = 0;
        for (uint32_t k = left; k; k &= k - 1)
            if (r->at[__builtin_ctz(k)] == i) n++, left &= ~(k & -k);
        if (n > most) most = n;
    }
    return most;
}

/* Additions in one sector go one after another: those that are on their way at the same time, which is while the
   blocks of a window run. Integers of a warp are added up before they leave it. */
static void note_atomics(struct watching *v, int a, const struct request *r)
{
    const struct scope_array *array = &v->scope->array[a];
    bool sums = array->role == ROLE_Y;
    if (!v->array[a].atomics) v->array[a].atomics = mem_zero(array->n + 1, 4, "the atomics of an array", &v->err);
    if (!v->array[a].atomics) return;
    for (uint32_t left = r->mask; left; left = sums ? left & (left - 1) : 0) {
        int64_t i = r->at[__builtin_ctz(left)];
        if (i < 0 || i >= array->n) continue;
        double n = ++v->array[a].atomics[i * array->size / SECTOR] * v->scale[v->launch];
        if (sums && v->scale[v->launch] > 1 && n > (double)v->longest_together) n = (double)v->longest_together;
        if (n > v->hottest) v->hottest = n;
    }
    v->out->launch[v->launch].deep += v->scale[v->launch] * (sums ? at_one_address(r) : 1);
}

static void window_end(struct watching *v)
{
    v->out->launch[v->launch].hot += v->hottest;
    v->hottest = 0;
    v->windows = 0;
    for (int a = 0; a < v->scope->narrays; a++)
        if (v->array[a].atomics) memset(v->array[a].atomics, 0, (size_t)v->scope->array[a].n * 4 + 4);
}

/* Formats that sort rows keep the number of each in an array. */
static bool find_positions(struct watching *v)
{
    const struct stored *S = v->M->of;
    for (int k = 0; k < S->narrays; k++) {
        const int *row = S->a[k].data;
        if (S->a[k].role != ROLE_ROW_ORDER) continue;
        v->position = mem_zero(S->rows, sizeof *v->position, "the places of rows", &v->err);
        for (int64_t i = 0; v->position && i < S->a[k].n; i++)
            if (row[i] >= 0 && row[i] < S->rows) v->position[row[i]] = (int)i;
        return v->position != NULL;
    }
    return true;
}

static int64_t position_of(const struct watching *v, int64_t row)
{
    return v->position && row >= 0 && row < v->A->rows ? v->position[row] : row;
}

static int64_t first_of(const struct watching *v, const struct request *r)
{
    int64_t first = INT64_MAX;
    for (uint32_t left = r->mask; left; left &= left - 1) {
        int64_t at = position_of(v, r->at[__builtin_ctz(left)]);
        if (at < first) first = at;
    }
    return first;
}

/* Which warp of the grid stores which row: three examples. */
static void note_store(const struct watching *v, struct stores *t, int64_t block, int warp, int64_t row)
{
    int64_t warps = (v->scope->launch[v->launch].threads + LANES - 1) / LANES;
    int k = t->n == 0 ? 0 : t->n < 64 ? 1 : 2;
    t->n++;
    t->row[k] = (double)row;
    t->warp[k] = (double)(block * warps + warp);
}

static void note_rows(struct watching *v, const struct request *r)
{
    for (uint32_t left = r->mask; left; left &= left - 1) {
        int64_t row = r->at[__builtin_ctz(left)];
        if (row < 0 || row >= v->A->rows || csr_row_length(v->A, row) <= v->row_length) continue;
        v->row = row;
        v->row_length = csr_row_length(v->A, row);
    }
}

static void see_request(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                        const struct request_facts *f)
{
    struct watching *v = user;
    if (v->err.code) return;
    if (v->launch != s->nlaunches - 1) launch_begin(v, s);
    const struct scope_place *p = &s->place[r->place];
    struct warp_log *g = &v->warp[warp];
    struct asked *list = room_for(g->r, g->n + 1, &g->room, sizeof *g->r, &v->err);
    if (!list) return;
    g->r = list;
    uint64_t *sectors = room_for(g->sector, g->nsectors + f->nsectors, &g->sectors_room, sizeof *g->sector, &v->err);
    if (!sectors) return;
    g->sector = sectors;
    if (warp >= v->nwarps) v->nwarps = warp + 1;
    g->r[g->n++] = (struct asked){r->place, (int)g->nsectors, f->nsectors, f->turns, f->lanes, unroll_of(p)};
    memcpy(g->sector + g->nsectors, f->sector, (size_t)f->nsectors * sizeof *g->sector);
    g->nsectors += f->nsectors;
    if (p->touch == TOUCH_ATOMIC) note_atomics(v, p->array, r);
    if (p->touch == TOUCH_STORE && s->array[p->array].role == ROLE_Y) {
        note_rows(v, r);
        note_store(v, &v->stores, block, warp, first_of(v, r));
    }
    if (p->touch == TOUCH_LOAD && s->array[p->array].role == ROLE_POINTERS && !v->position)
        note_store(v, &v->pointers, block, warp, r->at[__builtin_ctz(r->mask)]);
}

/* ---- one request of a warp ---- */

/* Wait for all that is on its way; for an address values of the matrix need not be there. */
static void wait_for(struct warp_state *w, bool address)
{
    int slowest = !address && w->values > w->pending ? w->values : w->pending;
    if (slowest >= 0) w->wait[w->span][slowest] += 1.0 / w->unroll;
    w->pending = -1;
    w->pointers = w->gathers = w->indices = false;
    if (address) return;
    w->values = -1;
    memset(w->places, 0, sizeof w->places);
}

/* Is it read at an index that comes from the matrix? x is, and what a kernel keeps for itself. */
static bool is_gathered(const struct scope_array *a)
{
    return a->stored < 0 && !a->shared && a->role != ROLE_Y;
}

static bool is_value(const struct watching *v, const struct scope_array *a)
{
    return a->stored >= 0 && stored_is_value(v->M->of, a->stored);
}

static bool is_pointer(const struct watching *v, int array, const struct scope_array *a)
{
    return a->stored >= 0 && a->n > 0 && !stored_is_value(v->M->of, a->stored) &&
           scope_element(v->scope, array, 0).kind == SLOT_POINTER;
}

/* Does the request need a value that is still on its way: an index, a pointer, the sum of the last turn of a loop? */
static bool needs(const struct watching *v, const struct warp_state *w, const struct scope_place *p, int place)
{
    if (w->pending < 0 && w->values < 0) return false;
    if (p->touch != TOUCH_LOAD && p->touch != TOUCH_TEXTURE) return true;
    const struct scope_array *a = &v->scope->array[p->array];
    if (w->places[place / 64] >> (place % 64) & 1) return true;
    if (is_gathered(a)) return w->indices;
    if (w->pointers && w->pointer_array != p->array) return true;
    return w->gathers && !is_value(v, a);
}

/* Is it a load of x, whose address is all that it waits for? */
static bool gathers_now(const struct watching *v, const struct warp_state *w, const struct scope_place *p, int place)
{
    bool load = p->touch == TOUCH_LOAD || p->touch == TOUCH_TEXTURE;
    bool again = w->places[place / 64] >> (place % 64) & 1;
    return load && !again && is_gathered(&v->scope->array[p->array]);
}

/* Where the slowest of its sectors comes from. */
static int level_of(struct watching *v, const struct asked *r, const uint64_t *sector, struct cache *cache, int a)
{
    struct work *w = &v->out->launch[v->launch];
    const struct scope_array *array = &v->scope->array[a];
    int level = WAIT_L1;
    bool x = array->role == ROLE_X;
    double scale = v->scale[v->launch];
    for (int k = 0; k < r->n; k++) {
        uint64_t sector_k = sector[k];
        bool before = test_set(v->array[a].asked, sector_k - array->base / SECTOR);
        if (!before) v->distinct[v->launch][a]++;
        if (!test_set(v->array[a].any, sector_k - array->base / SECTOR)) v->all[a]++;
        if (cache && cache_look(cache, v->sets, sector_k)) continue;
        w->l2_loads += scale;
        if (x) w->gathered += scale;
        int from = before ? WAIT_L2 : WAIT_FIRST;
        if (from > level) level = from;
    }
    return level;
}

static int lines_of(const struct asked *r, const uint64_t *sector)
{
    int n = 0;
    for (int k = 0; k < r->n; k++) {
        bool seen = false;
        for (int j = k - 1; j >= 0 && !seen; j--) seen = sector[j] / 4 == sector[k] / 4;
        n += !seen;
    }
    return n;
}

static void global_request(struct watching *v, struct warp_state *s, const struct scope_place *p, const struct asked *r,
                           const uint64_t *sector, struct cache *cache)
{
    struct work *w = &v->out->launch[v->launch];
    double scale = v->scale[v->launch];
    bool load = p->touch == TOUCH_LOAD || p->touch == TOUCH_TEXTURE;
    if (!map_of(v, p->array)) return;
    w->lines += scale * lines_of(r, sector);
    int level = level_of(v, r, sector, load ? cache : NULL, p->array);
    if (!load) {
        w->l2_loads -= scale * r->n;
        if (p->touch == TOUCH_STORE) w->l2_stores += scale * r->n;
        if (p->touch == TOUCH_ATOMIC) w->atomic_sectors += scale * r->n, w->atomics += scale * r->lanes;
        if (p->touch == TOUCH_ATOMIC && v->out->kernel->shares)
            s->pending = WAIT_L2; /* it hands out work, and answers */
        return;
    }
    w->sectors += scale * r->n;
    bool value = is_value(v, &v->scope->array[p->array]);
    if (value && level > s->values) s->values = level;
    if (!value && level > s->pending) s->pending = level;
    s->unroll = r->unroll;
    s->gathers |= is_gathered(&v->scope->array[p->array]);
    s->indices |= !is_gathered(&v->scope->array[p->array]) && !is_value(v, &v->scope->array[p->array]);
    s->places[r->place / 64] |= (uint64_t)1 << (r->place % 64);
    if (is_pointer(v, p->array, &v->scope->array[p->array])) {
        s->pointers = true;
        s->pointer_array = p->array;
    }
}

/* The warp takes the next share of the work: how long was it over the last one? */
static void next_task(struct watching *v, struct warp_state *s)
{
    double task[WAITS];
    for (int k = 0; k < WAITS; k++) task[k] = s->wait[0][k] - s->mark[k];
    memcpy(s->mark, s->wait[0], sizeof task);
    if (cost_of(task) <= v->longest_cost) return;
    v->longest_cost = cost_of(task);
    memcpy(v->out->launch[v->launch].longest, task, sizeof task);
}

static void one_request(struct watching *v, struct warp_state *s, const struct asked *r, const uint64_t *sector,
                        struct cache *cache)
{
    const struct scope_place *p = &v->scope->place[r->place];
    struct work *w = &v->out->launch[v->launch];
    double scale = v->scale[v->launch], *wait = s->wait[s->span];
    if (needs(v, s, p, r->place)) wait_for(s, gathers_now(v, s, p, r->place));
    if (p->touch == TOUCH_ATOMIC && v->out->kernel->shares) next_task(v, s);
    wait[WAIT_STEP]++;
    s->steps++;
    w->steps += scale;
    if (touch_global(p->touch)) global_request(v, s, p, r, sector, cache);
    if (touch_shared(p->touch)) w->turns += scale * r->turns;
    if (p->touch == TOUCH_SHARED_LOAD) wait[WAIT_SHARED] += (1 + (r->turns > 2 ? r->turns - 2 : 0) / 16.0) / r->unroll;
    if (p->touch == TOUCH_EXCHANGE) wait[WAIT_EXCHANGE]++;
    if (p->touch == TOUCH_BARRIER) {
        wait[WAIT_BARRIER]++;
        if (s->span < SPANS_MOST - 1) s->span++;
    }
}

/* ---- a whole block ---- */

static void slowest(const struct warp_state *s, int nwarps, int span, double *wait)
{
    double most = -1;
    int at = 0;
    for (int k = 0; k < nwarps; k++)
        if (cost_of(s[k].wait[span]) > most) most = cost_of(s[k].wait[span]), at = k;
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
    for (int k = 0; k < WAITS; k++) w->wait[k] += v->scale[v->launch] * wait[k];
    for (int k = 0; k < b->nwarps; k++) {
        w->warp_steps += s[k].steps;
        if (s[k].steps > w->longest_steps) w->longest_steps = s[k].steps;
    }
    if (shares || cost_of(wait) <= v->longest_cost) return;
    v->longest_cost = cost_of(wait);
    memcpy(w->longest, wait, sizeof wait);
    w->longest_block = b->block;
    w->longest_row = b->row;
}

/* The next request of each warp of the blocks of q; false: there were none left. */
static bool one_turn(struct watching *v, const struct queue *q, struct warp_state *state)
{
    bool more = false;
    for (int b = 0; b < q->n; b++)
        for (int k = 0; k < q->block[b].nwarps; k++, state++) {
            const struct warp_log *g = &q->block[b].warp[k];
            if (state->next == g->n || v->err.code) continue;
            const struct asked *r = &g->r[state->next++];
            one_request(v, state, r, g->sector + r->first, q->cache);
            more = true;
        }
    return more;
}

static void block_free(struct block_log *b)
{
    for (int k = 0; k < b->nwarps; k++) {
        mem_free(b->warp[k].r);
        mem_free(b->warp[k].sector);
    }
    mem_free(b->warp);
    b->nwarps = 0;
}

/* The blocks that are on a multiprocessor at once. */
static void run_queue(struct watching *v, struct queue *q)
{
    int nwarps = 0, k = 0;
    for (int b = 0; b < q->n; b++) nwarps += q->block[b].nwarps;
    if (!q->cache)
        q->cache = mem_zero(1, sizeof(struct cache) + L1_BYTES / LINE * sizeof(struct line), "a cache", &v->err);
    struct warp_state *state = q->cache ? mem_zero(nwarps, sizeof *state, "the warps of blocks", &v->err) : NULL;
    for (int i = 0; state && i < nwarps; i++) state[i].pending = state[i].values = -1, state[i].unroll = 1;
    while (state && one_turn(v, q, state)) {
    }
    for (int i = 0; state && i < nwarps; i++) wait_for(&state[i], false);
    for (int b = 0; b < q->n; b++) {
        if (state) add_block(v, &q->block[b], &state[k]);
        k += q->block[b].nwarps;
        block_free(&q->block[b]);
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

static void see_block_end(void *user, const struct scope *s, int launch, int64_t block)
{
    struct watching *v = user;
    if (v->launch != launch && !v->err.code) launch_begin(v, s);
    struct queue *q = v->err.code ? NULL : queue_of(v, block);
    struct warp_log *kept = q ? mem_new(v->nwarps, sizeof *kept, "the requests of a block", &v->err) : NULL;
    if (kept) {
        memcpy(kept, v->warp, (size_t)v->nwarps * sizeof *kept);
        memset(v->warp, 0, (size_t)v->nwarps * sizeof *kept);
        q->block[q->n++] = (struct block_log){block, v->row, v->row_length, v->nwarps, kept};
        if (q->n == v->at_once) run_queue(v, q);
    }
    v->nwarps = 0;
    v->row = -1;
    v->row_length = -1;
    double at_once = (double)v->at_once * v->sms;
    if (!v->err.code && ++v->windows * v->scale[v->launch] >= at_once) window_end(v);
    if (++v->ended == s->launch[launch].seen) launch_end(v); /* the places have other numbers when all is over */
}

static void launch_end(struct watching *v)
{
    for (int k = 0; k < v->sms && v->launch >= 0; k++)
        if (v->queue[k].n) run_queue(v, &v->queue[k]);
    if (v->launch >= 0) {
        window_end(v);
        v->stored[v->launch] = v->stores.n > v->pointers.n / 4 ? v->stores : v->pointers;
        v->stored[v->launch].loose = v->stores.n <= v->pointers.n / 4;
    }
}

/* ---- the whole kernel ---- */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double array_sectors(const struct scope_array *a)
{
    return (double)(a->n * a->size) / SECTOR + 1;
}

/* What was seen of a sample stands for all blocks: arrays have no more sectors than they have. */
static void finish(struct watching *v, const struct counts *c)
{
    struct workload *out = v->out;
    out->n = c->scope.nlaunches;
    for (int l = 0; l < out->n; l++) {
        struct work *w = &out->launch[l];
        const struct scope_launch *at = &c->scope.launch[l];
        snprintf(w->name, sizeof w->name, "%s", at->name);
        w->blocks = at->blocks;
        w->threads = at->threads;
        w->seen = at->seen;
        out->sampled |= at->seen < at->blocks;
        double warps = (double)at->seen * (double)((at->threads + LANES - 1) / LANES);
        w->warp_steps = warps > 0 ? w->warp_steps / warps : 0;
        for (int a = 0; a < c->scope.narrays; a++)
            w->footprint += SECTOR * least(v->distinct[l][a] * v->scale[l], array_sectors(&c->scope.array[a]));
    }
    for (int a = 0; a < c->scope.narrays; a++) {
        double most = 0;
        for (int l = 0; l < out->n; l++) {
            double n = least(v->distinct[l][a] * v->scale[l], array_sectors(&c->scope.array[a]));
            if (n > most) most = n;
        }
        out->footprint += SECTOR * (most > v->all[a] ? most : v->all[a]);
    }
}

static void watching_free(struct watching *v)
{
    for (int k = 0; k < WARPS_MOST; k++) {
        mem_free(v->warp[k].r);
        mem_free(v->warp[k].sector);
    }
    for (int a = 0; a < SCOPE_ARRAYS; a++) {
        mem_free(v->array[a].asked);
        mem_free(v->array[a].any);
        mem_free(v->array[a].atomics);
    }
    for (int k = 0; v->queue && k < v->sms; k++) {
        for (int b = 0; b < v->queue[k].n; b++) block_free(&v->queue[k].block[b]);
        mem_free(v->queue[k].block);
        mem_free(v->queue[k].cache);
    }
    mem_free(v->queue);
    mem_free(v->position);
}

/* ---- the longest row, which a sample of blocks may have missed ---- */

/* The warp that stores that row, if warps store rows in order. */
static bool warp_of_row(const struct stores *t, int64_t row, int64_t *warp)
{
    double rows = t->row[2] - t->row[0], warps = t->warp[2] - t->warp[0];
    if (t->n < 65 || rows <= 0 || warps <= 0) return false;
    double between = t->warp[0] + (t->row[1] - t->row[0]) * warps / rows;
    *warp = (int64_t)(t->warp[0] + ((double)row - t->row[0]) * warps / rows + 0.001);
    return between - t->warp[1] < 1.5 && t->warp[1] - between < 1.5;
}

/* A row that lanes of a warp are at when it is left, and its entries that they have loaded. */
struct rest {
    int n;
    int64_t row[LANES];
    double loaded[LANES];
};

static void count_loaded(struct rest *t, const struct scope *s, const struct request *r, bool add_rows)
{
    int array = s->place[r->place].array;
    for (uint32_t left = r->mask; left; left &= left - 1) {
        struct place p = scope_element(s, array, r->at[__builtin_ctz(left)]);
        int k = 0;
        if (p.kind != SLOT_ENTRY || p.row < 0) continue;
        while (k < t->n && t->row[k] != p.row) k++;
        if (k == t->n && !add_rows) continue;
        if (k == t->n) t->row[t->n] = p.row, t->loaded[t->n++] = 0;
        t->loaded[k]++;
    }
}

static bool at_values(const struct trace *t, int64_t k)
{
    int array = t->scope.place[t->step[k].place].array;
    return array >= 0 && t->scope.array[array].stored >= 0 &&
           stored_is_value(t->scope.of, t->scope.array[array].stored);
}

/* The same where the warps of a block have all its rows in common, and meet at barriers; NaN: they do not. */
static double beyond_together(const struct trace *t, const struct csr *A, const struct stores *rows)
{
    double loaded = 0, each = (rows->row[2] - rows->row[0]) / (rows->warp[2] - rows->warp[0]) * t->warps;
    int64_t first = (int64_t)((double)t->block * each + 0.5), end = (int64_t)((double)(t->block + 1) * each + 0.5);
    bool together = false;
    for (int64_t k = 0; k < t->nsteps; k++) {
        together |= t->scope.place[t->step[k].place].touch == TOUCH_BARRIER;
        if (at_values(t, k)) loaded += __builtin_popcount(t->step[k].mask);
    }
    if (end > A->rows) end = A->rows;
    if (!together || loaded == 0 || first < 0 || first >= end) return NAN;
    return (double)(A->rowptr[end] - A->rowptr[first]) / t->warps / loaded;
}

/* How many times as long the warp goes on as its steps that were kept: until all entries of the rows that it is at were
   loaded. */
static double beyond(const struct trace *t, const struct csr *A, const struct stores *rows)
{
    struct rest rest = {0};
    double most = 1, together = t->cut ? beyond_together(t, A, rows) : 1;
    if (!isnan(together)) return together > 1 ? together : 1;
    for (int64_t k = t->nsteps - 1; k >= 0; k--)
        if (at_values(t, k)) count_loaded(&rest, &t->scope, &t->step[k], rest.n == 0);
    for (int k = 0; k < rest.n; k++) {
        double times = (double)csr_row_length(A, rest.row[k]) / rest.loaded[k];
        if (times > most) most = times;
    }
    return most;
}

/* Put the requests of one warp through an empty cache, and keep its waits where they are longer than any. */
static bool follow(const struct watching *v, int launch, int64_t warp, struct watch *watch, struct work *w,
                   struct err *e)
{
    const struct scope_launch *l = &v->scope->launch[launch];
    int64_t warps = (l->threads + LANES - 1) / LANES;
    struct trace t;
    struct request_facts f;
    struct workload *out = mem_zero(1, sizeof *out, "the work of a warp", e);
    struct watching *one = out ? mem_zero(1, sizeof *one, "the microscope", e) : NULL;
    bool ok = one && trace_warp(v->out->kernel, v->M, launch, warp / warps, (int)(warp % warps), watch, &t, e);
    if (ok) {
        *out = (struct workload){.kernel = v->out->kernel};
        *one = (struct watching){.M = v->M, .A = v->A, .sms = 1, .out = out, .launch = -1, .row = -1};
        one->queue = mem_zero(1, sizeof *one->queue, "a multiprocessor", e);
        t.scope.nlaunches = launch + 1;
        for (int64_t k = 0; one->queue && k < t.nsteps; k++) {
            facts_of(&t.scope, &t.step[k], &f);
            see_request(one, &t.scope, warp / warps, 0, &t.step[k], &f);
        }
        t.scope.launch[launch].seen = 1;
        if (one->queue) see_block_end(one, &t.scope, launch, warp / warps);
        const struct work *got = &out->launch[launch];
        double times = beyond(&t, v->A, &v->stored[launch]), cost = times * cost_of(got->longest);
        ok = one->queue && !one->err.code;
        if (ok && cost > cost_of(w->longest)) {
            for (int k = 0; k < WAITS; k++) w->longest[k] = times * got->longest[k];
            w->longest_block = warp / warps;
            w->longest_row = v->longest_row;
        }
        watching_free(one);
        trace_free(&t);
    }
    mem_free(one);
    mem_free(out);
    return ok;
}

/* Where rows go to warps in order, that of the longest row; else those at both ends, as after sorting. */
static bool follow_longest(const struct watching *v, const struct counts *c, struct watch *w, struct err *e)
{
    for (int l = 0; l < c->scope.nlaunches; l++) {
        const struct scope_launch *at = &c->scope.launch[l];
        struct work *work = &v->out->launch[l];
        int64_t warps = (at->threads + LANES - 1) / LANES, warp;
        if (at->seen == at->blocks || v->out->kernel->together) continue;
        if (warp_of_row(&v->stored[l], position_of(v, v->longest_row), &warp) && warp >= 0 &&
            warp < warps * at->blocks) {
            if (!follow(v, l, warp, w, work, e)) return false;
            if (v->stored[l].loose && warp > 0 && !follow(v, l, warp - 1, w, work, e)) return false;
            if (v->stored[l].loose && warp + 1 < warps * at->blocks && !follow(v, l, warp + 1, w, work, e))
                return false;
        } else if (v->stored[l].n &&
                   (!follow(v, l, 0, w, work, e) || !follow(v, l, warps * at->blocks - 1, w, work, e)))
            return false;
    }
    return true;
}

bool model_watch(const struct kernel *k, const struct csr *A, const struct mat *M, int sms, int64_t sample,
                 struct watch *w, struct counts *counts, struct workload *out, struct err *e)
{
    *out = (struct workload){.kernel = k};
    struct watching *v = mem_zero(1, sizeof *v, "the microscope", e);
    struct counts *own = counts || !v ? NULL : mem_zero(1, sizeof *own, "the counts of a kernel", e);
    struct counts *c = counts ? counts : own;
    if (v) *v = (struct watching){.M = M, .sms = sms, .out = out, .launch = -1, .row = -1, .row_length = -1, .A = A};
    for (int64_t i = 0; v && i < A->rows; i++)
        if (csr_row_length(A, i) > v->longest_length) v->longest_length = csr_row_length(A, v->longest_row = i);
    int64_t together = SECTOR / (int64_t)type_size(M->of->real);
    for (int64_t i = 0; v && i < A->rows; i += together) {
        int64_t end = i + together < A->rows ? i + together : A->rows;
        if (A->rowptr[end] - A->rowptr[i] > v->longest_together) v->longest_together = A->rowptr[end] - A->rowptr[i];
    }
    if (v && c) v->queue = mem_zero(sms, sizeof *v->queue, "the multiprocessors", e);
    bool ok = v && c && v->queue && find_positions(v);
    if (ok) {
        struct scope_sink sink = {see_request, see_block_end, v};
        double start = now_us();
        ok = count_kernel(k, M, sample, &sink, w, c, e);
        if (ok && v->err.code) ok = fail(e, v->err.code, "%s", v->err.text);
        v->scope = &c->scope;
        if (ok) finish(v, c);
        ok = ok && follow_longest(v, c, w, e);
        out->us = now_us() - start;
    }
    if (v) watching_free(v);
    mem_free(v);
    mem_free(own);
    return ok;
}
