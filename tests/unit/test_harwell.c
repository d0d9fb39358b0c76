/* Harwell-Boeing and Rutherford-Boeing files: Fortran's formats, right sides, elements, auxiliary files, saving, and
   damaged files. The values of `formats` are those that a program of GNU Fortran 12.2 reads; the others were computed
   by hand. */
#include "base/mem.h"
#include "base/watch.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "files/sides.h"
#include "kits/mtx_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"

#include <math.h>
#include <stdio.h>

struct loaded {
    struct csr A;
    struct sides t;
    struct load_info info;
};

static bool load(const char *path, struct loaded *f, struct err *e)
{
    bool ok = file_load_system(path, NULL, NULL, &f->A, &f->t, &f->info, e);
    if (ok && !csr_check(&f->A, e)) fail_msg("%s: %s", path, e->text);
    if (!ok) assert_true(!f->A.rowptr && !f->A.val && !f->t.b && !f->t.x && !f->t.guess && e->text[0]);
    return ok;
}

static void unload(struct loaded *f)
{
    csr_free(&f->A);
    sides_free(&f->t);
}

static void load_well(const char *path, struct loaded *f)
{
    struct err e = {0};
    if (!load(path, f, &e)) fail_msg("%s: %s", e.where, e.text);
}

static const char *file_of(const char *text)
{
    return write_file("t.hb", text, strlen(text));
}

static void assert_matrix(const char *text, const char *shown, const char *note)
{
    struct loaded f;
    char out[1024];
    load_well(file_of(text), &f);
    show_matrix(&f.A, out, sizeof out);
    assert_string_equal(out, shown);
    assert_string_equal(f.info.nwarnings ? f.info.warning[0] : "", note);
    unload(&f);
}

static void assert_refused(const char *text, const char *says)
{
    struct loaded f;
    struct err e = {0};
    if (load(file_of(text), &f, &e)) fail_msg("loaded, instead of \"%s\": %s", says, text);
    if (!strstr(e.text, says)) fail_msg("expected \"%s\", got \"%s\"", says, e.text);
}

/* ---- formats ---- */

/* A 4 x 1 matrix whose four values are in the lines `values`. */
#define COLUMN(format, values) \
    "t\n 3 1 1 1 0\nRUA            4 1 4 0\n(2I3) (4I3) " format "\n  1  5\n  1  2  3  4\n" values

TEST(formats)
{
    static const struct {
        const char *text;
        double v[4];
    } table[] = {
        {COLUMN("(4F8.3)", "   1.500   2.500  -3.000    4000\n"), {1.5, 2.5, -3, 4}},
        {COLUMN("(1X,4F6.1)", "x   1.5   2.5  -3.0    40\n"), {1.5, 2.5, -3, 4}},
        {COLUMN("(2(1X,F6.1))", "    1.5    2.5\n   -3.0     40\n"), {1.5, 2.5, -3, 4}},
        {COLUMN("(2X,3(F5.1),X)", "    1.5  2.5 -3.0\n 4. 0\n"), {1.5, 2.5, -3, 4}}, /* the group is repeated, not 2X */
        {COLUMN("(2(1P,E10.3),F5.1)", " 1.500E+00   2.5D+01-30.0\n  -4.0Q-02\n"), {1.5, 25, -3, -0.04}},
        {COLUMN("(1P2E8.2,2E8.2)", "     150   2.5E0  -300.    4.-2\n"), {0.15, 2.5, -30, 0.04}},
        {COLUMN("(-2P,4F5.1)", "   15  2.5   -31.E+1\n"), {150, 250, -30, 10}},
        {COLUMN("(1P,4ES8.1)", " 1.5E+00     2.5   15+10  -3.5-3\n"), {1.5, 0.25, 1.5e10, -0.0035}},
        {COLUMN("(4EN11.3E3)", " 150.0E+003  2.5E-006     1.+100    -.5-100\n"), {150e3, 2.5e-6, 1e100, -.5e-100}},
        {COLUMN("(4D7.2)", " 1.5D+3 15E-2 15D+2    12.d0 \n"), {1500, 0.0015, 15, 12}},
        {COLUMN("(4G6.0)", "  1.5 2.5  -3     4.  \n"), {1.5, 2.5, -3, 4}},
        {COLUMN("(4I4)", "   1  -2   3+004\n"), {1, -2, 3, 4}},
        {COLUMN("(2E25.16)", "  1.0000000000000000E+00 -2.0000000000000000E+00\n  3.0E+00  4.0E+00\n"),
         {1, -2, 3, 4}}, /* narrower fields than stated: SciPy 1.17.1 */
        {COLUMN("( 4 F 8 . 3 )", "   1.500   2.500  -3.000    4000\r\n"), {1.5, 2.5, -3, 4}},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct loaded f;
        load_well(file_of(table[i].text), &f);
        for (int k = 0; k < 4; k++)
            if (f.A.val[k] != table[i].v[k]) fail_msg("%d: value %d is %.17g: %s", i, k, f.A.val[k], table[i].text);
        assert_int_equal(f.info.nwarnings, 0);
        unload(&f);
    }
}

TEST(false_formats_are_refused)
{
    static const char *const formats[] = {"(4F8.3",
                                          "(F)",
                                          "(0F8.3)",
                                          "(4F99.3)",
                                          "(4A8)",
                                          "(4F8.)",
                                          "((((((F8.3))))))",
                                          "(2X)",
                                          "(4F8.3,)",
                                          "()",
                                          "(P)",
                                          "(4F8.3;4F8.3)",
                                          "(2(X))",
                                          "(F8.3 4F8.3)",
                                          "(-4F8)",
                                          "(200P,F8.3)",
                                          "(20(X,F4,X,F4,X,F4,X,F4))"};
    for (int i = 0; i < COUNT(formats); i++) {
        char text[256];
        snprintf(text, sizeof text, COLUMN("%s", "   1.500   2.500  -3.000   4.000\n"), formats[i]);
        assert_refused(text, "instead of the format of the values");
    }
}

TEST(blank_fields_are_0)
{
    assert_matrix(COLUMN("(4F4.1)", " 1.5     2.5  3.\n"), "4x1: 1 1 1.5; 2 1 0; 3 1 2.5; 4 1 3",
                  "1 blank field read as 0, as Fortran does");
    assert_matrix(COLUMN("(2F4.1)", "        \n 2.5    \n"), "4x1: 1 1 0; 2 1 0; 3 1 2.5; 4 1 0",
                  "3 blank fields read as 0, as Fortran does");
    assert_refused(COLUMN("(4F4.1)", " 1.5     2.5\n"), "\"the end of the line\" instead of a value");
    assert_refused("t\n 3 1 1 1 0\nRUA            4 1 4 0\n(2I3) (4I3) (4F4.1)\n  1  5\n  1     3  4\n 1. 2. 3. 4.\n",
                   "found \"\" instead of a row index");
}

/* ---- right sides ---- */

/* A = [1 0; 2 3], with `lines` lines of right sides of the type `type`. */
#define SYSTEM(lines, type, values)                                                     \
    "t\n 9 1 1 1 " lines "\nRUA            2 2 3 0\n(3I2) (3I2) (3F5.1) (3F5.1)\n" type \
    "\n 1 3 4\n 1 2 2\n  1.0  2.0  3.0\n" values

static void assert_numbers(int i, const char *what, const double *v, const double *right, int n)
{
    if (!v != !n) fail_msg("%d: %s: %s", i, what, v ? "unexpected" : "missing");
    for (int k = 0; k < n; k++)
        if (v[k] != right[k]) fail_msg("%d: %s: number %d is %g, not %g", i, what, k, v[k], right[k]);
}

TEST(right_sides_follow_the_matrix)
{
    static const struct {
        const char *text;
        int n, guesses, solutions; /* right sides; numbers of the guesses and solutions */
        double b[4], guess[4], x[4];
    } table[] = {
        {SYSTEM("1", "F             1 0", "  1.0  5.0\n"), 1, 0, 0, {1, 5}, {0}, {0}},
        {SYSTEM("2", "FG            1", "  1.0  5.0\n  0.9  1.1\n"), 1, 2, 0, {1, 5}, {.9, 1.1}, {0}},
        {SYSTEM("2", "F X           1 0", "  1.0  5.0\n  1.0  1.0\n"), 1, 0, 2, {1, 5}, {0}, {1, 1}},
        {SYSTEM("3", "FGX           1 0", "  1.0  5.0\n  0.9  1.1\n  1.0  1.0\n"), 1, 2, 2, {1, 5}, {.9, 1.1}, {1, 1}},
        {SYSTEM("4", "FNX           2 0", "  1.0  5.0  2.0\n 10.0\n  1.0  1.0  2.0\n  2.0\n"),
         2,
         0,
         4,
         {1, 5, 2, 10},
         {0},
         {1, 1, 2, 2}},
        {SYSTEM("4", "F             4 0", "  1.0  5.0\n  2.0 10.0\n  3.0 15.0\n  4.0 20.0\n"),
         4,
         0,
         0,
         {1, 5, 2, 10},
         {0},
         {0}}, /* each column on a new line, as the count of lines says */
        {SYSTEM("4", "M X           2 3", " 1 3 4\n 1 2 2\n  1.0  5.0 10.0\n  1.0  1.0  0.0\n  3.3\n"),
         2,
         0,
         4,
         {1, 5, 0, 10},
         {0},
         {1, 1, 0, 3.3}},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct loaded f;
        load_well(file_of(table[i].text), &f);
        if (f.t.n != table[i].n) fail_msg("%d: %lld right sides", i, (long long)f.t.n);
        assert_numbers(i, "b", f.t.b, table[i].b, table[i].n > 1 ? 4 : 2);
        assert_numbers(i, "guess", f.t.guess, table[i].guess, table[i].guesses);
        assert_numbers(i, "x", f.t.x, table[i].x, table[i].solutions);
        unload(&f);
    }
}

#define COMPLEX                                                                                                       \
    "t\n 6 1 1 1 2\nCUA            2 2 2 0\n(3I2) (2I2) (4F5.1) (4F5.1)\nF X           1 0\n 1 2 3\n 1 2\n  1.0  2.0" \
    "  3.0  4.0\n  5.0  6.0  7.0  8.0\n  0.1  0.2  0.3  0.4\n"

TEST(complex_right_sides_are_pairs)
{
    static const double b[] = {5, 6, 7, 8}, x[] = {.1, .2, .3, .4};
    struct loaded f;
    load_well(file_of(COMPLEX), &f);
    assert_int_equal(f.t.b_each, 4);
    assert_numbers(0, "b", f.t.b, b, 4);
    assert_numbers(0, "x", f.t.x, x, 4);
    unload(&f);
}

static void assert_x(const char *text, const char *lines, const double *x, int n)
{
    char hb[512];
    struct loaded f;
    snprintf(hb, sizeof hb, text, lines);
    load_well(file_of(hb), &f);
    assert_numbers(0, "x", f.t.x, x, n);
    unload(&f);
}

/* The guide gives solutions the rows of the matrix; other programs give them its columns, which the count of lines
   shows. */
TEST(solutions_of_rectangular_matrices)
{
    static const double x[] = {1, 2, 3, 4, 5, 6, 7};
    static const char *const wide =
        "t\n 9 1 1 1 %s\nRRA            2 7 1 0\n(8I2) (3I2) (3F5.1) (3F5.1)\nF X           1 0\n 1 2 2 2 2 2 2 2\n 1\n"
        "  1.0\n  1.0  5.0\n  1.0  2.0  3.0\n  4.0  5.0  6.0\n  7.0\n";
    static const char *const tall =
        "t\n 9 1 1 1 %s\nRRA            7 2 1 0\n(8I2) (3I2) (3F5.1) (3F5.1)\nF X           1 0\n 1 2 2\n 1\n"
        "  1.0\n  1.0  5.0  3.0\n  4.0  5.0  6.0\n  7.0\n  1.0  2.0\n";
    assert_x(wide, "4", x, 7);
    assert_x(wide, "2", NULL, 0);
    assert_x(tall, "4", x, 2);
}

TEST(false_right_sides_are_refused)
{
    static const struct {
        const char *text, *says;
    } table[] = {
        {SYSTEM("1", "Q             1 0", "  1.0  5.0\n"), "instead of the type and number of right sides"},
        {SYSTEM("1", "FQ            1 0", "  1.0  5.0\n"), "instead of the type and number of right sides"},
        {SYSTEM("1", "F            -1 0", "  1.0  5.0\n"), "instead of the type and number of right sides"},
        {SYSTEM("1", "F", "  1.0  5.0\n"), "instead of the type and number of right sides"},
        {SYSTEM("1", "F             1 0", "  1.0\n"), "\"the end of the line\" instead of a value"},
        {SYSTEM("2", "F X           1 0", "  1.0  5.0\n"), "is truncated"},
        {SYSTEM("1", "F       999999999 0", "  1.0  5.0\n"), "is truncated"},
        {SYSTEM("1", "F       999999999999999999 0", "  1.0  5.0\n"), "is truncated"},
        {SYSTEM("3", "M             2 3", " 1 4 3\n 1 2 2\n  1.0  5.0 10.0\n"), "must rise from 1 to 4"},
        {SYSTEM("3", "M             2 3", " 2 3 4\n 1 2 2\n  1.0  5.0 10.0\n"), "must rise from 1 to 4"},
        {SYSTEM("3", "M             2 3", " 1 3 4\n 1 2 3\n  1.0  5.0 10.0\n"),
         "row 3 of a right side is outside 1 .. 2"},
    };
    for (int i = 0; i < COUNT(table); i++) assert_refused(table[i].text, table[i].says);
}

TEST(solve_uses_right_sides_and_guesses)
{
    struct talk t;
    char line[512];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s as A",
             file_of(SYSTEM("3", "FGX           1 0", "  1.0  5.0\n  1.0  1.0\n  1.0  1.0\n")));
    talk_says(&t, line, "1 right side and its solution");
    assert_non_null(strstr(t.err, "1 guess of the solution: `solve x0 given` starts from it"));
    talk_says(&t, "solve bicgstab on cpu", "error in x");
    talk_says(&t, "solve bicgstab on cpu x0 given", "iterations     0");
    talk_says(&t, "scale; solve bicgstab on cpu x0 given", "iterations     0"); /* the guess was scaled, too */
    snprintf(line, sizeof line, "save %s A", scratch_path("guess.npz"));
    assert_true(talk_line(&t, line));
    assert_non_null(strstr(t.err, "the guess of x is not written; .hb files contain guesses"));
    snprintf(line, sizeof line, "save %s A", scratch_path("guess.hb"));
    assert_true(talk_line(&t, line));
    assert_null(strstr(t.err, "not written"));
    talk_close(&t);
}

/* ---- elements ---- */

/* Two elements, with the variables 1, 3 and 3, 2. */
#define ELEMENTS(type, values, format, rest) \
    "t\n 9 1 1 1 0\n" type "            3 2 4 " values "\n(3I2) (4I2) " format "\n 1 3 5\n 1 3 3 2\n" rest

TEST(elements_are_assembled)
{
    static const char note[] = "the matrix was assembled from 2 elements: 1 entry added to others";
    assert_matrix(ELEMENTS("RSE", "6", "(6F4.0)", "  1.  2.  3. 10. 20. 30.\n"),
                  "3x3: 1 1 1; 1 3 2; 2 2 30; 2 3 20; 3 1 2; 3 2 20; 3 3 13", note);
    assert_matrix(ELEMENTS("RUE", "8", "(8F4.0)", "  1.  2.  3.  4. 10. 20. 30. 40.\n"),
                  "3x3: 1 1 1; 1 3 3; 2 2 40; 2 3 20; 3 1 2; 3 2 30; 3 3 14", note);
    assert_matrix(ELEMENTS("PSE", "0", "", ""), "3x3: 1 1 1; 1 3 1; 2 2 1; 2 3 1; 3 1 1; 3 2 1; 3 3 1", note);
    assert_matrix(ELEMENTS("CHE", "6", "(12F3.0)", " 1. 0. 2. 5. 3. 0.10. 0.20. 6.30. 0.\n"),
                  "3x3: 1 1 1 0; 1 3 2 -5; 2 2 30 0; 2 3 20 6; 3 1 2 5; 3 2 20 -6; 3 3 13 0", note);
    assert_matrix(ELEMENTS("RZE", "2", "(2F3.0)", " 2.20.\n"),
                  "3x3: 1 1 0; 1 3 -2; 2 2 0; 2 3 20; 3 1 2; 3 2 -20; 3 3 0", note);
    assert_matrix(ELEMENTS("RZE", "6", "(6F3.0)", " 0. 2. 0. 0.20. 0.\n"),
                  "3x3: 1 1 0; 1 3 -2; 2 2 0; 2 3 20; 3 1 2; 3 2 -20; 3 3 0", note);
}

TEST(what_a_file_says_about_elements)
{
    struct loaded f;
    load_well(file_of(ELEMENTS("RSE", "6", "(6F4.0)", "  1.  2.  3. 10. 20. 30.\n")), &f);
    assert_string_equal(f.info.symmetry, "symmetric");
    assert_int_equal(f.info.nnz_stored, 6);
    assert_int_equal(f.info.duplicates, 1);
    unload(&f);
}

TEST(false_elements_are_refused)
{
    static const struct {
        const char *text, *says;
    } table[] = {
        {ELEMENTS("RSE", "7", "(7F4.0)", "  1.  2.  3. 10. 20. 30. 40.\n"), "says 7 values, but the elements have 6"},
        {ELEMENTS("RRE", "8", "(8F4.0)", "  1.  2.  3.  4. 10. 20. 30. 40.\n"), "its elements must be square"},
        {ELEMENTS("RSE", "6", "(6F4.0)", "  1.  2.  3. 10. 20.\n"), "instead of a value"},
        {"t\n 9 1 1 1 0\nPSE            2 2 4 0\n(3I2) (4I2)\n 1 3 5\n 1 3 3 2\n",
         "variable 3 of an element is outside"},
        {"t\n 9 1 1 1 0\nPSE            3 2 4 0\n(3I2) (4I2)\n 1 6 5\n 1 3 3 2\n", "pointers decrease: 5 follows 6"},
        {"t\n 9 1 1 1 0\nPSE            3 2 4 0\n(3I2) (4I2)\n 2 3 5\n 1 3 3 2\n",
         "run from 2 to 5 instead of from 1 to 5"},
        {"t\n 9 1 1 1 0\nPSE            3 2 4 0\n(3I2) (4I2)\n 1 3 4\n 1 3 3 2\n",
         "run from 1 to 4 instead of from 1 to 5"},
    };
    for (int i = 0; i < COUNT(table); i++) assert_refused(table[i].text, table[i].says);
}

/* A value for each variable of each element: b = (1, 20, 2 + 10). */
TEST(right_sides_of_elements_are_assembled)
{
    static const double b[] = {1, 20, 12};
    struct loaded f;
    load_well(file_of("t\n 9 1 1 1 1\nRSE            3 2 4 6\n(3I2) (4I2) (6F4.0) (4F4.0)\nM             1 0\n 1 3 5\n"
                      " 1 3 3 2\n  1.  2.  3. 10. 20. 30.\n  1.  2. 10. 20.\n"),
              &f);
    assert_int_equal(f.t.n, 1);
    assert_numbers(0, "b", f.t.b, b, 3);
    unload(&f);
}

TEST(both_triangles_are_refused_with_a_cure)
{
    assert_refused("t\n 3 1 1 1 0\nRSA            2 2 2 0\n(3I2) (2I2) (2F5.2)\n 1 2 3\n 2 1\n 1.50 1.50\n",
                   "this file holds both; remove one, or let the header say that the matrix is general");
}

/* ---- auxiliary files ---- */

#define DENSE(kind, rest) "title\n" kind "FULL_R2  r             3             2             6\n(3F5.1)\n" rest
static const char two_columns[] = DENSE("rhsrd ", "  1.0  0.0  3.0\n  4.0  5.0  6.0\n");

TEST(auxiliary_files_are_matrices_of_columns)
{
    assert_matrix(two_columns, "3x2: 1 1 1; 1 2 4; 2 2 5; 3 1 3; 3 2 6", "the columns are right sides");
    assert_matrix("title\nslnr  SPARSE   c             2             1\n(4F4.1)\n 1.5 0.0 0.0 2.5\n",
                  "2x1: 1 1 1.5 0; 2 1 0 2.5", "the columns are solutions");
    assert_matrix(
        "title\nrhsrs SPARSE   r             5             2             3\n(3I2) (3I2) (3F5.1)\n 1 3 4\n 3 4 5\n"
        "  3.0  4.0  1.0\n",
        "5x2: 3 1 3; 4 1 4; 5 2 1", "the columns are right sides");
    assert_matrix("title\nords  PERM     i             3             1\n(3I2)\n 2 3 1\n", "3x1: 1 1 2; 2 1 3; 3 1 1",
                  "the columns are orderings, counted from 1");
}

TEST(auxiliary_files_are_right_sides)
{
    static const double right[] = {1, 0, 3, 4, 5, 6};
    double *x = NULL, one[3];
    int64_t n;
    struct err e = {0};
    if (!mtx_load_columns(file_of(two_columns), 3, false, &x, &n, &e)) fail_msg("%s", e.text);
    assert_int_equal(n, 2);
    assert_memory_equal(x, right, sizeof right);
    mem_free(x);
    assert_true(
        mtx_load_vector(file_of("t\nestr  GUESS    r             3             1             3\n(3F4.1)\n 1.0 2.0 "
                                "3.0\n"),
                        3, one, &e));
    assert_true(one[0] == 1 && one[1] == 2 && one[2] == 3);
    assert_false(
        mtx_load_vector(file_of("t\nordl  PERM     i             3             1\n(3I2)\n 2 3 1\n"), 3, one, &e));
    assert_string_equal(e.text, "this is no right side or solution of A x = b, but the file says: the columns are "
                                "orderings, counted from 1");
    err_clear(&e);
    assert_false(mtx_load_vector(file_of("t\nrhsl  LEFT     r             3             1\n(3F4.1)\n 1.0 2.0 3.0\n"), 3,
                                 one, &e));
    assert_non_null(strstr(e.text, "the columns are right sides of the transpose"));
    err_clear(&e);
    assert_false(mtx_load_columns(file_of(two_columns), 4, false, &x, &n, &e));
    assert_non_null(strstr(e.text, "the vector is 3 x 2, but the system needs 4 x 1"));
}

TEST(false_auxiliary_files_are_refused)
{
    static const struct {
        const char *text, *says;
    } table[] = {
        {DENSE("rhsre ", "  1.0  0.0  3.0\n  4.0  5.0  6.0\n"), "vectors of elements cannot be read"},
        {DENSE("rhsrd ", "  1.0  0.0  3.0\n"), "is truncated"},
        {"t\nrhsrd FULL_R2  r             3             2             5\n(3F5.1)\n  1.0  0.0  3.0\n  4.0  5.0\n",
         "3 x 2 vectors have 6 numbers, but the header says 5"},
        {"t\nrhsrd FULL_R2  r     999999999     999999999\n(3F5.1)\n  1.0  0.0  3.0\n", "is truncated"},
        {"t\nrhsrd FULL_R2  r         99999          9999\n(3F5.1)\n  1.0  0.0  3.0\n", "is truncated"},
        {"t\nrhsrs FULL_R2  r             3             2             3\n(3F5.1)\n  1.0  0.0  3.0\n",
         "the format of the indices"},
        {"t\nrhsrs FULL_R2  r             3             2\n(3I2) (3I2) (3F5.1)\n  1.0  0.0  3.0\n", "may be negative"},
    };
    for (int i = 0; i < COUNT(table); i++) assert_refused(table[i].text, table[i].says);
}

/* ---- saving ---- */

static bool save(const char *name, const struct loaded *f, struct err *e)
{
    return file_save_system(scratch_path(name), true, &f->A, &f->t, &f->info, "a test", NULL, e);
}

static void assert_returns(const struct loaded *f, const char *name)
{
    struct loaded g;
    struct err e = {0};
    if (!save(name, f, &e)) fail_msg("%s: %s", name, e.text);
    load_well(scratch_path(name), &g);
    if (!csr_equal(&f->A, &g.A)) fail_msg("%s: another matrix came back", name);
    assert_string_equal(g.info.field, f->info.field[0] ? f->info.field : f->A.imag ? "complex" : "real");
    assert_int_equal(g.info.nwarnings, 0);
    unload(&g);
}

TEST(every_shape_round_trips)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct loaded f = {.A = shape_csr(s, 5)};
        assert_returns(&f, "s.rb");
        assert_returns(&f, "s.hb");
        if (!f.A.imag) assert_returns(&f, "s.rua");
        unload(&f);
    }
}

TEST(every_value_round_trips)
{
    static const double v[] = {0,         -0.0, 1,  1e22, 123456789012345678, 5e-324, -0x1.fffffffffffffp1023,
                               0x1p-1022, 0.1,  1e5};
    for (int imaginary = 0; imaginary < 2; imaginary++) {
        struct loaded f = {0};
        assert_true(csr_new(&f.A, 1, COUNT(v), COUNT(v), imaginary, NULL));
        f.A.rowptr[1] = COUNT(v);
        for (int k = 0; k < COUNT(v); k++) {
            f.A.col[k] = k;
            f.A.val[k] = v[k];
            if (imaginary) f.A.imag[k] = v[COUNT(v) - 1 - k];
        }
        assert_returns(&f, "v.hb");
        f.A.val[3] = -INFINITY;
        f.A.val[4] = NAN;
        struct err e = {0};
        struct loaded g;
        assert_true(save("w.hb", &f, &e));
        load_well(scratch_path("w.hb"), &g);
        assert_true(g.A.val[3] == -INFINITY && isnan(g.A.val[4]));
        unload(&f);
        unload(&g);
    }
}

/* The lines of a small file, as the guide describes them: sizes in columns of 14, formats in columns of 16 and 20. */
TEST(a_saved_file_is_as_the_guide_says)
{
    struct loaded f;
    struct err e = {0};
    size_t n;
    load_well(file_of(SYSTEM("3", "FGX           1 0", "  1.0  5.0\n  0.9  1.1\n  1.0  1.0\n")), &f);
    assert_true(save("g.hb", &f, &e));
    char *text = read_whole(scratch_path("g.hb"), &n);
    static const char right[] = "a test                                                                  warpspy \n"
                                "             6             1             1             1             3\n"
                                "RUA                        2             2             3             0\n"
                                "(40I2)          (40I2)          (3E26.16)           (3E26.16)\n"
                                "FGX                        1             0\n"
                                " 1 3 4\n"
                                " 1 2 2\n"
                                "                        1.                        2.                        3.\n"
                                "                        1.                        5.\n"
                                "                       0.9                       1.1\n"
                                "                        1.                        1.\n";
    assert_int_equal(n, strlen(right));
    assert_memory_equal(text, right, n);
    mem_free(text);
    unload(&f);
}

TEST(endings_state_the_type)
{
    static const struct {
        const char *text, *name, *says; /* says: NULL: written */
    } table[] = {
        {"t\n 3 1 1 1 0\nRSA            2 2 2 0\n(3I2) (2I2) (2F5.2)\n 1 3 3\n 1 2\n 1.50 2.50\n", "e.rsa", NULL},
        {"t\n 3 1 1 1 0\nRUA            2 2 2 0\n(3I2) (2I2) (2F5.2)\n 1 3 3\n 1 2\n 1.50 2.50\n", "e.rsa",
         "the matrix is not symmetric, but the ending says RSA; save it as .rua"},
        {"t\n 3 1 1 1 0\nPSA            2 2 2 0\n(3I2) (2I2)\n 1 3 3\n 1 2\n", "e.psa", NULL},
        {"t\n 3 1 1 1 0\nPSA            2 2 2 0\n(3I2) (2I2)\n 1 3 3\n 1 2\n", "e.pua", NULL},
        {"t\n 3 1 1 1 0\nPSA            2 2 2 0\n(3I2) (2I2)\n 1 3 3\n 1 2\n", "e.rua",
         "the matrix has no values, but the ending says RUA; save it as .hb"},
        {"t\n 3 1 1 1 0\nRSA            2 2 2 0\n(3I2) (2I2) (2F5.2)\n 1 3 3\n 1 2\n 1.50 2.50\n", "e.psa",
         "the matrix has real values, but the ending says PSA"},
        {COMPLEX, "e.rua", "the matrix has complex values, but the ending says RUA"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct loaded f;
        struct err e = {0};
        load_well(file_of(table[i].text), &f);
        if (!table[i].says)
            assert_returns(&f, table[i].name);
        else if (save(table[i].name, &f, &e) || !strstr(e.text, table[i].says))
            fail_msg("%d: \"%s\"", i, e.text);
        unload(&f);
    }
}

TEST(a_triangle_has_half_the_entries)
{
    struct loaded f, g;
    load_well(file_of("t\n 3 1 1 1 0\nRSA            2 2 2 0\n(3I2) (2I2) (2F5.2)\n 1 3 3\n 1 2\n 1.50 2.50\n"), &f);
    assert_returns(&f, "h.rsa");
    load_well(scratch_path("h.rsa"), &g);
    assert_int_equal(g.info.nnz_stored, 2);
    assert_string_equal(g.info.symmetry, "symmetric");
    unload(&f);
    unload(&g);
}

TEST(solutions_of_rectangular_matrices_are_not_saved)
{
    static const int zero[] = {0};
    static const double one[] = {1};
    struct loaded f = {.t = {.n = 1, .b_each = 2, .x_each = 3}};
    struct err e = {0};
    assert_true(csr_from_triplets(&f.A, 2, 3, 1, zero, zero, one, NULL, NULL, &e));
    assert_non_null(f.t.b = mem_zero(2, sizeof *f.t.b, "b", &e));
    assert_true(save("r.hb", &f, &e));
    assert_non_null(f.t.x = mem_zero(3, sizeof *f.t.x, "x", &e));
    assert_false(save("r.hb", &f, &e));
    assert_non_null(strstr(e.text, "of square matrices only; save the matrix as .npz or .wsb"));
    unload(&f);
}

/* ---- damage, failures, Ctrl-C ---- */

static const char *const small[] = {
    SYSTEM("3", "FGX           1 0", "  1.0  5.0\n  0.9  1.1\n  1.0  1.0\n"),
    SYSTEM("4", "M X           2 3", " 1 3 4\n 1 2 2\n  1.0  5.0 10.0\n  1.0  1.0  0.0\n  3.3\n"),
    COMPLEX,
    ELEMENTS("RSE", "6", "(6F4.0)", "  1.  2.  3. 10. 20. 30.\n"),
    COLUMN("(2(1P,E10.3),F5.1)", " 1.500E+00   2.5D+01-30.0\n  -4.0Q-02\n"),
    DENSE("rhsrd ", "  1.0  0.0  3.0\n  4.0  5.0  6.0\n"),
};

static bool same_loaded(const struct loaded *f, const struct loaded *g)
{
    return csr_equal(&f->A, &g->A) && f->t.n == g->t.n && !f->t.x == !g->t.x && !f->t.guess == !g->t.guess &&
           (!f->t.n || !memcmp(f->t.b, g->t.b, (size_t)(f->t.n * f->t.b_each) * sizeof *f->t.b)) &&
           (!f->t.x || !memcmp(f->t.x, g->t.x, (size_t)(f->t.n * f->t.x_each) * sizeof *f->t.x));
}

/* A file that was cut anywhere is refused, or nothing but its last line end is missing. */
TEST(every_truncation_is_found)
{
    for (int i = 0; i < COUNT(small); i++) {
        struct loaded f, g;
        size_t n = strlen(small[i]);
        load_well(file_of(small[i]), &f);
        for (size_t k = 0; k < n; k++) {
            struct err e = {0};
            if (!load(write_file("cut.hb", small[i], k), &g, &e)) continue;
            if (k + 1 < n || !same_loaded(&f, &g)) fail_msg("%d, cut at %zu of %zu: loaded", i, k, n);
            unload(&g);
        }
        unload(&f);
    }
}

/* 1,000 flipped bits: a refusal or a valid matrix. */
TEST(flipped_bits_do_not_crash)
{
    uint64_t seed = 1;
    for (int i = 0; i < 1000; i++) {
        char text[1024];
        struct loaded f;
        struct err e = {0};
        size_t n = strlen(small[i % COUNT(small)]);
        memcpy(text, small[i % COUNT(small)], n);
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        text[(seed >> 33) % n] ^= (char)(1 << (seed >> 60) % 8);
        if (load(write_file("flip.hb", text, n), &f, &e)) unload(&f);
    }
}

struct trip {
    const char *from, *to;
};

static bool go(const void *user, struct err *e)
{
    const struct trip *t = user;
    struct loaded f;
    bool ok = file_load_system(t->from, NULL, NULL, &f.A, &f.t, &f.info, e);
    ok = ok && (!t->to || file_save_system(t->to, true, &f.A, &f.t, &f.info, "", NULL, e));
    unload(&f);
    return ok;
}

TEST(every_failing_allocation_is_reported)
{
    for (int i = 0; i < COUNT(small); i++) {
        struct trip t = {file_of(small[i]), NULL};
        assert_true(fail_each(go, &t) > 2);
        t.to = scratch_path("a.hb");
        assert_true(fail_each(go, &t) > 4);
    }
}

static bool stop(struct watch *w, const char *what, int64_t done, int64_t total)
{
    assert_true(done <= total || !total);
    return --*(int *)w->user > 0;
}

TEST(saving_can_be_cancelled)
{
    struct loaded f;
    load_well(file_of(small[0]), &f);
    for (int calls = 1, done = 0; !done; calls++) {
        int left = calls;
        struct watch w = {.tick = stop, .user = &left};
        struct err e = {0};
        done = file_save_system(scratch_path("c.hb"), true, &f.A, &f.t, &f.info, "", &w, &e);
        assert_int_equal(e.code, done ? E_NONE : E_CANCELLED);
        assert_true(done || calls < 9);
    }
    unload(&f);
}

SUITE(.teardown = tidy);
