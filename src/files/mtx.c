/* Matrix Market files in: from a path to a matrix, with what was met on the way. */
#include <stdio.h>

#include "mtx.h"
#include "base/clock.h"
#include "matrix/csr.h"
#include "load_info.h"
#include "matrix_market.h"
#include "base/stream.h"

#include <omp.h>
#include <string.h>

static int64_t hook_block;
static int hook_threads;

void mtx_hooks(int64_t block, int threads)
{
    hook_block = block;
    hook_threads = threads;
}

void note(struct notes *t, enum note kind, int64_t line)
{
    if (!t->n[kind]++) t->line[kind] = line;
}

/* How each is said of one and of many; many NULL: it is not counted. */
static const struct {
    const char *one, *many;
} note_text[NOTES] = {
    [NOTE_BOM] = {"byte order mark skipped", NULL},
    [NOTE_LEADING] = {"blanks or blank lines before the banner skipped", NULL},
    [NOTE_CASE] = {"banner keyword not written as MatrixMarket, but in other case", NULL},
    [NOTE_PERCENT] = {"banner begins with one percent sign instead of two", NULL},
    [NOTE_EXTRA] = {"words after the banner's fifth ignored", NULL},
    [NOTE_VECTOR] = {"vector object read as a matrix of one column", NULL},
    [NOTE_HERMITIAN] = {"hermitian without imaginary parts read as symmetric", NULL},
    [NOTE_CROWDED] = {"more entries declared than the matrix has places, so some are duplicates", NULL},
    [NOTE_COMMENT] = {"comment after the size was read skipped", "comments after the size was read skipped"},
    [NOTE_FORTRAN] = {"Fortran exponent (1.5D+03, 1.5+103) read as e",
                      "Fortran exponents (1.5D+03, 1.5+103) read as e"},
    [NOTE_SPECIAL] = {"value is inf or nan", "values are inf or nan"},
    [NOTE_OVERFLOW] = {"value beyond the largest double became inf", "values beyond the largest double became inf"},
    [NOTE_FRACTION] = {"fraction in an integer file kept", "fractions in an integer file kept"},
    [NOTE_UPPER] = {"entry above the diagonal mirrored", "entries above the diagonal mirrored"},
    [NOTE_DIAGONAL] = {"zero on a skew-symmetric diagonal kept", "zeros on a skew-symmetric diagonal kept"},
    [NOTE_DUPLICATE] = {"duplicate entry summed", "duplicate entries summed"},
    [NOTE_EOF_BYTE] = {"DOS end-of-file byte at the end skipped", NULL},
    [NOTE_GARBAGE] = {"bytes after the gzip stream ignored", NULL},
};

static void note_say(int kind, int64_t n, int64_t line, char *to, size_t size)
{
    char place[32] = "", count[32] = "";
    if (line) snprintf(place, sizeof place, "line %lld: ", (long long)line);
    if (note_text[kind].many) snprintf(count, sizeof count, "%lld ", (long long)n);
    snprintf(to, size, "%s%s%s", place, count,
             n > 1 && note_text[kind].many ? note_text[kind].many : note_text[kind].one);
}

void notes_say(const struct notes *t, struct load_info *info)
{
    for (int i = 0; i < NOTES; i++)
        if (t->n[i] && info->nwarnings < WARNINGS_MAX)
            note_say(i, t->n[i], t->line[i], info->warning[info->nwarnings++], sizeof info->warning[0]);
}

static int64_t count_zeros(const struct csr *A)
{
    int64_t n = 0;
#pragma omp parallel for reduction(+ : n)
    for (int64_t k = 0; k < A->nnz; k++) n += A->val[k] == 0 && (!A->imag || A->imag[k] == 0);
    return n;
}

static void describe(const struct head *h, const char *path, const struct csr *A, struct load_info *info)
{
    snprintf(info->file, sizeof info->file, "%s", path);
    snprintf(info->object, sizeof info->object, "%s", h->object);
    snprintf(info->field, sizeof info->field, "%s", h->field_word);
    snprintf(info->symmetry, sizeof info->symmetry, "%s", h->symmetry_word);
    info->nnz_stored = h->entries;
    info->explicit_zeros = count_zeros(A);
}

static bool load_body(struct body *b, struct csr *A, struct notes *t, struct load_info *info, struct err *e)
{
    body_parse(b);
    bool ok = body_judge(b, t, e) && body_build(b, A, &info->duplicates, e);
    body_free(b);
    if (b->lines->eof_byte) note(t, NOTE_EOF_BYTE, 0);
    if (stream_garbage(b->lines->stream)) note(t, NOTE_GARBAGE, 0);
    t->n[NOTE_DUPLICATE] = info->duplicates;
    return ok;
}

bool mtx_load_stream(struct stream *stream, const char *begin, int64_t n, const char *path, struct watch *w,
                     struct csr *A, struct load_info *info, struct err *e)
{
    struct head head = {0};
    struct notes notes = {0};
    struct lines lines = {.stream = stream, .block = hook_block ? hook_block : MTX_BLOCK, .streamed = n};
    struct body body = {.head = &head,
                        .path = path,
                        .lines = &lines,
                        .watch = w,
                        .threads = hook_threads ? hook_threads : omp_get_max_threads()};
    bool ok = lines_back(&lines, begin, n, e) && head_read(&lines, path, w, &head, &notes, e) &&
              load_body(&body, A, &notes, info, e);
    lines_free(&lines);
    if (!ok) return false;
    describe(&head, path, A, info);
    notes_say(&notes, info);
    return true;
}

bool mtx_load(const char *path, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct load_info unused;
    double start = now_us();
    if (!info) info = &unused;
    memset(info, 0, sizeof *info);
    memset(A, 0, sizeof *A);
    struct stream *stream = stream_open(path, e);
    bool ok = stream && mtx_load_stream(stream, NULL, 0, path, w, A, info, e);
    stream_close(stream);
    if (ok) info->ms = (now_us() - start) / 1000;
    return ok;
}
