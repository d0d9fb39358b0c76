/* The explorer on the canvas: the list of panes, the pane, the output of a command, and the command line. */
#include "base/err.h"
#include "base/memfile.h"
#include "base/registry.h"
#include "base/text.h"
#include "draw.h"
#include "explore.h"
#include "explorer.h"
#include "prompt.h"
#include "screen.h"
#include "screen_thread.h"
#include "session/front.h"
#include "session/session.h"
#include "term.h"
#include "terminal_window.h"
#include "ui/views/view_state.h"

#include <string.h>

/* ---- the list of panes ---- */

static const char menu_words[] = "v views ";
enum { MORE_WIDTH = 3 }; /* of ".. ", where names are left out */

static int name_width(const struct session *s, const struct view *v)
{
    char text[40];
    return snprintf(text, sizeof text, " %d %s ", explorer_number(s, v), v->name);
}

/* The names from *from to *to - 1 are shown: all of them, or the page of names in `room` columns that contains the name
   of the active pane. Pages do not depend on the active pane, so that names stand still within a page; the last page is
   full, too. */
static void find_page(const struct session *s, const struct view *const *pane, int n, int room, int *from, int *to)
{
    bool here = false;
    *from = 0;
    for (int i = 0, x = 0; i < n; i++) {
        int width = name_width(s, pane[i]);
        if (x && x + width > room) {
            if (here) break;
            *from = i;
            x = 0;
        }
        here |= pane[i] == screen_explorer((struct session *)s)->pane;
        x += width;
        *to = i + 1;
    }
    for (int x = 0, i = n; *to == n && i-- > 0 && (x += name_width(s, pane[i])) <= room;)
        if (i < *from) *from = i;
}

const struct view *explorer_list_panes(struct canvas *c, const struct session *s, int at)
{
    const struct view *pane[VIEWS_MAX], *found = NULL;
    int n = explorer_panes(s, pane), all = 0, from = 0, to = n, x = 0;
    for (int i = 0; i < n; i++) all += name_width(s, pane[i]);
    if (all > c->w) find_page(s, pane, n, c->w - 2 * MORE_WIDTH - (int)strlen(menu_words), &from, &to);
    if (from > 0) {
        if (at >= 0 && at < MORE_WIDTH) found = pane[from - 1];
        x = canvas_text(c, x, 0, ST_DIM, ".. ");
    }
    for (int i = from; i < to; i++) {
        bool here = pane[i] == screen_explorer((struct session *)s)->pane;
        int end = x + name_width(s, pane[i]);
        if (at >= x && at < end) found = pane[i];
        canvas_text(c, x, 0, here ? ST_TITLE : ST_DIM, "%c%d %s%c", here ? '[' : ' ', explorer_number(s, pane[i]),
                    pane[i]->name, here ? ']' : ' ');
        x = end;
    }
    if (to < n && at >= x && at < x + MORE_WIDTH) found = pane[to];
    if (to < n) canvas_text(c, x, 0, ST_DIM, " ..");
    return found;
}

/* The longest of these texts that fits at the right end of line 0. */
static void draw_list(struct canvas *c, const struct session *s)
{
    static const char *const keys[] = {"Tab next  v views  : command ", menu_words};
    draw_fill(c, 0, 0, c->w, ST_DIM, ' ');
    explorer_list_panes(c, s, -1);
    int end = canvas_line_end(c, 0);
    for (int i = 0; i < COUNT(keys); i++) {
        if (end + 1 + (int)strlen(keys[i]) > c->w) continue;
        draw_right(c, c->w, 0, ST_DIM, keys[i]);
        return;
    }
}

/* Draw view v on a canvas of its own; its last line is the list of keys. */
static void draw_pane(struct canvas *c, struct session *s, const struct view *v)
{
    struct explorer *x = screen_explorer(s);
    struct view_state *st = screen_view_state(s, v);
    x->panes_drawn++;
    st->pane = true;
    st->listed = x->h >= LISTED_FROM;
    if (screen_thread_serves() && !explorer_is_valid(s, v)) {
        draw_title(c, v->name, NULL, "%s", "");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "this pane is drawn again when the command has ended");
        return;
    }
    struct err why = {0};
    if (view_has_matrix(v, s, &why)) {
        view_draw(v, c, s, st);
        return;
    }
    draw_title(c, v->name, NULL, "%s", "");
    draw_wrapped(c, 1, 2, 6, ST_PLAIN,
                 s->current ? why.text : "there is no matrix to show; use `:load FILE` or `:gen poisson2d 40`");
    draw_keys(c, "q leave  Tab pane  : command");
}

/* Draw the output over the lower part of the pane. */
static void draw_output(struct canvas *c, struct explorer *x)
{
    struct canvas lower = *c;
    int room = c->h - 2;
    pager_fit(&x->pager, c->w - 2, room + 1);
    int shown = x->pager.rows < room ? x->pager.rows : room, y = room - shown;
    draw_fill(c, 0, y, c->w, ST_AXIS, 0x2500);
    canvas_text(c, 1, y++, ST_TITLE, " :%s ", x->output_title);
    lower.cell += y * c->w;
    lower.h = shown + 1;
    pager_draw(&x->pager, &lower);
    if (!pager_scrolls(&x->pager)) draw_keys(c, "q close  : command");
}

/* Draw the completions in columns above the command line. */
static void draw_completions(struct canvas *c, const struct line_shown *l)
{
    int widest = 0;
    for (int i = 0; i < l->words; i++)
        if (text_width(l->word[i]) > widest) widest = text_width(l->word[i]);
    int columns = (c->w - 1) / (widest + 2) > 0 ? (c->w - 1) / (widest + 2) : 1;
    int lines = (l->words + columns - 1) / columns;
    if (lines > WORD_LINES) lines = WORD_LINES;
    if (lines > c->h - 3) lines = c->h - 3;
    for (int i = 0; i < lines; i++) draw_fill(c, 0, c->h - 1 - lines + i, c->w, ST_PLAIN, ' ');
    for (int i = 0; i < l->words && i < lines * columns; i++) {
        char safe[300];
        print_safe(l->word[i], strlen(l->word[i]), (size_t)c->w - 2, safe, sizeof safe);
        canvas_text(c, 1 + i % columns * (widest + 2), c->h - 1 - lines + i / columns, ST_DIM, "%s", safe);
    }
    if (l->words > lines * columns) draw_right(c, c->w, c->h - 2, ST_DIM, " ...");
}

/* Draw the command line with its cursor. If the line is too long, draw the part around the cursor. */
static void draw_line(struct canvas *c)
{
    struct line_shown l = line_shown();
    char head[4096], tail[4096];
    size_t point = (size_t)l.point;
    if (l.words) draw_completions(c, &l);
    draw_fill(c, 0, c->h - 1, c->w, ST_PLAIN, ' ');
    print_safe(l.text, point < 1000 ? point : 1000, 1000, head, sizeof head);
    print_safe(l.text + point, strnlen(l.text + point, 500), 500, tail, sizeof tail);
    int at = 1 + text_width(l.before) + text_width(head), shift = at > c->w - 2 ? at - (c->w - 2) : 0;
    canvas_put(c, 0, c->h - 1, ST_BOLD, ':');
    int x = canvas_text(c, 1 - shift, c->h - 1, ST_DIM, "%s", l.before);
    x = canvas_text(c, x, c->h - 1, ST_PLAIN, "%s", head);
    canvas_text(c, x, c->h - 1, ST_PLAIN, "%s", tail);
    canvas_style(c, x, c->h - 1, ST_CURSOR);
}

/* Draw the running work and its progress on the last line. */
static void draw_running(struct canvas *c, struct session *s)
{
    const struct explorer *x = screen_explorer(s);
    char progress[120];
    session_progress(s, progress, sizeof progress);
    draw_fill(c, 0, c->h - 1, c->w, ST_PLAIN, ' ');
    int to = canvas_text(c, 1, c->h - 1, ST_BOLD, "%s", x->running);
    to = canvas_text(c, to + 2, c->h - 1, ST_PLAIN, "%s", progress);
    if (typed_ahead_count()) to = canvas_text(c, to + 2, c->h - 1, ST_PLAIN, "%d waiting", typed_ahead_count());
    canvas_text(c, to + 2, c->h - 1, ST_DIM, "Ctrl-C stops it");
}

static int cursor_line(const struct canvas *c)
{
    for (int i = 0; i < c->w * c->h; i++)
        if (c->cell[i].style == ST_CURSOR) return i / c->w;
    return -1;
}

/* ---- several panes ---- */

/* The lines between panes side by side. */
static void draw_borders_of(struct canvas *c, const struct split *t, int i)
{
    const struct split_node *k = &t->node[i];
    if (k->view) return;
    int x = t->node[k->second].at.x - 1;
    for (int y = k->at.y; y < k->at.y + k->at.h && k->way == SIDE_BY_SIDE; y++) canvas_put(c, x, y, ST_AXIS, 0x2502);
    draw_borders_of(c, t, k->first);
    draw_borders_of(c, t, k->second);
}

void explorer_draw_borders(struct canvas *c, const struct split *t)
{
    draw_borders_of(c, t, t->root);
}

void explorer_draw_name(struct canvas *c, struct rect at, const struct view *v, int number, bool focus)
{
    enum style st = focus ? ST_TITLE : ST_AXIS;
    draw_fill(c, at.x, at.y, at.w, st, focus ? 0x2501 : 0x2500);
    canvas_text(c, at.x + 1, at.y, st, "%c%d %s%c", focus ? '[' : ' ', number, v->name, focus ? ']' : ' ');
}

/* ---- pixels ---- */

/* The pixels that the panes may use now. A picture would show through the blanks of output and of completions. */
static struct pixel_terminal pixels_now(const struct explorer *x)
{
    struct pixel_terminal now;
    bool covered = x->output || x->menu || x->palette.item || (x->typing && line_shown().words);
    if (covered || x->as_text || x->no_pixels || !term_pixels(&now)) return (struct pixel_terminal){PIXELS_OFF, 0, 0};
    return now;
}

/* If the pixels that the panes may use have changed, all panes are drawn again. */
static void update_pixels(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    struct pixel_terminal now = pixels_now(x);
    bool same = now.way == x->pixels.way && now.cw == x->pixels.cw && now.ch == x->pixels.ch;
    x->pixels = now;
    x->images = 0;
    if (!same) explorer_stale(s, NULL);
}

/* Make the picture of v from the figure on the canvas of its pane. */
static void make_image(struct explorer *x, const struct view *v, const struct canvas *c)
{
    struct pane_picture *p = explorer_picture(x, v);
    struct err e = {0};
    p->image.id = (int)(p - x->picture) + 1;
    if (x->pixels.way == PIXELS_OFF || image_make(&p->image, &p->figure, c->w, c->h - 1, x->pixels, &e)) return;
    x->no_pixels = true;
    explorer_say(x, true, e.text);
}

/* Draw v on the canvas; lines and dots that the terminal can show as pixels go to its picture instead. */
static void draw_with_pixels(struct canvas *c, struct session *s, const struct view *v)
{
    struct explorer *x = screen_explorer(s);
    struct pane_picture *p = explorer_picture(x, v);
    figure_clear(&p->figure);
    p->figure.cw = x->pixels.cw;
    p->figure.ch = x->pixels.ch;
    c->figure = x->pixels.way == PIXELS_OFF ? NULL : &p->figure;
    draw_pane(c, s, v);
    c->figure = NULL;
    if (x->pixels.way == PIXELS_OFF) image_free(&p->image);
    make_image(x, v, c);
}

/* Show the picture of v, whose pane begins at cell (x0, y0). */
static void place_image(struct explorer *x, const struct view *v, int x0, int y0)
{
    const struct image *im = &explorer_picture(x, v)->image;
    if (!im->bytes || x->no_pixels || x->images == PANES_MAX) return;
    struct image *placed = &x->placed[x->images];
    *placed = *im;
    placed->at.x += x0;
    placed->at.y += y0;
    x->image[x->images++] = placed;
}

/* The picture of v, drawn again if it has changed. Returns NULL if there is not enough memory. */
static const struct pane_picture *picture_of(struct session *s, const struct view *v, struct rect at,
                                             const struct canvas *like)
{
    struct pane_picture *p = explorer_picture(screen_explorer(s), v);
    struct canvas *c = &p->c;
    if (c->w != at.w || c->h != at.h || c->ascii != like->ascii || c->colours != like->colours) {
        canvas_free(c);
        if (!canvas_new(c, at.w, at.h, like->ascii, NULL)) return NULL;
        c->colours = like->colours;
        p->fresh = false;
    }
    if (p->fresh && v != screen_running(s)) return p;
    canvas_clear(c);
    draw_with_pixels(c, s, v);
    p->cursor_y = cursor_line(c);
    p->fresh = true;
    return p;
}

static void draw_panes(struct canvas *c, struct session *s)
{
    struct explorer *x = screen_explorer(s);
    int pane[PANES_MAX], n = split_panes(&x->split, pane);
    explorer_draw_borders(c, &x->split);
    for (int i = 0; i < n; i++) {
        const struct split_node *k = &x->split.node[pane[i]];
        const struct pane_picture *p = picture_of(s, k->view, k->at, c);
        explorer_draw_name(c, k->at, k->view, explorer_number(s, k->view), pane[i] == x->split.focus);
        for (int y = 1; p && y < k->at.h; y++)
            memcpy(&c->cell[(k->at.y + y) * c->w + k->at.x], &p->c.cell[(y - 1) * p->c.w],
                   (size_t)p->c.w * sizeof *c->cell);
        if (p) place_image(x, k->view, k->at.x, k->at.y + 1);
    }
    view_draw_keys(x->pane, c, s, screen_view_state(s, x->pane));
}

/* Draw one pane on the whole area and, below it, its keys. */
static void draw_single(struct canvas *c, struct session *s)
{
    struct explorer *x = screen_explorer(s);
    struct canvas pane = *c;
    int top = x->split.area.y;
    pane.cell += top * c->w;
    pane.h -= top;
    draw_with_pixels(&pane, s, x->pane);
    place_image(x, x->pane, 0, top);
    x->cursor_y = cursor_line(&pane);
}

/* The keys of help, of a question, and of the pane that shows the work stay on the last line. */
static bool shows_running(struct session *s)
{
    const struct view *v = screen_explorer(s)->pane;
    const struct view_state *st = screen_view_state(s, v);
    return screen_thread_serves() && screen_running(s) != v && !st->help && !st->typing;
}

void explore_draw(struct canvas *c, struct session *s)
{
    struct explorer *x = screen_explorer(s);
    x->w = c->w;
    x->h = c->h;
    if (c->w < WIDTH_MIN || c->h < HEIGHT_MIN) {
        canvas_text(c, 0, 0, ST_PLAIN, "too small");
        return;
    }
    if (c->h >= LISTED_FROM) draw_list(c, s);
    split_fit(&x->split, explorer_area(x->w, x->h));
    explorer_follow_trace(s);
    update_pixels(s);
    (split_shows_all(&x->split) ? draw_panes : draw_single)(c, s);
    if (x->output) draw_output(c, x);
    if (x->menu) menu_draw(c, s);
    if (x->palette.item) return palette_draw(&x->palette, c);
    if (x->typing) {
        draw_line(c);
    } else if (x->status[0]) {
        draw_message(c, c->h, x->status_bad ? ST_BAD : ST_PLAIN, x->status);
    } else if (shows_running(s)) {
        draw_running(c, s);
    }
}

/* ---- the clipboard ---- */

/* The pane with the focus as text, without its list of keys. */
static bool print_pane(struct session *s, FILE *f, struct err *e)
{
    struct explorer *x = screen_explorer(s);
    struct rect at = split_shows_all(&x->split) ? x->split.node[x->split.focus].at : x->split.area;
    struct canvas c;
    if (!canvas_new(&c, at.w, at.h, s->front->ascii, e)) return false;
    draw_pane(&c, s, x->pane);
    c.h--;
    canvas_print(&c, f, COLOURS_NONE);
    canvas_free(&c);
    return true;
}

bool explore_copy(struct session *s, size_t *n, struct err *e)
{
    struct explorer *x = screen_explorer(s);
    struct memfile m;
    if (x->output) return *n = strlen(x->output), window_copy(x->output, *n, e);
    bool ok = memfile_open(&m, e) && print_pane(s, m.file, e);
    ok = memfile_close(&m, ok, e) && window_copy(m.text, m.n, e);
    *n = m.n;
    memfile_free(&m);
    return ok;
}
