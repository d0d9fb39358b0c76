/* The rows or warps of the chosen bin. */
#include "base/text.h"
#include "matrix/csr.h"
#include "ui/canvas.h"
#include "view_rows.h"
#include "view_state.h"

/* The bins that can be chosen: row lengths or warp costs. */
void rows_bins(const struct view_state *st, struct histogram *g)
{
    const struct rows_state *rows = st->own;
    if (rows->mode == WARPS)
        *g = rows->warps.costs;
    else
        histogram_from(&rows->lengths, rows->bins, g);
}

/* Rows are listed one by one; each warp is listed by its first row. */
int64_t rows_stride(const struct view_state *st)
{
    const struct rows_state *rows = st->own;
    return rows->mode == WARPS ? WARP_ROWS : 1;
}

bool rows_is_member(const struct view_state *st, const struct histogram *g, int64_t row)
{
    const struct rows_state *rows = st->own;
    const struct csr *A = rows->lengths.A;
    int64_t v = rows->mode == WARPS ? (int64_t)(warp_cost(A, row) * HUNDREDTHS) : csr_row_length(A, row);
    return st->item < g->n && v >= g->from[st->item] && v < g->from[st->item + 1];
}

/* The first row of the bin at or after `row` (by = 1), or the last row at or before `row` (by = -1); -1: there is
   none. */
int64_t rows_member_from(const struct view_state *st, const struct histogram *g, int64_t row, int by)
{
    int64_t stride = rows_stride(st);
    if (st->item >= g->n || !g->count[st->item]) return -1;
    for (int64_t r = row / stride * stride; r >= 0 && r < st->rows; r += by * stride)
        if (rows_is_member(st, g, r)) return r;
    return -1;
}

/* "17", "64-95 (1.73x)" */
char *rows_member_name(const struct view_state *st, int64_t row, char *out, size_t size)
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

/* Draw as many row numbers of the chosen bin as fit, beginning with the cursor's row. */
void rows_draw_members(struct canvas *c, const struct view_state *st, const struct histogram *g, const char *bin, int y)
{
    const struct rows_state *rows = st->own;
    char text[96];
    int x = canvas_text(c, 1, y, ST_DIM, rows->mode == WARPS ? "warps of cost %s:" : "rows of length %s:", bin);
    bool first = true;
    for (int64_t r = rows_member_from(st, g, st->row, 1); r >= 0; r = rows_member_from(st, g, r + rows_stride(st), 1)) {
        rows_member_name(st, r, text, sizeof text);
        if (!first && x + text_width(text) + 6 > c->w) {
            canvas_text(c, x, y, ST_DIM, " ...");
            return;
        }
        x = canvas_text(c, x + 1, y, first ? ST_CURSOR : ST_PLAIN, "%s", text);
        first = false;
    }
}
