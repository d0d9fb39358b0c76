/* Find the lines of a Matrix Market file in which given entries of the loaded matrix are. The file is read again: all
   indices, but only the values of the wanted entries. */
#include "mtx_find.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/stream.h"
#include "base/watch.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "mtx.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char changed[] = "the file has changed since it was loaded; line numbers are not shown";

/* One pass over the file. */
struct pass {
    const struct csr *A;
    const struct head *h;
    struct mtx_find *f;
    uint32_t *first; /* for each entry of A, its first line; NULL: duplicates are not looked for */
    int open;        /* number of places and duplicates that are still to be found */
    int64_t line, entries;
    int64_t row, col; /* array files: row and column of the next value */
};

static int64_t written_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

void mtx_stamp(const char *path, struct load_info *info)
{
    struct stat st;
    info->text_bytes = info->text_ns = 0;
    if (strlen(path) >= sizeof info->file || stat(path, &st) || !S_ISREG(st.st_mode)) return;
    info->text_bytes = st.st_size;
    info->text_ns = written_ns(&st);
}

static bool same_file(const struct load_info *info, struct err *e)
{
    struct stat st;
    if (stat(info->file, &st))
        return fail(e, E_IO, "the file cannot be read again (%s); line numbers are not shown", strerror(errno));
    return (st.st_size == info->text_bytes && written_ns(&st) == info->text_ns) || fail(e, E_INPUT, changed);
}

/* ---- the row and column of an entry ---- */

static const char *take_index(const char *p, int64_t first, int64_t most, int64_t *index)
{
    p = skip_blanks(p);
    const char *end = skip_token(p);
    bool good = !read_integer(p, (size_t)(end - p), index) && *index >= first && *index < most + first;
    *index -= first;
    return good ? end : NULL;
}

/* An array file lists values by columns; a symmetric array file lists each column from the diagonal down. */
static void next_place(struct pass *s, int64_t *row, int64_t *col)
{
    while (s->row >= s->h->rows && s->col < s->h->cols) s->row = column_top(s->h, ++s->col);
    *row = s->row++;
    *col = s->col;
}

/* Read the row and column of an entry. Returns the position after the indices, or NULL if this is not the file that was
   loaded. */
static const char *place_at(struct pass *s, const char *p, int64_t *row, int64_t *col)
{
    const struct head *h = s->h;
    if (h->array) return next_place(s, row, col), p;
    *col = 0;
    if (!(p = take_index(p, first_index(h), h->rows, row))) return NULL;
    return h->indices < 2 ? p : take_index(p, first_index(h), h->cols, col);
}

/* ---- is this a wanted entry? ---- */

static bool is_match(const struct pass *s, const struct find_place *f, const char *p, const char *end)
{
    double v[2] = {1, 0};
    unsigned how;
    for (int i = 0; p && i < s->h->values; i++) p = number_parse(skip_blanks(p), end, &v[i], &how);
    return f->zero ? v[0] == 0 && v[1] == 0 : !isfinite(v[0]) || !isfinite(v[1]);
}

static void look(struct pass *s, int64_t row, int64_t col, const char *p, const char *end)
{
    for (int i = 0; i < s->f->nplaces; i++) {
        struct find_place *f = &s->f->place[i];
        /* a file with a symmetry may store the entry's mirror image */
        bool turned = s->h->symmetry != GENERAL && f->row == col && f->col == row;
        bool here = turned || (f->row == row && f->col == col);
        if (!here || f->sure) continue;
        f->sure = is_match(s, f, p, end);
        if (!f->line || f->sure) f->line = s->line;
        s->open -= f->sure;
    }
}

static bool look_for_duplicate(struct pass *s, int64_t row, int64_t col)
{
    struct mtx_find *f = s->f;
    if (!s->first) return true;
    int64_t k = csr_find(s->A, row, col);
    if (k < 0 || s->line > UINT32_MAX) return false;
    if (!s->first[k])
        s->first[k] = (uint32_t)s->line;
    else if (f->ntwice < FIND_TWICE) {
        f->twice[f->ntwice++] = (struct find_twice){row, col, s->first[k], s->line};
        s->open--;
    }
    return true;
}

static bool take_line(struct pass *s, const char *p, const char *end)
{
    int64_t row, col;
    s->line++;
    p = skip_blanks(p);
    if (is_eol(*p) || *p == '%') return true;
    if (s->entries == s->h->entries && s->h->amgx.numbers) return true; /* the sections after the entries */
    if (++s->entries > s->h->entries || !(p = place_at(s, p, &row, &col))) return false;
    look(s, row, col, p, end);
    return look_for_duplicate(s, row, col);
}

/* ---- the pass ---- */

static bool take_text(struct pass *s, const struct text *t)
{
    const char *end = t->s + t->n;
    for (const char *p = t->s; p < end && s->open; p = next_line(line_end(p, end), end))
        if (!take_line(s, p, end)) return false;
    return true;
}

static bool read_on(struct pass *s, struct lines *l, struct watch *w, struct err *e)
{
    struct text t = {0};
    bool ok = true, more = true;
    while (ok && more && s->open) {
        int64_t done, total;
        stream_progress(l->stream, &done, &total);
        ok = watch_tick(w, "lines of the file", done, total, e) && lines_next(l, &t, e);
        more = ok && t.n > 0;
        l->streamed_at_entry = l->streamed;
        ok = ok && (take_text(s, &t) || fail(e, E_INPUT, changed));
    }
    text_free(&t);
    return ok;
}

/* If the value of a wanted entry is a sum of duplicates, the search goes on to the end of the file, since that value is
   in no single line. */
static bool all_found(const struct pass *s, int twice)
{
    for (int i = 0; i < s->f->nplaces; i++)
        if (!s->f->place[i].line) return false;
    return s->f->ntwice == twice && (!s->open || s->entries == s->h->entries);
}

static bool begin(struct pass *s, struct lines *l, const struct load_info *info, struct head *h, int twice,
                  struct watch *w, struct err *e)
{
    struct notes notes = {0};
    if (!head_read(l, info->file, w, h, &notes, e)) return false;
    s->line = h->lines;
    s->row = column_top(h, 0);
    s->open = s->f->nplaces + twice;
    if (h->rows != s->A->rows || h->cols != s->A->cols) return fail(e, E_INPUT, changed);
    return !twice || (s->first = mem_zero(s->A->nnz, sizeof *s->first, "the lines of entries", e));
}

/* The file was valid when it was loaded, so any fault in its text means that the file has changed. */
static bool report(const struct err *why, struct err *e)
{
    bool text = why->code == E_INPUT || why->code == E_LIMIT;
    return fail(e, text ? E_INPUT : why->code, "%s", text ? changed : why->text);
}

bool mtx_find(const struct csr *A, const struct load_info *info, struct mtx_find *f, struct watch *w, struct err *e)
{
    struct err why = {0};
    struct head h = {0};
    struct pass s = {.A = A, .h = &h, .f = f};
    int twice = info->duplicates < FIND_TWICE ? (int)info->duplicates : FIND_TWICE;
    if (!same_file(info, e)) return false;
    struct lines l = {.stream = stream_open(info->file, &why), .block = f->block ? f->block : MTX_BLOCK};
    bool ok = l.stream && begin(&s, &l, info, &h, twice, w, &why) && read_on(&s, &l, w, &why) &&
              (all_found(&s, twice) || fail(&why, E_INPUT, changed));
    mem_free(s.first);
    stream_close(l.stream);
    lines_free(&l);
    return ok ? same_file(info, e) : report(&why, e);
}
