/* Output page by page: a stream that passes on the first page and keeps back the rest. */
#include "paged.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "canvas.h"
#include "language/options.h"
#include "pager.h"
#include "screen.h"
#include "screen_private.h"
#include "screen_thread.h"
#include "session/shell.h"
#include "stage.h"
#include "term.h"
#include "terminal_window.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HOLD_MAX = 64 << 20, HOLD_US = QUIET_US };

/* Static, because a process has one terminal. `text` is the output since the last pause longer than HOLD_US. */
static struct {
    FILE *stream; /* NULL: output is not shown page by page */
    struct session *session;
    struct out_target before;
    void (*before_output)(void);
    bool (*has_typed)(void);
    char *text; /* owned */
    size_t n, room;
    size_t passed, row; /* number of bytes passed on; offset at which the current row begins */
    int rows;           /* complete rows that were passed on */
    bool held;
    bool showing;      /* paged_show runs */
    double written_us; /* when something was last written */
} paged;

/* The output of this line and of the line before, for the clipboard, which accepts no more than COPY_MAX bytes. */
static struct kept {
    char text[2 * COPY_MAX];
    size_t n;
} kept[2], *this_line = &kept[0], *line_before = &kept[1];
static bool keeps; /* the output of this line is kept */

static void keep(const char *bytes, size_t n)
{
    size_t room = sizeof this_line->text - this_line->n;
    if (!keeps) return;
    memcpy(this_line->text + this_line->n, bytes, n < room ? n : room);
    this_line->n += n < room ? n : room;
}

static void keep_next_line(void)
{
    struct kept *last = this_line;
    keeps = true;
    if (!last->n) return;
    this_line = line_before;
    line_before = last;
    this_line->n = 0;
}

const char *paged_last(size_t *n)
{
    keeps = false;
    this_line->n = 0;
    line_before->n = pager_strip(line_before->text, line_before->n);
    *n = line_before->n;
    return line_before->text;
}

static void pass(size_t end)
{
    if (end > paged.passed) fwrite(paged.text + paged.passed, 1, end - paged.passed, stdout);
    fflush(stdout);
    paged.passed = end;
}

/* The text that follows starts a new page. Text that was longer than a page is kept for `last`. */
static void start_again(void)
{
    if (paged.held) {
        screen_keep_output(paged.session, paged.text, paged.n);
        paged.text = NULL;
        paged.room = 0;
    }
    paged.n = paged.passed = paged.row = 0;
    paged.rows = 0;
    paged.held = false;
}

void paged_release(void)
{
    pass(paged.n);
    start_again();
}

/* Pass on rows until a page is full. One line of the terminal remains for the prompt. */
static void pass_rows(void)
{
    int w, h;
    term_size(&w, &h);
    while (paged.row < paged.n) {
        size_t n = pager_row(paged.text + paged.row, paged.n - paged.row, w);
        bool complete = paged.text[paged.row + n - 1] == '\n' || paged.row + n < paged.n;
        paged.held = paged.rows >= h - 1;
        if (paged.held) return;
        pass(paged.row + n);
        if (!complete) return;
        paged.row += n;
        paged.rows++;
    }
}

static bool reserve(size_t n)
{
    size_t room = paged.room ? paged.room : 4096;
    while (room - paged.n < n) room *= 2;
    if (room == paged.room) return true;
    char *text = mem_resize(paged.text, (int64_t)room, 1, "the output", NULL);
    if (!text) return false;
    paged.text = text;
    paged.room = room;
    return true;
}

static ssize_t take(void *user, const char *bytes, size_t n)
{
    SCREEN_EDIT;
    paged.before_output();
    keep(bytes, n);
    bool pages = !paged.session->lines.from && strcmp(option_value(paged.session, OPTION_PAGER), "off") != 0;
    if (now_us() - paged.written_us > HOLD_US || paged.n > HOLD_MAX) paged_release();
    paged.written_us = now_us();
    if (!pages || !reserve(n)) {
        paged_release();
        fwrite(bytes, 1, n, stdout);
        fflush(stdout);
        return (ssize_t)n;
    }
    memcpy(paged.text + paged.n, bytes, n);
    paged.n += n;
    if (!paged.held) pass_rows();
    return (ssize_t)n;
}

void paged_begin(struct session *s, void (*before_output)(void), bool (*has_typed)(void))
{
    if (stage_now() || !s->interactive || paged.stream) return;
    paged.stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
    if (!paged.stream) return;
    setvbuf(paged.stream, NULL, _IOLBF, BUFSIZ);
    paged.session = s;
    paged.before_output = before_output;
    paged.has_typed = has_typed;
    paged.written_us = now_us();
    keep_next_line();
    start_again();
    struct out_target to = {.data = paged.stream, .columns = -1, .messages = true};
    paged.before = out_redirect(s->out, to);
    to.csv_before = paged.before.csv_before;
    out_redirect(s->out, to);
}

/* ---- the pager ---- */

/* Print the text that the pager has shown after the first page, so that this text can be read above the prompt. */
static void keep_shown(size_t shown)
{
    int lines = 0;
    for (size_t i = shown; i < paged.n; i++) lines += paged.text[i] == '\n';
    if (shown > paged.passed) pass(shown);
    if (lines) printf("(%s not shown; `last` shows all)\n", how_many(lines, "line").text);
}

static bool read_pages(struct session *s, struct pager *p)
{
    struct canvas c = {0};
    int w, h;
    bool ok = term_open(NULL), on = ok;
    while (on) {
        term_size(&w, &h);
        if (c.w != w || c.h != h) canvas_free(&c), on = ok = canvas_new(&c, w, h, s->front->ascii, NULL);
        if (!on) break;
        c.colours = s->plain ? COLOURS_NONE : term_colours();
        canvas_clear(&c);
        pager_draw(p, &c);
        term_draw(&c);
        on = pager_key(p, term_key(-1));
    }
    term_close();
    canvas_free(&c);
    return ok;
}

static bool show_own(struct session *s)
{
    struct pager p;
    int w, h;
    term_size(&w, &h);
    if (!pager_open(&p, paged.text, paged.n, w, h, NULL)) return false;
    bool ok = read_pages(s, &p);
    if (ok) keep_shown(p.shown);
    pager_close(&p);
    return ok;
}

static const char *program(const struct session *s)
{
    const char *set = option_value(s, OPTION_PAGER), *ours = getenv("WARPSPY_PAGER"), *usual = getenv("PAGER");
    if (strcmp(set, "env") != 0) return set;
    return ours && *ours ? ours : usual && *usual ? usual : "less";
}

static bool show_program(struct session *s)
{
    struct err e = {0};
    if (shell_feed(s, program(s), paged.text, paged.n, &e) || e.code == E_CANCELLED) return true;
    printf("pager: %s\n", e.text);
    return false;
}

/* Was a line, or the beginning of a line, typed ahead? The pager would read it as keys. */
static bool is_typed_ahead(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return typed_ahead_count() > 0 || paged.has_typed() || poll(&in, 1, 0) > 0;
}

/* Show the held text page by page. */
static void show_held(struct session *s)
{
    enum served before = screen_thread_serve(s, SERVED_NOTHING);
    bool own = !strcmp(option_value(s, OPTION_PAGER), "on"), shown = false;
    paged.showing = true;
    if (!is_typed_ahead()) shown = own ? show_own(s) : show_program(s);
    paged.showing = false;
    screen_thread_serve(s, before);
    if (shown) start_again();
}

void paged_show(struct session *s)
{
    SCREEN_EDIT;
    if (!paged.stream || paged.showing) return;
    fflush(paged.stream);
    if (paged.held && session_interrupted()) { /* whoever presses Ctrl-C wants the prompt, not the rest */
        keep_shown(paged.passed);
        start_again();
    }
    if (paged.held && !s->quit && !term_is_open()) show_held(s);
    paged_release();
}

void paged_end(struct session *s)
{
    if (!paged.stream) return;
    paged_show(s);
    struct out_target line = out_redirect(s->out, paged.before);
    paged.before.csv_before = line.csv_before;
    out_redirect(s->out, paged.before);
    fclose(paged.stream);
    paged.stream = NULL;
    mem_free(paged.text);
    paged.text = NULL;
    paged.room = 0;
}

bool paged_is_late(void)
{
    return paged.stream && paged.held && now_us() - paged.written_us > HOLD_US;
}
