/* Checks of devices with several members. */
#include "multi_kit.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "gpu/multi/multi.h"
#include "language/run_lines.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "matrix/csr.h"
#include "session/session.h"
#include "shapes.h"
#include "solvers/solve.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- products ---- */

/* The product on a new copy of the matrix. */
static void multiply(const struct kernel *k, const struct csr *A, const struct stored *S, struct device *d,
                     double alpha, double beta, double *y)
{
    struct err e = {0};
    struct mat M;
    struct verdict v;
    if (!mat_put(&M, S, d, &e)) fail_msg("%s on %s: %s", k->name, d->name, e.text);
    if (!bench_check(k, A, &M, alpha, beta, 5, y, &v, &e)) fail_msg("%s on %s: %s", k->name, d->name, e.text);
    if (!v.ok) fail_msg("%s on %s: row %lld is wrong by %g bounds", k->name, d->name, (long long)v.row, v.worst);
    mat_free(&M);
}

static void check_product(const struct kernel *k, const struct csr *A, const struct stored *S, struct device *d)
{
    int64_t n = (A->imag ? 2 : 1) * A->rows;
    double *y = mem_new(n, sizeof *y, "y", NULL), *again = mem_new(n, sizeof *again, "y", NULL);
    multiply(k, A, S, d, 1, 0, y);
    multiply(k, A, S, d, -1.5, 0.5, again);
    if (k->deterministic) {
        for (int x = TRANSPORT_AUTO; x < TRANSPORTS; x++) {
            transport_choose(x);
            if (d->members && transport_of(d) == TRANSPORT_NCCL && !multi_nccl_found(NULL)) continue;
            multiply(k, A, S, d, 1, 0, again);
            assert_memory_equal(y, again, (size_t)n * sizeof *y);
        }
        transport_choose(TRANSPORT_AUTO);
    }
    mem_free(y);
    mem_free(again);
}

static int check_shape(const struct shape *s, struct device *d, enum precision real, int64_t most_slots)
{
    struct csr A = shape_csr(s, 3);
    int done = 0;
    for (int i = 0; formats[i]; i++) {
        const struct kernel *k = kernel_default(formats[i], &A, d);
        struct stored S;
        if (!k || !kernel_takes(k, precision_of_values(real, A.imag != NULL), NULL)) continue;
        if (!format_pack(&A, formats[i], NULL, real, false, &S, NULL)) continue;
        if (stored_slots(&S) <= most_slots && (!k->fits || k->fits(&S, NULL))) {
            check_product(k, &A, &S, d);
            done++;
        }
        stored_free(&S);
    }
    csr_free(&A);
    return done;
}

int check_multi_formats(const char *device, enum precision real, int64_t most_slots)
{
    static const struct shape more[] = {
        {.name = "fewer rows than members", .rows = 2, .cols = 9, .entries = 9, .long_row = -1},
        {.name = "fewer columns than members", .rows = 9, .cols = 2, .entries = 9, .long_row = -1},
        {.name = "one row", .rows = 1, .cols = 40, .entries = 40, .long_row = 0},
        {.name = "a dense row", .rows = 70, .cols = 70, .entries = 100, .long_row = 33},
        {.name = "no entries", .rows = 20, .cols = 20, .entries = 0, .long_row = -1},
        {NULL},
    };
    struct err e = {0};
    struct device *d = device_open(device, &e);
    int done = 0;
    if (!d) fail_msg("%s: %s", device, e.text);
    for (const struct shape *s = shapes; s->name; s++) done += check_shape(s, d, real, most_slots);
    for (const struct shape *s = more; s->name; s++) done += check_shape(s, d, real, most_slots);
    return done;
}

/* ---- solves ---- */

enum { ITERATIONS = 20 };

struct history {
    int64_t n;
    double residual[ITERATIONS + 1];
};

static struct history history_of(const struct session *s)
{
    struct history h = {.n = s->solve->iterations};
    assert_true(h.n <= ITERATIONS);
    memcpy(h.residual, s->solve->history.residual, (size_t)(h.n + 1) * sizeof *h.residual);
    return h;
}

static void run(struct session *s, const char *line)
{
    if (!run_line(s, line)) fail_msg("`%s` failed", line);
}

static struct history solved(struct session *s, const char *what, const char *device)
{
    char line[200];
    snprintf(line, sizeof line, "solve %s tol 1e-30 maxit %d force on %s", what, ITERATIONS, device);
    run_line(s, line); /* the limit of iterations is a failure of the command */
    if (!s->solve || s->solve->iterations < ITERATIONS) fail_msg("`%s` failed", line);
    return history_of(s);
}

static double apart(const struct history *a, const struct history *b, int64_t i)
{
    return fabs(a->residual[i] - b->residual[i]) / b->residual[i];
}

/* The recurrences of bicgstab and qmrcgstab amplify rounding errors: two ordinary devices, which add in different
   orders, differ by more than 1e-12. Several members may then differ by 30 times as much: on cpu+cuda:0, whose shares
   depend on the speeds that the program measures, 10.4 times have occurred. */
static void agree(const struct history *many, const struct history *one, const struct history *other, bool amplifies,
                  const char *what, const char *device)
{
    double within = 1e-12;
    assert_int_equal(many->n, one->n);
    for (int64_t i = 0; i <= many->n; i++) {
        if (amplifies) within = fmax(within, 30 * apart(other, one, i));
        if (!(apart(many, one, i) <= within))
            fail_msg("%s on %s: residual %lld is %.17g, not %.17g within %g", what, device, (long long)i,
                     many->residual[i], one->residual[i], within);
    }
}

/* Go forward by steps, back, and forward again: the residuals are the same, bit by bit. */
static void check_stepping(struct session *s, const char *device)
{
    char line[200];
    snprintf(line, sizeof line, "solve cg step tol 1e-30 maxit %d on %s; step 7", ITERATIONS, device);
    run(s, line);
    struct history first = history_of(s);
    assert_int_equal(first.n, 7);
    run(s, "back 3");
    assert_int_equal(s->solve->iterations, 4);
    run(s, "step 3");
    struct history again = history_of(s);
    assert_int_equal(again.n, 7);
    assert_memory_equal(first.residual, again.residual, 8 * sizeof *first.residual);
    assert_true(s->solve->history.ntruth > 0); /* both residuals are there */
    run_line(s, "stop");
}

void check_multi_solves(const char *device, const char *one)
{
    static const char *const what[] = {"cg",
                                       "cg precond jacobi",
                                       "jacobi",
                                       "wjacobi",
                                       "bicgstab",
                                       "bicgstab precond jacobi",
                                       "gmres m 8",
                                       "gmres m 30 precond jacobi",
                                       "qmrcgstab",
                                       "minres",
                                       "gmres m 6 orth modified"};
    struct session s;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_true(nowhere && session_new(&s, nowhere, nowhere, OUT_TEXT, NULL));
    run(&s, "gen poisson2d 23 17");
    for (int i = 0; i < COUNT(what); i++) {
        struct history on_one = solved(&s, what[i], one), on_many = solved(&s, what[i], device);
        struct history again = solved(&s, what[i], device), on_cpu = solved(&s, what[i], "cpu");
        struct history on_emu = solved(&s, what[i], "emu");
        bool amplifies = strstr(what[i], "cgstab") != NULL;
        agree(&on_many, &on_one, strcmp(one, "cpu") ? &on_cpu : &on_emu, amplifies, what[i], device);
        assert_memory_equal(again.residual, on_many.residual, sizeof again.residual);
    }
    check_stepping(&s, device);
    session_free(&s);
    fclose(nowhere);
}

/* ---- matrices in parts ---- */

void check_in_parts(const char *device)
{
    static const char *const made[] = {"poisson3d 9 8 7", "poisson2d 30 11", "stencil 27 5 6 4 unknowns 2",
                                       "band 400 9 60", "random 300 5"};
    static const char *const what[] = {
        "cg", "jacobi", "minres", "bicgstab precond jacobi", "gmres", "qmrcgstab b random", "wjacobi f32"};
    struct session s;
    char line[200];
    int same = 0;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_true(nowhere && session_new(&s, nowhere, nowhere, OUT_TEXT, NULL));
    for (int g = 0; g < COUNT(made); g++) {
        snprintf(line, sizeof line, "drop all; gen %s as A; gen %s on %s as P; spmv P reps 3; spmv P f32 reps 3",
                 made[g], made[g], device);
        run(&s, line);
        for (int i = 0; i < COUNT(what); i++) {
            snprintf(line, sizeof line, "solve A %s maxit 60 on %s", what[i], device);
            bool ok = run_line(&s, line);
            int64_t n = ok ? s.solve->n : 0, iterations = ok ? s.solve->iterations : 0;
            double residual = ok ? s.solve->result.residual_true : 0, *x = calloc((size_t)n + 1, sizeof *x);
            assert_non_null(x);
            if (ok) memcpy(x, s.solve->result.x, (size_t)n * sizeof *x);
            snprintf(line, sizeof line, "solve P %s maxit 60", what[i]);
            if (run_line(&s, line) != ok || /* jacobi divides by a diagonal that random matrices lack */
                (ok && (memcmp(x, s.solve->result.x, (size_t)n * sizeof *x) || iterations != s.solve->iterations ||
                        memcmp(&residual, &s.solve->result.residual_true, sizeof residual))))
                fail_msg("%s on %s: `%s` differs in parts", made[g], device, line);
            same += ok;
            free(x);
        }
    }
    assert_true(same > 25);
    session_free(&s);
    fclose(nowhere);
}
