/* Compare the emulator's counts of every kernel with a GPU's counters. This program prints the emulator's counts and
   launches each kernel once, between two marker launches, while a profiler records the counters; compare_counts.py
   reads the counts and the profile. Usage: bench_counts [f32] [kernel=NAME]... FILE...
   Without a name, all kernels are counted. */
#include "base/err.h"
#include "base/precision.h"
#include "gpu/dev.h"
#include "language/run_lines.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/microscope.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"

#include <string.h>

static struct session session;

static bool put(struct matrix *m, const struct kernel *k, enum precision real, struct device *d, struct mat **M,
                struct err *e)
{
    struct product *p = session_product(&session, form_of(m, k->format, NULL, real), e);
    return p && (*M = session_mat(&session, p, d, e));
}

static bool launch(const struct kernel *k, const struct mat *M, void *x, void *y, struct err *e)
{
    struct launch L = {.A = M, .alpha = 1, .x = x, .y = y};
    return kernel_launch(k, &L, e) && M->dev->ops->sync(M->dev, e);
}

/* Launch once to prepare the kernel, and once between two marker launches. */
static bool on_gpu(const struct kernel *k, const struct mat *M, struct err *e)
{
    struct device *d = M->dev;
    const struct ceiling_ops *mark = device_maker_of(d)->ceilings;
    int64_t size = (int64_t)type_size(precisions[M->of->real].vector);
    void *x = d->ops->alloc(d, M->of->cols * size, "x", e), *y = d->ops->alloc(d, M->of->rows * size, "y", e);
    bool ok = x && y && launch(k, M, x, y, e);
    mark->empty(d);
    ok = ok && launch(k, M, x, y, e);
    mark->empty(d);
    d->ops->free(d, x);
    d->ops->free(d, y);
    return ok;
}

static void say(const char *what, struct tally t)
{
    printf(",\"%s_requests\":%lld,\"%s_sectors\":%lld", what, (long long)t.requests, what, (long long)t.sectors);
}

static bool on_emulator(const struct kernel *k, const struct mat *M, struct err *e)
{
    static struct counts c;
    if (!count_kernel(k, M, 0, NULL, NULL, &c, e)) return false;
    say("load", counts_of(&c, ACCESS_LOAD, -1, -1));
    say("store", counts_of(&c, ACCESS_STORE, -1, -1));
    say("atomic", counts_of(&c, ACCESS_ATOMIC, -1, -1));
    say("texture", counts_of(&c, ACCESS_TEXTURE, -1, -1));
    return true;
}

static void one(struct matrix *m, const struct kernel *k, enum precision real, struct device *gpu)
{
    struct mat *M;
    struct err e = {0};
    if (!put(m, k, real, session_device(&session, "emu", &e), &M, &e)) {
        fprintf(stderr, "%s %s: %s\n", m->name, k->name, e.text);
        return;
    }
    printf("{\"matrix\":\"%s\",\"kernel\":\"%s\",\"precision\":\"%s\"", m->name, k->name, precisions[real].name);
    bool ok = on_emulator(k, M, &e);
    if (ok && gpu) ok = put(m, k, real, gpu, &M, &e) && on_gpu(k, M, &e);
    printf(",\"ok\":%s}\n", ok ? "true" : "false");
    fflush(stdout);
    if (!ok) fprintf(stderr, "%s %s: %s\n", m->name, k->name, e.text);
}

enum { CHOSEN_MAX = 32 };

/* The kernels that the command line names; none: all. */
static const struct kernel *chosen[CHOSEN_MAX];
static int nchosen;

static bool choose(const char *name)
{
    const struct kernel *k = kernel_find(name);
    if (!k || nchosen == CHOSEN_MAX) {
        if (k)
            fprintf(stderr, "%s: more than %d kernels\n", name, CHOSEN_MAX);
        else
            fprintf(stderr, "%s: there is no such kernel\n", name);
        return false;
    }
    chosen[nchosen++] = k;
    return true;
}

static bool counted(const struct kernel *k)
{
    bool found = nchosen == 0;
    for (int i = 0; i < nchosen; i++) found = found || chosen[i] == k;
    return found && !k->host && !k->vendor;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    enum precision real = P_F64;
    if (!session_new(&session, stdout, stderr, OUT_TEXT, &e)) return 1;
    struct device *gpu = session_device(&session, "cuda:0", &e);
    if (gpu) device_maker_of(gpu)->ceilings->empty(gpu);
    for (int a = 1; a < argc; a++) {
        char line[5000];
        if (!strcmp(argv[a], "f32")) {
            real = P_F32;
            continue;
        }
        if (!strncmp(argv[a], "kernel=", 7)) {
            if (!choose(argv[a] + 7)) return 1;
            continue;
        }
        snprintf(line, sizeof line, "load %s", argv[a]);
        if (!run_line(&session, line)) return 1;
        for (int i = 0; kernels[i]; i++)
            if (counted(kernels[i])) one(session.current, kernels[i], real, gpu);
        snprintf(line, sizeof line, "drop %s", session.current->name);
        if (!run_line(&session, line)) return 1;
    }
    session_free(&session);
    devices_close();
    return 0;
}
