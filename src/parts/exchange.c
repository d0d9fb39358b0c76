/* Count what the parts exchange. The parts are visited one by one; a column is counted once per part that needs it. */
#include "exchange.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "matrix/csr.h"
#include "partition.h"

#include <stdlib.h>

static const char *const counting = "counting what parts exchange";

struct counter {
    const struct csr *A;
    const struct partition *P;
    struct exchange *x;
    bool square;
    int *owner;     /* [cols]: the part of each column */
    int *needed_by; /* [cols]: the last part that counted the column, + 1 */
    int64_t *count; /* [parts]: items that the current part needs of each part; all 0 between two parts */
    int *touched;   /* [parts]: the parts with a count */
    int touched_n;
    int64_t room; /* of x->from and x->items */
};

static bool fill_owners(struct counter *c, struct err *e)
{
    struct loop l = loop_of(counting, c->P->cols);
    for (int p = 0; p < c->P->parts; p++)
        for (int64_t at = c->P->first_col[p]; at < c->P->first_col[p + 1] && loop_goes(&l, at); at++)
            c->owner[partition_row(c->P, at)] = p;
    return loop_end(&l, e);
}

/* Count the item of column j, which another part owns. */
static void need(struct counter *c, int part, int j)
{
    int owner = c->owner[j];
    if (c->needed_by[j] == part + 1) return;
    c->needed_by[j] = part + 1;
    if (!c->count[owner]++) c->touched[c->touched_n++] = owner;
}

/* An edge of A + A' has one entry, or two of which the upper one counts. */
static bool is_edge(const struct csr *A, int64_t i, int64_t j)
{
    return i < j || csr_find(A, j, i) < 0;
}

static void count_row(struct counter *c, int part, int64_t i, struct loop *l)
{
    struct part_counts *t = &c->x->part[part];
    for (int64_t k = csr_start(c->A, i), end = csr_start(c->A, i + 1); k < end && loop_goes(l, k); k++) {
        int j = c->A->col[k];
        bool outside = c->owner[j] != part, edge = c->square && i != j && is_edge(c->A, i, j);
        t->inside += !outside;
        t->outside += outside;
        c->x->edges += edge;
        c->x->edge_cut += edge && outside;
        if (outside) need(c, part, j);
    }
}

static int by_part(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool links_grow(struct counter *c, int64_t needed, struct err *e)
{
    if (needed <= c->room) return true;
    int64_t room = 2 * needed + 64;
    int *from = mem_resize(c->x->from, room, sizeof *from, "links between parts", e);
    if (from) c->x->from = from;
    int64_t *items = from ? mem_resize(c->x->items, room, sizeof *items, "links between parts", e) : NULL;
    if (!items) return false;
    c->x->items = items;
    c->room = room;
    return true;
}

/* Move the counts of a part to the communication matrix. */
static bool keep_links(struct counter *c, int part, struct err *e)
{
    struct exchange *x = c->x;
    int64_t at = x->first[part];
    if (!links_grow(c, at + c->touched_n, e)) return false;
    qsort(c->touched, (size_t)c->touched_n, sizeof *c->touched, by_part);
    for (int i = 0; i < c->touched_n; i++, at++) {
        int owner = c->touched[i];
        x->from[at] = owner;
        x->items[at] = c->count[owner];
        x->part[part].halo_in += c->count[owner];
        x->part[owner].halo_out += c->count[owner];
        x->part[owner].to++;
        c->count[owner] = 0;
    }
    x->part[part].from = c->touched_n;
    x->first[part + 1] = at;
    c->touched_n = 0;
    return true;
}

static bool count_parts(struct counter *c, struct err *e)
{
    struct loop l = loop_of(counting, c->A->nnz);
    for (int p = 0; p < c->P->parts; p++) {
        c->x->part[p].rows = partition_rows_of(c->P, p);
        for (int64_t at = c->P->first[p]; at < c->P->first[p + 1] && loop_check(&l, at); at++)
            count_row(c, p, partition_row(c->P, at), &l);
        if (!loop_runs(&l)) break;
        if (!keep_links(c, p, e)) return false;
        c->x->inside += c->x->part[p].inside;
        c->x->outside += c->x->part[p].outside;
        c->x->halo += c->x->part[p].halo_in;
    }
    return loop_end(&l, e);
}

static bool counter_new(struct counter *c, struct err *e)
{
    struct exchange *x = c->x;
    const int parts = c->P->parts;
    x->part = mem_zero(parts, sizeof *x->part, "the counts of parts", e);
    x->first = x->part ? mem_zero((int64_t)parts + 1, sizeof *x->first, "the counts of parts", e) : NULL;
    c->count = x->first ? mem_zero(parts, sizeof *c->count, "the counts of parts", e) : NULL;
    c->touched = c->count ? mem_new(parts, sizeof *c->touched, "the counts of parts", e) : NULL;
    c->owner = c->touched ? mem_new(c->P->cols, sizeof *c->owner, "the owners of columns", e) : NULL;
    c->needed_by = c->owner ? mem_new(c->P->cols, sizeof *c->needed_by, "the owners of columns", e) : NULL;
    return c->needed_by && links_grow(c, 1, e) && loop_fill(c->needed_by, c->P->cols, 0, counting, e);
}

bool exchange_of(struct exchange *x, const struct csr *A, const struct partition *P, struct err *e)
{
    struct counter c = {.A = A, .P = P, .x = x, .square = A->rows == A->cols};
    *x = (struct exchange){.parts = P->parts};
    bool ok = counter_new(&c, e) && fill_owners(&c, e) && count_parts(&c, e);
    if (!c.square) x->edges = x->edge_cut = -1;
    mem_free(c.count);
    mem_free(c.touched);
    mem_free(c.owner);
    mem_free(c.needed_by);
    if (!ok) exchange_free(x);
    return ok;
}

void exchange_free(struct exchange *x)
{
    mem_free(x->part);
    mem_free(x->first);
    mem_free(x->from);
    mem_free(x->items);
    *x = (struct exchange){0};
}

int64_t exchange_items(const struct exchange *x, int to, int from)
{
    int64_t low = x->first[to], high = x->first[to + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (x->from[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->first[to + 1] && x->from[low] == from ? x->items[low] : 0;
}

#define RAISE(field)                                      \
    if (c->field > m.most.field) m.most.field = c->field; \
    if (c->field < m.least.field) m.least.field = c->field

struct part_most exchange_most(const struct exchange *x)
{
    struct part_most m = {x->part[0], x->part[0], 1};
    int64_t nonzeros = 0;
    for (int p = 0; p < x->parts; p++) {
        const struct part_counts *c = &x->part[p];
        RAISE(rows);
        RAISE(inside);
        RAISE(outside);
        RAISE(halo_in);
        RAISE(halo_out);
        RAISE(from);
        RAISE(to);
        if (c->inside + c->outside > nonzeros) nonzeros = c->inside + c->outside;
    }
    int64_t all = x->inside + x->outside;
    if (all) m.imbalance = (double)nonzeros * x->parts / (double)all;
    return m;
}
