/* Eigenvalues: known spectra on cpu and emu, closed forms, the real matrices of the collection, refusals, Ctrl-C, and
   what the session keeps. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/shared.h"
#include "base/watch.h"
#include "direct/direct.h"
#include "eigen/dense_symmetric.h"
#include "eigen/eigen.h"
#include "eigen/eigen_measure.h"
#include "eigen/eigen_verify.h"
#include "files/file.h"
#include "files/load_info.h"
#include "formats/format.h"
#include "kits/collection.h"
#include "kits/eigs_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "session/product.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 9000, ROWS_MAX = 300, GRID = 30, TRIES = 24 };

TEST(known_spectra)
{
    check_eigs("cpu");
    check_eigs("emu");
}

/* ---- closed forms ---- */

static double grid_value(int i)
{
    return 2 - 2 * cos(acos(-1) * i / (GRID + 1));
}

/* The eigenvalues of poisson2d are sums of those of a line, so most of them are double. */
TEST(closed_form_of_the_grid)
{
    static const int pairs[][2] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 3}, {3, 1}, {2, 3}, {3, 2}};
    static const char *const lines[] = {"eigs 8 smallest on cpu", "eigs 8 near 0 on cpu", "eigs 8 smallest tol 1e-12"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    for (int k = 0; k < COUNT(lines); k++) {
        talk_says(&t, lines[k], "found none that should be among them");
        for (int i = 0; i < COUNT(pairs); i++) {
            double want = grid_value(pairs[i][0]) + grid_value(pairs[i][1]), got = t.s.eigen->pair[i].value;
            if (fabs(got - want) > 1e-13) fail_msg("%s: value %d is %.17g, not %.17g", lines[k], i, got, want);
        }
    }
    talk_says(&t, "eigs 4 near 8 quick on cpu", "One start vector finds one copy");
    assert_false(t.s.eigen->checked);
    talk_close(&t);
}

/* The Laplacian of a path is singular: the factors are those of a shifted matrix, and the value 0 is found. */
TEST(a_singular_laplacian)
{
    enum { N = 200 };
    struct talk t;
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {.file = "case"};
    int row[3 * N], col[3 * N], k = 0;
    double val[3 * N];
    for (int i = 0; i < N; i++)
        for (int j = i ? i - 1 : 0; j <= i + 1 && j < N; j++) {
            row[k] = i;
            col[k] = j;
            val[k++] = i != j ? -1 : 2 - (i == 0) - (i == N - 1);
        }
    talk_open(&t, OUT_TEXT);
    assert_true(csr_from_triplets(&A, N, N, k, row, col, val, NULL, NULL, &e));
    assert_true(session_add(&t.s, "L", &A, &info, &e));
    talk_says(&t, "eigs 3 near 0", "A - S I is singular or nearly so at S = 0");
    const struct eigen *v = t.s.eigen;
    for (int i = 0; i < 3; i++) {
        double want = 2 - 2 * cos(acos(-1) * i / N);
        if (fabs(v->pair[i].value - want) > 1e-14) fail_msg("value %d is %.17g", i, v->pair[i].value);
    }
    assert_int_equal(v->pair[0].status, EIGEN_ROUNDED);
    assert_int_equal(v->below, 0);
    check_pairs("a Laplacian", v);
    talk_close(&t);
}

static void load_diagonal(struct talk *t, const char *name, int n, double (*value)(int i))
{
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {.file = "case"};
    int row[200];
    double val[200];
    assert_true(n <= COUNT(row));
    for (int i = 0; i < n; i++) row[i] = i, val[i] = value(i);
    assert_true(csr_from_triplets(&A, n, n, n, row, row, val, NULL, NULL, &e));
    assert_true(session_add(&t->s, name, &A, &info, &e));
}

static double from_one(int i)
{
    return i + 1;
}

/* From far away, the outermost eigenvalues are the nearest. */
TEST(distant_shifts_find_the_ends)
{
    static const struct {
        const char *line;
        double value[2];
    } cases[] = {{"eigs 2 near 1e17 A on cpu verify", {3, 2}},
                 {"eigs 2 near -1e17 A on cpu verify", {1, 2}},
                 {"eigs 2 near 1e300 B on cpu verify", {90, 89}},
                 {"eigs 2 near -4e14 B on emu verify", {1, 2}},
                 {"eigs 2 near 1e5 B on cpu verify", {90, 89}}};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_diagonal(&t, "A", 3, from_one);
    load_diagonal(&t, "B", 90, from_one);
    for (int i = 0; i < COUNT(cases); i++) {
        talk_says(&t, cases[i].line, "nearest to");
        const struct eigen *v = t.s.eigen;
        for (int k = 0; k < 2; k++)
            if (fabs(v->pair[k].value - cases[i].value[k]) > 1e-9)
                fail_msg("%s: %g, not %g", cases[i].line, v->pair[k].value, cases[i].value[k]);
        assert_int_equal(v->complete, v->A->rows == 3);
        assert_int_equal(v->verified, v->complete ? -1 : 1);
    }
    talk_close(&t);
}

/* 1 twenty times, then 2, 3, ... */
static double twenty_ones(int i)
{
    return i < 20 ? 1 : i - 18;
}

/* 4 is an eigenvalue of poisson2d n with n copies. */
TEST(many_copies)
{
    static const struct {
        const char *line;
        int copies; /* of the first value, among the pairs */
        const char *says, *absent;
    } cases[] = {
        {"eigs 28 near 4 P on cpu", 20, "A - S I is singular or nearly so at S = 4", "is a multiple eigenvalue"},
        {"eigs 21 near 4 P on cpu verify", 20, "none was missed there", "not converged"},
        {"eigs 6 near 4 P on cpu", 6, "4 is a multiple eigenvalue: 6 of at least", "not converged"},
        {"eigs 6 near 4.001 P on cpu", 6, "4 is a multiple eigenvalue: 6 of at least", "not converged"},
        {"eigs 20 near 7 D on cpu", 1, "1 is a multiple eigenvalue", "not converged"},
        {"eigs 25 near 1 D on cpu", 20, "found none that should be among them", "is a multiple eigenvalue"},
        {"eigs 3 smallest D on cpu", 3, "`eigs ", "not converged"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20 as P"));
    load_diagonal(&t, "D", 100, twenty_ones);
    for (int i = 0; i < COUNT(cases); i++) {
        talk_says(&t, cases[i].line, cases[i].says);
        const struct eigen *v = t.s.eigen;
        int copies = 0;
        for (int k = 0; k < v->found; k++) {
            copies += fabs(v->pair[k].value - v->pair[0].value) < 1e-9;
            if (v->pair[k].status == EIGEN_OPEN) fail_msg("%s: pair %d is open", cases[i].line, k + 1);
        }
        if (copies != cases[i].copies) fail_msg("%s: %d copies", cases[i].line, copies);
        if (strstr(t.out, cases[i].absent)) fail_msg("%s: %s", cases[i].line, t.out);
    }
    talk_close(&t);
}

/* More copies than the basis has columns: the search ends when the wanted ones have converged. Whether the basis then
   holds a further copy depends on rounding; if it does, the answer says so. */
TEST(more_copies_than_columns)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 100"));
    talk_says(&t, "eigs 6 near 4 on cpu maxit 100", "converged");
    bool said = strstr(t.out, "4 is a multiple eigenvalue: 6 of at least") != NULL;
    assert_int_equal(said, t.s.eigen->more > 0);
    assert_true(t.s.eigen->checked && t.s.eigen->restarts < 50);
    for (int i = 0; i < 6; i++) assert_int_equal(t.s.eigen->pair[i].status, EIGEN_CONVERGED);
    talk_close(&t);
}

/* What a search says that ended before a second start vector. */
TEST(unfinished_searches_say_what_is_missing)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    talk_says(&t, "eigs 5 smallest maxit 1 on cpu", "The search ended before a second start vector");
    talk_says(&t, "eigs 4 near 8 quick on cpu", "Without `quick`, a second start vector");
    load_diagonal(&t, "D", 100, twenty_ones);
    talk_says(&t, "eigs 30 near 8 D tol 1e-12 m 80 on cpu", "`eigs 30 near 7` has a shift nearer to them");
    assert_null(strstr(t.out, "maxit"));
    talk_close(&t);
}

/* ---- shifts beside S ---- */

/* -1e10, 1e10, and between them values from -1e-2 to 1e2: at 1e-8 ||A|| from 0, all of these look alike. */
static double graded(int i)
{
    return i < 40 ? -1e10 + i : i < 80 ? 1e10 - i : i < 100 ? -40.0 - i : i == 100 ? -1e-2 : 1e-4 * pow(3, i - 101);
}

/* The pairs are the nearest ones to S, not to a shift that moved. */
TEST(nearest_to_what_was_asked)
{
    static const struct {
        const char *line;
        double want[6];
    } cases[] = {
        {"eigs 6 near 0 on cpu", {1e-4, 3e-4, 9e-4, 27e-4, 81e-4, -1e-2}},
        {"eigs 6 near 1e-3 on cpu", {9e-4, 3e-4, 1e-4, 27e-4, 81e-4, -1e-2}},
        {"eigs 4 near 0 on emu", {1e-4, 3e-4, 9e-4, 27e-4}},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_diagonal(&t, "G", 120, graded);
    for (int i = 0; i < COUNT(cases); i++) {
        talk_says(&t, cases[i].line, "nearest to");
        const struct eigen *v = t.s.eigen;
        assert_int_equal(v->sure, v->found);
        for (int k = 0; k < v->found; k++)
            if (!(fabs(v->pair[k].value - cases[i].want[k]) <= 1e-12))
                fail_msg("%s: value %d is %.15g, not %.15g", cases[i].line, k, v->pair[k].value, cases[i].want[k]);
    }
    talk_close(&t);
}

/* A search that ends before it has come near enough marks every pair that may not be among the nearest ones. */
TEST(pairs_that_may_not_be_nearest_are_open)
{
    int unsure = 0;
    for (int restarts = 1; restarts < 3; restarts++) {
        struct talk t;
        char line[60];
        talk_open(&t, OUT_TEXT);
        load_diagonal(&t, "G", 120, graded);
        snprintf(line, sizeof line, "eigs 6 near 1e-4 maxit %d on cpu", restarts);
        assert_true(talk_line(&t, line));
        const struct eigen *v = t.s.eigen;
        for (int64_t k = v->sure; k < v->found; k++) assert_int_equal(v->pair[k].status, EIGEN_OPEN);
        unsure += v->sure < v->found;
        talk_close(&t);
    }
    assert_true(unsure > 0);
}

/* A star has the eigenvalue 0 n - 2 times, and no diagonal: L D L' without row exchanges is not accurate beside 0. */
static void load_star(struct talk *t, int n)
{
    enum { MAX = 80 };
    struct csr A = {0};
    struct err e = {0};
    struct load_info info = {.file = "case"};
    int row[2 * MAX], col[2 * MAX];
    double val[2 * MAX];
    assert_true(n <= MAX);
    for (int i = 1; i < n; i++) {
        row[2 * i - 2] = col[2 * i - 1] = 0;
        row[2 * i - 1] = col[2 * i - 2] = i;
        val[2 * i - 2] = val[2 * i - 1] = 1 + 0.1 * i;
    }
    assert_true(csr_from_triplets(&A, n, n, 2 * n - 2, row, col, val, NULL, NULL, &e));
    assert_true(session_add(&t->s, "star", &A, &info, &e));
}

TEST(no_pair_of_a_singular_matrix_is_open)
{
    enum { N = 64 };
    static const char *const lines[] = {"eigs 6 near 0 on cpu", "eigs 40 near 0 on cpu", "eigs 64 near 0 on cpu"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_star(&t, N);
    for (int i = 0; i < COUNT(lines); i++) {
        double square = 0, want;
        talk_says(&t, lines[i], "nearest to 0");
        const struct eigen *v = t.s.eigen;
        for (int k = 1; k < N; k++) square += (1 + 0.1 * k) * (1 + 0.1 * k);
        for (int k = 0; k < v->found; k++) {
            want = k < N - 2 ? 0 : sqrt(square);
            if (v->pair[k].status == EIGEN_OPEN) fail_msg("%s: pair %d is open: %s", lines[i], k + 1, t.out);
            if (!(fabs(fabs(v->pair[k].value) - want) < 1e-12)) fail_msg("%s: %.15g", lines[i], v->pair[k].value);
        }
        check_pairs(lines[i], v);
        if (strstr(t.out, "(null)")) fail_msg("%s", t.out);
    }
    talk_close(&t);
}

/* Values that are all 0 up to rounding errors of ||A||. */
static double almost_zero(int i)
{
    return i < 60 ? 1e-6 * (i + 1) : 1e16;
}

/* Values that the moved shift makes alike are not copies, and no shift is proposed that would move in the same way. */
TEST(rounding_errors_prove_nothing)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_diagonal(&t, "Z", 100, almost_zero);
    talk_says(&t, "eigs 3 near 0 m 40 on cpu", "nearest to 0");
    if (strstr(t.out, "multiple")) fail_msg("%s", t.out);
    load_star(&t, 64);
    talk_says(&t, "eigs 6 near 0 m 40 on cpu", "nearest to 0");
    if (strstr(t.out, "has a shift nearer")) fail_msg("%s", t.out);
    talk_close(&t);
}

/* ---- real matrices ---- */

static bool load(const char *path, struct csr *A)
{
    struct load_info info = {0};
    struct err e = {0};
    return file_load(path, NULL, NULL, A, &info, &e) && A->rows && A->rows <= ROWS_MAX && A->rows == A->cols &&
           !A->imag;
}

/* Set *value to the spectrum if A is symmetric and finite; the caller frees it. */
static bool spectrum_of(const struct csr *A, double **value)
{
    int n = (int)A->rows;
    double *dense = calloc((size_t)n * (size_t)n, sizeof *dense);
    bool ok = first_not_finite(A->nnz, A->val) == A->nnz;
    assert_non_null(dense);
    for (int i = 0; i < n; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) dense[A->col[k] * n + i] = A->val[k];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) ok = ok && dense[i * n + j] == dense[j * n + i];
    *value = ok ? calloc((size_t)n, sizeof **value) : NULL;
    ok = ok && small_eigen(n, dense, *value, NULL, NULL);
    free(dense);
    return ok;
}

/* The three kinds of search agree with LAPACK. Returns the number of pairs that have not converged. */
static int compare(const char *name, const struct csr *A, const double *spectrum)
{
    struct talk t;
    struct csr copy = {0};
    struct err e = {0};
    struct load_info info = {.file = "case"};
    int64_t n = A->rows, k = n < 6 ? n : 6, open = 0;
    double range = fmax(fabs(spectrum[0]), fabs(spectrum[n - 1]));
    talk_open(&t, OUT_TEXT);
    assert_true(csr_copy(&copy, A, &e) && session_add(&t.s, "A", &copy, &info, &e));
    static const char *const lines[] = {"eigs largest on cpu maxit 30", "eigs smallest on cpu maxit 30"};
    for (int l = 0; l < COUNT(lines); l++) {
        if (!talk_line(&t, lines[l])) fail_msg("%s: %s: %s", name, lines[l], t.err);
        const struct eigen *v = t.s.eigen;
        check_pairs(name, v);
        for (int64_t i = 0; i < k; i++) {
            double want = spectrum[l ? i : n - 1 - i];
            open += v->pair[i].status == EIGEN_OPEN;
            if (v->pair[i].status != EIGEN_OPEN && !(fabs(v->pair[i].value - want) <= 1e-10 * range))
                fail_msg("%s: %s: value %d is %.17g, not %.17g", name, lines[l], (int)i, v->pair[i].value, want);
        }
    }
    talk_close(&t);
    return (int)open;
}

TEST(real_matrices_against_lapack)
{
    const char *folder = collection_folder("eigenvalues of real matrices");
    DIR *all = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    int n = 0, open = 0;
    while (all && (entry = readdir(all))) {
        char path[1200];
        struct csr A = {0};
        struct stat info;
        double *spectrum = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!strstr(path, ".mtx") || stat(path, &info) || info.st_size > FILE_BYTES_MAX) continue;
        if (load(path, &A) && spectrum_of(&A, &spectrum)) {
            open += compare(entry->d_name, &A, spectrum);
            n++;
        }
        free(spectrum);
        csr_free(&A);
    }
    if (all) closedir(all);
    if (!folder) return;
    print_message("%d symmetric matrices; %d pairs have not converged in 30 restarts\n", n, open);
    assert_true(n >= 10 && 2 * open <= n);
}

/* ---- options and refusals ---- */

TEST(refusals_are_one_line)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"eigs wide", "needs a square matrix, but wide is 4 x 9"},
        {"eigs nan", "nan has NaN or inf"},
        {"eigs complex", "eigs of a complex matrix needs a hermitian matrix, but "},
        {"eigs empty", "empty is empty"},
        {"eigs 0 P", "cannot find 0 eigenvalues"},
        {"eigs -2 P", "cannot find -2 eigenvalues"},
        {"eigs 37 P", "P has 36 rows, so it has no 37 eigenvalues"},
        {"eigs 241 B", "at most 240 eigenvalues of a matrix of 900 rows"},
        {"eigs 4 P m 5", "m, the columns of the basis, is 5; it must be 6 to 36"},
        {"eigs P m 501", "it must be 8 to 36"},
        {"eigs P tol 0", "tol is 0"},
        {"eigs P near 1 using sell", "takes no format"},
        {"eigs P largest near 1", "near"},
        {"eigs P on nothing", "nothing"},
        {"eigs P save /nowhere/x.mtx", "/nowhere"},
        {"print vector 1", "no eigenvectors have been computed yet"},
    };
    struct talk t;
    struct csr none = {0};
    struct load_info info = {.file = "case"};
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "eigs", "no matrix");
    assert_true(talk_line(&t,
                          "gen poisson2d 6 as P; gen poisson2d 30 as B; extract P 0 4 0 9 as wide; gen band 9 1 2 as "
                          "upper; load tests/golden/nan.mtx as nan; load tests/golden/complex.mtx as complex"));
    assert_true(csr_new(&none, 0, 0, 0, false, NULL) && session_add(&t.s, "empty", &none, &info, NULL));
    for (int i = 0; i < COUNT(cases); i++) {
        talk_refuses(&t, cases[i].line, cases[i].says);
        if (strchr(t.err, '\n') != strrchr(t.err, '\n')) fail_msg("%s: %s", cases[i].line, t.err);
    }
    assert_null(t.s.eigen);
    talk_close(&t);
}

TEST(missing_libraries_are_named)
{
    struct talk t;
    const char *file = lapack_library.file, *direct[8];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    lapack_library.file = "libnothing.so.0";
    talk_refuses(&t, "eigs",
                 "eigs needs the library libnothing.so.0, which is not installed; install the package liblapack3");
    lapack_library.file = file;
    for (int i = 0; directs[i]; i++) {
        direct[i] = directs[i]->library->file;
        directs[i]->library->file = "libnothing.so.0";
    }
    talk_refuses(&t, "eigs near 0", "CHOLMOD is not installed");
    talk_says(&t, "eigs", "converged");
    for (int i = 0; directs[i]; i++) directs[i]->library->file = direct[i];
    talk_says(&t, "eigs near 0", "converged");
    direct_memory_hook(20000);
    talk_refuses(&t, "eigs near 0", "of memory is free");
    direct_memory_hook(0);
    talk_close(&t);
}

/* A search that ends early says so, with the command to try. */
TEST(open_pairs_are_open)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    talk_says(&t, "eigs 5 smallest maxit 1 on cpu", "not converged after 1 restart. `maxit 8`");
    assert_non_null(strstr(t.out, "`eigs 5 near"));
    assert_true(t.s.eigen->pair[4].status == EIGEN_OPEN && t.s.eigen->pair[4].residual > 1e-8);
    check_pairs("one restart", t.s.eigen);
    talk_says(&t, "eigs 5 smallest m 200 on cpu", "a basis of 200 vectors");
    assert_int_equal(t.s.eigen->pair[4].status, EIGEN_CONVERGED);
    talk_close(&t);
}

/* The count agrees with the pairs; a search that was told to see one copy of each value is found out. */
TEST(counts_verify_the_pairs)
{
    static const struct {
        const char *line, *says;
        int64_t verified;
    } cases[] = {
        {"eigs 4 smallest verify on cpu", "eigenvalues below 0.0", 3},
        {"eigs 4 largest verify on cpu", "eigenvalues above 7.9", 3},
        {"eigs 5 near 0 verify on cpu", "eigenvalues between -0.0", 4},
        {"eigs 6 near 2.02 verify on cpu", "none was missed there", 4}, /* three double values */
        {"eigs 4 smallest tol 1e-17 verify on cpu", "where 3 of the pairs lie: none was missed there",
         3}, /* rounding */
        {"eigs 1 near 0 verify on cpu", "Not verified: no gap", -1},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    for (int i = 0; i < COUNT(cases); i++) {
        talk_says(&t, cases[i].line, cases[i].says);
        const struct eigen *v = t.s.eigen;
        if (v->verified != cases[i].verified || v->counted != v->verified)
            fail_msg("%s: %d pairs, %d counted", cases[i].line, (int)v->verified, (int)v->counted);
    }
    talk_says(&t, "gen poisson2d 5; eigs verify", "The basis spans the whole space");
    talk_close(&t);
}

/* 1, 1, 1, 2, 3, 4, ... */
static double three_copies_of_1(int i)
{
    return i < 3 ? 1 : i - 1;
}

/* One start vector sees one copy of each eigenvalue of a diagonal matrix, until rounding errors show others; the count
   shows the two others. */
TEST(a_count_finds_missing_copies)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_diagonal(&t, "D", 150, three_copies_of_1);
    talk_says(&t, "eigs 4 smallest quick verify tol 1e-3 on cpu",
              "The signs of the pivots count 5 eigenvalues below 3.5, where 3 of the pairs lie: some were missed");
    talk_says(&t, "eigs 6 smallest verify on cpu",
              "The signs of the pivots count 5 eigenvalues below 3.5, where 5 of the pairs lie: none was missed there");
    talk_says(&t, "eigs 3 smallest verify on cpu", "Not verified: no gap separates the pairs");
    talk_close(&t);
}

/* Pairs whose residuals leave open which of them is nearer have no gap between them, nor have pairs that differ by
   rounding errors only, and nothing is known about the pairs from the first open one on. */
TEST(a_gap_exceeds_the_residuals)
{
    static const struct {
        double value[4], residual;
        const char *status; /* c: converged, r: rounding, o: open */
        int64_t verified, counted;
        double to;
    } cases[] = {
        {{1, 2, 3, 4}, 1e-9, "cccc", 3, 3, 3.5},
        {{1, 2, 3, 4}, 0.24, "cccc", 3, 3, 3.5}, /* 2 (0.24 + 0.24) < 1 */
        {{1, 2, 3, 4}, 0.26, "cccc", -1, -1, 0},
        {{1, 2, 2.5, 2.6}, 0.1, "cccc", 2, 2, 2.25},
        {{1, 2, 3, 3 + 1e-8}, 0, "cccc", 2, 2, 2.5}, /* 4e-9 ||A|| = 2e-7 */
        {{1, 1 + 1e-8, 1 + 2e-8, 1 + 3e-8}, 0, "cccc", -1, -1, 0},
        {{1, 2, 3, 4}, 1e-9, "ccco", 2, 2, 2.5},
        {{1, 2, 3, 4}, 1e-9, "cooo", -1, -1, 0},
        {{1, 2, 3, 4}, 1e-9, "crrr", 3, 3, 3.5}, /* rounding errors end a pair, too */
        {{1, 2, 3, 4}, 1e-9, "rrrr", 3, 3, 3.5},
        {{1, 2, 3, 4}, 1e-9, "rcrc", 3, 3, 3.5},
        {{1, 2, 3, 4}, 1e-9, "crro", 2, 2, 2.5},
        {{1, 2, 3, 4}, 1e-9, "rroc", 1, 1, 1.5},
        {{1, 2, 3, 4}, 1e-9, "occc", -1, -1, 0},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_diagonal(&t, "D", 50, from_one);
    for (int i = 0; i < COUNT(cases); i++) {
        struct eigen_pair pair[4];
        struct eigen v = {.A = &t.s.current->csr, .o.part = EIGEN_SMALLEST, .found = 4, .pair = pair, .norm = 50};
        struct err e = {0};
        v.verified = v.counted = -1;
        for (int k = 0; k < 4; k++)
            pair[k] = (struct eigen_pair){.value = cases[i].value[k],
                                          .residual = cases[i].residual,
                                          .status = cases[i].status[k] == 'c'   ? EIGEN_CONVERGED
                                                    : cases[i].status[k] == 'r' ? EIGEN_ROUNDED
                                                                                : EIGEN_OPEN};
        assert_true(eigen_verify(&v, &e));
        if (v.verified != cases[i].verified || v.counted != cases[i].counted)
            fail_msg("case %d: %d pairs, %d counted", i, (int)v.verified, (int)v.counted);
        assert_int_equal(strstr(v.unverified, "no gap") != NULL, cases[i].verified < 0);
        if (cases[i].verified > 0 && fabs(v.to - cases[i].to) > 1e-7) fail_msg("case %d: below %.17g", i, v.to);
    }
    talk_close(&t);
}

/* The largest inner product counts, whichever vectors it is of; Rayleigh quotients and residuals by hand. */
TEST(pairs_are_measured)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_diagonal(&t, "D", 3, from_one);
    double vector[] = {0, 0, 2, 0.6, 0.8, 0, 1, 0, 0};
    struct eigen_pair pair[3] = {{0}};
    struct eigen v = {.A = &t.s.current->csr,
                      .o = {.part = EIGEN_SMALLEST, .tol = 1e-8},
                      .found = 3,
                      .pair = pair,
                      .vector = vector,
                      .norm = 3};
    struct err e = {0};
    assert_true(eigen_measure(&v, &e));
    assert_true(pair[0].value == 1 && fabs(pair[1].value - 1.64) < 1e-15 && pair[2].value == 3);
    assert_true(pair[0].residual == 0 && fabs(pair[1].residual - 0.48) < 1e-15 && pair[2].residual == 0);
    assert_true(vector[0] == 1 && vector[3] == 0.6 && vector[8] == 1);
    assert_true(fabs(v.orthogonality - 0.6) < 1e-15);
    assert_int_equal(pair[0].status, EIGEN_CONVERGED);
    assert_int_equal(pair[1].status, EIGEN_OPEN);
    talk_close(&t);
}

/* An inverse that would hide the other eigenvalues is that of a shift that moved aside. */
TEST(a_shift_moves_away_from_an_eigenvalue)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_diagonal(&t, "D", 50, from_one);
    talk_says(&t, "eigs 3 near 7.00000000001 on cpu", "A - S I is singular or nearly so at S = 7.00000000001");
    assert_true(fabs(t.s.eigen->pair[0].value - 7) < 1e-14 && fabs(t.s.eigen->pair[1].value - 7) > 0.9);
    assert_true(talk_line(&t, "drop all"));
    talk_forget(&t);
    load_diagonal(&t, "D", 50, from_one);
    talk_says(&t, "eigs 3 near 7.001 on cpu", "7 eigenvalues of A are below 7.001");
    assert_null(strstr(t.out, "A - S I is singular"));
    talk_close(&t);
}

/* A basis of at least 40 columns, and of 20 more than twice the pairs. */
TEST(bases_grow_with_the_pairs)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    talk_says(&t, "eigs 3 near 0 on cpu", "a basis of 40 vectors");
    talk_says(&t, "eigs 10 near 0 on cpu", "a basis of 40 vectors");
    talk_says(&t, "eigs 30 near 0 on cpu", "a basis of 80 vectors");
    talk_close(&t);
}

static double small_and_large(int i)
{
    return i ? i : 1e-6;
}

/* A restart keeps 40 % of the columns beyond the wanted ones: 4 + 14 of 40. A value of 1e-6 beside others of 1 to 149
   is found to rounding errors, and a second start vector takes a restart, also if all values are 0. */
TEST(restarts_keep_columns)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30; eigs 4 smallest quick on cpu"));
    assert_true(t.s.eigen->restarts > 2 && t.s.eigen->products == 40 + 22 * t.s.eigen->restarts);
    load_diagonal(&t, "D", 150, small_and_large);
    assert_true(talk_line(&t, "eigs 1 smallest D on cpu"));
    assert_int_equal(t.s.eigen->pair[0].status, EIGEN_ROUNDED);
    assert_true(t.s.eigen->pair[0].residual < 128 * DBL_EPSILON * 149 && fabs(t.s.eigen->pair[0].value - 1e-6) < 1e-14);
    talk_says(&t, "let Z = poisson2d - poisson2d; eigs 1 Z on cpu", "A second start vector");
    assert_true(t.s.eigen->restarts >= 1);
    talk_close(&t);
}

/* For a shift next to 4, all diagonal entries of the first matrix are rounding errors. For a shift of 3, L D L' without
   row exchanges has pivots of all sizes in the second, and counts 188 eigenvalues in place of 187. */
TEST(unreliable_pivots_count_nothing)
{
    static const struct {
        const char *line;
        double middle;
    } cases[] = {{"gen poisson2d 30", 4 + 0x1p-41}, {"gen poisson3d 12", 3}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        struct err e = {0};
        struct eigen_pair pair[] = {{.value = cases[i].middle - 0.5, .status = EIGEN_CONVERGED},
                                    {.value = cases[i].middle + 0.5, .status = EIGEN_CONVERGED}};
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, cases[i].line));
        struct eigen v = {.A = &t.s.current->csr, .o.part = EIGEN_SMALLEST, .found = 2, .pair = pair, .norm = 12};
        v.verified = v.counted = -1;
        assert_true(eigen_verify(&v, &e));
        if (!strstr(v.unverified, "not reliable: L D L' exchanges no rows"))
            fail_msg("%d counted, %s", (int)v.counted, v.unverified);
        assert_int_equal(v.verified, -1);
        talk_close(&t);
    }
}

/* ---- every kernel, and the same bits ---- */

TEST(every_kernel_multiplies)
{
    struct talk t;
    int n = 0;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6"));
    /* a basis of 8 vectors needs restarts */
    for (int i = 0; kernels[i]; i++) {
        char line[200];
        if (kernels[i]->vendor || !kernels[i]->product[P_F64]) continue;
        snprintf(line, sizeof line, "eigs 2 m 8 tol 1e-7 kernel %s on %s force", kernels[i]->name,
                 kernels[i]->host ? "cpu" : "emu");
        if (!talk_line(&t, line)) { /* the kernel's format or the kernel does not suit the matrix */
            assert_non_null(strstr(t.err, kernels[i]->name));
            continue;
        }
        double want = 8 * cos(acos(-1) / 14) * cos(acos(-1) / 14);
        if (fabs(t.s.eigen->pair[0].value - want) > 1e-12) fail_msg("%s: %.17g", line, t.s.eigen->pair[0].value);
        n++;
    }
    assert_true(n > 40);
    talk_close(&t);
}

TEST(two_searches_have_the_same_bits)
{
    static const char *const lines[] = {"eigs 5 on cpu", "eigs 5 smallest on emu", "eigs 5 near 3.3 on cpu"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 15"));
    for (int i = 0; i < COUNT(lines); i++) {
        double vector[225];
        struct eigen_pair pair[5];
        assert_true(talk_line(&t, lines[i]));
        memcpy(pair, t.s.eigen->pair, sizeof pair);
        memcpy(vector, t.s.eigen->vector + 4 * 225, sizeof vector);
        assert_true(talk_line(&t, lines[i]));
        for (int k = 0; k < 5; k++) assert_true(pair[k].value == t.s.eigen->pair[k].value);
        assert_memory_equal(vector, t.s.eigen->vector + 4 * 225, sizeof vector);
    }
    talk_close(&t);
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

/* The number of ticks until the search ends; the pairs that Ctrl-C leaves at tick `at` are checked. */
static int64_t stopped(struct matrix *m, enum eigen_part part, double shift, const char *device, const struct mat *mat,
                       const struct kernel *k, int64_t at, int *kept)
{
    struct stopper stopper = {{stop_at, NULL}, 0, at};
    struct eigen_matrix A = {
        .name = m->name, .csr = &m->csr, .mat = mat, .kernel = k, .dev = device_open(device, NULL)};
    struct eigen_options o = {
        .part = part, .shift = shift, .pairs = 4, .restarts = 100, .tol = 1e-8, .seed = 1, .watch = &stopper.watch};
    struct eigen *v = NULL;
    struct err e = {0};
    loop_check_all(true);
    struct watch *before = loop_enter(&stopper.watch);
    bool ok = eigen_find(&v, &A, &o, &e);
    loop_enter(before);
    loop_check_all(false);
    if (!ok && e.code != E_CANCELLED) fail_msg("%s at tick %d: %s", device, (int)at, e.text);
    if (ok && v->cancelled) {
        assert_true(v->found == 4 && v->vector);
        check_pairs("after Ctrl-C", v);
        ++*kept;
    }
    eigen_free(v);
    return stopper.ticks;
}

TEST(ctrl_c_keeps_the_pairs)
{
    static const char *const devices[] = {"cpu", "emu"};
    static const struct {
        enum eigen_part part;
        double shift; /* 4 is a multiple eigenvalue of the matrices: they are factored several times */
    } parts[] = {{EIGEN_LARGEST, 0}, {EIGEN_SMALLEST, 0}, {EIGEN_NEAR, 0}, {EIGEN_NEAR, 4}};
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; i < COUNT(parts); i++) {
            enum eigen_part part = parts[i].part;
            double shift = parts[i].shift;
            struct talk t;
            char line[80];
            talk_open(&t, OUT_TEXT);
            assert_true(talk_line(&t, d ? "gen poisson2d 7" : "gen poisson2d 10"));
            snprintf(line, sizeof line, "spmv using csr on %s reps 1", devices[d]);
            assert_true(talk_line(&t, line));
            struct matrix *m = t.s.current;
            struct device *dev = device_open(devices[d], NULL);
            struct product *p = session_product(&t.s, form_of(m, format_find("csr"), NULL, P_F64), NULL);
            const struct mat *mat = session_mat(&t.s, p, dev, NULL);
            const struct kernel *k = kernel_default(format_find("csr"), &m->csr, dev);
            int kept = 0;
            int64_t ticks = stopped(m, part, shift, devices[d], mat, k, INT64_MAX, &kept);
            assert_int_equal(kept, 0);
            for (int n = 1; n < TRIES; n++) stopped(m, part, shift, devices[d], mat, k, 1 + n * ticks / TRIES, &kept);
            if (!kept) fail_msg("%s: Ctrl-C left no pairs in %d tries", devices[d], TRIES);
            talk_close(&t);
        }
}

/* ---- what the session keeps ---- */

TEST(vectors_are_kept)
{
    struct talk t;
    char file[] = "/tmp/test_eigs.XXXXXX", line[200];
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6 as A"));
    talk_says(&t, "eigs 3 near 0", "nearest to 0");
    talk_says(&t, "print vector 2 0:3", "the eigenvector of 0.951");
    talk_refuses(&t, "print vector 4", "vector 4 is outside 1 .. 3");
    talk_refuses(&t, "print vector 0", "count from 1");
    talk_refuses(&t, "print vector 1 A", "takes no matrix");
    snprintf(line, sizeof line, "eigs 3 A save %s force", file);
    talk_says(&t, line, "one per column");
    snprintf(line, sizeof line, "load %s as V; let G = V'*V; print 0 0 G", file);
    talk_says(&t, line, "G(0, 0) = ");
    const struct csr *G = &t.s.current->csr;
    assert_true(G->rows == 3 && G->cols == 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) assert_true(fabs(G->val[csr_find(G, i, j)] - (i == j)) < 1e-13);
    assert_true(talk_line(&t, "drop A"));
    assert_null(t.s.eigen);
    unlink(file);
    talk_close(&t);
}
