/* keys: runs the explorer without a terminal; the words of the command are the keys to press. */
#include "base/err.h"
#include "base/text.h"
#include "cast.h"
#include "explorer.h"
#include "export.h"
#include "language/args.h"
#include "report/fields.h"
#include "screen.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"
#include "stage.h"
#include "term.h"
#include "view.h"

#include <string.h>

static bool read_keys(const struct args *a, struct presses *all, struct err *e)
{
    for (int i = 0; i < arg_count(a, "word"); i++)
        if (!presses_add(all, arg_at(a, "word", i), e)) return false;
    return true;
}

static bool stage_of(const struct args *a, struct stage *g, struct err *e)
{
    const char *colours = arg(a, "colours");
    if (!size_read(arg(a, "size"), 1, 1, STAGE_MAX, &g->w, &g->h, e)) return false;
    return !colours || colours_find(colours, &g->colours);
}

/* Start with the named views, or with the views that were shown last. */
static bool play(struct session *s, const struct args *a, struct stage *g, struct err *e)
{
    bool old_ascii = s->front->ascii;
    struct lines outer;
    if (!lines_begin(s, "`keys`", arg(a, "allow"), &outer, e)) return false;
    if (arg_flag(a, "ascii")) s->front->ascii = true;
    stage_begin(g);
    bool ok = explore(s, arg(a, "view"), e);
    stage_end();
    cast_rest();
    s->front->ascii = old_ascii;
    lines_end(s, &outer);
    return ok;
}

static bool run_keys(struct session *s, const struct args *a, struct err *e)
{
    struct presses all = {0};
    struct stage g = {
        .w = 80, .h = 24, .colours = COLOURS_256, .next = presses_next, .user = &all, .pressed = cast_key};
    if (!s->front) return fail(e, E_UNSUPPORTED, "there is no screen to send keys to");
    if (stage_now() || term_is_open()) return fail(e, E_USAGE, "a full screen is already open; press its keys there");
    bool ok = read_keys(a, &all, e) && stage_of(a, &g, e) && play(s, a, &g, e);
    presses_free(&all);
    return ok;
}

const struct command command_keys = {
    .name = "keys",
    .grammar = "WORD... [view VIEWS] [size WORD] [colours none|8|16|256|true] [ascii] [allow PERMISSION]",
    .about = "press keys in the full screen without a terminal, for scripts",
    .help =
        "The explorer opens with 80x24 cells (or `size`) and 256 colours with the views that were shown\n"
        "last. It handles the keys and closes; `screendump` then shows its last screen. A key is a letter, or one\n"
        "of Up Down Left Right Home End PgUp PgDn Enter Tab BackTab Esc Space Backspace Quote, C-a to C-y, Click:X,Y\n"
        "WheelUp:X,Y WheelDown:X,Y (a cell, counted from 0), Size:120x40 (resizes the window), or Wait, which\n"
        "delays the next key until no solve or race runs. Any other word is typed letter by letter; put the word\n"
        "in '...' if it contains blanks. Each key waits for background work to end. Lines that these keys type\n"
        "are not saved in the history, :!COMMAND is refused without `allow shell`, and they may write new files in\n"
        "the working folder only, without `allow files` (see `help allow`).\n"
        "    keys \"Down Right + + ':solve cg step' Enter\"; screendump\n"
        "    keys t t size 120x40 view rows; screendump rows.svg",
    .rows = (const struct row_kind *const[]){&row_done, NULL},
    .run = run_keys,
};
