/* Dense LU on cpu and emu: every method and size, every path of the blocked method, refusals, failing calls, the
   command `lu`, and its steps. */
#include "base/mem.h"
#include "base/precision.h"
#include "gpu/emu/emu.h"
#include "kits/dev_fake.h"
#include "kits/lu_kit.h"
#include "kits/shapes.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "lu/lu.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "matrix/reference.h"

#include <math.h>

static const char *const devices[] = {"cpu", "emu"};
static const enum precision reals[] = {P_F64, P_F32};
static const int64_t sizes[] = {1, 2, 3, 31, 32, 33, 64, 65, 100};

static void everywhere(void (*check)(const char *device, enum precision real))
{
    for (int d = 0; d < COUNT(devices); d++)
        for (int r = 0; r < COUNT(reals); r++) check(devices[d], reals[r]);
}

static void all_sizes(const char *device, enum precision real)
{
    lu_check_sizes(device, real, sizes, COUNT(sizes));
}

TEST(test_sizes)
{
    everywhere(all_sizes);
}

static void complex_sizes(const char *device, enum precision real)
{
    static const int64_t few[] = {1, 2, 33, 70};
    lu_check_complex(device, real, few, COUNT(few));
}

TEST(test_complex)
{
    struct talk t;
    everywhere(complex_sizes);
    lu_hook = (struct lu_hook){16, 32, 40, 0, 0}; /* several panels, and columns one by one above 40 rows */
    complex_sizes("emu", P_F64);
    lu_hook = (struct lu_hook){0};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/golden/complex.mtx"));
    talk_says(&t, "lu on cpu", "complex fp64");
    talk_close(&t);
}

TEST(test_exact)
{
    everywhere(lu_check_exact);
}

TEST(test_singular)
{
    everywhere(lu_check_singular);
}

TEST(test_growth)
{
    everywhere(lu_check_growth);
}

TEST(test_solutions)
{
    everywhere(lu_check_solutions);
}

/* Narrow panels, few threads, single columns and look-ahead: paths that otherwise only large matrices reach. */
TEST(test_levels)
{
    static const struct lu_hook hooks[] = {
        {8, 32, 0, 0, 0}, {16, 32, 60, 1, 0}, {4, 64, 20, 1, 0}, {64, 32, 0, 1, 0}, {128, 32, 0, -1, 0},
        {1, 32, 0, 1, 0}, {2, 0, 1, 0, 0},    {16, 32, 0, 0, 4}, {64, 64, 0, 1, 2},
    };
    static const int64_t some[] = {1, 33, 65, 100};
    for (int i = 0; i < COUNT(hooks); i++)
        for (int r = 0; r < COUNT(reals); r++) {
            lu_hook = hooks[i];
            lu_check_sizes("emu", reals[r], some, COUNT(some));
            lu_check_exact("emu", reals[r]);
            lu_check_singular("emu", reals[r]);
        }
    lu_hook = (struct lu_hook){0};
    /* 32 threads hold up to 1024 rows: each thread holds 32 rows of one column in fp64 */
    for (int r = 0; r < COUNT(reals); r++) {
        int64_t n = 300;
        lu_hook = (struct lu_hook){32, 32, 0, 0, 0};
        lu_check_sizes("emu", reals[r], &n, 1);
        lu_hook = (struct lu_hook){LU_OUTERMOST, 0, 0, 1, 0}; /* more than one slice per panel */
        lu_check_sizes("emu", reals[r], &n, 1);
    }
    lu_hook = (struct lu_hook){0};
}

/* The order of threads within a block does not change the result: there are no races. */
TEST(test_orders)
{
    static const int64_t some[] = {33, 100};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        emu_order(seed);
        lu_hook = (struct lu_hook){seed == 2 ? 16 : 0, seed == 2 ? 64 : 0, seed == 3 ? 50 : 0, 0, seed == 1 ? 3 : 0};
        lu_check_sizes("emu", P_F64, some, COUNT(some));
        lu_check_exact("emu", P_F32);
    }
    emu_order(0);
    lu_hook = (struct lu_hook){0};
}

/* The panel widths b that a method accepts are exactly the powers of two up to its width_most. */
TEST(test_widths)
{
    struct err e = {0};
    struct csr A;
    lu_random(&A, 70, 1);
    for (int m = 0; lu_methods[m]; m++)
        for (int b = 1; b <= 2 * LU_OUTERMOST; b = b < 4 ? b + 1 : 2 * b) {
            struct lu *v = NULL;
            struct err why = {0};
            struct device *d = device_open(lu_methods[m]->host ? "cpu" : "emu", &e);
            struct lu_options o = {.method = lu_methods[m], .dev = d, .real = P_F64, .b = b};
            bool takes = b != 3 && b <= lu_methods[m]->width_most && lu_runs_on(lu_methods[m], d);
            assert_int_equal(lu_begin(&v, &A, &o, &why), takes);
            if (!takes) continue;
            assert_true(lu_factor(v, &e));
            assert_int_equal(v->b, b);
            lu_check_factors(v);
            lu_free(v);
        }
    csr_free(&A);
}

/* Two methods agree on the pivots of a matrix without ties. */
TEST(test_pivots)
{
    struct err e = {0};
    struct csr A;
    lu_random(&A, 100, 21);
    struct lu *first = lu_done(&A, lu_find("lu-serial"), device_open("cpu", &e), P_F64);
    for (int m = 0; lu_methods[m]; m++) {
        if (lu_methods[m]->vendor) continue;
        struct lu *v = lu_done(&A, lu_methods[m], device_open(lu_methods[m]->host ? "cpu" : "emu", &e), P_F64);
        assert_memory_equal(v->swap, first->swap, 100 * sizeof *v->swap);
        lu_free(v);
    }
    lu_free(first);
    csr_free(&A);
}

static void check_refused(const struct csr *A, struct lu_options o, enum code code, const char *says)
{
    struct err e = {0};
    struct lu *v = NULL;
    assert_false(lu_begin(&v, A, &o, &e));
    assert_int_equal(e.code, code);
    if (!strstr(e.text, says)) fail_msg("\"%s\" does not say \"%s\"", e.text, says);
}

TEST(test_refused)
{
    struct err e = {0};
    struct csr A, empty;
    struct device *cpu = device_open("cpu", &e), *emu = device_open("emu", &e);
    struct lu_options o = {.dev = cpu, .real = P_F64};
    assert_true(csr_new(&empty, 0, 0, 0, false, &e));
    check_refused(&empty, o, E_UNSUPPORTED, "no rows");
    csr_free(&empty);
    assert_true(csr_new(&empty, 3, 4, 0, false, &e));
    memset(empty.rowptr, 0, 4 * sizeof(int));
    check_refused(&empty, o, E_UNSUPPORTED, "3 rows and 4 columns");
    csr_free(&empty);
    assert_true(csr_new(&empty, 900000, 900000, 0, false, &e));
    memset(empty.rowptr, 0, 900001 * sizeof(int));
    check_refused(&empty, o, E_MEMORY, "6.48 TB");
    csr_free(&empty);
    lu_random(&A, 5, 1);
    o.method = lu_find("lu-paper");
    check_refused(&A, o, E_UNSUPPORTED, "lu-paper does not run on cpu");
    o.dev = emu;
    o.b = 64;
    check_refused(&A, o, E_USAGE, "b is 64, but it must be a power of two from 1 to 32");
    o.b = 0;
    A.val[7] = NAN;
    check_refused(&A, o, E_NUMERIC, "nan in row 1, column 2");
    o.force = true;
    struct lu *v = NULL;
    assert_true(lu_begin(&v, &A, &o, &e) && lu_factor(v, &e) && lu_measure(v, &e));
    assert_true(isnan(v->backward));
    lu_free(v);
    csr_free(&A);
}

/* ---- failures ---- */

struct failing {
    struct csr A;
    struct lu_options o;
};

static bool go_through(const void *user, struct err *e)
{
    const struct failing *f = user;
    struct lu *v = NULL;
    double *lu = malloc(40 * 40 * sizeof *lu);
    bool ok =
        lu_begin(&v, &f->A, &f->o, e) && lu_factor(v, e) && lu_sample(v, e) && lu_measure(v, e) && lu_get(v, lu, e);
    lu_free(v);
    free(lu);
    return ok;
}

TEST(test_failing_allocations)
{
    struct err e = {0};
    struct failing f;
    lu_random(&f.A, 40, 2);
    for (int m = 0; lu_methods[m]; m++)
        for (int r = 0; r < COUNT(reals) && !lu_methods[m]->vendor; r++) {
            f.o = (struct lu_options){
                .method = lu_methods[m], .dev = device_open(lu_methods[m]->host ? "cpu" : "emu", &e), .real = reals[r]};
            assert_true(fail_each(go_through, &f) >= 9);
        }
    csr_free(&f.A);
}

/* Every call of a device fails in turn; all memory of the device is released. */
TEST(test_failing_calls)
{
    static struct fake fake;
    struct err e = {0};
    struct failing f;
    lu_random(&f.A, 40, 2);
    assert_true(fake_open(&fake, "fake", "emu", 1 << 20, &e));
    f.o = (struct lu_options){.method = lu_find("lu"), .dev = &fake.dev, .real = P_F64};
    for (int call = 0; call < FAKE_CALLS; call++) {
        bool ok = false;
        int64_t nth = 0;
        while (!ok) {
            struct err why = {0};
            fake.fail_in[call] = ++nth;
            ok = go_through(&f, &why);
            assert_true(ok || why.code == E_DEVICE);
            assert_true(fake.used == 0);
        }
        fake.fail_in[call] = 0;
        assert_true(nth > 1);
    }
    csr_free(&f.A);
}

/* `lu` refuses a device with too little memory and prints the estimate, even if only one byte is missing. */
TEST(test_budget)
{
    static struct fake fake;
    struct err e = {0};
    struct failing f;
    lu_random(&f.A, 40, 2);
    assert_true(fake_open(&fake, "small", "emu", 1000, &e));
    f.o = (struct lu_options){.method = lu_find("lu"), .dev = &fake.dev, .real = P_F64};
    check_refused(&f.A, f.o, E_MEMORY, "a dense fp64 matrix of 40 rows and its vectors need 14.");
    fake.budget = lu_bytes(40, T_F64);
    assert_true(go_through(&f, &e));
    csr_free(&f.A);
}

/* ---- steps ---- */

TEST(test_steps)
{
    struct err e = {0};
    struct csr A;
    struct lu_steps *s = NULL;
    double lu[12 * 12];
    int row[12];
    lu_exact(&A, 12, -1, 4, lu, row);
    assert_true(lu_steps_new(&s, &A, &e));
    assert_int_equal(s->pivot, -1);
    double given[144];
    memcpy(given, s->a, sizeof given);
    lu_steps_to(s, 5);
    double five[144];
    memcpy(five, s->a, sizeof five);
    for (int64_t j = 0; j < 5; j++)
        for (int64_t i = 0; i <= j; i++) assert_true(s->a[j * 12 + i] == lu[j * 12 + i]);
    lu_steps_to(s, 12);
    for (int k = 0; k < 144; k++) assert_true(s->a[k] == lu[k]);
    assert_memory_equal(s->row, row, sizeof row);
    lu_steps_to(s, 99);
    assert_int_equal(s->k, 12);
    lu_steps_to(s, 5);
    assert_memory_equal(s->a, five, sizeof five);
    lu_steps_to(s, -3);
    assert_memory_equal(s->a, given, sizeof given);
    assert_int_equal(s->singular, -1);
    lu_steps_free(s);
    csr_free(&A);
}

/* ---- one column on the emulator ---- */

static bool methods_column(const struct lu_method *m)
{
    return m->step && lu_runs_on(m, device_open("emu", NULL));
}

/* The launches of column k turn the state after k columns into the state after k + 1 columns. */
static void check_columns(const struct csr *A, const struct lu_method *m, enum precision real)
{
    struct err e = {0};
    struct lu_options o = {.method = m, .dev = device_open("emu", &e), .real = real, .b = 4};
    struct lu_steps *s = NULL;
    double got[12 * 12];
    assert_true(lu_steps_new(&s, A, &e));
    for (int64_t k = 0; k < 12; k++) {
        struct lu_column c;
        int pivot;
        if (!lu_column_begin(&c, A, k, &o, &e)) fail_msg("%s, column %d: %s", m->name, (int)k, e.text);
        struct watched of = lu_column_watched(&c);
        assert_true(of.prepare(&of, &e) && of.queue(&of, &e) && of.dev->ops->sync(of.dev, &e));
        assert_true(lu_get(c.v, got, &e) && of.dev->ops->get(of.dev, &pivot, c.v->piv + k, sizeof pivot, &e));
        lu_steps_to(s, k + 1);
        for (int i = 0; i < 144; i++)
            if (got[i] != s->a[i]) fail_msg("%s, column %d: element %d is %g", m->name, (int)k, i, got[i]);
        assert_int_equal(pivot, s->pivot);
        lu_column_free(&c);
    }
    lu_steps_free(s);
}

TEST(test_columns)
{
    int columns = 0;
    double lu[144];
    int row[12];
    for (int zero = -1; zero < 12; zero += 12) /* U(zero, zero) is 0; -1: no pivot is 0 */
        for (int m = 0; lu_methods[m]; m++)
            for (int r = 0; r < COUNT(reals) && methods_column(lu_methods[m]); r++) {
                struct csr A;
                lu_exact(&A, 12, zero, 5, lu, row);
                check_columns(&A, lu_methods[m], reals[r]);
                csr_free(&A);
                columns++;
            }
    assert_true(columns > 0);
}

TEST(test_columns_refused)
{
    static const struct {
        const char *line, *says;
    } refused[] = {
        {"trace lu-paper column 9", "there is no column 9: the columns are 0 .. 8"},
        {"trace lu-paper column -1", "`column -1` is negative"},
        {"trace lu-paper b 3", "b is 3, but it must be a power of two from 1 to 32"},
        {"trace lu-paper b 0", "b is 0: give a power of two"},
        {"trace lu-paper launch 3", "lu-paper has no launch 3: its launches are 0 .. 2"},
        {"trace lu-paper column 8 launch 2", "its launches are 0 .. 1"},
        {"trace lu-paper block 1", "lu-paper has no block 1: its blocks are 0 .. 0"},
        {"trace lu", "`lu` after `trace` is an LU method; use a kernel or lu-paper"},
        {"trace csr-scalar column 2", "`column` is for LU methods; csr-scalar is a kernel"},
        {"trace ell b 8", "`b` is for LU methods; ell is a kernel"},
        {"count lu-paper", "`lu-paper` after `count` is an LU method"},
        {"gen dense 3 4; trace lu-paper", "3 rows and 4 columns"},
        {"gen dense 0; trace lu-paper", "no rows"},
        {"gen poisson2d 30; trace lu-paper", "the matrix has 900 rows"},
        {"load tests/golden/complex.mtx; trace lu-paper", "complex"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen dense 9"));
    for (int i = 0; i < COUNT(refused); i++)
        if (talk_line(&t, refused[i].line) || !strstr(t.err, refused[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", refused[i].line, t.err, refused[i].says);
    talk_close(&t);
}

static bool begin_column(const void *user, struct err *e)
{
    const struct failing *f = user;
    struct lu_column c;
    bool ok = lu_column_begin(&c, &f->A, 7, &f->o, e);
    if (ok) lu_column_free(&c);
    return ok;
}

TEST(test_failing_columns)
{
    struct err e = {0};
    struct failing f = {.o = {.method = lu_find("lu-paper"), .dev = device_open("emu", &e), .real = P_F32}};
    lu_random(&f.A, 40, 2);
    assert_true(fail_each(begin_column, &f) >= 5);
    csr_free(&f.A);
}

/* In tiles of 32 x 32, a warp is a column of the tile. One warp of the block loads the tile's part of the pivot row and
   of the pivot column; each warp loads and stores its part of the trailing matrix once. */
TEST(test_pivots_are_staged)
{
    static struct counts c;
    struct err e = {0};
    struct csr A;
    lu_random(&A, 65, 2);
    struct lu_options o = {.method = lu_find("lu-paper"), .dev = device_open("emu", &e), .real = P_F64, .b = 32};
    struct lu_column column;
    assert_true(lu_column_begin(&column, &A, 0, &o, &e));
    struct watched of = lu_column_watched(&column);
    assert_true(count_launches(&of, 0, NULL, NULL, &c, &e));
    assert_string_equal(c.scope.launch[2].function, "lu_paper_update");
    assert_int_equal(c.scope.launch[2].blocks, 4);
    assert_int_equal(counts_of(&c, ACCESS_LOAD, -1, 2).requests, 4 * (1 + 1 + 32));
    assert_int_equal(counts_of(&c, ACCESS_STORE, -1, 2).requests, 4 * 32);
    assert_int_equal(counts_of(&c, ACCESS_SHARED_STORE, -1, 2).requests, 4 * 2);
    assert_int_equal(counts_of(&c, ACCESS_SHARED_LOAD, -1, 2).requests, 4 * 2 * 32);
    lu_column_free(&column);
    csr_free(&A);
}

/* ---- the command ---- */

/* b = A ones for a Hilbert matrix times 1 + i: x is far from ones, in both parts. The errors follow from the x of
   lu_solve. */
TEST(test_errors)
{
    enum { N = 12 };
    int row[N * N], col[N * N];
    double re[N * N], im[N * N], x[2 * N], b[2 * N], ones[2 * N], product[2 * N];
    struct err e = {0};
    struct csr A;
    struct lu *v;
    double norm = 0, most_x = 0, most_b = 0, residual = 0, error = 0;
    for (int k = 0; k < N * N; k++) row[k] = k / N, col[k] = k % N, re[k] = im[k] = 1.0 / (k / N + k % N + 1);
    assert_true(csr_from_triplets(&A, N, N, N * N, row, col, re, im, NULL, &e));
    struct lu_options o = {.method = lu_find("lu-serial"), .dev = device_open("cpu", &e), .real = P_F64};
    assert_true(lu_begin(&v, &A, &o, &e) && lu_factor(v, &e) && lu_measure(v, &e));
    for (int i = 0; i < 2 * N; i++) ones[i] = i % 2 == 0;
    reference_spmv(&A, 1, ones, 0, b, P_F64, NULL);
    assert_true(lu_solve(v, b, x, &e));
    reference_spmv(&A, 1, x, 0, product, P_F64, NULL);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++) sum += hypot(re[i * N + j], im[i * N + j]);
        norm = fmax(norm, sum);
        most_x = fmax(most_x, hypot(x[2 * i], x[2 * i + 1]));
        most_b = fmax(most_b, hypot(b[2 * i], b[2 * i + 1]));
        residual = fmax(residual, hypot(b[2 * i] - product[2 * i], b[2 * i + 1] - product[2 * i + 1]));
        error = fmax(error, hypot(x[2 * i] - 1, x[2 * i + 1]));
    }
    assert_true(error > 1e-3 && fabs(v->error - error) < 1e-12 * error);
    assert_true(fabs(v->backward - residual / (norm * most_x + most_b)) < 1e-12 * v->backward);
    lu_free(v);
    csr_free(&A);
}

/* A dense matrix that takes 70 % of the memory: there is room for it, but not for its factors beside it. */
TEST(test_room_for_factors)
{
    struct csr A;
    struct lu *v = NULL;
    struct err e = {0};
    int64_t n = (int64_t)sqrt(0.7 * (double)mem_available() / sizeof(double));
    struct lu_options o = {.method = lu_find("lu-serial"), .dev = device_open("cpu", &e), .real = P_F64};
    assert_true(csr_identity(&A, 1, n, &e));
    mem_fail_at(1); /* so that nothing is allocated even if the check fails */
    bool ok = lu_begin(&v, &A, &o, &e);
    mem_fail_at(0);
    assert_false(ok);
    assert_non_null(strstr(e.text, "of the host's memory (for the matrix and its factors), but only"));
    csr_free(&A);
}

/* U overflows although A and b = A ones do not: x is not a number, so nothing is known of the errors. */
TEST(test_overflow_has_no_errors)
{
    static const int row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
    static const double val[] = {1, 1.7e308, -1, 1.7e308};
    struct err e = {0};
    struct csr A;
    struct lu *v;
    assert_true(csr_from_triplets(&A, 2, 2, 4, row, col, val, NULL, NULL, &e));
    struct lu_options o = {.method = lu_find("lu-serial"), .dev = device_open("cpu", &e), .real = P_F64};
    assert_true(lu_begin(&v, &A, &o, &e) && lu_factor(v, &e) && lu_measure(v, &e));
    assert_true(isnan(v->backward) && isnan(v->error));
    lu_free(v);
    csr_free(&A);
}

/* A step back by one column, and the first of two columns without a pivot. */
TEST(test_steps_of_a_singular_matrix)
{
    static const int row[] = {0, 0, 1, 1, 2, 3, 3}, col[] = {0, 3, 0, 3, 1, 1, 3};
    static const double val[] = {1, 2, 1, 2, 3, 3, 5};
    struct err e = {0};
    struct csr A;
    struct lu_steps *s;
    double two[16];
    assert_true(csr_from_triplets(&A, 4, 4, 7, row, col, val, NULL, NULL, &e) && lu_steps_new(&s, &A, &e));
    lu_steps_to(s, 2);
    memcpy(two, s->a, sizeof two);
    assert_int_equal(s->singular, -1);
    lu_steps_to(s, 3);
    assert_int_equal(s->singular, 2);
    lu_steps_to(s, 2);
    assert_int_equal(s->k, 2);
    assert_memory_equal(s->a, two, sizeof two);
    assert_int_equal(s->singular, -1);
    lu_steps_free(s);
    csr_free(&A);
    assert_true(csr_from_triplets(&A, 3, 3, 1, row, col, val, NULL, NULL, &e) && lu_steps_new(&s, &A, &e));
    lu_steps_to(s, 3);
    assert_int_equal(s->singular, 1);
    lu_steps_free(s);
    csr_free(&A);
}

/* The sizes at which the widths of panels and tiles change. */
TEST(test_widths_by_size)
{
    static const struct {
        const char *method;
        int64_t n;
        int width;
    } cases[] = {{"lu", 256, 32},      {"lu", 257, 64},       {"lu", 2048, 64},       {"lu", 2049, 128},
                 {"lu-paper", 255, 8}, {"lu-paper", 256, 16}, {"lu-paper", 1023, 16}, {"lu-paper", 1024, 32}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct lu v = {.method = lu_find(cases[i].method), .n = cases[i].n, .real = T_F64};
        assert_int_equal(v.method->width(&v), cases[i].width);
    }
}

/* The divisions, multiplications and subtractions of the elimination, counted. */
TEST(test_operations)
{
    for (int64_t n = 1; n < 20; n++) {
        int64_t count = 0;
        for (int64_t k = 0; k < n; k++) count += (n - 1 - k) + 2 * (n - 1 - k) * (n - 1 - k);
        assert_true(lu_flops(n) == (double)count);
    }
}

TEST(test_command)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen dense 40 seed 3 as A; lu on cpu"));
    assert_non_null(strstr(t.out, "lu-openmp"));
    assert_non_null(strstr(t.out, "singular        no"));
    assert_true(talk_line(&t, "lu lu-paper A on emu b 16 f32"));
    assert_non_null(strstr(t.out, "b               16"));
    assert_non_null(strstr(t.out, "time            -"));
    assert_true(talk_line(&t, "lu all on emu"));
    assert_non_null(strstr(t.out, "lu-paper  emu"));
    assert_null(strstr(t.out, "lu-serial"));
    assert_true(talk_line(&t, "lu all"));
    assert_non_null(strstr(t.out, "lu-serial  cpu"));
    assert_true(talk_line(&t, "load tests/golden/singular.mtx; lu on cpu"));
    assert_non_null(strstr(t.out, "to fp64: column 2 (counted from 0) has no nonzero pivot"));
    assert_non_null(strstr(t.out, "determinant     0"));
    assert_true(talk_line(&t, "lu all on cpu"));
    assert_non_null(strstr(t.out, "singular is singular to fp64: column 2 (counted from 0) has no nonzero pivot"));
    assert_true(talk_line(&t, "load samples/thesis4.mtx; lu on cpu"));
    assert_non_null(strstr(t.out, "determinant     1576\n"));
    assert_true(talk_line(&t, "gen dense 1; lu on cpu"));
    assert_null(strstr(t.out, "-0.0"));
    talk_close(&t);
}

/* The determinant is 1, -1e-17 and 0 in exact arithmetic; rounding errors are of the size of a pivot in the first only.
 */
TEST(rounding_errors_prove_no_determinant)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/unimodular.mtx as U"));
    talk_says(&t, "lu U on cpu", "singular        to fp64: column 1");
    assert_non_null(
        strstr(t.out, "determinant     0, but no digit is certain: a pivot is as small as rounding errors"));
    talk_says(&t, "lu all U", "U is singular to fp64");
    talk_says(&t, "lu step U", "singular to fp64: column 1");
    talk_says(&t, "lu U on cpu f32", "to fp32: column 1");
    talk_says(&t, "gen dense 1 as D; let S = 0*D - 1e-17*I; lu S on cpu", "determinant     -10^-17.0000\n");
    talk_says(&t, "gen poisson2d 2 as P; let Z = 0*P; prune Z as E; lu E on cpu", "determinant     0\n");
    talk_close(&t);
}

/* Values that leave the range of fp32 are refused, or counted where they become 0; a pattern has no values. */
TEST(values_are_those_of_the_matrix)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 2 as P; let A = 1e100*P; let B = 1e-100*P"));
    talk_refuses(&t, "lu A on cpu f32", "12 values exceed fp32's largest number");
    assert_true(talk_line(&t, "lu A on cpu"));
    assert_true(talk_line(&t, "lu B on cpu f32"));
    assert_non_null(strstr(t.err, "12 values of B are below fp32's smallest number"));
    assert_true(talk_line(&t, "load tests/files/pattern.rb; lu on cpu"));
    assert_non_null(strstr(t.err, "is a pattern: its file has no values"));
    talk_close(&t);
}

TEST(test_command_refuses)
{
    static const struct {
        const char *line, *says;
    } refused[] = {
        {"lu lu-serial on emu", "lu-serial does not run on emu; it is for cpu"},
        {"lu lu-cusolver on cpu", "it is for cuda"},
        {"lu on emu b 3", "b is 3, but it must be a power of two from 1 to 256"},
        {"lu on emu b 0", "b is 0: give a power of two"},
        {"lu on cpu b 8", "lu-openmp has no b"},
        {"lu reps 1001", "`reps 1001` is outside 0 .. 1000"},
        {"lu lu all", "do not name a method"},
        {"lu step b 4", "it takes no method, b, reps or all"},
        {"lu lu-paper step", "it takes no method, b, reps or all"},
        {"lu B", "`B` after `lu` is unknown"},
        {"gen dense 3 4; lu on cpu", "3 rows and 4 columns"},
        {"lu step", "real square matrices"},
        {"gen dense 0; lu on cpu", "no rows"},
        {"gen poisson2d 30; lu step", "up to 512"},
        {"load tests/golden/nan.mtx; lu step",
         "nan in row 1, column 1 (counted from 0); add `force` to the command to eliminate it anyway"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_false(talk_line(&t, "lu"));
    assert_true(talk_line(&t, "gen dense 9"));
    for (int i = 0; i < COUNT(refused); i++) {
        if (talk_line(&t, refused[i].line) || !strstr(t.err, refused[i].says))
            fail_msg("%s: \"%s\" does not say \"%s\"", refused[i].line, t.err, refused[i].says);
    }
    talk_close(&t);
}

TEST(test_command_json)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen dense 20; lu on emu"));
    assert_non_null(strstr(t.out, "\"time_us\":null"));
    assert_non_null(strstr(t.out, "\"singular\":false"));
    assert_non_null(strstr(t.out, "\"det_sign\":"));
    assert_true(talk_line(&t, "load tests/golden/singular.mtx; lu lu-serial on cpu"));
    assert_non_null(strstr(t.out, "\"singular_column\":2"));
    assert_non_null(strstr(t.out, "\"det_log10\":null"));
    assert_non_null(strstr(t.out, "\"backward_error\":null"));
    assert_true(talk_line(&t, "lu step"));
    assert_non_null(strstr(t.out, "\"pivot_row\":2"));
    assert_non_null(strstr(t.out, "\"state\":[4,0.5,"));
    talk_close(&t);
}

/* The steps belong to one matrix: dropping that matrix, or stepping through a different matrix, discards the steps. */
TEST(test_command_steps)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen dense 5 as A; gen dense 30 as B; lu A step"));
    assert_true(t.s.lu && t.s.lu->n == 5 && t.s.lu->k == 0);
    assert_true(talk_line(&t, "lu step"));
    assert_true(t.s.lu && t.s.lu->n == 30);
    assert_non_null(strstr(t.out, "pivot's row"));
    assert_true(talk_line(&t, "drop A"));
    assert_non_null(t.s.lu);
    assert_true(talk_line(&t, "drop B"));
    assert_null(t.s.lu);
    talk_close(&t);
}

static int64_t ticks_left;
static bool stops(struct watch *w, const char *what, int64_t done, int64_t total)
{
    assert_true(done >= 0 && (total == 0 || done <= total));
    return --ticks_left > 0;
}

/* Ctrl-C ends the factorisation in any column and releases everything. */
TEST(test_cancelled)
{
    struct err e = {0};
    struct csr A;
    struct watch w = {stops, NULL};
    lu_random(&A, 70, 1);
    for (int m = 0; lu_methods[m]; m++) {
        if (lu_methods[m]->vendor) continue;
        struct device *d = device_open(lu_methods[m]->host ? "cpu" : "emu", &e);
        struct lu_options o = {.method = lu_methods[m], .dev = d, .real = P_F64, .watch = &w};
        for (int64_t n = 1; n < 4; n++) {
            struct lu *v = NULL;
            struct err why = {0};
            ticks_left = n;
            assert_true(lu_begin(&v, &A, &o, &e));
            bool ok = lu_factor(v, &why);
            assert_true(ok ? ticks_left > 0 : why.code == E_CANCELLED);
            assert_true(!ok || n == 3);
            lu_free(v);
        }
    }
    csr_free(&A);
}
