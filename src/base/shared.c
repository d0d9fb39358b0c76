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

/* Returns false if the library lacks a function. */
static bool find_functions(const struct shared_library *l)
{
    for (const struct shared_function *f = l->functions; f->name; f++) {
        void *at = dlsym(l->handle, f->name);
        if (!at) return false;
        *(void **)f->to = at;
    }
    return true;
}

static bool try_to_load(struct shared_library *l, struct err *e)
{
    struct err why = {0};
    l->handle = shared_open(1, &l->file, &why);
    if (why.code) return fail(e, why.code, "%s", why.text);
    l->tried = l->file;
    if (!l->handle || (find_functions(l) && (!l->is_compatible || l->is_compatible()))) return true;
    dlclose(l->handle);
    l->handle = NULL;
    return true;
}

bool shared_load(struct shared_library *l, const char *user, struct err *e)
{
    if (l->tried != l->file && !try_to_load(l, e)) return false;
    if (l->handle) return true;
    fail(e, E_UNSUPPORTED, "%s needs the library %s, which is not installed", user, l->file);
    err_advise(e, "install the package %s", l->package);
    return false;
}
