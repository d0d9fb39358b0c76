/* Generators of matrices, and what their files share: checks, random streams, a way to write rows. */
#ifndef GEN_H
#define GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "csr.h"
#include "base/param.h"

struct csr;
struct watch;

/* A generator is an entry of a file gen_NAME.c and one line in generators.def. */
struct generator {
    const char *name, *about, *usage;    /* usage: "poisson2d NX [NY]" */
    struct param params[PARAMS_MAX + 1]; /* positional, integers */
    /* Any seed will do. w may be NULL. */
    bool (*make)(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e);
};
extern const struct generator *const generators[]; /* ended by NULL */
extern const struct registry generator_registry;
const struct generator *generator_find(const char *name);

/* ---- shared by the generators ---- */

#define GENERATOR(id) extern const struct generator generator_##id;
#include "generators.def"
#undef GENERATOR

/* Are the parameters within the generator's own ranges? */
bool gen_params(const struct generator *g, const int64_t *p, struct err *e);
/* Parameter i, which the others limit to `most`, in *v: a default beyond it is reduced to it, another value is refused.
 */
bool gen_within(const struct generator *g, const int64_t *p, int i, int64_t most, int64_t *v, struct err *e);
/* Called for each row: look at the watch now and then, saying `done` of `total`; where it cancels, A is freed. */
bool gen_tick(struct watch *w, const struct generator *g, int64_t done, int64_t total, struct csr *A, struct err *e);
/* The start of an independent random stream for item `at`, so that items need no order. */
uint64_t gen_stream(uint64_t seed, uint64_t at);
/* Cut 0 .. width-1 in n >= 1 equal parts: a random number of part k. Distinct and ascending in k for n <= width. */
int64_t gen_pick(uint64_t *state, int64_t k, int64_t n, int64_t width);
/* Write entry *at of A and go on. */
static inline void gen_put(struct csr *A, int64_t *at, int64_t col, double v)
{
    A->col[*at] = (int)col;
    A->val[(*at)++] = v;
}

#endif
