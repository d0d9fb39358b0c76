/* The commands that solve A x = b (`solve`), and act on a paused solve (`step`, `continue`, `stop`). */
#include "advice/solve_trust.h"
#include "advice/solver_advice.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/precision.h"
#include "base/text.h"
#include "base/words.h"
#include "cmd_advise_solver.h"
#include "cmd_direct.h"
#include "cmd_race.h"
#include "cmd_ranks.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/solve_request.h"
#include "machine/device.h"
#include "matrix/row_source.h"
#include "ranks/ranks.h"
#include "report/fields.h"
#include "report/output_direct.h"
#include "report/output_solve.h"
#include "save_solution.h"
#include "session/command.h"
#include "session/equilibrated.h"
#include "session/front.h"
#include "session/generated.h"
#include "session/in_parts.h"
#include "session/matrix.h"
#include "session/pattern.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_ranks.h"
#include "session/session_solve.h"
#include "solve_alone.h"
#include "solve_run.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "symmetry_needed.h"

#include <math.h>
#include <string.h>

/* Begin the session's solve with right side i. */
static bool begin(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                  const struct right_sides *r, int64_t i, struct err *e)
{
    struct solve_same same = solve_same_of(a, o);
    o->same = &same;
    double *x0 = guess_of(m, a, i, e);
    bool ok = x0;
    if (ok) {
        solve_take_right(o, r, m, i);
        o->x0 = x0;
        session_solve_truth(s, m, o);
        struct matrix *solved = o->scaled ? session_equilibrated(m, &o->scaling, e) : m;
        if (o->scaled && solved) scaling_map_x(&o->scaling, m->csr.imag != NULL, true, x0);
        struct solve *v = NULL;
        ok = solved && session_solve(&v, s, solved, o, e);
        if (ok) session_swap_solve(s, v);
    }
    o->same = NULL;
    mem_free(x0);
    return ok;
}

static bool save_x(const struct solve *v, const char *file, bool force, struct watch *w, struct err *e)
{
    const struct csr *A = v->matrix.csr;
    return solve_save_x(file, force, A->rows, A->imag != NULL, v->result.x, w, e);
}

static bool save_line(struct session *s, const struct args *a, struct err *e)
{
    struct solve *v = s->solve;
    if (!arg(a, "save")) return true;
    if (!solve_has_x(v)) return fail(e, E_USAGE, "the solve is paused: there is no x to save yet");
    if (!solve_fetch_x(v, e) || !save_x(v, arg(a, "save"), arg_flag(a, "force"), &s->watch, e)) return false;
    out_text(s->out, "x was written to %s", arg(a, "save"));
    return true;
}

static bool show_line(struct session *s, const struct args *a, struct err *e)
{
    solve_is_newest(s);
    bool shows = arg_flag(a, "view") && s->interactive && s->front && s->front->show;
    return !shows || s->front->show(s, "solve", true, e);
}

/* Run the solve that has begun, as far as `step` and the user let it run. */
static bool run_begun(struct session *s, const struct args *a, struct err *e)
{
    struct solve *v = s->solve;
    solve_pause(v, arg_flag(a, "step") && v->reason == RUNNING);
    if (!show_line(s, a, e)) return false;
    if (solve_waits_for_command(s)) {
        out_iterate(s->out, v);
        if (s->interactive) out_text(s->out, "paused: `step 5`, `continue`, `view solve` or `stop`");
    }
    return solve_drive(s, e) && save_line(s, a, e);
}

/* Solve with one right side. */
static bool solve_one(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                      const struct right_sides *r, int64_t i, struct err *e)
{
    return begin(s, m, a, o, r, i, e) && run_begun(s, a, e);
}

/* Solve by PETSc, and print what its options, such as -ksp_view, have it print. */
static bool solve_on_ranks(struct session *s, struct matrix *m, const struct args *a, struct err *e)
{
    if (arg(a, "save") && !newfile_allowed(arg(a, "save"), arg_flag(a, "force"), e)) return false;
    if (!ranks_begin_solve(s, m, a, e)) return false;
    bool ok = run_begun(s, a, e) || session_ranks_failed(s);
    if (ok && s->ranks && s->ranks->nprints) out_verbatim(s->out, s->ranks->prints);
    return ok;
}

/* ---- several right sides ---- */

/* The sums over all right sides. */
struct columns {
    int64_t done, converged, iterations;
    double us;
    double *x; /* [n * numbers]: the solutions, one after another; NULL: they are not saved */
};

static bool keep_column(struct columns *c, struct solve *v, struct err *e)
{
    c->done++;
    c->converged += v->reason == CONVERGED;
    c->iterations += v->iterations;
    c->us += v->time.us;
    if (!c->x) return true;
    return solve_fetch_x(v, e) &&
           loop_copy(c->x + v->right.column * v->n, v->result.x, v->n * (int64_t)sizeof *c->x, "copying x", e);
}

static bool save_columns(struct session *s, const struct matrix *m, const struct columns *c, int64_t n,
                         const struct args *a, struct err *e)
{
    const char *file = arg(a, "save");
    return !file || solve_save_columns(s, file, arg_flag(a, "force"), m->csr.rows, n, m->csr.imag != NULL, c->x, e);
}

static void say_columns(struct session *s, const struct columns *c, int64_t n)
{
    char time[32];
    bool timed = s->solve && s->solve->dev->kind != DEV_EMU;
    out_text(s->out, "%lld of %lld right sides converged, one after another: %s%s%s", (long long)c->converged,
             (long long)n, how_many(c->iterations, "iteration").text, timed ? ", " : "",
             timed ? show_us(c->us, time, sizeof time) : "");
}

/* Solve with right side i and print its row. *turn: whether the user stopped or left the solve. */
static bool solve_column(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                         const struct right_sides *r, int64_t i, struct columns *c, enum turn *turn, struct err *e)
{
    session_drop_solve(s);
    if (!begin(s, m, a, o, r, i, e)) return false;
    solve_is_newest(s);
    if (!solve_run(s, NULL, turn, e)) return false;
    struct solve *v = s->solve;
    if (v->reason == RUNNING && *turn != TURN_STOP) {
        solve_note_paused(s);
        out_note(s->out, "column %lld is paused; the columns after it were not solved", (long long)i);
        return true;
    }
    if (!solve_conclude(s, NULL, *turn, e)) {
        session_drop_solve(s);
        return false;
    }
    solve_find_trust(s, v, false);
    out_solved_column(s->out, v);
    return keep_column(c, v, e);
}

static bool solve_columns(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                          const struct right_sides *r, struct err *e)
{
    struct columns c = {0};
    enum turn turn = TURN_ON;
    if (arg_flag(a, "step") || arg_flag(a, "view"))
        return fail(e, E_USAGE, "`%s` shows one solve, but b has %lld columns; add `column 0`",
                    arg_flag(a, "step") ? "step" : "view", (long long)r->n);
    if (arg(a, "save") && !(c.x = mem_zero(r->n * r->each, sizeof *c.x, "the solutions", e))) return false;
    bool ok = true;
    for (int64_t i = 0; ok && i < r->n && turn == TURN_ON; i++) ok = solve_column(s, m, a, o, r, i, &c, &turn, e);
    if (s->front && s->front->calm) s->front->calm(s);
    if (ok) say_columns(s, &c, r->n);
    ok = ok && solve_counts_as_done(s, turn, e) && (c.done < r->n || save_columns(s, m, &c, r->n, a, e));
    mem_free(c.x);
    return ok;
}

static bool begin_method(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                         const struct right_sides *r, int64_t i, struct err *e)
{
    return solve_warn(s, m, o->solver, o->pre, e) && begin(s, m, a, o, r, i, e) && show_line(s, a, e);
}

static bool report_method(struct session *s, enum turn turn, struct err *e)
{
    return solve_report(s, s->solve->reason != RUNNING || solve_conclude(s, NULL, turn, e));
}

static bool finish_method(struct session *s, const struct args *a, enum turn turn, struct err *e)
{
    return solve_counts_as_done(s, turn, e) && save_line(s, a, e);
}

static const struct solve_parts parts = {.begin = begin_method,
                                         .run = solve_run,
                                         .end = solve_conclude,
                                         .report = report_method,
                                         .finish = finish_method,
                                         .note_paused = solve_note_paused,
                                         .direct = run_solve_direct};

/* The line names no solver: say which one `advise solver` would take, and why. */
static void note_choice(struct session *s, const struct matrix *m, const struct solver_advice *advice, bool scaled)
{
    const struct trial *t = &advice->at[0];
    out_note(s->out, "`solve %s`: %s; %s", trial_words(t, m->name, scaled).text, advice->kind, advice->because);
}

/* steady_us at the end of `within`. */
static double until_of(const struct args *a)
{
    return arg(a, "within") ? steady_us() + 1e6 * arg_real(a, "within", 0) : INFINITY;
}

/* Solve by the first method of the advice. A solve of several right sides or in steps is not watched. */
static bool solve_as_advised(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                             const struct sides_request *r, const struct solver_advice *advice, double until_us,
                             struct err *e)
{
    o->solver = advice->at[0].solver;
    o->pre = advice->at[0].pre;
    note_choice(s, m, advice, o->scaled);
    if (arg(a, "save") && !newfile_allowed(arg(a, "save"), o->force, e)) return false;
    if (arg(a, "within") && (r->several || arg_flag(a, "step")))
        return fail(e, E_USAGE, "`within` is for a solve with one right side, without `step`");
    if (!r->several && !arg_flag(a, "step"))
        return solve_alone(&parts, s, m, a, o, &r->all, r->column, advice, until_us, e);
    if (!o->solver) return run_solve_direct(s, m, a, e);
    if (!solve_warn(s, m, o->solver, o->pre, e)) return false;
    session_drop_solve(s);
    return r->several ? solve_columns(s, m, a, o, &r->all, e) : solve_one(s, m, a, o, &r->all, r->column, e);
}

/* The line names no solver. */
static bool solve_by_choice(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                            const struct sides_request *r, struct err *e)
{
    struct solver_advice advice = {0};
    double until_us = until_of(a);
    bool ok = solver_scales(s, m, o, e) &&
              solver_for_line(s, m, a, o, r, direct_may_be_chosen(s, a), until_us - steady_us(), &advice, e) &&
              solve_as_advised(s, m, a, o, r, &advice, until_us, e);
    solver_advice_free(&advice);
    return ok;
}

/* Solve with all right sides of the line, or with the one that `column` chooses. */
static bool solve_with(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                       const struct sides_request *r, struct err *e)
{
    if (!o->solver) return solve_by_choice(s, m, a, o, r, e);
    if (arg(a, "within"))
        return fail(e, E_USAGE, "`within` is for `solve` without a solver; %s ends after maxit iterations",
                    o->solver->name);
    if (!solve_warn(s, m, o->solver, o->pre, e)) return false;
    if (arg(a, "save") && !newfile_allowed(arg(a, "save"), o->force, e)) return false;
    session_drop_solve(s);
    return r->several ? solve_columns(s, m, a, o, &r->all, e) : solve_one(s, m, a, o, &r->all, r->column, e);
}

/* Host vectors of a solve: b twice, x0, the x and the residual of its end. */
enum { HOST_VECTORS = 5 };

/* A matrix in parts is solved by iteration on its device; everything else needs its entries on the host. */
static bool solvable(const struct matrix *m, const struct args *a, struct err *e)
{
    if (!matrix_in_parts(m)) return true;
    if (on_ranks(a)) return in_parts_refused(m, "ranks read from a file", e);
    if (direct_was_typed(a)) return in_parts_refused(m, "a direct solver factors; `solve cg` iterates", e);
    if (!arg(a, "solver")) return in_parts_refused(m, "`advise solver` looks at; name a solver, such as `solve cg`", e);
    return in_parts_vectors_fit(m, HOST_VECTORS, e);
}

/* In struct solve_options, 0 stands for the default; a user who types it does not mean the default. */
static bool zeros_absent(const struct args *a, struct err *e)
{
    static const struct {
        const char *key, *needs;
    } numbers[] = {{"omega", "a relaxation factor is above 0 and below 2"},
                   {"m", "a cycle has at least 1 iteration"},
                   {"block", "a block has at least 1 row"}};
    for (int i = 0; i < COUNT(numbers); i++)
        if (arg(a, numbers[i].key) && arg_real(a, numbers[i].key, 1) == 0)
            return fail(e, E_USAGE, "%s is 0, but %s; leave it out for the default", numbers[i].key, numbers[i].needs);
    return true;
}

static bool run_solve(struct session *s, const struct args *a, struct err *e)
{
    struct solve_options o;
    struct sides_request r = {0};
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    if (!m || !solvable(m, a, e)) return false;
    note_pattern(s, m);
    if (on_ranks(a)) return solve_on_ranks(s, m, a, e);
    if (!ranks_words_absent(a, e)) return false;
    if (direct_was_typed(a)) return run_solve_direct(s, m, a, e);
    if (!direct_options_absent(a, e) || !zeros_absent(a, e)) return false;
    bool ok = solve_options_of(s, m, a, &o, e) && sides_request_of(m, a, &r, e) && solve_with(s, m, a, &o, &r, e);
    right_sides_free(&r.all);
    return ok;
}

static bool run_step(struct session *s, const struct args *a, struct err *e)
{
    struct solve *v = solve_waiting(s, e);
    int64_t n = arg_int(a, "n", 1);
    if (!v) return false;
    if (n < 1) return fail(e, E_USAGE, "cannot do %lld iterations: give 1 or more", (long long)n);
    for (int64_t i = 0; i < n && v->reason == RUNNING; i++) {
        v->steps_left = 1;
        if (!solve_slice(v, 0, e)) {
            session_drop_solve(s);
            return false;
        }
        if (!v->cut.now) out_iteration(s->out, v);
        if (v->reason == RUNNING && !watch_tick(&s->watch, v->solver->name, i + 1, n, e)) return false;
    }
    return v->reason == RUNNING || solve_finish(s, e);
}

static bool run_continue(struct session *s, const struct args *a, struct err *e)
{
    if (race_waits(s)) return race_continue(s, e);
    struct solve *v = solve_waiting(s, e);
    if (!v) return false;
    solve_pause(v, false);
    v->steps_left = 0;
    return solve_drive(s, e);
}

static bool run_stop(struct session *s, const struct args *a, struct err *e)
{
    if (race_waits(s)) return race_stop(s, e);
    return solve_waiting(s, e) && solve_finish(s, e);
}

const struct command command_solve = {
    .name = "solve",
    .grammar = "[SOLVER] [MATRIX] [on DEVICE] [[using] FORMAT] [[kernel] KERNEL] [[precond] SOLVE_PRECOND] [block N] "
               "[triangles levels|sync-free] [sweeps N] [order ORDER] [tol R] "
               "[eps R] "
               "[omega R] [m N] [orth classical|modified] [sums device|host] [form update|matrix] [launches one|many] "
               "[maxit N] [refine fp32|fp16|bf16] [b RIGHT_SIDE] "
               "[column N] [x0 GUESS] [seed N] "
               "[save FILE] [DIRECT] [plan] [step] "
               "[scaled] [view] [force] [f32|f64] [within R] [options WORD]",
    .about = "solve A x = b by iteration, or directly",
    .help =
        "Without a solver, takes the method that `advise solver` would take for this system, and says why. If the\n"
        "solve misses the forecast of its trial threefold, or ends without a solution, the next method takes over;\n"
        "a method without a forecast gives way when its time is over, and goes on later. `within R` ends all of it\n"
        "after R seconds.\n"
        "b is given (the right side in the file of the matrix; the default if the file has one), aones (A * ones, so\n"
        "that the error in x is known; the default otherwise), avaried, ones, random or a file. avaried is A * x with\n"
        "x_i = v_i - mean(v) and v_i = (40503 i (i + 1) / 2 mod 65536) / 65536, i from 0. It is the default if A *\n"
        "ones is 0, as for a Laplacian, or a multiple of ones (up to 0.001 of |A| * ones, root mean square of the\n"
        "rows): with aones, every method would be done at once. x0 is zero, ones, random, given (the solution in the\n"
        "file of the matrix) or a file. If b has several columns, they are solved one after another (by `solve\n"
        "direct` with one factorisation), with a row for each; column selects one, counted from 0.\n"
        "The solve stops when ||r|| / ||b|| <= tol (default 1e-8, in f32 1e-5) or after\n"
        "maxit iterations (default 10000). With eps, jacobi, wjacobi, gs and sor also stop when max |x' - x| <\n"
        "eps. omega, between 0 and 2, is the relaxation factor of wjacobi and sor (default 2/3 and 1.5). gmres\n"
        "restarts after m iterations (default 0: 30, or more by a short first cycle). gmres orthogonalises by\n"
        "Gram-Schmidt: orth is classical (two passes) or modified. Inner products and norms are added up on the\n"
        "device; with sums host, at most 512 blocks write their sums to host memory, and the host adds them up\n"
        "(as in Liang 2012). jacobi and wjacobi iterate x' = x + omega D^-1 (b - A x).\n"
        "With form matrix, they form B = I - omega D^-1 A and f = omega D^-1 b once and iterate x' = B x + f; B is\n"
        "stored in VAB (as in Liang 2012) or as using and kernel say, and the residual shown during the solve is\n"
        "D (x' - x) / omega, which equals b - A x up to rounding. On a GPU of compute capability 9, one launch of cg,\n"
        "minres, bicgstab, gmres (up to its restart), jacobi or wjacobi does many iterations if A and the vectors fit\n"
        "in the shared memory of 16 thread blocks (up to about 250,000 nonzeros), without a preconditioner or, except\n"
        "for minres, with precond jacobi; launches one or many makes this choice (one: also on emu). A kernel that\n"
        "you name is launched in every iteration; one of your own must first multiply A right, unless you say force.\n"
        "precond selects a preconditioner, and block sets its block size if it has blocks; `solvers` lists the\n"
        "preconditioners. ilu0 and ic0 consist of two triangles.\n"
        "On a GPU, solves with them go by levels (a launch per level) or sync-free (one launch), as triangles says\n"
        "or as predicted to be faster; sweeps N solves approximately, by N sweeps of Jacobi's method. order reorders\n"
        "the rows before they are factored: with colours, a solve has few levels, but more iterations are needed. A\n"
        "GPU takes colours, for ilu0 only if the matrix is large, if that is predicted to be faster and none of these\n"
        "words is given.\n"
        "break-even is the share of the iterations that the preconditioner must save. At the end, the true residual\n"
        "b - A x is computed in double: `converged` means that it is at most twice tol.\n"
        "digits of x says how many decimal digits of x, relative to its largest elements, are correct: by the known "
        "x;\n"
        "otherwise by the x of a direct solve, which may take half a second or a tenth of the time of the solve; for\n"
        "`solve direct` by a further step of refinement, or by the componentwise backward error times the condition.\n"
        "A solve also ends\n"
        "when its residual has grown by a factor of 1e10, or improved by less than 1% over many iterations\n"
        "(jacobi, wjacobi, gs, sor: 1000; cg, minres, bicgstab, qmrcgstab: 3 per row, between 100 and 2000;\n"
        "gmres: 1 per row, between 100 and 500). bicgstab and qmrcgstab start again from their x when they break\n"
        "down.\n"
        "force continues beyond these limits and breakdowns, accepts NaN and inf, and lets save replace an existing\n"
        "file. With step, the solve starts paused: `step N` does N iterations, `back N`\n"
        "undoes N iterations, `continue` resumes the solve, and `stop` ends it. `change` sets another tol, maxit,\n"
        "omega, m or preconditioner for a solve that is paused or has ended; an ended solve then continues from\n"
        "its x. view shows the residual full screen, also if the solve is paused. save writes x as a Matrix Market\n"
        "file. time is the whole time of the iterations, including the time that the host waits; `per iteration` is\n"
        "time divided by the number of iterations. A solve that does not converge is not a failed command: the\n"
        "exit status stays 0, and scripts read converged and status in --json or --csv. seed is any integer.\n"
        "With refine, the solver iterates in fp32 on A d = b - A x, with the values of A in fp32, fp16 or bf16; when "
        "d\n"
        "is accurate enough, x += d, and b - A x is computed again in fp64, until it meets tol. The iterations move\n"
        "about half the bytes, or less; there are more of them, because the solver starts again each time, and A must\n"
        "not be too ill-conditioned for the precision. For cg, minres, bicgstab and qmrcgstab.\n"
        "With scaled, the solver iterates on the equilibrated system R A C y = R b: rows and columns are multiplied "
        "by\n"
        "powers of two so that their 2-norms are about 1 (Ruiz 2001; R = C if A is symmetric), and x = C y. The\n"
        "residual during the solve is that of this system; the true residual is that of A x = b, and the solve goes\n"
        "on with a smaller tol until it meets tol. Without a solver, the line scales by itself if the largest |a| of\n"
        "rows or columns differ by more than a factor of 10000, and tries the methods on the scaled system.\n"
        "`solve direct` factors A on the host by a library of SuiteSparse: cholmod, klu, umfpack or spqr; without a\n"
        "name, each method that suits A is tried in this order until x is accurate, spqr last, which takes\n"
        "rectangular and singular matrices (least squares, rank). plan stops after the analysis and prints the fill,\n"
        "the operations and the memory of the factors; a factorisation that does not fit in memory is refused.\n"
        "x is refined with residuals in higher precision, so later iterative solves with the same b show their\n"
        "error against it.\n"
        "`on ranks` solves by PETSc on the processes that `ranks` started; options passes it options of its own.\n"
        "    solve; solve A b random; solve precond jacobi\n"
        "    solve cg tol 1e-10\n"
        "    solve bicgstab precond ilu0\n"
        "    solve cg precond ic0 sweeps 4; solve cg precond ic0 order colours\n"
        "    solve gmres m 30 orth modified\n"
        "    solve direct plan; solve direct; solve direct umfpack b random\n"
        "    solve jacobi form matrix; solve bicgstab scaled\n"
        "    solve cg refine fp32; solve bicgstab precond ilu0 refine bf16 tol 1e-10\n"
        "    solve cg on ranks precond gamg; solve direct mumps on ranks; solve on ranks options \"-ksp_type fgmres\"\n"
        "    solve jacobi on cpu using ell b random seed 7 maxit 500 f32",
    .rows = (const struct row_kind *const[]){&row_solved, &row_iterate, &row_solve_column, &row_solve_history,
                                             &row_solve_direct, &row_solve_direct_column, NULL},
    .run = run_solve,
    .in_parts = true,
    .several = true,
};

const struct command command_step = {
    .name = "step",
    .aliases = "s next",
    .grammar = "[N]",
    .about = "do iterations of a paused solve",
    .help = "Prints the residual of each iteration and, for jacobi, wjacobi, gs and sor, max |x' - x|.\n    solve cg "
            "step; step 5; continue",
    .rows = (const struct row_kind *const[]){&row_step_iteration, &row_solved, NULL},
    .run = run_step,
};

const struct command command_continue = {
    .name = "continue",
    .aliases = "c cont",
    .grammar = "",
    .about = "resume a paused solve or race",
    .help = "If a solve and a race are both paused, resumes the one that was started, stepped or paused last.\n"
            "    solve cg step; step 5; continue",
    .rows = (const struct row_kind *const[]){&row_solved, &row_raced_solver, &row_raced_kernel, NULL},
    .run = run_continue,
};

const struct command command_stop = {
    .name = "stop",
    .grammar = "",
    .about = "end a paused solve and keep its x, or end a paused race",
    .help = "Prints the report that a finished solve or race prints.\n    solve jacobi step; step 10; stop",
    .rows = (const struct row_kind *const[]){&row_solved, &row_raced_solver, &row_raced_kernel, NULL},
    .run = run_stop,
};
