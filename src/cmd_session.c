/* source, version and quit. */
#include "grammar.h"

#include <errno.h>
#include <string.h>

static bool run_source(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "file");
    if (s->depth >= SOURCE_DEPTH)
        return fail(e, E_LIMIT, "expected at most %d scripts within one another; does %s source itself?", SOURCE_DEPTH,
                    name);
    char path[4096];
    if (!session_path(s, name, path, sizeof path, e)) return false;
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, name, "cannot open: %s", strerror(errno));
    s->depth++;
    bool ok = run_file(s, f, name);
    s->depth--;
    fclose(f);
    if (ok) out_begin(s->out, "source");
    return ok; /* the command that failed has said why, and where */
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
};

const struct command command_source = {
    .name = "source",
    .grammar = "FILE",
    .about = "run the commands of a file, up to the first that fails",
    .help = "Lines are what one would type; scripts may source others.\n"
            "    source session.ws",
    .run = run_source,
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
};
