/* Sort rows into levels, copy the rows to a device in the order of the levels, and plan the launches. */
#include "level_schedule.h"
#include "machine/device.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "formats/format.h"

#include <string.h>

/* Each array in a piece begins at a multiple of this many elements. If elements have 4 bytes or more, the array is then
   aligned like a separate allocation. */
enum { ALIGN = 64 };

static int narrow_rows = LEVEL_NARROW;

void level_schedule_hook(int rows)
{
    narrow_rows = rows < 0 || rows > LEVEL_NARROW ? LEVEL_NARROW : rows;
}

/* ---- orders ---- */

void order_free(struct order *o)
{
    mem_free(o->start);
    mem_free(o->row);
    mem_free(o->position);
    mem_free(o->step);
    *o = (struct order){0};
}

static bool order_new(struct order *o, int64_t n, int nlevels, struct err *e)
{
    *o = (struct order){.n = n, .nlevels = nlevels, .lanes = 1};
    if ((o->start = mem_zero(nlevels + 2, sizeof *o->start, "the levels of rows", e)) &&
        (o->row = mem_new(n, sizeof *o->row, "an order of rows", e)) &&
        (o->position = mem_new(n, sizeof *o->position, "the positions of rows", e)))
        return true;
    order_free(o);
    return false;
}

/* While the rows are sorted, start[k + 1] is the next free position of level k; at the end, it is the start of level k
   + 1. */
bool order_by(struct order *o, int64_t n, const int *level, int nlevels, bool down, struct err *e)
{
    if (!order_new(o, n, nlevels, e)) return false;
    struct loop l = loop_of("sorting rows by level", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) o->start[level[i] + 2]++;
    for (int k = 2; k <= nlevels; k++) o->start[k] += o->start[k - 1];
    for (int64_t k = 0; k < n && loop_goes(&l, k); k++) {
        int64_t i = down ? n - 1 - k : k;
        int position = o->start[level[i] + 1]++;
        o->row[position] = (int)i;
        o->position[i] = position;
    }
    if (loop_end(&l, e)) return true;
    order_free(o);
    return false;
}

bool order_plain(struct order *o, int64_t n, bool down, struct err *e)
{
    int *level = mem_zero(n, sizeof *level, "the levels of rows", e);
    bool ok = level && order_by(o, n, level, n > 0, down, e);
    mem_free(level);
    return ok;
}

int levels_of(const struct entries *t, int64_t n, bool down, int *level_of)
{
    int most = -1;
    struct loop l = loop_of("the levels of rows", n);
    for (int64_t k = 0; k < n && loop_goes(&l, k); k++) {
        int64_t i = down ? n - 1 - k : k;
        int level = 0;
        for (int j = t->begin[i] + t->skip; j < t->end[i]; j++)
            if (level_of[t->col[j]] >= level) level = level_of[t->col[j]] + 1;
        level_of[i] = level;
        if (level > most) most = level;
    }
    return most + 1;
}

/* ---- runs ---- */

struct layout { /* on the host */
    const int *start, *ptr;
    int nlevels;
};

static int64_t rows_in(const struct layout *l, int from, int to)
{
    return l->start[to] - l->start[from];
}

static int64_t entries_in(const struct layout *l, int from, int to)
{
    return l->ptr[l->start[to]] - l->ptr[l->start[from]];
}

/* A level is narrow if one thread block finishes it sooner than a separate launch would. */
static bool narrow(const struct layout *l, int level)
{
    int64_t rows = rows_in(l, level, level + 1);
    return rows <= narrow_rows && rows + entries_in(l, level, level + 1) <= LEVEL_WORK;
}

static unsigned up_to(int64_t n, int64_t step)
{
    return (unsigned)((n + step - 1) / step);
}

static struct level_run run_from(const struct layout *l, int from)
{
    struct level_run r = {.from = from, .to = from + 1, .wide = !narrow(l, from)};
    int64_t widest = rows_in(l, from, from + 1);
    for (; !r.wide && r.to < l->nlevels && narrow(l, r.to); r.to++)
        if (rows_in(l, r.to, r.to + 1) > widest) widest = rows_in(l, r.to, r.to + 1);
    r.first = l->start[from];
    r.end = l->start[r.to];
    r.warps = entries_in(l, from, r.to) > LEVEL_LONG * rows_in(l, from, r.to);
    if (r.warps) widest *= 32;
    r.blocks = r.wide ? up_to(widest, LEVEL_BLOCK) : 1;
    r.threads = r.wide ? LEVEL_BLOCK : widest > 1024 ? 1024 : 32 * up_to(widest, 32);
    return r;
}

/* Fill run[] and return the number of runs. If run is NULL, only count the runs. */
static int runs_of(const struct layout *l, struct level_run *run)
{
    int n = 0;
    for (int from = 0; from < l->nlevels; n++) {
        struct level_run r = run_from(l, from);
        if (run) run[n] = r;
        from = r.to;
    }
    return n;
}

/* ---- the two pieces of memory: integers and reals ---- */

static int64_t aligned(int64_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static int64_t row_length(const struct entries *t, int64_t i)
{
    return t->end[i] - t->begin[i] - t->skip;
}

static int64_t count(const struct entries *t, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += row_length(t, i);
    return sum;
}

struct pieces {
    int *ints;
    char *reals;
    /* index of each array in its piece. The arrays start and y are at index 0. Without an array `at`, the index `at`
       equals `row`. */
    int64_t row, at, ptr, col, step, ticket, dinv, val;
    int64_t nints, nreals;
};

static bool pieces_new(struct pieces *p, const struct order *o, int64_t nnz, const struct level_source *f,
                       enum type real, struct err *e)
{
    *p = (struct pieces){.row = aligned(o->nlevels + 1)};
    p->at = p->row + (f->at ? aligned(o->n) : 0);
    p->ptr = p->at + aligned(o->n);
    p->col = p->ptr + aligned(o->n + 1);
    p->step = p->col + aligned(nnz);
    p->ticket = p->step + (o->step ? aligned(o->n) : 0);
    p->nints = p->ticket + (o->step ? ALIGN : 0);
    p->dinv = aligned(o->n);
    p->val = p->dinv + (f->dinv ? aligned(o->n) : 0);
    p->nreals = p->val + aligned(nnz);
    p->ints = mem_zero(p->nints, sizeof *p->ints, "the rows by level", e);
    p->reals = p->ints ? mem_zero(p->nreals, type_size(real), "the values by level", e) : NULL;
    if (p->reals && o->step) memset(p->reals, MISSING_BYTE, (size_t)o->n * type_size(real));
    return p->reals != NULL;
}

/* Convert element k of `from`, a number or a pair, to element i of the piece. */
static void set(void *reals, enum type real, int64_t i, const double *from, int64_t k)
{
    struct array to = {.type = type_of_parts(real), .data = reals};
    int64_t parts = type_parts(real);
    double *same = reals;
    if (real == T_F64)
        same[i] = from[k];
    else
        for (int64_t part = 0; part < parts; part++) put_real(&to, parts * i + part, from[parts * k + part]);
}

static void fill_row(struct pieces *p, const struct level_source *f, enum type real, int64_t position, int64_t row)
{
    const struct entries *t = &f->entries;
    int64_t to = p->ints[p->ptr + position];
    p->ints[p->row + position] = f->names ? f->names[row] : (int)row;
    if (f->at) p->ints[p->at + position] = f->at[row];
    for (int64_t k = t->begin[row] + t->skip; k < t->end[row]; k++, to++) {
        p->ints[p->col + to] = f->position ? f->position[t->col[k]] : t->col[k];
        set(p->reals, real, p->val + to, t->val, k);
    }
    if (f->dinv) set(p->reals, real, p->dinv + position, f->dinv, row);
}

static void fill(struct pieces *p, const struct order *o, const struct level_source *f, enum type real)
{
    memcpy(p->ints, o->start, (size_t)(o->nlevels + 1) * sizeof *p->ints);
    if (o->step) memcpy(p->ints + p->step, o->step, (size_t)o->n * sizeof *p->ints);
    int *ptr = p->ints + p->ptr;
    struct loop l = loop_of("copying rows by level", o->n);
    for (int64_t k = 0; k < o->n && loop_goes(&l, k); k++)
        ptr[k + 1] = ptr[k] + (int)row_length(&f->entries, o->row[k]);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (o->n > THREADS_FROM)
    for (int64_t from = 0; from < o->n; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, o->n); k < end; k++) fill_row(p, f, real, k, o->row[k]);
}

/* Allocate the schedule; fill in its runs and the sizes of the pieces. */
static struct level_schedule *describe(const struct order *o, const struct pieces *p, int64_t nnz, enum type real,
                                       struct err *e)
{
    struct layout l = {o->start, p->ints + p->ptr, o->nlevels};
    int nruns = runs_of(&l, NULL);
    size_t size = sizeof(struct level_schedule) + (size_t)nruns * sizeof(struct level_run);
    struct level_schedule *S = mem_zero(1, size, "the levels of rows", e);
    if (!S) return NULL;
    S->n = o->n;
    S->nnz = nnz;
    S->lanes = o->lanes;
    S->nlevels = o->nlevels;
    S->bytes[0] = p->nints * (int64_t)sizeof *p->ints;
    S->bytes[1] = p->nreals * (int64_t)type_size(real);
    S->nruns = runs_of(&l, S->run);
    return S;
}

static void point(struct level_schedule *S, const struct pieces *p, void *const *piece, bool dinv, bool steps,
                  enum type real)
{
    int *ints = piece[0];
    char *reals = piece[1];
    int64_t size = (int64_t)type_size(real);
    S->start = ints;
    S->row = ints + p->row;
    S->at = ints + p->at;
    S->ptr = ints + p->ptr;
    S->col = ints + p->col;
    S->step = steps ? ints + p->step : NULL;
    S->ticket = steps ? (unsigned *)(ints + p->ticket) : NULL;
    S->y = reals;
    S->dinv = dinv ? reals + p->dinv * size : NULL;
    S->val = reals + p->val * size;
}

static bool put(struct device *d, const struct level_schedule *S, const struct pieces *p, void **piece, struct err *e)
{
    piece[0] = d->ops->alloc(d, S->bytes[0], "the rows by level", e);
    piece[1] = piece[0] ? d->ops->alloc(d, S->bytes[1], "the values by level", e) : NULL;
    return piece[1] && d->ops->put(d, piece[0], p->ints, S->bytes[0], e) &&
           d->ops->put(d, piece[1], p->reals, S->bytes[1], e);
}

struct level_schedule *level_schedule_make(struct device *d, enum type real, const struct order *o,
                                           const struct level_source *f, void **piece, struct err *e)
{
    struct pieces p;
    struct level_schedule *S = NULL;
    int64_t nnz = count(&f->entries, o->n);
    bool ok = pieces_new(&p, o, nnz, f, real, e);
    if (ok) fill(&p, o, f, real);
    ok = ok && loop_tick("copying rows by level", o->n, o->n, e) && (S = describe(o, &p, nnz, real, e)) &&
         put(d, S, &p, piece, e);
    if (ok) point(S, &p, piece, f->dinv != NULL, o->step != NULL, real);
    mem_free(p.ints);
    mem_free(p.reals);
    if (ok) return S;
    mem_free(S);
    return NULL;
}
