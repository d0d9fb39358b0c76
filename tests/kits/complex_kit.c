/* Complex systems: small matrices, and the residual in complex arithmetic. */
#include "complex_kit.h"
#include "base/precision.h"
#include "collection.h"
#include "files/load_info.h"
#include "machine/device.h"
#include "machine/reason.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/level_schedule.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "talk.h"

#include <complex.h>
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

static bool takes_complex(const struct solver *s)
{
    return s->products_only || s->complex_steps;
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

/* ---- transformed real systems ----
   Let A be real, D diagonal with complex elements of absolute value 1, and |c| = 1. Applied to c D A D^H and c D b,
   every solver and every preconditioner does the same as for A and b, so its x is D times that of A. For hermitian
   matrices and for solvers with real coefficients, c is 1. */

enum { GRID = 6, ITERATIONS = 5 };

static double complex turn(int i)
{
    return cexp(0.7 * I * i);
}

/* How to solve. full: A has all entries, so that a warp processes each row of a triangle; narrow: see
   level_schedule_hook. */
struct variant {
    enum precision real;
    bool sums_host, form_matrix, full;
    int narrow;
};

/* Element (i, j) of a 5-point stencil with a dominant diagonal, symmetric or not; 0: not stored. If `full`, the other
   elements are small. */
static double element(int i, int j, bool symmetric, bool full)
{
    if (i == j) return 5 + i % 3;
    if (abs(i - j) == 1) return -1 + (symmetric ? 0 : i < j ? 0.3 : -0.3);
    if (abs(i - j) == GRID) return -1 + (symmetric ? 0 : i < j ? -0.2 : 0.2);
    return full ? 0.01 * (1 + (i + j) % 3) : 0;
}

/* A; or, if c is not 0, c D A D^H. */
static struct csr stencil(bool symmetric, bool full, double complex c)
{
    enum { MAX = COMPLEX_ROWS * COMPLEX_ROWS };
    struct csr A;
    int row[MAX], col[MAX], n = 0;
    double re[MAX], im[MAX];
    for (int i = 0; i < COMPLEX_ROWS; i++)
        for (int j = 0; j < COMPLEX_ROWS; j++) {
            double complex a = element(i, j, symmetric, full);
            if (a == 0) continue;
            if (c != 0) a *= c * turn(i) * conj(turn(j));
            row[n] = i, col[n] = j, re[n] = creal(a), im[n++] = i == j && c == 1 ? 0 : cimag(a);
        }
    assert_true(csr_from_triplets(&A, COMPLEX_ROWS, COMPLEX_ROWS, n, row, col, re, c != 0 ? im : NULL, NULL, NULL));
    return A;
}

/* The x of the current matrix after a few iterations; x holds pairs. */
static void iterate(struct talk *t, struct solve_options *o, double complex c, double complex *x)
{
    struct err e = {0};
    double b[2 * COMPLEX_ROWS];
    int parts = c != 0 ? 2 : 1;
    for (int i = 0; i < COMPLEX_ROWS; i++) {
        double complex value = (1 + i % 4) * (c != 0 ? c * turn(i) : 1);
        b[parts * i] = creal(value);
        if (c != 0) b[parts * i + 1] = cimag(value);
    }
    o->b = b;
    solve_free(t->s.solve);
    t->s.solve = NULL;
    bool ok = session_solve(&t->s.solve, &t->s, t->s.current, o, &e);
    while (ok && t->s.solve->reason == RUNNING) ok = solve_slice(t->s.solve, 1e4, &e);
    ok = ok && solve_end(t->s.solve, &e);
    if (!ok) fail_msg("%s %s: %s", o->solver->name, o->pre ? o->pre->name : "", e.text);
    const double *from = t->s.solve->result.x;
    for (int i = 0; i < COMPLEX_ROWS; i++) x[i] = from[parts * i] + (c != 0 ? I * from[2 * i + 1] : 0);
}

static void check_transformed(struct talk *t, struct solve_options o, bool full)
{
    bool symmetric = o.solver->symmetric || o.pre == precond_find("ic0");
    bool real_steps = !o.solver->complex_steps || (o.solver->arnoldi && o.sums_host);
    double complex c[] = {0, symmetric || real_steps ? 1 : 0.6 + 0.8 * I}, x[2][COMPLEX_ROWS];
    double gap = 0, size = 0;
    for (int k = 0; k < 2; k++) {
        struct csr A = stencil(symmetric, full, c[k]);
        struct load_info info = {.field = "complex"};
        assert_true(session_add(&t->s, k ? "Z" : "R", &A, &info, NULL));
        iterate(t, &o, c[k], x[k]);
        assert_true(talk_line(t, "drop all"));
    }
    for (int i = 0; i < COMPLEX_ROWS; i++) {
        gap = fmax(gap, cabs(x[1][i] - turn(i) * x[0][i]));
        size = fmax(size, cabs(x[0][i]));
    }
    if (!(gap <= (o.real == P_F32 ? 1e-4 : 1e-11) * size))
        fail_msg("%s %s on %s in %s: apart by %g of %g", o.solver->name, o.pre ? o.pre->name : "without precond",
                 o.dev->name, precisions[o.real].name, gap, size);
}

static void each_transformed(const char *device)
{
    static const struct variant variants[] = {
        {.real = P_F64, .narrow = -1},
        {.real = P_F32, .narrow = -1},
        {.real = P_F64, .narrow = -1, .sums_host = true},
        {.real = P_F32, .narrow = -1, .sums_host = true},
        {.real = P_F64, .narrow = -1, .form_matrix = true},
        {.real = P_F32, .narrow = -1, .form_matrix = true},
        {.real = P_F64, .narrow = -1, .full = true},
        {.real = P_F64, .narrow = 0, .full = true},
        {.real = P_F64, .narrow = 0},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int k = 0; solvers[k]; k++)
        for (int p = -1; p < 0 || preconds[p]; p++)
            for (int i = 0; i < COUNT(variants); i++) {
                const struct variant *w = &variants[i];
                struct solve_options o = {.solver = solvers[k], .dev = device_open(device, NULL), .maxit = ITERATIONS};
                o.pre = p < 0 ? NULL : preconds[p];
                o.real = w->real;
                o.sums_host = w->sums_host;
                o.form_matrix = w->form_matrix;
                if (!takes_complex(o.solver) || (o.form_matrix && !o.solver->form_bytes)) continue;
                if (o.pre && (!solver_takes(solvers[k], o.pre) || !o.pre->takes_complex || o.sums_host)) continue;
                level_schedule_hook(w->narrow);
                check_transformed(&t, o, w->full);
            }
    level_schedule_hook(-1);
    talk_close(&t);
}

/* ---- the collection ---- */

static double residual_after(struct talk *t, const char *name, const char *device, const char *precond)
{
    char line[160];
    snprintf(line, sizeof line, "solve gmres %s on %s precond %s m 15 maxit 15 tol 1e-30", name, device, precond);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    return t->s.solve->residual;
}

/* Each preconditioner does the same on the device as on cpu, and with ilu0, bicgstab solves the system. */
static void check_file(const char *folder, const char *name, const char *device)
{
    static const char *const names[] = {"none", "jacobi", "bjacobi", "ilu0"};
    struct talk t;
    char line[1200];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load '%s/%s.mtx.gz' as A", folder, name);
    assert_true(talk_line(&t, line));
    for (int i = 0; i < COUNT(names); i++) {
        double here = residual_after(&t, "A", "cpu", names[i]), there = residual_after(&t, "A", device, names[i]);
        if (!(fabs(here - there) <= 1e-6 * here)) fail_msg("%s %s: %g, on cpu %g", name, names[i], there, here);
    }
    talk_refuses(&t, "solve cg A precond ic0", "needs a hermitian matrix");
    snprintf(line, sizeof line, "solve bicgstab A on %s precond ilu0 tol 1e-8", device);
    solve_complex(&t, line, 1e-8);
    talk_close(&t);
}

void check_complex_files(const char *device)
{
    char line[4096], name[80], field[40];
    const char *folder;
    int taken = 0;
    FILE *index = collection_index("complex matrices", &folder);
    if (!index) return;
    while (fgets(line, sizeof line, index)) {
        if (sscanf(line, "%79s %*s %*s %*s %39s", name, field) != 2 || strcmp(field, "complex")) continue;
        check_file(folder, name, device);
        taken++;
    }
    fclose(index);
    assert_true(taken > 0);
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
            if (!takes_complex(solvers[k])) continue;
            const char *name = solvers[k]->symmetric || i & 2 ? "H" : "Z";
            snprintf(line, sizeof line, "solve %s %s on %s b %s %s", solvers[k]->name, name, device, right[i & 1],
                     single ? "f32 tol 1e-4" : "tol 1e-9");
            solve_complex(&t, line, single ? 1e-4 : 1e-9);
        }
    talk_close(&t);
    each_transformed(device);
}
