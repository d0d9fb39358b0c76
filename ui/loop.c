/* The one thread's loop: the prompt, full-screen views, and a solve while it goes on. */
#include "ui.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* A solve shows its line after and every so many microseconds, its screen three times as often. */
static const double QUIET_US = 0.3e6, REDRAW_US = 0.1e6;

/* The session's front, and what it remembers. */
struct screen {
    struct front front;
    struct view_state state[VIEWS_MAX];
    struct canvas canvas;
    const char *names[VIEWS_MAX + 1];
    double drawn; /* when the line or screen of a solve was drawn last */
    bool live;    /* the full screen belongs to a solve that goes on */
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

/* ---- views ---- */

static bool draw_screen(struct session *s, const struct view *v, struct err *e)
{
    struct screen *sc = screen_of(s);
    int w, h;
    term_size(&w, &h);
    if (sc->canvas.w != w || sc->canvas.h != h) {
        canvas_free(&sc->canvas);
        if (!canvas_new(&sc->canvas, w, h, sc->front.ascii, e)) return false;
    }
    sc->canvas.ascii = sc->front.ascii;
    sc->canvas.colours = s->plain ? COLOURS_NONE : colours_of_env(true);
    canvas_clear(&sc->canvas);
    view_draw(v, &sc->canvas, s, front_state(s, v));
    term_draw(&sc->canvas);
    return true;
}

/* One key of a full-screen view; false: leave it. */
static bool take_key(struct session *s, const struct view *v, int key)
{
    struct view_state *st = front_state(s, v);
    if (key == '?') return st->help = !st->help, true;
    if (st->help && key != UI_RESIZE && key >= 0) return st->help = false, true;
    if (key == 'q' || key == 'x' || key == UI_ESC) return false;
    st->message[0] = 0;
    if (v->key) v->key(s, st, key);
    return true;
}

static bool run_full(struct session *s, const struct view *v, struct err *e)
{
    if (!term_open(e)) return false;
    int key = -1;
    bool ok;
    do {
        ok = draw_screen(s, v, e);
        if (ok) key = term_key(-1);
    } while (ok && take_key(s, v, key));
    term_close();
    return ok;
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
    if (!canvas_new(&c, st->w ? st->w : w, st->h ? st->h : h, s->front->ascii, e)) return false;
    c.colours = s->plain ? COLOURS_NONE : colours_of_env(terminal);
    view_draw(v, &c, s, st);
    out_progress_clear(s->out);
    canvas_print(&c, f, c.colours);
    canvas_free(&c);
    return true;
}

/* The screen of a solve that goes on stays while `live` is called, until calm. */
static bool live_open(struct session *s, const struct view *v, struct err *e)
{
    if (!term_open(e)) return false;
    return front_state(s, v)->full = screen_of(s)->live = true;
}

static bool show(struct session *s, const char *name, bool full, struct err *e)
{
    const struct view *v = view_find(name);
    if (!v) return fail(e, E_USAGE, "there is no view `%.40s`; `help view` lists them", name);
    if (!v->any && !s->current)
        return fail(e, E_USAGE, "there is no matrix to show; `load FILE` or `gen poisson2d 40` makes one");
    struct view_state *st = front_state(s, v);
    view_reset(st, s->current);
    st->full = full;
    if (v->prepare && !v->prepare(s, st, e)) return false;
    if (full && !strcmp(name, "solve") && s->solve && s->solve->reason == RUNNING) return live_open(s, v, e);
    return full ? run_full(s, v, e) : print_text(s, v, e);
}

/* ---- a solve that goes on ---- */

static void live_line(struct session *s)
{
    const struct solve *v = s->solve;
    struct screen *sc = screen_of(s);
    char text[256], rate[32] = "", left[48] = "";
    if (!s->terminal || v->us < QUIET_US || now_us() - sc->drawn < REDRAW_US) return;
    double per_step = solve_rate(v), steps = log(v->tol / v->residual) / log(per_step);
    if (per_step > 0 && isfinite(per_step)) snprintf(rate, sizeof rate, ", rate %.4f", per_step);
    if (per_step < 1 && steps > 0 && isfinite(steps))
        snprintf(left, sizeof left, ", %.1f s left", steps * v->us / (double)v->iterations / 1e6);
    snprintf(text, sizeof text, "%s: iteration %lld, residual %.2e%s%s", v->solver->name, (long long)v->iterations,
             v->residual, rate, left);
    out_progress(s->out, text);
    sc->drawn = now_us();
}

/* Keys while a solve is on the screen; false: stop it. */
static bool live_screen(struct session *s, const struct view *v)
{
    struct screen *sc = screen_of(s);
    bool due = now_us() - sc->drawn > REDRAW_US / 3;
    do {
        if (due || s->solve->paused) {
            if (!draw_screen(s, v, NULL)) return false;
            sc->drawn = now_us();
        }
        int key = term_key(s->solve->paused ? -1 : 0);
        if (!take_key(s, v, key)) return false;
    } while (s->solve->paused);
    return true;
}

static bool live(struct session *s)
{
    const struct view *v = view_find("solve");
    struct screen *sc = screen_of(s);
    if (!s->solve || !v) return true;
    if (!sc->live && s->solve->paused && !live_open(s, v, NULL)) return false;
    if (sc->live) return live_screen(s, v);
    live_line(s);
    return !session_take_interrupt();
}

/* Take away what was drawn while a command worked, before it prints. */
static void calm(struct session *s)
{
    struct screen *sc = screen_of(s);
    const struct view *v = view_find("solve");
    if (!sc->live) return;
    if (s->solve && s->solve->reason != STOPPED)
        while (draw_screen(s, v, NULL) && take_key(s, v, term_key(-1))) continue;
    sc->live = false;
    term_close();
}

/* ---- for main ---- */

bool ui_attach(struct session *s, struct err *e)
{
    struct screen *sc = mem_zero(1, sizeof *sc, "the screen", e);
    if (!sc) return false;
    sc->front = (struct front){.show = show, .live = live, .calm = calm, .width = 80, .height = 24};
    sc->front.ascii = s->plain || !utf8_locale();
    for (int i = 0; views[i]; i++) sc->names[i] = views[i]->name;
    sc->front.views = sc->names;
    s->front = &sc->front;
    if (s->interactive) term_signals();
    return true;
}

void ui_detach(struct session *s)
{
    struct screen *sc = screen_of(s);
    if (!sc) return;
    term_close();
    for (int i = 0; i < VIEWS_MAX; i++) view_reset(&sc->state[i], NULL);
    canvas_free(&sc->canvas);
    mem_free(sc);
    s->front = NULL;
}

int ui_run(struct session *s)
{
    char *line;
    prompt_open(s);
    while (!s->quit && (line = prompt_line(s))) {
        run_line(s, line);
        mem_free(line);
        calm(s);
    }
    prompt_close(s);
    return 0;
}
