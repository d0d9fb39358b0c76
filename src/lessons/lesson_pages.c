/* Pages: the text of a lesson waits at the end of each page of the terminal. */
#include "lesson_pages.h"
#include "base/text.h"
#include "language/options.h"
#include "session/front.h"
#include "session/session.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_MIN = 20, ROWS_MIN = 6 };

static bool is_terminal(const struct out_target *t)
{
    return t->columns < 0 || isatty(fileno(t->data));
}

/* The size of the terminal. Returns false if pages are not possible or not useful. */
static bool page_size(const struct pages *p, int *columns, int *rows)
{
    struct winsize size;
    if (!p->s->front || !p->s->front->pause || !is_terminal(&p->before)) return false;
    if (!strcmp(option_value(p->s, OPTION_PAGER), "off") || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size)) return false;
    *columns = size.ws_col;
    *rows = size.ws_row - 1; /* the last row is for the prompt */
    return *columns >= COLUMNS_MIN && *rows >= ROWS_MIN;
}

/* The number of columns that n bytes of text take; escape sequences for colours take no columns. */
static int width_of_line(const char *line, size_t n)
{
    char plain[2048];
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < sizeof plain; i++) {
        if (line[i] == '\033' && i + 1 < n && line[i + 1] == '[')
            while (i < n && line[i] != 'm') i++;
        else
            plain[used++] = line[i];
    }
    plain[used] = 0;
    return text_width(plain);
}

static int rows_of_line(const char *line, size_t n, int columns)
{
    int width = width_of_line(line, n);
    return width ? (width + columns - 1) / columns : 1;
}

static int rows_of(const char *text, size_t n, int columns)
{
    int rows = 0;
    for (const char *end = text + n; text < end;) {
        size_t k = strcspn(text, "\n");
        rows += rows_of_line(text, k, columns);
        text += k + (text[k] == '\n');
    }
    return rows;
}

/* Begin a page with the heading, cut to one line. */
static void new_page(struct pages *p, int columns)
{
    int taken, width = text_width(p->heading);
    int n = (int)text_fit(p->heading, width > columns ? columns - 3 : columns, &taken);
    p->used = *p->heading != 0;
    p->fresh = true;
    if (p->used) fprintf(p->before.data, "%.*s%s\n", n, p->heading, width > columns ? "..." : "");
}

/* Wait at the end of a page, unless the reader has seen all of it. */
static bool end_page(struct pages *p, int columns)
{
    char footer[120];
    bool part = p->footer && *p->footer;
    snprintf(footer, sizeof footer, "%s%sEnter: go on  q: leave", part ? p->footer : "", part ? "   " : "");
    fflush(p->before.data);
    if (!p->fresh && !p->s->front->pause(p->s, footer)) return false;
    new_page(p, columns);
    return true;
}

/* Show a block of text line by line. */
static bool show_lines(struct pages *p, const char *text, const char *end, int columns, int rows)
{
    while (text < end) {
        size_t k = strcspn(text, "\n");
        int needed = rows_of_line(text, k, columns);
        if (p->used && p->used + needed > rows && !end_page(p, columns)) return false;
        fprintf(p->before.data, "%.*s\n", (int)k, text);
        p->used += needed;
        p->fresh = false;
        text += k + (text[k] == '\n');
    }
    return true;
}

bool pages_show(struct pages *p)
{
    int columns, rows;
    if (!p->s || !memfile_sync(&p->text, NULL)) return true;
    const char *text = p->text.text + p->shown, *end = p->text.text + p->text.n;
    if (text == end) return true;
    bool goes_on = true;
    out_progress_clear(p->s->out);
    if (page_size(p, &columns, &rows)) {
        int n = p->block = rows_of(text, (size_t)(end - text), columns);
        bool next = p->used + n > rows && (n < rows || p->fresh);
        goes_on = (!next || !p->used || end_page(p, columns)) && show_lines(p, text, end, columns, rows);
    } else {
        fwrite(text, 1, (size_t)(end - text), p->before.data);
    }
    fflush(p->before.data);
    p->shown = p->text.n;
    return goes_on;
}

void pages_direct(struct pages *p)
{
    if (p->s) out_redirect(p->s->out, p->before);
}

void pages_collect(struct pages *p)
{
    struct out_target here = p->before;
    if (!p->s) return;
    here.data = p->text.file;
    here.columns = is_terminal(&p->before) ? -1 : 0;
    here.messages = p->s->terminal;
    out_redirect(p->s->out, here);
}

bool pages_begin(struct pages *p, struct session *s, struct err *e)
{
    *p = (struct pages){0};
    if (!memfile_open(&p->text, e)) return memfile_free(&p->text), false;
    p->before = out_target(s->out);
    p->s = s;
    pages_collect(p);
    return true;
}

void pages_keep(struct pages *p, int lines)
{
    p->used = p->block + lines;
    p->fresh = true;
}

void pages_drop(struct pages *p)
{
    if (p->s && memfile_sync(&p->text, NULL)) p->shown = p->text.n;
}

void pages_end(struct pages *p)
{
    if (!p->s) return;
    pages_direct(p);
    if (memfile_sync(&p->text, NULL)) fwrite(p->text.text + p->shown, 1, p->text.n - p->shown, p->before.data);
    fflush(p->before.data);
    memfile_free(&p->text);
    p->s = NULL;
}
