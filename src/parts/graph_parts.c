/* Divide the graph of a matrix by a library, in a child process: METIS and Scotch cannot be cancelled, and print. */
#include "graph_parts.h"
#include "partition.h"
#include "base/child.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "matrix/csr.h"

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

static bool divide_by_library(struct graph_parts *q, int *owner, const char *name, bool (*work)(void *),
                              struct watch *w, struct err *e)
{
    char what[40];
    int64_t bytes = q->g.n * (int64_t)sizeof *owner;
    snprintf(what, sizeof what, "partition by %s", name);
    q->owner = child_memory(bytes, "the owners of rows", e);
    bool ok = q->owner && child_run(work, q, what, w, e) && loop_copy(owner, q->owner, bytes, what, e);
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
