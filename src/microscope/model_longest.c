/* Finds and traces the warp of the longest row, which a sample of blocks may have missed. */
#include "base/mem.h"
#include "formats/format.h"
#include "formats/stored.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "model_watch.h"

#include <math.h>
#include <string.h>

/* The warp that stores the given row, if warps store rows in order. */
static bool warp_of_row(const struct stores *t, int64_t row, int64_t *warp)
{
    double rows = t->row[2] - t->row[0], warps = t->warp[2] - t->warp[0];
    if (t->n < 65 || rows <= 0 || warps <= 0) return false;
    double between = t->warp[0] + (t->row[1] - t->row[0]) * warps / rows;
    *warp = (int64_t)(t->warp[0] + ((double)row - t->row[0]) * warps / rows + 0.001);
    return between - t->warp[1] < 1.5 && t->warp[1] - between < 1.5;
}

/* The block that stores the given row, if blocks store equal numbers of rows in order, whichever of their warps do. */
static bool block_of_row(const struct stores *t, int64_t row, int64_t *block)
{
    double rows = t->first[2] - t->first[0], blocks = t->block[2] - t->block[0];
    if (t->blocks < 3 || rows <= 0 || blocks <= 0) return false;
    double second = t->block[0] + (t->first[1] - t->first[0]) * blocks / rows;
    *block = (int64_t)(t->block[0] + ((double)row - t->first[0]) * blocks / rows + 0.001);
    return fabs(second - t->block[1]) < 0.5;
}

/* The block that has the given row, or one of its neighbours, if the rows of a block are those that begin in its equal
   share of the entries. */
static bool block_of_entry(const struct watching *v, const struct stores *t, int64_t blocks, int64_t row,
                           int64_t *block)
{
    double share = (double)v->A->nnz / (double)blocks;
    if (v->columns || t->blocks < 3 || !(share > 0)) return false;
    for (int i = 0; i < 3; i++) {
        double at = (double)csr_start(v->A, (int64_t)t->first[i]) / share;
        if (fabs(at - t->block[i] - 0.5) > 1.5) return false;
    }
    *block = (int64_t)((double)csr_start(v->A, row) / share);
    return true;
}

/* ---- rows, or the columns of a format that stores columns ---- */

static const int *column_pointers(const struct stored *S)
{
    for (int k = 0; k < S->narrays; k++)
        if (S->a[k].role == ROLE_POINTERS && S->a[k].n == S->cols + 1 && S->format->where(S, k, 0).col >= 0)
            return S->a[k].data;
    return NULL;
}

/* The number of entries of a row, or of a column if there are pointers to columns. */
static int64_t line_length(const struct csr *A, const int *columns, int64_t i)
{
    return columns ? columns[i + 1] - columns[i] : csr_row_length(A, i);
}

void model_find_longest(struct watching *v)
{
    v->columns = column_pointers(v->M->of);
    for (int64_t i = 0, longest = 0; i < (v->columns ? v->A->cols : v->A->rows); i++)
        if (line_length(v->A, v->columns, i) > longest) longest = line_length(v->A, v->columns, v->longest_line = i);
}

/* ---- traces that were cut ---- */

/* The rows (or columns) that a warp works on, and the first and the last entry of each that the warp has loaded by the
   end of the kept trace. */
struct unfinished {
    const struct csr *A;
    const int *columns;
    int n;
    int64_t line[LANES], first[LANES], last[LANES];
};

static int64_t entry_in_row(const struct csr *A, int64_t row, int64_t col)
{
    int64_t start = csr_start(A, row);
    return csr_lower(A, start, csr_start(A, row + 1), col) - start;
}

/* at: the index of the entry in its array. */
static void note_entry(struct unfinished *t, struct place p, int64_t at, bool add_lines)
{
    int64_t line = t->columns ? p.col : p.row;
    int k = 0;
    if (p.kind != SLOT_ENTRY || line < 0) return;
    while (k < t->n && t->line[k] != line) k++;
    if (k == t->n && !add_lines) return;
    int64_t entry = t->columns ? at - t->columns[line] : entry_in_row(t->A, line, p.col);
    if (k == t->n) t->line[t->n] = line, t->first[t->n] = t->last[t->n] = entry, t->n++;
    if (entry < t->first[k]) t->first[k] = entry;
    if (entry > t->last[k]) t->last[k] = entry;
}

static void note_loaded(struct unfinished *t, const struct scope *s, const struct request *r, bool add_lines)
{
    const struct access_site *site = &s->site[r->site];
    for (uint32_t left = r->mask; left; left &= left - 1)
        for (int i = 0; i < site->elements; i++) {
            int64_t at = r->at[__builtin_ctz(left)] + i;
            note_entry(t, scope_element(s, site->array, at), at, add_lines);
        }
}

static bool at_values(const struct trace *t, int64_t k)
{
    int array = t->scope.site[t->step[k].site].array;
    return array >= 0 && t->scope.array[array].stored >= 0 &&
           stored_is_value(t->scope.of, t->scope.array[array].stored);
}

/* The length of the warp's whole run divided by the length of the kept trace, for a kernel whose warps share all rows
   of their block and synchronise at barriers. NaN for other kernels. */
static double beyond_together(const struct trace *t, const struct csr *A, const struct stores *rows)
{
    double loaded = 0, each = (rows->row[2] - rows->row[0]) / (rows->warp[2] - rows->warp[0]) * t->warps;
    int64_t first = (int64_t)((double)t->block * each + 0.5), end = (int64_t)((double)(t->block + 1) * each + 0.5);
    bool together = false;
    for (int64_t k = 0; k < t->nsteps; k++) {
        together |= t->scope.site[t->step[k].site].kind == ACCESS_BARRIER;
        if (at_values(t, k)) loaded += __builtin_popcount(t->step[k].mask) * t->scope.site[t->step[k].site].elements;
    }
    if (end > A->rows) end = A->rows;
    if (!together || loaded == 0 || first < 0 || first >= end) return NAN;
    return (double)(A->rowptr[end] - A->rowptr[first]) / t->warps / loaded;
}

/* The length of the warp's whole run divided by the length of the kept trace. The run ends when the warp, alone or with
   other warps that share its rows, has come to the end of its rows. */
static double beyond(const struct trace *t, const struct watching *v, const struct stores *rows)
{
    struct unfinished u = {.A = v->A, .columns = v->columns};
    double most = 1, together = t->cut ? beyond_together(t, v->A, rows) : 1;
    if (!isnan(together)) return together > 1 ? together : 1;
    for (int64_t k = t->nsteps - 1; k >= 0; k--)
        if (at_values(t, k)) note_loaded(&u, &t->scope, &t->step[k], u.n == 0);
    for (int k = 0; k < u.n; k++)
        most = fmax(most, (double)line_length(v->A, v->columns, u.line[k]) / (double)(u.last[k] - u.first[k] + 1));
    return most;
}

enum { FOLLOWED = 1 << 13 }; /* steps of a warp that are traced; the rest is like them */

/* Replay the requests of one warp through an empty cache, and keep its waits if they are the longest so far. */
static bool follow(const struct watching *v, int launch, int64_t warp, struct watch *watch, struct work *w,
                   struct err *e)
{
    const struct scope_launch *l = &v->scope->launch[launch];
    int64_t warps = (l->threads + LANES - 1) / LANES;
    struct watched of = watched_kernel(v->out->kernel, v->M);
    struct trace t;
    of.trace_most = FOLLOWED;
    struct request_facts f;
    struct workload *out = mem_zero(1, sizeof *out, "the work of a warp", e);
    struct watching *one = out ? mem_zero(1, sizeof *one, "the microscope", e) : NULL;
    bool ok = one && trace_warp(&of, launch, warp / warps, (int)(warp % warps), watch, &t, e);
    if (ok) {
        *out = (struct workload){.kernel = v->out->kernel};
        *one = (struct watching){.M = v->M,
                                 .gpu = v->gpu,
                                 .compiled = v->compiled,
                                 .A = v->A,
                                 .sms = 1,
                                 .lines = v->lines,
                                 .out = out,
                                 .launch = -1,
                                 .row = -1};
        one->queue = mem_zero(1, sizeof *one->queue, "a multiprocessor", e);
        t.scope.nlaunches = launch + 1;
        t.scope.weight = t.scope.longer = 1;
        for (int64_t k = 0; one->queue && k < t.nsteps; k++) {
            facts_of(&t.scope, &t.step[k], &f);
            model_request(one, &t.scope, warp / warps, 0, &t.step[k], &f);
        }
        t.scope.launch[launch].seen = 1;
        if (one->queue) model_block_end(one, &t.scope, launch, warp / warps);
        const struct work *got = &out->launch[launch];
        double times = beyond(&t, v, &v->stored[launch]), cost = times * model_cost(got->longest);
        ok = one->queue && !one->err.code;
        if (ok && cost > model_cost(w->longest)) {
            for (int k = 0; k < WAITS; k++) w->longest[k] = times * got->longest[k];
            w->longest_block = warp / warps;
            w->longest_row = v->columns ? -1 : v->longest_line;
        }
        watching_free(one);
        trace_free(&t);
    }
    mem_free(one);
    mem_free(out);
    return ok;
}

static bool follow_warps(const struct watching *v, int launch, int64_t from, int64_t to, struct watch *w, struct err *e)
{
    const struct scope_launch *at = &v->scope->launch[launch];
    int64_t end = at->blocks * ((at->threads + LANES - 1) / LANES);
    for (int64_t warp = from < 0 ? 0 : from; warp < to && warp < end; warp++)
        if (!follow(v, launch, warp, w, &v->out->launch[launch], e)) return false;
    return true;
}

/* If warps take rows in order, trace the warp of the longest row; if only blocks do, because some of their warps store
   nothing, trace all warps of its block; otherwise trace the first and the last warp, because sorting puts the longest
   row first or last. Rows and shares of the entries may both seem to fit; then trace both. */
static bool follow_longest(const struct watching *v, int launch, struct watch *w, struct err *e)
{
    const struct scope_launch *at = &v->scope->launch[launch];
    const struct stores *t = &v->stored[launch];
    int64_t warps = (at->threads + LANES - 1) / LANES, end = warps * at->blocks, warp = -1, block = -1, share = -1;
    int64_t row = position_of(v, v->longest_line);
    bool by_warp = warp_of_row(t, row, &warp) && warp >= 0 && warp < end;
    bool by_block = !t->loose && block_of_row(t, row, &block) && block >= 0 && block < at->blocks;
    bool by_entry = !t->loose && block_of_entry(v, t, at->blocks, v->longest_line, &share);
    if (by_entry && !(by_block && block == share) &&
        !follow_warps(v, launch, (share - 1) * warps, (share + 2) * warps, w, e))
        return false;
    if (by_block && !(by_warp && warp / warps == block))
        return follow_warps(v, launch, block * warps, (block + 1) * warps, w, e);
    if (by_warp) return follow_warps(v, launch, warp - t->loose, warp + t->loose + 1, w, e);
    return !t->n || (follow_warps(v, launch, 0, 1, w, e) && follow_warps(v, launch, end - 1, end, w, e));
}

/* The same if blocks of the launch were left early. What is traced of the longest row replaces what is known of these
   blocks, unless it takes less than half of their time and thus is not the work that makes them long. */
static bool follow_instead(const struct watching *v, int launch, struct watch *w, struct err *e)
{
    struct work *own = &v->out->launch[launch], before = *own;
    memset(own->longest, 0, sizeof own->longest);
    if (!follow_longest(v, launch, w, e)) return false;
    if (2 * model_cost(own->longest) > model_cost(before.longest)) return true;
    memcpy(own->longest, before.longest, sizeof own->longest);
    own->longest_block = before.longest_block;
    own->longest_row = before.longest_row;
    return true;
}

bool model_follow_longest(const struct watching *v, const struct counts *c, struct watch *w, struct err *e)
{
    for (int l = 0; l < c->scope.nlaunches; l++) {
        const struct scope_launch *at = &c->scope.launch[l];
        if (at->seen == at->blocks || v->out->kernel->together) continue;
        if (!(c->launch[l].left ? follow_instead : follow_longest)(v, l, w, e)) return false;
    }
    return true;
}
