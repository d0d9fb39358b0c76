/* The levels of multigrid on a device: the host queues the launches, and reads back only the sizes. */
#include "amg_device.h"
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/fmt_csr.h"
#include "machine/amg_ops.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "machine/symmetrize.h"
#include "machine/tools.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "ritz.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- memory ---- */

static void *take(struct amg_memory *m, int64_t bytes, struct err *e)
{
    int64_t need = device_rounded(bytes) + DEVICE_ALIGN;
    if (!m->n || m->used + need > m->size[m->n - 1]) {
        int64_t more = m->bytes / 4 > 1 << 16 ? m->bytes / 4 : 1 << 16, size = need > more ? need : more;
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

/* A place in the memory: what was handed out after it may be overwritten. */
struct amg_place {
    int n;
    int64_t used;
};

static struct amg_place here(const struct amg_memory *m)
{
    return (struct amg_place){m->n, m->used};
}

/* Launches that use the memory after the place may still be queued: chunks are kept until everything is handed back. */
static void go_back(struct amg_memory *m, struct amg_place to)
{
    if (m->n == to.n) m->used = to.used;
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

/* A failed launch is reported when the level begins. */
static bool read_facts(struct build *b)
{
    return loop_tick("multigrid", 0, 0, b->e) && b->dev->ops->get(b->dev, &b->seen, b->facts, sizeof b->seen, b->e);
}

/* Replace the counts of n rows by their prefix sums; *total receives the sum. */
static bool scan_counts(struct build *b, int64_t n, int64_t *total)
{
    return b->tools->exclusive_scan(b->dev, b->at, n + 1, b->temp, b->temp_bytes, b->e) &&
           b->dev->ops->get(b->dev, total, b->at + n, sizeof *total, b->e);
}

/* A matrix that is kept, with its values in *values, unless they have a place already. */
static bool new_matrix(struct build *b, struct amg_memory *values, int64_t nnz, struct amg_csr *A)
{
    struct amg_memory *m = &b->g->kept;
    A->nnz = nnz;
    if (nnz > INT_MAX)
        return fail(b->e, E_LIMIT,
                    "a matrix of multigrid would have more than 2^31-1 entries; use another preconditioner");
    A->ptr = take(m, 4 * (A->rows + 1), b->e);
    A->col = A->ptr ? take(m, 4 * nnz, b->e) : NULL;
    if (A->col && !A->val) A->val = take(values, nnz * (int64_t)value_size(b), b->e);
    return A->val != NULL;
}

static bool narrows(const struct build *b)
{
    return b->g->cycle != b->g->real;
}

/* The memory of values that only the set-up needs, if the cycle takes narrow ones. */
static struct amg_memory *memory_of_values(struct build *b)
{
    return narrows(b) ? &b->g->work : &b->g->kept;
}

/* Values as the cycle takes them. */
static bool narrow(struct build *b, void *values, int64_t n, void **out)
{
    *out = values;
    if (!narrows(b)) return true;
    if (!(*out = take(&b->g->kept, 4 * n, b->e))) return false;
    b->ops->narrow(b->dev, n, values, *out);
    return true;
}

/* The matrix A as the cycle takes it, with columns in 16 bits, unless facts->far[which] says that they do not fit. */
static bool narrow_matrix(struct build *b, const struct amg_csr *A, int which, struct amg_csr *on)
{
    *on = *A;
    on->near = take(&b->g->kept, 2 * A->nnz, b->e);
    if (!on->near || !narrow(b, A->val, A->nnz, &on->val)) return false;
    b->ops->near(b->dev, on, which, b->facts);
    return true;
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

/* The vectors and scalars of conjugate gradients, in the work memory. */
struct krylov {
    int64_t n;
    double *s;
    void *r, *p, *q;
};

static bool begin_krylov(struct build *b, const struct amg_device_level *l, struct krylov *c)
{
    void **const vectors[] = {&c->r, &c->p, &c->q};
    double s[S_SUMS] = {0};
    c->n = l->A.rows;
    if (!(c->s = take(&b->g->work, VEC_WORK * (int64_t)sizeof *c->s, b->e))) return false;
    for (int i = 0; i < COUNT(vectors); i++)
        if (!(*vectors[i] = take(&b->g->work, c->n * (int64_t)value_size(b), b->e))) return false;
    if (!b->dev->ops->put(b->dev, c->s, s, sizeof s, b->e)) return false;
    b->ops->random(b->dev, c->n, c->r);
    return true;
}

/* Queue the steps of conjugate gradients for A, preconditioned by D. */
static void queue_krylov(struct build *b, const struct amg_device_level *l, const struct krylov *c)
{
    const struct amg_ops *ops = amg_ops_of(b->dev, b->g->real);
    ops->krylov_start(b->dev, c->n, c->s, l->dinv, c->r, c->p);
    for (int k = 0; k < AMG_STEPS; k++) {
        ops->multiply(b->dev, &l->A, c->s, 1, c->p, 0, c->q);
        ops->krylov_alpha(b->dev, c->n, c->s, k, c->p, c->q);
        ops->krylov_beta(b->dev, c->n, c->s, k, c->q, l->dinv, c->r);
        ops->krylov_turn(b->dev, c->n, c->s, k, l->dinv, c->r, c->p);
    }
}

/* As amg_bound. A bound of 2, which holds for a diagonally dominant matrix, needs no Ritz values. Steps after one that
   has found the exact solution have coefficients that are not finite. */
static bool find_bound(struct build *b, struct amg_device_level *l, double most)
{
    enum { N = AMG_STEPS };
    double found[2 * N];
    struct krylov c;
    struct ritz r = {0};
    struct amg_place place = here(&b->g->work);
    if (most <= amg_dominant) return true;
    if (!begin_krylov(b, l, &c)) return false;
    queue_krylov(b, l, &c);
    if (!b->dev->ops->get(b->dev, found, c.s + AMG_ALPHAS, sizeof found, b->e) || !loop_tick("multigrid", 0, 0, b->e))
        return false;
    int n = 0;
    while (n < N && found[n] > 0 && isfinite(found[n]) && isfinite(found[N + n])) n++;
    ritz_grow(&r, found, found + N, n, 0);
    if (r.rows) l->bound = fmin(most, amg_margin * r.high);
    go_back(&b->g->work, place);
    return true;
}

/* The first level decides whether the cycle takes narrow values. */
static bool look_at_diagonal(struct build *b, struct amg_device_level *l)
{
    struct amg_device *g = b->g;
    b->ops->forget(b->dev, b->facts);
    b->ops->diagonal(b->dev, &l->A, l->dinv, b->facts);
    if (g->n > 0) return true;
    if (!read_facts(b)) return false;
    if (b->seen.extreme) g->cycle = g->real;
    return true;
}

/* A matrix that will be inverted needs no smoother. */
static bool begin_level(struct build *b)
{
    struct amg_device *g = b->g;
    struct amg_device_level *l = &g->level[g->n];
    l->dinv = take(&g->kept, l->A.rows * (int64_t)value_size(b), b->e);
    if (!l->dinv || !look_at_diagonal(b, l) || !narrow_matrix(b, &l->A, 0, &l->on_A) ||
        !narrow(b, l->dinv, l->A.rows, &l->on_dinv) || !read_facts(b) || !b->dev->ops->sync(b->dev, b->e))
        return false;
    if (b->seen.far[0]) l->on_A.near = NULL;
    l->A.near = l->on_A.near;
    l->bound = check_diagonal(b);
    g->n++;
    return b->full || l->A.rows <= amg_inverted_rows() || find_bound(b, l, l->bound);
}

/* ---- aggregates ---- */

/* The host reads the facts after AMG_ROUNDS rounds; the lists of the last of these rounds are those of the first of the
   next. */
static bool choose_roots(struct build *b, const struct amg_csr *A, const struct amg_rounds *r)
{
    unsigned long long rows = (unsigned long long)A->rows, most = rows;
    struct amg_facts first = {.open = {rows}, .near = {rows}};
    b->ops->begin(b->dev, A->rows, r);
    while (first.open[0]) {
        if (!b->dev->ops->put(b->dev, b->facts, &first, sizeof first, b->e)) return false;
        for (int k = 0; k < AMG_ROUNDS; k++) b->ops->decide(b->dev, A, b->strong, r, k, (int64_t)most, b->facts);
        if (!read_facts(b)) return false;
        first.open[0] = b->seen.open[AMG_ROUNDS];
        first.near[0] = b->seen.near[AMG_ROUNDS];
        most = first.open[0] > first.near[0] ? first.open[0] : first.near[0];
    }
    return true;
}

static bool new_rounds(struct build *b, int64_t rows, struct amg_rounds *r)
{
    struct amg_memory *m = &b->g->work;
    int **const lists[] = {&r->open[0], &r->open[1], &r->near[0], &r->near[1]};
    for (int i = 0; i < COUNT(lists); i++)
        if (!(*lists[i] = take(m, 4 * rows, b->e))) return false;
    return (r->mark = take(m, 8 * rows, b->e)) && (r->once = take(m, 8 * rows, b->e));
}

static bool aggregate(struct build *b, const struct amg_device_level *l, double theta, int64_t *aggregates)
{
    const struct amg_csr *A = &l->A;
    struct amg_memory *m = &b->g->work;
    struct amg_rounds rounds;
    int *near = take(m, 4 * A->rows, b->e);
    if (!near || !new_rounds(b, A->rows, &rounds) || !(b->strong = take(m, A->nnz, b->e)) ||
        !(b->of = take(m, 4 * A->rows, b->e)) || !(b->at = take(m, 8 * (A->rows + 1), b->e)))
        return false;
    b->temp_bytes = b->tools->bytes(b->dev, 1, A->rows + 1, b->e);
    if (b->temp_bytes < 0 || !(b->temp = take(m, b->temp_bytes, b->e))) return false;
    b->ops->strong(b->dev, A, l->dinv, theta, b->strong);
    if (!choose_roots(b, A, &rounds)) return false;
    b->ops->roots(b->dev, A, b->strong, rounds.mark, b->at);
    if (!scan_counts(b, A->rows, aggregates)) return false;
    b->ops->number(b->dev, A->rows, b->at, b->of);
    b->ops->join(b->dev, A, b->strong, l->dinv, b->of, near);
    b->ops->join(b->dev, A, b->strong, l->dinv, near, b->of);
    return true;
}

/* ---- matrices ---- */

static bool new_list(struct build *b, int64_t rows, int64_t room, struct amg_list *l)
{
    struct amg_memory *m = &b->g->work;
    *l = (struct amg_list){.room = room < INT_MAX ? room : INT_MAX};
    l->start = take(m, 4 * rows, b->e);
    l->length = l->start ? take(m, 8 * (rows + 1), b->e) : NULL;
    l->col = l->length ? take(m, 4 * l->room, b->e) : NULL;
    l->val = l->col ? take(m, l->room * (int64_t)value_size(b), b->e) : NULL;
    return l->val != NULL;
}

/* The rows of a list as a matrix that is kept; its sizes are known. */
static bool keep_list(struct build *b, struct amg_memory *values, const struct amg_list *l, struct amg_csr *A)
{
    if (!new_matrix(b, values, (int64_t)b->seen.used, A) ||
        !b->tools->exclusive_scan(b->dev, l->length, A->rows + 1, b->temp, b->temp_bytes, b->e))
        return false;
    b->ops->pointers(b->dev, A->rows, l->length, A->ptr);
    b->ops->move(b->dev, l, A);
    return true;
}

static bool queue_prolong(struct build *b, struct amg_device_level *l, const struct amg_list *list)
{
    int64_t aggregates = l->P.cols;
    b->coarse_weight = take(&b->g->kept, 4 * aggregates, b->e);
    if (!b->coarse_weight) return false;
    b->ops->forget(b->dev, b->facts);
    b->ops->weigh(b->dev, l->A.rows, aggregates, b->of, b->weight, b->coarse_weight);
    b->ops->prolong(b->dev, &l->A, b->strong, b->of, aggregates, b->weight, b->coarse_weight, amg_damping / l->bound,
                    list, b->facts);
    return read_facts(b);
}

/* A row of P has at most as many entries as the row of A. */
static bool prolong(struct build *b, struct amg_device_level *l, int64_t aggregates)
{
    struct amg_list list;
    l->P = (struct amg_csr){.rows = l->A.rows, .cols = aggregates};
    if (narrows(b) && !(l->P.val = take(&b->g->work, l->A.nnz * (int64_t)value_size(b), b->e))) return false;
    struct amg_place place = here(&b->g->work);
    if (!new_list(b, l->A.rows, l->A.nnz, &list) || !queue_prolong(b, l, &list)) return false;
    b->full = b->seen.full;
    if (b->full) return true;
    if (!keep_list(b, &b->g->kept, &list, &l->P)) return false;
    go_back(&b->g->work, place);
    return true;
}

static bool transpose(struct build *b, struct amg_device_level *l)
{
    const struct amg_csr *P = &l->P;
    struct pairs pairs = {.n = P->nnz};
    struct amg_memory *m = &b->g->work;
    struct sym of = {.o = {.dev = b->dev}};
    int k = 0;
    l->R = (struct amg_csr){.rows = P->cols, .cols = P->rows};
    if (!new_matrix(b, memory_of_values(b), P->nnz, &l->R)) return false;
    struct amg_place place = here(m);
    int64_t bytes = b->tools->bytes(b->dev, P->nnz, 1, b->e);
    void *temp = bytes < 0 ? NULL : take(m, bytes, b->e);
    for (int i = 0; i < 2; i++)
        if (!temp || !(pairs.key[i] = take(m, 8 * P->nnz, b->e)) || !(pairs.payload[i] = take(m, 8 * P->nnz, b->e)))
            return false;
    b->ops->keys(b->dev, P, pairs.key[0], pairs.payload[0]);
    if (!b->tools->sort(b->dev, &pairs, 32, 32 + bits_of(P->cols), &k, temp, bytes, b->e)) return false;
    sym_ops_of(b->dev)->unpack(&of, pairs.key[k], P->nnz, P->cols, l->R.ptr, l->R.col);
    b->ops->values(b->dev, P->nnz, pairs.payload[k], l->R.val);
    go_back(m, place);
    return true;
}

/* The table for the first try. With few rows, a warp takes each, so that more lanes have work. Rows of R with many
   entries give long rows: in 3D, from the second level on, the table for longer rows is the first that fits. */
static int first_table(const struct amg_csr *A, bool sort)
{
    enum { FEW = 10, MANY_ENTRIES = 60 };
    if (A->rows < FEW * amg_inverted_rows()) return AMG_TABLES - 1;
    return !sort ? 0 : A->nnz > MANY_ENTRIES * A->rows ? 2 : 1;
}

/* C = A B as a list. Retries with a larger table and more room if a row or the list is too long. */
static bool multiply(struct build *b, const struct amg_csr *A, const struct amg_rows *B, bool sort, int64_t room,
                     struct amg_list *C)
{
    struct amg_place place = here(&b->g->work);
    for (int table = first_table(A, sort); table < AMG_TABLES; table++, room *= 2) {
        go_back(&b->g->work, place);
        if (!new_list(b, A->rows, room, C)) return false;
        b->ops->forget(b->dev, b->facts);
        b->ops->multiply(b->dev, A, B, table, sort, C, b->facts);
        if (!read_facts(b)) return false;
        b->full = b->seen.full;
        if (!b->full) return true;
    }
    return true;
}

static struct amg_rows rows_of(const struct amg_csr *A)
{
    return (struct amg_rows){A->rows, A->nnz, A->ptr, A->ptr + 1, A->col, A->val};
}

/* A P, whose rows stay a list in any order */
static bool multiply_p(struct build *b, const struct amg_device_level *l, struct amg_rows *AP)
{
    struct amg_list list;
    struct amg_rows P = rows_of(&l->P);
    if (!multiply(b, &l->A, &P, false, 3 * l->A.nnz / 2, &list)) return false;
    int *end = take(&b->g->work, 4 * l->A.rows, b->e);
    if (!end) return false;
    if (!b->full) b->ops->ends(b->dev, l->A.rows, &list, end);
    *AP = (struct amg_rows){l->A.rows, list.room, list.start, end, list.col, list.val};
    return true;
}

/* The cycle's P and R. */
static bool lend_steps(struct build *b, struct amg_device_level *l)
{
    b->ops->forget(b->dev, b->facts);
    if (!narrow_matrix(b, &l->P, 0, &l->on_P) || !narrow_matrix(b, &l->R, 1, &l->on_R) || !read_facts(b)) return false;
    if (b->seen.far[0]) l->on_P.near = NULL;
    if (b->seen.far[1]) l->on_R.near = NULL;
    return true;
}

/* The level after l. Stops with b->full set if the host must make it. */
static bool galerkin(struct build *b, struct amg_device_level *l, struct amg_device_level *next)
{
    struct amg_rows AP;
    struct amg_list C;
    if (!transpose(b, l) || !lend_steps(b, l) || !multiply_p(b, l, &AP)) return false;
    if (b->full) return true;
    next->A = (struct amg_csr){.rows = l->R.rows, .cols = l->P.cols};
    if (!multiply(b, &l->R, &AP, true, l->A.nnz, &C)) return false;
    if (b->full) return true;
    if (!keep_list(b, &b->g->kept, &C, &next->A)) return false;
    b->ops->mirror(b->dev, &next->A);
    return true;
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

static bool new_inverse(struct build *b, int64_t n, struct amg_csr *A)
{
    *A = (struct amg_csr){.rows = n, .cols = n, .nnz = n * n};
    A->ptr = take(&b->g->kept, 4 * (n + 1), b->e);
    A->col = A->ptr ? take(&b->g->kept, 4 * n * n, b->e) : NULL;
    A->val = A->col ? take(&b->g->kept, n * n * (int64_t)value_size(b), b->e) : NULL;
    return A->val != NULL;
}

/* Launch the steps of the inversion, from full[0] to full[1] and back. */
static void queue_inversion(struct build *b, const struct amg_csr *A, double *full[2], double *least, int *dropped)
{
    double epsilon = b->g->real == T_F64 ? DBL_EPSILON : FLT_EPSILON / 16;
    b->ops->full(b->dev, A, b->g->sign, epsilon, full[0], least);
    int at = 0;
    for (int64_t k = 0; k < A->rows; k += 2, at = 1 - at)
        b->ops->exchange(b->dev, A->rows, k, full[at], least, full[1 - at], dropped, b->facts);
    b->ops->full_csr(b->dev, full[at], dropped, &b->g->inverse);
}

/* If a pivot is negative, the host inverts the matrix, and says what is wrong. */
static bool invert(struct build *b)
{
    struct amg_device *g = b->g;
    const struct amg_csr *A = &g->level[g->n - 1].A;
    int64_t n = A->rows;
    if (n > amg_inverted_rows()) return true;
    rewind_memory(&g->work);
    double *full[2] = {take(&g->work, 8 * n * n, b->e)};
    full[1] = full[0] ? take(&g->work, 8 * n * n, b->e) : NULL;
    double *least = full[1] ? take(&g->work, 8, b->e) : NULL;
    int *dropped = least ? take(&g->work, 4 * n, b->e) : NULL;
    if (!dropped || !new_inverse(b, n, &g->inverse)) return false;
    b->ops->forget(b->dev, b->facts);
    queue_inversion(b, A, full, least, dropped);
    if (!narrow_matrix(b, &g->inverse, 0, &g->on_inverse) || !read_facts(b)) return false;
    if (b->seen.far[0]) g->on_inverse.near = NULL;
    b->full = b->seen.negative;
    return b->dev->ops->sync(b->dev, b->e);
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

bool amg_device_make(struct amg_device *g, struct device *d, const struct mat *A, enum type cycle, bool *made,
                     struct err *e)
{
    const struct stored *S = A->of;
    *g = (struct amg_device){.real = precisions[S->real].vector, .cycle = cycle};
    struct build b = {
        .g = g, .dev = d, .ops = amg_setup_ops_of(d, precisions[S->real].vector), .tools = tools_of(d), .e = e};
    g->level[0].A = (struct amg_csr){S->rows, S->cols, S->nnz, A->ptr[CSR_PTR], A->ptr[CSR_COL], A->ptr[CSR_VAL], NULL};
    /* enough for most matrices of diffusion problems */
    bool ok = reserve(&g->kept, d, 18 * S->nnz + 36 * S->rows, e) &&
              reserve(&g->work, d, 44 * S->nnz + 64 * S->rows + (1 << 16), e) && make_levels(&b);
    release(&g->work);
    *made = ok && !b.full;
    if (!*made) amg_device_free(g);
    return ok;
}

void amg_device_free(struct amg_device *g)
{
    release(&g->kept);
    release(&g->work);
    *g = (struct amg_device){0};
}
