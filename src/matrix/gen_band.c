/* Matrices along the diagonal: a band of chosen fill, and diagonals that are broken in pieces. */
#include "gen.h"
#include "base/mem.h"
#include "random.h"

/* ---- band ---- */

struct stripe {
    int64_t first, others; /* first column, places beside the diagonal */
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

/* Row r: the diagonal, and `count` of the other places, one in each equal part of them. */
static void band_row(struct csr *A, int64_t *at, int64_t r, struct stripe s, int64_t count, uint64_t seed)
{
    uint64_t state = gen_stream(seed, (uint64_t)r);
    bool passed = false;
    for (int64_t k = 0; k < count; k++) {
        int64_t col = s.first + gen_pick(&state, k, count, s.others);
        if (!passed && col >= r) gen_put(A, at, r, (double)count + 1);
        passed = passed || col >= r;
        gen_put(A, at, col + passed, random_unit(&state));
    }
    if (!passed) gen_put(A, at, r, (double)count + 1);
}

static bool make_band(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    int64_t n = p[0], half, nnz = n, at = 0;
    if (!gen_params(&generator_band, p, e) || !gen_within(&generator_band, p, 1, n - 1, &half, e)) return false;
    if (!csr_limits(n, n, n + n * filled(half, p[2]), e)) return false;
    for (int64_t r = 0; r < n; r++) nnz += filled(stripe_of(n, half, r).others, p[2]);
    if (!csr_new(out, n, n, nnz, false, e)) return false;
    for (int64_t r = 0; r < n; r++) {
        struct stripe s = stripe_of(n, half, r);
        if (!gen_tick(w, &generator_band, r, n, out, e)) return false;
        band_row(out, &at, r, s, filled(s.others, p[2]), seed);
        out->rowptr[r + 1] = (int)at;
    }
    return true;
}

/* ---- brokendiag: the main diagonal whole, every other one cut in pieces of which about half are there ----

       * . *          pieces of a diagonal, PIECES to the matrix's height, begin at a row
         *   .        of its own; a coin says of each whether it is there
       .   *   *
         *   *                                                                                        */

enum { PIECES = 16 };

struct diagonals {
    int64_t n, count, length; /* rows, diagonals, rows of a piece */
    int64_t *offset;          /* [count], ascending, 0 among them */
    int64_t *shift;           /* [count]: rows by which the first piece is cut short */
    uint64_t *coins;          /* [count]: bit k says whether piece k is there */
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

/* Distinct offsets within half the matrix (or as far as so many need), and the pieces of each. */
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

static bool there(const struct diagonals *d, int64_t i, int64_t row)
{
    int64_t col = row + d->offset[i];
    return col >= 0 && col < d->n && (d->coins[i] >> ((row + d->shift[i]) / d->length) & 1);
}

/* Entries of rows first .. end-1, `at` before them; written too if A is not NULL. */
static int64_t diagonals_rows(const struct diagonals *d, int64_t first, int64_t end, int64_t at, uint64_t seed,
                              struct csr *A)
{
    for (int64_t r = first; r < end; r++) {
        uint64_t state = gen_stream(seed, (uint64_t)r + 1);
        for (int64_t i = 0; i < d->count; i++) {
            if (!there(d, i, r)) continue;
            if (A)
                gen_put(A, &at, r + d->offset[i], d->offset[i] ? random_unit(&state) : (double)d->count);
            else
                at++;
        }
        if (A) A->rowptr[r + 1] = (int)at;
    }
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
        ok = csr_new(out, n, n, diagonals_rows(&d, 0, n, 0, seed, NULL), false, e);
        for (int64_t r = 0, at = 0; ok && r < n; r++) {
            at = diagonals_rows(&d, r, r + 1, at, seed, out);
            ok = gen_tick(w, g, r, n, out, e);
        }
    }
    diagonals_free(&d);
    return ok;
}

const struct generator generator_band = {
    .name = "band",
    .about = "entries at most HALF beside the diagonal, FILL% of the places, diagonally dominant",
    .usage = "band N HALF [FILL%]",
    .params = {{"n", 1000, 1, INT32_MAX, "rows and columns"},
               {"half", 8, 0, INT32_MAX, "half the bandwidth"},
               {"fill", 100, 0, 100, "per cent of the places beside the diagonal that are filled"}},
    .make = make_band,
};

const struct generator generator_brokendiag = {
    .name = "brokendiag",
    .about = "a full main diagonal and others broken in pieces, diagonally dominant (DRM)",
    .usage = "brokendiag N DIAGS",
    .params = {{"n", 4096, 1, INT32_MAX, "rows and columns"},
               {"diags", 9, 1, INT32_MAX, "diagonals, the main one among them"}},
    .make = make_brokendiag,
};
