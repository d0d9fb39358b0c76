/* Solve with two sparse triangular factors. The host orders the rows, and the device solves level by level, sync-free
   or by sweeps. */
#include "triangles.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/watch.h"
#include "chunk_order.h"
#include "level_schedule.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/reorder.h"
#include "solve.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

struct triangles {
    struct level_schedule *lower, *upper;
};

enum { LOWER = 0, UPPER = 2 }; /* indices in v->pre.part, which has two allocations for each triangle */

bool diagonal_places(const struct csr *A, const char *who, int *diag, struct err *e)
{
    int64_t missing = 0, first = A->rows;
    struct loop l = loop_of("the diagonal", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : missing) reduction(min : first) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            diag[i] = (int)csr_find(A, i, i);
            if (diag[i] >= 0) continue;
            missing++;
            if (i < first) first = i;
        }
    if (!loop_end(&l, e)) return false;
    if (!missing) return true;
    return fail(e, E_NUMERIC,
                "%s needs an entry on the diagonal of every row, but row %lld (counted from 0) has none (%s); gmres "
                "and bicgstab without a preconditioner need no diagonal",
                who, (long long)first, how_many(missing, "such row").text);
}

bool invert_pivot(const double *pivot, enum type type, const char *who, int64_t row, double *inverse, struct err *e)
{
    bool pair = type_is_complex(type);
    double most = type_of_parts(type) == T_F32 ? (double)FLT_MAX : DBL_MAX;
    double size = pair ? hypot(pivot[0], pivot[1]) : fabs(*pivot);
    if (pair)
        *(double complex *)inverse = 1 / *(const double complex *)pivot;
    else
        *inverse = 1 / *pivot;
    if (size > 0 && isfinite(size) && 1 / size <= most) return true;
    char text[64]; /* writing it takes longer than the division */
    snprintf(text, sizeof text, pair ? "%g%+gi" : "%g", pivot[0], pair ? pivot[1] : 0);
    if (size == 0) return fail(e, E_NUMERIC, "%s: zero pivot in row %lld (counted from 0)", who, (long long)row);
    if (!isfinite(size))
        return fail(e, E_NUMERIC, "%s: the pivot of row %lld (counted from 0) is %s", who, (long long)row, text);
    return fail(e, E_NUMERIC, "%s: the pivot of row %lld (counted from 0) is %s, too small to divide by in %s", who,
                (long long)row, text, type_name(type));
}

/* ---- elimination ---- */

/* ROWS_TOGETHER: rows of a level, on average, from which the rows of a level are eliminated in parallel.
   THREADS_LEVELS: threads from which this is faster than one row after another, whose values lie together. */
enum { ROWS_TOGETHER = 2048, THREADS_LEVELS = 3 };

bool elimination_order(const struct entries *L, int64_t n, struct order *o, struct err *e)
{
    if (omp_get_max_threads() < THREADS_LEVELS) return order_plain(o, n, false, e);
    int nlevels = 0, *level_of = mem_new(n, sizeof *level_of, "the levels of rows", e);
    if (level_of) nlevels = levels_of(L, n, false, level_of);
    bool ok = level_of && loop_unbroken("the levels of rows", e);
    if (ok && (int64_t)nlevels * ROWS_TOGETHER > n)
        ok = order_plain(o, n, false, e);
    else
        ok = ok && order_by(o, n, level_of, nlevels, false, e);
    mem_free(level_of);
    return ok;
}

bool eliminate_rows(const struct order *o, struct watch *w, const char *what, bool (*row)(void *ctx, int64_t i),
                    void *ctx, int64_t *first, struct err *e)
{
    int64_t least = o->n;
    struct loop l = loop_of(what, o->n);
    for (int k = 0; k < o->nlevels && loop_runs(&l); k++) {
        int64_t begin = o->start[k], end = o->start[k + 1];
        bool many = o->nlevels > 1 && end - begin > LOOP_SHARE;
        if (!watch_tick(w, what, begin, o->n, e)) return false;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(min : least) if (many)
        for (int64_t from = begin; from < end; from += LOOP_EVERY)
            for (int64_t p = from, last = loop_share(&l, from, end); p < last; p++)
                if (!row(ctx, o->row[p]) && o->row[p] < least) least = o->row[p];
    }
    *first = least;
    return loop_end(&l, e);
}

/* ---- the order of the rows ---- */

/* Times of an H200 in us, fitted to 60 pairs of triangles of 30 matrices (bench_precond ways). WIDE: a level that takes
   a launch. RUN: the launch of a run of narrow levels, or of a permutation of the results, of which a triangle has one
   and a half. STEP: a step of a narrow level. WORK: a row or an entry of a narrow level, which one multiprocessor
   loads. */
static const double WIDE_US = 3, RUN_US = 2.3, STEP_US = 0.77, WORK_US = 0.0002;

static double us_of_bytes(double bytes)
{
    return bytes / 4.2e6; /* at the bandwidth of an H200 */
}

/* The levels of n rows, which have length[n] entries. */
struct levels {
    int64_t n;
    int nlevels;
    int *of, *length;
};

struct level {
    int rows, entries, longest;
};

static bool levels_new(struct levels *l, int64_t n, struct err *e)
{
    l->n = n;
    l->of = mem_new(n, sizeof *l->of, "the levels of rows", e);
    l->length = l->of ? mem_new(n, sizeof *l->length, "the lengths of rows", e) : NULL;
    return l->length != NULL;
}

static void levels_free(struct levels *l)
{
    mem_free(l->of);
    mem_free(l->length);
}

/* The time of level[n]. */
static double us_of_levels(const struct level *level, int n)
{
    double us = 1.5 * RUN_US;
    bool runs = false;
    for (int k = 0; k < n; k++) {
        bool narrow = level_is_narrow(level[k].rows, level[k].longest);
        if (!narrow)
            us += WIDE_US;
        else
            us += (runs ? 0 : RUN_US) + WORK_US * ((double)level[k].rows + (double)level[k].entries) +
                  STEP_US * (double)level_steps(level[k].rows, level[k].longest);
        runs = narrow;
    }
    return us;
}

/* Predict the time of a solve level by level. */
static bool predict_levels(const struct levels *l, double *us, struct err *e)
{
    struct level *level = mem_zero((int64_t)l->nlevels + 1, sizeof *level, "the levels of rows", e);
    struct loop all = loop_of("the levels of rows", l->n);
    double entries = 0;
    for (int64_t i = 0; level && i < l->n && loop_goes(&all, i); i++) {
        struct level *of = &level[l->of[i]];
        of->rows++;
        of->entries += l->length[i];
        if (l->length[i] > of->longest) of->longest = l->length[i];
        entries += l->length[i];
    }
    if (level) *us = us_of_levels(level, l->nlevels) + us_of_bytes(66.0 * (double)l->n + 12.0 * entries);
    mem_free(level);
    return level && loop_end(&all, e);
}

/* Both orders, with their predicted times. */
struct orders {
    struct order levels, chunks;
    double levels_us;
};

static void orders_free(struct orders *o)
{
    order_free(&o->levels);
    order_free(&o->chunks);
}

/* Find the levels of a triangle. */
static bool find_levels(const struct entries *t, bool down, struct levels *l, struct err *e)
{
    l->nlevels = levels_of(t, l->n, down, l->of);
#pragma omp parallel for schedule(static) if (l->n > THREADS_FROM)
    for (int64_t i = 0; i < l->n; i++) l->length[i] = t->end[i] - t->begin[i] - t->skip;
    return loop_unbroken("the levels of rows", e);
}

static bool order_both_ways(const struct entries *t, bool down, enum triangle_way way, struct levels *l,
                            struct orders *o, struct err *e)
{
    return find_levels(t, down, l, e) && predict_levels(l, &o->levels_us, e) &&
           (way == TRIANGLES_SYNC_FREE || order_by(&o->levels, l->n, l->of, l->nlevels, down, e)) &&
           (way == TRIANGLES_LEVELS || order_chunks(&o->chunks, t, l->n, l->of, l->nlevels, down, e));
}

/* COLOURS_COST: how many times the iterations that colours are taken to need, compared with the order of A; on
   Poisson's equation in two and three dimensions, 1.2 to 1.3, on a mesh of finite elements, 1.7; on stiff structures,
   up to 2.6. COLOURS_FROM: rows of a matrix that may be ordered by colours without a word from the user if it is not
   known to be symmetric: on small matrices that are not, colours may need many times the iterations (saylr1: 48 times).
   REST_US: the least time of an iteration without the triangles, which is that of its launches. */
enum { COLOURS_FROM = 1 << 16 };
static const double COLOURS_COST = 1.7, REST_US = 10;

/* The predicted time of both triangles in the order of A: twice that of the lower triangle. If level by level takes at
   most `enough`, sync-free is not predicted. */
static bool natural_us(const struct csr *A, const int *diag, double enough, double *us, struct err *e)
{
    struct entries L = {A->rowptr, diag, 0, A->col, NULL};
    struct order chunks = {0};
    struct levels l = {0};
    bool ok = levels_new(&l, A->rows, e) && find_levels(&L, false, &l, e) && predict_levels(&l, us, e);
    if (ok && 2 * *us > enough) {
        ok = order_chunks(&chunks, &L, A->rows, l.of, l.nlevels, false, e);
        if (ok && chunks.us < *us) *us = chunks.us;
    }
    *us *= 2;
    order_free(&chunks);
    levels_free(&l);
    return ok;
}

/* The predicted time of both triangles, level by level, if the rows are ordered by `names`. */
static bool ordered_us(const struct csr *A, const int *names, double *us, struct err *e)
{
    struct levels l = {0};
    bool ok = levels_new(&l, A->rows, e) && loop_fill(l.of, A->rows, -1, "the levels of rows", e);
    struct loop all = loop_of("the levels of rows", A->rows);
    for (int64_t i = 0; ok && i < A->rows && loop_goes(&all, i); i++) {
        int row = names[i], level = 0, length = 0;
        for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
            int before = l.of[A->col[k]]; /* -1: that row comes later, or is this one */
            length += before >= 0;
            if (before >= level) level = before + 1;
        }
        l.of[row] = level;
        l.length[row] = length;
        if (level >= l.nlevels) l.nlevels = level + 1;
    }
    ok = ok && loop_end(&all, e) && predict_levels(&l, us, e);
    *us *= 2;
    levels_free(&l);
    return ok;
}

/* Does a row reach back only as far as three times its entries to the left of the diagonal, on average? Then the
   factors are nearly complete, as those of a tridiagonal matrix are: with them, a solve takes few iterations, but with
   colours as many as without factors. */
static bool nearly_complete(const struct csr *A, const int *diag)
{
    int64_t back = 0, entries = 0;
    struct loop l = loop_of("the profile", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        entries += diag[i] - A->rowptr[i];
        back += i - A->col[A->rowptr[i]]; /* 0 if the diagonal is the first entry */
    }
    return back <= 3 * entries;
}

static bool find_names(struct solve *v, const struct csr *A, const struct ordering *o, bool symmetric, int **names,
                       struct err *e)
{
    *names = mem_new(A->rows, sizeof **names, "the order of the rows", e);
    return *names && (symmetric ? reorder_find_symmetric : reorder_find)(o, A, *names, v->matrix.watch, e);
}

/* Order the rows by colours if fewer levels are predicted to gain more than the iterations that colours cost. The rest
   of an iteration moves about as many bytes as an application. */
static bool colour_if_faster(struct solve *v, const struct csr *A, const int *diag, bool symmetric, int **names,
                             struct err *e)
{
    const struct ordering *o = ordering_find("colours");
    double rest = fmax(us_of_bytes(12.0 * (double)A->nnz + 130.0 * (double)A->rows), REST_US);
    double enough = COLOURS_COST * 2 * rest - rest, natural = 0, coloured = 0;
    if (!symmetric && A->rows < COLOURS_FROM) return true;
    if (!natural_us(A, diag, enough, &natural, e)) return false;
    if (natural <= enough || nearly_complete(A, diag)) return true;
    if (!find_names(v, A, o, symmetric, names, e) || !ordered_us(A, *names, &coloured, e)) return false;
    if (COLOURS_COST * (coloured + rest) < natural + rest) {
        v->pre.order = o;
        v->pre.note[TRI_NATURAL_US] = llround(natural);
    } else {
        mem_free(*names);
        *names = NULL;
    }
    return true;
}

bool triangles_order(struct solve *v, const struct csr *A, const int *diag, bool symmetric, int **names, struct err *e)
{
    const struct triangle_settings *t = &v->pre.triangles;
    bool free_choice = !t->natural && t->way == TRIANGLES_AUTO && v->dev->kind != DEV_CPU;
    *names = NULL;
    v->pre.order = t->order;
    v->pre.note[TRI_NATURAL_US] = 0;
    if (t->order) return find_names(v, A, t->order, symmetric, names, e);
    return !free_choice || colour_if_faster(v, A, diag, symmetric, names, e);
}

bool triangles_named_order(struct solve *v, const struct csr *A, int **names, struct err *e)
{
    const struct ordering *o = v->pre.triangles.order;
    *names = NULL;
    v->pre.order = o;
    v->pre.note[TRI_NATURAL_US] = 0;
    return !o || find_names(v, A, o, false, names, e);
}

/* ---- the chosen order ---- */

/* Give the chosen orders to lower and upper, and note the times. */
static void choose(struct solve *v, struct orders *L, struct orders *U, struct order *lower, struct order *upper)
{
    double levels = L->levels_us + U->levels_us, free_us = L->chunks.us + U->chunks.us;
    bool chunks = !L->levels.row || (L->chunks.row && free_us < levels);
    v->pre.note[TRI_WAY] = chunks ? TRIANGLES_SYNC_FREE : TRIANGLES_LEVELS;
    v->pre.note[TRI_LEVELS_US] = llround(levels);
    v->pre.note[TRI_FREE_US] = llround(free_us);
    *lower = chunks ? L->chunks : L->levels;
    *upper = chunks ? U->chunks : U->levels;
    *(chunks ? &L->chunks : &L->levels) = *(chunks ? &U->chunks : &U->levels) = (struct order){0};
}

static bool order_for_gpu(struct solve *v, const struct factors *f, struct order *lower, struct order *upper,
                          struct err *e)
{
    struct orders down = {0}, up = {0};
    enum triangle_way way = v->pre.triangles.way;
    struct levels l = {0};
    bool ok = levels_new(&l, f->n, e) && order_both_ways(&f->lower, false, way, &l, &down, e);
    v->pre.note[TRI_LEVELS_LOWER] = l.nlevels;
    ok = ok && order_both_ways(&f->upper, true, way, &l, &up, e);
    v->pre.note[TRI_LEVELS_UPPER] = l.nlevels;
    if (ok) choose(v, &down, &up, lower, upper);
    orders_free(&down);
    orders_free(&up);
    levels_free(&l);
    return ok;
}

static bool order_both(struct solve *v, const struct factors *f, struct order *lower, struct order *upper,
                       struct err *e)
{
    int64_t rows = f->n;
    bool sweeps = v->pre.triangles.way == TRIANGLES_SWEEPS;
    if (!sweeps && v->dev->kind != DEV_CPU) return order_for_gpu(v, f, lower, upper, e);
    /* sweeps, and the device cpu, which solves row by row, keep the order of the rows */
    v->pre.note[TRI_WAY] = sweeps ? TRIANGLES_SWEEPS : TRIANGLES_AUTO;
    v->pre.note[TRI_LEVELS_LOWER] = v->pre.note[TRI_LEVELS_UPPER] = rows > 0;
    if (!order_plain(lower, rows, false, e) || !order_plain(upper, rows, !sweeps, e)) return false;
    if (sweeps && v->matrix.csr->nnz > LEVEL_LONG * rows) lower->lanes = upper->lanes = 32;
    return true;
}

static void free_triangles(struct triangles *t)
{
    mem_free(t->lower);
    mem_free(t->upper);
    mem_free(t);
}

/* The right-hand side of the solve with U is the result of the solve with L. The solve with U reads this result from
   where the solve with L stored it. v->pre.host is set only after both triangles are complete, because the screen may
   show the solve in the meantime. */
static bool put_both(struct solve *v, const struct factors *f, const struct order *lower, const struct order *upper,
                     struct err *e)
{
    struct triangles *t = mem_zero(1, sizeof *t, "two triangles", e);
    struct level_source L = {
        .entries = f->lower, .position = lower->position, .dinv = f->lower_inverse, .names = f->names};
    struct level_source U = {.entries = f->upper,
                             .mirror = &f->lower,
                             .position = upper->position,
                             .at = lower->position,
                             .dinv = f->upper_inverse,
                             .names = f->names};
    if (!t) return false;
    t->lower = level_schedule_make(v->dev, solve_type(v), lower, &L, v->pre.part + LOWER, e);
    t->upper = t->lower ? level_schedule_make(v->dev, solve_type(v), upper, &U, v->pre.part + UPPER, e) : NULL;
    if (!t->upper) return free_triangles(t), false;
    v->pre.host = t;
    return true;
}

bool triangles_make(struct solve *v, const struct factors *f, struct err *e)
{
    struct order lower = {0}, upper = {0};
    bool ok = order_both(v, f, &lower, &upper, e) && put_both(v, f, &lower, &upper, e);
    order_free(&lower);
    order_free(&upper);
    return ok;
}

/* Sweeps of both triangles. The last sweep with L writes to lower->y, and the last sweep with U to z; z also holds
   sweeps in between. */
static void sweep_both(struct solve *v, const struct triangles *t, const void *r, void *z)
{
    const struct tri_ops *ops = tri_ops_of(v->dev, solve_type(v));
    int64_t n = v->pre.triangles.sweeps;
    const struct level_schedule *part[] = {t->lower, t->upper};
    for (int k = 0; k < 2; k++) {
        const void *right = k ? t->lower->y : r, *x = NULL;
        void *last = k ? z : t->lower->y, *spare = k ? t->upper->y : z;
        for (int64_t i = 1; i <= n; i++) {
            void *to = (n - i) % 2 ? spare : last;
            ops->sweep(v->dev, part[k], v->scalars, right, x, to, k && i == n);
            x = to;
        }
    }
}

/* Mark all results of a sync-free solve as missing. */
static bool clear_results(struct solve *v, const struct level_schedule *t, struct err *e)
{
    char missing[4096];
    const unsigned none = 0;
    int64_t bytes = t->n * (int64_t)type_size(solve_type(v));
    memset(missing, MISSING_BYTE, sizeof missing);
    for (int64_t k = 0; k < bytes; k += (int64_t)sizeof missing) {
        int64_t n = bytes - k < (int64_t)sizeof missing ? bytes - k : (int64_t)sizeof missing;
        if (!v->dev->ops->put(v->dev, (char *)t->y + k, missing, n, e)) return false;
    }
    return v->dev->ops->put(v->dev, t->ticket, &none, sizeof none, e);
}

bool triangles_restore(struct solve *v, struct err *e)
{
    const struct triangles *t = v->pre.host;
    if (v->pre.note[TRI_WAY] != TRIANGLES_SYNC_FREE) return true;
    return clear_results(v, t->lower, e) && clear_results(v, t->upper, e);
}

/* The parts of an emulated solve may also be applied by the host, which solves row by row in any order (see x_soon in
   solve_end.c). */
bool triangles_apply(struct solve *v, const void *r, void *z, struct err *e)
{
    const struct pre_ops *ops = pre_ops_of(v->dev, solve_type(v));
    const struct tri_ops *tri = tri_ops_of(v->dev, solve_type(v));
    const struct triangles *t = v->pre.host;
    if (v->pre.note[TRI_WAY] == TRIANGLES_SWEEPS) {
        sweep_both(v, t, r, z);
    } else if (v->pre.note[TRI_WAY] == TRIANGLES_SYNC_FREE && tri->chunks) {
        tri->chunks(v->dev, t->lower, t->upper, v->scalars, r, NULL);
        tri->chunks(v->dev, t->upper, t->lower, v->scalars, t->lower->y, z);
    } else {
        ops->solve(v->dev, t->lower, v->scalars, r, NULL);
        ops->solve(v->dev, t->upper, v->scalars, t->lower->y, z);
        return triangles_restore(v, e);
    }
    return true;
}

void triangles_drop(struct solve *v)
{
    struct triangles *t = v->pre.host;
    if (t) free_triangles(t);
    v->pre.host = NULL;
}

double triangles_bytes(const struct solve *v)
{
    const struct triangles *t = v->pre.host;
    double vectors = 2.0 * (double)type_size(v->real) * (double)v->n;
    if (!t) return vectors;
    return vectors + (double)(t->lower->bytes[0] + t->lower->bytes[1] + t->upper->bytes[0] + t->upper->bytes[1]);
}

/* What became of the diagonal, or of the pivots. */
static void note_pivots(const struct solve *v, char *out, size_t size, const char *between)
{
    const int64_t *note = v->pre.note;
    double shift = (double)note[TRI_SHIFT];
    *out = 0;
    if (note[TRI_FILL]) text_append(out, size, "%s%.3g times the entries of A", between, (double)note[TRI_FILL] * 1e-6);
    if (note[TRI_REPLACED])
        text_append(out, size, "%s%s replaced by %.3g of the largest entry of the row", *out ? ", " : between,
                    how_many(note[TRI_REPLACED], "pivot").text, shift * 1e-6);
    else if (shift > 0)
        text_append(out, size, "%sdiagonal increased by %.3g%%", *out ? ", " : between, shift * 1e-4);
    if (note[TRI_TURNED])
        text_append(out, size, "%s|pivot| in place of %s", *out ? ", " : between,
                    how_many(note[TRI_TURNED], "negative one").text);
}

/* Sweeps and the device cpu do not use levels. */
void triangles_note(const struct solve *v, char *out, size_t size)
{
    char up[32];
    size_t n = 0;
    *out = 0;
    if (v->pre.note[TRI_WAY] == TRIANGLES_LEVELS || v->pre.note[TRI_WAY] == TRIANGLES_SYNC_FREE)
        n = (size_t)snprintf(out, size, "%s down, %s up", how_many(v->pre.note[TRI_LEVELS_LOWER], "level").text,
                             show_count(v->pre.note[TRI_LEVELS_UPPER], up, sizeof up));
    if (n < size) note_pivots(v, out + n, size - n, n ? ", " : "");
}

static void show_times(const struct solve *v, char *out, size_t size)
{
    const int64_t *note = v->pre.note;
    bool free = note[TRI_WAY] == TRIANGLES_SYNC_FREE;
    int64_t us = note[free ? TRI_FREE_US : TRI_LEVELS_US], other = note[free ? TRI_LEVELS_US : TRI_FREE_US];
    int n = snprintf(out, size, "%s, predicted for an H200: %lld us", free ? "sync-free" : "by levels", (long long)us);
    if (other && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "; %s %lld us", free ? "by levels" : "sync-free", (long long)other);
}

void triangles_how(const struct solve *v, char *out, size_t size)
{
    enum triangle_way way = (enum triangle_way)v->pre.note[TRI_WAY];
    const struct ordering *o = v->pre.order;
    size_t n = 0;
    *out = 0;
    if (v->pre.note[TRI_NATURAL_US])
        n = (size_t)snprintf(out, size, "rows ordered by %s, because `order natural` is predicted to take %lld us; ",
                             o->name, (long long)v->pre.note[TRI_NATURAL_US]);
    else if (o)
        n = (size_t)snprintf(out, size, "rows ordered by %s; ", o->name);
    if (n >= size) return;
    if (way == TRIANGLES_SWEEPS)
        snprintf(out + n, size - n, "approximately, %s with each triangle",
                 how_many(v->pre.triangles.sweeps, "sweep").text);
    else if (way == TRIANGLES_AUTO && n)
        snprintf(out + n, size - n, "row by row");
    else if (way != TRIANGLES_AUTO)
        show_times(v, out + n, size - n);
}
