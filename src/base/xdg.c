/* The paths of the user's configuration and state files, in the XDG directories. */
#include "xdg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool xdg_path(const char *variable, const char *otherwise, const char *file, char *out, size_t size)
{
    const char *given = getenv(variable), *home = getenv("HOME");
    bool use = given && given[0] == '/';
    int n = snprintf(out, size, "%s%s%s/%s",
                     use    ? given
                     : home ? home
                            : "",
                     use ? "" : "/", use ? "" : otherwise, file);
    return n < (int)size && (use || (home && *home));
}

bool xdg_make_folders(char *path)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = 0;
        bool made = !mkdir(path, 0700) || errno == EEXIST;
        *p = '/';
        if (!made) return false;
    }
    return true;
}
