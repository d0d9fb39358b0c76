/* Bins of rows or warps as a list with bars. */
#include "base/text.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "view_rows.h"
#include "view_state.h"

#include <math.h>

/* The lengths of bin k as text, for example "17" or "32-63". */
static char *bin_name(const struct histogram *g, int k, char *out, size_t size)
{
    char low[32], high[32];
    show_count(g->from[k], low, sizeof low);
    show_count(g->from[k + 1] - 1, high, sizeof high);
    bool one = g->from[k + 1] - g->from[k] <= 1;
    snprintf(out, size, "%s%s%s", low, one ? "" : "-", one ? "" : high);
    return out;
}

/* Bars have a log scale if the shortest bar would be too short to see. */
static bool needs_log(const struct histogram *g)
{
    int64_t least = g->most;
    for (int k = 0; k < g->n; k++)
        if (g->count[k] && g->count[k] < least) least = g->count[k];
    return g->most > 1000 * least;
}

static double share_of(const struct histogram *g, int64_t n, bool log_scale)
{
    if (!n || !g->most) return 0;
    return log_scale ? log2(1 + (double)n) / log2(1 + (double)g->most) : (double)n / (double)g->most;
}

static void list_histogram(struct bin_list *t, const struct histogram *g)
{
    bool log_scale = needs_log(g);
    t->names = "entries";
    t->numbers = "rows";
    t->most = (double)g->most;
    t->log_scale = log_scale;
    snprintf(t->note, sizeof t->note, "%s%s", log_scale ? "bars on a log scale" : "",
             g->log ? log_scale ? ", bins: powers of two" : "bins: powers of two" : "");
    for (int k = 0; k < t->n; k++) {
        bin_name(g, k, t->line[k].name, sizeof t->line[k].name);
        show_count(g->count[k], t->line[k].number, sizeof t->line[k].number);
        t->line[k].share = share_of(g, g->count[k], log_scale);
    }
}

/* For each bin, list the rows up to its greatest length, and their share of all rows and of all entries. */
static void list_cumulative(struct bin_list *t, const struct histogram *g, const struct row_lengths *l)
{
    double rows = (double)l->below[l->n], entries = fmax(1, (double)l->entries[l->n]);
    t->names = "entries";
    t->numbers = "rows  of rows  of nnz";
    t->most = 100;
    t->unit = "%";
    snprintf(t->note, sizeof t->note, "rows up to that length");
    for (int k = 0; k < t->n; k++) {
        char count[32];
        int64_t i = row_lengths_find(l, g->from[k + 1]);
        bin_name(g, k, t->line[k].name, sizeof t->line[k].name);
        snprintf(t->line[k].number, sizeof t->line[k].number, "%s  %6.1f%%  %5.1f%%",
                 show_count(l->below[i], count, sizeof count), 100 * (double)l->below[i] / rows,
                 100 * (double)l->entries[i] / entries);
        t->line[k].share = (double)l->below[i] / rows;
    }
}

static void list_warps(struct bin_list *t, const struct histogram *g)
{
    bool log_scale = needs_log(g);
    t->names = "cost";
    t->numbers = "warps";
    t->most = (double)g->most;
    t->log_scale = log_scale;
    snprintf(t->note, sizeof t->note, "%s32 x longest row / entries", log_scale ? "log scale; " : "");
    for (int k = 0; k < t->n; k++) {
        snprintf(t->line[k].name, sizeof t->line[k].name, "%g-%g", (double)g->from[k] / HUNDREDTHS,
                 (double)(k + 1 < t->n ? g->from[k + 1] : WARP_ROWS * HUNDREDTHS) / HUNDREDTHS);
        show_count(g->count[k], t->line[k].number, sizeof t->line[k].number);
        t->line[k].share = share_of(g, g->count[k], log_scale);
    }
}

void rows_fill_list(struct bin_list *t, const struct view_state *st, const struct histogram *g)
{
    const struct rows_state *rows = st->own;
    *t = (struct bin_list){.n = g->n};
    if (rows->mode == WARPS)
        list_warps(t, g);
    else if (rows->mode == CUMULATIVE)
        list_cumulative(t, g, &rows->lengths);
    else
        list_histogram(t, g);
    for (int k = 0; k < t->n; k++) t->line[k].none = !g->count[k];
}

struct columns {
    int name, bar, width;
};

static struct columns columns_of(const struct canvas *c, const struct bin_list *t)
{
    struct columns w = {.name = 8};
    int number = text_width(t->numbers) > 6 ? text_width(t->numbers) : 6;
    for (int k = 0; k < t->n; k++) {
        if (text_width(t->line[k].name) > w.name) w.name = text_width(t->line[k].name);
        if (text_width(t->line[k].number) > number) number = text_width(t->line[k].number);
    }
    w.bar = 1 + w.name + 2 + number + 2;
    w.width = c->w - w.bar - 1;
    return w;
}

/* The axis below the bars of a picture in a file. */
static void axis_of_list(struct figure *f, const struct bin_list *t, const struct columns *w, int lines)
{
    struct ruler r = {t->log_scale ? RULER_LOG1 : RULER_WHOLE, 0, t->most, t->unit};
    const char *name = t->unit ? "of all rows" : t->numbers;
    axis_below_bars(f, &r, w->bar, ROWS_TOP, lines, w->width, name);
}

/* Draw the bins that fit, including the chosen bin, and the number of hidden bins. Returns the line below the bins. */
int rows_draw_list(struct canvas *c, const struct bin_list *t, const struct view_state *st, int room)
{
    struct columns w = columns_of(c, t);
    bool axis = c->figure && t->most > 0;
    if (axis) room -= AXIS_LINES;
    int shown = t->n <= room ? t->n : room > 1 ? room - 1 : 1;
    int first = st->full && st->item >= shown ? (int)st->item - shown + 1 : 0;
    draw_right(c, 1 + w.name, ROWS_TOP - 1, ST_DIM, t->names);
    draw_right(c, w.bar - 2, ROWS_TOP - 1, ST_DIM, t->numbers);
    if (text_width(t->note) <= w.width) canvas_text(c, w.bar, ROWS_TOP - 1, ST_DIM, "%s", t->note);
    for (int k = first; k < first + shown; k++) {
        int y = ROWS_TOP + k - first;
        draw_right(c, 1 + w.name, y, st->full && k == st->item ? ST_CURSOR : ST_PLAIN, t->line[k].name);
        draw_right(c, w.bar - 2, y, t->line[k].none ? ST_DIM : ST_PLAIN, t->line[k].number);
        draw_bar(c, w.bar, y, w.width, t->line[k].share, ST_BAR);
    }
    if (axis) axis_of_list(c->figure, t, &w, shown);
    if (shown < t->n) canvas_text(c, 1, ROWS_TOP + shown, ST_DIM, "... %s more", how_many(t->n - shown, "bin").text);
    return ROWS_TOP + shown + (axis ? AXIS_LINES + 1 : shown < t->n);
}
