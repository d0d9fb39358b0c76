/* Runs one SpMV kernel on a matrix of the session: packs the matrix, copies it to the device, checks the result, and
   times the kernel. */
#include "spmv.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix.h"
#include "product.h"
#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool product_is_right(const struct verdict *v, const char *what, struct err *e)
{
    return v->ok || fail(e, E_NUMERIC, "%s is wrong in row %lld, by %.3g times the rounding-error bound", what,
                         (long long)v->row, v->worst);
}

void spmv_operation_free(struct spmv_operation *o)
{
    mem_free(o->y0);
    o->y0 = NULL;
}

/* Write a factor before a vector: nothing for 1, "-" for -1. */
static const char *factor(double value, char *out, size_t size)
{
    if (fabs(value) == 1)
        snprintf(out, size, "%s", value < 0 ? "-" : "");
    else
        snprintf(out, size, "%.10g ", value);
    return out;
}

const char *operation_text(bool transposed, double alpha, double beta, const char *y0, char *out, size_t size)
{
    char a[32], b[32];
    size_t n = (size_t)snprintf(out, size, "%sA%s x", factor(alpha, a, sizeof a), transposed ? "'" : "");
    if (beta != 0 && n < size)
        snprintf(out + n, size - n, " %s %sy0 (y0 %s)", beta < 0 ? "-" : "+", factor(fabs(beta), b, sizeof b), y0);
    return out;
}

/* Time the SpMV on the first member of each kind alone. A matrix that one member cannot hold is not timed there. */
static bool measure_alone(struct session *s, const struct bench_job *all, struct product *p, struct run *out,
                          struct err *e)
{
    const struct kernel *k = all->kernel;
    const struct device *several = all->M->dev;
    int n = 0;
    for (int i = 0; i < several->members && n < COUNT(out->alone); i++) {
        struct device *d = several->member[i];
        struct err why = {0};
        struct run one;
        struct bench_job j = *all;
        bool again = n && out->alone[0].dev->kind == d->kind;
        j.kernel = kernel_runs_on(k, d) ? k : kernel_default(k->format, all->A, d);
        if (again || d->kind == DEV_EMU || !j.kernel) continue;
        j.M = session_mat(s, p, d, &why);
        j.shared = NULL;
        bool ok = j.M && bench_operation(&j, &s->watch, &one, &why);
        if (!ok && (why.code == E_CANCELLED || d->lost)) return fail_at(e, why.code, why.where, "%s", why.text);
        out->alone[n].dev = d;
        out->alone[n++].us = ok ? one.us : NAN;
    }
    return true;
}

struct form spmv_form(const struct spmv_request *w)
{
    struct form form = form_for(w->matrix, w->kernel, w->param, w->real, multiprocessors_of(w->dev));
    form.force = w->force;
    return form_near(form, w->dev);
}

bool spmv_measure(struct session *s, const struct spmv_request *w, struct run *out, struct err *e)
{
    struct matrix *m = w->matrix;
    struct product *p = session_product(s, spmv_form(w), e);
    struct mat *M = p ? session_mat(s, p, w->dev, e) : NULL;
    if (!M) return false;
    int sector_values = SECTOR / (int)type_size(precisions[p->S.real].vector);
    int64_t *gathers = &m->gathers[sector_values];
    /* Only GPUs are compared with the gathers of x. */
    if (w->dev->kind == DEV_CUDA && !*gathers && !m->csr.source && !csr_gathers(&m->csr, sector_values, gathers, e))
        return false;
    const struct operation *op = w->operation ? &w->operation->op : &operation_product;
    struct bench_job j = {w->kernel, &m->csr, M, op, w->reps, *gathers, w->bench};
    bool ok = bench_operation(&j, &s->watch, out, e), own = m->transpose_of && !p->lender;
    if (op->beta != 0) snprintf(out->y0, sizeof out->y0, "%s", w->operation->y0_word);
    out->prep_us = p->prep_us + out->ready_us;
    out->put_us = p->put_us[M - p->mat];
    out->packed_on = p->packed_on;
    out->transposed = m->transpose_of != NULL;
    out->transpose_us = own ? m->transpose_us : 0;
    out->transpose_bytes = own ? stored_bytes(&p->S) : 0;
    return ok && (!w->dev->members || w->dev->kind == DEV_EMU || measure_alone(s, &j, p, out, e));
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct run *)a)->us, y = ((const struct run *)b)->us;
    return (x > y) - (x < y);
}

bool spmv_keep(struct session *s, struct matrix *m, const struct run *r, int n, struct spmv_operation *o, struct err *e)
{
    struct run *kept = mem_new(n, sizeof *kept, "the results", e);
    if (!kept) return false;
    memcpy(kept, r, (size_t)n * sizeof *kept);
    qsort(kept, (size_t)n, sizeof *kept, by_time);
    SCREEN_EDIT;
    mem_free(s->runs);
    mem_free(s->runs_y0);
    s->runs = kept;
    s->runs_y0 = o ? o->y0 : NULL;
    if (o) o->y0 = NULL;
    s->nruns = n;
    s->runs_of = m;
    return true;
}
