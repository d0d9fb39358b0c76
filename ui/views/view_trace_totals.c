/* The legend, the totals up to the current step, and a description of the chosen lane. */
#include "base/text.h"
#include "microscope/tracing.h"
#include "view_trace.h"

#include <string.h>

int trace_view_legend(struct canvas *c, const struct frame *f, int y)
{
    const struct scope *s = &f->v->t.scope;
    char letter[SCOPE_ARRAYS];
    int x = 1;
    if (!f->legend) return y;
    trace_view_letters(s, letter);
    x = canvas_text(c, x, y, ST_PAD, "*");
    x = canvas_text(c, x, y, ST_DIM, " padding  ");
    canvas_put(c, x, y, ST_DIM, 0xb7);
    x = canvas_text(c, x + 1, y, ST_DIM, " inactive  blank done  capital store ");
    for (int a = 0; a < s->narrays && x + (int)strlen(s->array[a].name) + 5 < c->w; a++) {
        struct access_site p = {.array = a};
        x = canvas_text(c, x + 2 - !a, y, trace_view_style(&p), "%c", letter[a]);
        if (s->array[a].name[1]) x = canvas_text(c, x, y, ST_DIM, " %s", s->array[a].name);
    }
    canvas_put(c, 1, y + 1, ST_GOOD, c->ascii ? '#' : 0x2588);
    x = canvas_text(c, 3, y + 1, ST_DIM, "useful  ");
    canvas_put(c, x, y + 1, ST_WARN, c->ascii ? '=' : 0x2592);
    x = canvas_text(c, x + 2, y + 1, ST_DIM, "useful, but fetched again: ");
    x = canvas_text(c, x, y + 1, ST_WARN, "( )");
    x = canvas_text(c, x + 2, y + 1, ST_PAD, "*");
    x = canvas_text(c, x, y + 1, ST_DIM, " padding  ");
    canvas_put(c, x, y + 1, ST_DIM, 0xb7);
    canvas_text(c, x + 1, y + 1, ST_DIM, " fetched, not used");
    return y + f->legend;
}

struct pen {
    int x, y, end; /* no totals are drawn on line `end` or below */
};

static void item(struct canvas *c, struct pen *at, const char *name, const char *value)
{
    if (at->x > 1 && at->x + text_width(name) + 1 + text_width(value) > c->w) *at = (struct pen){1, at->y + 1, at->end};
    if (at->y >= at->end) return;
    int x = canvas_text(c, at->x, at->y, ST_DIM, "%s ", name);
    at->x = canvas_text(c, x, at->y, ST_BOLD, "%s", value) + 2;
}

static void item_count(struct canvas *c, struct pen *at, const char *name, int64_t n)
{
    char text[32];
    item(c, at, name, show_count(n, text, sizeof text));
}

static void item_ratio(struct canvas *c, struct pen *at, const char *name, int64_t a, int64_t b)
{
    char text[32] = "-";
    if (b) snprintf(text, sizeof text, "%.2f", (double)a / (double)b);
    item(c, at, name, text);
}

static void item_of(struct canvas *c, struct pen *at, const char *name, int64_t n, int64_t least)
{
    char text[64], a[32], b[32];
    if (!n) return;
    snprintf(text, sizeof text, "%s (least %s)", show_count(n, a, sizeof a), show_count(least, b, sizeof b));
    item(c, at, name, text);
}

static void item_bytes(struct canvas *c, struct pen *at, const char *name, int64_t n, int64_t all)
{
    char text[64], a[32];
    snprintf(text, sizeof text, "%s B %.0f%%", show_count(n, a, sizeof a), all ? 100.0 * (double)n / (double)all : 0.0);
    item(c, at, name, text);
}

int trace_view_totals(struct canvas *c, const struct trace_sums *t, int y, int lines)
{
    struct pen at = {1, y, y + lines};
    int64_t fetched = t->sectors * SECTOR;
    item_count(c, &at, "requests", t->requests);
    item_of(c, &at, "sectors", t->sectors, t->least);
    item_ratio(c, &at, "per request", t->sectors, t->requests);
    item_ratio(c, &at, "active lanes", t->lanes, t->steps);
    item_bytes(c, &at, "useful", t->bytes - t->padding, fetched);
    item_bytes(c, &at, "padding", t->padding, fetched);
    item_bytes(c, &at, "unused", t->unused, fetched);
    item_bytes(c, &at, "fetched again", t->refetched * SECTOR, fetched);
    item_of(c, &at, "wavefronts", t->wavefronts, t->wavefronts_least);
    if (t->contended) item_count(c, &at, "contended", t->contended);
    return at.y + 1 < y + lines ? at.y + 1 : y + lines;
}

/* Draw, for example, "lane 3: val[6], byte 48, row 2, column 3". */
void trace_view_lane(struct canvas *c, const struct tracing *v, int y)
{
    static const char *const states[] = {"is active", "is inactive, because it has diverged from the other lanes",
                                         "is done", "has nothing to do"};
    struct lane_at at = tracing_lane(v, v->at, v->lane);
    int x = canvas_text(c, 1, y, ST_BOLD, "lane %d: ", v->lane), array = tracing_site(v, v->at)->array;
    if (at.has_index)
        x = canvas_text(c, x, y, ST_PLAIN, "%s[%lld], byte %lld", tracing_array(v, v->at), (long long)at.index,
                        (long long)at.index * v->t.scope.array[array].size);
    else
        x = canvas_text(c, x, y, ST_PLAIN, "%s", states[at.state]);
    if (at.row >= 0) x = canvas_text(c, x, y, ST_PLAIN, ", row %lld", (long long)at.row);
    if (at.padding) x = canvas_text(c, x, y, ST_PAD, ", padding");
    if (!at.padding && at.col >= 0) canvas_text(c, x, y, ST_PLAIN, ", column %lld", (long long)at.col);
}
