/* Tables: collect cells row by row, each with the name of its column; print them aligned, as CSV or as HTML. */
#include "table.h"
#include "base.h"
#include "loop.h"
#include "mem.h"
#include "text.h"

#include <string.h>

/* Prose is wrapped in its column. A column of prose is at least MIN characters wide, or MIN_ANSWER characters if
   its rank is COLUMN_ANSWER. Columns of details are hidden if an answer in prose would otherwise be narrower than ROOMY
   characters. */
enum { COLUMNS_MAX = 64, GAP = 2, MIN = 16, MIN_ANSWER = 18, ROOMY = 30, COLUMN_MAX = 4096, BLOCK_BYTES = 1 << 15 };

/* Ctrl-C does not stop the printing of this many cells. */
enum { CELLS_AT_MIN = 10000 };

/* A list of blocks with the texts of cells, the latest first. */
struct table_block {
    struct table_block *next;
    size_t used, size;
    char data[];
};

struct column {
    const char *name;
    int width;
    bool right; /* numbers, right-aligned */
    bool prose; /* text of several words, which may be wrapped */
    bool hidden;
    enum column_rank rank;
    const char *constant; /* the value, if it is the same in all rows; NULL: the rows differ */
};
struct columns {
    struct column c[COLUMNS_MAX];
    int n;
    bool by_key; /* columns are identified by keys (CSV) instead of headings (text) */
};

void table_row(struct table *t)
{
    t->rows++;
    t->rank = COLUMN_NORMAL;
}

static bool grow(struct table *t, struct err *e)
{
    if (t->n < t->room) return true;
    int room = t->room ? 2 * t->room : 64;
    struct cell *cell = mem_resize(t->cell, room, sizeof *cell, "a table", e);
    if (!cell) return false;
    t->cell = cell;
    t->room = room;
    return true;
}

/* Set *kept to the table's copy of the name, or to NULL if the name is NULL. Rows list the names in the same order, so
   the search begins after the name that was used last. */
static bool keep_name(struct table *t, const char *name, const char **kept, struct err *e)
{
    *kept = NULL;
    if (!name) return true;
    for (int i = 0; i < t->nnames; i++) {
        int at = (t->last + 1 + i) % t->nnames;
        if (strcmp(t->name[at], name)) continue;
        t->last = at;
        *kept = t->name[at];
        return true;
    }
    char **grown = mem_resize(t->name, t->nnames + 1, sizeof *grown, "the names of a table", e);
    if (!grown) return false;
    t->name = grown;
    if (!(grown[t->nnames] = mem_str(name, e))) return false;
    t->last = t->nnames++;
    *kept = grown[t->last];
    return true;
}

/* Room for a text of at most `size` bytes. The caller adds the bytes of the text to t->block->used. */
static char *text_room(struct table *t, size_t size, struct err *e)
{
    if (!t->block || t->block->size - t->block->used < size) {
        size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        struct table_block *b = mem_new((int64_t)(sizeof *b + room), 1, "the cells of a table", e);
        if (!b) return NULL;
        b->next = t->block;
        b->used = 0;
        b->size = room;
        t->block = b;
    }
    return t->block->data + t->block->used;
}

bool table_add(struct table *t, const char *key, const char *heading, const char *text, bool right, bool lines,
               struct err *e)
{
    size_t n = strlen(text), size = 4 * n + 1; /* print_safe writes at most 4 bytes for each byte */
    struct cell c = {.right = right, .rank = t->rank, .row = t->rows - 1};
    if (!grow(t, e) || !keep_name(t, key, &c.key, e) || !keep_name(t, heading, &c.heading, e)) return false;
    char *safe = text_room(t, size, e);
    if (!safe) return false;
    lines ? print_lines(text, safe, size) : print_safe(text, n, n, safe, size);
    t->block->used += strlen(safe) + 1;
    c.text = safe;
    t->cell[t->n++] = c;
    return true;
}

static const char *name_in(const struct cell *c, bool by_key)
{
    return by_key ? c->key : c->heading;
}

static struct column *column_find(struct columns *k, const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (!strcmp(k->c[i].name, name)) return &k->c[i];
    if (k->n == COLUMNS_MAX) return NULL;
    k->c[k->n] = (struct column){.name = name, .width = text_width(name)};
    return &k->c[k->n++];
}

/* List the columns in the order in which their names first appear. */
static void columns_of(const struct table *t, bool by_key, struct columns *k)
{
    k->n = 0;
    k->by_key = by_key;
    for (int i = 0; i < t->n; i++) {
        const char *name = name_in(&t->cell[i], by_key);
        struct column *c = name ? column_find(k, name) : NULL;
        if (!c) continue;
        int width = text_width(t->cell[i].text);
        c->width = c->width > width ? c->width : width;
        c->right |= t->cell[i].right;
        c->prose |= !t->cell[i].right && strchr(t->cell[i].text, ' ');
        c->rank = t->cell[i].rank;
    }
}

/* The text of a column in the row that consists of cells first .. end-1; empty if the row has no cell in that
   column. */
static const char *text_in(const struct table *t, int first, int end, const char *column, bool by_key)
{
    for (int i = first; i < end; i++) {
        const char *name = name_in(&t->cell[i], by_key);
        if (name && !strcmp(name, column)) return t->cell[i].text;
    }
    return "";
}

static int row_end(const struct table *t, int first)
{
    int end = first;
    while (end < t->n && t->cell[end].row == t->cell[first].row) end++;
    return end;
}

/* The value that the column has in all rows; NULL if the rows differ or if there are fewer than two rows. */
static const char *constant_of(const struct table *t, const char *column)
{
    const char *value = NULL;
    for (int i = 0, end; i < t->n; i = end) {
        end = row_end(t, i);
        const char *text = text_in(t, i, end, column, false);
        if (i && strcmp(text, value)) return NULL;
        value = text;
    }
    return t->rows > 1 ? value : NULL;
}

/* The number of bytes of text that fit in a column; the text is divided at a blank if possible. *next receives the
   rest of the text. */
static int fitting(const char *text, int width, const char **next)
{
    int columns;
    size_t n = text_fit(text, width, &columns), blank = n;
    while (text[n] && blank > 0 && text[blank] != ' ') blank--;
    if (text[n] && blank > 0) n = blank;
    if (n == 0) n = strlen(text);
    *next = text + n + strspn(text + n, " ");
    return (int)n;
}

/* Print the part of a cell that fits on a line, and return the rest. The last cell of a line is not padded with blanks.
 */
static const char *put_aligned(FILE *f, const struct column *c, const char *text, bool last)
{
    const char *rest;
    int n = fitting(text, c->right ? COLUMN_MAX : c->width, &rest);
    char part[COLUMN_MAX];
    snprintf(part, sizeof part, "%.*s", n, text);
    int blanks = c->width - text_width(part);
    if (c->right)
        fprintf(f, "%*s%s", blanks, "", part);
    else
        fprintf(f, "%s%*s", part, last ? 0 : blanks, "");
    if (!last) fprintf(f, "%*s", GAP, "");
    return rest;
}

/* Width of the table in terminal columns. If `answer` is 0, no prose is wrapped. Otherwise, prose in columns of rank
   COLUMN_ANSWER is wrapped to the width `answer`, and other prose is wrapped to the width MIN. */
static int width_of(const struct columns *k, int answer)
{
    int sum = -GAP;
    for (int i = 0; i < k->n; i++) {
        const struct column *c = &k->c[i];
        int least = c->rank == COLUMN_ANSWER ? answer : MIN;
        if (!c->hidden) sum += GAP + (answer && c->prose && c->width > least ? least : c->width);
    }
    return sum;
}

/* Hide one column: the rightmost of the columns with the lowest rank. Columns of a rank above `most` stay. If
   `constant` is set, hide only a column with one value in all rows. Returns false if no column can be hidden. */
static bool hide(struct columns *k, enum column_rank most, bool constant)
{
    struct column *found = NULL;
    for (int c = k->n - 1; c > 0; c--) {
        struct column *one = &k->c[c];
        bool may = !one->hidden && one->rank <= most && (!constant || one->constant);
        if (may && (!found || one->rank < found->rank)) found = one;
    }
    if (found) found->hidden = true;
    return found;
}

static void narrow_prose(struct columns *k, int width)
{
    while (width_of(k, 0) > width) {
        struct column *widest = NULL;
        for (int c = 0; c < k->n; c++)
            if (k->c[c].prose && !k->c[c].hidden && (!widest || k->c[c].width > widest->width)) widest = &k->c[c];
        if (!widest || widest->width <= MIN) return;
        widest->width--;
    }
}

/* Make the table fit in the width: first drop constant columns, then hide other columns until the table fits if its
   prose is wrapped, and last narrow the columns of prose. */
static void fit(const struct table *t, struct columns *k, int width)
{
    if (!width || width_of(k, 0) <= width) return;
    for (int c = 0; c < k->n; c++) k->c[c].constant = constant_of(t, k->c[c].name);
    while (width_of(k, 0) > width && hide(k, COLUMN_NORMAL, true)) continue;
    while (width_of(k, ROOMY) > width && hide(k, COLUMN_DETAIL, false)) continue;
    while (width_of(k, MIN_ANSWER) > width && hide(k, COLUMN_NORMAL, false)) continue;
    narrow_prose(k, width);
}

/* Name the hidden columns: the constant columns with their values, or the other columns. */
static void print_hidden(const struct columns *k, bool constant, FILE *f, int width)
{
    char text[1024];
    int named = 0;
    snprintf(text, sizeof text, constant ? "dropped: " : "hidden (too few columns): ");
    for (int i = 0; i < k->n; i++) {
        const struct column *c = &k->c[i];
        size_t n = strlen(text);
        if (!c->hidden || !c->constant == constant) continue;
        snprintf(text + n, sizeof text - n, "%s%s", named ? ", " : "", c->name);
        n = strlen(text);
        if (constant) snprintf(text + n, sizeof text - n, " (%s%s)", c->constant, named ? "" : " in all rows");
        named++;
    }
    if (named) table_wrapped(f, text, 0, 0, width);
}

/* The cells from i to end - 1 have the path of a file in this column: the path, or NULL. */
static const char *file_in(const struct table *t, int i, int end, const char *name)
{
    for (; i < end; i++)
        if (t->cell[i].file && t->cell[i].heading && !strcmp(t->cell[i].heading, name)) return t->cell[i].text;
    return NULL;
}

/* Print the next part of a cell, as a link if it is the whole path of a file. */
static const char *put_part(FILE *f, const struct column *c, const char *part, bool last, const char *file,
                            const struct table_links *links)
{
    bool link = file && part == file && text_width(part) <= c->width && links->begin(f, part);
    part = put_aligned(f, c, part, last);
    if (link) links->end(f);
    return part;
}

/* Print the parts of a row's cells line by line. part[i] is the text that column i still has to print; file[i] is the
   path of a file, if column i has one that may be a link. */
static void put_lines(FILE *f, const struct columns *k, const char *part[COLUMNS_MAX], const char *file[COLUMNS_MAX],
                      const struct table_links *links)
{
    for (bool more = true; more;) {
        int last = k->n - 1;
        while (last > 0 && !*part[last]) last--;
        for (int i = 0; i <= last; i++)
            if (!k->c[i].hidden) part[i] = put_part(f, &k->c[i], part[i], i == last, file[i], links);
        fputc('\n', f);
        more = false;
        for (int i = 0; i < k->n; i++) more |= *part[i] != 0;
    }
}

void table_text(const struct table *t, FILE *f, int width, const struct table_links *links)
{
    struct columns k;
    const char *part[COLUMNS_MAX], *file[COLUMNS_MAX] = {0};
    columns_of(t, false, &k);
    if (!k.n) return;
    fit(t, &k, width);
    for (int c = 0; c < k.n; c++) part[c] = k.c[c].hidden ? "" : k.c[c].name;
    put_lines(f, &k, part, file, links);
    struct loop l = loop_of("printing", t->n);
    for (int i = 0, end; i < t->n && (i < CELLS_AT_MIN || loop_check(&l, i)); i = end) {
        end = row_end(t, i);
        for (int c = 0; c < k.n; c++) part[c] = k.c[c].hidden ? "" : text_in(t, i, end, k.c[c].name, false);
        for (int c = 0; links && c < k.n; c++) file[c] = file_in(t, i, end, k.c[c].name);
        put_lines(f, &k, part, file, links);
    }
    print_hidden(&k, true, f, width);
    print_hidden(&k, false, f, width);
}

/* The width of the unit that follows a number of n bytes, including the blank before the unit: 3 for "0.9 ms". 0: no
   unit follows. */
static int unit_after(const char *number, int n)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "B", "kB", "MB", "GB", "%"};
    if (!n || number[n - 1] < '0' || number[n - 1] > '9' || number[n] != ' ') return 0;
    const char *unit = number + n + 1;
    size_t k = strcspn(unit, " ,;:.)");
    for (int i = 0; i < COUNT(units); i++)
        if (k && strlen(units[i]) == k && !strncmp(unit, units[i], k)) return 1 + (int)strcspn(unit, " ");
    return 0;
}

/* The bytes of the word at `text` or, if it opens a command in backquotes that fits in `room` columns, of all words of
   the command, so that it can be copied from one line. */
static int unbroken(const char *text, int room)
{
    int word = (int)strcspn(text, " "), quotes = 0;
    for (int i = 0; i < word; i++) quotes += text[i] == '`';
    const char *close = quotes % 2 ? strchr(text + word, '`') : NULL;
    if (!close) return word;
    int all = (int)(close - text + (int)strcspn(close, " "));
    return all <= room ? all : word;
}

void table_wrapped(FILE *f, const char *text, int at, int indent, int width)
{
    bool first = true; /* the next word is the first of its line */
    while (*text) {
        int blanks = (int)strspn(text, " "), word = unbroken(text + blanks, width - indent), wide;
        char one[400];
        snprintf(one, sizeof one, "%.*s", word, text + blanks);
        wide = text_width(one);
        if (width && !first && at + blanks + wide + unit_after(text + blanks, word) > width) {
            fprintf(f, "\n%*s", indent, "");
            at = indent;
            text += blanks;
            blanks = 0;
        }
        fprintf(f, "%.*s", blanks + word, text);
        text += blanks + word;
        at += blanks + wide;
        first = false;
    }
    fputc('\n', f);
}

void table_mark_file(struct table *t)
{
    if (t->n) t->cell[t->n - 1].file = true;
}

/* Print a path that fits into `room` columns as a link, with the end of the line. */
static bool put_link(FILE *f, const struct cell *c, int room, const struct table_links *links)
{
    if (!links || !c->file || text_width(c->text) > room || !links->begin(f, c->text)) return false;
    fputs(c->text, f);
    links->end(f);
    fputc('\n', f);
    return true;
}

void table_records(const struct table *t, FILE *f, int terminal, const struct table_links *links)
{
    int width = 0;
    for (int i = 0; i < t->n; i++) {
        int w = t->cell[i].heading ? text_width(t->cell[i].heading) : 0;
        width = width > w ? width : w;
    }
    for (int i = 0; i < t->n; i++) {
        const struct cell *c = &t->cell[i];
        if (i && c->row != c[-1].row) fputc('\n', f);
        if (!c->heading) continue;
        fprintf(f, "%s%*s", c->heading, width - text_width(c->heading) + GAP, "");
        if (!put_link(f, c, terminal - width - GAP, links))
            table_wrapped(f, c->text, width + GAP, width + GAP, terminal);
    }
}

static void put_csv(FILE *f, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")] && text[0] != ' ') {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', f);
}

void table_csv(const struct table *t, FILE *f, bool header)
{
    struct columns k;
    columns_of(t, true, &k);
    if (!k.n) return;
    for (int c = 0; header && c < k.n; c++) fprintf(f, "%s%s", k.c[c].name, c + 1 < k.n ? "," : "\n");
    for (int i = 0, end; i < t->n; i = end) {
        end = row_end(t, i);
        for (int c = 0; c < k.n; c++) {
            if (c) fputc(',', f);
            put_csv(f, text_in(t, i, end, k.c[c].name, true));
        }
        fputc('\n', f);
    }
}

static void put_html(FILE *f, const char *tag, bool right, const char *text)
{
    fprintf(f, "<%s%s>", tag, right ? " class=\"n\"" : "");
    text_html(f, text);
    fprintf(f, "</%s>", tag);
}

static void html_records(const struct table *t, FILE *f)
{
    for (int i = 0; i < t->n; i++) {
        const struct cell *c = &t->cell[i];
        if (!c->heading) continue;
        fputs("<tr>", f);
        put_html(f, "th", false, c->heading);
        put_html(f, "td", false, c->text);
        fputs("</tr>\n", f);
    }
}

static void html_rows(const struct table *t, FILE *f)
{
    struct columns k;
    columns_of(t, false, &k);
    if (!k.n) return;
    fputs("<tr>", f);
    for (int c = 0; c < k.n; c++) put_html(f, "th", k.c[c].right, k.c[c].name);
    fputs("</tr>\n", f);
    for (int i = 0, end; i < t->n; i = end) {
        end = row_end(t, i);
        fputs("<tr>", f);
        for (int c = 0; c < k.n; c++) put_html(f, "td", k.c[c].right, text_in(t, i, end, k.c[c].name, false));
        fputs("</tr>\n", f);
    }
}

void table_html(const struct table *t, FILE *f, bool records)
{
    fputs("<table>\n", f);
    (records ? html_records : html_rows)(t, f);
    fputs("</table>\n", f);
}

int table_shorten(struct table *t, int rows)
{
    int dropped = t->rows - rows;
    if (dropped <= 0) return 0;
    while (t->n > 0 && t->cell[t->n - 1].row >= rows) t->n--;
    t->rows = rows;
    return dropped;
}

void table_clear(struct table *t)
{
    for (struct table_block *b = t->block, *next; b; b = next) {
        next = b->next;
        mem_free(b);
    }
    for (int i = 0; i < t->nnames; i++) mem_free(t->name[i]);
    mem_free(t->cell);
    mem_free(t->name);
    *t = (struct table){0};
}
