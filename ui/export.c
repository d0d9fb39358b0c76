/* Writes a view to a stream: as text, as a picture, or as numbers. */
#include "export.h"
#include "base/err.h"
#include "base/memfile.h"
#include "base/newfile.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "cmd_view.h"
#include "figure.h"
#include "paint.h"
#include "screen.h"
#include "session/command.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/views/view_state.h"
#include "view.h"

#include <math.h>
#include <string.h>

/* ---- the view on cells ---- */

/* Copy the state of the view on the screen. */
static void copy_shown(struct session *s, const struct view *v, struct view_state *to)
{
    SCREEN_EDIT;
    view_state_copy(to, screen_view_state(s, v));
}

bool export_state(struct session *s, const struct export *x, struct view_state *st, struct err *e)
{
    if (!view_state_new(st, x->view, e)) return false;
    view_reset(st, s->current);
    if (x->place && s->front) copy_shown(s, x->view, st);
    if (x->table) st->item = x->table - 1;
    if (!view_has_matrix(x->view, s, e)) return false;
    return !x->view->prepare || x->view->prepare(s, st, e);
}

/* Draw the view on new cells; lines and bars go to the figure, unless it is NULL. */
static bool cells_of(struct session *s, const struct export *x, struct canvas *c, struct figure *figure, struct err *e)
{
    struct view_state st;
    bool ascii = x->kind == EXPORT_TXT && s->front && s->front->ascii;
    bool ok = export_state(s, x, &st, e) && canvas_new(c, x->w, x->h, ascii, e);
    c->figure = figure;
    if (ok) {
        c->colours = x->kind == EXPORT_TXT ? COLOURS_NONE : COLOURS_24BIT;
        view_draw(x->view, c, s, &st);
    }
    view_state_free(&st);
    if (ok && figure && figure->failed) return fail(e, E_MEMORY, "not enough memory for the picture");
    return ok;
}

/* The number of lines up to the last line that is not blank. */
static int lines_of(const struct canvas *c)
{
    int n = c->w * c->h;
    while (n > 0 && c->cell[n - 1].glyph == ' ' && c->cell[n - 1].style != ST_CURSOR) n--;
    n = (n + c->w - 1) / c->w;
    return c->figure && c->figure->bottom > n ? (int)ceil(c->figure->bottom) : n;
}

static bool write_text(struct session *s, const struct export *x, FILE *f, struct err *e)
{
    struct canvas c = {0};
    bool ok = cells_of(s, x, &c, NULL, e);
    if (ok) canvas_print(&c, f, COLOURS_NONE);
    canvas_free(&c);
    return ok;
}

/* ---- pictures ---- */

static bool paint(struct session *s, const struct export *x, struct painter *p, const struct canvas *c, struct err *e)
{
    struct view_state st;
    if (!x->view->paint) {
        paint_canvas(p, c, x->light);
        figure_paint(c->figure, p, x->light);
        return true;
    }
    bool ok = export_state(s, x, &st, e) && x->view->paint(p, s, &st, x->w * p->cw, x->h * p->ch, x->light, e);
    view_state_free(&st);
    return ok;
}

static bool paint_svg(struct session *s, const struct export *x, FILE *f, const struct canvas *c, int h, struct err *e)
{
    struct svg g;
    char title[200];
    snprintf(title, sizeof title, "%s%s%s", x->view->name, s->current ? " of " : "",
             s->current ? s->current->name : "");
    svg_begin(&g, f, x->w, h, x->light, title);
    bool ok = paint(s, x, &g.p, c, e);
    svg_end(&g);
    return ok;
}

static bool paint_png(struct session *s, const struct export *x, FILE *f, const struct canvas *c, int h, struct err *e)
{
    struct png g;
    bool ok = png_begin(&g, x->w, h, x->light, e) && paint(s, x, &g.p, c, e);
    return png_end(&g, f, ok, e);
}

static bool write_picture(struct session *s, const struct export *x, FILE *f, struct err *e)
{
    struct canvas c = {0};
    struct figure figure = {0};
    bool cells = !x->view->paint, ok = !cells || cells_of(s, x, &c, &figure, e);
    int h = cells && ok ? lines_of(&c) + 1 : x->h;
    ok = ok && (x->kind == EXPORT_PNG ? paint_png : paint_svg)(s, x, f, &c, h, e);
    canvas_free(&c);
    figure_free(&figure);
    return ok;
}

/* ---- numbers ---- */

bool export_command(struct session *s, struct out *o, const struct command *c, int n, const char *const *word,
                    struct err *e)
{
    struct out *was = s->out;
    s->out = o;
    out_begin(o, c->name);
    bool ok = run_command(s, c, n, word, e);
    struct err late = {0};
    if (!out_end(o, &late) && ok) ok = fail_at(e, late.code, late.where, "%s", late.text);
    s->out = was;
    return ok;
}

/* st: the state of the export. */
static bool say_view(struct session *s, const struct export *x, const struct view_state *st, struct err *e)
{
    const struct view *v = x->view;
    const struct view_state *shown = x->table ? st : s->front ? screen_view_state(s, v) : NULL;
    if (v->numbers) return view_numbers(v, s, shown, x->w, x->h, e);
    return fail(e, E_UNSUPPORTED, "%s has no numbers to export; .txt, .svg and .png show it", v->name);
}

static bool write_numbers(struct session *s, const struct export *x, FILE *f, struct err *e)
{
    struct memfile lines = {0};
    struct out *was = s->out, *o = NULL;
    struct view_state st;
    bool json = x->kind == EXPORT_JSON, ok = export_state(s, x, &st, e); /* this starts lu */
    ok = ok && memfile_open(&lines, e) && (o = out_new(lines.file, stderr, json ? OUT_JSON : OUT_CSV, e));
    if (o) {
        s->out = o;
        out_begin(o, x->view->name);
        ok = say_view(s, x, &st, e);
        struct err late = {0};
        if (!out_end(o, &late) && ok) ok = fail_at(e, late.code, late.where, "%s", late.text);
        s->out = was;
        out_free(o);
    }
    view_state_free(&st);
    ok = memfile_close(&lines, ok, e);
    if (ok) json ? out_json_array(f, lines.text) : (void)fputs(lines.text, f);
    memfile_free(&lines);
    return ok;
}

/* ---- the view ---- */

bool export_view(struct session *s, const struct export *x, FILE *f, struct err *e)
{
    if (!view_has_something(x->view, s, e)) return false;
    if (x->kind == EXPORT_TXT) return write_text(s, x, f, e);
    if (x->kind == EXPORT_JSON || x->kind == EXPORT_CSV) return write_numbers(s, x, f, e);
    return write_picture(s, x, f, e);
}

bool export_write(const char *path, bool force, const char *data, size_t n, struct err *e)
{
    struct newfile f;
    bool ok = newfile_open(&f, path, force, e) && newfile_write(&f, data, (int64_t)n, e);
    return newfile_close(&f, ok, e);
}

bool size_read(const char *text, int w_least, int h_least, int most, int *w, int *h, struct err *e)
{
    char end, safe[128];
    int columns, rows;
    if (!text) return true;
    bool read = sscanf(text, "%dx%d%c", &columns, &rows, &end) == 2;
    if (read && columns >= w_least && rows >= h_least && columns <= most && rows <= most)
        return *w = columns, *h = rows, true;
    return fail(e, E_USAGE, "`%s` is not a size from %dx%d to %dx%d; write columns x rows, such as 120x40",
                print_safe(text, strlen(text), 30, safe, sizeof safe), w_least, h_least, most, most);
}
