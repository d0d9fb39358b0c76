/* Sorting rows into stages, and putting them on a device in that order, with the launches that go through them. */
#include "staged.h"

#include <string.h>

enum { ALIGN = 64 }; /* elements: arrays within a piece begin where memory of their own would, for 4 bytes and more */

static int narrow_rows = STAGED_NARROW;

void staged_hook(int rows)
{
    narrow_rows = rows < 0 || rows > STAGED_NARROW ? STAGED_NARROW : rows;
}

/* ---- orders ---- */

void order_free(struct order *o)
{
    mem_free(o->start);
    mem_free(o->row);
    mem_free(o->place);
    *o = (struct order){0};
}

static bool order_new(struct order *o, int64_t n, int nstages, struct err *e)
{
    *o = (struct order){.n = n, .nstages = nstages};
    if ((o->start = mem_zero(nstages + 2, sizeof *o->start, "the stages of rows", e)) &&
        (o->row = mem_new(n, sizeof *o->row, "an order of rows", e)) &&
        (o->place = mem_new(n, sizeof *o->place, "the places of rows", e)))
        return true;
    order_free(o);
    return false;
}

/* Counted one stage further on, so that the filling leaves the starts where they belong. */
bool order_by(struct order *o, int64_t n, const int *stage, int nstages, bool down, struct err *e)
{
    if (!order_new(o, n, nstages, e)) return false;
    for (int64_t i = 0; i < n; i++) o->start[stage[i] + 2]++;
    for (int k = 2; k <= nstages; k++) o->start[k] += o->start[k - 1];
    for (int64_t k = 0; k < n; k++) {
        int64_t i = down ? n - 1 - k : k;
        int place = o->start[stage[i] + 1]++;
        o->row[place] = (int)i;
        o->place[i] = place;
    }
    return true;
}

bool order_plain(struct order *o, int64_t n, bool down, struct err *e)
{
    int *stage = mem_zero(n, sizeof *stage, "the stages of rows", e);
    bool ok = stage && order_by(o, n, stage, n > 0, down, e);
    mem_free(stage);
    return ok;
}

int levels_of(const struct entries *t, int64_t n, bool down, int *stage)
{
    int most = -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = down ? n - 1 - k : k;
        int level = 0;
        for (int j = t->begin[i] + t->skip; j < t->end[i]; j++)
            if (stage[t->col[j]] >= level) level = stage[t->col[j]] + 1;
        stage[i] = level;
        if (level > most) most = level;
    }
    return most + 1;
}

/* ---- runs ---- */

struct layout { /* on the host */
    const int *start, *ptr;
    int nstages;
};

static int64_t rows_in(const struct layout *l, int from, int to)
{
    return l->start[to] - l->start[from];
}

static int64_t entries_in(const struct layout *l, int from, int to)
{
    return l->ptr[l->start[to]] - l->ptr[l->start[from]];
}

/* So little work that a launch of its own costs more than having it done by one block. */
static bool narrow(const struct layout *l, int stage)
{
    int64_t rows = rows_in(l, stage, stage + 1);
    return rows <= narrow_rows && rows + entries_in(l, stage, stage + 1) <= STAGED_WORK;
}

static unsigned up_to(int64_t n, int64_t step)
{
    return (unsigned)((n + step - 1) / step);
}

static struct staged_run run_from(const struct layout *l, int from)
{
    struct staged_run r = {.from = from, .to = from + 1, .wide = !narrow(l, from)};
    int64_t widest = rows_in(l, from, from + 1);
    for (; !r.wide && r.to < l->nstages && narrow(l, r.to); r.to++)
        if (rows_in(l, r.to, r.to + 1) > widest) widest = rows_in(l, r.to, r.to + 1);
    r.first = l->start[from];
    r.end = l->start[r.to];
    r.warps = entries_in(l, from, r.to) > STAGED_LONG * rows_in(l, from, r.to);
    if (r.warps) widest *= 32;
    r.blocks = r.wide ? up_to(widest, STAGED_BLOCK) : 1;
    r.threads = r.wide ? STAGED_BLOCK : widest > 1024 ? 1024 : 32 * up_to(widest, 32);
    return r;
}

/* run NULL: only count them. */
static int runs_of(const struct layout *l, struct staged_run *run)
{
    int n = 0;
    for (int from = 0; from < l->nstages; n++) {
        struct staged_run r = run_from(l, from);
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
    int64_t row, at, ptr, col, dinv,
        val; /* where each begins, in elements; start and y begin the pieces; at may be row */
    int64_t nints, nreals;
};

static bool pieces_new(struct pieces *p, const struct order *o, int64_t nnz, const struct staged_from *f,
                       enum type real, struct err *e)
{
    *p = (struct pieces){.row = aligned(o->nstages + 1)};
    p->at = p->row + (f->at ? aligned(o->n) : 0);
    p->ptr = p->at + aligned(o->n);
    p->col = p->ptr + aligned(o->n + 1);
    p->nints = p->col + aligned(nnz);
    p->dinv = aligned(o->n);
    p->val = p->dinv + (f->dinv ? aligned(o->n) : 0);
    p->nreals = p->val + aligned(nnz);
    p->ints = mem_zero(p->nints, sizeof *p->ints, "the staged rows", e);
    p->reals = p->ints ? mem_zero(p->nreals, type_size(real), "the staged values", e) : NULL;
    return p->reals != NULL;
}

static void set(char *reals, enum type real, int64_t i, double value)
{
    if (real == T_F64)
        ((double *)(void *)reals)[i] = value;
    else
        ((float *)(void *)reals)[i] = (float)value;
}

static void fill_row(struct pieces *p, const struct staged_from *f, enum type real, int64_t place, int64_t row)
{
    const struct entries *t = &f->entries;
    int64_t to = p->ints[p->ptr + place];
    p->ints[p->row + place] = (int)row;
    if (f->at) p->ints[p->at + place] = f->at[row];
    for (int64_t k = t->begin[row] + t->skip; k < t->end[row]; k++, to++) {
        p->ints[p->col + to] = f->place ? f->place[t->col[k]] : t->col[k];
        set(p->reals, real, p->val + to, t->val[k]);
    }
    p->ints[p->ptr + place + 1] = (int)to;
    if (f->dinv) set(p->reals, real, p->dinv + place, f->dinv[row]);
}

static void fill(struct pieces *p, const struct order *o, const struct staged_from *f, enum type real)
{
    memcpy(p->ints, o->start, (size_t)(o->nstages + 1) * sizeof *p->ints);
    for (int64_t k = 0; k < o->n; k++) fill_row(p, f, real, k, o->row[k]);
}

/* The struct, with its runs, and the sizes of the pieces. */
static struct staged *describe(const struct order *o, const struct pieces *p, int64_t nnz, enum type real,
                               struct err *e)
{
    struct layout l = {o->start, p->ints + p->ptr, o->nstages};
    int nruns = runs_of(&l, NULL);
    size_t size = sizeof(struct staged) + (size_t)nruns * sizeof(struct staged_run);
    struct staged *S = mem_zero(1, size, "the stages of rows", e);
    if (!S) return NULL;
    S->n = o->n;
    S->nnz = nnz;
    S->nstages = o->nstages;
    S->bytes[0] = p->nints * (int64_t)sizeof *p->ints;
    S->bytes[1] = p->nreals * (int64_t)type_size(real);
    S->nruns = runs_of(&l, S->run);
    return S;
}

static void point(struct staged *S, const struct pieces *p, void *const *piece, bool dinv, enum type real)
{
    const int *ints = piece[0];
    char *reals = piece[1];
    int64_t size = (int64_t)type_size(real);
    S->start = ints;
    S->row = ints + p->row;
    S->at = ints + p->at;
    S->ptr = ints + p->ptr;
    S->col = ints + p->col;
    S->y = reals;
    S->dinv = dinv ? reals + p->dinv * size : NULL;
    S->val = reals + p->val * size;
}

static bool put(struct device *d, const struct staged *S, const struct pieces *p, void **piece, struct err *e)
{
    piece[0] = d->ops->alloc(d, S->bytes[0], "the staged rows", e);
    piece[1] = piece[0] ? d->ops->alloc(d, S->bytes[1], "the staged values", e) : NULL;
    return piece[1] && d->ops->put(d, piece[0], p->ints, S->bytes[0], e) &&
           d->ops->put(d, piece[1], p->reals, S->bytes[1], e);
}

struct staged *staged_make(struct device *d, enum type real, const struct order *o, const struct staged_from *f,
                           void **piece, struct err *e)
{
    struct pieces p;
    struct staged *S = NULL;
    int64_t nnz = count(&f->entries, o->n);
    bool ok = pieces_new(&p, o, nnz, f, real, e);
    if (ok) fill(&p, o, f, real);
    ok = ok && (S = describe(o, &p, nnz, real, e)) && put(d, S, &p, piece, e);
    if (ok) point(S, &p, piece, f->dinv != NULL, real);
    mem_free(p.ints);
    mem_free(p.reals);
    if (ok) return S;
    mem_free(S);
    return NULL;
}
