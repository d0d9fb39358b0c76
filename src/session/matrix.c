/* A matrix of the session: frees it with all that it owns, and names its precision. */
#include "matrix.h"
#include "base/mem.h"
#include "base/precision.h"
#include "equilibrated.h"
#include "kept_predictions.h"
#include "parting.h"
#include "product.h"
#include "stale.h"

void equilibrated_free(struct equilibrated *q)
{
    if (!q) return;
    equilibrated_free(q->before);
    if (q->m) matrix_free(q->m);
    mem_free(q->row);
    mem_free(q->col);
    if (q->col_swap != q->row_swap) mem_free(q->col_swap);
    mem_free(q->row_swap);
    mem_free(q);
}

void products_free(struct matrix *m)
{
    if (m->transposed) matrix_free(m->transposed); /* first, because its products use arrays of m */
    m->transposed = NULL;
    equilibrated_free(m->equilibrated);
    equilibrated_free(m->reordered);
    m->equilibrated = m->reordered = NULL;
    while (m->products) {
        struct product *p = m->products;
        m->products = p->next;
        product_free(p);
    }
}

void matrix_free(struct matrix *m)
{
    stale_all();
    products_free(m);
    parting_free(m->parting);
    kept_predictions_free(m->predictions);
    mem_free(m->scaling);
    csr_free(&m->csr);
    sides_free(&m->sides);
    mem_free(m);
}

const char *precision_of(const struct csr *A, enum precision precision)
{
    return precisions[precision_of_values(precision, A->imag != NULL)].name;
}

int64_t matrix_bytes(const struct matrix *m)
{
    return csr_memory(&m->csr) + sides_memory(&m->sides);
}
