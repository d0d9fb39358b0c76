/* Several vectors at a time: every SpMM kernel on the cpu and on the emulator, and the command spmm. */
#include "base/precision.h"
#include "formats/format.h"
#include "gpu/emu/emu.h"
#include "kits/kernel_loops.h"
#include "kits/spmm_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/spmm.h"

#include <math.h>

enum { CPU_SLOTS = 20000, EMU_SLOTS = 2500 };

TEST(the_table_is_complete)
{
    for (int i = 0; spmm_kernels[i]; i++) {
        const struct spmm_kernel *k = spmm_kernels[i];
        assert_true(*k->name && *k->about && *k->work && k->format && k->product[P_F32] && k->product[P_F64]);
        assert_true(!k->begin == !k->end);
        assert_null(kernel_find(k->name)); /* no SpMV has the same name */
        for (int j = 0; j < i; j++) assert_string_not_equal(k->name, spmm_kernels[j]->name);
    }
}

TEST(the_commands_know_the_kernels)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "kernels", "`kernels spmm` lists");
    for (int i = 0; spmm_kernels[i]; i++) assert_null(strstr(t.out, spmm_kernels[i]->name));
    for (int i = 0; spmm_kernels[i]; i++) {
        talk_says(&t, "kernels spmm", spmm_kernels[i]->name);
        char line[80];
        snprintf(line, sizeof line, "trace %s", spmm_kernels[i]->name);
        talk_refuses(&t, line, "after `trace` is a kernel of spmm; use a kernel or lu-paper, ");
    }
    assert_true(talk_line(&t, "gen poisson2d 4; load tests/golden/complex.mtx as C; use poisson2d"));
    talk_says(&t, "kernels spmm", "yes");
    talk_says(&t, "kernels spmm of C", "no");
    talk_close(&t);
}

TEST(kernels_are_right_on_cpu)
{
    check_spmm(open_or_fail("cpu"), CPU_SLOTS, NULL);
}

static void other_order(int round)
{
    emu_order((uint64_t)round * 77);
}

TEST(kernels_are_right_on_emu_without_races)
{
    struct device *emu = open_or_fail("emu");
    emu_races(true);
    check_spmm(emu, EMU_SLOTS, other_order);
    emu_races(false);
}

/* The first row after the kernel's name in JSON. */
static double figure_of(const struct talk *t, const char *kernel, const char *key)
{
    char name[80], quoted[80];
    snprintf(name, sizeof name, "\"kernel\":\"%s\"", kernel);
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *row = strstr(t->out, name), *at = row ? strstr(row, quoted) : NULL;
    if (!at) fail_msg("no %s of %s in %s", key, kernel, t->out);
    return strtod(at + strlen(quoted), NULL);
}

TEST(the_command_shows_every_kernel)
{
    static const char *const devices[] = {"cpu", "emu"};
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 6 as A"));
    for (int d = 0; d < COUNT(devices); d++) {
        char line[80];
        struct device *dev = open_or_fail(devices[d]);
        snprintf(line, sizeof line, "spmm k 5 reps 2 on %.40s", dev->name);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        for (int i = 0; spmm_kernels[i]; i++) {
            if (!spmm_runs_on(spmm_kernels[i], dev)) continue;
            assert_true(figure_of(&t, spmm_kernels[i]->name, "launches") == 1);
            assert_true(figure_of(&t, spmm_kernels[i]->name, "error") < 1e-14);
        }
        const char *spmv = kernel_default(format_find("csr"), NULL, dev)->name;
        if (dev->kind == DEV_CPU) assert_true(figure_of(&t, spmv, "launches") == 5);
    }
    talk_close(&t);
}

/* csr: 12 bytes per entry and 4 per row pointer; X and Y: 8 bytes per element and vector. */
TEST(bytes_per_vector_share_the_matrix)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 6 as A; spmm using csr k 4 reps 2 on cpu"));
    double nnz = 36 + 4 * 6 * 5, vector = 8 * (36 + 36), matrix = 12 * nnz + 4 * 37;
    assert_true(figure_of(&t, "spmm-csr-serial", "bytes_per_vector") == matrix / 4 + vector);
    assert_true(figure_of(&t, "csr-openmp", "bytes_per_vector") == matrix + vector);
    double us = figure_of(&t, "spmm-csr-serial", "time_us"), each = figure_of(&t, "spmm-csr-serial", "us_per_vector");
    assert_true(us > 0 && fabs(4 * each - us) < 1e-9 * us);
    talk_close(&t);
}

TEST(the_command_refuses_in_one_line)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"spmm complex", "complex is complex; spmm multiplies real matrices, use spmv"},
        {"spmm A k 0", "k"},
        {"spmm A k 65", "64"},
        {"spmm A using dia on cpu", "no kernel multiplies dia by several vectors on cpu; leave out `using`"},
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 5 as A; load tests/golden/complex.mtx as complex"));
    for (int i = 0; i < COUNT(cases); i++) talk_refuses(&t, cases[i].line, cases[i].message);
    talk_says(&t, "spmm A k 3 on emu", "Y = A X for 3 vectors\n");
    talk_says(&t, "load tests/golden/empty.mtx as E; spmm E on emu; spmm E on cpu reps 2", "spmm-csr-serial");
    talk_close(&t);
}
