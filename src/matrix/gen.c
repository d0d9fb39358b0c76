/* The registry of generators, and their random numbers, which splitmix64 produces. The random numbers are the same on
   every machine. */
#include "gen.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/registry.h"
#include "base/threads.h"
#include "base/watch.h"
#include "random.h"

#include <string.h>

#define GENERATOR(id) &generator_##id,
const struct generator *const generators[] = {
#include "generators.def"
    NULL};
#undef GENERATOR

const struct registry generator_registry = {.entries = generators, .aliases = offsetof(struct generator, aliases)};

const struct generator *generator_find(const char *name)
{
    return registry_find(&generator_registry, name);
}

static const uint64_t STEP = 0x9e3779b97f4a7c15; /* of splitmix64's state */

uint64_t random_skip(uint64_t state, int64_t n)
{
    return state + (uint64_t)n * STEP;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += STEP;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

double random_unit(uint64_t *state)
{
    double v = (double)(random_next(state) >> 11) * 0x1p-52 - 1;
    return v != 0 ? v : 0x1p-53;
}

void random_fill(double *x, int64_t n, uint64_t seed)
{
    struct loop l = loop_of("random numbers", n);
#pragma omp parallel for schedule(static) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY) {
        uint64_t state = random_skip(seed, from);
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++) x[i] = random_unit(&state);
    }
}

uint64_t gen_stream(uint64_t seed, uint64_t at)
{
    uint64_t state = seed;
    state = random_next(&state) ^ at;
    return random_next(&state);
}

int64_t gen_pick(uint64_t *state, int64_t k, int64_t n, int64_t width)
{
    int64_t low = k * width / n, high = (k + 1) * width / n;
    return low + (int64_t)(random_next(state) % (uint64_t)(high - low));
}

static bool outside(const struct generator *g, const struct param *q, int64_t min, int64_t max, int64_t value,
                    struct err *e)
{
    return fail(e, E_USAGE, "%s: %s is %lld, but it must be from %lld to %lld; usage: %s", g->name, q->name,
                (long long)value, (long long)min, (long long)max, g->usage);
}

bool gen_params(const struct generator *g, const int64_t *p, struct err *e)
{
    for (int i = 0; i < PARAMS_MAX && g->params[i].name; i++) {
        const struct param *q = &g->params[i];
        if (p[i] < q->min || p[i] > q->max) return outside(g, q, q->min, q->max, p[i], e);
    }
    return true;
}

bool gen_within(const struct generator *g, const int64_t *p, int i, int64_t most, int64_t *v, struct err *e)
{
    *v = p[i] < most ? p[i] : most;
    return *v == p[i] || p[i] == g->params[i].default_value ||
           outside(g, &g->params[i], g->params[i].min, most, p[i], e);
}

/* Rows between two calls of watch_tick: made by one thread, and by all threads. */
enum { TICK_ROWS = 1 << 14, SLICE_ROWS = 1 << 16 };

bool gen_tick(struct watch *w, const struct generator *g, int64_t done, int64_t total, struct csr *A, struct err *e)
{
    if (done % TICK_ROWS || watch_tick(w, g->name, done, total, e)) return true;
    csr_free(A);
    return false;
}

int64_t gen_near_pairs(int64_t n)
{
    return 3 * n - 2;
}

int64_t gen_axis_pairs(int64_t nx, int64_t ny, int64_t nz)
{
    return nx * ny * nz + 2 * ((nx - 1) * ny * nz + nx * (ny - 1) * nz + nx * ny * (nz - 1));
}

/* Set the row pointers of A from the lengths of its rows. */
static bool set_starts(const struct row_source *s, struct csr *A, struct err *e)
{
    struct loop l = loop_of("row lengths", A->rows);
#pragma omp parallel for schedule(static) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t r = from, end = loop_share(&l, from, A->rows); r < end; r++)
            csr_set_start(A, r + 1, row_source_length(s, r));
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++)
        csr_set_start(A, r + 1, csr_start(A, r) + csr_start(A, r + 1));
    return loop_end(&l, e);
}

static bool make_rows(const struct row_source *s, struct watch *w, struct csr *out, struct err *e)
{
    bool ok = set_starts(s, out, e);
    for (int64_t from = 0; ok && from < s->rows; from += SLICE_ROWS) {
        int64_t to = s->rows - from < SLICE_ROWS ? s->rows : from + SLICE_ROWS;
#pragma omp parallel for schedule(static) if (csr_start(out, to) - csr_start(out, from) > THREADS_FROM)
        for (int64_t r = from; r < to; r++) s->maker.write(s->of, r, out, csr_start(out, r));
        ok = watch_tick(w, s->name, to, s->rows, e);
    }
    if (!ok) csr_free(out);
    return ok;
}

bool gen_rows(struct row_source *s, struct watch *w, struct csr *out, struct err *e)
{
    bool ok = s && csr_new_any(out, s->rows, s->cols, s->nnz, false, e) && make_rows(s, w, out, e);
    row_source_free(s);
    return ok;
}
