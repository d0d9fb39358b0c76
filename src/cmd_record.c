/* record: write the commands of a session to a file as they run. */
#include "record.h"
#include "grammar.h"

static void tell(struct session *s, const char *state)
{
    const struct record *r = s->record;
    out_record(s->out);
    out_str(s->out, "state", "recording", state);
    out_str(s->out, "file", "file", r->name);
    out_int(s->out, "commands", "commands", r->commands);
    out_int(s->out, "failed", "of these failed, and left out", r->failed);
}

static bool run_record(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "file");
    bool off = arg_flag(a, "off");
    if (name && off) return fail(e, E_USAGE, "expected the name of a file or `off`, found both");
    if (name && s->record) return fail(e, E_USAGE, "%s is being recorded; `record off` ends that", s->record->name);
    if (name) return record_begin(s, name, e);
    if (!s->record) return fail(e, E_USAGE, "nothing is being recorded; `record FILE` begins");
    tell(s, off ? "ended" : "goes on");
    if (off) record_end(s);
    return true;
}

const struct command command_record = {
    .name = "record",
    .grammar = "[FILE] [off]",
    .about = "write the commands to a file as they run, to be replayed",
    .help =
        "Each command is a line of the file, between comments with the time and how it ended; one that failed is a\n"
        "comment itself, so that `replay FILE` repeats what worked. The file must be new. `record` alone says how\n"
        "far it is; `record off`, or the end of the session, ends it.\n"
        "    record monday.wsp",
    .run = run_record,
    .unrecorded = true,
};
