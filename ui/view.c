/* The table of views, the state of a view, and the pieces that views draw with: titles, key bars, bars, numbers. */
#include "view.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "draw.h"
#include "figure.h"
#include "session/in_parts.h"
#include "session/large_matrix.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/views/view_state.h"
#include "ui/views/views.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define VIEW(id) &view_##id,
const struct view *const views[] = {
#include "ui/views/views.def"
    NULL};
#undef VIEW
_Static_assert(COUNT(views) - 1 <= VIEWS_MAX, "raise VIEWS_MAX in view.h: views.def has more lines");

const struct registry view_registry = {.entries = views};

const struct view *view_find(const char *name)
{
    return registry_find(&view_registry, name);
}

bool view_has_matrix(const struct view *v, const struct session *s, struct err *e)
{
    if (v->any) return true;
    if (s->current)
        return in_parts_allowed(s->current, false, v->name, e) && large_allowed(s->current, v->large, v->name, e);
    return fail(e, E_USAGE, "there is no matrix to show; use `load FILE` or `gen poisson2d 40`");
}

bool view_has_something(const struct view *v, const struct session *s, struct err *e)
{
    const char *nothing = v->nothing ? v->nothing(s) : NULL;
    return nothing ? fail(e, E_USAGE, "%s", nothing) : view_has_matrix(v, s, e);
}

bool view_numbers(const struct view *v, struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    if (!v->numbers) return fail(e, E_UNSUPPORTED, "%s has no numbers; it is drawn as text only", v->name);
    return view_has_something(v, s, e) && v->numbers(s, st, w, h, e);
}

bool view_state_new(struct view_state *st, const struct view *v, struct err *e)
{
    *st = (struct view_state){.view = v};
    if (v->state_size) st->own = mem_zero(1, (int64_t)v->state_size, "the state of a view", e);
    return st->own || !v->state_size;
}

void view_state_free(struct view_state *st)
{
    if (st->own && st->view->state_free) st->view->state_free(st->own);
    mem_free(st->own);
    *st = (struct view_state){0};
}

static void reset_own(struct view_state *st)
{
    const struct view *v = st->view;
    if (v->state_reset)
        v->state_reset(st->own);
    else if (v->state_size)
        memset(st->own, 0, v->state_size);
}

void view_reset(struct view_state *st, const struct matrix *m)
{
    bool same = st->of == m && m && st->rows == m->csr.rows && st->cols == m->csr.cols;
    bool keeps = same && st->view->lasts && st->number == m->number;
    if (st->view->state_free && !keeps) st->view->state_free(st->own);
    st->help = st->typing = false;
    st->stale_seen = -1;
    st->count = 0;
    st->message[0] = 0;
    if (same) {
        st->number = m->number;
        return;
    }
    reset_own(st);
    *st = (struct view_state){.view = st->view, .own = st->own, .w = st->w, .h = st->h, .of = m, .stale_seen = -1};
    if (!m) return;
    st->number = m->number;
    st->rows = m->csr.rows;
    st->cols = m->csr.cols;
    st->win = (struct window){0, st->rows, 0, st->cols};
}

void view_state_copy(struct view_state *to, const struct view_state *from)
{
    if (from->of != to->of || from->rows != to->rows || from->cols != to->cols) return;
    to->win = from->win;
    to->row = from->row;
    to->col = from->col;
    to->scroll = from->scroll;
    to->item = from->item;
    if (to->view->state_copy) to->view->state_copy(to->own, from->own);
}

bool view_ask(struct view_state *st, int k, const char *question)
{
    st->typing = true;
    st->question_key = k;
    snprintf(st->question, sizeof st->question, "%s", question);
    return true;
}

/* The first pair of "key what  key what  ...", where two blanks separate pairs; `following` is the text after it. */
struct key_words {
    const char *key, *what, *following;
    int nkey, nwhat;
};

static struct key_words key_words(const char *keys)
{
    const char *end = strstr(keys, "  ");
    int len = end ? (int)(end - keys) : (int)strlen(keys), nkey = (int)strcspn(keys, " ");
    return (struct key_words){keys, keys + nkey, keys + len + (end ? 2 : 0), nkey, len - nkey};
}

/* Draw the keys one after another if there is no room for a list. */
static void draw_help_flowing(struct canvas *c, const char *keys)
{
    int x = 1, y = 0;
    while (*keys) {
        struct key_words w = key_words(keys);
        if (x > 1 && x + w.nkey + w.nwhat >= c->w) x = 1, y++;
        if (y == c->h - 1) return;
        x = canvas_text(c, x, y, ST_BOLD, "%.*s", w.nkey, w.key);
        x = canvas_text(c, x, y, ST_PLAIN, "%.*s", w.nwhat, w.what) + 3;
        keys = w.following;
    }
}

#define SPLIT_KEYS "  |/_ divide this pane  X close it  F one pane or all  <>{} width and height"
static const char pane_keys[] =
    "  Tab next view or pane  1-9 go to that view  v all views, C-p palette  : a command, y copy  m "
    "mouse on or off" SPLIT_KEYS,
                  /* digits enter a count */
    counting_keys[] =
        "  Tab next view or pane  v all views, C-p palette  : a command, y copy  m mouse on or off" SPLIT_KEYS;

/* Draw as many whole sentences of the description as fit in `room` lines, or a part of the first one. Returns the
   number of lines. */
static int draw_about(struct canvas *c, const char *about, int room)
{
    char text[1024];
    snprintf(text, sizeof text, "%s", about);
    for (char *end = text + strlen(text) - 1; wrapped_lines(c, 2, text) > room;) {
        while (end > text && strncmp(end, ". ", 2)) end--;
        if (end == text) break;
        end[1] = 0;
        end--;
    }
    int lines = wrapped_lines(c, 2, text);
    draw_wrapped(c, 2, 1, room, ST_PLAIN, text);
    return lines < room ? lines : room;
}

/* Draw the keys as a list, and the view's description above the list if there is room. */
static void draw_help(struct canvas *c, const struct view *v, bool pane, bool counts)
{
    char keys[1024];
    int lines = 0, y = 0;
    snprintf(keys, sizeof keys, "%s%s", v->keys, !pane ? "" : counts ? counting_keys : pane_keys);
    for (const char *k = keys; *k; lines++) k = key_words(k).following;
    if (lines > c->h - 1) {
        draw_help_flowing(c, keys);
        return;
    }
    if (lines + 5 < c->h) {
        canvas_text(c, 2, 0, ST_TITLE, "%s", v->name);
        y = 2 + draw_about(c, v->about, c->h - lines - 3);
    }
    for (const char *k = keys; *k && y < c->h - 1; y++) {
        struct key_words w = key_words(k);
        canvas_text(c, 2, y, ST_BOLD, "%.*s", w.nkey, w.key);
        canvas_text(c, 13, y, ST_PLAIN, "%.*s", w.nwhat, w.what);
        k = w.following;
    }
}

static const char *typing_keys(const struct view_state *st)
{
    return st->question[0] ? "Enter accept  Esc cancel" : "Enter go there  Esc cancel";
}

/* If the screen has too few lines for the list of panes, the keys that change the pane are listed before the view's own
   keys. */
static void draw_common_keys(struct canvas *c, const char *keys, const struct view_state *st)
{
    static const char common[] = "? help  q leave";
    char all[1024];
    size_t n = sizeof common - 1;
    bool here = st->pane && !st->listed && !strncmp(keys, common, n);
    if (here) snprintf(all, sizeof all, "%s  Tab pane  : command%s", common, keys + n);
    draw_keys(c, here ? all : keys);
}

void view_draw_keys(const struct view *v, struct canvas *c, struct session *s, const struct view_state *st)
{
    draw_common_keys(c,
                     st->help      ? "press any key to return"
                     : st->typing  ? typing_keys(st)
                     : v->keys_now ? v->keys_now(s)
                                   : v->keys,
                     st);
}

void view_draw(const struct view *v, struct canvas *c, struct session *s, struct view_state *st)
{
    if (st->help)
        draw_help(c, v, st->pane, v->claims && v->claims(s, '1'));
    else
        v->draw(c, s, st);
    if (!st->full) return;
    if (st->typing) draw_fill(c, 0, c->h - 2, c->w, ST_PLAIN, ' ');
    if (st->typing)
        canvas_text(c, 1, c->h - 2, ST_BOLD, "%s%s_",
                    st->question[0] ? st->question : "row [column], counted from 0: ", st->typed);
    else if (st->message[0])
        draw_message(c, c->h - 1, ST_WARN, st->message);
    view_draw_keys(v, c, s, st);
}

void draw_fill(struct canvas *c, int x, int y, int n, enum style st, uint32_t glyph)
{
    for (int i = 0; i < n; i++) canvas_put(c, x + i, y, st, glyph);
}

char *show_safe(const char *text, char *out, size_t size)
{
    return print_safe(text, strlen(text), 60, out, size);
}

/* The number of bytes of the whole words that fit on a line of `room` columns; 0: no word fits. */
static int line_length(const char *text, int room)
{
    int n = (int)strlen(text), end = room;
    if (n <= room) return n;
    while (end > 0 && text[end] != ' ') end--;
    return end > 0 ? end : 0;
}

int draw_title(struct canvas *c, const char *what, const struct matrix *m, const char *fmt, ...)
{
    char name[256], rows[32], cols[32], nnz[32], size[128] = "", more[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(more, sizeof more, fmt, ap);
    va_end(ap);
    int x = canvas_text(c, 1, 0, ST_TITLE, "%s ", what);
    if (m) x = canvas_text(c, x + 1, 0, ST_BOLD, "%s  ", show_safe(m->name, name, sizeof name));
    if (m)
        snprintf(size, sizeof size, "%s x %s, %s nnz", show_count(m->csr.rows, rows, sizeof rows),
                 show_count(m->csr.cols, cols, sizeof cols), show_count(m->csr.nnz, nnz, sizeof nnz));
    if (x + text_width(size) <= c->w) x = canvas_text(c, x, 0, ST_PLAIN, "%s", size);
    int n = line_length(more, c->w - x - 2);
    canvas_text(c, x + 2, 0, ST_DIM, "%.*s", n, more);
    return n;
}

void draw_keys_at(struct canvas *c, int x, int y, const char *keys)
{
    for (const char *k = keys; *k;) {
        struct key_words w = key_words(k);
        if (x + w.nkey + w.nwhat > c->w) break;
        x = canvas_text(c, x, y, ST_BOLD, "%.*s", w.nkey, w.key);
        x = canvas_text(c, x, y, ST_DIM, "%.*s", w.nwhat, w.what) + 2;
        k = w.following;
    }
}

void draw_keys(struct canvas *c, const char *keys)
{
    draw_fill(c, 0, c->h - 1, c->w, ST_DIM, ' ');
    draw_keys_at(c, 1, c->h - 1, keys);
}

void draw_message(struct canvas *c, int end, enum style st, const char *text)
{
    int lines = wrapped_lines(c, 1, text);
    if (lines > end) lines = end;
    for (int y = end - lines; y < end; y++) draw_fill(c, 0, y, c->w, ST_PLAIN, ' ');
    draw_wrapped(c, 1, end - lines, lines, st, text);
}

void draw_bar(struct canvas *c, int x, int y, int width, double share, enum style st)
{
    if (!(share > 0)) return;
    if (c->figure) {
        figure_rect(c->figure, st, 1, x, y + 0.1, width * (share < 1 ? share : 1), 0.8);
        return;
    }
    int eighths = (int)lround(share * width * 8);
    if (eighths < 1) eighths = 1;
    if (eighths > width * 8) eighths = width * 8;
    draw_fill(c, x, y, eighths / 8, st, 0x2588);
    if (eighths % 8) canvas_put(c, x + eighths / 8, y, st, 0x2590 - (uint32_t)(eighths % 8));
}

void draw_item(struct canvas *c, struct pen *at, const char *name, const char *value)
{
    if (at->x > 1 && at->x + text_width(name) + 1 + text_width(value) > c->w) *at = (struct pen){1, at->y + 1};
    int x = canvas_text(c, at->x, at->y, ST_DIM, "%s ", name);
    at->x = canvas_text(c, x, at->y, ST_BOLD, "%s", value) + 3;
}

void draw_right(struct canvas *c, int x, int y, enum style st, const char *text)
{
    canvas_text(c, x - text_width(text), y, st, "%s", text);
}

/* The bytes of the text that fit into one line; 0: none fit. */
static int wrapped_length(const struct canvas *c, int x, const char *text)
{
    int room = c->w - x - 1, taken, n = line_length(text, room);
    return n ? n : (int)text_fit(text, room, &taken); /* a word that is longer than the line is cut */
}

void draw_wrapped(struct canvas *c, int x, int y, int lines, enum style st, const char *text)
{
    for (int i = 0, n; i < lines && *text && (n = wrapped_length(c, x, text)); i++) {
        canvas_text(c, x, y + i, st, "%.*s", n, text);
        text += n;
        text += *text == ' ';
    }
}

int wrapped_lines(const struct canvas *c, int x, const char *text)
{
    int lines = 0;
    for (int n; *text && (n = wrapped_length(c, x, text)); lines++) {
        text += n;
        text += *text == ' ';
    }
    return lines;
}
