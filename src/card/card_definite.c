/* Report card: is a symmetric matrix positive definite, and what proves it? */
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "card.h"
#include "card_lanczos.h"
#include "matrix/csr.h"
#include "matrix/dominance.h"

#include <float.h>
#include <math.h>

/* A factorisation that needs more operations than this is not started; neither is a factorisation whose factor would
   not fit in the available memory. */
double card_flops_most = 1e11;

enum { FLOPS_PER_US = 2000 }; /* speed of CHOLMOD on one core */

extern const struct card_line card_line_gershgorin;

/* The first diagonal entry that is not positive. */
struct not_positive {
    double value;
    int64_t row;     /* INT64_MAX: all diagonal entries are positive */
    int64_t below_0; /* number of negative diagonal entries */
};

static void visit(const struct csr *A, int64_t row, void *part)
{
    struct not_positive *d = part;
    int64_t k = csr_find(A, row, row);
    double value = k < 0 ? 0 : A->val[k];
    d->below_0 += value < 0;
    if (value <= 0 && d->row == INT64_MAX) d->value = value, d->row = row;
}

static void merge(void *sum, const void *part)
{
    struct not_positive *a = sum;
    const struct not_positive *b = part;
    a->below_0 += b->below_0;
    if (b->row < a->row) a->value = b->value, a->row = b->row;
}

static bool proved(struct card *c, struct card_row *r, enum definiteness sign, const char *proof)
{
    c->facts->definite = sign;
    if (sign != DEFINITE_UNDECIDED) card_set(r, "positive_definite", sign == DEFINITE_POSITIVE);
    if (sign == DEFINITE_POSITIVE) card_prove_regular(c, "definite");
    card_word(r, "definite_proof", proof);
    return true;
}

/* ---- factorisation and Lanczos ---- */

/* A is singular. If it is dominant as well, as the Laplacian of a graph is, no eigenvalue is below 0. */
static bool when_singular(struct card *c, struct card_row *r, const char *why, const char *proof)
{
    bool dominant = c->facts->symmetry.hermitian && c->facts->dominance == DOMINANT_WEAKLY;
    card_say(r, "%s: %s", dominant ? "positive semidefinite, singular" : "not positive definite", why);
    card_advise(r, dominant ? "" : "not cg");
    return proved(c, r, dominant ? DEFINITE_SEMI : DEFINITE_NOT, proof);
}

/* No eigenvalue is below 0 by more than rounding errors: exact arithmetic may show that one is 0. */
static bool near_semidefinite(struct card *c, struct card_row *r, struct err *e)
{
    if (!card_regularity(c, true, e)) return false;
    if (c->facts->singular) return when_singular(c, r, "its determinant is exactly 0", "determinant");
    if (c->facts->regular && c->facts->symmetry.hermitian && c->facts->dominance == DOMINANT_WEAKLY) {
        card_say(r, "positive definite: dominant rows, nonzero determinant");
        card_advise(r, "cg, ic0");
        return proved(c, r, DEFINITE_POSITIVE, "determinant");
    }
    card_say(r, "semidefinite to rounding, not decidable in fp64");
    card_advise(r, "cg, probably");
    return proved(c, r, DEFINITE_UNDECIDED, "undecided");
}

static bool with_factor(struct card *c, struct card_row *r)
{
    card_say(r, "positive definite by Cholesky, with a margin for rounding");
    card_advise(r, "cg, ic0");
    return proved(c, r, DEFINITE_POSITIVE, "cholesky");
}

static bool without_factor(struct card *c, struct card_row *r, double us, struct err *e)
{
    struct card_cholesky l;
    if (!card_affords(c, us, e) || !card_cholesky(c, CARD_MARGIN_ABOVE, &l, e)) return false;
    if (l.positive) return near_semidefinite(c, r, e);
    card_set(r, "cholesky_column", (double)l.failed);
    card_say(r, "not positive definite: Cholesky stops at row %lld", (long long)l.failed);
    card_advise(r, "not cg");
    return proved(c, r, DEFINITE_NOT, "cholesky");
}

static bool by_cholesky(struct card *c, struct card_row *r, double us, struct err *e)
{
    struct card_cholesky l;
    if (!card_cholesky(c, CARD_MARGIN_BELOW, &l, e)) return false;
    card_set(r, "cholesky_nnz", l.nnz);
    return l.positive ? with_factor(c, r) : without_factor(c, r, us, e);
}

/* If the matrix is too large to factor, run cg: a search direction p with p'Ap < 0 disproves definiteness. */
static bool by_ritz(struct card *c, struct card_row *r, struct err *e)
{
    struct card_lanczos l;
    if (c->facts->definite == DEFINITE_POSITIVE) return with_factor(c, r); /* facts_definite has found it */
    if (c->A->imag) {
        card_say(r, "not known: complex, and too large to factor");
        return true;
    }
    if (!card_lanczos(c, &l, e)) return false;
    if (!l.indefinite) {
        card_say(r, "not proved: too large to factor; %s of cg found no p'Ap < 0", how_many(l.steps, "step").text);
        return true;
    }
    card_say(r, "not positive definite: p'Ap < 0 in step %lld of cg", (long long)l.steps);
    card_advise(r, "not cg");
    return proved(c, r, DEFINITE_NOT, "ritz");
}

static bool by_work(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_fill *f = card_fill(c, e);
    if (!f) return false;
    double us = f->flops / FLOPS_PER_US;
    bool factor = f->flops <= card_flops_most && 24 * f->nnz < (double)mem_available() && card_has_time(c, us);
    return factor ? by_cholesky(c, r, us, e) : by_ritz(c, r, e);
}

/* An entry whose square exceeds the product of the diagonal entries of its row and its column. */
struct minor {
    int64_t row, col; /* row INT64_MAX: none */
};

/* The values are scaled so that squares neither overflow nor underflow; the factor covers rounding errors. */
static void visit_minor(const struct csr *A, int64_t row, void *part)
{
    static const double MORE = 1 + 16 * DBL_EPSILON;
    struct minor *m = part;
    if (m->row != INT64_MAX) return;
    double diagonal = A->val[csr_find(A, row, row)], root = sqrt(diagonal);
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        int64_t j = A->col[k];
        if (j <= row || csr_abs(A, k) <= diagonal) continue;
        if (csr_abs(A, k) > MORE * root * sqrt(A->val[csr_find(A, j, j)])) {
            *m = (struct minor){row, j};
            return;
        }
    }
}

static void merge_minor(void *sum, const void *part)
{
    struct minor *a = sum;
    const struct minor *b = part;
    if (b->row < a->row) *a = *b;
}

static bool by_minor(struct card *c, struct card_row *r, bool *done, struct err *e)
{
    struct minor m = {.row = INT64_MAX};
    if (!card_scan(c, "minors", sizeof m, &m, visit_minor, merge_minor, e)) return false;
    *done = m.row != INT64_MAX;
    if (!*done) return true;
    card_say(r, "not positive definite: |a_ij|^2 > a_ii a_jj at (%lld, %lld)", (long long)m.row, (long long)m.col);
    card_advise(r, "not cg");
    return proved(c, r, DEFINITE_NOT, "minor");
}

/* A * ones = 0. */
static bool by_row_sums(struct card *c, struct card_row *r)
{
    card_prove_singular(c, "row sums");
    return when_singular(c, r, "each row sums to exactly 0", "row sums");
}

/* Tries the proofs that need no factorisation, for a matrix with a positive diagonal: Gershgorin discs, dominant rows,
   rows that sum to 0, minors of 2 rows. Sets *done if one of them gives the answer. */
static bool by_inspection(struct card *c, struct card_row *r, bool *done, struct err *e)
{
    struct card_row discs = {.line = &card_line_gershgorin};
    bool balanced;
    *done = c->facts->symmetry.hermitian; /* these proofs do not cover differences between a_ij and a_ji */
    if (!*done) return true;
    if (!discs.line->run(c, &discs, e)) return false;
    if (c->facts->positive_discs) {
        card_say(r, "positive definite: all Gershgorin discs lie to the right of 0");
        card_advise(r, "cg");
        return proved(c, r, DEFINITE_POSITIVE, "gershgorin");
    }
    if (!card_dominance(c, e)) return false;
    if (c->facts->dominance == DOMINANT_CHAINED) {
        card_say(r, "positive definite: dominant rows, chained to strict ones");
        card_advise(r, "cg, ic0");
        return proved(c, r, DEFINITE_POSITIVE, "dominance");
    }
    if (!rows_sum_to_0(c->A, &balanced, e)) return false;
    if (balanced) return by_row_sums(c, r);
    return by_minor(c, r, done, e);
}

static bool with_positive_diagonal(struct card *c, struct card_row *r, struct err *e)
{
    bool done;
    return by_inspection(c, r, &done, e) && (done || by_work(c, r, e));
}

/* ---- a negative diagonal: is -A positive definite? ---- */

static bool negate(const struct csr *A, double *out, struct err *e)
{
    struct loop l = loop_of("-A", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) out[k] = -A->val[k];
    return loop_end(&l, e);
}

/* Fills in what is found about -A. */
static bool examine_negative(struct card *c, struct card_row *found, struct err *e)
{
    const struct csr *A = c->A;
    double *val = mem_new(A->nnz, sizeof *val, "-A", e);
    bool ok = val && negate(A, val, e), positive = c->facts->positive_discs, negative_discs = c->facts->negative_discs;
    if (ok) {
        struct csr negative = *A;
        negative.val = val;
        c->A = &negative;
        ok = with_positive_diagonal(c, found, e);
        c->A = A;
        c->facts->positive_discs = positive;
        c->facts->negative_discs = negative_discs;
    }
    mem_free(val);
    return ok;
}

static bool with_negative_diagonal(struct card *c, struct card_row *r, struct err *e)
{
    static const enum definiteness of_a[] = {[DEFINITE_UNKNOWN] = DEFINITE_NOT,
                                             [DEFINITE_NOT] = DEFINITE_NOT,
                                             [DEFINITE_UNDECIDED] = DEFINITE_UNDECIDED,
                                             [DEFINITE_SEMI] = DEFINITE_UNDECIDED,
                                             [DEFINITE_POSITIVE] = DEFINITE_NEGATIVE};
    struct card_row found = {.line = r->line};
    enum definiteness *is = &c->facts->definite;
    enum definiteness of_minus_a = *is == DEFINITE_NEGATIVE ? DEFINITE_POSITIVE : DEFINITE_UNKNOWN;
    proved(c, r, DEFINITE_NOT, "diagonal");
    *is = of_minus_a;
    bool ok = examine_negative(c, &found, e), definite = *is == DEFINITE_POSITIVE;
    if (ok && *is != DEFINITE_UNKNOWN && *is != DEFINITE_UNDECIDED) card_set(r, "negative_definite", definite);
    *is = of_a[*is];
    if (!ok) return false;
    card_say(r, definite ? "negative definite, because -A is positive definite"
                         : "not positive definite: a_ii < 0 in all rows");
    card_advise(r, definite ? "cg, ic0" : "not cg, not ic0");
    return true;
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_symmetry *s = card_symmetry(c, e);
    struct not_positive d = {.row = INT64_MAX};
    if (!s) return false;
    if (!s->hermitian) {
        card_say(r, "not applicable: not %s", c->A->imag ? "hermitian" : "symmetric");
        r->quiet = true;
        return true;
    }
    if (!card_scan(c, "diagonal", sizeof d, &d, visit, merge, e)) return false;
    if (d.row == INT64_MAX) return with_positive_diagonal(c, r, e);
    card_set(r, "definite_row", (double)d.row);
    if (d.below_0 == c->A->rows && !c->A->imag) return with_negative_diagonal(c, r, e);
    proved(c, r, DEFINITE_NOT, "diagonal");
    card_say(r, "not positive definite: a_ii = %.3g in row %lld", d.value, (long long)d.row);
    card_advise(r, "not cg, not ic0");
    return true;
}

const struct card_line card_line_definite = {
    .name = "definite",
    .about =
        "is a symmetric matrix positive definite? Proved by the diagonal, Gershgorin discs, chained dominance, rows "
        "that sum to 0, minors of 2 rows, or Cholesky (CHOLMOD) with a margin for its rounding errors; for a matrix "
        "too "
        "large to factor, p'Ap in the steps of cg may disprove it",
    .keys = {{"positive_definite", CARD_BOOL},
             {"definite_proof", CARD_TEXT},
             {"definite_row", CARD_INT},
             {"cholesky_column", CARD_INT},
             {"cholesky_nnz", CARD_NUM},
             {"negative_definite", CARD_BOOL}},
    .costly = true,
    .square = true,
    .finite = true,
    .for_solvers = true,
    .run = run,
};
