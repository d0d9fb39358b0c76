/* The transpose of a matrix of the session, for the product A^T x. */
#include "base/err.h"
#include "base/mem.h"
#include "in_parts.h"
#include "large_matrix.h"
#include "machine/device.h"
#include "machine/symmetrize.h"
#include "matrix.h"
#include "session.h"

/* Transpose A on d, or on the host if d is not a GPU or has too little memory. *on receives the device. */
static bool transpose_near(const struct csr *A, struct device *d, struct csr *T, double *us, const struct device **on,
                           struct err *e)
{
    struct err why = {0};
    *on = d;
    if (d->kind == DEV_CUDA && sym_transpose(T, A, d, us, &why)) return true;
    if (d->kind == DEV_CUDA && why.code != E_MEMORY && why.code != E_LIMIT)
        return fail_at(e, why.code, why.where, "%s", why.text);
    struct device *cpu = device_open("cpu", e);
    *on = cpu;
    return cpu && sym_transpose(T, A, cpu, us, e);
}

struct matrix *session_transposed(struct matrix *m, struct device *d, struct err *e)
{
    if (m->transposed) return m->transposed;
    if (!in_parts_refused(m, "`transposed` needs", e) || !large_allowed(m, false, "transposed", e)) return NULL;
    struct matrix *t = mem_zero(1, sizeof *t, "a transposed matrix", e);
    if (!t) return NULL;
    bool ok = transpose_near(&m->csr, d, &t->csr, &t->transpose_us, &t->transposed_on, e);
    if (!ok) {
        mem_free(t);
        return NULL;
    }
    snprintf(t->name, sizeof t->name, "%.62s'", m->name);
    t->info = m->info;
    t->lesson = m->lesson;
    t->transpose_of = m;
    return m->transposed = t;
}
