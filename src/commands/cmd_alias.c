/* alias: gives names to command lines, which are saved with the options. */
#include "base/err.h"
#include "base/text.h"
#include "language/args.h"
#include "language/kinds.h"
#include "language/options.h"
#include "report/fields.h"
#include "session/alias.h"
#include "session/command.h"
#include "session/session.h"

#include <string.h>

/* A safe line may be four times as long. */
enum { SHOWN_MAX = 4 * ALIAS_LINE_MAX + 4 };

/* "NAME = LINE" as the user may write it: `p = stats`, `p =stats` or `p=stats`. */
struct definition {
    char name[64], line[ALIAS_LINE_MAX + 2];
    bool defines; /* has a = */
};

static void read_definition(const struct args *a, struct definition *d)
{
    const char *name = arg(a, "alias"), *rest = arg(a, "run"), *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    snprintf(d->name, sizeof d->name, "%.*s", (int)(n < sizeof d->name ? n : sizeof d->name - 1), name);
    d->defines = equals || arg_flag(a, "=") || (rest && *rest == '=');
    if (rest && *rest == '=' && !equals) rest += 1 + strspn(rest + 1, " ");
    snprintf(d->line, sizeof d->line, "%s%s%s", equals ? equals + 1 : "", equals && equals[1] && rest ? " " : "",
             rest ? rest : "");
}

static void out_alias(struct out *o, const struct alias *a)
{
    char line[SHOWN_MAX];
    out_row(o);
    out_str(o, "name", "alias", a->name);
    out_str(o, "line", "line", print_safe(a->line, strlen(a->line), ALIAS_LINE_MAX, line, sizeof line));
}

/* The line of an alias runs as if the user had typed it, so that only the user may write one. */
static bool is_users(const struct session *s, struct err *e)
{
    return !s->lines.from || fail(e, E_USAGE, "%s may not change aliases; type the line yourself", s->lines.from);
}

static bool change(struct session *s, const char *name, const char *line, struct err *e)
{
    char key[80], value[ALIAS_LINE_MAX + 4] = "";
    struct err why = {0};
    if (!is_users(s, e) || !kind_check("NAME", s, "alias", name, e) || !alias_set(s, name, line, e)) return false;
    snprintf(key, sizeof key, "alias %s", name);
    if (line) snprintf(value, sizeof value, "= %s", line);
    if (options_keep_line(key, line ? value : NULL, &why)) return true;
    return fail_at(e, E_IO, why.where, "%s; the alias is changed for this session only", why.text);
}

static bool run_alias(struct session *s, const struct args *a, struct err *e)
{
    struct definition d = {0};
    bool off = arg_flag(a, "off");
    if (!arg(a, "alias")) {
        if (off) return fail(e, E_USAGE, "name the alias before `off`: type `alias NAME off`");
        for (const struct alias *each = s->aliases; each; each = each->next) out_alias(s->out, each);
        if (!s->aliases) out_text(s->out, "there are no aliases; `alias NAME = LINE` makes one");
        return true;
    }
    read_definition(a, &d);
    if (off) return change(s, d.name, NULL, e);
    if (d.defines && !*d.line)
        return fail(e, E_USAGE, "the line after = is missing; `alias NAME off` removes an alias");
    if (d.defines) return change(s, d.name, d.line, e);
    if (arg(a, "run")) return fail(e, E_USAGE, "the = is missing: `alias %s = LINE`", d.name);
    const struct alias *found = alias_find(s, d.name, strlen(d.name));
    if (!found) return alias_set(s, d.name, NULL, e); /* says that there is none */
    out_alias(s->out, found);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field alias_fields[] = {
    {"name", F_TEXT, "the alias"},
    {"line", F_TEXT, "the line that it stands for"},
    {0},
};
static const struct row_kind row_alias = {"alias", "an alias", alias_fields};

const struct command command_alias = {
    .name = "alias",
    .grammar = "[ALIAS] [off] [=] [COMMAND_LINE]",
    .about = "give a name to a command line",
    .help =
        "`alias NAME = LINE` gives LINE a name, `alias NAME off` removes it, and `alias` lists all. The first word\n"
        "of a command may be an alias: its line takes the place of the word, and what follows the word is added\n"
        "at the end. Quote a line with ; > | or quotes. An alias cannot have the name of a command, and is saved\n"
        "with the options (`help set`). Only lines that you type use aliases: scripts, lessons and clients do\n"
        "not, and cannot change them.\n"
        "    alias grid = gen poisson2d; grid 40\n"
        "    alias cost = \"predict csr; explain csr\"",
    .rows = (const struct row_kind *const[]){&row_alias, &row_done, NULL},
    .run = run_alias,
    .unrecorded = true,
};
