/* stats: the numbers that describe a matrix. */
#include "language/args.h"
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

const struct command command_stats = {
    .name = "stats",
    .aliases = "info",
    .grammar = "[MATRIX]",
    .about = "size, row lengths, bandwidth, diagonals, symmetry, dominance",
    .help = "The bandwidth is the largest |row - column| of an entry. A row is diagonally dominant if |a_ii| > 0\n"
            "and |a_ii| >= the sum of the other |a_ij|. Both counts of diagonals are for square matrices only.\n"
            "Complex values are ordered by modulus.\n"
            "    stats A",
    .run = run_stats,
    .large = true,
};
