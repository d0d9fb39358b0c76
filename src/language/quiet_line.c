/* Runs a line without printing. */
#include "quiet_line.h"
#include "base/err.h"
#include "report/output.h"
#include "run_lines.h"
#include "session/session.h"

bool run_quietly(struct session *s, const char *line, FILE *rows, FILE *notes, struct err *e)
{
    struct out *outer = s->out, *quiet = out_new(rows, notes, OUT_JSON, e);
    bool terminal = s->terminal, interactive = s->interactive;
    if (!quiet) return false;
    s->out = quiet;
    s->terminal = s->interactive = false;
    bool ok = run_line(s, line);
    s->out = outer;
    s->terminal = terminal;
    s->interactive = interactive;
    if (!ok) *e = *out_failure(quiet);
    if (!ok && !e->code) fail(e, E_INTERNAL, "a command failed and does not say why");
    out_free(quiet);
    return ok;
}
