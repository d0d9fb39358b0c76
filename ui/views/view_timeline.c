/* The last timeline: for each member of a device, its phases as a bar, by time or, on the emulator, by the sectors that
   they access. */
#include "base/text.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/member_rows.h"
#include "report/output_timeline.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TOP = 4, NAME = 14, NOTE = 3 };

static enum style style_of(enum split_phase f)
{
    static const enum style style[SPLIT_PHASES] = {ST_ROW, ST_ROW + 1, ST_ROW + 2, ST_ROW + 3, ST_ROW + 4};
    return style[f];
}

/* Where phase f of member k begins and ends: in us, or in sectors after those of the phases before. */
static void span_of(const struct timeline *t, int k, enum split_phase f, double *from, double *to)
{
    *from = t->cell[k][f].from, *to = t->cell[k][f].to;
    if (t->timed) return;
    *from = 0;
    for (enum split_phase g = 0; g < f; g++) *from += fmax(0, t->cell[k][g].sectors);
    *to = *from + fmax(0, t->cell[k][f].sectors);
}

static double end_of(const struct timeline *t)
{
    double most = 0, from, to;
    for (int k = 0; k < t->members; k++)
        for (enum split_phase f = 0; f < SPLIT_PHASES; f++) {
            span_of(t, k, f, &from, &to);
            most = fmax(most, to);
        }
    return most > 0 ? most : 1;
}

static int bar_width(const struct canvas *c)
{
    return c->w - NAME - 2;
}

/* A phase is drawn with its letter, so that the bars can be read without colours. A phase that has no length has no
   cell; any other phase has at least one. */
static void draw_phase(struct canvas *c, const struct timeline *t, int k, enum split_phase f, double most, int y)
{
    double from, to;
    span_of(t, k, f, &from, &to);
    if (!(to > from)) return;
    double scale = bar_width(c) / most;
    if (c->figure) {
        figure_rect(c->figure, style_of(f), 1, NAME + from * scale, y + 0.15, (to - from) * scale, 0.7);
        return;
    }
    int x0 = (int)(from * scale), x1 = (int)(to * scale);
    for (int x = x0; x < (x1 > x0 ? x1 : x0 + 1) && x < bar_width(c); x++)
        canvas_put(c, NAME + x, y, style_of(f), (uint32_t)split_phase_name(f)[0]);
}

static void draw_legend(struct canvas *c, const struct timeline *t, double most)
{
    int x = 1;
    char end[32];
    for (enum split_phase f = 0; f < SPLIT_PHASES; f++) {
        if (c->figure)
            figure_rect(c->figure, style_of(f), 1, x, 2.25, 1.5, 0.5);
        else
            canvas_put(c, x, 2, style_of(f), (uint32_t)split_phase_name(f)[0]);
        x = canvas_text(c, x + 2, 2, ST_DIM, "%s", split_phase_name(f)) + 2;
    }
    if (t->timed)
        show_us(most, end, sizeof end);
    else
        snprintf(end, sizeof end, "%.0f sectors", most);
    draw_right(c, c->w - 1, 2, ST_DIM, end);
}

static void draw_member(struct canvas *c, const struct timeline *t, int k, double most, int y, enum style st)
{
    canvas_text(c, 1, y, st, "%d %.*s", k, NAME - 5, t->member[k].dev->name);
    for (enum split_phase f = SPLIT_LOCAL; f < SPLIT_PHASES; f++) draw_phase(c, t, k, f, most, y);
    draw_phase(c, t, k, SPLIT_PUSH, most, y); /* on a GPU it runs beside the local product */
}

/* The figures of one member, in two or three lines. */
static void draw_figures(struct canvas *c, const struct timeline *t, int k)
{
    const struct split_member *m = &t->member[k];
    char line[300];
    int n = 0;
    for (enum split_phase f = 0; f < SPLIT_PHASES; f++) {
        const struct timeline_cell *p = &t->cell[k][f];
        n += snprintf(line + n, sizeof line - (size_t)n, t->timed ? "%s%s %.2f us" : "%s%s %.0f", f ? "  " : "",
                      split_phase_name(f), t->timed ? p->to - p->from : p->sectors);
    }
    canvas_text(c, 1, c->h - 1 - NOTE, ST_PLAIN, "member %d: %s%s", k, line, t->timed ? "" : " sectors");
    snprintf(line, sizeof line,
             "%lld rows, %lld nonzeros, %lld of them in columns of others; receives %lld elements of x and sends %lld",
             (long long)m->rows, (long long)(m->nnz + m->outside), (long long)m->outside, (long long)m->halo,
             (long long)m->sends);
    draw_wrapped(c, 1, c->h - NOTE, NOTE - 1, ST_DIM, line);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct timeline *t = s->timeline;
    draw_title(c, "timeline", NULL, "%s", t ? t->dev->name : "");
    if (!t) {
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "no timeline yet: `timeline on emu*2` makes one");
        return;
    }
    canvas_text(c, 1, 1, ST_PLAIN, "%s, %s on %s, exchange %s%s", t->matrix, t->kernel->name, t->dev->name,
                transport_name(t->transport), t->timed ? "" : "; counted, not timed");
    double most = end_of(t);
    int room = c->h - TOP - (st->full ? 1 + NOTE : 0) - (c->figure ? AXIS_LINES : 0);
    if (room < 1) room = 1;
    if (st->item >= t->members) st->item = t->members - 1;
    if (st->item < st->scroll) st->scroll = st->item;
    if (st->item >= st->scroll + room) st->scroll = st->item - room + 1;
    draw_legend(c, t, most);
    int shown = 0;
    for (int k = (int)st->scroll; k < t->members && shown < room; k++, shown++)
        draw_member(c, t, k, most, TOP + shown, st->full && k == st->item ? ST_CURSOR : ST_PLAIN);
    struct ruler r = {RULER_EVEN, 0, most, NULL};
    if (c->figure) axis_below_bars(c->figure, &r, NAME, TOP, shown, bar_width(c), t->timed ? "us" : "sectors");
    if (st->full) draw_figures(c, t, (int)st->item);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    int members = s->timeline ? s->timeline->members : 1;
    st->item += (k == UI_DOWN) - (k == UI_UP);
    if (st->item >= members) st->item = members - 1;
    if (st->item < 0 || k == 'g' || k == UI_HOME) st->item = 0;
    return true;
}

static bool exists(const struct session *s)
{
    return s->timeline != NULL;
}

static const char *nothing(const struct session *s)
{
    return s->timeline ? NULL : "there is no timeline yet; `timeline on emu*2` makes one";
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    out_timeline_rows(s->out, s->timeline);
    return true;
}

const struct view view_timeline = {
    .name = "timeline",
    .about = "what each device of several does in one SpMV: send, multiply, wait, add, sum",
    .keys = "? help  q leave  up/down choose a member  g first",
    .rows = (const struct row_kind *const[]){&row_timeline, NULL},
    .any = true,
    .is_list = true,
    .large = true,
    .exists = exists,
    .draw = draw,
    .key = key,
    .nothing = nothing,
    .numbers = numbers,
};
