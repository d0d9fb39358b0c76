/* Direct solvers: every method on generated matrices and on the collection of real matrices; singular and rectangular
   systems; the choice of a method; limits of memory, missing libraries, Ctrl-C; and x as the truth for later solves. */
#include "base/mem.h"
#include "base/registry.h"
#include "base/shared.h"
#include "base/watch.h"
#include "direct/direct.h"
#include "direct/direct_state.h"
#include "files/file.h"
#include "files/load_info.h"
#include "kits/collection.h"
#include "kits/cudss_fake.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "solvers/solve.h"

#include <complex.h>
#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 60000 };

static bool is_symmetric(const struct csr *A)
{
    if (A->rows != A->cols) return false;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t at = csr_find(A, A->col[k], i);
            if (at < 0 || A->val[at] != A->val[k] || (A->imag && A->imag[at] != -A->imag[k])) return false;
        }
    return true;
}

/* b is random, or A * ones. */
static double *right_side(const struct csr *A, bool ones)
{
    int64_t parts = A->imag ? 2 : 1;
    uint64_t seed = 1;
    double *b = mem_new(A->rows * parts, sizeof *b, "b", NULL), *x = mem_new(A->cols * parts, sizeof *x, "x", NULL);
    assert_true(b && x);
    for (int64_t i = 0; i < A->cols * parts; i++) x[i] = i % parts == 0;
    for (int64_t i = 0; i < A->rows * parts; i++) b[i] = random_unit(&seed);
    if (ones) reference_spmv(A, 1, x, 0, b, P_F64, NULL);
    mem_free(x);
    return b;
}

/* NULL, with the error in *e, if the solve fails. */
static struct direct_answer *solve(const struct csr *A, const struct direct_method *m, bool ones, struct err *e)
{
    double *b = right_side(A, ones);
    struct direct_options o = {.method = m, .b = b, .known_ones = ones, .symmetric = is_symmetric(A)};
    struct direct_answer *a = NULL;
    *e = (struct err){0};
    if (!direct_solve(&a, A, &o, e)) assert_null(a);
    mem_free(b);
    return a;
}

/* ---- real matrices ---- */

/* The numbers of an answer do not contradict each other. */
static void check_answer(const char *name, const struct csr *A, const struct direct_answer *a)
{
    const char *m = a->method->name;
    const struct direct_factors *f = &a->factors;
    if (!*a->why) fail_msg("%s by %s: no reason", name, m);
    if (!a->x != !!*f->unusable) fail_msg("%s by %s: %s, but x is %s", name, m, a->why, a->x ? "there" : "missing");
    if (f->rank > A->cols || f->rank > A->rows) fail_msg("%s by %s: rank %d", name, m, (int)f->rank);
    if (f->positive >= 0 && f->positive + f->negative != A->rows) fail_msg("%s by %s: inertia", name, m);
    if (!(a->plan.nnz >= 0) || !(a->plan.bytes > 0) || !a->plan.ordering) fail_msg("%s by %s: no plan", name, m);
    if (a->accurate && !a->x) fail_msg("%s by %s: accurate without x", name, m);
    if (a->accurate && isnan(a->normal) && !(a->residual_true <= 1e-6) && !(a->correction <= 1e-6))
        fail_msg("%s by %s: solved, but the residual is %g", name, m, a->residual_true);
    if (a->residual_true > 10 * a->residual + 1e-16)
        fail_msg("%s by %s: refinement made the residual larger, %g to %g", name, m, a->residual, a->residual_true);
    if (A->rows != A->cols && !a->accurate) fail_msg("%s by %s: %s", name, m, a->why);
    if (f->nnz > 2 * a->plan.nnz && a->plan.bound) fail_msg("%s by %s: more nonzeros than the bound", name, m);
}

/* Two accurate solutions of one system agree as far as its condition allows. Returns false if they cannot be
   compared. */
static bool check_agreement(const char *name, const struct direct_answer *a, const struct direct_answer *b)
{
    double d = 0, size = 0, condition = fmax(a->condition, b->condition);
    if (!a->accurate || !b->accurate || !a->unique || !b->unique || !(condition < 1e10)) return false;
    for (int64_t i = 0; i < a->x_numbers; i++) {
        d = fmax(d, fabs(a->x[i] - b->x[i]));
        size = fmax(size, fabs(a->x[i]));
    }
    if (d > 1e-13 * condition * size)
        fail_msg("%s: %s and %s differ by %g of %g, condition %g", name, a->method->name, b->method->name, d, size,
                 condition);
    if (!(a->condition < 30 * b->condition && b->condition < 30 * a->condition))
        fail_msg("%s: the condition is %g by %s and %g by %s", name, a->condition, a->method->name, b->condition,
                 b->method->name);
    return true;
}

/* Solve with every method that takes A, and without a method. Returns the number of solutions that were compared. */
static int solve_all(const char *name, const struct csr *A)
{
    struct err e;
    int compared = 0;
    struct direct_answer *chosen = solve(A, NULL, false, &e);
    if (!chosen) fail_msg("%s: %s", name, e.text);
    check_answer(name, A, chosen);
    for (int i = 0; directs[i]; i++) {
        struct direct_answer *a = solve(A, directs[i], false, &e);
        bool takes = (A->rows == A->cols || directs[i]->rectangular) && (is_symmetric(A) || !directs[i]->hermitian);
        if (!a != !takes) fail_msg("%s by %s: %s", name, directs[i]->name, e.text);
        if (!a) continue;
        check_answer(name, A, a);
        compared += check_agreement(name, chosen, a);
        if (a->accurate && a->unique && !chosen->accurate) fail_msg("%s: %s solves it", name, a->method->name);
        direct_answer_free(a);
    }
    direct_answer_free(chosen);
    return compared;
}

static bool load(const char *path, struct csr *A)
{
    struct load_info info = {0};
    struct err e = {0};
    return file_load(path, NULL, NULL, A, &info, &e) && A->rows && A->cols;
}

TEST(every_method_on_real_matrices)
{
    const char *folder = collection_folder("the direct solvers on real matrices");
    DIR *all = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    int n = 0, compared = 0;
    while (all && (entry = readdir(all))) {
        char path[1200];
        struct csr A = {0};
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!strstr(path, ".mtx") || stat(path, &info) || info.st_size > FILE_BYTES_MAX) continue;
        if (load(path, &A)) compared += solve_all(entry->d_name, &A), n++;
        csr_free(&A);
    }
    if (all) closedir(all);
    if (!folder) return;
    print_message("%d matrices by every direct solver, %d solutions compared\n", n, compared);
    assert_true(n >= 10 && compared > n);
}

/* ---- generated matrices ---- */

static const struct direct_answer *answer_of(struct talk *t, const char *line, const char *says)
{
    talk_says(t, line, says);
    return t->s.direct;
}

TEST(the_choice_follows_from_the_matrix)
{
    static const struct {
        const char *make, *method;
    } cases[] = {{"gen poisson2d 30", "cholmod"},
                 {"gen circuit 500", "klu"},
                 {"gen band 300 1 1", "klu"},
                 {"gen dense 100", "umfpack"},
                 {"load tests/files/hermitian.mtx", "cholmod"},
                 {"load tests/files/indefinite.mtx", "cholmod"}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, cases[i].make));
        const struct direct_answer *a = answer_of(&t, "solve direct b random", "backward error");
        if (!a || strcmp(a->method->name, cases[i].method))
            fail_msg("%s: by %s", cases[i].make, a ? a->method->name : "nothing");
        assert_true(a->accurate);
        talk_close(&t);
    }
}

/* With supernodes, an indefinite matrix goes to LU, but cholmod by name still counts the signs. */
TEST(indefinite_matrices_with_fill)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson3d 12 as A; let B = A - 3*I"));
    talk_says(&t, "solve direct B b random", "cholmod: not positive definite");
    assert_true(t.s.direct->accurate);
    talk_says(&t, "solve direct B cholmod b random", "L D L'");
    /* without row exchanges, the pivots have sizes up to 1e16 */
    assert_false(t.s.direct->accurate);
    assert_non_null(strstr(t.out, "eigenvalues      not known: the signs of the pivots are not reliable"));
    talk_says(&t, "let C = A - 0.5*I; solve direct C cholmod b random", "solved: backward error");
    /* the eigenvalues of A are sums of three of those of a line */
    int below = 0;
    for (int i = 1; i <= 12; i++)
        for (int j = 1; j <= 12; j++)
            for (int k = 1; k <= 12; k++)
                below += 6 - 2 * (cos(acos(-1) * i / 13) + cos(acos(-1) * j / 13) + cos(acos(-1) * k / 13)) < 0.5;
    assert_true(below > 0);
    assert_int_equal(t.s.direct->factors.negative, below);
    assert_int_equal(t.s.direct->factors.positive, 12 * 12 * 12 - below);
    assert_non_null(strstr(t.out, " 0 zero: indefinite"));
    talk_close(&t);
}

TEST(definiteness_is_counted)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/indefinite.mtx; solve direct cholmod"));
    assert_int_equal(t.s.direct->factors.positive, 1);
    assert_int_equal(t.s.direct->factors.negative, 2);
    talk_says(&t, "gen poisson3d 12 as A; let N = -1*A; solve direct N b random", "-L L'");
    assert_true(t.s.direct->accurate && t.s.direct->factors.negative == 1728 && t.s.direct->factors.positive == 0);
    talk_says(&t, "gen poisson2d 5 as A2; let M = -1*A2; solve direct M",
              "0 positive, 25 negative, 0 zero: negative definite");
    talk_says(&t, "gen poisson2d 40; solve direct cholmod", "1600 positive, 0 negative, 0 zero: positive definite");
    talk_close(&t);
}

/* x is as good as fp64 allows, but its residual exceeds tol: the system does not count as solved. */
TEST(the_verdict_compares_the_true_residual_with_tol)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20 as P; let N = P - 4.000000001*I"));
    talk_says(&t, "solve direct N b random", "larger than tol 1e-08: A is ill-conditioned, so ||A|| ||x|| is");
    assert_true(t.s.direct->accurate && !t.s.direct->met && t.s.direct->residual_true > 2e-8);
    assert_non_null(strstr(t.out, "solved           no"));
    talk_says(&t, "solve direct P b random", "solved           yes");
    assert_true(t.s.direct->met);
    talk_close(&t);
}

/* A factorisation without x is the last solve all the same. */
TEST(a_failed_solve_has_no_x)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 3 as P; solve direct P; let Z = P - P; solve direct Z klu b ones"));
    talk_refuses(&t, "print x", "found no x: singular");
    talk_refuses(&t, "print r", "found no x: singular");
    talk_refuses(&t, "why stagnates", "the last solve was direct: klu does not iterate");
    assert_true(talk_line(&t, "solve cg P on cpu; print x"));
    talk_close(&t);
}

/* The true rank, and words that do not claim more than a least-squares solution. */
TEST(singular_matrices_get_honest_words)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/golden/singular.mtx"));
    talk_says(&t, "solve direct spqr b random", "least squares: rank 3 of 4");
    assert_true(!t.s.direct->met && t.s.direct->residual_true > 1e-3);
    talk_says(&t, "solve direct b random", "rank 3 of 4");
    assert_string_equal(t.s.direct->method->name, "spqr");
    talk_says(&t, "solve direct klu", "the condition exceeds 1/eps");
    assert_true(talk_line(&t, "gen poisson2d 3; let Z = poisson2d - poisson2d"));
    talk_says(&t, "solve direct Z klu b ones", "singular");
    talk_says(&t, "solve direct Z umfpack b ones", "singular");
    talk_says(&t, "solve direct Z b ones", "rank 0 of 9");
    assert_true(!t.s.direct->met && t.s.direct->residual_true == 1);
    talk_says(&t, "prune Z as E; solve direct E", "at most 0 nonzeros; 0 operations"); /* not "-nan times those of A" */
    talk_close(&t);
}

/* In exact arithmetic, the first matrix has the determinant 1, and the second is singular: a factorisation in fp64
   proves neither a rank nor the signs of the eigenvalues. */
TEST(rounding_errors_prove_nothing)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/unimodular.mtx as U; load tests/files/laplacian3.mtx as L"));
    talk_says(&t, "solve direct U b random",
              "rank 1 of 2 to fp64: infinitely many x have this residual, up to rounding");
    assert_non_null(strstr(t.out, "klu: singular to fp64: column 1"));
    assert_non_null(strstr(t.out, "1 to fp64 of the 2 x 2 matrix"));
    talk_says(&t, "solve direct umfpack U b random", "singular to fp64: 1 of 2 pivots are 0");
    talk_says(&t, "solve direct cholmod L b random", "not known: A is nearly singular to fp64");
    assert_null(strstr(t.out, "positive"));
    talk_says(&t, "solve gmres U on cpu b random", "A is singular to fp64");
    talk_says(&t, "solve gmres U on cpu f32 b random", "A is singular to fp32");
    talk_close(&t);
}

/* 1e200 and 1e-310 times good matrices: squares of the numbers leave the range of fp64. */
TEST(numbers_of_any_size_are_factored)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"load tests/files/hermitian.mtx as H; let A = 1e200*H; solve direct cholmod A b random",
         "3 positive, 0 negative"},
        {"gen poisson2d 5 as P; let A = 1e-310*P; solve direct cholmod A", "25 positive, 0 negative"},
        {"gen poisson2d 5 as P; let A = 1e-310*P; solve direct spqr A", "15 correct digits of x"},
        {"gen poisson2d 5 as P; let A = 1e200*P; solve direct umfpack A b random", "15 are correct"},
        {"gen random 30 4 as R; let A = 1e300*R; solve direct klu A b random", "are correct"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        talk_says(&t, cases[i].line, cases[i].says);
        assert_true(t.s.direct->met);
        talk_close(&t);
    }
}

/* x of about 1e320: neither a residual nor a condition is to blame. */
TEST(an_x_beyond_fp64_is_said)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 2 as P; let A = 1e-320*P; solve direct A b random",
              "not solved: numbers of x are beyond the largest one that fp64 can store");
    assert_non_null(strstr(t.out, "not known: numbers of x are beyond"));
    assert_null(strstr(t.out, "nearly singular"));
    assert_null(strstr(t.out, "-nan"));
    talk_close(&t);
}

/* Hilbert matrices: how many digits the condition leaves, also if refinement converges. */
TEST(a_large_condition_is_said)
{
    static const struct {
        int n;
        const char *line, *says;
    } cases[] = {
        {5, "solve direct", "1 refinement"},
        {10, "solve direct", "only about 2 digits of x can be trusted"},
        {11, "solve direct", "the condition is almost 1/eps, so x may have no correct digit"},
        {12, "solve direct", "the condition exceeds 1/eps, so x may have no correct digit; `solve direct spqr`"},
        {12, "solve direct klu", "the condition exceeds 1/eps, so x may have no correct digit; `solve direct spqr`"},
        {12, "solve direct umfpack", "the condition exceeds 1/eps, so x may have no correct digit"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int k = 0; k < COUNT(cases); k++) {
        char path[64], line[200];
        int n = cases[k].n;
        snprintf(path, sizeof path, "/tmp/warpspy-%d.mtx", (int)getpid());
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, n * n);
        for (int i = 0; i < n * n; i++) fprintf(f, "%d %d %.17g\n", i / n + 1, i % n + 1, 1.0 / (i / n + i % n + 1));
        assert_int_equal(fclose(f), 0);
        snprintf(line, sizeof line, "load %s as H%d; %s", path, k, cases[k].line);
        talk_says(&t, line, "solved");
        bool warns = strstr(t.out, "of x can be trusted") || strstr(t.out, "no correct digit");
        assert_true(warns == (n > 5));
        if (n > 5 && !strstr(t.out, cases[k].says)) fail_msg("%d, %s: %s", n, cases[k].line, t.out);
        assert_int_equal(remove(path), 0);
    }
    talk_close(&t);
}

TEST(rectangular_systems)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 as A; extract A 0 100 0 60 as tall; extract A 0 60 0 100 as wide"));
    talk_says(&t, "solve direct tall b random", "least squares: no x satisfies all equations");
    assert_true(t.s.direct->unique && t.s.direct->normal < 1e-12);
    talk_says(&t, "solve direct tall", "solved: backward error");
    assert_true(t.s.direct->error_known < 1e-10);
    talk_says(&t, "solve direct wide b random", "the least norm");
    assert_false(t.s.direct->unique);
    talk_says(&t, "print x", "the solution of `solve direct` by spqr");
    talk_refuses(&t, "solve direct tall klu", "klu needs a square matrix");
    talk_refuses(&t, "solve direct tall cholmod", "cholmod needs a square matrix");
    talk_close(&t);
}

/* ---- complex systems, by hand ---- */

static void load_complex(struct talk *t, const char *name, const char *size_and_entries)
{
    char file[1200], line[300];
    int n = snprintf(file, sizeof file, "%%%%MatrixMarket matrix coordinate complex general\n%s", size_and_entries);
    snprintf(line, sizeof line, "load %s as %s", write_file("complex.mtx", file, (size_t)n), name);
    assert_true(talk_line(t, line));
}

static void check_numbers(const char *what, const double *is, int n, const double *want)
{
    for (int i = 0; i < n; i++)
        if (fabs(is[i] - want[i]) > 1e-14) fail_msg("%s: number %d is %.17g, not %.17g", what, i, is[i], want[i]);
}

/* Without `b`, b is A times ones, and ones have no imaginary part. */
TEST(complex_systems_have_the_default_b)
{
    static const char *const lines[] = {"solve direct C", "solve direct C klu", "solve direct C umfpack",
                                        "solve direct C spqr"};
    static const double sums[] = {2, 0, 5, -1, 4, 5}, ones[] = {1, 0, 1, 0, 1, 0};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_complex(&t, "C", "3 3 7\n1 1 2 1\n1 2 0 -1\n2 1 1 0\n2 2 3 -2\n2 3 1 1\n3 2 0 2\n3 3 4 3\n");
    for (int i = 0; i < COUNT(lines); i++) {
        talk_says(&t, lines[i], "solved: backward error");
        const struct direct_answer *a = t.s.direct;
        check_numbers(lines[i], a->b, 6, sums);
        check_numbers(lines[i], a->x, 6, ones);
        assert_true(a->known && a->error_known < 1e-14);
        /* ||A||_1 ||A^-1||_1 by numpy */
        if (fabs(a->condition - 4.065565900965306) > 1e-13) fail_msg("%s: condition %.17g", lines[i], a->condition);
    }
    talk_says(&t, "solve direct C b ones", "solved: backward error");
    /* || |A^-1| (|A| |x| + |b|) || / ||x|| by numpy */
    if (fabs(t.s.direct->skeel - 2.9804986575685293) > 1e-13) fail_msg("condition of x %.17g", t.s.direct->skeel);
    direct_memory_hook(191);
    talk_refuses(&t, "solve direct C klu", "a copy of the matrix for the direct solver takes 192 B"); /* 7 24 + 3 8 */
    direct_memory_hook(0);
    talk_close(&t);
}

/* The last column of A^-1, 100 e^(2 pi i k / 7) above 1/2, is found only by the signs of complex numbers. The row with
   the largest error is found only by the weight of each row: w = 2 |b|, so || |A^-1| w || / ||x|| = 2. */
TEST(complex_conditions_are_found)
{
    static const char *const libraries[] = {"klu", "umfpack", "spqr"};
    char file[1000], line[400];
    struct talk t;
    int n = snprintf(file, sizeof file, "8 8 15\n8 8 2 0\n");
    for (int k = 1; k < 8; k++) {
        double angle = 2 * acos(-1) * k / 7;
        n += snprintf(file + n, sizeof file - (size_t)n, "%d %d 0.5 0\n%d 8 %.17g %.17g\n", k, k, k, -100 * cos(angle),
                      -100 * sin(angle));
    }
    talk_open(&t, OUT_TEXT);
    load_complex(&t, "A", file);
    load_complex(&t, "J", "4 4 4\n1 1 0 1\n2 2 0 1\n3 3 0 1\n4 4 0 1\n");
    static const char b[] = "%%MatrixMarket matrix array complex general\n4 1\n1 0\n1000 0\n1 0\n1 0\n";
    const char *path = write_file("b.mtx", b, sizeof b - 1);
    for (int i = 0; i < COUNT(libraries); i++) {
        snprintf(line, sizeof line, "solve direct A %s", libraries[i]);
        assert_true(talk_line(&t, line));
        if (fabs(t.s.direct->condition / (702 * 700.5) - 1) > 1e-12)
            fail_msg("%s: condition %.17g", libraries[i], t.s.direct->condition);
        snprintf(line, sizeof line, "solve direct J %s b %s", libraries[i], path);
        if (!talk_line(&t, line)) fail_msg("%s", t.err);
        if (fabs(t.s.direct->skeel - 2) > 1e-14) fail_msg("%s: %.17g", libraries[i], t.s.direct->skeel);
    }
    talk_close(&t);
}

/* The same matrix as a real one and as a complex one with imaginary parts of 0: the same factors, and 4 times as many
   operations. */
TEST(complex_factors_are_those_of_the_real_matrix)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson3d 12 as P; let N = -1*P"));
    struct csr A = t.s.current->csr, Z = A;
    double *b = mem_zero(2 * A.rows, sizeof *b, "b", NULL);
    Z.imag = mem_zero(A.nnz, sizeof *Z.imag, "zeros", NULL);
    assert_true(b && Z.imag);
    b[0] = 1;
    for (int i = 0; directs[i]; i++) {
        struct direct_answer *x = NULL, *z = NULL;
        struct direct_options o = {.method = directs[i], .b = b, .symmetric = true};
        assert_true(direct_solve(&x, &A, &o, NULL) && direct_solve(&z, &Z, &o, NULL));
        assert_true(x->accurate && z->accurate);
        assert_string_equal(z->factors.kind, directs[i]->hermitian ? "-L L'" : x->factors.kind);
        assert_int_equal(z->factors.negative, x->factors.negative);
        double ratio = z->factors.flops / x->factors.flops;
        if (!(ratio > 3.9 && ratio < 9)) fail_msg("%s: %g times the operations", directs[i]->name, ratio);
        direct_answer_free(x);
        direct_answer_free(z);
    }
    mem_free(Z.imag);
    mem_free(b);
    talk_close(&t);
}

/* One row is 0, and row 0 is coupled to all others. The pivot of the former is 0 in whatever order the rows are
   eliminated. */
TEST(a_zero_pivot_has_the_row_of_the_matrix)
{
    for (int zero = 1; zero < 8; zero += 2) {
        struct talk t;
        char file[600], line[300], says[60];
        int n = snprintf(file, sizeof file, "%%%%MatrixMarket matrix coordinate real symmetric\n8 8 14\n");
        for (int i = 0; i < 8; i++)
            n += snprintf(file + n, sizeof file - (size_t)n, "%d %d %d\n", i + 1, i + 1, i == zero ? 0 : 9);
        for (int i = 1; i < 8; i++)
            if (i != zero) n += snprintf(file + n, sizeof file - (size_t)n, "%d 1 1\n", i + 1);
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "load %s as A; solve direct A cholmod b ones",
                 write_file("zero.mtx", file, (size_t)n));
        snprintf(says, sizeof says, "without row exchanges is 0 (row %d)", zero);
        talk_says(&t, line, says);
        talk_close(&t);
    }
}

/* If A is the row a, x = a* b / |a|^2 has the least norm; if A is the column a, it has the least residual. */
TEST(complex_rectangular_systems)
{
    static const double least_norm[] = {2. / 3, -1. / 3, 1, 1. / 3}, least_squares[] = {0.5, -1. / 6};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_complex(&t, "W", "1 2 2\n1 1 1 1\n1 2 2 0\n");
    talk_says(&t, "solve direct W", "the least norm"); /* b = 3 + i */
    check_numbers("wide", t.s.direct->x, 4, least_norm);
    assert_true(isnan(t.s.direct->error_known));
    load_complex(&t, "T", "2 1 2\n1 1 1 1\n2 1 2 0\n");
    talk_says(&t, "solve direct T b ones", "least squares: no x satisfies all equations");
    check_numbers("tall", t.s.direct->x, 2, least_squares);
    assert_true(t.s.direct->normal < 1e-14);
    talk_close(&t);
}

/* ---- figures ---- */

/* Factors of a tridiagonal matrix have no fill: L and U have 2 n - 1 entries each, and one diagonal of the two is not
   stored. The first pivot of a definite matrix is a diagonal entry, and no pivot is larger than its diagonal entry. */
TEST(the_figures_are_those_of_the_factors)
{
    static const struct {
        const char *line, *kind;
        double nnz, most;
    } cases[] = {
        {"gen band 100 1 as B; solve direct B klu", "L U", 298, NAN},
        {"gen band 100 1 as B; solve direct B umfpack", "L U", 298, NAN},
        {"gen poisson2d 100 1 as L; solve direct L cholmod", "L D L'", 199, 4},
        {"gen poisson3d 12 as P; solve direct P cholmod", "L L'", NAN, 6},
        {"gen poisson3d 12 as P; let N = -1*P; solve direct N cholmod", "-L L'", NAN, 6},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(cases); i++) {
        talk_says(&t, cases[i].line, "solved: backward error");
        const struct direct_factors *f = &t.s.direct->factors;
        assert_string_equal(f->kind, cases[i].kind);
        if (!isnan(cases[i].nnz) && f->nnz != cases[i].nnz) fail_msg("%s: %g", cases[i].line, f->nnz);
        if (!isnan(cases[i].most) && fabs(f->pivot_most - cases[i].most) > 1e-14)
            fail_msg("%s: %.17g", cases[i].line, f->pivot_most);
        assert_true(talk_line(&t, "drop all"));
    }
    talk_close(&t);
}

/* A caller that gives a larger tol is told that x met it. */
TEST(a_larger_tol_is_met)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20 as P; let N = P - 4.000000001*I"));
    const struct csr *A = &t.s.current->csr;
    double *b = right_side(A, false);
    for (int i = 0; i < 2; i++) {
        struct direct_answer *a = NULL;
        struct direct_options o = {.b = b, .symmetric = true, .tol = i ? 1e-3 : 0};
        assert_true(direct_solve(&a, A, &o, NULL));
        assert_true(a->residual_true > 2e-8 && a->residual_true < 1e-3);
        assert_int_equal(a->met, i);
        direct_answer_free(a);
    }
    mem_free(b);
    talk_close(&t);
}

/* An operation with complex numbers counts as 4, or as the 4 to 9 that UMFPACK counts; the values of the factors take
   16 bytes in place of 8. */
TEST(plans_of_complex_systems)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_complex(&t, "C", "3 3 7\n1 1 2 1\n1 2 0 -1\n2 1 1 0\n2 2 3 -2\n2 3 1 1\n3 2 0 2\n3 3 4 3\n");
    const struct csr *A = &t.s.current->csr;
    struct csr real = *A;
    real.imag = NULL;
    double b[6] = {1};
    for (int i = 0; directs[i]; i++) {
        struct direct_answer *x = NULL, *z = NULL;
        struct direct_options o = {.method = directs[i], .b = b, .symmetric = true, .plan_only = true};
        assert_true(direct_solve(&x, &real, &o, NULL) && direct_solve(&z, A, &o, NULL));
        if (z->plan.nnz != x->plan.nnz) fail_msg("%s: %g nonzeros", directs[i]->name, z->plan.nnz);
        if (!(z->plan.flops >= 4 * x->plan.flops && z->plan.flops <= 9 * x->plan.flops))
            fail_msg("%s: %g and %g operations", directs[i]->name, z->plan.flops, x->plan.flops);
        if (!(z->plan.bytes >= x->plan.bytes + 8 * x->plan.nnz && x->plan.bytes >= 8 * x->plan.nnz))
            fail_msg("%s: %g and %g bytes", directs[i]->name, z->plan.bytes, x->plan.bytes);
        direct_answer_free(x);
        direct_answer_free(z);
    }
    talk_close(&t);
}

TEST(a_zero_b_and_zero_pivots_are_said)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/golden/singular.mtx as S; gen poisson2d 5 as P"));
    talk_says(&t, "solve direct P b zero", "not known: b = 0");
    talk_says(&t, "let Z = P - P; solve direct Z umfpack b ones", "singular to fp64: 25 of 25 pivots are 0");
    talk_close(&t);
}

static void load_hilbert(struct talk *t, const char *name, int n)
{
    char file[12000], line[300];
    int at = snprintf(file, sizeof file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, n * n);
    for (int i = 0; i < n * n; i++)
        at += snprintf(file + at, sizeof file - (size_t)at, "%d %d %.17g\n", i / n + 1, i % n + 1,
                       1.0 / (i / n + i % n + 1));
    snprintf(line, sizeof line, "load %s as %s", write_file("hilbert.mtx", file, (size_t)at), name);
    assert_true(talk_line(t, line));
}

/* x is refined until it has no more digits: the last correction is a rounding error. Where fp64 cannot tell A from a
   singular matrix, the bound of the error is 10 times the condition times the backward error. */
TEST(refinement_and_its_reserve)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int n = 4; n <= 8; n++) {
        char name[8], line[60];
        snprintf(name, sizeof name, "H%d", n);
        load_hilbert(&t, name, n);
        snprintf(line, sizeof line, "solve direct %s umfpack b random", name);
        assert_true(talk_line(&t, line));
        const struct direct_answer *a = t.s.direct;
        if (!(a->refinements >= 2 && a->correction <= DBL_EPSILON))
            fail_msg("%s: %d refinements, the last by %g", name, (int)a->refinements, a->correction);
    }
    load_hilbert(&t, "H", 13);
    assert_true(talk_line(&t, "solve direct H umfpack b random"));
    const struct direct_answer *a = t.s.direct;
    assert_true(a->trust.bound && a->skeel * DBL_EPSILON > 1e-3);
    assert_true(fabs(a->trust.error / (10 * a->skeel * fmax(a->omega, DBL_EPSILON)) - 1) < 1e-12);
    talk_close(&t);
}

/* ---- options ---- */

TEST(options_are_checked)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; gen circuit 40 as B"));
    talk_refuses(&t, "solve direct A tol 1e-3", "`tol` is for iterative solvers");
    talk_refuses(&t, "solve direct A precond ilu0", "`precond` is for iterative solvers");
    talk_refuses(&t, "solve direct A step", "`step` is for iterative solvers");
    talk_refuses(&t, "solve direct A f32", "fp64 only");
    talk_refuses(&t, "solve direct A on emu", "run on cpu");
    talk_refuses(&t, "solve cg A umfpack", "`umfpack` is for `solve direct`");
    talk_refuses(&t, "solve cg A plan", "`plan` is for `solve direct`");
    talk_refuses(&t, "solve direct B cholmod", "cholmod needs a symmetric");
    talk_refuses(&t, "solve direct A save /nowhere/x.mtx", "/nowhere");
    assert_true(talk_line(&t, "drop all"));
    talk_refuses(&t, "solve direct", "no matrix");
    talk_close(&t);
}

TEST(a_plan_factors_nothing)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    talk_says(&t, "solve direct plan", "planned: nothing was factored");
    assert_null(t.s.direct);
    assert_true(talk_line(&t, "solve direct b random"));
    assert_non_null(t.s.direct);
    talk_says(&t, "solve direct umfpack plan", "operations");
    assert_string_equal(t.s.direct->method->name, "cholmod");
    talk_refuses(&t, "solve direct plan save x.mtx force", "there is no x to save");
    talk_close(&t);
}

/* ---- memory, missing libraries, Ctrl-C ---- */

TEST(memory_is_checked_before_the_factorisation)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson3d 12; solve direct plan"));
    for (int i = 0; directs[i]; i++) {
        char line[80];
        snprintf(line, sizeof line, "solve direct %s", directs[i]->name);
        direct_memory_hook(250000);
        talk_refuses(&t, line, "memory is free");
        assert_non_null(strstr(t.err, "nonzeros of the factors"));
        snprintf(line, sizeof line, "solve direct %s force", directs[i]->name);
        talk_says(&t, line, "solved: backward error");
        direct_memory_hook(1000);
        talk_refuses(&t, line, "a copy of the matrix for the direct solver takes");
        direct_memory_hook(0);
    }
    talk_close(&t);
}

TEST(missing_libraries_are_named)
{
    struct talk t;
    char text[200];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    for (int i = 0; directs[i]; i++) {
        char line[80];
        const char *file = directs[i]->library->file;
        directs[i]->library->file = "libnothing.so.0";
        snprintf(line, sizeof line, "solve direct %s", directs[i]->name);
        snprintf(text, sizeof text,
                 "%s needs the library libnothing.so.0, which is not installed; install the package %s",
                 directs[i]->name, directs[i]->library->package);
        talk_refuses(&t, line, text);
        talk_says(&t, "solve direct", "solved: backward error");
        directs[i]->library->file = file;
        cudss_fake();
        talk_says(&t, line, "solved: backward error");
    }
    talk_close(&t);
}

TEST(without_any_library_nothing_is_solved)
{
    struct talk t;
    const char *file[8];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 4"));
    for (int i = 0; directs[i]; i++) {
        file[i] = directs[i]->library->file;
        directs[i]->library->file = "libnothing.so.0";
    }
    talk_refuses(&t, "solve direct", "SPQR is not installed");
    for (int i = 0; directs[i]; i++) directs[i]->library->file = file[i];
    talk_close(&t);
}

struct stopper {
    struct watch watch;
    const char *at;
};

static bool stop_at(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return strcmp(what, ((struct stopper *)w)->at) != 0;
}

static int threads_of_process(void)
{
    DIR *all = opendir("/proc/self/task");
    int n = 0;
    assert_non_null(all);
    while (readdir(all)) n++;
    closedir(all);
    return n;
}

/* Ctrl-C in each library call: the command ends at once, and the worker thread frees the factorisation later. */
TEST(ctrl_c_ends_each_call)
{
    static const char *const at[] = {"analysis", "factorisation", "substitution", "condition"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    const struct csr *A = &t.s.current->csr;
    double *b = right_side(A, true);
    for (int k = 0; directs[k]; k++) { /* the libraries load, and may start threads that stay */
        struct err e;
        direct_answer_free(solve(A, directs[k], true, &e));
    }
    int threads = threads_of_process();
    for (int i = 0; i < COUNT(at); i++)
        for (int k = 0; directs[k]; k++) {
            struct stopper stopper = {{.tick = stop_at}, at[i]};
            struct err e = {0};
            struct direct_answer *a = NULL;
            struct direct_options o = {
                .method = directs[k], .b = b, .known_ones = true, .symmetric = true, .watch = &stopper.watch};
            assert_false(direct_solve(&a, A, &o, &e));
            assert_null(a);
            assert_int_equal(e.code, E_CANCELLED);
        }
    /* the worker threads end, so that leaks are found */
    for (int ms = 0; ms < 10000 && threads_of_process() > threads; ms++) usleep(1000);
    assert_true(threads_of_process() <= threads);
    mem_free(b);
    talk_close(&t);
}

TEST(no_memory_is_an_error)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6"));
    const struct csr *A = &t.s.current->csr;
    double *b = right_side(A, true);
    for (int k = 0; directs[k]; k++) {
        struct direct_options o = {.method = directs[k], .b = b, .known_ones = true, .symmetric = true};
        bool ok = false;
        for (int nth = 1; !ok; nth++) {
            struct err e = {0};
            struct direct_answer *a = NULL;
            mem_fail_at(nth);
            ok = direct_solve(&a, A, &o, &e);
            mem_fail_at(0);
            direct_answer_free(a);
            assert_true(ok ? nth > 5 : e.code == E_MEMORY && nth < 100);
        }
    }
    mem_free(b);
    talk_close(&t);
}

TEST(values_that_are_not_finite_are_refused)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/golden/nan.mtx"));
    talk_refuses(&t, "solve direct b ones", "has NaN or inf");
    talk_close(&t);
}

/* ---- x as the truth ---- */

/* Iterative solves of the same system, and only of the same system, show their error against x. */
TEST(later_solves_show_their_error)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 20 as A; gen poisson2d 20 as B; solve direct A b random seed 7"));
    talk_says(&t, "solve cg A b random seed 7 tol 1e-12 on cpu", "\"error_against\":\"direct\"");
    assert_true(strstr(t.out, "\"error_known\":null") == NULL);
    talk_says(&t, "solve cg A b random seed 8 on cpu", "\"error_against\":null");
    talk_says(&t, "solve cg B b random seed 7 on cpu", "\"error_against\":null");
    talk_says(&t, "solve cg A on cpu", "\"error_against\":\"ones\"");
    talk_says(&t, "race cg bicgstab of A b random seed 7 tol 1e-12 on cpu", "\"error_known\":");
    assert_true(strstr(t.out, "\"error_known\":null") == NULL);
    assert_true(talk_line(&t, "drop A"));
    assert_null(t.s.direct);
    talk_close(&t);
}

/* After a direct solve with several right sides, each of them has a known x. */
TEST(each_column_is_known_later)
{
    struct talk t;
    char text[400], line[200];
    int at = snprintf(text, sizeof text, "%%%%MatrixMarket matrix array real general\n9 3\n");
    for (int i = 0; i < 27; i++) at += snprintf(text + at, sizeof text - (size_t)at, "%d\n", i * i % 11 - 4);
    const char *path = write_file("sides.mtx", text, (size_t)at);
    talk_open(&t, OUT_JSON);
    snprintf(line, sizeof line, "gen poisson2d 3 as A; solve direct A b %s", path);
    assert_true(talk_line(&t, line));
    assert_int_equal(t.s.direct->columns, 3);
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "solve cg A b %s column %d on cpu tol 1e-12", path, i);
        talk_says(&t, line, "\"error_against\":\"direct\"");
        assert_true(t.s.solve->result.error_known < 1e-10);
    }
    snprintf(line, sizeof line, "solve cg A b %s on cpu", path);
    talk_says(&t, line, "\"error_known\":");
    assert_null(strstr(t.out, "\"error_known\":null"));
    talk_close(&t);
}

/* The other way round: `solve direct` measures the solve before it. */
TEST(the_solve_before_is_measured)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 20 as A; gen poisson2d 20 as B; solve cg A b random tol 1e-4 on cpu"));
    talk_says(&t, "solve direct A b random", "\"before\":\"cg\"");
    assert_null(strstr(t.out, "\"before_error\":null"));
    talk_says(&t, "solve direct A b ones", "\"before\":null");
    talk_says(&t, "solve direct B b random", "\"before\":null");
    talk_close(&t);
}

static double number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : NAN;
}

TEST(the_error_is_the_distance_from_x)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 20 as A; solve direct A b random"));
    talk_forget(&t);
    talk_says(&t, "solve cg b random tol 1e-3 on cpu", "\"error_known\":");
    double loose = number_after(t.out, "\"error_known\":");
    talk_says(&t, "solve cg b random tol 1e-13 on cpu", "\"error_known\":");
    double tight = number_after(t.out, "\"error_known\":");
    assert_true(loose > 1e-6 && loose < 1);
    assert_true(tight < 1e-11);
    talk_close(&t);
}

TEST(the_vectors_are_those_of_the_last_solve)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5; solve direct klu"));
    talk_says(&t, "print x", "the solution of `solve direct` by klu");
    talk_says(&t, "print r", "b - A x of `solve direct`");
    talk_says(&t, "print b", "the right-hand side");
    talk_says(&t, "solve cg on cpu; print x", "of cg");
    talk_says(&t, "solve direct; print x", "by cholmod");
    talk_says(&t, "solve cg step on cpu; step 2; print x", "of cg");
    assert_true(talk_line(&t, "drop all"));
    talk_refuses(&t, "print x", "nothing has been solved yet");
    talk_close(&t);
}

/* ---- cuDSS ---- */

TEST(cudss_is_used_only_by_its_name)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 6; solve direct", "cholmod, by");
    talk_says(&t, "solve direct cudss", "solved: backward error");
    assert_int_equal(cudss_fake_used(), 0);
    cudss_fake_gpus(0);
    talk_refuses(&t, "solve direct cudss",
                 "cudss needs an NVIDIA GPU, and none was found; `solve direct` uses the host");
    cudss_fake_gpus(1);
    talk_refuses(&t, "solve direct cudss on cpu", "cudss runs on cuda:0, not on cpu");
    talk_close(&t);
}

/* A symmetric matrix with a positive diagonal is tried as a definite one first. */
TEST(cudss_factors_by_the_kind_of_matrix)
{
    struct talk t;
    static const struct {
        const char *entries, *kind, *signs;
    } cases[] = {{"1 1 2\n2 1 1\n2 2 3\n", "\"factors\":\"L L'\"", "\"positive\":2,\"negative\":0"},
                 {"1 1 2\n2 1 3\n2 2 3\n", "\"factors\":\"L D L'\"", "\"positive\":1,\"negative\":1"},
                 {"1 1 -2\n2 1 1\n2 2 3\n", "\"factors\":\"L D L'\"", "\"positive\":1,\"negative\":1"}};
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < COUNT(cases); i++) {
        char text[200], line[PATH_MAX + 80];
        int n = snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n%s",
                         cases[i].entries);
        snprintf(line, sizeof line, "load %s as A; solve direct cudss A", write_file("kind.mtx", text, (size_t)n));
        talk_forget(&t);
        talk_says(&t, line, cases[i].kind);
        assert_non_null(strstr(t.out, "\"device\":\"cuda:0\""));
        assert_non_null(strstr(t.out, cases[i].signs));
        assert_true(talk_line(&t, "drop A"));
    }
    assert_int_equal(cudss_fake_used(), 0);
    talk_close(&t);
}

/* A^H x = b by every method that takes a matrix without symmetry. */
TEST(the_conjugate_transpose_is_solved)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    load_complex(&t, "C", "2 2 4\n1 1 2 1\n1 2 0 -1\n2 1 1 3\n2 2 3 -2\n");
    static const double complex A[2][2] = {{2 + I, -I}, {1 + 3 * I, 3 - 2 * I}}, expected[2] = {1 - I, 2 + 5 * I};
    for (int i = 0; directs[i]; i++) {
        struct direct *v = NULL;
        double complex b[2], x[2];
        if (directs[i]->hermitian) continue;
        for (int k = 0; k < 2; k++) b[k] = conj(A[0][k]) * expected[0] + conj(A[1][k]) * expected[1];
        assert_true(direct_begin(&v, directs[i], &t.s.current->csr, NULL) && direct_call_analyse(v, NULL) &&
                    direct_call_factor(v, NULL) && directs[i]->solve(v, true, (double *)b, (double *)x, NULL));
        for (int k = 0; k < 2; k++)
            if (!(cabs(x[k] - expected[k]) < 1e-13)) fail_msg("%s: x[%d] is wrong", directs[i]->name, k);
        direct_free(v);
    }
    talk_close(&t);
}

TEST(cudss_needs_the_memory_of_the_gpu)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10"));
    cudss_fake_room(20000);
    talk_refuses(&t, "solve direct cudss", "of the GPU's memory is free");
    cudss_fake_room(2000);
    talk_refuses(&t, "solve direct cudss", "the GPU has no room for a copy of the matrix; use `solve direct`");
    cudss_fake_room(INT64_C(1) << 40);
    talk_close(&t);
    assert_int_equal(cudss_fake_used(), 0);
}

TEST(every_failing_call_of_cudss_is_named_and_nothing_leaks)
{
    static const char *const calls[] = {"cudssCreate",     "cudssConfigCreate",    "cudssConfigSet",
                                        "cudssDataCreate", "cudssMatrixCreateCsr", "cudssMatrixCreateDn",
                                        "cudssExecute",    "cudaMemcpy",           "cudaDeviceSynchronize"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 9 3"));
    for (int i = 0; i < COUNT(calls); i++)
        for (int n = 1; n < 4; n++) {
            cudss_fake_fail(calls[i], n, 6);
            bool ok = talk_line(&t, "solve direct cudss");
            cudss_fake_fail(NULL, 0, 0);
            if (!ok && !strstr(t.err, strncmp(calls[i], "cuda", 4) ? "with status 6" : "the GPU failed in the"))
                fail_msg("%s %d: %s", calls[i], n, t.err);
            if (n == 1 && ok) fail_msg("%s failed, and nobody noticed", calls[i]);
            assert_int_equal(cudss_fake_used(), 0);
            talk_forget(&t);
        }
    cudss_fake_fail("cudssExecute", 2, 2);
    talk_refuses(&t, "solve direct cudss", "cuDSS ran out of memory on the GPU or the host in the factorisation");
    cudss_fake_fail(NULL, 0, 0);
    talk_close(&t);
}

/* ---- an analysis that is kept ---- */

static void load_entries(struct talk *t, const char *name, const char *kind, const char *entries)
{
    char text[300], line[PATH_MAX + 80];
    int n = snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate %s\n%s", kind, entries);
    snprintf(line, sizeof line, "load %s as %s", write_file("again.mtx", text, (size_t)n), name);
    assert_true(talk_line(t, line));
}

/* The second matrix has the pattern of the first one, other signs and another size of the values. */
TEST(a_kept_analysis_factors_new_values)
{
    static const struct {
        const char *kind, *first, *second;
        int negative; /* eigenvalues of the second; -1: no hermitian matrix */
    } cases[] = {{"real general", "3 3 6\n1 1 -2e40\n1 2 5e40\n2 2 -3e40\n2 3 7e39\n3 1 1e40\n3 3 9e40\n",
                  "3 3 6\n1 1 2\n1 2 1\n2 2 3\n2 3 -1\n3 1 1\n3 3 4\n", -1},
                 {"real symmetric", "2 2 3\n1 1 2\n2 1 1\n2 2 3\n", "2 2 3\n1 1 -3\n2 1 1\n2 2 -3\n", 2},
                 {"real symmetric", "2 2 3\n1 1 -2\n2 1 1\n2 2 -3\n", "2 2 3\n1 1 2\n2 1 3\n2 2 3\n", 1},
                 {"complex hermitian", "2 2 3\n1 1 2 0\n2 1 0 1\n2 2 3 0\n", "2 2 3\n1 1 5 0\n2 1 1 1\n2 2 3 0\n", 0},
                 {"complex general", "2 2 4\n1 1 2 1\n1 2 0 -1\n2 1 1 3\n2 2 3 -2\n",
                  "2 2 4\n1 1 1 9\n1 2 4 -1\n2 1 1 8\n2 2 -3 2\n", -1}};
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < COUNT(cases); i++)
        for (int k = 0; directs[k]; k++) {
            char line[80];
            if (directs[k]->hermitian && cases[i].negative < 0) continue;
            load_entries(&t, "A", cases[i].kind, cases[i].first);
            snprintf(line, sizeof line, "solve direct %s A keep; drop A", directs[k]->name);
            assert_true(talk_line(&t, line));
            load_entries(&t, "B", cases[i].kind, cases[i].second);
            for (int turn = 0; turn < 2; turn++) {
                talk_forget(&t);
                talk_says(&t, "solve direct B again", "\"analysis_us\":null");
                assert_ptr_equal(t.s.direct->method, directs[k]);
                if (!(t.s.direct->error_known < 1e-14)) fail_msg("%s, case %d: %s", directs[k]->name, i, t.out);
                assert_true(t.s.direct->condition > 1 && t.s.direct->factor_us > 0);
                if (directs[k]->hermitian) assert_int_equal(t.s.direct->factors.negative, cases[i].negative);
            }
            struct direct_factors again = t.s.direct->factors;
            snprintf(line, sizeof line, "solve direct %s B", directs[k]->name);
            assert_true(talk_line(&t, line));
            assert_memory_equal(&again.pivot_least, &t.s.direct->factors.pivot_least, sizeof(double));
            assert_memory_equal(&again.pivot_most, &t.s.direct->factors.pivot_most, sizeof(double));
            assert_true(talk_line(&t, "drop B"));
        }
    talk_close(&t);
    assert_int_equal(cudss_fake_used(), 0);
}

/* Several right sides, and a wide matrix whose rows turn out to depend on each other. */
TEST(kept_factors_of_many_right_sides_and_of_any_shape)
{
    struct talk t;
    char b[1200] = "%%MatrixMarket matrix array real general\n81 2\n", line[PATH_MAX + 40];
    for (int i = 0; i < 2 * 81; i++) snprintf(b + strlen(b), sizeof b - strlen(b), "%d\n", i % 7 - 2);
    talk_open(&t, OUT_TEXT);
    load_entries(&t, "W", "real general", "2 3 4\n1 1 2\n1 2 1\n2 1 1\n2 2 3\n");
    assert_true(talk_line(&t, "solve direct spqr W keep"));
    load_entries(&t, "V", "real general", "2 3 4\n1 1 2\n1 2 1\n2 1 4\n2 2 2\n");
    talk_says(&t, "solve direct V again", "rank 1 of 2");
    talk_says(&t, "solve direct W again b random", "analysis kept");
    assert_true(t.s.direct->residual_true < 1e-14);
    assert_true(talk_line(&t, "gen poisson2d 9; solve direct keep"));
    snprintf(line, sizeof line, "solve direct again b %s", write_file("columns.mtx", b, strlen(b)));
    talk_says(&t, line, "2 of 2 right sides solved by cholmod with one factorisation");
    talk_close(&t);
}

TEST(a_kept_factorisation_serves_only_its_pattern)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 9"));
    talk_refuses(&t, "solve direct again", "no factorisation is kept; `solve direct keep` keeps one");
    assert_true(talk_line(&t, "solve direct keep"));
    talk_refuses(&t, "solve direct klu again", "is one of cholmod; leave out `klu`");
    talk_refuses(&t, "gen poisson2d 10 as B; solve direct B again", "the pattern of this matrix is not that of");
    talk_says(&t, "solve direct poisson2d again", "analysis kept");
    talk_refuses(&t, "solve cg keep", "`keep` is for `solve direct`");
    load_entries(&t, "S", "real symmetric", "2 2 3\n1 1 2\n2 1 1\n2 2 3\n");
    load_entries(&t, "N", "real general", "2 2 4\n1 1 2\n1 2 1\n2 1 5\n2 2 3\n");
    talk_refuses(&t, "solve direct cudss S keep; solve direct N again", "uses the symmetry of its matrix");
    assert_true(cudss_fake_used() > 0);
    assert_true(talk_line(&t, "solve direct S"));
    assert_int_equal(cudss_fake_used(), 0);
    talk_refuses(&t, "solve direct S again", "no factorisation is kept");
    talk_close(&t);
}

struct paths {
    int n, most;
    char text[4][PATH_MAX];
};

static bool note(const char *path, void *user)
{
    struct paths *p = user;
    snprintf(p->text[p->n++ % 4], PATH_MAX, "%s", path);
    return p->n == p->most;
}

/* The name alone is the first; a variable that is not an absolute path names no folder. */
TEST(cuda_is_searched_for_in_the_folders_of_an_environment)
{
    static const char *const folders[] = {"lib",
                                          "lib/python3.9",
                                          "lib/python3.9/site-packages",
                                          "lib/python3.9/site-packages/nvidia",
                                          "lib/python3.9/site-packages/nvidia/cu13",
                                          "lib/python3.9/site-packages/nvidia/cu13/lib"};
    struct paths all = {.most = 4}, one = {.most = 1}, none = {.most = 4};
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%s", scratch_path(""));
    for (int i = 0; i < COUNT(folders); i++) assert_int_equal(mkdir(scratch_path(folders[i]), 0700), 0);
    const char *file = write_file("lib/python3.9/site-packages/nvidia/cu13/lib/libmine.so.1", "", 0);
    setenv("VIRTUAL_ENV", root, 1);
    shared_cuda_paths("libmine.so.1", note, &all);
    shared_cuda_paths("libmine.so.1", note, &one);
    setenv("VIRTUAL_ENV", root + 1, 1);
    shared_cuda_paths("libmine.so.1", note, &none);
    unsetenv("VIRTUAL_ENV");
    assert_int_equal(all.n, 2);
    assert_int_equal(one.n, 1);
    assert_int_equal(none.n, 1);
    assert_string_equal(all.text[0], "libmine.so.1");
    assert_non_null(strstr(all.text[1], "nvidia/cu13/lib/libmine.so.1"));
    assert_int_equal(access(all.text[1], R_OK), 0);
    remove(file);
    for (int i = COUNT(folders); i-- > 0;) rmdir(scratch_path(folders[i]));
}

static int pretend(void **state)
{
    (void)state;
    cudss_fake();
    return 0;
}

SUITE(.setup = pretend, .teardown = tidy);
