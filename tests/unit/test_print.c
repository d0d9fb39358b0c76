/* The command print: the rows, columns, entries, blocks and vectors that it prints as JSON are compared with the
   matrix. Other tests check truncated text, refusals, failing allocations and cancelling. */
#include "base/loop.h"
#include "base/table.h"
#include "base/watch.h"
#include "kits/mtx_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/column.h"
#include "matrix/csr.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "solvers/solve.h"

#include <math.h>
#include <omp.h>

enum { SIDE = 200 };

/* ---- the numbers, read back from JSON ---- */

struct printed {
    int64_t n;
    double re[SIDE][SIDE], im[SIDE][SIDE];
    bool stored[SIDE][SIDE];
};

static double number_after(const char *line, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    assert_non_null(at);
    return strtod(at + strlen(quoted), NULL); /* null becomes 0, for example for the column of a vector */
}

/* The numbers in the output, each stored at its (row, col). */
static struct printed *read_back(const struct talk *t)
{
    static struct printed p;
    memset(&p, 0, sizeof p);
    for (const char *line = t->out; *line; line = strchr(line, '\n') + 1) {
        if (strncmp(line, "{\"command\":\"print\"", 18) || !strstr(line, "\"value\"")) continue;
        char one[400];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
        int64_t i = (int64_t)number_after(one, "row"), j = (int64_t)number_after(one, "col");
        assert_true(i >= 0 && i < SIDE && j >= 0 && j < SIDE);
        p.re[i][j] = number_after(one, "value");
        p.im[i][j] = number_after(one, "imag");
        p.stored[i][j] = strstr(one, "\"stored\":true") != NULL;
        p.n++;
    }
    return &p;
}

/* Check that the printed numbers are exactly the numbers in the window of A. */
static void check_window(const struct talk *t, const char *line, const struct csr *A, int64_t row0, int64_t row1,
                         int64_t col0, int64_t col1)
{
    const struct printed *p = read_back(t);
    int64_t n = 0;
    for (int64_t i = row0; i < row1; i++)
        for (int64_t j = col0; j < col1; j++) {
            int64_t k = csr_find(A, i, j);
            n += k >= 0;
            double re = k < 0 ? 0 : A->val[k], im = k < 0 || !A->imag ? 0 : A->imag[k];
            if (p->stored[i][j] != (k >= 0) || p->re[i][j] != re || p->im[i][j] != im)
                fail_msg("%s: (%ld, %ld) is %g, not %g", line, (long)i, (long)j, p->re[i][j], re);
        }
    if (p->n != n) fail_msg("%s: %ld numbers, not %ld", line, (long)p->n, (long)n);
}

static void check_lines(struct talk *t, const struct csr *A)
{
    char line[80];
    int64_t i = A->rows / 2, j = A->cols / 2;
    const struct {
        const char *fmt;
        int64_t a, b, row0, row1, col0, col1;
    } cases[] = {
        {"print rows 0:", 0, 0, 0, A->rows, 0, A->cols},   {"print cols :%lld", A->cols - 1, 0, 0, A->rows, 0, A->cols},
        {"print row %lld", i, 0, i, i + 1, 0, A->cols},    {"print col %lld", j, 0, 0, A->rows, j, j + 1},
        {"print %lld: :%lld", i, j, i, A->rows, 0, j + 1}, {"print A all", 0, 0, 0, A->rows, 0, A->cols},
    };
    for (int k = 0; k < COUNT(cases); k++) {
        snprintf(line, sizeof line, cases[k].fmt, (long long)cases[k].a, (long long)cases[k].b);
        talk_forget(t);
        if (!talk_line(t, line)) fail_msg("%s: %s", line, t->out);
        check_window(t, line, A, cases[k].row0, cases[k].row1, cases[k].col0, cases[k].col1);
    }
}

TEST(every_number_is_printed)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct talk t;
        struct load_info info = {0};
        struct csr A = shape_csr(s, 3);
        if (A.rows == 0 || A.cols == 0 || A.rows > SIDE || A.cols > SIDE) {
            csr_free(&A);
            continue;
        }
        talk_open(&t, OUT_JSON);
        assert_true(session_add(&t.s, "A", &A, &info, NULL));
        check_lines(&t, &t.s.current->csr);
        talk_close(&t);
    }
}

TEST(entries_are_stored_or_not)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 3 as A; load tests/golden/complex.mtx as C"));
    talk_says(&t, "print 3 4 A", "A(3, 4) = -1\n");
    talk_says(&t, "print 0 8 A", "A(0, 8) is not stored, so it is 0\n");
    talk_says(&t, "print 0 0 C", "C(0, 0) = 1+2i\n");
    talk_says(&t, "print 0:1 1 A", "rows 0 to 1, columns 1 to 1");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 3 as A"));
    talk_says(&t, "print 0 8", "\"row\":0,\"col\":8,\"value\":0,\"imag\":0,\"stored\":false}");
    talk_close(&t);
}

/* ---- text ---- */

static int count_lines(const char *text)
{
    int n = 0;
    while ((text = strchr(text, '\n'))) n++, text++;
    return n;
}

TEST(long_text_is_cut)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen dense 400 400 as D"));
    talk_says(&t, "print row 42", " more; `print row 42 all`\n");
    talk_forget(&t);
    assert_true(talk_line(&t, "print row 42"));
    assert_int_equal(count_lines(t.out), 1 + 16 + 1);
    talk_forget(&t);
    assert_true(talk_line(&t, "print row 42 all"));
    assert_null(strstr(t.out, "more"));
    assert_non_null(strstr(t.out, "399: "));
    talk_says(&t, "print rows 5:60", "   ... 44 more; `print rows 17:60 all`\n");
    talk_says(&t, "print 0:30 0:99", "   ... 11 rows and 94 columns more; `print 0:30 0:99 all`\n");
    talk_forget(&t);
    assert_true(talk_line(&t, "print 0:30 0:99 all"));
    assert_null(strstr(t.out, "more"));
    for (const char *line = t.out; *line; line = strchr(line, '\n') + 1) assert_true(strcspn(line, "\n") <= 80);
    talk_close(&t);
}

/* The rows of a long CSV table are printed in parts, under one header. */
TEST(long_csv_has_one_header)
{
    struct talk t;
    talk_open(&t, OUT_CSV);
    assert_true(talk_line(&t, "gen dense 100 100 as D; print row 0"));
    talk_forget(&t);
    assert_true(talk_line(&t, "print rows 0:"));
    assert_int_equal(count_lines(t.out), 1 + 1 + 100 * 100);
    assert_ptr_equal(strstr(t.out, "matrix,what,row"), t.out + 1);
    assert_null(strstr(t.out + 2, "matrix,what,row"));
    talk_says(&t, "print row 1", "\nmatrix,what,row,col,value,imag,stored\nD,row,1,0,");
    talk_close(&t);
}

/* ---- vectors ---- */

TEST(vectors_of_a_solve)
{
    struct talk t;
    double r[100];
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 10 as A; solve cg on cpu b random maxit 3 tol 1e-3"));
    const struct solve *v = t.s.solve;
    reference_spmv(v->matrix.csr, 1, v->result.x, 0, r, P_F64, NULL);
    for (int k = 0; k < 3; k++) {
        static const char *const lines[] = {"print x", "print b", "print r"};
        talk_forget(&t);
        assert_true(talk_line(&t, lines[k]));
        const struct printed *p = read_back(&t);
        assert_int_equal(p->n, 100);
        for (int i = 0; i < 100; i++) {
            double value = k == 0 ? v->result.x[i] : k == 1 ? v->b[i] : v->b[i] - r[i];
            assert_true(fabs(p->re[i][0] - value) <= 1e-14 * (1 + fabs(value)));
        }
    }
    talk_says(&t, "print x 98:", "\"what\":\"x\",\"row\":98,\"col\":null,");
    talk_close(&t);
}

/* The numbers of all lines stand below one another, whatever the number of digits of their indices. */
TEST(indices_are_aligned)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 12; solve cg on cpu"));
    talk_says(&t, "print x 96:104", "\n    96: 1    97: 1    98: 1");
    talk_says(&t, "print x 96:104", "\n   104: 1");
    talk_close(&t);
}

TEST(vectors_of_a_paused_solve)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 as A; solve cg on cpu step"));
    talk_says(&t, "print x 0:1", "after 0 iterations of cg");
    talk_says(&t, "step; print x 0:1", "after 1 iteration of cg");
    talk_says(&t, "print r 0:1", "b - A x after 1 iteration");
    assert_true(talk_line(&t, "continue"));
    assert_int_equal(t.s.solve->reason, CONVERGED);
    assert_true(talk_line(&t, "solve gmres on cpu step"));
    talk_refuses(&t, "print x", "x of a paused gmres is not available; `stop` ends the solve");
    talk_says(&t, "print b 0", "the right-hand side");
    talk_close(&t);
}

/* x of Jacobi alternates between two vectors. On a row of four points, x is 3/4, 1/2, 1/2, 3/4 after the first
   iteration and 7/8, 13/16, 13/16, 7/8 after the second. */
TEST(x_of_a_paused_jacobi)
{
    static const char *const forms[] = {"update", "matrix"};
    for (int i = 0; i < COUNT(forms); i++) {
        struct talk t;
        char line[80];
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "gen poisson2d 4 1 as A; solve jacobi on cpu form %s step", forms[i]);
        assert_true(talk_line(&t, line));
        talk_says(&t, "print x", "0: 0   1: 0   2: 0   3: 0");
        talk_says(&t, "step; print x", "0: 0.75   1:  0.5   2:  0.5   3: 0.75");
        talk_says(&t, "step; print x", "0:  0.875   1: 0.8125   2: 0.8125   3:  0.875");
        talk_says(&t, "back; print x", "0: 0.75   1:  0.5   2:  0.5   3: 0.75");
        talk_close(&t);
    }
}

TEST(vectors_of_an_spmv)
{
    struct talk t;
    double x[25], y[25];
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 5 as A"));
    for (int k = 0; k < 2; k++) {
        static const char *const lines[] = {"spmv on cpu reps 1; print x", "spmv on emu f32; print x"};
        talk_forget(&t);
        assert_true(talk_line(&t, lines[k]));
        for (int i = 0; i < 25; i++) x[i] = read_back(&t)->re[i][0];
        reference_spmv(&t.s.current->csr, 1, x, 0, y, P_F64, NULL);
        talk_forget(&t);
        assert_true(talk_line(&t, "print y"));
        for (int i = 0; i < 25; i++) assert_true(fabs(read_back(&t)->re[i][0] - y[i]) < (k ? 1e-5 : 1e-14));
    }
    talk_close(&t);
}

/* ---- refusals ---- */

TEST(wrong_lines_are_refused)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"print", "print what? row 42, col 5, 3 7 (one entry)"},
        {"print 3", "`print 3` lacks a column; `print row 3`"},
        {"print row", "print which row?"},
        {"print cols", "print which column?"},
        {"print A[0,0]", "is unknown; use an index or a range, such as 5 or 3:7, a matrix, `row`, "},
        {"print row 9", "row 9 does not exist; the rows are 0 .. 8"},
        {"print row -1", "row -1 does not exist"},
        {"print col 9", "column 9 does not exist; the columns are 0 .. 8"},
        {"print rows 3:99", "row 99 does not exist"},
        {"print rows 5:2", "the range 5:2 is empty"},
        {"print 0 9", "column 9 does not exist"},
        {"print row 99999999999999999999", "`99999999999999999999` after `row` is unknown"},
        {"print row 9223372036854775807", "row 9223372036854775807 does not exist"},
        {"print row 1:2:3", "`1:2:3`"},
        {"print row 1 2", "takes one range"},
        {"print row col 1", "conflicts"},
        {"print x A", "takes no matrix"},
        {"print x 1 2", "takes one range"},
        {"print x", "nothing has been solved yet"},
        {"print b", "nothing has been solved yet"},
        {"print r", "nothing has been solved yet"},
        {"print y", "no SpMV has been run yet"},
        {"print row 0 E", "there is no row to print"},
        {"print col 0 E", "there is no column to print"},
        {"print E", "there is no row to print"},
    };
    struct talk t;
    struct csr E;
    struct load_info info = {0};
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "print row 1", "no matrix is loaded");
    assert_true(csr_new(&E, 0, 0, 0, false, NULL) && session_add(&t.s, "E", &E, &info, NULL));
    assert_true(talk_line(&t, "gen poisson2d 3 as A"));
    for (int i = 0; i < COUNT(cases); i++) talk_refuses(&t, cases[i].line, cases[i].message);
    talk_close(&t);
}

/* ---- columns ---- */

static bool go_column(const void *user, struct err *e)
{
    struct column c;
    if (!csr_column(user, 3, &c, e)) return false;
    column_free(&c);
    return true;
}

TEST(column_allocations_fail)
{
    const struct shape *s = shapes;
    while (strcmp(s->name, "complex")) s++;
    struct csr A = shape_csr(s, 1);
    assert_int_equal(fail_each(go_column, &A), 3);
    csr_free(&A);
}

static bool stop(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return false;
}

TEST(a_column_is_cancelled)
{
    struct talk t;
    struct column c;
    struct err e = {0};
    struct watch w = {stop, NULL};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 1500 as A"));
    struct watch *before = loop_enter(&w);
    int threads = omp_get_max_threads();
    omp_set_num_threads(1); /* many threads would search all rows before they look at the watch */
    assert_false(csr_column(&t.s.current->csr, 5, &c, &e));
    omp_set_num_threads(threads);
    loop_enter(before);
    assert_int_equal(e.code, E_CANCELLED);
    assert_null(c.row);
    talk_close(&t);
}

/* Ctrl-C stops the printing of a long table, and table_shorten keeps the first rows. */
TEST(a_long_table_is_cut)
{
    enum { ROWS = 100000, KEPT = 10 };
    struct table t = {0};
    struct err e = {0};
    struct watch w = {stop, NULL};
    char *text = NULL;
    size_t size = 0, lines = 0;
    for (int i = 0; i < ROWS; i++) {
        table_row(&t);
        assert_true(table_add(&t, "row", "row", "17", true, false, &e));
    }
    FILE *f = open_memstream(&text, &size);
    struct watch *before = loop_enter(&w);
    table_text(&t, f, 80, NULL);
    loop_enter(before);
    fclose(f);
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    assert_true(lines > KEPT && lines < ROWS);
    free(text);
    assert_int_equal(table_shorten(&t, KEPT), ROWS - KEPT);
    assert_int_equal(t.n, KEPT);
    assert_int_equal(table_shorten(&t, KEPT), 0);
    table_clear(&t);
}

/* Matrices with each kind of value that is not finite; 0 / 0 and inf - inf make NaN with the sign bit set. */
static void load_not_finite(struct talk *t)
{
    static const char real[] = "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 inf\n1 2 -inf\n2 2 -nan\n2 1 "
                               "nan\n3 3 1\n",
                      complex[] = "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 -nan 1\n2 2 1 -inf\n";
    char line[300];
    snprintf(line, sizeof line, "load %s as A", write_file("real.mtx", real, sizeof real - 1));
    assert_true(talk_line(t, line));
    snprintf(line, sizeof line, "load %s as Z", write_file("complex.mtx", complex, sizeof complex - 1));
    assert_true(talk_line(t, line));
    assert_true(talk_line(t, "let B = A - A; let Y = Z - Z; use A"));
    talk_forget(t);
}

TEST(nan_has_no_sign)
{
    static const char *const lines[] = {"print A",
                                        "print row 1 A",
                                        "print 1 1 A",
                                        "print B",
                                        "print 0 0 B",
                                        "print Z",
                                        "print 0 0 Z",
                                        "print Y",
                                        "print 0 0 Y",
                                        "diff A B",
                                        "find entries > 0 of A",
                                        "find rows length > 0 of B",
                                        "stats A",
                                        "check A",
                                        "layout csr B slots 0:3",
                                        "spmv csr-serial B on cpu reps 1",
                                        "print y",
                                        "solve gs A b ones force on cpu",
                                        "print x; print r",
                                        "solve bicgstab Z b ones force on cpu",
                                        "print r",
                                        "solve direct A b ones force",
                                        "print x"};
    for (int mode = OUT_TEXT; mode <= OUT_CSV; mode++) {
        struct talk t;
        talk_open(&t, (enum out_mode)mode);
        load_not_finite(&t);
        for (int i = 0; i < COUNT(lines); i++) {
            talk_line(&t, lines[i]);
            if (strstr(t.out, "-nan") || strstr(t.err, "-nan")) fail_msg("%s: %s%s", lines[i], t.out, t.err);
            talk_forget(&t);
        }
        talk_close(&t);
    }
}

/* JSON has no words for them, so they are strings; null stands for what is not known. */
TEST(json_tells_infinity_and_nan_apart)
{
    static const char *const says[][2] = {{"print 0 0", "\"value\":\"inf\",\"imag\":0"},
                                          {"print 0 1", "\"value\":\"-inf\""},
                                          {"print 1 1", "\"value\":\"nan\""},
                                          {"print 0 0 B", "\"value\":\"nan\""},
                                          {"print 0 0 Z", "\"value\":\"nan\",\"imag\":1"},
                                          {"print 1 1 Z", "\"value\":1,\"imag\":\"-inf\""},
                                          {"stats", "\"value_min\":\"-inf\",\"value_max\":\"inf\""},
                                          {"layout csr", "\"values\":[\"inf\",\"-inf\",\"nan\",\"nan\",1]"},
                                          {"solve gs b ones force on cpu", "\"residual_true\":\"nan\""},
                                          {"solve gs b ones force on cpu", "\"m\":null"}};
    struct talk t;
    talk_open(&t, OUT_JSON);
    load_not_finite(&t);
    for (int i = 0; i < COUNT(says); i++) talk_says(&t, says[i][0], says[i][1]);
    talk_close(&t);
    talk_open(&t, OUT_CSV);
    load_not_finite(&t);
    talk_says(&t, "print row 0", ",inf,0");
    talk_says(&t, "print row 1", ",nan,0");
    talk_close(&t);
}
