/* copy: the last output, or the view on the screen, to the clipboard. */
#include "base/err.h"
#include "base/memfile.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "explorer.h"
#include "language/args.h"
#include "paged.h"
#include "screen.h"
#include "session/command.h"
#include "session/session.h"
#include "terminal_window.h"

static void out_copied(struct session *s, const char *what, size_t n)
{
    char size[32];
    out_text(s->out, "copied %s of %s", show_bytes((double)n, size, sizeof size), what);
}

static bool copy_view(struct session *s, struct err *e)
{
    size_t n;
    if (!explore_copy(s, &n, e)) return false;
    out_copied(s, "the view", n);
    return true;
}

static bool copy_output(struct session *s, struct err *e)
{
    size_t n;
    const char *text = paged_last(&n);
    if (!n) return fail(e, E_USAGE, "there is no output to copy yet");
    if (!window_copy(text, n, e)) return false;
    out_copied(s, "output", n);
    return true;
}

static bool run_copy(struct session *s, const struct args *a, struct err *e)
{
    SCREEN_EDIT;
    if (!s->interactive) return fail(e, E_UNSUPPORTED, "copying needs a terminal that has a clipboard");
    if (s->lines.from) return fail(e, E_USAGE, "%s may not change the clipboard", s->lines.from);
    return screen_explorer(s)->on && !arg_flag(a, "output") ? copy_view(s, e) : copy_output(s, e);
}

const struct command command_copy = {
    .name = "copy",
    .grammar = "[output]",
    .about = "copy the last output, or the view on the screen, to the clipboard",
    .help =
        "At the prompt, copies the output of the last line; in views, the text of the pane (also the key y), or the\n"
        "`output` of the last line at the prompt. The terminal copies (OSC 52), also through ssh, at most 74,994\n"
        "bytes. `set clipboard` says whether it can. In tmux, `set -g set-clipboard on` is needed.\n"
        "    stats; copy",
    .run = run_copy,
    .unrecorded = true,
};
