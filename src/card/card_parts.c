/* Report card: what the pattern alone determines: structural rank, Dulmage-Mendelsohn decomposition, strongly and
   weakly connected components. */
#include "base/err.h"
#include "base/library_thread.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "card.h"
#include "card_graph.h"
#include "matrix/components.h"
#include "matrix/csr.h"

#include <string.h>
#include <suitesparse/btf.h>

/* Typical times on one core; a matching may take longer. */
static const double MATCHING_US_PER_ENTRY = 0.1, COMPONENTS_US_PER_ENTRY = 0.02;

/* ---- Dulmage-Mendelsohn, by CXSparse ---- */

struct dm_job {
    struct card_graph g;
    cs_did *found;
};

static void dm_work(void *p)
{
    struct dm_job *job = p;
    cs_di A = card_graph_cs(&job->g);
    job->found = cs_di_dmperm(&A, 0);
}

static void dm_done(void *p)
{
    struct dm_job *job = p;
    cs_di_dfree(job->found);
    card_graph_free(&job->g);
    mem_free(job);
}

/* Copies the decomposition. CXSparse decomposed A', so the wide part and the tall part are swapped, and so are rows and
   columns. */
static void dm_copy(const cs_did *d, struct card_dm *out)
{
    *out = (struct card_dm){.rank = d->rr[3],
                            .wide_rows = d->cc[4] - d->cc[3],
                            .wide_cols = d->rr[4] - d->rr[2],
                            .square = d->rr[2] - d->rr[1],
                            .tall_rows = d->cc[2] - d->cc[0],
                            .tall_cols = d->rr[1] - d->rr[0]};
    for (int b = 0; b < d->nb; b++) {
        int rows = d->r[b + 1] - d->r[b], first = d->r[b];
        if (first < d->rr[1] || first >= d->rr[2] || rows == 0) continue;
        out->blocks++;
        if (rows > out->largest) out->largest = rows;
    }
}

static const struct card_dm *dm_of(struct card *c, struct err *e)
{
    if (c->has_dm) return &c->dm;
    if (!card_affords(c, MATCHING_US_PER_ENTRY * (double)c->A->nnz, e)) return NULL;
    struct dm_job *job = mem_zero(1, sizeof *job, "a matching", e);
    if (!job) return NULL;
    if (!card_graph_new(&job->g, c->A, false, 12, "the Dulmage-Mendelsohn decomposition", e)) {
        mem_free(job);
        return NULL;
    }
    if (!worker_run(dm_work, dm_done, job, "matching rows and columns", c->watch, e)) return NULL;
    if (job->found) dm_copy(job->found, &c->dm);
    c->has_dm = job->found != NULL;
    dm_done(job);
    if (c->has_dm) return &c->dm;
    fail(e, E_MEMORY, "out of memory: the Dulmage-Mendelsohn decomposition");
    return NULL;
}

static bool run_rank(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_dm *d = dm_of(c, e);
    if (!d) return false;
    int64_t full = c->A->rows < c->A->cols ? c->A->rows : c->A->cols;
    card_set(r, "structural_rank", (double)d->rank);
    card_set(r, "structurally_singular", d->rank < full);
    bool square = c->A->rows == c->A->cols;
    if (square && d->rank < full) card_prove_singular(c, "structural rank");
    if (square && (d->rank < full || !c->values.zeros)) c->facts->fillable = d->rank == full ? FACT_YES : FACT_NO;
    if (square && !c->facts->fillable) facts_fillable(c->facts, c->A); /* stored zeros fill no place */
    if (d->rank == full) {
        r->quiet = true;
        card_say(r, "structurally %s", square ? "nonsingular" : "of full rank");
        card_advise(r, "only the values can make %s", square ? "it singular" : "the rank smaller");
    } else {
        card_say(r, "structural rank %s, %s short", card_count(d->rank).text, card_count(full - d->rank).text);
        card_advise(r, "%s for any values", square ? "singular" : "rank deficient");
    }
    return true;
}

static bool run_parts(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_dm *d = dm_of(c, e);
    if (!d) return false;
    card_set(r, "wide_rows", (double)d->wide_rows);
    card_set(r, "wide_cols", (double)d->wide_cols);
    card_set(r, "square_size", (double)d->square);
    card_set(r, "tall_rows", (double)d->tall_rows);
    card_set(r, "tall_cols", (double)d->tall_cols);
    card_set(r, "square_blocks", (double)d->blocks);
    card_set(r, "square_largest", (double)d->largest);
    bool wide = d->wide_rows || d->wide_cols, tall = d->tall_rows || d->tall_cols;
    if (wide) card_say(r, "wide %s x %s, ", card_count(d->wide_rows).text, card_count(d->wide_cols).text);
    if (wide || tall) {
        card_say(r, "square %s", card_count(d->square).text);
    } else if (d->blocks == 1) {
        r->quiet = true;
        card_say(r, "one irreducible block");
        card_advise(r, "cannot be split");
    } else {
        card_say(r, "%s triangular blocks, largest %s", card_count(d->blocks).text, card_count(d->largest).text);
        card_advise(r, "solve block by block");
    }
    if (tall) card_say(r, ", tall %s x %s", card_count(d->tall_rows).text, card_count(d->tall_cols).text);
    if (wide || tall) card_add_advice(r, tall ? "least squares" : "many solutions");
    return true;
}

/* ---- strongly connected components, by BTF ---- */

struct strong_job {
    struct card_graph g;
    int *work; /* [6 rows + 1]: the permutation, the start of each component, BTF's work space; owned */
    int n;     /* components */
};

static void strong_work(void *p)
{
    struct strong_job *job = p;
    size_t n = (size_t)job->g.rows;
    job->n = btf_strongcomp(job->g.rows, job->g.p, job->g.i, NULL, job->work, job->work + n, job->work + 2 * n + 1);
}

static void strong_done(void *p)
{
    struct strong_job *job = p;
    card_graph_free(&job->g);
    mem_free(job->work);
    mem_free(job);
}

static bool strongly_connected(struct card *c, int64_t *n, int64_t *largest, struct err *e)
{
    int64_t rows = c->A->rows;
    *n = *largest = 0;
    if (!rows) return true;
    if (!card_affords(c, COMPONENTS_US_PER_ENTRY * (double)c->A->nnz, e)) return false;
    struct strong_job *job = mem_zero(1, sizeof *job, "strong components", e);
    if (!job) return false;
    job->work = mem_new(6 * rows + 1, sizeof *job->work, "strong components", e);
    if (!job->work || !card_graph_new(&job->g, c->A, false, 4, "strong components", e)) {
        mem_free(job->work);
        mem_free(job);
        return false;
    }
    if (!worker_run(strong_work, strong_done, job, "strong components", c->watch, e)) return false;
    const int *from = job->work + rows;
    *n = job->n;
    for (int k = 0; k < job->n; k++)
        if (from[k + 1] - from[k] > *largest) *largest = from[k + 1] - from[k];
    strong_done(job);
    return true;
}

static bool run_strong(struct card *c, struct card_row *r, struct err *e)
{
    int64_t n, largest;
    if (!strongly_connected(c, &n, &largest, e)) return false;
    card_set(r, "strong_components", (double)n);
    card_set(r, "strong_largest", (double)largest);
    card_set(r, "irreducible", n == 1);
    if (n == 1) {
        r->quiet = true;
        card_say(r, "strongly connected");
        card_advise(r, "no permutation makes it block triangular");
    } else if (largest == 1) {
        card_say(r, "%s of 1 row each", card_count(n).text);
        card_advise(r, "triangular when permuted; no iteration is needed");
    } else {
        card_say(r, "%s components, largest %s", card_count(n).text, card_count(largest).text);
        card_advise(r, "reducible");
        card_add_advice(r, " to block triangular form");
    }
    return true;
}

/* ---- weakly connected components ---- */

bool card_weakly_connected(struct card *c, int64_t *n, int64_t *largest, struct err *e)
{
    static const char what[] = "weak components";
    int64_t nodes = csr_nodes(c->A);
    *n = *largest = 0;
    if (nodes > INT32_MAX)
        return fail(e, E_LIMIT, "%s: %lld rows and columns, the limit is %d", what, (long long)nodes, INT32_MAX);
    int *root = mem_new(nodes, sizeof *root, what, e);
    int *size = root ? mem_zero(nodes, sizeof *size, what, e) : NULL;
    bool ok = size && csr_components(c->A, what, root, c->watch, e);
    struct loop l = loop_of(what, nodes);
    for (int64_t v = 0; ok && v < nodes && loop_goes(&l, v); v++) {
        *n += root[v] == v;
        if (++size[root[v]] > *largest) *largest = size[root[v]];
    }
    ok = ok && loop_end(&l, e);
    mem_free(root);
    mem_free(size);
    return ok;
}

static bool run_weak(struct card *c, struct card_row *r, struct err *e)
{
    int64_t n, largest;
    if (!card_weakly_connected(c, &n, &largest, e)) return false;
    card_set(r, "weak_components", (double)n);
    c->facts->systems = n;
    card_set(r, "weak_largest", (double)largest);
    if (n == 1) {
        r->quiet = true;
        card_say(r, "connected");
        card_advise(r, "no isolated rows or columns");
    } else if (largest <= 1) {
        card_say(r, "no connections");
        card_advise(r, c->A->nnz ? "a diagonal matrix" : "no entries");
    } else {
        bool square = c->A->rows == c->A->cols;
        card_say(r, "%s %s, largest %s", card_count(n).text, square ? "independent systems" : "unconnected parts",
                 card_count(largest).text);
        if (square) card_advise_unless(r, CARD_IF_SINGULAR, "solve them separately");
    }
    return true;
}

const struct card_line card_line_rank = {
    .name = "rank",
    .about = "structural rank: the largest number of entries of which no two are in the same row or column",
    .keys = {{"structural_rank", CARD_INT}, {"structurally_singular", CARD_BOOL}},
    .costly = true,
    .for_solvers = true,
    .run = run_rank,
};
const struct card_line card_line_parts = {
    .name = "parts",
    .about = "Dulmage-Mendelsohn decomposition: a wide part, a square part of triangular blocks, a tall part",
    .keys = {{"wide_rows", CARD_INT},
             {"wide_cols", CARD_INT},
             {"square_size", CARD_INT},
             {"square_blocks", CARD_INT},
             {"square_largest", CARD_INT},
             {"tall_rows", CARD_INT},
             {"tall_cols", CARD_INT}},
    .costly = true,
    .run = run_parts,
};
const struct card_line card_line_strong = {
    .name = "strong",
    .about = "strongly connected components of the graph whose edges i -> j are the entries (i, j)",
    .keys = {{"strong_components", CARD_INT}, {"strong_largest", CARD_INT}, {"irreducible", CARD_BOOL}},
    .costly = true,
    .square = true,
    .run = run_strong,
};
const struct card_line card_line_weak = {
    .name = "weak",
    .about = "weakly connected components: the components of the same graph if its edges have no direction",
    .keys = {{"weak_components", CARD_INT}, {"weak_largest", CARD_INT}},
    .costly = true,
    .for_solvers = true,
    .run = run_weak,
};
