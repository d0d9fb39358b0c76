/* The full-screen explorer: panes side by side, a command line below them, and what its commands say. */
#include "draw.h"
#include "front.h"
#include "prompt.h"
#include "stage.h"

#include <stdlib.h>
#include <string.h>

/* From this height on the panes are listed in a line of their own. */
enum { LISTED_FROM = 14, WIDTH_LEAST = 20, HEIGHT_LEAST = 5, WORD_LINES = 5, WHEEL_LINES = 3 };

/* ---- panes ---- */

/* Views of work that was never begun are left out. */
static bool is_there(const struct session *s, const struct view *v)
{
    return v == front_explorer((struct session *)s)->pane || !v->exists || v->exists(s);
}

/* The panes in order; how many. */
static int panes(const struct session *s, const struct view *pane[VIEWS_MAX])
{
    int n = 0;
    for (int i = 0; views[i]; i++)
        if (is_there(s, views[i])) pane[n++] = views[i];
    return n;
}

static bool say(struct explorer *x, bool bad, const char *text)
{
    snprintf(x->status, sizeof x->status, "%.239s", text);
    x->status_bad = bad;
    return !bad;
}

/* Fit the pane to the session as it is; its place stays. */
static bool refresh(struct session *s, const struct view *v, struct err *e)
{
    struct view_state *st = front_state(s, v);
    view_reset(st, s->current);
    st->full = st->pane = true;
    return !v->prepare || (!v->any && !s->current) || v->prepare(s, st, e);
}

bool explore_enter(struct session *s, const struct view *v, struct err *e)
{
    struct explorer *x = front_explorer(s);
    if (!refresh(s, v, e)) return false;
    x->pane = v;
    cursor_follow(s, v);
    return true;
}

static void turn_to(struct session *s, const struct view *v)
{
    struct err e = {0};
    if (!explore_enter(s, v, &e)) say(front_explorer(s), true, e.text);
}

/* `by` panes further, and from the last one on to the first. */
static void turn_by(struct session *s, int by)
{
    const struct view *pane[VIEWS_MAX];
    int n = panes(s, pane), at = 0;
    while (pane[at] != front_explorer(s)->pane) at++;
    turn_to(s, pane[(at + by + n) % n]);
}

static void turn_to_nth(struct session *s, int nth)
{
    const struct view *pane[VIEWS_MAX];
    if (nth >= 0 && nth < panes(s, pane)) turn_to(s, pane[nth]);
}

/* ---- commands ---- */

/* Run the line, what it says going to text; false: it failed. Release text with free. */
static bool run_quietly(struct session *s, const char *line, char **text)
{
    struct explorer *x = front_explorer(s);
    struct out *outer = s->out;
    int w = s->front->width, h = s->front->height;
    size_t size;
    struct err e = {0};
    FILE *f = open_memstream(text, &size);
    if (!f || !(s->out = out_new(f, f, OUT_TEXT, &e))) {
        s->out = outer;
        if (f) fclose(f);
        return say(x, true, "out of memory");
    }
    s->front->width = x->w;
    s->front->height = x->h - 2;
    session_take_interrupt();
    bool ok = line ? run_line(s, line) : x->pane->drive(s, &e);
    if (e.code) out_error(s->out, &e);
    if (s->front->calm) s->front->calm(s);
    session_take_interrupt();
    s->front->width = w;
    s->front->height = h;
    out_free(s->out);
    s->out = outer;
    fclose(f);
    return ok;
}

static bool is_one_line(const char *text, int room)
{
    const char *end = strchr(text, '\n');
    return (!end || !end[1]) && text_width(text) <= room;
}

/* One line stays below, more are laid over the pane; text is the explorer's then. */
static void show_output(struct explorer *x, bool ok, const char *title, char *text)
{
    x->output_first = 0;
    print_safe(title, strlen(title), 60, x->output_title, sizeof x->output_title);
    if (text && is_one_line(text, x->w - 2)) {
        text[strcspn(text, "\n")] = 0;
        say(x, !ok, text);
    } else if (text && *text) {
        x->output = text;
        return;
    }
    free(text);
}

static bool leaves(int key)
{
    return key == 'q' || key == UI_ESC || key == UI_INTERRUPT;
}

/* Run a command, or (line NULL) drive the work of the pane. */
static void run(struct session *s, const char *line, const char *title)
{
    struct explorer *x = front_explorer(s);
    char *text = NULL;
    free(x->output);
    x->output = NULL;
    if (line) {
        char safe[120], what[sizeof x->status];
        snprintf(what, sizeof what, "%s ... Ctrl-C stops it", print_safe(line, strlen(line), 60, safe, sizeof safe));
        say(x, false, what);
        if (term_is_open()) front_draw(s);
        x->status[0] = 0;
    }
    bool ok = run_quietly(s, line, &text);
    if (s->quit || leaves(x->pending)) {
        free(x->last_output);
        x->last_output = text;
        return;
    }
    /* How a solve went is what its pane shows. */
    if (x->pending && text)
        text[strcspn(text, "\n")] = 0, say(x, !ok, text), free(text);
    else if (line || !ok)
        show_output(x, ok, title, text);
    else
        free(text);
    struct err e = {0};
    if (!refresh(s, x->pane, &e)) say(x, true, e.text);
}

bool explore_drive(struct session *s)
{
    struct explorer *x = front_explorer(s);
    const struct view *v = x->pane;
    if (x->pending || !v->drive || !v->is_running(s) || x->typing || x->output) return false;
    live_pane(s, v);
    run(s, NULL, v->name);
    return true;
}

/* "200" or "200 220" goes to that row, as behind the / of a pane. */
static bool is_place(const char *line)
{
    size_t n = strspn(line, " ");
    return line[n] >= '0' && line[n] <= '9' && strspn(line, "0123456789 ") == strlen(line);
}

static void go_to(struct session *s, const char *line)
{
    struct explorer *x = front_explorer(s);
    if (!x->pane->go || !s->current) {
        say(x, true, "this pane has no rows to go to");
        return;
    }
    view_key(s, x->pane, '/');
    for (const char *p = line; *p; p++) view_key(s, x->pane, *p);
    view_key(s, x->pane, UI_ENTER);
}

static void type(struct session *s, int key)
{
    struct explorer *x = front_explorer(s);
    enum line now = line_key(key);
    x->typing = now == LINE_ON;
    x->status[0] = 0;
    if (now != LINE_DONE) return;
    char *line = line_taken();
    if (is_place(line))
        go_to(s, line);
    else if (line[strspn(line, " \t")])
        run(s, line, line);
    mem_free(line);
}

/* ---- drawing ---- */

/* "[1 spy]  2 rows ..." from x = 1; the pane whose name is at column `at`, or NULL. */
static const struct view *list_panes(struct canvas *c, const struct session *s, int at)
{
    const struct view *pane[VIEWS_MAX], *found = NULL;
    int n = panes(s, pane), room = 0;
    for (int i = 0; i < n; i++) room += (int)strlen(pane[i]->name) + 5;
    for (int i = 0, x = 0; i < n; i++) {
        bool here = pane[i] == front_explorer((struct session *)s)->pane;
        char text[40];
        if (room > c->w && !here)
            snprintf(text, sizeof text, " %d ", i + 1);
        else
            snprintf(text, sizeof text, "%c%d %s%c", here ? '[' : ' ', i + 1, pane[i]->name, here ? ']' : ' ');
        int end = x + (int)strlen(text);
        if (at >= x && at < end) found = pane[i];
        canvas_text(c, x, 0, here ? ST_TITLE : ST_DIM, "%s", text);
        x = end;
    }
    return found;
}

static void draw_list(struct canvas *c, const struct session *s)
{
    static const char keys[] = "Tab next  : command ";
    draw_fill(c, 0, 0, c->w, ST_DIM, ' ');
    list_panes(c, s, -1);
    const struct cell *before = &c->cell[c->w - (int)strlen(keys) - 1];
    if (c->w > (int)strlen(keys) + 8 && before[0].glyph == ' ' && before[1].glyph == ' ')
        draw_right(c, c->w, 0, ST_DIM, keys);
}

static void draw_pane(struct canvas *c, struct session *s)
{
    const struct explorer *x = front_explorer(s);
    struct view_state *st = front_state(s, x->pane);
    st->pane = true;
    st->listed = x->h >= LISTED_FROM;
    if (x->pane->any || s->current) {
        view_draw(x->pane, c, s, st);
        return;
    }
    draw_title(c, x->pane->name, NULL, "%s", "");
    draw_wrapped(c, 1, 2, 3, ST_PLAIN, "there is no matrix to show; `:load FILE` or `:gen poisson2d 40` makes one");
    draw_keys(c, "q leave  Tab pane  : command");
}

/* The next line of text, no wider than w: after a blank where there is one. NULL: that was all. */
static const char *next_line(const char *text, int w, int *length)
{
    int n = (int)strcspn(text, "\n"), fits;
    if (!*text) return NULL;
    *length = n;
    if (text_width(text) > w) { /* of all that follows, and so rarely of this line only */
        int most = (int)text_fit(text, w, &fits);
        if (most < 1) most = 1;
        if (n > most) {
            *length = most;
            while (*length > w / 2 && text[*length - 1] != ' ') --*length;
            if (text[*length - 1] != ' ') *length = most;
            return text + *length;
        }
    }
    return text + n + (text[n] == '\n');
}

static int lines_of(const char *text, int w)
{
    int n = 0, length;
    while ((text = next_line(text, w, &length))) n++;
    return n;
}

/* Lines of what was said that are seen at once. */
static int output_lines_shown(const struct explorer *x)
{
    int n = lines_of(x->output, x->w - 2), room = x->h - 2;
    return n < room ? n : room;
}

/* Over the pane, from the bottom up as far as it reaches. */
static void draw_output(struct canvas *c, const struct explorer *x)
{
    int n = lines_of(x->output, c->w - 2), shown = output_lines_shown(x), y = c->h - 2 - shown, length;
    const char *text = x->output, *next;
    char keys[160];
    draw_fill(c, 0, y, c->w, ST_AXIS, 0x2500);
    canvas_text(c, 1, y++, ST_TITLE, " :%s ", x->output_title);
    for (int i = 0; (next = next_line(text, c->w - 2, &length)) && i < x->output_first + shown; i++, text = next) {
        if (i < x->output_first) continue;
        draw_fill(c, 0, y, c->w, ST_PLAIN, ' ');
        canvas_text(c, 1, y++, ST_PLAIN, "%.*s", length, text);
    }
    snprintf(keys, sizeof keys, "q close  : command  up/down of %d lines, to %d", n, x->output_first + shown);
    draw_keys(c, n > shown ? keys : "q close  : command");
}

/* The words a line could go on with, above it, in columns. */
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

/* The line with its cursor; of one that is too long the part around the cursor. */
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

static int cursor_line(const struct canvas *c)
{
    for (int i = 0; i < c->w * c->h; i++)
        if (c->cell[i].style == ST_CURSOR) return i / c->w;
    return -1;
}

void explore_draw(struct canvas *c, struct session *s)
{
    struct explorer *x = front_explorer(s);
    struct canvas pane = *c;
    x->w = c->w;
    x->h = c->h;
    if (c->w < WIDTH_LEAST || c->h < HEIGHT_LEAST) {
        canvas_text(c, 0, 0, ST_PLAIN, "too small");
        return;
    }
    if (c->h >= LISTED_FROM) {
        pane.cell += c->w;
        pane.h--;
        draw_list(c, s);
    }
    draw_pane(&pane, s);
    x->cursor_y = cursor_line(&pane);
    if (x->output) draw_output(c, x);
    if (x->typing) {
        draw_line(c);
    } else if (x->status[0]) {
        draw_fill(c, 0, c->h - 1, c->w, ST_PLAIN, ' ');
        canvas_text(c, 1, c->h - 1, x->status_bad ? ST_BAD : ST_PLAIN, "%s", x->status);
    }
}

/* ---- keys ---- */

static bool pane_claims(struct session *s, int key)
{
    const struct view *v = front_explorer(s)->pane;
    return v->claims && v->claims(s, key);
}

bool explore_takes(struct session *s, int key)
{
    const struct explorer *x = front_explorer(s);
    const struct view_state *st = front_state(s, x->pane);
    if (!x->on || st->asks || pane_claims(s, key)) return false;
    if (key == UI_TAB || key == UI_BACKTAB || key == ':' || (key >= '1' && key <= '9')) return true;
    return key == UI_CLICK && x->h >= LISTED_FROM && x->mouse_y == 0;
}

/* Scroll what was said, or close it. */
static void output_key(struct explorer *x, int key)
{
    int shown = output_lines_shown(x), last = lines_of(x->output, x->w - 2) - shown;
    int by = key == UI_UP || key == 'k'     ? -1
             : key == UI_DOWN || key == 'j' ? 1
             : key == UI_WHEEL_UP           ? -WHEEL_LINES
             : key == UI_WHEEL_DOWN         ? WHEEL_LINES
             : key == UI_PGUP || key == 'b' ? -shown
             : key == UI_PGDN || key == ' ' ? shown
             : key == UI_HOME || key == 'g' ? -x->output_first
             : key == UI_END || key == 'G'  ? last
                                            : 0;
    bool stays = key < 0 || key == UI_RESIZE || (last > 0 && (by || key == UI_HOME || key == 'g'));
    x->output_first += by;
    if (x->output_first > last) x->output_first = last;
    if (x->output_first < 0) x->output_first = 0;
    if (stays) return;
    free(x->output);
    x->output = NULL;
}

static void wheel(struct session *s, int by)
{
    const struct view *v = front_explorer(s)->pane;
    if (v->zooms) {
        view_key(s, v, by < 0 ? '+' : '-');
        return;
    }
    for (int i = 0; i < WHEEL_LINES; i++) view_key(s, v, by < 0 ? UI_UP : UI_DOWN);
}

/* Move the cursor to where the mouse is; that of a list only by a click. */
static void point(struct session *s, int y, bool clicked)
{
    struct explorer *x = front_explorer(s);
    const struct view *v = x->pane;
    if (v->click && v->click(s, front_state(s, v), x->mouse_x, y)) cursor_publish(s, v);
    if (!v->is_list || !clicked || x->cursor_y < 0 || y >= x->h - 2) return;
    for (int at = x->cursor_y; at < y; at++) view_key(s, v, UI_DOWN);
    for (int at = x->cursor_y; at > y; at--) view_key(s, v, UI_UP);
}

static void mouse(struct session *s, int key)
{
    struct explorer *x = front_explorer(s);
    struct view_state *st = front_state(s, x->pane);
    int top = x->h >= LISTED_FROM;
    if (key == UI_CLICK && x->mouse_y < top) {
        struct cell cells[1];
        struct canvas none = {.w = x->w, .h = 0, .cell = cells};
        const struct view *v = list_panes(&none, s, x->mouse_x);
        if (v) turn_to(s, v);
        return;
    }
    if (!x->pane->any && !s->current) return;
    if (!st->help && !st->asks && x->mouse_y >= top) point(s, x->mouse_y - top, key == UI_CLICK);
    if (key == UI_WHEEL_UP || key == UI_WHEEL_DOWN) wheel(s, key == UI_WHEEL_UP ? -1 : 1);
}

static void switch_mouse(struct explorer *x)
{
    x->mouse_off = !x->mouse_off;
    term_mouse(!x->mouse_off);
    say(x, false, x->mouse_off ? "the mouse is off" : "the mouse is on");
}

bool explore_key(struct session *s, int key)
{
    struct explorer *x = front_explorer(s);
    const struct view_state *st = front_state(s, x->pane);
    bool small = x->w < WIDTH_LEAST || x->h < HEIGHT_LEAST;
    if (key < 0 || key == UI_RESIZE) return true;
    if (x->typing) return x->pending = 0, type(s, key), !s->quit && !leaves(x->pending);
    if (small && x->output) free(x->output), x->output = NULL;
    if (!x->pending) x->status[0] = 0; /* else it tells of what was left by the key */
    x->pending = 0;
    if (key == ':' && !st->asks) return x->typing = line_open(s), true;
    if (x->output) return output_key(x, key), true;
    if (key == UI_CLICK || key == UI_WHEEL_UP || key == UI_WHEEL_DOWN) return mouse(s, key), true;
    if (!st->asks && key == UI_TAB) return turn_by(s, 1), true;
    if (!st->asks && key == UI_BACKTAB) return turn_by(s, -1), true;
    if (!st->asks && !pane_claims(s, key) && key >= '1' && key <= '9') return turn_to_nth(s, key - '1'), true;
    if (!st->asks && !pane_claims(s, key) && key == 'm') return switch_mouse(x), true;
    if (!x->pane->any && !s->current) return !leaves(key);
    return view_key(s, x->pane, key);
}

void explore_end(struct session *s)
{
    struct explorer *x = front_explorer(s);
    free(x->output);
    x->output = NULL;
    x->status[0] = 0;
    x->typing = false;
    if (x->last_output) fputs(x->last_output, out_file(s->out));
    free(x->last_output);
    x->last_output = NULL;
    x->pending = 0;
    for (int i = 0; views[i]; i++) front_state(s, views[i])->pane = false;
}
