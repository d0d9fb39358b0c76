/* Predictions are corrected by a bench of a similar matrix, and only by that. */
#include "advice/correction.h"
#include "advice/predicted.h"
#include "base/precision.h"
#include "base/text.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/modeled.h"
#include "session/matrix.h"
#include "session/spmv.h"

#include <math.h>
#include <stdlib.h>

static struct device gpu = {.name = "cuda:0", .kind = DEV_CUDA};
static struct modeled modeled;

static double predicted(struct talk *t, struct matrix *m, const char *kernel)
{
    struct err e = {0};
    struct machine g = machine_reference();
    if (!modeled_kernel(&t->s, m, kernel_find(kernel), NULL, P_F64, &g, &modeled, &e)) fail_msg("%s", e.text);
    return modeled.time.us;
}

static struct correction correction(struct talk *t, struct matrix *m, const char *kernel, enum precision real)
{
    struct err e = {0};
    struct correction c;
    struct machine g = machine_reference();
    if (!correction_of(&t->s, m, kernel_find(kernel), real, &g, &c, &e)) fail_msg("%s", e.text);
    return c;
}

/* A bench of A in which csr-scalar takes twice and ell half as long as predicted. */
static struct matrix *bench_of_a(struct talk *t)
{
    struct err e = {0};
    assert_true(talk_line(t, "gen poisson2d 40 as A"));
    struct matrix *A = t->s.current;
    struct run r[] = {
        {.kernel = kernel_find("csr-scalar"), .dev = &gpu, .real = P_F64, .us = 2 * predicted(t, A, "csr-scalar")},
        {.kernel = kernel_find("ell"), .dev = &gpu, .real = P_F64, .us = 0.5 * predicted(t, A, "ell")}};
    assert_true(spmv_keep(&t->s, A, r, COUNT(r), NULL, &e));
    return A;
}

TEST(similar_matrices_are_corrected)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    struct matrix *A = bench_of_a(&t);
    assert_true(talk_line(&t, "gen poisson2d 50 as B"));
    struct correction own = correction(&t, t.s.current, "csr-scalar", P_F64);
    struct correction mean = correction(&t, t.s.current, "sell", P_F64);
    assert_true(own.kernels == 1 && fabs(own.factor - 2) < 1e-12 && own.from == A->name);
    assert_true(mean.kernels == 2 && fabs(mean.factor - 1) < 1e-12);
    talk_says(&t, "predict csr-scalar", "Corrected by what was measured for A, a similar matrix: 2.00 times");
    talk_says(&t, "advise", "corrected by the times that were measured for A");
    talk_close(&t);
}

TEST(others_are_not)
{
    static const char *const others[] = {"gen rmat 10 3 as R", "gen poisson2d 300 as large", "gen dense 60 as D"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    struct matrix *A = bench_of_a(&t);
    assert_int_equal(correction(&t, A, "csr-scalar", P_F32).kernels, 0);
    for (int i = 0; i < COUNT(others); i++) {
        assert_true(talk_line(&t, others[i]));
        struct correction c = correction(&t, t.s.current, "csr-scalar", P_F64);
        assert_true(c.kernels == 0 && c.factor == 1);
    }
    assert_true(talk_line(&t, "predict csr-scalar"));
    assert_null(strstr(t.out, "orrected"));
    assert_true(talk_line(&t, "use A; set gpu a100"));
    assert_int_equal(correction(&t, A, "csr-scalar", P_F64).kernels, 0);
    talk_close(&t);
}

/* The matrix itself has measured times: only its other kernels are corrected. */
TEST(measured_kernels_are_not_corrected)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    bench_of_a(&t);
    assert_true(talk_line(&t, "predict csr-scalar"));
    assert_null(strstr(t.out, "orrected"));
    talk_says(&t, "predict sell", "Corrected by what was measured for A");
    talk_close(&t);
}
