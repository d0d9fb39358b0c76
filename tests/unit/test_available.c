/* The available memory of the machine, within the limits of the process, and within control groups of both versions. */
#include "base/available.h"
#include "base/mem.h"
#include "kits/mtx_kit.h"
#include "kits/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t MB = 1000000;

/* Write `text` to a file below the folder that stands for /, and make the folders that contain the file. */
static void put(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static const char *new_root(const char *meminfo, const char *cgroup)
{
    static char root[256];
    char command[300];
    snprintf(root, sizeof root, "%s", scratch_path("root"));
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    assert_int_equal(system(command), 0);
    mkdir(root, 0700);
    if (meminfo) put(root, "proc/meminfo", meminfo);
    if (cgroup) put(root, "proc/self/cgroup", cgroup);
    return root;
}

static const char meminfo[] = "MemTotal: 9000000 kB\nMemFree: 1 kB\nMemAvailable: 5000000 kB\n";

TEST(the_machine_counts)
{
    assert_int_equal(memory_available(new_root(meminfo, NULL)), 5000000LL * 1024);
    assert_int_equal(memory_available(new_root(meminfo, "0::/\n")), 5000000LL * 1024);
    assert_true(memory_available(new_root(NULL, NULL)) > (int64_t)1 << 60);
}

TEST(groups_of_version_2_count)
{
    const char *root = new_root(meminfo, "0::/a/b\n");
    put(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    put(root, "sys/fs/cgroup/a/b/memory.current", "700000000\n");
    assert_int_equal(memory_available(root), 5000000LL * 1024);
    put(root, "sys/fs/cgroup/a/memory.max", "1000000000\n");
    put(root, "sys/fs/cgroup/a/memory.current", "900000000\n");
    put(root, "sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 200000000\nactive_file 7\n");
    assert_int_equal(memory_available(root), 300 * MB);
    put(root, "sys/fs/cgroup/a/b/memory.high", "750000000\n");
    assert_int_equal(memory_available(root), 50 * MB);
    put(root, "sys/fs/cgroup/a/b/memory.high", "650000000\n");
    assert_int_equal(memory_available(root), 0);
}

/* In a container, the path of the control group does not exist, because the mounted folder is already the folder of the
   group. */
TEST(groups_of_version_1_count)
{
    const char *root = new_root(meminfo, "9:name=systemd:/x\n4:cpu,memory:/docker/x\n0::/\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "100000000\n");
    assert_int_equal(memory_available(root), 5000000LL * 1024);
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "400000000\n");
    put(root, "sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 30000000\n");
    assert_int_equal(memory_available(root), 330 * MB);
    put(root, "proc/self/cgroup", "4:memoryless:/docker/x\n");
    assert_int_equal(memory_available(root), 5000000LL * 1024);
}

TEST(damaged_files_count_for_nothing)
{
    static const char *const groups[] = {"", "0\n", "0::\n", ":::\n", "0::/../../..\n", "4:memory:\n", "\n\n"};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        assert_int_equal(memory_available(new_root(meminfo, groups[i])), 5000000LL * 1024);
}

/* Limit a child process to its current memory plus `bytes`. Returns the available memory that the child estimates, in
   tenths of `bytes`. */
static int tenths_left(int limit, int64_t bytes)
{
    int status;
    pid_t child = fork();
    if (!child) {
        long long all = 0, data = 0;
        FILE *f = fopen("/proc/self/statm", "r");
        if (!f || fscanf(f, "%lld %*d %*d %*d %*d %lld", &all, &data) != 2) _exit(99);
        fclose(f);
        rlim_t used = (rlim_t)(limit == RLIMIT_AS ? all : data) * (rlim_t)sysconf(_SC_PAGESIZE);
        struct rlimit r = {used + (rlim_t)bytes, RLIM_INFINITY};
        setrlimit(limit, &r);
        _exit((int)(10 * mem_available() / bytes));
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(limits_of_the_process_count)
{
    assert_in_range(tenths_left(RLIMIT_AS, 100 * MB), 9, 10);
    assert_in_range(tenths_left(RLIMIT_DATA, 100 * MB), 9, 10);
}

static int tidy_root(void **state)
{
    new_root(NULL, NULL);
    rmdir(scratch_path("root"));
    return tidy(state);
}

SUITE(.teardown = tidy_root);
