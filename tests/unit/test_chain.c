/* Products in a chain: the values, on devices with and without graphs; what is refused; and what `bench chain` prints.
 */
#include "formats/format.h"
#include "kits/dev_fake.h"
#include "kits/kernel_loops.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/random.h"

#include <math.h>

enum { BUDGET = 4000000, N = 100 };

/* A fake device with graphs: a graph stores what was recorded, and replaying it runs that. */
static struct fake fake;
static struct device_ops with_graphs;
static struct graph {
    bool (*go)(void *ctx, struct err *e);
    void *ctx;
    int recorded, replayed, forgotten;
    bool refuses, idle; /* idle: replaying does nothing */
} graph;

static void *capture(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx)
{
    graph.go = go;
    graph.ctx = ctx;
    graph.recorded++;
    return graph.refuses ? NULL : &graph;
}

static bool replay(struct device *d, void *recorded, struct err *e)
{
    graph.replayed++;
    return graph.idle || graph.go(graph.ctx, e);
}

static void forget(struct device *d, void *recorded)
{
    graph.forgotten++;
}

static int fresh(void **state)
{
    graph = (struct graph){0};
    if (!fake_open(&fake, "fake", "cpu", BUDGET, NULL)) return 1;
    with_graphs = *fake.dev.ops;
    with_graphs.capture = capture;
    with_graphs.replay = replay;
    with_graphs.forget = forget;
    return 0;
}

static int close_all(void **state)
{
    devices_close();
    return fake.nblocks;
}

/* `size` times the matrix that moves element i + 1 of x to i. */
static struct csr shift(double size)
{
    struct csr A;
    int row[N], col[N];
    double val[N];
    for (int i = 0; i < N; i++) row[i] = i, col[i] = (i + 1) % N, val[i] = size;
    assert_true(csr_from_triplets(&A, N, N, N, row, col, val, NULL, NULL, NULL));
    return A;
}

static bool chain(const char *kernel, const struct csr *A, struct device *d, enum precision real, int reps, double *us,
                  double *y, struct err *e)
{
    struct stored S = {0};
    struct mat M = {0};
    const struct kernel *k = kernel_find(kernel);
    bool ok = format_pack(A, k->format, NULL, real, false, &S, e) && mat_put(&M, &S, d, e) &&
              bench_chain(NULL, k, A, &M, 1, reps, NULL, us, y, e);
    mat_free(&M);
    stored_free(&S);
    return ok;
}

/* After n products with a matrix whose scaled form only moves the elements of x, x has moved by n. */
static void check_moved(const double *y, int n)
{
    double x[N];
    random_fill(x, N, 1);
    for (int i = 0; i < N; i++) assert_true(y[i] == x[(i + n) % N]);
}

/* Powers of 2 are scaled exactly, and neither large nor small values leave the range of fp64. */
TEST(each_product_reads_the_one_before)
{
    static const double sizes[] = {1, 1024, 0x1p-900, 0x1p1000};
    static const char *const kernel[] = {"csr-serial", "csr-openmp", "ell-serial"};
    double us, y[N];
    struct err e = {0};
    for (int i = 0; i < COUNT(sizes) * COUNT(kernel); i++) {
        struct csr A = shift(sizes[i % COUNT(sizes)]);
        if (!chain(kernel[i / COUNT(sizes)], &A, &fake.dev, P_F64, 70, &us, y, &e)) fail_msg("%s", e.text);
        assert_true(us > 0);
        check_moved(y, CHAIN_PRODUCTS);
        csr_free(&A);
    }
}

/* The emulator runs two products, on each of which a kernel must agree with the reference. */
TEST(the_emulator_checks_two_products)
{
    double us, y[N];
    struct err e = {0};
    struct csr A = shift(4);
    if (!chain("csr-vector", &A, open_or_fail("emu"), P_F64, 0, &us, y, &e)) fail_msg("%s", e.text);
    assert_true(isnan(us));
    check_moved(y, 2);
    csr_free(&A);
}

/* The largest sum of a row, 2^127, has no larger power of 2 in fp32, and its products no smaller element than x. */
TEST(no_product_overflows_in_fp32)
{
    double us, y[N], most = 0;
    struct err e = {0};
    struct csr A = shift(0x1p127);
    if (!chain("csr-serial", &A, &fake.dev, P_F32, 1, &us, y, &e)) fail_msg("%s", e.text);
    for (int i = 0; i < N; i++) most = max_or_nan(most, fabs(y[i]));
    assert_true(most > 0.5 && most <= 1);
    csr_free(&A);
}

/* One row has the norm 10^6, and all eigenvalues are 1: with 1 / ||A||_inf, the vector would be 0 after 54 products. */
TEST(the_vector_does_not_vanish)
{
    double us, y[N], most = 0, least = INFINITY;
    struct err e = {0};
    struct csr A;
    int row[N + 1], col[N + 1];
    double val[N + 1];
    for (int i = 0; i <= N; i++) row[i] = col[i] = i % N, val[i] = 1;
    row[N] = 0, col[N] = N - 1, val[N] = 1e6;
    assert_true(csr_from_triplets(&A, N, N, N + 1, row, col, val, NULL, NULL, NULL));
    for (int i = 0; i < 2; i++) {
        if (!chain("csr-serial", &A, &fake.dev, i ? P_F32 : P_F64, 1, &us, y, &e)) fail_msg("%s", e.text);
        for (int k = 0; k < N; k++) most = max_or_nan(most, fabs(y[k])), least = fmin(least, fabs(y[k]));
        assert_true(least > 1e-30 && most < 1e30);
    }
    csr_free(&A);
}

/* The time of a graph is that of all its products. */
TEST(a_graph_is_timed_as_one_launch)
{
    double us, y[N];
    struct err e = {0};
    struct csr A = shift(2);
    fake.dev.ops = &with_graphs;
    fake.launch_us = 640;
    if (!chain("csr-serial", &A, &fake.dev, P_F64, 0, &us, y, &e)) fail_msg("%s", e.text);
    assert_true(us == 10);
    assert_int_equal(fake.launches, 3 + 11); /* three before the timed ones */
    assert_int_equal(graph.replayed, 3 + 11);
    assert_int_equal(graph.recorded, 1);
    assert_int_equal(graph.forgotten, 1);
    check_moved(y, CHAIN_PRODUCTS);
    csr_free(&A);
}

TEST(launches_that_cannot_be_recorded_are_refused)
{
    double us;
    struct err e = {0};
    struct csr A = shift(2);
    fake.dev.ops = &with_graphs;
    graph.refuses = true;
    assert_false(chain("csr-serial", &A, &fake.dev, P_F64, 0, &us, NULL, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    assert_string_equal(e.text, "its launches on fake cannot be recorded as a graph");
    assert_int_equal(graph.forgotten, 0);
    csr_free(&A);
}

/* A graph that runs nothing, and wrong values in what comes back. */
TEST(wrong_chains_are_found)
{
    double us;
    struct err e = {0};
    struct csr A = shift(2);
    fake.corrupt_in = 4; /* the last vectors of three chains of single launches, then the last two of the timed chain */
    assert_false(chain("csr-serial", &A, &fake.dev, P_F64, 1, &us, NULL, &e));
    assert_int_equal(e.code, E_NUMERIC);
    assert_non_null(strstr(e.text, "csr-serial on fake is wrong in a chain of 64 products"));
    err_clear(&e);
    fake.corrupt_in = 3;
    assert_false(chain("csr-serial", &A, &fake.dev, P_F64, 1, &us, NULL, &e));
    assert_int_equal(e.code, E_NUMERIC);
    assert_non_null(strstr(e.text, "gives other bits in a chain of 64 products than in single launches"));
    err_clear(&e);
    fake.dev.ops = &with_graphs;
    graph.idle = true;
    assert_false(chain("csr-serial", &A, &fake.dev, P_F64, 1, &us, NULL, &e));
    assert_int_equal(e.code, E_NUMERIC);
    csr_free(&A);
}

/* Each kernel in each format, five times. */
TEST(chains_repeat_their_bits)
{
    check_chains(open_or_fail("cpu"), 20000, 5, 2);
    check_chains(open_or_fail("emu"), 2000, 1, 1);
}

TEST(the_norm_is_the_largest_sum_of_a_row)
{
    double norm;
    struct csr A;
    int row[] = {0, 0, 1, 2}, col[] = {0, 2, 1, 2};
    double val[] = {3, -4, 6.5, 0}, imag[] = {4, 3, 0, 0};
    assert_true(csr_from_triplets(&A, 3, 3, 4, row, col, val, NULL, NULL, NULL));
    assert_true(norm_inf(&A, &norm, NULL) && norm == 7);
    csr_free(&A);
    assert_true(csr_from_triplets(&A, 3, 3, 4, row, col, val, imag, NULL, NULL));
    assert_true(norm_inf(&A, &norm, NULL) && norm == 10);
    A.val[2] = NAN;
    assert_true(norm_inf(&A, &norm, NULL) && isnan(norm));
    csr_free(&A);
}

/* ---- the command ---- */

TEST(bench_chain_has_a_column_and_says_what_it_shows)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 9 as A"));
    talk_says(&t, "bench chain csr-serial on fake reps 2", "kernel        us  in a chain us");
    talk_says(&t, "bench chain csr-serial on fake reps 2",
              "the device has no graphs, so they are launched one by one.");
    talk_says(&t, "bench A chain csr-vector on emu", "the first two are checked.");
    fake.dev.ops = &with_graphs;
    fake.launch_us = 64;
    talk_says(&t, "bench chain csr-serial on fake", "csr-serial  64.00           1.00");
    talk_says(&t, "bench chain csr-serial on fake", "the chain is one graph.");
    graph.refuses = true;
    talk_says(&t, "bench chain csr-serial on fake",
              "csr-serial is not timed in a chain: its launches on fake cannot be recorded as a graph.");
    assert_true(talk_line(&t, "bench csr-serial on fake reps 2"));
    assert_null(strstr(t.out, "chain"));
    talk_close(&t);
}

TEST(bench_chain_fills_the_keys)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    fake.dev.ops = &with_graphs;
    fake.launch_us = 64;
    assert_true(talk_line(&t, "gen poisson2d 9 as A"));
    talk_says(&t, "bench chain csr-serial on fake", "\"time_us\":64,\"chain_us\":1,\"chain_reason\":null");
    talk_says(&t, "bench csr-serial on fake", "\"time_us\":64,\"chain_us\":null,\"chain_reason\":null");
    graph.refuses = true;
    talk_says(&t, "bench chain csr-serial on fake", "\"chain_us\":null,\"chain_reason\":\"its launches on fake");
    talk_close(&t);
}

TEST(bench_chain_refuses_other_products)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 40 3 20 as W"));
    talk_refuses(&t, "bench chain on cpu", "it needs a square matrix; W is 40 x 20");
    assert_true(talk_line(&t, "gen poisson2d 9 as A"));
    talk_refuses(&t, "bench chain alpha 2 on cpu", "a chain multiplies by A alone");
    talk_refuses(&t, "bench chain beta 1 on cpu", "a chain multiplies by A alone");
    fake.corrupt_in = 6; /* two results of the product alone, and three of chains of single launches */
    talk_refuses(&t, "bench chain csr-serial on fake reps 1", "a kernel's result is wrong");
    talk_close(&t);
}

SUITE(.before = fresh, .after = close_all);
