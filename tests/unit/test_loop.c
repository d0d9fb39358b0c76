/* Ctrl-C in long loops: the helper of base/loop.h, packing, transposing, and launches on the emulator. */
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "formats/format.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "matrix/gen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns true for the first `left` ticks, then cancels the work. */
static bool few_ticks(struct watch *w, const char *what, int64_t done, int64_t total)
{
    int *left = w->user;
    return (*left)-- > 0;
}

static int64_t sum_of(struct loop *l, int64_t n)
{
    int64_t sum = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARE) reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        if (loop_goes(l, i)) sum++;
    return sum;
}

TEST(a_loop_without_a_watch_is_complete)
{
    struct loop l = loop_of("counting", 100000);
    struct err e = {0};
    assert_int_equal(sum_of(&l, 100000), 100000);
    assert_true(loop_end(&l, &e) && loop_tick("counting", 0, 0, &e));
}

TEST(a_cancelled_loop_stops_all_threads_and_all_further_loops)
{
    enum { MANY = 400000000 };
    int left = 3;
    struct watch w = {few_ticks, &left};
    struct err e = {0};
    assert_null(loop_enter(&w));
    struct loop l = loop_of("counting", MANY), next;
    assert_true(sum_of(&l, MANY) < MANY);
    assert_false(loop_end(&l, &e));
    assert_int_equal(e.code, E_CANCELLED);
    assert_string_equal(e.text, "counting: cancelled");
    next = loop_of("more", 10);
    assert_int_equal(sum_of(&next, 10), 0);
    err_clear(&e);
    left = 1000;
    assert_false(loop_end(&next, &e) || loop_tick("more", 0, 0, &e));
    assert_ptr_equal(loop_enter(NULL), &w);
    next = loop_of("again", 10);
    assert_int_equal(sum_of(&next, 10), 10);
}

/* Shares of a loop add up to all its elements. After a stop, no element is left, and the number of iterations of the
   parallel loop is the number of shares, not of elements. */
TEST(shares_cover_each_element_once)
{
    static const int64_t sizes[] = {0, 1, LOOP_EVERY - 1, LOOP_EVERY, LOOP_EVERY + 1, 100 * LOOP_EVERY + 7};
    int left = 0;
    struct watch w = {few_ticks, &left};
    for (int s = 0; s < COUNT(sizes); s++) {
        int64_t n = sizes[s], sum = 0, seen = 0;
        struct loop l = loop_of("adding", n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : sum, seen)
        for (int64_t from = 0; from < n; from += LOOP_EVERY)
            for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++) sum += i, seen++;
        assert_true(seen == n && sum == n * (n - 1) / 2);
    }
    loop_enter(&w);
    struct loop l = loop_of("adding", 1000);
    assert_true(loop_runs(&l));
    assert_int_equal(loop_share(&l, 0, 1000), 0);
    assert_int_equal(loop_share(&l, 768, 1000), 768);
    assert_false(loop_runs(&l));
    loop_enter(NULL);
}

TEST(a_cancelled_copy_says_so)
{
    int left = 0;
    struct watch w = {few_ticks, &left};
    struct err e = {0};
    char from[4] = "abc", to[4] = "";
    assert_true(loop_copy(to, from, 4, "copying", &e));
    assert_string_equal(to, "abc");
    assert_true(loop_zero(to, 4, "clearing", &e) && !to[0] && !to[2]);
    loop_enter(&w);
    assert_false(loop_copy(to, from, 4, "copying", &e));
    assert_int_equal(e.code, E_CANCELLED);
    err_clear(&e);
    assert_false(loop_zero(to, 4, "clearing", &e));
    assert_int_equal(e.code, E_CANCELLED);
    loop_enter(NULL);
}

/* A search for NaN that was stopped has found nothing, and the caller's check fails. */
TEST(a_search_for_nan_can_be_cancelled)
{
    enum { N = 1 << 20 };
    int left = 0;
    struct watch w = {few_ticks, &left};
    struct csr A = {0};
    struct err e = {0};
    assert_true(csr_new(&A, 1, N, N, false, NULL));
    for (int i = 0; i < N; i++) A.val[i] = i < N - 2 ? 1 : NAN;
    assert_int_equal(first_not_finite(N, A.val), N - 2);
    loop_enter(&w);
    assert_int_equal(first_not_finite(N, A.val), N);
    assert_false(csr_finite(&A, "solve", &e));
    assert_int_equal(e.code, E_CANCELLED);
    loop_enter(NULL);
    csr_free(&A);
}

static void grid(struct csr *A)
{
    int64_t p[PARAMS_MAX] = {40, 40};
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, A, NULL));
}

/* A conversion that is cancelled at any of its ticks fails with E_CANCELLED or is complete, and frees what it
   allocated. */
TEST(every_conversion_can_be_cancelled)
{
    struct csr A = {0};
    grid(&A);
    loop_check_all(true);
    for (int i = 0; formats[i]; i++)
        for (int ticks = 0, ok = 0; !ok; ticks++) {
            int left = ticks;
            struct watch w = {few_ticks, &left};
            struct stored S;
            struct err e = {0};
            loop_enter(&w);
            ok = format_pack(&A, formats[i], NULL, P_F64, true, &S, &e);
            assert_true(ok || e.code == E_CANCELLED);
            assert_true(!ok || ticks > 0);
            loop_enter(NULL);
            stored_free(&S);
        }
    loop_check_all(false);
    csr_free(&A);
}

TEST(a_transpose_can_be_cancelled)
{
    int left = 0;
    struct watch w = {few_ticks, &left};
    struct csr A = {0}, T = {0};
    struct err e = {0};
    grid(&A);
    loop_enter(&w);
    assert_false(csr_transpose(&T, &A, &e));
    assert_int_equal(e.code, E_CANCELLED);
    assert_null(T.val);
    loop_enter(NULL);
    csr_free(&A);
}

/* A launch that was cut short leaves the emulator ready: the next launch gives the right result. */
TEST(launches_on_the_emulator_can_be_cancelled)
{
    struct csr A = {0};
    struct stored S;
    struct mat M;
    struct device *emu = device_open("emu", NULL);
    grid(&A);
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        int cancelled = 0, ok = 0;
        if (!kernel_runs_on(k, emu) || !format_pack(&A, k->format, k->param, P_F64, true, &S, NULL)) continue;
        assert_true(mat_put(&M, &S, emu, NULL));
        for (int ticks = 0; !ok && (!k->fits || k->fits(&S, NULL)); ticks++) {
            int left = ticks;
            struct watch w = {few_ticks, &left};
            struct verdict v;
            struct err e = {0};
            loop_enter(&w);
            ok = bench_check(k, &A, &M, 1.5, -0.5, 1, NULL, &v, &e);
            loop_enter(NULL);
            assert_true(ok ? v.ok : e.code == E_CANCELLED);
            cancelled += !ok;
        }
        assert_true(cancelled > 2 || !ok);
        mat_free(&M);
        stored_free(&S);
    }
    csr_free(&A);
}

/* Every kernel of the host looks for Ctrl-C within a launch, and a launch that was stopped fails. */
TEST(launches_on_the_host_can_be_cancelled)
{
    struct csr A = {0};
    struct device *cpu = device_open("cpu", NULL);
    grid(&A);
    double *x = mem_zero(A.cols, sizeof *x, "x", NULL), *y = mem_zero(A.rows, sizeof *y, "y", NULL);
    assert_true(x && y);
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        int left = 0;
        struct watch w = {few_ticks, &left};
        struct stored S;
        struct mat M;
        struct err e = {0};
        if (!kernel_runs_on(k, cpu) || !format_pack(&A, k->format, k->param, P_F64, true, &S, NULL)) continue;
        assert_true(mat_put(&M, &S, cpu, NULL));
        struct launch L = {.A = &M, .alpha = 1, .x = x, .y = y, .threads = 1};
        if (!k->fits || k->fits(&S, NULL)) {
            loop_check_all(true);
            loop_enter(&w);
            if (kernel_launch(k, &L, &e) || e.code != E_CANCELLED) fail_msg("%s ignores Ctrl-C", k->name);
            loop_enter(NULL);
            loop_check_all(false);
            assert_true(kernel_launch(k, &L, NULL));
        }
        mat_free(&M);
        stored_free(&S);
    }
    mem_free(x);
    mem_free(y);
    csr_free(&A);
}
