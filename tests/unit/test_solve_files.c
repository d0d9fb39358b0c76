/* Every solver on every square real matrix of the collection with up to 2000 rows: each solve ends with a reason, and
   if the solve reports convergence, the residual computed here is small. */
#include "files/matrix_market.h"
#include "kits/collection.h"
#include "kits/solve_kit.h"
#include "kits/test.h"
#include "machine/device.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session_solve.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <float.h>

enum { ROWS_MAX = 2000 };

static const double tol = 1e-6;

/* ||b - A x|| / ||b||, with each row summed in long double. */
static double residual_of(const struct csr *A, const double *b, const double *x)
{
    double rr = 0, bb = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        long double r = b[i];
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) r -= (long double)A->val[k] * x[A->col[k]];
        rr += (double)(r * r);
        bb += b[i] * b[i];
    }
    return bb > 0 ? sqrt(rr / bb) : sqrt(rr);
}

/* What the rounding of fp64 may change in the residual of x: much if A is singular and x is large. */
static double rounding_of(const struct csr *A, const double *b, const double *x)
{
    double most = 0, bb = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        double sum = 0;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) sum += fabs(A->val[k] * x[A->col[k]]);
        most = fmax(most, sum);
        bb += b[i] * b[i];
    }
    return bb > 0 ? 4 * DBL_EPSILON * sqrt((double)A->rows) * most / sqrt(bb) : 0;
}

static void check_ended(const struct solve *v, const struct csr *A, const double *b, const char *name)
{
    double left = residual_of(A, b, v->result.x);
    if (v->reason == RUNNING || v->reason == STOPPED || !v->why[0])
        fail_msg("%s by %s ended without a reason", name, v->solver->name);
    const struct least *least = &v->result.least;
    double met = v->solver->least_squares && v->b_norm > 0 ? fmin(least->normal, least->backward) : left;
    if (v->reason == CONVERGED && !(met <= 2.0001 * tol))
        fail_msg("%s by %s: %s, but the residual is %g", name, v->solver->name, v->why, left);
    if (isfinite(left) &&
        !(fabs(left - v->result.residual_true) <= 1e-6 * left + 1e-13 + rounding_of(A, b, v->result.x)))
        fail_msg("%s by %s: the true residual is %g, not %g", name, v->solver->name, left, v->result.residual_true);
}

/* Returns 1 if the solve converged. */
static int solve_by(struct session *s, struct solve_options *o, const char *name)
{
    struct err e = {0};
    solve_free(s->solve);
    s->solve = NULL;
    if (!session_solve(&s->solve, s, s->current, o, &e)) {
        if (e.code != E_NUMERIC) fail_msg("%s by %s: %s", name, o->solver->name, e.text);
        return 0;
    }
    while (s->solve->reason == RUNNING)
        if (!solve_slice(s->solve, 1e5, &e)) fail_msg("%s by %s: %s", name, o->solver->name, e.text);
    if (!solve_end(s->solve, &e)) fail_msg("%s by %s: %s", name, o->solver->name, e.text);
    check_ended(s->solve, &s->current->csr, o->b, name);
    return s->solve->reason == CONVERGED;
}

/* Run all solvers with the b of a solve without options; takes ownership of A. */
static int solve_all(struct csr *A, const char *name)
{
    struct session s;
    struct err e = {0};
    struct load_info info = {.file = "collection"};
    FILE *out = tmpfile();
    int converged = 0;
    struct right_sides sides;
    struct solve_options o = {.real = P_F64, .tol = tol, .maxit = 100};
    o.dev = device_open("cpu", &e);
    assert_true(session_new(&s, out, out, OUT_TEXT, &e) && session_add(&s, NULL, A, &info, &e));
    assert_true(right_sides_make(s.current, NULL, 0, &sides, &e));
    o.b = sides.b;
    o.known_ones = sides.known_ones;
    for (int i = 0; solvers[i]; i++) {
        o.solver = solvers[i];
        converged += solve_by(&s, &o, name);
    }
    right_sides_free(&sides);
    session_free(&s);
    fclose(out);
    return converged;
}

TEST(test_collection)
{
    const char *folder;
    char path[1024], line[4096];
    struct load_info info;
    int matrices = 0, converged = 0;
    FILE *index = collection_index("the solvers on the collection", &folder);
    if (!index) return;
    while (fgets(line, sizeof line, index)) {
        struct csr A;
        struct err e = {0};
        line[strcspn(line, "\t\n")] = 0;
        snprintf(path, sizeof path, "%s/%.200s.mtx.gz", folder, line);
        if (matrices++ == 0) continue; /* the header line */
        if (!mtx_load(path, NULL, &A, &info, &e)) fail_msg("%s: %s", path, e.text);
        if (A.imag || A.rows != A.cols || A.rows > ROWS_MAX)
            csr_free(&A);
        else
            converged += solve_all(&A, line);
    }
    fclose(index);
    print_message("%d solves converged\n", converged);
    assert_true(converged > 50);
}
