/* The command let: sums, products, multiples and transposes are compared with dense references, entry by entry and in
   their patterns. Other tests check random and hostile expressions, failing allocations and cancelling. */
#include "base/loop.h"
#include "base/watch.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/expression.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "session/matrix.h"

#include <complex.h>
#include <math.h>
#include <unistd.h>

enum { SIDE = 60 };

/* ---- dense matrices with a pattern ---- */

struct dense {
    int64_t rows, cols;
    double complex v[SIDE][SIDE];
    bool stored[SIDE][SIDE];
};

static void dense_of(struct dense *d, const struct csr *A)
{
    *d = (struct dense){.rows = A->rows, .cols = A->cols};
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            d->v[i][A->col[k]] = A->val[k] + I * (A->imag ? A->imag[k] : 0);
            d->stored[i][A->col[k]] = true;
        }
}

static void dense_identity(struct dense *d, int64_t n)
{
    *d = (struct dense){.rows = n, .cols = n};
    for (int64_t i = 0; i < n; i++) d->v[i][i] = d->stored[i][i] = 1;
}

static void dense_sum(struct dense *out, double alpha, const struct dense *a, double beta, const struct dense *b)
{
    struct dense d = {.rows = a->rows, .cols = a->cols};
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++) {
            d.v[i][j] = alpha * a->v[i][j] + beta * b->v[i][j];
            d.stored[i][j] = a->stored[i][j] || b->stored[i][j];
        }
    *out = d;
}

static void dense_product(struct dense *out, const struct dense *a, const struct dense *b)
{
    struct dense d = {.rows = a->rows, .cols = b->cols};
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++)
            for (int64_t k = 0; k < a->cols; k++) {
                if (!a->stored[i][k] || !b->stored[k][j]) continue;
                d.v[i][j] += a->v[i][k] * b->v[k][j];
                d.stored[i][j] = true;
            }
    *out = d;
}

static void dense_transpose(struct dense *out, const struct dense *a)
{
    struct dense d = {.rows = a->cols, .cols = a->rows};
    for (int64_t i = 0; i < d.rows; i++)
        for (int64_t j = 0; j < d.cols; j++) d.v[i][j] = conj(a->v[j][i]), d.stored[i][j] = a->stored[j][i];
    *out = d;
}

/* The values are small multiples of powers of 1/2, so all results are exact. */
static void check_equal(const char *what, const struct csr *A, const struct dense *d)
{
    struct err e = {0};
    int64_t n = 0;
    if (!csr_check(A, &e)) fail_msg("%s: %s", what, e.text);
    assert_int_equal(A->rows, d->rows);
    assert_int_equal(A->cols, d->cols);
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t j = 0; j < d->cols; j++) {
            int64_t k = csr_find(A, i, j);
            n += d->stored[i][j];
            if ((k >= 0) != d->stored[i][j]) fail_msg("%s: the pattern differs at (%ld, %ld)", what, (long)i, (long)j);
            if (k >= 0 && (A->val[k] != creal(d->v[i][j]) || (A->imag ? A->imag[k] : 0) != cimag(d->v[i][j])))
                fail_msg("%s: (%ld, %ld) is %g, not %g", what, (long)i, (long)j, A->val[k], creal(d->v[i][j]));
        }
    assert_int_equal(A->nnz, n);
}

/* ---- the operations, on all shapes ---- */

TEST(operations_match_dense_ones)
{
    static struct dense d, a, b;
    for (const struct shape *s = shapes; s->name; s++) {
        struct err e = {0};
        struct csr A = shape_csr(s, 3), B = shape_csr(s, 4), T, C;
        if (A.rows <= SIDE && A.cols <= SIDE) {
            dense_of(&a, &A);
            dense_of(&b, &B);
            if (!csr_sum(&C, 2, &A, -0.5, &B, &e)) fail_msg("%s: %s", s->name, e.text);
            dense_sum(&d, 2, &a, -0.5, &b);
            check_equal(s->name, &C, &d);
            csr_free(&C);
            assert_true(csr_transpose(&T, &B, &e) && csr_conjugate(&T, &e));
            dense_transpose(&b, &b);
            if (!csr_multiply(&C, &A, &T, &e)) fail_msg("%s: %s", s->name, e.text);
            dense_product(&d, &a, &b);
            check_equal(s->name, &C, &d);
            csr_free(&C);
            csr_free(&T);
        }
        csr_free(&B);
        csr_free(&A);
    }
}

/* A product so large that it is computed in many blocks, compared row by row with sums whose terms are added in the
   same order. */
TEST(large_products_are_exact)
{
    struct talk t;
    double *row;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 40000 12 30000 as A; gen random 30000 9 20000 as B; let C = A*B"));
    const struct csr *A = &t.s.matrices->csr, *B = &t.s.matrices->next->csr, *C = &t.s.current->csr;
    assert_true(csr_check(C, NULL));
    row = calloc((size_t)B->cols, sizeof *row);
    assert_non_null(row);
    for (int64_t i = 0; i < A->rows; i++) {
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            for (int q = B->rowptr[A->col[k]]; q < B->rowptr[A->col[k] + 1]; q++)
                row[B->col[q]] += A->val[k] * B->val[q];
        for (int k = C->rowptr[i]; k < C->rowptr[i + 1]; k++) {
            assert_true(fabs(row[C->col[k]] - C->val[k]) <= 1e-13);
            row[C->col[k]] = 0;
        }
        if (i % 100) continue;
        for (int64_t j = 0; j < B->cols; j++) assert_true(row[j] == 0);
    }
    free(row);
    talk_close(&t);
}

TEST(products_with_the_transpose_are_symmetric)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 300 8 200 as A; let B = A*A'"));
    talk_says(&t, "stats B", "symmetric values          yes");
    talk_close(&t);
}

/* ---- random expressions ---- */

struct writer {
    uint64_t random;
    char text[2000];
    size_t n;
    const struct dense *leaf[3]; /* A, B and C */
};

static void put(struct writer *w, const char *text)
{
    w->n += (size_t)snprintf(w->text + w->n, sizeof w->text - w->n, "%s", text);
}

static int below(struct writer *w, int n)
{
    return (int)(random_next(&w->random) % (uint64_t)n);
}

/* Write a random expression and compute its value. All matrices are square and of equal size. */
static void write_expression(struct writer *w, int depth, struct dense *out)
{
    static const char *const names[] = {"A", "B", "C"}, *const factors[] = {"2*", "-", "0.5 * ", "- -", "(2 - 3)*"};
    static const double factor[] = {2, -1, 0.5, 1, -1};
    struct dense *b = calloc(1, sizeof *b);
    int choice = depth ? below(w, 6) : 5, sign = below(w, 2), which = below(w, 5), leaf = below(w, 3);
    assert_non_null(b);
    put(w, "(");
    if (choice < 2) {
        write_expression(w, depth - 1, out);
        put(w, sign ? " - " : "+");
        write_expression(w, depth - 1, b);
        dense_sum(out, 1, out, sign ? -1 : 1, b);
    } else if (choice == 2) {
        write_expression(w, depth - 1, out);
        put(w, "*");
        write_expression(w, depth - 1, b);
        dense_product(out, out, b);
    } else if (choice == 3) {
        put(w, factors[which]);
        write_expression(w, depth - 1, out);
        dense_sum(out, factor[which], out, 0, out);
    } else if (choice == 4) {
        write_expression(w, depth - 1, out);
        put(w, sign ? "+2*I" : " - I'");
        dense_identity(b, out->rows);
        dense_sum(out, 1, out, sign ? 2 : -1, b);
    } else {
        put(w, names[leaf]);
        put(w, sign ? "'" : "");
        sign ? dense_transpose(out, w->leaf[leaf]) : (void)(*out = *w->leaf[leaf]);
    }
    put(w, ")");
    free(b);
}

static void add_matrix(struct talk *t, const char *name, const struct shape *s, uint64_t seed, struct dense *d)
{
    struct load_info info = {0};
    struct csr A = shape_csr(s, seed);
    dense_of(d, &A);
    assert_true(session_add(&t->s, name, &A, &info, NULL));
}

TEST(random_expressions_match)
{
    static struct dense leaf[3], d;
    static const struct shape real = {"real", 7, 7, 15, -1, false, false},
                              complex_one = {"c", 7, 7, 12, -1, true, false};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    add_matrix(&t, "A", &real, 1, &leaf[0]);
    add_matrix(&t, "B", &real, 2, &leaf[1]);
    add_matrix(&t, "C", &complex_one, 3, &leaf[2]);
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct writer w = {.random = seed, .leaf = {&leaf[0], &leaf[1], &leaf[2]}};
        struct expression x;
        struct csr C;
        struct err e = {0};
        write_expression(&w, 3, &d);
        if (!expression_read(&x, &t.s, w.text, &e) || !expression_value(&x, &C, &e)) fail_msg("%s: %s", w.text, e.text);
        check_equal(w.text, &C, &d);
        csr_free(&C);
    }
    talk_close(&t);
}

/* ---- the command ---- */

TEST(blanks_and_names)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 3 as A; scale A; gen poisson2d 3 as 1138_bus; gen poisson2d 3 as scaled"));
    talk_says(&t, "let B=-A", "made of   -A\n");
    talk_says(&t, "let C = A-scaled", "nonzeros  33");
    assert_true(t.s.current->csr.val[0] == 1); /* A-scaled is the name of a matrix, not a difference */
    talk_says(&t, "let D = A - scaled", "made of   A - scaled");
    assert_true(t.s.current->csr.val[0] == 0);
    talk_says(&t, "let E = 2*1138_bus'", "made of   2*1138_bus'");
    assert_true(t.s.current->csr.val[0] == 8);
    talk_says(&t, "let F = 1.5e1*A # a comment", "made of   1.5e1*A\n");
    assert_true(t.s.current->csr.val[0] == 60);
    assert_true(talk_line(&t, "let H = 0.025*A; load tests/golden/complex.mtx as Z; let Y = 3*Z"));
    talk_says(&t, "diff A H", "and B has              0.1\n");
    talk_says(&t, "diff Y Z", "and B has              1.23456e-11-9.87654e+100i\n");
    talk_says(&t, "let G = (A + 2 * I)' ; list", "(A + 2 * I)'");
    talk_says(&t, "undo", "undone: let G = (A + 2 * I)'");
    talk_close(&t);
}

/* Write a matrix of one entry to a file, and load it. */
static void load_one_by_one(struct talk *t, const char *path)
{
    char line[300];
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 7\n");
    assert_int_equal(fclose(f), 0);
    snprintf(line, sizeof line, "load '%s'", path);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    unlink(path);
}

/* A matrix must not have a name that expressions read as a number or as the identity. */
TEST(files_named_like_constants)
{
    static const char *const files[][2] = {{"3", "m3"},   {"I", "mI"},    {"2e3", "m2e3"},
                                           {"-I", "m-I"}, {"I-2", "I-2"}, {"ünï-矩阵 💥\xff\xc2\xa0x", "ünï-矩阵_💥__x"}};
    char folder[] = "/tmp/warpspy-let-XXXXXX", path[100];
    struct talk t;
    assert_non_null(mkdtemp(folder));
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s.mtx", folder, files[i][0]);
        load_one_by_one(&t, path);
        assert_string_equal(t.s.current->name, files[i][1]);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_true(talk_line(&t, "let A = 2*mI; let B = 3*A*I"));
    assert_true(t.s.current->csr.val[0] == 42);
    assert_true(talk_line(&t, "let C = I-2 + A")); /* I-2 is the name of a matrix, not a difference */
    assert_true(t.s.current->csr.val[0] == 21);
    talk_close(&t);
}

TEST(wrong_expressions_are_refused)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"let", "is missing after `let`"},
        {"let B", "the = is missing"},
        {"let = A", "the name before = is missing"},
        {"let A = 2*A", "a matrix is called A already"},
        {"let I = A", "`I` is the identity in expressions; choose another name"},
        {"let 3 = A", "`3` is a number in expressions; choose another name"},
        {"let 2e3 = A", "`2e3` is a number"},
        {"let 2E3 = A", "`2E3` is a number"},
        {"let .5E-3 = A", "`.5E-3` is a number"},
        {"let 5.e+3 = A", "`5.e+3` is a number"},
        {"gen poisson2d 3 as 1E5", "`1E5` after `as` is a number"},
        {"load tests/golden/complex.mtx as +1E+5", "`+1E+5` after `as` is a number"},
        {"transpose A as I", "`I` after `as` is the identity"},
        {"gen poisson2d 3 as 42", "`42` after `as` is a number"},
        {"gen poisson2d 3 as -.5", "`-.5` after `as` is a number"},
        {"load tests/golden/complex.mtx as -I", "`-I` after `as` is the identity"},
        {"let a/b = A", "`a/b` after `let` is not a name"},
        {"let B =", "a matrix, a number or ( is missing (at the end of ``)"},
        {"let B = A*", "a matrix, a number or ( is missing (at the end of `A*`)"},
        {"let B = A A", "+, -, * or ' is missing (character 3 of `A A`)"},
        {"let B = (A + A", "the closing ) is missing (at the end of `(A + A`)"},
        {"let B = A + A)", "the opening ( is missing (character 6 of `A + A)`)"},
        {"let B = A + Rekt", "no matrix is called Rekt; did you mean `Rect`? (character 5 of `A + Rekt`)"},
        {"let B = A*R*A", "the sizes do not fit: 9 x 7 times 9 x 9 (character 4 of `A*R*A`)"},
        {"let B = A + R", "the sizes do not fit: 9 x 9 plus 9 x 7 (character 3 of `A + R`)"},
        {"let B = A - R", "the sizes do not fit: 9 x 9 minus 9 x 7"},
        {"let B = R + I", "I is square, but the other matrix is 9 x 7"},
        {"let B = A + 2", "a number and a matrix cannot be added; write 2*I"},
        {"let B = 2*3", "the result is a number, not a matrix"},
        {"let B = 2*I - I", "I has no size here"},
        {"let B = 1e999*A", "the number is too large for a double (character 1"},
        {"let B = 1e300*1e300*A", "the factor is too large for a double"},
        {"let B = 1e99999999999999999999*A", "the number is too large"},
        {"let B = inf*A", "no matrix is called inf"},
        {"let B = A^2", "+, -, * or ' is missing (character 2"},
        {"let B = A/2", "+, -, * or ' is missing (character 2"},
        {"let B = \x1b[2J", "\\x1b[2J"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "let B = A", "no matrix is called A (character 1 of `A`)");
    assert_true(talk_line(&t, "gen poisson2d 3 as A; gen random 9 2 7 as R; use A; transpose as Rect"));
    for (int i = 0; i < COUNT(cases); i++) talk_refuses(&t, cases[i].line, cases[i].message);
    talk_close(&t);
}

/* The line "let B = " followed by n times the text `open`, A, and n times the text `close`. */
static bool nested(struct talk *t, const char *open, int n, const char *close)
{
    static char line[15000];
    size_t at = (size_t)snprintf(line, sizeof line, "let B = ");
    for (int i = 0; i < n; i++) at += (size_t)snprintf(line + at, sizeof line - at, "%s", open);
    at += (size_t)snprintf(line + at, sizeof line - at, "A");
    for (int i = 0; i < n; i++) at += (size_t)snprintf(line + at, sizeof line - at, "%s", close);
    talk_forget(t);
    return talk_line(t, line);
}

/* |3 + 4i| is 5, and the imaginary parts alone differ. */
TEST(norms_of_differences_count_imaginary_parts)
{
    static const int at[] = {0};
    static const double re[] = {3}, im[] = {4}, more[] = {5};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int k = 0; k < 2; k++) {
        struct load_info info = {0};
        struct csr A;
        assert_true(csr_from_triplets(&A, 1, 1, 1, at, at, re, k ? more : im, NULL, NULL));
        assert_true(session_add(&t.s, k ? "B" : "A", &A, &info, NULL));
    }
    talk_says(&t, "diff A B", "||A - B||_F / ||A||_F  0.2\n");
    talk_close(&t);
}

TEST(deep_expressions_end)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 2 as A"));
    assert_true(nested(&t, "(", 100, ")") && talk_line(&t, "drop B"));
    assert_false(nested(&t, "(", 101, ")"));
    assert_non_null(strstr(t.err, "nested too deeply"));
    assert_false(nested(&t, "(", 1900, ")"));
    assert_true(nested(&t, "-", 3000, "") && talk_line(&t, "drop B"));
    assert_true(nested(&t, "A+", 400, "") && talk_line(&t, "drop B"));
    assert_false(nested(&t, "A+", 1000, ""));
    assert_non_null(strstr(t.err, "the expression is too long"));
    assert_false(nested(&t, "(", 5000, ""));
    assert_non_null(strstr(t.err, "longer than"));
    assert_true(nested(&t, "", 900, "'") && talk_line(&t, "drop B"));
    talk_close(&t);
}

TEST(empty_matrices)
{
    struct talk t;
    struct csr E, R;
    struct load_info info = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(csr_new(&E, 0, 0, 0, false, NULL) && session_add(&t.s, "E", &E, &info, NULL));
    assert_true(csr_new(&R, 0, 5, 0, false, NULL) && session_add(&t.s, "R", &R, &info, NULL));
    talk_says(&t, "let A = E*E' + 2*I", "nonzeros  0");
    talk_says(&t, "let B = R'*R", "rows      5\ncolumns   5\nnonzeros  0");
    talk_says(&t, "let C = R*R'", "rows      0");
    talk_says(&t, "let D = R'*R - 3*I", "nonzeros  5");
    talk_close(&t);
}

/* ---- failing allocations and cancelling ---- */

struct task {
    struct session *s;
    const char *text;
};

static bool go(const void *user, struct err *e)
{
    const struct task *task = user;
    struct expression x;
    struct csr C;
    if (!expression_read(&x, task->s, task->text, e) || !expression_value(&x, &C, e)) return false;
    csr_free(&C);
    return true;
}

TEST(allocations_fail)
{
    static const char *const texts[] = {"A + B'", "A*B", "C*A", "2*A", "A - I"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 30 3 as A; gen random 30 3 as B; load tests/golden/complex.mtx as Z"));
    assert_true(talk_line(&t, "let C = A; drop C; extract 0 3 0 3 A as A3"));
    for (int i = 0; i < COUNT(texts); i++) {
        struct task task = {&t.s, strchr(texts[i], 'C') ? "Z*A3" : texts[i]};
        assert_true(fail_each(go, &task) >= 3);
    }
    talk_close(&t);
}

static bool stop_after(struct watch *w, const char *what, int64_t done, int64_t total)
{
    int *left = w->user;
    return (*left)-- > 0;
}

TEST(expressions_are_cancelled)
{
    static const char *const texts[] = {"A*A'", "A + A'", "-A", "A*A*A + 2*I"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 300 as A"));
    for (int i = 0; i < COUNT(texts); i++)
        for (int n = 0; n < 3; n++) {
            struct expression x;
            struct csr C;
            struct err e = {0};
            int left = n;
            struct watch w = {stop_after, &left}, *before = loop_enter(&w);
            assert_true(expression_read(&x, &t.s, texts[i], &e));
            bool ok = expression_value(&x, &C, &e);
            loop_enter(before);
            if (!ok) assert_int_equal(e.code, E_CANCELLED);
            csr_free(&C);
        }
    talk_close(&t);
}
