/* Profiles of GPUs: every profile loads, predictions follow it, and a faulty one is refused with its line. */
#include "advice/predicted.h"
#include "base/err.h"
#include "base/mem.h"
#include "kits/dev_fake.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/kernel.h"
#include "microscope/gpu_profile.h"
#include "microscope/modeled.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void load_one(void *user, const char *name)
{
    struct machine g;
    struct err e = {0};
    int *n = user;
    if (!profile_load(name, &g, &e)) fail_msg("%s: %s: %s", name, e.where, e.text);
    assert_true(g.sms > 0 && g.c.read_gbs > 0 && g.c.cache_gbs > g.c.read_gbs && g.c.launch_us > 0 && !g.here);
    assert_true(g.is.fp32_gflops >= g.is.fp64_gflops && g.c.read_gbs < g.is.memory_gbs);
    ++*n;
}

TEST(every_profile_loads)
{
    int n = 0;
    profile_list(load_one, &n);
    assert_true(n >= 8);
}

/* The profile of the GPU to which the model was fitted is the built-in GPU, and nothing in it is scaled. */
TEST(the_reference_has_a_profile)
{
    struct machine g, built_in = machine_reference();
    struct err e = {0};
    assert_true(profile_load("h200", &g, &e));
    assert_string_equal(g.name, built_in.name);
    assert_false(g.scaled);
    assert_int_equal(g.sms, built_in.sms);
    assert_memory_equal(&g.is, &built_in.is, sizeof g.is);
    assert_memory_equal(&g.c, &built_in.c, sizeof g.c);
}

/* A T4 has 320 of the 4800 GB/s of the reference, and 40 multiprocessors at 1.59 GHz instead of 132 at 1.98 GHz; a
   launch takes as long. */
TEST(missing_ceilings_are_scaled_from_the_reference)
{
    const double memory = 320.0 / 4800, cores = 40 * 1.59 / (132 * 1.98);
    struct machine g, reference = machine_reference();
    struct err e = {0};
    assert_true(profile_load("t4", &g, &e) && g.scaled);
    assert_float_equal(g.c.read_gbs, memory * reference.c.read_gbs, 1e-9);
    assert_float_equal(g.c.copy_gbs, memory * reference.c.copy_gbs, 1e-9);
    assert_float_equal(g.c.gather_gps, memory * reference.c.gather_gps, 1e-9);
    assert_float_equal(g.c.cache_gbs, cores * reference.c.cache_gbs, 1e-9);
    assert_float_equal(g.c.gather_cache_gps, cores * reference.c.gather_cache_gps, 1e-9);
    assert_float_equal(g.c.launch_us, reference.c.launch_us, 1e-9);
}

/* The predicted time of a kernel on the GPU that `set gpu` chose, and how much of it the arithmetic takes alone. */
static double predicted_us(struct talk *t, const char *gpu, const char *kernel, double *flops_us)
{
    char line[80];
    struct machine g;
    struct err e = {0};
    struct modeled *k = mem_new(1, sizeof *k, "a prediction", &e);
    snprintf(line, sizeof line, "set gpu %s", gpu);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    assert_true(modeled_machine(&t->s, &g, &e));
    if (!modeled_kernel(&t->s, session_matrix(&t->s, NULL, &e), kernel_find(kernel), NULL, P_F64, &g, k, &e))
        fail_msg("%s: %s", kernel, e.text);
    double us = k->time.us;
    if (flops_us) *flops_us = k->time.bound_us[BOUND_FLOPS];
    mem_free(k);
    return us;
}

/* A GPU without NVLink is joined to others by PCI Express. */
TEST(the_link_follows_the_profile)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30; set gpu t4"));
    talk_says(&t, "whatif parts 2", "pcie (PCI Express");
    assert_true(talk_line(&t, "set gpu a100"));
    talk_says(&t, "whatif parts 2", "nvlink (NVLink");
    talk_close(&t);
}

TEST(predictions_follow_the_profile)
{
    struct talk t;
    double many, few;
    talk_open(&t, OUT_JSON);
    talk_says(&t, "gen poisson2d 700 as A", "\"rows\":490000");
    double here = predicted_us(&t, "auto", "csr-vector", NULL);
    assert_true(here == predicted_us(&t, "h200", "csr-vector", NULL));
    double a100 = predicted_us(&t, "a100", "csr-vector", NULL), t4 = predicted_us(&t, "t4", "csr-vector", NULL);
    assert_true(a100 > 1.3 * here && t4 > 3 * a100);
    predicted_us(&t, "h200", "csr-vector", &many);
    predicted_us(&t, "rtx4090", "csr-vector", &few); /* 1290 instead of 34,000 Gflop/s in fp64 */
    assert_float_equal(many, 2 * 2447200 / 34000e3, 1e-12);
    assert_float_equal(few, 2 * 2447200 / 1290e3, 1e-12);
    talk_close(&t);
}

TEST(commands_name_the_profile)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_says(&t, "gen poisson2d 30", "poisson2d");
    talk_says(&t, "set gpu v100; predict csr-vector", "Predicted for an NVIDIA V100, from its specifications");
    assert_non_null(strstr(t.out, "The error of predictions for this GPU was not measured."));
    talk_says(&t, "advise top 2", "NVIDIA V100");
    assert_null(strstr(t.out, "cusparse")); /* the fits hold for another GPU */
    talk_says(&t, "set gpu auto; predict csr-vector", "because no measured GPU is available");
    talk_close(&t);
}

/* ---- faulty files ---- */

static void write_profile(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* All lines that a profile needs. */
#define WHOLE                                                                                                 \
    "name X\nsms 10\nclock_ghz 1\nthreads_per_sm 2048\nblocks_per_sm 32\nl2_copies 1\nshared_kb_per_sm 100\n" \
    "l1_kb_per_sm 128\nl2_mb 4\nmemory_gbs 500\nfp64_gflops 100\nfp32_gflops 200\n"

/* The registers of a multiprocessor have a default, and limit its blocks. */
TEST(a_profile_may_state_its_registers)
{
    const struct work w = {.threads = 256, .registers = 40};
    struct machine g;
    struct err e = {0};
    char path[] = "/tmp/test_profile.XXXXXX", text[512];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_profile(path, WHOLE);
    if (!profile_load(path, &g, &e)) fail_msg("%s: %s", e.where, e.text);
    assert_int_equal(g.is.registers, 65536);
    assert_true(model_resident(&g, &w) == 6);
    snprintf(text, sizeof text, "%sregisters_per_sm 32768\n", WHOLE);
    write_profile(path, text);
    assert_true(profile_load(path, &g, &e));
    assert_int_equal(g.is.registers, 32768);
    assert_true(model_resident(&g, &w) == 3);
    unlink(path);
}

TEST(faulty_profiles_are_refused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "the line `name` is missing"},
        {"name X\nsms 10\n", "the line `clock_ghz` is missing"},
        {"name\n", ":1: the name is missing"},
        {"name X\nsms ten\n", ":2: sms `ten` is not a whole number from 1 to 10000"},
        {"name X\nsms 1.5\n", ":2: sms `1.5` is not a whole number"},
        {"name X\nsms 0\n", ":2: sms `0` is not a whole number"},
        {"name X\nclock_ghz nan\n", ":2: clock_ghz `nan` is not a number"},
        {"name X\nclock_ghz\n", ":2: clock_ghz `` is not a number"},
        {"name X\n\n# a comment\ncores 9\n", ":4: a profile has no line `cores`"},
        {"name X\n\033[2Jcores 9\n", ":2: a profile has no line"},
        {WHOLE "link_gbs 300\n", "a link needs the lines link_copy_us, link_mb_gbs, link_gbs and link_gpus"},
        {WHOLE "link_flag_us 2\n", "a link needs the lines"},
        {"name X\nlink_gpus 1\n", ":2: link_gpus `1` is not a whole number from 2"},
        {"name X\nregisters_per_sm 12\n", ":2: registers_per_sm `12` is not a whole number from 1024"},
    };
    struct talk t;
    char path[] = "/tmp/test_profile.XXXXXX", line[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "set gpu %s", path);
    for (int i = 0; i < COUNT(cases); i++) {
        write_profile(path, cases[i].text);
        talk_refuses(&t, line, cases[i].why);
        assert_null(t.s.gpu);
        assert_null(strchr(t.err, '\033'));
    }
    unlink(path);
    talk_refuses(&t, line, "cannot read: No such file");
    talk_refuses(&t, "set gpu /tmp", "this is not a regular file");
    talk_refuses(&t, "set gpu gtx9", "there is no GPU profile `gtx9`");
    talk_close(&t);
}

/* The profile of several GPUs describes the first one and the link, which `whatif parts` then takes. */
static void check_link(struct talk *t, struct device *gpu, const char *path)
{
    struct device *members[] = {gpu, gpu, gpu};
    char line[96];
    gpu->member = members;
    gpu->members = 3;
    gpu->link = (struct link_ceilings){true, false, 4, 200, 350, 1.5};
    snprintf(line, sizeof line, "ceilings on fake-gpu save %s force; set gpu %s", path, path);
    talk_says(t, line, "350.0");
    assert_string_equal(t->s.gpu->name, "Toy GPU");
    assert_true(t->s.gpu->link.measured && t->s.gpu->link.mb_gbs == 200 && t->s.gpu->linked == 3);
    talk_says(t, "gen poisson2d 60; whatif parts 2",
              "measured (between 3 GPUs of the profile Toy GPU): start 0 us + hop 0.75");
    gpu->link.flag_us = NAN;
    assert_true(talk_line(t, line));
    talk_says(t, "whatif parts 2 link measured", "hop 4 us + bytes / 350 GB/s");
    gpu->link.one_gpu = true; /* no link */
    assert_true(talk_line(t, line));
    assert_false(t->s.gpu->link.measured);
    gpu->link = (struct link_ceilings){0};
    talk_refuses(t, "whatif parts 2 link measured", "no link was measured");
    gpu->members = 0;
}

/* What `ceilings save` writes is what `set gpu` reads. */
TEST(a_measured_profile_can_be_used_elsewhere)
{
    struct talk t;
    struct fake gpu;
    struct err e = {0};
    struct machine reference = machine_reference();
    char path[] = "/tmp/test_profile.XXXXXX", line[96];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    talk_open(&t, OUT_TEXT);
    assert_true(fake_open(&gpu, "fake-gpu", "emu", 1 << 26, &e));
    gpu.dev.kind = DEV_CUDA;
    gpu.dev.units = 77;
    gpu.dev.facts = reference.is;
    gpu.dev.facts.clock_ghz = 1.5;
    gpu.dev.ceilings = reference.c;
    gpu.dev.ceilings.measured = true;
    gpu.dev.ceilings.read_gbs = 1234.5;
    snprintf(gpu.dev.about, sizeof gpu.dev.about, "Toy GPU, 77 multiprocessors");
    snprintf(line, sizeof line, "ceilings on fake-gpu save %s", path);
    talk_refuses(&t, line, "exists");
    talk_says(&t, "ceilings on fake-gpu", "1234.5");
    snprintf(line, sizeof line, "ceilings on fake-gpu save %s force", path);
    talk_says(&t, line, "1234.5");
    snprintf(line, sizeof line, "set gpu %s", path);
    assert_true(talk_line(&t, line));
    assert_string_equal(t.s.gpu->name, "Toy GPU");
    assert_int_equal(t.s.gpu->sms, 77);
    assert_false(t.s.gpu->here || t.s.gpu->scaled);
    assert_true(t.s.gpu->is.clock_ghz == 1.5 && t.s.gpu->c.read_gbs == 1234.5);
    assert_false(t.s.gpu->link.measured || t.s.gpu->linked);
    check_link(&t, &gpu.dev, path);
    talk_refuses(&t, "ceilings on cpu save /tmp/x.txt force", "a profile describes a GPU, and cpu is not one");
    unlink(path);
    talk_close(&t);
    devices_close();
}
