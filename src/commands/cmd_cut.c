/* scale, extract and prune: make new matrices from scaled or selected entries of another matrix. */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "language/args.h"
#include "matrix/equilibrate.h"
#include "matrix/extract.h"
#include "matrix/matching.h"
#include "matrix/window.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

/* ---- scale ---- */

static const struct {
    const char *name, *about;
    int sides;
    bool matches;
} ways[] = {
    {"both", "divide rows and columns by the square roots of their largest |a|, 10 times", SCALE_BOTH},
    {"rows", "divide each row by its largest |a|", SCALE_ROWS},
    {"cols", "divide each column by its largest |a|", SCALE_COLS},
    {"matching", "one entry of each row and column becomes 1, and no other is larger", SCALE_BOTH, true},
};

/* The index in `ways` of the word after `by`; the first way is the default. */
static int read_way(const struct args *a)
{
    const char *name = arg(a, "by");
    int i = 0;
    while (name && i < COUNT(ways) - 1 && strcmp(ways[i].name, name)) i++;
    return i;
}

struct scaled {
    struct range before, after;
    struct unscaled left;
    bool powers; /* of 2 only */
    double us;
};

static void report_scale(struct out *o, const struct matrix *made, const char *of, int way, const struct scaled *v)
{
    out_record(o);
    out_str(o, "name", "name", made->name);
    out_str(o, "of", "made of", of);
    out_str(o, "by", NULL, ways[way].name);
    out_str(o, "about", "method", ways[way].about);
    out_bool(o, "powers", NULL, v->powers);
    if (v->powers && out_mode(o) == OUT_TEXT)
        out_str(o, NULL, "rounding", "none: each divisor is the nearest power of 2");
    out_int(o, "rows", "rows", made->csr.rows);
    out_int(o, "nnz", "nonzeros", made->csr.nnz);
    out_num(o, "smallest_before", "smallest |a| before", v->before.low, "%.4g");
    out_num(o, "smallest", "smallest |a| after", v->after.low, "%.4g");
    out_num(o, "largest_before", "largest |a| before", v->before.high, "%.4g");
    out_num(o, "largest", "largest |a| after", v->after.high, "%.4g");
    out_int(o, "rows_left", ways[way].sides & SCALE_ROWS ? "rows not scaled" : NULL, v->left.rows);
    out_int(o, "cols_left", ways[way].sides & SCALE_COLS ? "columns not scaled" : NULL, v->left.cols);
    out_time(o, "time_us", "time", v->us);
}

static bool divisors_of_matching(const struct csr *A, double *row, double *col, struct watch *w, struct err *e)
{
    struct matching m;
    if (!matching_find(&m, A, w, e)) return false;
    bool ok = matching_is_full(&m, e);
    for (int64_t i = 0; ok && i < m.n; i++) row[i] = exp2(-m.row_log[i]), col[i] = exp2(-m.col_log[i]);
    matching_free(&m);
    return ok;
}

/* *by: minus the exponent of the nearest power of 2, which the divisor becomes. */
static void round_to_powers(double *divisor, int *by, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        by[i] = -(int)lrint(log2(divisor[i]));
        divisor[i] = ldexp(1, -by[i]);
    }
}

static bool divide_by_powers(struct csr *B, const struct csr *A, double *row, double *col, struct err *e)
{
    int *by = mem_new(A->rows + A->cols, sizeof *by, "the exponents of rows and columns", e);
    if (!by || !csr_copy(B, A, e)) return mem_free(by), false;
    round_to_powers(row, by, A->rows);
    round_to_powers(col, by + A->rows, A->cols);
    bool ok = csr_scale_by_powers(B, by, by + A->rows, e);
    mem_free(by);
    if (!ok) csr_free(B);
    return ok;
}

static bool scale_by_way(struct csr *B, const struct csr *A, int way, bool powers, double *row, double *col,
                         struct unscaled *left, struct watch *w, struct err *e)
{
    bool matches = ways[way].matches;
    if (!(matches ? divisors_of_matching(A, row, col, w, e) : csr_scale(B, A, ways[way].sides, left, row, col, w, e)))
        return false;
    if (!matches && !powers) return true;
    csr_free(B);
    return powers ? divide_by_powers(B, A, row, col, e) : csr_scale_by(B, A, row, col, w, e);
}

/* B = R A C; row[i] is 1 / R_ii, and col[j] is 1 / C_jj. */
static bool scale(struct csr *B, struct session *s, const struct matrix *m, int way, double *row, double *col,
                  struct scaled *v, struct err *e)
{
    double begin = now_us();
    bool ok = scale_by_way(B, &m->csr, way, v->powers, row, col, &v->left, &s->watch, e);
    v->us = now_us() - begin;
    if (ok) v->before = range_of(&m->csr), v->after = range_of(B);
    return ok;
}

static bool run_scale(struct session *s, const struct args *a, struct err *e)
{
    struct csr B = {0};
    struct scaled v = {.powers = arg_flag(a, "powers")};
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    int way = read_way(a);
    if (!m) return false;
    double *row = mem_new(m->csr.rows, sizeof *row, "the divisors of rows", e);
    double *col = row ? mem_new(m->csr.cols, sizeof *col, "the divisors of columns", e) : NULL;
    struct carried c = {.row_divisor = row, .col_divisor = col};
    c.says = ways[way].sides & SCALE_COLS
                 ? "is scaled like the rows, so x of the new matrix is x divided by the scales of "
                   "the columns; `solve scaled` finds x itself"
                 : "is scaled like the rows; x stays the same";
    bool ok = col && scale(&B, s, m, way, row, col, &v, e) &&
              session_add_derived(s, arg(a, "as"), m, "scaled", &B, &c, v.us, e);
    csr_free(&B);
    mem_free(row);
    mem_free(col);
    if (ok) report_scale(s->out, s->current, m->name, way, &v);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field extract_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"of", F_TEXT, "the matrix from which it was made"},
    {"row0", F_COUNT, "first row, counted from 0"},
    {"row1", F_COUNT, "row after the last"},
    {"col0", F_COUNT, "first column, counted from 0"},
    {"col1", F_COUNT, "column after the last"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz", F_COUNT, "stored entries"},
    {"nnz_before", F_COUNT, "stored entries of the other matrix"},
    {"time_us", F_AMOUNT, "extracting, in us"},
    {0},
};
static const struct row_kind row_extract = {"extract", "some rows and columns of a matrix", extract_fields};

static const struct field prune_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"of", F_TEXT, "the matrix from which it was made"},
    {"below", F_AMOUNT, "entries whose |a| is less were left out too; 0: none"},
    {"rows", F_COUNT, "rows"},
    {"cols", F_COUNT, "columns"},
    {"nnz_before", F_COUNT, "stored entries of the other matrix"},
    {"nnz", F_COUNT, "stored entries"},
    {"dropped", F_COUNT, "nnz_before - nnz"},
    {"time_us", F_AMOUNT, "total time, in us"},
    {0},
};
static const struct row_kind row_prune = {"prune", "a matrix without the zeros that are stored", prune_fields};

static const struct field scale_fields[] = {
    {"name", F_TEXT, "name of the new matrix"},
    {"of", F_TEXT, "the matrix from which it was made"},
    {"by", F_TEXT, "what was scaled", .words = "both, rows, cols, matching"},
    {"about", F_TEXT, "what the entries are divided by"},
    {"powers", F_BOOLEAN, "whether the divisors were rounded to powers of 2, so that no value is rounded"},
    {"rows", F_COUNT, "rows"},
    {"nnz", F_COUNT, "stored entries"},
    {"smallest_before", F_AMOUNT, "smallest |a| of the given matrix"},
    {"smallest", F_AMOUNT, "smallest |a|"},
    {"largest_before", F_AMOUNT, "largest |a| of the given matrix"},
    {"largest", F_AMOUNT, "largest |a|"},
    {"rows_left", F_COUNT, "unchanged rows"},
    {"cols_left", F_COUNT, "unchanged columns"},
    {"time_us", F_AMOUNT, "scaling, in us"},
    {0},
};
static const struct row_kind row_scale = {"scale", "a matrix with rows or columns scaled", scale_fields};

const struct command command_scale = {
    .name = "scale",
    .grammar = "[MATRIX] [by rows|cols|both|matching] [powers] [as NAME]",
    .about = "a new matrix: rows or columns divided by their largest |a|",
    .help =
        "`by rows` and `by cols` divide each row or column by its largest |a|, which becomes 1. `by both` (the\n"
        "default) divides rows and columns together by the square roots of their largest |a|, 10 times. The\n"
        "largest |a| of every row and column then approaches 1, and a symmetric matrix stays symmetric (Ruiz\n"
        "2001). Rows and columns that contain only zeros or that contain an infinite value are not scaled.\n"
        "`by matching` scales a square matrix so that one entry in each row and column becomes 1 and no other\n"
        "|a| is above 1; `reorder matching` moves these entries to the diagonal (MC64, job 5: Duff and Koster\n"
        "2001). A matrix that has no such entries is singular; it is refused with its structural rank. With\n"
        "powers, each divisor is rounded to a power of 2: no value is rounded, and the sizes above are met up to a\n"
        "factor of 2. The new matrix becomes the current one, named A-scaled if no name is given.\n"
        "    scale A; scale A by rows as R; scale powers; scale by matching",
    .rows = (const struct row_kind *const[]){&row_scale, NULL},
    .run = run_scale,
    .sweeps = true,
};

/* ---- extract ---- */

static void report_extract(struct out *o, const struct matrix *made, const struct matrix *of, struct window win)
{
    out_record(o);
    out_str(o, "name", "name", made->name);
    out_str(o, "of", "made of", of->name);
    out_int(o, "row0", "from row", win.row0);
    out_int(o, "row1", "to before row", win.row1);
    out_int(o, "col0", "from column", win.col0);
    out_int(o, "col1", "to before column", win.col1);
    out_int(o, "rows", "rows", made->csr.rows);
    out_int(o, "cols", "columns", made->csr.cols);
    out_int(o, "nnz", "nonzeros", made->csr.nnz);
    out_int(o, "nnz_before", "of", of->csr.nnz);
    out_time(o, "time_us", "time", 1000 * made->info.ms);
}

static bool run_extract(struct session *s, const struct args *a, struct err *e)
{
    struct csr B;
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    if (arg(a, "n3") && !arg(a, "n4"))
        return fail(e, E_USAGE, "the end of the column range is missing: COL1 after `%s`", arg(a, "n3"));
    struct window win = {arg_int(a, "n", 0), arg_int(a, "n2", 0), arg_int(a, "n3", 0), arg_int(a, "n4", m->csr.cols)};
    double begin = now_us();
    if (!csr_extract(&B, &m->csr, win, &s->watch, e)) return false;
    struct carried rows = {.row0 = win.row0};
    bool all = win.col0 == 0 && win.col1 == m->csr.cols;
    bool ok = session_add_derived(s, arg(a, "as"), m, "part", &B, all ? &rows : NULL, now_us() - begin, e);
    csr_free(&B);
    if (ok) report_extract(s->out, s->current, m, win);
    return ok;
}

const struct command command_extract = {
    .name = "extract",
    .grammar = "N N [N] [N] [MATRIX] [as NAME]",
    .about = "a new matrix: a range of rows and columns of another matrix",
    .help = "ROW0 ROW1 [COL0 COL1]: rows ROW0 .. ROW1-1, counted from 0, and all columns, or COL0 .. COL1-1. The rows\n"
            "and columns of the new matrix are counted from 0 again. The new matrix becomes the current one, named\n"
            "A-part if no name is given.\n"
            "    extract 0 100 A; extract 50 150 50 150 A as B",
    .rows = (const struct row_kind *const[]){&row_extract, NULL},
    .run = run_extract,
    .sweeps = true,
};

/* ---- prune ---- */

static void report_prune(struct out *o, const struct matrix *made, const struct matrix *of, double below)
{
    out_record(o);
    out_str(o, "name", "name", made->name);
    out_str(o, "of", "made of", of->name);
    out_num(o, "below", below > 0 ? "dropped |a| below" : NULL, below, "%g");
    out_int(o, "rows", "rows", made->csr.rows);
    out_int(o, "cols", "columns", made->csr.cols);
    out_int(o, "nnz_before", "nonzeros before", of->csr.nnz);
    out_int(o, "nnz", "nonzeros", made->csr.nnz);
    out_int(o, "dropped", "dropped", of->csr.nnz - made->csr.nnz);
    out_time(o, "time_us", "time", 1000 * made->info.ms);
}

static bool run_prune(struct session *s, const struct args *a, struct err *e)
{
    struct csr B;
    double below = arg_real(a, "below", 0), begin = now_us();
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m) return false;
    if (!(below >= 0) || isinf(below))
        return fail(e, E_USAGE, "`below %g` is not a limit for |a|: give 0 or more", below);
    if (!csr_prune(&B, &m->csr, below, &s->watch, e)) return false;
    struct carried c = {.drops_x = below > 0 && B.nnz < m->csr.nnz};
    if (c.drops_x && m->sides.x)
        c.says = "stays, but its x is left out: it does not solve the system without the small entries";
    bool ok = session_add_derived(s, arg(a, "as"), m, "pruned", &B, &c, now_us() - begin, e);
    csr_free(&B);
    if (ok) report_prune(s->out, s->current, m, below);
    return ok;
}

const struct command command_prune = {
    .name = "prune",
    .grammar = "[MATRIX] [below R] [as NAME]",
    .about = "a new matrix without stored zeros and, if requested, without small entries",
    .help = "A file may store zeros. Stored zeros count as entries for every kernel, and for the structural rank, the\n"
            "parts and the components in `check`. `below R` also drops entries with |a| < R. NaN stays.\n"
            "The new matrix becomes the current one, named A-pruned if no name is given.\n"
            "    prune A; prune below 1e-12 as B",
    .rows = (const struct row_kind *const[]){&row_prune, NULL},
    .run = run_prune,
    .sweeps = true,
};
