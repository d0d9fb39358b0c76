/* check: the report card of a matrix. */
#include "advice/advice.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "card/card.h"
#include "language/args.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CARD_SAYS = sizeof(struct card_text) + 20 }; /* "line: text" in JSON */
enum { LATE_WIDTH = 36 };                           /* terminal columns for the names of the lines that did not run */

static void out_key(struct out *o, const struct card_row *r, int k)
{
    const struct card_key *key = &r->line->keys[k];
    if (!r->known[k] || key->type == CARD_TEXT)
        out_str(o, key->name, NULL, r->known[k] ? r->value[k].text : NULL);
    else if (key->type == CARD_INT)
        out_int(o, key->name, NULL, (int64_t)r->value[k].num);
    else if (key->type == CARD_BOOL)
        out_bool(o, key->name, NULL, r->value[k].num != 0);
    else
        out_num(o, key->name, NULL, r->value[k].num, NULL);
}

static bool has_state(const struct card_row *r, unsigned states)
{
    return (states >> r->state & 1) != 0;
}

/* The names of the lines in one of the given states (bits 1 << state), and their number. */
static int lines_in(const struct card *c, unsigned states, const char **name)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (has_state(&c->row[i], states)) name[n++] = c->row[i].line->name;
    return n;
}

static bool has_verdict(const struct csr *A, const char *only)
{
    return !only && A->rows && A->cols;
}

/* The verdict on the card; the format is the one that `advise` predicts to be the fastest, if that is known. */
static void judge(const struct card *c, const struct first_choice *first, struct card_verdict *v)
{
    char us[32];
    card_judge(c, v);
    if (!first->known) return;
    v->format = first->format;
    *v->store = 0;
    text_append(v->store, sizeof v->store, "%s with kernel %s: %s, %s %s", first->stored, first->kernel,
                show_us(first->us, us, sizeof us), first->measured ? "measured on" : "predicted for", first->machine);
}

/* The keys are null if there is no verdict. */
static void out_verdict_keys(struct out *o, const struct card *c, const struct first_choice *first, bool judged)
{
    struct card_verdict v = {0};
    const char *problem[CARD_PROBLEMS];
    int n = 0;
    if (judged) judge(c, first, &v);
    out_str(o, "kind", NULL, judged ? v.kind : NULL);
    out_str(o, "solve_with", NULL, judged ? v.solve : NULL);
    out_str(o, "store_as", NULL, judged ? v.store : NULL);
    out_str(o, "store_format", NULL, judged ? v.format : NULL);
    out_str(o, "store_by", NULL, !judged ? NULL : !first->known ? "rule" : first->measured ? "measured" : "predicted");
    for (; n < v.problems && n < CARD_PROBLEMS; n++) problem[n] = v.problem[n];
    out_strs(o, "problems", n, problem);
}

static bool is_shown(const struct card_row *r, const char *only)
{
    bool says = r->state == CARD_FOUND || r->state == CARD_NO_VALUES;
    return (says && (!r->quiet || only)) || r->state == CARD_FAILED || r->state == CARD_STOPPED;
}

/* One record with all keys; the values of lines that did not run are null. */
static bool out_keys(struct session *s, const struct matrix *m, const struct card *c, const struct first_choice *first,
                     const char *only, struct err *e)
{
    struct out *o = s->out;
    char(*text)[CARD_SAYS] = mem_new(c->n, sizeof *text, "a report card", e);
    const char **name = text ? mem_new(c->n, sizeof *name, "a report card", e) : NULL;
    int n = 0;
    if (name) {
        out_record(o);
        out_str(o, "matrix", NULL, m->name);
        out_int(o, "rows", NULL, m->csr.rows);
        out_int(o, "cols", NULL, m->csr.cols);
        out_int(o, "nnz", NULL, m->csr.nnz);
        out_bool(o, "stopped", NULL, c->stopped);
        out_verdict_keys(o, c, first, has_verdict(&m->csr, only));
        for (int i = 0; i < c->n; i++) {
            const struct card_row *r = &c->row[i];
            for (int k = 0; r->line->keys[k].name; k++) out_key(o, r, k);
            if (is_shown(r, only)) snprintf(text[n++], sizeof *text, "%s: %s", r->line->name, card_text(r).text);
        }
        for (int i = 0; i < n; i++) name[i] = text[i];
        out_strs(o, "says", n, name);
        out_strs(o, "not_run", lines_in(c, 1u << CARD_LEFT | 1u << CARD_LATE, name), name);
        out_strs(o, "failed", lines_in(c, 1u << CARD_FAILED, name), name);
    }
    mem_free(text);
    mem_free(name);
    return name != NULL;
}

/* Write the names of the lines that did not run because of the time limit. If `seconds` is set, also write how many
   seconds each line needs, where that was estimated. Returns the length of the text. */
static size_t late_lines(const struct card *c, bool seconds, char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < c->n && at < size; i++) {
        const struct card_row *r = &c->row[i];
        if (r->state != CARD_LATE) continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", r->line->name);
        if (seconds && r->needs_us > 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, " (%.1g s)", r->needs_us / 1e6);
    }
    return at;
}

static void out_late(struct out *o, const struct card *c)
{
    char names[256] = "";
    size_t n = late_lines(c, true, names, sizeof names);
    if (n > LATE_WIDTH) n = late_lines(c, false, names, sizeof names);
    if (n) out_text(o, "%-10s %s; `check all`", "too slow", names);
}

static void out_verdict(struct out *o, const struct card *c, const struct first_choice *first)
{
    struct card_verdict v;
    judge(c, first, &v);
    out_text(o, "%-10s %s", "kind", v.kind);
    out_text(o, "%-10s %s", "solvers", v.solve);
    out_text(o, "%-10s %s", "store as", v.store);
    for (int i = 0; i < v.problems && i < CARD_PROBLEMS; i++)
        out_text(o, "%-10s %s", i ? "" : "problems", v.problem[i]);
    if (!v.problems) out_text(o, "%-10s %s", "problems", "none found");
}

static void out_lines(struct session *s, const struct matrix *m, const struct card *c, const struct first_choice *first,
                      const char *only)
{
    struct out *o = s->out;
    const struct csr *A = &m->csr;
    out_text(o, "%s: %s x %s, %s, %s; rows counted from 0", m->name, card_count(A->rows).text, card_count(A->cols).text,
             how_many(A->nnz, "nonzero").text,
             A->imag      ? "complex"
             : c->pattern ? "no values"
                          : "real");
    if (has_verdict(A, only)) out_verdict(o, c, first);
    for (int i = 0; i < c->n; i++) {
        const struct card_row *r = &c->row[i];
        if (is_shown(r, only))
            out_text(o, "%-10s %s", r->line->name, card_text(r).text);
        else if (only && r->state == CARD_UNFIT && !strcmp(only, r->line->name))
            out_text(o, "%-10s %s", only, A->rows && A->cols ? "only for square matrices" : "no rows or no columns");
    }
    out_late(o, c);
}

static void out_about(struct out *o)
{
    for (int i = 0; card_lines[i]; i++) {
        out_row(o);
        out_str(o, "name", "line", card_lines[i]->name);
        out_bool(o, "costly", "costly", card_lines[i]->costly);
        out_bool(o, "square", NULL, card_lines[i]->square);
        out_str(o, "about", "about", card_lines[i]->about);
    }
}

static bool run_check(struct session *s, const struct args *a, struct err *e)
{
    if (arg_flag(a, "lines")) {
        out_about(s->out);
        return true;
    }
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    const char *only = arg(a, "only");
    struct card c = {0};
    struct first_choice first = {0};
    bool all = arg_flag(a, "all");
    bool ok = m && card_make(&c, &m->csr, &m->info, &m->facts, all, only, &s->watch, e);
    bool stopped = c.stopped;
    if (ok && !stopped && has_verdict(&m->csr, only))
        stopped = !first_choice_of(s, m, all ? INFINITY : card_limit_us, &first, NULL);
    if (ok && out_mode(s->out) == OUT_TEXT)
        out_lines(s, m, &c, &first, only);
    else
        ok = ok && out_keys(s, m, &c, &first, only, e);
    if (ok && stopped) ok = fail(e, E_CANCELLED, "cancelled; the lines above are complete");
    card_free(&c);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field check_card_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries"},
    {"stopped", F_BOOLEAN, "whether Ctrl-C was pressed before the last line"},
    {"kind", F_TEXT | OR_NULL,
     "verdict: the kind of matrix; null, in the next two keys too, with `only` and for a matrix without rows or "
     "columns"},
    {"solve_with", F_TEXT | OR_NULL, "verdict: the solver to use, or why there is none"},
    {"store_as", F_TEXT | OR_NULL, "verdict: the format to store the matrix in, and why"},
    {"store_format", F_TEXT | OR_NULL, "the name of this format"},
    {"store_by", F_TEXT | OR_NULL,
     "what chose the format: predicted or measured times, as in `advise`, or a rule of thumb",
     .words = "predicted, measured, rule"},
    {"problems", F_LIST, "verdict: problems, the most important first", .item = F_TEXT, .most = 3},
    {"has_values", F_BOOLEAN | OR_NULL, "false: the file is a pattern, so no line that judges values has run"},
    {"nonfinite", F_COUNT | OR_NULL,
     "entries that are NaN or infinite; null, here and below: the line did not run or does not suit the matrix"},
    {"nonfinite_row", F_COUNT | OR_NULL, "row of the first such entry, counted from 0"},
    {"nonfinite_col", F_COUNT | OR_NULL, "its column"},
    {"explicit_zeros", F_COUNT | OR_NULL, "stored entries whose value is 0"},
    {"explicit_zero_row", F_COUNT | OR_NULL, "row of the first such entry"},
    {"explicit_zero_col", F_COUNT | OR_NULL, "its column"},
    {"duplicates", F_COUNT | OR_NULL, "entries summed away when the file was read"},
    {"empty_rows", F_COUNT | OR_NULL, "rows without an entry"},
    {"nonfinite_line", F_COUNT | OR_NULL, "line of the file of the first entry that is not finite, counted from 1"},
    {"explicit_zero_line", F_COUNT | OR_NULL, "line of the file of the first stored zero"},
    {"duplicate_row", F_COUNT | OR_NULL, "row of the first entry that the file has twice"},
    {"duplicate_col", F_COUNT | OR_NULL, "its column"},
    {"duplicate_first_line", F_COUNT | OR_NULL, "first line of the file that contains the entry"},
    {"duplicate_line", F_COUNT | OR_NULL, "line of the file that contains the entry again"},
    {"pattern_symmetric", F_BOOLEAN | OR_NULL, "whether each entry has a mirror image"},
    {"mirrored", F_AMOUNT | OR_NULL, "share of the off-diagonal entries that have a mirror image, from 0 to 1"},
    {"value_symmetric", F_BOOLEAN | OR_NULL, "whether A is its transpose; an entry that is not stored is 0"},
    {"hermitian", F_BOOLEAN | OR_NULL, "whether A is its conjugate transpose"},
    {"to_rounding", F_BOOLEAN | OR_NULL, "whether A is its conjugate transpose up to rounding errors"},
    {"equal", F_AMOUNT | OR_NULL, "share of the off-diagonal entries that equal their mirror image, from 0 to 1"},
    {"skew", F_AMOUNT | OR_NULL, "||A - A'||_F / ||A||_F"},
    {"zero_diagonal", F_COUNT | OR_NULL, "rows whose diagonal entry is missing or 0"},
    {"zero_diagonal_row", F_COUNT | OR_NULL, "the first such row"},
    {"missing_diagonal", F_COUNT | OR_NULL, "rows without a diagonal entry"},
    {"negative_diagonal", F_COUNT | OR_NULL, "rows whose diagonal entry is negative"},
    {"saddle_point", F_BOOLEAN | OR_NULL,
     "whether the rows with a zero diagonal have no entries among themselves, or A is symmetric and its diagonal has "
     "both signs"},
    {"zero_rows_mixed", F_COUNT | OR_NULL, "rows with a zero diagonal and an entry in the column of such a row"},
    {"rows_strict", F_COUNT | OR_NULL, "rows whose |diagonal| is more than the sum of the other |entries|"},
    {"rows_weak", F_COUNT | OR_NULL, "rows whose |diagonal| equals the sum of the other |entries|"},
    {"rows_failing", F_COUNT | OR_NULL, "rows whose |diagonal| is less than the sum of the other |entries|"},
    {"cols_strict", F_COUNT | OR_NULL, "the same of columns"},
    {"cols_weak", F_COUNT | OR_NULL, "the same of columns"},
    {"cols_failing", F_COUNT | OR_NULL, "the same of columns"},
    {"dominance", F_NUMBER | OR_NULL, "smallest |diagonal| divided by the sum of the other |entries| of its row"},
    {"z_matrix", F_BOOLEAN | OR_NULL, "whether all diagonal entries are positive and no other entry is positive"},
    {"positive_off_diagonal", F_COUNT | OR_NULL, "positive entries off the diagonal"},
    {"negative_off_diagonal", F_COUNT | OR_NULL, "negative entries off the diagonal"},
    {"diagonal_not_positive", F_COUNT | OR_NULL, "rows whose diagonal entry is not positive"},
    {"positive_row", F_COUNT | OR_NULL, "row of the first positive entry off the diagonal"},
    {"bandwidth", F_COUNT | OR_NULL, "largest |row - column| of an entry"},
    {"bandwidth_lower", F_COUNT | OR_NULL, "largest |row - column| of an entry below the diagonal"},
    {"bandwidth_upper", F_COUNT | OR_NULL, "largest |row - column| of an entry above the diagonal"},
    {"profile_lower", F_COUNT | OR_NULL, "sum over all rows of the distance from the first entry to the diagonal"},
    {"profile_upper", F_COUNT | OR_NULL, "sum over all columns of the distance from the first entry to the diagonal"},
    {"row_min", F_COUNT | OR_NULL, "entries of the shortest row"},
    {"row_median", F_COUNT | OR_NULL, "median of the entries of a row"},
    {"row_p90", F_COUNT | OR_NULL, "90% of the rows have at most this many entries"},
    {"row_p99", F_COUNT | OR_NULL, "99% of the rows have at most this many entries"},
    {"row_max", F_COUNT | OR_NULL, "entries of the longest row"},
    {"row_mean", F_AMOUNT | OR_NULL, "entries of a row on average"},
    {"col_min", F_COUNT | OR_NULL, "entries of the shortest column"},
    {"col_median", F_COUNT | OR_NULL, "median of the entries of a column"},
    {"col_p90", F_COUNT | OR_NULL, "90% of the columns have at most this many entries"},
    {"col_p99", F_COUNT | OR_NULL, "99% of the columns have at most this many entries"},
    {"col_max", F_COUNT | OR_NULL, "entries of the longest column"},
    {"empty_cols", F_COUNT | OR_NULL, "columns without an entry"},
    {"block", F_COUNT | OR_NULL, "rows of the square blocks that take the fewest bytes"},
    {"block_fill", F_AMOUNT | OR_NULL, "share of entries among the elements of these blocks, from 0 to 1"},
    {"fill2", F_AMOUNT | OR_NULL, "share of entries in blocks of 2 x 2"},
    {"fill3", F_AMOUNT | OR_NULL, "share of entries in blocks of 3 x 3"},
    {"fill4", F_AMOUNT | OR_NULL, "share of entries in blocks of 4 x 4"},
    {"fill5", F_AMOUNT | OR_NULL, "share of entries in blocks of 5 x 5"},
    {"fill6", F_AMOUNT | OR_NULL, "share of entries in blocks of 6 x 6"},
    {"fill7", F_AMOUNT | OR_NULL, "share of entries in blocks of 7 x 7"},
    {"fill8", F_AMOUNT | OR_NULL, "share of entries in blocks of 8 x 8"},
    {"norm_1", F_AMOUNT | OR_INF | OR_NULL, "largest sum of |a| over a column"},
    {"norm_inf", F_AMOUNT | OR_INF | OR_NULL, "largest sum of |a| over a row"},
    {"norm_fro", F_AMOUNT | OR_INF | OR_NULL, "root of the sum of |a|^2"},
    {"value_min", F_AMOUNT | OR_NULL, "smallest |a| that is not 0"},
    {"value_max", F_AMOUNT | OR_NULL, "largest |a|"},
    {"value_ratio", F_AMOUNT | OR_NULL, "value_max / value_min"},
    {"row_ratio", F_AMOUNT | OR_NULL,
     "largest |a| of a row divided by the smallest: max over rows / min over rows of max |a|"},
    {"gershgorin_low", F_NUMBER | OR_NULL, "no eigenvalue's real part is below"},
    {"gershgorin_high", F_NUMBER | OR_NULL, "no eigenvalue's real part is above"},
    {"rows_low", F_NUMBER | OR_NULL, "the same by the discs of the rows alone"},
    {"rows_high", F_NUMBER | OR_NULL, "the same by the discs of the rows alone"},
    {"structural_rank", F_COUNT | OR_NULL, "most entries of which no two share a row or a column"},
    {"structurally_singular", F_BOOLEAN | OR_NULL, "whether the structural rank is less than the number of rows"},
    {"wide_rows", F_COUNT | OR_NULL, "rows of the wide part of Dulmage and Mendelsohn"},
    {"wide_cols", F_COUNT | OR_NULL, "columns of the wide part"},
    {"square_size", F_COUNT | OR_NULL, "rows of the square part"},
    {"square_blocks", F_COUNT | OR_NULL, "number of irreducible blocks on the diagonal of the square part"},
    {"square_largest", F_COUNT | OR_NULL, "rows of the largest block"},
    {"tall_rows", F_COUNT | OR_NULL, "rows of the tall part"},
    {"tall_cols", F_COUNT | OR_NULL, "columns of the tall part"},
    {"strong_components", F_COUNT | OR_NULL, "strongly connected components"},
    {"strong_largest", F_COUNT | OR_NULL, "rows of the largest"},
    {"irreducible", F_BOOLEAN | OR_NULL, "whether there is only one component"},
    {"weak_components", F_COUNT | OR_NULL, "components with directions forgotten"},
    {"weak_largest", F_COUNT | OR_NULL, "rows of the largest"},
    {"fill_nnz", F_AMOUNT | OR_NULL, "entries of the Cholesky factor of A + A' in AMD's order"},
    {"fill_flops", F_AMOUNT | OR_NULL, "floating-point operations of the factorisation"},
    {"fill_longest", F_COUNT | OR_NULL, "entries of the longest column of the factor"},
    {"fill_ratio", F_AMOUNT | OR_NULL, "entries of the factor divided by the entries of A's lower triangle"},
    {"positive_definite", F_BOOLEAN | OR_NULL, "whether A is positive definite; null if neither answer is proved"},
    {"definite_proof", F_TEXT | OR_NULL,
     "how definiteness was proved or disproved; undecided: rounding errors are larger than the smallest eigenvalue",
     .words = "diagonal, gershgorin, dominance, row sums, minor, cholesky, determinant, ritz, undecided"},
    {"negative_definite", F_BOOLEAN | OR_NULL,
     "whether -A is positive definite; null unless every diagonal entry is negative"},
    {"definite_row", F_COUNT | OR_NULL, "row of the diagonal entry that disproves definiteness"},
    {"cholesky_column", F_COUNT | OR_NULL, "column at which the Cholesky factorisation failed"},
    {"cholesky_nnz", F_AMOUNT | OR_NULL, "entries of the factor"},
    {"singular", F_BOOLEAN | OR_NULL, "whether A is singular; null if neither answer is proved"},
    {"singular_proof", F_TEXT | OR_NULL, "the proof of `singular`",
     .words = "empty row, structural rank, row sums, column sums, determinant, definite, gershgorin, dominance"},
    {"condition_1", F_AMOUNT | OR_INF | OR_NULL,
     "condition number in the 1-norm, an estimate; null if A is proved singular"},
    {"condition_equilibrated", F_AMOUNT | OR_NULL,
     "the same after rows and columns are multiplied by powers of 2 that make them about equally large"},
    {"condition_2", F_AMOUNT | OR_INF | OR_NULL,
     "condition number in the 2-norm, a lower bound; close to it if condition_1 is known as well"},
    {"ritz_low", F_NUMBER | OR_NULL, "smallest Ritz value"},
    {"ritz_high", F_NUMBER | OR_NULL, "largest Ritz value"},
    {"says", F_LIST, "the text of each line, by the name of the line", .item = F_TEXT},
    {"not_run", F_LIST, "costly lines that did not run", .item = F_TEXT},
    {"failed", F_LIST, "lines that failed", .item = F_TEXT},
    {0},
};
static const struct row_kind row_check_card = {"card", "the report card of a matrix", check_card_fields};

static const struct field check_line_fields[] = {
    {"name", F_TEXT, "name of the line, for `check only`"},
    {"costly", F_BOOLEAN, "whether the line runs on large matrices only on request"},
    {"square", F_BOOLEAN, "whether the line applies to square matrices only"},
    {"about", F_TEXT, "what it is"},
    {0},
};
static const struct row_kind row_check_line = {"line", "a line of the report card", check_line_fields};

const struct command command_check = {
    .name = "check",
    .aliases = "card",
    .grammar = "[MATRIX] [all|lines] [only LINE]",
    .about = "a report card: what a matrix is, and what that means for formats and solvers",
    .help =
        "The card begins with a verdict: the kind of matrix, a solver, a format and the problems that were found.\n"
        "The format is the one that `advise` predicts to be the fastest. If predicting takes more than 2 seconds,\n"
        "a rule of thumb names the format, and says so.\n"
        "On a matrix of more than 100,000 nonzeros, the expensive lines (rank, parts, strong, weak, fill,\n"
        "definite, condition) together get 2 seconds of processor time; the card names the lines that need more,\n"
        "and `check all` runs them without a limit. Ctrl-C keeps the finished lines. `only` runs one line; `lines`\n"
        "explains each line. Rows and columns are counted from 0; a stored zero is an entry. If a Matrix Market\n"
        "file holds NaN, inf, stored zeros or duplicates, it is read once more, and `file` gives their line\n"
        "numbers, counted from 1. The values of a pattern file are ones that nobody gave: lines that judge values\n"
        "do not run, unless it was loaded with `ones`. In JSON, every number has a key; its value is null if its\n"
        "line did not run.\n"
        "    check A\n"
        "    check A all\n"
        "    check A only fill\n"
        "    check lines",
    .rows = (const struct row_kind *const[]){&row_check_card, &row_check_line, NULL},
    .run = run_check,
    .sweeps = true,
    .rows_only_in_json = true,
};
