/* A solve of the equilibrated system: its vectors as those of A x = b, and back. */
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

void scaling_map_x(const struct solve_scaling *by, bool pairs, bool back, double *x)
{
    multiply(by->of->cols, pairs ? 2 : 1, by->col, back ? -1 : 1, x);
}

void scaling_map_b(const struct solve_scaling *by, bool pairs, bool back, double *b)
{
    multiply(by->of->rows, pairs ? 2 : 1, by->row, back ? 1 : -1, b);
}

static void change_sides(struct solve *v, bool inside)
{
    struct solve_scaling *s = &v->scaling;
    bool pairs = s->of->imag;
    scaling_map_b(s, pairs, inside, v->b);
    if (v->result.x) scaling_map_x(s, pairs, inside, v->result.x);
    double norm = norm2(v->n, v->b);
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
