/* Finds cuSPARSE, opens it at its first use, because loading it would delay the prompt, and keeps its handles. Of
   several libraries, the newest is used, unless the user names one. */
#include "cusparse_library.h"

#include "base/mem.h"
#include "base/shared.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "formats/stored.h"
#include "gpu/dev.h"
#include "machine/mat.h"
#include "machine/peer_library.h"

#include <stdlib.h>
#include <sys/stat.h>

#define FILE_NAME "libcusparse.so.12"

enum { LIBRARIES_MAX = 8, HANDLES_MAX = 16 };

/* Libraries that were opened stay open, because results of theirs may still be in use. */
static struct cusparse *library[LIBRARIES_MAX];
static struct cusparse *in_use; /* NULL: none yet */
static char chosen[PATH_MAX];   /* the file or folder that the user names; empty: the newest that is found */

/* ---- one library ---- */

static bool find_functions(struct cusparse *sp)
{
    bool whole = true;
#define F(name) whole = (sp->name = (decltype(sp->name))dlsym(sp->opened, #name)) && whole;
    CUSPARSE_FUNCTIONS(F)
#undef F
#define F(name, type) sp->name##_ = (type *)dlsym(sp->opened, #name);
    CUSPARSE_NEWER_FUNCTIONS(F)
#undef F
    return whole;
}

static bool find_version(struct cusparse *sp)
{
    int major, minor, patch;
    if (sp->cusparseGetProperty(MAJOR_VERSION, &major) != CUSPARSE_STATUS_SUCCESS ||
        sp->cusparseGetProperty(MINOR_VERSION, &minor) != CUSPARSE_STATUS_SUCCESS ||
        sp->cusparseGetProperty(PATCH_LEVEL, &patch) != CUSPARSE_STATUS_SUCCESS)
        return false;
    sp->version = 1000 * major + 100 * minor + patch;
    snprintf(sp->title, sizeof sp->title, "cuSPARSE %d.%d.%d", major, minor, patch);
    return true;
}

/* The file from which the library was loaded, with links resolved. */
static void find_path(struct cusparse *sp, const char *asked)
{
    Dl_info about;
    const char *file = dladdr((void *)sp->cusparseCreate, &about) && about.dli_fname ? about.dli_fname : asked;
    if (!realpath(file, sp->path)) snprintf(sp->path, sizeof sp->path, "%s", file);
}

/* Open the library at `path`, or return the one that was opened from the same file. */
static struct cusparse *open_one(const char *path, struct err *e)
{
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int i = 0;
    if (!opened) return fail(e, E_DEVICE, "cuSPARSE cannot be opened (%s)", dlerror()), nullptr;
    for (; i < LIBRARIES_MAX && library[i]; i++)
        if (library[i]->opened == opened) return dlclose(opened), library[i];
    struct cusparse *sp = i < LIBRARIES_MAX ? (struct cusparse *)mem_zero(1, sizeof *sp, "cuSPARSE", e) : nullptr;
    if (i == LIBRARIES_MAX) fail(e, E_LIMIT, "%d versions of cuSPARSE are open; start the program again", i);
    if (sp) sp->opened = opened;
    if (sp && find_functions(sp) && find_version(sp)) return find_path(sp, path), library[i] = sp;
    if (sp) fail(e, E_DEVICE, "%s is not cuSPARSE 12.6 or newer: it lacks functions of it", path);
    mem_free(sp);
    dlclose(opened);
    return nullptr;
}

/* ---- which library ---- */

static struct cusparse *newer(struct cusparse *a, struct cusparse *b)
{
    return !a || (b && b->version > a->version) ? b : a;
}

struct search {
    struct cusparse *best;
    struct err why; /* of the first library that cannot be opened */
};

static bool compare(const char *path, void *user)
{
    struct search *s = (struct search *)user;
    s->best = newer(s->best, open_one(path, s->why.code ? nullptr : &s->why));
    return false;
}

static struct cusparse *newest(struct err *e)
{
    struct search s = {};
    shared_cuda_paths(FILE_NAME, compare, &s);
    if (!s.best)
        fail(e, E_DEVICE, "%s; add its folder to LD_LIBRARY_PATH, or name it with `set cusparse PATH`", s.why.text);
    return s.best;
}

static struct cusparse *open_chosen(struct err *e)
{
    struct stat about;
    char path[PATH_MAX + sizeof FILE_NAME];
    bool folder = !stat(chosen, &about) && S_ISDIR(about.st_mode);
    struct err why = {E_NONE};
    snprintf(path, sizeof path, "%s%s", chosen, folder ? "/" FILE_NAME : "");
    struct cusparse *sp = open_one(path, &why);
    if (!sp) fail(e, E_DEVICE, "%s; `set cusparse auto` uses the newest library that is found", why.text);
    return sp;
}

const struct cusparse *cusparse_use(struct err *e)
{
    if (!in_use) in_use = *chosen ? open_chosen(e) : newest(e);
    return in_use;
}

const char *cusparse_version(void)
{
    const struct cusparse *sp = cusparse_use(nullptr);
    return sp ? sp->title : nullptr;
}

const char *cusparse_path(void)
{
    const struct cusparse *sp = cusparse_use(nullptr);
    return sp ? sp->path : nullptr;
}

void cusparse_choose(const char *path)
{
    snprintf(chosen, sizeof chosen, "%s", path ? path : "");
    in_use = nullptr;
}

/* ---- one handle per device and library ---- */

static struct {
    const struct device *d;
    const struct cusparse *of;
    cusparseHandle_t handle;
} known[HANDLES_MAX];

void vendor_forget(const struct device *d)
{
    vendor_lu_forget(d);
    for (int i = 0; i < HANDLES_MAX; i++)
        if (known[i].d == d) known[i].d = nullptr;
}

bool cusparse_handle(const struct cusparse *sp, const struct device *d, cusparseHandle_t *handle, struct err *e)
{
    int unused = -1;
    for (int i = 0; i < HANDLES_MAX; i++) {
        if (known[i].d == d && known[i].of == sp) return *handle = known[i].handle, true;
        if (!known[i].d) unused = i;
    }
    if (unused < 0) return fail(e, E_LIMIT, "cuSPARSE: %d devices are already in use", +HANDLES_MAX);
    SP(cusparseCreate(&known[unused].handle));
    SP(cusparseSetStream(known[unused].handle, static_cast<cudaStream_t>(d->stream)));
    known[unused].d = d;
    known[unused].of = sp;
    *handle = known[unused].handle;
    return true;
}

cudaDataType cusparse_type(const struct stored *S)
{
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    return types[S->real];
}

/* ---- descriptors ---- */

bool cusparse_describe_csr(const struct cusparse *sp, const struct mat *M, cusparseConstSpMatDescr_t *A, struct err *e)
{
    const struct stored *S = M->of;
    SP(cusparseCreateConstCsr(A, S->rows, S->cols, S->nnz, M->ptr[CSR_PTR], M->ptr[CSR_COL], M->ptr[CSR_VAL],
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cusparse_type(S)));
    return true;
}

bool cusparse_accepts(const struct stored *S, struct err *e)
{
    return S->nnz > 0 ||
           fail(e, E_UNSUPPORTED, "cuSPARSE does not accept a matrix without entries; use another kernel");
}
