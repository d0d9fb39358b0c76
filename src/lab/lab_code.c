/* Compiles users' kernels by nvcc to look at their code, and keeps what was found. */
#include "lab_code.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "lab_accesses.h"
#include "lab_apart.h"
#include "lab_arrays.h"
#include "lab_loops.h"
#include "lab_private.h"
#include "machine/sass.h"
#include "machine/toolkit.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

enum { TOOL_SECONDS = 60, KEPT = 16 };
static const int64_t LISTING_MAX = 256 << 20;

/* ---- the compiler ---- */

bool lab_nvcc_version(const char *nvcc, char *out, size_t size, struct watch *w, struct err *e)
{
    static char path[PATH_MAX], version[48];
    if (strcmp(path, nvcc)) {
        const char *argv[] = {"env", "LC_ALL=C", nvcc, "--version", NULL};
        struct lab_process p = {.argv = argv, .cpu_seconds = TOOL_SECONDS};
        char *text = lab_output(&p, "nvcc", TOOL_SECONDS, 1 << 16, w, e), number[32];
        if (!text) return false;
        const char *at = strstr(text, ", V");
        bool ok = at && sscanf(at, ", V%31[0-9.]", number) == 1;
        mem_free(text);
        if (!ok) return fail(e, E_UNSUPPORTED, "%.200s is not an nvcc: it does not say its version", nvcc);
        snprintf(version, sizeof version, "nvcc %s", number);
        snprintf(path, sizeof path, "%s", nvcc);
    }
    snprintf(out, size, "%s", version);
    return true;
}

static uint64_t hash_of(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return (hash ^ 0xff) * 0x100000001b3;
}

static uint64_t key_of(const struct lab_kernel *l, const char *nvcc, int capability, enum precision real)
{
    const struct source *s = &l->source;
    char numbers[80];
    snprintf(numbers, sizeof numbers, "%d %d %d %d", capability, (int)real, s->chosen_function, s->chosen_entry);
    uint64_t hash = hash_of(0xcbf29ce484222325, l->text);
    hash = hash_of(hash_of(hash, l->path), s->of ? s->of->name : "");
    return hash_of(hash_of(hash, nvcc), numbers);
}

/* ---- functions ---- */

/* Does a mangled name contain this function: its length and its name, then `types`, the beginning of its template's
   arguments? A function of C has its plain name. */
static bool names(const char *mangled, const char *function, const char *types)
{
    char part[96];
    snprintf(part, sizeof part, "%zu%s%s", strlen(function), function, types);
    const char *at = strstr(mangled, part);
    if (!at) return !*types && !strcmp(mangled, function);
    return at == mangled || !isdigit((unsigned char)at[-1]);
}

const char *code_instance(int n, const char *const *symbol, const char *function, enum precision real)
{
    static const char *const types[PRECISIONS][2] = {[P_F32] = {"Iff", "If"}, [P_F64] = {"Idd", "Id"}};
    for (int k = 0; k < 3; k++) {
        const char *of = k < 2 ? types[real][k] : "";
        for (int i = 0; i < n && of; i++)
            if (names(symbol[i], function, of)) return symbol[i];
    }
    return NULL;
}

enum { SYMBOLS = 64 };

static int symbols_of(const struct cubin *c, const char *symbol[SYMBOLS])
{
    int n = 0, section = 0;
    size_t size;
    while (n < SYMBOLS && (symbol[n] = cubin_symbol(c, &section, &size))) n++;
    return n;
}

static void take_functions(struct lab_code *c, const struct lab_kernel *l, const struct cubin *made,
                           enum precision real)
{
    const char *symbol[SYMBOLS];
    int n = symbols_of(made, symbol);
    snprintf(c->as.file, sizeof c->as.file, "%s", l->file);
    for (int i = 0; i < l->source.nfunctions && c->nfunctions < COMPILED_FUNCTIONS; i++) {
        struct code_function *f = &c->function[c->nfunctions];
        const char *of = code_instance(n, symbol, l->source.function[i].name, real);
        snprintf(f->name, sizeof f->name, "%s", l->source.function[i].name);
        f->templates = l->source.function[i].templates;
        if (of && snprintf(f->symbol, sizeof f->symbol, "%s", of) >= (int)sizeof f->symbol) *f->symbol = 0;
        if (*f->symbol) f->made = cubin_function_of(made, of);
        snprintf(c->as.function[c->nfunctions].name, sizeof f->name, "%s", l->source.function[i].name);
        c->as.function[c->nfunctions++].registers = f->made.registers;
    }
    c->as.nfunctions = c->nfunctions;
}

const struct code_function *code_function_of(const struct lab_code *c, const char *launched)
{
    for (int i = 0; i < c->nfunctions; i++)
        if (!strcmp(c->function[i].name, launched) && *c->function[i].symbol) return &c->function[i];
    return NULL;
}

/* ---- machine code ---- */

static char source_file[64];

static bool is_of_user(const char *file)
{
    return !strcmp(file, source_file);
}

static bool read_function(struct lab_code *c, int i, const struct source *source, const char *listing,
                          const struct apart *a, struct watch *w, struct err *e)
{
    struct sass s;
    struct code_function *f = &c->function[i];
    if (!sass_read(&s, listing, f->symbol, is_of_user, w, e)) return false;
    f->instructions = sass_instructions(&s);
    f->loops = s.nloops;
    f->spill_loads = s.spill_loads, f->spill_stores = s.spill_stores;
    f->unrolled = s.hot < 0 ? 0 : s.loop[s.hot].unrolled;
    bool told = a->nlines && !f->templates;
    if (told) {
        arrays_correct(c, i, source, &s, a);
        accesses_find(c, i, &source->function[i], &s, a);
        loops_find(c, i, &source->function[i], &s, a);
        f->unrolled = MAX(f->unrolled, loops_unrolled(&c->as, i));
    }
    if (!told)
        snprintf(c->as_source, sizeof c->as_source, "the accesses of %s cannot be told apart",
                 f->templates ? "a template" : "the file");
    sass_free(&s);
    return true;
}

/* Without nvdisasm, or if it fails, the rest is known from the cubin. Returns false if the user cancelled. */
static bool read_machine_code(struct lab_code *c, const struct lab_kernel *l, const char *nvcc, int cubin,
                              const struct apart *a, struct watch *w, struct err *e)
{
    struct err why = {0};
    const char *nvdisasm = toolkit_nvdisasm(nvcc);
    const char *argv[] = {"env", "LC_ALL=C", nvdisasm, "-gi", "-c", "/proc/self/fd/3", NULL};
    struct lab_process p = {.argv = argv, .keep = {cubin}, .nkeep = 1, .cpu_seconds = TOOL_SECONDS};
    if (!nvdisasm)
        return snprintf(c->as_source, sizeof c->as_source, "nvdisasm of the CUDA toolkit is not there"), true;
    char *listing = lab_output(&p, "nvdisasm", TOOL_SECONDS, LISTING_MAX, w, &why);
    snprintf(source_file, sizeof source_file, "%s", l->file);
    bool ok = listing != NULL;
    for (int i = 0; ok && i < c->nfunctions; i++)
        if (*c->function[i].symbol) ok = read_function(c, i, &l->source, listing, a, w, &why);
    mem_free(listing);
    c->listed = ok;
    if (!ok) snprintf(c->as_source, sizeof c->as_source, "%.230s", why.text);
    if (*c->as_source) c->as.n = c->as.nunrolled = c->as.nloops = c->as.ntwins = c->naccesses = 0;
    if (ok) return true;
    return why.code != E_CANCELLED || fail_at(e, why.code, why.where, "%s", why.text);
}

/* ---- a compilation ---- */

/* Compile the text in which each access has a line of its own. If nvcc refuses it, compile the file itself, for
   messages with its lines. -1: an error. */
static int compile(const struct lab_kernel *l, const struct apart *a, const char *nvcc, int capability, struct watch *w,
                   struct err *e)
{
    const struct lab_target target = {.gpu = true, .capability = capability, .cubin = true, .nvcc = nvcc};
    char folder[PATH_MAX];
    int fd = -1;
    lab_folder_of(l, folder, sizeof folder);
    for (int k = a->text ? 0 : 1; k < 2 && fd < 0; k++) {
        struct err why = {0};
        char *text = source_for_gpu(&l->source, k ? l->text : a->text, l->file, l->name, &why);
        if (text) fd = lab_compile(text, l->file, folder, l->text, target, w, &why);
        mem_free(text);
        if (fd < 0 && (k || why.code == E_CANCELLED)) return fail_at(e, why.code, why.where, "%s", why.text), -1;
    }
    return fd;
}

static bool read_cubin(struct lab_code *c, const struct lab_kernel *l, int fd, enum precision real, struct err *e)
{
    struct cubin made;
    size_t at = 0;
    char *bytes = lab_memory_text(fd, LISTING_MAX, e);
    bool ok = bytes && (cubin_next(bytes, (size_t)lseek(fd, 0, SEEK_END), &at, &made) ||
                        fail(e, E_INPUT, "what nvcc wrote is not a program for a GPU"));
    if (ok) take_functions(c, l, &made, real);
    mem_free(bytes);
    return ok;
}

static bool make(struct lab_code *c, const struct lab_kernel *l, const char *nvcc, enum precision real, struct watch *w,
                 struct err *e)
{
    struct apart a;
    apart_new(&a, &l->source, l->text, NULL);
    int fd =
        lab_nvcc_version(nvcc, c->compiler, sizeof c->compiler, w, e) ? compile(l, &a, nvcc, c->capability, w, e) : -1;
    bool ok = fd >= 0 && read_cubin(c, l, fd, real, e) && read_machine_code(c, l, nvcc, fd, &a, w, e);
    if (fd >= 0) close(fd);
    apart_free(&a);
    return ok;
}

/* ---- what is kept ---- */

static struct lab_code *kept[KEPT]; /* a ring */
static int newest;

void lab_code_close(void)
{
    for (int i = 0; i < KEPT; i++) mem_free(kept[i]);
    memset(kept, 0, sizeof kept);
}

const struct lab_code *lab_code_known(const struct lab_kernel *l, const char *nvcc, int capability, enum precision real)
{
    if (!nvcc) nvcc = toolkit_nvcc();
    uint64_t key = nvcc ? key_of(l, nvcc, capability, real) : 0;
    for (int i = 0; nvcc && i < KEPT; i++)
        if (kept[i] && kept[i]->key == key) return kept[i];
    return NULL;
}

const struct lab_code *lab_code_for(const struct lab_kernel *l, const char *nvcc, int capability, enum precision real,
                                    struct watch *w, struct err *e)
{
    struct err why = {0};
    char path[PATH_MAX];
    if (!nvcc) nvcc = toolkit_nvcc();
    if (!nvcc) return fail(e, E_UNSUPPORTED, "%s", toolkit_missing()), NULL;
    snprintf(path, sizeof path, "%s", nvcc);
    const struct lab_code *known = lab_code_known(l, path, capability, real);
    if (known) return *known->failed ? (fail(e, E_UNSUPPORTED, "%s", known->failed), NULL) : known;
    struct lab_code *c = mem_zero(1, sizeof *c, "the code of a kernel", e);
    if (!c) return NULL;
    c->key = key_of(l, path, capability, real);
    c->capability = capability;
    bool ok = make(c, l, path, real, w, &why);
    if (!ok && (why.code == E_CANCELLED || why.code == E_MEMORY)) {
        mem_free(c);
        return fail_at(e, why.code, why.where, "%s", why.text), NULL;
    }
    if (!ok) snprintf(c->failed, sizeof c->failed, "%s%s%.320s", why.where, *why.where ? ": " : "", why.text);
    newest = (newest + 1) % KEPT;
    mem_free(kept[newest]);
    kept[newest] = c;
    return ok ? c : (fail(e, E_UNSUPPORTED, "%s", c->failed), NULL);
}
