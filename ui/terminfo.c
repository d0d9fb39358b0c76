/* The terminfo entry of the terminal: the bytes of its capabilities, and its colours. */
#include "terminfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

/* Static, because tputs passes no user argument to its callback. */
static char *collected;
static size_t collected_size;

static int collect(int byte)
{
    size_t n = strlen(collected);
    if (n + 1 < collected_size) collected[n] = (char)byte, collected[n + 1] = 0;
    return byte;
}

void terminfo_bytes(char *out, size_t size, int n, const char *const *parts)
{
    collected = out;
    collected_size = size;
    *out = 0;
    for (int i = 0; i < n; i++)
        if (parts[i]) tputs(parts[i], 1, collect);
}

/* Does the terminfo entry accept colours as 0xrrggbb? */
static bool is_direct(void)
{
    const char *text = tigetstr("RGB");
    bool rgb = tigetflag("RGB") > 0 || tigetnum("RGB") > 0 || (text && text != (const char *)-1);
    return rgb && tigetnum("colors") >= 1 << 24;
}

bool terminfo_direct(char *name, size_t size)
{
    const char *term = getenv("TERM"), *tail = strstr(term, "-256color");
    TERMINAL *before = cur_term;
    int status;
    if (is_direct()) return false;
    snprintf(name, size, "%.*s-direct", tail ? (int)(tail - term) : (int)strlen(term), term);
    bool found = setupterm(name, STDOUT_FILENO, &status) == OK && is_direct();
    TERMINAL *tried = set_curterm(before);
    if (tried != before) del_curterm(tried);
    return found;
}

enum colours terminfo_colours(enum colours wanted)
{
    if (!cur_term || wanted == COLOURS_NONE) return wanted;
    if (is_direct()) return wanted == COLOURS_8 ? COLOURS_8 : COLOURS_24BIT;
    int n = tigetnum("colors");
    enum colours most = n >= 256 ? COLOURS_256 : n >= 16 ? COLOURS_16 : n >= 8 ? COLOURS_8 : COLOURS_NONE;
    return wanted < most ? wanted : most;
}

bool terminfo_copies(void)
{
    const char *text = cur_term ? tigetstr("Ms") : NULL;
    return text && text != (const char *)-1;
}
