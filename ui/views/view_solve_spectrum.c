/* The spectrum of A, as far as a solve reveals it: Ritz values and condition. */
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "ui/draw.h"
#include "ui/screen_thread.h"
#include "view_solve.h"
#include "view_state.h"

#include <math.h>

enum {
    GLANCE = 100000,
    GLANCE_COLUMNS = 200
}; /* rows of cg's T and columns of gmres's H that can be processed within one frame */

/* The eigenvalues of H with the smallest and the largest modulus, and the condition. */
static bool extremes(const double *H, int64_t ld, int64_t k, struct spectrum *to)
{
    double *re = mem_new(k, sizeof *re, "Ritz values", NULL), *im = mem_new(k, sizeof *im, "Ritz values", NULL);
    if (!re || !im || !ritz_hessenberg(H, ld, k, re, im, NULL) || !ritz_condition(H, ld, k, &to->condition, NULL)) {
        mem_free(re);
        mem_free(im);
        return false;
    }
    int64_t low = 0, high = 0;
    for (int64_t i = 1; i < k; i++) {
        if (hypot(re[i], im[i]) < hypot(re[low], im[low])) low = i;
        if (hypot(re[i], im[i]) > hypot(re[high], im[high])) high = i;
    }
    to->re[0] = re[low], to->im[0] = fabs(im[low]);
    to->re[1] = re[high], to->im[1] = fabs(im[high]);
    mem_free(re);
    mem_free(im);
    return true;
}

/* Keep the last values if the cycle has only just begun. */
static void take_hessenberg(const struct solve *v, struct spectrum *seen)
{
    const struct solve_krylov *k = &v->krylov;
    struct spectrum now = {.at_us = now_us(), .iterations = k->iterations, .residual = k->residual};
    now.columns = !v->paused && k->columns > GLANCE_COLUMNS ? GLANCE_COLUMNS : k->columns;
    bool poor = seen->iterations > v->base && seen->iterations <= k->iterations && 2 * now.columns < k->ld - 1;
    if (!(poor && !v->paused) && extremes(k->H, k->ld, now.columns, &now)) *seen = now;
    seen->at_us = now.at_us;
}

/* Look at H at most once per second unless the solve is paused, because reading it waits for the device. On the screen
   thread, ask the thread that iterates for a copy, which is there when the next frame is drawn. */
static void look_at_hessenberg(struct solve *v, struct spectrum *seen)
{
    bool same = seen->iterations == v->iterations && seen->residual == v->residual;
    if (same || v->reason != RUNNING || v->set.m < 1 || (!v->paused && now_us() - seen->at_us < 1e6)) return;
    if (screen_thread_serves())
        v->krylov.wanted = !v->krylov.fresh;
    else
        solve_copy_hessenberg(v);
    if (v->krylov.fresh) take_hessenberg(v, seen);
    v->krylov.fresh = false;
}

/* "0.0123", or "0.1 +- 2i". */
static char *show_complex(double re, double im, char *out, size_t size)
{
    snprintf(out, size, fabs(im) > 1e-9 * fabs(re) ? "%.3g +- %.3gi" : "%.4g", re, im);
    return out;
}

/* matrix: whose Ritz values they are */
static void items_spectrum(struct canvas *c, struct pen *at, const char *matrix, const struct spectrum *s)
{
    char low[48], high[48], text[120], name[40];
    snprintf(name, sizeof name, "Ritz values of %s", matrix);
    snprintf(text, sizeof text, "%s to %s", show_complex(s->re[0], s->im[0], low, sizeof low),
             show_complex(s->re[1], s->im[1], high, sizeof high));
    draw_item(c, at, name, text);
    snprintf(text, sizeof text, ">= %.4g", s->condition);
    draw_item(c, at, "condition", text);
}

/* Ritz values are within the spectrum, so the condition number is at least their ratio. */
void solve_view_spectrum(struct canvas *c, struct pen *at, struct solve *v, struct view_state *st)
{
    struct solve_state *own = st->own;
    const struct spectrum *seen = &own->spectrum;
    if (v->solver->lanczos) {
        ritz_of(&own->ritz, v, st->full ? GLANCE : 0);
        const struct ritz *r = &own->ritz;
        struct spectrum s = {.re = {r->low, r->high}, .condition = r->high / r->low};
        if (r->rows) items_spectrum(c, at, ritz_matrix(v), &s);
    }
    if (!v->solver->arnoldi) return;
    look_at_hessenberg(v, &own->spectrum);
    /* values read before the last restart are those of a different operator */
    bool of_this = seen->columns && seen->iterations > v->base && seen->iterations <= v->iterations &&
                   v->history.residual[seen->iterations] == seen->residual;
    if (of_this) items_spectrum(c, at, v->pre.method ? "A M^-1" : "A", seen);
}
