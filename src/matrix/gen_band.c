/* Matrices with entries near the diagonal: a band with a chosen fill, and diagonals broken into pieces. */
#include "base/loop.h"
#include "base/mem.h"
#include "gen.h"
#include "random.h"

/* ---- band ---- */

struct stripe {
    int64_t first;  /* first column of the band in a row */
    int64_t others; /* number of the band's positions in a row, without the diagonal */
};

static struct stripe stripe_of(int64_t n, int64_t half, int64_t row)
{
    int64_t first = row > half ? row - half : 0, last = row < n - half ? row + half : n - 1;
    if (last > n - 1) last = n - 1;
    return (struct stripe){first, last - first};
}

static int64_t filled(int64_t places, int64_t percent)
{
    return (places * percent + 99) / 100;
}

struct band {
    int64_t n, half, percent;
    uint64_t seed;
};

static int64_t band_length(const void *of, int64_t row)
{
    const struct band *b = of;
    return 1 + filled(stripe_of(b->n, b->half, row).others, b->percent);
}

/* Write row r: the diagonal, and `count` other entries, one in each of `count` equal parts of the band. */
static void band_row(const void *of, int64_t r, struct csr *A, int64_t at)
{
    const struct band *b = of;
    struct stripe s = stripe_of(b->n, b->half, r);
    int64_t count = filled(s.others, b->percent);
    uint64_t state = gen_stream(b->seed, (uint64_t)r);
    bool passed = false;
    for (int64_t k = 0; k < count; k++) {
        int64_t col = s.first + gen_pick(&state, k, count, s.others);
        if (!passed && col >= r) gen_put(A, &at, r, (double)count + 1);
        passed = passed || col >= r;
        gen_put(A, &at, col + passed, random_unit(&state));
    }
    if (!passed) gen_put(A, &at, r, (double)count + 1);
}

/* All rows between the first and the last `half` rows have the same length. */
static bool band_entries(const struct band *b, int64_t *nnz, struct err *e)
{
    int64_t edge = b->half < b->n - b->half ? b->half : b->n, middle = edge < b->n ? b->n - 2 * edge : 0;
    struct loop l = loop_of("band", edge);
    *nnz = middle ? middle * band_length(b, edge) : 0;
    for (int64_t r = 0; r < edge && loop_goes(&l, r); r++)
        *nnz += band_length(b, r) + (middle ? band_length(b, b->n - 1 - r) : 0);
    return loop_end(&l, e);
}

static struct row_source *rows_band(const int64_t *p, uint64_t seed, struct err *e)
{
    static const struct row_maker maker = {band_length, band_row};
    const struct generator *g = &generator_band;
    struct band b = {.n = p[0], .percent = p[2], .seed = seed};
    int64_t n = b.n, nnz;
    if (!gen_params(g, p, e) || !gen_within(g, p, 1, n - 1, &b.half, e)) return NULL;
    if (!csr_limits_any(n, n, n + n * filled(b.half, b.percent), e) || !band_entries(&b, &nnz, e)) return NULL;
    return row_source_new(g->name, n, n, nnz, &maker, &b, sizeof b, e);
}

static bool make_band(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_band(p, seed, e), w, out, e);
}

/* ---- brokendiag: a full main diagonal, and other diagonals cut into pieces, about half of which are present ----

   The length of a piece is the number of rows of the matrix divided by PIECES, rounded up. The first piece of a
   diagonal begins at a random row. A random bit decides whether a piece is present.

       * . *
         *   .
       .   *   *
         *   *
*/

enum { PIECES = 16 };

struct diagonals {
    int64_t n;       /* rows */
    int64_t count;   /* diagonals */
    int64_t length;  /* rows per piece */
    int64_t *offset; /* [count], in ascending order; one of them is 0 */
    int64_t *shift;  /* [count]: number of rows by which the first piece is shorter than the other pieces */
    uint64_t *coins; /* [count]: bit k is set if piece k is present */
};

static bool diagonals_new(struct diagonals *d, int64_t n, int64_t count, struct err *e)
{
    *d = (struct diagonals){.n = n, .count = count, .length = (n + PIECES - 1) / PIECES};
    d->offset = mem_new(count, sizeof *d->offset, "offsets", e);
    d->shift = mem_new(count, sizeof *d->shift, "shifts", e);
    d->coins = mem_new(count, sizeof *d->coins, "pieces", e);
    return d->offset && d->shift && d->coins;
}

static void diagonals_free(struct diagonals *d)
{
    mem_free(d->offset);
    mem_free(d->shift);
    mem_free(d->coins);
}

/* Choose distinct random offsets of at most n / 2, or larger offsets if that range has too few. Also choose the pieces
   of each diagonal. */
static void diagonals_draw(struct diagonals *d, uint64_t seed)
{
    int64_t others = d->count - 1, reach = d->n / 2 > (others + 1) / 2 ? d->n / 2 : (others + 1) / 2, k = 0;
    if (reach > d->n - 1) reach = d->n - 1;
    uint64_t state = gen_stream(seed, 0);
    for (int64_t i = 0; i < others; i++) {
        int64_t place = gen_pick(&state, i, others, 2 * reach);
        if (k == i && place >= reach) d->offset[k++] = 0;
        d->offset[k++] = place < reach ? place - reach : place - reach + 1;
    }
    if (k < d->count) d->offset[k] = 0;
    for (int64_t i = 0; i < d->count; i++) {
        d->shift[i] = gen_pick(&state, 0, 1, d->length);
        d->coins[i] = d->offset[i] ? random_next(&state) : UINT64_MAX;
    }
}

static bool is_present(const struct diagonals *d, int64_t i, int64_t row)
{
    int64_t col = row + d->offset[i];
    return col >= 0 && col < d->n && (d->coins[i] >> ((row + d->shift[i]) / d->length) & 1);
}

static int64_t between(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

/* The number of rows in which diagonal i is present, summed over its pieces. */
static int64_t diagonal_length(const struct diagonals *d, int64_t i)
{
    int64_t first = d->offset[i] < 0 ? -d->offset[i] : 0, end = d->offset[i] > 0 ? d->n - d->offset[i] : d->n, sum = 0;
    for (int64_t k = 0; k <= PIECES; k++) {
        int64_t from = k * d->length - d->shift[i];
        if (d->coins[i] >> k & 1) sum += between(from + d->length, first, end) - between(from, first, end);
    }
    return sum;
}

static int64_t diagonals_length(const struct diagonals *d)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < d->count; i++) sum += diagonal_length(d, i);
    return sum;
}

/* Write row r, beginning at entry `at`; returns the index of the first entry of the next row. */
static int64_t diagonals_row(const struct diagonals *d, int64_t r, int64_t at, uint64_t seed, struct csr *A)
{
    uint64_t state = gen_stream(seed, (uint64_t)r + 1);
    for (int64_t i = 0; i < d->count; i++)
        if (is_present(d, i, r))
            gen_put(A, &at, r + d->offset[i], d->offset[i] ? random_unit(&state) : (double)d->count);
    A->rowptr[r + 1] = (int)at;
    return at;
}

static bool make_brokendiag(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    struct diagonals d = {0};
    int64_t n = p[0], count;
    const struct generator *g = &generator_brokendiag;
    if (!gen_params(g, p, e) || !gen_within(g, p, 1, 2 * n - 1, &count, e)) return false;
    bool ok = csr_limits(n, n, n * count / 8, e) && diagonals_new(&d, n, count, e);
    if (ok) {
        diagonals_draw(&d, seed);
        ok = csr_new(out, n, n, diagonals_length(&d), false, e);
        for (int64_t r = 0, at = 0; ok && r < n; r++) {
            at = diagonals_row(&d, r, at, seed, out);
            ok = gen_tick(w, g, r, n, out, e);
        }
    }
    diagonals_free(&d);
    return ok;
}

const struct generator generator_band = {
    .name = "band",
    .aliases = "banded",
    .about = "a band with HALF diagonals on each side of the main one, FILL% filled, diagonally dominant",
    .usage = "band N HALF [FILL%]",
    .params = {{"n", 1000, 1, INT32_MAX, "rows and columns"},
               {"half", 8, 0, INT32_MAX, "half the bandwidth"},
               {"fill", 100, 0, 100, "percentage of the off-diagonal positions that are filled"}},
    .make = make_band,
    .rows = rows_band,
};

const struct generator generator_brokendiag = {
    .name = "brokendiag",
    .about = "a full main diagonal and other diagonals broken into pieces, diagonally dominant; suits the format drm",
    .usage = "brokendiag N DIAGS",
    .params = {{"n", 4096, 1, INT32_MAX, "rows and columns"},
               {"diags", 9, 1, INT32_MAX, "diagonals, including the main one"}},
    .make = make_brokendiag,
};
