/* Every kernel on the cpu and on the emulator, and the invariants of the registry of kernels. */
#include "kits/kernel_loops.h"
#include "gpu/emu/emu.h"
#include "base/err.h"
#include "matrix/gen.h"
#include "machine/kernel.h"
#include "formats/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* Each constant whose name contains SLOTS is a limit: stored matrices with more slots are skipped, because more padding
   does not test a kernel better. Files with more than FILE_NNZ nonzeros are also skipped. */
enum { CPU_SLOTS = 100000, EMU_SLOTS = 10000 };
enum { FILE_NNZ = 100000, CPU_FILE_SLOTS = 2000000, EMU_FILE_SLOTS = 400000 };

static void test_shapes_on_cpu(void **state)
{
    (void)state;
    check_shapes(open_or_fail("cpu"), CPU_SLOTS);
}

static void test_shapes_on_emu(void **state)
{
    (void)state;
    check_shapes(open_or_fail("emu"), EMU_SLOTS);
}

static void test_exact(void **state)
{
    (void)state;
    check_exact(open_or_fail("cpu"), CPU_SLOTS);
    check_exact(open_or_fail("emu"), EMU_SLOTS);
}

static void other_order(int round)
{
    emu_order((uint64_t)round * 77);
}

static void test_deterministic(void **state)
{
    (void)state;
    check_deterministic(open_or_fail("cpu"), EMU_SLOTS, NULL);
    check_deterministic(open_or_fail("emu"), EMU_SLOTS / 4, other_order);
}

static void test_files(void **state)
{
    (void)state;
    check_files(open_or_fail("cpu"), FILE_NNZ, CPU_FILE_SLOTS);
    check_files(open_or_fail("emu"), FILE_NNZ, EMU_FILE_SLOTS);
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

static void test_lessons(void **state)
{
    (void)state;
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (!not_empty(k->lesson)) fail_msg("%s has no lesson", k->name);
        int lines = lesson_lines(k);
        if (!k->host && !k->vendor && (lines < 5 || lines > 14))
            fail_msg("%s: a lesson of %d lines, 5 to 14 are right", k->name, lines);
    }
}

static void test_registry(void **state)
{
    (void)state;
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        assert_ptr_equal(kernel_find(k->name), k);
        assert_ptr_equal(format_find(k->format->name), k->format);
        assert_true(not_empty(k->about) && not_empty(k->source) && not_empty(k->work));
        assert_true(k->f32 && k->f64);
    }
    assert_null(kernel_find("no-such-kernel"));
}

static void test_default(void **state)
{
    (void)state;
    const struct device *cpu = open_or_fail("cpu"), *emu = open_or_fail("emu");
    for (int f = 0; formats[f]; f++) {
        assert_non_null(kernel_default(formats[f], NULL, cpu));
        assert_non_null(kernel_default(formats[f], NULL, emu));
        assert_non_null(strstr(kernel_default(formats[f], NULL, cpu)->name, "-openmp"));
    }
    assert_string_equal(kernel_default(format_find("bsr"), NULL, emu)->name, "bsr-column");
}

/* Three matrices: short rows of similar length, long rows of similar length, and short rows with one long row. */
static void test_default_for_rows(void **state)
{
    (void)state;
    static const struct {
        const char *generator, *kernel;
        int64_t param[PARAMS_MAX];
    } cases[] = {
        {"poisson2d", "csr-stream", {20, 20}},
        {"random", "csr-cusp", {500, 40, 500}},
        {"circuit", "csr-merge", {3000, 1}},
    };
    for (int k = 0; k < COUNT(cases); k++) {
        struct err e = {0};
        struct csr A;
        if (!generator_find(cases[k].generator)->make(cases[k].param, 1, NULL, &A, &e)) fail_msg("%s", e.text);
        assert_string_equal(kernel_default(format_find("csr"), &A, open_or_fail("emu"))->name, cases[k].kernel);
        csr_free(&A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry),         cmocka_unit_test(test_lessons),       cmocka_unit_test(test_default),
        cmocka_unit_test(test_default_for_rows), cmocka_unit_test(test_shapes_on_cpu), cmocka_unit_test(test_exact),
        cmocka_unit_test(test_shapes_on_emu),    cmocka_unit_test(test_deterministic), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, close_devices);
}
