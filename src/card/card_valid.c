/* Report card: is the matrix well formed, and does it contain numbers that no solver can use? */
#include "base/text.h"
#include "card.h"
#include "files/load_info.h"
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

static void visit(const struct csr *A, int64_t row, void *part)
{
    struct card_values *v = part;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        bool bad = !isfinite(A->val[k]) || (A->imag && !isfinite(A->imag[k]));
        bool zero = A->val[k] == 0 && (!A->imag || A->imag[k] == 0);
        if (bad && !v->bad++) v->bad_row = row, v->bad_col = A->col[k];
        if (zero && !v->zeros++) v->zero_row = row, v->zero_col = A->col[k];
    }
    if (A->rowptr[row] == A->rowptr[row + 1] && !v->empty++) v->empty_row = row;
}

static void merge(void *sum, const void *part)
{
    struct card_values *a = sum;
    const struct card_values *b = part;
    a->zeros += b->zeros;
    a->bad += b->bad;
    a->empty += b->empty;
    if (b->bad_row < a->bad_row) a->bad_row = b->bad_row, a->bad_col = b->bad_col;
    if (b->zero_row < a->zero_row) a->zero_row = b->zero_row, a->zero_col = b->zero_col;
    if (b->empty_row < a->empty_row) a->empty_row = b->empty_row;
}

/* Reports the worst fault. If `brief` is set, the text is short, because more text follows on the same line. */
static void say_worst(const struct csr *A, const struct card_values *v, bool brief, struct card_row *r)
{
    if (v->bad)
        card_say(r,
                 brief ? "%s NaN or inf, first (%lld, %lld): unusable"
                       : "%s NaN or inf, first at (%lld, %lld): no solver can use it",
                 card_count(v->bad).text, (long long)v->bad_row, (long long)v->bad_col);
    else if (v->empty)
        card_say(r, "%s, first %lld: %s", how_many(v->empty, "empty row").text, (long long)v->empty_row,
                 brief || A->rows != A->cols ? "threads idle" : "singular; their threads idle");
    else
        card_say(r, v->zeros ? "in order, finite" : "in order and in range, finite");
}

static void say_zeros(const struct card_values *v, bool brief, struct card_row *r)
{
    if (brief)
        card_say(r, "; %s", how_many(v->zeros, "zero").text);
    else
        card_say(r, "; %s, first at (%lld, %lld)", how_many(v->zeros, "stored zero").text, (long long)v->zero_row,
                 (long long)v->zero_col);
}

static void say_valid(const struct card *c, const struct card_values *v, struct card_row *r)
{
    int64_t duplicates = c->info ? c->info->duplicates : 0;
    if (!c->A->rows || !c->A->cols)
        card_say(r, "no rows or no columns: nothing to check");
    else if (c->pattern && !v->empty)
        card_say(r, "in order and in range, no values");
    else
        say_worst(c->A, v, v->zeros || duplicates, r);
    if (v->zeros) say_zeros(v, v->bad || v->empty || duplicates, r);
    if (duplicates) card_say(r, v->zeros ? "; %s" : "; %s summed", how_many(duplicates, "duplicate").text);
    if (v->zeros) card_add_advice(r, "`prune`");
}

const struct card_values *card_values(struct card *c, struct err *e)
{
    if (c->has_values) return &c->values;
    c->values = (struct card_values){.bad_row = INT64_MAX, .zero_row = INT64_MAX, .empty_row = INT64_MAX};
    c->has_values = card_scan(c, "values", sizeof c->values, &c->values, visit, merge, e);
    if (c->has_values) c->facts->not_finite = c->values.bad > 0;
    return c->has_values ? &c->values : NULL;
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_values *v = csr_check(c->A, e) ? card_values(c, e) : NULL;
    if (!v) return false;
    card_set(r, "has_values", !c->pattern);
    card_set(r, "nonfinite", (double)v->bad);
    card_set(r, "explicit_zeros", (double)v->zeros);
    card_set(r, "empty_rows", (double)v->empty);
    if (c->info) card_set(r, "duplicates", (double)c->info->duplicates);
    if (v->empty && c->A->rows == c->A->cols) card_prove_singular(c, "empty row");
    if (v->bad) card_set(r, "nonfinite_row", (double)v->bad_row);
    if (v->bad) card_set(r, "nonfinite_col", (double)v->bad_col);
    if (v->zeros) card_set(r, "explicit_zero_row", (double)v->zero_row);
    if (v->zeros) card_set(r, "explicit_zero_col", (double)v->zero_col);
    say_valid(c, v, r);
    return true;
}

const struct card_line card_line_valid = {
    .name = "valid",
    .about = "are the entries in order and in range? Also shows NaN and inf, stored zeros, duplicates and empty rows",
    .keys = {{"has_values", CARD_BOOL},
             {"nonfinite", CARD_INT},
             {"nonfinite_row", CARD_INT},
             {"nonfinite_col", CARD_INT},
             {"explicit_zeros", CARD_INT},
             {"explicit_zero_row", CARD_INT},
             {"explicit_zero_col", CARD_INT},
             {"duplicates", CARD_INT},
             {"empty_rows", CARD_INT}},
    .empty = true,
    .for_solvers = true,
    .run = run,
};
