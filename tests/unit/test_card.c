/* The report card: its values are compared with scipy's results for known matrices, and each of its lines is checked on
   matrices made for that line. Other tests check the size of the card, Ctrl-C, and failing allocations. */
#include "base/mem.h"
#include "card/card.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "kits/collection.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "session/matrix.h"

#include <math.h>
#include <unistd.h>

/* Of the matrix of the next card: nothing is known. */
static struct facts *fresh(void)
{
    static struct facts f;
    f = (struct facts){0};
    return &f;
}

/* ---- the table of scipy ---- */

enum { KEYS_MAX = 80, LINE_MAX = 4096 };

/* The card's line with this key, or NULL. */
static const struct card_line *line_of(const char *key)
{
    for (int i = 0; card_lines[i]; i++)
        for (int k = 0; card_lines[i]->keys[k].name; k++)
            if (!strcmp(card_lines[i]->keys[k].name, key)) return card_lines[i];
    return NULL;
}

/* Condition numbers are estimated from below, usually closely; other values agree to within the rounding error of a sum
   as large as the norm. */
static bool agrees(const char *key, double found, double expected, double norm)
{
    if (!strcmp(key, "condition_1")) return found <= expected * 1.001 && found >= expected / 4;
    if (!strcmp(key, "skew")) return fabs(found - expected) <= 1e-12;
    if (!strcmp(key, "rows_low") || !strcmp(key, "rows_high")) return fabs(found - expected) <= 1e-13 * norm;
    return fabs(found - expected) <= 1e-11 * fabs(expected);
}

static int compare_key(const struct card *c, const char *name, const char *key, const char *cell)
{
    const struct card_line *l = line_of(key);
    double expected = strtod(cell, NULL), found = NAN, norm = 0;
    card_value(c, "norms", "norm_inf", &norm);
    if (!strcmp(key, "rows") || !strcmp(key, "cols") || !strcmp(key, "nnz")) {
        int64_t size = !strcmp(key, "nnz") ? c->A->nnz : !strcmp(key, "rows") ? c->A->rows : c->A->cols;
        if (size == (int64_t)expected) return 0;
    } else if (!l) {
        fail_msg("no line has the key %s of the table", key);
    } else if (!strcmp(cell, "-") || (card_value(c, l->name, key, &found) && agrees(key, found, expected, norm))) {
        return 0;
    }
    print_error("%s: %s: expected %s, found %.17g\n", name, key, cell, found);
    return 1;
}

/* Split a line of the table into its fields, in place. */
static int fields_of(char *line, char **field)
{
    int n = 0;
    for (char *p = strtok(line, "\t\n"); p && n < KEYS_MAX; p = strtok(NULL, "\t\n")) field[n++] = p;
    return n;
}

static int compare_row(const char *folder, char *const *key, char *const *field, int n)
{
    char path[512];
    struct csr A = {0};
    struct load_info info = {0};
    struct card c = {0};
    struct err e = {0};
    int wrong = 0;
    snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, field[0]);
    if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", path, e.text);
    if (load_info_is_pattern(&info)) snprintf(info.field, sizeof info.field, "real"); /* the table is about ones */
    assert_true(card_make(&c, &A, &info, fresh(), false, NULL, NULL, &e));
    for (int i = 0; i < c.n; i++) {
        if (c.row[i].state == CARD_FOUND || c.row[i].state == CARD_UNFIT) continue;
        print_error("%s: %s: %s\n", field[0], c.row[i].line->name, card_text(&c.row[i]).text);
        wrong++;
    }
    for (int i = 1; i < n; i++) wrong += compare_key(&c, field[0], key[i], field[i]);
    for (int i = 0; i < c.n; i++) {
        if (strlen(card_text(&c.row[i]).text) <= 69) continue;
        print_error("%s: %s: wider than a line: %s\n", field[0], c.row[i].line->name, card_text(&c.row[i]).text);
        wrong++;
    }
    card_free(&c);
    csr_free(&A);
    return wrong;
}

TEST(test_table)
{
    static char head[LINE_MAX], line[LINE_MAX];
    char *key[KEYS_MAX], *field[KEYS_MAX];
    int matrices = 0, wrong = 0;
    const char *folder = collection_folder("the card beside scipy's numbers");
    if (!folder) skip();
    FILE *f = fopen("tests/kits/card_table.tsv", "r");
    assert_non_null(f);
    assert_non_null(fgets(head, sizeof head, f));
    int n = fields_of(head, key);
    for (; fgets(line, sizeof line, f); matrices++) {
        assert_int_equal(fields_of(line, field), n);
        wrong += compare_row(folder, key, field, n);
    }
    fclose(f);
    assert_true(matrices > 200);
    assert_int_equal(wrong, 0);
}

/* ---- matrices made by hand ---- */

struct entry {
    int row, col;
    double val;
};

static void make(struct csr *A, int64_t rows, int64_t cols, int n, const struct entry *entry)
{
    int row[32], col[32];
    double val[32];
    struct err e = {0};
    assert_true(n <= 32);
    for (int i = 0; i < n; i++) {
        row[i] = entry[i].row;
        col[i] = entry[i].col;
        val[i] = entry[i].val;
    }
    assert_true(csr_from_triplets(A, rows, cols, n, row, col, val, NULL, NULL, &e));
}

static void check_value(const struct card *c, const char *line, const char *key, double expected)
{
    double found;
    if (!card_value(c, line, key, &found)) fail_msg("%s: %s is not known", line, key);
    if (!(fabs(found - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%s: %s: expected %.17g, found %.17g", line, key, expected, found);
}

static void check_text(const struct card *c, const char *line, const char *part)
{
    const struct card_row *r = card_row(c, line);
    struct card_text shown = card_text(r);
    if (!strstr(shown.text, part)) fail_msg("%s: `%s` is not in `%s`", line, part, shown.text);
}

static void card_of(struct card *c, const struct csr *A)
{
    struct err e = {0};
    assert_true(card_make(c, A, NULL, fresh(), true, NULL, NULL, &e));
}

TEST(test_found)
{
    struct csr A;
    struct card c;
    /*  4  . -1  .    row 1 has the NaN, but no entry on the diagonal
        .  . NaN .    one stored zero, at (2, 3)
       -1  .  3  0    two of the four entries off the diagonal are mirror images of each other
        .  .  . -2 */
    make(&A, 4, 4, 7,
         (struct entry[]){{0, 0, 4}, {0, 2, -1}, {1, 2, NAN}, {2, 0, -1}, {2, 2, 3}, {2, 3, 0}, {3, 3, -2}});
    card_of(&c, &A);
    check_value(&c, "valid", "nonfinite", 1);
    check_value(&c, "valid", "nonfinite_row", 1);
    check_value(&c, "valid", "nonfinite_col", 2);
    check_value(&c, "valid", "explicit_zero_row", 2);
    check_value(&c, "valid", "explicit_zero_col", 3);
    check_value(&c, "diagonal", "zero_diagonal", 1);
    check_value(&c, "diagonal", "zero_diagonal_row", 1);
    check_value(&c, "diagonal", "negative_diagonal", 1);
    check_text(&c, "diagonal", "1 missing or 0, first in row 1: Jacobi, GS and SOR cannot run");
    check_value(&c, "pattern", "mirrored", 0.5);
    check_text(&c, "values", "NaN or inf");
    check_text(&c, "condition", "NaN or inf");
    check_text(&c, "gershgorin", "NaN or inf");
    assert_false(card_value(&c, "norms", "norm_1", &(double){0}));
    card_free(&c);
    csr_free(&A);
    make(&A, 2, 2, 2, (struct entry[]){{0, 0, 1}, {1, 1, NAN}});
    card_of(&c, &A);
    check_text(&c, "gershgorin", "NaN or inf");
    check_text(&c, "definite", "NaN or inf");
    check_text(&c, "dominance", "NaN or inf");
    check_text(&c, "signs", "NaN or inf");
    card_free(&c);
    A.val[1] = INFINITY; /* the matrix is symmetric, so Cholesky could succeed */
    card_of(&c, &A);
    check_text(&c, "definite", "NaN or inf");
    check_text(&c, "condition", "NaN or inf");
    card_free(&c);
    csr_free(&A);
}

/* Block upper triangular, with irreducible blocks of 2, 1 and 1 rows. */
/* |a_ii| divided by the sum of the others is 2, 3 and 1/2; the last row has no entry there. */
TEST(the_worst_dominance_is_named)
{
    struct csr A;
    struct card c;
    make(&A, 4, 4, 8,
         (struct entry[]){{0, 0, 4}, {0, 1, -1}, {0, 2, -1}, {1, 1, 3}, {1, 2, -1}, {2, 0, -2}, {2, 2, 1}, {3, 2, -1}});
    card_of(&c, &A);
    check_value(&c, "dominance", "dominance", 0);
    check_value(&c, "signs", "diagonal_not_positive", 1);
    card_free(&c);
    csr_free(&A);
    make(&A, 3, 3, 7,
         (struct entry[]){{0, 0, 4}, {0, 1, -1}, {0, 2, -1}, {1, 1, 3}, {1, 2, -1}, {2, 0, -2}, {2, 2, 1}});
    card_of(&c, &A);
    check_value(&c, "dominance", "dominance", 0.5);
    check_value(&c, "dominance", "rows_failing", 1);
    card_free(&c);
    csr_free(&A);
    /* the Laplacian of a path of 2: singular, so no M-matrix */
    make(&A, 2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, -1}, {1, 0, -1}, {1, 1, 1}});
    card_of(&c, &A);
    check_text(&c, "signs", "signs of an M-matrix, weakly dominant");
    card_free(&c);
    csr_free(&A);
}

static void check_of(int rows, int cols, int n, const struct entry *entries, const char *line, const char *key,
                     double value, const char *text)
{
    struct csr A;
    struct card c;
    make(&A, rows, cols, n, entries);
    card_of(&c, &A);
    if (key) check_value(&c, line, key, value);
    if (text) check_text(&c, line, text);
    card_free(&c);
    csr_free(&A);
}

/* The factor of a tridiagonal matrix has no fill: columns of 2, 2, 2, 2 and 1 entries, 17 operations. */
TEST(the_fill_is_counted)
{
    static const struct entry path[] = {{0, 0, 2},  {0, 1, -1}, {1, 0, -1}, {1, 1, 2},  {1, 2, -1},
                                        {2, 1, -1}, {2, 2, 2},  {2, 3, -1}, {3, 2, -1}, {3, 3, 2},
                                        {3, 4, -1}, {4, 3, -1}, {4, 4, 2}};
    check_of(5, 5, 13, path, "fill", "fill_nnz", 9, NULL);
    check_of(5, 5, 13, path, "fill", "fill_flops", 17, NULL);
    check_of(5, 5, 13, path, "fill", "fill_longest", 2, NULL);
    check_of(5, 5, 13, path, "fill", "fill_ratio", 1, NULL);
}

/* Ranges of values that fp32 holds, or holds with too few digits, or does not hold; an empty row has no maximum. */
TEST(ranges_are_judged)
{
    check_of(2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, 1e-6}, {1, 0, 1e-6}, {1, 1, 1}}, "scaling", "value_ratio", 1e6,
             "fp32 holds them");
    check_of(2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, 1e-8}, {1, 0, 1e-8}, {1, 1, 1}}, "scaling", "row_ratio", 1,
             "wide for fp32");
    check_of(2, 2, 2, (struct entry[]){{0, 0, 1}, {1, 1, 1e-5}}, "scaling", "row_ratio", 1e5, "scale first");
    check_of(2, 2, 2, (struct entry[]){{0, 0, 1e39}, {1, 1, 1e39}}, "scaling", NULL, 0, "beyond fp32");
    check_of(3, 3, 2, (struct entry[]){{0, 0, 4}, {2, 2, 2}}, "scaling", "row_ratio", 2, "fp32 holds them");
}

/* Each eigenvalue lies in the discs of the rows and in those of the columns. In the second matrix, the sum of row 0
   rounds to less than 1, its diagonal entry, but is 1. */
TEST(discs_are_bounds)
{
    static const struct entry wide[] = {{0, 1, 5}, {0, 2, 5}};
    struct entry tiny[20] = {{0, 0, 1}, {0, 1, 1 - 0x1p-53}, {1, 1, 1}};
    for (int i = 2; i < 10; i++) tiny[2 * i - 1] = (struct entry){0, i, 0x1p-56}, tiny[2 * i] = (struct entry){i, i, 1};
    struct csr A;
    struct card c;
    check_of(3, 3, 2, wide, "gershgorin", "gershgorin_low", -5, "[-5, 5]");
    check_of(3, 3, 2, wide, "gershgorin", "gershgorin_high", 5, NULL);
    check_of(3, 3, 2, wide, "gershgorin", "rows_high", 10, NULL);
    /* the discs of the rows end at -1, one of a column reaches 1; and the other way round */
    check_of(2, 2, 3, (struct entry[]){{0, 0, -3}, {0, 1, 2}, {1, 1, -1}}, "gershgorin", NULL, 0, "regular, below 0");
    check_of(2, 2, 3, (struct entry[]){{0, 0, -3}, {1, 0, 2}, {1, 1, -1}}, "gershgorin", NULL, 0, "regular, below 0");
    make(&A, 10, 10, 19, tiny);
    card_of(&c, &A);
    assert_false(c.facts->positive_discs);
    card_free(&c);
    csr_free(&A);
}

/* Sums that agree to 12 digits count as equal. */
TEST(equal_sums_are_weakly_dominant)
{
    static const struct {
        double more, strict;
    } cases[] = {{1e-10, 2}, {1e-11, 2}, {1e-13, 0}};
    for (int i = 0; i < COUNT(cases); i++) {
        double d = 1 + cases[i].more;
        struct entry e[] = {{0, 0, d}, {0, 1, 1}, {1, 0, 1}, {1, 1, d}};
        check_of(2, 2, 4, e, "dominance", "rows_strict", cases[i].strict, NULL);
        check_of(2, 2, 4, e, "dominance", "rows_weak", 2 - cases[i].strict, NULL);
    }
}

/* Scaling is worth a word if it changes the condition; 7 digits are all that fp32 has. */
TEST(conditions_are_worded)
{
    const double d = 2e-7;
    check_of(2, 2, 4, (struct entry[]){{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}}, "condition", "condition_1", 3,
             "about 3, 1-norm (Hager)");
    check_of(2, 2, 2, (struct entry[]){{0, 0, 1}, {1, 1, 1e-6}}, "condition", NULL, 0,
             "1e+06 (1-norm, Hager), equilibrated 1: 0 of 16 digits lost");
    check_of(2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, 1 - d}, {1, 0, 1 - d}, {1, 1, 1}}, "condition", NULL, 0,
             "7 of 16 digits lost, not fp32");
    check_of(2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, 1 - 10 * d}, {1, 0, 1 - 10 * d}, {1, 1, 1}}, "condition", NULL,
             0, "6 of 16 digits lost");
}

static struct card_verdict verdict_on(int n, const struct entry *entries, int rows)
{
    struct csr A;
    struct card c;
    struct card_verdict v;
    make(&A, rows, rows, n, entries);
    card_of(&c, &A);
    card_judge(&c, &v);
    card_free(&c);
    csr_free(&A);
    return v;
}

/* A difference of 1 in 1000 is no rounding error. One problem has one line. Two systems are two. */
TEST(verdicts_on_small_matrices)
{
    struct card_verdict v = verdict_on(4, (struct entry[]){{0, 0, 4}, {0, 1, -1}, {1, 0, -1.001}, {1, 1, 4}}, 2);
    assert_string_equal(v.solve, "bicgstab or gmres; jacobi and gs converge too");
    v = verdict_on(3, (struct entry[]){{0, 0, 1}, {0, 1, 1e-7}, {1, 1, 1e-7}}, 2);
    assert_int_equal(v.problems, 1);
    assert_non_null(strstr(v.problem[0], "ratio of row maxima 1e+07: `scale` first"));
    v = verdict_on(
        8, (struct entry[]){{0, 0, 4}, {0, 1, -1}, {1, 0, -1}, {1, 1, 4}, {2, 2, 4}, {2, 3, -1}, {3, 2, -1}, {3, 3, 4}},
        4);
    assert_int_equal(v.problems, 1);
    assert_non_null(strstr(v.problem[0], "2 independent systems"));
}

/* Rows 0 and 2 are empty. One of 2397 entries has no mirror image, which is less than 100 %. */
TEST(the_first_and_the_only_are_said)
{
    enum { N = 1200 };
    static int row[3 * N], col[3 * N];
    static double val[3 * N];
    struct csr A;
    struct card c;
    int n = 0;
    check_of(2, 2, 2, (struct entry[]){{0, 0, -1}, {1, 1, 2}}, "diagonal", "negative_diagonal", 1,
             "full, 1 of 2 entries negative");
    check_of(3, 3, 1, (struct entry[]){{1, 1, 1}}, "valid", "empty_rows", 2, "2 empty rows, first 0");
    for (int i = 0; i < N; i++)
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N && (i != 1 || j != 0)) row[n] = i, col[n] = j, val[n++] = i == j ? 2 : -1;
    assert_true(csr_from_triplets(&A, N, N, n, row, col, val, NULL, NULL, NULL));
    card_of(&c, &A);
    check_text(&c, "pattern", "99.9%");
    card_free(&c);
    csr_free(&A);
}

/* 9.995^2 is less than 1 * 100, and 10.005^2 is more. */
TEST(minors_disprove_definiteness)
{
    static const char *const says[] = {"positive definite", "not positive definite"};
    for (int i = 0; i < 2; i++) {
        double a = i ? 10.005 : 9.995;
        check_of(2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, a}, {1, 0, a}, {1, 1, 100}}, "definite", NULL, 0, says[i]);
        struct csr A;
        struct card c;
        make(&A, 2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, a}, {1, 0, a}, {1, 1, 100}});
        card_of(&c, &A);
        assert_int_equal(c.facts->definite, i ? DEFINITE_NOT : DEFINITE_POSITIVE);
        card_free(&c);
        csr_free(&A);
    }
}

/* Without time, LU is left out, and the time that it needs is said. The real matrix in place of a complex one has twice
   as many rows, and LU of it 8 times as many operations. */
TEST(complex_conditions_take_longer)
{
    static const int row[] = {0, 0, 1, 1, 1, 2, 2}, col[] = {0, 1, 0, 1, 2, 1, 2};
    static const double re[] = {4, 1, 1, 5, 1, 1, 6}, im[] = {0, 1, -1, 0, 2, -2, 0};
    double needs[2];
    for (int complex = 0; complex < 2; complex++) {
        struct csr A;
        struct card c;
        struct err e = {0};
        struct card_row condition = {.line = card_find("condition")};
        assert_true(csr_from_triplets(&A, 3, 3, 7, row, col, re, complex ? im : NULL, NULL, NULL));
        card_of(&c, &A);
        c.until_us = 0;
        assert_false(condition.line->run(&c, &condition, &e));
        assert_int_equal(e.code, E_LIMIT);
        needs[complex] = c.needs_us;
        card_free(&c);
        csr_free(&A);
    }
    assert_true(needs[0] > 0 && needs[1] == 8 * needs[0]);
}

/* A row with two columns, and a column with two rows: no x satisfies both equations of the latter. */
TEST(a_tall_part_outweighs_a_wide_one)
{
    static const struct entry both[] = {{0, 0, 1}, {0, 1, 1}, {1, 2, 1}, {2, 2, 1}};
    check_of(3, 3, 4, both, "parts", "wide_cols", 2, "wide 1 x 2, square 0, tall 2 x 1");
    check_of(3, 3, 4, both, "parts", "tall_rows", 2, "least squares");
    check_of(1, 2, 2, both, "parts", "wide_cols", 2, "many solutions");
}

TEST(test_parts)
{
    struct csr A;
    struct card c;
    make(&A, 4, 4, 7, (struct entry[]){{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}, {1, 2, 1}, {2, 2, 1}, {3, 3, 1}});
    card_of(&c, &A);
    check_value(&c, "parts", "square_blocks", 3);
    check_value(&c, "parts", "square_largest", 2);
    check_value(&c, "strong", "strong_components", 3);
    check_value(&c, "weak", "weak_components", 2);
    card_free(&c);
    csr_free(&A);
    /* the wide part is 1 x 2, the square part 1 x 1, and the tall part 2 x 1 */
    make(&A, 4, 4, 5, (struct entry[]){{0, 0, 1}, {0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 3, 1}});
    card_of(&c, &A);
    check_value(&c, "rank", "structural_rank", 3);
    check_value(&c, "parts", "wide_rows", 1);
    check_value(&c, "parts", "wide_cols", 2);
    check_value(&c, "parts", "square_size", 1);
    check_value(&c, "parts", "tall_rows", 2);
    check_value(&c, "parts", "tall_cols", 1);
    check_text(&c, "condition", "infinite");
    card_free(&c);
    csr_free(&A);
}

/* The card makes claims only if their conditions hold: a strictly dominant row, a square matrix, a nonsingular
   matrix. */
TEST(test_claims)
{
    struct csr A;
    struct card c;
    make(&A, 2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, -1}, {1, 0, -1}, {1, 1, 1}});
    card_of(&c, &A);
    check_text(&c, "dominance", "weak in all rows: possibly singular");
    card_free(&c);
    csr_free(&A);
    make(&A, 3, 3, 2, (struct entry[]){{0, 0, 1}, {0, 1, -1}}); /* singular: no advice to use lu */
    card_of(&c, &A);
    assert_null(strstr(card_text(card_row(&c, "values")).text, "lu"));
    assert_null(strstr(card_text(card_row(&c, "fill")).text, "direct solver"));
    card_free(&c);
    csr_free(&A);
    make(&A, 2, 2, 4, (struct entry[]){{0, 0, 2}, {0, 1, -1}, {1, 0, -1}, {1, 1, 1}});
    card_of(&c, &A);
    check_text(&c, "dominance", "strict in 1 row, weak in 1: Jacobi if irreducible");
    card_free(&c);
    csr_free(&A);
    /* ILU(0) of a diagonally dominant matrix does not break down, whatever the signs of its elements. */
    for (int strict = 0; strict < 2; strict++) {
        make(&A, 2, 2, 4, (struct entry[]){{0, 0, -2 - strict}, {0, 1, 2}, {1, 0, 1}, {1, 1, 2}});
        card_of(&c, &A);
        check_text(&c, "signs", strict ? "1 diagonal entries not positive: no M-matrix" : ", ILU(0) may fail");
        assert_int_equal(!strstr(card_text(card_row(&c, "signs")).text, "ILU"), strict);
        card_free(&c);
        csr_free(&A);
    }
    make(&A, 100, 99, 4, (struct entry[]){{0, 98, 2}, {99, 0, 1}, {3, 4, 1}, {4, 5, NAN}});
    card_of(&c, &A);
    check_text(&c, "band", "reads of x are scattered");
    check_text(&c, "norms", "not known: the matrix has NaN or inf");
    card_free(&c);
    csr_free(&A);
    make(&A, 1, 2, 2, (struct entry[]){{0, 0, 2}, {0, 1, 1}});
    card_of(&c, &A);
    check_text(&c, "rank", "structurally of full rank: only the values can make the rank smaller");
    card_free(&c);
    csr_free(&A);
}

/* The card claims nothing about a matrix without rows or columns. */
TEST(test_nothing)
{
    for (int cols = 0; cols < 2; cols++) {
        struct csr A;
        struct card c;
        make(&A, 0, 5 * cols, 0, NULL);
        card_of(&c, &A);
        check_text(&c, "valid", "no rows or no columns");
        for (int i = 1; i < c.n; i++) assert_int_equal(c.row[i].state, CARD_UNFIT);
        card_free(&c);
        csr_free(&A);
    }
}

/* Small symmetric matrices, by rows, and what is known of them. */
struct small {
    int n;
    double a[16];
    const char *proof;
    double positive; /* NaN: not known */
};

static void make_small(struct csr *A, int n, const double *a)
{
    struct entry entry[16];
    for (int i = 0; i < n * n; i++) entry[i] = (struct entry){i / n, i % n, a[i]};
    make(A, n, n, n * n, entry);
}

static void check_definite(const struct small *s)
{
    struct csr A;
    struct card c;
    double found;
    make_small(&A, s->n, s->a);
    card_of(&c, &A);
    if (isnan(s->positive))
        assert_false(card_value(&c, "definite", "positive_definite", &found));
    else
        check_value(&c, "definite", "positive_definite", s->positive);
    assert_string_equal(card_row(&c, "definite")->value[1].text, s->proof);
    card_free(&c);
    csr_free(&A);
}

/* For each proof of definiteness: a case in which it succeeds, and one in which it does not. */
TEST(test_definite)
{
    static const double W = 0x1p-50;
    const struct small cases[] = {
        {2, {2, 0, 0, -3}, "diagonal", 0},
        {2, {2, 1, 1, 2}, "gershgorin", 1},
        {2, {1, 1, 1, 2}, "dominance", 1},
        {2, {1, 2, 2, 5}, "cholesky", 1},
        {2, {1, 2, 2, 3}, "minor", 0},
        {2, {1, 2, 2, 4}, "determinant", 0}, /* singular */
        {2, {1, 1, 1, 1}, "determinant", 0},
        {2, {2, -1e-9, -1e-9, 2e-18}, "cholesky", 1},               /* scaled rows of 2 -1, -1 2 */
        {3, {5, 4, 4, 4, 5, -4, 4, -4, 5}, "cholesky", 0},          /* its determinant is -243 */
        {3, {2, 1, 1, 1, 2, 1, 1, 1, 2}, "cholesky", 1},            /* dominant rows, none of them strictly */
        {3, {1 + W, 1, W, 1, 2, 1, W, 1, 1 + W}, "determinant", 1}, /* the same; its determinant is 4 W */
        {2, {190392490709135, 117669030460994, 117669030460994, 72723460248141}, "undecided", NAN},  /* -1 */
        {2, {308061521170129, 190392490709135, 190392490709135, 117669030460994}, "undecided", NAN}, /* 1 */
    };
    for (int i = 0; i < COUNT(cases); i++) check_definite(&cases[i]);
}

/* A matrix that is symmetric only up to rounding: the margin covers the differences. */
TEST(definite_up_to_rounding)
{
    static const double gaps[] = {1e-17, 1e-15, 1e-13};
    for (int i = 0; i < COUNT(gaps); i++) {
        double gap = gaps[i];
        check_definite(&(struct small){3, {4, 1, gap, 1, 4, 1, 0, 1, 4}, "cholesky", 1});
        check_definite(&(struct small){3, {5, 4, 4, 4, 5, -4, 4 + 8 * gap, -4, 5}, "cholesky", 0});
        /* its smallest eigenvalue is W; the gaps are larger than that from 1e-15 on */
        if (i > 0) check_definite(&(struct small){2, {1, 1, 1 - gap, 1 + 0x1p-52}, "undecided", NAN});
    }
}

/* Laplacians of graphs with weights: no eigenvalue is below 0, and one is 0, whatever Cholesky finds in fp64. */
TEST(laplacians_are_semidefinite)
{
    static const struct small cases[] = {
        {3, {5, -4, -1, -4, 11, -7, -1, -7, 8}, "row sums", 0},
        {3, {11, -3, -8, -3, 9, -6, -8, -6, 14}, "row sums", 0},
        {4, {3, -3, 0, 0, -3, 10, -7, 0, 0, -7, 18, -11, 0, 0, -11, 11}, "row sums", 0},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        struct card c;
        check_definite(&cases[i]);
        make_small(&A, cases[i].n, cases[i].a);
        card_of(&c, &A);
        assert_string_equal(card_symmetry_text(&c), "symmetric positive semidefinite");
        check_value(&c, "singular", "singular", 1);
        check_text(&c, "condition", "infinite");
        card_free(&c);
        csr_free(&A);
    }
}

/* Regular matrices whose LU in fp64 has a zero pivot, or nearly so, and a singular one. Exact arithmetic gives the
   determinants in the comments. */
TEST(singular_needs_a_proof)
{
    static const struct {
        int n;
        double a[16];
        double singular;
        const char *proof;
    } cases[] = {
        {2, {-107983377, -15417593, 3886990982, 554974725}, 0, "determinant"},                      /* 1 */
        {2, {190392490709135, 117669030460994, 117669030460994, 72723460248141}, 0, "determinant"}, /* -1 */
        {3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, "determinant"},
        {3, {1, 2, -3, 4, 5, -9, 7, -8, 1}, 1, "row sums"},
        {3, {1, 2, 3, 4, 5, 6, -5, -7, -9}, 1, "column sums"},
        {3, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, 0, "determinant"}, /* of the rounded values: 6.7e-18 */
        {2, {3, 1, -1, 3}, 0, "gershgorin"},
        {3, {1, 1, 0, 0, 1, 1, 0, 1, 2}, 0, "dominance"},
        {2, {1, 0, 0, 1e-17}, 0, "definite"},
        {2, {0, 1, 1e-17, 0}, 0, "determinant"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        struct card c;
        make_small(&A, cases[i].n, cases[i].a);
        card_of(&c, &A);
        check_value(&c, "singular", "singular", cases[i].singular);
        assert_string_equal(card_row(&c, "singular")->value[1].text, cases[i].proof);
        card_free(&c);
        csr_free(&A);
    }
}

/* Scaling rows and columns does not change what the card says about a solve. */
TEST(the_condition_is_that_of_the_equilibrated_matrix)
{
    for (int power = 0; power <= 17; power++) {
        double small = pow(10, -power), found;
        struct csr A;
        struct card c;
        struct card_verdict v;
        /* D (4 1 0, 1 4 1, 0 2 4) with D = diag(1, small, 1): the condition of the other factor is 2.8 */
        make_small(&A, 3, (double[]){4, 1, 0, small, 4 * small, small, 0, 2, 4});
        card_of(&c, &A);
        assert_true(card_value(&c, "condition", "condition_equilibrated", &found));
        assert_true(found >= 1 && found < 12);
        card_judge(&c, &v);
        assert_non_null(strstr(v.solve, "bicgstab or gmres"));
        assert_int_equal(power >= 5, v.problems > 0 && strstr(v.problem[0], "`scale` first"));
        for (int k = 0; k < v.problems; k++) assert_null(strstr(v.problem[k], "singular"));
        card_free(&c);
        csr_free(&A);
    }
}

/* A matrix too large to factor: cg either finds a p with p'Ap < 0, by more than rounding errors, or proves nothing. */
TEST(test_ritz)
{
    static const struct {
        double a[16];
        bool indefinite;
    } cases[] = {
        {{5, 4, 4, 4, 5, -4, 4, -4, 5}, true}, /* its determinant is -243 */
        {{2, 1, 1, 1, 2, 1, 1, 1, 2}, false},
        {{0.1, 0.2, 0.3, 0.2, 0.4, 0.6, 0.3, 0.6, 0.9}, false}, /* 0 but for rounding: two eigenvalues */
    };
    double saved_flops_most = card_flops_most;
    card_flops_most = 0;
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        struct card c;
        double found;
        make_small(&A, 3, cases[i].a);
        card_of(&c, &A);
        if (cases[i].indefinite) {
            check_value(&c, "definite", "positive_definite", 0);
            assert_string_equal(card_row(&c, "definite")->value[1].text, "ritz");
        } else {
            assert_false(card_value(&c, "definite", "positive_definite", &found));
            check_text(&c, "definite", "not proved: too large to factor");
        }
        card_free(&c);
        csr_free(&A);
    }
    card_flops_most = saved_flops_most;
}

/* Of a matrix too large to factor with a negative diagonal, neither sentence is proved: -A may be definite. */
TEST(negative_and_too_large_to_factor)
{
    static double a[] = {-2, -1, -1, -1, -2, -1, -1, -1, -2}; /* eigenvalues -1, -1, -4 */
    double saved_flops_most = card_flops_most, found;
    struct csr A;
    struct card c;
    make_small(&A, 3, a);
    card_flops_most = 0;
    card_of(&c, &A);
    check_value(&c, "definite", "positive_definite", 0);
    assert_false(card_value(&c, "definite", "negative_definite", &found));
    card_free(&c);
    card_flops_most = saved_flops_most;
    card_of(&c, &A);
    check_value(&c, "definite", "negative_definite", 1);
    card_free(&c);
    csr_free(&A);
}

/* nnz(L) compared with CHOLMOD's counts, and the 1-norm condition of a matrix whose inverse is known. */
TEST(test_factors)
{
    struct csr A;
    struct card c;
    struct err e = {0};
    struct card_cholesky l;
    double fill;
    int64_t p[PARAMS_MAX] = {17, 13};
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, &A, &e));
    card_of(&c, &A);
    assert_true(card_value(&c, "fill", "fill_nnz", &fill) && card_cholesky(&c, CARD_MARGIN_BELOW, &l, &e));
    assert_true(fill == l.nnz && l.positive && fill > (double)A.nnz / 2);
    double pi = acos(-1), low = 4 - 2 * cos(pi / 18) - 2 * cos(pi / 14), high = 4 + 2 * cos(pi / 18) + 2 * cos(pi / 14);
    double found;
    assert_true(card_value(&c, "condition", "condition_2", &found));
    assert_true(fabs(found - high / low) < 1e-4 * high / low);
    card_free(&c);
    csr_free(&A);
    /* Lanczos does not find the smallest of these eigenvalues, 1e-12. */
    enum { DECADES = 12, EACH = 2, N = DECADES * EACH + 1 };
    struct entry graded[N];
    for (int i = 0; i < N; i++) graded[i] = (struct entry){i, i, pow(10, -(double)i / EACH)};
    make(&A, N, N, N, graded);
    card_of(&c, &A);
    assert_true(card_value(&c, "condition", "condition_2", &found));
    assert_true(fabs(found - 1e12) < 1e-3 * 1e12);
    card_free(&c);
    csr_free(&A);
    /* [1 2; 3 4]: its norm is 6, and the norm of its inverse is 3.5 */
    make(&A, 2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, 2}, {1, 0, 3}, {1, 1, 4}});
    card_of(&c, &A);
    check_value(&c, "condition", "condition_1", 21);
    card_free(&c);
    csr_free(&A);
}

/* Sums of columns that overflow, and a condition beyond fp64, are no proof that the matrix is singular. */
TEST(test_overflow)
{
    struct csr A;
    struct card c;
    make(&A, 2, 2, 3, (struct entry[]){{0, 0, 1e308}, {0, 1, 1e308}, {1, 1, 1e308}});
    card_of(&c, &A);
    check_value(&c, "condition", "condition_1", 4);
    check_value(&c, "singular", "singular", 0);
    card_free(&c);
    csr_free(&A);
    make(&A, 2, 2, 2, (struct entry[]){{0, 0, 1e300}, {1, 1, 1e-300}});
    card_of(&c, &A);
    check_text(&c, "condition", "beyond 1.8e308");
    check_text(&c, "scaling", "ratio of row maxima beyond 1.8e308");
    check_value(&c, "singular", "singular", 0);
    card_free(&c);
    csr_free(&A);
    /* the rows sum to 2e308 off the diagonal; the norms are 3.5e308, 3.5e308 and 3.6e308 */
    make(&A, 3, 3, 9,
         (struct entry[]){{0, 0, 1.5e308},
                          {0, 1, 1e308},
                          {0, 2, -1e308},
                          {1, 0, 1e308},
                          {1, 1, 1.5e308},
                          {1, 2, 1e308},
                          {2, 0, -1e308},
                          {2, 1, 1e308},
                          {2, 2, 1.5e308}});
    card_of(&c, &A);
    check_value(&c, "dominance", "rows_failing", 3);
    check_value(&c, "dominance", "cols_failing", 3);
    check_text(&c, "norms", "1: beyond 1.8e308, inf: beyond 1.8e308, F: beyond 1.8e308");
    card_free(&c);
    csr_free(&A);
    /* 1.5e308 > 1e308, although their sum overflows */
    make(&A, 2, 2, 3, (struct entry[]){{0, 0, 1.5e308}, {0, 1, 1e308}, {1, 1, 1}});
    card_of(&c, &A);
    check_value(&c, "dominance", "rows_strict", 2);
    card_free(&c);
    csr_free(&A);
    /* twice a block of condition 4e16, 1e400 apart */
    make(&A, 4, 4, 8,
         (struct entry[]){{0, 0, 1e208},
                          {0, 1, 1e208},
                          {1, 0, 1e208},
                          {1, 1, 1.0000000000000002e208},
                          {2, 2, 1e-192},
                          {2, 3, 1e-192},
                          {3, 2, 1e-192},
                          {3, 3, 1.0000000000000002e-192}});
    card_of(&c, &A);
    if (strstr(card_text(card_row(&c, "condition")).text, "inf"))
        fail_msg("%s", card_text(card_row(&c, "condition")).text);
    check_value(&c, "singular", "singular", 0);
    card_free(&c);
    csr_free(&A);
}

/* A Laplacian is dominant in the weak sense, and may be a singular M-matrix. */
TEST(test_weak_signs)
{
    struct csr A;
    struct card c;
    make(&A, 2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, -1}, {1, 0, -1}, {1, 1, 1}});
    card_of(&c, &A);
    check_text(&c, "signs", "signs of an M-matrix, weakly dominant: it may be one");
    card_free(&c);
    csr_free(&A);
}

/* The norms of complex matrices are sums of moduli: that of A is 2 + sqrt(2), that of its inverse (1 + sqrt(2)) / 2. */
TEST(test_complex_condition)
{
    struct csr A;
    struct card c;
    struct err e = {0};
    double found;
    assert_true(csr_new(&A, 2, 2, 3, true, &e));
    memcpy(A.rowptr, (int[]){0, 2, 3}, 3 * sizeof *A.rowptr);
    memcpy(A.col, (int[]){0, 1, 1}, 3 * sizeof *A.col);
    memcpy(A.val, (double[]){1, 1, 2}, 3 * sizeof *A.val);
    memcpy(A.imag, (double[]){0, 1, 0}, 3 * sizeof *A.imag);
    card_of(&c, &A);
    assert_true(card_value(&c, "condition", "condition_1", &found));
    assert_true(fabs(found - (2 + sqrt(2)) * fmax(1, (1 + sqrt(2)) / 2)) < 1e-12);
    card_free(&c);
    csr_free(&A);
}

TEST(test_no_library)
{
    const char *name = card_cholmod_name;
    struct csr A;
    struct card c;
    make(&A, 2, 2, 4, (struct entry[]){{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 5}});
    card_cholmod_name = "libnothing.so.0";
    card_of(&c, &A);
    card_cholmod_name = name;
    assert_int_equal(card_row(&c, "definite")->state, CARD_FAILED);
    check_text(&c, "definite", "Cholesky needs the library libnothing.so.0, which is not installed");
    assert_int_equal(card_row(&c, "condition")->state, CARD_FOUND);
    card_free(&c);
    csr_free(&A);
}

/* ---- Ctrl-C and memory ---- */

struct stopper {
    struct watch watch;
    const char *at;
};

static bool stop_at(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return strcmp(what, ((struct stopper *)w)->at) != 0;
}

TEST(test_stopped)
{
    static const char *const at[] = {"values",
                                     "symmetry",
                                     "blocks",
                                     "matching rows and columns",
                                     "strong components",
                                     "weak components",
                                     "ordering by AMD",
                                     "Cholesky by CHOLMOD",
                                     "condition by LU"};
    struct csr A;
    struct err e = {0};
    int64_t p[PARAMS_MAX] = {90, 90};
    int stopped = 0;
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, &A, &e));
    A.val[csr_find(&A, 4000, 4000)] = 3.999; /* with this value, diagonal dominance does not prove definiteness */
    for (int i = 0; i < COUNT(at); i++) {
        struct stopper s = {{.tick = stop_at}, at[i]};
        struct card c;
        assert_true(card_make(&c, &A, NULL, fresh(), true, NULL, &s.watch, &e));
        bool past = false;
        for (int k = 0; k < c.n; k++) {
            if (past) assert_int_equal(c.row[k].state, CARD_LEFT);
            past = past || c.row[k].state == CARD_STOPPED;
            if (!past) assert_int_equal(c.row[k].state, CARD_FOUND);
        }
        stopped += c.stopped;
        assert_int_equal(c.stopped, past);
        card_free(&c);
    }
    csr_free(&A);
    assert_int_equal(stopped, COUNT(at));
}

/* Whichever allocation fails, the card has all other lines, and the failed line gives the reason. */
TEST(test_memory)
{
    struct csr A;
    struct err e = {0};
    int64_t p[PARAMS_MAX] = {6, 6};
    bool failed = true;
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, &A, &e));
    for (int n = 1; failed; n++) {
        struct card c;
        struct err why = {0};
        mem_fail_at(n);
        bool ok = card_make(&c, &A, NULL, fresh(), true, NULL, NULL, &why);
        mem_fail_at(0);
        failed = !ok;
        for (int i = 0; ok && i < c.n; i++) {
            failed = failed || c.row[i].state == CARD_FAILED;
            if (c.row[i].state == CARD_FAILED && !strstr(card_text(&c.row[i]).text, "memory"))
                fail_msg("%s", card_text(&c.row[i]).text);
        }
        if (!ok) assert_int_equal(why.code, E_MEMORY);
        card_free(&c);
        assert_true(n < 1000);
    }
    csr_free(&A);
}

TEST(rectangular_parts_are_no_systems)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 300 40 5000; check all"));
    assert_non_null(strstr(t.out, " unconnected parts, largest "));
    assert_null(strstr(t.out, "systems"));
    assert_null(strstr(t.out, "separately"));
    talk_close(&t);
}

/* ---- digits lost ---- */

/* Load the 2 x 2 matrix with ones on the diagonal and `off` beside it, whose condition is (1 + off) / (1 - off) in the
   1-norm, also when equilibrated. */
static void load_pair(struct talk *t, double off)
{
    char path[] = "/tmp/warpspy-card-XXXXXX", line[100];
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix array real general\n2 2\n1\n%.17g\n%.17g\n1\n", off, off);
    assert_int_equal(fclose(f), 0);
    snprintf(line, sizeof line, "drop all; load %s", path);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    unlink(path);
}

/* A solve in fp32 has no correct digit from 7 lost digits on; with 16, not even one in fp64. */
TEST(digits_lost_are_those_of_the_condition)
{
    static const struct {
        double condition;
        int digits;
    } cases[] = {{1e3, 3},   {1e6, 6},   {3e6, 6},   {3.3e6, 7},   {1e7, 7},
                 {2.9e7, 7}, {3.3e7, 8}, {1e12, 12}, {0x1p51, 15}, {0x1p53, 16}};
    struct talk t;
    char says[100];
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(cases); i++) {
        int digits = cases[i].digits;
        load_pair(&t, (cases[i].condition - 1) / (cases[i].condition + 1));
        talk_forget(&t);
        assert_true(talk_line(&t, "check"));
        snprintf(says, sizeof says, ": a solve loses %d of 16 digits; do not use fp32", digits);
        if (!strstr(t.out, says) != (digits < 7 || digits > 15) ||
            !strstr(t.out, "do not use fp32") != !strstr(t.out, says))
            fail_msg("condition %g:\n%s", cases[i].condition, t.out);
        snprintf(says, sizeof says, "%d of 16 digits lost%s\n", digits, digits < 7 ? "" : ", not fp32");
        if (!strstr(t.out, says) != (digits > 15)) fail_msg("condition %g:\n%s", cases[i].condition, t.out);
        if (!strstr(t.out, "equilibrated: nearly singular to fp64") != (digits <= 15))
            fail_msg("condition %g:\n%s", cases[i].condition, t.out);
    }
    talk_close(&t);
}

/* ---- the verdict ---- */

static const struct {
    const char *make, *kind, *solve, *store, *problem; /* problem: NULL if no problem is expected */
} verdicts[] = {
    {"gen poisson2d 20", "symmetric positive definite", "cg, with precond", "dia, rule of thumb: 5 diagonals", NULL},
    {"load tests/files/negative.mtx", "symmetric negative definite", "cg, which solves -A x = -b",
     "dia, rule of thumb: 3 diagonals", NULL},
    {"load tests/files/indefinite.mtx", "symmetric, not positive", "minres; not cg", "", NULL},
    {"gen rmat 12", "not symmetric, some very long rows", "singular", "csr, rule of thumb: some very long rows",
     "structurally singular"},
    {"gen fem 12", "symmetric", "cg", "bsr 3, rule of thumb: ", NULL},
    {"gen circuit 300", "only the pattern is symmetric, dominant", "jacobi and gs converge",
     "sell, rule of thumb: uneven rows", NULL},
    {"gen brokendiag 500", "not symmetric, dominant diagonal", "jacobi and gs converge", "", NULL},
    {"load tests/golden/complex.mtx", "complex", "jacobi and gs converge", "", "`scale` first"},
    {"load tests/files/hermitian.mtx", "complex, hermitian", "cg, with precond ic0 or jacobi",
     "ell, rule of thumb: even rows", NULL},
    {"load tests/files/neumann.mtx as M; extract 0 5 0 5 as E; let F = E*E*E*E*E*E", "", "cg", "", "do not use fp32"},
    {"load tests/files/swap.mtx", "symmetric", "minres", "", "2 diagonal entries missing or 0: "},
    {"load tests/files/empty_row.mtx", "", "none: A is singular", "", "structurally singular: 1 row without a pivot"},
    {"load tests/golden/singular.mtx", "", "none: A is singular", "", "the determinant is exactly 0"},
    {"gen dense 300; extract 0 300 0 2 as tall", "more rows than columns", "", "bsr 2, rule of thumb: ", NULL},
    {"gen poisson2d 8; extract 0 40 0 64", "more columns than rows", "`solve direct`: least squares", "", NULL},
};

static void check_starts(const char *make, const char *text, const char *line, const char *part)
{
    const char *at = strstr(text, line);
    size_t n = at ? strcspn(at + 1, "\n") : 0;
    if (!at || !memmem(at + 1, n, part, strlen(part)))
        fail_msg("%s: the line%s lacks `%s`:\n%s", make, line, part, text);
}

/* The verdict agrees with the lines of the card, and nothing in the card contradicts it. Without time for predictions,
   a rule of thumb names the format. */
TEST(test_verdict)
{
    double limit_us = card_limit_us;
    struct talk t;
    card_limit_us = 0;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(verdicts); i++) {
        if (!talk_line(&t, verdicts[i].make)) fail_msg("%s: %s", verdicts[i].make, t.err);
        assert_true(talk_line(&t, "check"));
        check_starts(verdicts[i].make, t.out, "\nkind ", verdicts[i].kind);
        check_starts(verdicts[i].make, t.out, "\nsolvers ", verdicts[i].solve);
        check_starts(verdicts[i].make, t.out, "\nstore as ", verdicts[i].store);
        check_starts(verdicts[i].make, t.out, "\nproblems ", verdicts[i].problem ? verdicts[i].problem : "none found");
        if (strstr(t.out, "structurally singular:")) assert_null(strstr(t.out, "a direct solver is quick"));
        if (strstr(t.out, "definite,")) assert_null(strstr(t.out, "cg if also definite"));
    }
    card_limit_us = limit_us;
    talk_close(&t);
}

/* The value of a key in the row of a command; "": null. */
static void string_of(const char *out, const char *command, const char *key, char *value, size_t size)
{
    char start[64], at_key[64];
    snprintf(start, sizeof start, "{\"command\":\"%s\"", command);
    snprintf(at_key, sizeof at_key, "\"%s\":\"", key);
    const char *row = strstr(out, start), *at = row ? strstr(row, at_key) : NULL;
    snprintf(value, size, "%.*s", at ? (int)strcspn(at + strlen(at_key), "\"") : 0, at ? at + strlen(at_key) : "");
}

/* The format of the verdict is the first one of `advise`, whatever the rule of thumb says. */
TEST(the_format_is_the_first_choice_of_advise)
{
    static const char *const makes[] = {"gen poisson2d 20",
                                        "gen poisson2d 300",
                                        "gen rmat 10 8 seed 3",
                                        "gen fem 12",
                                        "gen circuit 3000",
                                        "gen band 500 3",
                                        "gen random 5000 9",
                                        "gen dense 40",
                                        "gen brokendiag 500",
                                        "gen random 300 4 90",
                                        "load tests/golden/complex.mtx as Z"};
    int unlike_rule = 0;
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < COUNT(makes); i++) {
        char format[32], by[32], rule[32], first[32];
        double limit_us = card_limit_us;
        talk_forget(&t);
        assert_true(talk_line(&t, makes[i]));
        card_limit_us = 0;
        assert_true(talk_line(&t, "check"));
        card_limit_us = INFINITY; /* a slow machine predicts the same */
        string_of(t.out, "check", "store_format", rule, sizeof rule);
        string_of(t.out, "check", "store_by", by, sizeof by);
        assert_string_equal(by, "rule");
        talk_forget(&t);
        assert_true(talk_line(&t, "check; advise predicted top 1"));
        string_of(t.out, "check", "store_format", format, sizeof format);
        string_of(t.out, "check", "store_by", by, sizeof by);
        string_of(t.out, "advise", "format", first, sizeof first);
        card_limit_us = limit_us;
        assert_string_equal(by, "predicted");
        if (strcmp(format, first)) fail_msg("%s: stored as %s, but advise begins with %s", makes[i], format, first);
        unlike_rule += strcmp(rule, first) != 0;
    }
    assert_true(unlike_rule >= 3);
    talk_close(&t);
}

/* Nothing can be predicted for a matrix without entries, and the verdict asks for no prediction. */
TEST(a_matrix_without_entries_has_no_prediction)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/golden/empty.mtx as E; check"));
    check_starts("empty", t.out, "\nstore as ", "csr, rule of thumb: no entries");
    assert_null(strstr(t.out, "advise"));
    assert_null(strstr(t.out, "too slow"));
    talk_close(&t);
}

/* ---- patterns ---- */

/* Writes a pattern file of n rows with the given entries, counted from 1. */
static const char *pattern_file(const char *symmetry, int n, int entries, const int (*at)[2])
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/warpspy-pattern-%d.mtx", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate pattern %s\n%d %d %d\n", symmetry, n, n, entries);
    for (int i = 0; i < entries; i++) fprintf(f, "%d %d\n", at[i][0], at[i][1]);
    assert_int_equal(fclose(f), 0);
    return path;
}

/* The ones of this pattern would be a singular matrix; the values of its matrix are not known. */
static const int square_of_ones[][2] = {{1, 1}, {2, 1}, {2, 2}};
/* The ones of this one would be positive semidefinite, with rows of one sum. */
static const int triangle[][2] = {{1, 1}, {2, 1}, {3, 1}, {2, 2}, {3, 2}, {3, 3}};

/* Nothing that the card says of a pattern depends on values. */
TEST(a_pattern_is_judged_without_values)
{
    static const char *const by_values[] = {"positive_definite", "singular",        "condition_1", "norm_1",
                                            "gershgorin_low",    "value_symmetric", "rows_strict", "negative_diagonal"};
    for (int i = 0; i < 2; i++) {
        const char *path = i ? pattern_file("symmetric", 3, COUNT(triangle), triangle)
                             : pattern_file("symmetric", 2, COUNT(square_of_ones), square_of_ones);
        struct csr A = {0};
        struct load_info info = {0};
        struct card c;
        struct card_verdict v;
        struct err e = {0};
        double found;
        assert_true(mtx_load(path, NULL, &A, &info, &e) && card_make(&c, &A, &info, fresh(), true, NULL, NULL, &e));
        for (int k = 0; k < COUNT(by_values); k++)
            if (card_value(&c, line_of(by_values[k])->name, by_values[k], &found)) fail_msg("%s", by_values[k]);
        check_value(&c, "valid", "has_values", 0);
        check_value(&c, "rank", "structural_rank", i ? 3 : 2);
        check_text(&c, "values", "the file has none");
        card_judge(&c, &v);
        assert_string_equal(v.solve, "not known: the file has no values");
        assert_non_null(strstr(v.kind, "no values, symmetric pattern"));
        assert_int_equal(v.problems, 0);
        card_free(&c);
        csr_free(&A);
        assert_int_equal(remove(path), 0);
    }
}

/* A pattern without a pivot in some row is singular for any values. */
TEST(a_pattern_may_be_singular)
{
    static const int at[][2] = {{1, 1}, {2, 1}, {3, 1}};
    const char *path = pattern_file("general", 3, COUNT(at), at);
    struct csr A = {0};
    struct load_info info = {0};
    struct card c;
    struct err e = {0};
    assert_true(mtx_load(path, NULL, &A, &info, &e) && card_make(&c, &A, &info, fresh(), true, NULL, NULL, &e));
    check_value(&c, "singular", "singular", 1);
    card_free(&c);
    csr_free(&A);
    assert_int_equal(remove(path), 0);
}

/* Saved, loaded, copied, reordered: a pattern stays one while its entries are ones. `ones` makes them values. */
TEST(a_pattern_stays_a_pattern)
{
    static const char *const stay[] = {
        "let B = A", "let B = A'", "reorder rcm A as B", "extract A 0 1 0 2 as B", "prune A as B", "symmetrize A as B"};
    static const char *const go[] = {"let B = 2*A", "let B = A + A", "let B = 1*A + 0*I"};
    static const char *const endings[] = {"mtx", "mtx.gz", "npz", "wsb"};
    const char *path = pattern_file("symmetric", 2, COUNT(square_of_ones), square_of_ones);
    char line[300];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s as A", path);
    assert_true(talk_line(&t, line));
    for (int i = 0; i < COUNT(stay) + COUNT(go); i++) {
        bool stays = i < COUNT(stay);
        const char *make = stays ? stay[i] : go[i - COUNT(stay)];
        if (!talk_line(&t, make)) fail_msg("%s: %s", make, t.err);
        if (stays != !strcmp(t.s.current->info.field, "pattern")) fail_msg("%s: %s", make, t.s.current->info.field);
        assert_true(talk_line(&t, "drop B"));
    }
    for (int i = 0; i < COUNT(endings); i++) {
        char saved[64];
        snprintf(saved, sizeof saved, "/tmp/warpspy-saved-%d.%s", (int)getpid(), endings[i]);
        snprintf(line, sizeof line, "save %s A force; load %s as B", saved, saved);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        assert_string_equal(t.s.current->info.field, "pattern");
        assert_true(csr_equal(&t.s.current->csr, &t.s.matrices->csr));
        assert_int_equal(remove(saved), 0);
        assert_true(talk_line(&t, "drop B"));
    }
    talk_says(&t, "solve jacobi A maxit 3", "converged");
    assert_non_null(strstr(t.err, "A is a pattern: its file has no values, and each entry is taken as 1"));
    snprintf(line, sizeof line, "load %s as C ones; check C", path);
    talk_says(&t, line, "singular: the determinant is exactly 0");
    snprintf(line, sizeof line, "load samples/thesis4.mtx ones");
    talk_refuses(&t, line, "`ones` is for files without values");
    talk_close(&t);
    assert_int_equal(remove(path), 0);
}

/* ---- the time limit ---- */

/* With a time limit of 0, no costly line of a large matrix runs, and each costly line is in state CARD_LATE. */
TEST(test_limit)
{
    struct csr A;
    struct card c;
    struct err e = {0};
    double limit_us = card_limit_us;
    int64_t p[PARAMS_MAX] = {200, 200};
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, &A, &e));
    A.val[csr_find(&A, 4000, 4000)] = 3.999; /* with this value, diagonal dominance does not prove definiteness */
    card_limit_us = 0;
    assert_true(card_make(&c, &A, NULL, fresh(), false, NULL, NULL, &e));
    card_limit_us = limit_us;
    assert_false(c.stopped);
    for (int i = 0; i < c.n; i++) assert_int_equal(c.row[i].state, c.row[i].line->costly ? CARD_LATE : CARD_FOUND);
    card_free(&c);
    assert_true(card_make(&c, &A, NULL, fresh(), true, NULL, NULL, &e));
    for (int i = 0; i < c.n; i++) assert_int_equal(c.row[i].state, CARD_FOUND);
    card_free(&c);
    csr_free(&A);
}

/* ---- the command ---- */

static void check_screen(const char *text)
{
    int lines = 0;
    for (const char *p = text; *p; lines++) {
        int n = (int)strcspn(p, "\n");
        if (n > 80) fail_msg("wider than 80 columns: %.*s", n, p);
        p += n + (p[n] == '\n');
    }
    if (lines > 23) fail_msg("%d lines are more than a screen:\n%s", lines, text);
}

/* The card of any matrix fits on the screen and leaves room for the prompt. */
TEST(test_screen)
{
    static const char *const make_them[] = {"gen poisson2d 20",
                                            "gen poisson2d 1",
                                            "gen rmat 12",
                                            "gen random 900 3 300",
                                            "gen brokendiag 500",
                                            "gen poisson3d 40 50 60",
                                            "gen circuit 3000",
                                            "load tests/golden/complex.mtx as Z",
                                            "load tests/golden/empty.mtx as E",
                                            "load tests/golden/singular.mtx as S"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(make_them); i++) {
        if (!talk_line(&t, make_them[i])) fail_msg("%s", t.err);
        assert_true(talk_line(&t, "check"));
        check_screen(t.out);
    }
    talk_close(&t);
}

TEST(test_command)
{
    double limit_us = card_limit_us;
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson3d 30"));
    card_limit_us = INFINITY; /* whatever else the machine does */
    assert_true(talk_line(&t, "check"));
    assert_null(strstr(t.out, "too slow"));
    card_limit_us = 0;
    assert_true(talk_line(&t, "check"));
    card_limit_us = limit_us;
    assert_non_null(strstr(t.out, "too slow   rank, parts, strong, weak, fill, definite, condition; `check all`"));
    assert_null(strstr(t.out, "\nrank"));
    assert_true(talk_line(&t, "check only weak"));
    assert_non_null(strstr(t.out, "weak       connected"));
    assert_null(strstr(t.out, "norms"));
    assert_false(talk_line(&t, "check only wek"));
    assert_non_null(strstr(t.err, "`wek` after `only` is not a line of the report card (did you mean `weak`?)"));
    assert_true(talk_line(&t, "check lines"));
    for (int i = 0; card_lines[i]; i++) assert_non_null(strstr(t.out, card_lines[i]->about));
    assert_true(talk_line(&t, "gen random 6 2 9 as wide; check wide only definite"));
    assert_non_null(strstr(t.out, "only for square matrices"));
    talk_close(&t);
}

/* Keys are distinct, and each line can be explained. */
TEST(test_lines)
{
    for (int i = 0; card_lines[i]; i++) {
        const struct card_line *l = card_lines[i];
        assert_true(l->run && *l->about && strlen(l->name) <= 10 && card_find(l->name) == l);
        for (int k = 0; l->keys[k].name; k++)
            if (line_of(l->keys[k].name) != l)
                fail_msg("%s and another line share the key %s", l->name, l->keys[k].name);
    }
}
