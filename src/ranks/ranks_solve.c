/* The engine of a solve on the ranks: PETSc iterates and sends each residual; the host computes the true residual. */
#include "ranks_solve.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "base/watch.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"
#include "protocol.h"
#include "ranks_private.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* After Ctrl-C, the time for the last answer, so that the prompt is back within 50 ms. */
static const double soon_us = 40000;

/* What a solve on the ranks needs beside struct solve, which refers to it. */
struct ranked {
    struct ranks *ranks; /* NULL: they have ended */
    struct device device;
    struct solver solver;
    struct precond pre;
    char solver_name[40], pre_name[40], reason[60];
    double scale;    /* the history holds PETSc's norm divided by this */
    bool direct;     /* no iterations, no norms */
    bool true_norm;  /* the norm is that of b - A x */
    bool waiting;    /* for PETSc's `solved` */
    bool told_pause; /* PETSc pauses, or will */
};

static struct ranked *ranked_of(const struct solve *v)
{
    return v->engine.data;
}

/* ---- answers during the solve ---- */

static enum reason reason_of(int code, bool stopped)
{
    enum { ITS = -3, DTOL = -4, NAN_OR_INF = -9 };
    if (stopped) return STOPPED;
    if (code > 0) return CONVERGED;
    return code == ITS ? MAX_ITERATIONS : code == DTOL ? DIVERGED : code == NAN_OR_INF ? NOT_A_NUMBER : BROKE_DOWN;
}

/* Iteration n. PETSc may send one again, at a restart. */
static bool take_iteration(struct solve *v, int64_t n, double r, double us, struct err *e)
{
    struct ranked *q = ranked_of(v);
    if (n == 0 && !q->true_norm) q->scale = r > 0 ? r : 1;
    if (n < 0 || n > v->iterations + 1) return fail(e, E_INTERNAL, "the ranks left out an iteration");
    return solve_record(v, n, r / q->scale, us, e);
}

static bool take_iterations(struct solve *v, const cJSON *a, struct err *e)
{
    int64_t n = (int64_t)reply_number(a, "n");
    const cJSON *r = cJSON_GetObjectItemCaseSensitive(a, "r"), *us = cJSON_GetObjectItemCaseSensitive(a, "us");
    bool ok = true;
    r = r ? r->child : NULL;
    for (us = us ? us->child : NULL; ok && r && us; r = r->next, us = us->next, n++)
        ok = take_iteration(v, n, cJSON_IsNumber(r) ? r->valuedouble : NAN, us->valuedouble, e);
    return ok;
}

static void take_end(struct solve *v, const cJSON *a)
{
    struct ranked *q = ranked_of(v);
    q->waiting = false;
    SCREEN_EDIT;
    v->reason = reason_of((int)reply_number(a, "code"), reply_number(a, "stopped") != 0);
    v->time.us = reply_number(a, "us");
    print_safe(reply_text(a, "reason"), strlen(reply_text(a, "reason")), 50, q->reason, sizeof q->reason);
}

static bool take_answer(struct solve *v, const cJSON *a, struct err *e)
{
    struct ranked *q = ranked_of(v);
    if (reply_is(a, "its")) return take_iterations(v, a, e);
    if (reply_is(a, "paused") && (q->told_pause || v->steps_left)) { /* else it was overtaken by `go` */
        solve_pause(v, q->told_pause = true);
        v->steps_left = 0;
    }
    if (reply_is(a, "solved")) take_end(v, a);
    if (!reply_is(a, "error")) return true;
    q->waiting = false;
    return reply_fail(a, e);
}

/* Take answers until the solve ends, or pauses if `pause` is set, or the time is over. */
static bool take_answers(struct solve *v, bool pause, double us, struct err *e)
{
    struct ranked *q = ranked_of(v);
    double start = steady_us();
    for (double left = us; q->waiting && !(pause && v->paused); left = us - (steady_us() - start)) {
        struct err why = {0};
        cJSON *a = ranks_next(q->ranks, left > 0 ? fmin(left, 1500) : 0, &why);
        if (why.code) q->waiting = false;
        if (why.code) return fail_at(e, why.code, why.where, "%s", why.text);
        bool ok = !a || take_answer(v, a, e);
        bool none = !a;
        cJSON_Delete(a);
        if (!ok) return false;
        if (left <= 0 && (none || us > 0)) break;
    }
    return true;
}

/* ---- the functions of the engine ---- */

static bool send(struct solve *v, const char *line, struct err *e)
{
    struct ranked *q = ranked_of(v);
    if (!q->ranks) return fail(e, E_DEVICE, "the ranks of this solve have ended");
    return ranks_send(q->ranks, line, e);
}

/* Let PETSc pause or go on as the user wishes. */
static bool steer(struct solve *v, struct err *e)
{
    struct ranked *q = ranked_of(v);
    char line[40];
    if (v->paused && !q->told_pause) {
        q->told_pause = true;
        return send(v, "pause", e);
    }
    if (v->paused || (!q->told_pause && !v->steps_left)) return true;
    q->told_pause = false;
    snprintf(line, sizeof line, "go %lld", (long long)v->steps_left);
    return send(v, line, e);
}

/* Wait for the steps that the user wants, or for the pause. Ctrl-C pauses. */
static bool finish_steps(struct solve *v, struct err *e)
{
    while (v->reason == RUNNING && !v->paused) {
        if (!take_answers(v, true, 2000, e)) return false;
        if (v->paused || watch_tick(v->matrix.watch, v->solver->name, v->iterations, v->set.maxit, NULL)) continue;
        solve_pause(v, true);
        v->steps_left = 0;
        return steer(v, e);
    }
    return true;
}

static bool slice(struct solve *v, double us, struct err *e)
{
    int64_t steps = v->steps_left;
    if (steps) solve_pause(v, false);
    if (!steer(v, e)) return false;
    if (v->paused) return take_answers(v, false, us, e);
    return steps ? finish_steps(v, e) : take_answers(v, false, us > 0 ? us : 1500, e);
}

/* Direct solvers send no norms: the residual after the solve is the true one, computed here. */
static bool measure_direct(struct solve *v, struct err *e)
{
    double *r = mem_new(v->n, sizeof *r, "the residual", e);
    if (!r) return false;
    reference_spmv(v->matrix.csr, 1, v->result.x, 0, r, P_F64, NULL);
    for (int64_t i = 0; i < v->n; i++) r[i] = v->b[i] - r[i];
    double us = v->time.us, residual = norm2(v->n, r) / v->b_norm;
    mem_free(r);
    return solve_record(v, 0, 1, 0, e) && solve_record(v, 1, residual, us, e);
}

static void put_x(struct solve *v, double *x)
{
    SCREEN_EDIT;
    v->result.x = x;
    if (v->iterations < 0) v->iterations = 0;
}

static bool fetch(struct solve *v, struct err *e)
{
    struct ranked *q = ranked_of(v);
    double *x = mem_new(v->n, sizeof *x, "the solution", e);
    if (!x || !petsc_read_vector(q->ranks, RANKS_X, x, v->n, e)) {
        mem_free(x);
        return false;
    }
    put_x(v, x);
    bool unknown = q->direct || !v->history.residual;
    return !unknown || measure_direct(v, e);
}

static bool end(struct solve *v, bool soon, struct err *e)
{
    struct ranked *q = ranked_of(v);
    if (v->result.x) return true;
    if (!q->ranks) return fail(e, E_DEVICE, "the ranks of this solve have ended, and its x with them");
    if (q->waiting && (!send(v, "stop", e) || !take_answers(v, false, soon_us, e))) return false;
    while (q->waiting && !soon) {
        soon = !watch_tick(v->matrix.watch, v->solver->name, v->iterations, v->set.maxit, NULL);
        if (!take_answers(v, false, 2000, e)) return false;
    }
    if (q->waiting) {
        q->ranks->busy = true;
        q->waiting = false;
        return fail(e, E_CANCELLED,
                    "the ranks are in the middle of an iteration and end the solve after it; its x is "
                    "not kept");
    }
    return fetch(v, e);
}

/* The ranks stop in the background; the next command waits for that. */
static void drop(struct solve *v)
{
    struct ranked *q = ranked_of(v);
    if (q && q->ranks && q->waiting && ranks_send(q->ranks, "stop", NULL)) q->ranks->busy = true;
    mem_free(q);
    v->engine.data = NULL;
    v->engine.runs = NULL;
}

static int explain(const struct solve *v, char *out, size_t size)
{
    const struct ranked *q = ranked_of(v);
    const char *norm = v->engine.residual;
    int n = 0;
    if (v->reason == CONVERGED && v->b_norm == 0)
        n = snprintf(out, size, "converged: "), snprintf(out + n, size - (size_t)n, "b = 0, so x = 0");
    else if (v->reason == CONVERGED && q->direct)
        n = snprintf(out, size, "converged: "),
        snprintf(out + n, size - (size_t)n, "relative residual %.2e, tol %.2e", v->residual, v->set.tol);
    else if (v->reason == CONVERGED)
        n = snprintf(out, size, "converged: "), snprintf(out + n, size - (size_t)n, "%s = %.2e, tol %.2e (PETSc: %s)",
                                                         norm, v->residual, v->set.tol, q->reason);
    else if (v->reason == DRIFTED)
        snprintf(out, size, "not converged: %s met tol %.2e, but the true residual is %.2e; give a smaller tol", norm,
                 v->set.tol, v->result.residual_true);
    else if (v->reason == MAX_ITERATIONS)
        snprintf(out, size, "stopped at the limit of %s, residual %.2e; give a larger maxit or a larger tol",
                 how_many(v->iterations, "iteration").text, v->residual);
    else if (v->reason == STOPPED)
        snprintf(out, size, "stopped by the user after iteration %lld; x is kept", (long long)v->iterations);
    else
        snprintf(out, size, "%s at iteration %lld: PETSc says %s; try another solver or preconditioner",
                 reason_name(v->reason), (long long)v->iterations, q->reason);
    return n;
}

static const struct solve_engine engine = {.slice = slice, .end = end, .explain = explain, .drop = drop};

/* ---- beginning ---- */

/* PETSc's options for the request. Later options take precedence. */
static bool options_of(const struct ranks_request *q, const struct solve_options *o, char *out, size_t size,
                       struct err *e)
{
    size_t n = 0;
    /* PETSc's minres has only the preconditioned norm. */
    const char *own = q->solver ? q->solver->peers.petsc : "";
    bool has_norm = q->solver && !(q->solver->symmetric && !q->solver->definite) && !strstr(own, "-ksp_norm_type");
    out[0] = 0;
    if (q->direct) text_append(out, size, "%s", q->direct->options);
    if (q->solver) text_append(out, size, "%s", own);
    if (has_norm) text_append(out, size, " -ksp_norm_type unpreconditioned");
    if (q->solver && o->m > 0) text_append(out, size, " -ksp_gmres_restart %lld", (long long)o->m);
    if (q->pre)
        text_append(out, size, " %s", q->pre->options);
    else if (q->solver && !strstr(own, "-pc_type"))
        text_append(out, size, " -pc_type none");
    if (q->options) text_append(out, size, " %s", q->options);
    for (char *p = out; *p; p++, n++) *p = (unsigned char)*p < ' ' ? ' ' : *p;
    return n + 1 < size || fail(e, E_LIMIT, "the options are too long: at most %zu characters", size - 1);
}

static bool check(const struct csr *A, const struct solve_options *o, struct err *e)
{
    int64_t i;
    if (A->rows != A->cols)
        return fail(e, E_UNSUPPORTED, "the solvers need a square matrix, and this one is %lld x %lld",
                    (long long)A->rows, (long long)A->cols);
    if (!(o->tol >= 0)) return fail(e, E_USAGE, "tol is %g: give 0 or more", o->tol);
    if (o->maxit < 0) return fail(e, E_USAGE, "maxit is %lld: give 0 or more", (long long)o->maxit);
    if (o->m < 0) return fail(e, E_USAGE, "m is %lld: give 1 or more", (long long)o->m);
    if (o->force) return true;
    if ((i = first_not_finite(A->rows, o->b)) < A->rows)
        return fail(e, E_NUMERIC, "b[%lld] is %g; add `force` to solve anyway", (long long)i, o->b[i]);
    return csr_finite(A, "solve", e);
}

/* The norms of PETSc, and what they are called here. */
static const struct {
    const char *petsc, *shown;
    bool is_true;
} norms[] = {
    {"UNPRECONDITIONED", "||r|| / ||b||", true},
    {"PRECONDITIONED", "||M^-1 r|| / ||M^-1 r0||", false},
    {"NATURAL", "sqrt(r' M^-1 r), relative to r0,", false},
    {"NONE", "||r|| / ||b||", true},
};

static void take_norm(struct solve *v, const char *norm)
{
    struct ranked *q = ranked_of(v);
    v->engine.residual = norms[0].shown;
    q->true_norm = true;
    q->scale = v->b_norm;
    for (int i = 0; i < COUNT(norms); i++)
        if (!strcmp(norms[i].petsc, norm)) v->engine.residual = norms[i].shown, q->true_norm = norms[i].is_true;
    q->direct = !strcmp(norm, "NONE");
}

/* The name that the user gave, if PETSc uses that method; else PETSc's name. */
static void name_method(char *out, size_t size, const char *given, const char *options, const char *petsc)
{
    char option[80];
    snprintf(option, sizeof option, "_type %s", petsc);
    const char *at = given && options ? strstr(options, option) : NULL;
    bool same = at && (at[strlen(option)] == ' ' || !at[strlen(option)]);
    print_safe(same ? given : petsc, strlen(same ? given : petsc), size - 1, out, size);
}

/* PETSc has set up the solver; name what it uses. */
static void take_begun(struct solve *v, const struct ranks_request *want, const cJSON *a)
{
    struct ranked *q = ranked_of(v);
    const char *pc = reply_text(a, "pc"), *library = reply_text(a, "library");
    const struct rank_method *pre = want->pre;
    take_norm(v, reply_text(a, "norm"));
    name_method(q->solver_name, sizeof q->solver_name, want->solver ? want->solver->name : NULL,
                want->solver ? want->solver->peers.petsc : NULL, reply_text(a, "ksp"));
    name_method(q->pre_name, sizeof q->pre_name, pre ? pre->name : NULL, pre ? pre->options : NULL, pc);
    if (!strcmp(reply_text(a, "ksp"), "preonly")) {
        snprintf(q->solver_name, sizeof q->solver_name, "%s", "direct");
        v->engine.factors = *library != 0;
        if (*library) print_safe(library, strlen(library), 38, q->pre_name, sizeof q->pre_name);
    }
    v->pre.method = strcmp(pc, "none") != 0 ? &q->pre : NULL;
    v->pre.us = v->engine.set_up_us = reply_number(a, "us");
}

static struct ranked *new_ranked(struct ranks *r, struct err *e)
{
    struct ranked *q = mem_zero(1, sizeof *q, "a solve on the ranks", e);
    if (!q) return NULL;
    *q = (struct ranked){.ranks = r, .scale = 1};
    q->device = (struct device){.name = "ranks", .kind = DEV_RANKS, .units = r->n};
    q->solver = (struct solver){.name = q->solver_name, .about = "", .source = "PETSc", .needs = "a square matrix"};
    q->pre = (struct precond){.name = q->pre_name, .about = "", .source = "PETSc"};
    snprintf(q->solver_name, sizeof q->solver_name, "%s", "ksp");
    snprintf(q->device.about, sizeof q->device.about, "%d ranks of PETSc %s", r->n, r->petsc);
    return q;
}

/* Send the vectors and the command, and wait until PETSc has set up. */
static bool start(struct solve *v, const struct ranks_request *want, const struct solve_options *o, struct err *e)
{
    struct ranked *q = ranked_of(v);
    struct ranks *r = q->ranks;
    char line[sizeof v->engine.options + 80];
    bool guess = false;
    for (int64_t i = 0; o->x0 && i < v->n && !guess; i++) guess = o->x0[i] != 0;
    if (!options_of(want, o, v->engine.options, sizeof v->engine.options, e)) return false;
    if (!petsc_write_vector(r, RANKS_B, v->b, v->n, v->matrix.watch, e)) return false;
    if (guess && !petsc_write_vector(r, RANKS_X, o->x0, v->n, v->matrix.watch, e)) return false;
    q->told_pause = want->step;
    snprintf(line, sizeof line, "solve %d %.17g %lld %s", guess + 2 * want->step, o->tol, (long long)o->maxit,
             v->engine.options);
    prints_forget(r);
    if (!ranks_send(r, line, e)) return false;
    cJSON *a = ranks_wait(r, "set-up on the ranks", v->matrix.watch, e);
    if (!a && r->busy) ranks_send(r, "stop", NULL); /* after Ctrl-C: do not iterate */
    bool ok = a && (reply_is(a, "begun") || reply_fail(a, e));
    if (ok) take_begun(v, want, a);
    cJSON_Delete(a);
    q->waiting = ok;
    if (ok && want->step) v->paused = false; /* until PETSc has computed the first residual */
    return ok && (!want->step || finish_steps(v, e));
}

bool ranks_solve(struct solve **out, struct ranks *r, const struct ranks_request *want, const struct solve_matrix *A,
                 const struct solve_options *given, struct err *e)
{
    struct solve *v = NULL;
    struct solve_options o = *given;
    o.null = NULL_NOTHING; /* PETSc gets A and b as they are */
    if (!check(A->csr, &o, e) || !ranks_ready(r, A->watch, e)) return false;
    struct ranked *q = new_ranked(r, e);
    if (!q) return false;
    o.solver = &q->solver;
    o.dev = &q->device;
    if (!solve_begin_engine(&v, A, &o, e)) {
        mem_free(q);
        return false;
    }
    v->engine.runs = &engine;
    v->engine.data = q;
    v->engine.ranks = r->n;
    v->engine.residual = norms[0].shown;
    v->engine.set_up_us = NAN;
    snprintf(v->engine.about, sizeof v->engine.about, "%s", q->device.about);
    if (v->reason == RUNNING && !start(v, want, &o, e)) {
        solve_free(v);
        return false;
    }
    *out = v;
    return true;
}

bool ranks_run(const struct solve *v)
{
    return v && v->engine.runs == &engine && v->reason == RUNNING;
}

void ranks_forget_solve(struct solve *v)
{
    if (v && v->engine.runs == &engine) ranked_of(v)->ranks = NULL;
}
