/* The memories of GPUs beside those of the host. */
#include "advice/memories.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "microscope/gpu_profile.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static struct memories of_profile(const char *name)
{
    struct machine g;
    struct memories m;
    struct err e = {0};
    if (!profile_load(name, &g, &e)) fail_msg("%s: %s", name, e.text);
    memories_list(&g, &m);
    return m;
}

static const struct memory *find(const struct memories *m, enum memory_side side, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (m->of[i].side == side && !strcmp(m->of[i].name, name)) return &m->of[i];
    fail_msg("no memory %s", name);
    return NULL;
}

/* An H200: 132 multiprocessors of 65,536 registers of 4 bytes; 60 MB of L2; a load from memory waits 90.3 + 103 ns. */
TEST(memories_of_the_reference)
{
    struct memories m = of_profile("h200");
    const struct memory *registers = find(&m, MEMORY_GPU, "registers"), *l2 = find(&m, MEMORY_GPU, "L2 cache");
    const struct memory *global = find(&m, MEMORY_GPU, "global memory"), *l1 = find(&m, MEMORY_GPU, "L1 cache");
    assert_true(registers->bytes == 262144 && registers->count == 132);
    assert_true(find(&m, MEMORY_GPU, "shared memory")->bytes == 227 * 1024);
    assert_true(l1->bytes == 256 * 1024 && fabs(l1->latency_ns - 16.7) < 1e-9);
    assert_true(l2->bytes == 60.0 * 1024 * 1024 && l2->gbs == 8525 && fabs(l2->latency_ns - 90.3) < 1e-9);
    assert_true(global->bytes == 141e9 && global->gbs == 4321 && fabs(global->latency_ns - 193.3) < 1e-9);
    assert_string_equal(global->gbs_how, "measured");
    assert_true(find(&m, MEMORY_GPU, "constant memory")->bytes == 65536);
    assert_true(m.sms == 132 && m.threads == 2048 && m.fp32_gflops == 67000);
}

/* A V100 has a clock of 1.53 GHz, the H200 one of 1.98 GHz: the same cycles take longer. */
TEST(latencies_follow_the_clock)
{
    struct memories m = of_profile("v100");
    const struct memory *global = find(&m, MEMORY_GPU, "global memory");
    assert_true(fabs(global->latency_ns - 193.3 * 1.98 / 1.53) < 1e-9);
    assert_true(global->bytes == 32e9 && fabs(global->gbs - 4321 * 900.0 / 4800) < 1e-9);
    assert_string_equal(global->gbs_how, "scaled");
}

/* The host has at least its memory; from the nearest memory to the farthest, sizes grow. */
TEST(memories_of_the_host)
{
    struct memories m = of_profile("h200");
    const struct memory *memory = find(&m, MEMORY_HOST, "memory");
    assert_true(memory->bytes > 1e8 &&
                memory->bytes == (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE));
    assert_true(isnan(memory->latency_ns));
    double before = 0;
    for (int i = 0; i < m.n && m.of[i].side == MEMORY_HOST; i++) {
        if (!(m.of[i].bytes > 0)) continue;
        assert_true(m.of[i].bytes > before);
        before = m.of[i].bytes;
    }
}

static void check_size(void *user, const char *name)
{
    struct memories m = of_profile(name);
    assert_true(find(&m, MEMORY_GPU, "global memory")->bytes >= 16e9);
    ++*(int *)user;
}

TEST(every_profile_states_the_size_of_its_memory)
{
    int n = 0;
    profile_list(check_size, &n);
    assert_true(n >= 8);
}

/* The command and the picture show the GPU that was chosen. */
TEST(the_chosen_gpu_is_shown)
{
    struct talk t;
    talk_open_screen(&t);
    talk_says(&t, "set gpu v100; memories", "NVIDIA V100: 80 multiprocessors, each with up to 2,048 threads");
    talk_says(&t, "memories", "21.0 MB");
    char path[] = "/tmp/memories_XXXXXX", line[128], text[4096] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    snprintf(line, sizeof line, "export memories %s as txt force; set gpu auto", path);
    talk_says(&t, line, "memories");
    close(fd);
    FILE *f = fopen(path, "r");
    assert_true(f && fread(text, 1, sizeof text - 1, f) > 0);
    assert_true(strstr(text, "80 x 262 kB = 21.0 MB") && strstr(text, "810 GB/s scaled, 250 ns"));
    fclose(f);
    unlink(path);
    talk_close_screen(&t);
}
