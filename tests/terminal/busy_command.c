/* The prompt and the full screen of warpspy, for test_explore.py and test_pty.py, with the command `busy` in place of
   `clear`: it computes for some seconds, and neither reports progress nor checks for Ctrl-C. Usage: busy_command */
#include "base/clock.h"
#include "base/err.h"
#include "language/args.h"
#include "report/output.h"
#include "session/command.h"
#include "session/session.h"
#include "ui/run.h"

#include <locale.h>
#include <stdio.h>

static bool run_busy(struct session *s, const struct args *a, struct err *e)
{
    double end = steady_us() + 1e6 * arg_real(a, "seconds", 3);
    int64_t rounds = 0;
    (void)e;
    while (steady_us() < end) rounds++;
    out_text(s->out, "busy no more after %s rounds", rounds ? "many" : "no");
    return true;
}

const struct command command_clear = {
    .name = "busy", .grammar = "[seconds R]", .about = "compute", .help = "    busy", .run = run_busy};

int main(void)
{
    struct session s;
    struct err e = {0};
    setlocale(LC_CTYPE, "");
    if (!session_new(&s, stdout, stderr, OUT_TEXT, &e)) return 1;
    s.interactive = true;
    int status = ui_attach(&s, &e) ? ui_run(&s) : 1;
    ui_detach(&s);
    session_free(&s);
    if (e.code) fprintf(stderr, "%s\n", e.text);
    return status;
}
