/* The known facts of a matrix, and those that are found out in a short time. */
#include "facts.h"
#include "base/base.h"
#include "base/mem.h"
#include "csr.h"
#include "matching.h"
#include "nodes.h"
#include "null_space.h"
#include "reorder.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FACTS_NNZ = 1 << 24, MATCHED_NNZ = 1 << 18, BLOCK_NNZ = 1 << 28, ENVELOPE_NNZ = 1 << 20 };
static const double ENVELOPE_FLOPS = 1e8;

bool is_definite(enum definiteness d)
{
    return d == DEFINITE_POSITIVE || d == DEFINITE_NEGATIVE;
}

bool is_semidefinite(enum definiteness d)
{
    return d == DEFINITE_SEMI || d == DEFINITE_UNDECIDED;
}

bool is_one_sided(enum definiteness d)
{
    return is_definite(d) || is_semidefinite(d);
}

enum fact fact_symmetric(const struct facts *f)
{
    return !f->has_symmetry ? FACT_UNKNOWN : f->symmetry.rounding ? FACT_YES : FACT_NO;
}

bool facts_symmetric(struct facts *f, const struct csr *A)
{
    bool may = !f->has_symmetry && !A->source && A->rows == A->cols && A->nnz <= FACTS_NNZ;
    if (may) f->has_symmetry = symmetry_of(A, NULL, &f->symmetry, NULL);
    return fact_symmetric(f) == FACT_YES;
}

bool facts_fillable(struct facts *f, const struct csr *A)
{
    struct matching m = {0};
    bool small = !A->source && !csr_is_large(A) && A->rows == A->cols && A->nnz <= MATCHED_NNZ;
    facts_symmetric(f, A);
    if (fact_symmetric(f) != FACT_NO) return false;
    if (f->fillable == FACT_UNKNOWN && small && matching_find(&m, A, NULL, NULL))
        f->fillable = m.rank == m.n ? FACT_YES : FACT_NO;
    matching_free(&m);
    return f->fillable == FACT_YES;
}

bool facts_saddle(struct facts *f, const struct csr *A)
{
    bool may = !f->has_saddle && !A->source && A->rows == A->cols && A->nnz <= FACTS_NNZ;
    if (may) f->has_saddle = saddle_of(A, facts_symmetric(f, A) && !A->imag, &f->saddle, NULL, NULL);
    return f->has_saddle && is_saddle(&f->saddle, A->rows);
}

/* ---- definiteness: by dominance, or by Cholesky factors in the envelope of a reordered matrix ---- */

/* Row i of the lower triangle is stored from its first entry to the diagonal. */
struct envelope {
    int64_t n, *first, *start; /* start[i] + j - first[i] is the index of entry (i, j) */
    int64_t entries;
    double *val;
};

static void envelope_free(struct envelope *v)
{
    mem_free(v->first);
    mem_free(v->start);
    mem_free(v->val);
}

/* Allocates the envelope, unless its factors would need too many operations. */
static bool envelope_new(struct envelope *v, const struct csr *A)
{
    double flops = 0;
    int64_t at = 0;
    v->n = A->rows;
    v->first = mem_new(A->rows, sizeof *v->first, "an envelope", NULL);
    v->start = v->first ? mem_new(A->rows, sizeof *v->start, "an envelope", NULL) : NULL;
    if (!v->start) return false;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t col = csr_row_length(A, i) ? A->col[A->rowptr[i]] : i, width;
        v->first[i] = col < i ? col : i;
        width = i - v->first[i] + 1;
        v->start[i] = at;
        at += width;
        flops += (double)width * (double)width;
    }
    v->entries = at;
    v->val = flops <= ENVELOPE_FLOPS ? mem_new(at, sizeof *v->val, "an envelope", NULL) : NULL;
    return v->val;
}

/* sign * A, with its diagonal times 1 + shift */
static void envelope_fill(struct envelope *v, const struct csr *A, double sign, double shift)
{
    memset(v->val, 0, (size_t)(v->start[v->n - 1] + v->n - v->first[v->n - 1]) * sizeof *v->val);
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1] && A->col[k] <= i; k++)
            v->val[v->start[i] + A->col[k] - v->first[i]] = sign * A->val[k] * (A->col[k] == i ? 1 + shift : 1);
}

/* L L' = A in place. Returns false if a pivot is not above 0. */
static bool envelope_cholesky(struct envelope *v)
{
    for (int64_t i = 0; i < v->n; i++) {
        double *row = v->val + v->start[i] - v->first[i];
        for (int64_t j = v->first[i]; j < i; j++) {
            const double *other = v->val + v->start[j] - v->first[j];
            double sum = row[j];
            for (int64_t k = v->first[i] > v->first[j] ? v->first[i] : v->first[j]; k < j; k++)
                sum -= row[k] * other[k];
            row[j] = sum / other[j];
        }
        for (int64_t k = v->first[i]; k < i; k++) row[i] -= row[k] * row[k];
        if (!(row[i] > 0)) return false;
        row[i] = sqrt(row[i]);
    }
    return true;
}

static enum definiteness definite_by(double sign)
{
    return sign > 0 ? DEFINITE_POSITIVE : DEFINITE_NEGATIVE;
}

/* One triangle of A is factored. Its matrix differs from (A + A') / 2 by at most this times diag(A): the sum of all
   |a_ij - a_ji| / sqrt(a_ii a_jj). */
static double asymmetry_of(const struct csr *A)
{
    double sum = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t j = A->col[k], at = csr_find(A, j, i);
            double gap = fabs(A->val[k] - (at < 0 ? 0 : A->val[at]));
            if (gap > 0) sum += gap / sqrt(fabs(A->val[csr_find(A, i, i)])) / sqrt(fabs(A->val[csr_find(A, j, j)]));
        }
    return sum;
}

/* The rounding errors of the factorisation amount to a change of A by less than t diag(A) (Demmel 1989, Rump 2006). So
   A is definite if A - t diag(A) has factors, and it is not if A + t diag(A) has none. UNDECIDED: in between. */
static enum definiteness by_cholesky(const struct csr *A, double sign)
{
    struct envelope v = {0};
    enum definiteness is = DEFINITE_UNKNOWN;
    if (envelope_new(&v, A)) {
        double t = DBL_EPSILON * (double)(v.entries + 10 * v.n) + asymmetry_of(A);
        envelope_fill(&v, A, sign, -t);
        is = envelope_cholesky(&v) ? definite_by(sign) : DEFINITE_UNDECIDED;
        if (is == DEFINITE_UNDECIDED) envelope_fill(&v, A, sign, t);
        if (is == DEFINITE_UNDECIDED && !envelope_cholesky(&v)) is = DEFINITE_NOT;
    }
    envelope_free(&v);
    return is;
}

static enum definiteness by_reordered(const struct csr *A, double sign)
{
    int *perm = mem_new(A->rows, sizeof *perm, "an ordering", NULL);
    struct csr B = {0};
    bool ok = perm && reorder_find_symmetric(ordering_find("rcm"), A, perm, NULL, NULL) &&
              reorder_apply(&B, A, perm, NULL, NULL);
    enum definiteness is = ok ? by_cholesky(&B, sign) : DEFINITE_UNKNOWN;
    csr_free(&B);
    mem_free(perm);
    return is;
}

/* A matrix with dominant rows, for which Cholesky would take long. */
static enum definiteness by_dominance(struct facts *f, const struct csr *A, double sign)
{
    bool balanced;
    if (!f->has_dominance) f->has_dominance = dominant_of(A, &f->dominance, NULL);
    if (!f->has_dominance || f->dominance == DOMINANT_NOT) return DEFINITE_UNKNOWN;
    if (f->dominance == DOMINANT_CHAINED) return definite_by(sign);
    if (!rows_sum_to_0(A, &balanced, NULL) || !balanced) return DEFINITE_UNKNOWN;
    return sign > 0 ? DEFINITE_SEMI : DEFINITE_UNDECIDED;
}

/* 1 or -1: the sign of all diagonal entries; 0: they differ. */
static double sign_of_diagonal(const struct csr *A)
{
    double sign = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t k = csr_find(A, i, i);
        double a = k < 0 ? 0 : A->val[k];
        if (a == 0 || !isfinite(a) || a * sign < 0) return 0;
        sign = a > 0 ? 1 : -1;
    }
    return sign;
}

static enum definiteness find_definite(struct facts *f, const struct csr *A)
{
    if (A->source || A->imag || A->rows != A->cols || !A->rows || A->nnz > FACTS_NNZ) return DEFINITE_UNKNOWN;
    double sign = sign_of_diagonal(A);
    if (sign == 0) return DEFINITE_NOT;
    enum definiteness is = A->nnz <= ENVELOPE_NNZ ? by_reordered(A, sign) : DEFINITE_UNKNOWN;
    return is == DEFINITE_UNKNOWN ? by_dominance(f, A, sign) : is;
}

enum definiteness facts_definite(struct facts *f, const struct csr *A)
{
    if (f->definite == DEFINITE_UNKNOWN && !f->looked_for_definite) f->definite = find_definite(f, A);
    f->looked_for_definite = true;
    return f->definite;
}

/* Does another row have the columns of row 0? If not, A has no nodes, and no graph is needed to know it. */
static bool first_has_partner(const struct csr *A)
{
    int64_t n = csr_row_length(A, 0);
    for (int k = 0; k < n; k++) {
        int j = A->col[A->rowptr[0] + k];
        if (j && csr_row_length(A, j) == n &&
            !memcmp(A->col + A->rowptr[j], A->col + A->rowptr[0], (size_t)n * sizeof *A->col))
            return true;
    }
    return false;
}

/* The rows of each supervariable, if all have the same number. */
static int64_t rows_of_supervariables(const struct csr *A)
{
    int sets = 0;
    int64_t each = 0;
    struct graph g = {0};
    if (!first_has_partner(A) || !graph_new(&g, A, NULL, NULL)) return 1;
    int *set = mem_new(A->rows, sizeof *set, "nodes", NULL);
    if (set && reorder_supervariables(&g, set, &sets, NULL, NULL)) each = reorder_rows_each(A->rows, set, sets);
    graph_free(&g);
    mem_free(set);
    return each >= 2 && each <= BLOCK_MOST ? each : 1;
}

static int64_t find_block(const struct csr *A)
{
    static const int64_t axes[] = {3, 2}; /* by unknown, half of 3 axes look like 2 */
    if (A->source || csr_is_large(A) || A->rows != A->cols || !A->rows || A->nnz > BLOCK_NNZ) return 1;
    int64_t each = rows_of_supervariables(A);
    for (int i = 0; each == 1 && i < COUNT(axes); i++)
        if (nodes_order(A, axes[i]) != NODES_NONE) each = axes[i];
    return each;
}

int64_t facts_block(struct facts *f, const struct csr *A)
{
    if (!f->block) f->block = find_block(A);
    return f->block;
}

bool facts_null_constants(struct facts *f, const struct csr *A, int64_t *count, struct err *e)
{
    if (!f->looked_for_null && !null_constants_count(A, &f->null_constants, &f->null_rows, e)) return false;
    f->looked_for_null = true;
    *count = f->null_constants;
    return true;
}

int digits_lost(double condition)
{
    return condition > 1 ? (int)fmin(DIGITS_F64, round(log10(condition))) : 0;
}
