/* Generators of matrices, and the helpers that they share: parameter checks, random streams, writing rows. */
#ifndef GEN_H
#define GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/param.h"
#include "csr.h"
#include "row_source.h"

struct csr;
struct watch;

/* A generator consists of an entry in a file gen_NAME.c and one line in generators.def. */
struct generator {
    const char *name, *about, *usage;    /* usage: "poisson2d NX [NY]" */
    const char *aliases;                 /* other names, separated by blanks; NULL: none */
    struct param params[PARAMS_MAX + 1]; /* positional, integers */
    /* Fill *out with the matrix; p[] are the parameters. Every seed is valid. `w` may be NULL. */
    bool (*make)(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e);
    /* The functions that make any row of that matrix alone (row_source.h); NULL after a failure. NULL instead of a
       function: the generator makes whole matrices only. */
    struct row_source *(*rows)(const int64_t *p, uint64_t seed, struct err *e);
};
extern const struct generator *const generators[]; /* terminated by NULL */
extern const struct registry generator_registry;
const struct generator *generator_find(const char *name);

/* ---- shared by the generators ---- */

#define GENERATOR(id) extern const struct generator generator_##id;
#include "generators.def"
#undef GENERATOR

/* Are the parameters within the ranges of the generator's entry? */
bool gen_params(const struct generator *g, const int64_t *p, struct err *e);
/* Set *v to parameter i. Its limit, `most`, follows from the other parameters. A default above the limit is reduced to
   the limit; any other value above the limit is an error. */
bool gen_within(const struct generator *g, const int64_t *p, int i, int64_t most, int64_t *v, struct err *e);
/* Call this for each row. From time to time, the function reports the progress, `done` of `total`, to the watch. If the
   user cancelled, the function frees A and returns false. */
bool gen_tick(struct watch *w, const struct generator *g, int64_t done, int64_t total, struct csr *A, struct err *e);
/* Make the matrix whose rows s makes, of any size, on all threads, and free s. NULL for s is a failure. */
bool gen_rows(struct row_source *s, struct watch *w, struct csr *out, struct err *e);
/* The initial state of the random stream of item `at`. Each item has its own stream, so that items can be generated in
   any order. */
uint64_t gen_stream(uint64_t seed, uint64_t at);
/* Split 0 .. width-1 into n >= 1 equal parts and return a random number from part k. If n <= width, the results for
   different k are distinct and ascend with k. */
int64_t gen_pick(uint64_t *state, int64_t k, int64_t n, int64_t width);
/* Ordered pairs of nodes of a line of n nodes that are at most one step apart; a node is paired with itself too. */
int64_t gen_near_pairs(int64_t n);
/* Ordered pairs of nodes of a grid that are at most one step along one axis apart; a node is paired with itself too. */
int64_t gen_axis_pairs(int64_t nx, int64_t ny, int64_t nz);
/* Write entry *at of A and advance *at. */
static inline void gen_put(struct csr *A, int64_t *at, int64_t col, double v)
{
    A->col[*at] = (int)col;
    A->val[(*at)++] = v;
}

#endif
