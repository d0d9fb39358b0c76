/* The command bench: the order of the kernels, the number of launches, what its kernels share, and results that are
   shown before the end and kept after Ctrl-C. */
#include "base/watch.h"
#include "commands/bench_order.h"
#include "formats/format.h"
#include "gpu/dev.h"
#include "kits/dev_fake.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "session/product.h"

enum { BUDGET = 4000000 };

static struct fake fake;

static int fresh(void **state)
{
    return !fake_open(&fake, "fake", "cpu", BUDGET, NULL);
}

static int close_devices(void **state)
{
    devices_close();
    return fake.nblocks;
}

/* ---- launches ---- */

static bool nothing(void *ctx, struct err *e)
{
    return true;
}

/* Kernels that are far behind the fastest get few launches; a number that the user gives is obeyed. */
TEST(slow_kernels_get_few_launches)
{
    static const struct {
        double us, before_us, best_us;
        int given, reps, launches; /* launches: with those before the timed ones */
    } cases[] = {
        {100, 0, 0, 0, 1000, 1003},   {1000, 1000, 0, 0, 199, 202},   {1000, 1000, 900, 0, 199, 202},
        {1000, 1000, 500, 0, 19, 22}, {1000, 1000, 200, 0, 5, 6},     {1000, 1000, 50, 0, 3, 3},
        {10, 10, 0.5, 0, 198, 198},   {60000, 60000, 50000, 0, 5, 5}, {60000, 60000, 1000, 0, 3, 3},
        {1000, 1000, 1, 7, 7, 10},    {60000, 60000, 1, 2, 2, 2},     {60000, 0, 0, 0, 5, 6},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct timed t = {&fake.dev, "nothing", nothing, NULL, cases[i].before_us, cases[i].best_us};
        int reps = cases[i].given;
        double us, spread;
        fake.launch_us = cases[i].us;
        fake.launches = 0;
        assert_true(bench_times(&t, &reps, NULL, &us, &spread, NULL));
        assert_true(us == cases[i].us && spread == 0);
        if (reps != cases[i].reps || fake.launches != cases[i].launches)
            fail_msg("case %d: %d repetitions, %d launches", i, reps, (int)fake.launches);
    }
}

/* ---- what kernels share ---- */

/* Bench each kernel for the host of csr and ell; b NULL: each alone. */
static void bench_some(struct bench_shared *b, const struct csr *A, const struct operation *op, struct run *out)
{
    static const char *const names[] = {"csr-serial", "csr-openmp", "ell-serial", "ell-openmp"};
    for (int i = 0; i < COUNT(names); i++) {
        struct err e = {0};
        struct stored S = {0};
        struct mat M = {0};
        const struct kernel *k = kernel_find(names[i]);
        bool ok = format_pack(A, k->format, NULL, P_F64, false, &S, &e) && mat_put(&M, &S, &fake.dev, &e) &&
                  bench_operation(&(struct bench_job){k, A, &M, op, 3, 0, b}, NULL, &out[i], &e);
        mat_free(&M);
        stored_free(&S);
        if (!ok) fail_msg("%s: %s", names[i], e.text);
    }
}

/* Two references for all kernels of one operation, which give the same errors as a reference for each kernel. */
TEST(references_are_computed_once)
{
    static const struct shape grid = {.name = "grid", .rows = 90, .cols = 80, .entries = 500, .long_row = 3};
    static const struct operation scaled = {2, 3, NULL};
    struct bench_shared b = {0};
    struct run shared[4], alone[4];
    struct csr A = shape_csr(&grid, 4);
    bench_some(&b, &A, &operation_product, shared);
    assert_int_equal(b.computed, 2);
    bench_some(NULL, &A, &operation_product, alone);
    for (int i = 0; i < COUNT(shared); i++)
        assert_true(shared[i].error.worst == alone[i].error.worst && shared[i].error.worst > 0);
    assert_true(b.best_us > 0);
    bench_shared_free(&b);
    b = (struct bench_shared){0};
    bench_some(&b, &A, &scaled, shared);
    assert_int_equal(b.computed, 2);
    bench_shared_free(&b);
    csr_free(&A);
}

/* A result that differs from a reference of the other kernels is wrong. */
TEST(a_wrong_result_is_found)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 9 as A"));
    talk_forget(&t);
    fake.corrupt_in = 7; /* two results per kernel: the first of the fourth */
    assert_false(talk_line(&t, "bench csr ell on fake reps 1"));
    assert_non_null(strstr(t.out, "on fake is wrong: y[0] is 1e+30"));
    assert_non_null(strstr(t.out, "csr-serial"));
    assert_non_null(strstr(t.err, "a kernel's result is wrong"));
    talk_close(&t);
}

/* ---- what a device packed ---- */

/* The host lacks the long arrays, until session_product gives it the arrays that the host would have packed. */
static void check_completed(struct talk *t, const char *format, bool device_lost)
{
    struct err e = {0};
    struct stored want;
    struct matrix *m = t->s.current;
    struct device *emu = device_open("emu", &e);
    const struct format *f = format_find(format);
    struct form there = form_of(m, f, NULL, P_F64);
    there.packer = emu;
    there.there = true;
    struct product *p = session_product(&t->s, there, &e);
    if (!p) fail_msg("%s: %s", format, e.text);
    for (int k = 0; k < p->S.narrays; k++) {
        enum role role = p->S.a[k].role;
        assert_int_equal(p->S.a[k].data == NULL, role == ROLE_VALUES || role == ROLE_COLUMNS);
    }
    if (device_lost) mat_free(&p->mat[--p->nmats]);
    assert_ptr_equal(session_product(&t->s, form_of(m, f, NULL, P_F64), &e), p);
    assert_true(format_pack(&m->csr, f, NULL, P_F64, false, &want, &e));
    for (int k = 0; k < want.narrays; k++)
        assert_memory_equal(p->S.a[k].data, want.a[k].data, want.a[k].n * (int64_t)type_size(want.a[k].type));
    stored_free(&want);
}

TEST(the_host_gets_long_arrays_when_it_needs_them)
{
    static const char *const names[] = {"ell", "hyb", "sell", "hdia", "sc-csr"};
    for (int i = 0; i < 2 * COUNT(names); i++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, "gen random 60 5 50 as A"));
        check_completed(&t, names[i / 2], i % 2);
        talk_close(&t);
    }
}

/* ---- the order ---- */

/* The default kernel of csr comes first, then that of each format, then the other kernels. */
TEST(likely_kernels_come_first)
{
    enum { MAX = 200 };
    struct talk t;
    struct err e = {0};
    struct entrant list[MAX];
    int n = 0, dia = 0, coo = 0, dense = 0;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 100 as A"));
    const struct device *d = device_open("cpu", &e);
    const struct csr *A = &t.s.current->csr;
    for (int i = 0; kernels[i] && n < MAX; i++)
        if (kernel_runs_on(kernels[i], d)) list[n++] = (struct entrant){.kernel = kernels[i], .real = P_F64};
    bench_order(list, n, A, d, NULL);
    assert_string_equal(list[0].kernel->name, "csr-openmp");
    for (int i = 0; i < n; i++) {
        const struct kernel *k = list[i].kernel;
        if (list[i].group == 1) assert_ptr_equal(k, kernel_default(k->format, A, d));
        if (i) assert_true(list[i].group >= list[i - 1].group);
        if (!strcmp(k->name, "dia-openmp")) dia = i;
        if (!strcmp(k->name, "coo-openmp")) coo = i;
        if (!strcmp(k->name, "dense-openmp")) dense = i;
    }
    assert_true(dia < coo && coo < dense && list[dense].group == 1);
    talk_close(&t);
}

/* ---- results as they come ---- */

enum { KERNELS_DONE = 4 };

struct seen {
    struct talk *t;
    struct watch above;
    int most; /* rows printed while kernels were being measured */
};

static int rows_of(const struct talk *t)
{
    int n = 0;
    for (const char *p = t->out; (p = strstr(p, "\"kernel\":")); p++) n++;
    return n;
}

/* Cancel after KERNELS_DONE kernels. */
static bool look(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct seen *v = w->user;
    if (strcmp(what, "kernels") != 0) return true;
    talk_refresh(v->t);
    assert_true(total > KERNELS_DONE);
    if (out_mode(v->t->s.out) == OUT_JSON) assert_int_equal(rows_of(v->t), done);
    v->most = (int)done;
    return done < KERNELS_DONE;
}

static void bench_and_cancel(struct talk *t, enum out_mode mode)
{
    struct seen v = {.t = t};
    talk_open(t, mode);
    assert_true(talk_line(t, "gen poisson2d 5 as A"));
    talk_forget(t);
    t->s.watch = (struct watch){look, &v};
    assert_false(talk_line(t, "bench on emu"));
    assert_int_equal(v.most, KERNELS_DONE);
    assert_ptr_equal(t->s.watch.tick, look);
}

/* Each row of JSON is there before the next kernel is measured. */
TEST(json_has_each_row_at_once)
{
    struct talk t;
    bench_and_cancel(&t, OUT_JSON);
    assert_int_equal(rows_of(&t), KERNELS_DONE);
    assert_non_null(strstr(t.out, "cancelled"));
    assert_int_equal(t.s.nruns, KERNELS_DONE);
    talk_close(&t);
}

TEST(a_cancelled_bench_shows_what_it_measured)
{
    struct talk t;
    bench_and_cancel(&t, OUT_CSV);
    assert_non_null(strstr(t.out, "\nA,25,25,105,"));
    assert_non_null(strstr(t.err, "cancelled"));
    talk_close(&t);
}

SUITE(.before = fresh, .after = close_devices);
