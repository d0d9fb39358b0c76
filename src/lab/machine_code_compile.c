/* Compiles the source of a built-in kernel by nvcc for an architecture that this program does not have code for. */
#include "base/data_folder.h"
#include "base/err.h"
#include "base/mem.h"
#include "lab_private.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "machine/toolkit.h"
#include "machine_code_private.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPILE_SECONDS = 600, OUTPUT_BYTES = 1 << 20, CUBIN_BYTES = 256 << 20 };

/* The file of the kernel's entry, among the embedded sources. */
static const char *source_of(const struct kernel *k)
{
    const char *file, *text;
    char mark[120];
    snprintf(mark, sizeof mark, ".name = \"%s\",", k->name);
    for (int i = 0; (text = kernel_source(i, &file)); i++)
        if (strstr(text, mark)) return file;
    return NULL;
}

/* The source tree that has the file. */
static bool find_tree(const char *file, char *folder, size_t size, char *path, size_t path_size)
{
    for (int i = 0; data_folder(i, folder, size); i++)
        if (*folder && snprintf(path, path_size, "%s/gpu/kernels/%s", folder, file) < (int)path_size &&
            !access(path, R_OK))
            return true;
    return false;
}

static bool run_nvcc(const char *const *argv, const char *folder, struct watch *w, struct err *e)
{
    int status = 0, out = lab_memory("the compiler's messages", 0, e);
    bool late = false;
    struct lab_process p = {.argv = argv, .folder = folder, .out = out, .cpu_seconds = COMPILE_SECONDS};
    int pid = out >= 0 ? lab_start(&p, e) : -1;
    bool ended = pid > 0 && lab_wait(pid, "compiling by nvcc", 2 * COMPILE_SECONDS, w, &status, &late, e);
    char *text = ended ? lab_memory_text(out, OUTPUT_BYTES, e) : NULL;
    bool ok = text && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (text && !ok) fail(e, E_UNSUPPORTED, "nvcc: %.*s", (int)strcspn(text, "\n"), text);
    if (late) fail(e, E_LIMIT, "nvcc needs too long");
    if (out >= 0) close(out);
    mem_free(text);
    return ok;
}

static bool read_cubin(const char *path, struct image *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    out->bytes = n > 0 && n < CUBIN_BYTES ? mem_new(n, 1, "machine code", e) : NULL;
    out->n = (size_t)n;
    bool ok = out->bytes && pread(fd, out->bytes, (size_t)n, 0) == n;
    if (fd >= 0) close(fd);
    return ok || fail(e, E_IO, "cannot read what nvcc wrote");
}

bool machine_code_can_compile(const struct kernel *k)
{
    char folder[PATH_MAX], path[PATH_MAX];
    const char *file = source_of(k);
    return file && toolkit_nvcc() && find_tree(file, folder, sizeof folder, path, sizeof path);
}

bool machine_code_compile(const struct kernel *k, const char *architecture, struct image *out, struct watch *w,
                          struct err *e)
{
    char folder[PATH_MAX], path[PATH_MAX], arch[40], temporary[] = "/tmp/warpspy-XXXXXX", object[64];
    const char *file = source_of(k), *nvcc = toolkit_nvcc();
    *out = (struct image){0};
    if (!file || !nvcc || !find_tree(file, folder, sizeof folder, path, sizeof path))
        return fail(e, E_UNSUPPORTED, "%s cannot be compiled: nvcc or its source is missing", k->name);
    if (!mkdtemp(temporary)) return fail(e, E_IO, "cannot make a folder in /tmp");
    snprintf(object, sizeof object, "%s/kernel.cubin", temporary);
    snprintf(arch, sizeof arch, "-arch=%.30s", architecture);
    const char *const argv[] = {nvcc,    "-std=c++20", "-O3",    "-lineinfo", "-w", "-D_GNU_SOURCE",
                                "-Isrc", "-I.",        "-cubin", arch,        "-o", object,
                                path,    NULL};
    bool ok = run_nvcc(argv, folder, w, e) && read_cubin(object, out, e);
    unlink(object);
    rmdir(temporary);
    return ok;
}
