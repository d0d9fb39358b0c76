/* The lines of Rutherford-Boeing and Harwell-Boeing files, and the arrays in them. */
#include "base/stream.h"
#include "base/text.h"
#include "base/watch.h"
#include "file.h"
#include "load_info.h"
#include "rb.h"

#include <string.h>

enum { RB_BLOCK = 1 << 20, TICK_EVERY = 1 << 14, FORMAT_MAX = 128 };

bool rb_complex(const struct rb *r)
{
    return r->type[0] == 'C';
}

const char *rb_field(const struct rb *r)
{
    char type = r->type[0];
    return type == 'C' ? "complex" : type == 'I' ? "integer" : type == 'P' ? "pattern" : "real";
}

bool rb_bad(const struct rb *r, struct err *e, const char *needed, const char *found, const char *found_end)
{
    char where[PATH_LINE], quote[QUOTE];
    return fail_at(e, E_INPUT, path_line(r->s->path, r->number, where), "found \"%s\" instead of %s",
                   quoted(found, found_end, quote), needed);
}

bool rb_open(struct rb *r, struct source *s, struct watch *w, struct err *e)
{
    *r = (struct rb){.s = s, .watch = w, .lines = {.stream = s->stream, .block = RB_BLOCK, .streamed = s->n}};
    return lines_back(&r->lines, s->begin, s->n, e);
}

void rb_close(struct rb *r)
{
    lines_free(&r->lines);
    text_free(&r->text);
}

/* ---- lines and fields ---- */

bool rb_line(struct rb *r, const char *needed, struct err *e)
{
    char where[PATH_LINE];
    r->number++;
    if (r->p == r->end) {
        struct err why = {0};
        r->lines.streamed_at_entry = r->lines.streamed;
        if (!lines_next(&r->lines, &r->text, &why)) return file_at(r->s, &why, e);
        r->p = r->text.s;
        r->end = r->p + r->text.n;
        if (!r->text.n)
            return fail_at(e, E_INPUT, path_line(r->s->path, r->number, where),
                           "the file ends before %s; it is truncated", needed);
    }
    r->line = r->p;
    r->line_end = line_end(r->p, r->end);
    r->p = next_line(r->line_end, r->end);
    return true;
}

void rb_begin(struct rb *r, const struct format *f, int64_t n)
{
    r->format = f;
    r->item = -1;
    r->left = n;
}

static int64_t words_of(const struct rb *r)
{
    int64_t n = 0;
    for (const char *p = r->line; p < r->line_end; p++) n += !is_blank(*p) && (p == r->line || is_blank(p[-1]));
    return n;
}

/* Go to the next line of the array. Some programs, including SciPy, ignore the column widths that they state in the
   header. If a line has as many words as fields, each word is one field. Otherwise, the fields are read from their
   columns, and no blanks are needed between them. */
static bool next_fields(struct rb *r, const char *needed, struct err *e)
{
    bool first = r->item < 0;
    r->item = first ? 0 : r->format->again;
    int64_t fields = format_fields(r->format, r->item);
    if (!rb_line(r, needed, e)) return false;
    r->words = words_of(r) == (fields < r->left ? fields : r->left);
    r->next = r->line;
    r->repeated = 0;
    r->column = first ? 0 : -r->format->before;
    return true;
}

/* The columns of the next field, [*from, *to), which may lie beyond the end of the line. */
static void next_columns(struct rb *r, const struct edit *d, const char **from, const char **to)
{
    if (!r->repeated) r->column += d->skip;
    *from = r->line + r->column;
    *to = *from + d->width;
    r->column += d->width;
}

static void next_word(struct rb *r, const char **from, const char **to)
{
    for (*from = r->next; *from < r->line_end && is_blank(**from); (*from)++) {
    }
    for (*to = *from; *to < r->line_end && !is_blank(**to); (*to)++) {
    }
    r->next = *to;
}

/* Only the last line of a file may lack its line end. If it is shorter than its fields, too, its last number may be
 * cut.
 */
static bool is_cut(const struct rb *r, const char *columns_end)
{
    return r->line_end == r->end && columns_end > r->line_end;
}

/* Find the next field, [*from, *to). Returns its descriptor, or NULL if the line ends before it. */
static const struct edit *find_field(struct rb *r, const char *needed, const char **from, const char **to,
                                     struct err *e)
{
    static const char nothing[] = "the end of the line";
    if ((r->item < 0 || r->item == r->format->n) && !next_fields(r, needed, e)) return NULL;
    const struct edit *d = &r->format->edit[r->item];
    next_columns(r, d, from, to);
    bool cut = is_cut(r, *to);
    if (r->words) next_word(r, from, to);
    if (*from >= r->line_end)
        rb_bad(r, e, needed, nothing, nothing + strlen(nothing));
    else if (*to - *from > WIDTH_MAX)
        rb_bad(r, e, needed, *from, *to);
    else if (cut)
        rb_bad(r, e, "a whole number; the file is truncated, or its last line end is missing", *from, r->line_end);
    else
        return d;
    return NULL;
}

/* Copy the next field, without blanks, to to[WIDTH_MAX + 1]; *n is 0 if the field is blank. Returns its descriptor, or
   NULL on failure. */
static const struct edit *next_field(struct rb *r, const char *needed, char *to, size_t *n, struct err *e)
{
    const char *p, *stop;
    const struct edit *d = find_field(r, needed, &p, &stop, e);
    if (!d) return NULL;
    r->left--;
    if (++r->repeated == d->repeat) r->repeated = 0, r->item++;
    for (*n = 0; p < stop && p < r->line_end; p++)
        if (!is_blank(*p)) to[(*n)++] = *p;
    return d;
}

static bool next_integer(struct rb *r, const char *needed, int64_t *v, struct err *e)
{
    char text[WIDTH_MAX + 1];
    size_t n;
    if (!next_field(r, needed, text, &n, e)) return false;
    return !read_integer(text, n, v) || rb_bad(r, e, needed, text, text + n);
}

bool rb_value(struct rb *r, double *v, struct err *e)
{
    char text[WIDTH_MAX + 1];
    size_t n;
    const struct edit *d = next_field(r, "a value", text, &n, e);
    if (!d) return false;
    *v = 0;
    r->blanks += !n;
    return !n || edit_value(d, text, n, v) || rb_bad(r, e, "a value", text, text + n);
}

void rb_note_blanks(const struct rb *r, struct load_info *info)
{
    if (r->blanks) file_note(info, "%s read as 0, as Fortran does", how_many(r->blanks, "blank field").text);
}

/* ---- header lines ---- */

/* The right parenthesis that belongs to the left one at `open`; NULL if there is none before `end`. */
static const char *closing(const char *open, const char *end)
{
    int depth = 0;
    for (const char *p = open; p < end; p++) {
        depth += (*p == '(') - (*p == ')');
        if (!depth) return p;
    }
    return NULL;
}

bool rb_format(struct rb *r, const char **p, const char *needed, struct format *f, struct err *e)
{
    char text[FORMAT_MAX];
    size_t n = 0;
    const char *open = memchr(*p, '(', (size_t)(r->line_end - *p)), *close = open ? closing(open, r->line_end) : NULL;
    for (const char *q = open; close && ++q < close && n < sizeof text;)
        if (!is_blank(*q)) text[n++] = *q;
    if (!close || !format_parse(f, text, text + n)) return rb_bad(r, e, needed, *p, r->line_end);
    *p = close + 1;
    return true;
}

int rb_integers(const char *p, const char *end, int64_t *v, int most)
{
    int n = 0;
    while (p < end) {
        while (p < end && is_blank(*p)) p++;
        const char *from = p;
        while (p < end && !is_blank(*p)) p++;
        if (p == from) break;
        if (n == most || read_integer(from, (size_t)(p - from), &v[n])) return -1;
        n++;
    }
    return n;
}

/* ---- arrays ---- */

bool rb_enough_bytes(struct rb *r, int64_t rows, int64_t cols, bool pairs, struct err *e)
{
    int64_t left = lines_left(&r->lines), n;
    if (left == INT64_MAX) return true;
    left += r->end - r->p;
    if (__builtin_mul_overflow(rows, cols, &n) || __builtin_mul_overflow(n, pairs ? 2 : 1, &n)) n = INT64_MAX;
    return n <= left || file_bad(r->s, e, "%lld numbers do not fit in the remaining %lld bytes; the file is truncated",
                                 (long long)n, (long long)left);
}

static bool tick(struct rb *r, int64_t k, struct err *e)
{
    int64_t done, total;
    if (k % TICK_EVERY) return true;
    stream_progress(r->s->stream, &done, &total);
    return watch_tick(r->watch, "reading", done, total, e);
}

bool rb_indices(struct rb *r, const struct format *f, const char *what, int64_t n, int *to, struct err *e)
{
    rb_begin(r, f, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t v;
        if (!tick(r, k, e) || !next_integer(r, what, &v, e)) return false;
        if (v < 1 || v > INT32_MAX) return rb_bad(r, e, what, r->line, r->line_end);
        to[k] = (int)(v - 1);
    }
    return true;
}

bool rb_more(struct rb *r, int64_t n, double *re, double *im, struct err *e)
{
    for (int64_t k = 0; k < n; k++)
        if (!tick(r, k, e) || !rb_value(r, &re[k], e) || (im && !rb_value(r, &im[k], e))) return false;
    return true;
}

bool rb_values(struct rb *r, const struct format *f, int64_t n, double *re, double *im, struct err *e)
{
    rb_begin(r, f, im ? 2 * n : n);
    return rb_more(r, n, re, im, e);
}
