/* Permissions: whether lines that the user did not type may run shell commands and write any file. */
#include "allow.h"
#include "base/base.h"
#include "base/err.h"
#include "base/target.h"
#include "base/text.h"
#include "session.h"

#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct named permissions[] = {
    [ALLOW_SHELL] = {"shell", "!COMMAND and COMMAND | SHELL COMMAND in lines that you did not type; includes files"},
    [ALLOW_FILES] = {"files",
                     "any file may be written by lines that you did not type, not only new ones in the working folder"},
    [PERMISSIONS] = {0},
};

const struct registry permission_registry = {.entries = permissions, .size = sizeof *permissions};

enum permission permission_find(const char *name)
{
    enum permission p = 0;
    while (p < PERMISSIONS && strcmp(permissions[p].name, name)) p++;
    return p;
}

/* ---- permissions ---- */

bool is_allowed(const struct session *s, enum permission p)
{
    const struct lines *now = &s->lines;
    if (!now->from || now->allows[p] || s->allowed[p]) return true;
    return p == ALLOW_FILES && is_allowed(s, ALLOW_SHELL);
}

/* Refuse what the line being run may not do: "a script may not WHAT; CURE". */
static bool refuse(const struct session *s, enum permission p, const char *what, struct err *e)
{
    const char *name = permissions[p].name;
    if (s->served)
        return fail(e, E_USAGE, "%s %s; if you trust it, start the server with `--allow %s`", s->lines.from, what,
                    name);
    return fail(e, E_USAGE, "%s %s; if you trust it, type `allow %s` and repeat the command", s->lines.from, what,
                name);
}

bool shell_is_allowed(const struct session *s, struct err *e)
{
    return is_allowed(s, ALLOW_SHELL) || refuse(s, ALLOW_SHELL, "may not run shell commands", e);
}

static bool cannot_allow(const struct session *s, enum permission p, struct err *e)
{
    return refuse(s, p, p == ALLOW_SHELL ? "cannot allow shell commands" : "cannot allow files", e);
}

bool allow(struct session *s, enum permission p, struct err *e)
{
    if (s->lines.from) return cannot_allow(s, p, e);
    return s->allowed[p] = true;
}

bool disallow(struct session *s, enum permission p, struct err *e)
{
    if (p == ALLOW_FILES && s->allowed[ALLOW_SHELL])
        return fail(e, E_USAGE, "shell commands are allowed, and can write any file; type `allow shell off` first");
    s->allowed[p] = false;
    return true;
}

/* ---- files ---- */

/* The files that lines wrote without permission, each as it was then. */
static struct mark {
    dev_t dev;
    ino_t ino;
    struct timespec changed;
} wrote[64];
static int nwrote;

static struct mark mark_of(const struct stat *st)
{
    return (struct mark){st->st_dev, st->st_ino, st->st_ctim};
}

static void note_file(void *user, const struct stat *st)
{
    wrote[nwrote++ % COUNT(wrote)] = mark_of(st);
}

static bool is_own_file(const struct stat *st)
{
    struct mark now = mark_of(st);
    for (int i = 0; i < COUNT(wrote); i++)
        if (wrote[i].ino == now.ino && wrote[i].dev == now.dev && wrote[i].changed.tv_sec == now.changed.tv_sec &&
            wrote[i].changed.tv_nsec == now.changed.tv_nsec)
            return true;
    return false;
}

static bool is_hidden(const char *path)
{
    return strstr(path, "/.") != NULL;
}

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    if (n == 1) return true; /* the root */
    return !strncmp(path, folder, n) && path[n] == '/';
}

static bool is_null_device(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/* What the line may not do with this file; NULL: it may write the file. */
static const char *fault_of(const struct target *t)
{
    char folder[PATH_MAX];
    if (t->there && is_null_device(&t->st)) return NULL;
    if (is_hidden(t->path)) return "write hidden files";
    if (!getcwd(folder, sizeof folder) || !is_below(t->path, folder)) return "write files outside the working folder";
    if (t->there && !is_own_file(&t->st)) return "change files that exist";
    return NULL;
}

bool file_may_be_written(const struct session *s, const struct target *t, struct err *e)
{
    const char *fault = is_allowed(s, ALLOW_FILES) ? NULL : fault_of(t);
    char safe[160], what[256];
    if (!fault) return true;
    snprintf(what, sizeof what, "may not %s (%s)", fault, print_safe(t->path, strlen(t->path), 120, safe, sizeof safe));
    return refuse(s, ALLOW_FILES, what, e);
}

static bool may_write(void *session, const struct target *t, struct err *e)
{
    return file_may_be_written(session, t, e);
}

/* ---- the lines that are being run ---- */

/* Files of the user's lines need no guard. */
static void set_guard(struct session *s)
{
    static struct target_guard guard = {may_write, note_file, NULL};
    guard.user = s;
    target_guard_by(s->lines.from ? &guard : NULL);
}

/* A script that may not do something cannot allow it to another script. This is also true of lessons, recordings,
   `keys` and clients. */
bool lines_begin(struct session *s, const char *from, const char *allow, struct lines *outer, struct err *e)
{
    struct lines inner = {.from = from};
    enum permission given = allow ? permission_find(allow) : PERMISSIONS;
    for (enum permission p = 0; p < PERMISSIONS; p++) {
        if (p == given && !is_allowed(s, p)) return cannot_allow(s, p, e);
        inner.allows[p] = p == given || (s->lines.from && s->lines.allows[p]);
    }
    *outer = s->lines;
    s->lines = inner;
    set_guard(s);
    return true;
}

void lines_end(struct session *s, const struct lines *outer)
{
    s->lines = *outer;
    set_guard(s);
}

struct lines lines_of_user(struct session *s)
{
    struct lines outer = s->lines;
    s->lines = (struct lines){0};
    set_guard(s);
    return outer;
}
