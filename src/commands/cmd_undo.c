/* undo: undoes the last change. */
#include "base/screen_lock.h"
#include "base/text.h"
#include "language/grammar.h"
#include "machine/device.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/undo.h"

static void out_change(struct session *s, const char *what, const char *name, const char *text, int64_t bytes)
{
    out_row(s->out);
    out_str(s->out, "change", NULL, what);
    out_str(s->out, "name", NULL, name);
    if (bytes)
        out_bytes(s->out, "bytes", NULL, bytes);
    else
        out_str(s->out, "bytes", NULL, NULL);
    out_text(s->out, "%s %s", name, text);
}

static void remove_made(struct session *s, const struct change *c)
{
    for (struct matrix *m = s->matrices, *next; m; m = next) {
        char name[sizeof m->name];
        next = m->next;
        if (m->number < c->first) continue;
        snprintf(name, sizeof name, "%s", m->name);
        session_drop(s, m);
        out_change(s, "removed", name, "was removed", 0);
    }
}

static void bring_back(struct session *s, struct change *c)
{
    const struct matrix *m;
    while ((m = undo_bring_back(s, c))) {
        char size[32], text[64];
        snprintf(text, sizeof text, "is back, %s", show_bytes((double)matrix_bytes(m), size, sizeof size));
        out_change(s, "returned", m->name, text, matrix_bytes(m));
    }
}

static bool run_undo(struct session *s, const struct args *a, struct err *e)
{
    struct change c;
    SCREEN_EDIT;
    if (!undo_take(s, &c, e)) return false;
    const struct matrix *before = s->current;
    out_text(s->out, "undone: %s", c.command);
    out_row(s->out);
    out_str(s->out, "change", NULL, "undone");
    out_str(s->out, "name", NULL, c.command);
    out_str(s->out, "bytes", NULL, NULL);
    remove_made(s, &c);
    bring_back(s, &c);
    s->current = c.current;
    if (s->current && s->current != before) out_change(s, "current", s->current->name, "is the current matrix", 0);
    if (c.chose && s->dev != c.dev) {
        s->dev = c.dev;
        const struct device *d = s->dev ? s->dev : device_default();
        out_change(s, "device", d ? d->name : "no device", "is the device in use", 0);
    }
    return true;
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
