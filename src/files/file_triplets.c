/* Lists of triplets without a banner: i j, i j value, or i j real imaginary on each line. CSparse, CHOLMOD, SuperLU,
   SNAP, FROSTT, MATLAB's spconvert, tables with commas and Octave's text files have this form; plain.h says how they
   are recognised. The entries are parsed like those of Matrix Market files. */
#include "base/stream.h"
#include "base/text.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "mtx.h"
#include "plain.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHORT = 1 << 16 };

static bool recognises(const char *begin, int64_t n)
{
    struct plain t;
    plain_look(begin, n, n < FILE_BEGIN, &t);
    return t.kind == PLAIN_TRIPLETS || t.kind == PLAIN_OCTAVE;
}

/* Can a text of `bytes` bytes have the entries that the size line declares? */
static bool entries_fit(const struct source *s, const struct list *list, int64_t line, int64_t bytes, struct err *e)
{
    char where[PATH_LINE];
    if (list->entries < 0 || bytes == INT64_MAX || list->entries <= (bytes + 1) / 4) return true;
    if (bytes < SHORT && list->entries < SHORT) return true; /* a later error says where the file ends */
    return fail_at(
        e, E_INPUT, path_line(s->path, line, where),
        "the size line declares %lld entries, but the %lld bytes that follow can hold at most %lld; the file "
        "is truncated, or the count is wrong, or this line is an entry: give `rows` and `cols`",
        (long long)list->entries, (long long)bytes, (long long)(bytes + 1) / 4);
}

/* What the file and the user say about the list. */
static bool list_of(const struct source *s, const struct plain *t, struct list *list, struct err *e)
{
    static const struct list_words none = {-1, -1, -1};
    const struct list_words *words = s->list ? s->list : &none;
    bool octave = t->kind == PLAIN_OCTAVE;
    *list = (struct list){.first = words->first, .entries = -1, .square = t->numbers == 2, .stops = octave};
    list->rows = words->rows;
    list->cols = words->cols;
    if (octave) list->first = 1;
    if (!t->sized) return true;
    list->rows = t->size[0];
    list->cols = t->size[1];
    list->entries = t->size[2];
    list->stype = (int)t->size[3];
    if (list->stype && t->size[0] != t->size[1])
        return file_bad(s, e, "the matrix is %lld x %lld, but one that stores only a triangle must be square",
                        (long long)t->size[0], (long long)t->size[1]);
    struct err why = {0};
    return csr_limits_any(list->rows, list->cols, list->entries, &why) || file_at(s, &why, e);
}

/* Is this a tensor of order 3? FROSTT's files end in .tns, and the value is the last number of a line. */
static bool is_tensor(const struct source *s, const struct plain *t)
{
    size_t n = strlen(s->path);
    return t->numbers == 4 && n > 4 && !strcasecmp(s->path + n - 4, ".tns");
}

static bool check(const struct source *s, const struct plain *t, struct err *e)
{
    if (*t->variable) {
        char quote[QUOTE];
        return file_bad(s, e, "the first variable of this Octave file is not sparse but \"%s\"; save the matrix alone",
                        quoted(t->variable, t->variable + strlen(t->variable), quote));
    }
    if (t->kind == PLAIN_OCTAVE && (t->size[0] < 0 || t->size[1] < 0 || t->size[2] < 0))
        return file_bad(s, e, "the comments of this Octave file do not give nnz, rows and columns");
    if (t->numbers == 1 || t->numbers < 0 || t->numbers > 4)
        return file_bad(s, e, "the first entry does not consist of 2 to 4 numbers");
    return !is_tensor(s, t) || file_bad(s, e, "this is a tensor of order 3, not a matrix");
}

/* The kinds of lines: numbers per line, the values among them, and their field. */
static void describe(struct head *h, int numbers)
{
    static const char *const fields[] = {"pattern", "real", "complex"};
    static const enum field field[] = {PATTERN, REAL, COMPLEX};
    int values = numbers ? numbers - 2 : 1;
    h->indices = 2;
    h->values = values;
    h->field = field[values];
    snprintf(h->object, sizeof h->object, "matrix");
    snprintf(h->field_word, sizeof h->field_word, "%s", fields[values]);
    snprintf(h->symmetry_word, sizeof h->symmetry_word, "general");
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct plain t;
    struct list list;
    struct notes notes = {0};
    plain_look(s->begin, s->n, s->n < FILE_BEGIN, &t);
    if (s->list && (s->list->rows >= 0 || s->list->cols >= 0) && t.kind == PLAIN_TRIPLETS) plain_unsize(&t);
    struct head head = {.lines = t.lines, .list = &list};
    struct lines lines = {.stream = s->stream, .block = mtx_block(), .streamed = s->n};
    if (!check(s, &t, e) || !list_of(s, &t, &list, e)) return false;
    describe(&head, t.numbers);
    bool ok = lines_back(&lines, s->begin + t.start, s->n - t.start, e);
    int64_t bytes = lines_left(&lines);
    list_begin(&head, bytes);
    ok = ok && entries_fit(s, &list, t.lines, bytes, e) &&
         mtx_load_entries(&lines, &head, s->path, w, A, s->sides, &notes, info, e);
    lines_free(&lines);
    return ok;
}

const struct file_kind file_triplets = {
    .name = "triplets",
    .endings = ".tri .tns .csv",
    .about = "lists of i j [value], as of CSparse, SNAP or Octave",
    .packed = true,
    .notes_not_finite = true,
    .large = true,
    .lists = true,
    .recognises = recognises,
    .load = load,
};
