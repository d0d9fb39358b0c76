/* One request of a warp, for the cost model: where its sectors come from and what the warp waits for. */
#include "base/mem.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "model_watch.h"

#include <math.h>
#include <string.h>

/* Load the sector into the cache. Returns true if the sector was in the cache already; if even its line was not,
   counts it in *filled. */
static bool cache_look(struct cache *c, int sets, uint64_t sector, uint32_t *filled)
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
    ++*filled;
    return false;
}

/* Approximate time of each kind of wait in ns; the fitted constants are in model.c. */
static const double wait_ns[WAITS] = {5, 20, 160, 160, 15, 12, 15, 1500};

double model_cost(const double *wait)
{
    double sum = 0;
    for (int k = 0; k < WAITS; k++) sum += wait_ns[k] * wait[k];
    return sum;
}

static bool test_set(uint64_t *map, uint64_t i)
{
    bool was = map[i / 64] >> (i % 64) & 1;
    map[i / 64] |= (uint64_t)1 << (i % 64);
    return was;
}

static void add_wait(struct watching *v, struct warp_state *w, enum wait kind, double n)
{
    w->wait[w->span][kind] += n;
    if (w->tape) tape_add(v, w->tape, kind, n);
}

/* Wait for all loads in flight, except loads of matrix values if only an address is needed. */
void warp_wait(struct watching *v, struct warp_state *w, bool address)
{
    int slowest = !address && w->values > w->pending ? w->values : w->pending;
    if (slowest >= 0) add_wait(v, w, (enum wait)slowest, 1.0 / w->unroll), w->stalled += 1.0 / w->unroll;
    w->pending = -1;
    w->pointers = w->gathers = w->indices = false;
    if (address) return;
    w->values = -1;
    memset(w->places, 0, sizeof w->places);
}

/* Is the array read at indices that come from the matrix? The result is true for x and for a kernel's work arrays. */
static bool is_gathered(const struct scope_array *a)
{
    return a->stored < 0 && !a->shared && a->role != ROLE_Y;
}

static bool is_value(const struct scope_array *a)
{
    return a->stored >= 0 && a->role == ROLE_VALUES;
}

static bool is_pointer(const struct watching *v, int array, const struct scope_array *a)
{
    return a->stored >= 0 && a->n > 0 && !is_value(a) && scope_element(v->scope, array, 0).kind == SLOT_POINTER;
}

/* Does the request need a value that is still in flight, such as an index, a pointer, or the sum of the previous
   iteration? */
static bool needs(const struct watching *v, const struct warp_state *w, const struct access_site *p, int place)
{
    if (w->pending < 0 && w->values < 0) return false;
    if (p->kind != ACCESS_LOAD && p->kind != ACCESS_TEXTURE) return true;
    const struct scope_array *a = &v->scope->array[p->array];
    if (w->places[place / 64] >> (place % 64) & 1) return true;
    if (is_gathered(a)) return w->indices;
    if (w->pointers && w->pointer_array != p->array) return true;
    return w->gathers && !is_value(a);
}

/* Is the request a load of x, which waits only for its address? */
static bool gathers_now(const struct watching *v, const struct warp_state *w, const struct access_site *p, int place)
{
    bool load = p->kind == ACCESS_LOAD || p->kind == ACCESS_TEXTURE;
    bool again = w->places[place / 64] >> (place % 64) & 1;
    return load && !again && is_gathered(&v->scope->array[p->array]);
}

/* Mark the sector in the map. Sets *line to whether its line had no sector in the map. */
static bool test_sector(uint64_t *map, uint64_t i, bool *line)
{
    uint64_t first = i / (LINE / SECTOR) * (LINE / SECTOR);
    *line = !(map[first / 64] >> (first % 64) & 15);
    return test_set(map, i);
}

/* The share of the requests for a sector of this line that L2 answers from memory although it had delivered the sector
   before. Since then, each multiprocessor has loaded about as many lines as this one. Elements of x have a simulation
   of their own (reuse.c). */
static double lost(struct watching *v, int a, uint64_t line)
{
    if (v->scope->array[a].stored < 0) return 0;
    uint32_t *then = &v->array[a].filled[line], since = v->filled - *then;
    bool same_run = *then - v->run_filled <= v->filled - v->run_filled;
    *then = v->filled;
    return same_run ? model_lost(v->gpu, v->sms_busy * since * LINE) : 0;
}

/* The level of memory that the slowest sector of the request comes from. */
static int level_of(struct watching *v, const struct asked *r, const uint64_t *sector, struct cache *cache, int a,
                    double weight)
{
    struct work *w = &v->out->launch[v->launch];
    const struct scope_array *array = &v->scope->array[a];
    int level = WAIT_L1;
    bool x = array->role == ROLE_X;
    bool kept = x && (double)scope_sectors(array) <= model_x_sectors(v->gpu); /* in L2, from product to product */
    uint64_t missed = UINT64_MAX; /* the line of the last sector that was not in the cache */
    for (int k = 0; k < r->n; k++) {
        bool new_line, first_line, before = test_sector(v->array[a].asked, sector_in_array(sector[k]), &new_line);
        if (!before) v->distinct[v->launch][a] += weight;
        if (new_line) v->lines_distinct[v->launch][a] += weight;
        if (!test_sector(v->array[a].any, sector_in_array(sector[k]), &first_line)) v->all[a]++;
        v->lines_all[a] += first_line;
        if (cache && cache_look(cache, v->sets, sector[k], &v->filled)) continue;
        double share = cache ? lost(v, a, sector_in_array(sector[k]) / (LINE / SECTOR)) : 0;
        if (before) w->lost += weight * share;
        w->l2_loads += weight;
        double lines = sector[k] / (LINE / SECTOR) != missed ? weight : 0;
        w->l2_lines += lines;
        missed = sector[k] / (LINE / SECTOR);
        if (x) w->gathered += weight, w->gathered_lines += lines;
        int from = kept || (before && share < 0.5) ? WAIT_L2 : WAIT_FIRST;
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

static bool map_of(struct watching *v, int a)
{
    int64_t words = scope_sector_words(&v->scope->array[a]);
    if (!v->array[a].asked) v->array[a].asked = mem_zero(words, 8, "the sectors of an array", &v->err);
    if (!v->array[a].any) v->array[a].any = mem_zero(words, 8, "the sectors of an array", &v->err);
    if (!v->array[a].filled && v->scope->array[a].stored >= 0)
        v->array[a].filled =
            mem_zero(words * 64 / (LINE / SECTOR), sizeof *v->array[a].filled, "the lines of an array", &v->err);
    return v->array[a].asked && v->array[a].any && (v->array[a].filled || v->scope->array[a].stored < 0);
}

/* The number that an atomic returns selects the warp's next share of the work, or shows which block was the last to
   announce its stores. */
static void wait_for_number(struct watching *v, struct warp_state *s)
{
    if (v->out->kernel->shares)
        s->pending = WAIT_L2;
    else
        add_wait(v, s, WAIT_ARRIVAL, 1);
}

static void global_request(struct watching *v, struct warp_state *s, const struct access_site *p, const struct asked *r,
                           const uint64_t *sector, struct cache *cache)
{
    struct work *w = &v->out->launch[v->launch];
    double weight = s->weight;
    bool load = p->kind == ACCESS_LOAD || p->kind == ACCESS_TEXTURE;
    if (!map_of(v, p->array)) return;
    int lines = lines_of(r, sector);
    w->lines += weight * lines;
    if (load && v->scope->array[p->array].role == ROLE_X) w->x_lines += weight * lines;
    double l2 = w->l2_loads, distinct = v->distinct[v->launch][p->array];
    int level = level_of(v, r, sector, load ? cache : NULL, p->array, weight);
    if (s->tape && s->tape->n) {
        s->tape->moment[s->tape->n - 1].l2 = (float)((w->l2_loads - l2) / weight);
        s->tape->moment[s->tape->n - 1].first = (float)((v->distinct[v->launch][p->array] - distinct) / weight);
    }
    if (!load) {
        w->l2_loads -= weight * r->n;
        if (p->kind == ACCESS_STORE) w->l2_stores += weight * r->n;
        if (p->kind == ACCESS_ATOMIC) w->atomic_sectors += weight * r->n, w->atomics += weight * r->lanes;
        if (p->kind == ACCESS_ATOMIC && v->scope->array[p->array].integral) wait_for_number(v, s);
        return;
    }
    w->sectors += weight * r->n;
    bool value = is_value(&v->scope->array[p->array]);
    if (value && level > s->values) s->values = level;
    if (!value && level > s->pending) s->pending = level;
    s->unroll = r->unroll;
    s->gathers |= is_gathered(&v->scope->array[p->array]);
    s->indices |= !is_gathered(&v->scope->array[p->array]) && !is_value(&v->scope->array[p->array]);
    s->places[r->site / 64] |= (uint64_t)1 << (r->site % 64);
    if (is_pointer(v, p->array, &v->scope->array[p->array])) {
        s->pointers = true;
        s->pointer_array = p->array;
    }
}

/* The warp takes its next share of the work, so record how long the previous share took. */
static void next_task(struct watching *v, struct warp_state *s)
{
    double task[WAITS];
    for (int k = 0; k < WAITS; k++) task[k] = s->wait[0][k] - s->mark[k];
    memcpy(s->mark, s->wait[0], sizeof task);
    if (model_cost(task) <= v->longest_cost) return;
    v->longest_cost = model_cost(task);
    memcpy(v->out->launch[v->launch].longest, task, sizeof task);
}

void warp_request(struct watching *v, struct warp_state *s, const struct asked *r, const uint64_t *sector,
                  struct cache *cache)
{
    const struct access_site *p = &v->scope->site[r->site];
    struct work *w = &v->out->launch[v->launch];
    double weight = s->weight;
    if (needs(v, s, p, r->site)) warp_wait(v, s, gathers_now(v, s, p, r->site));
    if (p->kind == ACCESS_ATOMIC && v->out->kernel->shares) next_task(v, s);
    add_wait(v, s, WAIT_STEP, 1);
    s->steps++;
    w->steps += weight;
    if (accesses_global(p->kind)) global_request(v, s, p, r, sector, cache);
    if (accesses_shared(p->kind)) w->wavefronts += weight * r->wavefronts;
    if (p->kind == ACCESS_SHARED_LOAD) add_wait(v, s, WAIT_SHARED, 1 / r->unroll + r->wavefronts / (double)WAVEFRONTS);
    if (p->kind == ACCESS_COLLECTIVE) add_wait(v, s, WAIT_COLLECTIVE, 1);
    if (p->kind == ACCESS_BARRIER) {
        add_wait(v, s, WAIT_BARRIER, 1);
        if (s->span < s->spans - 1) s->span++;
        s->stalled = 1;
    }
}
