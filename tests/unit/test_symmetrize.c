/* Symmetrization and transposition on cpu and emu: every method and mode is compared with a plain reference, bit for
   bit. Other tests check refusals, failing allocations and the commands. */
#include "base/clock.h"
#include "base/mem.h"
#include "gpu/emu/emu.h"
#include "kits/dev_fake.h"
#include "kits/shapes.h"
#include "kits/sym_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "session/matrix.h"

#include <omp.h>

static const char *const devices[] = {"cpu", "emu"};

static void everywhere(void (*check)(const char *device))
{
    for (int d = 0; d < COUNT(devices); d++) check(devices[d]);
}

TEST(test_shapes)
{
    everywhere(sym_check_shapes);
}

TEST(test_tiles)
{
    everywhere(sym_check_tiles);
}

TEST(test_values)
{
    everywhere(sym_check_values);
}

TEST(test_verdicts)
{
    everywhere(sym_check_verdicts);
}

static double ticks;

static double ticking_clock(void)
{
    return ticks += 100;
}

/* Each sample has the times of its own steps. By this clock, each step takes as long, whenever it is run. */
TEST(test_samples_are_timed_apart)
{
    struct csr A = sym_made("rmat", 5, 4);
    struct sym *v;
    struct err e = {0};
    struct sym_options o = {.dev = device_open("cpu", &e), .mode = SYM_AVERAGE, .whole = true};
    double first[SYM_STEPS];
    if (!sym_begin(&v, &A, &o, &e)) fail_msg("%s", e.text);
    now_replace(ticking_clock);
    assert_true(sym_sample(v, &e));
    memcpy(first, v->step_us, sizeof first);
    assert_true(sym_sample(v, &e));
    now_replace(NULL);
    assert_float_equal(first[SYM_TRANSPOSE], 100, 1e-9);
    for (int k = 0; k < SYM_STEPS; k++) assert_float_equal(v->step_us[k], first[k], 1e-9);
    sym_free(v);
    csr_free(&A);
}

/* The result does not depend on the order of the threads between two barriers. */
TEST(test_order)
{
    for (uint64_t seed = 1; seed < 4; seed++) {
        emu_order(seed);
        sym_check_shapes("emu");
        sym_check_verdicts("emu");
    }
    emu_order(0);
}

/* The number of threads of the host's loops grows with the number of entries; this matrix needs several threads. */
TEST(test_threads)
{
    int most = omp_get_max_threads();
    omp_set_num_threads(7);
    struct csr A = sym_made("rmat", 14, 20);
    sym_check("rmat 14 20", &A, "cpu");
    csr_free(&A);
    omp_set_num_threads(most);
}

TEST(test_refused)
{
    struct csr A = sym_made("random", 5, 2), S;
    struct sym_options o = {.dev = device_open("cpu", NULL)};
    struct err e = {0};
    A.cols = 6;
    assert_false(symmetrize(&S, &A, &o, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    assert_non_null(strstr(e.text, "5 rows and 6 columns"));
    A.cols = 5;
    A.imag = mem_zero(A.nnz, sizeof *A.imag, "imaginary values", NULL);
    e = (struct err){0};
    assert_false(symmetrize(&S, &A, &o, &e));
    assert_non_null(strstr(e.text, "complex"));
    csr_free(&A);
}

/* The estimate precedes any access to the arrays: a matrix that claims to be huge needs no arrays. */
TEST(test_too_large)
{
    struct csr A = {.rows = 1000, .cols = 1000, .nnz = 2000000000};
    struct err e = {0};
    struct csr S;
    for (int d = 0; d < COUNT(devices); d++) {
        struct sym_options o = {.dev = device_open(devices[d], NULL)};
        e = (struct err){0};
        if (d == 0 && mem_available() > 24000000000)
            continue; /* with memory for a copy of A, the cpu reads A before it refuses the run, and A has no arrays */
        if (mem_available() > 48000000000) continue;
        assert_false(symmetrize(&S, &A, &o, &e));
        assert_int_equal(e.code, E_MEMORY);
        assert_non_null(strstr(e.text, "needs"));
    }
    struct sym_options paper = {.dev = device_open("cpu", NULL), .method = sym_find("sym-paper")};
    e = (struct err){0};
    assert_false(symmetrize(&S, &A, &paper, &e));
    assert_int_equal(e.code, E_LIMIT);
    assert_non_null(strstr(e.text, "use the method sym"));
}

static struct sym_options failing;
static bool go(const void *user, struct err *e)
{
    struct csr S, T;
    if (!symmetrize(&S, user, &failing, e)) return false;
    csr_free(&S);
    if (!sym_transpose(&T, user, failing.dev, NULL, e)) return false;
    csr_free(&T);
    return true;
}

TEST(test_allocations)
{
    struct csr A = sym_made("random", 40, 3);
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; sym_methods[i]; i++) {
            failing = (struct sym_options){.dev = device_open(devices[d], NULL), .method = sym_methods[i]};
            assert_true(fail_each(go, &A) > 5);
        }
    csr_free(&A);
}

static bool stop_at(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return done < *(int *)w->user;
}

TEST(test_cancelled)
{
    struct csr A = sym_made("random", 40, 3), S;
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; sym_methods[i]; i++) {
            int step = SYM_FILL;
            struct err e = {0};
            struct watch w = {stop_at, &step};
            struct sym_options o = {.dev = device_open(devices[d], NULL), .method = sym_methods[i], .watch = &w};
            assert_false(symmetrize(&S, &A, &o, &e));
            assert_int_equal(e.code, E_CANCELLED);
        }
    csr_free(&A);
}

/* ---- devices with little memory or failing calls ---- */

static struct fake fake;

/* All entries lie above the diagonal, so no entry has a mirror image, and the result has twice as many entries. */
static struct csr upper(void)
{
    struct csr A = sym_made("random", 3000, 12), U;
    int *row = malloc((size_t)A.nnz * sizeof *row);
    int64_t n = 0;
    assert_non_null(row);
    for (int64_t i = 0; i < A.rows; i++)
        for (int k = A.rowptr[i]; k < A.rowptr[i + 1]; k++)
            if (A.col[k] != i) {
                row[n] = (int)(i < A.col[k] ? i : A.col[k]);
                A.col[n] = (int)(i < A.col[k] ? A.col[k] : i);
                A.val[n++] = A.val[k];
            }
    assert_true(csr_from_triplets(&U, A.rows, A.rows, n, row, A.col, A.val, NULL, NULL, NULL));
    free(row);
    csr_free(&A);
    return U;
}

/* A run allocates everything at its start: A and the working memory, in all at most four times the size of A. If the
   device has less memory, the run is refused before it starts. */
TEST(test_memory)
{
    struct csr A = upper(), S;
    int64_t bytes = 4 * (A.rows + 1) + 12 * A.nnz;
    struct sym_options o = {.dev = &fake.dev};
    struct sym *v;
    struct err e = {0};
    assert_true(fake_open(&fake, "fake", "emu", 1 << 28, NULL));
    assert_true(sym_begin(&v, &A, &o, &e));
    assert_true(fake.used > 3 * bytes && fake.used <= 4 * bytes);
    assert_true(sym_run(v, &e) && sym_get(v, &S, &e));
    assert_true(fake.used <= 4 * bytes);
    assert_int_equal(S.nnz, 2 * A.nnz);
    sym_free(v);
    csr_free(&S);
    assert_int_equal(fake.nblocks, 0);
    fake.budget = 3 * bytes;
    assert_false(sym_begin(&v, &A, &o, &e));
    assert_int_equal(e.code, E_MEMORY);
    assert_non_null(strstr(e.text, "sym needs"));
    assert_int_equal(fake.nblocks, 0);
    /* the memory of the emulator is that of the host, which also holds the result */
    fake.budget = 19 * bytes / 10;
    err_clear(&e);
    assert_false(sym_begin(&v, &A, &o, &e));
    assert_non_null(strstr(e.text, "the matrix and its copy needs"));
    csr_free(&A);
}

TEST(test_failing_calls)
{
    struct csr A = sym_made("random", 40, 3);
    fake.budget = 1 << 28;
    for (int i = 0; sym_methods[i]; i++)
        for (int call = 0; call < FAKE_CALLS; call++) {
            bool done = false;
            failing = (struct sym_options){.dev = &fake.dev, .method = sym_methods[i]};
            for (int n = 1; !done; n++) {
                struct err e = {0};
                fake.fail_in[call] = n;
                done = go(&A, &e);
                assert_true(done || e.text[0]);
                assert_int_equal(fake.nblocks, 0);
                assert_true(n > 1 || !done);
                assert_true(n < 200);
            }
            fake.fail_in[call] = 0;
        }
    csr_free(&A);
}

/* ---- the commands ---- */

TEST(test_command)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 50 3 as A"));
    talk_says(&t, "symmetrize A on cpu", "A-sym");
    assert_string_equal(t.s.current->name, "A-sym");
    assert_non_null(strstr(t.out, "no"));
    talk_says(&t, "symmetrize on emu as B",
              "the pattern is symmetric, but the values are not"); /* union keeps values */
    talk_says(&t, "symmetrize A mode average method sym-paper on emu as C", "sym-paper");
    talk_says(&t, "symmetrize C on cpu as D", "yes, pattern and values");
    assert_true(csr_equal(&session_matrix(&t.s, "C", NULL)->csr, &session_matrix(&t.s, "D", NULL)->csr));
    talk_says(&t, "transpose A on emu", "A-t");
    talk_says(&t, "transpose A-t on cpu as T", "T");
    assert_true(csr_equal(&session_matrix(&t.s, "A", NULL)->csr, &session_matrix(&t.s, "T", NULL)->csr));
    talk_refuses(&t, "symmetrize A mode both", "one of union, average, sum, max");
    talk_refuses(&t, "symmetrize A method cuthill", "one of sym, sym-paper");
    talk_refuses(&t, "symmetrize A as C on cpu", "called C already");
    assert_true(talk_line(&t, "gen random 6 2 9 as R"));
    talk_refuses(&t, "symmetrize R on cpu", "6 rows and 9 columns");
    talk_close(&t);
}

TEST(test_json)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen circuit 200 2 as A"));
    talk_says(&t, "symmetrize A on cpu mode sum", "\"nnz_before\":");
    static const char *const keys[] = {"added",   "copied", "pattern_symmetric", "fingerprint_us", "sort_us",
                                       "time_us", "spmvs"};
    for (int i = 0; i < COUNT(keys); i++)
        if (!strstr(t.out, keys[i])) fail_msg("no %s in %s", keys[i], t.out);
    talk_says(&t, "transpose A on cpu", "\"time_us\":");
    talk_close(&t);
}

/* ---- symmetrize step ---- */

TEST(test_steps)
{
    struct csr A = sym_made("random", 6, 2);
    struct sym_steps t;
    struct err e = {0};
    sym_check_steps("emu");
    assert_false(sym_steps_take(&t, &A, SYM_UNION, device_open("cpu", NULL), NULL, &e));
    assert_int_equal(e.code, E_UNSUPPORTED);
    csr_free(&A);
}

static bool take_steps(const void *user, struct err *e)
{
    struct sym_steps t;
    if (!sym_steps_take(&t, user, SYM_UNION, device_open("emu", NULL), NULL, e)) return false;
    sym_steps_free(&t);
    return true;
}

TEST(test_step_allocations)
{
    struct csr A = sym_made("random", 6, 2);
    assert_true(fail_each(take_steps, &A) > 0);
    csr_free(&A);
}

TEST(test_step_command)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load samples/thesis4.mtx"));
    talk_says(&t, "symmetrize step",
              "\nT3: T2 sorted by the key p << 32 | q (S103); F: 1 marks a repeated key (S104)\n"
              " slot   0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17\n"
              " p      0  0  0  0  1  1  1  1  1  2  2  2  2  2  3  3  3  3\n"
              " q      0  0  1  2  0  1  1  2  3  0  1  2  2  3  1  2  3  3\n"
              " v      1  1  7  5  7  2  2  8  6  5  8  3  3  9  6  9  4  4\n"
              " F      0  1  0  0  0  0  1  0  0  0  0  0  1  0  0  0  0  1\n");
    assert_string_equal(t.s.current->name, "thesis4");
    assert_null(t.s.current->next);
    talk_says(&t, "symmetrize step mode average method sym-paper",
              " val     1 3.5 2.5 3.5   2   4   3 2.5   4   3 4.5   3 4.5   4\n");
    talk_refuses(&t, "symmetrize step on cpu", "cpu does the last steps in one loop");
    talk_refuses(&t, "symmetrize step method sym", "sym does not have the steps of the patent");
    talk_refuses(&t, "symmetrize step as B", "leave out `as` or `step`");
    assert_true(talk_line(&t, "gen poisson2d 6 as A"));
    talk_refuses(&t, "symmetrize step A", "at most 100 entries, but A has 156");
    talk_close(&t);
}
