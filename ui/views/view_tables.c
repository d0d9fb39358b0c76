/* The tables of the last lesson as charts: the numbers of a paper beside ours. A table becomes a panel for each
   quantity: curves over the rows of matrices of one family, otherwise bars. */
#include "base/text.h"
#include "lessons/paper_tables.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/session.h"
#include "ui/chart.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { TOP = 4, CURVE_LINES = 18, PANEL_GAP = 1 };

static const char missing[] = "no lesson with tables was read yet; use `lesson lu-tables`";

static const struct paper_table *table_of(const struct session *s, const struct view_state *st)
{
    const struct paper_tables *t = s->tables;
    if (!t || !t->n) return NULL;
    return &t->table[st->item < t->n ? st->item : t->n - 1];
}

static bool is_ratio(const struct paper_row *r)
{
    return strstr(r->of, " / ") != NULL;
}

/* ---- panels: the rows of one quantity ---- */

static bool same_panel(const struct paper_row *a, const struct paper_row *b)
{
    return !strcmp(a->what, b->what) && is_ratio(a) == is_ratio(b);
}

static bool begins_panel(const struct paper_table *t, int i)
{
    for (int k = 0; k < i; k++)
        if (same_panel(&t->row[k], &t->row[i])) return false;
    return true;
}

/* ---- where a number comes from ---- */

enum source { OF_PAPER, MEASURED, PREDICTED, COUNTED, SOURCES };
static const enum style styles[SOURCES] = {ST_ROW + 1, ST_ROW, ST_ROW + 2, ST_ROW + 3};

static enum source source_of(const struct paper_row *r)
{
    return strstr(r->how, "predicted") ? PREDICTED : strstr(r->how, "measured") ? MEASURED : COUNTED;
}

static bool has_paper(const struct paper_table *t)
{
    return strcmp(t->gpu, "-") != 0;
}

/* "paper", or "by hand" for numbers that are no paper's */
static const char *paper_word(const struct paper_table *t)
{
    return strcmp(t->gpu, "by hand") ? "paper" : "by hand";
}

static const char *source_word(const struct paper_table *t, enum source k)
{
    static const char *const words[] = {NULL, "measured", "predicted", "counted"};
    return k == OF_PAPER ? paper_word(t) : words[k];
}

/* Ratios of a measured and a predicted time have both words. */
static const char *how_word(const struct paper_row *r)
{
    return *r->how ? r->how : "";
}

static double number_of(const struct paper_row *r, enum source k)
{
    if (k == OF_PAPER) return r->paper;
    return *r->how && source_of(r) == k ? r->ours : NAN;
}

/* ---- curves ---- */

/* Do the names differ only in their digits? */
static bool same_family(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (isdigit((unsigned char)*a)) a++;
        while (isdigit((unsigned char)*b)) b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* Are the rows of the panel numbers of one family of matrices, of at least three sizes? */
static bool has_curves(const struct paper_table *t, int first)
{
    int sizes = 0;
    for (int i = first; i < t->n; i++) {
        const struct paper_row *r = &t->row[i];
        if (!same_panel(r, &t->row[first])) continue;
        if (!r->rows || !same_family(r->matrix, t->row[first].matrix)) return false;
        bool known = false;
        for (int k = first; k < i; k++) known |= same_panel(&t->row[k], r) && t->row[k].rows == r->rows;
        sizes += !known;
    }
    return sizes >= 3;
}

static int point_of(struct chart *g, double rows)
{
    int at = 0;
    while (at < g->n && g->x[at] < rows) at++;
    if (at < g->n && g->x[at] == rows) return at;
    if (g->n == CHART_POINTS) return -1;
    for (int i = g->n; i > at; i--) g->x[i] = g->x[i - 1];
    g->x[at] = rows;
    g->n++;
    return at;
}

/* The curve of `of` from source k; NULL: there are too many. */
static struct chart_series *curve_of(struct chart *g, const struct paper_table *t, const struct paper_row *r,
                                     enum source k)
{
    char name[sizeof g->series[0].name];
    snprintf(name, sizeof name, "%.50s, %.40s", r->of, k == OF_PAPER ? paper_word(t) : how_word(r));
    for (int i = 0; i < g->nseries; i++)
        if (!strcmp(g->series[i].name, name)) return &g->series[i];
    if (g->nseries == CHART_SERIES) return NULL;
    struct chart_series *s = &g->series[g->nseries];
    s->style = ST_ROW + (unsigned)(g->nseries % ROW_COLOURS);
    s->dashed = k == OF_PAPER;
    for (int i = 0; i < g->n; i++) s->y[i] = NAN;
    snprintf(s->name, sizeof s->name, "%s", name);
    g->nseries++;
    return s;
}

static void make_curves(struct chart *g, const struct paper_table *t, int first)
{
    *g = (struct chart){.x_log = true, .x_name = "rows", .chosen = -1};
    for (int i = first; i < t->n; i++)
        if (same_panel(&t->row[i], &t->row[first])) point_of(g, (double)t->row[i].rows);
    for (int i = 0; i < g->n; i++) show_count((int64_t)g->x[i], g->label[i], sizeof g->label[i]);
    for (int i = first; i < t->n; i++) {
        const struct paper_row *r = &t->row[i];
        for (int k = 0; k < SOURCES && same_panel(r, &t->row[first]); k++) {
            double v = number_of(r, (enum source)k);
            struct chart_series *s = isnan(v) ? NULL : curve_of(g, t, r, (enum source)k);
            int at = s ? point_of(g, (double)r->rows) : -1;
            if (at >= 0) s->y[at] = v;
        }
    }
}

/* ---- bars ---- */

static void make_bars(struct chart *g, const struct paper_table *t, int first)
{
    *g = (struct chart){.nseries = SOURCES, .chosen = -1};
    for (int k = 0; k < SOURCES; k++) {
        g->series[k].style = styles[k];
        snprintf(g->series[k].after, sizeof g->series[k].after, "%s", source_word(t, (enum source)k));
    }
    for (int i = first; i < t->n && g->n < CHART_POINTS; i++) {
        const struct paper_row *r = &t->row[i];
        if (!same_panel(r, &t->row[first])) continue;
        for (int k = 0; k < SOURCES; k++) g->series[k].y[g->n] = number_of(r, (enum source)k);
        snprintf(g->label[g->n++], sizeof g->label[0], "%.24s %.54s", r->matrix, strcmp(r->of, "-") ? r->of : "");
    }
}

/* ---- drawing ---- */

/* One chart at a time is drawn, by the thread with the screen lock. */
static struct chart chart;

static int panel_lines(const struct paper_table *t, int first)
{
    if (has_curves(t, first)) {
        make_curves(&chart, t, first);
        return 1 + chart.nseries + 1 + CURVE_LINES + PANEL_GAP;
    }
    make_bars(&chart, t, first);
    return 1 + chart_bar_lines(&chart) + AXIS_LINES + PANEL_GAP;
}

static int tables_lines(struct session *s, const struct view_state *st)
{
    const struct paper_table *t = table_of(s, st);
    int n = TOP;
    for (int i = 0; t && i < t->n; i++)
        if (begins_panel(t, i)) n += panel_lines(t, i);
    return n + 1;
}

/* Draw the panel from line y on; lines above the top or below the bottom are left out. Returns the line after it. */
static int draw_panel(struct canvas *c, const struct paper_table *t, int first, int y, int bottom)
{
    const struct paper_row *r = &t->row[first];
    int lines = panel_lines(t, first), line = y;
    bool curves = has_curves(t, first), inside = line >= TOP && line < bottom;
    if (inside) canvas_text(c, 1, line, ST_BOLD, "%s%s", r->what, is_ratio(r) ? ", ratio" : "");
    line++;
    if (curves && y >= TOP && y + lines - PANEL_GAP <= bottom) {
        line += chart_legend(c, &chart, line);
        chart_curves(c, &chart, line + 1, y + lines - PANEL_GAP - line - 1, is_ratio(r) ? "ratio" : r->what);
    } else if (!curves && line < bottom - AXIS_LINES) {
        int skip = line < TOP ? TOP - line : 0;
        chart_bars(c, &chart, line + skip, skip, bottom - AXIS_LINES - line - skip, is_ratio(r) ? "ratio" : r->what);
    }
    return y + lines;
}

static bool any_curves(const struct paper_table *t)
{
    bool any = false;
    for (int i = 0; i < t->n; i++) any |= has_curves(t, i);
    return any;
}

static bool lacks_ours(const struct paper_table *t)
{
    bool any = false;
    for (int i = 0; i < t->n; i++) any |= isnan(t->row[i].ours);
    return any;
}

/* "paper (RTX 4060)   measured (cpu)   predicted (NVIDIA H200)", in the colours of bars. */
static void draw_legend(struct canvas *c, const struct paper_table *t, int y)
{
    int x = 1;
    bool curves = any_curves(t);
    for (int k = 0; k < SOURCES; k++) {
        const char *on = NULL, *word = source_word(t, (enum source)k);
        for (int i = 0; i < t->n && !on; i++)
            if (!isnan(number_of(&t->row[i], (enum source)k))) on = k == OF_PAPER ? t->gpu : t->row[i].device;
        if (!on || (k == OF_PAPER && !has_paper(t))) continue;
        bool named = *on && strcmp(on, word) != 0;
        if (!curves && c->figure) figure_rect(c->figure, styles[k], 0.85, x, y + 0.2, 1, 0.6);
        if (!curves && c->figure) x += 2;
        x = canvas_text(c, x, y, curves ? ST_DIM : styles[k], "%s%s%.*s%s", word, named ? " (" : "", named ? 60 : 0, on,
                        named ? ")" : "") +
            3;
    }
    if (curves && has_paper(t)) x = canvas_text(c, x, y, ST_DIM, "dashed: %s", paper_word(t)) + 3;
    if (lacks_ours(t)) canvas_text(c, x, y, ST_DIM, "some rows have no number of ours here");
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct paper_table *t = table_of(s, st);
    if (!t) {
        draw_title(c, "tables", NULL, " ");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, missing);
        return;
    }
    if (st->item >= s->tables->n) st->item = s->tables->n - 1;
    draw_title(c, "tables", NULL, "lesson %s, table %lld of %d", s->tables->lesson, (long long)st->item + 1,
               s->tables->n);
    canvas_text(c, 1, 1, ST_BOLD, "%.*s", c->w - 2, t->title);
    draw_legend(c, t, 2);
    int bottom = c->h - (st->full ? 1 : 0), room = bottom - TOP, all = tables_lines(s, st) - TOP;
    if (st->scroll > all - room) st->scroll = all - room;
    if (st->scroll < 0) st->scroll = 0;
    int y = TOP - (int)st->scroll;
    for (int i = 0; i < t->n && y < bottom; i++)
        if (begins_panel(t, i)) y = draw_panel(c, t, i, y, bottom);
}

/* ---- keys and numbers ---- */

static bool key(struct session *s, struct view_state *st, int k)
{
    int64_t before = st->item;
    if (!s->tables) return false;
    st->item += (k == UI_RIGHT) - (k == UI_LEFT);
    if (st->item >= s->tables->n) st->item = s->tables->n - 1;
    if (st->item < 0) st->item = 0;
    st->scroll += (k == UI_DOWN) - (k == UI_UP);
    if (k == 'g' || k == UI_HOME || st->item != before || st->scroll < 0) st->scroll = 0;
    return true;
}

static bool exists(const struct session *s)
{
    return s->tables && s->tables->n;
}

static const char *nothing(const struct session *s)
{
    return exists(s) ? NULL : missing;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct paper_table *t = table_of(s, st ? st : &(struct view_state){0});
    struct out *o = s->out;
    for (int i = 0; i < t->n; i++) {
        const struct paper_row *r = &t->row[i];
        out_row(o);
        out_str(o, "lesson", NULL, s->tables->lesson);
        out_str(o, "table", NULL, t->title);
        out_str(o, "matrix", "matrix", r->matrix);
        out_int_if(o, "rows", NULL, r->rows > 0, r->rows);
        out_str(o, "of", "of", r->of);
        out_str(o, "what", "what", r->what);
        out_num(o, "paper", "paper", r->paper, NULL);
        out_str(o, "paper_device", NULL, t->gpu);
        out_num(o, "ours", "ours", r->ours, NULL);
        out_str(o, "how", "how", *r->how ? r->how : NULL);
        out_str(o, "device", NULL, *r->device ? r->device : NULL);
    }
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field table_fields[] = {
    {"lesson", F_TEXT, "the lesson"},
    {"table", F_TEXT, "the heading above the table"},
    {"matrix", F_TEXT, "a matrix of the lesson, or the mean, highest or lowest value over all its matrices"},
    {"rows", F_COUNT | OR_NULL, "rows of the matrix; null: the row is about several, or the matrix is not here"},
    {"of", F_TEXT, "a format, kernel, solver or method, or a ratio of two of these"},
    {"what", F_TEXT, "quantity, with its unit"},
    {"paper", F_NUMBER | OR_NULL, "the number in the paper; null: the paper states none"},
    {"paper_device", F_TEXT, "device of the paper"},
    {"ours", F_NUMBER | OR_NULL, "our number; null: none"},
    {"how", F_TEXT | OR_NULL, "counted, measured, predicted, or two of these joined by /; null: there is no number"},
    {"device", F_TEXT | OR_NULL, "device of the measurement, or the GPU of the prediction; null: no device is needed"},
    {0},
};
static const struct row_kind row_table = {"table", "a row of a table of a lesson", table_fields};

const struct view view_tables = {
    .name = "tables",
    .about = "the tables of the last lesson as bars or curves: the numbers of the paper beside ours",
    .keys = "? help  q leave  left/right a table  up/down scroll  g top",
    .rows = (const struct row_kind *const[]){&row_table, NULL},
    .any = true,
    .large = true,
    .of_lesson = true,
    .exists = exists,
    .lines = tables_lines,
    .draw = draw,
    .key = key,
    .nothing = nothing,
    .numbers = numbers,
};
