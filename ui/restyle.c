/* Apply the options of `set` that concern the screen. */
#include "background.h"
#include "base/screen_lock.h"
#include "explorer.h"
#include "full_screen.h"
#include "language/options.h"
#include "screen.h"
#include "session/front.h"
#include "session/session.h"
#include "term.h"
#include "terminal_window.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    enum colours colours;
} named[] = {
    {"none", COLOURS_NONE}, {"8", COLOURS_8}, {"16", COLOURS_16}, {"256", COLOURS_256}, {"true", COLOURS_24BIT},
};

bool colours_find(const char *name, enum colours *out)
{
    for (int i = 0; i < COUNT(named); i++)
        if (!strcmp(named[i].name, name)) return *out = named[i].colours, true;
    return false;
}

/* The fonts of the Linux console and of vt terminals have no braille, even in a UTF-8 locale. */
static bool few_letters(void)
{
    const char *term = getenv("TERM");
    return term && isatty(STDOUT_FILENO) && (!strcmp(term, "linux") || !strncmp(term, "vt", 2));
}

static enum pixel_choice pixel_choice(const char *value)
{
    static const char *const names[] = {
        [PIXELS_AUTO] = "auto", [PIXELS_NEVER] = "off", [PIXELS_AS_SIXEL] = "sixel", [PIXELS_AS_KITTY] = "kitty"};
    for (int i = 0; i < COUNT(names); i++)
        if (!strcmp(names[i], value)) return (enum pixel_choice)i;
    return PIXELS_AUTO;
}

static enum theme_choice theme_choice(const char *value)
{
    return !strcmp(value, "light") ? THEME_LIGHT : !strcmp(value, "dark") ? THEME_DARK : THEME_AUTO;
}

void screen_restyle(struct session *s)
{
    SCREEN_EDIT;
    const char *colours = s->plain ? "none" : option_value(s, OPTION_COLOURS), *ascii = option_value(s, OPTION_ASCII);
    enum colours chosen;
    colours_choose(colours_find(colours, &chosen) ? (int)chosen : -1);
    background_choose(theme_choice(option_value(s, OPTION_THEME)));
    screen_explorer(s)->mouse_off = !strcmp(option_value(s, OPTION_MOUSE), "off");
    term_mouse(!screen_explorer(s)->mouse_off);
    window_restyle(s);
    full_screen_choose_pixels(pixel_choice(option_value(s, OPTION_PIXELS)));
    explorer_try_pixels(screen_explorer(s));
    s->front->ascii = s->plain || !strcmp(ascii, "on") || (strcmp(ascii, "off") && (few_letters() || !utf8_locale()));
}
