/* Solve with two sparse triangular factors: the host computes the levels, and the device solves level by level. */
#include "triangles.h"
#include "matrix/csr.h"
#include "machine/device.h"
#include "level_schedule.h"
#include "base/loop.h"
#include "base//mem.h"
#include "solve.h"
#include "base/text.h"

#include <complex.h>
#include <float.h>
#include <math.h>

struct triangles {
    struct level_schedule *lower, *upper;
};

enum { LOWER = 0, UPPER = 2 }; /* indices in v->pre.part, which has two allocations for each triangle */

bool diagonal_places(const struct csr *A, const char *who, int *diag, struct err *e)
{
    int64_t missing = 0, first = 0;
    struct loop l = loop_of("the diagonal", A->rows);
    for (int64_t i = A->rows - 1; i >= 0 && loop_goes(&l, i); i--) {
        diag[i] = (int)csr_find(A, i, i);
        if (diag[i] < 0) missing++, first = i;
    }
    if (!loop_end(&l, e)) return false;
    if (!missing) return true;
    return fail(e, E_NUMERIC,
                "%s needs an entry on the diagonal of every row, but row %lld (counted from 0) has none (%s); gmres "
                "and bicgstab without a preconditioner need no diagonal",
                who, (long long)first, how_many(missing, "such row").text);
}

bool invert_pivot(const double *pivot, enum type type, const char *who, int64_t row, double *inverse, struct err *e)
{
    bool pair = type_is_complex(type);
    double most = type_of_parts(type) == T_F32 ? (double)FLT_MAX : DBL_MAX;
    double size = pair ? hypot(pivot[0], pivot[1]) : fabs(*pivot);
    char text[64];
    if (pair)
        *(double complex *)inverse = 1 / *(const double complex *)pivot;
    else
        *inverse = 1 / *pivot;
    snprintf(text, sizeof text, pair ? "%g%+gi" : "%g", pivot[0], pair ? pivot[1] : 0);
    if (size == 0) return fail(e, E_NUMERIC, "%s: zero pivot in row %lld (counted from 0)", who, (long long)row);
    if (!isfinite(size))
        return fail(e, E_NUMERIC, "%s: the pivot of row %lld (counted from 0) is %s", who, (long long)row, text);
    if (1 / size <= most) return true;
    return fail(e, E_NUMERIC, "%s: the pivot of row %lld (counted from 0) is %s, too small to divide by in %s", who,
                (long long)row, text, type_name(type));
}

static struct entries lower_of(const struct factors *f)
{
    return (struct entries){f->A->rowptr, f->diag, 0, f->A->col, f->val};
}

static struct entries upper_of(const struct factors *f)
{
    return (struct entries){f->diag, f->A->rowptr + 1, 1, f->A->col, f->val};
}

/* Sort the rows by level. On the device cpu, which solves row by row, keep the order of the rows. */
static bool order_triangle(const struct solve *v, const struct entries *t, bool down, int *level_of, struct order *o,
                           struct err *e)
{
    int64_t rows = v->matrix.csr->rows;
    if (v->dev->kind == DEV_CPU) return order_plain(o, rows, down, e);
    return order_by(o, rows, level_of, levels_of(t, rows, down, level_of), down, e);
}

static bool order_both(const struct solve *v, const struct factors *f, struct order *lower, struct order *upper,
                       struct err *e)
{
    struct entries L = lower_of(f), U = upper_of(f);
    int *level_of = mem_new(f->A->rows, sizeof *level_of, "the levels of rows", e);
    bool ok =
        level_of && order_triangle(v, &L, false, level_of, lower, e) && order_triangle(v, &U, true, level_of, upper, e);
    mem_free(level_of);
    return ok;
}

static void free_triangles(struct triangles *t)
{
    mem_free(t->lower);
    mem_free(t->upper);
    mem_free(t);
}

/* The right-hand side of the solve with U is the result of the solve with L. The solve with U reads this result from
   where the solve with L stored it. v->pre.host is set only after both triangles are complete, because the screen may
   show the solve in the meantime. */
static bool put_both(struct solve *v, const struct factors *f, const struct order *lower, const struct order *upper,
                     struct err *e)
{
    struct triangles *t = mem_zero(1, sizeof *t, "two triangles", e);
    struct level_source L = {.entries = lower_of(f), .position = lower->position, .dinv = f->lower};
    struct level_source U = {
        .entries = upper_of(f), .position = upper->position, .at = lower->position, .dinv = f->upper};
    if (!t) return false;
    t->lower = level_schedule_make(v->dev, solve_type(v), lower, &L, v->pre.part + LOWER, e);
    t->upper = t->lower ? level_schedule_make(v->dev, solve_type(v), upper, &U, v->pre.part + UPPER, e) : NULL;
    if (!t->upper) return free_triangles(t), false;
    v->pre.host = t;
    return true;
}

bool triangles_make(struct solve *v, const struct factors *f, struct err *e)
{
    struct order lower = {0}, upper = {0};
    bool ok = order_both(v, f, &lower, &upper, e) && put_both(v, f, &lower, &upper, e);
    v->pre.note[TRI_LEVELS_LOWER] = lower.nlevels;
    v->pre.note[TRI_LEVELS_UPPER] = upper.nlevels;
    order_free(&lower);
    order_free(&upper);
    return ok;
}

bool triangles_apply(struct solve *v, const void *r, void *z, struct err *e)
{
    const struct pre_ops *ops = pre_ops_of(v->dev, solve_type(v));
    const struct triangles *t = v->pre.host;
    (void)e;
    ops->solve(v->dev, t->lower, v->scalars, r, NULL);
    ops->solve(v->dev, t->upper, v->scalars, t->lower->y, z);
    return true;
}

void triangles_drop(struct solve *v)
{
    struct triangles *t = v->pre.host;
    if (t) free_triangles(t);
    v->pre.host = NULL;
}

double triangles_bytes(const struct solve *v)
{
    const struct triangles *t = v->pre.host;
    double vectors = 2.0 * (double)type_size(v->real) * (double)v->n;
    if (!t) return vectors;
    return vectors + (double)(t->lower->bytes[0] + t->lower->bytes[1] + t->upper->bytes[0] + t->upper->bytes[1]);
}

/* The device cpu has no levels, so levels are described only for other devices. */
void triangles_note(const struct solve *v, char *out, size_t size)
{
    char up[32];
    size_t n = 0;
    *out = 0;
    if (v->dev->kind != DEV_CPU)
        n = (size_t)snprintf(out, size, "%s down, %s up", how_many(v->pre.note[TRI_LEVELS_LOWER], "level").text,
                             show_count(v->pre.note[TRI_LEVELS_UPPER], up, sizeof up));
    if (v->pre.note[TRI_SHIFT] && n < size)
        snprintf(out + n, size - n, "%sdiagonal increased by %.3g%%", n ? ", " : "",
                 (double)v->pre.note[TRI_SHIFT] * 1e-4);
}
