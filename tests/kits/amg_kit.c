/* The levels of multigrid that a device makes, compared with those of the host. */
#include "amg_kit.h"
#include "precond_kit.h"
#include "base/mem.h"
#include "machine/device.h"
#include "session/matrix.h"
#include "solvers/amg_device.h"
#include "solvers/solve.h"

static void *fetch(struct device *d, const void *from, int64_t bytes)
{
    struct err e = {0};
    void *to = mem_new(bytes, 1, "an array", NULL);
    if (!d->ops->get(d, to, from, bytes, &e)) fail_msg("%s", e.text);
    return to;
}

/* The same pattern, and values that differ only by rounding. */
static void check_matrix(struct device *d, enum type real, const struct amg_csr *A, const struct csr *B)
{
    assert_true(A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz);
    int *ptr = fetch(d, A->ptr, 4 * (A->rows + 1)), *col = fetch(d, A->col, 4 * A->nnz);
    void *val = fetch(d, A->val, A->nnz * (int64_t)type_size(real));
    assert_memory_equal(ptr, B->rowptr, 4 * (size_t)(A->rows + 1));
    assert_memory_equal(col, B->col, 4 * (size_t)A->nnz);
    for (int64_t k = 0; k < A->nnz; k++) {
        double a = real == T_F64 ? ((double *)val)[k] : (double)((float *)val)[k];
        if (!(fabs(a - B->val[k]) < (real == T_F64 ? 1e-10 : 1e-4))) fail_msg("%.17g, not %.17g", a, B->val[k]);
    }
    mem_free(ptr);
    mem_free(col);
    mem_free(val);
}

/* The first `levels` levels. */
static void compare(struct device *d, const struct amg_device *on, const struct amg *g, int levels)
{
    assert_true(on->sign == g->sign && (levels < g->n || on->n == g->n));
    for (int k = 0; k < g->n && k < levels; k++) {
        const struct amg_device_level *a = &on->level[k];
        const struct amg_level *b = &g->level[k];
        assert_true(fabs(a->bound / b->bound - 1) < (on->real == T_F64 ? 1e-9 : 1e-3));
        check_matrix(d, on->real, &a->A, b->A);
        if (k == g->n - 1 || k == levels - 1) break;
        check_matrix(d, on->real, &a->P, &b->P);
        check_matrix(d, on->real, &a->R, &b->R);
    }
}

void check_amg_levels(const struct problem *p, const char *device, enum type real, int levels)
{
    struct bed bed;
    struct amg g;
    struct amg_device on;
    struct err e = {0};
    bool made;
    bed_make(&bed, p);
    assert_true(amg_make(&g, &bed.s.current->csr, &e) && bed_begin(&bed, "jacobi", 0, device, real, &e));
    const struct solve *v = bed.s.solve;
    struct amg_factor A = {.mat = v->matrix.mat, .kernel = v->matrix.kernel};
    assert_true(amg_device_has(v->dev, real));
    if (!amg_device_make(&on, v->dev, &A, &made, &e)) fail_msg("%s", e.text);
    assert_true(made);
    compare(v->dev, &on, &g, levels);
    amg_device_free(&on);
    amg_free(&g);
    bed_free(&bed);
}
