/* Every kernel on the cpu and on the emulator, and the invariants of the registry of kernels. */
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "gpu/emu/emu.h"
#include "kits/emu_kernels.h"
#include "kits/kernel_loops.h"
#include "kits/shapes.h"
#include "kits/stored_kit.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "matrix/csr.h"
#include "matrix/gen.h"
#include "matrix/random.h"

#include <string.h>

/* Each constant whose name contains SLOTS is a limit: stored matrices with more slots are skipped, because more padding
   does not test a kernel better. Files with more than FILE_NNZ nonzeros are also skipped. */
enum { CPU_SLOTS = 100000, EMU_SLOTS = 10000 };
enum { FILE_NNZ = 100000, CPU_FILE_SLOTS = 2000000, EMU_FILE_SLOTS = 400000 };

TEST(test_shapes_on_cpu)
{
    check_shapes(open_or_fail("cpu"), CPU_SLOTS);
}

TEST(test_shapes_on_emu)
{
    check_shapes(open_or_fail("emu"), EMU_SLOTS);
}

TEST(test_exact)
{
    check_exact(open_or_fail("cpu"), CPU_SLOTS);
    check_exact(open_or_fail("emu"), EMU_SLOTS);
}

static void other_order(int round)
{
    emu_order((uint64_t)round * 77);
}

TEST(test_deterministic)
{
    check_deterministic(open_or_fail("cpu"), EMU_SLOTS, NULL);
    check_deterministic(open_or_fail("emu"), EMU_SLOTS / 4, other_order);
}

TEST(test_narrow)
{
    check_narrow(open_or_fail("cpu"), CPU_SLOTS);
    check_narrow(open_or_fail("emu"), CPU_SLOTS);
}

TEST(test_uneven)
{
    check_uneven(open_or_fail("emu"));
}

TEST(test_files)
{
    check_files(open_or_fail("cpu"), FILE_NNZ, CPU_FILE_SLOTS);
    check_files(open_or_fail("emu"), FILE_NNZ, EMU_FILE_SLOTS);
}

/* A file with FOLLOW has an entry that says so, and the other way round; strips follows itself only. */
TEST(test_follows)
{
    int said = 0;
    const char *file;
    for (int i = 0; kernel_source(i, &file); i++) {
        const char *text = kernel_source(i, &file);
        bool follows = strstr(text, "FOLLOW("), says = strstr(text, ".follows = true");
        if (strncmp(file, "k_", 2) || !strstr(text, ".format = &") || !strcmp(file, "k_strips.cu")) continue;
        said += says;
        if (follows != says) fail_msg("%s: FOLLOW %d, .follows %d", file, follows, says);
    }
    assert_int_equal(said, 8);
}

static bool not_empty(const char *text)
{
    return text && *text;
}

/* Check that lines have at most 100 columns and end with \n. */
static int lesson_lines(const struct kernel *k)
{
    int lines = 0;
    for (const char *at = k->lesson; *at; lines++) {
        size_t n = strcspn(at, "\n");
        if (n > 100 || at[n] != '\n') fail_msg("%s: this line is too long, or does not end: %s", k->name, at);
        at += n + 1;
    }
    return lines;
}

TEST(test_lessons)
{
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (!not_empty(k->lesson)) fail_msg("%s has no lesson", k->name);
        int lines = lesson_lines(k);
        if (!k->host && !k->vendor && (lines < 5 || lines > 14))
            fail_msg("%s: a lesson of %d lines, 5 to 14 are right", k->name, lines);
    }
}

TEST(test_registry)
{
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        assert_ptr_equal(kernel_find(k->name), k);
        assert_ptr_equal(format_find(k->format->name), k->format);
        assert_true(not_empty(k->about) && not_empty(k->source) && not_empty(k->work));
        assert_true(k->product[P_F32] && k->product[P_F64] && k->product[P_C32] && k->product[P_C64]);
    }
    assert_null(kernel_find("no-such-kernel"));
}

TEST(test_default)
{
    const struct device *cpu = open_or_fail("cpu"), *emu = open_or_fail("emu");
    for (int f = 0; formats[f]; f++) {
        assert_non_null(kernel_default(formats[f], NULL, cpu));
        assert_non_null(kernel_default(formats[f], NULL, emu));
        assert_non_null(strstr(kernel_default(formats[f], NULL, cpu)->name, "-openmp"));
    }
    assert_string_equal(kernel_default(format_find("bsr"), NULL, emu)->name, "bsr-column");
    assert_string_equal(kernel_default(format_find("coo"), NULL, emu)->name, "coo-ordered");
    assert_string_equal(kernel_default(format_find("hyb"), NULL, emu)->name, "hyb-ordered");
    assert_string_equal(kernel_default(format_find("csc"), NULL, emu)->name, "csc-ordered");
    for (int f = 0; formats[f]; f++)
        if (strstr(kernel_default(formats[f], NULL, emu)->name, "-paper"))
            fail_msg("%s: a kernel as the papers print it is the default", formats[f]->name);
}

/* Whatever the format, the device and the matrix: any kernel that could be chosen for a matrix, and the one chosen
   otherwise, gives the same bits in every run. */
TEST(defaults_are_deterministic)
{
    static const char *const devices[] = {"cpu", "emu"};
    for (int i = 0; kernels[i]; i++)
        if (kernels[i]->best && !kernels[i]->deterministic) fail_msg("%s may be a default", kernels[i]->name);
    for (int d = 0; d < COUNT(devices); d++)
        for (int f = 0; formats[f]; f++) {
            const struct kernel *k = kernel_default(formats[f], NULL, open_or_fail(devices[d]));
            if (!k->deterministic) fail_msg("%s on %s: %s adds in any order", formats[f]->name, devices[d], k->name);
        }
}

/* csc-ordered adds the entries of a row in the order of csr-cusp: the same bits, except where that aligns long rows. */
TEST(csc_ordered_adds_like_rows_of_csr)
{
    struct device *emu = open_or_fail("emu");
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 3);
        static const char *const name[] = {"csr-cusp", "csc-ordered"};
        bool compared = !A.imag && A.nnz <= 16 * A.rows;
        double *x = mem_new(A.cols + 1, sizeof *x, "x", NULL), *y[2];
        random_fill(x, A.cols, 1);
        for (int k = 0; k < 2 && compared; k++) {
            struct stored S = packed(&A, kernel_find(name[k])->format->name, NULL);
            struct mat M = {0};
            y[k] = mem_zero(A.rows + 1, sizeof *y[k], "y", NULL);
            for (int64_t i = 0; i < A.rows; i++) y[k][i] = (double)i;
            assert_true(mat_put(&M, &S, emu, NULL));
            struct launch L = {.A = &M, .alpha = 1.5, .beta = -0.25, .x = x, .y = y[k]};
            assert_true(kernel_launch(kernel_find(name[k]), &L, NULL));
            mat_free(&M);
            stored_free(&S);
        }
        if (compared && memcmp(y[0], y[1], (size_t)A.rows * sizeof *y[0])) fail_msg("%s: the bits differ", s->name);
        for (int k = 0; k < 2 && compared; k++) mem_free(y[k]);
        mem_free(x);
        csr_free(&A);
    }
}

/* Stored matrices that a kernel refuses, and the whole message. */
TEST(test_refusals)
{
    static const struct {
        const char *kernel, *text;
        int64_t param[PARAMS_MAX];
    } cases[] = {
        {"bsell", "slices have 7 block rows; this kernel needs 32: convert with C 32", {3, 7, 1}},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        const struct kernel *k = kernel_find(cases[i].kernel);
        struct err e = {0};
        struct csr A;
        struct stored S;
        if (!generator_find("poisson2d")->make((int64_t[PARAMS_MAX]){10, 10}, 1, NULL, &A, &e)) fail_msg("%s", e.text);
        if (!format_pack(&A, k->format, cases[i].param, P_F64, false, &S, &e)) fail_msg("%s", e.text);
        assert_false(k->fits(&S, &e));
        assert_int_equal(e.code, E_UNSUPPORTED);
        assert_string_equal(e.text, cases[i].text);
        stored_free(&S);
        csr_free(&A);
    }
}

/* Three matrices: short rows of similar length, long rows of similar length, and short rows with one long row. */
TEST(test_default_for_rows)
{
    static const struct {
        const char *generator, *kernel;
        int64_t param[PARAMS_MAX];
    } cases[] = {
        {"poisson2d", "csr-adaptive", {20, 20}},  {"circuit", "csr-adaptive", {3000, 1}},
        {"circuit", "csr-ends", {60000, 1}},     /* few entries, but a row of 7,504 */
        {"poisson2d", "csr-stream", {400, 300}}, /* more than 2^19 entries */
        {"random", "csr-cusp", {20000, 40, 500}},
    };
    for (int k = 0; k < COUNT(cases); k++) {
        struct err e = {0};
        struct csr A;
        if (!generator_find(cases[k].generator)->make(cases[k].param, 1, NULL, &A, &e)) fail_msg("%s", e.text);
        assert_string_equal(kernel_default(format_find("csr"), &A, open_or_fail("emu"))->name, cases[k].kernel);
        csr_free(&A);
    }
}

/* The notes' code divides nnz by the rows as integers, then compares: <= 2 takes 2, <= 4 takes 4, and so on. */
TEST(test_threads_per_row)
{
    static const struct {
        int64_t rows, nnz;
        int threads;
    } cases[] = {
        {0, 0, 2},       {7, 0, 2},      {10, 29, 2},  {10, 30, 4},           {10, 49, 4},
        {10, 50, 8},     {10, 89, 8},    {10, 90, 16}, {10, 169, 16},         {10, 170, 32},
        {10, 10000, 32}, {900, 4380, 4}, {4, 9, 2},    {1000000, 4996000, 4}, {50000000, INT32_MAX, 32},
    };
    for (int k = 0; k < COUNT(cases); k++)
        if (emu_test_vector(cases[k].rows, cases[k].nnz) != cases[k].threads)
            fail_msg("%lld rows, %lld nonzeros: not %d threads", (long long)cases[k].rows, (long long)cases[k].nnz,
                     cases[k].threads);
}

/* The kernels whose vectors have this many threads launch rows * threads threads, in whole blocks. */
static void hold_launch(const char *kernel, const struct mat *M, int block, int threads)
{
    static struct counts counts;
    struct err e = {0};
    if (!count_kernel(kernel_find(kernel), M, 0, NULL, NULL, &counts, &e)) fail_msg("%s: %s", kernel, e.text);
    const struct scope_launch *last = &counts.scope.launch[counts.scope.nlaunches - 1];
    int64_t blocks = (M->of->rows * threads + block - 1) / block;
    if (last->threads != block || last->blocks != blocks)
        fail_msg("%s, %d threads per row: %lld blocks of %lld threads, not %lld", kernel, threads,
                 (long long)last->blocks, (long long)last->threads, (long long)blocks);
}

TEST(test_launches_by_row_length)
{
    static const struct {
        int64_t per_row;
        int threads;
    } cases[] = {{1, 2}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {8, 8}, {9, 16}, {16, 16}, {17, 32}, {40, 32}};
    for (int k = 0; k < COUNT(cases); k++) {
        struct err e = {0};
        struct csr A;
        struct stored S;
        struct mat M;
        int64_t param[PARAMS_MAX] = {150, cases[k].per_row, 150};
        if (!generator_find("random")->make(param, 1, NULL, &A, &e)) fail_msg("%s", e.text);
        assert_int_equal(A.nnz, 150 * cases[k].per_row);
        assert_true(format_pack(&A, format_find("csr"), NULL, P_F64, false, &S, &e));
        assert_true(mat_put(&M, &S, open_or_fail("emu"), &e));
        hold_launch("csr-cusp", &M, 128, cases[k].threads);
        hold_launch("csr-light-vector", &M, 256, cases[k].threads);
        hold_launch("csr-light-warp", &M, 256, cases[k].threads);
        hold_launch("csr-light-vector-texture", &M, 256, cases[k].threads);
        hold_launch("csr-light-warp-texture", &M, 256, cases[k].threads);
        mat_free(&M);
        stored_free(&S);
        csr_free(&A);
    }
}

/* Many rows of one entry, and a row so long that a whole block adds its partial sums: the result does not depend on
   which warps add. */
TEST(test_strips_of_many_rows)
{
    enum { ROWS = 150000, LONG_ROW = 40, LENGTH = 40000 };
    struct csr A;
    struct stored S;
    struct mat M;
    struct err e = {0};
    double *x = mem_new(LENGTH, sizeof *x, "x", NULL), *y = mem_new(ROWS, sizeof *y, "y", NULL);
    assert_true(x && y && csr_new(&A, ROWS, LENGTH, ROWS - 1 + LENGTH, false, NULL));
    for (int i = 0, k = 0; i < ROWS; i++) {
        for (int j = i == LONG_ROW ? 0 : LENGTH - 1; j < LENGTH; j++, k++)
            A.col[k] = i == LONG_ROW ? j : i % LENGTH, A.val[k] = 1 + i % 5;
        A.rowptr[i + 1] = k;
    }
    for (int j = 0; j < LENGTH; j++) x[j] = j % 7;
    struct device *d = open_or_fail("emu");
    if (!format_pack(&A, format_find("strips"), NULL, P_F64, false, &S, &e)) fail_msg("%s", e.text);
    assert_true(mat_put(&M, &S, d, &e));
    struct launch L = {.A = &M, .alpha = 1, .x = x, .y = y};
    if (!kernel_launch(kernel_find("strips"), &L, &e) || !d->ops->sync(d, &e)) fail_msg("%s", e.text);
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        for (int k = A.rowptr[i]; k < A.rowptr[i + 1]; k++) sum += A.val[k] * x[A.col[k]];
        if (y[i] != sum) fail_msg("row %d: %g, not %g", i, y[i], sum);
    }
    mat_free(&M);
    stored_free(&S);
    csr_free(&A);
    mem_free(x);
    mem_free(y);
}
