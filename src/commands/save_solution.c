/* Writes solutions of linear systems to Matrix Market files. */
#include "save_solution.h"
#include "base/loop.h"
#include "files/matrix_market.h"
#include "matrix/csr.h"
#include "report/output.h"
#include "session/session.h"

/* A dense array is a matrix without empty places. `from` holds `columns` columns of n numbers or pairs. */
static bool save_dense(const char *file, bool force, int64_t n, int64_t columns, bool pairs, const double *from,
                       struct watch *w, struct err *e)
{
    struct csr x = {0};
    int64_t parts = pairs ? 2 : 1;
    if (!csr_new(&x, n, columns, n * columns, pairs, e)) return false;
    struct loop l = loop_of("copying the solution", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) {
        x.rowptr[i + 1] = (int)((i + 1) * columns);
        for (int64_t c = 0; c < columns; c++) {
            int64_t to = i * columns + c, at = parts * (c * n + i);
            x.col[to] = (int)c;
            x.val[to] = from[at];
            if (x.imag) x.imag[to] = from[at + 1];
        }
    }
    bool ok = loop_end(&l, e) && mtx_save(file, force, &x, "the solution of a linear system", w, e);
    csr_free(&x);
    return ok;
}

bool solve_save_x(const char *file, bool force, int64_t n, bool pairs, const double *from, struct watch *w,
                  struct err *e)
{
    return save_dense(file, force, n, 1, pairs, from, w, e);
}

bool solve_save_columns(struct session *s, const char *file, bool force, int64_t n, int64_t columns, bool pairs,
                        const double *x, struct err *e)
{
    if (!save_dense(file, force, n, columns, pairs, x, &s->watch, e)) return false;
    out_text(s->out, "the %lld columns of x were written to %s", (long long)columns, file);
    return true;
}
