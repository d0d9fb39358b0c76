/* Eigenvalues of matrices whose whole spectrum is known: by LAPACK, from the dense matrix. */
#include "kits/eigs_kit.h"
#include "base/base.h"
#include "eigen/dense_symmetric.h"
#include "eigen/eigen.h"
#include "files/load_info.h"
#include "kits/talk.h"
#include "matrix/csr.h"
#include "session/matrix.h"

#include <math.h>

/* Pairs to ask for, at most; values near which to search, as shares of the range of the spectrum. */
static const int wanted[] = {4, 1, 9};
static const double places[] = {0.37, 0, 1.1};

/* A matrix of n rows, given row by row, or by a line that makes it. */
static const struct {
    const char *line;
    int n;
    double a[16];
} problems[] = {
    {"gen poisson2d 14", 0, {0}},                          /* multiplicities of 2 */
    {"gen poisson3d 6", 0, {0}},                           /* multiplicities of 3 and 6 */
    {"gen poisson2d 12 as P; let A = P - 3.9*I", 0, {0}},  /* indefinite */
    {"gen poisson2d 12 as P; let A = -1*P", 0, {0}},       /* negative definite */
    {"gen poisson2d 9 as P; let A = P - P + 2*I", 0, {0}}, /* one eigenvalue, 81 times; stored zeros */
    {"gen poisson2d 5 as P; let A = P*P*P*P", 0, {0}},     /* a condition of 1e5 */
    {"gen poisson2d 10 as P; let A = 1e-200*P", 0, {0}},   /* values far from 1 */
    {"gen poisson2d 10 as P; let A = 1e150*P", 0, {0}},
    {NULL, 1, {-3}},
    {NULL, 1, {0}},
    {NULL, 2, {2, 1, 1, 2}},
    {NULL, 2, {0, 1, 1, 0}},                                        /* values of equal size */
    {NULL, 3, {0, 0, 0, 0, 0, 0, 0, 0, 0}},                         /* no entries */
    {NULL, 4, {1, -1, 0, 0, -1, 1, 0, 0, 0, 0, 1, -1, 0, 0, -1, 1}} /* a Laplacian of two parts: 0 twice */
};

static void add_dense(struct talk *t, int n, const double *a)
{
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {.file = "case"};
    int row[16], col[16], k = 0;
    double val[16];
    for (int i = 0; i < n * n; i++) {
        if (a[i] == 0) continue;
        row[k] = i / n;
        col[k] = i % n;
        val[k++] = a[i];
    }
    assert_true(csr_from_triplets(&A, n, n, k, row, col, val, NULL, NULL, &e));
    assert_true(session_add(&t->s, "A", &A, &info, &e));
}

/* The whole spectrum, ascending; the caller frees it. */
static double *spectrum_of(const struct csr *A)
{
    int n = (int)A->rows;
    double *dense = calloc((size_t)n * (size_t)n, sizeof *dense), *value = calloc((size_t)n, sizeof *value);
    struct err e = {0};
    assert_true(dense && value);
    for (int i = 0; i < n; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            dense[(size_t)A->col[k] * (size_t)n + (size_t)i] = A->val[k];
    if (!small_eigen(n, dense, value, NULL, &e)) fail_msg("%s", e.text);
    free(dense);
    return value;
}

static double size_of(int64_t n, const double *x)
{
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    for (int64_t i = 0; most > 0 && i < n; i++) sum += x[i] / most * (x[i] / most);
    return most * sqrt(sum);
}

/* ||A x - value x||, by plain loops */
static double residual_of(const struct csr *A, double value, const double *x)
{
    double *r = calloc((size_t)A->rows, sizeof *r);
    for (int64_t i = 0; i < A->rows; i++) {
        r[i] = -value * x[i];
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) r[i] += A->val[k] * x[A->col[k]];
    }
    double norm = size_of(A->rows, r);
    free(r);
    return norm;
}

void check_pairs(const char *what, const struct eigen *v)
{
    int64_t n = v->A->rows;
    for (int64_t i = 0; i < v->found; i++) {
        const struct eigen_pair *p = &v->pair[i];
        const double *x = v->vector + i * n;
        double residual = residual_of(v->A, p->value, x);
        if (!(fabs(size_of(n, x) - 1) < 1e-13)) fail_msg("%s: vector %d has norm %g", what, (int)i, size_of(n, x));
        if (!(fabs(residual - p->residual) <= 1e-13 * v->norm + 1e-3 * residual))
            fail_msg("%s: the residual of pair %d is %g, not %g", what, (int)i, residual, p->residual);
        if (p->status == EIGEN_CONVERGED && p->residual > 2 * v->o.tol * fabs(p->value))
            fail_msg("%s: pair %d has not converged", what, (int)i);
        if (i && v->o.part == EIGEN_LARGEST && p->value > p[-1].value) fail_msg("%s: not descending", what);
        if (i && v->o.part == EIGEN_SMALLEST && p->value < p[-1].value) fail_msg("%s: not ascending", what);
    }
    if (!(v->orthogonality <= 1e-6)) fail_msg("%s: orthogonal to %g only", what, v->orthogonality);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double shift; /* for the order of nearest values */

static int by_distance(const void *a, const void *b)
{
    double x = fabs(*(const double *)a - shift), y = fabs(*(const double *)b - shift);
    return x < y ? -1 : x > y;
}

/* The values found are k values of the spectrum that the search asks for: the nth value of each, in order. Values at
   equal distances of a shift may be exchanged, so the distances are compared. */
static void check_values(const char *what, const struct eigen *v, const double *spectrum)
{
    int64_t n = v->A->rows;
    double *sorted = malloc((size_t)n * sizeof *sorted), range = fmax(fabs(spectrum[0]), fabs(spectrum[n - 1]));
    assert_non_null(sorted);
    memcpy(sorted, spectrum, (size_t)n * sizeof *sorted);
    shift = v->o.shift;
    qsort(sorted, (size_t)n, sizeof *sorted, v->o.part == EIGEN_NEAR ? by_distance : by_value);
    for (int64_t i = 0; i < v->found; i++) {
        double want = sorted[v->o.part == EIGEN_LARGEST ? n - 1 - i : i], got = v->pair[i].value;
        double error = v->o.part == EIGEN_NEAR ? fabs(fabs(got - shift) - fabs(want - shift)) : fabs(got - want);
        if (v->pair[i].status == EIGEN_OPEN) fail_msg("%s: pair %d has not converged", what, (int)i);
        if (!(error <= 1e-11 * range)) fail_msg("%s: value %d is %.17g, not %.17g", what, (int)i, got, want);
    }
    free(sorted);
}

static void check_line(struct talk *t, const char *line, const double *spectrum, int pairs)
{
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    const struct eigen *v = t->s.eigen;
    assert_true(v && v->found == pairs && v->vector);
    check_pairs(line, v);
    check_values(line, v, spectrum);
    if (v->o.part != EIGEN_NEAR || v->below < 0) return;
    int64_t least = 0, most = 0; /* an eigenvalue that is the shift up to rounding may be on either side */
    double rounding = 1e-14 * v->norm;
    for (int64_t i = 0; i < v->A->rows; i++) {
        least += spectrum[i] < v->shift - rounding;
        most += spectrum[i] < v->shift + rounding;
    }
    if (v->below < least || v->below > most) fail_msg("%s: %d below, not %d", line, (int)v->below, (int)least);
}

/* On the emulator, one search of each kind on small matrices. */
static void check_problem(struct talk *t, const char *name, const char *device)
{
    bool few = !strcmp(device, "emu");
    if (few && t->s.current->csr.rows > 110) return;
    const struct csr *A = &t->s.current->csr;
    double *spectrum = spectrum_of(A);
    char line[200];
    for (int k = 0; k < (few ? 1 : COUNT(wanted)); k++) {
        int pairs = wanted[k] < A->rows ? wanted[k] : (int)A->rows;
        snprintf(line, sizeof line, "eigs %d largest %s on %s", pairs, name, device);
        check_line(t, line, spectrum, pairs);
        snprintf(line, sizeof line, "eigs %d smallest %s on %s", pairs, name, device);
        check_line(t, line, spectrum, pairs);
        for (int i = 0; i < (few ? 1 : COUNT(places)); i++) {
            double range = spectrum[A->rows - 1] - spectrum[0], at = places[i] * range + spectrum[0];
            snprintf(line, sizeof line, "eigs %d near %.17g %s on %s", pairs, at, name, device);
            check_line(t, line, spectrum, pairs);
        }
    }
    free(spectrum);
}

void check_eigs(const char *device)
{
    for (int i = 0; i < COUNT(problems); i++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        if (!problems[i].line) add_dense(&t, problems[i].n, problems[i].a);
        if (problems[i].line && !talk_line(&t, problems[i].line)) fail_msg("%s: %s", problems[i].line, t.err);
        check_problem(&t, t.s.current->name, device);
        talk_close(&t);
    }
}
