/* The one thread's loop: the prompt, full-screen views, and a solve while it goes on. */
#include "draw.h"
#include "front.h"
#include "prompt.h"
#include "stage.h"
#include "view_solve.h"
#include "run.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* A solve shows its line after and every so many microseconds, its screen three times as often. */
static const double QUIET_US = 0.3e6, REDRAW_US = 0.1e6;
enum { TOLD_WIDTH = 80, TOLD_HEIGHT = 24 };

/* The session's front, and what it remembers. */
struct screen {
    struct front front;
    struct view_state state[VIEWS_MAX];
    struct canvas canvas;    /* what was drawn last */
    const struct view *seen; /* the view that was */
    double drawn;            /* when the line or screen of a solve was drawn last */
    const struct view *live; /* the full screen belongs to work that goes on */
    const struct matrix *of; /* the element the views' cursors are at, NULL: none yet */
    int64_t row, col;        /* col -1: only the row is known */
    struct explorer explorer;
};

static struct screen *screen_of(struct session *s)
{
    return (struct screen *)s->front;
}

struct view_state *front_state(struct session *s, const struct view *v)
{
    int i = 0;
    while (views[i] != v) i++;
    return &screen_of(s)->state[i];
}

/* ---- one cursor for all views ---- */

void cursor_follow(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    struct view_state *st = front_state(s, v);
    int64_t row = -1, col = -1;
    if (!v->at || !v->go || !s->current || sc->of != s->current) return;
    if (sc->row >= st->rows || sc->col >= st->cols) return;
    char said[sizeof st->message];
    if (v->at(s, st, &row, &col) && row == sc->row && (col == sc->col || col < 0)) return;
    memcpy(said, st->message, sizeof said);
    if (!v->go(s, st, sc->row, sc->col) && sc->col >= 0) v->go(s, st, sc->row, -1);
    memcpy(st->message, said, sizeof said); /* nobody asked to go there */
}

/* The others are to come to where the cursor of v went. Who knows of rows only keeps the column. */
void cursor_publish(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    int64_t row = -1, col = -1;
    if (!v->at || !s->current || !v->at(s, front_state(s, v), &row, &col)) return;
    if (col >= 0 || sc->of != s->current) sc->col = col;
    sc->row = row;
    sc->of = s->current;
}

struct explorer *front_explorer(struct session *s)
{
    return &screen_of(s)->explorer;
}

/* ---- views ---- */

static bool draw_screen(struct session *s, const struct view *v, struct err *e)
{
    struct screen *sc = screen_of(s);
    int w, h;
    if (stage_over()) return true;
    term_size(&w, &h);
    if (sc->canvas.w != w || sc->canvas.h != h) {
        canvas_free(&sc->canvas);
        if (!canvas_new(&sc->canvas, w, h, sc->front.ascii, e)) return false;
    }
    sc->canvas.ascii = sc->front.ascii;
    sc->canvas.colours = s->plain ? COLOURS_NONE : term_colours();
    sc->seen = v;
    canvas_clear(&sc->canvas);
    if (sc->explorer.on)
        explore_draw(&sc->canvas, s);
    else
        view_draw(v, &sc->canvas, s, front_state(s, v));
    term_draw(&sc->canvas);
    return true;
}

void front_draw(struct session *s)
{
    draw_screen(s, front_explorer(s)->pane, NULL);
}

/* "ROW [COLUMN]" was typed: go there, or say why not. */
static void go_there(struct session *s, const struct view *v, struct view_state *st)
{
    long long row = -1, col = -1;
    char end;
    int n = sscanf(st->asked, "%lld %lld %c", &row, &col, &end);
    st->message[0] = 0;
    if (n < 1 || n > 2)
        snprintf(st->message, sizeof st->message, "expected a row and perhaps a column, such as 12 7");
    else if (row < 0 || row >= st->rows || (n == 2 && (col < 0 || col >= st->cols)))
        snprintf(st->message, sizeof st->message, "expected a row of 0 to %lld and a column of 0 to %lld",
                 (long long)st->rows - 1, (long long)st->cols - 1);
    else if (!v->go(s, st, row, n == 2 ? col : -1) && !st->message[0])
        snprintf(st->message, sizeof st->message, "nothing is stored there");
}

/* May it be part of the number of a row, or of an answer? */
static bool can_type(const struct view_state *st, int key)
{
    return st->question[0] ? key > ' ' && key < 0x7f : (key >= '0' && key <= '9') || key == ' ';
}

/* A key while a line is typed. */
static void take_line(struct session *s, const struct view *v, struct view_state *st, int key)
{
    size_t n = strlen(st->asked);
    if (can_type(st, key) && n + 1 < sizeof st->asked) {
        st->asked[n] = (char)key;
        st->asked[n + 1] = 0;
    } else if ((key == 0x7f || key == '\b') && n) {
        st->asked[n - 1] = 0;
    } else if (key == UI_ENTER || key == UI_ESC || key == UI_INTERRUPT) {
        st->asks = false;
        if (key == UI_ENTER && n) st->question[0] ? v->answer(s, st) : go_there(s, v, st);
    }
}

bool view_key(struct session *s, const struct view *v, int key)
{
    struct view_state *st = front_state(s, v);
    if (st->asks) return take_line(s, v, st, key), cursor_publish(s, v), true;
    if (key == '?') return st->help = !st->help, true;
    if (st->help && key != UI_RESIZE && key >= 0) return st->help = false, true;
    if (key == 'q' || key == 'x' || key == UI_ESC || key == UI_INTERRUPT) return false;
    if (key >= 0 && key != UI_RESIZE) st->message[0] = 0;
    st->asks = v->go && (key == '/');
    st->asked[0] = st->question[0] = 0;
    if (v->key && !st->asks) v->key(s, st, key);
    cursor_publish(s, v);
    return true;
}

/* Wait for a key, and work meanwhile; -1: there is something new to see. */
static int key_or_work(struct session *s, const struct view *v)
{
    enum work done = WORK_ON;
    while (done == WORK_ON) {
        int key = term_key_between();
        if (key >= 0) return key;
        done = v->work && s->current ? v->work(s, front_state(s, v)) : WORK_NONE;
    }
    return done == WORK_DRAW ? -1 : term_key(-1);
}

static int next_key(struct session *s, int wait_ms)
{
    struct explorer *x = front_explorer(s);
    int key = wait_ms < 0 ? key_or_work(s, x->pane) : term_key(wait_ms);
    if (key == UI_CLICK || key == UI_WHEEL_UP || key == UI_WHEEL_DOWN) term_mouse_at(&x->mouse_x, &x->mouse_y);
    return key;
}

/* Draw and take keys until one leaves. */
static bool explore_keys(struct session *s, struct err *e)
{
    struct explorer *x = front_explorer(s);
    for (;;) {
        if (!draw_screen(s, x->pane, e)) return false;
        if (explore_drive(s) && !x->pending && !draw_screen(s, x->pane, e)) return false;
        if (!explore_key(s, x->pending ? x->pending : next_key(s, -1))) return true;
    }
}

static bool run_full(struct session *s, const struct view *v, struct err *e)
{
    struct explorer *x = front_explorer(s);
    bool interactive = s->interactive, batch = s->batch;
    if (x->on) return explore_enter(s, v, e);
    if (!explore_enter(s, v, e)) return false;
    prompt_open(s); /* may warn of its history */
    if (!term_open(e)) return false;
    s->front->covered = x->on = s->interactive = true;
    s->batch = false;
    bool ok = explore_keys(s, e);
    s->front->covered = x->on = false;
    s->interactive = interactive;
    s->batch = batch;
    term_close();
    explore_end(s);
    return ok;
}

bool explore(struct session *s, const char *view, struct err *e)
{
    const struct view *v = view_find(view);
    if (!v) return fail(e, E_USAGE, "there is no view `%.40s`; `help view` lists them", view);
    if (!v->any && !s->current)
        return fail(e, E_USAGE, "there is no matrix to show; `load FILE` or `gen poisson2d 40` makes one");
    return run_full(s, v, e);
}

/* Who listens hears the same whatever the size of the terminal. */
static bool tell_listener(struct session *s, const struct view *v, struct view_state *st, struct err *e)
{
    FILE *f = out_listener(s->out);
    struct canvas c;
    if (!f) return true;
    if (!canvas_new(&c, st->w ? st->w : TOLD_WIDTH, st->h ? st->h : TOLD_HEIGHT, s->front->ascii, e)) return false;
    view_draw(v, &c, s, st);
    canvas_print(&c, f, COLOURS_NONE);
    canvas_free(&c);
    return true;
}

/* Size and colours of text: the terminal's, or what the front says where there is none. */
static bool print_text(struct session *s, const struct view *v, struct err *e)
{
    FILE *f = out_file(s->out);
    struct view_state *st = front_state(s, v);
    bool terminal = isatty(fileno(f));
    int w = s->front->width, h = s->front->height;
    if (terminal) term_size(&w, &h), h--;
    struct canvas c;
    if (!tell_listener(s, v, st, e)) return false;
    if (!canvas_new(&c, st->w ? st->w : w, st->h ? st->h : h, s->front->ascii, e)) return false;
    c.colours = s->plain ? COLOURS_NONE : colours_of_env(terminal);
    view_draw(v, &c, s, st);
    out_progress_clear(s->out);
    canvas_print(&c, f, c.colours);
    canvas_free(&screen_of(s)->canvas);
    screen_of(s)->canvas = c;
    screen_of(s)->seen = v;
    return true;
}

/* The screen of a solve that goes on stays while `live` is called, until calm. */
static bool live_open(struct session *s, const struct view *v, struct err *e)
{
    front_explorer(s)->pane = v;
    front_state(s, v)->message[0] = 0; /* it was of what was there before */
    if (!front_explorer(s)->on && !term_open(e)) return false;
    screen_of(s)->live = v;
    s->front->covered = true;
    return front_state(s, v)->full = true;
}

static bool show(struct session *s, const char *name, bool full, struct err *e)
{
    const struct view *v = view_find(name);
    if (!v) return fail(e, E_USAGE, "there is no view `%.40s`; `help view` lists them", name);
    if (!v->any && !s->current)
        return fail(e, E_USAGE, "there is no matrix to show; `load FILE` or `gen poisson2d 40` makes one");
    struct view_state *st = front_state(s, v);
    bool goes_on = full && v->drive && v->is_running(s);
    bool pane = front_explorer(s)->on && !st->w && !st->h && !s->folder; /* a lesson has pictures among its text */
    if (!goes_on && (full || pane)) return run_full(s, v, e);
    view_reset(st, s->current);
    st->full = full;
    if (v->prepare && !v->prepare(s, st, e)) return false;
    return goes_on ? live_open(s, v, e) : print_text(s, v, e);
}

/* ---- what was drawn last ---- */

/* The pane of an open explorer without the line that is typed below it; a command may have changed what it shows. */
static bool draw_pane_alone(struct session *s, struct err *e)
{
    struct explorer *x = front_explorer(s);
    if (!x->on) return true;
    return explore_enter(s, x->pane, e) && draw_screen(s, x->pane, e);
}

const struct canvas *front_canvas(struct session *s)
{
    struct screen *sc = screen_of(s);
    if (!draw_pane_alone(s, NULL)) return NULL;
    return sc->canvas.cell ? &sc->canvas : NULL;
}

static bool is_loaded(const struct session *s, const struct matrix *m)
{
    const struct matrix *have = s->matrices;
    while (have && have != m) have = have->next;
    return have;
}

static bool again(struct session *s, const struct view *v, struct view_state *st, struct err *e)
{
    int w = st->w ? st->w : s->front->width, h = st->h ? st->h : s->front->height;
    view_reset(st, s->current);
    st->full = st->pane = false;
    if (v->prepare && !v->prepare(s, st, e)) return false;
    if (out_mode(s->out) == OUT_TEXT) return print_text(s, v, e);
    if (v->numbers) return v->numbers(s, st, w, h, e);
    return fail(e, E_UNSUPPORTED, "%s has no numbers; it is drawn as text only", v->name);
}

bool front_again(struct session *s, int w, int h, struct err *e)
{
    const struct view *v = screen_of(s)->seen;
    if (!v) return fail(e, E_USAGE, "nothing was drawn yet; spy, rows, layout and view draw");
    struct view_state *st = front_state(s, v);
    struct matrix *current = s->current, *m = v->any ? current : (struct matrix *)st->of;
    if (!v->any && !is_loaded(s, m))
        return fail(e, E_USAGE, "the matrix of the %s drawn last is not loaded any more", v->name);
    int was_w = st->w, was_h = st->h;
    if (w) st->w = w, st->h = h;
    s->current = m;
    bool ok = again(s, v, st, e);
    s->current = current;
    st->w = was_w;
    st->h = was_h;
    return ok;
}

/* ---- a solve that goes on ---- */

static void live_line(struct session *s)
{
    const struct solve *v = s->solve;
    struct screen *sc = screen_of(s);
    char text[256], rate[32] = "", left[48] = "";
    if (!s->terminal || v->time.us < QUIET_US || now_us() - sc->drawn < REDRAW_US) return;
    double per_step = solve_rate(v), steps = solve_parted(v) ? NAN : solve_left(v);
    if (per_step > 0) snprintf(rate, sizeof rate, ", rate %.4f", per_step);
    if (isfinite(steps)) snprintf(left, sizeof left, ", %.1f s left", steps * v->time.us / (double)v->iterations / 1e6);
    snprintf(text, sizeof text, "%s: iteration %lld, residual %.2e%s%s", v->solver->name, (long long)v->iterations,
             v->residual, rate, left);
    out_progress(s->out, text);
    sc->drawn = now_us();
}

static void leave_screen(struct session *s)
{
    screen_of(s)->live = NULL;
    if (front_explorer(s)->on) return;
    s->front->covered = false;
    term_close();
}

void live_pane(struct session *s, const struct view *v)
{
    screen_of(s)->live = v;
}

/* A key of work that goes on; false: it is left, by a key that the explorer takes then. */
static bool live_key(struct session *s, const struct view *v, int key)
{
    struct explorer *x = front_explorer(s);
    bool claimed = v->claims && v->claims(s, key);
    if (key == 'm' && x->on && !explore_takes(s, key) && !front_state(s, v)->asks && !claimed)
        return explore_key(s, key);
    bool stays = !explore_takes(s, key) && view_key(s, v, key);
    if (!stays && x->on) x->pending = key;
    return stays;
}

/* Keys while a solve is on the screen. */
static enum turn live_screen(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    bool due = now_us() - sc->drawn > REDRAW_US / 3;
    do {
        if (due || s->solve->paused) {
            if (!draw_screen(s, v, NULL)) return TURN_STOP;
            sc->drawn = now_us();
        }
        int key = next_key(s, s->solve->paused ? -1 : 0);
        const struct view_state *st = front_state(s, v);
        bool stop = key == UI_INTERRUPT || (key == 'x' && !st->help && !st->asks);
        if (stop) return TURN_STOP;
        if (!live_key(s, v, key)) {
            leave_screen(s);
            s->solve->paused = true; /* so that the prompt is there at once */
            s->solve->steps_left = 0;
            return TURN_LEAVE;
        }
        due = key >= 0 && !s->solve->paused; /* what it changed is seen before the solve goes on */
        if (due && !draw_screen(s, v, NULL)) return TURN_STOP;
    } while (s->solve->paused && s->solve->reason == RUNNING);
    return TURN_ON;
}

/* The view that drives work which is under way; NULL: there is none. */
static const struct view *driving_view(const struct session *s)
{
    for (int i = 0; views[i]; i++)
        if (views[i]->drive && views[i]->is_running(s)) return views[i];
    return NULL;
}

static enum turn live(struct session *s)
{
    const struct view *v = driving_view(s);
    struct screen *sc = screen_of(s);
    if (!v) return TURN_ON;
    if (!sc->live && s->solve->paused && !live_open(s, v, NULL)) return TURN_LEAVE;
    if (!sc->live && sc->explorer.on && now_us() - s->began_us > QUIET_US && !live_open(s, v, NULL)) return TURN_STOP;
    if (sc->live) return live_screen(s, v);
    if (!sc->explorer.on) live_line(s);
    return session_take_interrupt() ? TURN_STOP : TURN_ON;
}

/* ---- other work that goes on ---- */

/* The screen, once the work has taken a while. */
static enum turn live_view(struct session *s, const char *name)
{
    const struct view *v = view_find(name);
    struct screen *sc = screen_of(s);
    if (!sc->live && now_us() - s->began_us < QUIET_US) return TURN_ON; /* who calls shows a line */
    if (!sc->live) {
        view_reset(front_state(s, v), s->current);
        if (!live_open(s, v, NULL)) return TURN_STOP;
    }
    if (now_us() - sc->drawn > REDRAW_US / 3) {
        if (!draw_screen(s, v, NULL)) return TURN_STOP;
        sc->drawn = now_us();
    }
    int key = next_key(s, 0);
    if (key == UI_INTERRUPT || (key == 'x' && !front_state(s, v)->help)) return TURN_STOP;
    if (key < 0 || live_key(s, v, key)) return TURN_ON;
    leave_screen(s);
    return TURN_LEAVE;
}

/* Take away what was drawn while a command worked, before it prints. */
static void calm(struct session *s)
{
    struct screen *sc = screen_of(s);
    const struct view *v = sc->live;
    if (!v) return;
    if (v->has_ended && v->has_ended(s) && !sc->explorer.on)
        while (draw_screen(s, v, NULL) && view_key(s, v, term_key(-1))) continue;
    leave_screen(s);
}

static void echo(struct session *s, bool on)
{
    static bool was_quiet;
    if (!front_explorer(s)->on) {
        if (s->interactive) term_quiet(!on);
        return;
    }
    if (stage_now()) return;
    if (on) {
        term_close();
        was_quiet = term_quiet(false);
        return;
    }
    fputs("\nEnter goes back to the panes ", stdout);
    fflush(stdout);
    while (term_wait(-1) == H_RESIZE) continue;
    tcflush(STDIN_FILENO, TCIFLUSH);
    term_quiet(was_quiet);
    if (!term_open(NULL)) s->quit = true; /* the terminal is gone */
}

/* ---- for main ---- */

static void about_view(const char *name, const char **about, const char **keys)
{
    const struct view *v = view_find(name);
    *about = v ? v->about : NULL;
    *keys = v ? v->keys : NULL;
}

bool ui_attach(struct session *s, struct err *e)
{
    struct screen *sc = mem_zero(1, sizeof *sc, "the screen", e);
    if (!sc) return false;
    s->front = &sc->front;
    for (int i = 0; views[i]; i++)
        if (!view_state_new(&sc->state[i], views[i], e)) return ui_detach(s), false;
    sc->front = (struct front){
        .show = show, .live = live, .live_view = live_view, .echo = echo, .calm = calm, .width = 80, .height = 24};
    sc->front.ask = prompt_ask;
    sc->front.ascii = s->plain || !utf8_locale();
    sc->front.views = &view_registry;
    sc->front.about_view = about_view;
    sc->front.restyle = front_restyle;
    front_restyle(s);
    if (s->interactive) term_signals();
    echo(s, false); /* until the prompt */
    return true;
}

void ui_detach(struct session *s)
{
    struct screen *sc = screen_of(s);
    if (!sc) return;
    term_close();
    prompt_close(s);
    for (int i = 0; views[i]; i++) view_state_free(&sc->state[i]);
    canvas_free(&sc->canvas);
    mem_free(sc);
    s->front = NULL;
}

/* Without a file there is nothing to see yet: say how to begin. */
static void greet(struct session *s)
{
    struct canvas c;
    char text[160];
    int w, h;
    const struct device *d = s->dev ? s->dev : device_default();
    if (s->current || out_mode(s->out) != OUT_TEXT) return;
    snprintf(text, sizeof text, "warpspy %s on %s; begin with `help`, `load FILE` or `gen poisson2d 100`",
             WARPSPY_VERSION, d ? d->name : "no device");
    term_size(&w, &h);
    if (!canvas_new(&c, w + 2, 4, s->front->ascii, NULL)) return;
    draw_wrapped(&c, 0, 0, c.h, ST_DIM, text);
    canvas_print(&c, stdout, s->plain ? COLOURS_NONE : colours_of_env(true));
    canvas_free(&c);
}

/* A Ctrl-C that came while a command worked was for that command. */
static void work(struct session *s, const char *line)
{
    term_quiet(true);
    run_line(s, line);
    calm(s);
    term_quiet(false);
    session_take_interrupt();
}

int ui_run(struct session *s)
{
    char *line;
    prompt_open(s);
    greet(s);
    term_quiet(false);
    while (!s->quit && (line = prompt_line(s))) {
        work(s, line);
        mem_free(line);
    }
    return 0;
}
