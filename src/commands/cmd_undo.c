/* undo: undoes the last change. */
#include "language/grammar.h"
#include "session/command.h"
#include "session/undo.h"

static bool run_undo(struct session *s, const struct args *a, struct err *e)
{
    (void)a;
    return undo_last(s, e);
}

const struct command command_undo = {
    .name = "undo",
    .aliases = "u",
    .grammar = "",
    .about = "undo the last change (gen, load, drop, use, device, ...)",
    .help = "Repeat to undo earlier changes, up to sixteen. If a script made several changes, only the last of them\n"
            "can be undone. New matrices are freed; a dropped matrix comes back under its name, and its formats are\n"
            "packed again when needed. For this purpose, a dropped matrix stays in memory until memory runs low;\n"
            "`undo` shows how much memory the dropped matrix uses. Files, solves and options are not undone.\n"
            "    drop A; undo",
    .run = run_undo,
    .large = true,
};
