/* Begins a batch on a matrix of the session. */
#include "session_batch.h"
#include "base/err.h"
#include "base/text.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/spmm.h"
#include "matrix.h"
#include "matrix/facts.h"
#include "product.h"
#include "session.h"
#include "solvers/batch.h"

/* `solve` projects a null space out of the vectors of an iteration; a batch does not. */
static bool nothing_projected(struct matrix *m, const struct solve_options *o, struct err *e)
{
    int64_t count = 0;
    if (o->force || m->csr.rows != m->csr.cols) return true;
    if (!facts_null_constants(&m->facts, &m->csr, &count, e)) return false;
    return !count ||
           fail(e, E_UNSUPPORTED,
                "%s is singular: it maps constants to 0, which `solve` projects out, one column after another; "
                "`force` solves without this",
                m->name);
}

static const struct spmm_kernel *kernel_of(const struct solve_options *o, const struct format *f, struct err *e)
{
    const struct spmm_kernel *k = spmm_default(f, o->dev);
    if (!k)
        fail(e, E_UNSUPPORTED, "no kernel multiplies %s by several vectors on %s; `kernels spmm` lists them", f->name,
             o->dev->name);
    return k;
}

static struct mat *put(struct session *s, struct matrix *m, const struct solve_options *o, const struct format *f,
                       struct err *e)
{
    struct form w = form_of(m, f, NULL, o->real);
    w.force = o->force;
    struct product *p = session_product(s, form_near(w, o->dev), e);
    return p ? session_mat(s, p, o->dev, e) : NULL;
}

bool session_batch(struct batch *t, struct session *s, struct matrix *m, const struct solve_options *o, int columns,
                   const double *b, const double *x0, struct err *e)
{
    const struct format *f = o->format ? o->format : format_native(&m->csr);
    struct solve_matrix A = {.name = m->name, .csr = &m->csr, .facts = &m->facts, .watch = &s->watch};
    *t = (struct batch){0};
    if (!batch_check(&m->csr, o, e) || !nothing_projected(m, o, e)) return false;
    const struct spmm_kernel *k = kernel_of(o, f, e);
    A.mat = k ? put(s, m, o, f, e) : NULL;
    if (!A.mat || (k->fits && !k->fits(A.mat->of, e))) return false;
    return batch_begin(t, &A, k, o, columns, b, x0, e);
}
