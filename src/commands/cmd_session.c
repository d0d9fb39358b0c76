/* source, replay, version and quit. */
#include "base/clock.h"
#include "base/err.h"
#include "language/args.h"
#include "language/run_lines.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/record.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>

/* Run the commands of a file up to the first failure. `what` says what the file is, for example "a script". The failed
   command has already reported the reason and the line. */
static bool run_script(struct session *s, const struct args *a, const char *what, struct err *e)
{
    const char *name = arg(a, "file");
    struct lines outer;
    if (s->depth >= SOURCE_DEPTH)
        return fail(e, E_LIMIT, "more than %d scripts are nested; does %s source itself?", SOURCE_DEPTH, name);
    char path[4096];
    if (!session_path(s, name, path, sizeof path, e)) return false;
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, name, "cannot open: %s", strerror(errno));
    if (record_is(s, f)) {
        fclose(f);
        return fail(e, E_USAGE, "%s is still being recorded; `record off` ends the recording", name);
    }
    bool ok = lines_begin(s, what, arg(a, "allow"), &outer, e);
    if (ok) {
        s->depth++;
        ok = run_file(s, f, name);
        s->depth--;
        lines_end(s, &outer);
    }
    fclose(f);
    return ok;
}

static bool run_source(struct session *s, const struct args *a, struct err *e)
{
    bool ok = run_script(s, a, "a script", e);
    if (ok) out_begin(s->out, "source");
    return ok;
}

static bool run_replay(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "file");
    int64_t before = s->ran;
    double begin = now_us();
    if (!run_script(s, a, "a recording", e)) return false;
    out_begin(s->out, "replay");
    out_record(s->out);
    out_str(s->out, "file", "replayed", name);
    out_int(s->out, "commands", "commands", s->ran - before);
    out_time(s->out, "time_us", "in", now_us() - begin);
    return true;
}

static bool run_version(struct session *s, const struct args *a, struct err *e)
{
#ifdef HAVE_CUDA
    bool cuda = true;
#else
    bool cuda = false;
#endif
    out_record(s->out);
    out_str(s->out, "version", "warpspy", WARPSPY_VERSION);
    out_bool(s->out, "cuda", "built with CUDA", cuda);
    return true;
}

static bool run_quit(struct session *s, const struct args *a, struct err *e)
{
    s->quit = true;
    return true;
}

/* `exit` is the name of this command in other programs. */
/* ---- the keys of the rows ---- */

static const struct field replay_fields[] = {
    {"file", F_TEXT, "the file"},
    {"commands", F_COUNT, "commands run"},
    {"time_us", F_AMOUNT, "total time, in us"},
    {0},
};
static const struct row_kind row_replay = {"replay", "a recording that was run again", replay_fields};

static const struct field version_fields[] = {
    {"version", F_TEXT, "the version"},
    {"cuda", F_BOOLEAN, "whether it was built with CUDA"},
    {0},
};
static const struct row_kind row_version = {"version", "which version this is", version_fields};

const struct command command_exit = {
    .name = "exit",
    .grammar = "",
    .about = "the same as quit",
    .help = "    exit",
    .rows = (const struct row_kind *const[]){&row_done, NULL},
    .run = run_quit,
    .unrecorded = true,
};

const struct command command_source = {
    .name = "source",
    .aliases = ".",
    .grammar = "FILE [allow PERMISSION]",
    .about = "run the commands of a file, up to the first command that fails",
    .help = "Write the lines as you would type them; scripts may source other scripts. Shell commands (!COMMAND) of\n"
            "the file are refused without `allow shell`. Without `allow files`, the commands of the file may write\n"
            "new files in the working folder only, none of them hidden, and `force` replaces no file (see `help\n"
            "allow`).\n"
            "    source session.ws; source build.ws allow shell",
    .rows = (const struct row_kind *const[]){&row_done, NULL},
    .run = run_source,
    .runs_script = true,
};

const struct command command_replay = {
    .name = "replay",
    .grammar = "FILE [allow PERMISSION]",
    .about = "run a recorded session again, up to the first command that fails",
    .help = "The commands run in the current folder and session, like the commands of a script; an error message\n"
            "gives the line of the command that failed. Shell commands (!COMMAND) are refused without `allow shell`.\n"
            "Without `allow files`, the commands may write new files in the working folder only, none of them hidden,\n"
            "and `force` replaces no file (see `help allow`). `help record` describes the file.\n"
            "    replay monday.wsp",
    .rows = (const struct row_kind *const[]){&row_replay, NULL},
    .run = run_replay,
    .runs_script = true,
};

const struct command command_version = {
    .name = "version",
    .grammar = "",
    .about = "the version of warpspy, and whether it was built with CUDA",
    .help = "    version",
    .rows = (const struct row_kind *const[]){&row_version, NULL},
    .run = run_version,
};

const struct command command_quit = {
    .name = "quit",
    .aliases = "q",
    .grammar = "",
    .about = "quit the program; the end of the input quits it too",
    .help = "Nothing is saved unless you used `save`.\n"
            "    quit",
    .rows = (const struct row_kind *const[]){&row_done, NULL},
    .run = run_quit,
    .unrecorded = true,
};
