/* The duties of the screen thread while a command runs: it handles keys and draws, on the full screen or at the
   prompt. */
#include "serve.h"
#include "base/clock.h"
#include "explorer.h"
#include "prompt.h"
#include "screen.h"
#include "screen_private.h"
#include "screen_thread.h"
#include "term.h"
#include "terminal_window.h"

static const double FRAME_US = 0.1e6; /* minimum time between two frames if no key is pressed */

/* Handle a key. Without the explorer, for example in `solve cg view`, only the view of the work is on the screen, and
   the work handles all keys. */
static void take_key(struct session *s, int key)
{
    if (screen_explorer(s)->on)
        explore_key(s, key);
    else if (key != UI_RESIZE)
        work_key_post(key);
}

static void draw(struct session *s, const struct view *v)
{
    if (!v || !term_is_open()) return;
    screen_draw(s, v, NULL);
    screen_of(s)->drawn_us = now_us();
}

/* Returns true if the view has more background work to do. */
static bool serve_screen(struct session *s)
{
    struct screen *sc = screen_of(s);
    bool due = now_us() - sc->drawn_us > FRAME_US;
    for (int key; !sc->explorer.pending && (key = screen_key_now(s)) >= 0; due = true) take_key(s, key);
    const struct view *v = sc->explorer.on ? sc->explorer.pane : sc->running_view;
    if (due) draw(s, v);
    if (!v) return false;
    enum work left = explorer_work(s);
    if (left == WORK_DRAW) draw(s, v);
    return left != WORK_NONE;
}

/* While work runs, the terminal reports the focus. */
static void begin_screen(struct session *s)
{
    window_watch(true);
}

static void end_screen(void)
{
    window_watch(false);
}

static void begin_prompt(struct session *s)
{
    window_watch(true);
    prompt_beside_open(s);
}

static void end_prompt(void)
{
    prompt_beside_close();
    window_watch(false);
}

void serve_attach(void)
{
    static const struct screen_duty screen = {.begin = begin_screen, .end = end_screen, .serve = serve_screen},
                                    prompt = {.begin = begin_prompt,
                                              .end = end_prompt,
                                              .drop = prompt_beside_drop,
                                              .serve = prompt_beside};
    screen_thread_set_duty(SERVED_SCREEN, &screen);
    screen_thread_set_duty(SERVED_PROMPT, &prompt);
}
