/* The figures below the plot: progress, cost and preconditioner. */
#include "base/text.h"
#include "machine/device.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "ui/canvas.h"
#include "ui/draw.h"
#include "view_solve.h"

#include <math.h>

static void item_time(struct canvas *c, struct pen *at, const char *name, double us)
{
    char text[64] = "-";
    draw_item(c, at, name, isfinite(us) ? show_us(us, text, sizeof text) : text);
}

/* A predicted time, with few digits. */
static char *show_left(double us, char *out, size_t size)
{
    static const struct {
        double below, unit;
        const char *fmt;
    } table[] = {{1e3, 1, "%.0f us"}, {1e6, 1e3, "%.0f ms"}, {6e7, 1e6, "%.0f s"}, {3.6e9, 6e7, "%.0f min"}};
    int i = 0;
    while (i < COUNT(table) && us >= table[i].below) i++;
    if (isnan(us))
        snprintf(out, size, "-");
    else if (i < COUNT(table))
        snprintf(out, size, table[i].fmt, us / table[i].unit);
    else
        snprintf(out, size, "%.1f h", us / 3.6e9);
    return out;
}

/* The time left until tol at the recent rate; "-" if the residual, or the true residual, no longer falls. */
static void item_left(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[32];
    double left = residuals_separated(v) ? NAN : solve_left(v);
    if (v->iterations + left > (double)v->set.maxit)
        draw_item(c, at, "left", "beyond maxit");
    else
        draw_item(
            c, at, "left",
            show_left(v->dev->kind == DEV_EMU ? NAN : left * v->time.us / (double)v->iterations, text, sizeof text));
}

/* ||b - A x||, computed during the solve or at its end. */
static void item_true(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[64];
    const struct truth *t = v->history.ntruth ? &v->history.truth[v->history.ntruth - 1] : NULL;
    if (isfinite(v->result.residual_true))
        snprintf(text, sizeof text, "%.3e", v->result.residual_true);
    else if (t)
        snprintf(text, sizeof text, "%.2e at %lld", t->residual, (long long)t->iteration);
    if (t || isfinite(v->result.residual_true)) draw_item(c, at, "true", text);
}

static void figures_progress(struct canvas *c, struct pen *at, const struct solve *v, bool small)
{
    char text[64];
    double rate = solve_rate(v);
    draw_item(c, at, "iteration", show_count(v->iterations, text, sizeof text));
    snprintf(text, sizeof text, "%.3e", v->residual);
    draw_item(c, at, "residual", text);
    snprintf(text, sizeof text, "%.3e", solve_least_at(v, v->iterations).normal);
    if (v->solver->least_squares) draw_item(c, at, "normal", text);
    if (!small) item_true(c, at, v);
    snprintf(text, sizeof text, rate > 0 ? "%.4f" : "-", rate);
    draw_item(c, at, "rate", text);
    if (v->reason == RUNNING) item_left(c, at, v);
}

/* The minimum number of bytes per iteration, divided by the time of an iteration, as a percentage of the measured read
   bandwidth. */
static void item_bound(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[64] = "not measured, run `ceilings`";
    const struct ceilings *k = &v->dev->ceilings;
    if (v->engine.runs) return;
    double share = solve_bytes(v) * 1e-3 / solve_each_us(v) / k->read_gbs;
    if (k->measured && !isfinite(share)) return;
    if (k->measured)
        snprintf(text, sizeof text, "%.0f%% of %.0f GB/s%s", 100 * share, k->read_gbs, share > 1 ? " (cache)" : "");
    draw_item(c, at, "byte bound", text);
}

static void item_precond(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[120], size[32], made[32];
    if (!v->pre.method) return;
    double bytes = v->pre.made ? (double)v->pre.held : NAN;
    bool timed = v->dev->kind != DEV_EMU;
    snprintf(text, sizeof text, "%s%s%s%s%s", v->pre.method->name, isfinite(bytes) ? ", " : "",
             isfinite(bytes) ? show_bytes(bytes, size, sizeof size) : "", timed ? ", made in " : "",
             timed ? show_us(v->pre.us, made, sizeof made) : "");
    draw_item(c, at, "preconditioner", text);
}

static void figures_cost(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[64];
    bool timed = v->dev->kind != DEV_EMU;
    if (timed) item_time(c, at, "time", v->time.us);
    if (timed && v->time.us > 0 && v->iterations > 0) item_time(c, at, "each", v->time.us / (double)v->iterations);
    if (timed) item_bound(c, at, v);
    if (v->reason == RUNNING && !v->engine.runs)
        draw_item(c, at, "memory", show_bytes((double)solve_memory(v), text, sizeof text));
    item_precond(c, at, v);
}

/* Draw the figures, beginning at line y; returns the line below the figures. */
int solve_view_figures(struct canvas *c, struct solve *v, struct view_state *st, int y, bool small)
{
    struct pen at = {1, y};
    figures_progress(c, &at, v, small);
    if (!small) figures_cost(c, &at, v);
    if (!small) solve_view_spectrum(c, &at, v, st);
    return at.y + 1;
}
