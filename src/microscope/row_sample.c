/* Samples of rows for kernels that take work dynamically, and the scaling of their counts to the whole matrix. */
#include "row_sample.h"
#include "base/err.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "matrix/extract.h"

#include <math.h>

enum { PILOT_MIN = 4, PILOT_ACCESSES = 1000 * 1000 };

bool row_sample_suits(const struct kernel *k)
{
    return k->shares && !k->remote;
}

static bool pilot_blocks(const struct kernel *k, const struct mat *M, struct watch *w, struct counts *c,
                         int64_t *blocks, struct err *e)
{
    int64_t fewest = INT64_MAX;
    *blocks = PILOT_BLOCKS;
    if (k->remote) return true;
    if (!launches_of_kernel(k, M, w, &c->scope, e)) return false;
    for (int l = 0; l < c->scope.nlaunches; l++)
        if (c->scope.launch[l].blocks > PILOT_MIN && c->scope.launch[l].blocks < fewest)
            fewest = c->scope.launch[l].blocks;
    double each = least_accesses(M->of) / (double)fewest;
    while (*blocks > PILOT_MIN && (double)*blocks * each > PILOT_ACCESSES) *blocks /= 2;
    return true;
}

bool pilot_accesses(const struct kernel *k, const struct mat *M, struct watch *w, struct counts *c, double *accesses,
                    struct err *e)
{
    int64_t blocks;
    if (!pilot_blocks(k, M, w, c, &blocks, e) || !count_kernel(k, M, blocks, NULL, w, c, e)) return false;
    *accesses = counts_accesses(c);
    return true;
}

bool row_sample_needed(const struct kernel *k, const struct stored *S, double most)
{
    return row_sample_suits(k) && least_accesses(S) > most;
}

void row_sample_free(struct row_sample *r)
{
    if (r->M.dev) mat_free(&r->M);
    stored_free(&r->S);
    csr_free(&r->A);
    *r = (struct row_sample){0};
}

bool row_sample_take(struct row_sample *r, const struct kernel *k, const struct csr *A, const struct mat *M,
                     double part, struct watch *w, struct err *e)
{
    const struct stored *S = M->of;
    int64_t units = part < 1 ? (int64_t)ceil(part * SCOPE_UNITS) : SCOPE_UNITS, rows = A->rows * units / SCOPE_UNITS;
    *r = (struct row_sample){0};
    bool ok = launches_of_kernel(k, M, w, &r->whole, e) && csr_sample_rows(&r->A, A, rows, w, e);
    if (ok && r->A.nnz == 0) ok = fail(e, E_UNSUPPORTED, "the sampled rows have no entries");
    ok = ok && format_pack(&r->A, S->format, S->param, S->real, false, &r->S, e) && mat_borrow(&r->M, &r->S, M->dev, e);
    if (!ok) return row_sample_free(r), false;
    r->M.units = (int)ceil((double)r->A.rows / (double)A->rows * SCOPE_UNITS);
    r->times = (double)A->nnz / (double)r->A.nnz;
    return true;
}

/* ---- counts ---- */

/* Does launch l access the matrix or y? */
static bool grows_with_rows(const struct scope *s, int l)
{
    for (int k = 0; k < s->nsites; k++) {
        const struct scope_array *a = s->site[k].array < 0 ? NULL : &s->array[s->site[k].array];
        if (s->site[k].launch == l && a && (a->stored >= 0 || a->role == ROLE_Y)) return true;
    }
    return false;
}

static double times_of(const struct row_sample *r, const struct scope *s, int l)
{
    return grows_with_rows(s, l) ? r->times : 1;
}

/* The launch does `times` as much work with the grid that it has for the whole matrix. */
static void scale_launch(struct scope_launch *at, const struct scope_launch *whole, struct launch_counts *l,
                         double times)
{
    l->warps = l->warps * whole->blocks / (at->blocks ? at->blocks : 1);
    l->steps = (int64_t)((double)l->steps * times + 0.5);
    l->active = (int64_t)((double)l->active * times + 0.5);
    l->sectors_sum *= times;
    at->blocks = at->seen = whole->blocks;
}

/* An array has only so many sectors: if more are requested, the rest were requested before. The sample shows fewer of
   these, because its rows share fewer elements of x. */
static void raise_refetched(struct counts *c, int a)
{
    int64_t sectors = 0, refetched = 0, most = c->scope.array[a].n * c->scope.array[a].size / SECTOR + 1;
    for (int k = 0; k < c->scope.nsites; k++)
        if (c->scope.site[k].array == a) {
            sectors += c->by_site[k].sectors;
            refetched += c->by_site[k].refetched;
        }
    if (refetched == 0 || sectors - refetched <= most) return;
    double times = (double)(sectors - most) / (double)refetched;
    for (int k = 0; k < c->scope.nsites; k++)
        if (c->scope.site[k].array == a) c->by_site[k].refetched = (int64_t)((double)c->by_site[k].refetched * times);
}

void row_sample_scale_counts(const struct row_sample *r, const struct mat *M, struct counts *c)
{
    struct scope *s = &c->scope;
    for (int k = 0; k < s->nsites; k++) {
        struct tally one = c->by_site[k];
        c->by_site[k] = (struct tally){0};
        tally_add(&c->by_site[k], &one, times_of(r, s, s->site[k].launch));
    }
    for (int l = 0; l < s->nlaunches; l++)
        scale_launch(&s->launch[l], &r->whole.launch[l], &c->launch[l], times_of(r, s, l));
    for (int a = 0; a < s->narrays; a++) {
        if (s->array[a].stored >= 0) s->array[a].n = M->of->a[s->array[a].stored].n;
        if (s->array[a].role == ROLE_Y) s->array[a].n = M->of->rows;
        if (!s->array[a].shared) raise_refetched(c, a);
    }
    s->of = M->of;
    s->rows = M->of->rows;
}

/* ---- the workload of the model ---- */

/* Bytes of the arrays that launch l accesses; l -1: that any launch accesses. */
static double bytes_accessed(const struct scope *s, int l)
{
    bool seen[SCOPE_ARRAYS] = {false};
    double bytes = 0;
    for (int k = 0; k < s->nsites; k++) {
        int a = s->site[k].array;
        if (a < 0 || s->array[a].shared || seen[a] || (l >= 0 && s->site[k].launch != l)) continue;
        seen[a] = true;
        bytes += (double)(s->array[a].n * s->array[a].size) + SECTOR;
    }
    return bytes;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* more_rows: the ratio of the rows, of which the counter that hands out work knows; longer: that of the longest rows of
   the matrix and of the sample. */
static void scale_work(struct work *w, const struct scope_launch *at, double times, double more_rows, double longer)
{
    double *const totals[] = {&w->steps,     &w->lines,      &w->sectors,  &w->l2_loads,
                              &w->l2_stores, &w->l2_lines,   &w->gathered, &w->gathered_lines,
                              &w->x_lines,   &w->wavefronts, &w->lost};
    double *const by_rows[] = {&w->atomics, &w->atomic_sectors, &w->hot};
    double more_warps = (double)at->blocks / (double)(w->blocks ? w->blocks : 1);
    for (size_t k = 0; k < sizeof totals / sizeof *totals; k++) *totals[k] *= times;
    for (size_t k = 0; k < sizeof by_rows / sizeof *by_rows; k++) *by_rows[k] *= more_rows;
    for (int k = 0; k < WAITS; k++) {
        w->wait[k] *= times;
        w->longest[k] *= longer;
    }
    w->warp_steps *= times / more_warps;
    w->longest_steps *= times / more_warps;
    w->blocks = w->seen = at->blocks;
}

void row_sample_scale_work(const struct row_sample *r, const struct csr *A, const struct counts *c, struct workload *w)
{
    const struct scope *s = &c->scope;
    double longer = (double)csr_longest_row(A) / (double)csr_longest_row(&r->A);
    double rows = (double)A->rows / (double)r->A.rows;
    for (int l = 0; l < w->n; l++) {
        double times = times_of(r, s, l);
        bool grows = grows_with_rows(s, l);
        scale_work(&w->launch[l], &s->launch[l], times, grows ? rows : 1, grows ? longer : 1);
        w->launch[l].footprint = least(times * w->launch[l].footprint, bytes_accessed(s, l));
    }
    w->footprint = least(r->times * w->footprint, bytes_accessed(s, -1));
    w->in_lines = least(r->times * w->in_lines, bytes_accessed(s, -1));
    w->flops *= r->times;
    w->sampled = true;
}
