/* What the options of `set` change of the screen. */
#include "ui.h"
#include "../src/options.h"

#include <string.h>

static const struct {
    const char *name;
    enum colours colours;
} named[] = {
    {"none", COLOURS_NONE}, {"8", COLOURS_8}, {"16", COLOURS_16}, {"256", COLOURS_256}, {"true", COLOURS_24BIT},
};

void front_restyle(struct session *s)
{
    const char *colours = s->plain ? "none" : option_value(s, "colours"), *ascii = option_value(s, "ascii");
    int chosen = -1;
    for (int i = 0; i < COUNT(named); i++)
        if (!strcmp(named[i].name, colours)) chosen = (int)named[i].colours;
    colours_choose(chosen);
    front_explorer(s)->deaf = !strcmp(option_value(s, "mouse"), "off");
    term_mouse(!front_explorer(s)->deaf);
    s->front->ascii = s->plain || !strcmp(ascii, "on") || (strcmp(ascii, "off") && !utf8_locale());
}
