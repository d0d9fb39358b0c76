/* allow: sets what command lines that the user did not type may do in this session. */
#include "base/err.h"
#include "language/args.h"
#include "report/fields.h"
#include "session/allow.h"
#include "session/command.h"
#include "session/session.h"

static bool run_allow(struct session *s, const struct args *a, struct err *e)
{
    bool off = arg_flag(a, "off");
    const char *name = arg(a, "permission");
    if (off && !name) return fail(e, E_USAGE, "name the permission before `off`: type `allow shell off`");
    if (name && !(off ? disallow : allow)(s, permission_find(name), e)) return false;
    const struct named *each;
    for (int i = 0; (each = registry_at(&permission_registry, i)); i++) {
        out_row(s->out);
        out_str(s->out, "name", "allow", each->name);
        out_bool(s->out, "allowed", "in this session", s->allowed[i] || (i == ALLOW_FILES && s->allowed[ALLOW_SHELL]));
        out_str(s->out, "about", "which is", each->about);
    }
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field allow_fields[] = {
    {"name", F_TEXT, "the permission"},
    {"allowed", F_BOOLEAN, "whether the permission is given in this session"},
    {"about", F_TEXT, "what the permission allows"},
    {0},
};
static const struct row_kind row_allow = {"allow", "each permission, and whether it is given", allow_fields};

const struct command command_allow = {
    .name = "allow",
    .grammar = "[PERMISSION] [off]",
    .about = "what scripts, lessons, recordings and clients may do: run shell commands, write any file",
    .help =
        "Lines that you type at the prompt, after `:` or after -c may run shell commands (!COMMAND) and write any\n"
        "file, and so may the lines of a pipe or file that is the standard input of warpspy. Lines from other\n"
        "sources (`source` and -f, `replay`, `lesson`, `keys`, and clients of --serve) may not run shell commands,\n"
        "and they may write new files in the working folder only. Links are followed first; no name in the path\n"
        "may begin with a dot; and `force` does not replace a file, unless such lines wrote the file in this\n"
        "session and nothing has changed it since.\n"
        "`allow shell` or `allow files` at the end of such a command lifts this limit for that command only; the\n"
        "command `allow shell` or `allow files`, or the option --allow of warpspy, lifts it for this session.\n"
        "shell includes files. The next session starts without permissions.\n"
        "A script cannot give itself permission; scripts that an allowed script runs are allowed too. What `set`\n"
        "changes in such lines is saved only if files are allowed, and ends with a lesson in any case.\n"
        "`allow shell off` withdraws the permission, and `allow` shows the state.\n"
        "At the start: warpspy --allow shell -f build.ws; warpspy --serve --allow files\n"
        "    source build.ws allow shell; allow files; allow",
    .rows = (const struct row_kind *const[]){&row_allow, NULL},
    .run = run_allow,
    .unrecorded = true,
};
