/* How long the rows are: their histogram, what is shorter, how they are by length, and what warps of them cost; and
   which rows those are. */
#include "cmd_view.h"
#include "view_rows.h"

#include <math.h>
#include <string.h>

/* Above the bins are the title, the summary, the quantiles and the heading; below them, the longest rows; with keys,
   the rows of the chosen bin. */
enum { TOP = 4, FEWEST = 4, BINS_MOST = 64, LOG_FROM = 64 };
static const char *const mode_name[MODES] = {"histogram", "cumulative", "sorted", "warps of 32 rows"};

static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    struct rows_state *rows = st->own;
    const struct csr *A = &s->current->csr;
    row_lengths_free(&rows->lengths);
    if (!row_lengths_of(A, &rows->lengths, e) || !stats_rows(A, &rows->stats, e)) return false;
    warps_of(A, &rows->warps);
    return true;
}

/* "17", "32-63": the lengths of bin k. */
static char *bin_name(const struct histogram *g, int k, char *out, size_t size)
{
    char low[32], high[32];
    show_count(g->from[k], low, sizeof low);
    show_count(g->from[k + 1] - 1, high, sizeof high);
    bool one = g->from[k + 1] - g->from[k] <= 1;
    snprintf(out, size, "%s%s%s", low, one ? "" : "-", one ? "" : high);
    return out;
}

/* Where the shortest bar would be too short to see, only logarithms can be compared. */
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

/* "5% 0   25% 1   75% 8   95% 31": that share of the rows is no longer. */
static int draw_quantiles(struct canvas *c, const struct row_lengths *l, int x)
{
    static const int percent[] = {1, 5, 25, 75, 95, 99};
    int64_t last = l->below[l->n] - 1;
    for (int i = 0; i < COUNT(percent); i++) {
        char name[8], text[32];
        snprintf(name, sizeof name, "%d%%", percent[i]);
        show_count(row_length_at(l, last * percent[i] / 100), text, sizeof text);
        if (x + text_width(name) + 1 + text_width(text) > c->w) return x;
        x = canvas_text(c, x, 2, ST_DIM, "%s ", name);
        x = canvas_text(c, x, 2, ST_PLAIN, "%s", text) + 3;
    }
    return x;
}

/* "a warp costs 4.31x": against rows shared out evenly. */
static void draw_warp_cost(struct canvas *c, const struct warps *w, int x)
{
    char text[32];
    snprintf(text, sizeof text, "%.2fx", w->whole);
    if (!(w->whole > 0) || x + 13 + text_width(text) > c->w) return;
    x = canvas_text(c, x, 2, ST_DIM, "a warp costs ");
    canvas_text(c, x, 2, ST_BOLD, "%s", text);
}

/* ---- lists of bins with bars ---- */

/* A line a bin: its name, its numbers, its bar. */
struct list {
    const char *names, *numbers; /* headings */
    char note[64];
    int n;
    struct {
        char name[80], number[64];
        double share;
        bool none;
    } line[BINS_MOST];
};

static void list_histogram(struct list *t, const struct histogram *g)
{
    bool log_scale = needs_log(g);
    t->names = "entries";
    t->numbers = "rows";
    snprintf(t->note, sizeof t->note, "%s%s", log_scale ? "bars on a log scale" : "",
             g->log ? log_scale ? ", bins: powers of two" : "bins: powers of two" : "");
    for (int k = 0; k < t->n; k++) {
        bin_name(g, k, t->line[k].name, sizeof t->line[k].name);
        show_count(g->count[k], t->line[k].number, sizeof t->line[k].number);
        t->line[k].share = share_of(g, g->count[k], log_scale);
    }
}

/* Rows as long or shorter, and their share of all rows and entries. */
static void list_cumulative(struct list *t, const struct histogram *g, const struct row_lengths *l)
{
    double rows = (double)l->below[l->n], entries = fmax(1, (double)l->entries[l->n]);
    t->names = "entries";
    t->numbers = "rows  of rows  of nnz";
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

static void list_warps(struct list *t, const struct histogram *g)
{
    bool log_scale = needs_log(g);
    t->names = "cost";
    t->numbers = "warps";
    snprintf(t->note, sizeof t->note, "%s32 x longest row / entries", log_scale ? "log scale; " : "");
    for (int k = 0; k < t->n; k++) {
        snprintf(t->line[k].name, sizeof t->line[k].name, "%g-%g", (double)g->from[k] / HUNDREDTHS,
                 (double)(k + 1 < t->n ? g->from[k + 1] : WARP_ROWS * HUNDREDTHS) / HUNDREDTHS);
        show_count(g->count[k], t->line[k].number, sizeof t->line[k].number);
        t->line[k].share = share_of(g, g->count[k], log_scale);
    }
}

static void fill_list(struct list *t, const struct view_state *st, const struct histogram *g)
{
    const struct rows_state *rows = st->own;
    *t = (struct list){.n = g->n};
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

static struct columns columns_of(const struct canvas *c, const struct list *t)
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

/* The bins there is room for, among them the chosen one, and how many there are besides; the line below them. */
static int draw_list(struct canvas *c, const struct list *t, const struct view_state *st, int room)
{
    struct columns w = columns_of(c, t);
    int shown = t->n <= room ? t->n : room > 1 ? room - 1 : 1;
    int first = st->full && st->item >= shown ? (int)st->item - shown + 1 : 0;
    draw_right(c, 1 + w.name, TOP - 1, ST_DIM, t->names);
    draw_right(c, w.bar - 2, TOP - 1, ST_DIM, t->numbers);
    if (text_width(t->note) <= w.width) canvas_text(c, w.bar, TOP - 1, ST_DIM, "%s", t->note);
    for (int k = first; k < first + shown; k++) {
        int y = TOP + k - first;
        draw_right(c, 1 + w.name, y, st->full && k == st->item ? ST_CURSOR : ST_PLAIN, t->line[k].name);
        draw_right(c, w.bar - 2, y, t->line[k].none ? ST_DIM : ST_PLAIN, t->line[k].number);
        draw_bar(c, w.bar, y, w.width, t->line[k].share, ST_BAR);
    }
    if (shown < t->n) canvas_text(c, 1, TOP + shown, ST_DIM, "... %s more", how_many(t->n - shown, "bin").text);
    return TOP + shown + (shown < t->n);
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

/* ---- the rows of a bin ---- */

/* The bins that can be chosen: of lengths, or of what warps cost. */
static void bins_of(const struct view_state *st, struct histogram *g)
{
    const struct rows_state *rows = st->own;
    if (rows->mode == WARPS)
        *g = rows->warps.costs;
    else
        histogram_from(&rows->lengths, rows->bins, g);
}

/* Rows are told one by one, warps by their first rows. */
static int64_t stride_of(const struct view_state *st)
{
    const struct rows_state *rows = st->own;
    return rows->mode == WARPS ? WARP_ROWS : 1;
}

static bool is_member(const struct view_state *st, const struct histogram *g, int64_t row)
{
    const struct rows_state *rows = st->own;
    const struct csr *A = rows->lengths.A;
    int64_t v = rows->mode == WARPS ? (int64_t)(warp_cost(A, row) * HUNDREDTHS) : csr_row_length(A, row);
    return st->item < g->n && v >= g->from[st->item] && v < g->from[st->item + 1];
}

/* The next row of the bin from `row` on, or before it; -1: there is none. */
static int64_t member_from(const struct view_state *st, const struct histogram *g, int64_t row, int by)
{
    int64_t stride = stride_of(st);
    if (st->item >= g->n || !g->count[st->item]) return -1;
    for (int64_t r = row / stride * stride; r >= 0 && r < st->rows; r += by * stride)
        if (is_member(st, g, r)) return r;
    return -1;
}

/* "17", "64-95 (1.73x)" */
static char *member_name(const struct view_state *st, int64_t row, char *out, size_t size)
{
    const struct rows_state *rows = st->own;
    char a[32], b[32];
    int64_t last = row + WARP_ROWS < st->rows ? row + WARP_ROWS - 1 : st->rows - 1;
    show_count(row, a, sizeof a);
    if (rows->mode != WARPS)
        snprintf(out, size, "%s", a);
    else
        snprintf(out, size, "%s-%s (%.2fx)", a, show_count(last, b, sizeof b), warp_cost(rows->lengths.A, row));
    return out;
}

/* The rows of the chosen bin by number, from the cursor's on, as many as there is room for. */
static void draw_members(struct canvas *c, const struct view_state *st, const struct histogram *g, const char *bin,
                         int y)
{
    const struct rows_state *rows = st->own;
    char text[96];
    int x = canvas_text(c, 1, y, ST_DIM, rows->mode == WARPS ? "warps of cost %s:" : "rows of length %s:", bin);
    bool first = true;
    for (int64_t r = member_from(st, g, st->row, 1); r >= 0; r = member_from(st, g, r + stride_of(st), 1)) {
        member_name(st, r, text, sizeof text);
        if (!first && x + text_width(text) + 6 > c->w) {
            canvas_text(c, x, y, ST_DIM, " ...");
            return;
        }
        x = canvas_text(c, x + 1, y, first ? ST_CURSOR : ST_PLAIN, "%s", text);
        first = false;
    }
}

/* ---- rows by length ---- */

/* A length's place between the shortest and the longest row, 0 to 1. */
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
            plot_dot(c, p, x, at, ST_PLOT_A, '*'); /* up to where the last one was */
        was = y;
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
    canvas_text(c, p->x, p->y - 1, ST_DIM, "entries of a row%s%s", log_scale ? ", log scale" : "",
                c->w < 60 ? "" : "; the shortest rows are left");
}

/* Where the row is by length: its column, and in words. */
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

static void draw_sorted(struct canvas *c, struct view_state *st, int end)
{
    const struct rows_state *rows = st->own;
    const struct row_lengths *l = &rows->lengths;
    char text[32];
    int left = text_width(show_count(l->length[l->n - 1], text, sizeof text)) + 2;
    struct plot p = {.x = left, .y = TOP, .w = c->w - left - 1, .h = end - TOP - 1};
    bool log_scale = sorted_log(l);
    st->col_step = st->rows / p.w > 0 ? st->rows / p.w : 1;
    if (p.h < 1) return;
    draw_curve(c, l, &p, log_scale);
    draw_curve_axes(c, l, &p, log_scale);
    if (st->full) draw_rank(c, st, &p);
}

/* ---- the view ---- */

/* Warps in words, instead of the summary of lengths. */
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
    if (w->worst > 0) member_name(st, w->worst_row, item[2].text, sizeof item[2].text);
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
    struct list t;
    int room = end - TOP - 1;
    rows->bins = room <= FEWEST ? FEWEST : room <= BINS_MOST ? room - 1 : BINS_MOST;
    bins_of(st, &g);
    fill_list(&t, st, &g);
    if (st->item >= t.n) st->item = t.n - 1;
    int y = draw_list(c, &t, st, room);
    if (rows->mode != WARPS) draw_longest(c, &m->csr, &rows->stats, y + 1 < end ? y + 1 : y);
    if (st->full) draw_members(c, st, &g, t.line[st->item].name, c->h - 2);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    struct rows_state *rows = st->own;
    const struct matrix *m = s->current;
    int end = c->h - (st->full ? 2 : 0);
    if (!st->full) rows->mode = HISTOGRAM;
    draw_title(c, "rows", m, "%s%srows counted from 0", rows->mode ? mode_name[rows->mode] : "",
               rows->mode ? "; " : "");
    if (m->csr.rows == 0 || rows->lengths.A != &m->csr || c->w < 40 || end - TOP < 2) return;
    if (rows->mode == WARPS)
        draw_warp_summary(c, st);
    else
        draw_summary(c, &rows->stats);
    draw_warp_cost(c, &rows->warps, draw_quantiles(c, &rows->lengths, 1));
    if (rows->mode == SORTED)
        draw_sorted(c, st, end);
    else
        draw_bins(c, m, st, end);
}

/* ---- keys ---- */

/* Choose the row, and the bin it is in. */
static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    struct rows_state *rows = st->own;
    struct histogram g;
    (void)s, (void)col;
    if (row >= st->rows || !rows->lengths.n) return false;
    st->row = row;
    bins_of(st, &g);
    int64_t first = row / stride_of(st) * stride_of(st), item = st->item;
    for (st->item = 0; st->item < g.n && !is_member(st, &g, first);) st->item++;
    if (st->item == g.n) st->item = item; /* a warp without entries is in no bin */
    if (rows->mode == SORTED) rows->rank = rank_of_row(&rows->lengths, row);
    return true;
}

static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    (void)s;
    *row = st->row;
    *col = -1;
    return st->row < st->rows;
}

static void choose_bin(struct view_state *st, int k)
{
    struct histogram g;
    bins_of(st, &g);
    st->item += (k == UI_DOWN) - (k == UI_UP);
    if (k == UI_HOME || k == 'g' || st->item < 0) st->item = 0;
    if (k == UI_END || st->item >= g.n) st->item = g.n - 1;
    int64_t row = member_from(st, &g, 0, 1);
    if (row >= 0) st->row = row;
}

/* The row before or behind the cursor's in its bin. */
static void choose_member(struct view_state *st, int by)
{
    struct histogram g;
    bins_of(st, &g);
    int64_t row = member_from(st, &g, st->row / stride_of(st) * stride_of(st) + by * stride_of(st), by);
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
    (void)st, (void)w, (void)h;
    return run_command(s, &command_rows, 1, (const char *const[]){s->current->name}, e);
}

static void state_free(void *own)
{
    struct rows_state *rows = own;
    row_lengths_free(&rows->lengths);
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
    .about = "how long the rows are, and what 32 neighbours cost a kernel with a thread for each row, against the same "
             "entries shared out evenly; rows are counted from 0",
    .keys = "? help  q leave  t next picture  up/down choose a bin  left/right rows of it  / go to a row  g first  "
            "Home/End first or last bin",
    .state_size = sizeof(struct rows_state),
    .state_free = state_free,
    .state_copy = state_copy,
    .is_list = true,
    .prepare = prepare,
    .draw = draw,
    .key = key,
    .go = go,
    .at = at,
    .numbers = numbers,
};
