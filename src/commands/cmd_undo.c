/* undo: undoes the last change. */
#include "language/grammar.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/undo.h"

static bool run_undo(struct session *s, const struct args *a, struct err *e)
{
    (void)a;
    return undo_last(s, e);
}

/* ---- the keys of the rows ---- */

static const struct field undo_fields[] = {
    {"change", F_TEXT,
     "what was undone: the command, then the matrices that were removed or restored, the current matrix, the device",
     .words = "undone, removed, returned, current, device"},
    {"name", F_TEXT, "the command, the matrix or the device"},
    {"bytes", F_COUNT | OR_NULL, "memory of a restored matrix, in bytes; null for other changes"},
    {0},
};
static const struct row_kind row_undo = {"undo", "each thing that was taken back", undo_fields};

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
    .rows = (const struct row_kind *const[]){&row_undo, NULL},
    .run = run_undo,
    .large = true,
};
