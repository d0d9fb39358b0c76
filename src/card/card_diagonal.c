/* Report card: the diagonal compared with the rest of each row and column, and the signs of the entries. */
#include "base/loop.h"
#include "base/text.h"
#include "card.h"
#include "matrix/csr.h"

#include <math.h>

/* ---- missing and zero diagonal entries ---- */

struct diagonal {
    int64_t zero;     /* diagonal entries that are 0 or not stored */
    int64_t missing;  /* diagonal entries that are not stored */
    int64_t first;    /* row of the first zero; INT64_MAX: no entry is 0 */
    int64_t negative; /* diagonal entries below 0; 0 if A is complex */
};

static void visit_diagonal(const struct csr *A, int64_t row, void *part)
{
    struct diagonal *d = part;
    int64_t k = csr_find(A, row, row);
    d->missing += k < 0;
    d->negative += k >= 0 && !A->imag && A->val[k] < 0;
    if ((k < 0 || csr_abs(A, k) == 0) && !d->zero++) d->first = row;
}

static void merge_diagonal(void *sum, const void *part)
{
    struct diagonal *a = sum;
    const struct diagonal *b = part;
    a->zero += b->zero;
    a->missing += b->missing;
    a->negative += b->negative;
    if (b->first < a->first) a->first = b->first;
}

static bool run_diagonal(struct card *c, struct card_row *r, struct err *e)
{
    struct diagonal d = {.first = INT64_MAX};
    if (!card_scan(c, "diagonal", sizeof d, &d, visit_diagonal, merge_diagonal, e)) return false;
    card_set(r, "zero_diagonal", (double)d.zero);
    c->facts->no_diagonal = d.zero;
    card_set(r, "missing_diagonal", (double)d.missing);
    if (!c->pattern) card_set(r, "negative_diagonal", (double)d.negative);
    if (d.zero) card_set(r, "zero_diagonal_row", (double)d.first);
    if (d.zero)
        card_say(r, "%s missing or 0, first in row %lld", card_count(d.zero).text, (long long)d.first);
    else if (d.negative)
        card_say(r, "full, %s of %s negative", card_count(d.negative).text, how_many(c->A->rows, "entry").text);
    else
        card_say(r, c->pattern ? "full" : "full, no zero");
    if (d.zero || !c->pattern) card_advise(r, "Jacobi, GS and SOR %s run", d.zero ? "cannot" : "can");
    return true;
}

/* ---- saddle points ---- */

static bool run_saddle(struct card *c, struct card_row *r, struct err *e)
{
    struct saddle s;
    if (!saddle_of(c->A, fact_symmetric(c->facts) == FACT_YES && !c->A->imag, &s, NULL, e)) return false;
    enum saddle_lack lack = saddle_lack(&s, c->A->rows);
    c->facts->has_saddle = true;
    c->facts->saddle = s;
    card_set(r, "saddle_point", lack == SADDLE_LACKS_NOTHING);
    card_set(r, "zero_rows_mixed", (double)s.mixed);
    r->quiet = lack != SADDLE_LACKS_NOTHING;
    switch (lack) {
    case SADDLE_LACKS_NOTHING:
        card_say(r, "%s of %s: %s", card_count(s.second).text, how_many(c->A->rows, "row").text,
                 s.by_sign ? "a diagonal of the other sign" : "zero diagonal, no entries among themselves");
        break;
    case SADDLE_MIXED:
        card_say(r, "no: %s with a zero diagonal, %s of them joined", how_many(s.zero, "row").text,
                 card_count(s.mixed).text);
        break;
    case SADDLE_EMPTY:
        card_say(r, "no: %s without a nonzero entry", how_many(s.empty, "row").text);
        break;
    case SADDLE_MANY:
        card_say(r, "no: more than half of the diagonal is 0");
        break;
    case SADDLE_FULL:
        card_say(r, "no: the diagonal is full");
        break;
    }
    return true;
}

/* ---- dominance ---- */

/* Returns 2 for strict dominance, 1 for weak dominance, 0 for no dominance. Sums that agree to 12 digits count as
   equal, because a smaller difference may be a rounding error of this sum or of the values in the file. */
static int dominance_of(double diagonal, double others)
{
    if (isinf(others)) return 0; /* the sum has left the range of fp64, and exceeds each number in it */
    if (fabs(diagonal - others) <= 1e-12 * diagonal + 1e-12 * others) return 1;
    return diagonal > others ? 2 : 0;
}

struct dominance {
    int64_t count[3]; /* number of rows for each dominance: 0 not dominant, 1 weakly, 2 strictly dominant */
    int64_t first;    /* first row that is not dominant */
    double worst;     /* smallest |a_ii| / sum of the other |a_ij| */
};

static void visit_dominance(const struct csr *A, int64_t row, void *part)
{
    struct dominance *d = part;
    double diagonal = 0, others = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++)
        *(A->col[k] == row ? &diagonal : &others) += csr_abs(A, k);
    int kind = diagonal == 0 ? 0 : dominance_of(diagonal, others);
    if (!kind && !d->count[0]) d->first = row;
    d->count[kind]++;
    if (others > 0 && diagonal / others < d->worst) d->worst = diagonal / others;
}

static void merge_dominance(void *sum, const void *part)
{
    struct dominance *a = sum;
    const struct dominance *b = part;
    for (int i = 0; i < 3; i++) a->count[i] += b->count[i];
    if (b->first < a->first) a->first = b->first;
    if (b->worst < a->worst) a->worst = b->worst;
}

static void count_columns(const struct csr *A, const struct card_columns *col, int64_t *count)
{
    struct loop l = loop_of("columns", A->cols);
    for (int64_t j = 0; j < A->cols && loop_goes(&l, j); j++) {
        int64_t k = csr_find(A, j, j);
        double diagonal = k < 0 ? 0 : csr_abs(A, k);
        count[diagonal == 0 ? 0 : dominance_of(diagonal, col->sum[j] - diagonal)]++;
    }
}

/* No row fails. Dominance guarantees convergence only if at least one row is strictly dominant: all rows of a graph's
   Laplacian are only weakly dominant, and the Laplacian is singular. */
static void say_weak(struct card_row *r, const struct dominance *d)
{
    if (d->count[2]) {
        card_say(r, "strict in %s, weak in %s", how_many(d->count[2], "row").text, card_count(d->count[1]).text);
        card_advise(r, "Jacobi if irreducible");
    } else {
        card_say(r, "weak in all rows");
        card_advise(r, "possibly singular, like a graph's Laplacian");
    }
}

static bool run_dominance(struct card *c, struct card_row *r, struct err *e)
{
    struct dominance d = {.first = INT64_MAX, .worst = INFINITY};
    int64_t cols[3] = {0};
    const struct card_columns *col = card_columns(c, e);
    if (!col || !card_scan(c, "dominance", sizeof d, &d, visit_dominance, merge_dominance, e)) return false;
    count_columns(c->A, col, cols);
    card_set(r, "rows_strict", (double)d.count[2]);
    card_set(r, "rows_weak", (double)d.count[1]);
    card_set(r, "rows_failing", (double)d.count[0]);
    card_set(r, "cols_strict", (double)cols[2]);
    card_set(r, "cols_weak", (double)cols[1]);
    card_set(r, "cols_failing", (double)cols[0]);
    card_set(r, "dominance", d.worst);
    c->facts->strict = (!d.count[0] && !d.count[1]) || (!cols[0] && !cols[1]);
    if (!d.count[0] && !d.count[1]) {
        card_say(r, "strict in all rows");
        card_advise(r, "Jacobi and GS converge, LU needs no pivoting");
    } else if (!cols[0] && !cols[1]) {
        card_say(r, "strict in all columns");
        card_advise(r, "Jacobi and GS converge");
    } else if (!d.count[0]) {
        say_weak(r, &d);
    } else {
        card_say(r, "fails in %s, first %lld, and %s", how_many(d.count[0], "row").text, (long long)d.first,
                 how_many(cols[0], "column").text);
        card_advise(r, "Jacobi may diverge");
    }
    return true;
}

/* ---- signs: a Z-matrix with a dominant positive diagonal is an M-matrix (Saad 2003, 1.10) ---- */

struct signs {
    int64_t positive, negative; /* number of positive, and of negative, entries off the diagonal */
    int64_t bad_diagonal;       /* number of rows whose diagonal entry is not positive */
    int64_t first;              /* row of the first positive entry off the diagonal */
    int64_t strict, weak;       /* number of strictly dominant rows, and of weakly dominant rows */
};

static void visit_signs(const struct csr *A, int64_t row, void *part)
{
    struct signs *s = part;
    double diagonal = 0, others = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        double v = A->val[k];
        if (A->col[k] == row) {
            diagonal = v;
            continue;
        }
        others += fabs(v);
        s->negative += v < 0;
        if (v > 0 && !s->positive++) s->first = row;
    }
    int kind = diagonal != 0 ? dominance_of(fabs(diagonal), others) : 0;
    s->bad_diagonal += !(diagonal > 0);
    s->strict += kind == 2;
    s->weak += kind == 1;
}

static void merge_signs(void *sum, const void *part)
{
    struct signs *a = sum;
    const struct signs *b = part;
    a->positive += b->positive;
    a->negative += b->negative;
    a->bad_diagonal += b->bad_diagonal;
    a->strict += b->strict;
    a->weak += b->weak;
    if (b->first < a->first) a->first = b->first;
}

static void say_signs(const struct card *c, const struct signs *s, struct card_row *r)
{
    bool dominant = s->strict == c->A->rows;
    if (c->A->imag) {
        r->quiet = true;
        card_say(r, "complex: no signs");
    } else if (s->bad_diagonal || s->positive) {
        if (s->bad_diagonal)
            card_say(r, "%s diagonal entries not positive", card_count(s->bad_diagonal).text);
        else
            card_say(r, "%s off-diagonal entries > 0, first in row %lld", card_count(s->positive).text,
                     (long long)s->first);
        r->quiet = true;
        card_advise(r, "no M-matrix");
        if (!dominant) card_add_advice(r, ", ILU(0) may fail"); /* with strict dominance, ILU(0) cannot fail */
    } else if (dominant) {
        card_say(r, "M-matrix (signs, strict dominance)");
        card_advise(r, "ILU(0) cannot break down");
    } else if (s->strict && s->strict + s->weak == c->A->rows) {
        card_say(r, "M-matrix if irreducible (signs, dominance)");
        card_advise(r, "then ILU(0) is safe");
    } else {
        card_say(r, "signs of an M-matrix, %s", s->weak == c->A->rows ? "weakly dominant" : "but not dominant");
        card_advise(r, "it may be one");
    }
}

static bool run_signs(struct card *c, struct card_row *r, struct err *e)
{
    struct signs s = {.first = INT64_MAX};
    if (!card_scan(c, "signs", sizeof s, &s, visit_signs, merge_signs, e)) return false;
    if (!c->A->imag) {
        card_set(r, "positive_off_diagonal", (double)s.positive);
        card_set(r, "negative_off_diagonal", (double)s.negative);
        card_set(r, "diagonal_not_positive", (double)s.bad_diagonal);
        card_set(r, "z_matrix", s.positive == 0 && s.bad_diagonal == 0);
        if (s.positive) card_set(r, "positive_row", (double)s.first);
    }
    say_signs(c, &s, r);
    return true;
}

const struct card_line card_line_diagonal = {
    .name = "diagonal",
    .about = "diagonal entries that are missing, zero or negative",
    .keys = {{"zero_diagonal", CARD_INT},
             {"zero_diagonal_row", CARD_INT},
             {"missing_diagonal", CARD_INT},
             {"negative_diagonal", CARD_INT}},
    .square = true,
    .for_solvers = true,
    .run = run_diagonal,
};
const struct card_line card_line_saddle = {
    .name = "saddle",
    .about = "a saddle point: rows whose diagonal is 0 or missing and that have no entries among themselves, wherever "
             "they are; `precond schur` is for it",
    .keys = {{"saddle_point", CARD_BOOL}, {"zero_rows_mixed", CARD_INT}},
    .square = true,
    .for_solvers = true,
    .run = run_saddle,
};
const struct card_line card_line_dominance = {
    .name = "dominance",
    .about = "|a_ii| compared with the sum of the other |a| in its row and in its column: strict if |a_ii| is larger, "
             "weak if the two agree to 12 digits, otherwise failing",
    .keys = {{"rows_strict", CARD_INT},
             {"rows_weak", CARD_INT},
             {"rows_failing", CARD_INT},
             {"cols_strict", CARD_INT},
             {"cols_weak", CARD_INT},
             {"cols_failing", CARD_INT},
             {"dominance", CARD_NUM}},
    .finite = true,
    .square = true,
    .for_solvers = true,
    .run = run_dominance,
};
const struct card_line card_line_signs = {
    .name = "signs",
    .about = "signs on the diagonal and off it: is it an M-matrix?",
    .keys = {{"z_matrix", CARD_BOOL},
             {"positive_off_diagonal", CARD_INT},
             {"negative_off_diagonal", CARD_INT},
             {"diagonal_not_positive", CARD_INT},
             {"positive_row", CARD_INT}},
    .finite = true,
    .square = true,
    .run = run_signs,
};
