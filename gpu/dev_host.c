/* The device `cpu`: host memory and cores. Launches are plain calls that are complete when they return. */
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "dev.h"

#include <omp.h>
#include <string.h>
#include <unistd.h>

static void *host_alloc(struct device *d, int64_t bytes, const char *what, struct err *e)
{
    return mem_new(bytes, 1, what, e);
}

static void host_free(struct device *d, void *p)
{
    mem_free(p);
}

static bool host_put(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    return loop_copy(to, from, bytes, "copying", e);
}

/* Ctrl-C does not cancel this copy, so that a result is not lost. */
static bool host_get(struct device *d, void *to, const void *from, int64_t bytes, struct err *e)
{
    memcpy(to, from, (size_t)bytes);
    return true;
}

static bool host_sync(struct device *d, struct err *e)
{
    return true;
}

static bool host_time(struct device *d, bool (*go)(void *ctx, struct err *e), void *ctx, int reps, double *us,
                      struct err *e)
{
    bool ok = true;
    for (int i = 0; ok && i < reps; i++) {
        double start = now_us();
        ok = go(ctx, e);
        us[i] = now_us() - start;
    }
    return ok;
}

static int64_t memory_in_all(void)
{
    return (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
}

static bool host_memory(struct device *d, int64_t *free_bytes, int64_t *total, struct err *e)
{
    *free_bytes = mem_available();
    *total = memory_in_all();
    return true;
}

static bool host_reset(struct device *d, struct err *e)
{
    d->lost = false;
    return true;
}

static void *host_share(struct device *d, int64_t bytes, const char *what, void **on_device, struct err *e)
{
    return *on_device = mem_zero(bytes, 1, what, e);
}

static void host_close(struct device *d) {}

const struct device_ops host_ops = {
    .alloc = host_alloc,
    .plain = true,
    .free = host_free,
    .put = host_put,
    .get = host_get,
    .sync = host_sync,
    .time = host_time,
    .memory = host_memory,
    .reset = host_reset,
    .share = host_share,
    .unshare = host_free,
    .close = host_close,
};

/* The processor's name from /proc/cpuinfo, without surrounding blanks. */
static void processor(char *out, size_t size)
{
    char line[256];
    snprintf(out, size, "unknown processor");
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *name = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !name) continue;
        name += 1 + strspn(name + 1, " \t");
        print_safe(name, strcspn(name, "\n"), size - 1, out, size);
        break;
    }
    if (f) fclose(f);
}

bool host_likely(void)
{
    return true;
}

int host_count(struct err *e)
{
    return 1;
}

bool host_start(struct device *d, struct err *e)
{
    return true;
}

static bool make(struct device *d, int n, struct err *e)
{
    char model[80], memory[32];
    d->ops = &host_ops;
    d->units = omp_get_max_threads();
    processor(model, sizeof model);
    snprintf(d->about, sizeof d->about, "%s, %d thread%s, %s", model, d->units, d->units == 1 ? "" : "s",
             show_bytes((double)memory_in_all(), memory, sizeof memory));
    return true;
}

/* The file `name` describes the level-3 cache of a core. Returns the number at the start of the file; -1: the file has
   no number. */
static long level3_number(long core, const char *name)
{
    char path[128];
    long value = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cache/index3/%s", core, name);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%ld", &value) != 1) value = -1;
    if (f) fclose(f);
    return value;
}

/* The total size of all level-3 caches, in bytes; 0: unknown. Each cache is counted for the first of the cores that
   share it. sysconf is only the fallback, because in a virtual machine with a few cores it may count the caches of the
   whole processor. */
static int64_t level3(void)
{
    int64_t bytes = 0;
    for (long core = 0, n = sysconf(_SC_NPROCESSORS_CONF); core < n; core++)
        if (level3_number(core, "shared_cpu_list") == core) bytes += 1024 * level3_number(core, "size"); /* "32768K" */
    return bytes > 0 ? bytes : 0;
}

static int64_t cache(const struct device *d)
{
    int64_t found = level3();
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return found ? found : l3 > 0 ? l3 : l2 > 0 ? l2 : 1 << 20;
}

const struct device_maker maker_cpu = {
    .name = "cpu",
    .kind = DEV_CPU,
    .likely = host_likely,
    .count = host_count,
    .make = make,
    .start = host_start,
    .cache = cache,
    .ceilings = &host_ceilings,
};
