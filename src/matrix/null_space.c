/* The null space of a matrix: constants of components, found by sums of rows, or given vectors, which are checked. */
#include "null_space.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "components.h"
#include "csr.h"
#include "norms.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char what[] = "the null space";

/* A given vector n is in the null space if |A n| is at most this share of | |A| |n| |; scaled rows of a symmetric
   matrix are balanced to SYMMETRISED, because their scales are products along paths. */
static const double GIVEN = 1e-8, SYMMETRISED = 1e-10, DEPENDENT = 1e-8;

/* ---- a basis ---- */

void null_basis_free(struct null_basis *b)
{
    mem_free(b->full);
    mem_free(b->of);
    mem_free(b->value);
    *b = (struct null_basis){0};
}

void null_basis_vector(const struct null_basis *b, int64_t j, double *x)
{
    if (b->full)
        memcpy(x, b->full + j * b->n, (size_t)b->n * sizeof *x);
    else
        for (int64_t i = 0; i < b->n; i++) x[i] = b->of[i] == j ? b->value[i] : 0;
}

static void add(int64_t n, double by, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] += by * x[i];
}

/* The coefficients of x: its inner products with the vectors. */
static void coefficients(const struct null_basis *b, const double *x, double *c)
{
    if (b->full) {
        for (int64_t j = 0; j < b->count; j++) c[j] = dot_product(b->n, b->full + j * b->n, x);
        return;
    }
    memset(c, 0, (size_t)b->count * sizeof *c);
    for (int64_t i = 0; i < b->n; i++)
        if (b->of[i] >= 0) c[b->of[i]] += b->value[i] * x[i];
}

static void subtract(const struct null_basis *b, const double *c, double *x)
{
    for (int64_t j = 0; b->full && j < b->count; j++) add(b->n, -c[j], b->full + j * b->n, x);
    for (int64_t i = 0; !b->full && i < b->n; i++)
        if (b->of[i] >= 0) x[i] -= c[b->of[i]] * b->value[i];
}

/* Twice: the first time leaves rounding errors of the size of what it subtracts. */
bool null_basis_project(const struct null_basis *b, double *x, double *part, struct err *e)
{
    if (part) *part = 0;
    if (!b->count) return true;
    double *c = mem_new(b->count, sizeof *c, what, e);
    for (int k = 0; c && k < 2; k++) {
        coefficients(b, x, c);
        if (part && !k) *part = norm2(b->count, c);
        subtract(b, c, x);
    }
    mem_free(c);
    return c && loop_tick(what, 0, 0, e);
}

/* Divide the vectors that share no row by their norms. */
static bool normalise(struct null_basis *b, struct err *e)
{
    double *c = mem_zero(b->count, sizeof *c, what, e);
    for (int64_t i = 0; c && i < b->n; i++)
        if (b->of[i] >= 0) c[b->of[i]] += b->value[i] * b->value[i];
    for (int64_t i = 0; c && i < b->n; i++) b->value[i] = b->of[i] >= 0 ? b->value[i] / sqrt(c[b->of[i]]) : 0;
    mem_free(c);
    return c != NULL;
}

const struct null_basis *null_space_left(const struct null_space *s)
{
    const struct null_basis *b = s->same ? &s->right : &s->left;
    return (s->same || s->has_left) && b->count ? b : NULL;
}

void null_space_free(struct null_space *s)
{
    null_basis_free(&s->right);
    null_basis_free(&s->left);
    *s = (struct null_space){0};
}

/* ---- constants of components ---- */

/* Does row i sum to 0, up to the rounding errors of its values? Not if all of them are 0: unless the
   row is alone, it has other faults, which a solve names. */
static bool sums_to_0(const struct csr *A, int64_t i)
{
    double sum = 0, size = 0;
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
        sum += A->val[k];
        size += fabs(A->val[k]);
    }
    return size > 0 && isfinite(size) && fabs(sum) <= DBL_EPSILON * (double)csr_row_length(A, i) * size;
}

/* Has row i no nonzero entry? */
static bool is_empty(const struct csr *A, int64_t i)
{
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (A->val[k] != 0) return false;
    return true;
}

/* Is row i alone in its component, and empty? size[c]: the rows of component c. */
static bool is_alone(const struct csr *A, const int *of, const int *size, int64_t i)
{
    return size[of[i]] == 1 && is_empty(A, i);
}

/* of[i] = the number of the component of row i if all of its rows sum to 0, else -1; *count receives their number, and
 *alone that of those which are one empty row. */
static bool number_components(const struct csr *A, int *of, int64_t *count, int64_t *alone, struct err *e)
{
    int64_t n = A->rows;
    int *number = mem_zero(2 * n, sizeof *number, what, e);
    *count = *alone = 0;
    if (!number || !csr_components(A, what, of, NULL, e)) return mem_free(number), false;
    int *size = number + n;
    for (int64_t i = 0; i < n; i++) size[of[i]]++;
    for (int64_t i = 0; i < n; i++) {
        bool empty = is_alone(A, of, size, i);
        *alone += empty;
        if (!empty && !sums_to_0(A, i)) number[of[i]] = -1;
    }
    for (int64_t i = 0; i < n; i++)
        if (of[i] == i && number[i] == 0) number[i] = (int)(*count)++;
    for (int64_t i = 0; i < n; i++) of[i] = number[of[i]];
    mem_free(number);
    return true;
}

/* Components are looked for only if a row sums to 0 or is empty; in a matrix of more entries than LONG, only if all
   rows do, because to find components takes a while. */
static bool may_have_constants(const struct csr *A, struct err *e)
{
    enum { LONG = 1 << 24 };
    bool some = false, all = true;
    if (A->source || A->imag || csr_is_large(A) || A->rows != A->cols) return false;
    struct loop l = loop_of(what, A->rows);
    for (int64_t i = 0; i < A->rows && (A->nnz > LONG ? all : !some) && loop_goes(&l, i); i++) {
        bool zero = sums_to_0(A, i) || is_empty(A, i);
        some |= zero;
        all &= zero;
    }
    return some && (all || A->nnz <= LONG) && loop_end(&l, e);
}

bool null_constants_count(const struct csr *A, int64_t *count, int64_t *alone, struct err *e)
{
    *count = *alone = 0;
    if (!may_have_constants(A, e)) return loop_unbroken(what, e);
    int *of = mem_new(A->rows, sizeof *of, what, e);
    bool ok = of && number_components(A, of, count, alone, e);
    mem_free(of);
    return ok;
}

/* ---- the left vectors of a matrix that a diagonal makes symmetric ---- */

/* Walk from `start` over its component: y_i a_ij = y_j a_ji along each step. Returns false if an entry has no partner.
 */
static bool scale_component(const struct csr *A, int64_t start, double *y, int *queue, struct loop *l)
{
    int64_t n = 0;
    y[start] = 1;
    queue[n++] = (int)start;
    for (int64_t at = 0; at < n && loop_goes(l, at); at++) {
        int i = queue[at];
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int j = A->col[k];
            if (A->val[k] == 0 || y[j] != 0) continue;
            int64_t back = csr_find(A, j, i);
            if (back < 0 || A->val[back] == 0) return false;
            y[j] = y[i] * A->val[k] / A->val[back];
            queue[n++] = j;
        }
    }
    return true;
}

/* Is A' y = 0, in the rows where y is not 0? */
static bool is_left(const struct csr *A, const double *y, struct err *e)
{
    double *sum = mem_zero(2 * A->rows, sizeof *sum, what, e), *size = sum + A->rows;
    struct loop l = loop_of(what, A->rows);
    for (int64_t i = 0; sum && i < A->rows && loop_goes(&l, i); i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            sum[A->col[k]] += y[i] * A->val[k];
            size[A->col[k]] += fabs(y[i] * A->val[k]);
        }
    bool left = sum && loop_end(&l, e);
    for (int64_t i = 0; left && i < A->rows; i++) left = fabs(sum[i]) <= SYMMETRISED * size[i];
    mem_free(sum);
    return left;
}

/* If there are no such y, out->has_left stays false. */
static bool find_left(struct null_space *out, const struct csr *A, struct err *e)
{
    const struct null_basis *r = &out->right;
    struct null_basis *b = &out->left;
    int *queue = mem_new(A->rows, sizeof *queue, what, e);
    *b = (struct null_basis){.n = A->rows, .count = r->count};
    b->of = queue ? mem_new(A->rows, sizeof *b->of, what, e) : NULL;
    b->value = b->of ? mem_zero(A->rows, sizeof *b->value, what, e) : NULL;
    if (!b->value) return mem_free(queue), false;
    memcpy(b->of, r->of, (size_t)A->rows * sizeof *b->of);
    struct loop l = loop_of(what, A->rows);
    bool found = true;
    for (int64_t i = 0; i < A->rows && found && loop_goes(&l, i); i++)
        if (r->of[i] >= 0 && b->value[i] == 0) found = scale_component(A, i, b->value, queue, &l);
    mem_free(queue);
    out->has_left = found && is_left(A, b->value, e) && normalise(b, e);
    if (!out->has_left) null_basis_free(b);
    return loop_end(&l, e);
}

bool null_constants(struct null_space *out, const struct csr *A, bool symmetric, struct err *e)
{
    *out = (struct null_space){.constant = true, .same = symmetric};
    if (!may_have_constants(A, e)) return loop_unbroken(what, e);
    struct null_basis *b = &out->right;
    b->n = A->rows;
    b->of = mem_new(A->rows, sizeof *b->of, what, e);
    b->value = b->of ? mem_new(A->rows, sizeof *b->value, what, e) : NULL;
    bool ok = b->value && number_components(A, b->of, &b->count, &out->alone, e);
    for (int64_t i = 0; ok && i < A->rows; i++) b->value[i] = 1;
    ok = ok && normalise(b, e) && (symmetric || !b->count || find_left(out, A, e));
    if (!ok || !b->count) null_space_free(out);
    return ok;
}

/* ---- given vectors ---- */

/* The norm of A x or, if `transposed`, of A' x, divided by that of |A| |x|. */
static double share_of(const struct csr *A, bool transposed, const double *x, double *work)
{
    double *sum = work, *size = work + A->rows;
    struct loop l = loop_of(what, A->rows);
    memset(work, 0, 2 * (size_t)A->rows * sizeof *work);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t to = transposed ? A->col[k] : i, from = transposed ? i : A->col[k];
            sum[to] += A->val[k] * x[from];
            size[to] += fabs(A->val[k] * x[from]);
        }
    double all = norm2(A->rows, size);
    return all > 0 ? norm2(A->rows, sum) / all : 0;
}

/* Orthogonalise vector j against those before it, twice, and divide it by its norm. Returns false if little of it is
   left. */
static bool orthogonalise(int64_t n, int64_t j, double *full)
{
    double *x = full + j * n, before = norm2(n, x);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < j; i++) add(n, -dot_product(n, full + i * n, x), full + i * n, x);
    double norm = norm2(n, x);
    for (int64_t i = 0; i < n && norm > 0; i++) x[i] /= norm;
    return norm > DEPENDENT * before;
}

bool null_orthonormalise(int64_t n, int64_t count, double *full)
{
    bool independent = true;
    for (int64_t j = 0; j < count; j++) independent &= orthogonalise(n, j, full);
    return independent;
}

/* Check the vectors, and make them orthonormal. */
static bool check_given(struct null_space *s, const struct csr *A, const char *from, double *work, struct err *e)
{
    bool left = true;
    for (int64_t j = 0; j < s->right.count; j++) {
        const double *x = s->right.full + j * A->rows;
        double share = share_of(A, false, x, work);
        if (!(share <= GIVEN))
            return fail(e, E_INPUT,
                        "column %lld of %s is not in the null space: ||A n|| is %.1e of || |A| |n| ||, but must be at "
                        "most %.0e",
                        (long long)j, from, share, GIVEN);
        left = left && (s->same || share_of(A, true, x, work) <= GIVEN);
        if (!orthogonalise(A->rows, j, s->right.full))
            return fail(e, E_INPUT, "column %lld of %s is 0 or depends on the columns before it; leave it out",
                        (long long)j, from);
        if (!loop_tick(what, j, s->right.count, e)) return false;
    }
    s->same = left; /* the same vectors are left and right ones */
    return true;
}

bool null_given(struct null_space *out, const struct csr *A, bool symmetric, const double *given, int64_t columns,
                const char *from, struct err *e)
{
    *out = (struct null_space){.same = symmetric};
    if (A->source || A->imag || csr_is_large(A))
        return fail(e, E_UNSUPPORTED, "a null space is for a real matrix with arrays in memory");
    out->right = (struct null_basis){.n = A->rows, .count = columns};
    double *work = mem_new(2 * A->rows, sizeof *work, what, e);
    out->right.full = work ? mem_new(columns * A->rows, sizeof *given, what, e) : NULL;
    bool ok = out->right.full &&
              loop_copy(out->right.full, given, columns * A->rows * (int64_t)sizeof *given, what, e) &&
              check_given(out, A, from, work, e);
    mem_free(work);
    if (!ok) null_space_free(out);
    return ok;
}
