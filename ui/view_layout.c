/* The arrays of a stored matrix slot by slot, each coloured by its row, padding marked, as the papers draw them. */
#include "cmd_view.h"
#include "view_layout.h"

#include "../src/tracing.h"

#include <string.h>

enum { SAMPLE = 1024, LABEL_LEAST = 8, LABEL_MOST = 24, TOP = 2 };

/* Arrays drawn together: side by side slots in a strip, or beside each other as grids of one matrix row a line. */
struct block {
    int first, count; /* arrays first .. first+count-1, all of n slots */
    int64_t n, lines;
    bool grid;
    int width;           /* characters a slot */
    int64_t per_line;    /* strip: slots in a line; grid: columns of each array */
    int64_t from, shown; /* grid: the columns there is room for */
};

struct page {
    const struct session *s;
    const struct stored *S;
    const struct view_state *st;
    const struct layout_state *own;
    struct block block[ARRAYS_MAX];
    int n;
    int label;               /* columns for the names at the left */
    struct place chosen;     /* of the slot under the cursor */
    struct place lit[LANES]; /* elements that the lanes of the trace are at */
    int nlit;
};

static struct place place_of(const struct stored *S, int k, int64_t i)
{
    return S->format->where(S, k, i);
}

/* The t-th of the slots looked at to learn what an array is like. */
static int64_t sampled(int64_t n, int64_t t)
{
    return n <= SAMPLE ? t : t * (n / SAMPLE);
}

static int64_t samples(int64_t n)
{
    return n <= SAMPLE ? n : SAMPLE;
}

/* Column by column with one slot for each matrix row: as ELL, DIA and dense are. */
static bool is_grid(const struct stored *S, int k)
{
    int64_t n = S->a[k].n, m = S->rows;
    if (m < 2 || n % m || n / m < 2) return false;
    for (int64_t t = 0; t < samples(n); t++) {
        int64_t i = sampled(n, t);
        struct place p = place_of(S, k, i);
        if (p.kind == SLOT_POINTER || p.row != i % m) return false;
    }
    return true;
}

/* Slot i of both arrays belongs to the same thing, for every i. */
static bool go_together(const struct stored *S, int k, int l)
{
    if (S->a[k].n != S->a[l].n) return false;
    for (int64_t t = 0; t < samples(S->a[k].n); t++) {
        int64_t i = sampled(S->a[k].n, t);
        struct place p = place_of(S, k, i), q = place_of(S, l, i);
        if (p.kind != q.kind || p.row != q.row) return false;
    }
    return true;
}

static char *slot_text(const struct stored *S, int k, int64_t i, char *out, size_t size)
{
    if (place_of(S, k, i).kind == SLOT_PADDING)
        snprintf(out, size, "*");
    else if (S->a[k].type == T_I32 || S->a[k].type == T_I64)
        snprintf(out, size, "%.0f", array_real(&S->a[k], i));
    else
        snprintf(out, size, "%.3g", array_real(&S->a[k], i));
    return out;
}

static int slot_width(const struct stored *S, const struct block *b)
{
    int width = 2;
    char text[32];
    for (int k = b->first; k < b->first + b->count; k++)
        for (int64_t t = 0; t < samples(b->n); t++) {
            int64_t i = sampled(b->n, t);
            int w = (int)strlen(slot_text(S, k, i, text, sizeof text));
            int r = b->grid ? 0 : snprintf(text, sizeof text, "%lld", (long long)place_of(S, k, i).row);
            if (w > width) width = w;
            if (r > width) width = r;
        }
    int index = snprintf(text, sizeof text, "%lld", (long long)(b->n > 1000 ? 0 : b->n));
    return (index > width ? index : width) + 1;
}

static int64_t chunk_lines(const struct block *b)
{
    return b->count + 3; /* slot numbers, the arrays, rows, a blank line */
}

/* The columns of a grid that fit, around the cursor's. */
static void fit_grid(const struct page *g, struct block *b, int room)
{
    int64_t fits = room / (b->width * b->count) - 1;
    if (fits < 1) fits = 1;
    b->shown = b->per_line < fits ? b->per_line : fits;
    int64_t at = g->own->array >= b->first && g->own->array < b->first + b->count ? g->st->item / g->S->rows : 0;
    b->from = at < b->shown ? 0 : at - b->shown + 1;
    b->lines = g->S->rows + 4; /* heading, names, column numbers, a blank line */
}

static void measure(const struct page *g, struct block *b, int w)
{
    int room = w - g->label - 2;
    b->width = slot_width(g->S, b);
    b->per_line = b->grid ? b->n / g->S->rows : room / b->width > 0 ? room / b->width : 1;
    if (b->grid)
        fit_grid(g, b, room);
    else
        b->lines = 1 + (b->n + b->per_line - 1) / b->per_line * chunk_lines(b);
    if (b->n == 0) b->lines = 2;
}

/* Room for the longest name, and for the number of the last row. */
static int label_width(const struct stored *S)
{
    char text[32];
    int w = snprintf(text, sizeof text, "row %lld ", (long long)S->rows);
    if (w < LABEL_LEAST) w = LABEL_LEAST;
    for (int k = 0; k < S->narrays; k++)
        if (text_width(S->a[k].name) + 1 > w) w = text_width(S->a[k].name) + 1;
    return w < LABEL_MOST ? w : LABEL_MOST;
}

static struct page page_of(const struct session *s, const struct stored *S, const struct view_state *st, int w)
{
    const struct layout_state *own = st->own;
    struct page g = {.s = s, .S = S, .st = st, .own = st->own, .label = label_width(S)};
    g.nlit = trace_lit(s, s->current, g.lit);
    for (int k = 0; k < S->narrays; k++) {
        struct block *last = g.n ? &g.block[g.n - 1] : NULL;
        bool grid = is_grid(S, k);
        if (last && last->grid == grid && go_together(S, last->first, k))
            last->count++;
        else
            g.block[g.n++] = (struct block){.first = k, .count = 1, .n = S->a[k].n, .grid = grid};
    }
    for (int i = 0; i < g.n; i++) measure(&g, &g.block[i], w);
    if (own->array < S->narrays && st->item < S->a[own->array].n) g.chosen = place_of(S, own->array, st->item);
    return g;
}

/* ---- drawing ---- */

/* Is a lane of the trace at this slot, or at the element that it holds? */
static bool is_lit(const struct page *g, int k, int64_t i)
{
    struct place p = place_of(g->S, k, i);
    for (int n = 0; n < g->nlit && p.kind == SLOT_ENTRY; n++)
        if (g->lit[n].row == p.row && g->lit[n].col == p.col) return true;
    return trace_slot_lit(g->s, g->S, k, i);
}

/* The style of a slot: the colour of its row; the cursor for the chosen one and all that hold the same entry. */
static enum style slot_style(const struct page *g, int k, int64_t i)
{
    struct place p = place_of(g->S, k, i);
    bool same =
        p.kind == SLOT_ENTRY && g->chosen.kind == SLOT_ENTRY && p.row == g->chosen.row && p.col == g->chosen.col;
    if (g->st->full && (same || (k == g->own->array && i == g->st->item))) return ST_CURSOR;
    if (is_lit(g, k, i)) return ST_BAD;
    if (p.kind == SLOT_PADDING) return ST_PAD;
    return p.row < 0 ? ST_DIM : ST_ROW + (unsigned)(p.row % ROW_COLOURS);
}

static void draw_slot(struct canvas *c, const struct page *g, int k, int64_t i, int x, int y)
{
    char text[32];
    slot_text(g->S, k, i, text, sizeof text);
    draw_right(c, x, y, slot_style(g, k, i), text);
    if (is_lit(g, k, i)) canvas_put(c, x - text_width(text) - 1, y, ST_BAD, '>');
}

static void draw_row_number(struct canvas *c, const struct page *g, int k, int64_t i, int x, int y)
{
    struct place p = place_of(g->S, k, i);
    char text[32] = "-";
    if (p.row >= 0) snprintf(text, sizeof text, "%lld", (long long)p.row);
    draw_right(c, x, y, p.row < 0 || p.kind == SLOT_PADDING ? ST_DIM : ST_ROW + (unsigned)(p.row % ROW_COLOURS), text);
}

/* Line `line` of a strip: its heading, or of some chunk the slot numbers, one of the arrays, or the rows. */
static void draw_strip_line(struct canvas *c, const struct page *g, const struct block *b, int64_t line, int y)
{
    int64_t part = (line - 1) % chunk_lines(b), from = (line - 1) / chunk_lines(b) * b->per_line;
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

/* Line 1 of a grid names its arrays, line 2 numbers their columns, each further one is a matrix row. */
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

/* "col int32, val fp64: 9 slots" */
static void draw_heading(struct canvas *c, const struct page *g, const struct block *b, int y)
{
    int x = 1;
    for (int k = b->first; k < b->first + b->count; k++) {
        x = canvas_text(c, x, y, ST_BOLD, "%s%s", k > b->first ? ", " : "", g->S->a[k].name);
        x = canvas_text(c, x, y, ST_DIM, " %s", type_name(g->S->a[k].type));
    }
    x = canvas_text(c, x, y, ST_DIM, ": %s", how_many(b->n, "slot").text);
    if (!b->grid) return;
    canvas_text(c, x, y, ST_DIM, ", %s of %lld, one after the other", how_many(b->per_line, "column").text,
                (long long)g->S->rows);
}

static void draw_line(struct canvas *c, const struct page *g, const struct block *b, int64_t line, int y)
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

/* The line the cursor's slot is on, counted over all blocks. */
static int64_t cursor_line(const struct page *g)
{
    int64_t at = 0;
    for (int i = 0; i < g->n; at += g->block[i++].lines) {
        const struct block *b = &g->block[i];
        int k = g->own->array - b->first;
        if (k < 0 || k >= b->count) continue;
        if (b->grid) return at + 3 + g->st->item % g->S->rows;
        return at + 1 + g->st->item / b->per_line * chunk_lines(b) + 1 + k;
    }
    return 0;
}

/* Scroll so that the cursor's line and its neighbours are among the `room` lines shown. */
static void follow(struct view_state *st, int64_t line, int64_t total, int room)
{
    int margin = room > 8 ? 2 : 0;
    if (line - margin - 1 < st->scroll) st->scroll = line - margin - 1;
    if (line + margin + 1 > st->scroll + room) st->scroll = line + margin + 1 - room;
    if (st->scroll > total - room) st->scroll = total - room;
    if (st->scroll < 0) st->scroll = 0;
}

/* Text cannot be scrolled: cut the blocks, at whole chunks, so that there is room for the beginning of each. */
static void cut(struct page *g, int room)
{
    int64_t left = room;
    for (int i = 0; i < g->n; i++) {
        struct block *b = &g->block[i];
        int64_t share = left / (g->n - i), chunk = b->grid ? 1 : chunk_lines(b);
        if (b->lines > share) b->lines = share < 1 + chunk ? 1 + chunk : 1 + (share - 1) / chunk * chunk;
        left -= b->lines;
    }
}

/* The line of the screen below them. */
static int draw_lines(struct canvas *c, const struct page *g, int room)
{
    int64_t at = 0, scroll = g->st->scroll;
    for (int i = 0; i < g->n; at += g->block[i++].lines) {
        const struct block *b = &g->block[i];
        int64_t from = scroll > at ? scroll - at : 0;
        for (int64_t l = from; l < b->lines && at + l < scroll + room; l++)
            draw_line(c, g, b, l, TOP + (int)(at + l - scroll));
    }
    return TOP + (int)(at - scroll < room ? at - scroll : room);
}

static void draw_status(struct canvas *c, const struct page *g)
{
    const struct layout_state *own = g->own;
    const struct view_state *st = g->st;
    char text[32];
    if (own->array >= g->S->narrays || st->item >= g->S->a[own->array].n) return;
    struct place p = g->chosen;
    int x = canvas_text(c, 1, c->h - 2, ST_BOLD, "%s[%lld] ", g->S->a[own->array].name, (long long)st->item);
    x = canvas_text(c, x, c->h - 2, ST_PLAIN, "= %.10g  ", array_real(&g->S->a[own->array], st->item));
    snprintf(text, sizeof text, "%lld", (long long)p.row);
    if (p.kind == SLOT_ENTRY)
        canvas_text(c, x, c->h - 2, ST_PLAIN, "row %s, column %lld", text, (long long)p.col);
    else if (p.kind == SLOT_PADDING)
        canvas_text(c, x, c->h - 2, ST_PLAIN, "padding%s%s", p.row < 0 ? "" : ", row ", p.row < 0 ? "" : text);
    else
        canvas_text(c, x, c->h - 2, ST_PLAIN, p.row < 0 ? "the end" : "row %s begins here", text);
}

static const struct stored *shown(struct session *s, const struct view_state *st)
{
    const struct layout_state *own = st->own;
    for (const struct product *p = s->current->products; p; p = p->next)
        if (p == own->product) return &p->S;
    return NULL;
}

static void title(struct canvas *c, struct session *s, const struct stored *S, bool lit)
{
    char bytes[32], padding[32], params[128] = "";
    size_t at = 0;
    for (int i = 0; i < PARAMS_MAX && S->format->params[i].name; i++)
        at += (size_t)snprintf(params + at, sizeof params - at, " %s %lld", S->format->params[i].name,
                               (long long)S->param[i]);
    draw_title(c, S->format->name, s->current, "%s  %s  %s padding%s", params + (params[0] == ' '),
               show_bytes((double)stored_bytes(S), bytes, sizeof bytes),
               show_count(stored_slots(S) - S->nnz, padding, sizeof padding), lit ? "  > at work in trace" : "");
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct layout_state *own = st->own;
    const struct stored *S = shown(s, st);
    if (!S || c->w < label_width(S) + 8) return;
    int room = c->h - TOP - (st->full ? 2 : 1);
    struct page g = page_of(s, S, st, c->w);
    int64_t total = 0;
    for (int i = 0; i < g.n; i++) {
        const struct block *b = &g.block[i];
        total += b->lines;
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
                    how_many(total - (end - TOP), "line").text);
}

/* ---- keys ---- */

static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    struct layout_state *own = st->own;
    if (!own->format) own->format = format_find("csr");
    enum type real = own->real == T_F32 ? T_F32 : T_F64;
    own->product = session_product(s, s->current, own->format, own->param_set ? own->param : NULL, real, false, e);
    if (own->product && own->array >= own->product->S.narrays) own->array = 0, st->item = 0;
    return own->product;
}

/* The next format that takes the matrix. */
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

/* Move by slots; past an array's end lies the next array that has any, entered in the same place of a line. */
static void move(struct view_state *st, const struct stored *S, int64_t by)
{
    struct layout_state *own = st->own;
    int64_t target = st->item + by, line = by < 0 ? -by : by, at = st->item % line;
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
    const struct stored *S = shown(s, st);
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

static bool is_entry(const struct stored *S, int k, int64_t i, int64_t row, int64_t col)
{
    struct place p = place_of(S, k, i);
    return p.kind == SLOT_ENTRY && p.row == row && (col < 0 || p.col == col);
}

/* Choose the first slot of an array that holds an entry of the row, in this column where one is given. Entry `likely`
   of the matrix has that slot in formats that keep its order. */
static bool find_slot(struct view_state *st, const struct stored *S, int k, int64_t likely, int64_t row, int64_t col)
{
    struct layout_state *own = st->own;
    int64_t i = likely;
    if (i >= S->a[k].n || !is_entry(S, k, i, row, col))
        for (i = 0; i < S->a[k].n && !is_entry(S, k, i, row, col);) i++;
    if (i == S->a[k].n) return false;
    own->array = k;
    st->item = i;
    return true;
}

static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    const struct layout_state *own = st->own;
    const struct stored *S = shown(s, st);
    const struct csr *A = &s->current->csr;
    int64_t likely = col >= 0 ? csr_find(A, row, col) : csr_row_length(A, row) ? A->rowptr[row] : -1;
    if (likely < 0) return false;
    for (int k = 0; S && k < S->narrays; k++)
        if (find_slot(st, S, (own->array + k) % S->narrays, likely, row, col)) return true;
    return false;
}

/* The element whose slot is chosen; of padding and pointers the row. */
static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    const struct layout_state *own = st->own;
    const struct stored *S = shown(s, st);
    if (!S || own->array >= S->narrays || st->item >= S->a[own->array].n) return false;
    struct place p = place_of(S, own->array, st->item);
    *row = p.row;
    *col = p.kind == SLOT_ENTRY ? p.col : -1;
    return p.row >= 0 && p.row < S->rows;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct layout_state *own = st ? st->own : NULL;
    (void)w, (void)h;
    const char *word[] = {own && own->format ? own->format->name : "csr", "of", s->current->name};
    return run_command(s, &command_layout, COUNT(word), word, e);
}

/* The format outlives its matrix. */
static void state_reset(void *own)
{
    const struct layout_state *was = own;
    *(struct layout_state *)own = (struct layout_state){.format = was->format, .real = was->real};
}

static void state_free(void *own)
{
    ((struct layout_state *)own)->product = NULL; /* the session's; a command may have dropped it */
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
    .state_size = sizeof(struct layout_state),
    .state_free = state_free,
    .state_reset = state_reset,
    .state_copy = state_copy,
    .prepare = prepare,
    .draw = draw,
    .key = key,
    .go = go,
    .at = at,
    .numbers = numbers,
};
