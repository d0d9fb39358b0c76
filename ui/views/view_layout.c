/* The arrays of a stored matrix slot by slot: the colour shows the row, and padding is marked, as in the figures of
   papers. */
#include "view_layout.h"
#include "base/err.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/format.h"
#include "session/front.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "ui/cmd_view.h"
#include "ui/draw.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- drawing ---- */

/* The line of the cursor's slot, counted over all blocks. */
static int64_t cursor_line(const struct page *g)
{
    int64_t at = 0;
    for (int i = 0; i < g->n; at += g->block[i++].lines) {
        const struct block *b = &g->block[i];
        int k = g->own->array - b->first;
        if (k < 0 || k >= b->count) continue;
        if (b->grid) return at + 3 + g->st->item % g->S->rows;
        return at + 1 + g->st->item / b->per_line * layout_chunk_lines(b) + 1 + k;
    }
    return 0;
}

/* Scroll until the cursor's line and the lines next to it are among the `room` visible lines. */
static void follow(struct view_state *st, int64_t line, int64_t total, int room)
{
    int margin = room > 8 ? 2 : 0;
    if (line - margin - 1 < st->scroll) st->scroll = line - margin - 1;
    if (line + margin + 1 > st->scroll + room) st->scroll = line + margin + 1 - room;
    if (st->scroll > total - room) st->scroll = total - room;
    if (st->scroll < 0) st->scroll = 0;
}

/* Printed text cannot be scrolled, so cut the blocks, after whole chunks, until the beginning of each block fits. */
static void cut(struct page *g, int room)
{
    int64_t left = room;
    for (int i = 0; i < g->n; i++) {
        struct block *b = &g->block[i];
        int64_t share = left / (g->n - i), chunk = b->grid ? 1 : layout_chunk_lines(b);
        if (b->lines > share) b->lines = share < 1 + chunk ? 1 + chunk : 1 + (share - 1) / chunk * chunk;
        left -= b->lines;
    }
}

/* Draw the blocks; returns the line below the blocks. */
static int draw_lines(struct canvas *c, const struct page *g, int room)
{
    int64_t at = 0, scroll = g->st->scroll;
    for (int i = 0; i < g->n; at += g->block[i++].lines) {
        const struct block *b = &g->block[i];
        int64_t from = scroll > at ? scroll - at : 0;
        for (int64_t l = from; l < b->lines && at + l < scroll + room; l++)
            layout_draw_line(c, g, b, l, LAYOUT_TOP + (int)(at + l - scroll));
    }
    return LAYOUT_TOP + (int)(at - scroll < room ? at - scroll : room);
}

static void draw_status(struct canvas *c, const struct page *g)
{
    const struct layout_state *own = g->own;
    const struct view_state *st = g->st;
    char text[32];
    if (own->array >= g->S->narrays || st->item >= g->S->a[own->array].n) return;
    struct place p = g->chosen;
    int x = canvas_text(c, 1, c->h - 2, ST_BOLD, "%s[%lld] ", g->S->a[own->array].name, (long long)st->item);
    const struct array *a = &g->S->a[own->array];
    if (a->role == ROLE_BITS)
        x = canvas_text(c, x, c->h - 2, ST_PLAIN, "= 0x%x", (unsigned)(int)array_real(a, st->item));
    else
        x = canvas_text(c, x, c->h - 2, ST_PLAIN, "= %.10g", array_real(a, st->item));
    if (type_is_complex(a->type)) x = canvas_text(c, x, c->h - 2, ST_PLAIN, "%+.10gi", array_imag(a, st->item));
    x = canvas_text(c, x, c->h - 2, ST_PLAIN, "  ");
    snprintf(text, sizeof text, "%lld", (long long)p.row);
    if (p.kind == SLOT_ENTRY)
        canvas_text(c, x, c->h - 2, ST_PLAIN, "row %s, column %lld", text, (long long)p.col);
    else if (p.kind == SLOT_PADDING)
        canvas_text(c, x, c->h - 2, ST_PLAIN, "padding%s%s", p.row < 0 ? "" : ", row ", p.row < 0 ? "" : text);
    else
        canvas_text(c, x, c->h - 2, ST_PLAIN, p.row < 0 ? "the end" : "row %s begins here", text);
}

/* A text that does not fit in the first line continues in the second line. */
static void title(struct canvas *c, struct session *s, const struct stored *S, bool lit)
{
    char bytes[32], padding[32], params[128] = "", text[256];
    size_t at = 0;
    for (int i = 0; i < PARAMS_MAX && S->format->params[i].name; i++)
        at += (size_t)snprintf(params + at, sizeof params - at, " %s %lld", S->format->params[i].name,
                               (long long)S->param[i]);
    snprintf(text, sizeof text, "%s  %s  %s padding%s", params + (params[0] == ' '),
             show_bytes((double)stored_bytes(S), bytes, sizeof bytes),
             show_count(stored_slots(S) - S->nnz, padding, sizeof padding), lit ? "  > at work in trace" : "");
    const char *rest = text + draw_title(c, S->format->name, s->current, "%s", text);
    canvas_text(c, 1, 1, ST_DIM, "%s", rest + strspn(rest, " "));
}

static int64_t lines_of(const struct page *g)
{
    int64_t total = 0;
    for (int i = 0; i < g->n; i++) total += g->block[i].lines;
    return total;
}

static int lines(struct session *s, const struct view_state *st)
{
    enum { MOST = 1000 };
    const struct stored *S = layout_shown(s, st);
    if (!S) return 0;
    struct page g = layout_page(s, S, st, s->front->width);
    int64_t n = LAYOUT_TOP + lines_of(&g);
    return n < MOST ? (int)n : MOST;
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct layout_state *own = st->own;
    const struct stored *S = layout_shown(s, st);
    if (!S || c->w < layout_label_width(S) + 8) return;
    int room = c->h - LAYOUT_TOP - (st->full ? 2 : 1);
    struct page g = layout_page(s, S, st, c->w);
    int64_t total = lines_of(&g);
    for (int i = 0; i < g.n; i++) {
        const struct block *b = &g.block[i];
        if (own->array < b->first || own->array >= b->first + b->count) continue;
        st->row_step = b->grid ? 1 : b->per_line;
        st->col_step = b->grid ? S->rows : 1;
    }
    if (st->full)
        follow(st, cursor_line(&g), total, room);
    else
        st->scroll = 0;
    bool whole = st->full || total <= room + 1;
    if (!whole) cut(&g, room);
    title(c, s, S, g.nlit);
    int end = draw_lines(c, &g, room);
    if (st->full)
        draw_status(c, &g);
    else if (!whole)
        canvas_text(c, 1, end, ST_DIM, "... %s more; `view layout` scrolls",
                    how_many(total - (end - LAYOUT_TOP), "line").text);
}

/* ---- keys ---- */

/* A new state has no precision. */
static enum precision precision_in(const struct layout_state *own)
{
    return own->format ? own->real : P_F64;
}

static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    struct layout_state *own = st->own;
    own->real = precision_in(own);
    if (!own->format || !format_takes(own->format, &s->current->csr)) own->format = format_native(&s->current->csr);
    own->blocks = 0;
    own->search.on = false;
    own->product =
        session_product(s, form_of(s->current, own->format, own->param_set ? own->param : NULL, own->real), e);
    const struct stored *S = own->product ? &own->product->S : NULL;
    bool outside = S && (own->array >= S->narrays || st->item >= S->a[own->array].n);
    if (outside) own->array = 0, st->item = 0; /* the cursor was set in another format, which had more slots */
    return own->product;
}

static bool prepares_soon(struct session *s, const struct view_state *st)
{
    const struct layout_state *own = st->own;
    const struct format *f = own->format ? own->format : format_native(&s->current->csr);
    return session_is_packed(form_of(s->current, f, own->param_set ? own->param : NULL, precision_in(own)));
}

/* Change to the next format that can store the matrix. */
static void next_format(struct session *s, struct view_state *st)
{
    struct layout_state *own = st->own;
    const struct format *was = own->format;
    int at = 0, n = 0;
    while (formats[n]) n++;
    while (at < n && formats[at] != was) at++;
    own->param_set = false;
    own->array = 0;
    st->item = st->scroll = 0;
    for (int step = 1; step <= n; step++) {
        struct err e = {0};
        own->format = formats[(at + step) % n];
        if (prepare(s, st, &e)) return;
        snprintf(st->message, sizeof st->message, "%.118s", e.text);
    }
    own->format = was;
}

/* Move the cursor by `by` slots. After the end of an array, the cursor enters the next array with slots, in the same
   column. */
static void move(struct view_state *st, const struct stored *S, int64_t by)
{
    struct layout_state *own = st->own;
    int64_t target = st->item + by, line = llabs(by), at = st->item % line;
    int k = own->array, to = by < 0 ? -1 : 1;
    if (target >= 0 && target < S->a[k].n) {
        st->item = target;
        return;
    }
    do k += to;
    while (k >= 0 && k < S->narrays && S->a[k].n == 0);
    if (k < 0 || k >= S->narrays) return;
    int64_t last = S->a[k].n - 1;
    own->array = k;
    st->item = by > 0 ? (at < last ? at : last) : at < last ? last - (last - at) % line : last;
}

static int64_t step_of(const struct view_state *st, int k)
{
    switch (k) {
    case UI_UP:
        return -st->row_step;
    case UI_DOWN:
        return st->row_step;
    case UI_LEFT:
        return -st->col_step;
    case UI_RIGHT:
        return st->col_step;
    case UI_PGUP:
        return -10 * st->row_step;
    case UI_PGDN:
        return 10 * st->row_step;
    default:
        return 0;
    }
}

static bool key(struct session *s, struct view_state *st, int k)
{
    struct layout_state *own = st->own;
    const struct stored *S = layout_shown(s, st);
    if (!S) return false;
    if (k == 'f') {
        next_format(s, st);
        return true;
    }
    if (k == UI_HOME || k == 'g') own->array = 0, st->item = 0;
    if (k == UI_END) own->array = S->narrays - 1, st->item = S->a[own->array].n ? S->a[own->array].n - 1 : 0;
    if (k == 'a') own->array = (own->array + 1) % S->narrays, st->item = 0;
    if (step_of(st, k)) move(st, S, step_of(st, k));
    return true;
}

/* The key that changes the format also stores the matrix in that format. */
static bool changes(const struct session *s, int k)
{
    return k == 'f';
}

/* The element in the chosen slot; for padding and pointers, only the row. */
static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    const struct layout_state *own = st->own;
    const struct stored *S = layout_shown(s, st);
    if (!S || own->array >= S->narrays || st->item >= S->a[own->array].n) return false;
    struct place p = layout_slot(S, own->array, st->item);
    *row = p.row;
    *col = p.kind == SLOT_ENTRY ? p.col : -1;
    return p.row >= 0 && p.row < S->rows;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct layout_state *own = st ? st->own : NULL;
    const char *word[] = {own && own->format ? own->format->name : format_native(&s->current->csr)->name, "of",
                          s->current->name};
    return run_command(s, &command_layout, COUNT(word), word, e);
}

/* Keep the chosen format and precision for the next matrix. */
static void state_reset(void *own)
{
    const struct layout_state *was = own;
    *(struct layout_state *)own = (struct layout_state){.format = was->format, .real = was->real};
}

static void state_free(void *own)
{
    struct layout_state *layout = own;
    layout->product = NULL; /* the product is owned by the session, and a command may have released it */
    layout->blocks = 0;
    layout->search.on = false;
}

static void state_copy(void *to, const void *from)
{
    *(struct layout_state *)to = *(const struct layout_state *)from;
    state_free(to);
}

const struct view view_layout = {
    .name = "layout",
    .about =
        "the arrays of a storage format, slot by slot; slots of one row have one colour, * is padding; rows, columns "
        "and slots are counted from 0",
    .keys = "? help  q leave  arrows choose a slot  a next array  f next format  / go to a row  g first  "
            "PgUp/PgDn ten lines up or down  Home/End first or last slot",
    .rows = (const struct row_kind *const[]){&row_layout_array, &row_layout_complex_array, NULL},
    .large = true,
    .state_size = sizeof(struct layout_state),
    .state_free = state_free,
    .state_reset = state_reset,
    .state_copy = state_copy,
    .prepare = prepare,
    .prepares_soon = prepares_soon,
    .overview = 3,
    .work = layout_work,
    .lines = lines,
    .draw = draw,
    .key = key,
    .changes = changes,
    .go = layout_go,
    .at = at,
    .numbers = numbers,
};
