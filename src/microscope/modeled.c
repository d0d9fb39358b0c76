/* Watches kernels on the emulator and predicts their times. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/precision.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "modeled.h"
#include "row_sample.h"

#include <math.h>
#include <string.h>

/* How closely a kernel is watched: the accesses to watch, as count_within takes them, and those above which a kernel
   whose blocks must all run is watched on a sample of the rows with as many. The first look is enough if the sectors
   that it counts have an error of at most CLOSE_ENOUGH. */
struct look {
    int64_t accesses, of_rows;
};
static const struct look first_look = {-MODELED_FIRST, 40 * 1000},
                         close_look = {MODELED_ACCESSES, 8 * MODELED_ACCESSES};
#define CLOSE_ENOUGH 0.03
/* LARGE: accesses of a matrix, see is_close. MORE: the blocks of a separable kernel differ in where long rows end, and
   most of them run anyway, so that many more are watched. */
enum { LARGE = 96 * MODELED_ACCESSES, MORE = 4 };

/* At most PACKINGS packings are timed; no new packing starts after PACKING_US. */
enum { PACKINGS = 3, PACKING_US = 2 * 1000 };

/* Do all blocks have to run, although only some are watched? */
static bool runs_whole(const struct kernel *k)
{
    return (k->shares || (k->together && !k->separable)) && !k->remote;
}

bool modeled_accesses(const struct kernel *k, const struct mat *M, int64_t *accesses, struct err *e)
{
    if (k->shares && least_accesses(M->of) > close_look.of_rows)
        return fail(e, E_UNSUPPORTED,
                    "%s balances its work dynamically, so a sample of blocks would be meaningless, and this matrix is "
                    "too large to watch all blocks; `count %s all` watches all blocks, slowly",
                    k->name, k->name);
    *accesses = k->shares ? 0 : MODELED_ACCESSES;
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
static bool watch_rows(const struct csr *A, const struct mat *M, double part, struct watch *w, struct modeled *out,
                       struct err *e)
{
    struct row_sample r;
    const struct kernel *k = out->kernel;
    if (!row_sample_take(&r, k, A, M, part, w, e)) return false;
    bool ok = model_watch(k, &r.A, &r.M, &out->on, 0, w, &out->counts, &out->work, e);
    if (ok) {
        row_sample_scale_counts(&r, M, &out->counts);
        row_sample_scale_work(&r, A, &out->counts, &out->work);
    }
    row_sample_free(&r);
    return ok;
}

/* The sectors of x that are read from memory again: not more than those that L2 delivers beyond all of x. */
static bool find_again(const struct csr *A, struct reuse *x, struct modeled *out, struct err *e)
{
    struct workload *w = &out->work;
    int64_t size = (int64_t)type_size(precisions[out->real].vector);
    double gathered = 0, all = (double)A->cols * (double)size / SECTOR;
    w->again = 0;
    for (int l = 0; l < w->n; l++) gathered += w->launch[l].gathered;
    if (gathered <= all) return true;
    if (!reuse_find(x, A, size, model_x_sectors(&out->on), e)) return false;
    w->again = fmin(x->again, gathered - all);
    return true;
}

static bool by_rows(const struct kernel *k, const struct mat *M, const struct look *l)
{
    return runs_whole(k) && least_accesses(M->of) > (double)l->of_rows;
}

/* Watch the kernel, on a sample of the rows or of the blocks if it is large, and predict its time. */
static bool look_at(const struct csr *A, const struct mat *M, const struct look *l, struct reuse *x, struct watch *w,
                    struct modeled *out, struct err *e)
{
    const struct kernel *k = out->kernel;
    bool ok = by_rows(k, M, l)
                  ? watch_rows(A, M, (double)l->of_rows / least_accesses(M->of), w, out, e)
                  : model_watch(k, A, M, &out->on, runs_whole(k) ? 0 : l->accesses, w, &out->counts, &out->work, e);
    if (!ok || !find_again(A, x, out, e)) return false;
    out->time = model_predict(&out->work, &out->on);
    return true;
}

/* Do additions to an element of y queue up, as those of a long row do? Few samples have them. */
static bool queues(const struct modeled *k)
{
    double atomics = 0;
    for (int l = 0; l < k->work.n; l++) atomics += k->work.launch[l].atomics;
    return k->work.sampled && atomics > 0;
}

/* Is the longest row much longer than the others? Then a sample of few rows may not contain its like. */
static bool is_uneven(const struct csr *A)
{
    enum { UNEVEN = 16 };
    return csr_longest_row(A) > UNEVEN * A->nnz / A->rows;
}

/* Is the first look at k as good as a closer one? It leaves out the partial sums of a separable kernel. There are none
   in rows of up to FEW entries, and they take a small part of the time of a matrix with more than LARGE accesses. */
static bool is_close(const struct modeled *k, const struct csr *A, const struct mat *M)
{
    enum { FEW = 64 };
    bool complete = !k->kernel->separable || csr_longest_row(A) <= FEW || !k->work.sampled;
    if (!complete && least_accesses(M->of) <= LARGE) return false;
    if (queues(k) && is_uneven(A)) return false;
    return !by_rows(k->kernel, M, &first_look) && counts_error(&k->counts) <= CLOSE_ENOUGH; /* false if it is NaN */
}

static bool watch_mat(const struct csr *A, const struct mat *M, struct packed *last, struct watch *w,
                      struct modeled *out, struct err *e)
{
    const struct kernel *k = out->kernel;
    if (k->fits && !k->fits(M->of, e)) return false;
    out->plan = plan_of(M->of);
    out->bytes = kernel_bytes(k, M->of, 0);
    if (by_rows(k, M, &first_look) && is_uneven(A)) return look_at(A, M, &close_look, &last->x, w, out, e);
    if (!look_at(A, M, &first_look, &last->x, w, out, e)) return false;
    if (is_close(out, A, M)) return true;
    out->first_look_only = last->slower_than > 0 && out->time.us > last->slower_than;
    if (out->first_look_only) return true;
    struct look closer = close_look;
    if (k->separable) closer.accesses *= least_accesses(M->of) > LARGE ? -MORE : MORE;
    return look_at(A, M, &closer, &last->x, w, out, e);
}

static bool predict_mat(const struct csr *A, const struct mat *M, const struct kernel *k, double packed_us,
                        const struct machine *g, struct packed *last, struct watch *w, struct modeled *out,
                        struct err *e)
{
    *out = (struct modeled){.kernel = k, .real = M->of->real, .on = *g, .prep_us = packed_us};
    if (!watch_mat(A, M, last, w, out, e)) return false;
    out->counts.scope.of = NULL;
    return true;
}

bool modeled_mat(const struct csr *A, const struct mat *M, const struct kernel *k, double packed_us,
                 const struct machine *g, struct watch *w, struct modeled *out, struct err *e)
{
    struct packed none = {0};
    return predict_mat(A, M, k, packed_us, g, &none, w, out, e);
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
                      enum precision real, struct err *e)
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

/* Pack A for the emulator, unless p holds this packing already. */
static bool pack(struct packed *p, const struct csr *A, const struct format *f, const int64_t *param,
                 enum precision real, struct err *e)
{
    int64_t asked[PARAMS_MAX] = {-1};
    if (param) memcpy(asked, param, sizeof asked);
    if (p->M.dev && p->S.format == f && p->real == real && !memcmp(p->param, asked, sizeof asked)) return true;
    struct packed shared = {.x = p->x, .slower_than = p->slower_than};
    packed_free(p);
    *p = shared;
    struct device *emu = device_open("emu", e);
    if (!emu || !pack_warm(p, A, f, param, real, e)) return false;
    p->real = real;
    memcpy(p->param, asked, sizeof asked);
    return mat_borrow(&p->M, &p->S, emu, e);
}

bool modeled_csr(const struct csr *A, const struct kernel *k, const int64_t *param, enum precision real,
                 const struct machine *g, struct watch *w, struct packed *last, struct modeled *out, struct err *e)
{
    int64_t own[PARAMS_MAX];
    const struct format *f = k->format;
    if (!modeled_can(k, A, e) || !kernel_takes(k, real, e)) return false;
    if (!pack(last, A, f, kernel_params(k, param, A, real, g->sms, own), real, e)) return false;
    return predict_mat(A, &last->M, k, last->us, g, last, w, out, e);
}

int modeled_by_time(const void *a, const void *b)
{
    double x = ((const struct modeled *)a)->time.us, y = ((const struct modeled *)b)->time.us;
    return (x > y) - (x < y);
}
