/* Sort rows into levels, copy the rows to a device in the order of the levels, and plan the launches. */
#include "level_schedule.h"
#include "base/base.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "formats/format.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "patience.h"

#include <omp.h>
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

/* Rows are counted and sorted by level in shares, one thread each. Sorting is stable, so the result does not depend on
   the number of shares. */
struct sorting {
    const int *level;
    int64_t n;
    int nlevels, shares;
    bool down; /* begin with the last row */
    int *at;   /* [shares][nlevels] the rows of each level in each share; then the position of the next such row */
};

static bool sorting_new(struct sorting *s, const int *level, int64_t n, int nlevels, bool down, struct err *e)
{
    int64_t most = n > THREADS_FROM ? omp_get_max_threads() : 1;
    if (nlevels && most > n / nlevels) most = n / nlevels;
    *s = (struct sorting){level, n, nlevels, most > 1 ? (int)most : 1, down, NULL};
    s->at = mem_zero((int64_t)s->shares * nlevels + 1, sizeof *s->at, "the levels of rows", e);
    return s->at != NULL;
}

static int64_t share_begin(const struct sorting *s, int share)
{
    return s->n / s->shares * share + (share < s->n % s->shares ? share : s->n % s->shares);
}

static int64_t sorted_row(const struct sorting *s, int64_t k)
{
    return s->down ? s->n - 1 - k : k;
}

static void count_share(const struct sorting *s, int share, struct loop *l)
{
    int *rows = s->at + (int64_t)share * s->nlevels;
    for (int64_t k = share_begin(s, share), end = share_begin(s, share + 1); k < end && loop_goes(l, k); k++)
        rows[s->level[sorted_row(s, k)]]++;
}

static void sort_share(const struct sorting *s, int share, struct order *o, struct loop *l)
{
    int *at = s->at + (int64_t)share * s->nlevels;
    for (int64_t k = share_begin(s, share), end = share_begin(s, share + 1); k < end && loop_goes(l, k); k++) {
        int64_t i = sorted_row(s, k);
        int position = at[s->level[i]]++;
        o->row[position] = (int)i;
        o->position[i] = position;
    }
}

static void count_rows(const struct sorting *s, struct loop *l)
{
#pragma omp parallel for schedule(static, 1) num_threads(s->shares) if (s->shares > 1)
    for (int share = 0; share < s->shares; share++) count_share(s, share, l);
}

/* Replace the counts by positions, and write the first position of each level to start[nlevels + 1]. */
static void positions_of(const struct sorting *s, int *start)
{
    int sum = 0;
    for (int level = 0; level < s->nlevels; level++) {
        start[level] = sum;
        for (int share = 0; share < s->shares; share++) {
            int *at = &s->at[(int64_t)share * s->nlevels + level], rows = *at;
            *at = sum;
            sum += rows;
        }
    }
    start[s->nlevels] = sum;
}

bool order_by(struct order *o, int64_t n, const int *level, int nlevels, bool down, struct err *e)
{
    struct sorting s = {0};
    if (!order_new(o, n, nlevels, e)) return false;
    struct loop l = loop_of("sorting rows by level", n);
    bool ok = sorting_new(&s, level, n, nlevels, down, e);
    if (ok) {
        count_rows(&s, &l);
        positions_of(&s, o->start);
#pragma omp parallel for schedule(static, 1) num_threads(s.shares) if (s.shares > 1)
        for (int share = 0; share < s.shares; share++) sort_share(&s, share, o, &l);
    }
    mem_free(s.at);
    if (ok && loop_end(&l, e)) return true;
    order_free(o);
    return false;
}

bool order_plain(struct order *o, int64_t n, bool down, struct err *e)
{
    if (!order_new(o, n, n > 0, e)) return false;
    struct loop l = loop_of("an order of rows", n);
    o->start[n > 0] = (int)n;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++)
            o->row[i] = o->position[i] = (int)(down ? n - 1 - i : i);
    if (loop_end(&l, e)) return true;
    order_free(o);
    return false;
}

/* ---- levels ---- */

/* Rows whose levels are found at the same time. */
enum { LEVEL_BATCH = 1 << 15 };

/* The levels of rows, from the first row on, or from the last one if `down` is set. Row number k is the kth row in this
   direction. */
struct levelling {
    const struct entries *t;
    int64_t n;
    bool down;
    int *level_of;
    struct loop l;
};

static int level_row(const struct levelling *v, int64_t i)
{
    const struct entries *t = v->t;
    int level = 0;
    for (int j = t->begin[i] + t->skip; j < t->end[i]; j++)
        if (v->level_of[t->col[j]] >= level) level = v->level_of[t->col[j]] + 1;
    return v->level_of[i] = level;
}

/* Does row i depend on row number `first` or a later one? */
static bool depends_on(const struct levelling *v, int64_t i, int64_t first)
{
    const struct entries *t = v->t;
    if (t->begin[i] + t->skip == t->end[i]) return false;
    return v->down ? t->col[t->begin[i] + t->skip] < v->n - first : t->col[t->end[i] - 1] >= first;
}

static int level_in_turn(struct levelling *v, int64_t first, int64_t end)
{
    int most = -1;
    for (int64_t k = first; k < end && loop_goes(&v->l, k); k++) {
        int level = level_row(v, v->down ? v->n - 1 - k : k);
        if (level > most) most = level;
    }
    return most;
}

/* Rows that do not depend on each other, as those of a colour, on all threads. Returns false if they do. */
static bool level_together(struct levelling *v, int64_t first, int64_t end, int *most)
{
    int highest = *most;
    bool independent = true;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(max : highest) reduction(&& : independent)
    for (int64_t from = first; from < end; from += LOOP_EVERY)
        for (int64_t k = from, last = loop_share(&v->l, from, end); k < last && independent; k++) {
            int64_t i = v->down ? v->n - 1 - k : k;
            independent = !depends_on(v, i, first);
            int level = independent ? level_row(v, i) : 0;
            if (level > highest) highest = level;
        }
    if (independent) *most = highest;
    return independent;
}

int levels_of(const struct entries *t, int64_t n, bool down, int *level_of)
{
    struct levelling v = {t, n, down, level_of, loop_of("the levels of rows", n)};
    bool together = omp_get_max_threads() > 1 && n > LEVEL_BATCH;
    struct patience patience = {0};
    int most = -1;
    for (int64_t first = 0, end; first < n && loop_runs(&v.l); first = end) {
        end = n - first < LEVEL_BATCH ? n : first + LEVEL_BATCH;
        if (together && patience_tries(&patience)) {
            bool done = level_together(&v, first, end, &most);
            patience_learns(&patience, done);
            if (done) continue;
        }
        int level = level_in_turn(&v, first, end);
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

static int64_t longest_in(const struct layout *l, int level)
{
    int64_t most = 0;
    for (int64_t k = l->start[level]; k < l->start[level + 1]; k++)
        if (l->ptr[k + 1] - l->ptr[k] > most) most = l->ptr[k + 1] - l->ptr[k];
    return most;
}

static int64_t up_to(int64_t n, int64_t step)
{
    return (n + step - 1) / step;
}

static const int lane_counts[] = {1, 4, 8, 32};

/* level_steps with this number of threads per row. */
static int64_t steps_with(int64_t rows, int64_t longest, int lanes)
{
    int64_t late = longest > LEVEL_EARLY * lanes ? longest - LEVEL_EARLY * lanes : 0;
    return up_to(rows * lanes, LEVEL_THREADS) * (1 + up_to(late, LEVEL_LATE * lanes));
}

int64_t level_steps(int64_t rows, int64_t longest)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < COUNT(lane_counts); i++) {
        int64_t steps = steps_with(rows, longest, lane_counts[i]);
        if (steps < least) least = steps;
    }
    return least;
}

bool level_is_narrow(int64_t rows, int64_t longest)
{
    return rows <= narrow_rows && level_steps(rows, longest) <= LEVEL_STEPS;
}

static bool narrow(const struct layout *l, int level)
{
    int64_t rows = rows_in(l, level, level + 1);
    return rows <= LEVEL_NARROW && level_is_narrow(rows, longest_in(l, level)); /* no wide level is searched */
}

/* Many blocks: as many threads per row as the average row keeps busy. */
static int lanes_of_wide(int64_t rows, int64_t entries)
{
    int i = 0;
    while (i < COUNT(lane_counts) - 1 && entries > LEVEL_EARLY * lane_counts[i] * rows) i++;
    return lane_counts[i];
}

/* One block: the least steps over all levels. */
static int lanes_of_narrow(const struct layout *l, int from, int to)
{
    int64_t steps[COUNT(lane_counts)] = {0};
    int best = 0;
    for (int level = from; level < to; level++) {
        int64_t rows = rows_in(l, level, level + 1), longest = longest_in(l, level);
        for (int i = 0; i < COUNT(lane_counts); i++) steps[i] += steps_with(rows, longest, lane_counts[i]);
    }
    for (int i = 1; i < COUNT(lane_counts); i++)
        if (steps[i] < steps[best]) best = i;
    return lane_counts[best];
}

static struct level_run run_from(const struct layout *l, int from)
{
    struct level_run r = {.from = from, .to = from + 1, .wide = !narrow(l, from)};
    int64_t widest = rows_in(l, from, from + 1);
    for (; !r.wide && r.to < l->nlevels && narrow(l, r.to); r.to++)
        if (rows_in(l, r.to, r.to + 1) > widest) widest = rows_in(l, r.to, r.to + 1);
    r.first = l->start[from];
    r.end = l->start[r.to];
    r.lanes = r.wide ? lanes_of_wide(widest, entries_in(l, from, r.to)) : lanes_of_narrow(l, from, r.to);
    widest *= r.lanes;
    r.blocks = r.wide ? (unsigned)up_to(widest, LEVEL_BLOCK) : 1;
    r.threads = r.wide ? LEVEL_BLOCK : widest > LEVEL_THREADS ? LEVEL_THREADS : 32 * (unsigned)up_to(widest, 32);
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
#pragma omp parallel for schedule(static) reduction(+ : sum) if (n > THREADS_FROM)
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
    p->ints = mem_new(p->nints, sizeof *p->ints, "the rows by level", e);
    p->reals = p->ints ? mem_new(p->nreals, type_size(real), "the values by level", e) : NULL;
    return p->reals != NULL;
}

/* Convert element k of `from`, a number or a pair, to element i of the piece. */
static void set(void *reals, enum type real, int64_t i, const double *from, int64_t k)
{
    double *same = reals;
    if (real == T_F64) {
        same[i] = from[k];
        return;
    }
    struct array to = {.type = type_of_parts(real), .data = reals};
    int64_t parts = type_parts(real);
    for (int64_t part = 0; part < parts; part++) put_real(&to, parts * i + part, from[parts * k + part]);
}

/* The conjugate of entry (j, i) of the mirror. */
static void set_mirrored(void *reals, enum type real, int64_t to, const struct entries *t, int64_t i, int j)
{
    int64_t k = column_lower(t->col, t->begin[j] + t->skip, t->end[j], i);
    if (!type_is_complex(real)) {
        set(reals, real, to, t->val, k);
    } else {
        double pair[] = {t->val[2 * k], -t->val[2 * k + 1]};
        set(reals, real, to, pair, 0);
    }
}

static void fill_row(struct pieces *p, const struct level_source *f, enum type real, int64_t position, int64_t row)
{
    const struct entries *t = &f->entries;
    int64_t to = p->ints[p->ptr + position];
    p->ints[p->row + position] = f->names ? f->names[row] : (int)row;
    if (f->at) p->ints[p->at + position] = f->at[row];
    for (int64_t k = t->begin[row] + t->skip; k < t->end[row]; k++, to++) {
        p->ints[p->col + to] = f->position ? f->position[t->col[k]] : t->col[k];
        if (t->val)
            set(p->reals, real, p->val + to, t->val, k);
        else
            set_mirrored(p->reals, real, p->val + to, f->mirror, row, t->col[k]);
    }
    if (f->dinv) set(p->reals, real, p->dinv + position, f->dinv, row);
}

/* Results are missing before a sync-free solve, and 0 before any other. */
static void fill_results(struct pieces *p, const struct order *o, enum type real, int64_t from, int64_t end)
{
    size_t size = type_size(real);
    memset(p->reals + (size_t)from * size, o->step ? MISSING_BYTE : 0, (size_t)(end - from) * size);
}

static void fill(struct pieces *p, const struct order *o, const struct level_source *f, enum type real)
{
    int *ptr = p->ints + p->ptr;
    struct loop l = loop_of("copying rows by level", o->n);
    memcpy(p->ints, o->start, (size_t)(o->nlevels + 1) * sizeof *p->ints);
    if (o->step) memcpy(p->ints + p->step, o->step, (size_t)o->n * sizeof *p->ints);
    if (o->step) memset(p->ints + p->ticket, 0, ALIGN * sizeof *p->ints);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (o->n > THREADS_FROM)
    for (int64_t from = 0; from < o->n; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, o->n); k < end; k++)
            ptr[k + 1] = (int)row_length(&f->entries, o->row[k]);
    ptr[0] = 0;
    for (int64_t k = 0; k < o->n && loop_goes(&l, k); k++) ptr[k + 1] += ptr[k];
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (o->n > THREADS_FROM)
    for (int64_t from = 0; from < o->n; from += LOOP_EVERY) {
        int64_t end = loop_share(&l, from, o->n);
        fill_results(p, o, real, from, end);
        for (int64_t k = from; k < end; k++) fill_row(p, f, real, k, o->row[k]);
    }
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

/* A device that works in host memory takes the pieces themselves. */
static bool put(struct device *d, const struct level_schedule *S, struct pieces *p, void **piece, struct err *e)
{
    if (d->ops->plain) {
        piece[0] = p->ints;
        piece[1] = p->reals;
        p->ints = NULL;
        p->reals = NULL;
        return true;
    }
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
