/* view: shows a view full screen. This file also has show_view_of, which all commands that draw use. */
#include "cmd_view.h"
#include "base/err.h"
#include "base/screen_lock.h"
#include "explorer.h"
#include "language/args.h"
#include "language/grammar.h"
#include "screen.h"
#include "session/command.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "view.h"

#include <string.h>

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
    if (m) session_use(s, m);
    bool ok = show(s, view, full, e);
    if (!in_explorer && m && s->current == m && matrix_is_loaded(s, current)) session_use(s, current);
    return ok;
}

/* Join the views of the line, as in "spy,trace"; "" if the line names no view. */
static bool join(const struct args *a, char *names, size_t size, struct err *e)
{
    size_t n = 0;
    int count = arg_count(a, "views");
    *names = 0;
    for (int i = 0; i < count && n < size; i++) {
        const char *one = arg_at(a, "views", i);
        if (count > 1 && !strcmp(one, "all"))
            return fail(e, E_USAGE, "`all` and the name of a view exclude each other");
        n += (size_t)snprintf(names + n, size - n, "%s%s", i ? "," : "", one);
    }
    return n < size || fail(e, E_LIMIT, "too many views");
}

static void add_word(struct words *w, const char *text)
{
    size_t size = strlen(text) + 1;
    w->w[w->n++] = (struct word){.text = memcpy(w->text + w->used, text, size), .quoted = false};
    w->used += size;
}

bool run_command(struct session *s, const struct command *c, int n, const char *const *word, struct err *e)
{
    static struct words w; /* static, because the stack is too small for the words and the arguments */
    static struct args a;
    w = (struct words){0};
    add_word(&w, c->name);
    for (int i = 0; i < n; i++) add_word(&w, word[i]);
    return args_match(&a, s, c, &w, e) && c->run(s, &a, e);
}

static int panes(struct session *s)
{
    SCREEN_EDIT;
    return split_count(&screen_explorer(s)->split);
}

static bool run_view(struct session *s, const struct args *a, struct err *e)
{
    char names[256];
    struct matrix *m = arg(a, "matrix") ? session_matrix(s, arg(a, "matrix"), e) : NULL;
    if ((arg(a, "matrix") && !m) || !join(a, names, sizeof names, e)) return false;
    const struct view *v = view_find(names);
    if (!*names && s->front && panes(s) > 1) return explore(s, NULL, e);
    if (!*names) v = views[0];
    bool drives = v && v->drive && s->front && s->front->show;
    return drives ? explore(s, v->name, e) : show_view_of(s, m, v ? v->name : names, true, e);
}

const struct command command_view = {
    .name = "view",
    .grammar = "[VIEWS...] [MATRIX]",
    .about = "show views full screen, with keys",
    .help = "Tab or a digit shows another view, ? lists the keys, : begins a command, q leaves. Click to move the\n"
            "cursor, and turn the wheel to zoom or scroll; m switches the mouse off. The views race and lu appear\n"
            "once the commands race and lu have run.\n"
            "With several views, or with `all`, the screen is divided into panes: they share the cursor, so that a\n"
            "move in one pane moves the others. `all` shows as many of spy, rows, layout and solve or trace as fit\n"
            "well: all four from about 120x40 on. The key | divides a pane side by side, and _ one above the other\n"
            "(- zooms out in spy); X closes a pane, F shows it alone or all panes again, < > { } change its width and\n"
            "height. Tab or a click moves the focus. `view` without a name shows the panes as they were left.\n"
            "    view spy\n"
            "    view all\n"
            "    view spy layout trace",
    .run = run_view,
    .large = true,
};
