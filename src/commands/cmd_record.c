/* record: writes the commands of a session to a file as they run. */
#include "session/args.h"
#include "session/command.h"
#include "base/err.h"
#include "session/record.h"
#include "session/session.h"

static void out_recording(struct session *s, const char *state)
{
    const struct record *r = s->record;
    out_record(s->out);
    out_str(s->out, "state", "recording", state);
    out_str(s->out, "file", "file", r->name);
    out_int(s->out, "commands", "commands", r->commands);
    out_int(s->out, "failed", "failed commands, left out of the file", r->failed);
}

static bool run_record(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "file");
    bool off = arg_flag(a, "off");
    if (name && off) return fail(e, E_USAGE, "give either a file name or `off`, not both");
    if (name && s->record)
        return fail(e, E_USAGE, "already recording to %s; `record off` ends the recording", s->record->name);
    if (name) return record_begin(s, name, e);
    if (!s->record) return fail(e, E_USAGE, "nothing is being recorded; `record FILE` starts a recording");
    out_recording(s, off ? "ended" : "goes on");
    if (off) record_end(s);
    return true;
}

const struct command command_record = {
    .name = "record",
    .grammar = "[FILE] [off]",
    .about = "write the commands to a file as they run, for `replay`",
    .help = "Each command is one line of the file, between comments with its time and result. A failed command is\n"
            "itself a comment, so `replay FILE` repeats only the commands that succeeded. The file must be new.\n"
            "`record` alone shows the progress; `record off`, or the end of the session, ends the recording.\n"
            "    record monday.wsp",
    .run = run_record,
    .unrecorded = true,
};
