/* Traces a warp once and keeps totals per step, so that any step can be shown immediately. */
#include "tracing.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/watch.h"
#include "formats/stored.h"
#include "machine/shared_places.h"
#include "matrix/csr.h"

#include <string.h>

/* ---- sectors that were fetched before ---- */

struct fetched {
    uint64_t *bit[SCOPE_ARRAYS]; /* per array: fetched sectors, one bit each */
};

static void fetched_free(struct fetched *f)
{
    for (int k = 0; k < SCOPE_ARRAYS; k++) mem_free(f->bit[k]);
}

/* Returns which sectors of the request were fetched before, one bit each, and marks all of them as fetched. */
static bool fetch(struct fetched *f, const struct scope *s, int array, const struct request_facts *facts,
                  uint64_t *again, struct err *e)
{
    const struct scope_array *a = &s->array[array];
    uint64_t first = a->base / SECTOR;
    if (!f->bit[array])
        f->bit[array] = mem_zero(scope_sector_words(a), sizeof *f->bit[array], "the sectors a warp fetched", e);
    if (!f->bit[array]) return false;
    int which[2 * LANES], n = tracing_sectors(facts, which);
    for (int i = 0; i < n; i++) {
        uint64_t sector = facts->sector[which[i]] - first, bit = 1ull << sector % 64;
        uint64_t *word = &f->bit[array][sector / 64];
        if (*word & bit) *again |= 1ull << which[i];
        *word |= bit;
    }
    return true;
}

/* ---- totals ---- */

static void find_ends(struct tracing *v)
{
    for (int l = 0; l < LANES; l++) v->begins[l] = 0, v->ends[l] = -1;
    for (int64_t k = v->t.nsteps - 1; k >= 0; k--)
        for (uint32_t left = v->t.step[k].mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            v->begins[l] = k;
            if (v->ends[l] < 0) v->ends[l] = v->t.cut ? v->t.nsteps - 1 : k;
        }
}

/* Does the request access slots of the matrix, not pointers to them? */
static bool on_slots(const struct tracing *v, const struct request *r)
{
    const struct scope *s = &v->t.scope;
    int array = s->site[r->site].array;
    if (array < 0 || (s->array[array].stored < 0 && s->array[array].role != ROLE_SQUARE)) return false;
    return scope_element(s, array, r->at[__builtin_ctz(r->mask)]).kind != SLOT_POINTER;
}

/* The indices of distinct sectors: serialised atomics list a sector several times. */
int tracing_sectors(const struct request_facts *f, int which[2 * LANES])
{
    int n = 0;
    for (int k = 0; k < f->nsectors; k++) {
        bool had = false;
        for (int j = 0; j < n && !had && f->contended; j++) had = f->sector[which[j]] == f->sector[k];
        if (!had) which[n++] = k;
    }
    return n;
}

int tracing_segments(const struct request_facts *f)
{
    const uint64_t each = SEGMENT / SECTOR;
    int n = 0;
    for (int k = 0; k < f->nsectors; k++) {
        bool had = false;
        for (int j = 0; j < k && !had; j++) had = f->sector[j] / each == f->sector[k] / each;
        n += !had;
    }
    return n;
}

/* Is this array the vector y? */
static bool on_result(const struct scope *s, int array)
{
    return array >= 0 && s->array[array].role == ROLE_Y;
}

static void add_facts(struct trace_sums *t, const struct request_facts *f, enum access_kind touch, uint64_t again)
{
    int which[2 * LANES], distinct = tracing_sectors(f, which);
    t->wavefronts += f->wavefronts;
    t->wavefronts_least += f->wavefronts_least;
    t->contended += f->contended;
    if (!accesses_global(touch)) return;
    t->requests++;
    t->sectors += distinct;
    t->counted += f->nsectors;
    t->least += (f->bytes + SECTOR - 1) / SECTOR;
    t->bytes += f->bytes;
    t->padding += f->padding;
    t->unused += distinct * SECTOR - f->bytes;
    t->refetched += __builtin_popcountll(again);
}

static bool sum_step(struct tracing *v, int64_t k, struct fetched *seen, struct err *e)
{
    static const int32_t none = -1;
    const struct scope *s = &v->t.scope;
    const struct request *r = &v->t.step[k];
    const struct access_site *p = &s->site[r->site];
    struct trace_step *step = &v->step[k], *before = k ? step - 1 : NULL;
    struct request_facts f;
    facts_of(s, r, &f);
    step->refetched = 0;
    if (accesses_global(p->kind) && !fetch(seen, s, p->array, &f, &step->refetched, e)) return false;
    step->sums = before ? before->sums : (struct trace_sums){0};
    step->sums.steps++;
    step->sums.lanes += f.lanes;
    step->sums.diverged += r->mask != tracing_alive(v, k);
    add_facts(&step->sums, &f, p->kind, step->refetched);
    bool slots = on_slots(v, r);
    for (int l = 0; l < LANES; l++)
        step->slot[l] = slots && r->mask >> l & 1 ? (int32_t)k : before ? before->slot[l] : none;
    return true;
}

/* Go backwards and note which slot each lane accesses next. */
static void look_ahead(struct tracing *v)
{
    for (int64_t k = v->t.nsteps - 1; k >= 0; k--) {
        const struct request *r = &v->t.step[k];
        bool known = on_slots(v, r) || on_result(&v->t.scope, v->t.scope.site[r->site].array);
        for (int l = 0; l < LANES; l++)
            v->step[k].next[l] = known && r->mask >> l & 1 ? (int32_t)k
                                 : k + 1 < v->t.nsteps     ? v->step[k + 1].next[l]
                                                           : -1;
    }
}

static bool sum_up(struct tracing *v, struct watch *w, struct err *e)
{
    struct fetched seen = {0};
    v->step = mem_new(v->t.nsteps, sizeof *v->step, "the totals of a trace", e);
    bool ok = v->step != NULL;
    find_ends(v);
    for (int64_t k = 0; ok && k < v->t.nsteps; k++)
        ok = sum_step(v, k, &seen, e) && (k % 1024 || watch_tick(w, "trace: steps", k, v->t.nsteps, e));
    if (ok) look_ahead(v);
    fetched_free(&seen);
    return ok;
}

/* ---- tracing ---- */

/* The approximate number of global accesses of a launch, under the assumption that all its warps do as much as the
   traced warp. */
static double work_of(const struct trace *t)
{
    const struct scope_launch *l = &t->scope.launch[t->launch];
    double lanes = 0;
    for (int64_t k = 0; k < t->nsteps; k++)
        if (accesses_global(t->scope.site[t->step[k].site].kind)) lanes += __builtin_popcount(t->step[k].mask);
    return lanes * (double)l->blocks * (double)l->threads;
}

/* A traced warp, and what it accessed in shared memory. */
struct one_warp {
    struct trace t;
    struct shared_places shared;
};

static void one_warp_free(struct one_warp *v)
{
    trace_free(&v->t);
    mem_free(v->shared.of);
}

static bool trace_one(const struct watched *of, int launch, int64_t block, int warp, struct watch *watch,
                      struct one_warp *v, struct err *e)
{
    *v = (struct one_warp){0};
    if (!trace_warp(of, launch, block, warp, watch, &v->t, e)) return false;
    shared_places_take(&v->shared);
    return true;
}

/* Trace the first warp of the launch with the most global accesses. */
static bool busiest_launch(const struct watched *of, struct watch *watch, struct one_warp *v, struct err *e)
{
    if (!trace_one(of, -1, 0, 0, watch, v, e)) return false;
    for (int l = 0, largest = v->t.launch, n = v->t.scope.nlaunches; l < n; l++) {
        struct one_warp other;
        if (l == largest || !v->t.scope.launch[l].blocks) continue;
        if (!trace_one(of, l, 0, 0, watch, &other, e)) return one_warp_free(v), false;
        bool better = work_of(&other.t) > work_of(&v->t);
        one_warp_free(better ? v : &other);
        if (better) *v = other;
    }
    return true;
}

/* Trace the warp; if launch is -1, trace a warp of the launch with the most global accesses. */
static bool trace_launch(const struct watched *of, const struct warp_at *at, struct watch *watch, struct one_warp *v,
                         struct err *e)
{
    int launch = at->launch;
    if (launch < 0) {
        if (!busiest_launch(of, watch, v, e)) return false;
        if (!at->block && !at->warp) return true;
        launch = v->t.launch;
        one_warp_free(v);
    }
    return trace_one(of, launch, at->block, at->warp, watch, v, e);
}

/* Give the accesses to shared memory to the steps in which they are made. */
static bool place_shared(struct tracing *v, const struct shared_places *p, struct err *e)
{
    int64_t next[LANES] = {0};
    v->shared = p->n ? mem_new(v->t.nsteps, sizeof *v->shared, "the accesses to shared memory", e) : NULL;
    for (int64_t k = 0; v->shared && k < v->t.nsteps; k++) {
        bool shared = accesses_shared(tracing_site(v, k)->kind);
        for (int l = 0; l < LANES; l++) {
            v->shared[k].row[l] = v->shared[k].col[l] = -1;
            if (!shared || !(v->t.step[k].mask >> l & 1)) continue;
            while (next[l] < p->n && p->of[next[l]].lane != l) next[l]++;
            if (next[l] == p->n) continue;
            v->shared[k].row[l] = p->of[next[l]].row;
            v->shared[k].col[l] = p->of[next[l]++].col;
        }
    }
    return v->shared || !p->n;
}

struct tracing *tracing_new(const struct watched *of, const struct csr *A, enum precision real,
                            const struct warp_at *at, struct watch *w, struct err *e)
{
    struct tracing *v = mem_zero(1, sizeof *v, "a trace", e);
    if (!v) return NULL;
    v->A = A;
    v->name = of->name;
    v->kernel = of->kernel;
    v->real = real;
    struct one_warp warp = {0};
    bool ok = trace_launch(of, at, w, &warp, e);
    if (ok) v->t = warp.t;
    ok = ok && place_shared(v, &warp.shared, e) && sum_up(v, w, e);
    mem_free(warp.shared.of);
    if (ok) return v;
    tracing_free(v);
    return NULL;
}

void tracing_free(struct tracing *v)
{
    if (!v) return;
    trace_free(&v->t);
    mem_free(v->step);
    mem_free(v->shared);
    mem_free(v);
}

/* ---- one step ---- */

uint32_t tracing_alive(const struct tracing *v, int64_t step)
{
    uint32_t alive = 0;
    for (int l = 0; l < LANES; l++)
        if (v->ends[l] >= step) alive |= 1u << l;
    return alive;
}

const struct access_site *tracing_site(const struct tracing *v, int64_t step)
{
    return &v->t.scope.site[v->t.step[step].site];
}

const char *tracing_array(const struct tracing *v, int64_t step)
{
    int array = tracing_site(v, step)->array;
    return array < 0 ? "" : v->t.scope.array[array].name;
}

const char *tracing_function(const struct tracing *v)
{
    return v->t.scope.launch[v->t.launch].function;
}

static enum lane_state state_of(const struct tracing *v, int64_t step, int lane)
{
    if (v->t.step[step].mask >> lane & 1) return LANE_ACTIVE;
    if (v->ends[lane] < 0) return LANE_IDLE;
    return step > v->ends[lane] ? LANE_DONE : LANE_WAITS;
}

enum { FAR_BACK = 256 }; /* steps in which the slot of a load of x is looked for */

/* The last slot that the lane accessed. */
static struct place last_slot(const struct tracing *v, int64_t step, int lane)
{
    int32_t k = v->step[step].slot[lane];
    if (k < 0) return (struct place){SLOT_POINTER, -1, -1};
    return scope_element(&v->t.scope, tracing_site(v, k)->array, v->t.step[k].at[lane]);
}

/* The slot for which the lane loads x at column col: the last one with this column, because lanes may load several
   slots before they load x for the first of them. If the lane has loaded x for this slot already, or if there is no
   such slot, it is the last slot: padding may read x at any column. */
static struct place slot_of_x(const struct tracing *v, int64_t step, int lane, int64_t col)
{
    struct place last = last_slot(v, step, lane);
    int array = tracing_site(v, step)->array;
    if (last.col == col) return last;
    for (int64_t k = step - 1; k >= 0 && k >= step - FAR_BACK; k--) {
        if (!(v->t.step[k].mask >> lane & 1)) continue;
        if (tracing_site(v, k)->array == array && v->t.step[k].at[lane] == col) return last;
        struct place at = v->step[k].slot[lane] == k ? last_slot(v, k, lane) : (struct place){SLOT_POINTER, -1, -1};
        if (at.kind == SLOT_ENTRY && at.col == col) return at;
    }
    return last;
}

/* The row of the next slot or element of y that the lane accesses; -1: none. */
static struct place next_place(const struct tracing *v, int64_t step, int lane)
{
    int32_t k = v->step[step].next[lane];
    if (k < 0) return (struct place){SLOT_POINTER, -1, -1};
    return scope_element(&v->t.scope, tracing_site(v, k)->array, v->t.step[k].at[lane]);
}

/* The next row of the lane. If the lane has no next row, take the next row of another lane that accesses the same
   element, because the lanes that work on a row share the row's pointers. */
static struct place works_on(const struct tracing *v, int64_t step, int lane)
{
    const struct request *r = &v->t.step[step];
    struct place own = next_place(v, step, lane);
    for (int l = 0; l < LANES && own.row < 0; l++)
        if (r->mask >> l & 1 && r->at[l] == r->at[lane]) own = next_place(v, step, l);
    return own;
}

/* The row to show for a pointer: usually the row that begins at the pointer. If the lane reads the pointer as the end
   of its own row, show the lane's row instead. Also show the lane's row if there are fewer pointers than rows, for
   example in formats with slices or blocks. */
static int64_t row_at_pointer(const struct tracing *v, int64_t step, int lane, struct place here)
{
    const struct scope_array *a = &v->t.scope.array[tracing_site(v, step)->array];
    int64_t index = v->t.step[step].at[lane], row = works_on(v, step, lane).row;
    bool of_rows = scope_element(&v->t.scope, tracing_site(v, step)->array, 0).row >= 0; /* not of columns */
    if (row < 0 || !of_rows || a->role != ROLE_POINTERS) return here.row;
    if (a->n == v->A->rows + 1) return row == index - 1 ? row : here.row;
    return a->n < v->A->rows + 1 ? row : here.row;
}

/* The column to show, like row_at_pointer, for formats with a pointer per column. */
static int64_t column_at_pointer(const struct tracing *v, int64_t step, int lane, int64_t col)
{
    const struct scope_array *a = &v->t.scope.array[tracing_site(v, step)->array];
    struct place first = scope_element(&v->t.scope, tracing_site(v, step)->array, 0);
    int64_t end = v->t.step[step].at[lane] - 1;
    bool of_columns = first.row < 0 && first.col >= 0 && a->n == v->A->cols + 1;
    return of_columns && end >= 0 && works_on(v, step, lane).col == end ? end : col;
}

/* The place of an element in shared memory: that of what it holds. A lane that reads an element of x does so for a
   slot, as in global memory. */
static void place_in_shared(const struct tracing *v, int64_t step, int lane, struct lane_at *at)
{
    if (!v->shared) return;
    at->row = v->shared[step].row[lane];
    at->col = v->shared[step].col[lane];
    if (at->row >= 0 || at->col < 0 || tracing_site(v, step)->kind != ACCESS_SHARED_LOAD) return;
    struct place last = slot_of_x(v, step, lane, at->col);
    if (last.kind == SLOT_ENTRY && last.col == at->col) at->row = last.row;
}

struct lane_at tracing_lane(const struct tracing *v, int64_t step, int lane)
{
    struct lane_at at = {.state = state_of(v, step, lane), .row = -1, .col = -1};
    const struct access_site *p = tracing_site(v, step);
    if (at.state != LANE_ACTIVE) return at;
    at.has_index = p->array >= 0;
    at.index = at.has_index ? v->t.step[step].at[lane] : -1;
    struct place here = scope_element(&v->t.scope, p->array, at.index);
    if (here.kind == SLOT_POINTER && !v->kernel) return at; /* in LU, lanes do not stay at one row */
    if (accesses_shared(p->kind)) {
        place_in_shared(v, step, lane, &at);
        return at;
    }
    bool reads_x = here.kind == SLOT_POINTER && here.row < 0 && here.col >= 0;
    struct place last = reads_x                     ? slot_of_x(v, step, lane, here.col)
                        : here.kind == SLOT_POINTER ? last_slot(v, step, lane)
                                                    : here;
    bool same = (here.row < 0 || here.row == last.row) && (here.col < 0 || here.col == last.col);
    at.padding =
        last.kind == SLOT_PADDING && (reads_x || here.kind == SLOT_PADDING); /* padding may read x at any column */
    at.row = same || at.padding ? last.row : here.row;
    at.col = same && !on_result(&v->t.scope, p->array) ? last.col : here.col;
    bool pointer = here.kind == SLOT_POINTER && p->array >= 0 && v->t.scope.array[p->array].stored >= 0;
    if (pointer) at.row = row_at_pointer(v, step, lane, here);
    if (pointer) at.col = column_at_pointer(v, step, lane, at.col);
    return at;
}

/* ---- finding steps ---- */

bool tracing_is(const struct tracing *v, int64_t step, enum trace_mark mark)
{
    static const struct trace_sums none;
    const struct trace_sums *t = &v->step[step].sums, *b = step ? &v->step[step - 1].sums : &none;
    if (mark == MARK_DIVERGED) return t->diverged > b->diverged;
    if (mark == MARK_PADDING) return t->padding > b->padding;
    return t->sectors - b->sectors > t->least - b->least;
}

int64_t tracing_find(const struct tracing *v, int64_t from, int by, enum trace_mark mark)
{
    for (int64_t k = from + by; k >= 0 && k < v->t.nsteps; k += by)
        if (tracing_is(v, k, mark)) return k;
    return -1;
}

int64_t tracing_line(const struct tracing *v, int64_t from, int by, int line)
{
    for (int64_t k = from + by; k >= 0 && k < v->t.nsteps; k += by)
        if (tracing_site(v, k)->line == line) return k;
    return -1;
}

void tracing_go(struct tracing *v, int64_t k)
{
    if (k >= v->t.nsteps) k = v->t.nsteps - 1;
    v->at = k < 0 ? 0 : k;
}

void tracing_open(struct tracing *v, int64_t k)
{
    tracing_go(v, k);
    uint32_t mask = v->t.nsteps ? v->t.step[v->at].mask : 0;
    if (mask && !(mask >> v->lane & 1)) v->lane = __builtin_ctz(mask);
}

int tracing_lane_of(const struct tracing *v, int64_t step, int64_t row, int64_t col, int *exact)
{
    int found = -1;
    if (exact) *exact = -1;
    for (int l = 0; l < LANES; l++) {
        struct lane_at at = tracing_lane(v, step, l);
        if (at.state != LANE_ACTIVE || at.row != row) continue;
        if (found < 0) found = l;
        if (!exact) return found;
        if (at.col != col || at.padding) continue;
        *exact = l;
        return found;
    }
    return found;
}

/* The lane that accesses the element, or, if col is -1, the row, in that step; -1: none. */
static int lane_on(const struct tracing *v, int64_t step, int64_t row, int64_t col)
{
    int exact;
    if (col < 0) return tracing_lane_of(v, step, row, col, NULL);
    tracing_lane_of(v, step, row, col, &exact);
    return exact;
}

bool tracing_seek(struct tracing *v, int64_t row, int64_t col)
{
    for (int64_t n = 0; n < v->t.nsteps; n++) {
        int64_t k = (v->at + n) % v->t.nsteps;
        int lane = lane_on(v, k, row, col);
        if (lane < 0) continue;
        v->at = k;
        v->lane = lane;
        return true;
    }
    return false;
}

bool tracing_has_row(const struct tracing *v, int64_t row)
{
    for (int64_t k = 0; k < v->t.nsteps; k++)
        if (lane_on(v, k, row, -1) >= 0) return true;
    return false;
}

bool tracing_rows(const struct tracing *v, int64_t *first, int64_t *last)
{
    int64_t n = 0;
    *first = INT64_MAX;
    *last = -1;
    for (int64_t k = 0; k < v->t.nsteps; k++) {
        if (!on_result(&v->t.scope, tracing_site(v, k)->array) || tracing_site(v, k)->kind != ACCESS_STORE) continue;
        for (uint32_t left = v->t.step[k].mask; left; left &= left - 1) {
            int64_t row = v->t.step[k].at[__builtin_ctz(left)];
            if (row < *first) *first = row;
            if (row > *last) *last = row;
            n++;
        }
    }
    return n && n == *last - *first + 1;
}
