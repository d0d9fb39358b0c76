/* screendump: writes the screen to a file. last: draws the last view again, at another size. */
#include "base/err.h"
#include "base/memfile.h"
#include "base/newfile.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "cmd_view.h"
#include "export.h"
#include "language/args.h"
#include "language/grammar.h"
#include "paint.h"
#include "pixels.h"
#include "report/fields.h"
#include "screen.h"
#include "session/command.h"
#include "session/session.h"

#include <string.h>

/* ---- screendump ---- */

static bool dump_text(const struct canvas *c, const struct args *a, FILE *f, struct err *e)
{
    canvas_print(c, f, COLOURS_NONE);
    return true;
}

static bool dump_ansi(const struct canvas *c, const struct args *a, FILE *f, struct err *e)
{
    canvas_print_ansi(c, f, c->colours);
    return true;
}

static bool dump_svg(const struct canvas *c, const struct args *a, FILE *f, struct err *e)
{
    struct svg g;
    bool light = arg_flag(a, "light") || theme_is_light();
    svg_begin(&g, f, c->w, c->h, light, "a screen of warpspy");
    paint_canvas(&g.p, c, light);
    svg_end(&g);
    return true;
}

static bool dump_png(const struct canvas *c, const struct args *a, FILE *f, struct err *e)
{
    struct png g;
    const struct image *const *image;
    int n = 0;
    bool light = arg_flag(a, "light") || theme_is_light(), ok = png_begin(&g, c->w, c->h, light, e);
    if (light == theme_is_light())
        c = screen_canvas_and_images(a->session, &image, &n); /* pixels have the colours of the screen */
    if (ok) paint_canvas(&g.p, c, light);
    for (int i = 0; ok && i < n; i++) image_paint(image[i], &g.p);
    return png_end(&g, f, ok, e);
}

static const struct dump {
    const char *name;
    bool (*write)(const struct canvas *c, const struct args *a, FILE *f, struct err *e);
} dumps[] = {{"txt", dump_text}, {"ansi", dump_ansi}, {"svg", dump_svg}, {"png", dump_png}};

/* Find the kind of file from its extension. */
static const struct dump *dump_of(const char *file, struct err *e)
{
    const char *dot = strrchr(file, '.');
    char safe[256];
    for (int i = 0; i < COUNT(dumps); i++)
        if (dot && !strcmp(dot + 1, dumps[i].name)) return &dumps[i];
    fail(e, E_USAGE, "the name `%s` does not show the kind of file; end the name in .txt, .ansi, .svg or .png",
         print_safe(file, strlen(file), 60, safe, sizeof safe));
    return NULL;
}

static bool dump_file(const struct canvas *c, const struct dump *d, const struct args *a, struct err *e)
{
    struct memfile m;
    bool ok = memfile_open(&m, e) && d->write(c, a, m.file, e);
    ok = memfile_close(&m, ok, e) && export_write(arg(a, "file"), arg_flag(a, "force"), m.text, m.n, e);
    memfile_free(&m);
    return ok;
}

static void say_dump(struct session *s, const struct canvas *c, const struct dump *d, const char *file)
{
    out_record(s->out);
    out_path(s->out, "file", "file", file);
    out_str(s->out, "kind", NULL, d->name);
    out_int(s->out, "columns", NULL, c->w);
    out_int(s->out, "rows", NULL, c->h);
}

/* If no file is named, print the screen, in colour on a terminal. */
static bool print_dump(struct session *s, const struct canvas *c, struct err *e)
{
    if (out_mode(s->out) != OUT_TEXT)
        return fail(e, E_UNSUPPORTED,
                    "a screen has no data to print; name a file that ends in .txt, .ansi, .svg or .png");
    out_progress_clear(s->out);
    canvas_print(c, out_file(s->out), s->terminal && !s->plain ? c->colours : COLOURS_NONE);
    return true;
}

static bool run_screendump(struct session *s, const struct args *a, struct err *e)
{
    const char *file = arg(a, "file");
    const struct dump *d = file ? dump_of(file, e) : NULL;
    if (file && (!d || !newfile_allowed(file, arg_flag(a, "force"), e))) return false;
    SCREEN_EDIT; /* the screen keeps its canvas */
    const struct canvas *c = s->front ? screen_canvas(s) : NULL;
    if (!c) return fail(e, E_USAGE, "nothing has been drawn yet; run spy, rows, layout, view or keys");
    if (!file) return print_dump(s, c, e);
    if (!dump_file(c, d, a, e)) return false;
    say_dump(s, c, d, file);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field screendump_fields[] = {
    {"file", F_TEXT, "the file"},
    {"kind", F_TEXT, "kind of file", .words = "txt, ansi, svg, png"},
    {"columns", F_COUNT, "columns of letters"},
    {"rows", F_COUNT, "rows of letters"},
    {0},
};
static const struct row_kind row_screendump = {"screendump", "the screen written to a file", screendump_fields};

const struct command command_screendump = {
    .name = "screendump",
    .aliases = "screenshot",
    .grammar = "[FILE] [light] [force]",
    .about = "write the screen to a file",
    .help = "Writes the screen of the explorer, or, if the explorer was not used, the last picture, with the same\n"
            "size and colours. The file's name ends in .txt, .ansi (text with colours, for `cat`), .svg or .png;\n"
            "without a file, the screen is printed. `light` draws pictures on a white background, and `force`\n"
            "replaces an existing file. `export` writes a view at another size, or its numbers.\n"
            "    spy; screendump spy.ansi\n"
            "    keys \"Tab ?\"; screendump help.png",
    .rows = (const struct row_kind *const[]){&row_screendump, NULL},
    .run = run_screendump,
};

/* ---- last ---- */

static bool run_last(struct session *s, const struct args *a, struct err *e)
{
    int w = 0, h = 0;
    if (!size_read(arg(a, "size"), EXPORT_WIDTH_MIN, EXPORT_HEIGHT_MIN, EXPORT_MAX, &w, &h, e)) return false;
    if (!s->front) return fail(e, E_UNSUPPORTED, "there is no screen to draw on");
    bool text = !w && out_mode(s->out) == OUT_TEXT && screen_output_is_newer(s);
    if (arg_flag(a, "output") || text) return screen_print_output(s, e);
    return screen_draw_again(s, w, h, e);
}

const struct command command_last = {
    .name = "last",
    .grammar = "[output|size WORD]",
    .about = "show the last long output again, or draw the last view again",
    .help =
        "Shows the last output that was longer than the screen again, without running its command again. If a view\n"
        "was drawn after it, draws the view of spy, rows, layout or the full screen again, at the same position and\n"
        "with the newest results. `output` always shows the output, and `size`, in columns and rows of text, always\n"
        "draws the view. With --json or --csv, it prints the view's numbers.\n"
        "    spy; last size 120x40",
    .prints_views = true,
    .run = run_last,
};
