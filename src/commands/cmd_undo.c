/* undo: take back the last change. */
#include "session/command.h"
#include "session/grammar.h"
#include "session/undo.h"

static bool run_undo(struct session *s, const struct args *a, struct err *e)
{
    (void)a;
    return undo_last(s, e);
}

const struct command command_undo = {
    .name = "undo",
    .grammar = "",
    .about = "undo the last change (gen, load, drop, use, device, ...)",
    .help =
        "Repeat to undo earlier changes, up to sixteen. Of a script, only the last change can be undone. New matrices\n"
        "are freed; a dropped matrix comes back under its name, and its formats are packed again when needed. A\n"
        "dropped matrix is kept in memory for this (undo shows how much) and is freed when memory runs low. Files,\n"
        "solves and options are not undone.\n"
        "    drop A; undo",
    .run = run_undo,
};
