/* Block Jacobi: the dense diagonal blocks are inverted once. Applying the preconditioner then takes many small dense
   products. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "level_schedule.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"

#include <float.h>
#include <math.h>

enum { INVERSE, DEFAULT_SIZE = 8, ROWS_MAX = 32, NUMBERS_MAX = 2 * ROWS_MAX };
enum { NOTE_BLOCK }; /* index in v->pre.note: rows per block */

/* A dense block of n rows and its inverse. The Gauss-Jordan method turns `a` into the identity and builds up `inverse`.
   A complex block is inverted as the equivalent real block of twice as many rows, in which p + i q is the block p -q,
   q p; its inverse has the same form. */
struct block {
    int n;
    double a[NUMBERS_MAX][NUMBERS_MAX], inverse[NUMBERS_MAX][NUMBERS_MAX];
};

/* The matrix whose blocks are inverted: A, or -A if `sign` is -1. */
struct blocks {
    const struct csr *A;
    double sign;
    int64_t size; /* rows per block */
};

static void set_complex(struct block *b, int i, int j, double re, double im)
{
    b->a[2 * i][2 * j] = b->a[2 * i + 1][2 * j + 1] = re;
    b->a[2 * i][2 * j + 1] = -im;
    b->a[2 * i + 1][2 * j] = im;
}

static void take_block(const struct blocks *of, int64_t first, int rows, struct block *b)
{
    const struct csr *A = of->A;
    b->n = A->imag ? 2 * rows : rows;
    for (int i = 0; i < b->n; i++)
        for (int j = 0; j < b->n; j++) b->a[i][j] = 0, b->inverse[i][j] = i == j;
    for (int i = 0; i < rows; i++) {
        int64_t row = first + i, end = A->rowptr[row + 1];
        for (int64_t k = csr_lower(A, A->rowptr[row], end, first); k < end && A->col[k] < first + rows; k++) {
            int j = (int)(A->col[k] - first);
            if (A->imag)
                set_complex(b, i, j, of->sign * A->val[k], of->sign * A->imag[k]);
            else
                b->a[i][j] = of->sign * A->val[k];
        }
    }
}

static void scale(struct block *b, int i, double factor)
{
    for (int j = 0; j < b->n; j++) {
        b->a[i][j] *= factor;
        b->inverse[i][j] *= factor;
    }
}

static void swap_rows(struct block *b, int i, int k)
{
    for (int j = 0; j < b->n && i != k; j++) {
        double a = b->a[i][j], inverse = b->inverse[i][j];
        b->a[i][j] = b->a[k][j];
        b->a[k][j] = a;
        b->inverse[i][j] = b->inverse[k][j];
        b->inverse[k][j] = inverse;
    }
}

/* Divide each row by its largest |value|, so that pivots can be compared. Returns false if that value is 0 or not
   finite. */
static bool equilibrate(struct block *b)
{
    for (int i = 0; i < b->n; i++) {
        double most = 0;
        for (int j = 0; j < b->n; j++) most = fabs(b->a[i][j]) > most ? fabs(b->a[i][j]) : most;
        if (!(most > 0) || !isfinite(most) || !isfinite(1 / most)) return false;
        scale(b, i, 1 / most);
    }
    return true;
}

/* Gauss-Jordan elimination with partial pivoting. Returns false if a pivot is no larger than rounding errors. */
static bool invert(struct block *b)
{
    if (!equilibrate(b)) return false;
    for (int k = 0; k < b->n; k++) {
        int best = k;
        for (int i = k + 1; i < b->n; i++)
            if (fabs(b->a[i][k]) > fabs(b->a[best][k])) best = i;
        if (!(fabs(b->a[best][k]) > b->n * DBL_EPSILON)) return false;
        swap_rows(b, k, best);
        scale(b, k, 1 / b->a[k][k]);
        for (int i = 0; i < b->n; i++) {
            double factor = i == k ? 0 : b->a[i][k];
            for (int j = 0; j < b->n && factor != 0; j++) {
                b->a[i][j] -= factor * b->a[k][j];
                b->inverse[i][j] -= factor * b->inverse[k][j];
            }
        }
    }
    return true;
}

/* Convert the inverse of the block that begins at row `first` to the type and store it. all[j * n .. j * n + n-1] holds
   column j of all blocks; an element of a complex block is the first column of its 2 x 2 block. Returns false if a
   value does not fit in the type. */
static bool store_inverse(const struct block *b, int64_t n, int64_t first, enum type type, void *all)
{
    bool fits = true, single = type_of_parts(type) == T_F32;
    int parts = (int)type_parts(type);
    for (int i = 0; i < b->n; i++)
        for (int j = 0; j < b->n; j += parts) {
            double v = b->inverse[i][j];
            int64_t to = (j / parts * n + first) * parts + i;
            fits = fits && fabs(v) <= (single ? (double)FLT_MAX : DBL_MAX);
            if (single)
                ((float *)all)[to] = (float)v;
            else
                ((double *)all)[to] = v;
        }
    return fits;
}

/* Invert all blocks. Returns the first row of the first block that has no inverse, or the number of rows if all blocks
   have an inverse. */
static int64_t invert_all(const struct blocks *of, enum type type, void *all)
{
    int64_t n = of->A->rows, size = of->size, bad = n;
    struct loop l = loop_of("bjacobi", n);
#pragma omp parallel for reduction(min : bad) schedule(static, 64) if (n > 1 << 12)
    for (int64_t first = 0; first < n; first += size) {
        if (!loop_check(&l, first)) continue;
        struct block b;
        take_block(of, first, first + size < n ? (int)size : (int)(n - first), &b);
        if ((!invert(&b) || !store_inverse(&b, n, first, type, all)) && first < bad) bad = first;
    }
    return bad;
}

static bool put_inverse(struct solve *v, int64_t size, void *all, struct err *e)
{
    const struct csr *A = v->system.A;
    struct blocks of = {A, precond_sign(v), size};
    int64_t bytes = size * v->n * (int64_t)type_size(v->real), bad = invert_all(&of, solve_type(v), all);
    if (!loop_tick("bjacobi", A->rows, A->rows, e)) return false;
    int64_t last = bad + size < A->rows ? bad + size - 1 : A->rows - 1;
    if (bad < A->rows)
        return fail(e, E_NUMERIC,
                    "the preconditioner bjacobi: the diagonal block of rows %lld to %lld (counted from 0) is singular, "
                    "or nearly so; try another `block`",
                    (long long)bad, (long long)last);
    v->pre.part[INVERSE] = v->dev->ops->alloc(v->dev, bytes, "the inverted blocks", e);
    return v->pre.part[INVERSE] && v->dev->ops->put(v->dev, v->pre.part[INVERSE], all, bytes, e);
}

static bool make(struct solve *v, struct err *e)
{
    int64_t size = v->pre.block ? v->pre.block : DEFAULT_SIZE;
    if (size < 1 || size > ROWS_MAX)
        return fail(e, E_USAGE, "block is %lld, but blocks must have 1 to %d rows", (long long)size, ROWS_MAX);
    v->pre.note[NOTE_BLOCK] = size;
    void *all = mem_zero(size * v->n, type_size(v->real), "the inverted blocks", e);
    bool ok = all && put_inverse(v, size, all, e);
    mem_free(all);
    return ok;
}

static bool apply(struct solve *v, const void *r, void *z, struct err *e)
{
    int size = (int)v->pre.note[NOTE_BLOCK];
    pre_ops_of(v->dev, solve_type(v))
        ->blocks(v->dev, v->matrix.csr->rows, size, v->scalars, v->pre.part[INVERSE], r, z);
    return true;
}

static double bytes(const struct solve *v)
{
    return (2.0 + (double)v->pre.note[NOTE_BLOCK]) * (double)type_size(v->real) * (double)v->n;
}

static void note(const struct solve *v, char *out, size_t size)
{
    snprintf(out, size, "blocks of %s", how_many(v->pre.note[NOTE_BLOCK], "row").text);
}

const struct precond precond_bjacobi = {
    .name = "bjacobi",
    .aliases = "block-jacobi",
    .about = "block Jacobi: the inverses of the dense diagonal blocks, of 8 rows each or as set by `block`",
    .source = "textbook",
    .needs = "no singular block on the diagonal; blocks of 1 to 32 rows",
    .symmetric = true,
    .blocks = true,
    .takes_complex = true,
    .making = 30,
    .make = make,
    .apply = apply,
    .bytes = bytes,
    .note = note,
    .peers = {.petsc = "-pc_type pbjacobi -mat_block_size 8",
              .ginkgo = "\"type\": \"preconditioner::Jacobi\", \"max_block_size\": 8"},
};
