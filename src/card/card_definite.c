/* Report card: is a symmetric matrix positive definite, and what proves it? */
#include "card.h"
#include "card_lanczos.h"
#include "matrix/csr.h"
#include "base/mem.h"
#include "base/text.h"

#include <math.h>

/* A factorisation that needs more operations, or whose factor would not fit in the available memory, is not started. */
double card_flops_most = 1e11;

extern const struct card_line card_line_gershgorin;

/* The row of the first diagonal entry that is not positive. */
struct not_positive {
    double value;
    int64_t row; /* INT64_MAX: all diagonal entries are positive */
};

static void visit(const struct csr *A, int64_t row, void *part)
{
    struct not_positive *d = part;
    int64_t k = csr_find(A, row, row);
    double value = k < 0 ? 0 : A->val[k];
    if (value <= 0 && d->row == INT64_MAX) *d = (struct not_positive){value, row};
}

static void merge(void *sum, const void *part)
{
    struct not_positive *a = sum;
    const struct not_positive *b = part;
    if (b->row < a->row) *a = *b;
}

static bool proved(struct card *c, struct card_row *r, enum card_sign sign, const char *proof)
{
    c->sign = sign;
    card_set(r, "positive_definite", sign == CARD_POSITIVE);
    card_word(r, "definite_proof", proof);
    return true;
}

/* ---- Taussky: an irreducible matrix whose rows are dominant, at least one of them strictly, is regular ---- */

struct dominant {
    int64_t failing, strict; /* rows */
    int64_t zeros;           /* stored zeros off the diagonal are not edges of the graph */
};

/* The sum is compensated (high + low), so that a row whose diagonal entry equals the sum counts as weakly, not
   strictly, dominant. */
static void visit_dominant(const struct csr *A, int64_t row, void *part)
{
    struct dominant *d = part;
    double diagonal = 0, high = 0, low = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        double v = fabs(A->val[k]), sum = high + v, added = sum - high;
        if (A->col[k] == row) {
            diagonal = A->val[k];
            continue;
        }
        low += (high - (sum - added)) + (v - added);
        high = sum;
        d->zeros += v == 0;
    }
    double margin = diagonal - high - low;
    d->failing += !(margin >= 0);
    d->strict += margin > 0;
}

static void merge_dominant(void *sum, const void *part)
{
    struct dominant *a = sum;
    const struct dominant *b = part;
    a->failing += b->failing;
    a->strict += b->strict;
    a->zeros += b->zeros;
}

static bool taussky(struct card *c, bool *holds, struct err *e)
{
    struct dominant d = {0};
    int64_t n = 0, largest;
    *holds = false;
    if (c->A->imag) return true;
    if (!card_scan(c, "dominance", sizeof d, &d, visit_dominant, merge_dominant, e)) return false;
    if (d.failing || !d.strict || d.zeros) return true;
    if (!card_weakly_connected(c, &n, &largest, e)) return false;
    *holds = n == 1;
    return true;
}

/* ---- factorisation and Lanczos ---- */

static bool by_cholesky(struct card *c, struct card_row *r, struct err *e)
{
    struct card_cholesky l;
    if (!card_cholesky(c, &l, e)) return false;
    card_set(r, "cholesky_nnz", l.nnz);
    if (!l.positive) card_set(r, "cholesky_column", (double)l.failed);
    if (l.positive)
        card_say(r, "positive definite: Cholesky succeeds");
    else
        card_say(r, "not positive definite: Cholesky stops at row %lld", (long long)l.failed);
    card_advise(r, l.positive ? "cg, ic0" : "not cg");
    return proved(c, r, l.positive ? CARD_POSITIVE : CARD_INDEFINITE, "cholesky");
}

/* If the matrix is too large to factor, run cg: a search direction p with p'Ap <= 0 disproves definiteness. */
static bool by_ritz(struct card *c, struct card_row *r, struct err *e)
{
    struct card_lanczos l;
    if (c->A->imag) {
        card_say(r, "not known: complex, and too large to factor");
        return true;
    }
    if (!card_lanczos(c, &l, e)) return false;
    if (!l.indefinite) {
        card_say(r, "not proved: too large to factor; %s of cg found no p'Ap <= 0", how_many(l.steps, "step").text);
        return true;
    }
    card_say(r, "not positive definite: p'Ap <= 0 in step %lld of cg", (long long)l.steps);
    card_advise(r, "not cg");
    return proved(c, r, CARD_INDEFINITE, "ritz");
}

static bool by_work(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_fill *f = card_fill(c, e);
    if (!f) return false;
    bool factor = f->flops <= card_flops_most && 24 * f->nnz < (double)mem_available();
    return (factor ? by_cholesky : by_ritz)(c, r, e);
}

/* Tries the proofs that need no factorisation: a diagonal entry that is not positive, Gershgorin discs, dominant rows.
   Sets *done if one of them gives the answer. */
static bool by_inspection(struct card *c, struct card_row *r, bool *done, struct err *e)
{
    struct not_positive d = {0, INT64_MAX};
    struct card_row discs = {.line = &card_line_gershgorin};
    bool holds = false;
    *done = true;
    if (!card_scan(c, "diagonal", sizeof d, &d, visit, merge, e)) return false;
    if (d.row != INT64_MAX) {
        card_say(r, "not positive definite: a_ii = %.3g in row %lld", d.value, (long long)d.row);
        card_advise(r, "not cg, not ic0");
        card_set(r, "definite_row", (double)d.row);
        return proved(c, r, CARD_INDEFINITE, "diagonal");
    }
    if (!discs.line->run(c, &discs, e)) return false;
    if (c->positive_discs) {
        card_say(r, "positive definite: all Gershgorin discs lie to the right of 0");
        card_advise(r, "cg");
        return proved(c, r, CARD_POSITIVE, "gershgorin");
    }
    if (!taussky(c, &holds, e)) return false;
    *done = holds;
    if (!holds) return true;
    card_say(r, "positive definite: dominant rows, irreducible (Taussky)");
    card_advise(r, "cg, ic0");
    return proved(c, r, CARD_POSITIVE, "dominance");
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_symmetry *s = card_symmetry(c, e);
    bool done;
    if (!s) return false;
    if (!s->hermitian) {
        card_say(r, "not applicable: not %s", c->A->imag ? "hermitian" : "symmetric");
        return true;
    }
    return by_inspection(c, r, &done, e) && (done || by_work(c, r, e));
}

const struct card_line card_line_definite = {
    .name = "definite",
    .real = true,
    .about =
        "is a symmetric matrix positive definite? Decided by the diagonal, Gershgorin discs, irreducible dominance "
        "or Cholesky (CHOLMOD); for a matrix too large to factor, p'Ap in the steps of cg may disprove it",
    .keys = {{"positive_definite", CARD_BOOL},
             {"definite_proof", CARD_TEXT},
             {"definite_row", CARD_INT},
             {"cholesky_column", CARD_INT},
             {"cholesky_nnz", CARD_NUM}},
    .costly = true,
    .square = true,
    .finite = true,
    .run = run,
};
