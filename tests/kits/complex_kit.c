/* Complex systems: small matrices, and the residual in complex arithmetic. */
#include "complex_kit.h"
#include "talk.h"
#include "files/load_info.h"
#include "machine/reason.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* A tridiagonal matrix with a dominant diagonal. If `hermitian`, it is positive definite. */
static struct csr tridiagonal(bool hermitian)
{
    struct csr A;
    int row[3 * COMPLEX_ROWS], col[3 * COMPLEX_ROWS], n = 0;
    double re[3 * COMPLEX_ROWS], im[3 * COMPLEX_ROWS];
    for (int i = 0; i < COMPLEX_ROWS; i++)
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < COMPLEX_ROWS; j++, n++) {
            row[n] = i;
            col[n] = j;
            re[n] = i == j ? 4 + i % 3 : 1;
            im[n] = i == j ? (hermitian ? 0 : 1.5) : hermitian && j < i ? -0.5 : 0.5;
        }
    assert_true(csr_from_triplets(&A, COMPLEX_ROWS, COMPLEX_ROWS, n, row, col, re, im, NULL, NULL));
    return A;
}

/* ||b - A x|| / ||b||, in complex arithmetic */
static double complex_residual(const struct csr *A, const struct solve *v)
{
    double r = 0, b = 0;
    const double *x = v->result.x;
    for (int64_t i = 0; i < A->rows; i++) {
        double re = v->b[2 * i], im = v->b[2 * i + 1];
        b += re * re + im * im;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t j = A->col[k];
            re -= A->val[k] * x[2 * j] - A->imag[k] * x[2 * j + 1];
            im -= A->val[k] * x[2 * j + 1] + A->imag[k] * x[2 * j];
        }
        r += re * re + im * im;
    }
    return sqrt(r / b);
}

void solve_complex(struct talk *t, const char *line, double tol)
{
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    const struct solve *v = t->s.solve;
    double residual = complex_residual(v->matrix.csr, v);
    if (v->reason != CONVERGED || !(residual <= 2 * tol)) fail_msg("%s: %s, residual %g", line, v->why, residual);
    assert_true(fabs(v->result.residual_true - residual) <= 1e-3 * residual + 1e-14);
}

void complex_add(struct talk *t, bool hermitian, const char *name)
{
    struct csr A = tridiagonal(hermitian);
    struct load_info info = {.field = "complex"};
    assert_true(session_add(&t->s, name, &A, &info, NULL));
}

void check_complex(const char *device)
{
    static const char *const right[] = {"aones", "random seed 3"};
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    complex_add(&t, true, "H");
    complex_add(&t, false, "Z");
    for (int k = 0; solvers[k]; k++)
        for (int i = 0; i < 8; i++) {
            bool single = i & 4;
            const char *name = solvers[k]->symmetric || i & 2 ? "H" : "Z";
            snprintf(line, sizeof line, "solve %s %s on %s b %s %s", solvers[k]->name, name, device, right[i & 1],
                     single ? "f32 tol 1e-4" : "tol 1e-9");
            if (solvers[k]->products_only) solve_complex(&t, line, single ? 1e-4 : 1e-9);
            if (!solvers[k]->products_only) talk_refuses(&t, line, "takes real matrices only; bicgstab");
        }
    snprintf(line, sizeof line, "solve cg H on %s precond jacobi", device);
    solve_complex(&t, line, 1e-8);
    talk_close(&t);
}
