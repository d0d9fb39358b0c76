/* view: shows a view full screen. This file also has show_view_of, which all commands that draw use. */
#include "cmd_view.h"
#include "explorer.h"
#include "screen.h"
#include "view.h"
#include "session/args.h"
#include "session/command.h"
#include "base/err.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"

static bool show(struct session *s, const char *view, bool full, struct err *e)
{
    if (!s->front || !s->front->show)
        return fail(e, E_UNSUPPORTED, "there is no screen to draw `%s` on; use --json to get its data", view);
    return s->front->show(s, view, full, e);
}

bool show_view_of(struct session *s, struct matrix *m, const char *view, bool full, struct err *e)
{
    struct matrix *current = s->current;
    bool in_explorer = s->front && screen_explorer(s)->on;
    if (m) s->current = m;
    bool ok = show(s, view, full, e);
    if (!in_explorer && m && s->current == m && matrix_is_loaded(s, current)) s->current = current;
    return ok;
}

static bool run_view(struct session *s, const struct args *a, struct err *e)
{
    const struct view *v = arg(a, "view") ? view_find(arg(a, "view")) : views[0];
    struct matrix *m = arg(a, "matrix") ? session_matrix(s, arg(a, "matrix"), e) : NULL;
    if (arg(a, "matrix") && !m) return false;
    const char *name = v ? v->name : arg(a, "view");
    bool drives = v && v->drive && s->front && s->front->show;
    return drives ? explore(s, name, e) : show_view_of(s, m, name, true, e);
}

const struct command command_view = {
    .name = "view",
    .grammar = "[VIEW] [MATRIX]",
    .about = "show a view full screen, with keys",
    .help = "Tab or a digit shows another view, ? lists the keys, : begins a command, q leaves. Click to move the\n"
            "cursor, and turn the wheel to zoom or scroll; m switches the mouse off. The panes race and lu appear\n"
            "once the commands race and lu have run.\n"
            "    view spy",
    .run = run_view,
    .large = true,
};
