/* Open shared libraries, and distinguish a library that is not installed from a library that cannot be opened. */
#include "shared.h"
#include "err.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ---- the folders of CUDA ---- */

/* Folders below the folder that an environment variable names; variable NULL: `below` is the whole path. */
static const struct folder {
    const char *variable, *below;
} folders[] = {
    {"CUDA_HOME", "/lib64/"},         {"CUDA_PATH", "/lib64/"},
    {NULL, "/usr/local/cuda/lib64/"}, {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib/"},
    {"CONDA_PREFIX", "/lib/"},        {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*/lib/"},
};

void shared_cuda_paths(const char *file, bool (*give)(const char *path, void *user), void *user)
{
    bool done = give(file, user);
    for (int i = 0; i < COUNT(folders) && !done; i++) {
        char pattern[PATH_MAX];
        glob_t found;
        const char *root = folders[i].variable ? getenv(folders[i].variable) : "";
        if (!root || (folders[i].variable && *root != '/')) continue;
        snprintf(pattern, sizeof pattern, "%s%s%s", root, folders[i].below, file);
        if (!glob(pattern, 0, NULL, &found))
            for (size_t k = 0; k < found.gl_pathc && !done; k++) done = give(found.gl_pathv[k], user);
        globfree(&found);
    }
}

/* ---- a library and its functions ---- */

struct opening {
    struct shared_library *l;
    struct err why;
};

static bool open_at(const char *path, void *user)
{
    struct opening *o = user;
    o->l->handle = shared_open(1, &path, &o->why);
    return o->l->handle || o->why.code;
}

static bool try_to_load(struct shared_library *l, struct err *e)
{
    struct opening o = {.l = l};
    if (l->of_cuda)
        shared_cuda_paths(l->file, open_at, &o);
    else
        open_at(l->file, &o);
    if (o.why.code) return fail(e, o.why.code, "%s", o.why.text);
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
