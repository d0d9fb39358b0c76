/* What nvcc made of the kernels' functions: the table, how it names the functions that kernels launch, and the blocks
   that a multiprocessor holds because of their registers. */
#include "base/base.h"
#include "base/mem.h"
#include "base/text.h"
#include "kits/kernel_loops.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/compiled.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/gpu_profile.h"
#include "microscope/model.h"

#include <string.h>

static const struct compiled_column *column(int capability)
{
    struct err e = {0};
    const struct compiled_column *c = compiled_column(capability, &e);
    if (!c) fail_msg("%s%s", e.where, e.text);
    return c;
}

static const struct compiled *line_of(const char *name)
{
    const struct compiled *c = compiled_find(column(90), name);
    if (!c) fail_msg("the table lacks %s", name);
    return c;
}

/* ---- the table ---- */

static const struct of_architecture {
    const char *name;
    int number;
} architectures[] = {{"sm_75", 75}, {"sm_80", 80},   {"sm_86", 86},   {"sm_89", 89},
                     {"sm_90", 90}, {"sm_100", 100}, {"sm_103", 103}, {"sm_120", 120}};

/* The names are in order, because they are looked up by bisection, and a thread has at most 255 registers. Every
   architecture has the same functions. */
TEST_OF_EACH(test_table, architectures)
{
    const struct of_architecture *of = *state;
    const struct compiled_column *all = column(of->number);
    assert_int_equal(all->architecture, of->number);
    assert_int_equal(all->n, column(90)->n);
    for (int i = 0; i < all->n; i++) {
        const struct compiled *c = &all->functions[i];
        if (i && strcmp(c[-1].name, c->name) >= 0) fail_msg("%s comes before %s", c[-1].name, c->name);
        if (c->registers < 1 || c->registers > 255) fail_msg("%s: %d registers", c->name, c->registers);
        if (compiled_instructions(c) < 2) fail_msg("%s: %d instructions", c->name, compiled_instructions(c));
        assert_ptr_equal(compiled_find(all, c->name), c);
        assert_string_equal(column(90)->functions[i].name, c->name);
    }
    assert_null(compiled_find(all, ""));
    assert_null(compiled_find(all, "csr_scalar"));
    assert_null(compiled_find(NULL, "csr_scalar<double, double>"));
}

/* Without a column of its own, a GPU has that of the nearest older architecture, or the oldest. */
static const struct choice {
    int capability, architecture;
} choices[] = {{50, 75}, {70, 75},   {75, 75},   {80, 80},   {87, 86},   {89, 89},   {90, 90},
               {99, 90}, {100, 100}, {103, 103}, {110, 103}, {120, 120}, {121, 120}, {200, 120}};

TEST(test_columns)
{
    char remark[640];
    for (int i = 0; i < COUNT(choices); i++) {
        const struct choice *c = &choices[i];
        assert_int_equal(column(c->capability)->architecture, c->architecture);
        compiled_remark(c->capability, remark, sizeof remark);
        assert_int_equal(!*remark, c->capability == c->architecture);
    }
    compiled_remark(70, remark, sizeof remark);
    assert_string_equal(
        remark, "The registers of the program's kernels are those of sm_75: their table has no column for sm_70.");
}

/* ---- damaged tables ---- */

#define ZEROS "0 0 0 0 0 0 0 0 0 0 0 0 0"
#define HEAD                                                                                                       \
    "# a table\ncompiler nvcc 1.2\ncolumns registers shared_bytes local_bytes loads texture_loads stores atomics " \
    "shared local fp64 fp32 collectives barriers conversions integer branches other\n"
static const struct faulty {
    const char *name, *text, *says; /* NULL: the table is read */
} faulty[] = {
    {"whole", HEAD "f<a, b>\n 75,90 1 2 3 " ZEROS " 4\ng\n 90 5 6 7 " ZEROS " 8", NULL},
    {"empty", "", "t: the table of compiled functions is empty"},
    {"without_functions", HEAD, "t: the table of compiled functions is empty"},
    {"without_columns", "f\n 75 1 2 3 " ZEROS " 4\n", "t:2: the name of a function or the line `columns` is missing"},
    {"without_a_name", HEAD " 75 1 2 3 " ZEROS " 4\n", "t:4: the name of a function or the line `columns` is missing"},
    {"other_columns", "columns registers local_bytes\n",
     "t:1: column 2 is not `shared_bytes`: the table is that of another version of warpspy"},
    {"too_few_numbers", HEAD "f\n 75 1 2 3 " ZEROS "\n", "t:5: number 17 of 17 is missing or wrong"},
    {"too_many_numbers", HEAD "f\n 75 1 2 3 4 5 " ZEROS "\n", "t:5: there are more than 17 numbers"},
    {"no_number", HEAD "f\n 75 1 x 3 4 " ZEROS "\n", "t:5: number 2 of 17 is missing or wrong"},
    {"a_large_number", HEAD "f\n 75 1 2 1234567890 4 " ZEROS "\n", "t:5: number 3 of 17 is missing or wrong"},
    {"a_negative_number", HEAD "f\n 75 -1 2 3 4 " ZEROS "\n", "t:5: number 1 of 17 is missing or wrong"},
    {"no_architecture", HEAD "f\n x 1 2 3 4 " ZEROS "\n", "t:5: a line begins with architectures, such as 80,90"},
    {"order", HEAD "g\n 75 1 2 3 4 " ZEROS "\nf\n 75 1 2 3 4 " ZEROS "\n",
     "t:7: the functions of sm_75 are not in the order of their names"},
    {"twice", HEAD "f\n 75,75 1 2 3 4 " ZEROS "\n", "t:5: the functions of sm_75 are not in the order of their names"},
};

static bool parse(const char *text, struct compiled_table *t, struct err *e)
{
    char *own = mem_str(text, e);
    return own && compiled_table_parse(own, (int64_t)strlen(text), "t", t, e);
}

TEST_OF_EACH(a_table, faulty)
{
    const struct faulty *f = *state;
    struct compiled_table t;
    struct err e = {0};
    char said[800];
    bool ok = parse(f->text, &t, &e);
    snprintf(said, sizeof said, "%s: %s", e.where, e.text);
    if (!f->says) {
        assert_true(ok);
        assert_string_equal(t.compiler, "nvcc 1.2");
        assert_int_equal(t.n, 2);
        assert_int_equal(t.column[0].architecture, 75);
        assert_int_equal(t.column[1].n, 2);
        const struct compiled *c = compiled_find(&t.column[1], "g");
        assert_int_equal(c->registers, 5);
        assert_int_equal(c->shared_bytes, 6);
        assert_int_equal(c->local_bytes, 7);
        assert_int_equal(c->instructions[INSTRUCTION_OTHER], 8);
        assert_int_equal(compiled_find(&t.column[0], "f<a, b>")->registers, 1);
        assert_null(compiled_find(&t.column[0], "g"));
    } else {
        assert_false(ok);
        assert_string_equal(said, f->says);
    }
    compiled_table_free(&t);
}

/* A table of many architectures, each on a line of its own, the newest first. */
static void many(char *text, size_t size, int n)
{
    snprintf(text, size, "%sf\n", HEAD);
    for (int i = n; i > 0; i--) text_append(text, size, " %d 1 2 3 4 " ZEROS "\n", 100 + i);
}

TEST(test_many_architectures)
{
    char text[4096];
    struct compiled_table t;
    struct err e = {0};
    many(text, sizeof text, COMPILED_COLUMNS);
    assert_true(parse(text, &t, &e));
    for (int i = 0; i < COMPILED_COLUMNS; i++) assert_int_equal(t.column[i].architecture, 101 + i);
    compiled_table_free(&t);
    many(text, sizeof text, COMPILED_COLUMNS + 1);
    assert_false(parse(text, &t, &e));
    assert_non_null(strstr(e.text, "there are more than 32 architectures"));
    compiled_table_free(&t);
}

TEST(test_without_memory)
{
    for (int nth = 1;; nth++) {
        struct compiled_table t = {0};
        struct err e = {0};
        mem_fail_at(nth);
        bool ok = parse(faulty[0].text, &t, &e);
        mem_fail_at(0);
        compiled_table_free(&t);
        if (ok) break;
        assert_int_equal(e.code, E_MEMORY);
        assert_true(nth < 10);
    }
}

/* ---- classes of instructions, names ---- */

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
            const struct compiled_column *all = column(90);
            bool found = false;
            for (int n = 0; n < all->n && !found; n++)
                found = compiled_matches(&all->functions[n], k->functions[f].name);
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

/* The registers are those of the chosen GPU's architecture, and a GPU without a column says whose it has. */
TEST(test_other_gpus)
{
    static const char older[] = "are those of sm_75: their table has no column for sm_70.";
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "set gpu t4; help csr-vector", "Compiled for sm_75 by nvcc 1");
    assert_null(strstr(t.out, "no column"));
    talk_says(&t, "set gpu b200; help csr-vector", "Compiled for sm_100 by nvcc 1");
    talk_says(&t, "set gpu v100; help csr-vector", "Compiled for sm_75 by nvcc 1");
    assert_non_null(strstr(t.out, older));
    talk_says(&t, "gen poisson2d 100; predict csr-vector", older);
    talk_says(&t, "set gpu rtx4090; sm csr-vector", "so one multiprocessor gets");
    assert_null(strstr(t.out, "no column"));
    assert_true(talk_line(&t, "set gpu auto"));
    talk_close(&t);
    devices_close();
}
