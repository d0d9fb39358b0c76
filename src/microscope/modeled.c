/* Watches kernels on the emulator and predicts their times. */
#include <stdio.h>

#include "modeled.h"
#include "machine/bench.h"
#include "base/clock.h"
#include "matrix/csr.h"
#include "base/err.h"
#include "base/precision.h"
#include "row_sample.h"
#include "machine/kernel.h"

#include <math.h>
#include <string.h>

/* Above this number of accesses, a kernel that takes work dynamically is watched on a sample of the rows. */
enum { SHARED_MOST = 8 * MODELED_ACCESSES };

/* At most PACKINGS packings are timed; no new packing starts after PACKING_US. */
enum { PACKINGS = 3, PACKING_US = 50 * 1000 };

/* The number of blocks to watch per launch if all blocks together make this many accesses; 0: all, also if a sample
   would have half of them. */
static int64_t blocks_for(const struct scope *s, double accesses)
{
    double most = 0;
    for (int l = 0; l < s->nlaunches; l++) most = fmax(most, (double)s->launch[l].blocks);
    return accesses > 2 * MODELED_ACCESSES ? (int64_t)fmax(2 * PILOT_BLOCKS, most * MODELED_ACCESSES / accesses) : 0;
}

bool modeled_sample(const struct kernel *k, const struct mat *M, struct watch *w, struct counts *c, int64_t *sample,
                    struct err *e)
{
    double all = 0, least = least_accesses(M->of);
    *sample = 0;
    if (least < MODELED_ACCESSES) return true;
    if (k->shares && least > SHARED_MOST)
        return fail(e, E_UNSUPPORTED,
                    "%s balances its work dynamically, so a sample of blocks would be meaningless, and this matrix is "
                    "too large to watch all blocks; `count %s all` watches all blocks, slowly",
                    k->name, k->name);
    if (k->shares) return true;
    if (k->together && !k->remote) { /* a pilot would run all blocks: the lower bound is used instead */
        if (!launches_of_kernel(k, M, w, &c->scope, e)) return false;
        *sample = blocks_for(&c->scope, least);
        return true;
    }
    if (!pilot_accesses(k, M, w, c, &all, e)) return false;
    *sample = blocks_for(&c->scope, all);
    return true;
}

bool modeled_can(const struct kernel *k, const struct csr *A, struct err *e)
{
    if (k->vendor)
        return fail(e, E_UNSUPPORTED, "%s is a library kernel and cannot be emulated; `bench` measures it", k->name);
    if (k->host)
        return fail(e, E_UNSUPPORTED, "%s runs on the host, but the model predicts GPUs; `spmv kernel %s` measures it",
                    k->name, k->name);
    if (k->host_part) return fail(e, E_UNSUPPORTED, "the last step runs on the host, which the model does not cover");
    if (A->nnz == 0) return fail(e, E_UNSUPPORTED, "the matrix has no entries: there is nothing to predict");
    return true;
}

/* Watch the kernel on a sample of the rows, and scale what was watched to the whole matrix. */
static bool watch_rows(const struct csr *A, const struct mat *M, struct watch *w, struct modeled *out, struct err *e)
{
    struct row_sample r;
    const struct kernel *k = out->kernel;
    if (!row_sample_take(&r, k, A, M, SHARED_MOST / least_accesses(M->of), w, e)) return false;
    bool ok = model_watch(k, &r.A, &r.M, &out->on, 0, w, &out->counts, &out->work, e);
    if (ok) {
        row_sample_scale_counts(&r, M, &out->counts);
        row_sample_scale_work(&r, A, &out->counts, &out->work);
    }
    row_sample_free(&r);
    return ok;
}

static bool watch_blocks(const struct csr *A, const struct mat *M, struct watch *w, struct modeled *out, struct err *e)
{
    int64_t sample;
    const struct kernel *k = out->kernel;
    return modeled_sample(k, M, w, &out->counts, &sample, e) &&
           model_watch(k, A, M, &out->on, sample, w, &out->counts, &out->work, e);
}

/* The sectors of x that are read from memory again: not more than those that L2 delivers beyond all of x. */
static bool find_again(const struct csr *A, struct reuse *x, struct modeled *out, struct err *e)
{
    struct workload *w = &out->work;
    int64_t size = (int64_t)type_size(type_is_narrow(out->real) ? type_of_parts(out->real) : out->real);
    double gathered = 0, all = (double)A->cols * (double)size / SECTOR;
    w->again = 0;
    for (int l = 0; l < w->n; l++) gathered += w->launch[l].gathered;
    if (gathered <= all) return true;
    if (!reuse_find(x, A, size, model_x_sectors(&out->on), e)) return false;
    w->again = fmin(x->again, gathered - all);
    return true;
}

static bool watch_mat(const struct csr *A, const struct mat *M, struct reuse *x, struct watch *w, struct modeled *out,
                      struct err *e)
{
    const struct kernel *k = out->kernel;
    if (k->fits && !k->fits(M->of, e)) return false;
    out->plan = plan_of(M->of);
    out->bytes = kernel_bytes(k, M->of, 0);
    bool by_rows = row_sample_needed(k, M->of, SHARED_MOST);
    if (!(by_rows ? watch_rows : watch_blocks)(A, M, w, out, e) || !find_again(A, x, out, e)) return false;
    out->time = model_predict(&out->work, &out->on);
    return true;
}

const int64_t *modeled_params(const struct kernel *k, const int64_t *param, const struct csr *A, enum type real,
                              const struct machine *g, int64_t own[PARAMS_MAX])
{
    if (param || k->param) return param ? param : k->param;
    return format_suit(k->format, A, real, g->sms, own);
}

static bool predict_mat(const struct csr *A, const struct mat *M, const struct kernel *k, double packed_us,
                        const struct machine *g, struct reuse *x, struct watch *w, struct modeled *out, struct err *e)
{
    *out = (struct modeled){.kernel = k, .real = M->of->real, .on = *g, .prep_us = packed_us};
    if (!watch_mat(A, M, x, w, out, e)) return false;
    out->counts.scope.of = NULL;
    return true;
}

bool modeled_mat(const struct csr *A, const struct mat *M, const struct kernel *k, double packed_us,
                 const struct machine *g, struct watch *w, struct modeled *out, struct err *e)
{
    struct reuse x = {0};
    return predict_mat(A, M, k, packed_us, g, &x, w, out, e);
}

void packed_free(struct packed *p)
{
    if (p->M.dev) mat_free(&p->M);
    stored_free(&p->S);
    *p = (struct packed){0};
}

/* Pack A up to PACKINGS times and keep the shortest time, because the caches are cold in the first packing. After
   PACKING_US, no further packing starts. A is always packed at least once, even if a busy machine delays the first
   packing. */
static bool pack_warm(struct packed *p, const struct csr *A, const struct format *f, const int64_t *param,
                      enum type real, struct err *e)
{
    double begin = now_us(), best = INFINITY;
    for (int i = 0; i < PACKINGS && (!i || now_us() - begin < PACKING_US); i++) {
        stored_free(&p->S);
        double start = now_us();
        if (!format_pack(A, f, param, real, false, &p->S, e)) return false;
        best = fmin(best, now_us() - start);
    }
    p->us = best;
    return true;
}

/* Pack A and copy it to the emulator, unless p holds this packing already. */
static bool pack(struct packed *p, const struct csr *A, const struct format *f, const int64_t *param, enum type real,
                 struct err *e)
{
    int64_t asked[PARAMS_MAX] = {-1};
    if (param) memcpy(asked, param, sizeof asked);
    if (p->M.dev && p->S.format == f && p->real == real && !memcmp(p->param, asked, sizeof asked)) return true;
    struct reuse x = p->x;
    packed_free(p);
    p->x = x;
    struct device *emu = device_open("emu", e);
    if (!emu || !pack_warm(p, A, f, param, real, e)) return false;
    p->real = real;
    memcpy(p->param, asked, sizeof asked);
    return mat_put(&p->M, &p->S, emu, e);
}

bool modeled_csr(const struct csr *A, const struct kernel *k, const int64_t *param, enum type real,
                 const struct machine *g, struct watch *w, struct packed *last, struct modeled *out, struct err *e)
{
    int64_t own[PARAMS_MAX];
    const struct format *f = k->format;
    if (!modeled_can(k, A, e) || !kernel_takes(k, real, e)) return false;
    if (!pack(last, A, f, modeled_params(k, param, A, real, g, own), real, e)) return false;
    return predict_mat(A, &last->M, k, last->us, g, &last->x, w, out, e);
}

int modeled_by_time(const void *a, const void *b)
{
    double x = ((const struct modeled *)a)->time.us, y = ((const struct modeled *)b)->time.us;
    return (x > y) - (x < y);
}
