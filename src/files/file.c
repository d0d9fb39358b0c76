/* The kinds of matrix files: selected by content for reading, by file name for writing. */
#include "file.h"
#include "base/clock.h"
#include "base/data_folder.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/stream.h"
#include "base/text.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "sides.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_KIND(id) extern const struct file_kind file_##id;
#include "files.def"
#undef FILE_KIND

const struct file_kind *const file_kinds[] = {
#define FILE_KIND(id) &file_##id,
#include "files.def"
#undef FILE_KIND
    NULL,
};

bool file_bad(const struct source *s, struct err *e, const char *fmt, ...)
{
    char text[sizeof e->text];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return fail_at(e, E_INPUT, s->where, "%s", text);
}

bool file_at(const struct source *s, const struct err *why, struct err *e)
{
    return fail_at(e, why->code, why->where[0] ? why->where : s->where, "%s", why->text);
}

void file_note(struct load_info *info, const char *fmt, ...)
{
    va_list args;
    if (info->nwarnings == WARNINGS_MAX) return;
    va_start(args, fmt);
    vsnprintf(info->warning[info->nwarnings++], sizeof info->warning[0], fmt, args);
    va_end(args);
}

/* A fault after the first bytes is left to the kind, which reports it where it reads on. */
static bool read_begin(struct source *s, struct err *e)
{
    struct err why = {0};
    int64_t got = 1;
    while (s->n < FILE_BEGIN && got > 0) {
        got = stream_read(s->stream, s->begin + s->n, FILE_BEGIN - s->n, &why);
        s->n += got > 0 ? got : 0;
    }
    return got >= 0 || s->n > 0 || file_at(s, &why, e);
}

/* The kind that recognises the first n bytes of a file; otherwise the kind that loads all other files. */
static const struct file_kind *kind_of(const char *begin, int64_t n)
{
    int i = 0;
    while (file_kinds[i + 1] && !(file_kinds[i]->recognises && file_kinds[i]->recognises(begin, n))) i++;
    return file_kinds[i];
}

bool file_is_recognised(const char *begin, int64_t n)
{
    const struct file_kind *kind = kind_of(begin, n);
    return kind->recognises && !kind->graph && !kind->lists;
}

static void note_not_finite(const struct csr *A, struct load_info *info)
{
    int64_t k = first_not_finite(A->nnz, A->val);
    if (k < A->nnz)
        file_note(info, "the first inf or nan is in row %lld, column %d (counted from 0)", (long long)csr_row_of(A, k),
                  A->col[k]);
}

/* Only some kinds can be read from a pipe or a compressed file. */
static bool is_open_to(const struct file_kind *kind, const struct source *s, struct err *e)
{
    if (kind->packed || stream_size(s->stream) >= 0) return true;
    return file_bad(s, e,
                    stream_is_pipe(s->stream) ? "a %s file cannot be read from a pipe; write it to a file first"
                                              : "a compressed %s file cannot be read; unpack it first",
                    kind->name);
}

static bool load_kind(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    const struct file_kind *kind = kind_of(s->begin, s->n);
    if (!is_open_to(kind, s, e)) return false;
    if (s->part && !kind->has_parts)
        return fail_at(e, E_USAGE, s->where, "`variable` needs a file with named variables, but this file is %s",
                       kind->about);
    if (s->list && !kind->lists)
        return fail_at(e, E_USAGE, s->where,
                       "`from`, `rows` and `cols` are for lists of entries without a header, but this file is %s",
                       kind->about);
    if (!kind->load(s, w, A, info, e)) return false;
    if (!kind->notes_not_finite) note_not_finite(A, info);
    if (loop_unbroken("load", e)) return true;
    csr_free(A);
    return false;
}

static bool is_readable(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK);
}

/* Is there a first part that the path names without its ending? Store its path in name[PATH_MAX]. */
static bool find_first_part(const char *path, char *name)
{
    for (int i = 0; file_kinds[i]; i++)
        for (const char *p = file_kinds[i]->first_parts; p && *p; p += strspn(p, " ")) {
            int n = (int)strcspn(p, " ");
            if (snprintf(name, PATH_MAX, "%s%.*s", path, n, p) < PATH_MAX && is_readable(name)) return true;
            p += n;
        }
    return false;
}

/* Open the file, or the first part that the path names, and read its first bytes. The path of a part is stored in
   name[PATH_MAX]. */
static bool source_open(struct source *s, const char *path, char *name, struct err *e)
{
    s->path = access(path, F_OK) && find_first_part(path, name) ? name : path;
    print_safe(s->path, strlen(s->path), 200, s->where, sizeof s->where);
    s->stream = stream_open(s->path, e);
    return s->stream && read_begin(s, e);
}

bool file_load_array(const char *path, struct dense_array *d, struct err *e)
{
    char name[PATH_MAX];
    struct stat st;
    struct source s = {0};
    *d = (struct dense_array){0};
    if (!stat(path, &st) && !S_ISREG(st.st_mode)) return true; /* a pipe can be read only once */
    bool ok = source_open(&s, path, name, e);
    const struct file_kind *kind = ok ? kind_of(s.begin, s.n) : NULL;
    ok = ok && (!kind->load_array || (is_open_to(kind, &s, e) && kind->load_array(&s, d, e)));
    stream_close(s.stream);
    return ok;
}

bool file_load_list(const char *path, const char *part, const struct list_words *list, struct watch *w, struct csr *A,
                    struct sides *sides, struct load_info *info, struct err *e)
{
    char name[PATH_MAX];
    double start = now_us();
    struct source s = {.part = part, .list = list, .sides = sides};
    memset(info, 0, sizeof *info);
    memset(A, 0, sizeof *A);
    *sides = (struct sides){0};
    struct watch *before = loop_watch();
    if (before != w) loop_enter(w);
    bool ok = source_open(&s, path, name, e) && load_kind(&s, w, A, info, e);
    stream_close(s.stream);
    if (before != w) loop_enter(before);
    if (!ok) {
        sides_free(sides);
        return false;
    }
    snprintf(info->file, sizeof info->file, "%s", s.path);
    info->ms = (now_us() - start) / 1000;
    return true;
}

bool file_load_system(const char *path, const char *part, struct watch *w, struct csr *A, struct sides *sides,
                      struct load_info *info, struct err *e)
{
    return file_load_list(path, part, NULL, w, A, sides, info, e);
}

bool file_load(const char *path, const char *part, struct watch *w, struct csr *A, struct load_info *info,
               struct err *e)
{
    struct sides unused;
    bool ok = file_load_system(path, part, w, A, &unused, info, e);
    sides_free(&unused);
    return ok;
}

/* ---- names ---- */

static bool ends_in(const char *path, const char *ending, size_t n)
{
    size_t length = strlen(path);
    return length > n && !strncasecmp(path + length - n, ending, n);
}

static bool has_ending(const struct file_kind *kind, const char *path)
{
    for (const char *p = kind->endings; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        if (ends_in(path, p, n)) return true;
        p += n;
    }
    return false;
}

bool file_is_likely(const char *path)
{
    for (int i = 0; file_kinds[i]; i++)
        if (has_ending(file_kinds[i], path)) return true;
    return is_readable(path);
}

static bool find_ending(const char *folder, const char *path, const char *endings, char *out, size_t size)
{
    for (const char *p = endings; *p; p += strspn(p, " ")) {
        int n = (int)strcspn(p, " ");
        if ((size_t)snprintf(out, size, "%s%s%.*s", folder, path, n, p) < size && is_readable(out)) return true;
        p += n;
    }
    return false;
}

bool file_find_in(const char *folder, const char *path, char *out, size_t size)
{
    if ((size_t)snprintf(out, size, "%s%s", folder, path) < size && is_readable(out)) return true;
    for (int i = 0; file_kinds[i]; i++)
        if (find_ending(folder, path, file_kinds[i]->endings, out, size)) return true;
    return find_ending(folder, path, ".tar.gz .mtx.xz .mtx.zst .mtx.bz2", out, size);
}

size_t file_stem(const char *name, size_t n)
{
    for (int i = 0; file_kinds[i]; i++)
        for (const char *p = file_kinds[i]->endings; *p; p += strspn(p, " ")) {
            size_t length = strcspn(p, " ");
            if (n > length && !strncasecmp(name + n - length, p, length)) return n - length;
            p += length;
        }
    return n;
}

void file_list_kinds(bool saved, char *out, size_t size)
{
    enum { WIDTH = 79 };
    char item[256];
    size_t column = 0;
    for (int i = 0; file_kinds[i]; i++) {
        const struct file_kind *kind = file_kinds[i];
        if (saved && !kind->save) continue;
        int n = snprintf(item, sizeof item, "%s (%s)", kind->about, kind->endings);
        text_append(out, size, "%s%s", !column ? "" : column + (size_t)n > WIDTH ? ";\n" : "; ", item);
        column = column && column + (size_t)n <= WIDTH ? column + 2 + (size_t)n : (size_t)n;
    }
    text_append(out, size, ".\n");
}

bool file_near(const char *path, char *out, size_t size)
{
    char data[3840], folder[4096];
    if (file_find_in("", path, out, size)) return true;
    if (strchr(path, '/')) return false;
    if (file_find_in("samples/", path, out, size)) return true;
    for (int i = 0; data_folder(i, data, sizeof data); i++) {
        snprintf(folder, sizeof folder, "%s/samples/", data);
        if (*data && file_find_in(folder, path, out, size)) return true;
    }
    return false;
}

/* Refuse a large matrix unless the kind saves it; the error lists the kinds that do. */
static bool takes_size(const struct file_kind *kind, const struct csr *A, struct err *e)
{
    char larger[128] = "";
    if (kind->large || !csr_is_large(A)) return true;
    for (int i = 0; file_kinds[i]; i++) {
        size_t used = strlen(larger);
        if (file_kinds[i]->large && file_kinds[i]->save)
            snprintf(larger + used, sizeof larger - used, "%s%s", used ? " " : "", file_kinds[i]->endings);
    }
    return fail(e, E_LIMIT, "%s files store at most %lld rows and nonzeros; save a larger matrix as %s", kind->name,
                (long long)csr_most_small(), larger);
}

const struct file_kind *file_kind_of_path(const char *path)
{
    for (int i = 0; file_kinds[i]; i++)
        if (file_kinds[i]->save && has_ending(file_kinds[i], path)) return file_kinds[i];
    return NULL;
}

/* The first extensions of the kinds that save right sides without a word, or guesses: ".wsb, .npz and .mat". */
static void endings_with(bool guesses, char *out, size_t size)
{
    const char *last = NULL;
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; file_kinds[i]; i++) {
        const struct file_kind *k = file_kinds[i];
        if (guesses ? !k->saves_guesses : !k->saves_sides || k->sides_word) continue;
        if (last)
            used +=
                (size_t)snprintf(out + used, size - used, "%s%.*s", used ? ", " : "", (int)strcspn(last, " "), last);
        last = k->endings;
    }
    if (last) snprintf(out + used, size - used, "%s%.*s", used ? " and " : "", (int)strcspn(last, " "), last);
}

int file_save_losses(const struct file_kind *kind, const struct sides *sides, bool written,
                     char text[LOSSES][LOSS_ROOM])
{
    int n = 0;
    char endings[64];
    const char *word = kind->sides_word;
    endings_with(false, endings, sizeof endings);
    if (sides->n && !written)
        snprintf(text[n++], LOSS_ROOM, "the right side%s not written; %s%s%s%s files contain right sides",
                 sides->n == 1 ? " is" : "s are", word ? "`" : "", word ? word : "",
                 word ? "` adds it in AMGX's way, and " : "", endings);
    endings_with(true, endings, sizeof endings);
    if (sides->guess && written && !kind->saves_guesses)
        snprintf(text[n++], LOSS_ROOM, "the guess%s not written; %s files contain guesses",
                 sides->n == 1 ? " of x is" : "es of x are", endings);
    return n;
}

bool file_save_system(const char *path, bool force, const struct csr *A, const struct sides *sides,
                      const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    char where[256], all[128] = "";
    const struct file_kind *kind = file_kind_of_path(path);
    if (kind) return takes_size(kind, A, e) && kind->save(path, force, A, sides, info, comment, w, e);
    for (int i = 0; file_kinds[i]; i++) {
        size_t used = strlen(all);
        if (file_kinds[i]->save)
            snprintf(all + used, sizeof all - used, "%s%s", used ? " " : "", file_kinds[i]->endings);
    }
    print_safe(path, strlen(path), 200, where, sizeof where);
    return fail_at(e, E_USAGE, where, "cannot write a file with this extension; the known extensions are %s", all);
}

bool file_save(const char *path, bool force, const struct csr *A, const struct load_info *info, const char *comment,
               struct watch *w, struct err *e)
{
    return file_save_system(path, force, A, NULL, info, comment, w, e);
}
