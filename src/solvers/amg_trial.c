/* One cycle of multigrid on the host, with the norm of the residual on each level before and after each part. */
#include "amg.h"
#include "base/loop.h"
#include "base/mem.h"
#include "matrix/random.h"

#include <math.h>

static const char what[] = "one cycle of multigrid";

struct trial {
    const struct amg *g;
    struct amg_trial *norms;
    struct err *e;
};

/* The vectors of a level: r is the residual of x, and z the last change of x. */
struct vectors {
    int64_t n;
    double *r, *z, *x, size;
};

static double relative(const struct vectors *u)
{
    return u->size > 0 ? sqrt(amg_dot(u->n, u->r, u->r, NULL)) / u->size : 0;
}

static bool smooth(const struct amg_level *l, struct vectors *u, struct err *e)
{
    for (int k = 1; k <= AMG_DEGREE; k++) {
        double a = k > 1 ? amg_weight_of_z(k) : 0, c = amg_weight_of_r(k, l->bound);
        struct loop pass = loop_of(what, u->n);
        for (int64_t i = 0; i < u->n && loop_goes(&pass, i); i++) {
            u->z[i] = (k > 1 ? a * u->z[i] : 0) + c * l->dinv[i] * u->r[i];
            u->x[i] += u->z[i];
        }
        if (!loop_end(&pass, e) || !amg_multiply(l->A, -1, u->z, 1, u->r, e)) return false;
    }
    return true;
}

static void invert(const struct amg *g, struct vectors *u)
{
    for (int64_t i = 0; i < u->n; i++) u->x[i] = g->sign * amg_dot(u->n, g->inverse + i * u->n, u->r, NULL);
}

static bool cycle(struct trial *t, int k, const double *b, double *x);

/* x += P y, where y is the correction from the next level */
static bool correct(struct trial *t, int k, struct vectors *u)
{
    const struct amg_level *l = &t->g->level[k];
    int64_t m = l->P.cols;
    double *coarse = mem_new(2 * m, sizeof *coarse, "a coarse residual", t->e), *y = coarse + m;
    bool ok = coarse && amg_multiply(&l->R, 1, u->r, 0, coarse, t->e) && cycle(t, k + 1, coarse, y) &&
              amg_multiply(&l->P, 1, y, 0, u->z, t->e);
    struct loop pass = loop_of(what, u->n);
    for (int64_t i = 0; ok && i < u->n && loop_goes(&pass, i); i++) u->x[i] += u->z[i];
    mem_free(coarse);
    return ok && loop_end(&pass, t->e) && amg_multiply(l->A, -1, u->z, 1, u->r, t->e);
}

static bool visit(struct trial *t, int k, struct vectors *u)
{
    const struct amg_level *l = &t->g->level[k];
    struct amg_trial *norms = &t->norms[k];
    bool last = k == t->g->n - 1;
    if (last && t->g->inverse) {
        invert(t->g, u);
        if (!amg_multiply(l->A, -1, u->x, 1, u->r, t->e)) return false;
    } else {
        if (!smooth(l, u, t->e)) return false;
        norms->smoothed = relative(u);
        if (!last && !correct(t, k, u)) return false;
        norms->corrected = relative(u);
        if (!last && !smooth(l, u, t->e)) return false;
    }
    norms->after = relative(u);
    return loop_unbroken(what, t->e);
}

/* x = the result of a cycle for A x = b that begins on level k */
static bool cycle(struct trial *t, int k, const double *b, double *x)
{
    struct vectors u = {.n = t->g->level[k].A->rows, .x = x};
    u.r = mem_new(2 * u.n, sizeof *u.r, "vectors of multigrid", t->e);
    if (!u.r) return false;
    u.z = u.r + u.n;
    u.size = sqrt(amg_dot(u.n, b, b, NULL));
    int64_t bytes = u.n * (int64_t)sizeof *b;
    bool ok = loop_copy(u.r, b, bytes, what, t->e) && loop_zero(x, bytes, what, t->e) && visit(t, k, &u);
    mem_free(u.r);
    return ok;
}

bool amg_try(const struct amg *g, struct amg_trial norms[AMG_LEVELS], struct err *e)
{
    struct trial t = {g, norms, e};
    int64_t n = g->level[0].A->rows;
    double *b = mem_new(2 * n, sizeof *b, "vectors of multigrid", e);
    for (int k = 0; k < AMG_LEVELS; k++) norms[k] = (struct amg_trial){NAN, NAN, NAN};
    if (b) random_fill(b, n, 1);
    bool ok = b && cycle(&t, 0, b, b + n);
    mem_free(b);
    return ok;
}
