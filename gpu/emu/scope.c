/* Watched launches: their blocks, the arrays and access sites of their kernels, and the requests, which are counted or
   kept. */
#include <stdio.h>

#include "base/mem.h"
#include "base/watch.h"
#include "elide.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/random.h"
#include "pick.h"
#include "rounds.h"
#include "scope.h"
#include "scope_run.h"
#include "shared_places.h"

#include <math.h>
#include <string.h>

const char *const access_names[ACCESS_KINDS] = {"load",        "store",        "atomic",        "texture load",
                                                "shared load", "shared store", "shared atomic", "exchange",
                                                "barrier",     "rejoin"};

/* ---- launches and blocks ---- */

/* BLOCKS_MIN: the least number of blocks in a sample of one of every so many blocks. Of a sample of a part of the
   blocks: ENOUGH, or WATCHED_MIN if so many make more than HEAVY accesses. */
enum { BLOCKS_MIN = 32, WATCHED_MIN = 4, ENOUGH = 16, HEAVY = 1000 * 1000 };

/* The blocks to watch of a launch: the given part of them, but not too few. */
static int64_t blocks_of_part(const struct scope_run *run, int64_t blocks)
{
    double of_budget = HEAVY / (run->all / (double)blocks), least = fmax(WATCHED_MIN, fmin(ENOUGH, of_budget));
    return (int64_t)fmax(least, run->part * (double)blocks);
}

/* One of this number of blocks is watched. */
static int64_t every_of(int64_t sample, int64_t blocks)
{
    int64_t most = blocks > BLOCKS_MIN ? blocks / BLOCKS_MIN : 1;
    if (sample < 0) return -sample < most ? -sample : most;
    return sample > 0 && blocks > sample ? (blocks + sample - 1) / sample : 1;
}

/* The watched block of group g of `every` blocks. It is the same one of each group, or, if the sample is a part of the
   blocks, one at random: in some matrices, such as those of R-MAT, rows at equal distances are alike. */
static int64_t watched_of(const struct scope_run *run, int64_t g)
{
    uint64_t state = (uint64_t)run->scope.nlaunches + ((uint64_t)g << 8);
    int64_t at = run->sample < 0 ? (int64_t)(random_next(&state) % (uint64_t)run->every) : run->from;
    return g * run->every + at;
}

bool scope_begin(struct scope_run *run, const char *name, const char *function, const char *instance, int64_t blocks,
                 int64_t threads)
{
    struct scope *s = &run->scope;
    if (s->nlaunches == SCOPE_LAUNCHES) return false;
    struct scope_launch *l = &s->launch[s->nlaunches++];
    *l = (struct scope_launch){.blocks = blocks, .threads = threads};
    snprintf(l->name, sizeof l->name, "%s", name);
    if (*instance) function = instance; /* a launch may name a pointer to the function */
    snprintf(l->function, sizeof l->function, "%.*s", (int)strcspn(function, "<"), function);
    snprintf(l->instance, sizeof l->instance, "%s", instance);
    l->registers = elide_registers(run, l->function);
    for (int a = 0; a < s->narrays; a++) /* a sector counts as fetched before only within its launch */
        if (run->requested[a])
            memset(run->requested[a], 0, (size_t)scope_sector_words(&s->array[a]) * sizeof *run->requested[a]);
    if (run->trace) return true;
    uint64_t state = (uint64_t)s->nlaunches;
    run->every = every_of(run->part ? blocks_of_part(run, blocks) : run->sample, blocks);
    run->from = (int64_t)(random_next(&state) % (uint64_t)run->every);
    l->seen = blocks / run->every + (blocks % run->every && watched_of(run, blocks / run->every) < blocks);
    pick_blocks(run);
    return true;
}

enum scope_block scope_block(const struct scope_run *run, int64_t block)
{
    const struct trace *t = run->trace;
    enum scope_block other = run->together ? SCOPE_RUN : SCOPE_SKIP;
    int launch = run->scope.nlaunches - 1;
    if (t && launch == t->launch && block == t->block) return SCOPE_WATCH;
    if (t) return launch < t->launch || (launch == t->launch && block < t->block) ? other : SCOPE_SKIP;
    if (run->pick[launch]) return run->pick[launch][block] != PICK_SKIP ? SCOPE_WATCH : other;
    return block == watched_of(run, block / run->every) ? SCOPE_WATCH : other;
}

/* Does the block count only for itself? */
static bool is_exact(const struct scope_run *run, int64_t block)
{
    const unsigned char *pick = run->pick[run->scope.nlaunches - 1];
    return pick && pick[block] == PICK_EXACT;
}

bool scope_watches_warp(const struct scope_run *run, int warp)
{
    return !run->trace || run->trace->warp == warp;
}

bool scope_skips(const struct scope_run *run)
{
    return (run->sample || run->part) && !run->together;
}

bool scope_alone(const struct scope_run *run)
{
    return run->trace || run->sink || run->together;
}

/* Rows of y stored so far: the progress of a kernel whose first block may do all of the work. */
static int64_t rows_done(const struct scope_run *run)
{
    const struct scope_thread *s = run->thread[0];
    int64_t rows = 0;
    for (int p = 0; s && p < run->scope.nsites; p++)
        if (run->scope.site[p].kind == ACCESS_STORE) rows += s->by_site[p].lanes;
    return rows < run->scope.rows ? rows : run->scope.rows;
}

bool scope_tick(const struct scope_run *run, int64_t done, int64_t blocks, struct err *e)
{
    const struct scope *s = &run->scope;
    if (s->kernel && s->kernel->shares && run->together)
        return watch_tick(run->watch, s->name, rows_done(run), s->rows, e);
    return watch_tick(run->watch, s->name, done, blocks, e);
}

int scope_first_warp(const struct scope_run *run)
{
    const struct kernel *k = run->scope.kernel;
    return run->trace && !(k && k->shares) ? run->trace->warp : -1;
}

bool scope_traces(const struct scope_run *run)
{
    return run->trace != NULL;
}

bool scope_follow(const struct scope_run *run, struct err *e)
{
    return !run->scope.kernel || places_begin(run, e);
}

bool scope_traced(const struct scope_run *run)
{
    return run->traced;
}

/* Note when to leave a block that counts only for itself. */
static void note_begin(struct scope_thread *s, int64_t block)
{
    const struct scope_run *run = s->run;
    int l = run->scope.nlaunches - 1;
    s->left = false;
    s->values = 0;
    s->leave_at = INT64_MAX;
    if (!run->block_most || !run->slots[l] || !is_exact(run, block)) return;
    s->leave_at = s->accesses + run->block_most;
    memcpy(s->before_site, s->exact_site, sizeof s->before_site);
    s->before_launch = s->exact_launch[l];
}

struct scope_thread *scope_block_begin(struct scope_run *run, int64_t block, int t)
{
    if (t >= THREADS_MAX) return NULL;
    if (run->sink) run->scope.weight = pick_weight(run, run->scope.nlaunches - 1, block);
    if (!run->thread[t]) {
        run->thread[t] = mem_zero(1, sizeof *run->thread[t], "the counts of a kernel", &run->err);
        if (!run->thread[t]) return NULL;
        run->thread[t]->run = run;
    }
    note_begin(run->thread[t], block);
    return run->thread[t];
}

bool scope_leaves(struct scope_thread *s)
{
    return s->left = s->accesses >= s->leave_at;
}

/* The work of the whole block, divided by the work before it was ended early. */
static double longer_of(const struct scope_thread *s, int64_t block)
{
    const double *slots = s->run->slots[s->run->scope.nlaunches - 1];
    return s->left && s->values ? fmax(1, slots[block] / (double)s->values) : 1;
}

/* Scale the exact counts of a block that was ended early to those of the whole block. */
static void scale_left(struct scope_thread *s, double longer)
{
    struct launch_counts *l = &s->exact_launch[s->run->scope.nlaunches - 1], *b = &s->before_launch;
    for (int p = 0; p < s->run->scope.nsites; p++) {
        struct tally *t = &s->exact_site[p], own;
        for (size_t k = 0; k < sizeof *t / sizeof(int64_t); k++)
            ((int64_t *)&own)[k] = ((int64_t *)t)[k] - ((int64_t *)&s->before_site[p])[k];
        tally_add(t, &own, longer - 1);
    }
    l->steps += (int64_t)((longer - 1) * (double)(l->steps - b->steps));
    l->active += (int64_t)((longer - 1) * (double)(l->active - b->active));
    l->longest_block += (int64_t)((longer - 1) * (double)(l->longest_block - b->longest_block));
    l->sectors_sum += (longer - 1) * (l->sectors_sum - b->sectors_sum);
    l->left++;
}

/* ---- access sites and arrays ---- */

const char *scope_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int stored_number(const struct scope_run *run, uint64_t base)
{
    for (int k = 0; run->M && k < run->M->of->narrays; k++)
        if ((uint64_t)run->M->ptr[k] == base && run->M->of->a[k].n > 0) return k;
    return -1;
}

/* The index of an array, which is added at its first use; -1: the table of arrays is full. */
static int array_of(struct scope_run *run, const struct lane_access *t)
{
    struct scope *s = &run->scope;
    for (int k = 0; k < s->narrays; k++)
        if (s->array[k].base == t->base && s->array[k].shared == t->shared && s->array[k].size == t->size &&
            !strcmp(s->array[k].name, t->name))
            return k;
    if (s->narrays == SCOPE_ARRAYS) return -1;
    struct scope_array *a = &s->array[s->narrays];
    *a = (struct scope_array){.role = t->role,
                              .stored = t->shared ? -1 : stored_number(run, t->base),
                              .shared = t->shared,
                              .integral = t->integral,
                              .n = t->n,
                              .size = t->size,
                              .base = t->base};
    snprintf(a->name, sizeof a->name, "%s", t->name);
    uint64_t **asked = &run->requested[s->narrays];
    if (!t->shared)
        *asked = mem_zero(scope_sector_words(a), sizeof **asked, "the sectors a kernel requested", &run->err);
    return t->shared || *asked ? s->narrays++ : -1;
}

static bool same_site(const struct scope_run *run, int k, const struct lane_access *t, int array)
{
    const struct access_site *p = &run->scope.site[k];
    return p->line == t->line && p->column == t->column && p->kind == t->kind && p->array == array &&
           p->elements == t->elements && p->launch == run->scope.nlaunches - 1 && run->origin[k].file == t->file &&
           (array >= 0 || run->origin[k].name == t->name);
}

static int site_new(struct scope_run *run, const struct lane_access *t)
{
    struct scope *s = &run->scope;
    bool in_memory = t->kind < ACCESS_COLLECTIVE;
    int array = in_memory ? array_of(run, t) : -1;
    for (int k = 0; k < s->nsites; k++)
        if (same_site(run, k, t, array)) return k;
    if (s->nsites == SCOPE_SITES || (in_memory && array < 0)) {
        run->full = true;
        return 0;
    }
    run->origin[s->nsites].file = t->file;
    run->origin[s->nsites].name = t->name;
    s->site[s->nsites] = (struct access_site){.kind = t->kind,
                                              .file = scope_file_name(t->file),
                                              .line = t->line,
                                              .column = t->column,
                                              .array = array,
                                              .elements = t->elements,
                                              .once = t->once,
                                              .what = t->kind == ACCESS_COLLECTIVE ? t->name : NULL,
                                              .launch = s->nlaunches - 1,
                                              .unroll = t->unroll};
    elide_site(run, s->nsites);
    rounds_site(run, s->nsites);
    return s->nsites++;
}

int access_site_of(struct scope_thread *s, const struct lane_access *t)
{
    unsigned hash = (unsigned)(t->line * 37 + t->column * 5 + (int)t->kind) ^ (unsigned)(t->base >> 8);
    struct cached *c = &s->cached[hash % CACHED];
    int launch = s->run->scope.nlaunches;
    if (c->t.line == t->line && c->t.column == t->column && c->t.base == t->base && c->t.kind == t->kind &&
        c->t.elements == t->elements && c->t.file == t->file && c->t.name == t->name && c->launch == launch)
        return c->site;
    c->t = *t;
    c->launch = launch;
#pragma omp critical(access_sites)
    c->site = site_new(s->run, t);
    return c->site;
}

/* ---- requests ---- */

/* Count the sectors of the request f that were requested before, and mark all sectors of f as requested. Other threads
   may call this function at the same time. */
static int64_t refetched_sectors(struct scope_run *run, const struct access_site *p, const struct request_facts *f)
{
    uint64_t first = run->scope.array[p->array].base / SECTOR;
    int64_t refetched = 0;
    for (int k = 0; k < f->nsectors; k++) {
        uint64_t bit = f->sector[k] - first, *word = &run->requested[p->array][bit / 64], flag = 1ull << bit % 64;
        if (__atomic_load_n(word, __ATOMIC_RELAXED) & flag || __atomic_fetch_or(word, flag, __ATOMIC_RELAXED) & flag)
            refetched++;
    }
    return refetched;
}

/* Are values of the matrix loaded there? */
static bool is_value(const struct scope_run *run, const struct access_site *p)
{
    int stored = p->array < 0 || p->kind != ACCESS_LOAD ? -1 : run->scope.array[p->array].stored;
    return stored >= 0 && stored_is_value(run->scope.of, stored);
}

static void count_request(struct scope_thread *s, const struct request *r, bool exact)
{
    const struct access_site *p = &s->run->scope.site[r->site];
    struct tally *t = exact ? &s->exact_site[r->site] : &s->by_site[r->site];
    struct request_facts *f = &s->facts;
    facts_of(&s->run->scope, r, f);
    t->requests++;
    t->lanes += f->lanes;
    t->sectors += f->nsectors;
    t->bytes += f->bytes;
    t->padding += f->padding;
    t->wavefronts += f->wavefronts;
    t->wavefronts_least += f->wavefronts_least;
    t->contended += f->contended;
    if (exact && is_value(s->run, p)) s->values += f->lanes * p->elements;
    if (accesses_global(p->kind)) {
        t->refetched += refetched_sectors(s->run, p, f);
        s->sectors += f->nsectors;
    }
}

static void keep_request(struct scope_run *run, const struct request *r)
{
    struct trace *t = run->trace;
    if (t->nsteps == run->trace_most) t->cut = run->traced = true;
    if (t->cut || run->err.code) return;
    if (t->nsteps >= 256 ? !(t->nsteps & (t->nsteps - 1)) : t->nsteps == 0) { /* the array is full: double its length */
        int64_t room = t->nsteps ? 2 * t->nsteps : 256;
        struct request *more = mem_resize(t->step, room, sizeof *more, "the steps of a warp", &run->err);
        if (!more) return;
        t->step = more;
    }
    t->step[t->nsteps++] = *r;
}

static void add_request(struct scope_thread *s, int64_t block, int warp, const struct request *r)
{
    struct scope_run *run = s->run;
    bool exact = is_exact(run, block);
    struct launch_counts *l = &(exact ? s->exact_launch : s->launch)[run->scope.nlaunches - 1];
    s->warp_steps[warp]++;
    l->steps++;
    l->active += __builtin_popcount(r->mask);
    if (run->trace)
        keep_request(run, r);
    else
        count_request(s, r, exact);
    if (run->sink) run->sink->request(run->sink->user, &run->scope, block, warp, r, &s->facts);
}

/* r NULL: the block has ended. */
static void add_gathered(struct scope_thread *s, int64_t block, int warp, const struct request *r)
{
    struct request gathered;
    while (elide_gathered(s, warp, r, &gathered)) {
        (is_exact(s->run, block) ? s->exact_site : s->by_site)[gathered.site].elided--;
        add_request(s, block, warp, &gathered);
    }
}

void scope_request(struct scope_thread *s, int64_t block, int warp, const struct request *r)
{
    s->accesses += __builtin_popcount(r->mask);
    add_gathered(s, block, warp, r);
    if (!elide_request(s, warp, r))
        add_request(s, block, warp, r);
    else
        (is_exact(s->run, block) ? s->exact_site : s->by_site)[r->site].elided++;
}

void scope_block_end(struct scope_thread *s, int64_t block, int warps)
{
    struct scope_run *run = s->run;
    struct launch_counts *l = &(is_exact(run, block) ? s->exact_launch : s->launch)[run->scope.nlaunches - 1];
    int64_t steps = 0, longest = 0;
    for (int w = 0; w < warps; w++) {
        add_gathered(s, block, w, NULL);
        steps += s->warp_steps[w];
        if (s->warp_steps[w] > longest) longest = s->warp_steps[w];
        s->warp_steps[w] = 0;
        memset(s->visits[w], 0, (size_t)run->scope.nsites * sizeof s->visits[w][0]);
    }
    elide_block_end(s, warps);
    rounds_block_end(s, warps);
    memset(s->iteration_end, 0, (size_t)run->scope.nsites * sizeof s->iteration_end[0]);
    memset(s->transitions, 0, (size_t)run->scope.nsites * sizeof s->transitions[0]);
    l->warps += warps;
    if (longest > l->longest_warp) l->longest_warp = longest;
    l->longest_block += longest;
    l->block_sum += (double)steps;
    l->block_sum2 += (double)steps * (double)steps;
    l->sectors_sum += (double)s->sectors;
    l->sectors_sum2 += (double)s->sectors * (double)s->sectors;
    if (s->sectors > l->sectors_most) l->sectors_most = s->sectors;
    if (run->pick[run->scope.nlaunches - 1]) run->block_sectors[run->scope.nlaunches - 1][block] = (double)s->sectors;
    s->sectors = 0;
    double longer = longer_of(s, block);
    if (s->left) scale_left(s, longer);
    run->scope.longer = longer;
    if (s->left) run->scope.weight *= longer;
    run->traced |= run->trace != NULL;
    if (run->sink && run->sink->block_end)
        run->sink->block_end(run->sink->user, &run->scope, run->scope.nlaunches - 1, block);
}
