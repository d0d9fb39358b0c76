/* Matrices that are symmetric but for rounding errors, as discretisers make them: the methods for symmetric matrices
   apply, and say what they do with the difference. */
#include "base/base.h"
#include "base/mem.h"
#include "files/load_info.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/symmetry.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 40 };

/* The entries of a symmetric tridiagonal matrix times `size`, positive definite, or indefinite. With `noise`, the
   entries above the diagonal are larger by a unit in the last place, and the corners, of which only one is stored,
   are 1e-17 size. `complex`: hermitian, with imaginary entries off the diagonal. */
static void add_matrix(struct talk *t, double size, bool indefinite, bool noise, bool complex)
{
    int row[3 * N], col[3 * N], nnz = 0;
    double re[3 * N], im[3 * N];
    struct csr A;
    struct load_info info = {.file = "case"};
    for (int i = 0; i < N; i++)
        for (int j = i ? i - 1 : 0; j <= i + 1 && j < N; j++, nnz++) {
            double up = noise && j > i ? 1 + 0x1p-52 : 1;
            row[nnz] = i;
            col[nnz] = j;
            re[nnz] = i == j ? (indefinite && i % 2 ? -2.5 : 2.5) * size : -0.7 * size * up;
            im[nnz] = i == j ? 0 : (j > i ? 0.3 : -0.3) * size * up;
        }
    if (noise) row[nnz] = 0, col[nnz] = N - 1, re[nnz] = 1e-17 * size, im[nnz++] = 0;
    assert_true(csr_from_triplets(&A, N, N, nnz, row, col, re, complex ? im : NULL, NULL, NULL));
    assert_true(session_add(&t->s, "A", &A, &info, NULL));
}

static void replace_matrix(struct talk *t, double size, bool indefinite, bool noise, bool complex)
{
    talk_line(t, "drop A");
    add_matrix(t, size, indefinite, noise, complex);
}

TEST(methods_for_symmetric_matrices_apply)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"solve cg on cpu", "cg applies"},
        {"solve minres on cpu", "minres applies"},
        {"solve cg precond ic0 on cpu", "cg applies; ic0 factors the mean of A and A'"},
        {"solve cg precond amg on cpu", "cg applies"},
        {"solve direct cholmod", "one triangle is factored"},
        {"eigs 2", "eigs multiplies by it as it is"},
        {"eigs 2 near 0", "eigs multiplies by it as it is"},
        {"coarsen A", ""},
    };
    static const double sizes[] = {1, 1e-30, 3e12};
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int k = 0; k < COUNT(sizes); k++)
        for (int i = 0; i < COUNT(cases); i++) {
            replace_matrix(&t, sizes[k], false, true, false);
            talk_forget(&t);
            if (!talk_line(&t, cases[i].line)) fail_msg("%s: %s%s", cases[i].line, t.out, t.err);
            if (!strstr(t.err, cases[i].says)) fail_msg("%s: notes are %s", cases[i].line, t.err);
            if (*cases[i].says && !strstr(t.err, "symmetric to rounding")) fail_msg("%s: %s", cases[i].line, t.err);
            if (strstr(t.err, "warning")) fail_msg("%s: %s", cases[i].line, t.err);
            if (strstr(cases[i].line, "solve") && !strstr(t.out, "\"converged\":true"))
                fail_msg("%s: %s", cases[i].line, t.out);
        }
    talk_close(&t);
}

/* Nothing is said of a matrix that is exactly symmetric. */
TEST(exact_symmetry_needs_no_note)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    add_matrix(&t, 1, false, false, false);
    talk_says(&t, "solve cg precond ic0 on cpu", "\"converged\":true");
    assert_null(strstr(t.err, "rounding"));
    talk_close(&t);
}

TEST(hermitian_matrices_may_differ_by_rounding_too)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    add_matrix(&t, 2, false, true, true);
    talk_says(&t, "solve cg precond ic0 on cpu", "\"converged\":true");
    if (!strstr(t.err, "A is hermitian to rounding")) fail_msg("%s", t.err);
    talk_says(&t, "stats", "\"hermitian\":false,\"asymmetry\":");
    assert_null(strstr(t.out, "\"asymmetry\":null"));
    replace_matrix(&t, 2, true, true, true);
    talk_says(&t, "solve minres on cpu", "\"converged\":true");
    talk_close(&t);
}

/* The automatic choice of a method, and the card. */
TEST(the_verdict_is_that_of_a_symmetric_matrix)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    add_matrix(&t, 1, false, true, false);
    talk_says(&t, "check", "\"to_rounding\":true");
    assert_non_null(strstr(t.out, "\"value_symmetric\":false,\"hermitian\":false"));
    assert_non_null(strstr(t.out, "\"positive_definite\":true"));
    talk_says(&t, "solve", "\"converged\":true");
    if (!strstr(t.out, "\"method\":\"cholmod\"") && !strstr(t.out, "\"solver\":\"cg\"")) fail_msg("%s", t.out);
    talk_close(&t);
}

/* As many digits as the difference needs, and at least 6. */
TEST(messages_show_enough_digits)
{
    static const int row[] = {0, 1}, col[] = {1, 0};
    static const struct {
        double a, b;
        const char *says;
    } cases[] = {{2, 3, "is 2 and (1, 0) is 3;"},
                 {1.00001, 1, "is 1.00001 and (1, 0) is 1;"},
                 {1.0000000000012, 1, "is 1.000000000001 and (1, 0) is 1;"}};
    for (int i = 0; i < COUNT(cases); i++) {
        double val[] = {cases[i].a, cases[i].b};
        struct csr A;
        struct err e = {0};
        assert_true(csr_from_triplets(&A, 2, 2, 2, row, col, val, NULL, NULL, NULL));
        assert_false(symmetry_needed(&A, "eigs", "sorry", &e));
        if (!strstr(e.text, cases[i].says)) fail_msg("%s", e.text);
        csr_free(&A);
    }
}

/* A message about two entries that differ in the ninth digit shows both with enough digits. */
TEST(messages_show_the_difference)
{
    static const int row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
    static const double val[] = {2, 1.000000001, 1, 2};
    static const char *const lines[] = {"solve cg precond ic0 on cpu", "coarsen A"};
    struct talk t;
    struct csr A;
    struct load_info info = {.file = "case"};
    talk_open(&t, OUT_TEXT);
    assert_true(csr_from_triplets(&A, 2, 2, 4, row, col, val, NULL, NULL, NULL));
    assert_true(session_add(&t.s, "A", &A, &info, NULL));
    for (int i = 0; i < COUNT(lines); i++)
        talk_refuses(&t, lines[i], "entry (0, 1), counted from 0, is 1.000000001 and (1, 0) is 1;");
    talk_close(&t);
}

/* A zero stored on one side only changes no verdict. */
TEST(a_stored_zero_on_one_side_is_0)
{
    static const int row[] = {0, 0, 1, 1, 2, 2}, col[] = {0, 1, 1, 2, 1, 2};
    static const double val[] = {4, 0, 3, 1, 1, 5};
    static const char *const lines[] = {"solve direct cholmod",           "solve cg precond ic0 on cpu",
                                        "solve cg precond amg on cpu",    "eigs 1",
                                        "spmv dia-symmetric on emu",      "coarsen A",
                                        "solve minres precond ic0 on cpu"};
    struct talk t;
    struct csr A;
    struct load_info info = {.file = "case"};
    talk_open(&t, OUT_JSON);
    assert_true(csr_from_triplets(&A, 3, 3, 6, row, col, val, NULL, NULL, NULL));
    assert_true(session_add(&t.s, "A", &A, &info, NULL));
    for (int i = 0; i < COUNT(lines); i++) {
        talk_forget(&t);
        if (!talk_line(&t, lines[i])) fail_msg("%s: %s", lines[i], t.out);
        if (strstr(t.err, "symmetric")) fail_msg("%s: %s", lines[i], t.err);
    }
    talk_says(&t, "check", "\"value_symmetric\":true,\"hermitian\":true,\"to_rounding\":true,\"equal\":1,");
    assert_non_null(strstr(t.out, "\"positive_definite\":true"));
    talk_close(&t);
}

/* A complex symmetric matrix is not hermitian, which is what minres and cg need. */
TEST(words_of_complex_matrices_are_hermitian)
{
    static const int row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
    static const double re[] = {2, 1, 1, 3}, im[] = {1, 2, 2, 1};
    struct talk t;
    struct csr A;
    struct load_info info = {.file = "case"};
    talk_open(&t, OUT_JSON);
    assert_true(csr_from_triplets(&A, 2, 2, 4, row, col, re, im, NULL, NULL));
    assert_true(session_add(&t.s, "A", &A, &info, NULL));
    talk_says(&t, "solve minres on cpu b random", "A is not hermitian");
    assert_null(strstr(t.out, "not symmetric"));
    assert_non_null(strstr(t.err, "warning: A is not hermitian"));
    talk_close(&t);
}
