/* The curves of a sweep: its numbers over the values, or bars if the values are words. */
#include "base/text.h"
#include "commands/sweep.h"
#include "session/session.h"
#include "ui/chart.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum { LEGEND_AT = 2, NOTE = 2 };

struct sweep_state {
    int quantity; /* the quantity that is shown, counted from 0 */
    int first;    /* the first series that is shown */
};

static const char missing[] = "nothing was swept yet; use `sweep nrows 32..1024 times 2 of predict drm`";

/* ---- quantities: numbers of the same unit are shown together ---- */

static bool together(const struct sweep_measure *a, const struct sweep_measure *b)
{
    return *a->unit && !strcmp(a->unit, b->unit);
}

static bool begins_quantity(const struct sweep *v, int m)
{
    for (int k = 0; k < m; k++)
        if (together(&v->measure[k], &v->measure[m])) return false;
    return true;
}

static int quantities(const struct sweep *v)
{
    int n = 0;
    for (int m = 0; m < v->nmeasures; m++) n += begins_quantity(v, m);
    return n;
}

/* The first measure of quantity q. */
static int quantity_at(const struct sweep *v, int q)
{
    for (int m = 0; m < v->nmeasures; m++)
        if (begins_quantity(v, m) && q-- == 0) return m;
    return 0;
}

/* ---- the chart ---- */

static void name_series(const struct sweep *v, int k, const struct sweep_measure *m, char *out, size_t size)
{
    bool said = strstr(m->name, sweep_how_names[m->how]) != NULL || m->how == SWEEP_COMPUTED;
    snprintf(out, size, "%s%s%s%s%s%s%s%s", v->series[k], *v->series[k] ? " " : "", m->name, said ? "" : ", ",
             said ? "" : sweep_how_names[m->how], *m->on ? " (" : "", m->on, *m->on ? ")" : "");
}

static void add_series(struct chart *g, const struct sweep *v, int k, int m)
{
    struct chart_series *s = &g->series[g->nseries];
    s->style = ST_ROW + (unsigned)(g->nseries % ROW_COLOURS);
    s->dashed = false;
    *s->after = 0;
    name_series(v, k, &v->measure[m], s->name, sizeof s->name);
    if (*v->label || v->nmeasures > 1)
        snprintf(s->after, sizeof s->after, "%.39s", *v->label ? v->series[k] : v->measure[m].name);
    for (int i = 0; i < v->n; i++) s->y[i] = *sweep_cell(v, i, k, m);
    g->nseries++;
}

static void chart_of(struct chart *g, const struct sweep *v, const struct sweep_state *own)
{
    int first = quantity_at(v, own->quantity), at = 0;
    g->n = v->n;
    g->x_log = v->log;
    g->x_name = v->parameter;
    g->nseries = 0;
    g->chosen = -1;
    for (int i = 0; i < v->n; i++) {
        g->x[i] = v->value[i].number;
        snprintf(g->label[i], sizeof g->label[i], "%s", v->value[i].text);
    }
    for (int m = first; m < v->nmeasures; m++)
        for (int k = 0; k < v->nseries && g->nseries < CHART_SERIES; k++)
            if ((m == first || together(&v->measure[m], &v->measure[first])) &&
                at++ >= (own->first < v->nseries ? own->first : 0))
                add_series(g, v, k, m);
}

static const char *unit_of(const struct sweep *v, const struct sweep_state *own)
{
    const struct sweep_measure *m = &v->measure[quantity_at(v, own->quantity)];
    return *m->unit ? m->unit : m->name;
}

static void draw_chosen(struct canvas *c, const struct sweep *v, const struct chart *g, int i)
{
    char text[500], number[48];
    snprintf(text, sizeof text, "%s = %s:", v->parameter, v->value[i].text);
    for (int k = 0; k < g->nseries; k++)
        if (!isnan(g->series[k].y[i]))
            text_append(text, sizeof text, "%s %s %s", k ? ";" : "", g->series[k].name,
                        chart_number(g->series[k].y[i], number, sizeof number));
    if (*v->value[i].why) text_append(text, sizeof text, " %s", v->value[i].why);
    draw_wrapped(c, 1, c->h - 1 - NOTE, NOTE, ST_PLAIN, text);
}

/* A view has one chart at a time, and only the thread with the screen lock draws. */
static struct chart chart;

static void draw_sweep(struct canvas *c, const struct sweep *v, struct view_state *st)
{
    struct chart *g = &chart;
    const struct sweep_state *own = st->own;
    chart_of(g, v, own);
    if (st->item >= v->n) st->item = v->n - 1;
    if (st->full) g->chosen = (int)st->item;
    canvas_text(c, 1, 1, ST_DIM, "%.*s", c->w - 2, v->line);
    int top = LEGEND_AT + chart_legend(c, g, LEGEND_AT), below = st->full ? NOTE + 1 : 0;
    if (v->numbers)
        chart_curves(c, g, top + 1, c->h - top - 1 - below, unit_of(v, own));
    else
        chart_bars(c, g, top + 1, 0, c->h - top - 1 - below - AXIS_LINES, unit_of(v, own));
    if (st->full) draw_chosen(c, v, g, (int)st->item);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct sweep *v = s->sweep;
    if (!v) {
        draw_title(c, "sweep", NULL, " ");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, missing);
        return;
    }
    draw_title(c, "sweep", NULL, "%s%s%s by %s", v->matrix, *v->matrix ? ": " : "", unit_of(v, st->own), v->parameter);
    draw_sweep(c, v, st);
}

/* ---- keys and numbers ---- */

/* The next curves of the quantity or, after the last, the next quantity. */
static void turn(const struct sweep *v, struct sweep_state *own)
{
    own->first += CHART_SERIES;
    if (own->first < v->nseries) return;
    own->first = 0;
    own->quantity = (own->quantity + 1) % quantities(v);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    const struct sweep *v = s->sweep;
    struct sweep_state *own = st->own;
    if (!v) return false;
    if (k == 't') turn(v, own);
    st->item += (k == UI_RIGHT || k == UI_DOWN) - (k == UI_LEFT || k == UI_UP);
    if (k == UI_END || st->item >= v->n) st->item = v->n - 1;
    if (st->item < 0 || k == 'g' || k == UI_HOME) st->item = 0;
    return true;
}

static bool exists(const struct session *s)
{
    return s->sweep != NULL;
}

static const char *nothing(const struct session *s)
{
    return exists(s) ? NULL : missing;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    out_sweep(s, s->sweep);
    return true;
}

static void state_copy(void *to, const void *from)
{
    *(struct sweep_state *)to = *(const struct sweep_state *)from;
}

const struct view view_sweep = {
    .name = "sweep",
    .about = "the numbers of a command over the values of a sweep: curves, or bars if the values are words",
    .keys = "? help  q leave  left/right a value  t next picture  g first  End last",
    .rows = (const struct row_kind *const[]){&row_sweep, NULL},
    .any = true,
    .large = true,
    .state_size = sizeof(struct sweep_state),
    .state_copy = state_copy,
    .exists = exists,
    .draw = draw,
    .key = key,
    .nothing = nothing,
    .numbers = numbers,
};
