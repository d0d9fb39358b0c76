/* Solves A x = b by a KSP of PETSc. Each iteration is an answer. Rank 0 reads its input between iterations, so that the
   user can stop, pause and step the solve. */
#include "ranks/protocol.h"
#include "ranks_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time between two looks at the input, and between two flushes of answers, in seconds. */
static const double look_s = 0.008, flush_s = 0.005;

enum { BATCH_MAX = 1024 };

struct solving {
    struct worker *w;
    KSP ksp;
    Vec x, b;
    void *default_test; /* the context of KSPConvergedDefault */
    double began, flushed, paused_s;
    PetscInt look_at; /* the iteration at which to look at the input, on all ranks */
    PetscInt looked;  /* the iteration of the last look */
    long long left;   /* rank 0: pause after this many iterations; 0: do not pause */
    bool paused, stopped;
    /* rank 0: iterations that were not answered yet, the first of which is batch_from */
    struct iteration {
        double r, us;
    } batch[BATCH_MAX];
    PetscInt batch_from;
    int nbatch;
};

/* ---- iterations ---- */

/* Answer the iterations so far, many at a time: an iteration may take a few microseconds. */
static void answer_batch(struct solving *v)
{
    if (v->w->rank || v->w->over || !v->nbatch) return;
    printf("{\"type\":\"its\",\"n\":%lld,\"r\":[", (long long)v->batch_from);
    for (int i = 0; i < v->nbatch; i++) printf("%s%.12g", i ? "," : "", v->batch[i].r);
    printf("],\"us\":[");
    for (int i = 0; i < v->nbatch; i++) printf("%s%.1f", i ? "," : "", v->batch[i].us);
    printf("]}\n");
    v->nbatch = 0;
    answer_flush(v->w);
    v->flushed = seconds();
}

static PetscErrorCode monitor(KSP ksp, PetscInt it, PetscReal norm, void *user)
{
    struct solving *v = user;
    if (v->w->rank) return 0;
    double now = seconds();
    bool follows = it == v->batch_from + v->nbatch;
    if (v->nbatch && !follows) answer_batch(v);
    if (!v->nbatch) v->batch_from = it;
    v->batch[v->nbatch++] = (struct iteration){(double)norm, 1e6 * (now - v->began - v->paused_s)};
    if (v->nbatch == BATCH_MAX || now - v->flushed > flush_s) answer_batch(v);
    return 0;
}

/* ---- the user ---- */

/* Obey a line that came during the solve. */
static void take_line(struct solving *v, const char *line)
{
    if (!strcmp(line, "pause")) v->paused = true;
    if (!strncmp(line, "go ", 3)) {
        v->paused = false;
        v->left = atoll(line + 3);
    }
    if (!strcmp(line, "stop") || !strcmp(line, "quit")) {
        v->stopped = true;
        v->w->over |= *line == 'q';
    }
}

/* Read the input; wait while the solve is paused. */
static void look(struct solving *v, PetscInt it)
{
    for (char *line; (line = input_line(v->w, false));) take_line(v, line);
    if (v->paused && !v->stopped && !v->w->over) {
        double start = seconds();
        answer_batch(v);
        answer(v->w, "{\"type\":\"paused\",\"n\":%lld}", (long long)it);
        answer_flush(v->w);
        while (v->paused && !v->stopped && !v->w->over) {
            char *line = input_line(v->w, true);
            if (line) take_line(v, line);
        }
        v->paused_s += seconds() - start;
    }
    v->stopped |= v->w->over;
}

/* The number of iterations until the next look: those of look_s, but at most twice as many as were done. */
static long long looks_after(const struct solving *v, PetscInt it)
{
    double each = (seconds() - v->began - v->paused_s) / (double)(it + 1);
    double n = look_s / (each > 0 ? each : look_s);
    if (n > 2.0 * (double)it) n = 2.0 * (double)it;
    if (v->left && n > (double)v->left) n = (double)v->left;
    return n < 1 ? 1 : (long long)n;
}

/* Called by PETSc on all ranks with the same iteration. */
static PetscErrorCode test(KSP ksp, PetscInt it, PetscReal norm, KSPConvergedReason *reason, void *user)
{
    struct solving *v = user;
    PetscFunctionBeginUser;
    PetscCall(KSPConvergedDefault(ksp, it, norm, reason, v->default_test));
    if (*reason || it < v->look_at) PetscFunctionReturn(0);
    long long told[2] = {0};
    if (!v->w->rank) {
        bool step = v->left > 0;
        v->left -= step ? it - v->looked : 0;
        if (step && v->left <= 0) v->paused = true, v->left = 0;
        v->looked = it;
        look(v, it);
        told[0] = v->stopped;
        told[1] = looks_after(v, it);
    }
    tell_all(v->w, told, 2);
    v->stopped = told[0];
    v->look_at = it + (PetscInt)told[1];
    if (v->stopped) *reason = KSP_CONVERGED_ITS;
    PetscFunctionReturn(0);
}

/* ---- options ---- */

/* The first of the options that nothing has read, if it is one of this solve; else "". */
static PetscErrorCode find_unused(const struct worker *w, const char *options, char *out, size_t size)
{
    PetscInt n;
    char **names, **values;
    long long found = 0;
    PetscFunctionBeginUser;
    out[0] = 0;
    PetscCall(PetscOptionsLeftGet(NULL, &n, &names, &values));
    for (PetscInt i = 0; i < n && !out[0]; i++) {
        const char *at = strstr(options, names[i]);
        if (at) snprintf(out, size, "-%s", names[i]);
    }
    PetscCall(PetscOptionsLeftRestore(NULL, &n, &names, &values));
    found = out[0] != 0;
    tell_all(w, &found, 1); /* rank 0 decides */
    if (!found) out[0] = 0;
    if (found && !out[0]) snprintf(out, size, "an option");
    PetscFunctionReturn(0);
}

static PetscErrorCode use_options(const struct worker *w, const char *options)
{
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsClear(NULL));
    if (w->base_options) PetscCall(PetscOptionsInsertString(NULL, w->base_options));
    PetscCall(PetscOptionsInsertString(NULL, options));
    PetscFunctionReturn(0);
}

/* ---- a solve ---- */

static PetscErrorCode new_ksp(struct solving *v, double tol, long long maxit, bool guess)
{
    PetscViewer file;
    struct worker *w = v->w;
    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(w->A, &v->x, &v->b));
    PetscCall(file_open(w, RANKS_B, FILE_MODE_READ, &file));
    PetscCall(VecLoad(v->b, file));
    PetscCall(PetscViewerDestroy(&file));
    if (guess) {
        PetscCall(file_open(w, RANKS_X, FILE_MODE_READ, &file));
        PetscCall(VecLoad(v->x, file));
        PetscCall(PetscViewerDestroy(&file));
    }
    PetscCall(KSPCreate(w->comm, &v->ksp));
    PetscCall(KSPSetOperators(v->ksp, w->A, w->A));
    PetscCall(KSPSetTolerances(v->ksp, tol, 1e-300, 1e5, (PetscInt)maxit));
    PetscCall(KSPSetInitialGuessNonzero(v->ksp, guess ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(KSPSetFromOptions(v->ksp));
    PetscCall(KSPConvergedDefaultCreate(&v->default_test));
    PetscCall(KSPSetConvergenceTest(v->ksp, test, v, NULL));
    PetscCall(KSPMonitorSet(v->ksp, monitor, v, NULL));
    PetscFunctionReturn(0);
}

static PetscErrorCode set_up(struct solving *v, double *us)
{
    PetscFunctionBeginUser;
    PetscCall(events_begin(v->w, PHASE_SET_UP));
    PetscCall(PetscLogStagePush(v->w->stage[PHASE_SET_UP]));
    double start = seconds();
    PetscErrorCode why = KSPSetUp(v->ksp);
    if (!why) why = KSPSetUpOnBlocks(v->ksp);
    *us = 1e6 * (seconds() - start);
    PetscCall(PetscLogStagePop());
    PetscFunctionReturn(why);
}

/* What was set up. `first` is the norm that PETSc compares with tol times itself. */
static PetscErrorCode answer_begun(const struct solving *v, double us)
{
    PC pc;
    KSPType ksp_type;
    PCType pc_type;
    MatSolverType solver = NULL;
    KSPNormType norm;
    PetscFunctionBeginUser;
    PetscCall(KSPGetPC(v->ksp, &pc));
    PetscCall(KSPGetType(v->ksp, &ksp_type));
    PetscCall(PCGetType(pc, &pc_type));
    PetscCall(KSPGetNormType(v->ksp, &norm));
    if (!strcmp(pc_type, PCLU) || !strcmp(pc_type, PCCHOLESKY)) PetscCall(PCFactorGetMatSolverType(pc, &solver));
    answer(v->w, "{\"type\":\"begun\",\"ksp\":\"%s\",\"pc\":\"%s\",\"library\":\"%s\",\"norm\":\"%s\",\"us\":%.1f}",
           ksp_type, pc_type, solver ? solver : "", KSPNormTypes[norm], us);
    answer_flush(v->w);
    PetscFunctionReturn(0);
}

static PetscErrorCode iterate(struct solving *v)
{
    PetscFunctionBeginUser;
    PetscCall(events_begin(v->w, PHASE_SOLVE));
    PetscCall(PetscLogStagePush(v->w->stage[PHASE_SOLVE]));
    PetscCallMPI(MPI_Barrier(v->w->comm));
    v->began = v->flushed = seconds();
    PetscErrorCode why = KSPSolve(v->ksp, v->b, v->x);
    PetscCall(PetscLogStagePop());
    PetscFunctionReturn(why);
}

static PetscErrorCode answer_solved(struct solving *v)
{
    KSPConvergedReason reason;
    PetscInt its;
    PetscReal norm;
    PetscViewer file;
    double us = 1e6 * (seconds() - v->began - v->paused_s);
    PetscFunctionBeginUser;
    answer_batch(v);
    PetscCall(KSPGetConvergedReason(v->ksp, &reason));
    PetscCall(KSPGetIterationNumber(v->ksp, &its));
    PetscCall(KSPGetResidualNorm(v->ksp, &norm));
    PetscCall(file_open(v->w, RANKS_X, FILE_MODE_WRITE, &file));
    PetscCall(VecView(v->x, file));
    PetscCall(PetscViewerDestroy(&file));
    answer(v->w,
           "{\"type\":\"solved\",\"reason\":\"%s\",\"code\":%d,\"n\":%lld,\"r\":%.17g,\"stopped\":%d,\"us\":%.1f}",
           KSPConvergedReasons[reason], (int)reason, (long long)its, (double)norm, v->stopped, us);
    PetscFunctionReturn(0);
}

static PetscErrorCode run(struct solving *v, const char *options, double tol, long long maxit, bool guess)
{
    char unused[200];
    double us = 0;
    PetscFunctionBeginUser;
    PetscCall(use_options(v->w, options));
    PetscCall(new_ksp(v, tol, maxit, guess));
    PetscCall(set_up(v, &us));
    PetscCall(find_unused(v->w, options, unused, sizeof unused));
    PetscCheck(!unused[0], v->w->comm, PETSC_ERR_USER, "no part of this solve knows the option %s", unused);
    PetscCall(answer_begun(v, us));
    PetscCall(iterate(v));
    PetscCall(answer_solved(v));
    PetscFunctionReturn(0);
}

PetscErrorCode solve(struct worker *w, const char *line)
{
    struct solving v = {.w = w};
    int flags, at = 0;
    double tol;
    long long maxit;
    PetscFunctionBeginUser;
    PetscCheck(w->A, w->comm, PETSC_ERR_ORDER, "no matrix was loaded");
    PetscCheck(sscanf(line, "%d %lf %lld %n", &flags, &tol, &maxit, &at) >= 3, w->comm, PETSC_ERR_USER,
               "the command is not complete");
    v.paused = flags & 2;
    PetscErrorCode why = run(&v, line + at, tol, maxit, flags & 1);
    KSPDestroy(&v.ksp);
    if (v.default_test) KSPConvergedDefaultDestroy(v.default_test);
    VecDestroy(&v.x);
    VecDestroy(&v.b);
    PetscFunctionReturn(why);
}
