/* The table of commands. */
#include "command.h"
#include "base/array.h"
#include "base/registry.h"
#include "base/suggest.h"

#include <stdio.h>

#define GROUP(title)
#define COMMAND(id) extern const struct command command_##id;
#include "commands/commands.def"
#undef COMMAND
#define COMMAND(id) &command_##id,
const struct command *const commands[] = {
#include "commands/commands.def"
    NULL};
#undef COMMAND
#undef GROUP

const struct registry command_registry = {.entries = commands, .aliases = offsetof(struct command, aliases)};

const struct command *command_find(const char *name)
{
    return registry_find(&command_registry, name);
}

const struct command *command_typed(const char *word)
{
    const struct command *c = command_find(word);
    struct abbreviation x = {.typed = word};
    if (!c) registry_list(&command_registry, abbreviation_offer, &x);
    return x.n == 1 ? command_find(x.word) : c;
}

const char *command_text(const struct command *c, char *out)
{
    if (!c->help_more) return c->help;
    snprintf(out, HELP_ROOM, "%s", c->help);
    c->help_more(out, HELP_ROOM);
    return out;
}

const char *command_group(const struct command *c)
{
    static const struct {
        const char *title;
        const struct command *command;
    } lines[] = {
#define GROUP(title) {title, NULL},
#define COMMAND(id) {NULL, &command_##id},
#include "commands/commands.def"
#undef COMMAND
#undef GROUP
    };
    const char *title = "";
    for (int i = 0; i < COUNT(lines) && lines[i].command != c; i++) title = lines[i].title ? lines[i].title : title;
    return title;
}
