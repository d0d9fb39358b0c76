/* The microscope: what the lanes of watched launches noted, put together to the requests of their warps as a GPU would
   make them, and those counted or kept.

   Between two exchanges lanes run one after another on the emulator. On a GPU those of a warp go together as long as
   they do the same, and those that went apart meet again where their ways do. So each step of a warp is made of the
   lanes that are at one place which no other lane of the warp still comes to. Where that is true of no place, as in a
   loop, it is those at the first of them in the source; but those at the beginning of a round wait for lanes that are
   still in the round before. */
#include "scope.h"
#include "emu.h"
#include "../src/machine.h"
#include "../src/random.h"

#include <math.h>
#include <string.h>

enum { CACHED = 256, THREADS_MOST = 64 };

struct cached {
    struct scope_touch t;
    int launch, place;
};

struct scope_thread {
    struct scope_run *run;
    struct cached cached[CACHED];
    uint32_t left[SCOPE_PLACES][LANES]; /* how often a lane still comes to a place, in its notes; while merging */
    uint32_t will[SCOPE_PLACES];        /* the lanes that still do */
    /* How often it did before these notes, in the block; while merging, with all that they tell of. */
    uint32_t visits[1024 / LANES][SCOPE_PLACES][LANES];
    /* In the block under way: 1 + the last place from which a lane went back to this one; 0: none did. */
    int round_end[SCOPE_PLACES];
    uint64_t went[SCOPE_PLACES][SCOPE_PLACES / 64 + 1]; /* bit b of a: a lane was seen to go from place a to b */
    struct tally by_place[SCOPE_PLACES];
    struct launch_counts launch[SCOPE_LAUNCHES];
    int64_t accesses;                          /* of lanes, of all blocks */
    int64_t sectors, warp_steps[1024 / LANES]; /* of the block under way */
    struct request_facts facts;
};

struct scope_run {
    struct scope scope;
    const struct mat *M;
    struct {
        const char *file, *name;
    } origin[SCOPE_PLACES]; /* as the kernel's object has them */
    struct scope_thread *thread[THREADS_MOST];
    uint64_t *asked[SCOPE_ARRAYS]; /* sectors of an array that were asked for, a bit each */
    bool together;                 /* blocks depend on one another: all must run */
    int64_t sample;                /* blocks of a launch to watch, about; 0: all */
    int64_t every, from;           /* of the launch under way are watched: blocks from, from + every, ... */
    const struct scope_sink *sink;
    struct watch *watch;
    struct trace *trace; /* not NULL: one warp's steps are kept */
    bool full;           /* places or arrays are used up */
    struct err err;
};

const char *const touch_names[TOUCHES] = {"load",         "store",         "atomic",   "texture load", "shared load",
                                          "shared store", "shared atomic", "exchange", "barrier",      "rejoin"};

/* ---- launches and blocks ---- */

bool scope_begin(struct scope_run *run, const char *name, const char *function, int64_t blocks, int64_t threads)
{
    struct scope *s = &run->scope;
    if (s->nlaunches == SCOPE_LAUNCHES) return false;
    struct scope_launch *l = &s->launch[s->nlaunches++];
    *l = (struct scope_launch){.blocks = blocks, .threads = threads};
    snprintf(l->name, sizeof l->name, "%s", name);
    snprintf(l->function, sizeof l->function, "%.*s", (int)strcspn(function, "<"), function);
    if (run->trace) return true;
    uint64_t state = (uint64_t)s->nlaunches;
    run->every = run->sample > 0 && blocks > run->sample ? (blocks + run->sample - 1) / run->sample : 1;
    run->from = (int64_t)(random_next(&state) % (uint64_t)run->every);
    l->seen = blocks <= run->from ? 0 : (blocks - run->from + run->every - 1) / run->every;
    return true;
}

enum scope_block scope_block(const struct scope_run *run, int64_t block)
{
    const struct trace *t = run->trace;
    enum scope_block other = run->together ? SCOPE_RUN : SCOPE_SKIP;
    int launch = run->scope.nlaunches - 1;
    if (t && launch == t->launch && block == t->block) return SCOPE_WATCH;
    if (t) return launch < t->launch || (launch == t->launch && block < t->block) ? other : SCOPE_SKIP;
    return block >= run->from && (block - run->from) % run->every == 0 ? SCOPE_WATCH : other;
}

bool scope_wants_warp(const struct scope_run *run, int warp)
{
    return !run->trace || run->trace->warp == warp;
}

bool scope_alone(const struct scope_run *run)
{
    return run->trace || run->sink || run->together;
}

/* Rows of y that were stored: how far a kernel is whose first block may take all of the work. */
static int64_t rows_done(const struct scope_run *run)
{
    const struct scope_thread *s = run->thread[0];
    int64_t rows = 0;
    for (int p = 0; s && p < run->scope.nplaces; p++)
        if (run->scope.place[p].touch == TOUCH_STORE) rows += s->by_place[p].lanes;
    return rows < run->M->of->rows ? rows : run->M->of->rows;
}

bool scope_tick(const struct scope_run *run, int64_t done, int64_t blocks, struct err *e)
{
    if (run->scope.kernel->shares && run->together)
        return watch_tick(run->watch, run->scope.kernel->name, rows_done(run), run->M->of->rows, e);
    return watch_tick(run->watch, run->scope.kernel->name, done, blocks, e);
}

struct scope_thread *scope_thread_of(struct scope_run *run, int t)
{
    if (t >= THREADS_MOST) return NULL;
    if (!run->thread[t]) {
        run->thread[t] = mem_zero(1, sizeof *run->thread[t], "the counts of a kernel", &run->err);
        if (!run->thread[t]) return NULL;
        run->thread[t]->run = run;
    }
    return run->thread[t];
}

/* ---- places and arrays ---- */

const char *scope_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int stored_number(const struct scope_run *run, uint64_t base)
{
    for (int k = 0; k < run->M->of->narrays; k++)
        if ((uint64_t)run->M->ptr[k] == base && run->M->of->a[k].n > 0) return k;
    return -1;
}

/* The number of an array, made at its first use; -1: there is no room for more. */
static int array_of(struct scope_run *run, const struct scope_touch *t)
{
    struct scope *s = &run->scope;
    for (int k = 0; k < s->narrays; k++)
        if (s->array[k].base == t->base && s->array[k].shared == t->shared && s->array[k].size == t->size &&
            !strcmp(s->array[k].name, t->name))
            return k;
    if (s->narrays == SCOPE_ARRAYS) return -1;
    int64_t words = t->n * t->size / SECTOR / 64 + 2;
    uint64_t *asked = t->shared ? NULL : mem_zero(words, sizeof *asked, "the sectors a kernel asked for", &run->err);
    if (!t->shared && !asked) return -1;
    struct scope_array *a = &s->array[s->narrays];
    *a = (struct scope_array){.role = t->role,
                              .stored = t->shared ? -1 : stored_number(run, t->base),
                              .shared = t->shared,
                              .integral = t->integral,
                              .n = t->n,
                              .size = t->size,
                              .base = t->base};
    snprintf(a->name, sizeof a->name, "%s", t->name);
    run->asked[s->narrays] = asked;
    return s->narrays++;
}

static bool same_place(const struct scope_run *run, int k, const struct scope_touch *t, int array)
{
    const struct scope_place *p = &run->scope.place[k];
    return p->line == t->line && p->column == t->column && p->touch == t->touch && p->array == array &&
           p->launch == run->scope.nlaunches - 1 && run->origin[k].file == t->file &&
           (array >= 0 || run->origin[k].name == t->name);
}

static int place_new(struct scope_run *run, const struct scope_touch *t)
{
    struct scope *s = &run->scope;
    bool nowhere = t->touch >= TOUCH_EXCHANGE;
    int array = nowhere ? -1 : array_of(run, t);
    for (int k = 0; k < s->nplaces; k++)
        if (same_place(run, k, t, array)) return k;
    if (s->nplaces == SCOPE_PLACES || (!nowhere && array < 0)) {
        run->full = true;
        return 0;
    }
    run->origin[s->nplaces].file = t->file;
    run->origin[s->nplaces].name = t->name;
    s->place[s->nplaces] = (struct scope_place){.touch = t->touch,
                                                .file = scope_file_name(t->file),
                                                .line = t->line,
                                                .column = t->column,
                                                .array = array,
                                                .what = t->touch == TOUCH_EXCHANGE ? t->name : NULL,
                                                .launch = s->nlaunches - 1,
                                                .unroll = t->unroll};
    return s->nplaces++;
}

int scope_place_of(struct scope_thread *s, const struct scope_touch *t)
{
    unsigned hash = (unsigned)(t->line * 37 + t->column * 5 + (int)t->touch) ^ (unsigned)(t->base >> 8);
    struct cached *c = &s->cached[hash % CACHED];
    int launch = s->run->scope.nlaunches;
    if (c->t.line == t->line && c->t.column == t->column && c->t.base == t->base && c->t.touch == t->touch &&
        c->t.file == t->file && c->t.name == t->name && c->launch == launch)
        return c->place;
    c->t = *t;
    c->launch = launch;
#pragma omp critical(scope_places)
    c->place = place_new(s->run, t);
    return c->place;
}

struct place scope_element(const struct scope *s, int a, int64_t i)
{
    struct place none = {SLOT_POINTER, -1, -1};
    const struct scope_array *array = a < 0 ? NULL : &s->array[a];
    if (!array || array->shared || i < 0 || i >= array->n) return none;
    if (array->stored >= 0) return s->of->format->where(s->of, array->stored, i);
    if (array->role == ROLE_X) return (struct place){SLOT_POINTER, -1, i};
    if (array->role == ROLE_Y) return (struct place){SLOT_POINTER, i, -1};
    return none;
}

/* ---- what a request asks for ---- */

/* Addresses of the lanes that take part, by lane. */
static int addresses_of(const struct scope_array *a, const struct request *r, uint64_t *address)
{
    int n = 0;
    for (uint32_t left = r->mask; left; left &= left - 1)
        address[n++] = a->base + (uint64_t)r->at[__builtin_ctz(left)] * (uint64_t)a->size;
    return n;
}

static void add_sector(struct request_facts *f, uint64_t sector)
{
    for (int k = f->nsectors - 1; k >= 0; k--)
        if (f->sector[k] == sector) return;
    f->sector[f->nsectors++] = sector;
}

/* Whether address[k] is none of those before it. */
static bool is_new(const uint64_t *address, int k, bool ascends)
{
    if (k == 0) return true;
    if (ascends) return address[k] != address[k - 1];
    for (int j = 0; j < k; j++)
        if (address[j] == address[k]) return false;
    return true;
}

static bool ascending(const uint64_t *address, int n)
{
    for (int k = 1; k < n; k++)
        if (address[k] < address[k - 1]) return false;
    return true;
}

/* Lanes that add to one address take turns, and each turn asks for its sectors again: they are listed once a turn, as
   far as there is room. How many there are. */
static int atomic_sectors(const uint64_t *address, int n, uint64_t *sector, int distinct)
{
    int turns[LANES], most[2 * LANES] = {0}, end = distinct;
    for (int k = 0; k < n; k++) {
        int s = 0;
        turns[k] = 1;
        for (int j = 0; j < k; j++) turns[k] += address[j] == address[k];
        while (sector[s] != address[k] / SECTOR) s++;
        if (turns[k] > most[s]) most[s] = turns[k];
    }
    for (int s = 0; s < distinct; s++)
        for (int t = 1; t < most[s] && end < 2 * LANES; t++) sector[end++] = sector[s];
    return end;
}

static void global_facts(const struct scope *s, const struct scope_place *p, const struct request *r,
                         struct request_facts *f)
{
    const struct scope_array *a = &s->array[p->array];
    bool pads = a->stored >= 0 && !s->of->format->raw;
    uint64_t address[LANES];
    int n = addresses_of(a, r, address), distinct = 0;
    bool ascends = ascending(address, n);
    for (int k = 0; k < n; k++) {
        uint64_t first = address[k] / SECTOR, last = (address[k] + (uint64_t)a->size - 1) / SECTOR;
        for (uint64_t sector = first; sector <= last; sector++) add_sector(f, sector);
        if (!is_new(address, k, ascends)) continue;
        distinct++;
        if (pads &&
            scope_element(s, p->array, (int64_t)((address[k] - a->base) / (uint64_t)a->size)).kind == SLOT_PADDING)
            f->padding += a->size;
    }
    f->bytes = distinct * a->size;
    if (p->touch != TOUCH_ATOMIC) return;
    f->contended = n - distinct;
    if (f->contended && !a->integral) f->nsectors = atomic_sectors(address, n, f->sector, f->nsectors);
}

/* Shared memory serves 32 words of 4 bytes a turn, one from each bank; lanes that want the same word share it. Accesses
   of 8 bytes go in two halves of the warp. */
static int bank_turns(const uint64_t *address, int n)
{
    int most = 0, load[BANKS] = {0};
    for (int k = 0; k < n; k++) {
        uint64_t word = address[k] / 4;
        bool seen = false;
        for (int j = 0; j < k && !seen; j++) seen = address[j] / 4 == word;
        if (!seen && ++load[word % BANKS] > most) most = load[word % BANKS];
    }
    return most;
}

static void shared_facts(const struct scope *s, const struct scope_place *p, const struct request *r,
                         struct request_facts *f)
{
    const struct scope_array *a = &s->array[p->array];
    uint64_t address[LANES], word[LANES];
    int words = a->size > 4 ? a->size / 4 : 1, part = LANES / (words > 4 ? 4 : words);
    (void)addresses_of(a, r, address);
    for (int lane = 0; lane < LANES; lane += part) {
        uint32_t mask = part == LANES ? r->mask : r->mask >> lane & ((1u << part) - 1);
        int n = 0, before = __builtin_popcount(lane ? r->mask & ((1u << lane) - 1) : 0);
        if (!mask) continue;
        for (int w = 0; w < words && n < LANES; w++)
            for (int k = 0; k < __builtin_popcount(mask) && n < LANES; k++)
                word[n++] = address[before + k] + (uint64_t)w * 4;
        f->turns += bank_turns(word, n);
        f->turns_least++;
    }
    f->bytes = f->lanes * a->size;
}

void facts_of(const struct scope *s, const struct request *r, struct request_facts *f)
{
    const struct scope_place *p = &s->place[r->place];
    f->lanes = __builtin_popcount(r->mask);
    f->nsectors = f->bytes = f->padding = f->turns = f->turns_least = f->contended = 0;
    if (touch_global(p->touch)) global_facts(s, p, r, f);
    if (touch_shared(p->touch)) shared_facts(s, p, r, f);
}

/* ---- requests as they are found ---- */

/* Sectors of f that were asked for before; from now on all were. Other threads may ask at the same time. */
static int64_t asked_again(struct scope_run *run, const struct scope_place *p, const struct request_facts *f)
{
    uint64_t first = run->scope.array[p->array].base / SECTOR;
    int64_t again = 0;
    for (int k = 0; k < f->nsectors; k++) {
        uint64_t bit = f->sector[k] - first, *word = &run->asked[p->array][bit / 64], flag = 1ull << bit % 64;
        if (__atomic_load_n(word, __ATOMIC_RELAXED) & flag || __atomic_fetch_or(word, flag, __ATOMIC_RELAXED) & flag)
            again++;
    }
    return again;
}

static void count_request(struct scope_thread *s, const struct request *r)
{
    const struct scope_place *p = &s->run->scope.place[r->place];
    struct tally *t = &s->by_place[r->place];
    struct request_facts *f = &s->facts;
    facts_of(&s->run->scope, r, f);
    t->requests++;
    t->lanes += f->lanes;
    t->sectors += f->nsectors;
    t->bytes += f->bytes;
    t->padding += f->padding;
    t->turns += f->turns;
    t->turns_least += f->turns_least;
    t->contended += f->contended;
    if (touch_global(p->touch)) {
        t->again += asked_again(s->run, p, f);
        s->sectors += f->nsectors;
    }
}

static void keep_request(struct scope_run *run, const struct request *r)
{
    struct trace *t = run->trace;
    if (t->nsteps == TRACE_MOST) t->cut = true;
    if (t->cut || run->err.code) return;
    if (t->nsteps >= 256 ? !(t->nsteps & (t->nsteps - 1)) : t->nsteps == 0) { /* full: twice the room */
        int64_t room = t->nsteps ? 2 * t->nsteps : 256;
        struct request *more = mem_resize(t->step, room, sizeof *more, "the steps of a warp", &run->err);
        if (!more) return;
        t->step = more;
    }
    t->step[t->nsteps++] = *r;
}

static void found_request(struct scope_thread *s, int64_t block, int warp, const struct request *r)
{
    struct scope_run *run = s->run;
    struct launch_counts *l = &s->launch[run->scope.nlaunches - 1];
    int lanes = __builtin_popcount(r->mask);
    s->accesses += lanes;
    s->warp_steps[warp]++;
    l->steps++;
    l->active += lanes;
    if (run->trace)
        keep_request(run, r);
    else
        count_request(s, r);
    if (run->sink) run->sink->request(run->sink->user, &run->scope, block, warp, r, &s->facts);
}

void scope_block_end(struct scope_thread *s, int64_t block, int warps)
{
    struct scope_run *run = s->run;
    struct launch_counts *l = &s->launch[run->scope.nlaunches - 1];
    int64_t steps = 0, longest = 0;
    for (int w = 0; w < warps; w++) {
        steps += s->warp_steps[w];
        if (s->warp_steps[w] > longest) longest = s->warp_steps[w];
        s->warp_steps[w] = 0;
        memset(s->visits[w], 0, (size_t)run->scope.nplaces * sizeof s->visits[w][0]);
    }
    memset(s->round_end, 0, (size_t)run->scope.nplaces * sizeof s->round_end[0]);
    memset(s->went, 0, (size_t)run->scope.nplaces * sizeof s->went[0]);
    l->warps += warps;
    if (longest > l->longest_warp) l->longest_warp = longest;
    l->longest_block += longest;
    l->block_sum += (double)steps;
    l->block_sum2 += (double)steps * (double)steps;
    l->sectors_sum += (double)s->sectors;
    l->sectors_sum2 += (double)s->sectors * (double)s->sectors;
    if (s->sectors > l->sectors_most) l->sectors_most = s->sectors;
    s->sectors = 0;
    if (run->sink && run->sink->block_end)
        run->sink->block_end(run->sink->user, &run->scope, run->scope.nlaunches - 1, block);
}

/* ---- lanes to warps ---- */

/* Lanes by the places they are at. */
struct heads {
    int n, place[LANES];
    uint32_t group[LANES]; /* the lanes at place[k] */
    bool stop;             /* a lane that is not done has no notes left: what it does next is not known */
};

static void find_heads(const struct scope_log *lane, struct heads *h)
{
    h->n = 0;
    h->stop = false;
    for (int k = 0; k < LANES; k++) {
        const struct scope_log *g = &lane[k];
        if (g->next == g->n) {
            h->stop |= g->more;
            continue;
        }
        int place = g->r[g->next].place, i = 0;
        while (i < h->n && h->place[i] != place) i++;
        if (i == h->n) {
            h->place[h->n++] = place;
            h->group[i] = 0;
        }
        h->group[i] |= 1u << k;
    }
}

/* Of the lanes at an exchange, those whose partners are all there. */
static uint32_t met(const struct scope_log *lane, uint32_t group)
{
    uint32_t ready = 0;
    for (uint32_t left = group; left; left &= left - 1) {
        int k = __builtin_ctz(left);
        uint32_t mask = (uint32_t)lane[k].r[lane[k].next].at;
        if (!(mask & ~group)) ready |= 1u << k;
    }
    return ready;
}

/* Order in the source; of two files the one of which a place was met first. */
static bool before(const struct scope_place *a, const struct scope_place *b)
{
    if (a->file != b->file) return a < b;
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Of two groups, one at place a, the other at b behind it in the source: is a lane of the other still in the round
   before that which the first is about to begin? It is if a is where the rounds of a loop begin that b is in. */
static bool still_in_round(const struct scope_thread *s, int warp, int a, uint32_t first, int b, uint32_t other)
{
    const struct scope_place *place = s->run->scope.place;
    int k = __builtin_ctz(first), end = s->round_end[a] - 1;
    if (end < 0 || before(&place[end], &place[b])) return false;
    bool told = place[end].touch == TOUCH_REJOIN; /* rounds are counted there, as lanes may skip all before it */
    int at = told ? end : a;
    int64_t mine = (int64_t)s->visits[warp][at][k] - s->left[at][k];
    for (; other; other &= other - 1) {
        int o = __builtin_ctz(other);
        if ((int64_t)s->visits[warp][at][o] - s->left[at][o] <= mine - told) return true;
    }
    return false;
}

/* Does group i go before group j? */
static bool goes_first(const struct scope_thread *s, int warp, const struct heads *h, int i, int j)
{
    const struct scope_place *place = s->run->scope.place;
    bool ahead = before(&place[h->place[i]], &place[h->place[j]]);
    int early = ahead ? i : j, late = ahead ? j : i;
    if (still_in_round(s, warp, h->place[early], h->group[early], h->place[late], h->group[late])) return !ahead;
    bool free_i = !(s->will[h->place[i]] & ~h->group[i]), free_j = !(s->will[h->place[j]] & ~h->group[j]);
    return free_i != free_j ? free_i : ahead;
}

/* Which of the places goes on. */
static int choose(const struct scope_thread *s, int warp, const struct heads *h, const uint32_t *ready)
{
    int best = -1;
    for (int i = 0; i < h->n; i++)
        if (ready[i] && (best < 0 || goes_first(s, warp, h, i, best))) best = i;
    return best;
}

/* The lanes that go together next, and their place; 0: none is certain. */
static uint32_t next_group(const struct scope_thread *s, int warp, const struct scope_log *lane, int *place)
{
    struct heads h;
    uint32_t ready[LANES];
    find_heads(lane, &h);
    if (h.stop || h.n == 0) return 0;
    for (int i = 0; i < h.n; i++) {
        enum touch touch = s->run->scope.place[h.place[i]].touch;
        ready[i] = touch == TOUCH_EXCHANGE             ? met(lane, h.group[i])
                   : touch == TOUCH_BARRIER && h.n > 1 ? 0 /* the block waits there for all */
                                                       : h.group[i];
    }
    int i = h.n == 1 && ready[0] ? 0 : choose(s, warp, &h, ready);
    if (i < 0) return 0;
    *place = h.place[i];
    return ready[i];
}

/* A lane goes from place a to b, where it was before; if b is not behind a in the source, that is a new round of some
   loop. (One that was never there is called: functions stand above those that call them.) */
static void note_way(struct scope_thread *s, int a, int b)
{
    const struct scope_place *place = s->run->scope.place;
    s->went[a][b / 64] |= 1ull << b % 64;
    if (before(&place[a], &place[b])) return;
    if (!s->round_end[b] || before(&place[s->round_end[b] - 1], &place[a])) s->round_end[b] = a + 1;
}

static void foresee(struct scope_thread *s, int warp, const struct scope_log *lane)
{
    memset(s->left, 0, (size_t)s->run->scope.nplaces * sizeof s->left[0]);
    memset(s->will, 0, (size_t)s->run->scope.nplaces * sizeof s->will[0]);
    for (int k = 0; k < LANES; k++) {
        int last = -1;
        for (int i = lane[k].next; i < lane[k].n; i++) {
            int place = lane[k].r[i].place;
            s->left[place][k]++;
            s->visits[warp][place][k]++;
            s->will[place] |= 1u << k;
            if (last >= 0 && s->visits[warp][place][k] > 1 && !(s->went[last][place / 64] >> place % 64 & 1))
                note_way(s, last, place);
            last = place;
        }
    }
}

/* What is left was not visited yet. */
static void look_back(struct scope_thread *s, int warp)
{
    for (int p = 0; p < s->run->scope.nplaces; p++)
        for (int k = 0; k < LANES; k++) s->visits[warp][p][k] -= s->left[p][k];
}

void scope_merge(struct scope_thread *s, int64_t block, int warp, struct scope_log *lane)
{
    struct request r;
    if (s->run->full) {
        for (int k = 0; k < LANES; k++) lane[k].next = lane[k].n;
        return;
    }
    foresee(s, warp, lane);
    while ((r.mask = next_group(s, warp, lane, &r.place))) {
        for (int k = 0; k < LANES; k++) r.at[k] = 0;
        for (uint32_t left = r.mask; left; left &= left - 1) {
            int k = __builtin_ctz(left);
            r.at[k] = lane[k].r[lane[k].next++].at;
            if (!--s->left[r.place][k]) s->will[r.place] &= ~(1u << k);
        }
        if (s->run->scope.place[r.place].touch != TOUCH_REJOIN) found_request(s, block, warp, &r);
    }
    look_back(s, warp);
}

/* ---- running a kernel under the microscope ---- */

static void run_free(struct scope_run *run)
{
    for (int t = 0; t < THREADS_MOST; t++) mem_free(run->thread[t]);
    for (int k = 0; k < SCOPE_ARRAYS; k++) mem_free(run->asked[k]);
}

/* y = A x with x all ones; what it does to memory does not depend on the values. */
static bool multiply(const struct kernel *k, const struct mat *M, struct scope_run *run, struct err *e)
{
    struct device *d = M->dev;
    int64_t size = (int64_t)type_size(M->of->real), n = M->of->cols;
    void *x = mem_zero(n, (size_t)size, "the vector x", e), *y = mem_zero(M->of->rows, (size_t)size, "the vector y", e);
    struct launch L = {.A = M, .alpha = 1, .x = x, .y = y};
    if (x && M->of->real == T_F64)
        for (int64_t i = 0; i < n; i++) ((double *)x)[i] = 1;
    else if (x)
        for (int64_t i = 0; i < n; i++) ((float *)x)[i] = 1;
    int units = d->units;
    d->units = SCOPE_UNITS;
    emu_scope(run);
    bool ok = x && y && kernel_launch(k, &L, e) && d->ops->sync(d, e);
    emu_scope(NULL);
    d->units = units;
    mem_free(x);
    mem_free(y);
    if (ok && run->err.code) return fail(e, run->err.code, "%s", run->err.text);
    if (ok && run->full)
        return fail(e, E_LIMIT, "%s touches more than %d arrays at %d places; the microscope has room for no more",
                    k->name, +SCOPE_ARRAYS, +SCOPE_PLACES);
    return ok;
}

static bool can_watch(const struct kernel *k, const struct mat *M, struct err *e)
{
    if (M->dev->kind != DEV_EMU)
        return fail(e, E_INTERNAL, "the microscope looks at the emulator, not at %s", M->dev->name);
    if (kernel_runs_on(k, M->dev)) return true;
    return fail(e, E_UNSUPPORTED,
                "%s does not run on the emulator, so that it cannot be watched; `kernels` lists what does", k->name);
}

static struct scope_run *run_new(const struct kernel *k, const struct mat *M, struct watch *w, struct err *e)
{
    struct scope_run *run = can_watch(k, M, e) ? mem_zero(1, sizeof *run, "the microscope", e) : NULL;
    if (!run) return NULL;
    run->M = M;
    run->scope.kernel = k;
    run->scope.of = M->of;
    run->together = k->together;
    run->watch = w;
    return run;
}

/* ---- one warp ---- */

void trace_free(struct trace *t)
{
    mem_free(t->step);
    *t = (struct trace){0};
}

/* The launches of k, none of their blocks watched. */
static bool survey(const struct kernel *k, const struct mat *M, struct trace *t, struct watch *w, struct err *e)
{
    struct scope_run *run = run_new(k, M, w, e);
    if (!run) return false;
    t->launch = -1;
    run->trace = t;
    bool ok = multiply(k, M, run, e);
    t->scope = run->scope;
    run_free(run);
    mem_free(run);
    return ok;
}

/* The launch with most threads. */
static int largest_launch(const struct scope *s)
{
    int best = 0;
    for (int l = 1; l < s->nlaunches; l++)
        if (s->launch[l].blocks * s->launch[l].threads > s->launch[best].blocks * s->launch[best].threads) best = l;
    return best;
}

static bool is_there(const struct trace *t, int launch, int64_t block, int warp, struct err *e)
{
    const struct scope *s = &t->scope;
    const char *name = s->kernel->name;
    if (s->nlaunches == 0) return fail(e, E_USAGE, "%s launches nothing on an empty matrix", name);
    if (launch < 0 || launch >= s->nlaunches)
        return fail(e, E_USAGE, "expected launch 0 to %d of %s, found %d", s->nlaunches - 1, name, launch);
    const struct scope_launch *l = &s->launch[launch];
    if (block < 0 || block >= l->blocks)
        return fail(e, E_USAGE, "expected block 0 to %lld of %s, found %lld", (long long)l->blocks - 1, name,
                    (long long)block);
    if (warp >= 0 && (int64_t)warp * LANES < l->threads) return true;
    return fail(e, E_USAGE, "expected warp 0 to %lld of a block of %s, found %d", (long long)(l->threads - 1) / LANES,
                name, warp);
}

bool trace_warp(const struct kernel *k, const struct mat *M, int launch, int64_t block, int warp, struct watch *w,
                struct trace *out, struct err *e)
{
    *out = (struct trace){0};
    if (!survey(k, M, out, w, e)) return false;
    if (launch < 0) launch = largest_launch(&out->scope);
    if (!is_there(out, launch, block, warp, e)) return false;
    struct scope_run *run = run_new(k, M, w, e);
    if (!run) return false;
    *out = (struct trace){.launch = launch, .block = block, .warp = warp};
    run->trace = out;
    bool ok = multiply(k, M, run, e);
    out->scope = run->scope;
    out->scope.launch[launch].seen = 1;
    out->warps = (int)((out->scope.launch[launch].threads + LANES - 1) / LANES);
    if (!ok) trace_free(out);
    run_free(run);
    mem_free(run);
    return ok;
}

/* ---- whole kernels ---- */

void tally_add(struct tally *to, const struct tally *t, double scale)
{
    int64_t *a = (int64_t *)to;
    const int64_t *b = (const int64_t *)t;
    for (size_t k = 0; k < sizeof *t / sizeof *b; k++) a[k] += (int64_t)((double)b[k] * scale + 0.5);
}

static void launch_add(struct launch_counts *to, const struct launch_counts *l)
{
    to->warps += l->warps;
    to->steps += l->steps;
    to->active += l->active;
    to->longest_block += l->longest_block;
    if (l->longest_warp > to->longest_warp) to->longest_warp = l->longest_warp;
    if (l->sectors_most > to->sectors_most) to->sectors_most = l->sectors_most;
    to->block_sum += l->block_sum;
    to->block_sum2 += l->block_sum2;
    to->sectors_sum += l->sectors_sum;
    to->sectors_sum2 += l->sectors_sum2;
}

/* Which thread came first to a place is chance; the order of the source is not. */
static bool later(const struct scope_place *a, const struct scope_place *b)
{
    if (a->launch != b->launch) return a->launch > b->launch;
    int file = strcmp(a->file, b->file);
    if (file) return file > 0;
    if (a->line != b->line) return a->line > b->line;
    if (a->column != b->column) return a->column > b->column;
    return a->touch != b->touch ? a->touch > b->touch : a->array > b->array;
}

static void sort_places(struct counts *c)
{
    for (int i = 1; i < c->scope.nplaces; i++) {
        struct scope_place p = c->scope.place[i];
        struct tally t = c->by_place[i];
        int k = i;
        for (; k > 0 && later(&c->scope.place[k - 1], &p); k--) {
            c->scope.place[k] = c->scope.place[k - 1];
            c->by_place[k] = c->by_place[k - 1];
        }
        c->scope.place[k] = p;
        c->by_place[k] = t;
    }
}

static void gather(const struct scope_run *run, struct counts *out)
{
    out->scope = run->scope;
    for (int t = 0; t < THREADS_MOST; t++) {
        const struct scope_thread *s = run->thread[t];
        if (!s) continue;
        out->accesses += s->accesses;
        for (int p = 0; p < run->scope.nplaces; p++) tally_add(&out->by_place[p], &s->by_place[p], 1);
        for (int l = 0; l < run->scope.nlaunches; l++) launch_add(&out->launch[l], &s->launch[l]);
    }
    sort_places(out);
}

bool count_kernel(const struct kernel *k, const struct mat *M, int64_t sample, const struct scope_sink *sink,
                  struct watch *w, struct counts *out, struct err *e)
{
    *out = (struct counts){0};
    struct scope_run *run = run_new(k, M, w, e);
    if (!run) return false;
    double start = now_us();
    run->sample = sample;
    run->sink = sink;
    bool ok = multiply(k, M, run, e);
    if (ok) gather(run, out);
    out->us = now_us() - start;
    run_free(run);
    mem_free(run);
    return ok;
}

static double scale_of(const struct scope_launch *l)
{
    return l->seen ? (double)l->blocks / (double)l->seen : 0;
}

struct tally counts_of(const struct counts *c, enum touch touch, int array, int launch)
{
    struct tally sum = {0};
    for (int k = 0; k < c->scope.nplaces; k++) {
        const struct scope_place *p = &c->scope.place[k];
        if (p->touch == touch && (array < 0 || p->array == array) && (launch < 0 || p->launch == launch))
            tally_add(&sum, &c->by_place[k], scale_of(&c->scope.launch[p->launch]));
    }
    return sum;
}

double counts_error(const struct counts *c)
{
    double total = 0, variance = 0;
    for (int l = 0; l < c->scope.nlaunches; l++) {
        double N = (double)c->scope.launch[l].blocks, n = (double)c->scope.launch[l].seen;
        const struct launch_counts *s = &c->launch[l];
        if (n < 1) continue;
        total += s->sectors_sum / n * N;
        if (n == N) continue;
        if (n < 2) return NAN;
        double mean = s->sectors_sum / n, around = (s->sectors_sum2 - n * mean * mean) / (n - 1);
        variance += N * N * (1 - n / N) * (around > 0 ? around : 0) / n;
    }
    return total > 0 ? 1.96 * sqrt(variance) / total : 0;
}
