/* Runs launches on the emulator and watches them: traces one warp, or counts the accesses of all launches. */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "elide.h"
#include "emu.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/remote.h"
#include "pick.h"
#include "scope_run.h"
#include "shared_places.h"

#include <string.h>

static void run_free(struct scope_run *run)
{
    for (int t = 0; t < THREADS_MAX; t++) {
        struct scope_thread *s = run->thread[t];
        if (!s) continue;
        mem_free(s->last);
        mem_free(s->gathered);
        mem_free(s->rounds);
        mem_free(s);
    }
    for (int k = 0; k < SCOPE_ARRAYS; k++) mem_free(run->requested[k]);
    pick_free(run);
}

/* ---- launches to watch ---- */

/* The vectors of watched products, kept for the next one, which usually multiplies by the same matrix: allocating and
   clearing a large vector is slower than running a few blocks. Nothing writes x. */
static struct vectors {
    int64_t x_bytes, y_bytes;
    void *x, *y;
    bool filled; /* the elements of x are places_x instead of 0 */
} kept;
static bool fills_x; /* the next product is to have places_x */

void emu_vectors_free(void)
{
    mem_free(kept.x);
    mem_free(kept.y);
    kept = (struct vectors){0};
}

static bool vectors_for(const struct stored *S, struct err *e)
{
    int64_t size = (int64_t)type_size(precisions[S->real].vector), x_bytes = S->cols * size, y_bytes = S->rows * size;
    if (kept.y && kept.x_bytes == x_bytes && kept.y_bytes == y_bytes) return true;
    emu_vectors_free();
    kept.x = mem_zero(x_bytes, 1, "the vector x", e);
    kept.y = kept.x ? mem_zero(y_bytes, 1, "the vector y", e) : NULL;
    if (!kept.y) return emu_vectors_free(), false;
    kept.x_bytes = x_bytes;
    kept.y_bytes = y_bytes;
    return true;
}

/* x of a traced product, by which the products in shared memory are recognised. Complex elements are real. */
static void fill_x(const struct stored *S)
{
    int64_t parts = type_parts(precisions[S->real].vector);
    bool narrow = precisions[S->real].part == T_F32;
    for (int64_t i = 0; i < S->cols && !kept.filled; i++)
        if (narrow)
            ((float *)kept.x)[parts * i] = (float)places_x(i);
        else
            ((double *)kept.x)[parts * i] = places_x(i);
    kept.filled = true;
}

/* y = A x, where x is 0, except in a trace: the memory accesses do not depend on the values. */
static bool multiply(const struct watched *of, struct err *e)
{
    if (!vectors_for(of->M->of, e)) return false;
    if (fills_x) fill_x(of->M->of);
    struct launch L = {.A = of->M, .alpha = 1, .x = kept.x, .y = kept.y};
    return kernel_launch(of->kernel, &L, e) && of->dev->ops->sync(of->dev, e);
}

struct watched watched_kernel(const struct kernel *k, const struct mat *M)
{
    return (struct watched){.name = k->name,
                            .kernel = k,
                            .M = M,
                            .dev = M->dev,
                            .rows = M->of->rows,
                            .units = M->units,
                            .together = k->together,
                            .queue = multiply};
}

/* kernel_launch itself states which launches belong to its kernel; all launches of another method are watched. */
static bool queue(const struct watched *of, struct err *e)
{
    if (of->kernel) return of->queue(of, e);
    emu_scope_kernel(true);
    bool ok = of->queue(of, e) && of->dev->ops->sync(of->dev, e);
    emu_scope_kernel(false);
    return ok;
}

static bool watch_launches(const struct watched *of, struct scope_run *run, struct err *e)
{
    struct device *d = of->dev;
    if (of->prepare && !of->prepare(of, e)) return false;
    int units = d->units;
    d->units = of->units ? of->units : SCOPE_UNITS;
    struct err why = {0};
    emu_scope(run);
    bool ok = queue(of, &why) || (run->traced && !why.code);
    emu_scope(NULL);
    d->units = units;
    if (run->traced) d->ops->sync(d, NULL); /* the launches may have ended before they did so */
    if (!ok && e && !e->code) *e = why;
    if (ok && run->err.code) return fail(e, run->err.code, "%s", run->err.text);
    if (ok && run->full)
        return fail(e, E_LIMIT,
                    "%s accesses more arrays or source sites than the microscope can hold (%d arrays and %d sites)",
                    of->name, +SCOPE_ARRAYS, +SCOPE_SITES);
    return ok;
}

static bool can_watch(const struct watched *of, struct err *e)
{
    if (of->dev->kind != DEV_EMU)
        return fail(e, E_INTERNAL, "the microscope can watch only the emulator, not %s", of->dev->name);
    if (!of->kernel || kernel_runs_on(of->kernel, of->dev)) return true;
    return fail(e, E_UNSUPPORTED,
                "%s does not run on the emulator, so it cannot be watched; `kernels` shows where kernels run",
                of->name);
}

static struct scope_run *run_new(const struct watched *of, struct watch *w, struct err *e)
{
    struct scope_run *run = can_watch(of, e) ? mem_zero(1, sizeof *run, "the microscope", e) : NULL;
    if (!run) return NULL;
    run->M = of->M;
    run->scope.name = of->name;
    run->scope.kernel = of->kernel;
    run->scope.of = of->M ? of->M->of : NULL;
    run->scope.rows = of->rows;
    run->together = of->together;
    run->compiled = elide_code();
    run->trace_most = of->trace_most ? of->trace_most : TRACE_MAX;
    run->watch = w;
    return run;
}

/* ---- one warp ---- */

void trace_free(struct trace *t)
{
    mem_free(t->step);
    *t = (struct trace){0};
}

/* Record the launches without watching any of their blocks. */
static bool survey(const struct watched *of, struct trace *t, struct watch *w, struct err *e)
{
    struct scope_run *run = run_new(of, w, e);
    if (!run) return false;
    t->launch = -1;
    run->trace = t;
    bool ok = watch_launches(of, run, e);
    t->scope = run->scope;
    run_free(run);
    mem_free(run);
    return ok;
}

/* The launch with the most threads. */
static int largest_launch(const struct scope *s)
{
    int best = 0;
    for (int l = 1; l < s->nlaunches; l++)
        if (s->launch[l].blocks * s->launch[l].threads > s->launch[best].blocks * s->launch[best].threads) best = l;
    return best;
}

static bool has_warp(const struct trace *t, int launch, int64_t block, int warp, struct err *e)
{
    const struct scope *s = &t->scope;
    const char *name = s->name;
    if (s->nlaunches == 0) return fail(e, E_USAGE, "%s launches nothing on an empty matrix", name);
    if (launch < 0 || launch >= s->nlaunches)
        return fail(e, E_USAGE, "%s has no launch %d: its launches are 0 .. %d", name, launch, s->nlaunches - 1);
    const struct scope_launch *l = &s->launch[launch];
    if (l->blocks == 0)
        return fail(e, E_USAGE, "launch %d of %s has no blocks, because nothing is left to do for this matrix", launch,
                    name);
    if (block < 0 || block >= l->blocks)
        return fail(e, E_USAGE, "%s has no block %lld: its blocks are 0 .. %lld", name, (long long)block,
                    (long long)l->blocks - 1);
    if (warp >= 0 && (int64_t)warp * LANES < l->threads) return true;
    return fail(e, E_USAGE, "a block of %s has no warp %d: its warps are 0 .. %lld", name, warp,
                (long long)(l->threads - 1) / LANES);
}

/* The launches after the traced one did not run again. */
static void add_later_launches(struct scope *s, const struct scope *all)
{
    for (int l = s->nlaunches; l < all->nlaunches; l++) s->launch[l] = all->launch[l];
    s->nlaunches = all->nlaunches;
}

bool trace_warp(const struct watched *of, int launch, int64_t block, int warp, struct watch *w, struct trace *out,
                struct err *e)
{
    *out = (struct trace){0};
    if (of->kernel && of->kernel->remote) {
        if (!can_watch(of, e)) return false;
        return of->kernel->remote->trace(of, launch, block, warp, w, out, e);
    }
    if (!survey(of, out, w, e)) return false;
    if (launch < 0) launch = largest_launch(&out->scope);
    if (!has_warp(out, launch, block, warp, e)) return false;
    const struct scope all = out->scope;
    struct scope_run *run = run_new(of, w, e);
    if (!run) return false;
    *out = (struct trace){.launch = launch, .block = block, .warp = warp};
    run->trace = out;
    fills_x = true;
    bool ok = watch_launches(of, run, e);
    fills_x = false;
    places_end();
    out->scope = run->scope;
    add_later_launches(&out->scope, &all);
    out->scope.launch[launch].seen = 1;
    out->warps = (int)((out->scope.launch[launch].threads + LANES - 1) / LANES);
    if (!ok) trace_free(out);
    run_free(run);
    mem_free(run);
    return ok;
}

/* ---- whole launches ---- */

static void launch_add(struct launch_counts *to, const struct launch_counts *l)
{
    to->warps += l->warps;
    to->steps += l->steps;
    to->active += l->active;
    to->longest_block += l->longest_block;
    if (l->longest_warp > to->longest_warp) to->longest_warp = l->longest_warp;
    if (l->sectors_most > to->sectors_most) to->sectors_most = l->sectors_most;
    to->left += l->left;
    to->block_sum += l->block_sum;
    to->block_sum2 += l->block_sum2;
    to->sectors_sum += l->sectors_sum;
    to->sectors_sum2 += l->sectors_sum2;
}

/* Sort by position in the source: the order in which host threads reached the sites varies from run to run. */
static bool later(const struct access_site *a, const struct access_site *b)
{
    if (a->launch != b->launch) return a->launch > b->launch;
    int file = strcmp(a->file, b->file);
    if (file) return file > 0;
    if (a->line != b->line) return a->line > b->line;
    if (a->column != b->column) return a->column > b->column;
    if (a->kind != b->kind) return a->kind > b->kind;
    return a->array != b->array ? a->array > b->array : a->elements < b->elements;
}

static void sort_places(struct counts *c)
{
    for (int i = 1; i < c->scope.nsites; i++) {
        struct access_site p = c->scope.site[i];
        struct tally t = c->by_site[i];
        int k = i;
        for (; k > 0 && later(&c->scope.site[k - 1], &p); k--) {
            c->scope.site[k] = c->scope.site[k - 1];
            c->by_site[k] = c->by_site[k - 1];
        }
        c->scope.site[k] = p;
        c->by_site[k] = t;
    }
}

static void gather(const struct scope_run *run, struct counts *out)
{
    out->scope = run->scope;
    for (int t = 0; t < THREADS_MAX; t++) {
        const struct scope_thread *s = run->thread[t];
        if (!s) continue;
        out->accesses += s->accesses;
        for (int p = 0; p < run->scope.nsites; p++)
            if (!run->pick[run->scope.site[p].launch]) tally_add(&out->by_site[p], &s->by_site[p], 1);
        for (int l = 0; l < run->scope.nlaunches; l++)
            if (!run->pick[l]) launch_add(&out->launch[l], &s->launch[l]);
    }
    for (int l = 0; l < run->scope.nlaunches; l++)
        if (run->pick[l]) pick_gather(run, l, out);
    sort_places(out);
}

double least_accesses(const struct stored *S)
{
    return 3 * (double)stored_slots(S) + 2 * (double)S->rows;
}

/* How many blocks to watch, see struct scope_run, and whether they may be chosen by their entries. */
struct sampling {
    int64_t blocks, accesses;
    bool picks;
};

static bool count_watched(const struct watched *of, struct sampling by, const struct scope_sink *sink, struct watch *w,
                          struct counts *out, struct err *e);

/* The same without a choice by entries, which is not known before this has run. */
static bool count_evenly(const struct watched *of, int64_t sample, const struct scope_sink *sink, struct watch *w,
                         struct counts *out, struct err *e)
{
    return count_watched(of, (struct sampling){.blocks = sample}, sink, w, out, e);
}

static bool count_watched(const struct watched *of, struct sampling by, const struct scope_sink *sink, struct watch *w,
                          struct counts *out, struct err *e)
{
    *out = (struct counts){0};
    struct scope_run *run = run_new(of, w, e);
    if (!run) return false;
    double start = now_us();
    run->sample = by.blocks;
    run->sink = sink;
    bool sampled = by.picks && (by.blocks || by.accesses);
    double all = by.accesses ? least_accesses(of->M->of) : 0;
    bool ok = !sampled || pick_prepare(of, run, &all, count_evenly, w, e);
    /* a sample of more than half of the blocks costs as much as all of them */
    if (by.accesses && 2 * (double)by.accesses < all) {
        run->all = all;
        run->part = (double)by.accesses / all;
        if (of->kernel && !of->kernel->skips_padding)
            run->block_most = by.accesses / 4; /* its slots are the elements that it loads */
    }
    ok = ok && watch_launches(of, run, e);
    if (ok) gather(run, out);
    out->rows_seen = of->rows;
    out->us = now_us() - start;
    run_free(run);
    mem_free(run);
    return ok;
}

bool count_launches(const struct watched *of, int64_t sample, const struct scope_sink *sink, struct watch *w,
                    struct counts *out, struct err *e)
{
    return count_watched(of, (struct sampling){.blocks = sample, .picks = true}, sink, w, out, e);
}

bool count_kernel(const struct kernel *k, const struct mat *M, int64_t sample, const struct scope_sink *sink,
                  struct watch *w, struct counts *out, struct err *e)
{
    struct watched of = watched_kernel(k, M);
    if (k->remote && sink) return fail(e, E_INTERNAL, "%s runs in another process", k->name);
    if (k->remote) return can_watch(&of, e) && k->remote->count(k, M, sample, w, out, e);
    return count_launches(&of, sample, sink, w, out, e);
}

bool count_within(const struct kernel *k, const struct mat *M, int64_t accesses, const struct scope_sink *sink,
                  struct watch *w, struct counts *out, struct err *e)
{
    struct watched of = watched_kernel(k, M);
    if (k->remote) return fail(e, E_INTERNAL, "%s runs in another process", k->name);
    if (accesses < 0 && k->separable) of.together = false;
    if (accesses < 0) accesses = -accesses;
    if ((double)accesses > least_accesses(M->of)) accesses = 0;
    return count_watched(&of, (struct sampling){.accesses = accesses, .picks = true}, sink, w, out, e);
}

bool launches_of_kernel(const struct kernel *k, const struct mat *M, struct watch *w, struct scope *out, struct err *e)
{
    struct watched of = watched_kernel(k, M);
    struct trace t = {0};
    if (!survey(&of, &t, w, e)) return false;
    *out = t.scope;
    return true;
}
