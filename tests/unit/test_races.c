/* Data races: no kernel has a race with any shape, and planted races are found. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/emu/emu.h"
#include "gpu/emu/races.h"
#include "kits/emu_kernels.h"
#include "kits/kernel_loops.h"
#include "kits/lu_kit.h"
#include "kits/precond_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "lu/lu.h"
#include "machine/microscope.h"
#include "machine/wrong.h"
#include "matrix/csr.h"
#include "solvers/amg.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <string.h>

enum { SLOTS = 1 << 14 };

TEST(test_kernels_have_none)
{
    struct device *d = open_or_fail("emu");
    emu_races(true);
    check_races(d, SLOTS);
    emu_races(false);
}

TEST(test_solvers_have_none)
{
    struct talk t;
    char line[80];
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 9", "poisson2d");
    talk_says(&t, "device emu", "emu");
    amg_hook(10);
    emu_races(true);
    for (int i = 0; solvers[i]; i++)
        for (int single = 0; single < 2; single++) {
            snprintf(line, sizeof line, "solve %s maxit 12%s", solvers[i]->name, single ? " f32" : "");
            talk_says(&t, line, "iterations");
        }
    for (int i = 0; preconds[i]; i++) {
        if (preconds[i]->saddle) continue;
        snprintf(line, sizeof line, "solve %s precond %s maxit 12", solver_taking(preconds[i]), preconds[i]->name);
        talk_says(&t, line, "iterations");
    }
    emu_races(false);
    talk_close(&t);
}

/* Launches of many iterations, by the 4 blocks of a cluster. */
TEST(test_clusters_have_none)
{
    static const char *const words[] = {"", " precond jacobi"};
    struct talk t;
    char line[80];
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 17", "poisson2d");
    talk_says(&t, "device emu", "emu");
    emu_races(true);
    for (int i = 0; solvers[i]; i++)
        for (int k = 0; solvers[i]->steps && k < (cluster_takes_diagonal(solvers[i]) ? 2 : 1); k++)
            for (int single = 0; single < 2; single++) {
                snprintf(line, sizeof line, "solve %s launches one maxit 12%s%s", solvers[i]->name, words[k],
                         single ? " f32" : "");
                talk_says(&t, line, "4 thread blocks");
            }
    emu_races(false);
    talk_close(&t);
}

/* Every method with every width of a tile or panel. */
TEST(test_lu_has_none)
{
    struct err e = {0};
    struct device *d = open_or_fail("emu");
    struct csr A;
    emu_races(true);
    lu_random(&A, 70, 1);
    for (int m = 0; lu_methods[m]; m++)
        for (int b = 1; lu_runs_on(lu_methods[m], d) && b <= lu_methods[m]->width_most; b *= 2) {
            struct lu *v = NULL;
            struct lu_options o = {.method = lu_methods[m], .dev = d, .real = b % 3 == 1 ? P_F32 : P_F64, .b = b};
            if (!lu_begin(&v, &A, &o, &e) || !lu_factor(v, &e)) fail_msg("%s b %d: %s", lu_methods[m]->name, b, e.text);
            lu_free(v);
        }
    csr_free(&A);
    emu_races(false);
}

/* ---- the kernels that break a rule ---- */

static const struct {
    const char *rule, *line, *finding;
} broken[] = {
    {"barrier", "s[threadIdx.x] = in[threadIdx.x];", "thread 32: writes s[32], which thread 31 read at line "},
    {"reuse", "s[threadIdx.x] = in[threadIdx.x] + round;", "thread 32: writes s[32], which thread 31 read at line "},
    {"all-arrive", "__syncthreads();", "thread 0 waits here, but thread 5 has returned"},
    {"mask", "v += __shfl_down_sync(FULL_MASK, v, d);", "names lane 20, which has returned"},
    {"range", "out[threadIdx.x] = in[threadIdx.x + 1] - in[threadIdx.x];", "index 64 of in is outside the array"},
    {"lockstep", "s[lane] = in[lane];", "the kernel relies on lockstep; __syncwarp() is missing"},
    {"innerPro_128", "r_s[tid] += r_s[tid + 32];", "the kernel relies on lockstep; __syncwarp() is missing"},
    {"update", "out[0] += in[threadIdx.x];", "use atomicAdd or another atomic"},
    {"global", "out[N + threadIdx.x] = out[threadIdx.x - 1];", "thread 32: reads out[31], which thread 31 wrote"},
};

static int line_of(const struct err *e)
{
    const char *colon = strrchr(e->where, ':');
    return colon ? atoi(colon + 1) : 0;
}

TEST(test_wrong_are_found)
{
    int n = 0, length, first, last;
    bool right;
    for (; wrong_rules[n].name; n++) {
        struct err e = {0};
        assert_string_equal(wrong_rules[n].name, broken[n].rule);
        assert_false(wrong_run(&wrong_rules[n], true, &right, NULL, &e));
        assert_int_equal(e.code, E_DEVICE);
        const char *line = kernel_source_line("k_wrong.cu", line_of(&e), &length);
        if (!line || !memmem(line, (size_t)length, broken[n].line, strlen(broken[n].line)) ||
            !strstr(e.text, broken[n].finding))
            fail_msg("%s: %s: %s", broken[n].rule, e.where, e.text);
        assert_true(wrong_lines(wrong_rules[n].wrong, &first, &last));
        assert_in_range(line_of(&e), first, last);
    }
    assert_int_equal(n, COUNT(broken));
}

/* The statement reported as missing is in the correct kernel: adding it fixes the bug. */
TEST(test_what_is_missing)
{
    static const char *const missing[][2] = {{"barrier", "__syncthreads() is missing"},
                                             {"reuse", "__syncthreads() is missing"},
                                             {"lockstep", "__syncwarp() is missing"},
                                             {"innerPro_128", "__syncwarp() is missing"},
                                             {"update", "atomicAdd"},
                                             {"global", "__syncthreads() is missing"}};
    bool right;
    for (int n = 0; n < COUNT(missing); n++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct err e = {0};
            emu_order(seed);
            assert_false(wrong_run(wrong_find(missing[n][0]), true, &right, NULL, &e));
            if (!strstr(e.text, missing[n][1])) fail_msg("%s, seed %d: %s", missing[n][0], (int)seed, e.text);
        }
    emu_order(0);
}

/* Blocks of a cluster that read each other's shared memory without a cluster_sync. */
TEST(test_races_of_clusters)
{
    static const char *const racing[] = {"cluster_too_early", "cluster_reuse"};
    static int y[256];
    struct err e = {0};
    emu_races(true);
    emu_test_run("reverse_cluster", y);
    if (!emu_sync(&e)) fail_msg("%s: %s", e.where, e.text);
    for (int k = 0; k < COUNT(racing); k++) {
        struct emu_finding found;
        emu_test_run(racing[k], y);
        emu_last_finding(&found);
        assert_false(emu_sync(&e));
        if (!strstr(found.missing, "cluster_sync() is missing")) fail_msg("%s: %s", racing[k], e.text);
        err_clear(&e);
    }
    emu_races(false);
}

/* A race is found whatever the order of the threads. */
TEST(test_right_pass)
{
    for (int n = 0; wrong_rules[n].name; n++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct err e = {0};
            bool right = false;
            emu_order(seed);
            if (!wrong_run(&wrong_rules[n], false, &right, NULL, &e))
                fail_msg("%s: %s: %s", wrong_rules[n].right, e.where, e.text);
            if (!right) fail_msg("%s: a wrong result", wrong_rules[n].right);
            assert_false(wrong_run(&wrong_rules[n], true, &right, NULL, NULL));
        }
    emu_order(0);
}

TEST(test_command)
{
    struct talk t;
    for (const struct wrong_rule *r = wrong_rules; r->name; r++)
        assert_in_range(strlen("innerPro_128  ") + strlen(r->rule), 1, 80); /* no row of the list is truncated */
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "wrong", "all-arrive");
    talk_says(&t, "wrong lockstep", "Found at k_wrong.cu:");
    talk_says(&t, "wrong lockstep", "void tree_right(");
    talk_says(&t, "wrong innerPro_128", "void innerPro_128(");
    talk_refuses(&t, "wrong nothing", "`nothing` after `wrong` is not a rule; one of barrier, reuse, all-arrive");
    talk_close(&t);
    talk_open(&t, OUT_JSON);
    talk_says(&t, "wrong range", "\"right_passes\":true");
    talk_close(&t);
}

/* ---- which accesses race ---- */

enum { HERE = 0x1000 };
static struct race_access other;

static enum race_answer by(unsigned thread, enum race_kind kind)
{
    return races_access(HERE, thread, kind, "f", (int)thread, &other);
}

/* A barrier of a block orders the accesses of that block only. */
TEST(test_cluster_barriers_order)
{
    races_begin(2, 64);
    assert_int_equal(by(0, RACE_WRITE), RACE_NONE);
    races_barrier(0);
    assert_int_equal(by(63, RACE_READ), RACE_NONE);
    races_barrier(1);
    assert_int_equal(by(64, RACE_READ), RACE_FOUND);
    races_cluster_barrier();
    assert_int_equal(by(127, RACE_WRITE), RACE_NONE);
    races_begin(1, 128);
    assert_int_equal(by(5, RACE_WRITE), RACE_NONE);
}

TEST(test_barriers_order)
{
    races_begin(1, 128);
    assert_int_equal(by(0, RACE_WRITE), RACE_NONE);
    assert_int_equal(by(0, RACE_READ), RACE_NONE);
    races_barrier(0);
    for (unsigned t = 0; t < 128; t++) assert_int_equal(by(t, RACE_READ), RACE_NONE);
    assert_int_equal(by(127, RACE_WRITE), RACE_FOUND);
    assert_true(other.kind == RACE_READ && other.thread != 127);
    races_barrier(0);
    assert_int_equal(by(127, RACE_WRITE), RACE_NONE);
    assert_int_equal(by(126, RACE_WRITE), RACE_FOUND);
    races_begin(1, 128); /* another block: earlier accesses are discarded */
    assert_int_equal(by(5, RACE_WRITE), RACE_NONE);
}

/* A read by another warp stays in the table during many accesses by the writer's own warp. */
TEST(test_reads_of_other_warps_are_remembered)
{
    races_begin(1, 128);
    assert_int_equal(by(40, RACE_READ), RACE_NONE);
    for (unsigned t = 0; t < 32; t++) assert_int_equal(by(t, RACE_READ), RACE_NONE);
    races_meet(0, 0xffffffffu, true);
    assert_int_equal(by(3, RACE_WRITE), RACE_FOUND);
    assert_int_equal(other.thread, 40);
}

TEST(test_warps_meet)
{
    races_begin(1, 64);
    assert_int_equal(by(0, RACE_WRITE), RACE_NONE);
    /* Lanes 0 and 1 synchronise, then lanes 1 and 2, so lane 2 is ordered after lane 0. */
    races_meet(0, 0x3u, true);
    races_meet(0, 0x6u, true);
    assert_int_equal(by(2, RACE_READ), RACE_NONE);
    assert_int_equal(by(3, RACE_READ), RACE_FOUND);
    races_begin(1, 64);
    assert_int_equal(by(0, RACE_WRITE), RACE_NONE);
    races_meet(0, 0xffffffffu, false); /* a shuffle does not make earlier writes visible */
    assert_int_equal(by(1, RACE_READ), RACE_FOUND);
    races_begin(1, 64);
    assert_int_equal(by(0, RACE_READ), RACE_NONE);
    races_meet(0, 0xffffffffu, false); /* but a shuffle orders earlier reads */
    assert_int_equal(by(1, RACE_WRITE), RACE_NONE);
    assert_int_equal(by(32, RACE_READ), RACE_FOUND); /* this warp did not take part in the shuffle */
}

TEST(test_atomics)
{
    races_begin(1, 64);
    for (unsigned t = 0; t < 64; t++) assert_int_equal(by(t, RACE_ATOMIC), RACE_NONE);
    assert_int_equal(by(9, RACE_READ), RACE_FOUND);
    assert_int_equal(other.kind, RACE_ATOMIC);
    races_barrier(0);
    assert_int_equal(by(9, RACE_READ), RACE_NONE);
    assert_int_equal(by(10, RACE_ATOMIC), RACE_FOUND);
}

/* With many elements, the table grows and keeps all elements. */
TEST(test_many_elements)
{
    races_begin(1, 64);
    for (uint64_t k = 0; k < 100000; k++)
        assert_int_equal(races_access(8 * k, 1, RACE_WRITE, "f", 1, &other), RACE_NONE);
    for (uint64_t k = 0; k < 100000; k++)
        assert_int_equal(races_access(8 * k, 2, RACE_READ, "f", 1, &other), RACE_FOUND);
    races_close();
    races_begin(1, 64);
    mem_fail_at(1);
    assert_int_equal(by(1, RACE_READ), RACE_NO_MEMORY);
    mem_fail_at(0);
}
