/* The lines of a strip or a grid of slots. */
#include "advice/traced.h"
#include "base/text.h"
#include "ui/draw.h"
#include "view_layout.h"
#include "view_state.h"

#include <string.h>

/* Does a lane of the trace access this slot or process its element? p is the place of the slot. */
static bool is_lit(const struct page *g, int k, int64_t i, struct place p)
{
    for (int n = 0; n < g->nlit && p.kind == SLOT_ENTRY; n++)
        if (g->lit[n].row == p.row && g->lit[n].col == p.col) return true;
    return traced_slot(g->s, g->S, k, i);
}

/* The style of a slot: the colour of its row, or the cursor for the chosen slot and all slots with the same entry. */
static enum style slot_style(const struct page *g, int k, int64_t i, struct place p, bool lit)
{
    bool same =
        p.kind == SLOT_ENTRY && g->chosen.kind == SLOT_ENTRY && p.row == g->chosen.row && p.col == g->chosen.col;
    if (g->st->full && (same || (k == g->own->array && i == g->st->item))) return ST_CURSOR;
    if (lit) return ST_BAD;
    if (p.kind == SLOT_PADDING) return ST_PAD;
    return p.row < 0 ? ST_DIM : ST_ROW + (unsigned)(p.row % ROW_COLOURS);
}

static void draw_slot(struct canvas *c, const struct page *g, int k, int64_t i, int x, int y)
{
    char text[32];
    struct place p = layout_slot(g->S, k, i);
    bool lit = is_lit(g, k, i, p);
    layout_slot_text(g->S, k, i, p, text, sizeof text);
    draw_right(c, x, y, slot_style(g, k, i, p, lit), text);
    if (lit) canvas_put(c, x - text_width(text) - 1, y, ST_BAD, '>');
}

static void draw_row_number(struct canvas *c, const struct page *g, int k, int64_t i, int x, int y)
{
    struct place p = layout_slot(g->S, k, i);
    char text[32] = "-";
    if (p.row >= 0) snprintf(text, sizeof text, "%lld", (long long)p.row);
    draw_right(c, x, y, p.row < 0 || p.kind == SLOT_PADDING ? ST_DIM : ST_ROW + (unsigned)(p.row % ROW_COLOURS), text);
}

/* Draw line `line` of a strip: the heading, or a line of a chunk (slot numbers, one of the arrays, or rows). */
static void draw_strip_line(struct canvas *c, const struct page *g, const struct block *b, int64_t line, int y)
{
    int64_t part = (line - 1) % layout_chunk_lines(b), from = (line - 1) / layout_chunk_lines(b) * b->per_line;
    bool ruler = part == 0, rows = part == b->count + 1;
    if (part == b->count + 2) return;
    int k = b->first + (int)part - 1;
    if (rows) k = b->first;
    canvas_text(c, 1, y, ruler || rows ? ST_DIM : ST_BOLD, "%.*s", g->label - 1,
                ruler  ? "slot"
                : rows ? "of row"
                       : g->S->a[k].name);
    for (int64_t i = from; i < b->n && i < from + b->per_line; i++) {
        char text[32];
        int x = g->label + 1 + (int)(i - from + 1) * b->width;
        if (ruler) {
            bool room = snprintf(text, sizeof text, "%lld", (long long)i) < b->width;
            if (room || (i - from) % 4 == 0) draw_right(c, x, y, ST_DIM, text);
        } else if (rows) {
            draw_row_number(c, g, k, i, x, y);
        } else {
            draw_slot(c, g, k, i, x, y);
        }
    }
}

/* Draw a line of a grid. Line 1 has the names of its arrays, line 2 has the numbers of their columns, and each further
   line is a matrix row. */
static void draw_grid_line(struct canvas *c, const struct page *g, const struct block *b, int64_t line, int y)
{
    int64_t row = line - 3, m = g->S->rows;
    char text[32];
    if (row >= m) return;
    snprintf(text, sizeof text, "row %lld", (long long)row);
    if (row >= 0) canvas_text(c, 1, y, ST_ROW + (unsigned)(row % ROW_COLOURS), "%s", text);
    for (int a = 0; a < b->count; a++) {
        int x = g->label + 1 + a * (int)(b->shown + 1) * b->width;
        if (line == 1) canvas_text(c, x + 1, y, ST_BOLD, "%s", g->S->a[b->first + a].name);
        for (int64_t j = 0; j < b->shown && line > 1; j++) {
            int end = x + (int)(j + 1) * b->width;
            snprintf(text, sizeof text, "%lld", (long long)(b->from + j));
            if (line == 2)
                draw_right(c, end, y, ST_DIM, text);
            else
                draw_slot(c, g, b->first + a, (b->from + j) * m + row, end, y);
        }
    }
}

/* Draw the heading, for example "col int32, val fp64: 9 slots". */
static void draw_heading(struct canvas *c, const struct page *g, const struct block *b, int y)
{
    int x = 1;
    for (int k = b->first; k < b->first + b->count; k++) {
        x = canvas_text(c, x, y, ST_BOLD, "%s%s", k > b->first ? ", " : "", g->S->a[k].name);
        x = canvas_text(c, x, y, ST_DIM, " %s", type_name(g->S->a[k].type));
    }
    x = canvas_text(c, x, y, ST_DIM, ": %s", how_many(b->n, "slot").text);
    if (!b->grid) return;
    x = canvas_text(c, x, y, ST_DIM, ", %s of %lld", how_many(b->per_line, "column").text, (long long)g->S->rows);
    if (b->shown < b->per_line)
        canvas_text(c, x, y, ST_DIM, ", %lld to %lld shown", (long long)b->from, (long long)(b->from + b->shown - 1));
    else
        canvas_text(c, x, y, ST_DIM, ", one after the other");
}

void layout_draw_line(struct canvas *c, const struct page *g, const struct block *b, int64_t line, int y)
{
    if (line == 0)
        draw_heading(c, g, b, y);
    else if (b->n == 0)
        return;
    else if (b->grid)
        draw_grid_line(c, g, b, line, y);
    else
        draw_strip_line(c, g, b, line, y);
}
