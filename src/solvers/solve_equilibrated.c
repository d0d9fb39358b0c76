/* A solve of the equilibrated or reordered system: its vectors as those of A x = b, and back. */
#include "base/screen_lock.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "solve.h"
#include "solve_state.h"

#include <math.h>

/* x[i] *= 2^(sign * by[i]), without rounding unless the result leaves the range of fp64. */
static void multiply(int64_t n, int64_t parts, const int *by, int sign, double *x)
{
    for (int64_t i = 0; i < n * parts; i++) x[i] = ldexp(x[i], sign * by[i / parts]);
}

static void exchange(int64_t parts, int64_t i, int64_t k, double *x)
{
    for (int64_t p = 0; p < parts; p++) {
        double t = x[i * parts + p];
        x[i * parts + p] = x[k * parts + p];
        x[k * parts + p] = t;
    }
}

/* Into the other system: multiplied by 2^(sign * by[i]), then exchanged with swap[i]. `forth` false: out of it. */
static void map(int64_t n, int64_t parts, const int *by, int sign, const int *swap, bool forth, double *x)
{
    if (by && forth) multiply(n, parts, by, sign, x);
    for (int64_t i = 0; swap && forth && i < n; i++) exchange(parts, i, swap[i], x);
    for (int64_t i = n; swap && !forth && i-- > 0;) exchange(parts, i, swap[i], x);
    if (by && !forth) multiply(n, parts, by, -sign, x);
}

void scaling_map_x(const struct solve_scaling *by, bool pairs, bool back, double *x)
{
    map(by->of->cols, pairs ? 2 : 1, by->col, -1, by->col_swap, back, x);
}

void scaling_map_b(const struct solve_scaling *by, bool pairs, bool back, double *b)
{
    map(by->of->rows, pairs ? 2 : 1, by->row, 1, by->row_swap, back, b);
}

static void change_sides(struct solve *v, bool inside)
{
    struct solve_scaling *s = &v->scaling;
    bool pairs = s->of->imag;
    scaling_map_b(s, pairs, inside, v->b);
    if (v->result.x) scaling_map_x(s, pairs, inside, v->result.x);
    double norm = norm2(v->n_b, v->b);
    SCREEN_EDIT;
    v->b_norm = norm;
    v->matrix.csr = inside ? s->scaled : s->of;
    s->inside = inside;
}

void solve_leave_scaled(struct solve *v)
{
    if (v->scaling.of && v->scaling.inside) change_sides(v, false);
}

void solve_enter_scaled(struct solve *v)
{
    if (v->scaling.of && !v->scaling.inside) change_sides(v, true);
}
