/* How long the rows are: their histogram, their summary, and which rows are the long ones. */
#include "ui.h"

#include <math.h>
#include <string.h>

/* Above the bins are the title, the summary and the heading; below them, the longest rows; with keys, the rows of
   the chosen bin. */
enum { TOP = 4, FEWEST = 4, BINS_MOST = 64 };

static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    (void)st;
    return session_stats(s, s->current, e);
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

struct columns {
    int name, count, bar, width;
};

static struct columns columns_of(const struct canvas *c, const struct histogram *g)
{
    struct columns w = {.name = 8, .count = 6};
    char text[80];
    for (int k = 0; k < g->n; k++) {
        int name = text_width(bin_name(g, k, text, sizeof text));
        int count = text_width(show_count(g->count[k], text, sizeof text));
        if (name > w.name) w.name = name;
        if (count > w.count) w.count = count;
    }
    w.bar = 1 + w.name + 2 + w.count + 2;
    w.width = c->w - w.bar - 1;
    return w;
}

static void draw_heading(struct canvas *c, const struct histogram *g, const struct columns *w, bool log_scale)
{
    draw_right(c, 1 + w->name, TOP - 1, ST_DIM, "entries");
    draw_right(c, w->bar - 2, TOP - 1, ST_DIM, "rows");
    canvas_text(c, w->bar, TOP - 1, ST_DIM, "%s%s", log_scale ? "bars on a log scale" : "",
                g->log ? log_scale ? ", bins: powers of two" : "bins: powers of two" : "");
}

/* The bins there is room for, among them the chosen one, and how many there are besides; the line below them. */
static int draw_bins(struct canvas *c, const struct histogram *g, const struct view_state *st, int room)
{
    struct columns w = columns_of(c, g);
    bool log_scale = needs_log(g);
    char text[80];
    int shown = g->n <= room ? g->n : room > 1 ? room - 1 : 1;
    int first = st->full && st->item >= shown ? (int)st->item - shown + 1 : 0;
    draw_heading(c, g, &w, log_scale);
    for (int k = first; k < first + shown; k++) {
        int y = TOP + k - first;
        enum style st_k = st->full && k == st->item ? ST_CURSOR : ST_PLAIN;
        draw_right(c, 1 + w.name, y, st_k, bin_name(g, k, text, sizeof text));
        draw_right(c, w.bar - 2, y, g->count[k] ? ST_PLAIN : ST_DIM, show_count(g->count[k], text, sizeof text));
        draw_bar(c, w.bar, y, w.width, share_of(g, g->count[k], log_scale), ST_BAR);
    }
    if (shown < g->n) canvas_text(c, 1, TOP + shown, ST_DIM, "... %d lengths more", g->n - shown);
    return TOP + shown + (shown < g->n);
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

/* The rows of the chosen bin by number, as many as there is room for, from the st->scroll-th on. */
static void draw_members(struct canvas *c, const struct csr *A, const struct histogram *g, const struct view_state *st,
                         int y)
{
    char text[80];
    int k = (int)st->item, x;
    int64_t nth = 0;
    if (k >= g->n) return;
    x = canvas_text(c, 1, y, ST_DIM, "rows of length %s:", bin_name(g, k, text, sizeof text));
    for (int64_t r = 0; r < A->rows; r++) {
        int64_t length = csr_row_length(A, r);
        if (length < g->from[k] || length >= g->from[k + 1] || nth++ < st->scroll) continue;
        show_count(r, text, sizeof text);
        if (x + text_width(text) + 6 > c->w) {
            canvas_text(c, x, y, ST_DIM, " ...");
            return;
        }
        x = canvas_text(c, x + 1, y, ST_PLAIN, "%s", text);
    }
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct matrix *m = s->current;
    struct histogram g;
    int end = c->h - (st->full ? 2 : 0), room = end - TOP - 1;
    draw_title(c, "rows", m, "rows counted from 0");
    if (!m->has_stats || m->csr.rows == 0 || c->w < 40 || room < 1) return;
    st->bins = room <= FEWEST ? FEWEST : room <= BINS_MOST ? room - 1 : BINS_MOST;
    histogram_of(&m->csr, st->bins, &g);
    if (st->item >= g.n) st->item = g.n - 1;
    draw_summary(c, &m->stats);
    int y = draw_bins(c, &g, st, room);
    draw_longest(c, &m->csr, &m->stats, y + 1 < end ? y + 1 : y);
    if (st->full) draw_members(c, &m->csr, &g, st, c->h - 2);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    (void)s;
    int64_t item = st->item + (k == UI_DOWN) - (k == UI_UP);
    if (k == UI_HOME || k == 'g') item = 0;
    if (k == UI_END) item = BINS_MOST; /* draw knows the last one */
    if (item < 0) item = 0;
    if (k == UI_RIGHT) st->scroll += 8;
    if (k == UI_LEFT) st->scroll -= 8;
    if (st->scroll < 0 || item != st->item) st->scroll = 0;
    st->item = item;
    return true;
}

/* Choose the length of a row, and show the rows of that length from this one on. */
static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    const struct csr *A = &s->current->csr;
    struct histogram g;
    (void)col;
    histogram_of(A, st->bins, &g);
    for (st->item = 0; csr_row_length(A, row) >= g.from[st->item + 1];) st->item++;
    st->scroll = 0;
    for (int64_t r = 0; r < row; r++) {
        int64_t length = csr_row_length(A, r);
        st->scroll += length >= g.from[st->item] && length < g.from[st->item + 1];
    }
    return true;
}

const struct view view_rows = {
    .name = "rows",
    .about = "how many rows have how many entries, and which are the longest; rows are counted from 0",
    .keys = "? help  q leave  up/down choose a length  left/right more rows  g first  / go to a row  Home/End first or "
            "last length",
    .prepare = prepare,
    .draw = draw,
    .key = key,
    .go = go,
};
