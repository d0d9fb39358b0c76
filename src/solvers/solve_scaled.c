/* The system that a solver iterates on: that of the user, scaled by powers of 2 if the squares and products of its
   numbers would leave the range of the precision. Such squares overflow or become 0, which looks like a breakdown. */
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/magnitude.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/norms.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Numbers from 2^-range to 2^range are not scaled. In fp64, (A b)^2 is then at most about 2^400. Vectors in fp32 hold A
   b, and M^-1 r after r has fallen to 1e-8 b: at least 2^-107; sums of squares are in fp64. */
enum { RANGE_F32 = 40, RANGE_F64 = 100 };

/* No entry of A may fall below the smallest normal number, because A might become singular. Numbers of b may become 0:
   they are negligible beside the largest one. Matrices without arrays and large matrices are not scaled; generators
   make numbers near 1. */
static int exponent_of(struct magnitudes m, enum type real)
{
    bool single = real == T_F32;
    return magnitude_exponent(m, single ? RANGE_F32 : RANGE_F64, single ? FLT_MIN_EXP - 1 : DBL_MIN_EXP - 1);
}

int solve_exponent_of_b(int64_t n, const double *b, enum type real)
{
    struct magnitudes m = magnitudes_of(n, b);
    m.least = m.most;
    return exponent_of(m, real);
}

struct solve_exponents solve_exponents_of(const struct csr *A, const double *b, enum type real)
{
    struct solve_exponents x = {.b = solve_exponent_of_b(solve_numbers_of_b(A), b, real)};
    if (A->source || csr_is_large(A)) return x;
    struct magnitudes m = magnitudes_of(A->nnz, A->val);
    if (A->imag) m = magnitudes_joined(m, magnitudes_of(A->nnz, A->imag));
    x.a = exponent_of(m, real);
    return x;
}

int scaled_x_exponent(const struct solve *v)
{
    return v->matrix.exponents.a - v->matrix.exponents.b;
}

void scaled_undo(const struct solve *v, double *x)
{
    if (scaled_x_exponent(v)) scale_by_power(v->n, x, -scaled_x_exponent(v), x);
}

static double *scaled_copy(int64_t n, const double *from, int exponent, const char *what, struct err *e)
{
    double *to = mem_new(n, sizeof *to, what, e);
    if (to) scale_by_power(n, from, -exponent, to);
    return to;
}

static bool scale_transposed(struct solve *v, struct err *e)
{
    const struct csr *T = v->matrix.transposed_csr;
    struct csr *to = &v->system.scaled_transposed;
    if (!v->solver->transposed_products) return true;
    *to = *T;
    to->val = scaled_copy(T->nnz, T->val, v->matrix.exponents.a, "the scaled matrix", e);
    return to->val != NULL;
}

static bool scale_matrix(struct solve *v, struct err *e)
{
    const struct csr *A = v->matrix.csr;
    struct csr *B = &v->system.scaled;
    int exponent = v->matrix.exponents.a;
    if (!exponent) return true;
    *B = *A;
    B->val = scaled_copy(A->nnz, A->val, exponent, "the scaled matrix", e);
    B->imag = B->val && A->imag ? scaled_copy(A->nnz, A->imag, exponent, "the scaled matrix", e) : NULL;
    v->system.A = B;
    return B->val && (B->imag || !A->imag) && scale_transposed(v, e);
}

static bool scale_b(struct solve *v, struct err *e)
{
    struct solve_system *y = &v->system;
    int exponent = v->matrix.exponents.b;
    if (!exponent) return true;
    y->b = y->scaled_b = scaled_copy(v->n_b, v->b, exponent, "the scaled right-hand side", e);
    if (y->b) y->b_norm = norm2(v->n_b, y->b);
    return y->b != NULL;
}

bool scaled_begin(struct solve *v, struct err *e)
{
    v->system.A = v->matrix.csr;
    v->system.b = v->b;
    v->system.b_norm = v->b_norm;
    return scale_matrix(v, e) && scale_b(v, e) && loop_unbroken("scaling", e);
}

static bool store(struct solve *v, const struct csr *A, const struct kernel *k, struct solve_stored *to,
                  enum precision precision, struct mat **mat, struct err *e)
{
    if (!format_pack(A, k->format, NULL, precision, v->set.force, &to->S, e) || (k->fits && !k->fits(&to->S, e)) ||
        !mat_put(&to->M, &to->S, v->dev, e))
        return false;
    *mat = &to->M;
    return true;
}

bool scaled_put(struct solve *v, struct err *e)
{
    struct solve_stored *stored = v->system.stored;
    if (!v->matrix.exponents.a || v->set.form_matrix || v->matrix.mat) return true;
    const struct csr *A = v->system.A, *T = &v->system.scaled_transposed;
    const struct kernel *k = v->matrix.kernel, *by = v->matrix.transposed_kernel;
    if (!store(v, A, k, &stored[0], v->precision, &v->matrix.mat, e)) return false;
    if (v->refine.on && !store(v, A, k, &stored[1], P_F64, &v->matrix.fine, e)) return false;
    return !v->solver->transposed_products || store(v, T, by, &stored[2], v->precision, &v->matrix.transposed, e);
}

void scaled_release(struct solve *v)
{
    if (!v->matrix.exponents.a) return;
    v->matrix.mat = v->matrix.fine = v->matrix.transposed = NULL;
    for (int i = 0; i < COUNT(v->system.stored); i++) {
        struct solve_stored *x = &v->system.stored[i];
        if (x->M.dev) mat_free(&x->M);
        stored_free(&x->S);
        *x = (struct solve_stored){0};
    }
}

void scaled_free(struct solve *v)
{
    mem_free(v->system.scaled.val);
    mem_free(v->system.scaled.imag);
    mem_free(v->system.scaled_transposed.val);
    mem_free(v->system.scaled_b);
}
