/* Finds the machine code of a kernel's function: among the functions that the kernel may launch in a precision, in this
   program or in a stored listing. */
#include "machine_code.h"
#include "base/data_folder.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/text.h"
#include "base/watch.h"
#include "lab_private.h"
#include "machine/compiled.h"
#include "machine/cubin.h"
#include "machine/kernel.h"
#include "machine/microscope.h"
#include "machine/toolkit.h"
#include "machine_code_private.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* INSTANCES_MAX: functions of one kernel in one precision. */
enum { INSTANCES_MAX = 64, LISTING_BYTES = 64 << 20, DISASSEMBLE_SECONDS = 60, OUTPUT_BYTES = 256 << 20 };
static const char reference[] = "sm_90";

void machine_code_free(struct machine_code *c)
{
    sass_free(&c->sass);
    *c = (struct machine_code){.sass.hot = -1};
}

/* The dialect's own files, whose functions stand for an operation of the line that calls them. */
bool machine_code_is_source(const char *file)
{
    static const char *const dialect[] = {"dialect.h", "texture.h"};
    int length;
    for (int i = 0; i < COUNT(dialect); i++)
        if (!strcmp(file, dialect[i])) return false;
    return kernel_source_line(file, 1, &length) != NULL;
}

/* ---- which functions ---- */

/* A function that the kernel may launch; rank: the place of its pattern among kernel.functions. */
struct instance {
    int rank;
    size_t size; /* of its code, or of its listing: functions of the same origin are compared */
    char name[FUNCTION_NAME], symbol[512];
};
struct instances {
    const struct kernel *kernel;
    enum precision real;
    int n;
    struct instance of[INSTANCES_MAX];
};

/* Is the type among the template arguments? "cplx<double>" is not double. */
static bool names_type(const char *name, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = strstr(name, word); p; p = strstr(p + n, word)) {
        bool part = p - name >= 5 && !strncmp(p - 5, "cplx<", 5);
        if (!part) return true;
    }
    return false;
}

/* Does the instance compute in this precision? One without types is for all. */
static bool is_in_precision(const char *name, enum precision real)
{
    static const struct {
        const char *word;
        enum type type;
    } words[] = {{"double", T_F64}, {"float", T_F32},        {"fp16", T_F16},
                 {"bf16", T_BF16},  {"cplx<double>", T_C64}, {"cplx<float>", T_C32}};
    const struct precision_entry *p = &precisions[real];
    bool any = false, wanted = false, other = false;
    for (int i = 0; i < COUNT(words); i++) {
        if (!names_type(name, words[i].word)) continue;
        any = true;
        wanted |= words[i].type == p->stored;
        other |= words[i].type != p->stored && words[i].type != p->vector;
    }
    return !any || (wanted && !other);
}

static int rank_of(const struct kernel *k, const char *name)
{
    struct compiled c = {.name = name};
    for (int i = 0; i < KERNEL_FUNCTIONS; i++)
        if (k->functions[i].name && compiled_matches(&c, k->functions[i].name)) return i;
    return -1;
}

static void add_instance(struct instances *all, const char *name, const char *symbol, size_t code)
{
    int rank = rank_of(all->kernel, name);
    if (rank < 0 || all->n == INSTANCES_MAX || strlen(name) >= FUNCTION_NAME || !is_in_precision(name, all->real))
        return;
    struct instance *i = &all->of[all->n];
    if (snprintf(i->symbol, sizeof i->symbol, "%s", symbol) >= (int)sizeof i->symbol) return;
    snprintf(i->name, sizeof i->name, "%s", name);
    i->rank = rank;
    i->size = code;
    all->n++;
}

static int by_rank(const void *a, const void *b)
{
    const struct instance *x = a, *y = b;
    return x->rank != y->rank ? x->rank - y->rank : strverscmp(x->name, y->name);
}

/* The last instance of the first function that does the work: functions that only prepare it are much smaller. */
static int default_instance(const struct instances *all)
{
    size_t most = 0;
    for (int i = 0; i < all->n; i++)
        if (all->of[i].size > most) most = all->of[i].size;
    for (int i = 0; i < all->n; i++) {
        bool last = i + 1 == all->n || all->of[i + 1].rank != all->of[i].rank;
        if (last && 2 * all->of[i].size >= most) return i;
    }
    return all->n - 1;
}

/* Put the instances in order; returns the index of the wanted one, or -1. */
static int choose(struct instances *all, const struct machine_code_request *r, struct err *e)
{
    qsort(all->of, (size_t)all->n, sizeof *all->of, by_rank);
    for (int i = 0; i < all->n; i++)
        if (r->function && !strcmp(all->of[i].name, r->function)) return i;
    if (r->instance > all->n) {
        fail(e, E_USAGE, "`instance %d` is outside 1 .. %d", r->instance, all->n);
        return -1;
    }
    return r->instance > 0 ? r->instance - 1 : default_instance(all);
}

static void describe(struct machine_code *out, const struct machine_code_request *r, const struct instances *all,
                     int chosen)
{
    *out = (struct machine_code){.real = r->real, .instance = chosen + 1, .instances = all->n, .sass.hot = -1};
    snprintf(out->kernel, sizeof out->kernel, "%s", r->kernel->name);
    snprintf(out->function, sizeof out->function, "%s", all->of[chosen].name);
}

/* ---- stored listings ---- */

static char *read_all(const char *path, struct watch *w, struct err *e)
{
    struct stream *s = stream_open(path, e);
    char *text = s ? mem_new(LISTING_BYTES + 1, 1, "a listing of machine code", e) : NULL;
    int64_t n = 0, got = 0;
    while (text && n < LISTING_BYTES && (got = stream_read(s, text + n, 1 << 16, e)) > 0) {
        n += got;
        if (!watch_tick(w, "reading machine code", 0, 0, e)) got = -1;
        if (got < 0 || LISTING_BYTES - n < 1 << 16) break;
    }
    stream_close(s);
    if (text && got >= 0) return text[n] = 0, text;
    mem_free(text);
    return NULL;
}

/* The listing for an architecture: in sass of an installation, samples/sass in the source tree. */
static bool stored_path(const char *architecture, char *out, size_t size)
{
    static const char *const inside[] = {"sass", "samples/sass"};
    char data[PATH_MAX];
    for (int i = 0; data_folder(i, data, sizeof data); i++)
        for (int k = 0; *data && k < COUNT(inside); k++) {
            int n = snprintf(out, size, "%s/%s/%s.txt.xz", data, inside[k], architecture);
            if (n < (int)size && !access(out, R_OK)) return true;
        }
    return false;
}

static void stored_instances(struct instances *all, const char *text)
{
    static const char mark[] = "//--------------------- .text.";
    for (const char *p = strstr(text, mark); p; p = strstr(p + 1, mark)) {
        const char *name = p + sizeof mark - 1, *end = strstr(name, " ---");
        char copy[FUNCTION_NAME];
        if (!end || end - name >= FUNCTION_NAME) continue;
        snprintf(copy, sizeof copy, "%.*s", (int)(end - name), name);
        const char *next = strstr(end, mark);
        add_instance(all, copy, copy, next ? (size_t)(next - p) : strlen(p));
    }
}

/* "//## 32 registers, 0 shared, 0 local" after the function's heading, and "// nvcc 13.0" at the beginning. */
static void stored_facts(struct machine_code *out, const char *text, const char *symbol)
{
    char mark[FUNCTION_NAME + 40];
    snprintf(mark, sizeof mark, ".text.%s ---\n", symbol);
    const char *at = strstr(text, mark);
    if (at)
        sscanf(at + strlen(mark), "//## %d registers, %d shared, %d local", &out->registers, &out->shared_bytes,
               &out->local_bytes);
    if (!strncmp(text, "// ", 3))
        snprintf(out->compiler, sizeof out->compiler, "%.*s", (int)strcspn(text + 3, "\n"), text + 3);
    out->origin = "stored listing";
}

/* Is the source of the function the one of which the listing was made? Its lines may have moved otherwise. */
static bool sources_changed(const struct sass *s, const char *text)
{
    const char *file, *source;
    for (int i = 0; (source = kernel_source(i, &file)); i++) {
        char mark[120];
        bool used = false;
        for (int k = 0; k < s->nsources && !used; k++) used = !strcmp(s->source[k].file, file);
        unsigned long crc = crc32(0, (const unsigned char *)source, (unsigned)strlen(source));
        snprintf(mark, sizeof mark, "// source %s %08lx\n", file, crc);
        if (used && !strstr(text, mark)) return true;
    }
    return false;
}

/* Returns false without an error if there is no listing, or none of the kernel in this precision. */
static bool read_stored(const struct machine_code_request *r, const char *architecture, struct instances *all,
                        struct machine_code *out, struct watch *w, struct err *e)
{
    char path[PATH_MAX + 64];
    char *text = stored_path(architecture, path, sizeof path) ? read_all(path, w, e) : NULL;
    bool ok = false;
    int chosen;
    if (!text) return false;
    stored_instances(all, text);
    if (all->n && (chosen = choose(all, r, e)) >= 0) {
        describe(out, r, all, chosen);
        stored_facts(out, text, all->of[chosen].symbol);
        ok = sass_read(&out->sass, text, all->of[chosen].symbol, machine_code_is_source, w, e);
        out->changed = ok && sources_changed(&out->sass, text);
    }
    mem_free(text);
    return ok;
}

/* ---- nvdisasm ---- */

static bool nvdisasm_path(char *out, size_t size)
{
    const char *path = toolkit_nvdisasm(toolkit_nvcc());
    return path && snprintf(out, size, "%s", path) < (int)size;
}

bool machine_code_has_nvdisasm(void)
{
    char path[PATH_MAX];
    return nvdisasm_path(path, sizeof path);
}

static bool write_whole(int fd, const char *from, size_t n, struct err *e)
{
    while (n > 0) {
        ssize_t done = write(fd, from, n);
        if (done <= 0) return fail(e, E_IO, "cannot write machine code to memory");
        from += done;
        n -= (size_t)done;
    }
    return true;
}

/* Run nvdisasm on file descriptor 3, and return what it prints. */
static char *run_nvdisasm(const char *const *argv, int cubin, struct watch *w, struct err *e)
{
    int status = 0, out = lab_memory("machine code", 0, e);
    bool late = false;
    struct lab_process p = {.argv = argv, .keep = {cubin}, .nkeep = 1, .out = out, .cpu_seconds = DISASSEMBLE_SECONDS};
    int pid = out >= 0 ? lab_start(&p, e) : -1;
    bool ended = pid > 0 && lab_wait(pid, "disassembling", 4 * DISASSEMBLE_SECONDS, w, &status, &late, e);
    char *text = ended || late ? lab_memory_text(out, OUTPUT_BYTES, e) : NULL;
    if (out >= 0) close(out);
    if (text && !late && WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
    if (late)
        fail(e, E_LIMIT, "nvdisasm needs too long");
    else if (text)
        fail(e, E_UNSUPPORTED, "nvdisasm cannot list the machine code: %.*s", (int)strcspn(text, "\n"), text);
    mem_free(text);
    return NULL;
}

char *machine_code_disassemble(const void *cubin, size_t n, const char *symbol, struct watch *w, struct err *e)
{
    char path[PATH_MAX], index[24];
    struct cubin c = {cubin, n};
    struct cubin_function f = symbol ? cubin_function_of(&c, symbol) : (struct cubin_function){.index = -1};
    if (!nvdisasm_path(path, sizeof path)) {
        fail(e, E_UNSUPPORTED, "nvdisasm is not installed; it is part of the CUDA toolkit");
        return NULL;
    }
    snprintf(index, sizeof index, "%d", f.index);
    const char *const one[] = {path, "-gi", "-c", "-fun", index, "/proc/self/fd/3", NULL};
    const char *const all[] = {path, "-gi", "-c", "/proc/self/fd/3", NULL};
    int fd = lab_memory("machine code", 0, e);
    char *text = NULL;
    if (fd >= 0 && write_whole(fd, cubin, n, e)) text = run_nvdisasm(f.index >= 0 ? one : all, fd, w, e);
    if (fd >= 0) close(fd);
    return text;
}

/* ---- this program ---- */

static struct image map_program(void)
{
    struct image m = {NULL, 0};
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
        m.n = (size_t)st.st_size;
        m.bytes = mmap(NULL, m.n, PROT_READ, MAP_PRIVATE, fd, 0);
        if (m.bytes == MAP_FAILED) m.bytes = NULL;
    }
    if (fd >= 0) close(fd);
    return m;
}

static void cubin_instances(struct instances *all, const struct cubin *c)
{
    const char *symbol;
    char name[FUNCTION_NAME];
    size_t size;
    for (int section = 0; (symbol = cubin_symbol(c, &section, &size));)
        if (symbol_instance(symbol, name, sizeof name)) add_instance(all, name, symbol, size);
}

/* The functions of a kernel are in one cubin per architecture, that of its source file. */
static bool find_cubin(const struct image *m, const char *architecture, struct instances *all, struct cubin *c,
                       struct watch *w, struct err *e)
{
    for (size_t at = 0; !all->n && cubin_next(m->bytes, m->n, &at, c);) {
        char own[16];
        cubin_architecture(c, own);
        if (!watch_tick(w, "looking for machine code", 0, 0, e)) return false;
        if (!architecture || !strcmp(own, architecture)) cubin_instances(all, c);
    }
    return all->n > 0;
}

/* Returns false without an error if the image does not have the function. */
static bool read_image(const struct machine_code_request *r, const struct image *m, const char *architecture,
                       const char *origin, struct instances *all, struct machine_code *out, struct watch *w,
                       struct err *e)
{
    struct cubin c;
    int chosen;
    if (!find_cubin(m, architecture, all, &c, w, e) || (chosen = choose(all, r, e)) < 0) return false;
    const char *symbol = all->of[chosen].symbol;
    struct cubin_function f = cubin_function_of(&c, symbol);
    char *text = machine_code_disassemble(c.bytes, c.n, symbol, w, e);
    describe(out, r, all, chosen);
    out->origin = origin;
    out->registers = f.registers, out->shared_bytes = f.shared_bytes, out->local_bytes = f.local_bytes;
    bool ok = text && sass_read(&out->sass, text, symbol, machine_code_is_source, w, e);
    mem_free(text);
    return ok;
}

static bool read_own(const struct machine_code_request *r, struct instances *all, struct machine_code *out,
                     struct watch *w, struct err *e)
{
    struct image m = map_program();
    bool ok = m.bytes && read_image(r, &m, r->architecture, "this program", all, out, w, e);
    if (m.bytes) munmap(m.bytes, m.n);
    return ok;
}

static bool read_compiled(const struct machine_code_request *r, const char *architecture, struct instances *all,
                          struct machine_code *out, struct watch *w, struct err *e)
{
    struct image m;
    bool ok = machine_code_compile(r->kernel, architecture, &m, w, e) &&
              read_image(r, &m, architecture, "compiled now", all, out, w, e);
    mem_free(m.bytes);
    return ok;
}

/* ---- any source ---- */

static bool fail_without_code(const struct machine_code_request *r, const char *architecture, struct err *e)
{
    char name[80];
    print_safe(architecture, strlen(architecture), 40, name, sizeof name);
    fail(e, E_UNSUPPORTED, "no machine code of %s in %s for %s is at hand", r->kernel->name, precisions[r->real].name,
         name);
    err_advise(e, "listings are stored for fp64 on sm_75, sm_80, sm_90, sm_100 and sm_120; a build with CUDA shows its "
                  "own code if nvdisasm of the CUDA toolkit is installed");
    return false;
}

/* May another source be tried? Forget what the last one found. */
static bool go_on(bool ok, struct instances *all, struct err *why)
{
    if (ok || why->code == E_CANCELLED || why->code == E_USAGE) return false;
    all->n = 0;
    err_clear(why);
    return true;
}

/* From this program, a stored listing, or the compiler. */
static bool read_any(const struct machine_code_request *r, struct instances *all, struct machine_code *out,
                     struct watch *w, struct err *e)
{
    const char *architecture = r->architecture ? r->architecture : reference;
    bool disassembles = machine_code_has_nvdisasm(), ok = disassembles && read_own(r, all, out, w, e);
    if (go_on(ok, all, e)) ok = read_stored(r, architecture, all, out, w, e);
    if (disassembles && machine_code_can_compile(r->kernel) && go_on(ok, all, e))
        ok = read_compiled(r, architecture, all, out, w, e);
    return ok || e->code || fail_without_code(r, architecture, e);
}

bool machine_code_read(const struct machine_code_request *r, struct machine_code *out, struct watch *w, struct err *e)
{
    struct err why = {0};
    *out = (struct machine_code){.sass.hot = -1};
    if (r->kernel->remote)
        return fail(e, E_UNSUPPORTED,
                    "%s is a kernel of yours: `try` shows what nvcc makes of it; sass shows built-in ones",
                    r->kernel->name);
    if (!r->kernel->functions[0].name)
        return fail(e, E_UNSUPPORTED, "%s launches no function for GPUs whose machine code is known", r->kernel->name);
    struct instances *all = mem_zero(1, sizeof *all, "the functions of a kernel", e);
    if (!all) return false;
    *all = (struct instances){.kernel = r->kernel, .real = r->real};
    bool ok = read_any(r, all, out, w, &why) && !why.code;
    mem_free(all);
    if (!ok && e && !e->code) *e = why;
    return ok;
}

/* ---- lines ---- */

int machine_code_at_line(const struct machine_code *c, const char *file, int line)
{
    int first = -1, access = -1, hot = -1;
    for (int i = 0; i < c->sass.n; i++) {
        const struct sass_instruction *at = &c->sass.at[i];
        if (at->line != line || !at->file || strcmp(at->file, file)) continue;
        bool global = at->space == SASS_GLOBAL || at->space == SASS_TEXTURE;
        if (first < 0) first = i;
        if (global && access < 0) access = i;
        if (global && hot < 0 && c->sass.hot >= 0 && at->loop == c->sass.hot) hot = i;
    }
    return hot >= 0 ? hot : access >= 0 ? access : first;
}
