/* Profiles of GPUs: files with public specifications and, where somebody measured them, ceilings. */
#include <stdio.h>

#include "base/base.h"
#include "base/data_folder.h"
#include "base/err.h"
#include "base/newfile.h"
#include "base/numeral.h"
#include "base/text.h"
#include "gpu_profile.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The registers of a multiprocessor of every GPU of compute capability 5.0 to 12.x; a profile may state another number.
 */
enum { REGISTERS = 65536 };
/* The compute capability for which nvcc compiles users' kernels, of a profile that does not state it. */
enum { CAPABILITY = 90 };

static const struct machine reference = {.name = "NVIDIA H200",
                                         .sms = 132,
                                         .memory_gb = 141,
                                         .is = {.capability = CAPABILITY,
                                                .clock_ghz = 1.98,
                                                .threads = 2048,
                                                .blocks = 32,
                                                .registers = REGISTERS,
                                                .shared_kb = 227,
                                                .l1_kb = 256,
                                                .l2_mb = 60,
                                                .l2_copies = 2,
                                                .memory_gbs = 4800,
                                                .fp64_gflops = 34000,
                                                .fp32_gflops = 67000},
                                         .c = {.read_gbs = 4321,
                                               .copy_gbs = 3888,
                                               .cache_gbs = 8525,
                                               .gather_gps = 40.4,
                                               .gather_cache_gps = 151,
                                               .launch_us = 3.42}};

struct machine machine_reference(void)
{
    return reference;
}

struct machine machine_of(const struct device *d)
{
    struct machine g = reference;
    if (!d || d->kind != DEV_CUDA || !d->ceilings.measured) return g;
    g.here = true;
    g.sms = d->units;
    if (d->facts.threads) g.is = d->facts;
    g.c = d->ceilings;
    snprintf(g.name, sizeof g.name, "%s", d->name);
    return g;
}

/* ---- the lines of a profile ---- */

/* A number of a profile. A profile must state the numbers of the GPU; it may state the ceilings, the link and
   the size of the memory. */
static const struct key {
    const char *name;
    size_t at; /* offset in struct machine */
    bool whole, ceiling;
    double least, most;
} keys[] = {
    {"sms", offsetof(struct machine, sms), true, false, 1, 10000},
    {"compute_capability", offsetof(struct machine, is.capability), true, false, 50, 200},
    {"clock_ghz", offsetof(struct machine, is.clock_ghz), false, false, 0.1, 10},
    {"threads_per_sm", offsetof(struct machine, is.threads), true, false, 32, 65536},
    {"blocks_per_sm", offsetof(struct machine, is.blocks), true, false, 1, 1024},
    {"registers_per_sm", offsetof(struct machine, is.registers), true, false, 1024, 1 << 24},
    {"shared_kb_per_sm", offsetof(struct machine, is.shared_kb), false, false, 1, 1e5},
    {"l1_kb_per_sm", offsetof(struct machine, is.l1_kb), false, false, 8, 1e5},
    {"l2_mb", offsetof(struct machine, is.l2_mb), false, false, 0.1, 1e5},
    {"l2_copies", offsetof(struct machine, is.l2_copies), true, false, 1, 16},
    {"memory_gb", offsetof(struct machine, memory_gb), false, true, 0.1, 1e6},
    {"memory_gbs", offsetof(struct machine, is.memory_gbs), false, false, 1, 1e6},
    {"fp64_gflops", offsetof(struct machine, is.fp64_gflops), false, false, 1, 1e8},
    {"fp32_gflops", offsetof(struct machine, is.fp32_gflops), false, false, 1, 1e8},
    {"read_gbs", offsetof(struct machine, c.read_gbs), false, true, 1, 1e6},
    {"copy_gbs", offsetof(struct machine, c.copy_gbs), false, true, 1, 1e6},
    {"cache_gbs", offsetof(struct machine, c.cache_gbs), false, true, 1, 1e7},
    {"gather_gps", offsetof(struct machine, c.gather_gps), false, true, 0.01, 1e5},
    {"gather_cache_gps", offsetof(struct machine, c.gather_cache_gps), false, true, 0.01, 1e5},
    {"launch_us", offsetof(struct machine, c.launch_us), false, true, 0.01, 1000},
    {"pcie_only", offsetof(struct machine, pcie_only), true, true, 0, 1},
    {"link_copy_us", offsetof(struct machine, link.copy_us), false, true, 0.01, 1e5},
    {"link_mb_gbs", offsetof(struct machine, link.mb_gbs), false, true, 0.01, 1e5},
    {"link_gbs", offsetof(struct machine, link.far_gbs), false, true, 0.01, 1e5},
    {"link_flag_us", offsetof(struct machine, link.flag_us), false, true, 0.01, 1e5},
    {"link_gpus", offsetof(struct machine, linked), true, true, 2, 1024},
};

static double value_of(const struct machine *g, const struct key *k)
{
    const char *at = (const char *)g + k->at;
    return k->whole ? *(const int *)(const void *)at : *(const double *)(const void *)at;
}

static void set_value(struct machine *g, const struct key *k, double value)
{
    char *at = (char *)g + k->at;
    if (k->whole)
        *(int *)(void *)at = (int)value;
    else
        *(double *)(void *)at = value;
}

static const struct key *key_find(const char *name)
{
    for (int i = 0; i < COUNT(keys); i++)
        if (!strcmp(keys[i].name, name)) return &keys[i];
    return NULL;
}

static bool read_number(struct machine *g, const char *name, const char *text, struct err *e)
{
    const struct key *k = key_find(name);
    char shown[80];
    double value;
    print_safe(k ? text : name, strlen(k ? text : name), 60, shown, sizeof shown);
    if (!k) return fail(e, E_INPUT, "a profile has no line `%s`; `help set` lists the lines", shown);
    if (!is_real(text, &value) || value < k->least || value > k->most || (k->whole && value != (int)value))
        return fail(e, E_INPUT, "%s `%s` is not %s from %g to %g", k->name, shown,
                    k->whole ? "a whole number" : "a number", k->least, k->most);
    set_value(g, k, value);
    return true;
}

static bool read_line(struct machine *g, char *line, struct err *e)
{
    line += strspn(line, " \t\r");
    if (!*line || *line == '#') return true;
    char *text = line + strcspn(line, " \t");
    if (*text) *text++ = 0;
    text += strspn(text, " \t");
    for (char *end = text + strlen(text); end > text && strchr(" \t\r", end[-1]); end--) end[-1] = 0;
    if (strcmp(line, "name") != 0) return read_number(g, line, text, e);
    print_safe(text, strlen(text), sizeof g->name - 1, g->name, sizeof g->name);
    return *g->name || fail(e, E_INPUT, "the name is missing");
}

static bool is_complete(const struct machine *g, struct err *e)
{
    if (!*g->name) return fail(e, E_INPUT, "the line `name` is missing");
    for (int i = 0; i < COUNT(keys); i++)
        if (!keys[i].ceiling && value_of(g, &keys[i]) == 0)
            return fail(e, E_INPUT, "the line `%s` is missing", keys[i].name);
    return true;
}

/* The ratio by which a ceiling of the reference is scaled: bandwidth of memory by that of the specification; what the
   L2 cache delivers by the multiprocessors that ask for it and their clock; a launch takes as long as on the
   reference. */
static double scale_of(const struct machine *g, const struct key *k)
{
    double memory = g->is.memory_gbs / reference.is.memory_gbs;
    double cores = g->sms * g->is.clock_ghz / (reference.sms * reference.is.clock_ghz);
    if (k->at == offsetof(struct machine, c.launch_us)) return 1;
    bool cache =
        k->at == offsetof(struct machine, c.cache_gbs) || k->at == offsetof(struct machine, c.gather_cache_gps);
    return cache ? cores : memory;
}

/* Another GPU's memory may have any size. */
static bool scales(const struct key *k)
{
    return k->ceiling && k->at != offsetof(struct machine, memory_gb);
}

static void scale_ceilings(struct machine *g)
{
    for (int i = 0; i < COUNT(keys); i++) {
        const struct key *k = &keys[i];
        if (!scales(k) || value_of(g, k) > 0 || value_of(&reference, k) == 0) continue;
        set_value(g, k, value_of(&reference, k) * scale_of(g, k));
        g->scaled = true;
    }
}

/* All lines of a link but the flag, which needs access to each other's memory. */
static bool take_link(struct machine *g, struct err *e)
{
    const struct link_ceilings *l = &g->link;
    int stated = (l->copy_us > 0) + (l->mb_gbs > 0) + (l->far_gbs > 0) + (g->linked > 0);
    g->link.measured = stated == 4;
    if (l->flag_us == 0) g->link.flag_us = NAN;
    return stated == 4 || (stated == 0 && isnan(l->flag_us)) ||
           fail(e, E_INPUT, "a link needs the lines link_copy_us, link_mb_gbs, link_gbs and link_gpus");
}

static bool read_lines(FILE *f, const char *shown, struct machine *g, struct err *e)
{
    char line[256], where[320];
    struct err why = {0};
    int number = 0;
    while (fgets(line, sizeof line, f)) {
        bool whole = strchr(line, '\n') || feof(f);
        line[strcspn(line, "\n")] = 0;
        number++;
        snprintf(where, sizeof where, "%s:%d", shown, number);
        if (!whole) return fail_at(e, E_INPUT, where, "the line has more than %d bytes", (int)sizeof line - 2);
        if (!read_line(g, line, &why)) return fail_at(e, E_INPUT, where, "%s", why.text);
    }
    if (ferror(f)) return fail_at(e, E_IO, shown, "cannot read: %s", strerror(errno));
    return (is_complete(g, &why) && take_link(g, &why)) || fail_at(e, E_INPUT, shown, "%s", why.text);
}

/* ---- files ---- */

static bool load_file(const char *path, struct machine *out, struct err *e)
{
    char shown[256];
    struct stat st;
    print_safe(path, strlen(path), 200, shown, sizeof shown);
    if (stat(path, &st)) return fail_at(e, E_IO, shown, "cannot read: %s", strerror(errno));
    if (!S_ISREG(st.st_mode)) return fail_at(e, E_IO, shown, "this is not a regular file");
    if (st.st_size > PROFILE_MAX)
        return fail_at(e, E_INPUT, shown, "the file is too large for a profile: at most %d bytes", +PROFILE_MAX);
    FILE *f = fopen(path, "re");
    if (!f) return fail_at(e, E_IO, shown, "cannot read: %s", strerror(errno));
    struct machine g = {.is = {.registers = REGISTERS, .capability = CAPABILITY}};
    bool ok = read_lines(f, shown, &g, e);
    fclose(f);
    if (ok) scale_ceilings(&g);
    if (ok) *out = g;
    return ok;
}

/* Folder i that may hold profiles: gpus in an installation, samples/gpus in the source tree. */
static bool folder(int i, char *out, size_t size)
{
    static const char *const inside[] = {"gpus", "samples/gpus"};
    char data[PATH_MAX];
    if (!data_folder(i / COUNT(inside), data, sizeof data)) return false;
    if (!*data || snprintf(out, size, "%s/%s", data, inside[i % COUNT(inside)]) >= (int)size) *out = 0;
    return true;
}

static int is_profile(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && n < PROFILE_NAME && d->d_name[0] != '.' && !strcmp(d->d_name + n - 4, ".txt");
}

static void note_any(void *user, const char *name)
{
    *(bool *)user = true;
}

static bool any_profile(void)
{
    bool any = false;
    profile_list(note_any, &any);
    return any;
}

/* Name the folders in which an installation has its profiles. */
static bool fail_without_profiles(const char *name, struct err *e)
{
    char list[1024] = "", in[PATH_MAX];
    size_t n = 0;
    for (int i = 0; folder(i, in, sizeof in); i += 2) {
        int more = *in ? snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", in) : 0;
        if (n + (size_t)more >= sizeof list) break;
        n += (size_t)more;
    }
    list[n] = 0;
    return fail(e, E_USAGE,
                "there is no GPU profile `%s`, because no profiles are installed: they were looked for in %s; `set gpu "
                "FILE` takes a file",
                name, list);
}

bool profile_load(const char *name, struct machine *out, struct err *e)
{
    char in[PATH_MAX], path[PATH_MAX + PROFILE_NAME + 8];
    if (strpbrk(name, "/.")) return load_file(name, out, e);
    for (int i = 0; folder(i, in, sizeof in); i++) {
        struct stat st;
        if (!*in || snprintf(path, sizeof path, "%s/%s.txt", in, name) >= (int)sizeof path || stat(path, &st)) continue;
        return load_file(path, out, e);
    }
    if (!any_profile()) return fail_without_profiles(name, e);
    return fail(e, E_USAGE, "there is no GPU profile `%s`; `set gpu` lists the profiles", name);
}

void profile_list(give_fn *give, void *user)
{
    char in[PATH_MAX];
    for (int i = 0; folder(i, in, sizeof in); i++) {
        struct dirent **found;
        int n = *in ? scandir(in, &found, is_profile, alphasort) : -1;
        for (int k = 0; k < n; k++) {
            char name[PROFILE_NAME];
            snprintf(name, sizeof name, "%.*s", (int)strlen(found[k]->d_name) - 4, found[k]->d_name);
            give(user, name);
            free(found[k]);
        }
        if (n >= 0) free(found);
        if (n > 0) return; /* an installation and its source tree have the same profiles */
    }
}

bool profile_save(const char *path, const struct machine *g, bool force, struct err *e)
{
    struct newfile f;
    char line[160];
    if (!newfile_open(&f, path, force, e)) return false;
    int n = snprintf(line, sizeof line, "# Measured by `ceilings`.\nname %s\n", g->name);
    bool ok = newfile_write(&f, line, n, e);
    for (int i = 0; ok && i < COUNT(keys); i++) {
        if (!(value_of(g, &keys[i]) > 0)) continue;
        n = snprintf(line, sizeof line, "%s %.6g\n", keys[i].name, value_of(g, &keys[i]));
        ok = newfile_write(&f, line, n, e);
    }
    return newfile_close(&f, ok, e);
}
