/* Report card: the number of entries that the Cholesky factor of A + A' would have in AMD's order. */
#include "base/err.h"
#include "base/library_thread.h"
#include "base/mem.h"
#include "base/text.h"
#include "card.h"
#include "card_graph.h"
#include "matrix/csr.h"

#include <suitesparse/amd.h>

struct fill_job {
    struct card_graph g;
    struct card_fill found;
    bool ok;
};

/* B = A + A', without values. The caller releases the result with cs_di_spfree. */
static cs_di *with_mirror(const cs_di *A)
{
    cs_di *T = cs_di_transpose(A, 0);
    cs_di *B = T ? cs_di_add(A, T, 1, 1) : NULL;
    cs_di_spfree(T);
    return B;
}

/* The upper triangle of B, permuted by P. The caller releases the result with cs_di_spfree. */
static cs_di *permuted(const cs_di *B, const int *P)
{
    int *inverse = cs_di_pinv(P, B->n);
    cs_di *S = inverse ? cs_di_symperm(B, inverse, 0) : NULL;
    cs_di_free(inverse);
    return S;
}

/* Entries per column of L, from the elimination tree (Gilbert, Ng and Peyton 1994). The caller releases the result with
   cs_di_free. */
static int *counts_of(const cs_di *S)
{
    int *parent = cs_di_etree(S, 0);
    int *post = parent ? cs_di_post(parent, S->n) : NULL;
    int *count = post ? cs_di_counts(S, parent, post, 0) : NULL;
    cs_di_free(parent);
    cs_di_free(post);
    return count;
}

static bool sum_counts(const int *count, int n, struct card_fill *out)
{
    for (int j = 0; count && j < n; j++) {
        out->nnz += count[j];
        out->flops += (double)count[j] * count[j];
        if (count[j] > out->longest) out->longest = count[j];
    }
    return count != NULL;
}

static void fill_work(void *p)
{
    struct fill_job *job = p;
    cs_di A = card_graph_cs(&job->g);
    int *P = cs_di_malloc(A.n, sizeof *P);
    cs_di *B = P && amd_order(A.n, A.p, A.i, P, NULL, NULL) == AMD_OK ? with_mirror(&A) : NULL;
    cs_di *S = B ? permuted(B, P) : NULL;
    cs_di_free(P);
    cs_di_spfree(B);
    int *count = S ? counts_of(S) : NULL;
    job->ok = sum_counts(count, A.n, &job->found);
    cs_di_free(count);
    cs_di_spfree(S);
}

static void fill_done(void *p)
{
    struct fill_job *job = p;
    card_graph_free(&job->g);
    mem_free(job);
}

/* Typical time on one core; it depends on the matrix. */
static const double AMD_US_PER_ENTRY = 0.5;

const struct card_fill *card_fill(struct card *c, struct err *e)
{
    if (c->has_fill) return &c->fill;
    if (!card_affords(c, AMD_US_PER_ENTRY * (double)c->A->nnz, e)) return NULL;
    struct fill_job *job = mem_zero(1, sizeof *job, "an ordering", e);
    if (!job) return NULL;
    if (!card_graph_new(&job->g, c->A, false, 32, "AMD's ordering", e)) {
        mem_free(job);
        return NULL;
    }
    if (!worker_run(fill_work, fill_done, job, "ordering by AMD", c->watch, e)) return NULL;
    c->fill = job->found;
    c->has_fill = job->ok;
    fill_done(job);
    if (c->has_fill) return &c->fill;
    fail(e, E_MEMORY, "out of memory: AMD's ordering and the counts of the factor");
    return NULL;
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_fill *f = card_fill(c, e);
    char bytes[32];
    if (!f) return false;
    double half = 0.5 * ((double)c->A->nnz + (double)c->A->rows), ratio = half > 0 ? f->nnz / half : 1;
    card_set(r, "fill_nnz", f->nnz);
    card_set(r, "fill_flops", f->flops);
    card_set(r, "fill_longest", (double)f->longest);
    card_set(r, "fill_ratio", ratio);
    r->quiet = c->facts->singular; /* there is no factorisation */
    card_say(r, "L by AMD: %s, %.2g flops", how_many((int64_t)f->nnz, "entry").text, f->flops);
    if (f->flops < 1e9)
        card_advise_unless(r, CARD_IF_SINGULAR, "a direct solver is quick");
    else
        card_advise(r, "%s%s", show_bytes((card_value_bytes(c->A) + 4) * f->nnz, bytes, sizeof bytes),
                    f->flops > 1e12 ? ", iterate" : " to factor");
    return true;
}

const struct card_line card_line_fill = {
    .name = "fill",
    .about = "entries of the Cholesky factor L of A + A' in AMD's order, and the operations to compute L; L and U of a "
             "matrix that needs no pivoting have twice as many entries",
    .keys = {{"fill_nnz", CARD_NUM}, {"fill_flops", CARD_NUM}, {"fill_longest", CARD_INT}, {"fill_ratio", CARD_NUM}},
    .costly = true,
    .square = true,
    .run = run,
};
