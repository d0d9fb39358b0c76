/* Is what `advise solver` takes the best method? For each square real matrix of at most MOST_ROWS rows, the method that
   is taken is run to its end, and then every other candidate for half of its time: a candidate that converges within it
   is a miss. If the method that is taken does not converge, every candidate gets GIVE_UP_US.

   Usage: bench_advice [on DEVICE] [FILE...]; without files, all matrices of the folder that WARPSPY_MATRICES names. */
#include "base/array.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "direct/direct.h"
#include "machine/device.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "session/solver_advice.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20000, REPEATS = 3 };
static const double GIVE_UP_US = 1e7, TOL = 1e-8, NEAR_TOL = 2;

struct bench {
    struct session s;
    struct device *dev;
    struct right_sides right;
    int matrices, solved, missed, unsolved, impossible, lies;
};

/* The end of one method: microseconds from the options to the answer, or INFINITY if it did not converge in time. */
struct outcome {
    double us, residual_true;
    const char *why;
};

static struct solve_options options_of(const struct bench *b, const struct trial *t)
{
    return (struct solve_options){.dev = b->dev,
                                  .solver = t ? t->solver : NULL,
                                  .pre = t ? t->pre : NULL,
                                  .real = T_F64,
                                  .tol = TOL,
                                  .maxit = 100000,
                                  .b = b->right.b,
                                  .known_ones = b->right.known_ones};
}

static struct outcome iterate(struct bench *b, const struct trial *t, double limit_us)
{
    struct solve *v = NULL;
    struct err e = {0};
    struct outcome o = {INFINITY, NAN, "refused"};
    struct solve_options options = options_of(b, t);
    double start = steady_us();
    bool ok = session_solve(&v, &b->s, b->s.current, &options, &e);
    while (ok && v->reason == RUNNING && steady_us() - start < limit_us) ok = solve_slice(v, 8e3, &e);
    if (ok && v->reason != RUNNING) ok = solve_end(v, &e);
    if (ok) {
        o.residual_true = v->result.residual_true;
        o.why = reason_name(v->reason);
        b->lies += v->reason == CONVERGED && !(o.residual_true <= NEAR_TOL * TOL);
        if (v->reason == CONVERGED) o.us = steady_us() - start;
    }
    solve_free(v);
    return o;
}

static struct outcome factorise(struct bench *b)
{
    struct direct_answer *answer = NULL;
    struct err e = {0};
    struct outcome o = {INFINITY, NAN, "refused"};
    struct direct_options options = {.b = b->right.b, .known_ones = b->right.known_ones, .tol = TOL};
    double start = steady_us();
    if (!direct_solve(&answer, &b->s.current->csr, &options, &e)) return o;
    o.residual_true = answer->residual_true;
    o.why = answer->met ? "converged" : answer->accurate ? "accurate" : "ended";
    if (answer->met || answer->accurate) o.us = steady_us() - start;
    direct_answer_free(answer);
    return o;
}

/* The least time of a few runs, because other programs may have had the processor. */
static struct outcome run(struct bench *b, const struct trial *t, double limit_us, int repeats)
{
    struct outcome best = {INFINITY, NAN, ""};
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
    struct outcome own = t ? run(b, t, GIVE_UP_US, REPEATS) : (struct outcome){INFINITY, NAN, "none"}, other = own;
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

static bool ask(struct bench *b, const char *name, struct err *e)
{
    struct solver_question q = {
        .matrix = b->s.current, .direct = true, .limit_us = solver_advice_limit_us, .options = options_of(b, NULL)};
    struct solver_advice a = {0};
    bool ok = solver_advise(&a, &b->s, &q, e);
    if (ok) judge(b, name, &a);
    solver_advice_free(&a);
    return ok;
}

static bool bench_file(struct bench *b, const char *path, struct err *e)
{
    char line[4200];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(line, sizeof line, "load \"%s\"", path);
    if (!run_line(&b->s, line)) return fail(e, E_INPUT, "%s cannot be loaded", path);
    const struct csr *A = &b->s.current->csr;
    bool ok = true;
    if (A->rows == A->cols && A->rows <= MOST_ROWS && !A->imag) {
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
    if (ok && first == argc) ok = bench_collection(&b, &e);
    for (int i = first; ok && i < argc; i++) ok = bench_file(&b, argv[i], &e);
    if (b.dev)
        printf(
            "# %s: %d matrices: %d solved, %d missed by more than twice, %d unsolved though a candidate solves them, "
            "%d that no candidate solves; %d converged falsely\n",
            b.dev->name, b.matrices, b.solved, b.missed, b.unsolved, b.impossible, b.lies);
    if (!ok) fprintf(stderr, "bench_advice: %s\n", e.text);
    if (nowhere) fclose(nowhere);
    devices_close();
    return !ok;
}
