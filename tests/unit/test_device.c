/* Devices by name, their memory and clocks, the ceilings and the bench; every failing call ends with a clear error and
   releases everything. */
#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
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

#include <string.h>

enum { BUDGET = 4000000 };

static struct fake fake;

static int fresh(void **state)
{
    struct err e = {0};
    const char *base = *state ? *state : "emu";
    if (fake_open(&fake, "fake", base, BUDGET, &e)) return 0;
    print_error("%s\n", e.text);
    return 1;
}

static int close_devices(void **state)
{
    devices_close();
    return fake.nblocks;
}

/* ---- names ---- */

TEST_WITH(test_open, "emu")
{
    static const char *const names[] = {"cpu", "emu", "fake"};
    for (int i = 0; i < COUNT(names); i++) {
        struct err e = {0};
        struct device *d = device_open(names[i], &e);
        assert_non_null(d);
        assert_string_equal(d->name, names[i]);
        assert_ptr_equal(device_open(names[i], &e), d);
        assert_true(*d->about && d->units > 0 && !d->lost);
    }
    assert_int_equal(device_count(DEV_CPU), 1);
    assert_int_equal(device_count(DEV_EMU), 1);
    assert_false(device_register(&fake.dev));
    assert_non_null(device_default());
}

static const struct {
    const char *name, *text;
} refused[] = {
    {"gpu", "no device is called 'gpu'; this machine has cpu, emu"},
    {"", "no device is called ''"},
    {"cpu:0", "no device is called 'cpu:0'"},
    {"cpu0", "no device is called 'cpu0'"},
    {"cuda:", "no device is called 'cuda:'"},
    {"cuda:x", "no device is called 'cuda:x'"},
    {"cuda:1x", "no device is called 'cuda:1x'"},
    {"cuda:-1", "no device is called 'cuda:-1'"},
    {"\033[2J", "no device is called '\\x1b[2J'"},
    {"cuda:99999999999999999999", "cpu"}, /* the number is too high, or there is no CUDA at all */
#ifndef HAVE_CUDA
    {"cuda", "this build has no CUDA; build with the toolkit"},
    {"cuda:3", "this build has no CUDA; build with the toolkit"},
#endif
};

TEST_WITH(test_refused, "cpu")
{
    for (int i = 0; i < COUNT(refused); i++) {
        struct err e = {0};
        assert_null(device_open(refused[i].name, &e));
        if (!strstr(e.text, refused[i].text)) fail_msg("'%s': %s", refused[i].name, e.text);
    }
}

/* ---- memory ---- */

TEST_WITH(test_memory, "cpu")
{
    static const char *const names[] = {"cpu", "emu"};
    for (int i = 0; i < COUNT(names); i++) {
        struct err e = {0};
        int64_t left, total;
        double in[] = {1, 2, 3}, out[3] = {0};
        struct device *d = device_open(names[i], &e);
        void *p = d->ops->alloc(d, sizeof in, "three numbers", &e), *none = d->ops->alloc(d, 0, "nothing", &e);
        assert_true(p && none && (uintptr_t)p % 256 == 0);
        assert_true(d->ops->put(d, p, in, sizeof in, &e) && d->ops->get(d, out, p, sizeof out, &e));
        assert_memory_equal(in, out, sizeof in);
        assert_true(d->ops->memory(d, &left, &total, &e) && left > 0 && left <= total);
        d->ops->free(d, p);
        d->ops->free(d, none);
    }
}

/* ---- ceilings ---- */

TEST_WITH(test_ceilings, "cpu")
{
    struct err e = {0};
    const struct ceilings *c = &fake.dev.ceilings;
    if (!device_ceilings(&fake.dev, NULL, &e)) fail_msg("%s", e.text);
    assert_true(c->measured && c->read_gbs > 0 && c->copy_gbs > 0 && c->cache_gbs > 0 && c->gather_gps > 0);
    assert_true(c->gather_cache_gps > 0 && c->cache_bytes > 0);
    assert_true(c->launch_us > 0 && c->launch_us < 1e6);
    assert_int_equal(fake.nblocks, 0);
    assert_true(fake.most <= 4 * maker_cpu.cache(&fake.dev) + 4096);
    assert_false(device_ceilings(device_open("emu", &e), NULL, &e));
    assert_non_null(strstr(e.text, "models accesses, not time"));
}

/* The longest of the times of the bytes, the gathers and a launch is the bound; only a GPU has the last two. */
TEST_WITH(test_bounds, "cpu")
{
    struct device gpu = {.kind = DEV_CUDA}, host = {.kind = DEV_CPU};
    const struct stored S = {.cols = 1000, .real = P_F64};
    const struct ceilings c = {.measured = true,
                               .read_gbs = 1000,
                               .copy_gbs = 800,
                               .cache_gbs = 5000,
                               .cache_bytes = 2000000,
                               .gather_gps = 10,
                               .gather_cache_gps = 100,
                               .launch_us = 3};
    const struct {
        const struct device *dev;
        int64_t bytes, gathers;
        enum run_bound by;
        double us;
    } cases[] = {{&gpu, 500, 0, BY_LAUNCH, 3},
                 {&gpu, 5000000, 0, BY_BYTES, 4.2},
                 {&gpu, 900000, 20000000, BY_GATHERS, 200},
                 {&host, 900000, 20000000, BY_BYTES, 0.18},
                 {&host, 500, 0, BY_BYTES, 0.0001}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct run r = {.dev = cases[i].dev, .of = &S, .real = P_F64, .bytes = cases[i].bytes};
        run_bounds(&r, cases[i].gathers, &c);
        assert_int_equal(r.bound, cases[i].by);
        assert_true(fabs(r.bound_us - cases[i].us) < 1e-9 * cases[i].us);
    }
    struct run r = {.dev = &gpu, .of = &S, .real = P_F64, .bytes = 500};
    run_bounds(&r, 0, &(struct ceilings){0});
    assert_true(r.bound == BY_NOTHING && isnan(r.bound_us));
}

/* The kernels that measure a GPU, run on the emulator: copies are exact, each pass reads every element once, and the
   gather reads as many elements as requested. */
TEST_WITH(test_ceiling_kernels, "emu")
{
    enum { N = 2048, LANES = 768, PASSES = 3 };
    static const struct ceiling_ops *const all[] = {&emu_kernel_ceilings, &host_ceilings};
    struct err e = {0};
    struct device *d = device_open("emu", &e);
    double *x = mem_new(N, 8, "x", &e), *y = mem_new(N, 8, "y", &e), *sums = mem_new(LANES, 8, "sums", &e);
    for (int k = 0; k < COUNT(all); k++) {
        double read = 0, gathered = 0;
        all[k]->fill(d, N, 0.5, x);
        x[N - 1] = 8.5;
        all[k]->copy(d, N, x, y);
        all[k]->empty(d);
        all[k]->read(d, N, PASSES, x, LANES, sums);
        assert_true(d->ops->sync(d, &e));
        for (int i = 0; i < LANES; i++) read += sums[i];
        assert_memory_equal(x, y, N * sizeof *x);
        assert_true(read == PASSES * (N * 0.5 + 8));
        all[k]->fill(d, N, 1, x);
        all[k]->gather(d, N, 1000, x, LANES, sums);
        assert_true(d->ops->sync(d, &e));
        for (int i = 0; i < LANES; i++) gathered += sums[i];
        assert_true(gathered == 1000);
    }
    mem_free(x);
    mem_free(y);
    mem_free(sums);
}

/* ---- the bench and its failures ---- */

static const struct shape grid = {.name = "grid", .rows = 90, .cols = 80, .entries = 500, .long_row = 3};

/* The first kernel of a format is its simplest kernel, because kernels that are added later come after the first
   kernel. */
static const struct kernel *simplest(const struct format *f, const struct device *d)
{
    for (int i = 0; kernels[i]; i++)
        if (kernel_runs_on(kernels[i], d) && kernels[i]->format == f) return kernels[i];
    return NULL;
}

/* Pack, copy and bench. All memory is released, even after a failure. */
static bool bench_once(const char *format, int reps, struct watch *w, struct run *r, struct err *e)
{
    struct csr A = shape_csr(&grid, 4);
    struct stored S = {0};
    struct mat M = {0};
    const struct format *f = format_find(format);
    bool put = format_pack(&A, f, NULL, P_F64, false, &S, e) && mat_put(&M, &S, &fake.dev, e);
    if (!put) assert_int_equal(fake.nblocks, 0);
    bool ok = put && bench_kernel(simplest(f, &fake.dev), &A, &M, reps, w, r, e);
    mat_free(&M);
    stored_free(&S);
    csr_free(&A);
    return ok;
}

TEST_WITH(test_bench, "cpu")
{
    struct err e = {0};
    struct run r;
    struct csr A = shape_csr(&grid, 4);
    fake.dev.ceilings = (struct ceilings){.measured = true, .read_gbs = 10};
    if (!bench_once("csr", 0, NULL, &r, &e)) fail_msg("%s", e.text);
    assert_int_equal(r.bytes, A.nnz * 12 + 91 * 4 + (80 + 90) * 8);
    assert_true(r.reps >= 5 && r.us > 0 && r.spread_us >= 0 && r.first_us > 0 && r.error.ok);
    assert_float_equal(r.gbs, (double)r.bytes / r.us / 1e3, 1e-9);
    assert_float_equal(r.gflops, 2 * (double)A.nnz / r.us / 1e3, 1e-9);
    assert_float_equal(r.share, r.gbs / 10, 1e-9);
    assert_string_equal(r.kernel->name, "csr-serial");
    assert_true(bench_once("ell", 7, NULL, &r, &e) && r.reps == 7);
    csr_free(&A);
}

/* kernel_bytes counts the arrays, x and y once each, but counts y twice if y is also read. The padding of ELL is
   skipped, and the padding of BSR is read. */
TEST_WITH(test_bytes, "cpu")
{
    struct csr A = shape_csr(&grid, 4);
    struct stored S;
    const struct kernel *coo = kernel_find("coo-serial"), *ell = kernel_find("ell-serial"),
                        *bsr = kernel_find("bsr-serial");
    assert_true(format_pack(&A, format_find("coo"), NULL, P_F32, false, &S, NULL));
    assert_int_equal(kernel_bytes(coo, &S, 0), 12 * A.nnz + 4 * (80 + 90));
    assert_int_equal(kernel_bytes(coo, &S, -1), 12 * A.nnz + 4 * (80 + 2 * 90));
    stored_free(&S);
    assert_true(format_pack(&A, format_find("ell"), NULL, P_F64, false, &S, NULL));
    assert_true(stored_slots(&S) > A.nnz);
    assert_int_equal(kernel_bytes(ell, &S, 0), 12 * A.nnz + 8 * (80 + 90));
    stored_free(&S);
    assert_true(format_pack(&A, format_find("bsr"), NULL, P_F64, false, &S, NULL));
    assert_int_equal(kernel_bytes(bsr, &S, 0), stored_bytes(&S) + 8 * (80 + 90));
    stored_free(&S);
    csr_free(&A);
}

static bool stop(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return ++*(int *)w->user < 3;
}

TEST_WITH(test_cancel, "cpu")
{
    struct err e = {0};
    struct run r;
    int ticks = 0;
    struct watch w = {.tick = stop, .user = &ticks};
    assert_false(bench_once("csr", 1000, &w, &r, &e));
    assert_int_equal(e.code, E_CANCELLED);
    assert_int_equal(ticks, 3);
    assert_int_equal(fake.nblocks, 0);
}

TEST_WITH(test_wrong_result, "emu")
{
    for (int which = 1; which <= 2; which++) {
        struct err e = {0};
        struct run r;
        fake.corrupt_in = which;
        assert_false(bench_once("csr", 0, NULL, &r, &e));
        assert_int_equal(e.code, E_NUMERIC);
        assert_non_null(strstr(e.text, "csr-scalar on fake is wrong: y[0] is 1e+30, but the reference is"));
        assert_true(r.us == 0 && r.gbs == 0);
    }
}

/* Make the 1st, 2nd, ... call of each kind fail, until no call fails. */
static void check_each_call(void)
{
    for (int call = 0; call < FAKE_CALLS; call++)
        for (int n = 1;; n++) {
            struct err e = {0};
            struct run r;
            fake.fail_in[call] = n;
            bool ok = bench_once("hyb", 3, NULL, &r, &e);
            assert_int_equal(fake.nblocks, 0);
            if (ok) {
                assert_true(n > 1 || call == FAKE_SYNC);
                fake.fail_in[call] = 0;
                break;
            }
            assert_int_equal(e.code, E_DEVICE);
            assert_non_null(strstr(e.text, "as the test requested"));
        }
}

TEST_WITH(each_call_fails_on_cpu, "cpu")
{
    check_each_call();
}

TEST_WITH(each_call_fails_on_emu, "emu")
{
    check_each_call();
}

static bool bench_for_memory(const void *user, struct err *e)
{
    struct run r;
    struct stored S = {0};
    struct mat M = {0};
    const struct csr *A = user;
    bool ok = format_pack(A, format_find("csr"), NULL, P_F32, false, &S, e) && mat_put(&M, &S, &fake.dev, e) &&
              bench_kernel(kernel_find("csr-scalar"), A, &M, 1, NULL, &r, e);
    mat_free(&M);
    stored_free(&S);
    return ok;
}

TEST_WITH(test_each_allocation_fails, "emu")
{
    struct csr A = shape_csr(&grid, 4);
    assert_true(fail_each(bench_for_memory, &A) > 10);
    assert_int_equal(fake.nblocks, 0);
    csr_free(&A);
}

TEST_WITH(test_budget, "emu")
{
    static const char *const what[] = {"the array ptr of csr", "the array col of csr", "the array val of csr",
                                       "the vector x", "the vector y"};
    int met = 0;
    for (fake.budget = 0;; fake.budget += 8) {
        struct err e = {0};
        struct run r;
        if (bench_once("csr", 1, NULL, &r, &e)) break;
        assert_int_equal(e.code, E_MEMORY);
        assert_int_equal(fake.nblocks, 0);
        while (met < COUNT(what) && !strstr(e.text, what[met])) met++;
        if (met == COUNT(what)) fail_msg("not in the order of the arrays: %s", e.text);
    }
    assert_int_equal(met, COUNT(what) - 1);
}

TEST_WITH(test_loss, "emu")
{
    struct err e = {0};
    struct run r;
    fake.sticky = true;
    fake.fail_in[FAKE_TIME] = 1;
    assert_false(bench_once("csr", 1, NULL, &r, &e));
    assert_true(fake.dev.lost);
    err_clear(&e);
    assert_false(bench_once("csr", 1, NULL, &r, &e));
    assert_non_null(strstr(e.text, "fake is lost"));
    assert_int_equal(fake.nblocks, 0);
    fake.refuse_reset = true;
    assert_false(fake.dev.ops->reset(&fake.dev, &e));
    fake.refuse_reset = false;
    err_clear(&e);
    assert_true(fake.dev.ops->reset(&fake.dev, &e) && bench_once("csr", 1, NULL, &r, &e));
}

/* Copies are counted and reported with their rate (the fake device copies at 1 GB/s), and a device in host memory
   copies nothing. The vectors of cg are b and x0 on the way in, and x on the way out. */
TEST_WITH(test_copies_are_reported, "cpu")
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 20; solve cg on fake", "vectors: 9.60 kB at 1.00 GB/s; matrix: 24.6 kB at 1.00 GB/s");
    talk_says(&t, "spmv on fake", "copied at GB/s");
    talk_says(&t, "convert ell on fake", "(1.00 GB/s)");
    talk_says(&t, "bench csr on fake", "Matrices that were copied to fake");
    talk_forget(&t);
    assert_true(talk_line(&t, "solve cg on cpu; spmv on cpu; convert ell on cpu"));
    assert_null(strstr(t.out, "GB/s; matrix"));
    assert_null(strstr(t.out, "copied at"));
    assert_null(strstr(t.out, "copied to"));
    talk_close(&t);
}

SUITE(.before = fresh, .after = close_devices);
