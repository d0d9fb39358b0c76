/* source, replay, version and quit. */
#include "grammar.h"
#include "record.h"

#include <errno.h>
#include <string.h>

/* Run the commands of a file up to the first that fails; that has said why, and where. */
static bool run_script(struct session *s, const char *name, struct err *e)
{
    if (s->depth >= SOURCE_DEPTH)
        return fail(e, E_LIMIT, "expected at most %d scripts within one another; does %s source itself?", SOURCE_DEPTH,
                    name);
    char path[4096];
    if (!session_path(s, name, path, sizeof path, e)) return false;
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, name, "cannot open: %s", strerror(errno));
    if (record_is(s, f)) {
        fclose(f);
        return fail(e, E_USAGE, "%s is being recorded; `record off` ends that", name);
    }
    s->depth++;
    bool ok = run_file(s, f, name);
    s->depth--;
    fclose(f);
    return ok;
}

static bool run_source(struct session *s, const struct args *a, struct err *e)
{
    bool ok = run_script(s, arg(a, "file"), e);
    if (ok) out_begin(s->out, "source");
    return ok;
}

static bool run_replay(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "file");
    int64_t before = s->ran;
    double begin = now_us();
    if (!run_script(s, name, e)) return false;
    out_begin(s->out, "replay");
    out_record(s->out);
    out_str(s->out, "file", "replayed", name);
    out_int(s->out, "commands", "commands", s->ran - before);
    out_time(s->out, "time_us", "in", now_us() - begin);
    return true;
}

static bool run_version(struct session *s, const struct args *a, struct err *e)
{
    (void)a, (void)e;
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
    (void)a, (void)e;
    s->quit = true;
    return true;
}

/* What other programs call it. */
const struct command command_exit = {
    .name = "exit",
    .grammar = "",
    .about = "the same as quit",
    .help = "    exit",
    .run = run_quit,
    .unrecorded = true,
};

const struct command command_source = {
    .name = "source",
    .grammar = "FILE",
    .about = "run the commands of a file, up to the first that fails",
    .help = "Lines are what one would type; scripts may source others.\n"
            "    source session.ws",
    .run = run_source,
    .runs_script = true,
};

const struct command command_replay = {
    .name = "replay",
    .grammar = "FILE",
    .about = "run a recorded session again, up to the first command that fails",
    .help = "The commands run as `source` runs them, in the folder and session that there are now; the one that fails\n"
            "is named by its line. `record` says what a recording holds.\n"
            "    replay monday.wsp",
    .run = run_replay,
    .runs_script = true,
};

const struct command command_version = {
    .name = "version",
    .grammar = "",
    .about = "which version this is, and whether it was built with CUDA",
    .help = "    version",
    .run = run_version,
};

const struct command command_quit = {
    .name = "quit",
    .grammar = "",
    .about = "leave; so does the end of the input",
    .help = "Nothing is saved that was not saved by `save`.\n"
            "    quit",
    .run = run_quit,
    .unrecorded = true,
};
