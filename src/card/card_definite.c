/* Report card: is a symmetric matrix positive definite, and what proves it? */
#include "card.h"
#include "card_lanczos.h"
#include "matrix/csr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"

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

static bool proved(struct card *c, struct card_row *r, enum card_sign sign, const char *proof)
{
    c->sign = sign;
    card_set(r, "positive_definite", sign == CARD_POSITIVE);
    card_word(r, "definite_proof", proof);
    return true;
}

/* ---- Taussky: an irreducible matrix whose rows are dominant, at least one of them strictly, is nonsingular ---- */

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
    bool factor = f->flops <= card_flops_most && 24 * f->nnz < (double)mem_available() &&
                  card_has_time(c, f->flops / FLOPS_PER_US);
    return (factor ? by_cholesky : by_ritz)(c, r, e);
}

/* Tries the proofs that need no factorisation, for a matrix with a positive diagonal: Gershgorin discs, dominant rows.
   Sets *done if one of them gives the answer. */
static bool by_inspection(struct card *c, struct card_row *r, bool *done, struct err *e)
{
    struct card_row discs = {.line = &card_line_gershgorin};
    bool holds = false;
    *done = true;
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
    bool ok = val && negate(A, val, e), discs = c->positive_discs;
    if (ok) {
        struct csr negative = *A;
        negative.val = val;
        c->A = &negative;
        ok = with_positive_diagonal(c, found, e);
        c->A = A;
        c->positive_discs = discs;
    }
    mem_free(val);
    return ok;
}

static bool with_negative_diagonal(struct card *c, struct card_row *r, struct err *e)
{
    struct card_row found = {.line = r->line};
    if (!examine_negative(c, &found, e)) return false;
    bool definite = c->sign == CARD_POSITIVE;
    c->sign = definite ? CARD_NEGATIVE : CARD_INDEFINITE;
    card_set(r, "negative_definite", definite);
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
    proved(c, r, CARD_INDEFINITE, "diagonal");
    if (d.below_0 == c->A->rows && !c->A->imag) return with_negative_diagonal(c, r, e);
    card_say(r, "not positive definite: a_ii = %.3g in row %lld", d.value, (long long)d.row);
    card_advise(r, "not cg, not ic0");
    return true;
}

const struct card_line card_line_definite = {
    .name = "definite",
    .about =
        "is a symmetric matrix positive definite? Decided by the diagonal, Gershgorin discs, irreducible dominance "
        "or Cholesky (CHOLMOD); for a matrix too large to factor, p'Ap in the steps of cg may disprove it",
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
