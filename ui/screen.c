/* The screen of a session: the state of each view, and the explorer. */
#include "screen.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "screen_private.h"
#include "session/matrix.h"

struct view_state *screen_view_state(struct session *s, const struct view *v)
{
    int i = 0;
    while (views[i] != v) i++;
    return &screen_of(s)->state[i];
}

struct explorer *screen_explorer(struct session *s)
{
    return &screen_of(s)->explorer;
}

void screen_set_running(struct session *s, const struct view *v)
{
    screen_of(s)->running_view = v;
}

const struct view *screen_running(struct session *s)
{
    return screen_of(s)->running_view;
}

bool matrix_is_loaded(const struct session *s, const struct matrix *m)
{
    const struct matrix *loaded = s->matrices;
    while (loaded && loaded != m) loaded = loaded->next;
    return loaded;
}

/* ---- the last long output ---- */

void screen_keep_output(struct session *s, char *text, size_t n)
{
    struct screen *sc = screen_of(s);
    if (!text) return;
    mem_free(sc->long_output);
    sc->long_output = text;
    sc->long_output_bytes = n;
    sc->output_is_newer = true;
}

bool screen_print_output(struct session *s, struct err *e)
{
    SCREEN_EDIT;
    const struct screen *sc = screen_of(s);
    if (!sc->long_output) return fail(e, E_USAGE, "no output was longer than the screen yet");
    out_progress_clear(s->out);
    fwrite(sc->long_output, 1, sc->long_output_bytes, out_file(s->out));
    return true;
}

bool screen_output_is_newer(struct session *s)
{
    SCREEN_EDIT;
    return screen_of(s)->output_is_newer;
}
