/* The memories of the host beside those of a GPU. The length of a bar is the logarithm of a size, from 1 kB to 1 TB. */
#include "advice/memories.h"
#include "base/text.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum { TOP = 4, EACH = 3, NARROW = 60 };

struct memories_state {
    bool known;
    struct memories of;
};

/* ---- one memory ---- */

/* From 1 kB to 1 TB. */
static double share_of_bytes(double bytes)
{
    double share = log10(bytes / 1e3) / 9;
    return share < 0.02 ? 0.02 : share > 1 ? 1 : share;
}

static void size_words(const struct memory *one, char *out, size_t size)
{
    char each[32], all[32];
    if (!(one->bytes > 0))
        snprintf(out, size, "size not known");
    else if (one->count > 1)
        snprintf(out, size, "%.0f x %s = %s", one->count, show_bytes(one->bytes, each, sizeof each),
                 show_bytes(one->bytes * one->count, all, sizeof all));
    else
        snprintf(out, size, "%s%s%s", show_bytes(one->bytes, each, sizeof each), isnan(one->count) ? " per " : "",
                 isnan(one->count) ? one->of : "");
}

static void speed_words(const struct memory *one, char *out, size_t size)
{
    char gbs[40] = "", wait[40] = "";
    if (one->gbs > 0) snprintf(gbs, sizeof gbs, "%.0f GB/s %s", one->gbs, one->gbs_how);
    if (one->latency_ns > 0) snprintf(wait, sizeof wait, "%.0f ns", one->latency_ns);
    snprintf(out, size, "%s%s%s", gbs, *gbs && *wait ? ", " : "", wait);
}

static void draw_size(struct canvas *c, const struct memory *one, int x, int y, int w)
{
    bool whole = one->count > 1;
    enum style st = one->side == MEMORY_GPU ? ST_ROW : ST_ROW + 1;
    double all = share_of_bytes(whole ? one->bytes * one->count : one->bytes);
    if (!(one->bytes > 0)) return;
    if (!c->figure) {
        draw_bar(c, x, y, w, all, st);
        return;
    }
    figure_rect(c->figure, st, whole ? 0.5 : 1, x, y + 0.15, w * all, 0.7);
    if (whole) figure_rect(c->figure, st, 1, x, y + 0.15, w * share_of_bytes(one->bytes), 0.7);
}

static void draw_memory(struct canvas *c, const struct memory *one, int x, int y, int w)
{
    char size[80], speed[96];
    size_words(one, size, sizeof size);
    speed_words(one, speed, sizeof speed);
    int at = canvas_text(c, x, y, ST_BOLD, "%.*s", w, one->name);
    if (at + 2 + (int)strlen(size) <= x + w) canvas_text(c, at + 2, y, ST_PLAIN, "%s", size);
    draw_size(c, one, x, y + 1, w);
    canvas_text(c, x, y + 2, ST_DIM, "%.*s", w, *speed ? speed : one->about);
}

/* ---- both sides ---- */

static int draw_side(struct canvas *c, const struct memories *m, enum memory_side side, int x, int y, int w, int bottom)
{
    for (int i = 0; i < m->n; i++) {
        if (m->of[i].side != side || y + EACH > bottom) continue;
        draw_memory(c, &m->of[i], x, y, w);
        y += EACH;
    }
    return y;
}

static void draw_heads(struct canvas *c, const struct memories *m, int left, int right, int w)
{
    canvas_text(c, left, 2, ST_TITLE, "%.*s", w, m->host);
    canvas_text(c, right, 2, ST_TITLE, "%.*s", w, m->gpu);
    char text[96];
    snprintf(text, sizeof text, "%d multiprocessors, %.0f GFLOP/s fp32", m->sms, m->fp32_gflops);
    canvas_text(c, right, 3, ST_DIM, "%.*s", w, text);
    canvas_text(c, left, 3, ST_DIM, "%.*s", w, "few threads, large caches");
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct memories_state *own = st->own;
    int bottom = c->h - (st->full ? 1 : 0), w = (c->w - 4) / 2, left = 1, right = w + 3;
    draw_title(c, "memories", NULL, " ");
    if (!own->known) {
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "the GPU's ceilings could not be measured");
        return;
    }
    canvas_text(c, 1, 1, ST_DIM, "%.*s", c->w - 2,
                c->figure ? "bars: log of the size, 1 kB to 1 TB; bright: one of several"
                          : "bars: log of the size, 1 kB to 1 TB");
    if (c->w < NARROW) {
        w = c->w - 2;
        int y = draw_side(c, &own->of, MEMORY_GPU, left, 2, w, bottom);
        draw_side(c, &own->of, MEMORY_HOST, left, y, w, bottom);
        return;
    }
    draw_heads(c, &own->of, left, right, w);
    draw_side(c, &own->of, MEMORY_HOST, left, TOP, w, bottom);
    draw_side(c, &own->of, MEMORY_GPU, right, TOP, w, bottom);
}

/* ---- the view ---- */

static bool exists(const struct session *s)
{
    return s->memories_asked;
}

static bool prepare(struct session *s, struct view_state *st, struct err *e)
{
    struct memories_state *own = st->own;
    own->known = memories_of(s, &own->of, e);
    return own->known;
}

static bool key(struct session *s, struct view_state *st, int k)
{
    return false;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    struct memories m;
    if (!memories_of(s, &m, e)) return false;
    out_memories(s, &m);
    return true;
}

static void state_copy(void *to, const void *from) {}

const struct view view_memories = {
    .name = "memories",
    .about = "the memories of this host beside those of a GPU: sizes, bandwidths and latencies",
    .keys = "? help  q leave",
    .rows = (const struct row_kind *const[]){&row_memory, NULL},
    .any = true,
    .large = true,
    .state_size = sizeof(struct memories_state),
    .state_copy = state_copy,
    .exists = exists,
    .prepare = prepare,
    .draw = draw,
    .key = key,
    .numbers = numbers,
};
