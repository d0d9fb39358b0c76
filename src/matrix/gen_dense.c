/* The generator `dense`: a random value at every position, for dense LU and the dense format. */
#include "base/threads.h"
#include "base/watch.h"
#include "gen.h"
#include "random.h"

static void dense_row(struct csr *A, int64_t r, uint64_t seed)
{
    uint64_t state = gen_stream(seed, (uint64_t)r);
    int64_t at = r * A->cols;
    for (int64_t c = 0; c < A->cols; c++) gen_put(A, &at, c, random_unit(&state));
    csr_set_start(A, r + 1, at);
}

static bool make_dense(const int64_t *p, uint64_t seed, struct watch *w, struct csr *out, struct err *e)
{
    const struct generator *g = &generator_dense;
    int64_t rows = p[0], cols = p[1] ? p[1] : p[0], slice = 1 + (1 << 20) / (cols + 1);
    if (!gen_params(g, p, e) || !csr_new_any(out, rows, cols, rows * cols, false, e)) return false;
    for (int64_t from = 0, to; from < rows; from = to) {
        to = rows - from < slice ? rows : from + slice;
#pragma omp parallel for if ((to - from) * cols > THREADS_FROM)
        for (int64_t r = from; r < to; r++) dense_row(out, r, seed);
        if (watch_tick(w, g->name, to, rows, e)) continue;
        csr_free(out);
        return false;
    }
    return true;
}

const struct generator generator_dense = {
    .name = "dense",
    .aliases = "full",
    .about = "a random nonzero value at every position, for `lu`",
    .usage = "dense N [COLS]",
    .params = {{"n", 100, 0, INT32_MAX, "rows"},
               {"cols", 0, 0, INT32_MAX, "number of columns; 0: as many columns as rows"}},
    .make = make_dense,
};
