/* The table of rules: which method suits small matrices whose eigenvalues are known. */
#include "base/base.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/facts.h"
#include "solvers/rules.h"
#include "solvers/suits.h"

#include <math.h>
#include <string.h>

/* Without the zeros of a. */
static void make(struct csr *A, int rows, int cols, const double *a)
{
    int row[16], col[16], n = 0;
    double val[16];
    for (int k = 0; k < rows * cols; k++)
        if (a[k] != 0) row[n] = k / cols, col[n] = k % cols, val[n++] = a[k];
    assert_true(csr_from_triplets(A, rows, cols, n, row, col, val, NULL, NULL, NULL));
}

/* The facts that a solve finds out by itself. */
static const struct rule *rule_of(const struct csr *A, struct facts *f)
{
    if (facts_symmetric(f, A)) facts_definite(f, A);
    return rule_for(f, A);
}

TEST(eigenvalues_decide)
{
    static const struct {
        double a[4];
        const char *solver, *pre;
    } cases[] = {
        {{2, 1, 1, 2}, "cg", "ic0"},         /* 1 and 3 */
        {{-2, 1, 1, -2}, "cg", "ic0"},       /* -1 and -3 */
        {{1, -1, -1, 1}, "cg", "ic0"},       /* 0 and 2 */
        {{1, 2, 2, 1}, "minres", NULL},      /* -1 and 3 */
        {{0, 1, 1, 0}, "minres", NULL},      /* -1 and 1 */
        {{2, 1, 1 + 1e-15, 2}, "cg", "ic0"}, /* symmetric to rounding */
        {{2, 1, 1 + 1e-9, 2}, "bicgstab", "ilu0"},
        {{4, 1, 2, 4}, "bicgstab", "ilu0"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct facts f = {0};
        struct csr A;
        make(&A, 2, 2, cases[i].a);
        const struct rule *r = rule_of(&A, &f);
        assert_string_equal(r->solver, cases[i].solver);
        if (cases[i].pre) assert_string_equal(r->pre, cases[i].pre);
        assert_int_equal(r->pre != NULL, cases[i].pre != NULL);
        csr_free(&A);
    }
}

/* [2 1; 1 0] is symmetric, [2 1; 3 0] is not; [0 1; 1 0] has no row with a diagonal. */
TEST(saddle_points_suit_schur)
{
    static const struct {
        double a[4];
        const char *solver, *pre;
    } cases[] = {{{2, 1, 1, 0}, "minres", "schur"}, {{2, 1, 3, 0}, "gmres", "schur"}, {{0, 1, 1, 0}, "minres", NULL}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct facts f = {0};
        struct csr A;
        make(&A, 2, 2, cases[i].a);
        facts_saddle(&f, &A);
        const struct rule *r = rule_of(&A, &f);
        assert_string_equal(r->solver, cases[i].solver);
        assert_true(cases[i].pre ? r->pre && !strcmp(r->pre, cases[i].pre) : !r->pre);
        csr_free(&A);
    }
}

/* What rules out every solver by iteration comes before symmetry. */
TEST(no_solver_suits)
{
    static const double a[] = {2, 1, 1, 2, 0, 0};
    static const struct {
        struct facts f;
        const char *verdict;
    } cases[] = {{{.singular = true}, "singular"},
                 {{.not_finite = true}, "NaN"},
                 {{.no_values = true}, "no values"},
                 {{.equilibrated = INFINITY}, "nearly singular"},
                 {{.equilibrated = 1e17}, "nearly singular"}};
    struct csr A, R;
    make(&A, 2, 2, a);
    make(&R, 3, 2, a);
    for (int i = 0; i < COUNT(cases); i++) {
        struct facts f = cases[i].f;
        const struct rule *r = rule_of(&A, &f);
        assert_null(r->solver);
        assert_non_null(strstr(r->verdict, cases[i].verdict));
    }
    struct facts f = {.equilibrated = 1e15}, none = {0}, rectangle = {0};
    assert_string_equal(rule_of(&A, &f)->solver, "cg");
    assert_non_null(strstr(rule_for(&none, &A)->verdict, "symmetry is not known"));
    assert_non_null(strstr(rule_of(&R, &rectangle)->verdict, "least squares"));
    csr_free(&A);
    csr_free(&R);
}

/* A fact that is known is not found out again. */
TEST(facts_are_kept)
{
    static const double a[] = {2, 1, 1, 2};
    struct facts f = {.has_symmetry = true};
    struct csr A;
    make(&A, 2, 2, a);
    assert_false(facts_symmetric(&f, &A)); /* as it was found before */
    f = (struct facts){.definite = DEFINITE_NOT};
    assert_int_equal(facts_definite(&f, &A), DEFINITE_NOT);
    f = (struct facts){0};
    assert_true(facts_symmetric(&f, &A));
    assert_int_equal(facts_definite(&f, &A), DEFINITE_POSITIVE);
    assert_int_equal(f.definite, DEFINITE_POSITIVE);
    csr_free(&A);
}

/* Kershaw 1978: a positive definite matrix whose incomplete Cholesky factors need a larger diagonal, of any scale. */
TEST(factors_exist_at_any_scale)
{
    static const double kershaw[16] = {3, -2, 0, 2, -2, 3, -2, 0, 0, -2, 3, -2, 2, 0, -2, 3};
    static const double scales[] = {1, 1e9, 1e-9};
    for (int i = 0; i < COUNT(scales); i++) {
        double a[16];
        struct facts f = {0}, g = {0};
        struct csr A;
        for (int k = 0; k < 16; k++) a[k] = scales[i] * kershaw[k];
        make(&A, 4, 4, a);
        assert_true(suits_ic0(&f, &A));
        A.val[0] = 0; /* a diagonal entry that is 0 */
        assert_false(suits_ic0(&g, &A));
        csr_free(&A);
    }
}
