/* The roofline: operations per second by operations per byte, with logarithmic axes; the limits of a GPU as lines, and
   each kernel as a mark below them. */
#include "view_roofline.h"
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

enum { DETAIL = 2, ZOOM_MIN = -1, ZOOM_MAX = 6, MIN_W = 20, MIN_H = 4 };

/* ---- the roofs ---- */

static enum style roof_style(enum roof k)
{
    static const enum style styles[ROOFS] = {ST_ROW, ST_ROW + 2, ST_ROW + 3, ST_ROW + 1};
    return styles[k];
}

/* A slope ends at the flat roof, which begins where the steepest slope meets it. */
static bool is_drawn(const struct roofline *r, enum roof k, double intensity)
{
    double flat = roof_rate(r, ROOF_COMPUTE);
    return k == ROOF_COMPUTE ? roof_rate(r, ROOF_L1) * intensity >= flat : roof_rate(r, k) * intensity <= flat;
}

/* One braille dot per half column. */
static void draw_roof(struct canvas *c, const struct roof_plot *p, const struct roofline *r, enum roof k)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    for (int i = 0; i < 2 * p->w; i++) {
        double at = roof_intensity(p, p->x + (i + 0.5) / 2), row = roof_row(p, roof_at(r, k, at));
        int x = p->x + i / 2, y = (int)floor(row);
        if (!is_drawn(r, k, at) || y < p->y || y >= p->y + p->h) continue;
        uint32_t was = c->cell[y * c->w + x].glyph, dots = was >= 0x2800 && was <= 0x28ff ? was : 0x2800;
        canvas_put(c, x, y, roof_style(k), c->ascii ? '.' : dots | bit[(int)((row - y) * 4)][i % 2]);
    }
}

static void figure_roof(struct figure *f, const struct roof_plot *p, const struct roofline *r, enum roof k)
{
    enum { STEPS = 200 };
    figure_line(f, roof_style(k), 1, 1.5);
    for (int i = 0; i <= STEPS; i++) {
        double column = p->x + (double)p->w * i / STEPS, at = roof_intensity(p, column);
        double row = roof_row(p, roof_at(r, k, at));
        if (is_drawn(r, k, at) && row >= p->y && row <= p->y + p->h) figure_point(f, column, row);
    }
}

static void roof_text(const struct roofline *r, enum roof k, char *out, size_t size)
{
    double rate = roof_rate(r, k);
    bool big = rate >= 1000;
    snprintf(out, size, "%s %.3g %s%s", roof_name(r, k), big ? rate / 1000 : rate, big ? "T" : "G",
             k == ROOF_COMPUTE ? "FLOP/s" : "B/s");
}

/* Name a slope of a figure beside the middle of its visible part: the lowest slope below it, the others above it, if
   there is room. */
static void name_slope(struct figure *f, const struct roof_plot *p, const struct roofline *r, enum roof k)
{
    char text[60];
    double from = INFINITY, to = 0;
    for (int i = 0; i <= p->w; i++) {
        double at = roof_intensity(p, p->x + i), row = roof_row(p, roof_at(r, k, at));
        if (!is_drawn(r, k, at) || row < p->y || row > p->y + p->h) continue;
        from = fmin(from, p->x + i);
        to = p->x + i;
    }
    if (!(from < to)) return;
    roof_text(r, k, text, sizeof text);
    double x = (from + to) / 2, row = roof_row(p, roof_at(r, k, roof_intensity(p, x)));
    bool left = k != ROOF_MEMORY && x - 1 - (double)strlen(text) > p->x;
    if (left || x + 1 + (double)strlen(text) < p->x + p->w)
        figure_words(f, roof_style(k), left ? SIDE_RIGHT : SIDE_LEFT, x + (left ? -1 : 1), row - left, text);
}

/* Name a roof where it enters the picture: a slope at the left or the lower edge, the flat roof at the right. */
static void name_roof(struct canvas *c, const struct roof_plot *p, const struct roofline *r, enum roof k, int *above)
{
    char text[60];
    roof_text(r, k, text, sizeof text);
    int n = (int)strlen(text), x = p->x + 1;
    if (k == ROOF_COMPUTE) x = p->x + p->w - n;
    double first = roof_intensity(p, k == ROOF_COMPUTE ? p->x + p->w : p->x);
    int y = (int)floor(roof_row(p, roof_at(r, k, first))) - (k == ROOF_COMPUTE ? 1 : 0);
    if (k == ROOF_COMPUTE && y < p->y) { /* above the picture */
        y = p->y;
        strcat(text, " ^");
        x -= 2;
        n += 2;
    }
    if (y < p->y || y >= p->y + p->h || x < p->x || n > p->w || (k != ROOF_COMPUTE && y >= *above)) return;
    if (k != ROOF_COMPUTE) *above = y;
    if (c->figure)
        figure_words(c->figure, roof_style(k), SIDE_LEFT, x, y - 0.1, text);
    else
        canvas_text(c, x, y, roof_style(k), "%s", text);
}

static void draw_roofs(struct canvas *c, const struct roof_plot *p, const struct roofline *r)
{
    int above = p->y + p->h;
    for (int k = 0; k < ROOFS; k++) {
        if (c->figure)
            figure_roof(c->figure, p, r, (enum roof)k);
        else
            draw_roof(c, p, r, (enum roof)k);
    }
    for (int k = 0; k < ROOFS; k++) {
        if (c->figure && k != ROOF_COMPUTE)
            name_slope(c->figure, p, r, (enum roof)k);
        else
            name_roof(c, p, r, (enum roof)k, &above);
    }
}

/* ---- the words ---- */

static void draw_chosen(struct canvas *c, const struct roofline *r, int i, enum roof_bytes by, int y)
{
    const struct roof_point *p = &r->point[i];
    char us[32], text[400];
    double at = point_intensity(p, by), roof = roof_at(r, ROOF_MEMORY, point_intensity(p, BYTES_MIN));
    int x = canvas_text(c, 1, y, ST_BOLD, "%s", p->kernel->name);
    snprintf(text, sizeof text, "%s %s  %.1f GFLOP/s  %.4f flops/byte  %.0f%% of the memory roof%s%s",
             isnan(p->measured_us) ? "predicted" : "measured", show_us(point_us(p), us, sizeof us), point_gflops(p), at,
             100 * point_gflops(p) / roof, p->bound ? "  bound by " : "", p->bound ? p->bound : "");
    draw_wrapped(c, x + 2, y, DETAIL, ST_PLAIN, text);
}

static void draw_legend(struct canvas *c, const struct roofline *r, enum roof_bytes by, int names, int inside)
{
    static const char *const bytes[] = {"bytes that must move", "bytes that L2 moves", "bytes requested from L1"};
    char text[200];
    bool predicted = false, measured = false;
    for (int i = 0; i < r->n; i++) isnan(r->point[i].measured_us) ? (predicted = true) : (measured = true);
    snprintf(text, sizeof text, "GFLOP/s by flops per byte (%s)%s%s%s", bytes[by],
             predicted ? c->figure ? "  circle: predicted" : "  o predicted" : "",
             measured ? c->figure ? "  square: measured" : "  X measured" : "", r->here ? "" : "  roofs: constants");
    canvas_text(c, 1, 1, ST_DIM, "%.*s", c->w - 1, text);
    if (names == inside || c->figure) return;
    snprintf(text, sizeof text, " %d of %d named ", names, inside);
    if (c->w >= 60) draw_right(c, c->w - 2, c->h - 1, ST_DIM, text);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct roofline *r = s->roofline;
    struct roof_state *own = st->own;
    int names, inside;
    if (!r) {
        draw_title(c, "roofline", NULL, "%s", "");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "no roofline yet: `roofline` predicts all kernels of the matrix");
        return;
    }
    draw_title(c, "roofline", r->matrix, "on %s, %s", r->machine, precision_of(&r->matrix->csr, r->real));
    if (st->item >= r->n) st->item = r->n - 1;
    int chosen = st->full && r->n ? (int)st->item : -1, below = st->full ? DETAIL + 1 : 0;
    struct roof_plot p = roof_plot_of(c, r, own, chosen, below);
    if (p.w < MIN_W || p.h < MIN_H) {
        if (chosen >= 0) draw_chosen(c, r, chosen, p.by, 2);
        return;
    }
    roof_draw_axes(c, &p);
    draw_roofs(c, &p, r);
    names = roof_draw_points(c, &p, r, chosen, &inside);
    draw_legend(c, r, p.by, names, inside);
    if (chosen >= 0) draw_chosen(c, r, chosen, p.by, c->h - below);
}

/* ---- the view ---- */

static bool key(struct session *s, struct view_state *st, int k)
{
    struct roof_state *own = st->own;
    int64_t last = s->roofline ? s->roofline->n - 1 : 0;
    if (k == 't') own->by = (own->by + 1) % ROOF_BYTES;
    own->zoom += (k == '+') - (k == '-');
    if (own->zoom < ZOOM_MIN) own->zoom = ZOOM_MIN;
    if (own->zoom > ZOOM_MAX) own->zoom = ZOOM_MAX;
    st->item += (k == UI_DOWN) - (k == UI_UP);
    if (k == 'G' || k == UI_END || st->item > last) st->item = last;
    if (st->item < 0 || k == 'g' || k == UI_HOME) st->item = 0;
    return true;
}

static bool exists(const struct session *s)
{
    return s->roofline;
}

static const char *nothing(const struct session *s)
{
    return s->roofline ? NULL : "no roofline yet; run `roofline`";
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    out_roofline(s, s->roofline);
    return true;
}

static void state_copy(void *to, const void *from)
{
    *(struct roof_state *)to = *(const struct roof_state *)from;
}

const struct view view_roofline = {
    .name = "roofline",
    .about = "all kernels of a matrix below the limits of a GPU: memory, L2, L1 and arithmetic, with logarithmic axes",
    .keys = "? help  q leave  up/down choose a kernel  t next picture  + zoom in  - zoom out  g G first, last",
    .rows = (const struct row_kind *const[]){&row_roofline, NULL},
    .any = true,
    .zooms = true,
    .large = true,
    .state_size = sizeof(struct roof_state),
    .state_copy = state_copy,
    .exists = exists,
    .draw = draw,
    .key = key,
    .nothing = nothing,
    .numbers = numbers,
};
