/* The columns of a matrix in CSR form: every row is searched for the column, on all threads. */
#include "column.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "csr.h"

/* The rows are divided into PARTS parts. The entries of a part are counted first, then copied after the entries of the
   parts before it. */
enum { PARTS = 64 };

static int64_t part_begin(const struct csr *A, int part)
{
    return A->rows * part / PARTS;
}

/* Copy the entries of one part to `out`, beginning at position `to`. If `out` is NULL, only count the entries. Returns
   their number. */
static int64_t scan_part(const struct csr *A, int64_t col, int part, struct column *out, int64_t to, struct loop *l)
{
    int64_t n = 0;
    for (int64_t i = part_begin(A, part); i < part_begin(A, part + 1) && loop_goes(l, i); i++) {
        int64_t k = csr_find(A, i, col);
        if (k < 0) continue;
        if (out) {
            out->row[to + n] = (int)i;
            out->val[to + n] = A->val[k];
            if (out->imag) out->imag[to + n] = A->imag[k];
        }
        n++;
    }
    return n;
}

bool csr_column(const struct csr *A, int64_t col, struct column *out, struct err *e)
{
    int64_t count[PARTS], begin[PARTS + 1] = {0};
    *out = (struct column){0};
    if (A->rows > csr_most_small())
        return fail(e, E_LIMIT, "a column of a matrix with %lld rows cannot be listed: at most %lld rows",
                    (long long)A->rows, (long long)csr_most_small());
    struct loop l = loop_of("searching rows", A->rows);
#pragma omp parallel for schedule(dynamic, 1) if (A->rows > THREADS_FROM)
    for (int p = 0; p < PARTS; p++) count[p] = scan_part(A, col, p, NULL, 0, &l);
    for (int p = 0; p < PARTS; p++) begin[p + 1] = begin[p] + count[p];
    if (!loop_end(&l, e)) return false;
    struct column c = {.n = begin[PARTS]};
    c.row = mem_new(c.n, sizeof *c.row, "the rows of a column", e);
    c.val = mem_new(c.n, sizeof *c.val, "the values of a column", e);
    if (A->imag) c.imag = mem_new(c.n, sizeof *c.imag, "the values of a column", e);
    bool ok = c.row && c.val && (c.imag || !A->imag);
#pragma omp parallel for schedule(dynamic, 1) if (A->rows > THREADS_FROM)
    for (int p = 0; p < PARTS; p++)
        if (ok) scan_part(A, col, p, &c, begin[p], &l);
    ok = ok && loop_end(&l, e);
    if (!ok) column_free(&c);
    *out = c;
    return ok;
}

void column_free(struct column *c)
{
    mem_free(c->row);
    mem_free(c->val);
    mem_free(c->imag);
    *c = (struct column){0};
}
