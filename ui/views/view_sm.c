/* The life of one multiprocessor: a line per warp slot, time from left to right, and below it why no warp was ready. */
#include "advice/sm_lives.h"
#include "base/precision.h"
#include "base/text.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum { LEFT = 6, TOP = 3, MIN_W = 10, MIN_H = 3, LABEL = 30 };

struct sm_state_of_view {
    int chosen; /* occupancy, 1 + its index; 0: the one that the command chose */
};

static const struct look_of_state {
    const char *name;
    enum style style;
    uint32_t glyph;
    char ascii;
} looks[SM_STATES] = {
    [SM_READY] = {"ready", ST_GOOD, 0x2588, '#'},
    [SM_WORKING] = {"arithmetic", ST_BAR, '+', '+'},
    [SM_MEMORY] = {"waits for memory", ST_WARN, 0x2500, '-'},
    [SM_BARRIER] = {"at a barrier", ST_ROW + 3, 0x2502, '|'},
    [SM_FINISHED] = {"finished", ST_DIM, 0xb7, '.'},
    [SM_EMPTY] = {"no block", ST_PLAIN, ' ', ' '},
};

static int chosen_of(const struct sm_lives *l, const struct view_state *st)
{
    const struct sm_state_of_view *own = st->own;
    int k = own->chosen ? own->chosen - 1 : l->chosen;
    return k < l->n ? k : l->n - 1;
}

/* ---- the warps ---- */

static void put_state(struct canvas *c, int x, int y, enum sm_state k)
{
    canvas_put(c, x, y, looks[k].style, c->ascii ? (uint32_t)looks[k].ascii : looks[k].glyph);
}

/* If there are more slots than lines, a line shows several slots: the state of most of them. */
static void draw_slots(struct canvas *c, const struct sm_life *l, int y, int w, int h)
{
    int each = (l->slots + h - 1) / h, lines = (l->slots + each - 1) / each;
    for (int i = 0; i < lines; i++) {
        char text[24];
        snprintf(text, sizeof text, "%d", i * each);
        draw_right(c, LEFT - 1, y + i, ST_AXIS, text);
        canvas_put(c, LEFT - 1, y + i, ST_AXIS, 0x2502);
        for (int x = 0; x < w; x++)
            put_state(c, LEFT + x, y + i, sm_at(l, i * each, (i + 1) * each, (double)x / w, (double)(x + 1) / w));
    }
}

static void figure_slots(struct figure *f, const struct sm_life *l, int y, int w, int h)
{
    struct ruler slots = {RULER_WHOLE, 0, l->slots - 1, NULL};
    double high = (double)h / l->slots, bar = high * 0.85;
    for (int i = 0; i < l->slots; i++)
        for (int from = 0, to; from < SM_BINS; from = to) {
            enum sm_state k = sm_at(l, i, i + 1, (double)from / SM_BINS, (double)(from + 1) / SM_BINS);
            for (to = from + 1; to < SM_BINS; to++)
                if (sm_at(l, i, i + 1, (double)to / SM_BINS, (double)(to + 1) / SM_BINS) != k) break;
            if (k != SM_EMPTY)
                figure_rect(f, looks[k].style, k == SM_FINISHED ? 0.4 : 1, LEFT + (double)w * from / SM_BINS,
                            y + i * high, (double)w * (to - from) / SM_BINS, bar);
        }
    axis_down(f, &slots, LEFT, y + bar / 2, h - high); /* a number stands at the middle of its bar */
}

static void draw_time(struct canvas *c, const struct sm_life *l, int y, int w, int h)
{
    char us[32];
    struct ruler time = {RULER_EVEN, 0, l->us, NULL};
    if (c->figure) {
        axis_across(c->figure, &time, LEFT, y + h + 0.1, w, 0, "time, us");
        return;
    }
    canvas_put(c, LEFT - 1, y + h, ST_AXIS, 0x2514);
    draw_fill(c, LEFT, y + h, w, ST_AXIS, 0x2500);
    canvas_text(c, LEFT, y + h, ST_AXIS, "0 ");
    snprintf(us, sizeof us - 1, " %.3g us ", l->us);
    draw_right(c, LEFT + w, y + h, ST_AXIS, us);
}

/* ---- the words ---- */

static void draw_legend(struct canvas *c, int y)
{
    int x = 1;
    for (int k = 0; k < SM_EMPTY; k++) {
        int n = (int)strlen(looks[k].name);
        if (x + n + 2 > c->w) return;
        if (c->figure)
            figure_rect(c->figure, looks[k].style, k == SM_FINISHED ? 0.4 : 1, x, y + 0.2, 1, 0.6);
        else
            put_state(c, x, y, (enum sm_state)k);
        x = canvas_text(c, x + 2, y, ST_DIM, "%s", looks[k].name) + 2;
    }
}

static void draw_share(struct canvas *c, int y, const char *name, double share, enum style st)
{
    char text[24];
    int bar = c->w - LABEL - 8;
    canvas_text(c, 1, y, ST_PLAIN, "%s", name);
    snprintf(text, sizeof text, "%.0f%%", 100 * share);
    draw_right(c, LABEL + 3, y, ST_BOLD, text);
    if (bar > 4) draw_bar(c, LABEL + 4, y, bar, share, st);
}

/* Why no warp was ready; the shares and `ready` sum to 100 %. */
static int draw_shares(struct canvas *c, const struct sm_life *l, int y)
{
    draw_share(c, y, "a warp is ready", l->ready, ST_GOOD);
    draw_share(c, y + 1, "none: they wait for memory", l->idle[SM_MEMORY], ST_WARN);
    draw_share(c, y + 2, "none: arithmetic", l->idle[SM_WORKING], ST_BAR);
    draw_share(c, y + 3, "none: at a barrier", l->idle[SM_BARRIER], ST_ROW + 3);
    return y + 4;
}

static void draw_occupancies(struct canvas *c, const struct sm_lives *all, int chosen, int y)
{
    int x = canvas_text(c, 1, y, ST_DIM, "warps at a time, and the time:");
    for (int i = 0; i < all->n; i++) {
        char text[80];
        snprintf(text, sizeof text, "%d: %.3g us", all->life[i].slots, all->life[i].us);
        if (x + 2 + (int)strlen(text) > c->w) return;
        x = canvas_text(c, x + 2, y, i == chosen ? ST_CURSOR : ST_PLAIN, "%s", text);
    }
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct sm_lives *all = s->sm;
    if (!all) {
        draw_title(c, "sm", NULL, "%s", "");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "nothing to show yet: `sm csr-scalar` simulates a multiprocessor");
        return;
    }
    int chosen = chosen_of(all, st), keys = st->full ? 1 : 0, words = c->h >= 16 ? 6 : c->h >= 12 ? 1 : 0;
    const struct sm_life *l = &all->life[chosen];
    int w = c->w - LEFT - 1, axis = c->figure ? AXIS_LINES : 1, h = c->h - TOP - axis - words - keys;
    draw_title(c, "sm", all->matrix, "%s, %s", all->kernel->name, precision_of(&all->matrix->csr, all->real));
    canvas_text(c, 1, 1, ST_DIM, "predicted for one SM of %s%s: %s, %d at a time, %s", all->here ? "" : "an ",
                all->machine, how_many(l->blocks, "block").text, l->at_once, how_many(l->slots, "warp").text);
    draw_legend(c, 2);
    if (w < MIN_W || h < MIN_H) return;
    if (h > l->slots && !c->figure) h = l->slots;
    c->figure ? figure_slots(c->figure, l, TOP, w, h) : draw_slots(c, l, TOP, w, h);
    int each = (l->slots + h - 1) / h, lines = c->figure ? h : (l->slots + each - 1) / each;
    draw_time(c, l, TOP, w, lines);
    int y = TOP + lines + axis;
    if (words > 1) y = draw_shares(c, l, y);
    if (words) draw_occupancies(c, all, chosen, y);
}

/* ---- the view ---- */

static bool key(struct session *s, struct view_state *st, int k)
{
    struct sm_state_of_view *own = st->own;
    if (!s->sm || (k != '(' && k != ')')) return true;
    int at = chosen_of(s->sm, st) + (k == ')') - (k == '(');
    own->chosen = 1 + (at < 0 ? 0 : at < s->sm->n ? at : s->sm->n - 1);
    return true;
}

static bool exists(const struct session *s)
{
    return s->sm;
}

static const char *nothing(const struct session *s)
{
    return s->sm ? NULL : "nothing to show yet; run `sm csr-scalar`";
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    out_sm(s, s->sm);
    return true;
}

static void state_copy(void *to, const void *from)
{
    *(struct sm_state_of_view *)to = *(const struct sm_state_of_view *)from;
}

const struct view view_sm = {
    .name = "sm",
    .about = "the warps of one multiprocessor over time, predicted: ready, waiting for memory, at a barrier, finished",
    .keys = "? help  q leave  ( fewer warps  ) more warps",
    .rows = (const struct row_kind *const[]){&row_sm, NULL},
    .any = true,
    .large = true,
    .state_size = sizeof(struct sm_state_of_view),
    .state_copy = state_copy,
    .exists = exists,
    .draw = draw,
    .key = key,
    .nothing = nothing,
    .numbers = numbers,
};
