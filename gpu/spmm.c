/* The SpMM kernels: their table, built from spmm.def, their launches, and the check and timing of one kernel. */
#include "machine/spmm.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "formats/format.h"
#include "formats/stored.h"
#include "gpu/emu/emu.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "matrix/random.h"

#include <math.h>
#include <string.h>

/* ---- the table ---- */

#define SPMM(id) extern const struct spmm_kernel emu_spmm_##id, cuda_spmm_##id;
#define SPMM_HOST(id) extern const struct spmm_kernel emu_spmm_##id;
#define SPMM_VENDOR(id) extern const struct spmm_kernel cuda_spmm_##id;
#include "kernels/spmm.def"
#undef SPMM
#undef SPMM_HOST
#undef SPMM_VENDOR

#ifdef HAVE_CUDA
#define CUDA_ENTRY(id) &cuda_spmm_##id,
#define SPMM_VENDOR(id) &cuda_spmm_##id,
#else
#define CUDA_ENTRY(id) NULL,
#define SPMM_VENDOR(id)
#endif

#define SPMM(id) &emu_spmm_##id,
#define SPMM_HOST(id) &emu_spmm_##id,
const struct spmm_kernel *const spmm_kernels[] = {
#include "kernels/spmm.def"
    NULL};
#undef SPMM
#undef SPMM_HOST

const struct registry spmm_registry = {.entries = spmm_kernels};

#define SPMM(id) CUDA_ENTRY(id)
#define SPMM_HOST(id) NULL,
static const struct spmm_kernel *const cuda_kernels[] = {
#include "kernels/spmm.def"
    NULL};

bool spmm_runs_on(const struct spmm_kernel *k, const struct device *d)
{
    return k->vendor ? d->kind == DEV_CUDA : k->host == (d->kind == DEV_CPU);
}

/* The entry of k that was compiled for d; NULL if this build has no such entry. */
static const struct spmm_kernel *compiled_for(const struct spmm_kernel *k, const struct device *d)
{
    if (d->kind != DEV_CUDA) return k;
    int i = 0;
    while (spmm_kernels[i] && spmm_kernels[i] != k) i++;
    return cuda_kernels[i];
}

const struct spmm_kernel *spmm_default(const struct format *f, const struct device *d)
{
    const struct spmm_kernel *found = NULL;
    for (int i = 0; spmm_kernels[i]; i++)
        if (spmm_kernels[i]->format == f && !spmm_kernels[i]->vendor && spmm_runs_on(spmm_kernels[i], d))
            found = spmm_kernels[i];
    return found;
}

bool spmm_begin(const struct spmm_kernel *k, struct spmm *L, struct err *e)
{
    const struct spmm_kernel *c = compiled_for(k, L->A->dev);
    return !c || !c->begin || c->begin(L, &L->state, e);
}

void spmm_end(const struct spmm_kernel *k, struct spmm *L)
{
    const struct spmm_kernel *c = compiled_for(k, L->A->dev);
    if (c && c->end && L->state) c->end(L->A->dev, L->state);
    L->state = NULL;
}

bool spmm_launch(const struct spmm_kernel *k, const struct spmm *L, struct err *e)
{
    const struct spmm_kernel *c = compiled_for(k, L->A->dev);
    if (!c || !spmm_runs_on(k, L->A->dev))
        return fail(e, E_UNSUPPORTED, "%s does not run on %s; use another device", k->name, L->A->dev->name);
    enum precision real = L->A->of->real;
    if (!c->product[real])
        return fail(e, E_UNSUPPORTED, "%s does not multiply matrices in %s", k->name, precisions[real].name);
    emu_name(k->name);
    emu_side_by_side(k->deterministic);
    bool ok = c->product[real](L, e);
    emu_side_by_side(false);
    emu_name(NULL);
    return ok;
}

/* ---- a problem: X and Y on the device, and one vector of each on the host in double precision ---- */

struct problem {
    const struct spmm_kernel *kernel;
    const struct csr *A;
    struct spmm launch;
    struct array X, Y; /* staging copies of X and Y */
    void *dx, *dy;
    double *x, *y, *ref, *bound;
};

double spmm_x(int64_t row, int vector, enum type type)
{
    uint64_t state = (uint64_t)row * SPMM_VECTORS_MAX + (uint64_t)vector;
    double v = random_unit(&state);
    return type == T_F32 ? (double)(float)v : v;
}

static bool array_new(struct array *a, enum type type, int64_t n, const char *what, struct err *e)
{
    *a = (struct array){.type = type, .n = n, .data = mem_new(n, type_size(type), what, e)};
    return a->data != NULL;
}

static int64_t bytes_of(const struct array *a)
{
    return a->n * (int64_t)type_size(a->type);
}

static bool problem_new(struct problem *p, const struct spmm_kernel *k, const struct csr *A, const struct mat *M,
                        int vectors, struct err *e)
{
    struct device *d = M->dev;
    enum type type = precisions[M->of->real].vector;
    *p = (struct problem){.kernel = k, .A = A};
    if (!array_new(&p->X, type, A->cols * vectors, "X of a check", e) ||
        !array_new(&p->Y, type, A->rows * vectors, "Y of a check", e))
        return false;
    p->x = mem_new(A->cols, sizeof *p->x, "x of a check", e);
    p->y = mem_new(A->rows, sizeof *p->y, "y of a check", e);
    p->ref = mem_new(A->rows, sizeof *p->ref, "the reference of a check", e);
    p->bound = mem_new(A->rows, sizeof *p->bound, "the error bounds of a check", e);
    if (!p->x || !p->y || !p->ref || !p->bound) return false;
    p->dx = d->ops->alloc(d, bytes_of(&p->X), "the vectors X", e);
    p->dy = p->dx ? d->ops->alloc(d, bytes_of(&p->Y), "the vectors Y", e) : NULL;
    p->launch = (struct spmm){.A = M, .vectors = vectors, .x = p->dx, .y = p->dy};
    return p->dy && spmm_begin(k, &p->launch, e);
}

static void problem_free(struct problem *p, struct device *d)
{
    if (p->launch.state) spmm_end(p->kernel, &p->launch);
    if (p->dx) d->ops->free(d, p->dx);
    if (p->dy) d->ops->free(d, p->dy);
    mem_free(p->X.data);
    mem_free(p->Y.data);
    mem_free(p->x);
    mem_free(p->y);
    mem_free(p->ref);
    mem_free(p->bound);
}

/* Random values in X. Y holds NaN, so that an element that the kernel does not write is found. */
static bool set_vectors(struct problem *p, struct err *e)
{
    struct device *d = p->launch.A->dev;
    int n = p->launch.vectors;
    struct loop l = loop_of("random numbers", p->A->cols);
    for (int64_t i = 0; i < p->A->cols && loop_goes(&l, i); i++)
        for (int v = 0; v < n; v++) put_real(&p->X, i * n + v, spmm_x(i, v, p->X.type));
    struct loop later = loop_of("random numbers", p->Y.n);
    for (int64_t i = 0; i < p->Y.n && loop_goes(&later, i); i++) put_real(&p->Y, i, NAN);
    return loop_end(&l, e) && loop_end(&later, e) && d->ops->put(d, p->dx, p->X.data, bytes_of(&p->X), e) &&
           d->ops->put(d, p->dy, p->Y.data, bytes_of(&p->Y), e);
}

static bool go(void *ctx, struct err *e)
{
    const struct problem *p = ctx;
    return spmm_launch(p->kernel, &p->launch, e);
}

/* One of n vectors of a, as doubles. */
static void take_vector(const struct array *a, int n, int vector, int64_t rows, double *to)
{
    struct loop l = loop_of("the reference", rows);
    for (int64_t i = 0; i < rows && loop_goes(&l, i); i++) to[i] = array_real(a, i * n + vector);
}

static bool check_vector(struct problem *p, int vector, struct verdict *out, struct err *e)
{
    int n = p->launch.vectors;
    take_vector(&p->X, n, vector, p->A->cols, p->x);
    take_vector(&p->Y, n, vector, p->A->rows, p->y);
    reference_spmv(p->A, 1, p->x, 0, p->ref, p->launch.A->of->real, p->bound);
    if (!loop_tick("the reference", vector, n, e)) return false;
    *out = verdict_of(p->A->rows, p->y, p->ref, p->bound);
    if (out->ok) return loop_tick("the reference", vector, n, e);
    return fail(e, E_NUMERIC, "%s on %s is wrong: row %lld of vector %d is %.9g, but the reference is %.9g",
                p->kernel->name, p->launch.A->dev->name, (long long)out->row, vector, p->y[out->row], p->ref[out->row]);
}

/* Launch once, and compare every vector with the reference. */
static bool check(struct problem *p, struct verdict *worst, struct err *e)
{
    struct device *d = p->launch.A->dev;
    double us;
    *worst = (struct verdict){.ok = true, .row = -1, .at = -1};
    if (!loop_tick(p->kernel->name, 0, 0, e) || !d->ops->time(d, go, p, 1, &us, e) ||
        !d->ops->get(d, p->Y.data, p->dy, bytes_of(&p->Y), e))
        return false;
    for (int v = 0; v < p->launch.vectors; v++) {
        struct verdict one;
        if (!check_vector(p, v, &one, e)) return false;
        if (v == 0 || one.worst > worst->worst) *worst = one;
    }
    return true;
}

bool spmm_measure(const struct spmm_kernel *k, const struct csr *A, const struct mat *M, int vectors, int reps,
                  struct watch *w, double *y, struct spmm_run *out, struct err *e)
{
    struct problem p;
    struct timed t = {.dev = M->dev, .name = k->name, .go = go, .ctx = &p};
    bool timed = M->dev->kind != DEV_EMU;
    *out = (struct spmm_run){.us = NAN, .spread_us = NAN, .reps = reps};
    if (A->imag) return fail(e, E_UNSUPPORTED, "spmm multiplies real matrices only; use spmv for a complex matrix");
    if (vectors < k->least)
        return fail(e, E_UNSUPPORTED, "%s multiplies %d vectors or more; use spmv for one vector", k->name, k->least);
    if (k->fits && !k->fits(M->of, e)) return false;
    bool ok = problem_new(&p, k, A, M, vectors, e) && set_vectors(&p, e) && check(&p, &out->error, e);
    for (int64_t i = 0; ok && y && i < p.Y.n; i++) y[i] = array_real(&p.Y, i);
    ok = ok && (!timed || bench_times(&t, &out->reps, w, &out->us, &out->spread_us, e));
    if (!timed) out->reps = 0;
    out->bytes = ok ? stored_bytes(M->of) + bytes_of(&p.X) + bytes_of(&p.Y) : 0;
    problem_free(&p, M->dev);
    return ok;
}
