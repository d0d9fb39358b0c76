/* A count of eigenvalues by Sylvester's law of inertia: it shows whether a search missed any (Parlett 1998, The
   Symmetric Eigenvalue Problem, 3.3). */
#include "eigen_verify.h"
#include "base/err.h"
#include "eigen.h"
#include "eigen_measure.h"
#include "inverse.h"
#include "matrix/csr.h"

#include <math.h>
#include <stdio.h>

/* Two values are separate if their distance is this share of ||A||, and more than their residuals. */
static const double separate = 1e-9;

static double distance(const struct eigen *v, int64_t i)
{
    return eigen_rank(v, v->pair[i].value, v->pair[i].imag);
}

/* The number of pairs before the last gap. Pairs that are open end the list. */
static int64_t pairs_before_gap(const struct eigen *v)
{
    int64_t closed = 0, k = 0;
    while (closed < v->found && v->pair[closed].status != EIGEN_OPEN) closed++;
    for (int64_t i = 1; i < closed; i++) {
        double margin = v->pair[i].residual + v->pair[i - 1].residual + separate * v->norm;
        if (distance(v, i) - distance(v, i - 1) > 2 * margin) k = i;
    }
    return k;
}

/* v->counted = the eigenvalues between the bounds. */
static bool count(struct eigen *v, struct err *e)
{
    int64_t low = 0, high = v->A->rows;
    if (isfinite(v->from) && !inverse_count(v->A, v->from, v->o.force, v->o.watch, &low, e)) return false;
    if (isfinite(v->to) && !inverse_count(v->A, v->to, v->o.force, v->o.watch, &high, e)) return false;
    v->counted = high - low;
    return true;
}

bool eigen_verify(struct eigen *v, struct err *e)
{
    struct err why = {0};
    int64_t k = pairs_before_gap(v);
    if (v->complete) {
        snprintf(v->unverified, sizeof v->unverified, "the basis spans the whole space");
        return true;
    }
    if (v->kind == EIGEN_GENERAL) {
        snprintf(v->unverified, sizeof v->unverified,
                 "the signs of pivots count eigenvalues of symmetric and hermitian matrices only");
        return true;
    }
    if (!k) {
        snprintf(v->unverified, sizeof v->unverified,
                 "no gap separates the pairs; ask for more pairs than there are copies of the first eigenvalue");
        return true;
    }
    double middle = (distance(v, k) + distance(v, k - 1)) / 2;
    v->from = v->o.part == EIGEN_NEAR ? v->o.shift - middle : v->o.part == EIGEN_LARGEST ? -middle : -INFINITY;
    v->to = v->o.part == EIGEN_NEAR ? v->o.shift + middle : v->o.part == EIGEN_LARGEST ? INFINITY : middle;
    if (count(v, &why)) {
        v->verified = k;
        return true;
    }
    if (why.code == E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
    snprintf(v->unverified, sizeof v->unverified, "%.200s", why.text);
    return true;
}
