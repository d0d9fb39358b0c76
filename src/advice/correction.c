/* Corrects predictions by what was measured for a similar matrix. */
#include "correction.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "microscope/modeled.h"
#include "predicted.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>

/* FASTEST: the kernels whose mean corrects a kernel that was not measured. Two matrices are similar if their entries
   per row differ by less than a factor of ROWS, and their entries by less than a factor of SIZE; and if rows are uneven
   in both or in neither: the longest has more than UNEVEN times the entries of a mean row. */
enum { FASTEST = 3, ROWS = 2, SIZE = 8, UNEVEN = 8 };

static double mean_row(const struct csr *A)
{
    return (double)A->nnz / (double)(A->rows ? A->rows : 1);
}

static bool is_uneven(const struct csr *A)
{
    return csr_has_row_above(A, (int64_t)(UNEVEN * mean_row(A)));
}

static bool within(double a, double b, double factor)
{
    return a < factor * b && b < factor * a;
}

static bool similar(const struct csr *A, const struct csr *B)
{
    return within(mean_row(A), mean_row(B), ROWS) && within((double)A->nnz, (double)B->nnz, SIZE) &&
           is_uneven(A) == is_uneven(B);
}

/* Can a prediction be compared with the run? */
static bool is_product_on_gpu(const struct run *r, enum precision real)
{
    return r->dev->kind == DEV_CUDA && !r->dev->members && r->real == real && r->beta == 0 && !r->transposed &&
           !r->kernel->vendor && !r->kernel->host_part;
}

/* Set r->predicted_us if it is not known yet; NaN: the kernel cannot be predicted. */
static bool predict_run(struct session *s, struct run *r, const struct machine *g, struct err *e)
{
    struct err why = {0};
    if (r->predicted_us != 0) return true;
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    if (!t) return false;
    bool ok = modeled_kernel(s, s->runs_of, r->kernel, NULL, r->real, g, t, &why);
    r->predicted_us = ok ? t->time.us : NAN;
    mem_free(t);
    if (ok || err_is_refusal(&why)) return true;
    r->predicted_us = 0;
    return fail_at(e, why.code, why.where, "%s", why.text);
}

/* Add the logarithm of measured time / predicted time to *sum. */
static bool add_run(struct session *s, struct run *r, const struct machine *g, double *sum, int *n, struct err *e)
{
    if (!predict_run(s, r, g, e)) return false;
    if (isnan(r->predicted_us)) return true;
    *sum += log(r->us / r->predicted_us);
    ++*n;
    return true;
}

static struct run *run_of(const struct session *s, const struct kernel *k, enum precision real)
{
    for (int i = 0; i < s->nruns; i++)
        if (s->runs[i].kernel == k && is_product_on_gpu(&s->runs[i], real)) return &s->runs[i];
    return NULL;
}

bool correction_applies(const struct session *s, const struct matrix *m)
{
    return !s->gpu && s->nruns && s->runs_of && similar(&m->csr, &s->runs_of->csr);
}

bool correction_by_bench(struct session *s, const struct kernel *k, enum precision real, const struct machine *g,
                         struct correction *out, struct err *e)
{
    double sum = 0;
    *out = (struct correction){.factor = 1};
    struct run *own = run_of(s, k, real);
    if (own && !add_run(s, own, g, &sum, &out->kernels, e)) return false;
    for (int i = 0; i < s->nruns && !own && out->kernels < FASTEST; i++)
        if (is_product_on_gpu(&s->runs[i], real) && !add_run(s, &s->runs[i], g, &sum, &out->kernels, e)) return false;
    if (out->kernels) out->factor = exp(sum / out->kernels);
    out->from = s->runs_of->name;
    return true;
}

bool correction_of(struct session *s, const struct matrix *m, const struct kernel *k, enum precision real,
                   const struct machine *g, struct correction *out, struct err *e)
{
    *out = (struct correction){.factor = 1};
    return !correction_applies(s, m) || correction_by_bench(s, k, real, g, out, e);
}
