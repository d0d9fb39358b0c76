/* stats: the numbers that describe a matrix. */
#include "language/args.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>

static void out_shape(struct out *o, const struct matrix *m)
{
    const struct csr *A = &m->csr;
    double cells = (double)A->rows * (double)A->cols;
    out_str(o, "matrix", "matrix", m->name);
    out_int(o, "rows", "rows", A->rows);
    out_int(o, "cols", "columns", A->cols);
    out_int(o, "nnz", "nonzeros", A->nnz);
    out_num(o, "density", "density", cells > 0 ? (double)A->nnz / cells : 0, "%.3g");
    out_int(o, "explicit_zeros", "explicit zeros", m->stats.explicit_zeros);
    out_int(o, "right_sides", m->sides.n ? "right sides" : NULL, m->sides.n);
    out_int(o, "solutions", m->sides.x ? "solutions" : NULL, m->sides.x ? m->sides.n : 0);
}

static void out_rows(struct out *o, const struct stats *t)
{
    out_int(o, "row_min", "shortest row", t->row_min);
    out_num(o, "row_mean", "mean row", t->row_mean, "%.2f");
    out_num(o, "row_median", "median row", t->row_median, "%g");
    out_int(o, "row_max", "longest row", t->row_max);
    out_num(o, "row_std", "standard deviation", t->row_std, "%.2f");
    out_int(o, "empty_rows", "empty rows", t->empty_rows);
}

/* A count that has a meaning only for a square matrix. */
static void out_of_square(struct out *o, const char *key, const char *label, bool square, int64_t n)
{
    if (square)
        out_int(o, key, label, n);
    else
        out_num(o, key, label, NAN, NULL);
}

static void out_symmetry(struct out *o, const struct csr *A, const struct symmetry *s)
{
    bool inexact = s->rounding && !s->hermitian;
    out_bool(o, "value_symmetric", NULL, s->values);
    out_bool(o, "hermitian", NULL, s->hermitian);
    out_num(o, "asymmetry", NULL, inexact ? s->gap : s->hermitian ? 0 : NAN, NULL);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "symmetric values", symmetry_text(s, A->imag != NULL).text);
}

static void out_pattern(struct out *o, const struct csr *A, const struct stats *t)
{
    bool square = A->rows == A->cols, moduli = A->imag != NULL;
    out_int(o, "bandwidth", "bandwidth", t->bandwidth);
    out_int(o, "diagonals", "occupied diagonals", t->diagonals);
    out_bool(o, "pattern_symmetric", "symmetric pattern", t->symmetry.pattern);
    out_symmetry(o, A, &t->symmetry);
    out_of_square(o, "zero_diagonal", "zeros on the diagonal", square, t->zero_diagonal);
    out_of_square(o, "dominant_rows", "diagonally dominant rows", square, t->dominant_rows);
    out_num(o, "value_min", moduli ? "smallest modulus" : "smallest value", t->value_min, "%.6g");
    out_num(o, "value_max", moduli ? "largest modulus" : "largest value", t->value_max, "%.6g");
}

static bool run_stats(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    const struct stats *t = m ? session_stats(s, m, e) : NULL;
    if (!t) return false;
    out_record(s->out);
    out_shape(s->out, m);
    out_rows(s->out, t);
    out_pattern(s->out, &m->csr, t);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field stats_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries"},
    {"density", F_AMOUNT, "nnz / (rows * cols)"},
    {"explicit_zeros", F_COUNT, "stored entries whose value is 0"},
    {"right_sides", F_COUNT, "right sides from its file"},
    {"solutions", F_COUNT, "solutions from its file"},
    {"row_min", F_COUNT, "entries of the shortest row"},
    {"row_mean", F_AMOUNT, "entries of a row on average"},
    {"row_median", F_AMOUNT, "median of the entries of a row"},
    {"row_max", F_COUNT, "entries of the longest row"},
    {"row_std", F_AMOUNT, "standard deviation of the entries of a row"},
    {"empty_rows", F_COUNT, "rows without an entry"},
    {"bandwidth", F_COUNT, "largest |row - column| of an entry"},
    {"diagonals", F_COUNT, "diagonals with an entry"},
    {"pattern_symmetric", F_BOOLEAN, "whether each entry has a mirror image"},
    {"value_symmetric", F_BOOLEAN, "whether A is its transpose; an entry that is not stored is 0"},
    {"hermitian", F_BOOLEAN, "whether A is its conjugate transpose; of a real matrix as value_symmetric"},
    {"asymmetry", F_AMOUNT | OR_NULL,
     "largest |a_ij - conj(a_ji)| divided by the largest |a|; null: A is not hermitian up to rounding"},
    {"zero_diagonal", F_COUNT, "rows of a square matrix whose diagonal entry is missing or 0"},
    {"dominant_rows", F_COUNT,
     "rows whose diagonal entry is not 0 and at least the sum of the others, in absolute value"},
    {"value_min", F_NUMBER | OR_NAN, "smallest value, or smallest modulus of a complex matrix; a word if infinite"},
    {"value_max", F_NUMBER | OR_NAN, "largest value, or largest modulus of a complex matrix; a word if infinite"},
    {0},
};
static const struct row_kind row_stats = {"stats", "a matrix in numbers", stats_fields};

const struct command command_stats = {
    .name = "stats",
    .aliases = "info",
    .grammar = "[MATRIX]",
    .about = "size, row lengths, bandwidth, diagonals, symmetry, dominance",
    .help = "The bandwidth is the largest |row - column| of an entry. A row is diagonally dominant if |a_ii| > 0\n"
            "and |a_ii| >= the sum of the other |a_ij|. Both counts of diagonals are for square matrices only.\n"
            "Complex values are ordered by modulus.\n"
            "    stats A",
    .rows = (const struct row_kind *const[]){&row_stats, NULL},
    .run = run_stats,
    .sweeps = true,
    .large = true,
};
