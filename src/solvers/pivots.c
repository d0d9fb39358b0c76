/* Pivots of incomplete LU factors: small ones are replaced, and signs changed, if the solver or the user wants it. */
#include "pivots.h"
#include "base/base.h"
#include "base/loop.h"
#include "base/magnitude.h"
#include "base/mem.h"
#include "matrix/csr.h"
#include "solve.h"
#include "solver.h"
#include "triangles.h"

#include <complex.h>
#include <math.h>

/* ROUNDING: a pivot of this size, relative to its row, consists of rounding errors. GROWTH: limit of
   |M^-1 1| max |a|. */
static const double ROUNDING = 1e-12, GROWTH = 1e6;
static const double sizes[PIVOT_SIZES] = {0, 1e-3, 1e-2, 1e-1, 1};

int pivots_tries(const struct given *shift)
{
    return shift->set ? 1 : PIVOT_SIZES;
}

struct pivots pivots_try(int k, const struct given *shift, const struct csr *A, enum type type, const char *who)
{
    struct pivots p = {.who = who, .type = type, .A = A, .size = shift->set ? shift->value : sizes[k]};
    p.least = shift->set ? 0 : ROUNDING;
    p.most = magnitudes_of(A->nnz, A->val).most;
    if (A->imag) p.most = hypot(p.most, magnitudes_of(A->nnz, A->imag).most);
    return p;
}

static double largest_in_row(const struct csr *A, int64_t i)
{
    double most = 0;
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) most = fmax(most, csr_abs(A, k));
    return most;
}

/* A pivot of this size in the direction of the old one. */
static void replace(struct pivots *p, double *pivot, double from, double to)
{
    int64_t parts = type_parts(p->type);
    for (int64_t k = 1; k < parts; k++) pivot[k] = from > 0 ? pivot[k] / from * to : 0;
    pivot[0] = from > 0 ? pivot[0] / from * to : to;
    __atomic_add_fetch(&p->replaced, 1, __ATOMIC_RELAXED);
}

/* Rows are looked at only if the pivot might be small. */
bool pivot_invert(struct pivots *p, int64_t i, int64_t row, double *pivot, double *inverse, struct err *e)
{
    double size = type_is_complex(p->type) ? hypot(pivot[0], pivot[1]) : fabs(*pivot);
    bool suspect = isfinite(size) && size <= fmax(p->size, p->least) * p->most;
    double largest = suspect ? largest_in_row(p->A, i) : 0, wanted = p->size * largest;
    if (suspect && size < wanted) replace(p, pivot, size, wanted);
    if (!invert_pivot(pivot, p->type, p->who, row, inverse, e)) return false;
    return !suspect || p->size > 0 || size > p->least * largest ||
           fail(e, E_NUMERIC, "%s: the pivot of row %lld (counted from 0) is 0 up to rounding", p->who, (long long)row);
}

/* ---- stability ---- */

static double complex value_of(const double *val, int64_t k, bool pairs)
{
    return pairs ? CMPLX(val[2 * k], val[2 * k + 1]) : val[k];
}

/* z = T^-1 z for one triangle, row by row. */
static void solve_triangle(const struct entries *t, const double *inverse, int64_t n, bool up, bool pairs,
                           double complex *z)
{
    struct loop l = loop_of("the stability of factors", n);
    for (int64_t s = 0; s < n && loop_goes(&l, s); s++) {
        int64_t i = up ? n - 1 - s : s;
        for (int k = t->begin[i] + t->skip; k < t->end[i]; k++) z[i] -= value_of(t->val, k, pairs) * z[t->col[k]];
        if (inverse) z[i] *= value_of(inverse, i, pairs);
    }
}

bool pivots_are_stable(const struct pivots *p, const struct factors *f)
{
    bool pairs = type_is_complex(p->type);
    double complex *z = mem_new(f->n, sizeof *z, "the stability of factors", NULL);
    double size = 0;
    if (!z) return true;
    for (int64_t i = 0; i < f->n; i++) z[i] = 1;
    solve_triangle(&f->lower, f->lower_inverse, f->n, false, pairs, z);
    solve_triangle(&f->upper, f->upper_inverse, f->n, true, pairs, z);
    for (int64_t i = 0; i < f->n; i++) size = cabs(z[i]) <= size ? size : cabs(z[i]);
    mem_free(z);
    return size * p->most <= GROWTH;
}

/* ---- signs ---- */

/* Change the signs of the rows of U with a negative pivot; returns their number. */
static int64_t turn(const struct factors *f, enum type type, double *val, double *inverse)
{
    int64_t parts = type_parts(type), turned = 0;
    struct loop l = loop_of("the signs of pivots", f->n);
    for (int64_t i = 0; i < f->n && loop_goes(&l, i); i++) {
        if (!(inverse[parts * i] < 0)) continue;
        turned++;
        for (int64_t k = parts * (f->upper.begin[i] + f->upper.skip); k < parts * f->upper.end[i]; k++)
            val[k] = -val[k];
        for (int64_t k = 0; k < parts; k++) inverse[parts * i + k] = -inverse[parts * i + k];
    }
    return turned;
}

void pivots_note(struct solve *v, const struct pivots *p, const struct factors *f, double *val, double *inverse)
{
    const struct given *shift = &v->pre.triangles.shift;
    bool turns = v->solver->own_precond && !(shift->set && shift->value == 0);
    v->pre.note[TRI_SHIFT] = p->replaced ? llround(1e6 * p->size) : 0;
    v->pre.note[TRI_REPLACED] = p->replaced;
    v->pre.note[TRI_TURNED] = turns ? turn(f, p->type, val, inverse) : 0;
    v->pre.note[TRI_FILL] = 0;
}
