/* The full-screen explorer: panes side by side, a command line below them, and the output of its commands. */
#include "explore.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "base/words.h"
#include "explorer.h"
#include "language/run_lines.h"
#include "prompt.h"
#include "screen.h"
#include "screen_thread.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"
#include "session/stale.h"
#include "stage.h"
#include "term.h"
#include "terminal_window.h"
#include "ui/views/view_state.h"

#include <string.h>

/* ---- panes ---- */

typedef bool prepare_fn(struct session *s, const struct view *v, struct view_state *st, struct err *e);

static bool prepare(struct session *s, const struct view *v, struct view_state *st, struct err *e)
{
    return !v->prepare || !view_has_matrix(v, s, NULL) || v->prepare(s, st, e);
}

/* The same without the screen lock, because it may be slow. Meanwhile the pane is not valid, so that the screen thread
   leaves its state alone. */
static bool prepare_unlocked(struct session *s, const struct view *v, struct view_state *st, struct err *e)
{
    struct explorer *x = screen_explorer(s);
    st->stale_seen = -1;
    x->preparing = v;
    bool gave = screen_lock_give();
    bool ok = prepare(s, v, st, e);
    screen_lock_back(gave);
    x->preparing = NULL;
    return ok;
}

/* Prepare the pane for the session's current matrix by one of these; its visible part and cursor are kept. */
static bool refresh_by(prepare_fn *prepares, struct session *s, const struct view *v, struct err *e)
{
    struct view_state *st = screen_view_state(s, v);
    view_reset(st, s->current);
    st->full = st->pane = true;
    if (!prepares(s, v, st, e)) return false;
    st->stale_seen = stale_count();
    explorer_stale(s, v);
    return true;
}

static bool refresh(struct session *s, const struct view *v, struct err *e)
{
    return refresh_by(prepare, s, v, e);
}

/* Refresh the pane while the screen thread draws and handles keys. */
static bool refresh_beside(struct session *s, const struct view *v, struct err *e)
{
    if (!v->prepare) return refresh(s, v, e);
    struct explorer *x = screen_explorer(s);
    snprintf(x->running, sizeof x->running, "%s", v->name);
    session_take_interrupt();
    progress_begin(&s->progress);
    enum served before = screen_thread_serve(s, x->on ? SERVED_SCREEN : screen_thread_serves());
    bool ok = refresh_by(prepare_unlocked, s, v, e);
    screen_thread_serve(s, before);
    session_take_interrupt();
    return ok;
}

bool explore_enter(struct session *s, const struct view *v, struct err *e)
{
    struct explorer *x = screen_explorer(s);
    const struct view *pane = x->pane;
    if (!refresh_beside(s, v, e)) return false;
    if (x->pane == pane) explorer_show(x, v); /* if the user turned to another pane meanwhile, that pane stays */
    cursor_follow(s, x->pane);
    explorer_stale(s, x->pane);
    return true;
}

void explore_revalidate(struct session *s, const struct view *v)
{
    struct view_state *st = screen_view_state(s, v);
    if (explorer_is_valid(s, v)) return;
    view_reset(st, s->current);
    st->full = true;
    st->stale_seen = stale_count();
    explorer_stale(s, v);
}

/* Can this pane be prepared while a command runs? */
static bool is_ready(struct session *s, const struct view *v)
{
    if (screen_explorer(s)->preparing == v) return false;
    if (!v->prepare || !view_has_matrix(v, s, NULL)) return true;
    return v->prepares_soon && v->prepares_soon(s, screen_view_state(s, v));
}

/* Called while a command runs. Show the pane if it needs no preparation; otherwise remember the pane for later. */
static void turn_beside(struct session *s, const struct view *v)
{
    struct explorer *x = screen_explorer(s);
    x->wanted = NULL;
    if (!explorer_is_valid(s, v) && !is_ready(s, v)) {
        char text[120];
        snprintf(text, sizeof text, "%s will be shown when %s has ended", v->name, x->running);
        explorer_say(x, false, text);
        x->wanted = v;
        return;
    }
    struct err e = {0};
    if (!explorer_is_valid(s, v) && !refresh(s, v, &e)) {
        explorer_say(x, true, e.text);
        return;
    }
    explorer_show(x, v);
    cursor_follow(s, v);
    explorer_stale(s, v);
}

void explore_turn_to(struct session *s, const struct view *v)
{
    struct err e = {0};
    if (screen_thread_serves()) {
        turn_beside(s, v);
        return;
    }
    if (!explore_enter(s, v, &e)) explorer_say(screen_explorer(s), true, e.text);
}

void explore_arranged(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    const struct view *shown[PANES_MAX];
    split_fit(&x->split, explorer_area(x->w, x->h));
    for (int i = 0, n = explorer_visible(s, shown); i < n; i++) {
        struct err e = {0};
        if (explorer_is_valid(s, shown[i]) || (screen_thread_serves() && !is_ready(s, shown[i]))) continue;
        if (!(screen_thread_serves() ? refresh : refresh_beside)(s, shown[i], &e)) explorer_say(x, true, e.text);
        if (shown[i] != x->pane) cursor_follow_beside(s, shown[i]);
    }
}

/* With several panes, move the focus by that many panes; with one pane, show the view that is `by` views further. The
   first follows the last. */
static void turn_by(struct session *s, int by)
{
    const struct view *pane[VIEWS_MAX];
    struct split *t = &screen_explorer(s)->split;
    if (split_count(t) > 1) {
        split_turn(t, by);
        explore_turn_to(s, t->node[t->focus].view);
        return;
    }
    int n = explorer_panes(s, pane), at = 0;
    const struct view *from = screen_explorer(s)->wanted ? screen_explorer(s)->wanted : screen_explorer(s)->pane;
    while (at < n - 1 && pane[at] != from) at++;
    explore_turn_to(s, pane[(at + by + n) % n]);
}

/* Show the view of this number, if it is listed; otherwise, say what it lacks. */
static void turn_to_number(struct session *s, int number)
{
    const struct view *v = explorer_numbered(s, number);
    if (v && explorer_lists(s, v)) {
        explore_turn_to(s, v);
    } else if (v) {
        char text[240];
        const char *nothing = v->nothing ? v->nothing(s) : NULL;
        snprintf(text, sizeof text, "%d %s: %s", number, v->name, nothing ? nothing : "there is nothing to show yet");
        explorer_say(screen_explorer(s), false, text);
    }
}

/* Handle a key that arranges panes. */
static void arrange(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    const struct view *added;
    bool arranged = explorer_pane_key(s, key, &added);
    if (added) explore_turn_to(s, added);
    x->pane = x->split.node[x->split.focus].view;
    if (arranged) explore_arranged(s);
}

/* ---- commands ---- */

/* Continue the work of a view, like a command, without the screen lock. */
static bool drive(struct session *s, const struct view *v, struct err *e)
{
    bool gave = screen_lock_give();
    bool ok = v->drive(s, e);
    screen_lock_back(gave);
    return ok;
}

/* Run the line, or continue the work of a view if line is NULL. *text receives the output, which the caller releases
   with mem_free. Returns false if the command failed. */
static bool run_quietly(struct session *s, const char *line, const struct view *driven, char **text)
{
    struct explorer *x = screen_explorer(s);
    struct out *outer = s->out;
    int w = s->front->width, h = s->front->height;
    struct memfile m;
    struct err e = {0};
    *text = NULL;
    if (!memfile_open(&m, &e) || !(s->out = out_new(m.file, m.file, OUT_TEXT, &e))) {
        s->out = outer;
        memfile_free(&m);
        return explorer_say(x, true, e.text);
    }
    out_redirect(s->out, (struct out_target){.data = m.file, .columns = x->w > 2 ? x->w - 2 : 0});
    s->front->width = x->w;
    s->front->height = x->h - 2;
    session_take_interrupt();
    enum served before = screen_thread_serve(s, SERVED_SCREEN);
    bool ok = driven ? drive(s, driven, &e) : run_line(s, line);
    screen_thread_serve(s, before);
    if (e.code) out_error(s->out, &e);
    if (s->front->calm) s->front->calm(s);
    work_interrupted();
    s->front->width = w;
    s->front->height = h;
    out_free(s->out);
    s->out = outer;
    memfile_close(&m, true, NULL); /* the end of the text may be missing */
    *text = m.text;
    return ok;
}

static bool is_one_line(const char *text, int room)
{
    const char *end = strchr(text, '\n');
    return (!end || !end[1]) && text_width(text) <= room;
}

/* Close the output, and keep it for `last`. */
static void close_output(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    pager_close(&x->pager);
    screen_keep_output(s, x->output, x->output ? strlen(x->output) : 0);
    x->output = NULL;
}

/* Show output of one line at the bottom, and longer output over the pane. Takes ownership of text. */
static void show_output(struct session *s, bool ok, const char *title, char *text)
{
    struct explorer *x = screen_explorer(s);
    print_safe(title, strlen(title), 60, x->output_title, sizeof x->output_title);
    if (text && is_one_line(text, x->w - 2)) {
        text[strcspn(text, "\n")] = 0;
        explorer_say(x, !ok, text);
    } else if (text && *text) {
        close_output(s);
        if (!pager_open(&x->pager, text, strlen(text), x->w, x->h, NULL)) {
            mem_free(text);
            return;
        }
        x->pager.words = true;
        x->pager.margin = 1;
        x->pager.keys = "q close  : command  space next  b back  / search";
        x->output = text;
        return;
    }
    mem_free(text);
}

static bool leaves(int key)
{
    return key == 'q' || key == UI_ESC || key == UI_INTERRUPT;
}

void explore_offer(struct session *s, const char *text)
{
    SCREEN_EDIT;
    struct explorer *x = screen_explorer(s);
    mem_free(x->offered);
    x->offered = mem_str(text, NULL);
}

/* Open the command line with the text that a command has offered. */
static void take_offer(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    if (!x->offered) return;
    x->typing = line_open(s);
    if (x->typing) line_insert(x->offered);
    mem_free(x->offered);
    x->offered = NULL;
}

/* Run a command, or continue the work of a view if line is NULL, and show the output under this title. */
static void run(struct session *s, const char *line, const struct view *driven, const char *title)
{
    struct explorer *x = screen_explorer(s);
    char *text = NULL;
    print_safe(title, strlen(title), 40, x->running, sizeof x->running);
    if (line) {
        close_output(s);
        char safe[120], what[sizeof x->status];
        snprintf(what, sizeof what, "%s ... Ctrl-C stops it", print_safe(line, strlen(line), 60, safe, sizeof safe));
        explorer_say(x, false, what);
        if (term_is_open()) screen_redraw(s);
        x->status[0] = 0;
    }
    double began = now_us();
    bool ok = run_quietly(s, line, driven, &text);
    if (!line) window_work_ended(title, now_us() - began);
    window_title(s);
    if (s->quit || leaves(x->pending)) {
        mem_free(x->last_output);
        x->last_output = text;
        return;
    }
    /* Drop the output of the pane's own work unless the work failed, because the pane shows the result. */
    if (x->pending && text)
        text[strcspn(text, "\n")] = 0, explorer_say(x, !ok, text), mem_free(text);
    else if (line || !ok)
        show_output(s, ok, title, text);
    else
        mem_free(text);
    struct err e = {0};
    explorer_stale(s, NULL);
    if ((line || !explorer_is_valid(s, x->pane)) && !refresh_beside(s, x->pane, &e)) explorer_say(x, true, e.text);
    explore_arranged(s);
    take_offer(s);
}

bool explore_catch_up(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    const struct view *wanted = x->wanted;
    char *line = typed_ahead_next();
    if (line) {
        run(s, line, NULL, line);
        mem_free(line);
        return true;
    }
    x->wanted = NULL;
    if (wanted) x->status[0] = 0, explore_turn_to(s, wanted);
    return wanted;
}

static bool is_paused(const struct session *s, const struct view *v)
{
    return v->is_paused && v->is_paused(s);
}

/* The view whose unfinished work continues now; NULL: none. On a real terminal, work that is not paused continues,
   whichever pane is shown. On a simulated terminal, the pane's work runs until a key interrupts it. */
static const struct view *driven_view(const struct session *s, const struct explorer *x)
{
    if (stage_now()) return x->pane->drive && x->pane->is_running(s) && !x->typing && !x->output ? x->pane : NULL;
    for (int i = 0; views[i]; i++)
        if (views[i]->drive && views[i]->is_running(s) && !is_paused(s, views[i])) return views[i];
    return NULL;
}

void explore_leave(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    for (int i = 0; views[i] && !stage_now() && !x->last_output; i++) {
        if (!views[i]->drive || !views[i]->is_running(s)) continue;
        x->pending = key;
        screen_set_running(s, views[i]);
        run(s, NULL, views[i], views[i]->name);
    }
}

bool explore_drive(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    const struct view *v = x->pending ? NULL : driven_view(s, x);
    if (!v) return false;
    screen_set_running(s, v);
    run(s, NULL, v, v->name);
    return true;
}

/* Does the line name a row and perhaps a column, such as "200" or "200 220"? Such a line moves the cursor, like the key
   / in a pane. */
static bool is_place(const char *line)
{
    size_t n = strspn(line, " ");
    return line[n] >= '0' && line[n] <= '9' && strspn(line, "0123456789 ") == strlen(line);
}

static void go_to(struct session *s, const char *line)
{
    struct explorer *x = screen_explorer(s);
    if (!x->pane->go || !view_has_matrix(x->pane, s, NULL)) {
        explorer_say(x, true, "this pane has no rows to go to");
        return;
    }
    view_key(s, x->pane, '/');
    for (const char *p = line; *p; p++) view_key(s, x->pane, *p);
    view_key(s, x->pane, UI_ENTER);
}

/* Handle a line that was typed while a command runs. */
static void queue(struct explorer *x, char *line)
{
    char text[240];
    snprintf(text, sizeof text, "%s waiting for %s to end; Ctrl-C stops it",
             how_many(typed_ahead_count() + 1, "line").text, x->running);
    bool queued = line && typed_ahead_add(line);
    explorer_say(x, !queued, queued ? text : "too many lines are already waiting; this line was dropped");
}

static void type(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    enum line now = line_key(key);
    x->typing = now == LINE_ON;
    x->status[0] = 0;
    if (now != LINE_DONE) return;
    char *line = line_taken();
    if (is_place(line))
        go_to(s, line);
    else if (line[strspn(line, " \t")] && screen_thread_serves())
        queue(screen_explorer(s), mem_str(line, NULL));
    else if (line[strspn(line, " \t")])
        run(s, line, NULL, line);
    mem_free(line);
}

/* ---- the palette ---- */

enum { COPY_KEY = 'y' };

static bool is_palette_key(int key)
{
    return key == UI_F1 || key == ('P' & 0x1f);
}

static void open_palette(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    struct err e = {0};
    if (!palette_open(&x->palette, s, &e)) explorer_say(x, true, e.text);
}

/* Show the chosen view, explain the topic, or begin a command line with the item. */
static void use_choice(struct session *s, enum palette_sort sort, const char *name, const char *line, bool runs)
{
    struct explorer *x = screen_explorer(s);
    if (sort == PALETTE_VIEW)
        turn_to_number(s, explorer_number(s, view_find(name)));
    else if (runs && screen_thread_serves())
        queue(x, mem_str(line, NULL));
    else if (runs)
        run(s, line, NULL, line);
    else if ((x->typing = line_open(s)))
        line_insert(line);
}

static void use_palette(struct session *s, int key)
{
    struct palette *p = &screen_explorer(s)->palette;
    enum palette_state state = palette_key(p, key);
    char line[LINE_LIMIT + 1], name[64];
    bool runs;
    if (state == PALETTE_ON) return;
    if (state == PALETTE_LEFT) {
        palette_close(p);
        return;
    }
    const struct palette_item *item = palette_choice(p);
    enum palette_sort sort = item->sort;
    palette_line(item, line, sizeof line, &runs);
    snprintf(name, sizeof name, "%s", item->name);
    palette_close(p);
    use_choice(s, sort, name, line, runs);
}

/* ---- keys ---- */

static bool pane_claims(struct session *s, int key)
{
    const struct view *v = screen_explorer(s)->pane;
    return v->claims && v->claims(s, key);
}

bool explore_takes(struct session *s, int key)
{
    const struct explorer *x = screen_explorer(s);
    const struct view_state *st = screen_view_state(s, x->pane);
    if (!x->on || st->typing || pane_claims(s, key)) return false;
    if (x->palette.item || is_palette_key(key)) return true;
    if (key == UI_TAB || key == UI_BACKTAB || key == ':' || (key >= '1' && key <= '9')) return true;
    if (explorer_is_pane_key(key) || key == MENU_KEY || x->menu) return true;
    return key == UI_CLICK && x->h >= LISTED_FROM && x->mouse_y == 0;
}

/* Scroll or search the output, or close it. */
static void output_key(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    bool keep_open = x->pager.typing || (pager_scrolls(&x->pager) && pager_takes(&x->pager, key));
    if (!pager_key(&x->pager, key) || !keep_open) close_output(s);
}

static void wheel(struct session *s, const struct view *v, int by)
{
    explorer_stale(s, v);
    if (v->zooms) {
        view_key(s, v, by < 0 ? '+' : '-');
        return;
    }
    for (int i = 0; i < WHEEL_LINES; i++) view_key(s, v, by < 0 ? UI_UP : UI_DOWN);
}

/* Move the cursor of v to the cell (px, py) of its pane, which has h lines; in a list, only after a click. */
static void point(struct session *s, const struct view *v, int px, int py, int h, bool clicked)
{
    struct explorer *x = screen_explorer(s);
    int cursor_y = split_shows_all(&x->split) ? explorer_picture(x, v)->cursor_y : x->cursor_y;
    explorer_stale(s, v);
    if (v->click && v->click(s, screen_view_state(s, v), px, py)) cursor_publish(s, v);
    if (!v->is_list || !clicked || cursor_y < 0 || py >= h - 1) return;
    for (int at = cursor_y; at < py; at++) view_key(s, v, UI_DOWN);
    for (int at = cursor_y; at > py; at--) view_key(s, v, UI_UP);
}

static void mouse(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    struct split *t = &x->split;
    int top = x->h >= LISTED_FROM;
    if (key == UI_CLICK && x->mouse_y < top) {
        struct cell cells[1];
        struct canvas none = {.w = x->w, .h = 0, .cell = cells};
        const struct view *v = explorer_list_panes(&none, s, x->mouse_x);
        if (v)
            explore_turn_to(s, v);
        else
            menu_open(s);
        return;
    }
    int at = split_at(t, x->mouse_x, x->mouse_y);
    if (at == NO_NODE) return;
    bool named = split_shows_all(t); /* the first line of a pane is its name */
    const struct view *v = t->node[at].view;
    const struct view_state *st = screen_view_state(s, v);
    struct rect r = t->node[at].at;
    if (key == UI_CLICK && v != x->pane) explore_turn_to(s, v);
    if (!view_has_matrix(v, s, NULL) || (screen_thread_serves() && !explorer_is_valid(s, v))) return;
    int px = x->mouse_x - r.x, py = x->mouse_y - r.y - named;
    if (!st->help && !st->typing && py >= 0) point(s, v, px, py, r.h - named, key == UI_CLICK);
    if (key == UI_WHEEL_UP || key == UI_WHEEL_DOWN) wheel(s, v, key == UI_WHEEL_UP ? -1 : 1);
}

static void copy(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    char text[80], size[32];
    struct err e = {0};
    size_t n;
    bool ok = explore_copy(s, &n, &e);
    if (ok) snprintf(text, sizeof text, "copied %s", show_bytes((double)n, size, sizeof size));
    explorer_say(x, !ok, ok ? text : e.text);
}

static void switch_mouse(struct explorer *x)
{
    x->mouse_off = !x->mouse_off;
    term_mouse(!x->mouse_off);
    explorer_say(x, false, x->mouse_off ? "the mouse is off" : "the mouse is on");
}

/* Does the key change data that commands use, and not only the picture in the pane? */
static bool acts(struct session *s, int key)
{
    const struct view *v = screen_explorer(s)->pane;
    const struct view_state *st = screen_view_state(s, v);
    if (st->help || !v->changes) return false;
    return st->typing ? st->question[0] && key == UI_ENTER : v->changes(s, key);
}

/* Handle a key of the pane while a command runs. */
static void pane_key_beside(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    const struct view *v = x->pane, *work = screen_running(s);
    char text[160];
    bool acting = acts(s, key);
    if (acting && work == v) {
        work_key_post(key);
        return;
    }
    if (acting || !explorer_is_valid(s, v)) {
        snprintf(text, sizeof text, "%s runs and may use what this key changes; Ctrl-C stops it", x->running);
        explorer_say(x, true, text);
        return;
    }
    if (view_key(s, v, key)) return;
    if (work) {
        x->pending = key; /* first the solve or the race is paused, then this key leaves the explorer */
        return;
    }
    snprintf(text, sizeof text, "%s runs; Ctrl-C stops it, and then this key leaves the explorer", x->running);
    explorer_say(x, false, text);
}

bool explore_key(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    const struct view_state *st = screen_view_state(s, x->pane);
    bool small = x->w < WIDTH_MIN || x->h < HEIGHT_MIN;
    if (key < 0 || key == UI_RESIZE) return true;
    explorer_stale(s, x->pane);
    if (x->typing) return x->pending = 0, type(s, key), !s->quit && !leaves(x->pending);
    if (x->palette.item) return x->pending = 0, use_palette(s, key), !s->quit && !leaves(x->pending);
    if (small && x->output) close_output(s);
    if (!x->pending) x->status[0] = 0; /* keep the status if it describes the work that the key interrupted */
    x->pending = 0;
    bool searching = x->output && x->pager.typing;
    if (key == ':' && !st->typing && !searching) return x->menu = NULL, x->typing = line_open(s), true;
    if (is_palette_key(key) && !st->typing && !searching) return x->menu = NULL, open_palette(s), true;
    if (key == COPY_KEY && !st->typing && !searching && !x->menu && !pane_claims(s, key)) return copy(s), true;
    if (x->output) return output_key(s, key), true;
    if (x->menu) return turn_to_number(s, menu_key(s, key)), true;
    if (!st->typing && key == MENU_KEY) return menu_open(s), true;
    if (key == UI_CLICK || key == UI_WHEEL_UP || key == UI_WHEEL_DOWN) return mouse(s, key), true;
    if (!st->typing && key == UI_TAB) return turn_by(s, 1), true;
    if (!st->typing && key == UI_BACKTAB) return turn_by(s, -1), true;
    if (!st->typing && !pane_claims(s, key) && key >= '1' && key <= '9') return turn_to_number(s, key - '0'), true;
    if (!st->typing && !pane_claims(s, key) && key == 'm') return switch_mouse(x), true;
    if (!st->typing && explorer_is_pane_key(key)) return arrange(s, key), true;
    if (!view_has_matrix(x->pane, s, NULL)) return !leaves(key);
    if (screen_thread_serves()) return pane_key_beside(s, key), true;
    return view_key(s, x->pane, key);
}

void explore_end(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    close_output(s);
    x->status[0] = 0;
    x->typing = false;
    x->menu = NULL;
    palette_close(&x->palette);
    if (x->last_output) fputs(x->last_output, out_file(s->out));
    mem_free(x->last_output);
    mem_free(x->offered);
    x->last_output = x->offered = NULL;
    x->pending = 0;
    explorer_stale(s, NULL);
    for (int i = 0; views[i]; i++) screen_view_state(s, views[i])->pane = false;
}
