/* The product y = alpha A x + beta y on a device with members: every member sends what others need, multiplies its own
   columns meanwhile, waits for the items of others, and adds their share. */
#include "base/base.h"
#include "base/err.h"
#include "base/precision.h"
#include "formats/format.h"
#include "gpu/emu/emu.h"
#include "gpu/emu/scope.h"
#include "machine/passes.h"
#include "phases.h"

#include <math.h>
#include <string.h>

/* ---- what each member does ---- */

static bool by_peers(const struct product_of *w)
{
    return transport_of(w->p->dev) == TRANSPORT_PEER;
}

static struct halo_number number_on(const struct product_of *w, int k)
{
    return (struct halo_number){by_peers(w) ? w->p->piece[k].count : NULL, w->p->epoch};
}

/* All bits set are the mark of an item that was not written; the emulator checks for it. */
static void poison(const struct product_of *w, int k)
{
    struct piece *q = &w->p->piece[k];
    if (w->m->member[k]->kind == DEV_EMU)
        memset(q->in[w->p->epoch % 2], 0xff, (size_t)(q->halo * (int64_t)type_size(w->real)));
}

/* Ctrl-C may have ended the last product after some members had begun it, if launches run on the host: let all count
   alike. */
static void align_count(const struct product_of *w, int k)
{
    if (w->m->member[k]->ops->plain) *w->p->piece[k].count = w->p->epoch - 1;
}

bool pushes_beside(const struct device *d, const struct device *member)
{
    return transport_of(d) == TRANSPORT_PEER && member->ops->branch;
}

static bool mark_pushed(const struct product_of *w, struct device *d, struct err *e)
{
    return w->pushed_mark < 0 || !d->ops->mark || d->ops->mark(d, w->pushed_mark, e);
}

/* Queue the push, on a branch if there are branches. */
static bool queue_push(const struct product_of *w, struct device *d, const struct halo_push *h, struct err *e)
{
    bool beside = pushes_beside(w->p->dev, d);
    if (beside && !d->ops->branch(d, e)) return false;
    halo_ops_of(d, w->real)->push(d, h);
    bool ok = mark_pushed(w, d, e);
    return (!beside || d->ops->trunk(d, e)) && ok;
}

static bool push(const struct product_of *w, int k, struct err *e)
{
    struct piece *q = &w->p->piece[k];
    struct device *d = w->m->member[k];
    bool peer = by_peers(w);
    int64_t size = (int64_t)type_size(w->real);
    struct halo_push h = {.rank = k,
                          .n = q->sends,
                          .cols = q->cols,
                          .send = q->send,
                          .x = multi_part(w->x, w->L->x, k),
                          .targets = q->targets,
                          .number = number_on(w, k),
                          .ticket = q->ticket};
    if (!multi_select(d, e)) return false;
    if (!q->neighbours) return mark_pushed(w, d, e);
    memcpy(h.first, q->first, sizeof h.first);
    for (int t = 0; t < q->targets; t++) {
        struct piece *to = &w->p->piece[q->target[t]];
        h.to[t] = peer ? (char *)to->in[0] + q->halo_at[t] * size : (char *)q->packed + q->first[t] * size;
        h.odd[t] = peer ? to->halo : 0;
    }
    for (int r = 0; peer && r < w->p->n; r++)
        if (q->neighbours >> r & 1) h.flag[h.flags++] = w->p->piece[r].flag;
    return queue_push(w, d, &h, e);
}

/* The kernel for a member: the one that was asked for, or the member's own if that one does not run there. */
static const struct kernel *kernel_on(const struct product_of *w, const struct device *d)
{
    return kernel_runs_on(w->kernel, d) ? w->kernel : kernel_default(w->kernel->format, NULL, d);
}

static bool no_kernel(const struct format *f, const struct device *d, struct err *e)
{
    return fail(e, E_UNSUPPORTED,
                "no kernel for %s runs on %s; choose another format (`kernels` shows where kernels run)", f->name,
                d->name);
}

static bool local(const struct product_of *w, int k, struct err *e)
{
    struct piece *q = &w->p->piece[k];
    struct device *d = w->m->member[k];
    struct launch L = *w->L;
    if (!multi_select(d, e)) return false;
    L.A = &q->local;
    L.x = multi_part(w->x, w->L->x, k);
    L.y = multi_part(w->y, w->L->y, k);
    L.s = NULL;
    if (q->S.format) {
        const struct kernel *own = kernel_on(w, d);
        if (own) return kernel_launch(own, &L, e);
        return no_kernel(w->kernel->format, d, e);
    }
    if (q->rows) halo_ops_of(d, w->real)->scale(d, q->rows, L.beta, L.y);
    return true;
}

/* Does the launch that multiplies the outer entries of member k also wait for the halo? If its blocks filled a GPU that
   another member uses, that member could not push. */
static bool waits_outside(const struct product_of *w, int k)
{
    const struct piece *q = &w->p->piece[k];
    return w->waits && by_peers(w) && !w->m->shared_gpu && q->out_rows && !q->outer.dev;
}

static bool wait(const struct product_of *w, int k, struct err *e)
{
    struct piece *q = &w->p->piece[k];
    struct device *d = w->m->member[k];
    const struct halo_ops *ops = halo_ops_of(d, w->real);
    int *late = w->m->seat[k].late;
    if (!q->neighbours) return true;
    if (!multi_select(d, e) || (pushes_beside(w->p->dev, d) && !d->ops->join(d, e))) return false;
    struct halo_number number = number_on(w, k);
    if (by_peers(w) && !waits_outside(w, k)) ops->wait(d, q->flag, q->neighbours, number, late);
    emu_scope_kernel(false); /* the check is the emulator's, and is not counted */
    if (d->kind == DEV_EMU && q->halo) ops->check(d, q->halo, q->in[halo_epoch(&number) % 2], late);
    return true;
}

/* y += alpha times the outer entries, if they are a matrix of their own. */
static bool outer_product(const struct product_of *w, int k, struct err *e)
{
    struct piece *q = &w->p->piece[k];
    struct device *d = w->m->member[k];
    const struct format *f = q->outer_S.format;
    const struct kernel *own = w->kernel->format == f ? kernel_on(w, d) : kernel_default(f, NULL, d);
    struct launch L = {.A = &q->outer, .alpha = w->L->alpha, .beta = 1, .x = q->now, .y = multi_part(w->y, w->L->y, k)};
    if (!own) return no_kernel(f, d, e);
    if (!multi_select(d, e)) return false;
    halo_ops_of(d, w->real)->take(d, q->halo, number_on(w, k), q->in[0], q->now);
    return kernel_launch(own, &L, e);
}

static bool outside(const struct product_of *w, int k, struct err *e)
{
    struct piece *q = &w->p->piece[k];
    if (q->outer.dev) return outer_product(w, k, e);
    struct device *d = w->m->member[k];
    struct halo_add h = {.rows = q->out_rows,
                         .nnz = q->out_nnz,
                         .items = q->halo,
                         .y_rows = q->rows,
                         .row = q->row,
                         .ptr = q->ptr,
                         .col = q->col,
                         .val = q->val,
                         .number = number_on(w, k),
                         .neighbours = waits_outside(w, k) ? q->neighbours : 0,
                         .flag = q->flag,
                         .late = w->m->seat[k].late,
                         .halo = q->in[0],
                         .alpha = w->L->alpha,
                         .y = multi_part(w->y, w->L->y, k)};
    if (!q->out_rows) return true;
    if (!multi_select(d, e)) return false;
    halo_ops_of(d, w->real)->add(d, &h);
    return true;
}

/* ---- the order ---- */

typedef bool phase_fn(const struct product_of *w, int k, struct err *e);
static phase_fn *const phases[] = {
    [SPLIT_PUSH] = push, [SPLIT_LOCAL] = local, [SPLIT_WAIT] = wait, [SPLIT_OUTSIDE] = outside};

bool product_phase(const struct product_of *w, enum split_phase phase, int k, struct err *e)
{
    return phases[phase](w, k, e);
}

static bool each(const struct product_of *w, enum split_phase phase, struct err *e)
{
    for (int k = 0; k < w->p->n; k++)
        if (!product_phase(w, phase, k, e)) return false;
    return true;
}

static bool divided_alike(const struct block *b, const int64_t *first, int n)
{
    return b && b->vectors && !memcmp(b->first, first, (size_t)(n + 1) * sizeof *first);
}

bool product_begin(struct product_of *w, const struct kernel *k, const struct launch *L, struct err *e)
{
    struct pieces *p = L->A->pieces;
    *w = (struct product_of){.kernel = k, .L = L, .p = p, .m = multi_of(p->dev), .waits = true, .pushed_mark = -1};
    w->real = precisions[L->A->of->real].vector;
    w->x = multi_block(w->m, L->x);
    w->y = multi_block(w->m, L->y);
    if (!divided_alike(w->x, p->P.first_col, p->n) || !divided_alike(w->y, p->P.first, p->n))
        return fail(e, E_INTERNAL, "%s: the vectors of a product are not divided like the matrix", p->dev->name);
    p->epoch++;
    for (int i = 0; i < p->n; i++) {
        poison(w, i);
        align_count(w, i);
    }
    return true;
}

static bool product(const struct product_of *w, struct err *e)
{
    return each(w, SPLIT_PUSH, e) && multi_halo_move(w->p, (int64_t)type_size(w->real), e) && each(w, SPLIT_LOCAL, e) &&
           each(w, SPLIT_WAIT, e) && each(w, SPLIT_OUTSIDE, e);
}

/* The sums of conjugate gradients, which some kernels compute in the same launch, take a pass of their own here. */
static bool sums(const struct launch *L, enum type type, struct err *e)
{
    struct pass_call c = {
        .d = L->A->dev, .type = type, .n = L->A->of->rows, .s = L->s, VECTORS(L->x, L->y, L->r, L->dinv)};
    return pass_run(&passes_cg, "dots", &c, e);
}

bool multi_launch(const struct kernel *k, const struct launch *L, struct err *e)
{
    struct product_of w;
    if (!product_begin(&w, k, L, e)) return false;
    if (!product(&w, e)) return multi_note_lost(w.p->dev);
    return !L->s || sums(L, w.real, e);
}
