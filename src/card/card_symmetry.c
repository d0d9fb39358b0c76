/* Report card: how much a matrix differs from its transpose, in pattern and in values. */
#include "card.h"
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

struct mirror {
    int64_t off, mirrored, equal;
    double skew, all; /* sums of |a / unit|^2 over the entries of A - A' and of A; A' is the conjugate transpose */
    double unit;      /* scale that prevents overflow and underflow */
};

static double square(double re, double im, double unit)
{
    return re / unit * (re / unit) + im / unit * (im / unit);
}

static double imag_at(const struct csr *A, int64_t k)
{
    return A->imag ? A->imag[k] : 0;
}

/* Adds entry k, which lies off the diagonal, to the sums. `at` is the mirror image of entry k, or -1 if the mirror
   image is not stored. Without a mirror image, entry k makes two entries of A - A', with opposite signs; the terms of
   both are added here. With a mirror image, each of the two stored entries adds one term when it is visited. */
static void visit_entry(const struct csr *A, int64_t k, int64_t at, struct mirror *m)
{
    double re = A->val[k], im = imag_at(A, k);
    m->off++;
    if (at < 0) {
        m->equal += re == 0 && im == 0;
        m->skew += 2 * square(re, im, m->unit);
        return;
    }
    double re2 = A->val[at], im2 = imag_at(A, at);
    m->mirrored++;
    m->equal += re == re2 && im == im2;
    m->skew += square(re - re2, im + im2, m->unit);
}

static void visit(const struct csr *A, int64_t row, void *part)
{
    struct mirror *m = part;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        m->all += square(A->val[k], imag_at(A, k), m->unit);
        if (A->col[k] == row) {
            m->skew += square(0, 2 * imag_at(A, k), m->unit);
            continue;
        }
        visit_entry(A, k, csr_find(A, A->col[k], row), m);
    }
}

static void merge(void *sum, const void *part)
{
    struct mirror *a = sum;
    const struct mirror *b = part;
    a->off += b->off;
    a->mirrored += b->mirrored;
    a->equal += b->equal;
    a->skew += b->skew;
    a->all += b->all;
}

static void visit_largest(const struct csr *A, int64_t row, void *part)
{
    double *most = part;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        double size = csr_abs(A, k);
        if (size > *most || isnan(size)) *most = size;
    }
}

static void merge_largest(void *sum, const void *part)
{
    const double *b = part;
    double *a = sum;
    if (*b > *a || isnan(*b)) *a = *b;
}

/* The scale for sums of squares: the largest |a|, or 1 if the largest |a| is 0 or not finite. */
static double unit_of(double largest)
{
    return largest > 0 && isfinite(largest) ? largest : 1;
}

const struct card_symmetry *card_symmetry(struct card *c, struct err *e)
{
    struct card_symmetry *out = &c->symmetry;
    double most = 0;
    if (c->has_symmetry) return out;
    if (!card_scan(c, "largest value", sizeof most, &most, visit_largest, merge_largest, e)) return NULL;
    struct mirror m = {.unit = unit_of(most)};
    struct facts *f = c->facts;
    if (!f->has_symmetry && !symmetry_of(c->A, c->watch, &f->symmetry, e)) return NULL;
    f->has_symmetry = true;
    if (!card_scan(c, "symmetry", sizeof m, &m, visit, merge, e)) return NULL;
    out->off = m.off;
    out->mirrored = m.mirrored;
    out->equal = m.equal;
    f->skew = m.all > 0 ? sqrt(m.skew / m.all) : m.all == 0 ? 0 : NAN;
    out->pattern = f->symmetry.pattern;
    out->values = c->A->imag ? f->symmetry.values : f->symmetry.rounding;
    out->hermitian = f->symmetry.rounding;
    f->has_skew = true;
    c->has_symmetry = true;
    return out;
}

/* Returns 100 only if `part` equals `all`; otherwise returns at most 99.9. */
static double percent(int64_t part, int64_t all)
{
    double p = all ? 100.0 * (double)part / (double)all : 100;
    return part < all && p > 99.9 ? 99.9 : p;
}

static bool run_pattern(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_symmetry *s = card_symmetry(c, e);
    if (!s) return false;
    card_set(r, "pattern_symmetric", s->pattern);
    card_set(r, "mirrored", s->off ? (double)s->mirrored / (double)s->off : 1);
    if (s->pattern) {
        card_say(r, "symmetric");
        card_advise(r, s->off ? "orderings and incomplete factorisations work on A itself"
                              : "all entries are on the diagonal");
    } else if (!s->mirrored) {
        card_say(r, "no entry off the diagonal has a mirror image");
        card_advise(r, "a directed graph");
    } else {
        card_say(r, "%.3g%% of entries have a mirror image", percent(s->mirrored, s->off));
        card_advise(r, "orderings work on A + A'");
    }
    return true;
}

/* skew: ||A - A'|| / ||A||. */
static void advise_unsymmetric(struct card_row *r, double skew)
{
    if (skew < 1e-12) {
        card_advise(r, "symmetrize, then cg");
    } else {
        card_advise(r, "not cg");
        card_advise_unless(r, CARD_IF_SINGULAR, "bicgstab, gmres or lu");
    }
}

static bool run_values(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_symmetry *s = card_symmetry(c, e);
    if (!s) return false;
    card_set(r, "value_symmetric", c->facts->symmetry.values);
    card_set(r, "hermitian", c->facts->symmetry.hermitian);
    card_set(r, "to_rounding", c->facts->symmetry.rounding);
    card_set(r, "equal", s->off ? (double)s->equal / (double)s->off : 1);
    card_set(r, "skew", c->facts->skew);
    if (isnan(c->facts->skew)) {
        card_say(r, "not known: the matrix has NaN or inf");
    } else if (s->hermitian) {
        const char *word = c->A->imag ? "hermitian" : "symmetric";
        if (c->facts->symmetry.hermitian)
            card_say(r, "%s", word);
        else
            card_say(r, "%s to rounding, ||A - A'|| = %.2g ||A||", word, c->facts->skew);
        if (c->facts->symmetry.hermitian) card_advise(r, "storing one half is enough");
        card_advise_unless(r, CARD_IF_SINGULAR | CARD_IF_SIGN_KNOWN, "cg if also definite");
    } else if (s->values) {
        card_say(r, "symmetric, not hermitian");
    } else {
        card_say(r, "%s||A - A'|| = %.2g ||A||", c->A->imag ? "neither hermitian nor symmetric, " : "", c->facts->skew);
        advise_unsymmetric(r, c->facts->skew);
    }
    return true;
}

const struct card_line card_line_pattern = {
    .name = "pattern",
    .about = "is the pattern symmetric? Also shows the share of the entries off the diagonal that have a mirror image",
    .keys = {{"pattern_symmetric", CARD_BOOL}, {"mirrored", CARD_NUM}},
    .square = true,
    .run = run_pattern,
};
const struct card_line card_line_values = {
    .name = "values",
    .real = true,
    .about = "does A equal its transpose, and its conjugate transpose A'? Also shows ||A - A'|| / ||A|| in the "
             "Frobenius norm, which is twice ||skew part|| / ||A||",
    .keys = {{"value_symmetric", CARD_BOOL},
             {"hermitian", CARD_BOOL},
             {"to_rounding", CARD_BOOL},
             {"equal", CARD_NUM},
             {"skew", CARD_NUM}},
    .square = true,
    .for_solvers = true,
    .run = run_values,
};
