/* Facts about a solve that refines, for the other files of a solve: its vectors in fp64, its tolerances, and why it
   gave up. solve_refine.c refines. */
#include "base/precision.h"
#include "solve.h"
#include "solve_state.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

bool refine_new_vectors(struct solve *v, struct err *e)
{
    for (int i = VEC_FINE_X; i <= VEC_FINE_NEXT && v->refine.on; i++)
        if (!solve_vectors(v, i, 1, T_F64, "a vector in fp64", e)) return false;
    return true;
}

bool refine_is_scratch(int i)
{
    return i == VEC_FINE_Q || i == VEC_FINE_NEXT;
}

double refine_inner_tol(const struct solve *v)
{
    return fmax(v->set.tol / 2, v->refine.now.aim * v->refine.now.residual);
}

int64_t solve_started_at(const struct solve *v)
{
    return v->refine.on ? v->refine.now.from : v->base;
}

enum type solve_reach(const struct solve *v)
{
    return v->refine.on ? T_F64 : v->real;
}

/* ---- in words ---- */

/* The condition above which values rounded to the stored type say too little about A. */
static double condition_limit(const struct solve *v)
{
    double unit = v->precision == P_F32 ? FLT_EPSILON : v->precision == P_F16_F32 ? 0x1p-10 : 0x1p-7;
    return 1 / unit;
}

/* What to do instead. */
static const char *more_digits(const struct solve *v)
{
    return precisions[v->precision].narrow ? "refine from fp32, or solve in f64"
                                           : "solve in f64, or with a stronger preconditioner";
}

void refine_explain(const struct solve *v, char *out, size_t size)
{
    const struct refine_state *now = &v->refine.now;
    const char *stored = type_name(precisions[v->precision].stored);
    if (v->reason == BROKE_DOWN)
        snprintf(
            out, size,
            "broke down with values in %s, at iteration %lld, residual %.2e in fp64: A is singular or indefinite, or "
            "rounding has made it so; %s",
            stored, (long long)v->iterations, now->residual, more_digits(v));
    else
        snprintf(
            out, size,
            "stagnated: the inner solves with values in %s no longer correct x: the last one multiplied the "
            "residual in fp64 by %.2g; it is now %.2e; the condition of A is probably above %.0e, too large for %s: %s",
            stored, now->gain, now->residual, condition_limit(v), stored, more_digits(v));
}
