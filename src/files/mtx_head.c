/* Read the banner and the size line. The functions below check both lines more strictly than NIST's mmio does. Then
   mmio reads both lines again. */
#include <stdio.h>

#include "base/stream.h"
#include "base/text.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "mtx.h"

#include <lpsolve/mmio.h>
#include <string.h>

enum { HEAD_BLOCK = 4096, BANNER_WORDS = 5, SIZES = 3, SHORT = 1 << 16 };

struct word {
    const char *s;
    size_t n;
};

/* Split a line at blanks, up to its end or a comment. Returns the number of words; stores at most `most` of them. */
static int split(const char *p, struct word *w, int most)
{
    int n = 0;
    for (p = skip_blanks(p); !ends_numbers(*p); p = skip_blanks(skip_token(p)), n++)
        if (n < most) w[n] = (struct word){p, (size_t)(skip_token(p) - p)};
    return n;
}

static const char *const objects[] = {"matrix", "vector", NULL};
static const char *const layouts[] = {"coordinate", "array", NULL};
static const char *const fields[] = {"real", "integer", "pattern", "complex", "double", "unsigned-integer", NULL};
static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};

/* The index of a banner word in the list of valid words. If the word is not in the list, returns -1 with an error that
   shows the list. */
static int choose(const char *what, struct word w, const char *const *list, const char *where, struct err *e)
{
    char all[128] = "", quote[QUOTE];
    for (int i = 0; list[i]; i++) {
        if (same_word(w.s, w.n, list[i])) return i;
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", list[i]);
    }
    fail_at(e, E_INPUT, where, "unknown %s \"%s\" in the banner; it must be one of %s", what,
            quoted(w.s, w.s + w.n, quote), all);
    return -1;
}

/* Check the keyword of the banner; common misspellings are accepted with a note. */
static bool keyword(struct word w, int64_t line, const char *where, struct notes *t, struct err *e)
{
    static const char exact[] = "%%MatrixMarket", name[] = "matrixmarket";
    char quote[QUOTE];
    size_t percents = 0, n = sizeof name - 1;
    while (percents < 2 && percents < w.n && w.s[percents] == '%') percents++;
    const char *after = w.s + percents;
    bool named = percents && w.n - percents >= n && same_word(after, n, name);
    if (!named && is_binary(w.s, line_end(w.s, w.s + 80)))
        return fail_at(e, E_INPUT, where,
                       "no banner: this is a binary file of an unknown kind; `help load` lists the "
                       "kinds that can be read");
    if (!named)
        return fail_at(
            e, E_INPUT, where,
            "no banner: the file must begin with \"%s matrix coordinate real general\" or similar, not with \"%s\"",
            exact, quoted(w.s, line_end(w.s, w.s + 80), quote));
    if (w.n > percents + n)
        return fail_at(e, E_INPUT, where, "no blank after %s in \"%s\"", exact, quoted(w.s, w.s + w.n, quote));
    if (percents == 1) note(t, NOTE_PERCENT, line);
    if (memcmp(after, exact + 2, n)) note(t, NOTE_CASE, line);
    return true;
}

/* Refuse combinations of banner words that have no meaning. */
static bool combine(const struct head *h, const char *where, struct err *e)
{
    if (h->array && h->field == PATTERN)
        return fail_at(e, E_INPUT, where, "an array has values, so its field cannot be pattern; use coordinate");
    if (h->field == PATTERN && (h->symmetry == SKEW || h->symmetry == HERMITIAN))
        return fail_at(e, E_INPUT, where, "a pattern matrix cannot be %s; it must be general or symmetric",
                       symmetries[h->symmetry]);
    if (h->vector && h->symmetry != GENERAL)
        return fail_at(e, E_INPUT, where, "a vector cannot be %s; write general", symmetries[h->symmetry]);
    return true;
}

/* Let mmio read the banner in NIST's spelling; store the names that mmio returns in *h. mmio keeps the names in a
   static buffer, so only one thread at a time may call this function. */
static bool names_from_mmio(struct head *h, const char *where, struct err *e)
{
    char line[128], format[16];
    const char *words = NULL;
    MM_typecode code;
    /* mmio does not support vectors. mmio supports hermitian only for complex matrices. */
    int n = snprintf(line, sizeof line, "%s matrix %s %s %s\n", MatrixMarketBanner, layouts[h->array], fields[h->field],
                     symmetries[h->symmetry]);
    FILE *f = fmemopen(line, (size_t)n, "r");
    if (!f) return fail_at(e, E_MEMORY, where, "out of memory: the banner could not be read");
    bool ok = mm_read_banner(f, &code) == 0 && (words = mm_typecode_to_str(code));
    fclose(f);
    if (ok) ok = sscanf(words, "%15s %15s %15s %15s", h->object, format, h->field_word, h->symmetry_word) == 4;
    if (h->vector) snprintf(h->object, sizeof h->object, "vector");
    return ok || fail_at(e, E_INTERNAL, where, "mmio does not know the banner \"%.*s\"", n - 1, line);
}

static bool banner(struct head *h, const char *s, const char *where, struct notes *t, struct err *e)
{
    struct word w[BANNER_WORDS] = {0};
    const char *first = skip_blanks(s), *word = first;
    while (!is_blank(*word) && !is_eol(*word)) word++;
    w[0] = (struct word){first, (size_t)(word - first)};
    if (!keyword(w[0], h->lines, where, t, e)) return false;
    int n = 1 + split(word, w + 1, BANNER_WORDS - 1);
    if (n < BANNER_WORDS)
        return fail_at(
            e, E_INPUT, where,
            "the banner has %d of the four words after %%%%MatrixMarket (matrix, coordinate or array, field, symmetry)",
            n - 1);
    int object = choose("object", w[1], objects, where, e), format = choose("format", w[2], layouts, where, e);
    int field = choose("field", w[3], fields, where, e), symmetry = choose("symmetry", w[4], symmetries, where, e);
    if (object < 0 || format < 0 || field < 0 || symmetry < 0) return false;
    h->vector = object == 1;
    h->array = format == 1;
    h->is_unsigned = field == 5;
    h->field = field == 4 ? REAL : field == 5 ? INTEGER : (enum field)field;
    h->symmetry = (enum symmetry)symmetry;
    if (n > BANNER_WORDS) note(t, NOTE_EXTRA, h->lines);
    if (h->vector) note(t, NOTE_VECTOR, h->lines);
    if (!combine(h, where, e) || !names_from_mmio(h, where, e)) return false;
    if (h->symmetry == HERMITIAN && h->field != COMPLEX) {
        note(t, NOTE_HERMITIAN, h->lines);
        h->symmetry = SYMMETRIC;
    }
    return true;
}

int64_t column_start(const struct head *h, int64_t c)
{
    if (h->symmetry == GENERAL) return c * h->rows;
    return c * (h->rows - (h->symmetry == SKEW)) - c * (c - 1) / 2;
}

int64_t column_top(const struct head *h, int64_t c)
{
    return h->symmetry == GENERAL ? 0 : c + (h->symmetry == SKEW);
}

static bool size_numbers(const char *s, int64_t *size, int *found, const char *where, struct err *e)
{
    static const char *const names[] = {"rows", "columns", "entries"};
    struct word w[SIZES] = {0};
    char quote[QUOTE];
    *found = split(s, w, SIZES);
    for (int i = 0; i < SIZES && i < *found; i++) {
        enum integer_fault fault = read_integer(w[i].s, w[i].n, &size[i]);
        if (fault || size[i] < 0)
            return fail_at(e, fault == FAULT_TOO_LARGE ? E_LIMIT : E_INPUT, where,
                           "the number of %s on the size line is %s: \"%s\"%s", names[i],
                           fault ? integer_fault_text[fault] : "a negative number",
                           quoted(w[i].s, w[i].s + w[i].n, quote), comment_advice(w[i].s, w[i].s + w[i].n));
    }
    return true;
}

/* Check how many numbers the size line has. A vector may omit its number of columns. */
static bool size_shape(struct head *h, int64_t *size, int found, const char *where, struct err *e)
{
    int full = h->array ? 2 : 3;
    bool short_vector = h->vector && found == full - 1;
    if (found != full && !short_vector)
        return fail_at(e, E_INPUT, where, "the size line has %s, but needs %d (%s)", how_many(found, "number").text,
                       full, h->array ? "rows columns" : "rows columns entries");
    if (short_vector) {
        size[2] = size[1];
        size[1] = 1;
    }
    h->rows = size[0];
    h->cols = size[1];
    h->entries = h->array ? 0 : size[2];
    h->indices = h->array ? 0 : short_vector ? 1 : 2;
    h->values = h->field == PATTERN ? 0 : h->field == COMPLEX ? 2 : 1;
    if (h->vector && h->cols != 1)
        return fail_at(e, E_INPUT, where, "the vector has %lld columns; a vector must have one column",
                       (long long)h->cols);
    return h->symmetry == GENERAL || h->rows == h->cols ||
           fail_at(e, E_INPUT, where, "the matrix is %lld x %lld, but a %s matrix must be square", (long long)h->rows,
                   (long long)h->cols, symmetries[h->symmetry]);
}

/* Check that the file is long enough for the declared size, before memory is allocated for it. If at most SHORT bytes
   are left, the check accepts lines that are too short for their numbers, so that a later error can name the
   line that lacks a number. */
static bool size_fits(struct head *h, int64_t left, const char *where, struct err *e)
{
    struct err why = {0};
    int64_t least = 2 * (h->indices + h->values); /* each number has at least one digit and a blank or line end */
    int64_t line = left <= SHORT ? 2 : least;
    if (h->rows > INT32_MAX)
        return fail_at(
            e, E_LIMIT, where,
            "%lld x %lld is too large: at most %d rows fit in 32-bit indices; .wsb and .npz files may have more",
            (long long)h->rows, (long long)h->cols, INT32_MAX);
    if (!csr_limits_any(h->rows, h->cols, h->entries, &why)) return fail_at(e, why.code, where, "%s", why.text);
    if (h->array) h->entries = column_start(h, h->cols);
    if (!csr_limits_any(h->rows, h->cols, h->entries, &why)) return fail_at(e, why.code, where, "%s", why.text);
    if (!sections_count(h, where, e)) return false;
    if (left < INT64_MAX && h->entries * line <= left + 1 && h->entries * line + 2 * h->amgx.numbers > left + 1)
        return fail_at(e, E_INPUT, where,
                       "%lld entries and the %lld numbers that the AMGX line promises after them do not fit in the "
                       "%lld bytes that follow; the file is truncated",
                       (long long)h->entries, (long long)h->amgx.numbers, (long long)left);
    if (left < INT64_MAX && h->entries * line > left + 1)
        return fail_at(e, E_INPUT, where,
                       "the size line declares %lld entries, but the %lld bytes that follow can hold at most %lld; the "
                       "file is truncated or the count is wrong",
                       (long long)h->entries, (long long)left, (long long)((left + 1) / least));
    return true;
}

/* Write the size line for mmio: the line of the file, or a new line if the line of the file is too long or omits the
   columns of a vector. */
static size_t line_for_mmio(const struct head *h, const char *s, int found, char line[MM_MAX_LINE_LENGTH])
{
    size_t n = strcspn(s, "%\r\n");
    bool whole = n + 2 <= MM_MAX_LINE_LENGTH && found == (h->array ? 2 : 3);
    if (whole) return (size_t)snprintf(line, MM_MAX_LINE_LENGTH, "%.*s\n", (int)n, s);
    return (size_t)snprintf(line, MM_MAX_LINE_LENGTH, "%lld %lld %lld\n", (long long)h->rows, (long long)h->cols,
                            (long long)h->entries);
}

/* mmio reads sizes as int, so call size_fits first. mmio cannot read a larger number of entries. */
static bool mmio_agrees(const struct head *h, const char *s, int found, const char *where, struct err *e)
{
    char line[MM_MAX_LINE_LENGTH];
    int rows = 0, cols = 0, entries = 0;
    if (h->entries > INT32_MAX) return true;
    FILE *f = fmemopen(line, line_for_mmio(h, s, found, line), "r");
    if (!f) return fail_at(e, E_MEMORY, where, "out of memory: the size line could not be read");
    int error = h->array ? mm_read_mtx_array_size(f, &rows, &cols) : mm_read_mtx_crd_size(f, &rows, &cols, &entries);
    fclose(f);
    bool same = !error && rows == h->rows && cols == h->cols && (h->array || entries == h->entries);
    return same ||
           fail_at(e, E_INTERNAL, where, "mmio reads the size line as %d %d %d (error %d), not as %lld %lld %lld", rows,
                   cols, entries, error, (long long)h->rows, (long long)h->cols, (long long)h->entries);
}

static bool size_line(struct head *h, const char *s, int64_t left, const char *where, struct notes *t, struct err *e)
{
    int64_t size[SIZES] = {0};
    int found;
    const char *p = s;
    if (!size_numbers(s, size, &found, where, e) || !size_shape(h, size, found, where, e) ||
        !size_fits(h, left, where, e) || !mmio_agrees(h, s, found, where, e))
        return false;
    while (*p != '%' && !is_eol(*p)) p++;
    if (*p == '%') note(t, NOTE_COMMENT, h->lines);
    if (!h->array && h->entries > h->rows * h->cols) note(t, NOTE_CROWDED, h->lines);
    return true;
}

enum stage { BANNER, SIZE, DONE, BAD };

static enum stage first_line(struct head *h, const char *s, const char *end, const char *where, struct notes *t,
                             struct err *e)
{
    const char *p = s, *kind = foreign_kind(s, end - s);
    if (h->lines == 1) p = skip_mark(s, end);
    if (p > s) note(t, NOTE_BOM, 1);
    if (kind) {
        fail_at(e, E_INPUT, where, "this is not a matrix file but %s", kind);
        return BAD;
    }
    if (is_blank(*p) || is_eol(*p)) note(t, NOTE_LEADING, h->lines);
    p = skip_blanks(p);
    if (is_eol(*p)) return BANNER;
    return banner(h, p, where, t, e) ? SIZE : BAD;
}

static enum stage take_line(struct head *h, enum stage stage, const struct text *text, const char *s, int64_t after,
                            const char *path, struct notes *t, struct err *e)
{
    char where[PATH_LINE];
    const char *p = skip_blanks(s), *end = text->s + text->n;
    if (h->lines++ && stage == BANNER && is_eol(*p)) return BANNER; /* if line 1 is blank, first_line adds a note */
    if (stage == SIZE && is_eol(*p)) return SIZE;
    path_line(path, h->lines, where);
    if (stage == SIZE && *p == '%') return graphblas_line(h, p) || sections_line(h, p, where, e) ? SIZE : BAD;
    if (stage == BANNER) return first_line(h, s, end, where, t, e);
    int64_t left = after == INT64_MAX ? after : after + (end - next_line(line_end(s, end), end));
    return size_line(h, s, left, where, t, e) ? DONE : BAD;
}

static void missing(const struct head *h, enum stage stage, const char *path, struct err *e)
{
    char where[PATH_LINE];
    bool empty = stage == BANNER;
    path_line(path, h->lines ? h->lines : 1, where);
    fail_at(e, E_INPUT, where, "%s",
            empty ? "no banner: the file is empty" : "no size line: the file ends after its banner");
}

/* Process the lines of one block. The text after the size line is given back to l, which delivers it again as part of
   the body. */
static enum stage take_block(struct lines *l, struct head *h, enum stage stage, const struct text *text,
                             const char *path, struct notes *t, struct err *e)
{
    const char *p = text->s, *end = p + text->n;
    if (p == end) {
        missing(h, stage, path, e);
        return BAD;
    }
    for (; p < end && stage < DONE; p = next_line(line_end(p, end), end)) {
        for (; stage == SIZE && p < end && is_eol(*p); h->lines++) p = next_line(p, end);
        if (p < end) stage = take_line(h, stage, text, p, lines_left(l), path, t, e);
    }
    return stage == DONE && !lines_back(l, p, end - p, e) ? BAD : stage;
}

static bool next_block(struct lines *l, struct watch *w, struct text *text, struct err *e)
{
    int64_t done, total;
    stream_progress(l->stream, &done, &total);
    return watch_tick(w, "reading", done, total, e) && lines_next(l, text, e);
}

bool head_read(struct lines *l, const char *path, struct watch *w, struct head *h, struct notes *t, struct err *e)
{
    char where[PATH_LINE];
    struct text text = {0};
    struct err why = {0};
    enum stage stage = BANNER;
    int64_t block = l->block;
    l->block =
        block > HEAD_BLOCK ? block : HEAD_BLOCK; /* recognising a file of a different kind needs more than one line */
    while (stage < DONE) stage = next_block(l, w, &text, &why) ? take_block(l, h, stage, &text, path, t, e) : BAD;
    if (why.code == E_INPUT || why.code == E_LIMIT || why.code == E_IO)
        fail_at(e, why.code, path_line(path, h->lines + 1, where), "%s", why.text);
    else if (why.code)
        fail(e, why.code, "%s", why.text);
    l->block = block;
    text_free(&text);
    return stage == DONE;
}
