/* clear: clears the terminal. */
#include "report/fields.h"
#include "report/output.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"

#include <stdio.h>

/* Move to the upper left corner and erase the screen. All terminals that readline supports understand these sequences.
   The explorer draws the whole screen itself. */
static bool run_clear(struct session *s, const struct args *a, struct err *e)
{
    if (s->interactive && out_mode(s->out) == OUT_TEXT && !(s->front && s->front->covered))
        fputs("\033[H\033[2J", out_file(s->out));
    return true;
}

const struct command command_clear = {
    .name = "clear",
    .aliases = "cls clc",
    .grammar = "",
    .about = "clear the terminal",
    .help = "Clears the terminal at the prompt, like Ctrl-L; it removes no matrix (`drop` does).\n    clear",
    .rows = (const struct row_kind *const[]){&row_done, NULL},
    .run = run_clear,
    .unrecorded = true,
};
