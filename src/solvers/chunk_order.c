/* Order rows in chunks for a sync-free triangular solve, and predict the time of the solve. */
#include "chunk_order.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "patience.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Levels of a band: sqrt(BAND_FACTOR / rows of a level), at most BAND_MAX, as measured on grids in two and three
   dimensions. A matrix of at most FEW_CHUNKS chunks has bands of one level. */
enum { BAND_FACTOR = 200000, BAND_MAX = 64, FEW_CHUNKS = 8 };
/* LANES_FEW: the most entries of an average row for one thread per row, and for a part of a warp per row.
   LANES_LONGEST: the same for the longest row. */
enum { LANES_FEW = 4, LANES_SOME = 20, LANES_LONGEST = 64 };

/* Times of an H200 in us, fitted to 60 pairs of triangles of 30 matrices (bench_precond ways), and the blocks that it
   runs at the same time. LAUNCH: of the whole solve. FAR: from a result to a step of another block. BEGIN: from the
   start of one of the first blocks to its first step. AGAIN: the same of a block that follows another on its
   multiprocessor. */
static const double LAUNCH_US = 3.5, FAR_US = 1.15, BEGIN_US = 0.9, AGAIN_US = 7;

/* By threads per row: from a step to the next, and four more entries of a thread. */
static double near_us(int lanes)
{
    return lanes == 1 ? 0.22 : lanes == 4 ? 0.79 : 1.12;
}

static double batch_us(int lanes)
{
    return lanes == 1 ? 0.39 : 0.95;
}

/* The bytes of a row in which each entry is one of few, and the bytes that an H200 moves in a us. */
static const double BYTES_ROW = 100, BYTES_US = 4.2e6;
enum { BLOCKS_AT_ONCE = 132, EACH = 4 };

/* ---- the order ---- */

static int band_of(int64_t n, int nlevels)
{
    if (n <= FEW_CHUNKS * CHUNK_THREADS) return 1;
    double levels = sqrt((double)BAND_FACTOR * nlevels / (double)n);
    return levels < 1 ? 1 : levels > BAND_MAX ? BAND_MAX : (int)levels;
}

static int lanes_of(const struct entries *t, int64_t n)
{
    int64_t sum = 0, longest = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) reduction(max : longest) if (n > THREADS_FROM)
    for (int64_t i = 0; i < n; i++) {
        int64_t length = t->end[i] - t->begin[i] - t->skip;
        sum += length;
        if (length > longest) longest = length;
    }
    if (sum <= LANES_FEW * n && longest <= LANES_LONGEST) return 1;
    return sum <= LANES_SOME * n && longest <= 4 * LANES_LONGEST ? 4 : 32;
}

/* Order by band; within a band, rows ascend, or descend if `down` is set. */
static bool order_bands(struct order *o, int64_t n, const int *level_of, int nlevels, bool down, struct err *e)
{
    int levels = band_of(n, nlevels), *band = mem_new(n, sizeof *band, "the bands of rows", e);
    struct loop l = loop_of("the bands of rows", n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = band ? loop_share(&l, from, n) : from; i < end; i++)
            band[i] = level_of[i] / levels;
    bool ok = band && loop_end(&l, e) && order_by(o, n, band, (nlevels + levels - 1) / levels, down, e);
    mem_free(band);
    return ok;
}

/* The levels of a chunk lie together: every level has a row, and a chunk holds whole bands, except its first and its
   last one. */
enum { CHUNK_LEVELS = CHUNK_THREADS + 2 * BAND_MAX };

/* Sort the n rows of a chunk by level, stably: count the rows of each level, from the lowest one, `least`. */
static void sort_rows(int *row, int n, const int *level_of, int least)
{
    int at[CHUNK_LEVELS + 1] = {0}, before[CHUNK_THREADS];
    for (int k = 0; k < n; k++) at[level_of[row[k]] - least + 1]++;
    for (int l = 0; l < CHUNK_LEVELS; l++) at[l + 1] += at[l];
    memcpy(before, row, (size_t)n * sizeof *row);
    for (int k = 0; k < n; k++) row[at[level_of[before[k]] - least]++] = before[k];
}

/* Sort the rows at positions from .. to-1 by level, and number the levels. */
static void sort_chunk(struct order *o, const int *level_of, int64_t from, int64_t to)
{
    int *row = o->row + from, n = (int)(to - from), least = level_of[row[0]];
    bool sorted = true;
    for (int k = 1; k < n; k++) {
        sorted = sorted && level_of[row[k]] >= level_of[row[k - 1]];
        if (level_of[row[k]] < least) least = level_of[row[k]];
    }
    if (!sorted) sort_rows(row, n, level_of, least);
    for (int k = 0; k < n; k++) {
        if (!sorted) o->position[row[k]] = (int)(from + k);
        o->step[from + k] = k ? o->step[from + k - 1] + (level_of[row[k]] > level_of[row[k - 1]]) : 0;
    }
}

static bool sort_chunks(struct order *o, const int *level_of, struct err *e)
{
    int64_t rows = CHUNK_THREADS / o->lanes;
    struct loop l = loop_of("sorting chunks of rows", o->n);
#pragma omp parallel for schedule(dynamic, 16) if (o->n > 1 << 14)
    for (int64_t from = 0; from < o->n; from += rows)
        if (loop_check(&l, from)) sort_chunk(o, level_of, from, from + rows < o->n ? from + rows : o->n);
    return loop_end(&l, e);
}

/* ---- the time ---- */

/* Times are float, and -1 for a row that is not solved when its chunk or its batch of chunks begins. */
struct clock {
    const struct order *o;
    const struct entries *t;
    float *done;  /* [n] the time at which each row is solved */
    float *need;  /* [BATCH_CHUNKS CHUNK_THREADS] of the row at each position of a batch, the time of the last result of
                     an earlier batch that it needs */
    float *ended; /* [chunks] */
};
enum { BATCH_CHUNKS = 64 };

/* The time of the last result that row i needs from other chunks. *independent becomes false if such a result is
   missing; `first` is the first position of the chunk of the row. independent = NULL: none is missing. */
static float needed_by(const struct clock *c, int64_t i, int64_t first, bool *independent)
{
    const struct entries *t = c->t;
    float last = -1;
    for (int k = t->begin[i] + t->skip; k < t->end[i]; k++) {
        float done = c->done[t->col[k]];
        if (done > last) last = done;
        if (independent && done < 0 && c->o->position[t->col[k]] < first) *independent = false;
    }
    return last;
}

/* The time at which row i is solved, if the last result that it needs from another chunk came at `last`, and the
   previous step of its own chunk ended at `us`. */
static double solved_at(const struct clock *c, int64_t i, float last, double us)
{
    const struct entries *t = c->t;
    int64_t length = t->end[i] - t->begin[i] - t->skip, batch = EACH * c->o->lanes;
    if (last >= 0 && last + FAR_US > us) us = last + FAR_US;
    double more = length > batch ? batch_us(c->o->lanes) * (double)((length - 1) / batch) : 0;
    return us + near_us(c->o->lanes) + more;
}

/* need[k - from] is that of the row at position k; NULL: it is not known yet. */
static void run_chunk(const struct clock *c, int64_t number, int64_t from, int64_t to, const float *need)
{
    const struct order *o = c->o;
    float times[CHUNK_THREADS] = {0};
    double us = number < BLOCKS_AT_ONCE ? BEGIN_US : AGAIN_US + c->ended[number - BLOCKS_AT_ONCE];
    for (int64_t k = from, end; k < to; k = end) {
        double next = us;
        for (end = k; end < to && o->step[end] == o->step[k]; end++) {
            float last = need ? need[end - from] : needed_by(c, o->row[end], from, NULL);
            double solved = solved_at(c, o->row[end], last, us);
            if (solved > next) next = solved;
        }
        us = next;
        for (int64_t p = k; p < end; p++) times[p - from] = (float)us;
    }
    for (int64_t p = from; p < to; p++) c->done[o->row[p]] = times[p - from];
    c->ended[number] = (float)us;
}

/* Do the chunks of a batch, positions from .. to-1, need no results of each other? Then fills c->need, on all
   threads. */
static bool batch_needs(const struct clock *c, int64_t from, int64_t to, struct loop *l)
{
    const struct order *o = c->o;
    int64_t rows = CHUNK_THREADS / o->lanes;
    bool independent = true;
#pragma omp parallel for schedule(dynamic, 1) reduction(&& : independent)
    for (int64_t first = from; first < to; first += rows)
        for (int64_t p = first, end = first + rows < to ? first + rows : to; p < end && independent && loop_goes(l, p);
             p++)
            c->need[p - from] = needed_by(c, o->row[p], first, &independent);
    return independent;
}
static void run_batch(const struct clock *c, int64_t from, int64_t to, bool needs, struct loop *l)
{
    int64_t rows = CHUNK_THREADS / c->o->lanes;
    for (int64_t k = from; k < to && loop_check(l, k); k += rows)
        run_chunk(c, k / rows, k, k + rows < to ? k + rows : to, needs ? c->need + (k - from) : NULL);
}

/* Play the steps of the chunks, each of which takes a constant time. Batches whose chunks need no results of each
   other, as those of a colour, are prepared on all threads. */
static void play(const struct clock *c, struct loop *l)
{
    int64_t n = c->o->n, each = BATCH_CHUNKS * (CHUNK_THREADS / c->o->lanes);
    struct patience patience = {0};
    bool together = omp_get_max_threads() > 1 && n > each;
    for (int64_t from = 0, to; from < n && loop_runs(l); from = to) {
        to = n - from < each ? n : from + each;
        bool trying = together && patience_tries(&patience), needs = trying && batch_needs(c, from, to, l);
        if (trying) patience_learns(&patience, needs);
        run_batch(c, from, to, needs, l);
    }
}

/* Predict o->us. */
static bool predict(struct order *o, const struct entries *t, struct err *e)
{
    int64_t rows = CHUNK_THREADS / o->lanes, chunks = (o->n + rows - 1) / rows;
    struct clock c = {o, t, mem_new(o->n, sizeof *c.done, "the times of rows", e),
                      mem_new(BATCH_CHUNKS * CHUNK_THREADS, sizeof *c.need, "the times of rows", e),
                      mem_new(chunks, sizeof *c.ended, "the times of chunks", e)};
    struct loop l = loop_of("predicting a triangular solve", o->n);
    bool ok = c.done && c.need && c.ended;
    o->us = (double)o->n * BYTES_ROW / BYTES_US;
    for (int64_t i = 0; ok && i < o->n && loop_goes(&l, i); i++) c.done[i] = -1;
    if (ok) play(&c, &l);
    for (int64_t k = 0; ok && k < chunks && loop_runs(&l); k++)
        if (c.ended[k] > o->us) o->us = c.ended[k];
    o->us += LAUNCH_US;
    mem_free(c.done);
    mem_free(c.need);
    mem_free(c.ended);
    return ok && loop_end(&l, e);
}

bool order_chunks(struct order *o, const struct entries *t, int64_t n, const int *level_of, int nlevels, bool down,
                  struct err *e)
{
    if (!order_bands(o, n, level_of, nlevels, down, e)) return false;
    o->lanes = lanes_of(t, n);
    o->step = mem_new(n, sizeof *o->step, "the steps of rows", e);
    if (o->step && sort_chunks(o, level_of, e) && predict(o, t, e)) return true;
    order_free(o);
    return false;
}
