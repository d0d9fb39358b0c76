/* Permissions: whether lines that the user did not type may run shell commands. */
#include "allow.h"
#include "args.h"
#include "base/err.h"
#include "session.h"

#include <string.h>
#include <sys/stat.h>

static const struct named permissions[] = {
    {"shell", "the lines !COMMAND and COMMAND | SHELL COMMAND of scripts, lessons, recordings and `keys`"},
    {0},
};

const struct registry permission_registry = {.entries = permissions, .size = sizeof *permissions};

bool shell_is_allowed(const struct session *s, struct err *e)
{
    const struct lines *now = &s->lines;
    if (!now->from || now->shell || s->shell_allowed) return true;
    return fail(e, E_USAGE, "%s may not run shell commands; if you trust it, type `allow shell` and repeat the command",
                now->from);
}

/* Does the path name a hidden file, or a file in a hidden folder? */
static bool is_hidden(const char *path)
{
    for (const char *at = path; *at; at += strspn(at, "/")) {
        size_t n = strcspn(at, "/");
        bool dots = n <= 2 && strspn(at, ".") >= n;
        if (*at == '.' && !dots) return true;
        at += n;
    }
    return false;
}

/* Output that is written to a hidden file or to an executable file could run as commands later; for example, a shell
   runs .bashrc when it starts. */
bool file_is_allowed(const struct session *s, const char *path, struct err *e)
{
    struct stat st;
    bool program = !stat(path, &st) && S_ISREG(st.st_mode) && st.st_mode & 0111;
    if (shell_is_allowed(s, NULL) || !(program || is_hidden(path))) return true;
    return fail(e, E_USAGE,
                "%s may not write hidden files or programs; if you trust it, type `allow shell` and repeat the command",
                s->lines.from);
}

static bool cannot_allow(const struct session *s, struct err *e)
{
    return fail(e, E_USAGE,
                "%s cannot allow shell commands; if you trust it, type `allow shell` and repeat the command",
                s->lines.from);
}

bool shell_allow(struct session *s, struct err *e)
{
    if (s->lines.from) return cannot_allow(s, e);
    s->shell_allowed = true;
    return true;
}

/* A script that may not run shell commands cannot allow another script to run them. This is also true of lessons,
   recordings and `keys`. */
bool lines_begin(struct session *s, const char *from, const struct args *a, struct lines *outer, struct err *e)
{
    bool allows = arg(a, "allow") != NULL;
    if (allows && !shell_is_allowed(s, NULL)) return cannot_allow(s, e);
    *outer = s->lines;
    s->lines = (struct lines){from, allows || (outer->from && outer->shell)};
    return true;
}

void lines_end(struct session *s, const struct lines *outer)
{
    s->lines = *outer;
}
