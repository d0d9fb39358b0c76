/* Divide the graph of a matrix by a library, in a child process: METIS and Scotch cannot be cancelled, and print. */
#include "graph_parts.h"
#include "base/child.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "matrix/csr.h"
#include "partition.h"

#include <stdio.h>

static bool weigh_rows(struct graph_parts *q, const struct csr *A, struct err *e)
{
    struct loop l = loop_of("partition", A->rows);
    q->weight = mem_new(A->rows, sizeof *q->weight, "the weights of rows", e);
    for (int64_t i = 0; q->weight && i < A->rows && loop_goes(&l, i); i++)
        q->weight[i] = (int)(csr_row_length(A, i) ? csr_row_length(A, i) : 1);
    return q->weight && loop_end(&l, e);
}

/* Rows of equal numbers of nonzeros, without a library. */
static bool divide_plainly(const struct partition *P, const struct csr *A, int *owner, struct err *e)
{
    struct partition plain;
    if (!partition_nnz(&plain, A, P->parts, e)) return false;
    struct loop l = loop_of("partition", A->rows);
    for (int p = 0; p < P->parts; p++)
        for (int64_t i = plain.first[p]; i < plain.first[p + 1] && loop_goes(&l, i); i++) owner[i] = p;
    partition_free(&plain);
    return loop_end(&l, e);
}

/* The part with the most rows. */
static int largest_part(const int *rows, int parts)
{
    int largest = 0;
    for (int p = 1; p < parts; p++)
        if (rows[p] > rows[largest]) largest = p;
    return largest;
}

/* The last of the rows that part p owns. */
static int64_t last_row(const int *owner, int64_t n, int p)
{
    while (owner[n - 1] != p) n--;
    return n - 1;
}

/* Libraries may leave parts empty if there are few rows for each: each empty part gets a row of the largest part. */
static bool fill_empty_parts(const struct graph_parts *q, int *owner, struct err *e)
{
    struct loop l = loop_of("partition", q->g.n + q->parts);
    int *rows = mem_zero(q->parts, sizeof *rows, "the rows of parts", e);
    for (int i = 0; rows && i < q->g.n && loop_goes(&l, i); i++) rows[owner[i]]++;
    for (int p = 0; rows && p < q->parts && loop_goes(&l, q->g.n + p); p++) {
        if (rows[p]) continue;
        int from = largest_part(rows, q->parts);
        owner[last_row(owner, q->g.n, from)] = p;
        rows[from]--;
        rows[p]++;
    }
    bool ok = rows && loop_end(&l, e);
    mem_free(rows);
    return ok;
}

static bool divide_by_library(struct graph_parts *q, int *owner, const char *name, bool (*work)(void *),
                              struct watch *w, struct err *e)
{
    char what[40];
    int64_t bytes = q->g.n * (int64_t)sizeof *owner;
    snprintf(what, sizeof what, "partition by %s", name);
    q->owner = child_memory(bytes, "the owners of rows", e);
    bool ok = q->owner && child_run(work, q, what, w, e) && loop_copy(owner, q->owner, bytes, what, e) &&
              fill_empty_parts(q, owner, e);
    child_memory_free(q->owner, bytes);
    return ok;
}

bool graph_divide(const struct partition *P, const struct csr *A, int *owner, const char *name,
                  bool (*work)(void *graph_parts), struct watch *w, struct err *e)
{
    struct graph_parts q = {.parts = P->parts};
    if (csr_is_large(A)) {
        fail(e, E_LIMIT, "%s takes at most %s and as many nonzeros", name, how_many(csr_most_small(), "row").text);
        err_advise(e, "divide a large matrix by bytes, nnz or rows");
        return false;
    }
    if (P->parts > A->rows && P->parts > 1) {
        fail(e, E_UNSUPPORTED, "%s cannot divide %lld rows into %d parts", name, (long long)A->rows, P->parts);
        err_advise(e, "give at most as many parts as rows");
        return false;
    }
    bool ok = graph_new(&q.g, A, w, e) && weigh_rows(&q, A, e);
    if (ok)
        ok = P->parts == 1 || !q.g.ptr[q.g.n] ? divide_plainly(P, A, owner, e)
                                              : divide_by_library(&q, owner, name, work, w, e);
    graph_free(&q.g);
    mem_free(q.weight);
    return ok;
}
