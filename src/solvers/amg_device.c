/* The levels of multigrid on a device: the host queues the launches, and reads back only the sizes. */
#include "amg_device.h"
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "formats/fmt_csr.h"
#include "machine/device.h"
#include "machine/symmetrize.h"
#include "machine/tools.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "ritz.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- memory ---- */

static void *take(struct amg_memory *m, int64_t bytes, struct err *e)
{
    int64_t need = (bytes + 255) / 256 * 256 + 256;
    if (!m->n || m->used + need > m->size[m->n - 1]) {
        int64_t last = m->n ? m->size[m->n - 1] : 1 << 16, size = need > last ? need : last;
        if (m->n == AMG_CHUNKS) return fail(e, E_INTERNAL, "multigrid needs too many pieces of memory"), NULL;
        if (!(m->chunk[m->n] = m->dev->ops->alloc(m->dev, size, "multigrid", e))) return NULL;
        m->size[m->n++] = size;
        m->bytes += size;
        m->used = 0;
    }
    void *p = (char *)m->chunk[m->n - 1] + m->used;
    m->used += need;
    return p;
}

/* A first chunk of this size. */
static bool reserve(struct amg_memory *m, struct device *d, int64_t bytes, struct err *e)
{
    *m = (struct amg_memory){.dev = d};
    m->chunk[0] = d->ops->alloc(d, bytes, "multigrid", e);
    if (!m->chunk[0]) return false;
    m->n = 1;
    m->size[0] = m->bytes = bytes;
    return true;
}

/* Everything that was handed out may be overwritten; only the first chunk stays. */
static void rewind_memory(struct amg_memory *m)
{
    while (m->n > 1) {
        m->dev->ops->free(m->dev, m->chunk[--m->n]);
        m->bytes -= m->size[m->n];
    }
    m->used = 0;
}

static void release(struct amg_memory *m)
{
    for (int k = 0; k < m->n; k++) m->dev->ops->free(m->dev, m->chunk[k]);
    *m = (struct amg_memory){0};
}

/* ---- a level in progress ---- */

struct build {
    struct amg_device *g;
    struct device *dev;
    const struct amg_setup_ops *ops;
    const struct tools *tools;
    struct amg_facts *facts; /* on the device */
    struct amg_facts seen;   /* as last read */
    unsigned char *strong;
    int *of, *weight, *coarse_weight; /* weight NULL: ones */
    int64_t *at;                      /* counts, then their prefix sums */
    void *temp;
    int64_t temp_bytes;
    bool full; /* a row is too long for the kernels */
    struct err *e;
};

static size_t value_size(const struct build *b)
{
    return type_size(b->g->real);
}

static bool clear_facts(struct build *b)
{
    struct amg_facts none = {0};
    return b->dev->ops->put(b->dev, b->facts, &none, sizeof none, b->e);
}

static bool read_facts(struct build *b)
{
    return loop_tick("multigrid", 0, 0, b->e) && b->dev->ops->sync(b->dev, b->e) &&
           b->dev->ops->get(b->dev, &b->seen, b->facts, sizeof b->seen, b->e);
}

/* Replace the counts of n rows by their prefix sums; *total receives the sum. */
static bool add_up(struct build *b, int64_t n, int64_t *total)
{
    return b->tools->exclusive_scan(b->dev, b->at, n + 1, b->temp, b->temp_bytes, b->e) &&
           b->dev->ops->sync(b->dev, b->e) && b->dev->ops->get(b->dev, total, b->at + n, sizeof *total, b->e);
}

static bool new_matrix(struct build *b, struct amg_memory *m, int64_t rows, int64_t cols, int64_t nnz,
                       struct amg_csr *A)
{
    *A = (struct amg_csr){.rows = rows, .cols = cols, .nnz = nnz};
    if (nnz > INT_MAX) return fail(b->e, E_LIMIT, "a matrix of multigrid would have more than 2^31-1 entries");
    A->ptr = take(m, 4 * (rows + 1), b->e);
    A->col = A->ptr ? take(m, 4 * nnz, b->e) : NULL;
    A->val = A->col ? take(m, nnz * (int64_t)value_size(b), b->e) : NULL;
    return A->val != NULL;
}

/* ---- the diagonal and the bound ---- */

/* If the diagonal is not as it must be, the host makes the levels, and names the row at fault. */
static double check_diagonal(struct build *b)
{
    double most;
    b->full = b->seen.missing || (b->seen.negative && b->seen.positive);
    b->g->sign = b->seen.negative ? -1 : 1;
    memcpy(&most, &b->seen.most, sizeof most);
    return most;
}

enum { STEPS = 10 };

/* The vectors and scalars of conjugate gradients, in the work memory. */
struct krylov {
    int64_t n;
    double *s;
    void *r, *z, *p, *q;
};

static bool put_random(struct build *b, struct krylov *c)
{
    uint64_t seed = 1;
    double s[VEC_WORK] = {[S_ONE] = 1}, *r = mem_new(c->n, sizeof *r, "vectors for multigrid", b->e);
    void *room = r; /* for values of the type of the solve */
    float *f = room;
    for (int64_t i = 0; r && i < c->n; i++)
        if (b->g->real == T_F64)
            r[i] = random_unit(&seed);
        else
            f[i] = (float)random_unit(&seed);
    bool ok = r && b->dev->ops->put(b->dev, c->r, r, c->n * (int64_t)value_size(b), b->e) &&
              b->dev->ops->put(b->dev, c->s, s, sizeof s, b->e);
    mem_free(r);
    return ok;
}

/* One step of conjugate gradients for A, preconditioned by D; the host reads alpha and beta. */
static bool krylov_step(struct build *b, const struct amg_device_level *l, const struct krylov *c, double *alpha,
                        double *beta)
{
    const struct vec_ops *vec = vec_ops_of(b->dev, b->g->real);
    double s[S_RHO_NEXT + 1];
    if (!amg_factor_multiply(&l->on_A, 1, c->p, 0, c->q, b->e)) return false;
    vec->dot(b->dev, c->n, c->s, c->p, c->q, S_PQ);
    vec->div(b->dev, c->s, S_ALPHA, S_RHO, S_PQ);
    vec->axpy(b->dev, c->n, c->s, S_ALPHA, -1, c->q, c->r);
    vec->mul(b->dev, c->n, c->s, l->dinv, c->r, c->z);
    vec->dot(b->dev, c->n, c->s, c->r, c->z, S_RHO_NEXT);
    vec->div(b->dev, c->s, S_BETA, S_RHO_NEXT, S_RHO);
    vec->xpby(b->dev, c->n, c->s, c->z, S_BETA, c->p);
    vec->div(b->dev, c->s, S_RHO, S_RHO_NEXT, S_ONE);
    if (!b->dev->ops->sync(b->dev, b->e) || !b->dev->ops->get(b->dev, s, c->s, sizeof s, b->e)) return false;
    *alpha = s[S_ALPHA];
    *beta = s[S_BETA];
    return loop_tick("multigrid", 0, 0, b->e);
}

static bool begin_krylov(struct build *b, const struct amg_device_level *l, struct krylov *c)
{
    const struct vec_ops *vec = vec_ops_of(b->dev, b->g->real);
    void **const vectors[] = {&c->r, &c->z, &c->p, &c->q};
    c->n = l->A.rows;
    if (!(c->s = take(&b->g->work, VEC_WORK * (int64_t)sizeof *c->s, b->e))) return false;
    for (int i = 0; i < COUNT(vectors); i++)
        if (!(*vectors[i] = take(&b->g->work, c->n * (int64_t)value_size(b), b->e))) return false;
    if (!put_random(b, c)) return false;
    vec->mul(b->dev, c->n, c->s, l->dinv, c->r, c->z);
    vec->copy(b->dev, c->n, c->z, c->p);
    vec->dot(b->dev, c->n, c->s, c->r, c->z, S_RHO);
    return true;
}

/* As amg_bound. A bound of 2, which holds for a diagonally dominant matrix, needs no Ritz values. */
static bool find_bound(struct build *b, struct amg_device_level *l, double most)
{
    double alpha[STEPS], beta[STEPS];
    struct krylov c;
    struct ritz r = {0};
    l->bound = most;
    if (most <= amg_dominant) return true;
    if (!begin_krylov(b, l, &c)) return false;
    for (int k = 0; k < STEPS; k++)
        if (!krylov_step(b, l, &c, &alpha[k], &beta[k])) return false;
    ritz_grow(&r, alpha, beta, STEPS, 0);
    if (r.rows) l->bound = fmin(most, amg_margin * r.high);
    return true;
}

static bool begin_level(struct build *b)
{
    struct amg_device_level *l = &b->g->level[b->g->n];
    l->dinv = take(&b->g->kept, l->A.rows * (int64_t)value_size(b), b->e);
    if (!l->dinv || !clear_facts(b)) return false;
    b->ops->diagonal(b->dev, &l->A, l->dinv, b->facts);
    if (!read_facts(b)) return false;
    double most = check_diagonal(b);
    b->g->n++;
    return b->full || find_bound(b, l, most);
}

/* ---- aggregates ---- */

static bool choose_roots(struct build *b, const struct amg_csr *A, uint64_t *mark, uint64_t *once, uint64_t *twice)
{
    b->ops->begin(b->dev, A->rows, mark);
    do {
        if (!clear_facts(b)) return false;
        b->ops->spread(b->dev, A, b->strong, mark, once);
        b->ops->spread(b->dev, A, b->strong, once, twice);
        b->ops->decide(b->dev, A->rows, mark, twice, b->facts);
        if (!read_facts(b)) return false;
    } while (b->seen.open);
    return true;
}

static bool aggregate(struct build *b, const struct amg_device_level *l, double theta, int64_t *aggregates)
{
    const struct amg_csr *A = &l->A;
    struct amg_memory *m = &b->g->work;
    uint64_t *mark = take(m, 8 * A->rows, b->e), *once = mark ? take(m, 8 * A->rows, b->e) : NULL;
    uint64_t *twice = once ? take(m, 8 * A->rows, b->e) : NULL;
    int *near = twice ? take(m, 4 * A->rows, b->e) : NULL;
    if (!near || !(b->strong = take(m, A->nnz, b->e)) || !(b->of = take(m, 4 * A->rows, b->e)) ||
        !(b->at = take(m, 8 * (A->rows + 1), b->e)))
        return false;
    b->temp_bytes = b->tools->bytes(b->dev, 1, A->rows + 1, b->e);
    if (b->temp_bytes < 0 || !(b->temp = take(m, b->temp_bytes, b->e))) return false;
    b->ops->strong(b->dev, A, l->dinv, theta, b->strong);
    if (!choose_roots(b, A, mark, once, twice)) return false;
    b->ops->roots(b->dev, A, b->strong, mark, b->at);
    if (!add_up(b, A->rows, aggregates)) return false;
    b->ops->number(b->dev, A->rows, b->at, b->of);
    b->ops->join(b->dev, A, b->strong, l->dinv, b->of, near);
    b->ops->join(b->dev, A, b->strong, l->dinv, near, b->of);
    return true;
}

/* ---- matrices ---- */

/* After the counts of the rows of C are queued: allocate C. */
static bool count_rows(struct build *b, struct amg_memory *m, struct amg_csr *C)
{
    int64_t nnz;
    if (!read_facts(b)) return false;
    b->full = b->seen.full;
    if (b->full) return true;
    if (!add_up(b, C->rows, &nnz) || !new_matrix(b, m, C->rows, C->cols, nnz, C)) return false;
    b->ops->pointers(b->dev, C->rows, b->at, C->ptr);
    return true;
}

static bool prolong(struct build *b, struct amg_device_level *l, int64_t aggregates)
{
    double omega = amg_damping / l->bound;
    l->P = (struct amg_csr){.rows = l->A.rows, .cols = aggregates};
    b->coarse_weight = take(&b->g->kept, 4 * aggregates, b->e);
    int *zero = mem_zero(aggregates, sizeof *zero, "weights", b->e);
    bool ok = b->coarse_weight && zero && b->dev->ops->put(b->dev, b->coarse_weight, zero, 4 * aggregates, b->e) &&
              clear_facts(b);
    mem_free(zero);
    if (!ok) return false;
    b->ops->weigh(b->dev, l->A.rows, aggregates, b->of, b->weight, b->coarse_weight);
    b->ops->prolong(b->dev, &l->A, b->strong, b->of, b->weight, b->coarse_weight, omega, b->at, &l->P, b->facts);
    if (!count_rows(b, &b->g->kept, &l->P)) return false;
    if (b->full) return true;
    b->ops->prolong(b->dev, &l->A, b->strong, b->of, b->weight, b->coarse_weight, omega, b->at, &l->P, b->facts);
    return true;
}

static bool transpose(struct build *b, struct amg_device_level *l)
{
    const struct amg_csr *P = &l->P;
    struct pairs pairs = {.n = P->nnz};
    struct amg_memory *m = &b->g->work;
    struct sym of = {.o = {.dev = b->dev}};
    int k = 0;
    int64_t bytes = b->tools->bytes(b->dev, P->nnz, 1, b->e);
    void *temp = bytes < 0 ? NULL : take(m, bytes, b->e);
    for (int i = 0; i < 2; i++)
        if (!temp || !(pairs.key[i] = take(m, 8 * P->nnz, b->e)) || !(pairs.payload[i] = take(m, 8 * P->nnz, b->e)))
            return false;
    if (!new_matrix(b, &b->g->kept, P->cols, P->rows, P->nnz, &l->R)) return false;
    b->ops->keys(b->dev, P, pairs.key[0], pairs.payload[0]);
    if (!b->tools->sort(b->dev, &pairs, 32, 32 + bits_of(P->cols), &k, temp, bytes, b->e)) return false;
    sym_ops_of(b->dev)->unpack(&of, pairs.key[k], P->nnz, P->cols, l->R.ptr, l->R.col);
    b->ops->values(b->dev, P->nnz, pairs.payload[k], l->R.val);
    return true;
}

/* C = A B; if the short tables are too small, with the long ones. */
static bool multiply(struct build *b, struct amg_memory *m, const struct amg_csr *A, const struct amg_csr *B,
                     struct amg_csr *C)
{
    *C = (struct amg_csr){.rows = A->rows, .cols = B->cols};
    for (int wide = 0; wide < 2; wide++) {
        if (!clear_facts(b)) return false;
        b->ops->multiply(b->dev, A, B, wide, b->at, C, b->facts);
        if (!count_rows(b, m, C)) return false;
        if (b->full) continue;
        b->ops->multiply(b->dev, A, B, wide, b->at, C, b->facts);
        return true;
    }
    return true;
}

/* The level after l. Stops with b->full set if the host must make it. */
static bool galerkin(struct build *b, struct amg_device_level *l, struct amg_device_level *next)
{
    struct amg_csr AP;
    if (!transpose(b, l) || !multiply(b, &b->g->work, &l->A, &l->P, &AP)) return false;
    if (b->full) return true;
    if (!multiply(b, &b->g->kept, &l->R, &AP, &next->A)) return false;
    if (b->full) return true;
    b->ops->mirror(b->dev, &next->A);
    return amg_factor_lend(&l->on_P, b->dev, b->g->real, &l->P, b->e) &&
           amg_factor_lend(&l->on_R, b->dev, b->g->real, &l->R, b->e) &&
           amg_factor_lend(&next->on_A, b->dev, b->g->real, &next->A, b->e);
}

static bool coarsen(struct build *b, bool *deeper)
{
    struct amg_device_level *l = &b->g->level[b->g->n - 1];
    int64_t aggregates;
    *deeper = false;
    rewind_memory(&b->g->work);
    if (!aggregate(b, l, amg_threshold(b->g->n - 1), &aggregates)) return false;
    if (!amg_worthwhile(aggregates, l->A.rows)) return true;
    if (!prolong(b, l, aggregates)) return false;
    if (b->full) return true;
    if (!galerkin(b, l, l + 1)) return false;
    if (b->full) return true;
    *deeper = true;
    b->weight = b->coarse_weight;
    return begin_level(b);
}

/* ---- the coarsest level ---- */

static bool get_matrix(struct build *b, const struct amg_csr *A, struct csr *out)
{
    const struct device_ops *ops = b->dev->ops;
    if (!csr_new(out, A->rows, A->cols, A->nnz, false, b->e)) return false;
    float *f = b->g->real == T_F32 ? mem_new(A->nnz, sizeof *f, "values", b->e) : NULL;
    bool ok = (b->g->real == T_F64 || f) && ops->get(b->dev, out->rowptr, A->ptr, 4 * (A->rows + 1), b->e) &&
              ops->get(b->dev, out->col, A->col, 4 * A->nnz, b->e) &&
              ops->get(b->dev, f ? (void *)f : (void *)out->val, A->val, A->nnz * (int64_t)value_size(b), b->e);
    for (int64_t k = 0; ok && f && k < A->nnz; k++) out->val[k] = (double)f[k];
    mem_free(f);
    if (!ok) csr_free(out);
    return ok;
}

static bool invert(struct build *b)
{
    struct amg_device *g = b->g;
    const struct amg_csr *A = &g->level[g->n - 1].A;
    struct csr last;
    if (A->rows > amg_inverted_rows()) return true;
    if (!get_matrix(b, A, &last)) return false;
    bool ok = amg_invert(&last, g->sign, &g->inverse, &g->dropped, b->e);
    csr_free(&last);
    return ok;
}

static bool make_levels(struct build *b)
{
    bool deeper = true;
    b->facts = take(&b->g->kept, sizeof *b->facts, b->e);
    if (!b->facts || !begin_level(b)) return false;
    while (deeper && !b->full && b->g->n < AMG_LEVELS && b->g->level[b->g->n - 1].A.rows > amg_inverted_rows())
        if (!coarsen(b, &deeper)) return false;
    return b->full || invert(b);
}

bool amg_device_has(const struct device *d, enum type real)
{
    return amg_setup_ops_of(d, real) && tools_of(d) && sym_ops_of(d);
}

bool amg_device_make(struct amg_device *g, struct device *d, const struct amg_factor *A, bool *made, struct err *e)
{
    const struct stored *S = A->mat->of;
    *g = (struct amg_device){.real = S->real};
    struct build b = {.g = g, .dev = d, .ops = amg_setup_ops_of(d, S->real), .tools = tools_of(d), .e = e};
    g->level[0].A =
        (struct amg_csr){S->rows, S->cols, S->nnz, A->mat->ptr[CSR_PTR], A->mat->ptr[CSR_COL], A->mat->ptr[CSR_VAL]};
    g->level[0].on_A.mat = A->mat;
    g->level[0].on_A.kernel = A->kernel;
    /* enough for most matrices of diffusion problems */
    bool ok = reserve(&g->kept, d, 24 * S->nnz + 32 * S->rows, e) &&
              reserve(&g->work, d, 48 * S->nnz + 64 * S->rows + (1 << 16), e) && make_levels(&b);
    release(&g->work);
    *made = ok && !b.full;
    if (!*made) amg_device_free(g);
    return ok;
}

void amg_device_free(struct amg_device *g)
{
    for (int k = 0; k < AMG_LEVELS; k++) {
        if (k > 0) amg_factor_free(&g->level[k].on_A);
        amg_factor_free(&g->level[k].on_P);
        amg_factor_free(&g->level[k].on_R);
    }
    release(&g->kept);
    release(&g->work);
    mem_free(g->inverse);
    *g = (struct amg_device){0};
}
