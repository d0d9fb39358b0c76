/* Compiles a user's file by the system's compiler, and says what is wrong with it in terms of the user's lines. */
#include "base/data_folder.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "lab_private.h"
#include "lab_scan.h"
#include "machine/toolkit.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

/* The seconds are of processor time. BUSY: on a busy machine, a compiler may take this many times as long */
enum { COMPILE_SECONDS = 20, NVCC_SECONDS = 120, BUSY = 4, OUTPUT_MAX = 256 * 1024, MESSAGE_MAX = 300 };
static const int64_t COMPILER_MEMORY = (int64_t)3 << 29, OBJECT_MAX = 128 << 20;

/* ---- messages ---- */

static char messages[4096];

const char *lab_messages(void)
{
    return messages;
}

void lab_messages_clear(void)
{
    *messages = 0;
}

void lab_message_add(const char *fmt, ...)
{
    va_list list;
    size_t n = strlen(messages);
    va_start(list, fmt);
    vsnprintf(messages + n, sizeof messages - n, fmt, list);
    va_end(list);
}

/* ---- the file ---- */

char *lab_read(const char *path, struct stat *st, struct err *e)
{
    char safe[200], size[32];
    print_safe(path, strlen(path), 100, safe, sizeof safe);
    if (stat(path, st)) return fail(e, E_IO, "cannot read %s: %s", safe, strerror(errno)), NULL;
    if (!S_ISREG(st->st_mode)) return fail(e, E_USAGE, "%s is not a file with a kernel", safe), NULL;
    if (st->st_size > LAB_BYTES)
        return fail(e, E_LIMIT, "%s has %s; a file with a kernel has at most 1 MB", safe,
                    show_bytes((double)st->st_size, size, sizeof size)),
               NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text = fd < 0 ? NULL : mem_new(LAB_BYTES + 2, 1, "the file", e);
    ssize_t n = 0, got = 0;
    while (text && n <= LAB_BYTES && (got = read(fd, text + n, (size_t)(LAB_BYTES + 1 - n))) > 0) n += got;
    if (fd < 0 || got < 0) fail(e, E_IO, "cannot read %s: %s", safe, strerror(errno));
    if (fd >= 0) close(fd);
    if (!text || got < 0) return mem_free(text), NULL;
    text[n] = 0;
    bool blank = strspn(text, " \t\r\n\f\v") == (size_t)n;
    if (blank)
        fail(e, E_USAGE, "%s is empty; `try new csr-scalar` writes a file to start from", safe);
    else if (memchr(text, 0, (size_t)n))
        fail(e, E_USAGE, "%s is a binary file, not the source of a kernel", safe);
    else
        return text;
    mem_free(text);
    return NULL;
}

void lab_folder_of(const struct lab_kernel *k, char *folder, size_t size)
{
    snprintf(folder, size, "%s", k->path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
}

/* #include of what is not a file, such as a device, would never end. */
static bool check_includes(const char *text, const char *file, const char *folder, struct err *e)
{
    for (const char *p = strchr(text, '#'); p; p = strchr(p + 1, '#')) {
        const char *word = scan_skip(p + 1), *quote;
        char name[PATH_MAX], path[2 * PATH_MAX];
        struct stat st;
        if (strncmp(word, "include", 7)) continue;
        quote = word + 7 + strspn(word + 7, " \t");
        if (*quote != '"' && *quote != '<') continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(quote + 1, "\">\n"), quote + 1);
        snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : folder, *name == '/' ? "" : "/", name);
        if (!stat(path, &st) && !S_ISREG(st.st_mode))
            return scan_fail(file, scan_line(text, p), e, "%.100s is not a file that can be included", name);
    }
    return true;
}

/* ---- the compiler's output ---- */

static void replace_all(char *text, size_t size, const char *from, const char *to)
{
    size_t n = strlen(from), k = strlen(to);
    for (char *p = text; (p = strstr(p, from)); p += k) {
        size_t rest = strlen(p + n) + 1;
        if ((size_t)(p - text) + k + rest > size) return;
        memmove(p + k, p + n, rest);
        memcpy(p, to, k);
    }
}

/* "simt::array<const double>" is the user's "const double *". */
static void plain_words(char *text, size_t size)
{
    static const char *const types[] = {"double",       "float",       "int",       "unsigned int",
                                        "const double", "const float", "const int", "const unsigned int",
                                        "long int"};
    char from[80], to[80];
    for (int i = 0; i < COUNT(types); i++) {
        snprintf(from, sizeof from, "simt::array<%s>", types[i]);
        snprintf(to, sizeof to, "%s *", types[i]);
        replace_all(text, size, from, to);
        snprintf(from, sizeof from, "simt::cell<%s>", types[i]);
        replace_all(text, size, from, types[i]);
    }
    replace_all(text, size, "emu_::", "");
    replace_all(text, size, "of_the_user::", "");
    replace_all(text, size, "simt::index", "int64_t");
    replace_all(text, size, "(std::min)", "");
    replace_all(text, size, "(aka ", "(");
}

/* A place "my.cu:12:9:" at the beginning of a line or after blanks. */
struct place_at {
    int line, column;
};

/* nvcc writes "my.cu(12):". Is there the place of a file called `file` at p? *end: what follows its colon. */
static bool read_place(const char *p, const char *file, struct place_at *at, const char **end)
{
    size_t n = strlen(file);
    if (strncmp(p, file, n) || !p[n] || !strchr(":(", p[n]) || !isdigit((unsigned char)p[n + 1])) return false;
    char *q;
    at->line = (int)strtol(p + n + 1, &q, 10);
    at->column = 0;
    if (*q == ':' && isdigit((unsigned char)q[1])) at->column = (int)strtol(q + 1, &q, 10);
    *end = q;
    return true;
}

/* Add the line of the file, with a mark below its column. */
static void show_line(const char *text, struct place_at at)
{
    char line[MESSAGE_MAX], safe[2 * MESSAGE_MAX], mark[MESSAGE_MAX];
    for (int k = 1; k < at.line && text; k++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text) return;
    size_t n = strcspn(text, "\n"), column = at.column > 0 ? (size_t)at.column - 1 : 0;
    size_t indent = strspn(text, " \t");
    if (indent > n || indent > column) indent = 0;
    text += indent, n -= indent, column -= indent;
    snprintf(line, sizeof line, "%.*s", (int)(n < 160 ? n : 160), text);
    for (char *c = line; *c; c++)
        if (*c == '\t') *c = ' ';
    print_safe(line, strlen(line), 200, safe, sizeof safe);
    char number[24];
    snprintf(number, sizeof number, "  > %d  ", at.line);
    lab_message_add("%s%s\n", number, safe);
    if (column >= strlen(line) || strlen(safe) != strlen(line)) return;
    memset(mark, ' ', column);
    snprintf(mark + column, sizeof mark - column, "^");
    lab_message_add("%*s%s\n", (int)strlen(number), "", mark);
}

struct reading {
    const char *file, *user_text;
    int found, line; /* errors so far, and the line of the last one */
    struct err *e;
};

static void take_error(struct reading *r, struct place_at at, const char *what)
{
    char text[MESSAGE_MAX], safe[2 * MESSAGE_MAX], where[128];
    if (r->found && at.line == r->line) return; /* one error often leads to others */
    r->line = at.line;
    if (r->found++ >= LAB_MESSAGES) return;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(what, "\n"), what);
    plain_words(text, sizeof text);
    print_safe(text, strlen(text), 280, safe, sizeof safe);
    snprintf(where, sizeof where, at.line ? "%s:%d" : "%s", r->file, at.line);
    if (r->found == 1) fail_at(r->e, E_USAGE, where, "%.400s", safe);
    lab_message_add("%s: %s\n", where, safe);
    if (at.line) show_line(r->user_text, at);
}

/* The first message is also that of the error: if it is the only one, its line of the file is enough. */
static void drop_heading(const struct reading *r)
{
    size_t n = strcspn(messages, "\n") + 1;
    if (r->found == 1 && n <= strlen(messages)) memmove(messages, messages + n, strlen(messages + n) + 1);
}

/* An error in one of our headers belongs to the user's line that led there, which g++ prints before it. */
static void read_output(struct reading *r, const char *text)
{
    struct place_at last = {0, 0};
    for (const char *p = text; *p;) {
        const char *line_end = p + strcspn(p, "\n"), *rest, *error = strstr(p, "error: ");
        struct place_at at;
        if (error && error > line_end) error = NULL;
        const char *from = p + strspn(p, " \t");
        if (!strncmp(from, "In file included from ", 22)) from += 22;
        if (!strncmp(from, "from ", 5)) from += 5;
        bool own = read_place(from, r->file, &at, &rest);
        bool in_try = !own && read_place(from, "TRY", &at, &rest);
        if (error && (own || in_try))
            take_error(r, at, error + 7);
        else if (error)
            take_error(r, last, error + 7);
        else if (own)
            last = at;
        if (error) last = (struct place_at){0, 0};
        p = line_end + (*line_end == '\n');
    }
}

/* The assembler of nvcc names neither a file nor a line. */
static void read_assembler(struct reading *r, const char *text)
{
    unsigned long long bytes, most;
    const char *at = strstr(text, "uses too much shared data (");
    if (r->found || !at || sscanf(at, "uses too much shared data (%llx bytes, %llx max)", &bytes, &most) != 2) return;
    r->found = 1;
    fail(r->e, E_USAGE,
         "%s declares %llu bytes of shared memory, but a block has %llu; extern __shared__ and the bytes in TRY give "
         "more",
         r->file, bytes, most);
}

/* ---- the compiler ---- */

/* The folders of our headers: the source tree, or share/warpspy/include. */
static bool find_headers(char *out, size_t size, struct err *e)
{
    static const char *const below[] = {"", "/include"};
    char data[PATH_MAX], probe[PATH_MAX + 64];
    for (int i = 0; data_folder(i, data, sizeof data); i++)
        for (int k = 0; *data && k < COUNT(below); k++) {
            snprintf(out, size, "%s%s", data, below[k]);
            if (snprintf(probe, sizeof probe, "%s/gpu/emu/simt.h", out) < (int)sizeof probe && !access(probe, R_OK))
                return true;
        }
    return fail(e, E_IO, "the headers of kernels are not installed (share/warpspy/include); `make install` does it");
}

static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    char at[PATH_MAX];
    for (const char *p = path ? path : ""; *p;) {
        size_t n = strcspn(p, ":");
        if (n && snprintf(at, sizeof at, "%.*s/%s", (int)n, p, program) < (int)sizeof at && !access(at, X_OK))
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

bool lab_has_nvcc(void)
{
    return toolkit_nvcc() != NULL;
}

enum { ARGUMENTS_MAX = 40 };

/* The content of a file as a file descriptor of memory, from which a program can be loaded although the folder of the
   file may not allow it; closes `file`. */
static int in_memory(int file, struct err *e)
{
    struct stat st;
    int fd = fstat(file, &st) ? -1 : lab_memory("a kernel", 0, e);
    off_t at = 0;
    while (fd >= 0 && at < st.st_size && sendfile(fd, file, &at, (size_t)(st.st_size - at)) > 0) {
    }
    close(file);
    if (fd < 0 || at == st.st_size) return fd;
    close(fd);
    return fail(e, E_IO, "cannot read the compiled kernel: %s", strerror(errno)), -1;
}

/* The result of a compiler that ended: an object, or what it says. */
static int take_object(int status, bool late, const char *object, const char *printed, struct reading *r)
{
    bool ended = !late && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    int file = ended ? open(object, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) return in_memory(file, r->e);
    bool killed = late || strstr(printed, "Killed") || strstr(printed, "out of memory") ||
                  strstr(printed, "virtual memory exhausted") || strstr(printed, "CPU time limit") ||
                  (WIFSIGNALED(status));
    if (killed) return fail(r->e, E_LIMIT, "the compiler needs too long or too much memory for %s", r->file), -1;
    read_output(r, printed);
    drop_heading(r);
    read_assembler(r, printed);
    if (!r->found) fail(r->e, E_USAGE, "%s cannot be compiled: %.*s", r->file, (int)strcspn(printed, "\n"), printed);
    return -1;
}

static int run_compiler(const char *const *argv, const char *folder, int source, const char *object, int seconds,
                        int64_t memory, struct reading *r, struct watch *w)
{
    int status = 0, fd = -1, out = lab_memory("the compiler's messages", 0, r->e);
    bool late = false;
    struct lab_process p = {.argv = argv,
                            .folder = folder,
                            .keep = {source},
                            .nkeep = 1,
                            .out = out,
                            .cpu_seconds = seconds,
                            .memory = memory,
                            .file_bytes = OBJECT_MAX};
    int pid = out >= 0 ? lab_start(&p, r->e) : -1;
    bool ended = pid > 0 && lab_wait(pid, "compiling", BUSY * seconds, w, &status, &late, r->e);
    char *printed = ended || late ? lab_memory_text(out, OUTPUT_MAX, r->e) : NULL;
    if (printed) fd = take_object(status, late, object, printed, r);
    mem_free(printed);
    if (out >= 0) close(out);
    return fd;
}

/* The header that `make` compiled in advance, beside the program; false: there is none. If another compiler made it,
   g++ reads the header's text. */
static bool find_prelude(char *out, size_t size)
{
    char path[PATH_MAX], compiled[PATH_MAX + 32];
    if (!realpath(lab_program(), path)) return false;
    *strrchr(path, '/') = 0;
    snprintf(compiled, sizeof compiled, "%s/prelude.h.gch", path);
    return !access(compiled, R_OK) && snprintf(out, size, "%s/prelude.h", path) < (int)size;
}

static int compile_text(const char *text, const char *folder, const char *headers, const char *object,
                        struct lab_target target, struct reading *r, struct watch *w)
{
    char quote[PATH_MAX + 16], prelude[PATH_MAX + 16], in[3][PATH_MAX + 32], arch[32] = "-arch=native";
    bool gpu = target.gpu;
    const char *nvcc = target.nvcc ? target.nvcc : toolkit_nvcc();
    const char *argv[ARGUMENTS_MAX] = {"env", "LC_ALL=C",         gpu ? nvcc : "g++",
                                       "-x",  gpu ? "cu" : "c++", target.cubin ? "-cubin" : "-shared"};
    int n = 6, fd = -1, source = lab_memory("the source of a kernel", 0, r->e);
    static const char *const for_emulator[] = {
#include "lab_flags.def"
        "-Wl,-Bsymbolic"};
    const char *const for_gpu[] = {
        "-std=c++20", "-D_GNU_SOURCE", "-w",     "-O3",      "-lineinfo", "-Xcompiler", "-fPIC,-fno-gnu-unique",
        arch,         "-cudart",       "static", "-Xlinker", "-Bsymbolic"};
    if (target.capability) snprintf(arch, sizeof arch, "-arch=sm_%d", target.capability);
    snprintf(quote, sizeof quote, gpu ? "-I%s" : "-iquote%s", folder);
    snprintf(in[0], sizeof in[0], "-I%s/src", headers);
    snprintf(in[1], sizeof in[1], "-I%s", headers);
    snprintf(in[2], sizeof in[2], "-I%s/gpu/kernels", headers);
    argv[n++] = quote;
    for (int i = 0; i < 3; i++) argv[n++] = in[i];
    if (!gpu && find_prelude(prelude, sizeof prelude)) {
        argv[n++] = "-include";
        argv[n++] = prelude;
    }
    for (int i = 0; i < (gpu ? COUNT(for_gpu) : COUNT(for_emulator)); i++)
        argv[n++] = gpu ? for_gpu[i] : for_emulator[i];
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n++] = "/proc/self/fd/3";
    if (source >= 0 && (write(source, text, strlen(text)) != (ssize_t)strlen(text) || lseek(source, 0, SEEK_SET)))
        fail(r->e, E_IO, "cannot write the source of a kernel: %s", strerror(errno));
    else if (source >= 0)
        fd = run_compiler(argv, folder, source, object, gpu ? NVCC_SECONDS : COMPILE_SECONDS, gpu ? 0 : COMPILER_MEMORY,
                          r, w);
    if (source >= 0) close(source);
    return fd;
}

static bool has_compiler(struct lab_target target, struct err *e)
{
    bool gpu = target.gpu;
    if (target.nvcc) return true;
    if (gpu && toolkit_nvcc()) return true;
    if (gpu) return fail(e, E_UNSUPPORTED, "%s", toolkit_missing());
    if (is_in_path("g++")) return true;
    return fail(e, E_UNSUPPORTED,
                "g++, which compiles kernels for the emulator, is not installed; on Debian, "
                "`apt-get install g++` installs it");
}

int lab_compile(const char *text, const char *file, const char *folder, const char *user_text, struct lab_target target,
                struct watch *w, struct err *e)
{
    char headers[PATH_MAX], object[64], temporary[] = "/tmp/warpspy-XXXXXX";
    struct reading r = {.file = file, .user_text = user_text, .e = e};
    if (!has_compiler(target, e) || !find_headers(headers, sizeof headers, e) ||
        !check_includes(user_text, file, folder, e))
        return -1;
    if (!mkdtemp(temporary)) return fail(e, E_IO, "cannot make a folder in /tmp: %s", strerror(errno)), -1;
    snprintf(object, sizeof object, "%s/kernel.so", temporary);
    int fd = compile_text(text, folder, headers, object, target, &r, w);
    unlink(object);
    rmdir(temporary);
    return fd;
}
