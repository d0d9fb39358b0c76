/* Is what `advise solver` takes the best method? For each square real matrix of at most MAX_ROWS rows, the method that
   is taken is run to its end, and then every other candidate for half of its time: a candidate that converges within it
   is a miss. If the method that is taken does not converge, every candidate gets GIVE_UP_US.

   Usage: bench_advice [on DEVICE] [promises] [FILE | LINE ...]; a LINE, such as "gen poisson2d 100", is a command that
   makes the matrix. Without files, all matrices of the folder that WARPSPY_MATRICES names.

   With `promises`, the advice is asked for three times. Is the choice the same? Do the iterations and the time that the
   method then needs lie in the intervals of the first advice? Does `solve` without a method reach tol, and within three
   times the least time of the first five candidates? Times are those of the clock of the trials: on cpu, processor
   time, so use OMP_NUM_THREADS=1. */
#include "advice/solver_advice.h"
#include "base/array.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "direct/direct.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 20000, REPEATS = 3 };
static const double GIVE_UP_US = 1e7, TOL = 1e-8, NEAR_TOL = 2;

struct bench {
    struct session s;
    struct device *dev;
    struct right_sides right;
    bool promises;
    int kept, same, in_iterations, in_time, quick, said; /* of the matrices, with `promises` */
    int matrices, solved, missed, unsolved, impossible, lies;
};

/* The end of one method: microseconds from the options to the answer, or INFINITY if it did not converge in time. */
struct outcome {
    double us, residual_true;
    int64_t iterations;
    const char *why;
};

static struct solve_options options_of(const struct bench *b, const struct trial *t)
{
    return (struct solve_options){.dev = b->dev,
                                  .solver = t ? t->solver : NULL,
                                  .pre = t ? t->pre : NULL,
                                  .real = P_F64,
                                  .tol = TOL,
                                  .maxit = 100000,
                                  .b = b->right.b,
                                  .known_ones = b->right.known_ones};
}

static struct outcome iterate(struct bench *b, const struct trial *t, double limit_us)
{
    struct solve *v = NULL;
    struct err e = {0};
    struct outcome o = {INFINITY, NAN, 0, "refused"};
    struct solve_options options = options_of(b, t);
    double start = trial_clock_us(b->dev);
    bool ok = session_solve(&v, &b->s, b->s.current, &options, &e);
    while (ok && v->reason == RUNNING && trial_clock_us(b->dev) - start < limit_us) ok = solve_slice(v, 8e3, &e);
    if (ok && v->reason != RUNNING) ok = solve_end(v, &e);
    if (ok) {
        o.residual_true = v->result.residual_true;
        o.iterations = v->iterations;
        o.why = reason_name(v->reason);
        b->lies += v->reason == CONVERGED && !(o.residual_true <= NEAR_TOL * TOL);
        if (v->reason == CONVERGED) o.us = trial_clock_us(b->dev) - start;
    }
    solve_free(v);
    return o;
}

static struct outcome factorise(struct bench *b)
{
    struct direct_answer *answer = NULL;
    struct err e = {0};
    struct outcome o = {INFINITY, NAN, 0, "refused"};
    struct direct_options options = {.b = b->right.b, .known_ones = b->right.known_ones, .tol = TOL};
    double start = trial_clock_us(b->dev);
    if (!direct_solve(&answer, &b->s.current->csr, &options, &e)) return o;
    o.residual_true = answer->residual_true;
    o.why = answer->met ? "converged" : answer->accurate ? "accurate" : "ended";
    if (answer->met || answer->accurate) o.us = trial_clock_us(b->dev) - start;
    direct_answer_free(answer);
    return o;
}

/* The least time of a few runs, because other programs may have had the processor. */
static struct outcome run(struct bench *b, const struct trial *t, double limit_us, int repeats)
{
    struct outcome best = {INFINITY, NAN, 0, ""};
    for (int i = 0; i < repeats; i++) {
        struct outcome o = t->solver ? iterate(b, t, limit_us) : factorise(b);
        if (i == 0 || o.us < best.us) best = o;
        if (!(o.us < 2e5)) break; /* a long run is measured once */
    }
    return best;
}

static bool may_run(const struct trial *t)
{
    return t->state != TRIAL_REFUSED && (t->solver || t->state == TRIAL_CONVERGED || t->accurate);
}

/* The fastest candidate other than the first; NULL: none converges within limit_us. */
static const struct trial *fastest_other(struct bench *b, const struct solver_advice *a, double limit_us,
                                         struct outcome *best)
{
    const struct trial *found = NULL;
    for (int i = 1; i < a->n; i++) {
        if (!may_run(&a->at[i])) continue;
        struct outcome o = run(b, &a->at[i], limit_us, 1);
        if (o.us < limit_us && o.us < 0.9 * limit_us) o = run(b, &a->at[i], limit_us, REPEATS);
        if (!(o.us < limit_us)) continue;
        found = &a->at[i];
        *best = o;
        limit_us = o.us;
    }
    return found;
}

static void judge(struct bench *b, const char *name, const struct solver_advice *a)
{
    const struct trial *t = a->taken < 0 ? NULL : &a->at[a->taken];
    struct outcome own = t ? run(b, t, GIVE_UP_US, REPEATS) : (struct outcome){INFINITY, NAN, 0, "none"}, other = own;
    bool solved = isfinite(own.us);
    const struct trial *faster = fastest_other(b, a, solved ? own.us / 2 : GIVE_UP_US, &other);
    const char *verdict = solved ? (faster ? "missed" : "solved") : faster ? "unsolved" : "impossible";
    b->solved += solved && !faster;
    b->missed += solved && faster;
    b->unsolved += !solved && faster;
    b->impossible += !solved && !faster;
    printf("%-24s %8lld %9lld %-10s %-22s %10.3f ms %8.1e %-14s", name, (long long)a->card.A->rows,
           (long long)a->card.A->nnz, verdict, t ? trial_name(t).text : "-", own.us / 1e3, own.residual_true, own.why);
    if (faster) printf(" %s: %.3f ms", trial_name(faster).text, other.us / 1e3);
    printf("\n");
    fflush(stdout);
}

/* ---- promises ---- */

static double chosen_at; /* trial_clock_us when the trials of `solve` were over */
static struct device *clock_of;
static void note_choice(struct solver_advice *a)
{
    chosen_at = trial_clock_us(clock_of);
}

/* `solve` without a method: its time after the trials. */
static struct outcome solve_alone_of(struct bench *b)
{
    static const char line[] = "solve within 600 tol 1e-8 maxit 100000";
    struct outcome o = {INFINITY, NAN, 0, "failed"};
    clock_of = b->dev;
    solver_advice_hook(note_choice);
    bool ok = run_line(&b->s, line);
    solver_advice_hook(NULL);
    double end = trial_clock_us(b->dev);
    const struct solve *v = b->s.solve;
    const struct direct_answer *d = b->s.direct;
    bool direct = d && d->A == &b->s.current->csr;
    if (direct) o.why = d->met ? "direct" : d->accurate ? "accurate" : "ended";
    if (!direct && v) o.why = reason_name(v->reason);
    bool met = direct ? d->met || d->accurate : v && v->reason == CONVERGED;
    if (met) o.us = end - chosen_at;
    (void)ok;
    return o;
}

/* The least time of the first candidates, run to their end. */
static double least_of(struct bench *b, const struct solver_advice *a, struct outcome *taken, const struct trial **best)
{
    enum { FIRST = 5 };
    double least = INFINITY;
    for (int i = 0, n = 0; i < a->n && n < FIRST; i++) {
        if (!may_run(&a->at[i]) && i != a->taken) continue;
        struct outcome o = run(b, &a->at[i], isfinite(least) ? 1.05 * least : GIVE_UP_US, REPEATS);
        n++;
        if (i == a->taken) *taken = o;
        if (o.us < least) least = o.us, *best = &a->at[i];
    }
    return least;
}

static void hold(struct bench *b, const char *name, const struct solver_advice *a, bool same, const char *others)
{
    const struct trial *t = a->taken < 0 ? NULL : &a->at[a->taken], *best = NULL;
    struct outcome own = {INFINITY, NAN, 0, "none"}, alone = solve_alone_of(b);
    double least = least_of(b, a, &own, &best);
    bool ended = isfinite(own.us), open = t && !isfinite(t->us.high);
    bool in_iterations =
        !t || !t->solver || !ended || (own.iterations >= t->needs.low && own.iterations <= t->needs.high);
    bool in_time = !t || (ended ? own.us >= t->us.low && own.us <= t->us.high : open);
    bool quick = alone.us <= fmax(3 * least, least + 1e4), said = isfinite(alone.us) || !isfinite(least);
    b->same += same, b->in_iterations += in_iterations, b->in_time += in_time, b->quick += quick, b->said += said;
    b->kept += same && in_iterations && in_time && (quick || said);
    printf("%-24s %7lld %8lld %-20s %s | %s%lld in %s | %s%.2f ms in %s | %s%.2f ms %s, best %.2f ms %s%s%s%s\n", name,
           (long long)a->card.A->rows, (long long)a->card.A->nnz, t ? trial_name(t).text : "-",
           a->delayed ? "delayed"
           : a->late  ? "late"
                      : "",
           in_iterations ? "" : "OUTSIDE ", (long long)own.iterations, t ? needs_text(t).text : "-",
           in_time ? "" : "OUTSIDE ", own.us / 1e3, t ? time_text(t).text : "-",
           quick  ? ""
           : said ? "UNSOLVED "
                  : "SLOW ",
           alone.us / 1e3, alone.why, least / 1e3, best ? trial_name(best).text : "-", same ? "" : " | CHANGES to",
           same ? "" : others, own.why[0] == 'c' ? "" : own.why);
    fflush(stdout);
}

static bool ask_again(struct bench *b, const struct solver_question *q, const struct solver_advice *first, bool *same,
                      char *others, size_t size, struct err *e)
{
    const struct trial *t = first->taken < 0 ? NULL : &first->at[first->taken];
    *same = true;
    for (int i = 1; i < REPEATS; i++) {
        struct solver_advice a = {0};
        bool ok = solver_advise(&a, &b->s, q, e);
        const struct trial *u = !ok || a.taken < 0 ? NULL : &a.at[a.taken];
        bool alike = !t ? !u : u && t->solver == u->solver && t->pre == u->pre;
        *same = *same && alike;
        if (!alike) snprintf(others + strlen(others), size - strlen(others), " %s;", u ? trial_name(u).text : "-");
        solver_advice_free(&a);
        if (!ok) return false;
    }
    return true;
}

static bool ask(struct bench *b, const char *name, struct err *e)
{
    struct solver_question q = {.matrix = b->s.current,
                                .direct = true,
                                .limit_us = solver_advice_limit_us,
                                .wait_us = b->promises ? INFINITY : 0,
                                .options = options_of(b, NULL)};
    struct solver_advice a = {0};
    bool ok = solver_advise(&a, &b->s, &q, e);
    bool same = true;
    char others[300] = "";
    if (ok && b->promises) ok = ask_again(b, &q, &a, &same, others, sizeof others, e);
    if (ok && b->promises) hold(b, name, &a, same, others);
    if (ok && !b->promises) judge(b, name, &a);
    solver_advice_free(&a);
    return ok;
}

static bool bench_file(struct bench *b, const char *path, struct err *e)
{
    char line[4200];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool is_line = strchr(path, ' ') != NULL;
    if (is_line) name = path;
    snprintf(line, sizeof line, is_line ? "%s" : "load \"%s\"", path);
    if (!run_line(&b->s, line)) return fail(e, E_INPUT, "%s cannot be loaded", path);
    const struct csr *A = &b->s.current->csr;
    bool ok = true;
    if (A->rows == A->cols && (b->promises || A->rows <= MAX_ROWS) && !A->imag) {
        b->matrices++;
        ok = right_sides_make(b->s.current, NULL, 1, &b->right, e) && ask(b, name, e);
        right_sides_free(&b->right);
    }
    session_drop(&b->s, b->s.current);
    return ok;
}

static bool bench_collection(struct bench *b, struct err *e)
{
    const char *folder = getenv("WARPSPY_MATRICES");
    char pattern[4200];
    glob_t files;
    bool ok = true;
    if (!folder) return fail(e, E_USAGE, "no files are given, and WARPSPY_MATRICES names no folder");
    snprintf(pattern, sizeof pattern, "%s/*.mtx.gz", folder);
    if (glob(pattern, 0, NULL, &files)) return fail(e, E_INPUT, "%s has no matrices", folder);
    for (size_t i = 0; ok && i < files.gl_pathc; i++) ok = bench_file(b, files.gl_pathv[i], e);
    globfree(&files);
    return ok;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    struct err e = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    bool named = argc > 2 && !strcmp(argv[1], "on");
    b.dev = device_open(named ? argv[2] : device_count(DEV_CUDA) ? "cuda:0" : "cpu", &e);
    bool ok = b.dev && nowhere && session_new(&b.s, nowhere, stderr, OUT_TEXT, &e);
    int first = named ? 3 : 1;
    b.promises = first < argc && !strcmp(argv[first], "promises");
    first += b.promises;
    if (ok && first == argc) ok = bench_collection(&b, &e);
    for (int i = first; ok && i < argc; i++) ok = bench_file(&b, argv[i], &e);
    if (b.promises)
        printf("# %d matrices: %d same choice, %d in iterations, %d in time, %d solve within 3 times the best, %d "
               "solved or none "
               "could; %d all\n",
               b.matrices, b.same, b.in_iterations, b.in_time, b.quick, b.said, b.kept);
    else if (b.dev)
        printf(
            "# %s: %d matrices: %d solved, %d missed by more than twice, %d unsolved though a candidate solves them, "
            "%d that no candidate solves; %d converged falsely\n",
            b.dev->name, b.matrices, b.solved, b.missed, b.unsolved, b.impossible, b.lies);
    if (!ok) fprintf(stderr, "bench_advice: %s\n", e.text);
    if (nowhere) fclose(nowhere);
    devices_close();
    return !ok;
}
