/* The picture of a matrix: braille dots show where the nonzeros are, and their colour shows the density. Zooming in
   shows single elements. */
#include "view_spy.h"
#include "advice/traced.h"
#include "base/err.h"
#include "base/text.h"
#include "ui/cmd_view.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/paint.h"
#include "ui/term.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

/* ---- drawing ---- */

/* Draw the title. Call this after counting, because the title shows whether the counts are sampled. */
static void draw_head(struct canvas *c, const struct session *s, const struct view_state *st)
{
    const struct csr *A = &s->current->csr;
    const struct spy_state *spy = st->own;
    const char *guess = spy->grid.no_room ? "sampled: not enough memory to count all" : "sampled; counting all ...";
    struct place lit[LANES];
    enum spy_by by = spy_by_of(s->current, spy);
    bool guessed = spy->grid.guessed || (by != SPY_COUNT && spy->grid.values_guessed);
    static const char *const titles[SPY_BYS] = {"spy", "spy by sign", "spy by magnitude", "spy by owner"};
    draw_title(c, titles[by], s->current, "%s%s", traced_elements(s, s->current, lit) ? "> at work in trace  " : "",
               !A->nnz   ? "nothing is stored"
               : guessed ? guess
                         : "counted from 0");
}

/* The dots of a character on this canvas, if the picture has w x h characters. */
static struct dots dots_of(const struct canvas *c, int w, int h)
{
    const struct figure *f = c->figure;
    if (f && f->cw > 0 && (int64_t)f->cw * f->ch * w * h <= DOTS_MAX) return (struct dots){f->cw, f->ch, true};
    if (f && f->cw > 1 && f->ch > 1) return (struct dots){f->cw / 2, f->ch / 2, true};
    return c->ascii ? (struct dots){1, 1, false} : (struct dots){2, 4, false};
}

/* The picture begins in this line, below the title, the column numbers and the frame; */
enum { PICTURE_Y = 3 };
/* and in this column, right of the longest row number and the frame. */
static int picture_x(const struct view_state *st)
{
    char last[32];
    return text_width(show_count(st->win.row1, last, sizeof last)) + 2;
}

/* The characters of an element that is written as a number. */
static int value_width(const struct csr *A)
{
    return A->imag ? COMPLEX_WIDTH : VALUE_WIDTH;
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct csr *A = &s->current->csr;
    struct spy_state *spy = st->own;
    struct err e = {0};
    int left = picture_x(st), below = st->full ? 3 : 1; /* lines below the frame */
    int w = c->w - left - 2, h = c->h - PICTURE_Y - 1 - below, value = value_width(A);
    bool room = c->h >= MIN_HEIGHT + below && c->w >= left + MIN_WIDTH, any = A->rows && A->cols;
    if (!any || !room) {
        draw_head(c, s, st);
        if (any) draw_wrapped(c, 1, 1, 2, ST_DIM, "too small for a picture");
        return;
    }
    spy_want_sums(&spy->grid, A, st->full);
    struct dots dots = dots_of(c, w, h);
    if (st->full) spy_fill_screen(&st->win, A, w, h, dots, value);
    struct picture p = spy_picture(A, &spy->grid.sums, st->win, w, h, dots, value);
    p.x = left;
    p.y = PICTURE_Y;
    spy->drawn_w = w;
    spy->drawn_h = h;
    spy->drawn_dots = dots;
    enum spy_by by = spy_by_of(s->current, spy);
    bool ok = spy_count(st, s->current, &p, by, &e) && spy_make_spots(spy, &p, by, c->colours == COLOURS_NONE, &e);
    draw_head(c, s, st);
    if (ok)
        spy_draw_picture(c, s, st, &p);
    else
        draw_wrapped(c, 1, 2, 4, ST_BAD, e.text);
}

/* ---- keys ---- */

static int64_t within(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Shift a visible range by as little as possible, within the matrix, until it contains the cursor. */
static void follow(int64_t *from, int64_t *to, int64_t at, int64_t all)
{
    int64_t n = *to - *from;
    if (at < *from) *from = at;
    if (at >= *to) *from = at - n + 1;
    *from = within(*from, 0, all - n);
    *to = *from + n;
}

/* Multiply the length of a visible range by `times`; the cursor keeps its place on the screen. */
static void rescale(int64_t *from, int64_t *to, int64_t at, int64_t all, double times)
{
    int64_t n = *to - *from, least = all < ZOOMED_MIN ? all : ZOOMED_MIN;
    int64_t size = within((int64_t)ceil((double)n * times), least, all);
    *from = within(at - (int64_t)((double)(at - *from) * (double)size / (double)n), 0, all - size);
    *to = *from + size;
}

static void step(struct view_state *st, int k)
{
    int64_t page = st->win.row1 - st->win.row0;
    switch (k) {
    case UI_UP:
        st->row -= st->row_step;
        break;
    case UI_DOWN:
        st->row += st->row_step;
        break;
    case UI_LEFT:
        st->col -= st->col_step;
        break;
    case UI_RIGHT:
        st->col += st->col_step;
        break;
    case UI_PGUP:
        st->row -= page;
        break;
    case UI_PGDN:
        st->row += page;
        break;
    case UI_END:
        st->row = st->rows - 1;
        st->col = st->cols - 1;
        break;
    }
}

/* Centre the visible range on `at`, but keep it inside the matrix. */
static void centre(int64_t *from, int64_t *to, int64_t at, int64_t all)
{
    int64_t n = *to - *from;
    *from = at - n / 2;
    *to = *from + n;
    follow(from, to, at, all);
}

static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    st->row = row;
    if (col >= 0) st->col = col;
    centre(&st->win.row0, &st->win.row1, st->row, st->rows);
    centre(&st->win.col0, &st->win.col1, st->col, st->cols);
    return true;
}

static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    *row = st->row;
    *col = st->col;
    return st->row < st->rows && st->col < st->cols;
}

static bool key(struct session *s, struct view_state *st, int k)
{
    const struct csr *A = &s->current->csr;
    struct window *w = &st->win;
    double times = k == '+' || k == '=' ? 0.5 : k == '-' ? 2 : 1;
    if (A->rows == 0 || A->cols == 0) return false;
    if (k == 'g' || k == UI_HOME) {
        *w = (struct window){0, A->rows, 0, A->cols};
        st->row = st->col = 0;
    }
    if (k == 'c') spy_by_next(s->current, st);
    step(st, k);
    st->row = within(st->row, 0, A->rows - 1);
    st->col = within(st->col, 0, A->cols - 1);
    follow(&w->row0, &w->row1, st->row, A->rows);
    follow(&w->col0, &w->col1, st->col, A->cols);
    rescale(&w->row0, &w->row1, st->row, A->rows, times);
    rescale(&w->col0, &w->col1, st->col, A->cols, times);
    return true;
}

static bool click(struct session *s, struct view_state *st, int x, int y)
{
    const struct csr *A = &s->current->csr;
    const struct spy_state *spy = st->own;
    int left = picture_x(st);
    if (A->rows == 0 || A->cols == 0 || spy->drawn_w < 1 || spy->drawn_h < 1) return false;
    struct picture p =
        spy_picture(A, &spy->grid.sums, st->win, spy->drawn_w, spy->drawn_h, spy->drawn_dots, value_width(A));
    if (x < left || x >= left + p.w || y < PICTURE_Y || y >= PICTURE_Y + p.h) return false;
    st->row = within(spy_element_at(&p.down, p.dy, y - PICTURE_Y), 0, A->rows - 1);
    st->col = within(spy_element_at(&p.across, p.dx, x - left), 0, A->cols - 1);
    return true;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    char width[16], height[16];
    snprintf(width, sizeof width, "%d", w);
    snprintf(height, sizeof height, "%d", h);
    const char *word[] = {s->current->name, "width", width, "height", height};
    return run_command(s, &command_spy, COUNT(word), word, e);
}

static bool paint(struct painter *p, struct session *s, const struct view_state *st, int w, int h, bool light,
                  struct err *e)
{
    return spy_paint(p, s->current, st->win, spy_by_of(s->current, st->own), w, h, light, &s->watch, e);
}

/* Keep the choice of colours for the next matrix. */
static void state_reset(void *own)
{
    struct spy_state *spy = own;
    *spy = (struct spy_state){.by = spy->by};
}

static void state_copy(void *to, const void *from)
{
    ((struct spy_state *)to)->by = ((const struct spy_state *)from)->by;
}

static void state_free(void *own)
{
    struct spy_state *spy = own;
    spy_grid_free(&spy->grid);
    spy_spots_free(&spy->spots);
}

const struct view view_spy = {
    .name = "spy",
    .about = "the positions of the nonzeros, one dot each; a cell's colour is the share of nonzeros among its "
             "elements. The key c colours by sign, by the largest |a| of a cell, or by the owner after `partition`. "
             "Rows and columns are counted from 0.",
    .keys = "? help  q leave  arrows move  + zoom in  - zoom out  g whole matrix  c colours  / go to a row  PgUp/PgDn "
            "a screen up "
            "or down  Home whole matrix  End last element",
    .rows = (const struct row_kind *const[]){&row_spy_cells, NULL},
    .large = true,
    .state_size = sizeof(struct spy_state),
    .state_free = state_free,
    .state_reset = state_reset,
    .state_copy = state_copy,
    .lasts = true,
    .zooms = true,
    .overview = 1,
    .draw = draw,
    .key = key,
    .go = go,
    .at = at,
    .click = click,
    .work = spy_work,
    .numbers = numbers,
    .paint = paint,
};
