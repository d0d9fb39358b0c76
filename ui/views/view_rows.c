/* The lengths of the rows: histogram, cumulative histogram, rows sorted by length, and the cost of warps; and the rows
   in each bin. */
#include "view_rows.h"
#include "base/text.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/cmd_view.h"
#include "ui/draw.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum { SOON_ROWS = 1 << 22 }; /* the lengths of this many rows are counted in a few milliseconds */

static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    struct rows_state *rows = st->own;
    const struct csr *A = &s->current->csr;
    if (rows->ready) return true;
    row_lengths_free(&rows->lengths);
    if (!row_lengths_of(A, &rows->lengths, e) || !stats_rows(A, &rows->stats, e)) return false;
    warps_of(A, &rows->warps);
    return rows->ready = true;
}

static bool prepares_soon(struct session *s, const struct view_state *st)
{
    return s->current->csr.rows <= SOON_ROWS;
}

static void draw_summary(struct canvas *c, const struct stats *t)
{
    const struct {
        const char *name;
        double value;
    } item[] = {
        {"min", (double)t->row_min}, {"mean", t->row_mean}, {"median", t->row_median},
        {"max", (double)t->row_max}, {"std", t->row_std},   {"empty rows", (double)t->empty_rows},
    };
    int x = 1;
    for (int i = 0; i < COUNT(item); i++) {
        char text[32];
        bool whole = item[i].value == floor(item[i].value);
        if (whole)
            show_count((int64_t)item[i].value, text, sizeof text);
        else
            snprintf(text, sizeof text, "%.2f", item[i].value);
        if (x + text_width(item[i].name) + 1 + text_width(text) > c->w) return;
        x = canvas_text(c, x, 1, ST_DIM, "%s ", item[i].name);
        x = canvas_text(c, x, 1, ST_BOLD, "%s", text) + 3;
    }
}

/* Draw quantiles: "5% 0 25% 1 75% 8 95% 31" means, for example, that 25% of the rows have at most 1 entry. */
static int draw_quantiles(struct canvas *c, const struct row_lengths *l, int x)
{
    static const int percent[] = {1, 5, 25, 75, 95, 99};
    for (int i = 0; i < COUNT(percent); i++) {
        char name[8], text[32];
        snprintf(name, sizeof name, "%d%%", percent[i]);
        show_count(row_length_quantile(l, percent[i]), text, sizeof text);
        if (x + text_width(name) + 1 + text_width(text) > c->w) return x;
        x = canvas_text(c, x, 2, ST_DIM, "%s ", name);
        x = canvas_text(c, x, 2, ST_PLAIN, "%s", text) + 3;
    }
    return x;
}

/* Draw "a warp costs 4.31x", relative to the same entries spread evenly over the lanes. */
static void draw_warp_cost(struct canvas *c, const struct warps *w, int x)
{
    char text[32];
    snprintf(text, sizeof text, "%.2fx", w->whole);
    if (!(w->whole > 0) || x + 13 + text_width(text) > c->w) return;
    x = canvas_text(c, x, 2, ST_DIM, "a warp costs ");
    canvas_text(c, x, 2, ST_BOLD, "%s", text);
}

static void draw_longest(struct canvas *c, const struct csr *A, const struct stats *t, int y)
{
    char row[32], length[32];
    int x = canvas_text(c, 1, y, ST_DIM, "longest:");
    for (int i = 0; i < t->nlongest; i++) {
        show_count(t->longest[i], row, sizeof row);
        show_count(csr_row_length(A, t->longest[i]), length, sizeof length);
        if (x + text_width(row) + text_width(length) + 10 > c->w) return;
        x = canvas_text(c, x, y, ST_PLAIN, "%srow %s", i ? ", " : " ", row);
        x = canvas_text(c, x, y, ST_DIM, " (%s)", length);
    }
}

/* ---- the view ---- */

/* Draw a summary of the warps instead of the summary of lengths. */
static void draw_warp_summary(struct canvas *c, const struct view_state *st)
{
    const struct rows_state *rows = st->own;
    const struct warps *w = &rows->warps;
    struct {
        const char *name;
        char text[96];
    } item[] = {{.name = "all"}, {.name = "mean"}, {.name = "worst rows"}, {.name = "no entries"}};
    snprintf(item[0].text, sizeof item[0].text, "%.2fx", w->whole);
    snprintf(item[1].text, sizeof item[1].text, "%.2fx", w->mean);
    if (w->worst > 0) rows_member_name(st, w->worst_row, item[2].text, sizeof item[2].text);
    show_count(w->idle, item[3].text, sizeof item[3].text);
    for (int i = 0, x = 1; i < COUNT(item); i++) {
        bool cut = x + text_width(item[i].name) + 1 + text_width(item[i].text) > c->w;
        if (cut && i == 2) item[i].name = "worst", snprintf(item[i].text, sizeof item[i].text, "%.2fx", w->worst);
        if (x + text_width(item[i].name) + 1 + text_width(item[i].text) > c->w) return;
        x = canvas_text(c, x, 1, ST_DIM, "%s ", item[i].name);
        x = canvas_text(c, x, 1, ST_BOLD, "%s", item[i].text[0] ? item[i].text : "-") + 3;
    }
}

static void draw_bins(struct canvas *c, const struct matrix *m, struct view_state *st, int end)
{
    struct rows_state *rows = st->own;
    struct histogram g;
    struct bin_list t;
    int room = end - ROWS_TOP - 1;
    rows->bins = room <= FEWEST ? FEWEST : room <= BINS_MAX ? room - 1 : BINS_MAX;
    rows_bins(st, &g);
    rows_fill_list(&t, st, &g);
    if (st->item >= t.n) st->item = t.n - 1;
    int y = rows_draw_list(c, &t, st, room);
    if (rows->mode != WARPS) draw_longest(c, &m->csr, &rows->stats, y + 1 < end ? y + 1 : y);
    if (st->full) rows_draw_members(c, st, &g, t.line[st->item].name, c->h - 2);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    struct rows_state *rows = st->own;
    const struct matrix *m = s->current;
    int end = c->h - (st->full ? 2 : 0);
    if (!st->full && !c->figure) rows->mode = HISTOGRAM; /* the command rows prints a histogram */
    draw_title(c, "rows", m, "%s%srows counted from 0", rows->mode ? mode_name[rows->mode] : "",
               rows->mode ? "; " : "");
    if (m->csr.rows == 0 || rows->lengths.A != &m->csr || c->w < 40 || end - ROWS_TOP < 2) return;
    if (rows->mode == WARPS)
        draw_warp_summary(c, st);
    else
        draw_summary(c, &rows->stats);
    draw_warp_cost(c, &rows->warps, draw_quantiles(c, &rows->lengths, 1));
    if (rows->mode == SORTED)
        rows_draw_sorted(c, st, end);
    else
        draw_bins(c, m, st, end);
}

/* ---- keys ---- */

/* Move the cursor to the row, and choose its bin. */
static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    struct rows_state *rows = st->own;
    struct histogram g;
    if (row >= st->rows || !rows->lengths.n) return false;
    st->row = row;
    rows_bins(st, &g);
    int64_t first = row / rows_stride(st) * rows_stride(st), item = st->item;
    for (st->item = 0; st->item < g.n && !rows_is_member(st, &g, first);) st->item++;
    if (st->item == g.n) st->item = item; /* a warp without entries is in no bin */
    if (rows->mode == SORTED) rows->rank = rank_of_row(&rows->lengths, row);
    return true;
}

static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    *row = st->row;
    *col = -1;
    return st->row < st->rows;
}

static void choose_bin(struct view_state *st, int k)
{
    struct histogram g;
    rows_bins(st, &g);
    st->item += (k == UI_DOWN) - (k == UI_UP);
    if (k == UI_HOME || k == 'g' || st->item < 0) st->item = 0;
    if (k == UI_END || st->item >= g.n) st->item = g.n - 1;
    int64_t row = rows_member_from(st, &g, 0, 1);
    if (row >= 0) st->row = row;
}

/* Move to the row before or after the cursor in the same bin. */
static void choose_member(struct view_state *st, int by)
{
    struct histogram g;
    rows_bins(st, &g);
    int64_t row = rows_member_from(st, &g, st->row / rows_stride(st) * rows_stride(st) + by * rows_stride(st), by);
    if (row >= 0) st->row = row;
}

static void choose_rank(struct view_state *st, int k)
{
    struct rows_state *rows = st->own;
    int64_t page = 10 * st->col_step;
    rows->rank += k == UI_RIGHT ? st->col_step : k == UI_LEFT ? -st->col_step : k == UI_PGDN ? page : 0;
    rows->rank += (k == UI_UP) - (k == UI_DOWN) - (k == UI_PGUP ? page : 0);
    if (k == UI_HOME || k == 'g' || rows->rank < 0) rows->rank = 0;
    if (k == UI_END || rows->rank >= st->rows) rows->rank = st->rows - 1;
    st->row = row_at_rank(&rows->lengths, rows->rank);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    struct rows_state *rows = st->own;
    bool bins = k == UI_UP || k == UI_DOWN || k == UI_HOME || k == UI_END || k == 'g';
    bool ranks = bins || k == UI_LEFT || k == UI_RIGHT || k == UI_PGUP || k == UI_PGDN;
    if (!rows->lengths.n) return false;
    if (k == 't') {
        rows->mode = (rows->mode + 1) % MODES;
        go(s, st, st->row, -1);
    } else if (rows->mode == SORTED) {
        if (ranks) choose_rank(st, k);
    } else if (bins) {
        choose_bin(st, k);
    } else if (k == UI_LEFT || k == UI_RIGHT) {
        choose_member(st, k == UI_LEFT ? -1 : 1);
    }
    return true;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    return run_command(s, &command_rows, 1, (const char *const[]){s->current->name}, e);
}

static void state_free(void *own)
{
    struct rows_state *rows = own;
    row_lengths_free(&rows->lengths);
    rows->ready = false;
}

static void state_copy(void *to, const void *from)
{
    struct rows_state *rows = to;
    const struct rows_state *seen = from;
    rows->mode = seen->mode;
    rows->rank = seen->rank;
}

const struct view view_rows = {
    .name = "rows",
    .about = "the lengths of the rows, and the cost of 32 neighbouring rows in a kernel with one thread per row, "
             "relative to "
             "the same entries spread evenly; rows are counted from 0",
    .keys = "? help  q leave  t next picture  up/down choose a bin  left/right its rows  / go to a row  g first  "
            "Home/End first or last bin",
    .rows = (const struct row_kind *const[]){&row_rows_bin, &row_rows_longest, &row_rows_quantile, &row_rows_warps,
                                             &row_rows_warp_bin, NULL},
    .large = true,
    .state_size = sizeof(struct rows_state),
    .state_free = state_free,
    .lasts = true,
    .state_copy = state_copy,
    .is_list = true,
    .prepare = prepare,
    .prepares_soon = prepares_soon,
    .overview = 2,
    .draw = draw,
    .key = key,
    .go = go,
    .at = at,
    .numbers = numbers,
};
