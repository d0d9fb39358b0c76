/* What nvcc made of the kernels' functions: the table, how it names the functions that kernels launch, and the blocks
   that a multiprocessor holds because of their registers. */
#include "base/base.h"
#include "kits/kernel_loops.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/compiled.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/gpu_profile.h"
#include "microscope/model.h"

#include <string.h>

static const struct compiled *line_of(const char *name)
{
    const struct compiled *c = compiled_find(name);
    if (!c) fail_msg("the table lacks %s", name);
    return c;
}

/* ---- the table ---- */

/* The names are in order, because they are looked up by bisection, and a thread has at most 255 registers. */
TEST(test_table)
{
    const struct compiled *c, *last = NULL;
    for (int i = 0; (c = compiled_at(i)); last = c, i++) {
        if (last && strcmp(last->name, c->name) >= 0) fail_msg("%s comes before %s", last->name, c->name);
        if (c->registers < 1 || c->registers > 255) fail_msg("%s: %d registers", c->name, c->registers);
        if (compiled_instructions(c) < 2) fail_msg("%s: %d instructions", c->name, compiled_instructions(c));
        assert_ptr_equal(compiled_find(c->name), c);
    }
    assert_non_null(last);
    assert_null(compiled_at(-1));
    assert_null(compiled_find(""));
    assert_null(compiled_find("csr_scalar"));
}

static int count_of(const char *name, enum instruction_class k)
{
    return line_of(name)->instructions[k];
}

/* The source of these kernels says which classes of instructions they need, and which they do not. */
TEST(test_classes)
{
    static const char scalar[] = "csr_scalar<double, double>", single[] = "csr_scalar<float, float>";
    static const char stream[] = "csr_stream<double, double, stream_plain>", atomic[] = "coo_atomic<double>";
    static const char vector[] = "csr_vector<double, double>", textured[] = "vab_rows<double, texture<double>>";
    assert_true(count_of(scalar, INSTRUCTION_LOAD) >= 5); /* two pointers, a column, a value, x */
    assert_int_equal(count_of(scalar, INSTRUCTION_STORE), 1);
    assert_true(count_of(scalar, INSTRUCTION_FP64) > 0 && count_of(scalar, INSTRUCTION_FP32) == 0);
    assert_true(count_of(single, INSTRUCTION_FP32) > 0 && count_of(single, INSTRUCTION_FP64) == 0);
    assert_true(count_of("csr_scalar<double, fp16>", INSTRUCTION_CONVERSION) > 0);
    assert_int_equal(count_of(scalar, INSTRUCTION_COLLECTIVE), 0);
    assert_int_equal(count_of(vector, INSTRUCTION_COLLECTIVE), 10); /* five shuffles of two words */
    assert_int_equal(count_of(atomic, INSTRUCTION_ATOMIC), 1);
    assert_int_equal(count_of(scalar, INSTRUCTION_ATOMIC) + count_of(scalar, INSTRUCTION_SHARED), 0);
    assert_true(count_of(stream, INSTRUCTION_SHARED) > 0 && count_of(stream, INSTRUCTION_BARRIER) > 0);
    assert_int_equal(line_of(stream)->shared_bytes, 2048 * 8); /* its products */
    assert_int_equal(line_of(scalar)->shared_bytes, 0);
    assert_true(count_of(textured, INSTRUCTION_TEXTURE) > 0 && count_of(vector, INSTRUCTION_TEXTURE) == 0);
}

TEST(test_patterns)
{
    const struct compiled *plain = line_of("csr_stream<double, double, stream_plain>");
    const struct compiled *array = line_of("light_vector<double, 2, double const*>");
    assert_true(compiled_matches(plain, "csr_stream"));
    assert_false(compiled_matches(plain, "csr_stream_sums"));
    assert_false(compiled_matches(plain, "csr"));
    assert_true(compiled_matches(plain, "csr_stream<*stream_plain>"));
    assert_false(compiled_matches(plain, "csr_stream<*stream_padded<*>>"));
    assert_true(compiled_matches(array, "light_vector<*const[*]>"));
    assert_false(compiled_matches(array, "light_vector<*texture<*>>"));
    assert_true(compiled_in_fp64(plain));
    assert_true(compiled_in_fp64(line_of("reset_counter")));
    assert_false(compiled_in_fp64(line_of("csr_scalar<double, float>")));
    assert_false(compiled_in_fp64(line_of("dia<cplx<double>, 3, int const*>")));
}

/* ---- the registry ---- */

/* Every kernel for GPUs names its functions, each with an instance in the table. */
TEST(test_registry)
{
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (k->host || k->vendor || k->emulated_only) continue;
        if (!k->functions[0].name) fail_msg("the entry of %s lacks .functions", k->name);
        for (int f = 0; f < KERNEL_FUNCTIONS && k->functions[f].name; f++) {
            const struct compiled *c;
            bool found = false;
            for (int n = 0; (c = compiled_at(n)) && !found; n++) found = compiled_matches(c, k->functions[f].name);
            if (!found) fail_msg("%s: the table has no line for %s", k->name, k->functions[f].name);
        }
    }
}

TEST(test_launches)
{
    check_compiled(open_or_fail("emu"), 1 << 14);
}

/* ---- the blocks of a multiprocessor ---- */

/* Of a GPU with 2048 threads, 32 blocks, 227 KB and 65,536 registers per multiprocessor. */
static const struct held {
    int64_t threads, shared, registers, blocks;
    enum residency_limit by;
    double percent;
} held[] = {
    {256, 0, 32, 8, LIMITED_BY_THREADS, 100},
    {256, 0, 0, 8, LIMITED_BY_THREADS, 100},   /* registers not known */
    {256, 0, 33, 6, LIMITED_BY_REGISTERS, 75}, /* taken as 40: a quarter holds 12 warps */
    {256, 0, 40, 6, LIMITED_BY_REGISTERS, 75},
    {128, 0, 40, 12, LIMITED_BY_REGISTERS, 75},
    {96, 0, 64, 10, LIMITED_BY_REGISTERS, 46.875}, /* 32 warps, of which 10 blocks take 30 */
    {1024, 0, 64, 1, LIMITED_BY_REGISTERS, 50},
    {64, 0, 255, 4, LIMITED_BY_REGISTERS, 12.5}, /* taken as 256: 2 warps in each quarter */
    {32, 0, 32, 32, LIMITED_BY_BLOCKS, 50},
    {33, 0, 16, 32, LIMITED_BY_THREADS, 100}, /* a block of 33 threads takes two warps */
    {256, 46 * 1024, 40, 4, LIMITED_BY_SHARED, 50},
};

TEST(test_residency)
{
    struct machine g = machine_reference();
    for (int i = 0; i < COUNT(held); i++) {
        const struct held *h = &held[i];
        const struct work w = {.threads = h->threads, .shared_bytes = h->shared, .registers = h->registers};
        struct residency r = model_residency(&g, &w);
        if ((int64_t)r.blocks != h->blocks || r.by != h->by || 100 * r.share != h->percent)
            fail_msg("%lld threads, %lld B, %lld registers: %g blocks, %s, %g%%", (long long)h->threads,
                     (long long)h->shared, (long long)h->registers, r.blocks, residency_limit_names[r.by],
                     100 * r.share);
    }
    g.is.registers /= 2;
    assert_int_equal((int)model_resident(&g, &(struct work){.threads = 256, .registers = 40}), 3);
}

/* ---- what commands say ---- */

TEST(test_commands)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "help csr-vector", "csr_vector: ");
    talk_says(&t, "help csr-vector", "Compiled for sm_");
    talk_says(&t, "help csr-vector", "10 warp collectives");
    talk_says(&t, "help dia", "dia, 18 instances: ");
    talk_says(&t, "help brcsd2", "the launch decides how many threads a block has");
    talk_says(&t, "help csr-hot", "the launch decides how much shared memory a block gets");
    assert_true(talk_line(&t, "help csr-openmp"));
    assert_null(strstr(t.out, "Compiled"));
    assert_true(talk_line(&t, "gen poisson2d 100"));
    talk_says(&t, "predict csr-vector", "at most 100%: 16 blocks of 128 threads");
    talk_says(&t, "predict csr-ends", "limited by registers");
    talk_says(&t, "explain csr-ends", "Registers limit the occupancy: ");
    talk_says(&t, "sm csr-ends", "It holds at most 4 of them at a time, because each thread needs ");
    assert_true(talk_line(&t, "sm csr-vector"));
    assert_null(strstr(t.out, "because each thread needs"));
    talk_close(&t);
    devices_close();
}
