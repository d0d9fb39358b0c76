/* The rows sorted by length, as a curve. */
#include "base/text.h"
#include "matrix/csr.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/plot.h"
#include "view_rows.h"
#include "view_state.h"

#include <math.h>

/* The position of a length between the shortest (0) and the longest row (1). */
static double level(const struct row_lengths *l, int64_t length, bool log_scale)
{
    double least = (double)l->length[0], most = (double)l->length[l->n - 1], at = (double)length;
    if (log_scale) least = log2(1 + least), most = log2(1 + most), at = log2(1 + at);
    return most > least ? (at - least) / (most - least) : 1;
}

static bool sorted_log(const struct row_lengths *l)
{
    return l->length[l->n - 1] > LOG_FROM * (1 + row_length_at(l, l->below[l->n] / 2));
}

static void draw_curve(struct canvas *c, const struct row_lengths *l, const struct plot *p, bool log_scale)
{
    int64_t last = l->below[l->n] - 1;
    int dots = 2 * p->w, was = -1;
    for (int x = 0; x < dots; x++) {
        int64_t length = row_length_at(l, (int64_t)((double)last * x / (dots - 1) + 0.5));
        int y = (int)lround((1 - level(l, length, log_scale)) * (4 * p->h - 1));
        for (int at = was >= 0 && was > y ? was - 1 : y; at >= y; at--)
            plot_dot(c, p, x, at, ST_PLOT_A, '*'); /* connect this dot to the previous dot */
        was = y;
    }
}

/* The curve as steps, with axes: rows across, lengths up. */
static void figure_curve(struct figure *f, const struct row_lengths *l, const struct plot *p, bool log_scale)
{
    double rows = (double)l->below[l->n];
    struct ruler across = {RULER_WHOLE, 0, rows, NULL};
    struct ruler up = {log_scale ? RULER_LOG1 : RULER_WHOLE, (double)l->length[0], (double)l->length[l->n - 1], NULL};
    if (up.high <= up.low) up.low = 0;
    axis_up(f, &up, p->x, p->y, p->h, p->w);
    axis_across(f, &across, p->x, p->y + p->h, p->w, p->h, "rows, sorted by length");
    figure_line(f, ST_PLOT_A, 1, 1.5);
    for (int k = 0; k < l->n; k++) {
        double y = p->y + p->h * (1 - ruler_at(&up, (double)l->length[k]));
        figure_point(f, p->x + p->w * ((double)l->below[k] / rows), y);
        figure_point(f, p->x + p->w * ((double)l->below[k + 1] / rows), y);
    }
}

static void draw_curve_axes(struct canvas *c, const struct row_lengths *l, const struct plot *p, bool log_scale)
{
    char text[32];
    for (int y = p->y; y < p->y + p->h; y++) canvas_put(c, p->x - 1, y, ST_AXIS, 0x2502);
    canvas_put(c, p->x - 1, p->y + p->h, ST_AXIS, 0x2514);
    draw_fill(c, p->x, p->y + p->h, p->w, ST_AXIS, 0x2500);
    draw_right(c, p->x - 1, p->y, ST_AXIS, show_count(l->length[l->n - 1], text, sizeof text));
    if (p->h > 1 && l->n > 1)
        draw_right(c, p->x - 1, p->y + p->h - 1, ST_AXIS, show_count(l->length[0], text, sizeof text));
    canvas_text(c, p->x, p->y - 1, ST_DIM, "row length%s%s", log_scale ? ", log scale" : "",
                c->w < 60 ? "" : "; rows sorted from shortest (left) to longest");
}

/* Mark the rank of the cursor's row by length: its column in the plot, and a line of text. */
static void draw_rank(struct canvas *c, const struct view_state *st, const struct plot *p)
{
    const struct rows_state *rows = st->own;
    char row[32], rank[32], all[32];
    int64_t last = st->rows - 1;
    int x = last > 0 ? (int)((double)rows->rank / (double)last * (p->w - 1) + 0.5) : 0;
    for (int y = p->y; y < p->y + p->h; y++) canvas_style(c, p->x + x, y, ST_CURSOR);
    canvas_text(c, 1, c->h - 2, ST_PLAIN, "row %s: %s; place %s of %s by length (%.1f%%)",
                show_count(st->row, row, sizeof row), how_many(csr_row_length(rows->lengths.A, st->row), "entry").text,
                show_count(rows->rank, rank, sizeof rank), show_count(st->rows, all, sizeof all),
                100 * (double)(rows->rank + 1) / (double)st->rows);
}

void rows_draw_sorted(struct canvas *c, struct view_state *st, int end)
{
    const struct rows_state *rows = st->own;
    const struct row_lengths *l = &rows->lengths;
    char text[32];
    int left = text_width(show_count(l->length[l->n - 1], text, sizeof text)) + 2;
    struct plot p = {.x = left, .y = ROWS_TOP, .w = c->w - left - 1, .h = end - ROWS_TOP - 1};
    bool log_scale = sorted_log(l);
    st->col_step = st->rows / p.w > 0 ? st->rows / p.w : 1;
    if (p.h < 1) return;
    if (c->figure) {
        canvas_text(c, p.x, p.y - 1, ST_DIM, "row length%s", log_scale ? ", log scale" : "");
        p.x += 2;
        p.w -= 4;
        p.y++;
        p.h -= AXIS_LINES + 1;
        if (p.h > 0 && p.w > 0 && l->below[l->n] > 0) figure_curve(c->figure, l, &p, log_scale);
        return;
    }
    draw_curve(c, l, &p, log_scale);
    draw_curve_axes(c, l, &p, log_scale);
    if (st->full) draw_rank(c, st, &p);
}
