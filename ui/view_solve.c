/* A solve as it goes on: the residual by iteration on a log scale, its rate, and where the time goes. */
#include "plot.h"
#include "term.h"
#include "view.h"
#include "view_solve.h"
#include "../src/cmd.h"
#include "../src/grammar.h"
#include "../src/precond.h"
#include "../src/ritz.h"

#include <math.h>
#include <string.h>

/* Lines of the picture besides the plot and the figures: title and device above, axis, phases and state below; on a
   small screen title, axis and the first line of the state. Of true residuals that lie on the curve a mark is drawn
   every so many columns. */
enum { PLOT_TOP = 3, AROUND = PLOT_TOP + 6, SMALL_TOP = 1, SMALL_AROUND = SMALL_TOP + 3, APART = 8 };

static const enum style ST_TRUE = ST_ROW + 3;

/* The rate is that of the last RECENT iterations; what is left is foretold from the last quarter, within limits. */
enum { RECENT = 20, LEAST_PAST = 8, MOST_PAST = 2000 };

double solve_rate(const struct solve *v)
{
    int64_t n = v->iterations < RECENT ? v->iterations : RECENT;
    if (n < 1 || !v->history.residual) return 0;
    double rate = pow(v->history.residual[v->iterations] / v->history.residual[v->iterations - n], 1.0 / (double)n);
    return isfinite(rate) ? rate : 0;
}

bool solve_parted(const struct solve *v)
{
    return v->history.separated_at > v->base;
}

static double least_of(const double *r, int64_t n)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++) least = fmin(least, r[i]);
    return least;
}

/* The best of each half of the past is compared, since residuals may swing. */
double solve_left(const struct solve *v)
{
    int64_t k = v->iterations, half = k / 8 < LEAST_PAST / 2 ? LEAST_PAST / 2 : k / 8;
    if (half > MOST_PAST / 2) half = MOST_PAST / 2;
    if (!v->history.residual || 2 * half > k || !(v->set.tol > 0)) return NAN;
    double before = least_of(v->history.residual + k + 1 - 2 * half, half),
           now = least_of(v->history.residual + k + 1 - half, half);
    double left = log(now / v->set.tol) * (double)half / log(before / now);
    return now < before && now > v->set.tol && left < 1e15 ? ceil(left) : NAN;
}

/* ---- the plot ---- */

static struct plot plot_of(const struct canvas *c, const struct solve *v, int y, int h)
{
    double least = v->set.tol > 0 ? v->set.tol : 1, most = 1;
    for (int64_t i = 0; i <= v->iterations; i++) {
        double r = v->history.residual[i];
        if (!can_plot(r)) continue;
        if (r < least) least = r;
        if (r > most) most = r;
    }
    for (int64_t i = 0; i < v->history.ntruth; i++)
        if (can_plot(v->history.truth[i].residual)) most = fmax(most, v->history.truth[i].residual);
    return plot_new(c, y, h, least, most);
}

/* The range of residuals in dot column k of n: of all its iterations, when there are more of them than columns. */
static bool column_range(const struct solve *v, int k, int n, double *low, double *high)
{
    int64_t all = v->iterations + 1;
    if (all < n) {
        *low = *high = plot_between(v, (double)v->iterations * k / (n - 1));
        return can_plot(*low);
    }
    *low = INFINITY;
    *high = 0;
    for (int64_t i = k * all / n; i < (k + 1) * all / n; i++) {
        if (!can_plot(v->history.residual[i])) continue;
        *low = fmin(*low, v->history.residual[i]);
        *high = fmax(*high, v->history.residual[i]);
    }
    return *high > 0;
}

/* A line: each dot column from where the last one ended. */
static void draw_curve(struct canvas *c, const struct plot *p, const struct solve *v)
{
    int before = -1, columns = p->w * 2;
    for (int k = 0; k < columns; k++) {
        double low, high;
        if (!column_range(v, k, columns, &low, &high)) continue;
        int top = plot_level(p, high, p->h * 4), bottom = plot_level(p, low, p->h * 4);
        if (before >= 0 && before < top) top = before;
        if (before > bottom) bottom = before;
        for (int y = top; y <= bottom; y++) plot_dot(c, p, k, y, ST_PLOT_A, '*');
        before = plot_level(p, low, p->h * 4);
    }
}

/* The column of an iteration, as column_range has it. */
static int column_of(const struct plot *p, const struct solve *v, int64_t i)
{
    int64_t all = v->iterations + 1, n = 2 * p->w;
    return (int)(all < n ? i * (n - 1) / (all > 1 ? all - 1 : 1) : i * n / all) / 2;
}

/* Marks where b - A x was computed: all that lie off the curve, some of those on it, and the last. */
static void draw_truth(struct canvas *c, const struct plot *p, const struct solve *v)
{
    if (v->history.ntruth && can_plot(v->result.residual_true))
        canvas_put(c, p->x + p->w - 1, p->y + plot_level(p, v->result.residual_true, p->h), ST_TRUE, 'o');
    int before = -APART;
    for (int64_t i = 0; i < v->history.ntruth; i++) {
        const struct truth *t = &v->history.truth[i];
        if (t->iteration > v->iterations || !can_plot(t->residual)) continue;
        int x = column_of(p, v, t->iteration), y = plot_level(p, t->residual, p->h);
        bool off =
            can_plot(v->history.residual[t->iteration]) && y != plot_level(p, v->history.residual[t->iteration], p->h);
        if (!off && x - before < APART && i + 1 < v->history.ntruth) continue;
        canvas_put(c, p->x + x, p->y + y, ST_TRUE, 'o');
        before = x;
    }
}

/* Beside the axis, where it fits: what is drawn. */
static void draw_legend(struct canvas *c, const struct plot *p, const struct solve *v, int room)
{
    int x = p->x + 3, y = p->y + p->h + 1;
    bool brief = room < 38;
    if (!v->history.ntruth || room < 20) return;
    x = canvas_text(c, x, y, ST_PLOT_A, brief ? "recursive" : "recursive residual");
    canvas_text(c, x + 2, y, ST_TRUE, brief ? "o true" : "o true, b - A x");
}

/* The line below it. */
static int draw_plot(struct canvas *c, const struct solve *v, int y, int h)
{
    char last[32];
    struct plot p = plot_of(c, v, y, h);
    plot_scale(c, &p, v->set.tol);
    draw_curve(c, &p, v);
    draw_truth(c, &p, v);
    canvas_text(c, p.x, p.y + p.h + 1, ST_AXIS, "0");
    show_count(v->iterations, last, sizeof last);
    draw_right(c, p.x + p.w, p.y + p.h + 1, ST_AXIS, last);
    draw_legend(c, &p, v, p.w - 3 - text_width(last));
    return p.y + p.h + 2;
}

/* ---- the figures below ---- */

static char *show_time(double us, char *out, size_t size)
{
    snprintf(out, size,
             us < 1e3   ? "%.1f us"
             : us < 1e6 ? "%.2f ms"
                        : "%.2f s",
             us < 1e3   ? us
             : us < 1e6 ? us / 1e3
                        : us / 1e6);
    return out;
}

/* Where the next figure goes: beside the last one, or, when it does not fit there, on the next line. */
struct pen {
    int x, y;
};

static void item(struct canvas *c, struct pen *at, const char *name, const char *value)
{
    if (at->x > 1 && at->x + text_width(name) + 1 + text_width(value) > c->w) *at = (struct pen){1, at->y + 1};
    int x = canvas_text(c, at->x, at->y, ST_DIM, "%s ", name);
    at->x = canvas_text(c, x, at->y, ST_BOLD, "%s", value) + 3;
}

static void item_time(struct canvas *c, struct pen *at, const char *name, double us)
{
    char text[64] = "-";
    item(c, at, name, isfinite(us) ? show_time(us, text, sizeof text) : text);
}

/* A time foretold has few digits. */
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

/* How long until tol at the rate of late; "-" where the residual does not fall, or the true one no longer does. */
static void item_left(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[32];
    double left = solve_parted(v) ? NAN : solve_left(v);
    if (v->iterations + left > (double)v->set.maxit)
        item(c, at, "left", "beyond maxit");
    else
        item(c, at, "left",
             show_left(v->dev->kind == DEV_EMU ? NAN : left * v->time.us / (double)v->iterations, text, sizeof text));
}

/* b - A x as it was seen last, or measured at the end. */
static void item_true(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[64];
    const struct truth *t = v->history.ntruth ? &v->history.truth[v->history.ntruth - 1] : NULL;
    if (isfinite(v->result.residual_true))
        snprintf(text, sizeof text, "%.3e", v->result.residual_true);
    else if (t)
        snprintf(text, sizeof text, "%.2e at %lld", t->residual, (long long)t->iteration);
    if (t || isfinite(v->result.residual_true)) item(c, at, "true", text);
}

static void figures_progress(struct canvas *c, struct pen *at, const struct solve *v, bool small)
{
    char text[64];
    double rate = solve_rate(v);
    item(c, at, "iteration", show_count(v->iterations, text, sizeof text));
    snprintf(text, sizeof text, "%.3e", v->residual);
    item(c, at, "residual", text);
    if (!small) item_true(c, at, v);
    snprintf(text, sizeof text, rate > 0 ? "%.4f" : "-", rate);
    item(c, at, "rate", text);
    if (v->reason == RUNNING) item_left(c, at, v);
}

/* The bytes that an iteration cannot do without, over its time, as a share of what the device was seen to read. */
static void item_bound(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[64] = "run `ceilings`";
    const struct ceilings *k = &v->dev->ceilings;
    double share = solve_bytes(v) * 1e-3 / solve_each_us(v) / k->read_gbs;
    if (k->measured && !isfinite(share)) return;
    if (k->measured)
        snprintf(text, sizeof text, "%.0f%% of %.0f GB/s%s", 100 * share, k->read_gbs, share > 1 ? " (cache)" : "");
    item(c, at, "byte bound", text);
}

static void item_precond(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[120], size[32], made[32];
    if (!v->pre.method) return;
    double bytes = v->pre.made ? v->pre.method->bytes(v) - 2.0 * (double)type_size(v->real) * (double)v->n : NAN;
    bool timed = v->dev->kind != DEV_EMU;
    snprintf(text, sizeof text, "%s%s%s%s%s", v->pre.method->name, isfinite(bytes) ? ", " : "",
             isfinite(bytes) ? show_bytes(bytes, size, sizeof size) : "", timed ? ", made in " : "",
             timed ? show_time(v->pre.us, made, sizeof made) : "");
    item(c, at, "preconditioner", text);
}

static void figures_cost(struct canvas *c, struct pen *at, const struct solve *v)
{
    char text[64];
    bool timed = v->dev->kind != DEV_EMU;
    if (timed) item_time(c, at, "time", v->time.us);
    if (timed && v->time.us > 0 && v->iterations > 0) item_time(c, at, "each", v->time.us / (double)v->iterations);
    if (timed) item_bound(c, at, v);
    if (v->reason == RUNNING) item(c, at, "memory", show_bytes((double)solve_memory(v), text, sizeof text));
    item_precond(c, at, v);
}

/* ---- what the solve tells of the spectrum ---- */

enum { GLANCE = 100000, GLANCE_COLUMNS = 200 }; /* rows of cg's T, columns of gmres's H: what a frame has time for */

/* What the Hessenberg matrix of gmres told when it was looked at: the Ritz values of least and of largest modulus. */
struct spectrum {
    int64_t iterations, columns;
    double residual; /* of that iteration: tells solves apart */
    double at_us;
    double re[2], im[2], condition;
};

struct solve_state {
    struct ritz ritz;         /* of cg */
    struct spectrum spectrum; /* of gmres */
};

/* The eigenvalues of H of the least and the largest modulus. */
static bool extremes(const double *H, int64_t ld, int64_t k, struct spectrum *to)
{
    double *re = mem_new(2 * k, sizeof *re, "Ritz values", NULL), *im = re + k;
    if (!re || !ritz_hessenberg(H, ld, k, re, im, NULL) || !ritz_condition(H, ld, k, &to->condition, NULL)) {
        mem_free(re);
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
    return true;
}

/* Ask the device for H, which waits for it: when paused, else once a second. What was seen last stays if that fails, or
   if a cycle has only begun. */
static void look_at_hessenberg(struct solve *v, struct spectrum *seen)
{
    bool same = seen->iterations == v->iterations && seen->residual == v->residual;
    if (same || v->reason != RUNNING || v->set.m < 1 || (!v->paused && now_us() - seen->at_us < 1e6)) return;
    double *H = mem_new(v->set.m * (v->set.m + 1), sizeof *H, "the Hessenberg matrix", NULL);
    struct spectrum now = {.at_us = now_us()};
    if (H && solve_hessenberg(v, H, &now.columns, NULL) && now.columns > 0) {
        if (!v->paused && now.columns > GLANCE_COLUMNS) now.columns = GLANCE_COLUMNS;
        now.iterations = v->iterations;
        now.residual = v->residual;
        bool poor = seen->iterations > v->base && seen->iterations <= v->iterations && 2 * now.columns < v->set.m;
        if (!(poor && !v->paused) && extremes(H, v->set.m + 1, now.columns, &now)) *seen = now;
    }
    seen->at_us = now.at_us;
    mem_free(H);
}

/* "0.0123", or "0.1 +- 2i". */
static char *show_complex(double re, double im, char *out, size_t size)
{
    snprintf(out, size, fabs(im) > 1e-9 * fabs(re) ? "%.3g +- %.3gi" : "%.4g", re, im);
    return out;
}

static void items_spectrum(struct canvas *c, struct pen *at, const char *name, const struct spectrum *s)
{
    char low[48], high[48], text[120];
    snprintf(text, sizeof text, "%s to %s", show_complex(s->re[0], s->im[0], low, sizeof low),
             show_complex(s->re[1], s->im[1], high, sizeof high));
    item(c, at, name, text);
    snprintf(text, sizeof text, ">= %.4g", s->condition);
    item(c, at, "condition", text);
}

/* Ritz values are within the spectrum: the condition is at least what they say. */
static void figures_spectrum(struct canvas *c, struct pen *at, struct solve *v, struct view_state *st)
{
    struct solve_state *own = st->own;
    const struct spectrum *seen = &own->spectrum;
    if (v->solver->lanczos) {
        ritz_of(&own->ritz, v, st->full ? GLANCE : 0);
        const struct ritz *r = &own->ritz;
        struct spectrum s = {.re = {r->low, r->high}, .condition = r->high / r->low};
        if (r->rows) items_spectrum(c, at, v->pre.method ? "Ritz values of M^-1 A" : "Ritz values of A", &s);
    }
    if (!v->solver->arnoldi) return;
    look_at_hessenberg(v, &own->spectrum);
    /* what was seen before the solve was begun anew is of another operator */
    bool of_this = seen->columns && seen->iterations > v->base && seen->iterations <= v->iterations &&
                   v->history.residual[seen->iterations] == seen->residual;
    if (of_this) items_spectrum(c, at, v->pre.method ? "Ritz values of A M^-1" : "Ritz values of A", seen);
}

/* The line below them. */
static int draw_figures(struct canvas *c, struct solve *v, struct view_state *st, int y, bool small)
{
    struct pen at = {1, y};
    figures_progress(c, &at, v, small);
    if (!small) figures_cost(c, &at, v);
    if (!small) figures_spectrum(c, &at, v, st);
    return at.y + 1;
}

/* One bar cut by the share of each phase, with the names under it. */
static void draw_phases(struct canvas *c, const struct solve *v, int y)
{
    if (v->dev->kind == DEV_EMU) {
        canvas_text(c, 1, y, ST_DIM, "the emulator has no times");
        return;
    }
    double all = 0, sum = 0;
    int width = c->w - 2, from = 1, x = 1;
    for (int i = 0; i < v->time.nphases; i++) all += v->time.phase[i].us;
    for (int i = 0; i < v->time.nphases && all > 0; i++) {
        enum style st = ST_ROW + (unsigned)(i % ROW_COLOURS);
        sum += v->time.phase[i].us;
        int to = 1 + (int)lround(sum / all * width);
        /* Without colours a letter tells the phases apart. */
        draw_fill(c, from, y, to - from, st, c->colours ? 0x2588 : (uint32_t)v->time.phase[i].name[0]);
        from = to;
        if (x + text_width(v->time.phase[i].name) + 5 > c->w) continue;
        x = canvas_text(c, x, y + 1, st, "%s", v->time.phase[i].name);
        x = canvas_text(c, x, y + 1, ST_DIM, " %.0f%%", 100 * v->time.phase[i].us / all) + 3;
    }
}

/* The line below it. */
static int draw_alarm(struct canvas *c, const struct solve *v, int y)
{
    if (!solve_parted(v)) return y;
    canvas_text(c, 1, y, ST_BAD, "at iteration %lld the true residual was more than 10 times the recursive one",
                (long long)v->history.separated_at);
    return y + 1;
}

static void draw_state(struct canvas *c, const struct solve *v, int y)
{
    if (v->reason == RUNNING) {
        canvas_text(c, 1, y, v->paused ? ST_WARN : ST_PLAIN, v->paused ? "paused" : "running");
        return;
    }
    draw_wrapped(c, 1, y, 2, v->reason == CONVERGED ? ST_GOOD : ST_BAD, v->why[0] ? v->why : reason_text(v->reason));
}

static void draw_about(struct canvas *c, const struct solve *v)
{
    char text[200];
    snprintf(text, sizeof text, "||r|| / ||b|| by iteration, log scale; on %s, %s%s%s, %s", v->dev->name,
             v->matrix.mat ? v->matrix.mat->of->format->name : "", v->matrix.kernel ? ", " : "",
             v->matrix.kernel ? v->matrix.kernel->name : "", type_name(v->real));
    draw_wrapped(c, 1, 1, PLOT_TOP - 1, ST_DIM, text);
}

/* The matrix that the solve works on: the session drops both together. */
static const struct matrix *matrix_of(const struct session *s, const struct solve *v)
{
    const struct matrix *m = s->matrices;
    while (m && &m->csr != v->matrix.csr) m = m->next;
    return m;
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    struct solve *v = s->solve;
    draw_title(c, v ? v->solver->name : "solve", v ? matrix_of(s, v) : NULL, "%s", "");
    if (!v || !v->history.residual) {
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "nothing was solved yet: `solve cg` or `solve jacobi` does");
        return;
    }
    int lines = draw_figures(c, v, st, c->h, false) - c->h; /* outside, only to count them */
    int room = c->h - (solve_parted(v) ? 1 : 0) - (st->full ? 1 : 0);
    bool small = room - lines < AROUND + 3;
    if (small) lines = draw_figures(c, v, st, c->h, true) - c->h;
    int h = room - lines - (small ? SMALL_AROUND : AROUND), y = small ? SMALL_TOP : PLOT_TOP;
    if (!small) draw_about(c, v);
    if (h > 1 && c->w >= 30) y = draw_plot(c, v, y, h);
    y = draw_figures(c, v, st, y, small);
    if (!small) draw_phases(c, v, y);
    draw_state(c, v, draw_alarm(c, v, y + (small ? 0 : 2)));
}

/* ---- keys: they are for a solve that goes on; what steps it is whoever called live ---- */

enum { COUNT_MOST = 100000000 };

/* Digits before a key: how many times. */
static bool take_count(struct view_state *st, int k)
{
    if (k < '0' || k > '9' || st->count > COUNT_MOST / 10) return false;
    st->count = 10 * st->count + k - '0';
    snprintf(st->message, sizeof st->message, "%lld: s so many steps, b so many back", (long long)st->count);
    return true;
}

static void go_back(struct solve *v, struct view_state *st, int64_t n)
{
    struct err e = {0};
    if (v->iterations <= v->base)
        snprintf(st->message, sizeof st->message, "there is nothing before iteration %lld to go back to",
                 (long long)v->base);
    else if (!solve_back(v, n, &e))
        snprintf(st->message, sizeof st->message, "%.119s", e.text);
}

static bool ask(struct view_state *st, int k, const char *question)
{
    st->asks = true;
    st->asks_for = k;
    snprintf(st->question, sizeof st->question, "%s", question);
    return true;
}

/* Nothing is asked for that the solver would refuse. */
static bool ask_if(struct view_state *st, bool has, int k, const char *question, const struct solve *v,
                   const char *what)
{
    if (has) return ask(st, k, question);
    snprintf(st->message, sizeof st->message, "%s %s", v->solver->name, what);
    return true;
}

static bool ask_precond(struct view_state *st)
{
    char text[sizeof st->question] = "preconditioner (none";
    for (int i = 0; preconds[i] && strlen(text) + strlen(preconds[i]->name) + 6 < sizeof text; i++)
        strcat(strcat(text, ", "), preconds[i]->name);
    return ask(st, 'p', strcat(text, "): "));
}

static bool key(struct session *s, struct view_state *st, int k)
{
    struct solve *v = s->solve;
    bool any = k > 0 && k < 0x7f && strchr(" fsnbBtomp", k);
    if (v && v->reason != RUNNING && any)
        snprintf(st->message, sizeof st->message,
                 "this solve has ended; at the prompt `change tol 1e-12; continue` goes on");
    if (!v || v->reason != RUNNING) return false;
    if (take_count(st, k)) return true;
    int64_t n = st->count;
    if (k >= 0) st->count = 0;
    if (k == ' ') v->paused = !v->paused, v->steps_left = 0;
    if (k == 'f') v->paused = false, v->steps_left = 0;
    if (k == 's' || k == UI_ENTER) v->paused = false, v->steps_left = n ? n : 1;
    if (k == 'n') v->paused = false, v->steps_left = n ? n : 10;
    if (k == 'b') go_back(v, st, n ? n : 1);
    if (k == 'B') go_back(v, st, n ? n : 10);
    if (k == 't') return ask(st, k, "tol, of ||r|| / ||b||: ");
    if (k == 'o') return ask_if(st, v->solver->omega > 0, k, "omega, between 0 and 2: ", v, "has no omega");
    if (k == 'm')
        return ask_if(st, v->solver->restarts, k, "restart after so many iterations: ", v, "does not restart");
    if (k == 'p' && v->solver->no_precond) return ask_if(st, false, k, NULL, v, "takes no preconditioner");
    if (k == 'p') return ask_precond(st);
    return true;
}

static bool change_of(const struct view_state *st, struct solve_change *c, struct err *e)
{
    const char *text = st->asked;
    double number = 0;
    *c = (struct solve_change){.tol = NAN, .omega = NAN, .m = -1, .maxit = -1};
    if (st->asks_for == 'p') {
        c->change_pre = true;
        return precond_typed(text, &c->pre) || fail(e, E_USAGE, "there is no preconditioner `%s`", text);
    }
    if (!is_real(text, &number)) return fail(e, E_USAGE, "expected a number, found `%s`", text);
    if (st->asks_for == 't') c->tol = number;
    if (st->asks_for == 'o') c->omega = number;
    if (st->asks_for == 'm' && (number < 1 || number > 1e9 || number != floor(number)))
        return fail(e, E_USAGE, "expected a number of iterations, found `%s`", text);
    if (st->asks_for == 'm') c->m = (int64_t)number;
    return true;
}

static void answer(struct session *s, struct view_state *st)
{
    struct solve *v = s->solve;
    struct solve_change c;
    struct err e = {0};
    if (!v || v->reason != RUNNING) return;
    if (!change_of(st, &c, &e) || !solve_change(v, &c, &e))
        snprintf(st->message, sizeof st->message, "%.119s", e.text);
    else if (isnan(c.tol))
        snprintf(st->message, sizeof st->message, "begun anew from the x of iteration %lld", (long long)v->base);
    else
        snprintf(st->message, sizeof st->message, "tol is %g now", v->set.tol);
}

static const char all_keys[] =
    "? help  q leave  space pause  s step  n ten  b back  t tol  x stop, keep x  B ten back  p preconditioner  "
    "o omega  m restart  f on to the end  0-9 a count before s or b";

/* A solve that ended is only looked at; a command goes on with it. */
static const char *keys_now(const struct session *s)
{
    const struct solve *v = s->solve;
    if (v && v->reason == RUNNING) return all_keys;
    return v && v->result.x && v->b_norm > 0 ? "? help  q leave  change at the prompt goes on" : "? help  q leave";
}

static const char *nothing(const struct session *s)
{
    return s->solve ? NULL : "nothing was solved yet; `solve cg` does";
}

/* A row for each iteration. */
static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct solve *v = s->solve;
    (void)st, (void)w, (void)h, (void)e;
    for (int64_t i = 0; i <= v->iterations; i++) {
        out_row(s->out);
        out_str(s->out, "matrix", NULL, v->matrix.name);
        out_str(s->out, "solver", NULL, v->solver->name);
        out_str(s->out, "device", NULL, v->dev->name);
        out_int(s->out, "iteration", NULL, i);
        out_num(s->out, "residual", NULL, v->history.residual[i], NULL);
        out_num(s->out, "time_us", NULL, v->dev->kind == DEV_EMU ? NAN : v->history.stamp[i], NULL);
    }
    return true;
}

static bool is_running(const struct session *s)
{
    return s->solve && s->solve->reason == RUNNING;
}

static bool has_ended(const struct session *s)
{
    return s->solve && s->solve->reason != STOPPED;
}

/* Digits are a count, m restarts. */
static bool claims(const struct session *s, int k)
{
    return is_running(s) && ((k >= '0' && k <= '9') || k == 'm');
}

const struct view view_solve = {
    .name = "solve",
    .about = "the residual of a solve by iteration, its rate, where its time goes, and its Ritz values",
    .keys = all_keys,
    .any = true,
    .state_size = sizeof(struct solve_state),
    .claims = claims,
    .is_running = is_running,
    .drive = solve_drive,
    .has_ended = has_ended,
    .keys_now = keys_now,
    .draw = draw,
    .key = key,
    .answer = answer,
    .nothing = nothing,
    .numbers = numbers,
};
