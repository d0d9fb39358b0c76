/* What the files of the solve view share, and the line of a running solve. */
#ifndef VIEW_SOLVE_H
#define VIEW_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "solvers/ritz.h"

struct canvas;
struct session;
struct solve;
struct view_state;

/* ---- view_solve_rate.c ---- */

/* Reduction of the residual per iteration over the last ones; 0 when there are too few. */
double solve_rate(const struct solve *v);
/* Has the true residual diverged from the recursive one, since the solve was restarted? */
bool residuals_separated(const struct solve *v);
/* Iterations left until tol, as the last quarter of them went; NaN: the residual does not fall. */
double solve_left(const struct solve *v);

/* What the Hessenberg matrix of gmres showed when it was last read: the Ritz values of least and of largest modulus. */
struct spectrum {
    int64_t iterations, columns;
    double residual; /* of that iteration: distinguishes solves */
    double at_us;
    double re[2], im[2], condition;
};

struct solve_state {
    struct ritz ritz;         /* of cg */
    struct spectrum spectrum; /* of gmres */
};

/* Where the next figure goes: beside the last one, or, when it does not fit there, on the next line. */
struct solve_pen {
    int x, y;
};

/* ---- view_solve_plot.c ---- */

/* h lines from line y on; the line below. */
int solve_view_plot(struct canvas *c, const struct solve *v, int y, int h);

/* ---- view_solve_figures.c ---- */

void solve_view_item(struct canvas *c, struct solve_pen *at, const char *name, const char *value);
/* The line below them. small: only the most important. */
int solve_view_figures(struct canvas *c, struct solve *v, struct view_state *st, int y, bool small);

/* ---- view_solve_spectrum.c ---- */

void solve_view_spectrum(struct canvas *c, struct solve_pen *at, struct solve *v, struct view_state *st);

/* ---- view_solve_keys.c ---- */

bool solve_view_key(struct session *s, struct view_state *st, int k);
void solve_view_answer(struct session *s, struct view_state *st);

#endif
