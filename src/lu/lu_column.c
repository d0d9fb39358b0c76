/* One column of a factorisation on the emulator, so that the microscope can watch the launches of the column. */
#include "base/err.h"
#include "base/text.h"
#include "lu.h"
#include "machine/device.h"
#include "matrix/csr.h"

static bool check_matrix(const struct csr *A, const char *method, struct err *e)
{
    if (A->imag) return fail(e, E_UNSUPPORTED, "the matrix is complex; only the columns of real matrices are traced");
    if (A->rows <= LU_STEPS_MAX) return true;
    return fail(e, E_LIMIT, "the matrix has %s; the columns of %s are traced for matrices of up to %d",
                how_many(A->rows, "row").text, method, +LU_STEPS_MAX);
}

static bool check_column(const struct csr *A, int64_t k, struct err *e)
{
    if (k >= 0 && k < A->rows) return true;
    return fail(e, E_USAGE, "there is no column %lld: the columns are 0 .. %lld", (long long)k, (long long)A->rows - 1);
}

/* Start from the state after columns 0 .. k-1 instead of from A. */
static bool start_from(struct lu *v, const struct csr *A, int64_t k, struct err *e)
{
    struct lu_steps *s;
    if (!lu_steps_new(&s, A, e)) return false;
    lu_steps_to(s, k);
    for (int64_t i = 0; i < v->n * v->n; i++)
        if (v->real == T_F64)
            ((double *)v->given)[i] = s->a[i];
        else
            ((float *)v->given)[i] = (float)s->a[i];
    lu_steps_free(s);
    return true;
}

bool lu_column_begin(struct lu_column *c, const struct csr *A, int64_t k, const struct lu_options *o, struct err *e)
{
    *c = (struct lu_column){.k = k};
    if (!o->method->step) return fail(e, E_UNSUPPORTED, "%s does not work column by column", o->method->name);
    if (!check_matrix(A, o->method->name, e) || !lu_begin(&c->v, A, o, e)) return false;
    if (check_column(A, k, e) && start_from(c->v, A, k, e)) return true;
    lu_column_free(c);
    return false;
}

static bool prepare(const struct watched *of, struct err *e)
{
    struct lu *v = ((struct lu_column *)of->user)->v;
    if (!v->dev->ops->put(v->dev, v->A, v->given, v->n * v->n * (int64_t)type_size(v->real), e)) return false;
    v->ops->begin(v->dev, (struct lu_at){v->A, v->n, v->piv, v->info});
    return v->dev->ops->sync(v->dev, e);
}

static bool queue(const struct watched *of, struct err *e)
{
    const struct lu_column *c = of->user;
    c->v->method->step(c->v, c->k);
    return true;
}

struct watched lu_column_watched(struct lu_column *c)
{
    return (struct watched){.name = c->v->method->name,
                            .dev = c->v->dev,
                            .rows = c->v->n,
                            .together = true,
                            .prepare = prepare,
                            .queue = queue,
                            .user = c};
}

void lu_column_free(struct lu_column *c)
{
    lu_free(c->v);
    *c = (struct lu_column){0};
}
