/* Finds the programs of CUDA toolkits: those of an installation, and those of packages of Python. */
#include "toolkit.h"
#include "base/shared.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char chosen[PATH_MAX];

static bool is_program(const char *path)
{
    struct stat st;
    return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

bool toolkit_find(const char *path, char *out, size_t size)
{
    static const char *const below[] = {"nvcc", "bin/nvcc", "*/bin/nvcc", "nvidia/*/bin/nvcc",
                                        "lib/python*/site-packages/nvidia/*/bin/nvcc"};
    char pattern[PATH_MAX + 64];
    glob_t found;
    if (is_program(path)) return snprintf(out, size, "%s", path) < (int)size;
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(pattern, sizeof pattern, "%s/%s", path, below[i]);
        if (glob(pattern, 0, NULL, &found)) continue;
        bool ok = false;
        for (size_t k = 0; k < found.gl_pathc && !ok; k++)
            ok = is_program(found.gl_pathv[k]) && snprintf(out, size, "%s", found.gl_pathv[k]) < (int)size;
        globfree(&found);
        if (ok) return true;
    }
    return false;
}

void toolkit_choose(const char *path)
{
    snprintf(chosen, sizeof chosen, "%s", path ? path : "");
}

/* What the user chose, or WARPSPY_NVCC; NULL: neither. */
static const char *own_choice(void)
{
    const char *named = getenv("WARPSPY_NVCC");
    return *chosen ? chosen : named && *named ? named : NULL;
}

static bool is_off(void)
{
    return own_choice() && !strcmp(own_choice(), "off");
}

const char *toolkit_nvcc(void)
{
    static char path[PATH_MAX];
    const char *own = own_choice();
    if (is_off()) return NULL;
    return (own ? toolkit_find(own, path, sizeof path) : shared_cuda_program("nvcc", path, sizeof path)) ? path : NULL;
}

const char *toolkit_missing(void)
{
    return is_off() ? "nvcc is not used, as `set nvcc off` or WARPSPY_NVCC says"
                    : "nvcc, which compiles kernels for the GPU, is not installed";
}

const char *toolkit_nvdisasm(const char *nvcc)
{
    static char path[PATH_MAX];
    const char *slash = nvcc ? strrchr(nvcc, '/') : NULL;
    int n = slash ? (int)(slash - nvcc) : 0;
    if (slash && snprintf(path, sizeof path, "%.*s/nvdisasm", n, nvcc) < (int)sizeof path && is_program(path))
        return path;
    return shared_cuda_program("nvdisasm", path, sizeof path) ? path : NULL;
}
