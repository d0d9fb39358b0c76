/* The function that the fuzzers call: load any bytes as a file, with several numbers of threads and block sizes, and
   compare text with the slow reference reader. With FUZZ_MAIN it is a program, for AFL and for single inputs. */
#include <stdio.h>

#include "base/available.h"
#include "base/err.h"
#include "base/mem.h"
#include "files/file.h"
#include "files/load_info.h"
#include "files/matrix_market.h"
#include "files/sides.h"
#include "fuzz_load.h"
#include "kits/slow_mtx.h"
#include "matrix/csr.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS_MAX = 1 << 20, WAYS = 3, VECTOR = 4, MEMORY_MOST = 1 << 29 };

/* Leaks that LeakSanitizer ignores: clang's OpenMP leaks memory when the number of threads changes, and fontconfig
   keeps some for cairo. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libomp\nleak:libfontconfig";
}

struct outcome {
    struct csr A;
    struct sides sides;
    struct load_info info;
    struct err e;
};

/* One in-memory file for all inputs; its path is also valid in child processes. */
static const char *file_of(const uint8_t *data, size_t n)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("input", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n) abort();
    return path;
}

static const struct file_kind *kind_of(const uint8_t *data, size_t n)
{
    int64_t begin = n < FILE_BEGIN ? (int64_t)n : FILE_BEGIN;
    for (int i = 0; file_kinds[i]; i++)
        if (file_kinds[i]->recognises && file_kinds[i]->recognises((const char *)data, begin)) return file_kinds[i];
    return NULL;
}

static bool is_packed(const uint8_t *data, size_t n)
{
    static const char *const magic[] = {"\x1f\x8b", "\3757zXZ", "\x28\xb5\x2f\xfd", "BZh"};
    for (int i = 0; i < COUNT(magic); i++)
        if (n >= strlen(magic[i]) && !memcmp(data, magic[i], strlen(magic[i]))) return true;
    return n >= 262 && !memcmp(data + 257, "ustar", 5);
}

static uint32_t hash_of(const uint8_t *data, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ data[i]) * 16777619u;
    return h ^ h >> 15;
}

static void load(const char *path, int64_t block, int threads, struct outcome *o)
{
    memset(o, 0, sizeof *o);
    mtx_hooks(block, threads);
    memory_pretend(MEMORY_MOST); /* the sizes of a list are its largest indices, however short it is */
    file_load_system(path, NULL, NULL, &o->A, &o->sides, &o->info, &o->e);
    memory_pretend(0);
    mtx_hooks(0, 0);
}

static bool no_memory(const struct outcome *o)
{
    return o->e.code == E_MEMORY;
}

static bool well_formed(const struct outcome *o, char *how, size_t room)
{
    struct err why = {0};
    bool ok = o->e.code ? o->e.text[0] && !o->A.rowptr && !o->A.col && !o->A.val && !o->sides.b && !o->sides.x
                        : csr_check(&o->A, &why);
    if (!ok) snprintf(how, room, "%s", o->e.code ? "a refusal without a word, or with a matrix" : why.text);
    return ok;
}

static bool same_notes(const struct load_info *a, const struct load_info *b)
{
    bool same = a->nwarnings == b->nwarnings && a->nnz_stored == b->nnz_stored && a->duplicates == b->duplicates &&
                a->explicit_zeros == b->explicit_zeros && !strcmp(a->field, b->field) &&
                !strcmp(a->symmetry, b->symmetry);
    for (int i = 0; same && i < a->nwarnings; i++) same = !strcmp(a->warning[i], b->warning[i]);
    return same;
}

static bool same_numbers(int64_t n, const double *a, const double *b)
{
    return !a == !b && (!a || !memcmp(a, b, (size_t)n * sizeof *a));
}

static bool same_sides(const struct sides *a, const struct sides *b)
{
    return a->n == b->n && same_numbers(a->n * a->b_each, a->b, b->b) && same_numbers(a->n * a->x_each, a->x, b->x);
}

static void outcome_free(struct outcome *o)
{
    csr_free(&o->A);
    sides_free(&o->sides);
}

static bool same_outcome(const struct outcome *a, const struct outcome *b, char *how, size_t room)
{
    bool same =
        a->e.code == b->e.code && !strcmp(a->e.where, b->e.where) && !strcmp(a->e.text, b->e.text) &&
        (a->e.code || (csr_equal(&a->A, &b->A) && same_sides(&a->sides, &b->sides) && same_notes(&a->info, &b->info)));
    if (!same)
        snprintf(how, room, "one thread says \"%s %s\", several \"%s %s\"", a->e.where, a->e.code ? a->e.text : "good",
                 b->e.where, b->e.code ? b->e.text : "good");
    return same;
}

/* Load with one thread first, then with threads and block sizes chosen by the input's hash. */
static bool load_ways(const char *path, int ways, uint32_t h, const struct slow_mtx *slow, char *how, size_t room)
{
    const int64_t block[WAYS] = {0, 1 + h % 64, 16 << h / 64 % 8};
    const int threads[WAYS] = {1, 2 + h / 512 % 6, 1 + h / 4096 % 3};
    struct outcome first, other;
    load(path, block[0], threads[0], &first);
    bool ok = well_formed(&first, how, room);
    if (ok && slow && !no_memory(&first)) ok = slow_agrees(slow, &first.A, &first.e, how, room);
    for (int i = 1; ok && i < ways; i++) {
        load(path, block[i], threads[i], &other);
        ok = well_formed(&other, how, room) &&
             (no_memory(&first) || no_memory(&other) || same_outcome(&first, &other, how, room));
        outcome_free(&other);
    }
    outcome_free(&first);
    return ok;
}

/* Does a line name AMGX's sections, which the slow reader does not know? */
static bool has_sections(const uint8_t *data, size_t n)
{
    for (size_t i = 0; i + 6 <= n; i++)
        if (data[i] == '%' && (!strncasecmp((const char *)data + i + 1, "%amgx", 5) ||
                               (i + 7 <= n && !strncasecmp((const char *)data + i + 1, "%nvamg", 6))))
            return true;
    return false;
}

static void load_vectors(const char *path)
{
    double x[VECTOR], *columns = NULL;
    int64_t k;
    mtx_load_vector(path, VECTOR, x, NULL);
    if (mtx_load_columns(path, VECTOR, false, &columns, &k, NULL)) mem_free(columns);
}

bool fuzz_load(const uint8_t *data, size_t n, char *how, size_t room)
{
    struct slow_mtx slow;
    const struct file_kind *kind = kind_of(data, n);
    bool text = !kind && !is_packed(data, n), streamed = !kind || kind->packed;
    const char *path = file_of(data, n);
    if (!text) return load_ways(path, streamed ? WAYS : 1, hash_of(data, n), NULL, how, room);
    slow_read((const char *)data, n, true, &slow);
    const struct slow_mtx *compared = has_sections(data, n) ? NULL : &slow;
    bool ok = slow.rows > ROWS_MAX || load_ways(path, WAYS, hash_of(data, n), compared, how, room);
    if (slow.rows <= ROWS_MAX) load_vectors(path);
    slow_free(&slow);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char how[1024] = "";
    if (fuzz_load(data, n, how, sizeof how)) return 0;
    fprintf(stderr, "%s\n", how);
    abort();
}

#ifdef FUZZ_MAIN
static void run(FILE *f)
{
    static uint8_t data[1 << 20];
    LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, f));
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) return perror(argv[i]), 1;
        run(f);
        fclose(f);
    }
#ifdef __AFL_LOOP
    while (argc < 2 && __AFL_LOOP(10000)) {
        fseek(stdin, 0, SEEK_SET);
        run(stdin);
    }
#else
    if (argc < 2) run(stdin);
#endif
    return 0;
}
#endif
