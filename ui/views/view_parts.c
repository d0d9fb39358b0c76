/* The parts of the matrix as a list: the nonzeros of each part as a bar, its halo, and its neighbours. */
#include "base/text.h"
#include "commands/cmd_partition.h"
#include "report/fields.h"
#include "session/matrix.h"
#include "session/parting.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum { TOP = 4, NAME = 9, RIGHT = 52, NARROW = 33, NOTE = 2, BAR_MIN = 6 };

static const struct parting *parting_of(const struct session *s)
{
    return s->current ? s->current->parting : NULL;
}

static bool exists(const struct session *s)
{
    return parting_of(s) != NULL;
}

static const char *nothing(const struct session *s)
{
    return exists(s) ? NULL : parting_missing;
}

/* ---- drawing ---- */

/* The columns at the right, each right-aligned at `end`; on a narrow canvas only those up to NARROW. */
static const struct {
    int end;
    const char *name;
} columns[] = {{10, "nonzeros"}, {19, "outside"}, {28, "halo in"}, {38, "halo out"}, {44, "from"}, {50, "to"}};

static int right_of(const struct canvas *c)
{
    return c->w >= NAME + RIGHT + BAR_MIN ? RIGHT : NARROW;
}

static void column(struct canvas *c, int i, int y, enum style st, const char *text)
{
    if (columns[i].end < right_of(c)) draw_right(c, c->w - right_of(c) + columns[i].end, y, st, text);
}

static void count(struct canvas *c, int i, int y, enum style st, int64_t n)
{
    char text[32];
    column(c, i, y, st, show_count(n, text, sizeof text));
}

static int bar_width(const struct canvas *c)
{
    return c->w - right_of(c) - NAME - 1;
}

/* The bar shows the nonzeros, compared with the largest part; its second part shows those outside. */
static void draw_nonzeros(struct canvas *c, int y, const struct part_counts *t, int64_t most)
{
    int w = bar_width(c);
    double all = most ? (double)(t->inside + t->outside) / (double)most : 0;
    double inside = most ? (double)t->inside / (double)most : 0;
    if (w < BAR_MIN) return;
    draw_bar(c, NAME, y, w, all, ST_PLOT_B);
    if (c->figure)
        draw_bar(c, NAME, y, w, inside, ST_BAR);
    else
        draw_fill(c, NAME, y, (int)(w * inside), ST_BAR, 0x2588); /* whole cells: two bars cannot share one */
    if (c->colours == COLOURS_NONE && !c->figure)                 /* without colours, the part outside is light */
        draw_fill(c, NAME + (int)(w * inside), y, (int)ceil(w * all) - (int)(w * inside), ST_BAR, 0x2591);
}

static void draw_part(struct canvas *c, int y, const struct parting *p, int k, int64_t most, enum style name)
{
    const struct part_counts *t = &p->x.part[k];
    char text[32];
    draw_right(c, NAME - 1, y, name, show_count(k, text, sizeof text));
    draw_nonzeros(c, y, t, most);
    count(c, 0, y, ST_PLAIN, t->inside + t->outside);
    count(c, 1, y, ST_PLAIN, t->outside);
    count(c, 2, y, ST_BOLD, t->halo_in);
    count(c, 3, y, ST_BOLD, t->halo_out);
    count(c, 4, y, ST_DIM, t->from);
    count(c, 5, y, ST_DIM, t->to);
}

static void draw_head(struct canvas *c, const struct matrix *m, const struct parting *p, const struct part_most *most)
{
    char halo[32], bytes[32], cut[32];
    int x = canvas_text(c, 1, 1, ST_DIM, "largest part ");
    x = canvas_text(c, x, 1, ST_BOLD, "%.2fx", most->imbalance);
    x = canvas_text(c, x, 1, ST_DIM, " the mean   a product moves ");
    x = canvas_text(c, x, 1, ST_BOLD, "%s", show_count(p->x.halo, halo, sizeof halo));
    x = canvas_text(c, x, 1, ST_DIM, " items, ");
    x = canvas_text(c, x, 1, ST_BOLD, "%s", show_bytes((double)p->x.halo * parting_item_bytes(m), bytes, sizeof bytes));
    if (p->x.edges > 0 && x + 24 < c->w) {
        x = canvas_text(c, x, 1, ST_DIM, "   edges cut ");
        canvas_text(c, x, 1, ST_BOLD, "%s", show_count(p->x.edge_cut, cut, sizeof cut));
    }
    draw_right(c, NAME - 1, TOP - 1, ST_DIM, "part");
    static const char bars[] = "nonzeros: inside, outside", *shorter = "inside, outside";
    if (bar_width(c) >= text_width(shorter))
        canvas_text(c, NAME, TOP - 1, ST_DIM, "%s", bar_width(c) > text_width(bars) ? bars : shorter);
    for (int i = 0; i < COUNT(columns); i++) column(c, i, TOP - 1, ST_DIM, columns[i].name);
}

/* "part 3: rows 60 to 79; receives 20 from 2, 20 from 4" */
static void draw_chosen(struct canvas *c, const struct parting *p, int k)
{
    char text[400], n[32];
    const struct partition *P = &p->P;
    snprintf(text, sizeof text, "part %d: ", k);
    if (P->first[k] == P->first[k + 1])
        text_append(text, sizeof text, "no rows");
    else if (P->order)
        text_append(text, sizeof text, "%s", how_many(p->x.part[k].rows, "row").text);
    else
        text_append(text, sizeof text, "rows %lld to %lld", (long long)P->first[k], (long long)P->first[k + 1] - 1);
    text_append(text, sizeof text, p->x.part[k].from ? "; receives " : "; receives nothing");
    for (int64_t i = p->x.first[k]; i < p->x.first[k + 1] && strlen(text) < sizeof text - 80; i++)
        text_append(text, sizeof text, "%s%s from %d", i > p->x.first[k] ? ", " : "",
                    show_count(p->x.items[i], n, sizeof n), p->x.from[i]);
    draw_wrapped(c, 1, c->h - 1 - NOTE, NOTE, ST_DIM, text);
}

static void draw_axis(struct canvas *c, int64_t most, int lines)
{
    struct ruler r = {RULER_EVEN, 0, most ? (double)most : 1, NULL};
    if (bar_width(c) >= BAR_MIN) axis_below_bars(c->figure, &r, NAME, TOP, lines, bar_width(c), "nonzeros");
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct parting *p = parting_of(s);
    draw_title(c, "parts", s->current, "%s%s%s", p ? how_many(p->x.parts, "part").text : "", p ? " by " : "",
               p ? p->P.way->name : "");
    if (!p) {
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, parting_missing);
        return;
    }
    struct part_most most = exchange_most(&p->x);
    int64_t all = p->x.inside + p->x.outside;
    int64_t largest = (int64_t)(most.imbalance * (double)all / p->x.parts + 0.5);
    int room = c->h - TOP - (st->full ? 1 + NOTE : 0) - (c->figure ? AXIS_LINES : 0);
    if (room < 1) room = 1;
    if (st->item >= p->x.parts) st->item = p->x.parts - 1;
    if (st->item < st->scroll) st->scroll = st->item;
    if (st->item >= st->scroll + room) st->scroll = st->item - room + 1;
    draw_head(c, s->current, p, &most);
    int lines = 0;
    for (; lines < room && st->scroll + lines < p->x.parts; lines++) {
        int k = (int)st->scroll + lines;
        draw_part(c, TOP + lines, p, k, largest, st->full && k == st->item ? ST_CURSOR : ST_PLAIN);
    }
    if (c->figure) draw_axis(c, largest, lines);
    if (st->full) draw_chosen(c, p, (int)st->item);
}

/* ---- keys and numbers ---- */

static bool key(struct session *s, struct view_state *st, int k)
{
    const struct parting *p = parting_of(s);
    int64_t page = 10;
    if (!p) return false;
    st->item += (k == UI_DOWN) - (k == UI_UP) + page * (k == UI_PGDN) - page * (k == UI_PGUP);
    if (k == UI_END || st->item >= p->x.parts) st->item = p->x.parts - 1;
    if (st->item < 0 || k == 'g' || k == UI_HOME) st->item = 0;
    return true;
}

static bool click(struct session *s, struct view_state *st, int x, int y)
{
    const struct parting *p = parting_of(s);
    if (!p || y < TOP || st->scroll + y - TOP >= p->x.parts) return false;
    st->item = st->scroll + y - TOP;
    return true;
}

/* The row of the chosen part: its first row. */
static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    const struct parting *p = parting_of(s);
    if (!p || st->item >= p->x.parts || !p->x.part[st->item].rows) return false;
    *row = partition_row(&p->P, p->P.first[st->item]);
    *col = -1;
    return true;
}

static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    const struct parting *p = parting_of(s);
    if (!p || row >= p->P.rows) return false;
    st->item = partition_owner(&p->P, row);
    return true;
}

/* One row per part. */
static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct parting *p = parting_of(s);
    for (int k = 0; k < p->x.parts; k++) {
        out_row(s->out);
        out_str(s->out, "matrix", NULL, s->current->name);
        out_str(s->out, "way", NULL, p->P.way->name);
        out_int(s->out, "part", "part", k);
        out_part_counts(s->out, &p->x.part[k]);
    }
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field part_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"way", F_TEXT, "how the rows were divided: rows, nnz, metis, scotch"},
    {"part", F_COUNT, "number of the part, from 0"},
    {.include = &row_part_counts},
    {0},
};
static const struct row_kind row_part = {"part", "a part of a matrix", part_fields};

const struct view view_parts = {
    .name = "parts",
    .about = "the parts into which `partition` divided the matrix: the nonzeros of each part in its own columns and "
             "outside, the items of x that it receives and sends in a product, and the number of parts that it "
             "receives from and sends to",
    .keys = "? help  q leave  up/down choose a part  g first  / go to a row  PgUp/PgDn ten parts up or down  "
            "End last part",
    .rows = (const struct row_kind *const[]){&row_part, NULL},
    .is_list = true,
    .large = true,
    .exists = exists,
    .draw = draw,
    .key = key,
    .click = click,
    .at = at,
    .go = go,
    .nothing = nothing,
    .numbers = numbers,
};
