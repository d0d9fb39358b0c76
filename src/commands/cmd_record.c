/* record: writes the commands of a session, or its screen, to a file as they run. */
#include "base/err.h"
#include "language/args.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/record.h"
#include "session/session.h"

#include <math.h>
#include <string.h>

static void out_commands(struct session *s, const char *state)
{
    const struct record *r = s->record;
    out_record(s->out);
    out_str(s->out, "state", "recording", state);
    out_str(s->out, "file", "file", r->name);
    out_int(s->out, "commands", "commands", r->commands);
    out_int(s->out, "failed", "failed commands, left out of the file", r->failed);
    out_num(s->out, "events", NULL, NAN, NULL);
}

static void out_cast(struct session *s, const struct casting *now, const char *state)
{
    out_record(s->out);
    out_str(s->out, "state", "recording of the screen", state);
    out_str(s->out, "file", "file", now->file);
    out_num(s->out, "commands", NULL, NAN, NULL);
    out_num(s->out, "failed", NULL, NAN, NULL);
    out_int(s->out, "events", "events", now->events);
}

static bool casts(const struct session *s, struct casting *now)
{
    return s->front && s->front->cast_now && s->front->cast_now(now);
}

static bool begin(struct session *s, const char *name, const char *cast, struct err *e)
{
    struct casting now;
    if (name && s->record)
        return fail(e, E_USAGE, "already recording to %s; `record off` ends the recording", s->record->name);
    if (cast && casts(s, &now))
        return fail(e, E_USAGE, "already recording the screen to %s; `record off` ends the recording", now.file);
    if (cast && !(s->front && s->front->cast_begin)) return fail(e, E_UNSUPPORTED, "there is no screen to record");
    return (!name || record_begin(s, name, e)) && (!cast || s->front->cast_begin(s, cast, e));
}

/* End the recording of the screen. */
static bool end_cast(struct session *s, const struct casting *now, struct err *e)
{
    int failed = now->failed;
    char name[512];
    snprintf(name, sizeof name, "%s", now->file);
    s->front->cast_end();
    return !failed || fail_at(e, E_IO, name, "cannot write: %s; the recording is incomplete", strerror(failed));
}

static bool run_record(struct session *s, const struct args *a, struct err *e)
{
    const char *name = arg(a, "file"), *cast = arg(a, "cast");
    struct casting now;
    bool off = arg_flag(a, "off"), screen = casts(s, &now);
    if ((name || cast) && off) return fail(e, E_USAGE, "give either a file name or `off`, not both");
    if (name || cast) return begin(s, name, cast, e);
    if (!s->record && !screen) return fail(e, E_USAGE, "nothing is being recorded; `record FILE` starts a recording");
    if (s->record) out_commands(s, off ? "ended" : "goes on");
    if (screen) out_cast(s, &now, off ? "ended" : "goes on");
    if (off) record_end(s);
    return !off || !screen || end_cast(s, &now, e);
}

/* ---- the keys of the rows ---- */

static const struct field record_fields[] = {
    {"state", F_TEXT, "whether the recording continues", .words = "goes on, ended"},
    {"file", F_TEXT, "the file"},
    {"commands", F_COUNT | OR_NULL, "commands recorded; null for the screen"},
    {"failed", F_COUNT | OR_NULL, "commands that failed; null for the screen"},
    {"events", F_COUNT | OR_NULL, "events of the screen; null for commands"},
    {0},
};
static const struct row_kind row_record = {"record", "how far a recording is", record_fields};

const struct command command_record = {
    .name = "record",
    .grammar = "[FILE] [cast FILE] [off]",
    .about = "write the commands, or the screen, to a file as they run",
    .help = "Each command is one line of the file, between comments with its time and result. A failed command is\n"
            "itself a comment, so `replay FILE` repeats only the commands that succeeded. The file must be new\n"
            "and, in a script or lesson, in the working folder and not hidden (see `help allow`).\n"
            "`record` alone shows the progress; `record off`, or the end of the session, ends the recording.\n"
            "With `cast`, the file holds the screen, for `asciinema play`: at a terminal, everything that is shown,\n"
            "with its times; in a script, the screens of `keys`, at the pace of a steady typist.\n"
            "    record monday.wsp\n"
            "    record cast demo.cast; keys Tab + + view spy; record off",
    .rows = (const struct row_kind *const[]){&row_record, &row_done, NULL},
    .run = run_record,
    .unrecorded = true,
};
