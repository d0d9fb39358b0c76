/* The verdict on a matrix, from the results of the card's lines: kind, solver, format, problems. */
#include "base/text.h"
#include "card.h"
#include "matrix/csr.h"
#include "solvers/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- what kind of matrix it is ---- */

static const char *const row_words[] = {[CARD_ROWS_UNKNOWN] = "no entries",
                                        [CARD_ROWS_EVEN] = "even rows",
                                        [CARD_ROWS_UNEVEN] = "uneven rows",
                                        [CARD_ROWS_LONG_TAIL] = "some very long rows"};

static bool is_square(const struct card *c)
{
    return c->A->rows == c->A->cols;
}

const char *card_symmetry_text(const struct card *c)
{
    static const char *const definite[] = {[DEFINITE_UNKNOWN] = "symmetric",
                                           [DEFINITE_POSITIVE] = "symmetric positive definite",
                                           [DEFINITE_SEMI] = "symmetric positive semidefinite",
                                           [DEFINITE_NOT] = "symmetric, not positive definite",
                                           [DEFINITE_NEGATIVE] = "symmetric negative definite",
                                           [DEFINITE_UNDECIDED] = "symmetric, semidefinite to rounding"};
    const struct card_symmetry *s = &c->symmetry;
    if (!c->has_symmetry) return "square";
    if (c->A->imag && s->hermitian) return "hermitian";
    if (c->A->imag && s->values) return "symmetric, not hermitian";
    if (s->values) return definite[c->facts->definite];
    return s->pattern ? "only the pattern is symmetric" : "not symmetric";
}

static const char *pattern_text(const struct card *c)
{
    if (!c->has_symmetry) return "square";
    return c->symmetry.pattern ? "symmetric pattern" : "pattern not symmetric";
}

static void judge_kind(const struct card *c, struct card_verdict *v)
{
    const struct facts *f = c->facts;
    const char *shape = c->A->rows > c->A->cols ? "more rows than columns" : "more columns than rows";
    text_append(v->kind, sizeof v->kind, "%s%s",
                c->A->imag   ? "complex, "
                : c->pattern ? "no values, "
                             : "",
                !is_square(c) ? shape
                : c->pattern  ? pattern_text(c)
                              : card_symmetry_text(c));
    if (f->strict && !c->A->imag && !c->symmetry.values) text_append(v->kind, sizeof v->kind, ", dominant diagonal");
    text_append(v->kind, sizeof v->kind, ", %s", row_words[c->shape.rows]);
}

/* ---- what solves it ---- */

/* Singular up to the rounding errors of fp64, even after its rows and columns were scaled? */
static bool is_nearly_singular(const struct card *c)
{
    return digits_lost(c->facts->equilibrated) == DIGITS_F64;
}

static void judge_solver(const struct card *c, struct card_verdict *v)
{
    int64_t constants;
    if (!c->pattern) facts_null_constants(c->facts, c->A, &constants, NULL);
    text_append(v->solve, sizeof v->solve, "%s", rule_for(c->facts, c->A)->verdict);
}

/* ---- what stores it ---- */

/* Bytes of dia divided by the bytes of csr. dia stores `rows` values and an offset per diagonal. */
static double dia_ratio(const struct csr *A, int64_t diagonals)
{
    double value = card_value_bytes(A), dia = (value * (double)A->rows + 4) * (double)diagonals;
    return diagonals ? dia / ((value + 4) * (double)A->nnz + 4 * ((double)A->rows + 1)) : INFINITY;
}

/* By rule of thumb: from bytes and row lengths, because the card knows no times. */
static void judge_format(const struct card *c, struct card_verdict *v)
{
    static const char *const by_rows[] = {[CARD_ROWS_UNKNOWN] = "csr",
                                          [CARD_ROWS_EVEN] = "ell",
                                          [CARD_ROWS_UNEVEN] = "sell",
                                          [CARD_ROWS_LONG_TAIL] = "csr"};
    const struct card_shape *f = &c->shape;
    double blocks = f->block ? f->block_ratio : INFINITY, diagonals = dia_ratio(c->A, f->diagonals);
    v->format = fmin(blocks, diagonals) >= 1 ? by_rows[f->rows] : diagonals < blocks ? "dia" : "bsr";
    text_append(v->store, sizeof v->store, "%s", v->format);
    if (fmin(blocks, diagonals) >= 1)
        text_append(v->store, sizeof v->store, ", rule of thumb: %s", row_words[f->rows]);
    else if (diagonals < blocks)
        text_append(v->store, sizeof v->store, ", rule of thumb: %s, %.2gx csr's bytes",
                    how_many(f->diagonals, "diagonal").text, diagonals);
    else
        text_append(v->store, sizeof v->store, " %d, rule of thumb: %.2gx csr's bytes", f->block, f->block_ratio);
    if (c->A->nnz) text_append(v->store, sizeof v->store, "; see `advise`");
}

/* ---- what is wrong with it ---- */

/* The ratio of row maxima from which on the verdict advises to scale the matrix. */
static const double ROWS_APART = 1e4;

static void add_problem(struct card_verdict *v, const char *fmt, ...) PRINTF(2, 3);
static void add_problem(struct card_verdict *v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (v->problems < CARD_PROBLEMS) vsnprintf(v->problem[v->problems], sizeof *v->problem, fmt, ap);
    va_end(ap);
    v->problems++;
}

static void judge_singular(const struct card *c, struct card_verdict *v)
{
    static const struct {
        const char *proof, *text;
    } texts[] = {{"row sums", "singular: each row sums to exactly 0"},
                 {"column sums", "singular: each column sums to exactly 0"},
                 {"determinant", "singular: the determinant is exactly 0"}};
    if (c->has_dm && c->dm.rank < c->A->rows)
        add_problem(v, "structurally singular: %s without a pivot", how_many(c->A->rows - c->dm.rank, "row").text);
    else if (c->values.empty)
        add_problem(v, "singular: %s without entries", how_many(c->values.empty, "row").text);
    for (int i = 0; i < COUNT(texts); i++)
        if (!strcmp(c->facts->proof, texts[i].proof)) add_problem(v, "%s", texts[i].text);
}

/* The digits that a solve loses are those of the equilibrated matrix: scaling repairs the rest. */
static void judge_condition(const struct facts *f, struct card_verdict *v)
{
    static const double APART = 1e4;
    int digits = digits_lost(f->equilibrated);
    bool scales = f->condition > APART * f->equilibrated;
    if (!(f->equilibrated > 0)) {
        if (digits_lost(f->condition) >= DIGITS_F32) add_problem(v, "condition at least %.1g as scaled", f->condition);
    } else if (isinf(f->equilibrated)) {
        add_problem(v, "nearly singular to fp64, even equilibrated: a zero pivot, or overflow");
    } else if (digits == DIGITS_F64) {
        add_problem(v, "condition about %.1g, equilibrated: nearly singular to fp64", f->equilibrated);
    } else if (digits >= DIGITS_F32) {
        add_problem(v, "condition about %.1g%s: a solve loses %d of %d digits; do not use fp32", f->equilibrated,
                    scales ? " after `scale`" : "", digits, DIGITS_F64);
    } else if (scales && f->row_ratio <= ROWS_APART) {
        add_problem(v, "condition %.1g, but %.1g equilibrated: `scale` first", f->condition, f->equilibrated);
    }
}

static void judge_problems(const struct card *c, struct card_verdict *v)
{
    const struct facts *f = c->facts;
    bool fillable = f->fillable == FACT_YES && fact_symmetric(f) == FACT_NO; /* which keeps no symmetry */
    if (c->values.bad) add_problem(v, "NaN or inf in %s", how_many(c->values.bad, "value").text);
    if (c->facts->singular && is_square(c)) judge_singular(c, v);
    if (f->no_diagonal && !c->facts->singular)
        add_problem(v, "%s missing or 0: %s", how_many(f->no_diagonal, "diagonal entry").text,
                    fillable ? "`reorder matching` fills them" : "jacobi, gs and sor fail");
    if (f->row_ratio > ROWS_APART)
        add_problem(v, "ratio of row maxima %s: `scale` first", card_size(f->row_ratio, "%.2g").text);
    if (!c->facts->singular) judge_condition(f, v);
    bool solvable = !c->facts->singular && !is_nearly_singular(c);
    if (f->systems > 1 && is_square(c) && solvable)
        add_problem(v, "%s independent systems: solve them separately", card_count(f->systems).text);
    if (c->values.zeros && !c->facts->singular && !is_nearly_singular(c))
        add_problem(v, "%s: `prune`", how_many(c->values.zeros, "stored zero").text);
}

void card_judge(const struct card *c, struct card_verdict *out)
{
    *out = (struct card_verdict){0};
    judge_kind(c, out);
    judge_solver(c, out);
    judge_format(c, out);
    judge_problems(c, out);
}
