/* The textbook elimination, one column per step, in double on the host, for display. A step back restarts the
   elimination from A. */
#include "base/mem.h"
#include "lu.h"
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

bool lu_steps_new(struct lu_steps **out, const struct csr *A, struct err *e)
{
    struct lu_steps *s = mem_zero(1, sizeof *s, "the steps of LU", e);
    if (!s) return false;
    s->n = A->rows;
    s->a = mem_new(s->n * s->n, sizeof *s->a, "the steps of LU", e);
    s->given = mem_zero(s->n * s->n, sizeof *s->given, "the steps of LU", e);
    s->row = mem_new(s->n, sizeof *s->row, "the steps of LU", e);
    if (!s->a || !s->given || !s->row) {
        lu_steps_free(s);
        return false;
    }
    s->of = A;
    for (int64_t i = 0; i < s->n; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) s->given[(int64_t)A->col[k] * s->n + i] = A->val[k];
    s->k = s->n + 1; /* larger than any step, so that lu_steps_to starts from A */
    lu_steps_to(s, 0);
    *out = s;
    return true;
}

static void start(struct lu_steps *s)
{
    memcpy(s->a, s->given, (size_t)(s->n * s->n) * sizeof *s->a);
    for (int64_t i = 0; i < s->n; i++) s->row[i] = (int)i;
    s->k = 0;
    s->pivot = s->singular = -1;
}

static int64_t largest(const struct lu_steps *s)
{
    const double *column = s->a + s->k * s->n;
    double best = -1;
    int64_t at = s->k;
    for (int64_t i = s->k; i < s->n; i++) {
        if (!(fabs(column[i]) > best)) continue;
        best = fabs(column[i]);
        at = i;
    }
    return at;
}

static void exchange(struct lu_steps *s, int64_t p)
{
    int row = s->row[p];
    s->row[p] = s->row[s->k];
    s->row[s->k] = row;
    for (int64_t j = 0; j < s->n; j++) {
        double held = s->a[j * s->n + s->k];
        s->a[j * s->n + s->k] = s->a[j * s->n + p];
        s->a[j * s->n + p] = held;
    }
}

static void step(struct lu_steps *s)
{
    int64_t n = s->n, k = s->k;
    s->pivot = largest(s);
    exchange(s, s->pivot);
    double *l = s->a + k * n, pivot = l[k];
    s->k++;
    if (pivot == 0) {
        if (s->singular < 0) s->singular = k;
        return;
    }
    for (int64_t i = k + 1; i < n; i++) l[i] /= pivot;
    for (int64_t j = k + 1; j < n; j++)
        for (int64_t i = k + 1; i < n; i++) s->a[j * n + i] -= l[i] * s->a[j * n + k];
}

void lu_steps_to(struct lu_steps *s, int64_t k)
{
    if (k < 0) k = 0;
    if (k > s->n) k = s->n;
    if (k < s->k) start(s);
    while (s->k < k) step(s);
}

void lu_steps_free(struct lu_steps *s)
{
    if (!s) return;
    mem_free(s->a);
    mem_free(s->given);
    mem_free(s->row);
    mem_free(s);
}
