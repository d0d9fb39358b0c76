/* Products in a chain, as a solver queues them: x0 -> v0 -> v1 -> v0 -> ... Product i reads what product i - 1 wrote,
   so no two products of a chain run at the same time, and a graph starts each one without the host. x0 is never
   written: every replay computes the same numbers. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/random.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The emulator runs CHECKED products. The sizes of the vector after GROWTH and after 2 GROWTH products show how fast it
   shrinks. A graph is timed GRAPHS times; beyond LONG_US, the effort is that of single launches. */
enum { CHECKED = 2, GROWTH = 4, GRAPHS = 11 };
static const double LONG_US = 100000;

struct chain {
    const struct kernel *kernel;
    const struct csr *A;
    const struct mat *M;
    int products, next; /* the product that `step` launches next */
    double alpha;
    int64_t n;         /* numbers in a vector: two for each element of a complex one */
    void *x0, *v[2];   /* on the device */
    void *graph;       /* NULL: the products are queued one after another */
    void *narrow;      /* a vector as the device stores it */
    double *from, *to; /* the last two vectors */
    double *ref, *bound;
};

/* With alpha = 1 / ||A||_inf, no element of alpha A x is larger than the largest of x, so nothing overflows, however
   long the chain. Such an alpha must itself be a number of the precision. */
static bool set_alpha(struct chain *c, struct err *e)
{
    bool single = precisions[c->M->of->real].part == T_F32;
    double norm;
    if (!norm_inf(c->A, &norm, e)) return false;
    c->alpha = isfinite(norm) && norm > 0 ? fmin(1 / norm, single ? FLT_MAX : DBL_MAX) : 1;
    if (single) c->alpha = (double)(float)c->alpha;
    return true;
}

static bool chain_new(struct chain *c, struct err *e)
{
    const struct mat *M = c->M;
    int64_t size = (int64_t)type_size(precisions[M->of->real].vector);
    double **host[] = {&c->from, &c->to, &c->ref, &c->bound};
    void **device[] = {&c->x0, &c->v[0], &c->v[1]};
    c->n = type_parts(precisions[M->of->real].vector) * c->A->rows;
    for (int i = 0; i < COUNT(host); i++)
        if (!(*host[i] = mem_new(c->n, sizeof(double), "the check of a chain", e))) return false;
    for (int i = 0; i < COUNT(device); i++)
        if (!(*device[i] = mat_row_vectors(M, 1, size, "a vector of a chain", e))) return false;
    c->narrow = mem_new(c->A->rows, (size_t)size, "a vector to copy", e);
    return c->narrow && set_alpha(c, e);
}

static void chain_free(struct chain *c)
{
    struct device *d = c->M->dev;
    if (c->graph) d->ops->forget(d, c->graph);
    void *device[] = {c->x0, c->v[0], c->v[1]};
    for (int i = 0; i < COUNT(device); i++)
        if (device[i]) d->ops->free(d, device[i]);
    mem_free(c->from);
    mem_free(c->to);
    mem_free(c->ref);
    mem_free(c->bound);
    mem_free(c->narrow);
}

/* ---- vectors ---- */

static struct array narrow_of(const struct chain *c)
{
    return (struct array){.type = precisions[c->M->of->real].part, .n = c->n, .data = c->narrow};
}

static bool put(const struct chain *c, const double *v, void *to, struct err *e)
{
    struct device *d = c->M->dev;
    struct array a = narrow_of(c);
    put_reals(&a, v);
    return loop_unbroken("a chain", e) && d->ops->put(d, to, a.data, a.n * (int64_t)type_size(a.type), e);
}

static bool get(const struct chain *c, const void *from, double *v, struct err *e)
{
    struct device *d = c->M->dev;
    struct array a = narrow_of(c);
    if (!d->ops->get(d, a.data, from, a.n * (int64_t)type_size(a.type), e)) return false;
    for (int64_t i = 0; i < a.n; i++) v[i] = array_real(&a, i);
    return true;
}

/* Write a random x0, and NaN where the products write: a product that did not run is then found. */
static bool fill(const struct chain *c, struct err *e)
{
    random_fill(c->to, c->n, 1);
    for (int64_t i = 0; i < c->n; i++) c->from[i] = NAN;
    return put(c, c->to, c->x0, e) && put(c, c->from, c->v[0], e) && put(c, c->from, c->v[1], e);
}

/* ---- launches ---- */

/* Launch the next product of the chain; after the last one, the chain begins again. */
static bool step(void *ctx, struct err *e)
{
    struct chain *c = ctx;
    int i = c->next;
    struct launch L = {.A = c->M, .alpha = c->alpha, .x = i ? c->v[(i - 1) % 2] : c->x0, .y = c->v[i % 2]};
    c->next = (i + 1) % c->products;
    return kernel_launch(c->kernel, &L, e);
}

/* Launch the products that are left. */
static bool finish(struct chain *c, struct err *e)
{
    while (c->next)
        if (!loop_tick(c->kernel->name, 0, 0, e) || !step(c, e)) return false;
    return true;
}

static bool queue(void *ctx, struct err *e)
{
    struct chain *c = ctx;
    c->next = 0;
    return step(c, e) && finish(c, e);
}

static bool replay(void *ctx, struct err *e)
{
    const struct chain *c = ctx;
    return c->M->dev->ops->replay(c->M->dev, c->graph, e);
}

/* Run n products by single launches, and get the last vector. */
static bool run(struct chain *c, int n, double *last, struct err *e)
{
    c->products = n;
    return fill(c, e) && queue(c, e) && c->M->dev->ops->sync(c->M->dev, e) && get(c, c->v[(n - 1) % 2], last, e);
}

/* 0 if an element is not finite. */
static double largest_finite(const struct chain *c, const double *v)
{
    double most = 0;
    for (int64_t i = 0; i < c->n; i++) most = max_or_nan(most, fabs(v[i]));
    return isfinite(most) ? most : 0;
}

/* The power of 2 by which a product must be scaled so that the vector keeps its size; 1: it becomes 0 or overflows. */
static bool find_factor(struct chain *c, double *v, double *factor, struct err *e)
{
    double size[2];
    for (int i = 0; i < COUNT(size); i++) {
        if (!run(c, (i + 1) * GROWTH, v, e)) return false;
        size[i] = largest_finite(c, v);
    }
    *factor = size[0] > 0 && size[1] > 0 ? exp2(round(log2(size[0] / size[1]) / GROWTH)) : 1;
    return true;
}

/* Run the chain by single launches; `once` receives its last vector. This also prepares what must not be prepared while
   a graph is recorded. ||A||_inf may be far above all eigenvalues: then the vector would become 0, so alpha is raised,
   unless the vector then overflows. */
static bool run_once(struct chain *c, double *once, struct err *e)
{
    double safe = c->alpha, factor;
    if (!find_factor(c, once, &factor, e)) return false;
    c->alpha = factor * safe;
    if (!run(c, CHAIN_PRODUCTS, once, e)) return false;
    if (factor == 1 || largest_finite(c, once) > 0) return true;
    c->alpha = safe;
    return run(c, CHAIN_PRODUCTS, once, e);
}

/* ---- checks ---- */

/* Is v, on the device, what the kernel must make of x? c->from and c->to receive both. */
static bool is_product(const struct chain *c, const void *x, const void *v, struct err *e)
{
    if (!get(c, x, c->from, e) || !get(c, v, c->to, e) ||
        !reference_product(c->A, c->alpha, c->from, 0, c->ref, c->M->of->real, c->bound, e))
        return false;
    struct verdict r = verdict_of(c->n, c->to, c->ref, c->bound);
    return r.ok || fail(e, E_NUMERIC, "%s on %s is wrong in a chain of %d products, by %.3g times the error bound",
                        c->kernel->name, c->M->dev->name, c->products, r.worst);
}

/* The last vector of the chain, which is in c->to, must have the bits of `once` if the kernel gives the same in every
   run. */
static bool repeats(const struct chain *c, const double *once, struct err *e)
{
    return !c->kernel->deterministic || !memcmp(c->to, once, (size_t)c->n * sizeof *once) ||
           fail(e, E_NUMERIC, "%s on %s gives other bits in a %s of %d products than in single launches",
                c->kernel->name, c->M->dev->name, c->graph ? "graph" : "chain", c->products);
}

/* ---- timing ---- */

static bool record(struct chain *c, struct err *e)
{
    struct device *d = c->M->dev;
    if (!d->ops->capture) return true;
    c->graph = d->ops->capture(d, queue, c);
    return c->graph || fail(e, E_UNSUPPORTED, "its launches on %s cannot be recorded as a graph", d->name);
}

/* Time graphs; without a graph, time the products one by one, so that other programs of a busy host disturb few of the
   times. alone_us: the time of one product. *us receives the same for a product of the chain. */
static bool time_chain(struct chain *c, double best_us, double alone_us, int reps, struct watch *w, double *us,
                       struct err *e)
{
    int each = c->graph ? c->products : 1; /* products of a launch */
    struct timed t = {c->M->dev, c->kernel->name, c->graph ? replay : step, c, each * alone_us, each * best_us};
    double spread;
    if (!reps && c->graph && each * alone_us < LONG_US) reps = GRAPHS;
    if (!bench_times(&t, &reps, w, us, &spread, e)) return false;
    *us /= each;
    return finish(c, e);
}

static bool measure(struct chain *c, double best_us, double alone_us, int reps, struct watch *w, double *us,
                    struct err *e)
{
    double *once = mem_new(c->n, sizeof *once, "the result of a chain", e);
    bool ok = once && run_once(c, once, e) && fill(c, e) && record(c, e) &&
              time_chain(c, best_us, alone_us, reps, w, us, e) && is_product(c, c->v[0], c->v[1], e) &&
              repeats(c, once, e);
    mem_free(once);
    return ok;
}

/* The emulator has no clock: check each product of a short chain. */
static bool check_only(struct chain *c, double *us, struct err *e)
{
    *us = NAN;
    return run(c, CHECKED, c->to, e) && is_product(c, c->x0, c->v[0], e) && is_product(c, c->v[0], c->v[1], e);
}

bool bench_chain(const struct bench_shared *b, const struct kernel *k, const struct csr *A, const struct mat *M,
                 double alone_us, int reps, struct watch *w, double *us, double *y, struct err *e)
{
    struct chain c = {.kernel = k, .A = A, .M = M};
    if (k->remote) return fail(e, E_UNSUPPORTED, "it runs in another process, which launches one product at a time");
    if (A->source) return fail(e, E_UNSUPPORTED, "a chain needs all rows of the matrix at the same time");
    if (A->rows != A->cols)
        return fail(e, E_UNSUPPORTED, "a chain needs a square matrix, and this one is %lld x %lld", (long long)A->rows,
                    (long long)A->cols);
    bool ok = chain_new(&c, e) && (M->dev->kind == DEV_EMU ? check_only(&c, us, e)
                                                           : measure(&c, b ? b->best_us : 0, alone_us, reps, w, us, e));
    if (ok && y) ok = loop_copy(y, c.to, c.n * (int64_t)sizeof *y, "copying y", e);
    chain_free(&c);
    return ok;
}
