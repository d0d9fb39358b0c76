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
#include <unistd.h>

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

/* Folders below the folder that an environment variable names; variable NULL: `libraries` and `programs` are whole
   paths. */
static const struct folder {
    const char *variable, *libraries, *programs;
} folders[] = {
    {"CUDA_HOME", "/lib64/", "/bin/"},
    {"CUDA_PATH", "/lib64/", "/bin/"},
    {NULL, "/usr/local/cuda/lib64/", "/usr/local/cuda/bin/"},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages/nvidia/*/lib/", "/lib/python3*/site-packages/nvidia/*/bin/"},
    {"CONDA_PREFIX", "/lib/", "/bin/"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages/nvidia/*/lib/", "/lib/python3*/site-packages/nvidia/*/bin/"},
};

static bool give_found(const char *pattern, bool (*give)(const char *path, void *user), void *user)
{
    glob_t found;
    bool done = false;
    if (!glob(pattern, 0, NULL, &found))
        for (size_t k = 0; k < found.gl_pathc && !done; k++) done = give(found.gl_pathv[k], user);
    globfree(&found);
    return done;
}

static void each_folder(const char *file, bool programs, bool (*give)(const char *path, void *user), void *user)
{
    bool done = false;
    for (int i = 0; i < COUNT(folders) && !done; i++) {
        char pattern[PATH_MAX];
        const char *root = folders[i].variable ? getenv(folders[i].variable) : "";
        if (!root || (folders[i].variable && *root != '/')) continue;
        snprintf(pattern, sizeof pattern, "%s%s%s", root, programs ? folders[i].programs : folders[i].libraries, file);
        done = give_found(pattern, give, user);
    }
}

void shared_cuda_paths(const char *file, bool (*give)(const char *path, void *user), void *user)
{
    if (!give(file, user)) each_folder(file, false, give, user);
}

struct program {
    char *path;
    size_t size;
    bool found;
};

static bool take_program(const char *path, void *user)
{
    struct program *p = user;
    p->found = !access(path, X_OK) && snprintf(p->path, p->size, "%s", path) < (int)p->size;
    return p->found;
}

bool shared_cuda_program(const char *name, char *path, size_t size)
{
    struct program p = {path, size, false};
    const char *folder = getenv("PATH");
    while (folder && *folder && !p.found) {
        char at[PATH_MAX];
        size_t n = strcspn(folder, ":");
        if (*folder == '/' && snprintf(at, sizeof at, "%.*s/%s", (int)n, folder, name) < (int)sizeof at)
            take_program(at, &p);
        folder += n + (folder[n] == ':');
    }
    if (!p.found) each_folder(name, true, take_program, &p);
    return p.found;
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
