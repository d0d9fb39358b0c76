/* The grid of steps and lanes, and next to it a table of the accesses of each lane in the current step. */
#include "microscope/tracing.h"
#include "ui/draw.h"
#include "view_trace.h"

#include <string.h>

const char *const trace_view_short[ACCESS_KINDS] = {"ld", "st", "at", "tex", "sh ld", "sh st", "sh at", "shfl", "sync"};

static char lower(char ch)
{
    return ch >= 'A' && ch <= 'Z' ? (char)(ch - 'A' + 'a') : ch;
}

static bool is_letter(char ch)
{
    return lower(ch) >= 'a' && lower(ch) <= 'z';
}

/* Choose a letter for each array: the first letter of its name that no other array uses. */
void trace_view_letters(const struct scope *s, char letter[SCOPE_ARRAYS])
{
    bool taken[128] = {false};
    for (int a = 0; a < s->narrays; a++) {
        const char *name = s->array[a].name;
        while (*name && (!is_letter(*name) || taken[(unsigned char)lower(*name)])) name++;
        letter[a] = *name ? lower(*name) : '+';
        taken[(unsigned char)letter[a]] = *name;
    }
}

enum style trace_view_style(const struct access_site *p)
{
    return p->array < 0 ? ST_TITLE : ST_ROW + (unsigned)(p->array % ROW_COLOURS);
}

static char glyph_of(const struct access_site *p, const char *letter)
{
    bool writes = p->kind == ACCESS_STORE || p->kind == ACCESS_ATOMIC || p->kind == ACCESS_SHARED_STORE ||
                  p->kind == ACCESS_SHARED_ATOMIC;
    if (p->array < 0) return p->kind == ACCESS_BARRIER ? '|' : '~';
    return writes ? (char)(letter[p->array] - 'a' + 'A') : letter[p->array];
}

static void draw_ruler(struct canvas *c, const struct frame *f, int y)
{
    canvas_text(c, 1, y, ST_DIM, "step");
    for (int l = 0; l < LANES; l += 8) canvas_text(c, NUMBER + l, y, ST_DIM, "%d", l);
    canvas_text(c, CELLS - 2, y, ST_DIM, "%d", LANES - 1);
    canvas_style(c, NUMBER + f->v->lane, y, ST_BOLD);
    canvas_put(c, NUMBER + f->v->lane, y, ST_BOLD, 'v');
    if (f->label) canvas_text(c, CELLS + 1, y, ST_DIM, "does");
}

static void draw_cell(struct canvas *c, const struct tracing *v, int64_t k, int l, int y, const char *letter)
{
    const struct access_site *p = tracing_site(v, k);
    struct lane_at at = tracing_lane(v, k, l);
    bool here = k == v->at;
    int x = NUMBER + l;
    if (at.state == LANE_WAITS)
        canvas_put(c, x, y, ST_DIM, 0xb7);
    else if (at.state == LANE_ACTIVE && at.padding)
        canvas_put(c, x, y, here ? ST_CURSOR : ST_PAD, '*');
    else if (at.state == LANE_ACTIVE)
        canvas_put(c, x, y, here ? ST_CURSOR : trace_view_style(p), (uint32_t)glyph_of(p, letter));
}

static void draw_step(struct canvas *c, const struct frame *f, int64_t k, int y, const char *letter)
{
    const struct tracing *v = f->v;
    const struct access_site *p = tracing_site(v, k);
    bool here = k == v->at;
    if (here) canvas_put(c, 0, y, ST_BOLD, '>');
    canvas_text(c, 1, y, here ? ST_BOLD : ST_DIM, "%5lld", (long long)k);
    for (int l = 0; l < LANES; l++) draw_cell(c, v, k, l, y, letter);
    if (f->label)
        canvas_text(c, CELLS + 1, y, here ? ST_BOLD : trace_view_style(p), "%s %.*s", trace_view_short[p->kind],
                    f->label - (int)strlen(trace_view_short[p->kind]) - 2, tracing_array(v, k));
}

/* The row, column and array element that a lane works on. */
static void draw_lane(struct canvas *c, const struct tracing *v, int l, int x, int y)
{
    static const char *const states[] = {"", "inactive (diverged)", "done", "nothing to do"};
    struct lane_at at = tracing_lane(v, v->at, l);
    enum style st = l == v->lane ? ST_BOLD : ST_PLAIN;
    char text[32];
    canvas_text(c, x, y, l == v->lane ? ST_CURSOR : ST_DIM, "%2d", l);
    if (at.state != LANE_ACTIVE) {
        canvas_text(c, x + 4, y, ST_DIM, "%s", states[at.state]);
        return;
    }
    snprintf(text, sizeof text, "%lld", (long long)at.row);
    draw_right(c, x + 10, y, st, at.row < 0 ? "-" : text);
    snprintf(text, sizeof text, "%lld", (long long)at.col);
    draw_right(c, x + 19, y, at.padding ? ST_PAD : st, at.padding ? "*" : at.col < 0 ? "-" : text);
    snprintf(text, sizeof text, "%lld", (long long)at.index);
    draw_right(c, x + 28, y, st, at.has_index ? text : "-");
}

static void draw_lane_head(struct canvas *c, const char *array, int x, int y)
{
    char head[40];
    snprintf(head, sizeof head, "%.6s[]", array);
    canvas_text(c, x, y, ST_DIM, "lane  row");
    draw_right(c, x + 19, y, ST_DIM, "column");
    draw_right(c, x + 28, y, ST_DIM, *array ? head : "-");
}

/* Draw the table of lanes next to the grid, in columns of equal length. If not all lanes fit, draw the lanes around the
   chosen lane. */
static void draw_lanes(struct canvas *c, const struct frame *f, int y)
{
    const struct tracing *v = f->v;
    int lines = (LANES + f->tables - 1) / f->tables, left = CELLS + 2 + f->label;
    if (lines > f->grid) lines = f->grid;
    int shown = lines * f->tables, first = clamp(v->lane - shown / 2, 0, LANES > shown ? LANES - shown : 0);
    for (int i = 0; i < shown && first + i < LANES; i++) {
        int x = left + i / lines * LANE_WIDTH;
        if (i % lines == 0) draw_lane_head(c, tracing_array(v, v->at), x, y);
        draw_lane(c, v, first + i, x, y + 1 + i % lines);
    }
}

/* The line below. */
int trace_view_grid(struct canvas *c, const struct frame *f, int y)
{
    char letter[SCOPE_ARRAYS];
    trace_view_letters(&f->v->t.scope, letter);
    if (f->head) draw_ruler(c, f, y);
    if (f->head && f->tables) draw_lanes(c, f, y);
    y += f->head;
    for (int i = 0; i < f->grid && f->from + i < f->v->t.nsteps; i++) draw_step(c, f, f->from + i, y + i, letter);
    return y + f->grid;
}
