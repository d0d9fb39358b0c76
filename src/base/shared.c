/* Open shared libraries, and distinguish a library that is not installed from a library that cannot be opened. */
#include "shared.h"
#include "err.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static bool is_missing(const char *why)
{
    return strstr(why, strerror(ENOENT)) != NULL;
}

void *shared_open(int n, const char *const *names, struct err *e)
{
    for (int i = 0; i < n; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        const char *why = library ? NULL : dlerror();
        if (library) return library;
        if (why && is_missing(why)) continue;
        fail(e, E_MEMORY, "%s is installed but cannot be opened, perhaps because memory is short: %s", names[i],
             why ? why : "no reason is given");
        return NULL;
    }
    return NULL;
}
