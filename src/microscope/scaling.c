/* Predict how the time of a product falls with the number of GPUs: local products by the cost model, the exchange and
   the all-reduces by the constants of a link. */
#include "scaling.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "link.h"
#include "machine/microscope.h"
#include "matrix/csr.h"
#include "modeled.h"
#include "parts/exchange.h"
#include "parts/part.h"
#include "parts/partition.h"

#include <math.h>
#include <stdio.h>

const char *const limit_names[LIMITS] = {"local product",   "launch",  "exchange latency", "exchange bytes",
                                         "outside product", "vectors", "all-reduces"};

/* cg reads or writes this number of vectors per iteration besides the product, in this number of passes, and has this
   number of all-reduces (solvers/slv_cg.c). */
enum { CG_VECTORS = 9, CG_PASSES = 2, CG_REDUCES = 2 };

/* A pass in a graph begins PASS_US after the launch before it. Vectors are streamed from memory, except what L2 has
   kept of them from one pass to the next, L2_SHARE of its size. On an H100, the passes of cg on poisson3d 128, 256 and
   512 take 41, 367 and 3056 us. */
static const double PASS_US = 1.3, L2_SHARE = 0.7;

static double item_bytes(const struct scaling *c, const struct csr *A)
{
    return (double)type_size(precisions[c->real].vector) * (A->imag ? 2 : 1);
}

/* What the predictions of one command share. */
struct forecaster {
    const struct scaling *c;
    const struct csr *A;
    const struct machine *on;
    struct watch *w;
};

/* ---- one product by the cost model ---- */

struct product_time {
    double us;
    bool launch_bound, sampled;
};

/* A matrix without entries needs no product. */
static bool product_time(const struct forecaster *f, const struct csr *A, struct product_time *out, struct err *e)
{
    struct packed packed = {0};
    *out = (struct product_time){0};
    if (!A->nnz) return true;
    struct modeled *t = mem_new(1, sizeof *t, "a prediction", e);
    bool ok = t && modeled_csr(A, f->c->kernel, NULL, f->c->real, f->on, f->w, &packed, t, e);
    if (ok) *out = (struct product_time){t->time.us, t->time.bound == BOUND_LAUNCH, t->work.sampled};
    packed_free(&packed);
    mem_free(t);
    return ok;
}

/* Remove the rows without entries, as a product with few boundary rows does. */
static void drop_empty_rows(struct csr *A)
{
    int64_t n = 0;
    for (int64_t i = 0; i < A->rows; i++)
        if (csr_row_length(A, i)) csr_set_start(A, ++n, csr_start(A, i + 1));
    A->rows = n;
}

/* ---- cg ---- */

double scaling_kept(const struct machine *g, double bytes)
{
    return fmin(bytes, L2_SHARE * 1e6 * g->is.l2_mb);
}

double scaling_passes_us(const struct machine *g, double bytes, double passes)
{
    double kept = scaling_kept(g, bytes);
    return passes * PASS_US + (bytes - kept) / (model_stream_gbs(g) * 1e3) + kept / (g->c.cache_gbs * 1e3);
}

static double vectors_us(const struct forecaster *f, int64_t rows)
{
    return scaling_passes_us(f->on, CG_VECTORS * item_bytes(f->c, f->A) * (double)rows, CG_PASSES);
}

static void add_cg(const struct forecaster *f, int64_t rows, struct scaling_point *p)
{
    p->vectors_us = vectors_us(f, rows);
    p->reduce_us = CG_REDUCES * link_reduce_us(f->c->link, p->parts);
    p->cg_us = f->A->rows == f->A->cols ? p->spmv_us + p->vectors_us + p->reduce_us : NAN;
    p->cg_limit = p->spmv_limit;
    if (p->vectors_us > p->spmv_us) p->cg_limit = LIMIT_VECTORS;
    if (p->reduce_us > fmax(p->spmv_us, p->vectors_us)) p->cg_limit = LIMIT_REDUCE;
}

/* ---- a number of parts ---- */

double scaling_product_us(const struct link *link, const struct scaling_point *p)
{
    double both =
        link->beside ? fmax(p->exchange_us, p->inside_us + p->wire_us + p->memory_us) : p->exchange_us + p->inside_us;
    return both + p->outside_us;
}

/* What the outer product takes besides the product with a matrix of its own: it also reads y; and if there is at least
   one outer entry per row, the halo is first moved to where the kernels for matrices read it. */
static double outside_more_us(const struct forecaster *f, const struct csr *outside, int64_t rows)
{
    double item = item_bytes(f->c, f->A), y = item * (double)outside->rows, halo = 2 * item * (double)outside->cols;
    double move = outside->nnz > 0 && outside->nnz >= rows ? PASS_US + halo / (f->on->c.copy_gbs * 1e3) : 0;
    return move + y / (f->on->c.read_gbs * 1e3);
}

/* The time for what an exchange reads and writes in the memory of one GPU: the list of the items to send, the sectors
   of x that hold them, and the halo that arrives. */
static double exchange_memory_us(const struct forecaster *f, const struct part_counts *t, int64_t cols)
{
    double item = item_bytes(f->c, f->A), sectors = fmin((double)t->halo_out * SECTOR, (double)cols * item);
    double bytes = (double)t->halo_out * sizeof(int) + sectors + (double)t->halo_in * item;
    return bytes / (f->on->c.read_gbs * 1e3);
}

bool scaling_begin(struct scaling *c, const struct csr *A, const struct machine *on, struct watch *w, struct err *e)
{
    struct forecaster f = {c, A, on, w};
    struct product_time t;
    if (!product_time(&f, A, &t, e)) return false;
    snprintf(c->machine, sizeof c->machine, "%s", on->name);
    c->machine_here = on->here;
    c->n = 0;
    c->one_us = t.us;
    c->one_cg_us = A->rows == A->cols ? t.us + vectors_us(&f, A->rows) : NAN;
    return true;
}

static enum scaling_limit limit_of(const struct scaling_point *p, bool launch_bound)
{
    if (p->outside_us > fmax(p->inside_us, p->exchange_us)) return LIMIT_OUTSIDE;
    if (p->exchange_us > p->inside_us)
        return p->wire_us + p->memory_us > p->exchange_us / 2 ? LIMIT_BYTES : LIMIT_LATENCY;
    return launch_bound ? LIMIT_LAUNCH : LIMIT_LOCAL;
}

/* The time of one part; the point keeps the slowest. */
static bool add_part(const struct forecaster *f, const struct partition *P, const struct exchange *x, int k,
                     struct scaling_point *p, struct err *e)
{
    const struct link *link = f->c->link;
    struct part part;
    struct product_time inside, outside;
    struct scaling_point now = *p;
    if (!part_extract(&part, f->A, P, k, e)) return false;
    drop_empty_rows(&part.outside);
    double more = outside_more_us(f, &part.outside, part.inside.rows);
    int64_t cols = part.inside.cols;
    bool ok = product_time(f, &part.inside, &inside, e) && product_time(f, &part.outside, &outside, e);
    part_free(&part);
    if (!ok) return false;
    const struct part_counts *t = &x->part[k];
    double bytes = item_bytes(f->c, f->A) * (double)(t->halo_in > t->halo_out ? t->halo_in : t->halo_out);
    now.wire_us = bytes / (link_items_gbs(link) * 1e3);
    now.inside_us = inside.us;
    now.outside_us = outside.us + more;
    now.memory_us = exchange_memory_us(f, t, cols);
    now.exchange_us = bytes > 0 ? f->on->c.launch_us + link_exchange_us(link, bytes) + now.memory_us : 0;
    now.spmv_us = scaling_product_us(link, &now);
    now.spmv_limit = limit_of(&now, inside.launch_bound);
    now.sampled = p->sampled || inside.sampled || outside.sampled;
    if (now.spmv_us >= p->spmv_us) *p = now;
    return true;
}

/* The part with the most nonzeros, and the part that receives most. */
static void choose_parts(const struct exchange *x, int seen[SCALING_PARTS_SEEN])
{
    seen[0] = seen[1] = 0;
    for (int k = 1; k < x->parts; k++) {
        const struct part_counts *t = &x->part[k], *a = &x->part[seen[0]], *b = &x->part[seen[1]];
        if (t->inside + t->outside > a->inside + a->outside) seen[0] = k;
        if (t->halo_in > b->halo_in) seen[1] = k;
    }
}

static bool add_divided(struct scaling *c, const struct forecaster *f, const struct partition *P, struct err *e)
{
    struct exchange x;
    int seen[SCALING_PARTS_SEEN];
    if (!exchange_of(&x, f->A, P, e)) return false;
    struct part_most most = exchange_most(&x);
    struct scaling_point p = {
        .parts = P->parts, .imbalance = most.imbalance, .halo = x.halo, .halo_most = most.most.halo_in};
    choose_parts(&x, seen);
    bool ok = true;
    for (int i = 0; ok && i < SCALING_PARTS_SEEN; i++)
        if (!i || seen[i] != seen[0]) ok = add_part(f, P, &x, seen[i], &p, e);
    if (ok) {
        add_cg(f, most.most.rows, &p);
        c->point[c->n++] = p;
    }
    exchange_free(&x);
    return ok;
}

bool scaling_add(struct scaling *c, const struct csr *A, int parts, const struct machine *on, struct watch *w,
                 struct err *e)
{
    struct forecaster f = {c, A, on, w};
    struct partition P;
    if (parts > A->rows || parts < 1)
        return fail(e, E_USAGE, "%d GPUs: the matrix has %lld rows; give 1 to %lld GPUs", parts, (long long)A->rows,
                    (long long)(A->rows < PARTS_MAX ? A->rows : PARTS_MAX));
    if (c->n == SCALING_MAX) return fail(e, E_LIMIT, "too many numbers of GPUs; give at most %d", SCALING_MAX);
    if (parts == 1) {
        struct scaling_point *p = &c->point[c->n++];
        *p = (struct scaling_point){.parts = 1, .imbalance = 1, .inside_us = c->one_us, .spmv_us = c->one_us};
        add_cg(&f, A->rows, p);
        return true;
    }
    if (!partition_new(&P, c->way, A, parts, w, e)) return false;
    bool ok = add_divided(c, &f, &P, e);
    partition_free(&P);
    return ok;
}

double scaling_gain(const struct scaling *c, int i)
{
    return c->one_us / c->point[i].spmv_us;
}

double scaling_cg_gain(const struct scaling *c, int i)
{
    return c->one_cg_us / c->point[i].cg_us;
}
