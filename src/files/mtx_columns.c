/* Writes vectors as the columns of a dense matrix in a Matrix Market file. */
#include "base/loop.h"
#include "matrix/csr.h"
#include "matrix_market.h"

/* A dense array is a matrix without empty places. */
bool mtx_save_columns(const char *path, bool force, const struct mtx_columns *from, const char *comment,
                      struct watch *w, struct err *e)
{
    struct csr A = {0};
    int64_t columns = from->columns, parts = from->pairs ? 2 : 1;
    if (!csr_new(&A, from->n, columns, from->n * columns, from->pairs, e)) return false;
    struct loop l = loop_of("copying the vectors", from->n);
    for (int64_t i = 0; i < from->n && loop_goes(&l, i); i++) {
        csr_set_start(&A, i + 1, (i + 1) * columns);
        for (int64_t c = 0; c < columns; c++) {
            int64_t to = i * columns + c, at = parts * (c * from->n + i);
            A.col[to] = (int)c;
            A.val[to] = from->value[at];
            if (A.imag) A.imag[to] = from->value[at + 1];
        }
    }
    bool ok = loop_end(&l, e) && mtx_save(path, force, &A, comment, w, e);
    csr_free(&A);
    return ok;
}
