/* Report card: copies of a matrix's arrays for the SuiteSparse libraries. */
#include "card_graph.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "matrix/csr.h"

/* The largest number of nonzeros: these libraries compute small multiples of nnz in 32-bit integers. */
enum { GRAPH_NNZ = 400000000 };

static bool has_room(const struct csr *A, int need, const char *what, struct err *e)
{
    char text[32], have[32];
    double bytes = (double)need * (double)A->nnz + 64.0 * ((double)A->rows + (double)A->cols);
    if (A->nnz > GRAPH_NNZ)
        return fail(e, E_LIMIT, "%s: the matrix has %lld nonzeros, the limit is %d", what, (long long)A->nnz,
                    GRAPH_NNZ);
    if (bytes < (double)mem_available()) return true;
    return fail(e, E_MEMORY, "%s needs about %s, but only %s of memory is free", what,
                show_bytes(bytes, text, sizeof text), show_bytes((double)mem_available(), have, sizeof have));
}

static bool copy(void **to, const void *from, int64_t n, size_t size, const char *what, struct err *e)
{
    *to = mem_new(n, size, what, e);
    return *to && (!n || loop_copy(*to, from, n * (int64_t)size, what, e));
}

bool card_graph_new(struct card_graph *g, const struct csr *A, bool values, int need, const char *what, struct err *e)
{
    *g = (struct card_graph){.rows = (int)A->rows, .cols = (int)A->cols};
    void *p = NULL, *i = NULL, *x = NULL, *z = NULL;
    bool ok = has_room(A, need, what, e) && copy(&p, A->rowptr, A->rows + 1, sizeof *g->p, what, e) &&
              copy(&i, A->col, A->nnz, sizeof *g->i, what, e) &&
              (!values || copy(&x, A->val, A->nnz, sizeof *g->x, what, e)) &&
              (!values || !A->imag || copy(&z, A->imag, A->nnz, sizeof *g->z, what, e));
    g->p = p;
    g->i = i;
    g->x = x;
    g->z = z;
    if (!ok) card_graph_free(g);
    return ok;
}

void card_graph_free(struct card_graph *g)
{
    mem_free(g->p);
    mem_free(g->i);
    mem_free(g->x);
    mem_free(g->z);
    g->p = g->i = NULL;
    g->x = g->z = NULL;
}

cs_di card_graph_cs(const struct card_graph *g)
{
    return (cs_di){.nzmax = g->p[g->rows], .m = g->cols, .n = g->rows, .p = g->p, .i = g->i, .x = g->x, .nz = -1};
}
