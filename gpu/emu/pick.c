/* Samples of blocks. The counts of a block grow with the entries that the block reads. Blocks are therefore sorted by
   entries, and one of each group of neighbours in that order is watched, so that the sample has light and heavy blocks
   in the same shares as the launch. A block with more than twice the entries that a group has on average is always
   watched and counts once; so do the eight blocks with the most entries, if these are more than twice the average of a
   block, because they may be the slowest. */
#include "pick.h"
#include "base/err.h"
#include "base/mem.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/random.h"

#include <stdlib.h>

/* PROBES: blocks of a launch that are watched first. HEAVIEST: blocks that are watched because they may be the slowest.
 */
enum { PROBES = 4, HEAVIEST = 8 };

/* ---- the entries of blocks ---- A format that divides its entries (among rows, columns, slices, pieces) stores where
   each part begins. If block b loads these numbers from index each * b on, the entries of all blocks are known. */

enum { STARTS_MAX = 4 };

/* The first element of an array of starts that each watched block of a launch loads. */
struct starts {
    int stored, n; /* stored: the number of the array in the format */
    int64_t block[2 * PROBES], first[2 * PROBES];
};

struct probe {
    const struct stored *S;
    bool starts[ARRAYS_MAX]; /* the arrays that say where parts begin */
    struct {
        int n;
        struct starts of[STARTS_MAX];
    } launch[SCOPE_LAUNCHES];
};

/* Does the array say where parts begin? Pointers do; an array of layout does if its elements never fall. */
static bool is_starts(const struct array *a)
{
    if ((a->type != T_I32 && a->type != T_I64) || a->n < 2) return false;
    if (a->role != ROLE_LAYOUT) return a->role == ROLE_POINTERS;
    for (int64_t i = 1; i < a->n; i++)
        if (array_real(a, i) < array_real(a, i - 1)) return false;
    return true;
}

/* The starts of this array in launch l; NULL: they are too many, or the array has none. */
static struct starts *starts_of(struct probe *p, int l, int stored)
{
    int n = p->launch[l].n;
    for (int k = 0; k < n; k++)
        if (p->launch[l].of[k].stored == stored) return &p->launch[l].of[k];
    if (n == STARTS_MAX || !p->starts[stored]) return NULL;
    p->launch[l].of[n].stored = stored;
    return &p->launch[l].of[p->launch[l].n++];
}

static void probe_request(void *user, const struct scope *s, int64_t block, int warp, const struct request *r,
                          const struct request_facts *facts)
{
    struct probe *p = user;
    const struct access_site *site = &s->site[r->site];
    int stored = site->kind == ACCESS_LOAD ? s->array[site->array].stored : -1;
    if (stored < 0) return;
    struct starts *t = starts_of(p, s->nlaunches - 1, stored);
    for (uint32_t left = t ? r->mask : 0; left; left &= left - 1) {
        int64_t at = r->at[__builtin_ctz(left)];
        if (at < 0 || at >= p->S->a[stored].n) continue;
        if (!t->n || t->block[t->n - 1] != block) {
            if (t->n == 2 * PROBES) return;
            t->block[t->n] = block;
            t->first[t->n++] = at;
        }
        if (at < t->first[t->n - 1]) t->first[t->n - 1] = at;
    }
}

/* The parts of each block if all probes agree on it; otherwise 0. */
static int64_t parts_of_block(const struct starts *t)
{
    if (t->n < 3 || t->block[t->n - 1] <= t->block[0]) return 0;
    int64_t each = (t->first[t->n - 1] - t->first[0]) / (t->block[t->n - 1] - t->block[0]);
    for (int k = 0; k < t->n; k++)
        if (t->first[k] != each * t->block[k]) return 0;
    return each > 0 ? each : 0;
}

static void keep_parts(struct probe *p, int l, struct scope_run *run)
{
    for (int k = 0; k < p->launch[l].n && !run->parts_each[l]; k++) {
        run->parts_each[l] = parts_of_block(&p->launch[l].of[k]);
        run->starts[l] = &p->S->a[p->launch[l].of[k].stored];
    }
}

bool pick_prepare(const struct watched *of, struct scope_run *run, double *accesses, count_fn *count, struct watch *w,
                  struct err *e)
{
    const struct stored *S = of->M ? of->M->of : NULL;
    if (!S || of->together || !of->kernel || of->kernel->shares) return true;
    struct err why = {0};
    struct probe *p = mem_zero(1, sizeof *p, "the entries of blocks", &why);
    struct counts *c = mem_zero(1, sizeof *c, "the counts of a kernel", &why);
    bool ok = p && c && !why.code;
    if (ok) {
        struct scope_sink sink = {probe_request, NULL, p};
        p->S = S;
        for (int k = 0; k < S->narrays; k++) p->starts[k] = is_starts(&S->a[k]);
        ok = count(of, PROBES, &sink, w, c, &why);
        for (int l = 0; ok && l < SCOPE_LAUNCHES; l++) keep_parts(p, l, run);
        if (ok) *accesses = counts_accesses(c);
    }
    mem_free(c);
    mem_free(p);
    return ok || fail(e, why.code, "%s", why.text);
}

/* ---- the choice ---- */

struct loaded {
    double slots;
    int64_t block;
};

static int heavier(const void *a, const void *b)
{
    const struct loaded *x = a, *y = b;
    if (x->slots != y->slots) return x->slots < y->slots ? 1 : -1;
    return (x->block > y->block) - (x->block < y->block);
}

static double sort_blocks(const struct array *starts, int64_t blocks, int64_t each, struct loaded *c)
{
    int64_t parts = starts->n - 1;
    double sum = 0;
    for (int64_t b = 0; b < blocks; b++) {
        int64_t first = b * each < parts ? b * each : parts, end = first + each < parts ? first + each : parts;
        c[b] = (struct loaded){array_real(starts, end) - array_real(starts, first), b};
        sum += c[b].slots;
    }
    qsort(c, (size_t)blocks, sizeof *c, heavier);
    return sum;
}

/* Choose all blocks at the head of the sorted list that are too heavy for a sample, and one of each group of the
   rest. */
static void choose(struct scope_run *run, int l, const struct loaded *c, double slots)
{
    int64_t blocks = run->scope.launch[l].blocks, n = blocks / run->every, heavy = 0, light = 0;
    uint64_t state = (uint64_t)l + 1;
    double group = slots / (double)n, one = slots / (double)blocks;
    while (heavy < blocks && (c[heavy].slots >= 2 * group || (heavy < HEAVIEST && c[heavy].slots > 2 * one)))
        run->pick[l][c[heavy++].block] = PICK_EXACT;
    int64_t others = blocks - heavy, groups = (others + run->every - 1) / run->every;
    for (int64_t i = 0; i < groups; i++) { /* of equal size, so that each counts as much as the others */
        int64_t from = heavy + others * i / groups, end = heavy + others * (i + 1) / groups;
        int64_t block = c[from + (int64_t)(random_next(&state) % (uint64_t)(end - from))].block;
        run->pick[l][block] = PICK_SAMPLE;
        run->sampled[l][light++] = block;
    }
    run->light[l] = light;
    run->scope.launch[l].seen = heavy + light;
}

/* The values that each block loads: the parts of the format may begin at numbers of slots, or of blocks of slots. */
static void note_slots(struct scope_run *run, int l, const struct loaded *c)
{
    int64_t blocks = run->scope.launch[l].blocks;
    double all = array_real(run->starts[l], run->starts[l]->n - 1);
    run->slots[l] = mem_new(blocks, sizeof *run->slots[l], "the blocks of a launch", &run->err);
    for (int64_t i = 0; run->slots[l] && i < blocks; i++)
        run->slots[l][c[i].block] = c[i].slots * (all > 0 ? (double)stored_slots(run->scope.of) / all : 0);
}

void pick_blocks(struct scope_run *run)
{
    int l = run->scope.nlaunches - 1;
    int64_t each = run->parts_each[l], blocks = run->scope.launch[l].blocks;
    if (!each || run->every <= 1) return;
    struct loaded *c = mem_new(blocks, sizeof *c, "the blocks of a launch", &run->err);
    run->sampled[l] = c ? mem_new(blocks, sizeof *run->sampled[l], "the blocks of a launch", &run->err) : NULL;
    run->block_sectors[l] =
        run->sampled[l] ? mem_zero(blocks, sizeof *run->block_sectors[l], "the blocks of a launch", &run->err) : NULL;
    run->pick[l] = run->block_sectors[l] ? mem_zero(blocks, 1, "the blocks of a launch", &run->err) : NULL;
    if (run->pick[l]) choose(run, l, c, sort_blocks(run->starts[l], blocks, each, c));
    if (run->pick[l] && run->block_most) note_slots(run, l, c);
    mem_free(c);
}

/* ---- the counts ---- */

static void fold_tally(struct tally *to, const struct tally *sample, const struct tally *exact, double times,
                       double once)
{
    int64_t *a = (int64_t *)to;
    const int64_t *b = (const int64_t *)sample, *c = (const int64_t *)exact;
    for (size_t k = 0; k < sizeof *to / sizeof *a; k++)
        a[k] += (int64_t)((double)b[k] * times + (double)c[k] * once + 0.5);
}

/* The variance of the sectors of sampled blocks within their groups, from the differences of neighbours in the order of
   entries. */
static double variance_of(const struct scope_run *run, int l)
{
    double sum = 0;
    int64_t n = run->light[l];
    for (int64_t k = 1; k < n; k++) {
        double change = run->block_sectors[l][run->sampled[l][k]] - run->block_sectors[l][run->sampled[l][k - 1]];
        sum += change * change / 2;
    }
    return n > 1 ? sum / (double)(n - 1) : 0;
}

/* The sum of squares from which counts_error computes the error of the sample, to which exact blocks add nothing. */
static double squares(const struct scope_run *run, int l, double sectors)
{
    double blocks = (double)run->scope.launch[l].blocks, n = (double)run->scope.launch[l].seen;
    double light = (double)run->light[l], others = blocks - (n - light);
    double of_total = light > 0 ? others * (others - light) * variance_of(run, l) / light : 0;
    double of_block = n < blocks ? of_total * n / (blocks * (blocks - n)) : 0;
    return of_block * (n - 1) + sectors * sectors / n;
}

static void add_launch(struct launch_counts *to, const struct launch_counts *l, double times)
{
    to->warps += (int64_t)((double)l->warps * times + 0.5);
    to->steps += (int64_t)((double)l->steps * times + 0.5);
    to->active += (int64_t)((double)l->active * times + 0.5);
    to->longest_block += (int64_t)((double)l->longest_block * times + 0.5);
    if (l->longest_warp > to->longest_warp) to->longest_warp = l->longest_warp;
    if (l->sectors_most > to->sectors_most) to->sectors_most = l->sectors_most;
    to->left += l->left;
    to->block_sum += l->block_sum * times;
    to->block_sum2 += l->block_sum2 * times;
    to->sectors_sum += l->sectors_sum * times;
    to->sectors_sum2 += l->sectors_sum2 * times;
}

void pick_gather(const struct scope_run *run, int l, struct counts *out)
{
    double blocks = (double)run->scope.launch[l].blocks, n = (double)run->scope.launch[l].seen;
    double light = (double)run->light[l], others = blocks - (n - light);
    double once = n / blocks, times = light > 0 ? others / light * once : 0;
    for (int t = 0; t < THREADS_MAX; t++) {
        const struct scope_thread *s = run->thread[t];
        if (!s) continue;
        add_launch(&out->launch[l], &s->launch[l], times);
        add_launch(&out->launch[l], &s->exact_launch[l], once);
    }
    for (int p = 0; p < run->scope.nsites; p++) {
        struct tally of_sample = {0}, of_exact = {0};
        if (run->scope.site[p].launch != l) continue;
        for (int t = 0; t < THREADS_MAX; t++) {
            if (!run->thread[t]) continue;
            tally_add(&of_sample, &run->thread[t]->by_site[p], 1);
            tally_add(&of_exact, &run->thread[t]->exact_site[p], 1);
        }
        fold_tally(&out->by_site[p], &of_sample, &of_exact, times, once);
    }
    out->launch[l].sectors_sum2 = squares(run, l, out->launch[l].sectors_sum);
}

double pick_weight(const struct scope_run *run, int l, int64_t block)
{
    double blocks = (double)run->scope.launch[l].blocks, n = (double)run->scope.launch[l].seen;
    double light = (double)run->light[l];
    if (!run->pick[l]) return n > 0 ? blocks / n : 0;
    return run->pick[l][block] == PICK_EXACT ? 1 : (blocks - (n - light)) / light;
}

void pick_free(struct scope_run *run)
{
    for (int l = 0; l < SCOPE_LAUNCHES; l++) {
        mem_free(run->pick[l]);
        mem_free(run->sampled[l]);
        mem_free(run->block_sectors[l]);
        mem_free(run->slots[l]);
    }
}
