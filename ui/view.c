/* The table of views and the pieces they draw with: titles, key bars, bars, numbers to the right. */
#include "ui.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define VIEW(id) extern const struct view view_##id;
#include "views.def"
#undef VIEW
#define VIEW(id) &view_##id,
const struct view *const views[] = {
#include "views.def"
    NULL};
#undef VIEW

const struct view *view_find(const char *name)
{
    for (int i = 0; views[i]; i++)
        if (!strcmp(views[i]->name, name)) return views[i];
    return NULL;
}

void view_reset(struct view_state *st, const struct matrix *m)
{
    mem_free(st->grid.n);
    st->grid = (struct grid){0};
    st->help = false;
    st->message[0] = 0;
    if (st->of == m && m && st->rows == m->csr.rows && st->cols == m->csr.cols) return;
    *st = (struct view_state){.format = st->format, .real = st->real, .w = st->w, .h = st->h, .of = m};
    if (!m) return;
    st->rows = m->csr.rows;
    st->cols = m->csr.cols;
    st->win = (struct window){0, st->rows, 0, st->cols};
}

/* The keys as a list: they are written "key what  key what  ...", two blanks between. */
static void draw_help(struct canvas *c, const struct view *v)
{
    int y = 2;
    canvas_text(c, 2, y, ST_TITLE, "%s", v->name);
    canvas_text(c, 2, y + 1, ST_PLAIN, "%s", v->about);
    y += 3;
    for (const char *k = v->keys; *k;) {
        const char *end = strstr(k, "  "), *word = strchr(k, ' ');
        int len = end ? (int)(end - k) : (int)strlen(k), name = word ? (int)(word - k) : len;
        canvas_text(c, 4, y, ST_BOLD, "%.*s", name, k);
        canvas_text(c, 20, y++, ST_PLAIN, "%.*s", len - name, k + name);
        k += len + (end ? 2 : 0);
    }
    canvas_text(c, 2, y + 1, ST_DIM, "any key goes back");
}

void view_draw(const struct view *v, struct canvas *c, struct session *s, struct view_state *st)
{
    if (st->help)
        draw_help(c, v);
    else
        v->draw(c, s, st);
    if (!st->full) return;
    if (st->message[0]) {
        draw_fill(c, 0, c->h - 2, c->w, ST_PLAIN, ' ');
        canvas_text(c, 1, c->h - 2, ST_WARN, "%s", st->message);
    }
    draw_keys(c, st->help ? "q leave" : v->keys);
}

void draw_fill(struct canvas *c, int x, int y, int n, enum style st, uint32_t glyph)
{
    for (int i = 0; i < n; i++) canvas_put(c, x + i, y, st, glyph);
}

char *show_safe(const char *text, char *out, size_t size)
{
    return print_safe(text, strlen(text), 60, out, size);
}

void draw_title(struct canvas *c, const char *what, const struct matrix *m, const char *fmt, ...)
{
    char name[256], rows[32], cols[32], nnz[32], more[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(more, sizeof more, fmt, ap);
    va_end(ap);
    int x = canvas_text(c, 1, 0, ST_TITLE, "%s ", what);
    if (m) x = canvas_text(c, x + 1, 0, ST_BOLD, "%s  ", show_safe(m->name, name, sizeof name));
    if (m)
        x = canvas_text(c, x, 0, ST_PLAIN, "%s x %s, %s nnz", show_count(m->csr.rows, rows, sizeof rows),
                        show_count(m->csr.cols, cols, sizeof cols), show_count(m->csr.nnz, nnz, sizeof nnz));
    canvas_text(c, x + 2, 0, ST_DIM, "%s", more);
}

void draw_keys(struct canvas *c, const char *keys)
{
    int x = 1;
    draw_fill(c, 0, c->h - 1, c->w, ST_DIM, ' ');
    for (const char *k = keys; *k;) {
        const char *end = strstr(k, "  "), *word = strchr(k, ' ');
        int len = end ? (int)(end - k) : (int)strlen(k), name = word ? (int)(word - k) : len;
        if (x + len > c->w) break;
        x = canvas_text(c, x, c->h - 1, ST_BOLD, "%.*s", name, k);
        x = canvas_text(c, x, c->h - 1, ST_DIM, "%.*s", len - name, k + name) + 2;
        k += len + (end ? 2 : 0);
    }
}

void draw_bar(struct canvas *c, int x, int y, int width, double share, enum style st)
{
    if (!(share > 0)) return;
    int eighths = (int)lround(share * width * 8);
    if (eighths < 1) eighths = 1;
    if (eighths > width * 8) eighths = width * 8;
    draw_fill(c, x, y, eighths / 8, st, 0x2588);
    if (eighths % 8) canvas_put(c, x + eighths / 8, y, st, 0x2590 - (uint32_t)(eighths % 8));
}

void draw_right(struct canvas *c, int x, int y, enum style st, const char *text)
{
    canvas_text(c, x - text_width(text), y, st, "%s", text);
}

/* How much of text goes on a line of `room` columns, cut after a word where there is one. */
static int line_length(const char *text, int room)
{
    int n = (int)strlen(text), end = room;
    if (n <= room) return n;
    while (end > 0 && text[end] != ' ') end--;
    return end > 0 ? end : room;
}

void draw_wrapped(struct canvas *c, int x, int y, int lines, enum style st, const char *text)
{
    for (int i = 0; i < lines && *text; i++) {
        int n = line_length(text, c->w - x - 1);
        canvas_text(c, x, y + i, st, "%.*s", n, text);
        text += n;
        text += *text == ' ';
    }
}
