/* The arrays of a format that the view shows, arranged on the screen: together in strips, or as grids with one line per
 * matrix row. */
#include "advice/traced.h"
#include "base/text.h"
#include "formats/format.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "view_layout.h"
#include "view_state.h"

#include <string.h>

const struct stored *layout_shown(struct session *s, const struct view_state *st)
{
    const struct layout_state *own = st->own;
    for (const struct product *p = s->current->products; p; p = p->next)
        if (p == own->product) return &p->S;
    return NULL;
}

struct place layout_slot(const struct stored *S, int k, int64_t i)
{
    return S->format->where(S, k, i);
}

/* The t-th sample slot. Samples show whether an array is stored by columns, and whether its slots match those of
   another array. */
static int64_t sampled(int64_t n, int64_t t)
{
    return n <= SAMPLE ? t : t * (n / SAMPLE);
}

static int64_t samples(int64_t n)
{
    return n <= SAMPLE ? n : SAMPLE;
}

/* Is the array stored by columns, with one slot per matrix row, as in ELL, DIA and dense? */
static bool is_grid(const struct stored *S, int k)
{
    int64_t n = S->a[k].n, m = S->rows;
    if (m < 2 || n % m || n / m < 2) return false;
    for (int64_t t = 0; t < samples(n); t++) {
        int64_t i = sampled(n, t);
        struct place p = layout_slot(S, k, i);
        if (p.kind == SLOT_POINTER || p.row != i % m) return false;
    }
    return true;
}

/* Do slot i of one array and slot i of the other refer to the same entry, for every i? */
static bool go_together(const struct stored *S, int k, int l)
{
    if (S->a[k].n != S->a[l].n) return false;
    for (int64_t t = 0; t < samples(S->a[k].n); t++) {
        int64_t i = sampled(S->a[k].n, t);
        struct place p = layout_slot(S, k, i), q = layout_slot(S, l, i);
        if (p.kind != q.kind || p.row != q.row) return false;
    }
    return true;
}

char *layout_slot_text(const struct stored *S, int k, int64_t i, struct place p, char *out, size_t size)
{
    if (p.kind == SLOT_PADDING)
        snprintf(out, size, "*");
    else if (S->a[k].role == ROLE_BITS)
        snprintf(out, size, "0x%x", (unsigned)(int)array_real(&S->a[k], i));
    else if (type_is_integer(S->a[k].type))
        snprintf(out, size, "%.0f", array_real(&S->a[k], i));
    else if (type_is_complex(S->a[k].type))
        snprintf(out, size, "%.3g%+.3gi", array_real(&S->a[k], i), array_imag(&S->a[k], i));
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
            struct place p = layout_slot(S, k, i);
            int w = (int)strlen(layout_slot_text(S, k, i, p, text, sizeof text));
            int r = b->grid ? 0 : snprintf(text, sizeof text, "%lld", (long long)p.row);
            if (w > width) width = w;
            if (r > width) width = r;
        }
    int index = snprintf(text, sizeof text, "%lld", (long long)(b->n > 1000 ? 0 : b->n));
    return (index > width ? index : width) + 1;
}

int64_t layout_chunk_lines(const struct block *b)
{
    return b->count + 3; /* lines for slot numbers, the arrays and rows, and a blank line */
}

/* Choose which columns of a grid to show: as many as fit, including the cursor's column. */
static void fit_grid(const struct page *g, struct block *b, int room)
{
    int64_t fits = room / (b->width * b->count) - 1;
    if (fits < 1) fits = 1;
    b->shown = b->per_line < fits ? b->per_line : fits;
    int64_t at = g->own->array >= b->first && g->own->array < b->first + b->count ? g->st->item / g->S->rows : 0;
    b->from = at < b->shown ? 0 : at - b->shown + 1;
    b->lines = g->S->rows + 4; /* lines for the heading, names and column numbers, and a blank line */
}

static void measure(const struct page *g, struct block *b, int w)
{
    int room = w - g->label - 2;
    b->per_line = b->grid ? b->n / g->S->rows : room / b->width > 0 ? room / b->width : 1;
    if (b->grid)
        fit_grid(g, b, room);
    else
        b->lines = 1 + (b->n + b->per_line - 1) / b->per_line * layout_chunk_lines(b);
    if (b->n == 0) b->lines = 2;
}

/* The width of the longest name or of the last row number, whichever is wider, up to LABEL_MAX. */
int layout_label_width(const struct stored *S)
{
    char text[32];
    int w = snprintf(text, sizeof text, "row %lld ", (long long)S->rows);
    if (w < LABEL_MIN) w = LABEL_MIN;
    for (int k = 0; k < S->narrays; k++)
        if (text_width(S->a[k].name) + 1 > w) w = text_width(S->a[k].name) + 1;
    return w < LABEL_MAX ? w : LABEL_MAX;
}

/* Group the arrays into blocks. This is done once per product, because the grouping reads samples of all arrays. */
static void arrange(struct layout_state *own, const struct stored *S)
{
    own->blocks = 0;
    for (int k = 0; k < S->narrays; k++) {
        struct block *last = own->blocks ? &own->block[own->blocks - 1] : NULL;
        bool grid = is_grid(S, k);
        if (last && last->grid == grid && go_together(S, last->first, k))
            last->count++;
        else
            own->block[own->blocks++] = (struct block){.first = k, .count = 1, .n = S->a[k].n, .grid = grid};
    }
    for (int i = 0; i < own->blocks; i++) own->block[i].width = slot_width(S, &own->block[i]);
}

struct page layout_page(const struct session *s, const struct stored *S, const struct view_state *st, int w)
{
    struct layout_state *own = st->own;
    struct page g = {.s = s, .S = S, .st = st, .own = own, .label = layout_label_width(S)};
    g.nlit = traced_elements(s, s->current, g.lit);
    if (!own->blocks) arrange(own, S);
    g.n = own->blocks;
    memcpy(g.block, own->block, sizeof g.block);
    for (int i = 0; i < g.n; i++) measure(&g, &g.block[i], w);
    if (own->array < S->narrays && st->item < S->a[own->array].n) g.chosen = layout_slot(S, own->array, st->item);
    return g;
}
