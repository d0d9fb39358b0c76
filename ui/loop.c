/* The main loop: the prompt, full-screen views, and a solve while it runs. */
#include "background.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/watch.h"
#include "cast.h"
#include "draw.h"
#include "language/run_lines.h"
#include "line_history.h"
#include "machine/device.h"
#include "paged.h"
#include "prompt.h"
#include "run.h"
#include "screen.h"
#include "screen_private.h"
#include "screen_thread.h"
#include "serve.h"
#include "session/command.h"
#include "session/matrix.h"
#include "stage.h"
#include "term.h"
#include "terminal_window.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Width and height of a view printed for a listener (a lesson or a test), independent of the terminal. */
enum { LISTENER_WIDTH = 80, LISTENER_HEIGHT = 24 };

/* ---- views ---- */

/* Draw and handle keys until a key leaves the explorer. */
static bool explore_keys(struct session *s, struct err *e)
{
    struct explorer *x = screen_explorer(s);
    for (;;) {
        if (!screen_draw(s, x->pane, e)) return false;
        if (!x->pending && explore_catch_up(s)) continue;
        if (explore_drive(s) && !x->pending && !screen_draw(s, x->pane, e)) return false;
        int key = x->pending ? x->pending : work_key_next(); /* a key that was typed for work that has ended meanwhile
                                                                  is now a key of the explorer */
        if (key < 0) key = screen_key(s, -1);
        if (!explore_key(s, key)) return explore_leave(s, key), true;
    }
}

/* Show the panes of `made`; the pane with the focus must be valid. */
static void take_split(struct session *s, const struct split *made)
{
    struct explorer *x = screen_explorer(s);
    x->split = *made;
    x->pane = made->node[made->focus].view;
    explorer_stale(s, NULL);
}

/* Open the explorer with these panes, or, in the explorer, show these panes. */
static bool run_full(struct session *s, const struct split *made, struct err *e)
{
    SCREEN_EDIT;
    struct explorer *x = screen_explorer(s);
    const struct view *v = made->node[made->focus].view;
    bool interactive = s->interactive, batch = s->batch;
    struct lines lines = s->lines;
    if (x->on) {
        take_split(s, made);
        if (!explore_enter(s, v, e)) return false;
        explore_arranged(s);
        return true;
    }
    enum served before = screen_thread_serve(s, SERVED_NOTHING);
    paged_show(s);
    take_split(s, made);
    if (!explore_enter(s, v, e)) return screen_thread_serve(s, before), false;
    prompt_open(s); /* may print a warning about the history file */
    if (!term_open(e)) return screen_thread_serve(s, before), false;
    s->front->covered = x->on = s->interactive = true;
    s->batch = false;
    if (!stage_now())
        s->lines = (struct lines){0}; /* the user at the terminal types the command lines that follow `:` */
    term_size(&x->w, &x->h);
    window_title(s);
    explore_arranged(s);
    bool ok = explore_keys(s, e);
    screen_draw_as_text(s); /* for screendump */
    s->lines = lines;
    s->front->covered = x->on = false;
    s->interactive = interactive;
    s->batch = batch;
    term_close();
    explore_end(s);
    screen_of(s)->output_is_newer = false;
    screen_thread_serve(s, before);
    return ok;
}

static bool explore_one(struct session *s, const struct view *v, struct err *e)
{
    SCREEN_EDIT;
    struct explorer *x = screen_explorer(s);
    struct split one = x->split;
    if (!view_has_matrix(v, s, e)) return false;
    if (x->on)
        split_show(&one, v);
    else
        split_begin(&one, v);
    return run_full(s, &one, e);
}

bool explore(struct session *s, const char *names, struct err *e)
{
    SCREEN_EDIT;
    struct explorer *x = screen_explorer(s);
    struct split made = x->split;
    int w, h;
    if (!names && split_count(&made) > 1)
        return view_has_matrix(made.node[made.focus].view, s, e) && run_full(s, &made, e);
    if (!names) return explore_one(s, x->pane ? x->pane : views[0], e);
    if (view_find(names)) return explore_one(s, view_find(names), e);
    term_size(&w, &h);
    if (!explorer_arrange(s, names, explorer_area(w, h), &made, e)) return false;
    if (!strcmp(names, "all") && split_count(&made) == 1)
        explorer_tell(x, "this window has room for one view; Tab shows the next one");
    return run_full(s, &made, e);
}

/* A lesson prints a drawing whole if it is not twice as high as the screen: the text waits at the end of a page. */
static int height_in_lesson(struct session *s, const struct view *v, const struct view_state *st, int h)
{
    int all = s->folder && v->lines ? v->lines(s, st) : h;
    return all > h && all < 2 * h ? all : h;
}

/* Print the view for a listener (a lesson or a test). The text does not depend on the size of the terminal. */
static bool tell_listener(struct session *s, const struct view *v, struct view_state *st, struct err *e)
{
    FILE *f = out_listener(s->out);
    struct canvas c;
    if (!f) return true;
    if (!canvas_new(&c, st->w ? st->w : LISTENER_WIDTH, st->h ? st->h : height_in_lesson(s, v, st, LISTENER_HEIGHT),
                    s->front->ascii, e))
        return false;
    view_draw(v, &c, s, st);
    canvas_print(&c, f, COLOURS_NONE);
    canvas_free(&c);
    return true;
}

/* Keep the last drawing, for screendump and last. */
static void keep_canvas(struct session *s, const struct view *v, const struct canvas *c)
{
    struct screen *sc = screen_of(s);
    SCREEN_EDIT;
    canvas_free(&sc->canvas);
    sc->canvas = *c;
    sc->drawn_view = v;
    sc->output_is_newer = false;
}

/* The state of a view that is drawn as text. The explorer does not draw a pane with this state meanwhile. */
static void reset_for_text(struct session *s, struct view_state *st)
{
    SCREEN_EDIT;
    view_reset(st, s->current);
    st->full = false;
    if (screen_explorer(s)->on) st->stale_seen = -1;
}

/* Print the view as text, in the size and colours of the terminal, or, without a terminal, in the size stated in struct
   front. */
static bool print_text(struct session *s, const struct view *v, struct err *e)
{
    FILE *f = out_file(s->out);
    struct view_state *st = screen_view_state(s, v);
    bool terminal = out_is_terminal(s->out);
    int w = s->front->width, h = s->front->height;
    if (terminal) term_size(&w, &h), h--;
    h = height_in_lesson(s, v, st, h);
    struct canvas c;
    if (!tell_listener(s, v, st, e)) return false;
    if (!canvas_new(&c, st->w ? st->w : w, st->h ? st->h : h, s->front->ascii, e)) return false;
    c.colours = s->plain ? COLOURS_NONE : colours_of_env(terminal);
    view_draw(v, &c, s, st);
    if (!watch_tick(&s->watch, "", 0, 0, e)) return canvas_free(&c), false; /* the picture may be incomplete */
    out_progress_clear(s->out);
    canvas_print(&c, f, c.colours);
    keep_canvas(s, v, &c);
    return true;
}

static bool show(struct session *s, const char *name, bool full, struct err *e)
{
    if (full && (!strcmp(name, "all") || strchr(name, ','))) return explore(s, name, e);
    const struct view *v = view_find(name);
    if (!v) return fail(e, E_USAGE, "there is no view `%.40s`; `help view` lists the views", name);
    if (!view_has_matrix(v, s, e)) return false;
    struct view_state *st = screen_view_state(s, v);
    bool goes_on = full && v->drive && v->is_running(s);
    bool pane = screen_explorer(s)->on && !st->w && !st->h &&
                !s->folder && /* a lesson prints pictures between its text */
                !out_is_redirected(s->out);
    if (!goes_on && (full || pane)) return explore_one(s, v, e);
    reset_for_text(s, st);
    if (v->prepare && !v->prepare(s, st, e)) return false;
    return goes_on ? live_open(s, v, e) : print_text(s, v, e);
}

/* ---- the last drawing ---- */

/* If the explorer is open, draw its pane again without the command line, because the command may have changed the data
   that the pane shows. */
static bool draw_pane_alone(struct session *s, struct err *e)
{
    struct explorer *x = screen_explorer(s);
    if (!x->on) return true;
    return explore_enter(s, x->pane, e) && screen_draw(s, x->pane, e);
}

const struct canvas *screen_canvas(struct session *s)
{
    SCREEN_EDIT;
    struct screen *sc = screen_of(s);
    if (!draw_pane_alone(s, NULL)) return NULL;
    screen_draw_as_text(s);
    return sc->canvas.cell ? &sc->canvas : NULL;
}

const struct canvas *screen_canvas_and_images(struct session *s, const struct image *const **image, int *n)
{
    SCREEN_EDIT;
    struct screen *sc = screen_of(s);
    if (!draw_pane_alone(s, NULL)) return NULL;
    *image = sc->explorer.image;
    *n = sc->explorer.on ? sc->explorer.images : 0;
    return sc->canvas.cell ? &sc->canvas : NULL;
}

static bool again(struct session *s, const struct view *v, struct view_state *st, struct err *e)
{
    int w = st->w ? st->w : s->front->width, h = st->h ? st->h : s->front->height;
    if (!view_has_matrix(v, s, e)) return false;
    reset_for_text(s, st);
    st->pane = false;
    if (v->prepare && !v->prepare(s, st, e)) return false;
    if (out_mode(s->out) == OUT_TEXT) return print_text(s, v, e);
    return view_numbers(v, s, st, w, h, e);
}

/* The explorer, too, changes the last drawing. */
static const struct view *drawn_view(struct session *s)
{
    SCREEN_EDIT;
    return screen_of(s)->drawn_view;
}

bool screen_draw_again(struct session *s, int w, int h, struct err *e)
{
    const struct view *v = drawn_view(s);
    if (!v) return fail(e, E_USAGE, "nothing has been drawn yet; run spy, rows, layout or view");
    struct view_state *st = screen_view_state(s, v);
    struct matrix *current = s->current, *m = v->any ? current : (struct matrix *)st->of;
    if (!v->any && !matrix_is_loaded(s, m))
        return fail(e, E_USAGE, "the matrix that %s last drew is no longer loaded", v->name);
    int old_w = st->w, old_h = st->h;
    if (w) st->w = w, st->h = h;
    session_use(s, m);
    bool ok = again(s, v, st, e);
    session_use(s, current);
    st->w = old_w;
    st->h = old_h;
    return ok;
}

static void echo(struct session *s, bool on)
{
    static bool old_quiet;
    static enum served before;
    if (on) before = screen_thread_serve(s, SERVED_NOTHING);
    if (on) paged_show(s);
    if (!screen_explorer(s)->on) {
        if (s->interactive) term_quiet(!on);
        if (!on) screen_thread_serve(s, before);
        return;
    }
    if (stage_now()) return;
    if (on) {
        term_close();
        old_quiet = term_quiet(false);
        return;
    }
    fputs("\nPress Enter to return to the panes ", stdout);
    fflush(stdout);
    for (enum happened what = H_RESIZE; what == H_RESIZE || what == H_CONTINUE;) what = term_wait(-1);
    tcflush(STDIN_FILENO, TCIFLUSH);
    term_quiet(old_quiet);
    if (!term_open(NULL)) s->quit = true; /* the terminal was closed */
    screen_thread_serve(s, before);
}

/* ---- for main ---- */

/* A command has ended. The pager waits for a key, so the window is notified first. */
static void shown(struct session *s)
{
    if (!s->nested && s->interactive) window_work_ended(out_begun(s->out), s->took_us);
    paged_show(s);
}

static void take_terminal(void)
{
    term_signals();
    term_quiet(true); /* turn echo off until the prompt echoes typed characters itself */
}

bool ui_attach(struct session *s, struct err *e)
{
    struct screen *sc = mem_zero(1, sizeof *sc, "the screen", e);
    if (!sc) return false;
    screen_lock_take(); /* commands run without the lock */
    s->front = &sc->front;
    for (int i = 0; views[i]; i++)
        if (!view_state_new(&sc->state[i], views[i], e)) return ui_detach(s), false;
    sc->front =
        (struct front){.show = show, .live = live_view, .echo = echo, .calm = live_calm, .width = 80, .height = 24};
    sc->front.ask = prompt_ask;
    sc->front.shown = shown;
    sc->front.pause = prompt_pause;
    sc->front.ascii = s->plain || !utf8_locale();
    sc->front.views = &view_registry;
    sc->front.restyle = screen_restyle;
    sc->front.cast_begin = cast_begin;
    sc->front.cast_now = cast_now;
    sc->front.cast_end = cast_end;
    serve_attach();
    out_links_by(s->out, &window_links);
    screen_restyle(s);
    if (s->interactive) take_terminal();
    return true;
}

void ui_detach(struct session *s)
{
    struct screen *sc = screen_of(s);
    if (!sc) return;
    term_close();
    cast_end();
    background_end();
    window_end();
    guard_end();
    prompt_close(s);
    line_history_close();
    for (int i = 0; views[i]; i++) view_state_free(&sc->state[i]);
    canvas_free(&sc->canvas);
    mem_free(sc->long_output);
    explorer_free(&sc->explorer);
    mem_free(sc);
    s->front = NULL;
    screen_lock_give();
}

/* How to begin, or what to do next with the matrix that the program was started with. */
static void say_next(const struct session *s, char *text, size_t size)
{
    const struct matrix *m = s->current;
    const struct device *d = s->dev ? s->dev : device_default();
    if (!m)
        snprintf(text, size, "warpspy %s on %s; begin with `help`, `lesson looks` or `load FILE`", WARPSPY_VERSION,
                 d ? d->name : "no device");
    else
        snprintf(text, size,
                 "next: `check` judges %s, `view` draws it, `advise` ranks kernels, `solve` %s; `help` lists all",
                 m->name,
                 m->csr.rows != m->csr.cols ? "finds a least-squares x"
                 : m->sides.n               ? "uses its right side"
                                            : "chooses a solver");
}

static void greet(struct session *s)
{
    struct canvas c;
    char text[400];
    int w, h;
    if (out_mode(s->out) != OUT_TEXT) return;
    say_next(s, text, sizeof text);
    term_size(&w, &h);
    if (!canvas_new(&c, w, 4, s->front->ascii, NULL)) return;
    draw_wrapped(&c, 0, 0, c.h, ST_DIM, text);
    canvas_print(&c, stdout, s->plain ? COLOURS_NONE : colours_of_env(true));
    canvas_free(&c);
}

/* Run a line. A Ctrl-C that is pressed while the command runs is meant for the command, so the flag is cleared
   afterwards. */
static void work(struct session *s, const char *line)
{
    term_quiet(true);
    paged_begin(s, prompt_beside_hide, prompt_has_typed);
    screen_thread_serve(s, SERVED_PROMPT);
    run_line(s, line);
    live_calm(s);
    work_interrupted();
    screen_thread_serve(s, SERVED_NOTHING);
    paged_end(s);
    term_quiet(false);
}

int ui_run(struct session *s)
{
    char *line;
    prompt_open(s);
    greet(s);
    background_ask();
    term_quiet(false);
    while (!s->quit && (line = prompt_line(s))) {
        work(s, line);
        mem_free(line);
    }
    return 0;
}

bool ui_has_screen(void)
{
    struct err why = {0};
    return term_can_open(&why);
}

int ui_go_on(struct session *s)
{
    s->batch = false;
    s->interactive = true;
    take_terminal();
    return ui_run(s);
}
