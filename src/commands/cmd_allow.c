/* allow: sets what command lines that the user did not type may do in this session. */
#include "session/allow.h"
#include "session/args.h"
#include "session/command.h"
#include "base/err.h"
#include "session/session.h"

/* The only permission is to run shell commands. */
static bool run_allow(struct session *s, const struct args *a, struct err *e)
{
    bool off = arg_flag(a, "off"), named = arg(a, "permission") != NULL;
    if (off && !named) return fail(e, E_USAGE, "name the permission before `off`: type `allow shell off`");
    if (named && !off && !shell_allow(s, e)) return false;
    if (off) s->shell_allowed = false;
    const struct named *each;
    for (int i = 0; (each = registry_at(&permission_registry, i)); i++) {
        out_row(s->out);
        out_str(s->out, "name", "allow", each->name);
        out_bool(s->out, "allowed", "in this session", s->shell_allowed);
        out_str(s->out, "about", "which is", each->about);
    }
    return true;
}

const struct command command_allow = {
    .name = "allow",
    .grammar = "[PERMISSION] [off]",
    .about = "whether scripts, lessons and recordings may run shell commands",
    .help = "Lines that you type at the prompt, after `:` or after -c may run shell commands (!COMMAND), and so may\n"
            "the lines of a pipe or file that is the standard input of warpspy. Lines from other sources are not\n"
            "allowed to run shell commands: `source` and -f, `replay`, `lesson` and `keys` refuse shell commands\n"
            "until you allow them. `allow shell` at the end of such a command allows the shell commands of that\n"
            "command only; the command `allow shell` allows all shell commands in this session. The next session\n"
            "starts without the permission. A script cannot give itself permission; scripts that an allowed script\n"
            "runs are allowed too.\n"
            "`allow shell off` withdraws the permission, and `allow` shows the state.\n"
            "With -f: warpspy -c 'allow shell' -f build.ws\n"
            "    source build.ws allow shell; allow",
    .run = run_allow,
    .unrecorded = true,
};
