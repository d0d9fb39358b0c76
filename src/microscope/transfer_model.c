/* Predicts the ways to copy and multiply: copies by the constants of a link, SpMVs by the cost model. */
#include "transfer_model.h"
#include "base/mem.h"
#include "formats/fmt_csr.h"
#include "link.h"
#include "machine/kernel.h"
#include "machine/transfer.h"
#include "matrix/csr.h"
#include "matrix/extract.h"
#include "model.h"
#include "modeled.h"

#include <math.h>

double transfer_stages_us(struct stages each, int n, int streams)
{
    double in = 0, run = 0, back = 0, ended[STREAMS_MAX] = {0};
    for (int k = 0; k < n; k++) {
        in = fmax(in, ended[k % streams]) + each.in;
        run = fmax(run, in) + each.run;
        back = fmax(back, run) + each.back;
        ended[k % streams] = back;
    }
    return back;
}

/* The time of one SpMV with A, in us. */
static bool product_us(const struct transfer_plan *p, const struct csr *A, const struct kernel *k,
                       const struct machine *g, double *us, struct err *e)
{
    struct packed packed = {0};
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    bool ok = t && modeled_csr(A, k, NULL, p->real, g, p->watch, &packed, t, e);
    if (ok) *us = t->time.us;
    packed_free(&packed);
    mem_free(t);
    return ok;
}

/* The same with the piece in the middle; all pieces have about as many entries. */
static bool piece_us(const struct transfer_plan *p, const struct kernel *k, const struct machine *g, double *us,
                     struct err *e)
{
    struct csr A = {0};
    struct transfer_piece at = transfer_piece_of(p->A, p->real, p->pieces / 2, p->pieces);
    struct window rows = {at.first, at.first + at.rows, 0, p->A->cols};
    *us = 0;
    if (!at.nnz) return true;
    bool ok = csr_extract(&A, p->A, rows, p->watch, e) && product_us(p, &A, k, g, us, e);
    csr_free(&A);
    return ok;
}

/* All copies take turns on the link; the host issues a call per piece. */
static double copies_us(const struct link *l, double bytes, int pieces, const struct machine *g)
{
    return l->start_us + l->hop_us + fmax(bytes / (l->gbs * 1e3), model_launches_us(pieces, g));
}

static void set(struct transfer *t, enum way k, double us)
{
    t->way[k].us = us;
    t->way[k].spread_us = NAN;
    t->way[k].gbs = (double)transfer_way_bytes(t, k) / us / 1000;
}

/* one, whole: us of an SpMV with a piece and with the whole matrix */
static void predict_ways(const struct transfer_plan *p, const struct link *l, const struct machine *g, double one,
                         double whole, struct transfer *t)
{
    double in = (double)t->matrix_bytes, back = (double)t->result_bytes, n = p->pieces, runs = n * p->products;
    double by_streams = fmax(runs * one / fmin(p->streams, n), p->products * whole);
    struct stages each = {in / n / (l->gbs * 1e3), by_streams / n, back / n / (l->gbs * 1e3)};
    for (int k = 0; k < WAYS; k++) set(t, (enum way)k, NAN);
    set(t, WAY_PINNED, copies_us(l, in, 1, g));
    set(t, WAY_IN_PIECES, copies_us(l, in, p->pieces, g));
    set(t, WAY_BACK_PINNED, copies_us(l, in, 1, g));
    set(t, WAY_EXECUTION, runs * one);
    set(t, WAY_EXECUTION_STREAMS, by_streams);
    set(t, WAY_TURNS_PINNED, n * (copies_us(l, in / n, 1, g) + copies_us(l, back / n, 1, g)) + runs * one);
    set(t, WAY_OVERLAPPED, 2 * (l->start_us + l->hop_us) + transfer_stages_us(each, p->pieces, p->streams));
}

bool transfer_predict(const struct transfer_plan *p, const struct link *link, const struct machine *g,
                      struct transfer *out, struct err *e)
{
    double one, whole;
    *out = (struct transfer){.kernel = kernel_default(&format_csr, p->A, p->dev), .pin_us = NAN};
    for (int k = 0; k < p->pieces; k++) out->matrix_bytes += transfer_piece_of(p->A, p->real, k, p->pieces).bytes;
    out->result_bytes = p->A->rows * (int64_t)type_size(precisions[p->real].vector);
    if (!piece_us(p, out->kernel, g, &one, e) || !product_us(p, p->A, out->kernel, g, &whole, e)) return false;
    predict_ways(p, link, g, one, whole, out);
    transfer_conclude(out);
    return true;
}
