/* The pager: rows of a text, keys that move in it, and a search that ignores case. */
#include "pager.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "canvas.h"
#include "draw.h"
#include "term.h"

#include <string.h>

/* PLACE_FROM: screens of at least this width show which rows are on the screen. */
enum { ESCAPE = 27, ROW_MAX = 4096, PLACE_FROM = 48 };

/* ---- rows ---- */

/* The length of an OSC sequence, which ends with BEL or ESC \. */
static size_t osc_length(const char *p, size_t n)
{
    size_t k = 2;
    while (k < n && p[k] != '\a' && (p[k] != '\\' || p[k - 1] != ESCAPE)) k++;
    return k < n ? k + 1 : n;
}

/* The length of the escape sequence at p, or 0. */
static size_t escape_length(const char *p, size_t n)
{
    size_t k = 2;
    if (n > 1 && p[0] == ESCAPE && p[1] == ']') return osc_length(p, n);
    if (n < 2 || p[0] != ESCAPE || p[1] != '[') return 0;
    while (k < n && (p[k] < 0x40 || p[k] > 0x7e)) k++;
    return k < n ? k + 1 : n;
}

size_t pager_strip(char *text, size_t n)
{
    size_t left = 0;
    for (size_t at = 0, k; at < n; at += k) {
        k = escape_length(text + at, n - at);
        if (k) continue;
        text[left++] = text[at];
        k = 1;
    }
    return left;
}

/* The length of the character at p; *columns receives its width. */
static size_t character(const char *p, size_t n, int *columns)
{
    uint32_t point;
    char one[8];
    size_t escape = escape_length(p, n);
    *columns = 0;
    if (escape) return escape;
    int length = utf8_decode(p, n, &point);
    if (length < 1) length = 1;
    snprintf(one, sizeof one, "%.*s", length, p);
    *columns = text_width(one);
    return (size_t)length;
}

size_t pager_row(const char *text, size_t n, int w)
{
    size_t at = 0;
    for (int x = 0, columns; at < n && text[at] != '\n'; x += columns) {
        size_t k = character(text + at, n - at, &columns);
        if (at && x + columns > w) return at;
        at += k;
    }
    return at < n ? at + 1 : n;
}

/* The length of a row that begins at byte `at`. */
static size_t row_length(const struct pager *p, size_t at, int w)
{
    size_t n = pager_row(p->text + at, p->n - at, w), blank = n;
    bool whole = at + n == p->n || p->text[at + n - 1] == '\n';
    while (!whole && p->words && blank > n / 2 && p->text[at + blank - 1] != ' ') blank--;
    return blank > n / 2 ? blank : n;
}

/* Divide the text into rows of the width w. */
static bool layout(struct pager *p, int w, struct err *e)
{
    int rows = 0, room = 0;
    for (size_t at = 0;; rows++) {
        if (rows == room) {
            room = room ? 2 * room : 256;
            size_t *more = mem_resize(p->row, room, sizeof *more, "the rows of the pager", e);
            if (!more) return false;
            p->row = more;
        }
        p->row[rows] = at;
        if (at == p->n) break;
        at += row_length(p, at, w);
    }
    p->rows = rows;
    p->w = w;
    return true;
}

bool pager_open(struct pager *p, const char *text, size_t n, int w, int h, struct err *e)
{
    *p = (struct pager){.text = text,
                        .n = n,
                        .h = h,
                        .found = -1,
                        .keys = "space next  b back  q leave  / search  n again  g top  G end"};
    return layout(p, w, e) || (pager_close(p), false);
}

void pager_close(struct pager *p)
{
    mem_free(p->row);
    *p = (struct pager){0};
}

/* The row that contains byte `at` of the text. */
static int row_of(const struct pager *p, size_t at)
{
    int row = 0;
    while (row + 1 < p->rows && p->row[row + 1] <= at) row++;
    return row;
}

static int page(const struct pager *p)
{
    return p->h > 1 ? p->h - 1 : 1;
}

static int last_first(const struct pager *p)
{
    return p->rows > page(p) ? p->rows - page(p) : 0;
}

static void move_to(struct pager *p, int first)
{
    int last = last_first(p);
    p->first = first > last ? last : first < 0 ? 0 : first;
}

/* The text of a row, without escape sequences and without its line end. */
static char *row_text(const struct pager *p, int row, char out[ROW_MAX])
{
    size_t n = 0, k;
    int columns;
    for (size_t at = p->row[row]; at < p->row[row + 1] && p->text[at] != '\n'; at += k) {
        k = character(p->text + at, p->row[row + 1] - at, &columns);
        bool shown = !escape_length(p->text + at, p->row[row + 1] - at) && (unsigned char)p->text[at] >= ' ';
        if (!shown || n + k >= ROW_MAX) continue;
        memcpy(out + n, p->text + at, k);
        n += k;
    }
    out[n] = 0;
    return out;
}

/* ---- drawing ---- */

static void mark_matches(const struct pager *p, struct canvas *c, int y, const char *text)
{
    char before[ROW_MAX];
    size_t n = strlen(p->search);
    for (const char *at = text; n && !p->typing && (at = strcasestr(at, p->search)); at += n) {
        snprintf(before, sizeof before, "%.*s", (int)(at - text), text);
        int x = p->margin + text_width(before);
        for (int i = 0; i < text_width(p->search); i++) canvas_style(c, x + i, y, ST_CURSOR);
    }
}

static void draw_status(const struct pager *p, struct canvas *c)
{
    int last = p->first + page(p) < p->rows ? p->first + page(p) : p->rows, y = c->h - 1;
    draw_fill(c, 0, y, c->w, ST_PLAIN, ' ');
    if (p->typing) {
        canvas_style(c, canvas_text(c, p->margin, y, ST_PLAIN, "/%s", p->search), y, ST_CURSOR);
        return;
    }
    int x = p->margin;
    if (c->w >= PLACE_FROM) x = 2 + canvas_text(c, x, y, ST_TITLE, "%d-%d of %d", p->first + 1, last, p->rows);
    if (p->message[0])
        canvas_text(c, x, y, ST_WARN, "%s", p->message);
    else
        draw_keys_at(c, x, y, p->keys);
}

void pager_fit(struct pager *p, int w, int h)
{
    size_t at = p->row[p->first];
    p->h = h;
    if (w != p->w && layout(p, w > 1 ? w : 1, NULL)) p->first = row_of(p, at);
    move_to(p, p->first);
}

bool pager_scrolls(const struct pager *p)
{
    return p->rows > page(p);
}

void pager_draw(struct pager *p, struct canvas *c)
{
    char text[ROW_MAX];
    pager_fit(p, c->w - 2 * p->margin, c->h);
    for (int y = 0; y < page(p) && p->first + y < p->rows; y++) {
        draw_fill(c, 0, y, c->w, ST_PLAIN, ' ');
        canvas_text(c, p->margin, y, ST_PLAIN, "%s", row_text(p, p->first + y, text));
        mark_matches(p, c, y, text);
        if (p->row[p->first + y + 1] > p->shown) p->shown = p->row[p->first + y + 1];
    }
    if (c->h > 1) draw_status(p, c);
}

/* ---- keys ---- */

/* The row from which a search continues: the row found last if it is on the screen, otherwise the first row on the
   screen. */
static int place(const struct pager *p)
{
    return p->found >= p->first && p->found < p->first + page(p) ? p->found : p->first;
}

/* Search for the text in the rows, beginning with row `from`, downwards (by = 1) or upwards (by = -1), and show the
   first row that contains it. */
static void seek(struct pager *p, int from, int by)
{
    char text[ROW_MAX];
    if (!p->search[0]) {
        snprintf(p->message, sizeof p->message, "/ begins a search");
        return;
    }
    for (int row = from; row >= 0 && row < p->rows; row += by) {
        if (!strcasestr(row_text(p, row, text), p->search)) continue;
        p->found = row;
        move_to(p, row);
        snprintf(p->message, sizeof p->message, "found in line %d; n next, N previous", row + 1);
        return;
    }
    snprintf(p->message, sizeof p->message, "`%s` is not %s", p->search, by > 0 ? "below" : "above");
}

static void type(struct pager *p, int key)
{
    size_t n = strlen(p->search);
    bool erase = key == 0x7f || key == '\b';
    if (key == UI_ESC || key == UI_INTERRUPT || (erase && !n)) {
        p->typing = false;
        p->search[0] = 0;
    } else if (key == UI_ENTER) {
        p->typing = false;
        seek(p, p->first, 1);
    } else if (erase) {
        p->search[n - 1] = 0;
    } else if (key >= ' ' && key < 0x7f && n + 1 < sizeof p->search) {
        p->search[n] = (char)key;
        p->search[n + 1] = 0;
    }
}

/* The keys that move by rows (pages == 0) or by pages. */
static const struct {
    int key, rows, pages;
} moves[] = {
    {UI_DOWN, 1, 0},      {'j', 1, 0}, {UI_ENTER, 1, 0}, {UI_UP, -1, 0},  {'k', -1, 0}, {UI_WHEEL_DOWN, 3, 0},
    {UI_WHEEL_UP, -3, 0}, {' ', 0, 1}, {'f', 0, 1},      {UI_PGDN, 0, 1}, {'b', 0, -1}, {UI_PGUP, 0, -1},
};

static int target_of(const struct pager *p, int key)
{
    if (key == 'g' || key == UI_HOME) return 0;
    if (key == 'G' || key == UI_END) return last_first(p);
    for (int i = 0; i < COUNT(moves); i++)
        if (moves[i].key == key) return p->first + moves[i].rows + moves[i].pages * page(p);
    return p->first;
}

bool pager_takes(const struct pager *p, int key)
{
    static const int others[] = {'/', 'n', 'N', 'g', 'G', UI_HOME, UI_END};
    for (int i = 0; i < COUNT(others); i++)
        if (others[i] == key) return true;
    for (int i = 0; i < COUNT(moves); i++)
        if (moves[i].key == key) return true;
    return p->typing;
}

bool pager_key(struct pager *p, int key)
{
    if (key < 0 || key == UI_RESIZE) return true;
    p->message[0] = 0;
    if (p->typing) return type(p, key), true;
    if (key == 'q' || key == 'Q' || key == UI_ESC || key == UI_INTERRUPT) return false;
    if (key == '/') p->typing = true, p->search[0] = 0;
    if (key == 'n') seek(p, place(p) + 1, 1);
    if (key == 'N') seek(p, place(p) - 1, -1);
    move_to(p, target_of(p, key));
    return true;
}
