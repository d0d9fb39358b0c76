/* Eigenvalues of matrices that are not symmetric, and of complex hermitian ones: closed forms, LAPACK's and ARPACK's
   values (kits/eigs_table.tsv), conditions, Ctrl-C, and what commands print of them. */
#include "base/base.h"
#include "base/loop.h"
#include "base/watch.h"
#include "eigen/eigen.h"
#include "files/load_info.h"
#include "kits/collection.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "session/matrix.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <unistd.h>

enum { N_MAX = 100, ROW_MAX = 200, TRIES = 20 };
typedef double complex number;

static double pi(void)
{
    return acos(-1);
}

/* ---- matrices ---- */

static number dense[N_MAX][N_MAX];

static void clear(void)
{
    memset(dense, 0, sizeof dense);
}

static void add_dense(struct talk *t, const char *name, int n, bool complex_values)
{
    static int row[N_MAX * N_MAX], col[N_MAX * N_MAX];
    static double re[N_MAX * N_MAX], im[N_MAX * N_MAX];
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {.file = "case"};
    int k = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            if (dense[i][j] == 0) continue;
            row[k] = i;
            col[k] = j;
            re[k] = creal(dense[i][j]);
            im[k++] = cimag(dense[i][j]);
        }
    assert_true(csr_from_triplets(&A, n, n, k, row, col, re, complex_values ? im : NULL, NULL, &e));
    assert_true(session_add(&t->s, name, &A, &info, &e));
}

/* 2 on the diagonal and 1 beside it, in a circle: the values are 2 + w, where w^n = 1. */
static void make_circulant(int n)
{
    clear();
    for (int i = 0; i < n; i++) {
        dense[i][i] = 2;
        dense[i][(i + 1) % n] = 1;
    }
}

/* a, b, c beside one another: the values are b + 2 sqrt(a c) cos(k pi / (n + 1)). */
static void make_tridiagonal(int n, double a, double b, double c)
{
    clear();
    for (int i = 0; i < n; i++) {
        dense[i][i] = b;
        if (i) dense[i][i - 1] = a;
        if (i + 1 < n) dense[i][i + 1] = c;
    }
}

static void make_grcar(int n)
{
    clear();
    for (int i = 0; i < n; i++)
        for (int j = i ? i - 1 : 0; j < n && j <= i + 3; j++) dense[i][j] = j < i ? -1 : 1;
}

static void make_waves(int n)
{
    clear();
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 5; k++) dense[i][(7 * i + 17 * k + 3) % n] += sin(1 + 3 * i + 5 * k);
}

/* The companion matrix of the polynomial with these n roots. */
static void make_companion(int n, const number *root)
{
    number c[N_MAX] = {1}; /* c[k]: of z^k */
    for (int r = 0; r < n; r++)
        for (int k = r + 1; k >= 0; k--) c[k] = (k ? c[k - 1] : 0) - root[r] * c[k];
    clear();
    for (int i = 0; i < n; i++) {
        dense[i][n - 1] = -creal(c[i]);
        if (i) dense[i][i - 1] = 1;
    }
}

/* A ring whose hops have a phase: the values are 2 cos(2 pi k / n + phase). */
static void make_ring(int n, double phase)
{
    clear();
    for (int i = 0; i < n; i++) {
        dense[i][(i + 1) % n] = cexp(I * phase);
        dense[(i + 1) % n][i] = cexp(-I * phase);
    }
}

/* ---- what is compared ---- */

static number value_of(const struct eigen_pair *p)
{
    return p->value + I * p->imag;
}

static number element(const struct eigen *v, int64_t i, int64_t j)
{
    const double *x = v->vector + i * eigen_numbers(v);
    return v->complex_vectors ? x[2 * j] + I * x[2 * j + 1] : x[j];
}

/* The residuals, the norms and the order, by plain loops. */
static void check_result(const char *what, const struct eigen *v)
{
    int64_t n = v->A->rows;
    for (int64_t i = 0; i < v->found; i++) {
        double residual = 0, norm = 0;
        for (int64_t r = 0; r < n; r++) {
            number sum = -value_of(&v->pair[i]) * element(v, i, r);
            for (int k = v->A->rowptr[r]; k < v->A->rowptr[r + 1]; k++)
                sum += (v->A->val[k] + I * (v->A->imag ? v->A->imag[k] : 0)) * element(v, i, v->A->col[k]);
            residual += creal(sum * conj(sum));
            norm += creal(element(v, i, r) * conj(element(v, i, r)));
        }
        residual = sqrt(residual);
        if (!(fabs(norm - 1) < 1e-12)) fail_msg("%s: vector %d has norm %g", what, (int)i, sqrt(norm));
        if (!(fabs(residual - v->pair[i].residual) <= 1e-13 * v->norm + 1e-3 * residual))
            fail_msg("%s: residual %d is %g, not %g", what, (int)i, residual, v->pair[i].residual);
        if (v->pair[i].status == EIGEN_CONVERGED && residual > 2.1 * v->o.tol * cabs(value_of(&v->pair[i])))
            fail_msg("%s: pair %d has not converged", what, (int)i);
    }
}

static double distance_of(enum eigen_part part, double shift, number value)
{
    if (part == EIGEN_NEAR) return cabs(value - shift);
    return part == EIGEN_LARGEST ? -creal(value) : part == EIGEN_SMALLEST ? creal(value) : -cabs(value);
}

/* Each value found is one of the spectrum, none is found twice, and they come first in the wanted order. */
static void check_spectrum(const char *what, const struct eigen *v, int n, const number *spectrum, double error)
{
    bool used[N_MAX] = {false};
    double last = -INFINITY;
    for (int64_t i = 0; i < v->found; i++) {
        int best = -1;
        number got = value_of(&v->pair[i]);
        for (int k = 0; k < n; k++)
            if (!used[k] && (best < 0 || cabs(got - spectrum[k]) < cabs(got - spectrum[best]))) best = k;
        if (v->pair[i].status == EIGEN_OPEN) fail_msg("%s: pair %d is open", what, (int)i);
        if (!(cabs(got - spectrum[best]) <= error))
            fail_msg("%s: value %d is %.15g %+.15gi, not %.15g %+.15gi", what, (int)i, creal(got), cimag(got),
                     creal(spectrum[best]), cimag(spectrum[best]));
        used[best] = true;
        last = fmax(last, distance_of(v->o.part, v->o.shift, got));
    }
    for (int k = 0; k < n; k++)
        if (!used[k] && distance_of(v->o.part, v->o.shift, spectrum[k]) < last - error)
            fail_msg("%s: %.15g %+.15gi was missed", what, creal(spectrum[k]), cimag(spectrum[k]));
}

static const struct eigen *find(struct talk *t, const char *line)
{
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    assert_non_null(t->s.eigen);
    check_result(line, t->s.eigen);
    return t->s.eigen;
}

static void find_all(struct talk *t, const char *const *lines, int n, const number *spectrum, double error)
{
    for (; *lines; lines++) check_spectrum(*lines, find(t, *lines), n, spectrum, error);
}

/* ---- closed forms ---- */

/* A normal matrix: all conditions are 1. */
TEST(circulant)
{
    enum { N = 60 };
    static const char *const lines[] = {"eigs 7 on cpu",          "eigs 5 near 1.9 on cpu", "eigs 4 rightmost on emu",
                                        "eigs 3 leftmost on cpu", "eigs 2 smallest on emu", "eigs 60 on cpu",
                                        "eigs 5 m 30 on cpu",     "eigs 6 on emu",          NULL};
    number spectrum[N];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    make_circulant(N);
    add_dense(&t, "A", N, false);
    for (int k = 0; k < N; k++) spectrum[k] = 2 + cexp(2 * pi() * I * k / N);
    find_all(&t, lines, N, spectrum, 1e-7);
    const struct eigen *v = find(&t, "eigs 5 on cpu");
    for (int i = 0; i < 5; i++) assert_true(fabs(v->pair[i].condition - 1) < 1e-6);
    for (int i = 1; i < 5; i += 2) assert_true(v->pair[i].imag > 0 && v->pair[i + 1].imag == -v->pair[i].imag);
    assert_true(v->left_products > 0 && !v->complete && isnan(v->orthogonality));
    talk_close(&t);
}

/* Convection and diffusion, with small steps (real values) and with large ones (complex values). */
TEST(convection_diffusion)
{
    enum { N = 50 };
    static const struct {
        double a, c;
    } cases[] = {{-1.1, -0.9}, {-1.2, 0.9}};
    static const char *const lines[] = {"eigs 4 on cpu m 50",   "eigs 4 near 2.1 on cpu", "eigs 6 smallest on cpu",
                                        "eigs 5 near 1 on emu", "eigs 50 on cpu m 50",    NULL};
    for (int c = 0; c < COUNT(cases); c++) {
        number spectrum[N], root = csqrt(cases[c].a * cases[c].c);
        struct talk t;
        talk_open(&t, OUT_TEXT);
        make_tridiagonal(N, cases[c].a, 2, cases[c].c);
        add_dense(&t, "A", N, false);
        for (int k = 1; k <= N; k++) spectrum[k - 1] = 2 + 2 * root * cos(k * pi() / (N + 1));
        find_all(&t, lines, N, spectrum, 1e-5);
        talk_close(&t);
    }
}

/* With the vectors x_j = (a/c)^(j/2) sin and y_j = (c/a)^(j/2) sin, the conditions are sums. */
TEST(conditions_of_convection)
{
    enum { N = 45 };
    static const char *const lines[] = {"eigs 5 rightmost on cpu", "eigs 5 rightmost m 45 on cpu",
                                        "eigs 5 near 5 condition on cpu"};
    double a = 1.2, c = 0.9;
    struct talk t;
    talk_open(&t, OUT_TEXT);
    make_tridiagonal(N, a, 2, c);
    add_dense(&t, "A", N, false);
    for (int l = 0; l < COUNT(lines); l++) {
        const struct eigen *v = find(&t, lines[l]);
        for (int k = 1; k <= 5; k++) {
            double xx = 0, yy = 0, xy = 0;
            for (int j = 1; j <= N; j++) {
                double s = sin(j * k * pi() / (N + 1)), g = pow(a / c, j / 2.0);
                xx += g * s * g * s;
                yy += s / g * (s / g);
                xy += s * s;
            }
            double want = sqrt(xx * yy) / xy, got = v->pair[k - 1].condition;
            if (!(fabs(got - want) <= 1e-3 * want)) fail_msg("%s: condition %d is %g, not %g", lines[l], k, got, want);
        }
    }
    talk_close(&t);
}

TEST(companion)
{
    static const number roots[] = {3, -2, 1 + 2 * I, 1 - 2 * I, 0.5, I, -I};
    enum { N = COUNT(roots) };
    static const char *const lines[] = {"eigs 3 on cpu", "eigs 2 near 0.4 on emu", "eigs 7 on cpu",
                                        "eigs 2 leftmost on cpu", NULL};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    make_companion(N, roots);
    add_dense(&t, "A", N, false);
    find_all(&t, lines, N, roots, 1e-11);
    talk_says(&t, "eigs 2 on cpu", "The conjugate of the last value, ");
    talk_close(&t);
}

/* A defective value: rounding errors of 1e-16 move it by 1e-16^(1/n), and the conditions show it. */
TEST(jordan_block)
{
    enum { N = 10 };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    clear();
    for (int i = 0; i < N; i++) {
        dense[i][i] = 1;
        if (i) dense[i][i - 1] = 1;
    }
    add_dense(&t, "A", N, false);
    const struct eigen *v = find(&t, "eigs 4 on cpu");
    for (int i = 0; i < 4; i++) {
        assert_true(cabs(value_of(&v->pair[i]) - 1) < 0.2);
        if (!(v->pair[i].condition > 1e6)) fail_msg("condition %g", v->pair[i].condition);
    }
    talk_close(&t);
}

/* A double value with two vectors: a second start vector finds the other copy. */
TEST(copies)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    clear();
    for (int i = 0; i < 80; i++) {
        dense[i][i] = i < 40 ? 1 + i : 1 + (i - 40);
        if (i % 40 + 1 < 40) dense[i][i + 1] = 0.25;
    }
    add_dense(&t, "A", 80, false);
    const struct eigen *v = find(&t, "eigs 4 on cpu");
    static const double want[] = {40, 40, 39, 39};
    for (int i = 0; i < 4; i++)
        if (fabs(v->pair[i].value - want[i]) > 1e-6) fail_msg("value %d is %.15g", i, v->pair[i].value);
    for (int i = 0; i < 4; i++) assert_true(isnan(v->pair[i].condition)); /* each value has many left vectors */
    talk_close(&t);
}

/* Far from normal: A - S I is ill-conditioned although S is no eigenvalue, so the basis spans the whole space. */
TEST(far_from_normal)
{
    enum { N = 50 };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    make_tridiagonal(N, -2.1, 2, 0.1);
    add_dense(&t, "A", N, false);
    talk_says(&t, "eigs 4 near 2.1 on cpu", "by Arnoldi with a basis of the whole space");
    check_result("far from normal", t.s.eigen);
    assert_true(t.s.eigen->complete && t.s.eigen->pair[0].condition > 1e8);
    talk_close(&t);
}

/* ---- hermitian ---- */

TEST(hermitian_ring)
{
    enum { N = 70 };
    static const char *const lines[] = {
        "eigs 5 on cpu",        "eigs 4 smallest on cpu", "eigs 6 near 0.31 on cpu",       "eigs 4 largest on emu",
        "eigs 3 near 1 on emu", "eigs 70 on cpu",         "eigs 4 near 0.3 verify on cpu", NULL};
    number spectrum[N];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    make_ring(N, 0.02);
    add_dense(&t, "H", N, true);
    for (int k = 0; k < N; k++) spectrum[k] = 2 * cos(2 * pi() * k / N + 0.02);
    find_all(&t, lines, N, spectrum, 1e-9);
    assert_true(fabs(t.s.eigen->norm - 2) < 1e-14);
    assert_true(t.s.eigen->complex_vectors && t.s.eigen->orthogonality < 1e-8);
    assert_int_equal(t.s.eigen->counted, t.s.eigen->verified);
    talk_says(&t, "eigs 2 on cpu", "Within its residual of each value, A has an eigenvalue.");
    talk_says(&t, "print vector 2 0:2", "i");
    talk_close(&t);
}

/* The values of a ring without a phase are double. */
TEST(hermitian_copies)
{
    enum { N = 64 };
    static const char *const lines[] = {"eigs 5 on cpu", "eigs 6 near 0 on cpu", NULL};
    number spectrum[N];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    make_ring(N, 2 * pi() / N);
    add_dense(&t, "H", N, true);
    for (int k = 0; k < N; k++) spectrum[k] = 2 * cos(2 * pi() * k / N);
    find_all(&t, lines, N, spectrum, 1e-9);
    talk_close(&t);
}

/* ---- the table ---- */

struct row {
    char name[40];
    number value;
    double condition;
};

static bool next_row(FILE *f, struct row *r)
{
    char line[ROW_MAX];
    double re, im;
    if (!fgets(line, sizeof line, f)) return false;
    assert_int_equal(sscanf(line, "%39s %lf %lf %lf", r->name, &re, &im, &r->condition), 4);
    r->value = re + I * im;
    return true;
}

static int rows_of(const char *name, struct row *rows)
{
    char head[ROW_MAX];
    int n = 0;
    FILE *f = fopen("tests/kits/eigs_table.tsv", "r");
    assert_true(f && fgets(head, sizeof head, f));
    while (n < N_MAX && next_row(f, &rows[n])) n += !strcmp(rows[n].name, name);
    fclose(f);
    return n;
}

/* The values are as near as their conditions allow, and the conditions agree. */
static void check_rows(const char *what, const struct eigen *v, int n, const struct row *rows)
{
    bool used[N_MAX] = {false};
    for (int64_t i = 0; i < v->found; i++) {
        const struct eigen_pair *p = &v->pair[i];
        int best = -1;
        for (int k = 0; k < n; k++)
            if (!used[k] && (best < 0 || cabs(value_of(p) - rows[k].value) < cabs(value_of(p) - rows[best].value)))
                best = k;
        used[best] = true;
        double error = 2 * rows[best].condition * (p->residual + 1e-14 * v->norm);
        if (p->status == EIGEN_OPEN) fail_msg("%s: pair %d is open", what, (int)i);
        if (!(cabs(value_of(p) - rows[best].value) <= error))
            fail_msg("%s: value %d is %.15g %+.15gi, not %.15g %+.15gi", what, (int)i, p->value, p->imag,
                     creal(rows[best].value), cimag(rows[best].value));
        if (!isnan(p->condition) && !(fabs(p->condition - rows[best].condition) <= 0.02 * rows[best].condition))
            fail_msg("%s: condition %d is %g, not %g", what, (int)i, p->condition, rows[best].condition);
    }
}

TEST(against_lapack)
{
    static const struct {
        const char *name;
        void (*make)(int n);
        int n;
    } cases[] = {{"grcar", make_grcar, 40}, {"waves", make_waves, 90}};
    static const char *const lines[] = {"eigs 40 m 40 on cpu", "eigs 6 m 30 on cpu", "eigs 6 near 0.5 on cpu",
                                        "eigs 3 on emu"};
    for (int c = 0; c < COUNT(cases); c++) {
        struct row rows[N_MAX];
        struct talk t;
        talk_open(&t, OUT_TEXT);
        cases[c].make(cases[c].n);
        add_dense(&t, "A", cases[c].n, false);
        assert_int_equal(rows_of(cases[c].name, rows), cases[c].n);
        for (int l = c; l < COUNT(lines); l++) check_rows(lines[l], find(&t, lines[l]), cases[c].n, rows);
        talk_close(&t);
    }
}

TEST(real_matrices_against_arpack)
{
    const char *folder = collection_folder("eigenvalues of real matrices by ARPACK");
    char head[ROW_MAX], line[1300];
    struct row row, rows[N_MAX];
    int matrices = 0, known = 0;
    if (!folder) skip();
    FILE *f = fopen("tests/kits/eigs_table.tsv", "r");
    assert_true(f && fgets(head, sizeof head, f));
    for (char last[40] = ""; next_row(f, &row);) {
        if (!strcmp(row.name, last) || !strcmp(row.name, "grcar") || !strcmp(row.name, "waves")) continue;
        struct talk t;
        talk_open(&t, OUT_TEXT);
        snprintf(last, sizeof last, "%s", row.name);
        snprintf(line, sizeof line, "load %s/%s.mtx.gz as A", folder, row.name);
        assert_true(talk_line(&t, line));
        const struct eigen *v = find(&t, "eigs 4 on cpu");
        check_rows(row.name, v, rows_of(row.name, rows), rows);
        for (int i = 0; i < 4; i++) known += !isnan(v->pair[i].condition);
        matrices++;
        talk_close(&t);
    }
    fclose(f);
    print_message("%d matrices; %d conditions of %d are known\n", matrices, known, 4 * matrices);
    assert_true(matrices == 20 && known >= 60);
}

/* From a distant shift, the residual with A is much larger than that with the inverse. */
TEST(a_distant_shift)
{
    const char *folder = collection_folder("eigenvalues far from a shift");
    char line[1300];
    struct talk t;
    if (!folder) skip();
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s/orsreg_1.mtx.gz as A", folder);
    assert_true(talk_line(&t, line));
    const struct eigen *v = find(&t, "eigs 4 near 1000 on cpu");
    for (int i = 0; i < 4; i++) assert_int_equal(v->pair[i].status, EIGEN_CONVERGED);
    talk_close(&t);
}

/* ---- what is printed, kept and refused ---- */

TEST(words_and_refusals)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    make_circulant(50);
    add_dense(&t, "A", 50, false);
    talk_says(&t, "eigs 3 on cpu", "A: the 3 largest eigenvalues by modulus, by Krylov-Schur with");
    talk_says(&t, "eigs 1 rightmost on cpu", "A: the rightmost eigenvalue, by Krylov-Schur with");
    talk_says(&t, "eigs 2 smallest on cpu", "nearest to 0, by Krylov-Schur, shift and invert with the factors of");
    talk_says(&t, "eigs 2 on cpu verify", "Not verified: the signs of pivots count eigenvalues of symmetric and");
    talk_says(&t, "eigs 3 on cpu", "Each value is an eigenvalue of A + E with ||E|| = its residual; to first order");
    talk_says(&t, "print vector 2 0:2", "the eigenvector of ");
    talk_refuses(&t, "eigs 2 smallest using sell", "`smallest` of a matrix that is not symmetric multiplies by");
    dense[0][1] = 2 * I;
    add_dense(&t, "C", 50, true);
    talk_refuses(&t, "eigs 2 C",
                 "eigs of a complex matrix needs a hermitian matrix: entry (0, 1), counted from 0, is 0+2i");
    talk_says(&t, "gen poisson2d 9; eigs 2 rightmost on cpu", "the 2 largest eigenvalues, by thick-restart Lanczos");
    talk_says(&t, "eigs 2 leftmost on cpu", "the 2 smallest eigenvalues, by thick-restart Lanczos");
    talk_close(&t);
}

/* Complex vectors are saved as the columns of a complex matrix. */
TEST(saved_vectors)
{
    char file[] = "/tmp/test_eigs_general.XXXXXX", line[200];
    struct talk t;
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    talk_open(&t, OUT_TEXT);
    make_circulant(45);
    add_dense(&t, "A", 45, false);
    snprintf(line, sizeof line, "eigs 3 on cpu save %s force", file);
    const struct eigen *v = find(&t, line);
    double re[2], im[2];
    for (int i = 0; i < 2; i++) {
        re[i] = creal(element(v, 1, i));
        im[i] = cimag(element(v, 1, i));
    }
    snprintf(line, sizeof line, "load %s as V", file);
    assert_true(talk_line(&t, line));
    const struct csr *V = &t.s.current->csr;
    assert_true(V->rows == 45 && V->cols == 3 && V->imag);
    for (int i = 0; i < 2; i++) {
        assert_true(V->val[V->rowptr[i] + 1] == re[i]);
        assert_true(V->imag[V->rowptr[i] + 1] == im[i]);
    }
    talk_close(&t);
    unlink(file);
}

/* ---- Ctrl-C ---- */

struct stopper {
    struct watch watch;
    int64_t ticks, at;
};

static bool stop_at(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct stopper *s = (struct stopper *)w;
    return ++s->ticks < s->at;
}

static int64_t stopped(const struct csr *A, enum eigen_kind kind, enum eigen_part part, int64_t at, int *kept)
{
    struct stopper stopper = {{stop_at, NULL}, 0, at};
    struct eigen_matrix M = {.name = "A", .csr = A, .kind = kind, .dev = device_open("cpu", NULL)};
    struct eigen_options o = {.part = part,
                              .shift = 1.9,
                              .pairs = 4,
                              .restarts = 100,
                              .columns = 12,
                              .tol = 1e-8,
                              .seed = 1,
                              .condition = true,
                              .watch = &stopper.watch};
    struct eigen *v = NULL;
    struct err e = {0};
    loop_check_all(true);
    struct watch *before = loop_enter(&stopper.watch);
    bool ok = eigen_find(&v, &M, &o, &e);
    loop_enter(before);
    loop_check_all(false);
    if (!ok && e.code != E_CANCELLED) fail_msg("at tick %d: %s", (int)at, e.text);
    if (ok && v->cancelled) {
        assert_true(v->found == 4 && v->vector);
        check_result("after Ctrl-C", v);
        ++*kept;
    }
    eigen_free(v);
    return stopper.ticks;
}

TEST(ctrl_c_leaves_pairs)
{
    static const enum eigen_part parts[] = {EIGEN_FARTHEST, EIGEN_NEAR};
    for (int i = 0; i < 4; i++) {
        int kept = 0;
        bool complex_values = i >= 2;
        struct talk t;
        talk_open(&t, OUT_TEXT);
        if (complex_values)
            make_ring(40, 0.02);
        else
            make_circulant(40);
        add_dense(&t, "A", 40, complex_values);
        enum eigen_kind kind = complex_values ? EIGEN_HERMITIAN : EIGEN_GENERAL;
        enum eigen_part part = complex_values && i == 2 ? EIGEN_LARGEST : parts[i % 2];
        const struct csr *A = &t.s.current->csr;
        int64_t ticks = stopped(A, kind, part, INT64_MAX, &kept);
        assert_int_equal(kept, 0);
        for (int n = 1; n < TRIES; n++) stopped(A, kind, part, 1 + n * ticks / TRIES, &kept);
        if (!kept) fail_msg("case %d: Ctrl-C left no pairs", i);
        talk_close(&t);
    }
}
