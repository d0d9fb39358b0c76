/* Every generator: its sizes, symmetry and dominance, equal bits for equal seeds on every machine, and its refusals. */
#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "kits/shapes.h"
#include "kits/test.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "matrix/reorder.h"
#include "matrix/stats.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* nnz: -1 if it depends on the seed. dominant: every row is diagonally dominant. */
static const struct {
    const char *name;
    int64_t p[PARAMS_MAX], rows, cols, nnz;
    bool pattern, values, dominant;
} cases[] = {
    {"poisson2d", {1, 0}, 1, 1, 1, true, true, true},
    {"poisson2d", {7, 0}, 49, 49, 5 * 49 - 4 * 7, true, true, true},
    {"poisson2d", {5, 3}, 15, 15, 5 * 15 - 2 * 5 - 2 * 3, true, true, true},
    {"poisson2d", {1, 9}, 9, 9, 25, true, true, true},
    {"poisson3d", {1, 0, 0}, 1, 1, 1, true, true, true},
    {"poisson3d", {4, 0, 0}, 64, 64, 7 * 64 - 6 * 16, true, true, true},
    {"poisson3d", {2, 3, 5}, 30, 30, 7 * 30 - 2 * (6 + 10 + 15), true, true, true},
    {"fem", {1, 0}, 3, 3, 9, true, true, true},
    {"fem", {4, 3}, 36, 36, 9 * 10 * 7, true, true, false},
    {"fem", {20, 0}, 1200, 1200, 9 * 58 * 58, true, true, false},
    {"band", {1, 8, 100}, 1, 1, 1, true, true, true},
    {"band", {50, 0, 100}, 50, 50, 50, true, true, true},
    {"band", {50, 3, 100}, 50, 50, 50 * 7 - 3 * 4, true, false, true},
    {"band", {50, 49, 100}, 50, 50, 2500, true, false, true},
    {"band", {200, 20, 0}, 200, 200, 200, true, true, true},
    {"band", {200, 20, 35}, 200, 200, 200 + 160 * 14 + 2 * 216, false, false, true},
    {"brokendiag", {1, 1}, 1, 1, 1, true, true, true},
    {"brokendiag", {3, 5}, 3, 3, -1, false, false, true},
    {"brokendiag", {40, 1}, 40, 40, 40, true, true, true},
    {"brokendiag", {500, 9}, 500, 500, -1, false, false, true},
    {"random", {0, 8, 0}, 0, 0, 0, true, true, true},
    {"random", {0, 4, 9}, 0, 9, 0, false, false, false},
    {"random", {30, 0, 0}, 30, 30, 0, true, true, false},
    {"random", {300, 7, 0}, 300, 300, 2100, false, false, false},
    {"random", {20, 13, 13}, 20, 13, 260, false, false, false},
    {"random", {2000, 30, 100000}, 2000, 100000, 60000, false, false, false},
    {"rmat", {0, 3}, 1, 1, 1, true, true, true},
    {"rmat", {8, 0}, 256, 256, 0, true, true, false},
    {"rmat", {10, 8}, 1024, 1024, -1, false, false, false},
    {"circuit", {1, 0}, 1, 1, 1, true, true, true},
    {"circuit", {2, 4}, 2, 2, 4, true, false, true},
    {"circuit", {3000, 0}, 3000, 3000, -1, true, false, true},
    {"circuit", {3000, 3}, 3000, 3000, -1, true, false, true},
    {"dense", {0, 0}, 0, 0, 0, true, true, true},
    {"dense", {70, 0}, 70, 70, 4900, true, false, false},
    {"dense", {3, 5}, 3, 5, 15, false, false, false},
    {"stencil", {5, 1, 0, 0, 1}, 1, 1, 1, true, true, true},
    {"stencil", {5, 7, 3, 0, 1}, 21, 21, 5 * 21 - 2 * 7 - 2 * 3, true, false, true},
    {"stencil", {9, 4, 3, 1, 2}, 24, 24, 4 * 10 * 7, true, false, true},
    {"stencil", {7, 4, 0, 0, 1}, 64, 64, 7 * 64 - 6 * 16, true, false, true},
    {"stencil", {27, 3, 4, 5, 3}, 180, 180, 9 * 7 * 10 * 13, true, false, true},
    {"walk", {1}, 1, 1, 0, true, true, false},
    {"walk", {2}, 3, 3, 3, false, false, false},
    {"walk", {31}, 496, 496, 1859, false, false, false},
    {"walk", {101}, 5151, 5151, 20199, false, false, false},
    {"elasticity", {1, 0, 1}, 3, 3, 9, true, true, true},
    {"elasticity", {4, 0, 1}, 192, 192, 9 * 10 * 10 * 10, true, true, false},
    {"elasticity", {4, 1, 9}, 192, 192, 9 * 10 * 10 * 10, true, true, false},
    /* a size that is left out is nx, not another size */
    {"poisson3d", {4, 3, 0}, 48, 48, 7 * 48 - 2 * (12 + 16 + 12), true, true, true},
    {"poisson3d", {2, 0, 5}, 20, 20, 7 * 20 - 2 * (10 + 10 + 4), true, true, true},
    {"stencil", {9, 4, 0, 0, 1}, 16, 16, 10 * 10, true, false, true},
    {"stencil", {7, 4, 3, 0, 1}, 48, 48, 7 * 48 - 2 * (12 + 16 + 12), true, false, true},
    {"stencil", {7, 4, 0, 2, 1}, 32, 32, 7 * 32 - 2 * (8 + 8 + 16), true, false, true},
    {"stencil", {27, 3, 4, 0, 1}, 36, 36, 7 * 10 * 7, true, false, true},
    {"stencil", {27, 3, 0, 5, 1}, 45, 45, 7 * 7 * 13, true, false, true},
    {"chain", {1}, 1, 1, 1, true, true, true},
    {"chain", {9}, 9, 9, 25, true, true, true},
    {"convection", {1, 0, 50}, 1, 1, 1, true, true, true},
    {"convection", {5, 3, 0}, 15, 15, 5 * 15 - 2 * 5 - 2 * 3, true, true, true},
    {"convection", {5, 0, 50}, 25, 25, 5 * 25 - 4 * 5, true, false, true},
    {"convection", {5, 0, 150}, 25, 25, 5 * 25 - 4 * 5, true, false, false},
};

static struct csr make(int i, uint64_t seed)
{
    struct csr A;
    struct err e = {0};
    const struct generator *g = generator_find(cases[i].name);
    if (!g->make(cases[i].p, seed, NULL, &A, &e) || !csr_check(&A, &e))
        fail_msg("case %d, %s: %s", i, cases[i].name, e.text);
    return A;
}

TEST(sizes_symmetry_and_dominance)
{
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A = make(i, 7);
        struct stats s;
        assert_true(stats_of(&A, NULL, &s, NULL));
        bool dominant = A.rows == A.cols && s.dominant_rows == A.rows;
        if (A.rows != cases[i].rows || A.cols != cases[i].cols || (cases[i].nnz >= 0 && A.nnz != cases[i].nnz))
            fail_msg("case %d, %s: %lld x %lld, %lld", i, cases[i].name, (long long)A.rows, (long long)A.cols,
                     (long long)A.nnz);
        if (s.symmetry.pattern != cases[i].pattern || s.symmetry.values != cases[i].values ||
            dominant != cases[i].dominant)
            fail_msg("case %d, %s: pattern %d, values %d, dominant %d", i, cases[i].name, s.symmetry.pattern,
                     s.symmetry.values, dominant);
        csr_free(&A);
    }
}

TEST(every_generator_is_tested_and_has_valid_defaults)
{
    for (int i = 0; generators[i]; i++) {
        const struct generator *g = generators[i];
        int64_t p[PARAMS_MAX] = {0};
        struct csr A;
        int tried = 0;
        assert_true(generator_find(g->name) == g);
        assert_true(!strncmp(g->usage, g->name, strlen(g->name)));
        for (int k = 0; g->params[k].name; k++) p[k] = g->params[k].default_value;
        assert_true(g->make(p, 1, NULL, &A, NULL) && csr_check(&A, NULL));
        assert_in_range(A.nnz, 1000, 1000000);
        csr_free(&A);
        for (int k = 0; k < COUNT(cases); k++) tried += !strcmp(cases[k].name, g->name);
        assert_true(tried > 0);
    }
    assert_null(generator_find("no such"));
}

static bool is_one_of(const char *name, int n, const char *const *names)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

TEST(seeds_determine_the_bits)
{
    int threads = omp_get_max_threads();
    for (int i = 0; i < COUNT(cases); i++) {
        static const char *const without_seed[] = {"poisson2d", "poisson3d", "chain", "convection", "walk"};
        bool fixed = is_one_of(cases[i].name, COUNT(without_seed), without_seed) || cases[i].nnz == cases[i].rows ||
                     cases[i].nnz == 0;
        struct csr A = make(i, 5);
        omp_set_num_threads(i % 4 + 1);
        struct csr B = make(i, 5), C = make(i, 6);
        assert_true(csr_equal(&A, &B));
        if (csr_equal(&A, &C) && !fixed && strcmp(cases[i].name, "fem")) fail_msg("case %d, %s", i, cases[i].name);
        omp_set_num_threads(threads);
        csr_free(&A);
        csr_free(&B);
        csr_free(&C);
    }
}

static uint64_t hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3;
    return h;
}

/* Compare FNV-1a hashes of all arrays with stored hashes: a seed gives the same matrix on every machine and in every
   version. */
TEST(the_bits_are_the_same_on_every_machine)
{
    static const struct {
        int at;
        uint64_t hash;
    } known[] = {{4, 0x9f6cf535221f446c},  {8, 0xf778adc0c57d8206},  {15, 0x7689de09515820ce},
                 {19, 0x9b962d8902eb0d70}, {23, 0x484cb87a7ec96e06}, {28, 0x97f4d983d416c2e9},
                 {32, 0x5f61a5d780f34fb2}, {34, 0x5d90b1a0a69db3f9}};
    for (int i = 0; i < COUNT(known); i++) {
        struct csr A = make(known[i].at, 42);
        uint64_t h = hash(0xcbf29ce484222325, A.rowptr, (size_t)(A.rows + 1) * sizeof *A.rowptr);
        h = hash(h, A.col, (size_t)A.nnz * sizeof *A.col);
        h = hash(h, A.val, (size_t)A.nnz * sizeof *A.val);
        if (h != known[i].hash)
            fail_msg("case %d, %s: 0x%016llx", known[i].at, cases[known[i].at].name, (unsigned long long)h);
        csr_free(&A);
    }
}

/* Splitmix64's published numbers. */
TEST(random_numbers_are_splitmix64)
{
    static const uint64_t published[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                         4593380528125082431u, 16408922859458223821u};
    uint64_t random = 1234567;
    for (int i = 0; i < COUNT(published); i++) assert_true(random_next(&random) == published[i]);
    double least = 1, most = -1, sum = 0;
    for (int i = 0; i < 100000; i++) {
        double v = random_unit(&random);
        assert_true(v >= -1 && v < 1 && v != 0);
        least = fmin(least, v);
        most = fmax(most, v);
        sum += v;
    }
    assert_true(least < -0.999 && most > 0.999 && fabs(sum) < 1000);
}

TEST(threads_give_the_numbers_of_one_thread)
{
    enum { N = 100000 };
    static double x[N];
    uint64_t random = 7;
    random_fill(x, N, random);
    for (int i = 0; i < N; i++) assert_true(x[i] == random_unit(&random));
    assert_true(random == random_skip(7, N));
}

TEST(poisson_has_its_stencil)
{
    static const int64_t two[PARAMS_MAX] = {3, 4}, three[PARAMS_MAX] = {3, 4, 5};
    struct csr A, B;
    assert_true(generator_find("poisson2d")->make(two, 0, NULL, &A, NULL));
    assert_true(generator_find("poisson3d")->make(three, 0, NULL, &B, NULL));
    assert_true(A.val[csr_find(&A, 4, 4)] == 4 && B.val[csr_find(&B, 16, 16)] == 6);
    static const int64_t near[] = {-12, -3, -1, 1, 3, 12};
    for (int i = 0; i < 6; i++) {
        assert_true(B.val[csr_find(&B, 16, 16 + near[i])] == -1);
        if (i > 0 && i < 5) assert_true(A.val[csr_find(&A, 4, 4 + near[i])] == -1);
    }
    assert_int_equal(csr_find(&A, 2, 3), -1);
    csr_free(&A);
    csr_free(&B);
}

/* A v = lambda v, for v at point (x, y) = r^(x + y) sin(kx x pi / (nx + 1)) sin(ky y pi / (ny + 1)), x and y from 1. */
static void check_eigenpair(const struct csr *A, int nx, int ny, double w, int kx, int ky)
{
    double r = sqrt((1 + w) / (1 - w)), tx = M_PI * kx / (nx + 1), ty = M_PI * ky / (ny + 1), v[120], most = 0;
    double lambda = ny == 1 ? 2 - 2 * cos(tx) : 4 - 2 * sqrt(1 - w * w) * (cos(tx) + cos(ty));
    for (int i = 0; i < nx * ny; i++) {
        int x = i % nx + 1, y = i / nx + 1;
        v[i] = pow(r, x + y) * sin(tx * x) * (ny == 1 ? 1 : sin(ty * y));
        most = fmax(most, fabs(v[i]));
    }
    for (int i = 0; i < nx * ny; i++) {
        double sum = -lambda * v[i];
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) sum += A->val[k] * v[A->col[k]];
        assert_true(fabs(sum) < 1e-13 * most);
    }
}

TEST(chain_and_convection_have_the_known_spectrum)
{
    static const int64_t chain[PARAMS_MAX] = {11}, wind[PARAMS_MAX] = {7, 4, 60};
    struct csr A, B;
    assert_true(generator_find("chain")->make(chain, 0, NULL, &A, NULL));
    assert_true(generator_find("convection")->make(wind, 0, NULL, &B, NULL));
    for (int k = 1; k <= 11; k++) check_eigenpair(&A, 11, 1, 0, k, 1);
    for (int k = 1; k <= 7; k++)
        for (int l = 1; l <= 4; l++) check_eigenpair(&B, 7, 4, 0.6, k, l);
    csr_free(&A);
    csr_free(&B);
}

/* Positive definite: a Cholesky factor with a positive diagonal exists. */
TEST(fem_is_positive_definite)
{
    enum { N = 3 * 5 * 4 };
    static const int64_t p[PARAMS_MAX] = {5, 4};
    static double L[N][N];
    struct csr A;
    assert_true(generator_find("fem")->make(p, 3, NULL, &A, NULL));
    assert_int_equal(A.rows, N);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            int64_t k = csr_find(&A, i, j);
            double v = k < 0 ? 0 : A.val[k];
            for (int m = 0; m < j; m++) v -= L[i][m] * L[j][m];
            if (i == j) assert_true(v > 0.1);
            L[i][j] = i == j ? sqrt(v) : v / L[j][j];
        }
    csr_free(&A);
}

/* The sample is rw496 of the SuiteSparse collection, whose values have nine digits. */
TEST(walk_is_rw496)
{
    static const int64_t p[PARAMS_MAX] = {31};
    struct csr A, B;
    struct load_info info;
    assert_true(generator_find("walk")->make(p, 1, NULL, &A, NULL));
    assert_true(mtx_load("samples/rw496.mtx.gz", NULL, &B, &info, NULL));
    assert_int_equal(A.nnz, B.nnz);
    assert_memory_equal(A.rowptr, B.rowptr, (size_t)(A.rows + 1) * sizeof *A.rowptr);
    assert_memory_equal(A.col, B.col, (size_t)A.nnz * sizeof *A.col);
    for (int64_t k = 0; k < A.nnz; k++) assert_true(fabs(A.val[k] - B.val[k]) < 1e-9);
    csr_free(&A);
    csr_free(&B);
}

/* From each point, the probabilities of the steps sum to 1, except where two steps share an entry. */
TEST(walk_is_a_markov_chain)
{
    static const int64_t p[PARAMS_MAX] = {101};
    struct csr A;
    assert_true(generator_find("walk")->make(p, 1, NULL, &A, NULL));
    for (int64_t i = 0; i < A.rows; i++) {
        double sum = 0, missing = i == A.rows - 3 ? 0.5 / 100 : 0;
        for (int64_t k = A.rowptr[i]; k < A.rowptr[i + 1]; k++) sum += A.val[k];
        assert_true(fabs(sum + missing - 1) < 1e-14);
    }
    csr_free(&A);
}

/* The mean and the standard deviation of the row lengths are those that were asked for; no row is empty, and the
   columns of a row are distinct. A log-normal distribution is skew: the longest row is far from the mean. */
TEST(random_rows_have_the_spread_that_was_asked_for)
{
    static const int64_t spreads[] = {0, 29, 76};
    for (int i = 0; i < COUNT(spreads); i++) {
        struct csr A, B;
        struct stats s;
        struct err e = {0};
        int64_t p[PARAMS_MAX] = {50000, 20, 0, spreads[i]};
        assert_true(generator_find("random")->make(p, 1, NULL, &A, &e) && csr_check(&A, &e));
        assert_true(generator_find("random")->make(p, 1, NULL, &B, &e) && csr_equal(&A, &B));
        assert_true(stats_of(&A, NULL, &s, NULL));
        double wanted = 20 * (double)spreads[i] / 100;
        if (fabs(s.row_mean - 20) > 0.2 || fabs(s.row_std - wanted) > 0.04 * wanted)
            fail_msg("spread %lld: mean %g, deviation %g", (long long)spreads[i], s.row_mean, s.row_std);
        assert_true(s.row_min >= 1 && (spreads[i] ? (double)s.row_max > 20 + 3 * wanted : s.row_max == 20));
        csr_free(&A);
        csr_free(&B);
    }
    struct csr few;
    int64_t p[PARAMS_MAX] = {1000, 4, 5, 400}; /* never more entries than columns, nor fewer than 1 */
    assert_true(generator_find("random")->make(p, 1, NULL, &few, NULL) && csr_check(&few, NULL));
    for (int64_t r = 0; r < few.rows; r++)
        assert_true(few.rowptr[r + 1] > few.rowptr[r] && few.rowptr[r + 1] - few.rowptr[r] <= 5);
    csr_free(&few);
}

TEST(shapes_match_their_names)
{
    static const int64_t rmat[PARAMS_MAX] = {12, 8}, circuit[PARAMS_MAX] = {4000, 4}, broken[PARAMS_MAX] = {4000, 9},
                         even[PARAMS_MAX] = {1000, 10, 5000};
    struct csr A;
    struct stats s;
    assert_true(generator_find("rmat")->make(rmat, 1, NULL, &A, NULL) && stats_of(&A, NULL, &s, NULL));
    assert_true(s.row_max > 20 * s.row_mean && s.empty_rows > A.rows / 10 && A.nnz < 8 * 4096);
    csr_free(&A);
    assert_true(generator_find("circuit")->make(circuit, 1, NULL, &A, NULL) && stats_of(&A, NULL, &s, NULL));
    assert_true(s.row_median < 8 && csr_row_length(&A, s.longest[3]) > 490 && csr_row_length(&A, s.longest[4]) < 50);
    csr_free(&A);
    assert_true(generator_find("brokendiag")->make(broken, 1, NULL, &A, NULL) && stats_of(&A, NULL, &s, NULL));
    assert_true(s.diagonals == 9 && s.zero_diagonal == 0 && s.row_std > 0.5);
    assert_in_range(A.nnz, 2 * 4000, 7 * 4000);
    csr_free(&A);
    assert_true(generator_find("random")->make(even, 1, NULL, &A, NULL) && stats_of(&A, NULL, &s, NULL));
    assert_true(s.row_min == 10 && s.row_max == 10);
    csr_free(&A);
}

/* Invalid parameters are refused before anything is allocated. */
TEST(invalid_parameters_are_refused)
{
    const int64_t most = INT32_MAX;
    const struct {
        const char *name;
        int64_t p[PARAMS_MAX];
        enum code code;
    } bad[] = {
        {"poisson2d", {0, 0}, E_USAGE},
        {"poisson2d", {-5, 0}, E_USAGE},
        {"poisson2d", {most + 1, 1}, E_USAGE},
        {"poisson2d", {most, 0}, E_LIMIT},
        {"poisson2d", {most, 2}, E_LIMIT},
        {"poisson2d", {46341, 46341}, E_LIMIT},
        {"poisson3d", {1 << 20, 0, 0}, E_LIMIT},
        {"poisson3d", {1300, 0, 0}, E_LIMIT},
        {"fem", {1 << 30, 0}, E_LIMIT},
        {"fem", {12000, 0}, E_LIMIT},
        {"elasticity", {0, 0, 1}, E_USAGE},
        {"elasticity", {3, 2, 1}, E_USAGE},
        {"elasticity", {1 << 16, 0, 1}, E_LIMIT},
        {"stencil", {6, 3, 0, 0, 1}, E_USAGE},
        {"stencil", {5, 3, 3, 4, 1}, E_USAGE},
        {"stencil", {27, 1000, 0, 0, 3}, E_LIMIT},
        {"stencil", {27, 1 << 20, 0, 0, 16}, E_LIMIT},
        {"walk", {0}, E_USAGE},
        {"walk", {INT64_MAX}, E_USAGE},
        {"walk", {1 << 30}, E_LIMIT},
        {"walk", {32769}, E_LIMIT},
        {"band", {most, most - 1, 100}, E_LIMIT},
        {"dense", {3, most + 1}, E_USAGE},
        {"dense", {most + 1, 0}, E_USAGE},
        {"band", {10, 1, 101}, E_USAGE},
        {"brokendiag", {3, 6}, E_USAGE},
        {"brokendiag", {most, most}, E_LIMIT},
        {"random", {most, most, 0}, E_LIMIT},
        {"random", {1, 1, -1}, E_USAGE},
        {"random", {INT64_MIN, INT64_MAX, INT64_MAX}, E_USAGE},
        {"rmat", {31, 1}, E_USAGE},
        {"rmat", {30, 2}, E_LIMIT},
        {"rmat", {30, most}, E_LIMIT},
        {"circuit", {most, most}, E_LIMIT},
        {"circuit", {most, 0}, E_LIMIT},
        {"random", {10, 20, 0}, E_USAGE},
        {"band", {10, 20, 100}, E_USAGE},
        {"circuit", {10, 50}, E_USAGE},
    };
    for (int i = 0; i < COUNT(bad); i++) {
        struct csr A = {0};
        struct err e = {0};
        int64_t before = mem_count();
        if (generator_find(bad[i].name)->make(bad[i].p, 1, NULL, &A, &e))
            fail_msg("case %d, %s was made", i, bad[i].name);
        if (e.code != bad[i].code) fail_msg("case %d, %s: %s", i, bad[i].name, e.text);
        assert_int_equal(mem_count(), before);
        assert_null(A.rowptr);
    }
}

static bool never(struct watch *w, const char *what, int64_t done, int64_t total)
{
    assert_true(done <= total);
    return false;
}

TEST(every_generator_can_be_cancelled)
{
    struct watch w = {never, NULL};
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A = {0};
        struct err e = {0};
        if (!cases[i].nnz) continue;
        assert_false(generator_find(cases[i].name)->make(cases[i].p, 1, &w, &A, &e));
        assert_int_equal(e.code, E_CANCELLED);
        assert_null(A.rowptr);
    }
}

static bool go_make(const void *user, struct err *e)
{
    struct csr A;
    int i = *(const int *)user;
    if (!generator_find(cases[i].name)->make(cases[i].p, 1, NULL, &A, e)) return false;
    csr_free(&A);
    return true;
}

TEST(every_allocation_may_fail)
{
    for (int i = 0; i < COUNT(cases); i++) assert_true(fail_each(go_make, &i) >= 3);
}

/* ---- elasticity ---- */

/* Row r of the node in the middle, times the displacement p_i p_j along axis c, where p is the position of a node
   relative to that one. */
static double times_quadratic(const struct csr *A, int r, int c, int i, int j)
{
    static const double F[3][3] = {{1, 0, 0}, {-0.375, 1, 0}, {-0.03125, -0.25, 1}}; /* the inverse of J' */
    double sum = 0;
    int row = 3 * 13 + r;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
        int v = A->col[k] / 3, d[] = {v % 3 - 1, v / 3 % 3 - 1, v / 9 - 1};
        double p[3] = {0};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) p[a] += F[a][b] * d[b];
        if (A->col[k] % 3 == c) sum += A->val[k] * p[i] * p[j];
    }
    return sum;
}

/* For quadratic displacements u, the elements give the exact -(lambda + mu) grad div u - mu laplace u at a node inside.
 */
TEST(elasticity_is_exact_for_quadratic_displacements)
{
    struct csr A;
    assert_true(generator_find("elasticity")->make((const int64_t[]){3, 0, 0}, 1, NULL, &A, NULL));
    for (int k = A.rowptr[39]; k < A.rowptr[42]; k++) assert_true(fabs(A.val[k]) > 1e-2);
    for (int at = 0; at < 81; at++) {
        int r = at % 3, c = at / 3 % 3, i = at / 9 % 3, j = at / 27;
        double mixed = (r == i && c == j) + (r == j && c == i), laplace = r == c && i == j ? 2 : 0;
        double found = times_quadratic(&A, r, c, i, j);
        if (!(fabs(found + 2 * mixed + laplace) < 1e-13))
            fail_msg("row %d, axis %d, p%d p%d: %g, not %g", r, c, i, j, found, -2 * mixed - laplace);
    }
    csr_free(&A);
}

/* Whatever the stiffness of the elements, no force holds a body that is moved and turned: u = t + w x p. */
TEST(elasticity_has_no_forces_without_strain)
{
    static const double F[3][3] = {{1, 0, 0}, {-0.375, 1, 0}, {-0.03125, -0.25, 1}};
    const double t[] = {3, -2, 0.5}, w[] = {0.25, 2, -1};
    struct csr A;
    assert_true(generator_find("elasticity")->make((const int64_t[]){3, 0, 50}, 4, NULL, &A, NULL));
    for (int row = 39; row < 42; row++) {
        double sum = 0, size = 0;
        for (int k = A.rowptr[row]; k < A.rowptr[row + 1]; k++) {
            int v = A.col[k] / 3, c = A.col[k] % 3, next = (c + 1) % 3, last = (c + 2) % 3;
            int d[] = {v % 3 - 1, v / 3 % 3 - 1, v / 9 - 1};
            double p[3] = {0};
            for (int a = 0; a < 9; a++) p[a / 3] += F[a / 3][a % 3] * d[a % 3];
            sum += A.val[k] * (t[c] + w[next] * p[last] - w[last] * p[next]);
            size += fabs(A.val[k]);
        }
        if (!(fabs(sum) < 1e-14 * size)) fail_msg("row %d: %g of %g", row, sum, size);
    }
    csr_free(&A);
}

/* The two numberings give the same matrix. */
TEST(elasticity_component_after_component)
{
    enum { N = 5, NODES = N * N * N };
    struct csr A, B, moved;
    int perm[3 * NODES];
    assert_true(generator_find("elasticity")->make((const int64_t[]){N, 0, 1}, 1, NULL, &A, NULL));
    assert_true(generator_find("elasticity")->make((const int64_t[]){N, 1, 1}, 1, NULL, &B, NULL));
    for (int i = 0; i < 3 * NODES; i++) perm[i] = 3 * (i % NODES) + i / NODES;
    assert_true(reorder_apply(&moved, &A, perm, NULL, NULL));
    assert_memory_equal(moved.rowptr, B.rowptr, sizeof(int) * (3 * NODES + 1));
    assert_memory_equal(moved.col, B.col, sizeof(int) * (size_t)B.nnz);
    assert_memory_equal(moved.val, B.val, sizeof(double) * (size_t)B.nnz);
    csr_free(&A);
    csr_free(&B);
    csr_free(&moved);
}
