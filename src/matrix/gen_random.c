/* Random matrices: uniform rows, the power-law graphs of R-MAT, and circuits with a few dense nodes. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "base/watch.h"
#include "gen.h"
#include "random.h"

#include <math.h>

enum { SLICE = 1 << 18 }; /* rows or edges between two calls of watch_tick */

/* ---- random: the columns are divided into as many equal parts as a row has entries, and each part gets one entry.
   Every row has the same number of entries, or their numbers have a log-normal distribution ---- */

struct even {
    int64_t count, cols;
    double mu, sigma; /* of the logarithm of the row lengths; sigma 0: all rows are alike */
    uint64_t seed;
};

/* The sum of 12 uniform numbers, with variance 1; at most 6 deviations from 0. */
static double nearly_normal(uint64_t *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += random_unit(state);
    return sum / 2;
}

static int64_t random_length(const void *of, int64_t r)
{
    const struct even *q = of;
    if (q->sigma == 0) return q->count;
    uint64_t state = gen_stream(~q->seed, (uint64_t)r);
    double length = round(exp(q->mu + q->sigma * nearly_normal(&state)));
    return (int64_t)fmin(fmax(length, 1), (double)q->cols);
}

static void random_row(const void *of, int64_t r, struct csr *A, int64_t at)
{
    const struct even *q = of;
    int64_t count = random_length(of, r);
    uint64_t state = gen_stream(q->seed, (uint64_t)r);
    for (int64_t k = 0; k < count; k++) {
        int64_t col = gen_pick(&state, k, count, q->cols);
        gen_put(A, &at, col, random_unit(&state));
    }
}

/* The entries of all rows, or -1. */
static int64_t random_nnz(const struct even *q, int64_t rows, struct err *e)
{
    int64_t nnz = 0;
    if (q->sigma == 0) return rows * q->count;
    struct loop l = loop_of("random", rows);
#pragma omp parallel for reduction(+ : nnz) if (rows > THREADS_FROM)
    for (int64_t from = 0; from < rows; from += LOOP_EVERY)
        for (int64_t r = from; r < rows && r < from + LOOP_EVERY && loop_goes(&l, r); r++) nnz += random_length(q, r);
    return loop_end(&l, e) ? nnz : -1;
}

static struct row_source *rows_random(const int64_t *p, uint64_t seed, struct err *e)
{
    static const struct row_maker maker = {random_length, random_row};
    const struct generator *g = &generator_random;
    struct even q = {.cols = p[2] ? p[2] : p[0], .seed = seed};
    if (!gen_params(g, p, e) || !gen_within(g, p, 1, q.cols, &q.count, e)) return NULL;
    double share = (double)p[3] / 100;
    if (q.count) q.sigma = sqrt(log1p(share * share));
    if (q.count) q.mu = log((double)q.count) - q.sigma * q.sigma / 2;
    int64_t nnz = random_nnz(&q, p[0], e);
    return nnz < 0 ? NULL : row_source_new(g->name, p[0], q.cols, nnz, &maker, &q, sizeof q, e);
}

static bool make_random(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    return gen_rows(rows_random(p, seed, e), w, out, e);
}

/* ---- triplets from which a matrix is built ---- */

struct triplets {
    int64_t n, most;
    int *row, *col;
    double *val;
};

static bool triplets_new(struct triplets *t, int64_t most, struct err *e)
{
    *t = (struct triplets){.most = most};
    t->row = mem_new(most, sizeof *t->row, "generated rows", e);
    t->col = mem_new(most, sizeof *t->col, "generated columns", e);
    t->val = mem_new(most, sizeof *t->val, "generated values", e);
    return t->row && t->col && t->val;
}

static void triplets_free(struct triplets *t)
{
    mem_free(t->row);
    mem_free(t->col);
    mem_free(t->val);
}

static void triplets_set(struct triplets *t, int64_t at, int64_t row, int64_t col, double v)
{
    t->row[at] = (int)row;
    t->col[at] = (int)col;
    t->val[at] = v;
}

/* ---- rmat: each edge descends `scale` levels. Repeated edges are summed. At each level, sixteen random bits select
   one of the four quarters of the matrix, with these probabilities in per cent:

       57 19
       19  5
   ---- */

static void rmat_edge(int64_t scale, uint64_t *state, int64_t *row, int64_t *col)
{
    const unsigned a = 37356, b = 49807, c = 62259; /* 57%, 76%, 95% of 65536 */
    uint64_t bits = 0;
    *row = *col = 0;
    for (int64_t s = 0; s < scale; s++, bits >>= 16) {
        if (s % 4 == 0) bits = random_next(state);
        unsigned draw = bits & 65535;
        *row = *row << 1 | (draw >= b);
        *col = *col << 1 | ((draw >= a && draw < b) || draw >= c);
    }
}

static void rmat_edges(struct triplets *t, int64_t scale, int64_t from, int64_t to, uint64_t seed)
{
#pragma omp parallel for if (to - from > THREADS_FROM)
    for (int64_t k = from; k < to; k++) {
        int64_t row, col;
        uint64_t state = gen_stream(seed, (uint64_t)k);
        rmat_edge(scale, &state, &row, &col);
        triplets_set(t, k, row, col, random_unit(&state));
    }
}

static bool make_rmat(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    struct triplets t = {0};
    if (!gen_params(&generator_rmat, p, e)) return false;
    int64_t n = (int64_t)1 << p[0], edges = n * p[1];
    bool ok = csr_limits(n, n, edges, e) && triplets_new(&t, edges, e);
    for (int64_t from = 0; ok && from < edges; from += SLICE) {
        rmat_edges(&t, p[0], from, edges - from < SLICE ? edges : from + SLICE, seed);
        ok = watch_tick(w, "rmat", from, edges, e);
    }
    ok = ok && csr_build(out, n, n, edges, t.row, t.col, t.val, NULL, NULL, w, e);
    triplets_free(&t);
    return ok;
}

/* ---- circuit: each node is joined to one of the 32 nodes before it; a quarter of the nodes are also joined to a
   random earlier node; DENSE nodes (supply lines) are joined to about every eighth node. The pattern is symmetric, but
   the values are not. The matrix is diagonally dominant ---- */

enum { NEAR = 32, SPREAD = 8 };

static void join(struct triplets *t, int64_t a, int64_t b, uint64_t *state)
{
    triplets_set(t, t->n++, a, b, -fabs(random_unit(state)));
    triplets_set(t, t->n++, b, a, -fabs(random_unit(state)));
}

static bool join_nodes(struct triplets *t, int64_t n, uint64_t seed, struct watch *w, struct err *e)
{
    for (int64_t i = 0; i < n; i++) {
        if (i % SLICE == 0 && !watch_tick(w, "circuit", i, n, e)) return false;
        uint64_t state = gen_stream(seed, (uint64_t)i);
        triplets_set(t, t->n++, i, i, 0);
        if (i > 0) join(t, i, i - 1 - gen_pick(&state, 0, 1, i < NEAR ? i : NEAR), &state);
        if (i > 0 && random_next(&state) % 4 == 0) join(t, i, gen_pick(&state, 0, 1, i), &state);
    }
    return true;
}

static bool join_dense(struct triplets *t, int64_t n, int64_t dense, uint64_t seed, struct watch *w, struct err *e)
{
    for (int64_t d = 0; d < dense; d++) {
        int64_t hub = (2 * d + 1) * n / (2 * dense), parts = (n + SPREAD - 1) / SPREAD;
        uint64_t state = gen_stream(seed, (uint64_t)(n + d));
        for (int64_t k = 0; k < parts; k++) {
            int64_t node = gen_pick(&state, k, parts, n);
            if (node != hub) join(t, hub, node, &state);
        }
        if (!watch_tick(w, "circuit", d, dense, e)) return false;
    }
    return true;
}

/* Set each diagonal entry, which is 0 so far, to 1 + the sum of the other |a| in its row. */
static bool dominate(struct csr *A, struct err *e)
{
    struct loop l = loop_of("circuit", A->rows);
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++) {
        double sum = 1;
        for (int64_t k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) sum += fabs(A->val[k]);
        A->val[csr_find(A, r, r)] = sum;
    }
    if (loop_end(&l, e)) return true;
    csr_free(A);
    return false;
}

static bool make_circuit(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    struct triplets t = {0};
    int64_t n = p[0], dense;
    const struct generator *g = &generator_circuit;
    if (!gen_params(g, p, e) || !gen_within(g, p, 1, n, &dense, e)) return false;
    int64_t most = 5 * n + 2 * dense * ((n + SPREAD - 1) / SPREAD);
    bool ok = csr_limits(n, n, most, e) && triplets_new(&t, most, e) && join_nodes(&t, n, seed, w, e) &&
              join_dense(&t, n, dense, seed, w, e) && csr_build(out, n, n, t.n, t.row, t.col, t.val, NULL, NULL, w, e);
    ok = ok && dominate(out, e);
    triplets_free(&t);
    return ok;
}

const struct generator generator_random = {
    .name = "random",
    .aliases = "rand sprand",
    .about = "every row has the same number of entries, spread uniformly over all columns",
    .usage = "random N NNZ_PER_ROW [COLS] [SPREAD]",
    .params = {{"n", 10000, 0, (int64_t)1 << 32, "rows"},
               {"nnz_per_row", 8, 0, INT32_MAX, "entries per row"},
               {"cols", 0, 0, INT32_MAX, "number of columns; 0: as many columns as rows"},
               {"spread", 0, 0, 1000, "standard deviation of the row lengths, in % of nnz_per_row; 0: all alike"}},
    .make = make_random,
    .rows = rows_random,
};

const struct generator generator_rmat = {
    .name = "rmat",
    .about = "a power-law graph (R-MAT): a few very long rows and many empty rows; repeated edges are summed",
    .usage = "rmat SCALE EDGEFACTOR",
    .params = {{"scale", 12, 0, 30, "2^scale rows and columns"},
               {"edgefactor", 8, 0, INT32_MAX, "edges drawn for each row"}},
    .make = make_rmat,
};

const struct generator generator_circuit = {
    .name = "circuit",
    .about = "short rows and a few dense rows and columns, symmetric pattern, diagonally dominant",
    .usage = "circuit N DENSE",
    .params = {{"n", 10000, 1, INT32_MAX, "nodes"},
               {"dense", 4, 0, INT32_MAX, "number of nodes that are joined to about every eighth node"}},
    .make = make_circuit,
};
