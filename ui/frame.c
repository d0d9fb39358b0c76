/* Draws one frame on the terminal and reads one key. The view does its background work while no key comes. */
#include "cast.h"
#include "screen.h"
#include "screen_private.h"
#include "stage.h"
#include "term.h"

bool screen_draw(struct session *s, const struct view *v, struct err *e)
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
    sc->drawn_view = v;
    canvas_clear(&sc->canvas);
    if (sc->explorer.on)
        explore_draw(&sc->canvas, s);
    else
        view_draw(v, &sc->canvas, s, screen_view_state(s, v));
    term_draw_images(&sc->canvas, sc->explorer.image, sc->explorer.on ? sc->explorer.images : 0);
    if (stage_now()) cast_drawn(&sc->canvas);
    return true;
}

void screen_draw_as_text(struct session *s)
{
    struct screen *sc = screen_of(s);
    struct explorer *x = &sc->explorer;
    if (!x->on || !x->images) return;
    x->as_text = true;
    canvas_clear(&sc->canvas);
    explore_draw(&sc->canvas, s);
    x->as_text = false;
}

void screen_redraw(struct session *s)
{
    screen_draw(s, screen_explorer(s)->pane, NULL);
}

/* Wait for a key, and do background work until a key comes. Returns -1 if the view must be redrawn. */
static int key_or_work(struct session *s)
{
    enum work done = WORK_ON;
    while (done == WORK_ON) {
        int key = term_key_between();
        if (key >= 0) return key;
        done = explorer_work(s);
    }
    return done == WORK_DRAW ? -1 : term_key(-1);
}

static int place_mouse(struct explorer *x, int key)
{
    if (key == UI_CLICK || key == UI_WHEEL_UP || key == UI_WHEEL_DOWN) term_mouse_at(&x->mouse_x, &x->mouse_y);
    return key;
}

int screen_key(struct session *s, int wait_ms)
{
    struct explorer *x = screen_explorer(s);
    return place_mouse(x, wait_ms < 0 ? key_or_work(s) : term_key(wait_ms));
}

int screen_key_now(struct session *s)
{
    return place_mouse(screen_explorer(s), term_key_now());
}
