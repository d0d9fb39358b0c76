/* The emulator: its results, and its reports, which name the source line for each broken rule. */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "gpu/emu/emu.h"
#include "kits/emu_kernels.h"
#include "kits/test.h"

#include <string.h>

static int y[256];

static void run_clean(const char *name)
{
    struct err e = {0};
    emu_test_run(name, y);
    if (!emu_sync(&e)) print_error("%s: %s: %s\n", name, e.where, e.text);
    assert_int_equal(e.code, E_NONE);
}

TEST(test_barrier_and_shared)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        emu_order(seed);
        run_clean("reverse_block");
        for (int k = 0; k < 64; k++) assert_int_equal(y[k], 63 - k);
    }
    emu_order(0);
}

TEST(test_clusters)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        emu_order(seed);
        run_clean("reverse_cluster");
        for (int k = 0; k < 256; k++) assert_int_equal(y[k], k < 128 ? 127 - k : k);
    }
    emu_order(0);
}

TEST(test_shuffles)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        emu_order(seed);
        run_clean("sum_warp");
        for (int w = 0; w < 4; w++) assert_int_equal(y[w], 32 * 32 * w + 31 * 16);
        run_clean("half_sum");
        assert_int_equal(y[0], 16);
        run_clean("vote_odd");
        for (int k = 0; k < 32; k++) {
            int up = k % 8 ? k - 1 : k, flip = k ^ 3, third = k / 8 * 8 + 3;
            assert_int_equal(y[k], 16 * 1000000 + up * 10000 + flip * 100 + third);
        }
    }
    emu_order(0);
}

TEST(test_grids)
{
    run_clean("fill_3d");
    for (int k = 0; k < 256; k++) assert_int_equal(y[k], 1);
    run_clean("empty_grid");
}

TEST(test_order_changes_a_race)
{
    bool differs = false;
    run_clean("last_one_wins");
    assert_int_equal(y[0], 63);
    for (uint64_t seed = 1; seed < 20; seed++) {
        emu_order(seed);
        run_clean("last_one_wins");
        differs |= y[0] != 63;
    }
    emu_order(0);
    assert_true(differs);
}

TEST(test_shared_is_poisoned)
{
    run_clean("shared_unwritten");
    assert_int_equal(y[0], -1);
    run_clean("reverse_given"); /* adds an unwritten element, -1, and 1 */
    for (int k = 0; k < 64; k++) assert_int_equal(y[k], 63 - k);
}

TEST(test_shared_is_declared_once)
{
    run_clean("shared_again");
    for (int k = 0; k < 64; k++) assert_int_equal(y[k], 5050 + 2500);
}

static const struct {
    const char *kernel, *line, *text;
} findings[] = {
    {"read_outside", "out[threadIdx.x] = a[threadIdx.x + 1]",
     "thread 31: index 32 of a is outside the array, which has 32"},
    {"write_before", "out[static_cast<int>(threadIdx.x) - 1]", "thread 0: index -1 of y is outside the array"},
    {"atomic_outside", "atomicAdd(out + 1000, 1)", "index 1000 of y is outside the array, which has 256"},
    {"shared_outside", "s[threadIdx.x] = 1", "thread 8: index 8 of s is outside the array, which has 8"},
    {"barrier_after_return", NULL, "thread 0 waits here, but thread 5 has returned"},
    {"barrier_two_lines", NULL, "thread 0 waits here, and thread 7 waits at line"},
    {"mask_after_return", "__shfl_down_sync(FULL_MASK, 1, 1)", "names lane 20, which has returned"},
    {"mask_without_me", "0xfffffffeu, 1, 1", "does not name the calling lane 0"},
    {"read_unnamed", "__shfl_sync(0xffffu, 1, 20)", "reads lane 20, which the mask 0000ffff does not name"},
    {"others_elsewhere", "__shfl_sync(FULL_MASK, 1, 0)", "never completes: lane 0 of warp 0"},
    {"shared_too_much", "SHARED(double, s, 7000)", "56000 bytes; the maximum is 49152"},
    {"given_too_little", "SHARED_GIVEN(double, s, 7001)",
     "s needs 56008 bytes of shared memory; the launch gives 56000"},
    {"wait_for_later", "wait_for_blocks()", "waits for a result that no block before this block has published"},
    {"cluster_after_return", NULL, "cluster_sync: thread 0 waits here, but thread 64 has returned"},
    {"cluster_and_block", NULL, "thread 7 waits here, and thread 0 waits at line"},
    {"outside_cluster", "in_block(s, 4)[0] = 1", "block 4 is outside the cluster, which has 4 blocks"},
    {"block_too_big", NULL, "1025 x 1 x 1 threads cannot be launched"},
    {"mask_beyond_block", "__ballot_sync(FULL_MASK, threadIdx.x & 1)", "names lane 20, which the block does not have"},
};

TEST(test_findings)
{
    for (int k = 0; k < COUNT(findings); k++) {
        struct err e = {0};
        char where[64];
        emu_test_run(findings[k].kernel, y);
        assert_false(emu_sync(&e));
        assert_int_equal(e.code, E_DEVICE);
        if (!strstr(e.text, findings[k].text)) fail_msg("%s: %s: %s", findings[k].kernel, e.where, e.text);
        assert_non_null(strstr(e.text, findings[k].kernel));
        int line = findings[k].line ? emu_test_line(findings[k].line) : 0;
        snprintf(where, sizeof where, "emu_kernels.cc:%d", line);
        if (line) assert_string_equal(e.where, where);
        run_clean("sum_warp"); /* a finding is reported once; the next launch runs normally */
    }
}

TEST(test_finding_in_header)
{
    struct err e = {0};
    emu_test_run("outside_in_header", y);
    assert_false(emu_sync(&e));
    assert_memory_equal(e.where, "csr_rows.h:", 11);
    assert_non_null(strstr(e.text, "index 1 of x is outside the array, which has 1"));
}

TEST(test_first_finding_stays)
{
    struct err e = {0};
    emu_test_run("read_outside", y);
    /* This launch does not run: the device is stopped until its finding has been read. */
    emu_test_run("shared_outside", y);
    assert_false(emu_sync(&e));
    assert_non_null(strstr(e.text, "read_outside"));
    assert_int_equal(y[0], 0);
}

/* A launch leaves no state behind that affects later code on the host. */
TEST(test_host_after_launch)
{
    run_clean("sum_warp");
    emu_test_read(y, 200000);
}

TEST(test_no_memory)
{
    for (int n = 1; n <= 3; n++) {
        struct err e = {0};
        emu_close();
        mem_fail_at(n);
        emu_test_run("sum_warp", y);
        mem_fail_at(0);
        assert_false(emu_sync(&e));
        assert_int_equal(e.code, E_MEMORY);
    }
    run_clean("sum_warp");
    emu_close();
}
