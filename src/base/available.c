/* How much memory this process can still get, given the machine's free memory, the limits of the process and its
   control groups. */
#include "available.h"
#include "base.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const int64_t UNLIMITED = INT64_MAX / 4;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static FILE *open_below(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return fopen(path, "re");
}

/* Read the number that follows `key` at the start of a line. If key is "", read the number at the start of the file. */
static bool read_number(const char *folder, const char *name, const char *key, int64_t *value)
{
    char line[256];
    long long v;
    size_t n = strlen(key);
    bool found = false;
    FILE *f = open_below(folder, name);
    while (f && !found && fgets(line, sizeof line, f))
        found = !strncmp(line, key, n) && sscanf(line + n, "%lld", &v) == 1;
    if (f) fclose(f);
    if (found) *value = v;
    return found;
}

static int64_t machine_has(const char *root)
{
    int64_t kb = 0;
    return read_number(root, "proc/meminfo", "MemAvailable:", &kb) ? kb * 1024 : UNLIMITED;
}

/* The number of bytes that the process may still allocate under a resource limit if it uses `pages` pages now. */
static int64_t limit_leaves(int limit, long long pages)
{
    struct rlimit r;
    int64_t used = (int64_t)pages * sysconf(_SC_PAGESIZE);
    if (getrlimit(limit, &r) || r.rlim_cur == RLIM_INFINITY || r.rlim_cur > (rlim_t)UNLIMITED) return UNLIMITED;
    return (int64_t)r.rlim_cur > used ? (int64_t)r.rlim_cur - used : 0;
}

static int64_t process_leaves(const char *root)
{
    long long all = 0, data = 0;
    FILE *f = open_below(root, "proc/self/statm");
    bool known = f && fscanf(f, "%lld %*d %*d %*d %*d %lld", &all, &data) == 2;
    if (f) fclose(f);
    return known ? least(limit_leaves(RLIMIT_AS, all), limit_leaves(RLIMIT_DATA, data)) : UNLIMITED;
}

/* The names of a control group's files, which depend on the version of control groups. The system frees inactive pages
   of files when memory runs short, so they count as available. */
struct version {
    const char *mount, *limit[2], *used, *idle;
};
static const struct version version1 = {
    "sys/fs/cgroup/memory", {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", "total_inactive_file "};
static const struct version version2 = {
    "sys/fs/cgroup", {"memory.max", "memory.high"}, "memory.current", "inactive_file "};

/* The word `max` in place of a limit means that there is no limit. Most groups have no limit; for these groups, the
   files that state the used memory are not read, because the system is slow to compute memory.stat. */
static int64_t group_leaves(const struct version *v, const char *folder)
{
    int64_t limit = UNLIMITED, next, used, idle = 0;
    for (int i = 0; i < COUNT(v->limit); i++)
        if (v->limit[i] && read_number(folder, v->limit[i], "", &next)) limit = least(limit, next);
    if (limit == UNLIMITED || !read_number(folder, v->used, "", &used)) return UNLIMITED;
    read_number(folder, "memory.stat", v->idle, &idle);
    int64_t left = limit - used + idle;
    return left > 0 ? left : 0;
}

/* The number of bytes that a control group and all its parent groups still allow. A missing folder sets no limit;
   folders may be missing in a container. */
static int64_t groups_leave(const struct version *v, const char *root, const char *path)
{
    char folder[PATH_MAX];
    int64_t left = UNLIMITED;
    int mount = snprintf(folder, sizeof folder, "%s/%s", root, v->mount);
    if (snprintf(folder + mount, sizeof folder - (size_t)mount, "%s", path) >= (int)sizeof folder - mount)
        folder[mount] = 0;
    for (;;) {
        left = least(left, group_leaves(v, folder));
        char *slash = strrchr(folder + mount, '/');
        if (!slash) return left;
        *slash = 0;
    }
}

/* Does the comma-separated list contain the controller `name`? */
static bool controls(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = strstr(list, name); p; p = strstr(p + n, name))
        if ((p == list || p[-1] == ',') && (!p[n] || p[n] == ',')) return true;
    return false;
}

/* Each line of the file is "ID:CONTROLLERS:PATH"; control groups of version 2 have ID 0 and no controllers. */
static int64_t control_groups_leave(const char *root)
{
    char line[PATH_MAX];
    int64_t left = UNLIMITED;
    FILE *f = open_below(root, "proc/self/cgroup");
    while (f && fgets(line, sizeof line, f)) {
        char *rest = line, *id = strsep(&rest, ":"), *list = strsep(&rest, ":");
        if (!rest) continue;
        rest[strcspn(rest, "\n")] = 0;
        if (!strcmp(id, "0") && !*list) left = least(left, groups_leave(&version2, root, rest));
        if (controls(list, "memory")) left = least(left, groups_leave(&version1, root, rest));
    }
    if (f) fclose(f);
    return left;
}

static int64_t pretended;

void memory_pretend(int64_t bytes)
{
    pretended = bytes;
}

int64_t memory_available(const char *root)
{
    int64_t most = pretended ? pretended : UNLIMITED;
    return least(most, least(machine_has(root), least(process_leaves(root), control_groups_leave(root))));
}
