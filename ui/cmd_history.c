/* history: the lines that the user typed. */
#include "base/err.h"
#include "base/text.h"
#include "base/words.h"
#include "language/args.h"
#include "line_history.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/session.h"

#include <string.h>

static void out_line(struct out *o, int number, const char *line)
{
    char safe[4 * LINE_LIMIT + 1];
    out_row(o);
    out_int(o, "number", "number", number);
    out_str(o, "line", "line", print_safe(line, strlen(line), LINE_LIMIT, safe, sizeof safe));
}

static bool run_history(struct session *s, const struct args *a, struct err *e)
{
    const char *part = arg(a, "text");
    int shown = 0;
    if (s->lines.from) return fail(e, E_USAGE, "%s may not read the lines that you typed", s->lines.from);
    line_history_open(s->out);
    for (int i = 0, n = line_history_count(); i < n; i++) {
        if (part && !strstr(line_history_at(i), part)) continue;
        out_line(s->out, i + 1, line_history_at(i));
        shown++;
    }
    if (!shown) out_text(s->out, part ? "no line contains %s" : "nothing has been typed yet%s", part ? part : "");
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field history_fields[] = {
    {"number", F_COUNT, "the number of the line, 1 for the oldest"},
    {"line", F_TEXT, "the line"},
    {0},
};
static const struct row_kind row_history = {"history", "a line that was typed", history_fields};

const struct command command_history = {
    .name = "history",
    .grammar = "[TEXT]",
    .about = "list the lines that you typed, in this session and earlier ones",
    .help =
        "`history TEXT` lists only the lines that contain TEXT. The arrows up and down and Ctrl-R bring a line back\n"
        "to the prompt, and so does the palette (Alt-x). The file is $XDG_STATE_HOME/warpspy/history (or\n"
        "~/.local/state/warpspy/history). Scripts, lessons and clients cannot read the lines.\n"
        "    history solve cg",
    .rows = (const struct row_kind *const[]){&row_history, &row_done, NULL},
    .run = run_history,
    .unrecorded = true,
};
