/* Report card: norms, the range of the values, and Gershgorin discs. */
#include "base/loop.h"
#include "card.h"
#include "matrix/csr.h"

#include <float.h>
#include <math.h>

struct sizes {
    double inf;                 /* largest row sum of |a| */
    double most, least;         /* largest and smallest |a| that is not 0 */
    double row_most, row_least; /* largest and smallest row maximum of |a| that is not 0 */
    double squares, unit;       /* sum of (|a| / unit)^2 */
};

static void visit_sizes(const struct csr *A, int64_t row, void *part)
{
    struct sizes *s = part;
    double sum = 0, most = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        double size = csr_abs(A, k);
        sum += size;
        s->squares += size / s->unit * (size / s->unit);
        if (size > most) most = size;
        if (size > 0 && size < s->least) s->least = size;
    }
    if (sum > s->inf || isnan(sum)) s->inf = sum;
    if (most > s->most) s->most = most;
    if (most > s->row_most) s->row_most = most;
    if (most > 0 && most < s->row_least) s->row_least = most;
}

static void merge_sizes(void *sum, const void *part)
{
    struct sizes *a = sum;
    const struct sizes *b = part;
    if (b->inf > a->inf || isnan(b->inf)) a->inf = b->inf;
    if (b->most > a->most) a->most = b->most;
    if (b->row_most > a->row_most) a->row_most = b->row_most;
    if (b->least < a->least) a->least = b->least;
    if (b->row_least < a->row_least) a->row_least = b->row_least;
    a->squares += b->squares;
}

/* If squares of the values overflow or underflow, scans the matrix again with scaled values. */
static bool sizes_of(struct card *c, struct sizes *out, struct err *e)
{
    *out = (struct sizes){.least = INFINITY, .row_least = INFINITY, .unit = 1};
    if (!card_scan(c, "norms", sizeof *out, out, visit_sizes, merge_sizes, e)) return false;
    double unit = out->most;
    if ((unit < 1e150 && unit > 1e-140) || unit == 0 || !isfinite(unit)) return true;
    *out = (struct sizes){.least = INFINITY, .row_least = INFINITY, .unit = unit};
    return card_scan(c, "norms", sizeof *out, out, visit_sizes, merge_sizes, e);
}

static bool run_norms(struct card *c, struct card_row *r, struct err *e)
{
    struct sizes s;
    const struct card_columns *col = card_columns(c, e);
    if (!col || !sizes_of(c, &s, e)) return false;
    double one = 0, frobenius = s.unit * sqrt(s.squares);
    struct loop l = loop_of("norms", c->A->cols);
    for (int64_t j = 0; j < c->A->cols && loop_goes(&l, j); j++)
        if (col->sum[j] > one || isnan(col->sum[j])) one = col->sum[j];
    card_set(r, "norm_1", one);
    card_set(r, "norm_inf", s.inf);
    card_set(r, "norm_fro", frobenius);
    if (isnan(s.inf))
        card_say(r, "not known: the matrix has NaN or inf");
    else if (c->values.bad)
        card_say(r, "1: %.3g, inf: %.3g, F: %.3g", one, s.inf, frobenius);
    else
        card_say(r, "1: %s, inf: %s, F: %s", card_size(one, "%.3g").text, card_size(s.inf, "%.3g").text,
                 card_size(frobenius, "%.3g").text);
    if (isfinite(s.inf)) card_advise(r, "rounding error %.1g |x|", DBL_EPSILON * s.inf);
    return true;
}

static bool run_scaling(struct card *c, struct card_row *r, struct err *e)
{
    struct sizes s;
    if (!sizes_of(c, &s, e)) return false;
    if (s.most == 0) {
        card_say(r, "all entries are 0");
        return true;
    }
    double values = s.most / s.least, rows = s.row_most / s.row_least;
    card_set(r, "value_min", s.least);
    card_set(r, "value_max", s.most);
    card_set(r, "value_ratio", values);
    card_set(r, "row_ratio", rows);
    c->facts->row_ratio = rows;
    card_say(r, "|a| %.2g to %.2g, ratio of row maxima %s", s.least, s.most,
             isinf(s.most) ? "inf" : card_size(rows, "%.2g").text);
    if (s.most > 3e38 || s.least < 1e-38)
        card_advise(r, "beyond fp32");
    else if (rows > 1e4)
        card_advise(r, "scale first");
    else if (values > 1e7)
        card_advise(r, "wide for fp32");
    else
        card_advise(r, "fp32 holds them");
    return true;
}

/* ---- Gershgorin: each eigenvalue lies in a disc around a diagonal entry, by rows as well as by columns ---- */

struct discs {
    double low, high;           /* interval that contains the real parts of all discs */
    double sure_low, sure_high; /* that interval, widened by the rounding errors of the sums */
};

static const struct discs no_discs = {INFINITY, -INFINITY, INFINITY, -INFINITY};

static void widen(struct discs *c, double centre, double radius, int64_t terms)
{
    if (isnan(centre + radius)) {
        centre = 0;
        radius = INFINITY; /* the eigenvalue may lie anywhere */
    }
    double slack = (double)terms * DBL_EPSILON * (fabs(centre) + radius);
    c->low = fmin(c->low, centre - radius);
    c->high = fmax(c->high, centre + radius);
    c->sure_low = fmin(c->sure_low, centre - radius - slack);
    c->sure_high = fmax(c->sure_high, centre + radius + slack);
}

static void visit_disc(const struct csr *A, int64_t row, void *part)
{
    double centre = 0, radius = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++)
        if (A->col[k] == row)
            centre = A->val[k];
        else
            radius += csr_abs(A, k);
    widen(part, centre, radius, csr_row_length(A, row));
}

static void merge_discs(void *sum, const void *part)
{
    struct discs *a = sum;
    const struct discs *b = part;
    a->low = fmin(a->low, b->low);
    a->high = fmax(a->high, b->high);
    a->sure_low = fmin(a->sure_low, b->sure_low);
    a->sure_high = fmax(a->sure_high, b->sure_high);
}

static struct discs column_discs(const struct csr *A, const struct card_columns *col)
{
    struct discs c = no_discs;
    struct loop l = loop_of("columns", A->cols);
    for (int64_t j = 0; j < A->cols && loop_goes(&l, j); j++) {
        int64_t k = csr_find(A, j, j);
        widen(&c, k < 0 ? 0 : A->val[k], col->sum[j] - (k < 0 ? 0 : csr_abs(A, k)), col->length[j] + 1);
    }
    return c;
}

static bool run_gershgorin(struct card *c, struct card_row *r, struct err *e)
{
    struct discs g = no_discs;
    const struct card_columns *col = card_columns(c, e);
    if (!col || !card_scan(c, "Gershgorin discs", sizeof g, &g, visit_disc, merge_discs, e)) return false;
    struct discs h = column_discs(c->A, col);
    double low = fmax(g.low, h.low), high = fmin(g.high, h.high);
    if (!isfinite(low) || !isfinite(high)) {
        card_say(r, "not known: the matrix has NaN or inf, or sums beyond fp64");
        return true;
    }
    card_set(r, "rows_low", g.low);
    card_set(r, "rows_high", g.high);
    card_set(r, "gershgorin_low", low);
    card_set(r, "gershgorin_high", high);
    c->facts->positive_discs = fmax(g.sure_low, h.sure_low) > 0;
    c->facts->negative_discs = fmin(g.sure_high, h.sure_high) < 0;
    card_say(r, "eigenvalues' real parts in [%.3g, %.3g]", low, high);
    if (c->facts->positive_discs || c->facts->negative_discs)
        card_advise(r, c->facts->positive_discs ? "regular, above 0" : "regular, below 0");
    else
        card_advise_unless(r, CARD_IF_DEFINITE, "may include 0");
    return true;
}

const struct card_line card_line_norms = {
    .name = "norms",
    .about = "the 1-norm (largest column sum), the inf-norm (largest row sum) and the Frobenius norm",
    .keys = {{"norm_1", CARD_NUM}, {"norm_inf", CARD_NUM}, {"norm_fro", CARD_NUM}},
    .run = run_norms,
};
const struct card_line card_line_scaling = {
    .name = "scaling",
    .about = "smallest and largest |a| that is not 0; ratio of the largest to the smallest row maximum",
    .keys = {{"value_min", CARD_NUM}, {"value_max", CARD_NUM}, {"value_ratio", CARD_NUM}, {"row_ratio", CARD_NUM}},
    .for_solvers = true,
    .run = run_scaling,
};
const struct card_line card_line_gershgorin = {
    .name = "gershgorin",
    .about = "bounds on the real parts of the eigenvalues, from the Gershgorin discs of rows and of columns",
    .keys = {{"gershgorin_low", CARD_NUM},
             {"gershgorin_high", CARD_NUM},
             {"rows_low", CARD_NUM},
             {"rows_high", CARD_NUM}},
    .square = true,
    .run = run_gershgorin,
};
