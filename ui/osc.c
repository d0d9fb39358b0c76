/* OSC sequences: does the terminal read them, and what has it reported? */
#include "osc.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool away, clipboard;
} reported;

bool osc_is_understood(void)
{
    static const char *const without[] = {"linux", "vt", "dumb", "cons", "sun"};
    const char *term = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term || !*term) return false;
    for (int i = 0; i < COUNT(without); i++)
        if (!strncmp(term, without[i], strlen(without[i]))) return false;
    return true;
}

void osc_take_focus(bool here)
{
    reported.away = !here;
}

bool osc_is_away(void)
{
    return reported.away;
}

void osc_take_clipboard(void)
{
    reported.clipboard = true;
}

bool osc_has_clipboard(void)
{
    return reported.clipboard;
}
