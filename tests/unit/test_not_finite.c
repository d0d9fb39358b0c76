/* Norms of vectors with NaN and infinity, and solves whose x or b is not finite: none of them has converged. */
#include "base/base.h"
#include "base/mem.h"
#include "base/threads.h"
#include "files/load_info.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "session/session.h"
#include "solvers/solve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(norms_keep_nan)
{
    enum { N = 3 * THREADS_FROM + 5 };
    static const int64_t at[] = {0, 1, THREADS_FROM, N - 1};
    double *x = mem_zero(N, sizeof *x, "x", NULL);
    assert_non_null(x);
    for (int i = 0; i < COUNT(at); i++) {
        x[at[i]] = NAN;
        assert_true(isnan(norm2(N, x)));
        assert_true(isnan(norm2(at[i] + 1, x)));
        x[(at[i] + 7) % N] = INFINITY;
        assert_true(isnan(norm2(N, x)));
        x[at[i]] = 0;
        assert_true(isinf(norm2(N, x)));
        x[(at[i] + 7) % N] = 0;
    }
    mem_free(x);
}

TEST(norms_neither_overflow_nor_underflow)
{
    static const double sizes[] = {1e-310, 1e-200, 1, 1e200, 1e307};
    for (int i = 0; i < COUNT(sizes); i++) {
        const double x[] = {3 * sizes[i], -4 * sizes[i], 0};
        assert_true(fabs(norm2(3, x) / sizes[i] - 5) < 1e-9);
    }
}

/* The tridiagonal matrix of 2 size and -size. */
static void add_tridiagonal(struct talk *t, int n, double size)
{
    int row[30], col[30], nnz = 0;
    double val[30];
    struct csr A;
    struct load_info info = {.file = "case"};
    for (int i = 0; i < n; i++)
        for (int j = i ? i - 1 : 0; j <= i + 1 && j < n; j++, nnz++) {
            row[nnz] = i;
            col[nnz] = j;
            val[nnz] = i == j ? 2 * size : -size;
        }
    assert_true(csr_from_triplets(&A, n, n, nnz, row, col, val, NULL, NULL, NULL));
    assert_true(session_add(&t->s, "T", &A, &info, NULL));
}

/* The exact x exceeds fp64. */
TEST(an_infinite_x_solves_nothing)
{
    static const char *const methods[] = {"",       "cg", "bicgstab",   "qmrcgstab", "gmres",         "minres",
                                          "jacobi", "gs", "direct ldl", "direct",    "direct umfpack"};
    static const struct {
        int n;
        double size;
    } cases[] = {{2, 1e-310}, {5, 3e-315}};
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < COUNT(cases); i++) {
        add_tridiagonal(&t, cases[i].n, cases[i].size);
        for (int k = 0; k < COUNT(methods); k++) {
            char line[80];
            snprintf(line, sizeof line, "solve %s b ones", methods[k]);
            talk_forget(&t);
            talk_line(&t, line);
            if (strstr(t.out, "\"converged\":true")) fail_msg("%s: %s", line, t.out);
        }
        assert_true(talk_line(&t, "drop T"));
    }
    talk_close(&t);
}

/* With `force`, b may be infinite: the residual is not a number. */
TEST(an_infinite_b_has_no_solution)
{
    static const char *const methods[] = {"cg", "bicgstab", "jacobi", "gs", "sor", "minres", "gmres"};
    char path[] = "/tmp/warpspy-test-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    struct talk t;
    fputs("1\ninf\n3\n", f);
    fclose(f);
    talk_open(&t, OUT_JSON);
    add_tridiagonal(&t, 3, 1);
    for (int k = 0; k < COUNT(methods); k++) {
        char line[120];
        snprintf(line, sizeof line, "solve %s b %s force on cpu", methods[k], path);
        talk_says(&t, line, "\"converged\":false");
    }
    talk_close(&t);
    unlink(path);
}
