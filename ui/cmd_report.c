/* report: writes one self-contained HTML page about a matrix: facts, plots, tables, and the commands that made them. */
#include "base/memfile.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/xdg.h"
#include "commands/cmd_race.h"
#include "commands/race.h"
#include "direct/direct.h"
#include "export.h"
#include "language/args.h"
#include "language/grammar.h"
#include "machine/device.h"
#include "machine/reason.h"
#include "matrix/csr.h"
#include "paint.h"
#include "report/fields.h"
#include "report/output.h"
#include "report/output_direct.h"
#include "report/output_solve.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "ui/views/views.h"
#include "view.h"

#include <string.h>
#include <time.h>

extern const struct command command_stats, command_check;

static const char style[] =
    "body{font:16px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}\n"
    "h1{margin-bottom:0}h2{margin-top:2.2rem;border-bottom:1px solid #ccc}\n"
    "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}\n"
    "th,td{text-align:left;padding:.15rem .9rem .15rem 0;vertical-align:top;border-bottom:1px solid #eee}\n"
    "th{font-weight:600}.n{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".card p,.card{font-family:ui-monospace,monospace;font-size:14px;white-space:pre-wrap;margin:.2rem 0}\n"
    "svg{max-width:100%;height:auto}figure{margin:1rem 0}figcaption,.by{color:#6a6a6a}\n"
    "code{font-family:ui-monospace,monospace}\n";

/* Write a view as SVG, with a caption. */
static bool put_view(struct session *s, FILE *f, const struct view *v, int w, int h, const char *caption, struct err *e)
{
    struct export x = {.view = v, .kind = EXPORT_SVG, .w = w, .h = h, .light = true};
    fputs("<figure>\n", f);
    bool ok = export_view(s, &x, f, e);
    fprintf(f, "<figcaption>%s</figcaption>\n</figure>\n", caption);
    return ok;
}

static bool put_command(struct session *s, struct out *o, const struct command *c, const struct matrix *m,
                        struct err *e)
{
    return export_command(s, o, c, 1, (const char *const[]){m->name}, e);
}

static void put_head(FILE *f, const struct matrix *m, const struct device *d)
{
    char date[64] = "", rows[32], cols[32];
    time_t now = time(NULL);
    struct tm t;
    if (localtime_r(&now, &t)) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &t);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>",
          f);
    put_escaped(f, m->name);
    fprintf(f, " - warpspy</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    put_escaped(f, m->name);
    fprintf(f, "</h1>\n<p>%s x %s, %s", show_count(m->csr.rows, rows, sizeof rows),
            show_count(m->csr.cols, cols, sizeof cols), how_many(m->csr.nnz, "nonzero").text);
    if (*m->info.file && strcmp(m->info.file, m->name)) fputs(", of ", f), put_escaped(f, m->info.file);
    fprintf(f, "</p>\n<p class=\"by\">warpspy %s, on ", WARPSPY_VERSION);
    put_escaped(f, d->name);
    fputs(" (", f);
    put_escaped(f, d->about);
    fprintf(f, "), %s</p>\n", date);
}

static bool put_facts(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    fputs("<h2>Facts</h2>\n", f);
    if (!put_command(s, o, &command_stats, m, e)) return false;
    fputs("<h2>Report card</h2>\n<div class=\"card\">\n", f);
    if (!put_command(s, o, &command_check, m, e)) return false;
    fputs("</div>\n", f);
    return true;
}

static bool put_pattern(struct session *s, FILE *f, struct err *e)
{
    fputs("<h2>Pattern</h2>\n", f);
    if (!put_view(s, f, &view_spy, 100, 50, "The positions of the nonzeros; the colour shows the density.", e))
        return false;
    fputs("<h2>Rows</h2>\n", f);
    return put_view(s, f, &view_rows, 100, 30, "The number of rows of each length.", e);
}

/* Write the last measurements of this matrix. */
static bool put_runs(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    if (!s->nruns || s->runs_of != m) return true;
    fputs("<h2>SpMV benchmarks</h2>\n", f);
    if (!put_view(s, f, &view_bench, 100, 30, "The kernels measured last.", e)) return false;
    out_begin(o, "bench");
    for (int i = 0; i < s->nruns; i++) {
        out_row(o);
        out_run(o, m, &s->runs[i], RUN_ROW);
    }
    out_remarks(o, s->runs, s->nruns);
    return out_end(o, e);
}

static bool put_solve(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    if (!s->solve || s->solve->matrix.csr != &m->csr) return true;
    fputs("<h2>Solve</h2>\n", f);
    if (!put_view(s, f, &view_solve, 100, 34, "The residual of the last solve.", e)) return false;
    out_begin(o, "solve");
    if (s->solve->reason != RUNNING) out_solve(o, s->solve);
    return out_end(o, e);
}

static bool put_direct(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    if (!s->direct || s->direct->A != &m->csr) return true;
    fputs("<h2>Direct solve</h2>\n", f);
    out_begin(o, "solve");
    out_direct(o, s->direct, s->solve);
    return out_end(o, e);
}

static bool put_race(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    if (!s->race || s->race->matrix != m || s->race->paused) return true;
    fputs("<h2>Race</h2>\n", f);
    if (!put_view(s, f, &view_race, 100, 34, "The last race.", e)) return false;
    out_begin(o, "race");
    out_race(o, s->race);
    return out_end(o, e);
}

static void put_commands(struct session *s, FILE *f)
{
    fprintf(f,
            "<h2>Commands</h2>\n"
            "<p>Commands run in this session (failed commands are omitted%s).</p>\n"
            "<ol>\n",
            s->log.cut ? "; the earliest commands were not kept" : "");
    for (const char *p = s->log.text ? s->log.text : ""; *p;) {
        static char line[2 * LINE_LIMIT];
        size_t n = strcspn(p, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), p);
        fputs("<li><code>", f);
        put_escaped(f, line);
        fputs("</code></li>\n", f);
        p += n + (p[n] == '\n');
    }
    fputs("</ol>\n</body>\n</html>\n", f);
}

static bool put_page(struct session *s, FILE *f, const struct matrix *m, struct err *e)
{
    struct device *d = session_device(s, NULL, e);
    struct out *o = d ? out_new(f, stderr, OUT_TEXT, e) : NULL;
    if (!o) return false;
    out_html(o);
    put_head(f, m, d);
    bool ok = put_facts(s, f, o, m, e) && put_pattern(s, f, e) && put_runs(s, f, o, m, e) && put_solve(s, f, o, m, e) &&
              put_direct(s, f, o, m, e) && put_race(s, f, o, m, e);
    if (ok) put_commands(s, f);
    out_free(o);
    return ok;
}

static bool run_report(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e), *current = s->current;
    const char *file = arg(a, "file");
    struct memfile page;
    if (!m || !newfile_allowed(file, arg_flag(a, "force"), e)) return false;
    session_use(s, m);
    bool ok = memfile_open(&page, e) && put_page(s, page.file, m, e);
    session_use(s, current);
    ok = memfile_close(&page, ok, e) && export_write(file, arg_flag(a, "force"), page.text, page.n, e);
    int64_t bytes = (int64_t)page.n;
    memfile_free(&page);
    if (!ok) return false;
    out_record(s->out);
    out_str(s->out, "matrix", "matrix", m->name);
    out_str(s->out, "file", "file", file);
    out_bytes(s->out, "bytes", "size", bytes);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field report_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"file", F_TEXT, "the file"},
    {"bytes", F_COUNT, "size in bytes"},
    {0},
};
static const struct row_kind row_report = {"report", "a page written to a file", report_fields};

const struct command command_report = {
    .name = "report",
    .grammar = "FILE [MATRIX] [force]",
    .about = "write one HTML page about a matrix: facts, plots, tables, and the commands so far",
    .help = "The page needs no other file and no network. The page holds the output of stats and check, and pictures\n"
            "of spy and rows. If the last bench, solve or race used this matrix, its picture and table follow. The\n"
            "page also names the version, device and date, and lists the commands that were run. `force` replaces an\n"
            "existing file.\n"
            "    report thesis4.html\n"
            "    bench; solve cg; report A.html A",
    .rows = (const struct row_kind *const[]){&row_report, NULL},
    .run = run_report,
};
