/* The simulated L2 for the elements of x. */
#include "base/err.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "microscope/reuse.h"

#include <math.h>
#include <stddef.h>

static double again(const struct csr *A, int64_t size, double sectors)
{
    struct err e = {0};
    struct reuse r = {0};
    if (!reuse_find(&r, A, size, sectors, &e)) fail_msg("%s", e.text);
    return r.again;
}

static struct csr made(const char *name, int64_t a, int64_t b, int64_t c)
{
    struct csr A;
    struct err e = {0};
    const int64_t param[PARAMS_MAX] = {a, b, c};
    if (!generator_find(name)->make(param, 1, NULL, &A, &e)) fail_msg("%s", e.text);
    return A;
}

/* Each of 10 million entries needs an element of x that is in any of 100,000 sectors: a cache of a quarter of them has
   the sector in a quarter of the cases. */
TEST(test_random)
{
    enum { ROWS = 400000, EACH = 25, SECTORS = ROWS / 4 };
    struct csr A = made("random", ROWS, EACH, 0);
    for (int share = 2; share <= 8; share *= 2) {
        double expected = (double)A.nnz * (1 - 1.0 / share) - SECTORS, n = again(&A, 8, SECTORS / share);
        if (fabs(n / expected - 1) > 0.05) fail_msg("1/%d of x fits: %g, not %g", share, n, expected);
    }
    assert_true(again(&A, 8, SECTORS) == 0);
    assert_true(again(&A, 4, SECTORS / 2) == 0); /* elements of half the size */
    csr_free(&A);
}

/* A band moves over x: what it leaves is not read again. The sets that are simulated have about, not exactly, their
   share of the sectors. */
TEST(test_band)
{
    struct csr A = made("band", 1 << 20, 1, 100), B = made("poisson2d", 1000, 1000, 0);
    assert_true(again(&A, 8, 20000) < 0.05 * (1 << 18));
    assert_true(again(&B, 8, 20000) < 0.05 * 250000);
    csr_free(&A);
    csr_free(&B);
}

TEST(test_empty)
{
    struct csr A;
    assert_true(csr_new(&A, 10, 1 << 20, 0, false, NULL));
    for (int i = 0; i <= 10; i++) A.rowptr[i] = 0;
    assert_true(again(&A, 8, 1000) == 0);
    csr_free(&A);
}
