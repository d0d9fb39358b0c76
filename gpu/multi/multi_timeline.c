/* What each member of a device does in a product and in the inner product that follows it: times by events on GPUs,
   counted sectors on the emulator. */
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "gpu/emu/emu.h"
#include "gpu/emu/scope.h"
#include "machine/microscope.h"
#include "machine/vec_ops.h"
#include "multi.h"
#include "phases.h"

#include <math.h>
#include <string.h>

static const char *const names[SPLIT_PHASES] = {"push", "local", "wait", "outside", "sums"};

const char *split_phase_name(enum split_phase p)
{
    return names[p];
}

/* x, y and the scalars of a product and an inner product. */
struct work {
    struct launch L;
    const struct kernel *kernel;
    struct device *d;
    struct multi *m;
    double *s;
    void *x, *y;
    enum type type; /* of the vectors */
    struct watch *watch;
    double queued_at[MEMBERS_MAX]; /* us, the host's clock at a member's first event */
};

static void work_free(struct work *w)
{
    void *const own[] = {w->s, w->x, w->y};
    for (int i = 0; i < COUNT(own); i++)
        if (own[i]) w->d->ops->free(w->d, own[i]);
}

/* x and y become 0; times and sectors do not depend on the values. */
static bool work_new(struct work *w, const struct mat *M, const struct kernel *k, struct err *e)
{
    double scalars[SCALARS] = {[S_ONE] = 1};
    enum type type = precisions[M->of->real].vector;
    int64_t size = (int64_t)type_size(type), parts = type_parts(type);
    *w = (struct work){.kernel = k, .d = M->dev, .m = multi_of(M->dev), .type = type};
    w->s = w->d->ops->alloc(w->d, VEC_WORK * (int64_t)sizeof *w->s, "the scalars of a timeline", e);
    w->x = w->s ? mat_col_vectors(M, 1, size, "the vector x", e) : NULL;
    w->y = w->x ? mat_row_vectors(M, 1, size, "the vector y", e) : NULL;
    w->L = (struct launch){.A = M, .alpha = 1, .x = w->x, .y = w->y};
    if (!w->y || !w->d->ops->put(w->d, w->s, scalars, sizeof scalars, e)) return false;
    vec_ops_of(w->d, type_of_parts(type))->zero(w->d, parts * M->of->cols, w->x);
    return true;
}

/* ---- one phase of one member ---- */

/* Waiting is a launch of its own, so that it can be timed. */
static bool begin(const struct work *w, struct product_of *p, struct err *e)
{
    if (!product_begin(p, w->kernel, &w->L, e)) return false;
    p->waits = false;
    p->pushed_mark = SPLIT_PUSH + 1;
    return true;
}

static bool phase(struct work *w, struct product_of *p, enum split_phase phase, int k, struct err *e)
{
    if (phase < SPLIT_SUMS) return product_phase(p, phase, k, e);
    const struct block *y = multi_block(w->m, w->y);
    struct device *d = w->m->member[k];
    int64_t n = (y->first[k + 1] - y->first[k]) * type_parts(w->type);
    const void *of = multi_part(y, w->y, k);
    if (!multi_select(d, e)) return false;
    vec_ops_host_sums(d, type_of_parts(w->type))->dot(d, n, multi_part(multi_block(w->m, w->s), w->s, k), of, of, S_RR);
    return true;
}

/* Stages of a phase: the sums are sent, then added. */
static int stages_of(enum split_phase p)
{
    return p == SPLIT_SUMS ? 2 : 1;
}

typedef bool visit_fn(struct work *w, struct product_of *p, enum split_phase phase, int k, int stage,
                      struct timeline *out, struct err *e);

/* Visit every phase of every member, in the order of a product. */
static bool each(struct work *w, struct product_of *p, struct timeline *out, visit_fn *visit, struct err *e)
{
    bool ok = true;
    for (enum split_phase f = 0; ok && f < SPLIT_PHASES; f++) {
        for (int stage = 0; ok && stage < stages_of(f); stage++) {
            if (f == SPLIT_SUMS) multi_sit(w->d, stage);
            for (int k = 0; ok && k < w->m->n; k++) ok = visit(w, p, f, k, stage, out, e);
            if (f == SPLIT_SUMS && stage == 0) ok = ok && multi_sums_move(w->d, w->m->epoch + 1, e);
            if (f == SPLIT_SUMS) multi_stand(w->d);
        }
        if (f == SPLIT_PUSH) ok = ok && multi_halo_move(p->p, (int64_t)type_size(w->type), e);
    }
    w->m->epoch++;
    return ok;
}

/* ---- GPUs: events ---- */

static bool visit_timed(struct work *w, struct product_of *p, enum split_phase f, int k, int stage,
                        struct timeline *out, struct err *e)
{
    struct device *d = w->m->member[k];
    bool first = f == 0 && stage == 0, last = stage == stages_of(f) - 1;
    if (first && d->ops->mark && !d->ops->mark(d, 0, e)) return false;
    if (first) w->queued_at[k] = now_us();
    if (!phase(w, p, f, k, e)) return false;
    return !last || f == SPLIT_PUSH || !d->ops->mark || d->ops->mark(d, (int)f + 1, e);
}

static void take_times(const struct work *w, struct timeline *out)
{
    double end = 0;
    for (int k = 0; k < w->m->n; k++)
        for (int f = 0; f < SPLIT_PHASES; f++) {
            struct device *d = w->m->member[k];
            struct timeline_cell *c = &out->cell[k][f];
            double begin = w->queued_at[k] - w->queued_at[0];
            int from = f == SPLIT_LOCAL && pushes_beside(w->d, d) ? 0 : f;
            c->from = d->ops->between ? begin + d->ops->between(d, 0, from) : NAN;
            c->to = d->ops->between ? begin + d->ops->between(d, 0, f + 1) : NAN;
            c->sectors = NAN;
            end = fmax(end, c->to);
        }
    out->us = end;
}

enum { WARM_UPS = 3 };

static bool time_all(struct work *w, struct timeline *out, struct err *e)
{
    for (int i = 0; i <= WARM_UPS; i++) {
        struct product_of p;
        if (!w->d->ops->sync(w->d, e) || !begin(w, &p, e)) return false;
        if (!each(w, &p, out, visit_timed, e)) return false;
    }
    if (!w->d->ops->sync(w->d, e)) return false;
    take_times(w, out);
    return out->timed = true;
}

/* ---- the emulator: sectors ---- */

struct visit {
    struct work *w;
    struct product_of *p;
    enum split_phase phase;
    int k;
};

static bool queue(const struct watched *of, struct err *e)
{
    const struct visit *v = of->user;
    emu_scope_kernel(true);
    bool ok = phase(v->w, v->p, v->phase, v->k, e);
    emu_scope_kernel(false);
    return ok;
}

static bool visit_counted(struct work *w, struct product_of *p, enum split_phase f, int k, int stage,
                          struct timeline *out, struct err *e)
{
    struct timeline_cell *c = &out->cell[k][f];
    struct visit v = {w, p, f, k};
    struct err why = {0};
    struct counts *counts = mem_zero(1, sizeof *counts, "the counts of a phase", e);
    struct watched of = {
        .name = names[f], .dev = w->m->member[k], .rows = w->L.A->of->rows, .queue = queue, .user = &v};
    static const enum access_kind kinds[] = {ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC, ACCESS_TEXTURE};
    if (!counts) return false;
    if (stage == 0) *c = (struct timeline_cell){NAN, NAN, 0};
    bool ok = count_launches(&of, 0, NULL, w->watch, counts, &why);
    for (int i = 0; ok && i < COUNT(kinds); i++) c->sectors += (double)counts_of(counts, kinds[i], -1, -1).sectors;
    if (why.code == E_LIMIT) c->sectors = NAN; /* more neighbours than the microscope has arrays for */
    mem_free(counts);
    return ok || why.code == E_LIMIT || fail_at(e, why.code, why.where, "%s", why.text);
}

static bool count_all(struct work *w, struct timeline *out, struct err *e)
{
    struct product_of p;
    out->us = NAN;
    /* the first product prepares what the kernel keeps with the matrix, which is not counted */
    return kernel_launch(w->kernel, &w->L, e) && begin(w, &p, e) && each(w, &p, out, visit_counted, e) &&
           w->d->ops->sync(w->d, e);
}

bool timeline_of(const struct mat *M, const struct kernel *k, struct timeline *out, struct watch *watch, struct err *e)
{
    struct work w;
    *out = (struct timeline){.dev = M->dev, .kernel = k, .real = M->of->real};
    if (!M->dev->members)
        return fail(e, E_USAGE, "%s is one device: a timeline needs several, such as emu*2 or cuda:0+1", M->dev->name);
    out->members = mat_split(M, out->member);
    out->transport = transport_of(M->dev);
    bool ok = work_new(&w, M, k, e);
    w.watch = watch;
    ok = ok && (M->dev->kind == DEV_EMU ? count_all : time_all)(&w, out, e);
    if (w.d) work_free(&w);
    return ok;
}
