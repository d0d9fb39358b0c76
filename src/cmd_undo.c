/* undo: take back the last change. */
#include "grammar.h"
#include "undo.h"

static bool run_undo(struct session *s, const struct args *a, struct err *e)
{
    (void)a;
    return undo_last(s, e);
}

const struct command command_undo = {
    .name = "undo",
    .grammar = "",
    .about = "take back the last change: a matrix made, loaded or dropped, use, device",
    .help =
        "Again takes back the change before it, up to sixteen. Of a script the last of its changes counts. What was\n"
        "made is freed; what was dropped comes back under its name, and its formats are packed anew when they are\n"
        "used. A dropped matrix is kept for this in its own memory (undo says how much that is) and given up as\n"
        "soon as memory gets short. Files, solves and options are not taken back.\n"
        "    drop A; undo",
    .run = run_undo,
};
