/* Declarations shared by the files of the solve view. */
#ifndef VIEW_SOLVE_H
#define VIEW_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "solvers/ritz.h"

struct canvas;
struct pen;
struct session;
struct solve;
struct view_state;

/* ---- view_solve_rate.c ---- */

/* The mean factor by which each of the last iterations changed the residual; 0 if there are too few iterations. */
double solve_rate(const struct solve *v);
/* Whether the true residual has separated from the recursive residual since the solve was last restarted. */
bool residuals_separated(const struct solve *v);
/* Iterations left until tol, predicted from the last quarter of the iterations; NaN: the residual does not fall. */
double solve_left(const struct solve *v);

/* The Ritz values of smallest and of largest modulus, from the latest copy of the Hessenberg matrix of gmres. */
struct spectrum {
    int64_t iterations, columns;
    double residual; /* the residual after `iterations` iterations; tells whether the spectrum belongs to a solve */
    double at_us;
    double re[2], im[2], condition;
};

struct solve_state {
    struct ritz ritz;         /* for cg */
    struct spectrum spectrum; /* for gmres */
};

/* ---- view_solve_plot.c ---- */

/* Draw the plot in h lines, beginning at line y; returns the line below the plot. */
int solve_view_plot(struct canvas *c, const struct solve *v, int y, int h);

/* ---- view_solve_figures.c ---- */

/* Draw the figures; returns the line below the figures. If `small` is set, draw only the most important figures. */
int solve_view_figures(struct canvas *c, struct solve *v, struct view_state *st, int y, bool small);

/* ---- view_solve_spectrum.c ---- */

void solve_view_spectrum(struct canvas *c, struct pen *at, struct solve *v, struct view_state *st);

/* ---- view_solve_keys.c ---- */

bool solve_view_changes(const struct session *s, int key);
bool solve_view_key(struct session *s, struct view_state *st, int k);
void solve_view_answer(struct session *s, struct view_state *st);

#endif
