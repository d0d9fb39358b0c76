/* What the running block of a watched launch requests: the requests of each warp, the additions that wait for one
   another, and the rows that are stored. */
#include "base/mem.h"
#include "machine/compiled.h"
#include "matrix/csr.h"
#include "model_watch.h"

#include <math.h>
#include <string.h>

/* The number of iterations of the enclosing loop whose loads are in flight together; 0: the source does not state it.
 */
static double unroll_of(const struct access_site *p)
{
    return p->unroll == UNROLL_ALL ? 0 : p->unroll == UNROLL_AUTO ? UNROLLED : p->unroll;
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

int64_t model_registers(const struct watching *v, const struct scope_launch *l)
{
    const struct compiled *code = compiled_find(v->compiled, l->instance);
    return code ? code->registers : l->registers;
}

/* The blocks of a launch that a multiprocessor holds; their shared memory is not known yet. */
static int resident(const struct watching *v, const struct scope_launch *l)
{
    struct work w = {.threads = l->threads, .registers = model_registers(v, l)};
    double n = model_resident(v->gpu, &w);
    return n > BLOCKS_MAX ? BLOCKS_MAX : (int)n;
}

/* Called before the first request of a launch. */
void model_launch_begin(struct watching *v, const struct scope *s)
{
    const struct scope_launch *l = &s->launch[s->nlaunches - 1];
    struct work *w = &v->out->launch[s->nlaunches - 1];
    int64_t at_once = (l->blocks + v->sms - 1) / v->sms;
    v->registers = model_registers(v, l);
    v->sms_busy = fmin((double)v->gpu->sms, (double)l->blocks);
    if (at_once > resident(v, l)) at_once = resident(v, l);
    if (v->tape && at_once > v->tape->at_once) at_once = v->tape->at_once;
    v->launch = s->nlaunches - 1;
    v->sets = v->lines / WAYS;
    v->at_once = at_once > 0 ? (int)at_once : 1;
    v->longest_cost = -1;
    v->stores = v->pointers = (struct stores){0};
    v->windows = 0;
    v->crowd = 0;
    v->rounds = 0;
    v->ncounting = 0;
    memset(v->hottest, 0, sizeof v->hottest);
    v->ended = 0;
    v->scope = s;
    w->longest_block = w->longest_row = -1;
    for (int k = 0; k < v->sms; k++)
        if (v->queue[k].cache)
            memset(v->queue[k].cache, 0, sizeof(struct cache) + (size_t)v->lines * sizeof(struct line));
    for (int a = 0; a < SCOPE_ARRAYS; a++) {
        mem_free(v->array[a].asked);
        mem_free(v->array[a].filled);
        mem_free(v->array[a].atomics);
        v->array[a].asked = NULL;
        v->array[a].filled = NULL;
        v->array[a].atomics = NULL;
    }
}

/* The entries of the rows whose elements of y share a sector with row i; `rows` are in a sector. */
static double entries_together(const struct csr *A, int64_t i, int64_t rows)
{
    int64_t first = i / rows * rows, end = first + rows < A->rows ? first + rows : A->rows;
    return (double)(csr_start(A, end) - csr_start(A, first));
}

/* Count an atomic of round `round` in sector i of array a. Returns the count. */
static double count_atomic(struct watching *v, int a, int64_t i, int round)
{
    uint16_t *count = &v->array[a].atomics[i * ROUNDS + round];
    if (*count == 0) {
        uint16_t **list = room_for(v->counting, v->ncounting + 1, &v->counting_room, sizeof *list, &v->err);
        if (!list) return 0;
        v->counting = list;
        v->counting[v->ncounting++] = count;
    }
    if (*count < UINT16_MAX) ++*count;
    return *count;
}

/* Additions to one sector are done one after another, and delay the additions to other sectors that queue behind them.
   A thread does its additions one after another, so that those of the same round of all threads of a window count as
   concurrent. If CROWD or more of them go to one sector, nothing else is added meanwhile; n of them take n / CROWD as
   long. Integer additions of a warp are combined before they leave the multiprocessor. */
static void note_atomics(struct watching *v, int a, int warp, const struct request *r)
{
    const struct scope_array *array = &v->scope->array[a];
    int round = (int)(v->warp[warp].atomics++ % ROUNDS);
    if (round >= v->rounds) v->rounds = round + 1;
    double weight = v->scope->weight;
    bool sums = array->role == ROLE_Y;
    if (!v->array[a].atomics)
        v->array[a].atomics = mem_zero((array->n * array->size / SECTOR + 1) * ROUNDS, sizeof *v->array[a].atomics,
                                       "the atomics of an array", &v->err);
    if (!v->array[a].atomics) return;
    for (uint32_t left = r->mask; left; left = sums ? left & (left - 1) : 0) {
        int64_t i = r->at[__builtin_ctz(left)];
        if (i < 0 || i >= array->n) continue;
        double n = count_atomic(v, a, i * array->size / SECTOR, round) * weight;
        if (sums) {
            double most = weight > 1 ? entries_together(v->A, i, SECTOR / array->size) / v->rounds : INFINITY;
            n = fmin(n, most);
            v->crowd += weight * fmin(1, fmin(2 * n, most) / CROWD); /* 2 n: n grows up to its final value */
        }
        v->hottest[round] = fmax(v->hottest[round], n);
    }
}

double model_even_hot(double atomics, double sectors)
{
    return sectors > 0 ? atomics * fmin(1, atomics / sectors / CROWD) : 0;
}

void model_window_end(struct watching *v)
{
    struct work *w = &v->out->launch[v->launch];
    double together = 0;
    for (int k = 0; k < ROUNDS; k++) together += v->hottest[k];
    w->hot += fmax(together, v->crowd);
    w->hottest = fmax(w->hottest, together);
    memset(v->hottest, 0, sizeof v->hottest);
    v->windows = v->crowd = 0;
    while (v->ncounting > 0) *v->counting[--v->ncounting] = 0;
}

int64_t position_of(const struct watching *v, int64_t row)
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

/* Record, in up to three examples, which block stores which rows. The stores of a block come one after another. */
static void note_block(struct stores *t, int64_t block, int64_t row)
{
    int k = t->blocks < 3 ? t->blocks - 1 : 2;
    if (k < 0 || t->block[k] != (double)block) {
        k = t->blocks < 3 ? t->blocks : 2;
        t->blocks++;
        t->block[k] = (double)block;
        t->first[k] = (double)row;
    }
    if ((double)row < t->first[k]) t->first[k] = (double)row;
}

/* Record, in up to three examples, which warp of the grid stores which row. */
static void note_store(const struct watching *v, struct stores *t, int64_t block, int warp, int64_t row)
{
    int64_t warps = (v->scope->launch[v->launch].threads + LANES - 1) / LANES;
    int k = t->n == 0 ? 0 : t->n < 64 ? 1 : 2;
    t->n++;
    t->row[k] = (double)row;
    t->warp[k] = (double)(block * warps + warp);
    note_block(t, block, row);
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

void model_request(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                   const struct request_facts *f)
{
    struct watching *v = user;
    if (v->err.code) return;
    if (v->launch != s->nlaunches - 1) model_launch_begin(v, s);
    const struct access_site *p = &s->site[r->site];
    struct warp_log *g = &v->warp[warp];
    struct asked *list = room_for(g->r, g->n + 1, &g->room, sizeof *g->r, &v->err);
    if (!list) return;
    g->r = list;
    uint64_t *sectors = room_for(g->sector, g->nsectors + f->nsectors, &g->sectors_room, sizeof *g->sector, &v->err);
    if (!sectors) return;
    g->sector = sectors;
    if (warp >= v->nwarps) v->nwarps = warp + 1;
    g->r[g->n++] = (struct asked){r->site, (int)g->nsectors, f->nsectors, f->wavefronts, f->lanes, unroll_of(p)};
    for (int i = 0; i < f->nsectors; i++)
        g->sector[g->nsectors + i] = sector_placed(p->array, s->array[p->array].base, f->sector[i]);
    g->nsectors += f->nsectors;
    if (p->kind == ACCESS_ATOMIC) note_atomics(v, p->array, warp, r);
    if (p->kind == ACCESS_STORE && s->array[p->array].role == ROLE_Y) {
        note_rows(v, r);
        note_store(v, &v->stores, block, warp, first_of(v, r));
    }
    if (p->kind == ACCESS_LOAD && s->array[p->array].role == ROLE_POINTERS && !v->position)
        note_store(v, &v->pointers, block, warp, r->at[__builtin_ctz(r->mask)]);
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

void watching_free(struct watching *v)
{
    for (int k = 0; k < WARPS_MAX; k++) {
        mem_free(v->warp[k].r);
        mem_free(v->warp[k].sector);
    }
    for (int a = 0; a < SCOPE_ARRAYS; a++) {
        mem_free(v->array[a].asked);
        mem_free(v->array[a].any);
        mem_free(v->array[a].filled);
        mem_free(v->array[a].atomics);
    }
    for (int k = 0; v->queue && k < v->sms; k++) {
        for (int b = 0; b < v->queue[k].n; b++) block_log_free(&v->queue[k].block[b]);
        mem_free(v->queue[k].block);
        mem_free(v->queue[k].cache);
    }
    mem_free(v->queue);
    mem_free(v->counting);
    mem_free(v->position);
}
