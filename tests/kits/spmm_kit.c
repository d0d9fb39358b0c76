#include "spmm_kit.h"
#include "base/base.h"
#include "base/err.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "machine/spmm.h"
#include "matrix/csr.h"
#include "shapes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const int vectors[] = {1, 3, 8, 33, SPMM_VECTORS_MAX};

static void check_sums(const struct csr *A, int n, enum precision real, const double *y, const char *what)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int v = 0; v < n; v++) {
            double sum = 0, magnitude = 0;
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
                double term = A->val[k] * spmm_x(A->col[k], v, precisions[real].vector);
                sum += term;
                magnitude += fabs(term);
            }
            if (!(fabs(y[i * n + v] - sum) <= (real == P_F32 ? 1e-4 : 1e-12) * magnitude))
                fail_msg("%s: row %d of vector %d is %g, not %g", what, (int)i, v, y[i * n + v], sum);
        }
}

static void check_kernel(const struct spmm_kernel *k, const struct csr *A, const struct mat *M, int n,
                         void (*disturb)(int round), const char *shape)
{
    struct err e = {0};
    struct spmm_run run;
    char what[200];
    size_t bytes = (size_t)(A->rows * n + 1) * sizeof(double);
    double *y = calloc(1, bytes), *again = calloc(1, bytes);
    assert_true(y && again);
    snprintf(what, sizeof what, "%s on %s, %s, %d vectors, %s", k->name, M->dev->name, shape, n,
             precisions[M->of->real].name);
    if (!spmm_measure(k, A, M, n, 1, NULL, y, &run, &e)) fail_msg("%s: %s", what, e.text);
    check_sums(A, n, M->of->real, y, what);
    if (disturb) disturb(1);
    if (!spmm_measure(k, A, M, n, 1, NULL, again, &run, &e)) fail_msg("%s: %s", what, e.text);
    if (disturb) disturb(0);
    if (k->deterministic && memcmp(y, again, bytes)) fail_msg("%s: two runs differ", what);
    free(y);
    free(again);
}

static void check_stored(const struct spmm_kernel *k, const struct csr *A, const int64_t *param, enum precision real,
                         struct device *d, int64_t slots, void (*disturb)(int round), const char *shape)
{
    struct err e = {0};
    struct stored S;
    struct mat M;
    struct plan plan;
    if (!format_plan(A, k->format, param, real, &plan, &e) || plan.slots > slots) return;
    if (!format_pack(A, k->format, param, real, true, &S, &e)) fail_msg("%s: %s", shape, e.text);
    assert_true(mat_put(&M, &S, d, &e));
    for (int i = 0; i < COUNT(vectors) && (!k->fits || k->fits(&S, NULL)); i++)
        if (vectors[i] >= k->least) check_kernel(k, A, &M, vectors[i], disturb, shape);
    mat_free(&M);
    stored_free(&S);
}

/* The default parameters, and 3 for the first parameter, which divides neither rows nor columns of most shapes. */
static void check_formats(const struct spmm_kernel *k, const struct csr *A, enum precision real, struct device *d,
                          int64_t slots, void (*disturb)(int round), const char *shape)
{
    int64_t param[PARAMS_MAX] = {0};
    for (int i = 0; i < PARAMS_MAX && k->format->params[i].name; i++) param[i] = k->format->params[i].default_value;
    check_stored(k, A, NULL, real, d, slots, disturb, shape);
    param[0] = 3;
    if (k->format->params[0].name) check_stored(k, A, param, real, d, slots, disturb, shape);
}

static void check_matrix(const struct csr *A, struct device *d, int64_t slots, void (*disturb)(int round),
                         const char *shape)
{
    for (int i = 0; spmm_kernels[i]; i++)
        for (enum precision real = P_F32; real <= P_F64; real++)
            if (spmm_runs_on(spmm_kernels[i], d)) check_formats(spmm_kernels[i], A, real, d, slots, disturb, shape);
}

/* Rows of very different lengths, also of 256 and 257 entries: spmm-csr cuts rows of more than 256 entries into pieces.
 */
static struct csr uneven_rows(void)
{
    static const int length[] = {900, 0, 256, 257, 1};
    struct csr A;
    struct err e = {0};
    int64_t nnz = 0;
    for (int i = 0; i < COUNT(length); i++) nnz += length[i];
    assert_true(csr_new(&A, COUNT(length), 900, nnz, false, &e));
    for (int i = 0, at = 0; i < COUNT(length); i++) {
        for (int k = 0; k < length[i]; k++, at++) {
            A.col[at] = length[i] == 1 ? 899 : k;
            A.val[at] = 0.125 * ((at * 7) % 31 - 15);
        }
        A.rowptr[i + 1] = at;
    }
    A.rowptr[0] = 0;
    return A;
}

void check_spmm(struct device *d, int64_t slots, void (*disturb)(int round))
{
    struct csr A = uneven_rows();
    check_matrix(&A, d, slots, disturb, "uneven rows");
    csr_free(&A);
    for (const struct shape *s = shapes; s->name; s++) {
        if (s->complex_values) continue;
        A = shape_csr(s, 3);
        check_matrix(&A, d, slots, disturb, s->name);
        csr_free(&A);
    }
}
