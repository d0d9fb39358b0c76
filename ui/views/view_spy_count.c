/* The counts of the picture. The counts are computed immediately if that is quick; otherwise, they are first sampled,
   and then computed while no key comes. */
#include "base/loop.h"
#include "base/mem.h"
#include "session/matrix.h"
#include "session/session.h"
#include "view_spy.h"
#include "view_state.h"

#include <string.h>

void spy_grid_free(struct grid *g)
{
    mem_free(g->n);
    mem_free(g->counting);
    sums_free(&g->sums);
    cell_values_free(&g->values);
    cell_values_free(&g->surveyed);
    *g = (struct grid){0};
}

static struct window window_of(const struct picture *p)
{
    return (struct window){p->down.from, p->down.from + p->down.span, p->across.from, p->across.from + p->across.span};
}

/* Allocate the cells of the picture, all zero. */
static bool begin_grid(struct grid *g, const struct picture *p, struct err *e)
{
    mem_free(g->n);
    mem_free(g->counting);
    cell_values_free(&g->values);
    cell_values_free(&g->surveyed);
    g->counting = NULL;
    g->win = window_of(p);
    g->h = p->down.cells;
    g->w = p->across.cells;
    g->guessed = g->values_guessed = g->no_room = g->shown = false;
    g->n = mem_zero((int64_t)g->h * g->w, sizeof *g->n, "the picture", e);
    return g->n;
}

static bool is_quick(const struct csr *A, struct window win)
{
    int64_t end = win.row1 < A->rows ? win.row1 : A->rows;
    return csr_start(A, end) - csr_start(A, win.row0) <= QUICK;
}

/* Ctrl-C ends the counting for a printed picture. A picture on the full screen is counted in slices. */
static struct watch *watch_of(const struct view_state *st)
{
    return st->full ? NULL : loop_watch();
}

/* Count the cells of the picture immediately if that is quick or if the picture is printed as text. Otherwise, estimate
   the counts until the sums or spy_work() provide the exact counts. */
static bool count_cells(struct view_state *st, const struct csr *A, const struct picture *p, struct err *e)
{
    struct spy_state *spy = st->own;
    struct grid *g = &spy->grid;
    struct window win = window_of(p);
    bool same = g->n && !memcmp(&g->win, &win, sizeof win) && g->h == p->down.cells && g->w == p->across.cells;
    bool first = !g->n;
    if (same && !g->guessed) return true;
    if (!same && !begin_grid(g, p, e)) return false;
    if (sums_ready(&g->sums) && sums_fit(&g->sums, win, g->h, g->w)) {
        sums_cells(&g->sums, win, g->h, g->w, g->n);
        g->guessed = g->shown = false;
        return true;
    }
    if (same) return true;
    if (!st->full || is_quick(A, win)) return density_of(A, win, g->h, g->w, g->n, watch_of(st), e);
    g->guessed = true;
    return first ? density_sample(A, win, g->h, g->w, g->n, e) : density_glance(A, win, g->h, g->w, g->n, e);
}

/* Look at all values immediately, or at a sample until spy_work() has looked at all values. */
static bool look_at_values(const struct view_state *st, const struct csr *A, struct cell_marker marker, struct err *e)
{
    struct grid *g = &((struct spy_state *)st->own)->grid;
    if (g->values.signs && g->values.marker.user == marker.user) return true;
    cell_values_free(&g->values);
    cell_values_free(&g->surveyed);
    g->values_guessed = false;
    if (!cell_values_new(&g->values, g->h, g->w, e)) return false;
    g->values.marker = marker;
    g->shown = false;
    if (!st->full || is_quick(A, g->win)) return cell_values_of(A, g->win, &g->values, watch_of(st), e);
    cell_values_glance(A, g->win, &g->values);
    return g->values_guessed = true;
}

bool spy_count(struct view_state *st, const struct matrix *m, const struct picture *p, enum spy_by by, struct err *e)
{
    return count_cells(st, &m->csr, p, e) && (by == SPY_COUNT || look_at_values(st, &m->csr, spy_marker(m, by), e));
}

static enum work look_on(const struct csr *A, struct grid *g)
{
    if (!g->surveyed.signs) {
        g->no_room = !cell_values_new(&g->surveyed, g->h, g->w, NULL);
        g->surveyed.marker = g->values.marker;
        if (!g->no_room) survey_begin(&g->unseen, A, g->win, &g->surveyed);
    }
    if (g->no_room) return WORK_NONE;
    if (survey_more(&g->unseen)) return WORK_ON;
    cell_values_free(&g->values);
    g->values = g->surveyed;
    g->surveyed = (struct cell_values){0};
    g->values_guessed = g->shown = false;
    return WORK_DRAW;
}

/* Continue to count a picture whose counts the sums do not provide. */
static enum work count_on(const struct csr *A, struct grid *g)
{
    if (!g->counting) {
        g->counting = mem_zero((int64_t)g->h * g->w, sizeof *g->counting, "the picture", NULL);
        g->no_room = !g->counting || !density_begin(&g->uncounted, A, g->win, g->h, g->w, g->counting, NULL);
    }
    if (g->no_room) return WORK_NONE;
    if (density_more(&g->uncounted)) return WORK_ON;
    mem_free(g->n);
    g->n = g->counting;
    g->counting = NULL;
    g->guessed = g->shown = false;
    return WORK_DRAW;
}

/* First count the visible picture, then look at its values, then compute the sums, which are needed when the picture
   moves. */
enum work spy_work(struct session *s, struct view_state *st)
{
    struct spy_state *spy = st->own;
    struct grid *g = &spy->grid;
    if (!g->n || g->no_room) return WORK_NONE;
    if (g->guessed && !sums_fit(&g->sums, g->win, g->h, g->w)) return count_on(&s->current->csr, g);
    if (g->values_guessed) return look_on(&s->current->csr, g);
    if (!g->sums.A || sums_ready(&g->sums)) return WORK_NONE;
    if (sums_more(&g->sums)) return WORK_ON;
    if (sums_ready(&g->sums)) return g->guessed ? WORK_DRAW : WORK_NONE;
    sums_free(&g->sums); /* not enough memory for the sums: count each picture separately */
    g->sums.down = g->sums.across = -1;
    return WORK_ON;
}

/* Sums are worth their memory if the matrix is large and the picture can move. A printed picture does not depend on
   earlier pictures of the screen. */
void spy_want_sums(struct grid *g, const struct csr *A, bool full)
{
    if (!full && (g->sums.A || g->guessed || g->values_guessed)) spy_grid_free(g);
    if (!full || g->sums.A == A || g->sums.down < 0) return;
    sums_free(&g->sums);
    if (A->nnz > QUICK) sums_begin(&g->sums, A);
}
