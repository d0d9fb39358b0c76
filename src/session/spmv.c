/* Runs one SpMV kernel on a matrix of the session: packs the matrix, copies it to the device, checks the result, and
   times the kernel. */
#include "spmv.h"
#include "base/screen_lock.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "base/err.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "matrix.h"
#include "base/mem.h"
#include "product.h"
#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The emulator has no clock: only check the result. */
static bool check_only(const struct spmv_request *w, const struct kernel *k, const struct mat *M, struct run *out,
                       struct err *e)
{
    *out =
        (struct run){.kernel = k, .dev = w->dev, .of = M->of, .real = M->of->real, .bytes = kernel_bytes(k, M->of, 0)};
    out->us = out->spread_us = out->first_us = out->gbs = out->gflops = out->share = NAN;
    if (!bench_check(k, &w->matrix->csr, M, 1.25, -0.5, 1, NULL, &out->error, e)) return false;
    if (out->error.ok) return true;
    return fail(e, E_NUMERIC, "%s is wrong in row %lld, by %.3g times the rounding-error bound", k->name,
                (long long)out->error.row, out->error.worst);
}

const int64_t *spmv_params(const struct format *f, const struct device *d, int64_t *param)
{
    if (!f->suit || d->kind != DEV_CUDA) return NULL;
    for (int i = 0; i < PARAMS_MAX; i++) param[i] = f->params[i].name ? f->params[i].default_value : 0;
    f->suit(d->units, param);
    return param;
}

bool spmv_measure(struct session *s, const struct spmv_request *w, const struct kernel *k, struct run *out,
                  struct err *e)
{
    const struct format *f = k->format;
    int64_t suited[PARAMS_MAX];
    const int64_t *param = w->param ? w->param : k->param ? k->param : spmv_params(f, w->dev, suited);
    /* Pack on the device only if it is a GPU, because the emulator is slow. Pack the matrices of lessons on the host,
       because the tables of lessons show the host's packing time. */
    bool there = w->dev->kind == DEV_CUDA && !w->matrix->lesson;
    struct product *p = there ? session_product_on(s, w->matrix, f, param, w->real, w->force, w->dev, e)
                              : session_product(s, w->matrix, f, param, w->real, w->force, e);
    if (!p || (k->fits && !k->fits(&p->S, e))) return false;
    struct mat *M = session_mat(s, p, w->dev, e);
    if (!M) return false;
    bool gave = screen_lock_give();
    bool ok = w->dev->kind == DEV_EMU ? check_only(w, k, M, out, e)
                                      : bench_kernel(k, &w->matrix->csr, M, w->reps, &s->watch, out, e);
    screen_lock_back(gave);
    out->ready_us = kernel_prepared_us(k, M);
    out->prep_us = p->prep_us + out->ready_us;
    out->put_us = p->put_us[M - p->mat];
    out->put_gbs = copied_gbs(&M->copied);
    out->packed_on = p->packed_on;
    return ok;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct run *)a)->us, y = ((const struct run *)b)->us;
    return (x > y) - (x < y);
}

bool spmv_keep(struct session *s, struct matrix *m, const struct run *r, int n, struct err *e)
{
    struct run *kept = mem_new(n, sizeof *kept, "the results", e);
    if (!kept) return false;
    memcpy(kept, r, (size_t)n * sizeof *kept);
    qsort(kept, (size_t)n, sizeof *kept, by_time);
    mem_free(s->runs);
    s->runs = kept;
    s->nruns = n;
    s->runs_of = m;
    return true;
}
