/* export: writes any view to a file, as text, as a picture, or as numbers. */
#include "base/err.h"
#include "base/memfile.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/words.h"
#include "export.h"
#include "language/args.h"
#include "language/grammar.h"
#include "language/quiet_line.h"
#include "lessons/paper_tables.h"
#include "paint.h"
#include "report/fields.h"
#include "screen.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/views/view_state.h"
#include "view.h"

#include <string.h>

/* ---- arguments ---- */

static const char *const kind_names[] = {"txt", "svg", "png", "json", "csv"};

static bool find_kind(const char *name, enum export_kind *out)
{
    for (int i = 0; i < COUNT(kind_names); i++)
        if (!strcmp(name, kind_names[i])) return *out = (enum export_kind)i, true;
    return false;
}

/* The kind of file: the word after `as`, or, without `as`, the extension of the file name. */
static bool kind_of(const struct args *a, enum export_kind *out, struct err *e)
{
    const char *as = arg(a, "as"), *file = arg(a, "file"), *dot = strrchr(file, '.');
    char safe[256];
    if (find_kind(as ? as : dot && !strchr(dot, '/') ? dot + 1 : "", out)) return true;
    return fail(e, E_USAGE,
                "the name `%s` does not show the kind of file; end the name in .txt, .svg, .png, .json or .csv, or "
                "add `as KIND`",
                print_safe(file, strlen(file), 60, safe, sizeof safe));
}

/* Without a size, a picture has all lines of the view. */
static bool size_of(struct session *s, const struct args *a, struct export *x, struct err *e)
{
    struct view_state st = {.item = x->table - 1};
    if (!arg(a, "size") && x->table) x->h = x->view->lines(s, &st);
    if (!arg(a, "size") && x->h > EXPORT_MAX) x->h = EXPORT_MAX;
    return size_read(arg(a, "size"), EXPORT_WIDTH_MIN, EXPORT_HEIGHT_MIN, EXPORT_MAX, &x->w, &x->h, e);
}

/* ---- tables of lessons ---- */

/* Run the lesson without printing it, unless its tables are here. */
static bool find_tables(struct session *s, const char *lesson, struct err *e)
{
    char line[300], name[256];
    FILE *nowhere = NULL;
    if (!lesson || (s->tables && !strcmp(s->tables->lesson, lesson))) return true;
    snprintf(line, sizeof line, "lesson %s", word_join(lesson, name, sizeof name));
    if (!(nowhere = fopen("/dev/null", "we"))) return fail(e, E_IO, "cannot open /dev/null");
    if (s->terminal) out_progress(s->out, line);
    bool ok = run_quietly(s, line, nowhere, nowhere, e);
    fclose(nowhere);
    out_begin(s->out, "export");
    return ok;
}

/* The table that `table` names or, without it, that on the screen. */
static bool table_of(struct session *s, const struct args *a, struct export *x, struct err *e)
{
    int64_t n = 0;
    bool asked = arg(a, "table") || arg(a, "of");
    if (!x->view || !x->view->of_lesson) {
        return !asked ||
               fail(e, E_USAGE, "`of` and `table` name a table of a lesson: `export tables FILE of lu-tables`");
    }
    if (!find_tables(s, arg(a, "of"), e) || !view_has_something(x->view, s, e)) return false;
    int64_t shown = s->front ? screen_view_state(s, x->view)->item + 1 : 1, most = s->tables->n;
    if (!arg_within(a, "table", shown < most ? shown : most, 1, most, &n, e)) return false;
    x->table = (int)n;
    return true;
}

/* ---- the file ---- */

static bool export_file(struct session *s, const struct export *x, const char *path, bool force, struct err *e)
{
    struct memfile m;
    bool ok = memfile_open(&m, e) && (x->views ? export_views : export_view)(s, x, m.file, e);
    ok = memfile_close(&m, ok, e) && export_write(path, force, m.text, m.n, e);
    memfile_free(&m);
    return ok;
}

static bool run_export(struct session *s, const struct args *a, struct err *e)
{
    const char *file = arg(a, "file");
    struct export x = {.view = view_find(arg(a, "views")), .w = 120, .h = 40, .place = true};
    if (!x.view) x.views = arg(a, "views");
    x.light = arg_flag(a, "light");
    struct matrix *m = arg(a, "matrix") ? session_matrix(s, arg(a, "matrix"), e) : s->current, *current = s->current;
    if (arg(a, "matrix") && !m) return false;
    if (!kind_of(a, &x.kind, e) || !table_of(s, a, &x, e) || !size_of(s, a, &x, e)) return false;
    if (!newfile_allowed(file, arg_flag(a, "force"), e)) return false;
    session_use(s, m);
    bool ok = export_file(s, &x, file, arg_flag(a, "force"), e);
    session_use(s, current);
    if (!ok) return false;
    out_record(s->out);
    out_str(s->out, "view", "view", arg(a, "views"));
    out_path(s->out, "file", "file", file);
    out_str(s->out, "kind", NULL, kind_names[x.kind]);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field export_fields[] = {
    {"view", F_TEXT, "the view"},
    {"file", F_TEXT, "the file"},
    {"kind", F_TEXT, "kind of file", .names = kind_names, .name_count = COUNT(kind_names)},
    {0},
};
static const struct row_kind row_export = {"export", "a view written to a file", export_fields};

const struct command command_export = {
    .name = "export",
    .grammar = "VIEWS FILE [MATRIX] [of LESSON] [table N] [as txt|svg|png|json|csv] [size WORD] [light] [force]",
    .about = "write a view to a file: text, a picture, or its numbers",
    .help = "The file's name ends in .txt, .svg, .png, .json or .csv, or the kind follows `as`. Text and pictures\n"
            "show the part of the view that was shown last; the size is in characters, 120x40 by default. Pictures\n"
            "have axes with numbers; curves are smooth lines; in spy, a pixel or square shows the density, the sign\n"
            "or the largest |a| (see `help spy`). `light` draws on a white background. JSON files hold an array of\n"
            "objects, as with --json. The views spy, rows and layout write what their commands print; bench writes\n"
            "the last runs, solve writes the iterations, race writes its table, and lu writes the factors. `force`\n"
            "replaces an existing file. `tables` draws a table of the last lesson, or `of` another one, which then\n"
            "runs without being shown; `table` is its number, and without a size the picture is as high as needed.\n"
            " Several views, such as spy,trace or `all`, become one page, as text or as a\n"
            "picture. PNG needs cairo (libcairo2); SVG needs no library.\n"
            "    export spy a.png\n"
            "    export tables lu.svg of lu-tables table 1\n"
            "    export all a.png size 160x50\n"
            "    export solve residual.svg size 100x30 light",
    .rows = (const struct row_kind *const[]){&row_export, NULL},
    .run = run_export,
    .large = true,
};
