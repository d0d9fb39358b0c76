/* The registry of generators, and their random numbers, which splitmix64 produces. The random numbers are the same on
   every machine. */
#include "gen.h"
#include "base/err.h"
#include "random.h"
#include "base/registry.h"
#include "base/watch.h"

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

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

double random_unit(uint64_t *state)
{
    double v = (double)(random_next(state) >> 11) * 0x1p-52 - 1;
    return v != 0 ? v : 0x1p-53;
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

enum { TICK_ROWS = 1 << 14 };

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
