/* Prints what a solve cost: its preconditioner, its times, its copies and the phases of its iterations. */
#include "output_solve_costs.h"
#include "base/text.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "output.h"
#include "solvers/precond.h"
#include "solvers/solve.h"

#include <math.h>
#include <stdio.h>

/* What an iteration costs, relative to one without the preconditioner, and the share of the iterations that the
   preconditioner must save. The phases are measured with waits, which add a little to each phase. */
static void out_break_even(struct out *o, const struct solve *v)
{
    double all = 0, precond = 0;
    char text[160];
    for (int i = 0; i < v->time.nphases; i++) {
        const struct phase *p = &v->time.phase[i];
        all += p->us;
        if (p->id == PHASE_PRECOND) precond += p->us;
    }
    bool known = v->dev->kind != DEV_EMU && v->pre.method && precond > 0 && precond < all;
    double cost = known ? all / (all - precond) : NAN;
    out_num(o, "precond_cost", NULL, cost, "%.3g");
    snprintf(text, sizeof text, "an iteration takes %.2g times as long as without %s, which must save %.0f%% of them",
             cost, v->pre.method ? v->pre.method->name : "", 100 * (1 - 1 / cost));
    if (known && out_mode(o) == OUT_TEXT) out_str(o, NULL, "break-even", text);
}

void out_solve_precond(struct out *o, const struct solve *v)
{
    bool timed = v->pre.method && v->dev->kind != DEV_EMU;
    char note[200] = "", how[240] = "", size[32];
    if (v->pre.method && v->pre.method->note) v->pre.method->note(v, note, sizeof note);
    if (v->pre.method && v->pre.method->how) v->pre.method->how(v, how, sizeof how);
    const char *heading = v->engine.factors ? "factored by" : "preconditioner";
    out_str(o, "precond", v->pre.method ? heading : NULL, v->pre.method ? v->pre.method->name : NULL);
    out_str(o, "precond_note", *note ? "structure of M" : NULL, *note ? note : NULL);
    out_str(o, "precond_how", *how ? "applied" : NULL, *how ? how : NULL);
    bool held = v->pre.method && !v->engine.runs;
    out_num(o, "precond_bytes", NULL, held ? (double)v->pre.held : NAN, "%.0f");
    out_time(o, "precond_us", timed ? "made in" : NULL, timed ? v->pre.us : NAN);
    out_time(o, "total_us", timed ? "in total" : NULL, timed ? v->pre.us + v->time.us : NAN);
    if (held && out_mode(o) == OUT_TEXT)
        out_str(o, NULL, "memory of M", show_bytes((double)v->pre.held, size, sizeof size));
    out_break_even(o, v);
}

/* A lower bound on the time of an iteration: the bytes it moves, divided by the measured bandwidth. */
static void out_bound(struct out *o, const struct solve *v, double bound, double queued)
{
    char text[160];
    snprintf(text, sizeof text,
             "%.2f us per iteration (its bytes at %.0f GB/s); %.2f us if iterations are queued without waiting", bound,
             v->dev->ceilings.read_gbs, queued);
    if (out_mode(o) != OUT_TEXT || v->dev->kind == DEV_EMU || v->engine.runs) return;
    if (!isfinite(bound)) out_str(o, NULL, "at best", "not measured, run `ceilings`");
    if (isfinite(bound) && isfinite(queued)) out_str(o, NULL, "at best", text);
}

/* The time spent iterating, including the time that the host waits; the emulator does not model time. */
static void out_times(struct out *o, const struct solve *v)
{
    bool timed = v->dev->kind != DEV_EMU, some = timed && v->iterations > 0;
    double bytes = solve_bytes(v), gbs = v->dev->ceilings.read_gbs;
    double bound = timed && v->dev->ceilings.measured && gbs > 0 ? bytes / gbs * 1e-3 : NAN;
    double queued = some ? v->time.us_iteration : NAN;
    out_num(o, "time_ms", NULL, timed ? v->time.us / 1000 : NAN, NULL);
    out_time(o, NULL, "time", timed ? v->time.us : NAN);
    out_time(o, "us_per_iteration", "per iteration", some ? v->time.us / (double)v->iterations : NAN);
    out_num(o, "us_queued", NULL, queued, NULL);
    out_num(o, "bytes_per_iteration", NULL, bytes, "%.0f");
    out_num(o, "bound_us", NULL, bound, "%.2f");
    out_bound(o, v, bound, queued);
}

/* The copies of vectors (b, x0, x) and of the matrix between the host and the device. */
static void out_copies(struct out *o, const struct solve *v)
{
    const struct copied *vectors = &v->time.copied, none = {0};
    const struct copied *matrix = v->matrix.mat ? &v->matrix.mat->copied : &none;
    char text[160], bytes[32];
    int n = snprintf(text, sizeof text, "vectors: %s at %.2f GB/s",
                     show_bytes((double)vectors->bytes, bytes, sizeof bytes), copied_gbs(vectors));
    if (matrix->bytes)
        snprintf(text + n, sizeof text - (size_t)n, "; matrix: %s at %.2f GB/s",
                 show_bytes((double)matrix->bytes, bytes, sizeof bytes), copied_gbs(matrix));
    out_int(o, "vectors_copied_bytes", NULL, vectors->bytes);
    out_num(o, "vectors_copied_us", NULL, vectors->bytes ? vectors->us : NAN, NULL);
    out_int(o, "matrix_copied_bytes", NULL, matrix->bytes);
    out_num(o, "matrix_copied_us", NULL, matrix->bytes ? matrix->us : NAN, NULL);
    if (vectors->bytes && out_mode(o) == OUT_TEXT) out_str(o, NULL, "copied", text);
}

/* The shares of the time, for example "spmv 61%, dot 12%, update 27%". */
static const char *phase_split(const struct solve *v, char *out, size_t size)
{
    double all = 0;
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < v->time.nphases; i++) all += v->time.phase[i].us;
    for (int i = 0; i < v->time.nphases && all > 0 && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s %.0f%%", i ? ", " : "", phase_name(v->time.phase[i].id),
                               100 * v->time.phase[i].us / all);
    return out[0] ? out : NULL;
}

static void out_phases(struct out *o, const struct solve *v)
{
    char split[160];
    const char *name[SOLVE_PHASES];
    double us[SOLVE_PHASES];
    for (int i = 0; i < v->time.nphases; i++) {
        name[i] = phase_name(v->time.phase[i].id);
        us[i] = v->dev->kind == DEV_EMU ? NAN
                : v->time.phase[i].n    ? v->time.phase[i].us / (double)v->time.phase[i].n
                                        : 0;
    }
    out_strs(o, "phases", v->time.nphases, name);
    out_nums(o, "phase_us", v->time.nphases, us);
    if (out_mode(o) == OUT_TEXT && v->dev->kind != DEV_EMU && v->time.nphases)
        out_str(o, NULL, "spent on", phase_split(v, split, sizeof split));
}

void out_solve_costs(struct out *o, const struct solve *v)
{
    out_times(o, v);
    out_copies(o, v);
    out_phases(o, v);
}
