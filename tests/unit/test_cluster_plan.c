/* How a small system is divided among the thread blocks of a cluster, by hand. */
#include "base/base.h"
#include "kits/stored_kit.h"
#include "kits/test.h"
#include "machine/cluster_ops.h"
#include "machine/device.h"
#include "matrix/csr.h"

enum { VECTORS = 5, MORE = 100 };

/* `rows` rows of `each` entries, of which the first has `extra` more. */
static struct cluster_plan plan_of(int rows, int each, int extra, enum type real)
{
    int length[1024];
    struct cluster_plan p;
    struct err e = {0};
    assert_true(rows <= COUNT(length));
    for (int i = 0; i < rows; i++) length[i] = each + (i ? 0 : extra);
    struct csr A = ragged(rows, length);
    if (!cluster_plan_make(device_open("emu", &e), &A, real, VECTORS, MORE, &p, &e)) fail_msg("%s", e.text);
    csr_free(&A);
    return p;
}

/* A thread adds up at most 16 entries of an average row, and a warp takes at most one row. */
TEST(long_rows_have_more_threads)
{
    static const struct {
        int each, extra, lanes;
    } cases[] = {{1, 0, 1}, {16, 0, 1}, {16, 1, 2}, {32, 0, 2}, {32, 1, 4}, {256, 1, 32}, {600, 0, 32}};
    for (int i = 0; i < COUNT(cases); i++)
        assert_int_equal(plan_of(10, cases[i].each, cases[i].extra, T_F64).lanes, cases[i].lanes);
}

/* A block has at most 128 rows times their threads, if the cluster can have more blocks. */
TEST(many_rows_have_more_blocks)
{
    assert_int_equal(plan_of(128, 1, 0, T_F64).blocks, 1);
    assert_int_equal(plan_of(129, 1, 0, T_F64).blocks, 2);
    assert_int_equal(plan_of(129, 1, 0, T_F64).rows, 65);
    assert_int_equal(plan_of(64, 17, 0, T_F64).blocks, 1); /* 2 threads per row */
    assert_int_equal(plan_of(65, 17, 0, T_F64).blocks, 2);
}

/* In each block: parts of the vectors and of the values, the columns, the pointers, and what the solver wants besides.
 */
TEST(a_block_holds_its_part_of_everything)
{
    struct cluster_plan p = plan_of(10, 16, 0, T_F64);
    assert_int_equal(p.entries, 160);
    assert_int_equal(p.bytes, MORE + (VECTORS * 10 + 160) * 8 + 160 * 4 + 11 * 4);
    assert_int_equal(plan_of(10, 16, 0, T_F32).bytes, MORE + (VECTORS * 10 + 160) * 4 + 160 * 4 + 11 * 4);
    p = plan_of(129, 1, 7, T_F64); /* the first of two blocks has 65 rows and 72 entries */
    assert_int_equal(p.entries, 72);
    assert_int_equal(p.bytes, MORE + (VECTORS * 65 + 72) * 8 + 72 * 4 + 66 * 4);
}

/* Two blocks have enough threads for 8 rows of 7,000 entries; their values and columns, 12 bytes per entry, fit only in
   four, which is as many as a cluster of the emulator can have. */
TEST(all_blocks_of_a_cluster_are_used)
{
    struct device *emu = device_open("emu", NULL);
    struct cluster_plan p = plan_of(8, 7000, 0, T_F64);
    assert_int_equal(cluster_ops_of(emu)->blocks(emu), 4);
    assert_int_equal(p.blocks, 4);
    assert_int_equal(p.entries, 14000);
}
