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

extern const struct command command_stats, command_check, command_advise, command_explain, command_roofline;

static const char style[] =
    "body{font:16px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;"
    "background:#fff}\n"
    "h1{margin-bottom:0}h2{margin-top:2.2rem;border-bottom:1px solid #ccc}\n"
    "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}\n"
    "th,td{text-align:left;padding:.15rem .9rem .15rem 0;vertical-align:top;border-bottom:1px solid #eee}\n"
    "th{font-weight:600}.n{white-space:nowrap;text-align:right;font-variant-numeric:tabular-nums}\n"
    ".card p{font-family:ui-monospace,monospace;font-size:14px;white-space:pre-wrap;margin:.2rem 0}\n"
    "svg{max-width:100%;height:auto}figure{margin:1rem 0}figcaption,.by{color:#6a6a6a}\n"
    "code{font-family:ui-monospace,monospace}\n"
    "@media print{body{max-width:none;margin:0}h2{break-after:avoid}figure,tr,.card p{break-inside:avoid}"
    "table{display:table;overflow:visible;font-size:80%}th,td{padding-right:.5rem;overflow-wrap:anywhere}"
    ".card p{font-size:11px;overflow-wrap:anywhere}}\n";
/* Each section is a page, as wide as a screen. */
static const char slides[] =
    "@page{size:297mm 167mm;margin:9mm}body{max-width:76rem;font-size:18px}\n"
    "section{min-height:96vh;break-after:page;break-inside:avoid;border-bottom:1px solid #ccc}\n"
    "section>h2{margin-top:1rem;border:0}section svg{max-height:80vh;width:100%}\n"
    "@media print{section{min-height:0;border:0}section svg{max-height:112mm}p,figcaption{font-size:70%;margin:.3rem "
    "0}table{font-size:60%}.card "
    "p{font-size:9px}}\n";

/* A section of the page, with a heading. */
static void put_section(FILE *f, const char *heading)
{
    fprintf(f, "</section>\n<section>\n<h2>%s</h2>\n", heading);
}

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

static void put_head(FILE *f, const struct matrix *m, const struct device *d, bool as_slides)
{
    char date[64] = "", rows[32], cols[32];
    time_t now = time(NULL);
    struct tm t;
    if (localtime_r(&now, &t)) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &t);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>",
          f);
    put_escaped(f, m->name);
    fprintf(f, " - warpspy</title>\n<style>\n%s%s</style>\n</head>\n<body>\n<section>\n<h1>", style,
            as_slides ? slides : "");
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

/* What to conclude stands below the title. */
static bool put_card(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    fputs("<h2>Report card</h2>\n<div class=\"card\">\n", f);
    if (!put_command(s, o, &command_check, m, e)) return false;
    fputs("</div>\n", f);
    return true;
}

static bool put_facts(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    put_section(f, "Facts");
    return put_command(s, o, &command_stats, m, e);
}

/* Run the roofline for its picture, and explain the kernel that it places highest, without the notes of both. */
static bool put_limits(struct session *s, FILE *f, const struct matrix *m, FILE *nowhere, struct err *e)
{
    struct out *text = out_new(f, nowhere, OUT_TEXT, e), *none = text ? out_new(nowhere, nowhere, OUT_TEXT, e) : NULL;
    bool ok = none;
    if (ok) {
        out_html(text);
        put_section(f, "What limits it");
        fputs("<div class=\"card\">\n", f);
        ok = export_command(s, text, &command_explain, 2, (const char *const[]){"of", m->name}, e);
        fputs("</div>\n", f);
        put_section(f, "Roofline");
        ok = ok && put_command(s, none, &command_roofline, m, e) &&
             put_view(s, f, &view_roofline, 120, 40,
                      "The kernels, below what the memory and the arithmetic of the GPU allow.", e);
    }
    out_free(text);
    out_free(none);
    return ok;
}

/* Which kernel to use, why it is not faster, and how far all are from what the GPU can do. */
static bool put_kernels(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    struct memfile nowhere;
    if (!m->csr.nnz) return true;
    put_section(f, "Which kernel");
    if (!export_command(s, o, &command_advise, 4, (const char *const[]){m->name, "top", "12", "predicted"}, e))
        return false;
    bool ok = memfile_open(&nowhere, e) && put_limits(s, f, m, nowhere.file, e);
    ok = memfile_close(&nowhere, ok, e);
    memfile_free(&nowhere);
    return ok;
}

static bool put_pattern(struct session *s, FILE *f, struct err *e)
{
    put_section(f, "Pattern");
    if (!put_view(s, f, &view_spy, 100, 50, "The positions of the nonzeros; the colour shows the density.", e))
        return false;
    put_section(f, "Rows");
    return put_view(s, f, &view_rows, 100, 30, "The number of rows of each length.", e);
}

/* Write the last measurements of this matrix. */
static bool put_runs(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    if (!s->nruns || s->runs_of != m) return true;
    put_section(f, "SpMV benchmarks");
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
    put_section(f, "Solve");
    if (!put_view(s, f, &view_solve, 100, 34, "The residual of the last solve.", e)) return false;
    out_begin(o, "solve");
    if (s->solve->reason != RUNNING) out_solve(o, s->solve);
    return out_end(o, e);
}

static bool put_direct(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    if (!s->direct || s->direct->A != &m->csr) return true;
    put_section(f, "Direct solve");
    out_begin(o, "solve");
    out_direct(o, s->direct, s->solve);
    return out_end(o, e);
}

static bool put_race(struct session *s, FILE *f, struct out *o, const struct matrix *m, struct err *e)
{
    if (!s->race || s->race->matrix != m || s->race->paused) return true;
    put_section(f, "Race");
    if (!put_view(s, f, &view_race, 100, 34, "The last race.", e)) return false;
    out_begin(o, "race");
    out_race(o, s->race);
    return out_end(o, e);
}

static void put_commands(struct session *s, FILE *f)
{
    fprintf(f,
            "</section>\n<section>\n<h2>How to repeat this</h2>\n"
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
    fputs("</ol>\n</section>\n</body>\n</html>\n", f);
}

static bool put_page(struct session *s, FILE *f, const struct matrix *m, bool as_slides, struct err *e)
{
    struct device *d = session_device(s, NULL, e);
    struct out *o = d ? out_new(f, stderr, OUT_TEXT, e) : NULL;
    if (!o) return false;
    out_html(o);
    put_head(f, m, d, as_slides);
    bool ok = put_card(s, f, o, m, e) && put_pattern(s, f, e) && put_kernels(s, f, o, m, e) &&
              put_runs(s, f, o, m, e) && put_solve(s, f, o, m, e) && put_direct(s, f, o, m, e) &&
              put_race(s, f, o, m, e) && put_facts(s, f, o, m, e);
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
    bool ok = memfile_open(&page, e) && put_page(s, page.file, m, arg_flag(a, "slides"), e);
    session_use(s, current);
    ok = memfile_close(&page, ok, e) && export_write(file, arg_flag(a, "force"), page.text, page.n, e);
    int64_t bytes = (int64_t)page.n;
    memfile_free(&page);
    if (!ok) return false;
    out_record(s->out);
    out_str(s->out, "matrix", "matrix", m->name);
    out_path(s->out, "file", "file", file);
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
    .grammar = "FILE [MATRIX] [slides] [force]",
    .about = "write one HTML page about a matrix: facts, plots, tables, and the commands so far",
    .help =
        "The page needs no other file and no network. It holds the report card of `check`, pictures of spy and\n"
        "rows, which kernels are predicted to be the fastest (`advise`), what limits the best one (`explain`), the\n"
        "roofline, and the numbers of `stats`. If the last bench, solve or race used this matrix, its picture and\n"
        "table follow. The page also names the version, device and date, and lists the commands that were run.\n"
        "With slides, each section is a page of a screen's shape, also when it is printed. `force` replaces an\n"
        "existing file.\n"
        "    report thesis4.html\n"
        "    bench; solve cg; report A.html A",
    .rows = (const struct row_kind *const[]){&row_report, NULL},
    .run = run_report,
};
