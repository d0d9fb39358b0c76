/* Copies a matrix to a device in pieces of consecutive rows, multiplies them there and copies the results back, in each
   of the ways that transfer.h lists. Each way is checked and then timed, from its first call until all data has
   arrived.

   Host and device store a piece in the same contiguous layout, so that one copy transfers it:
       | ptr, from 0 | col | val |     each array begins at a multiple of 256 bytes */
#include "transfer.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "device.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "kernel.h"
#include "mat.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "matrix/reference.h"

#include <math.h>
#include <string.h>

enum { ALIGN = 256, WARM_UPS = 2, REPS_MIN = 5, REPS_MAX = 50 };
static const double BUDGET_US = 400000;

const struct transfer_way transfer_ways[WAYS] = {
    [WAY_PAGEABLE] = {.name = "in, pageable", .about = "copy the matrix in one piece", .in = true, .whole = true},
    [WAY_PINNED] =
        {.name = "in, page-locked", .about = "copy the matrix in one piece", .pinned = true, .in = true, .whole = true},
    [WAY_IN_PIECES] = {.name = "in, by streams",
                       .about = "copy the matrix in pieces, in several streams",
                       .pinned = true,
                       .in = true,
                       .streamed = true},
    [WAY_BACK_PAGEABLE] = {.name = "back, pageable", .about = "copy the matrix back in one piece", .all_back = true},
    [WAY_BACK_PINNED] = {.name = "back, page-locked",
                         .about = "copy the matrix back in one piece",
                         .pinned = true,
                         .all_back = true},
    [WAY_EXECUTION] = {.name = "execution",
                       .about = "only the SpMVs, with the matrix already on the device",
                       .multiply = true},
    [WAY_EXECUTION_STREAMS] = {.name = "execution, by streams",
                               .about = "only the SpMVs, in several streams: SpMVs of several pieces at the same time",
                               .multiply = true,
                               .streamed = true},
    [WAY_TURNS_PAGEABLE] = {.name = "one by one, pageable",
                            .about = "copy the matrix in, run the SpMVs, and copy the results back, in one stream",
                            .in = true,
                            .multiply = true,
                            .back = true},
    [WAY_TURNS_PINNED] = {.name = "one by one, locked",
                          .about = "the same steps from page-locked memory, in one stream",
                          .pinned = true,
                          .in = true,
                          .multiply = true,
                          .back = true},
    [WAY_OVERLAPPED] = {.name = "overlapped",
                        .about = "the same steps in pieces, in several streams",
                        .pinned = true,
                        .in = true,
                        .multiply = true,
                        .back = true,
                        .streamed = true},
};

/* Rows first .. first + S.rows - 1 of the matrix. The piece is `bytes` long, and `at` is its offset in each copy of the
   matrix. */
struct piece {
    int64_t first, at, bytes;
    struct stored S;
    struct mat M;
};

struct job {
    const struct transfer_plan *plan;
    struct piece *piece;
    int64_t bytes;               /* total size of all pieces in bytes */
    int64_t size;                /* size of one value in bytes */
    char *pageable, *pinned;     /* two copies of the matrix on the host */
    char *y_pageable, *y_pinned; /* the result on the host */
    char *on_device, *x, *y;     /* matrix and vectors on the device */
    double *value, *ref, *bound; /* the result, the reference and its error bound, per row */
    char *arrived;               /* the matrix as read back from the device */
    void *stream[STREAMS_MAX];
    const struct kernel *kernel;
};

/* ---- the pieces ---- */

static int64_t aligned(int64_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* The first row of piece k of n, chosen so that all pieces have about the same number of entries. */
static int64_t first_row(const struct csr *A, int k, int n)
{
    int64_t target = A->nnz * k / n, low = 0, high = A->rows;
    if (k == 0) return 0;
    if (k == n) return A->rows;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (A->rowptr[middle] < target)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct transfer_piece transfer_piece_of(const struct csr *A, enum precision real, int k, int pieces)
{
    int64_t first = first_row(A, k, pieces), end = first_row(A, k + 1, pieces);
    int64_t rows = end - first, nnz = A->rowptr[end] - A->rowptr[first];
    int64_t index = (int64_t)sizeof(int), value = (int64_t)type_size(precisions[real].vector);
    int64_t bytes = aligned((rows + 1) * index) + aligned(nnz * index) + aligned(nnz * value);
    return (struct transfer_piece){first, rows, nnz, bytes};
}

static void cut(struct job *j, int k)
{
    const struct csr *A = j->plan->A;
    struct piece *p = &j->piece[k];
    struct transfer_piece at = transfer_piece_of(A, j->plan->real, k, j->plan->pieces);
    p->first = at.first;
    p->bytes = at.bytes;
    p->at = j->bytes;
    p->S =
        (struct stored){.format = &format_csr, .rows = at.rows, .cols = A->cols, .nnz = at.nnz, .real = j->plan->real};
    plan_array(&p->S, "ptr", ROLE_POINTERS, T_I32, p->S.rows + 1);
    plan_array(&p->S, "col", ROLE_COLUMNS, T_I32, p->S.nnz);
    plan_values(&p->S, "val", p->S.nnz);
    j->bytes += p->bytes;
}

/* Make to[a] point to array a of piece k. `block` is a copy of the matrix, on the host or on the device. */
static void place(struct job *j, int k, char *block, void **to)
{
    struct piece *p = &j->piece[k];
    char *at = block + p->at;
    for (int a = 0; a < 3; a++) {
        to[a] = at;
        at += aligned(p->S.a[a].n * (int64_t)type_size(p->S.a[a].type));
    }
}

static void fill(struct job *j, int k)
{
    const struct csr *A = j->plan->A;
    struct piece *p = &j->piece[k];
    void *data[3];
    int64_t from = A->rowptr[p->first];
    place(j, k, j->pageable, data);
    for (int a = 0; a < 3; a++) p->S.a[a].data = data[a];
    int *ptr = data[CSR_PTR];
    struct loop l = loop_of("copying", p->S.rows);
    for (int64_t i = 0; i <= p->S.rows && loop_goes(&l, i); i++) ptr[i] = (int)(A->rowptr[p->first + i] - from);
    loop_copy(data[CSR_COL], A->col + from, p->S.nnz * (int64_t)sizeof *A->col, "copying", NULL);
    put_reals(&p->S.a[CSR_VAL], A->val + from);
    p->M = (struct mat){.of = &p->S, .dev = j->plan->dev, .scratch = p->M.scratch};
    place(j, k, j->on_device, p->M.ptr);
}

/* ---- memory on the host and on the device ---- */

static bool host_memory(struct job *j, double *pin_us, struct err *e)
{
    const struct transfer_plan *p = j->plan;
    int64_t y_bytes = p->A->rows * j->size;
    j->pageable = mem_zero(j->bytes, 1, "a matrix to copy", e);
    j->arrived = j->pageable ? mem_new(j->bytes, 1, "what comes back", e) : NULL;
    j->y_pageable = j->arrived ? mem_new(y_bytes, 1, "a product", e) : NULL;
    if (!j->y_pageable) return false;
    double start = now_us();
    j->pinned = p->ops->pin(p->dev, j->bytes, e);
    *pin_us = now_us() - start;
    j->y_pinned = j->pinned ? p->ops->pin(p->dev, y_bytes, e) : NULL;
    return j->y_pinned != NULL;
}

static bool device_memory(struct job *j, struct err *e)
{
    const struct transfer_plan *p = j->plan;
    const struct device_ops *ops = p->dev->ops;
    j->on_device = ops->alloc(p->dev, j->bytes, "a matrix to copy", e);
    j->x = j->on_device ? ops->alloc(p->dev, p->A->cols * j->size, "the vector x", e) : NULL;
    j->y = j->x ? ops->alloc(p->dev, p->A->rows * j->size, "the vector y", e) : NULL;
    for (int k = 0; j->y && k < p->streams; k++)
        if (!(j->stream[k] = p->ops->stream(p->dev, e))) return false;
    return j->y != NULL;
}

/* Set x to random values, rounded to the device's precision, and compute the reference. */
static bool set_problem(struct job *j, struct err *e)
{
    const struct csr *A = j->plan->A;
    uint64_t state = 1;
    struct array x = {.type = precisions[j->plan->real].vector, .n = A->cols};
    x.data = mem_new(A->cols, (size_t)j->size, "a vector to copy", e);
    double *exact = x.data ? mem_new(A->cols, sizeof *exact, "x of a check", e) : NULL;
    j->ref = exact ? mem_zero(A->rows, sizeof *j->ref, "the reference of a check", e) : NULL;
    j->bound = j->ref ? mem_new(A->rows, sizeof *j->bound, "the error bounds of a check", e) : NULL;
    j->value = j->bound ? mem_new(A->rows, sizeof *j->value, "the result of a check", e) : NULL;
    struct loop l = loop_of("random numbers", A->cols);
    for (int64_t i = 0; j->value && i < A->cols && loop_goes(&l, i); i++) {
        put_real(&x, i, random_unit(&state));
        exact[i] = array_real(&x, i);
    }
    bool ok = j->value && loop_end(&l, e) && j->plan->dev->ops->put(j->plan->dev, j->x, x.data, A->cols * j->size, e);
    if (ok) reference_spmv(A, 1, exact, 0, j->ref, j->plan->real, j->bound);
    ok = ok && loop_tick("the reference", 0, 0, e);
    mem_free(exact);
    mem_free(x.data);
    return ok;
}

static bool job_new(struct job *j, const struct transfer_plan *p, double *pin_us, struct err *e)
{
    *j = (struct job){.plan = p, .size = (int64_t)type_size(precisions[p->real].vector)};
    j->kernel = kernel_default(&format_csr, p->A, p->dev);
    if (!j->kernel) return fail(e, E_UNSUPPORTED, "no kernel for csr runs on %s", p->dev->name);
    j->piece = mem_zero(p->pieces, sizeof *j->piece, "the pieces of a matrix", e);
    if (!j->piece) return false;
    for (int k = 0; k < p->pieces; k++) cut(j, k);
    if (!host_memory(j, pin_us, e) || !device_memory(j, e)) return false;
    for (int k = 0; k < p->pieces; k++) {
        struct mat *M = &j->piece[k].M;
        M->scratch = mem_zero(1, sizeof *M->scratch, "a matrix on a device", e);
        if (!M->scratch) return false;
        fill(j, k);
    }
    return loop_copy(j->pinned, j->pageable, j->bytes, "copying", e) && set_problem(j, e);
}

static void job_free(struct job *j)
{
    const struct transfer_plan *p = j->plan;
    void *on_device[] = {j->on_device, j->x, j->y}, *pinned[] = {j->pinned, j->y_pinned};
    void *on_host[] = {j->pageable, j->arrived, j->y_pageable, j->value, j->ref, j->bound};
    for (int k = 0; j->piece && k < p->pieces; k++)
        if (j->piece[k].M.scratch) scratch_free(&j->piece[k].M);
    for (int k = 0; k < p->streams; k++)
        if (j->stream[k]) p->ops->close(p->dev, j->stream[k]);
    for (int i = 0; i < COUNT(on_device); i++)
        if (on_device[i]) p->dev->ops->free(p->dev, on_device[i]);
    for (int i = 0; i < COUNT(pinned); i++)
        if (pinned[i]) p->ops->unpin(p->dev, pinned[i]);
    for (int i = 0; i < COUNT(on_host); i++) mem_free(on_host[i]);
    mem_free(j->piece);
}

/* ---- the ways ---- */

/* During the SpMVs, `stream` replaces d->stream, because kernels are launched on d->stream. */
static bool multiply(struct job *j, const struct piece *p, void *stream, struct err *e)
{
    struct device *d = j->plan->dev;
    void *saved = d->stream;
    struct launch L = {.A = &p->M, .alpha = 1, .x = j->x, .y = j->y + p->first * j->size};
    bool ok = true;
    if (stream) d->stream = stream;
    for (int i = 0; ok && i < j->plan->products; i++) ok = kernel_launch(j->kernel, &L, e);
    d->stream = saved;
    return ok;
}

static bool go_piece(struct job *j, const struct transfer_way *w, const struct piece *p, void *stream, struct err *e)
{
    const struct transfer_ops *ops = j->plan->ops;
    struct device *d = j->plan->dev;
    int64_t y = p->first * j->size;
    char *matrix = w->pinned ? j->pinned : j->pageable, *result = w->pinned ? j->y_pinned : j->y_pageable;
    if (w->in && !ops->copy(d, stream, j->on_device + p->at, matrix + p->at, p->bytes, false, e)) return false;
    if (!p->S.rows) return true;
    if (w->multiply && !multiply(j, p, stream, e)) return false;
    return !w->back || ops->copy(d, stream, result + y, j->y + y, p->S.rows * j->size, true, e);
}

static bool go_whole(struct job *j, const struct transfer_way *w, void *stream, struct err *e)
{
    const struct transfer_ops *ops = j->plan->ops;
    char *matrix = w->pinned ? j->pinned : j->pageable;
    if (w->all_back) return ops->copy(j->plan->dev, stream, matrix, j->on_device, j->bytes, true, e);
    return ops->copy(j->plan->dev, stream, j->on_device, matrix, j->bytes, false, e);
}

static bool go(struct job *j, const struct transfer_way *w, struct err *e)
{
    const struct transfer_plan *p = j->plan;
    int streams = w->streamed ? p->streams : 1;
    bool ok = true;
    if (w->whole || w->all_back) ok = go_whole(j, w, j->stream[0], e);
    for (int k = 0; ok && !w->whole && !w->all_back && k < p->pieces; k++)
        ok = go_piece(j, w, &j->piece[k], j->stream[k % streams], e);
    for (int k = 0; k < streams; k++) ok = p->ops->wait(p->dev, j->stream[k], ok ? e : NULL) && ok;
    return ok;
}

/* ---- checks ---- */

/* Overwrite the memory to which a way writes, so that data from an earlier run cannot pass the check. */
static bool spoil(struct job *j, const struct transfer_way *w, struct err *e)
{
    const struct device_ops *ops = j->plan->dev->ops;
    int64_t y_bytes = j->plan->A->rows * j->size;
    char *result = w->pinned ? j->y_pinned : j->y_pageable;
    memset(result, 0xff, (size_t)y_bytes);
    memset(j->arrived, 0xff, (size_t)j->bytes);
    if (w->all_back) memset(w->pinned ? j->pinned : j->pageable, 0xff, (size_t)j->bytes);
    if (w->multiply && !ops->put(j->plan->dev, j->y, result, y_bytes, e)) return false;
    return !w->in || ops->put(j->plan->dev, j->on_device, j->arrived, j->bytes, e);
}

static bool check_product(struct job *j, const struct transfer_way *w, struct err *e)
{
    struct array y = {.type = precisions[j->plan->real].vector,
                      .n = j->plan->A->rows,
                      .data = w->pinned ? j->y_pinned : j->y_pageable};
    if (!w->back && !j->plan->dev->ops->get(j->plan->dev, y.data, j->y, y.n * j->size, e)) return false;
    for (int64_t i = 0; i < y.n; i++) j->value[i] = array_real(&y, i);
    struct verdict v = verdict_of(y.n, j->value, j->ref, j->bound);
    if (v.ok) return true;
    return fail(e, E_NUMERIC, "%s: the error in row %lld is %.3g times the rounding error bound; no time was measured",
                w->name, (long long)v.row, v.worst);
}

/* Compare copied bytes with the original. A copy back overwrites one of the two copies on the host. */
static bool check_copy(struct job *j, const struct transfer_way *w, struct err *e)
{
    if (w->in && !j->plan->dev->ops->get(j->plan->dev, j->arrived, j->on_device, j->bytes, e)) return false;
    const char *sent = w->pinned ? j->pageable : j->pinned,
               *came = w->all_back ? (w->pinned ? j->pinned : j->pageable) : j->arrived;
    int64_t at = 0;
    while (at < j->bytes && sent[at] == came[at]) at++;
    if (at == j->bytes) return true;
    return fail(e, E_NUMERIC, "%s: byte %lld of %lld was copied incorrectly; no time was measured", w->name,
                (long long)at, (long long)j->bytes);
}

static bool check(struct job *j, const struct transfer_way *w, struct err *e)
{
    if (!spoil(j, w, e) || !go(j, w, e)) return false;
    if ((w->in || w->all_back) && !check_copy(j, w, e)) return false;
    return !w->multiply || check_product(j, w, e);
}

/* ---- timing ---- */

static bool once(struct job *j, const struct transfer_way *w, double *us, struct err *e)
{
    double start = now_us();
    bool ok = go(j, w, e);
    *us = now_us() - start;
    return ok;
}

int64_t transfer_way_bytes(const struct transfer *t, enum way k)
{
    const struct transfer_way *w = &transfer_ways[k];
    return (w->in || w->all_back ? t->matrix_bytes : 0) + (w->back ? t->result_bytes : 0);
}

static bool time_way(struct job *j, enum way k, struct transfer *out, struct err *e)
{
    const struct transfer_way *w = &transfer_ways[k];
    double us[REPS_MAX], estimate = 0;
    if (!check(j, w, e)) return false;
    for (int i = 0; i < WARM_UPS; i++)
        if (!once(j, w, &estimate, e)) return false;
    double fit = BUDGET_US / (estimate + 1);
    int n = j->plan->reps ? j->plan->reps : fit < REPS_MIN ? REPS_MIN : fit > REPS_MAX ? REPS_MAX : (int)fit;
    if (n > REPS_MAX) n = REPS_MAX;
    for (int i = 0; i < n; i++)
        if (!watch_tick(j->plan->watch, w->name, i, n, e) || !once(j, w, &us[i], e)) return false;
    out->way[k].reps = n;
    out->way[k].us = times_median(n, us, &out->way[k].spread_us);
    out->way[k].gbs = (double)transfer_way_bytes(out, k) / out->way[k].us / 1000;
    return true;
}

/* Without overlap, the total time is transfer plus execution. With perfect overlap, the total time is the longer of
   transfer and execution. Execution is measured in the same streams as the overlapped way, because concurrent pieces
   are faster if one piece alone does not fill the device. */
void transfer_conclude(struct transfer *t)
{
    double transfer = t->way[WAY_PINNED].us * (double)(t->matrix_bytes + t->result_bytes) / (double)t->matrix_bytes;
    double execution = t->way[WAY_EXECUTION_STREAMS].us;
    t->transfer_us = transfer;
    t->without_us = transfer + t->way[WAY_EXECUTION].us;
    t->hidden = fmin(1, (transfer + execution - t->way[WAY_OVERLAPPED].us) / fmin(transfer, execution));
}

bool transfer_measure(const struct transfer_plan *p, struct transfer *out, struct err *e)
{
    struct job j;
    *out = (struct transfer){0};
    bool ok = job_new(&j, p, &out->pin_us, e);
    out->kernel = j.kernel;
    out->matrix_bytes = j.bytes;
    out->result_bytes = p->A->rows * j.size;
    for (int k = 0; ok && k < WAYS; k++) ok = time_way(&j, (enum way)k, out, e);
    if (ok) transfer_conclude(out);
    job_free(&j);
    return ok;
}
