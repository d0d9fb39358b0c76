/* The levels of multigrid that a device makes, compared with those of the host. */
#include "amg_kit.h"
#include "base/mem.h"
#include "base/precision.h"
#include "machine/device.h"
#include "precond_kit.h"
#include "session/matrix.h"
#include "solvers/amg_device.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

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
    void *val = fetch(d, A->val, A->nnz * (int64_t)type_size(precisions[real].vector));
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

/* What the cycle uses: the values rounded to its type, and columns in 16 bits that give those of A. */
static void check_cycle_matrix(struct device *d, const struct amg_device *on, const struct amg_csr *A,
                               const struct csr *B)
{
    check_matrix(d, on->cycle, A, B);
    if (!A->near) return;
    int *ptr = fetch(d, A->ptr, 4 * (A->rows + 1));
    unsigned short *near = fetch(d, A->near, 2 * A->nnz);
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = ptr[i]; k < ptr[i + 1]; k++)
            assert_int_equal(amg_base(i, (double)A->cols / (double)A->rows) + near[k], B->col[k]);
    mem_free(ptr);
    mem_free(near);
}

/* The first `levels` levels. */
static void compare(struct device *d, const struct amg_device *on, const struct amg *g, int levels)
{
    assert_true(on->sign == g->sign && (levels < g->n || on->n == g->n));
    for (int k = 0; k < g->n && k < levels; k++) {
        const struct amg_device_level *a = &on->level[k];
        const struct amg_level *b = &g->level[k];
        if (k < g->n - 1 || !on->inverse.rows) /* a matrix that is inverted needs no bound */
            assert_true(fabs(a->bound / b->bound - 1) < (on->real == T_F64 ? 1e-9 : 1e-3));
        check_matrix(d, on->real, &a->A, b->A);
        check_cycle_matrix(d, on, &a->on_A, b->A);
        if (k == g->n - 1 || k == levels - 1) break;
        check_cycle_matrix(d, on, &a->on_P, &b->P);
        check_cycle_matrix(d, on, &a->on_R, &b->R);
    }
}

static void check_levels(const struct solve *v, const struct amg *g, enum type cycle, int levels)
{
    struct amg_device on;
    struct err e = {0};
    bool made;
    if (!amg_device_make(&on, v->dev, v->matrix.mat, cycle, &made, &e)) fail_msg("%s", e.text);
    assert_true(made);
    compare(v->dev, &on, g, levels);
    amg_device_free(&on);
}

void check_amg_levels_of(struct bed *bed, const char *device, enum precision real, int levels)
{
    struct amg g;
    struct err e = {0};
    assert_true(amg_make(&g, &bed->s.current->csr, &e) && bed_begin(bed, "jacobi", 0, device, real, &e));
    assert_true(amg_device_has(bed->s.solve->dev, bed->s.solve->real));
    check_levels(bed->s.solve, &g, bed->s.solve->real, levels);
    if (real == P_F64) check_levels(bed->s.solve, &g, T_F32, levels);
    amg_free(&g);
}

void check_amg_levels(const struct problem *p, const char *device, enum precision real, int levels)
{
    struct bed bed;
    bed_make(&bed, p);
    check_amg_levels_of(&bed, device, real, levels);
    bed_free(&bed);
}

int64_t amg_iterations(struct bed *bed, const char *solver, const char *device)
{
    struct solve_options o = {.solver = solver_find(solver), .real = P_F64, .tol = 1e-8, .maxit = 200};
    o.m = o.solver->restarts ? 30 : 0;
    o.pre = precond_find("amg");
    bed_solve(bed, o, device, 1e5);
    const struct solve *v = bed->s.solve;
    if (v->reason != CONVERGED) fail_msg("%s on %s: %s", solver, device, v->why);
    assert_true(v->result.residual_true <= 2e-8);
    return v->iterations;
}

void check_amg_iterations(const struct problem *p, const char *solver, const char *device)
{
    struct bed bed;
    bed_make(&bed, p);
    int64_t host = amg_iterations(&bed, solver, "cpu"), other = amg_iterations(&bed, solver, device);
    if (other > host + 2 || host > other + 2)
        fail_msg("%s %lld, %s on %s: %lld iterations, on the host %lld", p->generator, (long long)p->p[0], solver,
                 device, (long long)other, (long long)host);
    bed_free(&bed);
}

int amg_of_few_rows(void **state)
{
    amg_hook(8);
    return 0;
}
