/* The folders that may contain the program's data files. */
#include "data_folder.h"
#include "xdg.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest number of folders between the top of the source tree and a program: build/asan/tests/gpu. */
enum { DEPTH_MAX = 4 };

/* The folder `up` levels above the folder of the running program. */
static bool above_program(int up, char *out, size_t size)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) return false;
    path[n] = 0;
    for (int i = 0; i <= up; i++) {
        char *slash = strrchr(path, '/');
        if (!slash || (slash == path && i < up)) return false;
        *slash = 0;
    }
    return snprintf(out, size, "%s", path) < (int)size;
}

static bool beside_program(char *out, size_t size)
{
    char prefix[PATH_MAX];
    return above_program(1, prefix, sizeof prefix) && snprintf(out, size, "%s/share/warpspy", prefix) < (int)size;
}

static bool source_tree(int up, char *out, size_t size)
{
    char probe[PATH_MAX + 16];
    if (!above_program(up, out, size)) return false;
    return snprintf(probe, sizeof probe, "%s/src/main.c", out) < (int)sizeof probe && !access(probe, F_OK);
}

/* Entry i of a list of folders separated by colons. Returns false after the last entry. Writes an empty path for a
   relative entry, because the XDG specification forbids relative entries. */
static bool entry(const char *list, int i, char *out, size_t size)
{
    for (; i && *list; i--) {
        list += strcspn(list, ":");
        list += *list == ':';
    }
    size_t n = strcspn(list, ":");
    bool fits = *list == '/' && snprintf(out, size, "%.*s/warpspy", (int)n, list) < (int)size;
    if (!fits) *out = 0;
    return *list != 0;
}

bool data_folder(int i, char *out, size_t size)
{
    const char *list = getenv("XDG_DATA_DIRS");
    bool found;
    if (i > DEPTH_MAX + 1)
        return entry(list && *list ? list : "/usr/local/share:/usr/share", i - DEPTH_MAX - 2, out, size);
    if (i == 0)
        found = beside_program(out, size);
    else if (i <= DEPTH_MAX)
        found = source_tree(i, out, size);
    else
        found = xdg_path("XDG_DATA_HOME", ".local/share", "warpspy", out, size);
    if (!found) *out = 0;
    return true;
}
