/* The screen of a session: the state of each view, and the explorer. */
#include "screen.h"
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
