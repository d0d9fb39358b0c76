/* Weakly connected components of a matrix. */
#include "components.h"
#include "base/loop.h"
#include "base/watch.h"
#include "csr.h"

int64_t csr_nodes(const struct csr *A)
{
    return A->rows == A->cols ? A->rows : A->rows + A->cols;
}

static int root_of(int *parent, int v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

static void join(int *parent, int a, int b)
{
    a = root_of(parent, a);
    b = root_of(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

bool csr_components(const struct csr *A, const char *what, int *root, struct watch *w, struct err *e)
{
    enum { ROWS = 1 << 12 }; /* between two calls of watch_tick */
    int64_t nodes = csr_nodes(A);
    int shift = A->rows == A->cols ? 0 : (int)A->rows;
    struct loop l = loop_of(what, A->rows);
    for (int64_t v = 0; v < nodes && loop_goes(&l, v); v++) root[v] = (int)v;
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) join(root, (int)i, A->col[k] + shift);
        if (i % ROWS == 0 && !watch_tick(w, what, i, A->rows, e)) return false;
    }
    for (int64_t v = 0; v < nodes && loop_goes(&l, v); v++) root[v] = root_of(root, (int)v);
    return loop_end(&l, e);
}
